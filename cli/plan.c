/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * plan: what is to be simulated, from the options - the machine, and where pages go. The same for a program that runs
 * and for one that is played back.
 */
#include <limits.h>

#include "cli/cli_priv.h"
#include "machine/machine.h"

enum c2_status cli_plan_read(struct cli_plan *plan, const struct cli_options *options, struct c2_error *err)
{
    char directory[PATH_MAX];
    struct mmu_config *placement = &plan->placement;
    enum c2_status status = machine_read(&plan->machine, options->machine,
                                         cli_machines_directory(directory, sizeof directory), options->overrides,
                                         options->override_count, err);
    if (status == C2_OK)
        status = cli_placement(placement, options->pages, &plan->machine, options->seed, err);
    placement->huge = options->huge;
    placement->huge_size = options->huge_size;
    placement->zero_page = options->zero_page;
    placement->log_placements = options->dump_pagemap;
    return status;
}

/* Symbols among the regions are looked up in the program's file: their pages may be touched while it is loaded. */
enum c2_status cli_plan_place(struct cli_plan *plan, const struct cli_options *options,
                              const struct loader_request *program, struct c2_error *err)
{
    const char *against = options->analyses[ANALYSIS_against];
    struct mmu_config *placement = &plan->placement;
    enum c2_status status = cli_rules_read(&plan->rules, options, &plan->machine, program, err);
    placement->rules = plan->rules.rules;
    placement->rule_count = plan->rules.rule_count;
    placement->huge_regions = plan->rules.huge;
    placement->huge_region_count = plan->rules.huge_count;
    return status == C2_OK && against ? cli_against(&plan->against, placement, against, &plan->machine, err) : status;
}
