/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * loops_graph: the loops of a graph, and which lies in which.
 *
 * Model
 *   A node dominates another when every way from the roots to that goes through it. An arc to a node that dominates the
 *   one it comes from goes back; the natural loop of that header is it and all that reaches such an arc without passing
 *   the header. Two natural loops are apart or one lies in the other.
 *   What is still strongly connected without the arcs that go back is entered at several places: an irreducible loop,
 *   with all natural loops that have their headers there. Those are not divided further.
 *   Nodes that cannot be reached from a root are in no loop.
 *
 * Cost
 *   Little more than linear for graphs of programs; the dominators are those of an iteration that mostly ends after two
 *   rounds.
 *
 * Sources
 *   Aho, Lam, Sethi and Ullman, Compilers, 2006, section 9.6; Cooper, Harvey and Kennedy, A Simple, Fast Dominance
 *   Algorithm, 2001; Tarjan, Depth-First Search and Linear Graph Algorithms, 1972.
 */
#include <string.h>

#include "analyses/loops_priv.h"

struct finder {
    const struct loops_graph *graph;
    struct loops_forest *out;
    uint32_t loop_room;
    uint32_t *first_out; /* [node]: its arcs, up to those of the next */
    uint32_t *first_in;  /* likewise, in `in` */
    uint32_t *in;        /* nodes that arcs come from, by the node that they go to */
    uint32_t *order;     /* reverse postorder of those that can be reached; */
    uint32_t reached;    /* how many */
    uint32_t *rank;      /* [node]: 1 + its place there; LOOPS_NONE: it cannot be reached. The start, which has arcs to
                          * the roots, is the node behind all, and has rank 0 */
    uint32_t *dominator; /* [node]: the nearest that is not itself */
    uint32_t *stack;     /* room for a number for each arc and two for each node */
    uint32_t *cursor;    /* [node] */
    uint32_t *low;       /* [node]: Tarjan's; */
    uint32_t *component; /* [node]: once known, a node that stands for all of it */
};

static bool is_reached(const struct finder *f, uint32_t node) { return f->rank[node] != LOOPS_NONE; }

/* ------------------------------------------------------------------ arcs by node */

static void index_arcs(struct finder *f)
{
    const struct loops_graph *graph = f->graph;
    for (uint32_t i = 0; i < graph->arc_count; i++) {
        f->first_out[graph->arcs[i].from + 1]++;
        f->first_in[graph->arcs[i].to + 1]++;
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        f->first_out[i + 1] += f->first_out[i];
        f->first_in[i + 1] += f->first_in[i];
        f->cursor[i] = f->first_in[i];
    }
    for (uint32_t i = 0; i < graph->arc_count; i++)
        f->in[f->cursor[graph->arcs[i].to]++] = graph->arcs[i].from;
}

/* ------------------------------------------------------------------ an order for the dominators */

/* All that can be reached from here, behind in the list what comes behind. */
static void loops_graph_visit(struct finder *f, uint32_t root, uint32_t *free_place)
{
    uint32_t depth = 0;
    f->stack[depth++] = root;
    f->rank[root] = 0; /* seen */
    f->cursor[root] = f->first_out[root];
    while (depth != 0) {
        const uint32_t node = f->stack[depth - 1];
        if (f->cursor[node] == f->first_out[node + 1]) {
            f->order[--*free_place] = node;
            depth--;
            continue;
        }
        const uint32_t to = f->graph->arcs[f->cursor[node]++].to;
        if (is_reached(f, to))
            continue;
        f->rank[to] = 0;
        f->cursor[to] = f->first_out[to];
        f->stack[depth++] = to;
    }
}

static void loops_graph_put_in_order(struct finder *f)
{
    const uint32_t count = f->graph->node_count;
    uint32_t free_place = count;
    for (uint32_t i = 0; i < count; i++)
        f->rank[i] = LOOPS_NONE;
    for (uint32_t i = 0; i < count; i++)
        if (f->graph->root[i] && !is_reached(f, i))
            loops_graph_visit(f, i, &free_place);
    f->reached = count - free_place;
    memmove(f->order, f->order + free_place, f->reached * sizeof *f->order);
    for (uint32_t i = 0; i < f->reached; i++)
        f->rank[f->order[i]] = i + 1;
    f->rank[count] = 0;
}

