/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * FPREM, FPREM1, FSCALE, FXTRACT, FISTTP, FBLD, FBSTP and the constants against the CPU that runs the test, from states
 * of every kind (empty registers, denormals, NaNs, encodings that no CPU makes), and vectors worked out by hand.
 *
 *   status bits compared: all; after a remainder that is a NaN, C0 and C3 are not (the manual leaves them open).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "unit/interpret_twin.h"

static uint8_t *st(struct native_state *s, unsigned i) { return s->fxsave + 32 + 16 * i; }

static bool is_nan(struct native_state *s)
{
    uint8_t *top = st(s, 0);
    return (top[9] & 0x7f) == 0x7f && top[8] == 0xff && (top[7] & 0x40);
}

static void check(const char *name, const struct native_state *s, const uint8_t *bytes, unsigned length)
{
    static struct twin_result native, ours;
    twin_native(&native, s, bytes, length);
    assert_int_equal(native.end.signal, 0);
    twin_interpret(&ours, s, bytes, length);
    assert_int_equal(ours.effect.status, INTERPRET_DONE);
    bool open_conditions = name[0] == 'f' && name[1] == 'p' && is_nan(&ours.state);
    twin_expect_equal(name, s, &native, &ours, open_conditions ? TWIN_STATUS_ALL & ~0x4100u : TWIN_STATUS_ALL);
}

/* Numbers whose exponents lie close together and far apart, so that quotients of all lengths occur. */
static void near_exponents(struct native_state *s)
{
    uint16_t exponent;
    memcpy(&exponent, st(s, 1) + 8, 2);
    exponent = (uint16_t)((exponent & 0x7fff) + (twin_random() % 2 ? twin_random() % 6 : twin_random() % 300)) & 0x7fff;
    exponent |= (uint16_t)(twin_random() << 15);
    memcpy(st(s, 0) + 8, &exponent, 2);
    if (exponent & 0x7fff)
        st(s, 0)[7] |= 0x80;
    if (twin_random() & 1) /* few bits: exact quotients and ties */
        for (int i = 0; i < 2; i++)
            memset(st(s, (unsigned)i), 0, 7);
}

static void test_remainders(void **state)
{
    (void)state;
    static const uint8_t fprem[] = {0xd9, 0xf8}, fprem1[] = {0xd9, 0xf5};
    for (unsigned round = 0; round < 60000; round++) {
        struct native_state s;
        twin_random_state(&s);
        if (round & 1)
            near_exponents(&s);
        check("fprem", &s, fprem, 2);
        check("fprem1", &s, fprem1, 2);
    }
}

static void test_fisttp(void **state)
{
    (void)state;
    static const uint8_t forms[3][3] = {{0xdf, 0x4b, 8}, {0xdb, 0x4b, 8}, {0xdd, 0x4b, 8}};
    for (unsigned size = 0; size < 3; size++)
        for (unsigned round = 0; round < 10000; round++) {
            struct native_state s;
            twin_random_state(&s);
            s.gpr[3] = (uint64_t)(uintptr_t)twin_data + 4096 + twin_random() % 4096;
            if (round & 1) { /* around the limits */
                uint16_t exponent = (uint16_t)(16383 + (16u << size) - 3 + twin_random() % 4);
                uint64_t significand = (uint64_t)1 << 63 | (twin_random() & 1 ? twin_number() : 0);
                exponent |= (uint16_t)(twin_random() << 15);
                memcpy(st(&s, 0), &significand, 8);
                memcpy(st(&s, 0) + 8, &exponent, 2);
            }
            check("fisttp", &s, forms[size], 3);
        }
}

