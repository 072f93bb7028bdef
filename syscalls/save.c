/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   The state of the guest's kernel in a checkpoint, field by field, but for the open files (fds_save.c). What the
 *   command line decides (traces, complaints) is that of the run that goes on. The numbers of the run's own objects
 *   that are gone by now are kept, so that new ones get the next.
 */
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
    checkpoint_number(c, &pending->set, CHECKPOINT_ANY);
    for (int i = 1; i <= SIGNALS_COUNT; i++) {
        if (pending->set & signals_bit(i))
            checkpoint_bytes(c, &pending->info[i], sizeof pending->info[i]);
    }
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

static void visit_thread(struct kernel_thread *thread, struct checkpoint *c)
{
    checkpoint_bytes(c, thread->name, sizeof thread->name);
    thread->name[sizeof thread->name - 1] = '\0';
    CHECKPOINT_NUMBER(c, *(uint32_t *)&thread->no_new_privileges, UINT32_MAX);
    CHECKPOINT_NUMBER(c, *(uint32_t *)&thread->death_signal, UINT32_MAX);
    checkpoint_number(c, &thread->timer_slack, CHECKPOINT_ANY);
    checkpoint_number(c, &thread->affinity, CHECKPOINT_ANY);
    checkpoint_number(c, &thread->clear_tid, CHECKPOINT_ANY);
    checkpoint_number(c, &thread->robust_list, CHECKPOINT_ANY);
    visit_mask(&thread->signals, c);
    visit_pending(&thread->pending, c);
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

static void visit_clock(struct syscalls *kernel, struct checkpoint *c)
{
    checkpoint_number(c, &kernel->instructions_per_second, CHECKPOINT_ANY);
    checkpoint_number(c, &kernel->start_seconds, CHECKPOINT_ANY);
    checkpoint_number(c, &kernel->slept_ns, UINT64_MAX / 4);
    checkpoint_number(c, &kernel->instructions, CHECKPOINT_ANY);
    if (kernel->instructions_per_second == 0)
        checkpoint_damaged(c, "a clock that stands still");
}

void syscalls_checkpoint(struct syscalls *kernel, struct checkpoint *c)
{
    checkpoint_part(c, "the kernel");
    checkpoint_number(c, &kernel->physical_bytes, CHECKPOINT_ANY);
    CHECKPOINT_NUMBER(c, kernel->processors, SYSCALLS_PROCESSORS);
    if (kernel->processors == 0)
        checkpoint_damaged(c, "no processor");
    visit_clock(kernel, c);
    for (int i = 0; i < 4; i++)
        checkpoint_number(c, &kernel->random.s[i], CHECKPOINT_ANY);
    for (size_t i = 0; i < sizeof kernel->complained / sizeof kernel->complained[0]; i++)
        checkpoint_number(c, &kernel->complained[i], CHECKPOINT_ANY);
    visit_thread(kernel->current, c);
    visit_identity(&kernel->identity, c);
    checkpoint_part(c, "the signals");
    visit_actions(&kernel->signals, c);
    visit_pending(&kernel->signals.pending, c);
    if (!signals_hold(&kernel->signals) || !signals_mask_holds(&kernel->current->signals))
        checkpoint_damaged(c, "signals as they cannot be");
    visit_objects(&kernel->attributes, c);
    fds_checkpoint(kernel, c);
}
