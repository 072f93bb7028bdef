/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the kernel keeps of the guest's reading: by calls of the guest, and the list at the end.
 */
#include "syscalls_guest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct syscalls_input *list;
static size_t count;

static void look(void)
{
    struct c2_error err;
    assert_int_equal(syscalls_inputs(&list, &count, g.kernel, &err), C2_OK);
}

static const char *hash_of(const char *text)
{
    static char hash[C2_SHA256_TEXT];
    assert_int_equal(c2_sha256_bytes(hash, text, strlen(text), NULL), C2_OK);
    return hash;
}

static const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", g.dir, name);
    return path;
}

/* The n-th input, of a file in the working directory, or with another absolute path. */
static void expect(size_t n, enum syscalls_input_kind kind, const char *name, const char *content)
{
    assert_true(n < count);
    assert_int_equal(list[n].kind, kind);
    assert_string_equal(list[n].path, path_of(name));
    assert_int_equal(list[n].descriptor, -1);
    assert_string_equal(list[n].sha256, content ? hash_of(content) : "");
    assert_int_equal(list[n].bytes, content ? strlen(content) : 0);
}

static int open_as(const char *name, int flags)
{
    int64_t fd = CALL(open, guest_text(name), flags, 0600);
    assert_true(fd >= 0);
    return (int)fd;
}

static void read_some(int fd, int64_t bytes)
{
    char *buffer = guest_take(64);
    assert_call(bytes, read, fd, buffer, bytes);
}

/* ------------------------------------------------------------------ files */

static void test_read_once_hashed_whole(void **state)
{
    (void)state;
    guest_file("a", "alpha beta");
    guest_file("b", "unread");
    open_as("b", O_RDONLY);
    int fd = open_as("a", O_RDONLY);
    look();
    assert_int_equal(count, 0);
    read_some(fd, 3);
    read_some(fd, 3);
    read_some(open_as("./a", O_RDONLY), 1);
    read_some((int)CALL(dup, fd), 1);
    look();
    assert_int_equal(count, 1);
    expect(0, SYSCALLS_INPUT_FILE, "a", "alpha beta");
    assert_null(list[0].note);
}

static void test_every_way_to_read(void **state)
{
    (void)state;
    static const char *const names[] = {"pread", "readv", "preadv", "sendfile", "copied", "spliced", "mapped", "code"};
    enum { WAYS = sizeof names / sizeof names[0] };
    int fd[WAYS], *pipes = guest_take(2 * sizeof(int));
    char *buffer = guest_take(64);
    struct iovec *iov = guest_take(sizeof *iov);
    *iov = (struct iovec){buffer, 4};
    for (int i = 0; i < WAYS; i++) {
        guest_file(names[i], names[i]);
        fd[i] = open_as(names[i], O_RDONLY);
    }
    int to = open_as("out", O_WRONLY | O_CREAT);
    assert_call(0, pipe, pipes);
    assert_call(4, pread64, fd[0], buffer, 4, 0);
    assert_call(4, readv, fd[1], iov, 1);
    assert_call(4, preadv, fd[2], iov, 1, 0);
    assert_call(4, sendfile, to, fd[3], NULL, 4);
    int64_t copied = CALL(copy_file_range, fd[4], NULL, to, NULL, 4, 0);
    assert_true(copied == 4 || copied < 0); /* file systems that cannot have looked all the same */
    assert_call(4, splice, fd[5], NULL, pipes[1], NULL, 4, 0);
    assert_true(CALL(mmap, 0, 4096, PROT_READ, MAP_PRIVATE, fd[6], 0) > 0);
    assert_true(CALL(mmap, 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd[7], 0) > 0);
    look();
    assert_int_equal(count, WAYS);
    for (int i = 0; i < WAYS; i++)
        expect((size_t)i, i == 7 ? SYSCALLS_INPUT_LIBRARY : SYSCALLS_INPUT_FILE, names[i], names[i]);
}

/* As it was when it was read, not as it is at the end. */
static void test_overwritten_later(void **state)
{
    (void)state;
    guest_file("data", "before");
    read_some(open_as("data", O_RDONLY), 6);
    int fd = open_as("data", O_WRONLY | O_TRUNC);
    assert_call(5, write, fd, guest_text("after"), 5);
    assert_call(0, close, fd);
    read_some(open_as("data", O_RDONLY), 5);
    look();
    assert_int_equal(count, 1);
    expect(0, SYSCALLS_INPUT_FILE, "data", "before");
    assert_null(list[0].note);
}

