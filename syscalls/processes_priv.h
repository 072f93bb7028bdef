/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The guest's processes, as each of them knows the others.
 */
#ifndef C2_SYSCALLS_PROCESSES_PRIV_H
#define C2_SYSCALLS_PROCESSES_PRIV_H

#include <sys/types.h>

#include "syscalls/identity_priv.h"
#include "syscalls/priorities_priv.h"
#include "syscalls/remote_priv.h"
#include "syscalls/signals_priv.h"
#include "syscalls/words_priv.h"

#define PROCESSES_CLEAR_HANDLERS 0x100000000ull /* CLONE_CLEAR_SIGHAND, linux/sched.h */

struct kernel_wait;
enum {
    PROCESSES_MOST = 256,
    PROCESSES_SENT = 128,
    PROCESSES_THREADS = 256,
    PROCESSES_FILES = 64,
    PROCESSES_TEXT = 256 << 10
};

enum process_state { PROCESS_NONE, PROCESS_RUNS, PROCESS_ZOMBIE };
enum process_news { PROCESS_NO_NEWS, PROCESS_STOPPED, PROCESS_CONTINUED }; /* that a wait has not told yet */

/* What /proc shows of a process, and of its threads. */
struct process_thread {
    uint32_t tid;
    char name[IDENTITY_NAME_BYTES];
    char state; /* 'R' ... */
    uint64_t cpu_ns, pending, blocked;
    int no_new_privileges;
};
struct process_view {
    uint64_t started_ns, cpu_ns, faults, resident_bytes, mapped_bytes, locked_bytes;
    uint64_t pending, ignored, caught;                        /* bits of signals */
    uint32_t mask;                                            /* umask */
    int directory;                                            /* the host's descriptor of the working directory */
    size_t program_bytes, arguments_bytes, environment_bytes; /* of its texts */
    uint64_t files[PROCESSES_FILES];                          /* descriptions of its first descriptors; 0: it is none */
    uint32_t threads;                                         /* the first PROCESSES_THREADS stand here */
    struct process_thread thread[PROCESSES_THREADS];
};

struct process {
    uint32_t pid, parent, group, session; /* parent: IDENTITY_PARENT when that is gone */
    enum process_state state;
    pid_t host;            /* of the host */
    bool executed;         /* has become another program since it was made */
    uint64_t memory;       /* that it has in common with others (joint.c); 0: its own */
    bool holds_parent;     /* of a vfork: that waits until it becomes another program, or ends */
    uint32_t waits_for;    /* the holder of a lock that it waits for by F_SETLKW; 0: none. As of when its turn ended */
    bool ignores_children; /* those that end have no parent to wait: SIGCHLD is ignored, or SA_NOCLDWAIT */
    bool adopts;           /* PR_SET_CHILD_SUBREAPER: orphans below it become its children */
    int death_signal;      /* when its parent ends; 0: none. As of when its turn ended */
    bool undumpable;       /* PR_SET_DUMPABLE: its memory is nobody else's to look into. The same */
    bool ignores_stops;    /* no SIGCHLD when they stop or go on: it is ignored, or SA_NOCLDSTOP */
    int oom_score_adj;     /* -1000 to 1000: kept; there is no want of memory that it would change */
    bool detached;         /* it has given up its session's terminal (TIOCNOTTY) */
    uint32_t lost_group;   /* of a session's leader: the foreground of the terminal that hung up; 0: none has */
    bool tells;            /* it was stopped, and goes on: its parent is to be told when it has the turn */
    int stopped;           /* by this signal; 0: it is not */
    enum process_news news;
    int exit_signal;         /* for the parent; 0: none */
    int status;              /* of a zombie: as wait4 tells it */
    uint64_t cpu_ns, faults; /* of a zombie, */
    uint64_t resident_bytes;
    uint64_t children_ns, children_faults; /* and of those that were waited for */
};

