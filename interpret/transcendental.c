/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   F2XM1 FYL2X FYL2XP1 FPTAN FPATAN FSIN FCOS FSINCOS. Each result is the exact value of the function, rounded once to
 *   64 bits in the rounding mode of the control word: by MPFR to 128 bits towards zero with a sticky bit, then as every
 *   x87 result is. So it is the same on every host. Precision control has no say in these instructions, on any CPU.
 * Invariants
 *   Zeros and infinities are what C defines of the functions (Annex F), which is what the manuals' tables say too: no
 *   number means X87_IE, an infinity from finite operands X87_ZE.
 *   As on CPUs, X87_PE is set whenever both operands are finite and not zero, and neither is the result zero, even if
 *   it is exact (1 * log2 8); X87_UE whenever the result is denormal. C1 of FSINCOS is that of the sine.
 *   Every exception is masked (interpret_fpstate.c sees to it).
 * Not modelled
 *   What CPUs give away, so that some of their results differ from these. Intel: less than 1 unit in the last place to
 *   nearest, less than 1.5 in other modes, after the angle of FSIN, FCOS, FSINCOS and FPTAN was reduced by a pi of 66
 *   bits. An AMD EPYC of family 19h: at most 0.66 units in 300,000 arguments of each (angles below 1/2), and the same
 *   reduction. Here pi has as many bits as it takes; so near its multiples, and for large angles, CPUs have few good
 *   bits or none: the sine of the 64-bit pi is -5.0166e-20, FSIN of CPUs gives -5.4210e-20.
 *   FOP, FIP and FDP.
 *   Arguments out of range have no defined result. They get what CPUs of both makers give: F2XM1 beyond 1 and FYL2XP1
 *   of -1 and below return ST(0), other arguments of FYL2XP1 the function's value.
 * Source
 *   Intel SDM volume 2, the pages of the instructions; volume 1, 8.1.5.2 (precision control), 8.3.8 and 8.3.10
 *   (accuracy). Exceptions and results beyond the tables: observed.
 */
#include <mpfr.h>

#include "interpret/x87_priv.h"

_Static_assert(GMP_NUMB_BITS == 64, "a significand is one limb");

/* ------------------------------------------------------------------ numbers of MPFR's kind */

enum { ANSWER_BITS = 128 };

struct operand {
    mp_limb_t limb;
    mpfr_t value;
};

struct answer {
    mp_limb_t limbs[2];
    mpfr_t value; /* towards zero */
    bool inexact;
};

/* FYL2X and FYL2XP1 are y * f(x), FPATAN is the angle of (x, y); others are f(x), and their y is x. */
struct arguments {
    struct operand x, y; /* ST(0), ST(1) */
};
typedef void function(struct answer *answer, const struct arguments *of);

static void set_operand(struct operand *operand, struct x80 a)
{
    int kind = MPFR_REGULAR_KIND, sign = x80_is_negative(a) ? -1 : 1;
    mpfr_exp_t exponent = 0;
    operand->limb = 0;
    if (x80_class_of(a) == X80_ZERO) {
        kind = MPFR_ZERO_KIND;
    } else if (x80_class_of(a) == X80_INFINITY) {
        kind = MPFR_INF_KIND;
    } else {
        struct x80_parts parts = x80_unpack(a);
        operand->limb = parts.significand;
        exponent = parts.exponent - X80_BIAS + 1; /* MPFR's significands are below 1 */
    }
    mpfr_custom_init_set(operand->value, sign * kind, exponent, 64, &operand->limb);
}

/* MPFR allocates a few hundred bytes at a time, and knows no way to be told that there are none. */
static void *have(void *block)
{
    if (!block)
        c2_out_of_memory("the functions of the x87 unit");
    return block;
}
static void *transcendental_allocate(size_t bytes) { return have(c2_alloc(bytes)); }
static void *reallocate(void *block, size_t old_bytes, size_t bytes)
{
    (void)old_bytes;
    return have(c2_realloc(block, bytes));
}
static void transcendental_release(void *block, size_t bytes)
{
    (void)bytes;
    c2_free(block);
}

/* ------------------------------------------------------------------ products of functions
 * MPFR rounds each function correctly, but not a product of them: so these are approximated, and once more with twice
 * the bits as long as the error could matter. It cannot matter for ever: none of the values is rational. */

