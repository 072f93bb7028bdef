/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Frames: the set against an array of flags, the policies against expectations worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mmu/frames_priv.h"

/* ------------------------------------------------------------------ the set against a naive one */

static uint64_t naive_nth_free(const bool *taken, uint64_t count, uint64_t n)
{
    for (uint64_t i = 0; i < count; i++) {
        if (!taken[i] && n-- == 0)
            return i;
    }
    return UINT64_MAX;
}

/* Random takes and gives; returns the operation whose answer differs, or `steps`. `sabotage`: a take the naive set does
 * not hear of, half way. */
static uint64_t compare_sets(uint64_t count, uint64_t steps, bool sabotage)
{
    struct frame_set set;
    struct c2_rng rng;
    c2_rng_init(&rng, count, "test");
    bool *taken = calloc(count, sizeof *taken);
    assert_int_equal(frame_set_create(&set, count, NULL), C2_OK);
    uint64_t free_count = count, step;
    for (step = 0; step < steps; step++) {
        if (sabotage && step == steps / 2 && frame_set_free_count(&set) > 0)
            frame_set_take(&set, frame_set_nth_free(&set, 0));
        if (frame_set_free_count(&set) != free_count)
            break;
        bool fill = (step / count) % 3 != 2; /* long ways up, shorter ones down: full and empty are reached */
        if (free_count > 0 && (fill || c2_rng_below(&rng, 3) == 0)) {
            uint64_t n = c2_rng_below(&rng, free_count);
            uint64_t member = naive_nth_free(taken, count, n);
            if (frame_set_nth_free(&set, n) != member)
                break;
            frame_set_take(&set, member);
            taken[member] = true;
            free_count--;
        } else {
            uint64_t member = c2_rng_below(&rng, count);
            if (taken[member] != frame_set_is_taken(&set, member))
                break;
            if (taken[member]) {
                frame_set_give(&set, member);
                taken[member] = false;
                free_count++;
            }
        }
        if (step % 64 == 0)
            frame_set_check(&set);
    }
    frame_set_release(&set);
    free(taken);
    return step;
}

static void set_equals_naive_set(void **state)
{
    (void)state;
    static const uint64_t counts[] = {1, 2, 63, 64, 65, 511, 512, 513, 1000, 1024, 1025, 3000};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        assert_int_equal(compare_sets(counts[i], 20 * counts[i], false), 20 * counts[i]);
}

static void comparison_can_fail(void **state)
{
    (void)state;
    assert_int_equal(compare_sets(3000, 2000, true), 1000);
}

static void largest_set_answers_at_its_ends(void **state)
{
    (void)state;
    struct frame_set set;
    assert_int_equal(frame_set_create(&set, MMU_FRAME_LIMIT, NULL), C2_OK);
    assert_int_equal(frame_set_nth_free(&set, 0), 0);
    assert_int_equal(frame_set_nth_free(&set, MMU_FRAME_LIMIT - 1), MMU_FRAME_LIMIT - 1);
    frame_set_take(&set, 0);
    frame_set_take(&set, MMU_FRAME_LIMIT - 1);
    frame_set_take(&set, 0x8000000);
    assert_int_equal(frame_set_nth_free(&set, 0), 1);
    assert_int_equal(frame_set_nth_free(&set, 0x7ffffff), 0x8000001);
    assert_int_equal(frame_set_nth_free(&set, MMU_FRAME_LIMIT - 4), MMU_FRAME_LIMIT - 2);
    frame_set_release(&set);
}

/* ------------------------------------------------------------------ policies by hand */

static struct frames *make(enum mmu_placement placement, uint64_t frames, uint32_t colors, uint32_t color,
                           uint64_t seed)
{
    struct mmu_config config = {.physical_bytes = frames * C2_PAGE_BYTES,
                                .placement = placement,
                                .colors = colors,
                                .color = color,
                                .seed = seed};
    struct frames *made;
    assert_int_equal(frames_create(&made, &config, NULL), C2_OK);
    return made;
}

static enum frames_answer try_place(struct frames *frames, uint64_t vpn, uint64_t *frame)
{
    return frames_place_by(frames, 0, vpn, MMU_PAGE_4K, frame);
}

