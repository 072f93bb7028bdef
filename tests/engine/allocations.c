/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * test_engine_allocations PROGRAM: calls, tail calls, returns, long jumps and signal handlers at random, told to
 * watch/allocations.c by an engine that executes nothing, and to a twin that knows the truth: it keeps every
 * activation, so it need not guess from RSP which calls are still there. The marks must be the same. PROGRAM has an
 * allocator in its own file. Then want of memory at each allocation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "watch/allocations.h"
#include "engine/engine_ops.h"

enum { RAX = 0, RDX = 2, RSP = 4, RSI = 6, RDI = 7 };
enum { STACK = 0x70000000, STACK_BYTES = 1 << 18, POOL = 0x100000, BLOCKS = 24, DEPTH = 14, EVENTS = 200000 };

/* Functions of the program, by what the twin has to know of them. */
enum kind { MALLOC, CALLOC, REALLOC, MEMALIGN, STORED, FREE, SETJMP, KINDS };
static const char *const names[KINDS] = {"malloc",         "calloc", "realloc", "memalign",
                                         "posix_memalign", "free",   "_setjmp"};
static const enum stream_allocator allocators[KINDS] = {STREAM_MALLOC, STREAM_CALLOC, STREAM_REALLOC, STREAM_ALIGNED,
                                                        STREAM_ALIGNED};

enum what { PLAIN, FAMILY, HANDLER };
struct activation {
    enum what what;
    enum kind kind;
    uint64_t rsp;   /* of its return address */
    uint64_t frame; /* RSP within it, from which its calls go on */
    uint64_t site;
    uint64_t landing; /* PLAIN: where its setjmp returns */
    uint64_t bytes, old, memptr;
};

struct world {
    struct engine engine; /* first: ours */
    uint64_t gpr[16];
    struct c2_map *watched;
    struct c2_rng rng;
    struct mmu *mmu;
    struct loader_symbols *symbols;
    struct loader_image image;
    struct allocations *allocations;
    struct engine_watch watch;
    uint64_t entries[KINDS];
    struct activation stack[DEPTH + 1];
    unsigned depth;
    bool live[BLOCKS];
    uint64_t marks[64][5], expected[64][5]; /* of one event */
    unsigned mark_count, expected_count;
    uint64_t total;
    struct c2_error err;
};

static const char *program;

/* ------------------------------------------------------------------ the engine that executes nothing */

static uint64_t fake_gpr(struct engine *engine, unsigned gpr) { return ((struct world *)engine)->gpr[gpr]; }

static enum c2_status fake_watch(struct engine *engine, struct guest_va pc, struct c2_error *err)
{
    return c2_map_put(((struct world *)engine)->watched, pc.v, 1, err);
}

static const struct engine_ops fake_ops = {.name = "fake", .gpr = fake_gpr, .watch = fake_watch};

/* What has been written into the stream. */
static void take_marks(struct world *w)
{
    struct stream_batch *batch = w->engine.config.writer->batch;
    for (uint32_t i = 0; i < batch->used; i += 1 + stream_header_slots(batch->words[i])) {
        const uint64_t header = batch->words[i];
        assert_true(w->mark_count < 64 && stream_header_slots(header) <= 4);
        w->marks[w->mark_count][0] = stream_header_insns(header);
        memcpy(&w->marks[w->mark_count++][1], &batch->words[i + 1], stream_header_slots(header) * sizeof(uint64_t));
    }
    batch->used = 0;
}

/* The guest is about to execute the block at pc. */
static enum c2_status come_to(struct world *w, uint64_t pc, uint64_t rsp)
{
    uint64_t known = 0;
    bool wanted = false;
    enum c2_status status = C2_OK;
    w->gpr[RSP] = rsp;
    if (!c2_map_get(w->watched, pc, &known))
        status = w->watch.wants(&wanted, w->watch.self, (struct guest_va){pc}, &w->err);
    if (status == C2_OK && (known || wanted))
        status = w->watch.reached(w->watch.self, &w->engine, (struct guest_va){pc}, &w->err);
    take_marks(w);
    return status;
}

/* ------------------------------------------------------------------ the twin */

