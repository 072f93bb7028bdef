/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * rcd_result: re-conflict distances summed up by loop and object, what samples said, and the distribution as a file.
 */
#include <inttypes.h>
#include <string.h>

#include "analyses/rcd_priv.h"

/* ------------------------------------------------------------------ sums */

struct sums {
    struct analyses_rcd_sum *of; /* of one loop, one object, or all */
    uint64_t *bins, *used;
};

static void rcd_result_add_cell(const struct rcd *rcd, const struct sums *to, uint32_t access_site)
{
    const struct rcd_cell *cell = &rcd->cells[access_site];
    to->of->misses += cell->misses;
    to->of->conflicts += cell->conflicts;
    to->of->first += cell->first;
    to->of->periods += cell->periods;
    to->of->period_misses += cell->period_misses;
    for (unsigned kind = 0; kind < ANALYSES_RCD_KINDS; kind++)
        to->of->below[kind] += cell->below[kind];
    for (uint32_t i = 0; i < ANALYSES_RCD_BINS; i++)
        to->bins[i] += cell->bins[i];
    for (uint32_t i = 0; i < rcd->words; i++)
        to->used[i] |= rcd->used[(size_t)access_site * rcd->words + i];
}

static uint32_t count_bits(const uint64_t *used, uint32_t words)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < words; i++)
        bits += (uint32_t)__builtin_popcountll(used[i]);
    return bits;
}

/* Groups: loops and what is in none, then objects, then all. */
struct summing {
    struct rcd *rcd;
    const struct analyses_loops_result *loops;
    size_t objects, groups;
    uint64_t *used;    /* [group * words] */
    uint32_t *loop_of; /* [access site] */
};

static struct analyses_rcd_sum *rcd_result_sum_of(const struct summing *s, size_t group)
{
    const size_t loops = s->loops->count + (size_t)1;
    if (group < loops)
        return &s->rcd->loop_sums[group];
    return group - loops < s->objects ? &s->rcd->object_sums[group - loops] : &s->rcd->result.all;
}

static void rcd_result_add_to(const struct summing *s, size_t group, uint32_t access_site)
{
    const struct sums to = {rcd_result_sum_of(s, group), s->rcd->bins + group * ANALYSES_RCD_BINS,
                            s->used + group * s->rcd->words};
    rcd_result_add_cell(s->rcd, &to, access_site);
}

static enum c2_status rcd_result_make_room(struct summing *s, struct c2_error *err)
{
    struct rcd *rcd = s->rcd;
    const struct analyses_profile_result *profile = analysis_profile.result(rcd->profile);
    s->loops = analysis_loops.result(rcd->loops);
    s->objects = profile->object_count;
    s->groups = s->loops->count + (size_t)1 + s->objects + 1;
    rcd->loop_sums = c2_calloc(s->loops->count + (size_t)1, sizeof *rcd->loop_sums);
    rcd->object_sums = c2_calloc(s->objects + 1, sizeof *rcd->object_sums);
    rcd->bins = c2_calloc(s->groups * ANALYSES_RCD_BINS, sizeof *rcd->bins);
    rcd->sampled = c2_calloc((s->loops->count + (size_t)1) * (rcd->sampler_count + 1u), sizeof *rcd->sampled);
    s->used = c2_calloc(s->groups * rcd->words, sizeof *s->used);
    s->loop_of = c2_calloc(rcd->room + (size_t)1, sizeof *s->loop_of);
    return rcd->loop_sums && rcd->object_sums && rcd->bins && rcd->sampled && s->used && s->loop_of
               ? C2_OK
               : c2_fail_memory(err, "the distances of misses");
}

/* Each instruction and object that missed is a row of the profile. */
static void add_rows(struct summing *s)
{
    const struct analyses_profile_result *profile = analysis_profile.result(s->rcd->profile);
    for (uint32_t i = 0; i < s->rcd->room; i++) {
        if (s->rcd->cells[i].misses == 0)
            continue;
        const struct analyses_row *row = &profile->rows[where_access_site_row(s->rcd->profile, i)];
        const uint32_t loop = s->loops->loop_of[row->insn];
        s->loop_of[i] = loop == ANALYSES_NO_LOOP ? s->loops->count : loop;
        rcd_result_add_to(s, s->loop_of[i], i);
        rcd_result_add_to(s, s->loops->count + (size_t)1 + row->object, i);
        rcd_result_add_to(s, s->groups - 1, i);
    }
}

