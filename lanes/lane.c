/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * lane: one simulated machine at the end of a stream.
 *
 * Model
 *   References go to the simulator, and from there to the analyses. What happened to the guest's memory happens again
 *   in the lane's replica of it, which has no bytes but frames, page tables and huge pages by the lane's placement;
 *   whatever remembers translations or owners hears of it then, in the order of the program. Names come from the files
 *   that the stream says are mapped.
 *
 * Invariants
 *   A lane depends on its config and on the stream alone. That nothing in the stream depends on a placement is said in
 *   lanes.c.
 *   A page is in the replica before anything refers to it, but with a region.
 *
 * Failures
 *   A lane fails where the stream asks for memory that its machine does not have. No sooner than after
 *   lane_certain_changes(); whoever feeds it lets the guest go on from later changes only when the lane has eaten them,
 *   so that a run ends at the page that could not be had, with what the program had done until then.
 */
#include "lanes/lanes.h"

/* What a change may take at most beside its page: the tables of the page, and of as many again where pages move. */
#define FRAMES_PER_CHANGE 8u

struct lane {
    struct mmu *mmu;
    struct sim *sim;
    uint64_t region_start, region_end; /* as in lane_config */
    bool loaded;                       /* STREAM_LOADED has come */
    struct loader_symbols *symbols;
    struct analyses *analyses;
    enum c2_status failed; /* in a function that cannot say so */
    struct c2_error failure;
};

uint64_t lane_certain_changes(const struct mmu_config *placement)
{
    uint64_t frames = placement->physical_bytes >> C2_PAGE_SHIFT, per_change = FRAMES_PER_CHANGE;
    const bool anywhere = placement->placement == MMU_SEQUENTIAL || placement->placement == MMU_RANDOM ||
                          placement->placement == MMU_COLORED || placement->placement == MMU_SAME_COLOR;
    if (!anywhere || placement->rule_count != 0)
        return 0;
    if (placement->placement != MMU_SEQUENTIAL && placement->placement != MMU_RANDOM)
        frames /= placement->colors;
    if (placement->huge != MMU_HUGE_NEVER)
        per_change += mmu_page_bytes(MMU_PAGE_1G) >> C2_PAGE_SHIFT;
    return frames / per_change;
}

/* ------------------------------------------------------------------ translations */

/* A failure ends the lane when the batch is done. */
static void touch(struct lane *lane, struct guest_va va)
{
    struct c2_error *err = &lane->failure;
    const bool inside = va.v >= lane->region_start && va.v < lane->region_end;
    const enum mmu_access access = inside ? MMU_ACCESS_WRITE : MMU_ACCESS_READ;
    *err = (struct c2_error){.text = "a page of the run is not mapped when it is played back"};
    if (mmu_touch(lane->mmu, va, access, err) != MMU_FAULT_NONE)
        lane->failed = err->status != C2_OK ? err->status : C2_ERR_INTERNAL;
}

static bool translate(void *self, struct guest_va va, struct guest_pa *out)
{
    struct lane *lane = self;
    if (mmu_translate(lane->mmu, va, out))
        return true;
    if (lane->region_end == 0)
        return false;
    touch(lane, va);
    if (!mmu_translate(lane->mmu, va, out))
        out->v = va.v & (C2_PAGE_BYTES - 1); /* the lane has failed: any answer does */
    return true;
}

static bool walk(void *self, struct guest_va va, struct mmu_walk *out)
{
    struct lane *lane = self;
    struct guest_pa pa;
    if (!translate(self, va, &pa))
        return false;
    if (!mmu_walk(lane->mmu, va, out))
        *out = (struct mmu_walk){.entry_count = MMU_WALK_ENTRIES};
    return true;
}

/* ------------------------------------------------------------------ who hears of memory */

static void after_change(void *self, struct guest_va start, uint64_t bytes, bool code)
{
    const struct lane *lane = self;
    (void)code;
    sim_forget(lane->sim, start, bytes);
}

/* What of [start, start + bytes) is no longer mapped belongs to nobody now. */
static void memory_lost(void *self, struct guest_va start, uint64_t bytes, bool code)
{
    struct lane *lane = self;
    const uint64_t end = start.v + bytes;
    (void)code;
    while (start.v < end && lane->failed == C2_OK) {
        const struct mmu_area *area = mmu_area_at(lane->mmu, start, true);
        const uint64_t next = !area || area->start.v > end ? end : area->start.v;
        const struct mmu_area gone = {.start = start, .bytes = next - start.v};
        if (gone.bytes != 0)
            lane->failed = sim_memory(lane->sim, false, &gone, &lane->failure);
        start.v = next < end ? area->start.v + area->bytes : end;
    }
}

static void memory_mapped(void *self, const struct mmu_area *area)
{
    struct lane *lane = self;
    if (lane->loaded && lane->failed == C2_OK)
        lane->failed = sim_memory(lane->sim, true, area, &lane->failure);
}

