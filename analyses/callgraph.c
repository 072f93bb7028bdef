/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * callgraph: who called whom, how often, and what that cost until the call was over.
 *
 * Model
 *   A shadow of the call stack of each thread. A frame is known by its slot, the address of its return address: a call
 *   writes it, a return reads it. Control passes between two records of the stream; the ending of the first says how.
 *     call      frames whose slot is not above the new one are over; then the new frame is there.
 *     return    frames whose slot lies below the one read are over, and those of that slot.
 *     jump      (or running on) to the entry of another function is a tail call: a frame with the slot of the one it
 *               came from, and over with it. One to a function that this slot is in already is a loop: the frames in
 *               between are over, it counts as a call, and its cost stays with the call that it goes on with.
 *   From this follow, without more rules: longjmp and exceptions (frames that were left are over at the next call or
 *   return above them), threads of control with stacks of their own (swapcontext: a switch to a higher stack ends the
 *   frames of the lower one; back there, returns find no frame and end nothing), a return that goes elsewhere than
 *   behind its call (then it is a jump).
 *   A handler of a signal is entered without a call: it is a tail call by the instruction before it - a system call, or
 *   one that faulted - until a return through a slot that no frame has: that ends its frame and those above.
 *   Stubs     Code at no function's entry of at most STUB_BLOCKS blocks of at most STUB_INSNS instructions that jumps
 *             on, as a PLT does, is passed through: the call goes to where the stub jumps. So is the dynamic linker's
 *             resolver. A tail call through an entry of a PLT is one by the instruction that jumped there.
 *
 * Counting
 *   The cost of a call is everything counted between its own end and the end of its frame, callees included, but for
 *   what was counted while other threads ran; it is added to the pair of calling instruction and callee. A recursive
 *   function's calls each count in full, as with Callgrind: the sum over nested calls can be more than the run's total.
 *   Frames still there at the end are over then.
 *   Functions are found by their symbols; without symbols there are no tail calls.
 *   Where functions are told apart by contexts (contexts.c), a pair is one for each context of both; then frames of
 *   functions that were left without a return end where the guest goes on in one further out.
 *   Frames are followed in every phase, costs are those of phases that are measured: of a call what was measured, and
 *   the call itself where that was something, or it ended in such a phase.
 *
 * Invariants (analyses_callgraph_check; the first, of each window, when it is told)
 *   What is counted is what the simulator has counted in what is measured.
 *   Slots never rise towards the top of the stack; no frame began with more than what is counted now.
 *
 * Not modelled
 *   Frames of abandoned stacks end late, at the next call or return above them.
 */
#include <stdlib.h>
#include <string.h>

#include "analyses/callgraph_priv.h"
#include "analyses/contexts_priv.h"

#define STUB_BLOCKS 4
#define STUB_INSNS 4
#define RESOLVER_BYTES 4096 /* more than the dynamic linker's resolver has */
#define FIRST_THREAD 1u
#define NO_SLOT UINT64_MAX /* the first function has no return address */

struct frame {
    uint64_t slot;
    uint64_t from, to; /* the calling instruction, the callee */
    uint64_t back;     /* where it should return to */
    uint8_t stub;      /* blocks that it may go on to be a stub */
    bool tail;         /* entered by a jump */
    bool resolving;    /* in the dynamic linker's resolver */
    bool sudden;       /* a tail call that may be a signal's handler */
};

struct arc {
    uint64_t from, to, calls;
    uint32_t from_context, to_context;
};

/* A thread's. */
struct stack {
    uint32_t tid;
    struct frame *frames;
    uint64_t *starts; /* [frame * events.count]: `now` when it began */
    size_t depth, room;
    uint64_t left[ANALYSES_EVENTS]; /* `now` when another thread went on */

    const struct stream_block *last; /* the record before; NULL: none */
    uint64_t last_slot;              /* of its call or return */
    bool last_whole;
    uint64_t source; /* the instruction that a jump at its end comes from */
};

struct callgraph {
    struct analysis base;
    const struct caches_machine *machine;
    struct loader_symbols *symbols;
    const struct sim_counts *counts; /* the simulator's; NULL: no record yet */
    struct sim_counts unmeasured;    /* of these, those of phases that are not measured and over */
    bool idle;                       /* in such a phase */
    struct analyses_events events;
    struct contexts *contexts; /* NULL: functions are not told apart; entry i + 1 is frame i's */
    struct entries *entries;
    struct c2_map *resolvers;
    uint64_t now[ANALYSES_EVENTS];          /* misses; the first three are filled in when control passes */
    uint64_t window_start[ANALYSES_EVENTS]; /* `now` at the end of the last window */

