/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sim: the simulated memory system - references in, line accesses out to the caches.
 *
 * Model
 *   A reference is split into the lines it touches; each line access is translated by the guest's page tables and
 *   given to caches/ with its virtual and its physical line. Instruction fetches enter at L1I where the machine has
 *   one. What a record of the stream means is said in record.c; plan.c and consume.c do the same faster. Where the
 *   machine has TLBs, tlb.c states which of them is asked when.
 *   What is a core's - where it stands in the program, its TLBs, the translations that it remembers - is struct
 *   sim_core; what cores share - caches, blocks and their plans, counts, listeners - is struct sim. Mostly there is
 *   one core; cores.c says what several do.
 *
 * Counting
 *   sim_counts counts references, caches/ counts line accesses; line_accesses is the bridge: it equals the accesses of
 *   the first data level. Counts are current after each batch; where classes have a thread (classifier.c), those of
 *   the caches only when all is settled.
 *
 * Invariants (sim_check; those of sums also of each window, see window.c)
 *   refs = reads + writes; modifies <= reads, writes; straddles <= refs; fetches = instructions;
 *   line_accesses (+ reads of cached walks that enter there) = accesses of level 0.
 *
 * Not modelled
 *   Time.
 */
#include <inttypes.h>

#include "sim/sim_priv.h"

void sim_pages_forget(struct sim_core *core)
{
    for (size_t i = 0; i < SIM_PAGES; i++)
        core->pages[i] = (struct sim_page){.vpn = SIM_NOWHERE, .found = caches_tlb_nowhere};
}

static void core_init(struct sim_core *core, struct sim *sim, uint32_t number)
{
    C2_ASSERT(number < sim->core_count && c2_is_power_of_two(sim->line_bytes));
    core->sim = sim;
    core->number = number;
    core->line_shift = sim->line_shift;
    core->line_mask = sim->line_bytes - 1;
    sim_leave_line(core);
    core->rep_block = SIM_NO_BLOCK;
    core->fetch_line = sim->has_l1i ? SIM_NOWHERE : 0;
    sim_pages_forget(core);
}

enum c2_status sim_create(struct sim **out, const struct sim_config *config, struct c2_error *err)
{
    C2_ASSERT(config->machine && (config->subscriber_count == 0 || config->subscribers));
    *out = NULL;
    const uint32_t line_bytes = config->machine->line_bytes;
    if (!c2_is_power_of_two(line_bytes) || line_bytes < 8 || line_bytes > C2_PAGE_BYTES)
        return c2_fail(err, C2_ERR_INVALID, "machine %s: lines of %" PRIu32 " bytes; must be a power of two, 8 to 4096",
                       config->machine->name, line_bytes);
    struct sim *sim = c2_calloc(1, sizeof *sim);
    if (!sim)
        return c2_fail_memory(err, "the simulator");
    sim->blocks = config->blocks;
    sim->translation = config->translation;
    sim->samples_kept = config->samples;
    sim->line_bytes = line_bytes;
    sim->line_shift = c2_log2(line_bytes);
    sim->has_l1i = config->machine->has_l1i;
    sim->prefetches = caches_machine_prefetches(config->machine);
    sim->writes_on = caches_machine_writes_on(config->machine);
    sim->hears_instructions = caches_machine_hears_instructions(config->machine);
    sim->core_count = caches_machine_cores(config->machine);
    sim->now = &sim->core;
    sim->told_thread = 1;
    enum c2_status status = sim_cores_create(sim, err);
    for (uint32_t i = 0; i < sim->core_count && status == C2_OK; i++)
        core_init(sim_core_at(sim, i), sim, i);
    if (status == C2_OK)
        status = sim_notify_init(sim, config, err);
    if (status == C2_OK)
        status = sim_intervals_init(sim, err);
    if (status == C2_OK)
        sim_attribute_init(sim, config->attribution);
    sim->seed = config->seed;
    if (status == C2_OK)
        status = sim_caches_create(sim, config->machine, err);
    if (status == C2_OK)
        status = sim_classifier_create(sim, config->apart, err);
    if (status != C2_OK) {
        sim_destroy(sim);
        return status;
    }
    sim->consume = sim_loop_choose(sim, caches_form(sim->caches));
    *out = sim;
    return C2_OK;
}

