/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * REP string instructions against the CPU that runs the test: all kinds and sizes, both directions, overlaps, segments,
 * page faults in the middle; and their slots.
 */
#include <signal.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "stream/stream.h"
#include "unit/interpret_twin.h"

#define DF 0x400u

struct string_form {
    char name[32];
    uint8_t bytes[8];
    unsigned length;
    unsigned element;
    bool source, destination, compares;
};

static struct string_form form_of(unsigned kind, unsigned size, uint8_t repeat, uint8_t segment)
{
    static const struct {
        const char *name;
        uint8_t opcode;
        bool source, destination, compares;
    } kinds[] = {{"movs", 0xa4, true, true, false},
                 {"cmps", 0xa6, true, true, true},
                 {"stos", 0xaa, false, true, false},
                 {"lods", 0xac, true, false, false},
                 {"scas", 0xae, false, true, true}};
    struct string_form f = {.element = 1u << size,
                            .source = kinds[kind].source,
                            .destination = kinds[kind].destination,
                            .compares = kinds[kind].compares};
    if (segment != 0)
        f.bytes[f.length++] = segment;
    if (size == 1)
        f.bytes[f.length++] = 0x66;
    f.bytes[f.length++] = repeat;
    if (size == 3)
        f.bytes[f.length++] = 0x48;
    f.bytes[f.length++] = kinds[kind].opcode | (size > 0);
    snprintf(f.name, sizeof f.name, "%x %x %s/%u", segment, repeat, kinds[kind].name, f.element);
    return f;
}

/* Comparisons should meet long equal stretches, and end in all places. */
static void similar_memory(const struct string_form *f)
{
    twin_random_memory();
    if (!f->compares)
        return;
    memset(twin_data, (int)(twin_random() & 1) * 0x41, TWIN_BYTES);
    for (unsigned i = 0; i < 6; i++)
        twin_data[twin_random() % TWIN_BYTES] ^= 1;
}

static void string_state(struct native_state *s, const struct string_form *f, uint64_t base)
{
    uint64_t data = (uint64_t)(uintptr_t)twin_data, middle = data + TWIN_BYTES / 2;
    twin_random_state(s);
    uint64_t reach = (TWIN_BYTES / 2 - 1100) / f->element;
    s->gpr[1] = twin_random() & 1 ? twin_random() % 20 : twin_random() % reach;
    s->gpr[7] = middle - 1000 + twin_random() % 2000;
    s->gpr[6] = twin_random() & 1 ? s->gpr[7] - 40 + twin_random() % 80 : middle - 1000 + twin_random() % 2000;
    s->gpr[6] -= base;
    if (twin_random() & 1)
        s->gpr[0] = 0x4141414141414141u * (twin_random() & 1);
    if (twin_random() & 1)
        s->flags |= DF;
}

static void expect_slots(const struct string_form *f, const struct native_state *s, const struct twin_result *r,
                         uint64_t base)
{
    assert_int_equal(r->effect.address_count, 4);
    assert_int_equal(r->effect.address[0], f->source ? s->gpr[6] + base : 0);
    assert_int_equal(r->effect.address[1], f->destination ? s->gpr[7] : 0);
    assert_int_equal(r->effect.address[2], (s->gpr[1] - r->state.gpr[1]) * (s->flags & DF ? (uint64_t)-1 : 1));
    assert_int_equal(r->effect.address[3], r->state.gpr[1]);
}

static void check_whole(const struct string_form *f, const struct native_state *s, uint64_t base)
{
    static struct twin_result native, ours;
    twin_native(&native, s, f->bytes, f->length);
    assert_int_equal(native.end.signal, 0);
    twin_interpret(&ours, s, f->bytes, f->length);
    assert_int_equal(ours.effect.status, INTERPRET_DONE);
    twin_expect_equal(f->name, s, &native, &ours, TWIN_STATUS_ALL);
    expect_slots(f, s, &ours, base);
    twin_interpret_touching(&ours, s, f->bytes, f->length);
    assert_int_equal(ours.effect.status, INTERPRET_DONE);
    twin_expect_equal(f->name, s, &native, &ours, TWIN_STATUS_ALL);
}

