/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The buddy allocator against a slow twin: plain arrays for lists, a byte a frame for what is free. Every frame that a
 * fresh machine gives must be the twin's; of an aged one, conservation, alignment and the distribution are checked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/mmu_buddy_twin.h"

#define FRAMES (70 * 1024 + 300) /* more than a batch of blocks, and a block that is not whole */

/* ------------------------------------------------------------------ random calls */

struct held {
    uint32_t frame;
    unsigned order;
};
static struct held held[FRAMES];
static size_t held_count;
static uint8_t owner[FRAMES]; /* 0 free, 1 taken, 2 in use by others */
static uint64_t others;

static void occupy(void *self, uint64_t frame)
{
    (void)self;
    assert_int_equal(owner[frame], 0);
    owner[frame] = 2;
    others++;
}

static struct buddy *make(uint32_t age, uint64_t seed)
{
    struct buddy_config config = {.frames = FRAMES, .age = age, .seed = seed, .occupy = occupy};
    struct buddy *buddy;
    memset(owner, 0, sizeof owner);
    held_count = others = 0;
    assert_int_equal(buddy_create(&buddy, &config, NULL), C2_OK);
    return buddy;
}

static void own(uint64_t frame, unsigned order, uint8_t was, uint8_t is)
{
    assert_int_equal(frame % (1u << order), 0);
    assert_true(frame + (1u << order) <= FRAMES);
    for (uint64_t i = frame; i < frame + (1u << order); i++) {
        assert_int_equal(owner[i], was);
        owner[i] = is;
    }
}

static uint64_t take(struct buddy *buddy, unsigned order)
{
    uint64_t frame = buddy_take(buddy, order);
    if (frame == BUDDY_NONE)
        return frame;
    own(frame, order, 0, 1);
    held[held_count++] = (struct held){(uint32_t)frame, order};
    return frame;
}

static struct held give(struct buddy *buddy, size_t i)
{
    struct held gone = held[i];
    held[i] = held[--held_count];
    own(gone.frame, gone.order, 1, 0);
    buddy_give(buddy, gone.frame, gone.order);
    return gone;
}

/* Memory fills and empties in waves. Returns the call after which the two differ, or `calls`. */
static uint64_t run(uint64_t seed, uint64_t calls, bool sabotage)
{
    static const unsigned orders[] = {0, 0, 0, 0, 0, 0, 0, 0, 9, 9, 3, 10};
    struct buddy_twin *twin = buddy_twin_create(FRAMES, NULL);
    struct buddy *buddy = make(0, seed);
    struct c2_rng rng;
    uint64_t call = 0;
    c2_rng_init(&rng, seed, "test");
    for (twin->refills_too_much = sabotage; call < calls; call++) {
        bool full = call / 5000 % 2;
        if (held_count == 0 || c2_rng_below(&rng, 10) >= (full ? 6u : 3u)) {
            unsigned order = orders[c2_rng_below(&rng, sizeof orders / sizeof orders[0])];
            uint64_t frame = take(buddy, order);
            if (buddy_twin_take(twin, order) != frame)
                break;
        } else {
            struct held gone = give(buddy, c2_rng_below(&rng, held_count));
            buddy_twin_give(twin, gone.frame, gone.order);
        }
        if (call % 1000 == 0)
            buddy_check(buddy);
    }
    for (unsigned order = 0; order < BUDDY_ORDERS && call == calls; order++)
        assert_int_equal(buddy_blocks_of(buddy, order), twin->order[order].count);
    buddy_destroy(buddy);
    buddy_twin_destroy(twin);
    return call;
}

static void fresh_equals_twin(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++)
        assert_int_equal(run(seed, 40000, false), 40000);
}

/* A twin that refills by 64 differs as soon as lists are not whole blocks. */
static void comparison_can_fail(void **state)
{
    (void)state;
    assert_in_range(run(1, 40000, true), 64, 20000);
}

/* ------------------------------------------------------------------ by hand */

