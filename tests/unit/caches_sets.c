/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The sets of a level against their slow twin, which looks at one way after the other and keeps the order of a set as a
 * list: any number of ways, random lines, and a clock that comes to its end on the way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "caches/sets_priv.h"

#define SETS 5u

struct twin_way {
    uint32_t tag; /* 0: empty */
    bool dirty;
    uint64_t touched; /* when */
};

struct twin {
    uint32_t ways;
    uint64_t now;
    struct twin_way way[SETS][CACHES_MAX_WAYS];
};

static uint32_t twin_find(const struct twin *twin, uint32_t set, uint32_t tag)
{
    uint32_t way = 0;
    while (way < twin->ways && twin->way[set][way].tag != tag)
        way++;
    return way;
}

static uint32_t twin_oldest(const struct twin *twin, uint32_t set)
{
    uint32_t oldest = 0;
    for (uint32_t way = 0; way < twin->ways; way++) {
        if (twin->way[set][way].tag == 0)
            return way;
        if (twin->way[set][way].touched < twin->way[set][oldest].touched)
            oldest = way;
    }
    return oldest;
}

/* A line is asked for, and put where it is not; now and then one is taken out. Says whether both do the same. */
static bool step(struct cache_sets *sets, struct twin *twin, struct c2_rng *rng)
{
    const uint32_t set = (uint32_t)c2_rng_below(rng, SETS), tag = 1 + (uint32_t)c2_rng_below(rng, twin->ways * 2);
    const bool write = c2_rng_below(rng, 3) == 0;
    const uint64_t found = cache_sets_find(sets, set, tag);
    uint32_t way = twin_find(twin, set, tag);
    if (found != (way < twin->ways ? (uint64_t)1 << way : 0))
        return false;
    if (found && c2_rng_below(rng, 8) == 0) {
        const bool dirty = twin->way[set][way].dirty;
        twin->way[set][way] = (struct twin_way){.tag = 0};
        return cache_sets_empty(sets, set, found) == dirty;
    }
    if (found) {
        cache_sets_touch(sets, set, found);
    } else {
        way = twin_oldest(twin, set);
        if (cache_sets_oldest(sets, set) != way)
            return false;
        cache_sets_put(sets, set, way, tag, write);
        twin->way[set][way] = (struct twin_way){.tag = tag, .dirty = write};
    }
    twin->way[set][way].touched = ++twin->now;
    return (sets->dirty[set] >> way & 1) == twin->way[set][way].dirty;
}

/* wrong: in the middle the fast one loses an age. */
static bool same(uint32_t ways, uint64_t seed, bool wrong)
{
    static struct twin twin;
    struct cache_sets sets;
    struct c2_rng rng;
    bool equal = true;
    c2_rng_init(&rng, seed, "test");
    memset(&twin, 0, sizeof twin);
    twin.ways = ways;
    assert_int_equal(cache_sets_init(&sets, ways, SETS, NULL), C2_OK);
    for (unsigned i = 0; i < 4000 && equal; i++) {
        if (i == 2000)
            sets.clock = CACHE_SETS_AGE_LIMIT - 100;
        if (i > 2200 && wrong)
            sets.age[cache_sets_index(&sets, 1, ways - 1)] = 1;
        equal = step(&sets, &twin, &rng);
        if (!wrong)
            cache_sets_check(&sets);
    }
    assert_true(!equal || wrong || sets.clock < CACHE_SETS_AGE_LIMIT - 100);
    cache_sets_end(&sets);
    return equal;
}

static void any_ways(void **state)
{
    (void)state;
    for (uint32_t ways = 1; ways <= CACHES_MAX_WAYS; ways += ways < 24 ? 1 : 8)
        if (!same(ways, ways, false))
            fail_msg("%u ways: not the same", ways);
}

static void a_lost_age_shows(void **state)
{
    (void)state;
    assert_false(same(8, 1, true));
    assert_false(same(20, 1, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_ways), cmocka_unit_test(a_lost_age_shows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
