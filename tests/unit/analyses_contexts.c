/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Contexts of functions: random programs that call, return, jump on to other functions, call themselves and leave
 * frames by longjmp, against a naive twin; bounds and arguments by thought; cycles against paths.
 *
 * The twin knows what the program does: it has a list of activations, and makes the whole name of a context from it
 * anew for each record. Costs are added to every context and call that is open then. Each thread has a list of its own,
 * and costs of all are one.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyses/contexts_priv.h"

/* ------------------------------------------------------------------ a program of made-up functions */

#define FUNCTIONS 6u
#define BASE 0x10000u
#define STACK 0x7000000u
enum part { ENTRY, PLAIN, CALL, BEHIND, RETURN, TAIL, JUMP, PARTS };

struct made {
    struct stream_block block;
    struct stream_insn insns[2];
    struct stream_slot slots[1];
    uint32_t number, first_code;
    bool met;
};

/* The call ends where the part behind it begins. */
static void make(struct made *made, unsigned function, enum part part)
{
    static const uint64_t at[PARTS] = {0, 0x40, 0x80, 0x88, 0xc0, 0x100, 0x140};
    const enum stream_ending ending = part == CALL ? STREAM_CALL : part == RETURN ? STREAM_RETURN : STREAM_JUMP;
    *made = (struct made){.block = {.pc = {BASE + 0x1000 * function + at[part]},
                                    .bytes = 8,
                                    .insn_count = 2,
                                    .slot_count = ending != STREAM_JUMP || part == PLAIN,
                                    .ending = (uint8_t)ending},
                          .number = function * PARTS + part,
                          .insns = {{.offset = 0, .length = 4}, {.offset = 4, .length = 4}},
                          .slots = {{.insn = 1, .size = 8, .kind = STREAM_READ}}};
    made->slots[0].kind = part == CALL ? STREAM_WRITE : part == PLAIN ? STREAM_MODIFY : STREAM_READ;
    made->block.insns = made->insns;
    made->block.slots = made->slots;
}

/* Blocks are added in the order of their numbers. */
static void add(struct stream_blocks *blocks, struct made *made, unsigned function, enum part part)
{
    uint32_t number;
    make(made, function, part);
    assert_int_equal(C2_OK, stream_blocks_add(&number, blocks, &made->block, NULL));
    assert_int_equal(number, made->number);
}

static bool function_entry(void *self, struct guest_va pc, struct guest_va *entry)
{
    (void)self;
    entry->v = pc.v & ~(uint64_t)0xfff;
    return true;
}

struct bench {
    struct caches_machine machine;
    struct sim_counts counts;
    struct stream_blocks *blocks; /* by the numbers of what is made */
    struct analysis *graph;
    struct sim_subscriber subscriber;
    struct analyses_events events;
    struct made made[FUNCTIONS][PARTS];
    uint32_t codes;
    uint32_t tid; /* that executes what follows */
};

static void set_up(struct bench *bench, const struct analyses_separation *by)
{
    *bench = (struct bench){.machine = {.line_bytes = 64, .level_count = 1}, .tid = 1};
    strcpy(bench->machine.levels[0].name, "L1D");
    const struct analyses_setup setup = {.machine = &bench->machine, .separation = by};
    const struct contexts_functions functions = {NULL, function_entry};
    assert_true(analysis_callgraph.wanted(&setup));
    assert_int_equal(C2_OK, analysis_callgraph.create(&bench->graph, &setup, NULL, NULL));
    contexts_functions(analyses_callgraph_contexts(bench->graph), &functions);
    bench->subscriber = analysis_callgraph.subscriber(bench->graph);
    analyses_events_init(&bench->events, &bench->machine);
    assert_int_equal(C2_OK, stream_blocks_create(&bench->blocks, NULL));
    for (unsigned f = 0; f < FUNCTIONS; f++) {
        for (unsigned part = 0; part < PARTS; part++)
            add(bench->blocks, &bench->made[f][part], f, (enum part)part);
        assert_int_equal(C2_OK,
                         analyses_callgraph_entry(bench->graph, (struct guest_va){BASE + 0x1000 * f}, false, NULL));
    }
}

