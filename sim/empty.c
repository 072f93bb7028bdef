/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * empty: caches and TLBs as they are made, and made anew.
 *
 * Model
 *   Emptied ones are as at the beginning of the run: no line, no translation, no shadow, and no memory of what was ever
 *   asked for, so the next reference to each line is a cold miss. Dirty lines are gone without a write-back: whatever
 *   took their place is no part of what is counted.
 * Counting
 *   What they have counted stays in the sums (window.c).
 */
#include <string.h>

#include "sim/sim_priv.h"

static void empty_lend(struct sim *sim)
{
    C2_ASSERT(sim->caches);
    for (uint32_t i = 0; i < sim->core_count; i++) {
        struct sim_core *core = sim_core_at(sim, i);
        core->far = caches_far(sim->caches);
        for (unsigned side = CACHES_DATA; side <= CACHES_FETCH; side++)
            core->l1_handle[side] = caches_l1_handle(sim->caches, (enum caches_side)side);
    }
}

enum c2_status sim_caches_create(struct sim *sim, const struct caches_machine *machine, struct c2_error *err)
{
    C2_ASSERT(!sim->caches && !sim->plain);
    enum c2_status status = caches_create(&sim->caches, machine, sim->seed, err);
    if (status == C2_OK)
        empty_lend(sim);
    if (status == C2_OK && sim->attributed.to.access_site)
        status = caches_keep_evictors(sim->caches, err);
    if (status == C2_OK && sim->prefetches && sim->compares) {
        const struct caches_machine plain = caches_machine_plain(machine);
        status = caches_create(&sim->plain, &plain, sim->seed, err);
    }
    if (status == C2_OK && sim->instructed)
        status = caches_instructed_begin(sim->caches, err);
    if (status == C2_OK && sim->instructed && sim->plain)
        status = caches_instructed_begin(sim->plain, err);
    for (uint32_t i = 0; i < sim->core_count && status == C2_OK; i++)
        status = sim_tlb_create(sim_core_at(sim, i), machine, err);
    return status;
}

enum c2_status sim_empty(struct sim *sim, struct c2_error *err)
{
    struct sim_core *core = &sim->core;
    struct caches *caches = sim->caches, *plain = sim->plain;
    struct sim_totals counted;
    if (sim->core_count > 1)
        return c2_fail(err, C2_ERR_UNSUPPORTED,
                       "machine %s has %u cores: caches are emptied on the way of one core only",
                       caches_machine(caches)->name, sim->core_count);
    sim_settle(sim);
    enum c2_status status = sim_classifier_settle(sim, err);
    if (status == C2_OK)
        status = sim_share_empty(sim, err);
    if (status != C2_OK)
        return status;
    caches_settle_instructed(caches);
    sim_totals_read(&counted, sim);
    counted.counts = (struct sim_counts){0}; /* these three go on in the simulator itself */
    counted.past_lines = 0;
    memset(counted.walk_reads, 0, sizeof counted.walk_reads);
    sim->emptied = counted;
    caches_tlbs_destroy(core->tlb);
    core->tlb = NULL;
    sim_leave_line(core);
    core->fetch_line = sim->has_l1i ? SIM_NOWHERE : 0;
    sim_pages_forget(core); /* what is remembered with them may be the caches' */
    sim->caches = sim->plain = NULL;
    status = sim_caches_create(sim, caches_machine(caches), err);
    if (status == C2_OK) {
        sim_classifier_use(sim);
        if (sim->leader)
            caches_follow(sim->caches);
        caches_instructed_inherit(sim->caches, caches);
    }
    caches_destroy(caches);
    caches_destroy(plain);
    sim_notify_emptied(sim);
    return status;
}
