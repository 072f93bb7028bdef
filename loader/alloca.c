/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where a function moves RSP by what it has computed: alloca and variable-length arrays.
 *
 * Model
 *   A function has such places if one of its instructions is `sub REGISTER, %rsp` or `mov REGISTER, %rsp` (not RBP,
 *   which every function with a frame pointer restores). Then each instruction that gives RSP what is not RSP plus a
 *   constant is one: what makes an array, and what takes it away. What takes RSP back to RBP is the function's end.
 *   Compilers that touch each page of an array (-fstack-clash-protection) move RSP down in steps of a page, in a loop
 *   that compares it with where it is to go, and then by what is left: the loop's step is a place before.
 * Cost
 *   The bytes of a function are searched for the two instructions; only where they may be is it decoded.
 * Not modelled
 *   Arrays of whole pages that are made by the loop alone, as gcc's -fstack-clash-protection may do where it knows that
 *   nothing is left; alloca of a constant size, which optimising compilers make a part of the frame; functions without
 *   a size in the symbol table.
 */
#include <capstone/capstone.h>

#include "loader/symbols_priv.h"

#define FUNCTION_BYTES (1u << 20)
#define PAGE_STEP 4096
#define LOOP_INSNS 3u  /* from the comparison to the step */
#define REST_INSNS 12u /* from there to the step by what is left */

struct scan {
    struct loader_change *changes;
    uint32_t count, room;
    uint64_t entry;
    unsigned compared; /* instructions since RSP was compared with a register */
    uint64_t step;     /* the step of a loop over pages; 0: no longer */
    unsigned since;    /* instructions */
};

/* ------------------------------------------------------------------ whether there are any */

/* REX.W, opcode, ModRM of registers only. */
static bool may_move(const uint8_t *code)
{
    const bool from_reg = (code[0] & 0xfb) == 0x48 && (code[1] == 0x29 || code[1] == 0x89) && (code[2] & 0xc7) == 0xc4;
    const bool to_rsp = (code[0] & 0xfe) == 0x48 && (code[1] == 0x2b || code[1] == 0x8b) && (code[2] & 0xf8) == 0xe0;
    const bool from_rbp = (code[0] == 0x48 && code[1] == 0x89 && code[2] == 0xec) ||
                          (code[0] == 0x48 && code[1] == 0x8b && code[2] == 0xe5);
    return (from_reg || to_rsp) && !from_rbp;
}

static bool may_have_changes(const uint8_t *code, size_t bytes)
{
    for (size_t i = 0; i + 3 <= bytes; i++)
        if (may_move(code + i))
            return true;
    return false;
}

/* ------------------------------------------------------------------ which */

static enum c2_status alloca_add(struct scan *scan, uint64_t address, bool behind, struct c2_error *err)
{
    const uint64_t offset = address - scan->entry;
    if (scan->count == 0 || scan->changes[scan->count - 1].offset != offset) {
        if (!c2_grow((void **)&scan->changes, &scan->room, scan->count, sizeof *scan->changes))
            return c2_fail_memory(err, "variables on the stack");
        scan->changes[scan->count++] = (struct loader_change){.offset = offset};
    }
    struct loader_change *change = &scan->changes[scan->count - 1];
    *(behind ? &change->behind : &change->before) = true;
    return C2_OK;
}

static bool is_rsp(const cs_x86_op *op) { return op->type == X86_OP_REG && op->reg == X86_REG_RSP; }

/* Loops over the pages of the frame itself compare behind the step only. */
static bool compares(const cs_insn *insn)
{
    const cs_x86_op *op = insn->detail->x86.operands;
    return insn->id == X86_INS_CMP && op[0].type == X86_OP_REG && op[1].type == X86_OP_REG &&
           is_rsp(&op[0]) != is_rsp(&op[1]);
}

static bool is_step(const struct scan *scan, const cs_insn *insn)
{
    const cs_x86_op *op = insn->detail->x86.operands;
    return insn->id == X86_INS_SUB && is_rsp(&op[0]) && op[1].type == X86_OP_IMM && op[1].imm == PAGE_STEP &&
           scan->compared <= LOOP_INSNS;
}

static bool moves(const struct scan *scan, const cs_insn *insn)
{
    const cs_x86_op *op = insn->detail->x86.operands;
    if (insn->detail->x86.op_count != 2 || !is_rsp(&op[0]))
        return false;
    switch (insn->id) {
    case X86_INS_SUB:
        return op[1].type != X86_OP_IMM || scan->step;
    case X86_INS_ADD:
        return op[1].type != X86_OP_IMM;
    case X86_INS_MOV:
        return op[1].type != X86_OP_REG || op[1].reg != X86_REG_RBP;
    case X86_INS_LEA:
        return (op[1].mem.base != X86_REG_RSP && op[1].mem.base != X86_REG_RBP) || op[1].mem.index != X86_REG_INVALID;
    default:
        return false;
    }
}

static enum c2_status alloca_add_move(struct scan *scan, const cs_insn *insn, struct c2_error *err)
{
    enum c2_status status = scan->step ? alloca_add(scan, scan->step, false, err) : C2_OK;
    scan->step = 0;
    if (status == C2_OK)
        status = alloca_add(scan, insn->address, false, err);
    return status == C2_OK ? alloca_add(scan, insn->address + insn->size, true, err) : status;
}

static enum c2_status alloca_look(struct scan *scan, const cs_insn *insn, struct c2_error *err)
{
    scan->compared = compares(insn) ? 0 : scan->compared + 1;
    if (scan->step && ++scan->since > REST_INSNS)
        scan->step = 0;
    if (is_step(scan, insn)) {
        scan->step = insn->address;
        scan->since = 0;
        return C2_OK;
    }
    return moves(scan, insn) ? alloca_add_move(scan, insn, err) : C2_OK;
}

static enum c2_status scan_code(struct scan *scan, csh capstone, const uint8_t *code, size_t bytes,
                                struct c2_error *err)
{
    uint64_t address = scan->entry;
    enum c2_status status = C2_OK;
    cs_insn *insn = capstone != 0 ? cs_malloc(capstone) : NULL;
    while (insn && status == C2_OK && cs_disasm_iter(capstone, &code, &bytes, &address, insn))
        status = alloca_look(scan, insn, err);
    if (insn)
        cs_free(insn, 1);
    return status;
}

enum c2_status loader_changes_read(struct loader_change **out, uint32_t *count, struct loader_symbols *symbols,
                                   const struct loader_module *module, uint64_t entry, uint64_t bytes,
                                   struct c2_error *err)
{
    struct scan scan = {.entry = entry, .compared = LOOP_INSNS + 1};
    const size_t wanted = bytes < FUNCTION_BYTES ? bytes : FUNCTION_BYTES;
    uint8_t *code = c2_alloc(wanted ? wanted : 1);
    if (!code)
        return c2_fail_memory(err, "variables on the stack");
    const size_t read = loader_module_code(module, entry, code, wanted);
    enum c2_status status = C2_OK;
    if (may_have_changes(code, read))
        status = scan_code(&scan, loader_capstone(symbols), code, read, err);
    c2_free(code);
    *out = scan.changes;
    *count = scan.count;
    return status;
}
