/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Unicorn calculates with integers what its guests calculate with SSE, 20 ns an operation, until the flag of an
 *   inexact result is raised, which programs that calculate with whole numbers never do. It calls the functions for
 *   that through its symbol table, so those of the same name here take their place. They leave it to the processor of
 *   the host. The common case - round to nearest, normal numbers, a result far from overflow and underflow - is one
 *   instruction: no flag can be raised but that of an inexact result, and whether a result is exact is found from the
 *   operands. With zeros, as sums start from, it always is, and so it is where numbers cancel. All else is done under
 *   the guest's MXCSR, with every exception masked: which of two NaNs goes on, what is done to denormals and raised for
 *   them is the processor's then.
 *   Comparisons are Unicorn's where a NaN or a denormal is compared; the flag of a denormal operand, which it has not,
 *   is added.
 *   Instructions for one number of a register, or for all of them, are functions of Unicorn's that call those. Four of
 *   each have their twins here, which do both: results go from one to the next, and each step more is waited for.
 * Invariants
 *   The host rounds to nearest, flushes nothing to zero and masks all exceptions.
 * Source
 *   Unicorn 2.0.1: softfloat's status, and MXCSR behind it. Tried when an engine is created (unicorn_state.c); compared
 *   with the processor, and with Unicorn, in tests/engine. Intel SDM volume 1, 4.8.3.5 and 11.5 (NaNs, exceptions).
 */
#include <emmintrin.h>
#include <math.h>
#include <string.h>

#include "unicorn/float_priv.h"
#include "unicorn/unicorn_priv.h"

#define EXPORT __attribute__((visibility("default")))

enum { TO_NEAREST = 0, INEXACT = 32 };

static bool trusted;       /* that this is Unicorn's status */
static bool inexact_traps; /* in the CPU that runs: what is inexact is not for the common case then */
static bool common;        /* trusted, and not inexact_traps */
bool unicorn_float_traps;

void unicorn_float_trust(bool trust)
{
    trusted = trust;
    common = trusted && !inexact_traps;
}

void unicorn_float_run(uint32_t unmasked)
{
    unicorn_float_traps = unmasked != 0;
    inexact_traps = unmasked & INEXACT;
    common = trusted && !inexact_traps;
}

static bool to_nearest(const struct float_status *status) { return common && status->rounding == TO_NEAREST; }

/* Raised once, it stays: then it is not needed. */
static bool known_inexact(const struct float_status *status) { return status->flags & INEXACT; }

/* Nothing is written where it stays as it is: the next operation reads it, and would wait for this one. */
static void raise_inexact(struct float_status *status) { status->flags |= INEXACT; }

/* ------------------------------------------------------------------ doubles */

