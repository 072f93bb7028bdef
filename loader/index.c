/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * index: which compilation unit holds an address.
 *
 * Model
 *   .debug_aranges has the ranges of each unit that its compiler wrote there; those of any other unit - not every
 *   compiler writes them, and none those of a unit without code - are read from the unit's own entry.
 * Cost
 *   Of libc's 2,063 units 1,937 stand in .debug_aranges. To read a unit's own entry takes 16,000 instructions and a
 *   page of memory: its abbreviation, which is among the rarest of the unit, comes last in a table that libdw reads up
 *   to there.
 * Source
 *   DWARF 5, sections 2.17 and 6.1.2.
 */
#include "loader/symbols_priv.h"

#include <dwarf.h>
#include <stdlib.h>

enum c2_status loader_unit_ranges(struct loader_ranges *ranges, const struct loader_elf *elf, Dwarf_Die *die,
                                  uint64_t value, struct c2_error *err)
{
    Dwarf_Addr base = 0, start = 0, end = 0;
    ptrdiff_t offset = 0;
    enum c2_status status = C2_OK;
    while (status == C2_OK && (offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0)
        if (start != 0 && loader_elf_holds(elf, start, end))
            status = loader_ranges_add(ranges, (struct loader_range){start, end, value}, err);
    return status;
}

/* ------------------------------------------------------------------ .debug_aranges */

/* The units that stand there, by the offsets of their entries. */
struct listed {
    uint64_t *offsets; /* ascending; of one as often as it has ranges */
    size_t count;
};

static int index_by_offset(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static enum c2_status index_add(struct loader_ranges *out, struct listed *listed, const struct loader_elf *elf,
                                Dwarf_Arange *arange)
{
    Dwarf_Addr start, end;
    Dwarf_Word bytes;
    Dwarf_Off unit;
    if (!arange || dwarf_getarangeinfo(arange, &start, &bytes, &unit) != 0)
        return C2_OK;
    listed->offsets[listed->count++] = unit;
    if (start == 0 || __builtin_add_overflow(start, bytes, &end) || !loader_elf_holds(elf, start, end))
        return C2_OK;
    return loader_ranges_add(out, (struct loader_range){start, end, unit}, NULL);
}

static enum c2_status index_read_list(struct loader_ranges *out, struct listed *listed, Dwarf *dwarf,
                                      const struct loader_elf *elf)
{
    Dwarf_Aranges *aranges;
    size_t count;
    enum c2_status status = C2_OK;
    if (dwarf_getaranges(dwarf, &aranges, &count) != 0 || count == 0)
        return C2_OK;
    listed->offsets = c2_alloc(count * sizeof *listed->offsets);
    if (!listed->offsets)
        return C2_ERR_NO_MEMORY;
    for (size_t i = 0; i < count && status == C2_OK; i++)
        status = index_add(out, listed, elf, dwarf_onearange(aranges, i));
    qsort(listed->offsets, listed->count, sizeof *listed->offsets, index_by_offset);
    return status;
}

static bool index_lists(const struct listed *listed, uint64_t unit)
{
    return listed->count != 0 &&
           bsearch(&unit, listed->offsets, listed->count, sizeof *listed->offsets, index_by_offset);
}

/* ------------------------------------------------------------------ the whole */

static int first_unit(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static enum c2_status index_read_others(struct loader_ranges *out, const struct listed *listed, Dwarf *dwarf,
                                        const struct loader_elf *elf)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    uint8_t type;
    enum c2_status status = C2_OK;
    while (status == C2_OK && dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, NULL) == 0) {
        const uint64_t offset = dwarf_dieoffset(&die);
        if ((type == DW_UT_compile || type == DW_UT_skeleton) && !index_lists(listed, offset))
            status = loader_unit_ranges(out, elf, &die, offset, NULL);
    }
    return status;
}

enum c2_status loader_index_read(struct loader_ranges *out, Dwarf *dwarf, const struct loader_elf *elf, bool by_list)
{
    struct listed listed = {.offsets = NULL};
    enum c2_status status = C2_OK;
    if (!dwarf)
        return C2_OK;
    if (SHORTCUT(by_list))
        status = index_read_list(out, &listed, dwarf, elf);
    if (status == C2_OK)
        status = index_read_others(out, &listed, dwarf, elf);
    c2_free(listed.offsets);
    return status == C2_OK ? loader_ranges_seal(out, first_unit, NULL) : status;
}
