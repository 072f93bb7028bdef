/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "engine/forms.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

/* ------------------------------------------------------------------ random contents */

static uint64_t below(struct c2_rng *rng, uint64_t limit) { return c2_rng_below(rng, limit); }

static uint64_t number(struct c2_rng *rng)
{
    uint64_t r = c2_rng_next(rng), bit = (uint64_t)1 << below(rng, 64);
    switch (below(rng, 8)) {
    case 0:
        return below(rng, 3) - 1;
    case 1:
        return bit + below(rng, 3) - 1;
    case 2:
        return ~bit;
    case 3:
        return r & 0xff;
    case 4:
        return r & c2_rng_next(rng) & c2_rng_next(rng);
    default:
        return r;
    }
}

static uint32_t any_float(struct c2_rng *rng)
{
    static const uint32_t special[] = {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                                       0x7fc00000, 0xffc12345, 0x7f812345, 0x00000001, 0x807fffff, 0x7f7fffff,
                                       0x4f000000, 0xcf000000, 0x4effffff, 0x00800000};
    uint32_t near = (uint32_t)c2_rng_next(rng);
    switch (below(rng, 4)) {
    case 0:
        return special[below(rng, 16)];
    case 1:
        return near;
    default: /* of a size that adds and converts */
        return (near & 0x807fffff) | (uint32_t)(127 - 12 + below(rng, 40)) << 23;
    }
}

static uint64_t any_double(struct c2_rng *rng)
{
    static const uint64_t special[] = {0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000,
                                       0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8123456789abc,
                                       0x7ff4000000000001, 0x0000000000000001, 0x800fffffffffffff, 0x7fefffffffffffff,
                                       0x41e0000000000000, 0xc3e0000000000000, 0x43e0000000000000, 0x38a0000000000000};
    uint64_t near = c2_rng_next(rng);
    switch (below(rng, 4)) {
    case 0:
        return special[below(rng, 16)];
    case 1:
        return near;
    default:
        return (near & 0x800fffffffffffff) | (1023 - 12 + below(rng, 70)) << 52;
    }
}

static void any_x87(uint8_t to[10], struct c2_rng *rng)
{
    uint64_t significand = c2_rng_next(rng) | (uint64_t)1 << 63;
    uint16_t exponent = (uint16_t)(16383 - 40 + below(rng, 80));
    switch (below(rng, 12)) {
    case 0:
        significand = 0;
        exponent = 0;
        break;
    case 1:
        exponent = 0x7fff;
        significand = (uint64_t)1 << 63;
        break;
    case 2:
        exponent = 0x7fff;
        significand |= (uint64_t)1 << 62;
        break;
    case 3:
        exponent = 0;
        significand >>= 1 + below(rng, 63);
        break;
    case 4:
        exponent = (uint16_t)(1 + below(rng, 0x7ffd));
        break;
    case 5:
        significand &= c2_mask(63 - (unsigned)below(rng, 40), 63); /* few bits: exact results */
        break;
    }
    exponent |= (uint16_t)(below(rng, 2) << 15);
    memcpy(to, &significand, 8);
    memcpy(to + 8, &exponent, 2);
}

/* Bytes of one type, chosen for the whole operand. */
static void fill(uint8_t *to, unsigned bytes, struct c2_rng *rng)
{
    uint64_t kind = below(rng, 4);
    for (unsigned i = 0; i + 8 <= bytes; i += 8) {
        uint64_t floats = any_float(rng) | (uint64_t)any_float(rng) << 32;
        uint64_t word = kind == 0 ? floats : kind == 1 ? any_double(rng) : number(rng);
        memcpy(to + i, &word, 8);
    }
    for (unsigned i = bytes & ~7u; i < bytes; i++)
        to[i] = (uint8_t)c2_rng_next(rng);
    if (kind == 3 && bytes >= 10)
        any_x87(to, rng);
}

/* What c2emu refuses with exceptions that trap. */
static bool stays_masked(ZydisMnemonic mnemonic)
{
    return mnemonic == ZYDIS_MNEMONIC_DPPS || mnemonic == ZYDIS_MNEMONIC_DPPD;
}

