/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * bandwidth: what moves on the paths between the levels, window by window (--bandwidth). bandwidth.c has the model.
 */
#ifndef C2_ANALYSES_BANDWIDTH_H
#define C2_ANALYSES_BANDWIDTH_H

#include "analyses/analyses.h"
#include "analyses/loops.h"

/* Path 0 is between the core and L1D, path i between levels i - 1 and i, the last one to memory. A flow is one way of a
 * path, read before written, in bytes; behind those of all paths floating-point operations are one more. */
#define BANDWIDTH_PATHS (CACHES_MAX_LEVELS + 1)
#define BANDWIDTH_FLOWS (2 * BANDWIDTH_PATHS + 1)
#define BANDWIDTH_NAME_BYTES (2 * CACHES_NAME_BYTES + 2)

/* Of a flow, in some windows. Rates are amounts by instruction, of windows that have one. */
struct bandwidth_moved {
    uint64_t amount;       /* bytes, or operations */
    double least, most;    /* rate in a window */
    uint64_t dominated;    /* windows that it made longest, and longer than their instructions did */
    uint64_t instructions; /* of those */
    double lost;           /* cycles that these windows would take longer if all else were free (V_L / L) */
    double lost_dominated; /* of these, those of windows that it dominated */
};

/* What happened in some windows. Cycles are 0 on a machine without limits. */
struct bandwidth_windows {
    uint64_t windows, instructions;
    double peak_cycles; /* that the instructions take */
    double cycles;      /* that the longest of instructions and flows takes, window by window */
    struct bandwidth_moved flow[BANDWIDTH_FLOWS];
};

struct bandwidth_flow {
    char path[BANDWIDTH_NAME_BYTES]; /* "core-L1D", "L2-L3", "L3-memory"; "FLOPs" */
    bool writes;                     /* of a path: away from the core */
    bool computes;                   /* it is no path */
    uint32_t limit;                  /* thousandths in a cycle; 0: not known */
};

/* Windows, or parts of the run, in which a flow had about the same rate. */
struct bandwidth_step {
    uint64_t units, amount; /* instructions or operations that passed meanwhile; what moved */
    uint64_t dominated;     /* of the units: those of windows that the flow dominated */
};
/* Ascending by rate; the sums over all steps are exact. */
struct bandwidth_curve {
    const struct bandwidth_step *steps;
    size_t count;
    uint64_t beside; /* moved in windows without any unit, which have no rate */
};
enum bandwidth_unit { BANDWIDTH_BY_INSTRUCTION, BANDWIDTH_BY_FLOP, BANDWIDTH_UNITS };

/* A function, a line of one, or a loop; likewise ranked. */
struct bandwidth_place {
    struct loader_place place;
    struct guest_va pc;               /* of the first block that is of it */
    const struct analyses_loop *loop; /* of blocks and loops: the innermost; NULL: in none, or loops are not known */
    struct bandwidth_windows windows;
};
struct bandwidth_places { /* by cycles, or where they are not known by instructions, most first */
    const struct bandwidth_place *list;
    size_t count;
};

/* A thread. Curves by instruction, where a file of curves is written. */
struct bandwidth_thread {
    uint32_t tid;
    uint64_t tally; /* while counting: its instructions of the window */
    struct bandwidth_windows windows;
    struct bandwidth_curve curves[BANDWIDTH_FLOWS];
};

/* Of a path that cores share, one way: what all ask for at one time (bandwidth_shared.c). */
struct bandwidth_contended {
    bool shared;
    double most;   /* that is asked for: bytes by cycle */
    double cycles; /* in which more is asked for than the path gives, by a larger factor than of any other path */
    double lost;   /* that these take longer */
};
struct bandwidth_of_core {
    uint64_t amount;  /* bytes */
    double contended; /* of these, those of the contended cycles */
};
struct bandwidth_together {
    uint32_t core_count;
    uint64_t rounds, parallel; /* parallel: of these, such in which several cores had a turn */
    double alone;              /* cycles of all rounds, where none waits for another */
    struct bandwidth_contended flow[BANDWIDTH_FLOWS];
    struct bandwidth_of_core *of_core; /* [flow * core_count + core] */
};

struct analyses_bandwidth_result {
    uint32_t window; /* instructions */
    bool limited;    /* the machine has limits */
    uint32_t flow_count;
    struct bandwidth_flow flows[BANDWIDTH_FLOWS];
    struct bandwidth_windows all;
    struct bandwidth_curve curves[BANDWIDTH_UNITS][BANDWIDTH_FLOWS];
    const struct bandwidth_thread *threads; /* in the order in which they ran first */
    uint32_t thread_count;
    const struct bandwidth_together *together;       /* NULL: one core, or no limits */
    struct bandwidth_places functions, lines, loops; /* loops: none unless requested */
};

/* The flow that dominated most windows; flow_count: none did. */
uint32_t bandwidth_main(const struct analyses_bandwidth_result *result, const struct bandwidth_windows *windows);

/* What reports show of it. */
extern const struct analysis_chapter analyses_bandwidth_chapter;

#endif
