/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What loops.c notes while the program runs, loops_result.c makes of it, and loops_graph.c finds in a graph.
 */
#ifndef C2_ANALYSES_LOOPS_PRIV_H
#define C2_ANALYSES_LOOPS_PRIV_H

#include "analyses/analyses.h"
#include "analyses/loops.h"

#define LOOPS_NONE UINT32_MAX

/* ------------------------------------------------------------------ loops_graph.c: loops of any graph */

struct loops_arc {
    uint32_t from, to;
};
struct loops_graph {
    uint32_t node_count;
    const struct loops_arc *arcs; /* ascending by from, then to; each pair once */
    uint32_t arc_count;
    const bool *root; /* [node]: may be entered from without */
};
struct loops_found {
    uint32_t header, parent; /* parent: LOOPS_NONE: there is none */
    bool irreducible;        /* its header is the first of several, in the order of nodes */
};
struct loops_forest {
    struct loops_found *loops;
    uint32_t count;
    uint32_t *loop_of; /* [node]: the innermost one */
};
/* To be released, whatever it returned. */
enum c2_status loops_find(struct loops_forest *out, const struct loops_graph *graph, struct c2_error *err);
void loops_release(struct loops_forest *forest);

/* ------------------------------------------------------------------ loops.c: what ran after what */

/* A stretch of code that was executed in one go: the first insns instructions of a block. */
struct loops_node {
    const struct stream_block *block;
    uint32_t insns;
    bool at_entry;            /* it begins where its function does */
    bool entered;             /* not from another node of its function */
    uint64_t function;        /* where that begins; NOWHERE: unknown */
    uint64_t entries;         /* of these, those that are measured */
    uint32_t next, next_edge; /* the node that came after it last; next: LOOPS_NONE: none yet */
};
struct loops_edge { /* in one activation of a function, one came after the other */
    uint32_t from, to;
    uint64_t count; /* measured */
};
#define LOOPS_NO_FUNCTION UINT64_MAX

struct loops_frame {
    uint64_t slot; /* address of the return address */
    uint64_t function;
    uint32_t last; /* node; LOOPS_NONE: none yet */
};
struct loops_thread {
    uint32_t tid;
    struct loops_frame *frames;
    uint32_t depth, room;
    enum stream_ending ending; /* of the record before, */
    uint64_t slot;             /* and of its call or return */
};

struct loops {
    struct analysis base;
    const struct analysis *profile;
    struct loader_symbols *symbols;
    struct loops_node *nodes;
    uint32_t node_count, node_room;
    uint32_t *node_of; /* [block]: of all of it; LOOPS_NONE: none yet */
    uint32_t block_room;
    struct c2_map *part_of; /* block, instructions -> node, of parts of blocks */
    struct loops_edge *edges;
    uint32_t edge_count, edge_room;
    struct c2_map *edge_of; /* from, to -> edge */
    struct loops_thread *threads;
    uint32_t thread_count, thread_room, current; /* current: whose record was the last */
    bool measuring;
    bool torn;             /* there are holes in the run, and functions are met in their midst */
    uint64_t instructions; /* measured */

    struct analyses_loop *list; /* the result */
    uint32_t *loop_of;
    struct analyses_loops_result result;
};

/* For the loops of records kept elsewhere: each in the order in which they ran, of what is measured; then
 * loops_finish. loops->instructions is to be what they have completed. profile: that analysis, finished by then. */
enum c2_status loops_create(struct loops **out, const struct analysis *profile, struct loader_symbols *symbols,
                            struct c2_error *err);
void loops_destroy(struct loops *loops); /* takes NULL */
enum c2_status loops_record(struct loops *loops, const struct sim_executed *record, struct c2_error *err);
void loops_forget(struct loops *loops); /* the next record does not go on where the last one ended */

/* ------------------------------------------------------------------ loops_result.c */
enum c2_status loops_finish(struct loops *loops, struct c2_error *err);

#endif
