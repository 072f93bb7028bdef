/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What instructions of VEX and EVEX touch, against the processor: each form with a memory operand, under masks of one
 * bit, none, all and some at random, at the two ends of a page between pages that cannot be accessed. It must fault
 * where a byte that it is said to touch lies beyond the end, and not where the last one lies before it. Stores are held
 * to the bytes that have changed, gathers to the elements that have come.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "cpu/cpu.h"
#include "interpret/interpret.h"

#define INDEX_REGISTER 5u
#define MASK_REGISTER 1u
#define MIDDLE 2048u

struct registers { /* in the order that run() has them */
    uint8_t zmm[32][64];
    uint64_t k[8];
    uint64_t rax; /* the base */
    uint64_t rdi;
} __attribute__((aligned(64)));

static struct registers now;
static uint8_t *page, *code;
static struct c2_rng rng;
static sigjmp_buf after;
static volatile int caught, caught_code;

static void on_signal(int signal, siginfo_t *info, void *context)
{
    (void)context;
    caught = signal;
    caught_code = info->si_code;
    siglongjmp(after, 1);
}

/* Loads the registers, calls the instruction, stores them. */
void run_wide(struct registers *registers, const uint8_t *instruction);
/* clang-format off */
#define ZMM_EACH(X) \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) \
    X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31)
#define K_EACH(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define LOAD_ZMM(n) "vmovdqu64 64*" #n "(%rbx), %zmm" #n "\n"
#define KEEP_ZMM(n) "vmovdqu64 %zmm" #n ", 64*" #n "(%rbx)\n"
#define LOAD_K(n) "kmovq 2048+8*" #n "(%rbx), %k" #n "\n"
#define KEEP_K(n) "kmovq %k" #n ", 2048+8*" #n "(%rbx)\n"
__asm__("run_wide:\n"
        "push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n sub $8, %rsp\n"
        "mov %rdi, %rbx\n mov %rsi, %rbp\n" ZMM_EACH(LOAD_ZMM) K_EACH(LOAD_K)
        "mov 2112(%rbx), %rax\n mov 2120(%rbx), %rdi\n call *%rbp\n" ZMM_EACH(KEEP_ZMM) K_EACH(KEEP_K)
        "vzeroupper\n add $8, %rsp\n pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n");
/* clang-format on */

enum { NO_FAULT, FAULT, UNALIGNED };

static int run_at(uint64_t base)
{
    static struct registers kept;
    kept = now;
    now.rax = now.rdi = base;
    caught = 0;
    if (sigsetjmp(after, 0) == 0)
        run_wide(&now, code);
    if (caught != 0)
        now = kept;
    return caught == 0 ? NO_FAULT : caught == SIGSEGV && caught_code != SEGV_ACCERR ? UNALIGNED : FAULT;
}

/* ------------------------------------------------------------------ what is said of it */

static uint64_t get_gpr(void *self, unsigned gpr) { return ((struct registers *)self)->rax * (gpr == 0 || gpr == 7); }
static void get_vector(void *self, unsigned vector, uint8_t out[64])
{
    memcpy(out, ((struct registers *)self)->zmm[vector], 64);
}
static uint64_t get_opmask(void *self, unsigned k) { return ((struct registers *)self)->k[k]; }
static const struct interpret_cpu cpu = {
    .self = &now, .get_gpr = get_gpr, .get_vector = get_vector, .get_opmask = get_opmask};

struct form {
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    const ZydisDecodedOperand *memory;
    bool is_masked;
};

static struct interpret_touched touched(const struct form *form, uint64_t base)
{
    struct interpret_touched out = {.count = 1};
    const uint64_t kept = now.rax;
    now.rax = base;
    if (form->is_masked)
        interpret_touched(&out, &cpu, (struct guest_va){(uintptr_t)code}, &form->insn, form->operands);
    else
        out.list[0] = (struct interpret_touch){.address = base, .bytes = form->memory->size / 8};
    now.rax = kept;
    return out;
}

