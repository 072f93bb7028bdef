/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * samples: the misses of each sample by itself, by instruction and object.
 *
 * Model
 *   A list of counts, sample after sample: misses of one actor at one level, of one class. The count of the sample that
 *   is being measured is found by a table of all actors; when the sample is over its counts are left where they are.
 *
 * Counting
 *   The counts of all samples are the profile's. A count that would not fit its 32 bits goes on in another.
 *
 * Invariants
 *   Memory is bounded by what missed in each sample: 12 bytes for an instruction, object, level and class. Where
 *   samples are not asked for, nothing is kept.
 */
#include "analyses/profile_priv.h"

/* Of an actor, a level and a class: where in the list its count is, and which sample's (from 1) that is. */
struct samples_cell {
    uint32_t sample, at;
};

static size_t cells_of(const struct profile *profile, uint32_t actors)
{
    return (size_t)actors * profile_levels(profile) * ANALYSES_CLASSES;
}

static enum c2_status reach(struct profile *profile, struct c2_error *err)
{
    struct profile_samples *samples = &profile->samples;
    const uint32_t room = profile->tally_room;
    if (samples->actor_room == room)
        return C2_OK;
    struct samples_cell *cells = c2_realloc(samples->cells, cells_of(profile, room) * sizeof *cells);
    if (!cells)
        return c2_fail_memory(err, "the misses of a sample");
    for (size_t i = cells_of(profile, samples->actor_room); i < cells_of(profile, room); i++)
        cells[i] = (struct samples_cell){0};
    samples->cells = cells;
    samples->actor_room = room;
    return C2_OK;
}

static enum c2_status append(struct profile_samples *samples, const struct analyses_sampled *entry,
                             struct c2_error *err)
{
    if (!c2_grow((void **)&samples->list, &samples->room, samples->count, sizeof *samples->list))
        return c2_fail_memory(err, "the misses of samples");
    samples->list[samples->count++] = *entry;
    return C2_OK;
}

enum c2_status profile_samples_count(struct profile *profile, uint32_t actor, uint32_t level,
                                     enum analyses_class class_, struct c2_error *err)
{
    struct profile_samples *samples = &profile->samples;
    enum c2_status status = reach(profile, err);
    if (status != C2_OK)
        return status;
    struct samples_cell *cell = &samples->cells[cells_of(profile, actor) + level * ANALYSES_CLASSES + class_];
    if (cell->sample != samples->sample_count + 1 || samples->list[cell->at].count == UINT32_MAX) {
        const struct analyses_sampled entry = {.row = actor, .level = (uint8_t)level, .class_ = (uint8_t)class_};
        *cell = (struct samples_cell){samples->sample_count + 1, samples->count};
        status = append(samples, &entry, err);
    }
    if (status == C2_OK)
        samples->list[cell->at].count++;
    return status;
}

enum c2_status profile_samples_end(struct profile *profile, struct c2_error *err)
{
    struct profile_samples *samples = &profile->samples;
    if (!c2_grow((void **)&samples->ends, &samples->end_room, samples->sample_count, sizeof *samples->ends))
        return c2_fail_memory(err, "the misses of samples");
    samples->ends[samples->sample_count++] = samples->count;
    return C2_OK;
}

void profile_samples_release(struct profile_samples *samples)
{
    c2_free(samples->cells);
    c2_free(samples->list);
    c2_free(samples->ends);
}
