/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The sets of a level against their slow twin, which has ways and when each was touched; and all forms of the accesses
 * that search them, for whatever the host has, against the scalar one: machines of the shapes that are compiled for and
 * of others, random lines, every set compared word by word.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "caches/contents_priv.h"

#define SETS 5u

/* ------------------------------------------------------------------ one set after the other */

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

static struct twin_way *twin_find(struct twin *twin, uint32_t set, uint32_t tag)
{
    for (uint32_t way = 0; way < twin->ways; way++)
        if (twin->way[set][way].tag == tag)
            return &twin->way[set][way];
    return NULL;
}

static struct twin_way *twin_oldest(struct twin *twin, uint32_t set)
{
    struct twin_way *oldest = twin->way[set];
    for (uint32_t way = 0; way < twin->ways; way++) {
        if (twin->way[set][way].tag == 0)
            return &twin->way[set][way];
        if (twin->way[set][way].touched < oldest->touched)
            oldest = &twin->way[set][way];
    }
    return oldest;
}

/* A line is asked for, and put where it is not; now and then one is taken out. Says whether both do the same. */
static bool step(struct cache_sets *sets, struct twin *twin, struct c2_rng *rng)
{
    const uint32_t set = (uint32_t)c2_rng_below(rng, SETS), tag = 1 + (uint32_t)c2_rng_below(rng, twin->ways * 2);
    const bool write = c2_rng_below(rng, 3) == 0;
    uint32_t *words = cache_sets_at(sets, set);
    const uint32_t place = cache_sets_find(words, tag, sets->ways);
    struct twin_way *way = twin_find(twin, set, tag);
    if ((place < sets->ways) != !!way)
        return false;
    if (way && c2_rng_below(rng, 8) == 0) {
        const bool dirty = way->dirty;
        *way = (struct twin_way){.tag = 0};
        return cache_sets_take(words, place, sets->ways) == cache_sets_word(tag, dirty);
    }
    if (way) {
        way->dirty |= write;
        cache_sets_front(words, place, words[place] | write);
    } else {
        way = twin_oldest(twin, set);
        if (words[sets->ways - 1] != (way->tag ? cache_sets_word(way->tag, way->dirty) : 0))
            return false;
        cache_sets_front(words, sets->ways - 1, cache_sets_word(tag, write));
        *way = (struct twin_way){.tag = tag, .dirty = write};
    }
    way->touched = ++twin->now;
    return words[0] == cache_sets_word(tag, way->dirty);
}

/* wrong: in the middle the two oldest lines of a set change places. */
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
        uint32_t *oldest = cache_sets_at(&sets, 1) + ways - 1;
        if (i > 2200 && wrong && *oldest != 0) {
            const uint32_t word = *oldest;
            *oldest = oldest[-1];
            oldest[-1] = word;
        }
        equal = step(&sets, &twin, &rng);
        cache_sets_check(&sets);
    }
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

static void another_order_shows(void **state)
{
    (void)state;
    assert_false(same(8, 1, true));
    assert_false(same(20, 1, true));
}

/* ------------------------------------------------------------------ forms of accesses */

static struct caches_level level_of(const char *name, uint32_t ways, uint32_t sets, enum caches_inclusion inclusion)
{
    struct caches_level level = {.size_bytes = (uint64_t)64 * ways * sets,
                                 .ways = ways,
                                 .slices = 1,
                                 .hash = "none",
                                 .index = CACHES_PHYSICAL,
                                 .inclusion = inclusion};
    snprintf(level.name, sizeof level.name, "%s", name);
    return level;
}

/* Small levels, so that all of them lose lines; L3 in two slices. */
static struct caches *create(const uint32_t ways[3], uint32_t levels, unsigned form)
{
    struct caches_machine machine = {.line_bytes = 64, .level_count = levels, .has_l1i = true, .name = "test"};
    struct caches *caches;
    machine.levels[0] = level_of("L1D", ways[0], 4, CACHES_NON_INCLUSIVE);
    machine.l1i = level_of("L1I", ways[0], 2, CACHES_NON_INCLUSIVE);
    machine.levels[1] = level_of("L2", ways[1], 8, CACHES_NON_INCLUSIVE);
    machine.levels[2] = level_of("L3", ways[2], 16, CACHES_INCLUSIVE);
    machine.levels[2].slices = 2;
    snprintf(machine.levels[2].hash, sizeof machine.levels[2].hash, "lin2");
    machine.levels[3] = level_of("L4", (ways[2] + CACHES_MAX_WAYS) / 2, 16, CACHES_INCLUSIVE);
    assert_int_equal(caches_create(&caches, &machine, 1, NULL), C2_OK);
    if (caches->usual)
        cache_contents_use(caches, form);
    return caches;
}

