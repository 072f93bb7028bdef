/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * System V IPC: what segments, sets of semaphores and queues of messages have in common.
 */
#ifndef C2_SYSCALLS_IPC_PRIV_H
#define C2_SYSCALLS_IPC_PRIV_H

#include <sys/ipc.h>
#include <sys/sem.h>

#include "syscalls/call_priv.h"

/* Limits, which IPC_INFO tells: Linux's, but for the numbers of objects. */
enum {
    IPC_SEGMENTS = 1024,
    IPC_SETS = 1024,
    IPC_QUEUES = 128,
    IPC_WAITERS = 1024,
    IPC_UNDOS = 4096,
    IPC_SET_MOST = 32000,     /* semaphores of a set */
    IPC_SEMAPHORES = 64000,   /* of all sets */
    IPC_OPERATIONS = 500,     /* of a call */
    IPC_VALUE_MOST = 32767,   /* of a semaphore */
    IPC_MESSAGE_BYTES = 8192, /* of a message */
    IPC_QUEUE_BYTES = 16384,  /* of the messages in a queue, and how many they may be */
    IPC_MQUEUES = 64,         /* of POSIX */
    IPC_MQUEUE_MOST = 10,     /* messages in one */
    IPC_MQUEUE_NAME = 256,
    IPC_MESSAGE_HEAD_BYTES = 16, /* that the queue itself keeps beside the text of one */
};

enum ipc_kind { IPC_KIND_SEGMENT, IPC_KIND_SET, IPC_KIND_QUEUE, IPC_KINDS };

struct ipc_object {
    bool used;
    int32_t id, key; /* key: IPC_PRIVATE cannot be found */
    uint32_t user, group;
    uint16_t mode;
    uint64_t changed; /* CLOCK_REALTIME, in seconds */
};

struct ipc_segment {
    struct ipc_object object; /* first, as in the others */
    bool doomed;              /* it goes with the process that has it attached last */
    uint64_t bytes, offset;   /* in the memory of all segments */
    uint32_t attached, creator, last;
    uint64_t attach_time, detach_time;
};

struct ipc_set {
    struct ipc_object object;
    uint32_t first, count; /* of ipc.semaphores */
    uint64_t operated;
};
struct ipc_semaphore {
    uint16_t value;
    uint32_t last; /* process */
};
struct ipc_undo { /* what the end of a process adds to a semaphore */
    uint32_t pid;
    int32_t set;
    uint16_t number;
    int16_t value; /* 0: nothing, and the entry is free */
};

struct ipc_message {
    int64_t type;
    uint64_t bytes;
};
struct ipc_queue {
    struct ipc_object object;
    uint64_t sent, received; /* when */
    uint32_t last_sender, last_receiver, count;
    uint64_t bytes, most;
    uint64_t used; /* of room: messages, each a struct ipc_message and its text rounded up to 8 */
    uint8_t room[IPC_QUEUE_BYTES * (IPC_MESSAGE_HEAD_BYTES + 8) + IPC_MESSAGE_BYTES];
};

struct ipc_mqueue_message {
    uint32_t priority, bytes;
    uint8_t text[IPC_MESSAGE_BYTES];
};
/* SIGEV_THREAD: what a process gets by its netlink socket. */
struct ipc_notice {
    uint32_t pid; /* 0: there is none */
    int32_t socket;
    uint8_t bytes[32]; /* NOTIFY_COOKIE_LEN, linux/mqueue.h */
};
struct ipc_mqueue {
    bool used, named;
    char name[IPC_MQUEUE_NAME];
    uint16_t mode;
    uint32_t descriptors; /* of all processes */
    uint32_t most, bytes; /* messages, and of each */
    uint32_t notifies;    /* a process; 0: none */
    uint32_t signal;      /* for it; 0: none */
    uint64_t value;
    struct ipc_notice notice; /* for it, where it wants one; */
    struct ipc_notice due;    /* and that of a process whose turn has not come since */
    uint32_t count;
    struct ipc_mqueue_message messages[IPC_MQUEUE_MOST]; /* the highest priority first */
};

/* A thread that waits at an object. A change of the object does for it what it waits for. */
enum ipc_wait { IPC_OPERATES, IPC_SENDS, IPC_RECEIVES, IPC_PUTS, IPC_TAKES /* at a queue of POSIX */ };
struct ipc_waiter {
    bool used, done;
    uint8_t waits; /* enum ipc_wait */
    uint32_t pid;
    int32_t id;
    uint64_t order; /* the longer waiter has the lower one */
    int64_t answer; /* when it is done */
    uint32_t count; /* of operations */
    int flags;      /* msgrcv's */
    int64_t type;   /* of the message, wanted */
    uint64_t bytes; /* of it, or room for it */
    struct ipc_message got;
    union {
        struct sembuf operations[IPC_OPERATIONS];
        uint8_t text[IPC_MESSAGE_BYTES];
    };
};

