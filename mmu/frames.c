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
 *     map         what a file states (pagemap.c).
 *   Huge pages follow the same rules over huge frames: those of 2 MiB (1 GiB) all of whose small frames are free. The
 *   colours of huge frames are colours / 512 (/ 512^2), at least 1, so that same-color and colored mean the cache sets
 *   that a huge page covers; identity needs a physical size that is a multiple of the page's.
 *   Page tables lie at the other end: each table takes the highest free frame (of any colour), but where there is a
 *   buddy allocator it comes from the blocks that this keeps for tables.
 *   Several policies share the one memory: that of the run, and one for each rule (rules.c). Each has a state of its
 *   own - generator, hints, lines of its map used - and all choose among the same free frames:
 *     buddy   is one allocator for all rules that name it, with one age: a machine has one. What another policy takes
 *             is cut out of its free blocks, its per-CPU list or its blocks for tables, and goes back to it like a page
 *             of its own. The age is its own affair too: frames that are other programs' are drawn when it looks at a
 *             block; before that, other policies see the block as free, and keep what they took of it.
 *     map     the frames that a map names are kept for the rules that have a map, used or not; to all others, and to
 *             page tables, they are not free.
 * Invariants
 *   A frame has at most one owner. all[1] and [2] are the huge frames that are free whole. all[] has the frames kept
 *   for maps as taken; of these, held has those that a page has. No frame of colour c below hint[c] is free.
 * Not modelled
 *   Firmware holes, zones, the page cache: two mappings of one file get frames of their own, and a first read gets one
 *   too (Linux maps a shared zero page; so does config.zero_page, see place.c).
 */
#include "mmu/buddy_priv.h"
#include "mmu/frames_priv.h"
#include "mmu/pagemap_priv.h"

/* A policy at work. */
struct placer {
    const struct mmu_config *policy;
    uint32_t *hint[MMU_PAGE_SIZES]; /* colored: by colour; same-color: of its own */
    struct pagemap *map;
    struct c2_rng rng;
};

struct frames {
    struct mmu_config config;
    struct frame_set all[MMU_PAGE_SIZES]; /* by page size */
    struct placer *placers;               /* the run's, then those of the rules */
    size_t placer_count;
    struct buddy *buddy;
    uint64_t *kept, *held; /* with maps, a bit a frame: named by a map; and a page has it */
    uint64_t idle;         /* kept and not held */
    uint64_t others;       /* frames in use by other programs */
};

static bool bit_at(const uint64_t *bits, uint64_t frame) { return bits && (bits[frame / 64] >> frame % 64 & 1); }

static void flip_bit(uint64_t *bits, uint64_t frame)
{
    C2_ASSERT(bits);
    bits[frame / 64] ^= (uint64_t)1 << frame % 64;
}

static uint64_t colors_of(const struct placer *placer, enum mmu_page_size size)
{
    C2_PROMISE(size < MMU_PAGE_SIZES);
    uint64_t colors = placer->policy->colors >> 9 * (unsigned)size;
    return colors ? colors : 1;
}

/* same-color: its colour among the frames of this size. */
static uint64_t own_color(const struct placer *placer, enum mmu_page_size size)
{
    return (placer->policy->color >> 9 * (unsigned)size) % colors_of(placer, size);
}

static uint32_t *hint_of(const struct placer *placer, uint64_t color, enum mmu_page_size size)
{
    C2_PROMISE(placer->hint[size]);
    return &placer->hint[size][placer->policy->placement == MMU_COLORED ? color : 0];
}

/* ------------------------------------------------------------------ taking and giving */

/* Whether the huge frames of a frame are free if and only if nothing in them is taken. */
static bool sizes_agree(const struct frames *frames, uint64_t frame)
{
    for (unsigned size = 1; size < MMU_PAGE_SIZES && frame >> 9 * size < frames->all[size].count; size++) {
        const bool in_use = frame_set_block_taken(&frames->all[size - 1], frame >> 9 * size) != 0;
        C2_ASSERT(frame_set_is_taken(&frames->all[size], frame >> 9 * size) == in_use);
    }
    return true;
}

/* No frame of a colour lies below its hint and is free: the frame is. */
static bool hints_hold(const struct frames *frames, uint64_t frame)
{
    for (size_t i = 0; i < frames->placer_count; i++) {
        const struct placer *placer = &frames->placers[i];
        const uint64_t color = frame % colors_of(placer, MMU_PAGE_4K);
        const bool mine = placer->policy->placement == MMU_COLORED || color == own_color(placer, MMU_PAGE_4K);
        C2_ASSERT(!placer->hint[0] || !mine || *hint_of(placer, color, MMU_PAGE_4K) <= frame);
    }
    return true;
}

