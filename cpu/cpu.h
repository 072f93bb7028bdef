/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * cpu: the processor that a program finds - which features it has, what CPUID, the kernel and the C library learn of
 * them - and those of its registers that not every processor has, as data.
 */
#ifndef C2_CPU_H
#define C2_CPU_H

#include "base/base.h"

/* ------------------------------------------------------------------ registers beyond SSE's */

/* The components of the state that XSAVE knows, as the bits of XCR0. */
#define CPU_X87 (1u << 0)
#define CPU_SSE (1u << 1)
#define CPU_AVX (1u << 2)
#define CPU_OPMASK (1u << 5)
#define CPU_ZMM_HIGH (1u << 6)
#define CPU_ZMM_REST (1u << 7)
#define CPU_LEGACY (CPU_X87 | CPU_SSE)

/* What lies beyond the 512 bytes of FXSAVE. Its parts are, byte for byte, the components of the standard format. What
 * the processor does not have is 0. */
struct cpu_wide {
    uint8_t ymm_high[16][16]; /* bits 128..255 of YMM0-15 */
    uint64_t opmask[8];       /* K0-7 */
    uint8_t zmm_high[16][32]; /* bits 256..511 of ZMM0-15 */
    uint8_t zmm_rest[16][64]; /* ZMM16-31 */
};

/* A component of the extended area: where it lies in the standard format, and in struct cpu_wide. */
struct cpu_component {
    uint32_t bit; /* of XCR0 */
    uint32_t offset, bytes;
    uint32_t at; /* in struct cpu_wide */
};
#define CPU_COMPONENTS 4u
extern const struct cpu_component cpu_components[CPU_COMPONENTS]; /* by offset */

#define CPU_FXSAVE_BYTES 512u
#define CPU_XSAVE_HEADER_BYTES 64u /* XSTATE_BV, XCOMP_BV, zeros */
#define CPU_XSAVE_MOST_BYTES 2688u
/* Of the standard format for these components: no less than the legacy area and the header. */
uint32_t cpu_xsave_bytes(uint64_t xcr0);
/* The components, of those in `which`, that are not as after a reset: XSTATE_BV. */
uint64_t cpu_in_use(const uint8_t fxsave[CPU_FXSAVE_BYTES], const struct cpu_wide *wide, uint64_t which);
/* Writes the extended area of the standard format: the components in `which`, nothing else. `area` begins where the
 * legacy area does. */
void cpu_put_wide(uint8_t *area, const struct cpu_wide *wide, uint64_t which);
/* Takes the components in `which` from there, but for those that are not in `there` (XSTATE_BV): they are as after a
 * reset. */
void cpu_take_wide(struct cpu_wide *wide, const uint8_t *area, uint64_t which, uint64_t there);

/* ------------------------------------------------------------------ features */

enum cpu_word {
    CPU_1_EDX,
    CPU_EXTENDED_1_EDX,
    CPU_1_ECX,
    CPU_EXTENDED_1_ECX,
    CPU_7_EBX,
    CPU_7_1_EAX,
    CPU_7_ECX,
    CPU_WORDS,
};

/* Microarchitecture levels of the x86-64 psABI. CPU_HOST_ONLY: of no level, but `host` may have it. */
enum cpu_level { CPU_V2, CPU_V3, CPU_V4, CPU_HOST_ONLY };
#define CPU_LEVELS 3u

/* X(feature, name in /proc/cpuinfo, word, bit, the level that brings it, the level whose /proc/cpuinfo has it, and the
 * component of the state that it needs beyond SSE's), in the order of Linux's list. */
