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
 *   A lane fails where the stream asks for memory that its machine does not have. Where it may
 *   (mmu_replica_guaranteed), its feeder lets the guest go on only when the lane has eaten the change, so that a run
 *   ends at the page that could not be had, with what the program had done until then.
 */
#include <string.h>

#include "lanes/lanes_priv.h"

struct lane {
    struct mmu_replica *memory;
    struct sim *sim;
    uint64_t region_start, region_end; /* as in lane_config */
    bool loaded;                       /* STREAM_LOADED has come */
    struct loader_symbols *symbols;
    bool unnamed; /* as in the config */
    struct analyses *analyses;
    const struct lane *leader; /* whose symbols are its own; NULL: it follows none; */
    bool placed;               /* its placement is another one, and so is its memory */
    enum c2_status failed;     /* in a function that cannot say so */
    struct c2_error failure;
};

/* ------------------------------------------------------------------ translations */

/* Of a function that cannot say so; it came before anything that is known by now. */
static enum c2_status failure_of(const struct lane *lane, struct c2_error *err)
{
    return lane->failed == C2_OK ? C2_OK : c2_fail(err, lane->failed, "%s", lane->failure.text);
}

/* A failure ends the lane when the batch is done. */
static void lane_touch(struct lane *lane, struct guest_va va)
{
    const bool inside = va.v >= lane->region_start && va.v < lane->region_end;
    const uint64_t words[] = {va.v, inside ? MMU_ACCESS_WRITE : MMU_ACCESS_READ};
    if (lane->failed == C2_OK)
        lane->failed = mmu_replica_apply(lane->memory, STREAM_TOUCHED, words, 2, &lane->failure);
}

static bool lane_translate(void *self, struct guest_va va, struct guest_pa *out)
{
    struct lane *lane = self;
    if (mmu_replica_translate(lane->memory, va, out))
        return true;
    if (lane->region_end == 0)
        return false;
    lane_touch(lane, va);
    if (!mmu_replica_translate(lane->memory, va, out))
        out->v = va.v & (C2_PAGE_BYTES - 1); /* the lane has failed: any answer does */
    return true;
}

static bool lane_walk(void *self, struct guest_va va, struct mmu_walk *out)
{
    struct lane *lane = self;
    struct guest_pa pa;
    if (!lane_translate(self, va, &pa))
        return false;
    if (!mmu_replica_walk(lane->memory, va, out))
        *out = (struct mmu_walk){.entry_count = MMU_WALK_ENTRIES};
    return true;
}

/* ------------------------------------------------------------------ changes of memory */

static void lane_after_change(void *self, struct guest_va start, uint64_t bytes, bool code)
{
    const struct lane *lane = self;
    (void)code; /* a follower's simulator takes notice only */
    sim_forget(lane->sim, start, bytes);
}