static void test_decimals(void **state)
{
    (void)state;
    static const uint8_t fbld[] = {0xdf, 0x63, 8}, fbstp[] = {0xdf, 0x73, 8};
    for (unsigned round = 0; round < 20000; round++) {
        struct native_state s;
        twin_random_state(&s);
        for (unsigned i = 0; i < 10; i++)
            twin_data[4096 + 8 + i] = (uint8_t)(twin_random() % 10 << 4 | twin_random() % 10);
        s.gpr[3] = (uint64_t)(uintptr_t)twin_data + 4096;
        if (round & 1) { /* room for the push */
            unsigned top = s.fxsave[3] >> 3 & 7;
            s.fxsave[4] = (uint8_t)(1u << top);
        }
        check("fbld", &s, fbld, 3);
        if (round & 2) { /* around the limits, and with fractions */
            uint16_t exponent = (uint16_t)(16383 - 2 + twin_random() % 64);
            exponent |= (uint16_t)(twin_random() << 15);
            memcpy(st(&s, 0) + 8, &exponent, 2);
            st(&s, 0)[7] |= 0x80;
        }
        check("fbstp", &s, fbstp, 3);
    }
}

static void test_fscale(void **state)
{
    (void)state;
    static const uint8_t fscale[] = {0xd9, 0xfd};
    for (unsigned round = 0; round < 40000; round++) {
        struct native_state s;
        twin_random_state(&s);
        if (round & 1) { /* scales of all sizes, some of which lead out of range or just below it */
            uint16_t exponent = (uint16_t)(16383 - 2 + twin_random() % 17), sign = (uint16_t)(twin_random() << 15);
            exponent |= sign;
            memcpy(st(&s, 1) + 8, &exponent, 2);
            st(&s, 1)[7] |= 0x80;
        }
        if (round & 2) {
            uint16_t exponent = (uint16_t)(twin_random() & 0xffff);
            memcpy(st(&s, 0) + 8, &exponent, 2);
        }
        check("fscale", &s, fscale, 2);
    }
}

static void test_fxtract(void **state)
{
    (void)state;
    static const uint8_t fxtract[] = {0xd9, 0xf4};
    for (unsigned round = 0; round < 20000; round++) {
        struct native_state s;
        twin_random_state(&s);
        if (round & 1) /* room for the push */
            s.fxsave[4] = (uint8_t)(1u << (s.fxsave[3] >> 3 & 7));
        check("fxtract", &s, fxtract, 2);
    }
}

static void test_constants(void **state)
{
    (void)state;
    for (uint8_t opcode = 0xe9; opcode <= 0xed; opcode++)
        for (unsigned round = 0; round < 1000; round++) {
            uint8_t bytes[] = {0xd9, opcode};
            struct native_state s;
            twin_random_state(&s);
            check("constant", &s, bytes, 2);
        }
}

/* ------------------------------------------------------------------ on any CPU */

static void put_number(struct native_state *s, unsigned i, long double value)
{
    memcpy(st(s, i), &value, 10);
    s->fxsave[4] |= (uint8_t)(1u << i); /* the top is 0 */
}

static long double result_of(struct twin_result *r)
{
    long double value = 0;
    memcpy(&value, r->state.fxsave + 32, 10);
    return value;
}

static uint16_t status_of(const struct twin_result *r)
{
    uint16_t status;
    memcpy(&status, r->state.fxsave + 2, 2);
    return status;
}

