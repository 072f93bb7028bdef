/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * From an address of the guest to names.
 *
 * Model
 *   pc -> the area that holds it -> path and offset in the file -> module -> linked address -> function and line.
 *   Modules are opened at the first question about them and kept: path, device and inode name one.
 *   Where a program ends by execve, what was read of files goes on to the next one, but of files that are others by
 *   then (size, times), or that the program before did not have; what depends on addresses goes.
 * Counting
 *   Nothing here touches guest memory or a page: asking changes no result.
 * Invariants
 *   What is not known is NULL, never a guess. Every text lent stays until destroy; equal texts have equal addresses.
 * Not modelled
 *   Areas that were unmapped before the question: they are gone, and whatever lies there now answers.
 */
#include "loader/symbols_priv.h"

#include <string.h>

enum c2_status loader_symbols_create(struct loader_symbols **out, const struct mmu_areas *areas, struct c2_error *err)
{
    *out = NULL;
    if (elf_version(EV_CURRENT) == EV_NONE)
        return c2_fail(err, C2_ERR_INTERNAL, "libelf: %s", elf_errmsg(-1));
    struct loader_symbols *symbols = c2_calloc(1, sizeof *symbols);
    if (!symbols)
        return c2_fail_memory(err, "symbols");
    symbols->areas = areas;
    enum c2_status status = loader_names_create(&symbols->names, err);
    if (status == C2_OK)
        status = c2_map_create(&symbols->shown, err);
    if (status == C2_OK)
        *out = symbols;
    else
        loader_symbols_destroy(symbols);
    return status;
}

void loader_symbols_destroy(struct loader_symbols *symbols)
{
    if (!symbols)
        return;
    while (symbols->modules) {
        struct loader_module *next = symbols->modules->next;
        loader_module_close(symbols->modules);
        symbols->modules = next;
    }
    loader_unwind_forget(symbols);
    c2_free(symbols->rules);
    c2_map_destroy(symbols->receiver_of);
    c2_free(symbols->receivers);
    loader_layouts_release(symbols);
    loader_structs_release(symbols);
    loader_arrays_release(symbols);
    c2_map_destroy(symbols->shown);
    loader_names_destroy(symbols->names);
    loader_capstone_close(symbols);
    loader_jit_release(symbols->jit);
    c2_free(symbols);
}

/* ------------------------------------------------------------------ the next program */

void loader_symbols_retire(struct loader_symbols *symbols)
{
    symbols->areas = NULL;
    loader_unwind_forget(symbols);
    c2_map_destroy(symbols->receiver_of);
    symbols->receiver_of = NULL;
    symbols->receiver_count = 0;
    loader_structs_release(symbols);
    loader_arrays_release(symbols);
    loader_layouts_retire(symbols);
    loader_jit_release(symbols->jit);
    symbols->jit = NULL;
}

static void drop_module(struct loader_symbols *symbols, struct loader_module **link)
{
    struct loader_module *module = *link;
    *link = module->next;
    loader_layouts_drop(symbols, module);
    loader_module_close(module);
}

enum c2_status loader_symbols_take(struct loader_symbols **out, struct loader_symbols **retired,
                                   const struct mmu_areas *areas, struct c2_error *err)
{
    struct loader_symbols *symbols = retired ? *retired : NULL;
    if (!symbols)
        return loader_symbols_create(out, areas, err);
    C2_ASSERT(!symbols->areas && symbols->layout_count == 0);
    *out = symbols;
    *retired = NULL;
    symbols->areas = areas;
    for (struct loader_module **link = &symbols->modules; *link;) {
        if (!(*link)->asked || !loader_module_lasts(*link)) {
            drop_module(symbols, link);
            continue;
        }
        (*link)->asked = false;
        link = &(*link)->next;
    }
    return C2_OK;
}

void loader_symbols_foresee(struct loader_symbols *symbols, bool wait)
{
    for (struct loader_module *module = symbols->modules; module; module = module->next)
        loader_module_foresee(module);
    for (struct loader_module *module = wait ? symbols->modules : NULL; module; module = module->next)
        loader_module_unit(module, 0);
}

/* ------------------------------------------------------------------ modules */

bool loader_module_shown(const struct loader_module *module, const struct mmu_area *area)
{
    return module->inode == area->inode && module->device == area->device && strcmp(module->path, area->path) == 0;
}

static void to_front(struct loader_symbols *symbols, struct loader_module **link)
{
    struct loader_module *module = *link;
    *link = module->next;
    module->next = symbols->modules;
    symbols->modules = module;
}

struct loader_module *loader_symbols_module(struct loader_symbols *symbols, const struct mmu_area *area)
{
    struct loader_module *module;
    if (!area || !area->path)
        return NULL;
    for (struct loader_module **link = &symbols->modules; *link; link = &(*link)->next)
        if (loader_module_shown(*link, area)) {
            to_front(symbols, link);
            symbols->modules->asked = true;
            return symbols->modules;
        }
    if (loader_module_open(&module, area->path, area->inode, area->device, NULL) != C2_OK)
        return NULL;
    module->asked = true;
    module->next = symbols->modules;
    symbols->modules = module;
    return module;
}

/* ------------------------------------------------------------------ the answer */

static const char *symbols_keep(struct loader_symbols *symbols, const char *text)
{
    return loader_names_keep(symbols->names, text, strlen(text));
}

