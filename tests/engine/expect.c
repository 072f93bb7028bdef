/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What is left out of the comparison because the card of interpret/forms.c says that it is not modelled, and the
 * references of an instruction: from Zydis' operand table, but from nothing that emu/ makes of it.
 */
#include <string.h>

#include "interpret/interpret.h"
#include "engine/forms.h"

enum { RCX = 1, RSP = 4, RBP = 5, RSI = 6, RDI = 7 };

/* ------------------------------------------------------------------ what is compared */

static bool is_approximate(const struct trial *t)
{
    return t->insn.mnemonic == ZYDIS_MNEMONIC_RCPPS || t->insn.mnemonic == ZYDIS_MNEMONIC_RCPSS ||
           t->insn.mnemonic == ZYDIS_MNEMONIC_RSQRTPS || t->insn.mnemonic == ZYDIS_MNEMONIC_RSQRTSS;
}

/* C0 C2 C3 are defined after comparisons; C1 is compared where it is a sign. */
static uint16_t defined_conditions(const struct trial *t)
{
    switch (t->insn.mnemonic) {
    case ZYDIS_MNEMONIC_FCOM:
    case ZYDIS_MNEMONIC_FCOMP:
    case ZYDIS_MNEMONIC_FCOMPP:
    case ZYDIS_MNEMONIC_FUCOM:
    case ZYDIS_MNEMONIC_FUCOMP:
    case ZYDIS_MNEMONIC_FUCOMPP:
    case ZYDIS_MNEMONIC_FICOM:
    case ZYDIS_MNEMONIC_FICOMP:
    case ZYDIS_MNEMONIC_FTST:
        return 0x4500;
    case ZYDIS_MNEMONIC_FXAM:
        return 0x4700;
    default:
        return 0;
    }
}

/* The upper half of a register may be lost: of BSF and BSR r32 when the source is 0 (older CPUs differ too), and RAX
 * when a 32-bit CMPXCHG succeeds. */
static int loose_register(const struct trial *t)
{
    if (t->insn.operand_width != 32)
        return -1;
    if (t->insn.mnemonic == ZYDIS_MNEMONIC_CMPXCHG)
        return 0;
    bool scans = t->insn.mnemonic == ZYDIS_MNEMONIC_BSF || t->insn.mnemonic == ZYDIS_MNEMONIC_BSR;
    return scans ? ZydisRegisterGetId(t->operands[0].reg.value) : -1;
}

struct expect_mask expect_mask_of(const struct trial *t)
{
    struct expect_mask mask = {
        .flags = 0xcd5, .status = 0xffff, .approximate = is_approximate(t), .loose_register = -1};
    if (interpret_wants(&t->insn, t->operands))
        return mask;
    mask.status = 0x383d | defined_conditions(t);
    mask.loose_register = loose_register(t);
    return mask;
}

/* ------------------------------------------------------------------ references */

static bool makes_none(const struct trial *t)
{
    switch (t->insn.meta.category) {
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
        return true;
    default:
        return t->insn.mnemonic == ZYDIS_MNEMONIC_LEA;
    }
}

/* Instructions made for caches: no reference, but one line that they name. */
static const struct {
    const char *name;
    enum stream_cache what;
} made_for_caches[] = {
    {"prefetch", STREAM_PREFETCH_T0},   {"prefetcht0", STREAM_PREFETCH_T0},   {"prefetcht1", STREAM_PREFETCH_T1},
    {"prefetcht2", STREAM_PREFETCH_T2}, {"prefetchnta", STREAM_PREFETCH_NTA}, {"prefetchw", STREAM_PREFETCH_W},
    {"clflush", STREAM_FLUSH},          {"clflushopt", STREAM_FLUSH},         {"clwb", STREAM_WRITE_BACK},
};

static bool is_made_for_caches(const struct trial *t, unsigned *how)
{
    const char *name = ZydisMnemonicGetString(t->insn.mnemonic);
    for (size_t i = 0; i < sizeof made_for_caches / sizeof made_for_caches[0]; i++)
        if (strcmp(name, made_for_caches[i].name) == 0) {
            *how = made_for_caches[i].what;
            return true;
        }
    return false;
}

static bool is_non_temporal(const struct trial *t)
{
    const char *name = ZydisMnemonicGetString(t->insn.mnemonic);
    return strncmp(name, "movnt", 5) == 0 || strncmp(name, "maskmov", 7) == 0;
}

static enum stream_kind kind_of(const ZydisDecodedOperand *o)
{
    bool reads = o->actions & ZYDIS_OPERAND_ACTION_MASK_READ, writes = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    return reads && writes ? STREAM_MODIFY : writes ? STREAM_WRITE : STREAM_READ;
}

