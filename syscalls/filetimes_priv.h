/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Times of the files that the run itself makes or changes.
 */
#ifndef C2_SYSCALLS_FILETIMES_PRIV_H
#define C2_SYSCALLS_FILETIMES_PRIV_H

#include <time.h>

#include "syscalls/inodes_priv.h"

struct call;
struct fd_entry;
struct paths_place;
struct stat;
struct statx;
struct syscalls;

enum filetimes {
    FILETIMES_ACCESS = 1,
    FILETIMES_WRITE = 2,
    FILETIMES_CHANGE = 4,
    FILETIMES_BIRTH = 8,
    FILETIMES_WRITTEN = FILETIMES_WRITE | FILETIMES_CHANGE,
    FILETIMES_MADE = FILETIMES_ACCESS | FILETIMES_WRITTEN | FILETIMES_BIRTH,
};

/* Before the first process is forked. */
enum c2_status filetimes_create(struct syscalls *kernel, struct c2_error *err);
void filetimes_checkpoint(struct syscalls *kernel, struct checkpoint *c);

/* These times of the file are the guest's clock of now: of one that the host has said this of; of the one behind a
 * descriptor of the host's; of a name, with flags of fstatat(2); of the directory that a name lies in. */
void filetimes_now(struct syscalls *kernel, const struct stat *st, unsigned which);
void filetimes_now_open(struct syscalls *kernel, int host, unsigned which);
void filetimes_now_at(struct syscalls *kernel, const struct paths_place *p, int flags, unsigned which);
void filetimes_now_around(struct syscalls *kernel, const struct paths_place *p);
/* The descriptor has come to be: whether it is a regular file's, and of which. st: what the host says, or NULL. */
void filetimes_know(struct fd_entry *entry, const struct stat *st);
/* The guest has written to it, or read. */
void filetimes_wrote(struct syscalls *kernel, const struct fd_entry *entry);
void filetimes_read(struct syscalls *kernel, const struct fd_entry *entry);
/* utimensat(2) has given them (NULL: now) to the file. */
void filetimes_given(struct syscalls *kernel, const struct stat *st, const struct timespec times[2]);

/* The guest has asked for a name: what it changes from now on is newer than this file of the host was `written`. */
void filetimes_looked(struct syscalls *kernel, unsigned mode, uint64_t device, uint64_t inode,
                      const struct timespec *written);
/* The file that the host knows by these: its times as the guest sees them. */
void filetimes_show(const struct syscalls *kernel, uint64_t device, uint64_t inode, struct stat *st);
void filetimes_show_extended(const struct syscalls *kernel, uint64_t device, uint64_t inode, struct statx *st);

#endif
