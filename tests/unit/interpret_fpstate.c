/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Instructions that move floating-point control and state, against the CPU that runs the test; what is refused, what is
 * a general protection fault; and vectors worked out by hand.
 *
 *   not compared: FOP, FIP, FDP and their selectors (0 here).
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "unit/interpret_twin.h"

struct state_form {
    const char *name;
    uint8_t bytes[6];
    unsigned length;
    unsigned memory_bytes;
    bool loads;
    unsigned ignored_from, ignored_to; /* bytes of the operand that hold instruction pointers */
};

/* The operand is [rbx]. */
static const struct state_form forms[] = {
    {"ldmxcsr", {0x0f, 0xae, 0x13}, 3, 4, true, 0, 0},
    {"stmxcsr", {0x0f, 0xae, 0x1b}, 3, 4, false, 0, 0},
    {"fxsave", {0x0f, 0xae, 0x03}, 3, 512, false, 6, 24},
    {"fxsave64", {0x48, 0x0f, 0xae, 0x03}, 4, 512, false, 6, 24},
    {"fxrstor", {0x0f, 0xae, 0x0b}, 3, 512, true, 0, 0},
    {"fxrstor64", {0x48, 0x0f, 0xae, 0x0b}, 4, 512, true, 0, 0},
    {"fldcw", {0xd9, 0x2b}, 2, 2, true, 0, 0},
    {"fnstsw m16", {0xdd, 0x3b}, 2, 2, false, 0, 0},
    {"fnstsw ax", {0xdf, 0xe0}, 2, 0, false, 0, 0},
    {"fnclex", {0xdb, 0xe2}, 2, 0, false, 0, 0},
    {"fninit", {0xdb, 0xe3}, 2, 0, false, 0, 0},
    {"fnstenv", {0xd9, 0x33}, 2, 28, false, 12, 28},
    {"fldenv", {0xd9, 0x23}, 2, 28, true, 0, 0},
    {"fnsave", {0xdd, 0x33}, 2, 108, false, 12, 28},
    {"frstor", {0xdd, 0x23}, 2, 108, true, 0, 0},
};

static uint8_t *operand_of(const struct native_state *s) { return (uint8_t *)(uintptr_t)s->gpr[3]; }
static uint8_t *result_at(struct twin_result *r, unsigned offset)
{
    return r->memory + (r->state.gpr[3] - (uint64_t)(uintptr_t)twin_data) + offset;
}

static void put16(uint8_t *to, uint16_t value) { memcpy(to, &value, 2); }

/* An operand that may be loaded: every exception of the x87 unit masked, nothing reserved set. */
static void prepare_operand(const struct state_form *f, uint8_t *to)
{
    uint16_t control = (uint16_t)twin_random() | 0x3f;
    uint32_t mxcsr = twin_random() & 0xffff;
    for (unsigned i = 0; i < f->memory_bytes; i++)
        to[i] = (uint8_t)twin_random();
    if (f->memory_bytes == 4) {
        memcpy(to, &mxcsr, 4);
    } else if (f->memory_bytes == 512) {
        memcpy(to + 24, &mxcsr, 4);
        for (int i = 0; i < 8; i++)
            twin_random_x87(to + 32 + 16 * i);
    }
    for (unsigned i = 28; f->memory_bytes == 108 && i < 108; i += 10)
        twin_random_x87(to + i);
    if (f->memory_bytes != 4 && f->memory_bytes != 0)
        put16(to, control);
}

static void check(const struct state_form *f)
{
    static struct twin_result native, ours;
    struct native_state s;
    twin_random_state(&s);
    s.gpr[3] = (uint64_t)(uintptr_t)twin_data + 16 * (twin_random() % 1000);
    if (f->memory_bytes != 512)
        s.gpr[3] += twin_random() % 16;
    prepare_operand(f, operand_of(&s));
    twin_native(&native, &s, f->bytes, f->length);
    assert_int_equal(native.end.signal, 0);
    twin_interpret(&ours, &s, f->bytes, f->length);
    assert_int_equal(ours.effect.status, INTERPRET_DONE);
    assert_int_equal(ours.effect.address_count, f->memory_bytes != 0);
    if (f->memory_bytes)
        assert_int_equal(ours.effect.address[0], s.gpr[3]);
    for (unsigned i = f->ignored_from; i < f->ignored_to; i++)
        *result_at(&native, i) = *result_at(&ours, i) = 0;
    twin_expect_equal(f->name, &s, &native, &ours, TWIN_STATUS_ALL);
}

static void test_all_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        for (unsigned round = 0; round < 2000; round++)
            check(&forms[i]);
}

/* ------------------------------------------------------------------ what is not done */

static void expect_refused(const struct state_form *f, const struct native_state *s)
{
    static struct twin_result r;
    twin_interpret(&r, s, f->bytes, f->length);
    assert_int_equal(r.effect.status, INTERPRET_REFUSED);
    assert_non_null(strstr(r.effect.reason, "trap"));
    assert_memory_equal(&r.state, s, sizeof *s);
}

/* Denormal operands of the x87 unit; all others may trap, and loading the masks does not. */
static void test_unmasked_exceptions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        const struct state_form *f = &forms[i];
        struct native_state s;
        static struct twin_result r;
        if (!f->loads || f->memory_bytes == 4)
            continue;
        twin_random_state(&s);
        s.gpr[3] = (uint64_t)(uintptr_t)twin_data;
        prepare_operand(f, twin_data);
        *twin_data &= (uint8_t)~0x3d;
        twin_interpret(&r, &s, f->bytes, f->length);
        assert_int_equal(r.effect.status, INTERPRET_DONE);
        assert_int_equal(r.state.fxsave[0] & 0x3f, 0x02);
        *twin_data &= (uint8_t)~0x02;
        expect_refused(f, &s);
    }
}

