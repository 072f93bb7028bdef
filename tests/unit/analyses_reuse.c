/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Reuse distances, held to a list that is searched from its front; where lines are removed as well, to caches of all
 * sizes, one by one; and what misses() makes of a histogram.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyses/reuse.h"
#include "analyses/reuse_stack_priv.h"

/* The lines accessed, the youngest first. */
struct list {
    uint64_t *lines;
    uint64_t count, room;
};

static uint64_t list_access(struct list *list, uint64_t line)
{
    uint64_t at = 0;
    while (at < list->count && list->lines[at] != line)
        at++;
    const bool cold = at == list->count;
    if (cold && list->count++ == list->room) {
        list->room = list->room * 2 + 64;
        list->lines = realloc(list->lines, list->room * sizeof *list->lines);
        assert_non_null(list->lines);
    }
    memmove(list->lines + 1, list->lines, at * sizeof *list->lines);
    list->lines[0] = line;
    return cold ? REUSE_COLD : at;
}

/* Strides, hot places, far ones: what makes distances of all sizes. */
static uint64_t random_line(struct c2_rng *rng, uint64_t i, uint64_t spread)
{
    switch (c2_rng_below(rng, 4)) {
    case 0:
        return 0x100000 + i % spread;
    case 1:
        return c2_rng_below(rng, 8);
    case 2:
        return ((uint64_t)1 << 57) - 1 - 64 * c2_rng_below(rng, spread);
    default:
        return 0x5000 + c2_rng_below(rng, spread / 3 + 1) * 3;
    }
}

static void the_same_as_a_list(uint64_t seed, uint64_t accesses, uint64_t spread, uint64_t break_at)
{
    struct list list = {.count = 0};
    struct reuse_stack *stack;
    struct c2_rng rng;
    uint64_t differ = 0, distance;
    c2_rng_init(&rng, seed, "test");
    assert_int_equal(C2_OK, reuse_stack_create(&stack, NULL));
    for (uint64_t i = 0; i < accesses; i++) {
        const uint64_t line = random_line(&rng, i, spread);
        assert_int_equal(C2_OK, reuse_stack_access(stack, line, &distance, NULL));
        differ += list_access(&list, break_at != 0 && i == break_at ? line + 1 : line) != distance;
        if (i % 4000 == 0 && break_at == 0)
            reuse_stack_check(stack);
        if (i == accesses / 2 && break_at == 0) {
            reuse_stack_empty(stack);
            list.count = 0;
        }
    }
    assert_true((differ != 0) == (break_at != 0));
    reuse_stack_check(stack);
    reuse_stack_destroy(stack);
    free(list.lines);
}

static void distances_are_those_of_a_list(void **state)
{
    (void)state;
    the_same_as_a_list(1, 3000, 5, 0);
    the_same_as_a_list(2, 30000, 300, 0);
    the_same_as_a_list(3, 30000, 4000, 0); /* renumbered, and grown */
    the_same_as_a_list(4, 40000, 50, 0);
    the_same_as_a_list(5, 3000, 50, 1000); /* the list is notified another line once */
}

/* ------------------------------------------------------------------ lines that are removed */

enum { SIZES = 48 };

/* A cache of so many lines, the youngest first. */
struct cache {
    uint64_t lines[SIZES + 1];
    uint32_t count;
};

static bool cache_remove(struct cache *cache, uint64_t line)
{
    uint32_t at = 0;
    while (at < cache->count && cache->lines[at] != line)
        at++;
    if (at == cache->count)
        return false;
    cache->count--;
    memmove(&cache->lines[at], &cache->lines[at + 1], (cache->count - at) * sizeof line);
    return true;
}

static bool cache_access(struct cache *cache, uint32_t size, uint64_t line)
{
    const bool had = cache_remove(cache, line);
    cache->count -= cache->count == size;
    memmove(&cache->lines[1], cache->lines, cache->count++ * sizeof line);
    cache->lines[0] = line;
    return had;
}

/* Returns how often a cache disagreed. mutant: they lose another line. */
static uint64_t caches_of_all_sizes(uint64_t seed, uint64_t accesses, bool mutant)
{
    static struct cache caches[SIZES + 1];
    static bool taken[2 * SIZES], seen[2 * SIZES];
    struct reuse_stack *stack;
    struct c2_rng rng;
    uint64_t differ = 0, distance;
    memset(caches, 0, sizeof caches);
    memset(taken, 0, sizeof taken);
    memset(seen, 0, sizeof seen);
    c2_rng_init(&rng, seed, "holes");
    assert_int_equal(C2_OK, reuse_stack_create(&stack, NULL));
    for (uint64_t i = 0; i < accesses; i++) {
        const uint64_t line = c2_rng_below(&rng, c2_rng_below(&rng, 2) == 0 ? 8 : 2 * SIZES);
        if (c2_rng_below(&rng, 3) == 0) {
            assert_int_equal(C2_OK, reuse_stack_remove(stack, line, NULL));
            taken[line] = seen[line];
            for (uint32_t size = 1; size <= SIZES; size++)
                cache_remove(&caches[size], mutant ? line + 1 : line);
            continue;
        }
        assert_int_equal(C2_OK, reuse_stack_access(stack, line, &distance, NULL));
        differ += (distance == REUSE_COLD) != !seen[line] || (distance == REUSE_TAKEN) != taken[line];
        seen[line] = true;
        taken[line] = false;
        for (uint32_t size = 1; size <= SIZES; size++)
            differ += cache_access(&caches[size], size, line) != (distance < size);
        if (i % 512 == 0)
            reuse_stack_check(stack);
    }
    reuse_stack_check(stack);
    reuse_stack_destroy(stack);
    return differ;
}

