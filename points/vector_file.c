/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * vector_file: frequency vectors in SimPoint's form.
 *
 * Model
 *   A line an interval, `T:5:30 :7:12`: of block 5 there were 30 instructions, of block 7 there were 12. Blocks are
 *   numbered from 1, in any order. Lines that begin with # say something to people, as empty ones do.
 *   The file is read character by character: a line may be as long as it likes, and takes memory for its entries only.
 */
#include <inttypes.h>

#include "points/points.h"

void points_write_vector(FILE *to, const struct points_entry *entries, size_t count)
{
    fputc('T', to);
    for (size_t i = 0; i < count; i++)
        fprintf(to, "%s:%" PRIu64 ":%" PRIu64, i == 0 ? "" : " ", entries[i].id, entries[i].instructions);
    fputc('\n', to);
}

struct reader {
    FILE *from;
    const char *name;
    uint64_t line;
    int next; /* the character that is looked at, or EOF */
    struct points_entry *entries;
    uint32_t count, room;
    uint64_t instructions; /* of the entries */
};

static void vector_file_advance(struct reader *reader) { reader->next = getc_unlocked(reader->from); }

static enum c2_status vector_file_wrong(const struct reader *reader, const char *what, struct c2_error *err)
{
    return c2_fail(err, C2_ERR_FORMAT, "%s:%" PRIu64 ": %s; a frequency vector is a line such as T:5:30 :7:12",
                   reader->name, reader->line, what);
}

static enum c2_status vector_file_read_number(uint64_t *out, struct reader *reader, uint64_t most, const char *what,
                                              struct c2_error *err)
{
    *out = 0;
    if (reader->next < '0' || reader->next > '9')
        return vector_file_wrong(reader, what, err);
    for (; reader->next >= '0' && reader->next <= '9'; vector_file_advance(reader)) {
        *out = *out * 10 + (uint64_t)(reader->next - '0');
        if (*out > most)
            return vector_file_wrong(reader, "a number is larger than 10^18", err);
    }
    return C2_OK;
}

static enum c2_status vector_file_read_entry(struct reader *reader, struct c2_error *err)
{
    struct points_entry entry;
    if (!c2_grow((void **)&reader->entries, &reader->room, reader->count, sizeof *reader->entries))
        return c2_fail_memory(err, "the blocks of an interval");
    vector_file_advance(reader); /* the colon */
    enum c2_status status = vector_file_read_number(&entry.id, reader, POINTS_MOST_INSTRUCTIONS,
                                                    "no block behind a colon", err);
    if (status == C2_OK && (entry.id == 0 || reader->next != ':'))
        return vector_file_wrong(reader, entry.id == 0 ? "a block has the number 0" : "no colon behind a block", err);
    if (status != C2_OK)
        return status;
    vector_file_advance(reader);
    status = vector_file_read_number(&entry.instructions, reader, POINTS_MOST_INSTRUCTIONS, "no count behind a block",
                                     err);
    if (status == C2_OK && entry.instructions > POINTS_MOST_INSTRUCTIONS - reader->instructions)
        return vector_file_wrong(reader, "an interval has more than 10^18 instructions", err);
    reader->entries[reader->count++] = entry;
    reader->instructions += entry.instructions;
    return status;
}

static bool at_blank(const struct reader *reader)
{
    return reader->next == ' ' || reader->next == '\t' || reader->next == '\r';
}

/* The rest of a line that begins with T, up to its end. */
static enum c2_status read_vector(struct reader *reader, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    reader->count = 0;
    reader->instructions = 0;
    vector_file_advance(reader);
    while (status == C2_OK && reader->next != '\n' && reader->next != EOF) {
        if (reader->next == ':')
            status = vector_file_read_entry(reader, err);
        else if (at_blank(reader))
            vector_file_advance(reader);
        else
            status = vector_file_wrong(reader, "what is no block is in an interval", err);
    }
    return status == C2_OK && reader->instructions == 0
               ? vector_file_wrong(reader, "an interval has no instructions", err)
               : status;
}

static void skip_line(struct reader *reader)
{
    while (reader->next != '\n' && reader->next != EOF)
        vector_file_advance(reader);
}

static enum c2_status vector_file_read_line(struct reader *reader, points_take *take, void *self, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    reader->line++;
    if (reader->next == 'T') {
        status = read_vector(reader, err);
        if (status == C2_OK)
            status = take(self, reader->entries, reader->count, err);
    } else if (reader->next != '#' && reader->next != '\n' && reader->next != '\r') {
        status = vector_file_wrong(reader, "a line does not begin with T", err);
    }
    if (status != C2_OK) /* the line may have no end */
        return status;
    skip_line(reader);
    vector_file_advance(reader);
    return status;
}

enum c2_status points_read_vectors(FILE *from, const char *name, points_take *take, void *self, struct c2_error *err)
{
    struct reader reader = {.from = from, .name = name};
    enum c2_status status = C2_OK;
    vector_file_advance(&reader);
    while (status == C2_OK && reader.next != EOF)
        status = vector_file_read_line(&reader, take, self, err);
    c2_free(reader.entries);
    if (status == C2_OK && ferror(from))
        return c2_fail(err, C2_ERR_IO, "cannot read %s: %m", name);
    return status;
}
