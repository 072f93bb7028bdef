/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * records: whoever listens to records, and can do with many at a time, is told of them.
 *
 * Model
 *   The loops go on over a batch; which record they are at stands in sim->untold. Only where something happens that has
 *   a place among the records - a miss of the caches or of the TLBs that is measured, a mark, the end of the batch -
 *   all records that have begun and were not told are told, the one that is being simulated among them. Where none of
 *   them matters, as the listener has said of their blocks (sim_quiet), a miss is no reason to tell.
 *   So who listens knows at each miss where in the stream it is, and the loops have a store and a bit more a record.
 *   What he wants to find again among misses, which are told later, he notes (sim_note).
 *
 *   Who wants records without their place among misses is told of them when they have been simulated: of those between
 *   two marks, before what the second one says, or up to the batch's end. The loops have nothing to do with that.
 *
 * Invariants
 *   Every record is told once, in order, those before a mark before that mark.
 */
#include "sim/sim_priv.h"

void sim_records_begin(struct sim *sim, const struct stream_batch *batch)
{
    sim->untold = (struct sim_untold){batch->words, batch->words + batch->used, batch->words, NULL, batch->tid, true};
}

static enum c2_status tell_until(struct sim *sim, const uint64_t *end, bool missing, struct c2_error *err)
{
    struct sim_untold *untold = &sim->untold;
    const struct sim_records records = {sim, sim->blocks, untold->from, end, untold->tid, missing};
    bool quiet = false;
    if (untold->from == end && !missing)
        return C2_OK;
    untold->from = end;
    enum c2_status status = sim_tell_records(sim, &records, &quiet, err);
    untold->loud = !SHORTCUT(quiet && missing);
    return status;
}

static const uint64_t *behind(const uint64_t *header) { return header + 1 + stream_header_slots(*header); }

enum c2_status sim_records_end(struct sim *sim, struct c2_error *err)
{
    return tell_until(sim, sim->untold.end, false, err);
}

enum c2_status sim_records_until(struct sim *sim, const uint64_t *record, struct c2_error *err)
{
    return tell_until(sim, record, false, err);
}

enum c2_status sim_records_mark(struct sim *sim, const uint64_t *mark, struct c2_error *err)
{
    enum c2_status status = tell_until(sim, mark, false, err);
    sim->untold.from = behind(mark);
    sim->untold.loud = true;
    return status;
}

enum c2_status sim_records_missed(struct sim *sim, struct c2_error *err)
{
    struct sim_untold *untold = &sim->untold;
    if (untold->missing == untold->at || !sim->attributed.measuring)
        return C2_OK;
    untold->missing = untold->at;
    return tell_until(sim, behind(untold->at), true, err);
}

/* ------------------------------------------------------------------ behind their simulation */

enum c2_status sim_records_simulated(struct sim *sim, const uint64_t *end, struct c2_error *err)
{
    const struct sim_records records = {sim, sim->blocks, sim->simulated, end, sim->told_thread, false};
    return sim->simulated == end ? C2_OK : sim_tell_simulated(sim, &records, err);
}

enum c2_status sim_run_batch(struct sim *sim, const struct stream_batch *batch, struct c2_error *err)
{
    sim->simulated = batch->words;
    enum c2_status status = sim->consume(sim->now, batch, err);
    const bool again = status == SIM_AGAIN;
    if (C2_UNLIKELY(again))
        status = C2_OK;
    if (status == C2_OK && sim->tells_simulated)
        status = sim_records_simulated(sim, again ? sim->again : batch->words + batch->used, err);
    return status == C2_OK && again ? sim_instructed_rest(sim, batch, sim->again, err) : status;
}

void sim_quiet(struct sim *sim, uint32_t block, bool quiet)
{
    C2_ASSERT(block < sim->plan_capacity);
    sim->plans[block].loud = !quiet;
}