/* With a relative error below 16 units of the last bit of *near. */
typedef void approximation(mpfr_t near, mpfr_srcptr x, mpfr_srcptr y);

static void transcendental_settle(struct answer *answer, approximation *approximate, mpfr_srcptr x, mpfr_srcptr y)
{
    bool settled = false;
    for (mpfr_prec_t bits = ANSWER_BITS + 64; !settled; bits *= 2) {
        mpfr_t near;
        mpfr_init2(near, bits);
        approximate(near, x, y);
        settled = mpfr_can_round(near, bits - 4, MPFR_RNDN, MPFR_RNDZ, ANSWER_BITS);
        mpfr_set(answer->value, near, MPFR_RNDZ);
        mpfr_clear(near);
    }
    answer->inexact = true;
}

static void power_less_1(mpfr_t near, mpfr_srcptr x, mpfr_srcptr y)
{
    (void)y;
    mpfr_const_log2(near, MPFR_RNDN);
    mpfr_mul(near, near, x, MPFR_RNDN);
    mpfr_expm1(near, near, MPFR_RNDN);
}

static void scaled_log(mpfr_t near, mpfr_srcptr x, mpfr_srcptr y)
{
    mpfr_log2(near, x, MPFR_RNDN);
    mpfr_mul(near, near, y, MPFR_RNDN);
}

static void scaled_log_of_1_plus(mpfr_t near, mpfr_srcptr x, mpfr_srcptr y)
{
    mpfr_t ln2;
    mpfr_init2(ln2, mpfr_get_prec(near));
    mpfr_const_log2(ln2, MPFR_RNDN);
    mpfr_log1p(near, x, MPFR_RNDN);
    mpfr_div(near, near, ln2, MPFR_RNDN);
    mpfr_mul(near, near, y, MPFR_RNDN);
    mpfr_clear(ln2);
}

/* ------------------------------------------------------------------ the functions */

static void set_exact(struct answer *answer, mpfr_srcptr value)
{
    int direction = mpfr_set(answer->value, value, MPFR_RNDZ);
    C2_ASSERT(direction == 0);
}

static void f2xm1(struct answer *answer, const struct arguments *of)
{
    mpfr_srcptr x = of->x.value;
    bool beyond = mpfr_number_p(x) && mpfr_cmpabs_ui(x, 1) > 0;
    if (beyond || mpfr_zero_p(x)) {
        set_exact(answer, x);
    } else if (mpfr_integer_p(x) || mpfr_inf_p(x)) {
        mpfr_exp2(answer->value, x, MPFR_RNDZ);
        mpfr_sub_ui(answer->value, answer->value, 1, MPFR_RNDZ);
    } else {
        transcendental_settle(answer, power_less_1, x, x);
    }
}

/* y * log2 x, where the logarithm is exact or does not matter, or else irrational. */
static void multiple_of_log(struct answer *answer, mpfr_srcptr x, mpfr_srcptr y)
{
    bool is_power_of_2 = mpfr_regular_p(x) && mpfr_min_prec(x) == 1;
    if (mpfr_regular_p(y) && mpfr_regular_p(x) && mpfr_sgn(x) > 0 && !is_power_of_2)
        transcendental_settle(answer, scaled_log, x, y);
    else
        scaled_log(answer->value, x, y);
}

static void fyl2x(struct answer *answer, const struct arguments *of)
{
    multiple_of_log(answer, of->x.value, of->y.value);
}

/* 1 + x may be a power of 2 only for |x| >= 1/2; there it is computed exactly. */
static void multiple_of_log_of_1_plus(struct answer *answer, mpfr_srcptr x, mpfr_srcptr y)
{
    mpfr_t sum;
    mpfr_exp_t exponent = mpfr_get_exp(x);
    if (exponent < 0) {
        transcendental_settle(answer, scaled_log_of_1_plus, x, y);
        return;
    }
    mpfr_init2(sum, 66 + exponent);
    int direction = mpfr_add_ui(sum, x, 1, MPFR_RNDZ);
    C2_ASSERT(direction == 0);
    multiple_of_log(answer, sum, y);
    mpfr_clear(sum);
}