static void random_fpu(struct native_state *s, const struct form *form, struct c2_rng *rng)
{
    static const uint16_t precisions[] = {0x000, 0x200, 0x300, 0x300, 0x300};
    uint16_t control = 0x7f | (uint16_t)(below(rng, 4) << 10) | precisions[below(rng, 5)];
    unsigned top = (unsigned)below(rng, 8);
    uint16_t status = (uint16_t)(top << 11 | (c2_rng_next(rng) & 0x4700));
    uint32_t mxcsr = 0x1f80 | (uint32_t)below(rng, 4) << 13, mask = 0xffff;
    if (below(rng, 8) == 0) /* flush to zero, denormals are zero */
        mxcsr |= (uint32_t)below(rng, 2) << 15 | (uint32_t)below(rng, 2) << 6;
    if (!stays_masked(form->mnemonic) && below(rng, 4) == 0) /* some exceptions trap */
        mxcsr &= ~((uint32_t)below(rng, 64) << 7);
    if (below(rng, 2) == 0) /* raised already */
        mxcsr |= below(rng, 2) ? 0x20 : (uint32_t)below(rng, 64);
    memcpy(s->fxsave, &control, 2);
    memcpy(s->fxsave + 2, &status, 2);
    for (unsigned i = 0; i < (form->rm == 7 ? 8u : 7u); i++) /* one can be pushed, all others can be read */
        s->fxsave[4] |= (uint8_t)(1u << ((top + i) & 7));
    memcpy(s->fxsave + 24, &mxcsr, 4);
    memcpy(s->fxsave + 28, &mask, 4);
    for (unsigned i = 0; i < 8; i++)
        any_x87(s->fxsave + 32 + 16 * i, rng);
    for (unsigned i = 0; i < 16; i++)
        fill(s->fxsave + 160 + 16 * i, 16, rng);
}

/* ------------------------------------------------------------------ encoding */

enum mode { MODE_BASE, MODE_BASE_DISP8, MODE_BASE_DISP32, MODE_INDEX, MODE_RIP, MODE_ABSOLUTE, MODE_COUNT };

struct encoding {
    enum mode mode;
    bool narrow; /* prefix 67h */
    bool gs;
    unsigned base, index, scale;
    int32_t displacement;
    unsigned reg, rm, vvvv;
};

static void choose_encoding(struct encoding *e, const struct form *form, struct c2_rng *rng)
{
    bool high = form->byte_registers && !form->wide && below(rng, 3) == 0; /* AH..BH: no REX then */
    unsigned registers = high ? 8 : 16;
    e->mode = (enum mode)below(rng, MODE_COUNT);
    e->narrow = form->memory && below(rng, 10) == 0;
    e->gs = form->memory && below(rng, 10) == 0;
    e->base = (unsigned)below(rng, registers);
    do {
        e->index = (unsigned)below(rng, registers);
    } while (e->index == e->base || e->index == RSP);
    e->scale = (unsigned)below(rng, 4);
    e->displacement = (int32_t)below(rng, 200) - 100;
    e->reg = form->reg >= 0 ? (unsigned)form->reg : (unsigned)below(rng, registers);
    e->rm = form->rm >= 0 ? (unsigned)form->rm : below(rng, 6) == 0 ? e->reg : (unsigned)below(rng, registers);
    e->vvvv = (unsigned)below(rng, 16);
    if (e->base == RSP) /* RSP itself must stay a stack */
        e->gs = false;
    if (e->mode == MODE_BASE && (e->base & 7) == RBP)
        e->mode = MODE_BASE_DISP8;
}

