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
 *   one compare of the header's low half with the plan's says "known block, all of it, no REP"; that it ran is an
 *   addition in its plan, and what that adds to the counters is worked out at the end of the batch, and before a mark.
 *   A block on one line of code asks about fetches once. A slot whose reference lies inside the line of the last access
 *   is one compare and one addition; one to another line is a function without calls (refer_usual) where page and owner
 *   are remembered, the TLB has the page where it had it last, and the line is the youngest of its set. Where many
 *   accesses miss the second level, records are looked at before their turn, so that the host has the sets where their
 *   lines may be. Instructions for a record of gzip, with 1.1 references nine of ten of which are to another line: 70
 *   for the record, and 96 for such a reference.
 * Repeats and owners
 *   Repeats count for the owner of their line when it is left (sim_flush_repeats). A line that has several owners, or
 *   that a record without plan has accessed, has no line_refs: there each reference finds its owner (refer_any).
 */
#include "sim/sim_priv.h"

/* The part of the state that every slot changes, in registers while a batch is done; the calls below take it from
 * struct sim_core and give it back. (In memory each slot would wait for the store of the one before.) */
struct hot {
    uint64_t line_start, repeats;
};

static inline void hot_store(struct sim_core *core, const struct hot *hot) { core->repeats = hot->repeats; }

static inline struct hot hot_load(const struct sim_core *core) { return (struct hot){core->line_start, core->repeats}; }

/* ------------------------------------------------------------------ a fetch that enters a line */

/* start: of the line; repeats: of the data line before. */
static inline __attribute__((always_inline)) enum c2_status fetch_as(struct sim_core *core, uint64_t start,
                                                                     uint32_t code, uint64_t repeats, const bool usual,
                                                                     struct c2_error *err)
{
    const struct guest_va va = {start};
    struct sim_page *const page = &core->pages[start >> C2_PAGE_SHIFT & (SIM_PAGES - 1)];
    core->fetch_line = start >> (usual ? SIM_USUAL_LINE_SHIFT : core->line_shift);
    core->code = code;
    core->repeats = repeats;
    if (C2_UNLIKELY(!SHORTCUT(page->vpn == start >> C2_PAGE_SHIFT)))
        return sim_access(core, SIM_FETCH, va, err);
    C2_PROMISE(sim_page_holds(core, page, va));
    if (repeats != 0)
        sim_flush_repeats(core);
    sim_leave_line(core);
    return sim_ask(core, SIM_FETCH, page, va, usual, err);
}

static __attribute__((noinline)) enum c2_status fetch_usual(struct sim_core *core, uint64_t start, uint32_t code,
                                                            uint64_t repeats, struct c2_error *err)
{
    return fetch_as(core, start, code, repeats, true, err);
}

static __attribute__((noinline)) enum c2_status fetch_any(struct sim_core *core, uint64_t start, uint32_t code,
                                                          uint64_t repeats, struct c2_error *err)
{
    return fetch_as(core, start, code, repeats, false, err);
}

/* ------------------------------------------------------------------ a reference that is no repeat */

/* Of a slot's first access, to its first line. */
static inline enum sim_kind first_kind(const struct sim_slot *slot)
{
    return (uint32_t)slot->repeated == 0 ? SIM_WRITE : SIM_READ;
}

static inline uint32_t references_of(const struct sim_slot *slot)
{
    return (uint32_t)slot->repeated + (uint32_t)(slot->repeated >> 32);
}

static inline bool inside(const struct sim_core *core, const struct sim_slot *slot, uint64_t va)
{
    return (va & core->line_mask) < slot->limit;
}

/* Any reference, for its owner, and each of its lines. */
static enum c2_status refer_any(struct sim_core *core, const struct sim_slot *slot, struct guest_va va,
                                struct c2_error *err)
{
    core->code = slot->code;
    if (core->sim->attributed.on)
        sim_attribute_own(core, va, references_of(slot));
    enum c2_status status = sim_data_lines(core, first_kind(slot) == SIM_WRITE, va, slot->size, err);
    if (status == C2_OK && slot->following != 0)
        status = sim_data_lines(core, true, va, slot->size, err);
    return status;
}

/* The reference is the first one to its line, whose owner this is. */
static inline void enter_line(struct sim_core *core, const struct sim_slot *slot, uint64_t start, uint64_t *refs)
{
    core->code = slot->code;
    core->repeats = slot->following;
    core->line_refs = refs;
    core->data_start = core->line_start = start;
    ++*refs;
    C2_PROMISE(sim_attribute_line_holds(core));
}

