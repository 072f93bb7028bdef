/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Timers that interrupt the program: alarm, setitimer, timer_create.
 *
 * Model
 *   A timer is due at a moment of guest time, or of the CPU time that the process, or a thread, has used. Which
 *   instruction that is follows (syscalls_alarm), and the run is stopped there, exactly: the signal is pending behind
 *   it. CPU time is instructions, so user time and all time are one.
 *   A timer that expires again while its signal has not been taken counts an overrun; the signal says how many. They
 *   are counted when it is taken: till then, and where no signal is asked for, no thread has to stop for the timer.
 *
 *   The limit on CPU time (RLIMIT_CPU) is two of them: SIGXCPU at the soft one and each second from then on, SIGKILL at
 *   the hard one.
 *
 * Invariants
 *   A due moment lies ahead, once timers_expire has been there. Numbers of timers are the lowest that are free.
 *
 * Not modelled
 *   The resolution of clocks: timers are exact to the instruction. Timers of alarm clocks (EPERM).
 */
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>

#include "syscalls/daemons_priv.h"
#include "syscalls/kernel_priv.h"

#define ALARM_CODE SI_KERNEL /* what setitimer's signals say */

/* ------------------------------------------------------------------ moments */

static uint64_t clock_now(const struct syscalls *kernel, const struct timer *timer, uint64_t instructions)
{
    switch (timer->counts) {
    case TIMER_THREAD:
        return kernel_thread_ns(kernel, timer->owner, instructions);
    case TIMER_PROCESS:
        return kernel_cpu_ns(kernel, instructions);
    default:
        return syscalls_time_ns(kernel, instructions);
    }
}

/* Nothing happens when it is due: it has no signal, or the last one was not taken. */
static bool is_silent(const struct timer *timer) { return timer->signal == 0 || timer->queued; }

/* So many ns before it is due; KERNEL_NEVER: it is disarmed or silent, or its thread does not run. */
static uint64_t timers_left_of(const struct syscalls *kernel, const struct timer *timer, uint64_t instructions)
{
    if (timer->due == KERNEL_NEVER || is_silent(timer) ||
        (timer->counts == TIMER_THREAD && (!kernel->current || kernel->current->tid != timer->owner)))
        return KERNEL_NEVER;
    const uint64_t now = clock_now(kernel, timer, instructions);
    return timer->due > now ? timer->due - now : 0;
}

static uint64_t least_left(const struct syscalls *kernel, uint64_t instructions)
{
    uint64_t least = KERNEL_NEVER;
    for (uint32_t i = 0; i < kernel->timer_room; i++) {
        const uint64_t left = timers_left_of(kernel, &kernel->timers[i], instructions);
        least = left < least ? left : least;
    }
    return least;
}

uint64_t syscalls_alarm(const struct syscalls *kernel, uint64_t instructions)
{
    const uint64_t left = kernel->timers_armed ? least_left(kernel, instructions) : KERNEL_NEVER;
    if (left >= KERNEL_LAST_NS)
        return UINT64_MAX;
    /* The first count whose time, rounded down, is not before it: it may be one more than the length says. */
    uint64_t more = (uint64_t)((unsigned __int128)left * kernel->instructions_per_second / KERNEL_NS);
    const uint64_t now = kernel_cpu_ns(kernel, instructions);
    while (kernel_cpu_ns(kernel, instructions + more) - now < left)
        more++;
    return instructions + more;
}

uint64_t timers_next(const struct syscalls *kernel)
{
    uint64_t next = KERNEL_NEVER;
    for (uint32_t i = 0; kernel->timers_armed && i < kernel->timer_room; i++)
        if (kernel->timers[i].counts == TIMER_TIME && !is_silent(&kernel->timers[i]) && kernel->timers[i].due < next)
            next = kernel->timers[i].due;
    return next;
}

/* ------------------------------------------------------------------ expiring */

