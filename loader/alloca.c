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
 *   The bytes of a function are searched for the two instructions; only where they may be is it decoded, up to the last
 *   bytes that may be such a place, and of its instructions only those that may be one have their operands decoded.
 * Not modelled
 *   Arrays of whole pages that are made by the loop alone, as gcc's -fstack-clash-protection may do where it knows that
 *   nothing is left; alloca of a constant size, which optimising compilers make a part of the frame; functions without
 *   a size in the symbol table.
 */
#include <Zydis/Zydis.h>

#include "loader/symbols_priv.h"

#define FUNCTION_BYTES (1u << 20)
#define PAGE_STEP 4096
#define LOOP_INSNS 3u  /* from the comparison to the step */
#define REST_INSNS 12u /* from there to the step by what is left */
#define VISIBLE 2u     /* operands in the text of an instruction that may be such a place */

struct scan {
    struct loader_change *changes;
    uint32_t count, room;
    uint64_t entry;
    unsigned compared; /* instructions since RSP was compared with a register */
    uint64_t step;     /* the step of a loop over pages; 0: no longer */
    unsigned since;    /* instructions */
};

struct decoded {
    uint64_t address;
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand op[VISIBLE]; /* of one that may matter; else of another */
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

/* The bits of REX that matter where ModRM has RSP for a register, in each of its two fields: W, and R or B. */
static bool names_rsp(const uint8_t *code, bool in_reg)
{
    const uint8_t rex = code[0], modrm = code[2];
    return in_reg ? (rex & 0xfc) == 0x48 && (modrm & 0x38) == 0x20 : (rex & 0xf9) == 0x48 && (modrm & 0xc7) == 0xc4;
}

/* Whether an instruction that gives RSP something, moves() below, may have its last prefix, or 0f, here. */
static bool may_set(const uint8_t *code)
{
    switch (code[1]) {
    case 0x03: /* add, sub, mov and lea to a register */
    case 0x2b:
    case 0x8b:
    case 0x8d:
        return names_rsp(code, true);
    case 0x01: /* add, sub, mov from one, and with immediates; mov from a segment register */
    case 0x29:
    case 0x81:
    case 0x83:
    case 0x89:
    case 0x8c:
    case 0xc7:
        return names_rsp(code, false);
    case 0xbc: /* mov of 64 bits */
        return (code[0] & 0xf9) == 0x48;
    case 0x20: /* mov from a control or debug register */
    case 0x21:
        return code[0] == 0x0f;
    default:
        return false;
    }
}

/* How many bytes there are before the last of them: no instruction that begins behind these is one. */
static size_t alloca_ends(const uint8_t *code, size_t bytes)
{
    size_t end = bytes >= 3 ? bytes - 2 : 0;
    while (end > 0 && !may_set(code + end - 1))
        end--;
    return end;
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

static bool is_reg(const ZydisDecodedOperand *op) { return op->type == ZYDIS_OPERAND_TYPE_REGISTER; }
static bool is_imm(const ZydisDecodedOperand *op) { return op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE; }
static bool is_rsp(const ZydisDecodedOperand *op) { return is_reg(op) && op->reg.value == ZYDIS_REGISTER_RSP; }

/* Those that the functions below look at; each has two operands in the text. */
static bool may_matter(ZydisMnemonic mnemonic)
{
    return mnemonic == ZYDIS_MNEMONIC_CMP || mnemonic == ZYDIS_MNEMONIC_SUB || mnemonic == ZYDIS_MNEMONIC_ADD ||
           mnemonic == ZYDIS_MNEMONIC_MOV || mnemonic == ZYDIS_MNEMONIC_LEA;
}

/* Loops over the pages of the frame itself compare behind the step only. */
static bool compares(const struct decoded *at)
{
    const ZydisDecodedOperand *op = at->op;
    return at->insn.mnemonic == ZYDIS_MNEMONIC_CMP && is_reg(&op[0]) && is_reg(&op[1]) &&
           is_rsp(&op[0]) != is_rsp(&op[1]);
}

static bool is_step(const struct scan *scan, const struct decoded *at)
{
    const ZydisDecodedOperand *op = at->op;
    return at->insn.mnemonic == ZYDIS_MNEMONIC_SUB && is_rsp(&op[0]) && is_imm(&op[1]) &&
           op[1].imm.value.s == PAGE_STEP && scan->compared <= LOOP_INSNS;
}

static bool is_frame_register(ZydisRegister reg) { return reg == ZYDIS_REGISTER_RSP || reg == ZYDIS_REGISTER_RBP; }

static bool moves(const struct scan *scan, const struct decoded *at)
{
    const ZydisDecodedOperand *op = at->op;
    if (!is_rsp(&op[0]))
        return false;
    switch (at->insn.mnemonic) {
    case ZYDIS_MNEMONIC_SUB:
        return !is_imm(&op[1]) || scan->step;
    case ZYDIS_MNEMONIC_ADD:
        return !is_imm(&op[1]);
    case ZYDIS_MNEMONIC_MOV:
        return !is_reg(&op[1]) || op[1].reg.value != ZYDIS_REGISTER_RBP;
    case ZYDIS_MNEMONIC_LEA:
        return !is_frame_register(op[1].mem.base) || op[1].mem.index != ZYDIS_REGISTER_NONE;
    default:
        return false;
    }
}

static enum c2_status alloca_add_move(struct scan *scan, const struct decoded *at, struct c2_error *err)
{
    enum c2_status status = scan->step ? alloca_add(scan, scan->step, false, err) : C2_OK;
    scan->step = 0;
    if (status == C2_OK)
        status = alloca_add(scan, at->address, false, err);
    return status == C2_OK ? alloca_add(scan, at->address + at->insn.length, true, err) : status;
}

static enum c2_status alloca_look(struct scan *scan, const struct decoded *at, struct c2_error *err)
{
    const bool matters = may_matter(at->insn.mnemonic);
    scan->compared = matters && compares(at) ? 0 : scan->compared + 1;
    if (scan->step && ++scan->since > REST_INSNS)
        scan->step = 0;
    if (matters && is_step(scan, at)) {
        scan->step = at->address;
        scan->since = 0;
        return C2_OK;
    }
    return matters && moves(scan, at) ? alloca_add_move(scan, at, err) : C2_OK;
}

/* The operands of those that may matter only. false: it is no instruction, or not whole. */
static bool alloca_decode(struct decoded *out, const ZydisDecoder *decoder, const uint8_t *code, size_t bytes)
{
    ZydisDecoderContext context;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder, &context, code, bytes, &out->insn)))
        return false;
    if (!may_matter(out->insn.mnemonic))
        return true;
    C2_ASSERT(out->insn.operand_count_visible == VISIBLE);
    return ZYAN_SUCCESS(ZydisDecoderDecodeOperands(decoder, &context, &out->insn, out->op, VISIBLE));
}

