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
 *   An address in no range has no name: padding between functions belongs to nobody.
 *   Aliases of one range: the name with the fewest leading underscores, then global before weak before local, then
 *   the shorter, then the first in the alphabet. (malloc, not __libc_malloc.)
 * Decisions
 *   A label is extended only when the table is whole, for else it would swallow functions whose symbols were removed:
 *   never in .dynsym; in .symtab if it holds a local symbol in code (strip -x removes these, and every program linked
 *   with the usual start-up files has some), or no function with a size at all (pure assembly).
 *   Labels within one another's reach in pure assembly cut each other short: `loop:` inside `_start` names its part.
 * Not modelled
 *   .gnu_debugdata; names of PLT stubs.
 */
#include "loader/symbols_priv.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

/* What is kept of a symbol while the table is read. */
struct symbol {
    const char *name;
    uint64_t address, bytes;
    unsigned section;
    unsigned char bind;
};

struct table {
    Elf *elf;
    Elf_Data *data;
    Elf_Data *extended; /* section numbers that do not fit a symbol, or NULL */
    size_t strings;     /* section of the names */
    size_t count;
    bool dynamic;
};

/* ------------------------------------------------------------------ finding the table */

static bool find_section(Elf *elf, GElf_Word type, Elf_Scn **out, GElf_Shdr *header)
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;)
        if (gelf_getshdr(section, header) && header->sh_type == type && header->sh_entsize > 0) {
            *out = section;
            return true;
        }
    return false;
}

static Elf_Data *find_extended(Elf *elf, size_t table)
{
    GElf_Shdr header;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;)
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB_SHNDX && header.sh_link == table)
            return elf_getdata(section, NULL);
    return NULL;
}

static bool open_table(struct table *table, Elf *elf, GElf_Word type)
{
    Elf_Scn *section;
    GElf_Shdr header;
    if (!find_section(elf, type, &section, &header))
        return false;
    *table = (struct table){
        .elf = elf,
        .data = elf_getdata(section, NULL),
        .extended = find_extended(elf, elf_ndxscn(section)),
        .strings = header.sh_link,
        .dynamic = type == SHT_DYNSYM,
    };
    table->count = table->data ? table->data->d_size / header.sh_entsize : 0;
    return table->count > 1;
}

bool loader_functions_have_table(Elf *elf)
{
    struct table table;
    return open_table(&table, elf, SHT_SYMTAB);
}

/* ------------------------------------------------------------------ symbols */

static bool code_section(Elf *elf, unsigned number, GElf_Shdr *header)
{
    Elf_Scn *section = elf_getscn(elf, number);
    return section && gelf_getshdr(section, header) && (header->sh_flags & SHF_EXECINSTR);
}

/* Symbol number i, if it is a named place in code. */
static bool read_symbol(const struct table *table, size_t i, struct symbol *out)
{
    GElf_Sym sym;
    GElf_Shdr section;
    Elf32_Word extended = 0;
    if (!gelf_getsymshndx(table->data, table->extended, (int)i, &sym, &extended))
        return false;
    unsigned type = GELF_ST_TYPE(sym.st_info);
    unsigned number = sym.st_shndx == SHN_XINDEX ? extended : sym.st_shndx;
    if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
        return false;
    if (number == SHN_UNDEF || (sym.st_shndx >= SHN_LORESERVE && sym.st_shndx != SHN_XINDEX))
        return false;
    if (!code_section(table->elf, number, &section))
        return false;
    const char *name = elf_strptr(table->elf, table->strings, sym.st_name);
    if (!name || !*name)
        return false;
    *out = (struct symbol){.name = name,
                           .address = sym.st_value,
                           .bytes = sym.st_size,
                           .section = number,
                           .bind = (unsigned char)GELF_ST_BIND(sym.st_info)};
    return true;
}

/* ------------------------------------------------------------------ aliases
 * The value of a range is the address of the name; the binding rides in its top bits, which are free in user space. */

#define BIND_SHIFT 60

static uint64_t pack(const struct symbol *symbol)
{
    uint64_t rank = symbol->bind == STB_LOCAL ? 2 : symbol->bind == STB_WEAK ? 1 : 0;
    return (uint64_t)(uintptr_t)symbol->name | rank << BIND_SHIFT;
}

static const char *name_of(uint64_t value)
{
    return (const char *)(uintptr_t)(value & c2_mask(0, BIND_SHIFT - 1));
}

static int by_number(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int prefer(uint64_t a, uint64_t b)
{
    const char *left = name_of(a), *right = name_of(b);
    int order = by_number(strspn(left, "_"), strspn(right, "_"));
    if (!order)
        order = by_number(a >> BIND_SHIFT, b >> BIND_SHIFT);
    if (!order)
        order = by_number(strlen(left), strlen(right));
    return order ? order : strcmp(left, right);
}

/* ------------------------------------------------------------------ labels */

static int compare_starts(const void *left, const void *right)
{
    return by_number(*(const uint64_t *)left, *(const uint64_t *)right);
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

static enum c2_status add_labels(struct loader_functions *out, const struct table *table, struct c2_error *err)
{
    struct symbol symbol;
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
        if (!read_symbol(table, i, &symbol) || symbol.bytes != 0 || !code_section(table->elf, symbol.section, &section))
            continue;
        uint64_t end = section.sh_addr + section.sh_size;
        struct loader_range range = {symbol.address, next_start(starts, count, symbol.address, end), pack(&symbol)};
        status = loader_ranges_add(&out->labels, range, err);
    }
    c2_free(starts);
    return status;
}

/* ------------------------------------------------------------------ the whole */

static enum c2_status add_sized(struct loader_functions *out, const struct table *table, bool *any_local,
                                struct c2_error *err)
{
    struct symbol symbol;
    *any_local = false;
    for (size_t i = 1; i < table->count; i++) {
        if (!read_symbol(table, i, &symbol))
            continue;
        *any_local |= symbol.bind == STB_LOCAL;
        uint64_t end;
        if (__builtin_add_overflow(symbol.address, symbol.bytes, &end))
            continue;
        enum c2_status status =
            loader_ranges_add(&out->sized, (struct loader_range){symbol.address, end, pack(&symbol)}, err);
        if (status != C2_OK)
            return status;
    }
    return C2_OK;
}

enum c2_status loader_functions_read(struct loader_functions *out, Elf *elf, struct c2_error *err)
{
    struct table table;
    bool any_local;
    *out = (struct loader_functions){0};
    if (!open_table(&table, elf, SHT_SYMTAB) && !open_table(&table, elf, SHT_DYNSYM))
        return C2_OK;
    enum c2_status status = add_sized(out, &table, &any_local, err);
    bool whole = !table.dynamic && (any_local || out->sized.count == 0);
    if (status == C2_OK && whole)
        status = add_labels(out, &table, err);
    if (status == C2_OK)
        status = loader_ranges_seal(&out->sized, prefer, err);
    if (status == C2_OK)
        status = loader_ranges_seal(&out->labels, prefer, err);
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
    *name = name_of(range->value);
    *start = range->start;
    return true;
}

void loader_functions_release(struct loader_functions *functions)
{
    loader_ranges_release(&functions->sized);
    loader_ranges_release(&functions->labels);
}