void sim_destroy(struct sim *sim)
{
    if (!sim)
        return;
    sim_classifier_destroy(sim);
    caches_destroy(sim->caches);
    caches_destroy(sim->plain);
    sim_cores_destroy(sim);
    sim_plan_free(sim);
    sim_intervals_free(sim);
    sim_attribute_free(sim);
    c2_free(sim->subscribers);
    c2_free(sim->references);
    c2_free(sim->sample_instructions);
    c2_free(sim->sample_costs);
    c2_free(sim->sampled);
    c2_free(sim->warmed);
    c2_free(sim->dumps);
    c2_free(sim->instructions);
    c2_free(sim->followers);
    c2_map_destroy(sim->group_of);
    c2_free(sim);
}

enum c2_status sim_consume(struct sim *sim, const struct stream_batch *batch, struct c2_error *err)
{
    C2_ASSERT(batch->used <= STREAM_BATCH_WORDS);
    enum c2_status status = sim->core_count > 1 ? sim_cores_switch(sim, batch->tid, err) : C2_OK;
    if (status != C2_OK)
        return status;
    if (C2_UNLIKELY(batch->tid != sim->told_thread))
        sim_notify_thread(sim, batch->tid);
    return sim->lengths ? sim_intervals_consume(sim, batch, err) : sim_run_batch(sim, batch, err);
}

/* ------------------------------------------------------------------ a line access that is no repeat */

static enum caches_side side_of(enum sim_kind kind)
{
    C2_PROMISE(kind != SIM_WALK);
    return kind == SIM_FETCH ? CACHES_FETCH : CACHES_DATA;
}

/* Of a line whose slot is not remembered, and of caches that have one stage. */
static enum c2_status ask_any(struct sim_core *core, enum sim_kind kind, const struct sim_page *page,
                              struct guest_va va, struct c2_error *err)
{
    C2_PROMISE(page->vpn == va.v >> C2_PAGE_SHIFT);
    struct sim *sim = core->sim;
    const bool write = kind == SIM_WRITE;
    const struct line_no virtual_line = {va.v >> core->line_shift};
    const struct line_no line = {page->line + sim_line_of(va, core->line_shift)};
    if (sim->core_count > 1)
        sim_cores_origin(core, kind == SIM_FETCH);
    if (C2_UNLIKELY(sim->instructed))
        caches_set_clock(sim->caches, sim_clock(core));
    if (!sim->classifier.event_log)
        return sim->attributed.on ? sim_attribute_any(core, kind, va, virtual_line, line, err)
                                  : caches_access(sim->caches, side_of(kind), write, virtual_line, line, NULL, err);
    const uint32_t slot = caches_slot(sim->caches, line);
    if (slot == CACHES_NO_SLOT)
        return c2_fail_memory(err, "the table of lines accessed");
    if (C2_UNLIKELY(sim->hears_instructions))
        sim_attribute_try(core, kind, va);
    return sim_asked(core, caches_try(sim->caches, side_of(kind), write, slot, line), kind, page, va, err);
}

enum c2_status sim_asked(struct sim_core *core, enum caches_tried tried, enum sim_kind kind,
                         const struct sim_page *page, struct guest_va va, struct c2_error *err)
{
    C2_PROMISE(tried == CACHES_UNTRIED || core->sim->classifier.event_log);
    if (C2_LIKELY(tried == CACHES_MISSED))
        return sim_classifier_missed(core, kind, va, err);
    if (tried == CACHES_UNTRIED)
        return ask_any(core, kind, page, va, err);
    return tried == CACHES_FULL ? sim_classifier_pass(core->sim, err) : C2_OK;
}

enum c2_status sim_ask_tlb(struct sim_core *core, enum sim_kind kind, struct sim_page *page, struct guest_va va,
                           struct c2_error *err)
{
    C2_PROMISE(page->vpn == va.v >> C2_PAGE_SHIFT);
    const unsigned tlb_side = sim_tlb_side(core, kind);
    enum c2_status status = C2_OK;
    if (core->tlb_on[side_of(kind)] && SHORTCUT(va.v >> C2_PAGE_SHIFT == core->tlb_page[tlb_side]))
        ++*core->tlb_accesses[tlb_side];
    else if (core->tlb_on[side_of(kind)] && sim_tlb_again_any(core, tlb_side, page, va))
        ++*page->found.accesses;
    else if (core->tlb_on[side_of(kind)])
        status = sim_tlb_enter(core, tlb_side, page, va, err);
    if (status == C2_OK)
        status = sim_ask_caches(core, kind, page, va, err);
    return sim_translated(core, kind, va, status, err);
}

