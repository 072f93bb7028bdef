/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What moves on the paths, held to a slow twin: the same random program goes to a second simulator one instruction at a
 * time, whose counters are read after each; the twin sums them up by windows of its own, with lists instead of bins.
 * And a program by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <math.h>

#include "analyses/bandwidth_priv.h"
#include "unit/random_blocks.h"

#define RECORDS 2500u

/* [block][instruction]: that one alone */
static uint32_t single[BLOCKS][MAX_INSNS];

static struct caches_level level(const char *name, uint64_t bytes, uint32_t ways, enum caches_inclusion inclusion,
                                 uint32_t read, uint32_t write)
{
    struct caches_level made = {.size_bytes = bytes,
                                .ways = ways,
                                .slices = 1,
                                .hash = "none",
                                .index = inclusion == CACHES_NON_INCLUSIVE ? CACHES_VIRTUAL : CACHES_PHYSICAL,
                                .inclusion = inclusion,
                                .path = {read, write}};
    snprintf(made.name, sizeof made.name, "%s", name);
    return made;
}

/* last: what the third level is; limits: instructions a cycle in thousandths, 0: nothing is known. */
static struct caches_machine machine_with(enum caches_inclusion last, uint32_t limits)
{
    struct caches_machine made = {.name = "test",
                                  .line_bytes = 64,
                                  .physical_bytes = 1ull << 40,
                                  .has_l1i = true,
                                  .level_count = 3,
                                  .walks_cached = true,
                                  .walks_from = 1,
                                  .instruction_rate = limits,
                                  .flop_rate = limits ? 1500 : 0,
                                  .memory = {limits ? 900 : 0, limits ? 700 : 0}};
    made.levels[0] = level("L1D", 1024, 2, CACHES_NON_INCLUSIVE, limits ? 8000 : 0, limits ? 4000 : 0);
    made.l1i = level("L1I", 1024, 2, CACHES_NON_INCLUSIVE, 0, 0);
    made.levels[1] = level("L2", 4096, 4, CACHES_INCLUSIVE, limits ? 3000 : 0, 0);
    made.levels[2] = level("L3", 8192, 4, last, limits ? 2000 : 0, limits ? 1000 : 0);
    give_tlbs(&made);
    return made;
}

static void set_up(struct world *world)
{
    begin_world(world);
    for (uint32_t b = 0; b < BLOCKS; b++) {
        draw_block(world, b, true);
        world->number[b][0] = add_part(world, b, 0, world->insn_count[b]);
        for (uint32_t i = 0; i < world->insn_count[b]; i++)
            single[b][i] = add_part(world, b, i, 1);
    }
    add_string(world);
}

/* ------------------------------------------------------------------ the twin */

#define TWIN_WINDOWS 100000u
enum { FLOWS = 9 };

struct twin_window {
    uint64_t instructions, amount[FLOWS];
    uint32_t owner;
};

struct twin {
    const struct caches_machine *machine;
    struct sim *sim;
    uint64_t length;
    struct sim_totals before;
    struct twin_window *windows;
    size_t count;
    uint64_t victims[2][3]; /* of each level towards an exclusive one: all, and those of before */
    struct {
        uint32_t block;
        uint64_t instructions;
    } ran[4096]; /* in the window, in order */
    size_t ran_count;
    bool idle;
};

static enum c2_status twin_missed(void *self, const struct sim_miss *miss, struct c2_error *err)
{
    struct twin *twin = self;
    (void)err;
    for (uint32_t i = 0; i < 3; i++)
        twin->victims[0][i] += miss->outcome->evicted >> i & 1;
    return C2_OK;
}

static void twin_own(struct twin *twin, struct twin_window *window)
{
    uint64_t most = 0;
    for (size_t i = 0; i < twin->ran_count; i++) {
        uint64_t sum = 0;
        for (size_t k = 0; k < twin->ran_count; k++)
            sum += twin->ran[k].block == twin->ran[i].block ? twin->ran[k].instructions : 0;
        if (i == 0 || sum > most) {
            most = sum;
            window->owner = twin->ran[i].block;
        }
    }
}