    struct stack **stacks; /* in the order in which their threads were met */
    uint32_t stack_count, stack_room;
    struct stack *on; /* of the thread that runs */
    uint32_t told;    /* the thread of marks, whose records may be still to come */

    struct c2_map *number_of;  /* address -> number, of instructions that call and of callees */
    struct c2_map *context_of; /* with contexts: that number and the context's -> the number for both */
    struct c2_map *arc_of;     /* numbers of from and to -> arc */
    struct arc *arcs;
    uint64_t *costs; /* [arc * events.count] */
    uint32_t arc_count, arc_room;

    struct analyses_arc *sorted;
    struct analyses_callgraph_result result;
};

/* ------------------------------------------------------------------ life */

static void destroy(struct analysis *analysis)
{
    struct callgraph *graph = (struct callgraph *)analysis;
    entries_destroy(graph->entries);
    contexts_destroy(graph->contexts);
    c2_map_destroy(graph->resolvers);
    c2_map_destroy(graph->number_of);
    c2_map_destroy(graph->context_of);
    c2_map_destroy(graph->arc_of);
    for (uint32_t i = 0; i < graph->stack_count; i++) {
        c2_free(graph->stacks[i]->frames);
        c2_free(graph->stacks[i]->starts);
        c2_free(graph->stacks[i]);
    }
    c2_free(graph->stacks);
    c2_free(graph->arcs);
    c2_free(graph->costs);
    c2_free(graph->sorted);
    c2_free(graph);
}

static enum c2_status add_stack(struct callgraph *graph, uint32_t tid, struct c2_error *err)
{
    struct stack *stack = c2_calloc(1, sizeof *stack);
    if (!stack || !c2_grow((void **)&graph->stacks, &graph->stack_room, graph->stack_count, sizeof *graph->stacks)) {
        c2_free(stack);
        return c2_fail_memory(err, "the call graph");
    }
    stack->tid = tid;
    graph->stacks[graph->stack_count++] = stack;
    return C2_OK;
}

static enum c2_status create(struct analysis **out, const struct analyses_setup *setup, const struct analyses *analyses,
                             struct c2_error *err)
{
    struct callgraph *graph = c2_calloc(1, sizeof *graph);
    (void)analyses;
    if (!graph)
        return c2_fail_memory(err, "the call graph");
    graph->base.kind = &analysis_callgraph;
    graph->machine = setup->machine;
    graph->symbols = setup->symbols;
    analyses_events_init(&graph->events, setup->machine);
    enum c2_status status = add_stack(graph, FIRST_THREAD, err);
    if (status == C2_OK)
        status = entries_create(&graph->entries, err);
    struct c2_map **maps[] = {&graph->resolvers, &graph->number_of, &graph->context_of, &graph->arc_of};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0] && status == C2_OK; i++)
        status = c2_map_create(maps[i], err);
    const struct contexts_config contexts = {setup->separation, setup->symbols, graph->events.count};
    if (status == C2_OK && setup->separation)
        status = contexts_create(&graph->contexts, &contexts, err);
    if (status == C2_OK) {
        graph->on = graph->stacks[0];
        graph->told = FIRST_THREAD;
        *out = &graph->base;
    } else {
        destroy(&graph->base);
    }
    return status;
}

/* ------------------------------------------------------------------ entries of functions */

enum c2_status analyses_callgraph_entry(struct analysis *callgraph, struct guest_va entry, bool resolver,
                                        struct c2_error *err)
{
    struct callgraph *graph = (struct callgraph *)callgraph;
    enum c2_status status = entries_add(graph->entries, entry.v, err);
    return status == C2_OK && resolver ? c2_map_put(graph->resolvers, entry.v, 1, err) : status;
}

static enum c2_status name_found(void *self, const char *name, struct guest_va entry, bool ifunc, struct c2_error *err)
{
    static const char resolver[] = "_dl_runtime_resolve";
    (void)ifunc;
    return analyses_callgraph_entry(self, entry, strncmp(name, resolver, sizeof resolver - 1) == 0, err);
}

