/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * consume: the loop over a batch.
 *
 * Model
 *   A batch is records in program order (stream/stream.h). sim_record does any record, one instruction at a time,
 *   and is the definition. There is one loop (consume_rules.h). It does the usual record - all of a block that has a
 *   plan - without looking at instructions at all; everything else it hands to sim_record: on machines of which each
 *   access comes by itself (prefetchers, several cores, stores that go on) all, as there are no plans. The loop is
 *   compiled for any machine and for usual ones; here are its rarer parts. Listeners of records and references are
 *   notified beside it (records.c).
 *
 * Usual machines
 *   Where L1D and L1I have 64 sets of 64-byte lines, true LRU, 8 ways (L1D: or 12), and loads and stores share their
 *   TLBs, all of a hit is done inside the loop (consume_rules.h), which is compiled for each set of the host's
 *   instructions that searches a set. The set of an address is its line's place in a page, its tag the page's first
 *   slot and that place; whichever way has it, one permutation makes it the youngest. What is left to functions: a page
 *   that is not remembered or that its TLB has lost, a line that the first level does not have, one that several own.
 *   A fetch that hits takes nothing from the data side: the line of the last data access stays what it is. Any other
 *   way leaves it first, as an inclusive level may lose it.
 *
 * What a record costs there
 *   One compare of the header's low half with the plan's says "known block, all of it, no REP"; that it ran is an
 *   addition in its plan, and what that adds to the counters is worked out at the end of the batch, and before a mark.
 *   A block on one line of code asks about fetches once. A slot whose reference lies inside the line of the last access
 *   is one compare and one addition. A fetch in the page of the last one needs neither page nor TLB, which have it.
 *   Where many accesses miss the second level, records are looked at before their turn, so that the host has the sets
 *   where their lines may be. Instructions of gzip's, with AVX2: 40 for a record, 68 for a reference to another line
 *   that hits, with what the line before is left with, 31 for a fetch that does.
 * Repeats and owners
 *   What a line access counts, for its owner, the TLB and the level, is counted with its repeats when the line is left
 *   (sim_flush_repeats). A line that has several owners has no line_refs, nor one that a record without plan has
 *   accessed, until its owner is found to be remembered: there each reference finds its owner, mostly as that of its
 *   word (refer_parted).
 */
#include "sim/sim_priv.h"

/* ------------------------------------------------------------------ a fetch that enters a line */

/* Of another line than the one before; the data line is left: what follows may take it from the caches. */
static inline void enter_code(struct sim_core *core, uint64_t start, uint32_t code)
{
    C2_PROMISE((start & core->line_mask) == 0);
    core->fetch_line = start >> core->line_shift;
    core->code = code;
    core->slot = NULL;
    core->second = false;
    sim_flush_repeats(core);
    sim_leave_line(core);
}

enum c2_status sim_fetch(struct sim_core *core, uint64_t start, uint32_t code, struct c2_error *err)
{
    const struct guest_va va = {start};
    enter_code(core, start, code);
    return sim_ask(core, SIM_FETCH, sim_page_of(core, va), va, err);
}

/* L1I does not have the line. */
static inline enum c2_status miss_code(struct sim_core *core, struct guest_va va, struct c2_error *err)
{
    C2_PROMISE(sim_page_at(core, va.v)->vpn == va.v >> C2_PAGE_SHIFT);
    const struct sim_page *page = sim_page_at(core, va.v);
    const uint32_t line = sim_line_of(va, SIM_USUAL_LINE_SHIFT), slot = page->slot;
    const struct line_no physical_line = {page->line + line};
    core->sim->attributed.number++;
    C2_PROMISE(slot != SIM_NO_SLOTS);
    return sim_asked(core, caches_try_missed(core->l1_handle[CACHES_FETCH], false, slot + line, physical_line),
                     SIM_FETCH, page, va, err);
}

enum c2_status sim_fetch_missed(struct sim_core *core, uint64_t start, uint32_t code, struct c2_error *err)
{
    enter_code(core, start, code);
    return miss_code(core, (struct guest_va){start}, err);
}

/* ------------------------------------------------------------------ a reference that is no repeat */

/* Of a slot's first access, to its first line. */
static inline enum sim_kind first_kind(const struct sim_slot *slot)
{
    return sim_repeats_reads(slot->repeated) == 0 ? SIM_WRITE : SIM_READ;
}

