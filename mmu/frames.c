/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Simulated physical memory: frames 0 .. physical_bytes / 4096 - 1. Where a page goes is decided at its first touch:
 *     sequential  the lowest free frame. Frames never used come in ascending order; a freed one is reused first when it
 *                 lies lower, whatever the order of freeing.
 *     random      a free frame, each equally likely: the n-th free one for a uniform n from the stream "placement".
 *     identity    virtual page number modulo the number of frames, and nothing else: a taken one is a clash.
 *     same-color  the lowest free frame whose number modulo `colors` is `color`.
 *     colored     the lowest free frame whose number modulo `colors` is the virtual page's number modulo `colors`.
 *     buddy       Linux's allocator (buddy.c).
 *     map         what a file says (pagemap.c).
 *   Huge pages follow the same rules over huge frames: those of 2 MiB (1 GiB) all of whose small frames are free. The
 *   colours of huge frames are colours / 512 (/ 512^2), at least 1, so that same-color and colored mean the cache sets
 *   that a huge page covers; identity needs a physical size that is a multiple of the page's.
 *   Page tables lie at the other end: each table takes the highest free frame (of any colour) under every policy but
 *   two: buddy keeps blocks for them, and a map's own frames are not for tables.
 * Invariants
 *   A frame has at most one owner. free_of[1] and [2] are the huge frames that are free whole. same-color keeps a set
 *   over the frames of its colour, member i being frame color + i * colors, that agrees with the first; a map keeps one
 *   of the frames it does not name. No frame of colour c below hint[c] is free.
 * Not modelled
 *   Firmware holes, zones, the page cache: two mappings of one file get frames of their own, and a first read gets one
 *   too (Linux maps a shared zero page).
 */
#include "mmu/buddy_priv.h"
#include "mmu/frames_priv.h"
#include "mmu/pagemap_priv.h"

struct frames {
    struct mmu_config config;
    struct frame_set all[MMU_PAGE_SIZES]; /* by page size */
    struct frame_set side;                /* same-color: its frames; map: frames that the map does not name */
    uint32_t *hint[MMU_PAGE_SIZES];       /* colored: by colour */
    struct buddy *buddy;
    struct pagemap *map;
    uint64_t others; /* frames in use by other programs */
    struct c2_rng rng;
};

static bool has_side(const struct frames *frames)
{
    return frames->config.placement == MMU_SAME_COLOR || frames->config.placement == MMU_MAP;
}

/* Whether the side set has the frame, and as which member. */
static bool in_side(const struct frames *frames, uint64_t frame, uint64_t *member)
{
    if (frames->config.placement == MMU_MAP) {
        *member = frame;
        return !pagemap_names(frames->map, frame);
    }
    *member = frame / frames->config.colors;
    return frame % frames->config.colors == frames->config.color;
}

static uint64_t frames_of_color(const struct mmu_config *config, uint64_t total)
{
    return total > config->color ? (total - 1 - config->color) / config->colors + 1 : 0;
}

static uint64_t colors_of(const struct frames *frames, enum mmu_page_size size)
{
    uint64_t colors = frames->config.colors >> 9 * (unsigned)size;
    return colors ? colors : 1;
}

/* ------------------------------------------------------------------ taking and giving */

/* A huge frame is free as long as nothing in it is taken. */
static void take(struct frames *frames, uint64_t frame)
{
    uint64_t member = frame;
    for (int size = 0; size < MMU_PAGE_SIZES && member < frames->all[size].count; size++, member >>= 9) {
        frame_set_take(&frames->all[size], member);
        if (frame_set_block_taken(&frames->all[size], member >> 9) != 1)
            break;
    }
    if (has_side(frames) && in_side(frames, frame, &member))
        frame_set_take(&frames->side, member);
}

static void lower_hints(struct frames *frames, uint64_t frame)
{
    for (unsigned size = 0; size < MMU_PAGE_SIZES; size++) {
        uint64_t member = frame >> 9 * size;
        uint32_t *hint = &frames->hint[size][member % colors_of(frames, (enum mmu_page_size)size)];
        *hint = member < *hint ? (uint32_t)member : *hint;
    }
}

