/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * histogram (--histogram): accesses and misses of each level by address, phase by phase, and what a monitor of few
 * counters would have seen of them. histogram.c and monitor.c have the models.
 */
#ifndef C2_ANALYSES_HISTOGRAM_H
#define C2_ANALYSES_HISTOGRAM_H

#include "analyses/analyses.h"

enum analyses_granularity { ANALYSES_BY_BYTES, ANALYSES_BY_OBJECT };

/* What one level was asked for. */
struct analyses_level_count {
    uint64_t accesses, misses;
};
/* One piece of the address space in one phase, or an object. */
struct analyses_cell {
    uint32_t phase;  /* from 0 on */
    uint64_t number; /* BYTES: address / bytes; OBJECT: as in the profile; UINT64_MAX: in none of it */
    const struct analyses_level_count *levels; /* [number of the level, ANALYSES_LEVELS] */
};
struct analyses_histogram_phase {
    const char *at;        /* the function that it begins with; NULL: the beginning of the run, or of a region */
    uint64_t instructions; /* of the run that were measured before it */
    uint64_t cells;
    struct analyses_level_count levels[ANALYSES_LEVELS];
};

/* One monitor. */
enum analyses_monitor_victim { ANALYSES_FIFO, ANALYSES_LRU, ANALYSES_RANDOM };
struct analyses_monitor {
    uint32_t counters, lines, bits;
    uint32_t level; /* of data, whose accesses it sees: number in the machine's levels */
    bool aligned;   /* pieces begin at multiples of `lines` */
    enum analyses_monitor_victim victim;
    uint64_t events;
    uint64_t evicted, full, flushed; /* counters that were swapped out to make room, at their largest count, at the end
                                      * of a phase */
    double error;                    /* the sum of differences to the exact histogram, as a share of all events */
};

struct analyses_histogram_result {
    enum analyses_granularity by;
    uint64_t bytes;                    /* of a piece */
    const struct analyses_cell *cells; /* by phase, then number */
    size_t cell_count;
    const struct analyses_histogram_phase *phases;
    uint32_t phase_count;
    const struct analyses_monitor *monitors;
    uint32_t monitor_count;
    const char *const *never; /* functions of --phase-at that the program never came to; NULL-terminated */
    const struct analyses_level_count *insns; /* [instruction of the profile * insn_levels + number of the level]: in
                                               * all phases */
    uint32_t insn_levels;
    uint64_t all;   /* pieces that were touched in any phase */
    uint64_t tenth; /* L1D misses of the tenth of them that has most */
};

/* What reports show of it. */
extern const struct analysis_chapter analyses_histogram_chapter;

#endif
