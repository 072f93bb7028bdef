/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The guest's identity: fixed numbers and names.
 */
#ifndef C2_SYSCALLS_IDENTITY_PRIV_H
#define C2_SYSCALLS_IDENTITY_PRIV_H

#include "base/base.h"

#define IDENTITY_PID 1000
#define IDENTITY_PARENT 1
#define IDENTITY_USER 1000
#define IDENTITY_HOST_NAME "c2emu"
#define IDENTITY_RELEASE "6.1.0-c2emu"
#define IDENTITY_RELEASE_26 "2.6.61-c2emu" /* for programs that expect three numbers (UNAME26) */
#define IDENTITY_VERSION "#1 SMP 2020-01-01"
#define IDENTITY_NAME_BYTES 16 /* of a thread: TASK_COMM_LEN */
#define IDENTITY_LIMITS 16     /* RLIM_NLIMITS */
#define IDENTITY_TASKS 8192    /* the limits of threads and of queued signals: half of threads-max, as Linux has it */

struct identity_limit {
    uint64_t soft, hard;
};

struct identity {
    struct identity_limit limit[IDENTITY_LIMITS];
    unsigned mask; /* umask */
    int dumpable;
    int keeps_capabilities; /* PR_SET_KEEPCAPS; there are none to keep */
    uint32_t barriers;      /* commands of membarrier that registered it */
    uint32_t personality;   /* as personality(2) has it */
    int memory_errors;      /* PR_MCE_KILL: there are none */
    uint32_t has_segments;  /* a table of its own (modify_ldt), which is empty */
    int no_huge_pages;      /* PR_SET_THP_DISABLE, which is only remembered */
};

void identity_create(struct identity *identity);
struct kernel_thread;
/* What is too long is cut. */
void identity_name_thread(struct kernel_thread *thread, const char *name);

#endif
