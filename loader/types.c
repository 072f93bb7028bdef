/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The types of static variables, as C writes them: what stands before and after the name.
 *
 *       double A[400][400]      "double "        "[400][400]"
 *       struct node *head       "struct node *"  ""
 *       int (*handler)(int)     "int (*"         ")(int)"
 *
 * Model
 *   The DIEs of units are walked, one unit after the other, for variables that lie at one fixed address, up to the one
 *   that is asked for; at first without what is in functions, a twentieth of the way, and when it was not found so,
 *   with it. The symbol of a common block of Fortran has the block's DIE for a type, of the first unit or procedure
 *   that says what lies in it (structs.c). A declaration is built from the name outwards: a pointer adds a star before,
 *   an array its bounds after, and a pointer to an array or function needs brackets.
 * Invariants
 *   A type is given only to a variable whose symbol has the same start and the size that the type has; a common block
 *   to one that begins where its first member does and holds them all.
 * Not modelled
 *   Common blocks that only modules declare: gfortran leaves out what lies in them. Declarations of languages other
 *   than C and C++: of Fortran and Rust the type is found, not its text. Vector types without a name, pointers to
 *   members; the scope of a C++ type (vector, not std::vector); types that are longer than TYPE_BYTES on one side of
 *   the name.
 * Source
 *   DWARF 5, chapter 5; C11, 6.7.6.
 */
#include "loader/symbols_priv.h"

#include <dwarf.h>
#include <string.h>

#define TYPE_BYTES 256
#define TYPE_DEPTH 24 /* of derivations: more is a loop in damaged data */
#define SCOPE_DEPTH 256

struct declaration {
    char before[TYPE_BYTES], after[TYPE_BYTES];
    bool tags; /* struct, union and enum are part of the name (C) */
};

/* ------------------------------------------------------------------ text */

static bool put_before(struct declaration *to, const char *text)
{
    size_t bytes = strlen(text), old = strlen(to->before);
    if (bytes + old >= sizeof to->before)
        return false;
    memmove(to->before + bytes, to->before, old + 1);
    memcpy(to->before, text, bytes);
    return true;
}

static bool put_after(struct declaration *to, const char *text)
{
    size_t bytes = strlen(text), old = strlen(to->after);
    if (bytes + old >= sizeof to->after)
        return false;
    memcpy(to->after + old, text, bytes + 1);
    return true;
}

/* ------------------------------------------------------------------ declarations */

static bool declare(struct declaration *to, Dwarf_Die *type, unsigned depth);

/* What die is derived from; no type is void. */
static bool declare_base(struct declaration *to, Dwarf_Die *die, unsigned depth)
{
    Dwarf_Die base;
    if (dwarf_hasattr_integrate(die, DW_AT_type))
        return loader_die_type(die, &base) && declare(to, &base, depth + 1);
    return put_before(to, "void ");
}

static bool declare_name(struct declaration *to, Dwarf_Die *die, const char *tag)
{
    const char *name = dwarf_diename(die);
    if (!name)
        return *tag && put_before(to, " {...} ") && put_before(to, tag);
    return put_before(to, " ") && put_before(to, name) &&
           (!to->tags || !*tag || (put_before(to, " ") && put_before(to, tag)));
}

