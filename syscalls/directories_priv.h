/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The inode numbers that the guest sees of the host's directories.
 */
#ifndef C2_SYSCALLS_DIRECTORIES_PRIV_H
#define C2_SYSCALLS_DIRECTORIES_PRIV_H

#include "syscalls/inodes_priv.h"

#define DIRECTORIES_FIRST ((uint64_t)1 << 48) /* above the inode numbers of the usual file systems */

enum c2_status directories_create(struct inodes **out, struct c2_error *err);
/* The number of the directory that the host knows by these; 0: no memory. */
uint64_t directories_number(struct inodes *directories, uint64_t device, uint64_t inode);

#endif
