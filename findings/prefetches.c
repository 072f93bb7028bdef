/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * prefetches: prefetch instructions that are for nothing, or come too late, as findings, function by function.
 *
 * Model
 *   What becomes of each prefetch is counted by instruction (caches/instructed.c). Those of a function and kind are one
 *   finding.
 *   useless   Most of those executed found the line there, no page, or lost what they fetched before any access.
 *             Without them their instructions are spared, a cycle of the run each, and the accesses that missed what
 *             they had pushed out: at the price of the cheapest miss, as it is not known where these would have hit.
 *             Where most of what they do fetch is useful, one of them a line is to stay, and only the others are
 *             spared.
 *   late      Of the useful ones most were asked for before they could be there. What accesses have still waited for
 *             them, one after the other, is what prefetches further ahead would spare.
 *   Those of libraries of the system are none: the user does not change them.
 *   Neither is a cost: no access waits for an instruction, and an access to a line that is on its way is a hit. They
 *   are cycles of the run beside it.
 *
 * Invariants
 *   An instruction is in one finding at most.
 *
 * Not modelled
 *   What prefetches take of the paths to memory (--bandwidth), and of the buffers that misses wait in.
 */
#include "findings/findings_priv.h"

#define MOST 2u /* one part in so many, or more */

static void prefetches_add_counts(struct caches_instructed *to, const struct caches_instructed *of)
{
#define X(field, help) to->field += of->field;
    CACHES_INSTRUCTED_COUNTERS(X)
#undef X
}

static uint64_t found_it(const struct caches_instructed *of) { return of->present + of->nowhere; }

static bool is_useless(const struct caches_instructed *of)
{
    return of->executed != 0 && (found_it(of) + of->useless) * MOST >= of->executed;
}

static bool is_late(const struct caches_instructed *of) { return of->late != 0 && of->late * MOST >= of->useful; }

static enum findings_pattern prefetches_pattern_of(const struct findings_input *input,
                                                   const struct sim_instructed *insn)
{
    const struct caches_instructed *of = &insn->of;
    if (of->what >= CACHES_FLUSH || (input->symbols && loader_is_system_code(input->symbols, insn->pc)))
        return FINDINGS_COUNT;
    return is_useless(of) ? FINDINGS_USELESS_PREFETCHES : is_late(of) ? FINDINGS_LATE_PREFETCHES : FINDINGS_COUNT;
}

static uint64_t cheapest_miss(const struct caches_machine *machine)
{
    const struct caches_costs costs = caches_costs(machine);
    uint64_t least = costs.miss[0];
    for (uint32_t i = 1; i < machine->level_count; i++)
        least = costs.miss[i] < least ? costs.miss[i] : least;
    return least;
}

static struct finding *finding_of(struct findings *to, uint32_t from, enum findings_pattern pattern, uint64_t function)
{
    for (uint32_t i = from; i < to->count && function != 0; i++)
        if (to->list[i].pattern == pattern && to->list[i].function.v == function)
            return &to->list[i];
    return NULL;
}

static uint64_t prefetches_entry_of(const struct findings_input *input, struct guest_va pc)
{
    struct guest_va entry = {0};
    if (input->symbols)
        loader_function_entry(input->symbols, pc, &entry);
    return entry.v;
}

/* The first instruction of several, or the one executed most, is where they are. */
static void prefetches_add(struct findings *to, uint32_t from, const struct findings_input *input,
                           const struct sim_instructed *insn, uint64_t *most)
{
    const enum findings_pattern pattern = prefetches_pattern_of(input, insn);
    const uint64_t function = prefetches_entry_of(input, insn->pc);
    struct finding *finding = finding_of(to, from, pattern, function);
    if (!finding) {
        finding = &to->list[to->count++];
        *finding = findings_nowhere(pattern);
        finding->function.v = function;
        finding->prefetches.what = insn->of.what;
        most[finding - to->list - from] = 0;
    }
    if (insn->of.executed > most[finding - to->list - from]) {
        finding->pc = insn->pc;
        most[finding - to->list - from] = insn->of.executed;
    }
    prefetches_add_counts(&finding->prefetches, &insn->of);
}

static void prefetches_settle(struct finding *finding, const struct findings_input *input, uint64_t cost)
{
    const struct caches_instructed *of = &finding->prefetches;
    if (finding->pattern == FINDINGS_LATE_PREFETCHES) {
        finding->beside = of->late_cycles;
        return;
    }
    finding->some_stay = of->useful * MOST > of->issued;
    const uint64_t pushed = finding->some_stay ? 0 : of->polluting * cheapest_miss(input->machine);
    finding->beside = finding->some_stay ? found_it(of) : of->executed;
    finding->gain = finding->cost = pushed < cost ? pushed : cost;
    finding->gained = pushed != 0 ? FINDINGS_ESTIMATED : FINDINGS_NO_GAIN;
}

enum c2_status findings_add_prefetches(struct findings *to, const struct findings_input *input, struct c2_error *err)
{
    const uint32_t from = to->count;
    if (input->instructed_count == 0)
        return C2_OK;
    struct finding *list = c2_realloc(to->list, (to->count + input->instructed_count + 1) * sizeof *list);
    if (!list)
        return c2_fail_memory(err, "the findings");
    to->list = list;
    uint64_t *most = c2_alloc(input->instructed_count * sizeof *most);
    if (!most)
        return c2_fail_memory(err, "the findings");
    for (size_t i = 0; i < input->instructed_count; i++)
        if (prefetches_pattern_of(input, &input->instructed[i]) != FINDINGS_COUNT)
            prefetches_add(to, from, input, &input->instructed[i], most);
    c2_free(most);
    for (uint32_t i = from; i < to->count; i++)
        prefetches_settle(&to->list[i], input, to->cost);
    return C2_OK;
}