static void tear_down(struct bench *bench)
{
    analysis_callgraph.destroy(bench->graph);
    stream_blocks_destroy(bench->blocks);
}

static void arguments(struct bench *bench, unsigned function, uint64_t number, const uint64_t *values)
{
    uint64_t words[8] = {BASE + 0x1000 * function, number};
    memcpy(words + 2, values, 6 * sizeof *values);
    bench->subscriber.thread(bench->graph, bench->tid);
    assert_int_equal(C2_OK, bench->subscriber.mark(bench->graph, STREAM_ARGUMENTS, words, NULL));
}

/* All of the block, whose slot has this address. */
static enum c2_status notify(const struct bench *bench, const struct made *made, uint64_t slot, struct c2_error *err)
{
    const uint64_t words[] = {stream_header(made->number, 2, made->block.slot_count), slot};
    const struct sim_records records = {
        .blocks = bench->blocks, .words = words, .end = words + 1 + made->block.slot_count, .tid = bench->tid};
    return bench->subscriber.records(bench->graph, &records, err);
}

/* All of the block, and then its last instruction misses so often. */
static void execute(struct bench *bench, struct made *made, uint64_t slot, unsigned misses)
{
    struct caches_outcome outcome = {.depth = 1, .served_by = 1};
    outcome.event[0].class_ = CACHES_COLD;
    assert_int_equal(C2_OK, notify(bench, made, slot, NULL));
    analyses_callgraph_check(bench->graph);
    if (!made->met)
        made->first_code = bench->codes;
    bench->codes += made->met ? 0 : 2;
    made->met = true;
    bench->counts.instructions += 2;
    bench->counts.reads += made->block.slot_count != 0 && made->slots[0].kind != STREAM_WRITE;
    bench->counts.writes += made->block.slot_count != 0 && made->slots[0].kind != STREAM_READ;
    const struct sim_miss notified = {.kind = SIM_READ, .code = made->first_code + 1, .outcome = &outcome};
    for (unsigned i = 0; i < misses; i++)
        assert_int_equal(C2_OK, bench->subscriber.missed(bench->graph, &notified, NULL));
}

/* ------------------------------------------------------------------ the twin */

#define NAME 256
#define MOST 20000
#define DEEP 48
struct activation {
    char symbol[NAME];        /* function and arguments */
    char context[NAME];       /* its own, made when it began */
    unsigned function, group; /* a group has one return address */
    uint64_t from;            /* the instruction that called it */
    uint64_t cost, misses;
};
struct count { /* of a context, a call, or an instruction in a context */
    char name[2 * NAME + 64];
    uint64_t calls, cost, misses;
};
struct twin {
    const struct analyses_separation *by;
    struct activation list[DEEP + 1];
    unsigned count;
    struct count *counts; /* of all threads */
    size_t *used;
    uint32_t tid;
    bool break_it; /* every caller counts, also one that is called by itself */
};

static struct count *count_of(struct twin *twin, const char *format, ...) __attribute__((format(printf, 2, 3)));
static struct count *count_of(struct twin *twin, const char *format, ...)
{
    char name[sizeof twin->counts->name];
    va_list values;
    va_start(values, format);
    vsnprintf(name, sizeof name, format, values);
    va_end(values);
    for (size_t i = 0; i < *twin->used; i++)
        if (strcmp(twin->counts[i].name, name) == 0)
            return &twin->counts[i];
    assert_true(*twin->used < MOST);
    strcpy(twin->counts[*twin->used].name, name);
    return &twin->counts[(*twin->used)++];
}

