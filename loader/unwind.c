/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * From an instruction outwards: the registers that its function's caller will have.
 *
 * Model
 *   Call frame information of the file (.eh_frame, else .debug_frame), read by libdw, says of each address where the
 *   canonical frame address is (RSP before the call that entered the function was made) and where the callee has put
 *   the registers that it must give back. What it says of one address is kept as a rule:
 *       CFA = register + offset, or the word there + a further offset (a function that realigns its stack);
 *       RBX, RBP, R12 to R15: as they are, or at CFA + offset. The return address is at CFA - 8.
 * Invariants
 *   Either a rule says all of this in these forms, or there is none: no register is guessed.
 * Not modelled
 *   Other expressions (entries of a PLT, the frame of a signal handler), code without call frame information.
 * Source
 *   DWARF 5, 6.4; System V ABI for x86-64, 3.7.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "loader/symbols_priv.h"

enum { DWARF_RBX = 3, DWARF_RSP = 7, DWARF_RETURN = 16 };

/* The number that instructions have for a register of DWARF. */
static const uint8_t number_of[16] = {0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15};
static const uint8_t kept_registers[] = {3, 6, 12, 13, 14, 15}; /* DWARF's numbers */

uint8_t loader_register(uint64_t number) { return number < sizeof number_of ? number_of[number] : sizeof number_of; }

/* ------------------------------------------------------------------ rules */

/* register + offset, as DW_OP_breg0 and its kin or DW_OP_bregx have it. */
static bool read_base(const Dwarf_Op *op, uint8_t *base, int64_t *offset)
{
    const bool indexed = op->atom == DW_OP_bregx;
    const uint64_t number = indexed ? op->number : (uint64_t)op->atom - DW_OP_breg0;
    if ((!indexed && (op->atom < DW_OP_breg0 || op->atom > DW_OP_breg31)) || number >= sizeof number_of)
        return false;
    *base = number_of[number];
    *offset = (int64_t)(indexed ? op->number2 : op->number);
    return true;
}

static bool read_cfa(struct loader_cfi *rule, Dwarf_Frame *frame)
{
    Dwarf_Op *ops;
    size_t count;
    if (dwarf_frame_cfa(frame, &ops, &count) != 0 || count == 0 || !read_base(&ops[0], &rule->base, &rule->offset))
        return false;
    rule->indirect = count > 1 && ops[1].atom == DW_OP_deref;
    if (count > 1 + (size_t)rule->indirect && ops[count - 1].atom == DW_OP_plus_uconst)
        rule->further = (int64_t)ops[--count].number;
    return count == 1 + (size_t)rule->indirect;
}

/* False: kept in a way that is not modelled. */
static bool read_register(Dwarf_Frame *frame, int number, bool *saved, int64_t *offset)
{
    Dwarf_Op memory[3], *ops;
    size_t count;
    if (dwarf_frame_register(frame, number, memory, &ops, &count) != 0)
        return false;
    *saved = count != 0;
    *offset = count == 2 ? (int64_t)ops[1].number : 0;
    return count == 0 ||
           (ops[0].atom == DW_OP_call_frame_cfa && (count == 1 || (count == 2 && ops[1].atom == DW_OP_plus_uconst)));
}

static bool read_frame(struct loader_cfi *rule, Dwarf_Frame *frame)
{
    bool saved;
    int64_t offset;
    if (!read_cfa(rule, frame) || !read_register(frame, DWARF_RETURN, &saved, &offset) || !saved || offset != -8)
        return false;
    for (size_t i = 0; i < sizeof kept_registers; i++) {
        const unsigned number = number_of[kept_registers[i]];
        if (!read_register(frame, kept_registers[i], &saved, &rule->saved_at[number]))
            return false;
        rule->saved |= (uint16_t)((unsigned)saved << number);
    }
    return true;
}

static bool read_rule(struct loader_cfi *rule, Dwarf_CFI *cfi, uint64_t address)
{
    Dwarf_Frame *frame = NULL;
    *rule = (struct loader_cfi){.base = 0};
    if (!cfi || dwarf_cfi_addrframe(cfi, address, &frame) != 0)
        return false;
    const bool read = read_frame(rule, frame);
    free(frame); /* libdw's: from malloc */
    return read;
}

static void open_cfi(struct loader_module *module)
{
    if (module->cfi_sought)
        return;
    module->cfi_sought = true;
    module->cfi = dwarf_getcfi_elf(module->file);
}

bool loader_module_cfi(struct loader_module *module, uint64_t address, struct loader_cfi *out)
{
    Dwarf *dwarf;
    if (!module->file)
        return false;
    open_cfi(module);
    if (read_rule(out, module->cfi, address))
        return true;
    dwarf = module->cfi ? NULL : loader_module_dwarf(module);
    return dwarf && read_rule(out, dwarf_getcfi(dwarf), address);
}

/* ------------------------------------------------------------------ rules of a run, each read once */

#define NO_RULE UINT64_MAX

static uint64_t unwind_add_rule(struct loader_symbols *symbols, const struct loader_cfi *rule)
{
    if (!c2_grow((void **)&symbols->rules, &symbols->rule_room, symbols->rule_count, sizeof *symbols->rules))
        return NO_RULE;
    symbols->rules[symbols->rule_count] = *rule;
    return symbols->rule_count++;
}

static const struct loader_cfi *rule_at(struct loader_symbols *symbols, uint64_t pc)
{
    struct loader_spot spot;
    struct loader_cfi rule;
    uint64_t number = NO_RULE;
    if (!symbols->rule_of && c2_map_create(&symbols->rule_of, NULL) != C2_OK)
        return NULL;
    if (!c2_map_get(symbols->rule_of, pc, &number)) {
        if (loader_spot_of(symbols, (struct guest_va){pc}, &spot) && spot.linked &&
            loader_module_cfi(spot.module, spot.address, &rule))
            number = unwind_add_rule(symbols, &rule);
        c2_map_put(symbols->rule_of, pc, number, NULL);
    }
    return number == NO_RULE ? NULL : &symbols->rules[number];
}

void loader_unwind_forget(struct loader_symbols *symbols)
{
    c2_map_destroy(symbols->rule_of);
    symbols->rule_of = NULL;
    symbols->rule_count = 0;
}

/* ------------------------------------------------------------------ a step */

bool loader_unwind(struct loader_symbols *symbols, struct loader_registers *registers,
                   const struct loader_memory *memory)
{
    const struct loader_cfi *rule = rule_at(symbols, registers->pc - 1); /* of the call, not of what comes behind it */
    if (!rule)
        return false;
    uint64_t cfa = registers->gpr[rule->base] + (uint64_t)rule->offset;
    if (rule->indirect && !memory->read(memory->self, cfa, &cfa))
        return false;
    cfa += (uint64_t)rule->further;
    struct loader_registers out = *registers;
    for (unsigned i = 0; i < 16; i++)
        if ((rule->saved >> i & 1) && !memory->read(memory->self, cfa + (uint64_t)rule->saved_at[i], &out.gpr[i]))
            return false;
    if (!memory->read(memory->self, cfa - 8, &out.pc) || cfa <= registers->gpr[number_of[DWARF_RSP]])
        return false;
    out.gpr[number_of[DWARF_RSP]] = cfa;
    *registers = out;
    return true;
}
