/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The words of machine files and reports for what a level and a TLB can be.
 */
#include "caches/caches.h"

const char *const caches_policy_names[CACHES_POLICIES] = {
#define X(constant, word, users) word,
    CACHES_POLICY_LIST(X)
#undef X
};
const unsigned caches_policy_users[CACHES_POLICIES] = {
#define X(constant, word, users) users,
    CACHES_POLICY_LIST(X)
#undef X
};
const char *const caches_inclusion_names[CACHES_INCLUSIONS] = {"non-inclusive", "inclusive", "exclusive"};
const char *const caches_index_names[CACHES_INDICES] = {"virtual", "physical"};
const char *const caches_write_names[2] = {"back", "through"};
const char *const caches_allocate_names[2] = {"no", "yes"};
const char *const caches_prefetcher_names[CACHES_PREFETCHERS] = {
#define X(constant, word) word,
    CACHES_PREFETCHERS_LIST(X)
#undef X
};
const char *const caches_prefetch_on_names[CACHES_PREFETCH_ONS] = {"accesses", "misses", "tagged"};
const char *const caches_kind_names[CACHES_KINDS] = {"4K", "2M", "1G", "PDE", "PDPTE", "PML4E"};

const char *const caches_instruction_names[CACHES_INSTRUCTIONS] = {
    [CACHES_PREFETCH_T0] = "prefetcht0",       [CACHES_PREFETCH_T1] = "prefetcht1",
    [CACHES_PREFETCH_T2] = "prefetcht2",       [CACHES_PREFETCH_NTA] = "prefetchnta",
    [CACHES_PREFETCH_FOR_WRITE] = "prefetchw", [CACHES_FLUSH] = "flush",
    [CACHES_WRITE_BACK] = "write back",        [CACHES_STORE_PAST] = "non-temporal store",
};

const char *caches_policy_name(enum caches_policy policy)
{
    C2_ASSERT((unsigned)policy < CACHES_POLICIES);
    return caches_policy_names[policy];
}
const char *caches_inclusion_name(enum caches_inclusion inclusion)
{
    C2_ASSERT((unsigned)inclusion < CACHES_INCLUSIONS);
    return caches_inclusion_names[inclusion];
}
const char *caches_index_name(enum caches_index index)
{
    C2_ASSERT((unsigned)index < CACHES_INDICES);
    return caches_index_names[index];
}

uint32_t caches_machine_cores(const struct caches_machine *machine) { return machine->cores > 1 ? machine->cores : 1; }

bool caches_machine_writes_on(const struct caches_machine *machine)
{
    bool on = false;
    for (uint32_t i = 0; i < machine->level_count; i++)
        on |= machine->levels[i].through || machine->levels[i].around;
    return on;
}

bool caches_machine_hears_instructions(const struct caches_machine *machine)
{
    const unsigned stride = 1u << CACHES_PREFETCH_STRIDE;
    bool hears = machine->has_l1i && (machine->l1i.prefetchers & stride || machine->l1i.policy == CACHES_SHIP);
    for (uint32_t i = 0; i < machine->level_count; i++)
        hears |= machine->levels[i].prefetchers & stride || machine->levels[i].policy == CACHES_SHIP;
    return hears;
}

uint32_t caches_machine_private(const struct caches_machine *machine)
{
    uint32_t count = 1;
    while (count < machine->level_count && !(machine->cores > 1 && machine->levels[count].shared))
        count++;
    return count;
}

uint64_t caches_level_ways_of(const struct caches_level *level, uint32_t core)
{
    C2_ASSERT(level->ways >= 1 && level->ways <= CACHES_MAX_WAYS && level->mask_count <= CACHES_MAX_MASKS);
    for (uint32_t i = 0; i < level->mask_count; i++)
        if (core >= level->masks[i].first && core <= level->masks[i].last)
            return level->masks[i].ways;
    return c2_mask(0, level->ways - 1);
}

uint32_t caches_level_sets(const struct caches_machine *machine, const struct caches_level *level)
{
    C2_ASSERT(level->ways != 0 && level->slices != 0 && machine->line_bytes != 0);
    return (uint32_t)(level->size_bytes / ((uint64_t)level->ways * machine->line_bytes * level->slices));
}

uint32_t caches_level_colors(const struct caches_machine *machine, const struct caches_level *level)
{
    const uint64_t bytes = (uint64_t)caches_level_sets(machine, level) * machine->line_bytes;
    return bytes >= C2_PAGE_BYTES ? (uint32_t)(bytes / C2_PAGE_BYTES) : 1;
}
