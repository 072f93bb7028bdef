/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * explain: what is notified of a miss against a list of all accesses that is searched from end to end: when each line
 * of the set came and was touched, when the missed one left and for which, and how many others were asked for since.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyses/explain.h"
#include "unit/made_level.h"

enum { SETS = 4, WAYS = 4, LINES = 40, ACCESSES = 600 };
static struct caches_machine machine = ONE_LEVEL(SETS * WAYS * 64, WAYS);

/* An access as it went: hits have no class. */
struct noted {
    uint64_t line, victim;
    bool missed, evicted;
};
struct run {
    struct stream_blocks *blocks;
    struct analyses *analyses;
    struct sim *sim;
    struct stream_batch *batch;
    struct noted list[ACCESSES];
    uint32_t count;
};

static enum c2_status hear(void *self, const struct sim_miss *miss, struct c2_error *err)
{
    struct run *run = self;
    struct noted *now = &run->list[run->count - 1];
    (void)err;
    assert_int_equal(now->line, miss->line.v);
    now->missed = true;
    now->evicted = miss->outcome->evicted & 1;
    now->victim = miss->outcome->event[0].victim.v;
    return C2_OK;
}

static enum c2_status make_block(struct stream_blocks **out, struct c2_error *err)
{
    static const struct stream_insn insns[1] = {{0, 0, 4, 0}};
    static const struct stream_slot slots[1] = {{0, 8, STREAM_READ, 0}};
    const struct stream_block block = {{0x1000}, 4, 1, 1, STREAM_JUMP, insns, slots};
    uint32_t number;
    enum c2_status status = stream_blocks_create(out, err);
    return status == C2_OK ? stream_blocks_add(&number, *out, &block, err) : status;
}

