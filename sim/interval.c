/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * interval: what is measured, cut every so many instructions.
 *
 * Model
 *   A subscriber with a length is notified of intervals of so many instructions. The first begins where a phase that is
 *   measured does, and each next one behind the last instruction of the one before: all accesses of that one are in,
 *   none of the next. The last interval of a phase ends with it, however short it is then, and is notified if anything
 *   was counted in it. Outside of what is measured there are none.
 *   The stream knows nothing of it: blocks are not cut there, so a run and its replay are cut alike, and nothing else
 *   changes, neither counts nor numbers of instructions. A record in which an interval ends is simulated instruction by
 *   instruction (record.c), what stands before and behind it in the batch by the loop that would have had all of it.
 *   An instruction with a REP prefix is one instruction, however many elements it has and faults interrupt it.
 *
 * Counting
 *   An interval is the difference of two sums, as a phase's window is (window.c).
 *
 * Invariants (asserted when the run is over)
 *   The intervals of one length add up to what was measured, in every counter.
 *
 * Price
 *   Nothing without subscribers. Else a look at each record's header, and for each interval one settling of what is
 *   pending and one copy of the counters.
 */
#include <string.h>

#include "sim/sim_priv.h"

/* A subscriber with a length. */
struct sim_length {
    const struct sim_subscriber *to;
    uint64_t next;            /* the interval ends when so many instructions were simulated; NEVER */
    struct sim_totals start;  /* of all phases, where it began */
    struct sim_totals so_far; /* the sum of those that were notified */
};
#define NEVER SIM_NO_CUT

/* ------------------------------------------------------------------ life */

enum c2_status sim_intervals_init(struct sim *sim, struct c2_error *err)
{
    C2_ASSERT(!sim->lengths && !sim->piece);
    sim->cut_at = NEVER;
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end; s++)
        sim->length_count += s->interval_instructions != 0;
    if (sim->length_count == 0)
        return C2_OK;
    sim->lengths = c2_calloc(sim->length_count, sizeof *sim->lengths);
    sim->piece = c2_alloc(sizeof *sim->piece);
    if (!sim->lengths || !sim->piece)
        return c2_fail_memory(err, "the intervals of the run");
    uint32_t i = 0;
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end; s++)
        if (s->interval_instructions != 0)
            sim->lengths[i++] = (struct sim_length){.to = s};
    sim_intervals_begin(sim, sim->phase);
    return C2_OK;
}

void sim_intervals_free(struct sim *sim)
{
    c2_free(sim->lengths);
    c2_free(sim->piece);
}

/* ------------------------------------------------------------------ where they begin and end */

static void set_cut(struct sim *sim)
{
    sim->cut_at = NEVER;
    for (uint32_t i = 0; i < sim->length_count; i++)
        if (sim->lengths[i].next < sim->cut_at)
            sim->cut_at = sim->lengths[i].next;
}

static void interval_begin(struct sim_length *length, enum stream_phase phase, const struct sim_totals *now)
{
    const uint64_t instructions = now->counts.instructions, every = length->to->interval_instructions;
    length->start = *now;
    length->next = phase == STREAM_MEASURE && every < NEVER - instructions ? instructions + every : NEVER;
}

void sim_intervals_begin(struct sim *sim, enum stream_phase phase)
{
    C2_ASSERT(phase <= STREAM_SKIP);
    for (uint32_t i = 0; i < sim->length_count; i++)
        interval_begin(&sim->lengths[i], phase, &sim->phase_start);
    set_cut(sim);
}

static enum c2_status interval_notify(const struct sim *sim, struct sim_length *length, const struct sim_totals *now,
                                      uint32_t rest, struct c2_error *err)
{
    static const struct sim_totals nothing;
    struct sim_interval interval = {.of = *now, .rest = rest};
    sim_totals_subtract(&interval.of, &length->start);
    if (memcmp(&interval.of, &nothing, sizeof nothing) == 0)
        return C2_OK;
    sim_totals_check(sim, &interval.of);
    sim_totals_add(&length->so_far, &interval.of);
    return length->to->interval(length->to->self, &interval, err);
}

