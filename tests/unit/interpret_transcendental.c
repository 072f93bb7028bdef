/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * F2XM1 FYL2X FYL2XP1 FPTAN FPATAN FSIN FCOS FSINCOS:
 *   - results in all rounding modes, bit by bit, from series computed with whole numbers
 *     (interpret_transcendental_vectors.py);
 *   - zeros, infinities, NaNs, denormals and ranges by the tables of the manual;
 *   - against the CPU that runs the test, from states of every kind: all bits, but for the last ones of a result that
 *     is near enough (interpret_near.h).
 */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "unit/interpret_near.h"
#include "unit/interpret_twin.h"

struct number {
    uint64_t significand;
    uint16_t sign_exponent;
};

enum { IE = 1, DE = 2, ZE = 4, OE = 8, UE = 0x10, PE = 0x20, SF = 0x40, C1 = 0x200, C2 = 0x400 };

struct operation {
    const char *name;
    uint8_t bytes[2];
    ZydisMnemonic mnemonic;
};
static const struct operation operations[] = {
    {"f2xm1", {0xd9, 0xf0}, ZYDIS_MNEMONIC_F2XM1},     {"fyl2x", {0xd9, 0xf1}, ZYDIS_MNEMONIC_FYL2X},
    {"fptan", {0xd9, 0xf2}, ZYDIS_MNEMONIC_FPTAN},     {"fpatan", {0xd9, 0xf3}, ZYDIS_MNEMONIC_FPATAN},
    {"fyl2xp1", {0xd9, 0xf9}, ZYDIS_MNEMONIC_FYL2XP1}, {"fsincos", {0xd9, 0xfb}, ZYDIS_MNEMONIC_FSINCOS},
    {"fsin", {0xd9, 0xfe}, ZYDIS_MNEMONIC_FSIN},       {"fcos", {0xd9, 0xff}, ZYDIS_MNEMONIC_FCOS},
};
#define OPERATIONS (sizeof operations / sizeof operations[0])

static const struct operation *operation_named(const char *name)
{
    for (size_t i = 0; i < OPERATIONS; i++)
        if (strcmp(operations[i].name, name) == 0)
            return &operations[i];
    return NULL;
}

/* ------------------------------------------------------------------ one execution */

static void put(struct native_state *s, unsigned i, struct number value)
{
    memcpy(s->fxsave + 32 + 16 * i, &value.significand, 8);
    memcpy(s->fxsave + 40 + 16 * i, &value.sign_exponent, 2);
}

static struct number get(const struct twin_result *r, unsigned i)
{
    struct number value;
    memcpy(&value.significand, r->state.fxsave + 32 + 16 * i, 8);
    memcpy(&value.sign_exponent, r->state.fxsave + 40 + 16 * i, 2);
    return value;
}

static uint16_t status_of(const struct twin_result *r)
{
    uint16_t status;
    memcpy(&status, r->state.fxsave + 2, 2);
    return status;
}

/* ST(0) and ST(1) valid, all other registers empty; the status is `status` before. */
static struct native_state state_with(struct number st0, struct number st1, unsigned rounding, uint16_t status)
{
    struct native_state s = {.flags = 0x202, .fxsave = {0x7f, (uint8_t)(3 | rounding << 2)}};
    memcpy(s.fxsave + 2, &status, 2);
    unsigned top = status >> 11 & 7;
    s.fxsave[4] = (uint8_t)(1u << top | 1u << ((top + 1) & 7));
    put(&s, 0, st0);
    put(&s, 1, st1);
    return s;
}

static struct twin_result *execute(const struct operation *o, const struct native_state *s)
{
    static struct twin_result ours;
    twin_interpret(&ours, s, o->bytes, 2);
    assert_int_equal(ours.effect.status, INTERPRET_DONE);
    assert_int_equal(ours.effect.address_count, 0);
    return &ours;
}

/* ------------------------------------------------------------------ vectors */

struct vector {
    const char *name;
    unsigned rounding;
    struct number st0, st1, result;
    bool up;
};
static const struct vector vectors[] = {
#include "interpret_transcendental_vectors.h"
};