static unsigned put_modrm(uint8_t *out, const struct form *form, const struct encoding *e)
{
    unsigned n = 0, reg = (e->reg & 7) << 3;
    if (!form->memory) {
        out[n++] = (uint8_t)(0xc0 | reg | (e->rm & 7));
        return n;
    }
    bool is_rip = e->mode == MODE_RIP, absolute = e->mode == MODE_ABSOLUTE;
    bool sib = absolute || e->mode == MODE_INDEX || (e->base & 7) == RSP;
    unsigned mod = is_rip || absolute || e->mode == MODE_BASE ? 0 : e->mode == MODE_BASE_DISP8 ? 1 : 2;
    if (is_rip)
        sib = false;
    out[n++] = (uint8_t)(mod << 6 | reg | (is_rip ? 5 : sib ? 4 : e->base & 7));
    if (sib && absolute)
        out[n++] = 0x25;
    else if (sib && e->mode == MODE_INDEX)
        out[n++] = (uint8_t)(e->scale << 6 | (e->index & 7) << 3 | (e->base & 7));
    else if (sib)
        out[n++] = (uint8_t)(4 << 3 | (e->base & 7));
    unsigned bytes = is_rip || absolute || mod == 2 ? 4 : mod;
    memcpy(out + n, &e->displacement, 4);
    return n + bytes;
}

static void put_rex(uint8_t *out, unsigned *n, const struct form *form, const struct encoding *e)
{
    bool uses_base = form->memory && e->mode != MODE_RIP && e->mode != MODE_ABSOLUTE;
    unsigned x = form->memory && e->mode == MODE_INDEX && e->index > 7;
    unsigned b = form->memory ? uses_base && e->base > 7 : e->rm > 7;
    unsigned r = e->reg > 7;
    if (form->vex) {
        out[(*n)++] = 0xc4;
        out[(*n)++] = (uint8_t)(!r << 7 | !x << 6 | !b << 5 | form->map);
        out[(*n)++] = (uint8_t)(form->wide << 7 | (~e->vvvv & 15) << 3 | form->vex_pp);
        return;
    }
    unsigned rex = (unsigned)form->wide << 3 | r << 2 | x << 1 | b;
    if (rex && form->has_modrm)
        out[(*n)++] = (uint8_t)(0x40 | rex);
    else if (form->wide || (!form->has_modrm && e->rm > 7)) /* the register in the opcode, or none */
        out[(*n)++] = (uint8_t)(0x40 | form->wide << 3 | (e->rm > 7));
}

static void encode(struct trial *t, const struct encoding *e, struct c2_rng *rng)
{
    const struct form *form = t->form;
    unsigned n = 0;
    if (e->narrow)
        t->bytes[n++] = 0x67;
    if (e->gs)
        t->bytes[n++] = 0x65;
    for (unsigned i = 0; i < form->prefix_count; i++)
        t->bytes[n++] = form->prefixes[i];
    put_rex(t->bytes, &n, form, e);
    if (!form->vex) {
        if (form->map != MAP_ONE)
            t->bytes[n++] = 0x0f;
        if (form->map > MAP_0F)
            t->bytes[n++] = form->map == MAP_0F38 ? 0x38 : 0x3a;
    }
    t->bytes[n++] = form->opcode;
    if (form->has_modrm)
        n += put_modrm(t->bytes + n, form, e);
    while (n < sizeof t->bytes)
        t->bytes[n++] = (uint8_t)c2_rng_next(rng);
}

static bool decode(struct trial *t)
{
    if (!forms_decode(&t->insn, t->operands, t->bytes, sizeof t->bytes) || t->insn.mnemonic != t->form->mnemonic)
        return false;
    t->length = t->insn.length;
    return true;
}

static void patch(struct trial *t, unsigned offset, unsigned bytes, uint64_t value)
{
    C2_ASSERT(offset > 0 && offset + bytes <= t->length);
    memcpy(t->bytes + offset, &value, bytes);
    bool good = decode(t);
    C2_ASSERT(good);
}

/* ------------------------------------------------------------------ places */

static bool is_memory(const ZydisDecodedOperand *o)
{
    return o->type == ZYDIS_OPERAND_TYPE_MEMORY &&
           (o->mem.type == ZYDIS_MEMOP_TYPE_MEM || o->mem.type == ZYDIS_MEMOP_TYPE_AGEN);
}

