/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Processes without programs: the test's own process is the first one, its children are made by the host's fork, run
 * while it waits, and end. What each does there are calls; a child says by its status where it found something else.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "syscalls/kernel_priv.h"
#include "syscalls_guest.h"

enum { FIRST = 1000, FREE_NUMBERS = 255, GOES_ON = -1 };

static bool in_child;

static void require(bool condition, int line)
{
    if (condition)
        return;
    if (in_child)
        _exit(line % 127 + 1);
    fail_msg("line %d", line);
}
#define REQUIRE(condition) require(condition, __LINE__)

static int setup(void **state)
{
    const int status = guest_setup(state);
    g.kernel->may_fork = true;
    return status;
}

static int64_t start(void)
{
    const int64_t pid = CALL(fork);
    REQUIRE(g.result.action == SYSCALLS_FORK && !syscalls_fork_waits(g.kernel, (uint32_t)pid));
    return pid;
}

static enum c2_status turn_comes(void)
{
    return syscalls_take_turn(g.kernel, g.instructions, syscalls_time_ns(g.kernel, g.instructions), &g.err);
}

static void take_turn(void) { REQUIRE(turn_comes() == C2_OK); }

/* It has the turn, does that, and ends so or does not (GOES_ON); then it is the caller's turn again, or fails to. */
static enum c2_status has_run(int64_t pid, void (*body)(void), int status)
{
    int host_status;
    syscalls_give_turn(g.kernel, g.instructions);
    const pid_t host = fork();
    REQUIRE(host >= 0);
    if (host == 0) {
        in_child = true;
        syscalls_become_child(g.kernel, (uint32_t)pid, g.instructions);
        take_turn();
        if (body)
            body();
        if (status != GOES_ON)
            syscalls_end(g.kernel, status, g.instructions);
        _exit(0);
    }
    REQUIRE(waitpid(host, &host_status, 0) == host);
    if (host_status != 0 && !in_child)
        fail_msg("child %d: status %x, of the line modulo 127, and 1", (int)pid, host_status);
    REQUIRE(host_status == 0);
    return turn_comes();
}

static void runs(int64_t pid, void (*body)(void), int status) { REQUIRE(has_run(pid, body, status) == C2_OK); }

static int64_t wait_for(int64_t pid, int *status, int options)
{
    int *at = guest_take(sizeof *at);
    *at = 0x5a5a5a5a;
    const int64_t found = CALL(wait4, pid, at, options, NULL);
    *status = *at;
    return found;
}

/* ------------------------------------------------------------------ how children end */

static void statuses_are_told_once(void **state)
{
    (void)state;
    static const int ways[] = {0, 7 << 8, SIGKILL, SIGSEGV | 0x80};
    int status;
    for (unsigned i = 0; i < 4; i++) {
        const int64_t pid = start();
        assert_int_equal(pid, FIRST + 1 + i); /* numbers are not used again */
        runs(pid, NULL, ways[i]);
        assert_int_equal(wait_for(-1, &status, 0), pid);
        assert_int_equal(status, ways[i]);
        assert_int_equal(wait_for(-1, &status, 0), -ECHILD);
        assert_int_equal(status, 0x5a5a5a5a);
    }
}

static void wants_core(void)
{
    const struct rlimit limit = {1 << 20, 1 << 20};
    struct rlimit *at = guest_take(sizeof limit);
    *at = limit;
    REQUIRE(CALL(setrlimit, RLIMIT_CORE, at) == 0);
}

static void cores_are_told(void **state)
{
    (void)state;
    static const int ways[][2] = {{SIGSEGV, SIGSEGV | 0x80}, {SIGTERM, SIGTERM}, {7 << 8, 7 << 8}};
    int status;
    for (unsigned i = 0; i < 3; i++) {
        const int64_t pid = start();
        runs(pid, wants_core, ways[i][0]);
        assert_int_equal(wait_for(-1, &status, 0), pid);
        assert_int_equal(status, ways[i][1]);
    }
}

static void spends(void) { g.instructions += 5000000; }

static void spends_by_a_child(void)
{
    const int64_t pid = start();
    runs(pid, spends, 0);
    REQUIRE(CALL(wait4, pid, NULL, 0, NULL) == pid);
}

