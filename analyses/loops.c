/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * loops: the loops of a run.
 *
 * Model
 *   The control flow of a function is what was executed: a node is a stretch of code that ran in one go (a record of
 *   the stream), and an edge says that in one activation of the function one came after the other, whatever ran in
 *   between in other functions. Activations are frames of a shadow stack, one a thread, each known by its slot, the
 *   address of its return address, as in callgraph.c:
 *     call     frames whose slot is not above the new one are over, and a new one is there.
 *     return   frames whose slot is not above the one read are over; the one below goes on.
 *     jump     in its own function it is an edge. To the entry of another one it is a tail call, or a signal's handler:
 *              a frame of that function with the same slot; when the slot is in that function already, its activation
 *              begins anew. Into another function's midst it goes on with the nearest frame of it: the handler is over,
 *              or longjmp or an exception has left frames, or cold code goes back.
 *   So calls, returns, system calls, signals and other threads make no edges; what goes on behind a call does. After
 *   instructions that were skipped there is nothing to go on with.
 *   Functions are found by their symbols. Code without symbols is one function, which is entered wherever it is called.
 *   When the run is over the nodes are cut where others begin, and loops_graph.c finds the loops (loops_result.c).
 *
 * Counting
 *   entries      How often control came into the loop from outside of it; of what is measured.
 *   iterations   How often its header ran, less, where the header only tests whether the loop goes on (it has a way out
 *                and no way back to itself), how often it did not: rounds of `for`, whether the test stands at the top
 *                or at the bottom. Of an irreducible loop how often its header ran, that with the lowest address.
 *   Both in phases that are measured; edges and loops are found in all that are recorded.
 *
 * Invariants (asserted at the end)
 *   What the nodes have executed is what the simulator has counted.
 *
 * Not modelled
 *   A handler of a signal that interrupts its own function makes an edge to the entry of that. What lies in another
 *   symbol (NAME.cold) is another function, and in no loop of the one that it is part of. Of a function that is called
 *   in a loop only what was inlined is in the loop.
 *
 * Memory
 *   40 bytes for each stretch of code and 16 for each edge that was executed, and as much again for finding them.
 */
#include "analyses/loops_priv.h"

#include <string.h>

#define FRAMES_LOOKED_AT 256u /* for the function that a jump goes back to */
#define FIRST_SLOT UINT64_MAX /* it has not been called */

/* ------------------------------------------------------------------ life */

void loops_destroy(struct loops *loops)
{
    if (!loops)
        return;
    for (uint32_t i = 0; i < loops->thread_count; i++)
        c2_free(loops->threads[i].frames);
    c2_map_destroy(loops->part_of);
    c2_map_destroy(loops->edge_of);
    c2_free(loops->threads);
    c2_free(loops->nodes);
    c2_free(loops->node_of);
    c2_free(loops->edges);
    c2_free(loops->list);
    c2_free(loops->loop_of);
    c2_free(loops);
}

static void analyses_loops_destroy(struct analysis *analysis) { loops_destroy((struct loops *)analysis); }

enum c2_status loops_create(struct loops **out, const struct analysis *profile, struct loader_symbols *symbols,
                            struct c2_error *err)
{
    struct loops *loops = *out = c2_calloc(1, sizeof *loops);
    if (!loops)
        return c2_fail_memory(err, "the loops");
    loops->base.kind = &analysis_loops;
    loops->profile = profile;
    loops->symbols = symbols;
    loops->measuring = true;
    enum c2_status status = c2_map_create(&loops->part_of, err);
    if (status == C2_OK)
        status = c2_map_create(&loops->edge_of, err);
    if (status == C2_OK)
        return C2_OK;
    loops_destroy(loops);
    *out = NULL;
    return status;
}

static enum c2_status loops_check_word(const char *word, struct c2_error *err)
{
    if (!word || strcmp(word, "loop") == 0)
        return C2_OK;
    return c2_fail(err, C2_ERR_INVALID,
                   "--by %s: objects, lines and functions are always there; what can be added is loop", word);
}

