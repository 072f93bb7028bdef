/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Inode numbers of directories.
 *
 * Model
 *   The host's number of a directory, like its size, its blocks and its links, depends on what else was made in the
 *   file system and beside the run's own files, and no program reads it for what it means. So a directory gets a number
 *   when the run sees it for the first time, and keeps it, whatever it is called then: its place in a list (inodes.c).
 *
 * Invariants
 *   A directory has one number in all processes, and no other one has it, nor a file of the usual file systems.
 *
 * Not modelled
 *   Behind a million directories, numbers are the host's. One that rename(2) has taken the place of may lend its
 *   number to one that is made later.
 */
#include "syscalls/directories_priv.h"

enum c2_status directories_create(struct inodes **out, struct c2_error *err)
{
    return inodes_create(out, 0, "the guest's directories", err);
}

uint64_t directories_number(struct inodes *directories, uint64_t device, uint64_t inode)
{
    const uint32_t at = inodes_add(directories, device, inode);
    if (at == INODES_NONE)
        return inodes_are_all(directories) ? inode : 0;
    return DIRECTORIES_FIRST + at;
}
