/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * usage: engine_sequences [mutant | explain | brief | explain-brief] [x86-64-v3 | x86-64-v4 | host] [FIRST [LAST]]
 *
 * Runs the random programs of the seeds FIRST to LAST (sequences.h) on the CPU and in the engine, where each runs
 * several times: on pages met for the first time and again on known ones, recording references and not, in one go, in
 * small budgets, and with the recording switched on and off between them; in between the registers leave the engine for
 * those of another thread and come back. Fails if anything differs: registers, flags, x87 and SSE state, memory, the
 * code itself, a signal and its place, whether a fault is one of writing, the number of instructions, where a budget
 * ends, or the references of the runs among themselves, instruction by instruction; and if a block is not cut by the
 * rule of stream.h (blocks.h). With "mutant" the engine's copy of the code has one bit of an instruction turned, in
 * every program; then half of them must differ, or the test cannot fail. With "explain" a program that differs is run
 * again up to each of its instructions, to find the first that makes the difference. "brief": brief programs. With
 * a processor beyond x86-64-v2, which the native engine alone executes, programs have its instructions of VEX and EVEX
 * as well.
 */
#include <signal.h>
#include <stdlib.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "engine/engine.h"
#include "interpret/interpret_priv.h"
#include "engine/tested.h"
#include "engine/blocks.h"
#include "engine/sequences.h"

#define STOP_ADDRESS 0x4fff0000u /* INT3 of the engine */
#define MOST_INSNS 100000u       /* of a program; a mutant may never end */
#define EARLY_END 32             /* another way out, behind the usual one */
#define PROGRAMS_PER_BENCH 40u   /* an engine keeps all code that it has met */

static _Noreturn void die(const char *what, const struct c2_error *err)
{
    fprintf(stderr, "%s: %s\n", what, err ? err->text : "");
    exit(2);
}

/* ------------------------------------------------------------------ what was recorded, without its blocks */

struct event {
    uint64_t pc;
    uint64_t address;
    uint8_t kind, size; /* enum stream_kind + 1; 0: the instruction itself */
};

struct recording {
    struct stream_blocks *blocks;
    struct event *events;
    size_t count, capacity;
    uint64_t insns;
};

static void add_event(struct recording *r, struct event event)
{
    if (r->count == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 4096;
        r->events = c2_realloc(r->events, r->capacity * sizeof *r->events);
        C2_ASSERT(r->events);
    }
    r->events[r->count++] = event;
}

/* A repeated instruction that went on after a page fault: one, with all elements, from the first address on. */
static void join_repeats(struct recording *r)
{
    struct event *e = r->events + r->count;
    if (r->count < 8 || e[-1].kind != STREAM_REMAINING + 1 || e[-5].kind != STREAM_REMAINING + 1 ||
        e[-1].pc != e[-5].pc || e[-5].address == 0)
        return;
    const uint64_t words[] = {e[-4].address, e[-3].address, e[-2].address, e[-1].address};
    if (stream_string_before(words) != e[-5].address)
        return;
    e[-6].address += e[-2].address;
    e[-5].address = e[-1].address;
    r->count -= 4;
}

static void add_record(struct recording *r, uint64_t header, const uint64_t *words)
{
    const struct stream_block *block = stream_blocks_at(r->blocks, stream_header_block(header));
    unsigned slots = stream_header_slots(header), slot = 0, insns = stream_header_insns(header);
    for (unsigned i = 0; i < block->insn_count; i++) {
        uint64_t pc = block->pc.v + block->insns[i].offset;
        for (; slot < slots && block->slots[slot].insn == i; slot++)
            add_event(r,
                      (struct event){pc, words[slot], (uint8_t)(block->slots[slot].kind + 1), block->slots[slot].size});
        join_repeats(r);
        if (i < insns)
            add_event(r, (struct event){.pc = pc});
    }
    r->insns += insns;
}

static enum c2_status consume(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    (void)err;
    for (uint32_t at = 0; at < batch->used; at += 1 + stream_header_slots(batch->words[at]))
        if (stream_header_block(batch->words[at]) != STREAM_MARK)
            add_record(self, batch->words[at], batch->words + at + 1);
    return C2_OK;
}

static enum c2_status drain(void *self, struct c2_error *err)
{
    (void)self, (void)err;
    return C2_OK;
}

/* ------------------------------------------------------------------ the bench */

