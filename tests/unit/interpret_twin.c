/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/interpret_twin.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "stream/stream.h"
#include "unit/interpret_makers.h"

uint8_t *twin_data, *twin_code;
uint64_t twin_time, twin_fs_base, twin_gs_base;
static uint8_t *region;
#define REGION_BYTES (TWIN_BYTES + 3 * 4096)
static int page_prot[TWIN_PAGES];
static bool absent[TWIN_PAGES]; /* not yet touched; never so on the CPU */
static struct c2_rng rng;

uint64_t twin_random(void) { return c2_rng_next(&rng); }

uint64_t twin_number(void)
{
    uint64_t r = twin_random(), bit = (uint64_t)1 << (twin_random() & 63);
    switch (twin_random() % 8) {
    case 0:
        return r % 3 - 1;
    case 1:
        return bit + r % 3 - 1;
    case 2:
        return ~bit;
    case 3:
        return r & 0xff;
    case 4:
        return r & twin_random() & twin_random();
    default:
        return r;
    }
}

void twin_protect(unsigned page, int prot)
{
    page_prot[page] = prot;
    mprotect(twin_data + 4096u * page, 4096, prot);
}

int twin_setup(void **state)
{
    (void)state;
    c2_rng_init(&rng, 1, "interpret");
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT;
    region = mmap(NULL, REGION_BYTES, PROT_NONE, flags, -1, 0);
    if (region == MAP_FAILED)
        return -1;
    twin_data = region + 4096; /* a page that may not be touched on either side */
    twin_code = twin_data + TWIN_BYTES + 4096;
    mprotect(twin_data, TWIN_BYTES, PROT_READ | PROT_WRITE);
    mprotect(twin_code, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
    for (unsigned page = 0; page < TWIN_PAGES; page++)
        page_prot[page] = PROT_READ | PROT_WRITE;
    twin_gs_base = (uint64_t)(uintptr_t)twin_data + 0x140;
    twin_fs_base = (uint64_t)(uintptr_t)twin_data + 0x1230;
    native_start(twin_gs_base);
    return 0;
}

int twin_teardown(void **state)
{
    (void)state;
    munmap(region, REGION_BYTES);
    return 0;
}

/* ------------------------------------------------------------------ states */

void twin_random_x87(uint8_t to[10])
{
    uint64_t significand = twin_random() | (uint64_t)1 << 63;
    uint16_t exponent = (uint16_t)(twin_random() & 0x7fff), sign = (uint16_t)(twin_random() << 15);
    switch (twin_random() % 16) {
    case 0:
        significand = 0;
        exponent = 0;
        break;
    case 1:
        exponent = 0;
        significand >>= twin_random() % 64;
        break;
    case 2:
        exponent = 0x7fff;
        significand = (uint64_t)1 << 63;
        break;
    case 3:
        exponent = 0x7fff;
        break;
    case 4:
        significand = twin_random();
        break;
    case 5:
        exponent = 0x7fff;
        significand = (uint64_t)1 << 63 | (twin_random() & 3) | (twin_random() & 1) << 62;
        break;
    default:
        exponent = (uint16_t)(16383 - 70 + twin_random() % 140);
        significand = twin_number() | (uint64_t)1 << 63;
    }
    exponent |= sign;
    memcpy(to, &significand, 8);
    memcpy(to + 8, &exponent, 2);
}

void twin_random_state(struct native_state *state)
{
    memset(state, 0, sizeof *state);
    for (int i = 0; i < 16; i++)
        state->gpr[i] = twin_number();
    state->gpr[4] = (uint64_t)(uintptr_t)twin_data + 4096 + (twin_random() & 0x7f8);
    state->flags = 0x202 | (twin_random() & 0x8d5);
    uint16_t control = 0x7f | (uint16_t)(twin_random() & 0xc00), status = (uint16_t)(twin_random() & 0x7f7f);
    static const uint16_t precisions[] = {0x000, 0x200, 0x300, 0x300};
    control |= precisions[twin_random() & 3];
    memcpy(state->fxsave, &control, 2);
    memcpy(state->fxsave + 2, &status, 2);
    state->fxsave[4] = twin_random() & 1 ? 0xff : (uint8_t)(twin_random() | twin_random());
    uint32_t mxcsr = 0x1f80 | (uint32_t)(twin_random() & 0xe07f), mask = 0xffff;
    memcpy(state->fxsave + 24, &mxcsr, 4);
    memcpy(state->fxsave + 28, &mask, 4);
    for (int i = 0; i < 8; i++)
        twin_random_x87(state->fxsave + 32 + 16 * i);
    for (int i = 160; i < 416; i++)
        state->fxsave[i] = (uint8_t)twin_random();
}

void twin_random_memory(void) { c2_rng_fill(&rng, twin_data, TWIN_BYTES); }

/* ------------------------------------------------------------------ the interpreter's side */

static uint64_t get_gpr(void *self, unsigned gpr) { return ((struct native_state *)self)->gpr[gpr]; }
static void set_gpr(void *self, unsigned gpr, uint64_t value) { ((struct native_state *)self)->gpr[gpr] = value; }
static uint64_t get_flags(void *self) { return ((struct native_state *)self)->flags; }
static void set_flags(void *self, uint64_t flags) { ((struct native_state *)self)->flags = flags; }
static uint8_t *xmm_at(void *self, unsigned xmm) { return ((struct native_state *)self)->fxsave + 160 + 16 * xmm; }
static void get_xmm(void *self, unsigned xmm, uint8_t out[16]) { memcpy(out, xmm_at(self, xmm), 16); }
static void set_xmm(void *self, unsigned xmm, const uint8_t in[16]) { memcpy(xmm_at(self, xmm), in, 16); }
static uint32_t get_mxcsr(void *self)
{
    uint32_t mxcsr;
    memcpy(&mxcsr, ((struct native_state *)self)->fxsave + 24, 4);
    return mxcsr;
}
static void set_mxcsr(void *self, uint32_t mxcsr) { memcpy(((struct native_state *)self)->fxsave + 24, &mxcsr, 4); }
static void get_fxsave(void *self, uint8_t out[512]) { memcpy(out, ((struct native_state *)self)->fxsave, 512); }
static void set_fxsave(void *self, const uint8_t in[512]) { memcpy(((struct native_state *)self)->fxsave, in, 512); }
static uint64_t get_segment_base(void *self, ZydisRegister segment)
{
    (void)self;
    return segment == ZYDIS_REGISTER_FS ? twin_fs_base : segment == ZYDIS_REGISTER_GS ? twin_gs_base : 0;
}
static uint64_t get_time_ns(void *self)
{
    (void)self;
    return twin_time;
}
static bool ready(void *self, struct guest_va va, enum mmu_access access)
{
    (void)self;
    uint64_t offset = va.v - (uint64_t)(uintptr_t)twin_data;
    if (offset >= TWIN_BYTES)
        return false;
    int prot = page_prot[offset / 4096];
    if (absent[offset / 4096])
        return false;
    return access == MMU_ACCESS_WRITE ? prot & PROT_WRITE : prot & PROT_READ;
}

static bool decode(ZydisDecodedInstruction *insn, ZydisDecodedOperand *operands, const uint8_t *bytes, unsigned length)
{
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, length, insn, operands)) && insn->length == length;
}

