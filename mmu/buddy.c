/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Linux's page allocator, as far as one process sees it. Free blocks of 2^k frames, k = 0 .. 10, stand in a list for
 *   each k; the buddy of a block is the one whose number differs in bit k.
 *     take    the head of the first list of order >= k that is not empty; a larger block is split, its low half is kept
 *             and the upper halves go to the heads of the lower lists.
 *     give    merges with its buddy as long as that is free and of the same order; goes to the head of its list, or to
 *             the tail when the buddy of the next order is free (so that large blocks stay whole).
 *     frames  single ones go through the per-CPU list: refilled by 63 at the tail, taken and given at the head, 63
 *             returned from the tail when more than 378 are in it.
 *   Page tables are not movable and do not mix with pages: they live in blocks of 4 MiB of their own, the highest ones,
 *   each filled from the top. A page gets such a frame only when nothing else is left.
 *   Beside it, other policies take frames of the same memory (frames.c): any frame that is free, wherever it stands.
 *     claim   cuts the frame out of the free block that holds it, whose other halves go to the heads of their lists;
 *             or takes it off the per-CPU list, or from those kept for page tables. In a block not looked at yet it is
 *             only remembered: when the block is looked at, the frame is in use, and what age draws for it is void.
 *     give    is the same for every former holder.
 *   Age
 *     Age a in [0, 1], in thousandths. A block of 4 MiB is looked at when it is first needed; an aged machine has
 *     frames in use by others in it. Along the block, runs of free and used frames alternate, geometrically
 *     distributed:
 *         mean length of a free run 1024^(1 - a) frames, of a used one that times a / (2 - a), at least 1,
 *     so that a share of about a / 2 of memory is in use; a run does not reach over the end of its block. At a = 1
 *     every second frame is free; at a = 0 all of memory is, in one piece.
 *     Blocks are looked at 64 at a time: each is the lowest one not yet looked at, or with probability a any of those;
 *     then each of their free pieces changes places with a later one, with probability a, before they go to the tails
 *     of the lists. A fresh machine gives ascending contiguous frames.
 * Counting
 *   buddy_free_frames: frames in lists, in the per-CPU list, kept for tables, and in blocks not looked at.
 * Invariants
 *   Free pieces are aligned, disjoint, and no two buddies of one order are free. head[f] = order + 1 where a free block
 *   begins, else 0.
 * Not modelled
 *   Zones, migrate types other than that of page tables, watermarks, compaction, several CPUs.
 * Source
 *   Linux mm/page_alloc.c (expand, rmqueue_smallest, rmqueue_bulk, __free_one_page, buddy_merge_likely,
 *   break_down_buddy_pages).
 */
#include "mmu/buddy_priv.h"
#include "mmu/frames_priv.h"

#define NONE UINT32_MAX
#define TOP_ORDER (BUDDY_ORDERS - 1)
#define BATCH_BLOCKS 64u
#define GIANT_FRAMES ((uint64_t)1 << 18)
#define ONE ((uint64_t)1 << 32)           /* probability 1 */
#define HUNDREDTH_ROOT_OF_2 4324841156ull /* 2^(1/100) times 2^32 */
#define PCP_ROOM 512u                     /* a power of two above BUDDY_HIGH + 1 */

struct buddy {
    struct buddy_config config;
    uint32_t *next, *prev; /* by frame: neighbours in its list */
    uint8_t *head;
    uint32_t first[BUDDY_ORDERS], last[BUDDY_ORDERS];
    uint32_t pcp[PCP_ROOM]; /* the per-CPU list, a ring */
    uint32_t pcp_first, pcp_count;
    struct frame_set looked_at; /* blocks of 4 MiB */
    uint8_t *for_tables;        /* by block: its frames are page tables' */
    uint32_t tables_first;      /* their free frames, a list by next and prev */
    uint64_t free_frames;
    uint64_t claimed_unseen; /* frames that others took in blocks not looked at */
    struct c2_rng rng;
    uint64_t end_free, end_used; /* probabilities that a run ends, of ONE */
    uint32_t *pieces;            /* frame | order << 28 */
    uint32_t piece_count;
};

