/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A guest that is confined: every way out that is known, and the ways in that must work.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "syscalls_guest.h"

/* Beside the working directory: outside/file "secret", a directory, a pipe. */
static char outside[64], name[128];
static struct stat before;

static const char *out(const char *entry)
{
    snprintf(name, sizeof name, "%s/%s", outside, entry);
    return name;
}

static int setup(void **state)
{
    strcpy(outside, "/tmp/c2emu-outside-XXXXXX");
    assert_non_null(mkdtemp(outside));
    FILE *file = fopen(out("file"), "w");
    assert_non_null(file);
    fputs("secret", file);
    fclose(file);
    assert_int_equal(mkdir(out("directory"), 0755), 0);
    assert_int_equal(mkfifo(out("pipe"), 0600), 0);
    assert_int_equal(stat(out("file"), &before), 0);
    return guest_setup_confined(state);
}

/* Whatever was tried, nothing of it is different. */
static void check_outside(void)
{
    struct stat now;
    char content[16] = "", command[128];
    FILE *file = fopen(out("file"), "r");
    assert_non_null(file);
    assert_non_null(fgets(content, sizeof content, file));
    fclose(file);
    assert_string_equal(content, "secret");
    assert_int_equal(stat(out("file"), &now), 0);
    assert_memory_equal(&now.st_mtim, &before.st_mtim, sizeof now.st_mtim);
    assert_memory_equal(&now.st_ctim, &before.st_ctim, sizeof now.st_ctim);
    snprintf(command, sizeof command, "test \"$(ls %s | wc -l)\" = 3", outside);
    assert_int_equal(system(command), 0);
}

static int teardown(void **state)
{
    char command[128];
    check_outside();
    snprintf(command, sizeof command, "rm -r %s", outside);
    assert_int_equal(system(command), 0);
    rmdir(GUEST_WRITABLE);
    return guest_teardown(state);
}

