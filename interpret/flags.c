/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Instructions that read or write flags which an engine keeps for later: those of the last comparison are computed
 *   when they are read, and CMPXCHG8B, CMPXCHG16B, LOOPE and LOOPNE are known to need those of an earlier one, SETcc
 *   of memory to spoil them. POPF as a program may use it: an engine that runs the guest at the most privileged level
 *   would change IF and IOPL too.
 * Counting
 *   CMPXCHG8B and CMPXCHG16B are one modify of the whole operand, also when they do not exchange.
 * Not modelled
 *   Alignment checks, which a program can request by setting AC.
 * Source
 *   Intel SDM volume 2, the pages of these instructions.
 */
#include <signal.h>

#include "interpret/interpret_priv.h"

/* ------------------------------------------------------------------ CMPXCHG8B, CMPXCHG16B */

/* Half of a pair of registers: 32 bits of CMPXCHG8B, 64 of CMPXCHG16B. */
static uint64_t flags_half_of(const struct interpret_run *run, unsigned gpr, unsigned bytes)
{
    return run->cpu->get_gpr(run->cpu->self, gpr) & c2_mask(0, 8 * bytes - 1);
}

void interpret_cmpxchg_pair(struct interpret_run *run)
{
    unsigned bytes = run->operands[0].size / 16; /* of a half */
    uint64_t address;
    if (!interpret_place(run, 0, MMU_ACCESS_WRITE, &address))
        return;
    if (bytes == 8 && address % 16 != 0) {
        run->effect->address_count = 0;
        interpret_signal(run, SIGSEGV, 0x80 /* SI_KERNEL */);
        return;
    }
    uint64_t low = guest_load(address, bytes), high = guest_load(address + bytes, bytes);
    bool equal = low == flags_half_of(run, RAX, bytes) && high == flags_half_of(run, RDX, bytes);
    if (equal) {
        guest_store(address, bytes, flags_half_of(run, RBX, bytes));
        guest_store(address + bytes, bytes, flags_half_of(run, RCX, bytes));
    } else {
        run->cpu->set_gpr(run->cpu->self, RAX, low);
        run->cpu->set_gpr(run->cpu->self, RDX, high);
    }
    interpret_change_flags(run, FLAG_ZF, equal ? FLAG_ZF : 0);
}

/* ------------------------------------------------------------------ LOOPE, LOOPNE */

void interpret_loop_while(struct interpret_run *run)
{
    ZydisRegister counter = run->insn->address_width == 32 ? ZYDIS_REGISTER_ECX : ZYDIS_REGISTER_RCX;
    uint64_t left = interpret_get_register(run->cpu, counter) - 1;
    bool equal = run->cpu->get_flags(run->cpu->self) & FLAG_ZF;
    interpret_set_register(run->cpu, counter, left);
    run->effect->jumps = (left & c2_mask(0, run->insn->address_width - 1)) != 0 &&
                         equal == (run->insn->mnemonic == ZYDIS_MNEMONIC_LOOPE);
    run->effect->target.v = run->pc.v + run->insn->length + run->operands[0].imm.value.u;
}

/* ------------------------------------------------------------------ SETcc of memory */

/* The lower four bits of the opcode: O, B, Z, BE, S, P, L, LE, each followed by its opposite. */
static bool flags_holds(unsigned condition, uint64_t flags)
{
    bool less = !(flags & FLAG_SF) != !(flags & FLAG_OF);
    const bool conditions[] = {flags & FLAG_OF,
                               flags & FLAG_CF,
                               flags & FLAG_ZF,
                               flags & (FLAG_CF | FLAG_ZF),
                               flags & FLAG_SF,
                               flags & FLAG_PF,
                               less,
                               less || (flags & FLAG_ZF)};
    return conditions[condition >> 1 & 7] != (condition & 1);
}

void interpret_setcc(struct interpret_run *run)
{
    uint64_t address;
    if (interpret_place(run, 0, MMU_ACCESS_WRITE, &address))
        guest_store(address, 1, flags_holds(run->insn->opcode & 15, run->cpu->get_flags(run->cpu->self)));
}

/* ------------------------------------------------------------------ POPF */

static unsigned flags_memory_operand(const struct interpret_run *run)
{
    unsigned i = 0;
    while (!interpret_is_memory(&run->operands[i]))
        i++;
    return i;
}

void interpret_popf(struct interpret_run *run)
{
    unsigned index = flags_memory_operand(run), bits = run->operands[index].size;
    struct interpret_value popped;
    if (!interpret_get(run, index, MMU_ACCESS_READ, &popped))
        return;
    run->cpu->set_gpr(run->cpu->self, RSP, run->cpu->get_gpr(run->cpu->self, RSP) + bits / 8);
    interpret_change_flags(run, FLAGS_OF_PROGRAMS & c2_mask(0, bits - 1), popped.value);
}