static void hide(struct frames *frames, uint64_t frame)
{
    C2_PROMISE(frame < frames->all[0].count);
    uint64_t member = frame;
    for (int size = 0; size < MMU_PAGE_SIZES && member < frames->all[size].count; size++, member >>= 9) {
        frame_set_take(&frames->all[size], member);
        if (frame_set_block_taken(&frames->all[size], member >> 9) != 1)
            break;
    }
    C2_PROMISE(sizes_agree(frames, frame));
}

static void lower_hints(const struct placer *placer, uint64_t frame)
{
    for (unsigned i = 0; i < MMU_PAGE_SIZES && placer->hint[i]; i++) {
        enum mmu_page_size size = (enum mmu_page_size)i;
        uint64_t member = frame >> 9 * i, color = member % colors_of(placer, size);
        uint32_t *hint = hint_of(placer, color, size);
        if (placer->policy->placement == MMU_COLORED || color == own_color(placer, size))
            *hint = member < *hint ? (uint32_t)member : *hint;
    }
}

static void frames_show(struct frames *frames, uint64_t frame)
{
    C2_PROMISE(frame < frames->all[0].count);
    uint64_t member = frame;
    for (int size = 0; size < MMU_PAGE_SIZES && member < frames->all[size].count; size++, member >>= 9) {
        frame_set_give(&frames->all[size], member);
        if (frame_set_block_taken(&frames->all[size], member >> 9) != 0)
            break;
    }
    for (size_t i = 0; i < frames->placer_count; i++)
        lower_hints(&frames->placers[i], frame);
    C2_PROMISE(sizes_agree(frames, frame) && hints_hold(frames, frame));
}

static void frames_hold(struct frames *frames, uint64_t frame, bool now)
{
    C2_ASSERT(bit_at(frames->held, frame) != now);
    flip_bit(frames->held, frame);
    frames->idle += now ? (uint64_t)-1 : 1;
}

/* It is not the buddy allocator that takes: it is notified. */
static void frames_take(struct frames *frames, uint64_t frame)
{
    if (bit_at(frames->kept, frame)) {
        frames_hold(frames, frame, true);
        return;
    }
    hide(frames, frame);
    if (frames->buddy)
        buddy_claim(frames->buddy, frame);
}

static void mmu_frames_give(struct frames *frames, uint64_t frame)
{
    if (bit_at(frames->kept, frame))
        frames_hold(frames, frame, false);
    else
        frames_show(frames, frame);
}

void frames_give(struct frames *frames, uint64_t frame)
{
    C2_ASSERT(frames_is_taken(frames, frame));
    mmu_frames_give(frames, frame);
    if (frames->buddy && !bit_at(frames->kept, frame))
        buddy_give(frames->buddy, frame, 0);
}

void frames_give_huge(struct frames *frames, uint64_t frame, enum mmu_page_size size)
{
    C2_ASSERT(size != MMU_PAGE_4K && frame % (mmu_page_bytes(size) >> C2_PAGE_SHIFT) == 0);
    for (uint64_t i = 0; i < mmu_page_bytes(size) >> C2_PAGE_SHIFT; i++)
        mmu_frames_give(frames, frame + i);
    if (!frames->buddy || bit_at(frames->kept, frame)) /* a map names a huge frame whole */
        return;
    if (size == MMU_PAGE_1G)
        buddy_give_giant(frames->buddy, frame);
    else
        buddy_give(frames->buddy, frame, 9 * (unsigned)size);
}

static void frames_occupy(void *self, uint64_t frame)
{
    struct frames *frames = self;
    hide(frames, frame);
    frames->others++;
}

static bool frames_is_hidden(void *self, uint64_t frame)
{
    const struct frames *frames = self;
    return frame_set_is_taken(&frames->all[0], frame);
}

/* ------------------------------------------------------------------ life */

static enum c2_status create_hints(struct placer *placer, struct c2_error *err)
{
    bool every = placer->policy->placement == MMU_COLORED;
    for (unsigned i = 0; i < MMU_PAGE_SIZES; i++) {
        enum mmu_page_size size = (enum mmu_page_size)i;
        uint64_t count = every ? colors_of(placer, size) : 1;
        placer->hint[i] = c2_calloc(count, sizeof *placer->hint[i]);
        if (!placer->hint[i])
            return c2_fail_memory(err, "the page colours");
        for (uint64_t color = 0; color < count; color++)
            placer->hint[i][color] = (uint32_t)(every ? color : own_color(placer, size));
    }
    return C2_OK;
}

