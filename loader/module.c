/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A module: one mapped file and what it and its debug file say about its code and its variables.
 *
 * Model
 *   Functions and variables come from .symtab of the file, else of its debug file, else from .dynsym of the file.
 *   Lines come from the DWARF of the file, else of its debug file: the ranges of all compilation units are indexed once
 *   (index.c), a unit's line table is read at the first question about it.
 *   DWARF is opened at the first question that needs it, a line or a type: what is asked while a program runs -
 *   functions, the extents of variables - stands in symbol tables, and to unpack the sections of libc's debug file
 *   takes longer than to run a short program.
 * Invariants
 *   A file that is no longer the one that was mapped (device and inode) gives no names. Line 0 is no line.
 * Not modelled
 *   Relocated debug files (prelink); split DWARF beyond what the skeleton units hold (they hold the lines).
 * Source
 *   DWARF 5, sections 3.1.1, 2.17 and 6.2; elfutils libdw.
 */
#include "base/root.h"
#include "loader/symbols_priv.h"

#include <dwarf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------ opening */

static bool read_stamp(struct loader_stamp *out, int fd)
{
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        return false;
    *out = (struct loader_stamp){(uint64_t)st.st_size, st.st_mtim, st.st_ctim};
    return true;
}

static int open_mapped(const struct loader_module *module)
{
    struct stat st;
    int fd = open(module->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_ino == module->inode &&
        st.st_dev == module->device)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* The segments, for the way from file offsets to addresses. */
static enum c2_status read_segments(struct loader_module *module, struct c2_error *err)
{
    struct stat st;
    if (fstat(module->fd, &st) != 0)
        return C2_OK;
    const struct loader_file file = {.fd = module->fd, .bytes = (uint64_t)st.st_size, .label = module->path};
    enum c2_status status = loader_elf_read(&module->elf, &file, err);
    module->is_elf = status == C2_OK;
    return status == C2_ERR_NO_MEMORY ? status : C2_OK;
}

/* lasts: the file is not written in place, so that it can be mapped; libc's debug file is read by 900 first touches
 * less than into memory. */
static Elf *open_elf(int fd, bool lasts)
{
    Elf *elf = fd >= 0 ? elf_begin(fd, SHORTCUT(lasts) ? ELF_C_READ_MMAP_PRIVATE : ELF_C_READ, NULL) : NULL;
    if (elf && elf_kind(elf) != ELF_K_ELF) {
        elf_end(elf);
        return NULL;
    }
    return elf;
}

/* DWARF with at least one unit: a stripped file may keep a .debug_* section of no use. */
static Dwarf *open_dwarf(Elf *elf, struct loader_unpack **unpack)
{
    Dwarf_CU *unit = NULL;
    if (elf && !*unpack)
        *unpack = loader_unpack_begin(elf);
    if (*unpack)
        loader_unpack_end(*unpack);
    Dwarf *dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
    if (dwarf && dwarf_get_units(dwarf, NULL, &unit, NULL, NULL, NULL, NULL) != 0) {
        dwarf_end(dwarf);
        return NULL;
    }
    return dwarf;
}

/* -1: it has none. */
static int find_debug(const struct loader_module *module, bool *packaged)
{
    char root[PATH_MAX];
    snprintf(root, sizeof root, "%s%s", c2_root_path(), LOADER_DEBUG_ROOT);
    return loader_debugfile_open(module->file, module->path, root, packaged);
}

static void open_debug(struct loader_module *module)
{
    bool packaged;
    if (module->debug_sought)
        return;
    module->debug_sought = true;
    module->debug_fd = find_debug(module, &packaged);
    read_stamp(&module->debug_stamp, module->debug_fd);
    module->debug = open_elf(module->debug_fd, packaged);
}

Dwarf *loader_module_dwarf(struct loader_module *module)
{
    if (module->dwarf_sought || !module->file)
        return module->dwarf;
    module->dwarf_sought = true;
    module->dwarf = open_dwarf(module->file, &module->unpack_file);
    if (module->dwarf)
        return module->dwarf;
    open_debug(module);
    return module->dwarf = open_dwarf(module->debug, &module->unpack_debug);
}

void loader_module_places(struct loader_module *module)
{
    loader_unpack_places(module->unpack_file);
    loader_unpack_places(module->unpack_debug);
}

/* ------------------------------------------------------------------ the index of units */

bool loader_die_next(Dwarf_Die *die)
{
    Dwarf_Off offset = dwarf_dieoffset(die);
    return dwarf_siblingof(die, die) == 0 && dwarf_dieoffset(die) > offset;
}

bool loader_die_type(Dwarf_Die *die, Dwarf_Die *out)
{
    Dwarf_Attribute attribute;
    return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), out);
}

const struct loader_range *loader_module_unit(struct loader_module *module, uint64_t address)
{
    if (!module->indexed_units) {
        if (loader_index_read(&module->units, loader_module_dwarf(module), &module->elf, true) != C2_OK) {
            loader_ranges_release(&module->units);
            return NULL;
        }
        module->indexed_units = true;
    }
    return loader_ranges_find(&module->units, address);
}

/* ------------------------------------------------------------------ the module */

static enum c2_status module_read_names(struct loader_module *module, struct c2_error *err)
{
    module->file = open_elf(module->fd, false);
    if (!module->file)
        return C2_OK;
    bool own = loader_symtab_whole(module->file);
    if (!own) {
        open_debug(module);
        own = !module->debug || !loader_symtab_whole(module->debug);
    }
    module->table = own ? module->file : module->debug;
    return loader_functions_read(&module->functions, module->table, err);
}

