/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One test a row: reading, writing and descriptors.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <termios.h>
#include <unistd.h>

#include "syscalls_guest.h"

#define SYSCALL(number, name, ...) void row_##name(void **state);
#include "syscalls/table.h"

static int64_t open_new(const char *name)
{
    int64_t fd = CALL(open, guest_text(name), O_CREAT | O_RDWR, 0644);
    assert_true(fd >= 0);
    return fd;
}

static struct iovec *two(void *first, size_t first_bytes, void *second, size_t second_bytes)
{
    struct iovec *iov = guest_take(2 * sizeof *iov);
    iov[0] = (struct iovec){first, first_bytes};
    iov[1] = (struct iovec){second, second_bytes};
    return iov;
}

static bool touched(const void *address)
{
    return mmu_ready(g.mmu, (struct guest_va){(uintptr_t)address}, MMU_ACCESS_READ);
}

void row_read(void **state)
{
    (void)state;
    guest_file("f", "hello, world");
    char *buffer = guest_take(3 * C2_PAGE_BYTES);
    buffer = (char *)c2_align_up((uintptr_t)buffer, C2_PAGE_BYTES);
    assert_call(3, open, guest_text("f"), O_RDONLY);
    assert_false(touched(buffer + C2_PAGE_BYTES));
    assert_call(12, read, 3, buffer + C2_PAGE_BYTES - 6, C2_PAGE_BYTES + 6);
    assert_memory_equal(buffer + C2_PAGE_BYTES - 6, "hello, world", 12);
    assert_true(touched(buffer) && touched(buffer + C2_PAGE_BYTES)); /* as far as there was data */
    assert_call(0, read, 3, buffer, 100);
    assert_call(0, read, 3, NULL, 0);
    assert_call(-EBADF, read, 99, NULL, 0);
    assert_call(0, read, 3, NULL, 1); /* there is nothing to write */
    assert_call(0, lseek, 3, 0, SEEK_SET);
    assert_call(-EFAULT, read, 3, NULL, 1);
    /* a buffer that ends in the middle of nothing: what is there of it counts */
    char *last = (char *)(uintptr_t)(GUEST_ARENA + GUEST_ARENA_BYTES - 5);
    assert_call(0, lseek, 3, 0, SEEK_SET);
    assert_call(5, read, 3, last, 12);
    assert_memory_equal(last, "hello", 5);
    assert_call(4, open, guest_text("f"), O_WRONLY);
    assert_call(-EBADF, read, 4, buffer, 1);
}

void row_write(void **state)
{
    (void)state;
    int64_t fd = open_new("f");
    assert_call(5, write, fd, guest_text("hello"), 5);
    assert_call(0, write, fd, NULL, 0);
    assert_call(-EFAULT, write, fd, GUEST_BAD, 1);
    assert_string_equal(guest_content("f"), "hello");
    /* a broken pipe is EPIPE and a signal of the guest, not of c2emu */
    int *pair = guest_take(8);
    assert_call(0, pipe, pair);
    assert_call(0, close, pair[0]);
    assert_call(-EPIPE, write, pair[1], guest_text("x"), 1);
    assert_int_equal(g.result.action, SYSCALLS_SIGNAL);
    assert_int_equal(g.result.signal, 13);
}

void row_pread64(void **state)
{
    (void)state;
    guest_file("f", "0123456789");
    char *buffer = guest_take(16);
    int64_t fd = open_new("f");
    assert_call(3, pread64, fd, buffer, 3, 5);
    assert_memory_equal(buffer, "567", 3);
    assert_call(0, lseek, fd, 0, SEEK_CUR);
    assert_call(-EINVAL, pread64, fd, buffer, 3, -1);
}

void row_pwrite64(void **state)
{
    (void)state;
    guest_file("f", "0123456789");
    int64_t fd = open_new("f");
    assert_call(2, pwrite64, fd, guest_text("xy"), 2, 4);
    assert_call(-EINVAL, pwrite64, fd, guest_text("xy"), 2, -1);
    assert_string_equal(guest_content("f"), "0123xy6789");
}

