/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Integer instructions against the CPU that runs the test, in every operand size, in registers and memory; and vectors
 * worked out by hand that hold on any CPU. What is left undefined: interpret_makers.c.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "unit/interpret_twin.h"

enum { CF = 1, PF = 4, AF = 0x10, ZF = 0x40, SF = 0x80, OF = 0x800 };

struct bit_form {
    char name[32];
    uint8_t bytes[12];
    unsigned length;
    unsigned bits;
    enum native_feature feature;
    unsigned slots;
};

static void put(struct bit_form *f, uint8_t byte) { f->bytes[f->length++] = byte; }

/* Prefix 66h and REX.W of an operand size, around mandatory prefixes. */
static void put_size(struct bit_form *f, unsigned bits, unsigned mandatory)
{
    f->bits = bits;
    if (bits == 16)
        put(f, 0x66);
    if (mandatory)
        put(f, (uint8_t)mandatory);
    if (bits == 64)
        put(f, 0x48);
}

static void random_operands(struct native_state *s)
{
    uint64_t number = twin_number();
    twin_random_state(s);
    s->gpr[3] = (uint64_t)(uintptr_t)twin_data + 4096 + twin_random() % 8000;
    memcpy((void *)(uintptr_t)(s->gpr[3] + 8), &number, 8);
}

static void check(const struct bit_form *f, const struct native_state *s)
{
    static struct twin_result native, ours;
    twin_native(&native, s, f->bytes, f->length);
    assert_int_equal(native.end.signal, 0);
    twin_interpret(&ours, s, f->bytes, f->length);
    assert_int_equal(ours.effect.status, INTERPRET_DONE);
    assert_int_equal(ours.effect.address_count, f->slots);
    if (f->slots)
        assert_int_equal(ours.effect.address[0], s->gpr[3] + 8);
    twin_expect_equal(f->name, s, &native, &ours, TWIN_STATUS_ALL);
}

static bool skipped(enum native_feature feature)
{
    if (native_has(feature))
        return false;
    print_message("this CPU has no %s: its forms are tested by vectors only\n", native_feature_name(feature));
    return true;
}

static void check_rounds(const struct bit_form *f)
{
    for (unsigned round = 0; round < 1000; round++) {
        struct native_state s;
        random_operands(&s);
        check(f, &s);
    }
}

/* ModR/M: [rbx+8] with register `reg`, or register rcx. */
static void put_modrm(struct bit_form *f, unsigned reg, bool memory)
{
    put(f, (uint8_t)((memory ? 0x43 : 0xc1) | reg << 3));
    if (memory)
        put(f, 8);
    f->slots = memory;
}

static void test_popcnt(void **state)
{
    (void)state;
    if (skipped(NATIVE_POPCNT))
        return;
    for (unsigned bits = 16; bits <= 64; bits *= 2)
        for (unsigned memory = 0; memory < 2; memory++) {
            struct bit_form f = {.name = "popcnt"};
            put_size(&f, bits, 0xf3);
            put(&f, 0x0f);
            put(&f, 0xb8);
            put_modrm(&f, 2, memory);
            check_rounds(&f);
        }
}

static void test_movbe(void **state)
{
    (void)state;
    if (skipped(NATIVE_MOVBE))
        return;
    for (unsigned bits = 16; bits <= 64; bits *= 2)
        for (uint8_t opcode = 0xf0; opcode <= 0xf1; opcode++) {
            struct bit_form f = {.name = "movbe"};
            put_size(&f, bits, 0);
            put(&f, 0x0f);
            put(&f, 0x38);
            put(&f, opcode);
            put_modrm(&f, 2, true);
            check_rounds(&f);
        }
}

/* A VEX instruction of map 0F38; vvvv is rsi. */
static struct bit_form vex_form(const char *name, unsigned pp, uint8_t opcode, unsigned reg, unsigned bits, bool memory)
{
    struct bit_form f = {.bits = bits};
    snprintf(f.name, sizeof f.name, "%s %u %s", name, bits, memory ? "memory" : "register");
    put(&f, 0xc4);
    put(&f, 0xe2);
    put(&f, (uint8_t)((bits == 64) << 7 | (~6u & 15) << 3 | pp));
    put(&f, opcode);
    put_modrm(&f, reg, memory);
    return f;
}

