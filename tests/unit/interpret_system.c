/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * CPUID, time, segment selectors, traps and privileged instructions; and the class - engine, interpreter or refusal -
 * on a list of instructions of every extension.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>
#include <cpuid.h>

#include "unit/interpret_twin.h"

static void cpuid(uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    static struct twin_result r;
    static const uint8_t bytes[] = {0x0f, 0xa2};
    struct native_state s = {.flags = 0x202};
    s.gpr[0] = 0xdead00000000 | leaf; /* only the low halves count */
    s.gpr[1] = 0xbeef00000000 | subleaf;
    twin_interpret(&r, &s, bytes, 2);
    assert_int_equal(r.effect.status, INTERPRET_DONE);
    static const int order[4] = {0, 3, 1, 2}; /* eax ebx ecx edx */
    for (int i = 0; i < 4; i++) {
        assert_int_equal(r.state.gpr[order[i]] >> 32, 0);
        out[i] = (uint32_t)r.state.gpr[order[i]];
    }
}

static void expect_leaf(uint32_t leaf, uint32_t subleaf, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    uint32_t r[4];
    cpuid(leaf, subleaf, r);
    if (r[0] != a || r[1] != b || r[2] != c || r[3] != d)
        fail_msg("leaf %x.%x: %x %x %x %x", leaf, subleaf, r[0], r[1], r[2], r[3]);
}

static uint64_t cache_bytes(uint32_t subleaf, uint32_t *type)
{
    uint32_t r[4];
    cpuid(4, subleaf, r);
    *type = r[0] & 0xff; /* type, level */
    return (uint64_t)((r[1] >> 22) + 1) * ((r[1] >> 12 & 0x3ff) + 1) * ((r[1] & 0xfff) + 1) * (r[2] + 1);
}

static void test_cpuid(void **state)
{
    uint32_t type, r[4];
    char text[49] = {0};
    (void)state;
    expect_leaf(0, 0, 0xb, 0x756e6547, 0x6c65746e, 0x49656e69);
    /* ecx: SSE3 0 SSSE3 9 CX16 13 SSE4.1 19 SSE4.2 20 POPCNT 23
     * edx: FPU 0 TSC 4 CX8 8 CMOV 15 CLFSH 19 MMX 23 FXSR 24 SSE 25 SSE2 26 */
    expect_leaf(1, 0, 0x106a5, 0x800, 0x00982201, 0x07888111);
    expect_leaf(2, 0, 0x55035a01, 0x00f0b2e4, 0, 0x09ca212c);
    assert_int_equal(cache_bytes(0, &type), 32 << 10);
    assert_int_equal(type, 0x21);
    assert_int_equal(cache_bytes(1, &type), 32 << 10);
    assert_int_equal(type, 0x22);
    assert_int_equal(cache_bytes(2, &type), 256 << 10);
    assert_int_equal(type, 0x43);
    assert_int_equal(cache_bytes(3, &type), 8 << 20);
    assert_int_equal(type, 0x63);
    expect_leaf(4, 4, 0, 0, 0, 0);
    expect_leaf(7, 0, 0, 0x01800000, 0, 0); /* CLFLUSHOPT 23 CLWB 24 */
    expect_leaf(7, 1, 0, 0, 0, 0);
    expect_leaf(0xb, 0, 0, 1, 0x100, 0);
    expect_leaf(0xb, 1, 0, 1, 0x201, 0);
    expect_leaf(0xb, 2, 0, 0, 2, 0);
    expect_leaf(0xd, 0, 0, 0, 0, 0);
    expect_leaf(0x40000000, 0, 0, 0, 0, 0);
    expect_leaf(0x80000000, 5, 0x80000008, 0, 0, 0);
    expect_leaf(0x80000001, 0, 0, 0, 0x101, 0x28100800);
    expect_leaf(0x80000008, 0, 0x3028, 0, 0, 0);
    for (uint32_t i = 0; i < 3; i++) {
        cpuid(0x80000002 + i, 0, r);
        memcpy(text + 16 * i, r, 16);
    }
    assert_string_equal(text, "c2emu x86-64-v2 CPU");
}

