/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One test a row: memory, waiting, sockets.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "syscalls_guest.h"

#define SYSCALL(number, name, ...) void row_##name(void **state);
#include "syscalls/table.h"

#define PAGE C2_PAGE_BYTES
#define RW (PROT_READ | PROT_WRITE)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)

static uint64_t now(void) { return syscalls_time_ns(g.kernel, 0); }

static void assert_deadlock(int64_t value)
{
    assert_int_equal(value, -EINTR);
    assert_int_equal(g.result.action, SYSCALLS_FAILED);
    assert_non_null(strstr(g.err.text, "deadlock"));
}

/* ------------------------------------------------------------------ memory */

static uint64_t pages(uint64_t count)
{
    int64_t at = CALL(mmap, NULL, count * PAGE, RW, ANON, -1, 0);
    assert_true(at > 0);
    return (uint64_t)at;
}

static bool is_low(int64_t address) { return (uint64_t)address >= MMU_LOW_BASE && (uint64_t)address < MMU_LOW_END; }

void row_mmap(void **state)
{
    (void)state;
    int64_t at = CALL(mmap, NULL, 3 * PAGE, RW, ANON, -1, 0);
    assert_int_equal(at, MMU_MMAP_TOP - 3 * PAGE);
    assert_int_equal(*(char *)(uintptr_t)at, 0);
    assert_true(is_low(CALL(mmap, NULL, PAGE, RW, ANON | MAP_32BIT, -1, 0)));
    assert_call(0x5000000, mmap, 0x5000000, PAGE, RW, ANON | MAP_FIXED, -1, 0);
    assert_call(-EEXIST, mmap, 0x5000000, PAGE, RW, ANON | MAP_FIXED_NOREPLACE, -1, 0);
    assert_call(-EINVAL, mmap, 0x5000001, PAGE, RW, ANON | MAP_FIXED, -1, 0);
    assert_call(-EINVAL, mmap, NULL, 0, RW, ANON, -1, 0);
    assert_call(-EINVAL, mmap, NULL, PAGE, RW, MAP_ANONYMOUS, -1, 0); /* neither shared nor private */
    assert_call(-EBADF, mmap, NULL, PAGE, RW, MAP_PRIVATE, 99, 0);
    assert_true(CALL(mmap, NULL, PAGE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0) > 0);
    /* of a file: its bytes, private */
    guest_file("f", "content");
    assert_call(3, open, guest_text("f"), O_RDONLY);
    at = CALL(mmap, NULL, PAGE, RW, MAP_PRIVATE, 3, 0);
    assert_string_equal((char *)(uintptr_t)at, "content");
    assert_false(is_low(at));
    const struct mmu_area *area = mmu_area_at(mmu_areas(g.mmu), (struct guest_va){(uint64_t)at}, false);
    assert_int_equal(area->kind, MMU_FILE);
    assert_string_equal(strrchr(area->path, '/'), "/f");
    assert_call(-EACCES, mmap, NULL, PAGE, RW, MAP_SHARED, 3, 0); /* open for reading */
    assert_call(-EINVAL, mmap, NULL, PAGE, RW, MAP_PRIVATE, 3, 1);
    /* code goes low: by its rights, by what a linker says, by its magic */
    assert_true(is_low(CALL(mmap, NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, 3, 0)));
    assert_true(is_low(CALL(mmap, NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_DENYWRITE, 3, 0)));
    guest_file("e", "\177ELF");
    assert_call(4, open, guest_text("e"), O_RDONLY);
    assert_true(is_low(CALL(mmap, NULL, PAGE, PROT_READ, MAP_PRIVATE, 4, 0)));
    assert_call(-ENODEV, mmap, NULL, PAGE, PROT_READ, MAP_PRIVATE, CALL(open, guest_text("/proc/self/maps"), 0), 0);
    /* a shared mapping reaches the file */
    assert_call(6, open, guest_text("f"), O_RDWR);
    at = CALL(mmap, NULL, PAGE, RW, MAP_SHARED, 6, 0);
    memcpy((char *)(uintptr_t)at, "CON", 3);
    assert_string_equal(guest_content("f"), "CONtent");
}

void row_munmap(void **state)
{
    (void)state;
    uint64_t at = pages(3);
    assert_call(0, munmap, at + PAGE, PAGE);
    assert_true(mmu_allows(g.mmu, (struct guest_va){at}, PAGE, MMU_WRITE));
    assert_false(mmu_allows(g.mmu, (struct guest_va){at + PAGE}, 1, 0));
    assert_call(-EINVAL, munmap, at + 1, PAGE);
    assert_call(-EINVAL, munmap, at, 0);
}

void row_mremap(void **state)
{
    (void)state;
    uint64_t at = pages(2);
    strcpy((char *)(uintptr_t)at, "moved");
    assert_call((int64_t)at, mremap, at, 2 * PAGE, PAGE, 0);
    pages(1);
    int64_t bigger = CALL(mremap, at, PAGE, 8 * PAGE, MREMAP_MAYMOVE);
    assert_true(bigger > 0);
    assert_string_equal((char *)(uintptr_t)bigger, "moved");
    assert_call(-EINVAL, mremap, bigger, PAGE, PAGE, 4);
    assert_call(-EINVAL, mremap, bigger, PAGE, PAGE, MREMAP_FIXED, 0x5000000);
    assert_call(0x5000000, mremap, bigger, 8 * PAGE, 8 * PAGE, MREMAP_FIXED | MREMAP_MAYMOVE, 0x5000000);
    assert_call(-EINVAL, mremap, 0x5000000, PAGE, 0, 0);
    int64_t left = CALL(mremap, 0x5000000, PAGE, PAGE, MREMAP_MAYMOVE | 4 /* MREMAP_DONTUNMAP */, 0);
    assert_true(left > 0 && left != 0x5000000);
    assert_string_equal((char *)(uintptr_t)left, "moved");
    assert_string_equal((char *)(uintptr_t)0x5000000, "");
    assert_call(-EINVAL, mremap, left, PAGE, 2 * PAGE, MREMAP_MAYMOVE | 4, 0);
    assert_call(-EINVAL, mremap, left, PAGE, PAGE, MREMAP_MAYMOVE | 4, 5);
}

