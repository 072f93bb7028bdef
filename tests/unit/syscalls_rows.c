/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Each row of the table has a test of its name, or this file does not link; and what a row says of the guest's memory
 * is tested for all rows by one loop.
 */
#include <errno.h>
#include <string.h>

#include "syscalls/call_priv.h"
#include "syscalls_guest.h"

#define SYSCALL(number, name, ...) void row_##name(void **state);
#include "syscalls/table.h"

/* ------------------------------------------------------------------ memory, for every row */

static bool is_pointer(const struct call_arg *a) { return a->access != 0; }

/* Arguments with which every check but that of argument `bad` passes: descriptor 0, counts of 1, good memory. */
static void good_arguments(uint64_t out[6], const struct call_row *row, int bad, uint64_t address)
{
    char *memory = (char *)(uintptr_t)GUEST_ARENA;
    memset(memory, 0, 4096);
    for (int i = 0; i < 6; i++)
        out[i] = is_pointer(&row->arg[i]) ? GUEST_ARENA + 1024 + 512 * (uint64_t)i : 0;
    for (int i = 0; i < 6; i++) {
        if (row->arg[i].count)
            out[row->arg[i].count - 1] = 1;
        if (row->arg[i].sized)
            out[row->arg[i].sized - 1] = row->arg[i].bytes;
    }
    out[bad] = address;
}

/* Descriptor 0 is a file without content. */
static void take_input_away(void)
{
    guest_file("empty", "");
    assert_call(0, close, 0);
    assert_call(0, open, guest_text("empty"), 0);
}

/* Of data it is told when there are any to write. */
static bool is_refused(const struct call_arg *a, int64_t value)
{
    return value == -EFAULT || (a->returned && value <= 0);
}

static void unmapped_memory_is_efault(void **state)
{
    (void)state;
    int checked = 0;
    take_input_away();
    for (uint64_t number = 0; number < CALL_TABLE_END; number++) {
        const struct call_row *row = call_row_of(number);
        for (int i = 0; row && i < CALL_ARGS; i++) {
            uint64_t arguments[6];
            if (!is_pointer(&row->arg[i]))
                continue;
            good_arguments(arguments, row, i, GUEST_BAD);
            if (!is_refused(&row->arg[i], guest_call(number, arguments)))
                fail_msg("%s, argument %d: %lld", row->name, i + 1, (long long)g.result.value);
            assert_int_equal(g.result.action, SYSCALLS_RETURN);
            checked++;
        }
    }
    assert_true(checked > 150);
}

static void memory_that_may_not_be_written_is_efault(void **state)
{
    (void)state;
    char *page = (char *)(uintptr_t)GUEST_READONLY;
    memset(page, 0, C2_PAGE_BYTES); /* the host may: that is why the kernel has to check */
    take_input_away();
    for (uint64_t number = 0; number < CALL_TABLE_END; number++) {
        const struct call_row *row = call_row_of(number);
        for (int i = 0; row && i < CALL_ARGS; i++) {
            uint64_t arguments[6];
            if (!(row->arg[i].access & CALL_WRITES) || row->arg[i].kind == CALL_IOV)
                continue;
            good_arguments(arguments, row, i, GUEST_READONLY);
            if (!is_refused(&row->arg[i], guest_call(number, arguments)))
                fail_msg("%s, argument %d: %lld", row->name, i + 1, (long long)g.result.value);
            for (size_t byte = 0; byte < C2_PAGE_BYTES; byte++)
                assert_int_equal(page[byte], 0);
        }
    }
}

static void closed_descriptors_are_ebadf(void **state)
{
    (void)state;
    for (uint64_t number = 0; number < CALL_TABLE_END; number++) {
        const struct call_row *row = call_row_of(number);
        for (int i = 0; row && i < CALL_ARGS; i++) {
            uint64_t arguments[6];
            if (row->arg[i].kind != CALL_FD)
                continue;
            good_arguments(arguments, row, i, 77);
            assert_int_equal(guest_call(number, arguments), -EBADF);
            arguments[i] = UINT64_MAX;
            assert_int_equal(guest_call(number, arguments), -EBADF);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(unmapped_memory_is_efault, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(memory_that_may_not_be_written_is_efault, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(closed_descriptors_are_ebadf, guest_setup, guest_teardown),
#define SYSCALL(number, name, ...) cmocka_unit_test_setup_teardown(row_##name, guest_setup, guest_teardown),
#include "syscalls/table.h"
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