bool sim_refilled(struct sim_core *core, struct sim_page *page, struct guest_va va)
{
    const struct sim *sim = core->sim;
    const bool counts = sim->attributed.on && sim->attributed.measuring;
    if (C2_UNLIKELY(counts && !sim->waits) || !caches_tlbs_refill(core->tlb_refill, va, &page->found))
        return false;
    if (counts)
        sim_wait_for_line(core, false);
    return true;
}

enum c2_status sim_access(struct sim_core *core, enum sim_kind kind, struct guest_va va, struct c2_error *err)
{
    sim_flush_repeats(core);
    sim_leave_line(core);
    struct sim_page *page = sim_page_of(core, va);
    C2_PROMISE(core->repeats == 0 && !core->line_refs);
    if (kind != SIM_FETCH)
        core->data_start = va.v & ~core->line_mask;
    return sim_ask(core, kind, page, va, err);
}

void sim_flush_repeats(struct sim_core *core)
{
    const uint64_t reads = sim_repeats_reads(core->repeats), writes = sim_repeats_writes(core->repeats);
    if (core->repeats == 0)
        return;
    core->repeats = 0;
    core->sim->attributed.number += reads + writes;
    if (core->line_refs)
        *core->line_refs += reads + writes;
    *core->tlb_accesses[CACHES_TLB_LOAD] += reads;
    *core->tlb_accesses[core->tlb_split] += writes;
    if (caches_repeats(core->l1_handle[CACHES_DATA], reads, writes))
        return;
    caches_repeat(core->sim->caches, false, reads);
    caches_repeat(core->sim->caches, true, writes);
}

/* A guest that runs has what it accesses, and it is not taken away before sim_forget; a stream from a file may not. Any
 * answer does until the batch is done: then the simulator fails. */
void sim_note_absent(struct sim *sim, struct guest_va va, struct guest_pa *pa)
{
    sim->absent = sim->is_absent ? sim->absent : va;
    sim->is_absent = true;
    pa->v = va.v & (C2_PAGE_BYTES - 1);
}

enum c2_status sim_fail_absent(const struct sim *sim, struct c2_error *err)
{
    C2_ASSERT(sim->is_absent);
    return c2_fail(err, C2_ERR_FORMAT, "the stream refers to 0x%llx, where it has mapped nothing",
                   (unsigned long long)sim->absent.v);
}

static uint32_t sim_slots_of(const struct sim *sim, uint64_t line)
{
    const uint32_t slot = caches_slot(sim->caches, (struct line_no){line});
    return slot == CACHES_NO_SLOT ? SIM_NO_SLOTS : slot;
}

void sim_page_fill(struct sim_core *core, struct sim_page *page, struct guest_va va)
{
    C2_PROMISE(page == sim_page_at(core, va.v));
    struct sim *sim = core->sim;
    struct guest_pa pa;
    const bool present = sim->translation.translate(sim->translation.self, va, &pa);
    if (!present)
        sim_note_absent(sim, va, &pa);
    *page = (struct sim_page){.vpn = va.v >> C2_PAGE_SHIFT,
                              .line = c2_align_down(pa.v, C2_PAGE_BYTES) >> sim->line_shift,
                              .slot = SIM_NO_SLOTS,
                              .found = caches_tlb_nowhere};
    if (!core->tlb)
        sim_tlb_free(core, page);
    if (C2_PAGE_BYTES >> sim->line_shift <= CACHES_SLOTS &&
        !sim->notifies_accesses) /* else all go the way of ask_any() */
        page->slot = sim_slots_of(sim, page->line);
    struct mmu_walk walk = {.entry_count = MMU_WALK_ENTRIES};
    if ((core->tlb || sim->attributed.on) && sim->translation.walk)
        sim->translation.walk(sim->translation.self, va, &walk);
    page->entry_count = (uint16_t)walk.entry_count;
    page->counted = sim_counted_bits(SIM_READ, sim_walk_log2(walk.entry_count));
    if (C2_UNLIKELY(sim->places) && page->slot != SIM_NO_SLOTS)
        sim_share_page(sim, page, va);
}

bool sim_page_holds(const struct sim_core *core, const struct sim_page *page, struct guest_va va)
{
    const struct sim_translation *translation = &core->sim->translation;
    struct guest_pa pa;
    return translation->translate(translation->self, va, &pa) &&
           pa.v >> core->line_shift == page->line + sim_line_of(va, core->line_shift);
}

