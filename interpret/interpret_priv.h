/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Shared by the files of interpret: one instruction in the making, its operands, its flags.
 */
#ifndef C2_INTERPRET_PRIV_H
#define C2_INTERPRET_PRIV_H

#include <string.h>

#include "interpret/interpret.h"

/* RFLAGS */
#define FLAG_CF (1u << 0)
#define FLAG_PF (1u << 2)
#define FLAG_AF (1u << 4)
#define FLAG_ZF (1u << 6)
#define FLAG_SF (1u << 7)
#define FLAG_DF (1u << 10)
#define FLAG_OF (1u << 11)
#define FLAG_TF (1u << 8)
#define FLAG_NT (1u << 14)
#define FLAG_AC (1u << 18)
#define FLAG_ID (1u << 21)
/* What a program may change: the status flags, DF, and TF, NT, AC, ID. IF and IOPL stay. */
#define FLAGS_OF_PROGRAMS (FLAGS_STATUS | FLAG_DF | FLAG_TF | FLAG_NT | FLAG_AC | FLAG_ID)
#define FLAGS_STATUS (FLAG_CF | FLAG_PF | FLAG_AF | FLAG_ZF | FLAG_SF | FLAG_OF)

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

struct interpret_run {
    const struct interpret_cpu *cpu;
    struct guest_va pc;
    const ZydisDecodedInstruction *insn;
    const ZydisDecodedOperand *operands;
    struct interpret_effect *effect; /* DONE, without addresses, when a handler starts */
};
typedef void interpret_handler(struct interpret_run *run);
typedef bool interpret_predicate(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands);

/* ------------------------------------------------------------------ what is done with each mnemonic (_forms.c) */
struct interpret_form {
    bool native;                /* the engine executes it rightly ... */
    interpret_handler *run;     /* ... except that this is done instead, if not NULL, */
    interpret_predicate *only;  /* for these (NULL: all); */
    const char *refusal;        /* what is neither is refused: why; NULL: the reason lies in its extension */
    interpret_predicate * not ; /* these are refused anyway (with `refusal`) */
};
const struct interpret_form *interpret_form_of(ZydisMnemonic mnemonic);
/* Whether a feature of processors beyond x86-64-v2 decides on it (extensions.c); then why it is refused on this one,
 * NULL: on x86-64-v2; NULL if it is not. */
bool interpret_is_extension(const ZydisDecodedInstruction *insn);
const char *interpret_extension_refused(const struct cpu_model *model, const ZydisDecodedInstruction *insn);
/* Why an instruction outside the allowlist is refused; static text. */
const char *interpret_refusal(const ZydisDecodedInstruction *insn);

/* ------------------------------------------------------------------ operands (interpret_operands.c) */
bool interpret_is_memory(const ZydisDecodedOperand *operand);
/* A general register: read zero-extended; a write of 32 bits clears the upper half, of 8 or 16 keeps the rest. */
uint64_t interpret_get_register(const struct interpret_cpu *cpu, ZydisRegister reg);
void interpret_set_register(const struct interpret_cpu *cpu, ZydisRegister reg, uint64_t value);

/* Checks an access as the CPU would (canonical address, rights of the pages, lowest address first). On false the effect
 * is the fault or the signal. */
bool interpret_may_access(struct interpret_run *run, uint64_t address, uint64_t bytes, enum mmu_access access);
/* The address of memory operand `index`, checked for `access` and entered into the effect. */
bool interpret_place(struct interpret_run *run, unsigned index, enum mmu_access access, uint64_t *address);

/* Operand `index` - register, memory or immediate - as a number. For a destination that is read first, `access` is
 * WRITE: everything is checked before anything is changed, and interpret_put cannot fail then. */
struct interpret_value {
    uint64_t value;
    uint64_t address; /* of a memory operand */
};
bool interpret_get(struct interpret_run *run, unsigned index, enum mmu_access access, struct interpret_value *out);
void interpret_put(struct interpret_run *run, unsigned index, const struct interpret_value *value);

static inline bool interpret_is_canonical(uint64_t address)
{
    return (uint64_t)((int64_t)(address << 16) >> 16) == address;
}
static inline uint64_t guest_load(uint64_t address, unsigned bytes)
{
    uint64_t value = 0;
    memcpy(&value, (const void *)(uintptr_t)address, bytes);
    return value;
}
static inline void guest_store(uint64_t address, unsigned bytes, uint64_t value)
{
    memcpy((void *)(uintptr_t)address, &value, bytes);
}

/* ------------------------------------------------------------------ flags and ends */
void interpret_change_flags(struct interpret_run *run, uint64_t which, uint64_t value);
/* CF PF AF ZF SF OF of a - b. */
uint64_t interpret_flags_of_subtraction(uint64_t a, uint64_t b, unsigned bits);
/* PF ZF SF of a result. */
uint64_t interpret_flags_of_result(uint64_t value, unsigned bits);

void interpret_signal(struct interpret_run *run, int signal, int code);
void interpret_refuse(struct interpret_run *run, const char *reason);

/* ------------------------------------------------------------------ handlers */
interpret_handler interpret_rep_string; /* interpret_string.c */