static bool is_derived(int tag)
{
    return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

/* "*const p", but "const char": a qualifier stands behind the star it belongs to, else at the front. */
static bool declare_qualified(struct declaration *to, Dwarf_Die *die, const char *word, unsigned depth)
{
    Dwarf_Die base;
    if (loader_die_type(die, &base) && is_derived(dwarf_tag(&base)))
        return put_before(to, word) && declare(to, &base, depth + 1);
    if (!declare_base(to, die, depth))
        return false;
    /* a const array has const elements: both may be said */
    return strncmp(to->before, word, strlen(word)) == 0 || put_before(to, word);
}

static bool declare_pointer(struct declaration *to, Dwarf_Die *die, const char *star, unsigned depth)
{
    Dwarf_Die base;
    int tag = loader_die_type(die, &base) ? dwarf_tag(&base) : DW_TAG_invalid;
    bool brackets = tag == DW_TAG_array_type || tag == DW_TAG_subroutine_type;
    if (!put_before(to, star) || (brackets && (!put_before(to, "(") || !put_after(to, ")"))))
        return false;
    return declare_base(to, die, depth);
}

static bool read_bound(Dwarf_Die *die, unsigned name, Dwarf_Word *out)
{
    Dwarf_Attribute attribute;
    return dwarf_formudata(dwarf_attr_integrate(die, name, &attribute), out) == 0;
}

static bool declare_array(struct declaration *to, Dwarf_Die *die, unsigned depth)
{
    Dwarf_Die child;
    Dwarf_Word bound;
    char text[32];
    if (dwarf_hasattr(die, DW_AT_GNU_vector) || dwarf_child(die, &child) != 0)
        return false;
    do {
        if (dwarf_tag(&child) != DW_TAG_subrange_type)
            continue;
        if (read_bound(&child, DW_AT_count, &bound))
            snprintf(text, sizeof text, "[%llu]", (unsigned long long)bound);
        else if (read_bound(&child, DW_AT_upper_bound, &bound))
            snprintf(text, sizeof text, "[%llu]", (unsigned long long)bound + 1);
        else
            strcpy(text, "[]");
        if (!put_after(to, text))
            return false;
    } while (loader_die_next(&child));
    return declare_base(to, die, depth);
}

/* "int, char *": a parameter is a declaration without a name. */
static bool declare_parameter(struct declaration *to, Dwarf_Die *die, bool first, unsigned depth)
{
    struct declaration own = {.tags = to->tags};
    if (!first && !put_after(to, ", "))
        return false;
    if (dwarf_tag(die) == DW_TAG_unspecified_parameters)
        return put_after(to, "...");
    if (!declare_base(&own, die, depth))
        return false;
    size_t bytes = strlen(own.before);
    if (bytes && own.before[bytes - 1] == ' ')
        own.before[bytes - 1] = '\0';
    return put_after(to, own.before) && put_after(to, own.after);
}

static bool declare_function(struct declaration *to, Dwarf_Die *die, unsigned depth)
{
    Dwarf_Die child;
    bool first = true;
    if (!put_after(to, "("))
        return false;
    for (bool more = dwarf_child(die, &child) == 0; more; more = loader_die_next(&child)) {
        int tag = dwarf_tag(&child);
        if (tag != DW_TAG_formal_parameter && tag != DW_TAG_unspecified_parameters)
            continue;
        if (!declare_parameter(to, &child, first, depth))
            return false;
        first = false;
    }
    if (first && dwarf_hasattr(die, DW_AT_prototyped) && !put_after(to, "void"))
        return false;
    return put_after(to, ")") && declare_base(to, die, depth);
}

static bool declare(struct declaration *to, Dwarf_Die *type, unsigned depth)
{
    if (depth > TYPE_DEPTH)
        return false;
    switch (dwarf_tag(type)) {
    case DW_TAG_base_type:
    case DW_TAG_typedef:
    case DW_TAG_unspecified_type:
        return declare_name(to, type, "");
    case DW_TAG_structure_type:
        return declare_name(to, type, "struct");
    case DW_TAG_class_type:
        return declare_name(to, type, "class");
    case DW_TAG_union_type:
        return declare_name(to, type, "union");
    case DW_TAG_enumeration_type:
        return declare_name(to, type, "enum");
    case DW_TAG_const_type:
        return declare_qualified(to, type, "const ", depth);
    case DW_TAG_volatile_type:
        return declare_qualified(to, type, "volatile ", depth);
    case DW_TAG_restrict_type:
        return declare_qualified(to, type, "restrict ", depth);
    case DW_TAG_atomic_type:
        return declare_qualified(to, type, "_Atomic ", depth);
    case DW_TAG_pointer_type:
        return declare_pointer(to, type, "*", depth);
    case DW_TAG_reference_type:
        return declare_pointer(to, type, "&", depth);
    case DW_TAG_rvalue_reference_type:
        return declare_pointer(to, type, "&&", depth);
    case DW_TAG_array_type:
        return declare_array(to, type, depth);
    case DW_TAG_subroutine_type:
        return declare_function(to, type, depth);
    default:
        return false;
    }
}

bool loader_declaration(Dwarf_Die *variable, const char *name, bool tags, char *text, size_t bytes)
{
    struct declaration own = {.tags = tags};
    return declare_base(&own, variable, 0) && snprintf(text, bytes, "%s%s%s", own.before, name, own.after) < (int)bytes;
}

/* ------------------------------------------------------------------ variables at fixed addresses */

struct reader {
    const struct loader_ranges *variables;
    struct loader_type *types;
    struct loader_names *names;
    bool within; /* functions, too */
    bool tags;
    bool texts; /* the language has declarations of this form */
};

bool loader_die_address(Dwarf_Die *die, Dwarf_Addr *out)
{
    Dwarf_Attribute location, address;
    Dwarf_Op *op;
    size_t count;
    if (!dwarf_attr(die, DW_AT_location, &location) || dwarf_getlocation(&location, &op, &count) != 0 || count != 1)
        return false;
    if (op->atom == DW_OP_addr) {
        *out = op->number;
        return true;
    }
    return (op->atom == DW_OP_addrx || op->atom == DW_OP_GNU_addr_index) &&
           dwarf_getlocation_attr(&location, op, &address) == 0 && dwarf_formaddr(&address, out) == 0;
}

static bool same_size(Dwarf_Die *die, const struct loader_range *variable)
{
    Dwarf_Die type;
    Dwarf_Word bytes;
    return loader_die_type(die, &type) && dwarf_aggregate_size(&type, &bytes) == 0 &&
           bytes == variable->end - variable->start;
}

static enum c2_status note_type(const struct reader *reader, Dwarf_Die *die, struct c2_error *err)
{
    Dwarf_Addr address;
    const struct loader_range *variable = loader_die_address(die, &address)
                                              ? loader_ranges_find(reader->variables, address)
                                              : NULL;
    if (!variable || variable->start != address)
        return C2_OK;
    struct loader_type *type = &reader->types[variable - reader->variables->items];
    struct declaration text = {.tags = reader->tags};
    if (type->die != 0 || !same_size(die, variable))
        return C2_OK;
    type->die = loader_type_of_die(NULL, die).die;
    if (!reader->texts || !declare_base(&text, die, 0))
        return C2_OK;
    type->before = loader_names_keep(reader->names, text.before, strlen(text.before));
    type->after = loader_names_keep(reader->names, text.after, strlen(text.after));
    return type->before && type->after ? C2_OK : c2_fail_memory(err, "types of variables");
}

bool loader_common_extent(Dwarf_Die *block, Dwarf_Addr *start, Dwarf_Addr *end)
{
    Dwarf_Die die, type;
    Dwarf_Addr address;
    Dwarf_Word bytes;
    *start = UINT64_MAX;
    *end = 0;
    for (bool more = dwarf_child(block, &die) == 0; more; more = loader_die_next(&die)) {
        if (dwarf_tag(&die) != DW_TAG_variable || !loader_die_address(&die, &address) ||
            !loader_die_type(&die, &type) || dwarf_aggregate_size(&type, &bytes) != 0 || address + bytes < address)
            return false;
        *start = address < *start ? address : *start;
        *end = address + bytes > *end ? address + bytes : *end;
    }
    return *start < *end;
}

static void note_common(const struct reader *reader, Dwarf_Die *die)
{
    Dwarf_Addr start, end;
    const struct loader_range *variable = loader_common_extent(die, &start, &end)
                                              ? loader_ranges_find(reader->variables, start)
                                              : NULL;
    if (!variable || variable->start != start || end > variable->end)
        return;
    struct loader_type *type = &reader->types[variable - reader->variables->items];
    type->die = type->die == 0 ? dwarf_dieoffset(die) : type->die;
}

/* Scopes that hold variables with an address of their own. Structures of C hold none. */
static bool types_is_scope(const struct reader *reader, int tag)
{
    if (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine)
        return reader->within;
    return tag == DW_TAG_namespace || tag == DW_TAG_module ||
           (!reader->tags && (tag == DW_TAG_structure_type || tag == DW_TAG_class_type));
}

static enum c2_status types_walk(const struct reader *reader, Dwarf_Die *scope, unsigned depth, struct c2_error *err)
{
    Dwarf_Die die;
    enum c2_status status = C2_OK;
    for (bool more = dwarf_child(scope, &die) == 0; more && status == C2_OK; more = loader_die_next(&die)) {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_variable)
            status = note_type(reader, &die, err);
        else if (tag == DW_TAG_common_block)
            note_common(reader, &die);
        else if (types_is_scope(reader, tag) && depth < SCOPE_DEPTH)
            status = types_walk(reader, &die, depth + 1, err);
    }
    return status;
}