/* clang-format off */
#define CPU_FEATURES(X) \
    X(FPU, "fpu", 1_EDX, 0, V2, V2, 0) \
    X(TSC, "tsc", 1_EDX, 4, V2, V2, 0) \
    X(CX8, "cx8", 1_EDX, 8, V2, V2, 0) \
    X(CMOV, "cmov", 1_EDX, 15, V2, V2, 0) \
    X(CLFLUSH, "clflush", 1_EDX, 19, V2, V2, 0) \
    X(MMX, "mmx", 1_EDX, 23, V2, V2, 0) \
    X(FXSR, "fxsr", 1_EDX, 24, V2, V2, 0) \
    X(SSE1, "sse", 1_EDX, 25, V2, V2, 0) \
    X(SSE2, "sse2", 1_EDX, 26, V2, V2, 0) \
    X(SYSCALL, "syscall", EXTENDED_1_EDX, 11, V2, V2, 0) \
    X(NX, "nx", EXTENDED_1_EDX, 20, V2, V2, 0) \
    X(RDTSCP, "rdtscp", EXTENDED_1_EDX, 27, V2, V3, 0) \
    X(LM, "lm", EXTENDED_1_EDX, 29, V2, V2, 0) \
    X(SSE3, "pni", 1_ECX, 0, V2, V2, 0) \
    X(PCLMULQDQ, "pclmulqdq", 1_ECX, 1, HOST_ONLY, HOST_ONLY, 0) \
    X(SSSE3, "ssse3", 1_ECX, 9, V2, V3, 0) \
    X(FMA, "fma", 1_ECX, 12, V3, V3, CPU_AVX) \
    X(CX16, "cx16", 1_ECX, 13, V2, V2, 0) \
    X(SSE4_1, "sse4_1", 1_ECX, 19, V2, V3, 0) \
    X(SSE4_2, "sse4_2", 1_ECX, 20, V2, V3, 0) \
    X(MOVBE, "movbe", 1_ECX, 22, V3, V3, 0) \
    X(POPCNT, "popcnt", 1_ECX, 23, V2, V3, 0) \
    X(AES, "aes", 1_ECX, 25, HOST_ONLY, HOST_ONLY, 0) \
    X(XSAVE, "xsave", 1_ECX, 26, V3, V3, 0) \
    X(OSXSAVE, "", 1_ECX, 27, V3, V3, 0) \
    X(AVX1, "avx", 1_ECX, 28, V3, V3, CPU_AVX) \
    X(F16C, "f16c", 1_ECX, 29, V3, V3, CPU_AVX) \
    X(LAHF, "lahf_lm", EXTENDED_1_ECX, 0, V2, V2, 0) \
    X(LZCNT, "abm", EXTENDED_1_ECX, 5, V3, V3, 0) \
    X(PREFETCHW, "3dnowprefetch", EXTENDED_1_ECX, 8, V2, V2, 0) \
    X(BMI1, "bmi1", 7_EBX, 3, V3, V3, 0) \
    X(AVX2, "avx2", 7_EBX, 5, V3, V3, CPU_AVX) \
    X(BMI2, "bmi2", 7_EBX, 8, V3, V3, 0) \
    X(AVX512F, "avx512f", 7_EBX, 16, V4, V4, CPU_AVX512) \
    X(AVX512DQ, "avx512dq", 7_EBX, 17, V4, V4, CPU_AVX512) \
    X(ADX, "adx", 7_EBX, 19, HOST_ONLY, HOST_ONLY, 0) \
    X(AVX512_IFMA, "avx512ifma", 7_EBX, 21, HOST_ONLY, HOST_ONLY, CPU_AVX512) \
    X(CLFLUSHOPT, "clflushopt", 7_EBX, 23, V2, V2, 0) \
    X(CLWB, "clwb", 7_EBX, 24, V2, V2, 0) \
    X(AVX512CD, "avx512cd", 7_EBX, 28, V4, V4, CPU_AVX512) \
    X(SHA, "sha_ni", 7_EBX, 29, HOST_ONLY, HOST_ONLY, 0) \
    X(AVX512BW, "avx512bw", 7_EBX, 30, V4, V4, CPU_AVX512) \
    X(AVX512VL, "avx512vl", 7_EBX, 31, V4, V4, CPU_AVX512) \
    X(AVX_VNNI, "avx_vnni", 7_1_EAX, 4, HOST_ONLY, HOST_ONLY, CPU_AVX) \
    X(AVX512_VBMI, "avx512vbmi", 7_ECX, 1, HOST_ONLY, HOST_ONLY, CPU_AVX512) \
    X(AVX512_VBMI2, "avx512_vbmi2", 7_ECX, 6, HOST_ONLY, HOST_ONLY, CPU_AVX512) \
    X(GFNI, "gfni", 7_ECX, 8, HOST_ONLY, HOST_ONLY, 0) \
    X(VAES, "vaes", 7_ECX, 9, HOST_ONLY, HOST_ONLY, CPU_AVX) \
    X(VPCLMULQDQ, "vpclmulqdq", 7_ECX, 10, HOST_ONLY, HOST_ONLY, CPU_AVX) \
    X(AVX512_VNNI, "avx512_vnni", 7_ECX, 11, HOST_ONLY, HOST_ONLY, CPU_AVX512) \
    X(AVX512_BITALG, "avx512_bitalg", 7_ECX, 12, HOST_ONLY, HOST_ONLY, CPU_AVX512) \
    X(AVX512_VPOPCNTDQ, "avx512_vpopcntdq", 7_ECX, 14, HOST_ONLY, HOST_ONLY, CPU_AVX512)