void row_readv(void **state)
{
    (void)state;
    guest_file("f", "abcdefgh");
    char *a = guest_take(8), *b = guest_take(8);
    int64_t fd = open_new("f");
    assert_call(8, readv, fd, two(a, 3, b, 8), 2);
    assert_memory_equal(a, "abc", 3);
    assert_memory_equal(b, "defgh", 5);
    assert_call(-EINVAL, readv, fd, two(a, 3, b, 8), -1);
    assert_call(-EINVAL, readv, fd, two(a, 3, b, UINT64_MAX), 2);
    assert_call(0, readv, fd, two((void *)GUEST_BAD, 8, b, 8), 2); /* there is nothing to write */
    assert_call(0, lseek, fd, 0, SEEK_SET);
    assert_call(-EFAULT, readv, fd, two((void *)GUEST_BAD, 8, b, 8), 2);
    assert_call(-EFAULT, readv, fd, two((void *)-100, 8, b, 8), 2);
    assert_call(3, readv, fd, two(a, 3, (void *)GUEST_READONLY, 8), 2); /* as far as it may */
}

void row_writev(void **state)
{
    (void)state;
    int64_t fd = open_new("f");
    assert_call(5, writev, fd, two(guest_text("ab"), 2, guest_text("cde"), 3), 2);
    assert_call(4, writev, fd, two((void *)GUEST_READONLY, 4, NULL, 0), 2);
    assert_call(-EFAULT, writev, fd, two((void *)GUEST_BAD, 1, NULL, 0), 2);
    assert_string_equal(guest_content("f"), "abcde"); /* then four zero bytes */
}

void row_preadv(void **state)
{
    (void)state;
    guest_file("f", "0123456789");
    char *a = guest_take(8), *b = guest_take(8);
    int64_t fd = open_new("f");
    assert_call(4, preadv, fd, two(a, 1, b, 3), 2, 5, 0);
    assert_memory_equal(a, "5", 1);
    assert_memory_equal(b, "678", 3);
    assert_call(-EINVAL, preadv, fd, two(a, 1, b, 3), 2, -1, 0);
}

void row_pwritev(void **state)
{
    (void)state;
    guest_file("f", "0123456789");
    int64_t fd = open_new("f");
    assert_call(3, pwritev, fd, two(guest_text("a"), 1, guest_text("bc"), 2), 2, 1, 0);
    assert_call(-EINVAL, pwritev, fd, two(guest_text("a"), 1, NULL, 0), 2, -1, 0);
    assert_string_equal(guest_content("f"), "0abc456789");
}

void row_preadv2(void **state)
{
    (void)state;
    guest_file("f", "0123456789");
    char *a = guest_take(8), *b = guest_take(8);
    int64_t fd = open_new("f");
    assert_call(4, preadv2, fd, two(a, 1, b, 3), 2, -1, 0, 0); /* -1: at the position */
    assert_memory_equal(b, "123", 3);
    assert_call(4, lseek, fd, 0, SEEK_CUR);
    assert_call(4, preadv2, fd, two(a, 1, b, 3), 2, 6, 0, 0);
    assert_memory_equal(b, "789", 3);
    assert_call(-EINVAL, preadv2, fd, two(a, 1, b, 3), 2, -2, 0, 0);
}

void row_pwritev2(void **state)
{
    (void)state;
    int64_t fd = open_new("f");
    assert_call(3, pwritev2, fd, two(guest_text("a"), 1, guest_text("bc"), 2), 2, -1, 0, 0);
    assert_call(1, pwritev2, fd, two(guest_text("x"), 1, NULL, 0), 2, 1, 0, 0);
    assert_string_equal(guest_content("f"), "axc");
}

void row_lseek(void **state)
{
    (void)state;
    guest_file("f", "0123456789");
    int64_t fd = open_new("f");
    assert_call(10, lseek, fd, 0, SEEK_END);
    assert_call(7, lseek, fd, -3, SEEK_CUR);
    assert_call(-EINVAL, lseek, fd, -1, SEEK_SET);
    assert_call(-ESPIPE, lseek, (CALL(pipe, guest_take(8)), fd + 1), 0, SEEK_SET);
}