static void timers_send(struct syscalls *kernel, struct timer *timer, uint64_t expirations)
{
    struct kernel_thread *thread = timer->thread ? threads_find(kernel, timer->thread) : NULL;
    struct signals_info info = {.signal = timer->signal, .code = timer->id < 0 ? ALARM_CODE : SI_TIMER};
    if (timer->thread && !thread)
        return;
    info.sender.pid = timer->id < 0 ? 0 : timer->id;
    info.sender.value = timer->value;
    timer->overruns = expirations - 1;
    const bool raised = signals_raise(kernel, thread, &info);
    timer->queued = raised && timer->id >= 0;
}

/* To the next moment behind `now`, or none; how often it has expired on its way there. */
static uint64_t timers_go_on(struct syscalls *kernel, struct timer *timer, uint64_t now)
{
    if (timer->due == KERNEL_NEVER || timer->due > now)
        return 0;
    const uint64_t more = timer->interval ? (now - timer->due) / timer->interval : 0;
    timer->due = timer->interval ? timer->due + (1 + more) * timer->interval : KERNEL_NEVER;
    kernel->timers_armed -= timer->due == KERNEL_NEVER;
    return 1 + more;
}

void syscalls_expire(struct syscalls *kernel, uint64_t instructions)
{
    daemons_expire(kernel, instructions);
    for (uint32_t i = 0; kernel->timers_armed && i < kernel->timer_room; i++)
        if (timers_left_of(kernel, &kernel->timers[i], instructions) == 0)
            timers_send(kernel, &kernel->timers[i],
                        timers_go_on(kernel, &kernel->timers[i], clock_now(kernel, &kernel->timers[i], instructions)));
}

void timers_taken(struct syscalls *kernel, struct signals_info *info)
{
    if (info->code != SI_TIMER)
        return;
    for (uint32_t i = 0; i < kernel->timer_room; i++) {
        struct timer *timer = &kernel->timers[i];
        if (!timer->used || timer->id != info->sender.pid || !timer->queued)
            continue;
        timer->overruns += timers_go_on(kernel, timer, clock_now(kernel, timer, kernel->instructions));
        timer->told = timer->overruns > INT32_MAX ? INT32_MAX : (uint32_t)timer->overruns;
        info->sender.uid = timer->told;
        timer->overruns = 0;
        timer->queued = false;
    }
}

/* ------------------------------------------------------------------ the list */

/* ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF; and those of the limit on CPU time, soft and hard. */
enum { INTERVAL_TIMERS = 3, SOFT_LIMIT = INTERVAL_TIMERS, HARD_LIMIT, OWN_TIMERS };

static bool timers_make_room(struct syscalls *kernel, uint32_t room)
{
    struct timer *grown = c2_realloc(kernel->timers, room * sizeof *grown);
    if (!grown)
        return false;
    for (uint32_t i = kernel->timer_room; i < room; i++)
        grown[i] = (struct timer){.due = KERNEL_NEVER};
    kernel->timers = grown;
    kernel->timer_room = room;
    return true;
}

/* Those that every process has. */
static struct timer *own_timer(struct syscalls *kernel, int which)
{
    static const struct {
        enum timer_counts counts;
        int signal;
    } kinds[OWN_TIMERS] = {{TIMER_TIME, SIGALRM},
                           {TIMER_PROCESS, SIGVTALRM},
                           {TIMER_PROCESS, SIGPROF},
                           {TIMER_PROCESS, SIGXCPU},
                           {TIMER_PROCESS, SIGKILL}};
    if (which < 0 || which >= OWN_TIMERS || (kernel->timer_room == 0 && !timers_make_room(kernel, 8)))
        return NULL;
    struct timer *timer = &kernel->timers[which];
    timer->used = true;
    timer->id = -1;
    timer->counts = kinds[which].counts;
    timer->signal = kinds[which].signal;
    return timer;
}

