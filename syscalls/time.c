/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The guest's clocks.
 *
 * Model
 *   Guest time since boot = instructions / instructions_per_second + what was slept. A sleep takes no host time: guest
 *   time goes on by its length at once, and stays there, so clocks never go back. CLOCK_REALTIME is start_seconds at
 *   the start, 2020-01-01T00:00:00Z unless the user says otherwise, an hour after boot, and that hour counts as slept.
 *   The CPU-time clocks count instructions only.
 */
#include <string.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <time.h>

#include "syscalls/kernel_priv.h"

uint64_t kernel_cpu_ns(const struct syscalls *kernel, uint64_t instructions)
{
    return (uint64_t)((unsigned __int128)(kernel->instructions_before + instructions) * KERNEL_NS /
                      kernel->instructions_per_second);
}

uint64_t kernel_thread_ns(const struct syscalls *kernel, uint32_t tid, uint64_t instructions)
{
    const struct kernel_thread *thread = threads_find(kernel, tid);
    const uint64_t ran = thread ? thread->ran : 0;
    const bool runs = thread == kernel->current;
    return (uint64_t)((unsigned __int128)(ran + (runs ? instructions - kernel->turn : 0)) * KERNEL_NS /
                      kernel->instructions_per_second);
}

uint64_t syscalls_time_ns(const struct syscalls *kernel, uint64_t instructions)
{
    return kernel_cpu_ns(kernel, instructions) + kernel->slept_ns;
}

void kernel_sleep(struct syscalls *kernel, uint64_t ns)
{
    /* A program may sleep "for ever" with the longest time there is: the clock then stops far from overflow. */
    kernel->slept_ns = ns > KERNEL_LAST_NS - kernel->slept_ns ? KERNEL_LAST_NS : kernel->slept_ns + ns;
}

void kernel_sleep_until(struct syscalls *kernel, uint64_t instructions, uint64_t at)
{
    const uint64_t time = syscalls_time_ns(kernel, instructions);
    kernel_sleep(kernel, at > time ? at - time : 0);
}

bool kernel_has_come(const struct syscalls *kernel, uint64_t instructions, uint64_t deadline)
{
    const uint64_t time = syscalls_time_ns(kernel, instructions);
    return deadline != KERNEL_NEVER && (time >= deadline || time >= KERNEL_LAST_NS);
}

uint64_t kernel_deadline(const struct call *c, uint64_t ns)
{
    return syscalls_time_ns(c->kernel, c->instructions) + (ns < KERNEL_LAST_NS ? ns : KERNEL_LAST_NS);
}

bool kernel_timespec_ns(uint64_t *out, const struct timespec *time)
{
    const uint64_t most = KERNEL_LAST_NS;
    if (time->tv_sec < 0 || time->tv_nsec < 0 || (uint64_t)time->tv_nsec >= KERNEL_NS)
        return false;
    uint64_t seconds = (uint64_t)time->tv_sec;
    *out = seconds >= most / KERNEL_NS ? most : seconds * KERNEL_NS + (uint64_t)time->tv_nsec;
    return true;
}

static struct timespec time_timespec_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / KERNEL_NS), .tv_nsec = (long)(ns % KERNEL_NS)};
}

static uint64_t time_now(const struct call *c) { return syscalls_time_ns(c->kernel, c->instructions); }

static uint64_t real_now(const struct call *c) { return time_now(c) + c->kernel->boot_seconds * KERNEL_NS; }

/* The clocks of clock_getcpuclockid() and pthread_getcpuclockid() hold the process or thread in their upper bits; 0 is
 * the caller. */
static bool read_owned_clock(const struct call *c, int clock, uint64_t *ns)
{
    enum { KIND = 3, OF_THREAD = 4 };
    const int owner = ~(clock >> 3);
    if (clock >= 0 || (clock & KIND) == KIND)
        return false;
    const uint32_t tid = owner ? (uint32_t)owner : c->kernel->current->tid;
    if (clock & OF_THREAD)
        *ns = kernel_thread_ns(c->kernel, tid, c->instructions);
    else
        *ns = kernel_cpu_ns(c->kernel, c->instructions);
    return clock & OF_THREAD ? !!threads_find(c->kernel, tid) : owner == 0 || owner == (int)c->kernel->pid;
}

