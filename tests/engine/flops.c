/* SPDX-License-Identifier: GPL-2.0-or-later
 * The floating-point operations of instructions: some by hand, and every opcode of SSE, AVX, FMA and x87 beside a twin
 * that reads the text of another disassembler. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <capstone/capstone.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "engine/decode.h"

#define LENGTH 15u

static unsigned flops_of(const uint8_t bytes[LENGTH], unsigned *length)
{
    struct decode_insn insn;
    *length = 0;
    if (decode_one(&insn, (struct guest_va){(uint64_t)(uintptr_t)bytes}, LENGTH) != DECODE_GOOD)
        return 0;
    *length = insn.insn.length;
    return decode_flops(&insn);
}

/* ------------------------------------------------------------------ by hand */

static void test_by_hand(void **state)
{
    static const struct {
        const char *text;
        unsigned flops;
        uint8_t bytes[LENGTH];
    } known[] = {
        {"addsd %xmm1,%xmm0", 1, {0xf2, 0x0f, 0x58, 0xc1}},
        {"addpd %xmm1,%xmm0", 2, {0x66, 0x0f, 0x58, 0xc1}},
        {"addps (%rax),%xmm0", 4, {0x0f, 0x58, 0x00}},
        {"mulss (%rax),%xmm0", 1, {0xf3, 0x0f, 0x59, 0x00}},
        {"sqrtps %xmm1,%xmm0", 4, {0x0f, 0x51, 0xc1}},
        {"rcpss %xmm1,%xmm0", 1, {0xf3, 0x0f, 0x53, 0xc1}},
        {"haddpd %xmm1,%xmm0", 2, {0x66, 0x0f, 0x7c, 0xc1}},
        {"addsubps %xmm1,%xmm0", 4, {0xf2, 0x0f, 0xd0, 0xc1}},
        {"dpps $0xf1,%xmm1,%xmm0", 7, {0x66, 0x0f, 0x3a, 0x40, 0xc1, 0xf1}},
        {"dpps $0x71,%xmm1,%xmm0", 5, {0x66, 0x0f, 0x3a, 0x40, 0xc1, 0x71}},
        {"dpps $0x0f,%xmm1,%xmm0", 0, {0x66, 0x0f, 0x3a, 0x40, 0xc1, 0x0f}},
        {"dppd $0x31,%xmm1,%xmm0", 3, {0x66, 0x0f, 0x3a, 0x41, 0xc1, 0x31}},
        {"vaddpd %ymm1,%ymm2,%ymm0", 4, {0xc5, 0xed, 0x58, 0xc1}},
        {"vfmadd231ps %ymm1,%ymm2,%ymm0", 16, {0xc4, 0xe2, 0x6d, 0xb8, 0xc1}},
        {"vfmadd231sd %xmm1,%xmm2,%xmm0", 2, {0xc4, 0xe2, 0xe9, 0xb9, 0xc1}},
        {"vfnmsub132pd %zmm1,%zmm2,%zmm0", 16, {0x62, 0xf2, 0xed, 0x48, 0x9e, 0xc1}},
        {"fadd %st(1),%st", 1, {0xd8, 0xc1}},
        {"fdivrp %st,%st(1)", 1, {0xde, 0xf1}},
        {"fimull (%rax)", 1, {0xda, 0x08}},
        {"fsincos", 2, {0xd9, 0xfb}},
        {"fld1", 0, {0xd9, 0xe8}},
        {"fcomip %st(1),%st", 0, {0xdf, 0xf1}},
        {"fchs", 0, {0xd9, 0xe0}},
        {"cmpltsd %xmm1,%xmm0", 0, {0xf2, 0x0f, 0xc2, 0xc1, 0x01}},
        {"ucomisd %xmm1,%xmm0", 0, {0x66, 0x0f, 0x2e, 0xc1}},
        {"cvtsi2sd %eax,%xmm0", 0, {0xf2, 0x0f, 0x2a, 0xc0}},
        {"andps %xmm1,%xmm0", 0, {0x0f, 0x54, 0xc1}},
        {"paddd %xmm1,%xmm0", 0, {0x66, 0x0f, 0xfe, 0xc1}},
        {"movsd %xmm1,%xmm0", 0, {0xf2, 0x0f, 0x10, 0xc1}},
        {"add %rcx,%rax", 0, {0x48, 0x01, 0xc8}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        unsigned length;
        const unsigned flops = flops_of(known[i].bytes, &length);
        if (flops != known[i].flops || length == 0)
            fail_msg("%s: %u operations, not %u", known[i].text, flops, known[i].flops);
    }
}

/* ------------------------------------------------------------------ the twin */

static bool matches(const char *pattern, const char *text)
{
    regex_t compiled;
    assert_int_equal(0, regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB));
    const bool found = regexec(&compiled, text, 0, NULL, 0) == 0;
    regfree(&compiled);
    return found;
}

