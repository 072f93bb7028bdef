/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Simulated physical memory: frames 0 .. physical_bytes / 4096 - 1. Where a page goes is decided at its first touch:
 *     sequential  the lowest free frame. Frames never used come in ascending order; a freed one is reused first when it
 *                 lies lower, whatever the order of freeing.
 *     random      a free frame, each equally likely: the n-th free one for a uniform n from the stream "placement".
 *     identity    virtual page number modulo the number of frames, and nothing else: a taken one is a clash.
 *     same-color  the lowest free frame whose number modulo `colors` is `color`.
 *   Page tables lie at the other end: each table takes the highest free frame (of any colour) under every policy.
 * Invariants
 *   A frame has at most one owner; same-color keeps a second set over the frames of its colour, member i being frame
 *   color + i * colors, that agrees with the first.
 * Not modelled
 *   Firmware holes, zones, memory of other processes, the page cache: two mappings of one file get frames of their own,
 *   and a first read gets one too (Linux maps a shared zero page).
 */
#include "mmu/frames_priv.h"

struct frames {
    struct mmu_config config;
    struct frame_set all;
    struct frame_set colored; /* same-color only */
    struct c2_rng rng;
};

static bool is_colored(const struct frames *frames, uint64_t frame)
{
    return frames->config.placement == MMU_SAME_COLOR && frame % frames->config.colors == frames->config.color;
}

static uint64_t frames_of_color(const struct mmu_config *config, uint64_t total)
{
    return total > config->color ? (total - 1 - config->color) / config->colors + 1 : 0;
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
    enum c2_status status = frame_set_create(&frames->all, total, err);
    if (status == C2_OK && config->placement == MMU_SAME_COLOR)
        status = frame_set_create(&frames->colored, frames_of_color(config, total), err);
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
    frame_set_release(&frames->all);
    frame_set_release(&frames->colored);
    c2_free(frames);
}

static void take(struct frames *frames, uint64_t frame)
{
    frame_set_take(&frames->all, frame);
    if (is_colored(frames, frame))
        frame_set_take(&frames->colored, frame / frames->config.colors);
}

void frames_give(struct frames *frames, uint64_t frame)
{
    frame_set_give(&frames->all, frame);
    if (is_colored(frames, frame))
        frame_set_give(&frames->colored, frame / frames->config.colors);
}

/* Chooses without taking; only identity and the exhausted cases can refuse. */
static enum frames_answer choose(struct frames *frames, uint64_t vpn, uint64_t *frame)
{
    const struct frame_set *all = &frames->all;
    if (frame_set_free_count(all) == 0)
        return FRAMES_EXHAUSTED;
    switch (frames->config.placement) {
    case MMU_SEQUENTIAL:
        *frame = frame_set_nth_free(all, 0);
        return FRAMES_PLACED;
    case MMU_RANDOM:
        *frame = frame_set_nth_free(all, c2_rng_below(&frames->rng, frame_set_free_count(all)));
        return FRAMES_PLACED;
    case MMU_IDENTITY:
        *frame = vpn % all->count;
        return frame_set_is_taken(all, *frame) ? FRAMES_CLASH : FRAMES_PLACED;
    case MMU_SAME_COLOR:
        if (frame_set_free_count(&frames->colored) == 0)
            return FRAMES_EXHAUSTED;
        *frame = frame_set_nth_free(&frames->colored, 0) * frames->config.colors + frames->config.color;
        return FRAMES_PLACED;
    }
    return FRAMES_EXHAUSTED;
}

enum frames_answer frames_place(struct frames *frames, uint64_t vpn, uint64_t *frame)
{
    enum frames_answer answer = choose(frames, vpn, frame);
    if (answer == FRAMES_PLACED)
        take(frames, *frame);
    return answer;
}

bool frames_take_top(struct frames *frames, uint64_t *frame)
{
    uint64_t free_count = frame_set_free_count(&frames->all);
    if (free_count == 0)
        return false;
    *frame = frame_set_nth_free(&frames->all, free_count - 1);
    take(frames, *frame);
    return true;
}

uint64_t frames_total(const struct frames *frames)
{
    return frames->all.count;
}

uint64_t frames_taken(const struct frames *frames)
{
    return frames->all.taken;
}

bool frames_is_taken(const struct frames *frames, uint64_t frame)
{
    return frame < frames->all.count && frame_set_is_taken(&frames->all, frame);
}

void frames_check(const struct frames *frames)
{
    frame_set_check(&frames->all);
    if (frames->config.placement != MMU_SAME_COLOR)
        return;
    frame_set_check(&frames->colored);
    for (uint64_t i = 0; i < frames->colored.count; i++) {
        uint64_t frame = i * frames->config.colors + frames->config.color;
        C2_ASSERT(frame_set_is_taken(&frames->colored, i) == frame_set_is_taken(&frames->all, frame));
    }
}
