/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Instructions as text, by capstone.
 */
#include "loader/loader.h"

#include <capstone/capstone.h>

static void print_bytes(char *buffer, size_t size, const uint8_t *bytes, size_t count)
{
    int used = snprintf(buffer, size, "(bytes");
    for (size_t i = 0; i < count && used > 0 && (size_t)used < size; i++)
        used += snprintf(buffer + used, size - (size_t)used, " %02x", bytes[i]);
    if (used > 0 && (size_t)used < size)
        snprintf(buffer + used, size - (size_t)used, ")");
}

size_t loader_disassemble(char *buffer, size_t size, const uint8_t *bytes, size_t count, uint64_t address)
{
    csh capstone;
    cs_insn *insn = NULL;
    size_t length = 0;
    buffer[0] = '\0';
    if (count == 0 || cs_open(CS_ARCH_X86, CS_MODE_64, &capstone) != CS_ERR_OK)
        return 0;
    cs_option(capstone, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
    const size_t found = cs_disasm(capstone, bytes, count, address, 1, &insn);
    if (found == 1) {
        length = insn->size;
        snprintf(buffer, size, "%s%s%s", insn->mnemonic, insn->op_str[0] ? " " : "", insn->op_str);
    } else {
        print_bytes(buffer, size, bytes, count);
    }
    if (found)
        cs_free(insn, found);
    cs_close(&capstone);
    return length;
}
