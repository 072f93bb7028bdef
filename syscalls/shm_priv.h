/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A /dev/shm of the run's own.
 */
#ifndef C2_SYSCALLS_SHM_PRIV_H
#define C2_SYSCALLS_SHM_PRIV_H

#include <sys/types.h>

#include "base/base.h"

struct syscalls;

struct shm {
    pid_t owner; /* the process of the host that removes it; 0: the run has none of its own */
    bool made;   /* by this process or one before it, or it cannot be */
    int lock;    /* held as long as it is used, -1: not */
};

/* Before the first process is forked. The directory is made when the guest comes there. */
void shm_create(struct syscalls *kernel);
void shm_destroy(struct syscalls *kernel); /* names what is lost, if it is the owner's */
/* Whether a canonical path of the guest's leads there, */
bool shm_covers(const struct syscalls *kernel, const char *path);
/* and to what is the run's own, below c2_root_own(): all that is not in the host's. */
bool shm_is_own(struct syscalls *kernel, const char *path);
bool shm_is_top(const char *host); /* the path of the host's is that of the directory itself */
bool shm_has_files(void);

#endif