enum c2_status sim_intervals_end(struct sim *sim, uint32_t rest, struct c2_error *err)
{
    C2_ASSERT(sim->phase == STREAM_MEASURE && sim->counts.instructions == sim->cut_at);
    struct sim_totals now;
    sim_settle(sim);
    enum c2_status status = sim_records_here(sim, err);
    if (status == C2_OK)
        status = sim_classifier_settle(sim, err);
    if (status != C2_OK)
        return status;
    sim_totals_read(&now, sim);
    for (uint32_t i = 0; i < sim->length_count && status == C2_OK; i++) {
        struct sim_length *length = &sim->lengths[i];
        if (length->next != now.counts.instructions)
            continue;
        status = interval_notify(sim, length, &now, rest, err);
        interval_begin(length, STREAM_MEASURE, &now);
    }
    set_cut(sim);
    return status;
}

enum c2_status sim_intervals_phase(struct sim *sim, const struct sim_totals *now, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < sim->length_count && sim->phase == STREAM_MEASURE && status == C2_OK; i++)
        status = interval_notify(sim, &sim->lengths[i], now, 0, err);
    return status;
}

void sim_intervals_drop(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->length_count; i++)
        sim->lengths[i].so_far = (struct sim_totals){.tlb_misses = 0};
    sim_intervals_begin(sim, sim->phase);
}

void sim_intervals_check(const struct sim *sim)
{
    for (uint32_t i = 0; i < sim->length_count; i++)
        C2_ASSERT(memcmp(&sim->lengths[i].so_far, &sim->measured, sizeof sim->measured) == 0);
}

/* ------------------------------------------------------------------ batches */

/* Marks that change where the next interval ends. */
static bool begins_anew(uint64_t header)
{
    const uint32_t mark = stream_header_insns(header);
    return stream_header_block(header) == STREAM_MARK && (mark == STREAM_PHASE || mark == STREAM_ZEROED);
}

/* From a word of the batch on, how far no interval ends and nothing begins anew, but with the last mark. *cut: an
 * interval ends, or may, in the record behind. */
static uint32_t uncut(const struct sim *sim, const struct stream_batch *batch, uint32_t from, bool *cut)
{
    C2_ASSERT(from <= batch->used && sim->counts.instructions <= sim->cut_at);
    uint64_t left = sim->cut_at - sim->counts.instructions;
    bool anew = false;
    *cut = false;
    while (from < batch->used && !anew) {
        const uint64_t header = batch->words[from];
        const uint32_t insns = stream_header_block(header) == STREAM_MARK ? 0 : stream_header_insns(header);
        *cut = insns != 0 && insns >= left;
        if (*cut)
            return from;
        left -= insns;
        anew = begins_anew(header);
        from += 1 + stream_header_slots(header);
    }
    return from;
}

static enum c2_status interval_loop(struct sim *sim, const struct stream_batch *batch, uint32_t from, uint32_t to,
                                    struct c2_error *err)
{
    C2_ASSERT(from <= to && to <= batch->used && sim->piece != batch);
    struct stream_batch *piece = sim->piece;
    if (from == 0 && to == batch->used)
        return sim_run_batch(sim, batch, err);
    piece->tid = batch->tid;
    piece->used = to - from;
    memcpy(piece->words, batch->words + from, piece->used * sizeof *piece->words);
    return sim_run_batch(sim, piece, err);
}

/* A record that is cut is followed by a piece, be it an empty one: with that all counts are current again. */
enum c2_status sim_intervals_consume(struct sim *sim, const struct stream_batch *batch, struct c2_error *err)
{
    C2_ASSERT(sim->lengths);
    uint32_t at = 0;
    bool cut;
    enum c2_status status = C2_OK;
    do {
        const uint32_t to = uncut(sim, batch, at, &cut);
        status = interval_loop(sim, batch, at, to, err);
        at = to;
        if (status == C2_OK && cut) {
            const uint64_t header = batch->words[at];
            status = sim_consume_one(sim->now, batch->tid, header, &batch->words[at + 1], err);
            at += 1 + stream_header_slots(header);
        }
    } while (status == C2_OK && (cut || at < batch->used));
    return status;
}
