/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Loops: those of random graphs, beside a naive search; and of records by hand.
 *
 * The twin's dominators are what can no longer be reached when a node is taken away; its natural loops what reaches an
 * arc back when the header is; its irreducible ones what reaches each other by arcs that do not go back. Sets are bits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "analyses/loops_priv.h"
#include "unit/made_level.h"

enum { MOST_NODES = 12, MOST_LOOPS = 2 * MOST_NODES, GRAPHS = 4000 };

struct drawn {
    uint32_t count, next[MOST_NODES]; /* [node]: bits, where its arcs go */
    bool root[MOST_NODES];
};
struct naive_loop {
    uint32_t header, nodes;
    bool irreducible;
};

/* From these nodes on, but through none of `without`. */
static uint32_t spread(const struct drawn *g, uint32_t from, uint32_t without)
{
    uint32_t nodes = from & ~without;
    for (uint32_t round = 0; round < g->count; round++)
        for (uint32_t i = 0; i < g->count; i++)
            if (nodes >> i & 1)
                nodes |= g->next[i] & ~without;
    return nodes;
}

static uint32_t roots(const struct drawn *g)
{
    uint32_t nodes = 0;
    for (uint32_t i = 0; i < g->count; i++)
        nodes |= (uint32_t)g->root[i] << i;
    return nodes;
}

static uint32_t reached(const struct drawn *g) { return spread(g, roots(g), 0); }

static bool arc_back(const struct drawn *g, uint32_t from, uint32_t to)
{
    return (g->next[from] >> to & 1) && (from == to || (spread(g, roots(g), 1u << to) >> from & 1) == 0);
}

static uint32_t natural(const struct drawn *g, uint32_t header)
{
    const uint32_t known = reached(g);
    uint32_t nodes = 0;
    for (uint32_t latch = 0; latch < g->count; latch++) {
        if ((known >> latch & 1) == 0 || !arc_back(g, latch, header))
            continue;
        nodes |= 1u << header | 1u << latch;
        for (uint32_t i = 0; i < g->count; i++)
            if ((known >> i & 1) && i != header && latch != header && (spread(g, 1u << i, 1u << header) >> latch & 1))
                nodes |= 1u << i;
    }
    return nodes;
}

/* What reaches the node and is reached by it, without arcs that go back; with the natural loops of those. */
static uint32_t irreducible(const struct drawn *g, uint32_t node, uint32_t *core)
{
    struct drawn forward = *g;
    const uint32_t known = reached(g);
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t k = 0; k < g->count; k++)
            if ((known >> i & 1) == 0 || arc_back(g, i, k))
                forward.next[i] &= ~(1u << k);
    *core = 0;
    for (uint32_t i = 0; i < g->count; i++)
        if ((known >> i & 1) && (spread(&forward, 1u << i, 0) >> node & 1) &&
            (spread(&forward, 1u << node, 0) >> i & 1))
            *core |= 1u << i;
    uint32_t nodes = *core;
    for (uint32_t i = 0; i < g->count; i++)
        if (*core >> i & 1)
            nodes |= natural(g, i);
    return nodes;
}

static uint32_t first_entered(const struct drawn *g, uint32_t core, uint32_t nodes)
{
    const uint32_t known = reached(g);
    for (uint32_t i = 0; i < g->count; i++) {
        bool entered = g->root[i];
        for (uint32_t k = 0; k < g->count; k++)
            entered |= (known & ~nodes) >> k & 1 && g->next[k] >> i & 1;
        if ((core >> i & 1) && entered)
            return i;
    }
    return LOOPS_NONE;
}

static uint32_t find_naively(const struct drawn *g, struct naive_loop *out)
{
    const uint32_t known = reached(g);
    uint32_t count = 0, seen = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t core;
        const uint32_t nodes = natural(g, i);
        if (nodes != 0)
            out[count++] = (struct naive_loop){i, nodes, false};
        if ((known >> i & 1) == 0 || (seen >> i & 1))
            continue;
        const uint32_t region = irreducible(g, i, &core);
        seen |= core;
        if ((core & (core - 1)) != 0)
            out[count++] = (struct naive_loop){first_entered(g, core, region), region, true};
    }
    return count;
}

static uint32_t nodes_of(const struct drawn *g, const struct loops_forest *forest, uint32_t loop)
{
    uint32_t nodes = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t around = forest->loop_of[i];
        while (around != LOOPS_NONE && around != loop)
            around = forest->loops[around].parent;
        nodes |= (uint32_t)(around == loop) << i;
    }
    return nodes;
}

