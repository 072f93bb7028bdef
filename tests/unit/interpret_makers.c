/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/interpret_makers.h"

#include <signal.h>
#include <string.h>

enum { CF = 1, PF = 4, AF = 0x10, ZF = 0x40, SF = 0x80, OF = 0x800, STATUS = CF | PF | AF | ZF | SF | OF };
enum { RCX = 1 };

/* ------------------------------------------------------------------ when a row applies */

/* Of a shift: CL, an immediate, or the 1 of the short form. */
static unsigned count_of(const struct makers_case *c)
{
    bool is_double = c->insn->mnemonic == ZYDIS_MNEMONIC_SHLD || c->insn->mnemonic == ZYDIS_MNEMONIC_SHRD;
    const ZydisDecodedOperand *o = &c->operands[is_double ? 2 : 1];
    uint64_t raw = o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? o->imm.value.u : c->before->gpr[RCX];
    return raw & (c->operands[0].size == 64 ? 63 : 31);
}

static bool shifts(const struct makers_case *c) { return count_of(c) != 0; }
static bool shifts_by_many(const struct makers_case *c) { return count_of(c) > 1; }
static bool shifts_all_out(const struct makers_case *c) { return count_of(c) >= c->operands[0].size; }
static bool shifts_beyond(const struct makers_case *c) { return count_of(c) > c->operands[0].size; }

