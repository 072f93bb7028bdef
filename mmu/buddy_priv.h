/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Linux's page allocator over the frames: buddy.c.
 */
#ifndef C2_MMU_BUDDY_PRIV_H
#define C2_MMU_BUDDY_PRIV_H

#include "mmu/replica.h"

#define BUDDY_ORDERS 11
#define BUDDY_BLOCK_FRAMES 1024u /* of the largest order */
#define BUDDY_BATCH 63           /* frames that go to or from the per-CPU list at once */
#define BUDDY_HIGH (6 * BUDDY_BATCH)
#define BUDDY_NONE UINT64_MAX

struct buddy_config {
    uint64_t frames;
    uint32_t age; /* thousandths, at most 1000 */
    uint64_t seed;
    /* Called once for each frame that turns out to be in use by others. */
    void (*occupy)(void *self, uint64_t frame);
    /* Whether a frame that was claimed has not come back. May be NULL where no frame is claimed. */
    bool (*taken)(void *self, uint64_t frame);
    void *self;
};
struct buddy;
enum c2_status buddy_create(struct buddy **out, const struct buddy_config *config, struct c2_error *err);
void buddy_destroy(struct buddy *buddy);

/* A block of 2^order frames, aligned to its size; BUDDY_NONE when there is none. */
uint64_t buddy_take(struct buddy *buddy, unsigned order);
void buddy_give(struct buddy *buddy, uint64_t frame, unsigned order);
/* 2^18 frames from `frame` on, a multiple of that: true if all were free, and are taken now. */
bool buddy_take_giant(struct buddy *buddy, uint64_t frame);
void buddy_give_giant(struct buddy *buddy, uint64_t frame);
/* A frame for a page table. buddy_give with order 0 returns it. */
uint64_t buddy_take_for_table(struct buddy *buddy);

/* A frame that is free is taken from elsewhere. buddy_give returns it; `taken` must answer accordingly by then. */
void buddy_claim(struct buddy *buddy, uint64_t frame);

uint64_t buddy_free_frames(const struct buddy *buddy);
uint64_t buddy_blocks_of(const struct buddy *buddy, unsigned order); /* in the free list of the order */
/* Calls back for every free piece that was looked at so far: in lists, in the per-CPU list, kept for page tables. */
void buddy_each_free(const struct buddy *buddy, void (*piece)(void *self, uint64_t frame, unsigned order), void *self);
void buddy_check(const struct buddy *buddy);

#endif
