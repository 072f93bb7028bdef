/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   A function is entered where its first instruction is about to be executed with RSP on the program's stack; what
 *   lies in its frame comes from the loader (loader_layout_at). Its activation ends when the guest comes to its return
 *   address with RSP above it, or when something shows that it has been left: another function that is followed is
 *   entered, or returns, with RSP at or above its return address (longjmp, exceptions, tail calls).
 *   Thread-local variables of the program are marked once, when the guest has set its thread pointer and comes to a
 *   place that is watched, its entry at the latest.
 *   Another thread's are marked when it is started, behind its stack (STREAM_STACK): that is the anonymous mapping
 *   which its stack pointer lies in, up to the end of the page that its thread pointer lies in - C libraries have what
 *   they know of a thread there, at the top. Functions of each thread are followed on its own stack; when it ends all
 *   that was marked there is left. A thread whose stack is no such mapping is not followed.
 *   At the entry each array is marked LOCAL; at the end one mark LEFT takes all of them away.
 *   Where a function moves RSP by what it has computed (loader_layout_change), the guest is stopped before and behind
 *   that instruction: RSP fell by the size of an alloca or variable-length array, marked LOCAL there, or rose above
 *   some, which are marked LEFT.
 * Counting
 *   A function entered twice without a step (its first instruction faulted) is one activation.
 * Cost
 *   Blocks that neither begin such a function nor follow its calls pay nothing; a call of one costs about 0.6 us, with
 *   an alloca in it 1.3 us. Each function of the program is looked at once, when it is first called.
 * Invariants (locals_check)
 *   RSP falls from each activation to the next.
 * Not modelled
 *   Stacks other than the threads' own (coroutines, sigaltstack): what lies there is a part of the block or mapping
 *   that the stack lies in. Stacks of threads without a guard page below, where mappings meet. A function that was left
 *   by longjmp keeps its arrays until a followed function shows it. What a function made by moving RSP stays, when
 *   longjmp goes back into the function, until it moves RSP again.
 */
#include "watch/locals.h"

#include <string.h>

#include "watch/callers_priv.h"

enum { RSP = 4 };
#define FIRST_THREAD 1u

struct activation {
    uint64_t rsp; /* of the return address */
    uint64_t site;
    uint64_t entry;
    uint64_t layout;
    uint64_t low, high; /* its arrays lie in here */
    uint64_t before;    /* RSP where it is about to move; 0: it is not */
    uint64_t floor;     /* the lowest of what it made by moving RSP; UINT64_MAX: there is none */
};

/* A thread's: its pointer, and the functions that it is in, the innermost last. */
struct locals_thread {
    uint32_t number;    /* counts from 1 */
    uint64_t low, high; /* its stack; of the first one both 0: the program's. Empty: not followed */
    uint64_t pointer;   /* FS; 0: unknown, or told */
    struct activation *stack;
    uint32_t depth, room;
};

/* What is known of the process, and its threads. */
struct locals {
    struct mmu *mmu;
    struct loader_symbols *symbols;
    struct c2_map *layouts;  /* entry of a function -> layout, of those that have one */
    struct c2_map *changes;  /* pcs before and behind instructions that move RSP -> layout << 32 | number */
    struct c2_map *returns;  /* pcs where one may come back to */
    struct c2_map *alive;    /* layout -> activations */
    struct guest_va program; /* its entry */
    bool entered;            /* it has been there */
    uint64_t *owners;        /* [layout]: the function's entry; with STREAM_THREADS: whose threads' */
    uint32_t owner_count, owner_room;
    uint64_t variables; /* layout of the thread-local ones; LOADER_NO_LAYOUT: not marked so far, or there are none */
    struct locals_thread **threads;
    uint32_t thread_count, thread_room;
    struct locals_thread *thread; /* the one that runs */
};

/* ------------------------------------------------------------------ what is of interest */

#define DYNAMIC_BYTES 256u /* what is smaller is a part of the stack, like other variables */