static void twin_end(struct twin *twin)
{
    struct twin_window *window = &twin->windows[twin->count];
    bool any = false;
    for (unsigned i = 0; i < FLOWS; i++)
        any |= window->amount[i] != 0;
    twin_own(twin, window);
    twin->count += any || window->instructions != 0;
    assert_true(twin->count < TWIN_WINDOWS);
    twin->windows[twin->count] = (struct twin_window){0};
    twin->ran_count = 0;
}

/* One instruction (or part of a REP) has been simulated: what has it added? */
static void twin_step(struct twin *twin, uint32_t block, uint64_t instructions, const uint64_t core[2], uint64_t flops)
{
    struct sim_totals now;
    struct twin_window *window = &twin->windows[twin->count];
    sim_counted(&now, twin->sim);
    for (uint32_t i = 0; i < 3 && !twin->idle; i++) {
        const bool below_exclusive = i < 2 && twin->machine->levels[i + 1].inclusion == CACHES_EXCLUSIVE;
        window->amount[2 * i + 2] += 64 * (now.levels[i].misses - twin->before.levels[i].misses);
        window->amount[2 * i + 2] += i == 0 ? 64 * (now.l1i.misses - twin->before.l1i.misses) : 0;
        window->amount[2 * i + 3] += 64 * (below_exclusive
                                               ? twin->victims[0][i] - twin->victims[1][i]
                                               : now.levels[i].writebacks - twin->before.levels[i].writebacks);
    }
    memcpy(twin->victims[1], twin->victims[0], sizeof twin->victims[0]);
    twin->before = now;
    if (twin->idle)
        return;
    window->amount[0] += core[0];
    window->amount[1] += core[1];
    window->amount[8] += flops;
    window->instructions += instructions;
    twin->ran[twin->ran_count].block = block;
    twin->ran[twin->ran_count++].instructions = instructions;
    if (window->instructions == twin->length)
        twin_end(twin);
}

/* ------------------------------------------------------------------ both */

struct both {
    struct world *world;
    struct caches_machine machine;
    struct sim *fast;
    struct analyses *analyses;
    struct twin twin;
    struct stream_batch *batch, *single;
};

static void consume(struct sim *sim, struct stream_batch *batch)
{
    struct c2_error err;
    if (sim_consume(sim, batch, &err) != C2_OK)
        fail_msg("%s", err.text);
    batch->used = 0;
}

static void put(struct stream_batch *batch, uint64_t header, const uint64_t *words)
{
    batch->words[batch->used++] = header;
    if (stream_header_slots(header) != 0)
        memcpy(&batch->words[batch->used], words, stream_header_slots(header) * sizeof *words);
    batch->used += stream_header_slots(header);
}

static void put_fast(struct both *both, uint64_t header, const uint64_t *words)
{
    put(both->batch, header, words);
    if (both->batch->used + 100 > STREAM_BATCH_WORDS)
        consume(both->fast, both->batch);
}

static void put_single(struct both *both, uint64_t header, const uint64_t *words)
{
    put(both->single, header, words);
    consume(both->twin.sim, both->single);
}

static void run_string(struct both *both, uint64_t elements, uint64_t done, bool completes)
{
    struct world *world = both->world;
    const uint64_t words[4] = {0x700000 + 8ull * below(world, 1000), 0x710000 + 8ull * below(world, 1000), done,
                               elements - done};
    const uint64_t header = stream_header(world->number[STRING][0], completes, 4);
    put_fast(both, header, words);
    put_single(both, header, words);
    twin_step(&both->twin, STRING, completes, (const uint64_t[]){8 * done, 8 * done}, 0);
}

