/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Excerpts of a run: which records are kept, however the stream is cut into batches; and the steps that are seen in
 * nests of loops made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "analyses/excerpts.h"
#include "unit/made_level.h"

static const struct caches_machine machine = ONE_LEVEL(1024, 2);

/* A nest of two loops. OUTER goes on to INNER, which reads one double and writes another, and goes back to itself or to
 * OUTER. REST is the second half of INNER. ALONE is in no loop; STRING is REP MOVSQ. */
enum { ALONE, INNER, OUTER, STRING, REST, BLOCKS };
static struct stream_blocks *make_blocks(void)
{
    static const struct stream_insn two[2] = {{0, 0, 4, 0}, {4, 1, 4, 0}}, bare[1] = {{0, 0, 4, 0}};
    static const struct stream_slot reads[2] = {{0, 8, STREAM_READ, 0}, {1, 4, STREAM_WRITE, 0}};
    static const struct stream_slot writes[1] = {{0, 4, STREAM_WRITE, 0}};
    static const struct stream_slot string[4] = {
        {0, 8, STREAM_SOURCE, 0}, {0, 8, STREAM_DESTINATION, 1}, {0, 0, STREAM_DONE, 0}, {0, 0, STREAM_REMAINING, 0}};
    const struct stream_block list[BLOCKS] = {{{0x1000}, 4, 1, 0, STREAM_JUMP, bare, reads},
                                              {{0x2000}, 8, 2, 2, STREAM_JUMP, two, reads},
                                              {{0x1ffc}, 4, 1, 0, STREAM_JUMP, bare, reads},
                                              {{0x3000}, 4, 1, 4, STREAM_JUMP, bare, string},
                                              {{0x2004}, 4, 1, 1, STREAM_JUMP, bare, writes}};
    struct stream_blocks *blocks;
    uint32_t number;
    assert_int_equal(C2_OK, stream_blocks_create(&blocks, NULL));
    for (unsigned i = 0; i < BLOCKS; i++)
        assert_int_equal(C2_OK, stream_blocks_add(&number, blocks, &list[i], NULL));
    return blocks;
}

struct run {
    struct stream_blocks *blocks;
    struct analyses *analyses;
    struct sim *sim;
    struct stream_batch *batch;
    uint32_t cut; /* words of a batch at most */
    const struct analyses_excerpts_result *found;
};

static void begin(struct run *run, uint32_t cut)
{
    const char *const given[ANALYSES_KINDS] = {NULL};
    const struct analyses_setup setup = {.machine = &machine, .given = given};
    *run = (struct run){.blocks = make_blocks(),
                        .batch = calloc(1, sizeof *run->batch),
                        .cut = cut < STREAM_BATCH_WORDS ? cut : STREAM_BATCH_WORDS};
    assert_non_null(run->batch);
    assert_int_equal(C2_OK, analyses_create(&run->analyses, &setup, NULL));
    struct sim_config config = {
        .machine = &machine, .seed = 1, .translation = {.translate = identity}, .blocks = run->blocks};
    analyses_subscribe(run->analyses, &config);
    assert_int_equal(C2_OK, sim_create(&run->sim, &config, NULL));
}

static void flush(struct run *run, uint32_t tid)
{
    run->batch->tid = tid;
    assert_int_equal(C2_OK, sim_consume(run->sim, run->batch, NULL));
    run->batch->used = 0;
}

static void put(struct run *run, uint32_t block, uint32_t insns, const uint64_t *words, uint32_t count)
{
    struct stream_batch *batch = run->batch;
    if (batch->used + count + 1 > run->cut)
        flush(run, 1);
    batch->words[batch->used++] = stream_header(block, insns, count);
    for (uint32_t i = 0; i < count; i++)
        batch->words[batch->used++] = words[i];
}

static void end(struct run *run)
{
    flush(run, 1);
    assert_int_equal(C2_OK, sim_finish(run->sim, NULL));
    run->found = analyses_result(run->analyses, ANALYSIS_excerpts);
    assert_non_null(run->found);
}

static void release(struct run *run)
{
    sim_destroy(run->sim);
    analyses_destroy(run->analyses);
    stream_blocks_destroy(run->blocks);
    free(run->batch);
}

/* for i: for k: read a + k * far + i * near, write b + k * 4 */
static void go_round(struct run *run, uint64_t rounds, uint64_t inner, uint64_t far, uint64_t near)
{
    for (uint64_t i = 0; i < rounds; i++) {
        put(run, OUTER, 1, NULL, 0);
        for (uint64_t k = 0; k < inner; k++)
            put(run, INNER, 2, (const uint64_t[]){0x100000 + k * far + i * near, 0x900000 + k * 4}, 2);
    }
}

static void nest(struct run *run, uint64_t rounds, uint64_t inner, uint64_t far, uint64_t near)
{
    put(run, ALONE, 1, NULL, 0);
    go_round(run, rounds, inner, far, near);
}