/* 2^(hundredths / 100) * 2^22, in integers: the same on every machine. */
static uint64_t power_of_2(uint32_t hundredths)
{
    C2_PROMISE(hundredths < 4200);
    uint64_t value = ONE;
    for (uint32_t i = 0; i < hundredths % 100; i++)
        value = (uint64_t)((unsigned __int128)value * HUNDREDTH_ROOT_OF_2 >> 32);
    return value >> 10 << hundredths / 100;
}

static void set_age(struct buddy *buddy)
{
    uint32_t age = buddy->config.age;
    if (age == 0)
        return;
    buddy->end_free = power_of_2(age);
    buddy->end_used = buddy->end_free * (2000 - age) / age;
}

static uint64_t block_count(const struct buddy *buddy)
{
    return (buddy->config.frames + BUDDY_BLOCK_FRAMES - 1) / BUDDY_BLOCK_FRAMES;
}

static uint64_t block_end(const struct buddy *buddy, uint64_t block)
{
    C2_PROMISE(block < block_count(buddy));
    uint64_t end = (block + 1) * BUDDY_BLOCK_FRAMES;
    return end < buddy->config.frames ? end : buddy->config.frames;
}

static enum c2_status buddy_allocate(struct buddy *buddy, struct c2_error *err)
{
    uint64_t frames = buddy->config.frames;
    buddy->next = c2_calloc(frames, sizeof *buddy->next);
    buddy->prev = c2_calloc(frames, sizeof *buddy->prev);
    buddy->head = c2_calloc(frames, sizeof *buddy->head);
    buddy->for_tables = c2_calloc(block_count(buddy), sizeof *buddy->for_tables);
    buddy->pieces = c2_calloc(BATCH_BLOCKS * BUDDY_BLOCK_FRAMES, sizeof *buddy->pieces);
    if (!buddy->next || !buddy->prev || !buddy->head || !buddy->for_tables || !buddy->pieces)
        return c2_fail_memory(err, "the buddy allocator");
    return frame_set_create(&buddy->looked_at, block_count(buddy), err);
}

enum c2_status buddy_create(struct buddy **out, const struct buddy_config *config, struct c2_error *err)
{
    *out = NULL;
    struct buddy *buddy = c2_calloc(1, sizeof *buddy);
    if (!buddy)
        return c2_fail_memory(err, "the buddy allocator");
    buddy->config = *config;
    buddy->free_frames = config->frames;
    buddy->tables_first = NONE;
    for (unsigned order = 0; order < BUDDY_ORDERS; order++)
        buddy->first[order] = buddy->last[order] = NONE;
    c2_rng_init(&buddy->rng, config->seed, "ageing");
    set_age(buddy);
    enum c2_status status = buddy_allocate(buddy, err);
    if (status != C2_OK) {
        buddy_destroy(buddy);
        return status;
    }
    *out = buddy;
    return C2_OK;
}

void buddy_destroy(struct buddy *buddy)
{
    if (!buddy)
        return;
    frame_set_release(&buddy->looked_at);
    c2_free(buddy->next);
    c2_free(buddy->prev);
    c2_free(buddy->head);
    c2_free(buddy->for_tables);
    c2_free(buddy->pieces);
    c2_free(buddy);
}

/* ------------------------------------------------------------------ the lists */

static bool is_free_block(const struct buddy *buddy, uint64_t frame, unsigned order)
{
    C2_PROMISE(order < BUDDY_ORDERS);
    return frame < buddy->config.frames && buddy->head[frame] == order + 1;
}

/* Whether the block may go into a list: whole, in none yet, and its buddy is not free, else the two would be one. */
static bool stands_alone(const struct buddy *buddy, uint32_t frame, unsigned order)
{
    const uint32_t frames = (uint32_t)1 << order;
    C2_ASSERT(frame % frames == 0 && (uint64_t)frame + frames <= buddy->config.frames);
    C2_ASSERT(buddy->head[frame] == 0);
    C2_ASSERT(order == TOP_ORDER || !is_free_block(buddy, frame ^ frames, order));
    return true;
}

static void push_head(struct buddy *buddy, uint32_t frame, unsigned order)
{
    C2_PROMISE(stands_alone(buddy, frame, order));
    buddy->head[frame] = (uint8_t)(order + 1);
    buddy->prev[frame] = NONE;
    buddy->next[frame] = buddy->first[order];
    if (buddy->first[order] != NONE)
        buddy->prev[buddy->first[order]] = frame;
    else
        buddy->last[order] = frame;
    buddy->first[order] = frame;
}

