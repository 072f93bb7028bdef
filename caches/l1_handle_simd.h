/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A first level as a part of a loop (caches_fast.h): its hits, by the instructions that the including file is compiled
 * for (CACHE_FORM). Levels of which caches_l1_handle_is() is true; set: the line modulo the sets; ways: a constant.
 */
#ifndef C2_FRONT_SIMD_H
#define C2_FRONT_SIMD_H

#include "caches/caches_fast.h"
#include "caches/sets_simd.h"

/* The set has the line of the last access, which is the youngest there. */
SETS_INLINE void caches_l1_handle_at(struct caches_l1_handle *l1_handle, uint64_t set, const uint32_t ways)
{
    l1_handle->youngest = &l1_handle->word[set * cache_sets_stride(ways)];
}

/* The level has the line: it is counted, and is the youngest. False: it does not, and nothing has changed. */
SETS_INLINE bool caches_l1_handle_hit(struct caches_l1_handle *l1_handle, uint64_t set, uint32_t slot, uint32_t write,
                                      const uint32_t ways)
{
    if (C2_UNLIKELY(!sets_hit(&l1_handle->word[set * cache_sets_stride(ways)], slot + 1, write, ways)))
        return false;
    l1_handle->hits[write]++;
    return true;
}

/* For C2_PROMISE: what was said of the last access. */
SETS_INLINE bool caches_l1_handle_last_holds(const struct caches_l1_handle *l1_handle)
{
    return caches_l1_handle_holds(l1_handle, cache_sets_tag(*l1_handle->youngest) - 1);
}

#endif
