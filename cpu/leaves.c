/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * leaves: what CPUID and the start of a process show of a processor.
 *
 * Model
 *   CPUID describes a fixed processor of the model's features - what is modelled, and nothing more - so that libraries
 *   choose code that runs here. The caches that it describes are fixed too (32 KiB, 256 KiB, 8 MiB) and not those of
 *   the machine that is simulated: libraries tune themselves by them, and the reference stream must not depend on the
 *   machine file.
 * Invariants
 *   Nothing here depends on the host, but for the features of the model `host`.
 * Not modelled
 *   The system that switches state: leaf D has no IA32_XSS.
 * Source
 *   Intel SDM volume 2, CPUID (leaf layouts; table of the descriptors of leaf 2); Linux, arch/x86/kernel/signal.c (how
 *   AT_MINSIGSTKSZ is made up).
 */
#include <string.h>

#include "cpu/cpu.h"

struct leaf {
    uint32_t leaf, subleaf;
    uint32_t registers[4]; /* EAX, EBX, ECX, EDX */
};

/* leaf 4: type (1 data, 2 code, 3 both) and level, self-initialising, one core; ways, lines of 64 bytes, sets */
#define CACHE_EAX(type, level) ((type) | (level) << 5 | 1u << 8)
#define CACHE_EBX(ways) (((ways)-1u) << 22 | 63u)

static const struct leaf fixed[] = {
    /* 5a 03 55 b2 ca: TLBs; f0: prefetch 64 bytes; e4: L3 8 MiB 16 ways; 09: L1I 32 KiB 4 ways; 21: L2 256 KiB 8 ways;
     * 2c: L1D 32 KiB 8 ways */
    {0x2, 0, {0x55035a01, 0x00f0b2e4, 0x00000000, 0x09ca212c}},
    {0x4, 0, {CACHE_EAX(1u, 1u), CACHE_EBX(8u), 63, 0}},
    {0x4, 1, {CACHE_EAX(2u, 1u), CACHE_EBX(4u), 127, 0}},
    {0x4, 2, {CACHE_EAX(3u, 2u), CACHE_EBX(8u), 511, 0}},
    {0x4, 3, {CACHE_EAX(3u, 3u), CACHE_EBX(16u), 8191, 2 /* inclusive */}},
    {0xb, 0, {0, 1, 0x100, 0}}, /* one thread a core, */
    {0xb, 1, {0, 1, 0x201, 0}}, /* one core a package */
    {0x80000000, 0, {0x80000008, 0, 0, 0}},
    {0x80000006, 0, {0, 0, 256u << 16 | 6u << 12 | 64u /* L2: 256 KiB, 8 ways, 64-byte lines */, 0}},
    {0x80000007, 0, {0, 0, 0, 1u << 8 /* the time-stamp counter is invariant */}},
    {0x80000008, 0, {48u << 8 | 40u /* address bits: linear, physical */, 0, 0, 0}},
};

static void leaves_put(uint32_t out[4], uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d;
}

static void brand(uint32_t out[4], const struct cpu_model *model, uint32_t part)
{
    char text[48] = {0};
    snprintf(text, sizeof text, "c2emu %s CPU", model->name);
    memcpy(out, text + 16 * part, 16);
}

/* What XSAVE saves, and where. */
static void state(uint32_t out[4], uint64_t xcr0, uint32_t subleaf)
{
    if (xcr0 != 0 && subleaf == 0)
        leaves_put(out, (uint32_t)xcr0, cpu_xsave_bytes(xcr0), cpu_xsave_bytes(xcr0), 0);
    for (unsigned i = 0; i < CPU_COMPONENTS; i++) {
        const struct cpu_component *c = &cpu_components[i];
        if ((xcr0 & c->bit) != 0 && subleaf < 32 && c->bit == 1u << subleaf)
            leaves_put(out, c->bytes, c->offset, 0, 0);
    }
}

static void features_7(uint32_t out[4], const struct cpu_model *model, uint32_t subleaf)
{
    const uint32_t more = cpu_word(model, CPU_7_1_EAX);
    if (subleaf == 0)
        leaves_put(out, more != 0, cpu_word(model, CPU_7_EBX), cpu_word(model, CPU_7_ECX), 0);
    else if (subleaf == 1)
        leaves_put(out, more, 0, 0, 0);
}

static void leaves_look_up(uint32_t out[4], uint32_t leaf, uint32_t subleaf)
{
    const bool has_subleaves = leaf == 0x4 || leaf == 0xb;
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        if (fixed[i].leaf == leaf && (!has_subleaves || fixed[i].subleaf == subleaf)) {
            memcpy(out, fixed[i].registers, sizeof fixed[i].registers);
            return;
        }
    }
    if (leaf == 0xb)
        out[2] = subleaf & 0xff;
}

void cpu_id(uint32_t out[4], const struct cpu_model *model, uint32_t leaf, uint32_t subleaf)
{
    leaves_put(out, 0, 0, 0, 0);
    switch (leaf) {
    case 0:
        leaves_put(out, model->xcr0 != 0 ? 0xd : 0xb, 0x756e6547 /* Genu */, 0x6c65746e /* ntel */,
                   0x49656e69 /* ineI */);
        break;
    case 1: /* CLFLUSH of 64 bytes */
        leaves_put(out, model->signature, 8u << 8, cpu_word(model, CPU_1_ECX), cpu_word(model, CPU_1_EDX));
        break;
    case 7:
        features_7(out, model, subleaf);
        break;
    case 0xd:
        state(out, model->xcr0, subleaf);
        break;
    case 0x80000001:
        leaves_put(out, 0, 0, cpu_word(model, CPU_EXTENDED_1_ECX), cpu_word(model, CPU_EXTENDED_1_EDX));
        break;
    case 0x80000002:
    case 0x80000003:
    case 0x80000004:
        brand(out, model, leaf - 0x80000002);
        break;
    default:
        leaves_look_up(out, leaf, subleaf);
    }
}

/* ------------------------------------------------------------------ the start of a process */

uint64_t cpu_hwcap(const struct cpu_model *model) { return cpu_word(model, CPU_1_EDX); }

/* A machine without extended state has a constant. With it, Linux adds up the largest frame (that of 32-bit programs),
 * the x87 state of theirs, the XSAVE area with the word behind it, and what aligning these may take. */
uint64_t cpu_signal_stack_bytes(const struct cpu_model *model)
{
    enum { CONSTANT = 2048, FRAME = 740, X87_OF_32 = 112, MAGIC = 4, PADDING = 15 + 63 };
    if (model->xcr0 == 0)
        return CONSTANT;
    return c2_align_up(FRAME + X87_OF_32 + cpu_xsave_bytes(model->xcr0) + MAGIC + PADDING, 16);
}