/* The places in the function that moves RSP. */
static enum c2_status locals_add_changes(struct locals *locals, uint64_t entry, uint64_t layout, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < loader_layout_changes(locals->symbols, layout) && status == C2_OK; i++) {
        const struct loader_change *change = loader_layout_change(locals->symbols, layout, i);
        status = c2_map_put(locals->changes, entry + change->offset, layout << 32 | i, err);
    }
    return status;
}

static bool locals_splits(void *self, struct guest_va pc)
{
    uint64_t ignored;
    return c2_map_get(((const struct locals *)self)->changes, pc.v, &ignored);
}

/* Layouts are numbered in the order in which the loader was asked for them. */
static enum c2_status note_owner(struct locals *locals, uint64_t layout, uint64_t owner, struct c2_error *err)
{
    C2_ASSERT(layout <= locals->owner_count);
    if (layout < locals->owner_count)
        return C2_OK;
    if (!c2_grow((void **)&locals->owners, &locals->owner_room, locals->owner_count, sizeof *locals->owners))
        return c2_fail_memory(err, "variables on the stack");
    locals->owners[locals->owner_count++] = owner;
    return C2_OK;
}

static enum c2_status locals_wants(bool *out, void *self, struct guest_va pc, struct c2_error *err)
{
    struct locals *locals = self;
    uint64_t layout, any;
    enum c2_status status = loader_layout_at(locals->symbols, pc, &layout, err);
    const bool found = status == C2_OK && layout != LOADER_NO_LAYOUT;
    *out = found || pc.v == locals->program.v || locals_splits(self, pc) || c2_map_get(locals->returns, pc.v, &any);
    if (found)
        status = note_owner(locals, layout, pc.v, err);
    if (found && status == C2_OK)
        status = c2_map_put(locals->layouts, pc.v, layout, err);
    if (found)
        return status == C2_OK ? locals_add_changes(locals, pc.v, layout, err) : status;
    c2_map_remove(locals->layouts, pc.v); /* other code was there */
    return status;
}

static bool on_stack(const struct locals *locals, uint64_t rsp)
{
    if (locals->thread->number != FIRST_THREAD)
        return rsp - locals->thread->low < locals->thread->high - locals->thread->low;
    const struct mmu_area *area = mmu_area_at(mmu_areas(locals->mmu), (struct guest_va){rsp}, false);
    return area && area->kind == MMU_STACK;
}

/* ------------------------------------------------------------------ ends */

static void count_alive(struct locals *locals, uint64_t layout, uint64_t more)
{
    uint64_t count = 0;
    c2_map_get(locals->alive, layout, &count);
    c2_map_put(locals->alive, layout, count + more, NULL); /* was there before the mark */
}

/* Activations whose return address lies below RSP, or where it is, are over. */
static enum c2_status locals_leave(struct locals *locals, struct engine *engine, uint64_t rsp, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    while (locals->thread->depth && locals->thread->stack[locals->thread->depth - 1].rsp <= rsp && status == C2_OK) {
        const struct activation *last = &locals->thread->stack[--locals->thread->depth];
        count_alive(locals, last->layout, UINT64_MAX);
        if (last->low < last->high)
            status = engine_mark(engine, STREAM_LEFT, (const uint64_t[]){last->low, last->high - last->low}, 2, err);
    }
    return status;
}

/* ------------------------------------------------------------------ entries */

static enum c2_status mark_local(struct locals *locals, struct engine *engine, uint64_t layout, uint32_t number,
                                 struct activation *activation, struct c2_error *err)
{
    uint64_t start, alive = 0;
    const uint64_t bytes = loader_layout_local(locals->symbols, layout, number)->bytes;
    if (!loader_layout_extent(locals->symbols, layout, number, activation->rsp, &start) ||
        start + bytes > activation->rsp + sizeof(uint64_t) || start > activation->rsp)
        return C2_OK; /* not what it looked like */
    activation->low = start < activation->low ? start : activation->low;
    activation->high = start + bytes > activation->high ? start + bytes : activation->high;
    c2_map_get(locals->alive, layout, &alive);
    const uint64_t words[] = {start, bytes, layout, number | (uint64_t)(alive != 0) << 32};
    return engine_mark(engine, STREAM_LOCAL, words, 4, err);
}

