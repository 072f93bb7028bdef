/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * prefetch_chapter: what the prefetchers were good for: misses with and without them, and what is helped.
 *
 * Model
 *   The first line has the finding: what all misses cost with prefetchers and without. A table has a row a level and
 *   prefetcher; another the lines whose misses prefetching has changed most, for better or worse. The JSON has it all
 *   by instruction, line, loop (--by loop) and object, up to a limit; a list that is longer ends with an entry that
 *   has the key `rest` and the sums of what was not listed.
 *
 * Counting
 *   Costs are misses by what one costs (caches_miss_cycles): they rank, they are no times. That a prefetched line is
 *   there at once is the best case.
 *
 * Invariants
 *   Sums over a list are whole, whatever its limit.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/chapter.h"
#include "analyses/prefetch.h"

#define LISTED 50u
#define SHOWN 3u
#define COUNT_OF(list) (sizeof(list) / sizeof(list)[0])

/* An instruction, a line, a loop or an object; of no one: the rest, or what is in no loop. */
struct group {
    const struct analyses_insn *insn;
    const struct analyses_loop *loop;
    const struct analyses_object *of;
    struct loader_place place;                          /* but of objects */
    struct analyses_prefetch_cell level[DIGEST_LEVELS]; /* [number of the level] */
};

struct groups {
    struct group *list;
    size_t count;
};

enum by { BY_INSTRUCTION, BY_LINE, BY_LOOP, BY_OBJECT };

/* ------------------------------------------------------------------ sums */

static void prefetch_chapter_add_counts(struct caches_prefetch_counts *to, const struct caches_prefetch_counts *what)
{
#define X(field, help) to->field += what->field;
    CACHES_PREFETCH_COUNTERS(X)
#undef X
}

static void add_cells(struct group *to, const struct analyses_prefetch_cell *cells, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        prefetch_chapter_add_counts(&to->level[i].prefetches, &cells[i].prefetches);
        to->level[i].misses += cells[i].misses;
        to->level[i].unaided += cells[i].unaided;
        to->level[i].caused += cells[i].caused;
    }
}

struct costs {
    uint64_t with, without;
};

static struct costs prefetch_chapter_cost_of(const struct digest *digest, const struct analyses_prefetch_cell *cells)
{
    struct costs costs = {0};
    for (size_t i = 0; i < digest->level_count; i++) {
        const struct digest_level *level = &digest->levels[i];
        costs.with += cells[level->number].misses * level->miss_cycles;
        costs.without += cells[level->number].unaided * level->miss_cycles;
    }
    return costs;
}

/* How much prefetching has changed, for better or worse. */
static uint64_t prefetch_chapter_change_of(const struct digest *digest, const struct group *group)
{
    const struct costs costs = prefetch_chapter_cost_of(digest, group->level);
    return costs.with > costs.without ? costs.with - costs.without : costs.without - costs.with;
}

/* ------------------------------------------------------------------ groups */

static int prefetch_chapter_by_place(const void *left, const void *right)
{
    const struct group *a = left, *b = right;
    const int order = digest_by_place(&a->place, &b->place);
    return order != 0 ? order : a->insn < b->insn ? -1 : a->insn > b->insn;
}

static struct group prefetch_chapter_group_of(const struct digest *digest, const struct analyses_prefetch_row *row,
                                              enum by by)
{
    struct group group = {.insn = NULL};
    if (by == BY_OBJECT) {
        group.of = &digest->profile->objects[row->object];
        return group;
    }
    if (by == BY_LOOP) {
        const struct analyses_loops_result *found = digest->run->found[ANALYSIS_loops];
        const uint32_t loop = found->loop_of[row->insn];
        group.loop = loop == ANALYSES_NO_LOOP ? NULL : &found->loops[loop];
        if (group.loop)
            names_loop_place(&group.place, digest->run, group.loop);
        return group;
    }
    group.insn = &digest->profile->insns[row->insn];
    names_place(&group.place, digest->run, group.insn->pc);
    return group;
}

static bool prefetch_chapter_is_same(const struct group *a, const struct group *b, enum by by)
{
    return by == BY_LINE ? digest_by_place(&a->place, &b->place) == 0
                         : a->insn == b->insn && a->of == b->of && a->loop == b->loop;
}

static int prefetch_chapter_by_object(const void *left, const void *right)
{
    const struct group *a = left, *b = right;
    return a->of < b->of ? -1 : a->of > b->of; /* all are of one array */
}

static int prefetch_chapter_by_loop(const void *left, const void *right)
{
    const struct group *a = left, *b = right;
    return a->loop < b->loop ? -1 : a->loop > b->loop; /* likewise; NULL is the first */
}

/* What has changed most first. */
struct ranked {
    uint64_t change;
    size_t number;
};

