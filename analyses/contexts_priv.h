/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * contexts_priv: the context of each frame of the call graph, and what is counted in it. callgraph.c says how frames
 * come and go.
 */
#ifndef C2_ANALYSES_CONTEXTS_PRIV_H
#define C2_ANALYSES_CONTEXTS_PRIV_H

#include "analyses/analyses.h"

/* Where the function begins that holds an instruction. False: in none that is known; then *entry stands for all such
 * code of its file. */
struct contexts_functions {
    void *self;
    bool (*entry)(void *self, struct guest_va pc, struct guest_va *entry);
};

struct contexts;
struct contexts_config {
    const struct analyses_separation *separation; /* outlives them, as do the symbols */
    struct loader_symbols *symbols;
    uint32_t width; /* events */
};
enum c2_status contexts_create(struct contexts **out, const struct contexts_config *config, struct c2_error *err);
void contexts_destroy(struct contexts *contexts); /* takes NULL */
void contexts_functions(struct contexts *contexts,
                        const struct contexts_functions *functions); /* by these, not symbols */

/* callgraph: that analysis, with a separation. */
struct contexts *analyses_callgraph_contexts(struct analysis *callgraph);

/* The stack: entry 0 is what was not called, frame i of the call graph is entry i + 1. now: [event], counted so far. */
bool contexts_begun(const struct contexts *contexts); /* entry 0 is there */
enum c2_status contexts_push(struct contexts *contexts, uint64_t to, const uint64_t *now, struct c2_error *err);
void contexts_pop(struct contexts *contexts, const uint64_t *now);
/* The newest entry goes on to `to`, and was not more than the way there. */
enum c2_status contexts_become(struct contexts *contexts, uint64_t to, const uint64_t *now, struct c2_error *err);
uint32_t contexts_at(const struct contexts *contexts, size_t entry);
/* Another thread goes on, or the first one of all, whose number is 1: each has a stack of its own. */
enum c2_status contexts_thread(struct contexts *contexts, uint32_t tid, const uint64_t *now, struct c2_error *err);
/* STREAM_ARGUMENTS: of the function that this thread enters next; done with when it has. */
enum c2_status contexts_arguments(struct contexts *contexts, uint32_t tid, const uint64_t *words, struct c2_error *err);
void contexts_entered(struct contexts *contexts);
/* *out: how many entries there are when the record is executed; fewer than there were, where they had been left for its
 * block's function. */
enum c2_status contexts_left(struct contexts *contexts, const struct sim_executed *record, size_t *out,
                             struct c2_error *err);

/* A record in the newest entry's context; measured: it counts. Blocks are numbered as sim_code does. */
enum c2_status contexts_record(struct contexts *contexts, const struct sim_executed *record, bool measured,
                               struct c2_error *err);
uint64_t *contexts_cost(struct contexts *contexts,
                        uint32_t code); /* of an instruction of that record; lent up to the next one */

/* All that was counted is dropped. */
void contexts_dropped(struct contexts *contexts, const uint64_t *now);
/* The last entry has been popped. Asserts that all costs together are `now`, without what was dropped. Arcs are those
 * of the call graph. The result is lent until destroy. */
enum c2_status contexts_finish(struct contexts *contexts, const struct analyses_callgraph_result *arcs,
                               const uint64_t *now, struct c2_error *err);
const struct analyses_contexts *contexts_result(const struct contexts *contexts);
void contexts_check(const struct contexts *contexts);

/* cycles.c: the strongly connected parts, of more than one node, of a graph of `nodes` nodes and `count` edges: numbers
 * from 1 on, in the order of their first nodes, or 0, into of[node]; *cycles: how many there are. */
struct contexts_edge {
    uint32_t from, to;
};
enum c2_status contexts_cycles(uint32_t *of, uint32_t *cycles, uint32_t nodes, struct contexts_edge *edges,
                               size_t count, struct c2_error *err);

#endif
