/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Physical memory as a set of frames, some of them taken, and the policies that choose one. Frame numbers are physical
 * addresses divided by the page size.
 */
#ifndef C2_MMU_FRAMES_PRIV_H
#define C2_MMU_FRAMES_PRIV_H

#include "mmu/replica.h"

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
/* Members 512 * block .. 512 * block + 511 that are taken. */
uint64_t frame_set_block_taken(const struct frame_set *set, uint64_t block);
void frame_set_check(const struct frame_set *set);

/* ------------------------------------------------------------------ placement */
struct frames;
struct pagemap;
/* The policy of the config and those of its rules, which are lent until destroy; map files are read here. Policies are
 * numbered: 0 is the config's, 1 + i that of rules[i]. */
enum c2_status frames_create(struct frames **out, const struct mmu_config *config, struct c2_error *err);
void frames_destroy(struct frames *frames);

enum frames_answer {
    FRAMES_PLACED,
    FRAMES_EXHAUSTED, /* the policy has no free frame to give */
    FRAMES_CLASH,     /* identity, map: the one frame it may give is taken; *frame names it */
    FRAMES_HOLE,      /* map: it does not have the page */
};
/* The frame of virtual page number vpn, by policy number `by`. vpn and *frame are multiples of the size; for a huge
 * page what is no FRAMES_PLACED means small pages instead. */
enum frames_answer frames_place_by(struct frames *frames, size_t by, uint64_t vpn, enum mmu_page_size size,
                                   uint64_t *frame);
/* The highest free frame, for a page table (beside buddy: see frames.c); false when there is none. */
bool frames_take_top(struct frames *frames, uint64_t *frame);
void frames_give(struct frames *frames, uint64_t frame);
void frames_give_huge(struct frames *frames, uint64_t frame, enum mmu_page_size size); /* placed as one */
const struct pagemap *frames_map(const struct frames *frames, size_t by);              /* NULL: another policy */
const struct mmu_config *frames_policy(const struct frames *frames, size_t by);        /* lent until destroy */

uint64_t frames_total(const struct frames *frames);
uint64_t frames_taken(const struct frames *frames);      /* by this guest */
uint64_t frames_guaranteed(const struct frames *frames); /* so many more small ones can be had, whichever page */
uint64_t frames_idle(const struct frames *frames);       /* kept for maps, and no page's */
bool frames_is_kept(const struct frames *frames, uint64_t frame);  /* for maps */
bool frames_is_taken(const struct frames *frames, uint64_t frame); /* a page, a table or another program has it */
void frames_check(const struct frames *frames);

#endif
