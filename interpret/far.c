/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Far calls, jumps and returns, and IRET.
 *
 * Model
 *   A program of 64-bit Linux has two segments of code, its own and one of 32 bits, and one for its stack that IRET
 *   takes; any other selector is a general protection fault. Calls and jumps pass over the selector's lowest bits, the
 *   privilege that is asked for; returns do not. The stack is read as one operand, all of it or nothing.
 * Invariants
 *   Nothing has changed where an exception is raised.
 * Not modelled
 *   Code of 32 bits; pointers of 64 bits for calls and jumps, which only some makers' processors have. Both are
 *   refused.
 * Source
 *   Intel SDM volume 2: CALL, JMP, RET, IRET; the selectors are those of Linux, arch/x86/include/asm/segment.h.
 */
#include <signal.h>

#include "interpret/interpret_priv.h"

enum { CODE = 0x33, CODE_OF_32_BITS = 0x23, STACK = 0x2b, PRIVILEGE = 3 };
enum { FAR_FAULT = 0x80 /* SI_KERNEL */ };

static unsigned far_bytes(const struct interpret_run *run) { return run->insn->operand_width / 8; }

/* Whether the program may go on there; else the effect is the signal, or the refusal. */
static bool may_enter(struct interpret_run *run, uint64_t selector, uint64_t target)
{
    if (selector == CODE_OF_32_BITS)
        interpret_refuse(run, "32-bit code is not modelled: build for x86-64 only");
    else if (selector != CODE || !interpret_is_canonical(target))
        interpret_signal(run, SIGSEGV, FAR_FAULT);
    return run->effect->status == INTERPRET_DONE;
}

static void far_go_on(struct interpret_run *run, uint64_t target)
{
    run->effect->jumps = true;
    run->effect->target.v = target;
}

static unsigned stack_operand(const struct interpret_run *run)
{
    unsigned i = 0;
    while (!interpret_is_memory(&run->operands[i]) || run->operands[i].visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN)
        i++;
    return i;
}

/* ------------------------------------------------------------------ returns */

void interpret_far_return(struct interpret_run *run)
{
    const unsigned bytes = far_bytes(run), index = stack_operand(run);
    const uint64_t freed = index > 0 && run->operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE
                               ? run->operands[0].imm.value.u & UINT16_MAX
                               : 0;
    uint64_t stack;
    if (!interpret_place(run, index, MMU_ACCESS_READ, &stack))
        return;
    const uint64_t target = guest_load(stack, bytes);
    if (!may_enter(run, guest_load(stack + bytes, 2), target))
        return;
    run->cpu->set_gpr(run->cpu->self, RSP, stack + (uint64_t)2 * bytes + freed);
    far_go_on(run, target);
}

/* Of 64-bit code it takes the stack pointer and its segment whatever the privilege is. */
void interpret_iret(struct interpret_run *run)
{
    const unsigned bytes = far_bytes(run);
    uint64_t stack;
    if (run->cpu->get_flags(run->cpu->self) & FLAG_NT) {
        interpret_signal(run, SIGSEGV, FAR_FAULT);
        return;
    }
    if (!interpret_place(run, stack_operand(run), MMU_ACCESS_READ, &stack))
        return;
    const uint64_t target = guest_load(stack, bytes), flags = guest_load(stack + (uint64_t)2 * bytes, bytes);
    if (!may_enter(run, guest_load(stack + bytes, 2), target))
        return;
    if (guest_load(stack + (uint64_t)4 * bytes, 2) != STACK) {
        interpret_signal(run, SIGSEGV, FAR_FAULT);
        return;
    }
    run->cpu->set_gpr(run->cpu->self, RSP, guest_load(stack + (uint64_t)3 * bytes, bytes));
    interpret_change_flags(run, FLAGS_OF_PROGRAMS & c2_mask(0, 8 * bytes - 1), flags);
    far_go_on(run, target);
}

/* ------------------------------------------------------------------ calls and jumps */

static bool take_pointer(struct interpret_run *run, uint64_t *target)
{
    const unsigned bytes = far_bytes(run);
    uint64_t pointer;
    if (!interpret_place(run, 0, MMU_ACCESS_READ, &pointer))
        return false;
    *target = guest_load(pointer, bytes);
    return may_enter(run, guest_load(pointer + bytes, 2) | PRIVILEGE, *target);
}

void interpret_far_jump(struct interpret_run *run)
{
    uint64_t target;
    if (take_pointer(run, &target))
        far_go_on(run, target);
}

/* The selector is pushed first. */
void interpret_far_call(struct interpret_run *run)
{
    const unsigned bytes = far_bytes(run);
    uint64_t target, stack;
    if (!take_pointer(run, &target) ||
        !interpret_may_access(run, run->cpu->get_gpr(run->cpu->self, RSP) - bytes, bytes, MMU_ACCESS_WRITE) ||
        !interpret_place(run, stack_operand(run), MMU_ACCESS_WRITE, &stack))
        return;
    guest_store(stack + bytes, bytes, CODE);
    guest_store(stack, bytes, run->pc.v + run->insn->length);
    run->cpu->set_gpr(run->cpu->self, RSP, stack);
    far_go_on(run, target);
}
