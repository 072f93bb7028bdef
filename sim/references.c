/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * references: those of records, put together for their listeners.
 *
 * Model
 *   What a record refers to, in which order, is said in record.c: of each instruction its fetch, then its slots. Here
 *   it is read from the record again when it is notified (records.c), many records at a time; so the loops that
 *   simulate do not depend on whether there are listeners. Of a record that is being simulated the references are
 *   notified up to the one whose access it is. Memory does not change between two marks, so a page lies where it did.
 *   Of a string record the words do not say whether it is fetched; record.c does, before it is simulated
 *   (sim_records_string), and all before it is notified then.
 *
 * Invariants
 *   The references told are those that sim_record counts, and as many.
 */
#include "sim/sim_priv.h"

enum c2_status sim_references_create(struct sim *sim, struct c2_error *err)
{
    C2_ASSERT(!sim->references);
    sim->references = c2_calloc(1, sizeof *sim->references);
    if (!sim->references)
        return c2_fail_memory(err, "the references that are told");
    sim_references_forget(sim);
    return C2_OK;
}

void sim_references_forget(struct sim *sim)
{
    for (size_t i = 0; sim->references && i < SIM_NOTIFIED_PAGES; i++)
        sim->references->pages[i].vpn = SIM_NOWHERE;
}

/* ------------------------------------------------------------------ one reference */

/* To which listeners, of which record, and which of its references. */
struct notified_of {
    struct sim *sim;
    bool hears;
    const struct stream_block *block;
    const uint64_t *words;
    uint32_t code;       /* of its first instruction; 0: not kept */
    uint64_t next;       /* the number of the next one, in the record; */
    uint64_t from, stop; /* those from here on are notified, those before here */
};

static struct guest_pa references_translate(struct sim *sim, struct guest_va va)
{
    struct sim_notified_page *page = &sim->references->pages[va.v >> C2_PAGE_SHIFT & (SIM_NOTIFIED_PAGES - 1)];
    if (!SHORTCUT(page->vpn == va.v >> C2_PAGE_SHIFT)) {
        struct guest_pa pa;
        if (!sim->translation.translate(sim->translation.self, va, &pa))
            sim_note_absent(sim, va, &pa);
        *page = (struct sim_notified_page){va.v >> C2_PAGE_SHIFT, c2_align_down(pa.v, C2_PAGE_BYTES)};
    }
    return (struct guest_pa){page->start + (va.v & (C2_PAGE_BYTES - 1))};
}

static enum c2_status references_flush(struct sim *sim, bool hears, struct c2_error *err)
{
    C2_PROMISE(sim->references->count <= SIM_NOTIFIED_REFERENCES);
    const size_t count = sim->references->count;
    sim->references->count = 0;
    return count != 0 ? sim_notify_references(sim, hears, sim->references->list, count, err) : C2_OK;
}

/* Splits at the page boundary (at most one: SIM_MAX_REFERENCE_BYTES), translates. */
static void references_put(struct sim *sim, const struct sim_reference *named)
{
    C2_PROMISE(sim->references->count < SIM_NOTIFIED_REFERENCES && named->size >= 1 &&
               named->size <= SIM_MAX_REFERENCE_BYTES);
    struct sim_reference *reference = &sim->references->list[sim->references->count++];
    const uint64_t here = c2_align_down(named->va.v, C2_PAGE_BYTES) + C2_PAGE_BYTES - named->va.v; /* to the boundary */
    *reference = *named;
    reference->parts = named->size > here ? 2 : 1;
    reference->part[0].size = named->size > here ? (uint32_t)here : named->size;
    reference->part[0].va = named->va;
    reference->part[0].pa = references_translate(sim, named->va);
    if (reference->parts == 1)
        return;
    reference->part[1].size = named->size - (uint32_t)here;
    reference->part[1].va = (struct guest_va){named->va.v + here};
    reference->part[1].pa = references_translate(sim, reference->part[1].va);
}

/* The next one of the record. insn: of the block. */
static enum c2_status references_refer(struct notified_of *notified_of, uint32_t insn, enum sim_kind kind, bool past,
                                       struct guest_va va, uint32_t size, struct c2_error *err)
{
    C2_PROMISE(insn < notified_of->block->insn_count);
    struct sim *sim = notified_of->sim;
    const uint64_t number = notified_of->next++;
    if (number < notified_of->from || number >= notified_of->stop)
        return C2_OK;
    const struct sim_reference named = {.kind = kind,
                                        .tid = sim->pending_records.tid,
                                        .size = size,
                                        .code = sim->attributed.on ? notified_of->code + insn : 0,
                                        .pc = {notified_of->block->pc.v + notified_of->block->insns[insn].offset},
                                        .va = va,
                                        .past = past};
    references_put(sim, &named);
    return sim->references->count == SIM_NOTIFIED_REFERENCES ? references_flush(sim, notified_of->hears, err) : C2_OK;
}

/* ------------------------------------------------------------------ one record */

static uint32_t references_of(const struct stream_slot *slot)
{
    return slot->kind == STREAM_CACHE ? 0 : slot->kind == STREAM_MODIFY ? 2 : 1;
}

static enum c2_status refer_slot(struct notified_of *notified_of, uint32_t i, struct c2_error *err)
{
    C2_PROMISE(i < notified_of->block->slot_count);
    const struct stream_slot *slot = &notified_of->block->slots[i];
    const struct guest_va va = {notified_of->words[i]};
    const enum sim_kind kind = slot->kind == STREAM_WRITE ? SIM_WRITE : SIM_READ;
    enum c2_status status = C2_OK;
    if (slot->kind != STREAM_CACHE)
        status = references_refer(notified_of, slot->insn, kind, stream_is_special(slot), va, slot->size, err);
    return status == C2_OK && slot->kind == STREAM_MODIFY
               ? references_refer(notified_of, slot->insn, SIM_WRITE, false, va, slot->size, err)
               : status;
}