static uint64_t place(struct frames *frames, uint64_t vpn)
{
    uint64_t frame = UINT64_MAX;
    assert_int_equal(try_place(frames, vpn, &frame), FRAMES_PLACED);
    return frame;
}

static void sequential_takes_the_lowest_free_frame(void **state)
{
    (void)state;
    struct frames *frames = make(MMU_SEQUENTIAL, 6, 1, 0, 1);
    uint64_t top;
    assert_int_equal(place(frames, 900), 0);
    assert_int_equal(place(frames, 7), 1);
    assert_int_equal(place(frames, 8), 2);
    assert_true(frames_take_top(frames, &top));
    assert_int_equal(top, 5);
    frames_give(frames, 2);
    frames_give(frames, 0); /* freed last, and lowest: first again */
    assert_int_equal(place(frames, 1), 0);
    assert_int_equal(place(frames, 2), 2);
    assert_int_equal(place(frames, 3), 3);
    assert_true(frames_take_top(frames, &top));
    assert_int_equal(top, 4);
    uint64_t frame;
    assert_int_equal(try_place(frames, 4, &frame), FRAMES_EXHAUSTED);
    assert_false(frames_take_top(frames, &top));
    frames_give(frames, 5);
    assert_int_equal(place(frames, 4), 5);
    frames_check(frames);
    frames_destroy(frames);
}

static void identity_is_the_page_modulo_the_frames(void **state)
{
    (void)state;
    struct frames *frames = make(MMU_IDENTITY, 10, 1, 0, 1);
    assert_int_equal(place(frames, 3), 3);
    assert_int_equal(place(frames, 1234567), 7);
    uint64_t frame;
    assert_int_equal(try_place(frames, 13, &frame), FRAMES_CLASH);
    assert_int_equal(frame, 3);
    frames_give(frames, 3);
    assert_int_equal(place(frames, 13), 3);
    frames_destroy(frames);
}

/* Frames 1, 4, 7, 10 are of colour 1 of 3; a table from the top may take one of them. */
static void same_color_stays_in_its_color(void **state)
{
    (void)state;
    struct frames *frames = make(MMU_SAME_COLOR, 11, 3, 1, 1);
    uint64_t frame, top;
    assert_int_equal(place(frames, 1), 1);
    assert_int_equal(place(frames, 2), 4);
    assert_true(frames_take_top(frames, &top));
    assert_int_equal(top, 10);
    assert_int_equal(place(frames, 3), 7);
    assert_int_equal(try_place(frames, 4, &frame), FRAMES_EXHAUSTED);
    assert_int_equal(frames_total(frames) - frames_taken(frames), 7);
    frames_give(frames, 10);
    assert_int_equal(place(frames, 4), 10);
    frames_give(frames, 4);
    assert_int_equal(place(frames, 5), 4);
    frames_check(frames);
    frames_destroy(frames);
}

/* A colour that no frame has. */
static void same_color_beyond_memory_is_exhausted(void **state)
{
    (void)state;
    struct frames *frames = make(MMU_SAME_COLOR, 5, 64, 5, 1);
    uint64_t frame;
    assert_int_equal(try_place(frames, 0, &frame), FRAMES_EXHAUSTED);
    assert_true(frames_take_top(frames, &frame));
    assert_int_equal(frame, 4);
    frames_destroy(frames);
}

/* The n-th free frame for the uniform n of the generator's stream, to the last frame, each frame once. */
static void random_follows_its_stream(void **state)
{
    (void)state;
    enum { COUNT = 700 };
    struct frames *frames = make(MMU_RANDOM, COUNT, 1, 0, 42);
    struct c2_rng rng;
    c2_rng_init(&rng, 42, "placement");
    bool taken[COUNT] = {0};
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t expected = naive_nth_free(taken, COUNT, c2_rng_below(&rng, COUNT - i));
        assert_int_equal(place(frames, i), expected);
        taken[expected] = true;
    }
    uint64_t frame;
    assert_int_equal(try_place(frames, 0, &frame), FRAMES_EXHAUSTED);
    frames_destroy(frames);
}