static const ZydisDecodedOperand *explicit_memory(const struct trial *t)
{
    for (unsigned i = 0; i < t->insn.operand_count_visible; i++)
        if (is_memory(&t->operands[i]) && t->operands[i].visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT)
            return &t->operands[i];
    return NULL;
}

static bool uses_stack_pointer(const struct trial *t)
{
    const ZydisDecodedOperand *o = explicit_memory(t);
    return o && (o->mem.base == ZYDIS_REGISTER_RSP || o->mem.base == ZYDIS_REGISTER_ESP);
}

static uint64_t choose_place(const struct trial *t, unsigned bits, struct c2_rng *rng)
{
    uint64_t offset = below(rng, 3) == 0 ? 8192 - 20 + below(rng, 40) : 2600 + below(rng, 10000);
    bool spreads = t->insn.meta.category == ZYDIS_CATEGORY_STRINGOP ||
                   t->insn.meta.category == ZYDIS_CATEGORY_BITBYTE || t->insn.mnemonic == ZYDIS_MNEMONIC_XLAT ||
                   uses_stack_pointer(t);
    if (!spreads && below(rng, 8) == 0)
        return t->data + DATA_BYTES - bits / 8; /* behind it lies nothing: a read of too much meets a fault */
    bool aligned = (bits == 128 && !forms_unaligned(&t->insn)) || bits == 4096;
    return t->data + (aligned ? offset & ~15ull : offset);
}

static void set_register(struct trial *t, ZydisRegister reg, uint64_t value)
{
    t->state.gpr[ZydisRegisterGetId(reg)] = value;
}

static uint64_t get_register(const struct trial *t, ZydisRegister reg)
{
    uint64_t value = t->state.gpr[ZydisRegisterGetId(reg)];
    return ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_GPR32 ? value & 0xffffffff : value;
}

/* Makes the explicit memory operand lie at t->place, by its base register or its displacement. */
static void aim(struct trial *t, const struct encoding *e, struct c2_rng *rng)
{
    const ZydisDecodedOperand *o = explicit_memory(t);
    if (!o)
        return;
    t->place = choose_place(t, o->size, rng);
    if (e->gs && e->narrow && t->place < t->gs_base) /* 32 bits and a base reach nothing below the base */
        t->place += 4096;
    uint64_t target = t->place - (e->gs ? t->gs_base : 0);
    if (t->insn.mnemonic == ZYDIS_MNEMONIC_POP && e->mode != MODE_RIP && e->mode != MODE_ABSOLUTE && e->base == RSP)
        target -= o->size / 8;         /* its address is made after the pop */
    if (t->insn.raw.disp.size == 64) { /* mov al, moffs */
        patch(t, t->insn.raw.disp.offset, 8, target);
        return;
    }
    if (t->insn.raw.disp.size == 32 && !t->form->has_modrm) {
        patch(t, t->insn.raw.disp.offset, 4, target);
        return;
    }
    if (e->mode == MODE_RIP) {
        patch(t, t->insn.raw.disp.offset, 4, target - (t->code + t->length));
        return;
    }
    if (e->mode == MODE_ABSOLUTE) {
        patch(t, t->insn.raw.disp.offset, 4, target);
        return;
    }
    if (o->mem.index != ZYDIS_REGISTER_NONE) {
        set_register(t, o->mem.index, below(rng, 60));
        target -= get_register(t, o->mem.index) * o->mem.scale;
    }
    target -= (uint64_t)o->mem.disp.value;
    if (e->narrow && e->base != RSP) /* the upper half does not count */
        target = (target & 0xffffffff) | c2_rng_next(rng) << 32;
    set_register(t, o->mem.base, target);
}

/* RSP and ESP, say. */
static bool same_gpr(ZydisRegister a, ZydisRegister b)
{
    return b != ZYDIS_REGISTER_NONE && b != ZYDIS_REGISTER_RIP && b != ZYDIS_REGISTER_EIP &&
           ZydisRegisterGetId(a) == ZydisRegisterGetId(b);
}

