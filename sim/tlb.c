/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * tlb: which simulated TLB is asked when, and where the reads of walks go.
 *
 * Model
 *   Data     One access for each page that a reference touches, before its first line access there. A modify is a read
 *            and a write.
 *   Fetches  One access for each line access of L1I, so none while the program stays within a line.
 *   Walks    With walks = cached each entry that a walk reads is a read of its simulated physical address, before the
 *            line access that needed the translation. It enters at the level the machine says, is counted there and
 *            below like any read, with class and all, and is no reference and no line access of the program.
 *   Changes  What sim_forget() is notified of is an INVLPG of each page.
 *
 * Counting
 *   The TLBs' accesses and misses and the number of walks and their reads are caches/tlb.c's; here the reads of cached
 *   walks by the level that served them.
 *
 * Cost
 *   Where a page was found is remembered with the page (struct sim_page): an access to a page of 4K that is still there
 *   changes its set's order and a count, some 12 instructions and no call. One that only the second level has is there
 *   again after 60 (caches_tlbs_refill). Larger pages, and those of TLBs that are no small trees, are a call; of such
 *   the page of a side's last access is its TLB's most recent entry: to access it again is one compare and one addition
 *   to that TLB's accesses. Repeats of a line are not even the compare. Without TLBs each page is its own entry.
 */
#include "sim/sim_priv.h"

#define ENTRY_BYTES 8u /* of a page table */

enum c2_status sim_tlb_create(struct sim_core *core, const struct caches_machine *machine, struct c2_error *err)
{
    C2_ASSERT(!core->tlb && machine->tlb_count <= CACHES_MAX_TLBS);
    struct sim *sim = core->sim;
    for (unsigned i = 0; i < CACHES_TLB_SIDES; i++) {
        core->tlb_page[i] = SIM_NOWHERE;
        core->tlb_accesses[i] = &core->tlb_nowhere;
        core->tlb_tag[i] = caches_tlbs_tag(NULL, (enum caches_tlb_side)i);
    }
    core->tlb_refill = caches_tlbs_refill_of(NULL, CACHES_TLB_LOAD);
    if (machine->tlb_count == 0)
        return C2_OK;
    if (machine->walks_cached && !sim->translation.walk)
        return c2_fail(err, C2_ERR_UNSUPPORTED, "machine %s: these translations have no page tables to walk",
                       machine->name);
    enum c2_status status = caches_tlbs_create(&core->tlb, machine->tlbs, machine->tlb_count, err);
    if (status != C2_OK)
        return status;
    sim->walks_cached = machine->walks_cached;
    core->tlb_on[CACHES_DATA] = caches_tlbs_has(core->tlb, CACHES_TLB_LOAD) ||
                                caches_tlbs_has(core->tlb, CACHES_TLB_STORE);
    core->tlb_on[CACHES_FETCH] = caches_tlbs_has(core->tlb, CACHES_TLB_FETCH);
    core->tlb_split = caches_tlbs_split(core->tlb);
    core->tlb_refill = caches_tlbs_refill_of(core->tlb, CACHES_TLB_LOAD);
    for (unsigned i = 0; i < CACHES_TLB_SIDES; i++)
        core->tlb_tag[i] = caches_tlbs_tag(core->tlb, (enum caches_tlb_side)i);
    return C2_OK;
}

static enum c2_status read_deferred(struct sim_core *core, struct guest_va va, struct line_no entry,
                                    uint32_t *served_by, struct c2_error *err)
{
    C2_PROMISE(core->sim->classifier.event_log);
    struct sim *sim = core->sim;
    if (C2_UNLIKELY(sim->hears_instructions))
        sim_attribute_try(core, SIM_WALK, va);
    const enum caches_tried tried = caches_try_walk(sim->caches, entry, served_by);
    if (tried == CACHES_UNTRIED)
        return c2_fail_memory(err, "the table of lines accessed");
    if (tried != CACHES_MISSED && C2_UNLIKELY(sim->notifies_walks))
        return sim_attribute_found(core, va, entry, err);
    if (tried == CACHES_FULL)
        return sim_classifier_pass(sim, err);
    if (tried == CACHES_TRIED)
        return C2_OK;
    return sim_classifier_missed(core, SIM_WALK, va, err);
}