static void run_block(struct both *both, uint32_t b)
{
    struct world *world = both->world;
    uint64_t words[2 * MAX_INSNS];
    const uint32_t all = world->insn_count[b], insns = below(world, 9) == 0 ? below(world, all) : all;
    const uint16_t slots = insns == 0 ? 0 : slots_up_to(world, b, insns - 1 + 1);
    for (uint16_t i = 0; i < slots; i++)
        words[i] = 0x600000 + (below(world, 3) == 0 ? below(world, 1 << 16) : below(world, 1 << 10));
    put_fast(both, stream_header(world->number[b][0], insns, slots), words);
    for (uint32_t i = 0; i < insns; i++) {
        const struct stream_insn *insn = &world->insns[b][i];
        uint64_t core[2] = {0};
        for (uint16_t s = insn->first_slot; s < slots_up_to(world, b, i + 1); s++) {
            core[0] += world->slots[b][s].kind != STREAM_WRITE ? world->slots[b][s].size : 0;
            core[1] += world->slots[b][s].kind != STREAM_READ ? world->slots[b][s].size : 0;
        }
        put_single(both, stream_header(single[b][i], 1, slots_up_to(world, b, i + 1) - insn->first_slot),
                   words + insn->first_slot);
        twin_step(&both->twin, b, 1, core, insn->flops);
    }
}

static void run_phase(struct both *both, enum stream_phase phase)
{
    const uint64_t word = phase;
    put_fast(both, stream_header(STREAM_MARK, STREAM_PHASE, 1), &word);
    put_single(both, stream_header(STREAM_MARK, STREAM_PHASE, 1), &word);
    if (!both->twin.idle)
        twin_end(&both->twin);
    both->twin.idle = phase != STREAM_MEASURE;
}

/* What was measured so far is dropped. */
static void run_zero(struct both *both)
{
    put_fast(both, stream_header(STREAM_MARK, STREAM_ZEROED, 0), NULL);
    put_single(both, stream_header(STREAM_MARK, STREAM_ZEROED, 0), NULL);
    both->twin.count = both->twin.ran_count = 0;
    both->twin.windows[0] = (struct twin_window){0};
}

static void run_random(struct both *both)
{
    for (uint32_t i = 0; i < RECORDS; i++) {
        const uint32_t what = below(both->world, 300);
        if (what == 0)
            run_phase(both, below(both->world, 2) ? STREAM_MEASURE : STREAM_WARM);
        else if (what == 1 && i < RECORDS / 2)
            run_zero(both);
        else if (what < 8) {
            const uint64_t elements = 1 + below(both->world, 40), first = below(both->world, (uint32_t)elements);
            run_string(both, elements, first, false);
            run_string(both, elements - first, elements - first, true);
        } else
            run_block(both, below(both->world, BLOCKS));
    }
    run_phase(both, STREAM_MEASURE);
    run_block(both, 0);
}

static struct sim *make_sim(const struct both *both, const struct analyses *analyses,
                            const struct sim_subscriber *subscriber)
{
    struct sim *sim;
    struct sim_config config = {.machine = &both->machine,
                                .seed = 1,
                                .translation = {NULL, translate, walk, NULL},
                                .blocks = both->world->blocks,
                                .subscribers = subscriber,
                                .subscriber_count = 1};
    if (analyses)
        analyses_subscribe(analyses, &config);
    assert_int_equal(C2_OK, sim_create(&sim, &config, NULL));
    return sim;
}

static void begin(struct both *both, struct world *world, const struct caches_machine *machine, const char *length)
{
    *both = (struct both){.world = world, .machine = *machine};
    const char *const given[ANALYSES_KINDS] = {[ANALYSIS_profile] = "", [ANALYSIS_bandwidth] = ""};
    const char *const settings[ANALYSES_SETTING_KINDS] = {[ANALYSES_SETTING_bandwidth_window] = length};
    const struct analyses_setup setup = {.machine = &both->machine, .given = given, .settings = settings};
    const struct sim_subscriber subscriber = {.self = &both->twin, .missed = twin_missed, .in_every_phase = true};
    assert_int_equal(C2_OK, analyses_create(&both->analyses, &setup, NULL));
    both->fast = make_sim(both, both->analyses, NULL);
    both->batch = calloc(1, sizeof *both->batch);
    both->single = calloc(1, sizeof *both->single);
    both->batch->tid = both->single->tid = 1;
    both->twin = (struct twin){.machine = &both->machine, .sim = make_sim(both, NULL, &subscriber)};
    both->twin.length = strtoull(length, NULL, 10);
    both->twin.windows = calloc(TWIN_WINDOWS, sizeof *both->twin.windows);
}

