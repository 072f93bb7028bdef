/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Names of code that lies in no file, as compilers that make it while the program runs write them for perf.
 *
 * Model
 *   Two forms, told apart by the first four bytes.
 *   perf map  A line a function: START SIZE NAME, the numbers in hex, the name up to the end of the line.
 *   jitdump   A head of its own length, whose first number is 0x4a695444, then records: 0 code is loaded, with its
 *             address, size and name; 1 it moves, from one address to another; 2 its lines, ahead of it: address, line
 *             and file each, where the file ff says "the one before"; 3 the end; others are passed over. V8 adds the
 *             length of an ELF file's head to the addresses of lines; its dumps are known by deadbeef in the head.
 *   Later code takes the place of earlier code that it overlaps. What lies in a file of the program is not asked here.
 *
 * Invariants
 *   No two pieces of code overlap. A file that is not understood gives no names at all.
 *
 * Not modelled
 *   When code lay where: of several pieces that lay at an address one after the other, the last one's name is that of
 *   all that was executed there. Inlined functions: a line is that of the innermost. Jitdumps in the order of bytes of
 *   other processors.
 *
 * Source: tools/perf/Documentation/jit-interface.txt and jitdump-specification.txt of Linux; V8's
 *   src/diagnostics/perf-jit.cc for what is its own.
 */
#include "loader/symbols_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0x4a695444u
#define VERSION 1u
#define V8 0xdeadbeefu               /* where others have 0 */
#define V8_SKEW 64u                  /* bytes */
#define MOST_BYTES ((size_t)1 << 30) /* of a file */
enum { HEAD_BYTES = 40, RECORD_BYTES = 16, LOAD_BYTES = 40, MOVE_BYTES = 48, DEBUG_BYTES = 16, ENTRY_BYTES = 16 };
enum { PADDING_BYTES = 8 }; /* behind a record there are fewer */
enum { LOADED = 0, MOVED = 1, DEBUG = 2, CLOSED = 3 };

struct line {
    uint64_t offset; /* from the code's start */
    const char *file;
    int number;
};

struct code {
    struct c2_node node; /* its key is the address */
    uint64_t bytes;
    const char *name;
    struct line *lines; /* ascending by offset */
    size_t line_count;
};

struct loader_jit {
    struct c2_tree codes;
    struct c2_pool pool;
    const char *object; /* what its code is said to lie in */
    /* Lines that came ahead of the code at this address. */
    struct line *lines;
    size_t line_count;
    uint64_t lines_of;
    uint64_t skew; /* of the addresses of lines */
};

/* ------------------------------------------------------------------ code */

static struct code *code_at(const struct loader_jit *jit, uint64_t address)
{
    struct code *code = (struct code *)c2_tree_at_or_below(&jit->codes, address);
    return code && address - code->node.key < code->bytes ? code : NULL;
}

/* What overlaps these bytes goes. */
static void jit_clear(struct loader_jit *jit, uint64_t start, uint64_t bytes)
{
    struct code *code;
    while ((code = code_at(jit, start)))
        c2_tree_remove(&jit->codes, &code->node);
    while ((code = (struct code *)c2_tree_above(&jit->codes, start)) && code->node.key - start < bytes)
        c2_tree_remove(&jit->codes, &code->node);
}

static enum c2_status jit_add(struct loader_jit *jit, uint64_t start, uint64_t bytes, const char *name, size_t length,
                              struct c2_error *err)
{
    if (bytes == 0 || start + bytes < start)
        return C2_OK; /* nothing lies there */
    struct code *code = c2_pool_get(&jit->pool, sizeof *code);
    if (!code || !(code->name = c2_pool_format(&jit->pool, "%.*s", (int)length, name)))
        return c2_fail_memory(err, "the names of code");
    jit_clear(jit, start, bytes);
    code->node.key = start;
    code->bytes = bytes;
    if (jit->line_count != 0 && jit->lines_of == start) {
        code->lines = jit->lines;
        code->line_count = jit->line_count;
    }
    jit->line_count = 0;
    c2_tree_insert(&jit->codes, &code->node);
    return C2_OK;
}

static void jit_move(struct loader_jit *jit, uint64_t from, uint64_t to, uint64_t bytes)
{
    struct code *code = code_at(jit, from);
    if (!code || code->node.key != from || bytes == 0 || to + bytes < to)
        return;
    c2_tree_remove(&jit->codes, &code->node);
    jit_clear(jit, to, bytes);
    code->node.key = to;
    code->bytes = bytes;
    c2_tree_insert(&jit->codes, &code->node);
}

/* ------------------------------------------------------------------ perf maps */

/* A number in hex at *at, which moves behind it. */
static bool take_hex(const char **at, const char *end, uint64_t *out)
{
    const char *from = *at;
    *out = 0;
    if (end - from > 2 && from[0] == '0' && (from[1] == 'x' || from[1] == 'X'))
        from += 2;
    for (*at = from; *at < end; ++*at) {
        const char c = (char)(**at | 0x20);
        const unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                               : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                      : 16;
        if (digit == 16 || *out >> 60 != 0)
            break;
        *out = *out << 4 | digit;
    }
    return *at != from;
}

