/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   A call of a function is a region from its first instruction on, until the guest jumps or returns to somewhere with
 *   the stack pointer above the return address, on the same stack: behind the RET, which is the last instruction of the
 *   region, or wherever longjmp, an exception or a return to elsewhere has taken the guest. One rule for all: no return
 *   address is believed. Within a region entries are no more than instructions of it: the outermost call counts, of a
 *   function that calls itself and of one that calls another. A tail call goes on in its place. A handler of a signal
 *   belongs to what it interrupts.
 *   Between two places: from the first instruction of the one up to that of the other.
 *   Threads: the region is the process's. It ends when the thread returns that has entered it, and what the others do
 *   meanwhile belongs to it.
 *   Requests of the program (requests.c) take parts of that away. What ends counting takes effect in front of the
 *   request's instructions, what begins it behind them: so none of them is counted.
 * Counting
 *   Arrivals at a place are counted from the beginning of the run.
 * Cost
 *   A region's beginning and its end stop the engine, a few microseconds; in between a block costs 20 ns more where
 *   the region is a call.
 * Not modelled
 *   Code on another stack (coroutines, sigaltstack) belongs to the region that it was switched to from; a region whose
 *   stack is given up while another one is used ends when the guest is on the first one again, above it. Two stacks
 *   in one mapping, where the other one lies above: going there ends the region.
 */
#include "watch/region_tracker.h"

#include "watch/requests.h"

enum { RSP = 4 };

struct region_tracker {
    struct watch_regions asked;
    struct mmu *mmu;
    struct places *places; /* the functions; or from, to */
    struct watch_place ends[2];
    uint32_t place_count;
    uint32_t from, to; /* their numbers; NOWHERE: there is none */
    uint64_t from_seen, to_seen;
    bool at_from, at_to; /* the guest has just come there */
    uint32_t called;     /* and here: the first of the functions that it has come to; NOWHERE: none */
    bool in_region;      /* whatever is requested */
    bool instrumented, collecting;
    struct requests_request request; /* the last one, ... */
    uint64_t request_pc, request_at; /* ... where and when it was made; 0: it is done with */
    uint64_t seen_pc, seen_at;       /* where the guest was last, and when */
    struct watch_part part;
    bool changed;             /* since the last request */
    uint32_t thread, guarded; /* that runs; that has made the call, whose return is waited for: on its stack, here */
    uint64_t guard_from, guard_bytes;
};
#define NOWHERE UINT32_MAX

/* ------------------------------------------------------------------ beginning and end */

static void region_tracker_begin(struct region_tracker *region_tracker, uint32_t region, struct guest_va pc)
{
    region_tracker->in_region = region_tracker->part.begins = true;
    region_tracker->part.region = region;
    region_tracker->part.entry = pc;
}

static void region_tracker_end(struct region_tracker *region_tracker)
{
    region_tracker->in_region = region_tracker->part.begins = false;
}

/* The run stops where the part becomes another one. */
static bool region_tracker_settle(struct region_tracker *region_tracker)
{
    struct watch_part *part = &region_tracker->part;
    const enum watch_where before = part->where;
    part->where = !region_tracker->in_region || !region_tracker->instrumented ? WATCH_OUTSIDE
                  : region_tracker->collecting                                ? WATCH_INSIDE
                                                                              : WATCH_UNCOUNTED;
    const bool begins = part->begins && part->where != WATCH_OUTSIDE;
    return part->where != before || begins || part->dump || part->zeroes;
}

/* ------------------------------------------------------------------ calls */

static void enter_call(struct region_tracker *region_tracker, struct engine *engine, struct guest_va pc)
{
    const uint64_t rsp = engine_gpr(engine, RSP);
    const struct mmu_area *area = mmu_area_at(mmu_areas(region_tracker->mmu), (struct guest_va){rsp}, false);
    const uint64_t top = area ? area->start.v + area->bytes : rsp;
    region_tracker->guard_from = rsp + 1;
    region_tracker->guard_bytes = top - rsp;
    region_tracker->guarded = region_tracker->thread;
    engine_guard(engine, (struct guest_va){region_tracker->guard_from}, region_tracker->guard_bytes);
    region_tracker_begin(region_tracker, region_tracker->called, pc);
}

static void leave_call(struct region_tracker *region_tracker, struct engine *engine)
{
    region_tracker->guard_bytes = 0;
    engine_guard(engine, (struct guest_va){0}, 0);
    region_tracker_end(region_tracker);
}

/* A call that ends where another one begins is two. */
static void follow_calls(struct region_tracker *region_tracker, struct engine *engine, struct guest_va pc)
{
    if (region_tracker->in_region && engine_beyond(engine))
        leave_call(region_tracker, engine);
    if (!region_tracker->in_region && region_tracker->called != NOWHERE)
        enter_call(region_tracker, engine, pc);
}