static void expect_mark(struct world *w, enum stream_mark mark, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    const uint64_t words[5] = {mark, a, b, c, d};
    memcpy(w->expected[w->expected_count++], words, sizeof words);
}

static void expect_free(struct world *w, uint64_t address)
{
    unsigned block = (unsigned)((address - POOL) / 16);
    if (address < POOL || block >= BLOCKS || !w->live[block])
        return;
    w->live[block] = false;
    expect_mark(w, STREAM_FREED, address, 0, 0, 0);
}

static bool inside_other(const struct world *w)
{
    for (unsigned i = w->depth - 1; i-- > 0 && w->stack[i].what != HANDLER;)
        if (w->stack[i].what == FAMILY)
            return true;
    return false;
}

/* The innermost activation returns with this result. */
static void expect_return(struct world *w, const struct activation *call, uint64_t result)
{
    if (call->kind == FREE || (call->kind == REALLOC && (result || call->bytes == 0)))
        expect_free(w, call->old);
    if (call->kind == FREE || !result || inside_other(w))
        return;
    expect_free(w, result);
    w->live[(result - POOL) / 16] = true;
    expect_mark(w, STREAM_ALLOCATED, result, call->bytes, allocators[call->kind], call->site);
}

/* ------------------------------------------------------------------ events */

static uint64_t below(struct world *w, uint64_t limit) { return c2_rng_below(&w->rng, limit); }
static struct activation *top(struct world *w) { return &w->stack[w->depth - 1]; }
static uint64_t any_block(struct world *w) { return below(w, 6) ? POOL + 16 * below(w, BLOCKS) : 0; }

/* Places in the program that no function of the family starts at; each function has its own. */
static uint64_t any_site(struct world *w, enum kind kind)
{
    return w->image.program_entry + 1 + 8 * kind + below(w, 3);
}

static void arguments(struct world *w, struct activation *call)
{
    uint64_t first = below(w, 1000), second = below(w, 100);
    w->gpr[RDI] = first, w->gpr[RSI] = second, w->gpr[RDX] = below(w, 50);
    call->bytes = first;
    switch (call->kind) {
    case CALLOC:
        call->bytes = first * second;
        break;
    case REALLOC:
        w->gpr[RSI] = call->bytes = below(w, 4) ? second : 0;
        w->gpr[RDI] = call->old = any_block(w);
        break;
    case MEMALIGN:
        call->bytes = second;
        break;
    case STORED:
        w->gpr[RDI] = call->memptr = STACK + 8 * below(w, 100);
        call->bytes = w->gpr[RDX];
        break;
    case FREE:
        w->gpr[RDI] = call->old = any_block(w);
        break;
    default:
        break;
    }
}

static enum c2_status enter(struct world *w, enum what what)
{
    static const unsigned gaps[] = {0, 16, 48, 400};
    struct activation call = {.what = what, .kind = what == PLAIN ? SETJMP : (enum kind)below(w, SETJMP)};
    call.rsp = top(w)->frame - gaps[below(w, 4)] - 8;
    call.frame = call.rsp - 8 * below(w, 5);
    call.site = any_site(w, what == PLAIN ? KINDS : call.kind);
    memcpy((void *)(uintptr_t)call.rsp, &call.site, sizeof call.site);
    w->stack[w->depth++] = call;
    if (what == FAMILY) {
        arguments(w, top(w));
        enum c2_status status = C2_OK;
        for (uint64_t times = 1 + (below(w, 8) == 0); times > 0 && status == C2_OK;
             times--) /* its first block faults */
            status = come_to(w, w->entries[call.kind], call.rsp);
        return status;
    }
    uint64_t slot = call.frame - 8; /* of its call of setjmp */
    top(w)->landing = any_site(w, SETJMP);
    memcpy((void *)(uintptr_t)slot, &top(w)->landing, sizeof slot);
    enum c2_status status = come_to(w, w->entries[SETJMP], slot);
    return status == C2_OK ? come_to(w, top(w)->landing, call.frame) : status;
}

static bool only_allocates(enum kind kind) { return kind != FREE && kind != REALLOC; }