static void test_what_the_guest_wrote_is_no_input(void **state)
{
    (void)state;
    int fd = open_as("made", O_RDWR | O_CREAT);
    assert_call(3, write, fd, guest_text("own"), 3);
    assert_call(0, rename, guest_text("made"), guest_text("moved"));
    read_some(open_as("moved", O_RDONLY), 3);
    guest_file("cut", "something");
    fd = open_as("cut", O_WRONLY | O_TRUNC);
    assert_call(3, write, fd, guest_text("own"), 3);
    read_some(open_as("cut", O_RDONLY), 3);
    look();
    assert_int_equal(count, 0);
}

static void test_read_and_written_by_one_descriptor(void **state)
{
    (void)state;
    guest_file("data", "before");
    int fd = open_as("data", O_RDWR);
    assert_call(3, write, fd, guest_text("own"), 3);
    read_some(fd, 3);
    look();
    assert_int_equal(count, 1);
    expect(0, SYSCALLS_INPUT_FILE, "data", "before");
}

/* What stood there before is in what is read, and cannot be hashed any more. */
static void test_appended_to_before_it_is_read(void **state)
{
    (void)state;
    guest_file("log", "old ");
    int fd = open_as("log", O_WRONLY | O_APPEND);
    assert_call(3, write, fd, guest_text("new"), 3);
    guest_file("short", "long enough");
    assert_call(0, truncate, guest_text("short"), 4);
    look();
    assert_int_equal(count, 0);
    read_some(open_as("log", O_RDONLY), 7);
    read_some(open_as("short", O_RDONLY), 4);
    look();
    assert_int_equal(count, 2);
    expect(0, SYSCALLS_INPUT_FILE, "log", NULL);
    expect(1, SYSCALLS_INPUT_FILE, "short", NULL);
    assert_string_equal(list[0].note, "the program had written to it before it read it");
    assert_string_equal(list[1].note, list[0].note);
}

static void test_changed_by_somebody_else(void **state)
{
    (void)state;
    guest_file("a", "first");
    int fd = open_as("a", O_RDONLY);
    read_some(fd, 5);
    guest_file("a", "second one");
    look();
    assert_int_equal(count, 1);
    expect(0, SYSCALLS_INPUT_FILE, "a", "first");
    assert_string_equal(list[0].note, "changed while the program ran");
    read_some(open_as("a", O_RDONLY), 10);
    look();
    assert_int_equal(count, 2);
    expect(1, SYSCALLS_INPUT_FILE, "a", "second one");
    assert_null(list[1].note);
}

static void test_too_large(void **state)
{
    (void)state;
    guest_file("large", "x");
    assert_int_equal(truncate("large", (4ll << 30) + 1), 0);
    read_some(open_as("large", O_RDONLY), 1);
    look();
    assert_int_equal(count, 1);
    assert_string_equal(list[0].sha256, "");
    assert_string_equal(list[0].note, "larger than 4 GiB, and not hashed");
}

static void test_files_of_the_run_itself(void **state)
{
    (void)state;
    guest_file("program", "code");
    syscalls_note_input(g.kernel, SYSCALLS_INPUT_PROGRAM, path_of("program"));
    syscalls_note_input(g.kernel, SYSCALLS_INPUT_INTERPRETER, path_of("program"));
    read_some(open_as("program", O_RDONLY), 4);
    look();
    assert_int_equal(count, 1);
    expect(0, SYSCALLS_INPUT_PROGRAM, "program", "code");
}

static void test_what_is_made_up_is_no_input(void **state)
{
    (void)state;
    guest_content("/proc/cpuinfo");
    guest_content("/proc/self/maps");
    char *buffer = guest_take(64);
    assert_true(CALL(readlink, guest_text("/proc/self/exe"), buffer, 64) > 0);
    assert_call(-ENOENT, open, guest_text("/proc/nothing"), O_RDONLY);
    read_some(open_as("/dev/urandom", O_RDONLY), 8);
    look();
    assert_int_equal(count, 0);
}

/* ------------------------------------------------------------------ streams */

