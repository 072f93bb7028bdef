/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * rcd: re-conflict distances, by loop and by object, and what samples would have said of them. rcd.c has the model.
 */
#ifndef C2_ANALYSES_RCD_H
#define C2_ANALYSES_RCD_H

#include "analyses/analyses.h"
#include "base/base.h"

/* Distances are counted exactly up to RCD_EXACT, then up to powers of two: bin i has those above the limit of bin i - 1
 * and up to its own. */
#define ANALYSES_RCD_EXACT 128u
#define ANALYSES_RCD_BINS (ANALYSES_RCD_EXACT + 57u)
static inline uint64_t analyses_rcd_limit(uint32_t bin)
{
    const uint32_t log2 = bin - ANALYSES_RCD_EXACT + 8;
    return bin < ANALYSES_RCD_EXACT ? bin + 1u : log2 > 63 ? UINT64_MAX : UINT64_C(1) << log2;
}

/* Two ways to look at a miss: how long ago the set had its last one, and how long ago it had as many as it has ways. */
enum analyses_rcd_kind { ANALYSES_RCD_SINGLE, ANALYSES_RCD_DEEP, ANALYSES_RCD_KINDS };

/* Misses of one level in a loop, in an object, in all. */
struct analyses_rcd_sum {
    uint64_t misses;
    uint64_t conflicts;                 /* of these, conflicts to the shadow */
    uint64_t first;                     /* no distance: the set's first one */
    uint64_t below[ANALYSES_RCD_KINDS]; /* SINGLE: distance below the threshold; DEEP: see the model */
    uint64_t periods, period_misses;    /* conflict periods, and how many misses of the level all of them took */
    uint32_t sets;                      /* in how many sets */
    const uint64_t *bins;               /* [ANALYSES_RCD_BINS] */
};

/* What samples of the misses say of one loop: of `judged` samples so many were below. */
struct analyses_rcd_sampled {
    uint64_t samples, judged[ANALYSES_RCD_KINDS], below[ANALYSES_RCD_KINDS];
};
struct analyses_rcd_sampling {
    uint64_t period, burst;                   /* of how many misses one is taken, on average; how many in a row */
    uint64_t samples;                         /* taken */
    const struct analyses_rcd_sampled *loops; /* as the result's */
};

/* A loop is said to suffer from conflicts by the contribution factor, below / judged: logistic regressions, for the
 * distances of all misses (and of those in bursts), and for those of single samples, which are never deep. Where its
 * probability is above a half it does. */
bool analyses_rcd_is_trained(uint64_t threshold, uint32_t sets); /* else there are no coefficients */
double analyses_rcd_probability(enum analyses_rcd_kind kind, bool single_samples, double contribution);

#define ANALYSES_RCD_SAMPLINGS 8u
struct analyses_rcd_result {
    uint32_t level; /* number of the level */
    uint32_t sets, ways;
    uint64_t threshold; /* --rcd-below */
    bool judged;        /* the regressions are for this threshold and as many sets */
    struct analyses_rcd_sum all;
    const struct analyses_rcd_sum *loops;   /* [loop]; behind them what is in none */
    const struct analyses_rcd_sum *objects; /* [object of the profile] */
    const struct analyses_rcd_sampling *samplings;
    uint32_t sampling_count;
};

/* Loops with at least this share of all misses count when the method is judged, 1 / N; and by the shadow one suffers
 * when at least 1 / M of its misses are conflicts. */
enum { ANALYSES_RCD_NOTICEABLE = 100, ANALYSES_RCD_SUFFERS = 4 };
static inline bool analyses_rcd_counts(const struct analyses_rcd_result *of, const struct analyses_rcd_sum *loop)
{
    return loop->misses != 0 && loop->misses * ANALYSES_RCD_NOTICEABLE >= of->all.misses;
}
static inline bool analyses_rcd_suffers(const struct analyses_rcd_sum *loop)
{
    return loop->conflicts != 0 && loop->conflicts * ANALYSES_RCD_SUFFERS >= loop->misses;
}

/* What reports show of it. */
extern const struct analysis_chapter analyses_rcd_chapter;

#endif