static void test_all_forms(void **state)
{
    (void)state;
    static const uint8_t segments[] = {0, 0x65};
    unsigned forms = 0;
    for (unsigned segment = 0; segment < 2; segment++)
        for (unsigned kind = 0; kind < 5; kind++)
            for (unsigned size = 0; size < 4; size++)
                for (uint8_t repeat = 0xf2; repeat <= 0xf3; repeat++) {
                    struct string_form f = form_of(kind, size, repeat, segments[segment]);
                    uint64_t base = segment != 0 && f.source ? twin_gs_base : 0;
                    forms++;
                    for (unsigned round = 0; round < 100; round++) {
                        struct native_state s;
                        similar_memory(&f);
                        string_state(&s, &f, base);
                        check_whole(&f, &s, base);
                    }
                }
    assert_int_equal(forms, 80);
}

/* FS has no base of the test's own on the CPU (the C library uses it), so the CPU runs the GS form. */
static void test_fs_source(void **state)
{
    static struct twin_result native, ours;
    (void)state;
    struct string_form gs = form_of(0, 0, 0xf3, 0x65), fs = form_of(0, 0, 0xf3, 0x64);
    uint64_t kept = twin_fs_base;
    twin_fs_base = twin_gs_base;
    for (unsigned round = 0; round < 100; round++) {
        struct native_state s;
        similar_memory(&gs);
        string_state(&s, &gs, twin_gs_base);
        twin_native(&native, &s, gs.bytes, gs.length);
        twin_interpret(&ours, &s, fs.bytes, fs.length);
        assert_int_equal(ours.effect.status, INTERPRET_DONE);
        twin_expect_equal(fs.name, &s, &native, &ours, TWIN_STATUS_ALL);
    }
    twin_fs_base = kept;
}

/* One page is taken away or made read-only: what was done before it, and what is reported. */
static unsigned check_fault(const struct string_form *f)
{
    static struct twin_result native, ours;
    struct native_state s;
    similar_memory(f);
    string_state(&s, f, 0);
    unsigned page = TWIN_PAGES / 2 - 2 + (unsigned)(twin_random() % 4);
    twin_protect(page, twin_random() & 1 ? PROT_NONE : PROT_READ);
    twin_native(&native, &s, f->bytes, f->length);
    twin_interpret(&ours, &s, f->bytes, f->length);
    twin_protect(page, PROT_READ | PROT_WRITE);
    assert_int_equal(ours.effect.status, native.end.signal == SIGSEGV ? INTERPRET_FAULT : INTERPRET_DONE);
    twin_expect_equal(f->name, &s, &native, &ours, TWIN_STATUS_ALL);
    expect_slots(f, &s, &ours, 0);
    if (native.end.signal == 0)
        return 0;
    assert_int_equal(ours.effect.fault.v / 4096, native.end.address / 4096);
    assert_int_equal(ours.effect.fault.v / 4096, ((uint64_t)(uintptr_t)twin_data + 4096u * page) / 4096);
    return 1;
}

static void test_faults(void **state)
{
    (void)state;
    unsigned faults = 0;
    for (unsigned kind = 0; kind < 5; kind++)
        for (unsigned size = 0; size < 4; size++)
            for (uint8_t repeat = 0xf2; repeat <= 0xf3; repeat++)
                for (unsigned round = 0; round < 60; round++) {
                    struct string_form f = form_of(kind, size, repeat, 0);
                    faults += check_fault(&f);
                }
    assert_true(faults > 500);
}

static void protect_ends(int prot)
{
    twin_protect(0, prot);
    twin_protect(TWIN_PAGES - 1, prot);
}

