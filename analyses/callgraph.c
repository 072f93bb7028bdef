/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * callgraph: which function called which, how often, and what that cost until the call was over.
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
 *   What records cost is added up where control passes. Misses are notified later, many at a time (`counted`), so they
 *   have no part in that: to each depth of a stack belongs a sum of the misses there. Where the next one comes in
 *   another frame than the last, those before are notified first (sim_notify_pending); and before a frame is over that
 *   has any, whose sum is then added to its call and to the sum of the frame further out.
 *   Where stacks are wanted, each frame has a node: one for all frames of a function below the same node, up to a depth
 *   of ANALYSES_STACK_DEPTH; further in that of the frame further out. A thread's own
 *   first one is that of the code that it begins with. What is counted goes to the node of the frame on top, and to it
 *   alone: plain counts when control passes on, misses by the node that was current when they came. A frame
 *   that becomes another function's has that one's node from there on.
 *   A block that ends in a jump, and is no function's entry, has no effect where no call, return or stub comes before
 *   it: such records are counted and no more (`records`).
 *
 * Invariants (analyses_callgraph_check; the first, of each window, when it is notified)
 *   What is counted is what the simulator has counted in what is measured.
 *   Slots never rise towards the top of the stack; no frame began with more than what is counted now.
 *   What nodes have cost is all that was measured, of each event.
 *   Where misses are, there is a frame, which is marked as having some.
 *
 * Threads
 *   With contexts everything is heard in order; without, misses before their place becomes another. So classes have no
 *   thread of their own.
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
#define NO_WHOLE UINT32_MAX
/* What is counted at once. */
enum { PLAIN_IR, PLAIN_DR, PLAIN_DW, PLAIN_DTLB, PLAIN_ITLB, PLAIN_WALKS, PLAIN_WALK_READS, PLAIN_UPGRADES, PLAIN };
#define NOWHERE UINT64_MAX /* misses have not been anywhere yet */
/* In place of the call that a frame was: misses are there now; it was none that counts. */
#define HERE UINT32_MAX
#define NO_ARC (UINT32_MAX - 1)
#define NO_NODE UINT32_MAX
#define RECENT_ARCS C2_HOST_SIZE(1024u, 2u)

struct frame {
    uint64_t slot;
    uint64_t from, to; /* the calling instruction, the callee */
    uint64_t back;     /* where it should return to */
    uint32_t node;
    uint8_t stub;   /* blocks that it may go on to be a stub */
    bool tail;      /* entered by a jump */
    bool resolving; /* in the dynamic linker's resolver */
    bool sudden;    /* a tail call that may be a signal's handler */
    bool missed;    /* there are misses in it */
};

struct node {
    uint64_t at; /* the function's entry; of a thread's first one its first instruction */
    uint32_t parent, depth;
};

struct arc {
    uint64_t from, to, calls;
    uint32_t from_context, to_context;
};

/* A thread's. */
struct stack {
    uint32_t tid;
    uint32_t number; /* among the stacks */
    uint32_t root;   /* its first node; NO_NODE: none yet, or none is wanted */
    struct frame *frames;
    uint64_t *starts; /* [frame * PLAIN]: `now` when it began */
    size_t depth, room;
    uint64_t left[PLAIN]; /* `now` when another thread went on */

    const struct stream_block *last; /* the record before; NULL: none */
    uint64_t last_slot;              /* of its call or return */
    bool last_whole;
    bool attentive;  /* the next record concerns us, whatever it is */
    uint64_t source; /* the instruction that a jump at its end comes from */
};

/* What is known of a block of the stream. */
struct known {
    const struct stream_block *of; /* NULL: nothing */
    uint64_t last;                 /* its last instruction */
    uint64_t costs;                /* of a run of all of it, as PACKED */
    uint32_t whole;                /* low half of the header of such a run */
    uint32_t passing;              /* the same where it is counted and no more; NO_WHOLE: it is not */
    uint16_t slot;                 /* of its call or return */
    bool is_entry, is_plt, is_string;
};

/* Ir Dr Dw of a batch side by side: a slot is a word of it. */
enum { PACKED_DR = 24, PACKED_DW = 44 };
_Static_assert(STREAM_BATCH_WORDS *STREAM_BLOCK_INSNS < 1u << PACKED_DR &&
                   STREAM_BATCH_WORDS + STREAM_SLACK_WORDS < 1u << (PACKED_DW - PACKED_DR),
               "there is room");

/* Misses, by where they are: depth 0 is what was not called, frame i has depth i + 1. */
struct heard {
    const struct analyses_events *events;
    struct heard_stack {
        uint64_t *costs; /* [depth * events.count] */
        uint32_t room;
    } * stacks; /* by number */
    uint32_t stack_room;
    uint64_t *here;                /* where misses are; NULL: none has been */
    uint64_t *arcs;                /* [arc * events.count] */
    uint32_t arc_room;             /* those behind have cost nothing */
    uint64_t *self;                /* of the node that misses are in; NULL: there are none */
    uint64_t *nodes;               /* [node * events.count] */
    uint32_t node_room;            /* those behind have cost nothing */
    uint64_t now[ANALYSES_EVENTS]; /* all of them */
};

struct callgraph {
    struct analysis base;
    const struct caches_machine *machine;
    struct loader_symbols *symbols;
    bool idle; /* in a phase that is not measured */
    struct analyses_events events;
    uint8_t plain[PLAIN];      /* their numbers among the events; ANALYSES_NO_EVENT: there is no such one */
    struct contexts *contexts; /* NULL: functions are not told apart; entry i + 1 is frame i's */
    struct entries *entries;
    struct c2_map *resolvers;
    uint64_t now[PLAIN];                    /* counted so far */
    uint64_t all[ANALYSES_EVENTS];          /* with contexts: the same, misses too: all_now() */
    uint64_t window_start[ANALYSES_EVENTS]; /* what was counted up to the end of the last window */
    struct heard heard;
    struct sim *sim; /* that is telling us of records, and misses may be pending; NULL: none are */
    uint64_t here;   /* where misses are; NOWHERE: there were none */
    uint32_t here_node;
    struct known *known; /* by number in the stream */
    uint32_t known_room;
    bool stale;  /* functions have come or gone: what is_entry says is old */
    bool enters; /* control passes to an entry */

    struct stack **stacks; /* in the order in which their threads were met */
    uint32_t stack_count, stack_room;
    struct stack *on;  /* of the thread that runs */
    uint32_t notified; /* the thread of marks, whose records may be still to come */

    struct c2_map *number_of;     /* address -> number, of instructions that call and of callees */
    struct c2_map *context_of;    /* with contexts: that number and the context's -> the number for both */
    struct c2_map *arc_of;        /* numbers of from and to -> arc */
    uint32_t recent[RECENT_ARCS]; /* 1 + arcs found without maps, by a hash; 0: none */
    struct arc *arcs;
    uint64_t *costs; /* [arc * PLAIN] */
    uint64_t *sums;  /* [arc * events.count], of the result */
    uint32_t arc_count, arc_room;

    bool has_nodes;          /* stacks are wanted */
    uint32_t current;        /* the node of the frame on top; NO_NODE: there is none */
    uint64_t charged[PLAIN]; /* `now`, when the current node became it */
    struct node *nodes;
    uint64_t *node_costs; /* [node * PLAIN] */
    uint32_t node_count, node_room;
    struct c2_map *node_of; /* parent and number of the function's address -> node */

