/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * events: what profiles for other tools count, and what each instruction has cost.
 *
 * Model
 *   Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw are Callgrind's, where "1" is L1I or L1D and "L" the last level. Behind them
 *   stand what the first level of the TLBs missed for data and for fetches, the page walks and their reads; then cold,
 *   capacity and conflict misses of each level in the order of the reports: L1D, L1I, L2 ... Of several cores each is a
 *   sum over them, and coherence misses, of lines that another core's write had taken, are a fourth class of a level;
 *   before the classes stand the upgrades.
 *
 * Counting
 *   Misses are counts of line accesses. A modify is one Dr and one Dw. Reads of page walks that go through the caches
 *   are read misses (D1mr, DLmr) of the instruction that needed them. So the sums over all instructions are the
 *   numbers of the report: Dr = reads, Dw = writes, D1mr + D1mw = misses of L1D, ILmr + DLmr = read misses of the
 *   last level, DLmw = its write misses.
 *
 * Costs
 *   Those of the reports (caches/cost.c), and each wait is paid once: every miss has one class, and the classes' events
 *   have the cycles of a miss of their level; so have misses of the TLBs, reads of walks, upgrades, and no other event.
 *
 * Names
 *   The format wants a letter and then letters and digits: conflictL1D, not conflict.L1D.
 */
#include <ctype.h>
#include <string.h>

#include "analyses/analyses.h"

static uint8_t events_add(struct analyses_events *events, const char *name, const char *help)
{
    C2_ASSERT(events->count < ANALYSES_EVENTS);
    struct analyses_event *event = &events->list[events->count];
    snprintf(event->name, sizeof event->name, "%s", name);
    snprintf(event->help, sizeof event->help, "%s", help);
    return (uint8_t)events->count++;
}

static void events_add_level(struct analyses_events *events, const struct caches_level *level, uint32_t number,
                             const struct caches_costs *costs, bool coherent)
{
    static const char *const classes[] = {"cold", "capacity", "conflict", "coherence"};
    for (unsigned i = 0; i < (coherent ? ANALYSES_CLASSES + 1u : ANALYSES_CLASSES); i++) {
        char name[32], help[80];
        size_t length = (size_t)snprintf(name, sizeof name, "%s", classes[i]);
        for (const char *c = level->name; *c != '\0' && length + 1 < sizeof name; c++)
            if (isalnum((unsigned char)*c))
                name[length++] = *c;
        name[length] = '\0';
        snprintf(help, sizeof help, "%.15s %s miss", level->name, classes[i]);
        events->by_class[number][i] = events_add(events, name, help);
        events->list[events->by_class[number][i]].cycles = i == ANALYSES_CLASSES ? costs->taken[number]
                                                                                 : costs->miss[number];
    }
}

/* The sums of Callgrind: of the first levels, then of the last one. */
static void events_add_misses(struct analyses_events *events, const struct caches_machine *machine)
{
    const uint32_t last = machine->level_count - 1;
    if (machine->has_l1i)
        events->by_kind[machine->level_count][SIM_FETCH] = events_add(events, "I1mr", "L1 Instr. Fetch Miss");
    events->by_kind[0][SIM_READ] = events_add(events, "D1mr", "L1 Data Read Miss");
    events->by_kind[0][SIM_WRITE] = events_add(events, "D1mw", "L1 Data Write Miss");
    if (last == 0)
        return;
    if (machine->has_l1i)
        events->by_kind[last][SIM_FETCH] = events_add(events, "ILmr", "LL Instr. Fetch Miss");
    events->by_kind[last][SIM_READ] = events_add(events, "DLmr", "LL Data Read Miss");
    events->by_kind[last][SIM_WRITE] = events_add(events, "DLmw", "LL Data Write Miss");
}

static bool events_has_tlb(const struct caches_machine *machine, unsigned sides)
{
    for (uint32_t i = 0; i < machine->tlb_count; i++) {
        if (machine->tlbs[i].place == CACHES_TLB_FIRST && (machine->tlbs[i].sides & sides) != 0)
            return true;
    }
    return false;
}

static uint8_t add_priced(struct analyses_events *events, const char *name, const char *help, uint32_t cycles)
{
    const uint8_t event = events_add(events, name, help);
    events->list[event].cycles = cycles;
    return event;
}

static void events_add_tlbs(struct analyses_events *events, const struct caches_machine *machine,
                            const struct caches_costs *costs)
{
    if (events_has_tlb(machine, CACHES_TLB_DATA))
        events->by_tlb[CACHES_DATA] = add_priced(events, "missDTLB", "Data TLB Miss", costs->second_tlb);
    if (events_has_tlb(machine, CACHES_TLB_FETCHES))
        events->by_tlb[CACHES_FETCH] = add_priced(events, "missITLB", "Instr. TLB Miss", costs->second_tlb);
    if (machine->tlb_count == 0)
        return;
    events->walks = events_add(events, "pageWalks", "Page Walk");
    events->walk_reads = add_priced(events, "walkReads", "Page Walk Read", costs->walk_read);
}

