/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Executes instructions on the CPU that runs the test, from a chosen state of all registers, and brings back the state
 * after them. What an emulator does with the same bytes can then be compared with what a CPU does.
 */
#ifndef C2_TEST_INTERPRET_NATIVE_H
#define C2_TEST_INTERPRET_NATIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "cpu/cpu.h"

struct native_state {
    uint64_t gpr[16]; /* rax rcx rdx rbx rsp rbp rsi rdi r8..r15 */
    uint64_t flags;
    uint8_t fxsave[512] __attribute__((aligned(16)));
};

struct native_end {
    int signal, code;     /* 0: the code ran to its end */
    uint64_t rip;         /* of the signal */
    uint64_t address;     /* of the signal, si_addr */
    unsigned trap, error; /* of the signal: the exception, and the error code of a page fault */
    bool taken;           /* the code ended by native_leave_taken */
};

/* Code under test leaves by an indirect jump to one of these (14 bytes: native_write_tail). */
extern const char native_leave[], native_leave_taken[];
#define NATIVE_TAIL_BYTES 14
void native_write_tail(uint8_t *at, const char *leave);

/* Prepares a stack for signal handlers; the GS base of the process becomes gs_base. Call once. */
void native_start(uint64_t gs_base);
/* Registers beyond SSE's, which native_run begins with and leaves as they are at the end: `components` of XSAVE, which
 * the processor has. NULL: what it begins with is left open. */
void native_use_wide(struct cpu_wide *wide, uint64_t components);
/* Enters code with *state and returns with the state at its end, or at the signal. */
void native_run(struct native_state *state, const void *code, struct native_end *end);

/* What the CPU that runs the test has. */
enum native_feature {
    NATIVE_ALWAYS,
    NATIVE_POPCNT,
    NATIVE_MOVBE,
    NATIVE_BMI1,
    NATIVE_BMI2,
    NATIVE_SSE42,
    NATIVE_LZCNT,
    NATIVE_ADX,
};
bool native_has(enum native_feature feature);
const char *native_feature_name(enum native_feature feature);

#endif