static enum c2_status memory(void *self, bool appeared, const struct mmu_area *area, struct c2_error *err)
{
    struct callgraph *graph = self;
    const struct loader_entry_listener listener = {graph, name_found};
    if (!appeared)
        entries_remove(graph->entries, area->start.v, area->start.v + area->bytes);
    if (!appeared || !area->path || (area->prot & MMU_EXEC) == 0)
        return C2_OK;
    return loader_function_entries(graph->symbols, area->start, &listener, err);
}

static bool is_resolver(const struct callgraph *graph, uint64_t va)
{
    uint64_t any;
    return c2_map_get(graph->resolvers, va, &any);
}

/* ------------------------------------------------------------------ arcs */

static enum c2_status number_in(struct c2_map *map, uint64_t key, uint64_t *out, struct c2_error *err)
{
    if (c2_map_get(map, key, out))
        return C2_OK;
    *out = c2_map_count(map);
    return c2_map_put(map, key, *out, err);
}

static enum c2_status number_of(struct callgraph *graph, uint64_t va, uint32_t context, uint64_t *out,
                                struct c2_error *err)
{
    enum c2_status status = number_in(graph->number_of, va, out, err);
    if (status != C2_OK || !graph->contexts)
        return status;
    return number_in(graph->context_of, *out << 32 | context, out, err);
}

static enum c2_status grow_arcs(struct callgraph *graph, struct c2_error *err)
{
    if (graph->arc_count < graph->arc_room)
        return C2_OK;
    const uint32_t room = graph->arc_room * 2 + C2_HOST_SIZE(1024u, 1u);
    struct arc *arcs = c2_realloc(graph->arcs, room * sizeof *arcs);
    if (arcs)
        graph->arcs = arcs;
    uint64_t *costs = c2_realloc(graph->costs, (size_t)room * graph->events.count * sizeof *costs);
    if (costs)
        graph->costs = costs;
    if (!arcs || !costs)
        return c2_fail_memory(err, "the call graph");
    graph->arc_room = room;
    return C2_OK;
}

/* arc: what makes it this one. */
static enum c2_status find_arc(struct callgraph *graph, const struct arc *arc, uint32_t *out, struct c2_error *err)
{
    uint64_t numbers[2], found;
    enum c2_status status = number_of(graph, arc->from, arc->from_context, &numbers[0], err);
    if (status == C2_OK)
        status = number_of(graph, arc->to, arc->to_context, &numbers[1], err);
    if (status != C2_OK)
        return status;
    const uint64_t key = numbers[0] << 32 | numbers[1];
    *out = graph->arc_count;
    if (c2_map_get(graph->arc_of, key, &found)) {
        *out = (uint32_t)found;
        return C2_OK;
    }
    status = grow_arcs(graph, err);
    if (status == C2_OK)
        status = c2_map_put(graph->arc_of, key, *out, err);
    if (status != C2_OK)
        return status;
    graph->arcs[*out] = *arc;
    graph->arcs[*out].calls = 0;
    memset(&graph->costs[(size_t)*out * graph->events.count], 0, graph->events.count * sizeof *graph->costs);
    graph->arc_count++;
    return C2_OK;
}

/* ------------------------------------------------------------------ frames */

static struct frame *top_of(const struct callgraph *graph)
{
    return graph->on->depth == 0 ? NULL : &graph->on->frames[graph->on->depth - 1];
}

static enum c2_status push(struct callgraph *graph, const struct frame *frame, struct c2_error *err)
{
    const uint32_t width = graph->events.count;
    if (graph->on->depth == graph->on->room) {
        const size_t room = graph->on->room * 2 + C2_HOST_SIZE(256u, 1u);
        struct frame *frames = c2_realloc(graph->on->frames, room * sizeof *frames);
        if (frames)
            graph->on->frames = frames;
        uint64_t *starts = c2_realloc(graph->on->starts, room * width * sizeof *starts);
        if (starts)
            graph->on->starts = starts;
        if (!frames || !starts)
            return c2_fail_memory(err, "the call stack of the call graph");
        graph->on->room = room;
    }
    enum c2_status status = graph->contexts ? contexts_push(graph->contexts, frame->to, graph->now, err) : C2_OK;
    if (status != C2_OK)
        return status;
    graph->on->frames[graph->on->depth] = *frame;
    memcpy(&graph->on->starts[graph->on->depth * width], graph->now, width * sizeof *graph->on->starts);
    graph->on->depth++;
    return C2_OK;
}