static void expect_protection_fault(const struct state_form *f, const struct native_state *s)
{
    static struct twin_result native, ours;
    twin_native(&native, s, f->bytes, f->length);
    twin_interpret(&ours, s, f->bytes, f->length);
    assert_int_equal(ours.effect.status, INTERPRET_SIGNAL);
    assert_int_equal(ours.effect.signal, SIGSEGV);
    assert_int_equal(ours.effect.signal, native.end.signal);
    assert_int_equal(ours.effect.code, native.end.code);
    assert_memory_equal(&ours.state, s, sizeof *s);
}

static void test_protection_faults(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        const struct state_form *f = &forms[i];
        struct native_state s;
        twin_random_state(&s);
        s.gpr[3] = (uint64_t)(uintptr_t)twin_data;
        if (f->memory_bytes == 512) {
            prepare_operand(f, twin_data);
            s.gpr[3] += 8;
            expect_protection_fault(f, &s);
        }
        s.gpr[3] = (uint64_t)(uintptr_t)twin_data;
        if (f->loads && (f->memory_bytes == 512 || f->memory_bytes == 4)) {
            prepare_operand(f, twin_data);
            twin_data[f->memory_bytes == 4 ? 3 : 27] = 0x80; /* a reserved bit of MXCSR */
            expect_protection_fault(f, &s);
        }
    }
}

static void test_short_formats(void **state)
{
    static struct twin_result r;
    (void)state;
    static const uint8_t forms16[4][3] = {
        {0x66, 0xd9, 0x33}, {0x66, 0xd9, 0x23}, {0x66, 0xdd, 0x33}, {0x66, 0xdd, 0x23}};
    for (int i = 0; i < 4; i++) {
        struct native_state s;
        twin_random_state(&s);
        twin_interpret(&r, &s, forms16[i], 3);
        assert_int_equal(r.effect.status, INTERPRET_REFUSED);
        assert_non_null(strstr(r.effect.reason, "16-bit"));
    }
}

/* A fault in the middle of 512 bytes leaves all of them alone. */
static void test_faults(void **state)
{
    static struct twin_result native, ours;
    static const uint8_t fxsave[] = {0x0f, 0xae, 0x03};
    struct native_state s;
    (void)state;
    twin_random_memory();
    twin_random_state(&s);
    s.gpr[3] = (uint64_t)(uintptr_t)twin_data + 8192 - 256;
    twin_protect(2, 1 /* PROT_READ */);
    twin_native(&native, &s, fxsave, sizeof fxsave);
    twin_interpret(&ours, &s, fxsave, sizeof fxsave);
    twin_protect(2, 3);
    assert_int_equal(native.end.signal, SIGSEGV);
    assert_int_equal(ours.effect.status, INTERPRET_FAULT);
    assert_int_equal(ours.effect.fault.v, (uint64_t)(uintptr_t)twin_data + 8192);
    assert_memory_equal(ours.memory, twin_data, TWIN_BYTES);
    assert_memory_equal(&ours.state, &s, sizeof s);
}

/* By hand: two registers pushed, top 6; one holds 1.0, the other 0. */
static void test_vectors(void **state)
{
    static struct twin_result r;
    static const uint8_t fnstenv[] = {0xd9, 0x33}, fldcw[] = {0xd9, 0x2b}, stmxcsr[] = {0x0f, 0xae, 0x1b};
    static const uint8_t fxsave[] = {0x0f, 0xae, 0x03};
    struct native_state s = {.fxsave = {0x7f, 0x03, 0x20, 0x30, 0xc0}};
    long double one = 1.0L;
    (void)state;
    memcpy(s.fxsave + 32, &one, 10);
    s.gpr[3] = (uint64_t)(uintptr_t)twin_data;
    memset(twin_data, 0, 64);
    twin_interpret(&r, &s, fnstenv, 2);
    /* register 6 valid (00), register 7 zero (01), the others empty (11) */
    static const uint8_t environment[29] = {0x7f, 3,    0xff, 0xff, 0x20, 0x30,        0xff,
                                            0xff, 0xff, 0x4f, 0xff, 0xff, [26] = 0xff, [27] = 0xff};
    assert_memory_equal(r.memory, environment, 29);

    put16(twin_data, 0x0c3f);
    twin_interpret(&r, &s, fldcw, 2);
    assert_int_equal(r.state.fxsave[0] | r.state.fxsave[1] << 8, 0x0c7f);

    memcpy(s.fxsave + 24, "\xa1\x1f\0\0", 4);
    twin_interpret(&r, &s, stmxcsr, 3);
    assert_memory_equal(r.memory, "\xa1\x1f\0\0", 4);

    memset(twin_data, 0xee, 512); /* no bit above 15 in the mask of MXCSR, on any host */
    twin_interpret(&r, &s, fxsave, 3);
    assert_memory_equal(r.memory + 24, "\xa1\x1f\0\0\xff\xff\0\0", 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_forms),
        cmocka_unit_test(test_unmasked_exceptions),
        cmocka_unit_test(test_protection_faults),
        cmocka_unit_test(test_short_formats),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_vectors),
    };
    return cmocka_run_group_tests_name("interpret: floating-point state", tests, twin_setup, twin_teardown);
}
