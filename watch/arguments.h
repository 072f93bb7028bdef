/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * arguments: what functions are called with: a mark (STREAM_ARGUMENTS) at the entry of each that is named.
 */
#ifndef C2_ARGUMENTS_H
#define C2_ARGUMENTS_H

#include "watch/places_priv.h"
#include "watch/watcher.h"

struct arguments;
struct arguments_config {
    struct mmu *mmu;
    struct loader_symbols *symbols;
    const struct loader_image *image;    /* as places_config has it */
    const struct watch_place *functions; /* their numbers are those of the marks */
    uint32_t count;
};
/* What the config names is lent until destroy; fails as places_create. The engine has a writer. */
enum c2_status arguments_create(struct arguments **out, const struct arguments_config *config, struct c2_error *err);
void arguments_destroy(struct arguments *arguments);                              /* takes NULL */
struct watcher arguments_watch(struct arguments *arguments);                      /* lends them */
enum c2_status arguments_find(struct arguments *arguments, struct c2_error *err); /* as places_find, of each */

#endif
