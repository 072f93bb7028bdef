/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The structures that variables are made of, or point to: their fields.
 *
 * Model
 *   From the type of a variable the way goes through names of types, qualifiers and arrays to a structure or class; for
 *   what a variable points to, or holds (arrays.c), to that first. A field is a member with a place of its own: what is
 *   in it is not taken apart; a base class is one field; members that share bytes (bit-fields, a union without a name)
 *   are one.
 *   A structure without a tag has the name that a typedef gives it, else {...}.
 *   A common block of Fortran is one, "/fields/": its fields are its variables, by their addresses, and it ends with
 *   the last of them.
 * Counting
 *   Each is read once; they are few.
 * Not modelled
 *   Structures above LOADER_STRUCT_BYTES, common blocks above COMMON_BYTES, or of a size that the program decides;
 *   virtual base classes.
 * Source
 *   DWARF 5, 5.7 and 2.6.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "loader/symbols_priv.h"

#define COMMON_BYTES UINT32_MAX
#define TYPE_DEPTH 24u /* of derivations: more is a loop in damaged data */

struct loader_structs {
    struct loader_structs *next;
    struct loader_type_id from; /* as asked for */
    bool pointed, known;
    struct loader_struct of;
    struct loader_field *fields;
    uint32_t room;
};

/* ------------------------------------------------------------------ fields */

static bool structs_constant(Dwarf_Die *die, unsigned name, Dwarf_Word *out)
{
    Dwarf_Attribute attribute;
    return dwarf_formudata(dwarf_attr_integrate(die, name, &attribute), out) == 0;
}

/* Where a member lies: whole bytes. False: it has no fixed place. */
static bool structs_place_of(Dwarf_Die *member, uint64_t *start, uint64_t *bytes)
{
    Dwarf_Word offset, bits;
    Dwarf_Die type;
    if (structs_constant(member, DW_AT_data_bit_offset, &offset) && structs_constant(member, DW_AT_bit_size, &bits) &&
        bits != 0) {
        *start = offset / 8;
        *bytes = (offset + bits - 1) / 8 - *start + 1;
        return true;
    }
    if (!structs_constant(member, DW_AT_data_member_location, &offset) || !loader_die_type(member, &type) ||
        dwarf_aggregate_size(&type, &bits) != 0 || bits == 0)
        return false;
    *start = offset;
    *bytes = bits;
    return true;
}

/* Of a common block that begins there. */
static bool place_in(Dwarf_Addr block, Dwarf_Die *variable, uint64_t *start, uint64_t *bytes)
{
    Dwarf_Addr address;
    Dwarf_Word size;
    Dwarf_Die type;
    if (!loader_die_address(variable, &address) || !loader_die_type(variable, &type) ||
        dwarf_aggregate_size(&type, &size) != 0)
        return false;
    *start = address - block;
    *bytes = size;
    return size != 0;
}

static const char *structs_name_of(struct loader_names *names, Dwarf_Die *member)
{
    const char *name = dwarf_diename(member);
    Dwarf_Die type;
    if (!name && dwarf_tag(member) == DW_TAG_inheritance && loader_die_type(member, &type))
        name = dwarf_diename(&type);
    return name ? loader_names_keep(names, name, strlen(name)) : "{...}";
}

