/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Arrivals are counted from where the engine begins to run; the one that counts stops the engine before the place's
 *   first instruction, when all watchers have been notified of it.
 */
#include "watch/arrival.h"

struct arrival {
    struct places *places;
    uint64_t left; /* arrivals up to it; 0: it has been */
    bool now;
};

static enum c2_status arrival_arrived(void *self, struct engine *engine, uint32_t place, struct guest_va pc,
                                      struct c2_error *err)
{
    struct arrival *arrival = self;
    (void)place, (void)pc, (void)err;
    if (arrival->left == 0 || --arrival->left != 0)
        return C2_OK;
    arrival->now = true;
    engine_stop(engine);
    return C2_OK;
}

enum c2_status arrival_create(struct arrival **out, const struct arrival_config *config, struct c2_error *err)
{
    *out = NULL;
    struct arrival *arrival = c2_calloc(1, sizeof *arrival);
    if (!arrival)
        return c2_fail_memory(err, "a place of the program");
    arrival->left = config->number;
    const struct places_config places = {.mmu = config->mmu,
                                         .symbols = config->symbols,
                                         .image = config->image,
                                         .list = config->place,
                                         .count = 1,
                                         .arrived = arrival_arrived,
                                         .self = arrival};
    enum c2_status status = places_create(&arrival->places, &places, err);
    if (status == C2_OK)
        *out = arrival;
    else
        arrival_destroy(arrival);
    return status;
}

void arrival_destroy(struct arrival *arrival)
{
    if (!arrival)
        return;
    places_destroy(arrival->places);
    c2_free(arrival);
}

static void watch_arrival_destroy(void *self) { arrival_destroy(self); }

struct watcher arrival_watch(struct arrival *arrival)
{
    static const struct watch_calls calls = {.destroy = watch_arrival_destroy};
    return (struct watcher){arrival, places_watch(arrival->places), &calls};
}

bool arrival_take(struct arrival *arrival)
{
    const bool now = arrival->now;
    arrival->now = false;
    return now;
}

enum c2_status arrival_find(struct arrival *arrival, struct c2_error *err)
{
    return places_find(arrival->places, 0, err);
}
