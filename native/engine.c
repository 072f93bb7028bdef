/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   The guest's instructions are executed by the host's processor, from a cache of translations in which each is copied
 *   as it is (translate.c, operands.c): guest address = host address, and all registers but two are the guest's. Blocks
 *   are cut, and instructions judged, by the rules of all engines (engine/decode.c, interpret/): what must be
 *   interpreted is so here as well. The records of the stream are written by the translations in place.
 *   A page that the guest may not access, or has not touched yet, faults on the host (mmu/ sees to that): it is touched
 *   (faults.c, run.c), or is an event; nothing of the instruction has taken effect then.
 * Cost
 *   A block 1 to 2 ns with its look at the limit; an address one or two instructions of the host; a way out to C and
 *   back 100 ns. bench/README.md has measurements.
 * Not modelled
 *   Debug registers; alignment checks (AC); exceptions of the x87 unit that trap (refused where one occurs). Behind GS
 *   branches with 32-bit addresses, and places relative to RIP that are far away; where instructions cannot set the
 *   bases (native_sets_bases), strings with 32-bit addresses behind FS or GS (refused). A branch to an address that is
 *   not canonical faults at its target. A whole block is read before any of it is executed: the page that it goes on to
 *   is touched, and may fault, when the block starts. Flags that manuals leave undefined, and the x87 unit's C1, are
 *   those of the host's processor.
 *   The engine is no wall: a hostile program can find and change what is c2emu's own.
 */
#include "engine/code.h"
#include "native/native_priv.h"

#include <cpuid.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/base.h"

static struct native *engine_self_of(struct engine *engine) { return (struct native *)engine; }

/* ------------------------------------------------------------------ what the host must have */

/* All that is executed whatever the guest finds by CPUID (interpret/forms.c). */
static const char *processor_lacks(void)
{
    unsigned a, b, c, d;
    if (cpu_host_has(cpu_of_level(CPU_V2), NULL) != C2_OK)
        return "a processor with all of x86-64-v2";
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_BMI) || !(b & bit_BMI2) || !(b & bit_ADX))
        return "a processor with BMI1, BMI2 and ADX";
    if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || !(c & bit_LZCNT))
        return "a processor with LZCNT";
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_MOVBE))
        return "a processor with MOVBE";
    return NULL;
}

const char *native_lacks(void)
{
    static bool asked;
    static const char *lacks;
    if (asked)
        return lacks;
    asked = true;
    lacks = processor_lacks();
    if (!lacks && !native_cache_is_possible())
        lacks = "memory that is executable at one address and writable at another, which this host refuses";
    return lacks;
}

static enum c2_status native_version(char out[ENGINE_VERSION_BYTES], struct c2_error *err)
{
    (void)err;
    snprintf(out, ENGINE_VERSION_BYTES, "1");
    return C2_OK;
}

/* ------------------------------------------------------------------ registers */

static void get_registers(const struct native_context *context, struct syscalls_cpu *cpu)
{
    _Static_assert(sizeof cpu->gpr == sizeof context->gpr, "sixteen registers each");
    memcpy(cpu->gpr, context->gpr, sizeof cpu->gpr);
    cpu->fs_base = context->fs_base;
    cpu->gs_base = context->gs_base;
}

static void native_get_cpu(struct engine *engine, struct syscalls_cpu *cpu)
{
    struct native *n = engine_self_of(engine);
    get_registers(n->context, cpu);
    cpu->rip = n->rip;
    cpu->rflags = native_get_flags(n);
    native_get_fxsave(n, cpu->fxsave);
    cpu->xcr0 = n->cpu.model->xcr0;
    native_get_wide(n, &cpu->wide);
}

static void native_set_cpu(struct engine *engine, const struct syscalls_cpu *cpu)
{
    _Static_assert(sizeof cpu->fxsave == sizeof((struct native_context *)0)->fxsave, "the image of FXSAVE");
    struct native *n = engine_self_of(engine);
    memcpy(n->context->gpr, cpu->gpr, sizeof cpu->gpr);
    n->context->fs_base = cpu->fs_base;
    n->context->gs_base = cpu->gs_base;
    n->rip = cpu->rip;
    n->cut_pc = 0;
    native_set_flags(n, cpu->rflags);
    native_set_fxsave(n, cpu->fxsave);
    native_set_wide(n, &cpu->wide);
}