void row_sendfile(void **state)
{
    (void)state;
    guest_file("f", "0123456789");
    int64_t from = open_new("f"), to = open_new("t"), *offset = guest_take(8);
    assert_call(4, sendfile, to, from, NULL, 4);
    assert_call(4, lseek, from, 0, SEEK_CUR);
    *offset = 8;
    assert_call(2, sendfile, to, from, offset, 100);
    assert_int_equal(*offset, 10);
    assert_string_equal(guest_content("t"), "012389");
    assert_call(-EINVAL, sendfile, to, CALL(open, guest_text("/dev/urandom"), O_RDONLY), NULL, 4);
}

void row_copy_file_range(void **state)
{
    (void)state;
    guest_file("f", "0123456789");
    int64_t from = open_new("f"), to = open_new("t"), *in = guest_take(8), *out = guest_take(8);
    *in = 2;
    *out = 1;
    assert_call(5, copy_file_range, from, in, to, out, 5, 0);
    assert_int_equal(*in, 7);
    assert_int_equal(*out, 6);
    assert_call(1, copy_file_range, from, NULL, to, NULL, 1, 0);
    assert_string_equal(guest_content("t"), "023456");
    assert_call(-EINVAL, copy_file_range, from, NULL, to, NULL, 1, 1);
}

void row_splice(void **state)
{
    (void)state;
    guest_file("f", "0123456789");
    int64_t from = open_new("f"), to = open_new("t");
    int *pair = guest_take(8);
    assert_call(0, pipe, pair);
    assert_call(6, splice, from, NULL, pair[1], NULL, 6, 0);
    assert_call(6, splice, pair[0], NULL, to, NULL, 100, 0);
    assert_string_equal(guest_content("t"), "012345");
    assert_call(-EINTR, splice, pair[0], NULL, to, NULL, 100, 0); /* the pipe is empty, and only the guest has it */
    assert_int_equal(g.result.action, SYSCALLS_FAILED);
}

void row_ftruncate(void **state)
{
    (void)state;
    guest_file("f", "0123456789");
    assert_call(0, ftruncate, open_new("f"), 3);
    assert_string_equal(guest_content("f"), "012");
    assert_call(-EINVAL, ftruncate, 3, -1);
}

void row_fallocate(void **state)
{
    (void)state;
    int64_t fd = open_new("f");
    int64_t value = CALL(fallocate, fd, 0, 0, 100);
    assert_true(value == 0 || value == -EOPNOTSUPP); /* as the file system can */
    if (value == 0)
        assert_call(100, lseek, fd, 0, SEEK_END);
    assert_call(-EINVAL, fallocate, fd, 0, 0, 0);
}

void row_fadvise64(void **state)
{
    (void)state;
    assert_call(0, fadvise64, open_new("f"), 0, 0, POSIX_FADV_SEQUENTIAL);
    assert_call(-EINVAL, fadvise64, 3, 0, 0, 99);
}

void row_readahead(void **state)
{
    (void)state;
    guest_file("f", "0123456789");
    assert_call(0, readahead, open_new("f"), 0, 10);
}

void row_fsync(void **state)
{
    (void)state;
    assert_call(0, fsync, open_new("f"));
}

void row_fdatasync(void **state)
{
    (void)state;
    assert_call(0, fdatasync, open_new("f"));
}

void row_sync(void **state)
{
    (void)state;
    assert_call(0, sync);
}

void row_syncfs(void **state)
{
    (void)state;
    assert_call(0, syncfs, open_new("f"));
}

void row_sync_file_range(void **state)
{
    (void)state;
    assert_call(0, sync_file_range, open_new("f"), 0, 0, 0);
    assert_call(-EINVAL, sync_file_range, 3, 0, 0, 99);
}

void row_flock(void **state)
{
    (void)state;
    int64_t first = open_new("f"), second = open_new("f");
    assert_call(0, flock, first, LOCK_EX);
    assert_call(-EAGAIN, flock, second, LOCK_EX | LOCK_NB);
    assert_call(0, flock, first, LOCK_UN);
    assert_call(0, flock, second, LOCK_EX | LOCK_NB);
}

