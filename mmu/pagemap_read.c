/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Two forms of a map. In both, `#` begins a comment, and numbers are decimal or, with 0x, hexadecimal.
 *   Plain: a line a page,
 *          PAGE FRAME SIZE [TURN]
 *       PAGE and FRAME are numbers of 4 KiB pages (address / 4096) whatever SIZE is: 4K, 2M, 1G or those in bytes.
 *   Textproto, the form of DynamoRIO's v2p.textproto:
 *          page_size: 4096
 *          address_mapping { virtual_address: 0x7f0000001000 physical_address: 0x4000 [turn: 2] }
 *       with addresses in bytes, on as many lines as one likes. page_size holds for every group from there on; of the
 *       names only the fields' count. page_count and bytes_mapped are passed over.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mmu/frames_priv.h"
#include "mmu/pagemap_priv.h"

struct reader {
    struct pagemap *map;
    struct c2_error *err;
    uint32_t line;
    char *at; /* in the line */
    /* textproto */
    uint64_t page_bytes, virtual_address, physical_address, turn;
    bool open, has_virtual, has_physical;
    uint32_t opened_at;
};

static enum c2_status pagemap_read_refuse(const struct reader *reader, const char *what, const char *text)
{
    return c2_fail(reader->err, C2_ERR_FORMAT, "%s:%u: %s \"%.60s\"", reader->map->path, reader->line, what, text);
}

static void pagemap_read_skip_space(struct reader *reader)
{
    while (isspace((unsigned char)*reader->at))
        reader->at++;
}

/* The next run of letters, digits and '_' or '.', cut out with what stopped it in *stop; empty: none. */
static char *pagemap_read_take_word(struct reader *reader, char *stop)
{
    pagemap_read_skip_space(reader);
    char *word = reader->at;
    while (isalnum((unsigned char)*reader->at) || *reader->at == '_' || *reader->at == '.' || *reader->at == '-')
        reader->at++;
    *stop = *reader->at;
    if (*stop) {
        *reader->at = '\0';
        reader->at++;
    }
    return word;
}

static bool parse_number(const char *text, uint64_t *out)
{
    char *end;
    if (!isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    *out = strtoull(text, &end, text[0] == '0' && (text[1] | 32) == 'x' ? 16 : 10);
    return *end == '\0' && errno == 0;
}

static bool parse_size(const char *text, uint8_t *size)
{
    static const char *const names[MMU_PAGE_SIZES] = {"4K", "2M", "1G"};
    uint64_t bytes = 0;
    bool number = parse_number(text, &bytes);
    for (unsigned i = 0; i < MMU_PAGE_SIZES; i++) {
        if (number ? bytes == mmu_page_bytes((enum mmu_page_size)i) : strcmp(text, names[i]) == 0) {
            *size = (uint8_t)i;
            return true;
        }
    }
    return false;
}

static enum c2_status pagemap_read_add(struct reader *reader, struct pagemap_line line, uint64_t frame, uint64_t turn)
{
    if (turn == 0 || turn > UINT32_MAX)
        return c2_fail(reader->err, C2_ERR_FORMAT, "%s:%u: turns count from 1", reader->map->path, reader->line);
    line.turn = (uint32_t)turn;
    return pagemap_add(reader->map, line, frame, reader->err);
}

/* ------------------------------------------------------------------ plain */

static enum c2_status read_plain(struct reader *reader)
{
    struct pagemap_line line = {.line = reader->line};
    uint64_t frame, turn = 1;
    char stop, *page = pagemap_read_take_word(reader, &stop);
    if (!*page && !stop)
        return C2_OK;
    if (!parse_number(page, &line.vpn))
        return pagemap_read_refuse(reader, "the page is no number:", page);
    char *text = stop ? pagemap_read_take_word(reader, &stop) : page + strlen(page);
    if (!parse_number(text, &frame))
        return pagemap_read_refuse(reader, "the frame is no number:", text);
    text = stop ? pagemap_read_take_word(reader, &stop) : text + strlen(text);
    if (!parse_size(text, &line.size))
        return pagemap_read_refuse(reader, "the size must be 4K, 2M or 1G, not", text);
    if (stop && *(text = pagemap_read_take_word(reader, &stop)) && !parse_number(text, &turn))
        return pagemap_read_refuse(reader, "the turn is no number:", text);
    if (stop && !isspace((unsigned char)stop))
        return pagemap_read_refuse(reader, "what is this behind the size and the turn:", reader->at - 1);
    if (stop)
        pagemap_read_skip_space(reader);
    if (stop && *reader->at)
        return pagemap_read_refuse(reader, "what is this behind the size and the turn:", reader->at);
    return pagemap_read_add(reader, line, frame, turn);
}

/* ------------------------------------------------------------------ textproto */

static enum c2_status close_group(struct reader *reader)
{
    C2_ASSERT(reader->line != 0);
    struct pagemap_line line = {.vpn = reader->virtual_address >> C2_PAGE_SHIFT, .line = reader->line};
    char size[32];
    if (!reader->open)
        return pagemap_read_refuse(reader, "no group is open at", "}");
    reader->open = false;
    if (!reader->has_virtual || !reader->has_physical)
        return pagemap_read_refuse(reader, "the group has no",
                                   reader->has_virtual ? "physical_address" : "virtual_address");
    snprintf(size, sizeof size, "%llu", (unsigned long long)reader->page_bytes);
    if (!parse_size(size, &line.size))
        return pagemap_read_refuse(reader, "page_size must be 4096, 2097152 or 1073741824, not", size);
    if ((reader->virtual_address | reader->physical_address) % C2_PAGE_BYTES != 0)
        return pagemap_read_refuse(reader, "addresses must be multiples of", "page_size");
    return pagemap_read_add(reader, line, reader->physical_address >> C2_PAGE_SHIFT, reader->turn);
}

static enum c2_status open_group(struct reader *reader, const char *name)
{
    if (reader->open)
        return pagemap_read_refuse(reader, "a group inside a group:", name);
    reader->open = true;
    reader->opened_at = reader->line;
    reader->has_virtual = reader->has_physical = false;
    reader->turn = 1;
    return C2_OK;
}

static enum c2_status set_field(struct reader *reader, const char *name, const char *value)
{
    static const char *const names[] = {"page_size", "virtual_address", "physical_address",
                                        "turn",      "page_count",      "bytes_mapped"};
    uint64_t ignored, *fields[] = {&reader->page_bytes,
                                   &reader->virtual_address,
                                   &reader->physical_address,
                                   &reader->turn,
                                   &ignored,
                                   &ignored};
    char hint[200];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) != 0)
            continue;
        if (i >= 1 && i <= 3 && !reader->open)
            return pagemap_read_refuse(reader, "outside of a group:", name);
        reader->has_virtual |= i == 1;
        reader->has_physical |= i == 2;
        return parse_number(value, fields[i]) ? C2_OK : pagemap_read_refuse(reader, "no number:", value);
    }
    return c2_fail(reader->err, C2_ERR_FORMAT, "%s:%u: unknown field \"%s\"%s", reader->map->path, reader->line, name,
                   c2_suggest(hint, sizeof hint, name, names, sizeof names / sizeof names[0]));
}

