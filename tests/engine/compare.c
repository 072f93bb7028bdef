/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * usage: engine_forms [mutant | mutant-references | mutant-choices | N [SEED]]
 *
 * Runs every form several times on the CPU and in the engine - once recording references, once not - and fails if
 * anything differs. With "mutant" the engine is given ADC where the CPU has ADD, with "mutant-references" each expected
 * address of an XADD is one off, with "mutant-choices" what interpret_makers.c puts in the place of the CPU's results
 * is not what we chose: then exactly these forms must differ, or the test cannot fail. N: so many states of each form
 * instead of 8, of the sequence SEED.
 */
#include <cpuid.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/engine.h"
#include "interpret/interpret_priv.h"
#include "engine/tested.h"
#include "engine/forms.h"
#include "unit/interpret_makers.h"
#include "unit/interpret_near.h"

#define RUN_INSNS 2u /* the instruction and the jump behind it */
#define CODE_ADDRESS 0x50000000u
#define CODE_BYTES (248u << 20)
#define DATA_ADDRESS 0x60000000u
#define STOP_ADDRESS (CODE_ADDRESS - 0x1000u) /* INT3 of the engine: here, and 16 bytes on for a branch taken */
#define GS_BASE (DATA_ADDRESS + 0x1000u)

enum mutation { MUTATE_NOTHING, MUTATE_CODE, MUTATE_REFERENCES, MUTATE_CHOICES };

struct recorder {
    struct reference references[16];
    unsigned count;
    unsigned insns;
    struct stream_blocks *blocks;
};

struct bench {
    struct mmu *mmu;
    struct stream_blocks *blocks[2];
    struct engine *engines[2]; /* recording, not recording */
    struct stream_writer *writer;
    struct recorder recorder;
    enum mutation mutation;
    uint64_t next_code;
    struct c2_rng rng;
};

/* Differences, by mnemonic. */
struct tally {
    unsigned trials, differences;
    char first[512];
};
static struct tally tallies[ZYDIS_MNEMONIC_MAX_VALUE + 1];

static _Noreturn void die(const char *what, const struct c2_error *err)
{
    fprintf(stderr, "%s: %s\n", what, err ? err->text : "");
    exit(2);
}

/* ------------------------------------------------------------------ set-up */

static enum c2_status consume(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct recorder *r = self;
    (void)err;
    for (uint32_t at = 0; at < batch->used;) {
        uint64_t header = batch->words[at++];
        if (stream_header_block(header) == STREAM_MARK) {
            at += stream_header_slots(header);
            continue;
        }
        const struct stream_block *block = stream_blocks_at(r->blocks, stream_header_block(header));
        r->insns += stream_header_insns(header);
        for (unsigned i = 0; i < stream_header_slots(header); i++) {
            const struct stream_slot *slot = &block->slots[i];
            struct reference one = {.kind = slot->kind, .size = slot->size, .address = batch->words[at++]};
            one.how = slot->kind == STREAM_CACHE || slot->kind == STREAM_WRITE ? slot->how : 0;
            r->references[r->count % 16] = one;
            r->count++;
        }
    }
    return C2_OK;
}

static enum c2_status drain(void *self, struct c2_error *err)
{
    (void)self, (void)err;
    return C2_OK;
}

