/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sites: allocations in words.
 *
 * Model
 *   A block came back to one site after another, from the call of the allocator outwards. Shown is the last of them,
 *   the first caller that did not pass the block on; but a site before it where the block was assigned to something
 *   that outlives the function (a static variable, a field, an element): there the function keeps it, though it
 *   returns it as well. Sites within the library of C++ or Rust are not shown.
 *   The name is that of the variable that takes the block at the site shown (loader_receiver), with the number of the
 *   allocation where the site has several blocks; else malloc and that number.
 */
#include <inttypes.h>
#include <string.h>

#include "analyses/objects_priv.h"

/* What the source calls to get such a block. */
static const struct loader_callees allocators[STREAM_ALLOCATORS] = {
    [STREAM_MALLOC] = {{"malloc"}, 1},
    [STREAM_CALLOC] = {{"calloc"}, 1},
    [STREAM_REALLOC] = {{"realloc", "reallocarray"}, 2},
    [STREAM_ALIGNED] = {{"aligned_alloc", "posix_memalign", "memalign", "valloc", "pvalloc"}, 5},
    [STREAM_NEW] = {{"new"}, 1},
};

static struct guest_va sites_address_of(uint64_t word) { return (struct guest_va){word & ~STREAM_ASSUMED}; }

static bool in_library(struct loader_symbols *symbols, uint64_t word)
{
    const struct guest_va call = {sites_address_of(word).v - 1};
    const char *symbol = loader_symbol_name_of(symbols, call);
    return symbol && loader_is_library(symbol);
}

/* What takes the block at this site. */
static const char *sites_receiver(struct loader_symbols *symbols, const uint64_t *words, uint32_t site,
                                  enum stream_allocator allocator, bool *kept)
{
    struct loader_callees callees = {.count = 0};
    if (site == 0)
        callees = allocators[allocator];
    else if (!(words[site] & STREAM_ASSUMED))
        loader_callees_add(symbols, (struct guest_va){sites_address_of(words[site - 1]).v - 1}, &callees);
    return loader_receiver(symbols, sites_address_of(words[site]), &callees, kept);
}

void sites_choose(struct loader_symbols *symbols, const uint64_t *words, struct analyses_object *object)
{
    bool kept = false;
    for (uint32_t i = 0; symbols && i < object->site_count && !kept; i++) {
        if (in_library(symbols, words[i]))
            continue;
        object->receiver = sites_receiver(symbols, words, i, object->allocator, &kept);
        object->site_shown = i;
        kept &= i + 1 == object->site_count || !(words[i + 1] & STREAM_ASSUMED);
    }
}

char *sites_name(struct loader_symbols *symbols, const struct analyses_object *object, bool alone)
{
    char text[1024];
    struct loader_place place = {.offset = object->site.v};
    const char *name = object->receiver ? object->receiver : "malloc";
    if (object->number != 0 && alone && object->receiver)
        return c2_format("%s", name);
    if (object->number != 0)
        return c2_format("%s#%" PRIu64, name, object->number);
    if (symbols)
        loader_call_place_of(symbols, object->site, &place);
    return c2_format("%s@%s", name,
                     loader_place_text(text, sizeof text, (struct guest_va){object->site.v - 1}, &place));
}