/* Which instruction is refused on which processor. */
static void test_extensions(void **state)
{
    enum { V2 = 1, V3 = 2, V4 = 4, HOST = 8 };
    static const struct {
        uint8_t bytes[10];
        unsigned accepted;
    } rows[] = {
        {{0x0f, 0x58, 0xc1}, V2 | V3 | V4 | HOST},             /* addps */
        {{0x66, 0x0f, 0x38, 0xf6, 0xc1}, V2 | V3 | V4 | HOST}, /* adcx */
        {{0xc5, 0xfc, 0x58, 0xc1}, V3 | V4 | HOST},            /* vaddps, 256 bits */
        {{0xc5, 0xfd, 0xfe, 0xc1}, V3 | V4 | HOST},            /* vpaddd, 256 bits: AVX2 */
        {{0xc4, 0xe2, 0x75, 0xb8, 0xc2}, V3 | V4 | HOST},      /* vfmadd231ps */
        {{0xc4, 0xe2, 0x7d, 0x13, 0xc1}, V3 | V4 | HOST},      /* vcvtph2ps */
        {{0x0f, 0x01, 0xd0}, V3 | V4 | HOST},                  /* xgetbv */
        {{0x0f, 0xae, 0x20}, V3 | V4 | HOST},                  /* xsave */
        {{0x0f, 0xc7, 0x20}, 0},                               /* xsavec */
        {{0x62, 0xf1, 0x74, 0x48, 0x58, 0xc2}, V4 | HOST},     /* vaddps, 512 bits */
        {{0x62, 0xf1, 0x74, 0x28, 0x58, 0xc2}, V4 | HOST},     /* vaddps, 256 bits: AVX512VL */
        {{0xc5, 0xf4, 0x41, 0xc2}, V4 | HOST},                 /* kandw */
        {{0x66, 0x0f, 0x38, 0xdc, 0xc1}, HOST},                /* aesenc */
        {{0xc4, 0xe2, 0x75, 0xdc, 0xc2}, HOST},                /* vaesenc, 256 bits */
        {{0x62, 0xf2, 0x75, 0x48, 0x50, 0xc2}, HOST},          /* vpdpbusd, 512 bits */
        {{0xc5, 0xfc, 0x53, 0xc1}, HOST},                      /* vrcpps */
        {{0x62, 0xf2, 0x7d, 0x48, 0x4c, 0xc1}, HOST},          /* vrcp14ps */
        {{0x62, 0xf2, 0x76, 0x48, 0x52, 0xc2}, 0},             /* vdpbf16ps */
    };
    const struct cpu_model everything = {.name = "host", .features = UINT64_MAX, .xcr0 = 0xe7, .approximates = true};
    const struct cpu_model *const models[] = {NULL, cpu_of_level(CPU_V3), cpu_of_level(CPU_V4), &everything};
    ZydisDecoder decoder;
    (void)state;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ZydisDecodedInstruction insn;
        ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
        assert_true(ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, rows[i].bytes, 10, &insn, operands)));
        for (unsigned m = 0; m < 4; m++) {
            const bool refused = interpret_refused(models[m], &insn, operands);
            if (refused == (rows[i].accepted >> m & 1))
                fail_msg("row %zu, processor %u", i, m);
        }
    }
}

static void test_time(void **state)
{
    static struct twin_result r;
    static const uint8_t rdtsc[] = {0x0f, 0x31}, rdtscp[] = {0x0f, 0x01, 0xf9};
    struct native_state s = {.flags = 0x202};
    (void)state;
    memset(s.gpr, 0xff, sizeof s.gpr);
    twin_time = 0x123456789abcdef0;
    twin_interpret(&r, &s, rdtsc, 2);
    assert_int_equal(r.state.gpr[0], 0x9abcdef0);
    assert_int_equal(r.state.gpr[2], 0x12345678);
    assert_int_equal(r.state.gpr[1], ~0ull);
    twin_interpret(&r, &s, rdtscp, 3);
    assert_int_equal(r.state.gpr[0], 0x9abcdef0);
    assert_int_equal(r.state.gpr[1], 0);
}