/* Every call that follows links to what it changes. */
static void refuse_following(const char *path)
{
    char *file = guest_text(path);
    struct utimbuf *times = guest_take(sizeof *times);
    assert_call(-EROFS, open, file, O_WRONLY);
    assert_call(-EROFS, open, file, O_RDWR);
    assert_call(-EROFS, open, file, O_RDONLY | O_TRUNC);
    assert_call(-EROFS, openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND, 0600);
    assert_call(-EROFS, creat, file, 0600);
    assert_call(-EEXIST, open, file, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_call(-EROFS, truncate, file, 0);
    assert_call(-EROFS, chmod, file, 0777);
    assert_call(-EROFS, fchmodat, AT_FDCWD, file, 0777);
    assert_call(-EROFS, chown, file, 1000, 1000);
    assert_call(-EROFS, utime, file, times);
    assert_call(-EROFS, utimensat, AT_FDCWD, file, NULL, 0);
    assert_call(-EROFS, setxattr, file, guest_text("user.a"), guest_text("b"), 1, 0);
    assert_call(-EROFS, removexattr, file, guest_text("user.a"));
}

/* And those that take the last name as it is. */
static void refuse_all(const char *path)
{
    char *file = guest_text(path);
    refuse_following(path);
    guest_file("own", "x");
    assert_call(-EROFS, link, file, guest_text("mine"));
    assert_call(-EXDEV, rename, guest_text("own"), file);
    assert_call(-EEXIST, link, guest_text("own"), file);
    assert_call(-EEXIST, symlink, guest_text("own"), file);
    assert_call(-EEXIST, mkdir, file, 0700);
    assert_call(-EEXIST, mknod, file, S_IFREG | 0600, 0);
}

static void test_by_its_path(void **state)
{
    (void)state;
    char *file = guest_text(out("file")), *fresh = guest_text(out("fresh")), *directory = guest_text(out("directory"));
    refuse_all(file);
    assert_call(-EROFS, unlink, file);
    assert_call(-EROFS, rename, file, guest_text("mine"));
    assert_call(-EROFS, lchown, file, 1000, 1000);
    assert_call(-EROFS, open, fresh, O_WRONLY | O_CREAT, 0600);
    assert_call(-EROFS, open, directory, O_RDWR | O_TMPFILE, 0600);
    assert_call(-EROFS, mkdir, fresh, 0700);
    assert_call(-EROFS, mknod, fresh, S_IFIFO | 0600, 0);
    assert_call(-EROFS, symlink, guest_text("x"), fresh);
    assert_call(-EROFS, link, guest_text("own"), fresh);
    assert_call(-EROFS, rmdir, directory);
    assert_call(-ENOENT, unlink, fresh);
    assert_call(-EXDEV, rename, guest_text("own"), fresh);
    assert_true(CALL(open, file, O_RDONLY) >= 0);
}

static void test_by_dots(void **state)
{
    (void)state;
    char up[128];
    snprintf(up, sizeof up, "../%s/file", strrchr(outside, '/') + 1);
    refuse_all(up);
    snprintf(up, sizeof up, "not there/../../%s/file", strrchr(outside, '/') + 1);
    assert_call(-ENOENT, unlink, guest_text(up));
    assert_call(-EROFS, rmdir, guest_text("../")); /* the directory of the writable one */
}

static void test_by_symbolic_links(void **state)
{
    (void)state;
    assert_int_equal(symlink(out("file"), "link"), 0);
    refuse_following("link");
    assert_int_equal(symlink(outside, "to"), 0);
    refuse_all("to/file");
    assert_call(-EROFS, unlink, guest_text("to/file"));
    assert_int_equal(symlink(out("made"), "dangling"), 0);
    assert_call(-EROFS, open, guest_text("dangling"), O_WRONLY | O_CREAT, 0600);
    assert_call(0, unlink, guest_text("link")); /* the link itself is the guest's */
}

static void test_by_descriptors(void **state)
{
    (void)state;
    char proc[64];
    int fd = (int)CALL(open, guest_text(out("file")), O_RDONLY);
    assert_true(fd >= 0);
    snprintf(proc, sizeof proc, "/proc/self/fd/%d", fd);
    assert_call(-EROFS, open, guest_text(proc), O_WRONLY);
    assert_call(-EROFS, open, guest_text(proc), O_RDONLY | O_TRUNC);
    assert_call(-EROFS, truncate, guest_text(proc), 0);
    assert_call(-EROFS, chmod, guest_text(proc), 0777);
    assert_call(-EROFS, linkat, AT_FDCWD, guest_text(proc), AT_FDCWD, guest_text("mine"), AT_SYMLINK_FOLLOW);
    assert_call(-EROFS, linkat, fd, guest_text(""), AT_FDCWD, guest_text("mine"), AT_EMPTY_PATH);
    assert_call(-EROFS, fchmod, fd, 0777);
    assert_call(-EROFS, fchown, fd, 1000, 1000);
    assert_call(-EROFS, fchownat, fd, guest_text(""), 1000, 1000, AT_EMPTY_PATH);
    assert_call(-EROFS, utimensat, fd, NULL, NULL, 0);
    assert_call(-EROFS, fsetxattr, fd, guest_text("user.a"), guest_text("b"), 1, 0);
    assert_call(-EROFS, fremovexattr, fd, guest_text("user.a"));
    assert_call(-EINVAL, ftruncate, fd, 0);
    int path = (int)CALL(open, guest_text(out("file")), O_PATH);
    snprintf(proc, sizeof proc, "/proc/self/fd/%d", path);
    assert_call(-EROFS, open, guest_text(proc), O_RDWR);
    int directory = (int)CALL(open, guest_text(outside), O_RDONLY | O_DIRECTORY);
    assert_call(-EROFS, openat, directory, guest_text("file"), O_WRONLY);
    assert_call(-EROFS, mkdirat, directory, guest_text("fresh"), 0700);
    assert_call(-EROFS, unlinkat, directory, guest_text("file"), 0);
    assert_call(0, fchdir, directory); /* to look, not to write */
    assert_call(-EROFS, open, guest_text("file"), O_WRONLY);
    assert_call(-EROFS, creat, guest_text("fresh"), 0600);
}

static void test_by_proc(void **state)
{
    (void)state;
    char path[160];
    static const char *const ways[] = {"/proc/self/root%s/file", "/proc/1/root%s/file", "/proc/self/cwd/..%s/file"};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, ways[i], outside);
        assert_true(CALL(open, guest_text(path), O_WRONLY) < 0);
        assert_true(CALL(truncate, guest_text(path), 0) < 0);
    }
    assert_true(CALL(open, guest_text("/proc/self/mem"), O_RDWR) < 0);
    assert_true(CALL(open, guest_text("/proc/1/mem"), O_RDWR) < 0);
    assert_true(CALL(open, guest_text("/proc/sys/kernel/core_pattern"), O_WRONLY) < 0);
}