static void expect_number(const struct vector *v, const struct twin_result *r, unsigned i)
{
    struct number got = get(r, i);
    if (got.significand != v->result.significand || got.sign_exponent != v->result.sign_exponent)
        fail_msg("%s of %04x %016llx and %04x %016llx, rounding %u: %04x %016llx, expected %04x %016llx", v->name,
                 v->st0.sign_exponent, (unsigned long long)v->st0.significand, v->st1.sign_exponent,
                 (unsigned long long)v->st1.significand, v->rounding, got.sign_exponent,
                 (unsigned long long)got.significand, v->result.sign_exponent,
                 (unsigned long long)v->result.significand);
}

static void test_vectors(void **state)
{
    (void)state;
    assert_true(sizeof vectors / sizeof vectors[0] > 1200);
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        const struct vector *v = &vectors[i];
        const struct operation *o = operation_named(v->name);
        struct native_state s = state_with(v->st0, v->st1, v->rounding, 0);
        struct twin_result *r = execute(o, &s);
        expect_number(v, r, o->mnemonic == ZYDIS_MNEMONIC_FPTAN);
        assert_int_equal(status_of(r) & 0x7ff, PE | (v->up ? C1 : 0));
        if (o->mnemonic == ZYDIS_MNEMONIC_FSIN || o->mnemonic == ZYDIS_MNEMONIC_FCOS)
            expect_number(v, execute(operation_named("fsincos"), &s), o->mnemonic == ZYDIS_MNEMONIC_FSIN);
    }
}

/* Precision control changes nothing. */
static void test_precision_control(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i += 17) {
        const struct vector *v = &vectors[i];
        struct native_state s = state_with(v->st0, v->st1, v->rounding, 0);
        s.fxsave[1] &= (uint8_t)~3;
        expect_number(v, execute(operation_named(v->name), &s), strcmp(v->name, "fptan") == 0);
    }
}

/* ------------------------------------------------------------------ the manual's tables */

#define ONE 0x8000000000000000
static const struct number zero = {0, 0}, minus_zero = {0, 0x8000}, one = {ONE, 0x3fff}, minus_one = {ONE, 0xbfff},
                           two = {ONE, 0x4000}, half = {ONE, 0x3ffe}, infinity = {ONE, 0x7fff},
                           minus_infinity = {ONE, 0xffff}, indefinite = {0xc000000000000000, 0xffff},
                           quiet = {0xc000000000000123, 0x7fff}, signalling = {0x8000000000000123, 0x7fff},
                           no_encoding = {0x4000000000000000, 0x3fff}, denormal = {123, 0},
                           pi = {0xc90fdaa22168c235, 0x4000}, minus_pi = {0xc90fdaa22168c235, 0xc000},
                           half_pi = {0xc90fdaa22168c235, 0x3fff}, quarter_pi = {0xc90fdaa22168c235, 0x3ffe},
                           three_quarters_pi = {0x96cbe3f9990e91a8, 0x4000}, two_63 = {ONE, 0x403e},
                           minus_two_63 = {ONE, 0xc03e}, three = {0xc000000000000000, 0x4000},
                           minus_three = {0xc000000000000000, 0xc000}, largest = {~0ull, 0x7ffe},
                           least_normal = {ONE, 1};

static void expect(const char *name, struct number st0, struct number st1, struct number result, uint16_t flags)
{
    const struct operation *o = operation_named(name);
    bool pops = o->mnemonic == ZYDIS_MNEMONIC_FYL2X || o->mnemonic == ZYDIS_MNEMONIC_FYL2XP1 ||
                o->mnemonic == ZYDIS_MNEMONIC_FPATAN;
    struct native_state s = state_with(st0, st1, 0, 0x5900); /* C0, C3, TOP 3 */
    struct twin_result *r = execute(o, &s);
    struct number got = get(r, 0);
    if (got.significand != result.significand || got.sign_exponent != result.sign_exponent ||
        (status_of(r) & 0x47ff) != (0x4100 | flags))
        fail_msg("%s of %04x %016llx and %04x %016llx: %04x %016llx, status %04x", name, st0.sign_exponent,
                 (unsigned long long)st0.significand, st1.sign_exponent, (unsigned long long)st1.significand,
                 got.sign_exponent, (unsigned long long)got.significand, status_of(r));
    assert_int_equal(status_of(r) >> 11 & 7, pops ? 4 : 3);
    assert_int_equal(r->state.fxsave[4], pops ? 0x10 : 0x18);
}