/* What is written to a pipe makes a signal of the owner of the other end. */
static void assert_notice(void)
{
    int *pair = guest_take(8), *on = guest_take(4);
    assert_call(0, pipe, pair);
    *on = 1;
    assert_call(0, ioctl, pair[0], FIOASYNC, on);
    assert_call(0, fcntl, pair[0], F_SETOWN, 1000);
    assert_call(O_ASYNC, fcntl, pair[0], F_GETFL);
    assert_int_equal(syscalls_pending(g.kernel), 0);
    assert_call(1, write, pair[1], guest_text("a"), 1);
    assert_int_equal(syscalls_pending(g.kernel), SIGIO);
}

void row_ioctl(void **state)
{
    (void)state;
    int *pair = guest_take(8), *count = guest_take(4);
    assert_call(0, pipe, pair);
    assert_call(3, write, pair[1], guest_text("abc"), 3);
    assert_call(0, ioctl, pair[0], FIONREAD, count);
    assert_int_equal(*count, 3);
    assert_call(-EFAULT, ioctl, pair[0], FIONREAD, GUEST_READONLY);
    *count = 1;
    assert_call(0, ioctl, pair[0], FIONBIO, count);
    assert_call(O_NONBLOCK, fcntl, pair[0], F_GETFL);
    assert_call(0, ioctl, pair[0], FIOCLEX);
    assert_call(FD_CLOEXEC, fcntl, pair[0], F_GETFD);
    assert_call(0, ioctl, pair[0], FIONCLEX);
    assert_call(0, fcntl, pair[0], F_GETFD);
    assert_call(-ENOTTY, ioctl, pair[0], TCGETS, guest_take(64));
    assert_call(-ENOTTY, ioctl, pair[0], TIOCGPGRP, count);
    assert_call(-EOPNOTSUPP, ioctl, CALL(memfd_create, guest_text("m"), 0), FS_IOC_FIEMAP, guest_take(64));
    assert_call(-ENOTTY, ioctl, pair[0], 0x12345678, count); /* unknown: never reaches the host */
    assert_notice();
}

/* A terminal of the run's own, which is no session's yet. */
static void on_terminal(int64_t fd)
{
    struct winsize *size = guest_take(sizeof *size);
    int *group = guest_take(4);
    uint8_t *settings = guest_take(64);
    *size = (struct winsize){.ws_row = 24, .ws_col = 80};
    assert_call(0, ioctl, fd, TIOCSWINSZ, size);
    *size = (struct winsize){0};
    assert_call(0, ioctl, fd, TIOCGWINSZ, size);
    assert_int_equal(size->ws_col, 80);
    memset(settings, 0xee, 64);
    assert_call(0, ioctl, fd, TCGETS, settings);
    assert_int_equal(settings[35] != 0xee || settings[34] != 0xee, 1); /* 36 bytes, no more */
    assert_int_equal(settings[36], 0xee);
    assert_call(0, ioctl, fd, TCSETS, settings);
    memset(settings, 0xee, 64);
    assert_call(0, ioctl, fd, TCGETA, settings);
    assert_int_equal(settings[17] == 0 && settings[18] == 0xee, 1);
    settings[9] = 5; /* what interrupts */
    assert_call(0, ioctl, fd, TCSETA, settings);
    assert_call(0, ioctl, fd, TCGETS, settings);
    assert_int_equal(settings[17], 5);
    assert_call(0, ioctl, fd, TIOCGLCKTRMIOS, settings);
    assert_int_equal(settings[17], 0);
    assert_call(0, ioctl, fd, TIOCGPGRP, group);
    assert_int_equal(*group, 0);
    *group = 1000;
    assert_call(-ENOTTY, ioctl, fd, TIOCSPGRP, group);
    assert_call(-EPERM, ioctl, fd, TIOCSCTTY, 0);
}