static double number64(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static uint64_t bits64(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

enum { FRACTION64 = 52, EXPONENTS64 = 0x7ff };
#define ONE64 ((uint64_t)1 << FRACTION64)

static unsigned exponent64(uint64_t a) { return a >> FRACTION64 & EXPONENTS64; }
static uint64_t mantissa64(uint64_t a) { return (a & (ONE64 - 1)) | ONE64; }
static bool normal64(uint64_t a) { return exponent64(a) - 1u < EXPONENTS64 - 1u; }
static bool zero64(uint64_t a) { return a << 1 == 0; }
/* One of them is zero, and the other one a number that is none of the special ones. */
static bool zeros64(uint64_t a, uint64_t b)
{
    return (zero64(a) && (zero64(b) || normal64(b))) || (zero64(b) && normal64(a));
}
static bool equal64(uint64_t a, uint64_t b) { return a == b && normal64(a); }
static bool opposite64(uint64_t a, uint64_t b) { return (a ^ b) << 1 == 0 && a != b && normal64(a); }
static bool plain64(uint64_t result) { return exponent64(result) - 2u < EXPONENTS64 - 3u; }
static bool denormal64(uint64_t a) { return exponent64(a) == 0 && !zero64(a); }
static bool nan64(uint64_t a) { return a << 1 > (uint64_t)EXPONENTS64 << (FRACTION64 + 1); }

__extension__ typedef unsigned __int128 product;

/* What the rounded sum has lost of one operand and of the other. */
static bool sum_exact64(double a, double b, double sum)
{
    const double part = sum - a;
    return (a - (sum - part)) + (b - part) == 0;
}

/* Of 105 or 106 bits the lower 52 or 53 are lost. */
static bool product_exact64(uint64_t a, uint64_t b)
{
    const product whole = (product)mantissa64(a) * mantissa64(b);
    const unsigned lost = FRACTION64 + (unsigned)(whole >> (2 * FRACTION64 + 1));
    return (uint64_t)whole << (64 - lost) == 0;
}

static bool quotient_exact64(uint64_t a, uint64_t b, uint64_t quotient)
{
    const unsigned shift = FRACTION64 + (mantissa64(a) < mantissa64(b));
    return (product)mantissa64(quotient) * mantissa64(b) == (product)mantissa64(a) << shift;
}

static bool root_exact64(uint64_t a, uint64_t root)
{
    const unsigned shift = FRACTION64 + (exponent64(a) & 1 ? 0 : 1);
    return (product)mantissa64(root) * mantissa64(root) == (product)mantissa64(a) << shift;
}

static double root64(double a)
{
    const __m128d number = _mm_set_sd(a);
    return _mm_cvtsd_f64(_mm_sqrt_sd(number, number));
}

/* ------------------------------------------------------------------ singles: doubles are more than exact enough */

static float number32(uint32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static uint32_t bits32(float number)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

enum { FRACTION32 = 23, EXPONENTS32 = 0xff };

static unsigned exponent32(uint32_t a) { return a >> FRACTION32 & EXPONENTS32; }
static bool normal32(uint32_t a) { return exponent32(a) - 1u < EXPONENTS32 - 1u; }
static bool zero32(uint32_t a) { return a << 1 == 0; }
/* One of them is zero, and the other one a number that is none of the special ones. */
static bool zeros32(uint32_t a, uint32_t b)
{
    return (zero32(a) && (zero32(b) || normal32(b))) || (zero32(b) && normal32(a));
}
static bool equal32(uint32_t a, uint32_t b) { return a == b && normal32(a); }
static bool opposite32(uint32_t a, uint32_t b) { return (a ^ b) << 1 == 0 && a != b && normal32(a); }
static bool plain32(uint32_t result) { return exponent32(result) - 2u < EXPONENTS32 - 3u; }
static bool denormal32(uint32_t a) { return exponent32(a) == 0 && !zero32(a); }
static bool nan32(uint32_t a) { return a << 1 > (uint32_t)EXPONENTS32 << (FRACTION32 + 1); }

static bool sum_exact32(float a, float b, float sum)
{
    const float part = sum - a;
    return (a - (sum - part)) + (b - part) == 0;
}

static float root32(float a) { return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(a))); }

/* ------------------------------------------------------------------ several numbers */

typedef __m128 vector32;
typedef __m128d vector64;
/* By halves, as translations have just stored them: a load of what two stores have written waits for both. */
static inline vector64 load64(const void *from)
{
    __m128d low = _mm_load_sd(from), high = _mm_load_sd((const double *)from + 1);
    __asm__("" : "+x"(high)); /* a compiler would join them */
    return _mm_unpacklo_pd(low, high);
}
static inline vector32 load32(const void *from) { return _mm_castpd_ps(load64(from)); }
static void store32(void *to, vector32 numbers) { _mm_storeu_ps(to, numbers); }
static void store64(void *to, vector64 numbers) { _mm_storeu_pd(to, numbers); }

/* Which exponents are below `least` or above `most`; all are given where they lie. */
static inline __m128i float_outside(__m128i numbers, __m128i exponents, __m128i least, __m128i most)
{
    const __m128i exponent = _mm_and_si128(numbers, exponents);
    return _mm_or_si128(_mm_cmpgt_epi32(least, exponent), _mm_cmpgt_epi32(exponent, most));
}

static inline __attribute__((always_inline)) bool all_plain(__m128i a, __m128i b, __m128i result, __m128i exponents,
                                                            __m128i one)
{
    const __m128i most = _mm_sub_epi32(exponents, one);
    const __m128i bad = _mm_or_si128(
        _mm_or_si128(float_outside(a, exponents, one, most), float_outside(b, exponents, one, most)),
        float_outside(result, exponents, _mm_add_epi32(one, one), _mm_sub_epi32(most, one)));
    return _mm_movemask_epi8(bad) == 0;
}

static inline bool all_plain32(vector32 a, vector32 b, vector32 result)
{
    return all_plain(_mm_castps_si128(a), _mm_castps_si128(b), _mm_castps_si128(result),
                     _mm_set1_epi32(EXPONENTS32 << FRACTION32), _mm_set1_epi32(1 << FRACTION32));
}

/* The exponents lie in the upper halves; of the lower ones no bit is looked at. */
static inline bool all_plain64(vector64 a, vector64 b, vector64 result)
{
    return all_plain(_mm_castpd_si128(a), _mm_castpd_si128(b), _mm_castpd_si128(result),
                     _mm_set1_epi64x((int64_t)EXPONENTS64 << FRACTION64), _mm_set1_epi64x((int64_t)ONE64));
}

/* ------------------------------------------------------------------ the host under the guest's MXCSR */

/* What is not masked is raised by other rules: exact results that are denormal, too, are an underflow, and a result is
 * inexact if the significand is, whatever the exponent. */
static bool out_of_range(const struct float_status *status, uint32_t flags)
{
    enum { OVERFLOWED = 0x08 };
    return flags & float_unmasked(status) & (OVERFLOWED | FLOAT_UNDERFLOW);
}

static void float_raise_flags(struct float_status *status, uint32_t flags, bool denormal)
{
    if (denormal)
        flags |= float_unmasked(status) & FLOAT_UNDERFLOW;
    status->flags |= (uint8_t)(flags & FLOAT_FLAGS);
}

/* The significands, where the operation is one of them; what overflows in a sum does not in a quarter of it. */
static double significand64(double a)
{
    int exponent;
    return frexp(a, &exponent);
}
static float significand32(float a)
{
    int exponent;
    return frexpf(a, &exponent);
}
static double quarter64(double a) { return a / 4; }
static float quarter32(float a) { return a / 4; }

/* The instruction does `to`, of the one type, and `from`, of the other; `part` is how its operands are brought into
 * range. */
#define UNDER_GUEST(name, instruction, part, to_width, to_type, width, type) \
    static to_type name##_run(to_type to, type from, uint32_t *mxcsr) \
    { \
        uint32_t host; \
        __asm__ volatile("stmxcsr %[host]\n\tldmxcsr %[guest]\n\t" instruction \
                         " %[from], %[to]\n\tstmxcsr %[guest]\n\tldmxcsr %[host]" \
                         : [to] "+x"(to), [host] "=m"(host), [guest] "+m"(*mxcsr) \
                         : [from] "x"(from)); \
        return to; \
    } \
    static uint##to_width##_t name##_host(uint##to_width##_t a, uint##width##_t b, struct float_status *status) \
    { \
        uint32_t flags = float_mxcsr(status), again = flags; \
        const uint##to_width##_t result = bits##to_width(name##_run(number##to_width(a), number##width(b), &flags)); \
        if (C2_UNLIKELY(out_of_range(status, flags))) { \
            name##_run(part##to_width(number##to_width(a)), part##width(number##width(b)), &again); \
            flags = (flags & ~(uint32_t)INEXACT) | (again & INEXACT); \
        } \
        float_raise_flags(status, flags, denormal##to_width(result)); \
        return result; \
    }
UNDER_GUEST(add64, "addsd", quarter, 64, double, 64, double)
UNDER_GUEST(sub64, "subsd", quarter, 64, double, 64, double)
UNDER_GUEST(mul64, "mulsd", significand, 64, double, 64, double)
UNDER_GUEST(div64, "divsd", significand, 64, double, 64, double)
UNDER_GUEST(sqrt64, "sqrtsd", significand, 64, double, 64, double)
UNDER_GUEST(widen, "cvtss2sd", significand, 64, double, 32, float)
UNDER_GUEST(add32, "addss", quarter, 32, float, 32, float)
UNDER_GUEST(sub32, "subss", quarter, 32, float, 32, float)
UNDER_GUEST(mul32, "mulss", significand, 32, float, 32, float)
UNDER_GUEST(div32, "divss", significand, 32, float, 32, float)
UNDER_GUEST(sqrt32, "sqrtss", significand, 32, float, 32, float)
UNDER_GUEST(narrow, "cvtsd2ss", significand, 32, float, 64, double)

/* ------------------------------------------------------------------ where Unicorn's CPU has its status
 * The first instruction is left to Unicorn, and not to the host either: then Unicorn's own function shows it. */

static const char *learning; /* the CPU whose instruction it is; NULL: none */
#define status_at unicorn_float_at
ptrdiff_t unicorn_float_at;

static void begin_learning(const char *cpu)
{
    learning = cpu;
    common = false;
}

static void learn_status(const struct float_status *status)
{
    if (learning)
        status_at = (const char *)status - learning;
}

static void end_learning(void)
{
    learning = NULL;
    unicorn_float_trust(trusted);
}

/* ------------------------------------------------------------------ Unicorn's functions */

/* Whether the host's result is Unicorn's; then the flags are, too. */
#define HOSTED(width, operation, calculated, exactly) \
    static inline __attribute__((always_inline)) bool operation##_hosted##width( \
        uint##width##_t a, uint##width##_t b, uint##width##_t *out, struct float_status *status) \
    { \
        if (!SHORTCUT(normal##width(a) && normal##width(b) && to_nearest(status))) \
            return false; \
        const uint##width##_t result = bits##width(calculated); \
        if (C2_UNLIKELY(!plain##width(result))) \
            return false; \
        if (C2_UNLIKELY(!known_inexact(status) && !(exactly))) \
            raise_inexact(status); \
        *out = result; \
        return true; \
    }

/* The same of an exact result where a number is zero. */
#define ZEROS(width, operation, calculated, suits) \
    static bool operation##_zeros##width(uint##width##_t a, uint##width##_t b, uint##width##_t *out, \
                                         const struct float_status *status) \
    { \
        if (!SHORTCUT(to_nearest(status) && (suits))) \
            return false; \
        *out = bits##width(calculated); \
        return true; \
    }

/* Unicorn's function itself is asked last. */
#define BINARY(width, operation) \
    typedef uint##width##_t operation##_function##width(uint##width##_t, uint##width##_t, struct float_status *); \
    EXPORT operation##_function##width float##width##_##operation##_x86_64; \
    static __attribute__((noinline)) \
    uint##width##_t operation##_otherwise##width(uint##width##_t a, uint##width##_t b, struct float_status *status) \
    { \
        static void *unicorns; \
        uint##width##_t result; \
        if (operation##_zeros##width(a, b, &result, status)) \
            return result; \
        if (trusted && !learning) \
            return operation##width##_host(a, b, status); \
        learn_status(status); \
        return ((operation##_function##width *)unicorn_original(&unicorns, "float" #width "_" #operation "_x86_64"))( \
            a, b, status); \
    } \
    EXPORT uint##width##_t float##width##_##operation##_x86_64(uint##width##_t a, uint##width##_t b, \
                                                               struct float_status *status) \
    { \
        uint##width##_t result; \
        return C2_LIKELY(operation##_hosted##width(a, b, &result, status)) \
                   ? result \
                   : operation##_otherwise##width(a, b, status); \
    }

/* Left to Unicorn's function of the instruction, which comes back here for each number. */
#define OTHERWISE(name) \
    EXPORT float_instruction name; \
    static __attribute__((noinline)) void name##_otherwise(char *cpu, void *to, const void *from, void *back) \
    { \
        static void *unicorns; \
        float_instruction *original = (float_instruction *)unicorn_original(&unicorns, #name); \
        if (C2_UNLIKELY(unicorn_float_traps)) { \
            unicorn_float_try(original, cpu, to, from, back); \
            return; \
        } \
        if (status_at == 0) \
            begin_learning(cpu); \
        original(cpu, to, from); \
        end_learning(); \
    }

/* An instruction for one number of each register, in which it comes first. */
#define SCALAR(width, operation, name) \
    OTHERWISE(name) \
    EXPORT void name(char *cpu, void *to, const void *from) \
    { \
        uint##width##_t a, b, result; \
        memcpy(&a, to, sizeof a); \
        memcpy(&b, from, sizeof b); \
        struct float_status *status = float_status_of(cpu); \
        if (C2_LIKELY(status_at != 0 && operation##_hosted##width(a, b, &result, status))) \
            memcpy(to, &result, sizeof result); \
        else if (status_at != 0 && operation##_zeros##width(a, b, &result, status)) \
            memcpy(to, &result, sizeof result); \
        else \
            name##_otherwise(cpu, to, from, __builtin_return_address(0)); \
    }

/* An instruction for all numbers of each register. Once the flag of an inexact result is raised, all at one time. */
#define PACKED(width, name, calculated) \
    OTHERWISE(name) \
    EXPORT void name(char *cpu, void *to, const void *from) \
    { \
        const struct float_status *status = float_status_of(cpu); \
        if (C2_LIKELY(status_at != 0 && to_nearest(status) && known_inexact(status))) { \
            const vector##width a = load##width(to), b = load##width(from), result = calculated; \
            if (SHORTCUT(all_plain##width(a, b, result))) { \
                store##width(to, result); \
                return; \
            } \
        } \
        name##_otherwise(cpu, to, from, __builtin_return_address(0)); \
    }

#define UNARY(width, name, calculated, exactly) \
    EXPORT uint##width##_t float##width##_##name##_x86_64(uint##width##_t a, struct float_status *status); \
    EXPORT uint##width##_t float##width##_##name##_x86_64(uint##width##_t a, struct float_status *status) \
    { \
        static void *unicorns; \
        typedef uint##width##_t operation(uint##width##_t, struct float_status *); \
        if (SHORTCUT(normal##width(a) && a >> (width - 1) == 0 && to_nearest(status))) { \
            const uint##width##_t result = bits##width(calculated); \
            if (C2_UNLIKELY(!known_inexact(status) && !(exactly))) \
                raise_inexact(status); \
            return result; \
        } \
        if (trusted && !learning) \
            return name##width##_host(a, a, status); \
        return ((operation *)unicorn_original(&unicorns, "float" #width "_" #name "_x86_64"))(a, status); \
    }

/* The flag of a denormal operand, which goes before those of the result, and behind those of a NaN. */
#define NOTE_DENORMALS(width) \
    static void note_denormals##width(uint##width##_t a, uint##width##_t b, struct float_status *status) \
    { \
        enum { DENORMAL = 2 }; \
        const bool denormal = denormal##width(a) || denormal##width(b), nan = nan##width(a) || nan##width(b); \
        if (trusted && denormal && !nan && !status->flush_operands) \
            status->flags |= DENORMAL; \
    }
NOTE_DENORMALS(32)
NOTE_DENORMALS(64)

#define COMPARISON(width, name, compared) \
    EXPORT int name(uint##width##_t a, uint##width##_t b, struct float_status *status); \
    EXPORT int name(uint##width##_t a, uint##width##_t b, struct float_status *status) \
    { \
        static void *unicorns; \
        typedef int comparison(uint##width##_t, uint##width##_t, struct float_status *); \
        if (SHORTCUT((normal##width(a) || zero##width(a)) && (normal##width(b) || zero##width(b)))) \
            return compared; \
        note_denormals##width(a, b, status); \
        return ((comparison *)unicorn_original(&unicorns, #name))(a, b, status); \
    }

/* From one width to the other. */
EXPORT uint64_t float32_to_float64_x86_64(uint32_t a, struct float_status *status);
EXPORT uint64_t float32_to_float64_x86_64(uint32_t a, struct float_status *status)
{
    static void *unicorns;
    if (SHORTCUT(normal32(a) || zero32(a)))
        return bits64((double)number32(a));
    if (trusted)
        return widen_host(0, a, status);
    typedef uint64_t conversion(uint32_t, struct float_status *);
    return ((conversion *)unicorn_original(&unicorns, "float32_to_float64_x86_64"))(a, status);
}

EXPORT uint32_t float64_to_float32_x86_64(uint64_t a, struct float_status *status);
EXPORT uint32_t float64_to_float32_x86_64(uint64_t a, struct float_status *status)
{
    static void *unicorns;
    const float number = (float)number64(a);
    if (SHORTCUT(normal64(a) && plain32(bits32(number)) && to_nearest(status))) {
        if (C2_UNLIKELY(!known_inexact(status) && (double)number != number64(a)))
            raise_inexact(status);
        return bits32(number);
    }
    if (trusted)
        return narrow_host(0, a, status);
    typedef uint32_t conversion(uint64_t, struct float_status *);
    return ((conversion *)unicorn_original(&unicorns, "float64_to_float32_x86_64"))(a, status);
}

#define A64 number64(a)
#define B64 number64(b)
HOSTED(64, add, A64 + B64, sum_exact64(A64, B64, number64(result)))
ZEROS(64, add, A64 + B64, zeros64(a, b) || opposite64(a, b))
HOSTED(64, sub, A64 - B64, sum_exact64(A64, -B64, number64(result)))
ZEROS(64, sub, A64 - B64, zeros64(a, b) || equal64(a, b))
HOSTED(64, mul, A64 *B64, product_exact64(a, b))
ZEROS(64, mul, A64 *B64, zeros64(a, b))
HOSTED(64, div, A64 / B64, quotient_exact64(a, b, result))
ZEROS(64, div, A64 / B64, zeros64(a, b) && !zero64(b))
BINARY(64, add)
BINARY(64, sub)
BINARY(64, mul)
BINARY(64, div)
SCALAR(64, add, helper_addsd_x86_64)
SCALAR(64, sub, helper_subsd_x86_64)
SCALAR(64, mul, helper_mulsd_x86_64)
SCALAR(64, div, helper_divsd_x86_64)
PACKED(64, helper_addpd_x86_64, _mm_add_pd(a, b))
PACKED(64, helper_subpd_x86_64, _mm_sub_pd(a, b))
PACKED(64, helper_mulpd_x86_64, _mm_mul_pd(a, b))
PACKED(64, helper_divpd_x86_64, _mm_div_pd(a, b))
COMPARISON(64, float64_eq_quiet_x86_64, A64 == B64)
COMPARISON(64, float64_lt_x86_64, A64 < B64)
COMPARISON(64, float64_le_x86_64, A64 <= B64)
COMPARISON(64, float64_unordered_quiet_x86_64, 0)
COMPARISON(64, float64_compare_x86_64, (A64 > B64) - (A64 < B64))
COMPARISON(64, float64_compare_quiet_x86_64, (A64 > B64) - (A64 < B64))
UNARY(64, sqrt, root64(A64), root_exact64(a, result))

#define A32 number32(a)
#define B32 number32(b)
HOSTED(32, add, A32 + B32, sum_exact32(A32, B32, number32(result)))
ZEROS(32, add, A32 + B32, zeros32(a, b) || opposite32(a, b))
HOSTED(32, sub, A32 - B32, sum_exact32(A32, -B32, number32(result)))
ZEROS(32, sub, A32 - B32, zeros32(a, b) || equal32(a, b))
HOSTED(32, mul, A32 *B32, (double)A32 *B32 == number32(result))
ZEROS(32, mul, A32 *B32, zeros32(a, b))
HOSTED(32, div, A32 / B32, (double)number32(result) * B32 == A32)
ZEROS(32, div, A32 / B32, zeros32(a, b) && !zero32(b))
BINARY(32, add)
BINARY(32, sub)
BINARY(32, mul)
BINARY(32, div)
SCALAR(32, add, helper_addss_x86_64)
SCALAR(32, sub, helper_subss_x86_64)
SCALAR(32, mul, helper_mulss_x86_64)
SCALAR(32, div, helper_divss_x86_64)
PACKED(32, helper_addps_x86_64, _mm_add_ps(a, b))
PACKED(32, helper_subps_x86_64, _mm_sub_ps(a, b))
PACKED(32, helper_mulps_x86_64, _mm_mul_ps(a, b))
PACKED(32, helper_divps_x86_64, _mm_div_ps(a, b))
COMPARISON(32, float32_eq_quiet_x86_64, A32 == B32)
COMPARISON(32, float32_lt_x86_64, A32 < B32)
COMPARISON(32, float32_le_x86_64, A32 <= B32)
COMPARISON(32, float32_unordered_quiet_x86_64, 0)
COMPARISON(32, float32_compare_x86_64, (A32 > B32) - (A32 < B32))
COMPARISON(32, float32_compare_quiet_x86_64, (A32 > B32) - (A32 < B32))
UNARY(32, sqrt, root32(A32), (double)number32(result) * number32(result) == A32)
