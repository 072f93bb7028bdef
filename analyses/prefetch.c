/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * prefetch: what the prefetchers of a machine were good for, and what would be without them.
 *
 * Model
 *   The caches tell what their prefetchers do (caches/prefetch.c says what each word means). Beside them the simulator
 *   has the same machine without prefetchers, which gets the same accesses in the same order, those of page walks too:
 *   so misses with and without are those of one run, and of each miss it is known whether it is there without them:
 *   one that is not was caused by prefetching, whatever the way.
 *   A prefetch counts for the instruction and the object of the access that it followed, at whatever time it turns out
 *   to have been useful or useless or to have pushed out what is missed now. A miss counts for the access that misses.
 *   Of several cores, and of the machine without prefetchers as many, levels of one name count together.
 *
 * Counting
 *   What happens while it is measured; a line may have been fetched before that. On every machine that is simulated
 *   side by side, but not on the second of --against.
 *
 * Invariants (asserted)
 *   Of the whole run since the caches were last emptied: what was notified is what the caches have counted. Of what was
 *   measured: sums over instructions and objects are those of the levels, and misses those of the windows.
 *
 * Price
 *   Memory is bounded by the pairs of instruction and object that meet: 80 bytes each and level.
 */
#include "analyses/prefetch.h"

#include <string.h>

#include "analyses/where.h"

typedef struct caches_prefetch_counts by_prefetcher[CACHES_PREFETCHERS];

struct prefetch {
    struct analysis base;
    const struct caches_machine *machine;
    struct where *where;                  /* NULL: no attribution */
    by_prefetcher all[ANALYSES_LEVELS];   /* in every phase, since the caches were emptied */
    struct analyses_prefetch_cell *cells; /* [spot * levels + level] */
    uint32_t spots;                       /* that have cells */
    uint32_t *spot_of;                    /* [access site]: of the last prefetch that followed an access of it */
    uint32_t access_sites;                /* numbers there */
    struct sim_totals measured;
    struct analyses_prefetch_result result;
    struct analyses_prefetch_row *rows;
    struct analyses_prefetch_cell *summed; /* [row * levels + level] */
};

static uint32_t levels_of(const struct prefetch *prefetch)
{
    return prefetch->machine->level_count + prefetch->machine->has_l1i;
}

/* ------------------------------------------------------------------ life */

static void prefetch_destroy(struct analysis *analysis)
{
    struct prefetch *prefetch = (struct prefetch *)analysis;
    where_destroy(prefetch->where);
    c2_free(prefetch->cells);
    c2_free(prefetch->spot_of);
    c2_free(prefetch->rows);
    c2_free(prefetch->summed);
    c2_free(prefetch);
}

static enum c2_status prefetch_create(struct analysis **out, const struct analyses_setup *setup,
                                      const struct analyses *analyses, struct c2_error *err)
{
    struct prefetch *prefetch = c2_calloc(1, sizeof *prefetch);
    if (!prefetch)
        return c2_fail_memory(err, "the count of prefetches");
    prefetch->base.kind = &analysis_prefetch;
    prefetch->machine = setup->machine;
    enum c2_status status = C2_OK;
    if (analyses_find(analyses, ANALYSIS_profile))
        status = where_create(&prefetch->where, analyses, err);
    if (status == C2_OK)
        *out = &prefetch->base;
    else
        prefetch_destroy(&prefetch->base);
    return status;
}

/* ------------------------------------------------------------------ causes */

static enum c2_status prefetch_reach_spot(struct prefetch *prefetch, uint32_t spot, struct c2_error *err)
{
    const size_t levels = levels_of(prefetch);
    if (spot < prefetch->spots)
        return C2_OK;
    uint32_t room = prefetch->spots * 2 + C2_HOST_SIZE(1024u, 1u);
    room = room > spot ? room : spot + 1;
    struct analyses_prefetch_cell *cells = c2_realloc(prefetch->cells, room * levels * sizeof *cells);
    if (!cells)
        return c2_fail_memory(err, "the count of prefetches");
    memset(cells + prefetch->spots * levels, 0, (room - prefetch->spots) * levels * sizeof *cells);
    prefetch->cells = cells;
    prefetch->spots = room;
    return C2_OK;
}

