/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The state of the guest's kernel: one part a topic, each with its own file.
 */
#ifndef C2_SYSCALLS_KERNEL_PRIV_H
#define C2_SYSCALLS_KERNEL_PRIV_H

#include "syscalls/attributes_priv.h"
#include "syscalls/call_priv.h"
#include "syscalls/fds_priv.h"
#include "syscalls/identity_priv.h"
#include "syscalls/inputs_priv.h"
#include "syscalls/ipc_priv.h"
#include "syscalls/heirs_priv.h"
#include "syscalls/joint_priv.h"
#include "syscalls/locked_priv.h"
#include "syscalls/locks_priv.h"
#include "syscalls/pidfds_priv.h"
#include "syscalls/priorities_priv.h"
#include "syscalls/processes_priv.h"
#include "syscalls/sandbox_priv.h"
#include "syscalls/shm_priv.h"
#include "syscalls/signals_priv.h"
#include "syscalls/stops_priv.h"
#include "syscalls/timers_priv.h"
#include "syscalls/views_priv.h"
#include "syscalls/words_priv.h"

/* What the running call copied of the guest's memory. */
struct kernel_copies {
    uint64_t used;
    uint8_t bytes[CALL_COPIES_BYTES] __attribute__((aligned(16)));
};

#define KERNEL_TIMER_SLACK_NS 50000u

/* What a call waits for, of which nothing has happened but `done`: it is made again when that can have come true. */
enum kernel_wait_kind {
    KERNEL_RUNS,
    KERNEL_WAITS_TIME,   /* the deadline alone */
    KERNEL_WAITS_WORD,   /* FUTEX_WAIT: to be woken */
    KERNEL_WAITS_OWNER,  /* FUTEX_LOCK_PI: to be given the word */
    KERNEL_WAITS_FDS,    /* one of fds */
    KERNEL_WAITS_LOCK,   /* a file's lock is given up, a descriptor closed, or a pipe's end opened, by any process */
    KERNEL_WAITS_SIGNAL, /* one of `signals`; or one that has a handler, as all waits do */
    KERNEL_WAITS_CHILD,  /* wait4: of those that `word` means */
    KERNEL_WAITS_VFORK,  /* the child `word` becomes another program, or ends; no signal ends it */
    KERNEL_WAITS_WORDS,  /* futex_waitv: as WORD, at one of several */
    KERNEL_WAITS_OBJECT, /* System V IPC: `word` is its place among the waiters */
    KERNEL_WAITS_TAKEN,  /* one of `signals`, which is pending, is taken: it has stopped the process, which goes on */
    KERNEL_WAITS_MEMORY, /* another process's: of the transfer `word` - 1, or 0, any that is free; no signal ends it */
};
#define KERNEL_NEVER UINT64_MAX
#define KERNEL_LAST_NS (UINT64_MAX / 4) /* where guest time stops: it is as good as never */
struct kernel_wait {
    enum kernel_wait_kind kind;
    bool restarts;     /* behind a handler with SA_RESTART the call begins anew, else it gives EINTR */
    bool resumes;      /* it does so behind any handler */
    bool outside;      /* others than the guest can make one of fds ready, or open the other end of a pipe */
    uint64_t deadline; /* guest time; KERNEL_NEVER: none */
    uint64_t word;     /* of a lock: its holder; else as the kinds say */
    uint32_t waiter;   /* at a word, or at several: 1 + the first one's place in the list of words.c; 0: at none */
    uint32_t bits;     /* of a lock: its kind; of a wait for children: the options */
    uint64_t wakes;    /* of a lock: how many there were given up then */
    uint64_t signals;
    uint64_t done;     /* bytes of a write that are in the pipe already */
    uint64_t partial;  /* what the call answers to an interruption; 0: nothing of it has happened */
    uint32_t messages; /* that are through, of several; */
    uint64_t until;    /* guest time after which no further one is waited for */
    uint64_t rest;     /* where a sleep that is interrupted says what was left of it; 0: nowhere */
    struct pollfd *fds;
    uint32_t fd_count;
    const char *why; /* "no other thread can wake it": why a program that waits here without end is stuck */
    uint32_t call;   /* its number */
};