void row_open(void **state)
{
    (void)state;
    assert_call(-ENOENT, open, guest_text("f"), O_RDONLY);
    assert_call(3, open, guest_text("f"), O_CREAT | O_WRONLY | O_EXCL | O_CLOEXEC, 0666);
    assert_call(FD_CLOEXEC, fcntl, 3, F_GETFD);
    assert_call(-EEXIST, open, guest_text("f"), O_CREAT | O_WRONLY | O_EXCL, 0666);
    struct stat st;
    assert_int_equal(stat("f", &st), 0);
    assert_int_equal(st.st_mode & 07777, 0644); /* the guest's umask is 022 */
    int64_t terminal = CALL(open, guest_text("/dev/ptmx"), O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0);
    on_terminal(terminal);
}

void row_openat2(void **state)
{
    (void)state;
    uint64_t *how = guest_take(4096 + 8);
    assert_int_equal(mkdir("d", 0755), 0);
    guest_file("d/f", "x");
    guest_file("g", "y");
    assert_call(3, openat, AT_FDCWD, guest_text("d"), O_RDONLY | O_DIRECTORY);
    assert_call(4, openat2, 3, guest_text("f"), how, 24);
    assert_call(-ENOENT, openat2, 3, guest_text("g"), how, 24);
    assert_call(5, openat2, 3, guest_text("../g"), how, 24);
    how[2] = RESOLVE_BENEATH;
    assert_call(-EXDEV, openat2, 3, guest_text("../g"), how, 24);
    assert_call(-EXDEV, openat2, 3, guest_text("/etc/passwd"), how, 24);
    how[2] = RESOLVE_IN_ROOT;
    assert_call(6, openat2, 3, guest_text("/../../f"), how, 24);
    assert_call(-EFAULT, openat2, 3, guest_text("f"), GUEST_BAD, 24);
    assert_call(-EINVAL, openat2, 3, guest_text("f"), how, 23);
    assert_call(7, openat2, 3, guest_text("f"), how, 4096);
    assert_call(-E2BIG, openat2, 3, guest_text("f"), how, 4097);
    how[511] = 1;
    assert_call(-E2BIG, openat2, 3, guest_text("f"), how, 4096);
}

void row_openat(void **state)
{
    (void)state;
    assert_int_equal(mkdir("d", 0755), 0);
    guest_file("d/f", "x");
    assert_call(3, openat, AT_FDCWD, guest_text("d"), O_RDONLY | O_DIRECTORY);
    assert_call(4, openat, 3, guest_text("f"), O_RDONLY);
    assert_call(-ENOENT, openat, AT_FDCWD, guest_text("f"), O_RDONLY);
    assert_call(-EBADF, openat, 99, guest_text("f"), O_RDONLY);
    assert_call(5, openat, 99, guest_text("/etc/passwd"), O_RDONLY); /* absolute: the directory does not matter */
    assert_call(-ENOTDIR, openat, 4, guest_text("f"), O_RDONLY);
    assert_call(-ENOENT, openat, AT_FDCWD, guest_text(""), O_RDONLY);
}

void row_creat(void **state)
{
    (void)state;
    guest_file("f", "old");
    assert_call(3, creat, guest_text("f"), 0600);
    assert_string_equal(guest_content("f"), "");
}

void row_close(void **state)
{
    (void)state;
    int64_t fd = open_new("f");
    assert_call(0, close, fd);
    assert_call(-EBADF, close, fd);
    assert_call(0, close, 0);
    assert_call(0, open, guest_text("f"), O_RDONLY); /* the lowest free number */
    assert_int_equal(fcntl(0, F_GETFD) >= 0, 1);     /* the host's own is still open */
}

void row_close_range(void **state)
{
    (void)state;
    for (int fd = 3; fd < 8; fd++)
        assert_int_equal(open_new("f"), fd);
    assert_call(0, close_range, 4, 5, 0);
    assert_call(-EBADF, close, 4);
    assert_call(-EBADF, close, 5);
    assert_call(0, close_range, 6, UINT32_MAX, 4 /* CLOSE_RANGE_CLOEXEC */);
    assert_call(0, fcntl, 3, F_GETFD);
    assert_call(FD_CLOEXEC, fcntl, 7, F_GETFD);
    assert_call(-EINVAL, close_range, 5, 4, 0);
    assert_call(-EINVAL, close_range, 4, 5, 64);
}

