/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What rcd.c counts, rcd_samples.c samples, and rcd_result.c sums up.
 */
#ifndef C2_ANALYSES_RCD_PRIV_H
#define C2_ANALYSES_RCD_PRIV_H

#include "analyses/loops.h"
#include "analyses/rcd.h"
#include "analyses/where.h"

/* The misses of an instruction in an object. */
struct rcd_cell {
    uint64_t misses, conflicts, first, below[ANALYSES_RCD_KINDS], periods, period_misses;
    uint64_t bins[ANALYSES_RCD_BINS];
};

struct rcd_set {
    uint64_t distance, run; /* the last ones were the same: so many of them; run 0: there was none */
    uint32_t access_site;   /* of the last miss */
    uint32_t next;          /* its place in the ring */
};

/* One sample. */
struct rcd_sample {
    uint32_t access_site, set;
    bool begins; /* a burst */
};
struct rcd_sampler {
    uint64_t period, burst;
    uint64_t wait, left; /* misses up to the next sample; samples that this burst still has */
    struct c2_rng rng;
    struct rcd_sample *samples;
    uint32_t count, room;
};

/* One cache of the level: of several cores each has one where the level is a core's own. */
struct rcd_cache {
    uint64_t now; /* its misses so far, this one included */
    struct rcd_set *of_set;
    uint64_t *ring; /* [set * ways + place]: numbers of the last misses; 0: none yet */
    struct rcd_sampler samplers[ANALYSES_RCD_SAMPLINGS];
};

struct rcd {
    struct analysis base;
    const struct caches_machine *machine;
    const struct analysis *profile, *loops;
    uint32_t level, sets, ways;
    uint64_t threshold;
    struct rcd_cache *caches; /* [core], or one */
    uint32_t copies;
    struct rcd_cell *cells; /* [access site] */
    uint64_t *used;         /* [access site * words]: a bit for each set */
    uint32_t words, room;
    uint32_t sampler_count;
    struct caches_counts measured; /* of the level */
    struct c2_outfile *cdf;        /* NULL: not asked for */
    struct loader_symbols *symbols;

    struct analyses_rcd_sum *loop_sums, *object_sums;
    uint64_t *bins;
    struct analyses_rcd_sampling samplings[ANALYSES_RCD_SAMPLINGS];
    struct analyses_rcd_sampled *sampled;
    struct analyses_rcd_result result;
    bool finished;
};

/* rcd_samples.c: "1212,171x128" */
enum c2_status rcd_samplers_read(struct rcd *rcd, const char *text, uint64_t seed, struct c2_error *err);
enum c2_status rcd_samplers_hear(struct rcd *rcd, struct rcd_cache *cache, uint32_t access_site, uint32_t set,
                                 struct c2_error *err);
/* Adds what the sampler's samples say of each loop, which loop_of says of a access site. */
enum c2_status rcd_sampler_judge(const struct rcd *rcd, const struct rcd_sampler *sampler, const uint32_t *loop_of,
                                 struct analyses_rcd_sampled *loops, struct c2_error *err);
void rcd_samplers_drop(struct rcd *rcd);
void rcd_samplers_release(struct rcd *rcd);

/* rcd_result.c */
enum c2_status rcd_finish(struct rcd *rcd, struct c2_error *err);
enum c2_status rcd_write_cdf(struct rcd *rcd, FILE *to, struct c2_error *err);

#endif
