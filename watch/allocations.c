/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   The functions of family[] are found by name in every file that code is executed from. A call of one of them is
 *   known by RSP, which points to its return address; it has returned when the guest comes to that address with RSP
 *   above it. Calls that have not returned lie in a stack of frames, a thread's own, the innermost last. All marks are
 *   made at the return, when it is known what the call has done:
 *
 *       free(p), delete p      FREED p
 *       malloc(n) and kin      ALLOCATED result, n
 *       realloc(p, n)          FREED p, ALLOCATED result, n; nothing when it failed; realloc(p, 0) that gives NULL
 *                              has freed p
 *
 *   A block is allocated by the outermost call on the stack only (operator new calls malloc). It is freed by whatever
 *   call frees it: within realloc(p) and operator delete(p) that is the same block, and the handler of a new that
 *   failed may free others.
 *   Functions that hand a block on to their callers are found by callers.c, at the same returns.
 *   A tail call finds RSP where it was: it goes on with the same frame. The resolver of an IFUNC returns the entry of
 *   the function it stands for. A signal handler is no part of the call that it interrupts: a frame without a function
 *   parts them.
 * Counting
 *   FREED only of a block that was marked ALLOCATED and not yet FREED; ALLOCATED only where none is: a block that was
 *   freed unseen is marked FREED when its address is given out again.
 *   A call started twice (its first instruction faulted) is one.
 * Cost
 *   Blocks without call or return pay nothing: matrix multiplication runs at 0.98 of its time without marks,
 *   within the noise. A call of the family costs about 0.4 us. Reading the names of a file costs once what the loader
 *   needs to open it: 60 ms for the C library where its debug file is installed, which a report with names needs as
 *   well.
 * Invariants (allocations_check)
 *   Of the frames above the last signal handler, RSP falls from each to the next. A frame is dropped when RSP is above
 *   it (it was left by longjmp, an exception), when its return address was overwritten, and when a new call stands in
 *   its place. So that this is seen in time, calls of setjmp are watched as well, to which longjmp returns, and
 *   __cxa_begin_catch.
 * Not modelled
 *   Programs without symbols for a static allocator (stripped): no marks. A function that is merely named as one of the
 *   family is taken for it, a static one too. What an allocation calls on its way and keeps (the exception object of a
 *   failing new) is a part of that call: no mark. A call left from a handler on another stack above its own, or
 *   by __builtin_longjmp, may hide the allocations that come below it until its frame is overwritten.
 */
#include "watch/allocations.h"
#include "watch/callers_priv.h"
#include "watch/modules_priv.h"

#include <inttypes.h>
#include <string.h>

enum shape {
    SHAPE_BYTES,        /* (bytes) */
    SHAPE_PRODUCT,      /* (count, bytes) */
    SHAPE_ALIGNED,      /* (alignment, bytes) */
    SHAPE_STORED,       /* (where to store the address, alignment, bytes), 0 when done */
    SHAPE_RESIZE,       /* (block, bytes) */
    SHAPE_RESIZE_ARRAY, /* (block, count, bytes) */
    SHAPE_FREE,         /* (block) */
    SHAPE_LANDING,      /* allocates nothing; calls may be left towards where it returns */
};

struct function {
    const char *name;
    enum shape shape;
    enum stream_allocator allocator;
};

