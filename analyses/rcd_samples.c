/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * rcd_samples: what a PMU that samples misses would have said of re-conflict distances.
 *
 * Model
 *   Single samples are put together loop by loop, as CCProf does: the distance of a sample is counted in samples of the
 *   loop. Misses that are spread evenly over N sets have samples that are, too, so of their distances 1 - (1 -
 *   1/N)^(T-1) are below T by chance: 12 % of them for T = 9, N = 64. A set that is asked for again and again is seen
 *   so only as long as that goes on for some sampling periods. Within a burst the misses follow each other, so their
 *   distances are those of all misses, as far as the burst goes back. A sample is judged when it has as many before
 *   it in the burst as its kind looks back at: T, or T times the ways for deep ones, of which single samples know
 *   nothing. Of several cores each has a PMU, whose samples are put together by themselves.
 *
 * Invariants
 *   The same seed gives the same samples; each sampler draws from numbers of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "analyses/rcd_priv.h"

/* ------------------------------------------------------------------ which there are */

static void draw_wait(struct rcd_sampler *sampler)
{
    const uint64_t mean = sampler->period * sampler->burst - (sampler->burst - 1);
    sampler->wait = 1 + c2_rng_below(&sampler->rng, 2 * mean - 1);
}

/* Each core's draws from numbers of its own. */
static void start_all(struct rcd *rcd, const struct rcd_sampler *as, const char *word, uint64_t seed)
{
    for (uint32_t i = 0; i < rcd->copies; i++) {
        struct rcd_sampler *sampler = &rcd->caches[i].samplers[rcd->sampler_count];
        char name[96];
        *sampler = *as;
        if (i == 0)
            snprintf(name, sizeof name, "rcd %s", word);
        else
            snprintf(name, sizeof name, "rcd %s, core %u", word, i);
        c2_rng_init(&sampler->rng, seed, name);
        draw_wait(sampler);
    }
    rcd->sampler_count++;
}

static enum c2_status read_one(struct rcd *rcd, const char *word, uint64_t seed, struct c2_error *err)
{
    enum { MOST = 1000000000 };
    struct rcd_sampler made = {.burst = 1}, *sampler = &made;
    const char *by = strchr(word, 'x');
    char period[32];
    snprintf(period, sizeof period, "%.*s", (int)(by ? by - word : (ptrdiff_t)strlen(word)), word);
    if (c2_parse_number(&sampler->period, period, "", NULL) != C2_OK || sampler->period == 0 ||
        sampler->period > MOST ||
        (by && (c2_parse_number(&sampler->burst, by + 1, "", NULL) != C2_OK || sampler->burst > MOST)))
        return c2_fail(err, C2_ERR_INVALID,
                       "--rcd-sample %s: must be a mean period, 1 to 10^9, or PERIODxBURST; with commas for several",
                       word);
    if (by && sampler->burst <= rcd->threshold)
        return c2_fail(err, C2_ERR_INVALID,
                       "--rcd-sample %s: a burst must have more than %llu misses, as distances below that are counted",
                       word, (unsigned long long)rcd->threshold);
    start_all(rcd, sampler, word, seed);
    return C2_OK;
}

enum c2_status rcd_samplers_read(struct rcd *rcd, const char *text, uint64_t seed, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    while (text && status == C2_OK) {
        char word[64];
        const size_t length = strcspn(text, ",");
        if (rcd->sampler_count == ANALYSES_RCD_SAMPLINGS)
            return c2_fail(err, C2_ERR_INVALID, "--rcd-sample: at most %u periods at a time", ANALYSES_RCD_SAMPLINGS);
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), text);
        status = read_one(rcd, word, seed, err);
        text = text[length] == ',' ? text + length + 1 : NULL;
    }
    return status;
}

void rcd_samplers_drop(struct rcd *rcd)
{
    for (uint32_t i = 0; i < rcd->copies * rcd->sampler_count; i++)
        rcd->caches[i / rcd->sampler_count].samplers[i % rcd->sampler_count].count = 0;
}

void rcd_samplers_release(struct rcd *rcd)
{
    for (uint32_t i = 0; i < rcd->copies * rcd->sampler_count; i++)
        c2_free(rcd->caches[i / rcd->sampler_count].samplers[i % rcd->sampler_count].samples);
}

/* ------------------------------------------------------------------ samples */

static enum c2_status rcd_samples_take(struct rcd_sampler *sampler, uint32_t access_site, uint32_t set, bool begins,
                                       struct c2_error *err)
{
    if (!c2_grow((void **)&sampler->samples, &sampler->room, sampler->count, sizeof *sampler->samples))
        return c2_fail_memory(err, "samples of misses");
    sampler->samples[sampler->count++] = (struct rcd_sample){access_site, set, begins};
    return C2_OK;
}

static enum c2_status rcd_samples_hear(struct rcd_sampler *sampler, uint32_t access_site, uint32_t set,
                                       struct c2_error *err)
{
    const bool begins = sampler->left == 0;
    if (begins && --sampler->wait != 0)
        return C2_OK;
    sampler->left = begins ? sampler->burst - 1 : sampler->left - 1;
    if (sampler->left == 0)
        draw_wait(sampler);
    return rcd_samples_take(sampler, access_site, set, begins, err);
}

