/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   The state of the guest's kernel in a checkpoint, field by field, but for the open files (fds_save.c). What the
 *   command line decides (traces, complaints) is that of the run that goes on. The numbers of the run's own objects
 *   that are gone by now are kept, so that new ones get the next.
 */
#include <linux/oom.h>
#include <sys/prctl.h>

#include "syscalls/directories_priv.h"
#include "syscalls/filetimes_priv.h"
#include "syscalls/kernel_priv.h"

#define RFLAGS_MOST 0x3fffffu /* the highest flag that there is: ID */

void syscalls_cpu_checkpoint(struct syscalls_cpu *cpu, struct checkpoint *c)
{
    for (int i = 0; i < 16; i++)
        checkpoint_number(c, &cpu->gpr[i], CHECKPOINT_ANY);
    checkpoint_number(c, &cpu->rip, CHECKPOINT_ANY);
    checkpoint_number(c, &cpu->rflags, RFLAGS_MOST);
    checkpoint_number(c, &cpu->fs_base, CHECKPOINT_ANY);
    checkpoint_number(c, &cpu->gs_base, CHECKPOINT_ANY);
    checkpoint_bytes(c, cpu->fxsave, sizeof cpu->fxsave);
    checkpoint_number(c, &cpu->xcr0, CPU_LEGACY | CPU_AVX512);
    for (unsigned i = 0; i < CPU_COMPONENTS; i++)
        if ((cpu->xcr0 & cpu_components[i].bit) != 0)
            checkpoint_bytes(c, (uint8_t *)&cpu->wide + cpu_components[i].at, cpu_components[i].bytes);
}

/* ------------------------------------------------------------------ signals */

static void visit_actions(struct signals *signals, struct checkpoint *c)
{
    for (int i = 1; i <= SIGNALS_COUNT; i++) {
        struct signals_action *action = &signals->action[i];
        checkpoint_number(c, &action->handler, CHECKPOINT_ANY);
        checkpoint_number(c, &action->flags, CHECKPOINT_ANY);
        checkpoint_number(c, &action->restorer, CHECKPOINT_ANY);
        checkpoint_number(c, &action->mask, CHECKPOINT_ANY);
    }
}

static void visit_pending(struct signals_pending *pending, struct checkpoint *c)
{
    uint64_t count = pending->count;
    checkpoint_number(c, &count, UINT32_MAX);
    for (uint32_t i = 0; i < count; i++) {
        if (!checkpoint_writes(c) &&
            !checkpoint_room(c, (void **)&pending->list, &pending->room, i, sizeof *pending->list))
            return;
        checkpoint_bytes(c, &pending->list[i], sizeof pending->list[i]);
        pending->count = i + 1;
    }
    checkpoint_number(c, &pending->set, CHECKPOINT_ANY);
    if (!pending_holds(pending))
        checkpoint_damaged(c, "signals as they cannot be");
}

static void visit_mask(struct signals_mask *mask, struct checkpoint *c)
{
    checkpoint_number(c, &mask->blocked, CHECKPOINT_ANY);
    checkpoint_number(c, &mask->stack.base, CHECKPOINT_ANY);
    CHECKPOINT_NUMBER(c, *(uint32_t *)&mask->stack.flags, UINT32_MAX);
    checkpoint_number(c, &mask->stack.bytes, CHECKPOINT_ANY);
    CHECKPOINT_NUMBER(c, mask->suspended, 1);
    checkpoint_number(c, &mask->after, CHECKPOINT_ANY);
}

/* ------------------------------------------------------------------ the rest */

static const char *why_of(enum kernel_wait_kind kind)
{
    switch (kind) {
    case KERNEL_WAITS_SIGNAL:
        return "no signal is pending, and nobody else sends one";
    case KERNEL_WAITS_LOCK:
        return "it holds the lock itself, by another descriptor";
    default:
        return "nobody can wake it";
    }
}

