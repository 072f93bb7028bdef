/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What threads have asked of the scheduler, in all processes of the run (priorities.c).
 */
#ifndef C2_SYSCALLS_PRIORITIES_PRIV_H
#define C2_SYSCALLS_PRIORITIES_PRIV_H

#include <stdbool.h>
#include <stdint.h>

struct syscalls;
struct checkpoint;

enum { PRIORITIES_MOST = 8192 }; /* threads that have asked for anything */

struct priority {
    int nice;          /* -20 .. 19 */
    int policy;        /* SCHED_OTHER ... */
    bool resets;       /* SCHED_RESET_ON_FORK */
    uint16_t io;       /* class and level, as ioprio_get has them; 0: none */
    uint64_t affinity; /* a bit a processor */
};

struct priorities {
    uint32_t used; /* of the list: nothing lies behind */
    struct {
        bool used;
        uint32_t pid, tid;
        struct priority is;
    } list[PRIORITIES_MOST];
};

/* That of a thread of any process; at first SCHED_OTHER, nice 0, on all processors. */
struct priority priorities_of(const struct syscalls *kernel, uint32_t tid);
/* False: too many threads have asked for something else than that. pid: the thread's process. */
bool priorities_set(struct syscalls *kernel, uint32_t pid, uint32_t tid, const struct priority *priority);
/* A new thread, or the first one of a new process, has what the running one has. */
void priorities_inherit(struct syscalls *kernel, uint32_t pid, uint32_t tid);
/* The thread ends; and all of the process's, but for one (0: all) which is called `as` then. */
void priorities_end(struct syscalls *kernel, uint32_t tid);
void priorities_end_others(struct syscalls *kernel, uint32_t pid, uint32_t kept, uint32_t as);
void priorities_checkpoint(struct syscalls *kernel, uint32_t tid, struct checkpoint *checkpoint);

#endif