static void name_context(struct twin *twin)
{
    struct activation *top = &twin->list[twin->count - 1];
    struct c2_words text = {top->context, NAME, 0};
    unsigned level = 0, callers = 0;
    for (unsigned i = 0; i < twin->count; i++)
        level += strcmp(twin->list[i].symbol, top->symbol) == 0;
    c2_say(&text, "%s'%u", top->symbol, level < twin->by->recursions ? level : twin->by->recursions);
    if (twin->by->threads)
        c2_say(&text, "@%u", twin->tid);
    const char *last = top->symbol;
    for (unsigned i = twin->count - 1; i-- > 0 && callers < twin->by->callers;) {
        if (strcmp(twin->list[i].symbol, last) == 0 && !twin->break_it)
            continue;
        last = twin->list[i].symbol;
        c2_say(&text, "'%s", last);
        callers++;
    }
}

static void twin_enter(struct twin *twin, unsigned function, const char *args, unsigned group, uint64_t from)
{
    struct activation *now = &twin->list[twin->count++];
    *now = (struct activation){.function = function, .group = group, .from = from};
    snprintf(now->symbol, NAME, "%x%s", BASE + 0x1000 * function, args);
    name_context(twin);
}

static void twin_leave(struct twin *twin)
{
    const struct activation *over = &twin->list[--twin->count], *below = over - 1;
    struct count *call = count_of(twin, "call %s %" PRIx64 " %s", below->context, over->from, over->context);
    call->calls++;
    call->cost += over->cost;
    call->misses += over->misses;
}

static void twin_record(struct twin *twin, uint64_t pc, unsigned misses)
{
    const char *context = twin->list[twin->count - 1].context;
    for (unsigned i = 0; i < 2; i++) {
        struct count *line = count_of(twin, "line %s %" PRIx64, context, pc + 4 * i);
        line->cost++;
        line->misses += i == 1 ? misses : 0;
    }
    for (unsigned i = 0; i < twin->count; i++) {
        bool again = false;
        for (unsigned k = 0; k < i; k++)
            again |= strcmp(twin->list[k].context, twin->list[i].context) == 0;
        twin->list[i].cost += 2;
        twin->list[i].misses += misses;
        if (again)
            continue;
        struct count *context_count = count_of(twin, "context %s", twin->list[i].context);
        context_count->cost += 2;
        context_count->misses += misses;
    }
}

/* ------------------------------------------------------------------ random programs */

#define THREADS 3u
struct program {
    struct bench bench;
    struct twin *twin; /* of the thread that runs */
    struct twin twins[THREADS];
    struct c2_rng rng;
};

static struct activation *top_of(struct program *p) { return &p->twin->list[p->twin->count - 1]; }
static uint64_t slot_of(unsigned group) { return STACK - 16 * group; }

static void run_part(struct program *p, unsigned function, enum part part, uint64_t slot)
{
    struct made *made = &p->bench.made[function][part];
    const unsigned misses = (unsigned)c2_rng_below(&p->rng, 3);
    execute(&p->bench, made, slot, misses);
    twin_record(p->twin, made->block.pc.v, misses);
}

/* Function 0 is told apart by its first argument's ranges, 1 by the values of its second and third. */
static void begin(struct program *p, unsigned function, unsigned group, uint64_t from)
{
    static const char *const ranges[] = {":p1<=-1", ":-1<p1<=2", ":p1>2"};
    const int x = (int)c2_rng_below(&p->rng, 6) - 2, y = (int)c2_rng_below(&p->rng, 2);
    const uint64_t values[6] = {(uint32_t)x | (uint64_t)0xabc << 32, (uint64_t)x, (uint64_t)y};
    char args[NAME] = "";
    if (p->twin->by->parameter_count != 0 && function < 2) {
        arguments(&p->bench, function, function, values);
        if (function == 0)
            strcpy(args, ranges[x <= -1 ? 0 : x <= 2 ? 1 : 2]);
        else
            snprintf(args, sizeof args, ":p2=%d:p3=%d", x, y);
    }
    twin_enter(p->twin, function, args, group, from);
    run_part(p, function, ENTRY, 0);
}

