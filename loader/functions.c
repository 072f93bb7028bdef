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

/* Where the symbols begin that are no ranges with a size: labels, and in damaged files those that end nowhere. */
struct labels {
    uint64_t *starts;
    uint32_t count, room;
};

/* A label reaches to its section's end as yet. */
static enum c2_status functions_add_label(struct loader_functions *out, struct labels *labels,
                                          const struct loader_symtab *table, const struct loader_symbol *symbol,
                                          struct c2_error *err)
{
    GElf_Shdr section;
    if (!c2_grow((void **)&labels->starts, &labels->room, labels->count, sizeof *labels->starts))
        return c2_fail_memory(err, "symbols");
    labels->starts[labels->count++] = symbol->address;
    if (symbol->bytes != 0 || !loader_symtab_section(table, symbol, &section))
        return C2_OK;
    const struct loader_range range = {symbol->address, section.sh_addr + section.sh_size, loader_symbol_pack(symbol)};
    return loader_ranges_add(&out->labels, range, err);
}

/* The ranges with a size are in order: the next of them, or of the labels, is a label's end. */
static void cut_labels(struct loader_functions *out, const struct labels *labels)
{
    if (labels->count != 0)
        qsort(labels->starts, labels->count, sizeof *labels->starts, compare_starts);
    for (size_t i = 0; i < out->labels.count; i++) {
        struct loader_range *label = &out->labels.items[i];
        label->end = next_start(labels->starts, labels->count, label->start, label->end);
        label->end = loader_ranges_next(&out->sized, label->start, label->end);
    }
}

/* ------------------------------------------------------------------ the whole */

static enum c2_status add_symbols(struct loader_functions *out, struct labels *labels,
                                  const struct loader_symtab *table, bool *any_local, struct c2_error *err)
{
    struct loader_symbol symbol;
    enum c2_status status = C2_OK;
    *any_local = false;
    for (size_t i = 1; i < table->count && status == C2_OK; i++) {
        uint64_t end;
        if (!read_symbol(table, i, &symbol))
            continue;
        *any_local |= symbol.local;
        if (symbol.bytes == 0 || __builtin_add_overflow(symbol.address, symbol.bytes, &end))
            status = functions_add_label(out, labels, table, &symbol, err);
        else
            status = loader_ranges_add(&out->sized,
                                       (struct loader_range){symbol.address, end, loader_symbol_pack(&symbol)}, err);
    }
    return status;
}

enum c2_status loader_functions_read(struct loader_functions *out, Elf *elf, struct c2_error *err)
{
    struct loader_symtab table;
    struct labels labels = {.starts = NULL};
    bool any_local;
    *out = (struct loader_functions){0};
    if (!loader_symtab_open(&table, elf))
        return C2_OK;
    enum c2_status status = add_symbols(out, &labels, &table, &any_local, err);
    if (table.dynamic || (!any_local && out->sized.count != 0)) /* the table is not whole */
        loader_ranges_release(&out->labels);
    if (status == C2_OK)
        status = loader_ranges_seal(&out->sized, loader_symbol_prefer, err);
    if (status == C2_OK)
        cut_labels(out, &labels);
    if (status == C2_OK)
        status = loader_ranges_seal(&out->labels, loader_symbol_prefer, err);
    c2_free(labels.starts);
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