enum how { WHOLE, SLICES, SWITCHED };

struct bench {
    struct mmu *mmu;
    struct stream_blocks *blocks[2];
    struct engine *engines[2]; /* recording, not recording */
    struct engine_registers *kept[2];
    struct stream_writer *writer;
    struct recording recording, first;
    /* Instructions of this run at which recording was switched: on, off, on ... */
    uint64_t *switches;
    size_t switch_count, switch_room;
    char missed[120];              /* which budget was not kept to the instruction, or which registers; "": none */
    const struct cpu_model *model; /* NULL: x86-64-v2 */
    struct form *forms;
    size_t form_count;
    uint64_t faulted; /* where the program ends by a signal on the CPU; 0: it does not */
    bool mutant, explain, brief, ended_early;
    struct c2_rng rng;
};

static void map(struct bench *b, uint64_t address, uint64_t bytes, unsigned prot)
{
    struct mmu_request request = {.address = address, .bytes = bytes, .prot = prot, .fixed = true, .host_fd = -1};
    if (mmu_map(b->mmu, &request) != (int64_t)address ||
        mprotect((void *)(uintptr_t)address, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        die("mmu_map", NULL);
}

/* Fresh pages, which the guest has not met. */
static void map_program(struct bench *b, const struct program *p)
{
    map(b, PROGRAM_CODE, PROGRAM_CODE_BYTES, MMU_READ | MMU_EXEC | (p->writable ? MMU_WRITE : 0));
    map(b, PROGRAM_DATA, PROGRAM_DATA_BYTES, MMU_READ | MMU_WRITE);
    map(b, PROGRAM_CONSTANTS, PROGRAM_CONSTANT_BYTES, MMU_READ);
    mprotect((void *)(uintptr_t)PROGRAM_CONSTANTS, PROGRAM_CONSTANT_BYTES, PROT_READ);
}

static void put_program(const struct program *p)
{
    memcpy((void *)(uintptr_t)PROGRAM_CODE, p->code, PROGRAM_CODE_BYTES);
    memcpy((void *)(uintptr_t)PROGRAM_DATA, p->data, PROGRAM_DATA_BYTES);
}

static void open_engine(struct bench *b, int i)
{
    struct c2_error err;
    struct engine_config config = {.mmu = b->mmu, .cpu = b->model};
    if (stream_blocks_create(&b->blocks[i], &err) != C2_OK)
        die("stream_blocks_create", &err);
    config.blocks = b->blocks[i];
    const struct stream_sink sink = {.self = &b->recording, .consume = consume, .drain = drain};
    if (i == 0 && stream_writer_create(&b->writer, sink, &err) != C2_OK)
        die("stream_writer_create", &err);
    config.writer = i == 0 ? b->writer : NULL;
    if (engine_create(&b->engines[i], tested_engine(), &config, &err) != C2_OK)
        die("engine_create", &err);
    if (engine_set_recording(b->engines[i], i == 0, &err) != C2_OK)
        die("engine_set_recording", &err);
    b->kept[i] = engine_registers_create(b->engines[i]);
    if (!b->kept[i])
        die("engine_registers_create", NULL);
    if (i == 0)
        b->recording.blocks = b->blocks[0];
}

static void open_bench(struct bench *b)
{
    struct mmu_guest_config config = {.guest_bytes = 1ull << 30};
    struct c2_error err;
    if (mmu_create(&b->mmu, &config, &err) != C2_OK)
        die("mmu_create", &err);
    map(b, STOP_ADDRESS, 4096, MMU_READ | MMU_EXEC);
    memset((void *)(uintptr_t)STOP_ADDRESS, 0xcc, 4096);
    for (int i = 0; i < 2; i++)
        open_engine(b, i);
}

static void close_bench(struct bench *b)
{
    for (int i = 0; i < 2; i++) {
        c2_free(b->kept[i]);
        engine_destroy(b->engines[i]);
        if (i == 0)
            stream_writer_destroy(b->writer);
        stream_blocks_destroy(b->blocks[i]);
    }
    mmu_destroy(b->mmu);
}

/* ------------------------------------------------------------------ both sides */

struct outcome {
    struct native_state state;
    struct cpu_wide wide;
    int signal;
    bool writes;           /* the page fault is one of writing */
    bool ended_early;      /* by the jump that explain() has put in */
    uint64_t rip, address; /* of the signal */
    uint64_t insns;
    uint8_t code[PROGRAM_CODE_BYTES], data[PROGRAM_DATA_BYTES];
    char failure[300];
};

static void keep_memory(struct outcome *out)
{
    memcpy(out->code, (const void *)(uintptr_t)PROGRAM_CODE, PROGRAM_CODE_BYTES);
    memcpy(out->data, (const void *)(uintptr_t)PROGRAM_DATA, PROGRAM_DATA_BYTES);
    memset(out->code + PROGRAM_CODE_BYTES - PROGRAM_END, 0, PROGRAM_END); /* the way out is not the same */
}

enum { PAGE_FAULT = 14, FAULT_OF_WRITE = 2 };

static void run_natively(struct outcome *out, const struct program *p, uint64_t components)
{
    struct native_end end;
    put_program(p);
    native_write_tail((uint8_t *)(uintptr_t)p->end, native_leave);
    native_write_tail((uint8_t *)(uintptr_t)p->end + EARLY_END, native_leave_taken);
    out->state = p->state;
    out->wide = p->wide;
    native_use_wide(&out->wide, components);
    native_run(&out->state, (const void *)(uintptr_t)p->entry, &end);
    out->signal = end.signal;
    out->ended_early = end.taken;
    out->rip = end.rip;
    out->address = end.signal == SIGSEGV ? end.address : 0;
    out->writes = end.signal == SIGSEGV && end.trap == PAGE_FAULT && (end.error & FAULT_OF_WRITE);
    out->failure[0] = '\0';
    keep_memory(out);
}

static void put_jump(uint8_t *to, uint64_t from, uint64_t target)
{
    int32_t distance = (int32_t)(target - (from + 5));
    to[0] = 0xe9;
    memcpy(to + 1, &distance, 4);
}

static void add_switch(struct bench *b, uint64_t insns)
{
    if (b->switch_count == b->switch_room) {
        b->switch_room = b->switch_room ? 2 * b->switch_room : 1024;
        b->switches = c2_realloc(b->switches, b->switch_room * sizeof *b->switches);
        C2_ASSERT(b->switches);
    }
    b->switches[b->switch_count++] = insns;
}

static void maybe_switch(struct bench *b, struct engine *engine, uint64_t insns)
{
    struct c2_error err;
    if (c2_rng_below(&b->rng, 2) == 0)
        return;
    add_switch(b, insns);
    if (engine_set_recording(engine, b->switch_count % 2 == 1, &err) != C2_OK)
        die("engine_set_recording", &err);
}

static unsigned first_difference(const uint8_t *a, const uint8_t *b, unsigned bytes)
{
    unsigned i = 0;
    while (i < bytes && a[i] == b[i])
        i++;
    return i;
}

/* Another thread has the engine for a while, and leaves nothing of its own. */
static void maybe_exchange(struct bench *b, int which)
{
    struct engine *engine = b->engines[which];
    struct syscalls_cpu other, kept;
    const bool amid = engine_amid_block(engine);
    if (c2_rng_below(&b->rng, 2) == 0)
        return;
    engine_get_cpu(engine, &kept);
    engine_keep(engine, b->kept[which]);
    c2_rng_fill(&b->rng, &other, sizeof other);
    memcpy(other.fxsave, kept.fxsave, 32); /* control words that a CPU takes */
    other.xcr0 = kept.xcr0;
    other.rip = STOP_ADDRESS;
    other.rflags = kept.rflags ^ FLAGS_STATUS;
    engine_set_cpu(engine, &other);
    engine_read_kept(engine, b->kept[which], &other);
    const size_t bytes = offsetof(struct syscalls_cpu, wide) + (kept.xcr0 == 0 ? 0 : sizeof kept.wide);
    if (memcmp(&other, &kept, bytes) != 0 && b->missed[0] == '\0')
        snprintf(b->missed, sizeof b->missed, "kept registers are others, from byte %u on",
                 first_difference((const uint8_t *)&kept, (const uint8_t *)&other, bytes));
    engine_take(engine, b->kept[which]);
    engine_set_amid_block(engine, amid);
}

/* All in instructions: a budget, how many of this run came before it, and after how many it ended. */
static void miss_budget(struct bench *b, uint64_t budget, uint64_t before, uint64_t done)
{
    if (b->missed[0] == '\0')
        snprintf(b->missed, sizeof b->missed, "a budget of %llu behind instruction %llu ended after %llu",
                 (unsigned long long)budget, (unsigned long long)before, (unsigned long long)done);
}

/* Until the program ends, through first touches and budgets. */
static void run_on(struct bench *b, int which, enum how how, struct engine_event *event, struct c2_error *err)
{
    struct engine *engine = b->engines[which];
    const uint64_t first = engine_instructions(engine);
    for (;;) {
        const uint64_t budget = how == WHOLE ? MOST_INSNS : 1 + c2_rng_below(&b->rng, 20);
        const uint64_t before = engine_instructions(engine);
        engine_run(engine, budget, event, err);
        const uint64_t done = engine_instructions(engine) - before;
        if (done > budget || (event->stop == ENGINE_BUDGET && done != budget))
            miss_budget(b, budget, before - first, done);
        if (event->stop == ENGINE_BUDGET && how != WHOLE)
            maybe_exchange(b, which);
        if (event->stop == ENGINE_BUDGET && how == SWITCHED)
            maybe_switch(b, engine, engine_instructions(engine) - first);
        if (event->stop == ENGINE_BUDGET && engine_instructions(engine) < first + MOST_INSNS)
            continue;
        if (event->stop != ENGINE_FAULT || mmu_touch(b->mmu, event->address, event->access, err) != MMU_FAULT_NONE)
            return;
    }
}

static void note_end(struct outcome *out, const struct engine_event *event, const struct c2_error *err)
{
    bool at_stop = event->stop == ENGINE_TRAP && event->signal == SIGTRAP && out->rip == STOP_ADDRESS + 1;
    out->signal = at_stop ? 0 : event->stop == ENGINE_FAULT ? SIGSEGV : event->signal;
    out->address = event->stop == ENGINE_FAULT ? event->address.v : 0;
    out->writes = event->stop == ENGINE_FAULT && event->access == MMU_ACCESS_WRITE;
    if (event->stop != ENGINE_TRAP && event->stop != ENGINE_FAULT)
        snprintf(out->failure, sizeof out->failure, "stop %d at %llx: %.230s", (int)event->stop,
                 (unsigned long long)out->rip, event->stop == ENGINE_FAILED ? err->text : event->refusal);
}

static void run_in_engine(struct outcome *out, struct bench *b, int which, const struct program *p, enum how how)
{
    struct engine *engine = b->engines[which];
    struct syscalls_cpu cpu = {.rip = p->entry, .rflags = p->state.flags, .gs_base = PROGRAM_GS_BASE};
    struct engine_event event;
    struct c2_error err = {0};
    memcpy(cpu.gpr, p->state.gpr, sizeof cpu.gpr);
    memcpy(cpu.fxsave, p->state.fxsave, sizeof cpu.fxsave);
    cpu.xcr0 = b->model ? b->model->xcr0 : 0;
    cpu.wide = p->wide;
    put_jump((uint8_t *)(uintptr_t)p->end, p->end, STOP_ADDRESS);
    put_jump((uint8_t *)(uintptr_t)p->end + EARLY_END, p->end + EARLY_END, STOP_ADDRESS);
    memset(out, 0, sizeof *out);
    uint64_t before = engine_instructions(engine);
    engine_set_cpu(engine, &cpu);
    b->switch_count = 0;
    b->missed[0] = '\0';
    if (how == SWITCHED && engine_set_recording(engine, false, &err) != C2_OK)
        die("engine_set_recording", &err);
    run_on(b, which, how, &event, &err);
    if (how == SWITCHED && engine_set_recording(engine, true, &err) != C2_OK)
        die("engine_set_recording", &err);
    engine_get_cpu(engine, &cpu);
    out->rip = cpu.rip;
    note_end(out, &event, &err);
    out->insns = engine_instructions(engine) - before;
    if (event.stop != ENGINE_FAILED && stream_writer_flush(b->writer, &err) != C2_OK)
        die("stream_writer_flush", &err);
    memcpy(out->state.gpr, cpu.gpr, sizeof cpu.gpr);
    out->state.flags = cpu.rflags;
    memcpy(out->state.fxsave, cpu.fxsave, sizeof cpu.fxsave);
    out->wide = cpu.wide;
    keep_memory(out);
}

/* ------------------------------------------------------------------ comparison: a text, "" if equal */

#define FLAGS_COMPARED (FLAGS_STATUS | FLAG_DF)

static void compare_bytes(char *out, size_t bytes, const char *what, uint64_t base, const uint8_t *a, const uint8_t *b,
                          unsigned count)
{
    unsigned i = first_difference(a, b, count);
    if (out[0] == '\0' && i < count)
        snprintf(out, bytes, "%s at %llx: %02x, engine %02x", what, (unsigned long long)base + i, a[i], b[i]);
}

static void compare_state(char *out, size_t bytes, const struct native_state *n, const struct native_state *e,
                          uint64_t flags)
{
    for (unsigned i = 0; i < 16 && out[0] == '\0'; i++)
        if (n->gpr[i] != e->gpr[i])
            snprintf(out, bytes, "register %u: %llx, engine %llx", i, (unsigned long long)n->gpr[i],
                     (unsigned long long)e->gpr[i]);
    if (out[0] == '\0' && ((n->flags ^ e->flags) & flags) != 0)
        snprintf(out, bytes, "flags: %llx, engine %llx", (unsigned long long)(n->flags & flags),
                 (unsigned long long)(e->flags & flags));
    for (unsigned i = 0; i < 8; i++)
        compare_bytes(out, bytes, "mm", 16 * i, n->fxsave + 32 + 16 * i, e->fxsave + 32 + 16 * i, 10);
    compare_bytes(out, bytes, "xmm", 0, n->fxsave + 160, e->fxsave + 160, 256);
    compare_bytes(out, bytes, "mxcsr", 0, n->fxsave + 24, e->fxsave + 24, 4);
    compare_bytes(out, bytes, "x87 control", 0, n->fxsave, e->fxsave, 2);
}

static void compare_wide(char *out, size_t bytes, const struct cpu_wide *n, const struct cpu_wide *e)
{
    static const char *const names[CPU_COMPONENTS] = {"upper half of ymm", "k", "upper half of zmm", "zmm16 and on"};
    for (unsigned i = 0; i < CPU_COMPONENTS; i++)
        compare_bytes(out, bytes, names[i], 0, (const uint8_t *)n + cpu_components[i].at,
                      (const uint8_t *)e + cpu_components[i].at, cpu_components[i].bytes);
}

/* CPUs of different makers show the handler of its fault different flags (unit/interpret_makers.c). */
static bool compares_repeatedly(const struct program *p, uint64_t at)
{
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    return forms_decode(&insn, operands, p->code + (at - PROGRAM_CODE), ZYDIS_MAX_INSTRUCTION_LENGTH) &&
           interpret_is_rep_string(&insn) && insn.cpu_flags && insn.cpu_flags->modified != 0;
}

/* Whether nothing can be read there, an address that is not canonical among others. */
static bool cannot_be_read(uint64_t at, uint64_t bytes)
{
    uint8_t copy[8];
    struct iovec to = {copy, bytes}, from = {(void *)(uintptr_t)at, bytes};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)bytes;
}

/* Whether an address of a fault, 0 of an address that is not canonical, is that of an operand which cannot be read. */
static bool is_fault_of(uint64_t address, uint64_t operand, uint64_t bytes)
{
    const bool canonical = (int64_t)(operand << 16) >> 16 == (int64_t)operand &&
                           (int64_t)((operand + bytes - 1) << 16) >> 16 == (int64_t)(operand + bytes - 1);
    return cannot_be_read(operand, bytes) && (canonical ? address - operand < bytes : address == 0);
}

/* Where both operands of CMPS fault, some CPUs (AMD's of family 26) show the source, as engines do, others (family 25)
 * the destination. */
static bool faults_at_the_other(const struct outcome *n, const struct outcome *e)
{
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (n->rip - PROGRAM_CODE >= PROGRAM_CODE_BYTES || n->signal != SIGSEGV ||
        !forms_decode(&insn, operands, n->code + (n->rip - PROGRAM_CODE), ZYDIS_MAX_INSTRUCTION_LENGTH) ||
        insn.meta.category != ZYDIS_CATEGORY_STRINGOP || operands[0].type != ZYDIS_OPERAND_TYPE_MEMORY ||
        operands[1].type != ZYDIS_OPERAND_TYPE_MEMORY || (operands[0].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
        return false;
    const uint64_t mask = insn.address_width == 32 ? UINT32_MAX : UINT64_MAX, bytes = operands[0].size / 8;
    return is_fault_of(e->address, n->state.gpr[6] & mask, bytes) &&
           is_fault_of(n->address, n->state.gpr[7] & mask, bytes);
}

static bool same_signal(const struct outcome *n, const struct outcome *e)
{
    return n->signal == e->signal && (n->signal == 0 || (n->rip == e->rip && n->writes == e->writes &&
                                                         (n->address == e->address || faults_at_the_other(n, e))));
}

static void compare_outcomes(char *out, size_t bytes, const struct program *p, const struct outcome *n,
                             const struct outcome *e)
{
    uint64_t where = n->signal ? n->rip : p->end;
    bool inside = where - PROGRAM_CODE < PROGRAM_CODE_BYTES;
    uint16_t undefined = inside && !(n->signal && compares_repeatedly(p, where)) ? p->undefined[where - PROGRAM_CODE]
                                                                                 : (uint16_t)FLAGS_STATUS;
    if (e->failure[0])
        snprintf(out, bytes, "%s", e->failure);
    else if (!same_signal(n, e))
        snprintf(out, bytes, "signal %d at %llx (%llx%s), engine %d at %llx (%llx%s)", n->signal,
                 (unsigned long long)n->rip, (unsigned long long)n->address, n->writes ? ", writing" : "", e->signal,
                 (unsigned long long)e->rip, (unsigned long long)e->address, e->writes ? ", writing" : "");
    else
        compare_state(out, bytes, &n->state, &e->state, FLAGS_COMPARED & ~(uint64_t)undefined);
    compare_wide(out, bytes, &n->wide, &e->wide);
    compare_bytes(out, bytes, "code", PROGRAM_CODE, n->code, e->code, PROGRAM_CODE_BYTES);
    compare_bytes(out, bytes, "data", PROGRAM_DATA, n->data, e->data, PROGRAM_DATA_BYTES);
}

static bool same_event(const struct event *a, const struct event *b)
{
    return a->pc == b->pc && a->address == b->address && a->kind == b->kind && a->size == b->size;
}

static void compare_recordings(char *out, size_t bytes, const struct recording *a, const struct recording *b)
{
    size_t i = 0, common = a->count < b->count ? a->count : b->count;
    while (i < common && same_event(&a->events[i], &b->events[i]))
        i++;
    if (i == a->count && i == b->count)
        return;
    const struct event *x = &a->events[i < a->count ? i : a->count - 1],
                       *y = &b->events[i < b->count ? i : b->count - 1];
    snprintf(out, bytes, "recorded event %zu of %zu: kind %d, %llx at pc %llx; then, of %zu: kind %d, %llx at pc %llx",
             i, a->count, x->kind, (unsigned long long)x->address, (unsigned long long)x->pc, b->count, y->kind,
             (unsigned long long)y->address, (unsigned long long)y->pc);
}

/* ------------------------------------------------------------------ all programs */

static struct program the_program;

static void print_program(void *self, FILE *to)
{
    (void)self;
    fprintf(to, "in the program of seed %llu\n", (unsigned long long)the_program.seed);
}

struct run {
    const char *name;
    int engine; /* 0 records */
    bool cold;
    enum how how;
};
static const struct run runs[] = {
    {"recording, new pages", 0, true, WHOLE},
    {"recording, known pages", 0, false, WHOLE},
    {"recording, in slices", 0, false, SLICES},
    {"recording switched, known pages", 0, false, SWITCHED},
    {"recording switched, new pages", 0, true, SWITCHED},
    {"not recording, known pages", 1, false, WHOLE},
    {"not recording, new pages, in slices", 1, true, SLICES},
};
#define RUNS (sizeof runs / sizeof *runs)

/* The engine's code only, and only what the entry leads to. */
static void mutate(const struct program *p, uint64_t seed)
{
    struct c2_rng rng;
    c2_rng_init(&rng, seed, "mutant");
    ((uint8_t *)(uintptr_t)p->entry)[c2_rng_below(&rng, 30)] ^= (uint8_t)(1 << c2_rng_below(&rng, 8));
}

/* What the later runs are compared with. */
static void keep_first(struct bench *b, const struct outcome *engine, uint64_t *insns)
{
    struct recording swap = b->first;
    b->first = b->recording;
    b->recording = swap;
    b->recording.blocks = b->first.blocks;
    *insns = engine->insns;
}

/* Of the first run, what was executed while the last one recorded. */
static const struct recording *expected_part(const struct bench *b)
{
    static struct recording part;
    uint64_t insn = 0;
    size_t next = 0;
    part.count = 0;
    part.insns = 0;
    for (size_t i = 0; i < b->first.count; i++) {
        const bool ends = b->first.events[i].kind == 0;
        while (next < b->switch_count && b->switches[next] <= insn)
            next++;
        if (next % 2 == 1) {
            add_event(&part, b->first.events[i]);
            part.insns += ends;
        }
        insn += ends;
    }
    return &part;
}

/* The blocks that are new in this run; of code that changes it is unknown afterwards what it was. */
static void check_blocks(char *difference, size_t bytes, const struct bench *b, uint32_t from)
{
    for (; from < stream_blocks_count(b->blocks[0]) && !the_program.writable; from++)
        if (!blocks_cut_by_rule(stream_blocks_at(b->blocks[0], from), NULL, b->model) && difference[0] == '\0')
            snprintf(difference, bytes, "the block at %llx is not cut by the rule",
                     (unsigned long long)stream_blocks_at(b->blocks[0], from)->pc.v);
}

static void compare_run(char *difference, size_t bytes, struct bench *b, unsigned i, const struct outcome *native,
                        uint64_t *insns)
{
    static struct outcome engine;
    const struct program *p = &the_program;
    if (runs[i].cold)
        map_program(b, p);
    put_program(p);
    if (b->mutant)
        mutate(p, p->seed);
    b->recording.count = 0;
    b->recording.insns = 0;
    const uint32_t known_blocks = stream_blocks_count(b->blocks[0]);
    run_in_engine(&engine, b, runs[i].engine, p, runs[i].how);
    compare_outcomes(difference, bytes, p, native, &engine);
    const bool switched = runs[i].how == SWITCHED;
    const struct recording *expected = switched ? expected_part(b) : i > 0 ? &b->first : &b->recording;
    if (runs[i].engine == 0 && difference[0] == '\0')
        compare_recordings(difference, bytes, expected, &b->recording);
    if (runs[i].engine == 0 && difference[0] == '\0' &&
        b->recording.insns != (switched ? expected->insns : engine.insns))
        snprintf(difference, bytes, "%llu instructions recorded of %llu", (unsigned long long)b->recording.insns,
                 (unsigned long long)engine.insns);
    if (difference[0] == '\0')
        snprintf(difference, bytes, "%s", b->missed);
    check_blocks(difference, bytes, b, known_blocks);
    if (i == 0)
        keep_first(b, &engine, insns);
    if (difference[0] == '\0' && engine.insns != *insns)
        snprintf(difference, bytes, "%llu instructions counted, %llu before", (unsigned long long)engine.insns,
                 (unsigned long long)*insns);
}

/* Runs the program on both sides, in each way; false and what differs, if something does. */
static bool agrees(struct bench *b, char *difference, size_t bytes, unsigned *run)
{
    static struct outcome native;
    uint64_t insns = 0;
    c2_rng_init(&b->rng, the_program.seed, "slices");
    map_program(b, &the_program);
    run_natively(&native, &the_program, b->model ? b->model->xcr0 : 0);
    b->ended_early = native.ended_early;
    b->faulted = native.signal ? native.rip : 0;
    for (unsigned i = 0; i < RUNS; i++) {
        difference[0] = '\0';
        compare_run(difference, bytes, b, i, &native, &insns);
        *run = i;
        if (difference[0] != '\0')
            return false;
    }
    return true;
}

static void print_insn(uint64_t at)
{
    char text[128];
    ZydisDecodedInstruction insn = {.length = 1};
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    const uint8_t *code = the_program.code + (at - PROGRAM_CODE);
    forms_text(text, sizeof text, code, at);
    forms_decode(&insn, operands, code, ZYDIS_MAX_INSTRUCTION_LENGTH);
    printf("    %llx: %-44s", (unsigned long long)at, text);
    for (unsigned i = 0; i < insn.length; i++)
        printf(" %02x", code[i]);
    printf("\n");
}

static bool starts(uint64_t at) { return the_program.undefined[at - PROGRAM_CODE] & INSN_STARTS; }

/* The instructions up to `at`, in the order of the text. */
static void print_before(uint64_t at, unsigned count)
{
    uint64_t from = at;
    for (unsigned n = 0; n < count && from > the_program.entry;)
        n += starts(--from);
    for (; from < at; from++)
        if (starts(from))
            print_insn(from);
}

static void reopen(struct bench *b)
{
    close_bench(b);
    open_bench(b);
}

static void explain(struct bench *b)
{
    static struct program whole;
    char difference[400];
    unsigned run;
    whole = the_program;
    for (uint64_t at = whole.entry + 1; at < whole.end; at++) {
        if (!(whole.undefined[at - PROGRAM_CODE] & INSN_STARTS))
            continue;
        the_program = whole;
        put_jump(the_program.code + (at - PROGRAM_CODE), at, whole.end + EARLY_END);
        the_program.undefined[whole.end - PROGRAM_CODE] = whole.undefined[at - PROGRAM_CODE];
        reopen(b);
        if (agrees(b, difference, sizeof difference, &run) || !b->ended_early)
            continue;
        printf("  up to %llx, %s: %s\n", (unsigned long long)at, runs[run].name, difference);
        the_program = whole;
        print_before(at, 8);
        return;
    }
    the_program = whole;
    reopen(b);
    agrees(b, difference, sizeof difference, &run);
    printf("  no part of it differs; it ends at %llx\n", (unsigned long long)b->faulted);
    if (b->faulted - whole.entry >= whole.end - whole.entry)
        return;
    print_before(b->faulted, 8);
    print_insn(b->faulted);
}

/* Returns whether the engine and the CPU differ; says so unless that is wanted. */
static bool run_seed(struct bench *b, uint64_t seed)
{
    char difference[400];
    unsigned run;
    program_make(&the_program, seed, b->brief, b->model, b->forms, b->form_count);
    if (agrees(b, difference, sizeof difference, &run))
        return false;
    if (!b->mutant)
        printf("seed %llu (%u instructions), %s: %s\n", (unsigned long long)seed, the_program.insns, runs[run].name,
               difference);
    if (b->explain)
        explain(b);
    reopen(b); /* a failed engine is of no use any more */
    return true;
}

/* The processor of that name, if it is one. One that this host is not ends the test. */
static const struct cpu_model *model_of(const char *name)
{
    static struct cpu_model host;
    struct c2_error err;
    const bool is_host = name && strcmp(name, "host") == 0;
    const struct cpu_model *model = is_host ? &host : name ? cpu_by_name(name) : NULL;
    if (!model)
        return NULL;
    if (!is_host && cpu_host_has(model, &err) == C2_OK)
        return model;
    if (is_host && cpu_of_host(&host, &err) == C2_OK)
        return model;
    printf("%s\n", err.text);
    exit(0);
}

int main(int argc, char **argv)
{
    static struct bench b;
    b.mutant = argc > 1 && strcmp(argv[1], "mutant") == 0;
    b.brief = argc > 1 && (strcmp(argv[1], "brief") == 0 || strcmp(argv[1], "explain-brief") == 0);
    b.explain = argc > 1 && strncmp(argv[1], "explain", 7) == 0;
    char **numbers = argv + 1 + (b.mutant || b.explain || b.brief);
    b.model = model_of(*numbers);
    numbers += b.model ? 1 : 0;
    uint64_t first = numbers[0] ? strtoull(numbers[0], NULL, 10) : 1;
    uint64_t last = numbers[0] && numbers[1] ? strtoull(numbers[1], NULL, 10) : numbers[0] ? first : 100;
    uint64_t different = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    b.forms = b.model ? forms_of(b.model, &b.form_count) : forms_all(&b.form_count);
    native_start(PROGRAM_GS_BASE);
    open_bench(&b);
    c2_assert_context(print_program, NULL);
    for (uint64_t seed = first; seed <= last; seed++) {
        different += run_seed(&b, seed);
        if ((seed - first) % PROGRAMS_PER_BENCH == PROGRAMS_PER_BENCH - 1)
            reopen(&b);
    }
    close_bench(&b);
    c2_free(b.forms);
    c2_free(b.first.events);
    c2_free(b.recording.events);
    printf("%llu of %llu programs differ\n", (unsigned long long)different, (unsigned long long)(last - first + 1));
    return b.mutant ? 2 * different < last - first + 1 : different != 0;
}