static void test_no_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < OPERATIONS; i++) {
        const char *name = operations[i].name;
        if (operations[i].mnemonic == ZYDIS_MNEMONIC_FPTAN || operations[i].mnemonic == ZYDIS_MNEMONIC_FSINCOS)
            continue;
        expect(name, quiet, one, quiet, 0);
        expect(name, signalling, one, quiet, IE);
        expect(name, no_encoding, one, indefinite, IE);
    }
    expect("fyl2x", minus_one, quiet, quiet, 0);
    expect("fpatan", quiet, signalling, quiet, IE);
    expect("fyl2xp1", signalling, no_encoding, indefinite, IE);
}

static void test_f2xm1(void **state)
{
    (void)state;
    expect("f2xm1", zero, one, zero, 0);
    expect("f2xm1", minus_zero, one, minus_zero, 0);
    expect("f2xm1", one, one, one, PE);
    expect("f2xm1", minus_one, one, (struct number){ONE, 0xbffe}, PE);
    expect("f2xm1", infinity, one, infinity, 0);
    expect("f2xm1", minus_infinity, one, minus_one, 0);
    expect("f2xm1", two, one, two, PE); /* out of range: as CPUs do */
    expect("f2xm1", minus_three, one, minus_three, PE);
    expect("f2xm1", denormal, one, (struct number){85, 0}, DE | UE | PE); /* 123 ln 2 = 85.26 */
}

static void test_fyl2x(void **state)
{
    (void)state;
    expect("fyl2x", zero, one, minus_infinity, ZE);
    expect("fyl2x", minus_zero, minus_one, infinity, ZE);
    expect("fyl2x", zero, denormal, minus_infinity, ZE);
    expect("fyl2x", zero, zero, indefinite, IE);
    expect("fyl2x", zero, infinity, minus_infinity, 0);
    expect("fyl2x", minus_one, one, indefinite, IE);
    expect("fyl2x", minus_one, zero, indefinite, IE);
    expect("fyl2x", minus_infinity, infinity, indefinite, IE);
    expect("fyl2x", one, infinity, indefinite, IE);
    expect("fyl2x", half, infinity, minus_infinity, 0);
    expect("fyl2x", two, minus_infinity, minus_infinity, 0);
    expect("fyl2x", infinity, zero, indefinite, IE);
    expect("fyl2x", infinity, minus_one, minus_infinity, 0);
    expect("fyl2x", infinity, denormal, infinity, DE);
    expect("fyl2x", one, three, zero, 0);
    expect("fyl2x", one, minus_three, minus_zero, 0);
    expect("fyl2x", half, zero, minus_zero, 0);
    expect("fyl2x", two, minus_zero, minus_zero, 0);
    expect("fyl2x", two, three, three, PE);
    expect("fyl2x", two, denormal, denormal, DE | UE | PE);
    expect("fyl2x", three, largest, infinity, OE | PE | C1);
    expect("fyl2x", denormal, zero, minus_zero, DE);
}

static void test_fyl2xp1(void **state)
{
    (void)state;
    expect("fyl2xp1", zero, three, zero, 0);
    expect("fyl2xp1", minus_zero, three, minus_zero, 0);
    expect("fyl2xp1", zero, infinity, indefinite, IE);
    expect("fyl2xp1", half, minus_zero, minus_zero, 0);
    expect("fyl2xp1", (struct number){ONE, 0xbffd}, infinity, minus_infinity, 0);
    expect("fyl2xp1", one, three, three, PE);
    expect("fyl2xp1", infinity, minus_one, minus_infinity, 0);
    expect("fyl2xp1", infinity, zero, indefinite, IE);
    expect("fyl2xp1", minus_infinity, one, indefinite, IE);
    expect("fyl2xp1", minus_one, two, minus_one, PE); /* out of range: as CPUs do */
    expect("fyl2xp1", minus_three, zero, minus_zero, 0);
    expect("fyl2xp1", minus_three, minus_infinity, infinity, 0);
    expect("fyl2xp1", (struct number){ONE, 0x7ffe}, one, (struct number){0xfffc000000000000, 0x400c}, PE);
    expect("fyl2xp1", denormal, one, (struct number){177, 0}, DE | UE | PE); /* 123 / ln 2 = 177.45 */
}

