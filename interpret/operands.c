/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Operands of one instruction: registers by name, memory by effective address. Guest memory is read and written at
 *   its own address in this process, after the pages' rights have been asked for.
 * Invariants
 *   Nothing is changed before every access of the instruction has been found possible, but by ENTER.
 * Source
 *   Intel SDM volume 1, 3.7.5 (addressing in 64-bit mode), volume 2, 3.1.1.9 (bit offsets).
 */
#include <signal.h>

#include "interpret/interpret_priv.h"

bool interpret_is_memory(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.type == ZYDIS_MEMOP_TYPE_MEM;
}

/* AH CH DH BH are the second bytes of the first four registers; Zydis numbers them 4..7 and SPL.. from 8 on. */
static bool is_high_byte(ZydisRegister reg) { return reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH; }

static unsigned gpr_of(ZydisRegister reg)
{
    if (is_high_byte(reg))
        return (unsigned)(reg - ZYDIS_REGISTER_AH);
    if (reg >= ZYDIS_REGISTER_AL && reg <= ZYDIS_REGISTER_BL)
        return (unsigned)(reg - ZYDIS_REGISTER_AL);
    if (reg >= ZYDIS_REGISTER_SPL && reg <= ZYDIS_REGISTER_R15B)
        return (unsigned)(reg - ZYDIS_REGISTER_SPL) + RSP;
    ZyanI8 id = ZydisRegisterGetId(reg);
    C2_ASSERT(id >= 0 && id < 16);
    return (unsigned)id;
}

static unsigned operands_bits_of(ZydisRegister reg)
{
    switch (ZydisRegisterGetClass(reg)) {
    case ZYDIS_REGCLASS_GPR8:
        return 8;
    case ZYDIS_REGCLASS_GPR16:
        return 16;
    case ZYDIS_REGCLASS_GPR32:
        return 32;
    default:
        C2_ASSERT(ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_GPR64);
        return 64;
    }
}

uint64_t interpret_get_register(const struct interpret_cpu *cpu, ZydisRegister reg)
{
    uint64_t whole = cpu->get_gpr(cpu->self, gpr_of(reg));
    if (is_high_byte(reg))
        whole >>= 8;
    return whole & c2_mask(0, operands_bits_of(reg) - 1);
}

void interpret_set_register(const struct interpret_cpu *cpu, ZydisRegister reg, uint64_t value)
{
    unsigned gpr = gpr_of(reg), bits = operands_bits_of(reg), shift = is_high_byte(reg) ? 8 : 0;
    uint64_t mask = c2_mask(0, bits - 1) << shift;
    uint64_t kept = bits >= 32 ? 0 : cpu->get_gpr(cpu->self, gpr) & ~mask;
    cpu->set_gpr(cpu->self, gpr, kept | (value << shift & mask));
}

/* ------------------------------------------------------------------ addresses */

static uint64_t base_value(const struct interpret_cpu *cpu, struct guest_va pc, const ZydisDecodedInstruction *insn,
                           ZydisRegister reg)
{
    if (reg == ZYDIS_REGISTER_NONE)
        return 0;
    if (reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_EIP)
        return pc.v + insn->length;
    return interpret_get_register(cpu, reg);
}

/* BT, BTS, BTR, BTC with a register as bit number reach any bit around the operand: the number, signed, counts whole
 * operands up or down from the address. */
static uint64_t bit_offset(const struct interpret_cpu *cpu, const ZydisDecodedInstruction *insn,
                           const ZydisDecodedOperand *operand)
{
    if (insn->mnemonic != ZYDIS_MNEMONIC_BT && insn->mnemonic != ZYDIS_MNEMONIC_BTS &&
        insn->mnemonic != ZYDIS_MNEMONIC_BTR && insn->mnemonic != ZYDIS_MNEMONIC_BTC)
        return 0;
    const ZydisDecodedOperand *number = operand - operand->id + 1;
    if (number->type != ZYDIS_OPERAND_TYPE_REGISTER)
        return 0;
    uint64_t raw = interpret_get_register(cpu, number->reg.value);
    int64_t bit = (int64_t)(raw << (64 - operand->size)) >> (64 - operand->size);
    int64_t step = operand->size; /* round towards minus infinity, also for negative numbers */
    int64_t units = bit >= 0 ? bit / step : -((step - 1 - bit) / step);
    return (uint64_t)(units * (step / 8));
}