struct engine_registers {
    struct syscalls_cpu cpu;
};

static struct engine_registers *native_registers_create(struct engine *engine)
{
    struct engine_registers *registers = c2_alloc(sizeof *registers);
    if (registers)
        native_get_cpu(engine, &registers->cpu);
    return registers;
}

static void native_keep(struct engine *engine, struct engine_registers *to)
{
    C2_PROMISE(to);
    native_get_cpu(engine, &to->cpu);
}
static void native_take(struct engine *engine, struct engine_registers *from)
{
    C2_PROMISE(from);
    native_set_cpu(engine, &from->cpu);
}
static void native_read_kept(struct engine *engine, struct engine_registers *from, struct syscalls_cpu *out)
{
    (void)engine;
    *out = from->cpu;
}

static void native_set_result(struct engine *engine, uint64_t rax, const struct syscalls_cpu *bases)
{
    struct native_context *context = engine_self_of(engine)->context;
    context->gpr[0] = rax;
    if (!bases)
        return;
    context->fs_base = bases->fs_base;
    context->gs_base = bases->gs_base;
}

static uint64_t native_gpr(struct engine *engine, unsigned gpr)
{
    C2_PROMISE(gpr < 16);
    return engine_self_of(engine)->context->gpr[gpr];
}

/* ------------------------------------------------------------------ calls between two runs */

static enum c2_status native_set_recording(struct engine *engine, bool on, struct c2_error *err)
{
    C2_PROMISE(!on || engine_self_of(engine)->base.config.writer);
    (void)err;
    engine_self_of(engine)->recording = on;
    return C2_OK;
}

static uint64_t native_instructions(const struct engine *engine)
{
    return ((const struct native *)engine)->instructions;
}

struct executed {
    struct native *n;
    void (*take)(void *self, struct guest_va pc, uint64_t instructions);
    void *self;
};

static void engine_take_block(void *self, struct native_block *block)
{
    C2_PROMISE(block->counter < CONTEXT_COUNTERS_MOST);
    const struct executed *to = self;
    uint64_t *const executed = &to->n->context->executed[block->counter];
    if (*executed != 0)
        to->take(to->self, (struct guest_va){block->pc}, *executed);
    *executed = 0;
}

static void native_take_executed(struct engine *engine,
                                 void (*take)(void *self, struct guest_va pc, uint64_t instructions), void *self)
{
    C2_PROMISE(engine_self_of(engine)->codes.counting);
    struct executed to = {engine_self_of(engine), take, self};
    native_blocks_each(to.n->blocks, engine_take_block, &to);
    engine_specials_take(native_blocks_guest(to.n->blocks), take, self);
}

static bool native_amid_block(const struct engine *engine)
{
    const struct native *n = (const struct native *)engine;
    return n->cut_pc != 0 && n->cut_at == n->instructions;
}

static void native_set_amid_block(struct engine *engine, bool amid)
{
    C2_PROMISE(!amid || engine_self_of(engine)->rip != 0);
    struct native *n = engine_self_of(engine);
    n->cut_pc = amid ? n->rip : 0;
    n->cut_at = n->instructions;
}

static void native_resume(struct engine *engine, uint64_t instructions)
{
    C2_ASSERT(engine_self_of(engine)->instructions == 0);
    engine_self_of(engine)->instructions = instructions;
}

static enum c2_status native_watch(struct engine *engine, struct guest_va pc, struct c2_error *err)
{
    C2_PROMISE(engine_self_of(engine)->blocks && engine->config.watch.reached);
    struct native *n = engine_self_of(engine);
    struct native_block *known;
    enum c2_status status = native_blocks_watch(&known, n->blocks, pc.v, err);
    if (known)
        native_isolate(&n->codes, known);
    return status;
}

static void native_stop(struct engine *engine) { engine_self_of(engine)->stopped = true; }

static void native_guard(struct engine *engine, struct guest_va from, uint64_t bytes)
{
    C2_PROMISE(bytes == 0 || from.v + bytes > from.v);
    engine_self_of(engine)->guard_from = from.v;
    engine_self_of(engine)->guard_bytes = bytes;
}

