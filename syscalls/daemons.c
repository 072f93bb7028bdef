/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Daemons that are left when the program is over.
 *
 * Model
 *   A run ends with its last process. A process with a session of its own when the first process has ended - gpg-agent,
 *   a server in the background - would wait for work that none can give it any more: none but the run's own processes
 *   reaches it. So it is ended as when a machine is shut down: an hour of guest time after the first process's end it
 *   gets SIGTERM, and SIGKILL a minute and a half later, where it waits. An hour of waiting passes at once.
 *   What is left in the session of the first process, a shell's job in the background, goes on.
 */
#include <signal.h>

#include "syscalls/daemons_priv.h"

#include "syscalls/kernel_priv.h"

static const struct {
    int signal;
    uint64_t after_ns;
} steps[] = {{SIGTERM, 3600 * KERNEL_NS}, {SIGKILL, (3600 + 90) * KERNEL_NS}};
enum { STEPS = sizeof steps / sizeof *steps };

void daemons_first_ended(struct syscalls *kernel, uint64_t now)
{
    struct processes *all = kernel->processes;
    all->first_ended_ns = now;
    all->first_session = kernel->self->session;
}

uint64_t daemons_next(const struct syscalls *kernel)
{
    const struct processes *all = kernel->processes;
    if (!all || all->first_session == 0 || kernel->self->session == all->first_session || kernel->daemon_step == STEPS)
        return KERNEL_NEVER;
    return all->first_ended_ns + steps[kernel->daemon_step].after_ns;
}

void daemons_expire(struct syscalls *kernel, uint64_t instructions)
{
    while (kernel_has_come(kernel, instructions, daemons_next(kernel))) {
        const struct signals_info info = {.signal = steps[kernel->daemon_step++].signal, .code = SI_KERNEL};
        signals_raise(kernel, NULL, &info);
    }
}