static struct timer *interval_timer(struct syscalls *kernel, int which)
{
    return which < INTERVAL_TIMERS ? own_timer(kernel, which) : NULL;
}

static struct timer *free_timer(struct syscalls *kernel, int *id)
{
    uint32_t i = OWN_TIMERS;
    while (i < kernel->timer_room && kernel->timers[i].used)
        i++;
    if (i >= kernel->timer_room && !timers_make_room(kernel, i < 8 ? 8 : 2 * i))
        return NULL;
    *id = (int)i - OWN_TIMERS;
    return &kernel->timers[i];
}

static struct timer *timer_of(struct syscalls *kernel, int id)
{
    if (id < 0 || (uint64_t)id + OWN_TIMERS >= kernel->timer_room)
        return NULL;
    struct timer *timer = &kernel->timers[id + OWN_TIMERS];
    return timer->used ? timer : NULL;
}

/* due: of its clock; KERNEL_NEVER disarms. */
static void arm(struct syscalls *kernel, struct timer *timer, uint64_t due, uint64_t interval)
{
    kernel->timers_armed += (due != KERNEL_NEVER) - (timer->due != KERNEL_NEVER);
    timer->due = due;
    timer->interval = interval;
}

void timers_forget_all(struct syscalls *kernel)
{
    timers_forget(kernel);
    for (uint32_t i = 0; i < OWN_TIMERS && i < kernel->timer_room; i++)
        arm(kernel, &kernel->timers[i], KERNEL_NEVER, 0);
}

void timers_forget(struct syscalls *kernel)
{
    for (uint32_t i = OWN_TIMERS; i < kernel->timer_room; i++) {
        arm(kernel, &kernel->timers[i], KERNEL_NEVER, 0);
        kernel->timers[i].used = false;
    }
}

/* The moment of a limit in seconds, of which 0 counts as 1; that has not come yet, or has just come. */
static uint64_t timers_moment_of(const struct syscalls *kernel, uint64_t seconds, uint64_t instructions)
{
    const uint64_t now = kernel_cpu_ns(kernel, instructions), most = KERNEL_LAST_NS / KERNEL_NS;
    const uint64_t at = (seconds == 0 ? 1 : seconds < most ? seconds : most) * KERNEL_NS;
    return at > now ? at : now;
}

bool timers_limit_cpu(struct syscalls *kernel, uint64_t instructions)
{
    const struct identity_limit *limit = &kernel->identity.limit[RLIMIT_CPU];
    struct timer *soft = own_timer(kernel, SOFT_LIMIT), *hard = own_timer(kernel, HARD_LIMIT);
    if (!soft || !hard)
        return false;
    const bool limited = limit->soft != RLIM_INFINITY, kills = limited && limit->hard != RLIM_INFINITY;
    arm(kernel, hard, kills ? timers_moment_of(kernel, limit->hard, instructions) : KERNEL_NEVER, 0);
    arm(kernel, soft,
        limited && limit->soft < limit->hard ? timers_moment_of(kernel, limit->soft, instructions) : KERNEL_NEVER,
        KERNEL_NS);
    return true;
}

/* ------------------------------------------------------------------ alarm, setitimer */

static struct timeval timeval_of(uint64_t ns)
{
    return (struct timeval){.tv_sec = (time_t)(ns / KERNEL_NS), .tv_usec = (suseconds_t)(ns % KERNEL_NS / 1000)};
}

/* What is left; a timer that is armed never says nothing. */
static uint64_t remaining(const struct syscalls *kernel, const struct timer *timer, uint64_t instructions,
                          uint64_t least)
{
    if (timer->due == KERNEL_NEVER)
        return 0;
    const uint64_t now = clock_now(kernel, timer, instructions);
    if (timer->due <= now && is_silent(timer)) /* it has gone on, which was not looked at */
        return timer->interval ? timer->interval - (now - timer->due) % timer->interval : 0;
    return timer->due > now + least ? timer->due - now : least;
}