/* BT and its kin with a register. */
static bool has_bit_number(const struct trial *t)
{
    bool is_bit_test = t->insn.mnemonic == ZYDIS_MNEMONIC_BT || t->insn.mnemonic == ZYDIS_MNEMONIC_BTS ||
                       t->insn.mnemonic == ZYDIS_MNEMONIC_BTR || t->insn.mnemonic == ZYDIS_MNEMONIC_BTC;
    return is_bit_test && t->operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
}

static uint64_t address_of(const struct trial *t, const ZydisDecodedOperand *o)
{
    const uint64_t *gpr = t->state.gpr;
    if (o->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT) {
        if (!has_bit_number(t))
            return t->place;
        /* the bit number, sign-extended from the operand's size, divided by it towards minus infinity */
        unsigned unused = 64 - o->size;
        int64_t number = (int64_t)(gpr[ZydisRegisterGetId(t->operands[1].reg.value)] << unused) >> unused;
        return t->place + (uint64_t)((number >> __builtin_ctz(o->size)) * (o->size / 8));
    }
    uint64_t gs = o->mem.segment == ZYDIS_REGISTER_GS ? t->gs_base : 0;
    uint64_t mask = t->insn.address_width == 32 ? 0xffffffff : ~0ull;
    switch (o->mem.base) {
    case ZYDIS_REGISTER_RSP:
        return gpr[RSP] - (kind_of(o) == STREAM_WRITE ? o->size / 8 : 0);
    case ZYDIS_REGISTER_RBP:
        return gpr[RBP];
    case ZYDIS_REGISTER_RBX:
    case ZYDIS_REGISTER_EBX:
        return ((gpr[3] + (gpr[0] & 0xff)) & mask) + gs;
    case ZYDIS_REGISTER_RSI:
    case ZYDIS_REGISTER_ESI:
        return (gpr[RSI] & mask) + gs;
    case ZYDIS_REGISTER_RDI:
    case ZYDIS_REGISTER_EDI:
        return (gpr[RDI] & mask) + gs;
    default:
        return t->place;
    }
}

static bool is_source(const ZydisDecodedOperand *o)
{
    return o->mem.base == ZYDIS_REGISTER_RSI || o->mem.base == ZYDIS_REGISTER_ESI;
}

static bool repeats(const struct trial *t)
{
    return t->insn.meta.category == ZYDIS_CATEGORY_STRINGOP &&
           (t->insn.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE));
}

static unsigned repeated_references(struct reference out[MAX_REFERENCES], const struct trial *t,
                                    const struct native_state *after)
{
    out[0] = (struct reference){.kind = STREAM_SOURCE};
    out[1] = (struct reference){.kind = STREAM_DESTINATION};
    for (unsigned i = 0; i < t->insn.operand_count; i++) {
        const ZydisDecodedOperand *o = &t->operands[i];
        if (o->type != ZYDIS_OPERAND_TYPE_MEMORY)
            continue;
        struct reference *r = &out[is_source(o) ? 0 : 1];
        r->size = o->size / 8;
        r->address = address_of(t, o);
    }
    const uint64_t done = t->state.gpr[RCX] - after->gpr[RCX];
    out[2] = (struct reference){.kind = STREAM_DONE, .address = t->state.flags & 0x400 ? 0 - done : done};
    out[3] = (struct reference){.kind = STREAM_REMAINING, .address = after->gpr[RCX]};
    return 4;
}

/* Order: reads in the order of the operands (of CMPS: the source first), then what is modified, then writes. */
static int rank(const struct trial *t, const struct reference *r, const ZydisDecodedOperand *o)
{
    bool compare = t->insn.meta.category == ZYDIS_CATEGORY_STRINGOP && r->kind == STREAM_READ;
    return (r->kind == STREAM_READ ? 0 : r->kind == STREAM_MODIFY ? 2 : 4) + (compare && !is_source(o));
}

unsigned expect_references(struct reference out[MAX_REFERENCES], const struct trial *t,
                           const struct native_state *after)
{
    unsigned count = 0;
    int ranks[MAX_REFERENCES];
    if (makes_none(t))
        return 0;
    if (repeats(t))
        return repeated_references(out, t, after);
    for (unsigned i = 0; i < t->insn.operand_count; i++) {
        const ZydisDecodedOperand *o = &t->operands[i];
        if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || o->mem.type != ZYDIS_MEMOP_TYPE_MEM)
            continue;
        struct reference r = {.kind = kind_of(o), .size = o->size / 8, .address = address_of(t, o)};
        r.how = r.kind == STREAM_WRITE && is_non_temporal(t);
        if (is_made_for_caches(t, &r.how)) {
            r.kind = STREAM_CACHE;
            r.size = 1;
        }
        int own = rank(t, &r, o);
        unsigned at = count++;
        for (; at > 0 && ranks[at - 1] > own; at--) {
            out[at] = out[at - 1];
            ranks[at] = ranks[at - 1];
        }
        out[at] = r;
        ranks[at] = own;
    }
    return count;
}
