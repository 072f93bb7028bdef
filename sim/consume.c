/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * consume: the loops over a batch.
 *
 * Model
 *   A batch is records in program order (stream/stream.h). sim_record does any record, one instruction at a time,
 *   and is the definition. The fast loop does the usual one - all of a block that has a plan - without looking at
 *   instructions at all; everything else it hands to sim_record. Where somebody listens to references every record goes
 *   there.
 *
 * What a record costs in the fast loop
 *   one compare of the header's low half with the plan's says "known block, all of it, no REP"; what the block adds to
 *   the counters is two additions of packed words, unpacked once a batch; a stretch of slots within one fetch line
 *   asks nothing about fetches; a slot is one mask and compare (does it leave its line), one compare (is it the line
 *   of the last access), and else the remembered translation and the caches. Where many accesses miss the second level,
 *   records are looked at before their turn, so that the host has the sets where their lines may be. Without the
 *   caches that is about 12 ns for a block of two loads from alternating lines, 15 ns for one of five references to
 *   the stack.
 */
#include "sim/sim_priv.h"

/* The part of the state that every slot changes, in registers while a batch is done; the calls below take it from
 * struct sim and give it back. (In memory each slot would wait for the store of the one before.) */
struct hot {
    uint64_t data_line, repeats;
    uint64_t owned; /* with attribution only */
};

static inline void hot_store(struct sim_core *core, const struct hot *hot)
{
    core->data_line = hot->data_line;
    core->repeats = hot->repeats;
    core->owned = hot->owned;
}

static inline struct hot hot_load(const struct sim_core *core)
{
    return (struct hot){core->data_line, core->repeats, core->owned};
}

/* The fetch enters a line. Out of line: a loop that stays within one does not come here. */
static __attribute__((noinline)) enum c2_status enter_line(struct sim_core *core, uint64_t line, uint32_t code,
                                                           struct c2_error *err)
{
    struct sim *sim = core->sim;
    core->fetch_line = line;
    core->code = code;
    return sim_access(core, CACHES_FETCH, false, (struct guest_va){line << sim->line_shift}, err);
}

/* A reference that leaves its line. Also, where loads and stores have TLBs of their own or accesses are attributed, any
 * that is no repeat. */
static __attribute__((noinline)) enum c2_status straddle(struct sim_core *core, const struct sim_slot *slot,
                                                         uint64_t va, struct c2_error *err)
{
    enum c2_status status = sim_data_lines(core, slot->write, (struct guest_va){va}, slot->size, err);
    if (status == C2_OK && slot->following != 0)
        status = sim_data_lines(core, true, (struct guest_va){va}, slot->size, err);
    return status;
}

static inline uint32_t references_of(const struct sim_slot *slot)
{
    return (uint32_t)slot->repeated + (uint32_t)(slot->repeated >> 32);
}

static __attribute__((noinline)) enum c2_status attributed_slot(struct sim_core *core, uint32_t code,
                                                                const struct sim_slot *slot, uint64_t va,
                                                                struct c2_error *err)
{
    core->code = code;
    sim_attribute_own(core, (struct guest_va){va}, references_of(slot));
    return straddle(core, slot, va, err);
}

/* A repeat, for the owner of the line; where it has several, for that of the reference. */
static inline void own_repeat(struct sim_core *core, struct hot *hot, const struct sim_slot *slot, uint64_t va)
{
    if (C2_LIKELY(core->line_refs))
        hot->owned += slot->repeated;
    else
        sim_attribute_own(core, (struct guest_va){va}, references_of(slot));
}

/* The access before was the first to its line. */
static inline void own_first(struct sim_core *core, const struct sim_slot *slot, uint64_t va)
{
    if (C2_LIKELY(core->line_refs))
        *core->line_refs += references_of(slot);
    else
        sim_attribute_own(core, (struct guest_va){va}, references_of(slot));
}

