/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * SSE and MMX instructions against the CPU that runs the test, in all roundings, with NaNs, infinities and denormals;
 * and vectors worked out by hand.
 *
 *   not compared: which of several NaNs DPPS and DPPD pass on; the x87 exponents of MMX registers that are not written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "unit/interpret_twin.h"

static uint8_t *xmm(struct native_state *s, unsigned i) { return s->fxsave + 160 + 16 * i; }

static uint32_t any_single(void)
{
    static const uint32_t special[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
                                       0x7f800001, 1,          0x007fffff, 0x3f000000, 0xbf000000,
                                       0x3fc00000, 0x40200000, 0x4b000000, 0x4affffff};
    uint32_t near = (uint32_t)twin_random();
    if (twin_random() % 3 == 0)
        return special[twin_random() % 14];
    return twin_random() & 1 ? near : (near & 0x807fffff) | (uint32_t)(120 + twin_random() % 35) << 23;
}

static uint64_t any_double(void)
{
    static const uint64_t special[] = {0,
                                       1,
                                       0x8000000000000000,
                                       0x7ff0000000000000,
                                       0x7ff8000000000000,
                                       0xfff4000000000000,
                                       0x3fe0000000000000,
                                       0xbfe0000000000000,
                                       0x3ff8000000000000,
                                       0x4004000000000000};
    uint64_t near = twin_random();
    if (twin_random() % 3 == 0)
        return special[twin_random() % 10];
    return twin_random() & 1 ? near : (near & 0x800fffffffffffff) | (1016 + twin_random() % 64) << 52;
}

static void random_vector(uint8_t to[16], bool doubles)
{
    for (int i = 0; i < 16; i += 8) {
        uint64_t word = doubles ? any_double() : any_single() | (uint64_t)any_single() << 32;
        memcpy(to + i, &word, 8);
    }
}

/* Operands xmm2 and [rbx] or xmm1. */
static void random_operands(struct native_state *s, bool doubles)
{
    twin_random_state(s);
    s->gpr[3] = (uint64_t)(uintptr_t)twin_data + 16 * (twin_random() % 1000);
    random_vector(xmm(s, 1), doubles);
    random_vector(xmm(s, 2), doubles);
    random_vector((uint8_t *)(uintptr_t)s->gpr[3], doubles);
}

static bool is_nan(const uint8_t *lane, unsigned bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, lane, bytes);
    return bytes == 4 ? (bits & 0x7fffffff) > 0x7f800000 : (bits & INT64_MAX) > 0x7ff0000000000000;
}

/* Makes one NaN of all NaNs in xmm2. */
static void merge_nans(struct native_state *s, unsigned lane)
{
    for (unsigned i = 0; i < 16; i += lane)
        if (is_nan(xmm(s, 2) + i, lane))
            memset(xmm(s, 2) + i, 0xff, lane);
}

static void check(const char *name, const struct native_state *s, const uint8_t *bytes, unsigned length,
                  unsigned nan_lanes)
{
    static struct twin_result native, ours;
    twin_native(&native, s, bytes, length);
    assert_int_equal(native.end.signal, 0);
    twin_interpret(&ours, s, bytes, length);
    assert_int_equal(ours.effect.status, INTERPRET_DONE);
    if (nan_lanes) {
        merge_nans(&native.state, nan_lanes);
        merge_nans(&ours.state, nan_lanes);
    }
    twin_expect_equal(name, s, &native, &ours, TWIN_STATUS_ALL);
}

static bool skipped(void)
{
    if (native_has(NATIVE_SSE42))
        return false;
    print_message("this CPU has no SSE4: tested by vectors only\n");
    return true;
}

static void test_dot_products(void **state)
{
    (void)state;
    if (skipped())
        return;
    for (uint8_t opcode = 0x40; opcode <= 0x41; opcode++)
        for (unsigned control = 0; control < 256; control++)
            for (unsigned round = 0; round < 60; round++) {
                uint8_t bytes[] = {0x66, 0x0f, 0x3a, opcode, round & 1 ? 0xd1 : 0x13, (uint8_t)control};
                struct native_state s;
                random_operands(&s, opcode == 0x41);
                check("dot product", &s, bytes, 6, opcode == 0x41 ? 8 : 4);
            }
}

static void test_rounding(void **state)
{
    (void)state;
    if (skipped())
        return;
    for (uint8_t opcode = 0x0a; opcode <= 0x0b; opcode++)
        for (unsigned control = 0; control < 16; control++)
            for (unsigned round = 0; round < 2000; round++) {
                uint8_t bytes[] = {0x66, 0x0f, 0x3a, opcode, 0x13, (uint8_t)control};
                struct native_state s;
                random_operands(&s, opcode == 0x0b);
                check(opcode == 0x0b ? "roundsd" : "roundss", &s, bytes, 6, 0);
            }
}

