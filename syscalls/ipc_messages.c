/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Queues of messages: msgget, msgsnd, msgrcv, msgctl.
 *
 * Model
 *   The messages of a queue lie one behind the other, in the order in which they came. One that is waited for goes
 *   to the waiter and is never in the queue; room goes to the longest waiter's message at once.
 *
 * Invariants
 *   A waiting receiver wants none of the messages of the queue, the first waiting sender's does not fit.
 *
 * Not modelled
 *   MSG_COPY (ENOSYS, as in a kernel without checkpoints); more than IPC_QUEUE_BYTES in a queue.
 */
#include <string.h>
#include <sys/msg.h>

#include "syscalls/ipc_priv.h"
#include "syscalls/kernel_priv.h"

/* ------------------------------------------------------------------ making */

int64_t ipc_messages_get(struct call *c)
{
    const int32_t key = (int32_t)c->arg[0];
    const int flags = (int)c->arg[1];
    struct ipc_object *object;
    struct ipc_queue *queue;
    int64_t id = ipc_get(c, IPC_KIND_QUEUE, key, flags, &object);
    if (id < 0)
        return id;
    if (object) {
        const int64_t status = ipc_allows(object, flags & 0777);
        return status < 0 ? status : id;
    }
    id = ipc_make(c, IPC_KIND_QUEUE, key, flags, &queue);
    if (id >= 0)
        queue->most = IPC_QUEUE_BYTES;
    return id;
}

/* ------------------------------------------------------------------ what lies in a queue */

static uint64_t bytes_in_room(uint64_t bytes) { return sizeof(struct ipc_message) + c2_align_up(bytes, 8); }

static struct ipc_message head_at(const struct ipc_queue *queue, uint64_t offset)
{
    struct ipc_message head;
    memcpy(&head, &queue->room[offset], sizeof head);
    return head;
}

static bool ipc_messages_fits(const struct ipc_queue *queue, uint64_t bytes)
{
    return queue->bytes + bytes <= queue->most && queue->count + 1u <= queue->most;
}

static void ipc_messages_put(struct ipc_queue *queue, const struct ipc_message *head, const uint8_t *text)
{
    memcpy(&queue->room[queue->used], head, sizeof *head);
    memcpy(&queue->room[queue->used + sizeof *head], text, head->bytes);
    queue->used += bytes_in_room(head->bytes);
    queue->bytes += head->bytes;
    queue->count++;
}

static void ipc_messages_drop(struct ipc_queue *queue, uint64_t offset)
{
    const uint64_t bytes = head_at(queue, offset).bytes, behind = offset + bytes_in_room(bytes);
    memmove(&queue->room[offset], &queue->room[behind], queue->used - behind);
    queue->used -= behind - offset;
    queue->bytes -= bytes;
    queue->count--;
}

/* 0: any; else that type, or but for that type; below 0: the lowest one up to so much. */
static bool ipc_messages_is_wanted(int64_t type, int64_t wanted, int flags)
{
    if (wanted == 0)
        return true;
    if (wanted < 0)
        return type <= (wanted == INT64_MIN ? INT64_MAX : -wanted);
    return (type == wanted) != ((flags & MSG_EXCEPT) != 0);
}

/* Where the message lies that is wanted; `used`: there is none. */
static uint64_t ipc_messages_find(const struct ipc_queue *queue, int64_t wanted, int flags)
{
    uint64_t found = queue->used;
    int64_t lowest = INT64_MAX;
    for (uint64_t at = 0; at < queue->used; at += bytes_in_room(head_at(queue, at).bytes)) {
        const int64_t type = head_at(queue, at).type;
        if (!ipc_messages_is_wanted(type, wanted, flags))
            continue;
        if (wanted >= 0)
            return at;
        if (found == queue->used || type < lowest) {
            found = at;
            lowest = type;
        }
    }
    return found;
}

/* ------------------------------------------------------------------ sending */

/* To the first that waits for such a message and has room for it; those that have not are told. */
static bool ipc_messages_hand_over(struct syscalls *kernel, struct ipc_queue *queue, const struct ipc_message *head,
                                   const uint8_t *text, uint64_t now)
{
    struct ipc_waiter *waiter;
    for (uint64_t behind = 0; (waiter = ipc_next(kernel->ipc.shared, IPC_RECEIVES, queue->object.id, behind));
         behind = waiter->order) {
        if (!ipc_messages_is_wanted(head->type, waiter->type, waiter->flags))
            continue;
        if (head->bytes > waiter->bytes && !(waiter->flags & MSG_NOERROR)) {
            ipc_answer(kernel, waiter, -E2BIG);
            continue;
        }
        waiter->got = *head;
        memcpy(waiter->text, text, head->bytes);
        queue->last_receiver = waiter->pid;
        queue->received = now;
        ipc_answer(kernel, waiter, 0);
        return true;
    }
    return false;
}

