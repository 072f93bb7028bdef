/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * watches: which modules watch the guest, by what the configuration requests. From then on they are a table
 * (watch/watcher.h).
 */
#include "emu/emu_priv.h"

#include "watch/allocations.h"
#include "watch/arguments.h"
#include "watch/arrival.h"
#include "watch/barriers.h"
#include "watch/locals.h"
#include "watch/region_tracker.h"

static enum c2_status make_allocations(struct emu *emu, const struct loader_image *image, struct c2_error *err)
{
    const struct emu_config *config = &emu->config;
    if (!config->mark_allocations || !config->writer)
        return C2_OK;
    C2_ASSERT(config->symbols);
    const struct allocations_config allocations = {config->mmu, config->symbols, config->wrappers,
                                                   config->wrapper_count};
    enum c2_status status = allocations_create(&emu->process.allocations, &allocations, err);
    if (status != C2_OK)
        return status;
    watchers_add(&emu->process.watchers, allocations_watch(emu->process.allocations));
    struct locals *locals;
    status = locals_create(&locals, config->mmu, config->symbols, (struct guest_va){image->program_entry}, err);
    if (status == C2_OK)
        watchers_add(&emu->process.watchers, locals_watch(locals));
    return status;
}

static enum c2_status make_arrival(struct emu *emu, const struct loader_image *image, struct c2_error *err)
{
    const struct emu_config *config = &emu->config;
    if (!config->checkpoint_trigger.place)
        return C2_OK;
    const struct arrival_config arrival = {config->mmu, config->symbols, image, config->checkpoint_trigger.place,
                                           config->checkpoint_trigger.arrival};
    enum c2_status status = arrival_create(&emu->process.arrival, &arrival, err);
    if (status == C2_OK)
        watchers_add(&emu->process.watchers, arrival_watch(emu->process.arrival));
    return status;
}

static enum c2_status make_regions(struct emu *emu, const struct loader_image *image, struct c2_error *err)
{
    const struct emu_config *config = &emu->config;
    if (!config->regions)
        return C2_OK;
    C2_ASSERT(config->symbols && config->phase);
    const struct region_tracker_config regions = {config->mmu, config->symbols, image, config->regions};
    enum c2_status status = region_tracker_create(&emu->process.region_tracker, &regions, err);
    if (status == C2_OK)
        watchers_add(&emu->process.watchers, region_tracker_watch(emu->process.region_tracker));
    return status;
}

static enum c2_status make_arguments(struct emu *emu, const struct loader_image *image, struct c2_error *err)
{
    const struct emu_config *config = &emu->config;
    if (config->argued_count == 0 || !config->writer)
        return C2_OK;
    C2_ASSERT(config->symbols);
    const struct arguments_config arguments = {config->mmu, config->symbols, image, config->argued,
                                               config->argued_count};
    enum c2_status status = arguments_create(&emu->process.arguments, &arguments, err);
    if (status == C2_OK)
        watchers_add(&emu->process.watchers, arguments_watch(emu->process.arguments));
    return status;
}

static uint32_t count_threads(void *self) { return schedule_count(((struct emu *)self)->schedule); }
static uint32_t running_thread(void *self)
{
    C2_PROMISE(schedule_running(((struct emu *)self)->schedule));
    return schedule_running(((struct emu *)self)->schedule)->number;
}

static bool others_wait(void *self, uint64_t now, bool (*come)(void *barriers, uint32_t thread, uint64_t rsp),
                        void *barriers)
{
    enum { RSP = 4 };
    struct schedule *schedule = ((struct emu *)self)->schedule;
    for (uint32_t i = 0; i < schedule_count(schedule); i++) {
        const struct emu_thread *thread = schedule_at(schedule, i);
        if (thread != schedule_running(schedule) && !come(barriers, thread->number, thread->cpu.gpr[RSP]) &&
            !schedule_waits(schedule, i, now))
            return false;
    }
    return true;
}

static enum c2_status make_barriers(struct emu *emu, struct c2_error *err)
{
    const struct emu_config *config = &emu->config;
    if (!config->mark_barriers || !config->writer)
        return C2_OK;
    C2_ASSERT(config->symbols);
    const struct barriers_config barriers = {
        config->mmu, config->symbols, {emu, count_threads, running_thread, others_wait}};
    struct barriers *made;
    enum c2_status status = barriers_create(&made, &barriers, err);
    if (status == C2_OK)
        watchers_add(&emu->process.watchers, barriers_watch(made));
    return status;
}

enum c2_status emu_make_watches(struct emu *emu, const struct loader_image *image, struct c2_error *err)
{
    enum c2_status status = make_allocations(emu, image, err);
    if (status == C2_OK)
        status = make_regions(emu, image, err);
    if (status == C2_OK)
        status = make_arrival(emu, image, err);
    if (status == C2_OK)
        status = make_arguments(emu, image, err);
    return status == C2_OK ? make_barriers(emu, err) : status;
}