static void fyl2xp1(struct answer *answer, const struct arguments *of)
{
    mpfr_srcptr x = of->x.value, y = of->y.value;
    if (mpfr_number_p(x) && mpfr_cmp_si(x, -1) <= 0) {
        if (mpfr_regular_p(y))
            set_exact(answer, x);
        else
            mpfr_mul(answer->value, x, y, MPFR_RNDZ);
    } else if (mpfr_regular_p(x) && mpfr_regular_p(y)) {
        multiple_of_log_of_1_plus(answer, x, y);
    } else {
        scaled_log_of_1_plus(answer->value, x, y);
    }
}

static void fpatan(struct answer *answer, const struct arguments *of)
{
    answer->inexact = mpfr_atan2(answer->value, of->y.value, of->x.value, MPFR_RNDZ) != 0;
}

static void sine(struct answer *answer, const struct arguments *of)
{
    answer->inexact = mpfr_sin(answer->value, of->x.value, MPFR_RNDZ) != 0;
}

static void cosine(struct answer *answer, const struct arguments *of)
{
    answer->inexact = mpfr_cos(answer->value, of->x.value, MPFR_RNDZ) != 0;
}

static void tangent(struct answer *answer, const struct arguments *of)
{
    answer->inexact = mpfr_tan(answer->value, of->x.value, MPFR_RNDZ) != 0;
}

/* What FPTAN pushes. */
static void one(struct answer *answer, const struct arguments *of)
{
    if (mpfr_number_p(of->x.value))
        mpfr_set_ui(answer->value, 1, MPFR_RNDZ);
    else
        mpfr_set_nan(answer->value);
}

/* ------------------------------------------------------------------ from an answer to a result */

struct outcome {
    struct x80 value;
    uint16_t flags; /* exceptions, X87_SF, X87_C1 */
};

static const struct outcome stack_underflow = {{X80_INTEGER_BIT | X80_QUIET_BIT, X80_SIGN | X80_EXPONENT},
                                               X87_IE | X87_SF};
static const struct outcome stack_overflow = {{X80_INTEGER_BIT | X80_QUIET_BIT, X80_SIGN | X80_EXPONENT},
                                              X87_IE | X87_SF | X87_C1};

static struct outcome rounded_answer(const struct answer *answer, enum x80_rounding rounding)
{
    struct outcome outcome = {.flags = 0};
    struct x80_wide wide = {.bits = (unsigned __int128)answer->limbs[1] << 64 | answer->limbs[0] | answer->inexact,
                            .exponent = (int)mpfr_get_exp(answer->value) - 1 + X80_BIAS,
                            .negative = mpfr_signbit(answer->value)};
    outcome.value = x80_rounded(&wide, rounding, &outcome.flags);
    return outcome;
}

static struct outcome outcome_of(const struct answer *answer, const struct arguments *of, enum x80_rounding rounding)
{
    bool negative = mpfr_signbit(answer->value), finite = mpfr_number_p(of->x.value) && mpfr_number_p(of->y.value);
    if (mpfr_nan_p(answer->value))
        return (struct outcome){x80_default_nan, X87_IE};
    if (mpfr_inf_p(answer->value))
        return (struct outcome){x80_infinity(negative), finite ? X87_ZE : 0};
    if (mpfr_zero_p(answer->value))
        return (struct outcome){x80_zero(negative), 0};
    struct outcome outcome = rounded_answer(answer, rounding);
    if (answer->inexact || (mpfr_regular_p(of->x.value) && mpfr_regular_p(of->y.value)))
        outcome.flags |= X87_PE | (x80_class_of(outcome.value) == X80_DENORMAL ? X87_UE : 0);
    return outcome;
}

static struct outcome evaluate(function *f, struct x80 st0, struct x80 st1, enum x80_rounding rounding)
{
    struct outcome outcome;
    struct arguments arguments;
    struct answer answer = {.inexact = false};
    if (x80_no_number(st0, st1, &outcome.value, &outcome.flags))
        return outcome;
    mp_set_memory_functions(transcendental_allocate, reallocate, transcendental_release);
    set_operand(&arguments.x, st0);
    set_operand(&arguments.y, st1);
    mpfr_custom_init_set(answer.value, MPFR_ZERO_KIND, 0, ANSWER_BITS, answer.limbs);
    f(&answer, &arguments);
    outcome = outcome_of(&answer, &arguments, rounding);
    if (!(outcome.flags & (X87_IE | X87_ZE)))
        outcome.flags |= x80_denormal_flag(st0, st1);
    return outcome;
}