static void ipc_messages_deliver(struct syscalls *kernel, struct ipc_queue *queue, const struct ipc_message *head,
                                 const uint8_t *text, uint32_t sender, uint64_t now)
{
    queue->last_sender = sender;
    queue->sent = now;
    if (!ipc_messages_hand_over(kernel, queue, head, text, now))
        ipc_messages_put(queue, head, text);
}

static int64_t ipc_messages_wait_for_room(struct call *c, const struct ipc_queue *queue, const struct ipc_message *head,
                                          const uint8_t *text)
{
    struct ipc_waiter *waiter = ipc_waiter(c, IPC_SENDS, queue->object.id);
    if (!waiter)
        return -ENOMEM;
    waiter->got = *head;
    memcpy(waiter->text, text, head->bytes);
    return ipc_wait(c, waiter, KERNEL_NEVER, "the queue is full, and nobody receives from it");
}

/* struct msgbuf: a type, then the text. */
static int64_t take_message(struct call *c, struct ipc_message *head, uint8_t text[IPC_MESSAGE_BYTES])
{
    if (c->arg[2] > IPC_MESSAGE_BYTES || (int)c->arg[0] < 0)
        return -EINVAL;
    int64_t status = guest_read(c, &head->type, c->arg[1], sizeof head->type);
    if (status < 0)
        return status;
    head->bytes = c->arg[2];
    return head->type < 1 ? -EINVAL : guest_read(c, text, c->arg[1] + sizeof head->type, head->bytes);
}

int64_t ipc_messages_send(struct call *c)
{
    struct ipc_message head;
    uint8_t text[IPC_MESSAGE_BYTES];
    int64_t status = 0;
    if (c->again) {
        const struct ipc_waiter *waiter = ipc_again(c, &status);
        return waiter ? waiter->answer : status;
    }
    if ((status = take_message(c, &head, text)) < 0)
        return status;
    struct ipc_queue *queue = ipc_find(c, IPC_KIND_QUEUE, c->arg[0], false);
    if (!queue)
        return -EINVAL;
    if ((status = ipc_allows(&queue->object, 0222)) < 0)
        return status;
    if (!ipc_messages_fits(queue, head.bytes))
        return c->arg[3] & IPC_NOWAIT ? -EAGAIN : ipc_messages_wait_for_room(c, queue, &head, text);
    ipc_messages_deliver(c->kernel, queue, &head, text, c->kernel->pid, ipc_now(c));
    return 0;
}

/* ------------------------------------------------------------------ receiving */

/* There is room again: for those that wait for it. */
static void let_in(struct syscalls *kernel, struct ipc_queue *queue, uint64_t now)
{
    struct ipc_waiter *waiter;
    while ((waiter = ipc_next(kernel->ipc.shared, IPC_SENDS, queue->object.id, 0)) &&
           ipc_messages_fits(queue, waiter->got.bytes)) {
        ipc_messages_deliver(kernel, queue, &waiter->got, waiter->text, waiter->pid, now);
        ipc_answer(kernel, waiter, 0);
    }
}

static int64_t ipc_messages_give(struct call *c, const struct ipc_message *head, const uint8_t *text)
{
    const uint64_t bytes = head->bytes < c->arg[2] ? head->bytes : c->arg[2];
    int64_t status = guest_write(c, c->arg[1], &head->type, sizeof head->type);
    if (status == 0 && bytes > 0)
        status = guest_write(c, c->arg[1] + sizeof head->type, text, bytes);
    return status < 0 ? status : (int64_t)bytes;
}

static int64_t ipc_messages_take_from(struct call *c, struct ipc_queue *queue, uint64_t at)
{
    const struct ipc_message head = head_at(queue, at);
    uint8_t text[IPC_MESSAGE_BYTES];
    if (head.bytes > c->arg[2] && !(c->arg[4] & MSG_NOERROR))
        return -E2BIG;
    memcpy(text, &queue->room[at + sizeof head], head.bytes);
    ipc_messages_drop(queue, at);
    queue->last_receiver = c->kernel->pid;
    queue->received = ipc_now(c);
    let_in(c->kernel, queue, ipc_now(c));
    return ipc_messages_give(c, &head, text);
}

static int64_t wait_for_message(struct call *c, const struct ipc_queue *queue)
{
    struct ipc_waiter *waiter = ipc_waiter(c, IPC_RECEIVES, queue->object.id);
    if (!waiter)
        return -ENOMEM;
    waiter->type = (int64_t)c->arg[3];
    waiter->flags = (int)c->arg[4];
    waiter->bytes = c->arg[2];
    return ipc_wait(c, waiter, KERNEL_NEVER, "nobody sends such a message");
}

static int64_t ipc_messages_receive_again(struct call *c)
{
    int64_t value;
    const struct ipc_waiter *waiter = ipc_again(c, &value);
    if (!waiter)
        return value;
    return waiter->answer < 0 ? waiter->answer : ipc_messages_give(c, &waiter->got, waiter->text);
}