/* In memory that all processes of the run share; changed by the one that has the turn. */
struct ipc {
    int32_t made[IPC_KINDS];  /* numbers given */
    uint32_t used[IPC_KINDS]; /* of the lists: nothing lies behind */
    uint32_t undos_used, waiters_used, mqueues_used;
    uint64_t offset; /* behind the last segment */
    uint64_t waits;
    struct ipc_segment segments[IPC_SEGMENTS];
    struct ipc_set sets[IPC_SETS];
    struct ipc_semaphore semaphores[IPC_SEMAPHORES];
    struct ipc_undo undos[IPC_UNDOS];
    struct ipc_queue queues[IPC_QUEUES];
    struct ipc_mqueue mqueues[IPC_MQUEUES];
    struct ipc_waiter waiters[IPC_WAITERS];
};

struct ipc_attached {
    uint64_t address, bytes;
    uint32_t segment;
};

/* Of a process. */
struct ipc_view {
    struct ipc *shared; /* NULL: not used yet */
    int memory;         /* of the segments, a descriptor of the host's */
    struct ipc_attached *attached;
    uint32_t attached_count, attached_room;
};

/* ------------------------------------------------------------------ life (ipc.c)
 * To be there before another process is made: 0 or -errno. */
int64_t ipc_ready(struct syscalls *kernel);
void ipc_destroy(struct ipc_view *view);
void ipc_fork(struct syscalls *kernel, bool made); /* a child has what its parent has attached; or could not be made */
void ipc_execute(struct syscalls *kernel);         /* the memory goes: nothing is attached */
void ipc_end(struct syscalls *kernel);             /* so does the process: semaphores are undone */

/* ------------------------------------------------------------------ objects (ipc.c) */
uint64_t ipc_now(const struct call *c); /* CLOCK_REALTIME, in seconds */
/* The object of the number, or the index-th one (by_index); NULL: there is none. */
void *ipc_find(struct call *c, enum ipc_kind kind, uint64_t id, bool by_index);
/* msgget and its kin: the number of an object that is there; ENOENT: there is none, and one is to be made. */
int64_t ipc_get(struct call *c, enum ipc_kind kind, int32_t key, int flags, struct ipc_object **out);
/* A new one in *out, to be filled in; -ENOSPC: there are too many. Its number. */
int64_t ipc_make(struct call *c, enum ipc_kind kind, int32_t key, int flags, void *out);
/* 0 or -EACCES: wanted has bits of 0444 to read, 0222 to write. */
int64_t ipc_allows(const struct ipc_object *object, int wanted);
void ipc_show(const struct ipc_object *object, struct ipc_perm *out);
int64_t ipc_change(struct call *c, struct ipc_object *object, const struct ipc_perm *to); /* IPC_SET */
/* How many there are, and the index of the last one (0: there is none). */
uint32_t ipc_count(const struct ipc *ipc, enum ipc_kind kind, int64_t *last);

/* /proc/sysvipc (ipc_lists.c). */
struct content_of;
void ipc_list_segments(const struct content_of *of, int to);
void ipc_list_sets(const struct content_of *of, int to);
void ipc_list_queues(const struct content_of *of, int to);

/* mqueue.c: what other processes have left for this one, which has the turn now. */
void mqueue_take_notices(struct syscalls *kernel);

bool ipc_has_objects(const struct syscalls *kernel);
/* Whether the end of the process with this number undoes anything (ipc_semaphores.c). */
bool ipc_undoes(const struct syscalls *kernel, uint32_t pid);

/* ------------------------------------------------------------------ waiting (ipc.c) */
/* A place for the running thread, to be filled in; NULL: there are too many. */
struct ipc_waiter *ipc_waiter(struct call *c, enum ipc_wait waits, int32_t id);
/* The thread waits, until the deadline: SYSCALLS_BLOCKED. */
int64_t ipc_wait(struct call *c, const struct ipc_waiter *waiter, uint64_t deadline, const char *why);
/* A call that waited is made again: the waiter, whose place is free from now on. NULL: it goes on to wait, and *value
 * is to be returned. */
const struct ipc_waiter *ipc_again(struct call *c, int64_t *value);
/* The first that waits so at the object, behind the one of this order. */
struct ipc_waiter *ipc_next(struct ipc *ipc, enum ipc_wait waits, int32_t id, uint64_t behind);
void ipc_answer(struct syscalls *kernel, struct ipc_waiter *waiter, int64_t answer);
void ipc_answer_all(struct syscalls *kernel, enum ipc_wait waits, int32_t id, int64_t answer);
/* A signal has ended the wait. */
struct kernel_wait;
void ipc_give_up(struct syscalls *kernel, const struct kernel_wait *wait);
bool ipc_is_done(const struct syscalls *kernel, const struct kernel_wait *wait);

void ipc_undo_all(struct syscalls *kernel);   /* ipc_semaphores.c: the process ends */
void ipc_detach_all(struct syscalls *kernel); /* ipc_memory.c */

#endif