static void push_tail(struct buddy *buddy, uint32_t frame, unsigned order)
{
    C2_PROMISE(stands_alone(buddy, frame, order));
    buddy->head[frame] = (uint8_t)(order + 1);
    buddy->next[frame] = NONE;
    buddy->prev[frame] = buddy->last[order];
    if (buddy->last[order] != NONE)
        buddy->next[buddy->last[order]] = frame;
    else
        buddy->first[order] = frame;
    buddy->last[order] = frame;
}

static void unlink_block(struct buddy *buddy, uint32_t frame, unsigned order)
{
    uint32_t next = buddy->next[frame], prev = buddy->prev[frame];
    C2_PROMISE(is_free_block(buddy, frame, order));
    if (prev != NONE)
        buddy->next[prev] = next;
    else
        buddy->first[order] = next;
    if (next != NONE)
        buddy->prev[next] = prev;
    else
        buddy->last[order] = prev;
    buddy->head[frame] = 0;
}

static bool next_order_is_likely(const struct buddy *buddy, uint32_t frame, unsigned order)
{
    if (order + 1 >= TOP_ORDER)
        return false;
    uint32_t parent = frame & ~((uint32_t)1 << order);
    return is_free_block(buddy, parent ^ (uint32_t)2 << order, order + 1);
}

static void merge_in(struct buddy *buddy, uint32_t frame, unsigned order)
{
    C2_PROMISE(order <= TOP_ORDER && frame % ((uint32_t)1 << order) == 0);
    while (order < TOP_ORDER && is_free_block(buddy, frame ^ (uint32_t)1 << order, order)) {
        unlink_block(buddy, frame ^ (uint32_t)1 << order, order);
        frame &= ~((uint32_t)1 << order);
        order++;
    }
    if (next_order_is_likely(buddy, frame, order))
        push_tail(buddy, frame, order);
    else
        push_head(buddy, frame, order);
}

/* ------------------------------------------------------------------ looking at memory for the first time */

static bool chance(struct buddy *buddy, uint64_t of_one) { return (c2_rng_next(&buddy->rng) >> 32) < of_one; }

static bool aged(struct buddy *buddy)
{
    return buddy->config.age != 0 && c2_rng_below(&buddy->rng, 1000) < buddy->config.age;
}

static void buddy_add_run(struct buddy *buddy, uint64_t start, uint64_t end)
{
    C2_PROMISE(start <= end && end <= buddy->config.frames);
    while (start < end) {
        unsigned order = start == 0 ? TOP_ORDER : (unsigned)__builtin_ctzll(start), most = c2_log2(end - start);
        order = order < most ? order : most;
        order = order < TOP_ORDER ? order : TOP_ORDER;
        buddy->pieces[buddy->piece_count++] = (uint32_t)start | order << 28;
        start += (uint64_t)1 << order;
    }
}

static void buddy_occupy(struct buddy *buddy, uint64_t frame)
{
    C2_ASSERT(buddy->free_frames > 0);
    buddy->free_frames--;
    buddy->config.occupy(buddy->config.self, frame);
}

static bool is_claimed(const struct buddy *buddy, uint64_t frame)
{
    return buddy->claimed_unseen > 0 && buddy->config.taken(buddy->config.self, frame);
}

/* Frames that are free from the first use of their block on go to the pieces. */
static void cut_block(struct buddy *buddy, uint64_t block)
{
    C2_ASSERT(!frame_set_is_taken(&buddy->looked_at, block));
    uint64_t start = block * BUDDY_BLOCK_FRAMES, end = block_end(buddy, block), run = start;
    frame_set_take(&buddy->looked_at, block);
    bool young = buddy->config.age == 0, used = !young && c2_rng_below(&buddy->rng, 2000) < buddy->config.age;
    for (uint64_t frame = start; frame < end && !(young && buddy->claimed_unseen == 0); frame++) {
        if (is_claimed(buddy, frame)) {
            buddy->claimed_unseen--;
            if (!used)
                buddy_add_run(buddy, run, frame);
            run = frame + 1;
        } else if (used) {
            buddy_occupy(buddy, frame);
            run = frame + 1;
        }
        if (young || !chance(buddy, used ? buddy->end_used : buddy->end_free))
            continue;
        if (!used)
            buddy_add_run(buddy, run, frame + 1);
        run = frame + 1;
        used = !used;
    }
    if (!used)
        buddy_add_run(buddy, run, end);
}