static void test_fpatan(void **state)
{
    (void)state;
    expect("fpatan", infinity, infinity, quarter_pi, PE | C1);
    expect("fpatan", minus_infinity, infinity, three_quarters_pi, PE | C1);
    expect("fpatan", minus_infinity, one, pi, PE | C1);
    expect("fpatan", infinity, one, zero, 0);
    expect("fpatan", infinity, denormal, zero, DE);
    expect("fpatan", one, infinity, half_pi, PE | C1);
    expect("fpatan", zero, zero, zero, 0);
    expect("fpatan", minus_zero, zero, pi, PE | C1);
    expect("fpatan", minus_zero, minus_zero, minus_pi, PE | C1);
    expect("fpatan", minus_one, minus_zero, minus_pi, PE | C1);
    expect("fpatan", one, minus_zero, minus_zero, 0);
    expect("fpatan", zero, three, half_pi, PE | C1);
    expect("fpatan", one, denormal, denormal, DE | UE | PE | C1);
    expect("fpatan", largest, denormal, zero, DE | UE | PE);
}

static void test_fsin_fcos(void **state)
{
    (void)state;
    expect("fsin", zero, one, zero, 0);
    expect("fsin", minus_zero, one, minus_zero, 0);
    expect("fsin", infinity, one, indefinite, IE);
    expect("fsin", denormal, one, denormal, DE | UE | PE | C1);
    expect("fsin", least_normal, one, least_normal, PE | C1); /* below it by far less than half a unit: not tiny */
    expect("fsin", two_63, one, two_63, C2);
    expect("fsin", minus_two_63, one, minus_two_63, C2);
    expect("fcos", zero, one, one, 0);
    expect("fcos", minus_infinity, one, indefinite, IE);
    expect("fcos", denormal, one, one, DE | PE | C1);
    expect("fcos", largest, one, largest, C2);
    expect("fptan", two_63, one, two_63, C2);
    expect("fsincos", minus_two_63, one, minus_two_63, C2);
}

/* What pushes: TOP goes from 3 to 2. */
static void expect_two(const char *name, struct number angle, struct number top, struct number below, uint16_t flags)
{
    struct native_state s = state_with(angle, one, 0, 0x1c00); /* C2, TOP 3 */
    struct twin_result *r = execute(operation_named(name), &s);
    struct number st0 = get(r, 0), st1 = get(r, 1), st2 = get(r, 2);
    assert_int_equal(status_of(r), 2 << 11 | flags);
    assert_int_equal(r->state.fxsave[4], 0x1c);
    assert_int_equal(st0.significand, top.significand);
    assert_int_equal(st0.sign_exponent, top.sign_exponent);
    assert_int_equal(st1.significand, below.significand);
    assert_int_equal(st1.sign_exponent, below.sign_exponent);
    assert_int_equal(st2.significand, one.significand);
}

static void test_two_results(void **state)
{
    (void)state;
    expect_two("fptan", zero, one, zero, 0);
    expect_two("fptan", minus_zero, one, minus_zero, 0);
    expect_two("fptan", infinity, indefinite, indefinite, IE);
    expect_two("fptan", signalling, quiet, quiet, IE);
    expect_two("fptan", denormal, one, denormal, DE | UE | PE); /* above it by next to nothing */
    expect_two("fsincos", minus_zero, one, minus_zero, 0);
    expect_two("fsincos", minus_infinity, indefinite, indefinite, IE);
    expect_two("fsincos", quiet, quiet, quiet, 0);
    expect_two("fsincos", denormal, one, denormal, DE | UE | PE | C1);
}

