/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * saved: a report.json with its receipt, read again; and what differs between two of them.
 *
 * Model
 *   A file is read whole and each part of its receipt looked at, so that a rerun can rely on it: what is
 *   missing, or of another kind than c2emu writes, is refused by its name. Two reports are compared value by value, in
 *   the order of the first: `levels.L1D.misses` by the names of rows where they have one, `[3]` where not. Receipts are
 *   left out.
 */
#include <inttypes.h>
#include <string.h>

#include <jansson.h>

#include "document/document.h"
#include "report/report_priv.h"

struct report_saved {
    json_t *root;
    struct report_receipt receipt;
    const char *const *command;
    const char *const *reports; /* of a list of programs */
    struct c2_pool pool;
};

/* ------------------------------------------------------------------ reading, with the first failure */

struct reading {
    struct report_saved *to;
    const char *name; /* of the file */
    enum c2_status status;
    struct c2_error *err;
};

static void saved_fail(struct reading *r, const char *what, const char *should)
{
    if (r->status == C2_OK)
        r->status = c2_fail(r->err, C2_ERR_FORMAT, "verify: %s: %s of its receipt is missing or is no %s", r->name,
                            what, should);
}

static void *room(struct reading *r, size_t bytes)
{
    void *memory = c2_pool_get(&r->to->pool, bytes);
    if (!memory && r->status == C2_OK)
        r->status = c2_fail_memory(r->err, "a receipt");
    return memory;
}

static const char *saved_text_of(struct reading *r, const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    if (!text)
        saved_fail(r, key, "text");
    return text ? text : "";
}

static bool is_hash(const char *text)
{
    return text && strlen(text) == C2_SHA256_TEXT - 1 && strspn(text, "0123456789abcdef") == C2_SHA256_TEXT - 1;
}

static const char *saved_hash_of(struct reading *r, const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    if (!is_hash(text))
        saved_fail(r, key, "hash");
    return text ? text : "";
}

/* An array of texts, NULL behind the last. */
static const char *const *saved_texts_of(struct reading *r, const json_t *object, const char *key)
{
    const json_t *array = json_object_get(object, key);
    const size_t count = json_array_size(array);
    const char **texts = room(r, (count + 1) * sizeof *texts);
    if (!json_is_array(array))
        saved_fail(r, key, "list of texts");
    for (size_t i = 0; texts && i < count; i++) {
        texts[i] = json_string_value(json_array_get(array, i));
        if (!texts[i])
            saved_fail(r, key, "list of texts");
    }
    return texts;
}

static void saved_read_environment(struct reading *r, const json_t *receipt)
{
    const json_t *array = json_object_get(receipt, "environment"), *element;
    struct report_variable *variables = room(r, (json_array_size(array) + 1) * sizeof *variables);
    size_t i;
    if (!json_is_array(array))
        saved_fail(r, "environment", "list");
    json_array_foreach(array, i, element)
    {
        if (!variables || r->status != C2_OK)
            return;
        variables[i] = (struct report_variable){saved_text_of(r, element, "name"), saved_hash_of(r, element, "sha256")};
    }
    r->to->receipt.environment = variables;
    r->to->receipt.environment_count = json_array_size(array);
}

static uint64_t saved_number_of(struct reading *r, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (value && (!json_is_integer(value) || json_integer_value(value) < 0))
        saved_fail(r, key, "count");
    return (uint64_t)json_integer_value(value);
}

static void read_input(struct reading *r, struct report_input *out, const json_t *input)
{
    const json_t *descriptor = json_object_get(input, "descriptor");
    *out = (struct report_input){.kind = saved_text_of(r, input, "kind"),
                                 .path = json_string_value(json_object_get(input, "path")),
                                 .descriptor = descriptor ? (int)(saved_number_of(r, input, "descriptor") & 0xff) : -1,
                                 .offset = saved_number_of(r, input, "offset"),
                                 .bytes = saved_number_of(r, input, "bytes"),
                                 .note = json_string_value(json_object_get(input, "note"))};
    if (json_object_get(input, "sha256"))
        out->sha256 = saved_hash_of(r, input, "sha256");
    if (!out->path && out->descriptor < 0 && strcmp(out->kind, "stream") != 0)
        saved_fail(r, "the path of an input", "text");
    if (!out->sha256 && !out->note && strcmp(out->kind, "absent") != 0)
        saved_fail(r, "the sha256 of an input", "hash");
}