/* From the frame further out to this one, as it was called. */
static struct arc arc_of(const struct callgraph *graph, size_t frame)
{
    struct arc arc = {.from = graph->on->frames[frame].from, .to = graph->on->frames[frame].to};
    if (graph->contexts) {
        arc.from_context = contexts_at(graph->contexts, frame);
        arc.to_context = contexts_at(graph->contexts, frame + 1);
    }
    return arc;
}

/* The frame on top goes on to what it really calls. */
static enum c2_status become(struct callgraph *graph, uint64_t to, struct c2_error *err)
{
    top_of(graph)->to = to;
    return graph->contexts ? contexts_become(graph->contexts, to, graph->now, err) : C2_OK;
}

/* The frame on top is over. */
static enum c2_status pop(struct callgraph *graph, struct c2_error *err)
{
    const uint32_t width = graph->events.count;
    const struct arc called = arc_of(graph, graph->on->depth - 1);
    const uint64_t *start = &graph->on->starts[--graph->on->depth * width];
    uint32_t arc;
    if (graph->contexts)
        contexts_pop(graph->contexts, graph->now);
    if (graph->idle && start[ANALYSES_IR] == graph->now[ANALYSES_IR])
        return C2_OK;
    enum c2_status status = find_arc(graph, &called, &arc, err);
    if (status != C2_OK)
        return status;
    uint64_t *cost = &graph->costs[(size_t)arc * width];
    graph->arcs[arc].calls++;
    for (uint32_t i = 0; i < width; i++)
        cost[i] += graph->now[i] - start[i];
    return C2_OK;
}

/* Frames of slots below `slot` are over. */
static enum c2_status pop_below(struct callgraph *graph, uint64_t slot, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    while (status == C2_OK && graph->on->depth != 0 && top_of(graph)->slot < slot)
        status = pop(graph, err);
    return status;
}

/* ------------------------------------------------------------------ how control passes */

static uint64_t last_insn(const struct stream_block *block)
{
    return block->pc.v + block->insns[block->insn_count - 1].offset;
}

static enum c2_status call(struct callgraph *graph, uint64_t to, struct c2_error *err)
{
    const struct stream_block *last = graph->on->last;
    const struct frame frame = {.slot = graph->on->last_slot,
                                .from = last_insn(last),
                                .to = to,
                                .back = last->pc.v + last->bytes,
                                .stub = entries_has(graph->entries, to) ? 0 : STUB_BLOCKS};
    enum c2_status status = pop_below(graph, graph->on->last_slot + 1, err);
    return status == C2_OK ? push(graph, &frame, err) : status;
}

/* Among the frames that the slot of the top one has: the one of this function; SIZE_MAX: none. */
static size_t find_in_slot(const struct callgraph *graph, uint64_t to)
{
    for (size_t i = graph->on->depth; i-- > 0 && graph->on->frames[i].slot == top_of(graph)->slot;)
        if (graph->on->frames[i].to == to)
            return i;
    return SIZE_MAX;
}

/* Back to a function that has jumped on to others. */
static enum c2_status loop(struct callgraph *graph, size_t frame, uint64_t to, struct c2_error *err)
{
    uint32_t arc;
    struct arc again = {.from = graph->on->source, .to = to};
    if (frame + 1 == graph->on->depth)
        return C2_OK;
    if (graph->contexts) {
        again.from_context = contexts_at(graph->contexts, graph->on->depth);
        again.to_context = contexts_at(graph->contexts, frame + 1);
    }
    enum c2_status status = C2_OK;
    while (status == C2_OK && graph->on->depth > frame + 1)
        status = pop(graph, err);
    if (graph->idle)
        return status;
    if (status == C2_OK)
        status = find_arc(graph, &again, &arc, err);
    if (status == C2_OK)
        graph->arcs[arc].calls++;
    return status;
}

/* A system call has two bytes and refers to nothing; few jumps to functions look like that. */
static bool is_sudden(const struct callgraph *graph)
{
    const struct stream_block *last = graph->on->last;
    const struct stream_insn *insn = &last->insns[last->insn_count - 1];
    return !graph->on->last_whole || (insn->length == 2 && insn->first_slot == last->slot_count);
}

