/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * turns: the lockstep of the guest's processes, which are processes of the host.
 *
 * Model
 *   One process runs at a time: the one that has the turn. It gives it on where a thread's turn is over, where
 *   all its threads wait, and at its end; to the next process in the order in which they were made, round and
 *   round, where one that is made takes the place of one that has ended. A process that waits looks, when it gets
 *   the turn, whether it need not any more, and gives it on if it does; it is passed over where only another one's
 *   doing could help it - a child's end, a signal; a system call, where it waits for descriptors - and none has done
 *   such a thing since. While all others are passed over so, the turn is not even given on before the first moment that
 *   one of them waits for (schedule.c). So which process runs when follows from the guest alone. Guest time is one for
 *   all: it goes with the turn.
 *   When a whole round has passed in which no process has done anything, guest time goes on to the first moment that
 *   any waits for; or those that wait for what comes from outside look; or none will ever go on.
 *   All of it is in memory that the processes share. A process without the turn sleeps on a word of its own (futex).
 *
 * Invariants
 *   What is shared is changed by the process that has the turn, and by no other; but for `failed`, which is set once.
 *   A process of the host that vanishes while it has the turn is noticed by the others, within a second, and they end.
 *
 * Not modelled
 *   Several processors. A process that was woken does not run before its turn.
 */
#include "emu/turns_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SEATS = 256, LOOK_SECONDS = 1 };
enum { BROKEN = 1, STUCK = 2 }; /* how all have failed */

_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "what processes share has no lock in one of them");

struct seat {
    _Atomic uint32_t word; /* changes when the turn comes */
    bool taken, outside, asleep, polls;
    uint64_t events, calls; /* when it fell asleep */
    uint32_t pid;           /* of the guest */
    pid_t host;
    uint64_t deadline;
};

struct shared {
    _Atomic uint32_t holder; /* the process with the turn */
    _Atomic uint32_t failed;
    uint32_t idle;      /* how often in a row the turn was given on by one that had done nothing */
    uint64_t idle_from; /* the host's time when all began to wait for what comes from outside; 0: they do not */
    uint64_t look_ns;   /* with the news that something from outside is waited for: until the first moment */
    uint32_t processes; /* seats that are taken */
    uint64_t events;    /* that may wake a process, */
    uint64_t calls;     /* and system calls, which wake those that wait for descriptors */
    uint64_t now;       /* guest time, when the turn was given on */
    enum turns_news news;
    struct seat seats[SEATS];
};

struct emu_turns {
    struct shared *shared;
    uint32_t self;
};

static void take_seat(struct emu_turns *turns, uint32_t number, uint32_t pid)
{
    C2_PROMISE(number < SEATS);
    turns->self = number;
    turns_made(turns, number, pid, getpid());
}

enum c2_status emu_turns_create(struct emu_turns **out, uint32_t pid, struct c2_error *err)
{
    C2_ASSERT(pid != 0);
    struct emu_turns *turns = *out = c2_calloc(1, sizeof *turns);
    if (!turns)
        return c2_fail_memory(err, "the turns of processes");
    void *at = mmap(NULL, sizeof *turns->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                    0);
    if (at == MAP_FAILED) {
        c2_free(turns);
        *out = NULL;
        return c2_fail(err, C2_ERR_NO_MEMORY, "the turns of processes: %s", strerror(errno));
    }
    turns->shared = at;
    turns->shared->processes = 1;
    turns->shared->seats[0] = (struct seat){.taken = true, .deadline = UINT64_MAX};
    take_seat(turns, 0, pid);
    return C2_OK;
}

void emu_turns_destroy(struct emu_turns *turns)
{
    if (!turns)
        return;
    munmap(turns->shared, sizeof *turns->shared);
    c2_free(turns);
}

bool turns_shared(const struct emu_turns *turns) { return turns && turns->shared->processes > 1; }

/* ------------------------------------------------------------------ coming and going */

bool turns_add(struct emu_turns *turns, uint32_t *child)
{
    for (uint32_t i = 0; i < SEATS; i++) {
        struct seat *seat = &turns->shared->seats[i];
        if (seat->taken)
            continue;
        const uint32_t word = seat->word;
        *seat = (struct seat){.word = word, .taken = true, .deadline = UINT64_MAX};
        turns->shared->processes++;
        C2_PROMISE(turns->shared->processes <= SEATS);
        *child = i;
        return true;
    }
    return false;
}