interpret_handler interpret_popcnt, interpret_test, interpret_movbe, interpret_shift, interpret_shift_double,
    interpret_neg, interpret_pdep, interpret_pext, interpret_bzhi, interpret_blsi, interpret_blsr, interpret_blsmsk,
    interpret_bextr, interpret_rorx; /* _bits.c */

interpret_handler interpret_cmpxchg_pair, interpret_loop_while, interpret_popf, interpret_setcc; /* interpret_flags.c */

interpret_handler interpret_pcmpstr; /* interpret_pcmpstr.c */
interpret_handler interpret_reciprocal, interpret_dpps, interpret_dppd, interpret_horizontal, interpret_maskmov,
    interpret_round_scalar, interpret_cvtps2pd, interpret_cvtdq2pd, interpret_unpack_low, interpret_from_integers,
    interpret_to_integers; /* interpret_sse.c */

interpret_handler interpret_ldmxcsr, interpret_stmxcsr, interpret_fxsave, interpret_fxrstor, interpret_fldcw,
    interpret_fnstsw, interpret_fnclex, interpret_fninit, interpret_fnstenv, interpret_fldenv, interpret_fnsave,
    interpret_frstor; /* interpret_fpstate.c */

interpret_handler interpret_fprem, interpret_fprem1, interpret_fisttp, interpret_x87_constant, interpret_fscale,
    interpret_fxtract, interpret_fbld, interpret_fbstp; /* interpret_x87.c */
interpret_handler interpret_f2xm1, interpret_fyl2x, interpret_fyl2xp1, interpret_fptan, interpret_fpatan,
    interpret_fsin, interpret_fcos, interpret_fsincos; /* interpret_transcendental.c */

interpret_handler interpret_cpuid, interpret_rdtsc, interpret_rdtscp, interpret_privileged, interpret_undefined,
    interpret_breakpoint, interpret_debug_trap, interpret_interrupt, interpret_read_segment, interpret_enter,
    interpret_clflush, interpret_prefetch;                                                      /* interpret_system.c */
interpret_handler interpret_far_return, interpret_far_jump, interpret_far_call, interpret_iret; /* far.c */

interpret_handler interpret_xsave, interpret_xrstor, interpret_xgetbv; /* xsave.c */
void interpret_xsave_touched(struct interpret_touched *out, const struct interpret_cpu *cpu,
                             const ZydisDecodedInstruction *insn, uint64_t area);

/* ------------------------------------------------------------------ the x87 part of an FXSAVE64 image */
#define FXSAVE_BYTES 512
#define FXSAVE_CONTROL 0
#define FXSAVE_STATUS 2
#define FXSAVE_TAGS 4 /* bit i: physical register i is not empty */
#define FXSAVE_OPCODE 6
#define FXSAVE_CODE 8
#define FXSAVE_DATA 16
#define FXSAVE_MXCSR 24
#define FXSAVE_MXCSR_MASK 28
#define FXSAVE_ST 32 /* ST(i) at FXSAVE_ST + 16*i */
#define FXSAVE_XMM 160

#define X87_EXCEPTIONS 0x003fu /* control: masks; status: flags */
#define X87_IE 0x0001u
#define X87_DE 0x0002u
#define X87_ZE 0x0004u
#define X87_OE 0x0008u
#define X87_UE 0x0010u
#define X87_PE 0x0020u
#define X87_SF 0x0040u
#define X87_C0 0x0100u
#define X87_C1 0x0200u
#define X87_C2 0x0400u
#define X87_C3 0x4000u
#define X87_CONDITIONS (X87_C0 | X87_C1 | X87_C2 | X87_C3)

#define MXCSR_EXCEPTIONS 0x003fu
#define MXCSR_MASKS_AT 7
#define MXCSR_DEFINED 0xffffu

struct x87_state {
    uint8_t image[FXSAVE_BYTES] __attribute__((aligned(16)));
};
static inline uint16_t image_get16(const uint8_t *image, unsigned at)
{
    uint16_t value;
    memcpy(&value, image + at, sizeof value);
    return value;
}
static inline void image_set16(uint8_t *image, unsigned at, uint16_t value)
{
    memcpy(image + at, &value, sizeof value);
}
static inline uint32_t image_get32(const uint8_t *image, unsigned at)
{
    uint32_t value;
    memcpy(&value, image + at, sizeof value);
    return value;
}
static inline void image_set32(uint8_t *image, unsigned at, uint32_t value)
{
    memcpy(image + at, &value, sizeof value);
}
/* Makes register `top` the top of the stack; the image holds the registers from the top down, so they move in it. */
void image_rotate_to_top(uint8_t *image, unsigned top);
static inline unsigned image_top(const uint8_t *image) { return image_get16(image, FXSAVE_STATUS) >> 11 & 7; }

/* An 80-bit register, and what kind of number it is. */
struct x80 {
    uint64_t significand;
    uint16_t sign_exponent;
};
enum x80_class {
    X80_ZERO,
    X80_DENORMAL, /* exponent 0, significand not 0 */
    X80_NORMAL,
    X80_INFINITY,
    X80_QNAN,
    X80_SNAN,
    X80_INVALID, /* the integer bit is clear although the exponent is not 0: no CPU since the 387 accepts it */
};
enum x80_class x80_class_of(struct x80 a);
struct x80 x80_load(const uint8_t *from);
void x80_store(uint8_t *to, struct x80 a);

#endif