static enum c2_status tail_call(struct callgraph *graph, uint64_t to, struct c2_error *err)
{
    struct frame *top = top_of(graph);
    if (top && (top->stub != 0 || top->resolving)) {
        top->resolving = is_resolver(graph, to);
        top->stub = 0;
        return become(graph, to, err);
    }
    const size_t same = find_in_slot(graph, to);
    if (same != SIZE_MAX)
        return loop(graph, same, to, err);
    const struct frame frame = {.slot = top ? top->slot : NO_SLOT,
                                .from = graph->on->source,
                                .to = to,
                                .back = top ? top->back : 0,
                                .tail = true,
                                .resolving = is_resolver(graph, to),
                                .sudden = is_sudden(graph)};
    return push(graph, &frame, err);
}

/* Within a stub every jump goes on to what it calls; so does the one that leaves the resolver. */
static enum c2_status jump(struct callgraph *graph, uint64_t to, struct c2_error *err)
{
    struct frame *top = top_of(graph);
    if (entries_has(graph->entries, to))
        return tail_call(graph, to, err);
    const bool leaves = top && top->resolving && to - top->to + RESOLVER_BYTES >= 2 * RESOLVER_BYTES;
    if (leaves)
        top->resolving = false;
    return top && (top->stub != 0 || leaves) ? become(graph, to, err) : C2_OK;
}

/* The handler that the frame on top belongs to, for a return through a slot that no frame has; SIZE_MAX: none. */
static size_t find_handler(const struct callgraph *graph)
{
    for (size_t i = graph->on->depth;
         i-- > 0 && graph->on->frames[i].slot == top_of(graph)->slot && graph->on->frames[i].tail;)
        if (graph->on->frames[i].sudden)
            return i;
    return SIZE_MAX;
}

static enum c2_status return_unknown(struct callgraph *graph, uint64_t to, struct c2_error *err)
{
    const size_t handler = find_handler(graph);
    enum c2_status status = C2_OK;
    if (handler == SIZE_MAX)
        return jump(graph, to, err);
    while (status == C2_OK && graph->on->depth > handler)
        status = pop(graph, err);
    return status;
}

static enum c2_status go_back(struct callgraph *graph, uint64_t to, struct c2_error *err)
{
    const uint64_t slot = graph->on->last_slot;
    enum c2_status status = pop_below(graph, slot, err);
    if (status != C2_OK)
        return status;
    const struct frame *top = top_of(graph);
    if (!top || top->slot != slot)
        return return_unknown(graph, to, err);
    const bool behind = top->back == to;
    status = pop_below(graph, slot + 1, err);
    return status != C2_OK || behind ? status : jump(graph, to, err);
}

/* Control passes from the last record to a block at `to`. */
static enum c2_status pass(struct callgraph *graph, uint64_t to, struct c2_error *err)
{
    const struct stream_block *last = graph->on->last;
    if (!graph->on->last_whole)
        return to == last->pc.v ? C2_OK : jump(graph, to, err);
    switch (last->ending) {
    case STREAM_CALL:
        return call(graph, to, err);
    case STREAM_RETURN:
        return go_back(graph, to, err);
    default:
        return jump(graph, to, err);
    }
}

/* With contexts: frames end that were left for the function of this block. */
static enum c2_status leave(struct callgraph *graph, const struct sim_executed *record, struct c2_error *err)
{
    const struct frame *top = top_of(graph);
    size_t entries;
    if (!top || top->stub != 0 || top->resolving)
        return C2_OK;
    enum c2_status status = contexts_left(graph->contexts, record, &entries, err);
    while (status == C2_OK && graph->on->depth + 1 > entries)
        status = pop(graph, err);
    return status;
}

/* With contexts: of what is executed. */
static enum c2_status in_context(struct callgraph *graph, const struct sim_executed *record, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    if (!contexts_begun(graph->contexts))
        status = contexts_push(graph->contexts, record->block->pc.v, graph->now, err);
    contexts_entered(graph->contexts);
    if (status == C2_OK)
        status = leave(graph, record, err);
    return status == C2_OK ? contexts_record(graph->contexts, record, !graph->idle, err) : status;
}

static void read_counts(struct callgraph *graph)
{
    if (!graph->counts || graph->idle)
        return;
    graph->now[ANALYSES_IR] = graph->counts->instructions - graph->unmeasured.instructions;
    graph->now[ANALYSES_DR] = graph->counts->reads - graph->unmeasured.reads;
    graph->now[ANALYSES_DW] = graph->counts->writes - graph->unmeasured.writes;
}

