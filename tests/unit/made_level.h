/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A level of a machine that was made up: LRU, indexed by physical addresses, in one piece. What is otherwise is set by
 * who asks for it.
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

#endif
