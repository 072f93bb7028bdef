/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The call graph from made-up records: small programs whose numbers follow by thought, and random streams against a
 * naive twin.
 *
 * The twin has no differences of counters: what a record costs is added, when it is executed, to every activation that
 * is open. Its stack is of groups, one for each return address, each with the chain of functions that were entered
 * with it: by the call, then by jumps. Of several threads each has a stack of its own, and what it executes costs
 * nothing else; their arcs are one list.
 *
 * The call graph is notified of records many at a time, and of misses of one core many at a time, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyses/analyses.h"

/* ------------------------------------------------------------------ blocks and what executes them */

struct made {
    struct stream_block block;
    struct stream_insn insns[8];
    struct stream_slot slots[8];
};

/* insns of 4 bytes, the last one of last_bytes; the last one has the one slot, if there is one. */
static void make_block(struct made *made, uint64_t pc, uint16_t insns, uint8_t last_bytes, enum stream_ending ending,
                       bool slot, enum stream_kind kind)
{
    *made = (struct made){.block = {.pc = {pc}, .insn_count = insns, .slot_count = slot, .ending = (uint8_t)ending}};
    for (uint16_t i = 0; i < insns; i++)
        made->insns[i] = (struct stream_insn){.offset = 4u * i, .length = i + 1 == insns ? last_bytes : 4};
    made->slots[0] = (struct stream_slot){.insn = (uint16_t)(insns - 1), .size = 8, .kind = (uint8_t)kind};
    made->block.bytes = 4u * (insns - 1u) + last_bytes;
    made->block.insns = made->insns;
    made->block.slots = made->slots;
}

#define MADE 64u
#define HELD 128u

struct bench {
    struct caches_machine machine;
    struct analysis *graph;
    struct stream_blocks *blocks;
    const struct made *made[MADE]; /* by number in the table */
    uint32_t made_count;
    uint64_t words[HELD]; /* records that it has not been notified of, of thread told_tid */
    uint32_t held, hold;  /* hold: words that it may have to wait for, but for a miss */
    uint32_t told_tid;
    struct sim_subscriber subscriber;
    struct analyses_events events;
    uint32_t tid; /* that executes what follows */
};

static enum c2_status create(struct bench *bench, struct c2_error *err)
{
    const struct analyses_setup setup = {.machine = &bench->machine};
    return analysis_callgraph.create(&bench->graph, &setup, NULL, err);
}

static enum c2_status notify(struct bench *bench, bool missing, struct c2_error *err)
{
    const struct sim_records records = {.blocks = bench->blocks,
                                        .words = bench->words,
                                        .end = bench->words + bench->held,
                                        .tid = bench->told_tid,
                                        .missing = missing};
    if (bench->held == 0 && !missing)
        return C2_OK;
    bench->held = 0;
    return bench->subscriber.records(bench->graph, &records, err);
}

static enum c2_status finish(struct bench *bench, const struct analyses_callgraph_result **out, struct c2_error *err)
{
    enum c2_status status = notify(bench, false, err);
    if (status == C2_OK)
        status = bench->subscriber.finish(bench->graph, NULL, err);
    *out = analysis_callgraph.result(bench->graph);
    return status;
}

static void set_up_cores(struct bench *bench, uint32_t cores)
{
    *bench = (struct bench){.machine = {.line_bytes = 64, .has_l1i = true, .level_count = 2, .cores = cores}, .tid = 1};
    strcpy(bench->machine.levels[0].name, "L1D");
    strcpy(bench->machine.levels[1].name, "L2");
    strcpy(bench->machine.l1i.name, "L1I");
    assert_int_equal(C2_OK, stream_blocks_create(&bench->blocks, NULL));
    assert_int_equal(C2_OK, create(bench, NULL));
    bench->subscriber = analysis_callgraph.subscriber(bench->graph);
    analyses_events_init(&bench->events, &bench->machine);
}

static void set_up(struct bench *bench) { set_up_cores(bench, 1); }