/* Hidden operands: [rsi], [rdi], [rsp], [rbp], [rbx+al]. */
static void aim_hidden(struct trial *t, struct c2_rng *rng)
{
    const ZydisDecodedOperand *visible = explicit_memory(t);
    for (unsigned i = 0; i < t->insn.operand_count; i++) {
        const ZydisDecodedOperand *o = &t->operands[i];
        if (!is_memory(o) || o == visible || o->mem.base == ZYDIS_REGISTER_NONE)
            continue;
        bool taken = visible && (same_gpr(o->mem.base, visible->mem.base) || same_gpr(o->mem.base, visible->mem.index));
        if (!taken)
            set_register(t, o->mem.base, choose_place(t, o->size, rng));
    }
    if (t->insn.mnemonic == ZYDIS_MNEMONIC_LEAVE)
        t->state.gpr[RBP] = choose_place(t, 64, rng);
}

static uint8_t *memory_at(struct trial *t, uint64_t address) { return t->memory + (address - t->data); }

/* ------------------------------------------------------------------ special needs */

static void need_branch(struct trial *t)
{
    uint64_t taken = t->code + TRIAL_TAKEN;
    if (t->insn.raw.imm[0].is_relative) {
        unsigned bytes = t->insn.raw.imm[0].size / 8;
        patch(t, t->insn.raw.imm[0].offset, bytes, taken - (t->code + t->length));
        return;
    }
    if (t->insn.mnemonic == ZYDIS_MNEMONIC_RET) {
        memcpy(memory_at(t, t->state.gpr[RSP]), &taken, 8);
        return;
    }
    const ZydisDecodedOperand *o = explicit_memory(t);
    if (o)
        memcpy(memory_at(t, t->place), &taken, 8);
    else
        set_register(t, t->operands[0].reg.value, taken);
}

static bool is_branch(const struct trial *t) { return t->insn.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE; }

/* Division that mostly fits its quotient. */
static void need_division(struct trial *t, struct c2_rng *rng)
{
    bool has_sign = t->insn.mnemonic == ZYDIS_MNEMONIC_IDIV;
    uint64_t rax = t->state.gpr[RAX];
    if (below(rng, 4) == 0)
        return;
    switch (t->operands[0].size) {
    case 8:
        t->state.gpr[RAX] = (rax & ~0xff00ull) | (has_sign && (rax & 0x80) ? 0xff00 : 0);
        break;
    case 16:
        t->state.gpr[RDX] = (t->state.gpr[RDX] & ~0xffffull) | (has_sign && (rax & 0x8000) ? 0xffff : 0);
        break;
    case 32:
        t->state.gpr[RDX] = has_sign && (rax & 0x80000000) ? 0xffffffff : 0;
        break;
    default:
        t->state.gpr[RDX] = has_sign && rax >> 63 ? ~0ull : 0;
    }
}

static bool is_bit_test(const struct trial *t)
{
    return t->insn.mnemonic == ZYDIS_MNEMONIC_BT || t->insn.mnemonic == ZYDIS_MNEMONIC_BTS ||
           t->insn.mnemonic == ZYDIS_MNEMONIC_BTR || t->insn.mnemonic == ZYDIS_MNEMONIC_BTC;
}

/* The bit number reaches around the operand: not too far. */
static void need_bit_number(struct trial *t, struct c2_rng *rng)
{
    const ZydisDecodedOperand *o = explicit_memory(t), *bit = &t->operands[1];
    if (!o || bit->type != ZYDIS_OPERAND_TYPE_REGISTER)
        return;
    ZyanI8 id = ZydisRegisterGetId(bit->reg.value);
    bool shared = (o->mem.base != ZYDIS_REGISTER_NONE && o->mem.base != ZYDIS_REGISTER_RIP &&
                   o->mem.base != ZYDIS_REGISTER_EIP && ZydisRegisterGetId(o->mem.base) == id) ||
                  (o->mem.index != ZYDIS_REGISTER_NONE && ZydisRegisterGetId(o->mem.index) == id);
    if (shared) { /* bit number and address at once: take a bit number in the operand instead */
        t->bytes[0] = 0;
        return;
    }
    t->state.gpr[id] = below(rng, 16000) - 8000;
}

