/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * comparison: two report.json read into one list of counters.
 *
 * Model
 *   Every counter of a level, function or object is an entry, and so are those of the whole run. Entries of both
 *   reports are matched by subject, name, level and counter. A function's name is its symbol and module, an object's
 *   its name and the file and line that allocated it (else its module), a loop's its file and line, and the function
 *   that it is in: addresses take no part, so they may differ. The program is "the program" in both, so that two
 *   builds of other names can be compared. What has one name in one report is added up.
 *   A list may end before all are named, with an entry for the rest. What the other report names then and this one does
 *   not is not known to have no misses here: it counts among the rest of both, and is not compared by itself.
 *
 * Invariants
 *   Sums over a kind are those of the reports.
 *   The entries of one name stand together; those of levels come first and in the order of the reports, functions and
 *   objects by how much their misses changed.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff_priv.h"

/* ------------------------------------------------------------------ one report */

static enum c2_status comparison_load(json_t **out, const char *path, struct c2_error *err)
{
    json_error_t why;
    FILE *from = fopen(path, "re");
    if (!from)
        return c2_fail(err, C2_ERR_NOT_FOUND, "diff: %s cannot be opened: %m", path);
    *out = json_loadf(from, 0, &why);
    fclose(from);
    if (!*out)
        return c2_fail(err, C2_ERR_FORMAT, "diff: %s is no JSON: line %d: %s", path, why.line, why.text);
    const char *format = json_string_value(json_object_get(*out, "format"));
    if (!format || strcmp(format, "c2emu-report") != 0)
        return c2_fail(err, C2_ERR_FORMAT, "diff: %s is no report of c2emu (--json writes one)", path);
    if (json_integer_value(json_object_get(*out, "version")) != 1)
        return c2_fail(err, C2_ERR_FORMAT, "diff: %s has another version than 1", path);
    if (!json_is_array(json_object_get(*out, "levels")))
        return c2_fail(err, C2_ERR_FORMAT, "diff: %s has no counts of caches: it was written with --no-sim", path);
    return C2_OK;
}

static const char *comparison_text_of(const json_t *object, const char *key, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : otherwise;
}

/* ------------------------------------------------------------------ entries */

struct reading {
    struct report_comparison *to;
    int side;
    bool failed;
};

static void comparison_add_entry(struct reading *reading, struct report_entry entry, const json_t *value)
{
    struct report_comparison *to = reading->to;
    if (!json_is_integer(value))
        return;
    if (!c2_grow((void **)&to->entries, &to->room, to->count, sizeof *to->entries)) {
        reading->failed = true;
        return;
    }
    entry.value[reading->side] = (uint64_t)json_integer_value(value);
    entry.in[reading->side] = true;
    entry.order = to->count;
    to->entries[to->count++] = entry;
}