static enum c2_status locals_watch_return(struct locals *locals, struct engine *engine, uint64_t site,
                                          struct c2_error *err)
{
    uint64_t any;
    if (c2_map_get(locals->returns, site, &any))
        return C2_OK;
    enum c2_status status = c2_map_put(locals->returns, site, 1, err);
    return status == C2_OK ? engine_watch(engine, (struct guest_va){site}, err) : status;
}

static enum c2_status locals_enter(struct locals *locals, struct engine *engine, uint64_t entry, uint64_t layout,
                                   uint64_t rsp, struct c2_error *err)
{
    struct activation activation = {
        .rsp = rsp, .entry = entry, .layout = layout, .low = UINT64_MAX, .floor = UINT64_MAX};
    const struct activation *last = locals->thread->depth ? &locals->thread->stack[locals->thread->depth - 1] : NULL;
    if (!on_stack(locals, rsp) || !guest_word(locals->mmu, rsp, &activation.site) ||
        (last && last->rsp == rsp && last->entry == entry && last->site == activation.site))
        return C2_OK;
    uint64_t alive = 0;
    enum c2_status status = locals_leave(locals, engine, rsp, err);
    if (status == C2_OK && !c2_map_get(locals->alive, layout, &alive)) {
        status = c2_map_put(locals->alive, layout, 0, err);
        if (status == C2_OK)
            status = engine_mark(engine, STREAM_LAYOUT, (const uint64_t[]){layout, entry}, 2, err);
    }
    for (uint32_t i = 0; i < loader_layout_count(locals->symbols, layout) && status == C2_OK; i++)
        status = mark_local(locals, engine, layout, i, &activation, err);
    if (status != C2_OK || (activation.low == UINT64_MAX && loader_layout_changes(locals->symbols, layout) == 0))
        return status;
    if (!c2_grow((void **)&locals->thread->stack, &locals->thread->room, locals->thread->depth,
                 sizeof *locals->thread->stack))
        return c2_fail_memory(err, "variables on the stack");
    locals->thread->stack[locals->thread->depth++] = activation;
    count_alive(locals, layout, 1);
    return locals_watch_return(locals, engine, activation.site, err);
}

/* ------------------------------------------------------------------ blocks that are made by moving RSP */

static enum c2_status fall(struct engine *engine, struct activation *activation, uint64_t rsp, uint32_t local,
                           struct c2_error *err)
{
    const uint64_t bytes = activation->before - rsp;
    if (activation->before < rsp + DYNAMIC_BYTES)
        return C2_OK;
    activation->floor = rsp;
    activation->low = rsp < activation->low ? rsp : activation->low;
    activation->high = activation->before > activation->high ? activation->before : activation->high;
    return engine_mark(engine, STREAM_LOCAL, (const uint64_t[]){rsp, bytes, activation->layout, local | 1ull << 32}, 4,
                       err);
}

static enum c2_status locals_rise(struct engine *engine, struct activation *activation, uint64_t rsp,
                                  struct c2_error *err)
{
    const uint64_t floor = activation->floor;
    if (floor >= rsp)
        return C2_OK;
    activation->floor = rsp;
    return engine_mark(engine, STREAM_LEFT, (const uint64_t[]){floor, rsp - floor}, 2, err);
}

/* RSP is about to move, or has moved. */
static enum c2_status locals_moved(struct locals *locals, struct engine *engine, uint64_t change_of, uint64_t rsp,
                                   struct c2_error *err)
{
    const uint64_t layout = change_of >> 32;
    const struct loader_change *change = loader_layout_change(locals->symbols, layout, (uint32_t)change_of);
    enum c2_status status = on_stack(locals, rsp) ? locals_leave(locals, engine, rsp, err) : C2_OK;
    struct activation *last = locals->thread->depth ? &locals->thread->stack[locals->thread->depth - 1] : NULL;
    if (status != C2_OK || !last || last->layout != layout || !on_stack(locals, rsp))
        return status;
    status = locals_rise(engine, last, rsp, err);
    if (status == C2_OK && change->behind && last->before != 0)
        status = fall(engine, last, rsp, change->local, err);
    if (change->behind || last->before < rsp)
        last->before = 0;
    if (change->before && last->before == 0)
        last->before = rsp;
    return status;
}