static void a_fresh_machine_gives_ascending_frames(void **state)
{
    (void)state;
    struct buddy *buddy = make(0, 1);
    for (uint64_t i = 0; i < 3000; i++)
        assert_int_equal(take(buddy, 0), i);
    /* 48 refills of 63 have eaten 3024 frames: blocks 0 and 1, and the third up to 976 */
    assert_int_equal(take(buddy, 9), 3072);
    assert_int_equal(take(buddy, 10), 4096);
    buddy_give(buddy, 17, 0);
    buddy_give(buddy, 5, 0); /* the last that came back goes first */
    assert_int_equal(buddy_take(buddy, 0), 5);
    assert_int_equal(buddy_take(buddy, 0), 17);
    assert_int_equal(buddy_take(buddy, 0), 3000);
    assert_int_equal(others, 0);
    buddy_check(buddy);
    buddy_destroy(buddy);
}

static void everything_given_back_merges(void **state)
{
    (void)state;
    struct buddy *buddy = make(0, 1);
    while (take(buddy, 0) != BUDDY_NONE)
        continue;
    assert_int_equal(held_count, FRAMES);
    assert_int_equal(buddy_free_frames(buddy), 0);
    while (held_count > 0)
        give(buddy, held_count / 2);
    assert_int_equal(take(buddy, 9) % 512, 0); /* empties the per-CPU list if it has to */
    give(buddy, 0);
    buddy_check(buddy);
    uint64_t whole = 0;
    while (take(buddy, 10) != BUDDY_NONE)
        whole++;
    assert_int_equal(whole, 70);
    buddy_destroy(buddy);
}

/* The highest 4 MiB not looked at, from the top: here the last 300 frames. */
static void tables_live_in_blocks_of_their_own(void **state)
{
    (void)state;
    struct buddy *buddy = make(0, 1);
    for (uint64_t i = 1; i <= 300; i++)
        assert_int_equal(buddy_take_for_table(buddy), FRAMES - i);
    assert_int_equal(buddy_take_for_table(buddy), 70 * 1024 - 1);
    assert_int_equal(buddy_take(buddy, 0), 0);
    buddy_give(buddy, FRAMES - 7, 0);
    assert_int_equal(buddy_take_for_table(buddy), FRAMES - 7);
    buddy_check(buddy);
    buddy_destroy(buddy);
}

/* ------------------------------------------------------------------ age */

static uint64_t runs_of[1025]; /* by length, in the last machine measured; a run ends with its block */

static void count_runs(void)
{
    memset(runs_of, 0, sizeof runs_of);
    for (uint64_t i = 0, length = 0; i < FRAMES; i++) {
        length += owner[i] != 2;
        const bool ends = i + 1 == FRAMES || (i + 1) % 1024 == 0 || owner[i + 1] == 2;
        if (length > 0 && ends)
            runs_of[length]++, length = 0;
    }
}

/* Of all runs. */
static double share_longer_than(unsigned length)
{
    uint64_t all = 0, longer = 0;
    for (unsigned i = 1; i <= 1024; i++) {
        all += runs_of[i];
        longer += i > length ? runs_of[i] : 0;
    }
    return (double)longer / (double)all;
}

/* Looks at all of memory, then measures free runs inside the blocks. */
static void measure(uint32_t age, double *share, double *mean)
{
    struct buddy *buddy = make(age, 7);
    while (take(buddy, 10) != BUDDY_NONE)
        continue;
    uint64_t runs = 0, free_frames = 0;
    for (uint64_t i = 0; i < FRAMES; i++) {
        free_frames += owner[i] != 2;
        runs += owner[i] != 2 && (i % 1024 == 0 || owner[i - 1] == 2);
    }
    *share = (double)others / FRAMES;
    *mean = (double)free_frames / (double)runs;
    assert_int_equal(free_frames + others, FRAMES);
    count_runs();
    while (held_count > 0)
        give(buddy, 0);
    assert_int_equal(buddy_free_frames(buddy), free_frames);
    buddy_check(buddy);
    buddy_destroy(buddy);
}

