/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Futexes: words of the guest's memory that threads wait at.
 *
 * Model
 *   Only one thread runs at a time, so what a call reads and writes of a word is atomic. A waiter is a thread whose
 *   struct kernel_wait names the word; those that have waited longest are woken first. A word is known by its address:
 *   all threads have the same memory. Of one that other processes may have (no FUTEX_PRIVATE_FLAG) each wake, at
 *   whatever such word and by whom, lets all waiters of other processes look again: they come back without having been
 *   woken, as futex(2) says that they may.
 *   The word of a mutex with priority inheritance holds the number of the thread that owns it; there are no priorities,
 *   so who has waited longest gets it next.
 *
 * Not modelled
 *   FUTEX_WAIT_REQUEUE_PI and FUTEX_CMP_REQUEUE_PI (libraries have given them up), FUTEX_FD; futex_waitv.
 *
 * Source: the layout of struct robust_list_head and the bits of a word are an ABI, Linux's uapi header futex.h.
 */
#include <linux/futex.h>
#include <string.h>
#include <time.h>

#include "syscalls/kernel_priv.h"

#define ROBUST_MOST 2048u /* words of a list, for it may be a ring */

/* ------------------------------------------------------------------ the word */

static int64_t load(struct call *c, uint64_t word, uint32_t *value)
{
    return guest_read(c, value, word, sizeof *value);
}

static int64_t store(struct call *c, uint64_t word, uint32_t value)
{
    return guest_write(c, word, &value, sizeof value);
}

/* It must be there, unless only this process could know of it. */
static int64_t check_word(struct call *c, int operation, uint64_t word)
{
    if (operation & FUTEX_PRIVATE_FLAG)
        return word < MMU_WINDOW_END ? 0 : -EFAULT;
    return guest_check_read(c, word, sizeof(uint32_t));
}

/* ------------------------------------------------------------------ waiters */

/* Who has waited longest at the word, of those whose bits are among these; NULL: nobody does. */
static struct kernel_thread *first_waiter(const struct syscalls *kernel, enum kernel_wait_kind kind, uint64_t word,
                                          uint32_t bits)
{
    struct kernel_thread *first = NULL;
    for (uint32_t i = 0; i < kernel->thread_count; i++) {
        struct kernel_thread *thread = kernel->threads[i];
        const struct kernel_wait *wait = &thread->wait;
        if (wait->kind == kind && wait->word == word && wait->bits & bits && !wait->woken &&
            (!first || wait->order < first->wait.order))
            first = thread;
    }
    return first;
}

int64_t futex_wake(struct syscalls *kernel, uint64_t word, uint32_t most, uint32_t bits)
{
    struct kernel_thread *thread;
    uint32_t woken = 0;
    while (woken < most && (thread = first_waiter(kernel, KERNEL_WAITS_WORD, word, bits))) {
        thread->wait.woken = true;
        woken++;
    }
    return woken;
}

/* FUTEX_WAIT takes a length of time, others a moment of one of two clocks. */
static int64_t deadline_of(struct call *c, int operation, uint64_t *deadline)
{
    struct timespec time;
    const int command = operation & FUTEX_CMD_MASK;
    uint64_t ns;
    *deadline = KERNEL_NEVER;
    int64_t status = c->arg[3] ? guest_read(c, &time, c->arg[3], sizeof time) : 0;
    if (!c->arg[3] || status < 0)
        return status;
    if (!kernel_timespec_ns(&ns, &time))
        return -EINVAL;
    const uint64_t start = c->kernel->start_seconds * KERNEL_NS;
    if (command == FUTEX_WAIT)
        *deadline = kernel_deadline(c, ns);
    else if (command == FUTEX_LOCK_PI || operation & FUTEX_CLOCK_REALTIME)
        *deadline = ns > start ? ns - start : 0;
    else
        *deadline = ns;
    return 0;
}

bool futex_is_woken(const struct syscalls *kernel, const struct kernel_wait *wait)
{
    return wait->woken || (wait->wakes != 0 && wait->wakes != processes_wakes(kernel));
}

