/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Random programs of some hundred instructions, for what single instructions cannot show: flags that live on from one
 * instruction to the next, code across page ends, pages that are met for the first time, superfluous prefixes, stores
 * into code that runs.
 *
 *   sequences_make.c  writes a program: forms of forms.h with operands in memory that it may touch, and small
 *                     structures around them (loops, calls, branches, stores into code)
 *   sequences.c       runs it on the CPU and in the engine, and compares
 *
 * A program ends: it branches forward only, except in loops that count R14 down. It has R12 in the middle of its data,
 * a small number in R13 and its stack in RSP; all other registers are random. Some end by a fault: behind the data lies
 * a page that can only be read, and nothing behind that and before the data.
 * A brief program has a few instructions, and every other one ends by a fault.
 */
#ifndef C2_TEST_ENGINE_SEQUENCES_H
#define C2_TEST_ENGINE_SEQUENCES_H

#include "engine/forms.h"

#define PROGRAM_CODE 0x50000000u
#define PROGRAM_CODE_BYTES (16u * 4096u)
#define PROGRAM_END 96u /* bytes at its end for the way out */
#define PROGRAM_DATA 0x60000000u
#define PROGRAM_DATA_BYTES (16u * 4096u)
#define PROGRAM_CONSTANTS (PROGRAM_DATA + PROGRAM_DATA_BYTES) /* may only be read */
#define PROGRAM_CONSTANT_BYTES 4096u
#define PROGRAM_GS_BASE (PROGRAM_DATA + 0x1000u)

#define INSN_STARTS 0x8000u

struct program {
    uint64_t seed;
    uint64_t entry, end; /* addresses */
    bool writable;       /* the code, by the program itself */
    bool brief;
    unsigned insns; /* in the text */
    struct native_state state;
    struct cpu_wide wide; /* what its processor has of it; else 0 */
    uint8_t code[PROGRAM_CODE_BYTES];
    uint8_t data[PROGRAM_DATA_BYTES];
    /* By offset in the code: RFLAGS bits that the manuals leave undefined when the program comes to the instruction
     * that starts there, and INSN_STARTS. */
    uint16_t undefined[PROGRAM_CODE_BYTES];
};

/* Programs for the model have its forms (forms_of); NULL: x86-64-v2. */
void program_make(struct program *program, uint64_t seed, bool brief, const struct cpu_model *model,
                  const struct form *forms, size_t form_count);

#endif