static bool jit_take_space(const char **at, const char *end)
{
    const char *from = *at;
    while (*at < end && (**at == ' ' || **at == '\t'))
        ++*at;
    return *at != from;
}

static enum c2_status read_map(struct loader_jit *jit, const char *path, const char *text, size_t bytes,
                               struct c2_error *err)
{
    const char *const end = text + bytes;
    enum c2_status status = C2_OK;
    for (uint64_t number = 1; text < end && status == C2_OK; number++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text)), *at = text;
        uint64_t start, count;
        stop = stop ? stop : end;
        text = stop + 1;
        if (at == stop)
            continue;
        if (!take_hex(&at, stop, &start) || !jit_take_space(&at, stop) || !take_hex(&at, stop, &count) ||
            !jit_take_space(&at, stop) || at == stop || memchr(at, '\0', (size_t)(stop - at)))
            return c2_fail(err, C2_ERR_FORMAT, "%s, line %" PRIu64 ": no line of a perf map, START SIZE NAME", path,
                           number);
        status = jit_add(jit, start, count, at, (size_t)(stop - at), err);
    }
    return status;
}

/* ------------------------------------------------------------------ jitdumps */

static uint32_t u32(const uint8_t *from) { return c2_get_u32(from); }
static uint64_t u64(const uint8_t *from) { return u32(from) | (uint64_t)u32(from + 4) << 32; }

/* The length of the text at `from`, which ends before `end`; SIZE_MAX: it does not. */
static size_t text_length(const uint8_t *from, const uint8_t *end)
{
    const uint8_t *zero = from < end ? memchr(from, '\0', (size_t)(end - from)) : NULL;
    return zero ? (size_t)(zero - from) : SIZE_MAX;
}

