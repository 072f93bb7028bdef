/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * instructed: instructions made for caches, and stores past them, as the stream has them.
 *
 * Model
 *   Prefetch    No reference, and no access. The TLBs are asked as for a load, and walk, as Intel's processors do since
 *               Core. Where the page is not there nothing happens, and nothing faults.
 *   Flush, write-back   Likewise; the page is there, or the instruction would not have been done.
 *   Past        A non-temporal store is a reference that writes, for its owner and its instruction; the TLBs are asked
 *               as for any store. Its lines go past all levels.
 *   What caches do then is said in caches/instructed.c. The instruction's number is the tag there, and the time is that
 *   of the core: how many instructions it has begun.
 *   The machine without prefetchers, where there is one beside (sim->plain), is notified the same: these are the
 *   program's.
 * Counting
 *   past_lines are line accesses of the program that no level is asked for.
 * Cost
 *   The first such instruction ends what is fast: caches are those of contents_general.c from then on, classes are not
 *   put off, and records are done by the loop for any machine (sim_consume_fast). The loop that meets it
 *   stops before its record (SIM_AGAIN), and another one takes the rest of the batch.
 * Source
 *   Intel 64 and IA-32 Architectures Optimization Reference Manual, "Software Data Prefetch": prefetches since Core do
 *   page walks.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/sim_priv.h"

bool sim_needs_instructed(const struct sim *sim, uint32_t number)
{
    if (C2_LIKELY(sim->instructed) || number == STREAM_MARK)
        return false;
    if (number < sim->plan_capacity && sim->plans[number].built)
        return sim->plans[number].special;
    return sim_block_is_special(stream_blocks_at(sim->blocks, number));
}

bool sim_block_is_special(const struct stream_block *block)
{
    C2_PROMISE(block && (block->slot_count == 0 || block->slots));
    bool special = false;
    for (uint32_t i = 0; i < block->slot_count; i++)
        special |= stream_is_special(&block->slots[i]);
    return special;
}

enum c2_status sim_instructed_begin(struct sim *sim, struct c2_error *err)
{
    C2_ASSERT(!sim->instructed);
    sim_settle(sim);
    enum c2_status status = sim_classifier_settle(sim, err);
    if (status == C2_OK)
        status = caches_instructed_begin(sim->caches, err);
    if (status == C2_OK && sim->plain)
        status = caches_instructed_begin(sim->plain, err);
    if (status != C2_OK)
        return status;
    sim_share_depart(sim);
    sim_classifier_leave(sim);
    for (uint32_t i = 0; i < sim->core_count; i++)
        sim_leave_line(sim_core_at(sim, i));
    caches_instructed_measure(sim->caches, sim->phase == STREAM_MEASURE);
    sim->instructed = true;
    sim->consume = sim_loop_choose(sim, caches_form(sim->caches));
    return C2_OK;
}

/* A batch from this word on, by the loop that is now the right one. */
enum c2_status sim_instructed_rest(struct sim *sim, const struct stream_batch *batch, const uint64_t *from,
                                   struct c2_error *err)
{
    C2_ASSERT(from >= batch->words && from < batch->words + batch->used);
    enum c2_status status = sim_instructed_begin(sim, err);
    struct stream_batch *rest = status == C2_OK ? c2_alloc(sizeof *rest) : NULL;
    if (!rest)
        return status == C2_OK ? c2_fail_memory(err, "the rest of a batch") : status;
    rest->tid = batch->tid;
    rest->used = batch->used - (uint32_t)(from - batch->words);
    memcpy(rest->words, from, rest->used * sizeof *from);
    status = sim_run_batch(sim, rest, err);
    c2_free(rest);
    return status;
}

/* ------------------------------------------------------------------ one line */

/* As for an access, but none follows. */
static enum c2_status ask_tlb(struct sim_core *core, enum sim_kind kind, struct sim_page *page, struct guest_va va,
                              struct c2_error *err)
{
    C2_PROMISE(core->repeats == 0 && kind != SIM_FETCH && kind != SIM_WALK);
    const unsigned side = sim_tlb_side(core, kind);
    if (!core->tlb_on[CACHES_DATA] || sim_tlb_again(core, side, page, va) || sim_tlb_again_any(core, side, page, va))
        return C2_OK;
    return sim_tlb_enter(core, side, page, va, err);
}

