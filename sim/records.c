/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * records: listeners of records and references are notified of them, many at a time.
 *
 * Model
 *   The loops go on over a batch, whatever the listeners. All records that have begun are notified before a mark,
 *   before the end of an interval, and when the batch ends; that is all for those without misses. Those with misses are
 *   notified before each miss as well - of the caches or of the TLBs, a prefetch, an upgrade - of all records that have
 *   begun, the one that is being simulated among them, and of the references up to the one whose access it is
 *   (references.c). So they know at each miss where in the stream it is. (What the loops have of that is a store a
 *   record.)
 *   What is on the event log of a simulator with two stages has been missed before, so it is notified before, where a
 *   subscriber listens to both (sim_classifier_before); one for which the two are apart asks for it where it matters
 *   (sim_notify_pending).
 *
 * Invariants
 *   Every record, and every reference, is notified once, in order, those before a mark before that mark.
 */
#include "sim/sim_priv.h"

void sim_records_begin(struct sim *sim, const uint64_t *words, const uint64_t *end, uint32_t tid)
{
    C2_ASSERT(words <= end && tid >= 1);
    const struct sim_notified nothing = {.record = words, .of = words};
    sim->pending_records = (struct sim_pending_records){
        .notified = {nothing, nothing}, .end = end, .at = words, .tid = tid};
}

static enum c2_status notify_records(struct sim *sim, bool hears, const uint64_t *end, bool missing,
                                     struct c2_error *err)
{
    C2_ASSERT(sim->pending_records.notified[hears].record <= end && end <= sim->pending_records.end);
    struct sim_pending_records *pending_records = &sim->pending_records;
    struct sim_notified *notified = &pending_records->notified[hears];
    const struct sim_records records = {sim, sim->blocks, notified->record, end, pending_records->tid, missing};
    if (notified->record == end && !missing)
        return C2_OK;
    notified->record = end;
    return sim_notify_records(sim, hears, &records, err);
}

/* Record by record, each before its references; but for the last one. */
static enum c2_status notify_each(struct sim *sim, bool hears, const uint64_t *end, struct c2_error *err)
{
    const struct sim_notified *notified = &sim->pending_records.notified[hears];
    enum c2_status status = C2_OK;
    while (status == C2_OK && notified->record != end) {
        status = sim_references_until(sim, hears, notified->record, SIM_ALL_REFERENCES, err);
        C2_PROMISE(status != C2_OK || notified->of == notified->record);
        if (sim_record_behind(notified->record) == end)
            return status;
        if (status == C2_OK)
            status = notify_records(sim, hears, sim_record_behind(notified->record), false, err);
    }
    return status;
}

/* Records before `end`, and their references; of the last one no more than so many. */
static enum c2_status notify_until(struct sim *sim, bool hears, const uint64_t *end, uint64_t references, bool missing,
                                   struct c2_error *err)
{
    C2_PROMISE(end <= sim->pending_records.end);
    enum c2_status status = sim->notifies_both[hears] ? notify_each(sim, hears, end, err) : C2_OK;
    if (status == C2_OK)
        status = notify_records(sim, hears, end, missing, err);
    return status == C2_OK && sim->references ? sim_references_until(sim, hears, end, references, err) : status;
}

static enum c2_status notify_all_until(struct sim *sim, const uint64_t *end, uint64_t references, struct c2_error *err)
{
    C2_ASSERT(sim->notifies_records);
    enum c2_status status = sim_classifier_before(sim, err);
    for (unsigned hears = 0; hears < 2 && status == C2_OK; hears++)
        status = notify_until(sim, hears, end, references, false, err);
    return status;
}

enum c2_status sim_records_until(struct sim *sim, const uint64_t *record, struct c2_error *err)
{
    return sim->notifies_records ? notify_all_until(sim, record, SIM_ALL_REFERENCES, err) : C2_OK;
}

enum c2_status sim_records_mark(struct sim *sim, const uint64_t *mark, struct c2_error *err)
{
    C2_ASSERT(stream_header_block(*mark) == STREAM_MARK);
    const struct sim_notified next = {.record = sim_record_behind(mark), .of = sim_record_behind(mark)};
    enum c2_status status = sim_records_until(sim, mark, err);
    sim->pending_records.notified[0] = sim->pending_records.notified[1] = next;
    return status;
}

enum c2_status sim_records_here(struct sim *sim, struct c2_error *err)
{
    if (!sim->notifies_records)
        return C2_OK;
    const uint64_t begun = sim->references ? sim_references_begun(sim) : 0;
    return notify_all_until(sim, sim_record_behind(sim->pending_records.at), begun, err);
}

enum c2_status sim_records_missed(struct sim *sim, struct c2_error *err)
{
    C2_PROMISE(sim->announces && sim->pending_records.at);
    struct sim_pending_records *pending_records = &sim->pending_records;
    const bool measuring = sim->attributed.measuring,
               first = pending_records->missing != pending_records->at && measuring;
    if ((!first && !sim->references) || (!measuring && !sim->announces_always))
        return C2_OK;
    const uint64_t begun = sim->references ? sim_references_begun(sim) : 0;
    enum c2_status status = sim_classifier_before(sim, err);
    pending_records->missing = measuring ? pending_records->at : NULL;
    return status == C2_OK ? notify_until(sim, true, sim_record_behind(pending_records->at), begun, first, err)
                           : status;
}

enum c2_status sim_records_string(struct sim *sim, bool goes_on, struct c2_error *err)
{
    C2_PROMISE(sim->pending_records.at);
    enum c2_status status = sim->references ? sim_records_until(sim, sim->pending_records.at, err) : C2_OK;
    sim->pending_records.goes_on = goes_on ? sim->pending_records.at : NULL;
    return status;
}

enum c2_status sim_run_batch(struct sim *sim, const struct stream_batch *batch, struct c2_error *err)
{
    C2_ASSERT(batch->used <= STREAM_BATCH_WORDS);
    sim_records_begin(sim, batch->words, batch->words + batch->used, batch->tid);
    enum c2_status status = sim->consume(sim->now, batch, err);
    return status == SIM_AGAIN ? sim_instructed_rest(sim, batch, sim->again, err) : status;
}