static void give(struct frames *frames, uint64_t frame)
{
    uint64_t member = frame;
    for (int size = 0; size < MMU_PAGE_SIZES && member < frames->all[size].count; size++, member >>= 9) {
        frame_set_give(&frames->all[size], member);
        if (frame_set_block_taken(&frames->all[size], member >> 9) != 0)
            break;
    }
    if (has_side(frames) && in_side(frames, frame, &member))
        frame_set_give(&frames->side, member);
    if (frames->config.placement == MMU_COLORED)
        lower_hints(frames, frame);
}

void frames_give(struct frames *frames, uint64_t frame)
{
    give(frames, frame);
    if (frames->buddy)
        buddy_give(frames->buddy, frame, 0);
}

void frames_give_huge(struct frames *frames, uint64_t frame, enum mmu_page_size size)
{
    for (uint64_t i = 0; i < mmu_page_bytes(size) >> C2_PAGE_SHIFT; i++)
        give(frames, frame + i);
    if (frames->buddy && size == MMU_PAGE_1G)
        buddy_give_giant(frames->buddy, frame);
    else if (frames->buddy)
        buddy_give(frames->buddy, frame, 9 * (unsigned)size);
}

static void occupy(void *self, uint64_t frame)
{
    struct frames *frames = self;
    take(frames, frame);
    frames->others++;
}

/* ------------------------------------------------------------------ life */

static enum c2_status create_hints(struct frames *frames, struct c2_error *err)
{
    for (unsigned size = 0; size < MMU_PAGE_SIZES; size++) {
        uint64_t colors = colors_of(frames, (enum mmu_page_size)size);
        frames->hint[size] = c2_calloc(colors, sizeof *frames->hint[size]);
        if (!frames->hint[size])
            return c2_fail_memory(err, "the page colours");
        for (uint64_t color = 1; color < colors; color++)
            frames->hint[size][color] = (uint32_t)color;
    }
    return C2_OK;
}

static enum c2_status create_map(struct frames *frames, struct c2_error *err)
{
    enum c2_status status = pagemap_read(&frames->map, frames->config.map, frames->all[0].count, err);
    if (status == C2_OK)
        status = frame_set_create(&frames->side, frames->all[0].count, err);
    if (status != C2_OK)
        return status;
    for (uint64_t i = 0; i < frames->side.count; i++) {
        uint64_t next = pagemap_next_named(frames->map, i);
        if (next >= frames->side.count)
            break;
        frame_set_take(&frames->side, next);
        i = next;
    }
    return C2_OK;
}

static enum c2_status create_policy(struct frames *frames, uint64_t total, struct c2_error *err)
{
    const struct mmu_config *config = &frames->config;
    struct buddy_config buddy = {.frames = total, .age = config->age, .seed = config->seed, .occupy = occupy,
                                 .self = frames};
    switch (config->placement) {
    case MMU_SAME_COLOR:
        return frame_set_create(&frames->side, frames_of_color(config, total), err);
    case MMU_COLORED:
        return create_hints(frames, err);
    case MMU_BUDDY:
        return buddy_create(&frames->buddy, &buddy, err);
    case MMU_MAP:
        return create_map(frames, err);
    default:
        return C2_OK;
    }
}

enum c2_status frames_create(struct frames **out, const struct mmu_config *config, struct c2_error *err)
{
    *out = NULL;
    struct frames *frames = c2_calloc(1, sizeof *frames);
    if (!frames)
        return c2_fail_memory(err, "physical memory");
    frames->config = *config;
    c2_rng_init(&frames->rng, config->seed, "placement");
    uint64_t total = config->physical_bytes >> C2_PAGE_SHIFT;
    enum c2_status status = C2_OK;
    for (unsigned size = 0; size < MMU_PAGE_SIZES && status == C2_OK; size++)
        status = frame_set_create(&frames->all[size], total >> 9 * size, err);
    if (status == C2_OK)
        status = create_policy(frames, total, err);
    if (status != C2_OK) {
        frames_destroy(frames);
        return status;
    }
    *out = frames;
    return C2_OK;
}

void frames_destroy(struct frames *frames)
{
    if (!frames)
        return;
    for (unsigned size = 0; size < MMU_PAGE_SIZES; size++) {
        frame_set_release(&frames->all[size]);
        c2_free(frames->hint[size]);
    }
    frame_set_release(&frames->side);
    buddy_destroy(frames->buddy);
    pagemap_destroy(frames->map);
    c2_free(frames);
}

