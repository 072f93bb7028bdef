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
#include <unistd.h>

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

static bool open_section(struct loader_symtab *table, Elf *elf, Elf_Scn *section)
{
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || header.sh_entsize == 0)
        return false;
    *table = (struct loader_symtab){
        .elf = elf,
        .data = elf_getdata(section, NULL),
        .extended = find_beside(elf, SHT_SYMTAB_SHNDX, elf_ndxscn(section)),
        .versions = find_beside(elf, SHT_GNU_versym, elf_ndxscn(section)),
        .strings = header.sh_link,
        .dynamic = header.sh_type == SHT_DYNSYM,
    };
    table->count = table->data ? table->data->d_size / header.sh_entsize : 0;
    return table->count > 1;
}

static bool open_table(struct loader_symtab *table, Elf *elf, GElf_Word type)
{
    Elf_Scn *section;
    GElf_Shdr header;
    return find_section(elf, type, &section, &header) && open_section(table, elf, section);
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

/* The bytes of the file, in pieces: string tables of large programs have megabytes, and are not kept. */
static bool bytes_have(int fd, uint64_t start, uint64_t bytes, const char *wanted, size_t length)
{
    enum { PIECE = 64 << 10 };
    C2_ASSERT(length != 0 && length < PIECE / 2);
    char *piece = c2_alloc(PIECE);
    bool found = !piece;
    for (uint64_t at = 0; !found && bytes - at >= length;) {
        const size_t ask = bytes - at < PIECE ? (size_t)(bytes - at) : PIECE;
        const ssize_t got = pread(fd, piece, ask, (off_t)(start + at));
        if (got < (ssize_t)length)
            break;
        found = memmem(piece, (size_t)got, wanted, length);
        at += (size_t)got - (length - 1);
    }
    c2_free(piece);
    return found;
}

/* False: no symbol of the table has this name. Its string table alone is looked at, which is ten times faster than its
 * symbols. */
static bool may_name(Elf *elf, int fd, Elf_Scn *table, const char *symbol)
{
    GElf_Shdr header, strings;
    Elf_Scn *section = gelf_getshdr(table, &header) ? elf_getscn(elf, header.sh_link) : NULL;
    if (!section || !gelf_getshdr(section, &strings) || strings.sh_type != SHT_STRTAB ||
        strings.sh_flags & SHF_COMPRESSED || strings.sh_offset + strings.sh_size < strings.sh_offset)
        return true;
    return bytes_have(fd, strings.sh_offset, strings.sh_size, symbol, strlen(symbol) + 1);
}

bool loader_section_names(Elf *elf, int fd, Elf_Scn *section, const char *symbol)
{
    struct loader_symtab table;
    GElf_Sym sym;
    if (!may_name(elf, fd, section, symbol) || !open_section(&table, elf, section))
        return false;
    for (size_t i = 1; i < table.count && gelf_getsym(table.data, (int)i, &sym); i++) {
        const char *name = elf_strptr(elf, table.strings, sym.st_name);
        if (name && strcmp(name, symbol) == 0)
            return true;
    }
    return false;
}

bool loader_file_names(const struct loader_file *file, const char *symbol)
{
    Elf_Scn *section;
    GElf_Shdr header;
    Elf *elf = elf_version(EV_CURRENT) != EV_NONE ? elf_begin(file->fd, ELF_C_READ, NULL) : NULL;
    const bool found = elf && find_section(elf, SHT_DYNSYM, &section, &header) &&
                       loader_section_names(elf, file->fd, section, symbol);
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
