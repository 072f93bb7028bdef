/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Futexes: words of the guest's memory that threads wait at.
 *
 * Model
 *   Only one thread runs at a time, so what a call reads and writes of a word is atomic. The waiters stand in a
 *   list that all processes of the run share (words.c): those that have waited longest are woken first, in
 *   whatever process they are, and are counted.
 *   The word of a mutex with priority inheritance holds the number of the thread that owns it; there are no priorities,
 *   so the longest waiter gets it next.
 *
 *   A waiter at one word to be moved to such a mutex (FUTEX_WAIT_REQUEUE_PI) is moved by the one call that does that,
 *   and no other may wake it. A waiter at several words (futex_waitv) waits at each of them.
 *
 * Not modelled
 *   FUTEX_FD, which Linux has given up.
 *
 * Source: the layout of struct robust_list_head and the bits of a word are an ABI, Linux's uapi header futex.h.
 */
#include <linux/futex.h>
#include <string.h>
#include <time.h>

#include "syscalls/kernel_priv.h"

#define ROBUST_MOST 2048u /* words of a list, for it may be a ring */

/* ------------------------------------------------------------------ the word */

static int64_t futex_load(struct call *c, uint64_t word, uint32_t *value)
{
    return guest_read(c, value, word, sizeof *value);
}

static int64_t futex_store(struct call *c, uint64_t word, uint32_t value)
{
    return guest_write(c, word, &value, sizeof value);
}

/* It must be there, unless only this process could know of it. */
static int64_t futex_check_word(struct call *c, int operation, uint64_t word)
{
    if (operation & FUTEX_PRIVATE_FLAG)
        return word < MMU_ADDRESSES_END ? 0 : -EFAULT;
    return guest_check_read(c, word, sizeof(uint32_t));
}

/* ------------------------------------------------------------------ waiters */

static enum words_reach reach_of(int flags) { return flags & FUTEX_PRIVATE_FLAG ? WORDS_PRIVATE : WORDS_SHARED; }

static struct words_place futex_place_of(const struct call *c, int operation, uint64_t word)
{
    return words_place(c->kernel, word, reach_of(operation));
}

/* Up to `most` of those that wait there; how many, or -EINVAL: one of them is to be moved to a lock. */
static int64_t wake_waiters(struct syscalls *kernel, const struct words_place *place, uint32_t most, uint32_t bits)
{
    struct words_waiter *waiter;
    uint32_t woken = 0;
    while (woken < most && (waiter = words_first(kernel, place, false, bits))) {
        if (waiter->moves)
            return -EINVAL;
        words_wake(kernel, waiter);
        woken++;
    }
    return woken;
}

void futex_wake_one(struct syscalls *kernel, uint64_t word)
{
    const struct words_place place = words_place(kernel, word, WORDS_SHARED);
    (void)wake_waiters(kernel, &place, 1, UINT32_MAX);
}

/* The thread waits as `wait` has it, at this word. */
static int64_t wait_at(struct call *c, struct kernel_wait wait, const struct words_waiter *waiter)
{
    wait.kind = waiter->owns ? KERNEL_WAITS_OWNER : KERNEL_WAITS_WORD;
    return words_add(c->kernel, &wait, waiter) ? call_wait(c, wait) : -ENOMEM;
}

/* A moment of one of two clocks as guest time. */
static uint64_t futex_moment_of(const struct syscalls *kernel, uint64_t ns, bool realtime)
{
    const uint64_t start = realtime ? kernel->boot_seconds * KERNEL_NS : 0;
    return ns > start ? ns - start : 0;
}

static int64_t read_time(struct call *c, uint64_t address, uint64_t *ns)
{
    struct timespec time;
    const int64_t status = guest_read(c, &time, address, sizeof time);
    return status < 0 ? status : kernel_timespec_ns(ns, &time) ? 0 : -EINVAL;
}