void sim_settle(struct sim *sim) { sim_flush_repeats(sim->now); }

/* The line of the last data access is forgotten too: it may be another frame's from now on. The line of the last
 * fetch is a virtual one and stays. */
static void core_forget(struct sim_core *core, struct guest_va start, uint64_t bytes)
{
    C2_PROMISE(core->repeats == 0);
    const uint64_t first = start.v >> C2_PAGE_SHIFT;
    const uint64_t pages = c2_align_up((start.v & (C2_PAGE_BYTES - 1)) + bytes, C2_PAGE_BYTES) >> C2_PAGE_SHIFT;
    for (uint64_t i = 0; i < pages && i < SIM_PAGES; i++) { /* SIM_PAGES pages in a row have an entry each */
        struct sim_page *page = &core->pages[(first + i) & (SIM_PAGES - 1)];
        if (page->vpn - first < pages)
            page->vpn = SIM_NOWHERE;
    }
    sim_leave_line(core);
    if (core->tlb)
        sim_cores_forgot(core->sim, core->number, sim_tlb_forget(core, start, bytes));
}

void sim_forget(struct sim *sim, struct guest_va start, uint64_t bytes)
{
    sim->forgotten = (sim->forgotten ^ start.v) * UINT64_C(0x9e3779b97f4a7c15) + bytes;
    if (sim->leader)
        return;
    sim_attribute_changed(sim, start, bytes);
    sim_references_forget(sim);
    for (uint32_t i = 0; i < sim->core_count; i++)
        core_forget(sim_core_at(sim, i), start, bytes);
}

enum c2_status sim_memory(struct sim *sim, bool appeared, const struct mmu_area *area, struct c2_error *err)
{
    enum c2_status status = sim_classifier_before(sim, err);
    if (status == C2_OK)
        status = sim_notify_memory(sim, appeared, area, err);
    if (sim->attributed.on)
        sim_attribute_changed(sim, area->start, area->bytes);
    return status;
}

static void ask_anew(struct sim_core *core)
{
    sim_leave_line(core);
    for (unsigned side = 0; side < CACHES_TLB_SIDES; side++)
        core->tlb_page[side] = SIM_NOWHERE;
}

/* What repeats a line, or a page to the TLBs, is counted without a look at other copies; after a change of memory
 * it is asked anew. */
enum c2_status sim_memory_mark(struct sim *sim, uint64_t header, const uint64_t *words, struct c2_error *err)
{
    C2_ASSERT(stream_header_block(header) == STREAM_MARK);
    const struct sim_translation *translation = &sim->translation;
    if (!translation->change)
        return C2_OK;
    sim_settle(sim);
    for (uint32_t i = 0; i < sim->core_count; i++)
        ask_anew(sim_core_at(sim, i));
    enum c2_status status = translation->change(translation->self, (enum stream_mark)stream_header_insns(header), words,
                                                stream_header_slots(header), err);
    sim_cores_changed(sim);
    if (C2_UNLIKELY(sim->changes))
        sim_share_change(sim, (enum stream_mark)stream_header_insns(header), words, stream_header_slots(header));
    return status;
}

const struct sim_counts *sim_counts(const struct sim *sim) { return &sim->counts; }

const struct caches *sim_caches(const struct sim *sim) { return sim->caches; }

const struct caches_tlbs *sim_tlb(const struct sim *sim) { return (sim->leader ? sim->leader : sim)->core.tlb; }

const uint64_t *sim_walk_reads(const struct sim *sim) { return sim->walk_reads; }

void sim_check(const struct sim *sim)
{
    C2_ASSERT(sim->core.repeats == 0 && sim_totals_hold(sim));
    for (uint32_t i = 0; i < sim->core_count && sim->core.tlb; i++)
        caches_tlbs_check(sim_core_at((struct sim *)sim, i)->tlb);
    caches_check(sim->caches);
}

void sim_dump(const struct sim *sim, FILE *to)
{
#define X(field, help) fprintf(to, "%-14s %20" PRIu64 "  %s\n", #field, sim->counts.field, help);
    SIM_COUNTERS(X)
#undef X
    caches_dump(sim->caches, to);
    if (sim->core.tlb)
        caches_tlbs_dump(sim->core.tlb, to);
}
