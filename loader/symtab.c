/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A symbol table of an ELF file: the one reader behind functions and variables.
 *
 * Model
 *   .symtab, or .dynsym where there is none; of each entry what the readers need. Symbols that are undefined, absolute,
 *   common or without a name are passed over.
 * Decisions
 *   Aliases - several names of one range - are reduced to one: a name that other files may use (global, weak) before
 *   a local one, then the one with the fewest leading underscores, then the shorter, then the first in the alphabet.
 *   (malloc, not __libc_malloc; environ, not __environ.)
 *   The value of a range is the address of the name, in the Elf's memory; whether it is local rides in a top bit,
 *   which is free in user space.
 */
#include "loader/symbols_priv.h"

#include <string.h>

/* ------------------------------------------------------------------ finding the table */

static bool find_section(Elf *elf, GElf_Word type, Elf_Scn **out, GElf_Shdr *header)
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));)
        if (gelf_getshdr(section, header) && header->sh_type == type && header->sh_entsize > 0) {
            *out = section;
            return true;
        }
    return false;
}

/* The section of this type that belongs to the table. */
static Elf_Data *find_beside(Elf *elf, GElf_Word type, size_t table)
{
    GElf_Shdr header;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));)
        if (gelf_getshdr(section, &header) && header.sh_type == type && header.sh_link == table)
            return elf_getdata(section, NULL);
    return NULL;
}

static bool open_table(struct loader_symtab *table, Elf *elf, GElf_Word type)
{
    Elf_Scn *section;
    GElf_Shdr header;
    if (!find_section(elf, type, &section, &header))
        return false;
    *table = (struct loader_symtab){
        .elf = elf,
        .data = elf_getdata(section, NULL),
        .extended = find_beside(elf, SHT_SYMTAB_SHNDX, elf_ndxscn(section)),
        .versions = find_beside(elf, SHT_GNU_versym, elf_ndxscn(section)),
        .strings = header.sh_link,
        .dynamic = type == SHT_DYNSYM,
    };
    table->count = table->data ? table->data->d_size / header.sh_entsize : 0;
    return table->count > 1;
}

bool loader_symtab_whole(Elf *elf)
{
    struct loader_symtab table;
    return open_table(&table, elf, SHT_SYMTAB);
}

bool loader_symtab_open(struct loader_symtab *out, Elf *elf)
{
    return open_table(out, elf, SHT_SYMTAB) || open_table(out, elf, SHT_DYNSYM);
}

bool loader_file_names(const struct loader_file *file, const char *symbol)
{
    struct loader_symtab table = {.count = 0};
    Elf *elf = elf_version(EV_CURRENT) != EV_NONE ? elf_begin(file->fd, ELF_C_READ, NULL) : NULL;
    bool found = false;
    GElf_Sym sym;
    const bool has = elf && open_table(&table, elf, SHT_DYNSYM);
    for (size_t i = 1; has && i < table.count && !found && gelf_getsym(table.data, (int)i, &sym); i++) {
        const char *name = elf_strptr(elf, table.strings, sym.st_name);
        found = name && strcmp(name, symbol) == 0;
    }
    elf_end(elf);
    return found;
}

/* ------------------------------------------------------------------ symbols */

/* A version that is not the default one is hidden: nothing newly linked is bound to it. */
static bool symtab_is_hidden(const struct loader_symtab *table, size_t i, const char *name)
{
    GElf_Versym version;
    if (table->versions && gelf_getversym(table->versions, (int)i, &version))
        return version & 0x8000;
    const char *at = strchr(name, '@');
    return at && at[1] != '@';
}

bool loader_symtab_get(const struct loader_symtab *table, size_t i, struct loader_symbol *out)
{
    GElf_Sym sym;
    Elf32_Word extended = 0;
    if (!gelf_getsymshndx(table->data, table->extended, (int)i, &sym, &extended))
        return false;
    unsigned section = sym.st_shndx == SHN_XINDEX ? extended : sym.st_shndx;
    if (section == SHN_UNDEF || (sym.st_shndx >= SHN_LORESERVE && sym.st_shndx != SHN_XINDEX))
        return false;
    const char *name = elf_strptr(table->elf, table->strings, sym.st_name);
    if (!name || !*name)
        return false;
    *out = (struct loader_symbol){.name = name,
                                  .address = sym.st_value,
                                  .bytes = sym.st_size,
                                  .section = section,
                                  .type = GELF_ST_TYPE(sym.st_info),
                                  .local = GELF_ST_BIND(sym.st_info) == STB_LOCAL,
                                  .hidden = symtab_is_hidden(table, i, name)};
    return true;
}

bool loader_symtab_section(const struct loader_symtab *table, const struct loader_symbol *symbol, GElf_Shdr *header)
{
    Elf_Scn *section = elf_getscn(table->elf, symbol->section);
    return section && gelf_getshdr(section, header);
}

size_t loader_symbol_length(const char *name)
{
    size_t bytes = strcspn(name, "@");
    return bytes ? bytes : strlen(name);
}

/* ------------------------------------------------------------------ aliases */

#define LOCAL_SHIFT 60

uint64_t loader_symbol_pack(const struct loader_symbol *symbol)
{
    return (uint64_t)(uintptr_t)symbol->name | (uint64_t)symbol->local << LOCAL_SHIFT;
}

const char *loader_symbol_name(uint64_t packed)
{
    return (const char *)(uintptr_t)(packed & c2_mask(0, LOCAL_SHIFT - 1));
}

static int symtab_by_number(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

int loader_symbol_prefer(uint64_t a, uint64_t b)
{
    const char *left = loader_symbol_name(a), *right = loader_symbol_name(b);
    int order = symtab_by_number(a >> LOCAL_SHIFT, b >> LOCAL_SHIFT);
    if (!order)
        order = symtab_by_number(strspn(left, "_"), strspn(right, "_"));
    if (!order)
        order = symtab_by_number(strlen(left), strlen(right));
    return order ? order : strcmp(left, right);
}
