/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * coherence_objects: see its header.
 */
#include <stdlib.h>

#include "analyses/coherence_objects.h"

static int coherence_objects_compare(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int by_line_and_object(const void *left, const void *right)
{
    const struct coherence_share *a = left, *b = right;
    return a->line != b->line ? coherence_objects_compare(a->line, b->line)
                              : coherence_objects_compare(a->object, b->object);
}

static int by_both_objects(const void *left, const void *right)
{
    const struct coherence_part *a = left, *b = right;
    return a->line_object != b->line_object ? coherence_objects_compare(a->line_object, b->line_object)
                                            : coherence_objects_compare(a->object, b->object);
}

static int parts_in_order(const void *left, const void *right)
{
    const struct coherence_part *a = left, *b = right;
    if (a->line_object != b->line_object || a->misses == b->misses)
        return by_both_objects(left, right);
    return coherence_objects_compare(b->misses, a->misses);
}

/* How many are left. */
static size_t add_up_shares(struct coherence_share *shares, size_t count)
{
    size_t sums = 0;
    qsort(shares, count, sizeof *shares, by_line_and_object);
    for (size_t i = 0; i < count; i++)
        if (sums != 0 && by_line_and_object(&shares[sums - 1], &shares[i]) == 0)
            shares[sums - 1].misses += shares[i].misses;
        else
            shares[sums++] = shares[i];
    return sums;
}

static size_t add_up_parts(struct coherence_part *parts, size_t count)
{
    size_t sums = 0;
    qsort(parts, count, sizeof *parts, by_both_objects);
    for (size_t i = 0; i < count; i++)
        if (sums != 0 && by_both_objects(&parts[sums - 1], &parts[i]) == 0)
            parts[sums - 1].misses += parts[i].misses;
        else
            parts[sums++] = parts[i];
    return sums;
}

void coherence_objects_divide(struct coherence_part *parts, uint32_t *object_of, struct coherence_share *shares,
                              size_t *count)
{
    const size_t sums = add_up_shares(shares, *count);
    size_t others = 0;
    for (size_t first = 0, end; first < sums; first = end) {
        size_t most = first;
        for (end = first; end < sums && shares[end].line == shares[first].line; end++)
            most = shares[end].misses > shares[most].misses ? end : most;
        object_of[shares[first].line] = shares[most].object;
        for (size_t i = first; i < end; i++)
            if (i != most)
                parts[others++] = (struct coherence_part){shares[most].object, shares[i].object, shares[i].misses};
    }
    *count = add_up_parts(parts, others);
    qsort(parts, *count, sizeof *parts, parts_in_order);
}
