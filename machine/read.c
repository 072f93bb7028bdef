/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Machine files: found by name or path, read with inih, changed by overrides.
 *
 * Model
 *   One INI file a machine, one section a level; `; ...` behind a value and lines that begin with # or ; are
 *   comments. inih splits lines, this file makes it strict: it feeds inih line by line, so that it knows the number
 *   of the line a key stands on (inih does not tell), and stops at the first error.
 *   Overrides are set like keys of the file after its last line; then the rules are checked, once, on the whole.
 * Invariants
 *   What inih would pass over in silence is refused here: a section without keys, a section or key given twice, text
 *   behind a heading, a line longer than its buffer (it would be cut), a line indented by accident (it would
 *   continue the value above), a NUL byte, and a last line without a newline (the file may have been cut inside a
 *   number, and "2" is a number as "20" is).
 */
#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine_priv.h"

/* ------------------------------------------------------------------ one file through inih */

struct reader {
    struct machine_draft *draft;
    FILE *file;
    uint32_t line; /* number of the line that inih has in hand */
    bool indented; /* it began with a blank */
    bool in_section;
    enum machine_section section; /* of the last heading */
    bool after_masks;             /* the last key was hash_masks: an indented line continues it */
    enum c2_status status;        /* of the first error; nothing is read after it */
    struct c2_error *err;
};

static char *here(char *where, const struct reader *reader)
{
    snprintf(where, MACHINE_WHERE_BYTES, "%s:%u", reader->draft->shown, reader->line);
    return where;
}

static void read_fail_line(struct reader *reader, const char *why)
{
    char where[MACHINE_WHERE_BYTES];
    reader->status = c2_fail(reader->err, C2_ERR_FORMAT, "%s: %s", here(where, reader), why);
}

/* Like fgets, but a line comes whole or not at all. False at the end of the file and after an error. */
static bool read_line(struct reader *reader, char *text, int bytes)
{
    int length = 0, c;
    while ((c = getc(reader->file)) != EOF) {
        reader->line += length == 0;
        if (c == '\0' || length + 2 > bytes) {
            read_fail_line(reader, c == '\0' ? "a NUL byte: this is no text file" : "the line is too long");
            return false;
        }
        text[length++] = (char)c;
        if (c == '\n')
            break;
    }
    text[length] = '\0';
    if (ferror(reader->file))
        reader->status = c2_fail(reader->err, C2_ERR_IO, "%s: cannot be read: %s", reader->draft->shown,
                                 strerror(errno));
    else if (c == EOF && length > 0)
        read_fail_line(reader, "the last line does not end with a newline: the file may be cut (end it with one)");
    return reader->status == C2_OK && length > 0;
}

static bool blank_or_comment(const char *text)
{
    text += strspn(text, " \t\r\n\f\v");
    return *text == '\0' || *text == ';' || *text == '#';
}

static void enter_section(struct reader *reader, const char *name)
{
    char where[MACHINE_WHERE_BYTES], text[80];
    uint32_t *line = reader->draft->section_line;
    here(where, reader);
    reader->status = machine_find_section(&reader->section, name, where, reader->err);
    if (reader->status != C2_OK)
        return;
    if (line[reader->section]) {
        snprintf(text, sizeof text, "[%s] was there before, on line %u", machine_sections[reader->section].name,
                 line[reader->section]);
        read_fail_line(reader, text);
        return;
    }
    line[reader->section] = reader->line;
    reader->in_section = true;
    reader->after_masks = false;
}

/* text begins with '['. inih would forget a section without keys, and text behind the bracket. */
static void read_heading(struct reader *reader, const char *text)
{
    char name[256];
    size_t length = strcspn(text + 1, "]");
    if (text[1 + length] != ']' || length >= sizeof name)
        read_fail_line(reader, "a heading without its closing bracket");
    else if (!blank_or_comment(text + length + 2))
        read_fail_line(reader, "text behind a heading");
    else {
        snprintf(name, sizeof name, "%.*s", (int)length, text + 1);
        enter_section(reader, name);
    }
}

/* inih's source of lines; NULL ends the parse. */
static char *read_next_line(char *text, int bytes, void *self)
{
    static const char mark[] = "\xef\xbb\xbf"; /* byte-order mark, which inih skips as well */
    struct reader *reader = self;
    if (reader->status != C2_OK || !read_line(reader, text, bytes))
        return NULL;
    const char *start = text;
    if (reader->line == 1 && strncmp(start, mark, strlen(mark)) == 0)
        start += strlen(mark);
    reader->indented = isspace((unsigned char)*start) && !blank_or_comment(start);
    if (reader->indented && !reader->after_masks)
        read_fail_line(reader, "the line begins with a blank (only a hash_masks list may go on in indented lines)");
    else if (*start == '[')
        read_heading(reader, start);
    return reader->status == C2_OK ? text : NULL;
}

