/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * places: functions, lines and addresses of the program with a notice when the guest comes there.
 */
#ifndef C2_PLACES_PRIV_H
#define C2_PLACES_PRIV_H

#include "engine/engine.h"
#include "loader/loader.h"
#include "watch/watch.h"

struct places_config {
    struct mmu *mmu;
    struct loader_symbols *symbols;
    const struct loader_image *image; /* the program is in memory; not needed after create */
    const struct watch_place *list;
    uint32_t count;
    /* The guest is about to execute the first instruction of the place, or one of those that have its name. Called in
     * engine_watch.reached; once, even if that instruction faults and is started again. */
    enum c2_status (*arrived)(void *self, struct engine *engine, uint32_t place, struct guest_va pc,
                              struct c2_error *err);
    void *self;
};

struct places;
/* What the config names is lent until destroy. Fails for a place that can be nowhere: of a program without libraries,
 * or of a source file that has no code there. */
enum c2_status places_create(struct places **out, const struct places_config *config, struct c2_error *err);
void places_destroy(struct places *places); /* takes NULL */
/* For engine_config; lends the places. */
struct engine_watch places_watch(struct places *places);
/* Looks through all code that is mapped: fails if the place is in none, and names what is near. */
enum c2_status places_find(struct places *places, uint32_t place, struct c2_error *err);
void places_check(const struct places *places);

#endif