static void tear_down(struct bench *bench)
{
    analysis_callgraph.destroy(bench->graph);
    stream_blocks_destroy(bench->blocks);
}

static void entry(struct bench *bench, uint64_t va, bool resolver)
{
    assert_int_equal(C2_OK, analyses_callgraph_entry(bench->graph, (struct guest_va){va}, resolver, NULL));
}

static void gone(struct bench *bench, uint64_t start, uint64_t bytes)
{
    const struct mmu_area area = {.start = {start}, .bytes = bytes};
    assert_int_equal(C2_OK, notify(bench, false, NULL));
    assert_int_equal(C2_OK, bench->subscriber.memory(bench->subscriber.self, false, &area, NULL));
}

/* What one record does, in the order of the events. */
struct work {
    uint64_t cost[ANALYSES_EVENTS];
};

/* One line access that missed every level from the first one on: cold there, or what another core has taken. */
static void miss(struct bench *bench, enum sim_kind kind, struct work *work)
{
    struct caches_outcome outcome = {.depth = 2, .served_by = 2};
    const bool taken = bench->machine.cores > 1 && kind == SIM_READ;
    const uint32_t first = kind == SIM_FETCH ? 2 : 0;
    outcome.event[0].class_ = taken ? CACHES_COHERENCE : CACHES_COLD;
    outcome.event[1].class_ = CACHES_CONFLICT;
    const struct sim_miss notified = {.kind = kind, .outcome = &outcome};
    const uint16_t bits = sim_counted_bits(kind, 12);
    const struct caches_compact compact[] = {{.bits = bits, .level = (uint8_t)first, .class_ = CACHES_COLD},
                                             {.bits = bits, .level = 1, .class_ = CACHES_CONFLICT}};
    if (bench->machine.cores > 1)
        assert_int_equal(C2_OK, bench->subscriber.missed(bench->subscriber.self, &notified, NULL));
    else
        assert_int_equal(C2_OK, bench->subscriber.counted(bench->subscriber.self, compact, 2, NULL));
    work->cost[bench->events.by_kind[first][kind]]++;
    work->cost[bench->events.by_kind[1][kind]]++;
    work->cost[bench->events.by_class[first][taken ? ANALYSES_CLASSES : ANALYSES_COLD]]++;
    work->cost[bench->events.by_class[1][ANALYSES_CONFLICT]]++;
}

static uint32_t number_of(struct bench *bench, const struct made *made)
{
    uint32_t number = 0;
    while (number < bench->made_count && bench->made[number] != made)
        number++;
    if (number < bench->made_count)
        return number;
    assert_true(number < MADE);
    bench->made[bench->made_count++] = made;
    assert_int_equal(C2_OK, stream_blocks_add(&number, bench->blocks, &made->block, NULL));
    return number;
}

/* Behind those that are held. */
static void hold(struct bench *bench, const struct made *made, uint32_t insns, uint64_t slot)
{
    const bool whole = insns == made->block.insn_count;
    const uint32_t slots = whole ? made->block.slot_count : 0;
    if (bench->tid != bench->told_tid || bench->held + 2 > HELD)
        assert_int_equal(C2_OK, notify(bench, false, NULL));
    bench->told_tid = bench->tid;
    bench->words[bench->held++] = stream_header(number_of(bench, made), insns, slots);
    if (slots != 0)
        bench->words[bench->held++] = slot;
}

/* The call graph hears of the record, then it is executed. insns: how many of them complete. */
static struct work execute(struct bench *bench, const struct made *made, uint32_t insns, uint64_t slot, unsigned misses)
{
    struct work work = {{0}};
    const bool whole = insns == made->block.insn_count;
    hold(bench, made, insns, slot);
    if (misses != 0 || bench->held > bench->hold)
        assert_int_equal(C2_OK, notify(bench, misses != 0, NULL));
    analyses_callgraph_check(bench->graph);
    work.cost[ANALYSES_IR] = insns;
    if (whole && made->block.slot_count != 0)
        work.cost[made->slots[0].kind == STREAM_READ ? ANALYSES_DR : ANALYSES_DW] = 1;
    for (unsigned i = 0; i < 3; i++)
        if (misses >> i & 1)
            miss(bench, (enum sim_kind[]){SIM_READ, SIM_WRITE, SIM_FETCH}[i], &work);
    return work;
}

