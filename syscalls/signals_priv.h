/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The guest's signals: actions, mask, what is pending.
 */
#ifndef C2_SYSCALLS_SIGNALS_PRIV_H
#define C2_SYSCALLS_SIGNALS_PRIV_H

#include "syscalls/call_priv.h"

#define SIGNALS_COUNT 64
#define SIGNALS_REAL_TIME 32 /* the first of those that are queued */
#define SIGNALS_INFO_BYTES 128
#define SIGNALS_RESTART 0x10000000u              /* SA_RESTART */
#define SIGNALS_AUTODISARM ((int32_t)0x80000000) /* SS_AUTODISARM */

/* As the kernel's struct sigaction on x86-64. */
struct signals_action {
    uint64_t handler, flags, restorer, mask;
};

/* As the kernel's struct siginfo, 128 bytes; the fields used here. */
struct signals_info {
    int32_t signal, error, code, pad;
    union {
        uint64_t address; /* faults */
        struct {
            int32_t pid;
            uint32_t uid;
            uint64_t value;
        } sender; /* kill, tgkill, sigqueue */
        uint8_t bytes[SIGNALS_INFO_BYTES - 16];
    };
};

struct kernel_thread;

struct signals_stack {
    uint64_t base;
    int32_t flags, pad;
    uint64_t bytes;
}; /* stack_t */

struct signals_pending {
    uint64_t set; /* bit signal-1 */
    struct signals_info *list;
    uint32_t count, room;
};

/* The process's. */
struct signals {
    struct signals_action action[SIGNALS_COUNT + 1]; /* by signal number */
    struct signals_pending pending;                  /* for whichever thread takes it */
};

/* A thread's. */
struct signals_mask {
    uint64_t blocked;           /* bit signal-1 */
    struct signals_stack stack; /* sigaltstack */
    bool suspended;             /* sigsuspend & co: `blocked` is for the wait only, */
    uint64_t after;             /* and this is the mask to come back to */
};

bool signals_hold(const struct signals *signals); /* the rules of both */
bool signals_mask_holds(const struct signals_mask *mask);
void signals_check(const struct signals *signals);
void signals_mask_create(struct signals_mask *mask);
void signals_mask_check(const struct signals_mask *mask);
void signals_mask_dump(const struct signals_mask *mask, FILE *to);
void signals_dump(const struct signals *signals, FILE *to);
static inline uint64_t signals_bit(int signal) { return (uint64_t)1 << (signal - 1); }
/* Makes a signal pending: for the thread, NULL for the process. Whether one more is; it may be ignored, too many. */
bool signals_raise(struct syscalls *kernel, struct kernel_thread *thread, const struct signals_info *info);
/* Takes the lowest signal of a set that is pending for the running thread, its info into *info: its number, or 0 if
 * there is none. */
int signals_take(struct syscalls *kernel, uint64_t set, struct signals_info *info);
/* Of those of the process, and of the thread, if it is not NULL. */
bool signals_are_pending(const struct syscalls *kernel, const struct kernel_thread *thread, uint64_t set);
/* A signal that the thread would take now, or 0. */
int signals_deliverable(struct syscalls *kernel, struct kernel_thread *thread);
/* Before a wait with a signal mask of its own (ppoll ...), which is in force from now on: true if a signal is
 * deliverable under it, and the call must return -EINTR. signals_waited(): the wait is over without one. */
bool signals_wait(struct call *c, uint64_t wanted);
void signals_waited(struct call *c);

/* ------------------------------------------------------------------ pending.c */
bool pending_add(struct signals_pending *pending, const struct signals_info *info); /* false: too many */
bool pending_take(struct signals_pending *pending, int signal, struct signals_info *info);
void pending_drop(struct signals_pending *pending, int signal); /* all of them */
bool pending_holds(const struct signals_pending *pending);
void pending_release(struct signals_pending *pending);

/* ------------------------------------------------------------------ frame.c */
/* Builds the frame and turns *cpu to the handler; on failure *cpu is as it was. fault: the CPU's exception, or NULL. */
enum c2_status frame_build(struct syscalls *kernel, struct syscalls_cpu *cpu, const struct signals_info *info,
                           const struct syscalls_fault *fault, struct c2_error *err);
/* rt_sigreturn: 0, or -EFAULT if the frame cannot be read. */
int64_t frame_restore(struct call *c);
bool frame_on_stack(const struct signals_stack *stack, uint64_t rsp);

/* ------------------------------------------------------------------ fpstate.c */
uint64_t fpstate_size(const struct syscalls_cpu *cpu); /* bytes in a frame */
void fpstate_put(uint8_t *to, const struct syscalls_cpu *cpu);
void fpstate_fresh(struct syscalls_cpu *cpu); /* what a handler starts with */

/* One that comes back from a frame. */
struct fpstate {
    bool is_there;       /* else it is as after a reset */
    bool obeys;          /* XRSTOR takes it */
    uint64_t components; /* to be loaded: those that are */
    uint64_t there;      /* there, else as after a reset */
    uint8_t area[CPU_XSAVE_MOST_BYTES];
};
/* Reads the one at this address, 0: none. 0, or -EFAULT. */
int64_t fpstate_read(struct call *c, struct fpstate *out, uint64_t address);
/* False: a CPU raises an exception, and the state is as after a reset. */
bool fpstate_take(struct syscalls_cpu *cpu, const struct fpstate *from);

#endif
