/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * kcmp: whether two processes have a thing in common.
 *
 * Model
 *   Of what the threads of a process share all is the same; two processes share nothing but open files, which are known
 *   by the number of their description, memory by CLONE_VM, and semaphores to undo and priorities of input and output
 *   if neither has any. Of another process the files are those at the end of its last turn. What differs has no order
 *   (3): Linux's would be that of its addresses.
 *
 * Not modelled
 *   A file that came over a socket counts as another one than the sender's. Of another process more than
 *   PROCESSES_FILES descriptors. KCMP_EPOLL_TFD.
 */
#include <linux/kcmp.h>

#include "syscalls/kernel_priv.h"

enum { SAME = 0, NO_ORDER = 3 };

/* The description of a process's descriptor; 0: it is none. -ENOSYS: it is not known. */
static int64_t description_of(struct call *c, const struct process *process, uint64_t fd, uint64_t *out)
{
    const struct fd_entry *entry = process == c->kernel->self ? fds_at(c->kernel, fd) : NULL;
    if (process != c->kernel->self && fd >= PROCESSES_FILES)
        return call_complain(c, "would compare descriptors of another process, of which the first ones are known");
    *out = process != c->kernel->self ? views_of(c->kernel, process)->files[fd] : entry ? entry->description : 0;
    return 0;
}

static int64_t compare_files(struct call *c, const struct process *process[2])
{
    uint64_t file[2];
    for (int i = 0; i < 2; i++) {
        const int64_t status = description_of(c, process[i], c->arg[3 + i], &file[i]);
        if (status < 0)
            return status;
    }
    return file[0] == 0 || file[1] == 0 ? -EBADF : file[0] == file[1] ? SAME : NO_ORDER;
}

int64_t compare_processes(struct call *c)
{
    const struct process *process[2];
    for (int i = 0; i < 2; i++) {
        process[i] = processes_of_thread(c->kernel, (uint32_t)c->arg[i]);
        if (!process[i])
            return (int)c->arg[i] == IDENTITY_PARENT ? -EPERM : -ESRCH;
    }
    switch ((int)c->arg[2]) {
    case KCMP_FILE:
        return compare_files(c, process);
    case KCMP_VM:
        return process[0] == process[1] || (process[0]->memory != 0 && process[0]->memory == process[1]->memory)
                   ? SAME
                   : NO_ORDER;
    case KCMP_FILES:
    case KCMP_FS:
    case KCMP_SIGHAND:
        return process[0] == process[1] ? SAME : NO_ORDER;
    case KCMP_IO: /* nothing is the same as nothing, here and below */
        return process[0] == process[1] ||
                       !(priorities_of(c->kernel, process[0]->pid).io || priorities_of(c->kernel, process[1]->pid).io)
                   ? SAME
                   : NO_ORDER;
    case KCMP_SYSVSEM:
        return process[0] == process[1] ||
                       !(ipc_undoes(c->kernel, process[0]->pid) || ipc_undoes(c->kernel, process[1]->pid))
                   ? SAME
                   : NO_ORDER;
    case KCMP_EPOLL_TFD:
        return call_complain(c, "would compare what a set of descriptors watches");
    default:
        return -EINVAL;
    }
}
