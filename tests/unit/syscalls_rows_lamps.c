/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One test a row: timers and signals by descriptor, and waits for them; tee and vmsplice.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "syscalls_guest.h"

#define SYSCALL(number, name, ...) void row_##name(void **state);
#include "syscalls/table.h"

#define BOOT 1577836800 /* 2020-01-01T00:00:00Z */

static uint64_t now(void) { return syscalls_time_ns(g.kernel, g.instructions); }

static void assert_deadlock(int64_t value)
{
    assert_int_equal(value, -EINTR);
    assert_int_equal(g.result.action, SYSCALLS_FAILED);
    assert_non_null(strstr(g.err.text, "deadlock"));
}

static struct itimerspec *setting(int64_t first, int64_t interval)
{
    struct itimerspec *at = guest_take(sizeof *at);
    *at = (struct itimerspec){.it_value = {first / 1000, first % 1000 * 1000000},
                              .it_interval = {interval / 1000, interval % 1000 * 1000000}};
    return at;
}

/* What a read gives. */
static uint64_t ticks_of(int64_t fd)
{
    uint64_t *ticks = guest_take(8);
    assert_call(8, read, fd, ticks, 8);
    return *ticks;
}

static struct pollfd *query(int64_t fd, short events)
{
    struct pollfd *at = guest_take(sizeof *at);
    *at = (struct pollfd){.fd = (int)fd, .events = events};
    return at;
}

/* ------------------------------------------------------------------ timers */