bool loader_spot_of(struct loader_symbols *symbols, struct guest_va va, struct loader_spot *out)
{
    const struct mmu_area *area = mmu_area_at(symbols->areas, va, false);
    *out = (struct loader_spot){.module = loader_symbols_module(symbols, area)};
    if (!out->module)
        return false;
    out->address = va.v - area->start.v + area->offset;
    out->linked = out->module->is_elf &&
                  loader_elf_address(&out->module->elf, out->address, area->prot & MMU_EXEC, &out->address);
    return true;
}

static void symbols_name_function(struct loader_symbols *symbols, const struct loader_spot *spot,
                                  struct loader_place *out)
{
    const char *name;
    uint64_t start;
    if (!loader_functions_find(&spot->module->functions, spot->address, &name, &start))
        return;
    out->function = loader_names_shown(symbols->names, symbols->shown, name);
    if (out->function)
        out->offset = spot->address - start;
}

static void symbols_name_line(struct loader_symbols *symbols, const struct loader_spot *spot, struct loader_place *out)
{
    struct loader_line line;
    if (!loader_module_line(spot->module, spot->address, &line))
        return;
    out->file = symbols_keep(symbols, line.file);
    out->line = out->file ? line.line : 0;
}

/* Code that lies in no file, and its line. */
static void symbols_name_jit(struct loader_symbols *symbols, struct guest_va pc, struct loader_place *out)
{
    struct loader_jit_place place;
    if (!loader_jit_find(symbols, pc, &place))
        return;
    *out = (struct loader_place){symbols_keep(symbols, place.object), symbols_keep(symbols, place.function),
                                 pc.v - place.start, place.base ? symbols_keep(symbols, place.base) : NULL, place.line};
}

/* All but the line; whether the spot may have one. */
static bool name_spot(struct loader_symbols *symbols, struct guest_va pc, struct loader_spot *spot,
                      struct loader_place *out)
{
    *out = (struct loader_place){.offset = pc.v};
    if (!loader_spot_of(symbols, pc, spot)) {
        symbols_name_jit(symbols, pc, out);
        return false;
    }
    if (!(out->object = symbols_keep(symbols, spot->module->object)))
        return false;
    out->offset = spot->address;
    if (spot->linked)
        symbols_name_function(symbols, spot, out);
    return spot->linked;
}

void loader_symbol_of(struct loader_symbols *symbols, struct guest_va pc, struct loader_place *out)
{
    struct loader_spot spot;
    name_spot(symbols, pc, &spot, out);
}

void loader_place_of(struct loader_symbols *symbols, struct guest_va pc, struct loader_place *out)
{
    struct loader_spot spot;
    if (name_spot(symbols, pc, &spot, out))
        symbols_name_line(symbols, &spot, out);
}

bool loader_linked_of(struct loader_symbols *symbols, struct guest_va pc, const char **path, uint64_t *address)
{
    struct loader_spot spot;
    if (!loader_spot_of(symbols, pc, &spot) || !spot.linked)
        return false;
    *path = spot.module->path;
    *address = spot.address;
    return true;
}

const char *loader_symbol_name_of(struct loader_symbols *symbols, struct guest_va pc)
{
    struct loader_spot spot;
    const char *name;
    uint64_t start;
    if (!loader_spot_of(symbols, pc, &spot) || !spot.linked ||
        !loader_functions_find(&spot.module->functions, spot.address, &name, &start))
        return NULL;
    return name;
}

const char *loader_shown_name(struct loader_symbols *symbols, const char *symbol)
{
    return loader_names_shown(symbols->names, symbols->shown, symbol);
}

bool loader_function_entry(struct loader_symbols *symbols, struct guest_va pc, struct guest_va *out)
{
    struct loader_spot spot;
    struct loader_jit_place place;
    const char *name;
    uint64_t start;
    if (!loader_spot_of(symbols, pc, &spot)) {
        const bool named = loader_jit_find(symbols, pc, &place);
        out->v = named ? place.start : out->v;
        return named;
    }
    if (!spot.linked || !loader_functions_find(&spot.module->functions, spot.address, &name, &start))
        return false;
    out->v = pc.v - (spot.address - start);
    return true;
}

/* ------------------------------------------------------------------ looking at it */

void loader_symbols_check(const struct loader_symbols *symbols)
{
    for (const struct loader_module *at = symbols->modules; at; at = at->next) {
        loader_ranges_check(&at->functions.sized);
        loader_ranges_check(&at->functions.labels);
        loader_ranges_check(&at->variables);
        loader_ranges_check(&at->units);
        loader_units_check(at);
        for (const struct loader_module *other = at->next; other; other = other->next)
            C2_ASSERT(at->inode != other->inode || at->device != other->device || strcmp(at->path, other->path) != 0);
    }
}

void loader_symbols_dump(const struct loader_symbols *symbols, FILE *to)
{
    fprintf(to, "%zu names\n", loader_names_count(symbols->names));
    for (const struct loader_module *at = symbols->modules; at; at = at->next)
        fprintf(to, "%s: %s, %zu functions, %zu labels, %zu variables, %zu unit ranges%s\n", at->path,
                at->is_elf ? "ELF" : "no ELF file", at->functions.sized.count, at->functions.labels.count,
                at->variables.count, at->units.count, at->debug ? ", separate debug file" : "");
}
