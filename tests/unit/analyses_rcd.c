/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Re-conflict distances, beside a naive count over the list of all misses; and those of a few misses by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "analyses/rcd_priv.h"
#include "unit/made_level.h"

enum { SETS = 16, WAYS = 2, THRESHOLD = 4, BLOCKS = 3, RECORDS = 4000, MOST = 2 * RECORDS, PERIOD = 7, BURST = 20 };

static struct caches_machine machine = ONE_LEVEL(SETS * WAYS * 64, WAYS); /* cores are set by tests of several */

/* Of two instructions that read once each, at 0x1000, 0x2000, 0x3000. */
static enum c2_status make_blocks(struct stream_blocks **out, struct c2_error *err)
{
    static const struct stream_insn insns[2] = {{0, 0, 4, 0}, {4, 1, 4, 0}};
    static const struct stream_slot two[2] = {{0, 8, STREAM_READ, 0}, {1, 8, STREAM_READ, 0}};
    uint32_t number;
    enum c2_status status = stream_blocks_create(out, err);
    for (uint64_t i = 0; i < BLOCKS && status == C2_OK; i++) {
        const struct stream_block block = {{0x1000 * (i + 1)}, 8, 2, 2, STREAM_JUMP, insns, two};
        status = stream_blocks_add(&number, *out, &block, err);
    }
    return status;
}

/* The misses, as they came. */
struct heard {
    uint32_t code, set, core;
    bool conflict;
};
struct run {
    struct stream_blocks *blocks;
    struct analyses *analyses;
    struct sim *sim;
    struct stream_batch *batch;
    struct heard list[MOST];
    uint32_t count;
    const struct analyses_rcd_result *rcd;
    const struct analyses_loops_result *loops;
    const struct analyses_profile_result *profile;
};

static enum c2_status hear(void *self, const struct sim_miss *miss, struct c2_error *err)
{
    struct run *run = self;
    const struct caches_event *event = &miss->outcome->event[0];
    (void)err;
    run->list[run->count++] = (struct heard){miss->code, event->set_number, miss->core,
                                             event->class_ == CACHES_CONFLICT};
    return C2_OK;
}

static enum c2_status start(struct run *run, const char *threshold, const char *samples, struct c2_error *err)
{
    const char *const given[ANALYSES_KINDS] = {[ANALYSIS_rcd] = ""};
    const char *const settings[ANALYSES_SETTING_KINDS] = {
        [ANALYSES_SETTING_rcd_below] = threshold, [ANALYSES_SETTING_rcd_sample] = samples};
    const struct analyses_setup setup = {.machine = &machine, .given = given, .settings = settings, .seed = 5};
    struct sim_subscriber subscribers[8];
    enum c2_status status = make_blocks(&run->blocks, err);
    run->batch = c2_calloc(1, sizeof *run->batch);
    if (status == C2_OK)
        status = run->batch ? analyses_create(&run->analyses, &setup, err) : C2_ERR_NO_MEMORY;
    if (status != C2_OK)
        return status;
    struct sim_config config = {
        .machine = &machine, .seed = 1, .translation = {.translate = identity}, .blocks = run->blocks};
    analyses_subscribe(run->analyses, &config);
    memcpy(subscribers, config.subscribers, config.subscriber_count * sizeof *subscribers);
    subscribers[config.subscriber_count++] = (struct sim_subscriber){.self = run, .missed = hear};
    config.subscribers = subscribers;
    return sim_create(&run->sim, &config, err);
}

static enum c2_status execute_as(struct run *run, uint32_t tid, uint32_t block, uint64_t first, uint64_t second,
                                 struct c2_error *err)
{
    run->batch->tid = tid;
    run->batch->used = 3;
    run->batch->words[0] = stream_header(block, 2, 2);
    run->batch->words[1] = first;
    run->batch->words[2] = second;
    return sim_consume(run->sim, run->batch, err);
}

static enum c2_status execute(struct run *run, uint32_t block, uint64_t first, uint64_t second, struct c2_error *err)
{
    return execute_as(run, 1, block, first, second, err);
}

static enum c2_status finish(struct run *run, struct c2_error *err)
{
    enum c2_status status = sim_finish(run->sim, err);
    if (status != C2_OK)
        return status;
    run->rcd = analyses_result(run->analyses, ANALYSIS_rcd);
    run->loops = analyses_result(run->analyses, ANALYSIS_loops);
    run->profile = analyses_result(run->analyses, ANALYSIS_profile);
    return C2_OK;
}