static const struct function family[] = {
    {"malloc", SHAPE_BYTES, STREAM_MALLOC},
    {"calloc", SHAPE_PRODUCT, STREAM_CALLOC},
    {"realloc", SHAPE_RESIZE, STREAM_REALLOC},
    {"reallocarray", SHAPE_RESIZE_ARRAY, STREAM_REALLOC},
    {"memalign", SHAPE_ALIGNED, STREAM_ALIGNED},
    {"aligned_alloc", SHAPE_ALIGNED, STREAM_ALIGNED},
    {"posix_memalign", SHAPE_STORED, STREAM_ALIGNED},
    {"valloc", SHAPE_BYTES, STREAM_ALIGNED},
    {"pvalloc", SHAPE_BYTES, STREAM_ALIGNED},
    {"free", SHAPE_FREE, 0},
    {"cfree", SHAPE_FREE, 0},
    /* operator new and new[]: plain, nothrow, aligned, both */
    {"_Znwm", SHAPE_BYTES, STREAM_NEW},
    {"_Znam", SHAPE_BYTES, STREAM_NEW},
    {"_ZnwmRKSt9nothrow_t", SHAPE_BYTES, STREAM_NEW},
    {"_ZnamRKSt9nothrow_t", SHAPE_BYTES, STREAM_NEW},
    {"_ZnwmSt11align_val_t", SHAPE_BYTES, STREAM_NEW},
    {"_ZnamSt11align_val_t", SHAPE_BYTES, STREAM_NEW},
    {"_ZnwmSt11align_val_tRKSt9nothrow_t", SHAPE_BYTES, STREAM_NEW},
    {"_ZnamSt11align_val_tRKSt9nothrow_t", SHAPE_BYTES, STREAM_NEW},
    /* operator delete and delete[]: plain, sized, nothrow, aligned */
    {"_ZdlPv", SHAPE_FREE, 0},
    {"_ZdaPv", SHAPE_FREE, 0},
    {"_ZdlPvm", SHAPE_FREE, 0},
    {"_ZdaPvm", SHAPE_FREE, 0},
    {"_ZdlPvRKSt9nothrow_t", SHAPE_FREE, 0},
    {"_ZdaPvRKSt9nothrow_t", SHAPE_FREE, 0},
    {"_ZdlPvSt11align_val_t", SHAPE_FREE, 0},
    {"_ZdaPvSt11align_val_t", SHAPE_FREE, 0},
    {"_ZdlPvmSt11align_val_t", SHAPE_FREE, 0},
    {"_ZdaPvmSt11align_val_t", SHAPE_FREE, 0},
    {"_ZdlPvSt11align_val_tRKSt9nothrow_t", SHAPE_FREE, 0},
    {"_ZdaPvSt11align_val_tRKSt9nothrow_t", SHAPE_FREE, 0},
    /* where calls that were left come out */
    {"setjmp", SHAPE_LANDING, 0},
    {"_setjmp", SHAPE_LANDING, 0},
    {"__setjmp", SHAPE_LANDING, 0},
    {"sigsetjmp", SHAPE_LANDING, 0},
    {"__sigsetjmp", SHAPE_LANDING, 0},
    {"__cxa_begin_catch", SHAPE_LANDING, 0},
};
#define FAMILY (sizeof family / sizeof *family)
enum { LONGEST_NAME = 40 };

/* A call that has not returned; or, without a function, a signal handler. */
struct frame {
    const struct function *function;
    bool resolves; /* the call is that of the function's resolver */
    bool outermost;
    uint64_t rsp; /* of the return address; of a handler: at its entry */
    uint64_t pc;
    uint64_t site;    /* the return address */
    uint64_t bytes;   /* asked for; UINT64_MAX when their product overflows */
    uint64_t pointer; /* the block to free, or where the address will be stored */
};

/* What is known of a pc, in one number: bit 0, calls return there; bit 1, callers.c waits there; bit 2, it is an
 * IFUNC's resolver; above, 1 + the number of the function that starts there. */
enum { POINT_SITE = 1, POINT_WAIT = 2, POINT_RESOLVER = 4, POINT_FUNCTION = 8 };
#define POINT_RETURNS (uint64_t)(POINT_SITE | POINT_WAIT)

/* A thread's calls that have not returned, the innermost last. */
struct calls {
    uint32_t thread; /* 0: it has ended */
    struct frame *frames;
    size_t depth, room;
};