static void complain(const struct form *form, const char *what, uint64_t base)
{
    print_error("%s of %u bits, mask %#llx, at %#llx: %s\n", ZydisMnemonicGetString(form->insn.mnemonic),
                form->insn.avx.vector_length, (unsigned long long)now.k[MASK_REGISTER],
                (unsigned long long)(base - (uintptr_t)page), what);
    fail();
}

static void expect(const struct form *form, uint64_t base, int expected)
{
    static struct registers kept;
    kept = now;
    const int got = run_at(base);
    now = kept;
    if (got != UNALIGNED && got != expected)
        complain(form, got == FAULT ? "it faults" : "it does not fault", base);
}

/* ------------------------------------------------------------------ one form */

static bool is_indexed(const struct form *form) { return form->memory->mem.type == ZYDIS_MEMOP_TYPE_VSIB; }

/* The bytes from the first to the last at the ends of the page. */
static void try_ends(const struct form *form)
{
    const uint64_t middle = (uintptr_t)page + MIDDLE;
    const struct interpret_touched it = touched(form, middle);
    uint64_t low = UINT64_MAX, high = 0;
    const unsigned count = it.probed.bytes != 0 ? 1 : it.count;
    for (unsigned i = 0; i < count; i++) {
        const struct interpret_touch *one = it.probed.bytes != 0 ? &it.probed : &it.list[i];
        low = one->address < low ? one->address : low;
        high = one->address + one->bytes > high ? one->address + one->bytes : high;
    }
    if (count == 0) {
        expect(form, (uintptr_t)page + C2_PAGE_BYTES, NO_FAULT);
        return;
    }
    const uint64_t last = (uintptr_t)page + C2_PAGE_BYTES - (high - middle), first = (uintptr_t)page - (low - middle);
    expect(form, last, NO_FAULT);
    expect(form, last + 1, FAULT);
    expect(form, first, NO_FAULT);
    expect(form, first - 1, FAULT);
}

/* A byte that is written does not depend on what was there. */
static void try_store(const struct form *form)
{
    static uint8_t said[C2_PAGE_BYTES], first[C2_PAGE_BYTES];
    static struct registers kept;
    const uint64_t base = (uintptr_t)page + MIDDLE;
    const struct interpret_touched it = touched(form, base);
    memset(said, 0, sizeof said);
    for (unsigned i = 0; i < it.count; i++)
        memset(said + (it.list[i].address - (uintptr_t)page), 1, it.list[i].bytes);
    kept = now;
    memset(page, 0, C2_PAGE_BYTES);
    run_at(base);
    now = kept;
    memcpy(first, page, sizeof first);
    memset(page, 0xff, C2_PAGE_BYTES);
    run_at(base);
    now = kept;
    for (unsigned i = 0; i < C2_PAGE_BYTES; i++)
        if ((first[i] == page[i]) != said[i])
            complain(form, said[i] ? "a byte is not written" : "another byte is written", base);
}

/* What has come is what lies where it is said to have come from. */
static void try_gather(const struct form *form)
{
    static struct registers kept;
    const uint64_t base = (uintptr_t)page + MIDDLE;
    const struct interpret_touched it = touched(form, base);
    const unsigned to = (unsigned)ZydisRegisterGetId(form->operands[0].reg.value);
    const unsigned bytes = form->memory->element_size / 8u;
    const bool vex = form->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX;
    unsigned next = 0;
    kept = now;
    c2_rng_fill(&rng, page, C2_PAGE_BYTES);
    if (run_at(base) != NO_FAULT)
        complain(form, "it faults", base);
    for (unsigned i = 0; next < it.count; i++) {
        const uint8_t *mask = kept.zmm[vex ? (unsigned)ZydisRegisterGetId(form->operands[2].reg.value) : 0];
        if (vex ? mask[(i + 1) * bytes - 1] >> 7 : kept.k[MASK_REGISTER] >> i & 1)
            if (memcmp(now.zmm[to] + i * bytes, (void *)(uintptr_t)it.list[next++].address, bytes) != 0)
                complain(form, "another element has come", base);
    }
    now = kept;
}

