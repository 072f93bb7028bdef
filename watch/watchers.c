/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "watch/watcher.h"

void watchers_add(struct watchers *watchers, struct watcher watcher)
{
    C2_ASSERT(watchers->count < sizeof watchers->list / sizeof watchers->list[0]);
    watchers->list[watchers->count++] = watcher;
}

/* ------------------------------------------------------------------ places that are reached */

static enum c2_status any_wants(bool *out, void *self, struct guest_va pc, struct c2_error *err)
{
    const struct watchers *watchers = self;
    enum c2_status status = C2_OK;
    *out = false;
    for (unsigned i = 0; i < watchers->count && status == C2_OK; i++) {
        const struct engine_watch *watch = &watchers->list[i].reached;
        bool wanted = false;
        status = watch->wants(&wanted, watch->self, pc, err);
        *out |= wanted;
    }
    return status;
}

static bool any_splits(void *self, struct guest_va pc)
{
    const struct watchers *watchers = self;
    for (unsigned i = 0; i < watchers->count; i++) {
        const struct engine_watch *watch = &watchers->list[i].reached;
        if (watch->splits && watch->splits(watch->self, pc))
            return true;
    }
    return false;
}

static enum c2_status all_reached(void *self, struct engine *engine, struct guest_va pc, struct c2_error *err)
{
    const struct watchers *watchers = self;
    enum c2_status status = C2_OK;
    for (unsigned i = 0; i < watchers->count && status == C2_OK; i++) {
        const struct engine_watch *watch = &watchers->list[i].reached;
        status = watch->reached(watch->self, engine, pc, err);
    }
    return status;
}

struct engine_watch watchers_reached(struct watchers *watchers)
{
    struct engine_watch watch = {.self = watchers, .wants = any_wants, .splits = any_splits, .reached = all_reached};
    for (unsigned i = 0; i < watchers->count; i++)
        watch.guards |= watchers->list[i].reached.guards;
    return watchers->count == 0 ? (struct engine_watch){0} : watch;
}

/* ------------------------------------------------------------------ what becomes of threads */

#define EACH(watcher, watchers, call) \
    for (const struct watcher *watcher = (watchers)->list; watcher < (watchers)->list + (watchers)->count; watcher++) \
        if (watcher->calls->call)

enum c2_status watchers_switched(struct watchers *watchers, struct engine *engine, uint32_t thread,
                                 struct c2_error *err)
{
    enum c2_status status = C2_OK;
    EACH(watcher, watchers, switched)
    status = status == C2_OK ? watcher->calls->switched(watcher->self, engine, thread, err) : status;
    return status;
}

enum c2_status watchers_started(struct watchers *watchers, struct engine *engine, const struct watch_thread *thread,
                                struct c2_error *err)
{
    enum c2_status status = C2_OK;
    EACH(watcher, watchers, started)
    status = status == C2_OK ? watcher->calls->started(watcher->self, engine, thread, err) : status;
    return status;
}

enum c2_status watchers_exited(struct watchers *watchers, struct engine *engine, uint32_t thread, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    EACH(watcher, watchers, exited)
    status = status == C2_OK ? watcher->calls->exited(watcher->self, engine, thread, err) : status;
    return status;
}

enum c2_status watchers_interrupted(struct watchers *watchers, uint64_t rsp, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    EACH(watcher, watchers, interrupted)
    status = status == C2_OK ? watcher->calls->interrupted(watcher->self, rsp, err) : status;
    return status;
}

void watchers_resumed(struct watchers *watchers)
{
    EACH(watcher, watchers, resumed)
    watcher->calls->resumed(watcher->self);
}

void watchers_pointed(struct watchers *watchers, uint64_t pointer)
{
    EACH(watcher, watchers, pointed)
    watcher->calls->pointed(watcher->self, pointer);
}

void watchers_checkpoint(struct watchers *watchers, struct checkpoint *checkpoint)
{
    EACH(watcher, watchers, checkpoint)
    watcher->calls->checkpoint(watcher->self, checkpoint);
}

void watchers_release(struct watchers *watchers)
{
    EACH(watcher, watchers, destroy)
    watcher->calls->destroy(watcher->self);
    watchers->count = 0;
}