static void show_interval(struct call *c, const struct timer *timer, struct itimerval *out)
{
    out->it_interval = timeval_of(timer->interval);
    out->it_value = timeval_of(remaining(c->kernel, timer, c->instructions, 1000));
}

static bool interval_ns(const struct timeval *time, uint64_t *ns)
{
    const struct timespec exact = {time->tv_sec, time->tv_usec * 1000};
    return time->tv_usec >= 0 && time->tv_usec < 1000000 && kernel_timespec_ns(ns, &exact);
}

int64_t timers_getitimer(struct call *c)
{
    const struct timer *timer = interval_timer(c->kernel, (int)c->arg[0]);
    if (!timer)
        return -EINVAL;
    show_interval(c, timer, c->ptr[1]);
    return 0;
}

int64_t timers_setitimer(struct call *c)
{
    const struct itimerval *wanted = c->ptr[1];
    struct timer *timer = interval_timer(c->kernel, (int)c->arg[0]);
    uint64_t first = 0, interval = 0;
    if (!timer ||
        (wanted && (!interval_ns(&wanted->it_value, &first) || !interval_ns(&wanted->it_interval, &interval))))
        return -EINVAL;
    if (c->ptr[2])
        show_interval(c, timer, c->ptr[2]);
    arm(c->kernel, timer, first ? clock_now(c->kernel, timer, c->instructions) + first : KERNEL_NEVER,
        first ? interval : 0);
    return 0;
}

/* What is left is rounded to seconds, and is not nothing. */
int64_t timers_alarm(struct call *c)
{
    struct timer *timer = interval_timer(c->kernel, ITIMER_REAL);
    if (!timer)
        return 0;
    const uint64_t now = clock_now(c->kernel, timer, c->instructions), seconds = (uint32_t)c->arg[0];
    const uint64_t left = remaining(c->kernel, timer, c->instructions, 1000);
    arm(c->kernel, timer, seconds ? now + seconds * KERNEL_NS : KERNEL_NEVER, 0);
    return left && left < KERNEL_NS / 2 ? 1 : (int64_t)((left + KERNEL_NS / 2) / KERNEL_NS);
}

/* ------------------------------------------------------------------ timer_create and its kin */

/* struct sigevent, as far as the kernel looks at it. */
struct event {
    uint64_t value;
    int32_t signal, notify, thread, pad;
};

static bool timers_take_event(struct call *c, struct timer *timer)
{
    const struct event *event = c->ptr[1];
    if (!event) {
        timer->signal = SIGALRM;
        timer->value = (uint64_t)timer->id;
        return true;
    }
    timer->value = event->value;
    timer->signal = event->notify == SIGEV_NONE ? 0 : event->signal;
    timer->thread = event->notify == SIGEV_THREAD_ID ? (uint32_t)event->thread : 0;
    if (event->notify != SIGEV_NONE && (event->signal < 1 || event->signal > SIGNALS_COUNT))
        return false;
    if (event->notify == SIGEV_THREAD_ID)
        return threads_find(c->kernel, timer->thread);
    return event->notify == SIGEV_NONE || event->notify == SIGEV_SIGNAL || event->notify == SIGEV_THREAD;
}

/* The clock of a process or thread, which the number names (see read_owned_clock, time.c): its own ones. */
static int64_t take_owned_clock(const struct call *c, struct timer *timer)
{
    enum { KIND = 3, OF_THREAD = 4, OF_DEVICE = 3 };
    const int clock = (int)c->arg[0];
    const uint32_t owner = (uint32_t) ~(clock >> 3);
    if (clock < 0 && (clock & (KIND | OF_THREAD)) == OF_DEVICE)
        return -EOPNOTSUPP;
    if (clock >= 0 || (clock & KIND) == KIND)
        return -EINVAL;
    timer->counts = clock & OF_THREAD ? TIMER_THREAD : TIMER_PROCESS;
    timer->owner = clock & OF_THREAD ? (owner ? owner : c->kernel->current->tid) : 0;
    if (clock & OF_THREAD)
        return threads_find(c->kernel, timer->owner) ? 0 : -EINVAL;
    return owner == 0 || owner == c->kernel->pid ? 0 : -EINVAL;
}

