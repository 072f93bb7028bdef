/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which rule a page belongs to, by hand: each rule has same-color with a colour of its own, so the frame's number
 * modulo 16 tells the rule; colour 0 is --pages. Host memory is nothing here.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "unit/mmu_both.h"

#define PAGE C2_PAGE_BYTES
#define MIB ((uint64_t)1 << 20)
#define ARENA_PAGES 256
#define AT 0x20000000ull /* where tests map; aligned to 2 MiB */

static unsigned char *arena_memory;
static int a_file = -1;

static int no_map(void *self, uint64_t start, uint64_t bytes, struct host_source *source)
{
    (void)self, (void)start, (void)bytes;
    source->may_write = true;
    return 0;
}
static int no_room(void *self, bool shrinks)
{
    (void)self, (void)shrinks;
    return 0;
}
static int no_unmap(void *self, uint64_t start, uint64_t bytes, const struct host_hole *hole)
{
    (void)self, (void)start, (void)bytes, (void)hole;
    return 0;
}
static int no_range(void *self, uint64_t start, uint64_t bytes)
{
    (void)self, (void)start, (void)bytes;
    return 0;
}
static int no_move(void *self, uint64_t from, uint64_t to, uint64_t bytes, const struct host_hole *hole)
{
    (void)self, (void)from, (void)to, (void)bytes, (void)hole;
    return 0;
}
static bool always(void *self, uint64_t page, bool writes)
{
    (void)self, (void)page, (void)writes;
    return true;
}

static struct mmu_config base(void)
{
    return (struct mmu_config){.physical_bytes = 64 * MIB, .placement = MMU_SAME_COLOR, .colors = 16};
}

static struct both *make(const struct mmu_config *config)
{
    struct mmu_host host = {.room = no_room,
                            .map = no_map,
                            .unmap = no_unmap,
                            .move = no_move,
                            .extend = no_range,
                            .discard = no_range,
                            .probe = always};
    if (!arena_memory)
        arena_memory = aligned_alloc(PAGE, ARENA_PAGES * PAGE);
    struct tables_arena arena = {.memory = arena_memory, .address = MMU_TABLES_BASE, .pages = ARENA_PAGES};
    struct both *mmu;
    struct c2_error err;
    if (both_create_on(&mmu, config, &host, &arena, &err) != C2_OK)
        fail_msg("%s", err.text);
    return mmu;
}

static void map(struct both *mmu, uint64_t at, uint64_t bytes, enum mmu_kind kind, unsigned prot, const char *path)
{
    struct mmu_request request = {.address = at,
                                  .bytes = bytes,
                                  .prot = prot,
                                  .fixed = true,
                                  .kind = kind,
                                  .host_fd = kind == MMU_FILE ? a_file : -1,
                                  .path = path};
    assert_int_equal(both_map(mmu, &request), at);
}

/* The colour that the page gets, and so the rule. */
static unsigned rule_of(struct both *mmu, uint64_t va)
{
    struct c2_error err = {0};
    struct guest_pa pa;
    if (both_touch(mmu, (struct guest_va){va}, MMU_ACCESS_READ, &err) != MMU_FAULT_NONE)
        fail_msg("0x%llx: %s", (unsigned long long)va, err.text);
    assert_true(both_translate(mmu, (struct guest_va){va}, &pa));
    return (unsigned)((pa.v >> C2_PAGE_SHIFT) % 16);
}

static struct mmu_rule rule(enum mmu_region_kind kind, const char *name, uint64_t start, uint64_t bytes, uint32_t color)
{
    return (struct mmu_rule){.region = {kind, name, start, bytes},
                             .policy = {.placement = MMU_SAME_COLOR, .colors = 16, .color = color}};
}