/* What the kernel keeps of a guest thread; its registers are where it is executed. */
struct kernel_thread {
    uint32_t tid;
    uint32_t number;                /* of those of the process: 0, 1, ... */
    char name[IDENTITY_NAME_BYTES]; /* comm */
    struct signals_mask signals;
    struct signals_pending pending; /* for this thread alone */
    struct kernel_wait wait;
    int no_new_privileges, death_signal;
    uint64_t timer_slack;
    uint64_t clear_tid;   /* set_tid_address */
    uint64_t robust_list; /* set_robust_list */
    int opening;          /* a pipe whose other end is not open yet; -1: none */
    uint64_t ran;         /* instructions in turns that are over */
};

/* What is called how; owned. */
struct kernel_names {
    char *program_path;
    char *arguments; /* each ended by NUL, as in /proc/self/cmdline */
    size_t arguments_bytes;
    char *environment;
    size_t environment_bytes;
};

/* What all threads share, and the threads. */
struct syscalls {
    uint32_t pid;
    struct processes *processes;  /* this one and the others */
    struct process *self;         /* of the list */
    struct processes_start start; /* of the child that is being made */
    int handed_back;              /* where pages of a child of vfork come back, -1: nowhere */
    bool may_fork;
    struct kernel_thread *current;  /* that makes the calls */
    struct kernel_thread **threads; /* in the order in which they were started */
    uint32_t thread_count, thread_room;
    uint32_t last_tid, started;
    bool looks_outside; /* all wait: descriptors that others make ready are asked for as well */
    int leader_status;  /* of the first thread, when it has ended before others */
    uint64_t turn;      /* instructions at which that of `current` began */
    struct timer *timers;
    uint32_t timer_room, timers_armed;
    uint32_t daemon_step; /* signals that it got as one that is left (daemons.c) */
    struct mmu *mmu;
    struct locked locked;
    struct heirs heirs;
    struct joint joint;
    bool unborn;   /* a child whose stream has not begun: nothing touches its memory yet */
    bool remapped; /* since mapped_bytes was looked for (views.c) */
    uint64_t physical_bytes;
    uint32_t processors;
    uint32_t cache_count;
    struct syscalls_cache caches[SYSCALLS_CACHES];
    struct kernel_names names;
    bool hides_library_cache; /* until it is opened */
    FILE *trace;
    FILE *complaints;
    char *complaint_prefix;
    const volatile int *interrupted;
    void (*before_output)(void *self);
    void *before_output_self;
    int64_t (*may_run)(void *self, const struct syscalls_program *program);
    void *may_run_self;
    struct syscalls_program *program; /* that the guest wants to be; NULL: it does not */

    const struct cpu_model *cpu;
    uint64_t instructions_per_second;
    uint64_t boot_seconds;        /* CLOCK_REALTIME at boot */
    uint64_t slept_ns;            /* guest time that passed before the start, in sleeps and timeouts: no instructions */
    uint64_t instructions;        /* of the last call: what /proc files show */
    uint64_t instructions_before; /* of the programs that the process was before (execve) */
    struct c2_rng random;

    struct attributes attributes;
    struct fds fds;
    struct signals signals;
    struct identity identity;
    struct inputs inputs;
    struct sandbox sandbox;
    struct shm shm;
    struct network *network;
    bool no_network;
    struct ipc_view ipc;
    struct terminals *terminals; /* shared by all processes; NULL: there were none yet */

    struct kernel_copies copies;
    uint64_t complained[CALL_TABLE_END / 64]; /* a bit a number; the last one stands for all higher numbers */
};

/* What the program is called: in /proc, and as the name of its first thread. On failure nothing has changed. */
enum c2_status kernel_name_program(struct syscalls *kernel, const char *path, const char *const *argv,
                                   const char *const *envp, struct c2_error *err);
void kernel_name_thread(struct kernel_thread *thread, const char *program);

/* ------------------------------------------------------------------ exec.c */
void exec_reset_signals(struct signals *signals); /* those that have handlers are as at first */

