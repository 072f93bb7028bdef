/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The frame of a signal handler on the guest's stack.
 *
 * Model
 *   Linux's rt_sigframe of x86-64. From the handler's RSP upwards:
 *
 *       +0    return address: sa_restorer
 *       +8    ucontext: flags, link, stack (24 bytes), registers (256 bytes), signal mask
 *       +312  siginfo (128 bytes)
 *       ...   the floating-point state (fpstate.c), at a multiple of 64, where ucontext's fpstate points
 *       ...   128 bytes red zone below the interrupted RSP (or the top of the alternate stack)
 *
 *   RSP + 8 is a multiple of 16, as after a call. The handler gets RDI = signal, RSI = siginfo, RDX = ucontext,
 *   RAX = 0, a fresh floating-point state, and clear direction, resume and trap flags.
 *
 * Invariants
 *   What frame_restore reads back is what frame_build stored: the whole of struct syscalls_cpu but the segment bases.
 *
 * Not modelled
 *   After a return with selectors of segments that are none, the frame of SIGSEGV has neither them nor the error code
 *   that names them.
 *
 * Source: the layout is an ABI, x86-64 psABI and Linux's uapi headers (sigcontext.h, ucontext.h).
 */
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "syscalls/kernel_priv.h"

struct context { /* struct sigcontext */
    uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
    uint64_t rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, rflags;
    uint16_t cs, gs, fs, ss;
    uint64_t error, trap, old_mask, cr2, fpstate, reserved[8];
};

struct frame {
    uint64_t return_address;
    uint64_t flags, link; /* ucontext */
    struct signals_stack stack;
    struct context context;
    uint64_t mask;
    struct signals_info info;
};
_Static_assert(sizeof(struct context) == 256 && offsetof(struct frame, info) == 312 && sizeof(struct frame) == 440,
               "the ABI's rt_sigframe");

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };

#define RED_ZONE 128u
#define CONTEXT_FLAGS 6u        /* UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS */
#define CONTEXT_XSTATE 1u       /* UC_FP_XSTATE */
#define FLAGS_CLEARED 0x10500u  /* RF, DF, TF */
#define FLAGS_RESTORED 0x50dd5u /* AC RF OF DF TF SF ZF AF PF CF */
#define USER_CS 0x33
#define USER_SS 0x2b

static bool is_inside(const struct signals_stack *stack, uint64_t rsp)
{
    return rsp > stack->base && rsp - stack->base <= stack->bytes;
}

bool frame_on_stack(const struct signals_stack *stack, uint64_t rsp)
{
    return !(stack->flags & (SS_DISABLE | SIGNALS_AUTODISARM)) && is_inside(stack, rsp);
}

/* ------------------------------------------------------------------ build */

static void store_registers(struct context *to, const struct syscalls_cpu *cpu)
{
    const uint64_t *r = cpu->gpr;
    *to = (struct context){
        .r8 = r[R8],
        .r9 = r[R9],
        .r10 = r[R10],
        .r11 = r[R11],
        .r12 = r[R12],
        .r13 = r[R13],
        .r14 = r[R14],
        .r15 = r[R15],
        .rdi = r[RDI],
        .rsi = r[RSI],
        .rbp = r[RBP],
        .rbx = r[RBX],
        .rdx = r[RDX],
        .rax = r[RAX],
        .rcx = r[RCX],
        .rsp = r[RSP],
        .rip = cpu->rip,
        .rflags = cpu->rflags,
        .cs = USER_CS,
        .ss = USER_SS,
    };
}

/* The CPU's exception behind a fault's signal. */
static void store_fault(struct context *to, const struct syscalls_fault *fault)
{
    enum { DIVIDE = 0, DEBUG = 1, BREAKPOINT = 3, INVALID_OPCODE = 6, STACK = 12, PROTECTION = 13, PAGE_FAULT = 14 };
    enum { SIMD = 19 };
    enum { PRESENT = 1, WRITE = 2, USER = 4, FETCH = 16 };
    switch (fault->signal) {
    case SIGSEGV:
    case SIGBUS:
        to->trap = fault->code != SI_KERNEL ? PAGE_FAULT : fault->signal == SIGBUS ? STACK : PROTECTION;
        if (to->trap != PAGE_FAULT)
            break;
        to->error = USER | (fault->present ? PRESENT : 0) | (fault->access == MMU_ACCESS_WRITE ? WRITE : 0) |
                    (fault->access == MMU_ACCESS_EXEC ? FETCH : 0);
        to->cr2 = fault->address;
        break;
    case SIGFPE:
        to->trap = fault->code == FPE_INTDIV ? DIVIDE : SIMD;
        break;
    case SIGILL:
        to->trap = INVALID_OPCODE;
        break;
    case SIGTRAP:
        to->trap = fault->code == TRAP_TRACE ? DEBUG : BREAKPOINT;
        break;
    default:
        break;
    }
}

/* Where the frame's parts lie: false if there is no room on the alternate stack. */
static bool frame_place(const struct signals_stack *stack, const struct signals_action *action, uint64_t rsp,
                        uint64_t fpstate_bytes, uint64_t *fpstate, uint64_t *frame)
{
    bool on = frame_on_stack(stack, rsp);
    uint64_t top = rsp - RED_ZONE;
    if (action->flags & SA_ONSTACK && !on && !(stack->flags & SS_DISABLE)) {
        top = stack->base + stack->bytes;
        on = true;
    }
    *fpstate = c2_align_down(top - fpstate_bytes, 64);
    *frame = c2_align_down(*fpstate - sizeof(struct frame), 16) - 8;
    return !on || is_inside(stack, *frame);
}