/* What of [start, start + bytes) is no longer mapped has no owner now. */
static void memory_lost(void *self, struct guest_va start, uint64_t bytes, bool code)
{
    struct lane *lane = self;
    const uint64_t end = start.v + bytes;
    (void)code;
    if (lane->leader)
        return;
    while (start.v < end && lane->failed == C2_OK) {
        const struct mmu_area *area = mmu_area_at(mmu_replica_areas(lane->memory), start, true);
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
    if (lane->loaded && lane->failed == C2_OK && !lane->leader)
        lane->failed = sim_memory(lane->sim, true, area, &lane->failure);
}

static enum c2_status listen(struct lane *lane, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    if (lane->sim)
        status = mmu_replica_listen(lane->memory, (struct mmu_listener){lane, lane_after_change, NULL}, err);
    if (status == C2_OK && lane->analyses && analyses_want_memory(lane->analyses))
        status = mmu_replica_listen(lane->memory, (struct mmu_listener){lane, memory_lost, memory_mapped}, err);
    return status;
}

/* A program is known when all of it is in memory. */
static void lane_program_loaded(struct lane *lane)
{
    lane->loaded = true;
    if (!lane->analyses || !analyses_want_memory(lane->analyses))
        return;
    const struct mmu_area *area = mmu_area_at(mmu_replica_areas(lane->memory), (struct guest_va){0}, true);
    for (; area;
         area = mmu_area_at(mmu_replica_areas(lane->memory), (struct guest_va){area->start.v + area->bytes}, true))
        memory_mapped(lane, area);
}

static enum c2_status lane_change(void *self, enum stream_mark mark, const uint64_t *words, uint32_t count,
                                  struct c2_error *err)
{
    struct lane *lane = self;
    enum c2_status status = C2_OK;
    if (mark == STREAM_LOADED)
        lane_program_loaded(lane);
    else
        status = mmu_replica_apply(lane->memory, mark, words, count, err);
    return status == C2_OK ? failure_of(lane, err) : status;
}

/* ------------------------------------------------------------------ life */

static enum c2_status make_analyses(struct lane *lane, const struct lane_config *config, struct c2_error *err)
{
    const struct mmu_areas *areas = mmu_replica_areas(lane->memory);
    enum c2_status status = loader_symbols_take(&lane->symbols, config->retired, areas, err);
    const struct analyses_setup setup = {.machine = config->machine,
                                         .symbols = lane->symbols,
                                         .given = config->given,
                                         .settings = config->settings,
                                         .first = config->first,
                                         .samples = config->samples,
                                         .separation = config->separation,
                                         .stacks = config->stacks,
                                         .seed = config->seed,
                                         .quantum = config->quantum,
                                         .unnamed = config->unnamed};
    return status == C2_OK ? analyses_create(&lane->analyses, &setup, err) : status;
}

static enum c2_status make_sim(struct lane *lane, const struct lane_config *config, struct c2_error *err)
{
    struct sim_config sim = {.machine = config->machine,
                             .seed = config->seed,
                             .translation = {lane, lane_translate, lane_walk, lane_change},
                             .blocks = config->blocks,
                             .samples = config->samples,
                             .apart = config->apart};
    if (lane->analyses)
        analyses_subscribe(lane->analyses, &sim);
    return sim_create(&lane->sim, &sim, err);
}

static enum c2_status lane_make(struct lane *lane, const struct lane_config *config, struct c2_error *err)
{
    enum c2_status status = mmu_replica_create(&lane->memory, &config->placement, err);
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
    lane->unnamed = config->unnamed;
    lane->region_start = config->region_start;
    lane->region_end = config->region_end;
    enum c2_status status = lane_make(lane, config, err);
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
    mmu_replica_destroy(lane->memory);
    c2_free(lane);
}

/* ------------------------------------------------------------------ following another one */

/* Rules and regions of huge pages are lent: other ones are taken to say something else. */
static bool same_rules(const struct mmu_config *one, const struct mmu_config *other)
{
    return one->rule_count == other->rule_count && (one->rule_count == 0 || one->rules == other->rules) &&
           one->huge_region_count == other->huge_region_count &&
           (one->huge_region_count == 0 || one->huge_regions == other->huge_regions);
}

/* Colours come from a machine's levels, whether the placement has any or not. */
static bool same_colors(const struct mmu_config *one, const struct mmu_config *other)
{
    const bool colored = one->placement == MMU_SAME_COLOR || one->placement == MMU_COLORED;
    return !colored || (one->colors == other->colors && one->color == other->color);
}

static bool same_frames(const struct mmu_config *one, const struct mmu_config *other)
{
    return one->physical_bytes == other->physical_bytes && one->placement == other->placement &&
           same_colors(one, other) && one->age == other->age && one->seed == other->seed &&
           strcmp(one->map, other->map) == 0 && same_rules(one, other);
}

/* The same pages, wherever they are. */
static bool similar_placement(const struct lane *lane, const struct lane *leader)
{
    const struct mmu_config *one = mmu_replica_config(lane->memory), *other = mmu_replica_config(leader->memory);
    return one->huge == other->huge && one->huge_size == other->huge_size && one->zero_page == other->zero_page;
}

static bool same_placement(const struct lane *lane, const struct lane *leader)
{
    return similar_placement(lane, leader) &&
           same_frames(mmu_replica_config(lane->memory), mmu_replica_config(leader->memory));
}

bool lane_can_follow(const struct lane *lane, const struct lane *leader)
{
    return lane->sim && leader->sim && !leader->leader && !!lane->analyses == !!leader->analyses &&
           !mmu_replica_config(lane->memory)->log_placements && similar_placement(lane, leader) &&
           sim_can_share(leader->sim, lane->sim, same_placement(lane, leader));
}

enum c2_status lane_follow(struct lane *lane, const struct lane *leader, struct c2_error *err)
{
    C2_ASSERT(lane_can_follow(lane, leader));
    lane->placed = !same_placement(lane, leader);
    lane->leader = leader;
    if (lane->analyses)
        analyses_follow(lane->analyses, leader->analyses);
    return lane->placed ? sim_follow_placed(lane->sim, err) : C2_OK;
}

struct sim *lane_simulator(struct lane *lane) { return lane->sim; }

/* ------------------------------------------------------------------ eating */

/* Without a simulator: marks of memory alone. */
static enum c2_status place_only(struct lane *lane, const struct stream_batch *batch, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < batch->used && status == C2_OK; i += 1 + stream_header_slots(batch->words[i])) {
        const uint64_t header = batch->words[i];
        const enum stream_mark mark = (enum stream_mark)stream_header_insns(header);
        if (stream_header_block(header) == STREAM_MARK && stream_changes_memory(mark))
            status = lane_change(lane, mark, &batch->words[i + 1], stream_header_slots(header), err);
    }
    return status;
}

enum c2_status lane_consume(struct lane *lane, const struct stream_batch *batch, struct c2_error *err)
{
    enum c2_status status = lane->sim ? sim_consume(lane->sim, batch, err) : place_only(lane, batch, err);
    return lane->failed == C2_OK ? status : failure_of(lane, err);
}

void lane_foresee(const struct lane *lane)
{
    if (lane->symbols && !lane->unnamed)
        loader_symbols_foresee(lane->symbols, true);
}

struct loader_symbols *lane_retire(struct lane *lane)
{
    struct loader_symbols *symbols = lane->symbols;
    lane->symbols = NULL;
    if (symbols)
        loader_symbols_retire(symbols);
    return symbols;
}

enum c2_status lane_finish(struct lane *lane, struct c2_error *err)
{
    if (lane->symbols && !lane->unnamed)
        loader_symbols_foresee(lane->symbols, false);
    return lane->sim ? sim_finish(lane->sim, err) : C2_OK;
}

const struct mmu_replica *lane_memory(const struct lane *lane)
{
    return (lane->leader && !lane->placed ? lane->leader : lane)->memory;
}

const struct sim *lane_sim(const struct lane *lane) { return lane->sim; }
struct loader_symbols *lane_symbols(const struct lane *lane) { return (lane->leader ? lane->leader : lane)->symbols; }
struct analyses *lane_analyses(const struct lane *lane) { return lane->analyses; }