static void test_vectors(void **state)
{
    static struct twin_result r;
    static const uint8_t fprem[] = {0xd9, 0xf8}, fprem1[] = {0xd9, 0xf5}, fldpi[] = {0xd9, 0xeb},
                         fisttp[] = {0xdf, 0x0b}, fscale[] = {0xd9, 0xfd}, fxtract[] = {0xd9, 0xf4};
    struct native_state s = {.fxsave = {0x7f, 3}};
    (void)state;
    put_number(&s, 0, 17.5L);
    put_number(&s, 1, 5.0L);
    twin_interpret(&r, &s, fprem, 2); /* 17.5 = 3*5 + 2.5; quotient 011b: C1 and C3 */
    assert_true(result_of(&r) == 2.5L);
    assert_int_equal(status_of(&r), 0x4200);
    twin_interpret(&r, &s, fprem1, 2); /* a tie: 4*5 - 2.5, the even quotient 100b: C0 */
    assert_true(result_of(&r) == -2.5L);
    assert_int_equal(status_of(&r), 0x0100);
    put_number(&s, 0, 0x1p100L);
    put_number(&s, 1, 3.0L);
    twin_interpret(&r, &s, fprem, 2); /* 2^100 against 1.5 * 2^1: 99 = 3*32 + 3, so the exponent goes down by 35 */
    assert_int_equal(status_of(&r), 0x0400);
    assert_true(result_of(&r) < 0x1.8p66L && result_of(&r) > 0);

    put_number(&s, 0, 3.0L);
    put_number(&s, 1, -2.75L); /* the fraction does not count */
    twin_interpret(&r, &s, fscale, 2);
    assert_true(result_of(&r) == 0.75L);
    put_number(&s, 1, 0x1p20L);
    twin_interpret(&r, &s, fscale, 2);
    assert_true(result_of(&r) == __builtin_infl());
    assert_int_equal(status_of(&r), 0x0228); /* overflow, inexact, rounded up */
    put_number(&s, 0, -40.0L);
    twin_interpret(&r, &s, fxtract, 2); /* -1.25 * 2^5 */
    assert_true(result_of(&r) == -1.25L);
    long double exponent = 0;
    memcpy(&exponent, r.state.fxsave + 48, 10);
    assert_true(exponent == 5.0L);

    s = (struct native_state){.fxsave = {0x7f, 3}};
    twin_interpret(&r, &s, fldpi, 2);
    assert_true(result_of(&r) == 0xc.90fdaa22168c235p-2L);
    s.fxsave[1] = 7; /* down */
    twin_interpret(&r, &s, fldpi, 2);
    assert_true(result_of(&r) == 0xc.90fdaa22168c234p-2L);

    s = (struct native_state){.fxsave = {0x7f, 3}};
    s.gpr[3] = (uint64_t)(uintptr_t)twin_data;
    put_number(&s, 0, -32768.9L);
    twin_interpret(&r, &s, fisttp, 2);
    assert_memory_equal(r.memory, "\x00\x80", 2);
    assert_int_equal(status_of(&r), 0x0820); /* inexact, popped */
    put_number(&s, 0, 32768.0L);
    twin_interpret(&r, &s, fisttp, 2);
    assert_memory_equal(r.memory, "\x00\x80", 2);
    assert_int_equal(status_of(&r), 0x0801); /* invalid: it does not fit */
}

static void test_decimal_vectors(void **state)
{
    static struct twin_result r;
    static const uint8_t fbld[] = {0xdf, 0x23}, fbstp[] = {0xdf, 0x33};
    struct native_state s = {.fxsave = {0x7f, 3}};
    (void)state;
    s.gpr[3] = (uint64_t)(uintptr_t)twin_data;
    put_number(&s, 0, -1234567890.5L); /* a tie: to even */
    twin_interpret(&r, &s, fbstp, 2);
    assert_memory_equal(r.memory, "\x90\x78\x56\x34\x12\0\0\0\0\x80", 10);
    assert_int_equal(status_of(&r), 0x0820);
    put_number(&s, 0, 999999999999999999.4375L);
    twin_interpret(&r, &s, fbstp, 2);
    assert_memory_equal(r.memory, "\x99\x99\x99\x99\x99\x99\x99\x99\x99\0", 10);
    put_number(&s, 0, 999999999999999999.5L);
    twin_interpret(&r, &s, fbstp, 2);
    assert_memory_equal(r.memory, "\0\0\0\0\0\0\0\xc0\xff\xff", 10);
    assert_int_equal(status_of(&r), 0x0801);

    memcpy(twin_data, "\x34\x12\0\0\0\0\0\0\x50\x80", 10);
    s = (struct native_state){.fxsave = {0x7f, 3}};
    s.gpr[3] = (uint64_t)(uintptr_t)twin_data;
    twin_interpret(&r, &s, fbld, 2);
    assert_true(result_of(&r) == -500000000000001234.0L);
    assert_int_equal(status_of(&r), 0x3800);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_remainders), cmocka_unit_test(test_fscale),
                                       cmocka_unit_test(test_fxtract),    cmocka_unit_test(test_fisttp),
                                       cmocka_unit_test(test_constants),  cmocka_unit_test(test_decimals),
                                       cmocka_unit_test(test_vectors),    cmocka_unit_test(test_decimal_vectors)};
    return cmocka_run_group_tests_name("interpret: x87", tests, twin_setup, twin_teardown);
}