/* What is executed now may show that the frame on top is no stub. */
static void look_at_stub(struct callgraph *graph, const struct stream_block *block)
{
    struct frame *top = top_of(graph);
    if (!top || top->stub == 0)
        return;
    const bool small = block->insn_count <= STUB_INSNS && block->ending == STREAM_JUMP;
    top->stub = small ? top->stub - 1 : 0;
}

/* `jmp *ADDRESS` at most two instructions (ENDBR64, PUSH or NOP) behind a multiple of 8. */
static bool is_plt(const struct stream_block *block)
{
    const struct stream_slot *slot = block->slots;
    return block->pc.v % 8 == 0 && block->insn_count <= 3 && block->slot_count == 1 && block->ending == STREAM_JUMP &&
           slot->insn + 1 == block->insn_count && slot->kind == STREAM_READ && slot->size == 8;
}

static void remember(struct callgraph *graph, const struct sim_executed *record)
{
    const struct stream_block *block = record->block;
    const struct stream_insn *insn = &block->insns[block->insn_count - 1];
    const bool by_jump = graph->on->last && graph->on->last_whole && graph->on->last->ending == STREAM_JUMP;
    if (!by_jump || !is_plt(block))
        graph->on->source = last_insn(block);
    graph->on->last = block;
    graph->on->last_whole = record->insns_run == block->insn_count;
    if (!graph->on->last_whole)
        graph->on->source = block->pc.v + block->insns[record->insns_run].offset;
    else if (block->ending == STREAM_CALL)
        graph->on->last_slot = record->words[block->slot_count - 1];
    else if (block->ending == STREAM_RETURN)
        graph->on->last_slot = record->words[insn->first_slot];
}

/* Slots never rise towards the top: of the two frames there, which are all that changes. */
static bool top_holds(const struct callgraph *graph)
{
    const struct frame *top = top_of(graph);
    return graph->on->depth < 2 || top->slot < top[-1].slot || (top->tail && top->slot == top[-1].slot);
}

/* ------------------------------------------------------------------ threads */

/* What was counted while other threads ran costs none of its calls. */
static void go_on(struct callgraph *graph, struct stack *stack)
{
    const uint32_t width = graph->events.count;
    for (size_t i = 0; i < stack->depth; i++)
        for (uint32_t event = 0; event < width; event++)
            stack->starts[i * width + event] += graph->now[event] - stack->left[event];
    graph->on = stack;
}

static void leave_thread(struct callgraph *graph)
{
    read_counts(graph);
    memcpy(graph->on->left, graph->now, sizeof graph->now);
}

static enum c2_status switch_thread(struct callgraph *graph, uint32_t tid, struct c2_error *err)
{
    uint32_t i = 0;
    leave_thread(graph);
    while (i < graph->stack_count && graph->stacks[i]->tid != tid)
        i++;
    enum c2_status status = i == graph->stack_count ? add_stack(graph, tid, err) : C2_OK;
    if (status == C2_OK && graph->contexts)
        status = contexts_thread(graph->contexts, tid, graph->now, err);
    if (status == C2_OK)
        go_on(graph, graph->stacks[i]);
    return status;
}

static void thread(void *self, uint32_t tid) { ((struct callgraph *)self)->told = tid; }

static enum c2_status record(void *self, const struct sim_executed *record, struct c2_error *err)
{
    struct callgraph *graph = self;
    enum c2_status status = C2_OK;
    graph->counts = record->counts;
    if (C2_UNLIKELY(record->tid != graph->on->tid))
        status = switch_thread(graph, record->tid, err);
    if (status == C2_OK && graph->on->last) {
        read_counts(graph);
        status = pass(graph, record->block->pc.v, err);
    }
    C2_PROMISE(status != C2_OK || top_holds(graph));
    look_at_stub(graph, record->block);
    if (status == C2_OK && graph->contexts)
        status = in_context(graph, record, err);
    remember(graph, record);
    return status;
}

/* ------------------------------------------------------------------ misses */

/* Of the instruction of this code number. */
static void count(struct callgraph *graph, uint32_t code, uint8_t event, uint64_t times)
{
    graph->now[event] += times;
    if (graph->contexts)
        contexts_cost(graph->contexts, code)[event] += times;
}