static enum c2_status find_spot(struct prefetch *prefetch, uint32_t code, enum sim_kind kind, struct guest_va va,
                                uint32_t *spot, struct c2_error *err)
{
    enum c2_status status = where_spot(prefetch->where, code, kind, va, spot, err);
    return status == C2_OK ? prefetch_reach_spot(prefetch, *spot, err) : status;
}

static struct analyses_prefetch_cell *cell_of(const struct prefetch *prefetch, uint32_t spot, uint32_t level)
{
    return &prefetch->cells[(size_t)spot * levels_of(prefetch) + level];
}

/* An access site is one instruction and one object, so all that it does is of one spot. */
static enum c2_status know_access_site(struct prefetch *prefetch, const struct sim_prefetched *notified,
                                       uint32_t access_site, struct c2_error *err)
{
    uint32_t spot;
    enum c2_status status = find_spot(prefetch, notified->code, notified->kind, notified->va, &spot, err);
    if (status != C2_OK)
        return status;
    if (access_site >= prefetch->access_sites) {
        const uint32_t room = access_site * 2 + C2_HOST_SIZE(1024u, 1u);
        uint32_t *spot_of = c2_realloc(prefetch->spot_of, room * sizeof *spot_of);
        if (!spot_of)
            return c2_fail_memory(err, "the count of prefetches");
        memset(spot_of + prefetch->access_sites, 0xff, (room - prefetch->access_sites) * sizeof *spot_of);
        prefetch->spot_of = spot_of;
        prefetch->access_sites = room;
    }
    C2_PROMISE(prefetch->spot_of[access_site] == WHERE_NOWHERE || prefetch->spot_of[access_site] == spot);
    prefetch->spot_of[access_site] = spot;
    return C2_OK;
}

/* ------------------------------------------------------------------ counting */

static void count_event(const struct prefetch *prefetch, struct caches_prefetch_counts *n,
                        const struct caches_prefetched *event)
{
    n->issued += event->what == CACHES_PREFETCH_ISSUED;
    n->present += event->what == CACHES_PREFETCH_PRESENT;
    n->stopped += event->what == CACHES_PREFETCH_STOPPED;
    n->from_memory += event->what == CACHES_PREFETCH_ISSUED && event->served_by == prefetch->machine->level_count;
    n->useful += event->what == CACHES_PREFETCH_USEFUL;
    n->useless += event->what == CACHES_PREFETCH_USELESS;
    n->polluting += event->what == CACHES_PREFETCH_POLLUTING;
}

/* These are of the access at hand; the others may be of one long ago. */
static bool is_new(const struct caches_prefetched *event)
{
    return event->what == CACHES_PREFETCH_ISSUED || event->what == CACHES_PREFETCH_PRESENT ||
           event->what == CACHES_PREFETCH_STOPPED || event->what == CACHES_PREFETCH_EVICTED ||
           event->what == CACHES_PREFETCH_FILTERED;
}

static enum c2_status prefetch_count(struct prefetch *prefetch, const struct sim_prefetched *notified,
                                     const struct caches_prefetched *event, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    count_event(prefetch, &prefetch->all[event->level][event->prefetcher], event);
    if (prefetch->where && is_new(event))
        status = know_access_site(prefetch, notified, event->access_site, err);
    if (status != C2_OK || !notified->measured)
        return status;
    count_event(prefetch, &prefetch->result.levels[event->level][event->prefetcher], event);
    if (prefetch->where)
        count_event(prefetch, &cell_of(prefetch, prefetch->spot_of[event->access_site], event->level)->prefetches,
                    event);
    return C2_OK;
}

static enum c2_status prefetch_prefetched(void *self, const struct sim_prefetched *notified, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (size_t i = 0; i < notified->count && status == C2_OK; i++)
        if (notified->events[i].prefetcher != CACHES_PREFETCH_SOFTWARE)
            status = prefetch_count(self, notified, &notified->events[i], err);
    return status;
}