/* What the thread was woken for has come true already, or its time has come; or it goes on waiting. */
static int64_t wait_again(struct call *c)
{
    if (futex_is_woken(c->kernel, c->waited))
        return 0;
    return call_is_late(c) ? -ETIMEDOUT : call_wait(c, *c->waited);
}

static int64_t wait_for(struct call *c, int operation, uint32_t bits)
{
    uint32_t value;
    uint64_t deadline;
    if (c->again)
        return wait_again(c);
    int64_t status = deadline_of(c, operation, &deadline);
    if (status == 0)
        status = load(c, c->arg[0], &value);
    if (status < 0)
        return status;
    if (value != (uint32_t)c->arg[2])
        return -EAGAIN;
    const bool shared = !(operation & FUTEX_PRIVATE_FLAG);
    return call_wait(
        c, (struct kernel_wait){.kind = KERNEL_WAITS_WORD,
                                .restarts = deadline == KERNEL_NEVER,
                                .deadline = deadline,
                                .word = c->arg[0],
                                .bits = bits,
                                .shared = shared,
                                .wakes = shared && processes_shared(c->kernel) ? processes_wakes(c->kernel) : 0,
                                .why = "no other thread can wake it"});
}

static int64_t wake(struct call *c, int operation, uint32_t bits)
{
    if (!(operation & FUTEX_PRIVATE_FLAG))
        processes_wake(c->kernel);
    int64_t status = check_word(c, operation, c->arg[0]);
    return status < 0 ? status : futex_wake(c->kernel, c->arg[0], (uint32_t)c->arg[2], bits);
}

/* ------------------------------------------------------------------ requeueing */

static int64_t move_waiters(struct syscalls *kernel, uint64_t from, uint64_t to, uint32_t most)
{
    struct kernel_thread *thread;
    uint32_t moved = 0;
    while (moved < most && (thread = first_waiter(kernel, KERNEL_WAITS_WORD, from, UINT32_MAX))) {
        thread->wait.word = to;
        thread->wait.order = ++kernel->waits;
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
    int64_t status = compares ? load(c, c->arg[0], &value) : check_word(c, operation, c->arg[0]);
    if (status == 0)
        status = check_word(c, operation, c->arg[4]);
    if (status < 0)
        return status;
    if (compares && value != (uint32_t)c->arg[5])
        return -EAGAIN;
    const int64_t woken = futex_wake(c->kernel, c->arg[0], (uint32_t)woken_most, UINT32_MAX);
    if (c->arg[0] == c->arg[4])
        return woken;
    return woken + move_waiters(c->kernel, c->arg[0], c->arg[4], (uint32_t)moved_most);
}

/* ------------------------------------------------------------------ FUTEX_WAKE_OP */

/* Twelve bits of the operation, with their sign. */
static int32_t argument_at(uint32_t encoded, unsigned shift) { return (int32_t)(encoded << (20 - shift)) >> 20; }

static bool operate(uint32_t encoded, uint32_t old, uint32_t *out)
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
    int64_t status = check_word(c, operation, c->arg[0]);
    if (status == 0)
        status = load(c, c->arg[4], &old);
    if (status < 0)
        return status;
    const bool both = compares_so(encoded, old, &known);
    if (!known || !operate(encoded, old, &changed))
        return -ENOSYS;
    if ((status = store(c, c->arg[4], changed)) < 0)
        return status;
    int64_t woken = futex_wake(c->kernel, c->arg[0], (uint32_t)c->arg[2], UINT32_MAX);
    return woken + (both ? futex_wake(c->kernel, c->arg[4], (uint32_t)c->arg[3], UINT32_MAX) : 0);
}

/* ------------------------------------------------------------------ words with an owner */

/* The word is `owner`'s, with what it says of a dead one; and of others that wait. */
static uint32_t owned_by(const struct syscalls *kernel, uint32_t old, uint64_t word, uint32_t owner)
{
    const bool waiters = first_waiter(kernel, KERNEL_WAITS_OWNER, word, UINT32_MAX);
    return owner | (old & FUTEX_OWNER_DIED) | (waiters ? FUTEX_WAITERS : 0);
}

