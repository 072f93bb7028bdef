/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Descriptors of processes.
 *
 * Model
 *   A pollable proxy (pollable proxy.c) that is lit when the process has ended: waited for by then, or not. Numbers of
 *   processes are not used again, so a number is what it keeps.
 *
 * Not modelled
 *   Descriptors of another process (pidfd_getfd: refused.c).
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "syscalls/kernel_priv.h"
#include "syscalls/pollable_priv.h"

uint32_t pidfds_process(struct syscalls *kernel, uint64_t fd)
{
    const struct fd_entry *entry = fds_at(kernel, fd);
    return entry && entry->kind == FD_PROCESS ? entry->pollable->process : 0;
}

bool pidfds_waits(struct syscalls *kernel, uint64_t fd)
{
    return !(fcntl(fds_at(kernel, fd)->host, F_GETFL) & O_NONBLOCK);
}

int64_t pidfds_add(struct syscalls *kernel, uint32_t process, int flags)
{
    const struct fd_pollable made = {.due = LAMPS_NEVER, .process = process};
    return pollable_add(kernel, FD_PROCESS, &made, (flags & O_NONBLOCK) | O_CLOEXEC);
}

/* Of a thread that is not the first of its process. */
static bool is_thread(const struct syscalls *kernel, uint32_t number)
{
    for (const struct process *at = views_next(kernel, 0); at; at = views_next(kernel, at->pid + 1))
        if (views_thread(views_of(kernel, at), number))
            return true;
    return threads_find(kernel, number);
}

int64_t pidfds_open(struct call *c)
{
    const int process = (int)c->arg[0];
    if (c->arg[1] & ~(uint64_t)O_NONBLOCK || process <= 0)
        return -EINVAL;
    if (process != IDENTITY_PARENT && !views_find(c->kernel, (uint32_t)process))
        return is_thread(c->kernel, (uint32_t)process) ? -EINVAL : -ESRCH;
    return pidfds_add(c->kernel, (uint32_t)process, (int)c->arg[1]);
}

/* A descriptor of /proc/PID serves as well. */
static uint32_t pidfds_receiver(struct syscalls *kernel, uint64_t fd)
{
    const struct fd_entry *entry = fds_at(kernel, fd);
    const uint32_t process = pidfds_process(kernel, fd);
    uint32_t number;
    char rest;
    if (process == 0 && entry->kind == FD_SYNTHETIC && sscanf(entry->path, "/proc/%u%c", &number, &rest) == 1)
        return number;
    return process;
}

/* What sigqueue may say of itself. */
static int64_t read_info(struct call *c, struct signals_info *info, bool own)
{
    int64_t status = guest_read(c, info, c->arg[2], sizeof *info);
    if (status < 0)
        return status;
    if (info->signal != (int)c->arg[1])
        return -EINVAL;
    return !own && (info->code >= 0 || info->code == SI_TKILL) ? -EPERM : 0;
}

int64_t pidfds_send_signal(struct call *c)
{
    struct signals_info info = {.signal = (int)c->arg[1], .code = SI_USER};
    const uint32_t process = pidfds_receiver(c->kernel, c->arg[0]);
    info.sender.pid = (int32_t)c->kernel->pid;
    info.sender.uid = IDENTITY_USER;
    if (c->arg[3] != 0)
        return -EINVAL;
    if (!process)
        return -EBADF;
    int64_t status = c->arg[2] ? read_info(c, &info, process == c->kernel->pid) : 0;
    return status < 0 ? status : processes_send(c, (int)process, &info);
}