const struct pagemap *frames_map(const struct frames *frames)
{
    return frames->map;
}

/* ------------------------------------------------------------------ choosing */

/* Members of a colour are looked at upwards from its hint; none below it is free. */
static enum frames_answer choose_colored(struct frames *frames, uint64_t color, enum mmu_page_size size,
                                         uint64_t *member)
{
    const struct frame_set *set = &frames->all[size];
    uint64_t colors = colors_of(frames, size);
    uint32_t *hint = &frames->hint[size][color % colors];
    for (*member = *hint; *member < set->count; *member += colors) {
        if (!frame_set_is_taken(set, *member)) {
            *hint = (uint32_t)*member;
            return FRAMES_PLACED;
        }
    }
    *hint = (uint32_t)*member;
    return FRAMES_EXHAUSTED;
}

/* Huge pages of the colour's part of the cache; there are few huge frames, so they are looked at one by one. */
static enum frames_answer choose_same_color(struct frames *frames, enum mmu_page_size size, uint64_t *member)
{
    const struct frame_set *set = &frames->all[size];
    if (size == MMU_PAGE_4K) {
        if (frame_set_free_count(&frames->side) == 0)
            return FRAMES_EXHAUSTED;
        *member = frame_set_nth_free(&frames->side, 0) * frames->config.colors + frames->config.color;
        return FRAMES_PLACED;
    }
    uint64_t colors = colors_of(frames, size);
    for (*member = (frames->config.color >> 9 * (unsigned)size) % colors; *member < set->count; *member += colors) {
        if (!frame_set_is_taken(set, *member))
            return FRAMES_PLACED;
    }
    return FRAMES_EXHAUSTED;
}

static enum frames_answer choose_identity(struct frames *frames, uint64_t vpn, enum mmu_page_size size,
                                          uint64_t *member)
{
    const struct frame_set *set = &frames->all[size];
    uint64_t frame = vpn % frames->all[0].count;
    *member = frame >> 9 * (unsigned)size;
    if (frame % (mmu_page_bytes(size) >> C2_PAGE_SHIFT) != 0 || *member >= set->count)
        return FRAMES_EXHAUSTED;
    return frame_set_is_taken(set, *member) ? FRAMES_CLASH : FRAMES_PLACED;
}

static enum frames_answer choose_giant_buddy(struct frames *frames, uint64_t *member)
{
    const struct frame_set *set = &frames->all[MMU_PAGE_1G];
    for (*member = 0; *member < set->count; ++*member) {
        if (!frame_set_is_taken(set, *member) && buddy_take_giant(frames->buddy, *member << 18))
            return FRAMES_PLACED;
    }
    return FRAMES_EXHAUSTED;
}

static enum frames_answer choose_buddy(struct frames *frames, enum mmu_page_size size, uint64_t *member)
{
    if (size == MMU_PAGE_1G)
        return choose_giant_buddy(frames, member);
    uint64_t frame = buddy_take(frames->buddy, 9 * (unsigned)size);
    *member = frame >> 9 * (unsigned)size;
    return frame == BUDDY_NONE ? FRAMES_EXHAUSTED : FRAMES_PLACED;
}

static enum frames_answer choose_map(struct frames *frames, uint64_t vpn, enum mmu_page_size size, uint64_t *member)
{
    uint64_t frame;
    if (!pagemap_use(frames->map, vpn, size, &frame))
        return FRAMES_HOLE;
    *member = frame >> 9 * (unsigned)size;
    return frame_set_is_taken(&frames->all[size], *member) ? FRAMES_CLASH : FRAMES_PLACED;
}

/* *member counts frames of the size. Only buddy takes what it chooses. */
static enum frames_answer choose(struct frames *frames, uint64_t vpn, enum mmu_page_size size, uint64_t *member)
{
    const struct frame_set *set = &frames->all[size];
    uint64_t left = frame_set_free_count(set);
    if (left == 0 && frames->config.placement != MMU_BUDDY)
        return FRAMES_EXHAUSTED;
    switch (frames->config.placement) {
    case MMU_SEQUENTIAL:
        *member = frame_set_nth_free(set, 0);
        return FRAMES_PLACED;
    case MMU_RANDOM:
        *member = frame_set_nth_free(set, c2_rng_below(&frames->rng, left));
        return FRAMES_PLACED;
    case MMU_IDENTITY:
        return choose_identity(frames, vpn, size, member);
    case MMU_SAME_COLOR:
        return choose_same_color(frames, size, member);
    case MMU_COLORED:
        return choose_colored(frames, vpn >> 9 * (unsigned)size, size, member);
    case MMU_BUDDY:
        return choose_buddy(frames, size, member);
    case MMU_MAP:
        return choose_map(frames, vpn, size, member);
    }
    return FRAMES_EXHAUSTED;
}

