/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * dumps: what the program itself asks for - what was measured up to a point kept by itself, or dropped.
 *
 * Model
 *   A dump is what was measured since the last one, or since everything was dropped, or the beginning. The sums go on.
 *   Where everything is dropped it is as if nothing had been measured so far: of the dumps, too, nothing is left.
 *   Caches, TLBs and tables of evictors stay as they are.
 * Counting
 *   Dumps, and what was measured since the last one, add up to what was measured.
 */
#include <string.h>

#include "sim/sim_priv.h"

enum c2_status sim_dump_measured(struct sim *sim, const uint64_t *words, struct c2_error *err)
{
    C2_ASSERT(sim->dump_count <= sim->dump_room);
    enum c2_status status = sim_share_dump(sim, words, err);
    if (status != C2_OK)
        return status;
    if (!c2_grow((void **)&sim->dumps, &sim->dump_room, sim->dump_count, sizeof *sim->dumps))
        return c2_fail_memory(err, "the dumps that the program asks for");
    struct sim_dumped *dump = &sim->dumps[sim->dump_count++];
    *dump = (struct sim_dumped){.instructions = words[0], .of = sim->measured};
    memcpy(dump->text, words + 1, sizeof dump->text);
    dump->text[sizeof dump->text - 1] = '\0';
    sim_totals_subtract(&dump->of, &sim->dumped);
    sim->dumped = sim->measured;
    return C2_OK;
}

enum c2_status sim_drop_measured(struct sim *sim, struct c2_error *err)
{
    sim_settle(sim);
    enum c2_status status = sim_classifier_settle(sim, err);
    if (status == C2_OK)
        status = sim_share_drop(sim, err);
    if (status != C2_OK)
        return status;
    sim_totals_read(&sim->phase_start, sim); /* of this phase, too, nothing has been measured so far */
    if (sim->attributed.on)
        sim_attribute_drop(sim);
    sim->measured = sim->dumped = (struct sim_totals){.tlb_misses = 0};
    sim->dump_count = sim->sample_count = sim->sampled_count = 0;
    memset(sim->warm_misses, 0, sizeof sim->warm_misses);
    sim_intervals_drop(sim);
    sim_cores_drop(sim);
    caches_drop_instructed(sim->caches);
    return sim_notify_dropped(sim, err);
}

const struct sim_dumped *sim_dumps(const struct sim *sim, size_t *count)
{
    C2_ASSERT(sim->dump_count == 0 || sim->dumps);
    *count = sim->dump_count;
    return sim->dumps;
}
