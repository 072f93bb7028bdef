/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * POSIX message queues: mq_open and its kin.
 *
 * Model
 *   A queue lies in the memory that all processes of the run share (ipc.c), its messages by priority. A descriptor of
 *   it is a pollable proxy (pollable proxy.c) of another kind: an eventfd of the host's, 0 while the queue is empty, at
 *   its most while that is full, 1 between, so that the host's poll says what is ready. As with the other objects a
 *   message goes to its waiter, and room to the message of the longest waiter.
 *
 *   A request for a function to be called (SIGEV_THREAD) gives a netlink socket and what is to be sent there, in the
 *   last byte of which the kernel says why; where another process sends the message it is left until the turn of the
 *   one that asked.
 *
 * Invariants
 *   A queue without a name is there as long as a descriptor of any process leads to it. A waiter for a message finds
 *   the queue empty, a waiter for room finds it full.
 *
 * Not modelled
 *   Limits that root may raise: 10 messages of 8 KiB. A file system of them.
 */
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "syscalls/kernel_priv.h"
#include "syscalls/pollable_priv.h"

static struct ipc_mqueue *queue_at(const struct ipc *ipc, uint32_t index)
{
    return (struct ipc_mqueue *)(uintptr_t)&ipc->mqueues[index];
}

static int32_t id_of(const struct ipc *ipc, const struct ipc_mqueue *queue) { return (int32_t)(queue - ipc->mqueues); }

/* ------------------------------------------------------------------ notices */

enum { NOTIFY_WOKENUP = 1, NOTIFY_REMOVED = 2 }; /* linux/mqueue.h, which the C library's header forbids */

