/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Under an unlimited stack, or with the compatibility flag of personality(2), Linux lays a process's libraries from
 *   one third of its address space upwards: in the middle of the guest's window. The layout is chosen at exec and
 *   does not concern the guest, whose limits are its own; so c2emu executes itself once more with the usual one.
 */
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/cli_priv.h"

#define TRIED "C2EMU_LAYOUT_TRIED"
enum { USUAL_STACK_BYTES = 8 << 20, ASK = -1 };

static bool is_legacy(int persona, const struct rlimit *stack)
{
    return (persona & ADDR_COMPAT_LAYOUT) || stack->rlim_cur == RLIM_INFINITY;
}

void cli_usual_layout(char **argv)
{
    struct rlimit stack;
    int persona = personality((unsigned long)ASK);
    bool tried = getenv(TRIED);
    unsetenv(TRIED); /* the guest must not see it */
    if (persona < 0 || getrlimit(RLIMIT_STACK, &stack) != 0 || !is_legacy(persona, &stack) || tried)
        return;
    stack.rlim_cur = USUAL_STACK_BYTES;
    if (setrlimit(RLIMIT_STACK, &stack) != 0 || personality((unsigned long)(persona & ~ADDR_COMPAT_LAYOUT)) < 0)
        return; /* the window, when it is reserved, says what is wrong */
    setenv(TRIED, "1", 1);
    execv("/proc/self/exe", argv);
    unsetenv(TRIED);
}
