/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The text of an instruction in guest memory.
 */
#include "emu/disassemble_priv.h"

#include "loader/loader.h"

/* Up to 15 bytes of present guest code at pc; returns how many. */
static size_t disassemble_fetch(uint8_t out[LOADER_LONGEST_INSN], const struct mmu *mmu, struct guest_va pc)
{
    size_t count = 0;
    while (count < LOADER_LONGEST_INSN && mmu_ready(mmu, (struct guest_va){pc.v + count}, MMU_ACCESS_READ)) {
        out[count] = *(const uint8_t *)(uintptr_t)(pc.v + count);
        count++;
    }
    return count;
}

void disassemble(char *buffer, size_t size, const struct mmu *mmu, struct guest_va pc)
{
    C2_ASSERT(size != 0);
    uint8_t bytes[LOADER_LONGEST_INSN];
    const size_t count = disassemble_fetch(bytes, mmu, pc);
    loader_disassemble(buffer, size, bytes, count, pc.v);
}
