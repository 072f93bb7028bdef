/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Capstone: instructions as text, and a handle for readers of operands. Zydis, which is faster and always there:
 * numbers of registers.
 */
#include <Zydis/Zydis.h>

#include "loader/capstone.h"
#include "loader/symbols_priv.h"

static void print_bytes(char *buffer, size_t size, const uint8_t *bytes, size_t count)
{
    int used = snprintf(buffer, size, "(bytes");
    for (size_t i = 0; i < count && used > 0 && (size_t)used < size; i++)
        used += snprintf(buffer + used, size - (size_t)used, " %02x", bytes[i]);
    if (used > 0 && (size_t)used < size)
        snprintf(buffer + used, size - (size_t)used, ")");
}

struct loader_capstone_library loader_capstone_library;

static enum c2_status load_capstone(struct c2_error *err)
{
#define FUNCTION(name) {"cs_" #name, (void **)&loader_capstone_library.name},
    static const struct c2_library_function functions[] = {LOADER_CAPSTONE_FUNCTIONS(FUNCTION)};
#undef FUNCTION
    static const struct c2_library library = {"the disassembler", C2_CAPSTONE_SONAME, &loader_capstone_library.handle,
                                              functions, sizeof functions / sizeof *functions};
    return c2_library_load(&library, err);
}

static enum c2_status open_capstone(csh *out, struct c2_error *err)
{
    enum c2_status status = load_capstone(err);
    return status != C2_OK || cs_open(CS_ARCH_X86, CS_MODE_64, out) == CS_ERR_OK
               ? status
               : c2_fail_memory(err, "the disassembler");
}

size_t loader_disassemble(char *buffer, size_t size, const uint8_t *bytes, size_t count, uint64_t address)
{
    csh capstone;
    cs_insn *insn = NULL;
    size_t length = 0;
    buffer[0] = '\0';
    if (count == 0)
        return 0;
    print_bytes(buffer, size, bytes, count);
    if (open_capstone(&capstone, NULL) != C2_OK)
        return 0;
    cs_option(capstone, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
    if (cs_disasm(capstone, bytes, count, address, 1, &insn) == 1) {
        length = insn->size;
        snprintf(buffer, size, "%s%s%s", insn->mnemonic, insn->op_str[0] ? " " : "", insn->op_str);
        cs_free(insn, 1);
    }
    cs_close(&capstone);
    return length;
}

static const x86_reg registers[16][5] = {
    {X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH},
    {X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH},
    {X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH},
    {X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH},
    {X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL},
    {X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL},
    {X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL},
    {X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL},
    {X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B},
    {X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B},
    {X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B},
    {X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B},
    {X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B},
    {X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B},
    {X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B},
    {X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B},
};

unsigned loader_zydis_register(int reg, bool parts)
{
    const ZydisRegister own = (ZydisRegister)reg;
    const ZydisRegister whole = parts ? ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, own) : own;
    return ZydisRegisterGetClass(whole) == ZYDIS_REGCLASS_GPR64 ? (unsigned)ZydisRegisterGetId(whole) : 16;
}

enum c2_status loader_capstone(size_t *out, struct loader_symbols *symbols, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    if (symbols->capstone == 0 && (status = open_capstone(&symbols->capstone, err)) == C2_OK)
        cs_option(symbols->capstone, CS_OPT_DETAIL, CS_OPT_ON);
    *out = status == C2_OK ? symbols->capstone : 0;
    return status;
}

void loader_capstone_close(struct loader_symbols *symbols)
{
    csh capstone = symbols->capstone;
    if (capstone != 0)
        cs_close(&capstone);
}

unsigned loader_capstone_register(unsigned id, bool parts)
{
    for (unsigned i = 0; i < 16; i++)
        for (unsigned part = 0; part < (parts ? 5u : 1u); part++)
            if (registers[i][part] != X86_REG_INVALID && registers[i][part] == id)
                return i;
    return 16;
}
