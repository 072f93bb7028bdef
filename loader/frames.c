/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which functions an instruction belongs to: the function that holds it and those that were inlined into it.
 *
 * Model
 *   At the first question about a compilation unit its DIEs are walked once. Every function and every inlined call
 *   with code becomes an instance that knows the instance it lies in; the innermost range that holds an address gives
 *   the first frame, and its callers follow:
 *
 *       main      [------------------------------)    called from nowhere
 *       sum          [-------)        [----)          inlined into main at line 30
 *       add             [--)                          inlined into sum at line 12
 *                       ^ frames: add at its own line, sum at line 12, main at line 30
 *
 *   The line of the first frame comes from the line table, the others' from the calls.
 *   Names: an inlined function's linkage name, else its DWARF name. The function that holds the code: its linkage name,
 *   else in C++ the symbol, else the DWARF name; without DWARF the symbol. Linkage names are demangled.
 * Counting
 *   A name is made once an instance, the index once a unit. Measured on c2emu itself (gcc -O2 -g1 -flto, 64,200
 *   addresses, 117,000 frames, all indexes made in between): 0.5 us an address, in any order; on C++ with chains of 3.7
 *   frames on average, 0.7 us and 20 ms for the index. So the 400,000 addresses of a long run take less than a third of
 *   a second, and nothing is kept by address.
 * Invariants
 *   An instance lies in one with a smaller number, so no chain is a loop. A line is never given without its file.
 * Not modelled
 *   Calls that became jumps (tail calls): the caller has left no trace. Split DWARF: the function is the symbol then.
 * Source
 *   DWARF 5, 3.3.8; the same questions answered by addr2line -i -f -C are the test.
 */
#include "loader/symbols_priv.h"

#include <dwarf.h>
#include <string.h>

#define NO_PARENT SIZE_MAX
#define SCOPE_DEPTH 1024
#define FIRST_ROOM C2_HOST_SIZE(64u, 1u)

/* A function with code, or a call that was inlined. */
struct instance {
    Dwarf_Off die;
    size_t parent;    /* NO_PARENT: not inlined */
    const char *name; /* as shown; NULL until asked for, or unknown */
};

struct loader_unit {
    struct loader_unit *next; /* indexed before */
    Dwarf_Die die;
    bool symbols_first;          /* C++: a name without linkage name is not the one to show */
    struct loader_ranges ranges; /* value: number of the instance */
    struct instance *instances;
    size_t count, room;
};

/* ------------------------------------------------------------------ the index of a unit */

static enum c2_status add_instance(struct loader_unit *unit, struct instance instance, struct c2_error *err)
{
    if (unit->count == unit->room) {
        size_t room = unit->room ? 2 * unit->room : FIRST_ROOM;
        struct instance *grown = c2_realloc(unit->instances, room * sizeof *grown);
        if (!grown)
            return c2_fail_memory(err, "inlined functions");
        unit->instances = grown;
        unit->room = room;
    }
    unit->instances[unit->count++] = instance;
    return C2_OK;
}

/* Gives the number of the instance, or NO_PARENT if it has no code. */
static enum c2_status index_function(struct loader_unit *unit, const struct loader_elf *elf, Dwarf_Die *die,
                                     size_t parent, size_t *number, struct c2_error *err)
{
    size_t before = unit->ranges.count;
    bool inlined = dwarf_tag(die) == DW_TAG_inlined_subroutine;
    enum c2_status status = loader_unit_ranges(&unit->ranges, elf, die, unit->count, err);
    *number = NO_PARENT;
    if (status != C2_OK || unit->ranges.count == before)
        return status;
    *number = unit->count;
    return add_instance(unit, (struct instance){dwarf_dieoffset(die), inlined ? parent : NO_PARENT, NULL}, err);
}

static bool frames_is_scope(int tag)
{
    return tag == DW_TAG_lexical_block || tag == DW_TAG_namespace || tag == DW_TAG_structure_type ||
           tag == DW_TAG_class_type || tag == DW_TAG_union_type || tag == DW_TAG_try_block ||
           tag == DW_TAG_catch_block || tag == DW_TAG_module;
}

static enum c2_status frames_walk(struct loader_unit *unit, const struct loader_elf *elf, Dwarf_Die *scope,
                                  size_t parent, unsigned depth, struct c2_error *err)
{
    Dwarf_Die die;
    enum c2_status status = C2_OK;
    for (bool more = depth < SCOPE_DEPTH && dwarf_child(scope, &die) == 0; more && status == C2_OK;
         more = loader_die_next(&die)) {
        int tag = dwarf_tag(&die);
        size_t inside = parent;
        bool function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
        if (function)
            status = index_function(unit, elf, &die, parent, &inside, err);
        if (status == C2_OK && (function || frames_is_scope(tag)) && dwarf_haschildren(&die) > 0)
            status = frames_walk(unit, elf, &die, inside, depth + 1, err);
    }
    return status;
}

