/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What processes show of themselves in /proc, to each other.
 *
 * Model
 *   Each process writes its numbers into the list of processes when its turn ends, and its names when it is made and
 *   when it becomes another program. So a reader of /proc/PID of another one sees it as it was at the end of its last
 *   turn: the same in every run.
 *
 * Not modelled
 *   Of a program's arguments and environment more than PROCESSES_TEXT bytes together; threads beyond PROCESSES_THREADS,
 *   descriptors beyond PROCESSES_FILES (kcmp).
 */
#include <string.h>

#include "syscalls/kernel_priv.h"

static struct process_view *view_of(struct syscalls *kernel, const struct process *process)
{
    return &kernel->processes->views[process - kernel->processes->list];
}

const struct process_view *views_of(const struct syscalls *kernel, const struct process *process)
{
    return &kernel->processes->views[process - kernel->processes->list];
}

/* ------------------------------------------------------------------ names */

static size_t views_put(char *text, size_t used, const char *from, size_t bytes, size_t *kept)
{
    *kept = bytes < PROCESSES_TEXT - used ? bytes : PROCESSES_TEXT - used;
    memcpy(text + used, from, *kept);
    return used + *kept;
}

void views_publish_names(struct syscalls *kernel, struct process *process)
{
    const struct kernel_names *names = &kernel->names;
    struct process_view *view = view_of(kernel, process);
    char *text = kernel->processes->texts[process - kernel->processes->list];
    size_t used = views_put(text, 0, names->program_path, strlen(names->program_path) + 1, &view->program_bytes);
    used = views_put(text, used, names->arguments, names->arguments_bytes, &view->arguments_bytes);
    views_put(text, used, names->environment, names->environment_bytes, &view->environment_bytes);
}

struct views_texts views_texts(const struct syscalls *kernel, const struct process *process)
{
    const struct kernel_names *names = &kernel->names;
    const struct process_view *view = views_of(kernel, process);
    const char *text = kernel->processes->texts[process - kernel->processes->list];
    if (process == kernel->self)
        return (struct views_texts){names->program_path, names->arguments, names->environment, names->arguments_bytes,
                                    names->environment_bytes};
    return (struct views_texts){text, text + view->program_bytes, text + view->program_bytes + view->arguments_bytes,
                                view->arguments_bytes, view->environment_bytes};
}

/* ------------------------------------------------------------------ numbers */

static char views_state_of(const struct syscalls *kernel, const struct kernel_thread *thread)
{
    if (stops_is_stopped(kernel))
        return 'T';
    return thread->wait.kind == KERNEL_RUNS ? 'R' : thread->wait.kind == KERNEL_WAITS_VFORK ? 'D' : 'S';
}

static void show_thread(struct process_thread *out, const struct syscalls *kernel, const struct kernel_thread *thread,
                        uint64_t instructions)
{
    *out = (struct process_thread){.tid = thread->tid,
                                   .state = views_state_of(kernel, thread),
                                   .cpu_ns = kernel_thread_ns(kernel, thread->tid, instructions),
                                   .pending = thread->pending.set,
                                   .blocked = thread->signals.blocked,
                                   .no_new_privileges = thread->no_new_privileges};
    memcpy(out->name, thread->name, sizeof out->name);
}

static void show_signals(struct process_view *view, const struct signals *signals)
{
    enum { DEFAULT, IGNORE };
    view->pending = signals->pending.set;
    view->ignored = view->caught = 0;
    for (int signal = 1; signal <= SIGNALS_COUNT; signal++) {
        const uint64_t handler = signals->action[signal].handler;
        *(handler == IGNORE ? &view->ignored : &view->caught) |= handler == DEFAULT ? 0 : signals_bit(signal);
    }
}

static uint64_t mapped_bytes(const struct syscalls *kernel)
{
    uint64_t total = 0;
    const struct mmu_area *area = mmu_area_at(mmu_areas(kernel->mmu), (struct guest_va){0}, true);
    for (; area; area = mmu_area_at(mmu_areas(kernel->mmu), (struct guest_va){area->start.v + area->bytes}, true))
        total += area->bytes;
    return total;
}

void views_publish(struct syscalls *kernel, uint64_t instructions)
{
    struct process_view *view = view_of(kernel, kernel->self);
    const struct mmu_usage usage = mmu_usage(kernel->mmu);
    view->cpu_ns = kernel_cpu_ns(kernel, instructions);
    view->faults = kernel->self->faults + usage.faults;
    view->resident_bytes = usage.resident_bytes;
    view->locked_bytes = ranges_bytes(&kernel->locked.ranges, 0, UINT64_MAX);
    view->mapped_bytes = kernel->remapped ? mapped_bytes(kernel) : view->mapped_bytes;
    kernel->remapped = false;
    view->mask = kernel->identity.mask;
    view->directory = kernel->fds.cwd;
    for (uint32_t fd = 0; fd < PROCESSES_FILES; fd++)
        view->files[fd] = fd >= kernel->fds.end || kernel->fds.entry[fd].kind == FD_FREE
                              ? 0
                              : kernel->fds.entry[fd].description;
    view->threads = kernel->thread_count;
    show_signals(view, &kernel->signals);
    for (uint32_t i = 0; i < kernel->thread_count && i < PROCESSES_THREADS; i++)
        show_thread(&view->thread[i], kernel, kernel->threads[i], instructions);
}

void views_begin(struct syscalls *kernel, struct process *child, uint64_t now)
{
    struct process_view *view = view_of(kernel, child);
    views_publish(kernel, kernel->instructions);
    *view = *views_of(kernel, kernel->self);
    view->started_ns = now;
    view->cpu_ns = view->faults = view->pending = 0;
    view->threads = 1;
    show_thread(&view->thread[0], kernel, kernel->current, kernel->instructions);
    view->thread[0].tid = child->pid;
    view->thread[0].cpu_ns = view->thread[0].pending = 0;
    views_publish_names(kernel, kernel->self);
    views_publish_names(kernel, child);
}

/* ------------------------------------------------------------------ processes */

const struct process *views_next(const struct syscalls *kernel, uint32_t from)
{
    const struct process *list = kernel->processes->list, *next = NULL;
    for (uint32_t i = 0; i < kernel->processes->used; i++)
        if (list[i].state != PROCESS_NONE && list[i].pid >= from && (!next || list[i].pid < next->pid))
            next = &list[i];
    return next;
}

const struct process *views_find(const struct syscalls *kernel, uint32_t pid)
{
    const struct process *process = views_next(kernel, pid);
    return process && process->pid == pid ? process : NULL;
}

const struct process_thread *views_thread(const struct process_view *view, uint32_t tid)
{
    for (uint32_t i = 0; i < view->threads && i < PROCESSES_THREADS; i++)
        if (view->thread[i].tid == tid)
            return &view->thread[i];
    return NULL;
}