/* Lanes by the suffix, and by the widest register that the text names. */
static unsigned lanes_of(const char *mnemonic, const char *operands)
{
    const char *suffix = mnemonic + strlen(mnemonic) - 2;
    const unsigned bits = strstr(operands, "zmm") ? 512 : strstr(operands, "ymm") ? 256 : 128;
    return suffix[0] == 's' ? 1 : bits / (suffix[1] == 's' ? 32 : 64);
}

static unsigned dot_product(const char *mnemonic, const char *operands)
{
    const unsigned long select = strtoul(strrchr(operands, ',') + 1, NULL, 0);
    const unsigned elements = mnemonic[strlen(mnemonic) - 1] == 's' ? 4 : 2;
    unsigned products = 0;
    for (unsigned i = 0; i < elements; i++)
        products += select >> (4 + i) & 1;
    return (products == 0 ? 0 : products + products - 1) * (strstr(operands, "ymm") ? 2 : 1);
}

static unsigned twin(const cs_insn *insn)
{
    const char *text = insn->mnemonic;
    if (matches("^v?dpp[sd]$", text))
        return dot_product(text, insn->op_str);
    if (matches("^v?(h?(add|sub)|addsub|mul|div|r?sqrt|rcp|min|max)[ps][sd]$", text))
        return lanes_of(text, insn->op_str);
    if (matches("^vfn?m(add|sub|addsub|subadd)(132|213|231)[ps][sd]$", text))
        return 2 * lanes_of(text, insn->op_str);
    if (matches("^fsincos$", text))
        return 2;
    return matches("^f(i?(add|sub|mul|div)|subr|divr|isubr|idivr|addp|mulp|subr?p|divr?p)$", text) ||
           matches("^f(sqrt|prem1?|sin|cos|pa?tan|2xm1|yl2x(p1)?)$", text);
}

struct compared {
    csh capstone;
    unsigned both, computing; /* instructions that both decode; of those with operations */
};

static void compare(struct compared *of, const uint8_t bytes[LENGTH])
{
    cs_insn *insn;
    unsigned length;
    const unsigned flops = flops_of(bytes, &length);
    const size_t count = cs_disasm(of->capstone, bytes, LENGTH, 0, 1, &insn);
    if (count == 1 && insn->size == length) {
        of->both++;
        of->computing += flops != 0;
        if (twin(insn) != flops)
            fail_msg("%s %s: %u operations, not %u", insn->mnemonic, insn->op_str, flops, twin(insn));
    }
    if (count == 1)
        cs_free(insn, count);
}

/* Register forms, and one of memory, with two immediates behind. */
static void compare_forms(struct compared *of, const uint8_t *opcode, unsigned count)
{
    static const uint8_t forms[] = {0xc1, 0xca, 0xd3, 0x00, 0x08};
    for (unsigned i = 0; i < sizeof forms; i++) {
        uint8_t bytes[LENGTH] = {0};
        memcpy(bytes, opcode, count);
        bytes[count] = forms[i];
        bytes[count + 1] = i % 2 ? 0x71 : 0xf1;
        compare(of, bytes);
    }
}

static void compare_legacy(struct compared *of)
{
    static const uint8_t prefixes[] = {0x90, 0x66, 0xf3, 0xf2};
    for (unsigned code = 0; code < 0x300; code++) {
        for (unsigned prefix = 0; prefix < 4; prefix++) {
            uint8_t opcode[4] = {prefixes[prefix], 0x0f, (uint8_t)code};
            const unsigned map = code >> 8;
            if (map != 0)
                memcpy(&opcode[2], (const uint8_t[]){map == 1 ? 0x38 : 0x3a, (uint8_t)code}, 2);
            compare_forms(of, prefix == 0 ? opcode + 1 : opcode, (map != 0 ? 4u : 3u) - (prefix == 0));
        }
    }
}

/* Three bytes of VEX: maps 1 to 3, W, L, pp. */
static void compare_vex(struct compared *of)
{
    for (unsigned code = 0; code < 0x100; code++)
        for (unsigned map = 1; map <= 3; map++)
            for (unsigned last = 0; last < 16; last++) {
                const uint8_t third = (uint8_t)((last & 8) << 4 | 0x68 | (last & 7));
                compare_forms(of, (const uint8_t[]){0xc4, (uint8_t)(0xe0 | map), third, (uint8_t)code}, 4);
            }
}

static void compare_x87(struct compared *of)
{
    for (unsigned code = 0xd8; code <= 0xdf; code++)
        for (unsigned form = 0; form < 0x100; form++)
            compare(of, (const uint8_t[LENGTH]){(uint8_t)code, (uint8_t)form});
}

static void test_every_opcode_beside_its_twin(void **state)
{
    struct compared of = {0};
    (void)state;
    assert_int_equal(CS_ERR_OK, cs_open(CS_ARCH_X86, CS_MODE_64, &of.capstone));
    compare_legacy(&of);
    compare_vex(&of);
    compare_x87(&of);
    cs_close(&of.capstone);
    assert_in_range(of.both, 10000, 100000);
    assert_in_range(of.computing, 1000, 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_every_opcode_beside_its_twin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
