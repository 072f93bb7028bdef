/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What processes show of themselves in /proc, to each other.
 */
#ifndef C2_SYSCALLS_VIEWS_PRIV_H
#define C2_SYSCALLS_VIEWS_PRIV_H

#include "syscalls/processes_priv.h"

/* The numbers of now, of this process; the others' are of when their turns ended. */
void views_publish(struct syscalls *kernel, uint64_t instructions);
/* What a process is called, into the room that others see: this one's names for it, or for its child. */
void views_publish_names(struct syscalls *kernel, struct process *process);
/* A child that has not had a turn yet. */
void views_begin(struct syscalls *kernel, struct process *child, uint64_t now);
/* Its texts, which lie one behind the other; lent until the turn ends. */
struct views_texts {
    const char *program, *arguments, *environment;
    size_t arguments_bytes, environment_bytes;
};
struct views_texts views_texts(const struct syscalls *kernel, const struct process *process);
const struct process_view *views_of(const struct syscalls *kernel, const struct process *process);
/* By numbers, of those that are shown; NULL: there is none. views_next: the first from `from` on. */
const struct process *views_find(const struct syscalls *kernel, uint32_t pid);
const struct process *views_next(const struct syscalls *kernel, uint32_t from);
const struct process_thread *views_thread(const struct process_view *view, uint32_t tid);

#endif
