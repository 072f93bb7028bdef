/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The static variables of a symbol table.
 *
 * Model
 *   Defined symbols of type OBJECT or COMMON with a size, in sections that are loaded; the names are those of the
 *   table. Needs the Elf alone, so it answers before anything is mapped.
 * Invariants
 *   No two overlap. Of the symbols with one start the longest stays, and of equal ones the name that symtab.c chooses;
 *   a symbol that starts within another is a part of it and is left out.
 * Not modelled
 *   Thread-local variables (they have no one address); variables without a symbol (string literals, local tables of the
 *   compiler); labels of assembly without a type.
 */
#include "loader/symbols_priv.h"

/* Symbol number i, if it is a variable with an extent. */
static bool read_variable(const struct loader_symtab *table, size_t i, struct loader_range *out)
{
    struct loader_symbol symbol;
    GElf_Shdr section;
    uint64_t end;
    if (!loader_symtab_get(table, i, &symbol) || (symbol.type != STT_OBJECT && symbol.type != STT_COMMON))
        return false;
    if (!loader_symtab_section(table, &symbol, &section) || !(section.sh_flags & SHF_ALLOC) ||
        (section.sh_flags & SHF_TLS))
        return false;
    if (symbol.bytes == 0 || __builtin_add_overflow(symbol.address, symbol.bytes, &end))
        return false;
    *out = (struct loader_range){symbol.address, end, loader_symbol_pack(&symbol)};
    return true;
}

static void drop_parts(struct loader_ranges *variables)
{
    size_t kept = 0;
    for (size_t i = 0; i < variables->count; i++) {
        if (kept && variables->items[i].start < variables->items[kept - 1].end)
            continue;
        variables->items[kept] = variables->items[i];
        variables->reach[kept] = variables->items[kept].end;
        kept++;
    }
    variables->count = kept;
}

enum c2_status loader_variables_read(struct loader_ranges *out, Elf *elf, struct c2_error *err)
{
    struct loader_symtab table;
    struct loader_range range;
    enum c2_status status = C2_OK;
    *out = (struct loader_ranges){0};
    if (!loader_symtab_open(&table, elf))
        return C2_OK;
    for (size_t i = 1; i < table.count && status == C2_OK; i++)
        if (read_variable(&table, i, &range))
            status = loader_ranges_add(out, range, err);
    if (status == C2_OK)
        status = loader_ranges_seal(out, loader_symbol_prefer, err);
    if (status == C2_OK)
        drop_parts(out);
    else
        loader_ranges_release(out);
    return status;
}