static void regions_are_what_the_areas_are(void **state)
{
    (void)state;
    const struct mmu_rule rules[] = {rule(MMU_REGION_HEAP, "heap", 0, 0, 1), rule(MMU_REGION_STACK, "stack", 0, 0, 2),
                                     rule(MMU_REGION_MMAP, "mmap", 0, 0, 3), rule(MMU_REGION_TEXT, "text", 0, 0, 4)};
    struct mmu_config config = base();
    config.rules = rules;
    config.rule_count = 4;
    struct both *mmu = make(&config);
    assert_int_equal(both_brk(mmu, MMU_HEAP_BASE + PAGE), MMU_HEAP_BASE + PAGE);
    map(mmu, AT, PAGE, MMU_STACK, 3, NULL);
    map(mmu, AT + 2 * PAGE, PAGE, MMU_ANONYMOUS, 3, NULL);
    map(mmu, AT + 4 * PAGE, PAGE, MMU_ANONYMOUS, 7, NULL); /* made code: no text of a file */
    map(mmu, AT + 6 * PAGE, PAGE, MMU_FILE, 5, "/lib/libx.so");
    map(mmu, AT + 8 * PAGE, PAGE, MMU_FILE, 3, "/lib/libx.so");
    assert_int_equal(rule_of(mmu, MMU_HEAP_BASE), 1);
    assert_int_equal(rule_of(mmu, AT), 2);
    assert_int_equal(rule_of(mmu, AT + 2 * PAGE), 3);
    assert_int_equal(rule_of(mmu, AT + 4 * PAGE), 3);
    assert_int_equal(rule_of(mmu, AT + 6 * PAGE), 4);
    assert_int_equal(rule_of(mmu, AT + 8 * PAGE), 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(mmu_replica_rule_counts(mmu->replica, i)->small_pages, i == 2 ? 2 : 1);
    /* a page that moves out of the heap stays where it is; the next one there is of a mapping */
    assert_int_equal(both_remap(mmu, MMU_HEAP_BASE, PAGE, 2 * PAGE, true, true, AT + 16 * PAGE), AT + 16 * PAGE);
    assert_int_equal(rule_of(mmu, AT + 16 * PAGE), 1);
    assert_int_equal(rule_of(mmu, AT + 17 * PAGE), 3);
    both_check(mmu);
    both_destroy(mmu);
}

/* Whatever the order of the rules: objects, then files, then the rest; among equals the first. */
static void the_most_precise_rule_wins(void **state)
{
    (void)state;
    struct mmu_rule rules[] = {
        rule(MMU_REGION_TEXT, "text", 0, 0, 1),
        rule(MMU_REGION_FILE, "libx.so", 0, 0, 2),
        rule(MMU_REGION_FILE, "/lib/libx.so", 0, 0, 3),                   /* the same file: the first one has it */
        rule(MMU_REGION_OBJECT, "a", AT + PAGE + 100, PAGE, 4),           /* the end of page 1 and the beginning of 2 */
        rule(MMU_REGION_OBJECT, "b", AT + 2 * PAGE + 100, PAGE - 100, 5), /* the rest of 2: a was first */
        rule(MMU_REGION_OBJECT, "c", AT + 4 * PAGE - 1, 1, 6)};           /* the last byte of 3 */
    for (int backwards = 0; backwards < 2; backwards++) {
        struct mmu_config config = base();
        config.rules = rules;
        config.rule_count = 6;
        struct both *mmu = make(&config);
        map(mmu, AT, 6 * PAGE, MMU_FILE, 5, "/usr/lib/libx.so");
        map(mmu, AT + 8 * PAGE, PAGE, MMU_FILE, 5, "/usr/lib/otherlibx.so");
        map(mmu, AT + 10 * PAGE, PAGE, MMU_FILE, 5, "/lib/libx.so.1");
        assert_int_equal(rule_of(mmu, AT), backwards ? 3 : 2);
        assert_int_equal(rule_of(mmu, AT + PAGE), 4);
        assert_int_equal(rule_of(mmu, AT + 2 * PAGE), backwards ? 5 : 4);
        assert_int_equal(rule_of(mmu, AT + 3 * PAGE), 6);
        assert_int_equal(rule_of(mmu, AT + 4 * PAGE), backwards ? 3 : 2);
        assert_int_equal(rule_of(mmu, AT + 8 * PAGE), 1);
        assert_int_equal(rule_of(mmu, AT + 10 * PAGE), 1);
        both_check(mmu);
        both_destroy(mmu);
        for (size_t i = 0; i < 3; i++) {
            struct mmu_rule kept = rules[i];
            rules[i] = rules[5 - i];
            rules[5 - i] = kept;
        }
    }
}

/* An object from 1 MiB to 5 MiB into a mapping of 8 MiB has the huge page at 2 MiB whole, of those at 0 and 4 MiB a
 * part. */
static void an_object_is_huge_where_it_has_the_whole_page(void **state)
{
    (void)state;
    const struct mmu_region regions[] = {{MMU_REGION_OBJECT, "o", AT + MIB, 4 * MIB}};
    const struct mmu_rule rules[] = {rule(MMU_REGION_OBJECT, "p", AT + 3 * MIB, 1, 7)};
    struct mmu_config config = base();
    config.huge_regions = regions;
    config.huge_region_count = 1;
    config.rules = rules;
    config.rule_count = 1;
    struct both *mmu = make(&config);
    map(mmu, AT, 8 * MIB, MMU_ANONYMOUS, 3, NULL);
    for (uint64_t at = 0; at < 8 * MIB; at += MIB)
        rule_of(mmu, AT + at);
    const struct mmu_rule_counts *huge = mmu_replica_region_counts(mmu->replica, 0),
                                 *placed = mmu_replica_rule_counts(mmu->replica, 0);
    assert_int_equal(huge->huge_2m, 1);
    assert_int_equal(huge->huge_fallbacks, 0);
    assert_int_equal(both_counts(mmu)->huge_2m, 1);
    assert_int_equal(both_counts(mmu)->small_pages, 6); /* at 0 and 1, 4 to 7 MiB */
    assert_int_equal(placed->huge_2m, 1);               /* p has a byte in the huge page: it goes with p */
    assert_int_equal(placed->small_pages, 0);
    both_check(mmu);
    both_destroy(mmu);
}

/* 2 MiB of memory: no huge frame is whole. */
static void a_region_counts_its_fallbacks(void **state)
{
    (void)state;
    const struct mmu_region regions[] = {{.kind = MMU_REGION_MMAP, .name = "mmap"}};
    struct mmu_config config = base();
    config.placement = MMU_SEQUENTIAL;
    config.physical_bytes = 2 * MIB;
    config.huge_regions = regions;
    config.huge_region_count = 1;
    struct both *mmu = make(&config);
    map(mmu, AT, 4 * MIB, MMU_ANONYMOUS, 3, NULL);
    rule_of(mmu, AT);
    rule_of(mmu, AT + PAGE); /* the range is not empty any more: no second try */
    rule_of(mmu, AT + 2 * MIB);
    assert_int_equal(mmu_replica_region_counts(mmu->replica, 0)->huge_fallbacks, 2);
    assert_int_equal(both_counts(mmu)->huge_fallbacks, 2);
    assert_int_equal(both_counts(mmu)->small_pages, 3);
    both_check(mmu);
    both_destroy(mmu);
}

static void expect_refused(const struct mmu_config *config, const char *said)
{
    struct c2_error err = {0};
    assert_int_equal(mmu_config_check(config, &err), C2_ERR_INVALID);
    if (!strstr(err.text, said))
        fail_msg("\"%s\" lacks \"%s\"", err.text, said);
}

static void what_cannot_be_combined_is_refused(void **state)
{
    (void)state;
    struct mmu_rule rules[2] = {rule(MMU_REGION_HEAP, "heap", 0, 0, 1), rule(MMU_REGION_HEAP, "heap", 0, 0, 2)};
    struct mmu_region regions[2] = {{.kind = MMU_REGION_HEAP, .name = "heap"},
                                    {.kind = MMU_REGION_HEAP, .name = "heap"}};
    struct mmu_config config = base();
    config.rules = rules;
    config.rule_count = 2;
    expect_refused(&config, "two placement rules for heap");
    rules[1] = rule(MMU_REGION_STACK, "stack", 0, 0, 16);
    expect_refused(&config, "color=16 does not exist");
    rules[0].policy = (struct mmu_config){.placement = MMU_BUDDY, .age = 700};
    rules[1].policy = (struct mmu_config){.placement = MMU_BUDDY};
    expect_refused(&config, "one age");
    config.placement = MMU_BUDDY;
    rules[1].policy.age = 700;
    expect_refused(&config, "another age than --pages");
    config.rule_count = 0;
    config.huge_regions = regions;
    config.huge_region_count = 2;
    expect_refused(&config, "asked for twice");
    config.huge_region_count = 1;
    config.huge = MMU_HUGE_HEAP;
    expect_refused(&config, "asked for twice");
    config.huge = MMU_HUGE_NEVER;
    expect_refused(&config, "contradict");
    config.huge = MMU_HUGE_ALL;
    expect_refused(&config, "leave one out");
    config.huge = MMU_HUGE_ASKED;
    regions[0].kind = MMU_REGION_TEXT;
    expect_refused(&config, "pages of mapped files");
}

int main(void)
{
    a_file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_are_what_the_areas_are),
        cmocka_unit_test(the_most_precise_rule_wins),
        cmocka_unit_test(an_object_is_huge_where_it_has_the_whole_page),
        cmocka_unit_test(a_region_counts_its_fallbacks),
        cmocka_unit_test(what_cannot_be_combined_is_refused),
    };
    int failed = cmocka_run_group_tests_name("mmu_rules", tests, NULL, NULL);
    close(a_file);
    free(arena_memory);
    return failed;
}