/* Third draw out of 8 frames, 8000 seeds: each frame 1000 times, within 5 standard deviations (29.6 each). */
static void random_is_uniform(void **state)
{
    (void)state;
    unsigned hits[8] = {0};
    for (uint64_t seed = 0; seed < 8000; seed++) {
        struct frames *frames = make(MMU_RANDOM, 8, 1, 0, seed);
        place(frames, 0);
        place(frames, 1);
        hits[place(frames, 2)]++;
        frames_destroy(frames);
    }
    for (unsigned i = 0; i < 8; i++)
        assert_in_range(hits[i], 852, 1148);
}

static void creation_survives_every_failing_allocation(void **state)
{
    (void)state;
    struct mmu_config config = {.physical_bytes = 1 << 20, .placement = MMU_SAME_COLOR, .colors = 4, .color = 1};
    struct frames *frames = NULL;
    uint64_t n = 0;
    enum c2_status status;
    do {
        c2_alloc_fail_from(++n);
        status = frames_create(&frames, &config, NULL);
        assert_true(status == C2_OK || (status == C2_ERR_NO_MEMORY && !frames));
    } while (status != C2_OK);
    c2_alloc_fail_from(0);
    assert_int_equal(n, 12); /* the object, three sets of two arrays each, the policies, a hint for each size */
    frames_destroy(frames);
}

/* ------------------------------------------------------------------ policies by name */

static void parse_knows_every_policy(void **state)
{
    (void)state;
    static const enum mmu_placement all[] = {MMU_SEQUENTIAL, MMU_RANDOM, MMU_IDENTITY, MMU_SAME_COLOR};
    for (size_t i = 0; i < 4; i++) {
        struct mmu_config config = {.colors = 9, .color = 7, .seed = 5, .placement = MMU_RANDOM};
        assert_int_equal(mmu_placement_parse(&config, mmu_placement_name(all[i]), NULL), C2_OK);
        assert_int_equal(config.placement, all[i]);
        assert_int_equal(config.color, 0);
        assert_int_equal(config.colors, 9);
        assert_int_equal(config.seed, 5);
    }
    struct mmu_config config = {0};
    assert_int_equal(mmu_placement_parse(&config, "same-color,color=12", NULL), C2_OK);
    assert_int_equal(config.placement, MMU_SAME_COLOR);
    assert_int_equal(config.color, 12);
}

static void parse_refuses_by_name(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"sequental", "did you mean \"sequential\"?"},
        {"", "no page placement policy \"\""},
        {"random,seed=3", "\"random\" has no key \"seed\""},
        {"same-color,colour=3", "did you mean \"color\"?"},
        {"same-color,color", "needs a value"},
        {"same-color,color=x", "color"},
        {"same-color,color=4294967296", "too large"},
        {"same-color,", "has no key \"\""},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct mmu_config config = {.placement = MMU_IDENTITY, .color = 3};
        struct c2_error err = {0};
        assert_int_equal(mmu_placement_parse(&config, bad[i][0], &err), C2_ERR_INVALID);
        if (!strstr(err.text, bad[i][1]))
            fail_msg("%s: \"%s\" lacks \"%s\"", bad[i][0], err.text, bad[i][1]);
        assert_int_equal(config.placement, MMU_IDENTITY);
        assert_int_equal(config.color, 3);
    }
    c2_alloc_fail_from(1);
    struct mmu_config config = {0};
    assert_int_equal(mmu_placement_parse(&config, "random", NULL), C2_ERR_NO_MEMORY);
    c2_alloc_fail_from(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_equals_naive_set),
        cmocka_unit_test(comparison_can_fail),
        cmocka_unit_test(largest_set_answers_at_its_ends),
        cmocka_unit_test(sequential_takes_the_lowest_free_frame),
        cmocka_unit_test(identity_is_the_page_modulo_the_frames),
        cmocka_unit_test(same_color_stays_in_its_color),
        cmocka_unit_test(same_color_beyond_memory_is_exhausted),
        cmocka_unit_test(random_follows_its_stream),
        cmocka_unit_test(random_is_uniform),
        cmocka_unit_test(creation_survives_every_failing_allocation),
        cmocka_unit_test(parse_knows_every_policy),
        cmocka_unit_test(parse_refuses_by_name),
    };
    return cmocka_run_group_tests_name("mmu_frames", tests, NULL, NULL);
}