static void leave_seat(struct emu_turns *turns, uint32_t number)
{
    C2_ASSERT(number < SEATS && turns->shared->seats[number].taken && turns->shared->processes > 0);
    turns->shared->seats[number].taken = false;
    turns->shared->processes--;
}

void turns_made(struct emu_turns *turns, uint32_t child, uint32_t pid, pid_t host)
{
    C2_ASSERT(child < SEATS && turns->shared->seats[child].taken);
    struct seat *seat = &turns->shared->seats[child];
    seat->pid = pid;
    seat->host = host;
}

void turns_cancel(struct emu_turns *turns, uint32_t child) { leave_seat(turns, child); }

/* ------------------------------------------------------------------ waiting for the turn */

static void sleep_on(_Atomic uint32_t *word, uint32_t value)
{
    const struct timespec most = {.tv_sec = LOOK_SECONDS};
    syscall(SYS_futex, word, FUTEX_WAIT, value, &most, NULL, 0);
}

static void turns_wake(_Atomic uint32_t *word)
{
    atomic_fetch_add(word, 1);
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void turns_fail(struct shared *shared, uint32_t how)
{
    C2_PROMISE(how == BROKEN || how == STUCK);
    shared->failed = how;
    for (uint32_t i = 0; i < SEATS; i++)
        if (shared->seats[i].taken)
            turns_wake(&shared->seats[i].word);
}

/* A process that is at its end has no line here, or is a zombie of the host's. */
static bool is_gone(pid_t host)
{
    char path[64], state = 'X';
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)host);
    FILE *file = fopen(path, "re");
    if (!file)
        return errno == ENOENT;
    const bool known = fscanf(file, "%*d (%*[^)]) %c", &state) == 1;
    fclose(file);
    return known && (state == 'Z' || state == 'X');
}

static void look_at_holder(struct shared *shared)
{
    C2_PROMISE(shared->holder < SEATS);
    const struct seat *seat = &shared->seats[shared->holder];
    const pid_t host = seat->host;
    const uint32_t pid = seat->pid;
    if (host == 0 || !is_gone(host) || seat->host != host || seat != &shared->seats[shared->holder])
        return;
    if (atomic_exchange(&shared->failed, BROKEN) == 0)
        fprintf(stderr,
                "c2emu: process %" PRIu32 " of the program vanished (the host's %ld, killed from outside?): the run "
                "ends\n",
                pid, (long)host);
}

static enum turns_news turns_await(struct emu_turns *turns, uint64_t *now)
{
    C2_PROMISE(turns->self < SEATS);
    struct shared *shared = turns->shared;
    struct seat *seat = &shared->seats[turns->self];
    while (shared->holder != turns->self && !shared->failed) {
        const uint32_t word = seat->word;
        if (shared->holder == turns->self || shared->failed)
            break;
        sleep_on(&seat->word, word);
        if (seat->word == word)
            look_at_holder(shared);
    }
    *now = shared->now;
    if (shared->failed)
        return shared->failed == STUCK ? TURNS_STUCK : TURNS_BROKEN;
    return shared->news;
}

enum turns_news turns_begin(struct emu_turns *turns, uint32_t self, uint32_t pid, uint64_t *now)
{
    take_seat(turns, self, pid);
    return turns_await(turns, now);
}

/* ------------------------------------------------------------------ which is next */

/* Where all do nothing, those that wait for descriptors look at them once more. */
static bool sleeps(const struct shared *shared, const struct seat *seat)
{
    return seat->asleep && seat->events == shared->events && seat->deadline > shared->now &&
           (!seat->polls || (seat->calls == shared->calls && shared->idle == 0));
}

/* The next one behind `from` that is taken; of those that wait for what comes from outside. */
static uint32_t turns_next_of(const struct shared *shared, uint32_t from, bool outside)
{
    C2_PROMISE(from < SEATS);
    for (uint32_t i = 1; i <= SEATS; i++) {
        const struct seat *seat = &shared->seats[(from + i) % SEATS];
        if (seat->taken && (outside ? seat->outside : !sleeps(shared, seat)))
            return (from + i) % SEATS;
    }
    return SEATS;
}

uint64_t turns_quiet_until(const struct emu_turns *turns, uint64_t events, uint64_t calls)
{
    C2_PROMISE(turns);
    uint64_t until = UINT64_MAX;
    for (uint32_t i = 0; i < SEATS; i++) {
        const struct seat *seat = &turns->shared->seats[i];
        if (i == turns->self || !seat->taken)
            continue;
        if (!seat->asleep || seat->events != events || (seat->polls && seat->calls != calls))
            return 0;
        until = seat->deadline < until ? seat->deadline : until;
    }
    return until;
}