static bool read_clock(const struct call *c, int clock, uint64_t *ns)
{
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_REALTIME_ALARM:
    case CLOCK_TAI:
        *ns = real_now(c);
        return true;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
    case CLOCK_BOOTTIME_ALARM:
        *ns = time_now(c);
        return true;
    case CLOCK_PROCESS_CPUTIME_ID:
        *ns = kernel_cpu_ns(c->kernel, c->instructions);
        return true;
    case CLOCK_THREAD_CPUTIME_ID:
        *ns = kernel_thread_ns(c->kernel, c->kernel->current->tid, c->instructions);
        return true;
    default:
        return read_owned_clock(c, clock, ns);
    }
}

/* ------------------------------------------------------------------ reading */

int64_t time_gettime(struct call *c)
{
    uint64_t ns;
    if (!read_clock(c, (int)c->arg[0], &ns))
        return -EINVAL;
    *(struct timespec *)c->ptr[1] = time_timespec_of(ns);
    return 0;
}

int64_t time_getres(struct call *c)
{
    uint64_t ns;
    int clock = (int)c->arg[0];
    if (!read_clock(c, clock, &ns))
        return -EINVAL;
    bool coarse = clock == CLOCK_REALTIME_COARSE || clock == CLOCK_MONOTONIC_COARSE;
    if (c->ptr[1])
        *(struct timespec *)c->ptr[1] = time_timespec_of(coarse ? 4000000 : 1);
    return 0;
}

/* Of the clocks that somebody may set; those of processes and threads nobody sets. */
int64_t time_settime(struct call *c)
{
    uint64_t ns;
    const int clock = (int)c->arg[0];
    if (clock < 0)
        return read_owned_clock(c, clock, &ns) ? -EPERM : -EINVAL;
    return clock == CLOCK_REALTIME && kernel_timespec_ns(&ns, c->ptr[1]) ? -EPERM : -EINVAL;
}

int64_t time_settimeofday(struct call *c)
{
    const struct timeval *time = c->ptr[0];
    return time && (time->tv_sec < 0 || time->tv_usec < 0 || time->tv_usec > 1000000) ? -EINVAL : -EPERM;
}

/* What a plain user may ask for: to be shown the clock. */
static int64_t may_adjust(unsigned modes)
{
    const unsigned slews = 0x8000, only_reads = 0x2000; /* bits of ADJ_OFFSET_SINGLESHOT, ADJ_OFFSET_SS_READ */
    if (modes & slews && !(modes & ADJ_OFFSET))
        return -EINVAL;
    return modes == 0 || (modes & slews && modes & only_reads && !(modes & ADJ_SETOFFSET)) ? 0 : -EPERM;
}

/* The clock of a machine that has just started, and that nothing keeps right. */
static int64_t time_show_clock(const struct call *c, struct timex *out)
{
    enum { FURTHEST_OFF_US = 16000000, TICK_US = 10000, AT_FIRST = 2 };
    const long parts_per_million = 65536; /* of frequencies */
    const unsigned modes = out->modes;
    const uint64_t ns = real_now(c);
    const int64_t status = may_adjust(modes);
    if (status < 0)
        return status;
    *out = (struct timex){.modes = modes,
                          .maxerror = FURTHEST_OFF_US,
                          .esterror = FURTHEST_OFF_US,
                          .status = STA_UNSYNC,
                          .constant = AT_FIRST,
                          .precision = 1,
                          .tolerance = 500 * parts_per_million,
                          .time = {(time_t)(ns / KERNEL_NS), (suseconds_t)(ns % KERNEL_NS / 1000)},
                          .tick = TICK_US};
    return TIME_ERROR;
}

int64_t time_adjust(struct call *c) { return time_show_clock(c, c->ptr[0]); }