/* ------------------------------------------------------------------ places */

/* n: 0 for each arrival. */
static bool counts(uint64_t *seen, uint64_t n) { return ++*seen == n || n == 0; }

/* Where both are one place, each arrival ends what the last one began. */
static void follow_places(struct region_tracker *region_tracker, struct guest_va pc)
{
    if (region_tracker->at_to && counts(&region_tracker->to_seen, region_tracker->asked.to_arrival) &&
        region_tracker->in_region)
        region_tracker_end(region_tracker);
    if (region_tracker->at_from && counts(&region_tracker->from_seen, region_tracker->asked.from_arrival) &&
        !region_tracker->in_region)
        region_tracker_begin(region_tracker, 0, pc);
}

/* ------------------------------------------------------------------ requests */

/* What ends counting takes effect in front of the request, what begins it behind. */
static void before_request(struct region_tracker *region_tracker)
{
    switch (region_tracker->request.number) {
    case REQUESTS_STOP:
        region_tracker->instrumented = false;
        break;
    case REQUESTS_TOGGLE:
        if (!region_tracker->collecting)
            return;
        region_tracker->collecting = false;
        break;
    case REQUESTS_DUMP:
    case REQUESTS_DUMP_AT:
        region_tracker->part.dump = region_tracker->request.text;
        break;
    default:
        return;
    }
    region_tracker->request_pc = 0;
}

static void behind_request(struct region_tracker *region_tracker)
{
    const bool alone = region_tracker->place_count == 0;
    region_tracker->request_pc = 0;
    if (region_tracker->request.number == REQUESTS_ZERO)
        region_tracker->part.zeroes = true;
    if (region_tracker->request.number == REQUESTS_TOGGLE)
        region_tracker->collecting = true;
    if (region_tracker->request.number == REQUESTS_START && !region_tracker->instrumented) {
        region_tracker->instrumented = true;
        if (alone)
            region_tracker_begin(region_tracker, 0, (struct guest_va){0});
    }
}

static void follow_requests(struct region_tracker *region_tracker, struct engine *engine, struct guest_va pc)
{
    enum { INSTRUCTIONS = 5 };
    const uint64_t now = engine_instructions(engine);
    if (region_tracker->request_pc + REQUESTS_BYTES == pc.v && region_tracker->request_at + INSTRUCTIONS == now)
        behind_request(region_tracker);
    const bool again = region_tracker->seen_pc == pc.v &&
                       region_tracker->seen_at == now; /* its first instruction faulted */
    region_tracker->seen_pc = pc.v;
    region_tracker->seen_at = now;
    if (again || !requests_at(region_tracker->mmu, pc) ||
        !requests_read(&region_tracker->request, region_tracker->mmu, engine))
        return;
    region_tracker->request_pc = pc.v;
    region_tracker->request_at = now;
    before_request(region_tracker);
}

/* ------------------------------------------------------------------ the guest comes somewhere */

static enum c2_status region_tracker_arrived(void *self, struct engine *engine, uint32_t place, struct guest_va pc,
                                             struct c2_error *err)
{
    struct region_tracker *region_tracker = self;
    (void)engine, (void)pc, (void)err;
    region_tracker->at_from |= place == region_tracker->from;
    region_tracker->at_to |= place == region_tracker->to;
    if (place < region_tracker->asked.function_count && place < region_tracker->called)
        region_tracker->called = place;
    return C2_OK;
}

static bool is_request(const struct region_tracker *region_tracker, struct guest_va pc)
{
    return region_tracker->asked.requests &&
           (requests_at(region_tracker->mmu, pc) ||
            requests_at(region_tracker->mmu, (struct guest_va){pc.v - REQUESTS_BYTES}));
}

static enum c2_status region_tracker_wants(bool *out, void *self, struct guest_va pc, struct c2_error *err)
{
    const struct region_tracker *region_tracker = self;
    const struct engine_watch watch = places_watch(region_tracker->places);
    enum c2_status status = watch.wants(out, watch.self, pc, err);
    *out |= is_request(region_tracker, pc);
    return status;
}

static bool region_tracker_splits(void *self, struct guest_va pc)
{
    const struct region_tracker *region_tracker = self;
    const struct engine_watch watch = places_watch(region_tracker->places);
    return watch.splits(watch.self, pc) || is_request(region_tracker, pc);
}