static void shuffle_pieces(struct buddy *buddy)
{
    for (uint32_t i = 0; i < buddy->piece_count; i++) {
        if (!aged(buddy))
            continue;
        uint32_t other = i + (uint32_t)c2_rng_below(&buddy->rng, buddy->piece_count - i);
        uint32_t piece = buddy->pieces[i];
        buddy->pieces[i] = buddy->pieces[other];
        buddy->pieces[other] = piece;
    }
}

static void list_pieces(struct buddy *buddy)
{
    for (uint32_t i = 0; i < buddy->piece_count; i++)
        push_tail(buddy, buddy->pieces[i] & 0x0fffffff, buddy->pieces[i] >> 28);
    buddy->piece_count = 0;
}

/* False: nothing is left to look at. */
static bool look_further(struct buddy *buddy)
{
    for (uint32_t i = 0; i < BATCH_BLOCKS; i++) {
        uint64_t left = frame_set_free_count(&buddy->looked_at);
        if (left == 0) {
            if (i == 0)
                return false;
            break;
        }
        uint64_t n = aged(buddy) ? c2_rng_below(&buddy->rng, left) : 0;
        cut_block(buddy, frame_set_nth_free(&buddy->looked_at, n));
    }
    shuffle_pieces(buddy);
    list_pieces(buddy);
    return true;
}

/* ------------------------------------------------------------------ blocks */

static uint64_t buddy_take_from(struct buddy *buddy, unsigned from, unsigned order)
{
    C2_PROMISE(from >= order && buddy->first[from] != NONE);
    uint32_t frame = buddy->first[from];
    unlink_block(buddy, frame, from);
    while (from > order) {
        from--;
        push_head(buddy, frame + ((uint32_t)1 << from), from);
    }
    return frame;
}

static uint64_t buddy_take_block(struct buddy *buddy, unsigned order)
{
    C2_PROMISE(order < BUDDY_ORDERS);
    do {
        for (unsigned from = order; from < BUDDY_ORDERS; from++) {
            if (buddy->first[from] != NONE)
                return buddy_take_from(buddy, from, order);
        }
    } while (look_further(buddy));
    return BUDDY_NONE;
}

static uint32_t *pcp_slot(struct buddy *buddy, uint32_t n)
{
    C2_PROMISE(n < PCP_ROOM);
    return &buddy->pcp[(buddy->pcp_first + n) % PCP_ROOM];
}

static void buddy_drain(struct buddy *buddy, uint32_t count)
{
    while (count-- > 0 && buddy->pcp_count > 0)
        merge_in(buddy, *pcp_slot(buddy, --buddy->pcp_count), 0);
}

static void refill(struct buddy *buddy)
{
    for (int i = 0; i < BUDDY_BATCH; i++) {
        uint64_t frame = buddy_take_block(buddy, 0);
        if (frame == BUDDY_NONE)
            return;
        *pcp_slot(buddy, buddy->pcp_count++) = (uint32_t)frame;
    }
}

static void push_tables_frame(struct buddy *buddy, uint32_t frame)
{
    buddy->prev[frame] = NONE;
    buddy->next[frame] = buddy->tables_first;
    if (buddy->tables_first != NONE)
        buddy->prev[buddy->tables_first] = frame;
    buddy->tables_first = frame;
}

static void unlink_tables_frame(struct buddy *buddy, uint32_t frame)
{
    C2_PROMISE(buddy->tables_first != NONE);
    uint32_t next = buddy->next[frame], prev = buddy->prev[frame];
    if (prev != NONE)
        buddy->next[prev] = next;
    else
        buddy->tables_first = next;
    if (next != NONE)
        buddy->prev[next] = prev;
}

static uint64_t take_tables_frame(struct buddy *buddy)
{
    uint32_t frame = buddy->tables_first;
    if (frame == NONE)
        return BUDDY_NONE;
    unlink_tables_frame(buddy, frame);
    buddy->free_frames--;
    return frame;
}

static uint64_t take_frame(struct buddy *buddy)
{
    if (buddy->pcp_count == 0)
        refill(buddy);
    if (buddy->pcp_count == 0)
        return take_tables_frame(buddy);
    uint32_t frame = *pcp_slot(buddy, 0);
    buddy->pcp_first = (buddy->pcp_first + 1) % PCP_ROOM;
    buddy->pcp_count--;
    buddy->free_frames--;
    return frame;
}