/* ------------------------------------------------------------------ the twin */

#define MAX 4096
struct activation {
    uint64_t from, to;
    bool sudden, resolving;
    int stub;
    struct work work;
};
struct group {
    uint64_t slot, back;
    struct activation chain[64];
    size_t length; /* 0 only in the lowest group */
};
struct twin_arc {
    uint64_t from, to, calls;
    struct work work;
};
struct twin {
    struct group *groups; /* the lowest one is what runs without a call */
    size_t count;
    struct twin_arc *arcs;
    size_t arc_count;
    uint64_t entries[64], resolvers[8];
    size_t entry_count, resolver_count;
    const struct made *last;
    uint32_t last_insns;
    uint64_t last_slot, source;
    bool break_it; /* returns leave one group too many */
};

static bool among(const uint64_t *list, size_t count, uint64_t va)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == va)
            return true;
    return false;
}

static void twin_arc(struct twin *twin, uint64_t from, uint64_t to, const struct work *work)
{
    size_t i = 0;
    while (i < twin->arc_count && (twin->arcs[i].from != from || twin->arcs[i].to != to))
        i++;
    assert_true(i < MAX);
    if (i == twin->arc_count)
        twin->arcs[twin->arc_count++] = (struct twin_arc){.from = from, .to = to};
    twin->arcs[i].calls++;
    for (unsigned event = 0; work && event < ANALYSES_EVENTS; event++)
        twin->arcs[i].work.cost[event] += work->cost[event];
}

static struct group *newest(struct twin *twin) { return &twin->groups[twin->count - 1]; }

/* Leaves `length` activations in the newest group. */
static void twin_shorten(struct twin *twin, size_t length)
{
    for (struct group *group = newest(twin); group->length > length; group->length--) {
        const struct activation *over = &group->chain[group->length - 1];
        twin_arc(twin, over->from, over->to, &over->work);
    }
}

static void twin_drop(struct twin *twin)
{
    twin_shorten(twin, 0);
    twin->count--;
}

static uint64_t end_of(const struct made *made) { return made->block.pc.v + made->block.bytes; }

static void twin_jump(struct twin *twin, uint64_t to)
{
    struct group *group = newest(twin);
    struct activation *top = group->length == 0 ? NULL : &group->chain[group->length - 1];
    const bool known = among(twin->entries, twin->entry_count, to);
    const bool resolver = among(twin->resolvers, twin->resolver_count, to);
    const bool near = top && to + 4096 >= top->to && to < top->to + 4096;
    if (top && (top->stub > 0 || (top->resolving && (known || !near)))) {
        top->resolving = known && resolver;
        top->stub = known ? 0 : top->stub;
        top->to = to;
        return;
    }
    if (!known)
        return;
    for (size_t i = group->length; i-- > 0;) { /* a stub may have led to one function twice: the newest counts */
        if (group->chain[i].to != to)
            continue;
        if (i + 1 < group->length) {
            twin_shorten(twin, i + 1);
            twin_arc(twin, twin->source, to, NULL);
        }
        return;
    }
    const struct made *last = twin->last;
    const bool whole = twin->last_insns == last->block.insn_count;
    const bool plain = last->block.slot_count == 0 && last->insns[last->block.insn_count - 1].length == 2;
    assert_true(group->length < 64);
    group->chain[group->length++] = (struct activation){
        .from = twin->source, .to = to, .sudden = !whole || plain, .resolving = resolver};
}