static void test_segments(void **state)
{
    static struct twin_result native, ours;
    (void)state;
    for (unsigned segment = 0; segment < 6; segment++) {
        const uint8_t forms[4][4] = {{0x8c, (uint8_t)(0xc0 | segment << 3)},
                                     {0x66, 0x8c, (uint8_t)(0xc0 | segment << 3)},
                                     {0x48, 0x8c, (uint8_t)(0xc0 | segment << 3)},
                                     {0x8c, (uint8_t)(0x03 | segment << 3)}};
        static const unsigned lengths[4] = {2, 3, 3, 2};
        for (unsigned i = 0; i < 4; i++) {
            struct native_state s;
            twin_random_state(&s);
            s.gpr[3] = (uint64_t)(uintptr_t)twin_data + 100;
            assert_true(twin_wanted(forms[i], lengths[i]));
            twin_native(&native, &s, forms[i], lengths[i]);
            twin_interpret(&ours, &s, forms[i], lengths[i]);
            assert_int_equal(ours.effect.address_count, i == 3);
            twin_expect_equal("mov from a segment register", &s, &native, &ours, TWIN_STATUS_ALL);
        }
    }
}

/* ------------------------------------------------------------------ signals */

struct trap {
    const char *name;
    uint8_t bytes[8];
    unsigned length;
    int signal, code;
    bool behind;
    bool native; /* the CPU that runs the test may be asked: the outcome does not depend on the kernel's settings */
};

#define SI_BY_KERNEL 0x80
static const struct trap traps[] = {
    {"int3", {0xcc}, 1, SIGTRAP, SI_BY_KERNEL, true, true},
    {"int 3", {0xcd, 3}, 2, SIGTRAP, SI_BY_KERNEL, true, true},
    {"int1", {0xf1}, 1, SIGTRAP, TRAP_BRKPT, true, true},
    {"int 13", {0xcd, 13}, 2, SIGSEGV, SI_BY_KERNEL, false, true},
    {"ud2", {0x0f, 0x0b}, 2, SIGILL, ILL_ILLOPN, false, true},
    {"popcnt of VEX", {0xc4, 0xe1, 0x7a, 0xb8, 0xd2}, 5, SIGILL, ILL_ILLOPN, false, true},
    {"lzcnt of VEX", {0xc4, 0xe1, 0xfa, 0xbd, 0xc3}, 5, SIGILL, ILL_ILLOPN, false, true},
    {"ud1", {0x0f, 0xb9, 0xc0}, 3, SIGILL, ILL_ILLOPN, false, true},
    {"ud0", {0x0f, 0xff, 0xc0}, 3, SIGILL, ILL_ILLOPN, false, true},
    {"hlt", {0xf4}, 1, SIGSEGV, SI_BY_KERNEL, false, true},
    {"cli", {0xfa}, 1, SIGSEGV, SI_BY_KERNEL, false, true},
    {"sti", {0xfb}, 1, SIGSEGV, SI_BY_KERNEL, false, true},
    {"in", {0xe4, 0x80}, 2, SIGSEGV, SI_BY_KERNEL, false, true},
    {"in dx", {0xed}, 1, SIGSEGV, SI_BY_KERNEL, false, true},
    {"out", {0xe6, 0x80}, 2, SIGSEGV, SI_BY_KERNEL, false, true},
    {"insb", {0x6c}, 1, SIGSEGV, SI_BY_KERNEL, false, true},
    {"rep outsb", {0xf3, 0x6e}, 2, SIGSEGV, SI_BY_KERNEL, false, true},
    {"rdmsr", {0x0f, 0x32}, 2, SIGSEGV, SI_BY_KERNEL, false, true},
    {"wrmsr", {0x0f, 0x30}, 2, SIGSEGV, SI_BY_KERNEL, false, true},
    {"lgdt", {0x0f, 0x01, 0x13}, 3, SIGSEGV, SI_BY_KERNEL, false, true},
    {"mov cr0", {0x0f, 0x20, 0xc0}, 3, SIGSEGV, SI_BY_KERNEL, false, true},
    {"mov dr7", {0x0f, 0x23, 0xf8}, 3, SIGSEGV, SI_BY_KERNEL, false, true},
    {"clts", {0x0f, 0x06}, 2, SIGSEGV, SI_BY_KERNEL, false, true},
    {"wbinvd", {0x0f, 0x09}, 2, SIGSEGV, SI_BY_KERNEL, false, true},
    {"invlpg", {0x0f, 0x01, 0x3b}, 3, SIGSEGV, SI_BY_KERNEL, false, true},
    {"swapgs", {0x0f, 0x01, 0xf8}, 3, SIGSEGV, SI_BY_KERNEL, false, true},
    {"sysret", {0x0f, 0x07}, 2, SIGSEGV, SI_BY_KERNEL, false, false},
    {"rdpmc", {0x0f, 0x33}, 2, SIGSEGV, SI_BY_KERNEL, false, false},
};

