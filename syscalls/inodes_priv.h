/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Inodes of the host that the run keeps something of.
 */
#ifndef C2_SYSCALLS_INODES_PRIV_H
#define C2_SYSCALLS_INODES_PRIV_H

#include "base/base.h"

#define INODES_MOST (1u << 20)
#define INODES_NONE UINT32_MAX

struct checkpoint;
struct inodes;

/* Before the first process is forked: all of the run share it. Each inode has `bytes` bytes besides, zeros at first;
 * what: for the reason of a failure. */
enum c2_status inodes_create(struct inodes **out, size_t bytes, const char *what, struct c2_error *err);
void inodes_destroy(struct inodes *inodes); /* takes NULL */
/* Its place in the list: the same in all processes, for good. INODES_NONE: it is not there; inodes_add: for there is no
 * room (inodes_are_all), or no memory. */
uint32_t inodes_find(struct inodes *inodes, uint64_t device, uint64_t inode);
uint32_t inodes_add(struct inodes *inodes, uint64_t device, uint64_t inode);
bool inodes_are_all(const struct inodes *inodes);
/* What the inode at this place has besides. */
void *inodes_at(const struct inodes *inodes, uint32_t at);
uint32_t inodes_count(const struct inodes *inodes);
/* Nothing is found by these any more; the place stays taken. */
void inodes_forget(struct inodes *inodes, uint64_t device, uint64_t inode);
/* The list, without what the inodes have besides. */
void inodes_checkpoint(struct inodes *inodes, struct checkpoint *c);

#endif
