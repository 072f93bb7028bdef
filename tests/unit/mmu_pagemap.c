/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Map files: both forms, what they may not say, turns, a round trip of everything that a run does, and a million lines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "mmu/frames_priv.h"
#include "mmu/pagemap_priv.h"
#include "unit/mmu_fake_host.h"

#define PAGE C2_PAGE_BYTES
#define FRAMES ((uint64_t)1 << 20)

static char path[2][64];

static const char *write_map(const char *text, bool textproto)
{
    FILE *to = fopen(path[textproto], "w");
    assert_non_null(to);
    fputs(text, to);
    fclose(to);
    return path[textproto];
}

static struct pagemap *read_good(const char *text, bool textproto)
{
    struct pagemap *map;
    struct c2_error err = {0};
    if (pagemap_read(&map, write_map(text, textproto), FRAMES, &err) != C2_OK)
        fail_msg("%s: %s", text, err.text);
    return map;
}

static uint64_t use(struct pagemap *map, uint64_t vpn, enum mmu_page_size size)
{
    uint64_t frame = UINT64_MAX;
    return pagemap_use(map, vpn, size, &frame) ? frame : UINT64_MAX;
}

static void expect_three_pages(struct pagemap *map)
{
    enum mmu_page_size size;
    assert_int_equal(use(map, 0x10, MMU_PAGE_4K), 7);
    assert_int_equal(use(map, 0x11, MMU_PAGE_4K), UINT64_MAX);
    assert_true(pagemap_size_at(map, 0x400 + 511, &size));
    assert_int_equal(size, MMU_PAGE_2M);
    assert_int_equal(use(map, 0x400 + 5, MMU_PAGE_4K), 0x600 + 5); /* a small page of a huge line */
    assert_int_equal(use(map, 0x400, MMU_PAGE_2M), 0x600);
    assert_int_equal(use(map, 0x40000, MMU_PAGE_2M), UINT64_MAX); /* no part of a giant one may be huge */
    assert_int_equal(use(map, 0x40000, MMU_PAGE_1G), 0x80000);
    assert_true(pagemap_names(map, 7) && pagemap_names(map, 0x7ff) && pagemap_names(map, 0xbffff));
    assert_false(pagemap_names(map, 8) || pagemap_names(map, 0x800) || pagemap_names(map, 0xc0000));
    assert_int_equal(pagemap_next_named(map, 8), 0x600);
    assert_int_equal(pagemap_next_named(map, 0xc0000), FRAMES);
    pagemap_destroy(map);
}

static void both_forms_say_the_same(void **state)
{
    (void)state;
    expect_three_pages(
        read_good("# a map\n\n0x10 7 4K # one\n1024 0x600 2M\n 0x40000\t0x80000  1073741824 1\n", false));
    expect_three_pages(read_good("page_size: 4096\naddress_mapping { virtual_address: 0x10000\n"
                                 "  physical_address: 0x7000 }\n# huge\naddress_mapping {\n  page_size: 0x200000\n"
                                 "  virtual_address: 0x400000\n  physical_address: 0x600000\n}\n"
                                 "page_size:1073741824\npage_count: 3\nm{virtual_address:0x40000000 "
                                 "physical_address:0x80000000 turn: 1}\n",
                                 true));
}