/* ------------------------------------------------------------------ the instructions */

static void transcendental_get_state(const struct interpret_run *run, uint8_t *image)
{
    run->cpu->get_fxsave(run->cpu->self, image);
}

static void transcendental_finish(const struct interpret_run *run, uint8_t *image, uint16_t flags)
{
    x87_raise(image, flags);
    run->cpu->set_fxsave(run->cpu->self, image);
}

static struct outcome evaluate_top(function *f, uint8_t *image)
{
    struct x80 a = x80_load(x87_st(image, 0));
    return x87_is_empty(image, 0) ? stack_underflow : evaluate(f, a, a, x87_rounding(image));
}

/* ST(0) and ST(1) become one number. */
static void replace_two(struct interpret_run *run, function *f)
{
    struct x87_state state;
    uint8_t *image = state.image;
    struct outcome outcome = stack_underflow;
    transcendental_get_state(run, image);
    if (!x87_is_empty(image, 0) && !x87_is_empty(image, 1))
        outcome = evaluate(f, x80_load(x87_st(image, 0)), x80_load(x87_st(image, 1)), x87_rounding(image));
    x87_set_conditions(image, X87_C1, 0);
    x87_set(image, 1, outcome.value);
    x87_pop(image);
    transcendental_finish(run, image, outcome.flags);
}

/* An angle is out of range from 2^63 on: then C2 is set, and nothing else is done. */
static bool is_out_of_range(uint8_t *image)
{
    struct x80 angle = x80_load(x87_st(image, 0));
    return !x87_is_empty(image, 0) && x80_class_of(angle) == X80_NORMAL && x80_unpack(angle).exponent - X80_BIAS >= 63;
}

static void replace_angle(struct interpret_run *run, function *f)
{
    struct x87_state state;
    uint8_t *image = state.image;
    struct outcome outcome = {.flags = X87_C2};
    transcendental_get_state(run, image);
    if (!is_out_of_range(image)) {
        outcome = evaluate_top(f, image);
        x87_set(image, 0, outcome.value);
    }
    x87_set_conditions(image, X87_C1 | X87_C2, 0);
    transcendental_finish(run, image, outcome.flags);
}

/* The angle gives two numbers. */
static void replace_angle_and_push(struct interpret_run *run, function *first, function *second)
{
    struct x87_state state;
    uint8_t *image = state.image;
    uint16_t flags = X87_C2;
    transcendental_get_state(run, image);
    bool overflows = !x87_is_empty(image, 0) && !x87_is_empty(image, 7);
    if (overflows || !is_out_of_range(image)) {
        struct outcome below = overflows ? stack_overflow : evaluate_top(first, image);
        struct outcome top = overflows ? stack_overflow : evaluate_top(second, image);
        flags = below.flags | (top.flags & ~X87_C1);
        x87_set(image, 0, below.value);
        x87_push(image, top.value);
    }
    x87_set_conditions(image, X87_C1 | X87_C2, 0);
    transcendental_finish(run, image, flags);
}

void interpret_f2xm1(struct interpret_run *run)
{
    struct x87_state state;
    uint8_t *image = state.image;
    transcendental_get_state(run, image);
    struct outcome outcome = evaluate_top(f2xm1, image);
    x87_set_conditions(image, X87_C1, 0);
    x87_set(image, 0, outcome.value);
    transcendental_finish(run, image, outcome.flags);
}

void interpret_fyl2x(struct interpret_run *run) { replace_two(run, fyl2x); }
void interpret_fyl2xp1(struct interpret_run *run) { replace_two(run, fyl2xp1); }
void interpret_fpatan(struct interpret_run *run) { replace_two(run, fpatan); }
void interpret_fsin(struct interpret_run *run) { replace_angle(run, sine); }
void interpret_fcos(struct interpret_run *run) { replace_angle(run, cosine); }
void interpret_fsincos(struct interpret_run *run) { replace_angle_and_push(run, sine, cosine); }
void interpret_fptan(struct interpret_run *run) { replace_angle_and_push(run, tangent, one); }