/* A reference to another line than the one before, whatever is known of it. */
static __attribute__((noinline)) enum c2_status refer_slowly(struct sim_core *core, const struct sim_slot *slot,
                                                             uint64_t address, uint64_t repeats, struct c2_error *err)
{
    const struct guest_va va = {address};
    const uint64_t start = address & ~core->line_mask;
    core->repeats = repeats;
    struct sim_page *page = sim_page_of(core, va);
    if (!SHORTCUT(!core->tlb_split && address - start < slot->limit && start != core->data_start))
        return refer_any(core, slot, va, err);
    uint64_t *refs = sim_attribute_line(core, page, va);
    if (C2_UNLIKELY(!refs))
        return refer_any(core, slot, va, err);
    sim_flush_repeats(core);
    enter_line(core, slot, start, refs);
    return sim_ask(core, first_kind(slot), page, va, false, err);
}

static __attribute__((noinline)) enum caches_tried try_slowly(struct sim_core *core, const struct sim_slot *slot,
                                                              uint64_t va, uint64_t repeats, struct c2_error *err)
{
    return sim_tried(core, refer_slowly(core, slot, va, repeats, err));
}

/* A reference to another line than the one before, mostly of a page that is remembered and has one owner. Calls are
 * made at its end only: so the common way needs no stack. It says what sim_try() does. */
static inline __attribute__((always_inline)) enum caches_tried refer_as(struct sim_core *core,
                                                                        const struct sim_slot *slot, uint64_t va,
                                                                        uint64_t *refs, struct c2_error *err)
{
    const uint64_t vpn = va >> C2_PAGE_SHIFT, start = va & ~SIM_USUAL_LINE_MASK;
    struct sim_page *const page = &core->pages[vpn & (SIM_PAGES - 1)];
    const enum sim_kind kind = first_kind(slot);
    if (!SHORTCUT(page->vpn == vpn && va - start < slot->limit && start != core->data_start))
        return try_slowly(core, slot, va, 0, err);
    C2_PROMISE(sim_page_holds(core, page, (struct guest_va){va}));
    enter_line(core, slot, start, refs);
    return sim_try(core, kind, page, (struct guest_va){va}, err);
}

/* The page has several owners. */
static __attribute__((noinline)) enum caches_tried refer_owned(struct sim_core *core, const struct sim_slot *slot,
                                                               uint64_t va, struct c2_error *err)
{
    const struct sim_owned_line *line = sim_owned_line(core, va);
    if (line->line != va >> SIM_USUAL_LINE_SHIFT)
        return try_slowly(core, slot, va, 0, err);
    return refer_as(core, slot, va, line->refs, err);
}

static enum caches_tried refer_usual(struct sim_core *core, const struct sim_slot *slot, uint64_t va, uint64_t repeats,
                                     struct c2_error *err);

/* There are repeats of the line before to be told of. */
static __attribute__((noinline)) enum caches_tried refer_behind(struct sim_core *core, const struct sim_slot *slot,
                                                                uint64_t va, uint64_t repeats, struct c2_error *err)
{
    core->repeats = repeats;
    sim_flush_repeats(core);
    return refer_usual(core, slot, va, 0, err);
}

static __attribute__((noinline)) enum caches_tried refer_usual(struct sim_core *core, const struct sim_slot *slot,
                                                               uint64_t va, uint64_t repeats, struct c2_error *err)
{
    if (C2_UNLIKELY(repeats != 0))
        return refer_behind(core, slot, va, repeats, err);
    uint64_t *refs = core->pages[va >> C2_PAGE_SHIFT & (SIM_PAGES - 1)].refs;
    return C2_LIKELY(refs) ? refer_as(core, slot, va, refs, err) : refer_owned(core, slot, va, err);
}

/* The rest of refer_usual(), where that is not all. */
static __attribute__((noinline)) enum c2_status referred(struct sim_core *core, enum caches_tried tried,
                                                         const struct sim_slot *slot, uint64_t va, struct c2_error *err)
{
    const struct sim_page *page = &core->pages[va >> C2_PAGE_SHIFT & (SIM_PAGES - 1)];
    if (C2_LIKELY(tried == CACHES_MISSED))
        return sim_missed_data(core, first_kind(slot), (struct guest_va){va}, err);
    return tried == SIM_FAILED ? core->status
                               : sim_asked(core, tried, first_kind(slot), page, (struct guest_va){va}, err);
}