static enum c2_status set_from_file(struct reader *reader, const char *name, const char *value)
{
    char where[MACHINE_WHERE_BYTES];
    enum machine_key key;
    here(where, reader);
    if (!reader->in_section)
        return c2_fail(reader->err, C2_ERR_FORMAT, "%s: the key \"%s\" stands before any section", where, name);
    enum c2_status status = machine_find_key(&key, reader->section, name, where, reader->err);
    if (status != C2_OK)
        return status;
    uint32_t before = reader->draft->origin[reader->section][key].line;
    if (before)
        return c2_fail(reader->err, C2_ERR_FORMAT, "%s: [%s] %s = %s: the key was there before, on line %u", where,
                       machine_sections[reader->section].name, name, value, before);
    reader->after_masks = key == KEY_HASH_MASKS;
    struct machine_origin origin = {.line = reader->line};
    return machine_set(reader->draft, reader->section, key, value, origin, reader->err);
}

/* inih's receiver of keys. Its own section argument is not needed: a heading was seen by next_line. */
static int read_take_key(void *self, const char *section, const char *name, const char *value)
{
    struct reader *reader = self;
    (void)section;
    if (reader->indented)
        reader->status = machine_add_masks(reader->draft, reader->section, value, reader->err);
    else
        reader->status = set_from_file(reader, name, value);
    return 1;
}

static enum c2_status read_keys(struct machine_draft *draft, FILE *file, struct c2_error *err)
{
    struct reader reader = {.draft = draft, .file = file, .err = err};
    int bad_line = ini_parse_stream(read_next_line, &reader, read_take_key, &reader);
    /* inih goes on after a line it cannot split; what came later is not the first error. */
    if (bad_line > 0 && (reader.status == C2_OK || (uint32_t)bad_line < reader.line)) {
        reader.line = (uint32_t)bad_line;
        read_fail_line(&reader, "neither `key = value` nor `[section]` nor a comment");
    }
    if (bad_line < 0)
        return c2_fail_memory(err, "a machine file");
    return reader.status;
}

/* ------------------------------------------------------------------ overrides */

/* Splits "L2.ways=4" into buffer: section and key are terminated, the value is returned. NULL: not of that form. */
static char *split_override(char *buffer, size_t bytes, const char *text, char **key)
{
    snprintf(buffer, bytes, "%s", text);
    char *dot = strchr(buffer, '.'), *equals = dot ? strchr(dot, '=') : NULL;
    if (strlen(text) >= bytes || !equals || dot == buffer || equals == dot + 1)
        return NULL;
    *dot = '\0';
    *equals = '\0';
    *key = dot + 1;
    return equals + 1;
}

/* "cores=4" is "machine.cores=4". */
static const char *with_section(char *buffer, size_t bytes, const char *text)
{
    const char *key = machine_keys[KEY_CORES].name;
    const size_t length = strlen(key);
    if (strncmp(text, key, length) != 0 || text[length] != '=')
        return text;
    snprintf(buffer, bytes, "%s.%s", machine_sections[SECTION_MACHINE].name, text);
    return buffer;
}

static enum c2_status apply_override(struct machine_draft *draft, const char *text, size_t rank, struct c2_error *err)
{
    char buffer[1024], whole[1024], where[MACHINE_WHERE_BYTES];
    char *name = NULL, *value = split_override(buffer, sizeof buffer, with_section(whole, sizeof whole, text), &name);
    enum machine_section section;
    enum machine_key key;
    snprintf(where, sizeof where, "--set %.480s", text);
    if (!value)
        return c2_fail(err, C2_ERR_INVALID, "%s: not of the form SECTION.KEY=VALUE (example: L2.ways=4)", where);
    enum c2_status status = machine_find_section(&section, buffer, where, err);
    if (status == C2_OK)
        status = machine_find_key(&key, section, name, where, err);
    if (status != C2_OK)
        return status;
    if (!draft->section_line[section])
        return c2_fail(err, C2_ERR_INVALID, "%s: the machine of %s has no section [%s]", where, draft->shown, buffer);
    /* Masks belong to the hash they were written for: another hash does not inherit them. */
    if (key == KEY_HASH)
        draft->origin[section][KEY_HASH_MASKS] = (struct machine_origin){0};
    struct machine_origin origin = {.override = text, .override_rank = rank};
    return machine_set(draft, section, key, value, origin, err);
}

/* ------------------------------------------------------------------ from a name to a file */