/* PUSH, CALL and ENTER name [RSP] as what they write, which is RSP after they lowered it. */
static uint64_t push_offset(const ZydisDecodedOperand *operand)
{
    bool pushes = operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && operand->mem.base == ZYDIS_REGISTER_RSP &&
                  (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE);
    return pushes ? (uint64_t)0 - operand->size / 8 : 0;
}

/* POP into memory addressed by RSP uses RSP as it is after the pop. */
static uint64_t pop_offset(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operand)
{
    bool pops = insn->mnemonic == ZYDIS_MNEMONIC_POP && operand->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT &&
                (operand->mem.base == ZYDIS_REGISTER_RSP || operand->mem.base == ZYDIS_REGISTER_ESP);
    return pops ? operand->size / 8 : 0;
}

/* Addresses of the stack are of 64 bits, whatever 67h does. */
static bool is_stack(const ZydisDecodedOperand *operand)
{
    return operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
           (operand->mem.base == ZYDIS_REGISTER_RSP || operand->mem.base == ZYDIS_REGISTER_RBP);
}

static ZydisRegister xlat_index(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operand)
{
    return insn->mnemonic == ZYDIS_MNEMONIC_XLAT ? ZYDIS_REGISTER_AL : operand->mem.index;
}

/* A SIB byte without a base has a displacement of 32 bits. With 67h and REX.B Zydis 4.0 names R13D as the base and
 * leaves the displacement out. */
static bool operands_has_no_base(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operand)
{
    return (insn->attributes & ZYDIS_ATTRIB_HAS_SIB) && operand->encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM &&
           insn->raw.modrm.mod == 0 && insn->raw.sib.base == 5;
}

bool interpret_address(uint64_t *out, const struct interpret_cpu *cpu, struct guest_va pc,
                       const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operand)
{
    if (!interpret_is_memory(operand))
        return false;
    const ZydisDecodedOperandMem *mem = &operand->mem;
    bool is_xlat = insn->mnemonic == ZYDIS_MNEMONIC_XLAT, no_base = operands_has_no_base(insn, operand);
    uint64_t address = base_value(cpu, pc, insn, no_base ? ZYDIS_REGISTER_NONE : mem->base) +
                       base_value(cpu, pc, insn, xlat_index(insn, operand)) * (is_xlat ? 1 : mem->scale) +
                       (uint64_t)(no_base ? insn->raw.disp.value : mem->disp.value);
    address += bit_offset(cpu, insn, operand) + push_offset(operand) + pop_offset(insn, operand);
    if (insn->address_width == 32 && !is_stack(operand))
        address &= 0xffffffff;
    if (mem->segment == ZYDIS_REGISTER_FS || mem->segment == ZYDIS_REGISTER_GS)
        address += cpu->get_segment_base(cpu->self, mem->segment);
    *out = address;
    return true;
}

/* ------------------------------------------------------------------ accesses */

/* A non-canonical address is a general protection fault, or a stack fault if it is relative to the stack segment: Linux
 * makes SIGSEGV of the one and SIGBUS of the other, with no address. */
static void not_canonical(struct interpret_run *run)
{
    bool stack = false;
    for (unsigned i = 0; i < run->insn->operand_count; i++)
        stack |= interpret_is_memory(&run->operands[i]) && run->operands[i].mem.segment == ZYDIS_REGISTER_SS;
    interpret_signal(run, stack ? SIGBUS : SIGSEGV, 0x80 /* SI_KERNEL */);
}

