/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   A program is written instruction by instruction. What the manuals leave undefined must not spread: the maker
 *   knows which flags are undefined after each instruction, and lets none read them before they are defined again;
 *   forms with other freedoms (interpret_forms.c, unit/interpret_makers.c) are left out.
 * Invariants
 *   Explicit memory operands lie within 0x3000 bytes of R12, bit strings 0x1000 more; only what the maker has decoded
 *   and checked is written.
 */
#include <string.h>

#include "interpret/interpret_priv.h"
#include "engine/sequences.h"

enum { R12 = 12, R13, R14, R15 };
#define NEAR_BYTES 0x3000
#define MIDDLE (PROGRAM_DATA + PROGRAM_DATA_BYTES / 2)

struct maker {
    struct program *p;
    const struct cpu_model *model; /* NULL: x86-64-v2 */
    const struct form *forms;
    size_t form_count;
    struct c2_rng rng;
    uint64_t at;        /* address of the next instruction */
    uint64_t segment;   /* number of the stretch of code that is written */
    uint16_t undefined; /* flags, here */
    bool keep_stack;    /* nothing may move RSP: a return address is on top */
    bool traps;         /* some floating-point exceptions are not masked */
};

static uint64_t below(struct maker *m, uint64_t limit) { return c2_rng_below(&m->rng, limit); }
static bool one_in(struct maker *m, unsigned n) { return below(m, n) == 0; }

static uint8_t *code_at(struct maker *m, uint64_t address) { return m->p->code + (address - PROGRAM_CODE); }

/* ------------------------------------------------------------------ flags */

static bool is_shift(ZydisMnemonic m)
{
    return m == ZYDIS_MNEMONIC_SHL || m == ZYDIS_MNEMONIC_SHR || m == ZYDIS_MNEMONIC_SAR || m == ZYDIS_MNEMONIC_SHLD ||
           m == ZYDIS_MNEMONIC_SHRD;
}
static bool is_rotate(ZydisMnemonic m)
{
    return m == ZYDIS_MNEMONIC_ROL || m == ZYDIS_MNEMONIC_ROR || m == ZYDIS_MNEMONIC_RCL || m == ZYDIS_MNEMONIC_RCR;
}

/* Whether an instruction may leave flags as they are although it can change them. */
static bool may_keep_flags(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
    unsigned count = insn->mnemonic == ZYDIS_MNEMONIC_SHLD || insn->mnemonic == ZYDIS_MNEMONIC_SHRD ? 2 : 1;
    if (is_shift(insn->mnemonic) || is_rotate(insn->mnemonic))
        return operands[count].type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
               (operands[count].imm.value.u & (operands[0].size == 64 ? 63 : 31)) == 0;
    return interpret_is_rep_string(insn);
}

static uint16_t undefined_after(uint16_t before, const ZydisDecodedInstruction *insn,
                                const ZydisDecodedOperand *operands)
{
    const ZydisAccessedFlags *flags = insn->cpu_flags;
    if (!flags)
        return before;
    uint32_t defined = flags->modified | flags->set_0 | flags->set_1, undefined = flags->undefined;
    if (is_shift(insn->mnemonic))
        undefined |= FLAG_AF | FLAG_OF | (operands[0].size < 32 ? FLAG_CF : 0);
    if (is_rotate(insn->mnemonic))
        undefined |= FLAG_OF;
    if (may_keep_flags(insn, operands))
        defined = 0;
    return (uint16_t)(((before & ~defined) | undefined) & FLAGS_STATUS);
}

static uint32_t flags_read(const ZydisDecodedInstruction *insn)
{
    if (insn->mnemonic == ZYDIS_MNEMONIC_PUSHF || insn->mnemonic == ZYDIS_MNEMONIC_PUSHFQ)
        return FLAGS_STATUS;
    return insn->cpu_flags ? insn->cpu_flags->tested : 0;
}

/* ------------------------------------------------------------------ what may stand in a program */

static bool has_prefix(const ZydisDecodedInstruction *insn, uint8_t value)
{
    for (unsigned i = 0; i < insn->raw.prefix_count; i++)
        if (insn->raw.prefixes[i].value == value)
            return true;
    return false;
}

/* Mnemonics whose outcome is not the same on all CPUs or in the engine, or that need a place of their own. */
static bool is_left_out(const ZydisDecodedInstruction *insn)
{
    switch (insn->mnemonic) {
    case ZYDIS_MNEMONIC_RCPPS:
    case ZYDIS_MNEMONIC_RCPSS:
    case ZYDIS_MNEMONIC_RSQRTPS:
    case ZYDIS_MNEMONIC_RSQRTSS:
    case ZYDIS_MNEMONIC_EMMS:
    case ZYDIS_MNEMONIC_FXSAVE:
    case ZYDIS_MNEMONIC_FXSAVE64:
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
    case ZYDIS_MNEMONIC_LDMXCSR:
    case ZYDIS_MNEMONIC_FLDCW:
    case ZYDIS_MNEMONIC_FLDENV:
    case ZYDIS_MNEMONIC_FRSTOR:
    case ZYDIS_MNEMONIC_FNSTENV:
    case ZYDIS_MNEMONIC_FNSAVE:
    case ZYDIS_MNEMONIC_POPF:
    case ZYDIS_MNEMONIC_POPFQ:
    case ZYDIS_MNEMONIC_ENTER:
    case ZYDIS_MNEMONIC_LEAVE:
    case ZYDIS_MNEMONIC_MASKMOVQ:
    case ZYDIS_MNEMONIC_RDSSPD:
    case ZYDIS_MNEMONIC_RDSSPQ:
    case ZYDIS_MNEMONIC_SYSCALL:
    case ZYDIS_MNEMONIC_VLDMXCSR:
    case ZYDIS_MNEMONIC_VMASKMOVDQU: /* refused */
    case ZYDIS_MNEMONIC_XGETBV:
        return true;
    default:
        return interpret_is_xsave(insn) || insn->meta.branch_type != ZYDIS_BRANCH_TYPE_NONE ||
               insn->meta.isa_set == ZYDIS_ISA_SET_SSSE3MMX;
    }
}

/* What c2emu refuses where floating-point exceptions trap. */
static bool must_not_trap(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
    switch (insn->mnemonic) {
    case ZYDIS_MNEMONIC_DPPS:
    case ZYDIS_MNEMONIC_DPPD:
        return true;
    default:
        return interpret_is_masked(insn, operands);
    }
}

