/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Processes that are stopped, and go on.
 */
#ifndef C2_SYSCALLS_STOPS_PRIV_H
#define C2_SYSCALLS_STOPS_PRIV_H

#include "syscalls/processes_priv.h"

/* One of the four that stop where they have no handler. */
bool stops_is_stop(int signal);
/* What is not pending any more once the signal is sent: bits. */
uint64_t stops_taken_back(int signal);
bool stops_is_stopped(const struct syscalls *kernel);
/* One of the four that this process takes, without a handler, and that does nothing: its group is orphaned. */
bool stops_is_for_nothing(const struct syscalls *kernel, int signal);
/* The process takes one that stops it; a signal is sent to a process that may be stopped. */
void stops_stop(struct syscalls *kernel, int signal);
void stops_end(struct syscalls *kernel, struct process *process, int signal);
/* In one that goes on: its parent gets to know. */
void stops_tell(struct syscalls *kernel);
/* The process ends: groups that no other could let go on do. */
void stops_leave_groups(struct syscalls *kernel);

#endif
