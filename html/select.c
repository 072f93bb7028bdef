/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * select: what of a report goes into a page.
 *
 * Model
 *   A table says what no picture shows and what is cut: of long lists the first entries stay, which are the dearest.
 *   An entry with the rest of a list stays in any case, so that sums are whole. Windows are columns of numbers,
 *   neighbours of one phase added up until there are HTML_WINDOWS of them or as many as phases.
 */
#include <string.h>

#include "html/html_priv.h"

/* Members along the path, through arrays. keep: so many first elements; 0: nothing of it. */
static const struct rule {
    const char *path[4]; /* NULL behind the last */
    size_t keep;
} rules[] = {
    {{"bandwidth"}, 0},
    {{"line_use"}, 0},
    {{"histogram"}, 0},
    {{"rcd"}, 0},
    {{"cache_instructions"}, 0},
    {{"cycles"}, 0},
    {{"against"}, 0},
    {{"run", "dumps"}, 0},
    {{"run", "phases"}, 100},
    {{"reuse", "instructions"}, 0},
    {{"reuse", "functions"}, 0},
    {{"reuse", "lines"}, 8},
    {{"reuse", "objects"}, 8},
    {{"receipt", "environment"}, 0},
    {{"receipt", "inputs"}, 0},
    {{"receipt", "machines"}, 0},
    {{"conflicts", "miss", "inlined"}, 0},
    {{"conflicts", "originators", "inlined"}, 0},
    {{"objects", "sites"}, 0},
    {{"objects"}, 300},
    {{"contexts", "name"}, 0},
    {{"contexts", "inclusive"}, 0},
    {{"contexts"}, 1500},
    {{"coherence", "threads", "levels"}, 0},
};

static bool is_rest(const json_t *element) { return json_object_get(element, "rest"); }

void html_cut(json_t *array, size_t keep)
{
    for (size_t i = json_array_size(array); i-- > keep;)
        if (!is_rest(json_array_get(array, i)))
            json_array_remove(array, i);
}

static void apply(json_t *at, const char *const *path, size_t keep)
{
    size_t i;
    json_t *element;
    if (json_is_array(at)) {
        json_array_foreach(at, i, element) apply(element, path, keep);
        return;
    }
    json_t *member = json_object_get(at, path[0]);
    if (path[1])
        apply(member, path + 1, keep);
    else if (keep == 0)
        json_object_del(at, path[0]);
    else
        html_cut(member, keep);
}

/* ------------------------------------------------------------------ windows */

static const char *const counters[] = {"accesses", "misses", "cold", "capacity", "conflict", "coherence"};
#define COUNTERS (sizeof counters / sizeof *counters)

static json_int_t number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* One behind the last of those that are added to window `from`: at most `by`, of one phase. */
static size_t group_end(const json_t *windows, size_t from, size_t by)
{
    const json_int_t phase = number(json_array_get(windows, from), "phase");
    size_t end = from + 1;
    while (end < json_array_size(windows) && end < from + by && number(json_array_get(windows, end), "phase") == phase)
        end++;
    return end;
}

static json_int_t sum(const json_t *windows, size_t from, size_t end, size_t level, const char *key)
{
    json_int_t total = 0;
    for (size_t i = from; i < end; i++) {
        const json_t *window = json_array_get(windows, i);
        const json_t *of = level == SIZE_MAX ? json_object_get(window, "measured")
                                             : json_array_get(json_object_get(window, "levels"), level);
        total += number(of, key);
    }
    return total;
}

/* A column, with an element for each group. */
static bool add_column(json_t *to, const char *name, const json_t *windows, size_t by, size_t level, const char *key)
{
    json_t *column = json_array();
    bool added = json_object_set_new(to, name, column) == 0;
    for (size_t i = 0, end; i < json_array_size(windows) && added; i = end) {
        end = group_end(windows, i, by);
        added = json_array_append_new(column, json_integer(sum(windows, i, end, level, key))) == 0;
    }
    return added;
}

/* Where each group begins. */
static bool add_starts(json_t *to, const json_t *windows, size_t by)
{
    json_t *column = json_array();
    bool added = json_object_set_new(to, "start", column) == 0;
    for (size_t i = 0; i < json_array_size(windows) && added; i = group_end(windows, i, by))
        added = json_array_append(column, json_object_get(json_array_get(windows, i), "start")) == 0;
    return added;
}

static bool add_level(json_t *levels, const json_t *windows, size_t by, size_t level, const json_t *name)
{
    json_t *to = json_object();
    bool added = json_array_append_new(levels, to) == 0 && json_object_set(to, "name", (json_t *)name) == 0;
    for (size_t i = 0; i < COUNTERS && added; i++)
        added = add_column(to, counters[i], windows, by, level, counters[i]);
    return added;
}

static bool join_windows(json_t *report)
{
    const json_t *windows = json_object_get(report, "windows"), *names;
    json_t *joined = json_object(), *levels = json_array();
    const size_t count = json_array_size(windows), by = (count + HTML_WINDOWS - 1) / HTML_WINDOWS;
    if (count == 0) {
        json_decref(joined);
        json_decref(levels);
        return joined && levels;
    }
    names = json_object_get(json_array_get(windows, 0), "levels");
    bool added = json_object_set_new(joined, "levels", levels) == 0 && add_starts(joined, windows, by) &&
                 add_column(joined, "instructions", windows, by, SIZE_MAX, "instructions");
    for (size_t i = 0; i < json_array_size(names) && added; i++)
        added = add_level(levels, windows, by, i, json_object_get(json_array_get(names, i), "name"));
    return json_object_set_new(report, "windows", joined) == 0 && added;
}

bool html_select(json_t *report)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        apply(report, rules[i].path, rules[i].keep);
    return join_windows(report);
}
