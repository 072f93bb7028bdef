/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Memory of other processes: process_vm_readv and process_vm_writev.
 */
#ifndef C2_SYSCALLS_REMOTE_PRIV_H
#define C2_SYSCALLS_REMOTE_PRIV_H

#include <limits.h>
#include <sys/uio.h>

#include "base/base.h"

struct syscalls;
struct kernel_wait;

enum { REMOTE_TRANSFERS = 64, REMOTE_BYTES = 256 << 10 };

enum remote_state { REMOTE_FREE, REMOTE_ASKED, REMOTE_ANSWERED };

/* One call, of one thread, in memory that all processes share. */
struct remote_transfer {
    enum remote_state state;
    uint32_t asker, of; /* the processes: that makes the call, and whose memory it is */
    bool writes;        /* to that memory */
    int local_count, remote_count;
    struct iovec local[IOV_MAX], remote[IOV_MAX];
    uint64_t total, done;         /* bytes: of the asker's buffers, and those that are through */
    uint64_t address, bytes, had; /* the piece that is asked for, and how much of it could be had */
    bool cut;                     /* what of the asker's own follows that piece cannot be had */
    uint8_t data[REMOTE_BYTES];
};
struct remote_transfers {
    uint32_t asked;
    uint32_t reached; /* none behind these was ever in use, and their pages are not there */
    struct remote_transfer list[REMOTE_TRANSFERS];
};

/* What others have asked this process for, when it has the turn. */
void remote_serve(struct syscalls *kernel);
bool remote_is_answered(const struct syscalls *kernel, const struct kernel_wait *wait);
/* No thread waits any more that this process has had: it ends, or becomes another program. */
void remote_forget(struct syscalls *kernel);

#endif