/* ------------------------------------------------------------------ dominators */

static uint32_t nearest_of_both(const struct finder *f, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (f->rank[a] > f->rank[b])
            a = f->dominator[a];
        while (f->rank[b] > f->rank[a])
            b = f->dominator[b];
    }
    return a;
}

static uint32_t dominator_now(const struct finder *f, uint32_t node)
{
    uint32_t best = f->graph->root[node] ? f->graph->node_count : LOOPS_NONE;
    for (uint32_t i = f->first_in[node]; i < f->first_in[node + 1]; i++) {
        const uint32_t from = f->in[i];
        if (!is_reached(f, from) || f->dominator[from] == LOOPS_NONE)
            continue;
        best = best == LOOPS_NONE ? from : nearest_of_both(f, best, from);
    }
    return best;
}

static void find_dominators(struct finder *f)
{
    for (uint32_t i = 0; i < f->graph->node_count; i++)
        f->dominator[i] = LOOPS_NONE;
    f->dominator[f->graph->node_count] = f->graph->node_count;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < f->reached; i++) {
            const uint32_t node = f->order[i], now = dominator_now(f, node);
            changed |= now != f->dominator[node];
            f->dominator[node] = now;
        }
    }
}

static bool dominates(const struct finder *f, uint32_t above, uint32_t node)
{
    while (f->rank[node] > f->rank[above])
        node = f->dominator[node];
    return node == above;
}

/* Both can be reached. */
static bool goes_back(const struct finder *f, uint32_t from, uint32_t to)
{
    return f->rank[from] >= f->rank[to] && dominates(f, to, from);
}

/* ------------------------------------------------------------------ natural loops */

static enum c2_status loops_graph_add_loop(struct finder *f, uint32_t header, bool irreducible, struct c2_error *err)
{
    struct loops_forest *out = f->out;
    if (!c2_grow((void **)&out->loops, &f->loop_room, out->count, sizeof *out->loops))
        return c2_fail_memory(err, "the loops");
    out->loops[out->count++] = (struct loops_found){header, LOOPS_NONE, irreducible};
    return C2_OK;
}

static uint32_t outermost(const struct loops_forest *forest, uint32_t loop)
{
    while (forest->loops[loop].parent != LOOPS_NONE)
        loop = forest->loops[loop].parent;
    return loop;
}

static uint32_t push_origins(struct finder *f, uint32_t node, uint32_t depth)
{
    for (uint32_t i = f->first_in[node]; i < f->first_in[node + 1]; i++)
        if (is_reached(f, f->in[i]))
            f->stack[depth++] = f->in[i];
    return depth;
}

/* Takes in what is on the stack, and what leads there; of loops that were found before all, from their headers on. Each
 * node's origins are pushed once, as it is taken in or as the header of what is. */
static void fill_loop(struct finder *f, uint32_t loop, uint32_t depth)
{
    struct loops_forest *out = f->out;
    while (depth != 0) {
        const uint32_t node = f->stack[--depth];
        if (out->loop_of[node] == LOOPS_NONE) {
            out->loop_of[node] = loop;
            depth = push_origins(f, node, depth);
            continue;
        }
        const uint32_t inner = outermost(out, out->loop_of[node]);
        if (inner == loop)
            continue;
        out->loops[inner].parent = loop;
        depth = push_origins(f, out->loops[inner].header, depth);
    }
}

static enum c2_status find_natural(struct finder *f, uint32_t header, struct c2_error *err)
{
    uint32_t depth = 0;
    for (uint32_t i = f->first_in[header]; i < f->first_in[header + 1]; i++)
        if (is_reached(f, f->in[i]) && goes_back(f, f->in[i], header))
            f->stack[depth++] = f->in[i];
    if (depth == 0)
        return C2_OK;
    enum c2_status status = loops_graph_add_loop(f, header, false, err);
    if (status != C2_OK)
        return status;
    C2_ASSERT(f->out->loop_of[header] == LOOPS_NONE);
    f->out->loop_of[header] = f->out->count - 1;
    fill_loop(f, f->out->count - 1, depth);
    return C2_OK;
}