/* Descriptors of the host are others in another run. */
static void save_visit_wait(struct syscalls *kernel, struct kernel_thread *thread, struct checkpoint *c)
{
    struct kernel_wait *wait = &thread->wait;
    if (checkpoint_writes(c) && wait->kind == KERNEL_WAITS_FDS)
        checkpoint_refuse(c, "thread %u waits for descriptors", thread->tid);
    const struct words_waiter *waiter = words_waiter(kernel, wait);
    if (checkpoint_writes(c) && (wait->kind == KERNEL_WAITS_WORDS || (waiter && waiter->moves)))
        checkpoint_refuse(c, "thread %u waits for several words", thread->tid);
    CHECKPOINT_NUMBER(c, *(uint32_t *)&wait->kind, KERNEL_WAITS_SIGNAL);
    if (!checkpoint_writes(c) && wait->kind == KERNEL_WAITS_FDS)
        checkpoint_damaged(c, "a thread that waits for descriptors");
    CHECKPOINT_NUMBER(c, wait->restarts, 1);
    checkpoint_number(c, &wait->deadline, CHECKPOINT_ANY);
    checkpoint_number(c, &wait->word, CHECKPOINT_ANY);
    CHECKPOINT_NUMBER(c, wait->bits, UINT32_MAX);
    checkpoint_number(c, &wait->signals, CHECKPOINT_ANY);
    checkpoint_number(c, &wait->done, CHECKPOINT_ANY);
    checkpoint_number(c, &wait->rest, CHECKPOINT_ANY);
    CHECKPOINT_NUMBER(c, wait->call, CALL_TABLE_END - 1);
    if (wait->kind == KERNEL_WAITS_WORD || wait->kind == KERNEL_WAITS_OWNER)
        words_checkpoint(kernel, thread->tid, wait, c);
    if (!checkpoint_writes(c)) {
        wait->why = why_of(wait->kind);
        wait->resumes = wait->kind == KERNEL_WAITS_OWNER;
    }
    if (wait->kind != KERNEL_RUNS && !call_row_of(wait->call))
        checkpoint_damaged(c, "a thread that waits in no call");
}

static void save_visit_thread(struct syscalls *kernel, struct kernel_thread *thread, struct checkpoint *c)
{
    if (!checkpoint_writes(c))
        priorities_end(kernel, thread->tid); /* the number is another one from now on */
    CHECKPOINT_NUMBER(c, thread->tid, INT32_MAX);
    priorities_checkpoint(kernel, thread->tid, c);
    checkpoint_bytes(c, thread->name, sizeof thread->name);
    thread->name[sizeof thread->name - 1] = '\0';
    CHECKPOINT_NUMBER(c, *(uint32_t *)&thread->no_new_privileges, UINT32_MAX);
    CHECKPOINT_NUMBER(c, *(uint32_t *)&thread->death_signal, UINT32_MAX);
    checkpoint_number(c, &thread->timer_slack, CHECKPOINT_ANY);
    checkpoint_number(c, &thread->clear_tid, CHECKPOINT_ANY);
    checkpoint_number(c, &thread->robust_list, CHECKPOINT_ANY);
    checkpoint_number(c, &thread->ran, CHECKPOINT_ANY);
    visit_mask(&thread->signals, c);
    visit_pending(&thread->pending, c);
    save_visit_wait(kernel, thread, c);
    if (!signals_mask_holds(&thread->signals))
        checkpoint_damaged(c, "signals as they cannot be");
}

static uint32_t index_of_current(const struct syscalls *kernel)
{
    uint32_t i = 0;
    while (i < kernel->thread_count && kernel->threads[i] != kernel->current)
        i++;
    return i;
}

/* The one that runs may have ended: it is then none of them. */
static void save_visit_threads(struct syscalls *kernel, struct checkpoint *c)
{
    uint64_t count = kernel->thread_count, current = index_of_current(kernel);
    checkpoint_number(c, &count, THREADS_MOST);
    if (count == 0)
        checkpoint_damaged(c, "no threads");
    for (uint32_t i = 0; i < count && checkpoint_status(c, NULL) == C2_OK; i++) {
        struct c2_error why;
        if (i >= kernel->thread_count && !threads_create(kernel)) {
            c2_fail_memory(&why, "the guest's threads");
            checkpoint_fail(c, &why);
            return;
        }
        save_visit_thread(kernel, kernel->threads[i], c);
    }
    checkpoint_number(c, &current, count);
    CHECKPOINT_NUMBER(c, kernel->last_tid, INT32_MAX);
    CHECKPOINT_NUMBER(c, *(uint32_t *)&kernel->leader_status, 255);
    checkpoint_number(c, &kernel->turn, CHECKPOINT_ANY);
    if (checkpoint_status(c, NULL) == C2_OK)
        kernel->current = current < kernel->thread_count ? kernel->threads[current] : NULL;
}