/* ------------------------------------------------------------------ against the CPU */

static void compare(const struct operation *o, const struct native_state *s)
{
    static struct twin_result native, ours;
    twin_native(&native, s, o->bytes, 2);
    assert_int_equal(native.end.signal, 0);
    twin_interpret(&ours, s, o->bytes, 2);
    assert_int_equal(ours.effect.status, INTERPRET_DONE);
    near_settle(o->mnemonic, s->fxsave, native.state.fxsave, ours.state.fxsave);
    twin_expect_equal(o->name, s, &native, &ours, TWIN_STATUS_ALL);
}

static struct number random_number(int low, int high)
{
    uint64_t significand = twin_random() | ONE;
    if (twin_random() % 4 == 0)
        significand &= ~0ull << twin_random() % 64;
    int exponent = low + (int)(twin_random() % (uint64_t)(high - low));
    return (struct number){significand, (uint16_t)((exponent + 16383) | (twin_random() & 1) << 15)};
}

static void test_random_states(void **state)
{
    (void)state;
    for (size_t i = 0; i < OPERATIONS; i++)
        for (unsigned round = 0; round < 6000; round++) {
            struct native_state s;
            twin_random_state(&s);
            compare(&operations[i], &s);
        }
}

/* Arguments in range, whatever else the state holds. */
static void test_random_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < OPERATIONS; i++)
        for (unsigned round = 0; round < 6000; round++) {
            struct native_state s;
            twin_random_state(&s);
            s.fxsave[4] = (uint8_t)(3u << (s.fxsave[3] >> 3 & 7)) | (uint8_t)(3u >> (8 - (s.fxsave[3] >> 3 & 7)));
            bool exponential = operations[i].mnemonic == ZYDIS_MNEMONIC_F2XM1;
            bool plus_1 = operations[i].mnemonic == ZYDIS_MNEMONIC_FYL2XP1;
            put(&s, 0, random_number(-66, exponential ? 0 : plus_1 ? -2 : 63));
            put(&s, 1, random_number(-60, 60));
            compare(&operations[i], &s);
        }
}

/* Where results leave the range of numbers, or nearly. */
static void test_random_extremes(void **state)
{
    (void)state;
    for (size_t i = 0; i < OPERATIONS; i++)
        for (unsigned round = 0; round < 3000; round++) {
            struct native_state s;
            twin_random_state(&s);
            s.fxsave[4] = (uint8_t)(3u << (s.fxsave[3] >> 3 & 7)) | (uint8_t)(3u >> (8 - (s.fxsave[3] >> 3 & 7)));
            put(&s, 0, round & 1 ? random_number(-16382, -16378) : random_number(-16382, 16384));
            put(&s, 1, round & 2 ? random_number(16360, 16384) : random_number(-16382, -16360));
            compare(&operations[i], &s);
        }
}

/* ------------------------------------------------------------------ no memory */

static void test_no_memory(void **state)
{
    (void)state;
    struct native_state s = state_with(three, three, 0, 0);
    int message[2];
    char text[256] = "";
    assert_int_equal(pipe(message), 0);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(message[1], 2);
        c2_alloc_fail_from(1);
        twin_interpret(&(struct twin_result){0}, &s, operation_named("fyl2x")->bytes, 2);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_true(read(message[0], text, sizeof text - 1) > 0);
    assert_string_equal(text, "c2emu: no host memory left for the functions of the x87 unit\n");
    close(message[0]);
    close(message[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),        cmocka_unit_test(test_precision_control),
        cmocka_unit_test(test_no_numbers),     cmocka_unit_test(test_f2xm1),
        cmocka_unit_test(test_fyl2x),          cmocka_unit_test(test_fyl2xp1),
        cmocka_unit_test(test_fpatan),         cmocka_unit_test(test_fsin_fcos),
        cmocka_unit_test(test_two_results),    cmocka_unit_test(test_random_states),
        cmocka_unit_test(test_random_numbers), cmocka_unit_test(test_random_extremes),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests_name("interpret: transcendental", tests, twin_setup, twin_teardown);
}