static void step_call(struct program *p)
{
    const unsigned from = top_of(p)->function, group = top_of(p)->group + 1;
    if (p->twin->count + 2 > DEEP)
        return;
    run_part(p, from, CALL, slot_of(group));
    begin(p, (unsigned)c2_rng_below(&p->rng, FUNCTIONS), group, p->bench.made[from][CALL].block.pc.v + 4);
}

static void step_return(struct program *p)
{
    const unsigned group = top_of(p)->group;
    if (group == 0)
        return;
    run_part(p, top_of(p)->function, RETURN, slot_of(group));
    while (top_of(p)->group == group)
        twin_leave(p->twin);
    run_part(p, top_of(p)->function, BEHIND, 0);
}

/* To a function that this group is in already it is a loop. */
static void step_tail(struct program *p)
{
    const unsigned from = top_of(p)->function, to = (unsigned)c2_rng_below(&p->rng, FUNCTIONS);
    const unsigned group = top_of(p)->group;
    const uint64_t source = p->bench.made[from][TAIL].block.pc.v + 4;
    unsigned at = p->twin->count;
    if (group == 0 || p->twin->count + 2 > DEEP)
        return;
    run_part(p, from, TAIL, 0);
    while (at > 0 && p->twin->list[at - 1].group == group && p->twin->list[at - 1].function != to)
        at--;
    if (at == 0 || p->twin->list[at - 1].group != group) {
        begin(p, to, group, source);
        return;
    }
    if (at != p->twin->count)
        count_of(p->twin, "call %s %" PRIx64 " %s", top_of(p)->context, source, p->twin->list[at - 1].context)->calls++;
    while (p->twin->count > at)
        twin_leave(p->twin);
    run_part(p, to, ENTRY, 0);
}

/* To the newest activation of another function. */
static void step_longjmp(struct program *p)
{
    const unsigned from = top_of(p)->function, target = (unsigned)c2_rng_below(&p->rng, FUNCTIONS);
    unsigned at = p->twin->count;
    while (at > 0 && p->twin->list[at - 1].function != target)
        at--;
    if (at == 0 || target == from)
        return;
    run_part(p, from, JUMP, 0);
    while (p->twin->count > at)
        twin_leave(p->twin);
    run_part(p, target, PLAIN, 0);
}

static void step(struct program *p)
{
    switch (c2_rng_below(&p->rng, 16)) {
    case 0:
        step_longjmp(p);
        break;
    case 1:
        step_tail(p);
        break;
    case 2 ... 3:
        run_part(p, top_of(p)->function, PLAIN, 0);
        break;
    case 4 ... 8:
        step_return(p);
        break;
    default:
        step_call(p);
    }
}

/* ------------------------------------------------------------------ what was found, in the twin's words */

static void name_symbol(struct c2_words *to, const struct analyses_contexts *of, uint32_t symbol)
{
    c2_say(to, "%" PRIx64 "%s", of->symbols[symbol].entry.v, of->symbols[symbol].arguments);
}

static void name_found(char *out, const struct analyses_contexts *of, uint32_t number)
{
    const struct analyses_context *context = &of->contexts[number];
    struct c2_words text = {out, NAME, 0};
    name_symbol(&text, of, context->symbol);
    c2_say(&text, "'%" PRIu32, context->level);
    if (context->thread != 0)
        c2_say(&text, "@%" PRIu32, context->thread);
    for (uint32_t i = 0; i < context->caller_count; i++) {
        c2_say(&text, "'");
        name_symbol(&text, of, context->callers[i]);
    }
}

static void found(struct program *p, struct count *count, size_t *matched, uint64_t calls, const uint64_t *cost)
{
    const uint8_t miss = p->bench.events.by_class[0][ANALYSES_COLD];
    const bool same = count->calls == calls && count->cost == cost[ANALYSES_IR] && count->misses == cost[miss];
    *matched += same;
}

