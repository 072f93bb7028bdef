/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What lies at the GS base while translated code runs, for C and for assembler: where each thing lies is known to
 * enter.S and to every translation.
 */
#ifndef C2_NATIVE_CONTEXT_H
#define C2_NATIVE_CONTEXT_H

#define CONTEXT_GPR 0
#define CONTEXT_TARGET 128
#define CONTEXT_FLAGS 136
#define CONTEXT_FS_BASE 144
#define CONTEXT_GS_BASE 152
#define CONTEXT_HOST_FS 160
#define CONTEXT_HOST_RSP 168
#define CONTEXT_HOST_MXCSR 176
#define CONTEXT_EXIT 184
#define CONTEXT_LEAVE 192
#define CONTEXT_PACE 200
#define CONTEXT_LIMIT 208
#define CONTEXT_BEYOND 216
#define CONTEXT_SPILL 224
#define CONTEXT_ENTRY 232
#define CONTEXT_WIDE 240
#define CONTEXT_BASES 248
#define CONTEXT_FXSAVE 256
#define CONTEXT_TABLES 4096

#define CONTEXT_TABLE_ENTRIES 65536 /* of indirect jumps: by the lower 16 bits of the target */
#define CONTEXT_TABLE_BYTES (CONTEXT_TABLE_ENTRIES * 8)
#define CONTEXT_COUNTERS (CONTEXT_TABLES + 3 * CONTEXT_TABLE_BYTES)
#define CONTEXT_COUNTERS_MOST (1 << 22) /* blocks, counted while nothing is recorded */

#ifndef __ASSEMBLER__

#include <stddef.h>
#include <stdint.h>

struct native_context {
    uint64_t gpr[16]; /* the guest's; those of R10 and R11 always, but where a translation has them */
    uint64_t target;  /* of the indirect jump that has left */
    uint64_t flags;   /* those that instructions work on (NATIVE_FLAGS) */
    uint64_t fs_base, gs_base;
    uint64_t host_fs, host_rsp, host_mxcsr;
    uint64_t exit;   /* the number of the site that has left */
    uint64_t leave;  /* address of native_leave_code */
    uint64_t pace;   /* R10 between translations (translate.c) */
    uint64_t limit;  /* recording: no record begins behind it */
    uint64_t beyond; /* -(limit + 1) */
    uint64_t spill, entry;
    uint64_t wide;  /* the components of XSAVE that lie behind fxsave, where the host has them */
    uint64_t bases; /* native_sets_bases() */
    uint8_t fxsave[512] __attribute__((aligned(16)));
    uint64_t there; /* XSTATE_BV */
    uint8_t rest[CONTEXT_TABLES - CONTEXT_FXSAVE - 512 - 8];
    uint64_t table[3][CONTEXT_TABLE_ENTRIES]; /* of each kind of translation that is linked: the first door (link.c) */
    uint64_t executed[CONTEXT_COUNTERS_MOST];
};

#define CONTEXT_AGREES(member, at) _Static_assert(offsetof(struct native_context, member) == (at), "enter.S")
CONTEXT_AGREES(target, CONTEXT_TARGET);
CONTEXT_AGREES(flags, CONTEXT_FLAGS);
CONTEXT_AGREES(fs_base, CONTEXT_FS_BASE);
CONTEXT_AGREES(gs_base, CONTEXT_GS_BASE);
CONTEXT_AGREES(host_fs, CONTEXT_HOST_FS);
CONTEXT_AGREES(host_rsp, CONTEXT_HOST_RSP);
CONTEXT_AGREES(host_mxcsr, CONTEXT_HOST_MXCSR);
CONTEXT_AGREES(exit, CONTEXT_EXIT);
CONTEXT_AGREES(leave, CONTEXT_LEAVE);
CONTEXT_AGREES(pace, CONTEXT_PACE);
CONTEXT_AGREES(limit, CONTEXT_LIMIT);
CONTEXT_AGREES(beyond, CONTEXT_BEYOND);
CONTEXT_AGREES(spill, CONTEXT_SPILL);
CONTEXT_AGREES(entry, CONTEXT_ENTRY);
CONTEXT_AGREES(wide, CONTEXT_WIDE);
CONTEXT_AGREES(bases, CONTEXT_BASES);
CONTEXT_AGREES(fxsave, CONTEXT_FXSAVE);
CONTEXT_AGREES(table, CONTEXT_TABLES);
CONTEXT_AGREES(executed, CONTEXT_COUNTERS);

/* ------------------------------------------------------------------ enter.S */

/* Executes an instruction that uses vector and mask registers alone, with a RET behind it; `address` is in RAX. */
void native_execute_masked(struct native_context *context, const void *host, uint64_t address);
/* Executes translated code at `host` until it leaves. */
void native_enter_code(struct native_context *context, const void *host);
/* Where translations leave to: all registers are the guest's but R11, the target, and R10, the pace. */
void native_leave_code(void);
/* The same where a signal handler has kept the registers. */
void native_left_code(void);
/* The handler of the kernel's signals; takes what the kernel gives. Restores the host's FS base before any C runs. */
void native_on_signal(int number, void *info, void *context);

/* For native_on_signal: where translated code lies, and its context. */
extern uint64_t native_code_start, native_code_end;
extern struct native_context *native_running;
/* A signal in translated code. True: it is executed on. */
_Bool native_signal(int number, void *info, void *context);
/* Any other one. */
void native_foreign_signal(int number, void *info, void *context);

#endif
#endif