static inline bool leaves(const struct sim_core *core, const struct sim_slot *slot, uint64_t va)
{
    const bool reads = (uint32_t)slot->repeated != 0, writes = slot->repeated >> 32 != 0;
    return (reads && sim_tlb_leaves(core, false, (struct guest_va){va})) ||
           (writes && sim_tlb_leaves(core, true, (struct guest_va){va}));
}

/* A run of a planned block. words: its slots. split and line_shift: core->tlb_split and sim->line_shift, as constants
 * where they are what they are on most machines. */
static inline __attribute__((always_inline)) enum c2_status run_plan(struct sim_core *core, struct hot *hot,
                                                                     const struct sim_plan *plan, const uint64_t *words,
                                                                     const bool split, const bool attributed,
                                                                     const unsigned line_shift, struct c2_error *err)
{
    const uint64_t offset_mask = ((uint64_t)1 << line_shift) - 1;
    const struct sim_slot *slot = plan->slots;
    const struct sim_stretch *stretch = plan->stretches, *const end = stretch + plan->stretch_count;
    enum c2_status status = C2_OK;
    for (uint64_t line = plan->first_line; stretch < end; stretch++, line++) {
        if (line != core->fetch_line) { /* only the first stretch can continue in the line of the last fetch */
            hot_store(core, hot);
            status = enter_line(core, line, plan->first_code + stretch->insn, err);
            *hot = hot_load(core);
            if (C2_UNLIKELY(status != C2_OK))
                return status;
        }
        for (const struct sim_slot *slot_end = plan->slots + stretch->slot_end; slot < slot_end; slot++) {
            const uint64_t va = *words++;
            const bool inside = C2_LIKELY((int64_t)(va & offset_mask) <= slot->last_offset);
            if (inside && va >> line_shift == hot->data_line && !(split && leaves(core, slot, va))) {
                hot->repeats += slot->repeated;
                if (attributed)
                    own_repeat(core, hot, slot, va);
                continue;
            } else if (attributed && (split || !inside)) {
                hot_store(core, hot);
                status = attributed_slot(core, plan->first_code + slot->insn, slot, va, err);
                *hot = hot_load(core);
            } else if (split || !inside) {
                hot_store(core, hot);
                status = straddle(core, slot, va, err);
                *hot = hot_load(core);
            } else {
                core->repeats = hot->repeats;
                core->owned = hot->owned;
                core->code = plan->first_code + slot->insn;
                status = sim_access_as(core, CACHES_DATA, slot->write, (struct guest_va){va}, attributed, line_shift,
                                       err);
                hot->data_line = va >> line_shift;
                hot->repeats = slot->following;
                hot->owned = 0;
                if (attributed)
                    own_first(core, slot, va);
            }
            if (C2_UNLIKELY(status != C2_OK))
                return status;
        }
    }
    C2_PROMISE((uint32_t)(slot - plan->slots) == stream_header_slots(plan->whole)); /* each has had its address */
    return C2_OK;
}

static __attribute__((noinline)) enum c2_status take_mark(struct sim_core *core, uint64_t header, const uint64_t *words,
                                                          struct c2_error *err)
{
    struct sim *sim = core->sim;
    const enum stream_mark mark = (enum stream_mark)stream_header_insns(header);
    enum c2_status status = C2_OK;
    if (mark == STREAM_PHASE)
        return sim_window_end(sim, (enum stream_phase)words[0], err);
    if (mark == STREAM_KERNEL)
        return C2_OK;
    if (mark == STREAM_EMPTIED)
        return sim_empty(sim, err);
    if (mark == STREAM_DUMPED)
        return sim_dump_measured(sim, words, err);
    if (mark == STREAM_ZEROED)
        return sim_drop_measured(sim, err);
    if (stream_changes_memory(mark))
        return sim_memory_mark(sim, header, words, err);
    if (mark == STREAM_LOADED)
        status = sim_memory_mark(sim, header, words, err);
    return status == C2_OK ? sim_attribute_mark(sim, header, words, err) : status;
}

