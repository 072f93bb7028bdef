/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Shared memory: shmget, shmat, shmdt, shmctl.
 *
 * Model
 *   A segment is a part of the file that all processes of the run have (ipc.c), mapped as a file is. One that was
 *   removed goes with the process that has it attached last.
 *
 * Not modelled
 *   munmap of what is attached does not detach it: the end of the process does. Huge pages (SHM_HUGETLB) are EPERM.
 *   Locked segments are as any other.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "syscalls/ipc_priv.h"
#include "syscalls/kernel_priv.h"

/* ------------------------------------------------------------------ making */

static uint64_t ipc_memory_pages_of(uint64_t bytes) { return c2_align_up(bytes, C2_PAGE_BYTES); }

static int64_t ipc_memory_make(struct call *c, int32_t key, uint64_t bytes, int flags)
{
    struct ipc *ipc = c->kernel->ipc.shared;
    struct ipc_segment *segment;
    if (bytes == 0 || bytes > INT64_MAX)
        return -EINVAL;
    if (flags & SHM_HUGETLB)
        return -EPERM;
    if (bytes > c->kernel->physical_bytes)
        return -ENOMEM;
    if (ftruncate(c->kernel->ipc.memory, (off_t)(ipc->offset + ipc_memory_pages_of(bytes))) < 0)
        return -ENOMEM;
    const int64_t id = ipc_make(c, IPC_KIND_SEGMENT, key, flags, &segment);
    if (id < 0)
        return id;
    segment->bytes = bytes;
    segment->offset = ipc->offset;
    segment->creator = c->kernel->pid;
    ipc->offset += ipc_memory_pages_of(bytes);
    return id;
}

int64_t ipc_memory_get(struct call *c)
{
    const int32_t key = (int32_t)c->arg[0];
    const int flags = (int)c->arg[2];
    struct ipc_object *object;
    int64_t id = ipc_get(c, IPC_KIND_SEGMENT, key, flags, &object);
    if (id < 0)
        return id;
    if (!object)
        return ipc_memory_make(c, key, c->arg[1], flags);
    if (c->arg[1] > ((struct ipc_segment *)object)->bytes)
        return -EINVAL;
    const int64_t status = ipc_allows(object, flags & 0777);
    return status < 0 ? status : id;
}

/* ------------------------------------------------------------------ attaching */

/* Where the guest wants it, 0: anywhere. */
static int64_t ipc_memory_place_of(const struct call *c, uint64_t *address)
{
    const int flags = (int)c->arg[2];
    *address = c->arg[1];
    if (*address % C2_PAGE_BYTES != 0 && !(flags & SHM_RND))
        return -EINVAL;
    *address = c2_align_down(*address, C2_PAGE_BYTES);
    return *address == 0 && flags & SHM_REMAP ? -EINVAL : 0;
}

static int64_t ipc_memory_map(struct call *c, const struct ipc_segment *segment, uint64_t address)
{
    const int flags = (int)c->arg[2];
    char path[32];
    snprintf(path, sizeof path, "/SYSV%08x (deleted)", (unsigned)segment->object.key);
    const struct mmu_request request = {
        .address = address,
        .bytes = ipc_memory_pages_of(segment->bytes),
        .prot = MMU_READ | (flags & SHM_RDONLY ? 0 : MMU_WRITE) | (flags & SHM_EXEC ? MMU_EXEC : 0),
        .fixed = address != 0 && flags & SHM_REMAP,
        .no_replace = address != 0 && !(flags & SHM_REMAP),
        .shared = true,
        .zone = flags & SHM_EXEC ? MMU_ZONE_LOW : MMU_ZONE_HIGH,
        .kind = MMU_FILE,
        .host_fd = c->kernel->ipc.memory,
        .offset = segment->offset,
        .path = path,
    };
    const int64_t status = mmu_map(c->kernel->mmu, &request);
    return status == -EEXIST ? -EINVAL : status;
}

static int64_t attach(struct call *c, struct ipc_segment *segment, uint64_t address)
{
    struct ipc_view *view = &c->kernel->ipc;
    if (!c2_grow((void **)&view->attached, &view->attached_room, view->attached_count + 1, sizeof *view->attached))
        return -ENOMEM;
    const int64_t status = attributes_add(c->kernel, view->memory);
    const int64_t at = status < 0 ? status : ipc_memory_map(c, segment, address);
    if (at < 0)
        return at;
    view->attached[view->attached_count++] = (struct ipc_attached){
        .address = (uint64_t)at,
        .bytes = ipc_memory_pages_of(segment->bytes),
        .segment = (uint32_t)(segment - view->shared->segments),
    };
    segment->attached++;
    segment->last = c->kernel->pid;
    segment->attach_time = ipc_now(c);
    return at;
}

int64_t ipc_memory_attach(struct call *c)
{
    const int flags = (int)c->arg[2];
    uint64_t address;
    if ((int)c->arg[0] < 0)
        return -EINVAL;
    int64_t status = ipc_memory_place_of(c, &address);
    if (status < 0)
        return status;
    struct ipc_segment *segment = ipc_find(c, IPC_KIND_SEGMENT, c->arg[0], false);
    if (!segment)
        return -EINVAL;
    status = ipc_allows(&segment->object, 0444 | (flags & SHM_RDONLY ? 0 : 0222) | (flags & SHM_EXEC ? 0111 : 0));
    return status < 0 ? status : attach(c, segment, address);
}

static void ipc_memory_release(struct syscalls *kernel, struct ipc_segment *segment)
{
    if (!segment->doomed || segment->attached > 0)
        return;
    (void)fallocate(kernel->ipc.memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)segment->offset,
                    (off_t)ipc_memory_pages_of(segment->bytes));
    segment->object.used = false;
}

