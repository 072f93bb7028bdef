/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * chase: whether the addresses of an instruction come from the loads before them.
 *
 * Model
 *   The instructions of a loop that ran are read from the program's file and followed in the order of their addresses,
 *   round after round until nothing changes: each register holds what the loads are that it was computed from, and a
 *   load's result comes from the load and from all that its address comes from. A load whose address comes from itself,
 *   a round before, chases pointers: p = p->next, i = next[i]. So does an instruction whose address comes from such a
 *   load. Outside of loops - the walk is in the loop of a caller - it is enough that the address comes from a load.
 *
 * Not modelled
 *   Branches within a loop: the last of several instructions that write a register counts. Ways through memory (a
 *   pointer that is kept on the stack), and through functions that are called. Of more than LOADS loads the further
 *   ones are taken for one.
 */
#include <string.h>

#include "findings/code.h"

#define REGISTERS 16u
#define STACK_POINTER 4u

#define LOADS 64u
#define ROUNDS (2 * REGISTERS) /* a way through all registers takes fewer; exchanges might never end */

/* Loads are bits, by their order in the code. */
struct flow {
    uint64_t from[REGISTERS]; /* what each register comes from */
    uint64_t chasing;         /* loads whose address comes from themselves */
    uint64_t address;         /* what the address of the instruction that is asked about comes from */
    unsigned loads;           /* so far in this round */
};

/* The register, or the one that it is a part of, as a bit; 0: it is none for addresses and whole numbers. */
static unsigned chase_bit_of(ZydisRegister reg)
{
    const unsigned number = loader_zydis_register(reg, true);
    return number < REGISTERS ? 1u << number : 0;
}

/* An operand in memory that the code names; the stack of a push or return is none. */
static bool is_named_memory(const ZydisDecodedOperand *op)
{
    const bool stack = op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
                       (op->mem.base == ZYDIS_REGISTER_RSP || op->mem.base == ZYDIS_REGISTER_RBP);
    return op->type == ZYDIS_OPERAND_TYPE_MEMORY && !stack;
}

/* The registers of the memory operand, as bits; 0: it has none. *reads: it is read. */
static unsigned chase_address_of(const struct findings_code *code, bool *reads)
{
    unsigned bits = 0;
    *reads = false;
    for (unsigned i = 0; i < code->insn.operand_count; i++) {
        const ZydisDecodedOperand *op = &code->op[i];
        if (!is_named_memory(op))
            continue;
        bits |= chase_bit_of(op->mem.base) | chase_bit_of(op->mem.index);
        *reads |= op->mem.type == ZYDIS_MEMOP_TYPE_MEM && (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0 &&
                  code->insn.mnemonic != ZYDIS_MNEMONIC_NOP;
    }
    return bits;
}

/* Registers that the instruction reads or writes, as these actions have it. */
static unsigned chase_bits_of(const struct findings_code *code, ZydisOperandActions actions)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < code->insn.operand_count; i++) {
        const ZydisDecodedOperand *op = &code->op[i];
        if (op->type == ZYDIS_OPERAND_TYPE_REGISTER && (op->actions & actions) != 0)
            bits |= chase_bit_of(op->reg.value);
    }
    return bits;
}

static uint64_t sources(const struct flow *flow, unsigned registers)
{
    uint64_t loads = 0;
    for (unsigned i = 0; i < REGISTERS; i++)
        loads |= registers >> i & 1 ? flow->from[i] : 0;
    return loads;
}

/* What sets a register to nought reads it in name only. */
static bool clears(const struct findings_code *code)
{
    const ZydisDecodedOperand *op = code->op;
    const bool arithmetic = code->insn.mnemonic == ZYDIS_MNEMONIC_XOR || code->insn.mnemonic == ZYDIS_MNEMONIC_SUB;
    return arithmetic && op[0].type == ZYDIS_OPERAND_TYPE_REGISTER && op[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           op[0].reg.value == op[1].reg.value;
}

static void chase_pass(struct flow *flow, const struct findings_code *code, bool asked)
{
    bool loads;
    const unsigned places = chase_address_of(code, &loads);
    const uint64_t address = sources(flow, places);
    const unsigned read = chase_bits_of(code, ZYDIS_OPERAND_ACTION_MASK_READ) | places;
    uint64_t result = clears(code) ? 0 : sources(flow, read);
    flow->address |= asked ? address : 0;
    if (loads) {
        const uint64_t load = UINT64_C(1) << (flow->loads < LOADS ? flow->loads : LOADS - 1);
        flow->loads++;
        flow->chasing |= address & load;
        result |= load;
    }
    const unsigned to = chase_bits_of(code, ZYDIS_OPERAND_ACTION_MASK_WRITE);
    for (unsigned i = 0; i < REGISTERS; i++)
        if ((to >> i & 1) != 0 && i != STACK_POINTER)
            flow->from[i] = result;
}

/* Whether the instruction is one of the code that is looked at. */
static bool concerns(const struct findings_input *input, uint32_t insn, uint32_t loop, struct guest_va function)
{
    struct guest_va entry;
    if (loop != ANALYSES_NO_LOOP)
        return analyses_loop_within(&input->excerpts->loops, input->excerpts->loops.loop_of[insn], loop);
    return loader_function_entry(input->symbols, input->profile->insns[insn].pc, &entry) && entry.v == function.v;
}

/* All of the code once. */
static void pass_all(struct flow *flow, struct findings_code *code, const struct findings_input *input, uint32_t insn,
                     uint32_t loop, struct guest_va function)
{
    flow->loads = 0;
    for (size_t i = 0; i < input->profile->insn_count; i++)
        if (concerns(input, (uint32_t)i, loop, function) &&
            findings_code_decode(code, input->symbols, input->profile->insns[i].pc))
            chase_pass(flow, code, i == insn);
}

static bool chase_follow(struct findings_code *code, const struct findings_input *input, uint32_t insn, uint32_t loop)
{
    struct flow flow = {.loads = 0}, before;
    struct guest_va function = {0};
    if (loop == ANALYSES_NO_LOOP) {
        if (!loader_function_entry(input->symbols, input->profile->insns[insn].pc, &function))
            return false;
        pass_all(&flow, code, input, insn, loop, function);
        return flow.address != 0;
    }
    unsigned round = 0;
    do {
        before = flow;
        pass_all(&flow, code, input, insn, loop, function);
    } while (++round < ROUNDS &&
             (memcmp(before.from, flow.from, sizeof flow.from) != 0 || before.chasing != flow.chasing));
    return (flow.address & flow.chasing) != 0;
}

bool findings_chases(const struct findings_input *input, uint32_t insn, uint32_t loop)
{
    struct findings_code code;
    if (!input->symbols || !input->excerpts)
        return false;
    findings_code_open(&code);
    const bool found = chase_follow(&code, input, insn, loop);
    findings_code_close(&code);
    return found;
}