uint64_t buddy_take(struct buddy *buddy, unsigned order)
{
    C2_ASSERT(order < BUDDY_ORDERS);
    if (order == 0)
        return take_frame(buddy);
    uint64_t frame = buddy_take_block(buddy, order);
    if (frame == BUDDY_NONE && buddy->pcp_count > 0) {
        buddy_drain(buddy, buddy->pcp_count);
        frame = buddy_take_block(buddy, order);
    }
    if (frame != BUDDY_NONE)
        buddy->free_frames -= (uint64_t)1 << order;
    return frame;
}

static void give_frame(struct buddy *buddy, uint32_t frame)
{
    C2_PROMISE(buddy->pcp_count < PCP_ROOM);
    buddy->pcp_first = (buddy->pcp_first + PCP_ROOM - 1) % PCP_ROOM;
    buddy->pcp_count++;
    *pcp_slot(buddy, 0) = frame;
    if (buddy->pcp_count > BUDDY_HIGH)
        buddy_drain(buddy, BUDDY_BATCH);
}

void buddy_give(struct buddy *buddy, uint64_t frame, unsigned order)
{
    C2_ASSERT(order < BUDDY_ORDERS && frame + ((uint64_t)1 << order) <= buddy->config.frames);
    uint64_t block = frame / BUDDY_BLOCK_FRAMES, frames = (uint64_t)1 << order;
    buddy->free_frames += frames;
    if (!frame_set_is_taken(&buddy->looked_at, block))
        buddy->claimed_unseen -= frames;
    else if (buddy->for_tables[block])
        for (uint64_t i = 0; i < frames; i++)
            push_tables_frame(buddy, (uint32_t)(frame + i));
    else if (order == 0)
        give_frame(buddy, (uint32_t)frame);
    else
        merge_in(buddy, (uint32_t)frame, order);
}

/* ------------------------------------------------------------------ frames that other policies take */

/* Halves the block until the frame stands alone; the halves without it stay free. */
static void cut_out(struct buddy *buddy, uint32_t block, unsigned order, uint32_t frame)
{
    C2_PROMISE(block <= frame && frame - block < (uint32_t)1 << order);
    unlink_block(buddy, block, order);
    while (order-- > 0) {
        uint32_t upper = block + ((uint32_t)1 << order);
        push_head(buddy, frame < upper ? upper : block, order);
        block = frame < upper ? block : upper;
    }
}

static void leave_pcp(struct buddy *buddy, uint32_t frame)
{
    uint32_t at = 0;
    while (at < buddy->pcp_count && *pcp_slot(buddy, at) != frame)
        at++;
    C2_ASSERT(at < buddy->pcp_count);
    for (buddy->pcp_count--; at < buddy->pcp_count; at++)
        *pcp_slot(buddy, at) = *pcp_slot(buddy, at + 1);
}

void buddy_claim(struct buddy *buddy, uint64_t frame)
{
    C2_ASSERT(buddy->free_frames > 0 && frame < buddy->config.frames);
    uint64_t block = frame / BUDDY_BLOCK_FRAMES;
    buddy->free_frames--;
    if (!frame_set_is_taken(&buddy->looked_at, block)) {
        buddy->claimed_unseen++;
        return;
    }
    for (unsigned order = 0; order < BUDDY_ORDERS; order++) {
        uint64_t start = c2_align_down(frame, (uint64_t)1 << order);
        if (is_free_block(buddy, start, order)) {
            cut_out(buddy, (uint32_t)start, order, (uint32_t)frame);
            return;
        }
    }
    if (buddy->for_tables[block])
        unlink_tables_frame(buddy, (uint32_t)frame);
    else
        leave_pcp(buddy, (uint32_t)frame);
}

/* ------------------------------------------------------------------ 1 GiB */

static void look_at_range(struct buddy *buddy, uint64_t frame)
{
    for (uint64_t at = frame; at < frame + GIANT_FRAMES; at += BUDDY_BLOCK_FRAMES) {
        if (frame_set_is_taken(&buddy->looked_at, at / BUDDY_BLOCK_FRAMES))
            continue;
        cut_block(buddy, at / BUDDY_BLOCK_FRAMES);
        list_pieces(buddy);
    }
}

