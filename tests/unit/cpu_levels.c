/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What programs learn of each level: CPUID's words written out from the manual, the lists of the psABI; and of the
 * host.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <cpuid.h>

#include "cpu/cpu.h"

static void expect_leaf(const struct cpu_model *model, uint32_t leaf, uint32_t subleaf, const uint32_t expected[4])
{
    uint32_t r[4];
    cpu_id(r, model, leaf, subleaf);
    if (memcmp(r, expected, sizeof r) != 0)
        fail_msg("%s, leaf %x.%x: %x %x %x %x", model->name, leaf, subleaf, r[0], r[1], r[2], r[3]);
}
#define LEAF(level, leaf, subleaf, ...) expect_leaf(cpu_of_level(level), leaf, subleaf, (uint32_t[4]){__VA_ARGS__})

/* The rest of x86-64-v2's is in interpret_system. */
static void test_leaves(void **state)
{
    (void)state;
    for (unsigned level = 0; level < CPU_LEVELS; level++) {
        const uint32_t most = level == CPU_V2 ? 0xb : 0xd;
        LEAF(level, 0, 0, most, 0x756e6547, 0x6c65746e, 0x49656e69);
        LEAF(level, 7, 1, 0, 0, 0, 0);
        LEAF(level, 7, 2, 0, 0, 0, 0);
        LEAF(level, 0xd, 1, 0, 0, 0, 0); /* no XSAVEOPT, XSAVEC, XGETBV of 1, XSAVES */
        LEAF(level, 0xd, 3, 0, 0, 0, 0);
        LEAF(level, 0xd, 64, 0, 0, 0, 0);
        LEAF(level, 0x80000008, 0, 0x3028, 0, 0, 0);
    }
    LEAF(CPU_V2, 1, 0, 0x106a5, 0x800, 0x00982201, 0x07888111);
    LEAF(CPU_V2, 7, 0, 0, 0x01800000, 0, 0);
    LEAF(CPU_V2, 0xd, 0, 0, 0, 0, 0);
    LEAF(CPU_V2, 0xd, 2, 0, 0, 0, 0);
    LEAF(CPU_V2, 0x80000001, 0, 0, 0, 0x101, 0x28100800);
    /* and FMA 12, MOVBE 22, XSAVE 26, OSXSAVE 27, AVX 28, F16C 29 */
    LEAF(CPU_V3, 1, 0, 0x306c3, 0x800, 0x3cd83201, 0x07888111);
    LEAF(CPU_V3, 7, 0, 0, 0x01800128, 0, 0);              /* and BMI1 3, AVX2 5, BMI2 8 */
    LEAF(CPU_V3, 0x80000001, 0, 0, 0, 0x121, 0x28100800); /* and LZCNT 5 */
    LEAF(CPU_V3, 0xd, 0, 7, 832, 832, 0);
    LEAF(CPU_V3, 0xd, 2, 256, 576, 0, 0);
    LEAF(CPU_V3, 0xd, 5, 0, 0, 0, 0);
    LEAF(CPU_V4, 1, 0, 0x50654, 0x800, 0x3cd83201, 0x07888111);
    LEAF(CPU_V4, 7, 0, 0, 0xd1830128, 0, 0); /* and AVX512F 16, DQ 17, CD 28, BW 30, VL 31 */
    LEAF(CPU_V4, 0x80000001, 0, 0, 0, 0x121, 0x28100800);
    LEAF(CPU_V4, 0xd, 0, 0xe7, 2688, 2688, 0);
    LEAF(CPU_V4, 0xd, 2, 256, 576, 0, 0);
    LEAF(CPU_V4, 0xd, 5, 64, 1088, 0, 0);
    LEAF(CPU_V4, 0xd, 6, 512, 1152, 0, 0);
    LEAF(CPU_V4, 0xd, 7, 1024, 1664, 0, 0);
}

static void test_names(void **state)
{
    char flags[CPU_FLAGS_BYTES];
    uint32_t r[4];
    (void)state;
    cpu_flags(flags, sizeof flags, cpu_of_level(CPU_V2));
    assert_string_equal(flags, "fpu tsc cx8 cmov clflush mmx fxsr sse sse2 syscall nx lm pni cx16 lahf_lm "
                               "3dnowprefetch clflushopt clwb");
    cpu_flags(flags, sizeof flags, cpu_of_level(CPU_V3));
    assert_string_equal(flags, "fpu tsc cx8 cmov clflush mmx fxsr sse sse2 syscall nx rdtscp lm pni ssse3 fma cx16 "
                               "sse4_1 sse4_2 movbe popcnt xsave avx f16c lahf_lm abm 3dnowprefetch bmi1 avx2 bmi2 "
                               "clflushopt clwb");
    cpu_flags(flags, sizeof flags, cpu_of_level(CPU_V4));
    assert_string_equal(flags, "fpu tsc cx8 cmov clflush mmx fxsr sse sse2 syscall nx rdtscp lm pni ssse3 fma cx16 "
                               "sse4_1 sse4_2 movbe popcnt xsave avx f16c lahf_lm abm 3dnowprefetch bmi1 avx2 bmi2 "
                               "avx512f avx512dq clflushopt clwb avx512cd avx512bw avx512vl");
    for (unsigned level = 0; level < CPU_LEVELS; level++)
        assert_ptr_equal(cpu_by_name(cpu_of_level(level)->name), cpu_of_level(level));
    assert_null(cpu_by_name("x86-64-v5"));
    assert_null(cpu_by_name(""));
    cpu_id(r, cpu_of_level(CPU_V4), 0x80000002, 0);
    assert_memory_equal(r, "c2emu x86-64-v4 ", 16);
}

/* Of a word of the host's CPUID nothing is left but what the table has. */
static void test_host(void **state)
{
    struct cpu_model host;
    uint32_t a, b, c, d;
    (void)state;
    assert_int_equal(cpu_of_host(&host, NULL), C2_OK);
    assert_int_equal(cpu_host_has(&host, NULL), C2_OK);
    assert_string_equal(host.name, "host");
    __cpuid(1, a, b, c, d);
    assert_int_equal(cpu_word(&host, CPU_1_EDX), d & 0x07888111);
    if (host.xcr0 == 0)
        c &= 0x00d82203;
    assert_int_equal(cpu_word(&host, CPU_1_ECX) & ~c, 0);
    __cpuid_count(7, 0, a, b, c, d);
    assert_int_equal(cpu_word(&host, CPU_7_EBX) & ~b, 0);
    assert_int_equal(cpu_word(&host, CPU_7_ECX) & ~c, 0);
    struct cpu_model more = host;
    const uint64_t all = (CPU_FEATURE_COUNT < 64 ? (uint64_t)1 << CPU_FEATURE_COUNT : 0) - 1;
    struct c2_error err;
    for (unsigned i = 0; i < CPU_FEATURE_COUNT; i++) {
        if (cpu_has(&host, i))
            continue;
        char text[128];
        more.features = host.features | (uint64_t)1 << i;
        more.name = "x86-64-v9";
        assert_int_equal(cpu_host_has(&more, &err), C2_ERR_UNSUPPORTED);
        snprintf(text, sizeof text, "this host's processor is no x86-64-v9: it lacks %s", cpu_feature_name(i));
        assert_string_equal(err.text, text);
    }
    assert_int_equal(host.features & ~all, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leaves),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