static bool native_beyond(const struct engine *engine) { return ((const struct native *)engine)->beyond; }

static void native_interrupt(struct engine *engine) { engine_self_of(engine)->interrupted = 1; }

/* ------------------------------------------------------------------ code that changes */

static void engine_isolate(void *self, struct native_block *block)
{
    C2_PROMISE(block->stale);
    native_isolate(&((struct native *)self)->codes, block);
}

/* Code in the range has changed. No record is open. */
enum c2_status native_forget_code(struct native *n, uint64_t start, uint64_t bytes)
{
    C2_ASSERT(n->blocks);
    struct stream_writer *writer = n->base.config.writer;
    if (!native_blocks_forget(n->blocks, start, bytes, engine_isolate, n) || !writer)
        return C2_OK;
    return stream_writer_mark(writer, STREAM_CODE, (const uint64_t[]){start, bytes}, 2, &n->failure);
}

static void engine_after_change_of_areas(void *self, struct guest_va start, uint64_t bytes, bool code)
{
    struct native *n = self;
    if (code && native_forget_code(n, start.v, bytes) != C2_OK)
        n->failed = true;
}

/* ------------------------------------------------------------------ life */

static void release_program(struct native *n)
{
    C2_PROMISE(!n->blocks || n->base.config.mmu);
    if (n->base.config.mmu)
        mmu_unlisten(n->base.config.mmu, n);
    native_handle_no_signals(n);
    native_blocks_destroy(n->blocks);
    n->blocks = NULL;
    n->base.config = (struct engine_config){0};
}

static void native_destroy(struct engine *engine)
{
    C2_PROMISE(engine->ops == &engine_native_ops);
    struct native *n = engine_self_of(engine);
    release_program(n);
    native_codes_release(&n->codes);
    native_wide_end(n);
    if (n->context)
        munmap(n->context, sizeof *n->context);
    if (n->runway)
        munmap((void *)(uintptr_t)n->runway, NATIVE_RUNWAY_BYTES + C2_PAGE_BYTES);
    c2_free(n);
}

static void native_retire(struct engine *engine)
{
    C2_PROMISE(engine->ops == &engine_native_ops);
    release_program(engine_self_of(engine));
}

/* Any other program: of the last one nothing is kept. */
static bool native_suits(const struct engine *engine, const struct engine_config *config)
{
    (void)engine, (void)config;
    return true;
}

/* As Linux gives them to a program. */
static void reset_registers(struct native *n)
{
    struct syscalls_cpu cpu;
    memset(&cpu, 0, sizeof cpu);
    const uint16_t control = 0x37f;
    const uint32_t mxcsr = 0x1f80;
    memcpy(cpu.fxsave, &control, sizeof control);
    memcpy(cpu.fxsave + 24, &mxcsr, sizeof mxcsr);
    cpu.rflags = 2;
    native_set_cpu(&n->base, &cpu);
}

static enum c2_status refused_memory(size_t bytes, struct c2_error *err)
{
    return c2_fail(err, C2_ERR_NO_MEMORY,
                   "the host refuses the native engine %zu MiB of memory (%s): lift the limits on memory (ulimit -d "
                   "unlimited, ulimit -v unlimited)",
                   bytes >> 20, strerror(errno));
}

/* It is read alone, so one page of zeros of the host's is all that it takes. */
static enum c2_status make_runway(struct native *n, struct c2_error *err)
{
    _Static_assert(NATIVE_RUNWAY_BYTES % C2_PAGE_BYTES == 0, "a page lies right behind it");
    C2_ASSERT(n->runway == 0);
    const size_t bytes = NATIVE_RUNWAY_BYTES + C2_PAGE_BYTES;
    void *at = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_POPULATE, -1, 0);
    if (at == MAP_FAILED)
        return refused_memory(bytes, err);
    n->runway = (uint64_t)(uintptr_t)at;
    return mprotect((char *)at + NATIVE_RUNWAY_BYTES, C2_PAGE_BYTES, PROT_NONE) == 0 ? C2_OK
                                                                                     : refused_memory(bytes, err);
}

