/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * loops_result: from stretches of code and what followed them to loops.
 *
 * Model
 *   Wherever a stretch begins, those that run over that place are cut, so a place is the beginning of one piece, up to
 *   the next place. Pieces are the nodes of the graph: its arcs are the edges between the last piece of one stretch and
 *   the first of another, and those within stretches, as often as these were executed. An arc into another function is
 *   none: what it leads to is entered there.
 *   Of a run with holes, parts of functions may have no place where they are entered: guess_roots().
 *   Code that has changed, or lies where other code lay, is taken for the same.
 */
#include <stdlib.h>
#include <string.h>

#include "analyses/loops_priv.h"

/* A piece of code. */
struct piece {
    uint64_t pc, end, last; /* end: behind it; last: its last instruction */
    uint64_t function;
    uint64_t executed; /* measured, as is what follows */
    uint64_t entries;  /* of these, not from another piece of the function */
    bool entered;
};

struct arc {
    struct loops_arc of;
    uint64_t count;
};

struct maker {
    struct loops *loops;
    struct piece *pieces; /* ascending by pc */
    uint32_t piece_count;
    uint64_t *executed; /* [stretch] */
    struct arc *arcs;
    uint32_t arc_count, arc_room;
    struct loops_arc *bare;
    bool *root;
    struct loops_forest forest;
    uint64_t *exits; /* [loop]: out of headers that only test */
    uint32_t *place; /* [loop]: in the order of the result */
};

/* ------------------------------------------------------------------ pieces */

static int by_value(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static int loops_result_by_pc(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;
    return by_value(&a->pc, &b->pc);
}

static enum c2_status make_pieces(struct maker *m, struct c2_error *err)
{
    const struct loops *loops = m->loops;
    m->pieces = c2_calloc(loops->node_count + (size_t)1, sizeof *m->pieces);
    m->executed = c2_calloc(loops->node_count + (size_t)1, sizeof *m->executed);
    if (!m->pieces || !m->executed)
        return c2_fail_memory(err, "the loops");
    for (uint32_t i = 0; i < loops->node_count; i++)
        m->pieces[i] = (struct piece){.pc = loops->nodes[i].block->pc.v, .function = loops->nodes[i].function};
    qsort(m->pieces, loops->node_count, sizeof *m->pieces, loops_result_by_pc);
    for (uint32_t i = 0; i < loops->node_count; i++)
        if (m->piece_count == 0 || m->pieces[m->piece_count - 1].pc != m->pieces[i].pc)
            m->pieces[m->piece_count++] = m->pieces[i];
    for (uint32_t i = 0; i < m->piece_count; i++)
        m->pieces[i].last = m->pieces[i].end = m->pieces[i].pc;
    return C2_OK;
}

/* The piece that begins at pc; else the last one before it; piece_count: there is none. */
static uint32_t piece_at(const struct maker *m, uint64_t pc)
{
    uint32_t low = 0, high = m->piece_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (m->pieces[middle].pc <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? m->piece_count : low - 1;
}

static uint64_t loops_result_pc_of(const struct loops_node *node, uint32_t insn)
{
    return node->block->pc.v + node->block->insns[insn].offset;
}

static enum c2_status add_arc(struct maker *m, uint32_t from, uint32_t to, uint64_t count, struct c2_error *err)
{
    if (m->pieces[from].function != m->pieces[to].function) {
        m->pieces[to].entered = true;
        m->pieces[to].entries += count;
        return C2_OK;
    }
    if (!c2_grow((void **)&m->arcs, &m->arc_room, m->arc_count, sizeof *m->arcs))
        return c2_fail_memory(err, "the loops");
    m->arcs[m->arc_count++] = (struct arc){{from, to}, count};
    return C2_OK;
}

/* Cuts a stretch; *last: its last piece. Pieces that begin elsewhere than at one of its instructions, in code that has
 * changed, do not cut it. */
static enum c2_status cut(struct maker *m, uint32_t stretch, uint32_t *last, struct c2_error *err)
{
    const struct loops_node *node = &m->loops->nodes[stretch];
    uint32_t at = piece_at(m, node->block->pc.v);
    enum c2_status status = C2_OK;
    m->pieces[at].executed += m->executed[stretch];
    for (uint32_t i = 0; i < node->insns && status == C2_OK; i++) {
        const uint64_t pc = loops_result_pc_of(node, i), end = pc + node->block->insns[i].length;
        uint32_t next = at;
        while (next + 1 < m->piece_count && m->pieces[next + 1].pc <= pc)
            next++;
        if (next != at && m->pieces[next].pc == pc) {
            status = add_arc(m, at, next, m->executed[stretch], err);
            m->pieces[next].executed += m->executed[stretch];
            at = next;
        }
        struct piece *piece = &m->pieces[at];
        piece->last = pc > piece->last ? pc : piece->last;
        piece->end = end > piece->end ? end : piece->end;
    }
    *last = at;
    return status;
}

static uint64_t instructions_of(const struct loops_node *node)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < node->insns; i++)
        count += node->block->insns[i].length != 0;
    return count;
}

