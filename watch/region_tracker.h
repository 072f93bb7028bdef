/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * parts: whether the guest is inside of what the user calls regions, instruction by instruction.
 */
#ifndef C2_PARTS_H
#define C2_PARTS_H

#include "watch/places_priv.h"
#include "watch/watcher.h"

struct region_tracker;
struct region_tracker_config {
    struct mmu *mmu;
    struct loader_symbols *symbols;
    const struct loader_image *image; /* as places_config has it */
    const struct watch_regions *asked;
};
/* What the config names is lent until destroy; fails as places_create. */
enum c2_status region_tracker_create(struct region_tracker **out, const struct region_tracker_config *config,
                                     struct c2_error *err);
void region_tracker_destroy(struct region_tracker *region_tracker); /* takes NULL */
/* Lends the regions. The run stops (ENGINE_STOPPED) where another part begins. */
struct watcher region_tracker_watch(struct region_tracker *region_tracker);
bool region_tracker_changed(
    const struct region_tracker *region_tracker); /* since the last call of region_tracker_part */
/* The part that the next instruction is in; what begins is told once. */
struct watch_part region_tracker_part(struct region_tracker *region_tracker);
enum c2_status region_tracker_find(struct region_tracker *region_tracker,
                                   struct c2_error *err); /* fails if a place is nowhere in the guest's memory */
void region_tracker_check(const struct region_tracker *region_tracker);

#endif
