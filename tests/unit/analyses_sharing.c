/* SPDX-License-Identifier: GPL-2.0-or-later
 * How many accesses can meet: beside the equations for two threads, and beside a search through all ways to pair the
 * accesses of three. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyses/sharing.h"

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* Weidendorfer, equations 1 and 2, without the factor 2 and the -1. */
static void test_two_threads(void **state)
{
    struct c2_rng rng;
    (void)state;
    c2_rng_init(&rng, 1, "sharing");
    for (unsigned i = 0; i < 100000; i++) {
        const uint64_t limit = 1 + c2_rng_below(&rng, i % 2 ? 6 : 1000000);
        struct sharing_accesses t[2];
        for (unsigned k = 0; k < 2; k++)
            t[k] = (struct sharing_accesses){c2_rng_below(&rng, limit), c2_rng_below(&rng, limit)};
        const int64_t s0 = (int64_t)t[0].stores, s1 = (int64_t)t[1].stores, l0 = (int64_t)t[0].loads,
                      l1 = (int64_t)t[1].loads;
        const int64_t exchanges = least(s0, l1) + least(s1, l0);
        assert_int_equal(sharing_pairs(t, 2), exchanges + most(least(s0 - l1, s1 - l0), 0));
        assert_int_equal(sharing_exchanges(t, 2), exchanges);
    }
}

/* ------------------------------------------------------------------ all ways to pair */

#define MOST 4u /* counts are below */
#define STATES (MOST * MOST * MOST * MOST * MOST * MOST)

static int8_t known[2][STATES]; /* -1: not yet */

static unsigned number_of(const unsigned left[6])
{
    unsigned number = 0;
    for (unsigned i = 0; i < 6; i++)
        number = number * MOST + left[i];
    return number;
}

/* left: loads and stores of each thread. */
static int search(unsigned left[6], bool exchange)
{
    int8_t *answer = &known[exchange][number_of(left)];
    if (*answer >= 0)
        return *answer;
    int best = 0;
    for (unsigned a = 0; a < 6; a++)
        for (unsigned b = 0; b < a; b++) {
            const bool stored = a % 2 || b % 2, both = a % 2 && b % 2;
            if (a / 2 == b / 2 || !stored || (exchange && both) || left[a] == 0 || left[b] == 0)
                continue;
            left[a]--;
            left[b]--;
            const int with = 1 + search(left, exchange);
            left[a]++;
            left[b]++;
            best = with > best ? with : best;
        }
    return *answer = (int8_t)best;
}

static void test_three_threads(void **state)
{
    (void)state;
    memset(known, -1, sizeof known);
    for (unsigned n = 0; n < STATES; n++) {
        unsigned left[6], rest = n;
        for (unsigned i = 6; i-- > 0; rest /= MOST)
            left[i] = rest % MOST;
        struct sharing_accesses t[3];
        for (unsigned k = 0; k < 3; k++)
            t[k] = (struct sharing_accesses){.loads = left[2 * k], .stores = left[2 * k + 1]};
        assert_int_equal(sharing_pairs(t, 3), search(left, false));
        assert_int_equal(sharing_exchanges(t, 3), search(left, true));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_threads),
        cmocka_unit_test(test_three_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
