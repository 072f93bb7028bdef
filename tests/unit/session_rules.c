/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * --place and --huge REGION, looked up in a program: this one. Where its symbols will lie in the guest follows from
 * where they lie here.
 */
#include <elf.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/session_priv.h"
#include "loader/loader.h"

extern const char __executable_start[];

char in_bss[3 << 20] __attribute__((aligned(2 << 20))) = {0};
char with_values[5000] = {1};
__thread char of_a_thread[10];

static const struct caches_machine machine = {.name = "m",
                                              .line_bytes = 64,
                                              .physical_bytes = 1ull << 30,
                                              .level_count = 2,
                                              .levels = {{.name = "L1D", .size_bytes = 32768, .ways = 8, .slices = 1},
                                                         {.name = "L2", .size_bytes = 262144, .ways = 8, .slices = 1}}};

static enum c2_status read_rules(struct session_rules *out, const char *place, const char *huge, struct c2_error *err)
{
    static char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length < 0 ? 0 : length] = '\0';
    const char *const words[] = {path, NULL}, *places[] = {place}, *regions[] = {huge};
    struct loader_request request = {.program = path, .argv = words, .envp = words + 1};
    struct session_options options = {
        .places = places, .place_count = !!place, .huge_regions = regions, .huge_region_count = !!huge, .seed = 3};
    *err = (struct c2_error){0};
    return session_rules_read(out, &options, &machine, &request, err);
}

/* A program at a fixed address stays there; this one, if it may lie anywhere, begins at MMU_PIE_BASE. */
static uint64_t in_guest(const void *symbol)
{
    const Elf64_Ehdr *header = (const void *)__executable_start;
    uint64_t here = (uint64_t)(uintptr_t)symbol;
    return header->e_type == ET_EXEC ? here : here - (uint64_t)(uintptr_t)__executable_start + MMU_PIE_BASE;
}

static void regions_are_words_symbols_or_files(void **state)
{
    (void)state;
    static const struct {
        const char *place;
        enum mmu_region_kind kind;
        const char *name, *policy;
    } rows[] = {
        {"heap=colored", MMU_REGION_HEAP, "heap", "colored"},
        {"stack=file=x=y", MMU_REGION_STACK, "stack", "file=x=y"},
        {"mmap=file:x", MMU_REGION_MMAP, "mmap", "file:x"},
        {"text=same-color,color=7", MMU_REGION_TEXT, "text", "same-color,color=7"},
        {"libc.so.6=random", MMU_REGION_FILE, "libc.so.6", "random"},
        {"/data=random", MMU_REGION_FILE, "/data", "random"},
        {"test_session_rules=random", MMU_REGION_FILE, "test_session_rules", "random"},
        {"in_bss=random", MMU_REGION_OBJECT, "in_bss", "random"},
        {"main=random", MMU_REGION_OBJECT, "main", "random"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct session_rules rules;
        struct c2_error err;
        if (read_rules(&rules, rows[i].place, NULL, &err) != C2_OK)
            fail_msg("%s: %s", rows[i].place, err.text);
        assert_int_equal(rules.rule_count, 1);
        assert_int_equal(rules.rules[0].region.kind, rows[i].kind);
        assert_string_equal(rules.rules[0].region.name, rows[i].name);
        assert_string_equal(rules.rules[0].text, rows[i].policy);
        session_rules_release(&rules);
    }
}

static void symbols_have_their_place_in_the_guest(void **state)
{
    (void)state;
    struct session_rules rules;
    struct c2_error err;
    if (read_rules(&rules, "with_values=same-color,color=3", "in_bss", &err) != C2_OK)
        fail_msg("%s", err.text);
    assert_int_equal(rules.rules[0].region.start, in_guest(with_values));
    assert_int_equal(rules.rules[0].region.bytes, 5000);
    assert_int_equal(rules.rules[0].policy.placement, MMU_SAME_COLOR);
    assert_int_equal(rules.rules[0].policy.color, 3);
    assert_int_equal(rules.rules[0].policy.colors, 8);
    assert_int_equal(rules.huge_count, 1);
    assert_int_equal(rules.huge[0].start, in_guest(in_bss));
    assert_int_equal(rules.huge[0].bytes, 3 << 20);
    session_rules_release(&rules);
}

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *place, *huge, *said;
    } rows[] = {
        {"in_bsss=random", NULL, "did you mean \"in_bss\"?"},
        {"heaps=random", NULL, "did you mean \"heap\"?"},
        {"of_a_thread=random", NULL, "of_a_thread of test_session_rules is thread-local"},
        {"heap", NULL, "--place 'REGION=POLICY'"},
        {"heap=colored,level=L7", NULL, "--place heap: machine m has no level \"L7\""},
        {NULL, "with_values", "it is code or has initial values"},
        {NULL, "main", "it is code or has initial values"},
        {NULL, "nothing_like_it_anywhere", "neither a region nor a symbol"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct session_rules rules;
        struct c2_error err;
        assert_int_equal(read_rules(&rules, rows[i].place, rows[i].huge, &err), C2_ERR_INVALID);
        if (!strstr(err.text, rows[i].said))
            fail_msg("\"%s\" lacks \"%s\"", err.text, rows[i].said);
        assert_int_equal(rules.rule_count + rules.huge_count, 0);
    }
}

/* Without rules but the policy; or without regions but the word. */
static void against_a_run_with_rules(void **state)
{
    (void)state;
    struct mmu_config placement = {.placement = MMU_RANDOM,
                                   .colors = 8,
                                   .huge = MMU_HUGE_THP,
                                   .rule_count = 2,
                                   .huge_region_count = 1},
                      other;
    assert_int_equal(session_against(&other, &placement, "sequential", &machine, NULL), C2_OK);
    assert_int_equal(other.rule_count, 0);
    assert_int_equal(other.huge_region_count, 1);
    assert_int_equal(session_against(&other, &placement, "huge", &machine, NULL), C2_OK);
    assert_int_equal(other.rule_count, 2);
    assert_int_equal(other.huge_region_count, 0);
}

static void reading_survives_every_failing_allocation(void **state)
{
    (void)state;
    static const char *const places[] = {"in_bss=random", "in_bsss=random"};
    for (size_t i = 0; i < 2; i++) {
        enum c2_status status, last = i == 0 ? C2_OK : C2_ERR_INVALID;
        struct session_rules rules;
        struct c2_error err;
        uint64_t n = 0;
        do {
            c2_alloc_fail_from(++n);
            status = read_rules(&rules, places[i], i == 0 ? "in_bss" : NULL, &err);
            c2_alloc_fail_from(0);
            assert_true(status == last || status == C2_ERR_NO_MEMORY);
        } while (status != last);
        assert_true(n > 5);
        session_rules_release(&rules);
    }
}

int main(void)
{
    of_a_thread[0] = 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_are_words_symbols_or_files),
        cmocka_unit_test(symbols_have_their_place_in_the_guest),
        cmocka_unit_test(refusals),
        cmocka_unit_test(against_a_run_with_rules),
        cmocka_unit_test(reading_survives_every_failing_allocation),
    };
    return cmocka_run_group_tests_name("cli_rules", tests, NULL, NULL);
}