/* What is known of the process, and the calls of its threads. */
struct allocations {
    struct mmu *mmu;
    struct loader_symbols *symbols;
    uint64_t of_length[LONGEST_NAME + 1]; /* sort_family */
    struct c2_map *points;
    struct c2_map *blocks; /* those allocated: address to number */
    uint64_t allocated;    /* blocks ever */
    struct callers *callers;
    struct modules *modules; /* whose names are known */
    struct calls *threads;
    uint32_t thread_count, thread_room;
    struct calls *calls; /* of the thread that runs */
};
#define FIRST_THREAD 1u

/* ------------------------------------------------------------------ small things */

enum { RAX = 0, RDX = 2, RSP = 4, RSI = 6, RDI = 7 };

static uint64_t point_at(const struct allocations *a, uint64_t pc)
{
    uint64_t point;
    return c2_map_get(a->points, pc, &point) ? point : 0;
}

/* Room for one more item in a growing array. */
static enum c2_status allocations_grow(void **items, size_t *room, size_t count, size_t bytes, struct c2_error *err)
{
    if (count < *room)
        return C2_OK;
    size_t more = *room ? 2 * *room : C2_HOST_SIZE(16u, 1u);
    void *grown = c2_realloc(*items, more * bytes);
    if (!grown)
        return c2_fail_memory(err, "the allocator's calls");
    *items = grown;
    *room = more;
    return C2_OK;
}

/* ------------------------------------------------------------------ finding the family */

/* Of names of each length, bit i: family[i] has such a one. Thousands of names are looked at, and few are in it. */
static void sort_family(uint64_t of_length[LONGEST_NAME + 1])
{
    _Static_assert(FAMILY <= 64, "a bit each");
    for (size_t i = 0; i < FAMILY; i++) {
        C2_ASSERT(strlen(family[i].name) <= LONGEST_NAME);
        of_length[strlen(family[i].name)] |= UINT64_C(1) << i;
    }
}

/* name: of a symbol, "malloc@@GLIBC_2.2.5". FAMILY: it is none of the family. */
static size_t family_named(const struct allocations *a, const char *name)
{
    const size_t length = strcspn(name, "@");
    uint64_t left = length <= LONGEST_NAME ? a->of_length[length] : 0;
    for (; left != 0; left &= left - 1) {
        const size_t i = (size_t)__builtin_ctzll(left);
        if (memcmp(name, family[i].name, length) == 0)
            return i;
    }
    return FAMILY;
}

static enum c2_status allocations_note_entry(void *self, const char *name, struct guest_va entry, bool resolver,
                                             struct c2_error *err)
{
    struct allocations *a = self;
    const size_t number = family_named(a, name);
    if (number == FAMILY)
        return C2_OK;
    enum c2_status status = modules_keep(a->modules, entry, entry.v, err);
    if (status != C2_OK)
        return status;
    uint64_t point = (point_at(a, entry.v) & POINT_RETURNS) | (number + 1) * POINT_FUNCTION;
    return c2_map_put(a->points, entry.v, point | (resolver ? POINT_RESOLVER : 0), err);
}

static enum c2_status allocations_read_names(void *self, struct guest_va code, struct c2_error *err)
{
    struct allocations *a = self;
    const struct loader_entry_listener listener = {a, allocations_note_entry};
    return loader_function_entries(a->symbols, code, &listener, err);
}

static void allocations_forget_entry(void *self, uint64_t entry)
{
    struct allocations *a = self;
    const uint64_t returns = point_at(a, entry) & POINT_RETURNS;
    if (returns)
        c2_map_put(a->points, entry, returns, NULL); /* is there: needs no memory */
    else
        c2_map_remove(a->points, entry);
}

static void forgot_names(void *self) { callers_forget(((struct allocations *)self)->callers); }

static enum c2_status allocations_wants(bool *out, void *self, struct guest_va pc, struct c2_error *err)
{
    struct allocations *a = self;
    enum c2_status status = modules_know(a->modules, pc, err);
    *out = point_at(a, pc.v) != 0;
    return status;
}