static int by_change(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->change != b->change)
        return a->change > b->change ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static void prefetch_chapter_merge(struct groups *groups, size_t levels, enum by by)
{
    static int (*const orders[])(const void *left, const void *right) = {
        NULL, prefetch_chapter_by_place, prefetch_chapter_by_loop, prefetch_chapter_by_object};
    size_t kept = 0;
    if (groups->count > 0 && orders[by])
        qsort(groups->list, groups->count, sizeof *groups->list, orders[by]);
    for (size_t i = 0; i < groups->count; i++) {
        if (kept > 0 && prefetch_chapter_is_same(&groups->list[kept - 1], &groups->list[i], by))
            add_cells(&groups->list[kept - 1], groups->list[i].level, levels);
        else
            groups->list[kept++] = groups->list[i];
    }
    groups->count = kept;
}

/* False: no memory. */
static bool prefetch_chapter_rank(struct groups *groups, const struct digest *digest)
{
    struct ranked *order = c2_alloc((groups->count + 1) * sizeof *order);
    struct group *list = c2_alloc((groups->count + 1) * sizeof *list);
    if (order && list) {
        for (size_t i = 0; i < groups->count; i++)
            order[i] = (struct ranked){prefetch_chapter_change_of(digest, &groups->list[i]), i};
        qsort(order, groups->count, sizeof *order, by_change);
        for (size_t i = 0; i < groups->count; i++)
            list[i] = groups->list[order[i].number];
        c2_free(groups->list);
        groups->list = list;
    } else {
        c2_free(list);
    }
    c2_free(order);
    return order && groups->list == list;
}

/* *out is the caller's to free, whatever it returned. */
static bool prefetch_chapter_make_groups(struct groups *out, const struct digest *digest, enum by by)
{
    const struct analyses_prefetch_result *result = digest->run->found[ANALYSIS_prefetch];
    *out = (struct groups){.list = c2_calloc(result->row_count + 1, sizeof *out->list)};
    if (!out->list)
        return false;
    for (size_t i = 0; i < result->row_count; i++) {
        struct group *group = &out->list[out->count++];
        *group = prefetch_chapter_group_of(digest, &result->rows[i], by);
        add_cells(group, result->rows[i].level, digest->level_count);
    }
    prefetch_chapter_merge(out, digest->level_count, by);
    return prefetch_chapter_rank(out, digest);
}

/* ------------------------------------------------------------------ the JSON */

static void prefetch_chapter_add_counters(struct document *d, const struct caches_prefetch_counts *n)
{
#define X(field, help) doc_count(d, DOC_JSON, #field, n->field);
    CACHES_PREFETCH_COUNTERS(X)
#undef X
}

static bool prefetch_chapter_is_nothing(const struct analyses_prefetch_cell *cell)
{
    static const struct analyses_prefetch_cell nothing;
    return memcmp(cell, &nothing, sizeof nothing) == 0;
}

static void add_levels_of(struct document *d, const struct digest *digest, const struct group *group)
{
    doc_table(d, DOC_JSON, "levels");
    for (size_t i = 0; i < digest->level_count; i++) {
        const struct analyses_prefetch_cell *cell = &group->level[digest->levels[i].number];
        if (prefetch_chapter_is_nothing(cell))
            continue;
        doc_group(d, DOC_JSON, NULL);
        doc_string(d, DOC_JSON, "name", digest->levels[i].level->name);
        doc_count(d, DOC_JSON, "misses", cell->misses);
        doc_count(d, DOC_JSON, "unaided", cell->unaided);
        doc_count(d, DOC_JSON, "caused", cell->caused);
        prefetch_chapter_add_counters(d, &cell->prefetches);
        doc_close(d);
    }
    doc_close(d);
}

static void prefetch_chapter_add_group(struct document *d, const struct digest *digest, const struct group *group,
                                       enum by by)
{
    if (by == BY_OBJECT) {
        char text[256];
        doc_words(d, DOC_JSON, "name", "%s", group->of->name);
        doc_words(d, DOC_JSON, "text", "%s", names_object_text(text, sizeof text, digest->run, group->of));
        chapter_add_address(d, "base", group->of->base);
        return;
    }
    if (by == BY_LOOP) {
        chapter_add_loop_name(d, &group->place, group->loop);
        return;
    }
    if (by == BY_INSTRUCTION || !group->place.file)
        chapter_add_address(d, "pc", group->insn->pc.v);
    chapter_add_place(d, &group->place);
}