/* again: those of another thread are there. */
static enum c2_status mark_variables(struct locals *locals, struct engine *engine, uint64_t thread_pointer, bool again,
                                     struct c2_error *err)
{
    const uint64_t layout = locals->variables;
    enum c2_status status = C2_OK;
    uint64_t start;
    for (uint32_t i = 0; status == C2_OK && i < loader_layout_count(locals->symbols, layout); i++) {
        const uint64_t bytes = loader_layout_local(locals->symbols, layout, i)->bytes;
        const uint64_t number = i | (uint64_t)again << 32;
        if (loader_layout_extent(locals->symbols, layout, i, thread_pointer, &start))
            status = engine_mark(engine, STREAM_LOCAL, (const uint64_t[]){start, bytes, layout, number}, 4, err);
    }
    return status;
}

/* The thread-local variables, when their place is known. */
static enum c2_status enter_thread(struct locals *locals, struct engine *engine, struct c2_error *err)
{
    uint64_t layout;
    const uint64_t thread_pointer = locals->thread->pointer;
    locals->thread->pointer = 0;
    enum c2_status status = loader_layout_threads(locals->symbols, locals->program, &layout, err);
    const uint64_t owner = locals->program.v | STREAM_THREADS;
    if (status != C2_OK || layout == LOADER_NO_LAYOUT)
        return status;
    status = note_owner(locals, layout, owner, err);
    if (status == C2_OK)
        status = engine_mark(engine, STREAM_LAYOUT, (const uint64_t[]){layout, owner}, 2, err);
    locals->variables = layout;
    return status == C2_OK ? mark_variables(locals, engine, thread_pointer, false, err) : status;
}

static void pointed(void *self, uint64_t thread_pointer)
{
    struct locals *locals = self;
    if (locals->thread->number == FIRST_THREAD)
        locals->thread->pointer = thread_pointer;
}

/* ------------------------------------------------------------------ threads */

/* NULL: no memory. */
static struct locals_thread *locals_add_thread(struct locals *locals, uint32_t number)
{
    struct locals_thread *thread = c2_calloc(1, sizeof *thread);
    if (!thread ||
        !c2_grow((void **)&locals->threads, &locals->thread_room, locals->thread_count, sizeof *locals->threads)) {
        c2_free(thread);
        return NULL;
    }
    thread->number = number;
    return locals->threads[locals->thread_count++] = thread;
}

static struct locals_thread *locals_find_thread(const struct locals *locals, uint32_t number)
{
    for (uint32_t i = 0; i < locals->thread_count; i++)
        if (locals->threads[i]->number == number)
            return locals->threads[i];
    return NULL;
}

static void find_stack(const struct locals *locals, struct locals_thread *thread, uint64_t pointer, uint64_t rsp)
{
    const struct mmu_area *area = mmu_area_at(mmu_areas(locals->mmu), (struct guest_va){rsp - 1}, false);
    if (!area || area->kind != MMU_ANONYMOUS || area->shared)
        return;
    const uint64_t end = area->start.v + area->bytes;
    const uint64_t top = c2_align_up(pointer - area->start.v < area->bytes && pointer >= rsp ? pointer + 1 : rsp,
                                     C2_PAGE_BYTES);
    thread->low = area->start.v;
    thread->high = top < end ? top : end;
}