void row_dup(void **state)
{
    (void)state;
    int64_t fd = CALL(open, guest_text("f"), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
    assert_call(4, dup, fd);
    assert_call(0, fcntl, 4, F_GETFD);
    assert_call(2, write, fd, guest_text("ab"), 2);
    assert_call(2, lseek, 4, 0, SEEK_CUR); /* one file position */
    assert_call(0, close, fd);
    assert_call(3, dup, 4);
}

void row_dup2(void **state)
{
    (void)state;
    int64_t fd = open_new("f");
    assert_call(9, dup2, fd, 9);
    assert_call(9, dup2, 9, 9);
    assert_call(1, dup2, 9, 1);
    assert_call(2, write, 1, guest_text("ab"), 2);
    assert_string_equal(guest_content("f"), "ab");
    assert_call(-EBADF, dup2, fd, 1024);
    assert_call(-EBADF, dup2, fd, -1);
    assert_call(4, dup, fd);
    int *pair = guest_take(8);
    assert_call(0, pipe, pair);
    assert_call(pair[1], dup2, fd, pair[1]);
    assert_call(0, read, pair[0], guest_take(8), 8); /* the writing end was closed: the end */
}

void row_dup3(void **state)
{
    (void)state;
    int64_t fd = open_new("f");
    assert_call(7, dup3, fd, 7, O_CLOEXEC);
    assert_call(FD_CLOEXEC, fcntl, 7, F_GETFD);
    assert_call(-EINVAL, dup3, fd, fd, 0);
    assert_call(-EINVAL, dup3, fd, 8, O_NONBLOCK);
}

void row_fcntl(void **state)
{
    (void)state;
    int64_t fd = open_new("f");
    assert_call(10, fcntl, fd, F_DUPFD, 10);
    assert_call(11, fcntl, fd, F_DUPFD_CLOEXEC, 10);
    assert_call(FD_CLOEXEC, fcntl, 11, F_GETFD);
    assert_call(-EINVAL, fcntl, fd, F_DUPFD, 1024);
    assert_call(0, fcntl, fd, F_SETFD, FD_CLOEXEC);
    assert_call(FD_CLOEXEC, fcntl, fd, F_GETFD);
    assert_call(O_RDWR | 0100000 /* O_LARGEFILE */, fcntl, fd, F_GETFL);
    assert_call(0, fcntl, fd, F_SETFL, O_APPEND);
    assert_call(O_RDWR | O_APPEND | 0100000, fcntl, fd, F_GETFL);
    struct flock *lock = guest_take(sizeof *lock);
    *lock = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 10};
    assert_call(0, fcntl, fd, F_SETLK, lock);
    assert_call(0, fcntl, fd, F_GETLK, lock);
    assert_int_equal(lock->l_type, F_UNLCK); /* no other process holds it */
    assert_call(-EFAULT, fcntl, fd, F_SETLK, GUEST_BAD);
    assert_call(-EAGAIN, fcntl, fd, F_SETLEASE, F_RDLCK); /* of one that may write */
    assert_call(F_UNLCK, fcntl, fd, F_GETLEASE);
    assert_call(0, fcntl, fd, F_SETOWN, 1000);
    assert_call(1000, fcntl, fd, F_GETOWN);
    assert_call(-ESRCH, fcntl, fd, F_SETOWN, 77);
    assert_call(-EINVAL, fcntl, fd, F_SETOWN, INT32_MIN);
    assert_call(-ESRCH, fcntl, fd, F_SETOWN, -77);
    int *owner = guest_take(8);
    assert_call(0, fcntl, fd, F_SETOWN, -1000); /* a group */
    assert_call(-1000, fcntl, fd, F_GETOWN);
    assert_call(0, fcntl, fd, F_GETOWN_EX, owner);
    assert_int_equal(owner[0], F_OWNER_PGRP);
    assert_int_equal(owner[1], 1000);
    assert_call(0, fcntl, fd, F_SETOWN, 1000);
    assert_call(0, fcntl, fd, F_GETOWN_EX, owner);
    assert_int_equal(owner[0], F_OWNER_PID);
    assert_int_equal(owner[1], 1000);
    owner[1] = 0;
    assert_call(0, fcntl, fd, F_SETOWN_EX, owner);
    assert_call(0, fcntl, fd, F_GETOWN);
    assert_call(0, fcntl, fd, F_SETSIG, SIGUSR1);
    assert_call(SIGUSR1, fcntl, fd, F_GETSIG);
    assert_call(-EINVAL, fcntl, fd, F_SETSIG, 65);
    assert_call(-ENOTDIR, fcntl, fd, F_NOTIFY, DN_CREATE);
}

