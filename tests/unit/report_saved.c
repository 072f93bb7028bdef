/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Reports with receipts read again: what is in them, what differs between two, and damaged ones. C2_FUZZ_INPUTS=1000000
 * is the long way, by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/report.h"

#define HASH "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
static const char whole[] =
    "{\"format\":\"c2emu-report\",\"version\":1,\"command\":[\"./app\",\"7\"],\"run\":{\"instructions\":1234,"
    "\"measured\":{\"refs\":100}},\"levels\":[{\"name\":\"L1D\",\"misses\":50},{\"name\":\"L2\",\"misses\":20}],"
    "\"receipt\":{\"c2emu\":\"0.1.0\",\"engine\":\"unicorn 2.0.1\",\"options\":[\"--seed=2\"],\"directory\":\"/tmp\","
    "\"arguments\":\"" HASH "\",\"streams\":{\"stdin\":\"pipe\",\"stdout\":\"file\",\"stderr\":\"closed\"},"
    "\"environment\":[{\"name\":\"HOME\",\"sha256\":\"" HASH "\"}],\"machines\":[{\"sha256\":\"" HASH "\","
    "\"lines\":[\"[machine]\",\"line = 64\"]}],\"inputs\":[{\"kind\":\"file\",\"path\":\"/a\",\"descriptor\":0,"
    "\"offset\":8,\"bytes\":13,\"sha256\":\"" HASH "\"},{\"kind\":\"absent\",\"path\":\"/b\"},{\"kind\":\"file\","
    "\"path\":\"/c\",\"note\":\"changed\"}]}}";

static void test_what_is_in_it(void **state)
{
    struct report_saved *saved;
    (void)state;
    assert_int_equal(report_saved_parse(&saved, whole, strlen(whole), "r.json", NULL), C2_OK);
    const struct report_receipt *receipt = report_saved_receipt(saved);
    assert_string_equal(report_saved_command(saved)[1], "7");
    assert_null(report_saved_command(saved)[2]);
    assert_int_equal(report_saved_instructions(saved), 1234);
    assert_null(report_saved_interruption(saved));
    assert_string_equal(receipt->options[0], "--seed=2");
    assert_null(receipt->options[1]);
    assert_string_equal(receipt->streams[2], "closed");
    assert_string_equal(receipt->machines[0].lines[1], "line = 64");
    assert_int_equal(receipt->input_count, 3);
    assert_int_equal(receipt->inputs[0].descriptor, 0);
    assert_int_equal(receipt->inputs[0].offset, 8);
    assert_int_equal(receipt->inputs[0].bytes, 13);
    assert_int_equal(receipt->inputs[1].descriptor, -1);
    assert_null(receipt->inputs[1].sha256);
    assert_string_equal(receipt->inputs[2].note, "changed");
    report_saved_close(saved);
}

/* What differs, as it is printed. */
static void assert_differences(const char *text, const char *other, uint64_t differ)
{
    struct report_saved *a, *b;
    char *said = NULL;
    size_t bytes;
    FILE *to = open_memstream(&said, &bytes);
    assert_int_equal(report_saved_parse(&a, whole, strlen(whole), "a", NULL), C2_OK);
    assert_int_equal(report_saved_parse(&b, other, strlen(other), "b", NULL), C2_OK);
    const struct report_difference found = report_saved_compare(to, a, b);
    fclose(to);
    assert_string_equal(said, text);
    assert_int_equal(found.differ, differ);
    free(said);
    report_saved_close(a);
    report_saved_close(b);
}

static char *with(const char *old, const char *new)
{
    const char *at = strstr(whole, old);
    char *text = malloc(strlen(whole) + strlen(new) + 1);
    assert_non_null(at);
    sprintf(text, "%.*s%s%s", (int)(at - whole), whole, new, at + strlen(old));
    return text;
}

static void test_what_differs(void **state)
{
    static const struct {
        const char *old, *new, *said;
    } cases[] = {
        {"", "", ""},
        {"\"--seed=2\"", "\"--seed=3\"", ""}, /* a receipt takes no part */
        {"\"misses\":20", "\"misses\":21", "  levels.L2.misses: 20, now 21\n"},
        {"1234", "1235", "  run.instructions: 1234, now 1235\n"},
        {"\"7\"", "\"8\"", "  command[1]: \"7\", now \"8\"\n"},
        {"\"misses\":50", "\"hits\":50", "  levels.L1D.misses: 50, now nothing\n"},
        {",{\"name\":\"L2\",\"misses\":20}", "", "  levels: a list of 2, now a list of 1\n"},
        {"{\"refs\":100}", "5", "  run.measured: an object, now 5\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *other = with(cases[i].old, cases[i].new);
        if (strstr(cases[i].new, "hits"))
            assert_differences("  levels.L1D.misses: 50, now nothing\n  levels.L1D.hits: nothing, now 50\n", other, 2);
        else
            assert_differences(cases[i].said, other, cases[i].said[0] != '\0');
        free(other);
    }
}

/* Read, or refused with words; what was read differs from itself in nothing. */
static void try(const char *bytes, size_t count)
{
    struct report_saved *saved;
    struct c2_error err = {0};
    if (report_saved_parse(&saved, bytes, count, "r.json", &err) != C2_OK) {
        assert_null(saved);
        assert_int_equal(err.status, C2_ERR_FORMAT);
        assert_non_null(strstr(err.text, "verify: r.json"));
        return;
    }
    FILE *to = fopen("/dev/null", "w");
    assert_int_equal(report_saved_compare(to, saved, saved).differ, 0);
    fclose(to);
    report_saved_close(saved);
}

static void test_cut_anywhere(void **state)
{
    (void)state;
    for (size_t count = 0; count < strlen(whole); count++) {
        struct report_saved *saved;
        assert_int_equal(report_saved_parse(&saved, whole, count, "r.json", NULL), C2_ERR_FORMAT);
        assert_null(saved);
        try(whole, count);
    }
}

static void test_damaged(void **state)
{
    const char *wanted = getenv("C2_FUZZ_INPUTS");
    const unsigned long inputs = wanted ? strtoul(wanted, NULL, 10) : 10000;
    char bytes[sizeof whole];
    struct c2_rng rng;
    (void)state;
    c2_rng_init(&rng, 1, "damaged reports");
    for (unsigned long i = 0; i < inputs; i++) {
        memcpy(bytes, whole, sizeof whole);
        for (uint64_t flips = 1 + c2_rng_below(&rng, 3); flips > 0; flips--) {
            const uint64_t at = c2_rng_below(&rng, sizeof whole - 1);
            bytes[at] = c2_rng_below(&rng, 2) == 0 ? (char)(bytes[at] ^ 1 << c2_rng_below(&rng, 8))
                                                   : whole[c2_rng_below(&rng, sizeof whole - 1)];
        }
        try(bytes, sizeof whole - 1);
    }
}

static void test_want_of_memory(void **state)
{
    enum c2_status status = C2_ERR_NO_MEMORY;
    (void)state;
    for (uint64_t n = 1; status != C2_OK; n++) {
        struct report_saved *saved;
        c2_alloc_fail_from(n);
        status = report_saved_parse(&saved, whole, strlen(whole), "r.json", NULL);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK || status == C2_ERR_NO_MEMORY);
        if (status == C2_OK)
            report_saved_close(saved);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_is_in_it), cmocka_unit_test(test_what_differs),
                                       cmocka_unit_test(test_cut_anywhere), cmocka_unit_test(test_damaged),
                                       cmocka_unit_test(test_want_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
