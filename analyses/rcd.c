/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * rcd: re-conflict distances - how soon a set misses again, from which CCProf tells loops that suffer from conflicts.
 *
 * Model
 *   The misses of one level, of data, fetches and walks alike, are numbered as they come. The distance of a miss is its
 *   number less that of the set's miss before: 1 when the same set misses twice running, the number of sets when all
 *   miss in turn. It counts for the instruction and the object of the later miss, and so for their loop.
 *   The contribution factor of a loop is the share of its misses whose distance is below a threshold T.
 *   Deep     A line is lost to a conflict when as many others have come into its set as that has ways. So the second
 *            count looks further back: it has the misses before which the set has missed as often as it has ways
 *            within ways * T misses. Streams that go on side by side, in one set after the other, have short distances
 *            and no such misses.
 *   A conflict period is a row of distances of a set that are equal and below T; it lasts distance * their number
 *   misses. It counts for the miss that it ends with.
 *   Of several cores each has a level of its own, where that is not shared: misses are numbered there, distances and
 *   periods are of one cache's sets, and each has a sampler. All are added up, coherence misses - of a line that
 *   another core's write has taken out of the set - with the others; the sets of a loop are those that it missed in on
 *   any core.
 *   A sampler takes one miss of a period, which varies evenly from 1 to twice the mean, as a PMU does that is set anew
 *   at each sample; or several in a row, a burst, with the same mean. rcd_samples.c says what is made of them.
 *
 * Counting
 *   In phases that are measured; what misses in others has no number, and no distance is measured across.
 *
 * Invariants (asserted at the end)
 *   The misses and conflicts of all instructions are the level's. Each miss is the first of its set or has a distance.
 *
 * Memory
 *   1.6 KiB and a bit for each set for each instruction and object that meet in a miss; 12 bytes a sample; for the
 *   result as much again for each loop and object.
 *
 * Source: Roy, Song, Krishnamoorthy and Liu, Lightweight Detection of Cache Conflicts, CGO 2018, section 3.
 */
#include "analyses/rcd_priv.h"

#include <string.h>

#define USUAL_THRESHOLD 9u /* distances of eight or shorter, as the case studies of the paper have them */

/* ------------------------------------------------------------------ life */

static void rcd_destroy(struct analysis *analysis)
{
    struct rcd *rcd = (struct rcd *)analysis;
    rcd_samplers_release(rcd);
    c2_outfile_abandon(rcd->cdf);
    for (uint32_t i = 0; i < rcd->copies && rcd->caches; i++) {
        c2_free(rcd->caches[i].of_set);
        c2_free(rcd->caches[i].ring);
    }
    c2_free(rcd->caches);
    c2_free(rcd->cells);
    c2_free(rcd->used);
    c2_free(rcd->loop_sums);
    c2_free(rcd->object_sums);
    c2_free(rcd->bins);
    c2_free(rcd->sampled);
    c2_free(rcd);
}

/* The level of this name; NULL: the first. */
static enum c2_status find_level(struct rcd *rcd, const char *name, struct c2_error *err)
{
    const char *names[CACHES_MAX_LEVELS];
    char hint[128];
    const struct caches_machine *machine = rcd->machine;
    for (rcd->level = 0; name && rcd->level < machine->level_count; rcd->level++) {
        names[rcd->level] = machine->levels[rcd->level].name;
        if (strcmp(names[rcd->level], name) == 0)
            break;
    }
    if (rcd->level == machine->level_count)
        return c2_fail(err, C2_ERR_INVALID, "--rcd-level %s: the machine has no such level of data%s", name,
                       c2_suggest(hint, sizeof hint, name, names, machine->level_count));
    const struct caches_level *level = &machine->levels[rcd->level];
    rcd->sets = caches_level_sets(machine, level) * level->slices;
    rcd->ways = level->ways;
    rcd->words = (rcd->sets + 63) / 64;
    return C2_OK;
}

static enum c2_status make_sets(struct rcd *rcd, struct c2_error *err)
{
    bool made = true;
    rcd->copies = analyses_copies(rcd->machine, rcd->level);
    rcd->caches = c2_calloc(rcd->copies, sizeof *rcd->caches);
    for (uint32_t i = 0; i < rcd->copies && rcd->caches && made; i++) {
        struct rcd_cache *cache = &rcd->caches[i];
        cache->of_set = c2_calloc(rcd->sets, sizeof *cache->of_set);
        cache->ring = c2_calloc((size_t)rcd->sets * rcd->ways, sizeof *cache->ring);
        made = cache->of_set && cache->ring;
    }
    return rcd->caches && made ? C2_OK : c2_fail_memory(err, "the distances of misses");
}