/* Where a loop's nodes are all of another one's, and it has more, it is around that. */
static void check_nesting(const struct drawn *g, const struct loops_forest *forest)
{
    for (uint32_t i = 0; i < forest->count; i++) {
        const uint32_t inner = nodes_of(g, forest, i), parent = forest->loops[i].parent;
        for (uint32_t k = 0; k < forest->count; k++) {
            const uint32_t outer = nodes_of(g, forest, k), both = inner & outer;
            assert_true(both == 0 || both == inner || both == outer);
            if (parent == k)
                assert_true((inner & ~outer) == 0);
        }
    }
}

static enum c2_status find(struct loops_forest *out, const struct drawn *g)
{
    struct loops_arc arcs[MOST_NODES * MOST_NODES];
    struct loops_graph graph = {g->count, arcs, 0, g->root};
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t k = 0; k < g->count; k++)
            if (g->next[i] >> k & 1)
                arcs[graph.arc_count++] = (struct loops_arc){i, k};
    return loops_find(out, &graph, NULL);
}

static void compare(const struct drawn *g)
{
    struct naive_loop expected[MOST_LOOPS];
    struct loops_forest forest;
    const uint32_t count = find_naively(g, expected);
    assert_int_equal(C2_OK, find(&forest, g));
    assert_int_equal(count, forest.count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t same = 0;
        for (uint32_t k = 0; k < forest.count; k++)
            same += forest.loops[k].header == expected[i].header &&
                    forest.loops[k].irreducible == expected[i].irreducible &&
                    nodes_of(g, &forest, k) == expected[i].nodes;
        assert_int_equal(1, same);
    }
    check_nesting(g, &forest);
    loops_release(&forest);
}

static void random_graphs(void **state)
{
    struct c2_rng rng;
    uint64_t irreducible_ones = 0;
    (void)state;
    c2_rng_init(&rng, 1, "graphs");
    for (unsigned i = 0; i < GRAPHS; i++) {
        struct drawn g = {.count = 1 + (uint32_t)c2_rng_below(&rng, MOST_NODES)};
        const uint64_t arcs = c2_rng_below(&rng, 3 * g.count + 1);
        g.root[0] = c2_rng_below(&rng, 20) != 0;
        for (uint32_t k = 1; k < g.count; k++)
            g.root[k] = c2_rng_below(&rng, 2 * g.count) == 0;
        for (uint64_t k = 0; k < arcs; k++)
            g.next[c2_rng_below(&rng, g.count)] |= 1u << c2_rng_below(&rng, g.count);
        struct naive_loop any[MOST_LOOPS];
        for (uint32_t k = 0, count = find_naively(&g, any); k < count; k++)
            irreducible_ones += any[k].irreducible;
        compare(&g);
    }
    assert_true(irreducible_ones > GRAPHS / 50);
}

/* The comparison can fail: an arc that is taken away makes other loops. */
static void a_graph_is_compared(void **state)
{
    struct loops_forest forest;
    struct drawn g = {.count = 3, .next = {1u << 1, 1u << 2, 1u << 1}, .root = {true}};
    (void)state;
    assert_int_equal(C2_OK, find(&forest, &g));
    assert_int_equal(1, forest.count);
    assert_int_equal(1, forest.loops[0].header);
    assert_int_equal(6, nodes_of(&g, &forest, 0));
    loops_release(&forest);
    g.next[0] |= 1u << 2; /* now the two are entered at both */
    assert_int_equal(C2_OK, find(&forest, &g));
    assert_true(forest.count == 1 && forest.loops[0].irreducible);
    loops_release(&forest);
}

/* ------------------------------------------------------------------ records */

static const struct caches_machine machine = ONE_LEVEL(1024, 2);

/* Blocks of two instructions of 4 bytes without a reference: jumps; at 0x1000, 0x1004 within it, 0x2000, 0x3000. Then
 * a call at 0x4000 and a return at 0x5000. */
enum { TOP, MIDST, OTHER, THIRD, CALL, RETURN, BLOCKS };
static enum c2_status make_blocks(struct stream_blocks **out, struct c2_error *err)
{
    static const struct stream_insn bare[2] = {{0, 0, 4, 0}, {4, 0, 4, 0}};
    static const struct stream_slot write = {1, 8, STREAM_WRITE, 0}, read = {1, 8, STREAM_READ, 0};
    const struct stream_block list[BLOCKS] = {
        {{0x1000}, 8, 2, 0, STREAM_JUMP, bare, &read},  {{0x1004}, 4, 1, 0, STREAM_JUMP, bare, &read},
        {{0x2000}, 8, 2, 0, STREAM_JUMP, bare, &read},  {{0x3000}, 8, 2, 0, STREAM_JUMP, bare, &read},
        {{0x4000}, 8, 2, 1, STREAM_CALL, bare, &write}, {{0x5000}, 8, 2, 1, STREAM_RETURN, bare, &read}};
    uint32_t number;
    enum c2_status status = stream_blocks_create(out, err);
    for (unsigned i = 0; i < BLOCKS && status == C2_OK; i++)
        status = stream_blocks_add(&number, *out, &list[i], err);
    return status;
}