static void read_inputs(struct reading *r, const json_t *receipt)
{
    const json_t *array = json_object_get(receipt, "inputs"), *element;
    struct report_input *inputs = room(r, (json_array_size(array) + 1) * sizeof *inputs);
    size_t i;
    if (!json_is_array(array))
        saved_fail(r, "inputs", "list");
    json_array_foreach(array, i, element)
    {
        if (!inputs || r->status != C2_OK)
            return;
        read_input(r, &inputs[i], element);
    }
    r->to->receipt.inputs = inputs;
    r->to->receipt.input_count = json_array_size(array);
}

static void read_machines(struct reading *r, const json_t *receipt)
{
    const json_t *array = json_object_get(receipt, "machines"), *element;
    struct report_described *machines = room(r, (json_array_size(array) + 1) * sizeof *machines);
    size_t i;
    if (json_array_size(array) == 0)
        saved_fail(r, "machines", "list");
    json_array_foreach(array, i, element)
    {
        if (!machines || r->status != C2_OK)
            return;
        machines[i] = (struct report_described){saved_hash_of(r, element, "sha256"),
                                                saved_texts_of(r, element, "lines")};
    }
    r->to->receipt.machines = machines;
    r->to->receipt.machine_count = json_array_size(array);
}

static void read_receipt(struct reading *r, const json_t *receipt)
{
    static const char *const streams[] = {"stdin", "stdout", "stderr"};
    struct report_receipt *to = &r->to->receipt;
    to->version = saved_text_of(r, receipt, "c2emu");
    to->engine = saved_text_of(r, receipt, REPORT_ENGINE);
    to->verb = json_string_value(json_object_get(receipt, "verb"));
    to->options = saved_texts_of(r, receipt, "options");
    to->directory = saved_text_of(r, receipt, "directory");
    to->arguments = saved_hash_of(r, receipt, "arguments");
    for (size_t i = 0; i < 3; i++)
        to->streams[i] = saved_text_of(r, json_object_get(receipt, "streams"), streams[i]);
    saved_read_environment(r, receipt);
    read_machines(r, receipt);
    read_inputs(r, receipt);
}

/* Names of files beside that of the list. */
static void read_reports(struct reading *r)
{
    const json_t *programs = json_object_get(r->to->root, "programs"), *program;
    const char *format = json_string_value(json_object_get(r->to->root, "format"));
    size_t i, count = 0;
    if (strcmp(format, "c2emu-programs") != 0)
        return;
    const char **names = room(r, (json_array_size(programs) + 1) * sizeof *names);
    json_array_foreach(programs, i, program)
    {
        const char *name = json_string_value(json_object_get(program, "report"));
        if (name && strchr(name, '/'))
            saved_fail(r, "the name of a report", "name beside the list's");
        if (name && names)
            names[count++] = name;
    }
    r->to->reports = names;
}

static enum c2_status read_root(struct reading *r)
{
    const json_t *root = r->to->root, *receipt = json_object_get(root, "receipt");
    const char *format = json_string_value(json_object_get(root, "format"));
    if (!format || strncmp(format, "c2emu-", strlen("c2emu-")) != 0)
        return c2_fail(r->err, C2_ERR_FORMAT, "verify: %s is no report of c2emu (--json writes one)", r->name);
    if (!json_is_object(receipt) && json_object_get(root, "process"))
        return c2_fail(r->err, C2_ERR_FORMAT,
                       "verify: %s is of one of several programs, and not of the first, which has the receipt; verify "
                       "that, or programs.json, which is of all",
                       r->name);
    if (!json_is_object(receipt))
        return c2_fail(r->err, C2_ERR_FORMAT,
                       "verify: %s has no receipt: an older c2emu wrote it, or it is of no run that can be made again",
                       r->name);
    read_receipt(r, receipt);
    r->to->command = saved_texts_of(r, root, "command");
    if (r->status == C2_OK && !r->to->command[0])
        saved_fail(r, "the command", "program");
    read_reports(r);
    return r->status;
}