    struct analyses_arc *sorted;
    struct analyses_stack *tree;
    uint64_t *tree_costs;
    struct analyses_callgraph_result result;
};

/* ------------------------------------------------------------------ life */

static void release_heard(struct heard *heard)
{
    for (uint32_t i = 0; i < heard->stack_room; i++)
        c2_free(heard->stacks[i].costs);
    c2_free(heard->stacks);
    c2_free(heard->arcs);
    c2_free(heard->nodes);
}

static void callgraph_destroy(struct analysis *analysis)
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
    c2_free(graph->sums);
    c2_free(graph->known);
    release_heard(&graph->heard);
    c2_free(graph->sorted);
    c2_map_destroy(graph->node_of);
    c2_free(graph->nodes);
    c2_free(graph->node_costs);
    c2_free(graph->tree);
    c2_free(graph->tree_costs);
    c2_free(graph);
}

static enum c2_status callgraph_add_stack(struct callgraph *graph, uint32_t tid, struct c2_error *err)
{
    struct stack *stack = c2_calloc(1, sizeof *stack);
    if (!stack || !c2_grow((void **)&graph->stacks, &graph->stack_room, graph->stack_count, sizeof *graph->stacks)) {
        c2_free(stack);
        return c2_fail_memory(err, "the call graph");
    }
    stack->tid = tid;
    stack->root = NO_NODE;
    stack->attentive = graph->has_nodes; /* where it begins */
    stack->number = graph->stack_count;
    graph->stacks[graph->stack_count++] = stack;
    return C2_OK;
}

static void init_events(struct callgraph *graph)
{
    struct analyses_events *events = &graph->events;
    analyses_events_init(events, graph->machine);
    const uint8_t plain[PLAIN] = {[PLAIN_IR] = ANALYSES_IR,
                                  [PLAIN_DR] = ANALYSES_DR,
                                  [PLAIN_DW] = ANALYSES_DW,
                                  [PLAIN_DTLB] = events->by_tlb[CACHES_DATA],
                                  [PLAIN_ITLB] = events->by_tlb[CACHES_FETCH],
                                  [PLAIN_WALKS] = events->walks,
                                  [PLAIN_WALK_READS] = events->walk_reads,
                                  [PLAIN_UPGRADES] = events->upgrades};
    memcpy(graph->plain, plain, sizeof plain);
    graph->heard.events = events;
}

static enum c2_status callgraph_create(struct analysis **out, const struct analyses_setup *setup,
                                       const struct analyses *analyses, struct c2_error *err)
{
    struct callgraph *graph = c2_calloc(1, sizeof *graph);
    (void)analyses;
    if (!graph)
        return c2_fail_memory(err, "the call graph");
    graph->base.kind = &analysis_callgraph;
    graph->machine = setup->machine;
    graph->symbols = setup->symbols;
    graph->here = NOWHERE;
    graph->here_node = graph->current = NO_NODE;
    graph->has_nodes = setup->stacks;
    init_events(graph);
    enum c2_status status = callgraph_add_stack(graph, FIRST_THREAD, err);
    if (status == C2_OK)
        status = entries_create(&graph->entries, err);
    struct c2_map **maps[] = {&graph->resolvers, &graph->number_of, &graph->context_of, &graph->arc_of,
                              &graph->node_of};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0] && status == C2_OK; i++)
        status = c2_map_create(maps[i], err);
    const struct contexts_config contexts = {setup->separation, setup->symbols, graph->events.count};
    if (status == C2_OK && setup->separation)
        status = contexts_create(&graph->contexts, &contexts, err);
    if (status == C2_OK) {
        graph->on = graph->stacks[0];
        graph->notified = FIRST_THREAD;
        *out = &graph->base;
    } else {
        callgraph_destroy(&graph->base);
    }
    return status;
}

/* ------------------------------------------------------------------ entries of functions */

enum c2_status analyses_callgraph_entry(struct analysis *callgraph, struct guest_va entry, bool resolver,
                                        struct c2_error *err)
{
    struct callgraph *graph = (struct callgraph *)callgraph;
    graph->stale = true;
    enum c2_status status = entries_add(graph->entries, entry.v, err);
    return status == C2_OK && resolver ? c2_map_put(graph->resolvers, entry.v, 1, err) : status;
}

static enum c2_status callgraph_name_found(void *self, const char *name, struct guest_va entry, bool ifunc,
                                           struct c2_error *err)
{
    static const char resolver[] = "_dl_runtime_resolve";
    (void)ifunc;
    return analyses_callgraph_entry(self, entry, strncmp(name, resolver, sizeof resolver - 1) == 0, err);
}

static enum c2_status callgraph_memory(void *self, bool appeared, const struct mmu_area *area, struct c2_error *err)
{
    struct callgraph *graph = self;
    const struct loader_entry_listener listener = {graph, callgraph_name_found};
    if (!appeared)
        graph->stale |= entries_remove(graph->entries, area->start.v, area->start.v + area->bytes);
    if (!appeared || !area->path || (area->prot & MMU_EXEC) == 0)
        return C2_OK;
    return loader_function_entries(graph->symbols, area->start, &listener, err);
}

static bool is_resolver(const struct callgraph *graph, uint64_t va)
{
    uint64_t any;
    return c2_map_get(graph->resolvers, va, &any);
}

/* ------------------------------------------------------------------ blocks */

/* `jmp *ADDRESS` at most two instructions (ENDBR64, PUSH or NOP) behind a multiple of 8. */
static bool is_plt(const struct stream_block *block)
{
    const struct stream_slot *slot = block->slots;
    return block->pc.v % 8 == 0 && block->insn_count <= 3 && block->slot_count == 1 && block->ending == STREAM_JUMP &&
           slot->insn + 1 == block->insn_count && slot->kind == STREAM_READ && slot->size == 8;
}

/* What the first instructions of a block cost, one run of them; PACKED. */
static uint64_t costs_of(const struct stream_block *block, uint32_t insns)
{
    uint64_t costs = 0;
    for (uint32_t i = 0; i < insns; i++)
        costs += block->insns[i].length != 0;
    for (uint32_t i = 0; i < block->slot_count && block->slots[i].insn < insns; i++) {
        costs += (uint64_t)stream_reads(&block->slots[i]) << PACKED_DR;
        costs += (uint64_t)stream_writes(&block->slots[i]) << PACKED_DW;
    }
    return costs;
}

static void callgraph_look_up(struct callgraph *graph, struct known *known)
{
    const struct stream_block *block = known->of;
    known->is_entry = entries_has(graph->entries, block->pc.v);
    const bool passing = block->ending == STREAM_JUMP && !known->is_entry && !known->is_string && !known->is_plt;
    known->passing = passing ? known->whole : NO_WHOLE;
}

static uint64_t last_insn(const struct stream_block *block)
{
    return block->pc.v + block->insns[block->insn_count - 1].offset;
}

static uint16_t callgraph_slot_of(const struct stream_block *block)
{
    if (block->ending == STREAM_CALL)
        return (uint16_t)(block->slot_count - 1);
    return block->ending == STREAM_RETURN ? block->insns[block->insn_count - 1].first_slot : 0;
}

