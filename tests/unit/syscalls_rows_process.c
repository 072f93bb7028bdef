/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One test a row: identity, scheduling, time, signals, processes.
 */
#include <asm/ldt.h>
#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <time.h>

#include "syscalls_guest.h"

#define SYSCALL(number, name, ...) void row_##name(void **state);
#include "syscalls/table.h"

#define BOOT 1577836800 /* 2020-01-01T00:00:00Z */

/* A row whose answer depends on nothing. */
#define FIXED(name, value) \
    void row_##name(void **state) \
    { \
        (void)state; \
        assert_call(value, name, 0, 0, 0); \
    }

FIXED(getpid, 1000)
FIXED(gettid, 1000)
FIXED(getppid, 1)
FIXED(getpgrp, 1000)
FIXED(getuid, 1000)
FIXED(getgid, 1000)
FIXED(geteuid, 1000)
FIXED(getegid, 1000)
FIXED(setfsuid, 1000)
FIXED(setfsgid, 1000)
FIXED(setsid, -EPERM)
FIXED(setgroups, -EPERM)
FIXED(settimeofday, -EPERM)
FIXED(sched_yield, 0)
FIXED(wait4, -ECHILD)
FIXED(waitid, -EINVAL)
FIXED(rseq, -ENOSYS)
FIXED(get_mempolicy, -ENOSYS)
FIXED(set_mempolicy, -ENOSYS)
FIXED(mbind, -ENOSYS)
FIXED(open_by_handle_at, -EPERM)
FIXED(mount, -EPERM)
FIXED(umount2, -EPERM)
FIXED(pivot_root, -EPERM)
FIXED(sethostname, -EPERM)
FIXED(setdomainname, -EPERM)
FIXED(acct, -EPERM)
FIXED(swapoff, -EPERM)
FIXED(vhangup, -EPERM)
FIXED(syslog, -EPERM)
FIXED(swapon, -EPERM)
FIXED(reboot, -EPERM)

void row_capget(void **state)
{
    (void)state;
    uint32_t *header = guest_take(8), *data = guest_take(24);
    memset(data, 0xff, 24);
    header[0] = 0x20080522;
    assert_call(0, capget, header, data);
    for (int i = 0; i < 6; i++)
        assert_int_equal(data[i], 0);
    header[1] = 77777;
    assert_call(-ESRCH, capget, header, data);
    header[0] = 1;
    assert_call(-EINVAL, capget, header, data);
    assert_int_equal(header[0], 0x20080522); /* the one it knows */
    header[0] = 1;
    assert_call(0, capget, header, NULL);
}

void row_capset(void **state)
{
    (void)state;
    uint32_t *header = guest_take(8), *data = guest_take(24);
    header[0] = 0x20080522;
    assert_call(0, capset, header, data);
    data[0] = 1;
    assert_call(-EPERM, capset, header, data);
    header[0] = 1;
    assert_call(-EINVAL, capset, header, data);
}

void row_getpgid(void **state)
{
    (void)state;
    assert_call(1000, getpgid, 0);
    assert_call(1000, getpgid, 1000);
    assert_call(1, getpgid, 1); /* init, which leads a group and a session as where a system was started */
    assert_call(-ESRCH, getpgid, 2);
}

void row_getsid(void **state)
{
    (void)state;
    assert_call(1000, getsid, 0);
    assert_call(1, getsid, 1);
    assert_call(-ESRCH, getsid, 2);
}

void row_setpgid(void **state)
{
    (void)state;
    assert_call(-EPERM, setpgid, 0, 0); /* the leader of a session */
    assert_call(-ESRCH, setpgid, 2, 0);
    assert_call(-EINVAL, setpgid, 0, -1);
}