static void test_devices_pipes_sockets(void **state)
{
    (void)state;
    static const char *const harmless[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};
    static const char *const others[] = {"/dev/tty", "/dev/kmsg", "/dev/mem", "/dev/loop0", "/dev/vda", "/dev/sda"};
    for (int i = 0; i < 5; i++)
        assert_true(CALL(open, guest_text(harmless[i]), O_RDWR) >= 0);
    for (int i = 0; i < 6; i++) {
        struct stat st;
        if (stat(others[i], &st) == 0) {
            assert_call(-EACCES, open, guest_text(others[i]), O_RDONLY);
            assert_call(-EACCES, open, guest_text(others[i]), O_RDWR);
        }
    }
    assert_call(-EACCES, open, guest_text(out("pipe")), O_RDWR);
    assert_call(-EACCES, open, guest_text(out("pipe")), O_RDONLY | O_NONBLOCK);
    assert_call(-EACCES, socket, AF_UNIX, SOCK_STREAM, 0);
    assert_call(-EACCES, socketpair, AF_UNIX, SOCK_STREAM, 0, guest_take(8));
    assert_true(CALL(mknod, guest_text("device"), S_IFCHR | 0600, 0x103) < 0);
}

/* A message with a descriptor in it, on a socket that was there at the start: the guest gets the message alone. */
static void test_descriptors_in_messages(void **state)
{
    (void)state;
    int ends[2], passed = open(out("file"), O_RDWR | O_CLOEXEC);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    int old = dup(STDIN_FILENO);
    syscalls_destroy(g.kernel); /* the guest's own standard input is that of its start */
    dup2(ends[0], STDIN_FILENO);
    static const char *const argv[] = {"./program", NULL}, *const envp[] = {NULL};
    const struct syscalls_config config = {.program_path = "/bin/true", .argv = argv, .envp = envp, .confined = true};
    assert_int_equal(syscalls_create(&g.kernel, g.mmu, &config, &g.err), C2_OK);
    union {
        char bytes[CMSG_SPACE(sizeof passed)];
        struct cmsghdr head;
    } control = {.head = {CMSG_LEN(sizeof passed), SOL_SOCKET, SCM_RIGHTS}};
    memcpy(CMSG_DATA(&control.head), &passed, sizeof passed);
    struct iovec word = {"hello", 5};
    struct msghdr host = {
        .msg_iov = &word, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.bytes};
    assert_int_equal(sendmsg(ends[1], &host, 0), 5);
    struct msghdr *message = guest_take(sizeof *message);
    message->msg_iov = guest_take(sizeof *message->msg_iov);
    message->msg_iovlen = 1;
    message->msg_iov->iov_base = guest_take(8);
    message->msg_iov->iov_len = 8;
    message->msg_control = guest_take(sizeof control);
    message->msg_controllen = sizeof control;
    const int64_t got = CALL(recvmsg, 0, message, 0);
    assert_true(got == 5 || got < 0);
    const int64_t next = CALL(open, guest_text("/dev/null"), O_RDONLY);
    assert_int_equal(next, 3); /* no descriptor has come */
    dup2(old, STDIN_FILENO);
    close(old);
    close(passed);
    close(ends[0]);
    close(ends[1]);
}

