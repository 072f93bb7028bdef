/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * cycles: the strongly connected parts of a graph.
 *
 * Model
 *   Tarjan's algorithm with a stack of its own, so that a chain of calls of any length fits. Edges are put in order by
 *   their start; an edge to itself makes no cycle.
 * Source
 *   R. Tarjan, "Depth-first search and linear graph algorithms", SIAM Journal on Computing 1 (2), 1972.
 */
#include <stdlib.h>
#include <string.h>

#include "analyses/contexts_priv.h"

struct node {
    uint32_t index, low; /* index: 1 + when it was met; 0: not yet */
    uint32_t part;       /* 1 + the part's number; 0: on the stack, or not met */
    size_t edge;         /* the next to be followed */
    uint32_t from;       /* it was met from there */
};

struct search {
    struct node *nodes;
    const struct contexts_edge *edges;
    const size_t *first; /* [node]: its edges; [nodes]: the end */
    uint32_t *stack, depth;
    uint32_t met, parts;
};

static int cycles_by_start(const void *a, const void *b)
{
    const struct contexts_edge *x = a, *y = b;
    return x->from != y->from ? (x->from < y->from ? -1 : 1) : (x->to > y->to) - (x->to < y->to);
}

static void cycles_meet(struct search *search, uint32_t at, uint32_t from)
{
    struct node *node = &search->nodes[at];
    node->index = node->low = ++search->met;
    node->edge = search->first[at];
    node->from = from;
    search->stack[search->depth++] = at;
}

/* All that can be reached from the node has been seen. */
static void cycles_leave(struct search *search, uint32_t at)
{
    struct node *node = &search->nodes[at], *from = &search->nodes[node->from];
    if (node->low == node->index) {
        uint32_t member;
        search->parts++;
        do {
            member = search->stack[--search->depth];
            search->nodes[member].part = search->parts;
        } while (member != at);
    }
    from->low = node->low < from->low ? node->low : from->low;
}

/* One edge of the node; returns the node to go on with. */
static uint32_t cycles_follow(struct search *search, uint32_t at)
{
    struct node *node = &search->nodes[at];
    const uint32_t to = search->edges[node->edge++].to;
    const struct node *there = &search->nodes[to];
    if (there->index == 0) {
        cycles_meet(search, to, at);
        return to;
    }
    if (there->part == 0 && there->index < node->low)
        node->low = there->index;
    return at;
}

static void cycles_search_from(struct search *search, uint32_t start)
{
    uint32_t at = start;
    cycles_meet(search, start, start);
    for (;;) {
        if (search->nodes[at].edge != search->first[at + 1]) {
            at = cycles_follow(search, at);
            continue;
        }
        cycles_leave(search, at);
        if (at == start)
            return;
        at = search->nodes[at].from;
    }
}

/* Parts of one node are none; the others get numbers in the order of their first nodes. */
static void number_parts(const struct search *search, uint32_t *sizes, uint32_t *of, uint32_t *cycles, uint32_t nodes)
{
    for (uint32_t i = 0; i < nodes; i++)
        sizes[search->nodes[i].part]++;
    for (uint32_t i = 0; i <= search->parts; i++)
        sizes[i] = sizes[i] > 1 ? UINT32_MAX : 0;
    *cycles = 0;
    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t *number = &sizes[search->nodes[i].part];
        if (*number == UINT32_MAX)
            *number = ++*cycles;
        of[i] = *number;
    }
}

enum c2_status contexts_cycles(uint32_t *of, uint32_t *cycles, uint32_t nodes, struct contexts_edge *edges,
                               size_t count, struct c2_error *err)
{
    size_t *first = c2_calloc(nodes + 2u, sizeof *first);
    uint32_t *stack = c2_calloc(nodes + 2u, sizeof *stack);
    struct search search = {.nodes = c2_calloc(nodes + 1u, sizeof *search.nodes), .edges = edges};
    const bool made = first && stack && search.nodes;
    if (made) {
        qsort(edges, count, sizeof *edges, cycles_by_start);
        for (size_t i = 0; i < count; i++)
            first[edges[i].from + 1]++;
        for (uint32_t i = 0; i < nodes; i++)
            first[i + 1] += first[i];
        search.first = first;
        search.stack = stack;
        for (uint32_t i = 0; i < nodes; i++)
            if (search.nodes[i].index == 0)
                cycles_search_from(&search, i);
        memset(stack, 0, (nodes + 2u) * sizeof *stack);
        number_parts(&search, stack, of, cycles, nodes);
    }
    c2_free(first);
    c2_free(stack);
    c2_free(search.nodes);
    return made ? C2_OK : c2_fail_memory(err, "the cycles of the call graph");
}