static void end(struct run *run)
{
    sim_destroy(run->sim);
    analyses_destroy(run->analyses);
    stream_blocks_destroy(run->blocks);
    c2_free(run->batch);
}

/* ------------------------------------------------------------------ the twin */

static uint32_t loop_of(const struct run *run, uint32_t miss)
{
    const uint64_t pc = sim_code_at(run->sim, run->list[miss].code).pc.v;
    for (size_t i = 0; i < run->profile->insn_count; i++)
        if (run->profile->insns[i].pc.v == pc)
            return run->loops->loop_of[i] == ANALYSES_NO_LOOP ? run->loops->count : run->loops->loop_of[i];
    fail_msg("no instruction at %llx", (unsigned long long)pc);
    return 0;
}

static bool same_set(const struct run *run, uint32_t a, uint32_t b)
{
    return run->list[a].set == run->list[b].set && run->list[a].core == run->list[b].core;
}

/* How many misses of its core ago the n-th before it of its set was; 0: there was none. */
static uint64_t distance(const struct run *run, uint32_t miss, unsigned n)
{
    uint64_t back = 0;
    for (uint32_t i = miss; i-- > 0;) {
        back += run->list[i].core == run->list[miss].core;
        if (same_set(run, i, miss) && --n == 0)
            return back;
    }
    return 0;
}

static void add_naively(const struct run *run, uint32_t miss, struct analyses_rcd_sum *sum, uint64_t *bins)
{
    const uint64_t single = distance(run, miss, 1), deep = distance(run, miss, WAYS);
    uint32_t bin = 0;
    sum->misses++;
    sum->conflicts += run->list[miss].conflict;
    sum->first += single == 0;
    sum->below[ANALYSES_RCD_SINGLE] += single != 0 && single < THRESHOLD;
    sum->below[ANALYSES_RCD_DEEP] += deep != 0 && deep < THRESHOLD * WAYS;
    while (single > analyses_rcd_limit(bin))
        bin++;
    bins[bin] += single != 0;
}

/* Periods end where the set's next distance is another one, or the run is over. */
static bool ends_period(const struct run *run, uint32_t miss, uint64_t *misses)
{
    const uint64_t mine = distance(run, miss, 1);
    *misses = mine;
    if (mine == 0 || mine >= THRESHOLD)
        return false;
    for (uint32_t i = miss + 1; i < run->count; i++)
        if (same_set(run, i, miss) && distance(run, i, 1) == mine)
            return false;
        else if (same_set(run, i, miss))
            break;
    for (uint32_t i = miss; i-- > 0;)
        if (same_set(run, i, miss) && distance(run, i, 1) != mine)
            return true;
        else if (same_set(run, i, miss))
            *misses += mine;
    return true;
}

static void compare_sum(const struct analyses_rcd_sum *expected, const uint64_t *bins,
                        const struct analyses_rcd_sum *sum)
{
    assert_int_equal(expected->misses, sum->misses);
    assert_int_equal(expected->conflicts, sum->conflicts);
    assert_int_equal(expected->first, sum->first);
    for (unsigned kind = 0; kind < ANALYSES_RCD_KINDS; kind++)
        assert_int_equal(expected->below[kind], sum->below[kind]);
    assert_int_equal(expected->periods, sum->periods);
    assert_int_equal(expected->period_misses, sum->period_misses);
    assert_int_equal(expected->sets, sum->sets);
    assert_memory_equal(bins, sum->bins, ANALYSES_RCD_BINS * sizeof *bins);
}

/* loop: its number; UINT32_MAX: all */
static void compare_loop(const struct run *run, uint32_t loop)
{
    struct analyses_rcd_sum expected = {.misses = 0};
    uint64_t bins[ANALYSES_RCD_BINS] = {0}, misses, used = 0;
    for (uint32_t i = 0; i < run->count; i++) {
        if (loop != UINT32_MAX && loop_of(run, i) != loop)
            continue;
        add_naively(run, i, &expected, bins);
        used |= UINT64_C(1) << run->list[i].set;
        if (!ends_period(run, i, &misses))
            continue;
        expected.periods++;
        expected.period_misses += misses;
    }
    expected.sets = (uint32_t)__builtin_popcountll(used);
    compare_sum(&expected, bins, loop == UINT32_MAX ? &run->rcd->all : &run->rcd->loops[loop]);
}

/* ------------------------------------------------------------------ samples */