static void twin_return(struct twin *twin, uint64_t to)
{
    while (newest(twin)->slot < twin->last_slot)
        twin_drop(twin);
    if (newest(twin)->slot == twin->last_slot) {
        const bool elsewhere = newest(twin)->back != to;
        if (!twin->break_it)
            twin_drop(twin);
        if (elsewhere)
            twin_jump(twin, to);
        return;
    }
    /* the chain's first activation was called, but in the lowest group */
    const size_t called = twin->count == 1 ? 0 : 1;
    for (size_t i = newest(twin)->length; i-- > called;) {
        if (newest(twin)->chain[i].sudden) {
            twin_shorten(twin, i);
            return;
        }
    }
    twin_jump(twin, to);
}

static void twin_call(struct twin *twin, uint64_t to)
{
    while (newest(twin)->slot <= twin->last_slot)
        twin_drop(twin);
    assert_true(twin->count < MAX);
    struct group *group = &twin->groups[twin->count++];
    group->slot = twin->last_slot;
    group->back = end_of(twin->last);
    group->length = 1;
    group->chain[0] = (struct activation){.from = end_of(twin->last) -
                                                  twin->last->insns[twin->last->block.insn_count - 1].length,
                                          .to = to,
                                          .stub = among(twin->entries, twin->entry_count, to) ? 0 : 4};
}

static bool twin_plt(const struct made *made)
{
    const struct stream_block *b = &made->block;
    return b->pc.v % 8 == 0 && b->insn_count <= 3 && b->slot_count == 1 && made->slots[0].kind == STREAM_READ &&
           b->ending == STREAM_JUMP;
}

static void twin_record(struct twin *twin, const struct made *made, uint32_t insns, uint64_t slot)
{
    const uint64_t to = made->block.pc.v;
    const bool after_jump = twin->last && twin->last_insns == twin->last->block.insn_count &&
                            twin->last->block.ending == STREAM_JUMP;
    if (twin->last && twin->last_insns < twin->last->block.insn_count) {
        if (to != twin->last->block.pc.v)
            twin_jump(twin, to);
    } else if (twin->last) {
        void (*const how[])(struct twin *, uint64_t) = {twin_jump, twin_call, twin_return};
        how[twin->last->block.ending](twin, to);
    }
    struct group *group = newest(twin);
    struct activation *top = group->length == 0 ? NULL : &group->chain[group->length - 1];
    if (top && top->stub > 0)
        top->stub = made->block.insn_count <= 4 && made->block.ending == STREAM_JUMP ? top->stub - 1 : 0;
    if (!after_jump || !twin_plt(made) || insns < made->block.insn_count)
        twin->source = to + made->insns[insns < made->block.insn_count ? insns : insns - 1u].offset;
    twin->last = made;
    twin->last_insns = insns;
    twin->last_slot = slot;
}

static void twin_work(struct twin *twin, const struct work *work)
{
    for (size_t g = 0; g < twin->count; g++)
        for (size_t i = 0; i < twin->groups[g].length; i++)
            for (unsigned event = 0; event < ANALYSES_EVENTS; event++)
                twin->groups[g].chain[i].work.cost[event] += work->cost[event];
}

