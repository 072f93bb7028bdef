/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * cost: what a miss costs, to rank causes by.
 *
 * Model
 *   A miss of a level costs the step to the next one: the next level's latency less its own, memory taken as
 *   MEMORY_CYCLES. Where the machine file does not give the latency of every level, LATENCIES stand in for all of them.
 * Not modelled
 *   Overlap of misses, prefetching: the costs rank causes, they are no times.
 */
#include "caches/caches.h"

#define MEMORY_CYCLES 200u
static const uint32_t LATENCIES[CACHES_MAX_LEVELS] = {4, 12, 40, 60, 80, 100};

static bool latencies_known(const struct caches_machine *machine)
{
    for (uint32_t i = 0; i < machine->level_count; i++) {
        if (machine->levels[i].latency_cycles == 0)
            return false;
    }
    return !machine->has_l1i || machine->l1i.latency_cycles != 0;
}

static uint32_t step(uint32_t own, uint32_t next) { return next > own ? next - own : 1; }

uint32_t caches_miss_cycles(const struct caches_machine *machine, uint32_t level, bool l1i)
{
    const bool known = latencies_known(machine), last = level + 1 == machine->level_count;
    const uint32_t own = known ? (l1i ? &machine->l1i : &machine->levels[level])->latency_cycles : LATENCIES[level];
    if (last)
        return step(own, MEMORY_CYCLES);
    return step(own, known ? machine->levels[level + 1].latency_cycles : LATENCIES[level + 1]);
}