static enum c2_status started(void *self, struct engine *engine, const struct watch_thread *start, struct c2_error *err)
{
    struct locals *locals = self;
    struct locals_thread *thread = locals_add_thread(locals, start->number);
    if (!thread)
        return c2_fail_memory(err, "variables on the stacks of threads");
    find_stack(locals, thread, start->pointer, start->rsp);
    const uint64_t bytes = thread->high - thread->low;
    if (bytes == 0)
        return C2_OK;
    enum c2_status status = engine_mark(engine, STREAM_STACK, (const uint64_t[]){start->number, thread->low, bytes}, 3,
                                        err);
    const bool inside = start->pointer - thread->low < bytes;
    if (status != C2_OK || !inside || locals->variables == LOADER_NO_LAYOUT)
        return status;
    return mark_variables(locals, engine, start->pointer, true, err);
}

static enum c2_status locals_switched(void *self, struct engine *engine, uint32_t number, struct c2_error *err)
{
    struct locals *locals = self;
    struct locals_thread *thread = locals_find_thread(locals, number);
    (void)engine;
    if (!thread) /* of a checkpoint that is damaged */
        return c2_fail(err, C2_ERR_INVALID, "thread %u has no stack", number);
    locals->thread = thread;
    return C2_OK;
}

static void release_thread(struct locals_thread *thread)
{
    c2_free(thread->stack);
    c2_free(thread);
}

/* The first one stays, whatever runs next. */
static void forget_thread(struct locals *locals, struct locals_thread *thread)
{
    uint32_t i = 0;
    locals->thread = locals->threads[0];
    if (thread == locals->thread)
        return;
    while (locals->threads[i] != thread)
        i++;
    locals->thread_count--;
    memmove(&locals->threads[i], &locals->threads[i + 1], (locals->thread_count - i) * sizeof(struct locals_thread *));
    release_thread(thread);
}

static enum c2_status locals_exited(void *self, struct engine *engine, uint32_t number, struct c2_error *err)
{
    struct locals *locals = self;
    struct locals_thread *thread = locals->thread;
    const uint64_t words[] = {thread->low, thread->high - thread->low};
    (void)number; /* it is the one that runs */
    for (; thread->depth != 0; thread->depth--)
        count_alive(locals, thread->stack[thread->depth - 1].layout, UINT64_MAX);
    forget_thread(locals, thread);
    return words[1] != 0 ? engine_mark(engine, STREAM_LEFT, words, 2, err) : C2_OK;
}

static bool activations_fall(const struct locals_thread *thread)
{
    for (uint32_t i = 1; i < thread->depth; i++)
        if (thread->stack[i].rsp >= thread->stack[i - 1].rsp)
            return false;
    return true;
}

static enum c2_status locals_reached(void *self, struct engine *engine, struct guest_va pc, struct c2_error *err)
{
    struct locals *locals = self;
    uint64_t layout, any;
    const uint64_t rsp = engine_gpr(engine, RSP);
    enum c2_status status = locals->thread->pointer ? enter_thread(locals, engine, err) : C2_OK;
    if (status == C2_OK && pc.v == locals->program.v && !locals->entered) {
        locals->entered = true;
        status = engine_mark(engine, STREAM_ENTERED, NULL, 0, err);
    }
    if (status == C2_OK && c2_map_get(locals->returns, pc.v, &any) && on_stack(locals, rsp))
        status = locals_leave(locals, engine, rsp - sizeof(uint64_t), err);
    if (status == C2_OK && c2_map_get(locals->layouts, pc.v, &layout))
        status = locals_enter(locals, engine, pc.v, layout, rsp, err);
    if (status == C2_OK && c2_map_get(locals->changes, pc.v, &any))
        status = locals_moved(locals, engine, any, rsp, err);
    C2_PROMISE(status != C2_OK || activations_fall(locals->thread));
    return status;
}

/* ------------------------------------------------------------------ life */

