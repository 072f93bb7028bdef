/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * past: lines that are stored past the caches and fetched again soon, as findings.
 *
 * Model
 *   A non-temporal store takes its line out of all caches. How many of the lines that it took were accessed again so
 *   soon that the last level would still have had them is counted by store (refetched, caches/instructed.c). A store
 *   that goes to several objects has of each as many as the excerpts have of its stores there. To a group belongs such
 *   a part of those of its object as it has of the object's cold misses of the last level: all refetches are such
 *   misses, as a line that a store has taken counts as new.
 *   An ordinary store would find the line, and leave it: where the whole object fits, there, else in the last level.
 *   It spares what the line costs from memory; the levels that are nearer would be missed twice, by the store and by
 *   the access behind it.
 *
 * Not modelled
 *   What more ordinary stores would take from others in the caches. Refetches by another core than the one that stored.
 */
#include <stdlib.h>

#include "findings/findings_priv.h"

#define SHARE 2u /* of the cost of the group: at least one part in so many */

static int past_by_pc(const void *key, const void *element)
{
    const uint64_t pc = ((const struct guest_va *)key)->v, of = ((const struct sim_instructed *)element)->pc.v;
    return (pc > of) - (pc < of);
}

/* Of the store that the access belongs to, those in its object. */
static uint64_t refetched_by(const struct findings_input *input, const struct analyses_access *access)
{
    const struct sim_instructed *store = bsearch(&input->profile->insns[access->insn].pc, input->instructed,
                                                 input->instructed_count, sizeof *store, past_by_pc);
    if (!store || store->of.refetched == 0)
        return 0;
    return (uint64_t)((double)store->of.refetched * findings_share_of(input->excerpts, access));
}

/* Of an object; *most: the access of the store with most. */
static uint64_t refetched_of(const struct findings_input *input, uint32_t object, const struct analyses_access **most)
{
    uint64_t sum = 0, best = 0;
    for (size_t i = 0; i < input->excerpts->access_count; i++) {
        const struct analyses_access *access = &input->excerpts->accesses[i];
        const uint64_t count = access->object == object ? refetched_by(input, access) : 0;
        sum += count;
        *most = count > best ? access : *most;
        best = count > best ? count : best;
    }
    return sum;
}

static uint64_t new_lines_of(const struct findings_input *input, uint32_t object)
{
    uint64_t count = 0;
    for (size_t i = 0; i < input->profile->row_count; i++)
        if (input->profile->rows[i].object == object)
            count += findings_new_lines(input, &input->profile->rows[i]);
    return count;
}

/* Cycles of a line from memory; *spared: of these by ordinary stores. */
static uint64_t from_memory(const struct findings_input *input, uint64_t object_bytes, uint64_t *spared)
{
    const struct caches_costs costs = caches_costs(input->machine);
    const struct caches_level *levels = input->machine->levels;
    uint64_t all = 0, nearer = 0;
    bool fits = false;
    for (uint32_t i = 0; i < input->machine->level_count; i++) {
        fits |= object_bytes <= levels[i].size_bytes || i + 1 == input->machine->level_count;
        nearer += fits ? 0 : costs.miss[i];
        all += costs.miss[i];
    }
    *spared = all > 2 * nearer ? all - 2 * nearer : 0;
    return all;
}

bool findings_is_past(struct finding *out, const struct findings_input *input, const struct group *group)
{
    const struct analyses_access *store = NULL;
    uint64_t spared;
    if (!input->excerpts || input->instructed_count == 0 || group->new_lines == 0)
        return false;
    const uint64_t refetched = refetched_of(input, group->object, &store);
    const uint64_t all = new_lines_of(input, group->object);
    const uint64_t own = (uint64_t)((double)(refetched < all ? refetched : all) * (double)group->new_lines /
                                    (double)all);
    const uint64_t line = from_memory(input, input->profile->objects[group->object].bytes, &spared);
    if (own == 0 || own * line * SHARE < out->cost - group->cost.translation || spared == 0)
        return false;
    out->pattern = FINDINGS_NON_TEMPORAL;
    out->cost -= group->cost.translation;
    out->step = group->access ? group->access->step[0].bytes : 0;
    out->refetched = own;
    out->store = store->caller != EXCERPTS_NO_CALLER ? store->caller : store->insn;
    out->gain = own * spared;
    return true;
}
