/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What stat, statx and statfs say of the host's files when the guest asks.
 */
#ifndef C2_SYSCALLS_ATTRIBUTES_PRIV_H
#define C2_SYSCALLS_ATTRIBUTES_PRIV_H

#include <time.h>

#include "base/base.h"

struct stat;
struct statx;
struct statfs;
struct syscalls;
struct c2_map;
struct inodes;

/* The pipes, sockets and memfds that have no file of the host behind them; and the host's directories. */
struct attributes {
    struct c2_map *objects; /* the host's device and inode -> index in made */
    uint64_t *made;         /* when: ns since the guest's boot; the guest's inode number is the index + 1 */
    uint32_t count, room;
    struct inodes *directories;
    struct inodes *times;           /* of files that the run has changed (filetimes.c) */
    struct timespec host_start;     /* the host's clock at the start: files that are newer are no inputs */
    uint32_t host_user, host_group; /* the user of c2emu: to the guest, its own */
};

enum c2_status attributes_create(struct attributes *attributes, struct c2_error *err);
void attributes_destroy(struct attributes *attributes);

/* The inode behind this host descriptor is one of the run's own objects, maybe known as such; 0 or -errno. */
int64_t attributes_add(struct syscalls *kernel, int host);
/* The same for one that c2emu was started with as fd 0 to 2: the numbers of others do not depend on it. */
int64_t attributes_inherit(struct syscalls *kernel, int host, int fd);
/* Makes of what the host said what the guest sees; 0 or -ENOMEM. */
int64_t attributes_show(const struct syscalls *kernel, struct stat *st);
int64_t attributes_show_extended(const struct syscalls *kernel, struct statx *st);
/* The same of the entries of a directory, struct dirent64, of which the guest's buffer has so many bytes; host: the
 * directory's descriptor. */
int64_t attributes_show_entries(const struct syscalls *kernel, int host, void *entries, size_t bytes);
/* The directory that the host knows by this has been removed. */
void attributes_removed(const struct syscalls *kernel, const struct stat *st);
void attributes_show_system(struct statfs *fs);
/* The guest's number for a user or group of the host, of which `self` is the user of c2emu. */
uint32_t attributes_owner(uint32_t host, uint32_t self);

#endif