static bool read_is_path(const char *name)
{
    size_t length = strlen(name);
    return strchr(name, '/') || (length >= 4 && strcmp(name + length - 4, ".ini") == 0);
}

static enum c2_status read_fail_open(const char *path, int reason, struct c2_error *err)
{
    enum c2_status status = reason == ENOENT ? C2_ERR_NOT_FOUND : reason == EACCES ? C2_ERR_DENIED : C2_ERR_IO;
    return c2_fail(err, status, "the machine file %s cannot be opened: %s", path, strerror(reason));
}

/* The path, or "..." and its end. */
static void read_shorten(char *shown, size_t bytes, const char *path)
{
    size_t length = strlen(path) + 1;
    if (length <= bytes) {
        memcpy(shown, path, length);
        return;
    }
    memcpy(shown, "...", 3);
    memcpy(shown + 3, path + length - (bytes - 3), bytes - 3);
}

static enum c2_status read_open_file(FILE **out, struct machine_draft *draft, const char *name_or_path,
                                     const char *machines_dir, struct c2_error *err)
{
    bool preset = !read_is_path(name_or_path);
    if (preset && !machines_dir)
        return machine_fail_preset(name_or_path, machines_dir, err);
    int length = preset ? snprintf(draft->path, sizeof draft->path, "%s/%s.ini", machines_dir, name_or_path)
                        : snprintf(draft->path, sizeof draft->path, "%s", name_or_path);
    if ((size_t)length >= sizeof draft->path)
        return c2_fail(err, C2_ERR_INVALID, "the path of the machine file is too long: %.200s...", name_or_path);
    read_shorten(draft->shown, sizeof draft->shown, draft->path);
    *out = fopen(draft->path, "re");
    if (*out)
        return C2_OK;
    return preset && errno == ENOENT ? machine_fail_preset(name_or_path, machines_dir, err)
                                     : read_fail_open(draft->path, errno, err);
}

/* "dir" of "dir/file", "." of "file". */
static enum c2_status fill_directory(struct machine_draft *draft, struct c2_error *err)
{
    const char *slash = strrchr(draft->path, '/');
    size_t bytes = sizeof draft->machine->directory;
    int length = slash ? (int)(slash - draft->path) : 1;
    if (slash == draft->path)
        length = 1; /* the root is its own name */
    if ((size_t)length >= bytes)
        return c2_fail(err, C2_ERR_INVALID, "the path of the machine file is too long: %.200s...", draft->path);
    snprintf(draft->machine->directory, bytes, "%.*s", length, slash ? draft->path : ".");
    return C2_OK;
}

static enum c2_status read_host(struct machine_draft *draft, const char *machines_dir, struct c2_error *err)
{
    char *text;
    enum c2_status status = machine_host_text(&text, machines_dir, err);
    if (status != C2_OK)
        return status;
    FILE *file = fmemopen(text, strlen(text), "r");
    snprintf(draft->shown, sizeof draft->shown, "-m %s", MACHINE_HOST);
    snprintf(draft->path, sizeof draft->path, "%s/%s.ini", machines_dir, MACHINE_HOST);
    status = file ? read_keys(draft, file, err) : c2_fail_memory(err, "a machine file");
    if (file)
        fclose(file);
    free(text);
    return status;
}

static enum c2_status read_file(struct machine_draft *draft, const char *name_or_path, const char *machines_dir,
                                struct c2_error *err)
{
    FILE *file;
    enum c2_status status = C2_OK;
    if (machines_dir && strcmp(name_or_path, MACHINE_HOST) == 0) {
        status = read_host(draft, machines_dir, err);
        return status == C2_OK ? fill_directory(draft, err) : status;
    }
    status = read_open_file(&file, draft, name_or_path, machines_dir, err);
    if (status != C2_OK)
        return status;
    status = c2_outfile_spare(draft->path, err);
    if (status == C2_OK)
        status = read_keys(draft, file, err);
    fclose(file);
    return status == C2_OK ? fill_directory(draft, err) : status;
}

enum c2_status machine_read(struct caches_machine *out, const char *name_or_path, const char *machines_dir,
                            const char *const *overrides, size_t override_count, struct c2_error *err)
{
    memset(out, 0, sizeof *out);
    struct machine_draft *draft = c2_calloc(1, sizeof *draft);
    if (!draft)
        return c2_fail_memory(err, "a machine file");
    draft->machine = out;
    enum c2_status status = read_file(draft, name_or_path, machines_dir, err);
    for (size_t i = 0; status == C2_OK && i < override_count; i++)
        status = apply_override(draft, overrides[i], i + 1, err);
    if (status == C2_OK)
        status = machine_finish(draft, err);
    c2_free(draft);
    return status;
}