static inline enum c2_status refer(struct sim_core *core, const struct sim_slot *slot, uint64_t va, uint64_t repeats,
                                   const bool usual, struct c2_error *err)
{
    if (!usual)
        return refer_slowly(core, slot, va, repeats, err);
    const enum caches_tried tried = refer_usual(core, slot, va, repeats, err);
    return C2_LIKELY(tried == CACHES_TRIED) ? C2_OK : referred(core, tried, slot, va, err);
}

static inline bool leaves(const struct sim_core *core, const struct sim_slot *slot, uint64_t va)
{
    const bool reads = (uint32_t)slot->repeated != 0, writes = slot->repeated >> 32 != 0;
    return (reads && sim_tlb_leaves(core, false, (struct guest_va){va})) ||
           (writes && sim_tlb_leaves(core, true, (struct guest_va){va}));
}

/* ------------------------------------------------------------------ a record */

/* usual, here and below: the machine is one of sim_consume_usual(). */
static inline __attribute__((always_inline)) enum c2_status run_fetch(struct sim_core *core, struct hot *hot,
                                                                      uint64_t line, uint32_t code, const bool usual,
                                                                      struct c2_error *err)
{
    const unsigned line_shift = usual ? SIM_USUAL_LINE_SHIFT : core->line_shift;
    if (line == core->fetch_line)
        return C2_OK;
    const enum c2_status status = (usual ? fetch_usual : fetch_any)(core, line << line_shift, code, hot->repeats, err);
    *hot = hot_load(core);
    return status;
}

static inline __attribute__((always_inline)) enum c2_status run_slots(struct sim_core *core, struct hot *hot,
                                                                      const struct sim_slot *slot,
                                                                      const uint64_t *words, const uint64_t *end,
                                                                      const bool usual, struct c2_error *err)
{
    for (; words < end; words++, slot++) {
        const uint64_t va = *words;
        if (C2_LIKELY(va - hot->line_start < slot->limit && (usual || !leaves(core, slot, va)))) {
            hot->repeats += slot->repeated;
            continue;
        }
        const enum c2_status status = refer(core, slot, va, hot->repeats, usual, err);
        *hot = hot_load(core);
        if (C2_UNLIKELY(status != C2_OK))
            return status;
    }
    return C2_OK;
}

/* A block on several lines of code: the fetch of each comes before what is done on it. */
static __attribute__((noinline)) enum c2_status run_stretches(struct sim_core *core, const struct sim_plan *plan,
                                                              const uint64_t *words, const bool usual,
                                                              struct c2_error *err)
{
    struct hot hot = hot_load(core);
    enum c2_status status = C2_OK;
    uint32_t done = 0;
    for (uint32_t i = 0; i < plan->stretch_count && status == C2_OK; i++) {
        const struct sim_stretch *stretch = &plan->stretches[i];
        status = run_fetch(core, &hot, plan->first_line + i, stretch->code, usual, err);
        if (status == C2_OK)
            status = run_slots(core, &hot, &plan->slots[done], words + done, words + stretch->slot_end, usual, err);
        done = stretch->slot_end;
    }
    hot_store(core, &hot);
    return status;
}