/* Counts that no memory holds, as inline strlen has them: what ends the instruction is a comparison, or the page that
 * was taken away on either side. */
static unsigned check_high_count(const struct string_form *f, uint64_t count)
{
    static struct twin_result native, ours;
    struct native_state s;
    similar_memory(f);
    string_state(&s, f, 0);
    s.gpr[1] = count;
    protect_ends(PROT_NONE);
    twin_native(&native, &s, f->bytes, f->length);
    twin_interpret(&ours, &s, f->bytes, f->length);
    protect_ends(PROT_READ | PROT_WRITE);
    assert_int_equal(ours.effect.status, native.end.signal == SIGSEGV ? INTERPRET_FAULT : INTERPRET_DONE);
    twin_expect_equal(f->name, &s, &native, &ours, TWIN_STATUS_ALL);
    expect_slots(f, &s, &ours, 0);
    assert_int_equal(stream_string_goes_down(ours.effect.address), (s.flags & DF) && ours.state.gpr[1] != count);
    assert_int_equal(stream_string_elements(ours.effect.address), count - native.state.gpr[1]);
    assert_int_equal(stream_string_before(ours.effect.address), count);
    return ours.effect.status == INTERPRET_DONE;
}

static void test_high_counts(void **state)
{
    (void)state;
    static const uint64_t counts[] = {UINT64_MAX,        UINT64_MAX - 1,
                                      (uint64_t)1 << 63, ((uint64_t)1 << 63) + 40,
                                      (uint64_t)1 << 62, ((uint64_t)1 << 63) - 1};
    unsigned ends = 0;
    for (unsigned kind = 0; kind < 5; kind++)
        for (unsigned size = 0; size < 4; size++)
            for (uint8_t repeat = 0xf2; repeat <= 0xf3; repeat++)
                for (unsigned round = 0; round < 60; round++) {
                    struct string_form f = form_of(kind, size, repeat, 0);
                    ends += check_high_count(&f, counts[round % 6]);
                }
    assert_true(ends > 500);
}

/* By hand, on any CPU: "abc" copied up and down, a count of 0, the first difference, the first match. */
static void test_vectors(void **state)
{
    static struct twin_result r;
    struct native_state s = {.flags = 0x202};
    uint64_t data = (uint64_t)(uintptr_t)twin_data;
    (void)state;
    static const uint8_t rep_movsb[] = {0xf3, 0xa4}, repe_cmpsb[] = {0xf3, 0xa6}, repne_scasb[] = {0xf2, 0xae};
    memset(twin_data, 0, TWIN_BYTES);
    memcpy(twin_data, "abcabd", 6);
    s.gpr[1] = 3;
    s.gpr[6] = data;
    s.gpr[7] = data + 100;
    twin_interpret(&r, &s, rep_movsb, 2);
    assert_memory_equal(r.memory + 100, "abc", 4);
    assert_int_equal(r.state.gpr[1], 0);
    assert_int_equal(r.state.gpr[6], data + 3);
    assert_int_equal(r.state.gpr[7], data + 103);

    s.gpr[7] = data + 1; /* each byte is read after it was overwritten */
    twin_interpret(&r, &s, rep_movsb, 2);
    assert_memory_equal(r.memory, "aaaabd", 6);

    s.flags |= DF;
    s.gpr[6] = data + 2;
    s.gpr[7] = data + 102;
    twin_interpret(&r, &s, rep_movsb, 2);
    assert_memory_equal(r.memory + 100, "abc", 4);
    assert_int_equal(r.state.gpr[6], data - 1);
    assert_int_equal(r.effect.address[2], -3);

    s.gpr[1] = 0;
    twin_interpret(&r, &s, rep_movsb, 2);
    assert_int_equal(r.state.gpr[6], data + 2);
    assert_int_equal(r.effect.address[3], 0);

    s = (struct native_state){.flags = 0x202};
    s.gpr[1] = 10;
    s.gpr[6] = data;
    s.gpr[7] = data + 3;
    twin_interpret(&r, &s, repe_cmpsb, 2); /* c against d: less, so CF, SF, AF */
    assert_int_equal(r.state.gpr[1], 7);
    assert_int_equal(r.state.flags & 0x8d5, 0x95);

    s.gpr[0] = 'c';
    s.gpr[7] = data;
    twin_interpret(&r, &s, repne_scasb, 2);
    assert_int_equal(r.state.gpr[1], 7);
    assert_int_equal(r.state.flags & 0x8d5, 0x44);
}

