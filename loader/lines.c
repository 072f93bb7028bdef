/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * From a line of the source to the code that it begins with.
 *
 * Model
 *   A line may have code in many places. As with a debugger's breakpoint, what counts in each function, and in each
 *   inlined copy of one, is the lowest address that the line table calls the beginning of a statement of the line.
 *   Where no debug information tells functions, each such address counts.
 * Source
 *   DWARF 5, section 6.2; elfutils libdw.
 */
#include "loader/symbols_priv.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

struct place {
    uint64_t function; /* offset of its DIE; 0: unknown */
    uint64_t address;  /* linked */
};

struct search {
    struct loader_module *module;
    const char *file;
    int line;
    const char *last; /* the source file asked about last, ... */
    bool is_it;       /* ... and whether it is the one */
    struct place *places;
    uint32_t count, room;
    struct loader_line_answer *answer;
};

bool loader_names_file(const char *path, const char *file)
{
    const size_t all = strlen(path), bytes = strlen(file);
    return all >= bytes && strcmp(path + all - bytes, file) == 0 &&
           (all == bytes || file[0] == '/' || path[all - bytes - 1] == '/');
}

static bool in_file(struct search *search, Dwarf_Line *line)
{
    const char *source = dwarf_linesrc(line, NULL, NULL);
    if (source != search->last) {
        search->last = source;
        search->is_it = source && loader_names_file(source, search->file);
    }
    return search->is_it;
}

static uint64_t lines_function_of(struct loader_module *module, uint64_t address)
{
    Dwarf_Die scopes[LOADER_SCOPES];
    for (size_t i = loader_module_scopes(module, address, scopes); i-- > 0;) {
        const int tag = dwarf_tag(&scopes[i]);
        if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
            return dwarf_dieoffset(&scopes[i]);
    }
    return 0;
}

static enum c2_status lines_add(struct search *search, uint64_t address, struct c2_error *err)
{
    const struct place place = {lines_function_of(search->module, address), address};
    for (uint32_t i = 0; place.function != 0 && i < search->count; i++) {
        if (search->places[i].function != place.function)
            continue;
        if (address < search->places[i].address)
            search->places[i] = place;
        return C2_OK;
    }
    if (!c2_grow((void **)&search->places, &search->room, search->count, sizeof *search->places))
        return c2_fail_memory(err, "lines of the source");
    search->places[search->count++] = place;
    return C2_OK;
}

/* Of two lines equally near the later one. */
static void note_nearest(struct search *search, int line)
{
    struct loader_line_answer *answer = search->answer;
    const int old = abs(answer->nearest - search->line), here = abs(line - search->line);
    if (answer->nearest == 0 || here < old || (here == old && line > answer->nearest))
        answer->nearest = line;
}

static enum c2_status lines_look_at(struct search *search, Dwarf_Line *line, struct c2_error *err)
{
    bool begins, ends;
    int number;
    Dwarf_Addr address;
    if (!in_file(search, line) || dwarf_linebeginstatement(line, &begins) != 0 || !begins ||
        dwarf_lineendsequence(line, &ends) != 0 || ends || dwarf_lineno(line, &number) != 0 || number <= 0 ||
        dwarf_lineaddr(line, &address) != 0 || !loader_elf_holds(&search->module->elf, address, address + 1))
        return C2_OK;
    search->answer->known = true;
    note_nearest(search, number);
    return number == search->line ? lines_add(search, address, err) : C2_OK;
}

static enum c2_status look_through(struct search *search, Dwarf *dwarf, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    Dwarf_Die die;
    Dwarf_Lines *lines;
    size_t count;
    for (Dwarf_CU *unit = NULL; status == C2_OK && dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0;) {
        if (dwarf_getsrclines(&die, &lines, &count) != 0)
            continue;
        search->last = NULL;
        for (size_t i = 0; i < count && status == C2_OK; i++)
            status = lines_look_at(search, dwarf_onesrcline(lines, i), err);
    }
    return status;
}

enum c2_status loader_module_has_line(bool *found, struct loader_module *module, const char *file, int line,
                                      struct loader_line_answer *answer, struct c2_error *err)
{
    struct search search = {.module = module, .file = file, .line = line, .answer = answer};
    Dwarf *dwarf = loader_module_dwarf(module);
    enum c2_status status = dwarf ? look_through(&search, dwarf, err) : C2_OK;
    *found |= search.count != 0;
    c2_free(search.places);
    return status;
}

enum c2_status loader_line_entries(struct loader_symbols *symbols, struct guest_va at, const char *file, int line,
                                   struct loader_line_answer *answer, const struct loader_line_listener *listener,
                                   struct c2_error *err)
{
    uint64_t bias;
    struct search search = {.file = file, .line = line, .answer = answer};
    enum c2_status status = loader_code_at(symbols, at, &search.module, &bias, err);
    Dwarf *dwarf = search.module ? loader_module_dwarf(search.module) : NULL;
    if (status != C2_OK || !dwarf)
        return status;
    status = look_through(&search, dwarf, err);
    for (uint32_t i = 0; i < search.count && status == C2_OK; i++)
        status = listener->entry(listener->self, (struct guest_va){search.places[i].address + bias}, err);
    c2_free(search.places);
    return status;
}
