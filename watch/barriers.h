/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * barriers: where all threads of the guest have come to a barrier: a mark (STREAM_BARRIER) in the stream.
 */
#ifndef C2_BARRIERS_H
#define C2_BARRIERS_H

#include "loader/loader.h"
#include "watch/watcher.h"

struct barriers;
/* The guest's threads. They are there when the guest runs. */
struct barriers_threads {
    void *self;
    uint32_t (*count)(void *self);
    uint32_t (*running)(void *self); /* its number: the first is 1 */
    /* Whether each but the one that runs waits for what has not come, or has `come` where its RSP is this. */
    bool (*others_wait)(void *self, uint64_t now, bool (*come)(void *barriers, uint32_t thread, uint64_t rsp),
                        void *barriers);
};
struct barriers_config {
    struct mmu *mmu;
    struct loader_symbols *symbols;
    struct barriers_threads threads;
};
/* Lent until destroy. */
enum c2_status barriers_create(struct barriers **out, const struct barriers_config *config, struct c2_error *err);
void barriers_destroy(struct barriers *barriers);         /* takes NULL */
struct watcher barriers_watch(struct barriers *barriers); /* lends them */

#endif
