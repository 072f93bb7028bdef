/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * tell: whoever subscribes is told what happens.
 *
 * Model
 *   The subscribers are a list, copied when the simulator is made. Of one event all that have a function for it are
 *   called, in the order of the list; the first failure ends the run, and the others are not told any more.
 *   Which loop over the batches is used depends on what they listen to (sim_create): where nobody listens to references
 *   none is put together, and where nobody listens to misses no outcome.
 *
 * Invariants
 *   Nothing is simulated otherwise with subscribers than without: the counts are the same.
 */
#include <string.h>

#include "sim/sim_priv.h"

static bool counts_alone(const struct sim *sim)
{
    bool alone = true;
    for (const struct sim_subscriber *s = sim->hearers; s < sim->hearer_end; s++)
        alone &= !!s->counted;
    return alone;
}

enum c2_status sim_tell_init(struct sim *sim, const struct sim_config *config, struct c2_error *err)
{
    if (config->subscriber_count == 0)
        return C2_OK;
    sim->subscribers = c2_calloc(2 * config->subscriber_count, sizeof *sim->subscribers);
    if (!sim->subscribers)
        return c2_fail_memory(err, "the list of those who listen to the simulator");
    memcpy(sim->subscribers, config->subscribers, config->subscriber_count * sizeof *sim->subscribers);
    sim->subscriber_end = sim->subscribers + config->subscriber_count;
    struct sim_subscriber *hearer = sim->hearers = sim->subscribers + config->subscriber_count;
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end; s++) {
        sim->tells_records |= !!s->record;
        C2_ASSERT(!s->records || !sim->tells_many);
        sim->tells_many |= !!s->records;
        sim->tells_simulated |= !!s->simulated;
        sim->tells_pages |= !!s->untranslated;
        sim->tells_upgrades |= !!s->upgraded;
        sim->tells_references |= !!s->reference;
        sim->tells_walks |= s->every_walk;
        sim->tells_stores |= s->every_store;
        sim->tells_misses |= s->block || s->missed || s->tlb_missed || s->prefetched || s->unaided;
        sim->compares |= !!s->unaided;
        sim->tells_tlb |= !!s->tlb_missed;
        if (s->missed)
            *hearer++ = *s;
    }
    sim->hearer_end = hearer;
    sim->counts_alone = SHORTCUT(counts_alone(sim));
    sim->counts_plain = sim->counts_alone && !sim->tells_many;
    return C2_OK;
}

enum c2_status sim_tell_memory(const struct sim *sim, bool appeared, const struct mmu_area *area, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end && status == C2_OK; s++)
        status = s->memory ? s->memory(s->self, appeared, area, err) : C2_OK;
    return status;
}

enum c2_status sim_tell_mark(const struct sim *sim, enum stream_mark mark, const uint64_t *words, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end && status == C2_OK; s++)
        status = s->mark ? s->mark(s->self, mark, words, err) : C2_OK;
    return status;
}

void sim_tell_emptied(const struct sim *sim)
{
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end; s++)
        if (s->emptied)
            s->emptied(s->self);
}

enum c2_status sim_tell_dropped(const struct sim *sim, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end && status == C2_OK; s++)
        status = s->dropped ? s->dropped(s->self, err) : C2_OK;
    return status;
}

enum c2_status sim_tell_record(const struct sim *sim, uint32_t tid, uint64_t header, const uint64_t *words,
                               struct c2_error *err)
{
    const uint32_t number = stream_header_block(header);
    const struct sim_executed record = {
        stream_blocks_at(sim->blocks, number), number, stream_header_insns(header), words, &sim->counts, tid};
    enum c2_status status = C2_OK;
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end && status == C2_OK; s++)
        status = s->record ? s->record(s->self, &record, err) : C2_OK;
    return status;
}

enum c2_status sim_tell_records(const struct sim *sim, const struct sim_records *records, bool *quiet,
                                struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end && status == C2_OK; s++)
        status = s->records ? s->records(s->self, records, quiet, err) : C2_OK;
    return status;
}