/* What allocates ends with a jump to another that does. */
static enum c2_status tail_call(struct world *w)
{
    enum kind other = (enum kind)below(w, SETJMP);
    struct activation ignored = {.kind = other};
    if (other == top(w)->kind || !only_allocates(other) || !only_allocates(top(w)->kind))
        return C2_OK;
    arguments(w, &ignored);
    return come_to(w, w->entries[other], top(w)->rsp);
}

static enum c2_status leave(struct world *w)
{
    struct activation call = *top(w);
    uint64_t result = any_block(w);
    if (call.what == FAMILY) {
        if (call.kind == STORED)
            memcpy((void *)(uintptr_t)call.memptr, &result, sizeof result);
        w->gpr[RAX] = call.kind != STORED ? result : result ? 0xabc00000000 : 12; /* an int */
        expect_return(w, &call, result);
    }
    w->depth--;
    if (call.what == HANDLER) {
        allocations_watch(w->allocations).calls->resumed(w->allocations);
        return C2_OK;
    }
    return come_to(w, call.site, call.rsp + 8);
}

/* Out of everything above some function that has called setjmp. */
static enum c2_status jump(struct world *w)
{
    unsigned depth = 1 + (unsigned)below(w, w->depth);
    while (depth > 1 && w->stack[depth - 1].what != PLAIN)
        depth--;
    if (depth <= 1)
        return C2_OK;
    w->depth = depth;
    return come_to(w, top(w)->landing, top(w)->frame);
}

static enum c2_status interrupt(struct world *w)
{
    uint64_t rsp = top(w)->frame - 1024;
    w->stack[w->depth++] = (struct activation){.what = HANDLER, .rsp = rsp, .frame = rsp};
    return allocations_watch(w->allocations).calls->interrupted(w->allocations, rsp, &w->err);
}

static enum c2_status event(struct world *w)
{
    bool full = w->depth == DEPTH, empty = w->depth == 1;
    unsigned choice = (unsigned)below(w, 100);
    if (choice < 6 && !full)
        return interrupt(w);
    if (choice < 10)
        return jump(w);
    if (choice < 16 && top(w)->what == FAMILY)
        return tail_call(w);
    return empty || (choice < 50 && !full) ? enter(w, choice % 3 ? FAMILY : PLAIN) : leave(w);
}

/* ------------------------------------------------------------------ the tests */

static void make_stack(struct world *w)
{
    struct guest_va at;
    struct mmu_request request = {.address = STACK,
                                  .bytes = STACK_BYTES,
                                  .prot = MMU_READ | MMU_WRITE,
                                  .fixed = true,
                                  .kind = MMU_ANONYMOUS,
                                  .host_fd = -1};
    assert_int_equal(mmu_map(w->mmu, &request), STACK);
    assert_int_equal(mmu_touch_range(w->mmu, (struct guest_va){STACK}, STACK_BYTES, MMU_ACCESS_WRITE, &at, NULL),
                     MMU_FAULT_NONE);
    w->stack[0] = (struct activation){
        .what = PLAIN, .rsp = STACK + STACK_BYTES - 64, .frame = STACK + STACK_BYTES - 64};
    w->depth = 1;
}

static enum c2_status note_entry(void *self, const char *name, struct guest_va entry, bool resolver,
                                 struct c2_error *err)
{
    struct world *w = self;
    (void)resolver;
    (void)err;
    for (unsigned i = 0; i < KINDS; i++) {
        if (strcmp(name, names[i]) == 0)
            w->entries[i] = entry.v;
    }
    return C2_OK;
}

static void find_entries(struct world *w)
{
    const struct loader_entry_listener listener = {w, note_entry};
    const struct guest_va code = {w->image.program_entry};
    assert_int_equal(loader_function_entries(w->symbols, code, &listener, &w->err), C2_OK);
    for (unsigned i = 0; i < KINDS; i++)
        assert_int_not_equal(w->entries[i], 0);
}

