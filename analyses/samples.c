/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * samples: what made accesses wait in each sample, by instruction and object.
 *
 * Model
 *   A list of counts, sample after sample: misses of one access site at one level, of one class, and its upgrades. The
 *   count of the sample that is being measured is found by a table of all access sites; when the sample is over its
 *   counts are left where they are. Translations may be notified on another thread than misses, so they are found at
 *   the end of a sample, when all is said: what an access site has then more than at the end of the last one.
 *
 * Counting
 *   The counts of all samples are the profile's. A count that would not fit its 32 bits goes on in another.
 *
 * Invariants
 *   Memory is bounded by what waited in each sample: 12 bytes for an instruction, object, level and class. Where
 *   samples are not asked for, nothing is kept.
 */
#include "analyses/profile_priv.h"

/* Of an access site, and a level and a class or the upgrades: where in the list its count is, and which sample's (from
 * 1). */
struct samples_cell {
    uint32_t sample, at;
};

static size_t cells_of(const struct profile *profile, uint32_t access_sites)
{
    return (size_t)access_sites * (profile_levels(profile) * ANALYSES_SAMPLED_CLASSES + 1);
}

static enum c2_status samples_reach(struct profile *profile, struct c2_error *err)
{
    struct profile_samples *samples = &profile->samples;
    const uint32_t room = profile->tally_room;
    if (samples->access_site_room == room)
        return C2_OK;
    struct samples_cell *cells = c2_realloc(samples->cells, cells_of(profile, room) * sizeof *cells);
    if (!cells)
        return c2_fail_memory(err, "the misses of a sample");
    for (size_t i = cells_of(profile, samples->access_site_room); i < cells_of(profile, room); i++)
        cells[i] = (struct samples_cell){0};
    samples->cells = cells;
    samples->access_site_room = room;
    return C2_OK;
}

static enum c2_status samples_append(struct profile_samples *samples, const struct analyses_sampled *entry,
                                     struct c2_error *err)
{
    if (!c2_grow((void **)&samples->list, &samples->room, samples->count, sizeof *samples->list))
        return c2_fail_memory(err, "the misses of samples");
    samples->list[samples->count++] = *entry;
    return C2_OK;
}

enum c2_status profile_samples_count(struct profile *profile, uint32_t access_site, uint32_t level, unsigned kind,
                                     struct c2_error *err)
{
    struct profile_samples *samples = &profile->samples;
    enum c2_status status = samples_reach(profile, err);
    if (status != C2_OK)
        return status;
    const size_t at = kind == ANALYSES_SAMPLED_UPGRADES ? profile_levels(profile) * ANALYSES_SAMPLED_CLASSES
                                                        : level * ANALYSES_SAMPLED_CLASSES + kind;
    struct samples_cell *cell = &samples->cells[cells_of(profile, access_site) + at];
    if (cell->sample != samples->sample_count + 1 || samples->list[cell->at].count == UINT32_MAX) {
        const struct analyses_sampled entry = {.row = access_site, .level = (uint8_t)level, .kind = (uint8_t)kind};
        *cell = (struct samples_cell){samples->sample_count + 1, samples->count};
        status = samples_append(samples, &entry, err);
    }
    if (status == C2_OK)
        samples->list[cell->at].count++;
    return status;
}

/* ------------------------------------------------------------------ translations */

static enum c2_status append_many(struct profile_samples *samples, uint32_t access_site, unsigned kind, uint64_t count,
                                  struct c2_error *err)
{
    enum c2_status status = C2_OK;
    while (count != 0 && status == C2_OK) {
        const uint32_t part = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
        const struct analyses_sampled entry = {.row = access_site, .count = part, .kind = (uint8_t)kind};
        status = samples_append(samples, &entry, err);
        count -= part;
    }
    return status;
}

static enum c2_status reach_ended(struct profile *profile, struct c2_error *err)
{
    struct profile_samples *samples = &profile->samples;
    const uint32_t room = profile->access_site_room;
    if (samples->ended_room == room)
        return C2_OK;
    struct analyses_translations *ended = c2_realloc(samples->ended, room * sizeof *ended);
    if (!ended)
        return c2_fail_memory(err, "the translations of a sample");
    for (uint32_t i = samples->ended_room; i < room; i++)
        ended[i] = (struct analyses_translations){0};
    samples->ended = ended;
    samples->ended_room = room;
    return C2_OK;
}

static enum c2_status end_translations(struct profile *profile, struct c2_error *err)
{
    struct profile_samples *samples = &profile->samples;
    enum c2_status status = reach_ended(profile, err);
    for (uint32_t i = 0; i < profile->access_site_count && status == C2_OK; i++) {
        struct analyses_translations now = profile->translations[i], *ended = &samples->ended[i];
        now.misses += i < profile->tally_room ? profile->heard[i].misses : 0;
        now.reads += i < profile->tally_room ? profile->heard[i].reads : 0;
        status = append_many(samples, i, ANALYSES_SAMPLED_TRANSLATIONS, now.misses - ended->misses, err);
        if (status == C2_OK)
            status = append_many(samples, i, ANALYSES_SAMPLED_WALK_READS, now.reads - ended->reads, err);
        *ended = now;
    }
    return status;
}

void profile_samples_drop(struct profile *profile)
{
    struct profile_samples *samples = &profile->samples;
    for (uint32_t i = 0; i < samples->ended_room; i++)
        samples->ended[i] = (struct analyses_translations){0};
}

/* ------------------------------------------------------------------ the end of a sample */

enum c2_status profile_samples_end(struct profile *profile, struct c2_error *err)
{
    struct profile_samples *samples = &profile->samples;
    enum c2_status status = profile->machine->tlb_count != 0 ? end_translations(profile, err) : C2_OK;
    if (status != C2_OK)
        return status;
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
    c2_free(samples->ended);
}
