/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * plan: what the hot loop knows of a block, worked out when the block's number is first seen.
 *
 * Model
 *   A plan says what one run of the whole block does: the fetch lines it enters in order (consecutive ones, as the
 *   instructions of a block lie one behind the other), the slots that come before each next one, and what it adds to
 *   the counters. It is used when the header's insns run and slots used are those of the whole block.
 *   Blocks without plan (whole == SIM_NO_RUN): those with a REP instruction, or one made for caches, any whose
 *   instructions are not contiguous, and such as may hit caches so often that an event log has no room for it; and all
 *   where no access may be taken for a repeat of the one before, as a plan does. sim_record does them.
 *
 * Invariants
 *   A plan says exactly what sim_record does for the same record (tests: both ways, same counts).
 *   A plan that is not built has no run: the block was not looked at yet.
 */
#include "sim/sim_priv.h"

/* Makes plans[number] exist, all new ones not built. The table doubles: block numbers count up from 0. */
static enum c2_status plan_reach(struct sim *sim, uint32_t number, struct c2_error *err)
{
    if (number < sim->plan_capacity)
        return C2_OK;
    uint64_t capacity = sim->plan_capacity == 0 ? C2_HOST_SIZE(4096, 1) : sim->plan_capacity;
    while (capacity <= number)
        capacity *= 2;
    uint32_t *pending = c2_realloc(sim->pending, capacity * sizeof *pending);
    if (pending)
        sim->pending = pending;
    struct sim_plan *plans = pending ? c2_realloc(sim->plans, capacity * sizeof *plans) : NULL;
    if (!plans)
        return c2_fail_memory(err, "the simulator's table of blocks");
    for (uint64_t i = sim->plan_capacity; i < capacity; i++)
        plans[i] = (struct sim_plan){.whole = SIM_NO_RUN, .pending = SIM_NONE_PENDING};
    sim->plans = plans;
    sim->plan_capacity = (uint32_t)capacity;
    return C2_OK;
}

static bool plannable(const struct sim *sim, const struct stream_block *block)
{
    C2_ASSERT(block->insn_count >= 1);
    const bool repeats = !sim->notifies_accesses && !sim->prefetches && !sim->writes_on && sim->core_count == 1;
    if (!repeats || stream_is_string(block) || sim_block_is_special(block))
        return false;
    for (uint32_t i = 0; i < block->insn_count; i++) {
        if (block->insns[i].length == 0)
            return false;
    }
    for (uint32_t i = 0; i + 1 < block->insn_count; i++) {
        if (block->insns[i + 1].offset != block->insns[i].offset + block->insns[i].length)
            return false;
    }
    return true;
}

static uint64_t first_line(const struct sim *sim, const struct stream_block *block)
{
    return (block->pc.v + block->insns[0].offset) >> sim->line_shift;
}

static uint64_t last_line(const struct sim *sim, const struct stream_block *block)
{
    C2_PROMISE(block->insn_count >= 1);
    const struct stream_insn *last = &block->insns[block->insn_count - 1];
    return (block->pc.v + last->offset + last->length - 1) >> sim->line_shift;
}

/* Of code that are fetched. */
static uint64_t plan_lines_of(const struct sim *sim, const struct stream_block *block)
{
    return sim->has_l1i ? last_line(sim, block) - first_line(sim, block) + 1 : 1;
}

/* A fetch run ends before the first slot of the instruction whose fetch enters the next line. */
static void lay_fetch_runs(const struct sim *sim, const struct stream_block *block, uint32_t first_code,
                           const struct sim_slot *slots, struct sim_fetch_run *fetch_run)
{
    uint32_t done = 0;
    *fetch_run = (struct sim_fetch_run){sim->has_l1i ? first_line(sim, block) : 0, slots, NULL, 0, first_code};
    for (uint32_t i = 0; i < block->insn_count && sim->has_l1i; i++) {
        const uint64_t end = block->pc.v + block->insns[i].offset + block->insns[i].length - 1;
        while (fetch_run->line < end >> sim->line_shift) {
            const uint32_t first_slot = block->insns[i].first_slot;
            C2_PROMISE(first_slot >= done);
            fetch_run->slot_count = first_slot - done;
            fetch_run->next = fetch_run + 1;
            done = first_slot;
            fetch_run[1] = (struct sim_fetch_run){fetch_run->line + 1, slots + done, NULL, 0, first_code + i};
            fetch_run++;
        }
    }
    fetch_run->slot_count = block->slot_count - done;
}

static void lay_slots(const struct sim *sim, const struct stream_block *block, struct sim_plan *plan,
                      struct sim_slot *slots)
{
    uint16_t reads = 0, writes = 0, modifies = 0; /* no more than slots */
    for (uint32_t i = 0; i < block->slot_count; i++) {
        const struct stream_slot *from = &block->slots[i];
        C2_ASSERT(from->kind <= STREAM_MODIFY && from->size >= 1 && from->size <= SIM_MAX_REFERENCE_BYTES);
        const bool is_read = from->kind != STREAM_WRITE, is_write = from->kind != STREAM_READ;
        slots[i] = (struct sim_slot){
            .repeated = (is_read ? SIM_REPEAT_READ : 0) + (is_write ? SIM_REPEAT_WRITE : 0),
            .following = is_read && is_write ? SIM_REPEAT_WRITE : 0,
            .code = plan->first.code + from->insn,
            .limit = from->size <= sim->line_bytes ? sim->line_bytes - from->size + 1 : 0,
            .size = from->size,
            .write = !is_read,
        };
        reads = (uint16_t)(reads + is_read);
        writes = (uint16_t)(writes + is_write);
        modifies = (uint16_t)(modifies + (is_read && is_write));
    }
    plan->insns = block->insn_count;
    plan->modifies = modifies;
    plan->reads = reads;
    plan->writes = writes;
}

enum c2_status sim_plan_build(struct sim *sim, uint32_t number, struct c2_error *err)
{
    C2_ASSERT(number != STREAM_MARK);
    enum c2_status status = plan_reach(sim, number, err);
    if (status != C2_OK || sim->plans[number].built)
        return status;
    const struct stream_block *block = stream_blocks_at(sim->blocks, number);
    struct sim_plan plan = {
        .whole = SIM_NO_RUN, .pending = SIM_NONE_PENDING, .built = true, .special = sim_block_is_special(block)};
    if (sim->attributed.on) {
        status = sim_attribute_block(sim, block, &plan.first.code, err);
        if (status != C2_OK)
            return status;
    }
    const uint64_t lines = plan_lines_of(sim, block);
    if (plannable(sim, block) && lines <= SIM_PLAN_LINES && lines + block->slot_count <= SIM_PLAN_MOST) {
        struct sim_slot *slots = c2_alloc(block->slot_count * sizeof *slots + lines * sizeof(struct sim_fetch_run));
        if (!slots)
            return c2_fail_memory(err, "the simulator's plan of a block");
        struct sim_fetch_run *fetch_runs = (struct sim_fetch_run *)(slots + block->slot_count);
        lay_slots(sim, block, &plan, slots);
        lay_fetch_runs(sim, block, plan.first.code, slots, fetch_runs);
        plan.first = fetch_runs[0];
        plan.whole = (uint32_t)stream_header(0, block->insn_count, block->slot_count);
        C2_ASSERT(plan.whole != SIM_NO_RUN);
    }
    sim->plans[number] = plan;
    return C2_OK;
}

void sim_plan_free(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->plan_capacity; i++)
        c2_free((void *)sim->plans[i].first.slots); /* the fetch runs lie behind the slots */
    c2_free(sim->plans);
    c2_free(sim->pending);
}