/* Random registers; indices that residency within the page. */
static void fill_registers(const struct form *form, uint64_t mask)
{
    c2_rng_fill(&rng, now.zmm, sizeof now.zmm);
    for (unsigned i = 0; i < 8; i++)
        now.k[i] = mask;
    for (unsigned i = 0; i < 64; i++) /* of vectors that are masks: 32 and 64 bits wide, and bytes */
        now.zmm[2][i] = (uint8_t)((now.zmm[2][i] & 0x7f) | (mask >> i / 4 & 1) << 7);
    if (!is_indexed(form))
        return;
    const char *name = ZydisMnemonicGetString(form->insn.mnemonic);
    const bool narrow = strstr(name, "gatherd") || strstr(name, "scatterd");
    for (unsigned i = 0; i < 16; i += narrow ? 1 : 2) {
        const int64_t index = (int64_t)c2_rng_below(&rng, 200) - 100;
        memcpy(now.zmm[INDEX_REGISTER] + 4 * i, &index, narrow ? 4 : 8);
    }
}

/* Single bits, none, all, and some at random. */
static uint64_t mask_number(unsigned i)
{
    const uint64_t any = c2_rng_next(&rng), other = c2_rng_next(&rng);
    if (i < 64)
        return (uint64_t)1 << i;
    return i == 64 ? 0 : i == 65 ? UINT64_MAX : i % 2 == 0 ? any : any & other;
}

static void try_form(const struct form *form)
{
    const bool writes = form->memory->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    for (unsigned i = 0; i < 72; i++) {
        fill_registers(form, mask_number(i));
        if (is_indexed(form) && !writes)
            try_gather(form);
        else if (writes)
            try_store(form);
        try_ends(form);
        if (!form->is_masked && i % 8 == 0) /* nothing more can come of it */
            i += 7;
    }
}

static bool is_memory(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
           (operand->mem.type == ZYDIS_MEMOP_TYPE_MEM || operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB);
}

/* Forms that this processor executes, but for VLDMXCSR, which faults by what it reads. */
static bool take_form(struct form *form, const uint8_t *bytes)
{
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, 15, &form->insn, form->operands)))
        return false;
    form->memory = NULL;
    for (unsigned i = 0; i < form->insn.operand_count; i++)
        if (is_memory(&form->operands[i]))
            form->memory = &form->operands[i];
    if (!form->memory || form->insn.mnemonic == ZYDIS_MNEMONIC_VLDMXCSR)
        return false;
    form->is_masked = interpret_is_masked(&form->insn, form->operands);
    memcpy(code, bytes, form->insn.length);
    code[form->insn.length] = 0xc3;
    fill_registers(form, 0);
    run_at((uintptr_t)page + MIDDLE);
    return caught != SIGILL;
}

static unsigned tried, tried_masked;

/* ------------------------------------------------------------------ all forms: [rax], or [rax + index * scale] */

static bool is_group(unsigned map, unsigned opcode)
{
    return (map == 1 && ((opcode >= 0x71 && opcode <= 0x73) || opcode == 0xae)) || (map == 2 && opcode == 0xf3);
}

/* Behind the prefix of `length` bytes: opcode, ModRM, SIB, room for an immediate. Without vvvv where the form has
 * none, which lies in byte `vvvv` of the prefix. */