static void refusals_name_the_line(void **state)
{
    (void)state;
    static const struct {
        bool textproto;
        const char *text, *says;
    } rows[] = {
        {false, "1 2 4K\n1 3 4K\n", ":2: overlaps line 1: page 0x1 is in both"},
        {false, "1 2 4K\n\n5 2 4K\n", ":3: overlaps line 1: frame 0x2 is in both"},
        {false, "0x205 2 4K\n0x200 0x400 2M\n", ":2: overlaps line 1: page 0x205 is in both"},
        {false, "1 0x405 4K\n0x200 0x400 2M\n", ":2: overlaps line 1: frame 0x405 is in both"},
        {false, "1 2 4K 2\n1 3 4K 2\n", ":2: overlaps line 1: page 0x1"},
        {false, "0x201 0x400 2M\n", ":1: page 0x201 is not aligned to its size, 2 MiB"},
        {false, "0x200 0x401 2M\n", ":1: frame 0x401 is not aligned to its size, 2 MiB"},
        {false, "1 0x100000 4K\n", ":1: frame 0x"},
        {false, "0x800000000 1 4K\n", ":1: page 0x800000000 is no program's"},
        {false, "1 2\n", ":1: the size must be 4K, 2M or 1G, not"},
        {false, "1 2 8K\n", "not \"8K\""},
        {false, "\nx 2 4K\n", ":2: the page is no number: \"x\""},
        {false, "1 -2 4K\n", ":1: the frame is no number: \"-2\""},
        {false, "1 2 4K 0\n", ":1: turns count from 1"},
        {false, "1 2 4K 1 9\n", ":1: what is this"},
        {true, "address_mapping {\n virtual_address: 0x1000\n}\n", ":3: the group has no \"physical_address\""},
        {true, "a { virtual_address: 0x1008 physical_address: 0 }\n", ":1: addresses must be multiples"},
        {true, "page_size: 8192\na { virtual_address: 0 physical_address: 0 }", ":2: page_size must be 4096"},
        {true, "page_sise: 4096\n", "did you mean \"page_size\"?"},
        {true, "\nvirtual_address: 3\n", ":2: outside of a group"},
        {true, "a {\n b {\n", ":2: a group inside a group: \"b\""},
        {true, "\na {\n", ":2: the group that begins here has no end"},
        {true, "}\n", ":1: no group is open"},
        {true, "a { virtual_address: zz }", ":1: no number: \"zz\""},
        {true, "a\n", ":1: a ':' or '{' is missing"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct pagemap *map;
        struct c2_error err = {0};
        const char *name = write_map(rows[i].text, rows[i].textproto);
        assert_int_equal(pagemap_read(&map, name, FRAMES, &err), C2_ERR_FORMAT);
        assert_null(map);
        if (!strstr(err.text, rows[i].says) || !strstr(err.text, name))
            fail_msg("\"%s\": \"%s\" lacks \"%s\"", rows[i].text, err.text, rows[i].says);
    }
    struct pagemap *map;
    assert_int_equal(pagemap_read(&map, "/nonexistent/map", FRAMES, NULL), C2_ERR_NOT_FOUND);
}

/* Lines of a page serve in the order of their turns; the last one holds on. */
static void turns_serve_in_order(void **state)
{
    (void)state;
    struct pagemap *map = read_good("9 100 4K 3\n9 50 4K\n8 100 4K\n9 8 4K 2\n0x200 0x200 2M\n", false);
    static const uint64_t frames[] = {50, 8, 100, 100, 100};
    assert_int_equal(use(map, 9, MMU_PAGE_2M), UINT64_MAX);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(use(map, 9, MMU_PAGE_4K), frames[i]);
    pagemap_destroy(map);
}

static void reading_survives_every_failing_allocation(void **state)
{
    (void)state;
    const char *name = write_map("1 2 4K\n2 3 4K\n", false);
    struct pagemap *map = NULL;
    enum c2_status status;
    uint64_t n = 0;
    do {
        c2_alloc_fail_from(++n);
        status = pagemap_read(&map, name, FRAMES, NULL);
        assert_true(status == C2_OK || (status == C2_ERR_NO_MEMORY && !map));
    } while (status != C2_OK);
    c2_alloc_fail_from(0);
    assert_true(n >= 5);
    pagemap_destroy(map);
}

/* ------------------------------------------------------------------ round trips */

#define BASE 0x200000000000ull
#define SPAN 1200u /* pages */

/* Maps, touches, unmaps, moves; the same for the same seed. Every translation on the way goes to *hash. */
static void live(struct both *mmu, uint64_t *hash)
{
    struct c2_rng rng;
    c2_rng_init(&rng, 5, "life");
    for (int step = 0; step < 3000; step++) {
        uint64_t page = c2_rng_below(&rng, SPAN), va = BASE + page * PAGE;
        struct guest_pa pa;
        enum mmu_page_size size;
        struct c2_error err = {0};
        switch (c2_rng_below(&rng, 40)) {
        case 0:
            fake_anonymous(mmu, BASE, SPAN, 3);
            break;
        case 1:
            both_unmap(mmu, va, c2_rng_below(&rng, SPAN - page) * PAGE + PAGE);
            break;
        case 2:
            both_discard(mmu, va, 7 * PAGE);
            break;
        case 3:
            both_remap(mmu, va, 5 * PAGE, 5 * PAGE, true, true, BASE + (page + 300) % SPAN * PAGE);
            break;
        default:
            assert_int_not_equal(both_touch(mmu, (struct guest_va){va}, MMU_ACCESS_WRITE, &err), MMU_FAULT_FAILED);
            if (both_translate_sized(mmu, (struct guest_va){va}, &pa, &size))
                *hash = (*hash ^ pa.v ^ size) * 0x100000001b3ull;
        }
    }
}

static uint64_t live_once(struct mmu_config config, const char *dump, bool textproto)
{
    static struct fake_host fake;
    struct both *mmu;
    struct c2_error err = {0};
    uint64_t hash = 0;
    config.physical_bytes = 4096 * PAGE;
    config.log_placements = true;
    if (fake_create(&mmu, &fake, 64, &config, &err) != C2_OK)
        fail_msg("%s", err.text);
    live(mmu, &hash);
    both_check(mmu);
    FILE *to = fopen(dump, "w");
    assert_int_equal(mmu_replica_pagemap_write(mmu->replica, to, textproto, &err), C2_OK);
    fclose(to);
    both_destroy(mmu);
    return hash;
}

static char *content(const char *name, size_t *bytes)
{
    static char text[2][1 << 20];
    static int turn;
    FILE *from = fopen(name, "r");
    turn = 1 - turn;
    *bytes = fread(text[turn], 1, sizeof text[turn], from);
    fclose(from);
    return text[turn];
}

/* A run by a policy, and the run by its map: the same translations at every step, the same map again. */
static void a_run_repeats_from_its_map(void **state)
{
    (void)state;
    static const enum mmu_placement policies[] = {MMU_SEQUENTIAL, MMU_RANDOM, MMU_COLORED, MMU_BUDDY};
    for (unsigned i = 0; i < 16; i++) {
        bool textproto = i & 1;
        char again[80];
        struct mmu_config config = {
            .placement = policies[i / 4], .colors = 8, .seed = 3, .huge = i & 2 ? MMU_HUGE_THP : MMU_HUGE_ASKED};
        uint64_t hash = live_once(config, path[textproto], textproto);
        config.placement = MMU_MAP;
        strcpy(config.map, path[textproto]);
        snprintf(again, sizeof again, "%s.again", path[0]);
        assert_true(live_once(config, again, textproto) == hash);
        size_t a, b;
        const char *first = content(path[textproto], &a), *second = content(again, &b);
        assert_true(a > 1000 && a == b && memcmp(first, second, a) == 0);
        assert_non_null(strstr(first, textproto ? "turn: 2" : " 4K 2\n"));
        unlink(again);
    }
}

static void holes_and_clashes_name_the_line(void **state)
{
    (void)state;
    struct mmu_config config = {.physical_bytes = 64 * PAGE, .placement = MMU_MAP};
    static struct fake_host fake;
    struct both *mmu;
    struct c2_error err = {0};
    strcpy(config.map, write_map("# x\n0x200000003 7 4K\n0x200000000 5 4K\n0x200000004 5 4K 2\n", false));
    assert_int_equal(fake_create(&mmu, &fake, 64, &config, &err), C2_OK);
    fake_anonymous(mmu, BASE, 8, 3);
    assert_int_equal(both_touch(mmu, (struct guest_va){BASE + 9}, MMU_ACCESS_READ, &err), MMU_FAULT_NONE);
    assert_int_equal(both_touch(mmu, (struct guest_va){BASE + 2 * PAGE}, MMU_ACCESS_READ, &err), MMU_FAULT_FAILED);
    assert_non_null(strstr(err.text, ":3: the map has no page 0x200000002 (address 0x200000002000)"));
    assert_int_equal(both_touch(mmu, (struct guest_va){BASE + 4 * PAGE}, MMU_ACCESS_READ, &err), MMU_FAULT_FAILED);
    assert_non_null(strstr(err.text, ":4: page 0x200000004 is to get frame 0x5, which another page holds"));
    both_check(mmu);
    both_destroy(mmu);
}

/* ------------------------------------------------------------------ size */

static void a_million_lines_load_within_a_second(void **state)
{
    (void)state;
    struct pagemap *map;
    struct c2_error err = {0};
    FILE *to = fopen(path[0], "w");
    for (uint64_t i = 0; i < 1000000; i++)
        fprintf(to, "0x%llx 0x%llx 4K\n", (unsigned long long)(i * 7919 % 1000003 + 0x3f0000000),
                (unsigned long long)(i * 104729 % 1000003));
    fclose(to);
    clock_t start = clock();
    assert_int_equal(pagemap_read(&map, path[0], FRAMES, &err), C2_OK);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    print_message("a million lines: %.2f s\n", seconds);
#if !defined __SANITIZE_ADDRESS__ && defined NDEBUG
    assert_true(seconds < 1.0);
#endif
    assert_int_equal(use(map, 999999ull * 7919 % 1000003 + 0x3f0000000, MMU_PAGE_4K), 999999ull * 104729 % 1000003);
    pagemap_destroy(map);
}

int main(void)
{
    snprintf(path[0], sizeof path[0], "/tmp/mmu_pagemap_%d", (int)getpid());
    snprintf(path[1], sizeof path[1], "/tmp/mmu_pagemap_%d.textproto", (int)getpid());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms_say_the_same),
        cmocka_unit_test(refusals_name_the_line),
        cmocka_unit_test(turns_serve_in_order),
        cmocka_unit_test(reading_survives_every_failing_allocation),
        cmocka_unit_test(a_run_repeats_from_its_map),
        cmocka_unit_test(holes_and_clashes_name_the_line),
        cmocka_unit_test(a_million_lines_load_within_a_second),
    };
    int failed = cmocka_run_group_tests_name("mmu_pagemap", tests, NULL, NULL);
    unlink(path[0]);
    unlink(path[1]);
    return failed;
}