void row_mprotect(void **state)
{
    (void)state;
    uint64_t at = pages(2);
    assert_call(0, mprotect, at, PAGE, PROT_READ);
    assert_false(mmu_allows(g.mmu, (struct guest_va){at}, 1, MMU_WRITE));
    assert_true(mmu_allows(g.mmu, (struct guest_va){at + PAGE}, 1, MMU_WRITE));
    assert_call(-EFAULT, getcwd, at, PAGE); /* the host could write there */
    assert_call(-ENOMEM, mprotect, GUEST_BAD, PAGE, PROT_READ);
    assert_call(-EINVAL, mprotect, at + 1, PAGE, PROT_READ);
    assert_call(-EINVAL, mprotect, at, PAGE, 0x100);
    assert_call(0, mprotect, at, 0, PROT_READ);
    const struct mmu_request stack = {.address = MMU_STACK_BASE - 4 * PAGE,
                                      .bytes = 4 * PAGE,
                                      .prot = MMU_READ | MMU_WRITE,
                                      .fixed = true,
                                      .kind = MMU_STACK,
                                      .host_fd = -1};
    const uint64_t low = (uint64_t)mmu_map(g.mmu, &stack);
    assert_call(-EINVAL, mprotect, at, PAGE, PROT_READ | PROT_GROWSDOWN); /* no stack */
    assert_call(-EINVAL, mprotect, low, PAGE, PROT_READ | PROT_GROWSUP);
    assert_call(-ENOMEM, mprotect, low - 4 * PAGE, PAGE, PROT_READ | PROT_GROWSDOWN);
    assert_call(0, mprotect, low + 2 * PAGE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC | PROT_GROWSDOWN);
    assert_true(mmu_allows(g.mmu, (struct guest_va){low}, 3 * PAGE, MMU_EXEC)); /* all that is below, too */
    assert_false(mmu_allows(g.mmu, (struct guest_va){low + 3 * PAGE}, PAGE, MMU_EXEC));
}

void row_pkey_mprotect(void **state)
{
    (void)state;
    uint64_t at = pages(2);
    assert_call(0, pkey_mprotect, at, PAGE, PROT_READ, -1);
    assert_false(mmu_allows(g.mmu, (struct guest_va){at}, 1, MMU_WRITE));
    assert_call(-EINVAL, pkey_mprotect, at, PAGE, PROT_READ, 1);
}

void row_pkey_alloc(void **state)
{
    (void)state;
    assert_call(-ENOSPC, pkey_alloc, 0, 0);
    assert_call(-EINVAL, pkey_alloc, 1, 0);
    assert_call(-EINVAL, pkey_alloc, 0, 4);
}

void row_pkey_free(void **state)
{
    (void)state;
    assert_call(-EINVAL, pkey_free, 1);
}

void row_madvise(void **state)
{
    (void)state;
    uint64_t at = pages(2);
    char *bytes = (char *)(uintptr_t)at;
    assert_call(1, getrandom, bytes, 1, 0); /* touches the first page */
    *bytes = 'x';
    assert_true(mmu_ready(g.mmu, (struct guest_va){at}, MMU_ACCESS_READ));
    assert_call(0, madvise, at, PAGE, MADV_DONTNEED);
    assert_false(mmu_ready(g.mmu, (struct guest_va){at}, MMU_ACCESS_READ));
    assert_int_equal(*bytes, 0);
    assert_call(0, madvise, at, 2 * PAGE, MADV_HUGEPAGE);
    assert_call(0, madvise, at, 2 * PAGE, MADV_WILLNEED);
    assert_call(0, madvise, at, 2 * PAGE, 23 /* MADV_POPULATE_WRITE */);
    assert_true(mmu_ready(g.mmu, (struct guest_va){at + PAGE}, MMU_ACCESS_READ));
    assert_call(-EINVAL, madvise, at, PAGE, 99);
    assert_call(-EINVAL, madvise, at + 1, PAGE, MADV_NORMAL);
    assert_call(-ENOMEM, madvise, GUEST_BAD, PAGE, MADV_NORMAL);
    assert_call(0, madvise, at, 0, MADV_NORMAL);
}

void row_brk(void **state)
{
    (void)state;
    assert_call((int64_t)MMU_HEAP_BASE, brk, 0);
    assert_call((int64_t)MMU_HEAP_BASE + 100, brk, MMU_HEAP_BASE + 100);
    assert_true(mmu_allows(g.mmu, (struct guest_va){MMU_HEAP_BASE}, 100, MMU_WRITE));
    assert_call((int64_t)MMU_HEAP_BASE + 100, brk, 1); /* refused: stays */
    assert_call((int64_t)MMU_HEAP_BASE, brk, MMU_HEAP_BASE);
}

void row_msync(void **state)
{
    (void)state;
    uint64_t at = pages(1);
    assert_call(0, msync, at, PAGE, MS_SYNC);
    assert_call(-EINVAL, msync, at, PAGE, MS_SYNC | MS_ASYNC);
    assert_call(-EINVAL, msync, at + 1, PAGE, MS_SYNC);
    assert_call(-ENOMEM, msync, GUEST_BAD, PAGE, MS_SYNC);
}

static void assert_resident(uint64_t at, bool first, bool second)
{
    uint8_t *resident = guest_take(2);
    assert_call(0, mincore, at, 2 * PAGE, resident);
    assert_int_equal(resident[0], first);
    assert_int_equal(resident[1], second);
}

static void limit_locks(uint64_t bytes)
{
    uint64_t *limit = guest_take(16);
    limit[0] = limit[1] = bytes;
    assert_call(0, setrlimit, RLIMIT_MEMLOCK, limit);
}