static void count_level(struct callgraph *graph, const struct sim_miss *miss, uint32_t depth)
{
    const enum sim_kind kind = miss->kind == SIM_WALK ? SIM_READ : miss->kind;
    const uint32_t level = analyses_level_of(graph->machine, kind, depth);
    const uint8_t by_kind = graph->events.by_kind[level][kind];
    if (by_kind != ANALYSES_NO_EVENT)
        count(graph, miss->code, by_kind, 1);
    count(graph, miss->code, graph->events.by_class[level][miss->outcome->event[depth].class_ - CACHES_COLD], 1);
}

static enum c2_status missed(void *self, const struct sim_miss *miss, struct c2_error *err)
{
    struct callgraph *graph = self;
    (void)err;
    for (uint32_t i = miss->first; i < miss->outcome->served_by; i++)
        count_level(graph, miss, i);
    return C2_OK;
}

static enum c2_status tlb_missed(void *self, const struct sim_tlb_miss *miss, struct c2_error *err)
{
    struct callgraph *graph = self;
    const uint8_t event = graph->events.by_tlb[miss->kind == SIM_FETCH ? CACHES_FETCH : CACHES_DATA];
    (void)err;
    count(graph, miss->code, event, 1);
    count(graph, miss->code, graph->events.walks, miss->walked);
    return C2_OK;
}

/* ------------------------------------------------------------------ the end */

static int by_addresses(const void *a, const void *b)
{
    const struct analyses_arc *x = a, *y = b;
    const uint64_t keys[2][4] = {{x->from_context, x->from.v, x->to.v, x->to_context},
                                 {y->from_context, y->from.v, y->to.v, y->to_context}};
    int i = 0;
    while (i < 3 && keys[0][i] == keys[1][i])
        i++;
    return (keys[0][i] > keys[1][i]) - (keys[0][i] < keys[1][i]);
}

static enum c2_status finish(void *self, struct sim *sim, struct c2_error *err)
{
    struct callgraph *graph = self;
    (void)sim;
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < graph->stack_count && status == C2_OK; i++) {
        status = switch_thread(graph, graph->stacks[i]->tid, err);
        while (status == C2_OK && graph->on->depth != 0)
            status = pop(graph, err);
        if (status == C2_OK && graph->contexts && contexts_begun(graph->contexts))
            contexts_pop(graph->contexts, graph->now);
    }
    if (status != C2_OK)
        return status;
    c2_free(graph->sorted);
    graph->sorted = c2_calloc(graph->arc_count + 1u, sizeof *graph->sorted);
    if (!graph->sorted)
        return c2_fail_memory(err, "the call graph");
    for (uint32_t i = 0; i < graph->arc_count; i++)
        graph->sorted[i] = (struct analyses_arc){
            {graph->arcs[i].from},       {graph->arcs[i].to},
            graph->arcs[i].calls,        &graph->costs[(size_t)i * graph->events.count],
            graph->arcs[i].from_context, graph->arcs[i].to_context};
    qsort(graph->sorted, graph->arc_count, sizeof *graph->sorted, by_addresses);
    graph->result = (struct analyses_callgraph_result){graph->sorted, graph->arc_count, NULL};
    if (!graph->contexts)
        return C2_OK;
    graph->result.contexts = contexts_result(graph->contexts);
    return contexts_finish(graph->contexts, &graph->result, graph->now, err);
}

/* ------------------------------------------------------------------ windows */

static uint64_t counted(const struct callgraph *graph, uint32_t event)
{
    return graph->now[event] - graph->window_start[event];
}

static void check_level(const struct callgraph *graph, uint32_t level, const struct caches_counts *n)
{
    const uint64_t classes[] = {n->cold, n->capacity, n->conflict, n->coherence};
    const uint8_t *events = graph->events.by_class[level];
    for (unsigned i = 0; i < ANALYSES_CLASSES + 1 && events[i] != ANALYSES_NO_EVENT; i++)
        C2_ASSERT(counted(graph, events[i]) == classes[i]);
}

