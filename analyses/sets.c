/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sets: misses of each level by set and by page.
 *
 * Model
 *   Each miss of a level is one of the set that the line goes to, of the object that is accessed, and of the page of
 *   the program that is accessed. A set's objects are those whose misses have filled it; they may have left it since.
 *   Of several cores a set is that of this number in the caches of all of them, where each has its own. Levels with
 *   many sets are notified by groups of neighbours of one slice.
 *   A page is one of the program in one frame: where it comes to lie elsewhere it is another one.
 *
 * Counting
 *   What is measured. The misses and the conflict misses of a level's sets are those that the caches counted (asserted
 *   window by window); those of its pages are the same but for page walks, which are for no page of the program.
 *
 * Memory
 *   32 bytes for each set and each pair of a set and an instruction's object that met, 200 a page that missed.
 *
 * Not modelled
 *   Accesses that a level has at once are in no set here.
 */
#include "analyses/sets.h"

#include <stdlib.h>
#include <string.h>

#include "analyses/where.h"

/* Of a level, while it is simulated. */
struct table {
    struct analyses_page_count *sets;        /* [set, those of all slices counted through] */
    struct analyses_page_count window, then; /* all of them: now, and where the window began */
    struct c2_map *filler_of;                /* set << 32 | access site -> filler */
    uint64_t *fillers;                       /* misses */
    uint32_t filler_count, filler_room;
    struct analyses_set *notified;
};

struct sets {
    struct analysis base;
    const struct caches_machine *machine;
    const struct analyses *analyses;
    struct caches_hash *hash; /* of the last level; NULL: it is not sliced */
    uint32_t line_shift;
    struct table tables[ANALYSES_LEVELS];
    struct c2_map *page_of; /* number of a page of 4 KiB -> page */
    struct analyses_page *pages;
    uint32_t page_count, page_room;
    struct analyses_sets_result result;
};

static enum c2_status sets_no_memory(struct c2_error *err)
{
    return c2_fail_memory(err, "the counts of sets and pages");
}

static const struct caches_level *sets_level_of(const struct caches_machine *machine, uint32_t level)
{
    return level < machine->level_count ? &machine->levels[level] : &machine->l1i;
}

static bool has_level(const struct caches_machine *machine, uint32_t level)
{
    return level < machine->level_count || (level == machine->level_count && machine->has_l1i);
}

/* ------------------------------------------------------------------ counting */

static void sets_count(struct analyses_page_count *at, bool conflict)
{
    at->misses++;
    at->conflict += conflict;
}

static enum c2_status sets_fill(struct table *table, uint32_t set, uint64_t access_site, struct c2_error *err)
{
    const uint64_t key = (uint64_t)set << 32 | where_access_site(access_site);
    uint64_t found;
    if (c2_map_get(table->filler_of, key, &found)) {
        table->fillers[found]++;
        return C2_OK;
    }
    if (!c2_grow((void **)&table->fillers, &table->filler_room, table->filler_count, sizeof *table->fillers))
        return sets_no_memory(err);
    table->fillers[table->filler_count] = 1;
    return c2_map_put(table->filler_of, key, table->filler_count++, err);
}

static enum c2_status sets_add_page(struct sets *sets, struct guest_va start, struct guest_pa frame, uint32_t log2,
                                    uint64_t *out, struct c2_error *err)
{
    if (!c2_grow((void **)&sets->pages, &sets->page_room, sets->page_count, sizeof *sets->pages))
        return sets_no_memory(err);
    *out = sets->page_count;
    sets->pages[sets->page_count] = (struct analyses_page){.start = start,
                                                           .frame = frame,
                                                           .log2 = log2,
                                                           .slice = sets->hash ? caches_hash_slice(sets->hash, frame)
                                                                               : 0,
                                                           .order = sets->page_count};
    sets->page_count++;
    return c2_map_put(sets->page_of, start.v >> C2_PAGE_SHIFT, *out, err);
}

