/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   PUSHF is an instruction amid a block that is not the host's to execute: it would show the host's flags. What else
 *   is done in C is alone in its block (engine/alone.c), and interpreted.
 * Source
 *   Intel SDM volume 2, PUSHF.
 */
#include <string.h>

#include "native/native_priv.h"

enum { RSP = 4 };

bool native_push_flags(struct native *n, const struct decode_insn *insn, struct engine_event *event)
{
    C2_PROMISE(insn->insn.mnemonic == ZYDIS_MNEMONIC_PUSHF || insn->insn.mnemonic == ZYDIS_MNEMONIC_PUSHFQ);
    enum { SHOWN = 0xfcffff }; /* not RF, VM */
    const uint64_t bytes = insn->insn.operand_width / 8, flags = native_get_flags(n) & SHOWN;
    const uint64_t address = n->context->gpr[RSP] - bytes;
    if (native_first_failure(n, insn, event))
        return false;
    memcpy((void *)(uintptr_t)address, &flags, bytes);
    n->context->gpr[RSP] = address;
    return true;
}