static void end(struct both *both)
{
    sim_destroy(both->fast);
    sim_destroy(both->twin.sim);
    analyses_destroy(both->analyses);
    free(both->batch);
    free(both->single);
    free(both->twin.windows);
}

/* ------------------------------------------------------------------ what they say */

static void assert_near(double a, double b) { assert_true(fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b) + 1)); }

static double taken(const struct analyses_bandwidth_result *result, const struct twin_window *window, uint32_t flow)
{
    const uint32_t limit = result->flows[flow].limit;
    return limit ? (double)window->amount[flow] / (limit / 1000.0) : 0;
}

/* The flow that takes longest, or FLOWS. */
static uint32_t dominant(const struct analyses_bandwidth_result *result, const struct twin_window *window, double peak)
{
    uint32_t best = FLOWS;
    for (uint32_t i = 0; i < FLOWS && result->limited; i++)
        if (taken(result, window, i) > (best == FLOWS ? peak : taken(result, window, best)) + 1e-9)
            best = i;
    return best;
}

static void compare_flow(const struct analyses_bandwidth_result *result, const struct bandwidth_windows *windows,
                         const struct twin *twin, uint32_t flow, uint32_t block)
{
    double least = INFINITY, most = 0, lost = 0, lost_dominated = 0;
    uint64_t amount = 0, dominated = 0, instructions = 0;
    for (size_t i = 0; i < twin->count; i++) {
        const struct twin_window *w = &twin->windows[i];
        if (block != BLOCKS + 1 && w->owner != block)
            continue;
        const double peak = result->limited ? (double)w->instructions * 1000 / twin->machine->instruction_rate : 0;
        const bool dominates = dominant(result, w, peak) == flow;
        const double rate = (double)w->amount[flow] / (double)w->instructions;
        amount += w->amount[flow];
        lost += fmax(0, taken(result, w, flow) - peak);
        lost_dominated += dominates ? taken(result, w, flow) - peak : 0;
        dominated += dominates;
        instructions += dominates ? w->instructions : 0;
        least = w->instructions ? fmin(least, rate) : least;
        most = w->instructions ? fmax(most, rate) : most;
    }
    const struct bandwidth_moved *moved = &windows->flow[flow];
    assert_int_equal(moved->amount, amount);
    assert_int_equal(moved->dominated, dominated);
    assert_int_equal(moved->instructions, instructions);
    assert_near(moved->lost, lost);
    assert_near(moved->lost_dominated, lost_dominated);
    if (windows->instructions != 0) {
        assert_near(moved->least, least);
        assert_near(moved->most, most);
    }
}

/* Of the curve: windows up to each rate, by their own rates. */
static void compare_curve(const struct bandwidth_curve *curve, const struct twin *twin, uint32_t flow, bool by_flop)
{
    uint64_t beside = 0;
    double before = -1;
    size_t step = 0;
    uint64_t units = 0, expected_units = 0;
    for (; step < curve->count; step++) {
        const double rate = (double)curve->steps[step].amount / (double)curve->steps[step].units;
        assert_true(rate > before);
        before = rate;
        units += curve->steps[step].units;
    }
    for (size_t i = 0; i < twin->count; i++) {
        const uint64_t of = by_flop ? twin->windows[i].amount[8] : twin->windows[i].instructions;
        beside += of == 0 ? twin->windows[i].amount[flow] : 0;
        expected_units += of;
    }
    assert_int_equal(curve->beside, beside);
    assert_int_equal(units, expected_units);
    /* where all windows have as many instructions, how long a rate was not passed is exact */
    uint64_t up_to = 0, twin_up_to = 0;
    const uint64_t middle = curve->count ? curve->steps[curve->count / 2].amount * twin->length /
                                               curve->steps[curve->count / 2].units
                                         : 0;
    for (step = 0; step < curve->count && !by_flop; step++)
        if (curve->steps[step].amount * twin->length / curve->steps[step].units <= middle)
            up_to += curve->steps[step].units;
    for (size_t i = 0; i < twin->count && !by_flop; i++)
        if (twin->windows[i].instructions != 0 &&
            twin->windows[i].amount[flow] * twin->length / twin->windows[i].instructions <= middle)
            twin_up_to += twin->windows[i].instructions;
    assert_int_equal(up_to, twin_up_to);
}