/* Undefined results: the upper half of what a 32-bit scan of zero leaves alone, RAX of a 32-bit exchange, double shifts
 * of 16 bits. */
static bool has_free_result(const ZydisDecodedInstruction *insn)
{
    bool of_32 = insn->operand_width == 32, of_16 = insn->operand_width == 16;
    switch (insn->mnemonic) {
    case ZYDIS_MNEMONIC_BSF:
    case ZYDIS_MNEMONIC_BSR:
    case ZYDIS_MNEMONIC_CMPXCHG:
        return of_32;
    case ZYDIS_MNEMONIC_SHLD:
    case ZYDIS_MNEMONIC_SHRD:
        return of_16;
    default:
        return false;
    }
}

static bool is_x87(const ZydisDecodedInstruction *insn)
{
    return insn->meta.category == ZYDIS_CATEGORY_X87_ALU || insn->meta.category == ZYDIS_CATEGORY_FCMOV ||
           insn->meta.isa_ext == ZYDIS_ISA_EXT_X87;
}

static bool is_reserved(ZydisRegister reg)
{
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    return whole == ZYDIS_REGISTER_RSP || whole == ZYDIS_REGISTER_R12 || whole == ZYDIS_REGISTER_R13 ||
           whole == ZYDIS_REGISTER_R14;
}

static bool is_near(uint64_t address) { return address - (MIDDLE - NEAR_BYTES) < 2 * NEAR_BYTES; }

/* The place of an explicit memory operand, if it is one that the maker chooses. */
static bool place_of(uint64_t *out, const struct maker *m, const ZydisDecodedInstruction *insn,
                     const ZydisDecodedOperand *operand)
{
    const ZydisDecodedOperandMem *mem = &operand->mem;
    uint64_t address = (uint64_t)mem->disp.value;
    bool indexed = mem->index != ZYDIS_REGISTER_NONE;
    if (mem->segment == ZYDIS_REGISTER_FS)
        return false;
    if (mem->segment == ZYDIS_REGISTER_GS)
        address += PROGRAM_GS_BASE;
    if (mem->base == ZYDIS_REGISTER_RIP || mem->base == ZYDIS_REGISTER_EIP)
        address += m->at + insn->length;
    else if (mem->base == ZYDIS_REGISTER_R12 || mem->base == ZYDIS_REGISTER_R12D)
        address += MIDDLE;
    else if (mem->base != ZYDIS_REGISTER_NONE)
        return false;
    if (indexed && mem->index != ZYDIS_REGISTER_R13 && mem->index != ZYDIS_REGISTER_R13D)
        return false;
    *out = address + (indexed ? m->p->state.gpr[R13] * mem->scale : 0);
    return true;
}

static bool is_bit_string(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
    bool is_test = insn->mnemonic == ZYDIS_MNEMONIC_BT || insn->mnemonic == ZYDIS_MNEMONIC_BTS ||
                   insn->mnemonic == ZYDIS_MNEMONIC_BTR || insn->mnemonic == ZYDIS_MNEMONIC_BTC;
    return is_test && interpret_is_memory(&operands[0]) && operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
}

/* A locked access across cache lines is a fault where the kernel says so. */
static bool splits_lock(const ZydisDecodedInstruction *insn, uint64_t place, unsigned bytes)
{
    bool locks = insn->attributes & ZYDIS_ATTRIB_HAS_LOCK || insn->mnemonic == ZYDIS_MNEMONIC_XCHG;
    return locks && place % 64 + bytes > 64;
}

static bool has_indices(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB;
}

/* What prepare_indices() leaves of them is small. Refused: 32-bit addresses. */
static bool good_indices(const struct maker *m, const ZydisDecodedInstruction *insn, ZydisDecodedOperand operand)
{
    uint64_t place;
    operand.mem.index = ZYDIS_REGISTER_NONE;
    return insn->address_width == 64 && place_of(&place, m, insn, &operand) && is_near(place);
}

/* A memory operand that is computed and not accessed may lie anywhere. */
static bool good_memory(const struct maker *m, const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operand)
{
    uint64_t place;
    if (has_indices(operand))
        return good_indices(m, insn, *operand);
    if (!interpret_is_memory(operand))
        return true;
    return place_of(&place, m, insn, operand) && is_near(place) && place % forms_alignment(insn, operand) == 0 &&
           !splits_lock(insn, place, operand->size / 8);
}

static bool good_operands(const struct maker *m, const ZydisDecodedInstruction *insn,
                          const ZydisDecodedOperand *operands)
{
    for (unsigned i = 0; i < insn->operand_count_visible; i++) {
        const ZydisDecodedOperand *o = &operands[i];
        if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && is_reserved(o->reg.value))
            return false;
        if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && !good_memory(m, insn, o))
            return false;
    }
    if (is_bit_string(insn, operands) && operands[0].size != 16)
        return false;
    return !(interpret_is_rep_string(insn) && insn->address_width != 64);
}

static bool moves_stack(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
    for (unsigned i = insn->operand_count_visible; i < insn->operand_count; i++)
        if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[i].reg.value == ZYDIS_REGISTER_RSP)
            return true;
    return false;
}

static bool may_be_met(const struct maker *m, const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
    return !forms_refused(insn, operands) && !is_left_out(insn) && !has_free_result(insn) &&
           !(m->traps && must_not_trap(insn, operands)) && (flags_read(insn) & m->undefined) == 0;
}

static bool may_stand(const struct maker *m, const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands,
                      bool x87)
{
    return may_be_met(m, insn, operands) && is_x87(insn) == x87 && good_operands(m, insn, operands) &&
           !(m->keep_stack && moves_stack(insn, operands));
}

/* ------------------------------------------------------------------ writing */

static void advance(struct maker *m, const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
    m->p->undefined[m->at - PROGRAM_CODE] = m->undefined | INSN_STARTS;
    m->undefined = undefined_after(m->undefined, insn, operands);
    m->at += insn->length;
    m->p->insns++;
}

/* An instruction that the maker itself has chosen. Returns its address. */
static uint64_t emit(struct maker *m, const char *bytes, unsigned length)
{
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    uint64_t at = m->at;
    memcpy(code_at(m, at), bytes, length);
    bool good = forms_decode(&insn, operands, code_at(m, at), length);
    C2_ASSERT(good && insn.length == length);
    advance(m, &insn, operands);
    return at;
}
#define EMIT(m, text) emit(m, text, sizeof text - 1)

static void put(uint8_t *to, uint64_t value, unsigned bytes) { memcpy(to, &value, bytes); }