static enum c2_status find_page(struct sets *sets, const struct sim_miss *miss, struct analyses_page **out,
                                struct c2_error *err)
{
    const uint64_t within = (UINT64_C(1) << miss->page_log2) - 1;
    const struct guest_va start = {miss->va.v & ~within};
    const struct guest_pa frame = {miss->line.v << sets->line_shift & ~within};
    uint64_t found;
    enum c2_status status = C2_OK;
    if (!c2_map_get(sets->page_of, start.v >> C2_PAGE_SHIFT, &found) || sets->pages[found].frame.v != frame.v ||
        sets->pages[found].log2 != miss->page_log2)
        status = sets_add_page(sets, start, frame, miss->page_log2, &found, err);
    *out = status == C2_OK ? &sets->pages[found] : NULL;
    return status;
}

static enum c2_status sets_missed(void *self, const struct sim_miss *miss, struct c2_error *err)
{
    struct sets *sets = self;
    struct analyses_page *page = NULL;
    enum c2_status status = miss->kind == SIM_WALK || miss->first >= miss->outcome->served_by
                                ? C2_OK
                                : find_page(sets, miss, &page, err);
    for (uint32_t i = miss->first; i < miss->outcome->served_by && status == C2_OK; i++) {
        const struct caches_event *event = &miss->outcome->event[i];
        const uint32_t level = analyses_level_of(sets->machine, miss->kind, i);
        const bool conflict = event->class_ == CACHES_CONFLICT;
        sets_count(&sets->tables[level].sets[event->set_number], conflict);
        sets_count(&sets->tables[level].window, conflict);
        if (page)
            sets_count(&page->levels[level], conflict);
        status = sets_fill(&sets->tables[level], event->set_number, miss->access_site, err);
    }
    return status;
}

/* ------------------------------------------------------------------ windows */

static void sets_check_level(struct table *table, const struct caches_counts *n)
{
    C2_ASSERT(table->window.misses - table->then.misses == n->misses);
    C2_ASSERT(table->window.conflict - table->then.conflict == n->conflict);
    table->then = table->window;
}

static enum c2_status sets_window(void *self, const struct sim_window *window, struct c2_error *err)
{
    static const struct caches_counts nothing;
    struct sets *sets = self;
    const bool measured = window->phase == STREAM_MEASURE;
    const uint32_t levels = sets->machine->level_count;
    (void)err;
    for (uint32_t i = 0; i < levels; i++)
        sets_check_level(&sets->tables[i], measured ? &window->of.levels[i] : &nothing);
    if (sets->machine->has_l1i)
        sets_check_level(&sets->tables[levels], measured ? &window->of.l1i : &nothing);
    return C2_OK;
}

static size_t set_count(const struct sets *sets, uint32_t level)
{
    const struct caches_level *of = sets_level_of(sets->machine, level);
    return (size_t)caches_level_sets(sets->machine, of) * of->slices;
}

static enum c2_status sets_dropped(void *self, struct c2_error *err)
{
    struct sets *sets = self;
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < ANALYSES_LEVELS && status == C2_OK; i++) {
        struct table *table = &sets->tables[i];
        if (!has_level(sets->machine, i))
            continue;
        memset(table->sets, 0, set_count(sets, i) * sizeof *table->sets);
        table->window = table->then = (struct analyses_page_count){0};
        table->filler_count = 0;
        c2_map_destroy(table->filler_of);
        table->filler_of = NULL;
        status = c2_map_create(&table->filler_of, err);
    }
    sets->page_count = 0;
    c2_map_destroy(sets->page_of);
    sets->page_of = NULL;
    return status == C2_OK ? c2_map_create(&sets->page_of, err) : status;
}

/* ------------------------------------------------------------------ the result */

struct filled {
    uint32_t entry, object;
    uint64_t misses;
};

static int by_entry(const void *a, const void *b)
{
    const struct filled *x = a, *y = b;
    if (x->entry != y->entry)
        return x->entry < y->entry ? -1 : 1;
    return (x->object > y->object) - (x->object < y->object);
}

static int sets_by_misses(const void *a, const void *b)
{
    const struct filled *x = a, *y = b;
    if (x->misses != y->misses)
        return x->misses > y->misses ? -1 : 1;
    return (x->object > y->object) - (x->object < y->object);
}

