/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which of the host's file locks the guest holds itself.
 */
#ifndef C2_SYSCALLS_LOCKS_PRIV_H
#define C2_SYSCALLS_LOCKS_PRIV_H

#include "syscalls/call_priv.h"

/* The owner of a lock: the open file description's, by flock() or fcntl(F_OFD_SETLK), or the process's. Locks of
 * flock() and those of fcntl() know nothing of each other. */
enum locks_kind { LOCKS_FLOCK, LOCKS_DESCRIPTION, LOCKS_POSIX };

struct locks_range {
    enum locks_kind kind;
    bool writes;
    uint64_t start, end; /* bytes, both included */
};

/* The bytes that a structure for fcntl() names. */
struct flock;
struct locks_range locks_range_of(int host, enum locks_kind kind, const struct flock *area);
/* The process of the run that, by another owner than descriptor fd, holds a lock that keeps fd from getting this one:
 * only the guest could end a wait for it. 0: none, held outside. */
uint32_t locks_holder(struct syscalls *kernel, uint64_t guest_fd, const struct locks_range *wanted);

#endif
