/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   The CPU that programs see: CPUID describes one fixed x86-64-v2 processor - what is modelled, and nothing more - so
 *   that libraries choose code that runs here. RDTSC counts guest time at 1 GHz. Privileged instructions and traps
 *   end as the signals that Linux makes of them; INT1 and INT3 are traps, with RIP behind them. The caches that CPUID
 *   tells of are fixed too (32 KiB, 256 KiB, 8 MiB) and not those of the machine that is simulated: libraries tune
 *   themselves by them, and the reference stream must not depend on the machine file.
 * Invariants
 *   Nothing here depends on the host.
 * Not modelled
 *   Calls of the 32-bit kernel (INT 80h, SYSENTER): refused.
 * Source
 *   Intel SDM volume 2, CPUID (leaf layouts; table of the descriptors of leaf 2), RDTSC, RDTSCP; volume 3, 6.15
 *   (exceptions).
 */
#include <signal.h>

#include "interpret/interpret_priv.h"

#define SIGNAL_BY_KERNEL 0x80 /* si_code SI_KERNEL */

/* ------------------------------------------------------------------ CPUID */

struct leaf {
    uint32_t leaf, subleaf;
    uint32_t eax, ebx, ecx, edx;
};

/* leaf 1, edx: FPU TSC CX8 CMOV CLFSH MMX FXSR SSE SSE2; ecx: SSE3 SSSE3 CX16 SSE4.1 SSE4.2 POPCNT */
#define FEATURES_EDX (1u << 0 | 1u << 4 | 1u << 8 | 1u << 15 | 1u << 19 | 1u << 23 | 1u << 24 | 1u << 25 | 1u << 26)
#define FEATURES_ECX (1u << 0 | 1u << 9 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 23)
/* leaf 8000_0001h, edx: SYSCALL NX RDTSCP LM; ecx: LAHF PREFETCHW */
#define EXTENDED_EDX (1u << 11 | 1u << 20 | 1u << 27 | 1u << 29)
#define EXTENDED_ECX (1u << 0 | 1u << 8)

/* leaf 4: type (1 data, 2 code, 3 both) and level, self-initialising, one core; ways, lines of 64 bytes, sets */
#define CACHE_EAX(type, level) ((type) | (level) << 5 | 1u << 8)
#define CACHE_EBX(ways) (((ways)-1u) << 22 | 63u)

static const struct leaf leaves[] = {
    {0x0, 0, 0xb, 0x756e6547 /* Genu */, 0x6c65746e /* ntel */, 0x49656e69 /* ineI */},
    /* family 6, model 1ah, stepping 5; CLFLUSH of 64 bytes */
    {0x1, 0, 0x000106a5, 8u << 8, FEATURES_ECX, FEATURES_EDX},
    /* 5a 03 55 b2 ca: TLBs; f0: prefetch 64 bytes; e4: L3 8 MiB 16 ways; 09: L1I 32 KiB 4 ways; 21: L2 256 KiB 8 ways;
     * 2c: L1D 32 KiB 8 ways */
    {0x2, 0, 0x55035a01, 0x00f0b2e4, 0x00000000, 0x09ca212c},
    {0x4, 0, CACHE_EAX(1u, 1u), CACHE_EBX(8u), 63, 0},
    {0x4, 1, CACHE_EAX(2u, 1u), CACHE_EBX(4u), 127, 0},
    {0x4, 2, CACHE_EAX(3u, 2u), CACHE_EBX(8u), 511, 0},
    {0x4, 3, CACHE_EAX(3u, 3u), CACHE_EBX(16u), 8191, 2 /* inclusive */},
    {0xb, 0, 0, 1, 0x100, 0}, /* one thread a core, */
    {0xb, 1, 0, 1, 0x201, 0}, /* one core a package */
    {0x7, 0, 0, 1u << 23 | 1u << 24 /* CLFLUSHOPT CLWB */, 0, 0},
    {0x80000000, 0, 0x80000008, 0, 0, 0},
    {0x80000001, 0, 0, 0, EXTENDED_ECX, EXTENDED_EDX},
    {0x80000006, 0, 0, 0, 256u << 16 | 6u << 12 | 64u /* L2: 256 KiB, 8 ways, 64-byte lines */, 0},
    {0x80000007, 0, 0, 0, 0, 1u << 8 /* the time-stamp counter is invariant */},
    {0x80000008, 0, 48u << 8 | 40u /* address bits: linear, physical */, 0, 0, 0},
};

static const char brand[48] = "c2emu x86-64-v2 CPU";

static bool has_subleaves(uint32_t leaf) { return leaf == 0x4 || leaf == 0x7 || leaf == 0xb; }

static struct leaf cpuid_leaf(uint32_t leaf, uint32_t subleaf)
{
    struct leaf found = {.leaf = leaf, .subleaf = subleaf};
    if (leaf >= 0x80000002 && leaf <= 0x80000004) {
        memcpy(&found.eax, brand + 16 * (leaf - 0x80000002), 16);
        return found;
    }
    for (size_t i = 0; i < sizeof leaves / sizeof leaves[0]; i++)
        if (leaves[i].leaf == leaf && (!has_subleaves(leaf) || leaves[i].subleaf == subleaf))
            return leaves[i];
    if (leaf == 0xb)
        found.ecx = subleaf & 0xff;
    return found;
}

void interpret_cpuid(struct interpret_run *run)
{
    const struct interpret_cpu *cpu = run->cpu;
    struct leaf found = cpuid_leaf((uint32_t)cpu->get_gpr(cpu->self, RAX), (uint32_t)cpu->get_gpr(cpu->self, RCX));
    cpu->set_gpr(cpu->self, RAX, found.eax);
    cpu->set_gpr(cpu->self, RBX, found.ebx);
    cpu->set_gpr(cpu->self, RCX, found.ecx);
    cpu->set_gpr(cpu->self, RDX, found.edx);
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

/* Behind the push it looks whether the new top of the stack can be written, which engines leave out. What was pushed
 * stays when it cannot: it lies below RSP, which stays, too. */
void interpret_enter(struct interpret_run *run)
{
    const struct interpret_cpu *cpu = run->cpu;
    const uint64_t room = run->operands[0].imm.value.u & 0xffff;
    struct interpret_value pushed;
    unsigned stack = 0;
    while (!interpret_is_memory(&run->operands[stack]))
        stack++;
    if (!interpret_place(run, stack, MMU_ACCESS_WRITE, &pushed.address))
        return;
    pushed.value = cpu->get_gpr(cpu->self, RBP);
    interpret_put(run, stack, &pushed);
    if (!interpret_may_access(run, pushed.address - room, 1, MMU_ACCESS_WRITE))
        return;
    cpu->set_gpr(cpu->self, RBP, pushed.address);
    cpu->set_gpr(cpu->self, RSP, pushed.address - room);
}

/* ------------------------------------------------------------------ made for caches
 * They change nothing but what caches hold, which is the business of whoever reads the stream. */

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
