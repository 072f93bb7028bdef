/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * arrival: the run is stopped where the guest comes to a place for the n-th time.
 */
#ifndef C2_ARRIVAL_H
#define C2_ARRIVAL_H

#include "watch/places_priv.h"
#include "watch/watcher.h"

struct arrival;
struct arrival_config {
    struct mmu *mmu;
    struct loader_symbols *symbols;
    const struct loader_image *image; /* as places_config has it */
    const struct watch_place *place;
    uint64_t number; /* 1: the first time */
};
/* What the config names is lent until destroy; fails as places_create. */
enum c2_status arrival_create(struct arrival **out, const struct arrival_config *config, struct c2_error *err);
void arrival_destroy(struct arrival *arrival); /* takes NULL */
/* Lends the arrival. The run stops (ENGINE_STOPPED) before the place's first instruction. */
struct watcher arrival_watch(struct arrival *arrival);
bool arrival_take(struct arrival *arrival);                                 /* whether it is now: true once */
enum c2_status arrival_find(struct arrival *arrival, struct c2_error *err); /* as places_find */

#endif
