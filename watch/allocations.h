/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * allocations: follows the guest's calls of its allocator and puts marks (stream.h) where they return.
 */
#ifndef C2_ALLOCATIONS_H
#define C2_ALLOCATIONS_H

#include "loader/loader.h"
#include "watch/watcher.h"

struct allocations;
struct allocations_config {
    struct mmu *mmu;
    struct loader_symbols *symbols;
    const char *const *wrappers; /* functions whose callers are told in any case (callers.c) */
    size_t wrapper_count;
};
/* What the config names is lent until destroy. */
enum c2_status allocations_create(struct allocations **out, const struct allocations_config *config,
                                  struct c2_error *err);
void allocations_destroy(struct allocations *allocations);
struct watcher allocations_watch(struct allocations *allocations);           /* lends them */
bool allocations_met(const struct allocations *allocations, size_t wrapper); /* this one has allocated a block */
void allocations_check(const struct allocations *allocations);
void allocations_dump(const struct allocations *allocations, FILE *to); /* pending calls, blocks allocated */

#endif