static void loops_result_count_executed(struct maker *m)
{
    const struct loops *loops = m->loops;
    uint64_t instructions = 0;
    for (uint32_t i = 0; i < loops->node_count; i++)
        m->executed[i] = loops->nodes[i].entries;
    for (uint32_t i = 0; i < loops->edge_count; i++)
        m->executed[loops->edges[i].to] += loops->edges[i].count;
    for (uint32_t i = 0; i < loops->node_count; i++)
        instructions += m->executed[i] * instructions_of(&loops->nodes[i]);
    C2_ASSERT(instructions == loops->instructions);
}

static enum c2_status connect_pieces(struct maker *m, struct c2_error *err)
{
    const struct loops *loops = m->loops;
    uint32_t *last = c2_calloc(loops->node_count + (size_t)1, sizeof *last);
    enum c2_status status = last ? C2_OK : c2_fail_memory(err, "the loops");
    for (uint32_t i = 0; i < loops->node_count && status == C2_OK; i++) {
        struct piece *first = &m->pieces[piece_at(m, loops->nodes[i].block->pc.v)];
        first->entered |= loops->nodes[i].entered;
        first->entries += loops->nodes[i].entries;
        status = cut(m, i, &last[i], err);
    }
    for (uint32_t i = 0; i < loops->edge_count && status == C2_OK; i++) {
        const struct loops_edge *edge = &loops->edges[i];
        status = add_arc(m, last[edge->from], piece_at(m, loops->nodes[edge->to].block->pc.v), edge->count, err);
    }
    c2_free(last);
    return status;
}

/* ------------------------------------------------------------------ the graph */

static int by_nodes(const void *left, const void *right)
{
    const struct arc *a = left, *b = right;
    if (a->of.from != b->of.from)
        return a->of.from < b->of.from ? -1 : 1;
    return (a->of.to > b->of.to) - (a->of.to < b->of.to);
}

static void merge_arcs(struct maker *m)
{
    uint32_t kept = 0;
    if (m->arc_count != 0)
        qsort(m->arcs, m->arc_count, sizeof *m->arcs, by_nodes);
    for (uint32_t i = 0; i < m->arc_count; i++) {
        if (kept != 0 && by_nodes(&m->arcs[kept - 1], &m->arcs[i]) == 0)
            m->arcs[kept - 1].count += m->arcs[i].count;
        else
            m->arcs[kept++] = m->arcs[i];
    }
    m->arc_count = kept;
}