/* In memory that all share. Changed by the process that has the turn. */
struct processes {
    uint32_t last;       /* number given, of a process or of a thread of several processes */
    uint32_t foreground; /* the group that a terminal belongs to */
    uint32_t running;
    uint32_t started;        /* processes, so far */
    uint64_t ended_ns;       /* the time of those that have ended */
    uint64_t first_ended_ns; /* when the first one ended, */
    uint32_t first_session;  /* which was in this session; 0: it has not */
    bool notices;            /* a signal is requested for a descriptor (notices.c), */
    bool leases;             /* or has a lease of a file */
    uint64_t events;         /* that may let another process go on */
    uint64_t calls;          /* system calls of all, of which each may have made a descriptor ready */
    uint64_t memories; /* processes and programs begun, but for the first: what each makes has numbers of its own */
    uint64_t releases; /* of locks of files, and of ends of pipes: what a wait for a lock may wait for */
    uint32_t used;     /* of the list: nothing lies behind */
    struct process list[PROCESSES_MOST];
    struct processes_sent {
        uint64_t set; /* bit signal-1: to the process */
        uint32_t count;
        struct process_signal {
            struct signals_info info;
            uint32_t thread; /* 0: to the process */
        } list[PROCESSES_SENT];
    } sent[PROCESSES_MOST]; /* to each by others, and not seen yet */
    struct process_view views[PROCESSES_MOST];
    char texts[PROCESSES_MOST][PROCESSES_TEXT];
    struct words_list words;
    struct remote_transfers transfers;
    struct priorities priorities;
};

/* What the running call of fork, vfork or clone wants. */
struct processes_start {
    uint64_t flags, stack, parent_tid, child_tid, tls;
    uint64_t pidfd_at; /* of CLONE_PIDFD */
    int64_t pidfd;     /* made for it, which the child does not get */
    int exit_signal;
};

enum c2_status processes_create(struct syscalls *kernel, struct c2_error *err);
void processes_destroy(struct syscalls *kernel);
struct process *processes_self(const struct syscalls *kernel);
/* Whether others run beside this one. */
bool processes_shared(const struct syscalls *kernel);
/* Flags of clone that contradict each other (-EINVAL), or ask for a namespace (-EPERM); else 0. */
int64_t processes_check_flags(uint64_t flags);
/* fork and the like: SYSCALLS_FORK, or -errno. */
int64_t processes_start(struct call *c, const struct processes_start *start);
/* kill(2), sigqueue(3) to any process: info->signal may be 0. */
int64_t processes_send(struct call *c, int to, const struct signals_info *info);
/* To another process that is not at its end, which sees it when it is its turn. False: too many. */
bool processes_tell(struct syscalls *kernel, struct process *process, const struct signals_info *info);
/* To a thread of another process; group: its process, 0: any. 0 or -errno. */
int64_t processes_send_thread(struct call *c, uint32_t group, uint32_t thread, const struct signals_info *info);
/* The process of this number, ended or not; NULL: none. */
struct process *processes_find(const struct syscalls *kernel, uint32_t pid);
/* To a process, which may be this one. False: too many. */
bool processes_send_to(struct syscalls *kernel, struct process *process, const struct signals_info *info);
/* To all of a group; 0 is none. */
void processes_send_group(struct syscalls *kernel, uint32_t group, const struct signals_info *info);
bool processes_has_group(const struct syscalls *kernel, uint32_t group); /* whether there is such a group */
/* From the kernel to all of a group. */
void processes_signal_group(struct syscalls *kernel, uint32_t group, int signal);
/* Whether a group is one of this process's session: 0, -ESRCH or -EPERM. */
int64_t processes_check_group(const struct syscalls *kernel, uint32_t group);
bool processes_has_ended(const struct syscalls *kernel, uint32_t pid); /* waited for, or not yet */
bool processes_has_children(const struct syscalls *kernel);            /* that run, or were not waited for */
/* What the guest calls a process of the host; 0: it is none of its own. */
uint32_t processes_number(const struct syscalls *kernel, pid_t host);
/* The process whose thread has this number; NULL: none, of those threads that processes show. */
const struct process *processes_of_thread(const struct syscalls *kernel, uint32_t tid);
/* Whether a thread of the run has this number, of any process. */
bool processes_have_thread(const struct syscalls *kernel, uint32_t tid);
/* Shared memory that this process makes from now on, and files that it opens, are like none that the run has. */
void processes_number_own(struct syscalls *kernel);
/* TIOCGPGRP and TIOCSPGRP of a terminal. */
int64_t processes_foreground(struct call *c);
int64_t processes_set_foreground(struct call *c);
/* Whether the process waits for a lock that this one holds, or for one that does, and so on: all by F_SETLKW. */
bool processes_wait_for_self(const struct syscalls *kernel, uint32_t pid);
/* Whether what a thread waits for in wait4 has come; and of a vfork. */
bool processes_wait_over(const struct syscalls *kernel, const struct kernel_wait *wait);
/* The program is about to be another one. */
void processes_executed(struct syscalls *kernel);

#endif