static void test_bmi(void **state)
{
    static const struct {
        const char *name;
        unsigned pp;
        uint8_t opcode;
        unsigned reg; /* a register, or the opcode's extension */
        enum native_feature feature;
    } rows[] = {
        {"pdep", 3, 0xf5, 2, NATIVE_BMI2},  {"pext", 2, 0xf5, 2, NATIVE_BMI2},   {"bzhi", 0, 0xf5, 2, NATIVE_BMI2},
        {"blsr", 0, 0xf3, 1, NATIVE_BMI1},  {"blsmsk", 0, 0xf3, 2, NATIVE_BMI1}, {"blsi", 0, 0xf3, 3, NATIVE_BMI1},
        {"bextr", 0, 0xf7, 2, NATIVE_BMI1},
    };
    (void)state;
    if (skipped(NATIVE_BMI1) || skipped(NATIVE_BMI2))
        return;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (unsigned bits = 32; bits <= 64; bits += 32)
            for (unsigned memory = 0; memory < 2; memory++) {
                struct bit_form f = vex_form(rows[i].name, rows[i].pp, rows[i].opcode, rows[i].reg, bits, memory);
                check_rounds(&f);
            }
}

static void test_rorx(void **state)
{
    (void)state;
    if (skipped(NATIVE_BMI2))
        return;
    for (unsigned wide = 0; wide < 2; wide++)
        for (unsigned round = 0; round < 1000; round++) {
            struct native_state s;
            struct bit_form f = {.name = "rorx", .bytes = {0xc4, 0xe3, (uint8_t)(wide << 7 | 0x7b), 0xf0}, .length = 4};
            put_modrm(&f, 2, round < 500);
            put(&f, (uint8_t)(round / 10));
            random_operands(&s);
            check(&f, &s);
        }
}

/* ------------------------------------------------------------------ shifts */

static void test_shifts_by_cl(void **state)
{
    static const char *const names[] = {"rol", "ror", "rcl", "rcr", "shl", "shr", "sal", "sar"};
    (void)state;
    for (unsigned operation = 0; operation < 8; operation++)
        for (unsigned bits = 8; bits <= 64; bits *= 2) {
            struct bit_form f = {0};
            snprintf(f.name, sizeof f.name, "%s %u memory by cl", names[operation], bits);
            put_size(&f, bits, 0);
            put(&f, bits == 8 ? 0xd2 : 0xd3);
            put_modrm(&f, operation, true);
            for (unsigned round = 0; round < 1000; round++) {
                struct native_state s;
                random_operands(&s);
                s.gpr[1] = twin_random() % 4 ? twin_random() % 80 : twin_random() % 3;
                check(&f, &s);
            }
        }
}

static void test_double_shifts(void **state)
{
    (void)state;
    static const uint8_t opcodes[] = {0xa4, 0xa5, 0xac, 0xad}; /* shld imm, cl, shrd imm, cl */
    for (unsigned i = 0; i < 4; i++)
        for (unsigned bits = 16; bits <= 64; bits *= 2)
            for (unsigned round = 0; round < 2000; round++) {
                struct native_state s;
                struct bit_form f = {0};
                unsigned count = round / 25; /* a new one is new code, which takes a CPU long to notice */
                random_operands(&s);
                snprintf(f.name, sizeof f.name, "double shift %x %u", opcodes[i], bits);
                put_size(&f, bits, 0);
                put(&f, 0x0f);
                put(&f, opcodes[i]);
                put_modrm(&f, 2, true);
                if (i % 2 == 0)
                    put(&f, (uint8_t)count);
                else
                    s.gpr[1] = count;
                check(&f, &s);
            }
}

static void test_lock_neg(void **state)
{
    (void)state;
    for (unsigned bits = 8; bits <= 64; bits *= 2) {
        struct bit_form f = {.name = "lock neg"};
        put(&f, 0xf0);
        put_size(&f, bits, 0);
        put(&f, bits == 8 ? 0xf6 : 0xf7);
        put_modrm(&f, 3, true);
        check_rounds(&f);
    }
}

/* ------------------------------------------------------------------ on any CPU */

struct vector {
    const char *name;
    uint8_t bytes[8];
    unsigned length;
    uint64_t memory, rcx, rdx, rsi; /* memory: at [rbx+8] */
    uint64_t expect_memory, expect_rdx, expect_flags, watched;
};