/* FUTEX_WAIT takes a length of time, others a moment. */
static int64_t futex_deadline_of(struct call *c, int operation, uint64_t *deadline)
{
    const int command = operation & FUTEX_CMD_MASK;
    uint64_t ns;
    *deadline = KERNEL_NEVER;
    const int64_t status = c->arg[3] ? read_time(c, c->arg[3], &ns) : 0;
    if (!c->arg[3] || status < 0)
        return status;
    if (command == FUTEX_WAIT)
        *deadline = kernel_deadline(c, ns);
    else
        *deadline = futex_moment_of(c->kernel, ns, command == FUTEX_LOCK_PI || operation & FUTEX_CLOCK_REALTIME);
    return 0;
}

/* What the thread was woken for has come true already, or its time has come; or it goes on waiting. */
static int64_t wait_again(struct call *c)
{
    if (words_woken(c->kernel, c->waited))
        return 0;
    return call_is_late(c) ? -ETIMEDOUT : call_wait(c, *c->waited);
}

/* Whether the word holds what the caller thinks, and until when it waits then. */
static int64_t check_wait(struct call *c, int operation, uint64_t *deadline)
{
    uint32_t value;
    int64_t status = futex_deadline_of(c, operation, deadline);
    if (status == 0)
        status = futex_load(c, c->arg[0], &value);
    return status < 0 ? status : value == (uint32_t)c->arg[2] ? 0 : -EAGAIN;
}

static int64_t futex_wait_for(struct call *c, int operation, uint32_t bits)
{
    uint64_t deadline;
    if (c->again)
        return wait_again(c);
    const int64_t status = check_wait(c, operation, &deadline);
    if (status < 0)
        return status;
    const struct words_waiter waiter = {
        .bits = bits, .address = c->arg[0], .place = futex_place_of(c, operation, c->arg[0])};
    return wait_at(c,
                   (struct kernel_wait){.restarts = deadline == KERNEL_NEVER,
                                        .deadline = deadline,
                                        .why = "no other thread can wake it"},
                   &waiter);
}

static int64_t futex_wake(struct call *c, int operation, uint32_t bits)
{
    const int64_t status = futex_check_word(c, operation, c->arg[0]);
    const struct words_place place = futex_place_of(c, operation, c->arg[0]);
    return status < 0 ? status : wake_waiters(c->kernel, &place, (uint32_t)c->arg[2], bits);
}

/* ------------------------------------------------------------------ requeueing */

static int64_t move_waiters(struct call *c, const struct words_place *from, const struct words_place *to, uint32_t most)
{
    struct words_waiter *waiter;
    uint32_t moved = 0;
    while (moved < most && (waiter = words_first(c->kernel, from, false, UINT32_MAX))) {
        if (waiter->moves)
            return -EINVAL;
        words_move(c->kernel, waiter, to, c->arg[4]);
        moved++;
    }
    return moved;
}

static int64_t requeue(struct call *c, int operation, bool compares)
{
    const int32_t woken_most = (int32_t)c->arg[2], moved_most = (int32_t)c->arg[3];
    uint32_t value = 0;
    if (c->arg[4] % 4 || woken_most < 0 || moved_most < 0)
        return -EINVAL;
    int64_t status = compares ? futex_load(c, c->arg[0], &value) : futex_check_word(c, operation, c->arg[0]);
    if (status == 0)
        status = futex_check_word(c, operation, c->arg[4]);
    if (status < 0)
        return status;
    if (compares && value != (uint32_t)c->arg[5])
        return -EAGAIN;
    const struct words_place from = futex_place_of(c, operation, c->arg[0]),
                             to = futex_place_of(c, operation, c->arg[4]);
    const int64_t woken = wake_waiters(c->kernel, &from, (uint32_t)woken_most, UINT32_MAX);
    if (woken < 0 || words_same(&from, &to))
        return woken;
    const int64_t moved = move_waiters(c, &from, &to, (uint32_t)moved_most);
    return moved < 0 ? moved : woken + moved;
}

/* ------------------------------------------------------------------ FUTEX_WAKE_OP */

/* Twelve bits of the operation, with their sign. */
static int32_t argument_at(uint32_t encoded, unsigned shift) { return (int32_t)(encoded << (20 - shift)) >> 20; }

