/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * jumps: which jumps were taken how often, for profiles in Callgrind's format.
 *
 * Model
 *   A jump ends a block; where its thread goes on says the next record of it. A direct jump is taken each time, a
 *   conditional one when its target comes next, an indirect one to what comes next. Which kind an instruction is, and
 *   its target, is read from the file that it lies in (insns.c).
 *
 * Counting
 *   In phases that are measured, by instruction and target.
 *
 * Invariants
 *   No jump was taken more often than it was executed.
 *
 * Not modelled
 *   Code in no file has no jumps. A conditional jump behind which a signal's handler runs was not taken, and an
 *   indirect one was to the handler.
 */
#include <stdlib.h>
#include <string.h>

#include "analyses/insns_priv.h"

#define NO_EDGE UINT32_MAX
#define NO_BLOCK UINT32_MAX

/* What is known of a block of the stream. */
struct known {
    const struct stream_block *of; /* NULL: nothing */
    uint64_t from, target;
    uint32_t edge; /* direct and conditional: its own; indirect: the one that was taken last; NO_EDGE: none */
    uint8_t branch;
};

/* A thread's last block, if where it goes on is to be counted. */
struct pending {
    uint32_t tid, block;
};

struct jumps {
    struct analysis base;
    struct insns *insns;
    struct known *known; /* by number in the stream */
    uint32_t known_room;
    struct pending *threads;
    uint32_t thread_count, thread_room;
    struct analyses_jump *edges;
    uint32_t edge_count, edge_room;
    struct c2_map *edge_of; /* a hash of both ends -> edge; of equal ones the next free hash */
    bool idle;              /* in a phase that is not measured */
    struct analyses_jumps_result result;
};

/* ------------------------------------------------------------------ edges */

static enum c2_status jumps_find_edge(struct jumps *jumps, uint64_t from, uint64_t to, bool conditional, uint32_t *out,
                                      struct c2_error *err)
{
    uint64_t hash = (from * 0x9e3779b97f4a7c15u ^ to) * 0xbf58476d1ce4e5b9u, found;
    for (; c2_map_get(jumps->edge_of, hash, &found); hash++) {
        *out = (uint32_t)found;
        if (jumps->edges[found].from.v == from && jumps->edges[found].to.v == to)
            return C2_OK;
    }
    if (!c2_grow((void **)&jumps->edges, &jumps->edge_room, jumps->edge_count, sizeof *jumps->edges))
        return c2_fail_memory(err, "the jumps");
    *out = jumps->edge_count++;
    jumps->edges[*out] = (struct analyses_jump){.from = {from}, .to = {to}, .conditional = conditional};
    return c2_map_put(jumps->edge_of, hash, *out, err);
}

static enum c2_status jumps_learn(struct jumps *jumps, uint32_t number, const struct stream_block *block,
                                  struct c2_error *err)
{
    const struct stream_insn *last = &block->insns[block->insn_count - 1];
    struct known *known = &jumps->known[number];
    const struct insns_insn *insn = insns_at(jumps->insns, block->pc.v + last->offset, last->length);
    *known = (struct known){.of = block, .from = insn->pc, .target = insn->target, .edge = NO_EDGE};
    known->branch = insn->bytes == 0 ? INSNS_NO_BRANCH : insn->branch;
    if (known->branch != INSNS_DIRECT_JUMP && known->branch != INSNS_CONDITIONAL_JUMP)
        return C2_OK;
    return jumps_find_edge(jumps, known->from, known->target, known->branch == INSNS_CONDITIONAL_JUMP, &known->edge,
                           err);
}

static enum c2_status jumps_know(struct jumps *jumps, uint32_t number, const struct stream_block *block,
                                 struct c2_error *err)
{
    const uint32_t before = jumps->known_room;
    if (number >= before) {
        if (!c2_reach((void **)&jumps->known, &jumps->known_room, number, sizeof *jumps->known,
                      C2_HOST_SIZE(4096u, 1u)))
            return c2_fail_memory(err, "the jumps");
        memset(jumps->known + before, 0, (jumps->known_room - before) * sizeof *jumps->known);
    }
    return jumps->known[number].of ? C2_OK : jumps_learn(jumps, number, block, err);
}

/* ------------------------------------------------------------------ records */

/* The jump at the end of the last block of a thread goes on to `to`. */
static enum c2_status jumps_arrive(struct jumps *jumps, struct pending *thread, uint64_t to, struct c2_error *err)
{
    struct known *known = thread->block == NO_BLOCK ? NULL : &jumps->known[thread->block];
    enum c2_status status = C2_OK;
    thread->block = NO_BLOCK;
    if (!known)
        return C2_OK;
    if (known->branch == INSNS_CONDITIONAL_JUMP) {
        jumps->edges[known->edge].taken += to == known->target;
        return C2_OK;
    }
    if (known->edge == NO_EDGE || jumps->edges[known->edge].to.v != to)
        status = jumps_find_edge(jumps, known->from, to, false, &known->edge, err);
    if (status != C2_OK)
        return status;
    jumps->edges[known->edge].executed++;
    jumps->edges[known->edge].taken++;
    return C2_OK;
}

/* All of a block has been executed. */
static void jumps_leave(struct jumps *jumps, struct pending *thread, uint32_t number)
{
    const struct known *known = &jumps->known[number];
    if (jumps->idle)
        return;
    if (known->branch == INSNS_DIRECT_JUMP || known->branch == INSNS_CONDITIONAL_JUMP)
        jumps->edges[known->edge].executed++;
    if (known->branch == INSNS_DIRECT_JUMP)
        jumps->edges[known->edge].taken++;
    else if (known->branch == INSNS_CONDITIONAL_JUMP || known->branch == INSNS_INDIRECT_JUMP)
        thread->block = number;
}

