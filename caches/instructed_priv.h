/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Instructions made for caches, as the other files of caches/ meet them. The model card is in instructed.c.
 */
#ifndef C2_INSTRUCTED_PRIV_H
#define C2_INSTRUCTED_PRIV_H

#include "caches/hierarchy_priv.h"

/* prefetch.c: request->first fetches the line, which neither it nor a nearer level has. */
enum cache_instructed_fetch { CACHE_FETCH_PRESENT, CACHE_FETCH_ISSUED, CACHE_FETCH_FAILED };
enum cache_instructed_fetch cache_prefetch_instructed(struct caches *caches, const struct cache_request *request,
                                                      uint32_t tag, uint32_t *served_by);
/* Something that has happened to the line by itself; false: no memory. */
bool cache_prefetch_notify(struct caches *caches, enum caches_prefetch_what what, uint32_t slot, uint32_t tag);

#endif