enum c2_status locals_create(struct locals **out, struct mmu *mmu, struct loader_symbols *symbols,
                             struct guest_va program, struct c2_error *err)
{
    *out = NULL;
    struct locals *locals = c2_calloc(1, sizeof *locals);
    if (!locals)
        return c2_fail_memory(err, "variables on the stack");
    locals->mmu = mmu;
    locals->symbols = symbols;
    locals->program = program;
    locals->variables = LOADER_NO_LAYOUT;
    locals->thread = locals_add_thread(locals, FIRST_THREAD);
    if (!locals->thread) {
        c2_free(locals);
        return c2_fail_memory(err, "variables on the stack");
    }
    enum c2_status status = c2_map_create(&locals->layouts, err);
    if (status == C2_OK)
        status = c2_map_create(&locals->changes, err);
    if (status == C2_OK)
        status = c2_map_create(&locals->returns, err);
    if (status == C2_OK)
        status = c2_map_create(&locals->alive, err);
    if (status == C2_OK)
        *out = locals;
    else
        locals_destroy(locals);
    return status;
}

void locals_destroy(struct locals *locals)
{
    if (!locals)
        return;
    c2_map_destroy(locals->layouts);
    c2_map_destroy(locals->changes);
    c2_map_destroy(locals->returns);
    c2_map_destroy(locals->alive);
    for (uint32_t i = 0; i < locals->thread_count; i++) {
        release_thread(locals->threads[i]);
    }
    c2_free(locals->threads);
    c2_free(locals->owners);
    c2_free(locals);
}

/* ------------------------------------------------------------------ checkpoints */

/* Asks the loader for the layout again. Of code that is gone there is none: the number is taken all the same. */
static enum c2_status ask_again(struct locals *locals, uint64_t owner, struct c2_error *err)
{
    uint64_t layout;
    const struct guest_va pc = {owner & ~STREAM_THREADS};
    enum c2_status status = owner & STREAM_THREADS ? loader_layout_threads(locals->symbols, pc, &layout, err)
                                                   : loader_layout_at(locals->symbols, pc, &layout, err);
    if (status == C2_OK && layout != locals->owner_count)
        status = loader_layout_gone(locals->symbols, &layout, err);
    return status == C2_OK ? note_owner(locals, layout, owner, err) : status;
}

static void visit_owners(struct locals *locals, struct checkpoint *c)
{
    uint64_t count = locals->owner_count, owner = 0;
    checkpoint_number(c, &count, UINT32_MAX);
    for (uint32_t i = 0; i < count && checkpoint_status(c, NULL) == C2_OK; i++) {
        struct c2_error why;
        owner = checkpoint_writes(c) ? locals->owners[i] : 0;
        checkpoint_number(c, &owner, CHECKPOINT_ANY);
        if (checkpoint_status(c, NULL) == C2_OK && !checkpoint_writes(c) && ask_again(locals, owner, &why) != C2_OK)
            checkpoint_fail(c, &why);
    }
}

static void visit_activation(struct locals *locals, struct activation *activation, struct checkpoint *c)
{
    checkpoint_number(c, &activation->rsp, CHECKPOINT_ANY);
    checkpoint_number(c, &activation->site, CHECKPOINT_ANY);
    checkpoint_number(c, &activation->entry, CHECKPOINT_ANY);
    checkpoint_number(c, &activation->layout, locals->owner_count - 1u);
    checkpoint_number(c, &activation->low, CHECKPOINT_ANY);
    checkpoint_number(c, &activation->high, CHECKPOINT_ANY);
    checkpoint_number(c, &activation->before, CHECKPOINT_ANY);
    checkpoint_number(c, &activation->floor, CHECKPOINT_ANY);
}

static void locals_visit_thread(struct locals *locals, struct locals_thread *thread, struct checkpoint *c)
{
    uint64_t depth = thread->depth;
    checkpoint_number(c, &thread->low, CHECKPOINT_ANY);
    checkpoint_number(c, &thread->high, CHECKPOINT_ANY);
    if (thread->low > thread->high)
        checkpoint_damaged(c, "a stack that ends before it begins");
    checkpoint_number(c, &thread->pointer, CHECKPOINT_ANY);
    checkpoint_number(c, &depth, locals->owner_count ? UINT32_MAX : 0);
    for (uint32_t i = 0; i < depth; i++) {
        if (!checkpoint_writes(c) &&
            !checkpoint_room(c, (void **)&thread->stack, &thread->room, i, sizeof *thread->stack))
            return;
        visit_activation(locals, &thread->stack[i], c);
        thread->depth = i + 1;
    }
    if (!activations_fall(thread))
        checkpoint_damaged(c, "functions that are in no order");
}