bool twin_wanted(const uint8_t *bytes, unsigned length)
{
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    return decode(&insn, operands, bytes, length) && interpret_wants(&insn, operands);
}

/* What a page that was taken away holds cannot be read; such a page cannot have changed either. */
static void copy_memory(uint8_t *to, const uint8_t *from, bool into_data)
{
    for (unsigned page = 0; page < TWIN_PAGES; page++) {
        bool usable = into_data ? page_prot[page] & PROT_WRITE : page_prot[page] & PROT_READ;
        if (usable)
            memcpy(to + 4096u * page, from + 4096u * page, 4096);
        else if (!into_data)
            memset(to + 4096u * page, 0, 4096);
    }
}

static void run_kept(struct twin_result *out, const struct native_state *start, void (*run)(struct twin_result *out))
{
    static uint8_t before[TWIN_BYTES];
    copy_memory(before, twin_data, false);
    out->state = *start;
    out->end = (struct native_end){0};
    out->effect = (struct interpret_effect){0};
    out->undefined = 0;
    run(out);
    copy_memory(out->memory, twin_data, false);
    copy_memory(twin_data, before, true);
}

static void run_native(struct twin_result *out) { native_run(&out->state, twin_code, &out->end); }

static void run_interpreter(struct twin_result *out)
{
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    struct interpret_cpu cpu = {
        .self = &out->state,
        .get_gpr = get_gpr,
        .set_gpr = set_gpr,
        .get_flags = get_flags,
        .set_flags = set_flags,
        .get_xmm = get_xmm,
        .set_xmm = set_xmm,
        .get_mxcsr = get_mxcsr,
        .set_mxcsr = set_mxcsr,
        .get_fxsave = get_fxsave,
        .set_fxsave = set_fxsave,
        .get_segment_base = get_segment_base,
        .get_time_ns = get_time_ns,
        .ready = ready,
    };
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisDecoderDecodeFull(&decoder, twin_code, 15, &insn, operands);
    assert_true(interpret_wants(&insn, operands));
    interpret_execute(&cpu, (struct guest_va){(uint64_t)(uintptr_t)twin_code}, &insn, operands, &out->effect);
}