static const struct analyses_access *access_at(const struct run *run, uint64_t pc)
{
    const struct analyses_profile_result *profile = analyses_result(run->analyses, ANALYSIS_profile);
    const uint32_t insn = (uint32_t)analyses_profile_insn(profile, (struct guest_va){pc});
    for (size_t i = 0; i < run->found->access_count; i++)
        if (run->found->accesses[i].insn == insn)
            return &run->found->accesses[i];
    return NULL;
}

static void must_step(const struct analyses_access *access, unsigned depth, int64_t bytes, uint64_t times, uint64_t of)
{
    assert_int_equal(bytes, access->step[depth].bytes);
    assert_int_equal(times, access->step[depth].times);
    assert_int_equal(of, access->step[depth].of);
}

/* Ten times twenty accesses: 19 steps of the inner loop each time, nine of the outer one. */
static void a_nest_has_steps_by_depth(void **state)
{
    struct run run;
    (void)state;
    begin(&run, 1000);
    nest(&run, 10, 20, 4096, 8);
    end(&run);
    assert_int_equal(2, run.found->loops.count);
    const struct analyses_access *read = access_at(&run, 0x2000), *write = access_at(&run, 0x2004);
    assert_non_null(read);
    assert_non_null(write);
    assert_true(read->reads == 200 && read->writes == 0 && read->bytes == 8 && read->grid == 8);
    must_step(read, 0, 4096, 190, 190);
    must_step(read, 1, 8, 9, 9);
    must_step(read, 2, 0, 0, 0);
    assert_true(write->reads == 0 && write->writes == 200 && write->bytes == 4 && write->grid == 4);
    must_step(write, 0, 4, 190, 190);
    must_step(write, 1, 0, 9, 9);
    release(&run);
}

/* Elements of a string instruction are steps; one that goes downwards has negative ones. */
static void strings_step_by_elements(void **state)
{
    struct run run;
    (void)state;
    begin(&run, 1000);
    put(&run, STRING, 1, (const uint64_t[]){0x100000, 0x200000, stream_string_done(5, false), 0}, 4);
    put(&run, STRING, 1, (const uint64_t[]){0x100100, 0x200100, stream_string_done(9, true), 0}, 4);
    end(&run);
    const struct analyses_access *access = access_at(&run, 0x3000);
    assert_non_null(access);
    assert_true(access->reads == 14 && access->writes == 14); /* both sides are of one instruction and object */
    must_step(access, 0, -8, 16, 25); /* 8 + 16, and one from one record to the next on each side */
    release(&run);
}

/* Addresses without an order have no step that is the most frequent one. */
static void no_order_has_no_step(void **state)
{
    struct c2_rng rng;
    struct run run;
    (void)state;
    c2_rng_init(&rng, 1, "test");
    begin(&run, 1000);
    for (unsigned i = 0; i < 1000; i++)
        put(&run, INNER, 2, (const uint64_t[]){0x100000 + 64 * c2_rng_below(&rng, 4096), 0x900000}, 2);
    end(&run);
    const struct analyses_access *access = access_at(&run, 0x2000);
    assert_non_null(access);
    assert_true(access->step[0].of == 999 && access->step[0].times * 2 < 999);
    assert_int_equal(64, access->grid);
    assert_int_equal(0, access->steady);
    must_step(access_at(&run, 0x2004), 0, 0, 999, 999);
    release(&run);
}

/* Twenty passes in steps of 64 B, 128 B, ... have no step in common, but keep theirs: of the 49 distances of each the
 * first is a new one. */
static void steps_of_each_pass_are_steady(void **state)
{
    struct run run;
    (void)state;
    begin(&run, 1000);
    put(&run, ALONE, 1, NULL, 0);
    for (uint64_t pass = 1; pass <= 20; pass++)
        go_round(&run, 1, 50, 64 * pass, 0);
    end(&run);
    const struct analyses_access *access = access_at(&run, 0x2000);
    assert_non_null(access);
    assert_true(access->step[0].of == 20 * 49 && access->step[0].times * 2 < 20 * 49);
    assert_int_equal(20 * 48, access->steady);
    release(&run);
}

/* A write that the first rounds of a column leave out, others in each, begins in another row each time; columns are 8 B
 * apart all the same. */
static void branches_hide_no_step(void **state)
{
    struct run run;
    (void)state;
    begin(&run, 1000);
    put(&run, ALONE, 1, NULL, 0);
    for (uint64_t column = 0; column < 30; column++) {
        put(&run, OUTER, 1, NULL, 0);
        for (uint64_t row = 0; row < 20; row++) {
            const bool writes = row >= column % 7;
            put(&run, INNER, writes ? 2 : 1, (const uint64_t[]){0x100000, 0x900000 + 640 * row + 8 * column},
                writes ? 2 : 1);
        }
    }
    end(&run);
    const struct analyses_access *access = access_at(&run, 0x2004);
    assert_non_null(access);
    assert_true(access->step[0].bytes == 640 && access->step[0].times == access->step[0].of);
    must_step(access, 1, 8, 29, 29);
    release(&run);
}

/* A long run: what is kept is spread over it, and the same however it is cut into batches. The excerpts begin in the
 * midst of the nest, which is found nevertheless. */
