/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where a variable is, by its debug information, while an instruction is executed.
 *
 * Model
 *   A location is a register, a fixed address, or an offset from a register or from the canonical frame address (CFA:
 *   RSP before the call that entered the function). The frame base is followed to what it stands for. Where call frame
 *   information says that the CFA is the register and a constant, the offset is given from the CFA: one place has one
 *   form then.
 * Invariants
 *   What is not one of these is no location: parts, values, what lies behind a pointer.
 * Source
 *   DWARF 5, 2.6 and 3.3.5.
 */
#include <dwarf.h>

#include "loader/symbols_priv.h"

/* The one operation of the attribute's location at this address. */
static bool one_op(Dwarf_Die *die, unsigned name, uint64_t address, Dwarf_Attribute *attribute, Dwarf_Op **op)
{
    size_t count;
    return dwarf_attr_integrate(die, name, attribute) &&
           dwarf_getlocation_addr(attribute, address, op, &count, 1) == 1 && count == 1;
}

static bool set_register(struct loader_location *out, uint64_t number)
{
    *out = (struct loader_location){.kind = LOADER_IN_REGISTER, .base = loader_register(number)};
    return out->base < 16;
}

static bool set_based(struct loader_location *out, uint64_t number, int64_t offset)
{
    *out = (struct loader_location){.kind = LOADER_FROM_REGISTER, .base = loader_register(number), .offset = offset};
    return out->base < 16;
}

/* What offsets from the frame base are offsets from. */
static bool frame_base(struct loader_location *out, Dwarf_Die *function, uint64_t address)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *op;
    if (!one_op(function, DW_AT_frame_base, address, &attribute, &op))
        return false;
    *out = (struct loader_location){.kind = LOADER_FROM_CFA};
    if (op->atom == DW_OP_call_frame_cfa)
        return true;
    if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg15)
        return set_based(out, op->atom - DW_OP_reg0, 0);
    return op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg15 &&
           set_based(out, op->atom - DW_OP_breg0, (int64_t)op->number);
}

static bool fixed(struct loader_location *out, Dwarf_Attribute *attribute, const Dwarf_Op *op)
{
    Dwarf_Attribute value;
    Dwarf_Addr address = op->number;
    if (op->atom != DW_OP_addr &&
        (dwarf_getlocation_attr(attribute, op, &value) != 0 || dwarf_formaddr(&value, &address) != 0))
        return false;
    *out = (struct loader_location){.kind = LOADER_FIXED, .offset = (int64_t)address};
    return true;
}

bool loader_location_of(struct loader_location *out, Dwarf_Attribute *attribute, const Dwarf_Op *op,
                        Dwarf_Die *function, uint64_t address)
{
    if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg15)
        return set_register(out, op->atom - DW_OP_reg0);
    if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg15)
        return set_based(out, op->atom - DW_OP_breg0, (int64_t)op->number);
    if (op->atom == DW_OP_addr || op->atom == DW_OP_addrx || op->atom == DW_OP_GNU_addr_index)
        return fixed(out, attribute, op);
    if (op->atom != DW_OP_fbreg || !function || !frame_base(out, function, address))
        return false;
    out->offset += (int64_t)op->number;
    return true;
}

void loader_location_settle(struct loader_location *location, const struct loader_cfi *cfi)
{
    if (location->kind != LOADER_FROM_REGISTER || !cfi || cfi->indirect || cfi->base != location->base)
        return;
    *location = (struct loader_location){.kind = LOADER_FROM_CFA,
                                         .offset = location->offset - cfi->offset - cfi->further};
}

bool loader_location_at(struct loader_location *out, Dwarf_Die *variable, Dwarf_Die *function, uint64_t address,
                        const struct loader_cfi *cfi)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *op;
    if (!one_op(variable, DW_AT_location, address, &attribute, &op) ||
        !loader_location_of(out, &attribute, op, function, address))
        return false;
    loader_location_settle(out, cfi);
    return true;
}