static uint32_t sets_entry_of(const struct analyses_set_level *level, uint64_t set)
{
    return (uint32_t)(set / level->sets * level->entries + set % level->sets / level->group);
}

/* What filled which entry, an object once in each; the caller frees it. */
static enum c2_status list_filled(struct filled **out, size_t *count, const struct sets *sets, uint32_t number,
                                  struct c2_error *err)
{
    const struct table *table = &sets->tables[number];
    const struct analysis *profile = analyses_find(sets->analyses, ANALYSIS_profile);
    const struct analyses_profile_result *rows = analyses_result(sets->analyses, ANALYSIS_profile);
    struct c2_pair *pairs;
    const size_t all = c2_map_count(table->filler_of);
    enum c2_status status = c2_map_list(&pairs, table->filler_of, err);
    *out = status == C2_OK ? c2_calloc(all + 1, sizeof **out) : NULL;
    *count = 0;
    if (status == C2_OK && !*out)
        status = sets_no_memory(err);
    for (size_t i = 0; i < all && status == C2_OK; i++)
        (*out)[i] = (struct filled){sets_entry_of(&sets->result.levels[number], pairs[i].key >> 32),
                                    rows->rows[where_access_site_row(profile, (uint32_t)pairs[i].key)].object,
                                    table->fillers[pairs[i].value]};
    if (status == C2_OK)
        qsort(*out, all, sizeof **out, by_entry);
    for (size_t i = 0; i < all && status == C2_OK; i++) {
        const bool more = *count > 0 && by_entry(&(*out)[*count - 1], &(*out)[i]) == 0;
        if (more)
            (*out)[*count - 1].misses += (*out)[i].misses;
        else
            (*out)[(*count)++] = (*out)[i];
    }
    if (pairs)
        c2_free(pairs);
    return status;
}

static enum c2_status notify_fills(struct sets *sets, uint32_t number, struct c2_error *err)
{
    struct filled *list;
    size_t count;
    enum c2_status status = list_filled(&list, &count, sets, number, err);
    for (size_t i = 0, end; i < count && status == C2_OK; i = end) {
        for (end = i; end < count && list[end].entry == list[i].entry;)
            end++;
        qsort(list + i, end - i, sizeof *list, sets_by_misses);
        struct analyses_fill *fills = sets->tables[number].notified[list[i].entry].fills;
        for (size_t k = 0; k < end - i && k < ANALYSES_SET_FILLS; k++)
            fills[k] = (struct analyses_fill){list[i + k].object, list[i + k].misses};
    }
    c2_free(list);
    return status;
}

static enum c2_status notify_level(struct sets *sets, uint32_t number, struct c2_error *err)
{
    struct table *table = &sets->tables[number];
    struct analyses_set_level *to = &sets->result.levels[number];
    const struct caches_level *level = sets_level_of(sets->machine, number);
    *to = (struct analyses_set_level){
        .sets = caches_level_sets(sets->machine, level), .slices = level->slices, .group = 1};
    while ((uint64_t)((to->sets + to->group - 1) / to->group) * to->slices > ANALYSES_SET_ENTRIES)
        to->group *= 2;
    to->entries = (to->sets + to->group - 1) / to->group;
    table->notified = c2_calloc((size_t)to->entries * to->slices, sizeof *table->notified);
    to->list = table->notified;
    if (!table->notified)
        return sets_no_memory(err);
    for (size_t set = 0; set < set_count(sets, number); set++) {
        struct analyses_set *entry = &table->notified[sets_entry_of(to, set)];
        entry->misses += table->sets[set].misses;
        entry->conflict += table->sets[set].conflict;
    }
    return notify_fills(sets, number, err);
}

static uint64_t page_misses(const struct analyses_page *page)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < ANALYSES_LEVELS; i++)
        sum += page->levels[i].misses;
    return sum;
}