static enum c2_status touch_frame(struct syscalls *kernel, uint64_t start, uint64_t end, struct c2_error *err)
{
    struct guest_va at = {start};
    enum mmu_fault fault = MMU_FAULT_DENIED;
    if (guest_allows(kernel, start, end - start, MMU_WRITE))
        fault = mmu_touch_range(kernel->mmu, at, end - start, MMU_ACCESS_WRITE, &at, err);
    if (fault == MMU_FAULT_NONE)
        return C2_OK;
    if (fault == MMU_FAULT_FAILED)
        return err->status;
    return c2_fail(err, C2_ERR_DENIED, "its stack at %#llx cannot be written", (unsigned long long)start);
}

static void turn_to_handler(struct syscalls_cpu *cpu, uint64_t handler, int signal, uint64_t frame)
{
    cpu->gpr[RDI] = (uint64_t)signal;
    cpu->gpr[RSI] = frame + offsetof(struct frame, info);
    cpu->gpr[RDX] = frame + offsetof(struct frame, flags);
    cpu->gpr[RAX] = 0;
    cpu->gpr[RSP] = frame;
    cpu->rip = handler;
    cpu->rflags &= ~(uint64_t)FLAGS_CLEARED;
    fpstate_fresh(cpu);
}

enum c2_status frame_build(struct syscalls *kernel, struct syscalls_cpu *cpu, const struct signals_info *info,
                           const struct syscalls_fault *fault, struct c2_error *err)
{
    enum { RESTORER = 0x04000000 };
    const struct signals_mask *mask = &kernel->current->signals;
    const struct signals_action *action = &kernel->signals.action[info->signal];
    const uint64_t fpstate_bytes = fpstate_size(cpu);
    uint64_t fpstate, at;
    if (!(action->flags & RESTORER))
        return c2_fail(err, C2_ERR_INVALID, "it was installed without SA_RESTORER");
    if (!frame_place(&mask->stack, action, cpu->gpr[RSP], fpstate_bytes, &fpstate, &at))
        return c2_fail(err, C2_ERR_DENIED, "the alternate stack is full");
    enum c2_status status = touch_frame(kernel, at, fpstate + fpstate_bytes, err);
    if (status != C2_OK)
        return status;
    struct frame frame = {
        .return_address = action->restorer,
        .flags = CONTEXT_FLAGS | (cpu->xcr0 != 0 ? CONTEXT_XSTATE : 0),
        .stack = mask->stack,
        .mask = mask->suspended ? mask->after : mask->blocked,
        .info = *info,
    };
    store_registers(&frame.context, cpu);
    frame.context.old_mask = frame.mask;
    frame.context.fpstate = fpstate;
    if (fault)
        store_fault(&frame.context, fault);
    memcpy(guest_pointer(at), &frame, sizeof frame);
    fpstate_put(guest_pointer(fpstate), cpu);
    turn_to_handler(cpu, action->handler, info->signal, at);
    return C2_OK;
}

/* ------------------------------------------------------------------ restore */

static void load_registers(struct syscalls_cpu *cpu, const struct context *from)
{
    const uint64_t gpr[16] = {from->rax, from->rcx, from->rdx, from->rbx, from->rsp, from->rbp, from->rsi, from->rdi,
                              from->r8,  from->r9,  from->r10, from->r11, from->r12, from->r13, from->r14, from->r15};
    memcpy(cpu->gpr, gpr, sizeof gpr);
    cpu->rip = from->rip;
    cpu->rflags = (cpu->rflags & ~(uint64_t)FLAGS_RESTORED) | (from->rflags & FLAGS_RESTORED);
}

/* What the handler has put in the place of the selectors: Linux adds the user's privilege, and a CPU faults when it
 * returns with those of no segment. SS is repaired where the frame does not ask for it strictly. */
static void check_selectors(struct call *c, const struct frame *frame)
{
    enum { PRIVILEGE = 3, CODE_32 = 0x23, STRICT = 4 };
    const unsigned cs = frame->context.cs | PRIVILEGE, ss = frame->context.ss | PRIVILEGE;
    if (cs == CODE_32) {
        c->result->action = SYSCALLS_FAILED;
        c2_fail(c->err, C2_ERR_UNSUPPORTED,
                "a signal handler returns to 32-bit code (CS 0x23), which is not modelled: build for x86-64 only");
    } else if (cs != USER_CS || (ss != USER_SS && (frame->flags & STRICT))) {
        c->result->signal = SIGSEGV;
    }
}

int64_t frame_restore(struct call *c)
{
    struct signals_mask *mask = &c->kernel->current->signals;
    struct frame frame;
    struct fpstate fpstate;
    /* RET of the handler took the return address: the frame starts below RSP */
    int64_t status = guest_read(c, &frame, c->cpu->gpr[RSP] - 8, sizeof frame);
    if (status < 0)
        return status;
    status = fpstate_read(c, &fpstate, frame.context.fpstate);
    if (status < 0)
        return status;
    mask->blocked = frame.mask & ~(signals_bit(SIGKILL) | signals_bit(SIGSTOP));
    load_registers(c->cpu, &frame.context);
    if (!fpstate_take(c->cpu, &fpstate))
        c->result->signal = SIGSEGV;
    if (!frame_on_stack(&mask->stack, c->cpu->gpr[RSP]))
        mask->stack = frame.stack;
    check_selectors(c, &frame);
    return 0;
}
