/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The tracer's lines; touches; a run that repeats itself; memory that runs out.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>

#include "syscalls_guest.h"
#include "unit/mmu_touches.h"

#define assert_line(line, ...) \
    do { \
        CALL(__VA_ARGS__); \
        assert_string_equal(guest_said(g.trace), line "\n"); \
    } while (0)

static void lines_are_in_strace_style(void **state)
{
    (void)state;
    char *buffer = guest_take(4096);
    guest_file("f", "first line\n\tsecond \"line\" \\ and more than 32 bytes");
    assert_line("openat(AT_FDCWD, \"/etc/passwd\", O_RDONLY|O_CLOEXEC) = 3", openat, AT_FDCWD,
                guest_text("/etc/passwd"), O_RDONLY | O_CLOEXEC, 0);
    assert_line("open(\"n\", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 4", open, guest_text("n"), O_WRONLY | O_CREAT | O_TRUNC,
                0644);
    assert_line("open(\"f\", O_RDONLY) = 5", open, guest_text("f"), O_RDONLY);
    assert_line("read(5, \"first line\\n\\tsecond \\\"line\\\" \\\\ and \"..., 4096) = 50", read, 5, buffer, 4096);
    assert_line("read(5, \"\", 4096) = 0", read, 5, buffer, 4096);
    assert_line("write(4, \"a\\0b\\0011\\377\", 6) = 6", write, 4, memcpy(guest_take(8), "a\0b\0011\377", 6), 6);
    assert_line("close(99) = -1 EBADF (Bad file descriptor)", close, 99);
    assert_line("access(\"none\", R_OK|W_OK) = -1 ENOENT (No such file or directory)", access, guest_text("none"), 6);
    assert_line("access(\"f\", F_OK) = 0", access, guest_text("f"), 0);
    assert_line("mmap(0x5000000, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS, -1, 0) = 0x5000000",
                mmap, 0x5000000, 4096, 3, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0);
    assert_line("mprotect(0x5000000, 4096, PROT_NONE) = 0", mprotect, 0x5000000, 4096, 0);
    assert_line("mprotect(0x6000000, 4096, PROT_READ) = -1 ENOMEM (Cannot allocate memory)", mprotect, 0x6000000, 4096,
                1);
    assert_line("pipe([6, 7]) = 0", pipe, guest_take(8));
    assert_line("pipe(0x5) = -1 EFAULT (Bad address)", pipe, 5);
    assert_line("fstat(5, {st_mode=S_IFREG|0644, st_size=50, ...}) = 0", fstat, 5, buffer);
    assert_line("clock_gettime(CLOCK_MONOTONIC, {tv_sec=0, tv_nsec=0}) = 0", clock_gettime, CLOCK_MONOTONIC, buffer);
    assert_line("kill(1000, SIGUSR1) = 0", kill, 1000, SIGUSR1);
    assert_line("fcntl(5, F_GETFD, 0) = 0", fcntl, 5, F_GETFD);
    assert_line("ioctl(5, 0x12345678, NULL) = -1 ENOTTY (Inappropriate ioctl for device)", ioctl, 5, 0x12345678, 0);
    assert_line("lseek(5, -1, SEEK_SET) = -1 EINVAL (Invalid argument)", lseek, 5, -1, 0);
    assert_line("getpid() = 1000", getpid);
    assert_line("exit_group(3) = ?", exit_group, 3);
    assert_line("lookup_dcookie(0, 0x1, 0, 0, 0, 0) = -1 ENOSYS (Function not implemented)", lookup_dcookie, 0, 1);
    guest_call(999, (const uint64_t[6]){1, 2, 3, 4, 5, 6});
    assert_string_equal(guest_said(g.trace),
                        "syscall_0x3e7(0x1, 0x2, 0x3, 0x4, 0x5, 0x6) = -1 ENOSYS (Function not implemented)\n");
    guest_fault(SIGSEGV, SEGV_MAPERR, 0x10);
    assert_string_equal(guest_said(g.trace), "--- SIGSEGV {si_signo=SIGSEGV, si_code=1, si_addr=0x10} ---\n");
}

static bool touched(uint64_t address) { return mmu_ready(g.mmu, (struct guest_va){address}, MMU_ACCESS_READ); }

/* Pages are touched in the order of use: inputs before the call, outputs as far as they were written. */
static void only_what_is_used_is_touched(void **state)
{
    (void)state;
    uint64_t in = GUEST_ARENA + 8 * C2_PAGE_BYTES, out = GUEST_ARENA + 16 * C2_PAGE_BYTES;
    static struct touches touches;
    guest_file("f", "0123456789");
    strcpy((char *)(uintptr_t)(in + C2_PAGE_BYTES - 1), "f"); /* its end lies on the next page */
    touches_open(&touches, g.mmu);
    assert_call(3, open, in + C2_PAGE_BYTES - 1, O_RDWR);
    assert_int_equal(touches.count, 2);
    assert_call(10, read, 3, out + C2_PAGE_BYTES - 4, 3 * C2_PAGE_BYTES);
    assert_true(touched(out) && touched(out + C2_PAGE_BYTES));
    assert_false(touched(out + 2 * C2_PAGE_BYTES));
    assert_call(0, read, 3, out + 4 * C2_PAGE_BYTES, 100);
    assert_false(touched(out + 4 * C2_PAGE_BYTES)); /* nothing was read */
    assert_call(-ENOENT, stat, GUEST_ARENA, out + 5 * C2_PAGE_BYTES);
    assert_false(touched(out + 5 * C2_PAGE_BYTES)); /* nothing was written */
    assert_int_equal(touches_at(&touches, in), 0);
    assert_int_equal(touches_at(&touches, in + C2_PAGE_BYTES), 1);
    assert_int_equal(touches_at(&touches, out), 2);
    touches_close(&touches, g.mmu);
}