/* Written only when it changes: a CPU takes long to notice that code has changed. */
static void place_code(const uint8_t *bytes, unsigned length)
{
    uint8_t whole[15 + NATIVE_TAIL_BYTES];
    memcpy(whole, bytes, length);
    native_write_tail(whole + length, native_leave);
    if (memcmp(twin_code, whole, length + NATIVE_TAIL_BYTES) != 0)
        memcpy(twin_code, whole, length + NATIVE_TAIL_BYTES);
}

/* Where in twin_data operand 0 lies: a base register and a displacement. 0 if it is something else or elsewhere. */
static uint64_t offset_of_operand(const struct native_state *start, const ZydisDecodedOperand *o)
{
    if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || ZydisRegisterGetClass(o->mem.base) != ZYDIS_REGCLASS_GPR64)
        return 0;
    uint64_t address = start->gpr[ZydisRegisterGetId(o->mem.base)] + (uint64_t)o->mem.disp.value;
    uint64_t offset = address - (uint64_t)(uintptr_t)twin_data;
    return offset < TWIN_BYTES ? offset : 0;
}

/* twin_data is as it was before. */
static void settle(struct twin_result *out, const struct native_state *start, const uint8_t *bytes, unsigned length)
{
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    bool is_one = decode(&insn, operands, bytes, length);
    assert_true(is_one);
    uint64_t offset = offset_of_operand(start, &operands[0]);
    struct makers_case c = {
        .insn = &insn,
        .operands = operands,
        .at = (uint64_t)(uintptr_t)twin_code,
        .before = start,
        .memory_before = twin_data + offset,
        .after = &out->state,
        .memory = out->memory + offset,
        .end = &out->end,
    };
    out->undefined = makers_settle(&c);
}

void twin_native(struct twin_result *out, const struct native_state *start, const uint8_t *bytes, unsigned length)
{
    place_code(bytes, length);
    run_kept(out, start, run_native);
    settle(out, start, bytes, length);
}

void twin_interpret(struct twin_result *out, const struct native_state *start, const uint8_t *bytes, unsigned length)
{
    place_code(bytes, length);
    run_kept(out, start, run_interpreter);
}

static unsigned touch_faults;