int64_t ipc_messages_receive(struct call *c)
{
    const int flags = (int)c->arg[4];
    if (c->again)
        return ipc_messages_receive_again(c);
    if ((int64_t)c->arg[2] < 0 || (int)c->arg[0] < 0)
        return -EINVAL;
    if (flags & MSG_COPY)
        return flags & MSG_EXCEPT || !(flags & IPC_NOWAIT) ? -EINVAL : -ENOSYS;
    struct ipc_queue *queue = ipc_find(c, IPC_KIND_QUEUE, c->arg[0], false);
    if (!queue)
        return -EINVAL;
    const int64_t status = ipc_allows(&queue->object, 0444);
    if (status < 0)
        return status;
    const uint64_t at = ipc_messages_find(queue, (int64_t)c->arg[3], flags);
    if (at < queue->used)
        return ipc_messages_take_from(c, queue, at);
    return flags & IPC_NOWAIT ? -ENOMSG : wait_for_message(c, queue);
}

/* ------------------------------------------------------------------ msgctl */

static int64_t ipc_messages_tell(struct call *c, const struct ipc_queue *queue, int command)
{
    struct msqid_ds out = {.msg_stime = (time_t)queue->sent,
                           .msg_rtime = (time_t)queue->received,
                           .msg_ctime = (time_t)queue->object.changed,
                           .__msg_cbytes = queue->bytes,
                           .msg_qnum = queue->count,
                           .msg_qbytes = queue->most,
                           .msg_lspid = (pid_t)queue->last_sender,
                           .msg_lrpid = (pid_t)queue->last_receiver};
    ipc_show(&queue->object, &out.msg_perm);
    int64_t status = command == MSG_STAT_ANY ? 0 : ipc_allows(&queue->object, 0444);
    if (status == 0)
        status = guest_write(c, c->arg[2], &out, sizeof out);
    return status < 0 || command == IPC_STAT ? status : queue->object.id;
}

/* IPC_INFO: limits; MSG_INFO: in three of them what there is. */
static int64_t ipc_messages_tell_limits(struct call *c, bool use)
{
    struct msginfo limits = {.msgpool = IPC_QUEUES * IPC_QUEUE_BYTES / 1024,
                             .msgmap = IPC_QUEUE_BYTES,
                             .msgmax = IPC_MESSAGE_BYTES,
                             .msgmnb = IPC_QUEUE_BYTES,
                             .msgmni = IPC_QUEUES,
                             .msgssz = 16,
                             .msgtql = IPC_QUEUE_BYTES,
                             .msgseg = 0xffff};
    const struct ipc *ipc = c->kernel->ipc.shared;
    int64_t last;
    const uint32_t count = ipc_count(ipc, IPC_KIND_QUEUE, &last);
    if (use) {
        limits.msgpool = (int)count;
        limits.msgmap = limits.msgtql = 0;
        for (uint32_t i = 0; ipc && i < ipc->used[IPC_KIND_QUEUE]; i++) {
            limits.msgmap += ipc->queues[i].object.used ? (int)ipc->queues[i].count : 0;
            limits.msgtql += ipc->queues[i].object.used ? (int)ipc->queues[i].bytes : 0;
        }
    }
    const int64_t status = guest_write(c, c->arg[2], &limits, sizeof limits);
    return status < 0 ? status : last;
}

static int64_t ipc_messages_change(struct call *c, struct ipc_queue *queue)
{
    struct msqid_ds to;
    int64_t status = guest_read(c, &to, c->arg[2], sizeof to);
    if (status == 0 && to.msg_qbytes > IPC_QUEUE_BYTES)
        status = -EPERM;
    if (status == 0)
        status = ipc_change(c, &queue->object, &to.msg_perm);
    if (status < 0)
        return status;
    queue->most = to.msg_qbytes;
    let_in(c->kernel, queue, ipc_now(c));
    return 0;
}

static int64_t ipc_messages_end(struct call *c, struct ipc_queue *queue)
{
    ipc_answer_all(c->kernel, IPC_SENDS, queue->object.id, -EIDRM);
    ipc_answer_all(c->kernel, IPC_RECEIVES, queue->object.id, -EIDRM);
    queue->object.used = false;
    return 0;
}

int64_t ipc_messages_control(struct call *c)
{
    const int command = (int)c->arg[1];
    if ((int)c->arg[0] < 0 || command < 0)
        return -EINVAL;
    if (command == IPC_INFO || command == MSG_INFO)
        return ipc_messages_tell_limits(c, command == MSG_INFO);
    struct ipc_queue *queue = ipc_find(c, IPC_KIND_QUEUE, c->arg[0], command == MSG_STAT || command == MSG_STAT_ANY);
    if (!queue)
        return -EINVAL;
    switch (command) {
    case IPC_STAT:
    case MSG_STAT:
    case MSG_STAT_ANY:
        return ipc_messages_tell(c, queue, command);
    case IPC_SET:
        return ipc_messages_change(c, queue);
    case IPC_RMID:
        return ipc_messages_end(c, queue);
    default:
        return -EINVAL;
    }
}