static bool page_ready(struct interpret_run *run, uint64_t address, enum mmu_access access)
{
    if (run->cpu->ready(run->cpu->self, (struct guest_va){address}, access))
        return true;
    run->effect->status = INTERPRET_FAULT;
    run->effect->fault = (struct guest_va){address};
    run->effect->access = access;
    return false;
}

bool interpret_may_access(struct interpret_run *run, uint64_t address, uint64_t bytes, enum mmu_access access)
{
    uint64_t last = address + bytes - 1;
    if (!interpret_is_canonical(address) || !interpret_is_canonical(last)) {
        not_canonical(run);
        return false;
    }
    if (!page_ready(run, address, access))
        return false;
    uint64_t second = c2_align_down(last, C2_PAGE_BYTES); /* no operand touches more than two pages */
    return second == c2_align_down(address, C2_PAGE_BYTES) || page_ready(run, second, access);
}

bool interpret_place(struct interpret_run *run, unsigned index, enum mmu_access access, uint64_t *address)
{
    const ZydisDecodedOperand *operand = &run->operands[index];
    bool is_place = interpret_address(address, run->cpu, run->pc, run->insn, operand);
    C2_ASSERT(is_place);
    if (!interpret_may_access(run, *address, operand->size / 8, access))
        return false;
    run->effect->address[run->effect->address_count++] = *address;
    return true;
}

bool interpret_get(struct interpret_run *run, unsigned index, enum mmu_access access, struct interpret_value *out)
{
    const ZydisDecodedOperand *operand = &run->operands[index];
    switch (operand->type) {
    case ZYDIS_OPERAND_TYPE_REGISTER:
        out->value = interpret_get_register(run->cpu, operand->reg.value);
        return true;
    case ZYDIS_OPERAND_TYPE_IMMEDIATE:
        out->value = operand->imm.value.u;
        return true;
    default:
        if (!interpret_place(run, index, access, &out->address))
            return false;
        out->value = guest_load(out->address, operand->size / 8);
        return true;
    }
}

void interpret_put(struct interpret_run *run, unsigned index, const struct interpret_value *value)
{
    const ZydisDecodedOperand *operand = &run->operands[index];
    if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
        interpret_set_register(run->cpu, operand->reg.value, value->value);
    else
        guest_store(value->address, operand->size / 8, value->value);
}

/* ------------------------------------------------------------------ flags and ends */

void interpret_change_flags(struct interpret_run *run, uint64_t which, uint64_t value)
{
    uint64_t flags = run->cpu->get_flags(run->cpu->self);
    run->cpu->set_flags(run->cpu->self, (flags & ~which) | (value & which));
}

uint64_t interpret_flags_of_result(uint64_t value, unsigned bits)
{
    value &= c2_mask(0, bits - 1);
    uint64_t flags = value == 0 ? FLAG_ZF : 0;
    if (value >> (bits - 1))
        flags |= FLAG_SF;
    if (__builtin_parity((unsigned)(value & 0xff)) == 0)
        flags |= FLAG_PF;
    return flags;
}

uint64_t interpret_flags_of_subtraction(uint64_t a, uint64_t b, unsigned bits)
{
    uint64_t mask = c2_mask(0, bits - 1);
    a &= mask;
    b &= mask;
    uint64_t difference = (a - b) & mask;
    uint64_t flags = interpret_flags_of_result(difference, bits);
    if (a < b)
        flags |= FLAG_CF;
    if ((a ^ b ^ difference) & 0x10)
        flags |= FLAG_AF;
    if (((a ^ b) & (a ^ difference)) >> (bits - 1))
        flags |= FLAG_OF;
    return flags;
}

void interpret_signal(struct interpret_run *run, int signal, int code)
{
    run->effect->status = INTERPRET_SIGNAL;
    run->effect->signal = signal;
    run->effect->code = code;
}

void interpret_refuse(struct interpret_run *run, const char *reason)
{
    run->effect->status = INTERPRET_REFUSED;
    run->effect->reason = reason;
}
