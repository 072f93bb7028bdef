/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * record: what one record of the stream means, one instruction at a time - the definition of sim/'s counts.
 *
 * Model
 *   For each instruction that completed, in program order: its fetch, then its data references in slot order. One of no
 *   bytes (traces of other tools have references whose instruction is unknown) is neither fetched nor counted.
 *   Fetch: the instruction's lines from low to high; a line access of L1I for each that is not the line of the fetch
 *   before (virtual line numbers; the state goes on from block to block). Data: every line the reference touches, low
 *   to high. A modify is a read reference and then a write reference of the same bytes.
 *   REP string records: the fetch, then one reference an element and side, source first. A REP that a fault interrupts
 *   (a first touch, say) makes several records: insns run is 0 in all but the one that completes it. It is fetched with
 *   the first of them, as its fetch comes before its elements, and counted with the last; a record goes on with the
 *   REP before it when it is of the same block and has as many elements to do as that one left.
 *
 * Counting
 *   instructions = fetches; refs = reads + writes; line_accesses = refs + further lines touched; a reference of n > 1
 *   lines is one straddle (a straddling modify is two: it is two references).
 *   Instructions made for caches, and stores past them: instructed.c.
 *
 * Not modelled
 *   Fetches ahead of the program's path (wrong paths, the bytes behind a taken branch).
 */
#include "sim/sim_priv.h"

/* The thread that makes the references of a record. */
struct origin {
    struct guest_va pc;
    uint32_t tid;
};

/* With attribution: what is counted for an instruction that ran in a record of its own (whole runs are counted by the
 * block). */
static struct sim_code *record_code_of(struct sim_core *core)
{
    C2_PROMISE(core->code < core->sim->attributed.code_count);
    struct sim *sim = core->sim;
    struct sim_attributed *a = &sim->attributed;
    return a->measuring ? &a->codes[core->code] : &a->nothing;
}

static void count_instruction(struct sim_core *core)
{
    struct sim *sim = core->sim;
    sim->counts.instructions++;
    sim->counts.fetches++;
    core->begun++;
    if (sim->attributed.on)
        record_code_of(core)->executed++;
}

static void count_owned(struct sim_core *core, bool write, struct guest_va va)
{
    *(write ? &record_code_of(core)->writes : &record_code_of(core)->reads) += 1;
    sim_attribute_own(core, va, 1);
}

static enum c2_status record_fetch(struct sim_core *core, struct origin origin, uint32_t length, struct c2_error *err)
{
    C2_PROMISE(length >= 1 && core->alone);
    const struct sim *sim = core->sim;
    enum c2_status status = C2_OK;
    core->references++;
    if (!sim->has_l1i)
        return status;
    const uint64_t last = (origin.pc.v + length - 1) >> sim->line_shift;
    for (uint64_t line = origin.pc.v >> sim->line_shift; line <= last && status == C2_OK; line++) {
        if (line == core->fetch_line)
            continue;
        core->fetch_line = line;
        status = sim_access(core, SIM_FETCH, (struct guest_va){line << sim->line_shift}, err);
    }
    return status;
}

enum c2_status sim_data_lines(struct sim_core *core, bool write, struct guest_va va, uint32_t size,
                              struct c2_error *err)
{
    struct sim *sim = core->sim;
    if (C2_UNLIKELY(sim->core_count > 1))
        return sim_cores_lines(core, write, va, size, err);
    const uint64_t first = va.v >> sim->line_shift, last = (va.v + size - 1) >> sim->line_shift;
    sim->counts.straddles += last != first;
    sim->counts.line_accesses += last - first;
    enum c2_status status = sim_data_line(core, write, va, err);
    for (uint64_t line = first + 1; line <= last && status == C2_OK; line++) {
        const struct guest_va start = {line << sim->line_shift};
        status = sim_data_line(core, write, start, err);
        if (core->tlb_on[CACHES_DATA] && start.v % C2_PAGE_BYTES != 0) /* one access of the TLB a page, not a line */
            --*core->tlb_accesses[write & core->tlb_split];
    }
    return status;
}

/* All of a reference but its lines. */
static void count_reference(struct sim_core *core, bool write, struct guest_va va, uint32_t size)
{
    struct sim *sim = core->sim;
    C2_ASSERT(size >= 1 && size <= SIM_MAX_REFERENCE_BYTES);
    core->references++;
    sim->counts.refs++;
    sim->counts.line_accesses++;
    if (write)
        sim->counts.writes++;
    else
        sim->counts.reads++;
    if (sim->attributed.on)
        count_owned(core, write, va);
}

static enum c2_status record_refer(struct sim_core *core, bool write, struct guest_va va, uint32_t size,
                                   struct c2_error *err)
{
    count_reference(core, write, va, size);
    return sim_data_lines(core, write, va, size, err);
}

static enum c2_status record_name_line(struct sim_core *core, const struct stream_slot *slot, struct origin origin,
                                       struct guest_va va, struct c2_error *err)
{
    const struct sim_reference named = {
        .kind = SIM_READ, .tid = origin.tid, .size = slot->size, .code = core->code, .pc = origin.pc, .va = va};
    return sim_instructed_cache(core, slot, &named, err);
}