void row_timerfd_create(void **state)
{
    (void)state;
    assert_call(3, timerfd_create, CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    assert_call(FD_CLOEXEC, fcntl, 3, F_GETFD);
    assert_call(O_NONBLOCK | O_RDWR, fcntl, 3, F_GETFL);
    assert_call(-EAGAIN, read, 3, guest_take(8), 8);
    assert_call(-EINVAL, read, 3, guest_take(8), 7);
    assert_call(-EINVAL, write, 3, guest_take(8), 8);
    assert_call(-EINVAL, timerfd_create, CLOCK_MONOTONIC, 1);
    assert_call(-EINVAL, timerfd_create, CLOCK_PROCESS_CPUTIME_ID, 0);
    assert_call(-EPERM, timerfd_create, CLOCK_BOOTTIME_ALARM, 0);
    assert_deadlock(CALL(read, CALL(timerfd_create, CLOCK_BOOTTIME, 0), guest_take(8), 8));
}

void row_timerfd_settime(void **state)
{
    (void)state;
    struct itimerspec *old = guest_take(sizeof *old);
    assert_call(3, timerfd_create, CLOCK_MONOTONIC, 0);
    assert_call(0, timerfd_settime, 3, 0, setting(1500, 0), NULL);
    assert_int_equal(ticks_of(3), 1); /* guest time goes on to it */
    assert_int_equal(now(), 1500000000);
    assert_call(0, timerfd_settime, 3, 0, setting(100, 10), old);
    assert_int_equal(old->it_value.tv_nsec, 0);
    g.instructions += 134999999; /* 14 instructions a microsecond short of the fifth */
    assert_int_equal(ticks_of(3), 4);
    assert_int_equal(ticks_of(3), 1);
    assert_int_equal(now(), 1640000000);
    /* a setting forgets what was not read; a moment that has passed */
    g.instructions += 20000000;
    assert_call(0, timerfd_settime, 3, TFD_TIMER_ABSTIME, setting(1, 0), old);
    assert_int_equal(old->it_interval.tv_nsec, 10000000);
    assert_int_equal(ticks_of(3), 1);
    assert_call(0, timerfd_settime, 3, 0, setting(0, 7), NULL);
    assert_deadlock(CALL(read, 3, guest_take(8), 8));
    /* the calendar's clock */
    assert_call(4, timerfd_create, CLOCK_REALTIME, 0);
    assert_call(0, timerfd_settime, 4, TFD_TIMER_ABSTIME, setting(BOOT * 1000l + 2000, 0), NULL);
    assert_int_equal(ticks_of(4), 1);
    assert_int_equal(now(), 2000000000);
    /* copies share it */
    assert_call(0, timerfd_settime, 3, 0, setting(5, 0), NULL);
    assert_call(5, dup, 3);
    assert_call(0, close, 3);
    assert_int_equal(ticks_of(5), 1);
    assert_call(-EINVAL, timerfd_settime, 5, 4, setting(5, 0), NULL);
    assert_call(-EINVAL, timerfd_settime, 5, 0, setting(-5000, 0), NULL);
    assert_call(-EINVAL, timerfd_settime, 0, 0, setting(5, 0), NULL);
}

void row_timerfd_gettime(void **state)
{
    (void)state;
    struct itimerspec *left = guest_take(sizeof *left);
    assert_call(3, timerfd_create, CLOCK_MONOTONIC, 0);
    assert_call(0, timerfd_gettime, 3, left);
    assert_int_equal(left->it_value.tv_sec | left->it_value.tv_nsec, 0);
    assert_call(0, timerfd_settime, 3, 0, setting(3000, 2000), NULL);
    g.instructions += 500000000;
    assert_call(0, timerfd_gettime, 3, left);
    assert_int_equal(left->it_value.tv_sec, 2);
    assert_int_equal(left->it_value.tv_nsec, 500000000);
    g.instructions += 2750000000;
    assert_call(0, timerfd_gettime, 3, left);
    assert_int_equal(left->it_value.tv_sec, 1);
    assert_int_equal(left->it_value.tv_nsec, 750000000);
    assert_int_equal(left->it_interval.tv_sec, 2);
    assert_call(-EINVAL, timerfd_gettime, 0, left);
}

/* ------------------------------------------------------------------ waits for them */

void row_epoll_pwait2(void **state)
{
    (void)state;
    struct epoll_event *event = guest_take(sizeof *event), *out = guest_take(2 * sizeof *out);
    struct timespec *time = guest_take(sizeof *time);
    *event = (struct epoll_event){.events = EPOLLIN | EPOLLOUT, .data.u64 = 77};
    *time = (struct timespec){0, 250};
    int64_t set = CALL(epoll_create1, 0), timer = CALL(timerfd_create, CLOCK_MONOTONIC, TFD_NONBLOCK);
    assert_call(0, epoll_ctl, set, EPOLL_CTL_ADD, timer, event);
    assert_call(0, epoll_pwait2, set, out, 2, time, NULL, 8);
    assert_int_equal(now(), 250);
    assert_call(0, timerfd_settime, timer, 0, setting(20, 0), NULL);
    assert_call(0, epoll_pwait2, set, out, 2, time, NULL, 8);
    assert_int_equal(now(), 500);
    assert_call(1, epoll_pwait2, set, out, 2, NULL, NULL, 8);
    assert_int_equal(out->data.u64, 77);
    assert_int_equal(out->events, EPOLLIN);
    assert_int_equal(now(), 20000250);
    assert_int_equal(ticks_of(timer), 1);
    assert_deadlock(CALL(epoll_pwait2, set, out, 2, NULL, NULL, 8));
    time->tv_nsec = -1;
    assert_call(-EINVAL, epoll_pwait2, set, out, 2, time, NULL, 8);
    /* another timer, which is not asked about, goes off meanwhile; poll */
    int64_t other = CALL(timerfd_create, CLOCK_MONOTONIC, 0);
    assert_call(0, timerfd_settime, other, 0, setting(10, 10), NULL);
    assert_call(0, timerfd_settime, timer, 0, setting(35, 0), NULL);
    assert_call(1, poll, query(timer, POLLIN | POLLOUT), 1, 50);
    assert_int_equal(now(), 55000250);
    assert_int_equal(ticks_of(other), 3);
    assert_int_equal(ticks_of(timer), 1);
    assert_call(0, poll, query(timer, POLLIN), 1, 50);
    assert_int_equal(now(), 105000250);
    assert_deadlock(CALL(poll, query(timer, POLLIN), 1, -1)); /* though the other goes on */
}

/* ------------------------------------------------------------------ signals */

static uint64_t *mask_of(int signal, int other)
{
    uint64_t *at = guest_take(8);
    *at = 1ull << (signal - 1) | 1ull << (other - 1);
    return at;
}

void row_signalfd(void **state)
{
    (void)state;
    assert_call(3, signalfd, -1, mask_of(SIGUSR1, SIGUSR1), 8);
    assert_call(0, fcntl, 3, F_GETFD);
    assert_deadlock(CALL(read, 3, guest_take(128), 128));
    assert_call(-EINVAL, signalfd, -1, mask_of(SIGUSR1, SIGUSR1), 4);
}

void row_signalfd4(void **state)
{
    (void)state;
    struct signalfd_siginfo *info = guest_take(3 * sizeof *info);
    uint64_t *mask = mask_of(SIGUSR1, SIGUSR2);
    assert_call(3, signalfd4, -1, mask, 8, SFD_NONBLOCK | SFD_CLOEXEC);
    assert_call(FD_CLOEXEC, fcntl, 3, F_GETFD);
    assert_call(-EAGAIN, read, 3, info, 128);
    assert_call(-EINVAL, read, 3, info, 127);
    assert_call(0, rt_sigprocmask, SIG_BLOCK, mask, NULL, 8);
    assert_call(0, poll, query(3, POLLIN), 1, 0);
    assert_call(0, kill, 1000, SIGUSR2);
    assert_call(0, kill, 1000, SIGUSR1);
    assert_call(1, poll, query(3, POLLIN), 1, -1);
    assert_call(256, read, 3, info, 3 * sizeof *info);
    assert_int_equal(info[0].ssi_signo, SIGUSR1);
    assert_int_equal(info[0].ssi_pid, 1000);
    assert_int_equal(info[0].ssi_code, SI_USER);
    assert_int_equal(info[1].ssi_signo, SIGUSR2);
    assert_call(0, poll, query(3, POLLIN), 1, 0);
    assert_int_equal(syscalls_pending(g.kernel), 0);
    /* another set for the same descriptor; buffers in pieces */
    assert_call(3, signalfd4, 3, mask_of(SIGHUP, SIGHUP), 8, 0);
    assert_call(0, rt_sigprocmask, SIG_BLOCK, mask_of(SIGHUP, SIGHUP), NULL, 8);
    assert_call(0, kill, 1000, SIGUSR1);
    assert_call(-EAGAIN, read, 3, info, 128);
    assert_call(0, kill, 1000, SIGHUP);
    struct iovec *iov = guest_take(2 * sizeof *iov);
    uint32_t *signal = guest_take(4), *rest = guest_take(124);
    iov[0] = (struct iovec){signal, 4};
    iov[1] = (struct iovec){rest, 124};
    assert_call(128, readv, 3, iov, 2);
    assert_int_equal(*signal, SIGHUP);
    assert_int_equal(rest[2], 1000); /* ssi_pid */
    assert_call(-EBADF, signalfd4, 77, mask, 8, 0);
    assert_call(-EINVAL, signalfd4, 0, mask, 8, 0);
    assert_call(-EINVAL, signalfd4, -1, mask, 8, 1);
}

/* ------------------------------------------------------------------ pipes */

static int *new_pipe(const char *content)
{
    int *pair = guest_take(8);
    assert_call(0, pipe, pair);
    if (content)
        assert_call((int64_t)strlen(content), write, pair[1], guest_text(content), strlen(content));
    return pair;
}

void row_tee(void **state)
{
    (void)state;
    char *out = guest_take(8);
    int *from = new_pipe("abc"), *to = new_pipe(NULL);
    assert_call(2, tee, from[0], to[1], 2, 0);
    assert_call(2, read, to[0], out, 8);
    assert_memory_equal(out, "ab", 2);
    assert_call(3, read, from[0], out, 8); /* still there */
    assert_call(-EAGAIN, tee, from[0], to[1], 2, 2 /* SPLICE_F_NONBLOCK */);
    assert_deadlock(CALL(tee, from[0], to[1], 2, 0));
    assert_call(-EINVAL, tee, from[0], from[1], 2, 0);
    assert_call(0, close, to[0]);
    from = new_pipe("abc");
    assert_call(-EPIPE, tee, from[0], to[1], 2, 0);
    assert_int_equal(g.result.signal, SIGPIPE);
}

void row_vmsplice(void **state)
{
    (void)state;
    struct iovec *iov = guest_take(2 * sizeof *iov);
    char *out = guest_take(16);
    int *pair = new_pipe(NULL);
    iov[0] = (struct iovec){guest_text("abc"), 3};
    iov[1] = (struct iovec){guest_text("def"), 3};
    assert_call(6, vmsplice, pair[1], iov, 2, 0);
    iov[0].iov_base = out;
    assert_call(3, vmsplice, pair[0], iov, 1, 0);
    assert_memory_equal(out, "abc", 3);
    assert_call(3, read, pair[0], out, 16);
    assert_call(-EAGAIN, vmsplice, pair[0], iov, 1, 2 /* SPLICE_F_NONBLOCK */);
    assert_deadlock(CALL(vmsplice, pair[0], iov, 1, 0));
    assert_call(-EBADF, vmsplice, 0, iov, 1, 0);
    assert_call(-EINVAL, vmsplice, pair[1], iov, 1, 16);
    assert_call(-EINVAL, vmsplice, pair[1], iov, 1025, 0);
    assert_call(-EFAULT, vmsplice, pair[1], GUEST_BAD, 1, 0);
}