static enum c2_status analyses_loops_create(struct analysis **out, const struct analyses_setup *setup,
                                            const struct analyses *analyses, struct c2_error *err)
{
    struct loops *loops = NULL;
    enum c2_status status = loops_check_word(setup->given[ANALYSIS_loops], err);
    if (status == C2_OK)
        status = loops_create(&loops, analyses_find(analyses, ANALYSIS_profile), setup->symbols, err);
    if (status == C2_OK)
        *out = &loops->base;
    return status;
}

/* ------------------------------------------------------------------ nodes and edges */

static enum c2_status new_node(struct loops *loops, const struct stream_block *block, uint32_t insns, uint32_t *out,
                               struct c2_error *err)
{
    struct guest_va entry = {LOOPS_NO_FUNCTION};
    if (!c2_grow((void **)&loops->nodes, &loops->node_room, loops->node_count, sizeof *loops->nodes))
        return c2_fail_memory(err, "the loops");
    const bool known = loops->symbols && loader_function_entry(loops->symbols, block->pc, &entry);
    *out = loops->node_count++;
    loops->nodes[*out] = (struct loops_node){.block = block,
                                             .insns = insns,
                                             .at_entry = known && entry.v == block->pc.v,
                                             .function = known ? entry.v : LOOPS_NO_FUNCTION,
                                             .next = LOOPS_NONE};
    return C2_OK;
}

static enum c2_status reach_block(struct loops *loops, uint32_t number, struct c2_error *err)
{
    if (number < loops->block_room)
        return C2_OK;
    uint32_t i = loops->block_room;
    if (!c2_reach((void **)&loops->node_of, &loops->block_room, number, sizeof *loops->node_of,
                  C2_HOST_SIZE(4096u, 1u)))
        return c2_fail_memory(err, "the loops");
    for (; i < loops->block_room; i++)
        loops->node_of[i] = LOOPS_NONE;
    return C2_OK;
}

static enum c2_status whole_node(struct loops *loops, const struct sim_executed *record, uint32_t *out,
                                 struct c2_error *err)
{
    enum c2_status status = reach_block(loops, record->number, err);
    if (status != C2_OK)
        return status;
    uint32_t *node = &loops->node_of[record->number];
    if (*node == LOOPS_NONE)
        status = new_node(loops, record->block, record->insns_run, node, err);
    *out = *node;
    return status;
}

static enum c2_status part_node(struct loops *loops, const struct sim_executed *record, uint32_t *out,
                                struct c2_error *err)
{
    const uint64_t key = (uint64_t)record->number << 32 | record->insns_run;
    uint64_t found;
    if (c2_map_get(loops->part_of, key, &found)) {
        *out = (uint32_t)found;
        return C2_OK;
    }
    enum c2_status status = new_node(loops, record->block, record->insns_run, out, err);
    return status == C2_OK ? c2_map_put(loops->part_of, key, *out, err) : status;
}

static enum c2_status loops_find_edge(struct loops *loops, uint32_t from, uint32_t to, uint32_t *out,
                                      struct c2_error *err)
{
    const uint64_t key = (uint64_t)from << 32 | to;
    uint64_t found = loops->edge_count;
    *out = loops->edge_count;
    if (c2_map_get(loops->edge_of, key, &found)) {
        *out = (uint32_t)found;
        return C2_OK;
    }
    if (!c2_grow((void **)&loops->edges, &loops->edge_room, loops->edge_count, sizeof *loops->edges))
        return c2_fail_memory(err, "the loops");
    enum c2_status status = c2_map_put(loops->edge_of, key, loops->edge_count, err);
    if (status == C2_OK)
        loops->edges[loops->edge_count++] = (struct loops_edge){from, to, 0};
    return status;
}