/* ------------------------------------------------------------------ the whole */

enum language loader_unit_language(Dwarf_Die *unit)
{
    switch (dwarf_srclang(unit)) {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case 0x2c: /* C17, newer than the header */
        return LANGUAGE_C;
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case 0x2b: /* C++17 */
    case 0x2d: /* C++20 */
        return LANGUAGE_CXX;
    case DW_LANG_Fortran77:
    case DW_LANG_Fortran90:
    case DW_LANG_Fortran95:
    case DW_LANG_Fortran03:
    case DW_LANG_Fortran08:
        return LANGUAGE_FORTRAN;
    case DW_LANG_Rust:
        return LANGUAGE_RUST;
    default:
        return LANGUAGE_OTHER;
    }
}

/* The unit behind the one that was walked last. */
static enum c2_status walk_next(struct loader_type_search *search, Dwarf *dwarf, struct reader *reader,
                                struct c2_error *err)
{
    Dwarf_Die die;
    uint8_t kind;
    if (!dwarf || dwarf_get_units(dwarf, search->unit, &search->unit, NULL, &kind, &die, NULL) != 0) {
        search->unit = NULL;
        search->done = search->within;
        search->within = true;
        return C2_OK;
    }
    const enum language language = loader_unit_language(&die);
    reader->within = search->within;
    reader->tags = language == LANGUAGE_C;
    reader->texts = language == LANGUAGE_C || language == LANGUAGE_CXX;
    return kind == DW_UT_compile && language != LANGUAGE_OTHER ? types_walk(reader, &die, 0, err) : C2_OK;
}

enum c2_status loader_types_read(struct loader_type *types, Dwarf *dwarf, const struct loader_ranges *variables,
                                 uint32_t wanted, struct loader_names *names, struct loader_type_search *search,
                                 struct c2_error *err)
{
    struct reader reader = {.variables = variables, .types = types, .names = names};
    enum c2_status status = C2_OK;
    while (status == C2_OK && !search->done && types[wanted].die == 0)
        status = walk_next(search, dwarf, &reader, err);
    return status;
}
