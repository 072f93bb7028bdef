/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The waiters at words of memory, in all processes of the run (words.c).
 */
#ifndef C2_SYSCALLS_WORDS_PRIV_H
#define C2_SYSCALLS_WORDS_PRIV_H

#include <stdbool.h>
#include <stdint.h>

struct syscalls;
struct kernel_wait;
struct checkpoint;

enum { WORDS_WAITERS = 65536 };

/* How a word is meant: by FUTEX_PRIVATE_FLAG, or without it. */
enum words_reach { WORDS_PRIVATE, WORDS_SHARED };

/* Where a word lies. Of memory that processes may share: in which memory, and where in it; else the number of the
 * process and the address. Two are the same word when all of it is equal. */
struct words_place {
    uint64_t memory, device, at;
};

/* A thread that waits at a word, or one of the words that it waits at. */
struct words_waiter {
    bool used, woken;
    bool owns;      /* FUTEX_LOCK_PI: it waits to be given the word */
    bool moves;     /* FUTEX_WAIT_REQUEUE_PI: to be moved to the lock at `moves_to`, and no other way */
    uint32_t next;  /* of the same wait: 1 + its index; 0: it is the last one */
    uint32_t index; /* of the word among those of a wait */
    uint32_t bits;  /* of FUTEX_WAIT_BITSET */
    uint32_t pid, tid;
    uint64_t order;   /* the longer waiter has the lower one */
    uint64_t address; /* of the word in its own process; 0: another one has moved it there */
    struct words_place place, moves_to;
};

/* In memory that all processes share; changed by the one that has the turn. */
struct words_list {
    uint64_t waits; /* begun so far */
    uint32_t used;  /* of the list: nothing lies behind */
    struct words_waiter list[WORDS_WAITERS];
};

struct words_place words_place(const struct syscalls *kernel, uint64_t address, enum words_reach reach);
bool words_same(const struct words_place *one, const struct words_place *other);

/* The running thread waits: the waiter is copied, and is the next one of the wait. False: too many wait. */
bool words_add(struct syscalls *kernel, struct kernel_wait *wait, const struct words_waiter *waiter);
/* All of the wait's are gone. */
void words_release(struct syscalls *kernel, struct kernel_wait *wait);
/* The process ends: none of it waits any more; and of a child that has just been made: none of it does yet. */
void words_leave(struct syscalls *kernel);
void words_become_child(struct syscalls *kernel);
/* From now on others have the process's memory as well, and that has this number. */
void words_renumber(struct syscalls *kernel, uint64_t memory);

/* The longest waiter at the word, of those that are not woken and have one of the bits; NULL: none. */
struct words_waiter *words_first(const struct syscalls *kernel, const struct words_place *place, bool owns,
                                 uint32_t bits);
/* It need not wait any more; and it waits at another word from now on, whose address here is this, as the last one. */
void words_wake(struct syscalls *kernel, struct words_waiter *waiter);
void words_move(struct syscalls *kernel, struct words_waiter *waiter, const struct words_place *to, uint64_t address);
/* The one of the wait that was woken; NULL: none was. */
const struct words_waiter *words_woken(const struct syscalls *kernel, const struct kernel_wait *wait);
const struct words_waiter *words_waiter(const struct syscalls *kernel, const struct kernel_wait *wait); /* the first */

/* Of a thread's wait at one word. */
void words_checkpoint(struct syscalls *kernel, uint32_t tid, struct kernel_wait *wait, struct checkpoint *checkpoint);

#endif
