/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Modules in guest memory: where they lie, and where their symbols do.
 *
 * Model
 *   The bias is what was added to the linked addresses. An area that maps a page of the file may show more than one
 *   segment (a page on the border of two is mapped twice), so each gives a candidate; the right one is that for which
 *   every segment's first page is mapped where it should be:
 *
 *       file      | text | te/da | data |
 *       memory    | text | te |            bias + address of text
 *                             | da | data | bss (anonymous)      bias + address of data
 *
 *   Entries of functions are given to callers that look for several by name: one walk over the table.
 *   bss is anonymous memory that follows a segment: an address there is looked for in the file mapping below it.
 * Invariants
 *   A file that is mapped to be read, not as a program, is no module: its symbols lie nowhere.
 * Not modelled
 *   A module of which the program has unmapped or replaced a segment: it is none any more.
 */
#include "loader/symbols_priv.h"

#include <string.h>

struct mapped {
    struct loader_module *module; /* NULL: no file mapping, or no memory */
    uint64_t bias;
    bool no_memory;
};

/* ------------------------------------------------------------------ the bias */

static bool segment_is_there(const struct loader_symbols *symbols, const struct loader_module *module,
                             const struct loader_segment *segment, uint64_t bias)
{
    uint64_t page = c2_align_down(segment->address, C2_PAGE_BYTES) + bias;
    const struct mmu_area *area = mmu_area_at(symbols->areas, (struct guest_va){page}, false);
    return segment->file_bytes == 0 ||
           (area && area->path && loader_module_shown(module, area) &&
            page - area->start.v + area->offset == c2_align_down(segment->offset, C2_PAGE_BYTES));
}

static bool lies_at(const struct loader_symbols *symbols, const struct loader_module *module, uint64_t bias)
{
    if (!module->elf.relocatable && bias != 0)
        return false;
    for (size_t i = 0; i < module->elf.count; i++)
        if (!segment_is_there(symbols, module, &module->elf.segments[i], bias))
            return false;
    return true;
}

/* The bias under which the address, in a mapping of the file, shows the byte at this offset. */
static bool find_bias(const struct loader_symbols *symbols, const struct loader_module *module, uint64_t at,
                      uint64_t offset, uint64_t *bias)
{
    for (size_t i = 0; i < module->elf.count; i++) {
        const struct loader_segment *s = &module->elf.segments[i];
        *bias = at - (s->address - s->offset + offset);
        if (loader_segment_shows(s, offset) && lies_at(symbols, module, *bias))
            return true;
    }
    return false;
}

/* The file mapping that holds the address, or lies below it with nothing but anonymous memory between. */
static const struct mmu_area *file_area_at(const struct loader_symbols *symbols, struct guest_va at)
{
    const struct mmu_area *area = mmu_area_at(symbols->areas, at, false);
    while (area && !area->path)
        area = area->start.v ? mmu_area_at(symbols->areas, (struct guest_va){area->start.v - 1}, false) : NULL;
    return area;
}

static bool find_mapped(struct loader_symbols *symbols, struct guest_va at, struct mapped *out)
{
    const struct mmu_area *area = file_area_at(symbols, at);
    *out = (struct mapped){.module = loader_symbols_module(symbols, area)};
    out->no_memory = area && !out->module;
    if (!out->module || !out->module->is_elf)
        return false;
    uint64_t inside = at.v < area->start.v + area->bytes ? at.v : area->start.v + area->bytes - 1;
    const struct loader_elf *elf = &out->module->elf;
    return find_bias(symbols, out->module, inside, inside - area->start.v + area->offset, &out->bias) &&
           at.v - out->bias >= elf->low && at.v - out->bias < elf->high;
}

bool loader_module_extent(struct loader_symbols *symbols, struct guest_va at, uint64_t *start, uint64_t *bytes,
                          const char **name)
{
    struct mapped mapped;
    if (!find_mapped(symbols, at, &mapped))
        return false;
    *name = loader_names_keep(symbols->names, mapped.module->object, strlen(mapped.module->object));
    *start = mapped.module->elf.low + mapped.bias;
    *bytes = mapped.module->elf.high - mapped.module->elf.low;
    return *name;
}