static void count_unaided(struct analyses_unaided *n, const struct caches_event *event)
{
    n->misses++;
    n->classes[event->class_ - CACHES_COLD]++;
}

/* One level of an access that missed there with prefetchers, or without. */
static void prefetch_count_miss(struct prefetch *prefetch, const struct sim_miss *miss, uint32_t depth, bool aided,
                                uint32_t spot)
{
    const bool unaided = depth < miss->outcome->served_by;
    const uint32_t level = analyses_level_of(prefetch->machine, miss->kind, depth);
    struct analyses_unaided *n = &prefetch->result.unaided[level];
    if (unaided)
        count_unaided(n, &miss->outcome->event[depth]);
    n->caused += aided && !unaided;
    if (!prefetch->where)
        return;
    struct analyses_prefetch_cell *cell = cell_of(prefetch, spot, level);
    cell->misses += aided;
    cell->unaided += unaided;
    cell->caused += aided && !unaided;
}

static enum c2_status unaided(void *self, const struct sim_miss *miss, uint32_t served_by, struct c2_error *err)
{
    struct prefetch *prefetch = self;
    const uint32_t end = served_by > miss->outcome->served_by ? served_by : miss->outcome->served_by;
    uint32_t spot = 0;
    if (!miss->measured)
        return C2_OK;
    enum c2_status status = C2_OK;
    if (prefetch->where)
        status = find_spot(prefetch, miss->code, miss->kind, miss->va, &spot, err);
    for (uint32_t i = miss->first; i < end && status == C2_OK; i++)
        prefetch_count_miss(prefetch, miss, i, i < served_by, spot);
    return status;
}

static void prefetch_emptied(void *self)
{
    memset(((struct prefetch *)self)->all, 0, sizeof(((struct prefetch *)self)->all));
}

static enum c2_status prefetch_dropped(void *self, struct c2_error *err)
{
    struct prefetch *prefetch = self;
    (void)err;
    memset(&prefetch->result, 0, sizeof prefetch->result);
    prefetch->measured = (struct sim_totals){.tlb_misses = 0};
    if (prefetch->cells)
        memset(prefetch->cells, 0, (size_t)prefetch->spots * levels_of(prefetch) * sizeof *prefetch->cells);
    return C2_OK;
}

static enum c2_status prefetch_window(void *self, const struct sim_window *window, struct c2_error *err)
{
    (void)err;
    if (window->phase == STREAM_MEASURE)
        sim_totals_add(&((struct prefetch *)self)->measured, &window->of);
    return C2_OK;
}

/* ------------------------------------------------------------------ the result */

static void prefetch_add(struct caches_prefetch_counts *to, const struct caches_prefetch_counts *what)
{
#define X(field, help) to->field += what->field;
    CACHES_PREFETCH_COUNTERS(X)
#undef X
}

static void prefetch_add_cell(struct analyses_prefetch_cell *to, const struct analyses_prefetch_cell *what)
{
    prefetch_add(&to->prefetches, &what->prefetches);
    to->misses += what->misses;
    to->unaided += what->unaided;
    to->caused += what->caused;
}

static bool prefetch_is_empty(const struct analyses_prefetch_cell *cells, uint32_t levels)
{
    static const struct analyses_prefetch_cell nothing;
    bool empty = true;
    for (uint32_t i = 0; i < levels; i++)
        empty &= memcmp(&cells[i], &nothing, sizeof nothing) == 0;
    return empty;
}

static void prefetch_merge(struct prefetch *prefetch, const struct where_row *spots, size_t count)
{
    const uint32_t levels = levels_of(prefetch);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct where_row *of = &spots[i];
        if (of->spot >= prefetch->spots || prefetch_is_empty(cell_of(prefetch, of->spot, 0), levels))
            continue;
        const struct analyses_prefetch_row *last = kept > 0 ? &prefetch->rows[kept - 1] : NULL;
        if (!last || last->insn != of->insn || last->object != of->object) {
            prefetch->rows[kept] = (struct analyses_prefetch_row){of->insn, of->object,
                                                                  &prefetch->summed[kept * levels]};
            kept++;
        }
        for (uint32_t level = 0; level < levels; level++)
            prefetch_add_cell(&prefetch->summed[(kept - 1) * levels + level], cell_of(prefetch, of->spot, level));
    }
    prefetch->result.rows = prefetch->rows;
    prefetch->result.row_count = kept;
}