enum c2_status rcd_samplers_hear(struct rcd *rcd, struct rcd_cache *cache, uint32_t access_site, uint32_t set,
                                 struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < rcd->sampler_count && status == C2_OK; i++)
        status = rcd_samples_hear(&cache->samplers[i], access_site, set, err);
    return status;
}

/* ------------------------------------------------------------------ what they say */

/* Samples in a row, with the last ones of each set. */
struct row {
    const struct rcd *rcd;
    uint64_t *ring; /* [set * ways + place]: 1 + the sample's place in the row; 0: none */
    uint32_t *next; /* [set] */
    uint64_t begin; /* places before are of another row */
    uint64_t at;
};

static uint64_t rcd_samples_distance(const struct row *row, uint64_t place)
{
    return place <= row->begin ? UINT64_MAX : row->at - place;
}

/* The next sample of the row: whether it is below, by each kind. */
static void rcd_samples_step(struct row *row, uint32_t set, bool below[ANALYSES_RCD_KINDS])
{
    const struct rcd *rcd = row->rcd;
    uint64_t *ring = &row->ring[(size_t)set * rcd->ways];
    uint32_t *next = &row->next[set];
    row->at++;
    below[ANALYSES_RCD_SINGLE] = rcd_samples_distance(row, ring[(*next == 0 ? rcd->ways : *next) - 1]) < rcd->threshold;
    below[ANALYSES_RCD_DEEP] = rcd_samples_distance(row, ring[*next]) < rcd->threshold * rcd->ways;
    ring[*next] = row->at;
    *next = *next + 1 == rcd->ways ? 0 : *next + 1;
}

static void rcd_samples_add(struct analyses_rcd_sampled *to, enum analyses_rcd_kind kind, bool below)
{
    to->judged[kind]++;
    to->below[kind] += below;
}

static void judge_bursts(struct row *row, const struct rcd_sampler *sampler, const uint32_t *loop_of,
                         struct analyses_rcd_sampled *loops)
{
    const uint64_t looks[ANALYSES_RCD_KINDS] = {row->rcd->threshold, row->rcd->threshold * row->rcd->ways};
    for (uint32_t i = 0; i < sampler->count; i++) {
        const struct rcd_sample *sample = &sampler->samples[i];
        struct analyses_rcd_sampled *to = &loops[loop_of[sample->access_site]];
        bool below[ANALYSES_RCD_KINDS];
        row->begin = sample->begins ? row->at : row->begin;
        rcd_samples_step(row, sample->set, below);
        to->samples++;
        for (unsigned kind = 0; kind < ANALYSES_RCD_KINDS; kind++)
            if (row->at - row->begin >= looks[kind])
                rcd_samples_add(to, (enum analyses_rcd_kind)kind, below[kind]);
    }
}

struct placed {
    uint32_t loop, set, number;
};

static int rcd_samples_by_loop(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;
    if (a->loop != b->loop)
        return a->loop < b->loop ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static enum c2_status judge_single(struct row *row, const struct rcd_sampler *sampler, const uint32_t *loop_of,
                                   struct analyses_rcd_sampled *loops, struct c2_error *err)
{
    struct placed *order = c2_alloc((sampler->count + (size_t)1) * sizeof *order);
    if (!order)
        return c2_fail_memory(err, "samples of misses");
    for (uint32_t i = 0; i < sampler->count; i++)
        order[i] = (struct placed){loop_of[sampler->samples[i].access_site], sampler->samples[i].set, i};
    qsort(order, sampler->count, sizeof *order, rcd_samples_by_loop);
    for (uint32_t i = 0; i < sampler->count; i++) {
        bool below[ANALYSES_RCD_KINDS];
        if (i == 0 || order[i - 1].loop != order[i].loop)
            row->begin = row->at;
        rcd_samples_step(row, order[i].set, below);
        loops[order[i].loop].samples++;
        rcd_samples_add(&loops[order[i].loop], ANALYSES_RCD_SINGLE, below[ANALYSES_RCD_SINGLE]);
    }
    c2_free(order);
    return C2_OK;
}

enum c2_status rcd_sampler_judge(const struct rcd *rcd, const struct rcd_sampler *sampler, const uint32_t *loop_of,
                                 struct analyses_rcd_sampled *loops, struct c2_error *err)
{
    struct row row = {.rcd = rcd,
                      .ring = c2_calloc((size_t)rcd->sets * rcd->ways, sizeof *row.ring),
                      .next = c2_calloc(rcd->sets, sizeof *row.next)};
    enum c2_status status = row.ring && row.next ? C2_OK : c2_fail_memory(err, "samples of misses");
    if (status == C2_OK && sampler->burst > 1)
        judge_bursts(&row, sampler, loop_of, loops);
    else if (status == C2_OK)
        status = judge_single(&row, sampler, loop_of, loops, err);
    c2_free(row.ring);
    c2_free(row.next);
    return status;
}