/* As many of each, and each as the twin has it. */
static bool same_as_twin(struct program *p)
{
    const struct analyses_callgraph_result *result;
    char name[NAME], other[NAME];
    size_t matched = 0;
    assert_int_equal(C2_OK, p->bench.subscriber.finish(p->bench.graph, NULL, NULL));
    result = analysis_callgraph.result(p->bench.graph);
    const struct analyses_contexts *of = result->contexts;
    for (uint32_t i = 0; i < THREADS; i++)
        while (p->twins[i].count > 1)
            twin_leave(&p->twins[i]);
    const size_t expected = *p->twin->used;
    for (uint32_t i = 0; i < of->context_count; i++) {
        name_found(name, of, i);
        found(p, count_of(p->twin, "context %s", name), &matched, 0, of->contexts[i].inclusive);
    }
    for (size_t i = 0; i < of->row_count; i++) {
        name_found(name, of, of->rows[i].context);
        found(p, count_of(p->twin, "line %s %" PRIx64, name, of->rows[i].pc.v), &matched, 0, of->rows[i].cost);
    }
    for (size_t i = 0; i < result->arc_count; i++) {
        const struct analyses_arc *arc = &result->arcs[i];
        name_found(name, of, arc->from_context);
        name_found(other, of, arc->to_context);
        found(p, count_of(p->twin, "call %s %" PRIx64 " %s", name, arc->from.v, other), &matched, arc->calls,
              arc->cost);
    }
    return matched == expected && *p->twin->used == expected;
}

/* A thread that runs for the first time does something. */
static void run_thread(struct program *p, uint32_t thread)
{
    p->twin = &p->twins[thread];
    p->bench.tid = thread + 1;
    if (p->twin->count != 0)
        return;
    twin_enter(p->twin, 5, "", 0, 0);
    run_part(p, 5, PLAIN, 0);
}

static bool random_run(uint64_t seed, uint32_t threads, bool break_it)
{
    static const int64_t bounds[] = {-1, 2};
    static const struct analyses_parameter parameters[] = {
        {.asked = "a", .function = 0, .number = 1, .bounds = bounds, .bound_count = 2},
        {.asked = "b", .function = 1, .number = 2},
        {.asked = "c", .function = 1, .number = 3}};
    const struct analyses_separation by = {.parameters = parameters,
                                           .parameter_count = seed % 2 ? 3 : 0,
                                           .callers = (uint32_t)(seed / 2 % 4),
                                           .recursions = 1 + (uint32_t)(seed / 8 % 3),
                                           .threads = threads > 1 && seed % 3 == 0};
    size_t used = 0;
    struct program *p = calloc(1, sizeof *p);
    set_up(&p->bench, &by);
    struct count *counts = calloc(MOST, sizeof *counts);
    for (uint32_t i = 0; i < THREADS; i++)
        p->twins[i] = (struct twin){.by = &by, .counts = counts, .used = &used, .tid = i + 1, .break_it = break_it};
    c2_rng_init(&p->rng, seed, "contexts");
    run_thread(p, 0);
    for (unsigned i = 0; i < 150; i++) {
        if (threads > 1 && c2_rng_below(&p->rng, 3) == 0)
            run_thread(p, (uint32_t)c2_rng_below(&p->rng, threads));
        step(p);
    }
    const bool same = same_as_twin(p);
    tear_down(&p->bench);
    free(counts);
    free(p);
    return same;
}

static void as_its_twin(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 72; seed++)
        if (!random_run(seed, 1, false))
            fail_msg("seed %llu", (unsigned long long)seed);
}

static void threads_as_their_twins(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 48; seed++)
        if (!random_run(seed, THREADS, false))
            fail_msg("seed %llu", (unsigned long long)seed);
}

static void not_as_a_broken_twin(void **state)
{
    (void)state;
    unsigned different = 0;
    for (uint64_t seed = 0; seed < 32; seed++)
        different += !random_run(seed, 1, true);
    assert_in_range(different, 12, 32);
}

/* ------------------------------------------------------------------ cycles */

