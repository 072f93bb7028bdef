/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where one CPU need not do what another does: flags and results that the manuals leave undefined, and what Intel's and
 * AMD's manuals or CPUs do differently. c2emu does the same everywhere, so a test that asks the CPU it runs on needs to
 * know these cases. Each is one row of a table, with its reason and its source:
 *   - flags that are undefined are not compared;
 *   - where c2emu documents a choice of its own, that choice takes the place of what the CPU did, and is compared like
 *     everything else. So it is tested on every CPU, also on one that chooses differently.
 */
#ifndef C2_TEST_INTERPRET_MAKERS_H
#define C2_TEST_INTERPRET_MAKERS_H

#include <stdio.h>

#include <Zydis/Zydis.h>

#include "unit/interpret_native.h"

/* One execution on the CPU that runs the test. */
struct makers_case {
    const ZydisDecodedInstruction *insn;
    const ZydisDecodedOperand *operands;
    uint64_t at; /* address of the instruction */
    const struct native_state *before;
    const uint8_t *memory_before; /* at operand 0, if it is memory */
    /* The outcome, in which our choices are put: */
    struct native_state *after;
    uint8_t *memory; /* at operand 0 */
    struct native_end *end;
    bool wrong; /* put something else in the place of our choices: for mutants */
};

/* Puts our choices in; returns the flags that are undefined. */
uint64_t makers_settle(const struct makers_case *c);

/* One line for each row that applied since the start: how often, why, and by which source. */
void makers_report(FILE *to);

#endif