/* ------------------------------------------------------------------ marks */

static enum c2_status mark_freed(struct allocations *a, struct engine *engine, uint64_t address, struct c2_error *err)
{
    return c2_map_remove(a->blocks, address) ? engine_mark(engine, STREAM_FREED, &address, 1, err) : C2_OK;
}

static enum c2_status mark_allocated(struct allocations *a, struct engine *engine, const struct frame *frame,
                                     uint64_t address, struct c2_error *err)
{
    uint64_t words[3 + STREAM_CALLERS] = {address, frame->bytes, frame->function->allocator, frame->site};
    const struct callers_block block = {address, frame->bytes, ++a->allocated};
    uint32_t sites = 1;
    enum c2_status status = mark_freed(a, engine, address, err);
    if (status == C2_OK)
        status = c2_map_put(a->blocks, address, block.number, err);
    if (status == C2_OK)
        status = callers_allocated(a->callers, engine, &block, &words[3], &sites, err);
    words[2] |= (uint64_t)(sites - 1) << 32;
    return status == C2_OK ? engine_mark(engine, STREAM_ALLOCATED, words, 3 + sites, err) : status;
}

/* ------------------------------------------------------------------ returns */

static bool frees(enum shape shape)
{
    return shape == SHAPE_FREE || shape == SHAPE_RESIZE || shape == SHAPE_RESIZE_ARRAY;
}

/* The address that the call has given, 0 for none. */
static uint64_t allocations_result_of(const struct allocations *a, struct engine *engine, const struct frame *frame)
{
    uint64_t address = engine_gpr(engine, RAX);
    if (frame->function->shape == SHAPE_FREE)
        return 0;
    if (frame->function->shape != SHAPE_STORED)
        return address;
    return (uint32_t)address == 0 && guest_word(a->mmu, frame->pointer, &address) ? address : 0;
}

static enum c2_status watch_allocations_watch(struct allocations *a, struct engine *engine, uint64_t pc, uint64_t bit,
                                              struct c2_error *err)
{
    uint64_t point = point_at(a, pc);
    if (point & bit)
        return C2_OK;
    enum c2_status status = c2_map_put(a->points, pc, point | bit, err);
    return status == C2_OK ? engine_watch(engine, (struct guest_va){pc}, err) : status;
}

static enum c2_status allocations_watch_return(void *self, struct engine *engine, uint64_t pc, struct c2_error *err)
{
    return watch_allocations_watch(self, engine, pc, POINT_WAIT, err);
}

/* The resolver has chosen: the function starts at the address it gave. */
static enum c2_status allocations_resolve(struct allocations *a, struct engine *engine, const struct frame *frame,
                                          struct c2_error *err)
{
    uint64_t entry = engine_gpr(engine, RAX);
    uint64_t number = (uint64_t)(frame->function - family) + 1;
    enum c2_status status = c2_map_put(a->points, entry, (point_at(a, entry) & POINT_RETURNS) | number * POINT_FUNCTION,
                                       err);
    return status == C2_OK ? engine_watch(engine, (struct guest_va){entry}, err) : status;
}

static enum c2_status allocations_complete(struct allocations *a, struct engine *engine, const struct frame *frame,
                                           struct c2_error *err)
{
    if (frame->resolves)
        return allocations_resolve(a, engine, frame, err);
    uint64_t result = allocations_result_of(a, engine, frame);
    enum c2_status status = C2_OK;
    bool done = frame->function->shape == SHAPE_FREE || result != 0 || frame->bytes == 0;
    if (frees(frame->function->shape) && done)
        status = mark_freed(a, engine, frame->pointer, err);
    if (status == C2_OK && result != 0 && frame->outermost)
        status = mark_allocated(a, engine, frame, result, err);
    return status;
}

/* Frames whose return address lies below RSP are no more. */
static void drop_below(struct allocations *a, uint64_t rsp)
{
    while (a->calls->depth && a->calls->frames[a->calls->depth - 1].rsp < rsp)
        a->calls->depth--;
}

