/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   XSAVE, XRSTOR and XGETBV, on registers as data, in the standard format with the offsets of cpu/wide.c, whatever the
 *   host has. A component is in use (XSTATE_BV) if it is not as after a reset. XSAVE writes the components that EDX:EAX
 *   requests, in use or not, MXCSR with SSE or AVX, and their bits of XSTATE_BV; XRSTOR reads the header, and of the
 *   components that are asked for those which are there.
 * Invariants
 *   A touch has no more bytes than a reference may have (512).
 * Not modelled
 *   The compacted format, XSAVEC, XSAVEOPT, XSAVES, XGETBV of 1: CPUID has none of them. The last x87 instruction and
 *   operand: 0, in the formats with REX.W and without.
 * Source
 *   Intel SDM volume 1, 13.7 (XSAVE), 13.8 (XRSTOR).
 */
#include <signal.h>

#include "interpret/interpret_priv.h"

#define HEADER CPU_FXSAVE_BYTES
#define AREA_ALIGNMENT 64u
#define REFERENCE_MOST 512u
#define SIGNAL_BY_KERNEL 0x80

/* The components that the instruction is for. */
static uint64_t asked(const struct interpret_cpu *cpu)
{
    const uint64_t low = cpu->get_gpr(cpu->self, RAX) & 0xffffffff, high = cpu->get_gpr(cpu->self, RDX) << 32;
    return (low | high) & cpu->model->xcr0;
}

static void xsave_put(struct interpret_touched *out, uint64_t address, uint64_t bytes, enum stream_kind kind)
{
    for (uint64_t done = 0; done < bytes; done += REFERENCE_MOST) {
        const uint64_t some = bytes - done < REFERENCE_MOST ? bytes - done : REFERENCE_MOST;
        C2_ASSERT(out->count < INTERPRET_TOUCHES);
        out->list[out->count++] = (struct interpret_touch){address + done, (uint16_t)some, (uint8_t)kind};
    }
}

/* Of the legacy area: x87 in two parts, MXCSR with its mask between them, XMM0-15. */
static void put_legacy(struct interpret_touched *out, uint64_t area, uint64_t which, bool mxcsr, enum stream_kind kind)
{
    if ((which & CPU_X87) != 0)
        xsave_put(out, area, 24, kind);
    if (mxcsr)
        xsave_put(out, area + FXSAVE_MXCSR, 8, kind);
    if ((which & CPU_X87) != 0)
        xsave_put(out, area + FXSAVE_ST, 128, kind);
    if ((which & CPU_SSE) != 0)
        xsave_put(out, area + FXSAVE_XMM, 256, kind);
}

static void put_components(struct interpret_touched *out, uint64_t area, uint64_t which, enum stream_kind kind)
{
    for (unsigned i = 0; i < CPU_COMPONENTS; i++)
        if ((which & cpu_components[i].bit) != 0)
            xsave_put(out, area + cpu_components[i].offset, cpu_components[i].bytes, kind);
}

static bool saves(const ZydisDecodedInstruction *insn)
{
    return insn->mnemonic == ZYDIS_MNEMONIC_XSAVE || insn->mnemonic == ZYDIS_MNEMONIC_XSAVE64;
}

bool interpret_is_xsave(const ZydisDecodedInstruction *insn)
{
    return saves(insn) || insn->mnemonic == ZYDIS_MNEMONIC_XRSTOR || insn->mnemonic == ZYDIS_MNEMONIC_XRSTOR64;
}

void interpret_xsave_touched(struct interpret_touched *out, const struct interpret_cpu *cpu,
                             const ZydisDecodedInstruction *insn, uint64_t area)
{
    enum { HEADER_SAVED = 8, HEADER_READ = 24 };
    const uint64_t which = asked(cpu);
    const bool mxcsr = (which & (CPU_SSE | CPU_AVX)) != 0;
    out->count = 0;
    if (saves(insn)) {
        put_legacy(out, area, which, mxcsr, STREAM_WRITE);
        xsave_put(out, area + HEADER, HEADER_SAVED, STREAM_MODIFY);
        put_components(out, area, which, STREAM_WRITE);
        return;
    }
    xsave_put(out, area + HEADER, HEADER_READ, STREAM_READ);
    if (!cpu->ready(cpu->self, (struct guest_va){area + HEADER}, MMU_ACCESS_READ))
        return;
    const uint64_t there = guest_load(area + HEADER, 8);
    put_legacy(out, area, which & there, mxcsr, STREAM_READ);
    put_components(out, area, which & there, STREAM_READ);
}

/* ------------------------------------------------------------------ what they do; all is accessible */