static bool futex_operate(uint32_t encoded, uint32_t old, uint32_t *out)
{
    int32_t argument = argument_at(encoded, 12);
    if (encoded >> 28 & FUTEX_OP_OPARG_SHIFT)
        argument = (int32_t)(1u << (argument & 31));
    switch (encoded >> 28 & 7) {
    case FUTEX_OP_SET:
        *out = (uint32_t)argument;
        return true;
    case FUTEX_OP_ADD:
        *out = old + (uint32_t)argument;
        return true;
    case FUTEX_OP_OR:
        *out = old | (uint32_t)argument;
        return true;
    case FUTEX_OP_ANDN:
        *out = old & ~(uint32_t)argument;
        return true;
    case FUTEX_OP_XOR:
        *out = old ^ (uint32_t)argument;
        return true;
    default:
        return false;
    }
}

static bool compares_so(uint32_t encoded, uint32_t old, bool *known)
{
    const int32_t argument = argument_at(encoded, 0), value = (int32_t)old;
    *known = true;
    switch (encoded >> 24 & 15) {
    case FUTEX_OP_CMP_EQ:
        return value == argument;
    case FUTEX_OP_CMP_NE:
        return value != argument;
    case FUTEX_OP_CMP_LT:
        return value < argument;
    case FUTEX_OP_CMP_GE:
        return value >= argument;
    case FUTEX_OP_CMP_LE:
        return value <= argument;
    case FUTEX_OP_CMP_GT:
        return value > argument;
    default:
        return *known = false;
    }
}

static int64_t wake_and_operate(struct call *c, int operation)
{
    const uint32_t encoded = (uint32_t)c->arg[5];
    uint32_t old, changed;
    bool known;
    if (c->arg[4] % 4)
        return -EINVAL;
    int64_t status = futex_check_word(c, operation, c->arg[0]);
    if (status == 0)
        status = futex_load(c, c->arg[4], &old);
    if (status < 0)
        return status;
    const bool both = compares_so(encoded, old, &known);
    if (!known || !futex_operate(encoded, old, &changed))
        return -ENOSYS;
    if ((status = futex_store(c, c->arg[4], changed)) < 0)
        return status;
    const struct words_place first = futex_place_of(c, operation, c->arg[0]),
                             second = futex_place_of(c, operation, c->arg[4]);
    const int64_t woken = wake_waiters(c->kernel, &first, (uint32_t)c->arg[2], UINT32_MAX);
    const int64_t more = both && woken >= 0 ? wake_waiters(c->kernel, &second, (uint32_t)c->arg[3], UINT32_MAX) : 0;
    return more < 0 ? more : woken < 0 ? woken : woken + more;
}

/* ------------------------------------------------------------------ words with an owner */

#define NOBODY_GIVES "no other thread can give it the lock"

/* The word is `owner`'s, with what it says of a dead one; and of others that wait. */
static uint32_t owned_by(const struct syscalls *kernel, uint32_t old, const struct words_place *place, uint32_t owner)
{
    const bool waiters = words_first(kernel, place, true, UINT32_MAX);
    return owner | (old & FUTEX_OWNER_DIED) | (waiters ? FUTEX_WAITERS : 0);
}

/* To the longest waiter; without an owner if there is none. */
static int64_t give_on(struct call *c, uint64_t word, const struct words_place *place, uint32_t old)
{
    struct words_waiter *next = words_first(c->kernel, place, true, UINT32_MAX);
    if (next)
        words_wake(c->kernel, next);
    return futex_store(c, word, next ? owned_by(c->kernel, old, place, next->tid) : old & FUTEX_OWNER_DIED);
}