/* What a map names is not free from now on. */
static enum c2_status keep_frames(struct frames *frames, const struct pagemap *map, struct c2_error *err)
{
    uint64_t total = frames->all[0].count;
    if (!frames->kept) {
        frames->kept = c2_calloc(total / 64 + 1, sizeof *frames->kept);
        frames->held = c2_calloc(total / 64 + 1, sizeof *frames->held);
    }
    if (!frames->kept || !frames->held)
        return c2_fail_memory(err, "the frames of a page map");
    for (uint64_t frame = 0; (frame = pagemap_next_named(map, frame)) < total; frame++) {
        if (bit_at(frames->kept, frame))
            continue;
        hide(frames, frame);
        if (frames->buddy)
            buddy_claim(frames->buddy, frame);
        flip_bit(frames->kept, frame);
        frames->idle++;
    }
    return C2_OK;
}

static enum c2_status create_buddy(struct frames *frames, uint32_t age, struct c2_error *err)
{
    struct buddy_config config = {.frames = frames->all[0].count,
                                  .age = age,
                                  .seed = frames->config.seed,
                                  .occupy = frames_occupy,
                                  .taken = frames_is_hidden,
                                  .self = frames};
    return frames->buddy ? C2_OK : buddy_create(&frames->buddy, &config, err);
}

static enum c2_status create_placer(struct frames *frames, struct placer *placer, struct c2_error *err)
{
    switch (placer->policy->placement) {
    case MMU_SAME_COLOR:
    case MMU_COLORED:
        return create_hints(placer, err);
    case MMU_BUDDY:
        return create_buddy(frames, placer->policy->age, err);
    case MMU_MAP:
        return pagemap_read(&placer->map, placer->policy->map, frames->all[0].count, err);
    default:
        return C2_OK;
    }
}

/* A rule's stream has its name from the rule's region, so that it does not change with the other rules. */
static void seed_placer(struct placer *placer, uint64_t seed, const char *region)
{
    char name[MMU_PATH_BYTES + 32];
    snprintf(name, sizeof name, "placement%s%s", region ? " of " : "", region ? region : "");
    c2_rng_init(&placer->rng, seed, name);
}

static enum c2_status create_placers(struct frames *frames, struct c2_error *err)
{
    const struct mmu_config *config = &frames->config;
    frames->placers = c2_calloc(config->rule_count + 1, sizeof *frames->placers);
    if (!frames->placers)
        return c2_fail_memory(err, "the placement policies");
    frames->placer_count = config->rule_count + 1;
    enum c2_status status = C2_OK;
    for (size_t i = 0; i < frames->placer_count && status == C2_OK; i++) {
        const struct mmu_rule *rule = i > 0 ? &config->rules[i - 1] : NULL;
        frames->placers[i].policy = rule ? &rule->policy : config;
        seed_placer(&frames->placers[i], config->seed, rule ? rule->region.name : NULL);
        status = create_placer(frames, &frames->placers[i], err);
    }
    for (size_t i = 0; i < frames->placer_count && status == C2_OK; i++) {
        if (frames->placers[i].map)
            status = keep_frames(frames, frames->placers[i].map, err);
    }
    return status;
}

enum c2_status frames_create(struct frames **out, const struct mmu_config *config, struct c2_error *err)
{
    *out = NULL;
    struct frames *frames = c2_calloc(1, sizeof *frames);
    if (!frames)
        return c2_fail_memory(err, "physical memory");
    frames->config = *config;
    uint64_t total = config->physical_bytes >> C2_PAGE_SHIFT;
    enum c2_status status = C2_OK;
    for (unsigned size = 0; size < MMU_PAGE_SIZES && status == C2_OK; size++)
        status = frame_set_create(&frames->all[size], total >> 9 * size, err);
    if (status == C2_OK)
        status = create_placers(frames, err);
    if (status != C2_OK) {
        frames_destroy(frames);
        return status;
    }
    *out = frames;
    return C2_OK;
}

static void release_placer(struct placer *placer)
{
    for (unsigned size = 0; size < MMU_PAGE_SIZES; size++)
        c2_free(placer->hint[size]);
    pagemap_destroy(placer->map);
}