static uint32_t first_arc_of(const struct maker *m, uint32_t piece)
{
    uint32_t low = 0, high = m->arc_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (m->arcs[middle].of.from < piece)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Everything that a root leads to is marked. */
static void reach_from(const struct maker *m, uint32_t root, bool *reached, uint32_t *stack)
{
    uint32_t depth = 0;
    reached[root] = true;
    stack[depth++] = root;
    while (depth != 0) {
        const uint32_t from = stack[--depth];
        for (uint32_t i = first_arc_of(m, from); i < m->arc_count && m->arcs[i].of.from == from; i++) {
            if (reached[m->arcs[i].of.to])
                continue;
            reached[m->arcs[i].of.to] = true;
            stack[depth++] = m->arcs[i].of.to;
        }
    }
}

/* Of a function's pieces, those of [from, to), what no root leads to begins with what ran least of it: that is in no
 * loop, or in the outermost one. */
static void guess_roots(struct maker *m, uint32_t from, uint32_t to, bool *reached, uint32_t *stack)
{
    for (uint32_t left = to - from; left != 0; left--) {
        uint32_t least = to;
        for (uint32_t i = from; i < to; i++)
            if (!reached[i] && (least == to || m->pieces[i].executed < m->pieces[least].executed))
                least = i;
        if (least == to)
            return;
        m->root[least] = true;
        reach_from(m, least, reached, stack);
    }
}

static enum c2_status find_roots(struct maker *m, struct c2_error *err)
{
    for (uint32_t i = 0; i < m->piece_count; i++)
        m->root[i] = m->pieces[i].entered;
    if (!m->loops->torn)
        return C2_OK;
    bool *reached = c2_calloc(m->piece_count + (size_t)1, sizeof *reached);
    uint32_t *stack = c2_calloc(m->piece_count + (size_t)1, sizeof *stack);
    enum c2_status status = reached && stack ? C2_OK : c2_fail_memory(err, "the loops");
    for (uint32_t i = 0; i < m->piece_count && status == C2_OK; i++)
        if (m->root[i])
            reach_from(m, i, reached, stack);
    for (uint32_t i = 0, end; i < m->piece_count && status == C2_OK; i = end) {
        for (end = i + 1; end < m->piece_count && m->pieces[end].function == m->pieces[i].function;)
            end++;
        guess_roots(m, i, end, reached, stack);
    }
    c2_free(reached);
    c2_free(stack);
    return status;
}

static enum c2_status loops_result_find_loops(struct maker *m, struct c2_error *err)
{
    merge_arcs(m);
    m->bare = c2_calloc(m->arc_count + (size_t)1, sizeof *m->bare);
    m->root = c2_calloc(m->piece_count + (size_t)1, sizeof *m->root);
    if (!m->bare || !m->root)
        return c2_fail_memory(err, "the loops");
    for (uint32_t i = 0; i < m->arc_count; i++)
        m->bare[i] = m->arcs[i].of;
    enum c2_status status = find_roots(m, err);
    if (status != C2_OK)
        return status;
    const struct loops_graph graph = {m->piece_count, m->bare, m->arc_count, m->root};
    return loops_find(&m->forest, &graph, err);
}

static bool loops_result_is_in(const struct maker *m, uint32_t piece, uint32_t loop)
{
    uint32_t around = m->forest.loop_of[piece];
    while (around != LOOPS_NONE && around != loop)
        around = m->forest.loops[around].parent;
    return around == loop;
}

/* ------------------------------------------------------------------ rounds */

/* Where the header decides: it, or what it always goes on to and nothing else does (behind a call, say). */
static uint32_t deciding_piece(const struct maker *m, const uint32_t *origins, uint32_t header)
{
    uint32_t at = header;
    for (;;) {
        const uint32_t first = first_arc_of(m, at);
        const bool only = first < m->arc_count && m->arcs[first].of.from == at &&
                          (first + 1 == m->arc_count || m->arcs[first + 1].of.from != at);
        if (!only || m->arcs[first].of.to == header || origins[m->arcs[first].of.to] != 1)
            return at;
        at = m->arcs[first].of.to;
    }
}

/* How often a header that only tests has found that the loop is over. */
static uint64_t exits_of(const struct maker *m, const uint32_t *origins, uint32_t loop)
{
    const uint32_t header = m->forest.loops[loop].header, decides = deciding_piece(m, origins, header);
    uint64_t exits = 0;
    for (uint32_t i = first_arc_of(m, decides); i < m->arc_count && m->arcs[i].of.from == decides; i++) {
        if (m->arcs[i].of.to == header)
            return 0;
        exits += loops_result_is_in(m, m->arcs[i].of.to, loop) ? 0 : m->arcs[i].count;
    }
    return exits;
}

static enum c2_status find_exits(struct maker *m, struct c2_error *err)
{
    uint32_t *origins = c2_calloc(m->piece_count + (size_t)1, sizeof *origins);
    m->exits = c2_calloc(m->forest.count + (size_t)1, sizeof *m->exits);
    if (!origins || !m->exits) {
        c2_free(origins);
        return c2_fail_memory(err, "the loops");
    }
    for (uint32_t i = 0; i < m->arc_count; i++)
        origins[m->arcs[i].of.to]++;
    for (uint32_t i = 0; i < m->piece_count; i++)
        origins[i] += m->pieces[i].entered;
    for (uint32_t i = 0; i < m->forest.count; i++)
        m->exits[i] = m->forest.loops[i].irreducible ? 0 : exits_of(m, origins, i);
    c2_free(origins);
    return C2_OK;
}

/* ------------------------------------------------------------------ the result */

static uint32_t loops_result_depth_of(const struct loops_forest *forest, uint32_t loop)
{
    uint32_t depth = 1;
    while ((loop = forest->loops[loop].parent) != LOOPS_NONE)
        depth++;
    return depth;
}

/* Numbers of loops, to be put in order. */
struct numbered {
    uint64_t header;
    uint32_t depth, number;
};

static int by_header(const void *left, const void *right)
{
    const struct numbered *a = left, *b = right;
    if (a->header != b->header)
        return a->header < b->header ? -1 : 1;
    return (a->depth > b->depth) - (a->depth < b->depth);
}

/* What is measured may begin between a header and the way out of it. */
static uint64_t rounds_of(const struct maker *m, uint32_t loop)
{
    const uint64_t executed = m->pieces[m->forest.loops[loop].header].executed;
    return executed > m->exits[loop] ? executed - m->exits[loop] : 0;
}

static enum c2_status loops_result_order_loops(struct maker *m, struct c2_error *err)
{
    const struct loops_forest *forest = &m->forest;
    struct numbered *order = c2_calloc(forest->count + (size_t)1, sizeof *order);
    struct analyses_loop *list = m->loops->list = c2_calloc(forest->count + (size_t)1, sizeof *list);
    m->place = c2_calloc(forest->count + (size_t)1, sizeof *m->place);
    if (!order || !list || !m->place) {
        c2_free(order);
        return c2_fail_memory(err, "the loops");
    }
    for (uint32_t i = 0; i < forest->count; i++)
        order[i] = (struct numbered){m->pieces[forest->loops[i].header].pc, loops_result_depth_of(forest, i), i};
    qsort(order, forest->count, sizeof *order, by_header);
    for (uint32_t i = 0; i < forest->count; i++)
        m->place[order[i].number] = i;
    for (uint32_t i = 0; i < forest->count; i++) {
        const struct loops_found *from = &forest->loops[order[i].number];
        list[i] = (struct analyses_loop){.header = {order[i].header},
                                         .parent = from->parent == LOOPS_NONE ? ANALYSES_NO_LOOP
                                                                              : m->place[from->parent],
                                         .depth = order[i].depth,
                                         .irreducible = from->irreducible,
                                         .iterations = rounds_of(m, order[i].number)};
    }
    c2_free(order);
    return C2_OK;
}

/* An arc into a loop, or more than one, and from where it goes back. */
static void count_arc(struct maker *m, const struct arc *arc)
{
    const struct loops_forest *forest = &m->forest;
    uint32_t loop = forest->loop_of[arc->of.to];
    for (; loop != LOOPS_NONE && !loops_result_is_in(m, arc->of.from, loop); loop = forest->loops[loop].parent)
        m->loops->list[m->place[loop]].entries += arc->count;
    const uint64_t last = m->pieces[arc->of.from].last;
    for (; loop != LOOPS_NONE; loop = forest->loops[loop].parent) {
        struct analyses_loop *to = &m->loops->list[m->place[loop]];
        if (forest->loops[loop].header == arc->of.to && last > to->latch.v)
            to->latch.v = last;
    }
}

static void count_entries(struct maker *m)
{
    for (uint32_t i = 0; i < m->arc_count; i++)
        count_arc(m, &m->arcs[i]);
    for (uint32_t i = 0; i < m->piece_count; i++)
        for (uint32_t loop = m->forest.loop_of[i]; loop != LOOPS_NONE; loop = m->forest.loops[loop].parent)
            m->loops->list[m->place[loop]].entries += m->pieces[i].entries;
}

/* Both ascend by address. */
static enum c2_status assign_insns(struct maker *m, struct c2_error *err)
{
    const struct analyses_profile_result *profile = analysis_profile.result(m->loops->profile);
    uint32_t *loop_of = m->loops->loop_of = c2_calloc(profile->insn_count + 1, sizeof *loop_of);
    if (!loop_of)
        return c2_fail_memory(err, "the loops");
    for (size_t i = 0; i < profile->insn_count; i++) {
        const uint64_t pc = profile->insns[i].pc.v;
        const uint32_t at = piece_at(m, pc);
        const bool within = at != m->piece_count && pc < m->pieces[at].end;
        const uint32_t loop = within ? m->forest.loop_of[at] : LOOPS_NONE;
        loop_of[i] = loop == LOOPS_NONE ? ANALYSES_NO_LOOP : m->place[loop];
    }
    return C2_OK;
}

static void loops_result_release(struct maker *m)
{
    loops_release(&m->forest);
    c2_free(m->pieces);
    c2_free(m->executed);
    c2_free(m->arcs);
    c2_free(m->bare);
    c2_free(m->root);
    c2_free(m->exits);
    c2_free(m->place);
}

enum c2_status loops_finish(struct loops *loops, struct c2_error *err)
{
    struct maker m = {.loops = loops};
    enum c2_status status = make_pieces(&m, err);
    if (status == C2_OK)
        loops_result_count_executed(&m);
    if (status == C2_OK)
        status = connect_pieces(&m, err);
    if (status == C2_OK)
        status = loops_result_find_loops(&m, err);
    if (status == C2_OK)
        status = find_exits(&m, err);
    if (status == C2_OK)
        status = loops_result_order_loops(&m, err);
    if (status == C2_OK) {
        count_entries(&m);
        status = assign_insns(&m, err);
    }
    if (status == C2_OK)
        loops->result = (struct analyses_loops_result){loops->list, m.forest.count, loops->loop_of};
    loops_result_release(&m);
    return status;
}