static void times_are_added_up(void **state)
{
    (void)state;
    struct rusage *usage = guest_take(sizeof *usage), *all = guest_take(sizeof *all);
    g.instructions = 3000000; /* of the parent before: none of the child's */
    const uint64_t each = syscalls_time_ns(g.kernel, 8000000) - syscalls_time_ns(g.kernel, 3000000);
    for (unsigned i = 1; i <= 2; i++) {
        const int64_t pid = start();
        runs(pid, spends, 0);
        assert_call(pid, wait4, pid, NULL, 0, usage);
        assert_int_equal(usage->ru_utime.tv_sec * 1000000 + usage->ru_utime.tv_usec, each / 1000);
        assert_call(0, getrusage, RUSAGE_CHILDREN, all);
        assert_int_equal(all->ru_utime.tv_sec * 1000000 + all->ru_utime.tv_usec, i * each / 1000);
    }
    const int64_t pid = start(); /* what its own children took is the child's */
    runs(pid, spends_by_a_child, 0);
    assert_call(pid, wait4, pid, NULL, 0, usage);
    assert_int_equal(usage->ru_utime.tv_sec * 1000000 + usage->ru_utime.tv_usec, each / 1000);
    assert_call(0, getrusage, RUSAGE_CHILDREN, all);
    assert_int_equal(all->ru_utime.tv_sec * 1000000 + all->ru_utime.tv_usec, 3 * each / 1000);
}

/* ------------------------------------------------------------------ what a wait does */

static void one_that_runs(void **state)
{
    (void)state;
    int status;
    assert_int_equal(wait_for(-1, &status, WNOHANG), -ECHILD);
    const int64_t pid = start();
    assert_int_equal(wait_for(-1, &status, WNOHANG), 0);
    assert_int_equal(status, 0x5a5a5a5a);
    wait_for(-1, &status, 0);
    assert_int_equal(g.result.action, SYSCALLS_BLOCKED);
    assert_int_equal(syscalls_ready(g.kernel, FIRST, g.instructions), SYSCALLS_WAITS);
    assert_true(syscalls_is_asleep(g.kernel));
    const uint64_t events = syscalls_events(g.kernel);
    runs(pid, NULL, 1 << 8);
    assert_true(syscalls_events(g.kernel) > events);
    assert_int_equal(syscalls_ready(g.kernel, FIRST, g.instructions), SYSCALLS_AGAIN);
    assert_int_equal(wait_for(-1, &status, 0), pid);
    assert_int_equal(status, 1 << 8);
}

static void whom_it_means(void **state)
{
    (void)state;
    int status;
    const int64_t a = start(), b = start(), c = start();
    assert_call(0, setpgid, a, 0);
    assert_call(0, setpgid, b, a);
    assert_call(a, getpgid, b);
    assert_call(FIRST, getpgid, c);
    runs(c, NULL, 3 << 8);
    runs(b, NULL, 2 << 8);
    assert_int_equal(wait_for(a, &status, WNOHANG), 0);
    assert_int_equal(wait_for(b + 100, &status, 0), -ECHILD);
    assert_int_equal(wait_for(FIRST, &status, 0), -ECHILD); /* not its own */
    assert_int_equal(wait_for(-c, &status, 0), -ECHILD);    /* no group */
    assert_int_equal(wait_for(0, &status, 0), c);           /* of its own group, though b ended too */
    assert_int_equal(wait_for(0, &status, WNOHANG), -ECHILD);
    runs(a, NULL, 1 << 8);
    assert_int_equal(wait_for(-a, &status, 0), a); /* of several the first that was made */
    assert_int_equal(wait_for(-a, &status, 0), b);
    assert_int_equal(status, 2 << 8);
    assert_int_equal(wait_for(-a, &status, 0), -ECHILD);
    assert_call(-EINVAL, wait4, -1, NULL, 0x100, NULL);
    assert_call(-ESRCH, wait4, INT32_MIN, NULL, 0, NULL);
}

