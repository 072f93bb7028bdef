/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Pseudo-terminals of the run's own: their open ends, and the sessions that they control.
 */
#ifndef C2_SYSCALLS_TERMINALS_PRIV_H
#define C2_SYSCALLS_TERMINALS_PRIV_H

#include <sys/ioctl.h>
#include <sys/stat.h>

#include "syscalls/discipline_priv.h"
#include "syscalls/fds_priv.h"
#include "syscalls/processes_priv.h"

enum { TERMINALS_MOST = 256 };
#define TERMINALS_ANY_BYTE 0x4000 /* beside poll's events: a byte that may be read, however many VMIN wants */

struct terminal {
    bool used;   /* it is open: else all is 0 */
    bool named;  /* it is in /dev/pts: its master is open */
    bool locked; /* TIOCSPTLCK: its slave cannot be opened */
    bool exclusive;
    bool left;                /* its slave was open, and is not any more */
    uint32_t masters, slaves; /* descriptors, in all processes */
    uint32_t hangups;         /* slaves that were opened before the last one are dead */
    uint32_t session, group;  /* that it controls, and the one in its foreground; 0: none */
    struct winsize size;
    struct discipline line;
};

/* In memory that all processes share; changed by the one that has the turn. */
struct terminals {
    uint32_t reached; /* of the list: none was ever opened from here on */
    struct terminal list[TERMINALS_MOST];
};

/* The memory is there: 0 or -ENOMEM. Before the first fork. */
int64_t terminals_ready(struct syscalls *kernel);
void terminals_destroy(struct syscalls *kernel);
/* A child is made, or could not be: its descriptors are those of this process. */
void terminals_fork(struct syscalls *kernel, bool made);
/* The process has ended, and its descriptors are closed: if it led a session, its terminal has none. */
void terminals_end(struct syscalls *kernel);

/* ------------------------------------------------------------------ names: /dev/ptmx, /dev/pts, /dev/pts/N */
/* Whether nothing of the host is shown there. */
bool terminals_cover(const struct syscalls *kernel, const char *path);
/* Whether one lies there now. terminals_next: the first number from `from` on; TERMINALS_MOST: there is none. */
bool terminals_is_device(const struct syscalls *kernel, const char *path);
uint32_t terminals_next(const struct syscalls *kernel, uint32_t from);
bool terminals_stat(const struct syscalls *kernel, const char *path, struct stat *out); /* false: none lies there */
/* Opens the one of that name: the guest's descriptor, or -errno. */
int64_t terminals_open(struct call *c, const char *path, int flags);
int64_t terminals_open_slave(struct call *c, uint32_t number, int flags);
/* /dev/tty: whether it is none of the host's; and the one of this process, opened. */
bool terminals_is_own(const struct syscalls *kernel, const char *path);
int64_t terminals_open_own(struct call *c, int flags);

/* ------------------------------------------------------------------ descriptors */
void terminals_release(const struct fd_entry *entry); /* one less */
void terminals_copied(const struct fd_entry *entry);  /* one more */
/* The host's descriptor shows whether there is something to be read, and room. */
void terminals_refresh(const struct syscalls *kernel, const struct fd_entry *entry);
short terminals_poll(const struct syscalls *kernel,
                     const struct fd_entry *entry); /* all that is true of poll's events */
int64_t terminals_read(struct call *c, const struct fd_entry *entry, const struct iovec *iov, int count);
/* done: bytes before these that the call has written already. */
int64_t terminals_write(struct call *c, const struct fd_entry *entry, const struct iovec *iov, int count,
                        uint64_t done);
int64_t terminals_ioctl(struct call *c, const struct fd_entry *entry); /* terminals_ioctl.c */

/* ------------------------------------------------------------------ processes */
struct terminal *terminals_at(const struct fd_entry *entry);
uint32_t terminals_number(const struct syscalls *kernel, const struct terminal *terminal);
bool terminals_is_dead(const struct fd_entry *entry); /* a slave that was hung up */
/* The controlling terminal of a process; NULL: it has none, or one of the host's. */
struct terminal *terminals_controlling(const struct syscalls *kernel, const struct process *process);
/* The process may become the one whose controlling terminal it is. */
bool terminals_may_control(const struct syscalls *kernel, const struct terminal *terminal);
void terminals_control(struct syscalls *kernel, struct terminal *terminal);
/* A process in the background of its terminal does what those in the foreground do: 0, or its group gets the signal
 * (SYSCALLS_BLOCKED), or -EIO. */
int64_t terminals_check(struct call *c, const struct terminal *terminal, int signal);
/* What was typed has made signals. */
void terminals_send_typed(struct syscalls *kernel, struct terminal *terminal);

#endif
