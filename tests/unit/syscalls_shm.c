/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * /dev/shm: names of the run's own, which nobody else finds and which end with it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/root.h"
#include "syscalls/shm_priv.h"
#include "syscalls_guest.h"

#define NAME "/dev/shm/c2test-object"

static bool is_of_host(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static int64_t make(const char *path, const char *content)
{
    const int64_t fd = CALL(open, guest_text(path), O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0)
        assert_call((int64_t)strlen(content), write, fd, guest_text(content), strlen(content));
    return fd;
}

static int64_t access_to(const char *path) { return CALL(access, guest_text(path), F_OK); }

static void names_are_the_runs_own(void **state)
{
    (void)state;
    char *text = guest_take(128), link[64];
    const int64_t fd = make(NAME, "abc");
    assert_true(fd >= 0);
    assert_false(is_of_host(NAME));
    assert_int_equal(make(NAME, ""), -EEXIST);
    assert_string_equal(guest_content(NAME), "abc");
    snprintf(link, sizeof link, "/proc/self/fd/%d", (int)fd);
    assert_int_equal(CALL(readlink, guest_text(link), text, 128), strlen(NAME));
    assert_string_equal(text, NAME);
    /* as sem_open makes a semaphore */
    assert_call(0, link, guest_text(NAME), guest_text("/dev/shm/sem.c2test"));
    assert_call(0, unlink, guest_text(NAME));
    assert_int_equal(access_to(NAME), -ENOENT);
    assert_string_equal(guest_content("/dev/shm/sem.c2test"), "abc");
    assert_call(0, rename, guest_text("/dev/shm/sem.c2test"), guest_text(NAME));
    assert_string_equal(guest_content(NAME), "abc");
    assert_call(0, mkdir, guest_text("/dev/shm/c2test/"), 0700);
    assert_call(-ENOTDIR, access, guest_text(NAME "/"), F_OK);
    assert_call(0, symlink, guest_text("../c2test-object"), guest_text("/dev/shm/c2test/l"));
    assert_string_equal(guest_content("/dev/shm/c2test/l"), "abc");
    assert_call(-EBUSY, rmdir, guest_text("/dev/shm"));
    assert_call(-EBUSY, rename, guest_text("/dev/shm"), guest_text("/dev/shm2"));
}

static void directories_lead_there(void **state)
{
    (void)state;
    char *text = guest_take(128);
    struct stat *st = guest_take(sizeof *st), host;
    make(NAME, "abc");
    const int64_t top = CALL(open, guest_text("/dev/shm"), O_RDONLY | O_DIRECTORY),
                  dev = CALL(open, guest_text("/dev"), O_PATH);
    assert_true(top >= 0 && dev >= 0);
    assert_call(0, newfstatat, top, guest_text("c2test-object"), st, 0);
    assert_int_equal(st->st_size, 3);
    assert_call(0, newfstatat, dev, guest_text("shm/c2test-object"), st, 0);
    assert_call(0, newfstatat, top, guest_text("../null"), st, 0);
    assert_int_equal(stat("/dev/null", &host), 0);
    assert_int_equal(st->st_rdev, host.st_rdev);
    assert_call(0, chdir, guest_text("/dev/shm"));
    assert_call(9, getcwd, text, 128);
    assert_string_equal(text, "/dev/shm");
    assert_string_equal(guest_content("c2test-object"), "abc");
    assert_string_equal(guest_content("../shm/c2test-object"), "abc");
    assert_call(0, access, guest_text("../null"), F_OK);
    uint8_t *entries = guest_take(4096);
    const int64_t bytes = CALL(getdents64, top, entries, 4096);
    uint32_t found = 0, others = 0;
    for (int64_t at = 0; at < bytes; at += ((struct dirent64 *)(entries + at))->d_reclen) {
        const char *name = ((struct dirent64 *)(entries + at))->d_name;
        found += strcmp(name, "c2test-object") == 0;
        others += name[0] != '.' && strcmp(name, "c2test-object") != 0;
    }
    assert_int_equal(found, 1);
    assert_int_equal(others, 0);
}

/* What was there before is an input. */
static void names_of_the_host_are_found(void **state)
{
    (void)state;
    FILE *file = fopen(NAME, "w");
    assert_non_null(file);
    fputs("host", file);
    fclose(file);
    assert_string_equal(guest_content(NAME), "host");
    assert_int_equal(make(NAME, ""), -EEXIST);
    assert_call(0, unlink, guest_text(NAME));
    assert_false(is_of_host(NAME));
    assert_true(make(NAME, "own") >= 0);
    assert_false(is_of_host(NAME));
}

static void processes_share_it(void **state)
{
    (void)state;
    int status;
    const pid_t child = fork(); /* before anybody has been there */
    if (child == 0)
        _exit(make(NAME, "of the child") >= 0 ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_string_equal(guest_content(NAME), "of the child");
}

static void it_ends_with_the_run(void **state)
{
    (void)state;
    char own[PATH_MAX], left[64];
    int status;
    /* of a run that ended by force */
    const pid_t gone = fork();
    if (gone == 0)
        _exit(0);
    assert_int_equal(waitpid(gone, &status, 0), gone);
    snprintf(left, sizeof left, "/dev/shm/c2emu-%d-0", (int)gone);
    assert_int_equal(mkdir(left, 0700), 0);
    make(NAME, "");
    assert_false(is_of_host(left));
    snprintf(own, sizeof own, "%s", c2_root_own());
    assert_true(is_of_host(own));
    shm_destroy(g.kernel);
    assert_false(is_of_host(own));
    assert_string_equal(guest_said(g.complaints), "c2emu: the program has left 1 name in its /dev/shm, which ends with "
                                                  "the run: c2test-object\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_are_the_runs_own, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(directories_lead_there, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(names_of_the_host_are_found, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(processes_share_it, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(it_ends_with_the_run, guest_setup, guest_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