static enum c2_status tlb_read_entry(struct sim_core *core, struct guest_va va, struct line_no entry,
                                     uint32_t *served_by, struct c2_error *err)
{
    C2_PROMISE(core->sim->walks_cached && core->walk_entry < C2_PAGE_BYTES / ENTRY_BYTES);
    const struct sim *sim = core->sim;
    if (sim->core_count > 1)
        sim_cores_origin(core, true);
    if (sim->classifier.event_log)
        return read_deferred(core, va, entry, served_by, err);
    return sim->attributed.on ? sim_attribute_walk(core, va, entry, served_by, err)
                              : caches_walk(sim->caches, entry, served_by, NULL, err);
}

/* The last `reads` entries on the way to va's page. */
static enum c2_status read_entries(struct sim_core *core, struct guest_va va, unsigned reads, struct c2_error *err)
{
    C2_PROMISE(core->sim->translation.walk && reads >= 1 && reads <= MMU_WALK_ENTRIES);
    struct sim *sim = core->sim;
    struct mmu_walk walk;
    const bool present = sim->translation.walk(sim->translation.self, va, &walk);
    struct guest_pa ignored;
    if (!present || reads > walk.entry_count) {
        sim_note_absent(sim, va, &ignored);
        return C2_OK;
    }
    enum c2_status status = C2_OK;
    for (unsigned i = walk.entry_count - reads; i < walk.entry_count && status == C2_OK; i++) {
        uint32_t served_by;
        const struct line_no entry = {walk.entry[i].v >> sim->line_shift};
        core->walk_entry = (uint32_t)(walk.entry[i].v & (sim->line_bytes - 1)) / ENTRY_BYTES;
        status = tlb_read_entry(core, va, entry, &served_by, err);
        C2_PROMISE(status != C2_OK || served_by <= CACHES_MAX_LEVELS);
        if (status == C2_OK)
            sim->walk_reads[served_by]++;
    }
    return status;
}

/* A core without TLBs: the page is its own entry. */
void sim_tlb_free(struct sim_core *core, struct sim_page *page)
{
    C2_PROMISE(!core->tlb);
    page->found = (struct caches_tlb_found){
        .at = &page->vpn, .order = &core->tlb_order, .accesses = &core->tlb_nowhere, .keep = UINT8_MAX};
}

enum c2_status sim_tlb_enter(struct sim_core *core, unsigned tlb_side, struct sim_page *page, struct guest_va va,
                             struct c2_error *err)
{
    C2_PROMISE(core->tlb && page->vpn == va.v >> C2_PAGE_SHIFT && tlb_side < CACHES_TLB_SIDES);
    const enum caches_tlb_side side = (enum caches_tlb_side)tlb_side;
    const uint64_t *misses = caches_tlbs_first_misses(core->tlb), before = *misses;
    const bool refilled = caches_tlbs_refill(caches_tlbs_refill_of(core->tlb, side), va, &page->found);
    const unsigned reads = refilled ? 0 : caches_tlbs_access(core->tlb, side, va, page->entry_count, &page->found);
    *page->found.accesses += refilled;
    sim_tlb_remember(core, tlb_side, page, va);
    if (*misses != before) {
        enum c2_status status = sim_untranslated(core, tlb_side, va, reads, err);
        if (status != C2_OK)
            return status;
    }
    return reads != 0 && core->sim->walks_cached ? read_entries(core, va, reads, err) : C2_OK;
}

uint32_t sim_tlb_forget(struct sim_core *core, struct guest_va start, uint64_t bytes)
{
    C2_ASSERT(core->tlb);
    for (unsigned side = 0; side < CACHES_TLB_SIDES; side++)
        core->tlb_page[side] = SIM_NOWHERE;
    return caches_tlbs_forget(core->tlb, start, bytes);
}