static void by_waitid(void **state)
{
    (void)state;
    siginfo_t *info = guest_take(sizeof *info);
    const int64_t a = start(), b = start();
    memset(info, 1, sizeof *info);
    assert_call(0, waitid, P_ALL, 0, info, WEXITED | WNOHANG, NULL);
    assert_int_equal(info->si_pid, 0);
    assert_int_equal(info->si_signo, 0);
    runs(a, NULL, 9 << 8);
    runs(b, NULL, SIGTERM);
    for (unsigned i = 0; i < 2; i++) { /* it is left there, and then taken */
        assert_call(0, waitid, P_PID, b, info, WEXITED | (i == 0 ? WNOWAIT : 0), NULL);
        assert_int_equal(info->si_pid, b);
        assert_int_equal(info->si_signo, SIGCHLD);
        assert_int_equal(info->si_code, CLD_KILLED);
        assert_int_equal(info->si_status, SIGTERM);
    }
    assert_call(-ECHILD, waitid, P_PID, b, info, WEXITED, NULL);
    assert_call(0, waitid, P_PGID, FIRST, info, WEXITED, NULL);
    assert_int_equal(info->si_pid, a);
    assert_int_equal(info->si_code, CLD_EXITED);
    assert_int_equal(info->si_status, 9);
    assert_call(-EINVAL, waitid, P_ALL, 0, info, WNOHANG, NULL);
}

/* ------------------------------------------------------------------ parents */

static unsigned processes(void)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < g.kernel->processes->used; i++)
        count += g.kernel->processes->list[i].state != PROCESS_NONE;
    return count;
}

static void leaves_two(void)
{
    const int64_t zombie = start(), orphan = start();
    REQUIRE(zombie == FIRST + 2 && orphan == FIRST + 3);
    REQUIRE(CALL(getppid) == FIRST && CALL(getpid) == FIRST + 1);
    runs(zombie, NULL, 0);
    REQUIRE(processes() == 4);
}

static void is_an_orphan(void) { REQUIRE(CALL(getppid) == 1 && CALL(getpid) == FIRST + 3); }

static void orphans(void **state)
{
    (void)state;
    int status;
    const int64_t child = start();
    runs(child, leaves_two, 0);
    assert_int_equal(processes(), 3); /* the zombie is not waited for any more */
    assert_int_equal(wait_for(FIRST + 3, &status, 0), -ECHILD);
    assert_int_equal(wait_for(-1, &status, 0), child);
    assert_int_equal(wait_for(-1, &status, 0), -ECHILD);
    runs(FIRST + 3, is_an_orphan, 0);
    assert_int_equal(processes(), 1);
}

static void is_executed(void) { processes_executed(g.kernel); }

static void leads(void)
{
    const int64_t self = CALL(getpid);
    REQUIRE(CALL(setsid) == self && CALL(getsid, 0) == self && CALL(getpgid, 0) == self);
    REQUIRE(CALL(setsid) == -EPERM);
    REQUIRE(CALL(setpgid, 0, 0) == -EPERM);
}

static void groups(void **state)
{
    (void)state;
    const int64_t a = start(), b = start(), c = start();
    assert_call(-EPERM, setsid);        /* it leads its group */
    assert_call(-EPERM, setpgid, 0, 0); /* and its session */
    assert_call(-ESRCH, setpgid, 1, 0); /* is no child */
    assert_call(-EINVAL, setpgid, a, -1);
    assert_call(-EPERM, setpgid, a, FIRST + 77); /* there is none */
    assert_call(0, setpgid, a, a);
    assert_call(0, setpgid, a, FIRST); /* and back */
    assert_call(FIRST, getpgid, a);
    runs(b, leads, 0);
    assert_call(b, getsid, b);
    assert_call(-EPERM, setpgid, b, FIRST); /* of another session */
    runs(c, is_executed, 0);
    assert_call(-EACCES, setpgid, c, c);
    assert_call(-ESRCH, getpgid, FIRST + 77);
    assert_call(-ESRCH, getsid, FIRST + 77);
}

/* ------------------------------------------------------------------ signals */

static uint64_t *set_of(int signal)
{
    uint64_t *set = guest_take(8);
    *set = (uint64_t)1 << (signal - 1);
    return set;
}

/* The next one of these, or -EAGAIN: with others it waits for a moment that has come. */
static int64_t next_signal(int signal, siginfo_t **info)
{
    struct timespec *none = guest_take(sizeof *none);
    const uint64_t *set = set_of(signal);
    *info = guest_take(sizeof **info);
    const int64_t found = CALL(rt_sigtimedwait, set, *info, none, 8);
    if (g.result.action != SYSCALLS_BLOCKED)
        return found;
    REQUIRE(syscalls_ready(g.kernel, syscalls_thread(g.kernel), g.instructions) == SYSCALLS_AGAIN);
    return CALL(rt_sigtimedwait, set, *info, none, 8);
}