/* Which misses of a core its sampler takes, and which begin a burst. */
static uint32_t sample(uint32_t *taken, bool *begins, const struct run *run, uint32_t core, const char *word,
                       uint64_t period, uint64_t burst)
{
    static uint32_t own[MOST];
    struct c2_rng rng;
    char name[64];
    uint32_t count = 0, misses = 0;
    for (uint32_t i = 0; i < run->count; i++)
        if (run->list[i].core == core)
            own[misses++] = i;
    snprintf(name, sizeof name, core == 0 ? "rcd %s" : "rcd %s, core %u", word, core);
    c2_rng_init(&rng, 5, name);
    for (uint64_t at = 0;;) {
        at += 1 + c2_rng_below(&rng, 2 * (period * burst - burst + 1) - 1);
        for (uint64_t i = 0; i < burst; i++, at += i < burst) {
            if (at > misses)
                return count;
            begins[count] = i == 0;
            taken[count++] = own[at - 1];
        }
    }
}

static uint32_t add_samples(struct analyses_rcd_sampled *sums, const struct run *run, uint32_t core, const char *word,
                            uint64_t period, uint64_t burst)
{
    static uint32_t taken[MOST];
    static bool begins[MOST];
    const uint32_t count = sample(taken, begins, run, core, word, period, burst);
    for (uint32_t i = 0, first = 0; i < count; i++) {
        const uint32_t loop = loop_of(run, taken[i]);
        struct analyses_rcd_sampled *sum = &sums[loop];
        uint64_t place = 0, found[2] = {0}; /* places back, and the two before of the set */
        first = begins[i] ? i : first;
        sum->samples++;
        for (uint32_t k = i; k-- > (burst > 1 ? first : 0);) {
            if (burst == 1 && loop_of(run, taken[k]) != loop)
                continue;
            place++;
            if (run->list[taken[k]].set == run->list[taken[i]].set)
                *(found[0] == 0 ? &found[0] : found[1] == 0 ? &found[1] : &place) += found[1] == 0 ? place : 0;
        }
        const uint64_t back = i - first;
        if (burst == 1 || back + 1 >= THRESHOLD) {
            sum->judged[0]++;
            sum->below[0] += found[0] != 0 && found[0] < THRESHOLD;
        }
        if (burst > 1 && back + 1 >= THRESHOLD * WAYS) {
            sum->judged[1]++;
            sum->below[1] += found[1] != 0 && found[1] < THRESHOLD * WAYS;
        }
    }
    return count;
}

static void compare_samples(const struct run *run, uint32_t number, const char *word, uint64_t period, uint64_t burst)
{
    struct analyses_rcd_sampled sums[8] = {{.samples = 0}};
    uint32_t count = 0;
    for (uint32_t core = 0; core < caches_machine_cores(&machine); core++)
        count += add_samples(sums, run, core, word, period, burst);
    assert_int_equal(count, run->rcd->samplings[number].samples);
    for (uint32_t i = 0; i <= run->loops->count; i++)
        assert_memory_equal(&sums[i], &run->rcd->samplings[number].loops[i], sizeof sums[i]);
}

/* Blocks in turns, each at a few lines of its own; three sets have more than their share. */
static void compare(uint32_t cores)
{
    static struct run run;
    struct c2_rng rng;
    struct c2_error err;
    machine.cores = cores;
    run.count = 0;
    c2_rng_init(&rng, 1, "misses");
    assert_int_equal(C2_OK, start(&run, "4", "7,7x20", &err));
    for (uint32_t i = 0, block = 0; i < RECORDS / 2; i++) {
        uint64_t va[2];
        block = c2_rng_below(&rng, 4) == 0 ? (uint32_t)c2_rng_below(&rng, BLOCKS) : block;
        for (unsigned k = 0; k < 2; k++)
            va[k] = 0x100000 +
                    64 * (c2_rng_below(&rng, 2) == 0 ? SETS * c2_rng_below(&rng, 5) + block : c2_rng_below(&rng, 60));
        const uint32_t tid = cores > 1 ? 1 + (uint32_t)c2_rng_below(&rng, cores + 1) : 1;
        assert_int_equal(C2_OK, execute_as(&run, tid, block, va[0], va[1], &err));
    }
    assert_int_equal(C2_OK, finish(&run, &err));
    assert_true(run.count > 500 && run.loops->count >= 2 && run.loops->count < 8);
    compare_loop(&run, UINT32_MAX);
    for (uint32_t i = 0; i <= run.loops->count; i++)
        compare_loop(&run, i);
    compare_samples(&run, 0, "7", PERIOD, 1);
    compare_samples(&run, 1, "7x20", PERIOD, BURST);
    uint64_t sum = 0;
    for (size_t i = 0; i < run.profile->object_count; i++)
        sum += run.rcd->objects[i].misses;
    assert_int_equal(run.count, sum);
    end(&run);
    machine.cores = 1;
}

