/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The floating-point state in the frame of a signal.
 *
 * Model
 *   Without XSAVE: the 512-byte image of FXSAVE64. With it the XSAVE area in the standard format, which begins with
 *   that image (cpu/wide.c), and the second magic word behind it; at 464 of the image, what the area is:
 *
 *       +0   first magic word      +4   bytes, with the second one
 *       +8   its components        +16  bytes without it
 *
 *   XSTATE_BV names the components that are not as after a reset, x87 and SSE always.
 *   The handler may change all of it. On return the components that the words at 464 name, of those that the CPU has,
 *   are loaded as XRSTOR does it, and the others are as after a reset. Where the words or the size cannot be right the
 *   FXSAVE image alone is loaded. A header that XRSTOR does not take is SIGSEGV; so is an area at no multiple of 64.
 *   No area at all: everything is as after a reset.
 *
 * Invariants
 *   What was put is what is taken.
 *
 * Not modelled
 *   XINUSE, which a CPU may keep set for a component that is as after a reset: here it never does. SIGSEGV for reserved
 *   bits of MXCSR: they are cleared.
 *
 * Source: Linux, uapi header sigcontext.h and arch/x86/kernel/fpu/signal.c; Intel SDM volume 1, 13.7 (XSAVE), 13.8
 * (XRSTOR).
 */
#include <stddef.h>
#include <string.h>

#include "syscalls/kernel_priv.h"

#define MAGIC_1 0x46505853u
#define MAGIC_2 0x46505845u

struct words { /* struct _fpx_sw_bytes */
    uint32_t magic, extended_bytes;
    uint64_t components;
    uint32_t bytes, padding[7];
};
#define WORDS_AT 464
_Static_assert(WORDS_AT + sizeof(struct words) == CPU_FXSAVE_BYTES, "the ABI's _fpx_sw_bytes");

struct header {
    uint64_t components, compacted, reserved[6];
};

uint64_t fpstate_size(const struct syscalls_cpu *cpu)
{
    return cpu->xcr0 == 0 ? CPU_FXSAVE_BYTES : cpu_xsave_bytes(cpu->xcr0) + sizeof(uint32_t);
}

void fpstate_put(uint8_t *to, const struct syscalls_cpu *cpu)
{
    static const uint32_t magic_2 = MAGIC_2;
    memcpy(to, cpu->fxsave, CPU_FXSAVE_BYTES);
    if (cpu->xcr0 == 0)
        return;
    const uint32_t bytes = cpu_xsave_bytes(cpu->xcr0);
    const struct words words = {MAGIC_1, bytes + (uint32_t)sizeof magic_2, cpu->xcr0, bytes, {0}};
    const struct header header = {cpu_in_use(cpu->fxsave, &cpu->wide, cpu->xcr0) | CPU_LEGACY, 0, {0}};
    memset(to + CPU_FXSAVE_BYTES, 0, bytes - CPU_FXSAVE_BYTES);
    memcpy(to + WORDS_AT, &words, sizeof words);
    memcpy(to + CPU_FXSAVE_BYTES, &header, sizeof header);
    cpu_put_wide(to, &cpu->wide, cpu->xcr0);
    memcpy(to + bytes, &magic_2, sizeof magic_2);
}

/* ------------------------------------------------------------------ back */

/* That after FNINIT, MXCSR at reset, all registers zero. */
static void fpstate_reset_x87(uint8_t *fxsave)
{
    static const uint16_t control = 0x37f;
    memset(fxsave, 0, 24);
    memset(fxsave + 32, 0, 128);
    memcpy(fxsave, &control, sizeof control);
}

static void reset_sse(uint8_t *fxsave)
{
    static const uint32_t mxcsr = 0x1f80;
    memset(fxsave + 160, 0, CPU_FXSAVE_BYTES - 160);
    memcpy(fxsave + 24, &mxcsr, sizeof mxcsr);
}

void fpstate_fresh(struct syscalls_cpu *cpu)
{
    fpstate_reset_x87(cpu->fxsave);
    reset_sse(cpu->fxsave);
    cpu_take_wide(&cpu->wide, NULL, cpu->xcr0, 0);
}

/* Whether the words are those of an area that this CPU may have written, or a smaller one. */
static bool has_area(struct call *c, const struct words *words, uint64_t address)
{
    uint32_t magic_2;
    return words->magic == MAGIC_1 && words->bytes >= CPU_FXSAVE_BYTES + CPU_XSAVE_HEADER_BYTES &&
           words->bytes <= cpu_xsave_bytes(c->cpu->xcr0) && words->bytes <= words->extended_bytes &&
           guest_read(c, &magic_2, address + words->bytes, sizeof magic_2) >= 0 && magic_2 == MAGIC_2;
}

int64_t fpstate_read(struct call *c, struct fpstate *out, uint64_t address)
{
    struct words words;
    const uint64_t xcr0 = c->cpu->xcr0;
    out->is_there = address != 0;
    out->components = out->there = CPU_LEGACY;
    out->obeys = xcr0 == 0 || address % 64 == 0;
    if (address == 0)
        return 0;
    int64_t status = guest_read(c, out->area, address, CPU_FXSAVE_BYTES);
    memcpy(&words, out->area + WORDS_AT, sizeof words);
    if (status < 0 || xcr0 == 0 || !has_area(c, &words, address))
        return status;
    out->components = words.components & xcr0;
    struct header header;
    status = guest_read(c, out->area + CPU_FXSAVE_BYTES, address + CPU_FXSAVE_BYTES, sizeof header);
    memcpy(&header, out->area + CPU_FXSAVE_BYTES, sizeof header);
    out->there = header.components;
    out->obeys = out->obeys && (header.components & ~xcr0) == 0 && header.compacted == 0 && header.reserved[0] == 0;
    const uint64_t needed = out->components & out->there;
    const uint64_t rest = CPU_FXSAVE_BYTES + CPU_XSAVE_HEADER_BYTES, bytes = cpu_xsave_bytes(needed);
    if (status >= 0 && bytes > rest)
        status = guest_read(c, out->area + rest, address + rest, bytes - rest);
    return status;
}

/* Reserved bits of MXCSR would fault when loaded. */
static void mask_mxcsr(uint8_t *fxsave)
{
    uint32_t mxcsr;
    memcpy(&mxcsr, fxsave + 24, sizeof mxcsr);
    mxcsr &= 0xffff;
    memcpy(fxsave + 24, &mxcsr, sizeof mxcsr);
}

bool fpstate_take(struct syscalls_cpu *cpu, const struct fpstate *from)
{
    const uint64_t loaded = from->components & from->there;
    if (!from->is_there || !from->obeys) {
        fpstate_fresh(cpu);
        return from->obeys;
    }
    memcpy(cpu->fxsave, from->area, CPU_FXSAVE_BYTES);
    mask_mxcsr(cpu->fxsave);
    if ((loaded & CPU_X87) == 0)
        fpstate_reset_x87(cpu->fxsave);
    if ((from->components & CPU_SSE) == 0)
        reset_sse(cpu->fxsave);
    else if ((loaded & CPU_SSE) == 0) /* MXCSR is loaded all the same */
        memset(cpu->fxsave + 160, 0, 256);
    cpu_take_wide(&cpu->wide, from->area, cpu->xcr0, loaded);
    return true;
}
