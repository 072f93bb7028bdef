/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Pools: pieces do not overlap, are zeroed and aligned, whatever their sizes; texts; want of memory.
 */
#include "base/base.h"

#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define PIECES 1000u

/* Sizes around that of a block, too. Each piece is filled with its number, and all are read when all are there. */
static void pieces_do_not_overlap(void **state)
{
    (void)state;
    static unsigned char *pieces[PIECES];
    static size_t sizes[PIECES];
    struct c2_pool pool = {NULL};
    struct c2_rng rng;
    c2_rng_init(&rng, 1, "pool");
    for (size_t i = 0; i < PIECES; i++) {
        sizes[i] = i % 100 == 0 ? 16384 - 8 + i / 100 * 2 : c2_rng_below(&rng, 100);
        pieces[i] = c2_pool_get(&pool, sizes[i]);
        assert_non_null(pieces[i]);
        assert_int_equal(0, (uintptr_t)pieces[i] % _Alignof(max_align_t));
        for (size_t byte = 0; byte < sizes[i]; byte++)
            assert_int_equal(0, pieces[i][byte]);
        memset(pieces[i], (int)(i % 255) + 1, sizes[i]);
    }
    for (size_t i = 0; i < PIECES; i++) {
        for (size_t byte = 0; byte < sizes[i]; byte++)
            assert_int_equal(i % 255 + 1, pieces[i][byte]);
    }
    c2_pool_release(&pool);
    assert_null(pool.last);
}

static void texts(void **state)
{
    (void)state;
    struct c2_pool pool = {NULL};
    char *empty = c2_pool_format(&pool, "%s", ""), *text = c2_pool_format(&pool, "%s is %d", "n", 12);
    char *large = c2_pool_format(&pool, "%20000d", 7);
    assert_string_equal("", empty);
    assert_string_equal("n is 12", text);
    assert_int_equal(20000, strlen(large));
    assert_int_equal('7', large[19999]);
    c2_pool_release(&pool);
}

/* Blocks grow with the pool, up to a size; memory that was used before is zero again. */
static void many_pieces(void **state)
{
    (void)state;
    enum { SAME_BYTES = 400, MANY = 20000 };
    static const char zeros[SAME_BYTES];
    for (int round = 0; round < 2; round++) {
        struct c2_pool pool = {NULL};
        for (int i = 0; i < MANY; i++) {
            char *piece = c2_pool_get(&pool, SAME_BYTES);
            assert_non_null(piece);
            assert_memory_equal(piece, zeros, SAME_BYTES);
            memset(piece, 0xa5, SAME_BYTES);
        }
        c2_pool_release(&pool);
    }
}

/* The pool goes on when there is memory again. */
static void without_memory(void **state)
{
    (void)state;
    struct c2_pool pool = {NULL};
    c2_alloc_fail_from(1);
    assert_null(c2_pool_get(&pool, 8));
    assert_null(c2_pool_format(&pool, "text"));
    c2_alloc_fail_from(0);
    assert_string_equal("text", c2_pool_format(&pool, "text"));
    c2_pool_release(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pieces_do_not_overlap), cmocka_unit_test(texts),
                                       cmocka_unit_test(many_pieces), cmocka_unit_test(without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
