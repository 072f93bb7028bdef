/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sharing: what cores take from each other, as findings, object by object.
 *
 * Model
 *   What waiting for lines of other cores costs is known by object (its rows), and of how many misses bytes overlapped
 *   by the object that a line counts for (coherence.c). An object's cost is divided among its lines and those of others
 *   that it lies in as its misses are, and what lines cost among the two kinds of sharing likewise. Other objects that
 *   have a sixteenth of the misses of these lines, or more, are named.
 *   Where false sharing ends when each core's part has a line of its own, that spares its cost; a sum for each thread
 *   spares that of true sharing. Where most of that is of bytes that one core writes and others read, these are handed
 *   over, and a sum would be no remedy: two at a time spare half of it, and more of them more.
 *   Sums, or less use of a lock, end false sharing of the same lines too: where a quarter of the misses are of true
 *   sharing, or a sixteenth and no padding separates what cores use, both kinds are one finding.
 *   False sharing of elements that threads take in turn is part of the finding about that.
 */
#include "findings/findings_priv.h"

#define PART 16u       /* an object with so small a part of the misses of another's lines is named */
#define BOTH 4u        /* from so small a part of true sharing on the two kinds have one remedy; */
#define BOTH_DENSE 16u /* from this one where padding would not help */

/* What an object waits for, and its misses for coherence: all of them, and those in lines that count for it. */
struct taken {
    uint64_t cycles, lead_cycles;
    uint32_t lead; /* row */
    uint64_t misses, own;
};

static uint64_t misses_of(const struct coherence_object *object)
{
    return object->true_sharing + object->false_sharing;
}

static uint64_t waited_of(const struct findings_input *input, const struct analyses_row *row)
{
    const struct caches_costs costs = caches_costs(input->machine);
    uint64_t cycles = 0;
    for (uint32_t level = 0; row->taken && level < input->profile->level_count; level++)
        cycles += (row->taken[level].reads + row->taken[level].writes) * costs.taken[level] +
                  row->taken[level].upgrades * costs.upgrade;
    return cycles;
}

static void count_misses(struct taken *of, const struct analyses_coherence_result *coherence)
{
    for (size_t i = 0; i < coherence->object_count; i++) {
        const struct coherence_object *object = &coherence->objects[i];
        if (object->object != COHERENCE_NOBODY)
            of[object->object].misses = of[object->object].own = misses_of(object);
    }
    for (size_t i = 0; i < coherence->part_count; i++) {
        const struct coherence_part *part = &coherence->parts[i];
        of[part->line_object].misses -= part->misses;
        of[part->line_object].own -= part->misses;
        of[part->object].misses += part->misses;
    }
}

/* [object], for the caller to free; NULL: no memory. */
static struct taken *taken_by_object(const struct findings_input *input)
{
    const struct analyses_profile_result *profile = input->profile;
    struct taken *of = c2_calloc(profile->object_count + 1, sizeof *of);
    for (size_t i = 0; of && i < profile->row_count; i++) {
        struct taken *taken = &of[profile->rows[i].object];
        const uint64_t cycles = waited_of(input, &profile->rows[i]);
        taken->cycles += cycles;
        taken->lead = cycles > taken->lead_cycles ? (uint32_t)i : taken->lead;
        taken->lead_cycles = cycles > taken->lead_cycles ? cycles : taken->lead_cycles;
    }
    if (of)
        count_misses(of, input->coherence);
    return of;
}

static uint64_t part_of(const struct taken *taken, uint64_t misses)
{
    return taken->misses == 0 ? 0 : (uint64_t)((double)taken->cycles * (double)misses / (double)taken->misses);
}

/* What all objects that lie in the object's lines wait for there; the lead is the object's own. */
static struct taken lines_taken_of(const struct taken *of, const struct analyses_coherence_result *coherence,
                                   uint32_t object)
{
    struct taken taken = of[object];
    taken.cycles = part_of(&of[object], of[object].own);
    for (size_t i = 0; i < coherence->part_count; i++)
        if (coherence->parts[i].line_object == object)
            taken.cycles += part_of(&of[coherence->parts[i].object], coherence->parts[i].misses);
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

/* Objects that lie in the finding's lines as well. */
static void add_parts(struct finding *finding, const struct analyses_coherence_result *coherence, uint64_t misses)
{
    for (size_t i = 0; i < coherence->part_count; i++)
        if (coherence->parts[i].line_object == finding->object && coherence->parts[i].misses * PART >= misses)
            findings_add_object(finding, coherence->parts[i].object);
}

static bool is_handed_over(const struct coherence_object *object)
{
    return object->handed_over * 2 > object->true_sharing;
}

/* Whether the remedy of true sharing ends false sharing of the same lines. */
static bool both_have_one_remedy(const struct coherence_object *object)
{
    const uint64_t least = misses_of(object) / (object->padding == 0 ? BOTH_DENSE : BOTH);
    return object->true_sharing != 0 && object->true_sharing >= least && !is_handed_over(object);
}

/* A finding of so many misses of the object's lines. */
static struct finding sharing_finding(const struct findings_input *input, const struct coherence_object *object,
                                      enum findings_pattern pattern, const struct taken *taken, uint64_t misses)
{
    struct finding finding = findings_at(pattern, input->profile, taken->lead);
    finding.object = object->object;
    finding.caller = findings_caller(input, taken->lead);
    finding.misses = misses;
    finding.cost = (uint64_t)((double)taken->cycles * (double)misses / (double)misses_of(object));
    finding.parts.coherence = finding.cost;
    finding.padding = object->padding;
    finding.gain = finding.cost;
    finding.gained = FINDINGS_ESTIMATED;
    add_parts(&finding, input->coherence, misses_of(object));
    return finding;
}

static void add_true_sharing(struct findings *to, const struct findings_input *input,
                             const struct coherence_object *object, const struct taken *taken)
{
    const bool both = both_have_one_remedy(object);
    if (object->true_sharing == 0)
        return;
    struct finding finding = sharing_finding(input, object, FINDINGS_TRUE_SHARING, taken,
                                             both ? misses_of(object) : object->true_sharing);
    finding.false_sharing = both ? object->false_sharing : 0;
    finding.misses -= finding.false_sharing;
    finding.handed_over = is_handed_over(object);
    finding.gain = finding.handed_over ? finding.cost / 2 : finding.cost;
    to->list[to->count++] = finding;
}

static void add_false_sharing(struct findings *to, const struct findings_input *input,
                              const struct coherence_object *object, const struct taken *taken)
{
    if (object->false_sharing == 0 || both_have_one_remedy(object))
        return;
    const struct finding finding = sharing_finding(input, object, FINDINGS_FALSE_SHARING, taken, object->false_sharing);
    struct finding *cyclic = cyclic_of(to, object->object);
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
    struct taken *of = taken_by_object(input);
    struct finding *list = c2_realloc(to->list, (to->count + 2 * coherence->object_count + 1) * sizeof *list);
    to->list = list ? list : to->list;
    for (size_t i = 0; of && list && i < coherence->object_count; i++) {
        const struct coherence_object *object = &coherence->objects[i];
        if (object->object == COHERENCE_NOBODY || of[object->object].lead_cycles == 0)
            continue;
        const struct taken taken = lines_taken_of(of, coherence, object->object);
        add_false_sharing(to, input, object, &taken);
        add_true_sharing(to, input, object, &taken);
    }
    c2_free(of);
    return of && list ? C2_OK : c2_fail_memory(err, "the findings");
}
