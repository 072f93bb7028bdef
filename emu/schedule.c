/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   One thread runs at a time. Its turn lasts a quantum of instructions, or until it waits, ends or gives it up
 *   (sched_yield); then it is the turn of the next one that can go on, in the order in which they were started, round
 *   and round. Which thread has the turn follows from the guest and the quantum alone: what was read from a file, a
 *   clock or another thread is the same in every run.
 *   Where turns are of whole blocks, one ends before the block that does not fit: so it has the quantum's instructions
 *   at most, and no block has more (stream.h): each turn has one. Processes have no caches in common, and their turns
 *   are as long as on one core, with turns of threads in them.
 *   When the turn is over and no other thread can go on, another one begins for the same thread. So a turn is not ended
 *   by the clock where no other thread, nor process, can want one before this one does something: the engine is then
 *   not stopped. Where others wait for a moment, nothing ends a turn before it: several of one thread, one behind the
 *   other, are begun as one; and of one process, which keeps its turn meanwhile.
 *   When no thread can go on, guest time does, to the first moment that a thread waits for.
 * Counting
 *   A turn's instructions are counted from its beginning. A system call counts one, whatever it does.
 * Invariants (schedule_check)
 *   Numbers rise. The thread that runs is one of them.
 * Cost
 *   A program with one thread is never stopped for this. With more, a look at all of them at each system call and at
 *   the end of each turn, some nanoseconds a thread, and 0.3 us for a switch of registers.
 * Not modelled
 *   Priorities; that a thread that was woken runs before its turn; several CPUs that run at the same time.
 */
#include "emu/schedule_priv.h"

#include <string.h>

struct schedule {
    struct syscalls *kernel;
    struct schedule_idle idle;
    uint64_t quantum;
    bool asked; /* for this quantum */
    bool whole; /* of whole blocks */
    struct emu_thread **threads;
    uint32_t count, room;
    uint32_t last;    /* number given */
    uint32_t running; /* index; of the thread behind the one that has ended, when `ended` */
    bool ended, given_up, over;
    uint64_t began, ends; /* instructions; ends is 0 if not computed yet */
};

struct emu_thread *schedule_running(const struct schedule *schedule)
{
    C2_PROMISE(schedule->ended || schedule->running < schedule->count);
    return schedule->ended ? NULL : schedule->threads[schedule->running];
}

uint32_t schedule_count(const struct schedule *schedule) { return schedule->count; }

struct emu_thread *schedule_at(const struct schedule *schedule, uint32_t i)
{
    C2_PROMISE(i < schedule->count);
    return schedule->threads[i];
}

/* ------------------------------------------------------------------ coming and going */

struct emu_thread *schedule_add(struct schedule *schedule, uint32_t tid)
{
    C2_ASSERT(schedule->last < UINT32_MAX);
    if (!c2_grow((void **)&schedule->threads, &schedule->room, schedule->count, sizeof *schedule->threads))
        return NULL;
    struct emu_thread *thread = c2_calloc(1, sizeof *thread);
    if (!thread)
        return NULL;
    thread->number = ++schedule->last;
    thread->tid = tid;
    schedule->threads[schedule->count++] = thread;
    return thread;
}

static void free_thread(struct emu_thread *thread)
{
    c2_free(thread->kept);
    c2_free(thread);
}

void schedule_end(struct schedule *schedule)
{
    const uint32_t i = schedule->running;
    C2_ASSERT(schedule->count > 1 && !schedule->ended);
    free_thread(schedule->threads[i]);
    schedule->count--;
    memmove(&schedule->threads[i], &schedule->threads[i + 1], (schedule->count - i) * sizeof *schedule->threads);
    schedule->ended = true;
}

void schedule_become_child(struct schedule *schedule, uint32_t tid)
{
    C2_ASSERT(!schedule->ended && schedule->running < schedule->count);
    struct emu_thread *self = schedule->threads[schedule->running];
    for (uint32_t i = 0; i < schedule->count; i++)
        if (schedule->threads[i] != self)
            free_thread(schedule->threads[i]);
    schedule->threads[0] = self;
    schedule->count = 1;
    schedule->running = 0;
    self->tid = tid;
}

bool schedule_has_ready(const struct schedule *schedule, uint64_t instructions)
{
    for (uint32_t i = 0; i < schedule->count; i++)
        if (syscalls_ready(schedule->kernel, schedule->threads[i]->tid, instructions) != SYSCALLS_WAITS)
            return true;
    return false;
}