/* Up to the first bytes that are no instruction, or the last that may be a place. */
static enum c2_status scan_code(struct scan *scan, const uint8_t *code, size_t bytes, struct c2_error *err)
{
    ZydisDecoder decoder;
    struct decoded at;
    enum c2_status status = C2_OK;
    const size_t end = SHORTCUT(true) ? alloca_ends(code, bytes) : bytes;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    for (size_t done = 0; done < end && status == C2_OK; done += at.insn.length) {
        if (!alloca_decode(&at, &decoder, code + done, bytes - done))
            break;
        at.address = scan->entry + done;
        status = alloca_look(scan, &at, err);
    }
    return status;
}

enum c2_status loader_changes_read(struct loader_change **out, uint32_t *count, const struct loader_module *module,
                                   uint64_t entry, uint64_t bytes, struct c2_error *err)
{
    struct scan scan = {.entry = entry, .compared = LOOP_INSNS + 1};
    const size_t wanted = bytes < FUNCTION_BYTES ? bytes : FUNCTION_BYTES;
    uint8_t *code = c2_alloc(wanted ? wanted : 1);
    if (!code)
        return c2_fail_memory(err, "variables on the stack");
    const size_t read = loader_module_code(module, entry, code, wanted);
    enum c2_status status = C2_OK;
    if (may_have_changes(code, read))
        status = scan_code(&scan, code, read, err);
    c2_free(code);
    *out = scan.changes;
    *count = scan.count;
    return status;
}