static int by_addresses(const void *a, const void *b)
{
    const struct twin_arc *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static void twin_end(struct twin *twin)
{
    while (twin->count > 1)
        twin_drop(twin);
    twin_shorten(twin, 0);
}

/* Those of all threads, in the first one's list. */
static void twin_gather(struct twin *twins, uint32_t threads)
{
    twin_end(&twins[0]);
    for (uint32_t t = 1; t < threads; t++) {
        twin_end(&twins[t]);
        for (size_t i = 0; i < twins[t].arc_count; i++) {
            const struct twin_arc *arc = &twins[t].arcs[i];
            twin_arc(&twins[0], arc->from, arc->to, &arc->work);
            for (size_t at = 0; at < twins[0].arc_count; at++)
                if (twins[0].arcs[at].from == arc->from && twins[0].arcs[at].to == arc->to)
                    twins[0].arcs[at].calls += arc->calls - 1;
        }
    }
}

static bool same_arcs(struct bench *bench, struct twin *twins, uint32_t threads)
{
    const struct analyses_callgraph_result *result;
    struct twin *twin = &twins[0];
    assert_int_equal(C2_OK, finish(bench, &result, NULL));
    twin_gather(twins, threads);
    qsort(twin->arcs, twin->arc_count, sizeof *twin->arcs, by_addresses);
    bool same = result->arc_count == twin->arc_count;
    for (size_t i = 0; i < result->arc_count && same; i++) {
        const struct analyses_arc *arc = &result->arcs[i];
        const struct twin_arc *other = &twin->arcs[i];
        same = arc->from.v == other->from && arc->to.v == other->to && arc->calls == other->calls &&
               memcmp(arc->cost, other->work.cost, bench->events.count * sizeof *arc->cost) == 0;
    }
    return same;
}

static void twin_set_up(struct twin *twin)
{
    *twin = (struct twin){
        .groups = calloc(MAX, sizeof *twin->groups), .arcs = calloc(MAX, sizeof *twin->arcs), .count = 1};
    twin->groups[0].slot = UINT64_MAX;
}

static void twin_tear_down(struct twin *twin)
{
    free(twin->groups);
    free(twin->arcs);
}

/* ------------------------------------------------------------------ random streams */

#define BLOCKS 40
#define SLOTS 24
#define STACK 0x7000000u

/* Ten functions of four blocks, some of them far apart; three of them have no name, one is the resolver. */
static void random_blocks(struct made blocks[BLOCKS], struct bench *bench, struct twin *twin, struct c2_rng *rng)
{
    for (unsigned i = 0; i < BLOCKS; i++) {
        const uint64_t pc = 0x10000 + i / 4 * 0x900 + i % 4 * 0x40 + 4 * c2_rng_below(rng, 2);
        const enum stream_ending ending = (enum stream_ending)c2_rng_below(rng, 3);
        const bool slot = ending != STREAM_JUMP || c2_rng_below(rng, 2) == 0;
        make_block(&blocks[i], pc, (uint16_t)(1 + c2_rng_below(rng, 6)), (uint8_t)(1 + c2_rng_below(rng, 3)), ending,
                   slot, ending == STREAM_CALL ? STREAM_WRITE : STREAM_READ);
        if (i % 4 != 0 || i / 4 % 3 == 2)
            continue;
        entry(bench, pc, i == 12);
        twin->entries[twin->entry_count++] = pc;
        if (i == 12)
            twin->resolvers[twin->resolver_count++] = pc;
    }
}

#define THREADS 3u

static void random_run_set_up(struct bench *bench, struct twin twins[THREADS], struct made blocks[BLOCKS],
                              struct c2_rng *rng, uint32_t threads, bool break_it)
{
    set_up_cores(bench, threads);
    for (uint32_t t = 0; t < threads; t++) {
        twin_set_up(&twins[t]);
        twins[t].break_it = break_it;
    }
    random_blocks(blocks, bench, &twins[0], rng);
    for (uint32_t t = 1; t < threads; t++) {
        memcpy(twins[t].entries, twins[0].entries, sizeof twins[0].entries);
        memcpy(twins[t].resolvers, twins[0].resolvers, sizeof twins[0].resolvers);
        twins[t].entry_count = twins[0].entry_count;
        twins[t].resolver_count = twins[0].resolver_count;
    }
}

/* On as many cores as threads. */
static bool random_run(uint64_t seed, unsigned records, uint32_t threads, bool break_it)
{
    struct bench bench;
    struct twin twins[THREADS];
    struct made blocks[BLOCKS];
    struct c2_rng rng;
    c2_rng_init(&rng, seed, "callgraph");
    random_run_set_up(&bench, twins, blocks, &rng, threads, break_it);
    uint64_t depths[THREADS] = {SLOTS / 2, SLOTS / 2, SLOTS / 2};
    for (unsigned i = 0; i < records; i++) {
        if (threads > 1 && c2_rng_below(&rng, 4) == 0)
            bench.tid = 1 + (uint32_t)c2_rng_below(&rng, threads);
        struct twin *twin = &twins[bench.tid - 1];
        uint64_t depth = depths[bench.tid - 1];
        const struct made *made = &blocks[c2_rng_below(&rng, BLOCKS)];
        const uint32_t insns = c2_rng_below(&rng, 10) == 0 ? (uint32_t)c2_rng_below(&rng, made->block.insn_count)
                                                           : made->block.insn_count;
        /* mostly a stack that grows and shrinks by one, now and then anywhere */
        const uint64_t slot = STACK - 8 * depth;
        if (c2_rng_below(&rng, 12) == 0)
            depth = c2_rng_below(&rng, SLOTS);
        else if (insns == made->block.insn_count && made->block.ending == STREAM_CALL)
            depth = depth + 1 < SLOTS ? depth + 1 : depth;
        else if (insns == made->block.insn_count && made->block.ending == STREAM_RETURN)
            depth = depth > 0 ? depth - 1 : 0;
        depths[bench.tid - 1] = depth;
        twin_record(twin, made, insns, slot);
        bench.hold = (uint32_t)c2_rng_below(&rng, 20);
        const struct work work = execute(&bench, made, insns, slot,
                                         c2_rng_below(&rng, 3) == 0 ? 0 : (unsigned)c2_rng_below(&rng, 8));
        twin_work(twin, &work);
    }
    const bool same = same_arcs(&bench, twins, threads);
    tear_down(&bench);
    for (uint32_t t = 0; t < threads; t++)
        twin_tear_down(&twins[t]);
    return same;
}

static void as_its_twin(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++)
        if (!random_run(seed, 600, 1, false))
            fail_msg("seed %llu", (unsigned long long)seed);
}

