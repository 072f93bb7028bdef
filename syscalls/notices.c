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
 *   Owners that are groups or threads. F_SETSIG of one descriptor is not that of its copies. What comes from outside of
 *   the run is noticed at the next call. truncate of a file with a lease waits in the host, as long as that lets it.
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

static int64_t set_owner(struct syscalls *kernel, const struct fd_entry *entry, int pid)
{
    if (pid == 0)
        return fcntl(entry->host, F_SETOWN, 0) < 0 ? -errno : 0;
    const struct process *process = pid > 0 ? views_find(kernel, (uint32_t)pid) : NULL;
    if (pid < 0)
        return -EINVAL;
    if (!process || process->state != PROCESS_RUNS)
        return -ESRCH;
    kernel->processes->notices = true;
    return set_host_owner(entry->host, process->host);
}

static int64_t notices_owner_of(const struct syscalls *kernel, const struct fd_entry *entry)
{
    const int host = fcntl(entry->host, F_GETOWN);
    return host < 0 ? -errno : (int64_t)processes_number(kernel, host);
}

static int64_t set_owner_extended(struct call *c, const struct fd_entry *entry)
{
    struct f_owner_ex owner;
    const int64_t status = guest_read(c, &owner, c->arg[2], sizeof owner);
    if (status < 0)
        return status;
    return (int)owner.type == F_OWNER_PID && owner.pid >= 0 ? set_owner(c->kernel, entry, owner.pid) : -EINVAL;
}

static int64_t owner_extended(struct call *c, const struct fd_entry *entry)
{
    const int64_t pid = notices_owner_of(c->kernel, entry);
    const struct f_owner_ex owner = {.type = F_OWNER_PID, .pid = (pid_t)pid};
    return pid < 0 ? pid : guest_write(c, c->arg[2], &owner, sizeof owner);
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
        *value = set_owner(c->kernel, entry, (int)c->arg[2]);
        return true;
    case F_GETOWN:
        *value = notices_owner_of(c->kernel, entry);
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
    signals_raise(kernel, NULL, &info);
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
