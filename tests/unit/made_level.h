/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A level of a machine that was made up: LRU, indexed by physical addresses, in one piece. What is otherwise is set by
 * that request it. A machine of one such level, and a memory without pages.
 */
#ifndef C2_TEST_MADE_LEVEL_H
#define C2_TEST_MADE_LEVEL_H

#include <stdio.h>

#include "caches/caches.h"

static inline struct caches_level made_level(const char *name, uint64_t bytes, uint32_t ways)
{
    struct caches_level level = {.size_bytes = bytes,
                                 .ways = ways,
                                 .slices = 1,
                                 .hash = "none",
                                 .policy = CACHES_LRU,
                                 .index = CACHES_PHYSICAL,
                                 .inclusion = CACHES_NON_INCLUSIVE};
    snprintf(level.name, sizeof level.name, "%s", name);
    return level;
}

/* As a constant: data alone, in lines of 64 bytes. */
#define ONE_LEVEL(bytes, ways_of_it) \
    { \
        .name = "test", .line_bytes = 64, .physical_bytes = 1ull << 40, .level_count = 1, .levels = { \
            {.name = "L1D", .size_bytes = (bytes), .ways = (ways_of_it), .slices = 1, .hash = "none"} \
        } \
    }

static inline bool identity(void *self, struct guest_va va, struct guest_pa *out)
{
    (void)self;
    out->v = va.v;
    return true;
}

#endif
