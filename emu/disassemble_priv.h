/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The text of one guest instruction, for messages.
 */
#ifndef C2_DISASSEMBLE_PRIV_H
#define C2_DISASSEMBLE_PRIV_H

#include "base/base.h"
#include "mmu/mmu.h"

/* AT&T syntax, or "(bytes 0f ff ...)" where the bytes are no instruction, or "" where they cannot be read. */
void disassemble(char *buffer, size_t size, const struct mmu *mmu, struct guest_va pc);

#endif