/* With a number of `bytes` bytes at its end. */
static uint64_t emit_number(struct maker *m, const char *head, unsigned length, uint64_t number, unsigned bytes)
{
    char text[ZYDIS_MAX_INSTRUCTION_LENGTH];
    memcpy(text, head, length);
    memcpy(text + length, &number, bytes);
    return emit(m, text, length + bytes);
}
#define EMIT32(m, text, number) emit_number(m, text, sizeof text - 1, number, 4)
#define EMIT8(m, text, number) emit_number(m, text, sizeof text - 1, number, 1)

/* ------------------------------------------------------------------ an instruction of a form */

/* Often where something ends: a page, a line. */
static uint64_t any_place(struct maker *m)
{
    uint64_t place = MIDDLE - NEAR_BYTES + 64 + below(m, 2 * NEAR_BYTES - 128);
    if (one_in(m, 3))
        place = c2_align_down(place, C2_PAGE_BYTES) - below(m, 20);
    if (one_in(m, 2))
        place = c2_align_down(place, m->model && one_in(m, 2) ? 64 : 16);
    return place < MIDDLE - NEAR_BYTES ? MIDDLE : place;
}

struct draft {
    uint8_t bytes[32];
    unsigned length;
    unsigned relative; /* offset of a displacement that is relative to RIP; 0: none */
    uint64_t place;
};

static void add_byte(struct draft *d, unsigned byte) { d->bytes[d->length++] = (uint8_t)byte; }
static void add_number(struct draft *d, uint64_t number, unsigned bytes)
{
    put(d->bytes + d->length, number, bytes);
    d->length += bytes;
}

enum addressing { BY_BASE, BY_INDEX, BY_RIP, ABSOLUTE, BY_GS };

struct choice {
    enum addressing addressing;
    unsigned reg, rm, vvvv; /* 4 bits each, 5 of EVEX */
    bool memory, short_address;
    bool indices; /* a vector register is the index: */
    unsigned index;
    bool short_displacement; /* of a byte */
    unsigned rex;            /* W R X B */
};

static unsigned any_register(struct maker *m)
{
    static const uint8_t usual[] = {RAX, RCX, RDX, RBX, RSI, RDI};
    return one_in(m, 2) ? usual[below(m, sizeof usual)] : (unsigned)below(m, 16);
}

/* Any of EVEX's 32; often none where a field must name none. */
static unsigned any_vector(struct maker *m, const struct form *form)
{
    return one_in(m, 3) ? 0 : (unsigned)below(m, form->evex ? 32 : 16);
}

/* Where vectors may be: registers of all numbers, a vector of indices in memory, displacements of a byte. */
static void choose_vectors(struct maker *m, struct choice *c, const struct form *form)
{
    if (!form->vex && !form->evex)
        return;
    c->vvvv = any_vector(m, form);
    c->short_address = false;
    c->short_displacement = one_in(m, 3);
    c->indices = form->memory && form->indexed;
    if (c->indices) {
        c->addressing = BY_BASE;
        c->index = (unsigned)below(m, form->evex ? 32 : 16);
    }
    if (!form->evex || one_in(m, 2))
        return;
    if (form->reg < 0)
        c->reg = (unsigned)below(m, 32);
    if (!c->memory && form->rm < 0)
        c->rm = (unsigned)below(m, 32);
}

static struct choice choose(struct maker *m, const struct form *form)
{
    struct choice c = {.memory = form->memory,
                       .addressing = (enum addressing)below(m, 5),
                       .short_address = one_in(m, 12),
                       .reg = form->reg >= 0 ? (unsigned)form->reg : any_register(m),
                       .rm = form->rm >= 0 ? (unsigned)form->rm : any_register(m),
                       .vvvv = any_register(m)};
    choose_vectors(m, &c, form);
    if (c.memory)
        c.rm = c.addressing == BY_BASE || c.addressing == BY_INDEX ? R12 : 4;
    c.rex = (form->wide ? 8u : 0) | (c.reg >> 3 & 1) << 2 | (c.rm >> 3 & 1);
    if (c.memory && (c.addressing == BY_INDEX || (c.indices && c.index >> 3 & 1)))
        c.rex |= 2;
    return c;
}

static void add_memory(struct maker *m, struct draft *d, const struct choice *c)
{
    unsigned reg = (c->reg & 7) << 3, scale = (unsigned)below(m, 4);
    uint64_t r13 = m->p->state.gpr[R13];
    if (c->indices) {
        add_byte(d, 0x80 | reg | 4);
        add_byte(d, scale << 6 | (c->index & 7) << 3 | 4);
        add_number(d, d->place - MIDDLE, 4);
        return;
    }
    if (c->short_displacement && c->addressing == BY_BASE) {
        add_byte(d, 0x40 | reg | 4);
        add_byte(d, 0x24);
        add_byte(d, (unsigned)below(m, 256));
        return;
    }
    switch (c->addressing) {
    case BY_BASE:
        add_byte(d, 0x80 | reg | 4);
        add_byte(d, 0x24);
        add_number(d, d->place - MIDDLE, 4);
        break;
    case BY_INDEX:
        add_byte(d, 0x80 | reg | 4);
        add_byte(d, scale << 6 | 5 << 3 | 4);
        add_number(d, d->place - MIDDLE - (r13 << scale), 4);
        break;
    case BY_RIP:
        add_byte(d, reg | 5);
        d->relative = d->length;
        add_number(d, 0, 4);
        break;
    default:
        add_byte(d, reg | 4);
        add_byte(d, 0x25);
        add_number(d, c->addressing == BY_GS ? d->place - PROGRAM_GS_BASE : d->place, 4);
    }
}

static void add_legacy_head(struct draft *d, const struct form *form, const struct choice *c)
{
    if (c->memory && c->addressing == BY_GS)
        add_byte(d, 0x65);
    if (c->memory && c->short_address)
        add_byte(d, 0x67);
    for (unsigned i = 0; i < form->prefix_count; i++)
        add_byte(d, form->prefixes[i]);
    if (c->rex)
        add_byte(d, 0x40 | c->rex);
    if (form->map != MAP_ONE)
        add_byte(d, 0x0f);
    if (form->map == MAP_0F38)
        add_byte(d, 0x38);
    if (form->map == MAP_0F3A)
        add_byte(d, 0x3a);
    add_byte(d, form->opcode);
}