/* Mean free run 1024^(1-a), share in use a/2; runs end with their block, which shortens long ones. */
static void age_follows_its_distribution(void **state)
{
    (void)state;
    double share, mean;
    measure(1000, &share, &mean);
    assert_true(share == 0.5 && mean == 1.0); /* every second frame, exactly */
    measure(700, &share, &mean);              /* 8 */
    assert_true(share > 0.34 && share < 0.36 && mean > 7.7 && mean < 8.3);
    measure(500, &share, &mean); /* 32 */
    assert_true(share > 0.235 && share < 0.265 && mean > 29.0 && mean < 33.5);
    measure(0, &share, &mean);
    assert_true(share == 0.0);
}

/* Geometric with mean 8: a run is longer than k with probability (7/8)^k: 0.875, 0.344, 0.118, 0.0139 for 1, 8, 16, 32.
 * Some 5,800 runs (70 * 1024 frames, 8 free and 4.3 used by turns), so 5 standard deviations are 0.022, 0.031, 0.021,
 * 0.008. The ends of blocks cut one run in 83. */
static void free_runs_are_geometric(void **state)
{
    (void)state;
    static const struct {
        unsigned length;
        double share, spread;
    } rows[] = {{1, 0.875, 0.022}, {8, 0.344, 0.031}, {16, 0.118, 0.021}, {32, 0.0139, 0.008}};
    double share, mean;
    measure(700, &share, &mean);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double distance = share_longer_than(rows[i].length) - rows[i].share;
        if (distance > rows[i].spread || -distance > rows[i].spread)
            fail_msg("runs longer than %u: off by %g", rows[i].length, distance);
    }
    measure(1000, &share, &mean); /* mean 1: all runs are of one frame */
    assert_true(share_longer_than(1) == 0.0);
}

static void an_aged_machine_is_scattered_and_seeded(void **state)
{
    (void)state;
    uint64_t first[3][500], neighbours = 0;
    for (int k = 0; k < 3; k++) {
        struct buddy *buddy = make(700, k == 2 ? 8 : 7);
        for (int i = 0; i < 500; i++) {
            first[k][i] = take(buddy, 0);
            neighbours += k == 0 && i > 0 && first[k][i] == first[k][i - 1] + 1;
        }
        for (int i = 0; i < 20000; i++) { /* conservation under load; own() and occupy() check */
            if (i % 3 == 2)
                give(buddy, (size_t)i % held_count);
            else
                take(buddy, i % 50 ? 0 : 2);
        }
        buddy_check(buddy);
        buddy_destroy(buddy);
    }
    assert_memory_equal(first[0], first[1], sizeof first[0]);
    assert_memory_not_equal(first[0], first[2], sizeof first[0]);
    assert_in_range(neighbours, 0, 100);
}

static void creation_survives_every_failing_allocation(void **state)
{
    (void)state;
    struct buddy_config config = {.frames = 3000, .occupy = occupy};
    struct buddy *buddy = NULL;
    enum c2_status status;
    uint64_t n = 0;
    do {
        c2_alloc_fail_from(++n);
        status = buddy_create(&buddy, &config, NULL);
        assert_true(status == C2_OK || (status == C2_ERR_NO_MEMORY && !buddy));
    } while (status != C2_OK);
    c2_alloc_fail_from(0);
    assert_int_equal(n, 9); /* the object, five arrays, a set of two */
    buddy_destroy(buddy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fresh_equals_twin),
        cmocka_unit_test(comparison_can_fail),
        cmocka_unit_test(a_fresh_machine_gives_ascending_frames),
        cmocka_unit_test(everything_given_back_merges),
        cmocka_unit_test(tables_live_in_blocks_of_their_own),
        cmocka_unit_test(age_follows_its_distribution),
        cmocka_unit_test(free_runs_are_geometric),
        cmocka_unit_test(an_aged_machine_is_scattered_and_seeded),
        cmocka_unit_test(creation_survives_every_failing_allocation),
    };
    return cmocka_run_group_tests_name("mmu_buddy", tests, NULL, NULL);
}