static void test_traps(void **state)
{
    static struct twin_result native, ours;
    (void)state;
    for (size_t i = 0; i < sizeof traps / sizeof traps[0]; i++) {
        const struct trap *t = &traps[i];
        struct native_state s;
        twin_random_state(&s);
        s.gpr[3] = (uint64_t)(uintptr_t)twin_data;
        twin_interpret(&ours, &s, t->bytes, t->length);
        const struct interpret_effect *e = &ours.effect;
        if (e->status != INTERPRET_SIGNAL || e->signal != t->signal || e->code != t->code || e->behind != t->behind)
            fail_msg("%s: status %d signal %d code %d", t->name, (int)e->status, e->signal, e->code);
        assert_memory_equal(&ours.state, &s, sizeof s);
        if (!t->native)
            continue;
        twin_native(&native, &s, t->bytes, t->length);
        uint64_t rip = (uint64_t)(uintptr_t)twin_code + (t->behind ? t->length : 0);
        if (native.end.signal != t->signal || native.end.code != t->code || native.end.rip != rip)
            fail_msg("%s: the kernel gives signal %d code %d", t->name, native.end.signal, native.end.code);
    }
}

/* ------------------------------------------------------------------ classes */

struct class_found {
    const char *name;
    uint8_t bytes[12];
    unsigned length;
    const char *refusal; /* a word of it; NULL: the engine's to execute */
};

