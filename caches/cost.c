/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * cost: the cycles that accesses would wait, one after the other.
 *
 * Model
 *   A table of cycles by event, made once from the latencies of the machine; the sum of costs multiplies counts
 *   by it, and there is no other price of anything.
 *   Miss        of a level: the step to the next one, which is the next level's latency less its own, at least 1;
 *               memory has MEMORY_CYCLES. Where the machine file does not give the latency of every level, LATENCIES
 *               stand in for all of them.
 *   Taken       A coherence miss of a level is a miss of it. In the last level that each core has for itself it costs
 *               the way to another core's cache where the machine gives that (sharing_penalty) and it is longer. In a
 *               shared level it costs nothing: the line comes from the core that has it and not from below, and the way
 *               there is that of the core's own last level.
 *   Upgrade     A write to a line that the core shares waits for the directory in the first shared level: the step from
 *               L1D to there, to memory where no level is shared.
 *   Second TLB  The second level is looked up whenever the first misses, and the walk begins behind it: its latency,
 *               the longest where there are several, TLB_CYCLES where the machine gives none; nothing where there is
 *               no second level.
 *   Walk        Each read of a page-table entry waits for the one before. Where reads go through the caches it has the
 *               latency of the level that it enters at, and its misses are misses. Where they are only counted it has
 *               the latency that the machine gives ([walks] latency), else that of L2, where the entries of tables lie
 *               that are read again and again; of L1D where there is no L2.
 * Not modelled
 *   Time: accesses do not overlap here, nor with instructions. What prefetchers hide, and how long a prefetched line
 *   still takes. Write-backs: while accesses wait one after the other the path down is never full, as each line that is
 *   written to memory has come in by a miss that has waited longer than the path takes to write it (docs/model.md;
 *   --bandwidth has the paths). So they limit nothing here. Hits of the first level. What of the way to another core
 *   is longer than to the shared level, where the core that asks never had the line: that is no coherence miss of its
 *   own levels.
 */
#include "caches/caches.h"

#define MEMORY_CYCLES 200u
#define TLB_CYCLES 7u
static const uint32_t LATENCIES[CACHES_MAX_LEVELS] = {4, 12, 40, 60, 80, 100};

static bool latencies_known(const struct caches_machine *machine)
{
    for (uint32_t i = 0; i < machine->level_count; i++) {
        if (machine->levels[i].latency_cycles == 0)
            return false;
    }
    return !machine->has_l1i || machine->l1i.latency_cycles != 0;
}

uint32_t caches_latency(const struct caches_machine *machine, uint32_t depth)
{
    C2_PROMISE(machine->level_count >= 1 && machine->level_count <= CACHES_MAX_LEVELS);
    if (depth >= machine->level_count)
        return MEMORY_CYCLES;
    return latencies_known(machine) ? machine->levels[depth].latency_cycles : LATENCIES[depth];
}

static uint32_t code_latency(const struct caches_machine *machine)
{
    C2_ASSERT(machine->has_l1i);
    return latencies_known(machine) ? machine->l1i.latency_cycles : LATENCIES[0];
}

static uint32_t cost_step(uint32_t own, uint32_t next) { return next > own ? next - own : 1; }

static void price_level(struct caches_costs *costs, const struct caches_machine *machine, uint32_t number, uint32_t own,
                        uint32_t depth)
{
    C2_ASSERT(number <= machine->level_count && depth < machine->level_count);
    const uint32_t miss = cost_step(own, caches_latency(machine, depth + 1)),
                   taken = cost_step(own, machine->sharing_cycles);
    const bool last_own = depth + 1 == caches_machine_private(machine);
    const bool shared = depth >= caches_machine_private(machine);
    costs->miss[number] = miss;
    costs->taken[number] = shared ? 0 : last_own && taken > miss ? taken : miss;
}

static uint32_t second_tlb_cycles(const struct caches_machine *machine)
{
    C2_ASSERT(machine->tlb_count <= CACHES_MAX_TLBS);
    uint32_t longest = 0;
    bool any = false;
    for (uint32_t i = 0; i < machine->tlb_count; i++) {
        const struct caches_tlb *tlb = &machine->tlbs[i];
        any |= tlb->place == CACHES_TLB_SECOND;
        if (tlb->place == CACHES_TLB_SECOND && tlb->latency_cycles > longest)
            longest = tlb->latency_cycles;
    }
    return any && longest == 0 ? TLB_CYCLES : longest;
}

static uint32_t walk_read_cycles(const struct caches_machine *machine)
{
    C2_ASSERT(!machine->walks_cached || machine->walks_from < machine->level_count);
    if (machine->walks_cached)
        return caches_latency(machine, machine->walks_from);
    if (machine->walk_cycles != 0)
        return machine->walk_cycles;
    return caches_latency(machine, machine->level_count > 1);
}

struct caches_costs caches_costs(const struct caches_machine *machine)
{
    struct caches_costs costs = {
        .upgrade = cost_step(caches_latency(machine, 0), caches_latency(machine, caches_machine_private(machine))),
        .second_tlb = second_tlb_cycles(machine),
        .walk_read = walk_read_cycles(machine)};
    for (uint32_t i = 0; i < machine->level_count; i++)
        price_level(&costs, machine, i, caches_latency(machine, i), i);
    if (machine->has_l1i)
        price_level(&costs, machine, machine->level_count, code_latency(machine), 0);
    return costs;
}

uint64_t caches_cost_sum(const struct caches_cost *cost)
{
    return cost->caches + cost->translations + cost->walks + cost->coherence;
}

void caches_cost_add(struct caches_cost *to, const struct caches_cost *more)
{
    to->caches += more->caches;
    to->translations += more->translations;
    to->walks += more->walks;
    to->coherence += more->coherence;
}

void caches_cost_level(struct caches_cost *to, const struct caches_costs *costs, uint32_t number,
                       const struct caches_counts *counts)
{
    C2_ASSERT(number <= CACHES_MAX_LEVELS && counts->coherence <= counts->misses);
    to->caches += (counts->misses - counts->coherence) * costs->miss[number];
    to->coherence += counts->coherence * costs->taken[number];
}
