/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Ranges of pages with a mark.
 *
 * Invariants
 *   The list is ascending; ranges that touch each other differ in their mark.
 */
#include "syscalls/ranges_priv.h"

#include <errno.h>
#include <string.h>

#include "checkpoint/checkpoint.h"
#include "mmu/mmu.h"

void ranges_clear(struct page_ranges *ranges)
{
    c2_free(ranges->list);
    *ranges = (struct page_ranges){0};
}

uint64_t ranges_bytes(const struct page_ranges *ranges, uint64_t start, uint64_t end)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < ranges->count; i++) {
        const uint64_t from = ranges->list[i].start > start ? ranges->list[i].start : start;
        const uint64_t to = ranges->list[i].end < end ? ranges->list[i].end : end;
        total += to > from ? to - from : 0;
    }
    return total;
}

uint64_t ranges_first(const struct page_ranges *ranges, uint64_t from)
{
    for (uint32_t i = 0; i < ranges->count; i++)
        if (ranges->list[i].end > from)
            return ranges->list[i].start > from ? ranges->list[i].start : from;
    return UINT64_MAX;
}

uint64_t ranges_border(const struct page_ranges *ranges, uint64_t from, uint64_t end)
{
    for (uint32_t i = 0; i < ranges->count; i++) {
        const struct page_range *range = &ranges->list[i];
        end = range->start > from && range->start < end ? range->start : end;
        end = range->end > from && range->end < end ? range->end : end;
    }
    return end;
}

static bool ranges_insert(struct page_ranges *ranges, uint32_t at, struct page_range range)
{
    if (!c2_grow((void **)&ranges->list, &ranges->room, ranges->count, sizeof *ranges->list))
        return false;
    memmove(&ranges->list[at + 1], &ranges->list[at], (ranges->count - at) * sizeof *ranges->list);
    ranges->list[at] = range;
    ranges->count++;
    return true;
}

static void ranges_take_out(struct page_ranges *ranges, uint32_t at)
{
    ranges->count--;
    memmove(&ranges->list[at], &ranges->list[at + 1], (ranges->count - at) * sizeof *ranges->list);
}

/* One that has a hole now becomes two; without memory for that, what lies above the hole is forgotten, too. */
void ranges_forget(struct page_ranges *ranges, uint64_t start, uint64_t end)
{
    for (uint32_t i = 0; i < ranges->count; i++) {
        struct page_range *range = &ranges->list[i], above = {end, range->end, range->marked};
        if (range->end <= start || range->start >= end)
            continue;
        if (range->start < start && above.start < above.end) {
            range->end = start;
            (void)ranges_insert(ranges, i + 1, above);
            return;
        }
        if (range->start < start)
            range->end = start;
        else if (range->end > end)
            range->start = end;
        else
            ranges_take_out(ranges, i--);
    }
}

/* Joined with what is like it and touches it. */
int64_t ranges_add(struct page_ranges *ranges, uint64_t start, uint64_t end, bool marked)
{
    uint32_t at = 0;
    ranges_forget(ranges, start, end);
    while (at < ranges->count && ranges->list[at].start < start)
        at++;
    if (at < ranges->count && ranges->list[at].start == end && ranges->list[at].marked == marked) {
        end = ranges->list[at].end;
        ranges_take_out(ranges, at);
    }
    if (at > 0 && ranges->list[at - 1].end == start && ranges->list[at - 1].marked == marked) {
        ranges->list[at - 1].end = end;
        return 0;
    }
    return ranges_insert(ranges, at, (struct page_range){start, end, marked}) ? 0 : -ENOMEM;
}

void ranges_checkpoint(struct page_ranges *ranges, struct checkpoint *c)
{
    uint64_t count = ranges->count, last = 0;
    checkpoint_number(c, &count, UINT32_MAX);
    for (uint32_t i = 0; i < count; i++) {
        if (!checkpoint_writes(c) &&
            !checkpoint_room(c, (void **)&ranges->list, &ranges->room, i, sizeof *ranges->list))
            return;
        checkpoint_number(c, &ranges->list[i].start, MMU_ADDRESSES_END);
        checkpoint_number(c, &ranges->list[i].end, MMU_ADDRESSES_END);
        CHECKPOINT_NUMBER(c, ranges->list[i].marked, 1);
        ranges->count = i + 1;
        if (ranges->list[i].start < last || ranges->list[i].end <= ranges->list[i].start)
            checkpoint_damaged(c, "marked memory as it cannot be");
        last = ranges->list[i].end;
    }
}
