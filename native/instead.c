/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Instructions amid a block that are not the host's to execute: approximations, of which processors of different
 *   makers have different ones (here the rounded quotient, and that of the rounded root), and PUSHF, which would show
 *   the host's flags.
 * Source
 *   Intel SDM volume 2, RCPPS, RSQRTPS, PUSHF; interpret/forms.c for what is given in their place.
 */
#include <string.h>

#include "native/native_priv.h"

enum { LANES = 4, RSP = 4 };

static bool is_root(ZydisMnemonic m) { return m == ZYDIS_MNEMONIC_RSQRTPS || m == ZYDIS_MNEMONIC_RSQRTSS; }
static bool is_scalar(ZydisMnemonic m) { return m == ZYDIS_MNEMONIC_RCPSS || m == ZYDIS_MNEMONIC_RSQRTSS; }

/* By the host's division and square root, in the guest's rounding; they raise no flag. */
static void approximate(struct native *n, ZydisMnemonic m, float out[LANES], const float in[LANES])
{
    enum { FLAGS = 0x3f, MASKS = FLAGS << 7 };
    const float ones[LANES] = {1, 1, 1, 1};
    const uint32_t guest = (native_get_mxcsr(n) & ~(uint32_t)FLAGS) | MASKS;
    uint32_t host;
    __asm__ volatile(
        "stmxcsr %[host]\n\tldmxcsr %[guest]\n\tmovups %[in], %%xmm1\n\tmovups %[ones], %%xmm0\n\t"
        "test %[root], %[root]\n\tjz 1f\n\tsqrtps %%xmm1, %%xmm1\n1:\tdivps %%xmm1, %%xmm0\n\t"
        "movups %%xmm0, %[out]\n\tldmxcsr %[host]"
        : [host] "=m"(host), [out] "=m"(*(float(*)[LANES])out)
        : [guest] "m"(guest), [in] "m"(*(const float(*)[LANES])in), [ones] "m"(ones), [root] "r"((int)is_root(m))
        : "xmm0", "xmm1", "cc");
}

static unsigned xmm_of(const ZydisDecodedOperand *operand) { return (unsigned)ZydisRegisterGetId(operand->reg.value); }

static bool do_approximation(struct native *n, const struct decode_insn *insn, uint64_t pc, struct engine_event *event)
{
    const ZydisMnemonic m = insn->insn.mnemonic;
    float from[LANES] = {1, 1, 1, 1}, to[LANES], result[LANES];
    uint64_t address;
    if (insn->operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER) {
        n->cpu.get_xmm(n, xmm_of(&insn->operands[1]), (uint8_t *)from);
    } else {
        if (native_first_failure(n, insn, event))
            return false;
        interpret_address(&address, &n->cpu, (struct guest_va){pc}, &insn->insn, &insn->operands[1]);
        memcpy(from, (const void *)(uintptr_t)address, insn->operands[1].size / 8);
    }
    approximate(n, m, result, from);
    n->cpu.get_xmm(n, xmm_of(&insn->operands[0]), (uint8_t *)to);
    memcpy(to, result, is_scalar(m) ? sizeof(float) : sizeof to);
    n->cpu.set_xmm(n, xmm_of(&insn->operands[0]), (const uint8_t *)to);
    return true;
}

static bool do_push_flags(struct native *n, const struct decode_insn *insn, struct engine_event *event)
{
    enum { SHOWN = 0xfcffff }; /* not RF, VM */
    const uint64_t bytes = insn->insn.operand_width / 8, flags = native_get_flags(n) & SHOWN;
    const uint64_t address = n->context->gpr[RSP] - bytes;
    if (native_first_failure(n, insn, event))
        return false;
    memcpy((void *)(uintptr_t)address, &flags, bytes);
    n->context->gpr[RSP] = address;
    return true;
}

bool native_do(struct native *n, const struct decode_insn *insn, uint64_t pc, struct engine_event *event)
{
    switch (insn->insn.mnemonic) {
    case ZYDIS_MNEMONIC_PUSHF:
    case ZYDIS_MNEMONIC_PUSHFQ:
        return do_push_flags(n, insn, event);
    default:
        return do_approximation(n, insn, pc, event);
    }
}