static inline uint32_t consume_references_of(const struct sim_slot *slot)
{
    C2_PROMISE(slot->repeated != 0);
    return sim_repeats_all(slot->repeated);
}

/* The accesses that follow are of this slot. */
static inline void enter_slot(struct sim_core *core, const struct sim_slot *slot)
{
    C2_PROMISE(slot);
    core->code = slot->code;
    core->slot = slot;
    core->second = false;
}

static inline bool inside(const struct sim_core *core, const struct sim_slot *slot, uint64_t va)
{
    return (va & core->line_mask) < slot->limit;
}

/* Any reference, for its owner, and each of its lines. */
static enum c2_status refer_any(struct sim_core *core, const struct sim_slot *slot, struct guest_va va,
                                struct c2_error *err)
{
    C2_PROMISE(slot->size >= 1 && slot->size <= SIM_MAX_REFERENCE_BYTES);
    enter_slot(core, slot);
    if (core->sim->attributed.on)
        sim_attribute_own(core, va, consume_references_of(slot));
    enum c2_status status = sim_data_lines(core, first_kind(slot) == SIM_WRITE, va, slot->size, err);
    if (status != C2_OK || slot->following == 0)
        return status;
    core->second = true;
    return sim_data_lines(core, true, va, slot->size, err);
}

/* The reference is the first one to its line, whose owner this is. */
static inline void enter_line(struct sim_core *core, const struct sim_slot *slot, uint64_t start, uint64_t *refs)
{
    C2_PROMISE(core->repeats == 0 && refs && (start & core->line_mask) == 0);
    enter_slot(core, slot);
    core->repeats = slot->following;
    core->line_refs = refs;
    core->data_start = core->line_start = start;
    ++*refs;
    C2_PROMISE(sim_attribute_line_holds(core));
}

/* Nothing is to be asked for the reference but what repeats the line of the last access. */
static inline bool repeats_line(const struct sim_core *core, const struct sim_slot *slot, struct guest_va va)
{
    return (va.v & ~core->line_mask) == core->data_start && !sim_tlb_leaves(core, first_kind(slot) == SIM_WRITE, va);
}

/* The write of a modify repeats its read, to the TLBs as well. */
static inline bool is_one_access(const struct sim_core *core, const struct sim_slot *slot, struct guest_va va)
{
    return slot->following == 0 || !sim_tlb_leaves(core, true, va);
}

/* Inside a line with several owners, to a word of which this is the owner. */
static enum c2_status refer_parted(struct sim_core *core, const struct sim_slot *slot, struct guest_va va,
                                   uint64_t *refs, struct c2_error *err)
{
    C2_PROMISE(inside(core, slot, va.v));
    C2_PROMISE(sim_attribute_word_holds(core, va, refs));
    enter_slot(core, slot);
    *refs += consume_references_of(slot);
    if (repeats_line(core, slot, va)) {
        if (core->line_refs)
            sim_part_line(core);
        core->repeats += slot->repeated;
        return C2_OK;
    }
    const enum c2_status status = sim_access(core, first_kind(slot), va, err);
    core->repeats += slot->following;
    return status;
}

/* To another line than the one before. */
static enum c2_status refer_else(struct sim_core *core, const struct sim_slot *slot, struct guest_va va,
                                 struct c2_error *err)
{
    C2_PROMISE(inside(core, slot, va.v) && !repeats_line(core, slot, va));
    struct sim_page *page = sim_page_of(core, va);
    uint64_t *refs = sim_attribute_line(core, page, va);
    if (C2_UNLIKELY(!refs))
        return refer_any(core, slot, va, err);
    sim_flush_repeats(core);
    enter_line(core, slot, va.v & ~core->line_mask, refs);
    return sim_ask(core, first_kind(slot), page, va, err);
}

enum c2_status sim_refer(struct sim_core *core, const struct sim_slot *slot, uint64_t address, struct c2_error *err)
{
    const struct guest_va va = {address};
    if (!SHORTCUT(inside(core, slot, address) && is_one_access(core, slot, va)))
        return refer_any(core, slot, va, err);
    uint64_t *const refs = sim_owned_word(core, address);
    if (refs)
        return refer_parted(core, slot, va, refs, err);
    return repeats_line(core, slot, va) ? refer_any(core, slot, va, err) : refer_else(core, slot, va, err);
}

