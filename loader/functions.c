/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The functions of a symbol table.
 *
 * Model
 *   Defined symbols of type FUNC, GNU_IFUNC or NOTYPE in code with a size are ranges; the innermost that holds an
 *   address names it.
 *   Assembly functions often have no size, and type NOTYPE. Such a label reaches to the next symbol of its section
 *   or to the section's end, and is asked only when no sized function holds the address.
 * Invariants
 *   An address in no range has no name: padding between functions belongs to none.
 *   Aliases of one range: one name, as symtab.c chooses.
 * Decisions
 *   A label is extended only when the table is whole, for else it would swallow functions whose symbols were removed:
 *   never in .dynsym; in .symtab if it holds a local symbol in code (strip -x removes these, and every program linked
 *   with the usual start-up files has some), or no function with a size at all (pure assembly).
 *   Labels within one another's reach in pure assembly cut each other short: `loop:` inside `_start` names its part.
 * Not modelled
 *   .gnu_debugdata; names of PLT stubs.
 */
#include "loader/symbols_priv.h"

#include <stdlib.h>

/* Symbol number i, if it is a named place in code. */
static bool read_symbol(const struct loader_symtab *table, size_t i, struct loader_symbol *out)
{
    GElf_Shdr section;
    return loader_symtab_get(table, i, out) &&
           (out->type == STT_FUNC || out->type == STT_GNU_IFUNC || out->type == STT_NOTYPE) &&
           loader_symtab_section(table, out, &section) && (section.sh_flags & SHF_EXECINSTR);
}

/* ------------------------------------------------------------------ labels */

static int compare_starts(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The first of the sorted starts above address, or end. */
static uint64_t next_start(const uint64_t *starts, size_t count, uint64_t address, uint64_t end)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (starts[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && starts[low] < end ? starts[low] : end;
}

static enum c2_status functions_add_labels(struct loader_functions *out, const struct loader_symtab *table,
                                           struct c2_error *err)
{
    struct loader_symbol symbol;
    GElf_Shdr section;
    size_t count = 0;
    uint64_t *starts = c2_alloc(table->count * sizeof *starts);
    if (!starts)
        return c2_fail_memory(err, "symbols");
    for (size_t i = 1; i < table->count; i++)
        if (read_symbol(table, i, &symbol))
            starts[count++] = symbol.address;
    qsort(starts, count, sizeof *starts, compare_starts);
    enum c2_status status = C2_OK;
    for (size_t i = 1; i < table->count && status == C2_OK; i++) {
        if (!read_symbol(table, i, &symbol) || symbol.bytes != 0 || !loader_symtab_section(table, &symbol, &section))
            continue;
        uint64_t end = section.sh_addr + section.sh_size;
        struct loader_range range = {symbol.address, next_start(starts, count, symbol.address, end),
                                     loader_symbol_pack(&symbol)};
        status = loader_ranges_add(&out->labels, range, err);
    }
    c2_free(starts);
    return status;
}

/* ------------------------------------------------------------------ the whole */

static enum c2_status add_sized(struct loader_functions *out, const struct loader_symtab *table, bool *any_local,
                                struct c2_error *err)
{
    struct loader_symbol symbol;
    *any_local = false;
    for (size_t i = 1; i < table->count; i++) {
        if (!read_symbol(table, i, &symbol))
            continue;
        *any_local |= symbol.local;
        uint64_t end;
        if (__builtin_add_overflow(symbol.address, symbol.bytes, &end))
            continue;
        struct loader_range range = {symbol.address, end, loader_symbol_pack(&symbol)};
        enum c2_status status = loader_ranges_add(&out->sized, range, err);
        if (status != C2_OK)
            return status;
    }
    return C2_OK;
}

enum c2_status loader_functions_read(struct loader_functions *out, Elf *elf, struct c2_error *err)
{
    struct loader_symtab table;
    bool any_local;
    *out = (struct loader_functions){0};
    if (!loader_symtab_open(&table, elf))
        return C2_OK;
    enum c2_status status = add_sized(out, &table, &any_local, err);
    bool whole = !table.dynamic && (any_local || out->sized.count == 0);
    if (status == C2_OK && whole)
        status = functions_add_labels(out, &table, err);
    if (status == C2_OK)
        status = loader_ranges_seal(&out->sized, loader_symbol_prefer, err);
    if (status == C2_OK)
        status = loader_ranges_seal(&out->labels, loader_symbol_prefer, err);
    if (status != C2_OK)
        loader_functions_release(out);
    return status;
}

bool loader_functions_find(const struct loader_functions *functions, uint64_t address, const char **name,
                           uint64_t *start)
{
    const struct loader_range *range = loader_ranges_find(&functions->sized, address);
    if (!range)
        range = loader_ranges_find(&functions->labels, address);
    if (!range)
        return false;
    *name = loader_symbol_name(range->value);
    *start = range->start;
    return true;
}

void loader_functions_release(struct loader_functions *functions)
{
    loader_ranges_release(&functions->sized);
    loader_ranges_release(&functions->labels);
}
