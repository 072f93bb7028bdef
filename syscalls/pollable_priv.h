/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Descriptors whose readiness is the guest's own affair: timerfd and signalfd (pollable proxy.c), queues of messages
 * (mqueue.c), processes (pidfds.c), pseudo-terminals (terminals.c).
 */
#ifndef C2_SYSCALLS_LAMP_PRIV_H
#define C2_SYSCALLS_LAMP_PRIV_H

#include "syscalls/fds_priv.h"

#define LAMPS_NEVER UINT64_MAX

/* What all copies of such a descriptor share. */
struct fd_pollable {
    uint32_t users; /* entries of the table */
    bool lit;       /* the host's descriptor is readable */
    /* FD_TIMER: ns since the guest's boot; due is LAMPS_NEVER while disarmed */
    int clock;
    uint64_t due, interval, ticks;
    /* FD_SIGNALS */
    uint64_t mask;
    /* FD_MQUEUE */
    uint32_t queue;
    int access; /* O_RDONLY, O_WRONLY, O_RDWR */
    struct syscalls *kernel;
    /* FD_PROCESS */
    uint32_t process;
    /* FD_TERMINAL; access and kernel as well */
    uint32_t terminal; /* its number */
    int side;          /* DISCIPLINE_MASTER or DISCIPLINE_SLAVE */
    uint32_t hangups;  /* of the terminal when this was opened */
};

/* ------------------------------------------------------------------ mqueue.c */
void mqueue_refresh(const struct syscalls *kernel, const struct fd_entry *entry);
void mqueue_copied(const struct fd_entry *entry);  /* there is one more of it */
void mqueue_release(const struct fd_entry *entry); /* and one less */
void mqueue_fork(const struct syscalls *kernel, bool made);

/* ------------------------------------------------------------------ pollable proxy.c */

/* An eventfd of the host's is readable and writable as these say; where neither is true it is writable. */
void pollable_show(int host, bool readable, bool writable);
/* A new descriptor of the guest: its number or -errno. flags: O_NONBLOCK, O_CLOEXEC. */
int64_t pollable_add(struct syscalls *kernel, enum fd_kind kind, const struct fd_pollable *made, int flags);
void pollable_release(struct fd_entry *entry); /* one user less */
/* All of them are as the guest's time and signals are now: before the host is asked what is ready. */
void pollables_refresh(struct syscalls *kernel, uint64_t instructions);
/* When the next of them will be lit by time alone, in ns since the guest's boot; LAMPS_NEVER. */
uint64_t pollables_next(const struct syscalls *kernel);
/* read of one, or readv: nothing at all is 0 there, an error here. */
int64_t pollable_read(struct call *c, const struct fd_entry *entry, const struct iovec *iov, int count, bool is_vector);

#endif