static enum c2_status plain_slot(struct sim_core *core, const struct stream_slot *slot, struct origin origin,
                                 struct guest_va va, struct c2_error *err)
{
    struct sim *sim = core->sim;
    if (C2_UNLIKELY(slot->kind == STREAM_CACHE))
        return record_name_line(core, slot, origin, va, err);
    C2_ASSERT(slot->kind == STREAM_READ || slot->kind == STREAM_WRITE || slot->kind == STREAM_MODIFY);
    count_reference(core, slot->kind == STREAM_WRITE, va, slot->size);
    enum c2_status status = C2_UNLIKELY(stream_is_special(slot))
                                ? sim_instructed_store(core, va, slot->size, err)
                                : sim_data_lines(core, slot->kind == STREAM_WRITE, va, slot->size, err);
    if (slot->kind != STREAM_MODIFY || status != C2_OK)
        return status;
    sim->counts.modifies++;
    return record_refer(core, true, va, slot->size, err);
}

static enum c2_status string_elements(struct sim_core *core, const struct stream_slot *slots, const uint64_t *words,
                                      struct c2_error *err)
{
    const uint64_t elements = stream_string_elements(words);
    C2_ASSERT(stream_string_before(words) >= elements);
    enum c2_status status = C2_OK;
    for (uint64_t i = 0; i < elements && status == C2_OK && !core->sim->is_absent; i++) {
        for (unsigned side = 0; side < 2 && status == C2_OK; side++) {
            if (slots[side].size == 0)
                continue;
            const struct guest_va va = {stream_string_address(words, side, i, slots[side].size)};
            status = record_refer(core, side == 1 && slots[side].how, va, slots[side].size, err);
        }
    }
    return status;
}

static enum c2_status record_string_record(struct sim_core *core, const struct stream_block *block,
                                           struct origin origin, uint64_t header, const uint64_t *words,
                                           struct c2_error *err)
{
    const struct stream_slot *slots = block->slots;
    C2_ASSERT(block->insn_count == 1 && block->slot_count == 4 && stream_header_slots(header) == 4);
    C2_ASSERT(slots[1].kind == STREAM_DESTINATION && slots[2].kind == STREAM_DONE && slots[3].kind == STREAM_REMAINING);
    const uint32_t number = stream_header_block(header);
    const bool goes_on = core->rep_block == number && core->rep_left == stream_string_before(words);
    const bool completes = stream_header_insns(header) == 1;
    core->rep_block = completes ? SIM_NO_BLOCK : number;
    core->rep_left = stream_string_remaining(words);
    if (completes)
        count_instruction(core);
    enum c2_status status = sim_records_string(core->sim, goes_on, err);
    if (status == C2_OK && !goes_on)
        status = record_fetch(core, origin, block->insns[0].length, err);
    if (status == C2_OK)
        status = string_elements(core, slots, words, err);
    return status == C2_OK && core->sim->counts.instructions == core->sim->cut_at ? sim_intervals_end(core->sim, 0, err)
                                                                                  : status;
}

/* The first instruction's code number; the record's plan is built. */
static uint32_t first_code(const struct sim *sim, uint64_t header)
{
    C2_ASSERT(stream_header_block(header) < sim->plan_capacity && sim->plans[stream_header_block(header)].built);
    return sim->attributed.on ? sim->plans[stream_header_block(header)].first.code : 0;
}

static enum c2_status record_record(struct sim_core *core, uint32_t tid, uint64_t header, const uint64_t *words,
                                    struct c2_error *err)
{
    struct sim *sim = core->sim;
    const struct stream_block *block = stream_blocks_at(sim->blocks, stream_header_block(header));
    core->code = first_code(sim, header);
    const uint32_t insns_run = stream_header_insns(header);
    if (stream_is_string(block))
        return record_string_record(core, block, (struct origin){block->pc, tid}, header, words, err);

    C2_ASSERT(insns_run <= block->insn_count);
    C2_ASSERT(stream_header_slots(header) ==
              (insns_run == block->insn_count ? block->slot_count : block->insns[insns_run].first_slot));
    uint32_t slot = 0;
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < insns_run && status == C2_OK; i++, core->code++) {
        const struct origin origin = {{block->pc.v + block->insns[i].offset}, tid};
        const uint32_t slot_end = i + 1 == block->insn_count ? block->slot_count : block->insns[i + 1].first_slot;
        if (block->insns[i].length != 0) {
            count_instruction(core);
            status = record_fetch(core, origin, block->insns[i].length, err);
        }
        for (; slot < slot_end && status == C2_OK; slot++)
            status = plain_slot(core, &block->slots[slot], origin, (struct guest_va){words[slot]}, err);
        if (status == C2_OK && sim->counts.instructions == sim->cut_at)
            status = sim_intervals_end(sim, insns_run - i - 1, err);
    }
    return status;
}

enum c2_status sim_record(struct sim_core *core, uint32_t tid, uint64_t header, const uint64_t *words,
                          struct c2_error *err)
{
    C2_ASSERT(!core->alone);
    core->alone = true;
    core->references = 0;
    enum c2_status status = record_record(core, tid, header, words, err);
    core->alone = false;
    return status;
}