static const char *comparison_keep(struct reading *reading, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static const char *comparison_keep(struct reading *reading, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    const char *name = c2_pool_format_list(&reading->to->names, format, values);
    va_end(values);
    reading->failed |= !name;
    return name ? name : "";
}

/* Every integer of an object. */
static void comparison_add_counters(struct reading *reading, struct report_entry entry, json_t *object)
{
    json_t *value;
    json_object_foreach(object, entry.counter, value) comparison_add_entry(reading, entry, value);
}

static void comparison_add_levels(struct reading *reading, struct report_entry entry, const json_t *levels)
{
    size_t index;
    json_t *level;
    json_array_foreach(levels, index, level)
    {
        entry.level = comparison_text_of(level, "name", "?");
        comparison_add_counters(reading, entry, level);
    }
}

/* A module as names call it: the program's own name may be another in each report. */
static const char *module_text(const struct reading *reading, const char *module)
{
    const char *program = json_string_value(
        json_array_get(json_object_get(reading->to->root[reading->side], "command"), 0));
    return program && strcmp(module, basename(program)) == 0 ? "the program" : module;
}

static const char *function_name(struct reading *reading, const json_t *function)
{
    return comparison_keep(reading, "%s in %s", comparison_text_of(function, "name", "(no name)"),
                           module_text(reading, comparison_text_of(function, "module", "(no module)")));
}

/* "malloc#1 at app.c:4", "A in the program", "code of libc.so.6", "stack". */
static const char *object_name(struct reading *reading, const json_t *object)
{
    const char *name = comparison_text_of(object, "name", "?"), *kind = comparison_text_of(object, "kind", "?");
    const char *module = json_string_value(json_object_get(object, "module"));
    const json_t *site = json_object_get(object, "site");
    const char *file = json_string_value(json_object_get(site, "file"));
    if (strcmp(kind, "code") == 0 || strcmp(kind, "file") == 0)
        return comparison_keep(reading, "%s of %s", kind[0] == 'c' ? "code" : "data", module_text(reading, name));
    if (file) {
        return comparison_keep(reading, "%s at %s:%" JSON_INTEGER_FORMAT, name, basename(file),
                               json_integer_value(json_object_get(site, "line")));
    }
    return comparison_keep(reading, "%s%s%s", name, module ? " in " : "", module ? module_text(reading, module) : "");
}

/* "needle.c:189 in main, the program". */
static const char *loop_name(struct reading *reading, const json_t *loop, const char **bare)
{
    const char *file = json_string_value(json_object_get(loop, "file"));
    const char *header = comparison_text_of(loop, "header", NULL);
    if (!header)
        return *bare = "outside of loops";
    *bare = file ? comparison_keep(reading, "%s:%" JSON_INTEGER_FORMAT, basename(file),
                                   json_integer_value(json_object_get(loop, "line")))
                 : header;
    return comparison_keep(reading, "%s in %s, %s", *bare, comparison_text_of(loop, "function", "(no name)"),
                           module_text(reading, comparison_text_of(loop, "module", "(no module)")));
}

static const char *thing_name(struct reading *reading, struct report_entry *entry, const json_t *thing)
{
    switch (entry->subject) {
    case REPORT_FUNCTION:
        return function_name(reading, thing);
    case REPORT_LOOP:
        return loop_name(reading, thing, &entry->bare);
    default:
        return object_name(reading, thing);
    }
}

static void add_things(struct reading *reading, enum report_subject subject, const json_t *things)
{
    size_t index;
    json_t *thing;
    json_array_foreach(things, index, thing)
    {
        struct report_entry entry = {
            .subject = subject, .level = "run", .bare = comparison_text_of(thing, "name", "(no name)")};
        if (json_object_get(thing, "rest"))
            entry.name = entry.bare = REPORT_OTHERS, reading->to->cut[subject][reading->side] = true;
        else
            entry.name = thing_name(reading, &entry, thing);
        comparison_add_counters(reading, entry, thing);
        comparison_add_levels(reading, entry, json_object_get(thing, "levels"));
    }
}

/* What accesses cost in all, as a counter of the run; and its parts. */
static void comparison_add_cost(struct reading *reading, struct report_entry entry, const json_t *cost)
{
    static const char *const parts[] = {"caches", "translations", "walks", "coherence", "startup"};
    entry.counter = "cost";
    comparison_add_entry(reading, entry, json_object_get(cost, entry.counter));
    entry.level = "cost";
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        entry.counter = parts[i];
        comparison_add_entry(reading, entry, json_object_get(cost, parts[i]));
    }
}

static enum c2_status read_side(struct report_comparison *to, int side, struct c2_error *err)
{
    struct reading reading = {.to = to, .side = side};
    const struct report_entry level = {.subject = REPORT_LEVEL, .name = "", .bare = "", .level = "run"};
    json_t *root = to->root[side];
    comparison_add_counters(&reading, level, json_object_get(json_object_get(root, "run"), "measured"));
    comparison_add_cost(&reading, level, json_object_get(root, "cost"));
    comparison_add_levels(&reading, level, json_object_get(root, "levels"));
    add_things(&reading, REPORT_FUNCTION, json_object_get(root, "functions"));
    add_things(&reading, REPORT_OBJECT, json_object_get(root, "objects"));
    add_things(&reading, REPORT_LOOP, json_object_get(root, "loops"));
    return reading.failed ? c2_fail_memory(err, "a comparison of reports") : C2_OK;
}

/* ------------------------------------------------------------------ matching */

#define UP(a, b) (((a) > (b)) - ((a) < (b)))

static int by_name(const struct report_entry *a, const struct report_entry *b)
{
    return a->subject != b->subject ? UP(a->subject, b->subject) : strcmp(a->name, b->name);
}

static int comparison_by_key(const struct report_entry *a, const struct report_entry *b)
{
    int order = by_name(a, b);
    if (order == 0)
        order = strcmp(a->level, b->level);
    return order != 0 ? order : strcmp(a->counter, b->counter);
}

static int for_matching(const void *left, const void *right)
{
    const struct report_entry *a = left, *b = right;
    const int order = comparison_by_key(a, b);
    return order != 0 ? order : UP(a->order, b->order);
}

