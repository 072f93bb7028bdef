/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Disassembly by capstone.
 */
#include "emu/disassemble_priv.h"

#include <capstone/capstone.h>

enum { LONGEST_INSN = 15 };

/* Up to 15 bytes of present guest code at pc; returns how many. */
static size_t fetch(uint8_t out[LONGEST_INSN], const struct mmu *mmu, struct guest_va pc)
{
    size_t count = 0;
    struct guest_pa ignored;
    while (count < LONGEST_INSN && mmu_translate(mmu, (struct guest_va){pc.v + count}, &ignored)) {
        out[count] = *(const uint8_t *)(uintptr_t)(pc.v + count);
        count++;
    }
    return count;
}

static void print_bytes(char *buffer, size_t size, const uint8_t *bytes, size_t count)
{
    int used = snprintf(buffer, size, "(bytes");
    for (size_t i = 0; i < count && used > 0 && (size_t)used < size; i++)
        used += snprintf(buffer + used, size - (size_t)used, " %02x", bytes[i]);
    if (used > 0 && (size_t)used < size)
        snprintf(buffer + used, size - (size_t)used, ")");
}

void disassemble(char *buffer, size_t size, const struct mmu *mmu, struct guest_va pc)
{
    uint8_t bytes[LONGEST_INSN];
    size_t count = fetch(bytes, mmu, pc);
    csh capstone;
    cs_insn *insn = NULL;
    buffer[0] = '\0';
    if (count == 0 || cs_open(CS_ARCH_X86, CS_MODE_64, &capstone) != CS_ERR_OK)
        return;
    cs_option(capstone, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
    size_t found = cs_disasm(capstone, bytes, count, pc.v, 1, &insn);
    if (found == 1)
        snprintf(buffer, size, "%s%s%s", insn->mnemonic, insn->op_str[0] ? " " : "", insn->op_str);
    else
        print_bytes(buffer, size, bytes, count);
    if (found)
        cs_free(insn, found);
    cs_close(&capstone);
}
