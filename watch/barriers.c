/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Barriers are calls of the functions of family[], which are found by name in every file that code is executed from.
 *   A thread that enters one has come there, until it has returned: RSP is above the return address, or that was
 *   overwritten. When each of the other threads has come to a barrier, or waits for something, what all have done so
 *   far is before whatever they do next: there the mark is made, at the entry of the last one, and none counts as
 *   having come any longer. The beginning of an OpenMP region is such a point as well, for the thread that begins it.
 *   A program with one thread has no barriers.
 * Counting
 *   A call started twice (its first instruction faulted) is one.
 * Cost
 *   Nothing where no marks are requested. Else the names of the files that code comes from are looked through, and a
 *   call of the family costs about a microsecond.
 * Not modelled
 *   Barriers of a part of the threads, while others work: no mark, though these would be ordered. Barriers that threads
 *   make of mutexes or atomic variables, or that a library has inlined. A thread of OpenMP that still spins after a
 *   region when the next one begins: no mark there.
 */
#include "watch/barriers.h"

#include <string.h>

#include "watch/callers_priv.h"
#include "watch/modules_priv.h"

enum { RSP = 4 };
enum kind { KIND_BARRIER = 1, KIND_REGION };

static const struct {
    const char *name;
    enum kind kind;
} family[] = {
    {"pthread_barrier_wait", KIND_BARRIER}, {"GOMP_barrier", KIND_BARRIER}, {"GOMP_barrier_cancel", KIND_BARRIER},
    {"__kmpc_barrier", KIND_BARRIER},       {"GOMP_parallel", KIND_REGION}, {"__kmpc_fork_call", KIND_REGION},
};

/* A thread that has come to a barrier: the place of its return address, and what it is. */
struct arrival {
    uint32_t thread;
    uint64_t rsp, site;
};

struct barriers {
    struct barriers_config config;
    struct modules *modules;
    struct c2_map *kinds; /* entry -> enum kind */
    struct arrival *arrivals;
    uint32_t count, room;
    uint64_t told_pc, told_at; /* the last entry: where, and after how many instructions */
};

/* ------------------------------------------------------------------ names */

static enum c2_status barriers_note_entry(void *self, const char *name, struct guest_va entry, bool resolver,
                                          struct c2_error *err)
{
    struct barriers *barriers = self;
    const size_t bare = strcspn(name, "@");
    for (size_t i = 0; i < sizeof family / sizeof *family && !resolver; i++) {
        if (strlen(family[i].name) != bare || strncmp(name, family[i].name, bare) != 0)
            continue;
        enum c2_status status = c2_map_put(barriers->kinds, entry.v, family[i].kind, err);
        return status == C2_OK ? modules_keep(barriers->modules, entry, entry.v, err) : status;
    }
    return C2_OK;
}

static enum c2_status barriers_read_names(void *self, struct guest_va code, struct c2_error *err)
{
    struct barriers *barriers = self;
    const struct loader_entry_listener listener = {barriers, barriers_note_entry};
    return loader_function_entries(barriers->config.symbols, code, &listener, err);
}

static void barriers_forget_entry(void *self, uint64_t entry)
{
    c2_map_remove(((struct barriers *)self)->kinds, entry);
}

/* ------------------------------------------------------------------ arrivals */

static struct arrival *arrival_of(struct barriers *barriers, uint32_t thread)
{
    for (uint32_t i = 0; i < barriers->count; i++)
        if (barriers->arrivals[i].thread == thread)
            return &barriers->arrivals[i];
    return NULL;
}

static enum c2_status barriers_arrive(struct barriers *barriers, struct engine *engine, uint32_t thread,
                                      struct c2_error *err)
{
    struct arrival *arrival = arrival_of(barriers, thread), come = {thread, engine_gpr(engine, RSP), 0};
    if (!guest_word(barriers->config.mmu, come.rsp, &come.site))
        return C2_OK;
    if (!arrival && !c2_grow((void **)&barriers->arrivals, &barriers->room, barriers->count, sizeof come))
        return c2_fail_memory(err, "threads at a barrier");
    *(arrival ? arrival : &barriers->arrivals[barriers->count++]) = come;
    return C2_OK;
}

/* Of one that does not run. */
static bool barriers_is_there(void *self, uint32_t thread, uint64_t rsp)
{
    struct barriers *barriers = self;
    const struct arrival *arrival = arrival_of(barriers, thread);
    uint64_t site;
    return arrival && rsp <= arrival->rsp && guest_word(barriers->config.mmu, arrival->rsp, &site) &&
           site == arrival->site;
}

/* ------------------------------------------------------------------ the guest comes there */

static enum c2_status barriers_wants(bool *out, void *self, struct guest_va pc, struct c2_error *err)
{
    struct barriers *barriers = self;
    uint64_t kind;
    enum c2_status status = modules_know(barriers->modules, pc, err);
    *out = c2_map_get(barriers->kinds, pc.v, &kind);
    return status;
}

static bool barriers_splits(void *self, struct guest_va pc)
{
    uint64_t kind;
    return c2_map_get(((const struct barriers *)self)->kinds, pc.v, &kind);
}

static enum c2_status barriers_reached(void *self, struct engine *engine, struct guest_va pc, struct c2_error *err)
{
    struct barriers *barriers = self;
    const struct barriers_threads *threads = &barriers->config.threads;
    const uint64_t now = engine_instructions(engine);
    uint64_t kind;
    if (!c2_map_get(barriers->kinds, pc.v, &kind) || threads->count(threads->self) < 2 ||
        (barriers->told_pc == pc.v && barriers->told_at == now))
        return C2_OK;
    barriers->told_pc = pc.v;
    barriers->told_at = now;
    enum c2_status status = C2_OK;
    if (kind == KIND_BARRIER)
        status = barriers_arrive(barriers, engine, threads->running(threads->self), err);
    if (status != C2_OK || !threads->others_wait(threads->self, now, barriers_is_there, barriers))
        return status;
    barriers->count = 0;
    return engine_mark(engine, STREAM_BARRIER, NULL, 0, err);
}

static void watch_barriers_destroy(void *self) { barriers_destroy(self); }

struct watcher barriers_watch(struct barriers *barriers)
{
    static const struct watch_calls calls = {.destroy = watch_barriers_destroy};
    return (struct watcher){
        barriers,
        {.self = barriers, .wants = barriers_wants, .splits = barriers_splits, .reached = barriers_reached},
        &calls};
}

/* ------------------------------------------------------------------ life */

enum c2_status barriers_create(struct barriers **out, const struct barriers_config *config, struct c2_error *err)
{
    *out = NULL;
    struct barriers *barriers = c2_calloc(1, sizeof *barriers);
    if (!barriers)
        return c2_fail_memory(err, "barriers of threads");
    barriers->config = *config;
    const struct modules_reader reader = {barriers, barriers_read_names, barriers_forget_entry, NULL};
    enum c2_status status = c2_map_create(&barriers->kinds, err);
    if (status == C2_OK)
        status = modules_create(&barriers->modules, config->mmu, &reader, err);
    if (status == C2_OK)
        *out = barriers;
    else
        barriers_destroy(barriers);
    return status;
}

void barriers_destroy(struct barriers *barriers)
{
    if (!barriers)
        return;
    modules_destroy(barriers->modules);
    c2_map_destroy(barriers->kinds);
    c2_free(barriers->arrivals);
    c2_free(barriers);
}