static void add_vex_head(struct draft *d, const struct form *form, const struct choice *c)
{
    if (c->memory && c->addressing == BY_GS)
        add_byte(d, 0x65);
    add_byte(d, 0xc4);
    add_byte(d, (~(c->rex << 5) & 0xe0) | (unsigned)form->map);
    add_byte(d, (form->wide ? 0x80u : 0) | (~c->vvvv & 15) << 3 | form->vector << 2 | form->vex_pp);
    add_byte(d, form->opcode);
}

/* EVEX.aaa, z and b: any, but for most without. */
static unsigned any_mask(struct maker *m)
{
    const unsigned aaa = one_in(m, 3) ? 0 : (unsigned)below(m, 8);
    return aaa | (one_in(m, 3) ? 0x80u : 0) | (one_in(m, 4) ? 0x10u : 0);
}

static void add_evex_head(struct maker *m, struct draft *d, const struct form *form, const struct choice *c)
{
    const unsigned x = c->indices ? c->index >> 3 & 1 : c->memory ? c->rex >> 1 & 1 : c->rm >> 4 & 1;
    const unsigned v = c->indices ? c->index >> 4 & 1 : c->vvvv >> 4 & 1;
    const unsigned upside_down = (c->reg >> 3 & 1) << 7 | x << 6 | (c->rm >> 3 & 1) << 5 | (c->reg >> 4 & 1) << 4;
    if (c->memory && c->addressing == BY_GS)
        add_byte(d, 0x65);
    add_byte(d, 0x62);
    add_byte(d, (~upside_down & 0xf0) | (unsigned)form->map);
    add_byte(d, (form->wide ? 0x80u : 0) | (~c->vvvv & 15) << 3 | 4 | form->vex_pp);
    add_byte(d, any_mask(m) | form->vector << 5 | (~v & 1) << 3);
    add_byte(d, form->opcode);
}

static void add_head(struct maker *m, struct draft *d, const struct form *form, const struct choice *c)
{
    if (form->evex)
        add_evex_head(m, d, form, c);
    else if (form->vex)
        add_vex_head(d, form, c);
    else
        add_legacy_head(d, form, c);
}

static void add_superfluous(struct maker *m, struct draft *d)
{
    static const uint8_t prefixes[] = {0x2e, 0x3e, 0x26, 0x36, 0x66, 0x66, 0x67,
                                       0xf2, 0xf3, 0x40, 0x48, 0x41, 0x4f, 0x65};
    unsigned count = 1 + (unsigned)below(m, 2), where = (unsigned)below(m, 2);
    for (unsigned i = 0; i < count; i++) {
        memmove(d->bytes + where + 1, d->bytes + where, d->length - where);
        d->bytes[where] = prefixes[below(m, sizeof prefixes)];
        d->length++;
        d->relative += d->relative != 0;
    }
}

static struct draft draft_of(struct maker *m, const struct form *form)
{
    struct draft d = {.place = any_place(m)};
    struct choice c = choose(m, form);
    add_head(m, &d, form, &c);
    if (form->has_modrm && c.memory)
        add_memory(m, &d, &c);
    else if (form->has_modrm)
        add_byte(&d, 0xc0 | (c.reg & 7) << 3 | (c.rm & 7));
    if (one_in(m, 8))
        add_superfluous(m, &d);
    return d;
}

/* What the hidden operands of some instructions need: pointers into the data, a small count. */
static void prepare_hidden(struct maker *m, const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
    for (unsigned i = insn->operand_count_visible; i < insn->operand_count; i++) {
        ZydisRegister base = operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY ? operands[i].mem.base : ZYDIS_REGISTER_NONE;
        uint64_t offset = any_place(m) - MIDDLE;
        if (base == ZYDIS_REGISTER_RSI || base == ZYDIS_REGISTER_ESI)
            EMIT32(m, "\x49\x8d\xb4\x24", offset); /* lea offset(%r12),%rsi */
        if (base == ZYDIS_REGISTER_RDI || base == ZYDIS_REGISTER_EDI)
            EMIT32(m, "\x49\x8d\xbc\x24", offset);
        if (base == ZYDIS_REGISTER_RBX || base == ZYDIS_REGISTER_EBX)
            EMIT32(m, "\x49\x8d\x9c\x24", offset);
    }
    if (interpret_is_rep_string(insn))
        EMIT32(m, "\xb9", below(m, 3) ? below(m, 20) : below(m, 300)); /* mov $count,%ecx */
    if (insn->mnemonic == ZYDIS_MNEMONIC_DIV || insn->mnemonic == ZYDIS_MNEMONIC_IDIV)
        insn->operand_width == 8 ? EMIT(m, "\x0f\xb6\xc0") : EMIT32(m, "\xba", 0); /* movzx %al,%eax; mov $0,%edx */
}

/* A gather's or scatter's indices become small: their upper bits alone remain. */
static void prepare_indices(struct maker *m, const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
    for (unsigned i = 0; i < insn->operand_count_visible; i++) {
        if (!has_indices(&operands[i]))
            continue;
        const unsigned reg = (unsigned)ZydisRegisterGetId(operands[i].mem.index);
        const char *name = ZydisMnemonicGetString(insn->mnemonic);
        const bool of_32 = strstr(name, "gatherd") || strstr(name, "scatterd");
        const unsigned modrm = 0xc0 | (of_32 || insn->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX ? 4u : 2u) << 3 |
                               (reg & 7),
                       b = reg >> 3 & 1, x = reg >> 4;
        char vex[] = {
            (char)0xc4,  (char)(b ? 0xc1 : 0xe1), (char)(0x05 | (~reg & 15) << 3), (char)(of_32 ? 0x72 : 0x73),
            (char)modrm, (char)(of_32 ? 22 : 55)};
        char evex[] = {0x62,
                       (char)(0xf1 & ~(x << 6 | b << 5)),
                       (char)((of_32 ? 0 : 0x80) | 0x05 | (~reg & 15) << 3),
                       (char)(0x40 | (x ? 0 : 8)),
                       0x72,
                       (char)modrm,
                       (char)(of_32 ? 22 : 54)};
        insn->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX ? emit(m, evex, sizeof evex) : emit(m, vex, sizeof vex);
    }
}