/* block: where a common block begins; 0: it is a structure. */
static void structs_add_field(struct loader_structs *to, struct loader_names *names, Dwarf_Die *member,
                              Dwarf_Addr block)
{
    uint64_t start, bytes;
    const int tag = dwarf_tag(member);
    const bool is_field = block != 0 ? tag == DW_TAG_variable && place_in(block, member, &start, &bytes)
                                     : (tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
                                           structs_place_of(member, &start, &bytes);
    if (!is_field || start + bytes > to->of.bytes ||
        !c2_grow((void **)&to->fields, &to->room, to->of.field_count, sizeof *to->fields))
        return;
    to->fields[to->of.field_count++] = (struct loader_field){
        structs_name_of(names, member), (uint32_t)start, (uint32_t)bytes, loader_type_of_die(to->from.module, member)};
}

static int structs_by_start(const void *left, const void *right)
{
    const struct loader_field *a = left, *b = right;
    return a->start < b->start ? -1 : a->start > b->start;
}

/* "a, b": they share bytes. */
static void structs_join_shared(struct loader_structs *of, struct loader_names *names)
{
    uint32_t kept = 0;
    char text[256];
    if (of->of.field_count != 0)
        qsort(of->fields, of->of.field_count, sizeof *of->fields, structs_by_start);
    for (uint32_t i = 0; i < of->of.field_count; i++) {
        struct loader_field *last = kept == 0 ? NULL : &of->fields[kept - 1];
        const struct loader_field *field = &of->fields[i];
        if (!last || field->start >= last->start + last->bytes) {
            of->fields[kept++] = *field;
            continue;
        }
        const uint32_t end = field->start + field->bytes;
        last->type = (struct loader_type_id){.module = NULL};
        last->bytes = end > last->start + last->bytes ? end - last->start : last->bytes;
        if (snprintf(text, sizeof text, "%s, %s", last->name, field->name) < (int)sizeof text)
            last->name = loader_names_keep(names, text, strlen(text));
    }
    of->of.field_count = kept;
}

/* ------------------------------------------------------------------ structures */

/* Through names, qualifiers and arrays; the last name of a type on the way. */
static bool peel(Dwarf_Die *die, const char **typedef_name)
{
    for (unsigned depth = 0; depth < TYPE_DEPTH; depth++) {
        const int tag = dwarf_tag(die);
        switch (tag) {
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
            return true;
        case DW_TAG_typedef:
            *typedef_name = dwarf_diename(die);
            break;
        case DW_TAG_array_type:
        case DW_TAG_const_type:
        case DW_TAG_volatile_type:
        case DW_TAG_atomic_type:
        case DW_TAG_restrict_type:
            break;
        default:
            return false;
        }
        if (!loader_die_type(die, die))
            return false;
    }
    return false;
}

static bool structs_is_c(Dwarf_Die *die)
{
    Dwarf_Die unit;
    return dwarf_diecu(die, &unit, NULL, NULL) && loader_unit_language(&unit) == LANGUAGE_C;
}

static void add_fields(struct loader_structs *out, struct loader_names *names, Dwarf_Die *die, Dwarf_Addr block)
{
    Dwarf_Die child;
    for (bool more = dwarf_child(die, &child) == 0; more; more = loader_die_next(&child))
        structs_add_field(out, names, &child, block);
    structs_join_shared(out, names);
    out->of.fields = out->fields;
    out->known = out->of.name && out->of.field_count != 0;
}

static void read_common(struct loader_structs *out, struct loader_names *names, Dwarf_Die *die)
{
    Dwarf_Addr start, end;
    const char *name = dwarf_diename(die);
    char text[256];
    if (out->pointed || !name || !loader_common_extent(die, &start, &end) || end - start > COMMON_BYTES ||
        snprintf(text, sizeof text, "/%s/", name) >= (int)sizeof text)
        return;
    out->of.name = loader_names_keep(names, text, strlen(text));
    out->of.bytes = (uint32_t)(end - start);
    add_fields(out, names, die, start);
}

static void read_struct(struct loader_structs *out, struct loader_names *names)
{
    Dwarf *dwarf = loader_module_dwarf(out->from.module);
    Dwarf_Die die;
    Dwarf_Word bytes;
    const char *alias = NULL;
    char text[256];
    if (!dwarf || !dwarf_offdie(dwarf, out->from.die, &die))
        return;
    if (dwarf_tag(&die) == DW_TAG_common_block) {
        read_common(out, names, &die);
        return;
    }
    if ((out->pointed && !loader_type_pointed(&die)) || !peel(&die, &alias) ||
        dwarf_aggregate_size(&die, &bytes) != 0 || bytes == 0 || bytes > LOADER_STRUCT_BYTES)
        return;
    const char *tag = dwarf_diename(&die), *name = tag ? tag : alias ? alias : "{...}";
    if (snprintf(text, sizeof text, "%s%s", (tag || !alias) && structs_is_c(&die) ? "struct " : "", name) >=
        (int)sizeof text)
        return;
    out->of.name = loader_names_keep(names, text, strlen(text));
    out->of.bytes = (uint32_t)bytes;
    add_fields(out, names, &die, 0);
}

const struct loader_struct *loader_struct_of(struct loader_symbols *symbols, struct loader_type_id type, bool pointed)
{
    struct loader_structs *of = symbols->structs;
    if (!type.module)
        return NULL;
    while (of && (of->from.module != type.module || of->from.die != type.die || of->pointed != pointed))
        of = of->next;
    if (of)
        return of->known ? &of->of : NULL;
    of = c2_calloc(1, sizeof *of);
    if (!of)
        return NULL;
    *of = (struct loader_structs){.next = symbols->structs, .from = type, .pointed = pointed};
    symbols->structs = of;
    read_struct(of, symbols->names);
    return of->known ? &of->of : NULL;
}

void loader_structs_release(struct loader_symbols *symbols)
{
    while (symbols->structs) {
        struct loader_structs *next = symbols->structs->next;
        c2_free(symbols->structs->fields);
        c2_free(symbols->structs);
        symbols->structs = next;
    }
}

struct loader_type_id loader_type_of_die(struct loader_module *module, Dwarf_Die *variable)
{
    Dwarf_Die type;
    struct loader_type_id id = {.module = NULL};
    if (loader_die_type(variable, &type))
        id = (struct loader_type_id){module, dwarf_dieoffset(&type)};
    return id;
}

struct loader_type_id loader_variable_type(struct loader_symbols *symbols, struct loader_variable_id id)
{
    struct loader_type_id type = {.module = NULL};
    if (!id.module || loader_module_type(id.module, id.number, symbols->names, NULL) != C2_OK)
        return type;
    if (id.module->types[id.number].die != 0)
        type = (struct loader_type_id){id.module, id.module->types[id.number].die};
    return type;
}
