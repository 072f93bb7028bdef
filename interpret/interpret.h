/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * interpret: single instructions done in C, bit for bit as an x86-64 CPU does them - those that an engine executes
 * wrongly, not at all, or in a way that hides their references (REP strings). Knows no engine: registers come
 * through a small table of functions, guest memory is the window itself (guest address = host address).
 *
 * `operands` are all of the instruction's operands, hidden ones included, as ZydisDecoderDecodeFull gives them.
 */
#ifndef C2_INTERPRET_H
#define C2_INTERPRET_H

#include <Zydis/Zydis.h>

#include "base/base.h"
#include "cpu/cpu.h"
#include "mmu/mmu.h"
#include "stream/stream.h"

/* Where the registers are. gpr numbers: rax rcx rdx rbx rsp rbp rsi rdi r8..r15 = 0..15. */
struct interpret_cpu {
    void *self;
    const struct cpu_model *model; /* what CPUID describes; NULL: x86-64-v2 */
    uint64_t (*get_gpr)(void *self, unsigned gpr);
    void (*set_gpr)(void *self, unsigned gpr, uint64_t value);
    uint64_t (*get_flags)(void *self); /* RFLAGS */
    void (*set_flags)(void *self, uint64_t flags);
    void (*get_xmm)(void *self, unsigned xmm, uint8_t out[16]);
    void (*set_xmm)(void *self, unsigned xmm, const uint8_t in[16]);
    uint32_t (*get_mxcsr)(void *self); /* sticky exception flags included */
    void (*set_mxcsr)(void *self, uint32_t mxcsr);
    /* ZMM0-31, what the processor does not have of them 0; K0-7. Engines that execute nothing of the kind: NULL. */
    void (*get_vector)(void *self, unsigned vector, uint8_t out[64]);
    uint64_t (*get_opmask)(void *self, unsigned opmask);
    void (*get_wide)(void *self, struct cpu_wide *out);
    void (*set_wide)(void *self, const struct cpu_wide *in);
    /* the 512-byte FXSAVE64 image: x87 state, MXCSR, XMM0-15 */
    void (*get_fxsave)(void *self, uint8_t out[512]);
    void (*set_fxsave)(void *self, const uint8_t in[512]);
    uint64_t (*get_segment_base)(void *self, ZydisRegister segment); /* FS and GS; others are 0 */
    uint64_t (*get_time_ns)(void *self);                             /* for RDTSC: 1 GHz */
    /* Whether the page of va is present and may be accessed so. */
    bool (*ready)(void *self, struct guest_va va, enum mmu_access access);
};

enum interpret_status {
    INTERPRET_DONE,    /* done; the caller moves RIP to `target`, or on by the instruction's length */
    INTERPRET_FAULT,   /* page fault at `fault`: nothing took effect, except whole elements of a REP string
                          instruction, whose RCX, RSI and RDI say how far it came */
    INTERPRET_SIGNAL,  /* the CPU would raise an exception: `signal`, `code` */
    INTERPRET_REFUSED, /* cannot be done rightly: `reason` (static text) */
};

struct interpret_effect {
    enum interpret_status status;
    /* Effective addresses in the order of the slots of stream.h: one for a plain access or a modify; four for a REP
     * string instruction (source, destination, done, remaining), also when it ends in a fault. */
    unsigned address_count;
    uint64_t address[4];
    struct guest_va fault;
    enum mmu_access access;
    int signal, code;
    bool jumps; /* DONE: to `target`, instead of on to the next instruction */
    struct guest_va target;
    bool behind; /* SIGNAL: Linux reports RIP behind the instruction (INT3), not at it */
    const char *reason;
};

/* Whether it is movs, stos, lods, cmps or scas with a REP prefix: such a one is always interpreted, is alone in its
 * block and has the four slots of stream.h. (A REP prefix on anything else is a hint or part of the opcode.) */
bool interpret_is_rep_string(const ZydisDecodedInstruction *insn);

/* ENTER's nesting level; 0: it has none, or is another instruction. One with a level is alone in its block: it pushes
 * RBP, then as many frame pointers less one as it loads from below where RBP points to, then its own. */
unsigned interpret_enter_level(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands);
#define INTERPRET_ENTER_TOUCHES 62u /* of the highest level: a push, 30 loads and pushes, a push */
/* Addresses in the order of the accesses, 2 a level; effect: of one that was executed. */
void interpret_enter_addresses(uint64_t *out, const struct interpret_effect *effect, unsigned level);

/* Whether the decoder knows it and no x86-64 processor does: it raises SIGILL, and is alone in its block. */
bool interpret_is_foreign(const ZydisDecodedInstruction *insn);

/* The effective address of a memory operand of insn, which lies at pc; registers have their values from before it.
 * Knows RIP-relative operands, FS and GS, 32-bit addresses (67h), the bit offset of BT and its kin, and where an
 * implicit push writes. False: the operand is not memory, or an address that is only computed (LEA, NOP). */
bool interpret_address(uint64_t *out, const struct interpret_cpu *cpu, struct guest_va pc,
                       const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operand);

/* XSAVE and XRSTOR. */
bool interpret_is_xsave(const ZydisDecodedInstruction *insn);
/* Whether masks or vectors of indices decide which bytes the instruction touches: masked moves and operations, gathers,
 * scatters, compressing and expanding ones; XSAVE and XRSTOR. Such a one is alone in its block (stream.h). */
bool interpret_is_masked(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands);
/* What it touches, registers as they are before it: runs of bytes by address, or elements by index. */
struct interpret_touch {
    uint64_t address;
    uint16_t bytes;
    uint8_t kind; /* enum stream_kind: READ, WRITE or MODIFY */
};
#define INTERPRET_TOUCHES 32u /* every other one of 64 bytes */
struct interpret_touched {
    unsigned count;
    struct interpret_touch list[INTERPRET_TOUCHES];
    struct interpret_touch probed; /* it faults anywhere in there, although it touches no more; 0 bytes: nowhere else */
};
void interpret_touched(struct interpret_touched *out, const struct interpret_cpu *cpu, struct guest_va pc,
                       const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands);

/* Whether all that is touched and probed can be accessed; else *effect is the fault or the signal. */
bool interpret_may_touch(struct interpret_effect *effect, const struct interpret_touched *touched,
                         const struct interpret_cpu *cpu, const ZydisDecodedInstruction *insn,
                         const ZydisDecodedOperand *operands);

/* What an SSE instruction raises of the flags that it has found, where some of them trap: one that is known from the
 * operands (invalid, denormal, division by zero) keeps those of results away. */
uint32_t interpret_float_raised(uint32_t flags, uint32_t unmasked);
/* The si_code of SIGFPE for the SSE exception that MXCSR has raised and does not mask; 0: there is none. */
int interpret_float_code(uint32_t mxcsr);

/* Whether the form must be interpreted (true), or left to the engine. Depends on the instruction alone. */
bool interpret_wants(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands);

/* The reason if the form is neither an engine's nor interpreted (static text); else NULL. */
const char *interpret_refused(const struct cpu_model *model, const ZydisDecodedInstruction *insn,
                              const ZydisDecodedOperand *operands);

/* Executes one instruction for which interpret_wants said true; it lies at pc, and RIP is still there. */
void interpret_execute(const struct interpret_cpu *cpu, struct guest_va pc, const ZydisDecodedInstruction *insn,
                       const ZydisDecodedOperand *operands, struct interpret_effect *effect);

#endif