/* ------------------------------------------------------------------ functions */

static bool is_function(const struct loader_symtab *table, const struct loader_symbol *symbol)
{
    GElf_Shdr section;
    return (symbol->type == STT_FUNC || symbol->type == STT_NOTYPE || symbol->type == STT_GNU_IFUNC) &&
           loader_symtab_section(table, symbol, &section) && (section.sh_flags & SHF_EXECINSTR);
}

/* The code alone says where it lies: unlike a variable it is there whatever became of the other segments. */
static bool find_code(struct loader_symbols *symbols, struct guest_va at, struct mapped *out)
{
    uint64_t address;
    const struct mmu_area *area = mmu_area_at(symbols->areas, at, false);
    *out = (struct mapped){.module = loader_symbols_module(symbols, area)};
    out->no_memory = area && area->path && !out->module;
    if (!out->module || !out->module->is_elf ||
        !loader_elf_address(&out->module->elf, at.v - area->start.v + area->offset, true, &address))
        return false;
    out->bias = at.v - address;
    return true;
}

enum c2_status loader_code_at(struct loader_symbols *symbols, struct guest_va at, struct loader_module **module,
                              uint64_t *bias, struct c2_error *err)
{
    struct mapped mapped;
    const bool found = find_code(symbols, at, &mapped);
    *module = found ? mapped.module : NULL;
    *bias = mapped.bias;
    return mapped.no_memory ? c2_fail_memory(err, "symbols") : C2_OK;
}

enum c2_status loader_function_entries(struct loader_symbols *symbols, struct guest_va at,
                                       const struct loader_entry_listener *listener, struct c2_error *err)
{
    struct loader_module *module;
    uint64_t bias;
    struct loader_symtab table;
    struct loader_symbol symbol;
    enum c2_status status = loader_code_at(symbols, at, &module, &bias, err);
    if (status != C2_OK || !module || !module->table || !loader_symtab_open(&table, module->table))
        return status;
    for (size_t i = 1; i < table.count && status == C2_OK; i++)
        if (loader_symtab_get(&table, i, &symbol) && is_function(&table, &symbol))
            status = listener->entry(listener->self, symbol.name, (struct guest_va){symbol.address + bias},
                                     symbol.type == STT_GNU_IFUNC, err);
    return status;
}

/* ------------------------------------------------------------------ variables */

enum c2_status loader_variables(struct loader_symbols *symbols, struct guest_va at,
                                void (*each)(void *self, const struct loader_variable *variable), void *self,
                                struct c2_error *err)
{
    struct mapped mapped;
    if (!find_mapped(symbols, at, &mapped))
        return mapped.no_memory ? c2_fail_memory(err, "symbols") : C2_OK;
    struct loader_module *module = mapped.module;
    const char *object = loader_names_keep(symbols->names, module->object, strlen(module->object));
    if (!object)
        return c2_fail_memory(err, "symbols");
    enum c2_status status = loader_module_variables(module, err);
    for (size_t i = 0; i < module->variables.count && status == C2_OK; i++) {
        const struct loader_range *range = &module->variables.items[i];
        struct loader_variable variable = {
            .name = loader_names_shown(symbols->names, symbols->shown, loader_symbol_name(range->value)),
            .module = object,
            .start = range->start + mapped.bias,
            .bytes = range->end - range->start,
            .id = {module, i},
        };
        if (variable.name)
            each(self, &variable);
        else
            status = c2_fail_memory(err, "symbols");
    }
    return status;
}

const char *loader_variable_declaration(struct loader_symbols *symbols, struct loader_variable_id id)
{
    if (!id.module || loader_module_type(id.module, id.number, symbols->names, NULL) != C2_OK)
        return NULL;
    const struct loader_type *type = &id.module->types[id.number];
    const char *symbol = loader_symbol_name(id.module->variables.items[id.number].value);
    const char *name = type->before ? loader_names_shown(symbols->names, symbols->shown, symbol) : NULL;
    char *text = name ? c2_format("%s%s%s", type->before, name, type->after) : NULL;
    const char *kept = text ? loader_names_keep(symbols->names, text, strlen(text)) : NULL;
    c2_free(text);
    return kept;
}
