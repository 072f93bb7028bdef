/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Times of files: the host's of what the run has not changed, the guest's clock of what it has.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "syscalls_guest.h"

#define START 1577836800       /* 2020-01-01T00:00:00Z */
#define OF_AN_INPUT 1700000000 /* 2023 */
#define SECOND 1000000000ull

static const struct stat *stat_of(const char *path)
{
    struct stat *st = guest_take(sizeof *st);
    assert_call(0, lstat, guest_text(path), st);
    return st;
}

/* In seconds behind the start; -1: not within a year of it. */
static int64_t behind(struct timespec time)
{
    return time.tv_sec >= START && time.tv_sec < START + 31536000 ? time.tv_sec - START : -1;
}

static void assert_times(const char *path, int64_t access, int64_t write, int64_t change)
{
    const struct stat *st = stat_of(path);
    assert_int_equal(behind(st->st_atim), access);
    assert_int_equal(behind(st->st_mtim), write);
    assert_int_equal(behind(st->st_ctim), change);
}

static void at(uint64_t second) { g.instructions = second * SECOND; }

static void a_file_is_made_written_and_read(void **state)
{
    (void)state;
    char *buffer = guest_take(16);
    struct statx *stx = guest_take(sizeof *stx);
    at(1);
    const int64_t fd = CALL(open, guest_text("f"), O_CREAT | O_RDWR, 0600);
    assert_times("f", 1, 1, 1);
    assert_int_equal(behind(stat_of(".")->st_mtim), 1);
    at(2);
    assert_call(3, write, fd, guest_text("abc"), 3);
    assert_times("f", 1, 2, 2);
    at(3);
    assert_call(3, pread64, fd, buffer, 16, 0);
    assert_times("f", 3, 2, 2);
    at(4);
    assert_call(1, pread64, fd, buffer, 1, 0); /* relatime: it is behind the change already */
    assert_call(0, pread64, fd, buffer, 1, 3);
    assert_times("f", 3, 2, 2);
    at(5);
    assert_call(1, pwrite64, fd, guest_text("d"), 1, 9);
    assert_times("f", 3, 5, 5);
    assert_call(0, write, fd, guest_text(""), 0);
    at(6);
    assert_call(0, ftruncate, fd, 4);
    assert_times("f", 3, 6, 6);
    at(7);
    assert_call(0, truncate, guest_text("f"), 4); /* it has this size */
    assert_times("f", 3, 6, 6);
    assert_call(0, truncate, guest_text("f"), 5);
    assert_times("f", 3, 7, 7);
    at(8);
    assert_call(fd + 1, open, guest_text("f"), O_CREAT | O_WRONLY, 0600); /* nothing is made */
    assert_times("f", 3, 7, 7);
    assert_call(fd + 2, open, guest_text("f"), O_TRUNC | O_WRONLY);
    assert_times("f", 3, 8, 8);
    assert_call(0, statx, AT_FDCWD, guest_text("f"), 0, STATX_BASIC_STATS | STATX_BTIME, stx);
    assert_int_equal(stx->stx_mtime.tv_sec, START + 8);
    assert_int_equal(stx->stx_atime.tv_sec, START + 3);
    assert_int_equal(stx->stx_mtime.tv_nsec, 0);
    if (stx->stx_mask & STATX_BTIME)
        assert_int_equal(stx->stx_btime.tv_sec, START + 1);
    at(9);
    assert_call(1, write, fd + 1, guest_text("x"), 1);
    assert_int_equal(behind(stat_of("f")->st_mtim), 9);
    at(10);
    assert_true((int64_t)CALL(mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) > 0);
    assert_int_equal(behind(stat_of("f")->st_mtim), 10);
    at(11);
    assert_true((int64_t)CALL(mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0) > 0);
    assert_int_equal(behind(stat_of("f")->st_mtim), 10);
}

static void names_come_and_go(void **state)
{
    (void)state;
    const struct sockaddr_un socket_name = {.sun_family = AF_UNIX, .sun_path = "d/socket"};
    struct sockaddr_un *address = guest_take(sizeof *address);
    at(1);
    assert_call(0, mkdir, guest_text("d"), 0700);
    assert_times("d", 1, 1, 1);
    at(2);
    assert_call(0, symlink, guest_text("nowhere"), guest_text("d/l"));
    assert_times("d/l", 2, 2, 2);
    assert_times("d", 1, 2, 2);
    at(3);
    assert_call(0, mknod, guest_text("d/p"), S_IFIFO | 0600, 0);
    assert_times("d/p", 3, 3, 3);
    at(4);
    assert_call(0, link, guest_text("d/p"), guest_text("q"));
    assert_times("d/p", 3, 3, 4);
    assert_times("d", 1, 3, 3);
    assert_int_equal(behind(stat_of(".")->st_mtim), 4);
    at(5);
    assert_call(0, rename, guest_text("q"), guest_text("d/r"));
    assert_times("d/r", 3, 3, 5);
    assert_call(0, rename, guest_text("d/r"), guest_text("d/p")); /* two names of one inode stay as they are */
    at(6);
    assert_call(0, rename, guest_text("d/p"), guest_text("d/r"));
    assert_times("d/p", 3, 3, 5);
    assert_times("d", 1, 5, 5);
    at(6);
    assert_call(0, rename, guest_text("d/l"), guest_text("l"));
    assert_times("l", 2, 2, 6);
    assert_times("d", 1, 6, 6);
    at(7);
    assert_call(0, unlink, guest_text("d/r"));
    assert_times("d/p", 3, 3, 7);
    assert_times("d", 1, 7, 7);
    at(8);
    *address = socket_name;
    assert_call(0, bind, CALL(socket, AF_UNIX, SOCK_STREAM, 0), address, sizeof *address);
    assert_times("d/socket", 8, 8, 8);
    at(9);
    assert_call(0, rename, guest_text("l"), guest_text("d/p"));
    assert_times("d/p", 2, 2, 9);
}