enum c2_status sim_line_found(struct sim_core *core, const struct sim_slot *slot, uint64_t va, struct c2_error *err)
{
    enter_slot(core, slot);
    return sim_translated(core, first_kind(slot), (struct guest_va){va}, C2_OK, err);
}

enum c2_status sim_line_missed(struct sim_core *core, const struct sim_slot *slot, uint64_t va, struct c2_error *err)
{
    enter_slot(core, slot);
    return sim_classifier_missed(core, first_kind(slot), (struct guest_va){va}, err);
}

/* ------------------------------------------------------------------ a record */

static __attribute__((noinline)) enum c2_status consume_take_mark(struct sim_core *core, uint64_t header,
                                                                  const uint64_t *words, struct c2_error *err)
{
    C2_ASSERT(stream_header_block(header) == STREAM_MARK);
    struct sim *sim = core->sim;
    const enum stream_mark mark = (enum stream_mark)stream_header_insns(header);
    enum c2_status status = sim_records_mark(sim, words - 1, err);
    if (status != C2_OK)
        return status;
    if (mark == STREAM_PHASE)
        return sim_window_end(sim, (enum stream_phase)words[0], err);
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
    C2_ASSERT(stream_header_block(header) != STREAM_MARK);
    struct sim *sim = core->sim;
    enum c2_status status = sim_plan_build(sim, stream_header_block(header), err);
    return status != C2_OK ? status : sim_record(core, tid, header, words, err);
}

/* What so many whole runs of a block add. */
static void count_whole(struct sim *sim, struct sim_plan *plan, uint64_t runs)
{
    C2_PROMISE(plan->built && plan->whole != SIM_NO_RUN);
    const uint64_t insns = runs * plan->insns, reads = runs * plan->reads, writes = runs * plan->writes;
    sim->counts.instructions += insns;
    sim->counts.fetches += insns;
    sim->counts.modifies += runs * plan->modifies;
    sim->counts.reads += reads;
    sim->counts.writes += writes;
    sim->counts.refs += reads + writes;
    sim->counts.line_accesses += reads + writes; /* sim_data_lines adds the further lines of references */
    plan->runs += sim->attributed.measuring ? runs : 0;
}

static void count_pending(struct sim *sim)
{
    C2_PROMISE(sim->pending_count <= sim->plan_capacity);
    for (uint32_t i = 0; i < sim->pending_count; i++) {
        struct sim_plan *plan = &sim->plans[sim->pending[i]];
        count_whole(sim, plan, (uint64_t)plan->pending + 1);
        plan->pending = SIM_NONE_PENDING;
    }
    sim->pending_count = 0;
}

static enum c2_status stop_before(struct sim *sim, const uint64_t *record)
{
    C2_ASSERT(!sim->instructed);
    sim->again = record;
    return SIM_AGAIN;
}

/* Counts are current there. */
enum c2_status sim_take_other(struct sim_core *core, uint32_t tid, uint64_t header, const uint64_t *words,
                              struct c2_error *err)
{
    if (C2_UNLIKELY(sim_needs_instructed(core->sim, stream_header_block(header))))
        return stop_before(core->sim, words - 1);
    if (stream_header_block(header) != STREAM_MARK)
        return unusual(core, tid, header, words, err);
    count_pending(core->sim);
    return consume_take_mark(core, header, words, err);
}

/* Counts are current after each batch; after a failure the caches may not be touched again. */
enum c2_status sim_finish_batch(struct sim_core *core, enum c2_status status, struct c2_error *err)
{
    C2_ASSERT(status != SIM_AGAIN || core->sim->again);
    struct sim *sim = core->sim;
    const bool again = status == SIM_AGAIN;
    if (C2_UNLIKELY(again))
        status = C2_OK;
    count_pending(sim);
    if (status == C2_OK && C2_LIKELY(!sim->is_absent))
        status = sim_records_until(sim, again ? sim->again : sim->pending_records.end, err);
    if (status == C2_OK && C2_UNLIKELY(sim->is_absent))
        status = sim_fail_absent(sim, err);
    if (status != C2_OK)
        return status;
    sim_settle(sim);
    status = sim_classifier_end_batch(sim, err);
    if (C2_UNLIKELY(again) && status == C2_OK)
        return SIM_AGAIN;
    C2_PROMISE(sim->classifier.ring || status != C2_OK || sim_totals_hold(sim));
    return status == C2_OK ? sim_notify_batch(sim, err) : status;
}

