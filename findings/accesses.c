/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * accesses: those of the excerpts by loop and object, as groups of misses are.
 *
 * Model
 *   The numbers of all accesses, ascending by the loop of their instruction, then by object, then by number. Those of a
 *   loop, and those to one object in it, stand side by side.
 */
#include <stdlib.h>

#include "findings/findings_priv.h"

static int accesses_compare(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int accesses_by_loop(const void *left, const void *right)
{
    const struct findings_sorted *a = left, *b = right;
    if (a->loop != b->loop)
        return accesses_compare(a->loop, b->loop);
    return a->object != b->object ? accesses_compare(a->object, b->object) : accesses_compare(a->number, b->number);
}

enum c2_status findings_accesses_sort(struct findings_sorted **out, const struct analyses_excerpts_result *excerpts,
                                      struct c2_error *err)
{
    *out = NULL;
    if (!excerpts || excerpts->access_count == 0)
        return C2_OK;
    struct findings_sorted *sorted = *out = c2_alloc(excerpts->access_count * sizeof *sorted);
    if (!sorted)
        return c2_fail_memory(err, "the findings");
    for (size_t i = 0; i < excerpts->access_count; i++)
        sorted[i] = (struct findings_sorted){excerpts->loops.loop_of[excerpts->accesses[i].insn],
                                             excerpts->accesses[i].object, (uint32_t)i};
    qsort(sorted, excerpts->access_count, sizeof *sorted, accesses_by_loop);
    return C2_OK;
}

/* How many stand before the first of this loop and object, or of a later one. */
static size_t before(const struct findings_input *input, uint32_t loop, uint64_t object)
{
    size_t low = 0, high = input->excerpts->access_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct findings_sorted *at = &input->sorted[middle];
        if (at->loop < loop || (at->loop == loop && at->object < object))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct findings_accesses findings_accesses_of(const struct findings_input *input, uint32_t loop, uint32_t object)
{
    const bool all = object == FINDINGS_NOBODY;
    if (!input->sorted)
        return (struct findings_accesses){.count = 0};
    const size_t first = before(input, loop, all ? 0 : object);
    const size_t end = before(input, loop, all ? UINT64_MAX : (uint64_t)object + 1);
    return (struct findings_accesses){&input->sorted[first], end - first, input->excerpts->accesses};
}

const struct analyses_access *findings_access(const struct findings_accesses *of, size_t i)
{
    return &of->all[of->list[i].number];
}
