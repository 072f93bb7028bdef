/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The symbols of a program by name, before it is loaded.
 *
 * Model
 *   The ELF file that loader_load would map, its symbol table (.symtab, else .dynsym), and the place where its segments
 *   will lie. Symbols with a size, of variables, functions and untyped labels; names as the table has them (C++:
 *   mangled), without a version.
 *   A name that other files may use goes before a local one of the same name.
 * Invariants
 *   An extent that is returned lies in one segment whole.
 * Not modelled
 *   Symbols of separate debug files; thread-local variables (they have no one address) are refused by name.
 */
#include <string.h>

#include "loader/symbols_priv.h"

struct loader_statics {
    struct loader_program program;
    struct loader_elf elf;
    Elf *file;
    struct loader_symtab table; /* count 0: none */
    char **names;               /* of the symbols that can be found; made when asked for */
    size_t name_count;
};

enum c2_status loader_statics_open(struct loader_statics **out, const struct loader_request *request,
                                   struct c2_error *err)
{
    *out = NULL;
    if (elf_version(EV_CURRENT) == EV_NONE)
        return c2_fail(err, C2_ERR_INTERNAL, "libelf: %s", elf_errmsg(-1));
    struct loader_statics *statics = c2_calloc(1, sizeof *statics);
    if (!statics)
        return c2_fail_memory(err, "the program's symbols");
    enum c2_status status = loader_program_open(&statics->program, request, err);
    if (status == C2_OK)
        status = loader_elf_read(&statics->elf, &statics->program.file, err);
    if (status != C2_OK) {
        loader_statics_close(statics);
        return status;
    }
    statics->file = elf_begin(statics->program.file.fd, ELF_C_READ, NULL);
    if (!statics->file || !loader_symtab_open(&statics->table, statics->file))
        statics->table.count = 0;
    *out = statics;
    return C2_OK;
}

void loader_statics_close(struct loader_statics *statics)
{
    if (!statics)
        return;
    for (size_t i = 0; i < statics->name_count; i++)
        c2_free(statics->names[i]);
    c2_free(statics->names);
    elf_end(statics->file);
    loader_elf_release(&statics->elf);
    loader_program_close(&statics->program);
    c2_free(statics);
}

const char *loader_statics_program(const struct loader_statics *statics)
{
    const char *slash = strrchr(statics->program.file.real, '/');
    return slash ? slash + 1 : statics->program.file.real;
}

/* ------------------------------------------------------------------ symbols */

/* Entry i, if it is a symbol of one of the kinds that have a place in a segment, or a thread-local one. */
static bool statics_get(const struct loader_statics *statics, size_t i, struct loader_symbol *out)
{
    if (!loader_symtab_get(&statics->table, i, out))
        return false;
    return out->type == STT_OBJECT || out->type == STT_COMMON || out->type == STT_FUNC || out->type == STT_NOTYPE ||
           out->type == STT_GNU_IFUNC || out->type == STT_TLS;
}

static bool statics_is_called(const struct loader_symbol *symbol, const char *name)
{
    size_t bytes = loader_symbol_length(symbol->name);
    return strncmp(symbol->name, name, bytes) == 0 && name[bytes] == '\0';
}

static const struct loader_segment *segment_of(const struct loader_elf *elf, const struct loader_symbol *symbol)
{
    for (size_t i = 0; i < elf->count; i++) {
        const struct loader_segment *s = &elf->segments[i];
        if (s->address <= symbol->address && symbol->address < s->address + s->bytes &&
            symbol->bytes <= s->address + s->bytes - symbol->address)
            return s;
    }
    return NULL;
}

static enum c2_status statics_place_of(struct loader_static *out, const struct loader_statics *statics,
                                       const struct loader_symbol *symbol, const char *name, struct c2_error *err)
{
    const char *program = loader_statics_program(statics);
    if (symbol->type == STT_TLS)
        return c2_fail(err, C2_ERR_INVALID,
                       "%s of %s is thread-local: it has a place in each thread, none in the program", name, program);
    if (symbol->bytes == 0)
        return c2_fail(err, C2_ERR_INVALID, "%s of %s has no size in the symbol table (in assembly: .size %s, N)", name,
                       program, name);
    const struct loader_segment *s = segment_of(&statics->elf, symbol);
    if (!s)
        return c2_fail(err, C2_ERR_INVALID, "%s of %s lies in no segment of the program", name, program);
    uint64_t bias = loader_program_bias(&statics->elf);
    *out = (struct loader_static){
        .start = symbol->address + bias,
        .bytes = symbol->bytes,
        .file_end = s->file_bytes ? c2_align_up(s->address + s->file_bytes + bias, C2_PAGE_BYTES) : 0,
    };
    return C2_OK;
}

enum c2_status loader_statics_find(struct loader_static *out, const struct loader_statics *statics, const char *name,
                                   struct c2_error *err)
{
    struct loader_symbol symbol, best = {0};
    size_t rivals = 0;
    for (size_t i = 1; i < statics->table.count; i++) {
        if (!statics_get(statics, i, &symbol) || !statics_is_called(&symbol, name) ||
            (best.name && symbol.local > best.local))
            continue;
        if (best.name && symbol.local == best.local)
            rivals += symbol.address != best.address;
        else
            rivals = 0;
        best = symbol;
    }
    if (!best.name)
        return C2_ERR_NOT_FOUND;
    if (rivals > 0)
        return c2_fail(err, C2_ERR_INVALID, "%s has several symbols %s, each of a file of its own",
                       loader_statics_program(statics), name);
    return statics_place_of(out, statics, &best, name, err);
}

static enum c2_status collect_names(struct loader_statics *statics, struct c2_error *err)
{
    struct loader_symbol symbol;
    statics->names = c2_calloc(statics->table.count + 1, sizeof *statics->names);
    if (!statics->names)
        return c2_fail_memory(err, "the program's symbols");
    for (size_t i = 1; i < statics->table.count; i++) {
        if (!statics_get(statics, i, &symbol) || symbol.bytes == 0 || symbol.type == STT_TLS)
            continue;
        char *name = c2_format("%.*s", (int)loader_symbol_length(symbol.name), symbol.name);
        if (!name)
            return c2_fail_memory(err, "the program's symbols");
        statics->names[statics->name_count++] = name;
    }
    return C2_OK;
}

enum c2_status loader_statics_names(struct loader_statics *statics, const char *const **out, size_t *count,
                                    struct c2_error *err)
{
    enum c2_status status = statics->names ? C2_OK : collect_names(statics, err);
    *out = (const char *const *)statics->names;
    *count = statics->name_count;
    return status;
}