void schedule_give_up(struct schedule *schedule) { schedule->given_up = true; }
void schedule_end_turn(struct schedule *schedule) { schedule->over = true; }

/* ------------------------------------------------------------------ turns */

/* The count until which no other process wants the turn. One of whole blocks ends where it ends, even if the next one
 * is the same process's. */
static uint64_t until_company(const struct schedule *schedule, uint64_t instructions)
{
    if (!syscalls_has_company(schedule->kernel))
        return UINT64_MAX;
    return SHORTCUT(!schedule->whole) ? schedule->idle.quiet_until(schedule->idle.self, instructions) : instructions;
}

uint64_t schedule_budget(struct schedule *schedule, uint64_t instructions)
{
    C2_PROMISE(schedule->count != 0 && schedule->quantum != 0);
    const uint64_t threads = schedule->count == 1 ? UINT64_MAX : syscalls_contended(schedule->kernel, instructions);
    const uint64_t company = until_company(schedule, instructions), others = company < threads ? company : threads;
    C2_PROMISE(others >= instructions && instructions >= schedule->began);
    if (others == UINT64_MAX) {
        schedule->ends = 0;
        return UINT64_MAX;
    }
    const uint64_t quantum = schedule->whole && threads == UINT64_MAX ? EMU_QUANTUM : schedule->quantum;
    uint64_t turns = (instructions - schedule->began) / quantum + 1;
    const uint64_t free = (others - schedule->began + quantum - 1) / quantum;
    if (SHORTCUT(!schedule->whole && free > turns))
        turns = free;
    schedule->ends = schedule->began + turns * quantum;
    return schedule->ends - instructions;
}

bool schedule_keeps_process(const struct schedule *schedule, uint64_t instructions, uint64_t began)
{
    C2_PROMISE(instructions >= began);
    return schedule->whole && !schedule->given_up && !schedule->ended && instructions - began < EMU_QUANTUM;
}

uint64_t schedule_quantum(const struct schedule *schedule) { return schedule->quantum; }
bool schedule_has_whole_blocks(const struct schedule *schedule) { return schedule->whole; }

/* Whether a turn ends here that is one of several, which the engine is not stopped for. */
static bool is_between_turns(const struct schedule *schedule, uint64_t instructions)
{
    C2_PROMISE(instructions >= schedule->began);
    return !schedule->whole && instructions != schedule->began &&
           (instructions - schedule->began) % schedule->quantum == 0;
}

bool schedule_is_due(const struct schedule *schedule, uint64_t instructions)
{
    return schedule->given_up || schedule->over || schedule->ended ||
           (schedule->ends != 0 && (instructions >= schedule->ends || is_between_turns(schedule, instructions)));
}

/* The first one that can go on, from the one behind that which runs; this is the last. */
static bool schedule_find(struct schedule *schedule, uint64_t instructions, uint32_t *next,
                          enum syscalls_readiness *how)
{
    C2_PROMISE(schedule->count != 0);
    const uint32_t first = schedule->ended ? schedule->running : schedule->running + 1;
    for (uint32_t i = 0; i < schedule->count; i++) {
        *next = (first + i) % schedule->count;
        *how = syscalls_ready(schedule->kernel, schedule->threads[*next]->tid, instructions);
        if (*how != SYSCALLS_WAITS)
            return true;
    }
    return false;
}

bool schedule_waits(struct schedule *schedule, uint32_t i, uint64_t instructions)
{
    C2_PROMISE(i < schedule->count);
    return syscalls_ready(schedule->kernel, schedule->threads[i]->tid, instructions) == SYSCALLS_WAITS;
}

struct emu_thread *schedule_next(struct schedule *schedule, uint64_t instructions, enum syscalls_readiness *how)
{
    uint32_t next;
    while (!schedule_find(schedule, instructions, &next, how))
        if (!schedule->idle.pass(schedule->idle.self, instructions))
            return NULL;
    C2_PROMISE(next < schedule->count);
    schedule->running = next;
    schedule->ended = schedule->given_up = schedule->over = false;
    schedule->began = instructions;
    schedule->ends = 0;
    return schedule->threads[next];
}

/* ------------------------------------------------------------------ life */

