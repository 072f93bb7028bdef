/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Slice hashes read from a base-sequence file (permutation method): for the slice counts that have no closed form.
 *
 * Model
 *   The file has one slice number a line, N = 2^L of them; lines that begin with # are comments. L masks come with
 *   the name, lowest first. A line of memory has the number i = address bits 6 .. 5+L inside its block of N lines;
 *   the bits above say which permutation p of the base sequence the block has: slice = base[i ^ p].
 *   Since no mask touches the bits of i, bit k of i ^ p is one parity: of mask k and bit 6+k together.
 * Invariants
 *   Every slice number is below the number of slices, and every slice occurs.
 * Not modelled
 *   Sequences longer than 2^14: none is published.
 * Source
 *   McCalpin, "Mapping Addresses to L3/CHA Slices in Intel Processors", TACC TR-2021-03, doi 10.26153/tsw/14539.
 */
#include "caches/slices_priv.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define MAX_LENGTH (1u << HASH_MAX_MASKS)
#define PREFIX_BYTES 5 /* "perm:" */

/* The file while it is read. */
struct sequence {
    char path[2048];
    FILE *file;
    uint32_t line;
    uint32_t slices;
    uint32_t length;
    uint8_t *base; /* MAX_LENGTH entries */
};

/* Splits "perm:PATH:MASKS" at its last colon; *masks points into name. */
static enum c2_status split_name(char *path, size_t bytes, const char **masks, const char *name,
                                 const char *relative_to, struct c2_error *err)
{
    C2_ASSERT(strncmp(name, "perm:", PREFIX_BYTES) == 0);
    const char *start = name + PREFIX_BYTES, *colon = strrchr(start, ':');
    if (!colon || colon == start || !colon[1])
        return c2_fail(err, C2_ERR_INVALID, "the slice hash \"%s\" needs a file and its masks: perm:PATH:MASK,MASK,...",
                       name);
    bool relative = *start != '/' && relative_to && *relative_to;
    int length = snprintf(path, bytes, "%s%s%.*s", relative ? relative_to : "", relative ? "/" : "",
                          (int)(colon - start), start);
    if ((size_t)length >= bytes)
        return c2_fail(err, C2_ERR_INVALID, "the slice hash \"%s\": the path is too long", name);
    *masks = colon + 1;
    return C2_OK;
}

/* ------------------------------------------------------------------ the file */

static enum c2_status slices_perm_add_number(struct sequence *seq, const char *text, struct c2_error *err)
{
    C2_ASSERT(seq->length <= MAX_LENGTH && seq->slices >= 1 && seq->slices <= CACHES_MAX_SLICES);
    uint64_t slice;
    char what[sizeof seq->path + 64];
    snprintf(what, sizeof what, "%s:%u: slice number", seq->path, seq->line);
    enum c2_status status = c2_parse_number(&slice, text, what, err);
    if (status != C2_OK)
        return status;
    if (slice >= seq->slices)
        return c2_fail(err, C2_ERR_INVALID, "%s %s is out of range: slices are 0 to %u", what, text, seq->slices - 1);
    if (seq->length == MAX_LENGTH)
        return c2_fail(err, C2_ERR_INVALID, "%s:%u: more than %u slice numbers", seq->path, seq->line, MAX_LENGTH);
    seq->base[seq->length++] = (uint8_t)slice;
    return C2_OK;
}

/* A cut file may end inside a number, which is then another number: so the last line must be whole as well. */
static enum c2_status slices_perm_read_line(struct sequence *seq, char *text, struct c2_error *err)
{
    size_t length = strlen(text);
    seq->line++;
    if (length == 0 || text[length - 1] != '\n')
        return c2_fail(err, C2_ERR_FORMAT, "%s:%u: the line is too long, no text, or cut (no newline at its end)",
                       seq->path, seq->line);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    return text[0] == '#' ? C2_OK : slices_perm_add_number(seq, text, err);
}

static enum c2_status slices_perm_read_lines(struct sequence *seq, struct c2_error *err)
{
    C2_ASSERT(seq->file && seq->base);
    char text[256];
    enum c2_status status = C2_OK;
    while (status == C2_OK && fgets(text, sizeof text, seq->file))
        status = slices_perm_read_line(seq, text, err);
    if (status == C2_OK && ferror(seq->file))
        return c2_fail(err, C2_ERR_IO, "%s: cannot be read: %s", seq->path, strerror(errno));
    return status;
}