static void threads_as_their_twins(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++)
        if (!random_run(seed, 900, 2 + seed % 2, false))
            fail_msg("seed %llu", (unsigned long long)seed);
}

/* The comparison can fail. */
static void not_as_a_broken_twin(void **state)
{
    (void)state;
    unsigned different = 0;
    for (uint64_t seed = 1; seed <= 10; seed++)
        different += !random_run(seed, 600, 1, true);
    assert_int_equal(10, different);
}

/* ------------------------------------------------------------------ by thought */

enum { MAIN = 0x1000, F = 0x2000, G = 0x3000, PLT = 0x4000 };

static const struct analyses_arc *arc_of(const struct analyses_callgraph_result *result, uint64_t from, uint64_t to)
{
    for (size_t i = 0; i < result->arc_count; i++)
        if (result->arcs[i].from.v == from && result->arcs[i].to.v == to)
            return &result->arcs[i];
    fail_msg("no call from %#llx to %#llx", (unsigned long long)from, (unsigned long long)to);
    return NULL;
}

static void expect(const struct analyses_callgraph_result *result, uint64_t from, uint64_t to, uint64_t calls,
                   uint64_t instructions)
{
    const struct analyses_arc *arc = arc_of(result, from, to);
    assert_int_equal(calls, arc->calls);
    assert_int_equal(instructions, arc->cost[ANALYSES_IR]);
}

struct program {
    struct made call_f, call_plt, jump_g, ret_f, ret_g, plt, go_on, syscall, leave;
};