/* Pointers and counts, so that the instruction needs them before it; then itself. */
static bool try_form(struct maker *m, const struct form *form, bool x87)
{
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    struct draft d = draft_of(m, form);
    unsigned head = d.length;
    c2_rng_fill(&m->rng, d.bytes + head, 8);
    if (one_in(m, 4)) /* small immediates, as counts of shifts are */
        d.bytes[head] &= 31;
    if (!forms_decode(&insn, operands, d.bytes, ZYDIS_MAX_INSTRUCTION_LENGTH) || insn.length < head)
        return false;
    if (has_prefix(&insn, 0x67) && insn.operand_count > insn.operand_count_visible &&
        insn.meta.category == ZYDIS_CATEGORY_STRINGOP)
        return false;
    uint64_t before = m->at;
    uint16_t undefined = m->undefined;
    unsigned insns = m->p->insns;
    prepare_hidden(m, &insn, operands);
    prepare_indices(m, &insn, operands);
    if (d.relative)
        put(d.bytes + d.relative, d.place - (m->at + insn.length), 4);
    if (forms_decode(&insn, operands, d.bytes, insn.length) && may_stand(m, &insn, operands, x87)) {
        memcpy(code_at(m, m->at), d.bytes, insn.length);
        advance(m, &insn, operands);
        return true;
    }
    m->at = before;
    m->undefined = undefined;
    m->p->insns = insns;
    return false;
}

/* Half of a processor's beyond x86-64-v2 are of VEX and EVEX; of these one in eight gathers or scatters. */
static const struct form *any_form(struct maker *m)
{
    const bool vectors = m->model && one_in(m, 2), indexed = vectors && one_in(m, 8);
    const struct form *form;
    do
        form = &m->forms[below(m, m->form_count)];
    while ((vectors && !form->vex && !form->evex) || (indexed && !form->indexed));
    return form;
}

/* Few choices are good for a gather: its registers are three, under a mask. */
static void any_insn(struct maker *m)
{
    enum { TRIES = 40 };
    for (;;) {
        const struct form *form = any_form(m);
        for (unsigned tries = form->indexed ? TRIES : 1; tries > 0; tries--)
            if (try_form(m, form, false))
                return;
    }
}

static void some_insns(struct maker *m, unsigned least, unsigned most)
{
    for (uint64_t n = least + below(m, most - least + 1); n > 0; n--)
        any_insn(m);
}

/* ------------------------------------------------------------------ structures */

static void patch32(struct maker *m, uint64_t at, uint64_t target) { put(code_at(m, at), target - (at + 4), 4); }
static void patch8(struct maker *m, uint64_t at, uint64_t target) { put(code_at(m, at), target - (at + 1), 1); }

/* All status flags become defined. */
static void define_flags(struct maker *m) { EMIT(m, "\x39\xc8"); /* cmp %ecx,%eax */ }

/* Jumps over some instructions if a condition holds whose flags are defined. */
static void branch(struct maker *m)
{
    unsigned condition = (unsigned)below(m, 16);
    char jump[] = {0x0f, (char)(0x80 | condition), 0, 0, 0, 0};
    if (m->undefined)
        define_flags(m);
    emit(m, jump, sizeof jump);
    uint64_t distance = m->at - 4;
    uint16_t undefined = m->undefined;
    some_insns(m, 1, 4);
    patch32(m, distance, m->at);
    m->undefined |= undefined;
}

/* JRCXZ, LOOP, LOOPE and LOOPNE, forward. */
static void count_branch(struct maker *m)
{
    char jump[] = {(char)(0xe0 + below(m, 4)), 0};
    EMIT32(m, "\xb9", below(m, 3)); /* mov $count,%ecx */
    if (m->undefined & FLAG_ZF)
        define_flags(m);
    emit(m, jump, sizeof jump);
    uint64_t distance = m->at - 1;
    uint16_t undefined = m->undefined;
    some_insns(m, 1, 2);
    patch8(m, distance, m->at);
    m->undefined |= undefined;
}

static void loop(struct maker *m)
{
    EMIT32(m, "\x41\xbe", 2 + below(m, 3)); /* mov $count,%r14d */
    uint64_t head = m->at;
    define_flags(m);
    some_insns(m, 2, 8);
    EMIT(m, "\x41\xff\xce");             /* dec %r14d */
    EMIT(m, "\x0f\x85\x00\x00\x00\x00"); /* jnz head */
    patch32(m, m->at - 4, head);
}

/* call f; jmp on; f: ...; ret; on: */
static void call(struct maker *m)
{
    EMIT(m, "\xe8\x05\x00\x00\x00");
    uint64_t over = EMIT(m, "\xe9\x00\x00\x00\x00");
    m->keep_stack = true;
    some_insns(m, 1, 3);
    m->keep_stack = false;
    EMIT(m, "\xc3");
    patch32(m, over + 1, m->at);
}

static void indirect(struct maker *m)
{
    uint64_t lea = EMIT32(m, "\x48\x8d\x05", 0); /* lea 0(%rip),%rax */
    EMIT(m, "\xff\xe0");                         /* jmp *%rax */
    m->at += below(m, 5);
    put(code_at(m, lea + 3), m->at - (lea + 7), 4);
}

static void flags_through_memory(struct maker *m)
{
    if (one_in(m, 2)) {
        EMIT32(m, "\x68", below(m, 4096) & (FLAGS_STATUS | FLAG_DF)); /* push */
        EMIT(m, "\x9d");                                              /* popfq */
        m->undefined = 0;
        return;
    }
    if (m->undefined)
        define_flags(m);
    EMIT(m, "\x9c"); /* pushfq */
    EMIT(m, "\x58"); /* pop %rax */
}

static void frame(struct maker *m)
{
    EMIT(m, "\x48\x8d\x6c\x24\x40"); /* lea 64(%rsp),%rbp: frame pointers lie below it */
    emit_number(m, "\xc8", 1, below(m, 64) << 3 | (one_in(m, 2) ? below(m, 256) << 16 : 0), 3); /* enter */
    some_insns(m, 0, 3);
    EMIT(m, "\x48\x8d\x6c\x24\x40"); /* lea 64(%rsp),%rbp */
    EMIT(m, "\xc9");                 /* leave */
}

/* ------------------------------------------------------------------ stores into code */

/* Stores `bytes` bytes of EAX's, a constant's or what is there into `target`, which is filled in later; returns where
 * the displacement is. The instruction ends `tail` bytes behind it. */
