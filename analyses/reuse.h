/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * reuse (--reuse): how far apart accesses of the same line are, and so what caches of every size would miss. reuse.c
 * has the model.
 */
#ifndef C2_ANALYSES_REUSE_H
#define C2_ANALYSES_REUSE_H

#include "analyses/analyses.h"

/* A histogram in powers of two. [0]: distance 0; [k]: 2^(k-1) up to 2^k - 1; COLD: of lines that were never accessed
 * before; TAKEN: of several cores, of lines that another one has written since. A cache of 2^k lines has what [0] to
 * [k] count. */
#define ANALYSES_REUSE_BUCKETS 35u
#define ANALYSES_REUSE_COLD 33u
#define ANALYSES_REUSE_TAKEN 34u
struct analyses_reuse {
    uint64_t count[ANALYSES_REUSE_BUCKETS];
};

/* One stack: line accesses in their order, and their distances. */
struct analyses_reuse_stack {
    const char *name;     /* "data", "code": all line accesses of the program; "L2": those that the level was asked */
    const char *level;    /* whose accesses these are */
    uint64_t level_lines; /* of that level, each core's where it has its own, */
    uint64_t fa_misses;   /* and what its shadow has missed: as many as misses() says */
    uint64_t accesses;
    struct analyses_reuse by_size;
    const uint64_t *exact; /* [distance]; of all distances but those of at least exact_count */
    uint64_t exact_count;
};
/* What a fully associative LRU cache of so many lines, 1 or more, would have missed. Beyond exact_count lines: a power
 * of two, or the next one above is taken. */
uint64_t analyses_reuse_misses(const struct analyses_reuse_stack *stack, uint64_t lines);

/* Of one instruction in one object: its data there, or its fetches. */
struct analyses_reuse_row {
    uint32_t insn, object; /* of the profile */
    bool code;
    struct analyses_reuse of;
};

struct analyses_reuse_result {
    uint32_t line_bytes;
    uint32_t stack_count; /* data, code (where there is an L1I), then a level each */
    struct analyses_reuse_stack stacks[ANALYSES_LEVELS];
    const struct analyses_reuse_row *rows; /* ascending by insn, object, code; each once */
    size_t row_count;
};

/* What reports show of it. */
extern const struct analysis_chapter analyses_reuse_chapter;

#endif