void frames_destroy(struct frames *frames)
{
    if (!frames)
        return;
    for (unsigned size = 0; size < MMU_PAGE_SIZES; size++)
        frame_set_release(&frames->all[size]);
    for (size_t i = 0; i < frames->placer_count; i++)
        release_placer(&frames->placers[i]);
    c2_free(frames->placers);
    c2_free(frames->kept);
    c2_free(frames->held);
    buddy_destroy(frames->buddy);
    c2_free(frames);
}

const struct pagemap *frames_map(const struct frames *frames, size_t by)
{
    C2_ASSERT(by < frames->placer_count);
    return frames->placers[by].map;
}

const struct mmu_config *frames_policy(const struct frames *frames, size_t by)
{
    C2_ASSERT(by < frames->placer_count);
    return frames->placers[by].policy;
}

/* ------------------------------------------------------------------ choosing */

/* Members of a colour are looked at upwards from its hint; none below it is free. */
static enum frames_answer choose_color(const struct frames *frames, const struct placer *placer, uint64_t color,
                                       enum mmu_page_size size, uint64_t *member)
{
    C2_PROMISE(color < colors_of(placer, size));
    const struct frame_set *set = &frames->all[size];
    uint64_t colors = colors_of(placer, size);
    uint32_t *hint = hint_of(placer, color, size);
    for (*member = *hint; *member < set->count; *member += colors) {
        if (!frame_set_is_taken(set, *member)) {
            *hint = (uint32_t)*member;
            return FRAMES_PLACED;
        }
    }
    *hint = (uint32_t)*member;
    return FRAMES_EXHAUSTED;
}

static enum frames_answer choose_identity(const struct frames *frames, uint64_t vpn, enum mmu_page_size size,
                                          uint64_t *member)
{
    C2_PROMISE(frames->all[0].count != 0);
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
    C2_ASSERT(frames->buddy);
    if (size == MMU_PAGE_1G)
        return choose_giant_buddy(frames, member);
    uint64_t frame = buddy_take(frames->buddy, 9 * (unsigned)size);
    *member = frame >> 9 * (unsigned)size;
    return frame == BUDDY_NONE ? FRAMES_EXHAUSTED : FRAMES_PLACED;
}

static enum frames_answer choose_map(const struct frames *frames, const struct placer *placer, uint64_t vpn,
                                     enum mmu_page_size size, uint64_t *member)
{
    C2_ASSERT(placer->map);
    uint64_t frame;
    if (!pagemap_use(placer->map, vpn, size, &frame))
        return FRAMES_HOLE;
    *member = frame >> 9 * (unsigned)size;
    for (uint64_t i = 0; i < mmu_page_bytes(size) >> C2_PAGE_SHIFT; i++) {
        if (bit_at(frames->held, frame + i))
            return FRAMES_CLASH;
    }
    return FRAMES_PLACED;
}

/* *member counts frames of the size. Only buddy takes what it chooses. */
static enum frames_answer frames_choose(struct frames *frames, struct placer *placer, uint64_t vpn,
                                        enum mmu_page_size size, uint64_t *member)
{
    const struct frame_set *set = &frames->all[size];
    uint64_t left = frame_set_free_count(set), page = vpn >> 9 * (unsigned)size;
    enum mmu_placement placement = placer->policy->placement;
    if (left == 0 && placement != MMU_BUDDY && placement != MMU_MAP)
        return FRAMES_EXHAUSTED;
    switch (placement) {
    case MMU_SEQUENTIAL:
        *member = frame_set_nth_free(set, 0);
        return FRAMES_PLACED;
    case MMU_RANDOM:
        *member = frame_set_nth_free(set, c2_rng_below(&placer->rng, left));
        return FRAMES_PLACED;
    case MMU_IDENTITY:
        return choose_identity(frames, vpn, size, member);
    case MMU_SAME_COLOR:
        return choose_color(frames, placer, own_color(placer, size), size, member);
    case MMU_COLORED:
        return choose_color(frames, placer, page % colors_of(placer, size), size, member);
    case MMU_BUDDY:
        return choose_buddy(frames, size, member);
    case MMU_MAP:
        return choose_map(frames, placer, vpn, size, member);
    }
    return FRAMES_EXHAUSTED;
}

