/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * allocations: follows the guest's calls of its allocator and puts marks (stream.h) where they return.
 */
#ifndef C2_ALLOCATIONS_H
#define C2_ALLOCATIONS_H

#include "engine/engine.h"
#include "loader/loader.h"

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
/* For engine_config; lends the allocations. */
struct engine_watch allocations_watch(struct allocations *allocations);
/* The guest enters a signal handler with this RSP. */
enum c2_status allocations_interrupted(struct allocations *allocations, uint64_t rsp, struct c2_error *err);
/* ... and has returned from the last one (rt_sigreturn). */
void allocations_resumed(struct allocations *allocations);

/* It is the turn of another thread of this number, the first is 1; and it has ended. */
enum c2_status allocations_switch(struct allocations *allocations, uint32_t thread, struct c2_error *err);
void allocations_ended(struct allocations *allocations, uint32_t thread);

bool allocations_met(const struct allocations *allocations, size_t wrapper); /* this one has allocated a block */

/* What is known of the process and its calls, to a checkpoint or, before anything has run, from one. */
void allocations_checkpoint(struct allocations *allocations, struct checkpoint *checkpoint);
void allocations_check(const struct allocations *allocations);
void allocations_dump(const struct allocations *allocations, FILE *to); /* pending calls, blocks allocated */

#endif
