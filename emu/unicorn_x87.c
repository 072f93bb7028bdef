/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Three of Unicorn's functions of x87 instructions, which it finds by their names: FLD of a single or double makes a
 *   signalling NaN a quiet one, and FIST of 16 bits takes what does not fit for an invalid operation.
 * Source
 *   Intel SDM volume 2, FLD, FIST; Unicorn 2.0.1's functions.
 */
#include "emu/unicorn_float_priv.h"
#include "emu/unicorn_priv.h"

#define EXPORT __attribute__((visibility("default")))

enum { INVALID = 1 };

ptrdiff_t unicorn_x87_flags_at;

static uint8_t *flags_of(char *cpu) { return (uint8_t *)cpu + unicorn_float_at + unicorn_x87_flags_at; }

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
            *flags_of(cpu) |= INVALID; \
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
    const uint8_t before = *flags_of(cpu);
    const int32_t value = ((store_function *)unicorn_original(&unicorns, "helper_fistl_ST0_x86_64"))(cpu);
    if (value == (int16_t)value)
        return value;
    *flags_of(cpu) = before | INVALID;
    return INT16_MIN;
}
