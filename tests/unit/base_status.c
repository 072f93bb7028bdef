/* SPDX-License-Identifier: GPL-2.0-or-later
 * Reasons of failures, and the assertion that prints the guest first. */
#include "base/base.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void test_fail_fills_status_and_text(void **state)
{
    (void)state;
    struct c2_error err;
    enum c2_status status = c2_fail(&err, C2_ERR_FORMAT, "%s: %d bytes too short", "a.out", 7);
    assert_int_equal(status, C2_ERR_FORMAT);
    assert_int_equal(err.status, C2_ERR_FORMAT);
    assert_string_equal(err.text, "a.out: 7 bytes too short");
}

static void test_fail_without_error(void **state)
{
    (void)state;
    assert_int_equal(c2_fail(NULL, C2_ERR_IO, "%s", "nobody listens"), C2_ERR_IO);
    assert_int_equal(c2_fail_memory(NULL, "nothing"), C2_ERR_NO_MEMORY);
}

static void test_fail_may_quote_the_old_reason(void **state)
{
    (void)state;
    struct c2_error err;
    c2_fail(&err, C2_ERR_IO, "no space");
    c2_fail(&err, C2_ERR_FORMAT, "machine file: %s", err.text);
    assert_string_equal(err.text, "machine file: no space");
}

static void test_long_reason_is_cut(void **state)
{
    (void)state;
    struct c2_error err;
    char longer[2 * sizeof err.text];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    c2_fail(&err, C2_ERR_INVALID, "%s", longer);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
}

static void test_fail_memory_does_not_allocate(void **state)
{
    (void)state;
    struct c2_error err;
    c2_alloc_fail_from(1);
    assert_int_equal(c2_fail_memory(&err, "the page tables"), C2_ERR_NO_MEMORY);
    assert_int_equal(c2_alloc_count(), 0);
    c2_alloc_fail_from(0);
    assert_string_equal(err.text, "no host memory left for the page tables");
}

/* Runs `body` in a child; gives its standard error and its wait status. */
static int run_child(void (*body)(void), char *output, size_t bytes)
{
    int ends[2], wait_status;
    size_t used = 0;
    ssize_t got;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        body();
        _exit(0);
    }
    close(ends[1]);
    while (used < bytes - 1 && (got = read(ends[0], output + used, bytes - 1 - used)) > 0)
        used += (size_t)got;
    output[used] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &wait_status, 0), child);
    return wait_status;
}

static void print_guest(void *self, FILE *to) { fprintf(to, "guest at %s\n", (const char *)self); }

static void print_guest_and_fail(void *self, FILE *to)
{
    print_guest(self, to);
    C2_ASSERT(!self);
}

static void body_holds(void) { C2_ASSERT(1 + 1 == 2); }

static void body_fails(void)
{
    c2_assert_context(print_guest, "0x401000");
    C2_ASSERT(1 + 1 == 3);
}

static void body_context_fails(void)
{
    c2_assert_context(print_guest_and_fail, "0x401000");
    C2_ASSERT(1 + 1 == 3);
}

static void body_context_removed(void)
{
    c2_assert_context(print_guest, "0x401000");
    c2_assert_context(NULL, NULL);
    C2_ASSERT(1 + 1 == 3);
}

static void assert_aborted(int wait_status)
{
    assert_true(WIFSIGNALED(wait_status));
    assert_int_equal(WTERMSIG(wait_status), SIGABRT);
}

static void test_assertion_that_holds(void **state)
{
    (void)state;
    char output[1024];
    assert_int_equal(run_child(body_holds, output, sizeof output), 0);
    assert_string_equal(output, "");
}

static void test_assertion_prints_the_guest_first(void **state)
{
    (void)state;
    char output[1024];
    assert_aborted(run_child(body_fails, output, sizeof output));
    char *guest = strstr(output, "guest at 0x401000\n"), *condition = strstr(output, "1 + 1 == 3 does not hold\n");
    assert_ptr_equal(guest, output);
    assert_non_null(condition);
    assert_non_null(strstr(output, "base_status.c:"));
}

static void test_assertion_in_the_context_ends(void **state)
{
    (void)state;
    char output[1024];
    assert_aborted(run_child(body_context_fails, output, sizeof output));
    assert_ptr_equal(strstr(output, "guest at"), output);
    assert_null(strstr(output + 1, "guest at"));
    assert_non_null(strstr(output, "!self does not hold"));
}

static void test_context_can_be_removed(void **state)
{
    (void)state;
    char output[1024];
    assert_aborted(run_child(body_context_removed, output, sizeof output));
    assert_null(strstr(output, "guest at"));
}

static void test_bit_helpers(void **state)
{
    (void)state;
    assert_int_equal(c2_mask(0, 63), UINT64_MAX);
    assert_int_equal(c2_mask(0, 0), 1);
    assert_int_equal(c2_mask(63, 63), UINT64_C(1) << 63);
    assert_int_equal(c2_mask(6, 11), 0xfc0);
    assert_false(c2_is_power_of_two(0));
    assert_true(c2_is_power_of_two(1));
    assert_true(c2_is_power_of_two(UINT64_C(1) << 63));
    assert_false(c2_is_power_of_two(3));
    assert_int_equal(c2_log2(1), 0);
    assert_int_equal(c2_log2(UINT64_MAX), 63);
    assert_int_equal(c2_align_down(0x1fff, 0x1000), 0x1000);
    assert_int_equal(c2_align_up(0x1001, 0x1000), 0x2000);
    assert_int_equal(c2_align_up(0x1000, 0x1000), 0x1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fail_fills_status_and_text),       cmocka_unit_test(test_fail_without_error),
        cmocka_unit_test(test_fail_may_quote_the_old_reason),    cmocka_unit_test(test_long_reason_is_cut),
        cmocka_unit_test(test_fail_memory_does_not_allocate),    cmocka_unit_test(test_assertion_that_holds),
        cmocka_unit_test(test_assertion_prints_the_guest_first), cmocka_unit_test(test_assertion_in_the_context_ends),
        cmocka_unit_test(test_context_can_be_removed),           cmocka_unit_test(test_bit_helpers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