/* The i-th of those that are attached is no more. */
static void ipc_memory_forget(struct syscalls *kernel, uint32_t i, uint64_t now)
{
    struct ipc_view *view = &kernel->ipc;
    struct ipc_segment *segment = &view->shared->segments[view->attached[i].segment];
    view->attached[i] = view->attached[--view->attached_count];
    segment->attached--;
    segment->last = kernel->pid;
    segment->detach_time = now;
    ipc_memory_release(kernel, segment);
}

int64_t ipc_memory_detach(struct call *c)
{
    const struct ipc_view *view = &c->kernel->ipc;
    for (uint32_t i = 0; i < view->attached_count; i++)
        if (view->attached[i].address == c->arg[0]) {
            const int64_t status = mmu_unmap(c->kernel->mmu, c->arg[0], view->attached[i].bytes);
            if (status == 0)
                ipc_memory_forget(c->kernel, i, ipc_now(c));
            return status;
        }
    return -EINVAL;
}

void ipc_detach_all(struct syscalls *kernel)
{
    const uint64_t now = kernel->boot_seconds + syscalls_time_ns(kernel, kernel->instructions) / KERNEL_NS;
    while (kernel->ipc.attached_count > 0)
        ipc_memory_forget(kernel, kernel->ipc.attached_count - 1, now);
}

/* ------------------------------------------------------------------ shmctl */

static struct shmid_ds ipc_memory_show(const struct ipc_segment *segment)
{
    struct shmid_ds out = {.shm_segsz = segment->bytes,
                           .shm_atime = (time_t)segment->attach_time,
                           .shm_dtime = (time_t)segment->detach_time,
                           .shm_ctime = (time_t)segment->object.changed,
                           .shm_cpid = (pid_t)segment->creator,
                           .shm_lpid = (pid_t)segment->last,
                           .shm_nattch = segment->attached};
    ipc_show(&segment->object, &out.shm_perm);
    return out;
}

static int64_t ipc_memory_tell_limits(struct call *c)
{
    const struct shminfo limits = {.shmmax = ULONG_MAX - (1UL << 24),
                                   .shmmin = 1,
                                   .shmmni = IPC_SEGMENTS,
                                   .shmseg = IPC_SEGMENTS,
                                   .shmall = ULONG_MAX - (1UL << 24)};
    int64_t last;
    ipc_count(c->kernel->ipc.shared, IPC_KIND_SEGMENT, &last);
    const int64_t status = guest_write(c, c->arg[2], &limits, sizeof limits);
    return status < 0 ? status : last;
}

static int64_t tell_use(struct call *c)
{
    const struct ipc *ipc = c->kernel->ipc.shared;
    struct shm_info use = {0};
    struct stat st = {.st_blocks = 0};
    int64_t last;
    use.used_ids = (int)ipc_count(ipc, IPC_KIND_SEGMENT, &last);
    for (uint32_t i = 0; ipc && i < ipc->used[IPC_KIND_SEGMENT]; i++)
        if (ipc->segments[i].object.used)
            use.shm_tot += ipc_memory_pages_of(ipc->segments[i].bytes) / C2_PAGE_BYTES;
    if (ipc && fstat(c->kernel->ipc.memory, &st) == 0)
        use.shm_rss = (unsigned long)st.st_blocks * 512 / C2_PAGE_BYTES;
    const int64_t status = guest_write(c, c->arg[2], &use, sizeof use);
    return status < 0 ? status : last;
}

static int64_t ipc_memory_tell(struct call *c, const struct ipc_segment *segment, int command)
{
    const struct shmid_ds out = ipc_memory_show(segment);
    int64_t status = command == SHM_STAT_ANY ? 0 : ipc_allows(&segment->object, 0444);
    if (status == 0)
        status = guest_write(c, c->arg[2], &out, sizeof out);
    return status < 0 || command == IPC_STAT ? status : segment->object.id;
}

static int64_t ipc_memory_change(struct call *c, struct ipc_segment *segment)
{
    struct shmid_ds to;
    const int64_t status = guest_read(c, &to, c->arg[2], sizeof to);
    return status < 0 ? status : ipc_change(c, &segment->object, &to.shm_perm);
}

static int64_t doom(struct call *c, struct ipc_segment *segment)
{
    segment->doomed = true;
    segment->object.key = IPC_PRIVATE;
    segment->object.mode |= SHM_DEST;
    ipc_memory_release(c->kernel, segment);
    return 0;
}

int64_t ipc_memory_control(struct call *c)
{
    const int command = (int)c->arg[1];
    if ((int)c->arg[0] < 0 || command < 0)
        return -EINVAL;
    if (command == IPC_INFO)
        return ipc_memory_tell_limits(c);
    if (command == SHM_INFO)
        return tell_use(c);
    const bool by_index = command == SHM_STAT || command == SHM_STAT_ANY;
    struct ipc_segment *segment = ipc_find(c, IPC_KIND_SEGMENT, c->arg[0], by_index);
    if (!segment)
        return -EINVAL;
    switch (command) {
    case IPC_STAT:
    case SHM_STAT:
    case SHM_STAT_ANY:
        return ipc_memory_tell(c, segment, command);
    case IPC_SET:
        return ipc_memory_change(c, segment);
    case IPC_RMID:
        return doom(c, segment);
    case SHM_LOCK:
        if (c->kernel->identity.limit[RLIMIT_MEMLOCK].soft == 0)
            return -EPERM;
        segment->object.mode |= SHM_LOCKED;
        return 0;
    case SHM_UNLOCK:
        segment->object.mode &= (uint16_t)~SHM_LOCKED;
        return 0;
    default:
        return -EINVAL;
    }
}