void analyses_events_init(struct analyses_events *out, const struct caches_machine *machine)
{
    const bool coherent = caches_machine_cores(machine) > 1;
    const struct caches_costs costs = caches_costs(machine);
    *out = (struct analyses_events){.count = 0};
    memset(out->by_kind, ANALYSES_NO_EVENT, sizeof out->by_kind);
    memset(out->by_class, ANALYSES_NO_EVENT, sizeof out->by_class);
    out->by_tlb[CACHES_DATA] = out->by_tlb[CACHES_FETCH] = ANALYSES_NO_EVENT;
    out->walks = out->walk_reads = out->upgrades = ANALYSES_NO_EVENT;
    events_add(out, "Ir", "Instruction Fetch");
    events_add(out, "Dr", "Data Read Access");
    events_add(out, "Dw", "Data Write Access");
    events_add_misses(out, machine);
    events_add_tlbs(out, machine, &costs);
    if (coherent)
        out->upgrades = add_priced(out, "upgrades", "Upgrade of a Shared Line", costs.upgrade);
    events_add_level(out, &machine->levels[0], 0, &costs, coherent);
    if (machine->has_l1i)
        events_add_level(out, &machine->l1i, machine->level_count, &costs, coherent);
    for (uint32_t i = 1; i < machine->level_count; i++)
        events_add_level(out, &machine->levels[i], i, &costs, coherent);
}

/* ------------------------------------------------------------------ what an instruction has cost */

static void add_kind(const struct analyses_events *events, uint32_t level, enum sim_kind kind, uint64_t misses,
                     uint64_t *cost)
{
    const uint8_t event = events->by_kind[level][kind];
    if (event != ANALYSES_NO_EVENT)
        cost[event] += misses;
}

static void events_add_tally(const struct analyses_events *events, uint32_t level, bool code,
                             const struct analyses_tally *tally, uint64_t *cost)
{
    for (unsigned i = 0; i < ANALYSES_CLASSES; i++) {
        add_kind(events, level, code ? SIM_FETCH : SIM_READ, tally->reads[i], cost);
        add_kind(events, level, SIM_WRITE, tally->writes[i], cost);
        cost[events->by_class[level][i]] += tally->reads[i] + tally->writes[i];
    }
}

static void events_add_taken(const struct analyses_events *events, uint32_t level, bool code,
                             const struct analyses_taken *taken, uint64_t *cost)
{
    add_kind(events, level, code ? SIM_FETCH : SIM_READ, taken->reads, cost);
    add_kind(events, level, SIM_WRITE, taken->writes, cost);
    cost[events->by_class[level][ANALYSES_CLASSES]] += taken->reads + taken->writes;
    cost[events->upgrades] += taken->upgrades;
}

/* Where there are no TLBs there is none to count. */
static void events_add_translations(const struct analyses_events *events, enum caches_side side,
                                    const struct analyses_translations *of, uint64_t *cost)
{
    if (of->misses == 0)
        return;
    cost[events->by_tlb[side]] += of->misses;
    cost[events->walks] += of->walks;
    cost[events->walk_reads] += of->reads;
}

void analyses_events_of(const struct analyses_events *events, const struct analyses_profile_result *profile,
                        uint32_t insn, size_t *row, uint64_t *cost)
{
    const uint32_t levels = profile->level_count + profile->has_l1i;
    cost[ANALYSES_IR] += profile->insns[insn].executed;
    cost[ANALYSES_DR] += profile->insns[insn].reads;
    cost[ANALYSES_DW] += profile->insns[insn].writes;
    while (*row < profile->row_count && profile->rows[*row].insn < insn)
        ++*row;
    for (; *row < profile->row_count && profile->rows[*row].insn == insn; ++*row) {
        const struct analyses_row *at = &profile->rows[*row];
        const bool code = profile->objects[at->object].kind == ANALYSES_CODE;
        for (uint32_t level = 0; level < levels; level++)
            events_add_tally(events, level, code, &at->level[level], cost);
        for (uint32_t level = 0; level < levels && at->taken; level++)
            events_add_taken(events, level, code, &at->taken[level], cost);
        events_add_translations(events, code ? CACHES_FETCH : CACHES_DATA, &at->tlb, cost);
    }
}

size_t analyses_profile_insn(const struct analyses_profile_result *profile, struct guest_va pc)
{
    size_t low = 0, high = profile->insn_count;
    while (low + 1 < high) {
        const size_t middle = (low + high) / 2;
        if (profile->insns[middle].pc.v <= pc.v)
            low = middle;
        else
            high = middle;
    }
    C2_ASSERT(profile->insns[low].pc.v == pc.v);
    return low;
}