/* A record that the fast loop does not do: the first of its block (which gets its plan now), a partial one, a REP. */
static __attribute__((noinline)) enum c2_status unusual(struct sim_core *core, uint32_t tid, uint64_t header,
                                                        const uint64_t *words, struct c2_error *err)
{
    struct sim *sim = core->sim;
    enum c2_status status = sim_plan_build(sim, stream_header_block(header), err);
    return status != C2_OK ? status : sim_record(core, tid, header, words, err);
}

/* Counts are current after each batch; after a failure the caches may not be touched again. */
static enum c2_status finish_batch(struct sim_core *core, enum c2_status status, struct c2_error *err)
{
    struct sim *sim = core->sim;
    if (status == C2_OK && C2_UNLIKELY(sim->is_absent))
        status = sim_fail_absent(sim, err);
    if (status != C2_OK)
        return status;
    sim_settle(sim);
    status = sim_verdicts_end_batch(sim, err);
    C2_PROMISE(sim->verdicts.ring || status != C2_OK || sim_totals_hold(sim));
    return status == C2_OK ? sim_tell_batch(sim, err) : status;
}

/* What whole runs add, in packed words as plans have them. */
static inline void count_whole(struct sim *sim, uint64_t insns_modifies, uint64_t reads_writes)
{
    const uint64_t insns = insns_modifies >> 32, refs = (reads_writes >> 32) + (uint32_t)reads_writes;
    sim->counts.instructions += insns;
    sim->counts.fetches += insns;
    sim->counts.modifies += (uint32_t)insns_modifies;
    sim->counts.reads += reads_writes >> 32;
    sim->counts.writes += (uint32_t)reads_writes;
    sim->counts.refs += refs;
    sim->counts.line_accesses += refs; /* sim_data_lines adds those of the references that touch more than one */
}

/* So many words before they are simulated, the sets of the lines that slots refer to are fetched. */
#define LOOK_AHEAD 48

static void expect(struct sim_core *core, uint64_t va)
{
    const struct sim *sim = core->sim;
    const uint64_t vpn = va >> C2_PAGE_SHIFT;
    const struct sim_page *page = &core->pages[vpn & (SIM_PAGES - 1)];
    if (page->vpn == vpn)
        caches_expect(sim->caches, (struct line_no){(va + page->delta) >> sim->line_shift});
}

/* Where misses go far: looks at the records from `ahead` on, but not at those before `word`, until it is LOOK_AHEAD
 * words in front. Says where it is then. */
static __attribute__((noinline)) const uint64_t *look_ahead(struct sim_core *core, const uint64_t *word,
                                                            const uint64_t *ahead, const uint64_t *end)
{
    const uint64_t *const enough = end - word > LOOK_AHEAD ? word + LOOK_AHEAD : end;
    if (ahead < word)
        ahead = word;
    while (ahead < enough) {
        const uint64_t header = *ahead++;
        for (uint32_t i = 0; i < stream_header_slots(header) && *core->far != 0; i++)
            expect(core, ahead[i]);
        ahead += stream_header_slots(header);
    }
    return ahead;
}

static inline __attribute__((always_inline)) enum c2_status consume_fast(struct sim_core *core,
                                                                         const struct stream_batch *batch,
                                                                         const bool split, const bool attributed,
                                                                         const unsigned line_shift,
                                                                         struct c2_error *err)
{
    struct sim *sim = core->sim;
    const uint64_t *word = batch->words, *const end = word + batch->used, *ahead = word;
    uint64_t insns_modifies = 0, reads_writes = 0;
    struct hot hot = hot_load(core);
    enum c2_status status = C2_OK;
    while (word < end && status == C2_OK) {
        if (SHORTCUT(*core->far != 0))
            ahead = look_ahead(core, word, ahead, end);
        const uint64_t header = *word++;
        const uint32_t number = stream_header_block(header);
        if (C2_LIKELY(SHORTCUT(number < sim->plan_capacity && sim->plans[number].whole == (uint32_t)header))) {
            struct sim_plan *plan = &sim->plans[number];
            insns_modifies += plan->insns_modifies;
            reads_writes += plan->reads_writes;
            plan->runs += attributed && sim->attributed.measuring;
            status = run_plan(core, &hot, plan, word, split, attributed, line_shift, err);
        } else if (number == STREAM_MARK) { /* counts are current there */
            hot_store(core, &hot);
            count_whole(sim, insns_modifies, reads_writes);
            insns_modifies = reads_writes = 0;
            status = take_mark(core, header, word, err);
            hot = hot_load(core);
        } else {
            hot_store(core, &hot);
            status = unusual(core, batch->tid, header, word, err);
            hot = hot_load(core);
        }
        word += stream_header_slots(header);
    }
    hot_store(core, &hot);
    count_whole(sim, insns_modifies, reads_writes);
    return finish_batch(core, status, err);
}