/* Before the caches are notified: time, core, and the access site for what they lose. */
static enum c2_status instructed_prepare(struct sim_core *core, enum sim_kind kind, struct guest_va va,
                                         struct c2_error *err)
{
    C2_PROMISE(core->sim->instructed && core->sim->now == core);
    struct sim *sim = core->sim;
    uint64_t access_site = 0;
    caches_set_clock(sim->caches, sim_clock(core));
    if (sim->core_count > 1)
        sim_cores_origin(core, true);
    enum c2_status status = sim->attributed.on ? sim_ask_access_site(core, kind, va, &access_site, err) : C2_OK;
    caches_set_access_site(sim->caches, access_site);
    return status;
}

/* What has come and gone. */
static enum c2_status instructed_notify(struct sim_core *core, enum sim_kind kind, struct guest_va va,
                                        struct c2_error *err)
{
    C2_PROMISE(core->sim->instructed);
    struct sim *sim = core->sim;
    struct sim_prefetched prefetched = {.code = core->code,
                                        .kind = kind,
                                        .va = va,
                                        .core = core->number,
                                        .measured = sim->attributed.measuring,
                                        .instruction = true};
    prefetched.events = caches_prefetched(sim->caches, &prefetched.count);
    if (prefetched.count == 0)
        return C2_OK;
    enum c2_status status = sim_records_missing(sim, err);
    return status == C2_OK ? sim_notify_prefetched(sim, &prefetched, err) : status;
}

/* Nothing of the data side is at hand any more. */
static void instructed_leave(struct sim_core *core)
{
    sim_flush_repeats(core);
    sim_leave_line(core);
}

static enum caches_instruction instruction_of(enum stream_cache what)
{
    C2_PROMISE((unsigned)what < STREAM_CACHES);
    static const enum caches_instruction of[STREAM_CACHES] = {
        [STREAM_PREFETCH_T0] = CACHES_PREFETCH_T0,       [STREAM_PREFETCH_T1] = CACHES_PREFETCH_T1,
        [STREAM_PREFETCH_T2] = CACHES_PREFETCH_T2,       [STREAM_PREFETCH_NTA] = CACHES_PREFETCH_NTA,
        [STREAM_PREFETCH_W] = CACHES_PREFETCH_FOR_WRITE, [STREAM_FLUSH] = CACHES_FLUSH,
        [STREAM_WRITE_BACK] = CACHES_WRITE_BACK};
    return of[what];
}

static enum c2_status instructed_say(struct sim_core *core, enum caches_instruction what,
                                     const struct sim_reference *named, struct c2_error *err)
{
    C2_PROMISE(named->size >= 1 && (named->va.v & (C2_PAGE_BYTES - 1)) + named->size <= C2_PAGE_BYTES);
    struct sim_reference whole = *named;
    if (!core->sim->references)
        return C2_OK;
    whole.parts = 1;
    whole.part[0].va = named->va;
    whole.part[0].pa = sim_translate(core, named->va);
    whole.part[0].size = named->size;
    enum c2_status status = sim_records_here(core->sim, err);
    return status == C2_OK ? sim_notify_instructed(core->sim, &whole, what, err) : status;
}

static enum c2_status instruct(struct sim_core *core, const struct stream_slot *slot, const struct sim_reference *named,
                               struct c2_error *err)
{
    C2_PROMISE(slot->kind == STREAM_CACHE);
    const struct guest_va va = named->va;
    struct sim *sim = core->sim;
    const enum caches_instruction what = instruction_of((enum stream_cache)slot->how);
    struct guest_pa pa;
    if (what < CACHES_FLUSH && !sim->translation.translate(sim->translation.self, va, &pa))
        return caches_instruct_nowhere(sim->caches, what, core->code, err);
    struct sim_page *page = sim_page_of(core, va);
    enum c2_status status = instructed_say(core, what, named, err);
    if (status == C2_OK)
        status = ask_tlb(core, SIM_READ, page, va, err);
    if (status == C2_OK)
        status = instructed_prepare(core, SIM_READ, va, err);
    const struct line_no virtual_line = {va.v >> core->line_shift};
    const struct line_no line = {page->line + sim_line_of(va, core->line_shift)};
    if (status == C2_OK)
        status = caches_instruct(sim->caches, what, virtual_line, line, core->code, err);
    if (status == C2_OK && sim->plain)
        status = caches_instruct(sim->plain, what, virtual_line, line, core->code, err);
    return status == C2_OK ? instructed_notify(core, SIM_READ, va, err) : status;
}

