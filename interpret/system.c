/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   CPUID describes the processor of cpu/, one of x86-64-v2 where nothing else is wanted. RDTSC counts guest time at
 *   1 GHz. Privileged instructions and traps end as the signals that Linux makes of them; INT1 and INT3 are traps, with
 *   RIP behind them.
 * Invariants
 *   Nothing here depends on the host.
 * Not modelled
 *   Calls of the 32-bit kernel (INT 80h, SYSENTER): refused.
 * Source
 *   Intel SDM volume 2, RDTSC, RDTSCP; volume 3, 6.15 (exceptions).
 */
#include <signal.h>

#include "interpret/interpret_priv.h"

#define SIGNAL_BY_KERNEL 0x80 /* si_code SI_KERNEL */

/* ------------------------------------------------------------------ CPUID */

void interpret_cpuid(struct interpret_run *run)
{
    const struct interpret_cpu *cpu = run->cpu;
    static const unsigned order[4] = {RAX, RBX, RCX, RDX};
    const struct cpu_model *model = cpu->model ? cpu->model : cpu_of_level(CPU_V2);
    uint32_t found[4];
    cpu_id(found, model, (uint32_t)cpu->get_gpr(cpu->self, RAX), (uint32_t)cpu->get_gpr(cpu->self, RCX));
    for (unsigned i = 0; i < 4; i++)
        cpu->set_gpr(cpu->self, order[i], found[i]);
}

/* ------------------------------------------------------------------ time */

void interpret_rdtsc(struct interpret_run *run)
{
    const struct interpret_cpu *cpu = run->cpu;
    uint64_t now = cpu->get_time_ns(cpu->self);
    cpu->set_gpr(cpu->self, RAX, now & 0xffffffff);
    cpu->set_gpr(cpu->self, RDX, now >> 32);
}

void interpret_rdtscp(struct interpret_run *run)
{
    interpret_rdtsc(run);
    run->cpu->set_gpr(run->cpu->self, RCX, 0); /* processor 0 of node 0 */
}

/* ------------------------------------------------------------------ segments
 * 64-bit Linux: the user's code and stack selectors, and null in the others. */

void interpret_read_segment(struct interpret_run *run)
{
    struct interpret_value selector = {0};
    if (interpret_is_memory(&run->operands[0]) && !interpret_place(run, 0, MMU_ACCESS_WRITE, &selector.address))
        return;
    ZydisRegister segment = run->operands[1].reg.value;
    selector.value = segment == ZYDIS_REGISTER_CS ? 0x33 : segment == ZYDIS_REGISTER_SS ? 0x2b : 0;
    interpret_put(run, 0, &selector);
}

/* ------------------------------------------------------------------ memory that is probed */

enum { ENTER_LEVELS = 32, FRAME_POINTER = 8 };

unsigned interpret_enter_level(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
    return insn->mnemonic == ZYDIS_MNEMONIC_ENTER ? (unsigned)operands[1].imm.value.u % ENTER_LEVELS : 0;
}

void interpret_enter_addresses(uint64_t *out, const struct interpret_effect *effect, unsigned level)
{
    const uint64_t pushed = effect->address[0], frames = effect->address[1];
    *out++ = pushed;
    for (uint64_t i = 1; i < level; i++) {
        *out++ = frames - i * FRAME_POINTER;
        *out++ = pushed - i * FRAME_POINTER;
    }
    *out = pushed - (uint64_t)level * FRAME_POINTER;
}

static bool enter_push(struct interpret_run *run, uint64_t at, uint64_t value)
{
    if (!interpret_may_access(run, at, FRAME_POINTER, MMU_ACCESS_WRITE))
        return false;
    guest_store(at, FRAME_POINTER, value);
    return true;
}

/* The frame pointers of the procedures around, then its own. */
static bool enter_levels(struct interpret_run *run, uint64_t pushed, unsigned level)
{
    const uint64_t frames = run->cpu->get_gpr(run->cpu->self, RBP);
    for (uint64_t i = 1; i < level; i++) {
        const uint64_t from = frames - i * FRAME_POINTER;
        if (!interpret_may_access(run, from, FRAME_POINTER, MMU_ACCESS_READ) ||
            !enter_push(run, pushed - i * FRAME_POINTER, guest_load(from, FRAME_POINTER)))
            return false;
    }
    run->effect->address[run->effect->address_count++] = frames;
    return enter_push(run, pushed - (uint64_t)level * FRAME_POINTER, pushed);
}

/* Behind the pushes it looks whether the new top of the stack can be written, which engines leave out. What was pushed
 * stays when it cannot: it lies below RSP, which stays, too. */
void interpret_enter(struct interpret_run *run)
{
    const struct interpret_cpu *cpu = run->cpu;
    const unsigned level = interpret_enter_level(run->insn, run->operands);
    const uint64_t room = (run->operands[0].imm.value.u & 0xffff) + (uint64_t)level * FRAME_POINTER;
    struct interpret_value pushed;
    unsigned stack = 0;
    while (!interpret_is_memory(&run->operands[stack]))
        stack++;
    if (!interpret_place(run, stack, MMU_ACCESS_WRITE, &pushed.address))
        return;
    pushed.value = cpu->get_gpr(cpu->self, RBP);
    interpret_put(run, stack, &pushed);
    if (level > 0 && !enter_levels(run, pushed.address, level))
        return;
    if (!interpret_may_access(run, pushed.address - room, 1, MMU_ACCESS_WRITE))
        return;
    cpu->set_gpr(cpu->self, RBP, pushed.address);
    cpu->set_gpr(cpu->self, RSP, pushed.address - room);
}

/* ------------------------------------------------------------------ made for caches
 * They change nothing but what caches hold, which concerns the readers of the stream only. */

static void note_address(struct interpret_run *run, uint64_t address)
{
    run->effect->address[0] = address;
    run->effect->address_count = 1;
}

/* CLFLUSH, CLFLUSHOPT, CLWB read nothing, and fault as if they did. */
void interpret_clflush(struct interpret_run *run)
{
    uint64_t address = 0;
    interpret_address(&address, run->cpu, run->pc, run->insn, &run->operands[0]);
    if (interpret_may_access(run, address, 1, MMU_ACCESS_READ))
        note_address(run, address);
}

/* It faults nowhere. What lies outside of a process's addresses is where nothing is mapped. */
void interpret_prefetch(struct interpret_run *run)
{
    uint64_t address = 0;
    interpret_address(&address, run->cpu, run->pc, run->insn, &run->operands[0]);
    note_address(run, address >> 47 != 0 ? 0 : address);
}

/* ------------------------------------------------------------------ signals */

void interpret_privileged(struct interpret_run *run) { interpret_signal(run, SIGSEGV, SIGNAL_BY_KERNEL); }
void interpret_undefined(struct interpret_run *run) { interpret_signal(run, SIGILL, ILL_ILLOPN); }

void interpret_breakpoint(struct interpret_run *run)
{
    interpret_signal(run, SIGTRAP, SIGNAL_BY_KERNEL);
    run->effect->behind = true;
}

void interpret_debug_trap(struct interpret_run *run)
{
    interpret_signal(run, SIGTRAP, TRAP_BRKPT);
    run->effect->behind = true;
}

void interpret_interrupt(struct interpret_run *run)
{
    switch (run->operands[0].imm.value.u & 0xff) {
    case 3:
        interpret_breakpoint(run);
        break;
    case 0x80:
        interpret_refuse(run, "INT 80h calls the 32-bit kernel, which is not modelled: build for x86-64 only");
        break;
    default: /* the kernel lets programs raise no other vector */
        interpret_privileged(run);
    }
}
