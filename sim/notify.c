/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * tell: subscribers are notified of what happens.
 *
 * Model
 *   The subscribers are a list, copied when the simulator is made. Of one event all that have a function for it are
 *   called, in the order of the list; the first failure ends the run, and the others are not told any more.
 *   Which loop over the batches is used depends on what they listen to (sim_create): where there is no listener of
 *   references none is put together, and where there is none of misses no outcome.
 *
 * Invariants
 *   Nothing is simulated otherwise with subscribers than without: the counts are the same.
 */
#include <string.h>

#include "sim/sim_priv.h"

enum c2_status sim_notify_init(struct sim *sim, const struct sim_config *config, struct c2_error *err)
{
    C2_ASSERT(!sim->subscribers && (config->subscriber_count == 0 || config->subscribers));
    sim->counts_alone = SHORTCUT(true); /* so far, and without listeners */
    if (config->subscriber_count == 0)
        return C2_OK;
    sim->subscribers = c2_calloc(config->subscriber_count, sizeof *sim->subscribers);
    if (!sim->subscribers)
        return c2_fail_memory(err, "the list of those who listen to the simulator");
    memcpy(sim->subscribers, config->subscribers, config->subscriber_count * sizeof *sim->subscribers);
    sim->subscriber_end = sim->subscribers + config->subscriber_count;
    bool references = false;
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end; s++) {
        const bool records = s->records || s->references, hears = sim_hears_misses(s);
        sim->counts_alone &= !s->missed || s->counted;
        sim->notifies_records |= records;
        sim->announces |= records && hears;
        sim->announces_always |= records && hears && s->in_every_phase;
        sim->notifies_both[hears] |= s->records && s->references;
        references |= !!s->references;
        sim->notifies_pages |= !!s->untranslated;
        sim->notifies_upgrades |= !!s->upgraded;
        sim->notifies_accesses |= !!s->approached;
        sim->notifies_walks |= s->every_walk;
        sim->notifies_stores |= s->every_store;
        sim->notifies_misses |= s->block || s->missed || s->tlb_missed || s->prefetched || s->unaided;
        sim->compares |= !!s->unaided;
        sim->notifies_tlb |= !!s->tlb_missed;
    }
    sim->counts_plain = sim->counts_alone && !sim->announces;
    return references ? sim_references_create(sim, err) : C2_OK;
}

/* Calls all subscribers that have the function and are due, one after the other, until one fails. */
#define TELL(sim, function, wants, ...) \
    enum c2_status status = C2_OK; \
    for (const struct sim_subscriber *s = (sim)->subscribers; s < (sim)->subscriber_end && status == C2_OK; s++) \
        if (s->function && (wants)) \
            status = s->function(s->self, __VA_ARGS__); \
    return status

/* The same of functions that cannot fail. */
#define TELL_ALL(sim, function, ...) \
    for (const struct sim_subscriber *s = (sim)->subscribers; s < (sim)->subscriber_end; s++) \
        if (s->function) \
    s->function(__VA_ARGS__)

enum c2_status sim_notify_memory(const struct sim *sim, bool appeared, const struct mmu_area *area,
                                 struct c2_error *err)
{
    C2_ASSERT(area);
    TELL(sim, memory, true, appeared, area, err);
}

enum c2_status sim_notify_mark(const struct sim *sim, enum stream_mark mark, const uint64_t *words,
                               struct c2_error *err)
{
    C2_ASSERT(words && mark != STREAM_PHASE && mark != STREAM_EMPTIED && mark != STREAM_ZEROED &&
              mark != STREAM_DUMPED);
    TELL(sim, mark, true, mark, words, err);
}

void sim_notify_emptied(const struct sim *sim) { TELL_ALL(sim, emptied, s->self); }

enum c2_status sim_notify_dropped(const struct sim *sim, struct c2_error *err) { TELL(sim, dropped, true, err); }

enum c2_status sim_notify_records(const struct sim *sim, bool hears, const struct sim_records *records,
                                  struct c2_error *err)
{
    C2_ASSERT(records->words <= records->end);
    TELL(sim, records, sim_hears_misses(s) == hears, records, err);
}

void sim_notify_untranslated(const struct sim *sim, enum sim_kind kind, unsigned reads)
{
    C2_PROMISE(sim->notifies_pages && sim->attributed.measuring && reads <= MMU_WALK_ENTRIES);
    TELL_ALL(sim, untranslated, s->self, kind, reads);
}