static void callgraph_learn(struct callgraph *graph, struct known *known, const struct stream_block *block)
{
    *known = (struct known){.of = block,
                            .last = last_insn(block),
                            .whole = (uint32_t)stream_header(0, block->insn_count, block->slot_count),
                            .slot = callgraph_slot_of(block),
                            .is_plt = is_plt(block),
                            .is_string = stream_is_string(block)};
    if (!known->is_string)
        known->costs = costs_of(block, block->insn_count);
    callgraph_look_up(graph, known);
}

/* Functions have come or gone. */
static void callgraph_look_again(struct callgraph *graph)
{
    for (uint32_t i = 0; i < graph->known_room; i++)
        if (graph->known[i].of)
            callgraph_look_up(graph, &graph->known[i]);
    graph->stale = false;
}

static enum c2_status reach_known(struct callgraph *graph, uint32_t number, struct c2_error *err)
{
    uint32_t i = graph->known_room;
    if (!c2_reach((void **)&graph->known, &graph->known_room, number, sizeof *graph->known, C2_HOST_SIZE(4096u, 1u)))
        return c2_fail_memory(err, "the call graph");
    for (; i < graph->known_room; i++)
        graph->known[i] = (struct known){.passing = NO_WHOLE};
    return C2_OK;
}

static enum c2_status callgraph_know(struct callgraph *graph, uint32_t number, const struct stream_block *block,
                                     struct c2_error *err)
{
    enum c2_status status = number < graph->known_room ? C2_OK : reach_known(graph, number, err);
    if (status == C2_OK && !graph->known[number].of)
        callgraph_learn(graph, &graph->known[number], block);
    return status;
}

/* ------------------------------------------------------------------ arcs */

static enum c2_status callgraph_number_in(struct c2_map *map, uint64_t key, uint64_t *out, struct c2_error *err)
{
    if (c2_map_get(map, key, out))
        return C2_OK;
    *out = c2_map_count(map);
    return c2_map_put(map, key, *out, err);
}

static enum c2_status callgraph_number_of(struct callgraph *graph, uint64_t va, uint32_t context, uint64_t *out,
                                          struct c2_error *err)
{
    enum c2_status status = callgraph_number_in(graph->number_of, va, out, err);
    if (status != C2_OK || !graph->contexts)
        return status;
    return callgraph_number_in(graph->context_of, *out << 32 | context, out, err);
}

static enum c2_status grow_arcs(struct callgraph *graph, struct c2_error *err)
{
    if (graph->arc_count < graph->arc_room)
        return C2_OK;
    const uint32_t room = graph->arc_room * 2 + C2_HOST_SIZE(1024u, 1u);
    struct arc *arcs = c2_realloc(graph->arcs, room * sizeof *arcs);
    if (arcs)
        graph->arcs = arcs;
    uint64_t *costs = c2_realloc(graph->costs, (size_t)room * PLAIN * sizeof *costs);
    if (costs)
        graph->costs = costs;
    if (!arcs || !costs)
        return c2_fail_memory(err, "the call graph");
    graph->arc_room = room;
    return C2_OK;
}

/* Not one that was found of late. */
static enum c2_status find_any(struct callgraph *graph, const struct arc *arc, uint32_t *out, struct c2_error *err)
{
    uint64_t numbers[2], found;
    enum c2_status status = callgraph_number_of(graph, arc->from, arc->from_context, &numbers[0], err);
    if (status == C2_OK)
        status = callgraph_number_of(graph, arc->to, arc->to_context, &numbers[1], err);
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
    memset(&graph->costs[(size_t)*out * PLAIN], 0, PLAIN * sizeof *graph->costs);
    graph->arc_count++;
    return C2_OK;
}

static uint32_t *callgraph_recent_of(struct callgraph *graph, const struct arc *arc)
{
    const uint64_t mixed = arc->from * 3 + arc->to + arc->from_context * UINT64_C(31) + arc->to_context;
    return &graph->recent[(mixed ^ mixed >> 10) % RECENT_ARCS];
}

static bool is_arc(const struct arc *one, const struct arc *other)
{
    return one->from == other->from && one->to == other->to && one->from_context == other->from_context &&
           one->to_context == other->to_context;
}

/* arc: what makes it this one. */
static enum c2_status find_arc(struct callgraph *graph, const struct arc *arc, uint32_t *out, struct c2_error *err)
{
    uint32_t *recent = callgraph_recent_of(graph, arc);
    enum c2_status status = C2_OK;
    if (!SHORTCUT(*recent != 0 && is_arc(&graph->arcs[*recent - 1], arc))) {
        status = find_any(graph, arc, out, err);
        *recent = status == C2_OK ? *out + 1 : 0;
    }
    *out = *recent - 1;
    return status;
}

/* ------------------------------------------------------------------ misses, where they are */

static enum c2_status callgraph_reach(uint64_t **costs, uint32_t *room, uint32_t number, uint32_t width,
                                      struct c2_error *err)
{
    const size_t before = *room;
    if (number < before)
        return C2_OK;
    if (!c2_reach((void **)costs, room, number, width * sizeof **costs, C2_HOST_SIZE(64u, 1u)))
        return c2_fail_memory(err, "the call graph");
    memset(*costs + before * width, 0, (*room - before) * width * sizeof **costs);
    return C2_OK;
}

static enum c2_status reach_stack(struct heard *heard, uint32_t number, struct c2_error *err)
{
    const uint32_t before = heard->stack_room;
    if (number < before)
        return C2_OK;
    if (!c2_reach((void **)&heard->stacks, &heard->stack_room, number, sizeof *heard->stacks, 1))
        return c2_fail_memory(err, "the call graph");
    memset(heard->stacks + before, 0, (heard->stack_room - before) * sizeof *heard->stacks);
    return C2_OK;
}

static void callgraph_move(uint64_t *to, const uint64_t *from, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++)
        to[i] += from[i];
}

/* The frame that misses of `costs` are in is over, and was this call, or none that counts. */
static enum c2_status end_frame(struct heard *heard, uint32_t arc, uint64_t *costs, struct c2_error *err)
{
    const uint32_t width = heard->events->count;
    if (arc != NO_ARC) {
        enum c2_status status = callgraph_reach(&heard->arcs, &heard->arc_room, arc, width, err);
        if (status != C2_OK)
            return status;
        callgraph_move(&heard->arcs[(size_t)arc * width], costs, width);
    }
    heard->here = costs - width;
    callgraph_move(heard->here, costs, width);
    memset(costs, 0, width * sizeof *costs);
    return C2_OK;
}

static enum c2_status reach_node(struct heard *heard, uint32_t node, struct c2_error *err)
{
    const uint32_t width = heard->events->count;
    if (node == NO_NODE)
        return C2_OK;
    enum c2_status status = callgraph_reach(&heard->nodes, &heard->node_room, node, width, err);
    heard->self = status == C2_OK ? &heard->nodes[(size_t)node * width] : NULL;
    return status;
}

/* Misses that follow are there, as callgraph_place() has it, and in this node. what: HERE; or the call that the frame
 * there was, or NO_ARC: it is over. */