static int pages_by_misses(const void *a, const void *b)
{
    const struct analyses_page *x = a, *y = b;
    const uint64_t of_x = page_misses(x), of_y = page_misses(y);
    if (of_x != of_y)
        return of_x > of_y ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static int pages_by_start(const void *a, const void *b)
{
    const struct analyses_page *x = a, *y = b;
    if (x->start.v != y->start.v)
        return x->start.v < y->start.v ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static void notify_pages(struct sets *sets)
{
    struct analyses_sets_result *to = &sets->result;
    if (sets->page_count > ANALYSES_SET_PAGES)
        qsort(sets->pages, sets->page_count, sizeof *sets->pages, pages_by_misses);
    to->page_count = sets->page_count < ANALYSES_SET_PAGES ? sets->page_count : ANALYSES_SET_PAGES;
    to->more_pages = sets->page_count - to->page_count;
    for (uint32_t i = to->page_count; i < sets->page_count; i++)
        for (uint32_t level = 0; level < ANALYSES_LEVELS; level++) {
            to->more[level].misses += sets->pages[i].levels[level].misses;
            to->more[level].conflict += sets->pages[i].levels[level].conflict;
        }
    if (to->page_count > 0)
        qsort(sets->pages, to->page_count, sizeof *sets->pages, pages_by_start);
    to->pages = sets->pages;
}

static enum c2_status sets_finish(void *self, struct sim *sim, struct c2_error *err)
{
    struct sets *sets = self;
    enum c2_status status = C2_OK;
    (void)sim;
    for (uint32_t i = 0; i < ANALYSES_LEVELS && status == C2_OK; i++)
        if (has_level(sets->machine, i))
            status = notify_level(sets, i, err);
    notify_pages(sets);
    return status;
}

/* ------------------------------------------------------------------ life */

static void sets_destroy(struct analysis *analysis)
{
    struct sets *sets = (struct sets *)analysis;
    for (uint32_t i = 0; i < ANALYSES_LEVELS; i++) {
        c2_free(sets->tables[i].sets);
        c2_map_destroy(sets->tables[i].filler_of);
        c2_free(sets->tables[i].fillers);
        c2_free(sets->tables[i].notified);
    }
    caches_hash_destroy(sets->hash);
    c2_map_destroy(sets->page_of);
    c2_free(sets->pages);
    c2_free(sets);
}

static enum c2_status sets_make(struct sets *sets, struct c2_error *err)
{
    const struct caches_machine *machine = sets->machine;
    const struct caches_level *last = &machine->levels[machine->level_count - 1];
    enum c2_status status = c2_map_create(&sets->page_of, err);
    for (uint32_t i = 0; i < ANALYSES_LEVELS && status == C2_OK; i++) {
        struct table *table = &sets->tables[i];
        if (!has_level(machine, i))
            continue;
        table->sets = c2_calloc(set_count(sets, i), sizeof *table->sets);
        status = table->sets ? c2_map_create(&table->filler_of, err) : sets_no_memory(err);
    }
    if (status == C2_OK && last->slices > 1)
        status = caches_hash_create(&sets->hash, last->hash, last->slices, machine->directory, err);
    return status;
}

static enum c2_status sets_create(struct analysis **out, const struct analyses_setup *setup,
                                  const struct analyses *analyses, struct c2_error *err)
{
    struct sets *sets = c2_calloc(1, sizeof *sets);
    if (!sets)
        return sets_no_memory(err);
    sets->base.kind = &analysis_sets;
    sets->machine = setup->machine;
    sets->analyses = analyses;
    sets->line_shift = c2_log2(setup->machine->line_bytes);
    enum c2_status status = sets_make(sets, err);
    if (status == C2_OK)
        *out = &sets->base;
    else
        sets_destroy(&sets->base);
    return status;
}

static struct sim_subscriber sets_subscriber(struct analysis *analysis)
{
    return (struct sim_subscriber){.self = analysis,
                                   .every_store = true,
                                   .missed = sets_missed,
                                   .window = sets_window,
                                   .dropped = sets_dropped,
                                   .finish = sets_finish};
}

static const void *sets_result(const struct analysis *analysis) { return &((const struct sets *)analysis)->result; }

const struct analysis_kind analysis_sets = {.needs = 1u << ANALYSIS_profile,
                                            .chapter = &analyses_sets_chapter,
                                            .create = sets_create,
                                            .subscriber = sets_subscriber,
                                            .result = sets_result,
                                            .destroy = sets_destroy};