/* main calls F or, through the PLT, G; F jumps to G or returns. Blocks have 2 instructions, the returning ones 3. */
static void make_program(struct program *p, struct bench *bench)
{
    make_block(&p->call_f, MAIN, 2, 4, STREAM_CALL, true, STREAM_WRITE);
    make_block(&p->call_plt, MAIN + 0x20, 2, 4, STREAM_CALL, true, STREAM_WRITE);
    make_block(&p->go_on, MAIN + 8, 2, 4, STREAM_JUMP, false, STREAM_READ);
    make_block(&p->syscall, MAIN + 0x40, 2, 2, STREAM_JUMP, false, STREAM_READ);
    make_block(&p->leave, MAIN + 0x60, 2, 4, STREAM_RETURN, true, STREAM_READ);
    make_block(&p->jump_g, F, 2, 4, STREAM_JUMP, false, STREAM_READ);
    make_block(&p->ret_f, F, 3, 4, STREAM_RETURN, true, STREAM_READ);
    make_block(&p->ret_g, G, 3, 4, STREAM_RETURN, true, STREAM_READ);
    make_block(&p->plt, PLT, 1, 4, STREAM_JUMP, true, STREAM_READ);
    entry(bench, MAIN, false);
    entry(bench, F, false);
    entry(bench, G, false);
}

static const struct analyses_callgraph_result *run(struct bench *bench, const struct made *const *blocks,
                                                   const uint64_t *slots, size_t count)
{
    const struct analyses_callgraph_result *result;
    for (size_t i = 0; i < count; i++)
        execute(bench, blocks[i], blocks[i]->block.insn_count, slots[i], 0);
    assert_int_equal(C2_OK, finish(bench, &result, NULL));
    return result;
}

/* F's frame costs its 2 instructions and G's 3; G's frame 3. The call's instruction is the second of its block. */
static void a_tail_call(void **state)
{
    (void)state;
    struct bench bench;
    struct program p;
    set_up(&bench);
    make_program(&p, &bench);
    const struct made *const blocks[] = {&p.call_f, &p.jump_g, &p.ret_g, &p.go_on};
    const struct analyses_callgraph_result *result = run(&bench, blocks, (uint64_t[]){STACK, 0, STACK, 0}, 4);
    assert_int_equal(2, result->arc_count);
    expect(result, MAIN + 4, F, 1, 5);
    expect(result, F + 4, G, 1, 3);
    tear_down(&bench);
}

/* The PLT's one instruction counts for the call of G: 1 + 3. */
static void a_plt(void **state)
{
    (void)state;
    struct bench bench;
    struct program p;
    set_up(&bench);
    make_program(&p, &bench);
    const struct made *const blocks[] = {&p.call_plt, &p.plt, &p.ret_g, &p.go_on};
    const struct analyses_callgraph_result *result = run(&bench, blocks, (uint64_t[]){STACK, 0, STACK, 0}, 4);
    assert_int_equal(1, result->arc_count);
    expect(result, MAIN + 0x24, G, 1, 4);
    tear_down(&bench);
}

/* Three frames of F within each other; the innermost jumps back into main. They are over at main's next call, whose
 * record is counted by then. The outermost has cost what was executed behind its call: five records of 2 instructions;
 * the next one 2 less, the third 4 less. Then main calls F from another place, and it returns: 3. */
static void frames_that_were_left(void **state)
{
    (void)state;
    struct bench bench;
    struct program p;
    struct made call_again;
    set_up(&bench);
    make_program(&p, &bench);
    make_block(&call_again, F, 2, 4, STREAM_CALL, true, STREAM_WRITE);
    const struct made *const blocks[] = {&p.call_f, &call_again, &call_again, &p.jump_g,
                                         &p.go_on,  &p.call_plt, &p.ret_f,    &p.go_on};
    const struct analyses_callgraph_result *result = run(
        &bench, blocks, (uint64_t[]){STACK, STACK - 16, STACK - 32, 0, 0, STACK, STACK, 0}, 8);
    assert_int_equal(3, result->arc_count);
    expect(result, MAIN + 4, F, 1, 10);
    expect(result, F + 4, F, 2, 8 + 6);
    expect(result, MAIN + 0x24, F, 1, 3);
    tear_down(&bench);
}

/* A handler is entered behind a system call of F, and returns through a slot far below: 3 instructions. Then F
 * returns. */