static const struct class_found classifier[] = {
    {"mov", {0x48, 0x89, 0xc8}, 3, NULL},
    {"repz ret", {0xf3, 0xc3}, 2, NULL},
    {"pause", {0xf3, 0x90}, 2, NULL},
    {"endbr64", {0xf3, 0x0f, 0x1e, 0xfa}, 4, NULL},
    {"nopw", {0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}, 10, NULL},
    {"syscall", {0x0f, 0x05}, 2, NULL},
    {"shl eax, cl", {0xd3, 0xe0}, 2, NULL},
    {"shl [rbx], 3", {0xc1, 0x23, 3}, 3, NULL},
    {"shl [rbx], 1", {0xd1, 0x23}, 2, NULL},
    {"neg [rbx]", {0xf7, 0x1b}, 2, NULL},
    {"shld eax, ecx, cl", {0x0f, 0xa5, 0xc8}, 3, NULL},
    {"pcmpistri equal each", {0x66, 0x0f, 0x3a, 0x63, 0xd1, 0x1a}, 6, NULL},
    {"data16 rex.W call", {0x66, 0x66, 0x48, 0xe8, 0, 0, 0, 0}, 8, NULL},
    {"bnd jmp", {0xf2, 0xe9, 0, 0, 0, 0}, 6, NULL},
    {"notrack jmp rax", {0x3e, 0xff, 0xe0}, 3, NULL},
    {"rdsspq", {0xf3, 0x48, 0x0f, 0x1e, 0xc8}, 5, NULL},
    {"andn", {0xc4, 0xe2, 0x70, 0xf2, 0xc1}, 5, NULL},
    {"vaddps xmm", {0xc5, 0xf0, 0x58, 0xc2}, 4, "AVX "},
    {"vzeroupper", {0xc5, 0xf8, 0x77}, 3, "AVX "},
    {"vpaddd ymm", {0xc5, 0xf5, 0xfe, 0xc2}, 4, "AVX2"},
    {"vfmadd231sd", {0xc4, 0xe2, 0xf1, 0xb9, 0xc2}, 5, "FMA"},
    {"vcvtph2ps", {0xc4, 0xe2, 0x79, 0x13, 0xc1}, 5, "F16C"},
    {"vpaddd zmm", {0x62, 0xf1, 0x75, 0x48, 0xfe, 0xc2}, 6, "AVX-512"},
    {"kmovw", {0xc5, 0xf8, 0x92, 0xc8}, 4, "AVX-512"},
    {"aesenc", {0x66, 0x0f, 0x38, 0xdc, 0xc1}, 5, "AES-NI"},
    {"pclmulqdq", {0x66, 0x0f, 0x3a, 0x44, 0xc1, 0}, 6, "PCLMULQDQ"},
    {"sha256rnds2", {0x0f, 0x38, 0xcb, 0xc1}, 4, "SHA-NI"},
    {"gf2p8mulb", {0x66, 0x0f, 0x38, 0xcf, 0xc1}, 5, "GFNI"},
    {"rdrand", {0x0f, 0xc7, 0xf0}, 3, "RDRAND"},
    {"rdseed", {0x0f, 0xc7, 0xf8}, 3, "RDSEED"},
    {"rdpid", {0xf3, 0x0f, 0xc7, 0xf8}, 4, "RDPID"},
    {"xgetbv", {0x0f, 0x01, 0xd0}, 3, "XSAVE"},
    {"xsave", {0x0f, 0xae, 0x23}, 3, "XSAVE"},
    {"xsavec", {0x0f, 0xc7, 0x23}, 3, "XSAVE"},
    {"rdfsbase", {0xf3, 0x48, 0x0f, 0xae, 0xc0}, 5, "FSGSBASE"},
    {"xbegin", {0xc7, 0xf8, 0, 0, 0, 0}, 6, "TSX"},
    {"xtest", {0x0f, 0x01, 0xd6}, 3, "TSX"},
    {"incsspq", {0xf3, 0x48, 0x0f, 0xae, 0xe8}, 5, "CET"},
    {"pfadd", {0x0f, 0x0f, 0xc1, 0x9e}, 4, "3DNow!"},
    {"extrq", {0x66, 0x0f, 0x79, 0xc1}, 4, "SSE4a"},
    {"bndmk", {0xf3, 0x0f, 0x1b, 0x03}, 4, "MPX"},
    {"xop vphaddbw", {0x8f, 0xe9, 0x78, 0xc1, 0xc1}, 5, "XOP"},
    {"int 0x80", {0xcd, 0x80}, 2, "32-bit"},
    {"sysenter", {0x0f, 0x34}, 2, "32-bit"},
    {"ljmp m16:64", {0x48, 0xff, 0x2b}, 3, "64 bits"},
    {"lcall m16:64", {0x48, 0xff, 0x1b}, 3, "64 bits"},
    {"mov ds, eax", {0x8e, 0xd8}, 2, "segment"},
    {"pop fs", {0x0f, 0xa1}, 2, "segment"},
    {"push gs", {0x0f, 0xa8}, 2, "segment"},
    {"lar", {0x0f, 0x02, 0xc1}, 3, "descriptor"},
    {"sgdt", {0x0f, 0x01, 0x03}, 3, "descriptor"},
    {"lss", {0x0f, 0xb2, 0x03}, 3, "descriptor"},
    {"data16 enter 16, 1", {0x66, 0xc8, 16, 0, 1}, 5, "ENTER"},
    {"data16 call", {0x66, 0xe8, 0, 0, 0, 0}, 6, "66h"},
    {"data16 ret", {0x66, 0xc3}, 2, "66h"},
    {"data16 jz", {0x66, 0x74, 0}, 3, "66h"},
    {"vmcall", {0x0f, 0x01, 0xc1}, 3, "known to come out right"},
};