static void test_bytes_of_a_pipe_in_order(void **state)
{
    (void)state;
    assert_int_equal(mkfifo("fifo", 0600), 0);
    int writer = open("fifo", O_RDWR | O_CLOEXEC);
    assert_int_equal(write(writer, "one two", 7), 7);
    int fd = open_as("fifo", O_RDONLY);
    struct iovec *iov = guest_take(2 * sizeof *iov);
    iov[0] = (struct iovec){guest_take(8), 2};
    iov[1] = (struct iovec){guest_take(8), 3};
    assert_call(5, readv, fd, iov, 2);
    read_some((int)CALL(dup, fd), 2);
    look();
    assert_int_equal(count, 1);
    expect(0, SYSCALLS_INPUT_STREAM, "fifo", "one two");
    assert_int_equal(write(writer, "!", 1), 1);
    read_some(fd, 1);
    look();
    expect(0, SYSCALLS_INPUT_STREAM, "fifo", "one two!");
    int to = open_as("out", O_WRONLY | O_CREAT);
    assert_int_equal(write(writer, "?", 1), 1);
    assert_call(1, splice, fd, NULL, to, NULL, 1, 0);
    look();
    assert_string_equal(list[0].note, "not all that came of it was seen");
    close(writer);
}

static void test_pipes_of_its_own_are_no_input(void **state)
{
    (void)state;
    int *pipes = guest_take(2 * sizeof(int));
    assert_call(0, pipe, pipes);
    assert_call(3, write, pipes[1], guest_text("own"), 3);
    read_some(pipes[0], 3);
    look();
    assert_int_equal(count, 0);
}

/* ------------------------------------------------------------------ names */

static void test_directories_and_links(void **state)
{
    (void)state;
    char *buffer = guest_take(1024), expected[C2_SHA256_TEXT];
    uint64_t bytes;
    guest_file("a", "");
    assert_int_equal(symlink("a", "link"), 0);
    int fd = open_as(".", O_RDONLY | O_DIRECTORY), host = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(c2_sha256_names(expected, &bytes, host, NULL), C2_OK);
    close(host);
    while (CALL(getdents64, fd, buffer, 1024) > 0)
        ;
    assert_call(1, readlink, guest_text("link"), buffer, 64);
    assert_call(1, readlink, guest_text("link"), buffer, 64);
    look();
    assert_int_equal(count, 2);
    assert_int_equal(list[0].kind, SYSCALLS_INPUT_DIRECTORY);
    assert_string_equal(list[0].path, g.dir);
    assert_string_equal(list[0].sha256, expected);
    assert_int_equal(list[0].bytes, strlen(".\n..\na\nlink\n"));
    assert_int_equal(list[0].bytes, bytes);
    expect(1, SYSCALLS_INPUT_LINK, "link", "a");
}

static void test_names_that_are_not_there(void **state)
{
    (void)state;
    struct stat *st = guest_take(sizeof *st);
    assert_call(-ENOENT, open, guest_text("no"), O_RDONLY);
    assert_call(-ENOENT, stat, guest_text("no"), st);
    assert_call(-ENOENT, access, guest_text("nobody"), R_OK);
    assert_call(-ENOENT, readlink, guest_text("../nothing/at all"), st, 8);
    look();
    assert_int_equal(count, 3);
    expect(0, SYSCALLS_INPUT_ABSENT, "no", NULL);
    expect(1, SYSCALLS_INPUT_ABSENT, "nobody", NULL);
    assert_int_equal(list[2].kind, SYSCALLS_INPUT_ABSENT);
    assert_string_equal(list[2].path, "/tmp/nothing/at all");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, guest_setup, guest_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_read_once_hashed_whole),
        TEST(test_every_way_to_read),
        TEST(test_overwritten_later),
        TEST(test_what_the_guest_wrote_is_no_input),
        TEST(test_read_and_written_by_one_descriptor),
        TEST(test_appended_to_before_it_is_read),
        TEST(test_changed_by_somebody_else),
        TEST(test_too_large),
        TEST(test_files_of_the_run_itself),
        TEST(test_what_is_made_up_is_no_input),
        TEST(test_bytes_of_a_pipe_in_order),
        TEST(test_pipes_of_its_own_are_no_input),
        TEST(test_directories_and_links),
        TEST(test_names_that_are_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
