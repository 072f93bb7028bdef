/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The FIFO detector: what hardware can tell of conflict misses, for comparison with the shadow.
 *
 * Model
 *   Each set remembers the lines that it evicted last, twice as many as it has ways, first in, first out. A miss that
 *   finds its line among those of the set it asked is a conflict to the detector, any other one is capacity. Cold
 *   misses are cold, by the shadow's rule, and the detector is not asked.
 *   In     What the set itself throws out to make room: for a fill, or for a victim from above in an exclusive level.
 *          Not what leaves for other reasons: a back-invalidation (another cache was short of room), a hit that moves
 *          the line up, a line taken over from a synonym's set.
 *   Out    Only the oldest entry, when a new one comes. A miss that finds its line leaves the entry where it is, so a
 *          line that was evicted twice lately has two. The entries are the set's last evictions, whatever was since.
 *   Nothing in the level depends on it.
 *
 * Where it is wrong
 *   It sees how many lines fell out of one set since, and not how many lines the whole cache was asked for. Lines asked
 *   for in turn come back to a set of w ways after n of them, and are found as long as w < n <= 3w: so a sweep over
 *   more than the level's size and up to three times as much has nothing but conflicts, where no arrangement of sets
 *   would have helped. And more than 3w lines that meet in one set of a cache otherwise empty are capacity to it.
 *
 * Price
 *   A miss reads the set's entries, an eviction writes one; a hit does nothing. 8 bytes a line of the level.
 *
 * Invariants (cache_fifo_check)
 *   fifo_conflict + fifo_capacity + cold = misses; both_conflict + only_fifo = fifo_conflict; both_conflict + only_fa =
 *   conflict; entries name lines there are, and a set without a full round has its empty entries last.
 *
 * Source
 *   J. D. Collins and D. M. Tullsen, "Hardware Identification of Cache Conflict Misses", MICRO-32, 1999; the length is
 *   the one of Sato and Endo, Euro-Par 2017. The tables of the former keep parts of tags; here a line is itself.
 */
#include "caches/fifo_priv.h"

#include "caches/lines_priv.h"

_Static_assert(FIFO_A_WAY *CACHES_MAX_WAYS <= UINT8_MAX, "places have 8 bits");

enum c2_status cache_fifo_create(struct cache_fifo **out, uint32_t set_count, uint32_t ways, struct c2_error *err)
{
    struct cache_fifo *fifo = *out = c2_calloc(1, sizeof *fifo);
    if (!fifo)
        return c2_fail_memory(err, "the FIFO detector");
    fifo->length = FIFO_A_WAY * ways;
    fifo->entry = c2_calloc((size_t)set_count * fifo->length, sizeof *fifo->entry);
    fifo->oldest = c2_calloc(set_count, sizeof *fifo->oldest);
    return fifo->entry && fifo->oldest ? C2_OK : c2_fail_memory(err, "the FIFO detector");
}

void cache_fifo_destroy(struct cache_fifo *fifo)
{
    if (!fifo)
        return;
    c2_free(fifo->entry);
    c2_free(fifo->oldest);
    c2_free(fifo);
}

static uint32_t *entries_of(const struct cache_fifo *fifo, uint32_t set)
{
    return &fifo->entry[(size_t)(set - 1) * fifo->length];
}

/* To the end, found or not: so compilers take several at a time. */
static bool has(const struct cache_fifo *fifo, uint32_t set, uint32_t slot)
{
    const uint32_t *entry = entries_of(fifo, set);
    uint32_t found = 0;
    for (uint32_t i = 0; i < fifo->length; i++)
        found |= entry[i] == slot + 1;
    return found != 0;
}

void cache_fifo_miss(struct cache_fifo *fifo, uint32_t set, uint32_t slot, enum caches_class class_)
{
    struct caches_fifo_counts *n = &fifo->counts;
    if (class_ != CACHES_CAPACITY && class_ != CACHES_CONFLICT)
        return;
    bool to_fifo = has(fifo, set, slot), to_shadow = class_ == CACHES_CONFLICT;
    n->fifo_conflict += to_fifo;
    n->fifo_capacity += !to_fifo;
    n->both_conflict += to_fifo && to_shadow;
    n->only_fifo += to_fifo && !to_shadow;
    n->only_fa += !to_fifo && to_shadow;
}

static bool set_holds(const struct cache_fifo *fifo, uint32_t set, uint32_t slots)
{
    const uint32_t *entry = entries_of(fifo, set);
    bool full = entry[fifo->length - 1] != 0;
    C2_ASSERT(fifo->oldest[set - 1] < fifo->length);
    for (uint32_t i = 0; i < fifo->length; i++) {
        C2_ASSERT(entry[i] <= slots);
        C2_ASSERT((entry[i] != 0) == (full || i < fifo->oldest[set - 1]));
    }
    return true;
}

void cache_fifo_push(struct cache_fifo *fifo, uint32_t set, uint32_t slot)
{
    uint8_t *oldest = &fifo->oldest[set - 1];
    entries_of(fifo, set)[*oldest] = slot + 1;
    *oldest = (uint8_t)(*oldest + 1u == fifo->length ? 0 : *oldest + 1u);
    C2_PROMISE(set_holds(fifo, set, LINES_NO_SLOT));
}

bool cache_fifo_counts_hold(const struct cache_fifo *fifo, const struct caches_counts *counts)
{
    const struct caches_fifo_counts *n = &fifo->counts;
    C2_ASSERT(n->fifo_conflict + n->fifo_capacity == counts->capacity + counts->conflict);
    C2_ASSERT(n->both_conflict + n->only_fifo == n->fifo_conflict);
    C2_ASSERT(n->both_conflict + n->only_fa == counts->conflict);
    return true;
}

void cache_fifo_check(const struct cache_fifo *fifo, uint32_t set_count, uint32_t slots,
                      const struct caches_counts *counts)
{
    cache_fifo_counts_hold(fifo, counts);
    for (uint32_t set = 1; set <= set_count; set++)
        set_holds(fifo, set, slots);
}