static enum c2_status returned(struct allocations *a, struct engine *engine, uint64_t pc, uint64_t rsp,
                               struct c2_error *err)
{
    drop_below(a, rsp - 8);
    if (!a->calls->depth)
        return C2_OK;
    const struct frame frame = a->calls->frames[a->calls->depth - 1];
    drop_below(a, rsp);
    return frame.function && frame.rsp == rsp - 8 && frame.site == pc ? allocations_complete(a, engine, &frame, err)
                                                                      : C2_OK;
}

/* ------------------------------------------------------------------ calls */

static uint64_t product(uint64_t a, uint64_t b)
{
    uint64_t bytes;
    return __builtin_mul_overflow(a, b, &bytes) ? UINT64_MAX : bytes;
}

static void allocations_take_arguments(struct frame *frame, struct engine *engine)
{
    uint64_t first = engine_gpr(engine, RDI), second = engine_gpr(engine, RSI), third = engine_gpr(engine, RDX);
    frame->pointer = first;
    switch (frame->function->shape) {
    case SHAPE_BYTES:
        frame->bytes = first;
        break;
    case SHAPE_PRODUCT:
        frame->bytes = product(first, second);
        break;
    case SHAPE_ALIGNED:
        frame->bytes = second;
        break;
    case SHAPE_STORED:
        frame->bytes = third;
        break;
    case SHAPE_RESIZE:
        frame->bytes = second;
        break;
    case SHAPE_RESIZE_ARRAY:
        frame->bytes = product(second, third);
        break;
    default:
        break;
    }
}

/* Whether a call that is about to be made at rsp continues the innermost frame, which stands there too: not if it comes
 * from elsewhere or starts the same function anew. */
static bool continues(const struct frame *top, const struct frame *call)
{
    return top->function && top->rsp == call->rsp && top->site == call->site && top->pc != call->pc;
}

static bool is_dead(const struct allocations *a, const struct frame *top, const struct frame *call)
{
    uint64_t site;
    return top->function && (top->rsp == call->rsp || !guest_word(a->mmu, top->rsp, &site) || site != top->site);
}

static bool is_outermost(const struct allocations *a)
{
    for (size_t i = a->calls->depth; i-- > 0 && a->calls->frames[i].function;)
        if (!a->calls->frames[i].resolves)
            return false;
    return true;
}

static enum c2_status allocations_push(struct allocations *a, const struct frame *frame, struct c2_error *err)
{
    enum c2_status status = allocations_grow((void **)&a->calls->frames, &a->calls->room, a->calls->depth,
                                             sizeof *a->calls->frames, err);
    if (status == C2_OK)
        a->calls->frames[a->calls->depth++] = *frame;
    return status;
}

static enum c2_status called(struct allocations *a, struct engine *engine, uint64_t pc, uint64_t rsp, uint64_t point,
                             struct c2_error *err)
{
    struct frame call = {
        .function = &family[point / POINT_FUNCTION - 1], .resolves = point & POINT_RESOLVER, .rsp = rsp, .pc = pc};
    if (!guest_word(a->mmu, rsp, &call.site))
        return C2_OK;
    drop_below(a, rsp);
    if (a->calls->depth && continues(&a->calls->frames[a->calls->depth - 1], &call))
        return C2_OK;
    while (a->calls->depth && is_dead(a, &a->calls->frames[a->calls->depth - 1], &call))
        a->calls->depth--;
    enum shape shape = call.function->shape;
    call.outermost = is_outermost(a);
    if (!call.outermost && !frees(shape) && shape != SHAPE_LANDING && !call.resolves)
        return C2_OK;
    enum c2_status status = watch_allocations_watch(a, engine, call.site, POINT_SITE, err);
    if (status != C2_OK || shape == SHAPE_LANDING)
        return status;
    allocations_take_arguments(&call, engine);
    return allocations_push(a, &call, err);
}

