/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * plan: what is to be simulated, from the options - the machine, and where pages go. The same for a program that runs
 * and for one that is played back.
 */
#include <limits.h>

#include "session/session_priv.h"
#include "machine/machine.h"

static enum c2_status read_lane(struct session_plan_lane *lane, const struct session_options *options,
                                const struct session_variant *variant, struct c2_error *err)
{
    char directory[PATH_MAX];
    struct mmu_config *placement = &lane->placement;
    enum c2_status status = machine_read(&lane->machine, variant->machine,
                                         session_machines_directory(directory, sizeof directory), variant->overrides,
                                         variant->override_count, err);
    if (status == C2_OK)
        status = session_placement(placement, variant->pages, &lane->machine, options->seed, err);
    placement->huge = variant->huge;
    placement->huge_size = options->huge_size;
    placement->zero_page = options->zero_page;
    return status;
}

/* Of several it is said which one is meant. */
static enum c2_status read_variant(struct session_plan_lane *lane, const struct session_options *options,
                                   const struct session_variant *variant, struct c2_error *err)
{
    struct c2_error why;
    if (!variant->name)
        return read_lane(lane, options, variant, err);
    enum c2_status status = read_lane(lane, options, variant, &why);
    if (status != C2_OK)
        return c2_fail(err, status, "%s: %s", variant->name, why.text);
    lane->name = variant->name;
    return C2_OK;
}

static uint64_t more(uint64_t a, uint64_t b) { return a > b ? a : b; }

static enum c2_status plan_read_all(struct session_plan *plan, const struct session_options *options,
                                    struct c2_error *err)
{
    const struct session_variants *variants = &plan->variants;
    plan->lanes = c2_calloc(variants->count, sizeof *plan->lanes);
    if (!plan->lanes)
        return c2_fail_memory(err, "the machines");
    plan->count = variants->count;
    enum c2_status status = C2_OK;
    for (unsigned i = 0; i < plan->count && status == C2_OK; i++) {
        status = read_variant(&plan->lanes[i], options, &variants->list[i], err);
        const struct caches_machine *machine = &plan->lanes[i].machine;
        plan->physical_bytes = more(machine->physical_bytes, plan->physical_bytes);
        plan->processors = (uint32_t)more(caches_machine_cores(machine), plan->processors);
    }
    plan->lanes[0].placement.log_placements = options->dump_pagemap;
    return status;
}

enum c2_status session_plan_read(struct session_plan *plan, const struct session_options *options, struct c2_error *err)
{
    enum c2_status status = session_variants_make(&plan->variants, options, err);
    if (status == C2_OK)
        status = plan_read_all(plan, options, err);
    if (status == C2_OK && options->folded)
        status = report_folded_check(&plan->lanes[0].machine, options->folded_event, err);
    return status == C2_OK ? session_contexts_read(&plan->contexts, &options->separate, err) : status;
}

/* Symbols among the regions are looked up in the program's file: their pages may be touched while it is loaded. */
static enum c2_status place_lane(struct session_plan_lane *lane, const struct session_options *options,
                                 const struct loader_request *program, struct c2_error *err)
{
    struct mmu_config *placement = &lane->placement;
    enum c2_status status = session_rules_read(&lane->rules, options, &lane->machine, program, err);
    placement->rules = lane->rules.rules;
    placement->rule_count = lane->rules.rule_count;
    placement->huge_regions = lane->rules.huge;
    placement->huge_region_count = lane->rules.huge_count;
    return status;
}

enum c2_status session_plan_place(struct session_plan *plan, const struct session_options *options,
                                  const struct loader_request *program, struct c2_error *err)
{
    const char *against = options->analyses[ANALYSIS_against];
    const struct session_plan_lane *first = &plan->lanes[0];
    enum c2_status status = C2_OK;
    for (unsigned i = 0; i < plan->count && status == C2_OK; i++)
        status = place_lane(&plan->lanes[i], options, program, err);
    return status == C2_OK && against
               ? session_against(&plan->against, &first->placement, against, &first->machine, err)
               : status;
}

void session_plan_release(struct session_plan *plan)
{
    for (unsigned i = 0; i < plan->count; i++)
        session_rules_release(&plan->lanes[i].rules);
    c2_free(plan->lanes);
    session_variants_release(&plan->variants);
    session_contexts_release(&plan->contexts);
}

static struct syscalls_cache shown_cache(const struct caches_machine *machine, const struct caches_level *level,
                                         uint32_t number, enum syscalls_cache_type type)
{
    return (struct syscalls_cache){.type = type,
                                   .level = number,
                                   .line_bytes = machine->line_bytes,
                                   .ways = level->ways,
                                   .sets = (uint64_t)caches_level_sets(machine, level) * level->slices,
                                   .shared = level->shared};
}

uint32_t session_plan_caches(struct syscalls_cache out[SYSCALLS_CACHES], const struct session_plan *plan)
{
    const struct caches_machine *machine = &plan->lanes[0].machine;
    uint32_t count = 0;
    _Static_assert(CACHES_MAX_LEVELS + 1 <= SYSCALLS_CACHES, "L1I is beside them");
    for (uint32_t i = 0; i < machine->level_count; i++) {
        const bool only_data = i == 0 && machine->has_l1i;
        out[count++] = shown_cache(machine, &machine->levels[i], i + 1, only_data ? SYSCALLS_DATA : SYSCALLS_UNIFIED);
        if (only_data)
            out[count++] = shown_cache(machine, &machine->l1i, 1, SYSCALLS_CODE);
    }
    return count;
}

struct mmu_guest_config session_plan_guest(const struct session_plan *plan, const struct session_options *options)
{
    struct mmu_guest_config guest = {0};
    for (unsigned i = 0; i < plan->count; i++)
        mmu_config_suit(&guest, &plan->lanes[i].placement);
    if (options->analyses[ANALYSIS_against])
        mmu_config_suit(&guest, &plan->against);
    return guest;
}