/* ------------------------------------------------------------------ from begin to end */

/* whole: with its receipt. */
static enum c2_status saved_parse(struct report_saved **out, const char *text, size_t bytes, const char *name,
                                  bool whole, struct c2_error *err)
{
    json_error_t why;
    *out = c2_calloc(1, sizeof **out);
    if (!*out)
        return c2_fail_memory(err, "a report");
    struct reading reading = {*out, name, C2_OK, err};
    (*out)->root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &why);
    enum c2_status status = (*out)->root ? whole ? read_root(&reading) : C2_OK
                                         : c2_fail(err, C2_ERR_FORMAT, "verify: %s is no JSON: line %d: %s", name,
                                                   why.line, why.text);
    if (status != C2_OK) {
        report_saved_close(*out);
        *out = NULL;
    }
    return status;
}

enum c2_status report_saved_parse(struct report_saved **out, const char *text, size_t bytes, const char *name,
                                  struct c2_error *err)
{
    return saved_parse(out, text, bytes, name, true, err);
}

/* The rest of a stream; *text is to be freed. */
static bool saved_read_all(char **text, size_t *bytes, FILE *from)
{
    size_t size = 1 << 16;
    *bytes = 0;
    *text = c2_alloc(size);
    while (*text) {
        *bytes += fread(*text + *bytes, 1, size - *bytes, from);
        if (*bytes < size)
            return true;
        char *more = c2_realloc(*text, size *= 2);
        if (!more)
            c2_free(*text);
        *text = more;
    }
    return false;
}

static enum c2_status saved_open_file(struct report_saved **out, const char *path, bool whole, struct c2_error *err)
{
    char *text;
    size_t bytes;
    *out = NULL;
    FILE *from = fopen(path, "re");
    if (!from)
        return c2_fail(err, C2_ERR_NOT_FOUND, "verify: %s cannot be opened: %m", path);
    enum c2_status status = saved_read_all(&text, &bytes, from) ? C2_OK : c2_fail_memory(err, "a report");
    if (status == C2_OK && ferror(from))
        status = c2_fail(err, C2_ERR_IO, "verify: %s cannot be read: %m", path);
    fclose(from);
    if (status == C2_OK)
        status = saved_parse(out, text, bytes, path, whole, err);
    c2_free(text);
    return status;
}

enum c2_status report_saved_open(struct report_saved **out, const char *path, struct c2_error *err)
{
    return saved_open_file(out, path, true, err);
}

enum c2_status report_saved_open_values(struct report_saved **out, const char *path, struct c2_error *err)
{
    return saved_open_file(out, path, false, err);
}

const char *const *report_saved_reports(const struct report_saved *saved) { return saved->reports; }

void report_saved_close(struct report_saved *saved)
{
    if (!saved)
        return;
    json_decref(saved->root);
    c2_pool_release(&saved->pool);
    c2_free(saved);
}

const struct report_receipt *report_saved_receipt(const struct report_saved *saved) { return &saved->receipt; }

const char *const *report_saved_command(const struct report_saved *saved) { return saved->command; }

uint64_t report_saved_instructions(const struct report_saved *saved)
{
    const json_int_t count = json_integer_value(json_object_get(json_object_get(saved->root, "run"), "instructions"));
    return count > 0 ? (uint64_t)count : 0;
}

