/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * /proc/sysvipc: the run's segments, sets and queues, as ipcs shows them.
 */
#include <stdio.h>

#include "syscalls/kernel_priv.h"
#include "syscalls/paths_priv.h"

typedef unsigned long long ull;

/* What all lines begin with, and the four owners. */
struct shown {
    struct ipc_perm perm;
    int id;
};

static struct shown shown_of(const struct ipc_object *object)
{
    struct shown shown = {.id = object->id};
    ipc_show(object, &shown.perm);
    return shown;
}

static void ipc_lists_begin(int to, const struct shown *shown)
{
    dprintf(to, "%10d %10d  %4o", shown->perm.__key, shown->id, shown->perm.mode & 07777);
}

static void owners(int to, const struct shown *shown)
{
    const struct ipc_perm *perm = &shown->perm;
    dprintf(to, " %5u %5u %5u %5u", perm->uid, perm->gid, perm->cuid, perm->cgid);
}

static void segment(int to, const struct ipc_segment *segment)
{
    const struct shown shown = shown_of(&segment->object);
    ipc_lists_begin(to, &shown);
    dprintf(to, " %21llu %5u %5u  %5u", (ull)segment->bytes, segment->creator, segment->last, segment->attached);
    owners(to, &shown);
    dprintf(to, " %10llu %10llu %10llu %21llu %21llu\n", (ull)segment->attach_time, (ull)segment->detach_time,
            (ull)segment->object.changed, (ull)c2_align_up(segment->bytes, C2_PAGE_BYTES), (ull)0);
}

void ipc_list_segments(const struct content_of *of, int to)
{
    const struct ipc *ipc = of->kernel->ipc.shared;
    dprintf(to, "       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  cgid      "
                "atime      dtime      ctime                   rss                  swap\n");
    for (uint32_t i = 0; ipc && i < ipc->used[IPC_KIND_SEGMENT]; i++)
        if (ipc->segments[i].object.used)
            segment(to, &ipc->segments[i]);
}

void ipc_list_sets(const struct content_of *of, int to)
{
    const struct ipc *ipc = of->kernel->ipc.shared;
    dprintf(to, "       key      semid perms      nsems   uid   gid  cuid  cgid      otime      ctime\n");
    for (uint32_t i = 0; ipc && i < ipc->used[IPC_KIND_SET]; i++) {
        const struct ipc_set *set = &ipc->sets[i];
        const struct shown shown = shown_of(&set->object);
        if (!set->object.used)
            continue;
        ipc_lists_begin(to, &shown);
        dprintf(to, " %10u", set->count);
        owners(to, &shown);
        dprintf(to, " %10llu %10llu\n", (ull)set->operated, (ull)set->object.changed);
    }
}

void ipc_list_queues(const struct content_of *of, int to)
{
    const struct ipc *ipc = of->kernel->ipc.shared;
    dprintf(to,
            "       key      msqid perms      cbytes       qnum lspid lrpid   uid   gid  cuid  cgid      stime      "
            "rtime      ctime\n");
    for (uint32_t i = 0; ipc && i < ipc->used[IPC_KIND_QUEUE]; i++) {
        const struct ipc_queue *queue = &ipc->queues[i];
        const struct shown shown = shown_of(&queue->object);
        if (!queue->object.used)
            continue;
        ipc_lists_begin(to, &shown);
        dprintf(to, "  %10llu  %10u %5u %5u", (ull)queue->bytes, queue->count, queue->last_sender,
                queue->last_receiver);
        owners(to, &shown);
        dprintf(to, " %10llu %10llu %10llu\n", (ull)queue->sent, (ull)queue->received, (ull)queue->object.changed);
    }
}