static void test_verdicts(void **state)
{
    static struct twin_result r;
    (void)state;
    for (size_t i = 0; i < sizeof classifier / sizeof classifier[0]; i++) {
        const struct class_found *v = &classifier[i];
        struct native_state s = {.flags = 0x202};
        if (twin_wanted(v->bytes, v->length) != !!v->refusal)
            fail_msg("%s: wanted %d", v->name, !v->refusal);
        if (!v->refusal)
            continue;
        s.gpr[3] = (uint64_t)(uintptr_t)twin_data;
        twin_interpret(&r, &s, v->bytes, v->length);
        if (r.effect.status != INTERPRET_REFUSED || !strstr(r.effect.reason, v->refusal))
            fail_msg("%s: status %d, %s", v->name, (int)r.effect.status, r.effect.reason);
        assert_memory_equal(&r.state, &s, sizeof s);
        assert_int_equal(r.effect.address_count, 0);
    }
}

/* ------------------------------------------------------------------ memory that is probed */

static unsigned compare(const char *name, const struct native_state *s, const uint8_t *bytes, unsigned length)
{
    static struct twin_result native, ours;
    twin_native(&native, s, bytes, length);
    twin_interpret(&ours, s, bytes, length);
    const bool page_fault = native.end.code == SEGV_MAPERR || native.end.code == SEGV_ACCERR;
    const enum interpret_status expected = page_fault ? INTERPRET_FAULT : INTERPRET_SIGNAL;
    assert_int_equal(ours.effect.status, native.end.signal == 0 ? INTERPRET_DONE : expected);
    if (ours.effect.status == INTERPRET_FAULT)
        assert_int_equal(ours.effect.fault.v, native.end.address);
    if (ours.effect.status == INTERPRET_SIGNAL)
        assert_int_equal(ours.effect.signal, native.end.signal);
    twin_expect_equal(name, s, &native, &ours, TWIN_STATUS_ALL);
    return native.end.signal != 0;
}

/* The frame pointers of the procedures around lie below RBP, on either page, or their own. */
static void test_nested_enter(void **state)
{
    static const int rights[] = {PROT_READ | PROT_WRITE, PROT_READ, PROT_NONE};
    unsigned faults = 0;
    (void)state;
    for (unsigned round = 0; round < 3000; round++) {
        struct native_state s;
        twin_random_memory();
        twin_random_state(&s);
        const uint64_t room = twin_random() % 3 == 0 ? s.gpr[4] % 4096 + twin_random() % 300 : twin_random() % 3000;
        const uint8_t enter[] = {0xc8, (uint8_t)room, (uint8_t)(room >> 8), (uint8_t)twin_random()};
        s.gpr[5] = (uint64_t)(uintptr_t)twin_data + 256 + twin_random() % 7000;
        if (round % 4 == 0)
            s.gpr[5] = s.gpr[4] - 100 + twin_random() % 300;
        if (round % 31 == 0)
            s.gpr[5] = ((uint64_t)1 << 47) + twin_random() % 200;
        twin_protect(round % 2, rights[round / 2 % 3]);
        faults += compare("enter with a level", &s, enter, sizeof enter);
        twin_protect(round % 2, PROT_READ | PROT_WRITE);
    }
    assert_in_range(faults, 800, 2400);
}

/* What it touches, in its order. */
static void test_addresses_of_enter(void **state)
{
    const struct interpret_effect effect = {.address = {0x1000, 0x2000}};
    const uint64_t three[] = {0x1000, 0x1ff8, 0xff8, 0x1ff0, 0xff0, 0xfe8};
    uint64_t out[INTERPRET_ENTER_TOUCHES + 1];
    (void)state;
    interpret_enter_addresses(out, &effect, 3);
    assert_memory_equal(out, three, sizeof three);
    interpret_enter_addresses(out, &effect, 1);
    assert_int_equal(out[1], 0xff8);
    out[INTERPRET_ENTER_TOUCHES] = 77;
    interpret_enter_addresses(out, &effect, 31);
    assert_int_equal(out[INTERPRET_ENTER_TOUCHES - 1], 0x1000 - 31 * 8);
    assert_int_equal(out[INTERPRET_ENTER_TOUCHES], 77);
}

