/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * children: the guest's fork is one of c2emu itself, and the child takes its turn among the others (turns.c).
 */
#include "emu/emu_priv.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What follows belongs to no process: there is no report of it. */
static bool stop_recording(struct emu *emu)
{
    emu->config.record = false;
    emu->config.phase = NULL;
    emu->phase_end = UINT64_MAX;
    return engine_set_recording(emu->process.engine, false, emu->err) == C2_OK || emu_finish(emu, EMU_FAILED);
}

/* The child begins when its turn comes: it is as its parent was, but for the result of the call. */
static bool begin_child(struct emu *emu, uint32_t seat, const struct syscalls_result *result)
{
    C2_ASSERT(result->thread.tid != 0);
    enum { RAX = 0, RSP = 4 };
    const struct emu_family *family = &emu->config.family;
    const uint32_t pid = result->thread.tid;
    struct syscalls_cpu *cpu = &emu->thread->cpu;
    bool followed = false;
    uint64_t now;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const enum c2_status memory = mmu_become_child(emu->config.mmu, emu->err);
    const enum turns_news news = turns_begin(family->turns, seat, pid, &now);
    syscalls_become_child(emu->config.kernel, pid, emu_instructions(emu));
    schedule_become_child(emu->schedule, pid);
    emu->config.progress = NULL;
    emu->checkpoint_trigger = UINT64_MAX;
    emu->config.checkpoint_trigger.reached = NULL;
    const bool begins = emu_take_over(emu, news, now);
    if (memory != C2_OK || family->child(family->self, pid, &followed, emu->err) != C2_OK)
        return emu_finish(emu, EMU_FAILED);
    if (!begins) {
        emu_end_without_turn(emu);
        return false;
    }
    if (result->thread.stack)
        cpu->gpr[RSP] = result->thread.stack;
    cpu->fs_base = result->thread.fs_base;
    engine_set_cpu(emu->process.engine, cpu);
    engine_set_result(emu->process.engine, 0, NULL);
    if (!followed && !stop_recording(emu))
        return false;
    syscalls_child_inherits(emu->config.kernel);
    return emu_raise_pending(emu);
}

bool emu_start_process(struct emu *emu, const struct syscalls_cpu *before, struct syscalls_result *result)
{
    C2_ASSERT(emu->config.family.turns && emu->config.family.before && emu->config.family.parent &&
              emu->config.family.child);
    const struct emu_family *family = &emu->config.family;
    const uint32_t pid = result->thread.tid;
    uint32_t seat = 0;
    if (family->before(family->self, emu->err) != C2_OK)
        return emu_finish(emu, EMU_FAILED);
    const bool room = turns_add(family->turns, &seat);
    const pid_t host = room ? fork() : -1;
    if (host == 0)
        return begin_child(emu, seat, result);
    if (host < 0) {
        if (room)
            turns_cancel(family->turns, seat);
        syscalls_fork_failed(emu->config.kernel, pid);
        result->value = -EAGAIN;
    } else {
        turns_made(family->turns, seat, pid, host);
    }
    while (waitpid(-1, NULL, WNOHANG) > 0) /* those that have ended; what the guest knows of them is elsewhere */
        ;
    if (family->parent(family->self, emu->err) != C2_OK)
        return emu_finish(emu, EMU_FAILED);
    if (host > 0 && syscalls_fork_waits(emu->config.kernel, pid)) {
        emu->blocked = true;
        schedule_give_up(emu->schedule);
        return true;
    }
    emu_set_result(emu, before, result);
    return emu_raise_pending(emu);
}
