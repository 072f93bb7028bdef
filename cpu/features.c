/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * features: which processor has what.
 *
 * Model
 *   One table (CPU_FEATURES) has a row for each feature: its bit of CPUID, the level that brings it, its name in
 *   /proc/cpuinfo. A level has what it and those below bring; the host's model is cut to the table.
 * Not modelled
 *   What the table does not have: FSGSBASE, RDRAND, RDSEED, RDPID, ERMS, PKU, BF16, FP16, AMX, XSAVEOPT, XSAVEC and
 *   others. A host that has them does not show them.
 * Source
 *   x86-64 psABI, "Micro-Architecture Levels"; Intel SDM volume 2, CPUID; Linux's order of /proc/cpuinfo.
 */
#include <cpuid.h>
#include <string.h>

#include "cpu/cpu.h"

struct feature {
    const char *name;
    enum cpu_word word;
    uint32_t bit;
    enum cpu_level since, listed;
    uint64_t state;
};

#define ROW(feature, name, word, bit, since, listed, state) \
    [CPU_##feature] = {name, CPU_##word, bit, CPU_##since, CPU_##listed, state},
static const struct feature features[CPU_FEATURE_COUNT] = {CPU_FEATURES(ROW)};

#define UP_TO(level, feature, since) | (CPU_##since <= (level) ? (uint64_t)1 << CPU_##feature : 0)
#define UP_TO_V2(feature, name, word, bit, since, listed, state) UP_TO(CPU_V2, feature, since)
#define UP_TO_V3(feature, name, word, bit, since, listed, state) UP_TO(CPU_V3, feature, since)
#define UP_TO_V4(feature, name, word, bit, since, listed, state) UP_TO(CPU_V4, feature, since)

/* The signatures are those of processors which were the first of their level: Nehalem, Haswell, Skylake-X. */
static const struct cpu_model levels[CPU_LEVELS] = {
    {"x86-64-v2", 0x000106a5, CPU_V2, 0 CPU_FEATURES(UP_TO_V2), 0, false},
    {"x86-64-v3", 0x000306c3, CPU_V3, 0 CPU_FEATURES(UP_TO_V3), CPU_LEGACY | CPU_AVX, false},
    {"x86-64-v4", 0x00050654, CPU_V4, 0 CPU_FEATURES(UP_TO_V4), CPU_LEGACY | CPU_AVX512, false},
};

const struct cpu_model *cpu_of_level(enum cpu_level level)
{
    C2_ASSERT(level < CPU_LEVELS);
    return &levels[level];
}

const struct cpu_model *cpu_by_name(const char *name)
{
    for (unsigned i = 0; i < CPU_LEVELS; i++)
        if (strcmp(levels[i].name, name) == 0)
            return &levels[i];
    return NULL;
}

const char *cpu_feature_name(enum cpu_feature feature)
{
    return feature == CPU_OSXSAVE ? "xsave" : features[feature].name;
}

uint32_t cpu_word(const struct cpu_model *model, enum cpu_word word)
{
    uint32_t bits = 0;
    for (unsigned i = 0; i < CPU_FEATURE_COUNT; i++)
        if (features[i].word == word && cpu_has(model, i))
            bits |= 1u << features[i].bit;
    return bits;
}

/* ------------------------------------------------------------------ the host's */

static void host_words(uint32_t words[CPU_WORDS])
{
    uint32_t a, b, c, d;
    memset(words, 0, CPU_WORDS * sizeof *words);
    if (__get_cpuid(1, &a, &b, &c, &d)) {
        words[CPU_1_EDX] = d;
        words[CPU_1_ECX] = c;
    }
    if (__get_cpuid(0x80000001, &a, &b, &c, &d)) {
        words[CPU_EXTENDED_1_EDX] = d;
        words[CPU_EXTENDED_1_ECX] = c;
    }
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return;
    words[CPU_7_EBX] = b;
    words[CPU_7_ECX] = c;
    if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d))
        words[CPU_7_1_EAX] = a;
}

/* The components that the kernel lets programs use. */
static uint64_t host_xcr0(uint32_t leaf_1_ecx)
{
    uint32_t low, high;
    if ((leaf_1_ecx >> features[CPU_OSXSAVE].bit & 1) == 0)
        return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

/* RDTSCP reads the program's own clock: no engine leaves it to the host, which may lack it. */
static uint64_t host_features(uint64_t *xcr0)
{
    uint32_t words[CPU_WORDS];
    uint64_t found = (uint64_t)1 << CPU_RDTSCP;
    host_words(words);
    *xcr0 = host_xcr0(words[CPU_1_ECX]);
    for (unsigned i = 0; i < CPU_FEATURE_COUNT; i++)
        if ((words[features[i].word] >> features[i].bit & 1) != 0 && (features[i].state & ~*xcr0) == 0)
            found |= (uint64_t)1 << i;
    return found;
}

static enum c2_status lacks(uint64_t missing, const char *name, struct c2_error *err)
{
    const enum cpu_feature feature = (enum cpu_feature)__builtin_ctzll(missing);
    return c2_fail(err, C2_ERR_UNSUPPORTED, "this host's processor is no %s: it lacks %s", name,
                   cpu_feature_name(feature));
}

enum c2_status cpu_host_has(const struct cpu_model *model, struct c2_error *err)
{
    uint64_t xcr0;
    const uint64_t missing = model->features & ~host_features(&xcr0);
    return missing == 0 ? C2_OK : lacks(missing, model->name, err);
}

enum c2_status cpu_of_host(struct cpu_model *out, struct c2_error *err)
{
    uint64_t xcr0;
    const uint64_t found = host_features(&xcr0);
    unsigned level = CPU_LEVELS;
    while (level > 0 && (levels[level - 1].features & ~found) != 0)
        level--;
    if (level == 0)
        return lacks(levels[0].features & ~found, levels[0].name, err);
    *out = levels[level - 1];
    out->name = "host";
    out->features = found;
    out->listed = CPU_HOST_ONLY;
    out->approximates = true;
    return C2_OK;
}

/* ------------------------------------------------------------------ what the kernel shows of it */

void cpu_flags(char *out, size_t bytes, const struct cpu_model *model)
{
    size_t length = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < CPU_FEATURE_COUNT; i++) {
        const struct feature *f = &features[i];
        if (!cpu_has(model, i) || f->listed > model->listed || f->name[0] == '\0')
            continue;
        const int count = snprintf(out + length, bytes - length, "%s%s", length == 0 ? "" : " ", f->name);
        C2_ASSERT(count > 0 && (size_t)count < bytes - length);
        length += (size_t)count;
    }
}
