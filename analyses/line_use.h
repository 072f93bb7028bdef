/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * line_use (--line-use): how much of what comes into a level is used before it leaves. line_use.c has the model.
 */
#ifndef C2_ANALYSES_LINE_USE_H
#define C2_ANALYSES_LINE_USE_H

#include "analyses/analyses.h"

/* Stays of lines in a level. One row a counter: field, JSON key, what it counts. */
/* clang-format off */
#define ANALYSES_LINE_USE_COUNTERS(X) \
    X(loads, "lines that came into the level") \
    X(accesses, "references to them while they were there") \
    X(used_bytes, "bytes of them that were accessed, each once a stay") \
    X(unused, "stays without any access") \
    X(access_cost, "1000 / accesses of each stay, rounded down (Callgrind's AcCost)")
/* clang-format on */
struct analyses_line_use {
#define X(field, help) uint64_t field;
    ANALYSES_LINE_USE_COUNTERS(X)
#undef X
};
static inline void analyses_line_use_add(struct analyses_line_use *to, const struct analyses_line_use *what)
{
#define X(field, help) to->field += what->field;
    ANALYSES_LINE_USE_COUNTERS(X)
#undef X
}
/* What came in and was not used, in bytes (Callgrind's SpLoss). */
static inline uint64_t analyses_line_use_loss(const struct analyses_line_use *of, uint32_t line_bytes)
{
    return of->loads * line_bytes - of->used_bytes;
}

/* Of a level, in all. */
#define ANALYSES_LINE_USE_PARTS 8u
struct analyses_line_use_level {
    struct analyses_line_use of;
    uint64_t evicted, invalidated, taken, filtered, flushed,
        left;                                       /* how the residencies ended; their sum is of.loads */
    uint64_t by_bytes[ANALYSES_LINE_USE_PARTS + 1]; /* stays by bytes used: [0] none; [k]: up to k eighths of a line */
};

/* What one instruction has loaded when it accessed one object. */
struct analyses_line_use_row {
    uint32_t insn, object;                 /* of the profile */
    const struct analyses_line_use *level; /* [number of the level] */
};

/* What one row has loaded, and an access of another has evicted (or made a level below evict). */
struct analyses_line_use_pair {
    uint32_t level;
    uint32_t loader, evictor; /* rows; the evictor may be ANALYSES_NOBODY */
    uint64_t residencies, unused_bytes;
};

/* Bytes of a field at a level: summed over stays. */
struct analyses_line_use_bytes {
    uint64_t loaded, used;
};
struct analyses_line_use_field {
    const char *name; /* NULL: between fields, or behind them */
    uint32_t start, bytes;
    const struct analyses_line_use_bytes *level; /* [number of the level] */
};
/* A structure that objects are made of, as far as debug information says so. */
struct analyses_line_use_struct {
    const char *name; /* "struct body" */
    uint32_t bytes;
    const struct analyses_line_use_field *fields; /* all bytes of it, in order */
    uint32_t field_count;
    uint32_t object;       /* of the profile: that with the most bytes loaded, */
    uint32_t object_count; /* of so many */
    uint64_t unused_bytes; /* of all fields and levels */
};

struct analyses_line_use_result {
    uint32_t line_bytes, level_count; /* of all levels, L1I too */
    struct analyses_line_use_level levels[ANALYSES_LEVELS];
    const struct analyses_line_use_row *rows; /* ascending by insn, then object; each pair once */
    size_t row_count;
    const struct analyses_line_use_pair *pairs; /* by level, then unused bytes (most first), loader, evictor */
    size_t pair_count;
    const struct analyses_line_use_struct *structs; /* by unused bytes (most first), then name */
    size_t struct_count;
};

/* What reports show of it. */
extern const struct analysis_chapter analyses_line_use_chapter;

#endif