void row_mlock(void **state)
{
    (void)state;
    uint64_t at = pages(2);
    assert_call(0, mlock, at + PAGE + 5, 10);
    assert_resident(at, false, true);
    assert_call(-EINVAL, madvise, at + PAGE, PAGE, MADV_DONTNEED);
    assert_call(-EBUSY, msync, at, 2 * PAGE, MS_INVALIDATE);
    assert_call(-ENOMEM, mlock, GUEST_BAD, PAGE);
    assert_call(-ENOMEM, mlock, at, -PAGE); /* too many */
    assert_call(0, mlock, at, UINT64_MAX);  /* rounded up, none */
    limit_locks(2 * PAGE);
    assert_call(0, mlock, at, 2 * PAGE); /* what is locked counts once */
    assert_call(-ENOMEM, mlock, pages(1), PAGE);
    assert_call(0, munmap, at, PAGE);
    assert_call(0, mlock, pages(1), PAGE);
    limit_locks(0);
    assert_call(-EPERM, mlock, at + PAGE, PAGE);
}

void row_mlock2(void **state)
{
    (void)state;
    uint64_t at = pages(2);
    assert_call(0, mlock2, at, PAGE, MLOCK_ONFAULT);
    assert_resident(at, false, false);
    assert_call(0, mlock2, at, PAGE, 0);
    assert_resident(at, true, false);
    assert_call(-EINVAL, mlock2, at, PAGE, 2);
}

void row_munlock(void **state)
{
    (void)state;
    uint64_t at = pages(2);
    assert_call(0, mlock, at, 2 * PAGE);
    assert_call(0, munlock, at, PAGE);
    assert_call(0, madvise, at, PAGE, MADV_DONTNEED);
    assert_call(-EINVAL, madvise, at, 2 * PAGE, MADV_DONTNEED);
    assert_resident(at, false, true);
    assert_call(-ENOMEM, munlock, GUEST_BAD, PAGE);
}

