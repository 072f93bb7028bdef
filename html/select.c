/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * select: what of a report goes into a page.
 *
 * Model
 *   A table states what no picture shows and what is cut: of long lists the first entries stay, which are the dearest.
 *   What is left out of the lists of objects and functions is added to their entry for the rest, so that sums are
 *   whole. Windows are columns of numbers,
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
    {{"lanes"}, 0},
    {{"spread"}, 0},
    {{"changed"}, 0},
    {{"sharing"}, 0},
    {{"prefetch"}, 0},
    {{"samples"}, 0},
    {{"loops"}, 0},
    {{"reasons"}, 0},
    {{"run", "dumps"}, 0},
    {{"run", "phases"}, 0},
    {{"reuse", "instructions"}, 0},
    {{"reuse", "functions"}, 0},
    {{"reuse", "loops"}, 0},
    {{"reuse", "lines"}, 8},
    {{"reuse", "objects"}, 8},
    {{"receipt", "environment"}, 0},
    {{"receipt", "inputs"}, 0},
    {{"receipt", "machines"}, 0},
    {{"conflicts", "miss", "inlined"}, 0},
    {{"conflicts", "originators", "inlined"}, 0},
    {{"conflicts", "originators"}, 5},
    {{"objects", "sites"}, 0},
    {{"coherence", "threads"}, 0},
    {{"coherence", "cores", "own_levels"}, 0},
};

static bool select_is_rest(const json_t *element) { return json_is_object(json_object_get(element, "rest")); }

void html_cut(json_t *array, size_t keep)
{
    for (size_t i = json_array_size(array); i-- > keep;)
        if (!select_is_rest(json_array_get(array, i)))
            json_array_remove(array, i);
}

static void select_apply(json_t *at, const char *const *path, size_t keep)
{
    size_t i;
    json_t *element;
    if (json_is_array(at)) {
        json_array_foreach(at, i, element) select_apply(element, path, keep);
        return;
    }
    json_t *member = json_object_get(at, path[0]);
    if (path[1])
        select_apply(member, path + 1, keep);
    else if (keep == 0)
        json_object_del(at, path[0]);
    else
        html_cut(member, keep);
}

static json_int_t number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* ------------------------------------------------------------------ lists whose sums stay whole */

static bool add_numbers(json_t *to, const json_t *of)
{
    const char *key;
    json_t *value;
    bool added = true;
    json_object_foreach((json_t *)of, key, value)
    {
        if (json_is_integer(value))
            added &= json_object_set_new(to, key, json_integer(number(to, key) + json_integer_value(value))) == 0;
    }
    return added;
}

static json_t *select_level_named(json_t *levels, const json_t *name)
{
    size_t i;
    json_t *level;
    json_array_foreach(levels, i, level)
    {
        if (json_equal(json_object_get(level, "name"), name))
            return level;
    }
    level = json_object();
    return json_array_append_new(levels, level) == 0 && json_object_set(level, "name", (json_t *)name) == 0 ? level
                                                                                                            : NULL;
}

/* One that is left out is added to the entry for the rest. */
static bool add_to_rest(json_t *rest, const char *list, const json_t *of)
{
    json_t *counted = json_object_get(rest, "rest"), *levels = json_object_get(rest, "levels"), *level;
    size_t i;
    bool added = add_numbers(rest, of) &&
                 json_object_set_new(counted, list, json_integer(number(counted, list) + 1)) == 0;
    if (!json_is_array(levels))
        added = added && json_object_set_new(rest, "levels", levels = json_array()) == 0;
    json_array_foreach(json_object_get(of, "levels"), i, level)
    {
        const json_t *name = json_object_get(level, "name");
        json_t *to = added && name ? select_level_named(levels, name) : NULL;
        added = added && (!name || (to && add_numbers(to, level)));
    }
    return added;
}

#define OBJECTS 300u
#define FUNCTIONS 500u

static bool select_fold(json_t *report, const char *name, size_t keep)
{
    json_t *list = json_object_get(report, name), *rest;
    const size_t count = json_array_size(list);
    if (count <= keep + 1)
        return true;
    if (select_is_rest(json_array_get(list, count - 1)))
        rest = json_array_get(list, count - 1);
    else if (json_array_append_new(list, rest = json_pack("{s:{}}", "rest")) != 0)
        return false;
    bool added = true;
    while (added && json_array_get(list, keep) != rest) {
        added = add_to_rest(rest, name, json_array_get(list, keep));
        json_array_remove(list, keep);
    }
    return added;
}

/* ------------------------------------------------------------------ conflicts, contexts, objects of sets */

#define CONFLICTS 60u /* of a level */

/* The dearest of each level; how many there are in all is with the level. */
static void cut_conflicts(json_t *report)
{
    json_t *list = json_object_get(report, "conflicts");
    const json_t *level = NULL; /* that of the first entry of it, which stays */
    size_t of_level = 0;
    for (size_t i = 0; i < json_array_size(list);) {
        const json_t *own = json_object_get(json_array_get(list, i), "level");
        const bool first = !level || !json_equal(own, level);
        of_level = first ? 0 : of_level + 1;
        level = first ? own : level;
        if (of_level < CONFLICTS)
            i++;
        else
            json_array_remove(list, i);
    }
}