static enum c2_status make_context(struct native *n, struct c2_error *err)
{
    C2_ASSERT(!n->context);
    void *at = mmap(NULL, sizeof *n->context, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                    0);
    if (at == MAP_FAILED)
        return refused_memory(sizeof *n->context, err);
    n->context = at;
    n->context->leave = (uint64_t)(uintptr_t)native_leave_code;
    n->context->bases = native_sets_bases();
    n->codes.context = at;
    return make_runway(n, err);
}

/* All that is of one program; the rest is as it was made, or as new again. */
static enum c2_status begin_native_program(struct native *n, const struct engine_config *config, struct c2_error *err)
{
    C2_ASSERT(n->context && n->runway != 0 && !n->blocks && !n->handles);
    n->base.ops = &engine_native_ops;
    n->base.config = *config;
    n->cpu = native_cpu_functions;
    n->cpu.self = n;
    native_wide_functions(&n->cpu);
    if (!config->cpu)
        n->base.config.cpu = cpu_of_level(CPU_V2);
    n->from = -1;
    n->codes.counting = config->count_blocks;
    native_wide_begin(n, n->base.config.cpu);
    reset_registers(n);
    enum c2_status status = native_blocks_create(&n->blocks, config, n->codes.forms, err);
    if (status == C2_OK)
        status = native_handle_signals(n, err);
    if (status != C2_OK)
        return status;
    const struct mmu_listener listener = {.self = n, .after = engine_after_change_of_areas};
    return mmu_listen(config->mmu, listener, err);
}

static enum c2_status native_create(struct engine **out, const struct engine_config *config, struct c2_error *err)
{
    const char *lacks = native_lacks();
    if (lacks)
        return c2_fail(err, C2_ERR_UNSUPPORTED, "the native engine needs %s: use --engine unicorn", lacks);
    struct native *n = c2_calloc(1, sizeof *n);
    if (!n)
        return c2_fail_memory(err, "the engine");
    n->base.ops = &engine_native_ops;
    enum c2_status status = make_context(n, err);
    if (status == C2_OK)
        status = native_codes_create(&n->codes, err);
    if (status == C2_OK)
        status = begin_native_program(n, config, err);
    if (status != C2_OK) {
        native_destroy(&n->base);
        return status;
    }
    *out = &n->base;
    return C2_OK;
}

/* Translations belong to blocks, which have ended with their program. Their memory, which the host has given pages to,
 * is used again, at the same addresses; so is that of instructions under masks, which are of no program. */
static enum c2_status native_reuse(struct engine *engine, const struct engine_config *config, struct c2_error *err)
{
    struct native *n = engine_self_of(engine);
    C2_ASSERT(!n->blocks && !n->handles);
    const struct native was = *n;
    memset(n, 0, sizeof *n);
    n->context = was.context;
    n->codes = was.codes;
    n->runway = was.runway;
    n->masked_count = was.masked_count;
    n->masked_of = was.masked_of;
    native_drop(&n->codes, NULL);
    n->codes.densest = 1;
    n->codes.most_slots = 0;
    if (was.codes.counting)
        madvise(n->context->executed, sizeof n->context->executed, MADV_DONTNEED);
    return begin_native_program(n, config, err);
}

const struct engine_ops engine_native_ops = {
    .name = "native",
    .version = native_version,
    .on_host = true,
    .create = native_create,
    .destroy = native_destroy,
    .retire = native_retire,
    .suits = native_suits,
    .reuse = native_reuse,
    .get_cpu = native_get_cpu,
    .set_cpu = native_set_cpu,
    .registers_create = native_registers_create,
    .keep = native_keep,
    .take = native_take,
    .read_kept = native_read_kept,
    .set_result = native_set_result,
    .set_recording = native_set_recording,
    .run = native_run_guest,
    .instructions = native_instructions,
    .take_executed = native_take_executed,
    .amid_block = native_amid_block,
    .set_amid_block = native_set_amid_block,
    .resume = native_resume,
    .gpr = native_gpr,
    .watch = native_watch,
    .stop = native_stop,
    .guard = native_guard,
    .beyond = native_beyond,
    .interrupt = native_interrupt,
};