static int for_showing(const void *left, const void *right)
{
    const struct report_entry *a = left, *b = right;
    int order = UP(a->subject, b->subject);
    if (order == 0)
        order = UP(b->weight, a->weight);
    if (order == 0)
        order = strcmp(a->name, b->name);
    return order != 0 ? order : UP(a->order, b->order);
}

static void match(struct report_comparison *c)
{
    size_t kept = 0;
    qsort(c->entries, c->count, sizeof *c->entries, for_matching);
    for (size_t i = 0; i < c->count; i++) {
        if (kept == 0 || comparison_by_key(&c->entries[kept - 1], &c->entries[i]) != 0) {
            c->entries[kept++] = c->entries[i];
            continue;
        }
        for (int side = 0; side < 2; side++) {
            c->entries[kept - 1].value[side] += c->entries[i].value[side];
            c->entries[kept - 1].in[side] |= c->entries[i].in[side];
        }
    }
    c->count = kept;
}

/* ------------------------------------------------------------------ what one report alone lists */

/* Whether it is a sum over all of its kind, which the rest has, and no place or size of its own. */
static bool is_summed(const struct report_comparison *c, const struct report_entry *entry)
{
    if (strcmp(entry->level, "run") != 0)
        return true;
    for (size_t i = 0; i < c->count; i++) {
        const struct report_entry *other = &c->entries[i];
        if (other->subject == entry->subject && strcmp(other->name, REPORT_OTHERS) == 0 &&
            strcmp(other->level, entry->level) == 0 && strcmp(other->counter, entry->counter) == 0)
            return true;
    }
    return false;
}

/* The entries of one name go to the rest, whose sums they add to. */
static bool set_aside(struct report_comparison *c, size_t from, size_t end)
{
    c->unlisted[c->entries[from].subject]++;
    for (size_t i = from; i < end; i++) {
        struct report_entry other = c->entries[i];
        c->entries[i].unlisted = true;
        if (!is_summed(c, &other))
            continue;
        if (!c2_grow((void **)&c->entries, &c->room, c->count, sizeof *c->entries))
            return false;
        other.name = other.bare = REPORT_OTHERS;
        other.order = c->count;
        c->entries[c->count++] = other;
    }
    return true;
}

static bool set_aside_all(struct report_comparison *c)
{
    const size_t count = c->count;
    bool done = true;
    for (size_t i = 0, end; i < count && done; i = end) {
        const enum report_subject subject = c->entries[i].subject;
        bool in[2] = {false, false};
        for (end = i; end < count && by_name(&c->entries[i], &c->entries[end]) == 0; end++)
            in[0] |= c->entries[end].in[0], in[1] |= c->entries[end].in[1];
        if ((!in[0] && c->cut[subject][0]) || (!in[1] && c->cut[subject][1]))
            done = set_aside(c, i, end);
    }
    match(c);
    return done;
}

static uint64_t comparison_distance(const struct report_entry *entry)
{
    const uint64_t a = entry->value[0], b = entry->value[1];
    return a > b ? a - b : b - a;
}

/* Entries of one name stand together. */
static void comparison_weigh(struct report_comparison *c)
{
    for (size_t i = 0, end; i < c->count; i = end) {
        uint64_t weight = 0;
        for (end = i; end < c->count && by_name(&c->entries[i], &c->entries[end]) == 0; end++)
            weight += strcmp(c->entries[end].counter, "misses") == 0 ? comparison_distance(&c->entries[end]) : 0;
        for (size_t j = i; j < end; j++)
            c->entries[j].weight = weight;
    }
    qsort(c->entries, c->count, sizeof *c->entries, for_showing);
}

enum c2_status report_comparison_read(struct report_comparison *out, const char *a, const char *b, struct c2_error *err)
{
    json_set_alloc_funcs(c2_alloc, c2_free);
    *out = (struct report_comparison){.path = {a, b}};
    enum c2_status status = C2_OK;
    for (int side = 0; side < 2 && status == C2_OK; side++) {
        status = comparison_load(&out->root[side], out->path[side], err);
        if (status == C2_OK)
            status = read_side(out, side, err);
    }
    if (status == C2_OK) {
        match(out);
        if (!set_aside_all(out))
            return c2_fail_memory(err, "a comparison of reports");
        comparison_weigh(out);
    }
    return status;
}

bool report_comparison_slim(const struct report_comparison *comparison, int side)
{
    return json_is_true(json_object_get(comparison->root[side], "slim"));
}

void report_comparison_release(struct report_comparison *comparison)
{
    c2_pool_release(&comparison->names);
    c2_free(comparison->entries);
    json_decref(comparison->root[0]);
    json_decref(comparison->root[1]);
    *comparison = (struct report_comparison){0};
}