static bool repeats_into_fault(const struct makers_case *c)
{
    bool repeats = c->insn->attributes & (ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
    return repeats && c->insn->meta.category == ZYDIS_CATEGORY_STRINGOP && c->end->signal == SIGSEGV;
}

static bool completes(const struct makers_case *c) { return c->end->signal == 0; }
static bool reported_at_itself(const struct makers_case *c) { return c->end->rip == c->at; }

/* ------------------------------------------------------------------ our choices */

/* Destination, source and destination again in a row; the result is the 16 bits that come to lie where the first or the
 * last of them was. */
static void choose_double_shift(const struct makers_case *c)
{
    const ZydisDecodedOperand *to = &c->operands[0];
    unsigned id = to->type == ZYDIS_OPERAND_TYPE_REGISTER ? (unsigned)ZydisRegisterGetId(to->reg.value) : 0;
    bool left = c->insn->mnemonic == ZYDIS_MNEMONIC_SHLD;
    uint16_t destination = (uint16_t)c->before->gpr[id];
    uint16_t source = (uint16_t)c->before->gpr[ZydisRegisterGetId(c->operands[1].reg.value)];
    if (to->type == ZYDIS_OPERAND_TYPE_MEMORY)
        memcpy(&destination, c->memory_before, 2);
    uint64_t row = (uint64_t)destination << 32 | (uint64_t)source << 16 | destination;
    uint16_t result = (uint16_t)(row >> (left ? 32 - count_of(c) : count_of(c)));
    if (c->wrong)
        result ^= 1;
    if (to->type == ZYDIS_OPERAND_TYPE_MEMORY)
        memcpy(c->memory, &result, 2);
    else
        c->after->gpr[id] = (c->after->gpr[id] & ~(uint64_t)0xffff) | result;
}

static void choose_old_flags(const struct makers_case *c)
{
    uint64_t old = c->before->flags & STATUS;
    c->after->flags = (c->after->flags & ~(uint64_t)STATUS) | (c->wrong ? old ^ STATUS : old);
}

static void choose_mxcsr_mask(const struct makers_case *c)
{
    uint32_t mask = c->wrong ? 0x2ffff : 0xffff;
    memcpy(c->memory + 28, &mask, 4);
}

static void choose_behind(const struct makers_case *c) { c->end->rip = c->at + (c->wrong ? 0 : c->insn->length); }

/* ------------------------------------------------------------------ the table */

#define M(name) ZYDIS_MNEMONIC_##name
#define BOTH(page) "Intel SDM volume 2 and AMD APM volume 3, " page

struct row {
    ZydisMnemonic of[12];                        /* up to the first 0 */
    bool (*when)(const struct makers_case *c);   /* NULL: always */
    uint64_t flags;                              /* undefined */
    void (*choose)(const struct makers_case *c); /* or NULL */
    const char *reason, *source;
};

static const struct row rows[] = {
    {{M(AND), M(OR), M(XOR), M(TEST)}, NULL, AF, NULL, "a logical operation leaves AF undefined", BOTH("AND")},
    {{M(MUL), M(IMUL)},
     NULL,
     SF | ZF | AF | PF,
     NULL,
     "a product tells only in CF and OF whether it fits",
     BOTH("MUL, IMUL")},
    {{M(DIV), M(IDIV)}, NULL, STATUS, NULL, "a division leaves all flags undefined", BOTH("DIV, IDIV")},
    {{M(BT), M(BTS), M(BTR), M(BTC)}, NULL, OF | SF | AF | PF, NULL, "a bit test defines CF and keeps ZF", BOTH("BT")},
    {{M(BSF), M(BSR)}, NULL, CF | OF | SF | AF | PF, NULL, "a bit scan defines ZF alone", BOTH("BSF, BSR")},
    {{M(LZCNT), M(TZCNT)}, NULL, OF | SF | AF | PF, NULL, "a count of zeros defines CF and ZF", BOTH("LZCNT, TZCNT")},
    {{M(ANDN), M(BZHI), M(BLSI), M(BLSR), M(BLSMSK)},
     NULL,
     AF | PF,
     NULL,
     "BMI instructions leave AF and PF undefined",
     BOTH("ANDN, BZHI, BLSI")},
    {{M(BEXTR)}, NULL, AF | SF | PF, NULL, "BEXTR leaves SF undefined as well", BOTH("BEXTR")},
    {{M(SHL), M(SHR), M(SAR), M(SHLD), M(SHRD)},
     shifts,
     AF,
     NULL,
     "a shift that shifts leaves AF undefined",
     BOTH("SHL, SHLD")},
    {{M(SHL), M(SHR), M(SAR), M(SHLD), M(SHRD), M(ROL), M(ROR), M(RCL), M(RCR)},
     shifts_by_many,
     OF,
     NULL,
     "OF is defined for shifts and rotates by 1 only",
     BOTH("SHL, SHLD, ROL")},
    {{M(SHL), M(SHR)},
     shifts_all_out,
     CF,
     NULL,
     "no bit of the operand is the last one shifted out: CF is undefined",
     "Intel SDM volume 2, SAL/SAR/SHL/SHR"},
    {{M(SHLD), M(SHRD)},
     shifts_beyond,
     STATUS,
     choose_double_shift,
     "16 bits shifted by more than 16 are undefined. Intel's CPUs go on with the destination, as we do; AMD's repeat "
     "the source",
     BOTH("SHLD, SHRD") "; both observed"},
    {{M(CMPSB), M(CMPSW), M(CMPSD), M(CMPSQ), M(SCASB), M(SCASW), M(SCASD), M(SCASQ)},
     repeats_into_fault,
     0,
     choose_old_flags,
     "a repeated comparison that ends in a page fault shows the handler the flags from before it: Intel's manual says "
     "so, and we do so. AMD's does not say it, and AMD's CPUs show those of the last comparison",
     "Intel SDM volume 2, REP; AMD APM volume 3, Repeat Prefixes; both observed"},
    {{M(FXSAVE), M(FXSAVE64)},
     completes,
     0,
     choose_mxcsr_mask,
     "MXCSR_MASK names the bits of MXCSR that the CPU has: on AMD's also bit 17, misaligned accesses, which our CPU "
     "has not",
     "Intel SDM volume 1, 11.6.6; AMD APM volume 1, MXCSR Register"},
    {{M(INT1)},
     reported_at_itself,
     0,
     choose_behind,
     "INT1 is a trap, so RIP is behind it; but a hypervisor that intercepts the trap on AMD's CPUs may raise it again "
     "without having gone past the instruction",
     "Intel SDM volume 3, 6.15, debug exception; observed in a virtual machine"},
};
#define ROWS (sizeof rows / sizeof rows[0])
static unsigned applied[ROWS];

static bool is_about(const struct row *row, ZydisMnemonic mnemonic)
{
    for (unsigned i = 0; i < 12 && row->of[i] != ZYDIS_MNEMONIC_INVALID; i++)
        if (row->of[i] == mnemonic)
            return true;
    return false;
}

uint64_t makers_settle(const struct makers_case *c)
{
    uint64_t undefined = 0;
    for (size_t i = 0; i < ROWS; i++) {
        const struct row *row = &rows[i];
        if (!is_about(row, c->insn->mnemonic) || (row->when && !row->when(c)))
            continue;
        applied[i]++;
        undefined |= row->flags;
        if (row->choose)
            row->choose(c);
    }
    return undefined;
}

void makers_report(FILE *to)
{
    for (size_t i = 0; i < ROWS; i++)
        if (applied[i] > 0)
            fprintf(to, "%s %u times: %s (%s)\n", rows[i].choose ? "our choice" : "not compared", applied[i],
                    rows[i].reason, rows[i].source);
}
