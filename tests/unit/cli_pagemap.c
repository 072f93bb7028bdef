/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The map of a live process: this one, against what its own /proc files say; or the right that is missing.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/cli.h"

static char page_of_ours[2 * C2_PAGE_BYTES];

/* The entry of this process for an address, straight from the kernel. */
static uint64_t entry_of(const void *address)
{
    uint64_t entry = 0;
    FILE *from = fopen("/proc/self/pagemap", "r");
    assert_non_null(from);
    fseek(from, (long)((uintptr_t)address / C2_PAGE_BYTES * sizeof entry), SEEK_SET);
    assert_int_equal(fread(&entry, sizeof entry, 1, from), 1);
    fclose(from);
    return entry;
}

static bool file_has(const char *path, const char *wanted)
{
    char line[256];
    bool found = false;
    FILE *from = fopen(path, "r");
    while (from && !found && fgets(line, sizeof line, from))
        found = strcmp(line, wanted) == 0;
    if (from)
        fclose(from);
    return found;
}

static void our_own_map_or_the_missing_right(void **state)
{
    (void)state;
    char pid[32], path[] = "/tmp/cli_pagemap_XXXXXX", *words[] = {"pagemap", pid, path, NULL}, wanted[128];
    struct c2_error err = {0};
    close(mkstemp(path));
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    page_of_ours[C2_PAGE_BYTES] = 1;
    uint64_t frame = entry_of(page_of_ours + C2_PAGE_BYTES) & (((uint64_t)1 << 55) - 1);
    enum c2_status status = cli_pagemap(3, words, &err);
    if (frame == 0) {
        assert_int_equal(status, C2_ERR_DENIED);
        assert_non_null(strstr(err.text, "CAP_SYS_ADMIN"));
    } else {
        assert_int_equal(status, C2_OK);
        snprintf(wanted, sizeof wanted, "0x%llx 0x%llx 4K\n",
                 (unsigned long long)((uintptr_t)(page_of_ours + C2_PAGE_BYTES) / C2_PAGE_BYTES),
                 (unsigned long long)frame);
        assert_true(file_has(path, wanted));
    }
    unlink(path);
}

static void refusals(void **state)
{
    (void)state;
    char *no_process[] = {"pagemap", "4194305", NULL}, *no_number[] = {"pagemap", "x", NULL};
    char *too_many[] = {"pagemap", "1", "f", "g", NULL}, *none[] = {"pagemap", NULL};
    struct c2_error err = {0};
    assert_int_equal(cli_pagemap(2, no_process, &err), C2_ERR_NOT_FOUND);
    assert_string_equal(err.text, "pagemap: there is no process 4194305");
    assert_int_equal(cli_pagemap(2, no_number, &err), C2_ERR_INVALID);
    assert_int_equal(cli_pagemap(4, too_many, &err), C2_ERR_INVALID);
    assert_int_equal(cli_pagemap(1, none, &err), C2_ERR_INVALID);
    assert_non_null(strstr(err.text, "c2emu pagemap PID [FILE]"));
}

/* A process that has ended has nothing in memory. */
static void nothing_in_memory(void **state)
{
    (void)state;
    char word[32], path[] = "/tmp/cli_pagemap_none", *words[] = {"pagemap", word, path, NULL};
    struct c2_error err = {0};
    siginfo_t ended;
    unlink(path);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT);
    snprintf(word, sizeof word, "%d", (int)child);
    assert_int_equal(cli_pagemap(3, words, &err), C2_ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, word));
    assert_int_equal(access(path, F_OK), -1);
    waitpid(child, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(our_own_map_or_the_missing_right),
        cmocka_unit_test(refusals),
        cmocka_unit_test(nothing_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