void row_mlockall(void **state)
{
    (void)state;
    uint64_t at = pages(2);
    assert_call(-EINVAL, mlockall, 0);
    assert_call(-EINVAL, mlockall, MCL_ONFAULT);
    assert_call(-EINVAL, mlockall, 8);
    assert_call(0, mlockall, MCL_CURRENT);
    assert_resident(at, true, true);
    assert_resident(pages(2), false, false);
    assert_call(0, mlockall, MCL_FUTURE);
    assert_resident(pages(2), true, true);
    limit_locks(2 * PAGE);
    assert_call(-EAGAIN, mmap, 0, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_call(-ENOMEM, mlockall, MCL_CURRENT);
}

void row_munlockall(void **state)
{
    (void)state;
    uint64_t at = pages(2);
    assert_call(0, mlockall, MCL_CURRENT | MCL_FUTURE);
    assert_call(0, munlockall);
    assert_call(0, madvise, at, 2 * PAGE, MADV_DONTNEED);
    assert_resident(pages(2), false, false);
}

void row_mincore(void **state)
{
    (void)state;
    uint64_t at = pages(2);
    uint8_t *resident = guest_take(2);
    assert_call(1, getrandom, at + PAGE, 1, 0);
    assert_call(0, mincore, at, 2 * PAGE, resident);
    assert_int_equal(resident[0], 0);
    assert_int_equal(resident[1], 1);
    assert_call(-EINVAL, mincore, at + 1, PAGE, resident);
    assert_call(-ENOMEM, mincore, GUEST_BAD, PAGE, resident);
    assert_call(-EFAULT, mincore, at, PAGE, GUEST_READONLY);
}

/* ------------------------------------------------------------------ poll, select */

static int *new_pipe(void)
{
    int *pair = guest_take(8);
    assert_call(0, pipe, pair);
    return pair;
}

static void fill(const int *pair) { assert_call(1, write, pair[1], guest_text("x"), 1); }

static struct pollfd *query(int first, short events, int second, short more)
{
    struct pollfd *q = guest_take(2 * sizeof *q);
    q[0] = (struct pollfd){.fd = first, .events = events, .revents = 0x7fff};
    q[1] = (struct pollfd){.fd = second, .events = more, .revents = 0x7fff};
    return q;
}

void row_poll(void **state)
{
    (void)state;
    int *pair = new_pipe();
    struct pollfd *q = query(pair[0], POLLIN, pair[1], POLLOUT);
    assert_call(1, poll, q, 2, 1000);
    assert_int_equal(q[0].revents, 0);
    assert_int_equal(q[1].revents, POLLOUT);
    assert_int_equal(now(), 0);
    fill(pair);
    assert_call(2, poll, q, 2, -1);
    assert_int_equal(q[0].revents, POLLIN);
    q = query(99, POLLIN, -5, POLLIN); /* closed, and passed over */
    assert_call(1, poll, q, 2, -1);
    assert_int_equal(q[0].revents, POLLNVAL);
    assert_int_equal(q[1].revents, 0);
    /* no other can make an empty pipe readable: the time passes at once */
    int *empty = new_pipe();
    assert_call(0, poll, query(empty[0], POLLIN, -1, 0), 2, 1500);
    assert_int_equal(now(), 1500000000);
    assert_call(0, poll, NULL, 0, 10);
    assert_int_equal(now(), 1510000000);
    assert_deadlock(CALL(poll, query(empty[0], POLLIN, -1, 0), 2, -1));
    assert_call(-EINVAL, poll, GUEST_ARENA, 5000, 0);
}

void row_ppoll(void **state)
{
    (void)state;
    int *pair = new_pipe();
    struct timespec *time = guest_take(sizeof *time);
    uint64_t *mask = guest_take(8);
    time->tv_sec = 2;
    time->tv_nsec = 5;
    assert_call(0, ppoll, query(pair[0], POLLIN, -1, 0), 2, time, NULL, 8);
    assert_int_equal(now(), 2000000005);
    assert_int_equal(time->tv_sec, 0); /* nothing is left */
    time->tv_sec = 3;
    fill(pair);
    assert_call(1, ppoll, query(pair[0], POLLIN, -1, 0), 2, time, NULL, 8);
    assert_int_equal(time->tv_sec, 3);
    assert_call(-EINVAL, ppoll, query(pair[0], POLLIN, -1, 0), 2, time, mask, 4);
    /* a signal that the mask lets in comes first */
    *mask = 1ull << (SIGUSR1 - 1);
    assert_call(0, rt_sigprocmask, SIG_BLOCK, mask, NULL, 8);
    assert_call(0, kill, 1000, SIGUSR1);
    *mask = 0;
    assert_call(-EINTR, ppoll, query(pair[0], POLLIN, -1, 0), 2, time, mask, 8);
    assert_int_equal(syscalls_pending(g.kernel), SIGUSR1);
    time->tv_nsec = -1;
    assert_call(-EINVAL, ppoll, query(pair[0], POLLIN, -1, 0), 2, time, NULL, 8);
}

void row_select(void **state)
{
    (void)state;
    int *pair = new_pipe();
    fd_set *in = guest_take(sizeof *in), *out = guest_take(sizeof *out);
    struct timeval *time = guest_take(sizeof *time);
    *time = (struct timeval){1, 500000};
    FD_SET(pair[0], in);
    FD_SET(pair[1], out);
    assert_call(1, select, pair[1] + 1, in, out, NULL, time);
    assert_false(FD_ISSET(pair[0], in));
    assert_true(FD_ISSET(pair[1], out));
    assert_int_equal(time->tv_usec, 500000);
    FD_SET(pair[0], in);
    assert_call(0, select, pair[0] + 1, in, NULL, NULL, time);
    assert_int_equal(now(), 1500000000);
    assert_int_equal(time->tv_sec, 0);
    fill(pair);
    FD_SET(pair[0], in);
    assert_call(2, select, pair[1] + 1, in, out, NULL, NULL);
    FD_SET(99, in);
    assert_call(-EBADF, select, 100, in, NULL, NULL, NULL);
    assert_call(-EINVAL, select, -1, NULL, NULL, NULL, NULL);
    assert_call(-EFAULT, select, 3, GUEST_BAD, NULL, NULL, NULL);
    *time = (struct timeval){2, 0};
    assert_call(0, select, 0, NULL, NULL, NULL, time); /* a way to sleep */
    assert_int_equal(now(), 3500000000);
}

void row_pselect6(void **state)
{
    (void)state;
    int *pair = new_pipe();
    fd_set *in = guest_take(sizeof *in);
    struct timespec *time = guest_take(sizeof *time);
    uint64_t *mask = guest_take(8), *argument = guest_take(16);
    argument[0] = (uintptr_t)mask;
    argument[1] = 8;
    time->tv_nsec = 7;
    FD_SET(pair[0], in);
    assert_call(0, pselect6, pair[0] + 1, in, NULL, NULL, time, argument);
    assert_int_equal(now(), 7);
    FD_SET(pair[0], in);
    assert_deadlock(CALL(pselect6, pair[0] + 1, in, NULL, NULL, NULL, NULL));
    argument[1] = 4;
    assert_call(-EINVAL, pselect6, pair[0] + 1, in, NULL, NULL, time, argument);
}

/* ------------------------------------------------------------------ epoll */

static struct epoll_event *event(uint32_t events, uint64_t data)
{
    struct epoll_event *at = guest_take(sizeof *at);
    *at = (struct epoll_event){.events = events, .data.u64 = data};
    return at;
}

void row_epoll_create(void **state)
{
    (void)state;
    assert_call(3, epoll_create, 1);
    assert_call(-EINVAL, epoll_create, 0);
}

void row_epoll_create1(void **state)
{
    (void)state;
    assert_call(3, epoll_create1, EPOLL_CLOEXEC);
    assert_call(FD_CLOEXEC, fcntl, 3, F_GETFD);
    assert_call(-EINVAL, epoll_create1, 1);
}

void row_epoll_ctl(void **state)
{
    (void)state;
    int *pair = new_pipe();
    int64_t set = CALL(epoll_create1, 0);
    assert_call(0, epoll_ctl, set, EPOLL_CTL_ADD, pair[0], event(EPOLLIN, 7));
    assert_call(-EEXIST, epoll_ctl, set, EPOLL_CTL_ADD, pair[0], event(EPOLLIN, 7));
    assert_call(0, epoll_ctl, set, EPOLL_CTL_DEL, pair[0], NULL);
    assert_call(-ENOENT, epoll_ctl, set, EPOLL_CTL_DEL, pair[0], NULL);
    assert_call(-EFAULT, epoll_ctl, set, EPOLL_CTL_ADD, pair[0], NULL);
}

void row_epoll_wait(void **state)
{
    (void)state;
    int *pair = new_pipe();
    int64_t set = CALL(epoll_create1, 0);
    struct epoll_event *out = guest_take(4 * sizeof *out);
    assert_call(0, epoll_ctl, set, EPOLL_CTL_ADD, pair[0], event(EPOLLIN, 0x1234567890));
    assert_call(0, epoll_wait, set, out, 4, 250);
    assert_int_equal(now(), 250000000);
    fill(pair);
    assert_call(1, epoll_wait, set, out, 4, -1);
    assert_int_equal(out->events, EPOLLIN);
    assert_int_equal(out->data.u64, 0x1234567890);
    assert_call(1, read, pair[0], guest_take(1), 1);
    assert_call(-EINVAL, epoll_wait, set, out, 0, 0);
    assert_deadlock(CALL(epoll_wait, set, out, 4, -1));
    /* a pipe from outside, watched by another descriptor of the set: the host waits, and guest time stands still */
    int64_t copy = CALL(dup, set);
    assert_int_equal(mkfifo("fifo", 0600), 0);
    int64_t fifo = CALL(open, guest_text("fifo"), O_RDWR);
    assert_call(0, epoll_ctl, set, EPOLL_CTL_ADD, fifo, event(EPOLLIN, 1));
    int outside = open("fifo", O_WRONLY);
    assert_int_equal(write(outside, "x", 1), 1);
    assert_call(1, epoll_wait, copy, out, 4, -1);
    assert_int_equal(now(), 250000000);
    close(outside);
}

void row_epoll_pwait(void **state)
{
    (void)state;
    int64_t set = CALL(epoll_create1, 0);
    struct epoll_event *out = guest_take(4 * sizeof *out);
    uint64_t *mask = guest_take(8);
    assert_call(0, epoll_pwait, set, out, 4, 3, mask, 8);
    assert_int_equal(now(), 3000000);
    assert_call(-EINVAL, epoll_pwait, set, out, 4, 3, mask, 7);
}

/* ------------------------------------------------------------------ sockets */

static int *new_sockets(int type)
{
    int *pair = guest_take(8);
    assert_call(0, socketpair, AF_UNIX, type, 0, pair);
    return pair;
}

void row_socket(void **state)
{
    (void)state;
    assert_call(-EAFNOSUPPORT, socket, AF_PACKET, SOCK_RAW, 0);
    assert_call(-EPROTONOSUPPORT, socket, AF_NETLINK, SOCK_RAW, 4);
    assert_call(-ESOCKTNOSUPPORT, socket, AF_NETLINK, SOCK_STREAM, 0);
    assert_call(3, socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_call(FD_CLOEXEC, fcntl, 3, F_GETFD);
    assert_call(4, socket, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, IPPROTO_TCP);
    assert_call(O_NONBLOCK | O_RDWR, fcntl, 4, F_GETFL);
    assert_call(5, socket, AF_INET6, SOCK_DGRAM, 0);
    assert_call(-EPROTONOSUPPORT, socket, AF_INET, SOCK_DGRAM, IPPROTO_TCP);
    assert_call(-EPERM, socket, AF_INET, SOCK_RAW, IPPROTO_ICMP);
    assert_call(-ESOCKTNOSUPPORT, socket, AF_INET, SOCK_SEQPACKET, 0);
}

void row_socketpair(void **state)
{
    (void)state;
    int *pair = new_sockets(SOCK_STREAM);
    char *out = guest_take(8);
    assert_call(3, write, pair[0], guest_text("abc"), 3);
    assert_call(3, read, pair[1], out, 8);
    assert_memory_equal(out, "abc", 3);
    assert_deadlock(CALL(read, pair[1], out, 8));
    assert_call(-EOPNOTSUPP, socketpair, AF_INET, SOCK_STREAM, 0, pair);
}

static struct sockaddr_in *inet(uint32_t host, uint16_t port)
{
    struct sockaddr_in *at = guest_take(sizeof *at);
    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(host)};
    return at;
}

static struct sockaddr_un *local(const char *path)
{
    struct sockaddr_un *at = guest_take(sizeof *at);
    at->sun_family = AF_UNIX;
    strcpy(at->sun_path, path);
    return at;
}

/* The port that getsockname or getpeername tells. */
#define PORT(call, fd) \
    ({ \
        struct sockaddr_in *at_ = guest_take(sizeof *at_); \
        uint32_t *bytes_ = guest_take(4); \
        *bytes_ = sizeof *at_; \
        assert_call(0, call, fd, at_, bytes_); \
        assert_int_equal(*bytes_, sizeof *at_); \
        ntohs(at_->sin_port); \
    })

static int64_t listener(uint16_t port)
{
    int64_t fd = CALL(socket, AF_INET, SOCK_STREAM, 0);
    assert_call(0, bind, fd, inet(INADDR_ANY, port), sizeof(struct sockaddr_in));
    assert_call(0, listen, fd, 1);
    return fd;
}

void row_connect(void **state)
{
    (void)state;
    assert_call(3, socket, AF_UNIX, SOCK_STREAM, 0);
    assert_call(-ENOENT, connect, 3, local("no/such/socket"), 110);
    guest_file("f", "no socket");
    assert_call(-ECONNREFUSED, connect, 3, local("f"), 110);
    assert_call(-ECONNREFUSED, connect, 3, local(""), 20); /* an abstract name */
    assert_call(-EINVAL, connect, 3, local("f"), 1);
    assert_call(-ENOTSOCK, connect, CALL(open, guest_text("."), O_RDONLY), local("f"), 110);
    int64_t server = listener(8080), client = CALL(socket, AF_INET, SOCK_STREAM, 0);
    assert_call(-ECONNREFUSED, connect, client, inet(INADDR_LOOPBACK, 8081), 16);
    assert_call(-ENETUNREACH, connect, client, inet(0x08080808, 8080), 16);
    assert_call(-EAFNOSUPPORT, connect, client, local("f"), 110);
    assert_call(-EINVAL, connect, client, inet(INADDR_LOOPBACK, 8080), 15);
    assert_call(0, connect, client, inet(INADDR_LOOPBACK, 8080), 16);
    assert_call(-EISCONN, connect, client, inet(INADDR_LOOPBACK, 8080), 16);
    assert_int_equal(PORT(getpeername, client), 8080);
    /* a port without a listener any more */
    assert_call(0, close, server);
    assert_call(-ECONNREFUSED, connect, CALL(socket, AF_INET, SOCK_STREAM, 0), inet(INADDR_LOOPBACK, 8080), 16);
}

void row_bind(void **state)
{
    (void)state;
    struct stat *st = guest_take(sizeof *st);
    assert_call(3, socket, AF_UNIX, SOCK_STREAM, 0);
    assert_call(0, bind, 3, local("s"), 110);
    assert_call(0, stat, guest_text("s"), st);
    assert_int_equal(st->st_mode, S_IFSOCK | 0755);
    assert_call(-EINVAL, bind, 3, local("t"), 110);
    assert_call(4, socket, AF_UNIX, SOCK_DGRAM, 0);
    assert_call(-EADDRINUSE, bind, 4, local("s"), 110);
    assert_call(-ENOENT, bind, 4, local("no/s"), 110);
    assert_call(5, socket, AF_INET, SOCK_STREAM, 0);
    assert_call(-EACCES, bind, 5, inet(INADDR_ANY, 80), 16);
    assert_call(-EADDRNOTAVAIL, bind, 5, inet(0x0a000001, 8080), 16);
    assert_call(0, bind, 5, inet(INADDR_LOOPBACK, 0), 16);
    assert_int_equal(PORT(getsockname, 5), 32768);
    assert_call(-EINVAL, bind, 5, inet(INADDR_LOOPBACK, 0), 16);
    assert_call(6, socket, AF_INET, SOCK_STREAM, 0);
    assert_call(-EADDRINUSE, bind, 6, inet(INADDR_LOOPBACK, 32768), 16);
    assert_call(0, bind, 6, inet(INADDR_LOOPBACK, 8080), 16);
    assert_call(0, bind, CALL(socket, AF_INET, SOCK_DGRAM, 0), inet(INADDR_LOOPBACK, 8080), 16); /* UDP's own */
    assert_call(0, close, 6);
    assert_call(0, bind, CALL(socket, AF_INET, SOCK_STREAM, 0), inet(INADDR_ANY, 8080), 16);
}

void row_listen(void **state)
{
    (void)state;
    assert_call(3, socket, AF_UNIX, SOCK_STREAM, 0);
    assert_call(-EINVAL, listen, 3, 5); /* it has no name */
    assert_call(4, socket, AF_INET, SOCK_STREAM, 0);
    assert_call(0, listen, 4, 5);
    assert_int_equal(PORT(getsockname, 4), 32768);
    assert_call(-EOPNOTSUPP, listen, CALL(socket, AF_INET, SOCK_DGRAM, 0), 5);
    assert_call(-ENOTSOCK, listen, CALL(open, guest_text("."), O_RDONLY), 5);
}

void row_accept(void **state)
{
    (void)state;
    char *out = guest_take(8);
    assert_call(3, socket, AF_UNIX, SOCK_STREAM, 0);
    assert_call(-EINVAL, accept, 3, NULL, NULL); /* it does not listen */
    assert_call(0, bind, 3, local("s"), 110);
    assert_call(0, listen, 3, 1);
    assert_call(4, socket, AF_UNIX, SOCK_STREAM, 0);
    assert_call(0, connect, 4, local("./s"), 110);
    assert_call(5, accept, 3, NULL, NULL);
    assert_call(3, write, 4, guest_text("abc"), 3);
    assert_call(3, read, 5, out, 8);
    assert_memory_equal(out, "abc", 3);
    assert_deadlock(CALL(accept, 3, NULL, NULL));
}

void row_accept4(void **state)
{
    (void)state;
    struct sockaddr_in *from = guest_take(sizeof *from);
    uint32_t *bytes = guest_take(4);
    *bytes = sizeof *from;
    int64_t server = listener(8080), client = CALL(socket, AF_INET, SOCK_STREAM, 0);
    assert_call(0, connect, client, inet(0x7f000005, 8080), 16);
    int64_t end = CALL(accept4, server, from, bytes, SOCK_CLOEXEC | SOCK_NONBLOCK);
    assert_int_equal(ntohl(from->sin_addr.s_addr), INADDR_LOOPBACK);
    assert_int_equal(ntohs(from->sin_port), PORT(getsockname, client));
    assert_call(FD_CLOEXEC, fcntl, end, F_GETFD);
    assert_int_equal(PORT(getpeername, end), PORT(getsockname, client));
    *bytes = sizeof *from;
    assert_call(0, getsockname, end, from, bytes);
    assert_int_equal(ntohl(from->sin_addr.s_addr), 0x7f000005);
    assert_call(-EAGAIN, read, end, guest_take(8), 8);
    assert_call(0, fcntl, server, F_SETFL, O_NONBLOCK);
    assert_call(-EAGAIN, accept4, server, NULL, NULL, 0);
    assert_call(-EINVAL, accept4, server, NULL, NULL, 1);
}

void row_sendto(void **state)
{
    (void)state;
    int *pair = new_sockets(SOCK_DGRAM);
    char *out = guest_take(8);
    assert_call(3, sendto, pair[0], guest_text("abc"), 3, 0, NULL, 0);
    assert_call(-EINVAL, sendto, pair[0], guest_text("abc"), 3, 0, inet(1, 1), 16);
    pair = new_sockets(SOCK_STREAM);
    assert_call(-EISCONN, sendto, pair[0], guest_text("abc"), 3, 0, local("s"), 16);
    assert_call(0, close, pair[1]);
    assert_call(-EPIPE, sendto, pair[0], guest_text("abc"), 3, MSG_NOSIGNAL, NULL, 0);
    assert_int_equal(g.result.action, SYSCALLS_RETURN);
    assert_call(-EPIPE, sendto, pair[0], guest_text("abc"), 3, 0, NULL, 0);
    assert_int_equal(g.result.action, SYSCALLS_SIGNAL);
    assert_int_equal(g.result.signal, SIGPIPE);
    /* UDP: no socket there, a socket there, connected; by write, too */
    int64_t from = CALL(socket, AF_INET, SOCK_DGRAM, 0), to = CALL(socket, AF_INET, SOCK_DGRAM, 0);
    assert_call(-EDESTADDRREQ, sendto, from, guest_text("abc"), 3, 0, NULL, 0);
    assert_call(3, sendto, from, guest_text("abc"), 3, 0, inet(INADDR_LOOPBACK, 9), 16);
    assert_call(0, bind, to, inet(INADDR_ANY, 5000), 16);
    assert_call(3, sendto, from, guest_text("abc"), 3, 0, inet(INADDR_LOOPBACK, 5000), 16);
    assert_call(0, connect, from, inet(INADDR_LOOPBACK, 5000), 16);
    assert_call(2, write, from, guest_text("de"), 2);
    assert_call(3, read, to, out, 8);
    assert_memory_equal(out, "abc", 3);
    assert_call(2, read, to, out, 8);
    assert_call(0, close, to);
    assert_call(-ECONNREFUSED, sendto, from, guest_text("abc"), 3, 0, NULL, 0);
}

void row_recvfrom(void **state)
{
    (void)state;
    int *pair = new_sockets(SOCK_STREAM);
    char *out = guest_take(8);
    uint32_t *bytes = guest_take(4);
    *bytes = 16;
    assert_call(3, write, pair[0], guest_text("abc"), 3);
    assert_call(3, recvfrom, pair[1], out, 8, 0, GUEST_ARENA, bytes);
    assert_int_equal(*bytes, 0);
    assert_call(-EAGAIN, recvfrom, pair[1], out, 8, MSG_DONTWAIT, NULL, NULL);
    assert_deadlock(CALL(recvfrom, pair[1], out, 8, 0, NULL, NULL));
    /* its sender: by address, by path */
    int64_t from = CALL(socket, AF_INET, SOCK_DGRAM, 0), to = CALL(socket, AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in *sender = guest_take(sizeof *sender);
    assert_call(0, bind, to, inet(INADDR_LOOPBACK, 5000), 16);
    assert_call(1, sendto, from, out, 1, 0, inet(INADDR_LOOPBACK, 5000), 16);
    *bytes = 16;
    assert_call(1, recvfrom, to, out, 8, 0, sender, bytes);
    assert_int_equal(*bytes, 16);
    assert_int_equal(ntohs(sender->sin_port), 32768);
    assert_call(-ENOTCONN, recvfrom, CALL(socket, AF_INET, SOCK_STREAM, 0), out, 8, 0, NULL, NULL);
    from = CALL(socket, AF_UNIX, SOCK_DGRAM, 0);
    to = CALL(socket, AF_UNIX, SOCK_DGRAM, 0);
    assert_call(0, bind, from, local("from"), 110);
    assert_call(0, bind, to, local("to"), 110);
    assert_call(1, sendto, from, out, 1, 0, local("to"), 110);
    *bytes = 110;
    struct sockaddr_un *path = local("");
    assert_call(1, recvfrom, to, out, 8, 0, path, bytes);
    assert_string_equal(path->sun_path, "from");
    assert_int_equal(*bytes, 7);
}

static struct msghdr *message(char *data, size_t bytes)
{
    struct msghdr *at = guest_take(sizeof *at);
    struct iovec *iov = guest_take(sizeof *iov);
    *iov = (struct iovec){data, bytes};
    *at = (struct msghdr){.msg_iov = iov, .msg_iovlen = 1};
    return at;
}

void row_sendmsg(void **state)
{
    (void)state;
    int *pair = new_sockets(SOCK_STREAM);
    char *out = guest_take(8);
    assert_call(3, sendmsg, pair[0], message(guest_text("abc"), 3), 0);
    assert_call(3, read, pair[1], out, 8);
    assert_call(-EFAULT, sendmsg, pair[0], message((char *)GUEST_BAD, 3), 0);
    assert_call(-ENOTSOCK, sendmsg, CALL(open, guest_text("."), O_RDONLY), message(guest_text("abc"), 3), 0);
}

/* A message with control data of one kind. */
static struct msghdr *with_control(int type, const void *data, size_t bytes)
{
    struct msghdr *m = message(guest_text("abc"), 3);
    m->msg_control = guest_take(CMSG_SPACE(bytes));
    m->msg_controllen = CMSG_LEN(bytes);
    *CMSG_FIRSTHDR(m) = (struct cmsghdr){.cmsg_len = CMSG_LEN(bytes), .cmsg_level = SOL_SOCKET, .cmsg_type = type};
    memcpy(CMSG_DATA(CMSG_FIRSTHDR(m)), data, bytes);
    return m;
}

/* Descriptors get numbers of their own; the notices go to the guest. */
void row_sendmmsg(void **state)
{
    (void)state;
    int *pair = new_sockets(SOCK_STREAM), *pipe_ends = new_pipe(), bad = 77;
    char *out = guest_take(8);
    const int64_t timer = CALL(timerfd_create, CLOCK_MONOTONIC, 0);
    const int pollable = (int)timer;
    struct ucred self = {1000, 1000, 1000}, other = {1, 1000, 1000};
    assert_call(3, sendmsg, pair[0], with_control(SCM_RIGHTS, pipe_ends, 8), 0);
    struct msghdr *m = message(out, 8);
    m->msg_control = guest_take(64);
    m->msg_controllen = 64;
    assert_call(3, recvmsg, pair[1], m, MSG_CMSG_CLOEXEC);
    assert_int_equal(m->msg_controllen, CMSG_SPACE(8));
    const int *got = (const int *)CMSG_DATA(CMSG_FIRSTHDR(m));
    assert_int_equal(got[0], timer + 1);
    assert_int_equal(got[1], timer + 2);
    assert_call(FD_CLOEXEC, fcntl, got[0], F_GETFD);
    assert_call(2, write, got[1], guest_text("xy"), 2);
    assert_call(2, read, pipe_ends[0], out, 8);
    assert_deadlock(CALL(read, got[0], out, 8)); /* it is still the guest's own pipe */
    assert_call(-EBADF, sendmsg, pair[0], with_control(SCM_RIGHTS, &bad, 4), 0);
    assert_call(-EINVAL, sendmsg, pair[0], with_control(SCM_RIGHTS, &pollable, 4), 0);
    assert_call(-EINVAL, sendmsg, pair[0], with_control(99, &bad, 4), 0);
    assert_call(-EPERM, sendmsg, pair[0], with_control(SCM_CREDENTIALS, &other, sizeof other), 0);
    int *on = guest_take(4);
    *on = 1;
    assert_call(0, setsockopt, pair[1], SOL_SOCKET, SO_PASSCRED, on, 4);
    assert_call(3, sendmsg, pair[0], with_control(SCM_CREDENTIALS, &self, sizeof self), 0);
    m->msg_controllen = 64;
    assert_call(3, recvmsg, pair[1], m, 0);
    assert_memory_equal(CMSG_DATA(CMSG_FIRSTHDR(m)), &self, sizeof self);
    /* several at once, until one fails */
    struct mmsghdr *many = guest_take(3 * sizeof *many);
    many[0].msg_hdr = *message(guest_text("one"), 3);
    many[1].msg_hdr = *message(guest_text("four"), 4);
    many[2].msg_hdr = *message((char *)GUEST_BAD, 4);
    pair = new_sockets(SOCK_DGRAM);
    assert_call(2, sendmmsg, pair[0], many, 3, 0);
    assert_int_equal(many[1].msg_len, 4);
    assert_call(-EFAULT, sendmmsg, pair[0], many + 2, 1, 0);
    assert_call(0, sendmmsg, pair[0], many, 0, 0);
    assert_call(3, read, pair[1], out, 8);
    assert_call(4, read, pair[1], out, 8);
}

void row_recvmmsg(void **state)
{
    (void)state;
    int *pair = new_sockets(SOCK_DGRAM);
    char *out = guest_take(16);
    struct mmsghdr *many = guest_take(3 * sizeof *many);
    for (int i = 0; i < 3; i++)
        many[i].msg_hdr = *message(out + 4 * i, 4);
    assert_call(1, write, pair[0], guest_text("a"), 1);
    assert_call(2, write, pair[0], guest_text("bc"), 2);
    assert_call(2, recvmmsg, pair[1], many, 3, MSG_WAITFORONE, NULL);
    assert_int_equal(many[0].msg_len, 1);
    assert_int_equal(many[1].msg_len, 2);
    assert_memory_equal(out + 4, "bc", 2);
    assert_call(-EAGAIN, recvmmsg, pair[1], many, 3, MSG_DONTWAIT, NULL);
    struct timeval *timeout = guest_take(sizeof *timeout);
    timeout->tv_usec = 5000;
    assert_call(0, setsockopt, pair[1], SOL_SOCKET, SO_RCVTIMEO, timeout, sizeof *timeout);
    assert_call(1, write, pair[0], guest_text("a"), 1);
    assert_call(1, recvmmsg, pair[1], many, 3, 0, NULL);
    assert_int_equal(now(), 5000000);
    assert_call(-EAGAIN, recvmmsg, pair[1], many, 3, 0, NULL);
    assert_int_equal(now(), 10000000);
    struct timespec *time = guest_take(sizeof *time);
    time->tv_nsec = 1000;
    assert_call(1, write, pair[0], guest_text("a"), 1);
    assert_call(1, recvmmsg, pair[1], many, 1, 0, time);
    assert_int_equal(time->tv_nsec, 1000);
    time->tv_nsec = -1;
    assert_call(-EINVAL, recvmmsg, pair[1], many, 1, 0, time);
}

void row_recvmsg(void **state)
{
    (void)state;
    int *pair = new_sockets(SOCK_DGRAM);
    char *out = guest_take(8);
    struct msghdr *m = message(out, 2);
    m->msg_namelen = m->msg_controllen = 55;
    m->msg_name = out + 4;
    assert_call(3, write, pair[0], guest_text("abc"), 3);
    assert_call(2, recvmsg, pair[1], m, 0);
    assert_memory_equal(out, "ab", 2);
    assert_int_equal(m->msg_flags, MSG_TRUNC);
    assert_int_equal(m->msg_namelen, 0);
    assert_int_equal(m->msg_controllen, 0);
    assert_call(3, write, pair[0], guest_text("abc"), 3);
    assert_call(-EFAULT, recvmsg, pair[1], message((char *)GUEST_READONLY, 3), 0);
}

void row_shutdown(void **state)
{
    (void)state;
    int *pair = new_sockets(SOCK_STREAM);
    assert_call(0, shutdown, pair[0], SHUT_WR);
    assert_call(0, read, pair[1], guest_take(8), 8);
    assert_call(-ENOTSOCK, shutdown, CALL(open, guest_text("."), O_RDONLY), SHUT_WR);
}

void row_getsockname(void **state)
{
    (void)state;
    uint16_t *family = guest_take(16);
    uint32_t *bytes = guest_take(4);
    *bytes = 16;
    assert_call(0, getsockname, new_sockets(SOCK_STREAM)[0], family, bytes);
    assert_int_equal(*family, AF_UNIX);
    assert_int_equal(*bytes, 2);
}

void row_getpeername(void **state)
{
    (void)state;
    uint16_t *family = guest_take(16);
    uint32_t *bytes = guest_take(4);
    *bytes = 16;
    assert_call(0, getpeername, new_sockets(SOCK_STREAM)[0], family, bytes);
    assert_int_equal(*bytes, 2);
    assert_call(-ENOTCONN, getpeername, CALL(socket, AF_UNIX, SOCK_STREAM, 0), family, bytes);
}

void row_setsockopt(void **state)
{
    (void)state;
    int *on = guest_take(4);
    *on = 1;
    int *pair = new_sockets(SOCK_STREAM);
    assert_call(0, setsockopt, pair[0], SOL_SOCKET, SO_KEEPALIVE, on, 4);
    assert_call(-EOPNOTSUPP, setsockopt, pair[0], IPPROTO_TCP, TCP_NODELAY, on, 4);
    assert_call(0, setsockopt, CALL(socket, AF_INET, SOCK_STREAM, 0), IPPROTO_TCP, TCP_NODELAY, on, 4);
    assert_call(-EINVAL, setsockopt, pair[0], SOL_SOCKET, SO_KEEPALIVE, on, 3);
    assert_call(-ENOTSOCK, setsockopt, CALL(open, guest_text("."), O_RDONLY), SOL_SOCKET, SO_KEEPALIVE, on, 4);
}

void row_getsockopt(void **state)
{
    (void)state;
    int *value = guest_take(16);
    uint32_t *bytes = guest_take(4);
    int *pair = new_sockets(SOCK_STREAM);
    *bytes = 16;
    assert_call(0, getsockopt, pair[0], SOL_SOCKET, SO_TYPE, value, bytes);
    assert_int_equal(*value, SOCK_STREAM);
    assert_int_equal(*bytes, 4);
    *bytes = 16;
    assert_call(0, getsockopt, pair[0], SOL_SOCKET, SO_PEERCRED, value, bytes);
    assert_int_equal(*bytes, 12);
    assert_int_equal(value[0], 1000); /* the guest, not c2emu */
    int64_t inet = CALL(socket, AF_INET6, SOCK_DGRAM, 0);
    *bytes = 4;
    assert_call(0, getsockopt, inet, SOL_SOCKET, SO_DOMAIN, value, bytes);
    assert_int_equal(*value, AF_INET6);
    assert_call(0, getsockopt, inet, SOL_SOCKET, SO_PROTOCOL, value, bytes);
    assert_int_equal(*value, IPPROTO_UDP);
    assert_call(0, getsockopt, inet, IPPROTO_IPV6, IPV6_V6ONLY, value, bytes);
    assert_int_equal(*value, 0);
    *value = 1;
    assert_call(0, setsockopt, inet, IPPROTO_IPV6, IPV6_V6ONLY, value, 4);
    *value = 0;
    assert_call(0, getsockopt, inet, IPPROTO_IPV6, IPV6_V6ONLY, value, bytes);
    assert_int_equal(*value, 1);
    assert_call(-ENOPROTOOPT, getsockopt, inet, SOL_SOCKET, 9999, value, bytes);
}