int64_t time_adjust_clock(struct call *c)
{
    enum { KIND = 7, OF_A_DESCRIPTOR = 3, CLOCK_NOT_USED = 10, CLOCKS = 12 };
    const int clock = (int)c->arg[0];
    if (clock == CLOCK_REALTIME)
        return time_show_clock(c, c->ptr[1]);
    if (clock < 0)
        return (clock & KIND) == OF_A_DESCRIPTOR ? -EINVAL : -EOPNOTSUPP;
    return clock < CLOCKS && clock != CLOCK_NOT_USED ? -EOPNOTSUPP : -EINVAL;
}

int64_t time_gettimeofday(struct call *c)
{
    uint64_t ns = real_now(c);
    struct timeval *out = c->ptr[0];
    if (out)
        *out = (struct timeval){.tv_sec = (time_t)(ns / KERNEL_NS), .tv_usec = (suseconds_t)(ns % KERNEL_NS / 1000)};
    return 0; /* the time zone is UTC: its structure stays zero */
}

int64_t time_time(struct call *c)
{
    int64_t seconds = (int64_t)(real_now(c) / KERNEL_NS);
    if (c->ptr[0])
        memcpy(c->ptr[0], &seconds, sizeof seconds);
    return seconds;
}

int64_t time_times(struct call *c)
{
    const uint64_t tick = KERNEL_NS / 100, used = kernel_cpu_ns(c->kernel, c->instructions);
    if (c->ptr[0])
        *(struct tms *)c->ptr[0] = (struct tms){.tms_utime = (clock_t)(used / tick)};
    return (int64_t)(time_now(c) / tick);
}

/* ------------------------------------------------------------------ sleeping */

/* Until then; if interrupted, the time that is left goes to `rest`. A sleep of no time is none. */
static int64_t sleep_until(struct call *c, uint64_t deadline, uint64_t rest)
{
    if (kernel_has_come(c->kernel, c->instructions, deadline))
        return 0;
    return call_wait(
        c, (struct kernel_wait){.kind = KERNEL_WAITS_TIME, .deadline = deadline, .rest = rest, .why = "it sleeps"});
}

int64_t time_nanosleep(struct call *c)
{
    uint64_t ns;
    if (!kernel_timespec_ns(&ns, c->ptr[0]))
        return -EINVAL;
    return sleep_until(c, c->again ? c->waited->deadline : kernel_deadline(c, ns), c->arg[1]);
}

static bool is_without_sleep(int clock)
{
    return clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_MONOTONIC_COARSE ||
           clock == CLOCK_THREAD_CPUTIME_ID || (clock < 0 && (clock & 7) == 3 /* of a device */);
}

/* The CPU time of the thread that would wait for it. */
static bool is_own_thread(const struct call *c, int clock)
{
    const uint32_t tid = (uint32_t) ~(clock >> 3);
    return clock < 0 && clock & 4 && (tid == 0 || tid == c->kernel->current->tid);
}

int64_t time_clock_nanosleep(struct call *c)
{
    const int clock = (int)c->arg[0];
    uint64_t at, ns;
    if (is_without_sleep(clock))
        return -EOPNOTSUPP;
    if (!read_clock(c, clock, &at) || is_own_thread(c, clock) || !kernel_timespec_ns(&ns, c->ptr[2]))
        return -EINVAL;
    bool absolute = c->arg[1] & TIMER_ABSTIME;
    if ((clock == CLOCK_PROCESS_CPUTIME_ID || clock < 0) && (absolute ? ns > at : ns > 0))
        return call_wait(c, (struct kernel_wait){.kind = KERNEL_WAITS_TIME,
                                                 .deadline = KERNEL_NEVER,
                                                 .why = "its own CPU time does not go on while it sleeps"});
    if (absolute)
        ns = ns > at ? ns - at : 0;
    return sleep_until(c, c->again ? c->waited->deadline : kernel_deadline(c, ns), absolute ? 0 : c->arg[3]);
}