enum c2_status schedule_create(struct schedule **out, struct syscalls *kernel, uint64_t quantum, bool whole,
                               struct schedule_idle idle, struct c2_error *err)
{
    C2_ASSERT(kernel && idle.pass && idle.quiet_until);
    *out = NULL;
    struct schedule *schedule = c2_calloc(1, sizeof *schedule);
    if (!schedule)
        return c2_fail_memory(err, "the guest's threads");
    schedule->kernel = kernel;
    schedule->asked = quantum != 0;
    schedule->quantum = quantum ? quantum : EMU_QUANTUM;
    schedule->whole = whole;
    C2_ASSERT(!whole || schedule->quantum >= STREAM_BLOCK_INSNS);
    schedule->idle = idle;
    if (!schedule_add(schedule, syscalls_thread(kernel))) {
        schedule_destroy(schedule);
        return c2_fail_memory(err, "the guest's threads");
    }
    *out = schedule;
    return C2_OK;
}

void schedule_destroy(struct schedule *schedule)
{
    if (!schedule)
        return;
    for (uint32_t i = 0; i < schedule->count; i++)
        free_thread(schedule->threads[i]);
    c2_free(schedule->threads);
    c2_free(schedule);
}

static void schedule_visit_thread(struct emu_thread *thread, struct checkpoint *c)
{
    CHECKPOINT_NUMBER(c, thread->number, UINT32_MAX);
    CHECKPOINT_NUMBER(c, thread->tid, INT32_MAX);
    CHECKPOINT_NUMBER(c, thread->amid, 1);
    syscalls_cpu_checkpoint(&thread->cpu, c);
}

static bool numbers_rise(const struct schedule *schedule)
{
    C2_PROMISE(schedule->count != 0);
    for (uint32_t i = 1; i < schedule->count; i++)
        if (schedule->threads[i - 1]->number >= schedule->threads[i]->number)
            return false;
    return schedule->threads[0]->number > 0 && schedule->threads[schedule->count - 1]->number <= schedule->last;
}

/* The kernel has the same threads. */
static bool kernel_agrees(const struct schedule *schedule)
{
    uint32_t *tids = c2_alloc(schedule->count * sizeof *tids);
    for (uint32_t i = 0; tids && i < schedule->count; i++)
        tids[i] = schedule->threads[i]->tid;
    const bool agrees = tids && syscalls_has_threads(schedule->kernel, tids, schedule->count);
    c2_free(tids);
    return agrees;
}

static void visit_quantum(struct schedule *schedule, struct checkpoint *c)
{
    C2_PROMISE(schedule->quantum != 0);
    uint64_t quantum = schedule->quantum;
    bool whole = schedule->whole;
    checkpoint_number(c, &quantum, CHECKPOINT_ANY);
    CHECKPOINT_NUMBER(c, whole, 1);
    if (quantum == 0 || (whole && quantum < STREAM_BLOCK_INSNS))
        checkpoint_damaged(c, "turns of too few instructions");
    else if (!schedule->asked) {
        schedule->quantum = quantum;
        schedule->whole = whole;
    }
}

void schedule_checkpoint(struct schedule *schedule, struct checkpoint *c)
{
    uint64_t count = schedule->count;
    checkpoint_number(c, &count, UINT32_MAX);
    for (uint32_t i = 0; i < count && checkpoint_status(c, NULL) == C2_OK; i++) {
        struct c2_error why;
        if (i < schedule->count || schedule_add(schedule, 0)) {
            schedule_visit_thread(schedule->threads[i], c);
            continue;
        }
        c2_fail_memory(&why, "the guest's threads");
        checkpoint_fail(c, &why);
    }
    CHECKPOINT_NUMBER(c, schedule->last, UINT32_MAX);
    CHECKPOINT_NUMBER(c, schedule->running, schedule->count);
    CHECKPOINT_NUMBER(c, schedule->ended, 1);
    CHECKPOINT_NUMBER(c, schedule->given_up, 1);
    CHECKPOINT_NUMBER(c, schedule->over, 1);
    checkpoint_number(c, &schedule->began, CHECKPOINT_ANY);
    checkpoint_number(c, &schedule->ends, CHECKPOINT_ANY);
    visit_quantum(schedule, c);
    if (count == 0 || !numbers_rise(schedule) || (!schedule->ended && schedule->running >= count))
        checkpoint_damaged(c, "threads in no order");
    else if (!checkpoint_writes(c) && checkpoint_status(c, NULL) == C2_OK && !kernel_agrees(schedule))
        checkpoint_damaged(c, "threads that the kernel does not know");
}

void schedule_check(const struct schedule *schedule)
{
    C2_ASSERT(schedule->ended || schedule->running < schedule->count);
    C2_ASSERT(numbers_rise(schedule));
}