static enum c2_status rcd_read_settings(struct rcd *rcd, const struct analyses_setup *setup, struct c2_error *err)
{
    enum c2_status status = find_level(rcd, analyses_setting(setup, ANALYSES_SETTING_rcd_level), err);
    if (status == C2_OK)
        status = make_sets(rcd, err);
    if (status == C2_OK)
        status = analyses_setting_number(&rcd->threshold, setup, ANALYSES_SETTING_rcd_below, USUAL_THRESHOLD, 1,
                                         ANALYSES_RCD_EXACT, err);
    if (status == C2_OK)
        status = rcd_samplers_read(rcd, analyses_setting(setup, ANALYSES_SETTING_rcd_sample), setup->seed, err);
    return status == C2_OK ? analyses_open_file(&rcd->cdf, setup, ANALYSES_SETTING_rcd_cdf, err) : status;
}

static enum c2_status rcd_create(struct analysis **out, const struct analyses_setup *setup,
                                 const struct analyses *analyses, struct c2_error *err)
{
    struct rcd *rcd = c2_calloc(1, sizeof *rcd);
    if (!rcd)
        return c2_fail_memory(err, "the distances of misses");
    rcd->base.kind = &analysis_rcd;
    rcd->machine = setup->machine;
    rcd->symbols = setup->symbols;
    rcd->profile = analyses_find(analyses, ANALYSIS_profile);
    rcd->loops = analyses_find(analyses, ANALYSIS_loops);
    enum c2_status status = rcd_read_settings(rcd, setup, err);
    if (status == C2_OK)
        *out = &rcd->base;
    else
        rcd_destroy(&rcd->base);
    return status;
}

/* ------------------------------------------------------------------ a miss */

static enum c2_status reach_access_site(struct rcd *rcd, uint32_t access_site, struct c2_error *err)
{
    if (access_site < rcd->room)
        return C2_OK;
    const uint32_t room = access_site + access_site / 2 + C2_HOST_SIZE(64u, 1u);
    struct rcd_cell *cells = c2_realloc(rcd->cells, room * sizeof *cells);
    if (cells)
        rcd->cells = cells;
    uint64_t *used = c2_realloc(rcd->used, (size_t)room * rcd->words * sizeof *used);
    if (used)
        rcd->used = used;
    if (!cells || !used)
        return c2_fail_memory(err, "the distances of misses");
    memset(cells + rcd->room, 0, (room - rcd->room) * sizeof *cells);
    memset(used + (size_t)rcd->room * rcd->words, 0, (size_t)(room - rcd->room) * rcd->words * sizeof *used);
    rcd->room = room;
    return C2_OK;
}

static uint32_t rcd_bin_of(uint64_t distance)
{
    return distance <= ANALYSES_RCD_EXACT ? (uint32_t)distance - 1 : ANALYSES_RCD_EXACT + c2_log2(distance - 1) - 7;
}

/* A row of equal distances is over. */
static void end_period(struct rcd *rcd, const struct rcd_set *set)
{
    if (set->run == 0 || set->distance >= rcd->threshold)
        return;
    rcd->cells[set->access_site].periods++;
    rcd->cells[set->access_site].period_misses += set->run * set->distance;
}

static void count_distance(struct rcd *rcd, struct rcd_cell *cell, struct rcd_set *set, uint64_t distance)
{
    cell->bins[rcd_bin_of(distance)]++;
    cell->below[ANALYSES_RCD_SINGLE] += distance < rcd->threshold;
    if (set->run != 0 && set->distance == distance) {
        set->run++;
        return;
    }
    end_period(rcd, set);
    set->distance = distance;
    set->run = 1;
}

/* The set's last misses are in the ring, the oldest where the next one goes. */
static void rcd_count(struct rcd *rcd, struct rcd_cache *cache, uint32_t access_site, uint32_t number)
{
    struct rcd_cell *cell = &rcd->cells[access_site];
    struct rcd_set *set = &cache->of_set[number];
    uint64_t *ring = &cache->ring[(size_t)number * rcd->ways];
    const uint64_t last = ring[(set->next == 0 ? rcd->ways : set->next) - 1], oldest = ring[set->next];
    cell->misses++;
    rcd->used[(size_t)access_site * rcd->words + number / 64] |= UINT64_C(1) << number % 64;
    if (last == 0)
        cell->first++;
    else
        count_distance(rcd, cell, set, cache->now - last);
    cell->below[ANALYSES_RCD_DEEP] += oldest != 0 && cache->now - oldest < rcd->threshold * rcd->ways;
    ring[set->next] = cache->now;
    set->next = set->next + 1 == rcd->ways ? 0 : set->next + 1;
    set->access_site = access_site;
}