bool report_saved_misses(const struct report_saved *saved, const char *level, uint64_t *out)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(saved->root, "levels"), i, row)
    {
        const char *name = json_string_value(json_object_get(row, "name"));
        const json_t *misses = json_object_get(row, "misses");
        if (!name || strcmp(name, level) != 0 || !json_is_integer(misses))
            continue;
        *out = (uint64_t)json_integer_value(misses);
        return true;
    }
    return false;
}

bool report_saved_slim(const struct report_saved *saved) { return json_is_true(json_object_get(saved->root, "slim")); }

const char *report_saved_interruption(const struct report_saved *saved)
{
    const json_t *ending = json_object_get(saved->root, "ending");
    return !json_is_true(json_object_get(saved->root, "interrupted")) ? NULL
           : json_is_string(ending)                                   ? json_string_value(ending)
                                                                      : "interrupted";
}

/* ------------------------------------------------------------------ value by value */

#define SHOWN 10
#define PATH_BYTES 512

struct walk {
    FILE *to;
    struct report_difference *found;
};

static void saved_say_value(FILE *to, const json_t *value)
{
    if (!value)
        fputs("nothing", to);
    else if (json_is_array(value))
        fprintf(to, "a list of %zu", json_array_size(value));
    else if (json_is_object(value))
        fputs("an object", to);
    else
        json_dumpf(value, to, JSON_ENCODE_ANY);
}

static void saved_tell(struct walk *w, const char *path, const json_t *a, const json_t *b)
{
    if (w->found->differ++ >= SHOWN)
        return;
    fprintf(w->to, "  %s: ", path);
    saved_say_value(w->to, a);
    fputs(", now ", w->to);
    saved_say_value(w->to, b);
    fputc('\n', w->to);
}

static void saved_compare(struct walk *w, const char *path, const json_t *a, const json_t *b);

static void compare_member(struct walk *w, const char *path, const char *key, const json_t *a, const json_t *b)
{
    char longer[PATH_BYTES];
    if (path[0] == '\0' && strcmp(key, "receipt") == 0)
        return;
    snprintf(longer, sizeof longer, "%s%s%s", path, path[0] == '\0' ? "" : ".", key);
    saved_compare(w, longer, json_object_get(a, key), json_object_get(b, key));
}

/* Members of b that a does not have come last. */
static void compare_objects(struct walk *w, const char *path, const json_t *a, const json_t *b)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)a, key, value) compare_member(w, path, key, a, b);
    json_object_foreach((json_t *)b, key, value)
    {
        if (!json_object_get(a, key))
            compare_member(w, path, key, a, b);
    }
}

static void compare_arrays(struct walk *w, const char *path, const json_t *a, const json_t *b)
{
    const size_t in_a = json_array_size(a), in_b = json_array_size(b);
    char longer[PATH_BYTES];
    for (size_t i = 0; i < in_a && i < in_b; i++) {
        const json_t *row = json_array_get(a, i);
        const char *name = json_string_value(json_object_get(row, "name"));
        if (name)
            snprintf(longer, sizeof longer, "%s.%s", path, name);
        else
            snprintf(longer, sizeof longer, "%s[%zu]", path, i);
        saved_compare(w, longer, row, json_array_get(b, i));
    }
    if (in_a != in_b)
        saved_tell(w, path, a, b);
}

static void saved_compare(struct walk *w, const char *path, const json_t *a, const json_t *b)
{
    if (json_is_object(a) && json_is_object(b)) {
        compare_objects(w, path, a, b);
        return;
    }
    if (json_is_array(a) && json_is_array(b)) {
        compare_arrays(w, path, a, b);
        return;
    }
    w->found->values++;
    if (!json_equal(a, b))
        saved_tell(w, path, a, b);
}

struct report_difference report_saved_compare(FILE *to, const struct report_saved *a, const struct report_saved *b)
{
    char digits[32];
    struct report_difference found = {0};
    struct walk walk = {to, &found};
    saved_compare(&walk, "", a->root, b->root);
    if (found.differ > SHOWN)
        fprintf(to, "  and %s more\n", c2_group_digits(digits, found.differ - SHOWN));
    return found;
}