static int64_t take_clock(struct call *c, struct timer *timer)
{
    switch ((int)c->arg[0]) {
    case CLOCK_REALTIME:
        timer->real = true;
        return 0;
    case CLOCK_MONOTONIC:
    case CLOCK_BOOTTIME:
    case CLOCK_TAI:
        timer->real = (int)c->arg[0] == CLOCK_TAI;
        return 0;
    case CLOCK_PROCESS_CPUTIME_ID:
        timer->counts = TIMER_PROCESS;
        return 0;
    case CLOCK_THREAD_CPUTIME_ID:
        timer->counts = TIMER_THREAD;
        timer->owner = c->kernel->current->tid;
        return 0;
    case CLOCK_REALTIME_ALARM:
    case CLOCK_BOOTTIME_ALARM:
        return -EPERM;
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_MONOTONIC_COARSE:
        return -EOPNOTSUPP;
    default:
        return take_owned_clock(c, timer);
    }
}

int64_t timers_create(struct call *c)
{
    struct timer made = {.used = true, .due = KERNEL_NEVER};
    struct timer *timer = free_timer(c->kernel, &made.id);
    if (!timer)
        return -EAGAIN;
    int64_t status = take_clock(c, &made);
    if (status == 0 && !timers_take_event(c, &made))
        status = -EINVAL;
    if (status == 0)
        status = guest_write(c, c->arg[2], &made.id, sizeof made.id);
    if (status == 0)
        *timer = made;
    return status;
}

static struct timespec timers_timespec_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / KERNEL_NS), .tv_nsec = (long)(ns % KERNEL_NS)};
}

static void timers_show(struct call *c, const struct timer *timer, struct itimerspec *out)
{
    out->it_interval = timers_timespec_of(timer->interval);
    out->it_value = timers_timespec_of(remaining(c->kernel, timer, c->instructions, 1));
}

int64_t timers_settime(struct call *c)
{
    struct timer *timer = timer_of(c->kernel, (int)c->arg[0]);
    const struct itimerspec *wanted = c->ptr[2];
    uint64_t first, interval;
    if (!timer || !wanted || !kernel_timespec_ns(&first, &wanted->it_value) ||
        !kernel_timespec_ns(&interval, &wanted->it_interval))
        return -EINVAL;
    const uint64_t boot = timer->real ? c->kernel->boot_seconds * KERNEL_NS : 0;
    uint64_t due = clock_now(c->kernel, timer, c->instructions) + first;
    if (c->arg[1] & TIMER_ABSTIME)
        due = first > boot ? first - boot : 0;
    if (c->ptr[3])
        timers_show(c, timer, c->ptr[3]);
    timer->overruns = timer->told = 0;
    arm(c->kernel, timer, first ? due : KERNEL_NEVER, interval);
    return 0;
}

int64_t timers_gettime(struct call *c)
{
    const struct timer *timer = timer_of(c->kernel, (int)c->arg[0]);
    if (!timer)
        return -EINVAL;
    timers_show(c, timer, c->ptr[1]);
    return 0;
}

int64_t timers_overrun(struct call *c)
{
    const struct timer *timer = timer_of(c->kernel, (int)c->arg[0]);
    return timer ? (int64_t)timer->told : -EINVAL;
}

int64_t timers_delete(struct call *c)
{
    struct timer *timer = timer_of(c->kernel, (int)c->arg[0]);
    if (!timer)
        return -EINVAL;
    arm(c->kernel, timer, KERNEL_NEVER, 0);
    timer->used = false;
    return 0;
}