static enum c2_status move_here(struct heard *heard, uint64_t place, uint32_t node, uint32_t what, struct c2_error *err)
{
    const uint32_t stack = (uint32_t)(place >> 32), depth = (uint32_t)place, width = heard->events->count;
    enum c2_status status = reach_stack(heard, stack, err);
    if (status == C2_OK)
        status = callgraph_reach(&heard->stacks[stack].costs, &heard->stacks[stack].room, depth, width, err);
    if (status == C2_OK)
        status = reach_node(heard, node, err);
    if (status != C2_OK)
        return status;
    heard->here = &heard->stacks[stack].costs[(size_t)depth * width];
    return what == HERE ? C2_OK : end_frame(heard, what, heard->here, err);
}

/* Behind all misses so far. */
static enum c2_status place_misses(struct callgraph *graph, uint64_t place, uint32_t what, struct c2_error *err)
{
    enum c2_status status = graph->sim ? sim_notify_pending(graph->sim, err) : C2_OK;
    graph->here_node = graph->current;
    return status == C2_OK ? move_here(&graph->heard, place, graph->current, what, err) : status;
}

static uint64_t callgraph_place(const struct callgraph *graph, size_t depth)
{
    return (uint64_t)graph->on->number << 32 | (uint32_t)depth;
}

/* The frame on top has been left: whatever it has missed. */
static enum c2_status end_misses(struct callgraph *graph, const struct frame *over, uint32_t arc, struct c2_error *err)
{
    const size_t depth = graph->on->depth;
    if (!over->missed)
        return C2_OK;
    graph->here = callgraph_place(graph, depth);
    if (depth != 0)
        graph->on->frames[depth - 1].missed = true;
    return place_misses(graph, callgraph_place(graph, depth + 1), arc, err);
}

/* Misses follow. */
static enum c2_status begin_misses(struct callgraph *graph, struct c2_error *err)
{
    const size_t depth = graph->on->depth;
    if (graph->here == callgraph_place(graph, depth) && graph->here_node == graph->current)
        return C2_OK;
    graph->here = callgraph_place(graph, depth);
    if (depth != 0)
        graph->on->frames[depth - 1].missed = true;
    return place_misses(graph, graph->here, HERE, err);
}

/* ------------------------------------------------------------------ stacks, as nodes of a tree */

static enum c2_status find_node(struct callgraph *graph, uint32_t parent, uint64_t at, uint32_t *out,
                                struct c2_error *err)
{
    uint64_t number, found;
    enum c2_status status = callgraph_number_in(graph->number_of, at, &number, err);
    const uint64_t key = (uint64_t)parent << 32 | number;
    if (status == C2_OK && c2_map_get(graph->node_of, key, &found)) {
        *out = (uint32_t)found;
        return C2_OK;
    }
    const uint32_t node = graph->node_count;
    if (status == C2_OK && !c2_grow((void **)&graph->nodes, &graph->node_room, node, sizeof *graph->nodes))
        status = c2_fail_memory(err, "the stacks of calls");
    if (status != C2_OK)
        return status;
    uint64_t *costs = c2_realloc(graph->node_costs, (size_t)graph->node_room * PLAIN * sizeof *costs);
    if (!costs)
        return c2_fail_memory(err, "the stacks of calls");
    graph->node_costs = costs;
    memset(&costs[(size_t)node * PLAIN], 0, PLAIN * sizeof *costs);
    graph->nodes[node] = (struct node){at, parent, parent == NO_NODE ? 1 : graph->nodes[parent].depth + 1};
    graph->node_count++;
    *out = node;
    return c2_map_put(graph->node_of, key, node, err);
}

/* What was counted since the current node became it is its own. */
static void charge(struct callgraph *graph)
{
    for (uint32_t i = 0; i < PLAIN && graph->current != NO_NODE; i++)
        graph->node_costs[(size_t)graph->current * PLAIN + i] += graph->now[i] - graph->charged[i];
    memcpy(graph->charged, graph->now, sizeof graph->charged);
}

static void go_to_node(struct callgraph *graph, uint32_t node)
{
    if (!graph->has_nodes || graph->current == node)
        return;
    charge(graph);
    graph->current = node;
}

/* That of the frame on top, or of the thread itself. */
static void callgraph_go_to_top(struct callgraph *graph)
{
    const struct stack *on = graph->on;
    go_to_node(graph, on->depth == 0 ? on->root : on->frames[on->depth - 1].node);
}

/* The frame of this number has a function, and a node below that of the frame further out. */
static enum c2_status place_frame(struct callgraph *graph, size_t frame, struct c2_error *err)
{
    struct frame *frames = graph->on->frames;
    const uint32_t parent = frame == 0 ? graph->on->root : frames[frame - 1].node;
    enum c2_status status = C2_OK;
    if (!graph->has_nodes)
        return C2_OK;
    frames[frame].node = parent;
    if (graph->nodes[parent].depth < ANALYSES_STACK_DEPTH)
        status = find_node(graph, parent, frames[frame].to, &frames[frame].node, err);
    callgraph_go_to_top(graph);
    return status;
}

/* A thread begins with this block. */
static enum c2_status begin_stack(struct callgraph *graph, const struct stream_block *block, struct c2_error *err)
{
    if (!graph->has_nodes || graph->on->root != NO_NODE)
        return C2_OK;
    const enum c2_status status = find_node(graph, NO_NODE, block->pc.v, &graph->on->root, err);
    if (status == C2_OK)
        callgraph_go_to_top(graph);
    return status;
}

/* ------------------------------------------------------------------ frames */

static struct frame *callgraph_top_of(const struct callgraph *graph)
{
    return graph->on->depth == 0 ? NULL : &graph->on->frames[graph->on->depth - 1];
}

/* With contexts: everything counted so far. */
static const uint64_t *all_now(struct callgraph *graph)
{
    for (unsigned i = 0; i < PLAIN; i++)
        if (graph->plain[i] != ANALYSES_NO_EVENT)
            graph->all[graph->plain[i]] = graph->now[i];
    return graph->all;
}