/* By its socket, if that is open still. */
static void send_notice(struct syscalls *kernel, const struct ipc_notice *notice)
{
    const struct fd_entry *entry = fds_at(kernel, (uint64_t)notice->socket);
    if (entry && entry->kind == FD_NETLINK)
        (void)send(entry->host, notice->bytes, sizeof notice->bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void mqueue_take_notices(struct syscalls *kernel)
{
    struct ipc *ipc = kernel->ipc.shared;
    for (uint32_t i = 0; ipc && i < ipc->mqueues_used; i++)
        if (ipc->mqueues[i].due.pid == kernel->pid) {
            send_notice(kernel, &ipc->mqueues[i].due);
            ipc->mqueues[i].due.pid = 0;
        }
}

/* That a message has come, or that there is no waiter any more; at once, or when it is its process's turn. */
static void give_notice(struct syscalls *kernel, struct ipc_mqueue *queue, uint8_t what)
{
    struct ipc_notice *notice = &queue->notice;
    if (notice->pid == 0)
        return;
    notice->bytes[sizeof notice->bytes - 1] = what;
    if (notice->pid == kernel->pid) {
        send_notice(kernel, notice);
    } else {
        queue->due = *notice;
        kernel->processes->events++;
    }
    notice->pid = 0;
}

static void forget_notification(struct syscalls *kernel, struct ipc_mqueue *queue)
{
    queue->notifies = 0;
    give_notice(kernel, queue, NOTIFY_REMOVED);
}

/* ------------------------------------------------------------------ descriptors */

void mqueue_refresh(const struct syscalls *kernel, const struct fd_entry *entry)
{
    const struct ipc_mqueue *queue = queue_at(kernel->ipc.shared, entry->pollable->queue);
    pollable_show(entry->host, queue->count > 0, queue->count < queue->most);
}

static void end_if_unused(struct ipc_mqueue *queue)
{
    if (!queue->named && queue->descriptors == 0)
        queue->used = false;
}

void mqueue_release(const struct fd_entry *entry)
{
    struct syscalls *kernel = entry->pollable->kernel;
    struct ipc_mqueue *queue = queue_at(kernel->ipc.shared, entry->pollable->queue);
    queue->descriptors--;
    if (queue->notifies == kernel->pid)
        forget_notification(kernel, queue);
    end_if_unused(queue);
}

void mqueue_copied(const struct fd_entry *entry)
{
    queue_at(entry->pollable->kernel->ipc.shared, entry->pollable->queue)->descriptors++;
}

void mqueue_fork(const struct syscalls *kernel, bool made)
{
    for (uint32_t fd = 0; kernel->fds.pollables && fd < kernel->fds.end; fd++) {
        const struct fd_entry *entry = &kernel->fds.entry[fd];
        if (entry->kind == FD_MQUEUE)
            queue_at(kernel->ipc.shared, entry->pollable->queue)->descriptors += made ? 1u : -1u;
    }
}

/* ------------------------------------------------------------------ opening */

/* 0 or why no queue can be called so. */
static int64_t check_name(const char *name)
{
    if (name[0] == '\0')
        return -ENOENT;
    if (strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return -EACCES;
    return strlen(name) < IPC_MQUEUE_NAME ? 0 : -ENAMETOOLONG;
}

static struct ipc_mqueue *mqueue_find(struct ipc *ipc, const char *name)
{
    for (uint32_t i = 0; i < ipc->mqueues_used; i++)
        if (ipc->mqueues[i].used && ipc->mqueues[i].named && strcmp(ipc->mqueues[i].name, name) == 0)
            return &ipc->mqueues[i];
    return NULL;
}

/* attr: NULL takes the usual ones. */
static int64_t mqueue_make(struct call *c, const char *name, const struct mq_attr *attr, struct ipc_mqueue **out)
{
    struct ipc *ipc = c->kernel->ipc.shared;
    if (attr && (attr->mq_maxmsg <= 0 || attr->mq_msgsize <= 0 || attr->mq_maxmsg > IPC_MQUEUE_MOST ||
                 attr->mq_msgsize > IPC_MESSAGE_BYTES))
        return -EINVAL;
    for (uint32_t i = 0; i < IPC_MQUEUES; i++) {
        struct ipc_mqueue *queue = &ipc->mqueues[i];
        if (queue->used)
            continue;
        memset(queue, 0, offsetof(struct ipc_mqueue, messages));
        queue->used = queue->named = true;
        ipc->mqueues_used = i < ipc->mqueues_used ? ipc->mqueues_used : i + 1;
        strcpy(queue->name, name);
        queue->mode = (uint16_t)((mode_t)c->arg[2] & ~c->kernel->identity.mask & 0777);
        queue->most = attr ? (uint32_t)attr->mq_maxmsg : IPC_MQUEUE_MOST;
        queue->bytes = attr ? (uint32_t)attr->mq_msgsize : IPC_MESSAGE_BYTES;
        *out = queue;
        return 0;
    }
    return -ENOSPC;
}

static int64_t find_or_make(struct call *c, const char *name, int flags, struct ipc_mqueue **out)
{
    *out = mqueue_find(c->kernel->ipc.shared, name);
    if (*out && flags & O_CREAT && flags & O_EXCL)
        return -EEXIST;
    if (*out && (flags & O_ACCMODE) == O_ACCMODE)
        return -EINVAL;
    if (*out) {
        const int wanted = (flags & O_ACCMODE) == O_RDONLY ? 4 : (flags & O_ACCMODE) == O_WRONLY ? 2 : 6;
        return wanted & ~((*out)->mode >> 6) ? -EACCES : 0;
    }
    if (!(flags & O_CREAT))
        return -ENOENT;
    return mqueue_make(c, name, c->ptr[3], out);
}

static int64_t mqueue_add_descriptor(struct call *c, struct ipc_mqueue *queue, int flags)
{
    struct syscalls *kernel = c->kernel;
    struct fd_pollable *pollable = c2_calloc(1, sizeof *pollable);
    if (!pollable)
        return -ENOMEM;
    const int host = eventfd(0, EFD_CLOEXEC | (flags & O_NONBLOCK ? EFD_NONBLOCK : 0));
    const int64_t fd = fds_add(kernel, host, FD_WAIT_SELF, true);
    if (fd < 0) {
        c2_free(pollable);
        return fd;
    }
    *pollable = (struct fd_pollable){.users = 1,
                                     .due = LAMPS_NEVER,
                                     .queue = (uint32_t)id_of(kernel->ipc.shared, queue),
                                     .access = flags & O_ACCMODE,
                                     .kernel = kernel};
    struct fd_entry *entry = fds_at(kernel, (uint64_t)fd);
    entry->kind = FD_MQUEUE;
    entry->pollable = pollable;
    kernel->fds.pollables = true;
    queue->descriptors++;
    mqueue_refresh(kernel, entry);
    return fd;
}

int64_t mqueue_open(struct call *c)
{
    const char *name = c->ptr[0];
    const int flags = (int)c->arg[1];
    struct ipc_mqueue *queue;
    int64_t status = ipc_ready(c->kernel);
    if (status == 0)
        status = fds_lowest_free(c->kernel, 0);
    if (status >= 0)
        status = check_name(name);
    if (status == 0)
        status = find_or_make(c, name, flags, &queue);
    if (status < 0)
        return status;
    return flags & O_DIRECT ? -EINVAL : mqueue_add_descriptor(c, queue, flags);
}

int64_t mqueue_unlink(struct call *c)
{
    int64_t status = ipc_ready(c->kernel);
    if (status == 0)
        status = check_name(c->ptr[0]);
    struct ipc_mqueue *queue = status == 0 ? mqueue_find(c->kernel->ipc.shared, c->ptr[0]) : NULL;
    if (!queue)
        return status < 0 ? status : -ENOENT;
    queue->named = false;
    end_if_unused(queue);
    return 0;
}

/* ------------------------------------------------------------------ messages */

/* The queue of the descriptor, if it may be used so: O_RDONLY, O_WRONLY; NULL. */
static struct ipc_mqueue *queue_of(const struct call *c, int access)
{
    const struct fd_entry *entry = fds_at(c->kernel, c->arg[0]);
    if (entry->kind != FD_MQUEUE || (entry->pollable->access != O_RDWR && entry->pollable->access != access))
        return NULL;
    return queue_at(c->kernel->ipc.shared, entry->pollable->queue);
}

static bool may_wait(const struct call *c) { return !(fcntl(c->fd[0], F_GETFL) & O_NONBLOCK); }

/* Behind those of its priority and above. */
static void mqueue_put(struct ipc_mqueue *queue, uint32_t priority, const uint8_t *text, uint64_t bytes)
{
    uint32_t at = 0;
    while (at < queue->count && queue->messages[at].priority >= priority)
        at++;
    memmove(&queue->messages[at + 1], &queue->messages[at], (queue->count - at) * sizeof *queue->messages);
    queue->messages[at].priority = priority;
    queue->messages[at].bytes = (uint32_t)bytes;
    memcpy(queue->messages[at].text, text, bytes);
    queue->count++;
}

/* A moment of CLOCK_REALTIME as guest time; KERNEL_NEVER if none is given. */
static int64_t take_deadline(struct call *c, const struct timespec *time, uint64_t *deadline)
{
    uint64_t ns;
    *deadline = KERNEL_NEVER;
    if (!time)
        return 0;
    if (!kernel_timespec_ns(&ns, time))
        return -EINVAL;
    const uint64_t boot = c->kernel->boot_seconds * KERNEL_NS;
    *deadline = ns > boot ? ns - boot : 0;
    return 0;
}

static int64_t wait_until(struct call *c, struct ipc_waiter *waiter, uint64_t deadline, const char *why)
{
    const int64_t value = ipc_wait(c, waiter, deadline, why);
    c->kernel->current->wait.restarts = true;
    return value;
}

/* The process to notify of a message for the empty queue. */
static void notify(struct call *c, struct ipc_mqueue *queue)
{
    if (queue->notifies != 0)
        give_notice(c->kernel, queue, NOTIFY_WOKENUP);
    struct signals_info info = {.signal = (int)queue->signal, .code = SI_MESGQ};
    info.sender.pid = (int32_t)c->kernel->pid;
    info.sender.uid = IDENTITY_USER;
    info.sender.value = queue->value;
    const uint32_t to = queue->notifies;
    queue->notifies = 0;
    if (to != 0 && info.signal != 0)
        (void)processes_send(c, (int)to, &info);
}

static void mqueue_arrives(struct call *c, struct ipc_mqueue *queue, uint32_t priority, const uint8_t *text,
                           uint64_t bytes)
{
    struct ipc *ipc = c->kernel->ipc.shared;
    struct ipc_waiter *waiter = ipc_next(ipc, IPC_TAKES, id_of(ipc, queue), 0);
    if (waiter) {
        waiter->got = (struct ipc_message){.type = priority, .bytes = bytes};
        memcpy(waiter->text, text, bytes);
        ipc_answer(c->kernel, waiter, 0);
        return;
    }
    mqueue_put(queue, priority, text, bytes);
    if (queue->count == 1)
        notify(c, queue);
}

static int64_t send_again(struct call *c)
{
    int64_t value;
    const struct ipc_waiter *waiter = ipc_again(c, &value);
    return !waiter ? value : waiter->answer == -EAGAIN ? -ETIMEDOUT : waiter->answer;
}

static int64_t mqueue_wait_for_room(struct call *c, const struct ipc_mqueue *queue, uint64_t deadline)
{
    struct ipc *ipc = c->kernel->ipc.shared;
    if (!may_wait(c))
        return -EAGAIN;
    struct ipc_waiter *waiter = ipc_waiter(c, IPC_PUTS, id_of(ipc, queue));
    if (!waiter)
        return -ENOMEM;
    waiter->got = (struct ipc_message){.type = (int64_t)c->arg[3], .bytes = c->arg[2]};
    const int64_t status = guest_read(c, waiter->text, c->arg[1], c->arg[2]);
    waiter->used = status == 0;
    return status < 0 ? status : wait_until(c, waiter, deadline, "the queue is full, and nobody receives from it");
}

int64_t mqueue_send(struct call *c)
{
    uint8_t text[IPC_MESSAGE_BYTES];
    uint64_t deadline;
    if (c->again)
        return send_again(c);
    if (c->arg[3] >= MQ_PRIO_MAX)
        return -EINVAL;
    int64_t status = take_deadline(c, c->ptr[4], &deadline);
    if (status < 0)
        return status;
    struct ipc_mqueue *queue = queue_of(c, O_WRONLY);
    if (!queue)
        return -EBADF;
    if (c->arg[2] > queue->bytes)
        return -EMSGSIZE;
    if (queue->count == queue->most)
        return mqueue_wait_for_room(c, queue, deadline);
    if ((status = guest_read(c, text, c->arg[1], c->arg[2])) == 0)
        mqueue_arrives(c, queue, (uint32_t)c->arg[3], text, c->arg[2]);
    return status;
}

static int64_t mqueue_give(struct call *c, uint32_t priority, const uint8_t *text, uint64_t bytes)
{
    int64_t status = bytes ? guest_write(c, c->arg[1], text, bytes) : 0;
    if (status == 0 && c->arg[3])
        status = guest_write(c, c->arg[3], &priority, sizeof priority);
    return status < 0 ? status : (int64_t)bytes;
}

/* The first one, and the waiter for room comes in. */
static int64_t mqueue_take(struct call *c, struct ipc_mqueue *queue)
{
    struct ipc *ipc = c->kernel->ipc.shared;
    const struct ipc_mqueue_message first = queue->messages[0];
    queue->count--;
    memmove(&queue->messages[0], &queue->messages[1], queue->count * sizeof *queue->messages);
    struct ipc_waiter *waiter = ipc_next(ipc, IPC_PUTS, id_of(ipc, queue), 0);
    if (waiter) {
        mqueue_put(queue, (uint32_t)waiter->got.type, waiter->text, waiter->got.bytes);
        ipc_answer(c->kernel, waiter, 0);
    }
    return mqueue_give(c, first.priority, first.text, first.bytes);
}

static int64_t mqueue_receive_again(struct call *c)
{
    int64_t value;
    const struct ipc_waiter *waiter = ipc_again(c, &value);
    if (!waiter)
        return value;
    if (waiter->answer < 0)
        return waiter->answer == -EAGAIN ? -ETIMEDOUT : waiter->answer;
    return mqueue_give(c, (uint32_t)waiter->got.type, waiter->text, waiter->got.bytes);
}

int64_t mqueue_receive(struct call *c)
{
    uint64_t deadline;
    if (c->again)
        return mqueue_receive_again(c);
    const int64_t status = take_deadline(c, c->ptr[4], &deadline);
    if (status < 0)
        return status;
    struct ipc_mqueue *queue = queue_of(c, O_RDONLY);
    if (!queue)
        return -EBADF;
    if (c->arg[2] < queue->bytes)
        return -EMSGSIZE;
    if (queue->count > 0)
        return mqueue_take(c, queue);
    if (!may_wait(c))
        return -EAGAIN;
    struct ipc_waiter *waiter = ipc_waiter(c, IPC_TAKES, id_of(c->kernel->ipc.shared, queue));
    return waiter ? wait_until(c, waiter, deadline, "nobody sends a message") : -ENOMEM;
}

/* ------------------------------------------------------------------ notification, attributes */

/* Any access will do. */
static struct ipc_mqueue *any_queue_of(const struct call *c)
{
    const struct fd_entry *entry = fds_at(c->kernel, c->arg[0]);
    return entry->kind == FD_MQUEUE ? queue_at(c->kernel->ipc.shared, entry->pollable->queue) : NULL;
}

/* SIGEV_THREAD: the signal's number is that of a socket, and its value points to what is sent there. */
static int64_t take_notice(struct call *c, const struct sigevent *event, struct ipc_notice *out)
{
    const struct fd_entry *entry = fds_at(c->kernel, (uint64_t)event->sigev_signo);
    int type;
    socklen_t bytes = sizeof type;
    *out = (struct ipc_notice){.pid = c->kernel->pid, .socket = event->sigev_signo};
    const int64_t status = guest_read(c, out->bytes, (uintptr_t)event->sigev_value.sival_ptr, sizeof out->bytes);
    if (status < 0)
        return status;
    if (!entry)
        return -EBADF;
    if (getsockopt(entry->host, SOL_SOCKET, SO_TYPE, &type, &bytes) < 0)
        return -ENOTSOCK;
    return entry->kind == FD_NETLINK ? 0 : -EINVAL;
}

int64_t mqueue_notify(struct call *c)
{
    const struct sigevent *event = c->ptr[1];
    const bool tells = event && event->sigev_notify == SIGEV_SIGNAL;
    struct ipc_notice notice = {.pid = 0};
    if (event && event->sigev_notify != SIGEV_NONE && event->sigev_notify != SIGEV_THREAD && !tells)
        return -EINVAL;
    if (tells && (event->sigev_signo < 0 || event->sigev_signo > SIGNALS_COUNT))
        return -EINVAL;
    const int64_t status = event && event->sigev_notify == SIGEV_THREAD ? take_notice(c, event, &notice) : 0;
    if (status < 0)
        return status;
    struct ipc_mqueue *queue = any_queue_of(c);
    if (!queue)
        return -EBADF;
    if (!event) {
        if (queue->notifies == c->kernel->pid)
            forget_notification(c->kernel, queue);
        return 0;
    }
    if (queue->notifies != 0)
        return -EBUSY;
    queue->notifies = c->kernel->pid;
    queue->notice = notice;
    queue->signal = tells ? (uint32_t)event->sigev_signo : 0;
    queue->value = (uint64_t)(uintptr_t)event->sigev_value.sival_ptr;
    return 0;
}

int64_t mqueue_attributes(struct call *c)
{
    const struct mq_attr *wanted = c->ptr[1];
    if (wanted && wanted->mq_flags & ~(long)O_NONBLOCK)
        return -EINVAL;
    const struct ipc_mqueue *queue = any_queue_of(c);
    if (!queue)
        return -EBADF;
    const int flags = fcntl(c->fd[0], F_GETFL);
    if (c->ptr[2])
        *(struct mq_attr *)c->ptr[2] = (struct mq_attr){.mq_flags = flags & O_NONBLOCK,
                                                        .mq_maxmsg = queue->most,
                                                        .mq_msgsize = queue->bytes,
                                                        .mq_curmsgs = queue->count};
    if (wanted)
        fcntl(c->fd[0], F_SETFL, (flags & ~O_NONBLOCK) | (int)wanted->mq_flags);
    return 0;
}