static const struct vector vectors[] = {
    {"popcnt edx, [rbx+8]", {0xf3, 0x0f, 0xb8, 0x53, 8}, 5, 0xf0f0f0f01, 0, ~0ull, 0, 0xf0f0f0f01, 13, 0, 0x8d5},
    {"popcnt of 0", {0xf3, 0x0f, 0xb8, 0xd1}, 4, 0, 0, 7, 0, 0, 0, ZF, 0x8d5},
    {"movbe rdx, [rbx+8]",
     {0x48, 0x0f, 0x38, 0xf0, 0x53, 8},
     6,
     0x0102030405060708,
     0,
     0,
     0,
     0x0102030405060708,
     0x0807060504030201,
     0,
     0},
    {"movbe [rbx+8], dx", {0x66, 0x0f, 0x38, 0xf1, 0x53, 8}, 6, 0x5555, 0, 0x1122, 0, 0x2211, 0x1122, 0, 0},
    /* pdep rdx, rsi, rcx: the low bits 101b of the source go to bits 4, 8, 12 of the mask */
    {"pdep", {0xc4, 0xe2, 0xcb, 0xf5, 0xd1}, 5, 0, 0x1110, 0, 5, 0, 0x1010, 0, 0},
    {"pext", {0xc4, 0xe2, 0xca, 0xf5, 0xd1}, 5, 0, 0x1110, 0, 0xf0ff, 0, 5, 0, 0},
    {"bzhi keeps 4 bits", {0xc4, 0xe2, 0xc8, 0xf5, 0xd1}, 5, 0, 0xffff, 0, 4, 0, 0xf, 0, CF | ZF | SF | OF},
    {"bzhi 64", {0xc4, 0xe2, 0xc8, 0xf5, 0xd1}, 5, 0, ~0ull, 0, 64, 0, ~0ull, CF | SF, CF | ZF | SF | OF},
    /* bextr rdx, rcx, rsi: 8 bits from bit 4 */
    {"bextr", {0xc4, 0xe2, 0xc8, 0xf7, 0xd1}, 5, 0, 0x12345, 0, 0x0804, 0, 0x34, 0, CF | ZF | OF},
    {"rorx edx, ecx, 8", {0xc4, 0xe3, 0x7b, 0xf0, 0xd1, 8}, 6, 0, 0x12345678, 0, 0, 0, 0x78123456, 0, 0},
    {"blsi rsi, rcx", {0xc4, 0xe2, 0xc8, 0xf3, 0xd9}, 5, 0, 0x30, 9, 0, 0, 9, CF, CF | ZF | SF | OF},
    {"shl dword [rbx+8], cl", {0xd3, 0x63, 8}, 3, 0x80000001, 1, 0, 0, 2, 0, CF | OF, CF | OF | ZF | SF | PF},
    {"sar byte [rbx+8], cl", {0xd2, 0x7b, 8}, 3, 0x81, 31, 0, 0, 0xff, 0, CF | SF | PF, CF | ZF | SF | PF},
    {"rcl byte [rbx+8], cl by 9", {0xd2, 0x53, 8}, 3, 0x81, 9, 0, 0, 0x81, 0, CF, CF},
    {"shld word [rbx+8], dx, 4",
     {0x66, 0x0f, 0xa4, 0x53, 8, 4},
     6,
     0x1234,
     0,
     0xabcd,
     0,
     0x234a,
     0xabcd,
     CF,
     CF | ZF | SF},
    /* 1234:abcd:1234 by 20, which is left to the CPU's maker: the window of 16 bits is bcd1 from the left, 4abc from
     * the right; the last bit out is bit 28 of the row, or bit 19 */
    {"shld word [rbx+8], dx, 20",
     {0x66, 0x0f, 0xa4, 0x53, 8, 20},
     6,
     0x1234,
     0,
     0xabcd,
     0,
     0xbcd1,
     0xabcd,
     SF | PF,
     CF | ZF | SF | PF},
    {"shrd word [rbx+8], dx, 20",
     {0x66, 0x0f, 0xac, 0x53, 8, 20},
     6,
     0x1234,
     0,
     0xabcd,
     0,
     0x4abc,
     0xabcd,
     CF,
     CF | ZF | SF | PF},
    {"lock neg dword [rbx+8]", {0xf0, 0xf7, 0x5b, 8}, 4, 1, 0, 0, 0, 0xffffffff, 0, CF | SF | PF | AF, 0x8d5},
};

static void test_vectors(void **state)
{
    static struct twin_result r;
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        const struct vector *v = &vectors[i];
        struct native_state s = {.flags = 0x203}; /* with carry, which rcl takes in */
        s.gpr[1] = v->rcx;
        s.gpr[2] = v->rdx;
        s.gpr[3] = (uint64_t)(uintptr_t)twin_data;
        s.gpr[6] = v->rsi;
        memcpy(twin_data + 8, &v->memory, 8);
        twin_interpret(&r, &s, v->bytes, v->length);
        uint64_t memory;
        memcpy(&memory, r.memory + 8, 8);
        if (memory != v->expect_memory || r.state.gpr[2] != v->expect_rdx ||
            (r.state.flags & v->watched) != v->expect_flags)
            fail_msg("%s: memory %llx, rdx %llx, flags %llx", v->name, (unsigned long long)memory,
                     (unsigned long long)r.state.gpr[2], (unsigned long long)r.state.flags);
    }
}

