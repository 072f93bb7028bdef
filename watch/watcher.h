/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * watcher: what all watchers of a guest are for the loop, which calls none of them by name; and a table of them.
 */
#ifndef C2_WATCHER_H
#define C2_WATCHER_H

#include "checkpoint/checkpoint.h"
#include "engine/engine.h"

/* A thread as it begins. */
struct watch_thread {
    uint32_t number;       /* the first is 1 */
    uint64_t pointer, rsp; /* its thread pointer and stack pointer */
};

/* What a watcher is notified of, beside the places that the guest reaches (engine_watch). NULL: of nothing. */
struct watch_calls {
    /* It is the turn of the thread of this number. */
    enum c2_status (*switched)(void *self, struct engine *engine, uint32_t thread, struct c2_error *err);
    /* A thread has been started, by the one that runs. */
    enum c2_status (*started)(void *self, struct engine *engine, const struct watch_thread *thread,
                              struct c2_error *err);
    /* The thread that runs, of this number, ends. */
    enum c2_status (*exited)(void *self, struct engine *engine, uint32_t thread, struct c2_error *err);
    /* It enters a signal handler with this RSP; it has returned from the last one (rt_sigreturn). */
    enum c2_status (*interrupted)(void *self, uint64_t rsp, struct c2_error *err);
    void (*resumed)(void *self);
    /* It has set its thread pointer (FS). */
    void (*pointed)(void *self, uint64_t pointer);
    /* What is known of the process, to a checkpoint or, before anything has run, from one. */
    void (*checkpoint)(void *self, struct checkpoint *checkpoint);
    void (*destroy)(void *self);
};

struct watcher {
    void *self;
    struct engine_watch reached; /* wants, splits, reached, guards; for engine_config */
    const struct watch_calls *calls;
};

/* In the order in which they are told. */
struct watchers {
    struct watcher list[6];
    unsigned count;
};
void watchers_add(struct watchers *watchers, struct watcher watcher);
/* All of them as one, which lends the table; without any: none. */
struct engine_watch watchers_reached(struct watchers *watchers);
/* Each notifies all listeners, up to the first that fails. */
enum c2_status watchers_switched(struct watchers *watchers, struct engine *engine, uint32_t thread,
                                 struct c2_error *err);
enum c2_status watchers_started(struct watchers *watchers, struct engine *engine, const struct watch_thread *thread,
                                struct c2_error *err);
enum c2_status watchers_exited(struct watchers *watchers, struct engine *engine, uint32_t thread, struct c2_error *err);
enum c2_status watchers_interrupted(struct watchers *watchers, uint64_t rsp, struct c2_error *err);
void watchers_resumed(struct watchers *watchers);
void watchers_pointed(struct watchers *watchers, uint64_t pointer);
void watchers_checkpoint(struct watchers *watchers, struct checkpoint *checkpoint);
void watchers_release(struct watchers *watchers); /* destroys them */

#endif