static uint64_t emit_store(struct maker *m, unsigned *bytes, unsigned *tail)
{
    static const struct {
        char text[12];
        uint8_t length, relative, bytes;
    } stores[] = {
        {"\xc6\x05\0\0\0\0\x2a", 7, 2, 1},              /* movb $42,target */
        {"\x66\xc7\x05\0\0\0\0\x2a\x01", 9, 3, 2},      /* movw */
        {"\xc7\x05\0\0\0\0\x2a\x01\x02\x03", 10, 2, 4}, /* movl */
        {"\x89\x05\0\0\0\0", 6, 2, 4},                  /* mov %eax,target */
        {"\x88\x0d\0\0\0\0", 6, 2, 1},                  /* mov %cl,target */
        {"\x66\x89\x15\0\0\0\0", 7, 3, 2},              /* mov %dx,target */
        {"\x81\x05\0\0\0\0\x01\x01\0\x01", 10, 2, 4},   /* addl */
        {"\x80\x35\0\0\0\0\xff", 7, 2, 1},              /* xorb */
        {"\xff\x05\0\0\0\0", 6, 2, 4},                  /* incl */
        {"\x66\xff\x05\0\0\0\0", 7, 3, 2},              /* incw */
        {"\x0f\xc1\x05\0\0\0\0", 7, 3, 4},              /* xadd %eax,target */
        {"\xf3\x0f\x11\x05\0\0\0\0", 8, 4, 4},          /* movss %xmm0,target */
        {"\x0f\xba\x2d\0\0\0\0\x03", 8, 3, 4},          /* btsl $3,target */
        {"\x0f\x38\xf1\x05\0\0\0\0", 8, 4, 4},          /* movbe %eax,target: interpreted */
        {"\x66\x0f\x7e\x05\0\0\0\0", 8, 4, 4},          /* movd %xmm0,target */
    };
    size_t i = below(m, sizeof stores / sizeof *stores);
    uint64_t at = emit(m, stores[i].text, stores[i].length);
    *bytes = stores[i].bytes;
    *tail = stores[i].length - stores[i].relative;
    return at + stores[i].relative;
}

/* A store into the immediate of an instruction that follows, in the same block or behind a branch. */
static void store_ahead(struct maker *m)
{
    unsigned bytes, tail;
    uint64_t relative = emit_store(m, &bytes, &tail);
    if (one_in(m, 2))
        some_insns(m, 1, 3);
    uint64_t target = EMIT32(m, "\xba", 7) + 1; /* mov $7,%edx */
    put(code_at(m, relative), target + below(m, 4 - bytes + 1) - (relative + tail), 4);
    EMIT(m, "\x31\xd0"); /* xor %edx,%eax */
}

/* In a loop, into what has been executed already and will be again. */
static void store_back(struct maker *m)
{
    unsigned bytes, tail;
    EMIT32(m, "\x41\xbe", 2 + below(m, 3));
    uint64_t head = m->at;
    uint64_t target = EMIT32(m, "\xba", 7) + 1;
    EMIT(m, "\x31\xd1"); /* xor %edx,%ecx */
    some_insns(m, 0, 2);
    define_flags(m);
    uint64_t relative = emit_store(m, &bytes, &tail);
    put(code_at(m, relative), target + below(m, 4 - bytes + 1) - (relative + tail), 4);
    define_flags(m);
    some_insns(m, 0, 2);
    EMIT(m, "\x41\xff\xce");
    EMIT(m, "\x0f\x85\x00\x00\x00\x00");
    patch32(m, m->at - 4, head);
}

/* jmp on; 2 bytes of data; on: xorl $0xffff,(on - 2); ...: of the four bytes modified two lie in the block. */
static void store_across_start(struct maker *m)
{
    EMIT(m, "\xeb\x02");
    m->at += 2;
    uint64_t start = m->at;
    uint64_t store = EMIT(m, "\x81\x35\x00\x00\x00\x00\xff\xff\x00\x00");
    put(code_at(m, store + 2), start - 2 - m->at, 4);
    uint64_t load = EMIT(m, "\x0f\xb7\x05\x00\x00\x00\x00"); /* movzwl start - 2,%eax */
    put(code_at(m, load + 3), start - 2 - m->at, 4);
}

/* A repeated store over the immediate that follows. */
static void store_repeated(struct maker *m)
{
    uint64_t lea = EMIT32(m, "\x48\x8d\x3d", 0); /* lea 0(%rip),%rdi */
    EMIT32(m, "\xb9", 1 + below(m, 4));
    EMIT(m, "\xfc"); /* cld */
    one_in(m, 2) ? EMIT(m, "\xf3\xaa") : EMIT(m, "\xaa");
    uint64_t target = EMIT32(m, "\xba", 7) + 1;
    put(code_at(m, lea + 3), target - (lea + 7), 4);
    EMIT(m, "\x31\xd0");
}

/* An instruction of one byte becomes another: NOP, CLC, STC, CMC. */
static void store_opcode(struct maker *m)
{
    static const char opcodes[] = {(char)0x90, (char)0xf8, (char)0xf9, (char)0xf5};
    if (m->undefined)
        define_flags(m);
    uint64_t store = EMIT8(m, "\xc6\x05\0\0\0\0", 0);
    put(code_at(m, m->at - 1), (uint8_t)opcodes[below(m, 4)], 1);
    uint64_t target = emit(m, &opcodes[below(m, 4)], 1);
    put(code_at(m, store + 2), target - (store + 7), 4);
}

static void store_into_code(struct maker *m)
{
    static void (*const kinds[])(struct maker *) = {store_ahead,        store_ahead,    store_back,
                                                    store_across_start, store_repeated, store_opcode};
    kinds[below(m, sizeof kinds / sizeof *kinds)](m);
}

/* ------------------------------------------------------------------ a program */

/* ------------------------------------------------------------------ x87 and MXCSR */

/* With two numbers on the stack, these leave as many. */
static bool keeps_x87_stack(const struct form *form)
{
    switch (form->mnemonic) {
    case ZYDIS_MNEMONIC_FADD:
    case ZYDIS_MNEMONIC_FSUB:
    case ZYDIS_MNEMONIC_FSUBR:
    case ZYDIS_MNEMONIC_FMUL:
    case ZYDIS_MNEMONIC_FDIV:
    case ZYDIS_MNEMONIC_FDIVR:
    case ZYDIS_MNEMONIC_FIADD:
    case ZYDIS_MNEMONIC_FISUB:
    case ZYDIS_MNEMONIC_FIMUL:
    case ZYDIS_MNEMONIC_FIDIV:
    case ZYDIS_MNEMONIC_FCHS:
    case ZYDIS_MNEMONIC_FABS:
    case ZYDIS_MNEMONIC_FSQRT:
    case ZYDIS_MNEMONIC_FRNDINT:
    case ZYDIS_MNEMONIC_FXCH:
    case ZYDIS_MNEMONIC_FST:
    case ZYDIS_MNEMONIC_FIST:
    case ZYDIS_MNEMONIC_FPREM:
        return form->memory || form->rm < 2;
    default:
        return false;
    }
}