static enum c2_status prefetch_make_rows(struct prefetch *prefetch, struct c2_error *err)
{
    struct where_row *spots;
    size_t count;
    enum c2_status status = where_rows(&spots, &count, prefetch->where, err);
    if (status != C2_OK)
        return status;
    prefetch->rows = c2_calloc(count + 1, sizeof *prefetch->rows);
    prefetch->summed = c2_calloc((count + 1) * levels_of(prefetch), sizeof *prefetch->summed);
    if (prefetch->rows && prefetch->summed)
        prefetch_merge(prefetch, spots, count);
    else
        status = c2_fail_memory(err, "the count of prefetches");
    c2_free(spots);
    return status;
}

static bool prefetch_same(const struct caches_prefetch_counts *a, const struct caches_prefetch_counts *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* Each event that the caches have counted was notified. */
static void check_told(struct prefetch *prefetch, const struct caches *caches)
{
    for (uint32_t level = 0; level < levels_of(prefetch); level++) {
        prefetch->result.unused[level] = 0;
        for (unsigned i = 0; i < CACHES_PREFETCHERS; i++) {
            const struct caches_prefetch_counts *n = caches_prefetch_counts(caches, level, (enum caches_prefetcher)i);
            C2_ASSERT(prefetch_same(n, &prefetch->all[level][i]));
            prefetch->result.unused[level] += n->issued - n->useful - n->useless;
        }
    }
}

static void prefetch_check_level(const struct prefetch *prefetch, uint32_t level, const struct caches_counts *counts)
{
    const struct analyses_unaided *unaided = &prefetch->result.unaided[level];
    struct analyses_prefetch_cell sum = {.misses = 0};
    struct caches_prefetch_counts all = {.issued = 0};
    for (size_t i = 0; i < prefetch->result.row_count; i++)
        prefetch_add_cell(&sum, &prefetch->result.rows[i].level[level]);
    for (unsigned i = 0; i < CACHES_PREFETCHERS; i++)
        prefetch_add(&all, &prefetch->result.levels[level][i]);
    C2_ASSERT(sum.misses == counts->misses && sum.unaided == unaided->misses);
    C2_ASSERT(prefetch_same(&sum.prefetches, &all) && sum.caused == unaided->caused);
}

static enum c2_status prefetch_finish(void *self, struct sim *sim, struct c2_error *err)
{
    struct prefetch *prefetch = self;
    const uint32_t levels = prefetch->machine->level_count;
    check_told(prefetch, sim_caches(sim));
    if (!prefetch->where)
        return C2_OK;
    enum c2_status status = prefetch_make_rows(prefetch, err);
    for (uint32_t i = 0; i < levels && status == C2_OK; i++)
        prefetch_check_level(prefetch, i, &prefetch->measured.levels[i]);
    if (prefetch->machine->has_l1i && status == C2_OK)
        prefetch_check_level(prefetch, levels, &prefetch->measured.l1i);
    return status;
}

static struct sim_subscriber prefetch_subscriber(struct analysis *analysis)
{
    return (struct sim_subscriber){.self = analysis,
                                   .in_every_phase = true,
                                   .prefetched = prefetch_prefetched,
                                   .unaided = unaided,
                                   .emptied = prefetch_emptied,
                                   .dropped = prefetch_dropped,
                                   .window = prefetch_window,
                                   .finish = prefetch_finish};
}

static const void *prefetch_result(const struct analysis *analysis)
{
    return &((const struct prefetch *)analysis)->result;
}

const struct analysis_kind analysis_prefetch = {.on_without_option = true,
                                                .beside = true,
                                                .applies = caches_machine_prefetches,
                                                .chapter = &analyses_prefetch_chapter,
                                                .create = prefetch_create,
                                                .subscriber = prefetch_subscriber,
                                                .result = prefetch_result,
                                                .destroy = prefetch_destroy};
