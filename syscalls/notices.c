/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Signals that tell of descriptors.
 *
 * Model
 *   The host's kernel sees when a pipe or a socket can be read or written, when a file is opened of which there
 *   is a lease, and when files of a directory change (F_NOTIFY). It tells c2emu by a signal of its own, which is
 *   blocked and only looked for: behind each call, and at the beginning of a turn. From there on it is the guest's
 *   signal: SIGIO, or what F_SETSIG says. The host queues it within the call that is the cause, so it comes at the
 *   same instruction in every run.
 *
 * Not modelled
 *   F_SETSIG of one descriptor, and an owner that is a group or a thread, are not those of its copies; a group gets
 *   nothing more when the process is gone that has named it. What comes from outside of the run is noticed at the next
 *   call. truncate of a file with a lease waits in the host, as long as that lets it.
 */
#include "syscalls/notices_priv.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "syscalls/kernel_priv.h"

#define HOST_SIGNAL SIGRTMAX

/* What does not fit into the host's queue comes as SIGIO, without a descriptor. */
void notices_create(struct syscalls *kernel)
{
    sigset_t set;
    (void)kernel;
    sigemptyset(&set);
    sigaddset(&set, HOST_SIGNAL);
    sigaddset(&set, SIGIO);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

/* ------------------------------------------------------------------ owners */

/* To the thread that runs the guest: no other one of c2emu's blocks the signal. */
static int64_t set_host_owner(int host, pid_t process)
{
    const struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = process};
    if (fcntl(host, F_SETSIG, HOST_SIGNAL) < 0 || fcntl(host, F_SETOWN_EX, &owner) < 0)
        return -errno;
    return 0;
}

/* The process that the host is to send it to: of a group the caller, which passes it on. */
static const struct process *receiver_of(const struct syscalls *kernel, int type, uint32_t number)
{
    const struct process *process = type == F_OWNER_PGRP  ? kernel->self
                                    : type == F_OWNER_TID ? processes_of_thread(kernel, number)
                                                          : views_find(kernel, number);
    if (type == F_OWNER_PGRP && !processes_has_group(kernel, number))
        return NULL;
    return process && process->state == PROCESS_RUNS ? process : NULL;
}

static int64_t set_owner(struct syscalls *kernel, struct fd_entry *entry, int type, int number)
{
    const struct process *process = number > 0 ? receiver_of(kernel, type, (uint32_t)number) : NULL;
    if (number < 0)
        return -EINVAL;
    if (number != 0 && !process)
        return -ESRCH;
    entry->owner_type = (uint8_t)type;
    entry->owner = type == F_OWNER_PID ? 0 : (uint32_t)number;
    if (number == 0)
        return fcntl(entry->host, F_SETOWN, 0) < 0 ? -errno : 0;
    kernel->processes->notices = true;
    return set_host_owner(entry->host, process->host);
}

static int64_t notices_owner_of(const struct syscalls *kernel, const struct fd_entry *entry)
{
    const int host = fcntl(entry->host, F_GETOWN);
    return host < 0 ? -errno : entry->owner ? (int64_t)entry->owner : (int64_t)processes_number(kernel, host);
}

static int64_t set_owner_extended(struct call *c, struct fd_entry *entry)
{
    struct f_owner_ex owner;
    const int64_t status = guest_read(c, &owner, c->arg[2], sizeof owner);
    if (status < 0)
        return status;
    return (unsigned)owner.type <= F_OWNER_PGRP ? set_owner(c->kernel, entry, (int)owner.type, owner.pid) : -EINVAL;
}

static int64_t owner_extended(struct call *c, const struct fd_entry *entry)
{
    const int64_t number = notices_owner_of(c->kernel, entry);
    const struct f_owner_ex owner = {.type = entry->owner ? entry->owner_type : F_OWNER_PID, .pid = (pid_t)number};
    return number < 0 ? number : guest_write(c, c->arg[2], &owner, sizeof owner);
}

/* F_SETOWN: a group is a number below 0, of which the least is none. */
static int64_t set_owner_simply(struct call *c, struct fd_entry *entry)
{
    const int number = (int)c->arg[2];
    if (number == INT32_MIN)
        return -EINVAL;
    return number < 0 ? set_owner(c->kernel, entry, F_OWNER_PGRP, -number)
                      : set_owner(c->kernel, entry, F_OWNER_PID, number);
}

