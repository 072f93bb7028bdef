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
#include "watch/parts.h"

#include "watch/requests.h"

enum { RSP = 4 };

struct parts {
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

static void parts_begin(struct parts *parts, uint32_t region, struct guest_va pc)
{
    parts->in_region = parts->part.begins = true;
    parts->part.region = region;
    parts->part.entry = pc;
}

static void parts_end(struct parts *parts) { parts->in_region = parts->part.begins = false; }

/* The run stops where the part becomes another one. */
static bool parts_settle(struct parts *parts)
{
    struct watch_part *part = &parts->part;
    const enum watch_where before = part->where;
    part->where = !parts->in_region || !parts->instrumented ? WATCH_OUTSIDE
                  : parts->collecting                       ? WATCH_INSIDE
                                                            : WATCH_UNCOUNTED;
    const bool begins = part->begins && part->where != WATCH_OUTSIDE;
    return part->where != before || begins || part->dump || part->zeroes;
}

/* ------------------------------------------------------------------ calls */

static void enter_call(struct parts *parts, struct engine *engine, struct guest_va pc)
{
    const uint64_t rsp = engine_gpr(engine, RSP);
    const struct mmu_area *area = mmu_area_at(mmu_areas(parts->mmu), (struct guest_va){rsp}, false);
    const uint64_t top = area ? area->start.v + area->bytes : rsp;
    parts->guard_from = rsp + 1;
    parts->guard_bytes = top - rsp;
    parts->guarded = parts->thread;
    engine_guard(engine, (struct guest_va){parts->guard_from}, parts->guard_bytes);
    parts_begin(parts, parts->called, pc);
}

static void leave_call(struct parts *parts, struct engine *engine)
{
    parts->guard_bytes = 0;
    engine_guard(engine, (struct guest_va){0}, 0);
    parts_end(parts);
}

/* A call that ends where another one begins is two. */
static void follow_calls(struct parts *parts, struct engine *engine, struct guest_va pc)
{
    if (parts->in_region && engine_beyond(engine))
        leave_call(parts, engine);
    if (!parts->in_region && parts->called != NOWHERE)
        enter_call(parts, engine, pc);
}

/* ------------------------------------------------------------------ places */

/* n: 0 for each arrival. */
static bool counts(uint64_t *seen, uint64_t n) { return ++*seen == n || n == 0; }

/* Where both are one place, each arrival ends what the last one began. */
static void follow_places(struct parts *parts, struct guest_va pc)
{
    if (parts->at_to && counts(&parts->to_seen, parts->asked.to_arrival) && parts->in_region)
        parts_end(parts);
    if (parts->at_from && counts(&parts->from_seen, parts->asked.from_arrival) && !parts->in_region)
        parts_begin(parts, 0, pc);
}

/* ------------------------------------------------------------------ requests */

/* What ends counting takes effect in front of the request, what begins it behind. */
static void before_request(struct parts *parts)
{
    switch (parts->request.number) {
    case REQUESTS_STOP:
        parts->instrumented = false;
        break;
    case REQUESTS_TOGGLE:
        if (!parts->collecting)
            return;
        parts->collecting = false;
        break;
    case REQUESTS_DUMP:
    case REQUESTS_DUMP_AT:
        parts->part.dump = parts->request.text;
        break;
    default:
        return;
    }
    parts->request_pc = 0;
}

static void behind_request(struct parts *parts)
{
    const bool alone = parts->place_count == 0;
    parts->request_pc = 0;
    if (parts->request.number == REQUESTS_ZERO)
        parts->part.zeroes = true;
    if (parts->request.number == REQUESTS_TOGGLE)
        parts->collecting = true;
    if (parts->request.number == REQUESTS_START && !parts->instrumented) {
        parts->instrumented = true;
        if (alone)
            parts_begin(parts, 0, (struct guest_va){0});
    }
}

static void follow_requests(struct parts *parts, struct engine *engine, struct guest_va pc)
{
    enum { INSTRUCTIONS = 5 };
    const uint64_t now = engine_instructions(engine);
    if (parts->request_pc + REQUESTS_BYTES == pc.v && parts->request_at + INSTRUCTIONS == now)
        behind_request(parts);
    const bool again = parts->seen_pc == pc.v && parts->seen_at == now; /* its first instruction faulted */
    parts->seen_pc = pc.v;
    parts->seen_at = now;
    if (again || !requests_at(parts->mmu, pc) || !requests_read(&parts->request, parts->mmu, engine))
        return;
    parts->request_pc = pc.v;
    parts->request_at = now;
    before_request(parts);
}

/* ------------------------------------------------------------------ the guest comes somewhere */

static enum c2_status parts_arrived(void *self, struct engine *engine, uint32_t place, struct guest_va pc,
                                    struct c2_error *err)
{
    struct parts *parts = self;
    (void)engine, (void)pc, (void)err;
    parts->at_from |= place == parts->from;
    parts->at_to |= place == parts->to;
    if (place < parts->asked.function_count && place < parts->called)
        parts->called = place;
    return C2_OK;
}

static bool is_request(const struct parts *parts, struct guest_va pc)
{
    return parts->asked.requests &&
           (requests_at(parts->mmu, pc) || requests_at(parts->mmu, (struct guest_va){pc.v - REQUESTS_BYTES}));
}

static enum c2_status parts_wants(bool *out, void *self, struct guest_va pc, struct c2_error *err)
{
    const struct parts *parts = self;
    const struct engine_watch watch = places_watch(parts->places);
    enum c2_status status = watch.wants(out, watch.self, pc, err);
    *out |= is_request(parts, pc);
    return status;
}

static bool parts_splits(void *self, struct guest_va pc)
{
    const struct parts *parts = self;
    const struct engine_watch watch = places_watch(parts->places);
    return watch.splits(watch.self, pc) || is_request(parts, pc);
}

static enum c2_status parts_reached(void *self, struct engine *engine, struct guest_va pc, struct c2_error *err)
{
    struct parts *parts = self;
    const struct engine_watch watch = places_watch(parts->places);
    parts->at_from = parts->at_to = false;
    parts->called = NOWHERE;
    enum c2_status status = watch.reached(watch.self, engine, pc, err);
    if (status != C2_OK)
        return status;
    if (parts->asked.function_count != 0)
        follow_calls(parts, engine, pc);
    else
        follow_places(parts, pc);
    if (parts->asked.requests)
        follow_requests(parts, engine, pc);
    if (parts_settle(parts)) {
        parts->changed = true;
        engine_stop(engine);
    }
    return C2_OK;
}

struct watch_part parts_part(struct parts *parts)
{
    struct watch_part *part = &parts->part, told = parts->part;
    told.begins = part->begins && part->where != WATCH_OUTSIDE;
    part->begins = part->begins && !told.begins;
    part->dump = NULL;
    part->zeroes = false;
    parts->changed = false;
    return told;
}

static enum c2_status parts_switched(void *self, struct engine *engine, uint32_t thread, struct c2_error *err)
{
    struct parts *parts = self;
    (void)err;
    const bool waits = parts->guard_bytes != 0 && parts->guarded == thread;
    parts->thread = thread;
    if (parts->asked.function_count != 0)
        engine_guard(engine, (struct guest_va){waits ? parts->guard_from : 0}, waits ? parts->guard_bytes : 0);
    return C2_OK;
}

static void watch_parts_destroy(void *self) { parts_destroy(self); }

struct watcher parts_watch(struct parts *parts)
{
    static const struct watch_calls calls = {.switched = parts_switched, .destroy = watch_parts_destroy};
    const struct engine_watch watch = {.self = parts,
                                       .wants = parts_wants,
                                       .splits = parts_splits,
                                       .reached = parts_reached,
                                       .guards = parts->asked.function_count != 0};
    return (struct watcher){parts, watch, &calls};
}

bool parts_changed(const struct parts *parts) { return parts->changed; }

/* ------------------------------------------------------------------ life */

/* The places as one list. */
static struct places_config parts_describe(struct parts *parts, const struct parts_config *config)
{
    const struct watch_regions *asked = config->asked;
    struct places_config places = {.mmu = config->mmu,
                                   .symbols = config->symbols,
                                   .image = config->image,
                                   .list = asked->functions,
                                   .count = asked->function_count,
                                   .arrived = parts_arrived,
                                   .self = parts};
    if (asked->function_count != 0)
        return places;
    places.list = parts->ends;
    if (asked->from) {
        parts->from = places.count++;
        parts->ends[parts->from] = *asked->from;
    }
    if (asked->to) {
        parts->to = places.count++;
        parts->ends[parts->to] = *asked->to;
    }
    return places;
}

enum c2_status parts_create(struct parts **out, const struct parts_config *config, struct c2_error *err)
{
    *out = NULL;
    struct parts *parts = c2_calloc(1, sizeof *parts);
    if (!parts)
        return c2_fail_memory(err, "the regions of the run");
    parts->asked = *config->asked;
    parts->mmu = config->mmu;
    parts->thread = 1;
    parts->from = parts->to = NOWHERE;
    parts->instrumented = !config->asked->requests || config->asked->instrumented;
    parts->collecting = !config->asked->requests || config->asked->collecting;
    const struct places_config places = parts_describe(parts, config);
    parts->place_count = places.count;
    if (config->asked->function_count == 0 && !config->asked->from)
        parts_begin(parts, 0, (struct guest_va){places.count == 0 ? 0 : config->image->entry});
    parts_settle(parts);
    enum c2_status status = places_create(&parts->places, &places, err);
    if (status == C2_OK)
        *out = parts;
    else
        parts_destroy(parts);
    return status;
}

void parts_destroy(struct parts *parts)
{
    if (!parts)
        return;
    places_destroy(parts->places);
    c2_free(parts);
}

enum c2_status parts_find(struct parts *parts, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < parts->place_count && status == C2_OK; i++)
        status = places_find(parts->places, i, err);
    return status;
}

void parts_check(const struct parts *parts) { places_check(parts->places); }
