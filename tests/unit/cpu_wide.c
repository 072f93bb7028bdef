/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Registers as data against the processor's own: what XRSTOR loads from parts of struct cpu_wide is what instructions
 * find in the registers. (The processor has the components at offsets of its own.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <cpuid.h>

#include "cpu/cpu.h"

static uint8_t area[16384] __attribute__((aligned(64)));

static void fill(struct cpu_wide *wide, uint8_t *fxsave, const char *seed)
{
    struct c2_rng rng;
    c2_rng_init(&rng, 1, seed);
    c2_rng_fill(&rng, wide, sizeof *wide);
    memset(fxsave, 0, CPU_FXSAVE_BYTES);
    memcpy(fxsave, "\x7f\x03", 2);
    memcpy(fxsave + 24, "\x80\x1f", 2);
    c2_rng_fill(&rng, fxsave + 160, 256);
}

/* XRSTOR, then some registers by instructions. zmm: 0 .. 31, a few of them. */
static const unsigned looked_at[] = {0, 7, 15, 16, 22, 31};
static void load_and_look(uint64_t which, uint8_t zmm[6][64], uint64_t opmask[2])
{
    __asm__ volatile("xrstor64 %[area]\n\t"
                     "vmovdqu64 %%zmm0, (%[zmm])\n\t"
                     "vmovdqu64 %%zmm7, 64(%[zmm])\n\t"
                     "vmovdqu64 %%zmm15, 128(%[zmm])\n\t"
                     "vmovdqu64 %%zmm16, 192(%[zmm])\n\t"
                     "vmovdqu64 %%zmm22, 256(%[zmm])\n\t"
                     "vmovdqu64 %%zmm31, 320(%[zmm])\n\t"
                     "kmovq %%k1, (%[opmask])\n\t"
                     "kmovq %%k7, 8(%[opmask])\n\t"
                     "vzeroupper"
                     :
                     : [area] "m"(area), "a"((uint32_t)which), "d"(0), [zmm] "r"(zmm), [opmask] "r"(opmask)
                     : "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                       "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

static void test_against_the_processor(void **state)
{
    static struct cpu_wide wide;
    static uint8_t fxsave[CPU_FXSAVE_BYTES], zmm[6][64];
    uint64_t opmask[2];
    (void)state;
    if (cpu_host_has(cpu_of_level(CPU_V4), NULL) != C2_OK)
        skip(); /* AVX-512 is what there is to look at */
    fill(&wide, fxsave, "processor");
    memcpy(area, fxsave, sizeof fxsave);
    const uint64_t which = CPU_LEGACY | CPU_AVX512;
    memcpy(area + CPU_FXSAVE_BYTES, &which, 8);
    for (unsigned i = 0; i < CPU_COMPONENTS; i++) {
        const struct cpu_component *c = &cpu_components[i];
        uint32_t bytes, at, flags, zero;
        __cpuid_count(0xd, (uint32_t)__builtin_ctz(c->bit), bytes, at, flags, zero);
        assert_int_equal(bytes, c->bytes);
        assert_true(at + bytes <= sizeof area);
        memcpy(area + at, (const uint8_t *)&wide + c->at, bytes);
    }
    load_and_look(which, zmm, opmask);
    for (unsigned i = 0; i < 6; i++) {
        const unsigned n = looked_at[i];
        if (n >= 16) {
            assert_memory_equal(zmm[i], wide.zmm_rest[n - 16], 64);
            continue;
        }
        assert_memory_equal(zmm[i], fxsave + 160 + 16 * n, 16);
        assert_memory_equal(zmm[i] + 16, wide.ymm_high[n], 16);
        assert_memory_equal(zmm[i] + 32, wide.zmm_high[n], 32);
    }
    assert_int_equal(opmask[0], wide.opmask[1]);
    assert_int_equal(opmask[1], wide.opmask[7]);
}

static void test_sizes(void **state)
{
    (void)state;
    assert_int_equal(cpu_xsave_bytes(CPU_LEGACY), 576);
    assert_int_equal(cpu_xsave_bytes(CPU_LEGACY | CPU_AVX), 832);
    assert_int_equal(cpu_xsave_bytes(CPU_LEGACY | CPU_AVX | CPU_OPMASK), 1152);
    assert_int_equal(cpu_xsave_bytes(CPU_LEGACY | CPU_AVX512), CPU_XSAVE_MOST_BYTES);
    assert_int_equal(sizeof(struct cpu_wide), 256 + 64 + 512 + 1024 + 0);
}

/* Each subset is put and taken alone; nothing else is touched. */
static void test_each_subset(void **state)
{
    static struct cpu_wide wide, back, filled;
    static uint8_t fxsave[CPU_FXSAVE_BYTES], to[CPU_XSAVE_MOST_BYTES], other[CPU_XSAVE_MOST_BYTES];
    (void)state;
    fill(&wide, fxsave, "subsets");
    memset(&filled, 0xcc, sizeof filled);
    for (uint64_t set = 0; set < 256; set++) {
        memset(to, 0xcc, sizeof to);
        memset(other, 0xcc, sizeof other);
        cpu_put_wide(to, &wide, set);
        for (unsigned i = 0; i < CPU_COMPONENTS; i++)
            if (set & cpu_components[i].bit)
                memcpy(other + cpu_components[i].offset, (const uint8_t *)&wide + cpu_components[i].at,
                       cpu_components[i].bytes);
        assert_memory_equal(to, other, sizeof to);
        for (uint64_t there = 0; there < 256; there++) {
            back = filled;
            cpu_take_wide(&back, to, set, there);
            for (unsigned i = 0; i < CPU_COMPONENTS; i++) {
                const struct cpu_component *c = &cpu_components[i];
                const bool taken = set & there & c->bit, reset = set & ~there & c->bit;
                const struct cpu_wide zeros = {.opmask = {0}};
                const uint8_t *like = (const uint8_t *)(taken ? &wide : reset ? &zeros : &filled);
                assert_memory_equal((const uint8_t *)&back + c->at, like + c->at, c->bytes);
            }
        }
    }
}

static void test_in_use(void **state)
{
    static struct cpu_wide wide;
    static uint8_t fxsave[CPU_FXSAVE_BYTES];
    (void)state;
    memcpy(fxsave, "\x7f\x03", 2);
    assert_int_equal(cpu_in_use(fxsave, &wide, 0xe7), 0);
    fxsave[24] = 0x80; /* MXCSR is of no component's */
    assert_int_equal(cpu_in_use(fxsave, &wide, 0xe7), 0);
    fxsave[159] = 1;
    assert_int_equal(cpu_in_use(fxsave, &wide, 0xe7), CPU_X87);
    fxsave[159] = 0;
    fxsave[0] = 0x7e;
    fxsave[415] = 1;
    assert_int_equal(cpu_in_use(fxsave, &wide, 0xe7), CPU_LEGACY);
    wide.opmask[7] = (uint64_t)1 << 63;
    wide.zmm_rest[15][63] = 1;
    assert_int_equal(cpu_in_use(fxsave, &wide, 0xe7), CPU_LEGACY | CPU_OPMASK | CPU_ZMM_REST);
    wide.zmm_high[0][0] = wide.ymm_high[15][15] = 1;
    assert_int_equal(cpu_in_use(fxsave, &wide, 0xe7), 0xe7);
    assert_int_equal(cpu_in_use(fxsave, &wide, CPU_AVX | CPU_SSE), CPU_AVX | CPU_SSE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_the_processor),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_each_subset),
        cmocka_unit_test(test_in_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
