/* SPDX-License-Identifier: GPL-2.0-or-later
 * The generators against a naive twin, which itself is held against published outputs: SplitMix64 from seed 0,
 * xoshiro256** from the state 1 2 3 4, FNV-1a of "", "a" and "foobar". */
#include "base/base.h"

#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

/* ------------------------------------------------------------------ the twin: formulas of the papers, bit by bit */

static uint64_t slow_rotate_left(uint64_t v, int by)
{
    for (int i = 0; i < by; i++)
        v = v * 2 + (v >> 63);
    return v;
}

/* Output number n (from 0) of SplitMix64 from a seed. */
static uint64_t slow_splitmix64(uint64_t seed, uint64_t n)
{
    uint64_t z = seed;
    for (uint64_t i = 0; i <= n; i++)
        z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t slow_fnv1a(const char *text)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < strlen(text); i++) {
        hash ^= (uint64_t)(unsigned char)text[i];
        hash *= 1099511628211u;
    }
    return hash;
}

static uint64_t slow_xoshiro(uint64_t s[4])
{
    uint64_t a = s[0], b = s[1], c = s[2], d = s[3];
    c ^= a;
    d ^= b;
    s[0] = a ^ d;
    s[1] = b ^ c;
    s[2] = c ^ b << 17;
    s[3] = slow_rotate_left(d, 45);
    return slow_rotate_left(b * 5, 7) * 9;
}

static void slow_init(uint64_t s[4], uint64_t master_seed, const char *consumer)
{
    uint64_t seed = slow_splitmix64(master_seed, 0) ^ slow_fnv1a(consumer);
    for (uint64_t i = 0; i < 4; i++)
        s[i] = slow_splitmix64(seed, i);
}

/* ------------------------------------------------------------------ the twin against published outputs */

static void test_twin_splitmix64_is_the_published_one(void **state)
{
    (void)state;
    static const uint64_t published[] = {0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f,
                                         0xf88bb8a8724c81ec};
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(slow_splitmix64(0, i), published[i]);
}

static void test_twin_fnv1a_is_the_published_one(void **state)
{
    (void)state;
    assert_int_equal(slow_fnv1a(""), 0xcbf29ce484222325);
    assert_int_equal(slow_fnv1a("a"), 0xaf63dc4c8601ec8c);
    assert_int_equal(slow_fnv1a("foobar"), 0x85944171f73967e8);
}

static void test_both_xoshiros_are_the_published_one(void **state)
{
    (void)state;
    static const uint64_t published[] = {11520,
                                         0,
                                         1509978240,
                                         1215971899390074240,
                                         1216172134540287360,
                                         607988272756665600,
                                         16172922978634559625u,
                                         8476171486693032832,
                                         10595114339597558777u,
                                         2904607092377533576};
    uint64_t slow[4] = {1, 2, 3, 4};
    struct c2_rng rng = {{1, 2, 3, 4}};
    for (int i = 0; i < 10; i++) {
        assert_int_equal(slow_xoshiro(slow), published[i]);
        assert_int_equal(c2_rng_next(&rng), published[i]);
    }
}

/* ------------------------------------------------------------------ the generators against the twin */

static void test_streams_equal_the_twin(void **state)
{
    (void)state;
    static const char *const consumers[] = {"", "placement", "AT_RANDOM", "getrandom"};
    static const uint64_t seeds[] = {0, 1, 2, 0x123456789abcdef0, UINT64_MAX};
    for (int c = 0; c < 4; c++) {
        for (int i = 0; i < 5; i++) {
            struct c2_rng rng;
            uint64_t slow[4];
            c2_rng_init(&rng, seeds[i], consumers[c]);
            slow_init(slow, seeds[i], consumers[c]);
            for (int n = 0; n < 1000; n++)
                assert_int_equal(c2_rng_next(&rng), slow_xoshiro(slow));
        }
    }
}

static void test_streams_differ_by_seed_and_consumer(void **state)
{
    (void)state;
    struct c2_rng a, b, c;
    c2_rng_init(&a, 1, "placement");
    c2_rng_init(&b, 2, "placement");
    c2_rng_init(&c, 1, "getrandom");
    uint64_t from_a = c2_rng_next(&a), from_b = c2_rng_next(&b), from_c = c2_rng_next(&c);
    assert_true(from_a != from_b && from_a != from_c && from_b != from_c);
}

/* The twin draws with 128-bit arithmetic: the accepted draws are the last ones, a whole multiple of limit of them. */
static uint64_t slow_below(uint64_t s[4], uint64_t limit)
{
    unsigned __int128 all = (unsigned __int128)1 << 64, accepted = all / limit * limit;
    for (;;) {
        uint64_t draw = slow_xoshiro(s);
        if (draw >= all - accepted)
            return draw % limit;
    }
}

static void test_below_equals_the_twin(void **state)
{
    (void)state;
    static const uint64_t limits[] = {1, 2, 3, 6, 1000, 4096, (UINT64_C(1) << 63) + 1, UINT64_C(3) << 62, UINT64_MAX};
    for (int i = 0; i < 9; i++) {
        struct c2_rng rng;
        uint64_t slow[4];
        c2_rng_init(&rng, 7, "below");
        slow_init(slow, 7, "below");
        for (int n = 0; n < 1000; n++) {
            uint64_t drawn = c2_rng_below(&rng, limits[i]);
            assert_true(drawn < limits[i]);
            assert_int_equal(drawn, slow_below(slow, limits[i]));
        }
    }
}

/* With limit 3 * 2^62 a plain modulo would give the first third of the results twice as often as the rest: half of
 * all draws instead of a third. */
static void test_below_has_no_modulo_bias(void **state)
{
    (void)state;
    struct c2_rng rng;
    int low_fair = 0, low_biased = 0;
    c2_rng_init(&rng, 1, "bias");
    for (int i = 0; i < 30000; i++) {
        low_fair += c2_rng_below(&rng, UINT64_C(3) << 62) < UINT64_C(1) << 62;
        low_biased += c2_rng_next(&rng) % (UINT64_C(3) << 62) < UINT64_C(1) << 62;
    }
    assert_in_range(low_fair, 9600, 10400);
    assert_in_range(low_biased, 14600, 15400);
}

static void test_fill_is_the_draws_bytes(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes < 40; bytes++) {
        struct c2_rng rng, drawn;
        unsigned char out[48];
        memset(out, 0xee, sizeof out);
        c2_rng_init(&rng, 3, "fill");
        c2_rng_init(&drawn, 3, "fill");
        c2_rng_fill(&rng, out, bytes);
        for (size_t i = 0; i < bytes; i += 8) {
            uint64_t draw = c2_rng_next(&drawn);
            for (size_t j = 0; j < 8 && i + j < bytes; j++)
                assert_int_equal(out[i + j], draw >> (8 * j) & 0xff);
        }
        assert_int_equal(out[bytes], 0xee);
        assert_memory_equal(rng.s, drawn.s, sizeof rng.s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_twin_splitmix64_is_the_published_one),
        cmocka_unit_test(test_twin_fnv1a_is_the_published_one),
        cmocka_unit_test(test_both_xoshiros_are_the_published_one),
        cmocka_unit_test(test_streams_equal_the_twin),
        cmocka_unit_test(test_streams_differ_by_seed_and_consumer),
        cmocka_unit_test(test_below_equals_the_twin),
        cmocka_unit_test(test_below_has_no_modulo_bias),
        cmocka_unit_test(test_fill_is_the_draws_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