static enum c2_status store_past(struct sim_core *core, struct guest_va va, uint32_t bytes, bool enters_page,
                                 struct c2_error *err)
{
    C2_PROMISE(bytes >= 1 && (va.v & core->line_mask) + bytes <= core->sim->line_bytes);
    struct sim *sim = core->sim;
    struct sim_page *page = sim_page_of(core, va);
    enum c2_status status = enters_page ? ask_tlb(core, SIM_WRITE, page, va, err) : C2_OK;
    if (status == C2_OK)
        status = instructed_prepare(core, SIM_WRITE, va, err);
    const struct caches_past store = {
        {page->line + sim_line_of(va, core->line_shift)}, (uint32_t)(va.v & core->line_mask), bytes};
    if (status == C2_OK)
        status = caches_store_past(sim->caches, &store, core->code, err);
    if (status == C2_OK && sim->plain)
        status = caches_store_past(sim->plain, &store, core->code, err);
    sim->past_lines++;
    return status == C2_OK ? instructed_notify(core, SIM_WRITE, va, err) : status;
}

/* ------------------------------------------------------------------ one slot */

/* named: but for where its page lies. */
enum c2_status sim_instructed_cache(struct sim_core *core, const struct stream_slot *slot,
                                    const struct sim_reference *named, struct c2_error *err)
{
    instructed_leave(core);
    enum c2_status status = instruct(core, slot, named, err);
    instructed_leave(core);
    return status;
}

enum c2_status sim_instructed_store(struct sim_core *core, struct guest_va va, uint32_t size, struct c2_error *err)
{
    C2_PROMISE(size >= 1 && size <= SIM_MAX_REFERENCE_BYTES);
    struct sim *sim = core->sim;
    const uint64_t end = va.v + size;
    enum c2_status status = C2_OK;
    instructed_leave(core);
    sim->counts.straddles += va.v >> core->line_shift != (end - 1) >> core->line_shift;
    for (uint64_t at = va.v; at < end && status == C2_OK;) {
        const uint64_t next = (at | core->line_mask) + 1, stop = next < end ? next : end;
        sim->counts.line_accesses += at != va.v;
        status = store_past(core, (struct guest_va){at}, (uint32_t)(stop - at), at == va.v || at % C2_PAGE_BYTES == 0,
                            err);
        at = stop;
    }
    instructed_leave(core);
    return status;
}

/* ------------------------------------------------------------------ when the run is over */

static int instructed_by_pc(const void *left, const void *right)
{
    const struct sim_instructed *a = left, *b = right;
    return a->pc.v < b->pc.v ? -1 : a->pc.v > b->pc.v;
}

static void sim_instructed_add(struct caches_instructed *to, const struct caches_instructed *of)
{
#define X(field, help) to->field += of->field;
    CACHES_INSTRUCTED_COUNTERS(X)
#undef X
}

static bool instructed_is_nothing(const struct caches_instructed *of)
{
    uint64_t any = 0;
#define X(field, help) any |= of->field;
    CACHES_INSTRUCTED_COUNTERS(X)
#undef X
    return any == 0;
}

/* An instruction may have a number in each of several blocks. */
static void instructed_join(struct sim *sim)
{
    struct sim_instructed *list = sim->instructions;
    size_t kept = 0;
    qsort(list, sim->instruction_count, sizeof *list, instructed_by_pc);
    for (size_t i = 0; i < sim->instruction_count; i++)
        if (kept != 0 && list[kept - 1].pc.v == list[i].pc.v)
            sim_instructed_add(&list[kept - 1].of, &list[i].of);
        else
            list[kept++] = list[i];
    C2_ASSERT(kept <= sim->instruction_count);
    sim->instruction_count = kept;
}

enum c2_status sim_instructed_finish(struct sim *sim, struct c2_error *err)
{
    C2_ASSERT(!sim->instructions && sim->instruction_count == 0);
    size_t count;
    const struct caches_instructed *by = caches_instructed(sim->caches, &count);
    if (count == 0)
        return C2_OK;
    sim->instructions = c2_calloc(count, sizeof *sim->instructions);
    if (!sim->instructions)
        return c2_fail_memory(err, "the instructions for caches");
    for (size_t i = 0; i < count; i++) {
        const struct guest_va pc = sim->attributed.on ? sim->attributed.codes[i].pc : (struct guest_va){0};
        if (!instructed_is_nothing(&by[i]))
            sim->instructions[sim->instruction_count++] = (struct sim_instructed){pc, by[i]};
    }
    instructed_join(sim);
    return C2_OK;
}

const struct sim_instructed *sim_instructed(const struct sim *sim, size_t *count)
{
    *count = sim->instruction_count;
    return sim->instructions;
}