static enum c2_status check_sequence(const struct sequence *seq, struct c2_error *err)
{
    C2_ASSERT(seq->length <= MAX_LENGTH);
    if (seq->length < 2 || !c2_is_power_of_two(seq->length))
        return c2_fail(err, C2_ERR_INVALID, "%s: %u slice numbers: the length must be a power of two, 2 to %u",
                       seq->path, seq->length, MAX_LENGTH);
    for (uint32_t slice = 0; slice < seq->slices; slice++)
        if (!memchr(seq->base, (int)slice, seq->length))
            return c2_fail(err, C2_ERR_INVALID, "%s: slice %u never occurs: this is no sequence of %u slices",
                           seq->path, slice, seq->slices);
    return C2_OK;
}

static enum c2_status slices_perm_read_sequence(struct sequence *seq, struct c2_error *err)
{
    seq->file = fopen(seq->path, "re");
    if (!seq->file)
        return c2_fail(err, C2_ERR_NOT_FOUND, "%s: no base sequence can be read there: %s", seq->path, strerror(errno));
    enum c2_status status = c2_outfile_spare(seq->path, err);
    if (status == C2_OK)
        status = slices_perm_read_lines(seq, err);
    fclose(seq->file);
    return status == C2_OK ? check_sequence(seq, err) : status;
}

/* ------------------------------------------------------------------ the masks */

static enum c2_status slices_perm_check_mask(uint64_t mask, unsigned number, unsigned index_bits, const char *path,
                                             struct c2_error *err)
{
    C2_ASSERT(number < index_bits && index_bits <= HASH_MAX_MASKS);
    uint64_t allowed = c2_mask(HASH_LINE_SHIFT + index_bits, HASH_TOP_BIT);
    if (mask & ~allowed)
        return c2_fail(err, C2_ERR_INVALID,
                       "%s: mask %u, 0x%llx, has bits outside %u..%d: the bits below choose within the sequence", path,
                       number, (unsigned long long)mask, HASH_LINE_SHIFT + index_bits, HASH_TOP_BIT);
    return C2_OK;
}

/* One mask off the front of *text, which moves behind the comma. */
static enum c2_status next_mask(uint64_t *mask, const char **text, const char *path, unsigned number,
                                struct c2_error *err)
{
    C2_ASSERT(number < HASH_MAX_MASKS);
    char word[64], what[2112];
    size_t length = strcspn(*text, ",");
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), *text);
    snprintf(what, sizeof what, "%s: mask %u", path, number);
    *text += length + ((*text)[length] == ',');
    return c2_parse_number(mask, word, what, err);
}

static unsigned slices_perm_count_words(const char *text)
{
    unsigned count = 1;
    for (; *text; text++)
        count += *text == ',';
    return count;
}

static enum c2_status read_masks(struct hash_form *form, const char *text, const char *path, uint32_t length,
                                 struct c2_error *err)
{
    C2_ASSERT(c2_is_power_of_two(length) && length >= 2 && length <= MAX_LENGTH);
    unsigned index_bits = c2_log2(length), count = slices_perm_count_words(text);
    if (count != index_bits)
        return c2_fail(err, C2_ERR_INVALID, "%s: %u slice numbers need %u masks, not %u", path, length, index_bits,
                       count);
    uint64_t all = 0;
    for (unsigned k = 0; k < index_bits; k++) {
        uint64_t mask = 0;
        enum c2_status status = next_mask(&mask, &text, path, k, err);
        if (status == C2_OK)
            status = slices_perm_check_mask(mask, k, index_bits, path, err);
        if (status != C2_OK)
            return status;
        all |= mask;
        form->mask[k] = mask | (uint64_t)1 << (HASH_LINE_SHIFT + k);
    }
    form->mask_count = index_bits;
    form->valid_bit = all ? c2_log2(all) : HASH_LINE_SHIFT + index_bits - 1;
    C2_ASSERT(form->valid_bit <= HASH_TOP_BIT);
    return C2_OK;
}

/* ------------------------------------------------------------------ both */

enum c2_status hash_read_permutation(struct hash_form *form, const char *name, uint32_t slices, const char *relative_to,
                                     struct c2_error *err)
{
    struct sequence seq = {.slices = slices};
    const char *masks = "";
    *form = (struct hash_form){.slices = slices, .index_divisor = 1};
    enum c2_status status = split_name(seq.path, sizeof seq.path, &masks, name, relative_to, err);
    if (status != C2_OK)
        return status;
    seq.base = c2_calloc(MAX_LENGTH, 1);
    if (!seq.base)
        return c2_fail_memory(err, "a base sequence");
    status = slices_perm_read_sequence(&seq, err);
    if (status == C2_OK)
        status = read_masks(form, masks, seq.path, seq.length, err);
    if (status == C2_OK)
        form->base = seq.base;
    else
        c2_free(seq.base);
    return status;
}