static enum c2_status callgraph_push(struct callgraph *graph, const struct frame *frame, struct c2_error *err)
{
    if (graph->on->depth == graph->on->room) {
        const size_t room = graph->on->room * 2 + C2_HOST_SIZE(256u, 1u);
        struct frame *frames = c2_realloc(graph->on->frames, room * sizeof *frames);
        if (frames)
            graph->on->frames = frames;
        uint64_t *starts = c2_realloc(graph->on->starts, room * PLAIN * sizeof *starts);
        if (starts)
            graph->on->starts = starts;
        if (!frames || !starts)
            return c2_fail_memory(err, "the call stack of the call graph");
        graph->on->room = room;
    }
    enum c2_status status = graph->contexts ? contexts_push(graph->contexts, frame->to, all_now(graph), err) : C2_OK;
    if (status != C2_OK)
        return status;
    graph->on->frames[graph->on->depth] = *frame;
    memcpy(&graph->on->starts[graph->on->depth * PLAIN], graph->now, sizeof graph->now);
    graph->on->depth++;
    return place_frame(graph, graph->on->depth - 1, err);
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
static enum c2_status callgraph_become(struct callgraph *graph, uint64_t to, struct c2_error *err)
{
    callgraph_top_of(graph)->to = to;
    const enum c2_status status = place_frame(graph, graph->on->depth - 1, err);
    return status == C2_OK && graph->contexts ? contexts_become(graph->contexts, to, all_now(graph), err) : status;
}

/* The frame on top is over. */
static enum c2_status pop(struct callgraph *graph, struct c2_error *err)
{
    const struct arc called = arc_of(graph, graph->on->depth - 1);
    const struct frame *over = &graph->on->frames[--graph->on->depth];
    const uint64_t *start = &graph->on->starts[graph->on->depth * PLAIN];
    uint32_t arc;
    callgraph_go_to_top(graph);
    if (graph->contexts)
        contexts_pop(graph->contexts, all_now(graph));
    if (graph->idle && start[ANALYSES_IR] == graph->now[ANALYSES_IR])
        return end_misses(graph, over, NO_ARC, err);
    enum c2_status status = find_arc(graph, &called, &arc, err);
    if (status != C2_OK)
        return status;
    uint64_t *cost = &graph->costs[(size_t)arc * PLAIN];
    graph->arcs[arc].calls++;
    for (uint32_t i = 0; i < PLAIN; i++)
        cost[i] += graph->now[i] - start[i];
    return end_misses(graph, over, arc, err);
}

/* Frames of slots below `slot` are over. */
static enum c2_status pop_below(struct callgraph *graph, uint64_t slot, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    while (status == C2_OK && graph->on->depth != 0 && callgraph_top_of(graph)->slot < slot)
        status = pop(graph, err);
    return status;
}

/* ------------------------------------------------------------------ how control passes */

static enum c2_status call(struct callgraph *graph, uint64_t to, struct c2_error *err)
{
    const struct stream_block *last = graph->on->last;
    const struct frame frame = {.slot = graph->on->last_slot,
                                .from = last_insn(last),
                                .to = to,
                                .back = last->pc.v + last->bytes,
                                .stub = graph->enters ? 0 : STUB_BLOCKS};
    enum c2_status status = pop_below(graph, graph->on->last_slot + 1, err);
    return status == C2_OK ? callgraph_push(graph, &frame, err) : status;
}

/* Among the frames that the slot of the top one has: the one of this function; SIZE_MAX: none. */
static size_t callgraph_find_in_slot(const struct callgraph *graph, uint64_t to)
{
    for (size_t i = graph->on->depth; i-- > 0 && graph->on->frames[i].slot == callgraph_top_of(graph)->slot;)
        if (graph->on->frames[i].to == to)
            return i;
    return SIZE_MAX;
}

/* Back to a function that has jumped on to others. */
static enum c2_status callgraph_loop(struct callgraph *graph, size_t frame, uint64_t to, struct c2_error *err)
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
    struct frame *top = callgraph_top_of(graph);
    if (top && (top->stub != 0 || top->resolving)) {
        top->resolving = is_resolver(graph, to);
        top->stub = 0;
        return callgraph_become(graph, to, err);
    }
    const size_t same = callgraph_find_in_slot(graph, to);
    if (same != SIZE_MAX)
        return callgraph_loop(graph, same, to, err);
    const struct frame frame = {.slot = top ? top->slot : NO_SLOT,
                                .from = graph->on->source,
                                .to = to,
                                .back = top ? top->back : 0,
                                .tail = true,
                                .resolving = is_resolver(graph, to),
                                .sudden = is_sudden(graph)};
    return callgraph_push(graph, &frame, err);
}

/* Within a stub every jump goes on to what it calls; so does the one that leaves the resolver. */
static enum c2_status jump(struct callgraph *graph, uint64_t to, struct c2_error *err)
{
    struct frame *top = callgraph_top_of(graph);
    if (graph->enters)
        return tail_call(graph, to, err);
    const bool leaves = top && top->resolving && to - top->to + RESOLVER_BYTES >= 2 * RESOLVER_BYTES;
    if (leaves)
        top->resolving = false;
    return top && (top->stub != 0 || leaves) ? callgraph_become(graph, to, err) : C2_OK;
}

/* The handler that the frame on top belongs to, for a return through a slot that no frame has; SIZE_MAX: none. */
static size_t find_handler(const struct callgraph *graph)
{
    for (size_t i = graph->on->depth;
         i-- > 0 && graph->on->frames[i].slot == callgraph_top_of(graph)->slot && graph->on->frames[i].tail;)
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
    const struct frame *top = callgraph_top_of(graph);
    if (!top || top->slot != slot)
        return return_unknown(graph, to, err);
    const bool behind = top->back == to;
    status = pop_below(graph, slot + 1, err);
    return status != C2_OK || behind ? status : jump(graph, to, err);
}

/* Control passes from the last record to a block at `to`. */
static enum c2_status callgraph_pass(struct callgraph *graph, uint64_t to, struct c2_error *err)
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
static enum c2_status callgraph_leave(struct callgraph *graph, const struct sim_executed *record, struct c2_error *err)
{
    const struct frame *top = callgraph_top_of(graph);
    size_t entries;
    if (!top || top->stub != 0 || top->resolving)
        return C2_OK;
    enum c2_status status = contexts_left(graph->contexts, record, &entries, err);
    while (status == C2_OK && graph->on->depth + 1 > entries)
        status = pop(graph, err);
    return status;
}

/* With contexts: of what is executed. */
static enum c2_status callgraph_in_context(struct callgraph *graph, const struct sim_executed *record,
                                           struct c2_error *err)
{
    enum c2_status status = C2_OK;
    if (!contexts_begun(graph->contexts))
        status = contexts_push(graph->contexts, record->block->pc.v, all_now(graph), err);
    contexts_entered(graph->contexts);
    if (status == C2_OK)
        status = callgraph_leave(graph, record, err);
    return status == C2_OK ? contexts_record(graph->contexts, record, !graph->idle, err) : status;
}

/* What is executed now may show that the frame on top is no stub. */
static void look_at_stub(struct callgraph *graph, const struct stream_block *block)
{
    struct frame *top = callgraph_top_of(graph);
    if (!top || top->stub == 0)
        return;
    const bool small = block->insn_count <= STUB_INSNS && block->ending == STREAM_JUMP;
    top->stub = small ? top->stub - 1 : 0;
}

static void callgraph_remember(struct callgraph *graph, const struct known *known, uint64_t header,
                               const uint64_t *words)
{
    struct stack *on = graph->on;
    const struct stream_block *block = known->of;
    const bool by_jump = on->last && on->last_whole && on->last->ending == STREAM_JUMP;
    on->last_whole = stream_header_insns(header) == block->insn_count;
    if (!by_jump || !known->is_plt)
        on->source = known->last;
    if (!on->last_whole)
        on->source = block->pc.v + block->insns[stream_header_insns(header)].offset;
    else if (block->ending != STREAM_JUMP)
        on->last_slot = words[known->slot];
    on->last = block;
    const struct frame *top = callgraph_top_of(graph);
    on->attentive = !on->last_whole || block->ending != STREAM_JUMP || (top && (top->stub != 0 || top->resolving));
}

/* A record that is counted and no more. */
static void remember_passing(struct stack *on, const struct known *known)
{
    on->last = known->of;
    on->last_whole = true;
    on->source = known->last;
}

/* ------------------------------------------------------------------ what records cost */