static void try_operands(uint8_t *bytes, unsigned length, unsigned vvvv, unsigned map, unsigned opcode)
{
    const struct form none = {.memory = NULL};
    bytes[length] = (uint8_t)opcode;
    for (unsigned reg = 0; reg < 8; reg++) {
        if (reg != 1 && !is_group(map, opcode))
            continue;
        for (unsigned sib = 0; sib < 4; sib++) { /* none, and scales of 2, 4, 8 */
            const uint8_t kept = bytes[vvvv];
            struct form form = none;
            bytes[length + 1] = (uint8_t)(reg << 3 | (sib != 0 ? 4 : 0));
            bytes[length + 2] = (uint8_t)(sib << 6 | (sib != 0 ? INDEX_REGISTER << 3 : 0));
            if (!take_form(&form, bytes)) {
                bytes[vvvv] |= 0x78;
                if (!take_form(&form, bytes))
                    form = none;
            }
            bytes[vvvv] = kept;
            if (form.memory && is_indexed(&form) == (sib != 0)) {
                try_form(&form);
                tried++;
                tried_masked += form.is_masked;
            }
        }
    }
}

static void try_vex(void)
{
    for (unsigned map = 1; map < 4; map++)
        for (unsigned opcode = 0; opcode < 256; opcode++)
            for (unsigned rest = 0; rest < 16; rest++) { /* W, L, pp */
                uint8_t bytes[16] = {0xc4, (uint8_t)(0xe0 | map), (uint8_t)(rest << 4 & 0x80) | 0x68 | (rest & 7)};
                try_operands(bytes, 3, 2, map, opcode);
            }
}

static void try_evex(unsigned opmask)
{
    for (unsigned map = 1; map < 4; map++)
        for (unsigned opcode = 0; opcode < 256; opcode++)
            for (unsigned rest = 0; rest < 64; rest++) { /* W, b, L, pp */
                if ((rest >> 2 & 3) == 3)
                    continue;
                uint8_t bytes[16] = {0x62, (uint8_t)(0xf0 | map), (uint8_t)((rest << 2 & 0x80) | 0x6c | (rest & 3)),
                                     (uint8_t)((rest & 0x0c) << 3 | (rest & 0x10) | 8 | opmask)};
                try_operands(bytes, 4, 2, map, opcode);
            }
}

/* Inside of each test, which cmocka begins with handlers of its own. */
static void take_signals(void)
{
    const struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_NODEFER};
    for (unsigned i = 0; i < 4; i++)
        sigaction((const int[]){SIGSEGV, SIGBUS, SIGILL, SIGFPE}[i], &action, NULL);
}

static void test_vex(void **state)
{
    (void)state;
    take_signals();
    tried = tried_masked = 0;
    try_vex();
    static const uint8_t vmaskmovdqu[16] = {0xc5, 0xf9, 0xf7, 0xca};
    struct form form;
    assert_true(take_form(&form, vmaskmovdqu) && form.is_masked);
    try_form(&form);
    print_message("%u forms, %u of them with masks\n", tried, tried_masked);
    assert_true(tried > 400 && tried_masked > 40);
}

static void test_evex(void **state)
{
    (void)state;
    take_signals();
    tried = tried_masked = 0;
    try_evex(0);
    assert_int_equal(tried_masked, 0);
    print_message("%u forms without masks\n", tried);
    assert_true(tried > 800);
}

static void test_evex_masks(void **state)
{
    (void)state;
    take_signals();
    tried = tried_masked = 0;
    try_evex(MASK_REGISTER);
    print_message("%u forms, %u of them with masks\n", tried, tried_masked);
    assert_true(tried_masked > 800);
}

static int setup(void **state)
{
    (void)state;
    if (cpu_host_has(cpu_of_level(CPU_V4), NULL) != C2_OK) {
        print_message("this processor has no AVX-512: there is nothing to compare with\n");
        exit(77);
    }
    uint8_t *pages = mmap(NULL, 3 * C2_PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page = pages + C2_PAGE_BYTES;
    code = mmap(NULL, C2_PAGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    c2_rng_init(&rng, 1, "touched");
    return mprotect(page, C2_PAGE_BYTES, PROT_READ | PROT_WRITE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vex),
        cmocka_unit_test(test_evex),
        cmocka_unit_test(test_evex_masks),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