static int64_t owner_simply(const struct syscalls *kernel, const struct fd_entry *entry)
{
    const int64_t number = notices_owner_of(kernel, entry);
    return entry->owner && entry->owner_type == F_OWNER_PGRP ? -number : number;
}

int64_t notices_begin(struct syscalls *kernel, const struct fd_entry *entry)
{
    kernel->processes->notices = true;
    return fcntl(entry->host, F_SETSIG, HOST_SIGNAL) < 0 ? -errno : 0;
}

/* ------------------------------------------------------------------ leases */

/* Its owner is the caller, unless there is one. */
static int64_t begin_own(struct syscalls *kernel, const struct fd_entry *entry)
{
    const int64_t status = notices_begin(kernel, entry);
    return status == 0 && fcntl(entry->host, F_GETOWN) == 0 ? set_host_owner(entry->host, getpid()) : status;
}

static int64_t watch_directory(struct call *c, const struct fd_entry *entry)
{
    const int64_t status = begin_own(c->kernel, entry);
    return status == 0 ? CALL_HOST(c, fcntl(entry->host, F_NOTIFY, c->arg[2])) : status;
}

static int64_t set_lease(struct call *c, const struct fd_entry *entry)
{
    int64_t status = begin_own(c->kernel, entry);
    if (status == 0)
        status = CALL_HOST(c, fcntl(entry->host, F_SETLEASE, (int)c->arg[2]));
    c->kernel->processes->leases |= status == 0;
    threads_wake_locks(c->kernel);
    return status;
}

bool notices_has_leases(const struct syscalls *kernel) { return kernel->processes->leases; }

bool notices_fcntl(struct call *c, struct fd_entry *entry, int command, int64_t *value)
{
    switch (command) {
    case F_SETOWN:
        *value = set_owner_simply(c, entry);
        return true;
    case F_GETOWN:
        *value = owner_simply(c->kernel, entry);
        return true;
    case F_SETOWN_EX:
        *value = set_owner_extended(c, entry);
        return true;
    case F_GETOWN_EX:
        *value = owner_extended(c, entry);
        return true;
    case F_SETSIG:
        *value = c->arg[2] > SIGNALS_COUNT ? -EINVAL : 0;
        entry->signal = *value == 0 ? (uint8_t)c->arg[2] : entry->signal;
        return true;
    case F_GETSIG:
        *value = entry->signal;
        return true;
    case F_NOTIFY:
        *value = watch_directory(c, entry);
        return true;
    case F_SETLEASE:
        *value = set_lease(c, entry);
        return true;
    case F_GETLEASE:
        *value = CALL_HOST(c, fcntl(entry->host, F_GETLEASE));
        return true;
    default:
        return false;
    }
}

/* ------------------------------------------------------------------ what is told */

/* The guest's descriptor of a host's one; the end of the table: none. */
static uint64_t notices_descriptor_of(struct syscalls *kernel, int host)
{
    uint64_t fd = 0;
    while (fd < kernel->fds.end && (kernel->fds.entry[fd].kind == FD_FREE || kernel->fds.entry[fd].host != host))
        fd++;
    return fd;
}

/* Which signal says what only where F_SETSIG names one. */
static void notices_pass_on(struct syscalls *kernel, const siginfo_t *host)
{
    struct signals_info info = {.signal = SIGIO, .code = SI_KERNEL};
    const uint64_t fd = host->si_signo == HOST_SIGNAL ? notices_descriptor_of(kernel, host->si_fd) : FDS_MAX;
    const struct fd_entry *entry = fds_at(kernel, fd);
    if (entry && entry->signal) {
        const int64_t band = host->si_band;
        const int32_t number = (int32_t)fd;
        info.signal = entry->signal;
        info.code = host->si_code;
        memcpy(info.bytes, &band, sizeof band);
        memcpy(info.bytes + sizeof band, &number, sizeof number);
    }
    if (entry && entry->owner && entry->owner_type == F_OWNER_PGRP)
        processes_send_group(kernel, entry->owner, &info);
    else
        signals_raise(kernel, entry && entry->owner ? threads_find(kernel, entry->owner) : NULL, &info);
}

void notices_collect(struct syscalls *kernel)
{
    sigset_t set;
    siginfo_t info;
    if (!kernel->processes->notices)
        return;
    kernel->processes->events++; /* another process may have been told as well */
    sigemptyset(&set);
    sigaddset(&set, HOST_SIGNAL);
    sigaddset(&set, SIGIO);
    while (sigtimedwait(&set, &info, &(struct timespec){0}) > 0)
        notices_pass_on(kernel, &info);
}
