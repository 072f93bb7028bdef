/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * against: which conflict misses another placement does not have.
 *
 * Model
 *   Two simulators eat each batch one after the other; each lists its accesses that missed the first level, by their
 *   number, which is the same in both (see struct sim_miss). Then the lists are merged: a conflict miss of the first at
 *   some level is inherent if the second was asked for the line there too and missed, else it is due to placement.
 *
 * Counting
 *   Conflict misses of page walks are counted apart: whether an access needs a walk is up to the TLBs, which huge pages
 *   change, so that there is no walk of the second to compare one of the first with.
 *
 * Invariants
 *   inherent + placement + walks = conflict misses of the first, level by level (asserted with each batch).
 *   Memory is bounded by a batch.
 *
 * Not modelled
 *   Conflict misses that only the second has: they are the second's own, and its counts show them.
 */
#include "analyses/analyses.h"

/* An access that missed the first level. */
struct event {
    uint64_t number, actor;
    enum sim_kind kind;
    uint32_t first, served_by;
    uint32_t conflicts; /* bit i: a conflict miss at depth i */
};

struct list {
    struct event *events;
    uint32_t count, room;
};

struct analyses_against {
    struct analyses_profile *profile;
    const struct caches_machine *machine;
    struct list lists[2];
    struct sim *sims[2];
    struct analyses_against_counts counts[ANALYSES_LEVELS];
};

enum c2_status analyses_against_create(struct analyses_against **out, const struct caches_machine *machine,
                                       struct analyses_profile *profile, struct c2_error *err)
{
    *out = c2_calloc(1, sizeof **out);
    if (!*out)
        return c2_fail_memory(err, "the comparison of two placements");
    (*out)->machine = machine;
    (*out)->profile = profile;
    if (profile)
        analyses_profile_compare(profile);
    return C2_OK;
}

void analyses_against_destroy(struct analyses_against *against)
{
    if (!against)
        return;
    c2_free(against->lists[0].events);
    c2_free(against->lists[1].events);
    c2_free(against);
}

/* ------------------------------------------------------------------ listing */

static uint32_t conflicts_of(const struct sim_miss *miss)
{
    uint32_t conflicts = 0;
    for (uint32_t i = miss->first; i < miss->outcome->served_by; i++)
        conflicts |= (uint32_t)(miss->outcome->event[i].class_ == CACHES_CONFLICT) << i;
    return conflicts;
}

static enum c2_status list_miss(struct list *list, const struct sim_miss *miss, struct c2_error *err)
{
    if (!c2_grow((void **)&list->events, &list->room, list->count, sizeof *list->events))
        return c2_fail_memory(err, "the comparison of two placements");
    list->events[list->count++] = (struct event){
        miss->number, miss->actor, miss->kind, miss->first, miss->outcome->served_by, conflicts_of(miss)};
    return C2_OK;
}

static enum c2_status first_missed(void *self, const struct sim_miss *miss, struct c2_error *err)
{
    struct analyses_against *against = self;
    return conflicts_of(miss) == 0 ? C2_OK : list_miss(&against->lists[0], miss, err);
}

static enum c2_status second_missed(void *self, const struct sim_miss *miss, struct c2_error *err)
{
    struct analyses_against *against = self;
    return miss->kind == SIM_WALK ? C2_OK : list_miss(&against->lists[1], miss, err);
}

struct sim_subscriber analyses_against_first(struct analyses_against *against)
{
    return (struct sim_subscriber){.self = against, .missed = first_missed};
}

struct sim_subscriber analyses_against_second(struct analyses_against *against)
{
    return (struct sim_subscriber){.self = against, .missed = second_missed};
}

/* ------------------------------------------------------------------ comparing */

/* served_by: where the second found the line; 0 if in the first level. */
static void label(struct analyses_against *against, const struct event *event, uint32_t served_by)
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
                analyses_profile_placement(against->profile, event->kind, event->actor, depth);
        }
    }
}

static void merge(struct analyses_against *against)
{
    struct list *first = &against->lists[0], *second = &against->lists[1];
    uint32_t at = 0;
    for (uint32_t i = 0; i < first->count; i++) {
        const struct event *event = &first->events[i];
        while (at < second->count && second->events[at].number < event->number)
            at++;
        const bool both = at < second->count && second->events[at].number == event->number;
        label(against, event, both ? second->events[at].served_by : 0);
    }
    first->count = second->count = 0;
}

static void check(const struct analyses_against *against)
{
    const struct caches *caches = sim_caches(against->sims[0]);
    for (uint32_t i = 0; i < against->machine->level_count; i++) {
        const struct analyses_against_counts *n = &against->counts[i];
        C2_ASSERT(n->inherent + n->placement + n->walks == caches_level_counts(caches, i)->conflict);
    }
}

static enum c2_status consume(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct analyses_against *against = self;
    enum c2_status status = sim_consume(against->sims[0], batch, err);
    if (status == C2_OK)
        status = sim_consume(against->sims[1], batch, err);
    if (status != C2_OK)
        return status;
    merge(against);
    check(against);
    return C2_OK;
}

static enum c2_status drain(void *self, struct c2_error *err)
{
    (void)self, (void)err;
    return C2_OK;
}

struct stream_sink analyses_against_sink(struct analyses_against *against, struct sim *first, struct sim *second)
{
    against->sims[0] = first;
    against->sims[1] = second;
    return (struct stream_sink){against, consume, drain};
}

const struct analyses_against_counts *analyses_against_counts(const struct analyses_against *against)
{
    return against->counts;
}