/* The first one is there. */
static void locals_visit_threads(struct locals *locals, struct checkpoint *c)
{
    uint64_t count = locals->thread_count, running = locals->thread->number;
    checkpoint_number(c, &count, UINT32_MAX);
    checkpoint_number(c, &running, UINT32_MAX);
    for (uint32_t i = 0; i < count && checkpoint_status(c, NULL) == C2_OK; i++) {
        struct locals_thread *thread = i < locals->thread_count ? locals->threads[i] : locals_add_thread(locals, 0);
        struct c2_error why;
        uint64_t number = thread ? thread->number : 0;
        checkpoint_number(c, &number, UINT32_MAX);
        if (!thread) {
            c2_fail_memory(&why, "variables on the stacks of threads");
            checkpoint_fail(c, &why);
            return;
        }
        thread->number = (uint32_t)number;
        locals_visit_thread(locals, thread, c);
    }
    if (checkpoint_status(c, NULL) != C2_OK)
        return;
    if (locals_find_thread(locals, (uint32_t)running))
        locals->thread = locals_find_thread(locals, (uint32_t)running);
    else
        checkpoint_damaged(c, "a thread that there is not");
}

/* What is read must be of layouts that there are; of those that are gone nothing is looked for any more. */
static void drop_gone(struct locals *locals, struct c2_map *map, bool changes, struct checkpoint *c)
{
    struct c2_pair *pairs;
    if (checkpoint_status(c, NULL) != C2_OK || c2_map_list(&pairs, map, NULL) != C2_OK)
        return;
    const uint64_t count = c2_map_count(map);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t layout = changes ? pairs[i].value >> 32 : pairs[i].value;
        if (layout >= locals->owner_count)
            checkpoint_damaged(c, "a layout that there is not");
        else if (changes ? (uint32_t)pairs[i].value >= loader_layout_changes(locals->symbols, layout)
                         : loader_layout_count(locals->symbols, layout) == 0)
            c2_map_remove(map, pairs[i].key);
    }
    c2_free(pairs);
}

static void locals_checkpoint(void *self, struct checkpoint *c)
{
    struct locals *locals = self;
    checkpoint_part(c, "the functions with arrays");
    CHECKPOINT_NUMBER(c, locals->entered, 1);
    visit_owners(locals, c);
    checkpoint_map(c, locals->layouts);
    checkpoint_map(c, locals->changes);
    checkpoint_map(c, locals->returns);
    checkpoint_map(c, locals->alive);
    checkpoint_number(c, &locals->variables, CHECKPOINT_ANY);
    locals_visit_threads(locals, c);
    if (checkpoint_writes(c))
        return;
    if (locals->variables != LOADER_NO_LAYOUT && locals->variables >= locals->owner_count)
        checkpoint_damaged(c, "thread-local variables of no layout");
    drop_gone(locals, locals->layouts, false, c);
    drop_gone(locals, locals->changes, true, c);
}

static void watch_locals_destroy(void *self) { locals_destroy(self); }

struct watcher locals_watch(struct locals *locals)
{
    static const struct watch_calls calls = {.switched = locals_switched,
                                             .started = started,
                                             .exited = locals_exited,
                                             .pointed = pointed,
                                             .checkpoint = locals_checkpoint,
                                             .destroy = watch_locals_destroy};
    return (struct watcher){
        locals, {.self = locals, .wants = locals_wants, .splits = locals_splits, .reached = locals_reached}, &calls};
}

void locals_check(const struct locals *locals)
{
    for (uint32_t i = 0; i < locals->thread_count; i++) {
        C2_ASSERT(locals->threads[i]->depth <= locals->threads[i]->room);
        C2_ASSERT(activations_fall(locals->threads[i]));
    }
}