/* A page that may not be written: nothing changes, and the fault is the one the CPU reports. */
static void test_faults(void **state)
{
    static const uint8_t shl[] = {0xd3, 0x63, 8};
    static struct twin_result native, ours;
    struct native_state s;
    (void)state;
    random_operands(&s);
    s.gpr[3] = (uint64_t)(uintptr_t)twin_data + 8192 - 8 - 2; /* two bytes before a page, two on it */
    s.gpr[1] = 3;
    twin_protect(2, PROT_READ);
    twin_native(&native, &s, shl, sizeof shl);
    twin_interpret(&ours, &s, shl, sizeof shl);
    twin_protect(2, PROT_READ | PROT_WRITE);
    assert_int_equal(native.end.signal, SIGSEGV);
    assert_int_equal(ours.effect.status, INTERPRET_FAULT);
    assert_int_equal(ours.effect.fault.v, (uint64_t)(uintptr_t)twin_data + 8192);
    assert_int_equal(ours.effect.fault.v, native.end.address);
    assert_int_equal(ours.effect.access, MMU_ACCESS_WRITE);
    twin_expect_equal("shl", &s, &native, &ours, TWIN_STATUS_ALL);

    s.gpr[3] = 0x8000000000000000; /* not canonical */
    twin_native(&native, &s, shl, sizeof shl);
    twin_interpret(&ours, &s, shl, sizeof shl);
    assert_int_equal(ours.effect.status, INTERPRET_SIGNAL);
    assert_int_equal(ours.effect.signal, native.end.signal);
    assert_int_equal(ours.effect.code, native.end.code);
}

/* popcnt edx through every kind of address: [rax+rcx*4+disp32], RIP-relative, 32-bit, GS, absolute; and where a REX.B
 * makes no base of none. */
static void test_addresses(void **state)
{
    static struct twin_result native, ours;
    struct native_state s;
    uint64_t data = (uint64_t)(uintptr_t)twin_data;
    int32_t to_data = (int32_t)(twin_data - (twin_code + 8));
    uint32_t absolute = (uint32_t)data + 0x77;
    uint8_t rip[8] = {0xf3, 0x0f, 0xb8, 0x15}, direct[9] = {0xf3, 0x0f, 0xb8, 0x14, 0x25};
    uint8_t no_base[11] = {0x67, 0xf3, 0x41, 0x0f, 0xb8, 0x14, 0x25},
            no_base_but_index[11] = {0x67, 0xf3, 0x41, 0x0f, 0xb8, 0x14, 0x8d};
    memcpy(rip + 4, &to_data, 4);
    memcpy(direct + 5, &absolute, 4);
    memcpy(no_base + 7, &absolute, 4);
    memcpy(no_base_but_index + 7, &absolute, 4);
    static const uint8_t scaled[] = {0xf3, 0x0f, 0xb8, 0x94, 0x88, 0x10, 0, 0, 0};
    static const uint8_t narrow[] = {0x67, 0xf3, 0x0f, 0xb8, 0x54, 0x88, 0x10};
    static const uint8_t gs[] = {0x65, 0xf3, 0x0f, 0xb8, 0x57, 0x10};
    const struct {
        const char *name;
        const uint8_t *bytes;
        unsigned length;
        uint64_t address;
    } rows[] = {
        {"rip", rip, 8, data},
        {"absolute", direct, 9, data + 0x77},
        {"scaled", scaled, 9, data + 0x10 + 40},
        {"narrow", narrow, 7, data + 0x10 + 40},
        {"gs", gs, 6, twin_gs_base + 0x30},
        {"no base, narrow", no_base, 11, data + 0x77},
        {"no base but an index, narrow", no_base_but_index, 11, data + 0x77 + 40},
    };
    (void)state;
    if (skipped(NATIVE_POPCNT))
        return;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        random_operands(&s);
        bool is_narrow = rows[i].bytes == narrow; /* only the sum's low half counts */
        s.gpr[0] = data + (is_narrow ? 0xabcd00000000 : 0);
        s.gpr[1] = 10;
        s.gpr[7] = 0x20;
        s.gpr[13] = 8;
        twin_native(&native, &s, rows[i].bytes, rows[i].length);
        twin_interpret(&ours, &s, rows[i].bytes, rows[i].length);
        assert_int_equal(ours.effect.address[0], rows[i].address);
        twin_expect_equal(rows[i].name, &s, &native, &ours, TWIN_STATUS_ALL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_popcnt),    cmocka_unit_test(test_movbe),        cmocka_unit_test(test_bmi),
        cmocka_unit_test(test_rorx),      cmocka_unit_test(test_shifts_by_cl), cmocka_unit_test(test_double_shifts),
        cmocka_unit_test(test_lock_neg),  cmocka_unit_test(test_vectors),      cmocka_unit_test(test_faults),
        cmocka_unit_test(test_addresses),
    };
    return cmocka_run_group_tests_name("interpret: bits", tests, twin_setup, twin_teardown);
}