/* Of two instances of one range the inner one, which has the larger number. */
static int prefer_inner(uint64_t a, uint64_t b) { return (a < b) - (a > b); }

static void unit_destroy(struct loader_unit *unit)
{
    if (!unit)
        return;
    loader_ranges_release(&unit->ranges);
    c2_free(unit->instances);
    c2_free(unit);
}

static struct loader_unit *unit_create(const struct loader_module *module, Dwarf_Off offset)
{
    struct loader_unit *unit = c2_calloc(1, sizeof *unit);
    if (!unit)
        return NULL;
    enum c2_status status = C2_OK;
    if (dwarf_offdie(module->dwarf, offset, &unit->die)) {
        unit->symbols_first = loader_unit_language(&unit->die) == LANGUAGE_CXX;
        status = frames_walk(unit, &module->elf, &unit->die, NO_PARENT, 0, NULL);
    }
    if (status == C2_OK)
        status = loader_ranges_seal(&unit->ranges, prefer_inner, NULL);
    if (status == C2_OK)
        return unit;
    unit_destroy(unit);
    return NULL;
}

/* The unit's index, made at the first question; NULL without memory. */
static struct loader_unit *unit_at(struct loader_module *module, Dwarf_Off offset)
{
    uint64_t found;
    if (!module->indexed && c2_map_create(&module->indexed, NULL) != C2_OK)
        return NULL;
    if (c2_map_get(module->indexed, offset, &found))
        return (struct loader_unit *)(uintptr_t)found;
    struct loader_unit *unit = unit_create(module, offset);
    if (!unit || c2_map_put(module->indexed, offset, (uintptr_t)unit, NULL) != C2_OK) {
        unit_destroy(unit);
        return NULL;
    }
    unit->next = module->newest;
    return module->newest = unit;
}

void loader_units_release(struct loader_module *module)
{
    while (module->newest) {
        struct loader_unit *next = module->newest->next;
        unit_destroy(module->newest);
        module->newest = next;
    }
    c2_map_destroy(module->indexed);
}

void loader_units_check(const struct loader_module *module)
{
    for (const struct loader_unit *unit = module->newest; unit; unit = unit->next) {
        loader_ranges_check(&unit->ranges);
        for (size_t i = 0; i < unit->count; i++)
            C2_ASSERT(unit->instances[i].parent == NO_PARENT || unit->instances[i].parent < i);
        for (size_t i = 0; i < unit->ranges.count; i++)
            C2_ASSERT(unit->ranges.items[i].value < unit->count);
    }
}

/* ------------------------------------------------------------------ names */

static const char *linkage_name(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    if (!dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) &&
        !dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
        return NULL;
    return dwarf_formstring(&attribute);
}

static const char *symbol_name(const struct loader_module *module, uint64_t address)
{
    const char *name;
    uint64_t start;
    return loader_functions_find(&module->functions, address, &name, &start) ? name : NULL;
}

static const char *frames_find_name(const struct loader_module *module, const struct loader_unit *unit,
                                    const struct instance *instance)
{
    Dwarf_Die die;
    Dwarf_Addr entry;
    if (!dwarf_offdie(module->dwarf, instance->die, &die))
        return NULL;
    const char *name = linkage_name(&die);
    /* where it is entered: its other parts have symbols of their own ("main.cold") */
    if (!name && instance->parent == NO_PARENT && unit->symbols_first && dwarf_entrypc(&die, &entry) == 0)
        name = symbol_name(module, entry);
    return name ? name : dwarf_diename(&die);
}

static const char *frames_name_of(struct loader_symbols *symbols, const struct loader_module *module,
                                  const struct loader_unit *unit, struct instance *instance)
{
    if (instance->name)
        return instance->name;
    const char *name = frames_find_name(module, unit, instance);
    return instance->name = name ? loader_names_shown(symbols->names, symbols->shown, name) : NULL;
}

/* ------------------------------------------------------------------ frames */

static void set_file(struct loader_symbols *symbols, struct loader_frame *frame, const char *file, int line, int column)
{
    frame->file = file && line > 0 ? loader_names_keep(symbols->names, file, strlen(file)) : NULL;
    if (!frame->file)
        return;
    const char *slash = strrchr(frame->file, '/');
    frame->base = slash ? slash + 1 : frame->file;
    frame->line = line;
    frame->column = column;
}

static int frames_number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    bool known = dwarf_formudata(dwarf_attr(die, name, &attribute), &value) == 0 && value <= INT32_MAX;
    return known ? (int)value : 0;
}

