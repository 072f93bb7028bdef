/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The FIFO detector of conflict misses of one level. The model card is in fifo.c.
 */
#ifndef C2_FIFO_PRIV_H
#define C2_FIFO_PRIV_H

#include "caches/caches.h"

#define FIFO_A_WAY 2u /* entries of a set, by way */

struct cache_fifo {
    uint32_t length; /* entries of a set */
    uint32_t *entry; /* [(set - 1) * length + place]: slot of the line evicted + 1; 0: none yet */
    uint8_t *oldest; /* [set - 1]: the place of the entry that goes next */
    struct caches_fifo_counts counts;
};

enum c2_status cache_fifo_create(struct cache_fifo **out, uint32_t set_count, uint32_t ways, struct c2_error *err);
void cache_fifo_destroy(struct cache_fifo *fifo);
/* A miss in this set, counted from 1, of the line with this slot; class_ is what the shadow says. */
void cache_fifo_miss(struct cache_fifo *fifo, uint32_t set, uint32_t slot, enum caches_class class_);
/* The set has evicted the line. */
void cache_fifo_push(struct cache_fifo *fifo, uint32_t set, uint32_t slot);
/* What the model card promises of the counts, and of a set (C2_PROMISE): they assert, and are true. */
bool cache_fifo_counts_hold(const struct cache_fifo *fifo, const struct caches_counts *counts);
/* counts: of the level. slots: in use. */
void cache_fifo_check(const struct cache_fifo *fifo, uint32_t set_count, uint32_t slots,
                      const struct caches_counts *counts);

#endif