static void x87_insns(struct maker *m)
{
    EMIT(m, "\xdb\xe3"); /* fninit */
    for (int i = 0; i < 2; i++)
        EMIT32(m, "\x41\xdd\x84\x24", any_place(m) - MIDDLE); /* fldl offset(%r12) */
    for (uint64_t n = 1 + below(m, 4); n > 0;) {
        const struct form *form = &m->forms[below(m, m->form_count)];
        n -= keeps_x87_stack(form) && try_form(m, form, true);
    }
    for (uint64_t n = below(m, 3); n > 0; n--)
        EMIT32(m, "\x41\xdd\x9c\x24", any_place(m) - MIDDLE); /* fstpl */
}

static void mxcsr(struct maker *m)
{
    const uint32_t masks = 0x1f80 & ~(one_in(m, 8) ? (uint32_t)below(m, 64) << 7 : 0);
    EMIT32(m, "\x68",
           masks | (below(m, 4) << 13) | (one_in(m, 4) ? below(m, 2) << 15 | below(m, 2) << 6 : 0)); /* push */
    EMIT(m, "\x0f\xae\x14\x24");     /* ldmxcsr (%rsp) */
    EMIT(m, "\x48\x8d\x64\x24\x08"); /* lea 8(%rsp),%rsp */
    m->traps = m->traps || masks != 0x1f80;
}

/* ------------------------------------------------------------------ faults: a program ends by one */

/* Where `bytes` bytes may be in the way: across the end of what may be written or read, before the data, not there, not
 * canonical; seldom where they may be. */
static uint64_t bad_place(struct maker *m, unsigned bytes, bool masked)
{
    const uint64_t across = bytes ? below(m, bytes) : 0;
    const bool in_pieces = bytes > 16 || bytes == 10 || masked; /* which is first is the CPU's own business */
    switch (below(m, 10)) {
    case 0:
        return PROGRAM_CONSTANTS - across;
    case 1:
        return PROGRAM_CONSTANTS + below(m, 2048);
    case 2:
        return PROGRAM_CONSTANTS + PROGRAM_CONSTANT_BYTES - across;
    case 3:
        return PROGRAM_CONSTANTS + PROGRAM_CONSTANT_BYTES + below(m, 2048);
    case 4:
        return PROGRAM_DATA - across;
    case 5:
        return 0x0000800000000000 - (in_pieces ? 0 : across);
    case 6:
        return 0xffff800000000000 - (in_pieces ? 0 : across);
    case 7:
        return 0xffff800000000000 + below(m, 1u << 30);
    case 8:
        return (c2_rng_next(&m->rng) >> 1 & ~(uint64_t)0 >> 1) | (uint64_t)1 << 50;
    default:
        return any_place(m);
    }
}

/* movabs $value,%reg */
static void set_register(struct maker *m, unsigned reg, uint64_t value)
{
    char text[10] = {(char)(0x48 | reg >> 3), (char)(0xb8 | (reg & 7))};
    memcpy(text + 2, &value, 8);
    emit(m, text, sizeof text);
}

static bool uses_register(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands, ZydisRegister base)
{
    for (unsigned i = insn->operand_count_visible; i < insn->operand_count; i++)
        if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY && operands[i].mem.base == base)
            return true;
    return false;
}

/* The hidden places of strings, stacks and exchanges. */
static void misplace_hidden(struct maker *m, const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
    if (uses_register(insn, operands, ZYDIS_REGISTER_RSI))
        set_register(m, RSI, bad_place(m, 8, false));
    if (uses_register(insn, operands, ZYDIS_REGISTER_RDI))
        set_register(m, RDI, bad_place(m, 8, false));
    if (uses_register(insn, operands, ZYDIS_REGISTER_RBX))
        set_register(m, RBX, bad_place(m, 1, false));
    if (uses_register(insn, operands, ZYDIS_REGISTER_RSP) && one_in(m, 2))
        set_register(m, RSP, bad_place(m, 8, false) + (one_in(m, 2) ? 8 : 0));
    if (interpret_is_rep_string(insn))
        EMIT32(m, "\xb9", below(m, 3) ? 1 + below(m, 20) : below(m, 600)); /* mov $count,%ecx */
    if (insn->mnemonic == ZYDIS_MNEMONIC_DIV || insn->mnemonic == ZYDIS_MNEMONIC_IDIV)
        EMIT32(m, "\xba", 0); /* mov $0,%edx */
}

static bool writes_reserved(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
    for (unsigned i = 0; i < insn->operand_count_visible; i++)
        if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER && is_reserved(operands[i].reg.value))
            return true;
    return false;
}

/* Behind a base register that is set before it. */
static void draft_misplaced(struct maker *m, struct draft *d, const struct form *form, unsigned base, int32_t offset,
                            bool gs)
{
    struct choice c = choose(m, form);
    c.short_address = false;
    if (c.memory) {
        c.addressing = BY_BASE;
        c.rm = base;
        c.rex = (form->wide ? 8u : 0) | (c.reg >> 3 & 1) << 2 | (base >> 3 & 1);
    }
    if (gs)
        add_byte(d, 0x65);
    add_head(m, d, form, &c);
    if (form->has_modrm && c.memory) {
        add_byte(d, 0x80 | (c.reg & 7) << 3 | (base & 7));
        add_number(d, (uint64_t)(uint32_t)offset, 4);
    } else if (form->has_modrm) {
        add_byte(d, 0xc0 | (c.reg & 7) << 3 | (c.rm & 7));
    }
}

static unsigned explicit_bytes(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
    for (unsigned i = 0; i < insn->operand_count_visible; i++)
        if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
            return operands[i].size / 8;
    return 0;
}

static unsigned alignment_of(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
    for (unsigned i = 0; i < insn->operand_count_visible; i++)
        if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY && forms_alignment(insn, &operands[i]) > 1)
            return forms_alignment(insn, &operands[i]);
    return 1;
}