enum frames_answer frames_place_by(struct frames *frames, size_t by, uint64_t vpn, enum mmu_page_size size,
                                   uint64_t *frame)
{
    C2_ASSERT(by < frames->placer_count && vpn % (mmu_page_bytes(size) >> C2_PAGE_SHIFT) == 0);
    struct placer *placer = &frames->placers[by];
    uint64_t member = 0, count = mmu_page_bytes(size) >> C2_PAGE_SHIFT;
    enum frames_answer answer = frames_choose(frames, placer, vpn, size, &member);
    *frame = member << 9 * (unsigned)size;
    for (uint64_t i = 0; answer == FRAMES_PLACED && i < count; i++) {
        if (placer->policy->placement == MMU_BUDDY)
            hide(frames, *frame + i);
        else
            frames_take(frames, *frame + i);
    }
    return answer;
}

/* ------------------------------------------------------------------ page tables */

bool frames_take_top(struct frames *frames, uint64_t *frame)
{
    if (frames->buddy) {
        *frame = buddy_take_for_table(frames->buddy);
        if (*frame != BUDDY_NONE)
            hide(frames, *frame);
        return *frame != BUDDY_NONE;
    }
    const struct frame_set *set = &frames->all[0];
    uint64_t free_count = frame_set_free_count(set);
    if (free_count == 0)
        return false;
    *frame = frame_set_nth_free(set, free_count - 1);
    hide(frames, *frame);
    return true;
}

uint64_t frames_total(const struct frames *frames) { return frames->all[0].count; }

uint64_t frames_taken(const struct frames *frames) { return frames->all[0].taken - frames->others - frames->idle; }

/* Of one policy. With an age it shows only later what other programs have. */
static uint64_t guaranteed_by(const struct frames *frames, const struct mmu_config *policy)
{
    C2_PROMISE(policy->placement <= MMU_MAP);
    const uint64_t free_count = frame_set_free_count(&frames->all[0]), gone = frames->all[0].count - free_count;
    const bool colored = policy->placement == MMU_COLORED || policy->placement == MMU_SAME_COLOR;
    if (policy->placement == MMU_IDENTITY || policy->placement == MMU_MAP || policy->age != 0)
        return 0;
    if (!colored)
        return free_count;
    const uint64_t of_color = frames->all[0].count / policy->colors;
    return of_color > gone ? of_color - gone : 0;
}

uint64_t frames_guaranteed(const struct frames *frames)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < frames->placer_count; i++) {
        const uint64_t count = guaranteed_by(frames, frames->placers[i].policy);
        least = count < least ? count : least;
    }
    return least;
}

uint64_t frames_idle(const struct frames *frames) { return frames->idle; }

bool frames_is_kept(const struct frames *frames, uint64_t frame) { return bit_at(frames->kept, frame); }

bool frames_is_taken(const struct frames *frames, uint64_t frame)
{
    if (frame >= frames->all[0].count)
        return false;
    return bit_at(frames->kept, frame) ? bit_at(frames->held, frame) : frame_set_is_taken(&frames->all[0], frame);
}

/* ------------------------------------------------------------------ check */

static void check_kept(const struct frames *frames)
{
    uint64_t idle = 0;
    for (uint64_t frame = 0; frame < frames->all[0].count; frame++) {
        bool kept = bit_at(frames->kept, frame), held = bit_at(frames->held, frame);
        C2_ASSERT(!kept || frame_set_is_taken(&frames->all[0], frame));
        C2_ASSERT(kept || !held);
        idle += kept && !held;
    }
    C2_ASSERT(idle == frames->idle);
}

static void frames_check_hints(const struct frames *frames, const struct placer *placer)
{
    for (unsigned i = 0; i < MMU_PAGE_SIZES && placer->hint[i]; i++) {
        enum mmu_page_size size = (enum mmu_page_size)i;
        uint64_t colors = colors_of(placer, size);
        for (uint64_t member = 0; member < frames->all[i].count; member++) {
            bool mine = placer->policy->placement == MMU_COLORED || member % colors == own_color(placer, size);
            C2_ASSERT(!mine || frame_set_is_taken(&frames->all[i], member) ||
                      *hint_of(placer, member % colors, size) <= member);
        }
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
    if (frames->kept)
        check_kept(frames);
    for (size_t i = 0; i < frames->placer_count; i++)
        frames_check_hints(frames, &frames->placers[i]);
    if (!frames->buddy)
        return;
    buddy_check(frames->buddy);
    buddy_each_free(frames->buddy, check_piece, (void *)(uintptr_t)frames);
    C2_ASSERT(buddy_free_frames(frames->buddy) == frame_set_free_count(&frames->all[0]));
}