void row_pipe(void **state)
{
    (void)state;
    int *pair = guest_take(8);
    char *buffer = guest_take(8);
    assert_call(0, pipe, pair);
    assert_int_equal(pair[0], 3);
    assert_int_equal(pair[1], 4);
    assert_call(3, write, pair[1], guest_text("abc"), 3);
    assert_call(3, read, pair[0], buffer, 8);
    assert_memory_equal(buffer, "abc", 3);
    /* no other process has the other end: waiting would be for ever */
    assert_call(-EINTR, read, pair[0], buffer, 8);
    assert_int_equal(g.result.action, SYSCALLS_FAILED);
    assert_string_equal(g.err.text, "deadlock: the program waits for ever in read: it reads from itself, and nothing "
                                    "is there");
    /* the same for a pipe that is full: 65536 bytes fit */
    char *big = guest_take(40000);
    assert_call(40000, write, pair[1], big, 40000);
    assert_call(-EINTR, write, pair[1], big, 40000);
    assert_int_equal(g.result.action, SYSCALLS_FAILED);
    assert_call(O_WRONLY, fcntl, pair[1], F_GETFL); /* still blocking */
}

void row_pipe2(void **state)
{
    (void)state;
    int *pair = guest_take(8);
    assert_call(0, pipe2, pair, O_CLOEXEC | O_NONBLOCK);
    assert_call(FD_CLOEXEC, fcntl, pair[0], F_GETFD);
    assert_call(O_NONBLOCK, fcntl, pair[0], F_GETFL);
    assert_call(-EAGAIN, read, pair[0], guest_take(8), 8);
    assert_call(-EINVAL, pipe2, pair, 1);
    /* no room for two: none is left open */
    struct rlimit *limit = guest_take(sizeof *limit);
    *limit = (struct rlimit){6, 4096};
    assert_call(0, setrlimit, RLIMIT_NOFILE, limit);
    assert_call(-EMFILE, pipe, pair);
    assert_call(5, dup, 0);
    assert_call(-EMFILE, dup, 0);
}

void row_eventfd(void **state)
{
    (void)state;
    uint64_t *value = guest_take(8);
    assert_call(3, eventfd, 5);
    assert_call(8, read, 3, value, 8);
    assert_int_equal(*value, 5);
    assert_call(-EINTR, read, 3, value, 8);
    assert_int_equal(g.result.action, SYSCALLS_FAILED);
}

void row_eventfd2(void **state)
{
    (void)state;
    uint64_t *value = guest_take(8);
    assert_call(3, eventfd2, 2, O_CLOEXEC | O_NONBLOCK | 1 /* EFD_SEMAPHORE */);
    assert_call(8, read, 3, value, 8);
    assert_int_equal(*value, 1);
    assert_call(8, read, 3, value, 8);
    assert_call(-EAGAIN, read, 3, value, 8);
    *value = 7;
    assert_call(8, write, 3, value, 8);
    assert_call(-EINVAL, eventfd2, 2, 2);
}

void row_memfd_create(void **state)
{
    (void)state;
    assert_call(3, memfd_create, guest_text("name"), MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_call(0, ftruncate, 3, 100);
    assert_call(100, lseek, 3, 0, SEEK_END);
    assert_call(0, fcntl, 3, F_ADD_SEALS, F_SEAL_GROW);
    assert_call(F_SEAL_GROW, fcntl, 3, F_GET_SEALS);
    assert_call(-EINVAL, memfd_create, guest_text("name"), 4 /* MFD_HUGETLB */);
}
