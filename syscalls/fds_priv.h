/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The guest's descriptor table.
 */
#ifndef C2_SYSCALLS_FDS_PRIV_H
#define C2_SYSCALLS_FDS_PRIV_H

#include "syscalls/call_priv.h"

#define FDS_MAX 4096 /* the hard RLIMIT_NOFILE of the guest */

enum fd_kind {
    FD_FREE,
    FD_HOST,      /* the host's file */
    FD_RANDOM,    /* /dev/random, /dev/urandom: reads come from the seeded stream */
    FD_SYNTHETIC, /* a file or directory of synthetic.c: content in a host memfd */
    FD_EPOLL,     /* a set of watched descriptors */
    FD_NETLINK,   /* a socket of another family than the host's: netlink.c */
    FD_TIMER,     /* timerfd: pollable proxy.c */
    FD_SIGNALS,   /* signalfd: the same */
    FD_MQUEUE,    /* a queue of messages of POSIX: mqueue.c */
    FD_PROCESS,   /* pidfd: pidfds.c */
    FD_TERMINAL,  /* an end of a pseudo-terminal: terminals.c */
};

/* What can make a descriptor ready that is not. */
enum fd_wait {
    FD_WAIT_NEVER,   /* always ready: a file */
    FD_WAIT_OUTSIDE, /* a terminal, a pipe of the shell ...: the host waits */
    FD_WAIT_SELF,    /* only the guest: its own pipe or pair of sockets */
};

struct fd_entry {
    int host;
    uint8_t kind;         /* enum fd_kind */
    uint8_t wait;         /* enum fd_wait */
    uint8_t signal;       /* of F_SETSIG; 0: SIGIO */
    uint8_t owner_type;   /* of F_SETOWN_EX: what owner is, */
    uint32_t owner;       /* a thread or a group; 0: the process that the host has */
    bool named;           /* a pipe with a name: whatever has its other end, the host is asked without waiting */
    bool cloexec;         /* of the guest; the host's is always set */
    bool nofollow;        /* FD_SYNTHETIC: opened with O_NOFOLLOW, which the host's descriptor cannot show */
    uint8_t standard;     /* 1 + the number of c2emu's own descriptor that it is, 0 to 2; 0: none of them */
    uint64_t description; /* the same for copies made by dup: they share position, flags and locks */
    char *path;           /* FD_SYNTHETIC, FD_TERMINAL: canonical path, owned */
    struct fd_pollable *pollable; /* from FD_TIMER on: shared with copies (pollable_priv.h) */
    uint32_t input;               /* of a regular file: its number in the list of inputs, + 1; 0: it has none */
    uint64_t device, inode;       /* of a regular file: the host's; both 0: it is none */
};

#define FDS_STANDARD 3 /* descriptors that c2emu was started with: their descriptions are 1, 2 and 3 */

struct fds {
    uint64_t descriptions; /* made so far */
    struct fd_entry entry[FDS_MAX];
    uint32_t end;                   /* all entries from here on are free, and were never used */
    bool pollables;                 /* there is or was an entry with a pollable proxy, */
    bool terminals;                 /* or one of a pseudo-terminal */
    uint32_t outside[FDS_STANDARD]; /* N + 1 of the host's /dev/pts/N that standard streams are; 0: they are none */
    int cwd;                        /* host descriptor of the guest's working directory (O_PATH) */
};

enum c2_status fds_create(struct syscalls *kernel, struct c2_error *err);
void fds_destroy(struct fds *fds);
/* All of them and the working directory, to a checkpoint or, in place of those that fds_create has made, from one. */
void fds_checkpoint(struct syscalls *kernel, struct checkpoint *checkpoint);
void fds_put(struct fds *fds, uint64_t fd, const struct fd_entry *entry); /* in place of a free one */
int64_t fds_release(struct fd_entry *entry);                              /* closes it: 0 or -errno */
void fds_check(const struct fds *fds);
void fds_dump(const struct fds *fds, FILE *to);

/* The entry of an open guest descriptor, NULL if it is none. Lent until the descriptor is closed. */
struct fd_entry *fds_at(struct syscalls *kernel, uint64_t guest_fd);
/* Puts an open host descriptor into the lowest free guest number; takes it, also on failure. Returns the guest number
 * or -errno (EMFILE). A negative host is the failure of the call that should have opened it: -errno. */
int64_t fds_add(struct syscalls *kernel, int host, enum fd_wait wait, bool cloexec);
/* Two of them into pair, or none. */
int64_t fds_add_pair(struct syscalls *kernel, const int host[2], bool cloexec, int pair[2]);
/* A new descriptor of the host made fit for an entry, or -1 (errno); takes it. */
int fds_keep(int host);
/* The number that the next descriptor gets, from `from` on; -EMFILE: to be known before the host's is made, for the
 * making and the closing of it can be noticed. */
int64_t fds_lowest_free(const struct syscalls *kernel, uint64_t from);
/* Before and after a call of the host on a descriptor that only the guest can make ready: it must not block, for the
 * wait would last for ever. True (to be given back) if it would have blocked: then EAGAIN is a deadlock. */
bool fds_unblock(const struct fd_entry *entry);
void fds_reblock(const struct fd_entry *entry, bool unblocked);
/* As the host's poll, of its descriptors; and of those whose readiness is known here. */
struct pollfd;
int64_t fds_poll(struct syscalls *kernel, struct pollfd *fds, unsigned count, int milliseconds);
/* After EAGAIN: whether a read that may block would end at once, with nothing. A socket of datagrams that is shut down
 * says EAGAIN only to calls that would not wait. */
bool fds_is_shut(const struct fd_entry *entry);

#endif
