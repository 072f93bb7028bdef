/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What is remembered of instructions, beside decoding each anew: random strings of bytes, most of them instructions,
 * each with several displacements and immediates. usage: test_engine_remembered [STRINGS [SEED]]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/cpu.h"
#include "engine/decode.h"
#include "native/native_priv.h"

enum { BYTES = 32, TAILS = 6 };

static uint64_t strings = C2_HOST_SIZE(150000, 50000), seed = 1, good, alone;

/* One of the bytes, or any. */
static uint8_t one_of(struct c2_rng *rng, const char *list, size_t count)
{
    return c2_rng_below(rng, 4) ? (uint8_t)list[c2_rng_below(rng, count)] : (uint8_t)c2_rng_next(rng);
}

/* Prefixes and the beginning of an opcode; the rest is what was there. */
static void begin_string(struct c2_rng *rng, uint8_t *at)
{
    static const char prefixes[] = "\x66\x67\xf0\xf2\xf3\x2e\x3e\x64\x65";
    static const char maps[] = "\x0f\x0f\x0f\xc4\xc5\x62\x8f";
    for (uint64_t i = c2_rng_below(rng, 3); i != 0 && c2_rng_below(rng, 2); i--)
        *at++ = one_of(rng, prefixes, sizeof prefixes - 1);
    if (c2_rng_below(rng, 2))
        *at++ = (uint8_t)(0x40 | c2_rng_below(rng, 16));
    if (c2_rng_below(rng, 2))
        *at++ = one_of(rng, maps, sizeof maps - 1);
    if (at[-1] == 0x0f && c2_rng_below(rng, 3) == 0)
        *at = c2_rng_below(rng, 2) ? 0x38 : 0x3a;
}

/* Displacements and immediates: changes a few bytes behind the first ones. */
static void change_tail(struct c2_rng *rng, uint8_t *bytes)
{
    const uint64_t from = 1 + c2_rng_below(rng, 9);
    for (uint64_t i = from; i < BYTES; i++)
        bytes[i] = (uint8_t)c2_rng_next(rng);
}

static void compare(struct decode_forms *forms, const struct cpu_model *cpu, const uint8_t *bytes, uint64_t count)
{
    const struct guest_va pc = {(uint64_t)(uintptr_t)bytes};
    struct decode_form found, made;
    struct decode_insn insn;
    memset(&found, 0, sizeof found);
    const enum decode_result result = decode_form_anew(&made, cpu, pc, count);
    assert_int_equal(decode_form(&found, forms, pc, count), result);
    if (result != DECODE_GOOD)
        return;
    assert_int_equal(decode_one(&insn, pc, count), DECODE_GOOD);
    if (!made.alone)
        native_own(&made.own, &insn);
    assert_memory_equal(&found, &made, sizeof found);
    good++;
    alone += made.alone;
}

static void test_random(void **state)
{
    static uint8_t room[BYTES + 1];
    uint8_t *const bytes = room + 1;
    struct decode_forms *forms;
    struct c2_rng rng;
    (void)state;
    c2_rng_init(&rng, seed, "forms");
    assert_int_equal(decode_forms_create(&forms, native_own, NULL), C2_OK);
    for (uint64_t i = 0; i < strings; i++) {
        const struct cpu_model *cpu = i * 4 / strings % 2 ? cpu_of_level(CPU_V3) : cpu_of_level(CPU_V2);
        decode_forms_begin(forms, cpu);
        c2_rng_fill(&rng, bytes, BYTES);
        begin_string(&rng, bytes);
        for (unsigned tail = 0; tail < TAILS; tail++) {
            compare(forms, cpu, bytes, c2_rng_below(&rng, 8) ? BYTES : 1 + c2_rng_below(&rng, BYTES));
            change_tail(&rng, bytes);
        }
    }
    decode_forms_destroy(forms);
    assert_true(good > strings && alone > strings / 100);
    printf("%llu instructions, %llu of them alone\n", (unsigned long long)good, (unsigned long long)alone);
}

/* The immediate of each decides something: two are decoded, one right after the other. */
static void test_immediates(void **state)
{
    static const uint8_t pairs[][2][BYTES] = {
        {"\xc2\x08\x00", "\xc2\x00\x80"},                         /* ret of 8, of 32 KiB */
        {"\x0f\xc2\xc1\x07", "\x0f\xc2\xc1\x08"},                 /* cmpps: reserved */
        {"\xc8\x10\x00\x00", "\xc8\x10\x00\x01"},                 /* enter: nested */
        {"\x66\x0f\x3a\x40\xc1\x11", "\x66\x0f\x3a\x40\xc1\xf1"}, /* dpps: products */
        {"\x66\x0f\x3a\x63\xc1\x0c", "\x66\x0f\x3a\x63\xc1\x00"}, /* pcmpistri: search */
        {"\x0f\x0f\xc1\x9e", "\x0f\x0f\xc1\x9f"},                 /* 3DNow!: pfadd, none */
        {"\xc4\xe3\x71\x4a\xc2\x30", "\xc4\xe3\x71\x4a\xc2\x40"}, /* vblendvps: registers */
    };
    struct decode_forms *forms;
    (void)state;
    assert_int_equal(decode_forms_create(&forms, native_own, NULL), C2_OK);
    decode_forms_begin(forms, cpu_of_level(CPU_V3));
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (unsigned round = 0; round < 4; round++)
            compare(forms, cpu_of_level(CPU_V3), pairs[i][round % 2], BYTES);
    decode_forms_destroy(forms);
}

static void test_no_memory(void **state)
{
    struct decode_forms *forms;
    (void)state;
    c2_alloc_fail_from(1);
    assert_int_equal(decode_forms_create(&forms, NULL, NULL), C2_ERR_NO_MEMORY);
    c2_alloc_fail_from(0);
    decode_forms_destroy(forms);
}

int main(int count, char **words)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_immediates),
        cmocka_unit_test(test_no_memory),
    };
    strings = count > 1 ? strtoull(words[1], NULL, 10) : strings;
    seed = count > 2 ? strtoull(words[2], NULL, 10) : seed;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