/* Where the instance was inlined. */
static void set_call(struct loader_symbols *symbols, struct loader_frame *frame, const struct loader_module *module,
                     struct loader_unit *unit, const struct instance *instance)
{
    Dwarf_Die die;
    Dwarf_Files *files;
    size_t count, file;
    if (!dwarf_offdie(module->dwarf, instance->die, &die) || dwarf_getsrcfiles(&unit->die, &files, &count) != 0)
        return;
    file = (size_t)frames_number_of(&die, DW_AT_call_file);
    if (file < count)
        set_file(symbols, frame, dwarf_filesrc(files, file, NULL, NULL), frames_number_of(&die, DW_AT_call_line),
                 frames_number_of(&die, DW_AT_call_column));
}

/* Fills at most `room` frames from this instance outwards, and counts all of them. */
static size_t set_chain(struct loader_symbols *symbols, const struct loader_module *module, struct loader_unit *unit,
                        uint64_t address, struct loader_frame *frames, size_t room)
{
    const struct loader_range *range = loader_ranges_find(&unit->ranges, address);
    size_t count = 0, inner = NO_PARENT;
    for (size_t at = range ? range->value : NO_PARENT; at != NO_PARENT; at = unit->instances[at].parent) {
        if (count < room && inner != NO_PARENT)
            set_call(symbols, &frames[count], module, unit, &unit->instances[inner]);
        if (count < room)
            frames[count].function = frames_name_of(symbols, module, unit, &unit->instances[at]);
        inner = at;
        count++;
    }
    return count;
}

size_t loader_module_frames(struct loader_symbols *symbols, struct loader_module *module, uint64_t address,
                            struct loader_frame *frames, size_t room)
{
    C2_ASSERT(room > 0);
    memset(frames, 0, room * sizeof *frames);
    struct loader_line line;
    const struct loader_range *range = loader_module_unit(module, address);
    struct loader_unit *unit = range ? unit_at(module, range->value) : NULL;
    if (range && !unit)
        return 1;
    if (loader_module_line(module, address, &line))
        set_file(symbols, &frames[0], line.file, line.line, line.column);
    size_t count = unit ? set_chain(symbols, module, unit, address, frames, room) : 0;
    const char *name = count ? NULL : symbol_name(module, address);
    if (name)
        frames[0].function = loader_names_shown(symbols->names, symbols->shown, name);
    return count ? count : 1;
}

size_t loader_frames_of(struct loader_symbols *symbols, struct guest_va pc, struct loader_frame *frames, size_t room)
{
    struct loader_spot spot;
    if (loader_spot_of(symbols, pc, &spot) && spot.linked)
        return loader_module_frames(symbols, spot.module, spot.address, frames, room);
    memset(frames, 0, room * sizeof *frames);
    struct loader_jit_place place;
    if (loader_jit_find(symbols, pc, &place))
        frames[0] = (struct loader_frame){
            loader_names_keep(symbols->names, place.function, strlen(place.function)),
            place.file ? loader_names_keep(symbols->names, place.file, strlen(place.file)) : NULL,
            place.base ? loader_names_keep(symbols->names, place.base, strlen(place.base)) : NULL, place.line, 0};
    return 1;
}

/* ------------------------------------------------------------------ scopes */

static bool outermost_at(struct loader_module *module, uint64_t address, Dwarf_Die *out)
{
    const struct loader_range *range = loader_module_unit(module, address);
    struct loader_unit *unit = range ? unit_at(module, range->value) : NULL;
    const struct loader_range *instance = unit ? loader_ranges_find(&unit->ranges, address) : NULL;
    size_t at = instance ? instance->value : NO_PARENT;
    while (at != NO_PARENT && unit->instances[at].parent != NO_PARENT)
        at = unit->instances[at].parent;
    return at != NO_PARENT && dwarf_offdie(module->dwarf, unit->instances[at].die, out);
}

static bool is_inner(int tag)
{
    return tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_try_block ||
           tag == DW_TAG_catch_block;
}

/* The scope in this one that holds the address. */
static bool step_in(Dwarf_Die *scope, uint64_t address, Dwarf_Die *out)
{
    for (bool more = dwarf_child(scope, out) == 0; more; more = loader_die_next(out))
        if (is_inner(dwarf_tag(out)) && dwarf_haspc(out, address) > 0)
            return true;
    return false;
}

size_t loader_module_scopes(struct loader_module *module, uint64_t address, Dwarf_Die scopes[LOADER_SCOPES])
{
    size_t count = 1;
    if (!outermost_at(module, address, &scopes[0]))
        return 0;
    while (count < LOADER_SCOPES && step_in(&scopes[count - 1], address, &scopes[count]))
        count++;
    return count;
}