static bool try_misplaced(struct maker *m, const struct form *form)
{
    static const uint8_t bases[] = {RAX, RBX, RBP, RSI, RDI, 8, R15};
    const unsigned base = bases[below(m, sizeof bases)];
    const int32_t offset = (int32_t)below(m, 200) - 100;
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    struct draft d = {.length = 0};
    const bool gs = form->memory && one_in(m, 6);
    draft_misplaced(m, &d, form, base, offset, gs);
    const unsigned head = d.length;
    c2_rng_fill(&m->rng, d.bytes + head, 8);
    if (!forms_decode(&insn, operands, d.bytes, ZYDIS_MAX_INSTRUCTION_LENGTH) || insn.length < head ||
        !may_be_met(m, &insn, operands) || writes_reserved(&insn, operands) ||
        (interpret_is_rep_string(&insn) && insn.address_width != 64) ||
        (form->has_modrm && !form->memory && insn.meta.category != ZYDIS_CATEGORY_PUSH) ||
        (!form->has_modrm && insn.operand_count == insn.operand_count_visible) || is_bit_string(&insn, operands) ||
        insn.attributes & ZYDIS_ATTRIB_HAS_LOCK || insn.mnemonic == ZYDIS_MNEMONIC_XCHG)
        return false;
    uint64_t place = bad_place(m, explicit_bytes(&insn, operands), interpret_is_masked(&insn, operands));
    if (gs && place >> 46 != 0) /* CPUs may look at an address before they add the segment's base */
        return false;
    place = c2_align_down(place, alignment_of(&insn, operands));
    if (is_x87(&insn)) {
        EMIT(m, "\xdb\xe3"); /* fninit */
        EMIT(m, "\xd9\xe8"); /* fld1 */
        EMIT(m, "\xd9\xee"); /* fldz */
    }
    misplace_hidden(m, &insn, operands);
    if (form->memory)
        set_register(m, base, place - (uint64_t)(int64_t)offset - (gs ? PROGRAM_GS_BASE : 0));
    memcpy(code_at(m, m->at), d.bytes, insn.length);
    advance(m, &insn, operands);
    return true;
}

static void fault(struct maker *m)
{
    if (one_in(m, 16)) {
        EMIT(m, "\x31\xc9"); /* xor %ecx,%ecx */
        EMIT(m, "\xf7\xf1"); /* div %ecx */
        return;
    }
    while (!try_misplaced(m, &m->forms[below(m, m->form_count)]))
        ;
    set_register(m, RSP, m->p->state.gpr[RSP]); /* it was no fault after all */
}

static void chunk(struct maker *m)
{
    switch (below(m, 26)) {
    case 0:
        loop(m);
        break;
    case 1:
        call(m);
        break;
    case 2:
        indirect(m);
        break;
    case 3:
    case 4:
        flags_through_memory(m);
        break;
    case 5:
    case 6:
        count_branch(m);
        break;
    case 7:
    case 8:
        branch(m);
        break;
    case 9:
        frame(m);
        break;
    case 10:
    case 11:
        m->p->writable ? store_into_code(m) : any_insn(m);
        break;
    case 12:
        one_in(m, 60) ? fault(m) : any_insn(m);
        break;
    case 13:
        x87_insns(m);
        break;
    case 14:
        one_in(m, 4) ? mxcsr(m) : any_insn(m);
        break;
    default:
        any_insn(m);
    }
}

#define SEGMENTS 5u
#define SEGMENT_BYTES (3u * 4096u) /* each starts shortly before the end of its first page */

static uint64_t segment_start(struct maker *m, unsigned segment)
{
    return PROGRAM_CODE + segment * SEGMENT_BYTES + C2_PAGE_BYTES - 1 - below(m, one_in(m, 2) ? 40 : 400);
}

/* Masks of no element and of all are met often. */
static void random_wide(struct maker *m)
{
    struct cpu_wide wide;
    if (!m->model)
        return;
    c2_rng_fill(&m->rng, &wide, sizeof wide);
    for (unsigned i = 0; i < 8; i++)
        wide.opmask[i] = one_in(m, 5) ? 0 - below(m, 2) : wide.opmask[i];
    for (unsigned i = 0; i < CPU_COMPONENTS; i++)
        if (m->model->xcr0 & cpu_components[i].bit)
            memcpy((uint8_t *)&m->p->wide + cpu_components[i].at, (const uint8_t *)&wide + cpu_components[i].at,
                   cpu_components[i].bytes);
}

static void random_state(struct maker *m)
{
    struct native_state *s = &m->p->state;
    uint32_t mxcsr = 0x1f80 | (uint32_t)below(m, 64) | (uint32_t)below(m, 4) << 13;
    memset(s, 0, sizeof *s);
    c2_rng_fill(&m->rng, s->gpr, sizeof s->gpr);
    s->gpr[RSP] = PROGRAM_DATA + PROGRAM_DATA_BYTES - 0x2800 - 8 * below(m, 32);
    s->gpr[R12] = MIDDLE;
    s->gpr[R13] = 16 * below(m, 8);
    s->gpr[R14] = 1;
    s->flags = 0x202 | (c2_rng_next(&m->rng) & FLAGS_STATUS);
    put(s->fxsave, 0x37f, 2);
    memcpy(s->fxsave + 24, &mxcsr, 4);
    put(s->fxsave + 28, 0xffff, 4);
    c2_rng_fill(&m->rng, s->fxsave + 160, 256);
    c2_rng_fill(&m->rng, m->p->data, PROGRAM_DATA_BYTES);
    random_wide(m);
}

static void make_brief(struct maker *m)
{
    const bool faults = one_in(m, 2);
    for (uint64_t n = faults + below(m, 8); n > 0; n--)
        chunk(m);
    if (!faults)
        return;
    fault(m);
    some_insns(m, 0, 2);
}

void program_make(struct program *program, uint64_t seed, bool brief, const struct cpu_model *model,
                  const struct form *forms, size_t form_count)
{
    struct maker m = {.p = program, .model = model, .forms = forms, .form_count = form_count};
    memset(program, 0, sizeof *program);
    memset(program->code, 0xcc, sizeof program->code);
    c2_rng_init(&m.rng, seed, "sequences");
    program->seed = seed;
    program->brief = brief;
    program->writable = one_in(&m, 2);
    random_state(&m);
    m.at = program->entry = segment_start(&m, 0);
    const unsigned segments = brief ? 1 : SEGMENTS;
    for (unsigned i = 0; i < segments; i++) {
        for (uint64_t n = brief ? 0 : 5 + below(&m, 60); n > 0; n--)
            chunk(&m);
        if (brief)
            make_brief(&m);
        EMIT(&m, "\xe9\x00\x00\x00\x00");
        uint64_t distance = m.at - 4;
        m.at = i + 1 < segments ? segment_start(&m, i + 1) : PROGRAM_CODE + PROGRAM_CODE_BYTES - PROGRAM_END;
        patch32(&m, distance, m.at);
    }
    program->end = m.at;
    program->undefined[m.at - PROGRAM_CODE] = m.undefined;
}
