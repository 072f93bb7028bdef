/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * prefetch: the result of the analysis of that name - what the prefetchers of a machine were good for.
 */
#ifndef C2_ANALYSES_PREFETCH_H
#define C2_ANALYSES_PREFETCH_H

#include "analyses/analyses.h"

/* Of one level. Prefetches count where the access was that they followed; misses where they were. */
struct analyses_prefetch_cell {
    struct caches_prefetch_counts prefetches; /* of all prefetchers */
    uint64_t misses, unaided;                 /* with prefetchers, and without */
    uint64_t caused; /* misses of accesses that without prefetchers find their line in this level or a nearer one */
};

/* What one instruction did in one object, as in struct analyses_row. Those that count nothing are left out. */
struct analyses_prefetch_row {
    uint32_t insn, object;
    const struct analyses_prefetch_cell *level; /* [number of the level] */
};

/* Of the same machine without prefetchers, which was given the same accesses. */
struct analyses_unaided {
    uint64_t misses, classes[ANALYSES_CLASSES + 1]; /* behind the others: coherence */
    uint64_t caused;                                /* as in a cell */
};

/* All of what was measured. */
struct analyses_prefetch_result {
    struct caches_prefetch_counts levels[ANALYSES_LEVELS][CACHES_PREFETCHERS]; /* [number of the level] */
    struct analyses_unaided unaided[ANALYSES_LEVELS];
    uint64_t unused[ANALYSES_LEVELS];         /* prefetched lines in the caches at the end that were never accessed */
    const struct analyses_prefetch_row *rows; /* ascending by insn, then object; none without attribution */
    size_t row_count;
};

/* What reports show of it. */
extern const struct analysis_chapter analyses_prefetch_chapter;

#endif