/* Two bytes are equal, the third cannot be read: the flags are those from before (CF, OF), not those of the comparison
 * (ZF, PF). */
static void test_flags_at_fault(void **state)
{
    static struct twin_result r;
    static const uint8_t repe_cmpsb[] = {0xf3, 0xa6};
    struct native_state s = {.flags = 0xa03};
    (void)state;
    memset(twin_data, 0, TWIN_BYTES);
    s.gpr[1] = 10;
    s.gpr[6] = (uint64_t)(uintptr_t)twin_data;
    s.gpr[7] = (uint64_t)(uintptr_t)twin_data + 4096 - 2;
    twin_protect(1, PROT_NONE);
    twin_interpret(&r, &s, repe_cmpsb, 2);
    twin_protect(1, PROT_READ | PROT_WRITE);
    assert_int_equal(r.effect.status, INTERPRET_FAULT);
    assert_int_equal(r.state.gpr[1], 8);
    assert_int_equal(r.state.flags, 0xa03);
}

/* By hand: strlen of "abc" reads four bytes upwards; nothing is known of the count but that it was -1. */
static void test_inline_strlen(void **state)
{
    static struct twin_result r;
    static const uint8_t repne_scasb[] = {0xf2, 0xae};
    struct native_state s = {.flags = 0x202};
    uint64_t data = (uint64_t)(uintptr_t)twin_data;
    (void)state;
    memcpy(twin_data, "abc", 4);
    s.gpr[1] = UINT64_MAX;
    s.gpr[7] = data;
    twin_interpret(&r, &s, repne_scasb, 2);
    assert_int_equal(~r.state.gpr[1] - 1, 3);
    assert_int_equal(r.state.gpr[7], data + 4);
    assert_int_equal(r.effect.address[2], 4);
    assert_int_equal(r.effect.address[3], UINT64_MAX - 4);
    assert_int_equal(stream_string_address(r.effect.address, 1, 3, 1), data + 3);
}

static void test_who_is_one(void **state)
{
    (void)state;
    static const uint8_t repz_ret[] = {0xf3, 0xc3}, pause[] = {0xf3, 0x90}, movsb[] = {0xa4},
                         movsd_sse[] = {0xf2, 0x0f, 0x10, 0xc1}, short_addresses[] = {0x67, 0xf3, 0xa4};
    assert_false(twin_wanted(repz_ret, 2));
    assert_false(twin_wanted(pause, 2));
    assert_false(twin_wanted(movsb, 1));
    assert_false(twin_wanted(movsd_sse, 4));
    static struct twin_result r;
    struct native_state s = {.flags = 0x202};
    twin_interpret(&r, &s, short_addresses, 3);
    assert_int_equal(r.effect.status, INTERPRET_REFUSED);
    assert_non_null(strstr(r.effect.reason, "67h"));
    assert_int_equal(r.effect.address_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_forms),      cmocka_unit_test(test_fs_source),  cmocka_unit_test(test_faults),
        cmocka_unit_test(test_high_counts),    cmocka_unit_test(test_vectors),    cmocka_unit_test(test_inline_strlen),
        cmocka_unit_test(test_flags_at_fault), cmocka_unit_test(test_who_is_one),
    };
    return cmocka_run_group_tests_name("interpret: REP string instructions", tests, twin_setup, twin_teardown);
}