static int64_t futex_lock(struct call *c, int operation, bool tries)
{
    const uint64_t word = c->arg[0];
    const uint32_t self = c->kernel->current->tid;
    uint32_t value;
    uint64_t deadline = KERNEL_NEVER;
    if (c->again)
        return wait_again(c);
    int64_t status = tries ? 0 : futex_deadline_of(c, operation, &deadline);
    if (status == 0)
        status = futex_load(c, word, &value);
    if (status < 0)
        return status;
    const struct words_place place = futex_place_of(c, operation, word);
    if ((value & FUTEX_TID_MASK) == 0)
        return futex_store(c, word, owned_by(c->kernel, value, &place, self));
    if ((value & FUTEX_TID_MASK) == self)
        return -EDEADLK;
    if (!processes_have_thread(c->kernel, value & FUTEX_TID_MASK))
        return -ESRCH;
    if (tries)
        return -EAGAIN;
    if ((status = futex_store(c, word, value | FUTEX_WAITERS)) < 0)
        return status;
    return wait_at(c, (struct kernel_wait){.resumes = true, .deadline = deadline, .why = NOBODY_GIVES},
                   &(struct words_waiter){.owns = true, .bits = UINT32_MAX, .address = word, .place = place});
}

static int64_t unlock(struct call *c, int operation)
{
    uint32_t value;
    int64_t status = futex_load(c, c->arg[0], &value);
    if (status < 0)
        return status;
    if ((value & FUTEX_TID_MASK) != c->kernel->current->tid)
        return -EPERM;
    const struct words_place place = futex_place_of(c, operation, c->arg[0]);
    return give_on(c, c->arg[0], &place, value & ~(uint32_t)FUTEX_OWNER_DIED);
}

/* ------------------------------------------------------------------ from a word to one with an owner */

static int64_t wait_to_move(struct call *c, int operation)
{
    uint64_t deadline;
    if (c->again)
        return wait_again(c);
    if (c->arg[0] == c->arg[4] || c->arg[4] % 4)
        return -EINVAL;
    int64_t status = futex_check_word(c, operation, c->arg[4]);
    if (status == 0)
        status = check_wait(c, operation, &deadline);
    if (status < 0)
        return status;
    const struct words_waiter waiter = {.moves = true,
                                        .bits = UINT32_MAX,
                                        .address = c->arg[0],
                                        .place = futex_place_of(c, operation, c->arg[0]),
                                        .moves_to = futex_place_of(c, operation, c->arg[4])};
    return wait_at(
        c,
        (struct kernel_wait){.resumes = true, .deadline = deadline, .why = "no other thread can move it to the lock"},
        &waiter);
}

/* It waits for the word from now on, or gets it if it is free. 1, or -errno. */
static int64_t move_to_owner(struct call *c, struct words_waiter *waiter, const struct words_place *to)
{
    const uint64_t word = c->arg[4];
    uint32_t value;
    if (!waiter->moves || !words_same(&waiter->moves_to, to))
        return -EINVAL;
    int64_t status = futex_load(c, word, &value);
    const uint32_t owner = value & FUTEX_TID_MASK;
    if (status < 0)
        return status;
    if (owner == waiter->tid)
        return -EDEADLK;
    if (owner != 0 && !processes_have_thread(c->kernel, owner))
        return -ESRCH;
    waiter->owns = true;
    waiter->moves = false;
    words_move(c->kernel, waiter, to, word);
    if (owner != 0)
        status = futex_store(c, word, value | FUTEX_WAITERS);
    else
        words_wake(c->kernel, waiter);
    if (owner == 0)
        status = futex_store(c, word, owned_by(c->kernel, value, to, waiter->tid));
    return status < 0 ? status : 1;
}

/* At most one gets the lock, and so many others wait for it. */
static int64_t requeue_to_owner(struct call *c, int operation)
{
    struct words_waiter *waiter;
    uint32_t value;
    int64_t moved = 0, status = 1;
    if (c->arg[0] == c->arg[4] || c->arg[4] % 4 || (int32_t)c->arg[2] != 1 || (int32_t)c->arg[3] < 0)
        return -EINVAL;
    if (futex_load(c, c->arg[0], &value) < 0 || guest_check_write(c, c->arg[4], sizeof value) < 0)
        return -EFAULT;
    if (value != (uint32_t)c->arg[5])
        return -EAGAIN;
    const struct words_place from = futex_place_of(c, operation, c->arg[0]),
                             to = futex_place_of(c, operation, c->arg[4]);
    while (status > 0 && moved <= (int32_t)c->arg[3] && (waiter = words_first(c->kernel, &from, false, UINT32_MAX))) {
        status = move_to_owner(c, waiter, &to);
        moved += status > 0;
    }
    return status < 0 ? status : moved;
}