static void what_stands_in_an_inode_changes(void **state)
{
    (void)state;
    at(1);
    const int64_t fd = CALL(creat, guest_text("f"), 0600);
    at(2);
    assert_call(0, chmod, guest_text("f"), 0644);
    assert_times("f", 1, 1, 2);
    at(3);
    assert_call(0, fchmod, fd, 0600);
    assert_times("f", 1, 1, 3);
    at(4);
    assert_call(0, chown, guest_text("f"), -1, -1);
    assert_times("f", 1, 1, 4);
    at(5);
    assert_call(-EPERM, chown, guest_text("f"), 0, 0);
    assert_times("f", 1, 1, 4);
    if (setxattr("f", "user.a", "b", 1, 0) == 0) { /* the file system has them */
        assert_call(0, fsetxattr, fd, guest_text("user.b"), guest_text("b"), 1, 0);
        assert_times("f", 1, 1, 5);
        at(6);
        assert_call(0, removexattr, guest_text("f"), guest_text("user.a"));
        assert_times("f", 1, 1, 6);
    }
}

static void given_times_are_kept(void **state)
{
    (void)state;
    struct timespec *times = guest_take(2 * sizeof *times);
    at(1);
    const int64_t fd = CALL(creat, guest_text("f"), 0600);
    at(2);
    times[0] = (struct timespec){.tv_sec = 1000, .tv_nsec = 5};
    times[1] = (struct timespec){.tv_sec = 4000000000, .tv_nsec = 6};
    assert_call(0, utimensat, AT_FDCWD, guest_text("f"), times, 0);
    const struct stat *st = stat_of("f");
    assert_int_equal(st->st_atim.tv_sec, 1000);
    assert_int_equal(st->st_atim.tv_nsec, 5);
    assert_int_equal(st->st_mtim.tv_sec, 4000000000);
    assert_int_equal(behind(st->st_ctim), 2);
    at(3);
    times[0].tv_nsec = UTIME_NOW;
    times[1].tv_nsec = UTIME_OMIT;
    assert_call(0, utimensat, fd, NULL, times, 0);
    st = stat_of("f");
    assert_int_equal(behind(st->st_atim), 3);
    assert_int_equal(st->st_mtim.tv_sec, 4000000000);
    assert_int_equal(behind(st->st_ctim), 3);
    at(4);
    times[0].tv_nsec = UTIME_OMIT;
    assert_call(0, utimensat, AT_FDCWD, guest_text("f"), times, 0);
    assert_int_equal(behind(stat_of("f")->st_ctim), 3);
    assert_call(0, utime, guest_text("f"), NULL);
    assert_times("f", 4, 4, 4);
}

static void an_input(const char *name, int64_t seconds)
{
    const struct timespec times[] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    guest_file(name, "input");
    assert_int_equal(utimensat(AT_FDCWD, name, times, 0), 0);
}

/* What make compares: an output is newer than what it was made from, also where that is newer than the clock. */
static void outputs_are_newer_than_inputs(void **state)
{
    (void)state;
    an_input("old", START - 5);
    an_input("input", OF_AN_INPUT);
    an_input("future", 4000000000); /* of the host's clock */
    at(1);
    assert_int_equal(mkdir("inputs", 0700), 0); /* of others, as the run goes on */
    assert_int_equal(behind(stat_of("inputs")->st_mtim), -1);
    assert_call(0, stat, guest_text("future"), guest_take(sizeof(struct stat)));
    assert_call(0, stat, guest_text("old"), guest_take(sizeof(struct stat)));
    CALL(creat, guest_text("before"), 0600);
    assert_times("before", 1, 1, 1);
    assert_int_equal(stat_of("input")->st_mtim.tv_sec, OF_AN_INPUT);
    const int64_t fd = CALL(creat, guest_text("output"), 0600);
    const struct stat *st = stat_of("output");
    assert_int_equal(st->st_mtim.tv_sec, OF_AN_INPUT);
    assert_true(st->st_mtim.tv_nsec > 0);
    at(3);
    assert_call(1, write, fd, guest_text("x"), 1);
    assert_int_equal(stat_of("output")->st_mtim.tv_sec, OF_AN_INPUT + 2);
    assert_times("before", 1, 1, 1);
    assert_int_equal(stat_of("input")->st_mtim.tv_sec, OF_AN_INPUT);
}

/* An inode number that is used again: nothing of the file before is left. */
static void a_new_file_has_no_past(void **state)
{
    (void)state;
    struct timespec *times = guest_take(2 * sizeof *times);
    for (unsigned i = 0; i < 20; i++) {
        at(i);
        assert_true((int64_t)CALL(close, CALL(creat, guest_text("f"), 0600)) == 0);
        assert_times("f", i, i, i);
        assert_call(0, utimensat, AT_FDCWD, guest_text("f"), times, 0);
        assert_call(0, unlink, guest_text("f"));
    }
}

static void memory_files_have_times_too(void **state)
{
    (void)state;
    struct stat *st = guest_take(sizeof *st);
    at(1);
    const int64_t fd = CALL(memfd_create, guest_text("m"), 0);
    at(2);
    assert_call(2, write, fd, guest_text("ab"), 2);
    assert_call(0, fstat, fd, st);
    assert_int_equal(behind(st->st_mtim), 2);
    assert_int_equal(behind(st->st_atim), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_is_made_written_and_read, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(names_come_and_go, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(what_stands_in_an_inode_changes, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(given_times_are_kept, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(outputs_are_newer_than_inputs, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(a_new_file_has_no_past, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(memory_files_have_times_too, guest_setup, guest_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