/* ------------------------------------------------------------------ irreducible loops */

struct search {
    uint32_t *path; /* nodes that are being visited */
    uint32_t *kept; /* nodes whose component is not known yet */
    uint32_t depth, keeping, next;
};

static void loops_graph_begin(struct finder *f, struct search *s, uint32_t node)
{
    f->cursor[node] = f->first_out[node];
    f->low[node] = s->next++;
    f->component[node] = LOOPS_NONE;
    s->path[s->depth++] = node;
    s->kept[s->keeping++] = node;
}

/* The node's visit is over: when nothing further up was found, all that is kept from it on is its component. */
static void loops_graph_end(struct finder *f, struct search *s, uint32_t node, const uint32_t *number)
{
    s->depth--;
    if (s->depth != 0 && f->low[node] < f->low[s->path[s->depth - 1]])
        f->low[s->path[s->depth - 1]] = f->low[node];
    if (f->low[node] != number[node])
        return;
    uint32_t member;
    do {
        member = s->kept[--s->keeping];
        f->component[member] = node;
    } while (member != node);
}

static void loops_graph_search_from(struct finder *f, struct search *s, uint32_t root, uint32_t *number)
{
    number[root] = s->next;
    loops_graph_begin(f, s, root);
    while (s->depth != 0) {
        const uint32_t node = s->path[s->depth - 1];
        if (f->cursor[node] == f->first_out[node + 1]) {
            loops_graph_end(f, s, node, number);
            continue;
        }
        const uint32_t to = f->graph->arcs[f->cursor[node]++].to;
        if (goes_back(f, node, to))
            continue;
        if (number[to] == LOOPS_NONE) {
            number[to] = s->next;
            loops_graph_begin(f, s, to);
        } else if (f->component[to] == LOOPS_NONE && number[to] < f->low[node]) {
            f->low[node] = number[to];
        }
    }
}

/* component[node] of all that can be reached, by arcs that do not go back. */
static void find_components(struct finder *f, uint32_t *number)
{
    struct search s = {.path = f->stack, .kept = f->stack + f->graph->node_count};
    for (uint32_t i = 0; i < f->graph->node_count; i++)
        number[i] = LOOPS_NONE;
    for (uint32_t i = 0; i < f->reached; i++)
        if (number[f->order[i]] == LOOPS_NONE)
            loops_graph_search_from(f, &s, f->order[i], number);
}

/* Puts a node of a component under its loop: it, or the outermost loop around it whose header is of the component. */
static void put_under(struct finder *f, uint32_t node, uint32_t loop)
{
    struct loops_forest *out = f->out;
    uint32_t inner = LOOPS_NONE, around = out->loop_of[node];
    while (around != LOOPS_NONE && around != loop && f->component[out->loops[around].header] == f->component[node]) {
        inner = around;
        around = out->loops[around].parent;
    }
    if (around == loop)
        return;
    if (out->loops[loop].parent == LOOPS_NONE)
        out->loops[loop].parent = around;
    C2_ASSERT(out->loops[loop].parent == around);
    if (inner == LOOPS_NONE)
        out->loop_of[node] = loop;
    else
        out->loops[inner].parent = loop;
}

static bool loops_graph_is_in(const struct loops_forest *forest, uint32_t node, uint32_t loop)
{
    uint32_t around = forest->loop_of[node];
    while (around != LOOPS_NONE && around != loop)
        around = forest->loops[around].parent;
    return around == loop;
}

static bool is_entered(const struct finder *f, uint32_t node, uint32_t loop)
{
    bool entered = f->graph->root[node];
    for (uint32_t i = f->first_in[node]; i < f->first_in[node + 1] && !entered; i++)
        entered = is_reached(f, f->in[i]) && !loops_graph_is_in(f->out, f->in[i], loop);
    return entered;
}