static int by_offset(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* A file's name: nothing that no text has. */
static bool jit_is_name(const char *text)
{
    bool sound = *text != '\0';
    for (; *text != '\0'; text++)
        sound &= (unsigned char)*text >= ' ' && *text != 0x7f;
    return sound;
}

/* One line, and the file of the one before where it says so. NULL: this is none; *status: no memory. */
static const uint8_t *jit_take_line(struct loader_jit *jit, const uint8_t *at, const uint8_t *end, const char **file,
                                    enum c2_status *status, struct c2_error *err)
{
    const size_t length = end - at < ENTRY_BYTES ? SIZE_MAX : text_length(at + ENTRY_BYTES, end);
    const char *name = (const char *)at + ENTRY_BYTES;
    const bool again = length == 1 && name[0] == '\xff';
    if (length == SIZE_MAX || (again ? !*file : !jit_is_name(name)))
        return NULL;
    if (!again && !(*file = c2_pool_format(&jit->pool, "%s", name)))
        *status = c2_fail_memory(err, "the names of code");
    jit->lines[jit->line_count++] = (struct line){u64(at) - jit->lines_of - jit->skew, *file,
                                                  (int)(u32(at + 8) & INT32_MAX)};
    return at + ENTRY_BYTES + length + 1;
}

/* at: behind the record's own head. False: it does not hold what it says. Lines that are not what they should be are
 * left out, all of that code: some V8 writes names of files from memory that it has freed. *status: no memory. */
static bool jit_take_lines(struct loader_jit *jit, const uint8_t *at, const uint8_t *end, enum c2_status *status,
                           struct c2_error *err)
{
    if (end - at < DEBUG_BYTES)
        return false;
    const uint64_t count = u64(at + 8);
    const char *file = NULL;
    jit->lines_of = u64(at);
    jit->line_count = 0;
    at += DEBUG_BYTES;
    if (count > (uint64_t)(end - at) / (ENTRY_BYTES + 1))
        return false;
    jit->lines = c2_pool_get(&jit->pool, (size_t)(count + 1) * sizeof *jit->lines);
    if (!jit->lines)
        *status = c2_fail_memory(err, "the names of code");
    for (uint64_t i = 0; i < count && at && *status == C2_OK; i++)
        at = jit_take_line(jit, at, end, &file, status, err);
    if (!at || end - at >= PADDING_BYTES)
        jit->line_count = 0;
    if (*status == C2_OK && jit->line_count != 0)
        qsort(jit->lines, jit->line_count, sizeof *jit->lines, by_offset);
    return true;
}

static bool jit_take_record(struct loader_jit *jit, uint32_t kind, const uint8_t *at, const uint8_t *end,
                            enum c2_status *status, struct c2_error *err)
{
    size_t length;
    switch (kind) {
    case LOADED:
        length = end - at < LOAD_BYTES ? SIZE_MAX : text_length(at + LOAD_BYTES, end);
        if (length == SIZE_MAX)
            return false;
        *status = jit_add(jit, u64(at + 16), u64(at + 24), (const char *)at + LOAD_BYTES, length, err);
        return true;
    case MOVED:
        if (end - at < MOVE_BYTES)
            return false;
        jit_move(jit, u64(at + 16), u64(at + 24), u64(at + 32));
        return true;
    case DEBUG:
        return jit_take_lines(jit, at, end, status, err);
    default:
        return true;
    }
}

static enum c2_status read_dump(struct loader_jit *jit, const char *path, const uint8_t *bytes, size_t count,
                                struct c2_error *err)
{
    const uint8_t *at = bytes, *const end = bytes + count;
    enum c2_status status = C2_OK;
    const uint32_t head = count < HEAD_BYTES ? 0 : u32(at + 8);
    if (head < HEAD_BYTES || head > count || u32(at + 4) != VERSION)
        return c2_fail(err, C2_ERR_FORMAT, "%s: the head of a jitdump is damaged, or of another version than %u", path,
                       VERSION);
    jit->skew = u32(at + 16) == V8 ? V8_SKEW : 0;
    for (at += head; at < end && status == C2_OK;) {
        const uint32_t bytes_of = end - at < RECORD_BYTES ? 0 : u32(at + 4);
        if (bytes_of < RECORD_BYTES || bytes_of > (size_t)(end - at) ||
            !jit_take_record(jit, u32(at), at + RECORD_BYTES, at + bytes_of, &status, err))
            return c2_fail(err, C2_ERR_FORMAT, "%s: the record at byte %zu of the jitdump is damaged", path,
                           (size_t)(at - bytes));
        if (u32(at) == CLOSED)
            break;
        at += bytes_of;
    }
    return status;
}

/* ------------------------------------------------------------------ files */

static enum c2_status jit_read_all(uint8_t **out, size_t *count, const char *path, struct c2_error *err)
{
    FILE *from = fopen(path, "rbe");
    size_t room = 0, more = 1;
    *out = NULL;
    *count = 0;
    while (from && more != 0 && *count < MOST_BYTES) {
        if (*count == room) {
            room = room * 2 + 65536;
            uint8_t *bytes = c2_realloc(*out, room);
            if (!bytes) {
                fclose(from);
                return c2_fail_memory(err, "the names of code");
            }
            *out = bytes;
        }
        more = fread(*out + *count, 1, room - *count, from);
        *count += more;
    }
    const int reason = errno;
    const bool failed = !from || ferror(from);
    if (from)
        fclose(from);
    if (failed)
        return c2_fail(err, C2_ERR_NOT_FOUND, "%s cannot be read: %s", path, strerror(reason));
    return *count < MOST_BYTES ? C2_OK : c2_fail(err, C2_ERR_FORMAT, "%s is larger than 1 GiB", path);
}

void loader_jit_release(struct loader_jit *jit)
{
    if (!jit)
        return;
    c2_pool_release(&jit->pool);
    c2_free(jit);
}

static enum c2_status jit_read_names(struct loader_jit *jit, const char *path, struct c2_error *err)
{
    const char *slash = strrchr(path, '/');
    uint8_t *bytes;
    size_t count;
    enum c2_status status = jit_read_all(&bytes, &count, path, err);
    if (status == C2_OK && !(jit->object = c2_pool_format(&jit->pool, "%s", slash ? slash + 1 : path)))
        status = c2_fail_memory(err, "the names of code");
    if (status == C2_OK)
        status = count >= 4 && u32(bytes) == MAGIC ? read_dump(jit, path, bytes, count, err)
                                                   : read_map(jit, path, (const char *)bytes, count, err);
    c2_free(bytes);
    return status;
}

enum c2_status loader_symbols_jit(struct loader_symbols *symbols, const char *path, struct c2_error *err)
{
    struct loader_jit *jit = c2_calloc(1, sizeof *jit);
    if (!jit)
        return c2_fail_memory(err, "the names of code");
    loader_jit_release(symbols->jit);
    symbols->jit = NULL;
    const enum c2_status status = jit_read_names(jit, path, err);
    if (status == C2_OK)
        symbols->jit = jit;
    else
        loader_jit_release(jit);
    return status;
}

/* ------------------------------------------------------------------ the answer */

static const struct line *jit_line_at(const struct code *code, uint64_t offset)
{
    const struct line *found = NULL;
    for (size_t i = 0; i < code->line_count && code->lines[i].offset <= offset; i++)
        found = &code->lines[i];
    return found;
}

bool loader_jit_find(const struct loader_symbols *symbols, struct guest_va pc, struct loader_jit_place *out)
{
    const struct code *code = symbols->jit ? code_at(symbols->jit, pc.v) : NULL;
    if (!code)
        return false;
    const struct line *line = jit_line_at(code, pc.v - code->node.key);
    *out = (struct loader_jit_place){.object = symbols->jit->object, .function = code->name, .start = code->node.key};
    if (line && line->number != 0) {
        const char *slash = strrchr(line->file, '/');
        out->file = line->file;
        out->base = slash ? slash + 1 : line->file;
        out->line = line->number;
    }
    return true;
}