enum c2_status sim_consume_fast(struct sim_core *core, const struct stream_batch *batch, struct c2_error *err)
{
    return consume_fast(core, batch, false, false, core->sim->line_shift, err);
}

enum c2_status sim_consume_split(struct sim_core *core, const struct stream_batch *batch, struct c2_error *err)
{
    return consume_fast(core, batch, true, false, core->sim->line_shift, err);
}

enum c2_status sim_consume_attributed(struct sim_core *core, const struct stream_batch *batch, struct c2_error *err)
{
    return consume_fast(core, batch, core->tlb_split, true, core->sim->line_shift, err);
}

enum c2_status sim_consume_usual(struct sim_core *core, const struct stream_batch *batch, struct c2_error *err)
{
    return consume_fast(core, batch, false, true, SIM_USUAL_LINE_SHIFT, err);
}

/* A whole run where somebody listens to records, nobody to references; and attribution. */
static enum c2_status observed_whole(struct sim_core *core, struct sim_plan *plan, const uint64_t *words,
                                     struct c2_error *err)
{
    struct sim *sim = core->sim;
    struct hot hot = hot_load(core);
    enum c2_status status = run_plan(core, &hot, plan, words, core->tlb_split, true, sim->line_shift, err);
    hot_store(core, &hot);
    plan->runs += sim->attributed.measuring;
    count_whole(sim, plan->insns_modifies, plan->reads_writes);
    return status;
}

enum c2_status sim_consume_one(struct sim_core *core, uint32_t tid, uint64_t header, const uint64_t *words,
                               struct c2_error *err)
{
    const struct sim *sim = core->sim;
    enum c2_status status = sim->tells_records ? sim_tell_record(sim, tid, header, words, err) : C2_OK;
    return status == C2_OK ? unusual(core, tid, header, words, err) : status;
}

static enum c2_status observed_record(struct sim_core *core, uint32_t tid, uint64_t header, const uint64_t *words,
                                      struct c2_error *err)
{
    struct sim *sim = core->sim;
    if (stream_header_block(header) == STREAM_MARK)
        return take_mark(core, header, words, err);
    const uint32_t number = stream_header_block(header);
    enum c2_status status = sim->tells_records ? sim_verdicts_before(sim, err) : C2_OK;
    if (status == C2_OK && sim->tells_records)
        status = sim_tell_record(sim, tid, header, words, err);
    if (status != C2_OK)
        return status;
    if (SHORTCUT(sim->attributed.on && !sim->tells_references && !sim->prefetches && sim->core_count == 1 &&
                 number < sim->plan_capacity && sim->plans[number].whole == (uint32_t)header))
        return observed_whole(core, &sim->plans[number], words, err);
    return unusual(core, tid, header, words, err);
}

/* sim_counts() is current before each record; repeats may be unknown to the caches still. */
enum c2_status sim_consume_observed(struct sim_core *core, const struct stream_batch *batch, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < batch->used && status == C2_OK; i += 1 + stream_header_slots(batch->words[i]))
        status = observed_record(core, batch->tid, batch->words[i], &batch->words[i + 1], err);
    return finish_batch(core, status, err);
}