static enum c2_status rcd_missed(void *self, const struct sim_miss *miss, struct c2_error *err)
{
    struct rcd *rcd = self;
    const uint32_t depth = rcd->level, access_site = where_access_site(miss->access_site);
    if (depth < miss->first || depth >= miss->outcome->served_by ||
        analyses_level_of(rcd->machine, miss->kind, depth) != depth)
        return C2_OK;
    const struct caches_event *event = &miss->outcome->event[depth];
    enum c2_status status = reach_access_site(rcd, access_site, err);
    if (status != C2_OK)
        return status;
    struct rcd_cache *cache = &rcd->caches[rcd->copies > 1 ? miss->core : 0];
    cache->now++;
    rcd->cells[access_site].conflicts += event->class_ == CACHES_CONFLICT;
    rcd_count(rcd, cache, access_site, event->set_number);
    return rcd_samplers_hear(rcd, cache, access_site, event->set_number, err);
}

/* ------------------------------------------------------------------ windows */

static enum c2_status rcd_window(void *self, const struct sim_window *window, struct c2_error *err)
{
    struct rcd *rcd = self;
    const struct caches_counts *counts = &window->of.levels[rcd->level];
    (void)err;
    if (window->phase != STREAM_MEASURE)
        return C2_OK;
    rcd->measured.cold += counts->cold;
    rcd->measured.capacity += counts->capacity;
    rcd->measured.conflict += counts->conflict;
    rcd->measured.coherence += counts->coherence;
    return C2_OK;
}

static enum c2_status rcd_dropped(void *self, struct c2_error *err)
{
    struct rcd *rcd = self;
    (void)err;
    if (rcd->room != 0) {
        memset(rcd->cells, 0, rcd->room * sizeof *rcd->cells);
        memset(rcd->used, 0, (size_t)rcd->room * rcd->words * sizeof *rcd->used);
    }
    for (uint32_t i = 0; i < rcd->copies; i++) {
        memset(rcd->caches[i].of_set, 0, rcd->sets * sizeof *rcd->caches[i].of_set);
        memset(rcd->caches[i].ring, 0, (size_t)rcd->sets * rcd->ways * sizeof *rcd->caches[i].ring);
    }
    rcd->measured = (struct caches_counts){.cold = 0};
    rcd_samplers_drop(rcd);
    return C2_OK;
}

static enum c2_status analyses_rcd_finish(void *self, struct sim *sim, struct c2_error *err)
{
    struct rcd *rcd = self;
    (void)sim;
    for (uint32_t i = 0; i < rcd->copies * rcd->sets; i++)
        end_period(rcd, &rcd->caches[i / rcd->sets].of_set[i % rcd->sets]);
    return rcd_finish(rcd, err);
}

static enum c2_status rcd_commit(struct analysis *analysis, struct c2_error *err)
{
    struct rcd *rcd = (struct rcd *)analysis;
    if (!rcd->cdf)
        return C2_OK;
    enum c2_status status = rcd_write_cdf(rcd, c2_outfile_stream(rcd->cdf), err);
    if (status == C2_OK)
        status = c2_outfile_commit(rcd->cdf, err);
    else
        c2_outfile_abandon(rcd->cdf);
    rcd->cdf = NULL; /* gone either way */
    return status;
}

static struct sim_subscriber rcd_subscriber(struct analysis *analysis)
{
    return (struct sim_subscriber){.self = analysis,
                                   .missed = rcd_missed,
                                   .dropped = rcd_dropped,
                                   .window = rcd_window,
                                   .finish = analyses_rcd_finish};
}

static const void *analyses_rcd_own_result(const struct analysis *analysis)
{
    const struct rcd *rcd = (const struct rcd *)analysis;
    return rcd->finished ? &rcd->result : NULL;
}

const struct analysis_kind analysis_rcd = {.needs = 1u << ANALYSIS_profile | 1u << ANALYSIS_loops,
                                           .chapter = &analyses_rcd_chapter,
                                           .create = rcd_create,
                                           .subscriber = rcd_subscriber,
                                           .result = analyses_rcd_own_result,
                                           .commit = rcd_commit,
                                           .destroy = rcd_destroy};