static void assert_triple(int64_t (*call)(uint32_t *ids))
{
    uint32_t *ids = guest_take(12);
    assert_int_equal(call(ids), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(ids[i], 1000);
}

static int64_t user_triple(uint32_t *ids) { return CALL(getresuid, ids, ids + 1, ids + 2); }
static int64_t group_triple(uint32_t *ids) { return CALL(getresgid, ids, ids + 1, ids + 2); }

void row_getresuid(void **state)
{
    (void)state;
    assert_triple(user_triple);
}

void row_getresgid(void **state)
{
    (void)state;
    assert_triple(group_triple);
}

void row_getgroups(void **state)
{
    (void)state;
    assert_call(0, getgroups, 0, NULL);
    assert_call(0, getgroups, 10, guest_take(40));
    assert_call(-EINVAL, getgroups, -1, NULL);
}

#define ONLY_OWN(name, ...) \
    void row_##name(void **state) \
    { \
        (void)state; \
        assert_call(0, name, 1000 __VA_ARGS__); \
        assert_call(-EPERM, name, 0 __VA_ARGS__); \
    }
ONLY_OWN(setuid)
ONLY_OWN(setgid)
ONLY_OWN(setreuid, , -1)
ONLY_OWN(setregid, , 1000)
ONLY_OWN(setresuid, , -1, 1000)
ONLY_OWN(setresgid, , 1000, -1)

void row_uname(void **state)
{
    (void)state;
    struct utsname *name = guest_take(sizeof *name);
    assert_call(0, uname, name);
    assert_string_equal(name->sysname, "Linux");
    assert_string_equal(name->nodename, "c2emu");
    assert_string_equal(name->release, "6.1.0-c2emu");
    assert_string_equal(name->machine, "x86_64");
    assert_call(0, personality, PER_LINUX32 | UNAME26);
    assert_call(0, uname, name);
    assert_string_equal(name->release, "2.6.61-c2emu");
    assert_string_equal(name->machine, "i686");
}

void row_sysinfo(void **state)
{
    (void)state;
    struct sysinfo *info = guest_take(sizeof *info);
    g.instructions = 5000000000;
    assert_call(0, sysinfo, info);
    assert_int_equal(info->uptime, 5);
    assert_int_equal(info->totalram, GUEST_PHYSICAL);
    assert_true(info->freeram < GUEST_PHYSICAL && info->freeram > GUEST_PHYSICAL - (1 << 20));
    assert_int_equal(info->procs, 1);
    assert_int_equal(info->mem_unit, 1);
}

static struct rlimit *limit(uint64_t soft, uint64_t hard)
{
    struct rlimit *at = guest_take(sizeof *at);
    *at = (struct rlimit){soft, hard};
    return at;
}

void row_getrlimit(void **state)
{
    (void)state;
    struct rlimit *at = limit(0, 0);
    assert_call(0, getrlimit, RLIMIT_STACK, at);
    assert_int_equal(at->rlim_cur, 8 << 20);
    assert_int_equal(at->rlim_max, RLIM_INFINITY);
    assert_call(0, getrlimit, RLIMIT_NOFILE, at);
    assert_int_equal(at->rlim_cur, 1024);
    assert_int_equal(at->rlim_max, 4096);
    assert_call(-EINVAL, getrlimit, 16, at);
}

static int64_t map(uint64_t pages, int prot, int flags)
{
    return CALL(mmap, 0, pages * C2_PAGE_BYTES, prot, flags | MAP_ANONYMOUS, -1, 0);
}

/* The guest has 65 pages, 64 of them data. */
static void memory_is_limited(void)
{
    const int64_t brk = CALL(brk, 0);
    assert_call(0, setrlimit, RLIMIT_DATA, limit(70 * C2_PAGE_BYTES, RLIM_INFINITY));
    assert_int_equal(map(7, PROT_READ | PROT_WRITE, MAP_PRIVATE), -ENOMEM);
    const int64_t only = map(7, PROT_READ, MAP_PRIVATE); /* no data, but it cannot become so either */
    assert_true(only > 0);
    assert_call(-ENOMEM, mprotect, only, 7 * C2_PAGE_BYTES, PROT_READ | PROT_WRITE);
    assert_call(0, mprotect, only, 6 * C2_PAGE_BYTES, PROT_READ | PROT_WRITE);
    assert_call(brk, brk, brk + 1);
    assert_call(0, setrlimit, RLIMIT_DATA, limit(RLIM_INFINITY, RLIM_INFINITY));
    assert_call(0, setrlimit, RLIMIT_AS, limit(74 * C2_PAGE_BYTES, RLIM_INFINITY)); /* of which there are 72 */
    assert_int_equal(map(3, PROT_NONE, MAP_SHARED), -ENOMEM);
    assert_call(-ENOMEM, mremap, only, C2_PAGE_BYTES, 4 * C2_PAGE_BYTES, MREMAP_MAYMOVE);
    assert_call(only, mmap, only, 7 * C2_PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    assert_call(brk + (int64_t)C2_PAGE_BYTES, brk, brk + (int64_t)C2_PAGE_BYTES);
    assert_call(0, munmap, only, 7 * C2_PAGE_BYTES);
    assert_call(brk, brk, brk);
    assert_call(0, setrlimit, RLIMIT_AS, limit(RLIM_INFINITY, RLIM_INFINITY));
}

void row_setrlimit(void **state)
{
    (void)state;
    memory_is_limited();
    struct rlimit *at = limit(0, 0);
    assert_call(0, setrlimit, RLIMIT_CORE, limit(5, 10));
    assert_call(0, getrlimit, RLIMIT_CORE, at);
    assert_int_equal(at->rlim_cur, 5);
    assert_int_equal(at->rlim_max, 10);
    assert_call(-EPERM, setrlimit, RLIMIT_CORE, limit(5, 11));
    assert_call(-EINVAL, setrlimit, RLIMIT_CORE, limit(6, 5));
    assert_call(0, setrlimit, RLIMIT_NOFILE, limit(4, 4096));
    assert_call(3, dup, 0);
    assert_call(-EMFILE, dup, 0);
    const uint64_t second = 1000000000;
    assert_call(0, setrlimit, RLIMIT_CPU, limit(0, 3)); /* as 1 */
    assert_int_equal(syscalls_alarm(g.kernel, 0), second);
    syscalls_expire(g.kernel, second);
    assert_int_equal(syscalls_pending(g.kernel), SIGXCPU);
    assert_int_equal(syscalls_alarm(g.kernel, second), 2 * second);
    syscalls_expire(g.kernel, 3 * second);
    assert_int_equal(syscalls_pending(g.kernel), SIGKILL);
    assert_call(0, setrlimit, RLIMIT_CPU, limit(2, 2)); /* no warning */
    g.instructions = second;
    assert_int_equal(syscalls_alarm(g.kernel, second), 2 * second);
}

void row_prlimit64(void **state)
{
    (void)state;
    struct rlimit *old = limit(0, 0);
    assert_call(0, prlimit64, 0, RLIMIT_STACK, limit(1 << 20, RLIM_INFINITY), old);
    assert_int_equal(old->rlim_cur, 8 << 20);
    assert_call(0, prlimit64, 1000, RLIMIT_STACK, NULL, old);
    assert_int_equal(old->rlim_cur, 1 << 20);
    assert_call(-ESRCH, prlimit64, 1, RLIMIT_STACK, NULL, old);
    assert_call(-EINVAL, prlimit64, 0, 99, NULL, old);
}

void row_getrusage(void **state)
{
    (void)state;
    struct rusage *use = guest_take(sizeof *use);
    g.instructions = 2500000000;
    assert_call(0, getrusage, RUSAGE_SELF, use);
    assert_int_equal(use->ru_utime.tv_sec, 2);
    assert_int_equal(use->ru_utime.tv_usec, 500000);
    assert_int_equal(use->ru_minflt, mmu_usage(g.mmu).faults - 1); /* the page of *use itself came after */
    assert_call(0, getrusage, RUSAGE_CHILDREN, use);
    assert_int_equal(use->ru_utime.tv_sec, 0);
    assert_call(-EINVAL, getrusage, 5, use);
}

void row_getpriority(void **state)
{
    (void)state;
    assert_call(20, getpriority, PRIO_PROCESS, 0);
    assert_call(20, getpriority, PRIO_USER, 1000);
    assert_call(-ESRCH, getpriority, PRIO_PROCESS, 7);
    assert_call(-EINVAL, getpriority, 3, 0);
}

void row_setpriority(void **state)
{
    (void)state;
    assert_call(0, setpriority, PRIO_PROCESS, 0, 5);
    assert_call(15, getpriority, PRIO_PROCESS, 0);
    assert_call(-EACCES, setpriority, PRIO_PROCESS, 0, 4);
    assert_call(-EPERM, setpriority, PRIO_PROCESS, 1, 9);
    assert_call(0, setpriority, PRIO_USER, 1000, 99);
    assert_call(1, getpriority, PRIO_PGRP, 1000);
    assert_call(-ESRCH, setpriority, PRIO_USER, 7, 9);
}

void row_personality(void **state)
{
    (void)state;
    assert_call(0, personality, 0xffffffff);
    assert_call(0, personality, 0);
    assert_call(0, personality, 0x40000);
    assert_call(0x40000, personality, 0xffffffff);
    assert_call(-EINVAL, personality, 0x200000);  /* ADDR_COMPAT_LAYOUT */
    assert_call(0x40000, personality, 0x410000f); /* STICKY_TIMEOUTS, MMAP_PAGE_ZERO, a system of old */
    struct timeval *timeout = guest_take(sizeof *timeout);
    timeout->tv_usec = 1000;
    assert_call(0, select, 0, NULL, NULL, NULL, timeout);
    assert_int_equal(timeout->tv_usec, 1000);
    assert_call(0x410000f, personality, 0x400000); /* READ_IMPLIES_EXEC */
    assert_call(0, select, 0, NULL, NULL, NULL, timeout);
    assert_int_equal(timeout->tv_usec, 0);
    const int64_t at = CALL(mmap, 0, C2_PAGE_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(mmu_allows(g.mmu, (struct guest_va){(uint64_t)at}, C2_PAGE_BYTES, MMU_EXEC));
    assert_call(0x400000, personality, 0);
    assert_call(0, personality, 0xffffffff);
    assert_call(0, mprotect, (uint64_t)at, C2_PAGE_BYTES, PROT_READ);
    assert_false(mmu_allows(g.mmu, (struct guest_va){(uint64_t)at}, C2_PAGE_BYTES, MMU_EXEC));
}

void row_prctl(void **state)
{
    (void)state;
    char *name = guest_take(16);
    assert_call(0, prctl, PR_GET_NAME, name);
    assert_string_equal(name, "true");
    assert_call(0, prctl, PR_SET_NAME, guest_text("a name that is too long"));
    assert_call(0, prctl, PR_GET_NAME, name);
    assert_string_equal(name, "a name that is "); /* 15 characters */
    assert_call(1, prctl, PR_GET_DUMPABLE);
    assert_call(0, prctl, PR_SET_DUMPABLE, 0);
    assert_call(0, prctl, PR_GET_DUMPABLE);
    assert_call(-EINVAL, prctl, PR_SET_DUMPABLE, 2);
    assert_call(0, prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    assert_call(1, prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
    assert_call(50000, prctl, PR_GET_TIMERSLACK);
    assert_call(-EINVAL, prctl, PR_SET_SECCOMP, 1);
    assert_call(-EFAULT, prctl, PR_SET_NAME, GUEST_BAD);
}

void row_arch_prctl(void **state)
{
    (void)state;
    uint64_t *base = guest_take(8);
    assert_call(0, arch_prctl, ARCH_SET_FS, 0x12345678);
    assert_int_equal(g.cpu.fs_base, 0x12345678);
    assert_call(0, arch_prctl, ARCH_GET_FS, base);
    assert_int_equal(*base, 0x12345678);
    assert_call(0, arch_prctl, ARCH_SET_GS, 0x1000);
    assert_int_equal(g.cpu.gs_base, 0x1000);
    assert_call(0, arch_prctl, ARCH_GET_GS, base);
    assert_int_equal(*base, 0x1000);
    assert_call(-EPERM, arch_prctl, ARCH_SET_FS, 0x800000000000);
    assert_call(-EINVAL, arch_prctl, 0x3001, base);
}

void row_set_tid_address(void **state)
{
    (void)state;
    assert_call(1000, set_tid_address, GUEST_ARENA);
}

void row_getcpu(void **state)
{
    (void)state;
    uint32_t *cpu = guest_take(8);
    cpu[0] = cpu[1] = 7;
    assert_call(0, getcpu, cpu, cpu + 1, NULL);
    assert_int_equal(cpu[0], 0);
    assert_int_equal(cpu[1], 0);
}

void row_getrandom(void **state)
{
    (void)state;
    uint8_t *bytes = guest_take(64), wanted[32];
    struct c2_rng rng;
    c2_rng_init(&rng, 1, "getrandom");
    c2_rng_fill(&rng, wanted, 32);
    assert_call(32, getrandom, bytes, 32, 0);
    assert_memory_equal(bytes, wanted, 32);
    /* the device goes on in the same stream */
    c2_rng_fill(&rng, wanted, 16);
    assert_call(3, open, guest_text("/dev/urandom"), O_RDONLY);
    assert_call(16, read, 3, bytes, 16);
    assert_memory_equal(bytes, wanted, 16);
    assert_call(-EINVAL, getrandom, bytes, 32, 8);
    assert_call(-EINVAL, getrandom, bytes, 32, 6);
    assert_call(0, getrandom, NULL, 0, 1);
}

/* ------------------------------------------------------------------ scheduling */

void row_sched_getaffinity(void **state)
{
    (void)state;
    uint64_t *mask = guest_take(16);
    mask[1] = 77;
    assert_call(8, sched_getaffinity, 0, 16, mask);
    assert_int_equal(mask[0], 1);
    assert_int_equal(mask[1], 77);
    assert_call(-EINVAL, sched_getaffinity, 0, 4, mask);
    assert_call(-ESRCH, sched_getaffinity, 5, 8, mask);
    assert_call(-EFAULT, sched_getaffinity, 0, 8, GUEST_BAD);
}

void row_sched_setaffinity(void **state)
{
    (void)state;
    uint64_t *mask = guest_take(8);
    *mask = 3;
    assert_call(0, sched_setaffinity, 0, 8, mask);
    *mask = 2;
    assert_call(-EINVAL, sched_setaffinity, 0, 8, mask);
    assert_call(-EPERM, sched_setaffinity, 1, 8, mask);
}

void row_sched_getscheduler(void **state)
{
    (void)state;
    assert_call(SCHED_OTHER, sched_getscheduler, 0);
    assert_call(SCHED_OTHER, sched_getscheduler, 1);
    assert_call(-ESRCH, sched_getscheduler, 5);
    assert_call(-EINVAL, sched_getscheduler, -1);
}

void row_sched_setscheduler(void **state)
{
    (void)state;
    struct sched_param *param = guest_take(sizeof *param);
    assert_call(0, sched_setscheduler, 0, SCHED_OTHER, param);
    assert_call(-EINVAL, sched_setscheduler, 0, SCHED_FIFO, param);
    assert_call(-EINVAL, sched_setscheduler, 0, 77, param);
    param->sched_priority = 1;
    assert_call(-EPERM, sched_setscheduler, 0, SCHED_FIFO, param);
    assert_call(-EINVAL, sched_setscheduler, 0, SCHED_OTHER, param);
    param->sched_priority = 0;
    assert_call(0, sched_setscheduler, 0, SCHED_BATCH | SCHED_RESET_ON_FORK, param);
    assert_call(SCHED_BATCH | SCHED_RESET_ON_FORK, sched_getscheduler, 0);
    assert_call(-EPERM, sched_setscheduler, 0, SCHED_BATCH, param);
    assert_call(0, sched_setscheduler, 0, SCHED_IDLE | SCHED_RESET_ON_FORK, param);
    assert_call(-EPERM, sched_setscheduler, 0, SCHED_OTHER | SCHED_RESET_ON_FORK, param);
}

struct attributes {
    uint32_t bytes, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t more[9];
};

void row_sched_getattr(void **state)
{
    (void)state;
    struct attributes *out = guest_take(sizeof *out);
    assert_call(0, setpriority, PRIO_PROCESS, 0, 3);
    assert_call(0, sched_getattr, 0, out, 56, 0);
    assert_int_equal(out->bytes, 56);
    assert_int_equal(out->policy, SCHED_OTHER);
    assert_int_equal(out->nice, 3);
    assert_call(0, sched_getattr, 0, out, 48, 0);
    assert_int_equal(out->bytes, 48);
    assert_call(-EINVAL, sched_getattr, 0, out, 47, 0);
    assert_call(-EINVAL, sched_getattr, 0, out, 56, 1);
    assert_call(-ESRCH, sched_getattr, 5, out, 56, 0);
}

void row_sched_setattr(void **state)
{
    (void)state;
    struct attributes *wanted = guest_take(100);
    *wanted = (struct attributes){.bytes = 56, .policy = SCHED_BATCH, .nice = 30};
    assert_call(0, sched_setattr, 0, wanted, 0);
    assert_call(1, getpriority, PRIO_PROCESS, 0);
    assert_call(SCHED_BATCH, sched_getscheduler, 0);
    wanted->nice = 4;
    assert_call(-EPERM, sched_setattr, 0, wanted, 0);
    wanted->bytes = 57;
    ((char *)wanted)[56] = 1;
    assert_call(-E2BIG, sched_setattr, 0, wanted, 0);
    assert_int_equal(wanted->bytes, 56);
    wanted->policy = 77;
    assert_call(-EINVAL, sched_setattr, 0, wanted, 0);
}

void row_sched_getparam(void **state)
{
    (void)state;
    struct sched_param *param = guest_take(sizeof *param);
    param->sched_priority = 5;
    assert_call(0, sched_getparam, 0, param);
    assert_int_equal(param->sched_priority, 0);
    assert_call(-EINVAL, sched_getparam, 0, NULL);
    assert_call(-EFAULT, sched_getparam, 0, GUEST_BAD);
}

void row_sched_setparam(void **state)
{
    (void)state;
    struct sched_param *param = guest_take(sizeof *param);
    assert_call(0, sched_setparam, 0, param);
    param->sched_priority = 5;
    assert_call(-EINVAL, sched_setparam, 0, param);
}

void row_sched_get_priority_max(void **state)
{
    (void)state;
    assert_call(99, sched_get_priority_max, SCHED_FIFO);
    assert_call(0, sched_get_priority_max, SCHED_OTHER);
    assert_call(-EINVAL, sched_get_priority_max, 77);
}

void row_sched_get_priority_min(void **state)
{
    (void)state;
    assert_call(1, sched_get_priority_min, SCHED_RR);
    assert_call(0, sched_get_priority_min, SCHED_BATCH);
    assert_call(-EINVAL, sched_get_priority_min, -1);
}

void row_sched_rr_get_interval(void **state)
{
    (void)state;
    struct timespec *time = guest_take(sizeof *time);
    assert_call(0, sched_rr_get_interval, 0, time);
    assert_int_equal(time->tv_nsec, 4000000);
}

void row_ioprio_get(void **state)
{
    (void)state;
    assert_call(0, ioprio_get, 1, 0);
    assert_call(-ESRCH, ioprio_get, 1, 7);
    assert_call(-EINVAL, ioprio_get, 4, 0);
}

void row_ioprio_set(void **state)
{
    (void)state;
    assert_call(0, setpriority, PRIO_PROCESS, 0, 10);
    assert_call(2 << 13 | 6, ioprio_get, 3, 0); /* of the nice value, where a user's best is asked for */
    assert_call(0, ioprio_set, 1, 0, 2 << 13 | 4);
    assert_call(2 << 13 | 4, ioprio_get, 1, 0);
    assert_call(2 << 13 | 4, ioprio_get, 2, 1000);
    assert_call(-EINVAL, ioprio_set, 1, 0, 2 << 13 | 8);
    assert_call(-ESRCH, ioprio_set, 2, 77, 2 << 13 | 4);
    assert_call(-EPERM, ioprio_set, 1, 0, 1 << 13);
    assert_call(-EINVAL, ioprio_set, 1, 0, 4 << 13);
}

void row_futex_waitv(void **state)
{
    (void)state;
    uint32_t *word = guest_take(8);
    struct timespec *time = guest_take(sizeof *time);
    struct {
        uint64_t value, address;
        uint32_t flags, reserved;
    } *list = guest_take(2 * sizeof *list);
    for (int i = 0; i < 2; i++) {
        list[i].address = (uintptr_t)(word + i);
        list[i].flags = 2 | FUTEX_PRIVATE_FLAG;
    }
    time->tv_sec = 2;
    assert_call(-ETIMEDOUT, futex_waitv, list, 2, 0, time, CLOCK_MONOTONIC);
    assert_int_equal(syscalls_time_ns(g.kernel, 0), 2000000000);
    time->tv_sec = BOOT + 3;
    assert_call(-ETIMEDOUT, futex_waitv, list, 2, 0, time, CLOCK_REALTIME);
    assert_int_equal(syscalls_time_ns(g.kernel, 0), 3000000000);
    list[1].value = 1;
    assert_call(-EAGAIN, futex_waitv, list, 2, 0, NULL, 0);
    list[1].address = GUEST_BAD;
    assert_call(-EFAULT, futex_waitv, list, 2, 0, NULL, 0);
    list[1].reserved = 1;
    assert_call(-EINVAL, futex_waitv, list, 2, 0, NULL, 0);
    assert_call(-EINVAL, futex_waitv, list, 1, 1, NULL, 0);
    assert_call(-EFAULT, futex_waitv, GUEST_BAD, 1, 0, NULL, 0);
    assert_call(-EINTR, futex_waitv, list, 1, 0, NULL, 0);
    assert_true(g.result.deadlock);
}

void row_futex(void **state)
{
    (void)state;
    uint32_t *word = guest_take(4);
    struct timespec *time = guest_take(sizeof *time);
    *word = 5;
    assert_call(0, futex, word, FUTEX_WAKE_PRIVATE, 1);
    assert_call(-EAGAIN, futex, word, FUTEX_WAIT_PRIVATE, 6, NULL);
    time->tv_sec = 2;
    assert_call(-ETIMEDOUT, futex, word, FUTEX_WAIT_PRIVATE, 5, time);
    assert_int_equal(syscalls_time_ns(g.kernel, 0), 2000000000);
    time->tv_sec = 5; /* FUTEX_WAIT_BITSET: a moment, 3 s from now */
    assert_call(-ETIMEDOUT, futex, word, FUTEX_WAIT_BITSET_PRIVATE, 5, time, NULL, -1);
    assert_int_equal(syscalls_time_ns(g.kernel, 0), 5000000000);
    time->tv_sec = BOOT + 6;
    assert_call(-ETIMEDOUT, futex, word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 5, time, NULL, -1);
    assert_int_equal(syscalls_time_ns(g.kernel, 0), 6000000000);
    assert_call(-ETIMEDOUT, futex, word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 5, time, NULL, -1); /* past */
    assert_int_equal(syscalls_time_ns(g.kernel, 0), 6000000000);
    assert_call(-EINVAL, futex, (char *)word + 1, FUTEX_WAKE, 1);
    assert_call(-EFAULT, futex, GUEST_BAD, FUTEX_WAIT, 1, NULL);
    assert_call(-EAGAIN, futex, word, FUTEX_CMP_REQUEUE, 1, 1, word, 6);
    assert_call(0, futex, word, FUTEX_CMP_REQUEUE, 1, 1, word, 5);
    assert_call(-ENOSYS, futex, word, 2 /* FUTEX_FD */, 0, NULL);
    assert_call(-ETIMEDOUT, futex, word, FUTEX_WAIT_REQUEUE_PI, 5, time, word + 1);
    assert_call(-EINVAL, futex, word, FUTEX_CMP_REQUEUE_PI, 2, 0, word + 1, 5);
    assert_call(0, futex, word, FUTEX_CMP_REQUEUE_PI, 1, 0, word + 1, 5);
    assert_call(-ESRCH, futex, word, FUTEX_LOCK_PI, 0, NULL); /* there is no thread 5 */
    *word = 0;
    assert_call(0, futex, word, FUTEX_LOCK_PI, 0, NULL);
    assert_int_equal(*word, 1000);
    assert_call(-EDEADLK, futex, word, FUTEX_LOCK_PI, 0, NULL);
    assert_call(0, futex, word, FUTEX_UNLOCK_PI);
    assert_int_equal(*word, 0);
    assert_call(-EPERM, futex, word, FUTEX_UNLOCK_PI);
    *word = 5;
    /* word = word + 3, and whether it was above 4 */
    assert_call(0, futex, word, FUTEX_WAKE_OP, 1, 1, word, FUTEX_OP(FUTEX_OP_ADD, 3, FUTEX_OP_CMP_GT, 4));
    assert_int_equal(*word, 8);
    *word = 5;
    assert_call(-EINTR, futex, word, FUTEX_WAIT_PRIVATE, 5, NULL);
    assert_int_equal(g.result.action, SYSCALLS_FAILED);
    assert_string_equal(g.err.text, "deadlock: the program waits for ever in futex: no other thread can wake it");
}

void row_set_robust_list(void **state)
{
    (void)state;
    assert_call(0, set_robust_list, GUEST_ARENA, 24);
    assert_call(-EINVAL, set_robust_list, GUEST_ARENA, 23);
}

void row_get_robust_list(void **state)
{
    (void)state;
    uint64_t *out = guest_take(16);
    assert_call(0, set_robust_list, GUEST_ARENA, 24);
    assert_call(0, get_robust_list, 0, out, out + 1);
    assert_int_equal(out[0], (uintptr_t)GUEST_ARENA);
    assert_int_equal(out[1], 24);
    assert_call(-ESRCH, get_robust_list, 999, out, out + 1);
}

void row_membarrier(void **state)
{
    (void)state;
    assert_call(127, membarrier, 0, 0, 0);
    for (int asks = 8; asks <= 32; asks *= 4) { /* only who has said so before */
        assert_call(-EPERM, membarrier, asks, 0, 0);
        assert_call(0, membarrier, asks * 2, 0, 0);
        assert_call(0, membarrier, asks, 0, 0);
    }
    assert_call(0, membarrier, 2, 0, 0);
    assert_call(-EINVAL, membarrier, 24, 0, 0);
    assert_call(-EINVAL, membarrier, 128, 0, 0);
    assert_call(-EINVAL, membarrier, 0, 1, 0);
}

/* ------------------------------------------------------------------ time */

static void assert_clock(int clock, int64_t seconds, int64_t ns)
{
    struct timespec *time = guest_take(sizeof *time);
    assert_call(0, clock_gettime, clock, time);
    assert_int_equal(time->tv_sec, seconds);
    assert_int_equal(time->tv_nsec, ns);
}

static struct timespec *duration(int64_t seconds, int64_t ns)
{
    struct timespec *time = guest_take(sizeof *time);
    *time = (struct timespec){seconds, ns};
    return time;
}

void row_clock_gettime(void **state)
{
    (void)state;
    g.instructions = 1500000000;
    assert_clock(CLOCK_REALTIME, BOOT + 1, 500000000);
    assert_clock(CLOCK_MONOTONIC, 1, 500000000);
    assert_clock(CLOCK_BOOTTIME, 1, 500000000);
    assert_clock(CLOCK_PROCESS_CPUTIME_ID, 1, 500000000);
    assert_clock(-6, 1, 500000000); /* what clock_getcpuclockid gives for the process itself */
    assert_call(0, nanosleep, duration(10, 0), NULL);
    assert_clock(CLOCK_MONOTONIC, 11, 500000000);
    assert_clock(CLOCK_THREAD_CPUTIME_ID, 1, 500000000); /* a sleep is no work */
    assert_call(-EINVAL, clock_gettime, 99, guest_take(16));
}

void row_clock_getres(void **state)
{
    (void)state;
    struct timespec *time = guest_take(sizeof *time);
    assert_call(0, clock_getres, CLOCK_MONOTONIC, time);
    assert_int_equal(time->tv_nsec, 1);
    assert_call(0, clock_getres, CLOCK_MONOTONIC_COARSE, time);
    assert_int_equal(time->tv_nsec, 4000000);
    assert_call(0, clock_getres, CLOCK_MONOTONIC, NULL);
    assert_call(-EINVAL, clock_getres, 99, time);
}

void row_clock_settime(void **state)
{
    (void)state;
    assert_call(-EPERM, clock_settime, CLOCK_REALTIME, duration(1, 1));
    assert_call(-EINVAL, clock_settime, CLOCK_MONOTONIC, duration(1, 1));
}

void row_adjtimex(void **state)
{
    (void)state;
    struct timex *clock = guest_take(sizeof *clock);
    g.instructions = 1234567890;
    assert_call(TIME_ERROR, adjtimex, clock);
    assert_int_equal(clock->time.tv_sec, BOOT + 1);
    assert_int_equal(clock->time.tv_usec, 234567);
    assert_int_equal(clock->status, STA_UNSYNC);
    assert_int_equal(clock->maxerror, 16000000);
    assert_int_equal(clock->esterror, 16000000);
    assert_int_equal(clock->tolerance, 32768000);
    assert_int_equal(clock->constant, 2);
    assert_int_equal(clock->precision, 1);
    assert_int_equal(clock->tick, 10000);
    clock->modes = ADJ_OFFSET_SS_READ;
    assert_call(TIME_ERROR, adjtimex, clock);
    assert_int_equal(clock->modes, ADJ_OFFSET_SS_READ);
    clock->modes = ADJ_OFFSET_SINGLESHOT;
    assert_call(-EPERM, adjtimex, clock);
    clock->modes = ADJ_TICK;
    assert_call(-EPERM, adjtimex, clock);
    clock->modes = 0x8000;
    assert_call(-EINVAL, adjtimex, clock);
    assert_call(-EFAULT, adjtimex, NULL);
}

void row_clock_adjtime(void **state)
{
    (void)state;
    struct timex *clock = guest_take(sizeof *clock);
    assert_call(TIME_ERROR, clock_adjtime, CLOCK_REALTIME, clock);
    assert_int_equal(clock->time.tv_sec, BOOT);
    assert_call(-EOPNOTSUPP, clock_adjtime, CLOCK_TAI, clock);
    assert_call(-EOPNOTSUPP, clock_adjtime, -1, clock);
    assert_call(-EINVAL, clock_adjtime, -5, clock);
    assert_call(-EINVAL, clock_adjtime, 10, clock);
    assert_call(-EINVAL, clock_adjtime, 99, clock);
    assert_call(-EFAULT, clock_adjtime, 99, NULL);
}

void row_gettimeofday(void **state)
{
    (void)state;
    struct timeval *time = guest_take(sizeof *time);
    int *zone = guest_take(8);
    zone[0] = zone[1] = 9;
    g.instructions = 1234567890;
    assert_call(0, gettimeofday, time, zone);
    assert_int_equal(time->tv_sec, BOOT + 1);
    assert_int_equal(time->tv_usec, 234567);
    assert_int_equal(zone[0], 0);
}

void row_time(void **state)
{
    (void)state;
    int64_t *at = guest_take(8);
    g.instructions = 3999999999;
    assert_call(BOOT + 3, time, at);
    assert_int_equal(*at, BOOT + 3);
    assert_call(BOOT + 3, time, NULL);
}

void row_times(void **state)
{
    (void)state;
    struct tms *use = guest_take(sizeof *use);
    g.instructions = 2340000000;
    assert_call(0, nanosleep, duration(1, 0), NULL);
    assert_call(334, times, use);
    assert_int_equal(use->tms_utime, 234);
    assert_int_equal(use->tms_stime, 0);
}

void row_nanosleep(void **state)
{
    (void)state;
    assert_call(0, nanosleep, duration(3, 5), NULL);
    assert_int_equal(syscalls_time_ns(g.kernel, 1), 3000000006);
    assert_call(-EINVAL, nanosleep, duration(0, 1000000000), NULL);
    assert_call(-EINVAL, nanosleep, duration(-1, 0), NULL);
    assert_call(0, nanosleep, duration(INT64_MAX, 0), NULL);
    uint64_t late = syscalls_time_ns(g.kernel, 0);
    assert_call(0, nanosleep, duration(INT64_MAX, 0), NULL);
    assert_int_equal(syscalls_time_ns(g.kernel, 0), late); /* stops before it would overflow */
}

void row_clock_nanosleep(void **state)
{
    (void)state;
    assert_call(0, clock_nanosleep, CLOCK_MONOTONIC, 0, duration(1, 0), NULL);
    assert_call(0, clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, duration(3, 0), NULL);
    assert_int_equal(syscalls_time_ns(g.kernel, 0), 3000000000);
    assert_call(0, clock_nanosleep, CLOCK_REALTIME, TIMER_ABSTIME, duration(BOOT + 4, 0), NULL);
    assert_int_equal(syscalls_time_ns(g.kernel, 0), 4000000000);
    assert_call(0, clock_nanosleep, CLOCK_REALTIME, TIMER_ABSTIME, duration(BOOT, 0), NULL); /* past */
    assert_int_equal(syscalls_time_ns(g.kernel, 0), 4000000000);
    assert_call(-EOPNOTSUPP, clock_nanosleep, CLOCK_THREAD_CPUTIME_ID, 0, duration(1, 0), NULL);
    assert_call(-EINTR, clock_nanosleep, CLOCK_PROCESS_CPUTIME_ID, 0, duration(1, 0), NULL);
    assert_int_equal(g.result.action, SYSCALLS_FAILED);
}

static uint64_t *set_of(int signal)
{
    uint64_t *set = guest_take(8);
    *set = signal ? (uint64_t)1 << (signal - 1) : 0;
    return set;
}

/* The clock goes on to this moment, ns, and timers that are due send their signals. */
static void pass_to(uint64_t ns)
{
    assert_int_equal(syscalls_alarm(g.kernel, g.instructions), ns);
    g.instructions = ns;
    syscalls_expire(g.kernel, g.instructions);
}

void row_alarm(void **state)
{
    (void)state;
    assert_call(0, alarm, 0);
    assert_call(0, alarm, 9);
    assert_call(9, alarm, 2);
    assert_int_equal(syscalls_pending(g.kernel), 0);
    pass_to(2000000000);
    assert_int_equal(syscalls_pending(g.kernel), SIGALRM);
    assert_call(0, alarm, 0);
    assert_true(syscalls_alarm(g.kernel, 0) == UINT64_MAX);
}

void row_getitimer(void **state)
{
    (void)state;
    struct itimerval *timer = guest_take(sizeof *timer);
    timer->it_value.tv_sec = 5;
    assert_call(0, getitimer, ITIMER_REAL, timer);
    assert_int_equal(timer->it_value.tv_sec, 0);
    assert_call(-EINVAL, getitimer, 3, timer);
    assert_call(0, alarm, 3);
    assert_call(0, getitimer, ITIMER_REAL, timer);
    assert_int_equal(timer->it_value.tv_sec, 3);
}

void row_setitimer(void **state)
{
    (void)state;
    struct itimerval *timer = guest_take(sizeof *timer), *old = guest_take(sizeof *old);
    timer->it_value.tv_usec = 10;
    timer->it_interval.tv_usec = 4;
    assert_call(0, setitimer, ITIMER_VIRTUAL, timer, old);
    assert_int_equal(old->it_value.tv_usec, 0);
    pass_to(10000);
    pass_to(14000);
    assert_int_equal(syscalls_pending(g.kernel), SIGVTALRM);
    timer->it_value.tv_usec = 0;
    assert_call(0, setitimer, ITIMER_VIRTUAL, timer, old);
    assert_int_equal(old->it_value.tv_usec, 4);
    assert_int_equal(old->it_interval.tv_usec, 4);
    assert_call(-EINVAL, setitimer, 3, timer, old);
    timer->it_value.tv_usec = 1000000;
    assert_call(-EINVAL, setitimer, ITIMER_REAL, timer, old);
}

/* A timer of a clock that sends SIGUSR1 with the value 7: its number. */
static int new_timer(int clock)
{
    struct sigevent *event = guest_take(64);
    int *id = guest_take(4);
    event->sigev_signo = SIGUSR1;
    event->sigev_value.sival_int = 7;
    assert_call(0, timer_create, clock, event, id);
    return *id;
}

void row_timer_create(void **state)
{
    (void)state;
    struct sigevent *event = guest_take(64);
    int *id = guest_take(4);
    assert_int_equal(new_timer(CLOCK_MONOTONIC), 0);
    assert_int_equal(new_timer(CLOCK_PROCESS_CPUTIME_ID), 1);
    assert_call(0, timer_create, CLOCK_REALTIME, NULL, id);
    assert_int_equal(*id, 2);
    assert_call(0, timer_delete, 1);
    assert_int_equal(new_timer(CLOCK_THREAD_CPUTIME_ID), 1); /* the lowest that is free */
    event->sigev_signo = 65;
    assert_call(-EINVAL, timer_create, CLOCK_REALTIME, event, id);
    assert_call(-EPERM, timer_create, CLOCK_REALTIME_ALARM, NULL, id);
    assert_call(-EINVAL, timer_create, 77, NULL, id);
    assert_call(-EFAULT, timer_create, CLOCK_REALTIME, NULL, GUEST_BAD);
}

void row_timer_settime(void **state)
{
    (void)state;
    struct itimerspec *wanted = guest_take(sizeof *wanted), *old = guest_take(sizeof *old);
    siginfo_t *info = guest_take(128);
    const int id = new_timer(CLOCK_REALTIME);
    assert_call(0, rt_sigprocmask, SIG_BLOCK, set_of(SIGUSR1), NULL, 8);
    wanted->it_value.tv_sec = BOOT + 3;
    wanted->it_interval.tv_sec = 1;
    assert_call(0, timer_settime, id, TIMER_ABSTIME, wanted, old);
    assert_int_equal(old->it_value.tv_nsec, 0);
    pass_to(3000000000);
    assert_true(syscalls_alarm(g.kernel, g.instructions) == UINT64_MAX); /* its signal is pending: no stop is due, */
    g.instructions = 5000000000;                                         /* and these are two overruns */
    assert_call(SIGUSR1, rt_sigtimedwait, set_of(SIGUSR1), info, NULL, 8);
    assert_int_equal(info->si_code, SI_TIMER);
    assert_int_equal(info->si_timerid, id);
    assert_int_equal(info->si_overrun, 2);
    assert_int_equal(info->si_value.sival_int, 7);
    assert_call(2, timer_getoverrun, id);
    pass_to(6000000000);
    assert_call(SIGUSR1, rt_sigtimedwait, set_of(SIGUSR1), info, NULL, 8);
    assert_int_equal(info->si_overrun, 0);
    assert_call(-EINVAL, timer_settime, 5, 0, wanted, NULL);
    assert_call(-EINVAL, timer_settime, id, 0, NULL, NULL);
}

void row_timer_gettime(void **state)
{
    (void)state;
    struct itimerspec *time = guest_take(sizeof *time);
    const int id = new_timer(CLOCK_MONOTONIC);
    assert_call(0, timer_gettime, id, time);
    assert_int_equal(time->it_value.tv_sec, 0);
    time->it_value.tv_sec = 2;
    assert_call(0, timer_settime, id, 0, time, NULL);
    g.instructions = 1500000000;
    assert_call(0, timer_gettime, id, time);
    assert_int_equal(time->it_value.tv_sec, 0);
    assert_int_equal(time->it_value.tv_nsec, 500000000);
    assert_call(-EINVAL, timer_gettime, 5, time);
}

void row_timer_getoverrun(void **state)
{
    (void)state;
    assert_call(0, timer_getoverrun, new_timer(CLOCK_MONOTONIC));
    assert_call(-EINVAL, timer_getoverrun, 5);
}

void row_timer_delete(void **state)
{
    (void)state;
    struct itimerspec *time = guest_take(sizeof *time);
    const int id = new_timer(CLOCK_MONOTONIC);
    time->it_value.tv_sec = 2;
    assert_call(0, timer_settime, id, 0, time, NULL);
    assert_call(0, timer_delete, id);
    assert_call(-EINVAL, timer_delete, id);
    assert_true(syscalls_alarm(g.kernel, 0) == UINT64_MAX);
}

/* ------------------------------------------------------------------ signals; frames are in syscalls_signals.c */

void row_rt_sigaction(void **state)
{
    (void)state;
    uint64_t *action = guest_take(32), *old = guest_take(32); /* handler, flags, restorer, mask */
    action[0] = 0x1234;
    action[1] = SA_SIGINFO;
    action[3] = UINT64_MAX;
    assert_call(0, rt_sigaction, SIGUSR1, action, NULL, 8);
    assert_call(0, rt_sigaction, SIGUSR1, NULL, old, 8);
    assert_int_equal(old[0], 0x1234);
    assert_int_equal(old[1], SA_SIGINFO);
    assert_int_equal(old[3], ~(1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1)));
    assert_call(-EINVAL, rt_sigaction, SIGKILL, action, NULL, 8);
    assert_call(0, rt_sigaction, SIGKILL, NULL, old, 8);
    assert_call(-EINVAL, rt_sigaction, 0, NULL, old, 8);
    assert_call(-EINVAL, rt_sigaction, 65, NULL, old, 8);
    assert_call(-EINVAL, rt_sigaction, SIGUSR1, action, NULL, 16);
}

void row_rt_sigprocmask(void **state)
{
    (void)state;
    uint64_t *old = guest_take(8), *all = guest_take(8);
    assert_call(0, rt_sigprocmask, SIG_BLOCK, set_of(SIGUSR1), old, 8);
    assert_int_equal(*old, 0);
    assert_call(0, rt_sigprocmask, SIG_BLOCK, set_of(SIGUSR2), old, 8);
    assert_int_equal(*old, *set_of(SIGUSR1));
    assert_call(0, rt_sigprocmask, SIG_UNBLOCK, set_of(SIGUSR1), old, 8);
    assert_int_equal(*old, *set_of(SIGUSR1) | *set_of(SIGUSR2));
    *all = UINT64_MAX;
    assert_call(0, rt_sigprocmask, SIG_SETMASK, all, old, 8);
    assert_call(0, rt_sigprocmask, 99, NULL, old, 8); /* `how` does not matter without a set */
    assert_int_equal(*old, ~(1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1)));
    assert_call(-EINVAL, rt_sigprocmask, 99, all, old, 8);
    assert_call(-EINVAL, rt_sigprocmask, SIG_BLOCK, all, old, 4);
}

void row_rt_sigpending(void **state)
{
    (void)state;
    uint64_t *set = guest_take(8);
    assert_call(0, rt_sigprocmask, SIG_BLOCK, set_of(SIGUSR1), NULL, 8);
    assert_call(0, kill, 1000, SIGUSR1);
    assert_int_equal(syscalls_pending(g.kernel), 0);
    assert_call(0, rt_sigpending, set, 8);
    assert_int_equal(*set, *set_of(SIGUSR1));
    assert_call(0, rt_sigprocmask, SIG_UNBLOCK, set_of(SIGUSR1), NULL, 8);
    assert_int_equal(syscalls_pending(g.kernel), SIGUSR1);
}

void row_rt_sigsuspend(void **state)
{
    (void)state;
    assert_call(0, rt_sigprocmask, SIG_BLOCK, set_of(SIGUSR1), NULL, 8);
    assert_call(0, kill, 1000, SIGUSR1);
    assert_call(-EINTR, rt_sigsuspend, set_of(0), 8);
    assert_int_equal(g.result.action, SYSCALLS_RETURN);
    assert_int_equal(syscalls_pending(g.kernel), SIGUSR1); /* delivered with the mask of the call */
    assert_call(-EINVAL, rt_sigsuspend, set_of(0), 4);
    assert_call(-EINTR, rt_sigsuspend, set_of(SIGUSR1), 8);
    assert_int_equal(g.result.action, SYSCALLS_FAILED);
}

void row_pause(void **state)
{
    (void)state;
    assert_call(-EINTR, pause);
    assert_int_equal(g.result.action, SYSCALLS_FAILED);
    assert_string_equal(g.err.text, "deadlock: the program waits for ever in pause: no signal is pending, and nobody "
                                    "else sends one");
}

void row_rt_sigtimedwait(void **state)
{
    (void)state;
    int32_t *info = guest_take(128);
    assert_call(0, rt_sigprocmask, SIG_BLOCK, set_of(SIGUSR2), NULL, 8);
    assert_call(-EAGAIN, rt_sigtimedwait, set_of(SIGUSR2), info, duration(2, 0), 8);
    assert_int_equal(syscalls_time_ns(g.kernel, 0), 2000000000);
    assert_call(0, kill, 1000, SIGUSR2);
    assert_call(SIGUSR2, rt_sigtimedwait, set_of(SIGUSR2), info, NULL, 8);
    assert_int_equal(info[0], SIGUSR2);
    assert_int_equal(info[2], SI_USER);
    assert_int_equal(info[4], 1000);
    assert_call(-EINTR, rt_sigtimedwait, set_of(SIGUSR2), info, NULL, 8);
    assert_int_equal(g.result.action, SYSCALLS_FAILED);
}

void row_sigaltstack(void **state)
{
    (void)state;
    stack_t *stack = guest_take(sizeof *stack), *old = guest_take(sizeof *old);
    assert_call(0, sigaltstack, NULL, old);
    assert_int_equal(old->ss_flags, SS_DISABLE);
    *stack = (stack_t){.ss_sp = (void *)(uintptr_t)GUEST_ARENA, .ss_size = 8192};
    assert_call(0, sigaltstack, stack, NULL);
    assert_call(0, sigaltstack, NULL, old);
    assert_ptr_equal(old->ss_sp, (void *)(uintptr_t)GUEST_ARENA);
    assert_int_equal(old->ss_size, 8192);
    assert_int_equal(old->ss_flags, 0);
    stack->ss_size = 2047;
    assert_call(-ENOMEM, sigaltstack, stack, NULL);
    stack->ss_flags = 64;
    assert_call(-EINVAL, sigaltstack, stack, NULL);
    g.cpu.gpr[4] = GUEST_ARENA + 100; /* on it */
    assert_call(0, sigaltstack, NULL, old);
    assert_int_equal(old->ss_flags, SS_ONSTACK);
    stack->ss_flags = SS_DISABLE;
    assert_call(-EPERM, sigaltstack, stack, NULL);
}

void row_kill(void **state)
{
    (void)state;
    assert_call(0, kill, 1000, 0);
    assert_int_equal(syscalls_pending(g.kernel), 0);
    assert_call(-EPERM, kill, 1, SIGTERM); /* it is there, and another user's */
    assert_call(-ESRCH, kill, 7, SIGTERM);
    assert_call(-ESRCH, kill, -1, SIGTERM); /* all but itself: none */
    assert_call(-EINVAL, kill, 1000, 65);
    assert_call(0, kill, 0, SIGCHLD); /* ignored by default */
    assert_int_equal(syscalls_pending(g.kernel), 0);
    assert_call(0, kill, 0, SIGTERM);
    assert_int_equal(syscalls_pending(g.kernel), SIGTERM);
    assert_int_equal(syscalls_deliver(g.kernel, &g.cpu, SIGTERM), SYSCALLS_KILLED);
}

void row_tkill(void **state)
{
    (void)state;
    assert_call(0, tkill, 1000, SIGABRT);
    assert_int_equal(syscalls_pending(g.kernel), SIGABRT);
    assert_call(-ESRCH, tkill, 1001, SIGABRT);
    assert_call(-EINVAL, tkill, -1, SIGABRT);
}

void row_tgkill(void **state)
{
    (void)state;
    assert_call(0, tgkill, 1000, 1000, SIGABRT);
    assert_int_equal(syscalls_pending(g.kernel), SIGABRT);
    assert_call(-ESRCH, tgkill, 1, 1000, SIGABRT);
    assert_call(-ESRCH, tgkill, 1000, 1001, SIGABRT);
    assert_call(-EINVAL, tgkill, 0, 1000, SIGABRT);
}

void row_rt_tgsigqueueinfo(void **state)
{
    (void)state;
    siginfo_t *info = guest_take(128);
    const int signal = SIGRTMIN + 2;
    assert_call(0, rt_sigprocmask, SIG_BLOCK, set_of(signal), NULL, 8);
    for (int i = 1; i <= 3; i++) { /* real-time signals are all kept */
        info->si_code = SI_QUEUE;
        info->si_value.sival_int = i;
        assert_call(0, rt_tgsigqueueinfo, 1000, 1000, signal, info);
    }
    assert_call(-ESRCH, rt_tgsigqueueinfo, 1000, 1001, signal, info);
    assert_call(-EINVAL, rt_tgsigqueueinfo, 1000, 0, signal, info);
    for (int i = 1; i <= 3; i++) {
        assert_call(signal, rt_sigtimedwait, set_of(signal), info, NULL, 8);
        assert_int_equal(info->si_value.sival_int, i);
    }
}

void row_restart_syscall(void **state)
{
    (void)state;
    assert_call(-EINTR, restart_syscall);
}

void row_rt_sigqueueinfo(void **state)
{
    (void)state;
    siginfo_t *info = guest_take(128);
    info->si_code = SI_QUEUE;
    info->si_value.sival_int = 42;
    assert_call(0, rt_sigprocmask, SIG_BLOCK, set_of(SIGUSR1), NULL, 8);
    assert_call(0, rt_sigqueueinfo, 1000, SIGUSR1, info);
    assert_call(-EPERM, rt_sigqueueinfo, 1, SIGUSR1, info);
    assert_call(-ESRCH, rt_sigqueueinfo, 7, SIGUSR1, info);
    memset(info, 0, 128);
    assert_call(SIGUSR1, rt_sigtimedwait, set_of(SIGUSR1), info, NULL, 8);
    assert_int_equal(info->si_signo, SIGUSR1);
    assert_int_equal(info->si_code, SI_QUEUE);
    assert_int_equal(info->si_value.sival_int, 42);
}

void row_rt_sigreturn(void **state)
{
    (void)state;
    g.cpu.gpr[4] = GUEST_BAD; /* no frame there */
    CALL(rt_sigreturn);
    assert_int_equal(g.result.action, SYSCALLS_SIGNAL);
    assert_int_equal(g.result.signal, SIGSEGV);
}

/* ------------------------------------------------------------------ processes */

static void assert_exit(int status)
{
    assert_int_equal(g.result.action, SYSCALLS_EXIT);
    assert_int_equal(g.result.status, status);
}

void row_exit(void **state)
{
    (void)state;
    CALL(exit, 3);
    assert_exit(3);
}

void row_exit_group(void **state)
{
    (void)state;
    CALL(exit_group, -1);
    assert_exit(255);
    CALL(exit_group, 256);
    assert_exit(0);
}

static void assert_refusal(int64_t value, const char *complaint)
{
    assert_int_equal(value, -ENOSYS);
    assert_string_equal(guest_said(g.complaints), complaint);
}

/* The first thread waits for a moment, and the other one has the processor until then. */
static void threads_wait_for_a_moment(uint32_t *word)
{
    struct timespec *time = guest_take(sizeof *time);
    time->tv_sec = 0;
    time->tv_nsec = 3000000; /* 3 million instructions */
    word[0] = 5;
    assert_call(-EINTR, futex, word, FUTEX_WAIT_PRIVATE, 5, time);
    assert_int_equal(g.result.action, SYSCALLS_BLOCKED);
    syscalls_switch(g.kernel, 1001, 0);
    assert_call(1001, gettid);
    const uint64_t at = syscalls_contended(g.kernel, 0);
    assert_in_range(at, 2999990, 3000000);
    assert_int_equal(syscalls_ready(g.kernel, 1000, at - 1), SYSCALLS_WAITS);
    assert_int_equal(syscalls_ready(g.kernel, 1000, at + 6), SYSCALLS_AGAIN);
    assert_int_equal(syscalls_contended(g.kernel, at + 6), at + 6);
    assert_call(1, futex, word, FUTEX_WAKE_PRIVATE, 7);
    assert_int_equal(syscalls_contended(g.kernel, 0), 0);
    syscalls_switch(g.kernel, 1000, 0);
    assert_call(0, futex, word, FUTEX_WAIT_PRIVATE, 5, time);
}

/* The first thread waits at the word, the other one wakes it and ends. */
static void threads_take_turns(uint32_t *word)
{
    word[0] = 5;
    assert_call(-EINTR, futex, word, FUTEX_WAIT_PRIVATE, 5, NULL);
    assert_int_equal(g.result.action, SYSCALLS_BLOCKED);
    assert_int_equal(syscalls_ready(g.kernel, 1000, 0), SYSCALLS_WAITS);
    syscalls_switch(g.kernel, 1001, 0);
    assert_call(1001, gettid);
    assert_int_equal(syscalls_contended(g.kernel, 7), UINT64_MAX);
    assert_call(1, futex, word, FUTEX_WAKE_PRIVATE, 7);
    assert_int_equal(syscalls_contended(g.kernel, 7), 7);
    assert_call(0, sched_yield);
    assert_int_equal(g.result.action, SYSCALLS_YIELD);
    CALL(exit, 3);
    assert_int_equal(g.result.action, SYSCALLS_ENDED);
    assert_int_equal(word[1], 0);
    assert_int_equal(syscalls_ready(g.kernel, 1000, 0), SYSCALLS_AGAIN);
    syscalls_switch(g.kernel, 1000, 0);
    assert_call(0, futex, word, FUTEX_WAIT_PRIVATE, 5, NULL);
}

/* The first thread waits for a byte in a pipe, which the other one writes: without that none comes. */
static void threads_share_pipe(void)
{
    int *pair = guest_take(8);
    char *buffer = guest_take(8);
    assert_call(0, pipe, pair);
    assert_call(-EINTR, read, pair[0], buffer, 8);
    assert_int_equal(g.result.action, SYSCALLS_BLOCKED);
    syscalls_switch(g.kernel, 1001, 0);
    assert_call(1001, gettid);
    assert_int_equal(syscalls_contended(g.kernel, 7), UINT64_MAX);
    assert_call(1, write, pair[1], guest_text("a"), 1);
    assert_int_equal(syscalls_contended(g.kernel, 7), 7);
    assert_int_equal(syscalls_ready(g.kernel, 1000, 0), SYSCALLS_AGAIN);
    syscalls_switch(g.kernel, 1000, 0);
    assert_call(1, read, pair[0], buffer, 8);
}

void row_clone(void **state)
{
    (void)state;
    uint32_t *tid = guest_take(8);
    assert_refusal(CALL(clone, 0x11), "c2emu: system call 56 (clone) would start a process, and only this one is run: "
                                      "the program sees ENOSYS\n");
    assert_call(-EINVAL, clone, 0x10f00 & ~0x200, 0, NULL, NULL, 0); /* threads without their files */
    assert_call(1001, clone, 0x3d0f00, GUEST_ARENA, tid, tid + 1, 0x1234);
    assert_int_equal(g.result.action, SYSCALLS_STARTED);
    assert_int_equal(g.result.thread.tid, 1001);
    assert_int_equal(g.result.thread.stack, (uintptr_t)GUEST_ARENA);
    assert_int_equal(g.result.thread.fs_base, 0x1234);
    assert_int_equal(tid[0], 1001); /* CLONE_PARENT_SETTID, and no CLONE_CHILD_SETTID */
    assert_int_equal(tid[1], 0);
    threads_share_pipe();
    threads_wait_for_a_moment(tid);
    threads_take_turns(tid);
}

void row_clone3(void **state)
{
    (void)state;
    uint64_t *args = guest_take(96);
    assert_call(-EINVAL, clone3, args, 56);
    assert_call(-E2BIG, clone3, args, 4097);
    args[11] = 1; /* unknown fields have to be 0 */
    assert_call(-E2BIG, clone3, args, 96);
    args[11] = 0;
    args[0] = 0x10000; /* a thread without its signals */
    assert_call(-EINVAL, clone3, args, 88);
    args[0] = CLONE_NEWUTS;
    assert_call(-EPERM, clone3, args, 88);
    args[0] = 0x3d0f00;
    args[2] = args[3] = (uintptr_t)&args[10];
    args[5] = 0x10000;
    args[6] = 0x2000;
    args[7] = 0x77;
    assert_call(1001, clone3, args, 88);
    assert_int_equal(g.result.action, SYSCALLS_STARTED);
    assert_int_equal(g.result.thread.stack, 0x12000);
    assert_int_equal((uint32_t)args[10], 1001);
    assert_int_equal(g.result.thread.fs_base, 0x77);
}

void row_pidfd_open(void **state)
{
    (void)state;
    assert_call(3, pidfd_open, 1000, 0);
    assert_call(1, fcntl, 3, F_GETFD);
    assert_call(4, pidfd_open, 1000, O_NONBLOCK);
    assert_call(O_RDWR | O_NONBLOCK, fcntl, 4, F_GETFL);
    assert_call(-EINVAL, pidfd_open, 1000, 1);
    assert_call(-EINVAL, pidfd_open, 0, 0);
    assert_call(5, pidfd_open, 1, 0); /* its parent */
    assert_call(-EPERM, pidfd_send_signal, 5, SIGTERM, NULL, 0);
    assert_call(-ECHILD, waitid, P_PIDFD, 5, NULL, WEXITED, NULL);
    struct pollfd *ended = guest_take(sizeof *ended);
    *ended = (struct pollfd){.fd = 5, .events = POLLIN};
    assert_call(0, poll, ended, 1, 0);
    assert_call(-ESRCH, pidfd_open, 1001, 0);
    assert_call(-ESRCH, pidfd_open, getpid() + 1000, 0); /* the host's are not there */
}

void row_pidfd_send_signal(void **state)
{
    (void)state;
    assert_call(3, pidfd_open, 1000, 0);
    assert_call(0, pidfd_send_signal, 3, 0, NULL, 0);
    assert_call(-EINVAL, pidfd_send_signal, 3, 65, NULL, 0);
    assert_call(-EINVAL, pidfd_send_signal, 3, SIGUSR1, NULL, 8);
    assert_call(-EBADF, pidfd_send_signal, 0, SIGUSR1, NULL, 0);
    assert_call(4, open, guest_text("/proc/1"), O_RDONLY | O_DIRECTORY);
    assert_call(-EPERM, pidfd_send_signal, 4, SIGUSR1, NULL, 0);
    assert_call(0, pidfd_send_signal, 3, SIGUSR1, NULL, 0);
    assert_int_equal(syscalls_pending(g.kernel), SIGUSR1);
}

void row_fork(void **state)
{
    (void)state;
    assert_refusal(CALL(fork), "c2emu: system call 57 (fork) would start a process, and only this one is run: the "
                               "program sees ENOSYS\n");
}

void row_vfork(void **state)
{
    (void)state;
    assert_refusal(CALL(vfork), "c2emu: system call 58 (vfork) would start a process, and only this one is run: the "
                                "program sees ENOSYS\n");
}

void row_execve(void **state)
{
    (void)state;
    assert_refusal(CALL(execve, guest_text("/bin/sh"), NULL, NULL),
                   "c2emu: system call 59 (execve) would run another program, and only this one is run: the program "
                   "sees ENOSYS\n");
}

void row_execveat(void **state)
{
    (void)state;
    assert_int_equal(CALL(execveat, AT_FDCWD, guest_text("x"), NULL, NULL, 0), -ENOSYS);
}

/* A row that is ENOSYS with a line of its own. */
#define REFUSED(name, what) \
    void row_##name(void **state) \
    { \
        char line[256]; \
        (void)state; \
        snprintf(line, sizeof line, "c2emu: system call %d (" #name ") would " what ": the program sees ENOSYS\n", \
                 SYS_##name); \
        assert_refusal(CALL(name, 0, 0, 0), line); \
        assert_refusal(CALL(name, 0, 0, 0), ""); \
    }
#define LOOK "look into a process, which is not modelled"
#define WATCH "watch files for what others do to them, which is not modelled"
#define QUEUE "hand over calls in a queue, which is not modelled"

REFUSED(ptrace, LOOK)
REFUSED(pidfd_getfd, LOOK)
REFUSED(inotify_init, WATCH)
REFUSED(inotify_init1, WATCH)
REFUSED(fanotify_init, WATCH)
REFUSED(io_uring_setup, QUEUE)
REFUSED(io_setup, QUEUE)
REFUSED(userfaultfd, "take page faults by a descriptor, which is not modelled")
REFUSED(bpf, "load a program into the kernel, which is not modelled")
REFUSED(perf_event_open, "count events of the host's processor, and c2emu counts those of the simulated one")

static const struct iovec *buffer_of(void *at, size_t bytes)
{
    struct iovec *iov = guest_take(sizeof *iov);
    *iov = (struct iovec){at, bytes};
    return iov;
}

void row_process_vm_readv(void **state)
{
    (void)state;
    char *const to = guest_take(C2_PAGE_BYTES), *const from = guest_text("what is there");
    const struct iovec *const local = buffer_of(to, 6), *const bad = buffer_of((void *)GUEST_BAD, 4);
    assert_call(6, process_vm_readv, 1000, local, 1, buffer_of(from, 100), 1, 0);
    assert_string_equal(to, "what i");
    assert_call(-EFAULT, process_vm_readv, 1000, local, 1, bad, 1, 0);
    assert_call(-EFAULT, process_vm_readv, 1000, bad, 1, local, 1, 0);
    assert_call(-EINVAL, process_vm_readv, 1000, local, 1, local, 1, 1);
    assert_call(-EINVAL, process_vm_readv, 1000, local, IOV_MAX + 1, local, 1, 0);
    assert_call(0, process_vm_readv, 1001, local, 0, local, 1, 0);
    assert_call(-ESRCH, process_vm_readv, 1001, local, 1, local, 1, 0);
    assert_call(-EPERM, process_vm_readv, 1, local, 1, local, 1, 0);
}

void row_process_vm_writev(void **state)
{
    (void)state;
    char *const to = guest_text("what is there");
    const struct iovec *const local = buffer_of(guest_text("THAT"), 4), *const readonly = buffer_of(
                                                                            (void *)GUEST_READONLY, 4);
    assert_call(4, process_vm_writev, 1000, local, 1, buffer_of(to, 100), 1, 0);
    assert_string_equal(to, "THAT is there");
    assert_call(-EFAULT, process_vm_writev, 1000, local, 1, readonly, 1, 0);
    assert_call(4, process_vm_writev, 1000, readonly, 1, buffer_of(to, 4), 1, 0);
    assert_memory_equal(to, "\0\0\0\0 is", 7);
    assert_call(0, prctl, 4 /* PR_SET_DUMPABLE */, 0, 0, 0, 0);
    assert_call(4, process_vm_writev, 1000, local, 1, buffer_of(to, 4), 1, 0);
}

void row_process_madvise(void **state)
{
    (void)state;
    const struct iovec *const pages = buffer_of((void *)GUEST_ARENA, 8192), *const bad = buffer_of((void *)GUEST_BAD,
                                                                                                   4096);
    const int64_t self = CALL(pidfd_open, 1000, 0), init = CALL(pidfd_open, 1, 0);
    struct iovec *const both = guest_take(2 * sizeof *both);
    assert_call(8192, process_madvise, self, pages, 1, MADV_COLD, 0);
    assert_call(8192, process_madvise, self, pages, 1, MADV_PAGEOUT, 0);
    assert_call(0, process_madvise, self, pages, 0, MADV_WILLNEED, 0);
    assert_call(-ENOMEM, process_madvise, self, bad, 1, MADV_WILLNEED, 0);
    both[0] = *pages;
    both[1] = *bad;
    assert_call(8192, process_madvise, self, both, 2, MADV_WILLNEED, 0);
    assert_call(8192, process_madvise, self, pages, 1, MADV_NORMAL, 0);
    assert_call(-EINVAL, process_madvise, self, pages, 1, 99, 0);
    assert_call(-EINVAL, process_madvise, init, pages, 1, MADV_DONTNEED, 0);
    assert_call(-EINVAL, process_madvise, self, pages, 1, MADV_COLD, 1);
    assert_call(-EINVAL, process_madvise, self, pages, IOV_MAX + 1, MADV_COLD, 0);
    assert_call(-EFAULT, process_madvise, self, GUEST_BAD, 1, MADV_COLD, 0);
    assert_call(-EBADF, process_madvise, 0, pages, 1, MADV_COLD, 0);
    assert_call(-EPERM, process_madvise, init, pages, 1, MADV_COLD, 0);
}

/* Numbers of the host, but for segments that are set up. */
void row_modify_ldt(void **state)
{
    (void)state;
    const int64_t invalid = UINT32_MAX - EINVAL + 1, fault = UINT32_MAX - EFAULT + 1, absent = UINT32_MAX - ENOSYS + 1;
    uint8_t *const bytes = memset(guest_take(256), 0x5a, 256);
    struct user_desc *const segment = guest_take(sizeof *segment);
    assert_call(0, modify_ldt, 0, bytes, 64);
    assert_int_equal(bytes[0], 0x5a);
    assert_call(0, modify_ldt, 0, GUEST_BAD, 64);
    assert_call(128, modify_ldt, 2, bytes, 200);
    assert_int_equal(bytes[127], 0);
    assert_int_equal(bytes[128], 0x5a);
    assert_call(0, modify_ldt, 2, GUEST_BAD, 0);
    assert_call(fault, modify_ldt, 2, GUEST_BAD, 64);
    assert_call(fault, modify_ldt, 2, GUEST_READONLY, 16);
    assert_call(absent, modify_ldt, 3, bytes, 16);
    for (int function = 1; function <= 17; function += 16) {
        assert_call(invalid, modify_ldt, function, segment, 15);
        assert_call(invalid, modify_ldt, function, NULL, 17);
        assert_call(fault, modify_ldt, function, NULL, 16);
        *segment = (struct user_desc){.entry_number = LDT_ENTRIES};
        assert_call(invalid, modify_ldt, function, segment, 16);
        *segment = (struct user_desc){.contents = 3};
        assert_call(invalid, modify_ldt, function, segment, 16);
    }
    *segment = (struct user_desc){.read_exec_only = 1, .seg_not_present = 1};
    assert_call(0, modify_ldt, 17, segment, 16);
    assert_call(200, modify_ldt, 0, bytes, 200); /* a table there is now */
    assert_int_equal(bytes[199], 0);
    *segment = (struct user_desc){.entry_number = 7};
    assert_call(0, modify_ldt, 1, segment, 16);
    guest_said(g.complaints);
    assert_refusal(CALL(modify_ldt, 17, segment, 16), "c2emu: system call 154 (modify_ldt) would set up a "
                                                      "segment, which is not modelled: the program sees ENOSYS\n");
}

void row_unshare(void **state)
{
    (void)state;
    assert_call(0, unshare, 0);
    assert_call(0, unshare, CLONE_FS | CLONE_FILES); /* they are its own */
    assert_call(-EPERM, unshare, CLONE_NEWNS);
    assert_call(-EINVAL, unshare, 1);
    assert_call(1001, clone, 0x3d0f00, GUEST_ARENA, guest_take(8), NULL, 0);
    assert_call(-EINVAL, unshare, CLONE_VM);
    assert_call(-ENOSYS, unshare, CLONE_FILES);
}

void row_setns(void **state)
{
    (void)state;
    assert_call(-EINVAL, setns, 0, 0);
    const int64_t process = CALL(pidfd_open, 1000, 0);
    assert_call(-EINVAL, setns, process, 0);
    assert_call(-EINVAL, setns, process, CLONE_VM);
    assert_call(-EPERM, setns, process, CLONE_NEWNS | CLONE_NEWPID);
}

void row_kcmp(void **state)
{
    enum { FILES = 0, MEMORY = 1, OF_EPOLL = 7 };
    (void)state;
    const int64_t copy = CALL(dup, 0);
    assert_call(0, kcmp, 1000, 1000, MEMORY, 0, 0);
    assert_call(0, kcmp, 1000, 1000, FILES, 0, copy);
    assert_call(3, kcmp, 1000, 1000, FILES, 0, 1);
    assert_call(-EBADF, kcmp, 1000, 1000, FILES, 0, 77);
    assert_call(-ESRCH, kcmp, 1000, 1001, FILES, 0, 0);
    assert_call(-EPERM, kcmp, 1, 1000, MEMORY, 0, 0);
    assert_call(-EINVAL, kcmp, 1000, 1000, 8, 0, 0);
    assert_call(-ENOSYS, kcmp, 1000, 1000, OF_EPOLL, 0, 0);
}

void row_seccomp(void **state)
{
    (void)state;
    assert_refusal(CALL(seccomp, 1, 0, GUEST_ARENA),
                   "c2emu: system call 317 (seccomp) would forbid itself system calls, which is not modelled: the "
                   "program sees ENOSYS\n");
    assert_call(-EINVAL, seccomp, 2, 0, GUEST_ARENA); /* does it know an action? */
}

void row_name_to_handle_at(void **state)
{
    (void)state;
    assert_call(-EOPNOTSUPP, name_to_handle_at, AT_FDCWD, guest_text("."), GUEST_ARENA, GUEST_ARENA, 0);
}