static void test_conversions(void **state)
{
    (void)state;
    static const uint8_t cvtps2pd[] = {0x0f, 0x5a, 0x13}, cvtdq2pd[] = {0xf3, 0x0f, 0xe6, 0x13};
    for (unsigned round = 0; round < 10000; round++) {
        struct native_state s;
        random_operands(&s, false);
        check("cvtps2pd", &s, cvtps2pd, 3, 0);
        check("cvtdq2pd", &s, cvtdq2pd, 4, 0);
    }
}

/* With eight bytes left on the last page there is, a CPU meets no fault. */
static void test_narrow_loads(void **state)
{
    (void)state;
    static const uint8_t cvtps2pd[] = {0x0f, 0x5a, 0x13};
    struct native_state s;
    random_operands(&s, false);
    s.gpr[3] = (uint64_t)(uintptr_t)twin_data + TWIN_BYTES - 8;
    check("cvtps2pd", &s, cvtps2pd, 3, 0);
}

static void test_horizontal(void **state)
{
    (void)state;
    static const uint8_t opcodes[] = {0x01, 0x02, 0x03, 0x05, 0x06, 0x07};
    for (unsigned i = 0; i < 6; i++)
        for (unsigned round = 0; round < 1000; round++) {
            struct native_state s;
            uint8_t sse[] = {0x66, 0x0f, 0x38, opcodes[i], 0xd2}, mmx[] = {0x0f, 0x38, opcodes[i], 0xd2};
            twin_random_state(&s);
            check("phadd xmm2, xmm2", &s, sse, 5, 0);
            check("phadd mm2, mm2", &s, mmx, 4, 0);
        }
    static const uint8_t other_register[] = {0x66, 0x0f, 0x38, 0x01, 0xd1};
    assert_false(twin_wanted(other_register, 5));
}

static void test_maskmov(void **state)
{
    (void)state;
    static const uint8_t maskmovdqu[] = {0x66, 0x0f, 0xf7, 0xd1}, maskmovq[] = {0x0f, 0xf7, 0xd1};
    twin_random_memory();
    for (unsigned round = 0; round < 2000; round++) {
        struct native_state s;
        twin_random_state(&s);
        s.gpr[7] = (uint64_t)(uintptr_t)twin_data + 4096 + twin_random() % 8000;
        check("maskmovdqu", &s, maskmovdqu, 4, 0);
        check("maskmovq", &s, maskmovq, 3, 0);
    }
}

/* ------------------------------------------------------------------ on any CPU */

static void test_vectors(void **state)
{
    static struct twin_result r;
    struct native_state s = {.flags = 0x202};
    static const float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, dot[4] = {38, 0, 38, 0}; /* 5 + 12 + 21, twice */
    static const uint8_t dpps[] = {0x66, 0x0f, 0x3a, 0x40, 0xd1, 0x75};
    static const uint8_t roundsd[] = {0x66, 0x0f, 0x3a, 0x0b, 0x13, 0x09};
    static const uint8_t phaddd[] = {0x66, 0x0f, 0x38, 0x02, 0xd2}, maskmovdqu[] = {0x66, 0x0f, 0xf7, 0xd1};
    (void)state;
    memcpy(s.fxsave + 24, "\x80\x1f", 2);
    memcpy(xmm(&s, 2), a, 16);
    memcpy(xmm(&s, 1), b, 16);
    twin_interpret(&r, &s, dpps, 6);
    assert_memory_equal(xmm(&r.state, 2), dot, 16);

    double down = -1.5, floor = -2.0;
    memcpy(twin_data, &down, 8);
    s.gpr[3] = (uint64_t)(uintptr_t)twin_data;
    twin_interpret(&r, &s, roundsd, 6); /* floor, and not inexact */
    assert_memory_equal(xmm(&r.state, 2), &floor, 8);
    assert_memory_equal(r.state.fxsave + 24, "\x80\x1f", 2);
    assert_int_equal(r.effect.address_count, 1);

    static const uint32_t four[4] = {1, 2, 3, 4}, sums[4] = {3, 7, 3, 7};
    memcpy(xmm(&s, 2), four, 16);
    twin_interpret(&r, &s, phaddd, 5);
    assert_memory_equal(xmm(&r.state, 2), sums, 16);

    memset(twin_data, 0, 16);
    memcpy(xmm(&s, 2), "0123456789abcdef", 16);
    memset(xmm(&s, 1), 0x7f, 16);
    xmm(&s, 1)[3] = 0x80;
    s.gpr[7] = (uint64_t)(uintptr_t)twin_data;
    twin_interpret(&r, &s, maskmovdqu, 4);
    assert_memory_equal(r.memory, "\0\0\0003\0\0\0", 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dot_products), cmocka_unit_test(test_rounding),   cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_narrow_loads), cmocka_unit_test(test_horizontal), cmocka_unit_test(test_maskmov),
        cmocka_unit_test(test_vectors),
    };
    return cmocka_run_group_tests_name("interpret: SSE and MMX", tests, twin_setup, twin_teardown);
}
