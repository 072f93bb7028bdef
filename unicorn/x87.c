/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   In the place of Unicorn's functions of x87 and MMX instructions, which it finds by their names: FLD of a single or
 *   double makes a signalling NaN a quiet one, FIST of 16 bits takes what does not fit for an invalid operation, and
 *   FCOMI and FUCOMI clear the flags that they do not set. An MMX instruction makes register 0 the top of the x87 stack
 *   and all registers valid; Unicorn does so before the instruction's memory is read or written, so that it is kept how
 *   they were until the next one; and not at all where EMMS, or an instruction of SSSE3 with memory, comes first.
 * Source
 *   Intel SDM volume 2, FLD, FIST; volume 1, 9.5 and 9.6 (MMX state); Unicorn 2.0.1's functions.
 */
#include <string.h>

#include "unicorn/float_priv.h"
#include "unicorn/unicorn_priv.h"

#define EXPORT __attribute__((visibility("default")))

enum { INVALID = 1 };

ptrdiff_t unicorn_x87_flags_at, unicorn_x87_top_at;

static uint8_t *x87_flags_of(char *cpu) { return (uint8_t *)cpu + unicorn_float_at + unicorn_x87_flags_at; }

#define QUIET32 (UINT32_C(1) << 22)
#define QUIET64 (UINT64_C(1) << 51)
static bool signals32(uint32_t a) { return a << 1 > UINT32_C(0xff000000) && !(a & QUIET32); }
static bool signals64(uint64_t a) { return a << 1 > UINT64_C(0xffe0000000000000) && !(a & QUIET64); }

#define LOAD(width, name) \
    typedef void name##_function(char *cpu, uint##width##_t value); \
    EXPORT name##_function name; \
    EXPORT void name(char *cpu, uint##width##_t value) \
    { \
        static void *unicorns; \
        if (C2_UNLIKELY(signals##width(value))) { \
            *x87_flags_of(cpu) |= INVALID; \
            value |= QUIET##width; \
        } \
        ((name##_function *)unicorn_original(&unicorns, #name))(cpu, value); \
    }
LOAD(32, helper_flds_ST0_x86_64)
LOAD(64, helper_fldl_ST0_x86_64)

/* By the function for 32 bits, which rounds and raises the flags. */
typedef int32_t store_function(char *cpu);
EXPORT store_function helper_fist_ST0_x86_64;
EXPORT int32_t helper_fist_ST0_x86_64(char *cpu)
{
    static void *unicorns;
    const uint8_t before = *x87_flags_of(cpu);
    const int32_t value = ((store_function *)unicorn_original(&unicorns, "helper_fistl_ST0_x86_64"))(cpu);
    if (value == (int16_t)value)
        return value;
    *x87_flags_of(cpu) = before | INVALID;
    return INT16_MIN;
}

/* ------------------------------------------------------------------ FCOMI, FUCOMI */

#define COMPARE(name) \
    typedef void name##_function(char *cpu); \
    EXPORT name##_function name; \
    EXPORT void name(char *cpu) \
    { \
        enum { AF = 0x10, SF = 0x80, OF = 0x800 }; \
        static void *unicorns; \
        ((name##_function *)unicorn_original(&unicorns, #name))(cpu); \
        uint64_t *flags = unicorn_float_flags(cpu); \
        C2_ASSERT(flags); \
        *flags &= ~(uint64_t)(AF | SF | OF); \
    }
COMPARE(helper_fcomi_ST0_FT0_x86_64)
COMPARE(helper_fucomi_ST0_FT0_x86_64)

/* ------------------------------------------------------------------ MMX */

/* The top of the stack, and of each register whether it is empty, as they lie in Unicorn's CPU. */
struct stack {
    uint32_t top;
    uint8_t control[4], empty[8]; /* control and status words between them */
};
enum { TOP_BYTES = sizeof(uint32_t), EMPTY_AT = 8, EMPTY_BYTES = 8 };
_Static_assert(offsetof(struct stack, empty) == EMPTY_AT, "as Unicorn has them");

static struct {
    char *cpu; /* NULL: nothing is kept */
    struct stack stack;
} before;

static struct stack *x87_stack_of(char *cpu) { return (struct stack *)(cpu + unicorn_float_at + unicorn_x87_top_at); }

typedef void mmx_function(char *cpu);
EXPORT mmx_function helper_enter_mmx_x86_64;
EXPORT void helper_enter_mmx_x86_64(char *cpu)
{
    struct stack *stack = x87_stack_of(cpu);
    before.cpu = cpu;
    before.stack = *stack;
    stack->top = 0;
    memset(stack->empty, 0, sizeof stack->empty);
}

void unicorn_x87_leave_mmx(void)
{
    if (!before.cpu)
        return;
    struct stack *stack = x87_stack_of(before.cpu);
    stack->top = before.stack.top;
    memcpy(stack->empty, before.stack.empty, sizeof stack->empty);
    before.cpu = NULL;
}

EXPORT mmx_function helper_emms_x86_64;
EXPORT void helper_emms_x86_64(char *cpu)
{
    struct stack *stack = x87_stack_of(cpu);
    stack->top = 0;
    memset(stack->empty, 1, sizeof stack->empty);
}

#define SSSE3(name) \
    typedef void name##_function(char *cpu, void *to, const void *from); \
    EXPORT name##_function helper_##name##_mmx_x86_64; \
    EXPORT void helper_##name##_mmx_x86_64(char *cpu, void *to, const void *from) \
    { \
        static void *unicorns; \
        helper_enter_mmx_x86_64(cpu); \
        ((name##_function *)unicorn_original(&unicorns, "helper_" #name "_mmx_x86_64"))(cpu, to, from); \
    }
/* clang-format off */
SSSE3(pshufb) SSSE3(phaddw) SSSE3(phaddd) SSSE3(phaddsw) SSSE3(phsubw) SSSE3(phsubd) SSSE3(phsubsw)
SSSE3(pmaddubsw) SSSE3(pmulhrsw) SSSE3(psignb) SSSE3(psignw) SSSE3(psignd) SSSE3(pabsb) SSSE3(pabsw) SSSE3(pabsd)
    /* clang-format on */

    typedef void align_function(char *cpu, void *to, const void *from, int32_t bytes);
EXPORT align_function helper_palignr_mmx_x86_64;
EXPORT void helper_palignr_mmx_x86_64(char *cpu, void *to, const void *from, int32_t bytes)
{
    static void *unicorns;
    helper_enter_mmx_x86_64(cpu);
    ((align_function *)unicorn_original(&unicorns, "helper_palignr_mmx_x86_64"))(cpu, to, from, bytes);
}