static void add_packed(uint64_t now[PLAIN], uint64_t costs)
{
    now[PLAIN_IR] += costs & ((1u << PACKED_DR) - 1);
    now[PLAIN_DR] += costs >> PACKED_DR & ((1u << (PACKED_DW - PACKED_DR)) - 1);
    now[PLAIN_DW] += costs >> PACKED_DW;
}

static void callgraph_count_string(uint64_t now[PLAIN], const struct stream_slot *slots, const uint64_t *words)
{
    const uint64_t done = stream_string_elements(words);
    now[PLAIN_DR] += slots[0].size != 0 ? done : 0;
    now[slots[1].how ? PLAIN_DW : PLAIN_DR] += slots[1].size != 0 ? done : 0;
}

static void callgraph_count_record(struct callgraph *graph, const struct known *known, uint64_t header,
                                   const uint64_t *words)
{
    const uint32_t insns_run = stream_header_insns(header);
    if (graph->idle)
        return;
    if (C2_UNLIKELY(known->is_string)) {
        graph->now[PLAIN_IR] += insns_run;
        callgraph_count_string(graph->now, known->of->slots, words);
    } else if (C2_LIKELY(insns_run == known->of->insn_count)) {
        add_packed(graph->now, known->costs);
    } else {
        add_packed(graph->now, costs_of(known->of, insns_run));
    }
}

/* Slots never rise towards the top: of the two frames there, which are all that changes. */
static bool top_holds(const struct callgraph *graph)
{
    const struct frame *top = callgraph_top_of(graph);
    return graph->on->depth < 2 || top->slot < top[-1].slot || (top->tail && top->slot == top[-1].slot);
}

/* ------------------------------------------------------------------ threads */

/* What was counted while other threads ran costs none of its calls. */
static void callgraph_go_on(struct callgraph *graph, struct stack *stack)
{
    for (size_t i = 0; i < stack->depth; i++)
        for (uint32_t event = 0; event < PLAIN; event++)
            stack->starts[i * PLAIN + event] += graph->now[event] - stack->left[event];
    graph->on = stack;
    callgraph_go_to_top(graph);
}

static enum c2_status switch_thread(struct callgraph *graph, uint32_t tid, struct c2_error *err)
{
    uint32_t i = 0;
    memcpy(graph->on->left, graph->now, sizeof graph->now);
    while (i < graph->stack_count && graph->stacks[i]->tid != tid)
        i++;
    enum c2_status status = i == graph->stack_count ? callgraph_add_stack(graph, tid, err) : C2_OK;
    if (status == C2_OK && graph->contexts)
        status = contexts_thread(graph->contexts, tid, all_now(graph), err);
    if (status == C2_OK)
        callgraph_go_on(graph, graph->stacks[i]);
    return status;
}

static void callgraph_thread(void *self, uint32_t tid) { ((struct callgraph *)self)->notified = tid; }

/* Control passes to a block. */
static enum c2_status callgraph_arrive(struct callgraph *graph, const struct known *known, struct c2_error *err)
{
    enum c2_status status = begin_stack(graph, known->of, err);
    if (graph->on->last && status == C2_OK) {
        graph->enters = known->is_entry;
        status = callgraph_pass(graph, known->of->pc.v, err);
        C2_PROMISE(status != C2_OK || top_holds(graph));
    }
    look_at_stub(graph, known->of);
    return status;
}

static __attribute__((noinline)) enum c2_status callgraph_begin(struct callgraph *graph, uint32_t tid,
                                                                struct c2_error *err)
{
    if (graph->stale)
        callgraph_look_again(graph);
    return tid != graph->on->tid ? switch_thread(graph, tid, err) : C2_OK;
}

/* A record that may concern us; with contexts any. */
static enum c2_status callgraph_take(struct callgraph *graph, const struct sim_records *records, const uint64_t *words,
                                     struct c2_error *err)
{
    const uint32_t number = stream_header_block(words[0]);
    enum c2_status status = C2_OK;
    if (C2_UNLIKELY(number >= graph->known_room || !graph->known[number].of))
        status = callgraph_know(graph, number, stream_blocks_at(records->blocks, number), err);
    if (status != C2_OK)
        return status;
    const struct known *known = &graph->known[number];
    status = callgraph_arrive(graph, known, err);
    if (graph->contexts && status == C2_OK) {
        const struct sim_executed executed = sim_executed_at(records, words);
        status = callgraph_in_context(graph, &executed, err);
    }
    callgraph_remember(graph, known, words[0], words + 1);
    callgraph_count_record(graph, known, words[0], words + 1);
    return status;
}

/* Those that are counted and no more, up to the first that may concern us, which is said. */
static inline const uint64_t *pass_by(struct callgraph *graph, const uint64_t *words, const uint64_t *end)
{
    const struct known *const all = graph->known, *last = NULL;
    const uint32_t room = graph->known_room;
    uint64_t costs = 0;
    if (graph->on->attentive || graph->contexts)
        return words;
    while (words < end) {
        const uint64_t header = *words;
        const uint32_t number = stream_header_block(header);
        if (number >= room || all[number].passing != (uint32_t)header)
            break;
        last = &all[number];
        costs += last->costs;
        words += 1 + stream_header_slots(header);
    }
    if (!last)
        return words;
    remember_passing(graph->on, last);
    if (!graph->idle)
        add_packed(graph->now, costs);
    return words;
}

static enum c2_status callgraph_records(void *self, const struct sim_records *records, struct c2_error *err)
{
    struct callgraph *graph = self;
    const uint64_t *words = records->words;
    enum c2_status status = C2_OK;
    graph->sim = graph->contexts ? NULL : records->sim; /* with contexts misses are notified at once */
    if (C2_UNLIKELY(graph->stale || records->tid != graph->on->tid))
        status = callgraph_begin(graph, records->tid, err);
    while (status == C2_OK && (words = pass_by(graph, words, records->end)) < records->end) {
        status = callgraph_take(graph, records, words, err);
        words += 1 + stream_header_slots(*words);
    }
    if (records->missing && !graph->contexts && status == C2_OK)
        status = begin_misses(graph, err);
    graph->sim = NULL;
    return status;
}

/* ------------------------------------------------------------------ misses */

/* The events of one level's miss, of which there are two; the first is ANALYSES_NO_EVENT in levels in between. */
struct events {
    uint8_t by_kind, by_class;
};

static inline struct events events_of(const struct analyses_events *events, uint32_t level, enum sim_kind kind,
                                      enum caches_class class_)
{
    return (struct events){events->by_kind[level][kind == SIM_WALK ? SIM_READ : kind],
                           events->by_class[level][class_ - CACHES_COLD]};
}

static inline void callgraph_count(struct heard *heard, struct events of)
{
    if (of.by_kind != ANALYSES_NO_EVENT) {
        heard->now[of.by_kind]++;
        heard->here[of.by_kind]++;
    }
    heard->now[of.by_class]++;
    heard->here[of.by_class]++;
    if (!heard->self)
        return;
    if (of.by_kind != ANALYSES_NO_EVENT)
        heard->self[of.by_kind]++;
    heard->self[of.by_class]++;
}

