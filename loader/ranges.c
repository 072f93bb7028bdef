/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A set of address ranges that answers "what holds this address".
 *
 * Model
 *   An array sorted by start, then by end descending, so that of the ranges that hold an address the innermost comes
 *   last. A binary search finds the last range that starts at or below the address; from there the search goes down
 *   until a range holds it, or until no range further down reaches so far:
 *
 *       0 [--------------------)          reach 20
 *       1    [---)                        reach 20       address 14: 2 starts above, 1 ends below,
 *       2                 [--)            reach 20       reach of 1 is 20 > 14: go on, 0 holds it
 *
 * Cost
 *   Thousands of symbols are sorted by the digits of their starts, and neighbours with one start by comparing them: a
 *   tenth of what qsort takes of that.
 * Invariants
 *   start < end; sorted; no two with the same start and end; reach[i] = max end of items[0..i].
 */
#include "loader/symbols_priv.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM C2_HOST_SIZE(64u, 1u)

enum { DIGIT_BITS = C2_HOST_SIZE(11, 3), DIGITS = 1 << DIGIT_BITS, DIGITS_LEAST = C2_HOST_SIZE(256, 2) };

enum c2_status loader_ranges_add(struct loader_ranges *ranges, struct loader_range range, struct c2_error *err)
{
    if (range.start >= range.end)
        return C2_OK;
    if (ranges->count == ranges->room) {
        size_t room = ranges->room ? 2 * ranges->room : FIRST_ROOM;
        struct loader_range *grown = c2_realloc(ranges->items, room * sizeof *grown);
        if (!grown)
            return c2_fail_memory(err, "symbols");
        ranges->items = grown;
        ranges->room = room;
    }
    ranges->items[ranges->count++] = range;
    return C2_OK;
}

static int ranges_compare(const void *left, const void *right, void *prefer)
{
    const struct loader_range *a = left, *b = right;
    int (*choose)(uint64_t, uint64_t) = *(int (**)(uint64_t, uint64_t))prefer;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return choose(a->value, b->value);
}

/* Those of one start come in order; most have one of their own. */
static void order_starts(struct loader_range *items, size_t count, void *prefer)
{
    for (size_t i = 1; i < count; i++) {
        const struct loader_range own = items[i];
        size_t at = i;
        for (; at > 0 && items[at - 1].start == own.start && ranges_compare(&items[at - 1], &own, prefer) > 0; at--)
            items[at] = items[at - 1];
        items[at] = own;
    }
}

/* By one digit of how far they start from `base`; what has the same one keeps its order. */
static void sort_digit(struct loader_range *to, const struct loader_range *from, size_t count, uint64_t base,
                       unsigned shift)
{
    size_t place[DIGITS] = {0}, before = 0;
    for (size_t i = 0; i < count; i++)
        place[(from[i].start - base) >> shift & (DIGITS - 1)]++;
    for (size_t digit = 0; digit < DIGITS; digit++) {
        const size_t here = place[digit];
        place[digit] = before;
        before += here;
    }
    for (size_t i = 0; i < count; i++)
        to[place[(from[i].start - base) >> shift & (DIGITS - 1)]++] = from[i];
}

static bool sort_starts(struct loader_ranges *ranges)
{
    struct loader_range *from = ranges->items, *to = c2_alloc(ranges->room * sizeof *to);
    uint64_t base = from[0].start, last = base;
    if (!to)
        return false;
    for (size_t i = 1; i < ranges->count; i++) {
        base = from[i].start < base ? from[i].start : base;
        last = from[i].start > last ? from[i].start : last;
    }
    for (unsigned shift = 0; shift < 64 && (last - base) >> shift != 0; shift += DIGIT_BITS) {
        struct loader_range *const sorted = to;
        sort_digit(sorted, from, ranges->count, base, shift);
        to = from;
        from = sorted;
    }
    c2_free(to);
    ranges->items = from;
    return true;
}

static void ranges_sort(struct loader_ranges *ranges, void *prefer)
{
    if (SHORTCUT(ranges->count >= DIGITS_LEAST) && sort_starts(ranges))
        order_starts(ranges->items, ranges->count, prefer);
    else
        qsort_r(ranges->items, ranges->count, sizeof *ranges->items, ranges_compare, prefer);
}

static void drop_doubles(struct loader_ranges *ranges)
{
    size_t kept = 0;
    for (size_t i = 0; i < ranges->count; i++) {
        const struct loader_range *last = kept ? &ranges->items[kept - 1] : NULL;
        if (!last || last->start != ranges->items[i].start || last->end != ranges->items[i].end)
            ranges->items[kept++] = ranges->items[i];
    }
    ranges->count = kept;
}

enum c2_status loader_ranges_seal(struct loader_ranges *ranges, int (*prefer)(uint64_t a, uint64_t b),
                                  struct c2_error *err)
{
    if (ranges->count == 0)
        return C2_OK;
    ranges_sort(ranges, &prefer);
    drop_doubles(ranges);
    ranges->reach = c2_alloc(ranges->count * sizeof *ranges->reach);
    if (!ranges->reach)
        return c2_fail_memory(err, "symbols");
    uint64_t reach = 0;
    for (size_t i = 0; i < ranges->count; i++) {
        if (ranges->items[i].end > reach)
            reach = ranges->items[i].end;
        ranges->reach[i] = reach;
    }
    return C2_OK;
}

/* How many ranges start at or below address. */
static size_t count_below(const struct loader_ranges *ranges, uint64_t address)
{
    size_t low = 0, high = ranges->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges->items[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t loader_ranges_next(const struct loader_ranges *ranges, uint64_t address, uint64_t end)
{
    const size_t at = count_below(ranges, address);
    return at < ranges->count && ranges->items[at].start < end ? ranges->items[at].start : end;
}

const struct loader_range *loader_ranges_find(const struct loader_ranges *ranges, uint64_t address)
{
    if (!ranges->reach)
        return NULL;
    for (size_t i = count_below(ranges, address); i > 0 && ranges->reach[i - 1] > address; i--)
        if (ranges->items[i - 1].end > address)
            return &ranges->items[i - 1];
    return NULL;
}

void loader_ranges_check(const struct loader_ranges *ranges)
{
    uint64_t reach = 0;
    for (size_t i = 0; ranges->reach && i < ranges->count; i++) {
        const struct loader_range *at = &ranges->items[i];
        C2_ASSERT(at->start < at->end);
        C2_ASSERT(i == 0 || at[-1].start < at->start || (at[-1].start == at->start && at[-1].end > at->end));
        reach = at->end > reach ? at->end : reach;
        C2_ASSERT(ranges->reach[i] == reach);
    }
}

void loader_ranges_release(struct loader_ranges *ranges)
{
    c2_free(ranges->items);
    c2_free(ranges->reach);
    *ranges = (struct loader_ranges){0};
}