static bool same_sets(const struct caches *a, const struct caches *b)
{
    bool equal = true;
    for (uint32_t i = 0; i < a->node_count; i++) {
        const struct cache_sets *sets = &a->level[i].sets;
        equal &= memcmp(sets->word, b->level[i].sets.word, (size_t)sets->set_count * sets->stride * 4) == 0;
        equal &= memcmp(cache_level_counts(a, i), cache_level_counts(b, i), sizeof(struct caches_counts)) == 0;
    }
    return equal;
}

static void access_both(struct caches *both[2], struct c2_rng *rng, uint64_t lines)
{
    const uint64_t line = c2_rng_below(rng, 2) ? c2_rng_below(rng, lines) : c2_rng_below(rng, 16);
    const bool fetch = c2_rng_below(rng, 4) == 0, write = !fetch && c2_rng_below(rng, 3) == 0;
    const uint64_t repeats = fetch ? 0 : c2_rng_below(rng, 3);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(caches_access(both[i], fetch ? CACHES_FETCH : CACHES_DATA, write, (struct line_no){line},
                                       (struct line_no){line}, NULL, NULL),
                         C2_OK);
        caches_repeat(both[i], true, repeats);
    }
}

/* wrong: the form's L1D has two of its lines in another order for once. */
static bool same_form(unsigned form, const uint32_t ways[3], uint32_t levels, bool wrong)
{
    struct caches *both[2] = {create(ways, levels, CACHE_FORM_SCALAR), create(ways, levels, form)};
    struct c2_rng rng;
    bool equal = true;
    c2_rng_init(&rng, ways[0] + ways[1] * 64 + ways[2] * 4096, "test");
    for (unsigned i = 0; i < 3000 && equal && both[0]->usual; i++) {
        access_both(both, &rng, (uint64_t)ways[2] * 24);
        if (wrong && i == 1000) {
            uint32_t *words = both[1]->level[0].sets.word, word = words[0];
            words[0] = words[1];
            words[1] = word;
        }
        equal = same_sets(both[0], both[1]);
    }
    caches_check(both[1]);
    caches_destroy(both[0]);
    caches_destroy(both[1]);
    return equal;
}

static void check_form(unsigned form)
{
    static const uint32_t shapes[][3] = {{8, 8, 20}, {8, 8, 16}, {8, 4, 16},   {8, 16, 16}, {8, 5, 8},  {8, 64, 3},
                                         {1, 1, 1},  {2, 3, 5},  {12, 20, 12}, {7, 9, 64},  {33, 4, 11}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (uint32_t levels = 1; levels <= 4; levels++)
            if (!same_form(form, shapes[i], levels, false))
                fail_msg("form %u, %u levels of %u, %u, %u ways: not as the scalar one", form, levels, shapes[i][0],
                         shapes[i][1], shapes[i][2]);
}

static void all_forms_do_the_same(void **state)
{
    (void)state;
    for (unsigned form = CACHE_FORM_SSE2; form < CACHE_FORMS; form++) {
        if (cache_contents_has(form))
            check_form(form);
        else
            print_message("form %u: this host has not the instructions\n", form);
    }
}

static void a_form_that_is_wrong_shows(void **state)
{
    struct caches *probe = create((const uint32_t[]){8, 8, 20}, 3, CACHE_FORM_SSE2);
    const bool usual = probe->usual;
    (void)state;
    caches_destroy(probe);
    if (!usual) /* without shortcuts there are no forms */
        skip();
    assert_false(same_form(CACHE_FORM_SSE2, (const uint32_t[]){8, 8, 20}, 3, true));
}

/* What is compiled for eight ways is taken where they are, and nowhere else. */
static void eight_ways_are_taken(void **state)
{
    static const uint32_t shapes[][3] = {{8, 8, 20}, {8, 5, 3}, {4, 8, 8}, {16, 8, 8}};
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (uint32_t levels = 1; levels <= 3; levels++) {
            struct caches *caches = create(shapes[i], levels, CACHE_FORM_SSE2);
            const bool eight = shapes[i][0] == 8 && levels > 1;
            assert_true(!caches->usual || (caches->access == cache_form_sse2.eight) == eight);
            assert_true(!caches->usual || (caches->missed == cache_form_sse2.eight_missed) == eight);
            caches_destroy(caches);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_ways),
        cmocka_unit_test(another_order_shows),
        cmocka_unit_test(all_forms_do_the_same),
        cmocka_unit_test(a_form_that_is_wrong_shows),
        cmocka_unit_test(eight_ways_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
