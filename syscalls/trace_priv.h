/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The tracer's view of a call.
 */
#ifndef C2_SYSCALLS_TRACE_PRIV_H
#define C2_SYSCALLS_TRACE_PRIV_H

#include "syscalls/call_priv.h"

struct call_name {
    uint64_t value;
    const char *name;
};
/* A set of bits (flags) or of values (choices). `mask`: these bits hold a value of their own (O_ACCMODE, MAP_TYPE). */
struct call_names {
    uint64_t mask;
    size_t count;
    const struct call_name *row;
};

/* clang-format off */
#define TRACE_SETS(X) \
    X(open) X(at) X(access) X(prot) X(map) X(mremap) X(madvise) X(whence) X(fcntl) X(clock) X(sigmask) X(ioctl) \
    X(futex) X(arch) X(prctl) X(limit) X(random) X(pipe) X(rename) X(lock) X(usage) X(family) X(timer)
/* clang-format on */
#define X(name) extern const struct call_names trace_##name;
TRACE_SETS(X)
#undef X

/* In front of a line, of a program with several threads: the thread. */
void trace_thread(const struct syscalls *kernel, uint32_t tid);
/* One line for a call that has returned; value is what the guest sees. raw: the guest's own arguments. */
void trace_call(const struct call *c, const uint64_t raw[CALL_ARGS], int64_t value);
/* A call without a row. */
void trace_unknown(FILE *to, uint64_t number, const uint64_t raw[CALL_ARGS], int64_t value);
/* A call that waited, and is over by a signal. */
void trace_interrupted(const struct syscalls *kernel, uint32_t number, int signal, bool restarts);
struct signals_info;
void trace_signal(FILE *to, const struct signals_info *info);

#endif
