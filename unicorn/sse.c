/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Unicorn's functions of SSE instructions raise flags, and never a trap. Those here take the place of all that can
 *   raise one (unicorn_float.c has the rest) and are Unicorn's own while all exceptions are masked. Where one is not,
 *   the instruction is tried: if it raises a flag that traps, its destination gets back what it was, and the guest is
 *   left at the instruction by exception 19, as by a page fault. Where an exception is known from the operands, no flag
 *   is raised that depends on results.
 *   MIN and MAX are done here, and by the host where MXCSR has its say; ROUNDxx keeps quiet about inexact results
 *   where it is told to. Usual numbers are compared and cut off here, for speed.
 * Source
 *   Intel SDM volume 1, 11.5 (SSE exceptions; combinations of masked and unmasked ones); Unicorn 2.0.1's functions.
 */
#include <string.h>

#include "unicorn/float_priv.h"
#include "unicorn/unicorn_priv.h"

#define EXPORT __attribute__((visibility("default")))
#define XMM_BYTES 16u

/* ------------------------------------------------------------------ traps */

enum { INEXACT = 0x20 };

/* Unicorn's: leaves the guest at the instruction that called from `back`. */
static _Noreturn void sse_leave(char *cpu, void *back)
{
    static void *unicorns;
    typedef void raise_exception(char *, int, uintptr_t);
    ((raise_exception *)unicorn_original(&unicorns, "raise_exception_ra_x86_64"))(cpu, UNICORN_FLOAT_TRAP,
                                                                                  (uintptr_t)back);
    __builtin_unreachable();
}

/* What is tried, and how it was before. */
struct attempt {
    struct float_status *status;
    uint8_t flags;
    uint8_t *to, was[XMM_BYTES]; /* to may be NULL */
};

static struct attempt sse_begin(char *cpu, void *to)
{
    struct attempt attempt = {.status = float_status_of(cpu), .flags = float_status_of(cpu)->flags, .to = to};
    if (to)
        memcpy(attempt.was, to, XMM_BYTES);
    attempt.status->flags = 0;
    return attempt;
}

static void sse_end(struct attempt *attempt, char *cpu, void *back)
{
    const uint32_t unmasked = float_unmasked(attempt->status);
    const uint32_t raised = interpret_float_raised(attempt->status->flags, unmasked);
    attempt->status->flags = attempt->flags | (uint8_t)raised;
    if (!(raised & unmasked))
        return;
    if (attempt->to)
        memcpy(attempt->to, attempt->was, XMM_BYTES);
    sse_leave(cpu, back);
}

void unicorn_float_try(float_instruction *instruction, char *cpu, void *to, const void *from, void *back)
{
    struct attempt attempt = sse_begin(cpu, to);
    instruction(cpu, to, from);
    sse_end(&attempt, cpu, back);
}

/* ------------------------------------------------------------------ numbers */

/* Whether all of them are zeros, or numbers that are none of the special ones. */
#define USUAL(width, type, exponents) \
    static inline __attribute__((always_inline)) bool usual##width(const type *numbers, unsigned count) \
    { \
        uint##width##_t bits[XMM_BYTES / sizeof(type)]; \
        bool usual = true; \
        memcpy(bits, numbers, count * sizeof *bits); \
        for (unsigned i = 0; i < count; i++) { \
            const uint##width##_t exponent = bits[i] & (exponents); \
            usual &= exponent != (exponents) && (exponent != 0 || bits[i] << 1 == 0); \
        } \
        return usual; \
    }
USUAL(32, float, UINT32_C(0x7f800000))
USUAL(64, double, UINT64_C(0x7ff0000000000000))

/* ------------------------------------------------------------------ instructions that are Unicorn's */

#define BACK __builtin_return_address(0)
#define ORIGINAL(type, name) ((type *)unicorn_original(&unicorns, #name))

#define FROM_REGISTER(name) \
    EXPORT float_instruction name; \
    EXPORT void name(char *cpu, void *to, const void *from) \
    { \
        static void *unicorns; \
        float_instruction *original = ORIGINAL(float_instruction, name); \
        if (C2_LIKELY(!unicorn_float_traps)) \
            original(cpu, to, from); \
        else \
            unicorn_float_try(original, cpu, to, from, BACK); \
    }
