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

#include "findings/findings_priv.h"
#include "loader/capstone.h"

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

struct decoder {
    csh capstone;
    cs_insn *insn;
    struct loader_code *code;
    const char *path;
};

static bool open_decoder(struct decoder *decoder, struct loader_symbols *symbols)
{
    *decoder = (struct decoder){.insn = NULL};
    if (loader_capstone(&decoder->capstone, symbols, NULL) == C2_OK)
        decoder->insn = cs_malloc(decoder->capstone);
    return decoder->insn;
}

static void close_decoder(struct decoder *decoder)
{
    loader_code_close(decoder->code);
    if (decoder->insn)
        cs_free(decoder->insn, 1);
}

/* The instruction at pc; false: its code is in no file, or none. */
static bool chase_decode(struct decoder *decoder, struct loader_symbols *symbols, struct guest_va pc)
{
    uint8_t bytes[LOADER_LONGEST_INSN];
    const char *path;
    uint64_t address;
    struct c2_error unread;
    if (!loader_linked_of(symbols, pc, &path, &address))
        return false;
    if (!decoder->path || strcmp(decoder->path, path) != 0) {
        loader_code_close(decoder->code);
        decoder->code = NULL;
        decoder->path = path;
        if (loader_code_open(&decoder->code, path, &unread) != C2_OK)
            decoder->code = NULL;
    }
    if (!decoder->code)
        return false;
    size_t count = loader_code_read(decoder->code, address, bytes, sizeof bytes);
    const uint8_t *at = bytes;
    return cs_disasm_iter(decoder->capstone, &at, &count, &address, decoder->insn);
}

/* The number of the register that this one is a part of; REGISTERS: it is none for addresses and whole numbers. */
static unsigned chase_number_of(x86_reg reg) { return loader_capstone_register(reg, true); }

/* The registers of the memory operand, as bits; 0: it has none. *reads: it is read. */
static unsigned chase_address_of(const cs_insn *insn, bool *reads)
{
    const cs_x86 *x86 = &insn->detail->x86;
    unsigned bits = 0;
    *reads = false;
    for (unsigned i = 0; i < x86->op_count; i++) {
        const cs_x86_op *op = &x86->operands[i];
        if (op->type != X86_OP_MEM)
            continue;
        const unsigned base = chase_number_of(op->mem.base), index = chase_number_of(op->mem.index);
        bits |= (base < REGISTERS ? 1u << base : 0) | (index < REGISTERS ? 1u << index : 0);
        *reads |= insn->id != X86_INS_LEA && (op->access & CS_AC_READ) != 0;
    }
    return bits;
}

static unsigned chase_bits_of(const uint16_t *regs, uint8_t count)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < count; i++) {
        const unsigned number = chase_number_of((x86_reg)regs[i]);
        bits |= number < REGISTERS ? 1u << number : 0;
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
static bool clears(const cs_insn *insn)
{
    const cs_x86_op *op = insn->detail->x86.operands;
    const bool same = insn->detail->x86.op_count == 2 && op[0].type == X86_OP_REG && op[1].type == X86_OP_REG &&
                      op[0].reg == op[1].reg;
    return same && (insn->id == X86_INS_XOR || insn->id == X86_INS_SUB);
}

static void chase_pass(struct flow *flow, const struct decoder *decoder, bool asked)
{
    cs_regs read, written;
    uint8_t read_count, written_count;
    bool loads;
    const cs_insn *insn = decoder->insn;
    if (cs_regs_access(decoder->capstone, insn, read, &read_count, written, &written_count) != CS_ERR_OK)
        return;
    const uint64_t address = sources(flow, chase_address_of(insn, &loads));
    uint64_t result = clears(insn) ? 0 : sources(flow, chase_bits_of(read, read_count));
    flow->address |= asked ? address : 0;
    if (loads) {
        const uint64_t load = UINT64_C(1) << (flow->loads < LOADS ? flow->loads : LOADS - 1);
        flow->loads++;
        flow->chasing |= address & load;
        result |= load;
    }
    const unsigned to = chase_bits_of(written, written_count);
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
static void pass_all(struct flow *flow, struct decoder *decoder, const struct findings_input *input, uint32_t insn,
                     uint32_t loop, struct guest_va function)
{
    flow->loads = 0;
    for (size_t i = 0; i < input->profile->insn_count; i++)
        if (concerns(input, (uint32_t)i, loop, function) &&
            chase_decode(decoder, input->symbols, input->profile->insns[i].pc))
            chase_pass(flow, decoder, i == insn);
}

static bool chase_follow(struct decoder *decoder, const struct findings_input *input, uint32_t insn, uint32_t loop)
{
    struct flow flow = {.loads = 0}, before;
    struct guest_va function = {0};
    if (loop == ANALYSES_NO_LOOP) {
        if (!loader_function_entry(input->symbols, input->profile->insns[insn].pc, &function))
            return false;
        pass_all(&flow, decoder, input, insn, loop, function);
        return flow.address != 0;
    }
    unsigned round = 0;
    do {
        before = flow;
        pass_all(&flow, decoder, input, insn, loop, function);
    } while (++round < ROUNDS &&
             (memcmp(before.from, flow.from, sizeof flow.from) != 0 || before.chasing != flow.chasing));
    return (flow.address & flow.chasing) != 0;
}

bool findings_chases(const struct findings_input *input, uint32_t insn, uint32_t loop)
{
    struct decoder decoder = {.path = NULL};
    const bool found = input->symbols && input->excerpts && open_decoder(&decoder, input->symbols) &&
                       chase_follow(&decoder, input, insn, loop);
    close_decoder(&decoder);
    return found;
}