static void prefetch_chapter_add_rest(struct document *d, const struct digest *digest, const struct groups *groups)
{
    struct group rest = {.insn = NULL};
    if (groups->count <= LISTED)
        return;
    for (size_t i = LISTED; i < groups->count; i++)
        add_cells(&rest, groups->list[i].level, digest->level_count);
    doc_group(d, DOC_JSON, NULL);
    doc_count(d, DOC_JSON, "rest", groups->count - LISTED);
    add_levels_of(d, digest, &rest);
    doc_close(d);
}

static void prefetch_chapter_add_list(struct document *d, const struct digest *digest, const struct groups *groups,
                                      enum by by)
{
    static const char *const keys[] = {"instructions", "lines", "loops", "objects"};
    doc_table(d, DOC_JSON, keys[by]);
    for (size_t i = 0; i < groups->count && i < LISTED; i++) {
        doc_group(d, DOC_JSON, NULL);
        prefetch_chapter_add_group(d, digest, &groups->list[i], by);
        add_levels_of(d, digest, &groups->list[i]);
        doc_close(d);
    }
    prefetch_chapter_add_rest(d, digest, groups);
    doc_close(d);
}

/* ------------------------------------------------------------------ levels */

/* The text has a level's own ones; one may have pushed lines out of levels that it does not fetch into. */
static void add_prefetcher(struct document *d, bool shown, const struct caches_level *level, unsigned prefetcher,
                           const struct caches_prefetch_counts *n)
{
    doc_group(d, shown ? DOC_BOTH : DOC_JSON, NULL);
    doc_string(d, DOC_BOTH, "level", level->name);
    doc_string(d, DOC_BOTH, "name", caches_prefetcher_names[prefetcher]);
#define X(field, help) doc_count(d, DOC_BOTH, #field, n->field);
    CACHES_PREFETCH_COUNTERS(X)
#undef X
    doc_close(d);
}

static void prefetch_chapter_add_prefetchers(struct document *d, const struct digest *digest)
{
    static const struct doc_column columns[] = {
        {.heading = "prefetcher", .key = "level", .form = DOC_LEFT},
        {.heading = "", .key = "name", .form = DOC_LEFT},
        {.heading = "issued", .key = "issued"},
        {.heading = "useful", .key = "useful"},
        {.heading = "of issued", .key = "useful", .of = "issued"},
        {.heading = "useless", .key = "useless"},
        {.heading = "polluting", .key = "polluting"},
        {.heading = "had it", .key = "present", .spare = 2},
        {.heading = "end of page", .key = "stopped", .spare = 3},
        {.heading = "from memory", .key = "from_memory", .spare = 1},
    };
    static const struct caches_prefetch_counts nothing;
    const struct analyses_prefetch_result *result = digest->run->found[ANALYSIS_prefetch];
    doc_table(d, DOC_BOTH, "prefetchers");
    doc_columns(d, columns, COUNT_OF(columns), 0);
    for (size_t i = 0; i < digest->level_count; i++)
        for (unsigned p = 0; p < CACHES_PREFETCHERS; p++) {
            const struct caches_level *level = digest->levels[i].level;
            const struct caches_prefetch_counts *n = &result->levels[digest->levels[i].number][p];
            const bool has = level->prefetchers >> p & 1, did = memcmp(n, &nothing, sizeof nothing) != 0;
            if (has || did)
                add_prefetcher(d, has && (did || digest->run->full), level, p, n);
        }
    doc_close(d);
}

static void prefetch_chapter_add_level(struct document *d, const struct digest_level *level,
                                       const struct analyses_prefetch_result *result, uint32_t cores)
{
    const struct analyses_unaided *unaided = &result->unaided[level->number];
    doc_group(d, DOC_JSON, NULL);
    doc_string(d, DOC_JSON, "name", level->level->name);
    doc_count(d, DOC_JSON, "misses", level->counts->misses);
    doc_count(d, DOC_JSON, "caused", unaided->caused);
    doc_group(d, DOC_JSON, "unaided");
    doc_count(d, DOC_JSON, "misses", unaided->misses);
    doc_count(d, DOC_JSON, "cold", unaided->classes[ANALYSES_COLD]);
    doc_count(d, DOC_JSON, "capacity", unaided->classes[ANALYSES_CAPACITY]);
    doc_count(d, DOC_JSON, "conflict", unaided->classes[ANALYSES_CONFLICT]);
    if (cores > 1)
        doc_count(d, DOC_JSON, "coherence", unaided->classes[ANALYSES_CLASSES]);
    doc_close(d);
    doc_count(d, DOC_JSON, "unused", result->unused[level->number]);
    doc_close(d);
}