static void a_handler(void **state)
{
    (void)state;
    struct bench bench;
    struct program p;
    struct made calls;
    set_up(&bench);
    make_program(&p, &bench);
    make_block(&calls, F, 2, 2, STREAM_JUMP, false, STREAM_READ);
    const struct made *const blocks[] = {&p.call_f, &calls, &p.ret_g, &p.syscall, &p.leave, &p.go_on};
    const struct analyses_callgraph_result *result = run(&bench, blocks,
                                                         (uint64_t[]){STACK, 0, STACK - 800, 0, STACK, 0}, 6);
    assert_int_equal(2, result->arc_count);
    expect(result, F + 4, G, 1, 3);
    expect(result, MAIN + 4, F, 1, 2 + 3 + 2 + 2);
    tear_down(&bench);
}

/* Where no function is any more, a jump is a jump; the page beside keeps its own. */
static void memory_that_goes(void **state)
{
    (void)state;
    struct bench bench;
    struct program p;
    struct made beside;
    set_up(&bench);
    make_program(&p, &bench);
    make_block(&beside, G + 0x1000, 3, 4, STREAM_RETURN, true, STREAM_READ);
    entry(&bench, G + 0x1000, false);
    gone(&bench, 0, G);
    gone(&bench, G, 0x1000);
    gone(&bench, 1ull << 40, 1ull << 40);
    entry(&bench, F, false); /* other code is mapped there */
    const struct made *const blocks[] = {&p.call_f, &p.jump_g, &p.ret_g, &p.go_on,
                                         &p.call_f, &p.jump_g, &beside,  &p.go_on};
    const struct analyses_callgraph_result *result = run(&bench, blocks,
                                                         (uint64_t[]){STACK, 0, STACK, 0, STACK, 0, STACK, 0}, 8);
    assert_int_equal(2, result->arc_count);
    expect(result, MAIN + 4, F, 2, 5 + 5);
    expect(result, F + 4, G + 0x1000, 1, 3);
    tear_down(&bench);
}

/* Whatever allocation fails, it is said, and everything is released. */
static void no_memory(void **state)
{
    (void)state;
    bool done = false;
    for (uint64_t n = 1; !done && n < 200; n++) {
        struct bench bench = {.machine = {.line_bytes = 64, .level_count = 1}};
        struct c2_error err = {0};
        const struct analyses_callgraph_result *result;
        struct program p;
        strcpy(bench.machine.levels[0].name, "L1D");
        bench.told_tid = bench.tid = 1;
        make_block(&p.call_f, MAIN, 2, 4, STREAM_CALL, true, STREAM_WRITE);
        make_block(&p.ret_g, G, 3, 4, STREAM_RETURN, true, STREAM_READ);
        assert_int_equal(C2_OK, stream_blocks_create(&bench.blocks, NULL));
        hold(&bench, &p.call_f, 2, STACK);
        hold(&bench, &p.ret_g, 3, STACK);
        c2_alloc_fail_from(n);
        enum c2_status status = create(&bench, &err);
        if (status == C2_OK)
            status = analyses_callgraph_entry(bench.graph, (struct guest_va){G}, true, &err);
        if (status == C2_OK) {
            bench.subscriber = analysis_callgraph.subscriber(bench.graph);
            status = notify(&bench, true, &err);
        }
        if (status == C2_OK)
            status = finish(&bench, &result, &err);
        c2_alloc_fail_from(0);
        done = status == C2_OK;
        if (!done)
            assert_int_equal(C2_ERR_NO_MEMORY, status);
        if (!done)
            assert_int_equal(C2_ERR_NO_MEMORY, err.status);
        if (bench.graph)
            analysis_callgraph.destroy(bench.graph);
        stream_blocks_destroy(bench.blocks);
    }
    assert_true(done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tail_call),
        cmocka_unit_test(a_plt),
        cmocka_unit_test(frames_that_were_left),
        cmocka_unit_test(a_handler),
        cmocka_unit_test(as_its_twin),
        cmocka_unit_test(threads_as_their_twins),
        cmocka_unit_test(not_as_a_broken_twin),
        cmocka_unit_test(memory_that_goes),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