static void run_touching(struct twin_result *out)
{
    uint64_t left = out->state.gpr[1];
    memset(absent, true, sizeof absent);
    for (touch_faults = 0;; touch_faults++) {
        run_interpreter(out);
        if (out->effect.address_count == 4) {
            assert_int_equal(stream_string_before(out->effect.address), left);
            left = out->effect.address[3];
            assert_int_equal(out->state.gpr[1], left);
        }
        if (out->effect.status != INTERPRET_FAULT)
            break;
        uint64_t page = (out->effect.fault.v - (uint64_t)(uintptr_t)twin_data) / 4096;
        assert_true(page < TWIN_PAGES && absent[page]);
        absent[page] = false;
    }
    memset(absent, false, sizeof absent);
}

unsigned twin_interpret_touching(struct twin_result *out, const struct native_state *start, const uint8_t *bytes,
                                 unsigned length)
{
    place_code(bytes, length);
    run_kept(out, start, run_touching);
    return touch_faults;
}

/* ------------------------------------------------------------------ comparison */

static void print_state(const char *title, const struct native_state *s)
{
    static const char *const names[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                          "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
    print_error("%s: flags %llx", title, (unsigned long long)s->flags);
    for (int i = 0; i < 16; i++)
        print_error(" %s %llx", names[i], (unsigned long long)s->gpr[i]);
    print_error("\n  fxsave");
    for (int i = 0; i < 192; i++)
        print_error("%s%02x", i % 16 ? "" : " ", s->fxsave[i]);
    print_error("\n");
}

static void differ(const char *name, const char *what, uint64_t native, uint64_t ours, const struct native_state *start,
                   const struct twin_result *n, const struct twin_result *o)
{
    print_error("%s: %s: the CPU has %llx, the interpreter %llx\n", name, what, (unsigned long long)native,
                (unsigned long long)ours);
    print_state("before", start);
    print_state("CPU", &n->state);
    print_state("interpreter", &o->state);
    fail();
}

static void expect_fpu(const char *name, const struct native_state *start, const struct twin_result *native,
                       const struct twin_result *ours, uint16_t status)
{
    for (unsigned i = 0; i < 416; i++) {
        bool pointer = (i >= 6 && i < 24) || (i >= 28 && i < 32); /* FOP, FIP, FDP; the mask of MXCSR */
        bool padding = i >= 32 && i < 160 && i % 16 >= 10;
        if (pointer || padding)
            continue;
        uint8_t mask = i == 2 ? (uint8_t)status : i == 3 ? (uint8_t)(status >> 8) : 0xff;
        uint8_t a = native->state.fxsave[i], b = ours->state.fxsave[i];
        if (((a ^ b) & mask) != 0) {
            char what[40];
            snprintf(what, sizeof what, "fxsave byte %u", i);
            differ(name, what, a, b, start, native, ours);
        }
    }
}

void twin_expect_equal(const char *name, const struct native_state *start, const struct twin_result *native,
                       const struct twin_result *ours, uint16_t status)
{
    for (unsigned i = 0; i < 16; i++)
        if (native->state.gpr[i] != ours->state.gpr[i]) {
            char what[20];
            snprintf(what, sizeof what, "register %u", i);
            differ(name, what, native->state.gpr[i], ours->state.gpr[i], start, native, ours);
        }
    uint64_t watched = 0xcd5 & ~native->undefined;
    if (((native->state.flags ^ ours->state.flags) & watched) != 0)
        differ(name, "flags", native->state.flags & watched, ours->state.flags & watched, start, native, ours);
    bool same = memcmp(native->memory, ours->memory, TWIN_BYTES) == 0;
    for (unsigned i = 0; !same && i < TWIN_BYTES; i++)
        if (native->memory[i] != ours->memory[i]) {
            char what[40];
            snprintf(what, sizeof what, "memory byte %x", i);
            differ(name, what, native->memory[i], ours->memory[i], start, native, ours);
        }
    expect_fpu(name, start, native, ours, status);
}