#define NODES 12u

/* Two nodes are in one cycle when there are paths both ways. */
static void cycles_are_where_paths_lead_back(void **state)
{
    struct c2_rng rng;
    (void)state;
    c2_rng_init(&rng, 1, "cycles");
    for (unsigned round = 0; round < 400; round++) {
        bool reach[NODES][NODES] = {{false}};
        struct contexts_edge edges[24];
        uint32_t of[NODES], cycles;
        const uint32_t count = 1 + (uint32_t)c2_rng_below(&rng, 24);
        for (uint32_t i = 0; i < count; i++) {
            edges[i] = (struct contexts_edge){(uint32_t)c2_rng_below(&rng, NODES), (uint32_t)c2_rng_below(&rng, NODES)};
            reach[edges[i].from][edges[i].to] = true;
        }
        for (unsigned k = 0; k < NODES; k++)
            for (unsigned i = 0; i < NODES; i++)
                for (unsigned j = 0; j < NODES; j++)
                    reach[i][j] |= reach[i][k] && reach[k][j];
        assert_int_equal(C2_OK, contexts_cycles(of, &cycles, NODES, edges, count, NULL));
        uint32_t most = 0;
        for (unsigned i = 0; i < NODES; i++) {
            bool any = false;
            for (unsigned j = 0; j < NODES; j++) {
                const bool both = i != j && reach[i][j] && reach[j][i];
                any |= both;
                assert_true(i == j || both == (of[i] != 0 && of[i] == of[j]));
            }
            assert_true(any == (of[i] != 0));
            assert_true(of[i] <= most + 1); /* numbers in the order of first nodes */
            most = of[i] > most ? of[i] : most;
        }
        assert_int_equal(most, cycles);
    }
}

/* ------------------------------------------------------------------ without memory */

static void without_memory(void **state)
{
    const struct analyses_separation by = {.callers = 2, .recursions = 2};
    const struct caches_machine machine = {.line_bytes = 64, .level_count = 1};
    const struct analyses_setup setup = {.machine = &machine, .separation = &by};
    (void)state;
    enum c2_status status = C2_ERR_NO_MEMORY;
    struct stream_blocks *blocks;
    struct made made_of[PARTS];
    assert_int_equal(C2_OK, stream_blocks_create(&blocks, NULL));
    for (unsigned part = 0; part < PARTS; part++)
        add(blocks, &made_of[part], 0, (enum part)part);
    for (uint64_t i = 1; status != C2_OK; i++) {
        struct analysis *graph = NULL;
        struct c2_error err;
        c2_alloc_fail_from(i);
        status = analysis_callgraph.create(&graph, &setup, NULL, &err);
        struct bench bench = {.graph = graph, .machine = machine, .blocks = blocks, .tid = 1};
        if (status == C2_OK) {
            const struct contexts_functions functions = {NULL, function_entry};
            contexts_functions(analyses_callgraph_contexts(graph), &functions);
            bench.subscriber = analysis_callgraph.subscriber(graph);
            for (unsigned part = 0; part < PARTS && status == C2_OK; part++) {
                const struct made *made = &made_of[part];
                status = notify(&bench, made, STACK, &err);
                bench.counts.instructions += 2;
                bench.counts.reads += made->block.slot_count != 0 && made->slots[0].kind != STREAM_WRITE;
                bench.counts.writes += made->block.slot_count != 0 && made->slots[0].kind != STREAM_READ;
            }
            if (status == C2_OK)
                status = bench.subscriber.finish(graph, NULL, &err);
            c2_alloc_fail_from(0);
            analysis_callgraph.destroy(graph);
        }
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK || status == C2_ERR_NO_MEMORY);
    }
    stream_blocks_destroy(blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_its_twin), cmocka_unit_test(threads_as_their_twins), cmocka_unit_test(not_as_a_broken_twin),
        cmocka_unit_test(cycles_are_where_paths_lead_back), cmocka_unit_test(without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
