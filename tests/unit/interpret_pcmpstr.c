/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * PCMPESTRI, PCMPESTRM, PCMPISTRI, PCMPISTRM against the CPU that runs the test - every control byte that is
 * interpreted, registers and memory - and vectors worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "unit/interpret_twin.h"

enum { CF = 1, ZF = 0x40, SF = 0x80, OF = 0x800 };

static uint8_t *xmm(struct native_state *s, unsigned i) { return s->fxsave + 160 + 16 * i; }

/* Few different characters, with ends here and there, so that needles are found. */
static void random_text(uint8_t to[16])
{
    unsigned alphabet = 1 + twin_random() % 3;
    for (int i = 0; i < 16; i++)
        to[i] = twin_random() % 12 == 0 ? 0 : (uint8_t)(1 + twin_random() % alphabet) | (twin_random() % 20 ? 0 : 0x80);
    if (twin_random() & 1)
        for (int i = 0; i < 16; i += 2) /* 16-bit characters, most of them small */
            to[i + 1] = 0;
    if (twin_random() & 1)
        memset(to + twin_random() % 16, 0, 1);
}

static void check(uint8_t opcode, uint8_t control, bool memory, bool wide)
{
    static struct twin_result native, ours;
    struct native_state s;
    uint8_t bytes[10] = {0x66};
    unsigned length = 1;
    if (wide)
        bytes[length++] = 0x48;
    const uint8_t rest[5] = {0x0f, 0x3a, opcode, memory ? 0x13 : 0xd1, control}; /* xmm2 and [rbx] or xmm1 */
    memcpy(bytes + length, rest, 5);
    length += 5;
    twin_random_state(&s);
    s.gpr[3] = (uint64_t)(uintptr_t)twin_data + twin_random() % 5000;
    random_text(xmm(&s, 1));
    random_text(xmm(&s, 2));
    random_text(twin_data + (s.gpr[3] - (uint64_t)(uintptr_t)twin_data));
    if (twin_random() % 4) { /* else any number: also -2^31 and the like */
        s.gpr[0] = (uint64_t)(twin_random() % 40) - 20;
        s.gpr[2] = (uint64_t)(twin_random() % 40) - 20;
    }
    char name[64];
    snprintf(name, sizeof name, "pcmpstr %x, control %x", opcode, control);
    twin_native(&native, &s, bytes, length);
    assert_int_equal(native.end.signal, 0);
    twin_interpret(&ours, &s, bytes, length);
    assert_int_equal(ours.effect.status, INTERPRET_DONE);
    assert_int_equal(ours.effect.address_count, memory);
    twin_expect_equal(name, &s, &native, &ours, TWIN_STATUS_ALL);
}

static void test_all_controls(void **state)
{
    (void)state;
    if (!native_has(NATIVE_SSE42)) {
        print_message("this CPU has no SSE4.2: tested by vectors only\n");
        return;
    }
    for (uint8_t opcode = 0x60; opcode <= 0x63; opcode++)
        for (unsigned control = 0; control < 256; control++) {
            uint8_t bytes[] = {0x66, 0x0f, 0x3a, opcode, 0xd1, (uint8_t)control};
            bool is_explicit = opcode < 0x62, ordered = (control >> 2 & 3) == 3;
            assert_int_equal(twin_wanted(bytes, sizeof bytes), is_explicit || ordered);
            for (unsigned round = 0; (is_explicit || ordered) && round < 100; round++)
                check(opcode, (uint8_t)control, round & 1, round & 2);
        }
}

static void test_vectors(void **state)
{
    static struct twin_result r;
    struct native_state s = {.flags = 0x202};
    (void)state;
    static const uint8_t pcmpistri[] = {0x66, 0x0f, 0x3a, 0x63, 0xd1, 0x0c};
    static const uint8_t pcmpistrm[] = {0x66, 0x0f, 0x3a, 0x62, 0xd1, 0x4c};
    memcpy(xmm(&s, 2), "ab", 3);
    memcpy(xmm(&s, 1), "xaabyabzzzzzzzza", 16); /* found at 2 and 5, and its first half at the very end, 15 */
    twin_interpret(&r, &s, pcmpistri, sizeof pcmpistri);
    assert_int_equal(r.state.gpr[1], 2);
    assert_int_equal(r.state.flags & 0x8d5, CF | SF);
    twin_interpret(&r, &s, pcmpistrm, sizeof pcmpistrm);
    static const uint8_t mask[16] = {[2] = 0xff, [5] = 0xff, [15] = 0xff};
    assert_memory_equal(xmm(&r.state, 0), mask, 16);

    memset(xmm(&s, 1), 'x', 16);
    twin_interpret(&r, &s, pcmpistri, sizeof pcmpistri);
    assert_int_equal(r.state.gpr[1], 16);
    assert_int_equal(r.state.flags & 0x8d5, SF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_controls), cmocka_unit_test(test_vectors)};
    return cmocka_run_group_tests_name("interpret: string comparison of SSE4.2", tests, twin_setup, twin_teardown);
}
