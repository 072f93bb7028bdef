/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * chase: whether the addresses of an instruction come from the loads before them.
 *
 * Model
 *   The instructions of a loop that ran are read from the program's file. From register to register there is a way
 *   where an instruction computes the second from the first, and a load where it loads the second from an address with
 *   the first in it. An instruction chases pointers when a register of its address comes from one that comes from
 *   itself by a way with a load in it: p = p->next, i = next[i]. Which of several instructions has written a register
 *   last is not followed: a register that a loop uses for two things may join their ways.
 *   Outside of loops - the walk is in the loop of a caller - it is enough that the address comes from a load.
 *
 * Not modelled
 *   Ways through memory (a pointer that is kept on the stack), and through functions that are called.
 */
#include <string.h>

#include <capstone/capstone.h>

#include "findings/findings_priv.h"

#define REGISTERS 16u
#define STACK_POINTER 4u

struct ways {
    bool plain[REGISTERS][REGISTERS]; /* [from][to], without a load */
    bool load[REGISTERS][REGISTERS];  /* with at least one */
};

struct decoder {
    csh capstone;
    cs_insn *insn;
    struct loader_code *code;
    const char *path;
};

static enum c2_status open_decoder(struct decoder *decoder)
{
    *decoder = (struct decoder){.path = NULL};
    if (cs_open(CS_ARCH_X86, CS_MODE_64, &decoder->capstone) != CS_ERR_OK)
        return C2_ERR_NO_MEMORY;
    cs_option(decoder->capstone, CS_OPT_DETAIL, CS_OPT_ON);
    decoder->insn = cs_malloc(decoder->capstone);
    return decoder->insn ? C2_OK : C2_ERR_NO_MEMORY;
}

static void close_decoder(struct decoder *decoder)
{
    loader_code_close(decoder->code);
    if (decoder->insn)
        cs_free(decoder->insn, 1);
    if (decoder->capstone != 0)
        cs_close(&decoder->capstone);
}

/* The instruction at pc; false: its code is in no file, or none. */
static bool decode(struct decoder *decoder, struct loader_symbols *symbols, struct guest_va pc)
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
static unsigned number_of(x86_reg reg)
{
    static const x86_reg names[REGISTERS][5] = {
        {X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH},
        {X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH},
        {X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH},
        {X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH},
        {X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL},
        {X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL},
        {X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL},
        {X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL},
        {X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B},
        {X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B},
        {X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B},
        {X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B},
        {X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B},
        {X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B},
        {X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B},
        {X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B},
    };
    for (unsigned i = 0; i < REGISTERS; i++)
        for (unsigned k = 0; k < 5; k++)
            if (reg != X86_REG_INVALID && names[i][k] == reg)
                return i;
    return REGISTERS;
}

/* The registers of the memory operand, as bits; 0: it has none. *reads: it is read. */
static unsigned address_of(const cs_insn *insn, bool *reads)
{
    const cs_x86 *x86 = &insn->detail->x86;
    unsigned bits = 0;
    *reads = false;
    for (unsigned i = 0; i < x86->op_count; i++) {
        const cs_x86_op *op = &x86->operands[i];
        if (op->type != X86_OP_MEM)
            continue;
        const unsigned base = number_of(op->mem.base), index = number_of(op->mem.index);
        bits |= (base < REGISTERS ? 1u << base : 0) | (index < REGISTERS ? 1u << index : 0);
        *reads |= insn->id != X86_INS_LEA && (op->access & CS_AC_READ) != 0;
    }
    return bits;
}

static unsigned bits_of(const uint16_t *regs, uint8_t count)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < count; i++) {
        const unsigned number = number_of((x86_reg)regs[i]);
        bits |= number < REGISTERS ? 1u << number : 0;
    }
    return bits;
}

static void add_ways(struct ways *ways, const struct decoder *decoder)
{
    cs_regs read, written;
    uint8_t read_count, written_count;
    bool loads;
    const cs_insn *insn = decoder->insn;
    if (cs_regs_access(decoder->capstone, insn, read, &read_count, written, &written_count) != CS_ERR_OK)
        return;
    const unsigned address = address_of(insn, &loads), to = bits_of(written, written_count);
    const unsigned from = bits_of(read, read_count);
    for (unsigned i = 0; i < REGISTERS; i++) {
        const bool loaded = loads && (address >> i & 1) != 0;
        for (unsigned k = 0; k < REGISTERS; k++) {
            if (k == STACK_POINTER || (to >> k & 1) == 0)
                continue;
            ways->load[i][k] |= loaded;
            ways->plain[i][k] |= (from >> i & 1) != 0 && !loaded;
        }
    }
}

/* Ways over one further register, until there are none more. */
static void close_ways(struct ways *ways)
{
    for (unsigned via = 0; via < REGISTERS; via++)
        for (unsigned i = 0; i < REGISTERS; i++)
            for (unsigned k = 0; k < REGISTERS; k++) {
                const bool first = ways->plain[i][via], second = ways->plain[via][k];
                ways->load[i][k] |= (ways->load[i][via] && (second || ways->load[via][k])) ||
                                    (first && ways->load[via][k]);
                ways->plain[i][k] |= first && second;
            }
}

static bool is_around(const struct analyses_loops_result *loops, uint32_t loop, uint32_t inner)
{
    while (inner != ANALYSES_NO_LOOP && inner != loop)
        inner = loops->loops[inner].parent;
    return inner == loop;
}

/* Whether the instruction is one of the code that is looked at. */
static bool concerns(const struct findings_input *input, uint32_t insn, uint32_t loop, struct guest_va function)
{
    struct guest_va entry;
    if (loop != ANALYSES_NO_LOOP)
        return is_around(&input->excerpts->loops, loop, input->excerpts->loops.loop_of[insn]);
    return loader_function_entry(input->symbols, input->profile->insns[insn].pc, &entry) && entry.v == function.v;
}

static void collect_ways(struct ways *ways, struct decoder *decoder, const struct findings_input *input, uint32_t insn,
                         uint32_t loop)
{
    struct guest_va function = {0};
    if (loop == ANALYSES_NO_LOOP && !loader_function_entry(input->symbols, input->profile->insns[insn].pc, &function))
        return;
    for (size_t i = 0; i < input->profile->insn_count; i++)
        if (concerns(input, (uint32_t)i, loop, function) &&
            decode(decoder, input->symbols, input->profile->insns[i].pc))
            add_ways(ways, decoder);
    close_ways(ways);
}

static bool comes_from_loads(const struct ways *ways, unsigned address, bool in_loop)
{
    for (unsigned reg = 0; reg < REGISTERS; reg++) {
        for (unsigned from = 0; from < REGISTERS && (address >> reg & 1) != 0; from++) {
            const bool leads = from == reg || ways->plain[from][reg] || ways->load[from][reg];
            if (in_loop ? ways->load[from][from] && leads : ways->load[from][reg])
                return true;
        }
    }
    return false;
}

bool findings_chases(const struct findings_input *input, uint32_t insn, uint32_t loop)
{
    struct ways *ways = c2_calloc(1, sizeof *ways);
    struct decoder decoder = {.path = NULL};
    bool found = false, reads;
    if (ways && input->symbols && input->excerpts && open_decoder(&decoder) == C2_OK) {
        collect_ways(ways, &decoder, input, insn, loop);
        if (decode(&decoder, input->symbols, input->profile->insns[insn].pc))
            found = comes_from_loads(ways, address_of(decoder.insn, &reads), loop != ANALYSES_NO_LOOP);
    }
    close_decoder(&decoder);
    c2_free(ways);
    return found;
}