static void prefetch_chapter_note_finding(struct document *d, const struct digest *digest)
{
    const struct analyses_prefetch_result *result = digest->run->found[ANALYSIS_prefetch];
    struct analyses_prefetch_cell cells[DIGEST_LEVELS] = {{.misses = 0}};
    for (size_t i = 0; i < digest->level_count; i++) {
        const struct digest_level *level = &digest->levels[i];
        cells[level->number].misses = level->counts->misses;
        cells[level->number].unaided = result->unaided[level->number].misses;
        cells[level->number].caused = result->unaided[level->number].caused;
    }
    const struct costs costs = prefetch_chapter_cost_of(digest, cells);
    const bool better = costs.with < costs.without;
    const uint64_t change = better ? costs.without - costs.with : costs.with - costs.without;
    doc_note(d, DOC_FLOW, "prefetch   ", "misses cost %s cycles, %s without prefetchers", doc_digits(d, costs.with),
             doc_digits(d, costs.without));
    if (change != 0)
        doc_say(d, ": %s %s.", doc_share(d, change, costs.without), better ? "less" : "more");
    else
        doc_say(d, ".");
    for (size_t i = 0; i < digest->level_count; i++) {
        const struct analyses_prefetch_cell *cell = &cells[digest->levels[i].number];
        if (cell->misses == cell->unaided && cell->caused == 0)
            continue;
        doc_say(d, " %s misses %s, %s without", digest->levels[i].level->name, doc_digits(d, cell->misses),
                doc_digits(d, cell->unaided));
        doc_say(d, cell->caused != 0 ? " (%s of them because of prefetching)." : ".", doc_digits(d, cell->caused));
    }
}

/* ------------------------------------------------------------------ lines in the text */

static void show_line(struct document *d, const struct digest *digest, const struct group *group)
{
    const struct costs costs = prefetch_chapter_cost_of(digest, group->level);
    char text[256];
    struct caches_prefetch_counts sum = {.issued = 0};
    for (size_t i = 0; i < digest->level_count; i++)
        prefetch_chapter_add_counts(&sum, &group->level[digest->levels[i].number].prefetches);
    doc_group(d, DOC_TEXT, NULL);
    doc_count(d, DOC_TEXT, "with", costs.with);
    doc_count(d, DOC_TEXT, "without", costs.without);
    doc_count(d, DOC_TEXT, "issued", sum.issued);
    doc_count(d, DOC_TEXT, "useful", sum.useful);
    doc_count(d, DOC_TEXT, "polluting", sum.polluting);
    doc_words(d, DOC_TEXT, "line", "%s", loader_place_text(text, sizeof text, group->insn->pc, &group->place));
    doc_close(d);
}

static void show_lines(struct document *d, const struct digest *digest, const struct groups *lines)
{
    static const struct doc_column columns[] = {{.heading = "cost", .key = "with"},
                                                {.heading = "without", .key = "without"},
                                                {.heading = "issued", .key = "issued", .spare = 2},
                                                {.heading = "useful", .key = "useful"},
                                                {.heading = "polluting", .key = "polluting", .spare = 1},
                                                {.heading = "line", .key = "line", .form = DOC_NAME}};
    doc_table(d, DOC_TEXT, NULL);
    doc_columns(d, columns, COUNT_OF(columns), 0);
    for (size_t i = 0; i < lines->count && i < SHOWN; i++)
        if (prefetch_chapter_change_of(digest, &lines->list[i]) != 0)
            show_line(d, digest, &lines->list[i]);
    doc_close(d);
}

/* ------------------------------------------------------------------ the chapter */

static void add_lists(struct document *d, const struct digest *digest)
{
    for (enum by by = BY_INSTRUCTION; by <= BY_OBJECT; by++) {
        struct groups groups;
        if (by == BY_LOOP && !digest->run->found[ANALYSIS_loops])
            continue;
        if (!prefetch_chapter_make_groups(&groups, digest, by))
            d->failed = true;
        else
            prefetch_chapter_add_list(d, digest, &groups, by);
        if (by == BY_LINE && !d->failed)
            show_lines(d, digest, &groups);
        c2_free(groups.list);
    }
}

static void add_prefetch_chapter(struct document *d, struct digest *digest)
{
    const struct analyses_prefetch_result *result = digest->run->found[ANALYSIS_prefetch];
    if (!result)
        return;
    prefetch_chapter_note_finding(d, digest);
    doc_group(d, DOC_BOTH, "prefetch");
    doc_table(d, DOC_JSON, "levels");
    for (size_t i = 0; i < digest->level_count; i++)
        prefetch_chapter_add_level(d, &digest->levels[i], result, caches_machine_cores(digest->run->machine));
    doc_close(d);
    prefetch_chapter_add_prefetchers(d, digest);
    if (digest->profile)
        add_lists(d, digest);
    doc_close(d);
}

const struct analysis_chapter analyses_prefetch_chapter = {
    .add = add_prefetch_chapter, .in = DOC_BOTH, .place = 4, .order = 80};