enum c2_status loader_module_open(struct loader_module **out, const char *path, uint64_t inode, uint64_t device,
                                  struct c2_error *err)
{
    *out = NULL;
    struct loader_module *module = c2_calloc(1, sizeof *module);
    if (!module)
        return c2_fail_memory(err, "symbols");
    *module = (struct loader_module){.inode = inode, .device = device, .fd = -1, .debug_fd = -1};
    module->path = c2_strdup(path);
    if (!module->path) {
        loader_module_close(module);
        return c2_fail_memory(err, "symbols");
    }
    const char *slash = strrchr(module->path, '/');
    module->object = slash ? slash + 1 : module->path;
    module->fd = open_mapped(module);
    read_stamp(&module->stamp, module->fd);
    enum c2_status status = module->fd >= 0 ? read_segments(module, err) : C2_OK;
    if (status == C2_OK && module->is_elf)
        status = module_read_names(module, err);
    if (status == C2_OK)
        *out = module;
    else
        loader_module_close(module);
    return status;
}

static bool is_as_stamped(int fd, const struct loader_stamp *stamp)
{
    struct loader_stamp now;
    return read_stamp(&now, fd) && now.bytes == stamp->bytes && now.modified.tv_sec == stamp->modified.tv_sec &&
           now.modified.tv_nsec == stamp->modified.tv_nsec && now.changed.tv_sec == stamp->changed.tv_sec &&
           now.changed.tv_nsec == stamp->changed.tv_nsec;
}

bool loader_module_lasts(const struct loader_module *module)
{
    const int now = open_mapped(module);
    const bool same = now >= 0 && is_as_stamped(now, &module->stamp) && is_as_stamped(module->fd, &module->stamp);
    if (now >= 0)
        close(now);
    if (!same || !module->file || !module->debug_sought)
        return same;
    if (module->debug_fd >= 0)
        return is_as_stamped(module->debug_fd, &module->debug_stamp);
    bool packaged;
    const int found = find_debug(module, &packaged); /* one may be there by now */
    if (found >= 0)
        close(found);
    return found < 0;
}

void loader_module_foresee(struct loader_module *module)
{
    if (module->dwarf_sought || !module->file)
        return;
    if (!module->unpack_file)
        module->unpack_file = loader_unpack_begin(module->file);
    open_debug(module);
    if (module->debug && !module->unpack_debug)
        module->unpack_debug = loader_unpack_begin(module->debug);
}

void loader_module_close(struct loader_module *module)
{
    if (!module)
        return;
    loader_units_release(module);
    c2_map_destroy(module->layout_of);
    loader_ranges_release(&module->units);
    loader_functions_release(&module->functions);
    loader_ranges_release(&module->variables);
    c2_free(module->types);
    if (module->cfi)
        dwarf_cfi_end(module->cfi);
    dwarf_end(module->dwarf);
    loader_unpack_destroy(module->unpack_debug);
    loader_unpack_destroy(module->unpack_file);
    elf_end(module->debug);
    elf_end(module->file);
    if (module->debug_fd >= 0)
        close(module->debug_fd);
    if (module->fd >= 0)
        close(module->fd);
    loader_elf_release(&module->elf);
    c2_free(module->path);
    c2_free(module);
}

/* Extents that lie in no segment are no part of the image. */
static void drop_outside(struct loader_module *module)
{
    size_t kept = 0;
    struct loader_ranges *variables = &module->variables;
    for (size_t i = 0; i < variables->count; i++) {
        if (!loader_elf_holds(&module->elf, variables->items[i].start, variables->items[i].end))
            continue;
        variables->items[kept] = variables->items[i];
        variables->reach[kept++] = variables->items[i].end;
    }
    variables->count = kept;
}

enum c2_status loader_module_variables(struct loader_module *module, struct c2_error *err)
{
    if (module->read_variables || !module->table)
        return C2_OK;
    enum c2_status status = loader_variables_read(&module->variables, module->table, err);
    if (status != C2_OK)
        return status;
    drop_outside(module);
    module->read_variables = true;
    return C2_OK;
}

enum c2_status loader_module_type(struct loader_module *module, uint32_t variable, struct loader_names *names,
                                  struct c2_error *err)
{
    if (!module->table)
        return C2_OK;
    if (!module->types)
        module->types = c2_calloc(module->variables.count, sizeof *module->types);
    if (!module->types)
        return c2_fail_memory(err, "types of variables");
    C2_ASSERT(variable < module->variables.count);
    return loader_types_read(module->types, loader_module_dwarf(module), &module->variables, variable, names,
                             &module->type_search, err);
}

bool loader_module_line(struct loader_module *module, uint64_t address, struct loader_line *out)
{
    Dwarf_Die die;
    const struct loader_range *unit = loader_module_unit(module, address);
    if (!unit || !dwarf_offdie(module->dwarf, unit->value, &die))
        return false;
    Dwarf_Line *at = dwarf_getsrc_die(&die, address);
    out->file = at ? dwarf_linesrc(at, NULL, NULL) : NULL;
    if (!out->file || dwarf_lineno(at, &out->line) != 0 || out->line <= 0)
        return false;
    if (dwarf_linecol(at, &out->column) != 0)
        out->column = 0;
    return true;
}

size_t loader_module_code(const struct loader_module *module, uint64_t address, uint8_t *out, size_t bytes)
{
    for (size_t i = 0; i < module->elf.count; i++) {
        const struct loader_segment *segment = &module->elf.segments[i];
        if (address < segment->address || address - segment->address >= segment->file_bytes)
            continue;
        const uint64_t into = address - segment->address, left = segment->file_bytes - into;
        const ssize_t got = pread(module->fd, out, left < bytes ? left : bytes, (off_t)(segment->offset + into));
        return got < 0 ? 0 : (size_t)got;
    }
    return 0;
}