/* clang-format on */
#define CPU_AVX512 (CPU_AVX | CPU_OPMASK | CPU_ZMM_HIGH | CPU_ZMM_REST)

#define CPU_FEATURE_NUMBER(feature, name, word, bit, since, listed, state) CPU_##feature,
enum cpu_feature { CPU_FEATURES(CPU_FEATURE_NUMBER) CPU_FEATURE_COUNT };
_Static_assert(CPU_FEATURE_COUNT <= 64, "struct cpu_model has a word of them");

/* A processor. xcr0: the components that XSAVE and signal frames have; 0: it has no XSAVE. */
struct cpu_model {
    const char *name;      /* "x86-64-v2" */
    uint32_t signature;    /* CPUID leaf 1, EAX: family, model, stepping */
    enum cpu_level listed; /* /proc/cpuinfo has the features of levels up to this one */
    uint64_t features;     /* bit n: feature n of the table */
    uint64_t xcr0;
    bool approximates; /* VRCP14 and its kin are executed as they are, and differ between makers */
};

/* Lent for ever. */
const struct cpu_model *cpu_of_level(enum cpu_level level);
/* "x86-64-v2" .. "x86-64-v4"; NULL: there is no level of that name. */
const struct cpu_model *cpu_by_name(const char *name);
static inline bool cpu_has(const struct cpu_model *model, enum cpu_feature feature)
{
    return model->features >> feature & 1;
}
const char *cpu_feature_name(enum cpu_feature feature);               /* as in /proc/cpuinfo */
uint32_t cpu_word(const struct cpu_model *model, enum cpu_word word); /* of CPUID: its features there */

/* The host's processor, of what is modelled: the highest level that it has, and each feature besides.
 * C2_ERR_UNSUPPORTED: it has less than x86-64-v2. */
enum c2_status cpu_of_host(struct cpu_model *out, struct c2_error *err);
/* Whether the host's processor has all of the model's features. C2_ERR_UNSUPPORTED names one that it lacks. */
enum c2_status cpu_host_has(const struct cpu_model *model, struct c2_error *err);

/* ------------------------------------------------------------------ what programs learn of it */

/* EAX, EBX, ECX, EDX of a leaf; zeros of one that there is not. */
void cpu_id(uint32_t out[4], const struct cpu_model *model, uint32_t leaf, uint32_t subleaf);
uint64_t cpu_hwcap(const struct cpu_model *model); /* AT_HWCAP; AT_HWCAP2 is 0: no MWAIT, no FSGSBASE */
/* AT_MINSIGSTKSZ: the stack that a signal's frame needs at most. */
uint64_t cpu_signal_stack_bytes(const struct cpu_model *model);
/* The line "flags" of /proc/cpuinfo, separated by blanks. `bytes`: CPU_FLAGS_BYTES suffice. */
#define CPU_FLAGS_BYTES 1024u
void cpu_flags(char *out, size_t bytes, const struct cpu_model *model);

#endif