/* A node is mostly followed by the one that followed it before. */
static enum c2_status count_edge(struct loops *loops, uint32_t from, uint32_t to, struct c2_error *err)
{
    struct loops_node *node = &loops->nodes[from];
    if (!SHORTCUT(node->next == to)) {
        enum c2_status status = loops_find_edge(loops, from, to, &node->next_edge, err);
        if (status != C2_OK)
            return status;
        node->next = to;
    }
    loops->edges[node->next_edge].count += loops->measuring;
    return C2_OK;
}

/* ------------------------------------------------------------------ frames */

static struct loops_frame *loops_top_of(const struct loops_thread *thread)
{
    return thread->depth == 0 ? NULL : &thread->frames[thread->depth - 1];
}

static enum c2_status loops_push(struct loops_thread *thread, uint64_t slot, uint64_t function, struct c2_error *err)
{
    if (!c2_grow((void **)&thread->frames, &thread->room, thread->depth, sizeof *thread->frames))
        return c2_fail_memory(err, "the call stack of the loops");
    thread->frames[thread->depth++] = (struct loops_frame){slot, function, LOOPS_NONE};
    return C2_OK;
}

static void pop_up_to(struct loops_thread *thread, uint64_t slot)
{
    while (thread->depth != 0 && loops_top_of(thread)->slot <= slot)
        thread->depth--;
}

/* Of the frames that the slot of the top one has the one of this function, from the top down; LOOPS_NONE: none. */
static uint32_t loops_find_in_slot(const struct loops_thread *thread, uint64_t function)
{
    for (uint32_t i = thread->depth; i-- > 0 && thread->frames[i].slot == loops_top_of(thread)->slot;)
        if (thread->frames[i].function == function)
            return i;
    return LOOPS_NONE;
}

static uint32_t find_below(const struct loops_thread *thread, uint64_t function)
{
    for (uint32_t i = thread->depth; i-- > 0 && thread->depth - i <= FRAMES_LOOKED_AT;)
        if (thread->frames[i].function == function)
            return i;
    return LOOPS_NONE;
}

/* ------------------------------------------------------------------ how control passes */

/* The frame on top goes on at this node, or begins there. Of a run that is not all there it is unknown whether one that
 * has not been called begins. */
static enum c2_status loops_go_on(struct loops *loops, struct loops_thread *thread, uint32_t node, struct c2_error *err)
{
    struct loops_frame *top = loops_top_of(thread);
    const uint32_t last = top->last;
    top->last = node;
    if (last != LOOPS_NONE)
        return count_edge(loops, last, node, err);
    loops->nodes[node].entered |= !loops->torn || top->slot != FIRST_SLOT;
    loops->nodes[node].entries += loops->measuring;
    return C2_OK;
}

/* From one function to another without a call. */
static enum c2_status loops_leave(struct loops_thread *thread, const struct loops_node *to, struct c2_error *err)
{
    const uint32_t found = to->at_entry ? loops_find_in_slot(thread, to->function) : find_below(thread, to->function);
    if (found == LOOPS_NONE)
        return loops_push(thread, loops_top_of(thread)->slot, to->function, err);
    thread->depth = found + 1;
    if (to->at_entry)
        loops_top_of(thread)->last = LOOPS_NONE;
    return C2_OK;
}

static enum c2_status loops_pass(struct loops *loops, struct loops_thread *thread, uint32_t node, struct c2_error *err)
{
    const struct loops_node *to = &loops->nodes[node];
    enum c2_status status = C2_OK;
    if (thread->ending != STREAM_JUMP)
        pop_up_to(thread, thread->slot);
    if (thread->depth == 0 || thread->ending == STREAM_CALL)
        status = loops_push(thread, thread->ending == STREAM_CALL ? thread->slot : FIRST_SLOT, to->function, err);
    else if (loops_top_of(thread)->function != to->function)
        status = loops_leave(thread, to, err);
    return status == C2_OK ? loops_go_on(loops, thread, node, err) : status;
}

static void loops_remember(struct loops_thread *thread, const struct sim_executed *record)
{
    const struct stream_block *block = record->block;
    const bool whole = record->insns_run == block->insn_count;
    thread->ending = whole ? (enum stream_ending)block->ending : STREAM_JUMP;
    if (thread->ending == STREAM_CALL)
        thread->slot = record->words[block->slot_count - 1];
    else if (thread->ending == STREAM_RETURN)
        thread->slot = record->words[block->insns[block->insn_count - 1].first_slot];
}

