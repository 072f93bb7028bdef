/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Memory of other processes: process_vm_readv and process_vm_writev.
 *
 * Model
 *   A process is one of the host's, and what its memory holds - pages that it has not touched yet, too - is found in
 *   that process alone. So the caller asks for a piece and waits; the other one reads or writes it when it has the turn
 *   next, whatever its threads do, and the caller asks for the next piece or is done. Its own memory a process serves
 *   at once.
 *   As on Linux the pages of the other process are had as a whole or not at all, in their order; behind the first byte
 *   that cannot be had on either side nothing is transferred, and the call gives what was, or EFAULT.
 *
 * Invariants
 *   A transfer in use belongs to a thread of the asker that waits for it (KERNEL_WAITS_MEMORY), or that makes the call.
 *   The lists of buffers are copied once, as the call begins.
 *
 * Source
 *   Linux 6.1, mm/process_vm_access.c: which error comes first.
 */
#include "syscalls/remote_priv.h"

#include <string.h>
#include <sys/mman.h>

#include "syscalls/kernel_priv.h"

#define TOTAL_MOST 0x7ffff000ull /* bytes of one call, of the caller's own buffers */

static struct remote_transfers *transfers_of(const struct syscalls *kernel) { return &kernel->processes->transfers; }

/* ------------------------------------------------------------------ the buffers */

static int64_t remote_copy_list(struct call *c, struct iovec *out, int *count, uint64_t address, uint64_t wanted)
{
    if (wanted > IOV_MAX)
        return -EINVAL;
    const int64_t status = guest_read(c, out, address, wanted * sizeof *out);
    for (uint64_t i = 0; i < wanted && status == 0; i++)
        if (out[i].iov_len > SSIZE_MAX)
            return -EINVAL;
    *count = (int)wanted;
    return status;
}

/* The caller's own are all where a program can have memory. */
static int64_t add_up(struct remote_transfer *t)
{
    t->total = 0;
    for (int i = 0; i < t->local_count; i++) {
        const struct iovec *local = &t->local[i];
        if (guest_out_of_reach((uintptr_t)local->iov_base, local->iov_len))
            return -EFAULT;
        t->total += local->iov_len < TOTAL_MOST - t->total ? local->iov_len : TOTAL_MOST - t->total;
    }
    return 0;
}

/* What of a list lies behind `skip` bytes, in one piece. */
static struct iovec remote_piece_at(const struct iovec *list, int count, uint64_t skip)
{
    int i = 0;
    while (i < count && skip >= list[i].iov_len)
        skip -= list[i++].iov_len;
    return i < count ? (struct iovec){(char *)list[i].iov_base + skip, list[i].iov_len - skip} : (struct iovec){0};
}

/* To the guest's memory, or from it, as far as that can be had; so many bytes. */
static uint64_t copy_some(struct call *c, uint64_t address, uint8_t *data, uint64_t bytes, bool writes)
{
    uint64_t done = 0;
    int64_t status = 0;
    while (done < bytes && status == 0) {
        const uint64_t at = address + done, in_page = C2_PAGE_BYTES - (at & (C2_PAGE_BYTES - 1));
        const uint64_t part = in_page < bytes - done ? in_page : bytes - done;
        status = writes ? guest_write(c, at, data + done, part) : guest_read(c, data + done, at, part);
        done += status == 0 ? part : 0;
    }
    return done;
}

/* The same for the caller's buffers, from the bytes on that are done. */
static uint64_t copy_local(struct call *c, struct remote_transfer *t, uint64_t bytes, bool writes)
{
    uint64_t done = 0;
    for (bool whole = true; done < bytes && whole;) {
        const struct iovec local = remote_piece_at(t->local, t->local_count, t->done + done);
        const uint64_t part = local.iov_len < bytes - done ? local.iov_len : bytes - done;
        const uint64_t had = copy_some(c, (uintptr_t)local.iov_base, t->data + done, part, writes);
        whole = had == part;
        done += had;
    }
    return done;
}

/* ------------------------------------------------------------------ the process whose memory it is */

/* Linux asks for the right to read, which memory that can only be written has not, though the processor reads it. */
static uint64_t readable_extent(const struct syscalls *kernel, uint64_t address, uint64_t bytes)
{
    uint64_t done = 0;
    while (done < bytes) {
        const struct mmu_area *area = mmu_area_at(mmu_areas(kernel->mmu), (struct guest_va){address + done}, false);
        if (!area || !(area->prot & MMU_READ))
            break;
        done = area->start.v + area->bytes - address;
    }
    return done < bytes ? done : bytes;
}

