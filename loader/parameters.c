/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the integer registers are at the entry of a function: which of its parameters.
 *
 * Model
 *   The calling convention of System V: parameters from left to right; integers, booleans, enumerations, pointers and
 *   references of up to 8 bytes take the next of RDI, RSI, RDX, RCX, R8, R9, integers of 16 bytes two of them; floating
 *   point takes none. A result that is returned in memory takes the first one for its address, before all parameters. A
 *   class that debug information says is passed by reference takes one, any other of more than 16 bytes none.
 * Not modelled
 *   Smaller structures, whose members decide: from there on nothing is known. Copies of functions that the compiler has
 *   made for itself (NAME.isra.0), which have symbols of their own.
 * Source
 *   System V Application Binary Interface, AMD64 Architecture Processor Supplement, 3.2.3; DWARF 5, 4.1 and 5.7.
 */
#include <dwarf.h>
#include <string.h>

#include "loader/symbols_priv.h"

#define REGISTERS 6u
#define IN_REGISTERS 16u /* bytes of a structure: larger ones are in memory */

/* How a value of some type is passed. */
struct passing {
    bool known;
    unsigned registers; /* integer ones */
    bool memory;        /* of a result: its address takes a register */
    struct loader_parameter parameter;
};

static bool parameters_type_of(Dwarf_Die *die, Dwarf_Die *out)
{
    Dwarf_Die type;
    return loader_die_type(die, &type) && dwarf_peel_type(&type, out) == 0;
}

static struct passing number_passing(Dwarf_Die *type, uint64_t bytes)
{
    struct passing passing = {.known = true, .registers = bytes <= 8 ? 1 : 2};
    Dwarf_Attribute attribute;
    Dwarf_Word encoding = DW_ATE_signed;
    dwarf_formudata(dwarf_attr_integrate(type, DW_AT_encoding, &attribute), &encoding);
    if (encoding == DW_ATE_float || encoding == DW_ATE_decimal_float || encoding == DW_ATE_complex_float)
        return (struct passing){.known = true};
    passing.parameter.kind = encoding == DW_ATE_boolean                                    ? LOADER_BOOLEAN
                             : encoding == DW_ATE_signed || encoding == DW_ATE_signed_char ? LOADER_SIGNED
                                                                                           : LOADER_UNSIGNED;
    passing.parameter.bytes = bytes <= 8 ? (uint8_t)bytes : 8;
    return passing;
}

static struct passing structure_passing(Dwarf_Die *type, uint64_t bytes)
{
    Dwarf_Attribute attribute;
    Dwarf_Word convention = 0;
    dwarf_formudata(dwarf_attr_integrate(type, DW_AT_calling_convention, &attribute), &convention);
    struct passing passing = {.known = bytes > IN_REGISTERS, .memory = true};
    if (convention == DW_CC_pass_by_reference)
        passing = (struct passing){
            .known = true, .registers = 1, .memory = true, .parameter = {NULL, LOADER_POINTER, 8}};
    return passing;
}

static struct passing passing_of(Dwarf_Die *type)
{
    Dwarf_Word bytes;
    if (dwarf_aggregate_size(type, &bytes) != 0)
        bytes = 8; /* of references and function pointers it is not always said */
    switch (dwarf_tag(type)) {
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        return (struct passing){.known = true, .registers = 1, .parameter = {NULL, LOADER_POINTER, 8}};
    case DW_TAG_base_type:
    case DW_TAG_enumeration_type:
        return number_passing(type, bytes);
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        return structure_passing(type, bytes);
    default:
        return (struct passing){.known = false};
    }
}

/* Parameters in order, with the first integer register of each. */
struct walk {
    Dwarf_Die die;
    bool more, known;
    unsigned next; /* register, from 1 on */
};

static bool parameters_begin(struct walk *walk, struct loader_symbols *symbols, struct guest_va entry)
{
    Dwarf_Die scopes[LOADER_SCOPES], type;
    struct loader_spot spot;
    if (!symbols || !loader_spot_of(symbols, entry, &spot) || !spot.linked ||
        loader_module_scopes(spot.module, spot.address, scopes) == 0)
        return false;
    *walk = (struct walk){.known = true, .next = 1};
    if (parameters_type_of(&scopes[0], &type)) {
        const struct passing result = passing_of(&type);
        walk->known = result.known || !result.memory;
        walk->next += result.known && result.memory;
    }
    walk->more = dwarf_child(&scopes[0], &walk->die) == 0;
    return true;
}

/* False: there is none, or it is not known where it is. */
static bool next_parameter(struct walk *walk, struct loader_parameter *out, unsigned *number)
{
    Dwarf_Die type;
    for (; walk->more && walk->known; walk->more = loader_die_next(&walk->die)) {
        if (dwarf_tag(&walk->die) != DW_TAG_formal_parameter)
            continue;
        const struct passing passing = parameters_type_of(&walk->die, &type) ? passing_of(&type) : (struct passing){0};
        const bool fits = walk->next + passing.registers <= REGISTERS + 1; /* else all of it is on the stack */
        *out = passing.parameter;
        out->name = dwarf_diename(&walk->die);
        *number = passing.registers != 0 && fits ? walk->next : 0;
        walk->next += fits ? passing.registers : 0;
        walk->known = passing.known;
        walk->more = loader_die_next(&walk->die);
        return passing.known;
    }
    return false;
}

bool loader_parameter_in(struct loader_symbols *symbols, struct guest_va entry, unsigned number,
                         struct loader_parameter *out)
{
    struct walk walk;
    unsigned at;
    if (!parameters_begin(&walk, symbols, entry))
        return false;
    while (next_parameter(&walk, out, &at))
        if (at == number) {
            out->name = out->name ? loader_names_keep(symbols->names, out->name, strlen(out->name)) : NULL;
            return true;
        }
    return false;
}

unsigned loader_parameter_named(struct loader_symbols *symbols, struct guest_va entry, const char *name)
{
    struct walk walk;
    struct loader_parameter parameter;
    unsigned at;
    if (!parameters_begin(&walk, symbols, entry))
        return 0;
    while (next_parameter(&walk, &parameter, &at))
        if (at != 0 && parameter.name && strcmp(parameter.name, name) == 0)
            return at;
    return 0;
}
