/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * samples: what was counted in each sample, as estimates for the whole run - by level, and by object, function and
 * line.
 */
#ifndef C2_REPORT_SAMPLES_H
#define C2_REPORT_SAMPLES_H

#include "report/estimate.h"
#include "report/report_priv.h"

/* What is counted in a sample, of a level but for instructions. */
enum samples_count {
    SAMPLES_INSTRUCTIONS,
    SAMPLES_ACCESSES,
    SAMPLES_MISSES,
    SAMPLES_COHERENCE, /* of several cores: misses of lines that another one had taken */
    SAMPLES_CLASSES,   /* misses, by class from here on */
};

/* The share of the run's instructions behind the start that no sample has. */
double samples_left(const struct report_run *run);
/* Without the start. */
size_t samples_count(const struct report_run *run);
/* What the start counts where a sample counts 1, each sample standing for as much of what is behind the start: the
 * share of that which the samples have. Without samples 1. */
double samples_start_gain(const struct report_run *run);
/* Counts of y for each x, of the level of this number. Of samples with weights there is no margin. */
struct estimate samples_level(const struct report_run *run, uint32_t number, enum samples_count y,
                              enum samples_count x);

/* ------------------------------------------------------------------ stale.c: caches stand still in what is skipped */
#define SAMPLES_DOUBT_MOST 0.01 /* of a miss rate, a point: what a level with an interval may be off by */

#define SAMPLES_SNAPSHOTS_LEAST 11 /* are enough: with 95 % less than a quarter of the run is like none of them */

/* Why a level has no interval. */
enum samples_why { SAMPLES_SURE, SAMPLES_STALE, SAMPLES_SNAPSHOTS };
struct samples_doubt {
    enum samples_why why; /* SURE: it has one, if samples have one at all */
    double share;         /* what the miss rate may be off by, 0 to 1; 0 where nothing was skipped */
    uint64_t warmed;      /* lines that a warm-up behind what was skipped brought into the level, at the least */
    uint64_t measured;    /* lines that a sample brought into it, in the mean */
    uint64_t lines;       /* that the level has */
};
/* Of the level of this number. Of fewer than two samples all are SURE: they have no interval anyway. */
struct samples_doubt samples_doubt(const struct report_run *run, uint32_t number);

/* Adds what is known of one of a list (struct digest_ranked) at a level, by its number in a profile. */
void report_add_sampled(struct document *d, const struct digest *digest, unsigned kind, uint32_t number,
                        uint32_t level);

/* ------------------------------------------------------------------ groups.c: by object, function and line */
enum samples_kind { SAMPLES_OBJECTS, SAMPLES_FUNCTIONS, SAMPLES_LINES, SAMPLES_CHARGED, SAMPLES_KINDS };

/* At a level: misses for each instruction, and the classes' shares in the misses. */
struct samples_rates {
    struct estimate misses, classes[ANALYSES_CLASSES];
};
struct samples_groups;
/* The digest of a report's run, with its samples. */
struct report_digest {
    struct digest by;               /* the first member */
    struct samples_groups *samples; /* NULL: the run is not known by samples */
};
static inline const struct samples_groups *samples_of(const struct digest *digest)
{
    return ((const struct report_digest *)digest)->samples;
}
/* Counts all samples, of a run with samples and a profile. */
enum c2_status samples_groups_make(struct samples_groups **out, const struct digest *digest, struct c2_error *err);
void samples_groups_release(struct samples_groups *groups); /* takes NULL */
/* Of the one of this number (struct digest_ranked), at the level of this number in a profile. */
struct samples_rates samples_groups_rates(const struct samples_groups *groups, enum samples_kind kind, uint32_t number,
                                          uint32_t level);
/* Its share of the whole cost, without start-up. */
struct estimate samples_groups_cost(const struct samples_groups *groups, enum samples_kind kind, uint32_t number);

#endif