static enum c2_status start(struct run *run, const char *miss, const char *steps, struct c2_error *err)
{
    const char *const given[ANALYSES_KINDS] = {[ANALYSIS_explain] = miss, [ANALYSIS_excerpts] = ""};
    const char *const settings[ANALYSES_SETTING_KINDS] = {[ANALYSES_SETTING_explain_steps] = steps};
    const struct analyses_setup setup = {.machine = &machine, .given = given, .settings = settings};
    struct sim_subscriber subscribers[8];
    enum c2_status status = make_block(&run->blocks, err);
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

static enum c2_status execute(struct run *run, uint64_t line, struct c2_error *err)
{
    run->list[run->count++] = (struct noted){.line = line};
    run->batch->tid = 1;
    run->batch->used = 2;
    run->batch->words[0] = stream_header(0, 1, 1);
    run->batch->words[1] = line * 64 + 8;
    return sim_consume(run->sim, run->batch, err);
}

static void end(struct run *run)
{
    sim_destroy(run->sim);
    analyses_destroy(run->analyses);
    stream_blocks_destroy(run->blocks);
    c2_free(run->batch);
}

/* ---------------------------------------------------------------- the list, searched; times count from 1, 0: never */

static uint64_t asked_before(const struct run *run, uint64_t line, uint32_t at)
{
    for (uint32_t i = at; i-- > 0;)
        if (run->list[i].line == line)
            return i + 1;
    return 0;
}

static uint64_t missed_before(const struct run *run, uint64_t line, uint32_t at)
{
    for (uint32_t i = at; i-- > 0;)
        if (run->list[i].line == line && run->list[i].missed)
            return i + 1;
    return 0;
}

static uint64_t left_before(const struct run *run, uint64_t line, uint32_t at)
{
    for (uint32_t i = at; i-- > 0;)
        if (run->list[i].evicted && run->list[i].victim == line)
            return i + 1;
    return 0;
}

/* Other lines since; of all, or of those of the same set. */
static uint64_t others_since(const struct run *run, uint32_t at, bool of_set)
{
    const uint64_t line = run->list[at].line;
    uint64_t count = 0;
    for (uint32_t i = at; i-- > 0 && run->list[i].line != line;) {
        bool later = false;
        for (uint32_t k = i + 1; k < at; k++)
            later |= run->list[k].line == run->list[i].line;
        count += !later && (!of_set || run->list[i].line % SETS == line % SETS);
    }
    return count;
}

static void compare_line(const struct run *run, const struct explain_line *line, uint32_t at)
{
    const uint64_t number = line->line.v;
    assert_int_equal(missed_before(run, number, at), line->brought.when);
    assert_int_equal(asked_before(run, number, at), line->touched.when);
    assert_int_equal(number == run->list[at].line ? at + 1 : asked_before(run, number, at), line->asked);
}

static void compare_step(const struct run *run, const struct explain_step *step, uint32_t at)
{
    const struct noted *noted = &run->list[at];
    assert_int_equal(noted->line, step->line.v);
    assert_int_equal(noted->missed, step->class_ != CACHES_HIT);
    assert_int_equal(at + 1, step->access.when);
    for (uint32_t w = 0; w < step->set.ways; w++)
        if (step->set.way[w].holds)
            compare_line(run, &step->lines[w], at);
    if (noted->missed) {
        assert_int_equal(noted->evicted, step->set.way[step->way].holds);
        assert_true(!noted->evicted || step->set.way[step->way].line.v == noted->victim);
    }
    const uint64_t asked = asked_before(run, noted->line, at);
    assert_int_equal(asked, step->own.asked);
    if (asked == 0)
        return;
    assert_int_equal(others_since(run, at, false), step->distance);
    if (!noted->missed)
        return;
    const uint64_t left = left_before(run, noted->line, at);
    assert_int_equal(EXPLAIN_MADE_ROOM, step->own.how);
    assert_int_equal(left, step->own.left.when);
    assert_int_equal(run->list[left - 1].line, step->own.left_for.v);
}

static void compare_story(const struct run *run, const struct explain_story *story)
{
    uint32_t at = 0;
    for (uint64_t misses = 0; misses < story->of_all; at++)
        misses += run->list[at].missed;
    at--;
    const uint64_t set = run->list[at].line % SETS;
    compare_step(run, &story->steps[0], at);
    if (story->steps[0].class_ != CACHES_COLD)
        assert_int_equal(others_since(run, at, true), story->steps[0].set_distance);
    for (uint32_t i = 1; i < story->step_count; i++) {
        do
            at++;
        while (at < run->count && run->list[at].line % SETS != set);
        assert_true(at < run->count);
        compare_step(run, &story->steps[i], at);
    }
}

/* ------------------------------------------------------------------ tests */

/* miss: "": a typical one. Says the class of the miss that was notified. */
static enum caches_class explained(uint64_t seed, const char *miss)
{
    static struct run run;
    struct c2_error err;
    struct c2_rng rng;
    run = (struct run){.count = 0};
    c2_rng_init(&rng, seed, "lines");
    assert_int_equal(C2_OK, start(&run, miss, "50", &err));
    for (unsigned i = 0; i < ACCESSES; i++)
        assert_int_equal(C2_OK, execute(&run, c2_rng_below(&rng, c2_rng_below(&rng, 3) == 0 ? LINES : 12), &err));
    assert_int_equal(C2_OK, sim_finish(run.sim, &err));
    const struct analyses_explain_result *result = analyses_result(run.analyses, ANALYSIS_explain);
    assert_non_null(result->story);
    assert_int_equal(result->all, sim_measured(run.sim)->levels[0].misses);
    compare_story(&run, result->story);
    const enum caches_class class_ = result->story->steps[0].class_;
    assert_true(miss[0] != '\0' || c2_is_power_of_two(result->story->of_class));
    end(&run);
    return class_;
}

static void beside_the_list(void **state)
{
    static const enum caches_policy policies[] = {CACHES_LRU, CACHES_FIFO, CACHES_RANDOM, CACHES_TREE_PLRU,
                                                  CACHES_DRRIP};
    unsigned notified[EXPLAIN_CLASSES] = {0};
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        char miss[16];
        machine.levels[0].policy = policies[seed % (sizeof policies / sizeof policies[0])];
        snprintf(miss, sizeof miss, "%llu", (unsigned long long)(1 + seed * 7 % 120));
        notified[explained(seed, miss)]++;
        notified[explained(seed, "")]++;
    }
    machine.levels[0].policy = CACHES_LRU;
    assert_true(notified[CACHES_COLD] > 0 && notified[CACHES_CAPACITY] > 0 && notified[CACHES_CONFLICT] > 0);
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
        status = start(&run, "", "3", &err);
        for (uint64_t i = 0; i < 30 && status == C2_OK; i++)
            status = execute(&run, i * SETS % 24, &err);
        if (status == C2_OK)
            status = sim_finish(run.sim, &err);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK || status == C2_ERR_NO_MEMORY);
        end(&run);
    }
    assert_true(tries > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(beside_the_list), cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