/* A run of a planned block. words: its slots, up to end. */
static inline __attribute__((always_inline)) enum c2_status run_plan(struct sim_core *core, struct hot *hot,
                                                                     const struct sim_plan *plan, const uint64_t *words,
                                                                     const uint64_t *end, const bool usual,
                                                                     struct c2_error *err)
{
    enum c2_status status;
    if (C2_UNLIKELY(plan->stretch_count != 1)) {
        hot_store(core, hot);
        status = run_stretches(core, plan, words, usual, err);
        *hot = hot_load(core);
        return status;
    }
    status = run_fetch(core, hot, plan->first_line, plan->first_code, usual, err);
    return C2_LIKELY(status == C2_OK) ? run_slots(core, hot, plan->slots, words, end, usual, err) : status;
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

/* What so many whole runs of a block add. */
static void count_whole(struct sim *sim, struct sim_plan *plan, uint64_t runs)
{
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
    for (uint32_t i = 0; i < sim->pending_count; i++) {
        struct sim_plan *plan = &sim->plans[sim->pending[i]];
        count_whole(sim, plan, plan->pending);
        plan->pending = 0;
    }
    sim->pending_count = 0;
}

/* Counts are current there. */
static __attribute__((noinline)) enum c2_status take_other(struct sim_core *core, uint32_t tid, uint64_t header,
                                                           const uint64_t *words, struct c2_error *err)
{
    if (stream_header_block(header) != STREAM_MARK)
        return unusual(core, tid, header, words, err);
    count_pending(core->sim);
    return take_mark(core, header, words, err);
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

/* So many words before they are simulated, the sets of the lines that slots refer to are fetched; up to so many more,
 * so that not every record looks. */
#define LOOK_AHEAD 48
#define LOOK_FURTHER 16

static inline void expect(struct sim_core *core, uint64_t va)
{
    const uint64_t vpn = va >> C2_PAGE_SHIFT;
    const struct sim_page *page = &core->pages[vpn & (SIM_PAGES - 1)];
    const uint32_t line = sim_line_of((struct guest_va){va}, core->line_shift);
    if (page->vpn == vpn)
        caches_expect(core->sim->caches, page->slot + line, (struct line_no){page->line + line});
}

/* Where misses go far: looks at the records from `ahead` on, but not at those before `word`, until it is LOOK_FURTHER
 * more than LOOK_AHEAD words in front. Says where it is then. */
static __attribute__((noinline)) const uint64_t *look_ahead(struct sim_core *core, const uint64_t *word,
                                                            const uint64_t *ahead, const uint64_t *end)
{
    const ptrdiff_t enough_words = LOOK_AHEAD + LOOK_FURTHER;
    const uint64_t *const enough = end - word > enough_words ? word + enough_words : end;
    uint64_t last = SIM_NO_START;
    if (ahead < word)
        ahead = word;
    while (ahead < enough) {
        const uint64_t header = *ahead++;
        for (uint32_t i = 0; i < stream_header_slots(header) && *core->far != 0; i++) {
            if ((ahead[i] ^ last) > core->line_mask)
                expect(core, ahead[i]);
            last = ahead[i];
        }
        ahead += stream_header_slots(header);
    }
    return ahead;
}

static inline __attribute__((always_inline)) enum c2_status consume_fast(struct sim_core *core,
                                                                         const struct stream_batch *batch,
                                                                         const bool usual, struct c2_error *err)
{
    struct sim *sim = core->sim;
    const uint64_t *word = batch->words, *const end = word + batch->used, *ahead = word;
    struct hot hot = hot_load(core);
    enum c2_status status = C2_OK;
    while (word < end && status == C2_OK) {
        if (SHORTCUT(*core->far != 0 && ahead - word < LOOK_AHEAD))
            ahead = look_ahead(core, word, ahead, end);
        const uint64_t header = *word++, *const next = word + stream_header_slots(header);
        const uint32_t number = stream_header_block(header);
        if (C2_LIKELY(SHORTCUT(number < sim->plan_capacity && sim->plans[number].whole == (uint32_t)header))) {
            struct sim_plan *plan = &sim->plans[number];
            if (plan->pending++ == 0)
                sim->pending[sim->pending_count++] = number;
            status = run_plan(core, &hot, plan, word, next, usual, err);
        } else {
            hot_store(core, &hot);
            status = take_other(core, batch->tid, header, word, err);
            hot = hot_load(core);
        }
        word = next;
    }
    hot_store(core, &hot);
    count_pending(sim);
    return finish_batch(core, status, err);
}

enum c2_status sim_consume_fast(struct sim_core *core, const struct stream_batch *batch, struct c2_error *err)
{
    return consume_fast(core, batch, false, err);
}

enum c2_status sim_consume_usual(struct sim_core *core, const struct stream_batch *batch, struct c2_error *err)
{
    return consume_fast(core, batch, true, err);
}

/* A whole run where somebody listens to records, nobody to references; and attribution. */
static enum c2_status observed_whole(struct sim_core *core, struct sim_plan *plan, const uint64_t *words,
                                     struct c2_error *err)
{
    struct sim *sim = core->sim;
    struct hot hot = hot_load(core);
    const uint64_t *end = words + stream_header_slots(plan->whole);
    enum c2_status status = run_plan(core, &hot, plan, words, end, false, err);
    hot_store(core, &hot);
    count_whole(sim, plan, 1);
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