static void compare_places(const struct analyses_bandwidth_result *result, const struct twin *twin)
{
    size_t owners = 0;
    for (uint32_t b = 0; b <= STRING; b++) {
        const uint64_t pc = b == STRING ? 0x500000 : pc_of(b);
        const struct bandwidth_place *place = NULL;
        bool owns = false;
        for (size_t i = 0; i < twin->count; i++)
            owns |= twin->windows[i].owner == b;
        for (size_t i = 0; i < result->lines.count; i++)
            place = result->lines.list[i].pc.v == pc ? &result->lines.list[i] : place;
        assert_int_equal(!!place, owns);
        owners += owns;
        for (uint32_t flow = 0; flow < FLOWS && place; flow++)
            compare_flow(result, &place->windows, twin, flow, b);
    }
    assert_int_equal(result->lines.count, owners);
    assert_int_equal(result->functions.count, 1); /* of no name */
}

static void compare(const struct both *both)
{
    const struct analyses_bandwidth_result *result = analyses_result(both->analyses, ANALYSIS_bandwidth);
    const struct twin *twin = &both->twin;
    double cycles = 0;
    assert_int_equal(result->flow_count, FLOWS);
    assert_int_equal(result->all.windows, twin->count);
    for (uint32_t flow = 0; flow < FLOWS; flow++) {
        compare_flow(result, &result->all, twin, flow, BLOCKS + 1);
        compare_flow(result, &result->functions.list[0].windows, twin, flow, BLOCKS + 1);
        compare_curve(&result->curves[BANDWIDTH_BY_INSTRUCTION][flow], twin, flow, false);
        compare_curve(&result->curves[BANDWIDTH_BY_FLOP][flow], twin, flow, true);
    }
    for (size_t i = 0; i < twin->count && result->limited; i++) {
        double longest = (double)twin->windows[i].instructions * 1000 / twin->machine->instruction_rate;
        for (uint32_t flow = 0; flow < FLOWS; flow++)
            longest = fmax(longest, taken(result, &twin->windows[i], flow));
        cycles += longest;
    }
    assert_near(result->all.cycles, cycles);
    compare_places(result, twin);
}

static void finish(struct both *both)
{
    struct c2_error err;
    consume(both->fast, both->batch);
    if (!both->twin.idle)
        twin_end(&both->twin);
    if (sim_finish(both->fast, &err) != C2_OK)
        fail_msg("%s", err.text);
}

static void test_random_programs_beside_the_twin(void **state)
{
    static const char *const lengths[] = {"1", "7", "50", "200", "1000000"};
    static const enum caches_inclusion last[] = {CACHES_NON_INCLUSIVE, CACHES_INCLUSIVE, CACHES_EXCLUSIVE};
    struct world world;
    (void)state;
    set_up(&world);
    for (unsigned i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct both both;
        const struct caches_machine machine = machine_with(last[i % 3], i == 3 ? 0 : 2000);
        begin(&both, &world, &machine, lengths[i]);
        run_random(&both);
        finish(&both);
        compare(&both);
        end(&both);
    }
    stream_blocks_destroy(world.blocks);
}

/* ------------------------------------------------------------------ by hand */

