/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * callers: the places that a block of the guest's allocator comes back to, from the call that allocated it outwards.
 */
#ifndef C2_CALLERS_PRIV_H
#define C2_CALLERS_PRIV_H

#include "engine/engine.h"
#include "loader/loader.h"
#include "watch/watch.h"

struct callers_block {
    uint64_t address, bytes;
    uint64_t number; /* of the allocation */
};

struct callers_config {
    struct mmu *mmu;
    struct loader_symbols *symbols;
    const char *const *wrappers; /* names of functions that pass on what they allocate, whatever they return */
    size_t wrapper_count;
    const struct c2_map *blocks; /* allocated ones: address to number */
    /* callers_returned() is to be called when the guest comes to pc. */
    enum c2_status (*watch)(void *self, struct engine *engine, uint64_t pc, struct c2_error *err);
    void *watch_self;
};

struct callers;
/* What the config names is lent until destroy. */
enum c2_status callers_create(struct callers **out, const struct callers_config *config, struct c2_error *err);
void callers_destroy(struct callers *callers);
/* A block has come back to sites[0], where the guest is now. Fills in the sites further out that are known already;
 * those that show later become marks. *count: of sites, the first included. */
enum c2_status callers_allocated(struct callers *callers, struct engine *engine, const struct callers_block *block,
                                 uint64_t sites[STREAM_CALLERS], uint32_t *count, struct c2_error *err);
/* The guest has come to pc; if by a return, RSP is what the return left. */
enum c2_status callers_returned(struct callers *callers, struct engine *engine, uint64_t pc, uint64_t rsp,
                                struct c2_error *err);
/* The thread that runs is another one, the first is 0; and it has ended, and its number may be another one's. */
enum c2_status callers_switch(struct callers *callers, uint32_t thread, struct c2_error *err);
void callers_ended(struct callers *callers, uint32_t thread);
bool callers_met(const struct callers *callers, size_t wrapper); /* this named one has allocated a block */
void callers_forget(struct callers *callers);                    /* code has changed: all that is known */
/* All that is known of so many threads, to a checkpoint or from one; a config read into names as many wrappers. */
void callers_checkpoint(struct callers *callers, uint32_t threads, struct checkpoint *checkpoint);
void callers_check(const struct callers *callers);

#endif
