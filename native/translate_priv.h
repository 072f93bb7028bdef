/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What translate.c and operands.c share.
 */
#ifndef C2_NATIVE_TRANSLATE_PRIV_H
#define C2_NATIVE_TRANSLATE_PRIV_H

#include "native/emit.h"
#include "native/native_priv.h"

/* Registers that ModR/M has as a base by themselves. */
enum {
    NATIVE_LOW = 1u << NATIVE_RAX | 1u << NATIVE_RCX | 1u << NATIVE_RDX | 1u << NATIVE_RBX | 1u << NATIVE_RSI |
                 1u << NATIVE_RDI
};

/* An instruction while it is translated. */
struct translated {
    struct native_form form;
    const struct decode_insn *insn; /* NULL: its form is enough */
    uint64_t pc;
    uint8_t length;
    uint8_t why;    /* NATIVE_ADDRESSES, NATIVE_EXECUTES, NATIVE_REFUSES; NATIVE_GOES: it needs no C */
    bool far_place; /* its operand is where only a register reaches it: far away, or behind FS or GS */
    bool based;     /* the latter */
    uint16_t moves; /* registers that have another value than the guest's while it is executed, by bits */
    bool gs;        /* its operand lies behind GS */
    bool wants_pad; /* a free register is needed to execute or record it */
};

/* form, insn, pc and length are there. */
void native_examine(struct translated *t, bool records);
/* Where a branch goes that has a distance, or the operand of an instruction is that is relative to RIP. */
uint64_t native_distant(const struct translated *t);
/* Stores the address of the slot's access there; may use the pad. */
void native_emit_address(struct emit *e, const struct translated *t, unsigned slot, unsigned pad, struct emit_place to);
/* to = the operand's address, if no register goes into it but those that LEA adds. */
void native_emit_place(struct emit *e, const struct translated *t, const ZydisDecodedOperand *operand, unsigned to);
/* What it writes of memory, if that is one operand with such an address; else NULL. */
const ZydisDecodedOperand *native_written(const struct translated *t);
/* The instruction itself; pad: as far_place wants it, one of the first eight. pace: may be put aside. */
void native_emit_copy(struct emit *e, const struct translated *t, unsigned pad, unsigned pace,
                      const struct native_context *context);
/* to = what the operand is, of 64 bits: register or memory. */
void native_emit_target(struct emit *e, const struct translated *t, const ZydisDecodedOperand *operand, unsigned to,
                        unsigned pace);

#endif
