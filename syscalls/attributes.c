/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What stat, statx and statfs say of the host's files when the guest asks.
 *
 * Model
 *   A file of the host is an input: its size, times, inode number and device are shown as they are. Its owner is shown
 *   in the guest's numbers: the user of c2emu is user 1000 and group 1000, as the guest is; a user whose number
 *   on the host is 1000 is nobody (65534); all others keep theirs. So a program finds its own files its own under
 *   every user. Of a directory that is not so: what it shows depends on what else lies in it and beside it. Its number
 *   is the run's own (directories.c), its size, blocks and links are those of a directory that says nothing by them:
 *   one link, as on file systems that do not count directories within, and one block. Times of what the run changes
 *   itself are the run's own (filetimes.c).
 *   Pipes, sockets, memfds and what has no inode of its own (eventfd, epoll) belong to the run: they get numbers in the
 *   order of their making, the moment of it as their times, and one device a kind. Pipes and sockets that c2emu was
 *   started with get them at the start.
 *   A file system is of a fixed size and half full, whatever the host's is.
 *
 * Invariants
 *   The same run shows the same values of its own objects on every host. The numbers of objects are never used again.
 *
 * Not modelled
 *   Times of pipes and sockets go on with reads and writes on Linux; here they stay those of the making.
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "syscalls/directories_priv.h"
#include "syscalls/filetimes_priv.h"
#include "syscalls/kernel_priv.h"

#define NOBODY 65534
enum { DIRECTORY_LINKS = 1, DIRECTORY_BYTES = 4096, SECTOR_BYTES = 512 }; /* st_blocks counts sectors */
#define INHERITED 3 /* standard input, output and error have the first numbers */
enum { PIPES = 13, SOCKETS = 8, MEMFDS = 1, NAMELESS = 14 }; /* minor numbers of devices, as is usual on Linux */

enum c2_status attributes_create(struct attributes *attributes, struct c2_error *err)
{
    attributes->host_user = geteuid();
    attributes->host_group = getegid();
    attributes->count = attributes->room = INHERITED;
    attributes->made = c2_calloc(INHERITED, sizeof *attributes->made);
    if (!attributes->made)
        return c2_fail_memory(err, "the guest's kernel");
    enum c2_status status = c2_map_create(&attributes->objects, err);
    return status == C2_OK ? directories_create(&attributes->directories, err) : status;
}

void attributes_destroy(struct attributes *attributes)
{
    inodes_destroy(attributes->times);
    inodes_destroy(attributes->directories);
    c2_map_destroy(attributes->objects);
    c2_free(attributes->made);
}

/* The inode numbers of such objects have 32 bits: so no file of the host can be taken for one. */
static uint64_t attributes_key_of(uint64_t device, uint64_t inode) { return device << 32 | inode; }

static bool attributes_find(const struct syscalls *kernel, uint64_t device, uint64_t inode, uint64_t *index)
{
    return inode <= UINT32_MAX && device <= UINT32_MAX &&
           c2_map_get(kernel->attributes.objects, attributes_key_of(device, inode), index);
}

/* The key of the object behind a descriptor; positive if there is nothing to add: it is known, or nameless. */
static int64_t attributes_meet(const struct syscalls *kernel, int host, uint64_t *key)
{
    struct stat st;
    uint64_t index;
    if (fstat(host, &st) < 0)
        return -errno;
    *key = attributes_key_of(st.st_dev, st.st_ino);
    return !(st.st_mode & S_IFMT) || attributes_find(kernel, st.st_dev, st.st_ino, &index);
}

static int64_t attributes_keep(struct syscalls *kernel, uint64_t key, uint32_t index)
{
    struct c2_error err;
    return c2_map_put(kernel->attributes.objects, key, index, &err) == C2_OK ? 0 : -ENOMEM;
}

int64_t attributes_add(struct syscalls *kernel, int host)
{
    struct attributes *own = &kernel->attributes;
    uint64_t key;
    int64_t status = attributes_meet(kernel, host, &key);
    if (status != 0)
        return status < 0 ? status : 0;
    if (!c2_grow((void **)&own->made, &own->room, own->count, sizeof *own->made))
        return -ENOMEM;
    own->made[own->count] = syscalls_time_ns(kernel, kernel->instructions);
    return attributes_keep(kernel, key, own->count++);
}

int64_t attributes_inherit(struct syscalls *kernel, int host, int fd)
{
    uint64_t key;
    int64_t status = attributes_meet(kernel, host, &key);
    if (status != 0)
        return status < 0 ? status : 0;
    return attributes_keep(kernel, key, (uint32_t)fd);
}

uint32_t attributes_owner(uint32_t host, uint32_t self)
{
    if (host == self)
        return IDENTITY_USER;
    return host == IDENTITY_USER ? NOBODY : host;
}

/* ------------------------------------------------------------------ the run's own objects */

struct object {
    uint64_t device, inode;
    struct timespec made;
};

static uint64_t device_of(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFIFO:
        return makedev(0, PIPES);
    case S_IFSOCK:
        return makedev(0, SOCKETS);
    case S_IFREG:
        return makedev(0, MEMFDS);
    default:
        return makedev(0, NAMELESS);
    }
}