struct run {
    struct stream_blocks *blocks;
    struct analyses *analyses;
    struct sim *sim;
    struct stream_batch *batch;
    const struct analyses_loops_result *loops;
};

static enum c2_status start(struct run *run, struct c2_error *err)
{
    const char *const given[ANALYSES_KINDS] = {[ANALYSIS_loops] = "loop"};
    const struct analyses_setup setup = {.machine = &machine, .given = given};
    enum c2_status status = make_blocks(&run->blocks, err);
    run->batch = c2_calloc(1, sizeof *run->batch);
    if (status == C2_OK)
        status = run->batch ? analyses_create(&run->analyses, &setup, err) : C2_ERR_NO_MEMORY;
    if (status != C2_OK)
        return status;
    struct sim_config config = {
        .machine = &machine, .seed = 1, .translation = {.translate = identity}, .blocks = run->blocks};
    analyses_subscribe(run->analyses, &config);
    return sim_create(&run->sim, &config, err);
}

static void end(struct run *run)
{
    sim_destroy(run->sim);
    analyses_destroy(run->analyses);
    stream_blocks_destroy(run->blocks);
    c2_free(run->batch);
}

/* What is executed: a block, or what else there is. */
struct step {
    uint32_t block, insns;
    uint64_t slot; /* of a call or return */
    uint32_t tid;
    enum { RECORD, PHASE } what;
};

#define RUN(block, insns) \
    { \
        block, insns, 0, 1, RECORD \
    }
#define RUN_AT(block, slot) \
    { \
        block, 2, slot, 1, RECORD \
    }
#define RUN_BY(tid, block) \
    { \
        block, 2, 0, tid, RECORD \
    }
#define BEGIN(phase) \
    { \
        phase, 0, 0, 1, PHASE \
    }

static enum c2_status execute(struct run *run, const struct step *step, struct c2_error *err)
{
    struct stream_batch *batch = run->batch;
    const bool referring = step->block >= CALL;
    batch->tid = step->tid;
    batch->used = 0;
    if (step->what == PHASE) {
        batch->words[batch->used++] = stream_header(STREAM_MARK, STREAM_PHASE, 1);
        batch->words[batch->used++] = step->block;
    } else {
        batch->words[batch->used++] = stream_header(step->block, step->insns, referring);
        if (referring)
            batch->words[batch->used++] = step->slot;
    }
    return sim_consume(run->sim, batch, err);
}

static enum c2_status go(struct run *run, const struct step *steps, size_t count, struct c2_error *err)
{
    enum c2_status status = start(run, err);
    for (size_t i = 0; i < count && status == C2_OK; i++)
        status = execute(run, &steps[i], err);
    if (status == C2_OK)
        status = sim_finish(run->sim, err);
    if (status == C2_OK)
        run->loops = analyses_result(run->analyses, ANALYSIS_loops);
    return status;
}

static struct run ran(const struct step *steps, size_t count)
{
    struct run run = {.sim = NULL};
    struct c2_error err;
    assert_int_equal(C2_OK, go(&run, steps, count, &err));
    return run;
}
#define RAN(...) \
    ran((const struct step[]){__VA_ARGS__}, sizeof((const struct step[]){__VA_ARGS__}) / sizeof(struct step))

static void must(const struct run *run, uint32_t number, uint64_t header, uint64_t entries, uint64_t iterations)
{
    assert_true(number < run->loops->count);
    assert_int_equal(header, run->loops->loops[number].header.v);
    assert_int_equal(entries, run->loops->loops[number].entries);
    assert_int_equal(iterations, run->loops->loops[number].iterations);
}

/* A block that goes back to itself three times, and one that goes on. */
static void one_block(void **state)
{
    struct run run = RAN(RUN(OTHER, 2), RUN(TOP, 2), RUN(TOP, 2), RUN(TOP, 2), RUN(THIRD, 2));
    (void)state;
    assert_int_equal(1, run.loops->count);
    must(&run, 0, 0x1000, 1, 3);
    const struct analyses_profile_result *profile = analyses_result(run.analyses, ANALYSIS_profile);
    for (size_t i = 0; i < profile->insn_count; i++)
        assert_int_equal(profile->insns[i].pc.v >> 12 == 1 ? 0 : ANALYSES_NO_LOOP, run.loops->loop_of[i]);
    end(&run);
}

