/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sharing: what cores take from each other, as findings, object by object.
 *
 * Model
 *   What waiting for lines of other cores costs is known by object (its rows); of how many misses bytes overlapped is
 *   the caches' count by object (coherence.c). The cost is divided as the misses are. Where false sharing ends when
 *   each core's part has a line of its own, that spares its cost; a sum for each thread spares that of true sharing.
 *   Where most of that is of bytes that one core writes and others read, these are handed over, and a sum would be no
 *   remedy: two at a time spare half of it, and more of them more.
 *   False sharing of elements that threads take in turn is part of the finding about that.
 */
#include "findings/findings_priv.h"

struct taken {
    uint64_t cycles, lead_cycles;
    uint32_t lead; /* row */
};

static struct taken sharing_taken_of(const struct findings_input *input, uint32_t object)
{
    const struct caches_costs costs = caches_costs(input->machine);
    const struct analyses_profile_result *profile = input->profile;
    struct taken taken = {.lead = FINDINGS_NOBODY};
    for (size_t i = 0; i < profile->row_count; i++) {
        const struct analyses_row *row = &profile->rows[i];
        uint64_t cycles = 0;
        if (row->object != object || !row->taken)
            continue;
        for (uint32_t level = 0; level < profile->level_count; level++)
            cycles += (row->taken[level].reads + row->taken[level].writes) * costs.taken[level] +
                      row->taken[level].upgrades * costs.upgrade;
        taken.cycles += cycles;
        taken.lead = cycles > taken.lead_cycles ? (uint32_t)i : taken.lead;
        taken.lead_cycles = cycles > taken.lead_cycles ? cycles : taken.lead_cycles;
    }
    return taken;
}

/* NULL: the object has none. */
static struct finding *cyclic_of(struct findings *in, uint32_t object)
{
    for (uint32_t i = 0; i < in->count; i++)
        if (in->list[i].pattern == FINDINGS_CYCLIC && in->list[i].object == object)
            return &in->list[i];
    return NULL;
}

static void findings_sharing_add(struct findings *to, const struct findings_input *input,
                                 const struct coherence_object *object, bool is_true, const struct taken *taken)
{
    const uint64_t misses = is_true ? object->true_sharing : object->false_sharing;
    const uint64_t all = object->true_sharing + object->false_sharing;
    if (misses == 0 || taken->lead == FINDINGS_NOBODY)
        return;
    struct finding finding = findings_at(is_true ? FINDINGS_TRUE_SHARING : FINDINGS_FALSE_SHARING, input->profile,
                                         taken->lead);
    finding.object = object->object;
    finding.caller = findings_caller(input, taken->lead);
    finding.misses = misses;
    finding.cost = (uint64_t)((double)taken->cycles * (double)misses / (double)all);
    finding.parts.coherence = finding.cost;
    finding.padding = object->padding;
    finding.handed_over = is_true && object->handed_over * 2 > misses;
    finding.gain = finding.handed_over ? finding.cost / 2 : finding.cost;
    finding.gained = FINDINGS_ESTIMATED;
    struct finding *cyclic = is_true ? NULL : cyclic_of(to, object->object);
    if (cyclic)
        findings_add_finding(cyclic, &finding);
    else
        to->list[to->count++] = finding;
}

enum c2_status findings_add_sharing(struct findings *to, const struct findings_input *input, struct c2_error *err)
{
    const struct analyses_coherence_result *coherence = input->coherence;
    if (!coherence || coherence->object_count == 0)
        return C2_OK;
    struct finding *list = c2_realloc(to->list, (to->count + 2 * coherence->object_count + 1) * sizeof *list);
    if (!list)
        return c2_fail_memory(err, "the findings");
    to->list = list;
    for (size_t i = 0; i < coherence->object_count; i++) {
        const struct coherence_object *object = &coherence->objects[i];
        if (object->object == COHERENCE_NOBODY)
            continue;
        const struct taken taken = sharing_taken_of(input, object->object);
        findings_sharing_add(to, input, object, false, &taken);
        findings_sharing_add(to, input, object, true, &taken);
    }
    return C2_OK;
}