static enum c2_status listen(struct lane *lane, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    if (lane->sim)
        status = mmu_listen(lane->mmu, (struct mmu_listener){.self = lane, .after = after_change}, err);
    if (status == C2_OK && lane->analyses && analyses_want_memory(lane->analyses))
        status = mmu_listen(lane->mmu, (struct mmu_listener){lane, NULL, memory_lost, memory_mapped}, err);
    return status;
}

/* A program is known when all of it is in memory. */
static void program_loaded(struct lane *lane)
{
    lane->loaded = true;
    if (!lane->analyses || !analyses_want_memory(lane->analyses))
        return;
    const struct mmu_area *area = mmu_area_at(lane->mmu, (struct guest_va){0}, true);
    for (; area; area = mmu_area_at(lane->mmu, (struct guest_va){area->start.v + area->bytes}, true))
        memory_mapped(lane, area);
}

static enum c2_status change(void *self, enum stream_mark mark, const uint64_t *words, uint32_t count,
                             struct c2_error *err)
{
    struct lane *lane = self;
    struct mmu_event event;
    enum c2_status status = C2_OK;
    if (mark == STREAM_LOADED) {
        program_loaded(lane);
    } else {
        lanes_memory_event(&event, words, count);
        status = mmu_repeat(lane->mmu, &event, err);
    }
    if (status == C2_OK && lane->failed != C2_OK) {
        status = lane->failed;
        *err = lane->failure;
    }
    return status;
}

/* ------------------------------------------------------------------ life */

static enum c2_status make_analyses(struct lane *lane, const struct lane_config *config, struct c2_error *err)
{
    enum c2_status status = loader_symbols_create(&lane->symbols, lane->mmu, err);
    const struct analyses_setup setup = {
        .machine = config->machine, .symbols = lane->symbols, .given = config->given, .first = config->first};
    return status == C2_OK ? analyses_create(&lane->analyses, &setup, err) : status;
}

static enum c2_status make_sim(struct lane *lane, const struct lane_config *config, struct c2_error *err)
{
    struct sim_config sim = {.machine = config->machine,
                             .seed = config->seed,
                             .translation = {lane, translate, walk, change},
                             .blocks = config->blocks,
                             .fifo_detector = config->fifo_detector};
    if (lane->analyses)
        analyses_subscribe(lane->analyses, &sim);
    return sim_create(&lane->sim, &sim, err);
}

static enum c2_status make(struct lane *lane, const struct lane_config *config, struct c2_error *err)
{
    enum c2_status status = mmu_create_detached(&lane->mmu, &config->placement, err);
    if (status == C2_OK && config->given)
        status = make_analyses(lane, config, err);
    if (status == C2_OK && config->machine)
        status = make_sim(lane, config, err);
    return status == C2_OK ? listen(lane, err) : status;
}

enum c2_status lane_create(struct lane **out, const struct lane_config *config, struct c2_error *err)
{
    *out = NULL;
    struct lane *lane = c2_calloc(1, sizeof *lane);
    if (!lane)
        return c2_fail_memory(err, "a lane");
    lane->region_start = config->region_start;
    lane->region_end = config->region_end;
    enum c2_status status = make(lane, config, err);
    if (status != C2_OK) {
        lane_destroy(lane);
        return status;
    }
    *out = lane;
    return C2_OK;
}

void lane_destroy(struct lane *lane)
{
    if (!lane)
        return;
    sim_destroy(lane->sim);
    analyses_destroy(lane->analyses);
    loader_symbols_destroy(lane->symbols);
    mmu_destroy(lane->mmu);
    c2_free(lane);
}

/* ------------------------------------------------------------------ eating */

/* Without a simulator: marks of memory alone. */
static enum c2_status place_only(struct lane *lane, const struct stream_batch *batch, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < batch->used && status == C2_OK; i += 1 + stream_header_slots(batch->words[i])) {
        const uint64_t header = batch->words[i];
        const enum stream_mark mark = (enum stream_mark)stream_header_insns(header);
        if (stream_header_block(header) == STREAM_MARK && mark == STREAM_MEMORY)
            status = change(lane, mark, &batch->words[i + 1], stream_header_slots(header), err);
    }
    return status;
}

enum c2_status lane_consume(struct lane *lane, const struct stream_batch *batch, struct c2_error *err)
{
    struct c2_error why;
    enum c2_status status = lane->sim ? sim_consume(lane->sim, batch, &why) : place_only(lane, batch, &why);
    if (lane->failed != C2_OK) { /* that came first */
        status = lane->failed;
        why = lane->failure;
    }
    return status == C2_OK ? C2_OK : c2_fail(err, status, "%s", why.text);
}

enum c2_status lane_finish(struct lane *lane, struct c2_error *err)
{
    return lane->sim ? sim_finish(lane->sim, err) : C2_OK;
}

const struct mmu *lane_mmu(const struct lane *lane) { return lane->mmu; }
const struct sim *lane_sim(const struct lane *lane) { return lane->sim; }
struct loader_symbols *lane_symbols(const struct lane *lane) { return lane->symbols; }
struct analyses *lane_analyses(const struct lane *lane) { return lane->analyses; }