static enum c2_status counted_misses(void *self, const struct caches_compact *misses, size_t count_,
                                     struct c2_error *err)
{
    struct heard *heard = &((struct callgraph *)self)->heard;
    (void)err;
    for (const struct caches_compact *miss = misses; miss < misses + count_; miss++)
        callgraph_count(heard,
                        events_of(heard->events, miss->level, sim_counted_kind(miss), (enum caches_class)miss->class_));
    return C2_OK;
}

/* Of the instruction of this code number. */
static void count_context(struct callgraph *graph, uint32_t code, uint8_t event, uint64_t times)
{
    graph->all[event] += times;
    contexts_cost(graph->contexts, code)[event] += times;
}

static void count_contexts(struct callgraph *graph, uint32_t code, struct events of)
{
    if (of.by_kind != ANALYSES_NO_EVENT)
        count_context(graph, code, of.by_kind, 1);
    count_context(graph, code, of.by_class, 1);
}

static enum c2_status callgraph_missed(void *self, const struct sim_miss *miss, struct c2_error *err)
{
    struct callgraph *graph = self;
    struct heard *heard = &graph->heard;
    enum c2_status status = graph->contexts ? begin_misses(graph, err) : C2_OK;
    for (uint32_t i = miss->first; i < miss->outcome->served_by && status == C2_OK; i++) {
        const struct events of = events_of(heard->events, analyses_level_of(graph->machine, miss->kind, i), miss->kind,
                                           miss->outcome->event[i].class_);
        callgraph_count(heard, of);
        if (graph->contexts)
            count_contexts(graph, miss->code, of);
    }
    return status;
}

static void callgraph_untranslated(void *self, enum sim_kind kind, unsigned reads)
{
    struct callgraph *graph = self;
    graph->now[kind == SIM_FETCH ? PLAIN_ITLB : PLAIN_DTLB]++;
    graph->now[PLAIN_WALKS] += reads != 0;
    graph->now[PLAIN_WALK_READS] += reads;
}

static void callgraph_upgraded(void *self, uint32_t code)
{
    struct callgraph *graph = self;
    graph->now[PLAIN_UPGRADES]++;
    if (graph->contexts)
        contexts_cost(graph->contexts, code)[graph->events.upgrades]++;
}

/* With contexts. */
static enum c2_status tlb_missed(void *self, const struct sim_tlb_miss *miss, struct c2_error *err)
{
    struct callgraph *graph = self;
    (void)err;
    callgraph_untranslated(self, miss->kind, miss->reads);
    contexts_cost(graph->contexts,
                  miss->code)[graph->events.by_tlb[miss->kind == SIM_FETCH ? CACHES_FETCH : CACHES_DATA]]++;
    contexts_cost(graph->contexts, miss->code)[graph->events.walks] += miss->reads != 0;
    contexts_cost(graph->contexts, miss->code)[graph->events.walk_reads] += miss->reads;
    return C2_OK;
}

/* ------------------------------------------------------------------ the end */

static int callgraph_by_addresses(const void *a, const void *b)
{
    const struct analyses_arc *x = a, *y = b;
    const uint64_t keys[2][4] = {{x->from_context, x->from.v, x->to.v, x->to_context},
                                 {y->from_context, y->from.v, y->to.v, y->to_context}};
    int i = 0;
    while (i < 3 && keys[0][i] == keys[1][i])
        i++;
    return (keys[0][i] > keys[1][i]) - (keys[0][i] < keys[1][i]);
}

/* What calls cost in all. */
static enum c2_status sum_arcs(struct callgraph *graph, struct c2_error *err)
{
    const uint32_t width = graph->events.count;
    c2_free(graph->sums);
    graph->sums = c2_calloc(graph->arc_count + (size_t)1, width * sizeof *graph->sums);
    if (!graph->sums)
        return c2_fail_memory(err, "the call graph");
    for (uint32_t i = 0; i < graph->arc_count; i++) {
        uint64_t *sum = &graph->sums[(size_t)i * width];
        if (i < graph->heard.arc_room)
            memcpy(sum, &graph->heard.arcs[(size_t)i * width], width * sizeof *sum);
        for (unsigned k = 0; k < PLAIN; k++)
            if (graph->plain[k] != ANALYSES_NO_EVENT)
                sum[graph->plain[k]] = graph->costs[(size_t)i * PLAIN + k];
    }
    return C2_OK;
}

/* What each node has cost by itself. */
static enum c2_status make_tree(struct callgraph *graph, struct c2_error *err)
{
    const uint32_t width = graph->events.count;
    charge(graph);
    c2_free(graph->tree);
    c2_free(graph->tree_costs);
    graph->tree = c2_calloc(graph->node_count + (size_t)1, sizeof *graph->tree);
    graph->tree_costs = c2_calloc(graph->node_count + (size_t)1, width * sizeof *graph->tree_costs);
    if (!graph->tree || !graph->tree_costs)
        return c2_fail_memory(err, "the stacks of calls");
    for (uint32_t i = 0; i < graph->node_count; i++) {
        uint64_t *cost = &graph->tree_costs[(size_t)i * width];
        if (i < graph->heard.node_room)
            memcpy(cost, &graph->heard.nodes[(size_t)i * width], width * sizeof *cost);
        for (unsigned k = 0; k < PLAIN; k++)
            if (graph->plain[k] != ANALYSES_NO_EVENT)
                cost[graph->plain[k]] = graph->node_costs[(size_t)i * PLAIN + k];
        graph->tree[i] = (struct analyses_stack){{graph->nodes[i].at}, graph->nodes[i].parent, cost};
    }
    return C2_OK;
}

static enum c2_status callgraph_finish(void *self, struct sim *sim, struct c2_error *err)
{
    struct callgraph *graph = self;
    (void)sim;
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < graph->stack_count && status == C2_OK; i++) {
        status = switch_thread(graph, graph->stacks[i]->tid, err);
        while (status == C2_OK && graph->on->depth != 0)
            status = pop(graph, err);
        if (status == C2_OK && graph->contexts && contexts_begun(graph->contexts))
            contexts_pop(graph->contexts, all_now(graph));
    }
    if (status == C2_OK && graph->has_nodes)
        status = make_tree(graph, err);
    if (status == C2_OK)
        status = sum_arcs(graph, err);
    if (status != C2_OK)
        return status;
    c2_free(graph->sorted);
    graph->sorted = c2_calloc(graph->arc_count + 1u, sizeof *graph->sorted);
    if (!graph->sorted)
        return c2_fail_memory(err, "the call graph");
    for (uint32_t i = 0; i < graph->arc_count; i++)
        graph->sorted[i] = (struct analyses_arc){
            {graph->arcs[i].from},       {graph->arcs[i].to},
            graph->arcs[i].calls,        &graph->sums[(size_t)i * graph->events.count],
            graph->arcs[i].from_context, graph->arcs[i].to_context};
    qsort(graph->sorted, graph->arc_count, sizeof *graph->sorted, callgraph_by_addresses);
    graph->result = (struct analyses_callgraph_result){graph->sorted, graph->arc_count, NULL, graph->tree,
                                                       graph->has_nodes ? graph->node_count : 0};
    if (!graph->contexts)
        return C2_OK;
    graph->result.contexts = contexts_result(graph->contexts);
    return contexts_finish(graph->contexts, &graph->result, all_now(graph), err);
}

