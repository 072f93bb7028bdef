/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * against: which conflict misses another placement does not have.
 *
 * Model
 *   Two simulators eat each batch one after the other; each lists its accesses that missed the first level, by their
 *   number, which is the same in both (see struct sim_miss). When the second has eaten the batch the lists are merged:
 *   a conflict miss of the first at some level is inherent if the second was asked for the line there too and missed,
 *   else it is due to placement.
 *
 *   Of several cores both have the same ones, and the same threads there: `there` is the same core's cache. Coherence
 *   misses are no conflict misses, and are not compared; that the second misses because another core has taken the line
 *   is a miss.
 *
 * Counting
 *   Conflict misses of page walks are counted apart: whether an access needs a walk is up to the TLBs, which huge pages
 *   change, so that there is no walk of the second to compare one of the first with.
 *
 * Invariants
 *   inherent + placement + walks = conflict misses of the first in what is measured, level by level (asserted with each
 *   batch that ends in such a phase).
 *   Memory is bounded by a batch.
 *
 * Not modelled
 *   Conflict misses that only the second has: they are the second's own, and its counts show them.
 */
#include <string.h>

#include "analyses/analyses.h"

/* An access that missed the first level. */
struct event {
    uint64_t number, access_site;
    enum sim_kind kind;
    uint32_t first, served_by;
    uint32_t conflicts; /* bit i: a conflict miss at depth i */
};

struct list {
    struct event *events;
    uint32_t count, room;
};

/* One a simulator. */
struct against {
    struct analysis base;
    struct list list;
    struct against *first; /* that of the first simulator; in the first itself: NULL */
    const struct caches_machine *machine;
    /* In the first only: */
    struct analysis *profile;     /* NULL: there is none */
    const struct sim *sim;        /* NULL before the end of a batch */
    struct sim_totals unmeasured; /* windows that are not, and what a child's parent had counted */
    struct analyses_against_counts counts[ANALYSES_LEVELS];
};

/* ------------------------------------------------------------------ life */

static enum c2_status against_create(struct analysis **out, const struct analyses_setup *setup,
                                     const struct analyses *analyses, struct c2_error *err)
{
    struct against *against = c2_calloc(1, sizeof *against);
    if (!against)
        return c2_fail_memory(err, "the comparison of two placements");
    against->base.kind = &analysis_against;
    against->machine = setup->machine;
    if (setup->first)
        against->first = (struct against *)analyses_find(setup->first, ANALYSIS_against);
    else
        against->profile = analyses_find(analyses, ANALYSIS_profile);
    if (against->profile)
        analyses_profile_compare(against->profile);
    *out = &against->base;
    return C2_OK;
}

static void against_destroy(struct analysis *analysis)
{
    struct against *against = (struct against *)analysis;
    c2_free(against->list.events);
    c2_free(against);
}

/* ------------------------------------------------------------------ listing */

static uint32_t conflicts_of(const struct sim_miss *miss)
{
    uint32_t conflicts = 0;
    C2_ASSERT(miss->outcome->served_by <= CACHES_MAX_LEVELS);
    for (uint32_t i = miss->first; i < miss->outcome->served_by; i++)
        conflicts |= (uint32_t)(miss->outcome->event[i].class_ == CACHES_CONFLICT) << i;
    return conflicts;
}

static enum c2_status list_miss(struct list *list, const struct sim_miss *miss, struct c2_error *err)
{
    if (!c2_grow((void **)&list->events, &list->room, list->count, sizeof *list->events))
        return c2_fail_memory(err, "the comparison of two placements");
    C2_PROMISE(list->count == 0 || list->events[list->count - 1].number <= miss->number); /* against_merge() needs it */
    list->events[list->count++] = (struct event){miss->number, miss->access_site,        miss->kind,
                                                 miss->first,  miss->outcome->served_by, conflicts_of(miss)};
    return C2_OK;
}

/* Of the first, accesses with conflict misses; of the second, all that it can be asked for. */
static enum c2_status against_missed(void *self, const struct sim_miss *miss, struct c2_error *err)
{
    struct against *against = self;
    const bool listed = against->first ? miss->kind != SIM_WALK : conflicts_of(miss) != 0;
    return listed ? list_miss(&against->list, miss, err) : C2_OK;
}

/* ------------------------------------------------------------------ comparing */

/* served_by: where the second found the line; 0 if in the first level. */
static void label(struct against *against, const struct event *event, uint32_t served_by)
{
    for (uint32_t depth = event->first; depth < event->served_by; depth++) {
        if (!(event->conflicts >> depth & 1))
            continue;
        struct analyses_against_counts *counts =
            &against->counts[analyses_level_of(against->machine, event->kind, depth)];
        if (event->kind == SIM_WALK) {
            counts->walks++;
        } else if (served_by > depth) {
            counts->inherent++;
        } else {
            counts->placement++;
            if (against->profile)
                analyses_profile_placement(against->profile, event->kind, event->access_site, depth);
        }
    }
}

/* Of one access, those of stores that have been passed on come behind it. */
static bool against_is_before(const struct event *a, const struct event *b)
{
    return a->number < b->number || (a->number == b->number && a->first < b->first);
}

static void against_merge(struct against *against, struct list *first, struct list *second)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < first->count; i++) {
        const struct event *event = &first->events[i];
        while (at < second->count && against_is_before(&second->events[at], event))
            at++;
        const bool both = at < second->count && !against_is_before(event, &second->events[at]);
        label(against, event, both ? second->events[at].served_by : 0);
    }
    first->count = second->count = 0;
}

static void against_check(const struct against *against)
{
    struct sim_totals all;
    sim_counted(&all, against->sim);
    for (uint32_t i = 0; i < against->machine->level_count; i++) {
        const struct analyses_against_counts *n = &against->counts[i];
        C2_ASSERT(n->inherent + n->placement + n->walks + against->unmeasured.levels[i].conflict ==
                  all.levels[i].conflict);
    }
}

static enum c2_status against_window(void *self, const struct sim_window *window, struct c2_error *err)
{
    struct against *against = self;
    (void)err;
    if (window->phase != STREAM_MEASURE)
        sim_totals_add(&against->unmeasured, &window->of);
    return C2_OK;
}

/* A child begins anew, behind all that its parent had: no miss waits for its other placement. */
static enum c2_status against_dropped(void *self, struct c2_error *err)
{
    struct against *against = self;
    (void)err;
    if (against->first)
        return C2_OK;
    C2_ASSERT(against->list.count == 0);
    memset(against->counts, 0, sizeof against->counts);
    if (against->sim)
        sim_counted(&against->unmeasured, against->sim);
    return C2_OK;
}

static enum c2_status batch(void *self, const struct sim *sim, struct c2_error *err)
{
    struct against *against = self, *first = against->first;
    (void)err;
    if (!first) {
        against->sim = sim;
        return C2_OK;
    }
    against_merge(first, &first->list, &against->list);
    if (sim_phase(first->sim) == STREAM_MEASURE)
        against_check(first);
    return C2_OK;
}

static struct sim_subscriber against_subscriber(struct analysis *analysis)
{
    return (struct sim_subscriber){.self = analysis,
                                   .missed = against_missed,
                                   .dropped = against_dropped,
                                   .window = against_window,
                                   .batch = batch};
}

static const void *against_result(const struct analysis *analysis)
{
    return ((const struct against *)analysis)->counts;
}

const struct analysis_kind analysis_against = {.every_machine = true,
                                               .create = against_create,
                                               .subscriber = against_subscriber,
                                               .result = against_result,
                                               .destroy = against_destroy};