/* One instruction that loads 16 bytes and computes two operations, one that stores 8: eight rounds over two lines, in
 * windows of four. L1D has the lines after the first touch: two misses, in the first window. One instruction a cycle;
 * 4 bytes a cycle into the core: 16 x 2 = 32 bytes in a window of 4 take 8 cycles, and so half of the time is lost. The
 * memory gives 64 bytes in 64 cycles: the first window, with two lines of data, takes 128. */
static void test_by_hand(void **state)
{
    static const struct stream_insn insns[] = {{0, 0, 4, 2}, {4, 1, 4, 0}};
    static const struct stream_slot slots[] = {{0, 16, STREAM_READ, 0}, {1, 8, STREAM_WRITE, 0}};
    const struct stream_block block = {{0x1000}, 8, 2, 2, STREAM_JUMP, insns, slots};
    struct world world = {.blocks = NULL};
    struct caches_machine machine = {.name = "hand",
                                     .line_bytes = 64,
                                     .physical_bytes = 1ull << 30,
                                     .level_count = 1,
                                     .instruction_rate = 1000,
                                     .flop_rate = 4000,
                                     .memory = {1000, 0}};
    struct both both;
    (void)state;
    machine.levels[0] = level("L1D", 1024, 2, CACHES_NON_INCLUSIVE, 4000, 8000);
    assert_int_equal(C2_OK, stream_blocks_create(&world.blocks, NULL));
    assert_int_equal(C2_OK, stream_blocks_add(&world.number[0][0], world.blocks, &block, NULL));
    begin(&both, &world, &machine, "4");
    for (uint64_t i = 0; i < 8; i++)
        put_fast(&both, stream_header(0, 2, 2), (const uint64_t[]){0x2000 + i * 8, 0x3000 + i * 8});
    both.twin.idle = true;
    finish(&both);
    const struct analyses_bandwidth_result *result = analyses_result(both.analyses, ANALYSIS_bandwidth);
    assert_int_equal(result->flow_count, 5); /* core-L1D, L1D-memory, FLOPs */
    assert_string_equal(result->flows[2].path, "L1D-memory");
    assert_int_equal(result->all.windows, 4);
    assert_int_equal(result->all.instructions, 16);
    /* the last load, of 16 bytes at 0x2038, is on two lines */
    static const uint64_t amounts[] = {8 * 16, 8 * 8, 3 * 64, 0, 8 * 2};
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(result->all.flow[i].amount, amounts[i]);
    assert_near(result->all.peak_cycles, 16);
    assert_near(result->all.cycles, 128 + 8 + 8 + 64);
    assert_int_equal(result->all.flow[0].dominated, 2);
    assert_int_equal(result->all.flow[2].dominated, 2);
    assert_near(result->all.flow[0].lost, 4 * 4);
    assert_near(result->all.flow[0].lost_dominated, 2 * 4);
    assert_near(result->all.flow[2].lost, 124 + 60);
    const struct bandwidth_curve *curve = &result->curves[BANDWIDTH_BY_INSTRUCTION][2];
    assert_int_equal(curve->count, 3); /* nothing in 8 instructions, a line in 4, two lines in 4 */
    assert_int_equal(curve->steps[0].units, 8);
    assert_int_equal(curve->steps[1].amount, 64);
    assert_int_equal(curve->steps[2].dominated, 4);
    assert_int_equal(result->curves[BANDWIDTH_BY_FLOP][4].count, 1); /* an operation an operation */
    end(&both);
    stream_blocks_destroy(world.blocks);
}

/* ------------------------------------------------------------------ cores at one time */

enum { SHARED_CORES = 3, SHARED_FLOWS = 9, SHARED_WINDOWS = 300 };

/* L2 and L3 are shared: so are the paths between them, flows 4 and 5, and to memory, 6 and 7. */
static const struct caches_machine shared_machine = {
    .level_count = 3, .cores = SHARED_CORES, .levels = {{.name = "L1D"}, {.shared = true}, {.shared = true}}};

