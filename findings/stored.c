/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * stored: lines that are fetched from memory to be overwritten whole.
 *
 * Model
 *   An ordinary store that misses fetches its line first. The loop stores, and nothing else, to all bytes that it comes
 *   to, again and again, and half of the cost or more is that of lines that come from memory once more: a store past
 *   the caches would fetch none, and spare what all of these cost. A line that is read from the caches later would then
 *   come from memory: as many as there are reads of the object's lines, by the steps of the instructions, or misses of
 *   the first level among them if these are more, beyond the misses of the last level.
 *   The first time that a program writes its memory its kernel has put zeros there shortly before: what is written
 *   once is not looked at (FINDINGS_ONE_WALK). Nor are stores of libraries, whose memset and memcpy choose by
 *   themselves.
 *
 * Not modelled
 *   What else would find room in the caches. Writes to memory, which the remedy leaves as they are.
 */
#include <stdlib.h>

#include "findings/findings_priv.h"

#define SHARE 2u              /* of the cost: at least one part in so many is that of misses to memory */
#define STEP FINDINGS_ELEMENT /* bytes of a round, at most */

static uint32_t last_level(const struct findings_input *input) { return input->profile->level_count - 1; }

/* What a line costs that is in no level. */
static uint64_t line_cycles(const struct findings_input *input)
{
    const struct caches_costs costs = caches_costs(input->machine);
    uint64_t cycles = 0;
    for (uint32_t i = 0; i < input->profile->level_count; i++)
        cycles += costs.miss[i];
    return cycles;
}

static void cover(uint8_t *covered, const struct analyses_access *access, uint64_t step)
{
    for (uint64_t k = 0; k < access->bytes; k++)
        covered[(access->anchor + k) % step] = 1;
}

/* The loop's accesses of the object are stores, to each byte of a round's step. */
static bool stores_all(const struct findings_input *input, const struct group *group, uint64_t step)
{
    const struct findings_accesses accesses = findings_accesses_of(input, group->loop, group->object);
    uint8_t covered[STEP] = {0};
    uint64_t count = 0;
    for (size_t i = 0; i < accesses.count; i++) {
        const struct analyses_access *access = findings_access(&accesses, i);
        if (access->reads != 0)
            return false;
        cover(covered, access, step);
    }
    for (uint64_t i = 0; i < step; i++)
        count += covered[i];
    return count == step;
}

/* Lines of the object that instructions read: each its own. */
static double lines_read(const struct findings_input *input, uint32_t object)
{
    const double line = input->machine->line_bytes;
    double lines = 0;
    for (size_t i = 0; i < input->excerpts->access_count; i++) {
        const struct analyses_access *access = &input->excerpts->accesses[i];
        int64_t step = 0;
        if (access->object != object || access->reads == 0)
            continue;
        const double reads = (double)input->profile->insns[access->insn].reads *
                             findings_share_of(input->excerpts, access);
        const bool known = findings_step(access, 0, &step);
        lines += known && (double)llabs(step) < line ? reads * (double)llabs(step) / line : reads;
    }
    return lines;
}

/* Reads of the object that a level has missed. */
static double reads_missed(const struct findings_input *input, uint32_t object, uint32_t level)
{
    uint64_t count = 0;
    for (size_t i = 0; i < input->profile->row_count; i++) {
        const struct analyses_row *row = &input->profile->rows[i];
        for (unsigned c = 0; row->object == object && c < ANALYSES_CLASSES; c++)
            count += row->level[level].reads[c] - row->startup[level].reads[c];
    }
    return (double)count;
}

/* What reads would cost more. Excerpts do not show all of them. */
static double reads_more(const struct findings_input *input, uint32_t object)
{
    const double shown = lines_read(input, object), missed = reads_missed(input, object, 0);
    const double lines = (shown > missed ? shown : missed) - reads_missed(input, object, last_level(input));
    return lines > 0 ? lines * (double)line_cycles(input) : 0;
}

bool findings_is_overwritten(struct finding *out, const struct findings_input *input, const struct group *group,
                             double passes)
{
    int64_t step;
    if (!group->access || group->loop == ANALYSES_NO_LOOP || out->caller != FINDINGS_NOBODY ||
        !findings_step(group->access, 0, &step) || step == 0 || (uint64_t)llabs(step) > STEP ||
        group->level[last_level(input)] * SHARE < out->cost || !stores_all(input, group, (uint64_t)llabs(step)))
        return false;
    const double more = reads_more(input, group->object);
    if (more * SHARE > (double)out->cost)
        return false;
    out->pattern = FINDINGS_WRITE_ALLOCATE;
    out->passes = passes;
    out->gain = out->cost - (uint64_t)more;
    return true;
}