/* RSP is on page 1. What ENTER leaves as the top of the stack is written to before anything changes. */
static void test_enter(void **state)
{
    static const int rights[] = {PROT_READ | PROT_WRITE, PROT_READ, PROT_NONE};
    unsigned faults = 0;
    (void)state;
    for (unsigned round = 0; round < 600; round++) {
        struct native_state s;
        twin_random_memory();
        twin_random_state(&s);
        const uint64_t room = twin_random() % 3 == 0 ? s.gpr[4] % 4096 + twin_random() % 16 : twin_random() % 4000;
        const uint8_t enter[] = {0xc8, (uint8_t)room, (uint8_t)(room >> 8), 0};
        twin_protect(round % 2, rights[round % 3]);
        faults += compare("enter", &s, enter, sizeof enter);
        twin_protect(round % 2, PROT_READ | PROT_WRITE);
    }
    assert_in_range(faults, 200, 400);
}

/* ... [rbp]: of a page that can be read or not, of an address that is none. */
static void flush_all(const char *name, const uint8_t *bytes, unsigned length)
{
    struct native_state s;
    twin_random_state(&s);
    s.gpr[5] = (uint64_t)(uintptr_t)twin_data + 4096 + 77;
    assert_int_equal(compare(name, &s, bytes, length), 0);
    twin_protect(1, PROT_READ);
    assert_int_equal(compare(name, &s, bytes, length), 0);
    twin_protect(1, PROT_NONE);
    assert_int_equal(compare(name, &s, bytes, length), 1);
    twin_protect(1, PROT_READ | PROT_WRITE);
    s.gpr[5] = (uint64_t)1 << 47;
    assert_int_equal(compare(name, &s, bytes, length), 1);
}

/* Those of them that the host has. */
static void test_flushes(void **state)
{
    static const uint8_t clflush[] = {0x0f, 0xae, 0x7d, 0}, clflushopt[] = {0x66, 0x0f, 0xae, 0x7d, 0},
                         clwb[] = {0x66, 0x0f, 0xae, 0x75, 0};
    unsigned a, b = 0, c, d;
    (void)state;
    __get_cpuid_count(7, 0, &a, &b, &c, &d);
    flush_all("clflush", clflush, sizeof clflush);
    if (b >> 23 & 1)
        flush_all("clflushopt", clflushopt, sizeof clflushopt);
    if (b >> 24 & 1)
        flush_all("clwb", clwb, sizeof clwb);
}

/* prefetch... 8(%rbx): nothing but its address, wherever that is; one that no process has is 0. */
static void test_prefetches(void **state)
{
    static const uint8_t forms[][4] = {{0x0f, 0x18, 0x43, 8}, {0x0f, 0x18, 0x4b, 8}, {0x0f, 0x18, 0x53, 8},
                                       {0x0f, 0x18, 0x5b, 8}, {0x0f, 0x0d, 0x4b, 8}, {0x0f, 0x0d, 0x43, 8}};
    static const uint64_t from[] = {0, 0x123456789, ((uint64_t)1 << 47) - 9, ((uint64_t)1 << 47) - 8, UINT64_MAX << 40};
    static struct twin_result r;
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        for (size_t k = 0; k < sizeof from / sizeof from[0]; k++) {
            struct native_state s = {.flags = 0x202};
            s.gpr[3] = from[k];
            assert_true(twin_wanted(forms[i], 4));
            twin_interpret(&r, &s, forms[i], 4);
            assert_int_equal(r.effect.status, INTERPRET_DONE);
            assert_int_equal(r.effect.address_count, 1);
            assert_int_equal(r.effect.address[0], k < 3 ? from[k] + 8 : 0);
            assert_memory_equal(r.state.gpr, s.gpr, sizeof s.gpr);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_extensions),
                                       cmocka_unit_test(test_cpuid),
                                       cmocka_unit_test(test_time),
                                       cmocka_unit_test(test_segments),
                                       cmocka_unit_test(test_traps),
                                       cmocka_unit_test(test_verdicts),
                                       cmocka_unit_test(test_enter),
                                       cmocka_unit_test(test_nested_enter),
                                       cmocka_unit_test(test_addresses_of_enter),
                                       cmocka_unit_test(test_flushes),
                                       cmocka_unit_test(test_prefetches)};
    return cmocka_run_group_tests_name("interpret: the system", tests, twin_setup, twin_teardown);
}