static void beside_the_twin(void **state)
{
    (void)state;
    compare(1);
    compare(2);
}

/* Sets by letters. AAAA: one that is its first, then distances of 1, a period of three misses; the second and third
 * have two before them. BCBC: of each the second has 2, each a period of two misses. */
static void by_hand(void **state)
{
    static const uint64_t sets[] = {0, 0, 0, 0, 1, 2, 1, 2};
    static struct run run;
    struct c2_error err;
    (void)state;
    assert_int_equal(C2_OK, start(&run, "4", NULL, &err));
    for (uint64_t i = 0; i < 8; i += 2)
        assert_int_equal(C2_OK, execute(&run, 0, 0x100000 + 64 * (SETS * (i + 1) + sets[i]),
                                        0x100000 + 64 * (SETS * (i + 2) + sets[i + 1]), &err));
    assert_int_equal(C2_OK, finish(&run, &err));
    const struct analyses_rcd_sum *all = &run.rcd->all;
    assert_int_equal(8, all->misses);
    assert_int_equal(3, all->first);
    assert_int_equal(3, all->bins[0]);
    assert_int_equal(2, all->bins[1]);
    assert_int_equal(5, all->below[ANALYSES_RCD_SINGLE]);
    assert_int_equal(2, all->below[ANALYSES_RCD_DEEP]);
    assert_int_equal(3, all->sets);
    assert_int_equal(3, all->periods);
    assert_int_equal(3 + 2 + 2, all->period_misses);
    end(&run);
}

/* The bins' limits, and the classifier: even at the ratios of its coefficients, and rising. */
static void limits_and_probabilities(void **state)
{
    (void)state;
    assert_int_equal(1, analyses_rcd_limit(0));
    assert_int_equal(128, analyses_rcd_limit(127));
    assert_int_equal(256, analyses_rcd_limit(128));
    assert_int_equal(UINT64_MAX, analyses_rcd_limit(ANALYSES_RCD_BINS - 1));
    for (unsigned kind = 0; kind < ANALYSES_RCD_KINDS; kind++) {
        assert_true(analyses_rcd_probability((enum analyses_rcd_kind)kind, false, 0.40) < 0.5);
        assert_true(analyses_rcd_probability((enum analyses_rcd_kind)kind, false, 0.75) > 0.5);
    }
    assert_true(fabs(analyses_rcd_probability(ANALYSES_RCD_SINGLE, true, 2.3525 / 12.5544) - 0.5) < 1e-9);
}

static void words_that_are_refused(void **state)
{
    static const struct {
        const char *threshold, *samples, *message;
    } rows[] = {
        {"0", NULL, "--rcd-below 0: must be a number, 1 to 128"},
        {NULL, "x", "--rcd-sample x: must be a mean period, 1 to 10^9, or PERIODxBURST; with commas for several"},
        {NULL, "5,", "--rcd-sample : must be a mean period, 1 to 10^9, or PERIODxBURST; with commas for several"},
        {NULL, "0", "--rcd-sample 0: must be a mean period, 1 to 10^9, or PERIODxBURST; with commas for several"},
        {NULL, "9x9", "--rcd-sample 9x9: a burst must have more than 9 misses, as distances below that are counted"},
        {NULL, "1,2,3,4,5,6,7,8,9", "--rcd-sample: at most 8 periods at a time"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        static struct run run;
        struct c2_error err;
        run = (struct run){.count = 0};
        assert_int_equal(C2_ERR_INVALID, start(&run, rows[i].threshold, rows[i].samples, &err));
        assert_string_equal(rows[i].message, err.text);
        end(&run);
    }
}

static void every_allocation_may_fail(void **state)
{
    enum c2_status status = C2_ERR_NO_MEMORY;
    uint64_t tries = 0;
    (void)state;
    while (status != C2_OK) {
        static struct run run;
        struct c2_error err;
        run = (struct run){.count = 0};
        c2_alloc_fail_from(++tries);
        status = start(&run, NULL, "1,1x10", &err);
        for (uint64_t i = 0; i < 3 && status == C2_OK; i++)
            status = execute(&run, (uint32_t)i, 0x100000 + 4096 * i, 0x200000, &err);
        if (status == C2_OK)
            status = finish(&run, &err);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK || status == C2_ERR_NO_MEMORY);
        end(&run);
    }
    assert_true(tries > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beside_the_twin), cmocka_unit_test(by_hand), cmocka_unit_test(limits_and_probabilities),
        cmocka_unit_test(words_that_are_refused), cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