/* Whether a file with this of the host is one; what has no type has no inode of its own either. */
static bool attributes_object_of(const struct syscalls *kernel, uint64_t device, uint64_t inode, mode_t mode,
                                 struct object *out)
{
    uint64_t index, ns = 0;
    bool nameless = !(mode & S_IFMT);
    if (!nameless && !attributes_find(kernel, device, inode, &index))
        return false;
    if (!nameless)
        ns = kernel->attributes.made[index];
    *out = (struct object){.device = device_of(mode), .inode = nameless ? 1 : index + 1};
    out->made.tv_sec = (time_t)(kernel->boot_seconds + ns / KERNEL_NS);
    out->made.tv_nsec = (long)(ns % KERNEL_NS);
    return true;
}

static int64_t show_directory(const struct syscalls *kernel, struct stat *st)
{
    st->st_ino = directories_number(kernel->attributes.directories, st->st_dev, st->st_ino);
    st->st_nlink = DIRECTORY_LINKS;
    st->st_size = st->st_blksize = DIRECTORY_BYTES;
    st->st_blocks = DIRECTORY_BYTES / SECTOR_BYTES;
    return st->st_ino ? 0 : -ENOMEM;
}

static int64_t show_inode(const struct syscalls *kernel, struct stat *st)
{
    struct object object;
    st->st_uid = attributes_owner(st->st_uid, kernel->attributes.host_user);
    st->st_gid = attributes_owner(st->st_gid, kernel->attributes.host_group);
    if (S_ISDIR(st->st_mode))
        return show_directory(kernel, st);
    if (!attributes_object_of(kernel, st->st_dev, st->st_ino, st->st_mode, &object))
        return 0;
    st->st_dev = object.device;
    st->st_ino = object.inode;
    st->st_atim = st->st_mtim = st->st_ctim = object.made;
    return 0;
}

int64_t attributes_show(const struct syscalls *kernel, struct stat *st)
{
    const uint64_t device = st->st_dev, inode = st->st_ino;
    const int64_t status = show_inode(kernel, st);
    filetimes_show(kernel, device, inode, st);
    return status;
}

static struct statx_timestamp extended(struct timespec time)
{
    return (struct statx_timestamp){.tv_sec = time.tv_sec, .tv_nsec = (uint32_t)time.tv_nsec};
}

static int64_t show_directory_extended(const struct syscalls *kernel, struct statx *st)
{
    st->stx_ino = directories_number(kernel->attributes.directories, makedev(st->stx_dev_major, st->stx_dev_minor),
                                     st->stx_ino);
    st->stx_nlink = DIRECTORY_LINKS;
    st->stx_size = st->stx_blksize = DIRECTORY_BYTES;
    st->stx_blocks = DIRECTORY_BYTES / SECTOR_BYTES;
    return st->stx_ino ? 0 : -ENOMEM;
}

int64_t attributes_show_extended(const struct syscalls *kernel, struct statx *st)
{
    struct object object;
    const uint64_t device = makedev(st->stx_dev_major, st->stx_dev_minor), inode = st->stx_ino;
    const int64_t status = S_ISDIR(st->stx_mode) ? show_directory_extended(kernel, st) : 0;
    st->stx_uid = attributes_owner(st->stx_uid, kernel->attributes.host_user);
    st->stx_gid = attributes_owner(st->stx_gid, kernel->attributes.host_group);
    if (attributes_object_of(kernel, device, inode, st->stx_mode, &object)) {
        st->stx_dev_major = major(object.device);
        st->stx_dev_minor = minor(object.device);
        st->stx_ino = object.inode;
        st->stx_atime = st->stx_mtime = st->stx_ctime = extended(object.made);
        if (st->stx_mask & STATX_BTIME)
            st->stx_btime = st->stx_mtime;
    }
    filetimes_show_extended(kernel, device, inode, st);
    /* what lies behind says where the host has mounted the file, and how its disk wants to be read */
    st->stx_mask &= STATX_BASIC_STATS | STATX_BTIME;
    memset((char *)st + offsetof(struct statx, stx_dev_minor) + sizeof st->stx_dev_minor, 0,
           sizeof *st - offsetof(struct statx, stx_dev_minor) - sizeof st->stx_dev_minor);
    return status;
}

/* ------------------------------------------------------------------ directories */

static bool is_directory(int host, const struct dirent64 *entry)
{
    struct stat st;
    return entry->d_type == DT_DIR ||
           (entry->d_type == DT_UNKNOWN && fstatat(host, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISDIR(st.st_mode));
}

int64_t attributes_show_entries(const struct syscalls *kernel, int host, void *entries, size_t bytes)
{
    struct stat here;
    if (fstat(host, &here) < 0)
        return -errno;
    for (size_t at = 0; at < bytes;) {
        struct dirent64 *entry = (struct dirent64 *)((char *)entries + at);
        if (is_directory(host, entry))
            entry->d_ino = directories_number(kernel->attributes.directories, here.st_dev, entry->d_ino);
        if (entry->d_ino == 0)
            return -ENOMEM;
        at += entry->d_reclen;
    }
    return 0;
}

void attributes_removed(const struct syscalls *kernel, const struct stat *st)
{
    if (S_ISDIR(st->st_mode))
        inodes_forget(kernel->attributes.directories, st->st_dev, st->st_ino);
}

/* ------------------------------------------------------------------ file systems */

void attributes_show_system(struct statfs *fs)
{
    memset(&fs->f_fsid, 0, sizeof fs->f_fsid);
    if (fs->f_blocks == 0) /* of pipes and the like */
        return;
    fs->f_bsize = fs->f_frsize = 4096;
    fs->f_blocks = 1 << 28; /* 1 TiB */
    fs->f_files = 1 << 24;
    fs->f_bfree = fs->f_bavail = fs->f_blocks / 2;
    fs->f_ffree = fs->f_files / 2;
}
