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

#include "mmu/buddy_priv.h"

#define FRAMES (70 * 1024 + 300) /* more than a batch of blocks, and a block that is not whole */
#define ORDERS 11

/* ------------------------------------------------------------------ the twin */

struct twin {
    uint32_t list[ORDERS][FRAMES];
    size_t count[ORDERS];
    uint32_t pcp[FRAMES];
    size_t pcp_count;
    uint32_t next_block; /* frames not yet looked at begin here */
    bool sabotage;
};

static void put(uint32_t *list, size_t *count, size_t at, uint32_t frame)
{
    memmove(list + at + 1, list + at, (*count - at) * sizeof *list);
    list[at] = frame;
    ++*count;
}

static uint32_t cut(uint32_t *list, size_t *count, size_t at)
{
    uint32_t frame = list[at];
    --*count;
    memmove(list + at, list + at + 1, (*count - at) * sizeof *list);
    return frame;
}

static size_t index_of(const struct twin *twin, unsigned order, uint32_t frame)
{
    for (size_t i = 0; i < twin->count[order]; i++) {
        if (twin->list[order][i] == frame)
            return i;
    }
    return SIZE_MAX;
}

static bool twin_look(struct twin *twin)
{
    if (twin->next_block >= FRAMES)
        return false;
    for (int i = 0; i < 64 && twin->next_block < FRAMES; i++) {
        uint32_t end = twin->next_block + 1024 < FRAMES ? twin->next_block + 1024 : FRAMES;
        while (twin->next_block < end) {
            unsigned order = 10;
            while (twin->next_block % (1u << order) || twin->next_block + (1u << order) > end)
                order--;
            put(twin->list[order], &twin->count[order], twin->count[order], twin->next_block);
            twin->next_block += 1u << order;
        }
    }
    return true;
}

static uint64_t twin_block(struct twin *twin, unsigned order)
{
    do {
        for (unsigned from = order; from < ORDERS; from++) {
            if (twin->count[from] == 0)
                continue;
            uint32_t frame = cut(twin->list[from], &twin->count[from], 0);
            while (from-- > order)
                put(twin->list[from], &twin->count[from], 0, frame + (1u << from));
            return frame;
        }
    } while (twin_look(twin));
    return BUDDY_NONE;
}

static void twin_merge(struct twin *twin, uint32_t frame, unsigned order)
{
    for (; order < 10 && index_of(twin, order, frame ^ 1u << order) != SIZE_MAX; order++) {
        cut(twin->list[order], &twin->count[order], index_of(twin, order, frame ^ 1u << order));
        frame &= ~(1u << order);
    }
    bool tail = order + 1 < 10 && index_of(twin, order + 1, (frame & ~(1u << order)) ^ 2u << order) != SIZE_MAX;
    put(twin->list[order], &twin->count[order], tail ? twin->count[order] : 0, frame);
}

static uint64_t twin_take(struct twin *twin, unsigned order)
{
    if (order > 0) {
        uint64_t frame = twin_block(twin, order);
        while (frame == BUDDY_NONE && twin->pcp_count > 0)
            twin_merge(twin, cut(twin->pcp, &twin->pcp_count, twin->pcp_count - 1), 0);
        return frame == BUDDY_NONE ? twin_block(twin, order) : frame;
    }
    for (int i = 0; twin->pcp_count == (size_t)i && i < (twin->sabotage ? 64 : 63); i++) {
        uint64_t frame = twin_block(twin, 0);
        if (frame == BUDDY_NONE)
            break;
        put(twin->pcp, &twin->pcp_count, twin->pcp_count, (uint32_t)frame);
    }
    return twin->pcp_count ? cut(twin->pcp, &twin->pcp_count, 0) : BUDDY_NONE;
}

static void twin_give(struct twin *twin, uint32_t frame, unsigned order)
{
    if (order > 0) {
        twin_merge(twin, frame, order);
        return;
    }
    put(twin->pcp, &twin->pcp_count, 0, frame);
    for (int i = 0; twin->pcp_count + (size_t)i > 6 * 63 && i < 63; i++)
        twin_merge(twin, cut(twin->pcp, &twin->pcp_count, twin->pcp_count - 1), 0);
}

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
    struct twin *twin = calloc(1, sizeof *twin);
    struct buddy *buddy = make(0, seed);
    struct c2_rng rng;
    uint64_t call = 0;
    c2_rng_init(&rng, seed, "test");
    for (twin->sabotage = sabotage; call < calls; call++) {
        bool full = call / 5000 % 2;
        if (held_count == 0 || c2_rng_below(&rng, 10) >= (full ? 6u : 3u)) {
            unsigned order = orders[c2_rng_below(&rng, sizeof orders / sizeof orders[0])];
            uint64_t frame = take(buddy, order);
            if (twin_take(twin, order) != frame)
                break;
        } else {
            struct held gone = give(buddy, c2_rng_below(&rng, held_count));
            twin_give(twin, gone.frame, gone.order);
        }
        if (call % 1000 == 0)
            buddy_check(buddy);
    }
    for (unsigned order = 0; order < ORDERS && call == calls; order++)
        assert_int_equal(buddy_blocks_of(buddy, order), twin->count[order]);
    buddy_destroy(buddy);
    free(twin);
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
        assert_true(status == C2_OK || (status == C2_ERR_NO_MEMORY && buddy == NULL));
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
        cmocka_unit_test(an_aged_machine_is_scattered_and_seeded),
        cmocka_unit_test(creation_survives_every_failing_allocation),
    };
    return cmocka_run_group_tests_name("mmu_buddy", tests, NULL, NULL);
}