static void close_sums(const struct summing *s)
{
    for (size_t group = 0; group < s->groups; group++) {
        struct analyses_rcd_sum *sum = rcd_result_sum_of(s, group);
        sum->bins = s->rcd->bins + group * ANALYSES_RCD_BINS;
        sum->sets = count_bits(s->used + group * s->rcd->words, s->rcd->words);
    }
}

static void rcd_result_check(const struct rcd *rcd)
{
    const struct analyses_rcd_sum *all = &rcd->result.all;
    const struct caches_counts *n = &rcd->measured;
    uint64_t distances = 0;
    for (uint32_t i = 0; i < ANALYSES_RCD_BINS; i++)
        distances += all->bins[i];
    C2_ASSERT(all->misses == n->cold + n->capacity + n->conflict + n->coherence && all->conflicts == n->conflict);
    C2_ASSERT(all->first + distances == all->misses && all->first <= (uint64_t)rcd->copies * rcd->sets);
    C2_ASSERT(all->below[ANALYSES_RCD_DEEP] <= all->misses && all->below[ANALYSES_RCD_SINGLE] <= distances);
}

static enum c2_status rcd_result_judge(struct summing *s, struct c2_error *err)
{
    struct rcd *rcd = s->rcd;
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < rcd->sampler_count && status == C2_OK; i++) {
        const struct rcd_sampler *first = &rcd->caches[0].samplers[i];
        struct analyses_rcd_sampled *loops = rcd->sampled + i * (s->loops->count + (size_t)1);
        rcd->samplings[i] = (struct analyses_rcd_sampling){first->period, first->burst, 0, loops};
        for (uint32_t copy = 0; copy < rcd->copies && status == C2_OK; copy++) {
            const struct rcd_sampler *sampler = &rcd->caches[copy].samplers[i];
            rcd->samplings[i].samples += sampler->count;
            status = rcd_sampler_judge(rcd, sampler, s->loop_of, loops, err);
        }
    }
    return status;
}

enum c2_status rcd_finish(struct rcd *rcd, struct c2_error *err)
{
    struct summing s = {.rcd = rcd};
    rcd->result = (struct analyses_rcd_result){.level = rcd->level,
                                               .sets = rcd->sets,
                                               .ways = rcd->ways,
                                               .threshold = rcd->threshold,
                                               .judged = analyses_rcd_is_trained(rcd->threshold, rcd->sets)};
    enum c2_status status = rcd_result_make_room(&s, err);
    if (status == C2_OK) {
        add_rows(&s);
        close_sums(&s);
        rcd_result_check(rcd);
        status = rcd_result_judge(&s, err);
    }
    rcd->result.loops = rcd->loop_sums;
    rcd->result.objects = rcd->object_sums;
    rcd->result.samplings = rcd->samplings;
    rcd->result.sampling_count = rcd->sampler_count;
    rcd->finished = status == C2_OK;
    c2_free(s.used);
    c2_free(s.loop_of);
    return status;
}

/* ------------------------------------------------------------------ the distribution, as a file */

static void write_steps(FILE *to, const struct analyses_rcd_sum *sum)
{
    uint64_t sofar = 0;
    for (uint32_t i = 0; i < ANALYSES_RCD_BINS; i++) {
        sofar += sum->bins[i];
        if (sum->bins[i] != 0)
            fprintf(to, "%" PRIu64 " %.6f\n", analyses_rcd_limit(i), (double)sofar / (double)sum->misses);
    }
}

static void write_loop(FILE *to, const struct rcd *rcd, const struct analyses_loop *loop,
                       const struct analyses_rcd_sum *sum)
{
    struct loader_place place = {.offset = loop->header.v};
    char text[200];
    analyses_loop_place(&place, rcd->symbols, loop);
    fprintf(to, "\n\n# %s: %" PRIu64 " misses\n", loader_place_text(text, sizeof text, loop->header, &place),
            sum->misses);
    write_steps(to, sum);
}

enum c2_status rcd_write_cdf(struct rcd *rcd, FILE *to, struct c2_error *err)
{
    const struct analyses_loops_result *loops = analysis_loops.result(rcd->loops);
    (void)err;
    fprintf(to, "# distance, share of the misses that have it or a lower one; all of %s: %" PRIu64 " misses\n",
            rcd->machine->levels[rcd->level].name, rcd->result.all.misses);
    write_steps(to, &rcd->result.all);
    for (uint32_t i = 0; i < loops->count; i++)
        if (analyses_rcd_counts(&rcd->result, &rcd->result.loops[i]))
            write_loop(to, rcd, &loops->loops[i], &rcd->result.loops[i]);
    return C2_OK;
}
