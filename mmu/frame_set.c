/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   A set of up to 2^28 numbers, each free or taken, that answers "the n-th free one in ascending order". Every policy
 *   is such a question: the lowest free frame is n = 0, the highest n = last, a random one a uniform n.
 * Invariants
 *   bits holds one bit a member; tree[node] = bits set below node; taken = tree[1].
 * Cost
 *   Take, give and select go once down or up a binary tree over blocks of 512 members: 19 steps for 2^28 frames, and
 *   exact however full the set is (rejection sampling would slow down where physical memory gets scarce). Both arrays
 *   begin as zero pages of the host, so host memory grows with the frames in use and not with the machine's size.
 */
#include "mmu/frames_priv.h"

#define BLOCK_SHIFT 9
#define BLOCK_MEMBERS ((uint64_t)1 << BLOCK_SHIFT)

enum c2_status frame_set_create(struct frame_set *set, uint64_t count, struct c2_error *err)
{
    *set = (struct frame_set){.count = count, .blocks = 1};
    while (set->blocks * BLOCK_MEMBERS < count)
        set->blocks *= 2;
    set->bits = c2_calloc(set->blocks, BLOCK_MEMBERS / 8);
    set->tree = c2_calloc(2 * set->blocks, sizeof *set->tree);
    if (set->bits && set->tree)
        return C2_OK;
    frame_set_release(set);
    return c2_fail_memory(err, "the map of physical frames");
}

void frame_set_release(struct frame_set *set)
{
    c2_free(set->bits);
    c2_free(set->tree);
    *set = (struct frame_set){0};
}

bool frame_set_is_taken(const struct frame_set *set, uint64_t member)
{
    return set->bits[member / 64] >> (member % 64) & 1;
}

static void flip(struct frame_set *set, uint64_t member, uint32_t change)
{
    set->bits[member / 64] ^= (uint64_t)1 << (member % 64);
    for (uint64_t node = set->blocks + (member >> BLOCK_SHIFT); node != 0; node /= 2)
        set->tree[node] += change;
    set->taken = set->tree[1];
}

void frame_set_take(struct frame_set *set, uint64_t member)
{
    C2_ASSERT(member < set->count && !frame_set_is_taken(set, member));
    flip(set, member, 1);
}

void frame_set_give(struct frame_set *set, uint64_t member)
{
    C2_ASSERT(member < set->count && frame_set_is_taken(set, member));
    flip(set, member, (uint32_t)-1);
}

uint64_t frame_set_block_taken(const struct frame_set *set, uint64_t block) { return set->tree[set->blocks + block]; }

uint64_t frame_set_free_count(const struct frame_set *set) { return set->count - set->taken; }

/* Members that exist in [first, first + span): the last blocks may reach beyond the end. */
static uint64_t members_in(const struct frame_set *set, uint64_t first, uint64_t span)
{
    if (first >= set->count)
        return 0;
    return set->count - first < span ? set->count - first : span;
}

static uint64_t nth_zero(uint64_t word, uint64_t n)
{
    uint64_t zeros = ~word;
    while (n-- > 0)
        zeros &= zeros - 1;
    return (uint64_t)__builtin_ctzll(zeros);
}

/* Bits beyond the end count as zero, but come after every member, so the n-th zero is always a member. */
static uint64_t nth_free_in_block(const struct frame_set *set, uint64_t first, uint64_t n)
{
    uint64_t word = first / 64;
    for (;; word++) {
        uint64_t zeros = 64 - (uint64_t)__builtin_popcountll(set->bits[word]);
        if (n < zeros)
            return word * 64 + nth_zero(set->bits[word], n);
        n -= zeros;
    }
}

uint64_t frame_set_nth_free(const struct frame_set *set, uint64_t n)
{
    C2_ASSERT(n < frame_set_free_count(set));
    uint64_t node = 1, first = 0, span = set->blocks * BLOCK_MEMBERS;
    while (node < set->blocks) {
        span /= 2;
        node *= 2;
        uint64_t free_left = members_in(set, first, span) - set->tree[node];
        if (n >= free_left) {
            n -= free_left;
            first += span;
            node++;
        }
    }
    return nth_free_in_block(set, first, n);
}

void frame_set_check(const struct frame_set *set)
{
    for (uint64_t node = 1; node < set->blocks; node++)
        C2_ASSERT(set->tree[node] == set->tree[2 * node] + set->tree[2 * node + 1]);
    for (uint64_t block = 0; block < set->blocks; block++) {
        uint64_t ones = 0;
        for (uint64_t word = 0; word < BLOCK_MEMBERS / 64; word++)
            ones += (uint64_t)__builtin_popcountll(set->bits[block * (BLOCK_MEMBERS / 64) + word]);
        C2_ASSERT(ones == set->tree[set->blocks + block]);
        C2_ASSERT(ones <= members_in(set, block * BLOCK_MEMBERS, BLOCK_MEMBERS));
    }
    C2_ASSERT(set->taken == set->tree[1]);
}
