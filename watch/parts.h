/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * parts: whether the guest is inside of what the user calls regions, instruction by instruction.
 */
#ifndef C2_PARTS_H
#define C2_PARTS_H

#include "watch/places_priv.h"
#include "watch/watcher.h"

struct parts;
struct parts_config {
    struct mmu *mmu;
    struct loader_symbols *symbols;
    const struct loader_image *image; /* as places_config has it */
    const struct watch_regions *asked;
};
/* What the config names is lent until destroy; fails as places_create. */
enum c2_status parts_create(struct parts **out, const struct parts_config *config, struct c2_error *err);
void parts_destroy(struct parts *parts); /* takes NULL */
/* Lends the regions. The run stops (ENGINE_STOPPED) where another part begins. */
struct watcher parts_watch(struct parts *parts);
bool parts_changed(const struct parts *parts); /* since the last call of parts_part */
/* The part that the next instruction is in; what begins is told once. */
struct watch_part parts_part(struct parts *parts);
enum c2_status parts_find(struct parts *parts,
                          struct c2_error *err); /* fails if a place is nowhere in the guest's memory */
void parts_check(const struct parts *parts);

#endif