#define XMM(name) FROM_REGISTER(helper_##name##_x86_64)

#define TO_INTEGER(type, name) \
    typedef type name##_function(char *cpu, const void *from); \
    EXPORT name##_function helper_##name##_x86_64; \
    EXPORT type helper_##name##_x86_64(char *cpu, const void *from) \
    { \
        static void *unicorns; \
        name##_function *original = ORIGINAL(name##_function, helper_##name##_x86_64); \
        if (C2_LIKELY(!unicorn_float_traps)) \
            return original(cpu, from); \
        struct attempt attempt = sse_begin(cpu, NULL); \
        const type result = original(cpu, from); \
        sse_end(&attempt, cpu, BACK); \
        return result; \
    }

/* What fits is cut off here. */
#define TRUNCATE(type, name, width, number_type, limit) \
    typedef type name##_function(char *cpu, const void *from); \
    EXPORT name##_function helper_##name##_x86_64; \
    static __attribute__((noinline)) type name##_otherwise(char *cpu, const void *from, void *back) \
    { \
        static void *unicorns; \
        struct attempt attempt = sse_begin(cpu, NULL); \
        const type result = ORIGINAL(name##_function, helper_##name##_x86_64)(cpu, from); \
        sse_end(&attempt, cpu, back); \
        return result; \
    } \
    EXPORT type helper_##name##_x86_64(char *cpu, const void *from) \
    { \
        number_type number; \
        memcpy(&number, from, sizeof number); \
        if (!SHORTCUT(!unicorn_float_traps && number < (limit) && number > -(limit) && usual##width(&number, 1))) \
            return name##_otherwise(cpu, from, BACK); \
        const type result = (type)number; \
        struct float_status *status = float_status_of(cpu); \
        if (C2_UNLIKELY(!(status->flags & INEXACT) && (number_type)result != number)) \
            status->flags |= INEXACT; \
        return result; \
    }

#define FROM_INTEGER(type, name) \
    typedef void name##_function(char *cpu, void *to, type from); \
    EXPORT name##_function helper_##name##_x86_64; \
    EXPORT void helper_##name##_x86_64(char *cpu, void *to, type from) \
    { \
        static void *unicorns; \
        name##_function *original = ORIGINAL(name##_function, helper_##name##_x86_64); \
        if (C2_LIKELY(!unicorn_float_traps)) { \
            original(cpu, to, from); \
            return; \
        } \
        struct attempt attempt = sse_begin(cpu, to); \
        original(cpu, to, from); \
        sse_end(&attempt, cpu, BACK); \
    }

/* ------------------------------------------------------------------ COMISx, UCOMISx
 * They write the guest's flags into Unicorn's CPU: where, shows when three comparisons are made. */

enum { BELOW_FLAG = 0x01, EQUAL_FLAG = 0x40 };

/* The only place, of those before the SSE unit, that holds the flags of each comparison; -1: there is none. It is left
 * as it was. */
static ptrdiff_t sse_find_flags(float_instruction *original, char *cpu)
{
    static const double one[2] = {1, 0};
    static const struct {
        double to[2];
        uint64_t flags;
    } tried[] = {{{0.5, 0}, BELOW_FLAG}, {{2, 0}, 0}, {{1, 0}, EQUAL_FLAG}};
    uint64_t before[4096 / sizeof(uint64_t)];
    bool fits[sizeof before / sizeof *before];
    const size_t count = (size_t)unicorn_float_at / sizeof(uint64_t);
    ptrdiff_t found = -1;
    if (count > sizeof fits / sizeof *fits)
        return -1;
    memset(fits, true, sizeof fits);
    memcpy(before, cpu, count * sizeof *before);
    for (unsigned t = 0; t < 3; t++) {
        double to[2];
        memcpy(to, tried[t].to, sizeof to);
        original(cpu, to, one);
        for (size_t i = 0; i < count; i++)
            fits[i] &= memcmp(cpu + i * sizeof(uint64_t), &tried[t].flags, sizeof(uint64_t)) == 0;
    }
    for (size_t i = 0; i < count; i++)
        if (fits[i])
            found = found == -1 ? (ptrdiff_t)(i * sizeof(uint64_t)) : -2;
    if (found < 0)
        return -1;
    memcpy(cpu + found, &before[(size_t)found / sizeof *before], sizeof *before);
    return found;
}

static ptrdiff_t flags_at; /* 0: not known yet; -1: nowhere */

uint64_t *unicorn_float_flags(char *cpu)
{
    static void *comisd;
    if (C2_UNLIKELY(flags_at == 0) && unicorn_float_at != 0)
        flags_at = sse_find_flags((float_instruction *)unicorn_original(&comisd, "helper_comisd_x86_64"), cpu);
    return flags_at > 0 ? (uint64_t *)(cpu + flags_at) : NULL;
}

static inline void sse_put_flags(char *cpu, bool below, bool equal)
{
    const uint64_t flags = below ? BELOW_FLAG : equal ? EQUAL_FLAG : 0;
    memcpy(cpu + flags_at, &flags, sizeof flags);
}

/* Unicorn's function writes the flags; so whether it traps is found before. */
#define INTO_FLAGS(width, type, name, comparison) \
    int comparison(uint##width##_t a, uint##width##_t b, struct float_status *status); \
    EXPORT float_instruction helper_##name##_x86_64; \
    static __attribute__((noinline)) void name##_otherwise(char *cpu, void *to, const void *from, void *back) \
    { \
        static void *unicorns; \
        if (C2_UNLIKELY(unicorn_float_traps)) { \
            uint##width##_t a, b; \
            memcpy(&a, to, sizeof a); \
            memcpy(&b, from, sizeof b); \
            struct attempt attempt = sse_begin(cpu, NULL); \
            comparison(a, b, attempt.status); \
            sse_end(&attempt, cpu, back); \
        } \
        unicorn_float_flags(cpu); \
        ORIGINAL(float_instruction, helper_##name##_x86_64)(cpu, to, from); \
    } \
    EXPORT void helper_##name##_x86_64(char *cpu, void *to, const void *from) \
    { \
        type a, b; \
        memcpy(&a, to, sizeof a); \
        memcpy(&b, from, sizeof b); \
        if (SHORTCUT(flags_at > 0 && usual##width(&a, 1) && usual##width(&b, 1))) \
            sse_put_flags(cpu, a < b, a == b); \
        else \
            name##_otherwise(cpu, to, from, BACK); \
    }

/* clang-format off */
XMM(sqrtps) XMM(sqrtpd) XMM(sqrtss) XMM(sqrtsd)
XMM(addsubps) XMM(addsubpd) XMM(haddps) XMM(haddpd) XMM(hsubps) XMM(hsubpd)
XMM(cvtps2pd) XMM(cvtpd2ps) XMM(cvtss2sd) XMM(cvtsd2ss) XMM(cvtdq2ps)
XMM(cvtps2dq) XMM(cvtpd2dq) XMM(cvttps2dq) XMM(cvttpd2dq)
XMM(cvtpi2ps) XMM(cvtps2pi) XMM(cvtpd2pi) XMM(cvttps2pi) XMM(cvttpd2pi) /* one of them is of MMX */
#define COMPARED(predicate) \
    XMM(cmp##predicate##ps) XMM(cmp##predicate##pd) XMM(cmp##predicate##ss) XMM(cmp##predicate##sd)
COMPARED(eq) COMPARED(lt) COMPARED(le) COMPARED(unord) COMPARED(neq) COMPARED(nlt) COMPARED(nle) COMPARED(ord)
TO_INTEGER(int32_t, cvtss2si) TO_INTEGER(int32_t, cvtsd2si) TO_INTEGER(int64_t, cvtss2sq)
TO_INTEGER(int64_t, cvtsd2sq)
FROM_INTEGER(uint32_t, cvtsi2ss) FROM_INTEGER(uint64_t, cvtsq2ss) FROM_INTEGER(uint64_t, cvtsq2sd)
INTO_FLAGS(32, float, comiss, float32_compare_x86_64) INTO_FLAGS(32, float, ucomiss, float32_compare_quiet_x86_64)
INTO_FLAGS(64, double, ucomisd, float64_compare_quiet_x86_64) INTO_FLAGS(64, double, comisd, float64_compare_x86_64)
TRUNCATE(int32_t, cvttss2si, 32, float, 0x1p31f) TRUNCATE(int32_t, cvttsd2si, 64, double, 0x1p31)
TRUNCATE(int64_t, cvttss2sq, 32, float, 0x1p63f) TRUNCATE(int64_t, cvttsd2sq, 64, double, 0x1p63)
    /* clang-format on */

    /* ------------------------------------------------------------------ ROUNDxx */

    typedef void round_function(char *cpu, void *to, const void *from, uint32_t mode);

static void round_numbers(round_function *original, char *cpu, void *to, const void *from, uint32_t mode, void *back)
{
    enum { QUIET = 1 << 3 };
    struct attempt attempt = sse_begin(cpu, to);
    original(cpu, to, from, mode);
    if (mode & QUIET)
        attempt.status->flags &= (uint8_t)~INEXACT;
    sse_end(&attempt, cpu, back);
}

#define ROUND(name) \
    EXPORT round_function name; \
    EXPORT void name(char *cpu, void *to, const void *from, uint32_t mode) \
    { \
        static void *unicorns; \
        round_numbers(ORIGINAL(round_function, name), cpu, to, from, mode, BACK); \
    }
ROUND(helper_roundps_xmm_x86_64)
ROUND(helper_roundpd_xmm_x86_64)
ROUND(helper_roundss_xmm_x86_64)
ROUND(helper_roundsd_xmm_x86_64)

/* ------------------------------------------------------------------ MIN, MAX */

#define EXTREME(name, width, type, count, chosen) \
    static void name##_by_host(char *cpu, void *to, const void *from) \
    { \
        struct float_status *status = float_status_of(cpu); \
        uint8_t result[XMM_BYTES]; \
        uint32_t host, guest = float_mxcsr(status); \
        memcpy(result, to, sizeof result); \
        __asm__ volatile("stmxcsr %[host]\n\tldmxcsr %[guest]\n\tmovups %[result], %%xmm0\n\t" \
                         "movups (%[from]), %%xmm1\n\t" #name " %%xmm1, %%xmm0\n\tmovups %%xmm0, %[result]\n\t" \
                         "stmxcsr %[guest]\n\tldmxcsr %[host]" \
                         : [host] "=m"(host), [guest] "+m"(guest), [result] "+m"(result) \
                         : [from] "r"(from) \
                         : "xmm0", "xmm1", "memory"); \
        memcpy(to, result, (count) * sizeof(type)); \
        status->flags |= (uint8_t)(guest & FLOAT_FLAGS); \
    } \
    EXPORT float_instruction helper_##name##_x86_64; \
    EXPORT void helper_##name##_x86_64(char *cpu, void *to, const void *from) \
    { \
        type a[count], b[count]; \
        memcpy(a, to, sizeof a); \
        memcpy(b, from, sizeof b); \
        if (SHORTCUT(usual##width(a, count) && usual##width(b, count))) { \
            for (unsigned i = 0; i < (count); i++) \
                a[i] = chosen ? a[i] : b[i]; \
            memcpy(to, a, sizeof a); \
        } else if (unicorn_float_traps) { \
            unicorn_float_try(name##_by_host, cpu, to, from, BACK); \
        } else { \
            name##_by_host(cpu, to, from); \
        } \
    }
EXTREME(minps, 32, float, 4, a[i] < b[i])
EXTREME(maxps, 32, float, 4, a[i] > b[i])
EXTREME(minss, 32, float, 1, a[i] < b[i])
EXTREME(maxss, 32, float, 1, a[i] > b[i])
EXTREME(minpd, 64, double, 2, a[i] < b[i])
EXTREME(maxpd, 64, double, 2, a[i] > b[i])
EXTREME(minsd, 64, double, 1, a[i] < b[i])
EXTREME(maxsd, 64, double, 1, a[i] > b[i])
