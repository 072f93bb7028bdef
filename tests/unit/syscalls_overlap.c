/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Calls whose results fall on their own arguments: the kernel took the arguments before, so they count as they were.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "syscalls_guest.h"

static int *new_pipe(const void *content, size_t bytes)
{
    int *pair = guest_take(8);
    void *from = guest_take(bytes);
    memcpy(from, content, bytes);
    assert_call(0, pipe, pair);
    assert_call((int64_t)bytes, write, pair[1], from, bytes);
    return pair;
}

static void iovecs_are_read_once(void **state)
{
    (void)state;
    uint8_t data[40];
    memset(data, 0xff, sizeof data); /* as an iovec: all of memory and more */
    struct iovec *iov = guest_take(2 * sizeof *iov);
    uint8_t *behind = guest_take(8);
    iov[0] = (struct iovec){iov, 32};
    iov[1] = (struct iovec){behind, 8};
    assert_call(16, readv, new_pipe(data, 16)[0], iov, 1);
    assert_memory_equal(iov, data, 16);
    assert_ptr_equal(iov[1].iov_base, behind);
    iov[0] = (struct iovec){iov, 32};
    assert_call(40, readv, new_pipe(data, 40)[0], iov, 2);
    assert_memory_equal(iov, data, 32);
    assert_memory_equal(behind, data, 8);
    /* a position of its own, and data that are an iovec of nothing */
    memset(data, 0, sizeof data);
    iov[0] = (struct iovec){iov, 16};
    iov[1] = (struct iovec){behind, 8};
    int64_t file = CALL(open, guest_text("f"), O_RDWR | O_CREAT, 0600);
    assert_call(0, ftruncate, file, 40);
    assert_call(24, preadv, file, iov, 2, 16, 0);
    assert_memory_equal(behind, data, 8);
    assert_null(iov[0].iov_base);
}

static int *new_sockets(const void *content, size_t bytes)
{
    int *pair = guest_take(8);
    void *from = guest_take(bytes);
    memcpy(from, content, bytes);
    assert_call(0, socketpair, AF_UNIX, SOCK_STREAM, 0, pair);
    assert_call((int64_t)bytes, sendto, pair[1], from, bytes, 0, NULL, 0);
    return pair;
}

/* The data lie over the message and its iovec; then come the three fields that Linux writes, and nothing else. */
static void messages_are_read_once(void **state)
{
    (void)state;
    struct {
        struct msghdr message;
        struct iovec iov;
        int32_t name;
    } *at = guest_take(sizeof *at), expected;
    memset(&expected, 0xee, sizeof expected);
    at->message = (struct msghdr){.msg_iov = &at->iov, .msg_iovlen = 1};
    at->iov = (struct iovec){at, sizeof *at};
    assert_call(sizeof *at, recvmsg, new_sockets(&expected, sizeof expected)[0], at, 0);
    expected.message.msg_controllen = 0;
    expected.message.msg_flags = 0;
    assert_memory_equal(at, &expected, sizeof expected);
    /* with room for a name its length is written: where the data had left 0xeeeeeeee, which is no length */
    at->message = (struct msghdr){.msg_name = &at->name, .msg_namelen = 4, .msg_iov = &at->iov, .msg_iovlen = 1};
    at->iov = (struct iovec){&at->name, 4};
    assert_call(4, recvmsg, new_sockets(&expected.name, 4)[0], at, 0);
    assert_int_equal(at->message.msg_namelen, 0);
    at->iov = (struct iovec){at, sizeof *at};
    assert_call(-EINVAL, recvmsg, new_sockets(&expected, sizeof expected)[0], at, 0);
}

static void polled_descriptors_are_read_once(void **state)
{
    (void)state;
    int *pair = new_pipe("x", 1);
    struct {
        struct pollfd fd[2];
    } *at = guest_take(sizeof *at);
    struct timespec *time = (struct timespec *)at; /* 2^32 s and more, and no nanoseconds but those of fd[1] */
    at->fd[0] = (struct pollfd){.fd = 9, .events = 1};
    at->fd[1] = (struct pollfd){.fd = pair[0], .events = 0};
    assert_call(1, ppoll, at, 2, time, NULL, 8);
    assert_int_equal(at->fd[0].revents, 0); /* the time that is left, all of it, was written over POLLNVAL */
    assert_int_equal(time->tv_sec, 9 | 1ull << 32);
    /* nothing ready: no time is left */
    at->fd[0] = (struct pollfd){.fd = pair[0], .events = POLLPRI};
    at->fd[1] = (struct pollfd){.fd = 5, .events = 0};
    assert_call(5, dup, pair[0]);
    assert_call(0, ppoll, at, 2, time, NULL, 8);
    assert_int_equal(time->tv_sec, 0);
    assert_int_equal(time->tv_nsec, 0);
}

static void sets_are_read_once(void **state)
{
    (void)state;
    int *pair = new_pipe("x", 1);
    uint64_t *set = guest_take(8);
    *set = 1ull << pair[0];
    assert_call(1, select, pair[0] + 1, set, set, set, NULL); /* readable; the last answer is the one that stays */
    assert_int_equal(*set, 0);
}

/* A path without an end is left behind; the line of -v shows what the call was given. */
static void paths_are_read_once(void **state)
{
    (void)state;
    char *end = (char *)(uintptr_t)(GUEST_ARENA + GUEST_ARENA_BYTES), *path = end - 8;
    char target[300];
    memset(target, 'y', sizeof target - 1);
    target[sizeof target - 1] = '\0';
    assert_int_equal(symlink(target, "l"), 0);
    strcpy(path, "l");
    guest_said(g.trace);
    assert_call(8, readlink, path, path, 8);
    assert_memory_equal(path, "yyyyyyyy", 8);
    assert_string_equal(guest_said(g.trace), "readlink(\"l\", \"yyyyyyyy\", 8) = 8\n");
    path = guest_take(144);
    strcpy(path, "/");
    assert_call(0, stat, path, path);
    assert_non_null(strstr(guest_said(g.trace), "stat(\"/\", {st_mode=S_IFDIR|"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(iovecs_are_read_once, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(messages_are_read_once, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(polled_descriptors_are_read_once, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(sets_are_read_once, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(paths_are_read_once, guest_setup, guest_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
