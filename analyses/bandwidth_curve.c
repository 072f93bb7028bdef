/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * bandwidth_curve: how long a flow had which rate (bandwidth curves: Weidendorfer, section 4.3.2).
 *
 * Model
 *   Windows with the same rate, rounded down to a step, are one bin. Sorted by rate, the bins are the curve: the time
 *   in which no more than a rate was asked for, and the area under it is what moved.
 * Counting
 *   Units and amounts of bins are sums over their windows, so the area is exact, whatever the step.
 * Memory
 *   A bin for each rate that occurs: of bytes by instruction as many as a window of whole instructions may have bytes,
 *   and never more than there are windows.
 */
#include "analyses/bandwidth_priv.h"

static enum c2_status bandwidth_curve_bin_of(struct bandwidth_bins *bins, uint64_t key, struct bandwidth_step **out,
                                             struct c2_error *err)
{
    uint64_t number = bins->count;
    enum c2_status status = bins->number ? C2_OK : c2_map_create(&bins->number, err);
    if (status == C2_OK && !c2_map_get(bins->number, key, &number)) {
        if (!c2_grow((void **)&bins->list, &bins->room, bins->count, sizeof *bins->list))
            return c2_fail_memory(err, "a bandwidth curve");
        bins->list[bins->count++] = (struct bandwidth_step){0};
        status = c2_map_put(bins->number, key, number, err);
    }
    *out = status == C2_OK ? &bins->list[number] : NULL;
    return status;
}

enum c2_status bandwidth_bins_add(struct bandwidth_bins *bins, uint64_t amount, uint64_t units, bool dominated,
                                  uint64_t steps, struct c2_error *err)
{
    struct bandwidth_step *bin = NULL;
    if (units == 0) {
        bins->beside += amount;
        return C2_OK;
    }
    enum c2_status status = bandwidth_curve_bin_of(bins, amount * steps / units, &bin, err);
    if (status != C2_OK)
        return status;
    bin->units += units;
    bin->amount += amount;
    bin->dominated += dominated ? units : 0;
    return C2_OK;
}

enum c2_status bandwidth_bins_sort(struct bandwidth_step **out, const struct bandwidth_bins *bins, struct c2_error *err)
{
    struct c2_pair *list = NULL;
    *out = c2_calloc(bins->count + 1u, sizeof **out);
    if (!*out)
        return c2_fail_memory(err, "a bandwidth curve");
    enum c2_status status = bins->count != 0 ? c2_map_list(&list, bins->number, err) : C2_OK;
    for (uint32_t i = 0; i < bins->count && status == C2_OK; i++)
        (*out)[i] = bins->list[list[i].value];
    c2_free(list);
    return status;
}

void bandwidth_bins_release(struct bandwidth_bins *bins)
{
    c2_map_destroy(bins->number);
    c2_free(bins->list);
    *bins = (struct bandwidth_bins){0};
}