static void visit_timer(struct timer *timer, struct checkpoint *c)
{
    CHECKPOINT_NUMBER(c, timer->used, 1);
    CHECKPOINT_NUMBER(c, timer->real, 1);
    CHECKPOINT_NUMBER(c, timer->queued, 1);
    CHECKPOINT_NUMBER(c, *(uint32_t *)&timer->id, UINT32_MAX);
    CHECKPOINT_NUMBER(c, *(uint32_t *)&timer->counts, TIMER_THREAD);
    CHECKPOINT_NUMBER(c, timer->owner, UINT32_MAX);
    checkpoint_number(c, &timer->due, CHECKPOINT_ANY);
    checkpoint_number(c, &timer->interval, KERNEL_LAST_NS);
    CHECKPOINT_NUMBER(c, *(uint32_t *)&timer->signal, SIGNALS_COUNT);
    CHECKPOINT_NUMBER(c, timer->thread, UINT32_MAX);
    checkpoint_number(c, &timer->value, CHECKPOINT_ANY);
    checkpoint_number(c, &timer->overruns, CHECKPOINT_ANY);
    CHECKPOINT_NUMBER(c, timer->told, INT32_MAX);
}

static void visit_timers(struct syscalls *kernel, struct checkpoint *c)
{
    uint64_t count = kernel->timer_room;
    checkpoint_number(c, &count, UINT32_MAX);
    kernel->timers_armed = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!checkpoint_writes(c) &&
            !checkpoint_room(c, (void **)&kernel->timers, &kernel->timer_room, i, sizeof *kernel->timers))
            return;
        visit_timer(&kernel->timers[i], c);
        kernel->timers_armed += kernel->timers[i].due != KERNEL_NEVER;
    }
    for (uint32_t i = (uint32_t)count; i < kernel->timer_room; i++) /* room for more than there are */
        kernel->timers[i] = (struct timer){.due = KERNEL_NEVER};
}

static void visit_identity(struct identity *identity, struct checkpoint *c)
{
    for (int i = 0; i < IDENTITY_LIMITS; i++) {
        checkpoint_number(c, &identity->limit[i].soft, CHECKPOINT_ANY);
        checkpoint_number(c, &identity->limit[i].hard, CHECKPOINT_ANY);
        if (identity->limit[i].soft > identity->limit[i].hard)
            checkpoint_damaged(c, "a limit above its own limit");
    }
    CHECKPOINT_NUMBER(c, identity->mask, 0777);
    CHECKPOINT_NUMBER(c, *(uint32_t *)&identity->dumpable, UINT32_MAX);
    CHECKPOINT_NUMBER(c, *(uint32_t *)&identity->keeps_capabilities, 1);
    CHECKPOINT_NUMBER(c, identity->barriers, UINT32_MAX);
    CHECKPOINT_NUMBER(c, identity->personality, UINT32_MAX);
    CHECKPOINT_NUMBER(c, *(uint32_t *)&identity->memory_errors, PR_MCE_KILL_DEFAULT);
    CHECKPOINT_NUMBER(c, identity->has_segments, 1);
    CHECKPOINT_NUMBER(c, *(uint32_t *)&identity->no_huge_pages, 1);
}

static void visit_self(struct process *self, struct checkpoint *c)
{
    uint32_t adopts = self->adopts, above_least = (uint32_t)(self->oom_score_adj - OOM_SCORE_ADJ_MIN);
    CHECKPOINT_NUMBER(c, adopts, 1);
    CHECKPOINT_NUMBER(c, above_least, OOM_SCORE_ADJ_MAX - OOM_SCORE_ADJ_MIN);
    self->adopts = adopts != 0;
    self->oom_score_adj = (int)above_least + OOM_SCORE_ADJ_MIN;
}

