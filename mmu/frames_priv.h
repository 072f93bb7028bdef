/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Physical memory as a set of frames, some of them taken, and the policies that choose one. Frame numbers are physical
 * addresses divided by the page size.
 */
#ifndef C2_MMU_FRAMES_PRIV_H
#define C2_MMU_FRAMES_PRIV_H

#include "mmu/mmu.h"

#define MMU_FRAME_LIMIT ((uint64_t)1 << 28) /* 2^40 bytes */

/* ------------------------------------------------------------------ a set of numbers, each free or taken */
struct frame_set {
    uint64_t count;  /* members are 0 .. count-1 */
    uint64_t taken;  /* of them not free */
    uint64_t blocks; /* leaves of the tree, a power of two */
    uint64_t *bits;  /* one a member, 1 = taken */
    uint32_t *tree;  /* heap order, root 1, leaf of block b = blocks + b: members taken below the node */
};
enum c2_status frame_set_create(struct frame_set *set, uint64_t count, struct c2_error *err);
void frame_set_release(struct frame_set *set);
bool frame_set_is_taken(const struct frame_set *set, uint64_t member);
void frame_set_take(struct frame_set *set, uint64_t member); /* must be free */
void frame_set_give(struct frame_set *set, uint64_t member); /* must be taken */
uint64_t frame_set_free_count(const struct frame_set *set);
uint64_t frame_set_nth_free(const struct frame_set *set, uint64_t n); /* ascending, n < free count */
void frame_set_check(const struct frame_set *set);

/* ------------------------------------------------------------------ placement */
struct frames;
enum c2_status frames_create(struct frames **out, const struct mmu_config *config, struct c2_error *err);
void frames_destroy(struct frames *frames);

enum frames_answer {
    FRAMES_PLACED,
    FRAMES_EXHAUSTED, /* the policy has no free frame to give */
    FRAMES_CLASH,     /* identity: the one frame it may give is taken; *frame names it */
};
/* The frame of virtual page number vpn, by the policy. */
enum frames_answer frames_place(struct frames *frames, uint64_t vpn, uint64_t *frame);
/* The highest free frame, for a page table; false when there is none. */
bool frames_take_top(struct frames *frames, uint64_t *frame);
void frames_give(struct frames *frames, uint64_t frame);

uint64_t frames_total(const struct frames *frames);
uint64_t frames_taken(const struct frames *frames);
bool frames_is_taken(const struct frames *frames, uint64_t frame);
void frames_check(const struct frames *frames);

#endif