/* What is loaded into control registers must be allowed there, and what is decimal must be. */
static void need_loadable(struct trial *t, struct c2_rng *rng)
{
    uint8_t *at = t->place ? memory_at(t, t->place) : NULL;
    uint16_t control = 0x7f | (uint16_t)(below(rng, 4) << 10) | 0x300;
    uint32_t mxcsr = 0x1f80 | (uint32_t)below(rng, 8) << 13 | (uint32_t)below(rng, 64) | (uint32_t)below(rng, 2) << 6;
    if (below(rng, 2) == 0)
        mxcsr &= ~((uint32_t)below(rng, 64) << 7);
    switch (t->insn.mnemonic) {
    case ZYDIS_MNEMONIC_LDMXCSR:
        memcpy(at, &mxcsr, 4);
        break;
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
        memcpy(at + 24, &mxcsr, 4);
        memcpy(at, &control, 2);
        break;
    case ZYDIS_MNEMONIC_FLDCW:
    case ZYDIS_MNEMONIC_FLDENV:
    case ZYDIS_MNEMONIC_FRSTOR:
        memcpy(at, &control, 2);
        break;
    case ZYDIS_MNEMONIC_FBLD: /* digits */
        for (unsigned i = 0; i < 9; i++)
            at[i] &= 0x77;
        break;
    case ZYDIS_MNEMONIC_POPF:
    case ZYDIS_MNEMONIC_POPFQ: { /* no trap flag, no alignment check, no nested task */
        uint8_t *flags = memory_at(t, t->state.gpr[RSP]);
        uint64_t allowed = 0x200ed5, kept;
        memcpy(&kept, flags, 8);
        kept &= allowed;
        memcpy(flags, &kept, 8);
        break;
    }
    default:
        break;
    }
}

static void need_counts(struct trial *t, struct c2_rng *rng)
{
    if (t->insn.meta.category == ZYDIS_CATEGORY_STRINGOP) {
        t->state.gpr[RCX] = below(rng, 250);
        if (below(rng, 4) == 0)
            t->state.gpr[RCX] = 0;
        t->state.flags |= below(rng, 2) << 10;
    }
    if (t->insn.mnemonic == ZYDIS_MNEMONIC_ENTER) {
        patch(t, t->insn.raw.imm[0].offset, 2, below(rng, 100));
        patch(t, t->insn.raw.imm[1].offset, 1, 0);
    }
    if (t->insn.mnemonic == ZYDIS_MNEMONIC_LOOP || t->insn.mnemonic == ZYDIS_MNEMONIC_LOOPE ||
        t->insn.mnemonic == ZYDIS_MNEMONIC_LOOPNE || t->insn.mnemonic == ZYDIS_MNEMONIC_JRCXZ ||
        t->insn.mnemonic == ZYDIS_MNEMONIC_JECXZ)
        t->state.gpr[RCX] = below(rng, 3);
}

/* CMPS: *source is where its other elements are; SCAS: they are RAX. */
static bool compares_strings(const struct trial *t, bool *source)
{
    const ZydisMnemonic m = t->insn.mnemonic;
    *source = m == ZYDIS_MNEMONIC_CMPSB || m == ZYDIS_MNEMONIC_CMPSW || m == ZYDIS_MNEMONIC_CMPSD ||
              m == ZYDIS_MNEMONIC_CMPSQ;
    return t->insn.meta.category == ZYDIS_CATEGORY_STRINGOP &&
           (*source || m == ZYDIS_MNEMONIC_SCASB || m == ZYDIS_MNEMONIC_SCASW || m == ZYDIS_MNEMONIC_SCASD ||
            m == ZYDIS_MNEMONIC_SCASQ);
}

