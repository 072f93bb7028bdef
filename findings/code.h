/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * code: instructions of the program, read from its files and decoded.
 */
#ifndef C2_FINDINGS_CODE_H
#define C2_FINDINGS_CODE_H

#include <Zydis/Zydis.h>

#include "findings/findings_priv.h"

struct findings_code {
    ZydisDecoder zydis;
    ZydisDecodedInstruction insn; /* the one decoded last, and */
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
    struct loader_code *file; /* that is open; NULL: none */
    const char *path;
};
void findings_code_open(struct findings_code *code);
void findings_code_close(struct findings_code *code);
/* The instruction at pc; false: its code is in no file, or none. */
bool findings_code_decode(struct findings_code *code, struct loader_symbols *symbols, struct guest_va pc);

#endif