#define CONTEXTS 800u

/* Their callers become numbers in a list of names: most are callers of many. */
static bool number_callers(json_t *names, json_t *numbers, json_t *context)
{
    json_t *callers = json_object_get(context, "callers"), *caller;
    size_t i;
    bool added = true;
    json_array_foreach(callers, i, caller)
    {
        const char *name = json_string_value(caller);
        if (name && !json_object_get(numbers, name))
            added &= json_object_set_new(numbers, name, json_integer((json_int_t)json_array_size(names))) == 0 &&
                     json_array_append(names, caller) == 0;
        added = added && (!name || json_array_set(callers, i, json_object_get(numbers, name)) == 0);
    }
    return added;
}

/* Counts that the classes have too. */
static void cut_events(json_t *self)
{
    static const char *const left[] = {"Dr", "Dw", "I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw", "pageWalks"};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        json_object_del(self, left[i]);
}

static bool cut_contexts(json_t *report)
{
    json_t *list = json_object_get(report, "contexts"), *names = json_array(), *numbers = json_object(), *context;
    size_t i;
    bool added = names && numbers;
    html_cut(list, CONTEXTS);
    json_array_foreach(list, i, context)
    {
        json_object_del(context, "name");
        json_object_del(context, "inclusive");
        cut_events(json_object_get(context, "self"));
        added = added && number_callers(names, numbers, context);
    }
    if (list && added)
        added = json_object_set(report, "callers", names) == 0;
    json_decref(names);
    json_decref(numbers);
    return added;
}

#define FILLERS 300u /* objects that have a name */

/* Objects that have filled little lose their names: they are numbered as they are met, in the order of the levels. */
static bool cut_fillers(json_t *report)
{
    json_t *objects = json_object_get(json_object_get(report, "sets"), "objects");
    bool cut = true;
    for (size_t i = FILLERS; i < json_array_size(objects) && cut; i++)
        cut = json_array_set_new(objects, i, json_null()) == 0;
    return cut;
}

/* ------------------------------------------------------------------ windows */

static const char *const counters[] = {"accesses", "misses", "cold", "capacity", "conflict", "coherence"};
#define COUNTERS (sizeof counters / sizeof *counters)

/* One behind the last of those that are added to window `from`: at most `by`, of one phase. */
static size_t group_end(const json_t *windows, size_t from, size_t by)
{
    const json_int_t phase = number(json_array_get(windows, from), "phase");
    size_t end = from + 1;
    while (end < json_array_size(windows) && end < from + by && number(json_array_get(windows, end), "phase") == phase)
        end++;
    return end;
}

static json_int_t select_sum(const json_t *windows, size_t from, size_t end, size_t level, const char *key)
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
static bool select_add_column(json_t *to, const char *name, const json_t *windows, size_t by, size_t level,
                              const char *key)
{
    json_t *column = json_array();
    bool added = json_object_set_new(to, name, column) == 0;
    for (size_t i = 0, end; i < json_array_size(windows) && added; i = end) {
        end = group_end(windows, i, by);
        added = json_array_append_new(column, json_integer(select_sum(windows, i, end, level, key))) == 0;
    }
    return added;
}

/* Where each group begins. */
static bool add_starts(json_t *to, const json_t *windows, size_t by)
{
    json_t *column = json_array();
    bool added = json_object_set_new(to, "start", column) == 0;
    for (size_t i = 0; i < json_array_size(windows) && added; i = group_end(windows, i, by))
        added = json_array_append_new(column, json_integer(number(json_array_get(windows, i), "start"))) == 0;
    return added;
}

static bool select_add_level(json_t *levels, const json_t *windows, size_t by, size_t level, const char *name)
{
    json_t *to = json_object();
    bool added = json_array_append_new(levels, to) == 0 &&
                 json_object_set_new(to, "name", json_string(name ? name : "?")) == 0;
    for (size_t i = 0; i < COUNTERS && added; i++)
        added = select_add_column(to, counters[i], windows, by, level, counters[i]);
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
                 select_add_column(joined, "instructions", windows, by, SIZE_MAX, "instructions");
    for (size_t i = 0; i < json_array_size(names) && added; i++)
        added = select_add_level(levels, windows, by, i,
                                 json_string_value(json_object_get(json_array_get(names, i), "name")));
    return json_object_set_new(report, "windows", joined) == 0 && added;
}

bool html_select(json_t *report)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        select_apply(report, rules[i].path, rules[i].keep);
    cut_conflicts(report);
    return select_fold(report, "objects", OBJECTS) && select_fold(report, "functions", FUNCTIONS) &&
           cut_contexts(report) && cut_fillers(report) && join_windows(report);
}
