/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Times of files.
 *
 * Model
 *   A file of the host is an input, and so are its times. What the run itself makes, writes or changes has the guest's
 *   clock of that moment instead of the host's: each of a file's four times is by itself the host's or the run's own. A
 *   time that utimensat(2) gives is kept by the host as it is given. The time of access goes on with reads as with
 *   relatime. An inode made anew has no time of one before it with its number.
 *   The guest's clock begins in 2020, and most files of the host are newer. As make and the like compare both kinds,
 *   what the run changes must be newer than what it was made from: when the guest asks for a name (stat) and finds a
 *   file that is ahead of its clock, times of changes from then on are as far ahead as that file was. A clock that
 *   begins behind all files (--clock) never needs that.
 *   Processes of the run share what is known (inodes.c). A descriptor holds its file's numbers, so that a write needs
 *   no further call of the host.
 *
 * Invariants
 *   What a later event gives is never before what an earlier one gave.
 *   The same run shows the same times of what it changed, however the host's clock goes.
 *
 * Not modelled
 *   What the guest reads and never changes has the host's time of access, which may go on. Stores to a shared mapping:
 *   the file has the time of the mapping. Of a file that others change meanwhile, the run's own times are shown. Behind
 *   a million files the times are the host's.
 */
#include "syscalls/filetimes_priv.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "checkpoint/checkpoint.h"
#include "syscalls/kernel_priv.h"
#include "syscalls/paths_priv.h"

enum { KINDS = 4 };
#define DAY_NS (86400 * KERNEL_NS)

/* Of an inode, and, in the first place of the list, which no inode has, of the run. */
struct own_times {
    uint64_t ns[KINDS]; /* since the guest's boot, in the order of the bits; of the run: [0] how far they are ahead */
    uint32_t set;       /* a bit each: it is the run's own, not the host's */
};

static struct own_times *own_at(const struct syscalls *kernel, uint32_t at)
{
    return inodes_at(kernel->attributes.times, at);
}

static uint64_t *ahead(const struct syscalls *kernel) { return &own_at(kernel, 0)->ns[0]; }

static uint64_t filetimes_clock(const struct syscalls *kernel)
{
    return syscalls_time_ns(kernel, kernel->instructions) + *ahead(kernel);
}

enum c2_status filetimes_create(struct syscalls *kernel, struct c2_error *err)
{
    const enum c2_status status = inodes_create(&kernel->attributes.times, sizeof(struct own_times), "times of files",
                                                err);
    if (status != C2_OK)
        return status;
    clock_gettime(CLOCK_REALTIME, &kernel->attributes.host_start);
    return inodes_add(kernel->attributes.times, UINT64_MAX, UINT64_MAX) == 0 ? C2_OK
                                                                             : c2_fail_memory(err, "times of files");
}

/* ------------------------------------------------------------------ events */

static void set_times_at(struct syscalls *kernel, uint32_t at, unsigned which)
{
    struct own_times *own = own_at(kernel, at);
    const uint64_t now = filetimes_clock(kernel);
    for (unsigned kind = 0; kind < KINDS; kind++)
        if (which >> kind & 1)
            own->ns[kind] = now;
    own->set |= which;
}

void filetimes_now(struct syscalls *kernel, const struct stat *st, unsigned which)
{
    const uint32_t at = inodes_add(kernel->attributes.times, st->st_dev, st->st_ino);
    if (at != INODES_NONE)
        set_times_at(kernel, at, which);
}

void filetimes_now_open(struct syscalls *kernel, int host, unsigned which)
{
    struct stat st;
    if (fstat(host, &st) == 0)
        filetimes_now(kernel, &st, which);
}

void filetimes_now_at(struct syscalls *kernel, const struct paths_place *p, int flags, unsigned which)
{
    struct stat st;
    if (fstatat(p->dirfd, p->path, &st, flags) == 0)
        filetimes_now(kernel, &st, which);
}

void filetimes_now_around(struct syscalls *kernel, const struct paths_place *p)
{
    char directory[PATH_MAX];
    struct stat st;
    strcpy(directory, p->text);
    while (directory[0] != '\0' && directory[strlen(directory) - 1] == '/')
        directory[strlen(directory) - 1] = '\0';
    char *slash = strrchr(directory, '/');
    if (!slash)
        return;
    slash[slash == directory] = '\0';
    if (stat(directory, &st) == 0)
        filetimes_now(kernel, &st, FILETIMES_WRITTEN);
}

void filetimes_know(struct fd_entry *entry, const struct stat *st)
{
    struct stat own;
    if (!st && fstat(entry->host, &own) == 0)
        st = &own;
    entry->device = st && S_ISREG(st->st_mode) ? st->st_dev : 0;
    entry->inode = st && S_ISREG(st->st_mode) ? st->st_ino : 0;
}

void filetimes_wrote(struct syscalls *kernel, const struct fd_entry *entry)
{
    const uint32_t at = entry->inode ? inodes_add(kernel->attributes.times, entry->device, entry->inode) : INODES_NONE;
    if (at != INODES_NONE)
        set_times_at(kernel, at, FILETIMES_WRITTEN);
}