static void remote_answer(struct call *c, struct remote_transfer *t)
{
    const uint64_t most = t->writes ? t->bytes : readable_extent(c->kernel, t->address, t->bytes);
    t->had = copy_some(c, t->address, t->data, most, t->writes);
    t->state = REMOTE_ANSWERED;
    transfers_of(c->kernel)->asked--;
}

void remote_serve(struct syscalls *kernel)
{
    struct remote_transfers *all = transfers_of(kernel);
    struct syscalls_result result = {.action = SYSCALLS_RETURN};
    struct c2_error err;
    struct call c = {.kernel = kernel, .result = &result, .err = &err};
    for (int i = 0; i < REMOTE_TRANSFERS && all->asked > 0; i++) {
        if (all->list[i].state != REMOTE_ASKED || all->list[i].of != kernel->pid)
            continue;
        remote_answer(&c, &all->list[i]);
        kernel->processes->events++;
    }
}

/* ------------------------------------------------------------------ the process that asks */

static void remote_end(struct syscalls *kernel, struct remote_transfer *t)
{
    transfers_of(kernel)->asked -= t->state == REMOTE_ASKED;
    t->state = REMOTE_FREE;
    kernel->processes->events++; /* one may wait for it */
}

void remote_forget(struct syscalls *kernel)
{
    struct remote_transfers *all = transfers_of(kernel);
    for (uint32_t i = 0; i < all->reached; i++)
        if (all->list[i].state != REMOTE_FREE && all->list[i].asker == kernel->pid)
            remote_end(kernel, &all->list[i]);
}

static struct remote_transfer *remote_find_free(const struct syscalls *kernel)
{
    struct remote_transfers *all = transfers_of(kernel);
    for (int i = 0; i < REMOTE_TRANSFERS; i++)
        if (all->list[i].state == REMOTE_FREE)
            return &all->list[i];
    return NULL;
}

bool remote_is_answered(const struct syscalls *kernel, const struct kernel_wait *wait)
{
    if (wait->word == 0)
        return remote_find_free(kernel);
    const struct remote_transfer *t = &transfers_of(kernel)->list[wait->word - 1];
    return t->state == REMOTE_ANSWERED || processes_has_ended(kernel, t->of);
}

/* t: that is waited for; NULL: for any that is free. */
static int64_t remote_wait(struct call *c, const struct remote_transfer *t)
{
    return call_wait(c, (struct kernel_wait){.kind = KERNEL_WAITS_MEMORY,
                                             .deadline = KERNEL_NEVER,
                                             .word = t ? (uint64_t)(t - transfers_of(c->kernel)->list) + 1 : 0,
                                             .why = "the process whose memory it is never has its turn"});
}

static int64_t remote_finish(struct call *c, struct remote_transfer *t, int64_t error)
{
    const int64_t value = t->done > 0 ? (int64_t)t->done : error;
    remote_end(c->kernel, t);
    return value;
}

/* Asks for the next piece; false: there is none. */
static bool remote_ask(struct call *c, struct remote_transfer *t)
{
    const struct iovec remote = remote_piece_at(t->remote, t->remote_count, t->done);
    const uint64_t left = t->total - t->done, most = left < REMOTE_BYTES ? left : REMOTE_BYTES;
    const uint64_t bytes = remote.iov_len < most ? remote.iov_len : most;
    t->address = (uintptr_t)remote.iov_base;
    t->bytes = t->writes ? copy_local(c, t, bytes, false) : bytes;
    t->cut = t->bytes < bytes;
    if (t->bytes == 0)
        return false;
    struct remote_transfers *all = transfers_of(c->kernel);
    const uint32_t number = (uint32_t)(t - all->list) + 1;
    t->state = REMOTE_ASKED;
    all->reached = number > all->reached ? number : all->reached;
    all->asked++;
    c->kernel->processes->events++;
    return true;
}

/* What was asked for has come; false: nothing behind it will. */
static bool remote_take(struct call *c, struct remote_transfer *t)
{
    const uint64_t had = t->writes ? t->had : copy_local(c, t, t->had, true);
    t->done += had;
    return had == t->bytes && !t->cut;
}