/* A window as the twin has it. */
struct placed {
    struct bandwidth_window window;
    uint32_t core, round;
    double begin, end; /* in the round */
};
static struct placed placed[SHARED_WINDOWS];

static struct analyses_bandwidth_result shared_flows(uint32_t limit)
{
    struct analyses_bandwidth_result of = {.flow_count = SHARED_FLOWS, .limited = true};
    for (uint32_t i = 0; i < SHARED_FLOWS; i++)
        of.flows[i].limit = limit;
    return of;
}

/* Rates of all windows that lie over the piece [begin, end) of a round. */
static double rate_at(uint32_t count, uint32_t round, double begin, double end, uint32_t flow, uint32_t core)
{
    double rate = 0;
    for (uint32_t i = 0; i < count; i++)
        if (placed[i].round == round && placed[i].begin <= begin && placed[i].end >= end &&
            (core == SHARED_CORES || placed[i].core == core))
            rate += (double)placed[i].window.amount[flow] / placed[i].window.cycles;
    return rate;
}

static void add_piece(struct bandwidth_together *to, uint32_t count, uint32_t round, double begin, double end,
                      uint32_t limit)
{
    uint32_t dominant = 0;
    double most = 1 + 1e-9;
    to->alone += end - begin;
    for (uint32_t flow = 4; flow < 8; flow++) {
        const double rate = rate_at(count, round, begin, end, flow, SHARED_CORES);
        to->flow[flow].most = fmax(to->flow[flow].most, rate);
        if (rate * 1000 / limit <= most)
            continue;
        most = rate * 1000 / limit;
        dominant = flow;
    }
    if (dominant == 0)
        return;
    to->flow[dominant].cycles += end - begin;
    to->flow[dominant].lost += (end - begin) * (most - 1);
    for (uint32_t core = 0; core < SHARED_CORES; core++)
        to->of_core[dominant * SHARED_CORES + core].contended += (end - begin) *
                                                                 rate_at(count, round, begin, end, dominant, core);
}

static int by_time(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Between two neighbours of all times at which a window of the round begins or ends nothing changes. */
static void add_round(struct bandwidth_together *to, uint32_t count, uint32_t round, uint32_t limit)
{
    static double times[2 * SHARED_WINDOWS];
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (placed[i].round != round)
            continue;
        times[used++] = placed[i].begin;
        times[used++] = placed[i].end;
    }
    qsort(times, used, sizeof *times, by_time);
    for (uint32_t i = 1; i < used; i++)
        if (times[i] > times[i - 1])
            add_piece(to, count, round, times[i - 1], times[i], limit);
}