/* ------------------------------------------------------------------ windows */

/* Everything counted so far; all is said. */
static void count_all(const struct callgraph *graph, uint64_t now[ANALYSES_EVENTS])
{
    memcpy(now, graph->heard.now, sizeof graph->heard.now);
    for (unsigned i = 0; i < PLAIN; i++)
        if (graph->plain[i] != ANALYSES_NO_EVENT)
            now[graph->plain[i]] = graph->now[i];
}

/* counted: [event], here and below. */
static void callgraph_check_level(const struct callgraph *graph, const uint64_t *counted, uint32_t level,
                                  const struct caches_counts *n)
{
    const uint64_t classes[] = {n->cold, n->capacity, n->conflict, n->coherence};
    const uint8_t *events = graph->events.by_class[level];
    for (unsigned i = 0; i < ANALYSES_CLASSES + 1 && events[i] != ANALYSES_NO_EVENT; i++)
        C2_ASSERT(counted[events[i]] == classes[i]);
}

/* What was counted in the window is what the simulator has counted. */
static void check_window(const struct callgraph *graph, const uint64_t *counted, const struct sim_totals *of)
{
    const struct analyses_events *events = &graph->events;
    C2_ASSERT(counted[ANALYSES_IR] == of->counts.instructions);
    C2_ASSERT(counted[ANALYSES_DR] == of->counts.reads && counted[ANALYSES_DW] == of->counts.writes);
    for (uint32_t i = 0; i < graph->machine->level_count; i++)
        callgraph_check_level(graph, counted, i, &of->levels[i]);
    if (graph->machine->has_l1i)
        callgraph_check_level(graph, counted, graph->machine->level_count, &of->l1i);
    if (events->walks != ANALYSES_NO_EVENT)
        C2_ASSERT(counted[events->walks] == of->walks.count);
}

static enum c2_status callgraph_window(void *self, const struct sim_window *window, struct c2_error *err)
{
    static const struct sim_totals nothing;
    struct callgraph *graph = self;
    uint64_t now[ANALYSES_EVENTS], counted[ANALYSES_EVENTS];
    (void)err;
    count_all(graph, now);
    for (uint32_t i = 0; i < ANALYSES_EVENTS; i++)
        counted[i] = now[i] - graph->window_start[i];
    check_window(graph, counted, graph->idle ? &nothing : &window->of);
    memcpy(graph->window_start, now, sizeof now);
    graph->idle = window->next != STREAM_MEASURE;
    return C2_OK;
}

static void drop_heard(struct heard *heard)
{
    const size_t bytes = heard->events->count * sizeof(uint64_t);
    for (uint32_t i = 0; i < heard->stack_room; i++)
        if (heard->stacks[i].room != 0)
            memset(heard->stacks[i].costs, 0, heard->stacks[i].room * bytes);
    if (heard->arc_room != 0)
        memset(heard->arcs, 0, heard->arc_room * bytes);
    if (heard->node_room != 0)
        memset(heard->nodes, 0, heard->node_room * bytes);
}

/* Nothing has been measured so far: calls that go on cost from here on. */
static enum c2_status callgraph_dropped(void *self, struct c2_error *err)
{
    struct callgraph *graph = self;
    for (uint32_t n = 0; n < graph->stack_count; n++) {
        struct stack *stack = graph->stacks[n];
        for (size_t i = 0; i < stack->depth; i++)
            memcpy(&stack->starts[i * PLAIN], graph->now, sizeof graph->now);
        memcpy(stack->left, graph->now, sizeof graph->now);
    }
    if (graph->contexts)
        contexts_dropped(graph->contexts, all_now(graph));
    drop_heard(&graph->heard);
    memcpy(graph->charged, graph->now, sizeof graph->charged);
    if (graph->node_count != 0)
        memset(graph->node_costs, 0, (size_t)graph->node_count * PLAIN * sizeof *graph->node_costs);
    memset(graph->recent, 0, sizeof graph->recent);
    graph->arc_count = 0;
    c2_map_destroy(graph->arc_of);
    graph->arc_of = NULL;
    return c2_map_create(&graph->arc_of, err);
}

static enum c2_status callgraph_mark(void *self, enum stream_mark mark, const uint64_t *words, struct c2_error *err)
{
    struct callgraph *graph = self;
    return mark == STREAM_ARGUMENTS ? contexts_arguments(graph->contexts, graph->notified, words, err) : C2_OK;
}

static bool callgraph_is_wanted(const struct analyses_setup *setup) { return setup->separation || setup->stacks; }

static struct sim_subscriber callgraph_subscriber(struct analysis *analysis)
{
    const struct callgraph *graph = (const struct callgraph *)analysis;
    struct sim_subscriber to = {.self = analysis,
                                .apart = !graph->contexts,
                                .memory = callgraph_memory,
                                .dropped = callgraph_dropped,
                                .records = callgraph_records,
                                .missed = callgraph_missed,
                                .upgraded = callgraph_upgraded,
                                .window = callgraph_window,
                                .finish = callgraph_finish};
    if (graph->contexts) {
        to.mark = callgraph_mark;
        to.thread = callgraph_thread;
        to.tlb_missed = tlb_missed;
    } else {
        to.untranslated = callgraph_untranslated;
        to.counted = counted_misses;
    }
    return to;
}

static const void *callgraph_result(const struct analysis *analysis)
{
    const struct callgraph *graph = (const struct callgraph *)analysis;
    return graph->sorted ? &graph->result : NULL;
}

const struct analysis_kind analysis_callgraph = {.wanted = callgraph_is_wanted,
                                                 .chapter = &analyses_contexts_chapter,
                                                 .create = callgraph_create,
                                                 .subscriber = callgraph_subscriber,
                                                 .result = callgraph_result,
                                                 .destroy = callgraph_destroy};

struct contexts *analyses_callgraph_contexts(struct analysis *callgraph)
{
    return ((struct callgraph *)callgraph)->contexts;
}

static void callgraph_check_stack(const struct callgraph *graph, const struct stack *stack)
{
    C2_ASSERT(stack->depth <= stack->room);
    for (size_t i = 0; i < stack->depth; i++) {
        C2_ASSERT(i == 0 || stack->frames[i].slot <= stack->frames[i - 1].slot);
        C2_ASSERT(i == 0 || stack->frames[i].tail || stack->frames[i].slot < stack->frames[i - 1].slot);
        for (uint32_t event = 0; event < PLAIN; event++)
            C2_ASSERT(stack->starts[i * PLAIN + event] <= graph->now[event]);
        C2_ASSERT(graph->here != ((uint64_t)stack->number << 32 | (i + 1)) || stack->frames[i].missed);
    }
    C2_ASSERT(graph->here == NOWHERE || graph->here >> 32 != stack->number || (uint32_t)graph->here <= stack->depth);
}

void analyses_callgraph_check(const struct analysis *callgraph)
{
    const struct callgraph *graph = (const struct callgraph *)callgraph;
    if (graph->contexts)
        contexts_check(graph->contexts);
    C2_ASSERT(graph->arc_count == c2_map_count(graph->arc_of));
    for (uint32_t i = 0; i < graph->stack_count; i++)
        callgraph_check_stack(graph, graph->stacks[i]);
}