static int64_t remote_go_on(struct call *c, struct remote_transfer *t)
{
    while (t->state != REMOTE_ANSWERED || remote_take(c, t)) {
        if (!remote_ask(c, t))
            return remote_finish(c, t, t->cut ? -EFAULT : 0);
        if (t->of != c->kernel->pid)
            return remote_wait(c, t);
        remote_answer(c, t);
    }
    return remote_finish(c, t, -EFAULT);
}

/* ------------------------------------------------------------------ the calls */

/* The process that a thread's number means, if this one may look into it. */
static int64_t find_other(struct call *c, uint32_t *out)
{
    const uint32_t number = (uint32_t)c->arg[0];
    const struct process *process = processes_of_thread(c->kernel, number);
    if (number == IDENTITY_PARENT)
        return -EPERM;
    if (!process || process->state != PROCESS_RUNS)
        return -ESRCH;
    *out = process->pid;
    return process->undumpable && process != c->kernel->self ? -EPERM : 0;
}

static bool has_bytes_there(const struct remote_transfer *t)
{
    return remote_piece_at(t->remote, t->remote_count, 0).iov_len > 0;
}

static int64_t remote_begin(struct call *c, struct remote_transfer *t, bool writes)
{
    int64_t status = remote_copy_list(c, t->local, &t->local_count, c->arg[1], c->arg[2]);
    if (status == 0)
        status = add_up(t);
    if (status < 0 || t->total == 0)
        return status;
    status = remote_copy_list(c, t->remote, &t->remote_count, c->arg[3], c->arg[4]);
    if (status < 0 || !has_bytes_there(t))
        return status;
    status = find_other(c, &t->of);
    t->asker = c->kernel->pid;
    t->writes = writes;
    t->done = 0;
    return status < 0 ? status : remote_go_on(c, t);
}

static int64_t remote_call(struct call *c, bool writes)
{
    const uint64_t waited = c->again ? c->waited->word : 0;
    struct remote_transfer *t = waited ? &transfers_of(c->kernel)->list[waited - 1] : remote_find_free(c->kernel);
    if (c->arg[5] != 0)
        return -EINVAL;
    if (!t)
        return remote_wait(c, NULL);
    if (!waited)
        return remote_begin(c, t, writes);
    return t->state == REMOTE_ANSWERED ? remote_go_on(c, t) : remote_finish(c, t, -ESRCH);
}

int64_t remote_read(struct call *c) { return remote_call(c, false); }

int64_t remote_write(struct call *c) { return remote_call(c, true); }

/* ------------------------------------------------------------------ advice */

/* As madvise of one piece after the other, up to one that is refused. */
static int64_t advise_all(struct call *c, const struct iovec *list, int count)
{
    const uint64_t advice = c->arg[3];
    int64_t done = 0, status = 0;
    for (int i = 0; i < count && status == 0; i++) {
        c->arg[0] = (uintptr_t)list[i].iov_base;
        c->arg[1] = list[i].iov_len;
        c->arg[2] = advice;
        status = memory_advise(c);
        done += status == 0 ? (int64_t)list[i].iov_len : 0;
    }
    return done > 0 ? done : status;
}

int64_t remote_advise(struct call *c)
{
    const struct fd_entry *entry;
    struct iovec list[IOV_MAX];
    int count = 0;
    if (c->arg[4] != 0)
        return -EINVAL;
    int64_t status = remote_copy_list(c, list, &count, c->arg[1], c->arg[2]);
    for (int i = 0; i < count && status == 0; i++)
        status = guest_out_of_reach((uintptr_t)list[i].iov_base, list[i].iov_len) ? -EFAULT : 0;
    if (status < 0)
        return status;
    entry = fds_at(c->kernel, c->arg[0]);
    if (!entry || entry->kind != FD_PROCESS)
        return -EBADF;
    const uint32_t process = pidfds_process(c->kernel, c->arg[0]);
    if (process != IDENTITY_PARENT && !views_find(c->kernel, process))
        return -ESRCH;
    if (process == c->kernel->pid)
        return advise_all(c, list, count);
    return c->arg[3] == MADV_COLD || c->arg[3] == MADV_PAGEOUT || c->arg[3] == MADV_WILLNEED ? -EPERM : -EINVAL;
}