/* To who has waited longest; nobody's if nobody does. */
static int64_t give_on(struct call *c, uint64_t word, uint32_t old)
{
    struct kernel_thread *next = first_waiter(c->kernel, KERNEL_WAITS_OWNER, word, UINT32_MAX);
    if (next)
        next->wait.woken = true;
    return store(c, word, next ? owned_by(c->kernel, old, word, next->tid) : old & FUTEX_OWNER_DIED);
}

static int64_t lock(struct call *c, int operation, bool tries)
{
    const uint64_t word = c->arg[0];
    const uint32_t self = c->kernel->current->tid;
    uint32_t value;
    uint64_t deadline = KERNEL_NEVER;
    if (c->again)
        return wait_again(c);
    int64_t status = tries ? 0 : deadline_of(c, operation, &deadline);
    if (status == 0)
        status = load(c, word, &value);
    if (status < 0)
        return status;
    if ((value & FUTEX_TID_MASK) == 0)
        return store(c, word, owned_by(c->kernel, value, word, self));
    if ((value & FUTEX_TID_MASK) == self)
        return -EDEADLK;
    if (!threads_find(c->kernel, value & FUTEX_TID_MASK))
        return -ESRCH;
    if (tries)
        return -EAGAIN;
    if ((status = store(c, word, value | FUTEX_WAITERS)) < 0)
        return status;
    return call_wait(c, (struct kernel_wait){.kind = KERNEL_WAITS_OWNER,
                                             .restarts = true,
                                             .deadline = deadline,
                                             .word = word,
                                             .bits = UINT32_MAX,
                                             .why = "no other thread can give it the lock"});
}

static int64_t unlock(struct call *c)
{
    uint32_t value;
    int64_t status = load(c, c->arg[0], &value);
    if (status < 0)
        return status;
    if ((value & FUTEX_TID_MASK) != c->kernel->current->tid)
        return -EPERM;
    return give_on(c, c->arg[0], value & ~(uint32_t)FUTEX_OWNER_DIED);
}

/* ------------------------------------------------------------------ the call */

int64_t futex_call(struct call *c)
{
    const int operation = (int)c->arg[1];
    const uint32_t bits = (uint32_t)c->arg[5];
    if (c->arg[0] % 4)
        return -EINVAL;
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT_BITSET:
        return bits == 0 ? -EINVAL : wait_for(c, operation, bits);
    case FUTEX_WAIT:
        return wait_for(c, operation, UINT32_MAX);
    case FUTEX_WAKE_BITSET:
        return bits == 0 ? -EINVAL : wake(c, operation, bits);
    case FUTEX_WAKE:
        return wake(c, operation, UINT32_MAX);
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
        return requeue(c, operation, (operation & FUTEX_CMD_MASK) == FUTEX_CMP_REQUEUE);
    case FUTEX_WAKE_OP:
        return wake_and_operate(c, operation);
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
        return lock(c, operation, false);
    case FUTEX_TRYLOCK_PI:
        return lock(c, operation, true);
    case FUTEX_UNLOCK_PI:
        return unlock(c);
    default:
        return call_complain(c, "is not implemented for this operation");
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
    if (word % 4 || load(c, word, &value) < 0)
        return -EFAULT;
    if (pending && !inherits && value == 0)
        return futex_wake(c->kernel, word, 1, UINT32_MAX);
    if ((value & FUTEX_TID_MASK) != c->kernel->current->tid)
        return 0;
    if (inherits && first_waiter(c->kernel, KERNEL_WAITS_OWNER, word, UINT32_MAX))
        return give_on(c, word, value | FUTEX_OWNER_DIED);
    int64_t status = store(c, word, (value & FUTEX_WAITERS) | FUTEX_OWNER_DIED);
    if (status == 0 && !inherits && value & FUTEX_WAITERS) {
        processes_wake(c->kernel);
        futex_wake(c->kernel, word, 1, UINT32_MAX);
    }
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