bool buddy_take_giant(struct buddy *buddy, uint64_t frame)
{
    C2_ASSERT(frame % GIANT_FRAMES == 0);
    if (frame + GIANT_FRAMES > buddy->config.frames)
        return false;
    buddy_drain(buddy, buddy->pcp_count);
    look_at_range(buddy, frame);
    for (uint64_t at = frame; at < frame + GIANT_FRAMES; at += BUDDY_BLOCK_FRAMES) {
        if (!is_free_block(buddy, at, TOP_ORDER))
            return false;
    }
    for (uint64_t at = frame; at < frame + GIANT_FRAMES; at += BUDDY_BLOCK_FRAMES)
        unlink_block(buddy, (uint32_t)at, TOP_ORDER);
    buddy->free_frames -= GIANT_FRAMES;
    return true;
}

void buddy_give_giant(struct buddy *buddy, uint64_t frame)
{
    for (uint64_t at = frame; at < frame + GIANT_FRAMES; at += BUDDY_BLOCK_FRAMES)
        buddy_give(buddy, at, TOP_ORDER);
}

/* ------------------------------------------------------------------ page tables */

static bool dedicate_block(struct buddy *buddy)
{
    uint64_t left = frame_set_free_count(&buddy->looked_at);
    if (left == 0)
        return false;
    uint64_t block = frame_set_nth_free(&buddy->looked_at, left - 1);
    frame_set_take(&buddy->looked_at, block);
    buddy->for_tables[block] = 1;
    for (uint64_t frame = block * BUDDY_BLOCK_FRAMES; frame < block_end(buddy, block); frame++) {
        if (is_claimed(buddy, frame))
            buddy->claimed_unseen--;
        else
            push_tables_frame(buddy, (uint32_t)frame);
    }
    return true;
}

uint64_t buddy_take_for_table(struct buddy *buddy)
{
    while (buddy->tables_first == NONE) {
        if (!dedicate_block(buddy))
            return take_frame(buddy);
    }
    return take_tables_frame(buddy);
}

/* ------------------------------------------------------------------ check */

uint64_t buddy_free_frames(const struct buddy *buddy) { return buddy->free_frames; }

uint64_t buddy_blocks_of(const struct buddy *buddy, unsigned order)
{
    uint64_t count = 0;
    for (uint32_t frame = buddy->first[order]; frame != NONE; frame = buddy->next[frame])
        count++;
    return count;
}

void buddy_each_free(const struct buddy *buddy, void (*piece)(void *self, uint64_t frame, unsigned order), void *self)
{
    for (unsigned order = 0; order < BUDDY_ORDERS; order++) {
        for (uint32_t frame = buddy->first[order]; frame != NONE; frame = buddy->next[frame])
            piece(self, frame, order);
    }
    for (uint32_t i = 0; i < buddy->pcp_count; i++)
        piece(self, buddy->pcp[(buddy->pcp_first + i) % PCP_ROOM], 0);
    for (uint32_t frame = buddy->tables_first; frame != NONE; frame = buddy->next[frame])
        piece(self, frame, 0);
}

struct audit {
    const struct buddy *buddy;
    uint64_t frames;
};

static void audit_piece(void *self, uint64_t frame, unsigned order)
{
    struct audit *audit = self;
    C2_ASSERT(frame % ((uint64_t)1 << order) == 0);
    C2_ASSERT(frame + ((uint64_t)1 << order) <= audit->buddy->config.frames);
    C2_ASSERT(frame_set_is_taken(&audit->buddy->looked_at, frame / BUDDY_BLOCK_FRAMES));
    if (audit->buddy->head[frame] != 0 && order < TOP_ORDER)
        C2_ASSERT(!is_free_block(audit->buddy, frame ^ (uint64_t)1 << order, order));
    audit->frames += (uint64_t)1 << order;
}

void buddy_check(const struct buddy *buddy)
{
    struct audit audit = {.buddy = buddy};
    buddy_each_free(buddy, audit_piece, &audit);
    for (uint64_t block = 0; block < block_count(buddy); block++) {
        if (!frame_set_is_taken(&buddy->looked_at, block))
            audit.frames += block_end(buddy, block) - block * BUDDY_BLOCK_FRAMES;
    }
    C2_ASSERT(audit.frames == buddy->free_frames + buddy->claimed_unseen);
    C2_ASSERT(buddy->pcp_count <= BUDDY_HIGH + 1);
}