static void parents_are_told(void **state)
{
    (void)state;
    siginfo_t *info;
    assert_call(0, rt_sigprocmask, SIG_BLOCK, set_of(SIGCHLD), NULL, 8);
    static const int statuses[] = {3 << 8, SIGKILL}, codes[] = {CLD_EXITED, CLD_KILLED}, told[] = {3, SIGKILL};
    for (unsigned i = 0; i < 2; i++) {
        const int64_t pid = start();
        runs(pid, NULL, statuses[i]);
        assert_int_equal(next_signal(SIGCHLD, &info), SIGCHLD);
        assert_int_equal(info->si_pid, pid);
        assert_int_equal(info->si_code, codes[i]);
        assert_int_equal(info->si_status, told[i]);
        assert_int_equal(next_signal(SIGCHLD, &info), -EAGAIN);
    }
    const int64_t quiet = CALL(clone, 0, NULL, NULL, NULL, 0); /* without a signal for its end */
    runs(quiet, NULL, 0);
    assert_int_equal(next_signal(SIGCHLD, &info), -EAGAIN);
}

/* Of children that are not waited for nothing is left; a wait for all of them is over when the last has ended. */
static void ignored_children(void **state)
{
    (void)state;
    int status;
    uint64_t *action = guest_take(32);
    action[0] = 1; /* SIG_IGN */
    assert_call(0, rt_sigaction, SIGCHLD, action, NULL, 8);
    const int64_t a = start(), b = start();
    runs(a, NULL, 0);
    assert_int_equal(processes(), 2);
    wait_for(-1, &status, 0);
    assert_int_equal(g.result.action, SYSCALLS_BLOCKED);
    runs(b, NULL, 0);
    assert_int_equal(syscalls_ready(g.kernel, FIRST, g.instructions), SYSCALLS_AGAIN);
    assert_int_equal(wait_for(-1, &status, 0), -ECHILD);
}

/* One of a kind, but for real-time signals: both are there. */
static void has_heard(void)
{
    siginfo_t *info;
    REQUIRE(next_signal(SIGUSR1, &info) == SIGUSR1 && info->si_pid == FIRST && info->si_code == SI_USER);
    REQUIRE(next_signal(SIGUSR1, &info) == -EAGAIN);
    for (int i = 0; i < 2; i++)
        REQUIRE(next_signal(40, &info) == 40 && info->si_pid == FIRST);
    REQUIRE(next_signal(40, &info) == -EAGAIN);
}

static void has_heard_one(void)
{
    siginfo_t *info;
    REQUIRE(next_signal(SIGUSR1, &info) == SIGUSR1 && next_signal(40, &info) == -EAGAIN);
}

static void signals_between_processes(void **state)
{
    (void)state;
    siginfo_t *info;
    int status;
    assert_call(0, rt_sigprocmask, SIG_BLOCK, set_of(SIGUSR1), NULL, 8);
    assert_call(0, rt_sigprocmask, SIG_BLOCK, set_of(40), NULL, 8);
    const int64_t a = start(), b = start();
    assert_call(0, setpgid, b, b);
    assert_call(0, kill, a, SIGUSR1);
    assert_call(0, kill, a, SIGUSR1);
    assert_call(0, kill, a, 40);
    assert_call(0, kill, a, 40);
    assert_call(0, kill, -b, SIGUSR1);
    assert_int_equal(next_signal(SIGUSR1, &info), -EAGAIN); /* not for the sender */
    runs(a, has_heard, 0);
    runs(b, has_heard_one, 0);
    assert_call(0, kill, a, SIGUSR1); /* a zombie hears nothing */
    assert_call(0, kill, a, 0);
    assert_call(-ESRCH, kill, FIRST + 77, 0);
    assert_call(-ESRCH, kill, -(FIRST + 77), SIGTERM);
    assert_call(-EINVAL, kill, a, 65);
    assert_int_equal(wait_for(a, &status, 0), a);
    assert_call(-ESRCH, kill, a, 0);
    assert_call(0, kill, 0, SIGUSR1); /* its own group: itself */
    assert_int_equal(next_signal(SIGUSR1, &info), SIGUSR1);
}

/* ------------------------------------------------------------------ making them */