static void batches_do_not_matter(void **state)
{
    static const uint32_t cuts[] = {4000, 3, 517};
    struct run runs[3];
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        begin(&runs[i], cuts[i]);
        nest(&runs[i], 2000, 700, 640, 8); /* 4.2 million words */
        end(&runs[i]);
    }
    for (unsigned i = 0; i < 3; i++) {
        const struct analyses_access *read = access_at(&runs[i], 0x2000), *first = access_at(&runs[0], 0x2000);
        assert_non_null(read);
        assert_int_equal(first->reads, read->reads);
        /* A third of the words of 8 excerpts of 65,536 and one of 7,697, 127 of 4,096 and one of 524,288, but for
         * OUTER's. */
        assert_true(read->reads > 525000 && read->reads < 525488);
        assert_memory_equal(first->step, read->step, sizeof read->step);
        assert_true(read->step[0].bytes == 640 && read->step[1].bytes == 8);
        assert_int_equal(2, runs[i].found->loops.count);
        assert_int_equal(runs[0].found->instructions, runs[i].found->instructions);
        assert_true(runs[i].found->instructions < 2000 * (700 * 2 + 1));
    }
    for (unsigned i = 0; i < 3; i++)
        release(&runs[i]);
}

/* Rounds of the outer loop of 105,001 words: of the excerpts one is longer. Those that begin amid a round and have the
 * next one's start have no step from there. */
static void long_rounds_have_steps(void **state)
{
    struct run run;
    (void)state;
    begin(&run, STREAM_BATCH_WORDS);
    nest(&run, 20, 35000, 4096, 8);
    end(&run);
    const struct analyses_access *read = access_at(&run, 0x2000);
    assert_non_null(read);
    must_step(read, 1, 8, 4, 4); /* rounds 2 to 6 begin in the words from 131,072 to 655,360 */
    release(&run);
}

/* What is a hundredth of the run, between two excerpts of the first series, is in a short one. */
static void short_phases_are_seen(void **state)
{
    struct run run;
    (void)state;
    begin(&run, STREAM_BATCH_WORDS);
    nest(&run, 1700, 700, 640, 8);
    for (uint64_t i = 0; i < 12000; i++) /* from word 3,571,701 */
        put(&run, STRING, 1, (const uint64_t[]){0x400000 + i * 8, 0x600000, stream_string_done(1, false), 0}, 4);
    go_round(&run, 2300, 700, 640, 8);
    end(&run);
    const struct analyses_access *string = access_at(&run, 0x3000);
    assert_non_null(string);
    assert_int_equal(819, string->reads); /* of five words each, from 3,604,481 to 3,608,575 */
    release(&run);
}

static void begin_phase(struct run *run, enum stream_phase phase)
{
    flush(run, 1);
    run->batch->words[run->batch->used++] = stream_header(STREAM_MARK, STREAM_PHASE, 1);
    run->batch->words[run->batch->used++] = phase;
}

static uint32_t loop_at(const struct run *run, uint64_t pc)
{
    const struct analyses_profile_result *profile = analyses_result(run->analyses, ANALYSIS_profile);
    return run->found->loops.loop_of[analyses_profile_insn(profile, (struct guest_va){pc})];
}

/* A sample ends behind a round of the inner loop, and the next one begins in the midst of one: nothing goes from the
 * first to the second, so the second half of the loop is no loop of its own. */
static void holes_make_no_loops(void **state)
{
    struct run run;
    (void)state;
    begin(&run, 1000);
    nest(&run, 5, 10, 640, 8);
    begin_phase(&run, STREAM_SKIP);
    begin_phase(&run, STREAM_MEASURE);
    put(&run, REST, 1, (const uint64_t[]){0x900000}, 1);
    go_round(&run, 5, 10, 640, 8);
    end(&run);
    assert_int_equal(2, run.found->loops.count);
    assert_int_equal(loop_at(&run, 0x2000), loop_at(&run, 0x2004));
    release(&run);
}

/* Turns of two threads: each goes its own way. */
static void threads_have_steps_of_their_own(void **state)
{
    struct run run;
    (void)state;
    begin(&run, 1000);
    for (uint64_t i = 0; i < 100; i++) {
        put(&run, INNER, 2, (const uint64_t[]){0x100000 + i * 8, 0x900000}, 2);
        flush(&run, 1);
        put(&run, INNER, 2, (const uint64_t[]){0x500000 + i * 8, 0x900000}, 2);
        flush(&run, 2);
    }
    end(&run);
    const struct analyses_access *access = access_at(&run, 0x2000);
    assert_non_null(access);
    must_step(access, 0, 8, 198, 198);
    release(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_nest_has_steps_by_depth),     cmocka_unit_test(strings_step_by_elements),
        cmocka_unit_test(no_order_has_no_step),          cmocka_unit_test(batches_do_not_matter),
        cmocka_unit_test(steps_of_each_pass_are_steady), cmocka_unit_test(branches_hide_no_step),
        cmocka_unit_test(holes_make_no_loops),           cmocka_unit_test(threads_have_steps_of_their_own),
        cmocka_unit_test(long_rounds_have_steps),        cmocka_unit_test(short_phases_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