/* Down to the last signal handler. */
static bool frames_fall(const struct calls *calls)
{
    for (size_t i = calls->depth; i-- > 1 && calls->frames[i].function && calls->frames[i - 1].function;)
        if (calls->frames[i].rsp >= calls->frames[i - 1].rsp)
            return false;
    return true;
}

static enum c2_status allocations_reached(void *self, struct engine *engine, struct guest_va pc, struct c2_error *err)
{
    struct allocations *a = self;
    enum c2_status status = C2_OK;
    uint64_t point = point_at(a, pc.v), rsp = engine_gpr(engine, RSP);
    if (!point) { /* its module was forgotten because a part of it changed */
        status = modules_know(a->modules, pc, err);
        point = point_at(a, pc.v);
    }
    if (status == C2_OK && (point & POINT_WAIT))
        status = callers_returned(a->callers, engine, pc.v, rsp, err);
    if (status == C2_OK && (point & POINT_SITE))
        status = returned(a, engine, pc.v, rsp, err);
    if (status == C2_OK && point >= POINT_FUNCTION)
        status = called(a, engine, pc.v, rsp, point, err);
    C2_PROMISE(status != C2_OK || frames_fall(a->calls));
    return status;
}

/* ------------------------------------------------------------------ signals */

static void remove_frame(struct calls *calls, size_t i)
{
    calls->depth--;
    memmove(&calls->frames[i], &calls->frames[i + 1], (calls->depth - i) * sizeof *calls->frames);
}

/* A handler that stands where another stood: that one was left. So were the calls that it had interrupted and below
 * which, or where, one stands that was made since. */
static void drop_handler(struct allocations *a, uint64_t rsp)
{
    struct calls *calls = a->calls;
    size_t i = 0;
    while (i < calls->depth && (calls->frames[i].function || calls->frames[i].rsp != rsp))
        i++;
    if (i == calls->depth)
        return;
    remove_frame(calls, i);
    for (; i > 0 && i < calls->depth && calls->frames[i - 1].function && calls->frames[i].function; i--) {
        if (calls->frames[i - 1].rsp > calls->frames[i].rsp)
            return;
        remove_frame(calls, i - 1);
    }
}

static enum c2_status interrupted(void *self, uint64_t rsp, struct c2_error *err)
{
    struct allocations *a = self;
    drop_handler(a, rsp);
    return allocations_push(a, &(struct frame){.rsp = rsp}, err);
}

static void resumed(void *self)
{
    struct allocations *a = self;
    size_t i = a->calls->depth;
    while (i > 0 && a->calls->frames[i - 1].function)
        i--;
    if (i > 0)
        a->calls->depth = i - 1;
}

/* ------------------------------------------------------------------ threads */

/* That of the thread, or one that is free; else one more. */
static enum c2_status allocations_find_calls(struct allocations *a, uint32_t thread, uint32_t *out,
                                             struct c2_error *err)
{
    uint32_t free = a->thread_count;
    for (*out = 0; *out < a->thread_count; ++*out) {
        if (a->threads[*out].thread == thread)
            return C2_OK;
        if (a->threads[*out].thread == 0 && free == a->thread_count)
            free = *out;
    }
    *out = free;
    if (free < a->thread_count)
        return C2_OK;
    if (!c2_grow((void **)&a->threads, &a->thread_room, a->thread_count, sizeof *a->threads))
        return c2_fail_memory(err, "the allocator's calls");
    a->threads[a->thread_count++] = (struct calls){.thread = 0};
    return C2_OK;
}

static enum c2_status allocations_switch_to(struct allocations *a, uint32_t thread, struct c2_error *err)
{
    uint32_t i;
    enum c2_status status = allocations_find_calls(a, thread, &i, err);
    if (status != C2_OK)
        return status;
    a->calls = &a->threads[i];
    a->calls->thread = thread;
    return callers_switch(a->callers, i, err);
}