/* Those that the run was started with are known already: they are the first ones. */
static void visit_objects(struct attributes *attributes, struct checkpoint *c)
{
    uint64_t count = attributes->count;
    checkpoint_number(c, &count, UINT32_MAX);
    for (uint32_t i = 0; i < count; i++) {
        if (i >= attributes->count &&
            !checkpoint_room(c, (void **)&attributes->made, &attributes->room, i, sizeof *attributes->made))
            return;
        if (i >= attributes->count)
            attributes->count++;
        checkpoint_number(c, &attributes->made[i], CHECKPOINT_ANY);
    }
}

static void visit_machine(struct syscalls *kernel, struct checkpoint *c)
{
    checkpoint_number(c, &kernel->physical_bytes, CHECKPOINT_ANY);
    CHECKPOINT_NUMBER(c, kernel->processors, SYSCALLS_PROCESSORS);
    if (kernel->processors == 0)
        checkpoint_damaged(c, "no processor");
    CHECKPOINT_NUMBER(c, kernel->cache_count, SYSCALLS_CACHES);
    for (uint32_t i = 0; i < kernel->cache_count; i++) {
        struct syscalls_cache *cache = &kernel->caches[i];
        CHECKPOINT_NUMBER(c, *(uint32_t *)&cache->type, SYSCALLS_UNIFIED);
        CHECKPOINT_NUMBER(c, cache->level, UINT32_MAX);
        CHECKPOINT_NUMBER(c, cache->line_bytes, UINT32_MAX);
        CHECKPOINT_NUMBER(c, cache->ways, UINT32_MAX);
        checkpoint_number(c, &cache->sets, CHECKPOINT_ANY);
        CHECKPOINT_NUMBER(c, cache->shared, 1);
    }
}

static void visit_clock(struct syscalls *kernel, struct checkpoint *c)
{
    uint64_t rate = kernel->instructions_per_second;
    checkpoint_number(c, &rate, CHECKPOINT_ANY);
    if (rate == 0)
        checkpoint_damaged(c, "a clock that stands still");
    else
        kernel->instructions_per_second = rate; /* never 0: times are divided by it, also of a run that is refused */
    checkpoint_number(c, &kernel->boot_seconds, CHECKPOINT_ANY);
    checkpoint_number(c, &kernel->slept_ns, UINT64_MAX / 4);
    checkpoint_number(c, &kernel->instructions, CHECKPOINT_ANY);
}

void syscalls_checkpoint(struct syscalls *kernel, struct checkpoint *c)
{
    checkpoint_part(c, "the kernel");
    visit_machine(kernel, c);
    visit_clock(kernel, c);
    CHECKPOINT_NUMBER(c, kernel->hides_library_cache, 1);
    for (int i = 0; i < 4; i++)
        checkpoint_number(c, &kernel->random.s[i], CHECKPOINT_ANY);
    for (size_t i = 0; i < sizeof kernel->complained / sizeof kernel->complained[0]; i++)
        checkpoint_number(c, &kernel->complained[i], CHECKPOINT_ANY);
    if (processes_has_children(kernel))
        checkpoint_refuse(c, "it has children, which are processes of their own");
    if (ipc_has_objects(kernel))
        checkpoint_refuse(c, "it has shared memory, semaphores or queues of System V IPC");
    if (shm_has_files())
        checkpoint_refuse(c, "it has files in /dev/shm");
    save_visit_threads(kernel, c);
    visit_timers(kernel, c);
    visit_identity(&kernel->identity, c);
    visit_self(kernel->self, c);
    locked_checkpoint(&kernel->locked, c);
    heirs_checkpoint(&kernel->heirs, c);
    checkpoint_part(c, "the signals");
    visit_actions(&kernel->signals, c);
    visit_pending(&kernel->signals.pending, c);
    if (!signals_hold(&kernel->signals))
        checkpoint_damaged(c, "signals as they cannot be");
    visit_objects(&kernel->attributes, c);
    inodes_checkpoint(kernel->attributes.directories, c);
    filetimes_checkpoint(kernel, c);
    fds_checkpoint(kernel, c);
}