static enum c2_status loops_find_thread(struct loops *loops, uint32_t tid, struct loops_thread **out,
                                        struct c2_error *err)
{
    uint32_t i = 0;
    if (loops->current < loops->thread_count && loops->threads[loops->current].tid == tid)
        i = loops->current;
    while (i < loops->thread_count && loops->threads[i].tid != tid)
        i++;
    if (i == loops->thread_count) {
        if (!c2_grow((void **)&loops->threads, &loops->thread_room, i, sizeof *loops->threads))
            return c2_fail_memory(err, "the loops");
        loops->threads[loops->thread_count++] = (struct loops_thread){.tid = tid, .ending = STREAM_JUMP};
    }
    loops->current = i;
    *out = &loops->threads[i];
    return C2_OK;
}

/* What has completed no instruction will begin again. */
enum c2_status loops_record(struct loops *loops, const struct sim_executed *record, struct c2_error *err)
{
    struct loops_thread *thread = NULL;
    uint32_t node;
    if (record->insns_run == 0)
        return C2_OK;
    enum c2_status status = record->insns_run == record->block->insn_count ? whole_node(loops, record, &node, err)
                                                                           : part_node(loops, record, &node, err);
    if (status == C2_OK)
        status = loops_find_thread(loops, record->tid, &thread, err);
    if (status == C2_OK)
        status = loops_pass(loops, thread, node, err);
    if (status == C2_OK)
        loops_remember(thread, record);
    return status;
}

static enum c2_status loops_records(void *self, const struct sim_records *records, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (const uint64_t *at = records->words; at < records->end && status == C2_OK; at = sim_record_behind(at)) {
        const struct sim_executed executed = sim_executed_at(records, at);
        status = loops_record(self, &executed, err);
    }
    return status;
}

/* ------------------------------------------------------------------ windows */

void loops_forget(struct loops *loops)
{
    for (uint32_t i = 0; i < loops->thread_count; i++) {
        loops->threads[i].depth = 0;
        loops->threads[i].ending = STREAM_JUMP;
    }
}

static enum c2_status loops_window(void *self, const struct sim_window *window, struct c2_error *err)
{
    struct loops *loops = self;
    (void)err;
    if (window->phase == STREAM_MEASURE)
        loops->instructions += window->of.counts.instructions;
    loops->measuring = window->next == STREAM_MEASURE;
    if (window->next == STREAM_SKIP)
        loops_forget(loops);
    return C2_OK;
}

static enum c2_status loops_dropped(void *self, struct c2_error *err)
{
    struct loops *loops = self;
    (void)err;
    for (uint32_t i = 0; i < loops->node_count; i++)
        loops->nodes[i].entries = 0;
    for (uint32_t i = 0; i < loops->edge_count; i++)
        loops->edges[i].count = 0;
    loops->instructions = 0;
    return C2_OK;
}

static enum c2_status analyses_loops_finish(void *self, struct sim *sim, struct c2_error *err)
{
    (void)sim;
    return loops_finish(self, err);
}

static struct sim_subscriber loops_subscriber(struct analysis *analysis)
{
    return (struct sim_subscriber){.self = analysis,
                                   .records = loops_records,
                                   .dropped = loops_dropped,
                                   .window = loops_window,
                                   .finish = analyses_loops_finish};
}

static const void *analyses_loops_own_result(const struct analysis *analysis)
{
    const struct loops *loops = (const struct loops *)analysis;
    return loops->loop_of ? &loops->result : NULL;
}

const struct analysis_kind analysis_loops = {.needs = 1u << ANALYSIS_profile,
                                             .create = analyses_loops_create,
                                             .subscriber = loops_subscriber,
                                             .result = analyses_loops_own_result,
                                             .destroy = analyses_loops_destroy};