/* Up to so many words more than SIM_LOOK_AHEAD, so that not every record looks. */
#define LOOK_FURTHER 16

static inline void consume_expect(struct sim_core *core, uint64_t va)
{
    const struct sim_page *page = sim_page_at(core, va);
    const uint32_t line = sim_line_of((struct guest_va){va}, core->line_shift);
    if (page->vpn == va >> C2_PAGE_SHIFT)
        caches_expect(core->sim->caches, page->slot + line, (struct line_no){page->line + line});
}

/* Where misses go far: looks at the records from `ahead` on, but not at those before `word`, until it is LOOK_FURTHER
 * more than SIM_LOOK_AHEAD words in front. Says where it is then. */
const uint64_t *sim_look_ahead(struct sim_core *core, const uint64_t *word, const uint64_t *ahead, const uint64_t *end)
{
    C2_PROMISE(word <= end && ahead <= end);
    const ptrdiff_t enough_words = SIM_LOOK_AHEAD + LOOK_FURTHER;
    const uint64_t *const enough = end - word > enough_words ? word + enough_words : end;
    uint64_t last = SIM_NO_START;
    if (ahead < word)
        ahead = word;
    while (ahead < enough) {
        const uint64_t header = *ahead++;
        for (uint32_t i = 0; i < stream_header_slots(header) && *core->far != 0; i++) {
            if ((ahead[i] ^ last) > core->line_mask)
                consume_expect(core, ahead[i]);
            last = ahead[i];
        }
        ahead += stream_header_slots(header);
    }
    return ahead;
}

enum c2_status sim_consume_one(struct sim_core *core, uint32_t tid, uint64_t header, const uint64_t *words,
                               struct c2_error *err)
{
    C2_ASSERT(core == core->sim->now);
    struct sim *sim = core->sim;
    enum c2_status status = C2_OK;
    if (C2_UNLIKELY(sim_needs_instructed(sim, stream_header_block(header))))
        status = sim_instructed_begin(sim, err);
    sim_records_begin(sim, words - 1, words + stream_header_slots(header), tid);
    if (status == C2_OK)
        status = unusual(core, tid, header, words, err);
    return status == C2_OK ? sim_records_until(sim, sim->pending_records.end, err) : status;
}

/* ------------------------------------------------------------------ which loop */

/* Whether the level holds a page in its sets, line for set. */
static bool consume_is_usual(const struct caches_l1_handle *l1_handle, uint32_t ways)
{
    _Static_assert(SIM_USUAL_SETS << SIM_USUAL_LINE_SHIFT == C2_PAGE_BYTES, "a page has one line of each set");
    return caches_l1_handle_is(l1_handle, SIM_USUAL_SETS, ways);
}

/* The ways of L1D, if the machine is a usual one and its loads and stores share their TLBs; else 0. */
static uint32_t usual_ways(const struct sim *sim)
{
    const struct sim_core *core = &sim->core;
    const struct caches_l1_handle *data = core->l1_handle[CACHES_DATA];
    const bool more = consume_is_usual(data, SIM_USUAL_MORE_WAYS), any = more || consume_is_usual(data, SIM_USUAL_WAYS);
    const bool code = !sim->has_l1i || consume_is_usual(core->l1_handle[CACHES_FETCH], SIM_USUAL_WAYS);
    const bool stages = sim->classifier.event_log && !core->tlb_split && sim->line_shift == SIM_USUAL_LINE_SHIFT;
    return !any || !code || !stages || sim->hears_instructions ? 0 : more ? SIM_USUAL_MORE_WAYS : SIM_USUAL_WAYS;
}

sim_consume_function *sim_loop_choose(const struct sim *sim, unsigned form)
{
    const uint32_t ways = usual_ways(sim);
    if (!SHORTCUT(ways != 0 && form >= CACHE_FORM_SSE2))
        return sim_consume_fast;
    if (form >= CACHE_FORM_AVX2)
        return ways == SIM_USUAL_WAYS ? sim_consume_8_avx2 : sim_consume_12_avx2;
    return ways == SIM_USUAL_WAYS ? sim_consume_8_sse2 : sim_consume_12_sse2;
}