/* What was counted in the window is what the simulator has counted. */
static void check_window(const struct callgraph *graph, const struct sim_totals *of)
{
    const struct analyses_events *events = &graph->events;
    C2_ASSERT(counted(graph, ANALYSES_IR) == of->counts.instructions);
    C2_ASSERT(counted(graph, ANALYSES_DR) == of->counts.reads && counted(graph, ANALYSES_DW) == of->counts.writes);
    for (uint32_t i = 0; i < graph->machine->level_count; i++)
        check_level(graph, i, &of->levels[i]);
    if (graph->machine->has_l1i)
        check_level(graph, graph->machine->level_count, &of->l1i);
    if (events->walks != ANALYSES_NO_EVENT)
        C2_ASSERT(counted(graph, events->walks) == of->walks.count);
}

static enum c2_status window(void *self, const struct sim_window *window, struct c2_error *err)
{
    static const struct sim_totals nothing;
    struct callgraph *graph = self;
    const struct sim_counts *counts = &window->of.counts;
    (void)err;
    read_counts(graph);
    check_window(graph, graph->idle ? &nothing : &window->of);
    if (graph->idle) {
        graph->unmeasured.instructions += counts->instructions;
        graph->unmeasured.reads += counts->reads;
        graph->unmeasured.writes += counts->writes;
    }
    memcpy(graph->window_start, graph->now, sizeof graph->now);
    graph->idle = window->next != STREAM_MEASURE;
    return C2_OK;
}

/* Nothing has been measured so far: calls that go on cost from here on. */
static enum c2_status dropped(void *self, struct c2_error *err)
{
    struct callgraph *graph = self;
    const uint32_t width = graph->events.count;
    for (uint32_t n = 0; n < graph->stack_count; n++) {
        struct stack *stack = graph->stacks[n];
        for (size_t i = 0; i < stack->depth; i++)
            memcpy(&stack->starts[i * width], graph->now, width * sizeof *stack->starts);
        memcpy(stack->left, graph->now, sizeof graph->now);
    }
    if (graph->contexts)
        contexts_dropped(graph->contexts, graph->now);
    graph->arc_count = 0;
    c2_map_destroy(graph->arc_of);
    graph->arc_of = NULL;
    return c2_map_create(&graph->arc_of, err);
}

static enum c2_status mark(void *self, enum stream_mark mark, const uint64_t *words, struct c2_error *err)
{
    struct callgraph *graph = self;
    return mark == STREAM_ARGUMENTS ? contexts_arguments(graph->contexts, graph->told, words, err) : C2_OK;
}

static bool separates(const struct analyses_setup *setup) { return setup->separation; }

static struct sim_subscriber subscriber(struct analysis *analysis)
{
    const struct callgraph *graph = (const struct callgraph *)analysis;
    return (struct sim_subscriber){.self = analysis,
                                   .memory = memory,
                                   .mark = graph->contexts ? mark : NULL,
                                   .thread = graph->contexts ? thread : NULL,
                                   .dropped = dropped,
                                   .record = record,
                                   .tlb_missed = tlb_missed,
                                   .missed = missed,
                                   .window = window,
                                   .finish = finish};
}

static const void *result(const struct analysis *analysis)
{
    const struct callgraph *graph = (const struct callgraph *)analysis;
    return graph->sorted ? &graph->result : NULL;
}

const struct analysis_kind analysis_callgraph = {
    .wanted = separates, .create = create, .subscriber = subscriber, .result = result, .destroy = destroy};

struct contexts *analyses_callgraph_contexts(struct analysis *callgraph)
{
    return ((struct callgraph *)callgraph)->contexts;
}

static void check_stack(const struct callgraph *graph, const struct stack *stack)
{
    const uint32_t width = graph->events.count;
    C2_ASSERT(stack->depth <= stack->room);
    for (size_t i = 0; i < stack->depth; i++) {
        C2_ASSERT(i == 0 || stack->frames[i].slot <= stack->frames[i - 1].slot);
        C2_ASSERT(i == 0 || stack->frames[i].tail || stack->frames[i].slot < stack->frames[i - 1].slot);
        for (uint32_t event = 0; event < width; event++)
            C2_ASSERT(stack->starts[i * width + event] <= graph->now[event]);
    }
}

void analyses_callgraph_check(const struct analysis *callgraph)
{
    const struct callgraph *graph = (const struct callgraph *)callgraph;
    if (graph->contexts)
        contexts_check(graph->contexts);
    C2_ASSERT(graph->arc_count == c2_map_count(graph->arc_of));
    for (uint32_t i = 0; i < graph->stack_count; i++)
        check_stack(graph, graph->stacks[i]);
}