/* Windows of threads in turns; numbers are small and whole, so that times are exact. */
static void random_turns(uint64_t seed, uint64_t quantum)
{
    const uint32_t limit = 4000;
    struct analyses_bandwidth_result of = shared_flows(limit);
    struct bandwidth_of_core cells[SHARED_FLOWS * SHARED_CORES] = {{0}};
    struct bandwidth_together expected = {.of_core = cells};
    struct bandwidth_shared *shared;
    struct c2_rng rng;
    uint32_t round = 0, tid = 1, in_turn = 0;
    double time[SHARED_CORES] = {0};
    bool had[SHARED_CORES] = {false};
    c2_rng_init(&rng, seed, "together");
    assert_int_equal(C2_OK, bandwidth_shared_create(&shared, &of, &shared_machine, quantum, NULL));
    for (uint32_t i = 0; i < SHARED_WINDOWS; i++) {
        const uint32_t last = tid;
        tid = i != 0 && c2_rng_below(&rng, 4) == 0 ? 1 + (uint32_t)c2_rng_below(&rng, 5) : tid;
        const bool begins = i == 0 || tid != last || (quantum != 0 && in_turn >= quantum);
        const uint32_t core = (tid - 1) % SHARED_CORES;
        if (begins && had[core]) {
            round++;
            memset(time, 0, sizeof time);
            memset(had, 0, sizeof had);
        }
        in_turn = begins ? 0 : in_turn;
        struct placed *now = &placed[i];
        *now = (struct placed){.core = core, .round = round, .begin = time[core]};
        now->window.instructions = 10;
        now->window.cycles = (double)(1 + c2_rng_below(&rng, 8)) * 4;
        for (uint32_t flow = 0; flow < SHARED_FLOWS; flow++) {
            now->window.amount[flow] = c2_rng_below(&rng, 5) * (uint64_t)now->window.cycles;
            of.all.flow[flow].amount += now->window.amount[flow];
            cells[flow * SHARED_CORES + core].amount += now->window.amount[flow];
        }
        now->end = time[core] += now->window.cycles;
        had[core] = true;
        in_turn += 10;
        assert_int_equal(C2_OK, bandwidth_shared_window(shared, tid, &now->window, NULL));
    }
    for (uint32_t i = 0; i <= round; i++)
        add_round(&expected, SHARED_WINDOWS, i, limit);
    const struct bandwidth_together *got = bandwidth_shared_result(shared);
    assert_int_equal(round + 1, got->rounds);
    assert_near(expected.alone, got->alone);
    double contended = 0;
    for (uint32_t flow = 0; flow < SHARED_FLOWS; flow++) {
        assert_int_equal(flow >= 4 && flow < 8, got->flow[flow].shared);
        assert_near(expected.flow[flow].most, got->flow[flow].most);
        assert_near(expected.flow[flow].cycles, got->flow[flow].cycles);
        assert_near(expected.flow[flow].lost, got->flow[flow].lost);
        contended += got->flow[flow].cycles;
        for (uint32_t core = 0; core < SHARED_CORES && flow + 1 < SHARED_FLOWS; core++) {
            assert_int_equal(cells[flow * SHARED_CORES + core].amount, got->of_core[flow * SHARED_CORES + core].amount);
            assert_near(cells[flow * SHARED_CORES + core].contended,
                        got->of_core[flow * SHARED_CORES + core].contended);
        }
    }
    assert_true(contended > 0 && contended < got->alone && got->parallel > 10 && got->parallel < got->rounds);
    bandwidth_shared_destroy(shared);
}

static void test_cores_beside_the_twin(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++)
        random_turns(seed, seed % 2 == 0 ? 0 : 50);
}

/* Two cores, 100 cycles each, that read 80 and 60 bytes from memory, which gives one a cycle: for 100 cycles 1.4 are
 * asked for, so 40 are lost. Then the first one alone reads 90 in 100: that is one turn more, and nothing is lost. */
static void test_cores_by_hand(void **state)
{
    struct analyses_bandwidth_result of = shared_flows(1000);
    struct bandwidth_shared *shared;
    struct bandwidth_window window = {.instructions = 10, .cycles = 100};
    (void)state;
    assert_int_equal(C2_OK, bandwidth_shared_create(&shared, &of, &shared_machine, 0, NULL));
    for (uint32_t i = 0; i < 3; i++) {
        window.amount[6] = (uint64_t[]){80, 60, 90}[i];
        assert_int_equal(C2_OK, bandwidth_shared_window(shared, 1 + i % 2, &window, NULL));
    }
    of.all.flow[6].amount = 80 + 60 + 90;
    const struct bandwidth_together *got = bandwidth_shared_result(shared);
    assert_int_equal(2, got->rounds);
    assert_int_equal(1, got->parallel);
    assert_near(200, got->alone);
    assert_near(1.4, got->flow[6].most);
    assert_near(100, got->flow[6].cycles);
    assert_near(40, got->flow[6].lost);
    assert_near(80, got->of_core[6 * SHARED_CORES].contended);
    assert_near(60, got->of_core[6 * SHARED_CORES + 1].contended);
    assert_int_equal(170, got->of_core[6 * SHARED_CORES].amount);
    bandwidth_shared_destroy(shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_random_programs_beside_the_twin),
        cmocka_unit_test(test_cores_beside_the_twin),
        cmocka_unit_test(test_cores_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