static void removed_lines_leave_room(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++)
        assert_int_equal(0, caches_of_all_sizes(seed, 9000, false)); /* renumbered */
    assert_true(caches_of_all_sizes(4, 200, true) != 0);
}

/* a b c, and b is removed: a cache of two lines has c and a free place, one of three has a as well. d fills it, and
 * nothing leaves that of two: c is second. a stands third still, behind d and c: a cache of two has lost it when c
 * came. With a at the front the place of b is gone. b then was removed. */
static void removed_by_hand(void **state)
{
    static const uint64_t lines[] = {10, 20, 30, 0, 40, 30, 10, 20};
    static const uint64_t want[] = {REUSE_COLD, REUSE_COLD, REUSE_COLD, 0, REUSE_COLD, 1, 2, REUSE_TAKEN};
    struct reuse_stack *stack;
    (void)state;
    assert_int_equal(C2_OK, reuse_stack_create(&stack, NULL));
    for (unsigned i = 0; i < 8; i++) {
        uint64_t distance = 0;
        if (lines[i] == 0)
            assert_int_equal(C2_OK, reuse_stack_remove(stack, 20, NULL));
        else
            assert_int_equal(C2_OK, reuse_stack_access(stack, lines[i], &distance, NULL));
        assert_int_equal(want[i], distance);
    }
    reuse_stack_destroy(stack);
}

/* a b c a: two others between; b: two (c, a); b: none; d: cold. */
static void by_hand(void **state)
{
    static const uint64_t lines[] = {10, 20, 30, 10, 20, 20, 40, 10};
    static const uint64_t want[] = {REUSE_COLD, REUSE_COLD, REUSE_COLD, 2, 2, 0, REUSE_COLD, 2};
    struct reuse_stack *stack;
    (void)state;
    assert_int_equal(C2_OK, reuse_stack_create(&stack, NULL));
    for (unsigned i = 0; i < 8; i++) {
        uint64_t distance;
        assert_int_equal(C2_OK, reuse_stack_access(stack, lines[i], &distance, NULL));
        assert_int_equal(want[i], distance);
    }
    reuse_stack_destroy(stack);
}

/* 5 at distance 0, 3 at 1, 2 at 3, 4 at 6, 7 cold. */
static void misses_of_every_size(void **state)
{
    static const uint64_t exact[] = {5, 3, 0, 2, 0, 0, 4};
    struct analyses_reuse_stack stack = {.accesses = 21, .exact = exact, .exact_count = 7};
    static const uint64_t want[] = {16, 13, 13, 11, 11, 11, 7, 7, 7};
    (void)state;
    stack.by_size.count[0] = 5, stack.by_size.count[1] = 3, stack.by_size.count[2] = 2, stack.by_size.count[3] = 4;
    stack.by_size.count[ANALYSES_REUSE_COLD] = 7;
    for (uint64_t lines = 1; lines <= 9; lines++)
        assert_int_equal(want[lines - 1], analyses_reuse_misses(&stack, lines));
    assert_int_equal(7, analyses_reuse_misses(&stack, UINT64_C(1) << 40));
    stack.exact_count = 2; /* beyond, powers of two */
    assert_int_equal(13, analyses_reuse_misses(&stack, 2));
    assert_int_equal(11, analyses_reuse_misses(&stack, 3));
    assert_int_equal(11, analyses_reuse_misses(&stack, 4));
    assert_int_equal(7, analyses_reuse_misses(&stack, 8));
}

static void want_of_memory_is_said(void **state)
{
    enum c2_status status = C2_ERR_NO_MEMORY;
    (void)state;
    for (uint64_t n = 1; status != C2_OK && n < 1000; n++) {
        struct c2_error err;
        struct reuse_stack *stack;
        uint64_t distance;
        c2_alloc_fail_from(n);
        status = reuse_stack_create(&stack, &err);
        for (uint64_t line = 0; line < 3 * 64 * 64 && status == C2_OK; line += 7)
            status = line % 5 == 0 ? reuse_stack_remove(stack, line - 7, &err)
                                   : reuse_stack_access(stack, line, &distance, &err);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK || status == C2_ERR_NO_MEMORY);
        reuse_stack_destroy(stack);
    }
    assert_int_equal(C2_OK, status);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_those_of_a_list),
        cmocka_unit_test(removed_lines_leave_room),
        cmocka_unit_test(removed_by_hand),
        cmocka_unit_test(by_hand),
        cmocka_unit_test(misses_of_every_size),
        cmocka_unit_test(want_of_memory_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
