/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What excerpts of a run show of it: the loops that were in them, and by which steps each instruction went through each
 * object. excerpts.c has the model.
 */
#ifndef C2_ANALYSES_EXCERPTS_H
#define C2_ANALYSES_EXCERPTS_H

#include "analyses/analyses.h"
#include "analyses/loops.h"

/* Of loops around an access: [0] is the innermost one, or, where there is none, each execution is a round. */
#define EXCERPTS_DEPTH 4u

#define EXCERPTS_NO_CALLER UINT32_MAX

/* The distance that was seen most often from one round of a loop to the next. For loops around the innermost one it is
 * that of the first accesses of each time that the loop inside was entered. */
struct analyses_step {
    int64_t bytes;
    uint64_t times, of; /* so often, at least, of so many distances that were seen; of 0: none was */
};

/* What one instruction did to one object. */
struct analyses_access {
    uint32_t insn, object; /* of the profile */
    uint32_t bytes;        /* of an access */
    uint64_t reads, writes;
    struct analyses_step step[EXCERPTS_DEPTH];
    uint64_t steady; /* so many of the innermost loop's distances were those of the round before */
    uint64_t grid;   /* each access is a multiple of so many bytes from the others; 0: all are at one place */
    uint64_t offset; /* from the object's start, or that of one of its blocks, modulo grid */
    uint64_t anchor; /* the same of the first access that was seen, as it was */
    uint32_t
        caller; /* in a library or a header of one: the instruction of the user's code that mostly ran before, often
                        the call; else, or if none is known, EXCERPTS_NO_CALLER */
};

struct analyses_excerpts_result {
    const struct analyses_access *accesses; /* ascending by insn, then object; each pair once */
    size_t access_count;
    struct analyses_loops_result loops; /* their entries and iterations are those of the excerpts */
    const uint32_t *around; /* [loop]: its parent, or, of the outermost ones of a function, the loop that this is mostly
                             * called in; or NO_LOOP. NULL: parents are all that is known. It may come back to the loop
                             * where functions call each other */
    uint64_t instructions;  /* of the excerpts */
};
static inline uint32_t analyses_loop_around(const struct analyses_excerpts_result *result, uint32_t loop)
{
    return result->around ? result->around[loop] : result->loops.loops[loop].parent;
}

/* NULL: the excerpts have none. */
const struct analyses_access *analyses_access_of(const struct analyses_excerpts_result *result, uint32_t insn,
                                                 uint32_t object);

#endif