static bool find_area(struct interpret_run *run, uint8_t **area)
{
    uint64_t address;
    const bool is_place = interpret_address(&address, run->cpu, run->pc, run->insn, &run->operands[0]);
    C2_ASSERT(is_place);
    *area = (uint8_t *)(uintptr_t)address;
    if (address % AREA_ALIGNMENT != 0)
        interpret_signal(run, SIGSEGV, SIGNAL_BY_KERNEL);
    return address % AREA_ALIGNMENT == 0;
}

void interpret_xsave(struct interpret_run *run)
{
    const struct interpret_cpu *cpu = run->cpu;
    struct x87_state state;
    struct cpu_wide wide;
    uint8_t *area;
    if (!find_area(run, &area))
        return;
    const uint64_t which = asked(cpu), header = (uint64_t)(uintptr_t)area + HEADER;
    cpu->get_fxsave(cpu->self, state.image);
    cpu->get_wide(cpu->self, &wide);
    if ((which & CPU_X87) != 0) {
        memcpy(area, state.image, FXSAVE_MXCSR);
        memcpy(area + FXSAVE_ST, state.image + FXSAVE_ST, 128);
    }
    if ((which & (CPU_SSE | CPU_AVX)) != 0)
        memcpy(area + FXSAVE_MXCSR, state.image + FXSAVE_MXCSR, 8);
    if ((which & CPU_SSE) != 0)
        memcpy(area + FXSAVE_XMM, state.image + FXSAVE_XMM, 256);
    cpu_put_wide(area, &wide, which);
    guest_store(header, 8, (guest_load(header, 8) & ~which) | cpu_in_use(state.image, &wide, which));
}

/* A header of the standard format, and an MXCSR without reserved bits. */
static bool is_accepted(const uint8_t *area, uint64_t xcr0, bool mxcsr)
{
    const uint64_t header = (uint64_t)(uintptr_t)area + HEADER;
    return (guest_load(header, 8) & ~xcr0) == 0 && guest_load(header + 8, 8) == 0 && guest_load(header + 16, 8) == 0 &&
           !(mxcsr && (image_get32(area, FXSAVE_MXCSR) & ~MXCSR_DEFINED) != 0);
}

static void xsave_reset_x87(uint8_t *image)
{
    memset(image, 0, FXSAVE_MXCSR);
    memset(image + FXSAVE_ST, 0, 128);
    image_set16(image, FXSAVE_CONTROL, 0x37f);
}

static void load_legacy(uint8_t *image, const uint8_t *area, uint64_t which, uint64_t there)
{
    if ((which & there & CPU_X87) != 0) {
        memcpy(image, area, FXSAVE_OPCODE);
        memcpy(image + FXSAVE_ST, area + FXSAVE_ST, 128);
    } else if ((which & CPU_X87) != 0) {
        xsave_reset_x87(image);
    }
    if ((which & (CPU_SSE | CPU_AVX)) != 0)
        memcpy(image + FXSAVE_MXCSR, area + FXSAVE_MXCSR, 4);
    if ((which & there & CPU_SSE) != 0)
        memcpy(image + FXSAVE_XMM, area + FXSAVE_XMM, 256);
    else if ((which & CPU_SSE) != 0)
        memset(image + FXSAVE_XMM, 0, 256);
}

void interpret_xrstor(struct interpret_run *run)
{
    const struct interpret_cpu *cpu = run->cpu;
    const uint64_t which = asked(cpu);
    struct x87_state state;
    struct cpu_wide wide;
    uint8_t *area;
    if (!find_area(run, &area))
        return;
    if (!is_accepted(area, cpu->model->xcr0, (which & (CPU_SSE | CPU_AVX)) != 0)) {
        interpret_signal(run, SIGSEGV, SIGNAL_BY_KERNEL);
        return;
    }
    const uint64_t there = guest_load((uint64_t)(uintptr_t)area + HEADER, 8);
    cpu->get_fxsave(cpu->self, state.image);
    cpu->get_wide(cpu->self, &wide);
    load_legacy(state.image, area, which, there);
    cpu_take_wide(&wide, area, which, there);
    cpu->set_fxsave(cpu->self, state.image);
    cpu->set_wide(cpu->self, &wide);
}

void interpret_xgetbv(struct interpret_run *run)
{
    const struct interpret_cpu *cpu = run->cpu;
    if ((cpu->get_gpr(cpu->self, RCX) & 0xffffffff) != 0) {
        interpret_signal(run, SIGSEGV, SIGNAL_BY_KERNEL);
        return;
    }
    cpu->set_gpr(cpu->self, RAX, cpu->model->xcr0);
    cpu->set_gpr(cpu->self, RDX, 0);
}