/* relatime: where it is no newer than a change, or a day old. */
void filetimes_read(struct syscalls *kernel, const struct fd_entry *entry)
{
    const uint32_t at = entry->inode ? inodes_find(kernel->attributes.times, entry->device, entry->inode) : INODES_NONE;
    if (at == INODES_NONE)
        return;
    const struct own_times *own = own_at(kernel, at);
    const bool fresh = own->set & FILETIMES_ACCESS && own->ns[0] > own->ns[2] &&
                       (!(own->set & FILETIMES_WRITE) || own->ns[0] > own->ns[1]) &&
                       filetimes_clock(kernel) - own->ns[0] < DAY_NS;
    if (!fresh)
        set_times_at(kernel, at, FILETIMES_ACCESS);
}

void filetimes_given(struct syscalls *kernel, const struct stat *st, const struct timespec times[2])
{
    unsigned now = FILETIMES_CHANGE, given = 0;
    for (unsigned kind = 0; kind < 2; kind++) {
        if (!times || times[kind].tv_nsec == UTIME_NOW)
            now |= 1u << kind;
        else if (times[kind].tv_nsec != UTIME_OMIT)
            given |= 1u << kind;
    }
    if (now == FILETIMES_CHANGE && given == 0)
        return;
    const uint32_t at = inodes_add(kernel->attributes.times, st->st_dev, st->st_ino);
    if (at == INODES_NONE)
        return;
    set_times_at(kernel, at, now);
    own_at(kernel, at)->set &= ~given;
}

/* ------------------------------------------------------------------ what the guest is shown */

static struct timespec own_moment(const struct syscalls *kernel, uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(kernel->boot_seconds + ns / KERNEL_NS),
                             .tv_nsec = (long)(ns % KERNEL_NS)};
}

/* NULL: nothing of it is the run's own. */
static const struct own_times *find_own(const struct syscalls *kernel, uint64_t device, uint64_t inode)
{
    const uint32_t at = inodes_find(kernel->attributes.times, device, inode);
    return at == INODES_NONE ? NULL : own_at(kernel, at);
}

void filetimes_show(const struct syscalls *kernel, uint64_t device, uint64_t inode, struct stat *st)
{
    const struct own_times *own = find_own(kernel, device, inode);
    struct timespec *const shown[] = {&st->st_atim, &st->st_mtim, &st->st_ctim};
    for (unsigned kind = 0; own && kind < sizeof shown / sizeof shown[0]; kind++)
        if (own->set >> kind & 1)
            *shown[kind] = own_moment(kernel, own->ns[kind]);
}

void filetimes_show_extended(const struct syscalls *kernel, uint64_t device, uint64_t inode, struct statx *st)
{
    const struct own_times *own = find_own(kernel, device, inode);
    struct statx_timestamp *const shown[] = {&st->stx_atime, &st->stx_mtime, &st->stx_ctime, &st->stx_btime};
    for (unsigned kind = 0; own && kind < KINDS; kind++) {
        if (!(own->set >> kind & 1) || (1u << kind == FILETIMES_BIRTH && !(st->stx_mask & STATX_BTIME)))
            continue;
        const struct timespec moment = own_moment(kernel, own->ns[kind]);
        *shown[kind] = (struct statx_timestamp){.tv_sec = moment.tv_sec, .tv_nsec = (uint32_t)moment.tv_nsec};
    }
}

static bool is_before(const struct timespec *one, const struct timespec *other)
{
    return one->tv_sec < other->tv_sec || (one->tv_sec == other->tv_sec && one->tv_nsec < other->tv_nsec);
}

/* A file that has changed since the run began is no input: by others, or by the guest in a way that is not seen. */
void filetimes_looked(struct syscalls *kernel, unsigned mode, uint64_t device, uint64_t inode,
                      const struct timespec *written)
{
    const uint64_t seconds = (uint64_t)written->tv_sec;
    if (!S_ISREG(mode) || written->tv_sec < 0 || seconds < kernel->boot_seconds ||
        is_before(&kernel->attributes.host_start, written))
        return;
    const struct own_times *own = find_own(kernel, device, inode);
    const uint64_t ns = (seconds - kernel->boot_seconds) * KERNEL_NS + (uint64_t)written->tv_nsec;
    const uint64_t now = filetimes_clock(kernel);
    if (!(own && own->set & FILETIMES_WRITE) && ns >= now)
        *ahead(kernel) += ns - now + 1;
}

/* ------------------------------------------------------------------ checkpoints */

void filetimes_checkpoint(struct syscalls *kernel, struct checkpoint *c)
{
    struct inodes *times = kernel->attributes.times;
    inodes_checkpoint(times, c);
    if (inodes_count(times) == 0)
        checkpoint_damaged(c, "no times of files");
    for (uint32_t i = 0; i < inodes_count(times) && checkpoint_status(c, NULL) == C2_OK; i++) {
        struct own_times *own = own_at(kernel, i);
        for (unsigned kind = 0; kind < KINDS; kind++)
            checkpoint_number(c, &own->ns[kind], CHECKPOINT_ANY);
        CHECKPOINT_NUMBER(c, own->set, FILETIMES_MADE);
    }
}