static void map(struct bench *b, uint64_t address, uint64_t bytes, unsigned prot)
{
    struct mmu_request request = {.address = address, .bytes = bytes, .prot = prot, .fixed = true, .host_fd = -1};
    struct c2_error err;
    struct guest_va at;
    if (mmu_map(b->mmu, &request) != (int64_t)address)
        die("mmu_map", NULL);
    enum mmu_access access = prot & MMU_EXEC ? MMU_ACCESS_EXEC : MMU_ACCESS_WRITE;
    if (mmu_touch_range(b->mmu, (struct guest_va){address}, bytes, access, &at, &err) != MMU_FAULT_NONE)
        die("mmu_touch_range", &err);
    if (mprotect((void *)(uintptr_t)address, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        die("mprotect", NULL);
}

static void open_engine(struct bench *b, int i)
{
    struct c2_error err;
    if (stream_blocks_create(&b->blocks[i], &err) != C2_OK)
        die("stream_blocks_create", &err);
    struct engine_config config = {.mmu = b->mmu, .blocks = b->blocks[i]};
    const struct stream_sink sink = {.self = &b->recorder, .consume = consume, .drain = drain};
    if (i == 0 && stream_writer_create(&b->writer, sink, &err) != C2_OK)
        die("stream_writer_create", &err);
    config.writer = i == 0 ? b->writer : NULL;
    if (engine_create(&b->engines[i], tested_engine(), &config, &err) != C2_OK)
        die("engine_create", &err);
    if (engine_set_recording(b->engines[i], i == 0, &err) != C2_OK)
        die("engine_set_recording", &err);
    if (i == 0)
        b->recorder.blocks = b->blocks[0];
}

static void close_engine(struct bench *b, int i)
{
    engine_destroy(b->engines[i]);
    if (i == 0)
        stream_writer_destroy(b->writer);
    stream_blocks_destroy(b->blocks[i]);
}

static void open_bench(struct bench *b, uint64_t seed)
{
    struct mmu_guest_config config = {.guest_bytes = 1ull << 32};
    struct c2_error err;
    if (tested_memory(&b->mmu, &config, &err) != C2_OK)
        die("mmu_create", &err);
    map(b, STOP_ADDRESS, CODE_BYTES + 4096, MMU_READ | MMU_WRITE | MMU_EXEC);
    memset((void *)(uintptr_t)STOP_ADDRESS, 0xcc, 4096);
    map(b, DATA_ADDRESS, DATA_BYTES, MMU_READ | MMU_WRITE); /* and nothing behind it */
    for (int i = 0; i < 2; i++)
        open_engine(b, i);
    b->next_code = CODE_ADDRESS;
    c2_rng_init(&b->rng, seed, "engine forms");
    native_start(GS_BASE);
}

static void close_bench(struct bench *b)
{
    for (int i = 0; i < 2; i++)
        close_engine(b, i);
    mmu_destroy(b->mmu);
}

/* ------------------------------------------------------------------ one side, the other side */

struct outcome {
    struct native_state state;
    uint8_t memory[DATA_BYTES];
    int signal, code;
    uint64_t rip, address; /* of the signal; of a page fault */
    bool taken;
    uint64_t undefined; /* flags, of the CPU */
    char failure[256];
};

static void put_memory(const struct trial *t) { memcpy((void *)(uintptr_t)t->data, t->memory, DATA_BYTES); }

static void settle(struct outcome *out, const struct trial *t, struct native_end *end, bool wrong)
{
    uint64_t offset = t->place ? t->place - t->data : 0;
    struct makers_case c = {
        .insn = &t->insn,
        .operands = t->operands,
        .at = t->code,
        .before = &t->state,
        .after = &out->state,
        .memory_before = t->memory + offset,
        .memory = out->memory + offset,
        .end = end,
        .wrong = wrong,
    };
    out->undefined = makers_settle(&c);
}

static void run_natively(struct outcome *out, const struct trial *t, bool wrong)
{
    struct native_end end;
    uint8_t *code = (uint8_t *)(uintptr_t)t->code;
    memcpy(code, t->bytes, t->length);
    native_write_tail(code + t->length, native_leave);
    native_write_tail(code + TRIAL_TAKEN, native_leave_taken);
    put_memory(t);
    out->state = t->state;
    native_run(&out->state, code, &end);
    memcpy(out->memory, (const void *)(uintptr_t)t->data, DATA_BYTES);
    settle(out, t, &end, wrong);
    out->signal = end.signal;
    out->code = end.signal == SIGSEGV ? 0 : end.code; /* of page faults the engine has none */
    out->address = end.signal == SIGSEGV && end.code != SI_KERNEL ? end.address : 0;
    out->rip = end.rip;
    out->taken = end.taken;
    out->failure[0] = '\0';
}

static void mutate(uint8_t *code, const struct trial *t)
{
    if (t->insn.mnemonic == ZYDIS_MNEMONIC_ADD && t->form->opcode < 6) /* 00..05 add -> 10..15 adc */
        code[t->insn.raw.modrm.offset ? t->insn.raw.modrm.offset - 1 : t->insn.raw.imm[0].offset - 1] |= 0x10;
}

static void put_jump(uint64_t from, uint64_t to)
{
    int32_t distance = (int32_t)(to - (from + 5));
    uint8_t jump[5] = {0xe9};
    memcpy(jump + 1, &distance, 4);
    memcpy((void *)(uintptr_t)from, jump, 5);
}

/* The engine finds jumps to INT3 where the CPU found the jumps back to the test. */
static void plant_stops(const struct trial *t, enum mutation mutation)
{
    uint8_t *code = (uint8_t *)(uintptr_t)t->code;
    put_jump(t->code + t->length, STOP_ADDRESS);
    put_jump(t->code + TRIAL_TAKEN, STOP_ADDRESS + 16);
    if (mutation == MUTATE_CODE)
        mutate(code, t);
}

static void check_end(struct outcome *out, const struct engine_event *event, uint64_t rip, const struct c2_error *err)
{
    out->rip = rip;
    if (event->stop == ENGINE_TRAP && event->signal == SIGTRAP && (rip == STOP_ADDRESS + 1 || rip == STOP_ADDRESS + 17))
        out->taken = rip == STOP_ADDRESS + 17;
    else if (event->stop == ENGINE_TRAP) {
        out->signal = event->signal;
        out->code = event->signal == SIGSEGV ? 0 : event->code;
    } else if (event->stop == ENGINE_FAULT) {
        out->signal = SIGSEGV;
        out->address = event->address.v;
    } else
        snprintf(out->failure, sizeof out->failure, "stop %d at %llx, address %llx: %.180s", (int)event->stop,
                 (unsigned long long)rip, (unsigned long long)event->address.v,
                 event->stop == ENGINE_FAILED ? err->text : event->refusal);
}

static void run_in_engine(struct outcome *out, struct bench *b, int which, const struct trial *t)
{
    struct engine *engine = b->engines[which];
    struct syscalls_cpu cpu = {.rip = t->code, .rflags = t->state.flags, .gs_base = t->gs_base};
    struct engine_event event;
    struct c2_error err = {0};
    memcpy(cpu.gpr, t->state.gpr, sizeof cpu.gpr);
    memcpy(cpu.fxsave, t->state.fxsave, sizeof cpu.fxsave);
    memset(out, 0, sizeof *out);
    put_memory(t);
    uint64_t before = engine_instructions(engine);
    engine_set_cpu(engine, &cpu);
    engine_run(engine, 0, &event, &err);
    engine_get_cpu(engine, &cpu);
    check_end(out, &event, cpu.rip, &err);
    if (event.stop == ENGINE_FAILED) { /* it is of no use any more */
        close_engine(b, which);
        open_engine(b, which);
        return;
    }
    if (out->failure[0] == '\0' && engine_instructions(engine) - before != (out->signal ? 0 : RUN_INSNS))
        snprintf(out->failure, sizeof out->failure, "%llu instructions counted",
                 (unsigned long long)(engine_instructions(engine) - before));
    if (stream_writer_flush(b->writer, &err) != C2_OK)
        die("stream_writer_flush", &err);
    memcpy(out->state.gpr, cpu.gpr, sizeof cpu.gpr);
    out->state.flags = cpu.rflags;
    memcpy(out->state.fxsave, cpu.fxsave, sizeof cpu.fxsave);
    memcpy(out->memory, (const void *)(uintptr_t)t->data, DATA_BYTES);
}

/* ------------------------------------------------------------------ comparison: a text, "" if equal */

static bool about_equal(const uint8_t *a, const uint8_t *b)
{
    float x, y;
    memcpy(&x, a, 4);
    memcpy(&y, b, 4);
    if (memcmp(a, b, 4) == 0)
        return true;
    bool of_denormal = isinf(y); /* the CPU takes a denormal operand for zero */
    if (of_denormal)
        return true;
    bool tiny = fabsf(x) < 0x1p-125f && fabsf(y) < 0x1p-125f; /* the CPU flushes denormal results */
    return tiny || fabsf(x - y) <= fabsf(y) * (1.5f / 4096);
}

static unsigned long long half(const uint8_t *fxsave, unsigned xmm, unsigned upper)
{
    unsigned long long value;
    memcpy(&value, fxsave + 160 + 16 * xmm + 8 * upper, 8);
    return value;
}

static void compare_fpu(char *out, size_t bytes, const struct native_state *n, const struct native_state *e,
                        const struct expect_mask *mask)
{
    uint16_t status[2];
    uint32_t mxcsr[2];
    const uint8_t *a = n->fxsave, *b = e->fxsave;
    memcpy(&status[0], a + 2, 2);
    memcpy(&status[1], b + 2, 2);
    memcpy(&mxcsr[0], a + 24, 4);
    memcpy(&mxcsr[1], b + 24, 4);
    if (memcmp(a, b, 2) != 0)
        snprintf(out, bytes, "x87 control: %02x%02x, engine %02x%02x", a[1], a[0], b[1], b[0]);
    else if (((status[0] ^ status[1]) & mask->status) != 0)
        snprintf(out, bytes, "x87 status: %x, engine %x", status[0], status[1]);
    else if (a[4] != b[4])
        snprintf(out, bytes, "x87 tags: %x, engine %x", a[4], b[4]);
    else if (mxcsr[0] != mxcsr[1])
        snprintf(out, bytes, "mxcsr: %x, engine %x", mxcsr[0], mxcsr[1]);
    for (unsigned i = 0; i < 8 && out[0] == '\0'; i++) {
        const uint8_t *x = a + 32 + 16 * i, *y = b + 32 + 16 * i;
        if (memcmp(x, y, 10) != 0)
            snprintf(out, bytes, "st%u: %02x%02x %016llx, engine %02x%02x %016llx", i, x[9], x[8],
                     *(const unsigned long long *)x, y[9], y[8], *(const unsigned long long *)y);
    }
    for (unsigned i = 0; i < 64 && out[0] == '\0'; i++) {
        const uint8_t *x = a + 160 + 4 * i, *y = b + 160 + 4 * i;
        if (memcmp(x, y, 4) != 0 && !(mask->approximate && about_equal(y, x)))
            snprintf(out, bytes, "xmm%u: %016llx %016llx, engine %016llx %016llx", i / 4, half(a, i / 4, 1),
                     half(a, i / 4, 0), half(b, i / 4, 1), half(b, i / 4, 0));
    }
}

static void compare_memory(char *out, size_t bytes, const struct outcome *n, const struct outcome *e, uint64_t data)
{
    if (memcmp(n->memory, e->memory, DATA_BYTES) == 0)
        return;
    unsigned i = 0;
    while (n->memory[i] == e->memory[i])
        i++;
    unsigned long long x, y;
    memcpy(&x, n->memory + (i & ~7u), 8);
    memcpy(&y, e->memory + (i & ~7u), 8);
    snprintf(out, bytes, "memory at %llx: %016llx, engine %016llx", (unsigned long long)data + (i & ~7u), x, y);
}

static void compare_outcomes(char *out, size_t bytes, const struct trial *t, const struct outcome *n,
                             const struct outcome *e)
{
    struct expect_mask mask = expect_mask_of(t);
    mask.flags &= ~n->undefined;
    out[0] = '\0';
    if (e->failure[0])
        snprintf(out, bytes, "%s", e->failure);
    else if (n->signal != e->signal || (n->signal && (n->rip != e->rip || n->code != e->code)))
        snprintf(out, bytes, "signal %d (%d) at %llx, engine %d (%d) at %llx", n->signal, n->code,
                 (unsigned long long)n->rip, e->signal, e->code, (unsigned long long)e->rip);
    else if (n->address != e->address)
        snprintf(out, bytes, "fault of %llx, engine %llx", (unsigned long long)n->address,
                 (unsigned long long)e->address);
    else if (n->taken != e->taken)
        snprintf(out, bytes, "branch taken: %d, engine %d", n->taken, e->taken);
    for (unsigned i = 0; i < 16 && out[0] == '\0'; i++)
        if (((n->state.gpr[i] ^ e->state.gpr[i]) & ((int)i == mask.loose_register ? 0xffffffff : ~0ull)) != 0)
            snprintf(out, bytes, "register %u: %llx, engine %llx", i, (unsigned long long)n->state.gpr[i],
                     (unsigned long long)e->state.gpr[i]);
    uint64_t flags = (n->state.flags ^ e->state.flags) & mask.flags;
    if (out[0] == '\0' && flags != 0)
        snprintf(out, bytes, "flags: %llx, engine %llx", (unsigned long long)(n->state.flags & mask.flags),
                 (unsigned long long)(e->state.flags & mask.flags));
    if (out[0] == '\0')
        compare_fpu(out, bytes, &n->state, &e->state, &mask);
    if (out[0] == '\0')
        compare_memory(out, bytes, n, e, t->data);
}

static void compare_references(char *out, size_t bytes, const struct trial *t, const struct outcome *n,
                               const struct recorder *got, enum mutation mutation)
{
    struct reference wanted[MAX_REFERENCES];
    bool done = n->signal == 0;
    unsigned count = done ? expect_references(wanted, t, &n->state) : 0;
    if (mutation == MUTATE_REFERENCES && count && t->insn.mnemonic == ZYDIS_MNEMONIC_XADD)
        wanted[0].address++;
    if (got->insns != (done ? RUN_INSNS : 0)) {
        snprintf(out, bytes, "%u instructions recorded", got->insns);
        return;
    }
    if (got->count != count) {
        snprintf(out, bytes, "%u references recorded, %u expected", got->count, count);
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        const struct reference *w = &wanted[i], *g = &got->references[i];
        if (w->kind != g->kind || w->size != g->size || w->address != g->address || w->how != g->how) {
            snprintf(out, bytes, "reference %u: kind %d.%u, %u bytes at %llx; expected kind %d.%u, %u bytes at %llx", i,
                     (int)g->kind, g->how, g->size, (unsigned long long)g->address, (int)w->kind, w->how, w->size,
                     (unsigned long long)w->address);
            return;
        }
    }
}

/* ------------------------------------------------------------------ all trials */

static void note(const struct trial *t, const char *how, const char *difference)
{
    struct tally *tally = &tallies[t->insn.mnemonic];
    if (difference[0] == '\0')
        return;
    if (tally->differences++ > 0)
        return;
    char text[128], hex[40] = "";
    forms_text(text, sizeof text, t->bytes, t->code);
    for (unsigned i = 0; i < t->length; i++)
        snprintf(hex + 2 * i, sizeof hex - 2 * i, "%02x", t->bytes[i]);
    snprintf(tally->first, sizeof tally->first, "%s [%s] %s: %s", text, hex, how, difference);
}

static struct trial the_trial;

static void print_trial(void *self, FILE *to)
{
    (void)self;
    fprintf(to, "in the trial of %s:", ZydisMnemonicGetString(the_trial.insn.mnemonic));
    for (unsigned i = 0; i < the_trial.length; i++)
        fprintf(to, " %02x", the_trial.bytes[i]);
    fprintf(to, "\n");
}

static void run_trial(struct bench *b, const struct form *form)
{
    struct trial *t = &the_trial;
    static struct outcome native, engine;
    char difference[400];
    if (b->next_code + TRIAL_BYTES > CODE_ADDRESS + CODE_BYTES)
        die("there is no room for so many trials", NULL);
    trial_make(t, form, b->next_code, DATA_ADDRESS, GS_BASE, &b->rng);
    b->next_code += TRIAL_BYTES;
    tallies[t->insn.mnemonic].trials++;
    run_natively(&native, t, b->mutation == MUTATE_CHOICES);
    plant_stops(t, b->mutation);
    for (int i = 0; i < 2; i++) {
        b->recorder.count = b->recorder.insns = 0;
        run_in_engine(&engine, b, i, t);
        near_settle(t->insn.mnemonic, t->state.fxsave, native.state.fxsave, engine.state.fxsave);
        compare_outcomes(difference, sizeof difference, t, &native, &engine);
        if (difference[0] == '\0' && i == 0)
            compare_references(difference, sizeof difference, t, &native, &b->recorder, b->mutation);
        note(t, i == 0 ? "recording" : "not recording", difference);
    }
}

static bool host_lacks(const struct form *form)
{
    switch (form->mnemonic) {
    case ZYDIS_MNEMONIC_POPCNT:
        return !native_has(NATIVE_POPCNT);
    case ZYDIS_MNEMONIC_MOVBE:
        return !native_has(NATIVE_MOVBE);
    case ZYDIS_MNEMONIC_LZCNT:
        return !native_has(NATIVE_LZCNT);
    case ZYDIS_MNEMONIC_TZCNT:
        return !native_has(NATIVE_BMI1);
    case ZYDIS_MNEMONIC_ADCX:
    case ZYDIS_MNEMONIC_ADOX:
        return !native_has(NATIVE_ADX);
    default:
        return (form->vex && !(native_has(NATIVE_BMI1) && native_has(NATIVE_BMI2))) || !native_has(NATIVE_SSE42);
    }
}

/* What the allowlist lets the engine execute must have been executed here. */
static unsigned untested(void)
{
    unsigned count = 0;
    for (unsigned m = 0; m <= ZYDIS_MNEMONIC_MAX_VALUE; m++)
        if (interpret_form_of((ZydisMnemonic)m)->native && tallies[m].trials == 0 && m != ZYDIS_MNEMONIC_SYSCALL) {
            printf("never executed: %s\n", ZydisMnemonicGetString((ZydisMnemonic)m));
            count++;
        }
    return count;
}

static unsigned report(bool (*expected)(unsigned mnemonic), unsigned *missing)
{
    unsigned wrong = 0;
    *missing = 0;
    for (unsigned m = 0; m <= ZYDIS_MNEMONIC_MAX_VALUE; m++) {
        const struct tally *tally = &tallies[m];
        *missing += expected(m) && tally->differences == 0;
        if (tally->differences == 0 || expected(m))
            continue;
        wrong++;
        printf("%-12s %u of %u trials differ; first: %s\n", ZydisMnemonicGetString((ZydisMnemonic)m),
               tally->differences, 2 * tally->trials, tally->first);
    }
    return wrong;
}

static bool is_nothing(unsigned mnemonic)
{
    (void)mnemonic;
    return false;
}
static bool is_add(unsigned mnemonic) { return mnemonic == ZYDIS_MNEMONIC_ADD; }
static bool is_xadd(unsigned mnemonic) { return mnemonic == ZYDIS_MNEMONIC_XADD; }
/* A repeated comparison meets no fault here, and INT1 is tested elsewhere. */
static bool is_chosen(unsigned mnemonic)
{
    return mnemonic == ZYDIS_MNEMONIC_SHLD || mnemonic == ZYDIS_MNEMONIC_SHRD || mnemonic == ZYDIS_MNEMONIC_FXSAVE ||
           mnemonic == ZYDIS_MNEMONIC_FXSAVE64;
}

static enum mutation mutation_named(const char *mode)
{
    if (strcmp(mode, "mutant") == 0)
        return MUTATE_CODE;
    if (strcmp(mode, "mutant-choices") == 0)
        return MUTATE_CHOICES;
    return strcmp(mode, "mutant-references") == 0 ? MUTATE_REFERENCES : MUTATE_NOTHING;
}

int main(int argc, char **argv)
{
    static struct bench b;
    const char *mode = argc > 1 ? argv[1] : "";
    b.mutation = mutation_named(mode);
    open_bench(&b, argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
    c2_assert_context(print_trial, NULL);
    unsigned rounds = atoi(mode) > 0 ? (unsigned)atoi(mode) : b.mutation == MUTATE_NOTHING ? 8 : 2;
    size_t count, executed = 0, interpreted = 0, lacking = 0;
    struct form *forms = forms_all(&count);
    for (size_t i = 0; i < count; i++) {
        if (host_lacks(&forms[i])) {
            lacking++;
            continue;
        }
        executed++;
        interpreted += forms[i].interpreted;
        for (unsigned round = 0; round < rounds; round++)
            run_trial(&b, &forms[i]);
    }
    c2_free(forms);
    close_bench(&b);
    static bool (*const expected[])(unsigned) = {is_nothing, is_add, is_xadd, is_chosen};
    unsigned missing, wrong = report(expected[b.mutation], &missing);
    unsigned skipped = lacking ? 0 : untested();
    makers_report(stdout);
    printf("%zu forms (%zu interpreted), %u states each, recording and not; %zu forms are unknown to this CPU\n",
           executed, interpreted, rounds, lacking);
    printf("%u mnemonics differ, %u were to differ and do not, %u were never executed\n", wrong, missing, skipped);
    return wrong || missing || skipped || executed < 1000;
}
