/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * padding: how far apart what competes for few sets lies, and how much further it should.
 *
 * Model
 *   Lines that compete lie some distance apart: the step of a loop, or, where an instruction goes on in short steps,
 *   what all distances between the loop's instructions in the object are multiples of. Of these the one counts that
 *   reaches the fewest sets, multiples of it being all that is accessed.
 *   A padding is a line, in whole elements of what is to be longer in the object's declaration (declared.c); one
 *   element is tried too, where it is less.
 *
 * Not modelled
 *   Distances that are a step of one loop plus that of another.
 */
#include <stdlib.h>

#include "findings/findings_priv.h"

/* ------------------------------------------------------------------ the distance */

/* How many of so many sets multiples of the distance reach. */
static uint64_t padding_reached(uint64_t distance, uint64_t sets, uint64_t line_bytes)
{
    return distance % line_bytes != 0 ? sets : sets / c2_divisor(distance / line_bytes, sets);
}

/* Between the places where the loop's instructions begin; 0: there is one place. */
static uint64_t between(const struct findings_input *input, uint32_t loop, uint32_t object)
{
    const struct findings_accesses accesses = findings_accesses_of(input, loop, object);
    const struct analyses_access *first = NULL;
    uint64_t common = 0;
    for (size_t i = 0; i < accesses.count; i++) {
        const struct analyses_access *access = findings_access(&accesses, i);
        if (first)
            common = c2_divisor(access->anchor > first->anchor ? access->anchor - first->anchor
                                                               : first->anchor - access->anchor,
                                common);
        first = first ? first : access;
    }
    return common;
}

struct nearest {
    uint64_t distance, reached, sets, line_bytes;
};

static void consider(struct nearest *nearest, uint64_t distance, uint64_t object_bytes)
{
    if (distance < nearest->line_bytes || distance > object_bytes / 2)
        return;
    const uint64_t sets = padding_reached(distance, nearest->sets, nearest->line_bytes);
    if (sets >= nearest->reached)
        return;
    nearest->distance = distance;
    nearest->reached = sets;
}

static uint64_t distance_of(const struct finding *finding, const struct findings_input *input,
                            const struct analyses_access *access)
{
    const struct caches_level *level = &input->machine->levels[finding->level];
    const uint64_t bytes = input->profile->objects[finding->object].bytes;
    struct nearest nearest = {.sets = caches_level_sets(input->machine, level),
                              .line_bytes = input->machine->line_bytes};
    nearest.reached = nearest.sets;
    int64_t step;
    for (unsigned depth = 0; depth < EXCERPTS_DEPTH; depth++)
        if (findings_step(access, depth, &step))
            consider(&nearest, (uint64_t)llabs(step), bytes);
    consider(&nearest, between(input, finding->loop, finding->object), bytes);
    return nearest.distance;
}

/* A line, in whole steps of what is declared. */
static uint32_t padding_line_of(const struct findings_declared *declared, uint32_t line_bytes)
{
    const uint64_t step = declared->step == 0 ? line_bytes : declared->step;
    return (uint32_t)((line_bytes + step - 1) / step * step);
}

void findings_pad(struct finding *finding, const struct findings_input *input, const struct analyses_access *access)
{
    struct findings_declared declared;
    const struct analyses_object *object = &input->profile->objects[finding->object];
    const uint32_t line = input->machine->line_bytes;
    if (!access || finding->level >= input->machine->level_count || object->blocks != 1 ||
        (finding->evictor != FINDINGS_NOBODY && finding->evictor != finding->object))
        return;
    findings_declared(&declared, input->symbols, object, distance_of(finding, input, access), line);
    if (declared.row_bytes == 0)
        return;
    finding->row_bytes = declared.row_bytes;
    finding->padding = padding_line_of(&declared, line);
    finding->padding_unit = declared.step < line ? (uint32_t)declared.step : 0;
}
