/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The map of a live process, against what its /proc files say; or the right that is missing.
 */
#include <fcntl.h>
#include <inttypes.h>
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

/* A process that waits: `cat`, small beside this one, whose sanitizer has mapped terabytes. */
static pid_t start_waiting(int *to)
{
    char byte = 'x';
    int in[2], out[2];
    assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execlp("cat", "cat", (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    *to = in[1];
    assert_int_equal(write(in[1], &byte, 1), 1);
    assert_int_equal(read(out[0], &byte, 1), 1); /* it is `cat` by now, and no longer this program */
    close(out[0]);
    return child;
}

/* The first address of the process's stack that is in memory, and its entry, straight from the kernel. */
static uint64_t entry_of(pid_t pid, uint64_t *address)
{
    char path[64], line[512];
    uint64_t entry = 0, end = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *from = fopen(path, "r");
    while (from && fgets(line, sizeof line, from) && !strstr(line, "[stack]"))
        ;
    assert_int_equal(sscanf(line, "%" SCNx64 "-%" SCNx64, address, &end), 2);
    fclose(from);
    snprintf(path, sizeof path, "/proc/%d/pagemap", (int)pid);
    from = fopen(path, "r");
    assert_non_null(from);
    *address = end - C2_PAGE_BYTES;
    fseek(from, (long)(*address / C2_PAGE_BYTES * sizeof entry), SEEK_SET);
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

static void a_live_map_or_the_missing_right(void **state)
{
    (void)state;
    char word[32], path[] = "/tmp/cli_pagemap_XXXXXX", *words[] = {"pagemap", word, path, NULL}, wanted[128];
    struct c2_error err = {0};
    int to;
    uint64_t address;
    pid_t pid = start_waiting(&to);
    close(mkstemp(path));
    snprintf(word, sizeof word, "%d", (int)pid);
    uint64_t frame = entry_of(pid, &address) & (((uint64_t)1 << 55) - 1);
    enum c2_status status = cli_pagemap(3, words, &err);
    if (frame == 0) {
        assert_int_equal(status, C2_ERR_DENIED);
        assert_non_null(strstr(err.text, "CAP_SYS_ADMIN"));
    } else {
        assert_int_equal(status, C2_OK);
        snprintf(wanted, sizeof wanted, "0x%" PRIx64 " 0x%" PRIx64 " 4K\n", address / C2_PAGE_BYTES, frame);
        assert_true(file_has(path, wanted));
    }
    unlink(path);
    close(to);
    waitpid(pid, NULL, 0);
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
        cmocka_unit_test(a_live_map_or_the_missing_right),
        cmocka_unit_test(refusals),
        cmocka_unit_test(nothing_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
