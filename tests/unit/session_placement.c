/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * --pages, and where its colours come from.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "session/session_priv.h"

/* L1D 64 sets (1 colour), L2 512 sets (8), L3 8 slices of 2048 sets (32). */
static struct caches_machine machine(uint32_t levels)
{
    struct caches_machine made = {.name = "m", .line_bytes = 64, .physical_bytes = 1ull << 30, .level_count = levels};
    made.levels[0] = (struct caches_level){.name = "L1D", .size_bytes = 32768, .ways = 8, .slices = 1};
    made.levels[1] = (struct caches_level){.name = "L2", .size_bytes = 262144, .ways = 8, .slices = 1};
    made.levels[2] = (struct caches_level){.name = "L3", .size_bytes = 20971520, .ways = 20, .slices = 8};
    return made;
}

static void policies(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum mmu_placement placement;
        uint32_t colors, color;
    } rows[] = {
        {"sequential", MMU_SEQUENTIAL, 8, 0},
        {"random", MMU_RANDOM, 8, 0},
        {"identity", MMU_IDENTITY, 8, 0},
        {"same-color", MMU_SAME_COLOR, 8, 0},
        {"same-color,color=7", MMU_SAME_COLOR, 8, 7},
        {"same-color,level=L3", MMU_SAME_COLOR, 32, 0},
        {"same-color,color=31,level=L3", MMU_SAME_COLOR, 32, 31},
        {"same-color,level=L3,color=31", MMU_SAME_COLOR, 32, 31},
        {"same-color,level=L1D", MMU_SAME_COLOR, 1, 0},
        {"colored", MMU_COLORED, 8, 0},
        {"colored,level=L3", MMU_COLORED, 32, 0},
        {"colored,level=L1D", MMU_COLORED, 1, 0},
        {"buddy", MMU_BUDDY, 8, 0},
    };
    const struct caches_machine shape = machine(3);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct mmu_config config;
        struct c2_error err = {0};
        if (session_placement(&config, rows[i].text, &shape, 5, &err) != C2_OK)
            fail_msg("%s: %s", rows[i].text, err.text);
        assert_int_equal(rows[i].placement, config.placement);
        assert_int_equal(rows[i].colors, config.colors);
        assert_int_equal(rows[i].color, config.color);
        assert_int_equal(5, config.seed);
        assert_int_equal(1ull << 30, config.physical_bytes);
    }
}

/* `seed` is the placement's, wherever it stands, and stands for the run's. */
static void a_seed_of_its_own(void **state)
{
    (void)state;
    static const char *const texts[] = {"random,seed=9", "same-color,seed=9,color=7", "same-color,color=7,seed=0x9",
                                        "colored,seed=9,level=L3", "sequential,seed=9"};
    const struct caches_machine shape = machine(3);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct mmu_config config;
        struct c2_error err = {0};
        if (session_placement(&config, texts[i], &shape, 5, &err) != C2_OK)
            fail_msg("%s: %s", texts[i], err.text);
        assert_int_equal(9, config.seed);
        assert_int_equal(config.placement == MMU_SAME_COLOR ? 7 : 0, config.color);
    }
}

static void without_l2_the_first_level_gives_the_colours(void **state)
{
    (void)state;
    const struct caches_machine shape = machine(1);
    struct mmu_config config;
    assert_int_equal(C2_OK, session_placement(&config, "same-color", &shape, 1, NULL));
    assert_int_equal(1, config.colors);
}

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum c2_status status;
        const char *message;
    } rows[] = {
        {"buddy,order=3", C2_ERR_INVALID, NULL},
        {"random,seed=1,seed=2", C2_ERR_INVALID,
         "--pages random,seed=1,seed=2: the key seed is given twice; leave one out"},
        {"random,seed=", C2_ERR_INVALID, "--pages: seed: \"\" is not a number (examples: 12, 0x1000)"},
        {"random,seed=few", C2_ERR_INVALID, "--pages: seed: \"few\" is not a number (examples: 12, 0x1000)"},
        {"buddy,age=2", C2_ERR_INVALID, NULL},
        {"buddy,age=0.7,level=L2", C2_ERR_INVALID,
         "--pages buddy,age=0.7,level=L2: the key level belongs to same-color and colored"},
        {"file=", C2_ERR_INVALID, "--pages: the placement file= needs the path of a page map: file=PATH"},
        {"colored,level=L2,level=L3", C2_ERR_INVALID,
         "--pages colored,level=L2,level=L3: the key level is given twice; leave one out"},
        {"buddy,age=0.7,age=0.1", C2_ERR_INVALID,
         "--pages: behind the key of placement policy \"buddy\" is \"age=0.1\": it takes one key, once"},
        {"colored,color=1", C2_ERR_INVALID, NULL},
        {"colored,level=L5", C2_ERR_INVALID, NULL},
        {"same-color,color=8", C2_ERR_INVALID, "--pages: color=8: L2 of machine m has 8 colours, 0 to 7"},
        {"same-color,level=L5", C2_ERR_INVALID, NULL},
        {"random,level=L2", C2_ERR_INVALID, "--pages random,level=L2: the key level belongs to same-color and colored"},
        {"sequentail", C2_ERR_INVALID, NULL},
        {"same-color,colour=1", C2_ERR_INVALID, NULL},
        {"", C2_ERR_INVALID, NULL},
    };
    const struct caches_machine shape = machine(3);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct mmu_config config;
        struct c2_error err = {0};
        enum c2_status status = session_placement(&config, rows[i].text, &shape, 1, &err);
        if (status != rows[i].status)
            fail_msg("%s: status %d, %s", rows[i].text, status, err.text);
        if (rows[i].message)
            assert_string_equal(rows[i].message, err.text);
    }
    struct c2_error err;
    struct mmu_config config;
    session_placement(&config, "sequentail", &shape, 1, &err);
    assert_non_null(strstr(err.text, "sequential"));
    session_placement(&config, "same-color,level=L5", &shape, 1, &err);
    assert_non_null(strstr(err.text, "\"L5\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies),
        cmocka_unit_test(a_seed_of_its_own),
        cmocka_unit_test(without_l2_the_first_level_gives_the_colours),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