/* Counts that no memory holds, as inline strlen has them: some elements on lies what ends REPE and REPNE. */
static void need_high_count(struct trial *t, struct c2_rng *rng)
{
    bool source;
    const bool equal = t->insn.attributes & ZYDIS_ATTRIB_HAS_REPNE;
    const uint64_t rsi = t->state.gpr[RSI], rdi = t->state.gpr[RDI], apart = rsi > rdi ? rsi - rdi : rdi - rsi;
    if (!compares_strings(t, &source) || (!equal && !(t->insn.attributes & ZYDIS_ATTRIB_HAS_REPE)) ||
        below(rng, 2) == 0 || (source && apart < 8))
        return;
    const unsigned bytes = t->operands[0].size / 8;
    const uint64_t distance = below(rng, 20) * bytes, step = t->state.flags & 0x400 ? 0 - distance : distance;
    uint64_t other = t->state.gpr[RAX];
    if (source)
        memcpy(&other, memory_at(t, rsi + step), bytes);
    other ^= !equal;
    memcpy(memory_at(t, rdi + step), &other, bytes);
    t->state.gpr[RCX] = (uint64_t)1 << 63 | c2_rng_next(rng);
}

/* A comparison that succeeds now and then. */
static void need_equal(struct trial *t, struct c2_rng *rng)
{
    const ZydisDecodedOperand *o = explicit_memory(t);
    if (!o || below(rng, 2) == 0)
        return;
    uint8_t *at = memory_at(t, t->place);
    if (t->insn.mnemonic == ZYDIS_MNEMONIC_CMPXCHG) {
        memcpy(at, &t->state.gpr[RAX], o->size / 8);
    } else if (t->insn.mnemonic == ZYDIS_MNEMONIC_CMPXCHG8B || t->insn.mnemonic == ZYDIS_MNEMONIC_CMPXCHG16B) {
        memcpy(at, &t->state.gpr[RAX], o->size / 16);
        memcpy(at + o->size / 16, &t->state.gpr[RDX], o->size / 16);
    }
}

/* What cannot be tried: a call through RSP would push into the code it calls. */
static bool is_hopeless(const struct trial *t)
{
    if (forms_refused(&t->insn, t->operands)) /* by its registers or its immediate */
        return true;
    return t->insn.mnemonic == ZYDIS_MNEMONIC_CALL && t->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           t->operands[0].reg.value == ZYDIS_REGISTER_RSP;
}

/* ------------------------------------------------------------------ all of it */

static bool make_once(struct trial *t, struct c2_rng *rng)
{
    struct encoding e = {0};
    t->place = 0;
    choose_encoding(&e, t->form, rng);
    encode(t, &e, rng);
    if (!decode(t) || is_hopeless(t))
        return false;
    memset(&t->state, 0, sizeof t->state);
    for (int i = 0; i < 16; i++)
        t->state.gpr[i] = number(rng);
    t->state.gpr[RSP] = t->data + 8192 + 8 * below(rng, 100);
    t->state.flags = 0x202 | (c2_rng_next(rng) & 0x8d5);
    random_fpu(&t->state, t->form, rng);
    c2_rng_fill(rng, t->memory, 512);
    for (unsigned i = 512; i < DATA_BYTES; i += 512)
        memcpy(t->memory + i, t->memory, 512);
    if (t->insn.mnemonic == ZYDIS_MNEMONIC_DIV || t->insn.mnemonic == ZYDIS_MNEMONIC_IDIV)
        need_division(t, rng);
    need_counts(t, rng);
    if (is_bit_test(t))
        need_bit_number(t, rng);
    if (t->bytes[0] == 0 && t->form->opcode != 0)
        return false;
    aim(t, &e, rng);
    aim_hidden(t, rng);
    if (t->place) {
        uint64_t room = t->data + DATA_BYTES - t->place;
        fill(memory_at(t, t->place), room < 64 ? (unsigned)room : 64, rng);
    }
    need_equal(t, rng);
    need_high_count(t, rng);
    if (is_branch(t))
        need_branch(t);
    need_loadable(t, rng);
    return true;
}

void trial_make(struct trial *trial, const struct form *form, uint64_t code, uint64_t data, uint64_t gs_base,
                struct c2_rng *rng)
{
    trial->form = form;
    trial->code = code;
    trial->data = data;
    trial->gs_base = gs_base;
    unsigned tries = 0;
    while (!make_once(trial, rng)) {
        tries++;
        C2_ASSERT(tries < 1000);
    }
}
