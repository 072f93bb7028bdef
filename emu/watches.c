/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * watches: who is to be told where the guest comes to, and the one whom the engine tells.
 */
#include "emu/emu_priv.h"

#include "watch/allocations.h"
#include "watch/arguments.h"
#include "watch/arrival.h"
#include "watch/barriers.h"
#include "watch/locals.h"
#include "watch/parts.h"

static enum c2_status any_wants(bool *out, void *self, struct guest_va pc, struct c2_error *err)
{
    const struct emu_process *process = &((const struct emu *)self)->process;
    enum c2_status status = C2_OK;
    *out = false;
    for (unsigned i = 0; i < process->watch_count && status == C2_OK; i++) {
        bool wanted = false;
        status = process->watches[i].wants(&wanted, process->watches[i].self, pc, err);
        *out |= wanted;
    }
    return status;
}

static bool any_splits(void *self, struct guest_va pc)
{
    const struct emu_process *process = &((const struct emu *)self)->process;
    for (unsigned i = 0; i < process->watch_count; i++) {
        const struct engine_watch *watch = &process->watches[i];
        if (watch->splits && watch->splits(watch->self, pc))
            return true;
    }
    return false;
}

static enum c2_status all_reached(void *self, struct engine *engine, struct guest_va pc, struct c2_error *err)
{
    const struct emu_process *process = &((const struct emu *)self)->process;
    enum c2_status status = C2_OK;
    for (unsigned i = 0; i < process->watch_count && status == C2_OK; i++)
        status = process->watches[i].reached(process->watches[i].self, engine, pc, err);
    return status;
}

static void add_watch(struct emu *emu, struct engine_watch watch)
{
    C2_ASSERT(emu->process.watch_count < sizeof emu->process.watches / sizeof emu->process.watches[0]);
    emu->process.watches[emu->process.watch_count++] = watch;
}

struct engine_watch emu_watch(struct emu *emu)
{
    struct engine_watch watch = {.self = emu, .wants = any_wants, .splits = any_splits, .reached = all_reached};
    for (unsigned i = 0; i < emu->process.watch_count; i++)
        watch.guards |= emu->process.watches[i].guards;
    return emu->process.watch_count == 0 ? (struct engine_watch){0} : watch;
}

static enum c2_status make_allocations(struct emu *emu, const struct loader_image *image, struct c2_error *err)
{
    const struct emu_config *config = &emu->config;
    if (!config->mark_allocations || !config->writer)
        return C2_OK;
    C2_ASSERT(config->symbols);
    const struct allocations_config allocations = {config->mmu, config->symbols, config->wrappers,
                                                   config->wrapper_count};
    enum c2_status status = allocations_create(&emu->process.allocations, &allocations, err);
    if (status == C2_OK)
        status = locals_create(&emu->process.locals, config->mmu, config->symbols,
                               (struct guest_va){image->program_entry}, err);
    if (status != C2_OK)
        return status;
    add_watch(emu, allocations_watch(emu->process.allocations));
    add_watch(emu, locals_watch(emu->process.locals));
    return C2_OK;
}

static enum c2_status make_arrival(struct emu *emu, const struct loader_image *image, struct c2_error *err)
{
    const struct emu_config *config = &emu->config;
    if (!config->moment.place)
        return C2_OK;
    const struct arrival_config arrival = {config->mmu, config->symbols, image, config->moment.place,
                                           config->moment.arrival};
    enum c2_status status = arrival_create(&emu->process.arrival, &arrival, err);
    if (status == C2_OK)
        add_watch(emu, arrival_watch(emu->process.arrival));
    return status;
}

static enum c2_status make_regions(struct emu *emu, const struct loader_image *image, struct c2_error *err)
{
    const struct emu_config *config = &emu->config;
    if (!config->regions)
        return C2_OK;
    C2_ASSERT(config->symbols && config->phase);
    const struct parts_config regions = {config->mmu, config->symbols, image, config->regions};
    enum c2_status status = parts_create(&emu->process.parts, &regions, err);
    if (status == C2_OK)
        add_watch(emu, parts_watch(emu->process.parts));
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
        add_watch(emu, arguments_watch(emu->process.arguments));
    return status;
}

static uint32_t count_threads(void *self) { return schedule_count(((struct emu *)self)->schedule); }
static uint32_t running_thread(void *self) { return schedule_running(((struct emu *)self)->schedule)->number; }

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
    enum c2_status status = barriers_create(&emu->process.barriers, &barriers, err);
    if (status == C2_OK)
        add_watch(emu, barriers_watch(emu->process.barriers));
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

void emu_release_watches(struct emu *emu)
{
    allocations_destroy(emu->process.allocations);
    locals_destroy(emu->process.locals);
    parts_destroy(emu->process.parts);
    arrival_destroy(emu->process.arrival);
    arguments_destroy(emu->process.arguments);
    barriers_destroy(emu->process.barriers);
}