/* A name, and what follows: ':' and a value, or '{'. */
static enum c2_status read_named(struct reader *reader, char *word, char stop)
{
    while (isspace((unsigned char)stop)) {
        stop = *reader->at;
        reader->at += stop != '\0';
    }
    if (stop == '{')
        return open_group(reader, word);
    if (stop != ':')
        return pagemap_read_refuse(reader, "a ':' or '{' is missing behind", word);
    char *value = pagemap_read_take_word(reader, &stop);
    if (stop == '}' || stop == '{') {
        enum c2_status status = set_field(reader, word, value);
        return status != C2_OK || stop == '{' ? status : close_group(reader);
    }
    return set_field(reader, word, value);
}

static enum c2_status read_textproto(struct reader *reader)
{
    enum c2_status status = C2_OK;
    for (pagemap_read_skip_space(reader); status == C2_OK && *reader->at; pagemap_read_skip_space(reader)) {
        if (*reader->at == '}') {
            reader->at++;
            status = close_group(reader);
            continue;
        }
        char stop, *word = pagemap_read_take_word(reader, &stop);
        status = *word ? read_named(reader, word, stop)
                       : pagemap_read_refuse(reader, "not understood:", (char[2]){stop, '\0'});
    }
    return status;
}

/* ------------------------------------------------------------------ both */

enum c2_status pagemap_read_lines(struct pagemap *map, FILE *from, bool textproto, struct c2_error *err)
{
    struct reader reader = {.map = map, .err = err, .page_bytes = C2_PAGE_BYTES};
    char text[512];
    enum c2_status status = C2_OK;
    while (status == C2_OK && fgets(text, sizeof text, from)) {
        reader.line++;
        if (!strchr(text, '\n') && strlen(text) == sizeof text - 1)
            return c2_fail(err, C2_ERR_FORMAT, "%s:%u: the line is longer than %zu characters", map->path, reader.line,
                           sizeof text - 2);
        text[strcspn(text, "#")] = '\0';
        reader.at = text;
        status = textproto ? read_textproto(&reader) : read_plain(&reader);
    }
    if (status == C2_OK && ferror(from))
        return c2_fail(err, C2_ERR_IO, "cannot read the page map %s: %s", map->path, strerror(errno));
    if (status == C2_OK && reader.open)
        return c2_fail(err, C2_ERR_FORMAT, "%s:%u: the group that begins here has no end", map->path, reader.opened_at);
    return status;
}
