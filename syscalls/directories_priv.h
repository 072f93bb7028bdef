/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The inode numbers that the guest sees of the host's directories.
 */
#ifndef C2_SYSCALLS_DIRECTORIES_PRIV_H
#define C2_SYSCALLS_DIRECTORIES_PRIV_H

#include "base/base.h"

#define DIRECTORIES_FIRST ((uint64_t)1 << 48) /* above the inode numbers of the usual file systems */

struct checkpoint;
struct directories;

/* Before the first process is forked: all of the run share it. */
enum c2_status directories_create(struct directories **out, struct c2_error *err);
void directories_destroy(struct directories *directories); /* takes NULL */
/* The number of the directory that the host knows by these; 0: no memory. */
uint64_t directories_number(struct directories *directories, uint64_t device, uint64_t inode);
/* It has been removed: what comes next with its inode number is another one. */
void directories_forget(struct directories *directories, uint64_t device, uint64_t inode);
void directories_checkpoint(struct directories *directories, struct checkpoint *c);

#endif