enum frames_answer frames_place_huge(struct frames *frames, uint64_t vpn, enum mmu_page_size size, uint64_t *frame)
{
    uint64_t member = 0;
    enum frames_answer answer = choose(frames, vpn, size, &member);
    *frame = member << 9 * (unsigned)size;
    for (uint64_t i = 0; answer == FRAMES_PLACED && i < mmu_page_bytes(size) >> C2_PAGE_SHIFT; i++)
        take(frames, *frame + i);
    return answer;
}

enum frames_answer frames_place(struct frames *frames, uint64_t vpn, uint64_t *frame)
{
    return frames_place_huge(frames, vpn, MMU_PAGE_4K, frame);
}

/* ------------------------------------------------------------------ page tables */

bool frames_take_top(struct frames *frames, uint64_t *frame)
{
    if (frames->buddy) {
        *frame = buddy_take_for_table(frames->buddy);
        if (*frame != BUDDY_NONE)
            take(frames, *frame);
        return *frame != BUDDY_NONE;
    }
    const struct frame_set *set = frames->config.placement == MMU_MAP ? &frames->side : &frames->all[0];
    uint64_t free_count = frame_set_free_count(set);
    if (free_count == 0)
        return false;
    *frame = frame_set_nth_free(set, free_count - 1);
    take(frames, *frame);
    return true;
}

uint64_t frames_total(const struct frames *frames)
{
    return frames->all[0].count;
}

uint64_t frames_taken(const struct frames *frames)
{
    return frames->all[0].taken - frames->others;
}

bool frames_is_taken(const struct frames *frames, uint64_t frame)
{
    return frame < frames->all[0].count && frame_set_is_taken(&frames->all[0], frame);
}

/* ------------------------------------------------------------------ check */

static void check_side(const struct frames *frames)
{
    frame_set_check(&frames->side);
    for (uint64_t frame = 0; frame < frames->all[0].count; frame++) {
        uint64_t member;
        if (in_side(frames, frame, &member))
            C2_ASSERT(frame_set_is_taken(&frames->side, member) == frame_set_is_taken(&frames->all[0], frame));
    }
}

static void check_hints(const struct frames *frames)
{
    for (unsigned size = 0; size < MMU_PAGE_SIZES; size++) {
        uint64_t colors = colors_of(frames, (enum mmu_page_size)size);
        for (uint64_t i = 0; i < frames->all[size].count; i++)
            C2_ASSERT(frame_set_is_taken(&frames->all[size], i) || frames->hint[size][i % colors] <= i);
    }
}

static void check_piece(void *self, uint64_t frame, unsigned order)
{
    const struct frames *frames = self;
    for (uint64_t i = 0; i < (uint64_t)1 << order; i++)
        C2_ASSERT(!frame_set_is_taken(&frames->all[0], frame + i));
}

void frames_check(const struct frames *frames)
{
    for (unsigned size = 0; size < MMU_PAGE_SIZES; size++) {
        frame_set_check(&frames->all[size]);
        for (uint64_t i = 0; size > 0 && i < frames->all[size].count; i++) {
            bool in_use = frame_set_block_taken(&frames->all[size - 1], i) != 0;
            C2_ASSERT(frame_set_is_taken(&frames->all[size], i) == in_use);
        }
    }
    if (has_side(frames))
        check_side(frames);
    if (frames->config.placement == MMU_COLORED)
        check_hints(frames);
    if (!frames->buddy)
        return;
    buddy_check(frames->buddy);
    buddy_each_free(frames->buddy, check_piece, (void *)(uintptr_t)frames);
    C2_ASSERT(buddy_free_frames(frames->buddy) == frame_set_free_count(&frames->all[0]));
}