enum c2_status sim_tell_simulated(const struct sim *sim, const struct sim_records *records, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end && status == C2_OK; s++)
        status = s->simulated ? s->simulated(s->self, records, err) : C2_OK;
    return status;
}

void sim_tell_untranslated(const struct sim *sim, enum sim_kind kind, unsigned reads)
{
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end; s++)
        if (s->untranslated)
            s->untranslated(s->self, kind, reads);
}

void sim_tell_upgraded(const struct sim *sim, uint32_t code)
{
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end; s++)
        if (s->upgraded)
            s->upgraded(s->self, code);
}

void sim_tell_thread(struct sim *sim, uint32_t tid)
{
    sim->told_thread = tid;
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end; s++)
        if (s->thread)
            s->thread(s->self, tid);
}

void sim_tell_block(const struct sim *sim, const struct stream_block *block)
{
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end; s++)
        if (s->block)
            s->block(s->self, block);
}

enum c2_status sim_tell_reference(const struct sim *sim, const struct sim_reference *reference, struct c2_error *err)
{
    const bool measured = sim->phase == STREAM_MEASURE;
    enum c2_status status = C2_OK;
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end && status == C2_OK; s++)
        status = s->reference && (measured || s->in_every_phase) ? s->reference(s->self, reference, err) : C2_OK;
    return status;
}

enum c2_status sim_tell_instructed(const struct sim *sim, const struct sim_reference *named,
                                   enum caches_instruction what, struct c2_error *err)
{
    const bool measured = sim->phase == STREAM_MEASURE;
    enum c2_status status = C2_OK;
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end && status == C2_OK; s++)
        if (s->instructed && (measured || s->in_every_phase))
            status = s->instructed(s->self, named, what, err);
    return status;
}

enum c2_status sim_tell_tlb_miss(const struct sim *sim, const struct sim_tlb_miss *miss, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end && status == C2_OK; s++)
        status = s->tlb_missed ? s->tlb_missed(s->self, miss, err) : C2_OK;
    return status;
}

enum c2_status sim_tell_counted(const struct sim *sim, const struct caches_brief *misses, size_t count,
                                struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (const struct sim_subscriber *s = sim->hearers; s < sim->hearer_end && status == C2_OK; s++)
        status = s->counted(s->self, misses, count, err);
    return status;
}

/* A walk's read, or a store that was passed on, that the first level asked has. */
enum c2_status sim_tell_found(const struct sim *sim, const struct sim_miss *found, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end && status == C2_OK; s++) {
        const bool wants = found->kind == SIM_WALK ? s->every_walk : s->every_store;
        status = wants && (found->measured || s->in_every_phase) ? s->missed(s->self, found, err) : C2_OK;
    }
    return status;
}

enum c2_status sim_tell_prefetched(const struct sim *sim, const struct sim_prefetched *prefetched, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end && status == C2_OK; s++)
        status = s->prefetched && (prefetched->measured || s->in_every_phase) ? s->prefetched(s->self, prefetched, err)
                                                                              : C2_OK;
    return status;
}

enum c2_status sim_tell_unaided(const struct sim *sim, const struct sim_miss *miss, uint32_t served_by,
                                struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end && status == C2_OK; s++)
        status = s->unaided && (miss->measured || s->in_every_phase) ? s->unaided(s->self, miss, served_by, err)
                                                                     : C2_OK;
    return status;
}

enum c2_status sim_tell_batch(const struct sim *sim, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end && status == C2_OK; s++)
        status = s->batch ? s->batch(s->self, sim, err) : C2_OK;
    return status;
}

enum c2_status sim_tell_window(const struct sim *sim, const struct sim_window *window, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end && status == C2_OK; s++)
        status = s->window ? s->window(s->self, window, err) : C2_OK;
    return status;
}

enum c2_status sim_tell_finish(struct sim *sim, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end && status == C2_OK; s++)
        status = s->finish ? s->finish(s->self, sim, err) : C2_OK;
    return status;
}