static enum c2_status jumps_thread_of(struct jumps *jumps, uint32_t tid, struct pending **out, struct c2_error *err)
{
    for (uint32_t i = 0; i < jumps->thread_count; i++) {
        *out = &jumps->threads[i];
        if (jumps->threads[i].tid == tid)
            return C2_OK;
    }
    if (!c2_grow((void **)&jumps->threads, &jumps->thread_room, jumps->thread_count, sizeof *jumps->threads))
        return c2_fail_memory(err, "the jumps");
    *out = &jumps->threads[jumps->thread_count++];
    **out = (struct pending){tid, NO_BLOCK};
    return C2_OK;
}

static enum c2_status jumps_take_records(void *self, const struct sim_records *records, struct c2_error *err)
{
    struct jumps *jumps = self;
    struct pending *thread = NULL;
    enum c2_status status = jumps_thread_of(jumps, records->tid, &thread, err);
    for (const uint64_t *words = records->words; words < records->end && status == C2_OK;
         words = sim_record_behind(words)) {
        const uint32_t number = stream_header_block(*words);
        status = jumps_know(jumps, number, stream_blocks_at(records->blocks, number), err);
        if (status == C2_OK)
            status = jumps_arrive(jumps, thread, jumps->known[number].of->pc.v, err);
        if (status == C2_OK && stream_header_insns(*words) == jumps->known[number].of->insn_count)
            jumps_leave(jumps, thread, number);
    }
    return status;
}

/* ------------------------------------------------------------------ what else is notified */

static enum c2_status jumps_memory(void *self, bool appeared, const struct mmu_area *area, struct c2_error *err)
{
    return insns_memory(((struct jumps *)self)->insns, appeared, area, err);
}

static enum c2_status jumps_mark(void *self, enum stream_mark what, const uint64_t *words, struct c2_error *err)
{
    (void)err;
    insns_mark(((struct jumps *)self)->insns, what, words);
    return C2_OK;
}

static enum c2_status jumps_window(void *self, const struct sim_window *ended, struct c2_error *err)
{
    (void)err;
    ((struct jumps *)self)->idle = ended->next != STREAM_MEASURE;
    return C2_OK;
}

static enum c2_status jumps_dropped(void *self, struct c2_error *err)
{
    struct jumps *jumps = self;
    (void)err;
    for (uint32_t i = 0; i < jumps->edge_count; i++)
        jumps->edges[i].executed = jumps->edges[i].taken = 0;
    for (uint32_t i = 0; i < jumps->thread_count; i++)
        jumps->threads[i].block = NO_BLOCK;
    return C2_OK;
}

static int jumps_by_addresses(const void *a, const void *b)
{
    const struct analyses_jump *x = a, *y = b;
    if (x->from.v != y->from.v)
        return x->from.v > y->from.v ? 1 : -1;
    return (x->to.v > y->to.v) - (x->to.v < y->to.v);
}

/* Its numbers of edges are of no use any more: nothing comes behind. */
static enum c2_status jumps_finish(void *self, struct sim *sim, struct c2_error *err)
{
    struct jumps *jumps = self;
    uint32_t count = 0;
    (void)sim;
    (void)err;
    for (uint32_t i = 0; i < jumps->edge_count; i++) {
        C2_ASSERT(jumps->edges[i].taken <= jumps->edges[i].executed);
        if (jumps->edges[i].executed != 0)
            jumps->edges[count++] = jumps->edges[i];
    }
    if (count != 0)
        qsort(jumps->edges, count, sizeof *jumps->edges, jumps_by_addresses);
    jumps->result = (struct analyses_jumps_result){jumps->edges, count};
    return C2_OK;
}

/* ------------------------------------------------------------------ life */

static void jumps_destroy(struct analysis *analysis)
{
    struct jumps *jumps = (struct jumps *)analysis;
    insns_destroy(jumps->insns);
    c2_map_destroy(jumps->edge_of);
    c2_free(jumps->known);
    c2_free(jumps->threads);
    c2_free(jumps->edges);
    c2_free(jumps);
}

static enum c2_status jumps_create(struct analysis **out, const struct analyses_setup *setup,
                                   const struct analyses *analyses, struct c2_error *err)
{
    struct jumps *jumps = c2_calloc(1, sizeof *jumps);
    (void)analyses;
    if (!jumps)
        return c2_fail_memory(err, "the jumps");
    jumps->base.kind = &analysis_jumps;
    enum c2_status status = c2_map_create(&jumps->edge_of, err);
    if (status == C2_OK)
        status = insns_create(&jumps->insns, setup->symbols, err);
    if (status == C2_OK)
        *out = &jumps->base;
    else
        jumps_destroy(&jumps->base);
    return status;
}

static struct sim_subscriber jumps_subscriber(struct analysis *analysis)
{
    return (struct sim_subscriber){.self = analysis,
                                   .records = jumps_take_records,
                                   .memory = jumps_memory,
                                   .mark = jumps_mark,
                                   .window = jumps_window,
                                   .dropped = jumps_dropped,
                                   .finish = jumps_finish};
}

static const void *jumps_result(const struct analysis *analysis) { return &((const struct jumps *)analysis)->result; }

const struct analysis_kind analysis_jumps = {
    .create = jumps_create, .subscriber = jumps_subscriber, .result = jumps_result, .destroy = jumps_destroy};