static enum c2_status allocations_switched(void *self, struct engine *engine, uint32_t thread, struct c2_error *err)
{
    (void)engine;
    return allocations_switch_to(self, thread, err);
}

static enum c2_status allocations_exited(void *self, struct engine *engine, uint32_t thread, struct c2_error *err)
{
    struct allocations *a = self;
    (void)engine, (void)err;
    for (uint32_t i = 0; i < a->thread_count; i++) {
        if (a->threads[i].thread != thread)
            continue;
        a->threads[i].thread = 0;
        a->threads[i].depth = 0;
        callers_ended(a->callers, i);
    }
    return C2_OK;
}

/* ------------------------------------------------------------------ life */

static enum c2_status allocations_create_parts(struct allocations *a, const char *const *wrappers, size_t wrapper_count,
                                               struct c2_error *err)
{
    enum c2_status status = c2_map_create(&a->points, err);
    if (status == C2_OK)
        status = c2_map_create(&a->blocks, err);
    const struct callers_config callers = {
        a->mmu, a->symbols, wrappers, wrapper_count, a->blocks, allocations_watch_return, a};
    return status == C2_OK ? callers_create(&a->callers, &callers, err) : status;
}

enum c2_status allocations_create(struct allocations **out, const struct allocations_config *config,
                                  struct c2_error *err)
{
    *out = NULL;
    struct allocations *a = c2_calloc(1, sizeof *a);
    if (!a)
        return c2_fail_memory(err, "the allocator's calls");
    a->mmu = config->mmu;
    a->symbols = config->symbols;
    sort_family(a->of_length);
    enum c2_status status = allocations_create_parts(a, config->wrappers, config->wrapper_count, err);
    const struct modules_reader reader = {a, allocations_read_names, allocations_forget_entry, forgot_names};
    if (status == C2_OK)
        status = modules_create(&a->modules, a->mmu, &reader, err);
    if (status == C2_OK)
        status = allocations_switch_to(a, FIRST_THREAD, err);
    if (status == C2_OK)
        *out = a;
    else
        allocations_destroy(a);
    return status;
}

void allocations_destroy(struct allocations *a)
{
    if (!a)
        return;
    modules_destroy(a->modules);
    for (uint32_t i = 0; i < a->thread_count; i++)
        c2_free(a->threads[i].frames);
    c2_free(a->threads);
    callers_destroy(a->callers);
    c2_map_destroy(a->points);
    c2_map_destroy(a->blocks);
    c2_free(a);
}

bool allocations_met(const struct allocations *a, size_t wrapper) { return callers_met(a->callers, wrapper); }

static bool allocations_is_entry(const void *self, uint64_t address)
{
    return point_at(self, address) >= POINT_FUNCTION;
}

/* ------------------------------------------------------------------ checkpoints */

static void visit_frame(struct frame *frame, struct checkpoint *c)
{
    uint64_t function = frame->function ? (uint64_t)(frame->function - family) + 1 : 0;
    checkpoint_number(c, &function, FAMILY);
    frame->function = function ? &family[function - 1] : NULL;
    CHECKPOINT_NUMBER(c, frame->resolves, 1);
    CHECKPOINT_NUMBER(c, frame->outermost, 1);
    checkpoint_number(c, &frame->rsp, CHECKPOINT_ANY);
    checkpoint_number(c, &frame->pc, CHECKPOINT_ANY);
    checkpoint_number(c, &frame->site, CHECKPOINT_ANY);
    checkpoint_number(c, &frame->bytes, CHECKPOINT_ANY);
    checkpoint_number(c, &frame->pointer, CHECKPOINT_ANY);
}