static void vfork_holds(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        const int64_t pid = CALL(vfork);
        assert_int_equal(g.result.action, SYSCALLS_FORK);
        assert_true(syscalls_fork_waits(g.kernel, (uint32_t)pid));
        assert_int_equal(syscalls_ready(g.kernel, FIRST, g.instructions), SYSCALLS_WAITS);
        runs(pid, i == 0 ? is_executed : NULL, i == 0 ? GOES_ON : 0);
        assert_int_equal(syscalls_ready(g.kernel, FIRST, g.instructions), SYSCALLS_AGAIN);
        assert_call(pid, vfork); /* the same call once more: it is over */
        assert_int_equal(g.result.action, SYSCALLS_RETURN);
    }
}

enum { ROOM = 16 }; /* pages of memory in common */

static void write_pages(unsigned count)
{
    for (uint64_t i = 0; i < count; i++)
        ((char *)GUEST_ARENA)[i * C2_PAGE_BYTES] = (char)(i + 1);
}

static void writes_pages_that_fit(void)
{
    write_pages(ROOM / 2);
    syscalls_give_turn(g.kernel, g.instructions);
}

static void writes_one_too_many(void)
{
    write_pages(ROOM + 1);
    syscalls_give_turn(g.kernel, g.instructions);
}

static void leaves_one_too_many(void)
{
    write_pages(ROOM + 1);
    syscalls_leave_memory(g.kernel);
}

static int64_t start_in_common(void)
{
    const int64_t pid = CALL(clone, CLONE_VM | SIGCHLD, 0, NULL, NULL, 0);
    REQUIRE(g.result.action == SYSCALLS_FORK);
    return pid;
}

static void memory_in_common_is_exhausted(void **state)
{
    (void)state;
    static const char said[] = "memory in common is exhausted: processes of the program that have one memory (clone "
                               "with CLONE_VM) have written more than 64 KiB of it, the most that is kept for them; "
                               "let the program use threads, or less memory";
    g.kernel->joint.most = ROOM;
    const int64_t fits = start_in_common();
    runs(fits, writes_pages_that_fit, GOES_ON);
    assert_int_equal(((char *)GUEST_ARENA)[C2_PAGE_BYTES], 2);
    assert_int_equal(has_run(fits, writes_one_too_many, GOES_ON), C2_ERR_EXHAUSTED);
    assert_string_equal(g.err.text, said);
    g.err.text[0] = 0;
    syscalls_give_turn(g.kernel, g.instructions); /* however often it comes */
    assert_int_equal(turn_comes(), C2_ERR_EXHAUSTED);
    assert_string_equal(g.err.text, said);
}

static void a_member_leaves_too_much(void **state)
{
    (void)state;
    g.kernel->joint.most = ROOM;
    assert_int_equal(has_run(start_in_common(), leaves_one_too_many, 0), C2_ERR_EXHAUSTED);
}

static void as_many_as_there_are(void **state)
{
    (void)state;
    int status;
    assert_false(syscalls_has_company(g.kernel));
    for (unsigned i = 1; i <= FREE_NUMBERS; i++)
        assert_int_equal(start(), FIRST + i);
    assert_call(-EAGAIN, fork);
    assert_true(syscalls_has_company(g.kernel));
    runs(FIRST + 9, NULL, 0);
    assert_call(-EAGAIN, fork);                /* a zombie has its place */
    syscalls_fork_failed(g.kernel, FIRST + 5); /* the host could not */
    assert_int_equal(wait_for(FIRST + 9, &status, 0), FIRST + 9);
    assert_int_equal(start(), FIRST + FREE_NUMBERS + 1);
    assert_int_equal(start(), FIRST + FREE_NUMBERS + 2);
    assert_call(-EAGAIN, fork);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, guest_teardown)
    const struct CMUnitTest tests[] = {
        TEST(cores_are_told),
        TEST(statuses_are_told_once),
        TEST(times_are_added_up),
        TEST(one_that_runs),
        TEST(whom_it_means),
        TEST(by_waitid),
        TEST(orphans),
        TEST(groups),
        TEST(parents_are_told),
        TEST(ignored_children),
        TEST(signals_between_processes),
        TEST(vfork_holds),
        TEST(memory_in_common_is_exhausted),
        TEST(a_member_leaves_too_much),
        TEST(as_many_as_there_are),
    };
    return cmocka_run_group_tests_name("syscalls_processes", tests, NULL, NULL);
}