/* loop_at[component]: its loop; made for those that have a second node. */
static enum c2_status make_irreducible(struct finder *f, uint32_t *loop_at, struct c2_error *err)
{
    const uint32_t count = f->graph->node_count;
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < count; i++)
        loop_at[i] = LOOPS_NONE;
    for (uint32_t i = 0; i < count && status == C2_OK; i++) {
        if (!is_reached(f, i) || f->component[i] == i || loop_at[f->component[i]] != LOOPS_NONE)
            continue;
        loop_at[f->component[i]] = f->out->count;
        status = loops_graph_add_loop(f, LOOPS_NONE, true, err);
    }
    for (uint32_t i = 0; i < count && status == C2_OK; i++)
        if (is_reached(f, i) && loop_at[f->component[i]] != LOOPS_NONE)
            put_under(f, i, loop_at[f->component[i]]);
    for (uint32_t i = 0; i < count && status == C2_OK; i++) {
        const uint32_t loop = is_reached(f, i) ? loop_at[f->component[i]] : LOOPS_NONE;
        if (loop != LOOPS_NONE && f->out->loops[loop].header == LOOPS_NONE && is_entered(f, i, loop))
            f->out->loops[loop].header = i;
    }
    return status;
}

/* ------------------------------------------------------------------ all of it */

static enum c2_status loops_graph_make_room(struct finder *f, struct c2_error *err)
{
    const size_t nodes = f->graph->node_count, arcs = f->graph->arc_count;
    f->first_out = c2_calloc(nodes + 2, sizeof *f->first_out);
    f->first_in = c2_calloc(nodes + 2, sizeof *f->first_in);
    f->in = c2_calloc(arcs + 1, sizeof *f->in);
    f->order = c2_calloc(nodes + 1, sizeof *f->order);
    f->rank = c2_calloc(nodes + 1, sizeof *f->rank);
    f->dominator = c2_calloc(nodes + 1, sizeof *f->dominator);
    f->stack = c2_calloc(arcs + 2 * nodes + 1, sizeof *f->stack);
    f->cursor = c2_calloc(nodes + 1, sizeof *f->cursor);
    f->low = c2_calloc(nodes + 1, sizeof *f->low);
    f->component = c2_calloc(nodes + 1, sizeof *f->component);
    f->out->loop_of = c2_calloc(nodes + 1, sizeof *f->out->loop_of);
    return f->first_out && f->first_in && f->in && f->order && f->rank && f->dominator && f->stack && f->cursor &&
                   f->low && f->component && f->out->loop_of
               ? C2_OK
               : c2_fail_memory(err, "the loops");
}

static void loops_graph_release(struct finder *f)
{
    uint32_t *const rooms[] = {f->first_out, f->first_in, f->in,     f->order, f->rank,
                               f->dominator, f->stack,    f->cursor, f->low,   f->component};
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++)
        c2_free(rooms[i]);
}

static enum c2_status loops_graph_find(struct finder *f, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    index_arcs(f);
    loops_graph_put_in_order(f);
    find_dominators(f);
    for (uint32_t i = 0; i < f->graph->node_count; i++)
        f->out->loop_of[i] = LOOPS_NONE;
    for (uint32_t i = f->reached; i-- > 0 && status == C2_OK;) /* inner headers stand behind outer ones */
        status = find_natural(f, f->order[i], err);
    if (status != C2_OK)
        return status;
    uint32_t *number = c2_calloc(f->graph->node_count + (size_t)1, sizeof *number);
    if (!number)
        return c2_fail_memory(err, "the loops");
    find_components(f, number);
    status = make_irreducible(f, number, err);
    c2_free(number);
    return status;
}

enum c2_status loops_find(struct loops_forest *out, const struct loops_graph *graph, struct c2_error *err)
{
    struct finder f = {.graph = graph, .out = out};
    *out = (struct loops_forest){.count = 0};
    enum c2_status status = loops_graph_make_room(&f, err);
    if (status == C2_OK)
        status = loops_graph_find(&f, err);
    loops_graph_release(&f);
    return status;
}

void loops_release(struct loops_forest *forest)
{
    c2_free(forest->loops);
    c2_free(forest->loop_of);
}