/* What a descriptor that is open for reading does not let through, and calls that no plain user has. */
static void test_by_other_calls(void **state)
{
    (void)state;
    const int64_t fd = CALL(open, guest_text(out("file")), O_RDONLY), memory = CALL(memfd_create, guest_text("m"), 0);
    int *pair = guest_take(8);
    struct iovec *iov = guest_take(sizeof *iov);
    *iov = (struct iovec){guest_text("x"), 1};
    assert_call(0, pipe, pair);
    assert_call(1, vmsplice, pair[1], iov, 1, 0);
    assert_call(1, write, memory, guest_text("x"), 1);
    assert_call(0, lseek, memory, 0, SEEK_SET);
    assert_call(-EBADF, splice, pair[0], NULL, fd, NULL, 1, 0);
    assert_call(-EBADF, sendfile, fd, memory, NULL, 1);
    assert_call(-EBADF, copy_file_range, memory, NULL, fd, NULL, 1, 0);
    assert_call(-EBADF, fallocate, fd, 0, 0, 100);
    assert_call(-EPERM, mount, guest_text("."), guest_text(out("")), NULL, 4096 /* MS_BIND */, NULL);
    assert_call(-EPERM, umount2, guest_text("/"), 0);
    assert_call(-EPERM, pivot_root, guest_text("."), guest_text("."));
    assert_call(-EPERM, chroot, guest_text("."));
    assert_call(-EPERM, unshare, 0x10000000 /* CLONE_NEWUSER */);
    assert_call(-EINVAL, setns, fd, 0);
    assert_call(-EPERM, open_by_handle_at, fd, GUEST_ARENA, O_RDWR);
    assert_call(-EPERM, process_vm_writev, 1, iov, 1, iov, 1, 0); /* processes of the run alone */
    assert_call(-ENOSYS, ptrace, 16, 1, 0, 0);
    assert_call(-ENOSYS, io_uring_setup, 8, GUEST_ARENA);
}

static void test_what_works(void **state)
{
    (void)state;
    char *file = guest_text("a/file"), *other = guest_text(GUEST_WRITABLE "/other"), proc[64];
    assert_call(0, mkdir, guest_text("a"), 0755);
    int fd = (int)CALL(open, file, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_call(5, write, fd, guest_text("hello"), 5);
    assert_call(0, fchmod, fd, 0640);
    assert_call(0, utimensat, fd, NULL, NULL, 0);
    assert_call(-EEXIST, open, file, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_string_equal(guest_content("a/file"), "hello");
    snprintf(proc, sizeof proc, "/proc/self/fd/%d", fd);
    assert_true(CALL(open, guest_text(proc), O_RDWR) >= 0);
    assert_call(0, truncate, file, 4);
    assert_call(0, chmod, file, 0600);
    assert_call(0, symlink, guest_text("file"), guest_text("a/link"));
    assert_call(0, chmod, guest_text("a/link"), 0644);
    assert_call(0, link, file, guest_text("a/second"));
    assert_call(0, rename, guest_text("a/second"), guest_text("a/third"));
    assert_call(0, rename, file, other);
    assert_string_equal(guest_content(GUEST_WRITABLE "/other"), "hell");
    assert_call(0, unlink, other);
    assert_call(-ENOTDIR, unlink, guest_text("a/third/"));
    assert_call(-EBUSY, rmdir, guest_text("a/."));
    assert_call(0, unlink, guest_text("a/third"));
    assert_call(0, unlink, guest_text("a/link"));
    assert_call(0, rmdir, guest_text("a/"));
    int unnamed = (int)CALL(open, guest_text("."), O_RDWR | O_TMPFILE, 0600);
    assert_true(unnamed >= 0);
    snprintf(proc, sizeof proc, "/proc/self/fd/%d", unnamed);
    assert_call(0, linkat, AT_FDCWD, guest_text(proc), AT_FDCWD, guest_text("named"), AT_SYMLINK_FOLLOW);
    assert_call(0, unlink, guest_text("named"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_by_its_path),
        TEST(test_by_dots),
        TEST(test_by_symbolic_links),
        TEST(test_by_descriptors),
        TEST(test_by_proc),
        TEST(test_by_other_calls),
        TEST(test_devices_pipes_sockets),
        TEST(test_descriptors_in_messages),
        TEST(test_what_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