/* ------------------------------------------------------------------ several words */

enum { WORD_BYTES_32 = 2, WORDS_MOST = 128 }; /* FUTEX_32, FUTEX_WAITV_MAX */

struct waited_word {
    uint64_t value, address;
    uint32_t flags, reserved;
};

/* 0 if it holds what the caller thinks. */
static int64_t check_waited(struct call *c, const struct waited_word *word)
{
    uint32_t value;
    const int64_t status = futex_load(c, word->address, &value);
    return status < 0 ? status : value == (uint32_t)word->value ? 0 : -EAGAIN;
}

static bool is_valid(const struct waited_word *word)
{
    return !(word->flags & ~(uint32_t)(WORD_BYTES_32 | FUTEX_PRIVATE_FLAG)) && word->flags & WORD_BYTES_32 &&
           word->reserved == 0 && word->address % 4 == 0;
}

/* Of `count` words of the guest's: whether all hold what the caller thinks. */
static int64_t futex_take_words(struct call *c, struct waited_word *word, uint32_t count)
{
    int64_t status = guest_read(c, word, c->arg[0], count * sizeof *word);
    for (uint32_t i = 0; i < count && status == 0; i++)
        status = is_valid(&word[i]) ? 0 : -EINVAL;
    for (uint32_t i = 0; i < count && status == 0; i++)
        status = check_waited(c, &word[i]);
    return status;
}

static bool add_word(struct syscalls *kernel, struct kernel_wait *wait, const struct waited_word *word, uint32_t index)
{
    const struct words_waiter waiter = {.index = index,
                                        .bits = UINT32_MAX,
                                        .address = word->address,
                                        .place = words_place(kernel, word->address, reach_of((int)word->flags))};
    return words_add(kernel, wait, &waiter);
}

static int64_t wait_at_words(struct call *c, uint64_t deadline)
{
    const uint32_t count = (uint32_t)c->arg[1];
    struct waited_word word[WORDS_MOST];
    struct kernel_wait wait = {
        .kind = KERNEL_WAITS_WORDS, .restarts = true, .deadline = deadline, .why = "no other thread can wake it"};
    int64_t status = futex_take_words(c, word, count);
    for (uint32_t i = 0; i < count && status == 0; i++)
        status = add_word(c->kernel, &wait, &word[i], i) ? 0 : -ENOMEM;
    if (status == 0)
        return call_wait(c, wait);
    words_release(c->kernel, &wait);
    return status;
}

int64_t futex_wait_words(struct call *c)
{
    const int clock = (int)c->arg[4];
    uint64_t deadline = KERNEL_NEVER;
    const struct words_waiter *woken = c->again ? words_woken(c->kernel, c->waited) : NULL;
    if (woken)
        return woken->index;
    if (c->again)
        return call_is_late(c) ? -ETIMEDOUT : call_wait(c, *c->waited);
    if (c->arg[2] != 0 || c->arg[1] == 0 || c->arg[1] > WORDS_MOST || !c->arg[0])
        return -EINVAL;
    if (c->arg[3] && clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME)
        return -EINVAL;
    const int64_t status = c->arg[3] ? read_time(c, c->arg[3], &deadline) : 0;
    if (status < 0)
        return status;
    if (c->arg[3])
        deadline = futex_moment_of(c->kernel, deadline, clock == CLOCK_REALTIME);
    return wait_at_words(c, deadline);
}

/* ------------------------------------------------------------------ the call */

/* Where a time can be one of CLOCK_REALTIME. */
static bool has_clock(int command)
{
    return command == FUTEX_WAIT_BITSET || command == FUTEX_WAIT_REQUEUE_PI || command == FUTEX_LOCK_PI2;
}