static void make_world(struct world *w)
{
    const char *const argv[] = {program, NULL}, *const envp[] = {NULL};
    struct mmu_guest_config memory = {.guest_bytes = 1 << 30};
    struct loader_request request = {.program = program, .argv = argv, .envp = envp, .seed = 1};
    memset(w, 0, sizeof *w);
    w->engine.ops = &fake_ops;
    const struct stream_sink nowhere = {.self = NULL};
    assert_int_equal(stream_writer_create(&w->engine.config.writer, nowhere, &w->err), C2_OK);
    c2_rng_init(&w->rng, 1, "events");
    assert_int_equal(mmu_create(&w->mmu, &memory, &w->err), C2_OK);
    assert_int_equal(loader_load(&w->image, w->mmu, &request, &w->err), C2_OK);
    assert_int_equal(loader_symbols_create(&w->symbols, mmu_areas(w->mmu), &w->err), C2_OK);
    assert_int_equal(c2_map_create(&w->watched, &w->err), C2_OK);
    make_stack(w);
    find_entries(w);
}

static void end_world(struct world *w)
{
    allocations_destroy(w->allocations);
    stream_writer_destroy(w->engine.config.writer);
    c2_map_destroy(w->watched);
    loader_symbols_destroy(w->symbols);
    loader_image_release(&w->image);
    mmu_destroy(w->mmu);
}

static enum c2_status begin(struct world *w)
{
    const struct allocations_config config = {.mmu = w->mmu, .symbols = w->symbols};
    enum c2_status status = allocations_create(&w->allocations, &config, &w->err);
    if (status == C2_OK)
        w->watch = allocations_watch(w->allocations).reached;
    return status;
}

static void tell(const struct world *w, FILE *to)
{
    for (unsigned i = 0; i < w->depth; i++)
        fprintf(to, "activation %u: kind %d of %d, rsp 0x%llx, returns to 0x%llx\n", i, w->stack[i].kind,
                w->stack[i].what, (unsigned long long)w->stack[i].rsp, (unsigned long long)w->stack[i].site);
    for (unsigned i = 0; i < w->mark_count; i++)
        fprintf(to, "mark %llu 0x%llx\n", (unsigned long long)w->marks[i][0], (unsigned long long)w->marks[i][1]);
    for (unsigned i = 0; i < w->expected_count; i++)
        fprintf(to, "expected %llu 0x%llx\n", (unsigned long long)w->expected[i][0],
                (unsigned long long)w->expected[i][1]);
}

static void same_as_the_twin(void **state)
{
    static struct world w;
    (void)state;
    make_world(&w);
    assert_int_equal(begin(&w), C2_OK);
    for (unsigned i = 0; i < EVENTS; i++) {
        w.mark_count = w.expected_count = 0;
        assert_int_equal(event(&w), C2_OK);
        allocations_check(w.allocations);
        if (w.mark_count != w.expected_count || memcmp(w.marks, w.expected, w.mark_count * sizeof *w.marks) != 0) {
            allocations_dump(w.allocations, stderr);
            tell(&w, stderr);
            fail_msg("event %u, depth %u: %u marks, the twin has %u", i, w.depth, w.mark_count, w.expected_count);
        }
        w.total += w.mark_count;
        memset(w.marks, 0, sizeof w.marks);
        memset(w.expected, 0, sizeof w.expected);
    }
    printf("%llu marks\n", (unsigned long long)w.total);
    assert_true(w.total > EVENTS / 50); /* most calls are inside others */
    end_world(&w);
}

static void want_of_memory(void **state)
{
    static struct world w;
    uint64_t failed = 0;
    enum c2_status status;
    (void)state;
    do {
        make_world(&w);
        loader_symbols_destroy(w.symbols); /* those are read anew, with failures */
        assert_int_equal(loader_symbols_create(&w.symbols, mmu_areas(w.mmu), &w.err), C2_OK);
        c2_alloc_fail_from(++failed);
        status = begin(&w);
        for (unsigned i = 0; i < 300 && status == C2_OK; i++) {
            w.mark_count = w.expected_count = 0;
            status = event(&w);
        }
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK || (status == C2_ERR_NO_MEMORY && w.err.status == C2_ERR_NO_MEMORY));
        end_world(&w);
    } while (status != C2_OK);
    assert_true(failed > 10);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_the_twin),
        cmocka_unit_test(want_of_memory),
    };
    if (argc != 2) {
        fprintf(stderr, "usage: test_engine_allocations PROGRAM\n");
        return 2;
    }
    program = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