static void iovecs_are_touched_as_far_as_they_were_filled(void **state)
{
    (void)state;
    uint64_t first = GUEST_ARENA + 8 * C2_PAGE_BYTES;
    uint64_t second = first + 2 * C2_PAGE_BYTES, third = first + 4 * C2_PAGE_BYTES;
    struct iovec *iov = guest_take(3 * sizeof *iov);
    guest_file("f", "0123456789");
    iov[0] = (struct iovec){(void *)(uintptr_t)first, 4};
    iov[1] = (struct iovec){(void *)(uintptr_t)second, 100};
    iov[2] = (struct iovec){(void *)(uintptr_t)third, 100};
    assert_call(3, open, guest_text("f"), O_RDONLY);
    assert_call(10, readv, 3, iov, 3);
    assert_true(touched(first) && touched(second));
    assert_false(touched(third));
    mmu_check(g.mmu);
}

static void a_page_beyond_the_end_of_a_file_is_efault(void **state)
{
    guest_teardown(state); /* anew: cmocka's SIGBUS handler has replaced that of mmu/ */
    guest_setup(state);
    guest_file("f", "short");
    assert_call(3, open, guest_text("f"), O_RDWR);
    uint64_t at = (uint64_t)CALL(mmap, NULL, 2 * C2_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, 3, 0);
    assert_call(-EFAULT, stat, at + C2_PAGE_BYTES, guest_take(144)); /* as a path */
    assert_call(-EFAULT, clock_gettime, CLOCK_REALTIME, at + C2_PAGE_BYTES);
    assert_call(-EFAULT, getrandom, at + C2_PAGE_BYTES, 10, 0);
    assert_call(0, clock_gettime, CLOCK_REALTIME, at);
}

static void exhausted_memory_ends_the_run(void **state)
{
    (void)state;
    int64_t value;
    uint64_t bytes = 2 * GUEST_PHYSICAL;
    static struct touches touches;
    touches_open(&touches, g.mmu);
    touches.limit = GUEST_PHYSICAL / C2_PAGE_BYTES;
    uint64_t at = (uint64_t)CALL(mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    value = CALL(madvise, at, bytes, 23 /* MADV_POPULATE_WRITE */);
    assert_int_equal(g.result.action, SYSCALLS_FAILED);
    assert_true(value < 0);
    assert_int_equal(g.err.status, C2_ERR_EXHAUSTED);
    assert_int_equal(touches.count, touches.limit + 1);
    touches_close(&touches, g.mmu);
}

/* What the kernel writes over code is reported to keepers of translations of it. */
static unsigned code_changes;
static void changed(void *self, struct guest_va start, uint64_t bytes, bool code)
{
    (void)self, (void)start;
    code_changes += code && bytes == C2_PAGE_BYTES;
}

static void writes_over_code_are_told(void **state)
{
    (void)state;
    struct mmu_listener listener = {.after = changed};
    uint64_t at = (uint64_t)CALL(mmap, NULL, 3 * C2_PAGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_int_equal(mmu_listen(g.mmu, listener, &g.err), C2_OK);
    code_changes = 0;
    assert_call(0, clock_gettime, CLOCK_REALTIME, guest_take(16));
    assert_int_equal(code_changes, 0);
    assert_call(0, clock_gettime, CLOCK_REALTIME, at + C2_PAGE_BYTES);
    assert_int_equal(code_changes, 1);
    mmu_check(g.mmu);
}

static void interrupt(int signal)
{
    (void)signal;
    g.interrupted = 1;
}

/* A read that would wait for ever comes back once the run has to end. */
static void a_blocking_call_can_be_interrupted(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = interrupt};
    struct itimerval often = {{0, 5000}, {0, 5000}}, never = {{0, 0}, {0, 0}};
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_call(3, open, guest_text("fifo"), O_RDWR);
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    assert_call(-EINTR, read, 3, guest_take(8), 8);
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    assert_int_equal(g.result.action, SYSCALLS_RETURN);
}

/* A short life, of everything that could differ between two runs. */
static const char *life(void)
{
    static char text[8192];
    char *buffer = guest_take(64);
    guest_file("f", "content");
    g.instructions = 12345678;
    CALL(getrandom, buffer, 16, 0);
    CALL(open, guest_text("/dev/urandom"), O_RDONLY);
    CALL(read, 3, buffer, 16);
    CALL(clock_gettime, CLOCK_REALTIME, buffer);
    CALL(open, guest_text("f"), O_RDONLY);
    CALL(mmap, NULL, 4096, 3, MAP_PRIVATE, 4, 0);
    CALL(open, guest_text("/proc/self/stat"), O_RDONLY);
    CALL(read, 5, buffer, 64);
    CALL(poll, NULL, 0, 1000);
    CALL(times, NULL);
    return strcpy(text, guest_said(g.trace));
}

static void two_runs_are_the_same(void **state)
{
    char first[8192];
    strcpy(first, life());
    guest_teardown(state);
    guest_setup(state);
    assert_string_equal(life(), first);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, guest_setup, guest_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(lines_are_in_strace_style),
        TEST(only_what_is_used_is_touched),
        TEST(iovecs_are_touched_as_far_as_they_were_filled),
        TEST(a_page_beyond_the_end_of_a_file_is_efault),
        TEST(exhausted_memory_ends_the_run),
        TEST(writes_over_code_are_told),
        TEST(a_blocking_call_can_be_interrupted),
        TEST(two_runs_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
