/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * loops: the loops of a run, found in the blocks that ran. loops.c has the model. An analysis that counts by
 * instruction has counts by loop with it: it says .needs = 1u << ANALYSIS_loops, and sums up by loop_of.
 */
#ifndef C2_ANALYSES_LOOPS_H
#define C2_ANALYSES_LOOPS_H

#include "base/base.h"
#include "loader/loader.h"

#define ANALYSES_NO_LOOP UINT32_MAX

struct analyses_loop {
    struct guest_va header; /* its first instruction; of an irreducible one, of the header with the lowest address */
    struct guest_va latch;  /* the last instruction of the block that goes back to the header; of several the highest */
    uint32_t parent;        /* the loop around it; or NO_LOOP */
    uint32_t depth;         /* 1: in no other one */
    bool irreducible;       /* it is entered at several places */
    uint64_t entries;       /* how often it was entered from outside, */
    uint64_t iterations;    /* and how many rounds that made: see the model */
};

/* Where a loop begins in the source: the line of its header, or of the jump back to that where it comes first in the
 * same file and function (compilers put the test of a loop at its end), or the header's is not known. */
void analyses_loop_place(struct loader_place *out, struct loader_symbols *symbols, const struct analyses_loop *loop);

/* The result of the analysis. */
struct analyses_loops_result {
    const struct analyses_loop *loops; /* ascending by header; of one header the outer one first */
    uint32_t count;
    const uint32_t *loop_of; /* [instruction of the profile]: the innermost loop that it is in; or NO_LOOP */
};

/* Whether a loop is the other one, or in it; inner may be NO_LOOP. */
static inline bool analyses_loop_within(const struct analyses_loops_result *loops, uint32_t inner, uint32_t outer)
{
    while (inner != ANALYSES_NO_LOOP && inner != outer)
        inner = loops->loops[inner].parent;
    return inner == outer;
}

#endif
