/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What this kernel does not have, in words: a program that asks for it sees an error that it knows from kernels built
 * without it, and goes on in another way or says so.
 */
#include "syscalls/kernel_priv.h"

int64_t refused_look(struct call *c) { return call_complain(c, "would look into a process, which is not modelled"); }

int64_t refused_watch(struct call *c)
{
    return call_complain(c, "would watch files for what others do to them, which is not modelled");
}

int64_t refused_ring(struct call *c)
{
    return call_complain(c, "would hand over calls in a queue, which is not modelled");
}

int64_t refused_faults(struct call *c)
{
    return call_complain(c, "would take page faults by a descriptor, which is not modelled");
}

int64_t refused_kernel_program(struct call *c)
{
    return call_complain(c, "would load a program into the kernel, which is not modelled");
}

int64_t refused_counters(struct call *c)
{
    return call_complain(c, "would count events of the host's processor, and c2emu counts those of the simulated one");
}

int64_t refused_filter(struct call *c)
{
    enum { SET_MODE_STRICT, SET_MODE_FILTER };
    return c->arg[0] <= SET_MODE_FILTER ? call_complain(c, "would forbid itself system calls, which is not modelled")
                                        : -EINVAL;
}

int64_t refused_handle(struct call *c)
{
    (void)c;
    return -EOPNOTSUPP;
}
