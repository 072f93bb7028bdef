/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Where the guest comes to the first instruction of a function that is named, its six integer registers for arguments
 *   are marked, whatever they hold. Whether it came by a call, a jump or a loop is no matter here.
 * Cost
 *   About a microsecond for each time.
 * Not modelled
 *   Arguments in other registers and on the stack.
 */
#include "watch/arguments.h"

/* In the order of the calling convention. */
enum { RCX = 1, RDX = 2, RSI = 6, RDI = 7, R8 = 8, R9 = 9 };
static const uint8_t registers[STREAM_ARGUMENT_REGISTERS] = {RDI, RSI, RDX, RCX, R8, R9};

struct arguments {
    struct places *places;
    uint32_t count;
};

static enum c2_status arguments_arrived(void *self, struct engine *engine, uint32_t place, struct guest_va pc,
                                        struct c2_error *err)
{
    uint64_t words[2 + STREAM_ARGUMENT_REGISTERS] = {pc.v, place};
    (void)self;
    for (unsigned i = 0; i < STREAM_ARGUMENT_REGISTERS; i++)
        words[2 + i] = engine_gpr(engine, registers[i]);
    return engine_mark(engine, STREAM_ARGUMENTS, words, 2 + STREAM_ARGUMENT_REGISTERS, err);
}

enum c2_status arguments_create(struct arguments **out, const struct arguments_config *config, struct c2_error *err)
{
    *out = NULL;
    struct arguments *arguments = c2_calloc(1, sizeof *arguments);
    if (!arguments)
        return c2_fail_memory(err, "the arguments of functions");
    arguments->count = config->count;
    const struct places_config places = {.mmu = config->mmu,
                                         .symbols = config->symbols,
                                         .image = config->image,
                                         .list = config->functions,
                                         .count = config->count,
                                         .arrived = arguments_arrived,
                                         .self = arguments};
    enum c2_status status = places_create(&arguments->places, &places, err);
    if (status == C2_OK)
        *out = arguments;
    else
        arguments_destroy(arguments);
    return status;
}

void arguments_destroy(struct arguments *arguments)
{
    if (!arguments)
        return;
    places_destroy(arguments->places);
    c2_free(arguments);
}

static void watch_arguments_destroy(void *self) { arguments_destroy(self); }

struct watcher arguments_watch(struct arguments *arguments)
{
    static const struct watch_calls calls = {.destroy = watch_arguments_destroy};
    return (struct watcher){arguments, places_watch(arguments->places), &calls};
}

enum c2_status arguments_find(struct arguments *arguments, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < arguments->count && status == C2_OK; i++)
        status = places_find(arguments->places, i, err);
    return status;
}
