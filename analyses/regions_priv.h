/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The mapped memory of the guest, as objects.c knows it. The model card is in regions.c.
 */
#ifndef C2_ANALYSES_REGIONS_PRIV_H
#define C2_ANALYSES_REGIONS_PRIV_H

#include "base/base.h"

struct region {
    struct c2_node node; /* its key is where the region starts */
    uint64_t end;
    uint32_t module; /* UINT32_MAX: none */
    uint32_t owner;
    uint32_t code; /* owner of instructions in it, where it has no module; UINT32_MAX: not yet needed */
};
struct regions { /* begins zeroed */
    struct c2_tree tree;
};

void regions_release(struct regions *regions);
uint64_t regions_start(const struct region *region);
/* Lent until the next change of what lies there. */
struct region *regions_at(const struct regions *regions, uint64_t va);                   /* NULL: none */
struct region *regions_next(const struct regions *regions, const struct region *region); /* of NULL: the first */
/* A copy of the contents at [start, end), in place of what was there. */
enum c2_status regions_put(struct regions *regions, const struct region *contents, uint64_t start, uint64_t end,
                           struct c2_error *err);
enum c2_status regions_cut(struct regions *regions, uint64_t start, uint64_t end, struct c2_error *err);
void regions_check(const struct regions *regions);

#endif