/* The first round runs over the place that the others begin at: it is one of the loop's nevertheless. */
static void the_first_round_begins_before(void **state)
{
    struct run run = RAN(RUN(TOP, 2), RUN(MIDST, 1), RUN(MIDST, 1), RUN(OTHER, 2));
    (void)state;
    assert_int_equal(1, run.loops->count);
    must(&run, 0, 0x1004, 1, 3);
    end(&run);
}

/* The header tests: three rounds, and once more to find that it is over. A fault cuts it in between. */
static void tested_at_the_top(void **state)
{
    struct run run = RAN(RUN(TOP, 2), RUN(OTHER, 2), RUN(TOP, 1), RUN(MIDST, 1), RUN(OTHER, 2), RUN(TOP, 2),
                         RUN(OTHER, 2), RUN(TOP, 2), RUN(THIRD, 2));
    (void)state;
    assert_int_equal(1, run.loops->count);
    must(&run, 0, 0x1000, 1, 3);
    end(&run);
}

/* The function that is called in a loop, which itself is one block, runs each time in an activation of its own; a
 * recursive call goes on where it was called. */
static void calls_are_no_edges(void **state)
{
    struct run run = RAN(RUN_AT(CALL, 0x900), RUN(OTHER, 2), RUN_AT(RETURN, 0x900), RUN(THIRD, 2), RUN_AT(CALL, 0x900),
                         RUN(OTHER, 2), RUN_AT(RETURN, 0x900), RUN(THIRD, 2));
    (void)state;
    assert_int_equal(1, run.loops->count);
    must(&run, 0, 0x4000, 1, 2);
    end(&run);
    run = RAN(RUN_AT(CALL, 0x900), RUN_AT(CALL, 0x800), RUN_AT(CALL, 0x700), RUN_AT(RETURN, 0x700),
              RUN_AT(RETURN, 0x800), RUN_AT(RETURN, 0x900), RUN(THIRD, 2));
    assert_int_equal(0, run.loops->count);
    end(&run);
}

static void threads_are_no_edges(void **state)
{
    struct run run = RAN(RUN_BY(1, TOP), RUN_BY(2, OTHER), RUN_BY(1, TOP), RUN_BY(2, OTHER), RUN_BY(2, OTHER),
                         RUN_BY(1, THIRD), RUN_BY(2, THIRD));
    (void)state;
    assert_int_equal(2, run.loops->count);
    must(&run, 0, 0x1000, 1, 2);
    must(&run, 1, 0x2000, 1, 3);
    end(&run);
}

/* Two rounds that only warm up count for nothing, but for the loop; what is skipped leads nowhere. */
static void phases(void **state)
{
    struct run run = RAN(BEGIN(STREAM_WARM), RUN(TOP, 2), RUN(TOP, 2), BEGIN(STREAM_MEASURE), RUN(TOP, 2), RUN(TOP, 2),
                         BEGIN(STREAM_SKIP), BEGIN(STREAM_MEASURE), RUN(OTHER, 2), BEGIN(STREAM_SKIP),
                         BEGIN(STREAM_MEASURE), RUN(OTHER, 2));
    (void)state;
    assert_int_equal(1, run.loops->count);
    must(&run, 0, 0x1000, 0, 2);
    end(&run);
}

static void every_allocation_may_fail(void **state)
{
    static const struct step steps[] = {RUN(TOP, 2),   RUN(OTHER, 2),       RUN(TOP, 1),
                                        RUN(MIDST, 1), RUN_AT(CALL, 0x900), RUN(THIRD, 2)};
    enum c2_status status = C2_ERR_NO_MEMORY;
    uint64_t tries = 0;
    (void)state;
    while (status != C2_OK) {
        struct run run = {.sim = NULL};
        struct c2_error err;
        c2_alloc_fail_from(++tries);
        status = go(&run, steps, sizeof steps / sizeof steps[0], &err);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK || status == C2_ERR_NO_MEMORY);
        end(&run);
    }
    assert_true(tries > 30);
}

static void words_that_are_refused(void **state)
{
    const char *const given[ANALYSES_KINDS] = {[ANALYSIS_loops] = "line"};
    const struct analyses_setup setup = {.machine = &machine, .given = given};
    struct analyses *analyses;
    struct c2_error err;
    (void)state;
    assert_int_equal(C2_ERR_INVALID, analyses_create(&analyses, &setup, &err));
    assert_string_equal("--by line: objects, lines and functions are always there; what can be added is loop",
                        err.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs),
        cmocka_unit_test(a_graph_is_compared),
        cmocka_unit_test(one_block),
        cmocka_unit_test(the_first_round_begins_before),
        cmocka_unit_test(tested_at_the_top),
        cmocka_unit_test(calls_are_no_edges),
        cmocka_unit_test(threads_are_no_edges),
        cmocka_unit_test(phases),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(words_that_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