void sim_notify_upgraded(const struct sim *sim, uint32_t code)
{
    C2_PROMISE(sim->core_count > 1 && sim->attributed.measuring && code < sim->attributed.code_count);
    TELL_ALL(sim, upgraded, s->self, code);
}

void sim_notify_thread(struct sim *sim, uint32_t tid)
{
    C2_ASSERT(tid != sim->told_thread);
    sim->told_thread = tid;
    sim->has_threads = true;
    TELL_ALL(sim, thread, s->self, tid);
}

void sim_notify_block(const struct sim *sim, const struct stream_block *block) { TELL_ALL(sim, block, s->self, block); }

static bool wants_references(const struct sim *sim, const struct sim_subscriber *s, bool hears)
{
    return s->references && sim_hears_misses(s) == hears && (sim->phase == STREAM_MEASURE || s->in_every_phase);
}

bool sim_wants_references(const struct sim *sim, bool hears)
{
    bool wants = false;
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end; s++)
        wants |= wants_references(sim, s, hears);
    return wants;
}

enum c2_status sim_notify_references(const struct sim *sim, bool hears, const struct sim_reference *list, size_t count,
                                     struct c2_error *err)
{
    C2_PROMISE(list && count >= 1 && count <= SIM_NOTIFIED_REFERENCES);
    TELL(sim, references, wants_references(sim, s, hears), list, count, err);
}

enum c2_status sim_notify_instructed(const struct sim *sim, const struct sim_reference *named,
                                     enum caches_instruction what, struct c2_error *err)
{
    C2_PROMISE(sim->instructed && named->parts == 1);
    const bool measured = sim->phase == STREAM_MEASURE;
    TELL(sim, instructed, measured || s->in_every_phase, named, what, err);
}

enum c2_status sim_notify_approach(const struct sim *sim, const struct sim_approach *access, struct c2_error *err)
{
    C2_PROMISE(access->code < sim->attributed.code_count && access->core < sim->core_count);
    TELL(sim, approached, access->measured || s->in_every_phase, access, err);
}

enum c2_status sim_notify_tlb_miss(const struct sim *sim, const struct sim_tlb_miss *miss, struct c2_error *err)
{
    C2_PROMISE(sim->notifies_tlb && miss->reads <= MMU_WALK_ENTRIES);
    TELL(sim, tlb_missed, true, miss, err);
}

enum c2_status sim_notify_counted(const struct sim *sim, const struct caches_compact *misses, size_t count,
                                  struct c2_error *err)
{
    C2_PROMISE(misses && count != 0 && sim->counts_alone);
    TELL(sim, counted, s->missed, misses, count, err);
}

enum c2_status sim_notify_miss(const struct sim *sim, const struct sim_miss *miss, struct c2_error *err)
{
    C2_PROMISE(miss->outcome->served_by > miss->first && miss->outcome->depth > miss->first);
    TELL(sim, missed, miss->measured || s->in_every_phase, miss, err);
}

/* A walk's read, or a store that was passed on, that the first level asked has. */
enum c2_status sim_notify_found(const struct sim *sim, const struct sim_miss *found, struct c2_error *err)
{
    C2_PROMISE(found->outcome->served_by == found->first);
    const bool walk = found->kind == SIM_WALK;
    TELL(sim, missed, (walk ? s->every_walk : s->every_store) && (found->measured || s->in_every_phase), found, err);
}

enum c2_status sim_notify_prefetched(const struct sim *sim, const struct sim_prefetched *prefetched,
                                     struct c2_error *err)
{
    C2_PROMISE(prefetched->events && prefetched->count != 0);
    TELL(sim, prefetched, prefetched->measured || s->in_every_phase, prefetched, err);
}

enum c2_status sim_notify_unaided(const struct sim *sim, const struct sim_miss *miss, uint32_t served_by,
                                  struct c2_error *err)
{
    C2_PROMISE(sim->compares && served_by >= miss->first);
    TELL(sim, unaided, miss->measured || s->in_every_phase, miss, served_by, err);
}

enum c2_status sim_notify_batch(const struct sim *sim, struct c2_error *err) { TELL(sim, batch, true, sim, err); }

enum c2_status sim_notify_window(const struct sim *sim, const struct sim_window *window, struct c2_error *err)
{
    C2_ASSERT(window->phase <= STREAM_SKIP && window->next <= STREAM_SKIP);
    TELL(sim, window, true, window, err);
}

enum c2_status sim_notify_finish(struct sim *sim, struct c2_error *err) { TELL(sim, finish, true, sim, err); }