int64_t futex_call(struct call *c)
{
    const int operation = (int)c->arg[1];
    const uint32_t bits = (uint32_t)c->arg[5];
    if (operation & FUTEX_CLOCK_REALTIME && !has_clock(operation & FUTEX_CMD_MASK))
        return -ENOSYS;
    if (c->arg[0] % 4)
        return -EINVAL;
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT_BITSET:
        return bits == 0 ? -EINVAL : futex_wait_for(c, operation, bits);
    case FUTEX_WAIT:
        return futex_wait_for(c, operation, UINT32_MAX);
    case FUTEX_WAKE_BITSET:
        return bits == 0 ? -EINVAL : futex_wake(c, operation, bits);
    case FUTEX_WAKE:
        return futex_wake(c, operation, UINT32_MAX);
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
        return requeue(c, operation, (operation & FUTEX_CMD_MASK) == FUTEX_CMP_REQUEUE);
    case FUTEX_WAKE_OP:
        return wake_and_operate(c, operation);
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
        return futex_lock(c, operation, false);
    case FUTEX_TRYLOCK_PI:
        return futex_lock(c, operation, true);
    case FUTEX_UNLOCK_PI:
        return unlock(c, operation);
    case FUTEX_WAIT_REQUEUE_PI:
        return wait_to_move(c, operation);
    case FUTEX_CMP_REQUEUE_PI:
        return requeue_to_owner(c, operation);
    default: /* FUTEX_FD is no operation any more */
        return -ENOSYS;
    }
}

/* ------------------------------------------------------------------ robust lists */

int64_t futex_set_robust_list(struct call *c)
{
    if (c->arg[1] != sizeof(struct robust_list_head))
        return -EINVAL;
    c->kernel->current->robust_list = c->arg[0];
    return 0;
}

int64_t futex_get_robust_list(struct call *c)
{
    const uint64_t bytes = sizeof(struct robust_list_head);
    const struct kernel_thread *thread = (int)c->arg[0] == 0 ? c->kernel->current
                                                             : threads_find(c->kernel, (uint32_t)c->arg[0]);
    if (!thread)
        return -ESRCH;
    int64_t status = guest_write(c, c->arg[1], &thread->robust_list, sizeof thread->robust_list);
    return status < 0 ? status : guest_write(c, c->arg[2], &bytes, sizeof bytes);
}

/* A word that the thread may hold when it ends; one that it was about to take or to give up (`pending`) may have lost
 * its waker. */
static int64_t leave_word(struct call *c, uint64_t word, bool inherits, bool pending)
{
    uint32_t value;
    if (word % 4 || futex_load(c, word, &value) < 0)
        return -EFAULT;
    if (pending && !inherits && value == 0)
        futex_wake_one(c->kernel, word);
    if (pending && !inherits && value == 0)
        return 0;
    if ((value & FUTEX_TID_MASK) != c->kernel->current->tid)
        return 0;
    const struct words_place place = words_place(c->kernel, word, WORDS_SHARED);
    if (inherits && words_first(c->kernel, &place, true, UINT32_MAX))
        return give_on(c, word, &place, value | FUTEX_OWNER_DIED);
    int64_t status = futex_store(c, word, (value & FUTEX_WAITERS) | FUTEX_OWNER_DIED);
    if (status == 0 && !inherits && value & FUTEX_WAITERS)
        futex_wake_one(c->kernel, word);
    return status;
}

void futex_exit(struct call *c)
{
    enum { NEXT, OFFSET, PENDING, WORDS };
    const uint64_t head = c->kernel->current->robust_list;
    uint64_t list[WORDS], entry, next;
    if (!head || guest_read(c, list, head, sizeof list) < 0)
        return;
    entry = list[NEXT];
    for (unsigned i = 0; i < ROBUST_MOST && (entry & ~(uint64_t)1) != head; i++) {
        const uint64_t at = entry & ~(uint64_t)1;
        const bool more = guest_read(c, &next, at, sizeof next) == 0;
        if (at != (list[PENDING] & ~(uint64_t)1) && leave_word(c, at + list[OFFSET], entry & 1, false) < 0)
            return;
        if (!more)
            return;
        entry = next;
    }
    if (list[PENDING] & ~(uint64_t)1)
        leave_word(c, (list[PENDING] & ~(uint64_t)1) + list[OFFSET], list[PENDING] & 1, true);
}
