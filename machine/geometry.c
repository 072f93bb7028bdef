/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A machine by the three numbers that courses describe a cache by.
 */
#include <inttypes.h>

#include "machine/machine.h"

#define MAX_LINES (UINT64_C(1) << 26) /* those of caches/shadow_priv.h */

static enum c2_status geometry_check(const struct machine_geometry *geometry, struct c2_error *err)
{
    if (geometry->set_bits > 26)
        return c2_fail(err, C2_ERR_UNSUPPORTED, "2^%" PRIu32 " sets: at most 2^26 are possible", geometry->set_bits);
    if (geometry->ways < 1 || geometry->ways > CACHES_MAX_WAYS)
        return c2_fail(err, C2_ERR_UNSUPPORTED, "%" PRIu32 " lines in a set: 1 to %d are possible", geometry->ways,
                       CACHES_MAX_WAYS);
    if (geometry->block_bits > 30)
        return c2_fail(err, C2_ERR_UNSUPPORTED, "blocks of 2^%" PRIu32 " bytes: at most 2^30 are possible",
                       geometry->block_bits);
    if (((uint64_t)geometry->ways << geometry->set_bits) > MAX_LINES)
        return c2_fail(err, C2_ERR_UNSUPPORTED, "2^%" PRIu32 " sets of %" PRIu32 " lines: at most 2^26 lines in all",
                       geometry->set_bits, geometry->ways);
    return C2_OK;
}

enum c2_status machine_of_geometry(struct caches_machine *out, const struct machine_geometry *geometry,
                                   struct c2_error *err)
{
    enum c2_status status = geometry_check(geometry, err);
    if (status != C2_OK)
        return status;
    *out = (struct caches_machine){.name = "course",
                                   .line_bytes = UINT32_C(1) << geometry->block_bits,
                                   .physical_bytes = UINT64_C(1) << 47,
                                   .cores = 1,
                                   .level_count = 1,
                                   .combining = CACHES_COMBINING};
    out->levels[0] = (struct caches_level){.name = "L1D",
                                           .size_bytes = (uint64_t)geometry->ways
                                                         << (geometry->set_bits + geometry->block_bits),
                                           .ways = geometry->ways,
                                           .slices = 1,
                                           .hash = "none",
                                           .policy = geometry->policy,
                                           .index = CACHES_PHYSICAL,
                                           .inclusion = CACHES_NON_INCLUSIVE};
    return C2_OK;
}