static void visit_calls(struct calls *calls, struct checkpoint *c)
{
    uint64_t count = calls->depth;
    checkpoint_number(c, &count, UINT32_MAX);
    for (size_t i = 0; i < count; i++) {
        struct c2_error why;
        if (!checkpoint_writes(c) &&
            allocations_grow((void **)&calls->frames, &calls->room, i, sizeof *calls->frames, &why) != C2_OK)
            checkpoint_fail(c, &why);
        if (checkpoint_status(c, NULL) != C2_OK)
            return;
        visit_frame(&calls->frames[i], c);
        calls->depth = i + 1;
    }
    if (!frames_fall(calls))
        checkpoint_damaged(c, "calls of the allocator that are in no order");
}

static void allocations_visit_threads(struct allocations *a, struct checkpoint *c)
{
    uint64_t count = a->thread_count, running = (uint64_t)(a->calls - a->threads);
    checkpoint_number(c, &count, UINT32_MAX);
    for (uint32_t i = 0; i < count; i++) {
        if (i >= a->thread_count) {
            if (!checkpoint_room(c, (void **)&a->threads, &a->thread_room, i, sizeof *a->threads))
                return;
            a->threads[a->thread_count++] = (struct calls){.thread = 0};
        }
        CHECKPOINT_NUMBER(c, a->threads[i].thread, UINT32_MAX);
        visit_calls(&a->threads[i], c);
    }
    checkpoint_number(c, &running, count ? count - 1 : 0);
    if (count == 0)
        checkpoint_damaged(c, "no threads");
    else
        a->calls = &a->threads[running];
}

static void allocations_check_points(const struct allocations *a, struct checkpoint *c)
{
    struct c2_pair *points;
    if (checkpoint_writes(c) || c2_map_list(&points, a->points, NULL) != C2_OK)
        return;
    for (uint64_t i = 0; i < c2_map_count(a->points); i++)
        if (points[i].value / POINT_FUNCTION > FAMILY)
            checkpoint_damaged(c, "a function of the allocator that there is not");
    c2_free(points);
}

static void allocations_checkpoint(void *self, struct checkpoint *c)
{
    struct allocations *a = self;
    checkpoint_part(c, "the allocator's calls");
    checkpoint_map(c, a->points);
    allocations_check_points(a, c);
    checkpoint_map(c, a->blocks);
    checkpoint_number(c, &a->allocated, CHECKPOINT_ANY);
    modules_checkpoint(a->modules, c);
    if (!modules_hold(a->modules, allocations_is_entry, a))
        checkpoint_damaged(c, "a function of the allocator where none is");
    allocations_visit_threads(a, c);
    callers_checkpoint(a->callers, a->thread_count, c);
}

static void watch_allocations_destroy(void *self) { allocations_destroy(self); }

struct watcher allocations_watch(struct allocations *a)
{
    static const struct watch_calls calls = {.switched = allocations_switched,
                                             .exited = allocations_exited,
                                             .interrupted = interrupted,
                                             .resumed = resumed,
                                             .checkpoint = allocations_checkpoint,
                                             .destroy = watch_allocations_destroy};
    return (struct watcher){a, {.self = a, .wants = allocations_wants, .reached = allocations_reached}, &calls};
}

void allocations_check(const struct allocations *a)
{
    callers_check(a->callers);
    for (uint32_t i = 0; i < a->thread_count; i++) {
        C2_ASSERT(a->threads[i].depth <= a->threads[i].room);
        C2_ASSERT(frames_fall(&a->threads[i]));
    }
    modules_check(a->modules, allocations_is_entry, a);
}

void allocations_dump(const struct allocations *a, FILE *to)
{
    fprintf(to, "%" PRIu64 " blocks, %zu modules\n", c2_map_count(a->blocks), modules_count(a->modules));
    for (size_t i = 0; i < a->calls->depth; i++) {
        const struct frame *frame = &a->calls->frames[i];
        fprintf(to, "rsp 0x%" PRIx64 ": %s", frame->rsp, frame->function ? frame->function->name : "signal handler");
        if (frame->function)
            fprintf(to, ", returns to 0x%" PRIx64, frame->site);
        fputc('\n', to);
    }
}
