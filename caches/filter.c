/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * filter: a snoop filter, which has room for so many lines.
 *
 * Model
 *   The directory of cores whose shared level is not inclusive, with sets and ways (coherence.c). It has an entry for
 *   each line that some core has in a level of its own, and for no other: an entry goes when the last core says that it
 *   does not have the line any more. A new one goes into a set of its own; where all ways of that have entries, the
 *   oldest makes room: the line leaves all own levels of all cores. An entry is as old as its last use: a core that did
 *   not have the line asked for it, or one that shared it wrote to it. Hits in own levels are not seen.
 *   Slices are those of the first shared level, and an entry lies in the slice of its line; its set there is that of
 *   the physical line, by as many sets as the filter has.
 *   What leaves so was not requested by any access: shadows keep the line, as they do where an inclusive level takes
 *   it. So the next miss is a conflict miss if the shadow has the line still. A dirty copy is written down from the
 *   last own level of the core, to the first shared level that has the line, else to memory. It all happens when the
 *   access that needs the entry is done.
 *
 * Counting
 *   filter_evictions: of the core whose access needed the room. filter_invalidations: of each core that lost the line,
 *   once, and of each level of it that had a copy.
 *
 * Invariants (cache_filter_holds)
 *   A line has an entry if some core has it, and only then; entries of a set lie in it, and each line has one.
 *
 * Not modelled
 *   Filters that do not record exactly which cores have a line, or keep entries of lines that are gone; other policies
 *   than LRU.
 */
#include <string.h>

#include "caches/coherence_priv.h"

struct cache_filter {
    uint32_t sets, ways;            /* sets: of all slices */
    uint32_t set_count;             /* of one slice */
    const struct cache_level *like; /* the first shared level, whose slices these are; NULL: one slice */
    uint32_t *slots;                /* [set * ways + place]: 1 + the line's slot, the youngest first; 0: none */
};

/* ------------------------------------------------------------------ life */

enum c2_status cache_filter_create(struct cache_filter **out, const struct caches_machine *machine,
                                   struct c2_error *err)
{
    struct cache_filter *filter = *out = c2_calloc(1, sizeof *filter);
    const uint32_t own = caches_machine_private(machine);
    const uint32_t slices = own < machine->level_count ? machine->levels[own].slices : 1;
    if (!filter)
        return c2_fail_memory(err, "the snoop filter");
    filter->ways = machine->filter_ways;
    filter->sets = machine->filter_lines / machine->filter_ways;
    filter->set_count = filter->sets / slices;
    C2_ASSERT(filter->set_count * slices * filter->ways == machine->filter_lines && filter->set_count != 0);
    filter->slots = c2_calloc(machine->filter_lines, sizeof *filter->slots);
    return filter->slots ? C2_OK : c2_fail_memory(err, "the snoop filter");
}

void cache_filter_destroy(struct cache_filter *filter)
{
    if (!filter)
        return;
    c2_free(filter->slots);
    c2_free(filter);
}

void cache_filter_place(struct cache_filter *filter, const struct cache_level *first_shared)
{
    filter->like = first_shared;
}

/* ------------------------------------------------------------------ entries */

static uint32_t filter_set_of(const struct cache_filter *filter, uint64_t line)
{
    const struct cache_level *like = filter->like;
    if (!like || !like->hash)
        return (uint32_t)(line % filter->set_count);
    const uint32_t slice = caches_hash_slice(like->hash, (struct guest_pa){line << like->line_shift});
    return slice * filter->set_count + (uint32_t)(line / like->divisor % filter->set_count);
}

static uint32_t *filter_entries_of(const struct cache_filter *filter, const struct cache_lines *lines, uint32_t slot)
{
    return &filter->slots[(size_t)filter_set_of(filter, cache_lines_line(lines, slot)) * filter->ways];
}

/* The place of the line's entry, or of the first free one; ways: there is neither. */
static uint32_t filter_place_of(const struct cache_filter *filter, const uint32_t *entries, uint32_t slot)
{
    uint32_t at = 0;
    while (at < filter->ways && entries[at] != 0 && entries[at] != slot + 1)
        at++;
    return at;
}

bool cache_filter_use(struct cache_filter *filter, const struct cache_lines *lines, uint32_t slot, uint32_t *victim)
{
    uint32_t *entries = filter_entries_of(filter, lines, slot), at = filter_place_of(filter, entries, slot);
    const bool full = at == filter->ways;
    at -= full;
    *victim = entries[at] - 1;
    memmove(entries + 1, entries, at * sizeof *entries);
    entries[0] = slot + 1;
    return full;
}

void cache_filter_drop(struct cache_filter *filter, const struct cache_lines *lines, uint32_t slot)
{
    uint32_t *entries = filter_entries_of(filter, lines, slot);
    const uint32_t at = filter_place_of(filter, entries, slot);
    if (at == filter->ways || entries[at] == 0)
        return;
    memmove(entries + at, entries + at + 1, (filter->ways - 1 - at) * sizeof *entries);
    entries[filter->ways - 1] = 0;
}

bool cache_filter_holds(const struct cache_filter *filter, const struct cache_lines *lines, uint32_t slot,
                        bool is_there)
{
    const uint32_t *entries = filter_entries_of(filter, lines, slot);
    uint32_t found = 0;
    for (uint32_t i = 0; i < filter->ways; i++)
        found += entries[i] == slot + 1;
    C2_ASSERT(found == is_there);
    return true;
}
