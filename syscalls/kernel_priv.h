/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The state of the guest's kernel: one part a topic, each with its own file.
 */
#ifndef C2_SYSCALLS_KERNEL_PRIV_H
#define C2_SYSCALLS_KERNEL_PRIV_H

#include "syscalls/attributes_priv.h"
#include "syscalls/call_priv.h"
#include "syscalls/fds_priv.h"
#include "syscalls/identity_priv.h"
#include "syscalls/inputs_priv.h"
#include "syscalls/sandbox_priv.h"
#include "syscalls/signals_priv.h"

/* What the running call copied of the guest's memory. */
struct kernel_copies {
    uint64_t used;
    uint8_t bytes[CALL_COPIES_BYTES] __attribute__((aligned(16)));
};

#define KERNEL_TIMER_SLACK_NS 50000u

/* What the kernel keeps of a guest thread; its registers are where it is executed. */
struct kernel_thread {
    uint32_t tid;
    char name[16]; /* comm */
    struct signals_mask signals;
    int no_new_privileges, death_signal;
    uint64_t timer_slack;
    uint64_t clear_tid; /* set_tid_address */
};

/* What is called how; owned. */
struct kernel_names {
    char *program_path;
    char *arguments; /* each ended by NUL, as in /proc/self/cmdline */
    size_t arguments_bytes;
    char *environment;
    size_t environment_bytes;
};

/* What all threads share, and the one that there is. */
struct syscalls {
    struct kernel_thread thread;
    struct mmu *mmu;
    uint64_t physical_bytes;
    struct kernel_names names;
    FILE *trace;
    FILE *complaints;
    char *complaint_prefix;
    const volatile int *interrupted;
    int64_t (*may_run)(void *self, const struct syscalls_program *program);
    void *may_run_self;
    struct syscalls_program *program; /* that the guest wants to be; NULL: it does not */

    uint64_t instructions_per_second;
    uint64_t start_seconds;       /* CLOCK_REALTIME at boot */
    uint64_t slept_ns;            /* guest time that passed in sleeps and timeouts, without instructions */
    uint64_t instructions;        /* of the last call: what /proc files show */
    uint64_t instructions_before; /* of the programs that the process was before (execve) */
    struct c2_rng random;

    struct attributes attributes;
    struct fds fds;
    struct signals signals;
    struct identity identity;
    struct inputs inputs;
    struct sandbox sandbox;

    struct kernel_copies copies;
    uint64_t complained[CALL_TABLE_END / 64]; /* a bit a number; the last one stands for all higher numbers */
};

/* What the program is called: in /proc, and as the name of its first thread. On failure nothing has changed. */
enum c2_status kernel_name_program(struct syscalls *kernel, const char *path, const char *const *argv,
                                   const char *const *envp, struct c2_error *err);
void kernel_name_thread(struct kernel_thread *thread, const char *program);

/* ------------------------------------------------------------------ time.c */
#define KERNEL_NS 1000000000ull
uint64_t kernel_cpu_ns(const struct syscalls *kernel, uint64_t instructions); /* without sleeps */
/* Guest time goes on by ns at once. */
void kernel_sleep(struct syscalls *kernel, uint64_t ns);
/* A guest timespec as nanoseconds, saturated; false if it is invalid (EINVAL). */
struct timespec;
bool kernel_timespec_ns(uint64_t *out, const struct timespec *time);

#endif