/* ------------------------------------------------------------------ time.c */
#define KERNEL_NS 1000000000ull
uint64_t kernel_cpu_ns(const struct syscalls *kernel, uint64_t instructions);                  /* without sleeps */
uint64_t kernel_thread_ns(const struct syscalls *kernel, uint32_t tid, uint64_t instructions); /* one thread's */
/* Guest time goes on by ns at once. */
void kernel_sleep(struct syscalls *kernel, uint64_t ns);
/* Guest time goes on to `at`, if it has not come yet. */
void kernel_sleep_until(struct syscalls *kernel, uint64_t instructions, uint64_t at);
bool kernel_has_come(const struct syscalls *kernel, uint64_t instructions, uint64_t deadline);
/* The moment of `ns` from now on. */
uint64_t kernel_deadline(const struct call *c, uint64_t ns);
/* A guest timespec as nanoseconds, saturated; false if it is invalid (EINVAL). */
struct timespec;
bool kernel_timespec_ns(uint64_t *out, const struct timespec *time);

/* ------------------------------------------------------------------ sched.c */
uint64_t sched_all(const struct syscalls *kernel); /* a bit a processor */
/* Where the thread runs, whatever it asks for: by its number. */
uint32_t sched_processor(const struct syscalls *kernel, const struct kernel_thread *thread);

/* ------------------------------------------------------------------ threads.c */
#define THREADS_MOST 16384u
struct kernel_thread *threads_create(struct syscalls *kernel); /* NULL: no memory */
void threads_destroy(struct syscalls *kernel);
void threads_keep_current(struct syscalls *kernel);       /* it becomes the first, the others are no more: execve */
bool threads_are_too_many(const struct syscalls *kernel); /* for one more, or a process more */
struct kernel_thread *threads_find(const struct syscalls *kernel, uint32_t tid); /* NULL: there is none */
/* Its word of CLONE_CHILD_CLEARTID becomes 0: a join of it waits for that. */
void threads_clear_number(struct call *c, struct kernel_thread *thread);
/* No other thread and no timer can make anything happen. */
bool threads_alone(const struct syscalls *kernel);
/* A lock of a file may be free now, or the other end of a pipe be open. */
void threads_wake_locks(struct syscalls *kernel);
/* The running thread begins to wait, or goes on to: the call comes back as SYSCALLS_BLOCKED. */
int64_t call_wait(struct call *c, struct kernel_wait wait);
/* The same for what one descriptor is ready for (poll's events), which the guest itself makes ready; `done` bytes of
 * the transfer are done. A socket may say for how long (SO_RCVTIMEO): then `done` or -EAGAIN when its time has come.
 * What is left of buffers behind so many bytes, into out; how many they are. */
int64_t call_wait_fd(struct call *c, const struct fd_entry *entry, short events, const char *why, uint64_t done);
/* Before a call of the host that may wait for something outside: whether the thread has to wait itself, for timers may
 * interrupt it. */
bool call_must_wait(const struct call *c, const struct fd_entry *entry, short events);
/* For a lock of a file that this process of the run holds; for an opening of the other end of a pipe with a name. */
int64_t call_wait_lock(struct call *c, uint32_t holder, enum locks_kind kind);
int64_t call_wait_end(struct call *c);
int call_skip(struct iovec *out, const struct iovec *in, int count, uint64_t bytes);
/* A call that was blocked is made again, and its time has come. */
bool call_is_late(const struct call *c);
void kernel_wait_release(struct syscalls *kernel, struct kernel_wait *wait);
void kernel_wait_for_outside(const struct kernel_wait *wait); /* the host waits for one of its descriptors */
/* What comes from outside counts at any time, not only when all wait: of sets of epoll, whose members are not known. */
bool kernel_wait_asks_outside(const struct kernel_wait *wait);
/* When it may come true by time alone; KERNEL_NEVER. */
uint64_t kernel_wait_ends(const struct syscalls *kernel, const struct kernel_wait *wait);

/* ------------------------------------------------------------------ poll.c */
int poll_milliseconds(uint64_t ns); /* for the host's poll; KERNEL_NEVER: -1 */
/* The host's poll passes over numbers below 0: a descriptor that it is not to be asked for, and again; -1 is none. */
#define POLL_HIDDEN(fd) (-2 - (fd))
#define POLL_SHOWN(fd) (-2 - (fd))

/* ------------------------------------------------------------------ futex.c */
/* One that waits at the word, without FUTEX_PRIVATE_FLAG. */
void futex_wake_one(struct syscalls *kernel, uint64_t word);
/* The thread ends: words that it holds (set_robust_list) are marked, and given on. */
void futex_exit(struct call *c);

#endif
