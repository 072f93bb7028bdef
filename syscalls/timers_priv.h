/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Timers that send signals (timers.c).
 */
#ifndef C2_SYSCALLS_TIMERS_PRIV_H
#define C2_SYSCALLS_TIMERS_PRIV_H

#include "syscalls/signals_priv.h"

enum timer_counts { TIMER_TIME, TIMER_PROCESS, TIMER_THREAD }; /* guest time, or CPU time of the process or a thread */

struct timer {
    bool used;
    bool real;   /* moments are given since 1970 */
    bool queued; /* its signal is pending */
    int id;      /* of timer_create; -1: of setitimer */
    enum timer_counts counts;
    uint32_t owner;         /* TIMER_THREAD: the thread with the time */
    uint64_t due, interval; /* ns of what it counts, since boot; due is KERNEL_NEVER while disarmed */
    int signal;             /* 0: none */
    uint32_t thread;        /* it is for this one; 0: the process */
    uint64_t value;
    uint64_t overruns; /* since its signal was sent */
    uint32_t told;     /* those of the signal that was taken last */
};

/* The first moment of guest time that one is due at; KERNEL_NEVER. */
uint64_t timers_next(const struct syscalls *kernel);
/* A signal is taken out of those pending: one of a timer's says how many it stands for. */
void timers_taken(struct syscalls *kernel, struct signals_info *info);
/* RLIMIT_CPU is another one, or another process's by now. False: no memory. */
bool timers_limit_cpu(struct syscalls *kernel, uint64_t instructions);
void timers_forget(struct syscalls *kernel);     /* those of timer_create: execve */
void timers_forget_all(struct syscalls *kernel); /* in the child of a fork */

#endif