static enum c2_status refer_plain(struct notified_of *notified_of, uint32_t insns_run, struct c2_error *err)
{
    C2_PROMISE(insns_run <= notified_of->block->insn_count);
    const struct stream_block *block = notified_of->block;
    enum c2_status status = C2_OK;
    uint32_t slot = 0;
    for (uint32_t i = 0; i < insns_run && notified_of->next < notified_of->stop && status == C2_OK; i++) {
        const struct stream_insn *insn = &block->insns[i];
        const uint32_t end = i + 1 == block->insn_count ? block->slot_count : insn[1].first_slot;
        if (insn->length != 0)
            status = references_refer(notified_of, i, SIM_FETCH, false, (struct guest_va){block->pc.v + insn->offset},
                                      insn->length, err);
        for (; slot < end && status == C2_OK; slot++)
            status = refer_slot(notified_of, slot, err);
    }
    return status;
}

/* Elements may be very many: those that are notified already are stepped over. */
static enum c2_status refer_string(struct notified_of *notified_of, bool goes_on, struct c2_error *err)
{
    C2_PROMISE(notified_of->block->slot_count == 4);
    const struct stream_block *block = notified_of->block;
    const struct stream_slot *slots = block->slots;
    const unsigned first = slots[0].size == 0, sides = !first + (slots[1].size != 0);
    C2_PROMISE(sides == 1 || sides == 2);
    const uint64_t count = stream_string_elements(notified_of->words) * sides;
    enum c2_status status = C2_OK;
    if (!goes_on)
        status = references_refer(notified_of, 0, SIM_FETCH, false, block->pc, block->insns[0].length, err);
    const uint64_t fetches = notified_of->next,
                   notified = notified_of->from > fetches ? notified_of->from - fetches : 0;
    for (uint64_t i = notified; i < count && notified_of->next < notified_of->stop && status == C2_OK; i++) {
        const unsigned side = sides == 2 ? i & 1 : first;
        const struct guest_va va = {stream_string_address(notified_of->words, side, i / sides, slots[side].size)};
        notified_of->next = fetches + i;
        status = references_refer(notified_of, 0, side == 1 && slots[side].how ? SIM_WRITE : SIM_READ, false, va,
                                  slots[side].size, err);
    }
    return status;
}

static enum c2_status refer_record(struct notified_of *notified_of, const uint64_t *record, struct c2_error *err)
{
    C2_PROMISE(stream_header_block(*record) < notified_of->sim->plan_capacity);
    const struct sim *sim = notified_of->sim;
    const uint32_t number = stream_header_block(*record);
    notified_of->block = stream_blocks_at(sim->blocks, number);
    notified_of->words = record + 1;
    notified_of->code = sim->plans[number].first.code;
    notified_of->next = 0;
    return stream_is_string(notified_of->block) ? refer_string(notified_of, sim->pending_records.goes_on == record, err)
                                                : refer_plain(notified_of, stream_header_insns(*record), err);
}

/* ------------------------------------------------------------------ many */

enum c2_status sim_references_until(struct sim *sim, bool hears, const uint64_t *end, uint64_t most,
                                    struct c2_error *err)
{
    C2_PROMISE(sim->references && sim->pending_records.notified[hears].of <= end);
    struct sim_notified *notified = &sim->pending_records.notified[hears];
    const bool wanted = sim_wants_references(sim, hears);
    struct notified_of notified_of = {.sim = sim, .hears = hears};
    enum c2_status status = C2_OK;
    while (notified->of != end && status == C2_OK) {
        const uint64_t *behind = sim_record_behind(notified->of);
        notified_of.from = notified->references;
        notified_of.stop = behind == end ? most : SIM_ALL_REFERENCES;
        if (wanted && notified_of.from < notified_of.stop)
            status = refer_record(&notified_of, notified->of, err);
        if (notified_of.stop != SIM_ALL_REFERENCES) {
            notified->references = notified_of.stop > notified_of.from ? notified_of.stop : notified_of.from;
            break;
        }
        notified->of = behind;
        notified->references = 0;
    }
    return status == C2_OK ? references_flush(sim, hears, err) : status;
}

/* In a whole run of a plan: it stands at a fetch, or in a slot. */
static uint64_t begun_in_plan(const struct sim_core *core, const struct sim_plan *plan,
                              const struct stream_block *block)
{
    C2_PROMISE(plan->built &&
               (core->slot ? core->slot >= plan->first.slots && core->slot - plan->first.slots < block->slot_count
                           : core->code - plan->first.code < block->insn_count));
    const uint32_t insn = core->slot ? block->slots[core->slot - plan->first.slots].insn
                                     : core->code - plan->first.code;
    const uint32_t slots = core->slot ? (uint32_t)(core->slot - plan->first.slots) : block->insns[insn].first_slot;
    uint64_t begun = insn + 1;
    for (uint32_t i = 0; i < slots; i++)
        begun += references_of(&block->slots[i]);
    return begun + !!core->slot + core->second;
}

uint64_t sim_references_begun(const struct sim *sim)
{
    C2_PROMISE(sim->pending_records.at && stream_header_block(*sim->pending_records.at) < sim->plan_capacity);
    const struct sim_core *core = sim->now;
    const uint32_t number = stream_header_block(*sim->pending_records.at);
    return core->alone ? core->references
                       : begun_in_plan(core, &sim->plans[number], stream_blocks_at(sim->blocks, number));
}
