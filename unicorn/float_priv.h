/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The SSE unit of Unicorn's CPU, shared by what takes the place of its functions: numbers (unicorn_float.c) and
 * instructions (unicorn_sse.c).
 */
#ifndef C2_UNICORN_FLOAT_PRIV_H
#define C2_UNICORN_FLOAT_PRIV_H

#include "base/base.h"

/* softfloat's status of the SSE unit; MXCSR lies behind it, as it was written: without flags of exceptions. Flags are
 * MXCSR's bits 0 to 5; softfloat itself raises no bit 1 (denormal operand), and two bits more that mean nothing here.
 */
struct float_status {
    int8_t tininess, rounding; /* as MXCSR.RC */
    uint8_t flags;
    int8_t precision;
    uint8_t flush_results, flush_operands, default_nan, signalling;
    uint32_t mxcsr;
};

enum { FLOAT_FLAGS = 0x3f, FLOAT_MASKS_AT = 7, FLOAT_UNDERFLOW = 0x10 };

/* Where it lies in a CPU of Unicorn's; 0: not known yet. */
extern ptrdiff_t unicorn_float_at;
/* From there to the flags of the x87 unit, and to the top of its stack, behind which its registers' tags lie. */
extern ptrdiff_t unicorn_x87_flags_at, unicorn_x87_top_at;
static inline struct float_status *float_status_of(char *cpu)
{
    return (struct float_status *)(cpu + unicorn_float_at);
}

/* Which exceptions trap, as flags. */
static inline uint32_t float_unmasked(const struct float_status *status)
{
    return ~status->mxcsr >> FLOAT_MASKS_AT & FLOAT_FLAGS;
}
/* Whether any does in the CPU that runs. */
extern bool unicorn_float_traps;

/* MXCSR for the host: the guest's, with all exceptions masked and no flag raised. Results are flushed to zero only
 * where an underflow does not trap. */
static inline uint32_t float_mxcsr(const struct float_status *status)
{
    const bool flush = status->flush_results && !(float_unmasked(status) & FLOAT_UNDERFLOW);
    return (uint32_t)FLOAT_FLAGS << FLOAT_MASKS_AT | (uint32_t)status->rounding << 13 | (uint32_t)flush << 15 |
           (uint32_t)(status->flush_operands != 0) << 6;
}

/* Unicorn's function of an SSE instruction on registers. */
typedef void float_instruction(char *cpu, void *to, const void *from);
/* Does the instruction where exceptions trap: if one does, `to` is as before, the flags are raised, and the guest is
 * left at the instruction, by a jump. `back`: the return address of the function that the guest's code has called. */
void unicorn_float_try(float_instruction *instruction, char *cpu, void *to, const void *from, void *back);

/* Where Unicorn's CPU has the status flags of RFLAGS behind an instruction that has set them from a comparison of
 * numbers; NULL: that is not known. */
uint64_t *unicorn_float_flags(char *cpu);

#endif