static enum c2_status region_tracker_reached(void *self, struct engine *engine, struct guest_va pc,
                                             struct c2_error *err)
{
    struct region_tracker *region_tracker = self;
    const struct engine_watch watch = places_watch(region_tracker->places);
    region_tracker->at_from = region_tracker->at_to = false;
    region_tracker->called = NOWHERE;
    enum c2_status status = watch.reached(watch.self, engine, pc, err);
    if (status != C2_OK)
        return status;
    if (region_tracker->asked.function_count != 0)
        follow_calls(region_tracker, engine, pc);
    else
        follow_places(region_tracker, pc);
    if (region_tracker->asked.requests)
        follow_requests(region_tracker, engine, pc);
    if (region_tracker_settle(region_tracker)) {
        region_tracker->changed = true;
        engine_stop(engine);
    }
    return C2_OK;
}

struct watch_part region_tracker_part(struct region_tracker *region_tracker)
{
    struct watch_part *part = &region_tracker->part, told = region_tracker->part;
    told.begins = part->begins && part->where != WATCH_OUTSIDE;
    part->begins = part->begins && !told.begins;
    part->dump = NULL;
    part->zeroes = false;
    region_tracker->changed = false;
    return told;
}

static enum c2_status region_tracker_switched(void *self, struct engine *engine, uint32_t thread, struct c2_error *err)
{
    struct region_tracker *region_tracker = self;
    (void)err;
    const bool waits = region_tracker->guard_bytes != 0 && region_tracker->guarded == thread;
    region_tracker->thread = thread;
    if (region_tracker->asked.function_count != 0)
        engine_guard(engine, (struct guest_va){waits ? region_tracker->guard_from : 0},
                     waits ? region_tracker->guard_bytes : 0);
    return C2_OK;
}

static void watch_parts_destroy(void *self) { region_tracker_destroy(self); }

struct watcher region_tracker_watch(struct region_tracker *region_tracker)
{
    static const struct watch_calls calls = {.switched = region_tracker_switched, .destroy = watch_parts_destroy};
    const struct engine_watch watch = {.self = region_tracker,
                                       .wants = region_tracker_wants,
                                       .splits = region_tracker_splits,
                                       .reached = region_tracker_reached,
                                       .guards = region_tracker->asked.function_count != 0};
    return (struct watcher){region_tracker, watch, &calls};
}

bool region_tracker_changed(const struct region_tracker *region_tracker) { return region_tracker->changed; }

/* ------------------------------------------------------------------ life */

/* The places as one list. */
static struct places_config region_tracker_describe(struct region_tracker *region_tracker,
                                                    const struct region_tracker_config *config)
{
    const struct watch_regions *asked = config->asked;
    struct places_config places = {.mmu = config->mmu,
                                   .symbols = config->symbols,
                                   .image = config->image,
                                   .list = asked->functions,
                                   .count = asked->function_count,
                                   .arrived = region_tracker_arrived,
                                   .self = region_tracker};
    if (asked->function_count != 0)
        return places;
    places.list = region_tracker->ends;
    if (asked->from) {
        region_tracker->from = places.count++;
        region_tracker->ends[region_tracker->from] = *asked->from;
    }
    if (asked->to) {
        region_tracker->to = places.count++;
        region_tracker->ends[region_tracker->to] = *asked->to;
    }
    return places;
}

enum c2_status region_tracker_create(struct region_tracker **out, const struct region_tracker_config *config,
                                     struct c2_error *err)
{
    *out = NULL;
    struct region_tracker *region_tracker = c2_calloc(1, sizeof *region_tracker);
    if (!region_tracker)
        return c2_fail_memory(err, "the regions of the run");
    region_tracker->asked = *config->asked;
    region_tracker->mmu = config->mmu;
    region_tracker->thread = 1;
    region_tracker->from = region_tracker->to = NOWHERE;
    region_tracker->instrumented = !config->asked->requests || config->asked->instrumented;
    region_tracker->collecting = !config->asked->requests || config->asked->collecting;
    const struct places_config places = region_tracker_describe(region_tracker, config);
    region_tracker->place_count = places.count;
    if (config->asked->function_count == 0 && !config->asked->from)
        region_tracker_begin(region_tracker, 0, (struct guest_va){places.count == 0 ? 0 : config->image->entry});
    region_tracker_settle(region_tracker);
    enum c2_status status = places_create(&region_tracker->places, &places, err);
    if (status == C2_OK)
        *out = region_tracker;
    else
        region_tracker_destroy(region_tracker);
    return status;
}

void region_tracker_destroy(struct region_tracker *region_tracker)
{
    if (!region_tracker)
        return;
    places_destroy(region_tracker->places);
    c2_free(region_tracker);
}

enum c2_status region_tracker_find(struct region_tracker *region_tracker, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < region_tracker->place_count && status == C2_OK; i++)
        status = places_find(region_tracker->places, i, err);
    return status;
}

void region_tracker_check(const struct region_tracker *region_tracker) { places_check(region_tracker->places); }