/* The process whose moment comes first, from the seat behind `from` on; SEATS: none waits for one. */
static uint32_t first_moment(const struct shared *shared, uint32_t from)
{
    C2_PROMISE(from < SEATS);
    uint32_t first = SEATS;
    for (uint32_t i = 1; i <= SEATS; i++) {
        const struct seat *seat = &shared->seats[(from + i) % SEATS];
        if (seat->taken && seat->deadline != UINT64_MAX &&
            (first == SEATS || seat->deadline < shared->seats[first].deadline))
            first = (from + i) % SEATS;
    }
    return first;
}

static void turns_give(struct shared *shared, uint32_t to, enum turns_news news)
{
    C2_ASSERT(to < SEATS && shared->seats[to].taken);
    shared->news = news;
    if (shared->holder == to)
        return;
    shared->holder = to;
    turns_wake(&shared->seats[to].word);
}

static uint64_t host_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t turns_look_ns(const struct emu_turns *turns) { return turns->shared->look_ns; }

/* How long it is until then, ns. As long as the host has to wait for what comes from outside, guest time is the host's.
 */
static uint64_t time_until(struct shared *shared, uint32_t moment)
{
    const uint64_t host = host_ns();
    shared->idle_from = shared->idle_from ? shared->idle_from : host;
    C2_PROMISE(host >= shared->idle_from);
    const uint64_t now = shared->now + (host - shared->idle_from);
    return moment == SEATS                         ? UINT64_MAX
           : shared->seats[moment].deadline <= now ? 0
                                                   : shared->seats[moment].deadline - now;
}

/* No process has done anything for a round. */
static enum turns_news give_idle(struct shared *shared, uint32_t from)
{
    const uint32_t moment = first_moment(shared, from), outside = turns_next_of(shared, from, true);
    const uint64_t until = outside != SEATS ? time_until(shared, moment) : 0;
    if (until != 0) {
        shared->look_ns = until;
        turns_give(shared, outside, TURNS_OUTSIDE);
    } else if (moment != SEATS) {
        const uint64_t deadline = shared->seats[moment].deadline;
        shared->now = deadline > shared->now ? deadline : shared->now;
        shared->idle = 0;
        turns_give(shared, moment, TURNS_GO);
    } else {
        turns_fail(shared, STUCK);
        return TURNS_STUCK;
    }
    return TURNS_GO;
}

enum turns_news turns_pass(struct emu_turns *turns, const struct turns_state *state, uint64_t *now)
{
    C2_PROMISE(turns->shared->holder == turns->self || turns->shared->failed);
    struct shared *shared = turns->shared;
    struct seat *seat = &shared->seats[turns->self];
    seat->outside = state->outside;
    seat->asleep = state->asleep;
    seat->events = shared->events = state->events;
    seat->polls = state->polls;
    seat->calls = shared->calls = state->calls;
    seat->deadline = state->deadline;
    shared->now = *now;
    shared->idle = state->ready || state->moved ? 0 : shared->idle + 1;
    if (shared->idle == 0)
        shared->idle_from = 0;
    const uint32_t next = turns_next_of(shared, turns->self, false);
    if (next != SEATS && shared->idle < shared->processes)
        turns_give(shared, next, TURNS_GO);
    else if (give_idle(shared, turns->self) == TURNS_STUCK)
        return TURNS_STUCK;
    return turns_await(turns, now);
}

void emu_turns_leave(struct emu_turns *turns, uint64_t now)
{
    C2_PROMISE(turns->shared->holder == turns->self || turns->shared->failed);
    struct shared *shared = turns->shared;
    leave_seat(turns, turns->self);
    shared->now = now;
    shared->idle = 0;
    for (uint32_t i = 0; i < SEATS; i++)
        shared->seats[i].asleep = false; /* it may have been waited for */
    if (shared->processes > 0)
        turns_give(shared, turns_next_of(shared, turns->self, false), TURNS_GO);
}

void emu_turns_fail(struct emu_turns *turns)
{
    if (!turns->shared->failed)
        turns_fail(turns->shared, BROKEN);
}

void emu_turns_signal(const struct emu_turns *turns, int number)
{
    C2_ASSERT(number > 0);
    for (uint32_t i = 0; i < SEATS; i++)
        if (turns->shared->seats[i].taken && turns->shared->seats[i].host != 0)
            kill(turns->shared->seats[i].host, number);
}

bool emu_turns_failed(const struct emu_turns *turns) { return turns->shared->failed; }
