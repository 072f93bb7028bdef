/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The differential test of the engine: every instruction form that c2emu executes, on the CPU that runs the test and in
 * the engine, from the same random states in the same memory.
 *
 *   forms.c    the forms: all opcodes of all maps, with every prefix that makes another instruction of them, and of
 *              VEX and EVEX those that a processor beyond x86-64-v2 has
 *   trial.c    one execution to come: registers and address chosen at random, memory and registers prepared
 *   expect.c   what may be compared, and the references that must be recorded
 *   compare.c  runs both sides and compares
 * Where CPUs of different makers differ: unit/interpret_makers.c.
 */
#ifndef C2_TEST_ENGINE_FORMS_H
#define C2_TEST_ENGINE_FORMS_H

#include <Zydis/Zydis.h>

#include "base/base.h"
#include "stream/stream.h"
#include "unit/interpret_native.h"

/* ------------------------------------------------------------------ forms */

enum form_map { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A };

struct form {
    bool vex, evex;
    enum form_map map;
    uint8_t opcode;
    uint8_t prefixes[3]; /* 66 F2 F3 F0; VEX: none */
    unsigned prefix_count;
    unsigned vex_pp;
    unsigned vector; /* VEX.L, EVEX.LL */
    bool wide;       /* REX.W, VEX.W, EVEX.W */
    bool has_modrm;
    bool memory;         /* ModR/M names memory */
    bool indexed;        /* by a vector */
    int reg, rm;         /* fixed fields of ModR/M; -1: a register that is free to choose */
    bool byte_registers; /* AH..BH may be met */
    ZydisMnemonic mnemonic;
    bool interpreted; /* by interpret/interpret.h */
};

/* All forms that are executed at all (not refused, no signal), but for most of VEX. Freed with c2_free. */
struct form *forms_all(size_t *count);
/* The same of a processor, which forms_refused() goes by from now on: with VEX and EVEX. Whether a form is under a
 * mask, sets elements to zero, or repeats one from memory (EVEX.aaa, z, b), it leaves open. */
struct form *forms_of(const struct cpu_model *model, size_t *count);
bool forms_decode(ZydisDecodedInstruction *insn, ZydisDecodedOperand *operands, const uint8_t *bytes, uint64_t length);
/* Whether c2emu executes it not at all. */
bool forms_refused(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands);
/* Its 16 bytes in memory may lie anywhere; those of other SSE instructions are aligned. */
bool forms_unaligned(const ZydisDecodedInstruction *insn);
/* What the address of the operand must be a multiple of. */
unsigned forms_alignment(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operand);
void forms_text(char *out, size_t bytes, const uint8_t *code, uint64_t at);

/* ------------------------------------------------------------------ one trial */

#define TRIAL_BYTES 128u /* of code: the instruction, its tail, and the tail of a branch taken at ... */
#define TRIAL_TAKEN 64u
#define DATA_BYTES (4u * 4096u)

struct trial {
    const struct form *form;
    uint64_t code; /* address */
    uint64_t data; /* address of DATA_BYTES */
    uint64_t gs_base;
    uint8_t bytes[15];
    unsigned length;
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    uint64_t place; /* of the explicit memory operand */
    struct native_state state;
    uint8_t memory[DATA_BYTES];
};

/* Chooses everything; nothing is written to data or code yet. */
void trial_make(struct trial *trial, const struct form *form, uint64_t code, uint64_t data, uint64_t gs_base,
                struct c2_rng *rng);

/* ------------------------------------------------------------------ expectations */

struct reference {
    enum stream_kind kind;
    unsigned size;
    uint64_t address;
    unsigned how; /* of a CACHE or WRITE, as in struct stream_slot; else 0 */
};
#define MAX_REFERENCES 4
unsigned expect_references(struct reference out[MAX_REFERENCES], const struct trial *trial,
                           const struct native_state *after);

struct expect_mask {
    uint64_t flags;     /* RFLAGS bits compared */
    uint16_t status;    /* x87 status bits compared */
    bool approximate;   /* 12 good bits are enough */
    int loose_register; /* not -1: of this general register only 32 bits are compared */
};
struct expect_mask expect_mask_of(const struct trial *trial);

#endif
