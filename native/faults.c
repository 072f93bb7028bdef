/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Where the guest's instruction faults in translated code the host's kernel sends a signal. Its handler finds the
 *   translation and the instruction by the host's address, puts the guest's registers where they are between two runs,
 *   and has the kernel go on where translations leave to. What the fault is for the guest is decided there, by the
 *   addresses of the instruction's operands and the page tables, as a CPU would.
 *   A signal that is of anything else is handed on to the previous handler. All engines of a process share the
 *   handlers; one runs at a time.
 * Not modelled
 *   Alignment checks (AC). Exceptions of the x87 unit that trap: refused where one occurs.
 */
#include <asm/hwcap2.h>
#include <asm/prctl.h>
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "engine/code.h"
#include "native/emit.h"
#include "native/native_priv.h"

enum { STACK_BYTES = 64 << 10 };
enum {
    TRAP_DIVISION = 0,
    TRAP_UNDEFINED = 6,
    TRAP_STACK = 12,
    TRAP_PROTECTION = 13,
    TRAP_PAGE = 14,
    TRAP_X87 = 16,
    TRAP_SSE = 19
};

static const int handled[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
#define HANDLED (sizeof handled / sizeof *handled)

static struct sigaction before[HANDLED];
static struct native *running; /* the last one that did */
static unsigned users;
static uint8_t *handlers_stack;

uint64_t native_code_start, native_code_end;
struct native_context *native_running;

/* ------------------------------------------------------------------ the handlers */

static const struct sigaction *before_of(int number)
{
    for (size_t i = 0; i < HANDLED; i++)
        if (handled[i] == number)
            return &before[i];
    return NULL;
}

void native_foreign_signal(int number, void *info, void *context)
{
    const struct sigaction *action = before_of(number);
    if (action && action->sa_flags & SA_SIGINFO)
        action->sa_sigaction(number, info, context);
    else if (action && action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN)
        action->sa_handler(number);
    else
        signal(number, SIG_DFL); /* it comes again */
}

/* As the instruction numbers them. */
static const int greg_of[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

/* A page of a file that has vanished since it was touched becomes one of zeros (mmu/sigbus.c). */
static bool is_lost_page(int number, const siginfo_t *info, const greg_t *gregs)
{
    C2_PROMISE(running && number != 0);
    enum { WRITES = 2 }; /* of a page fault's error code */
    const enum mmu_access access = gregs[REG_ERR] & WRITES ? MMU_ACCESS_WRITE : MMU_ACCESS_READ;
    return number == SIGBUS && info->si_code == BUS_ADRERR &&
           mmu_ready(running->base.config.mmu, (struct guest_va){(uint64_t)(uintptr_t)info->si_addr}, access);
}

static void faults_take_registers(const greg_t *gregs, const struct native_place *place)
{
    C2_PROMISE(place->pace < 16 && !(place->held >> place->pace & 1));
    struct native_context *context = running->context;
    for (unsigned i = 0; i < 16; i++)
        if (place->held >> i & 1)
            context->gpr[i] = (uint64_t)gregs[greg_of[i]];
    context->pace = (uint64_t)gregs[greg_of[place->pace]];
    context->flags = (uint64_t)gregs[REG_EFL];
}

/* A CPU may have the instructions, and a Linux that loses what they set. */
bool native_sets_bases(void)
{
    static int known = -1;
    if (known < 0)
        known = SHORTCUT(getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE) ? 1 : 0;
    return known;
}

/* The instruction may have had the guest's GS. */
static uint64_t take_gs(void)
{
    C2_PROMISE(native_running);
    uint64_t was;
    if (!native_sets_bases())
        return (uint64_t)(uintptr_t)native_running;
    __asm__ volatile("rdgsbase %0" : "=r"(was));
    __asm__ volatile("wrgsbase %0" : : "r"(native_running));
    return was;
}

static void give_gs(uint64_t base)
{
    if (native_sets_bases())
        __asm__ volatile("wrgsbase %0" : : "r"(base));
}

/* Whether a block has found that it does not fit below the limit; then *in is its translation. */
static bool is_end_of_runway(const siginfo_t *info, const greg_t *gregs, struct native_code **in)
{
    const uint64_t behind = (uint64_t)(uintptr_t)info->si_addr - (running->runway + NATIVE_RUNWAY_BYTES);
    *in = behind < C2_PAGE_BYTES ? native_code_before(&running->codes, (uint64_t)gregs[REG_RIP]) : NULL;
    return *in;
}

static bool leave(greg_t *gregs, const struct native_place *place)
{
    C2_PROMISE(running->context == native_running && running->context->host_rsp != 0);
    faults_take_registers(gregs, place);
    gregs[REG_RIP] = (greg_t)(uintptr_t)native_left_code;
    gregs[REG_RSP] = (greg_t)running->context->host_rsp;
    gregs[REG_EFL] &= ~(greg_t)0x500; /* DF, TF */
    return false;
}

/* A first touch is made where it happens, and the instruction executed again, where nobody hears of blocks: else the
 * block ends before the instruction, and another one begins with it, whatever the engine. */
static bool touches_at_once(struct native *n, const greg_t *gregs, const struct native_code *code, unsigned index)
{
    C2_PROMISE(n == running && index < code->insns);
    const struct stream_insn *at = &code->block->block->insns[index];
    struct decode_insn insn;
    struct engine_event event;
    struct c2_error ignored;
    bool touched = false;
    if (!SHORTCUT(!n->base.config.writer && !n->codes.counting && !native_is_loose(code->kind)) ||
        gregs[REG_TRAPNO] != TRAP_PAGE)
        return false;
    n->rip = code->block->pc + at->offset;
    if (decode_one(&insn, (struct guest_va){n->rip}, at->length) != DECODE_GOOD)
        return false;
    faults_take_registers(gregs, &code->place[index]);
    while (native_first_failure(n, &insn, &event)) {
        if (event.stop != ENGINE_FAULT ||
            mmu_touch(n->base.config.mmu, event.address, event.access, &ignored) != MMU_FAULT_NONE)
            return false;
        touched = true;
    }
    return touched;
}

bool native_signal(int number, void *info_of, void *context)
{
    static const struct native_place between = {.held = 0xffff & ~(1u << NATIVE_R10 | 1u << NATIVE_R11),
                                                .pace = NATIVE_R10};
    const uint64_t gs = take_gs();
    const siginfo_t *info = info_of;
    greg_t *gregs = ((ucontext_t *)context)->uc_mcontext.gregs;
    struct native_code *code;
    unsigned copy, insn;
    if (is_end_of_runway(info, gregs, &code)) {
        running->fault = (struct native_fault){.limit = true, .in = code};
        return leave(gregs, &between);
    }
    if (is_lost_page(number, info, gregs)) {
        native_foreign_signal(number, info_of, context);
        give_gs(gs);
        return true;
    }
    code = native_code_at(&running->codes, (uint64_t)gregs[REG_RIP], &copy, &insn);
    if (!code) { /* amid no instruction of the guest's: GS was the context's, as it is now */
        C2_PROMISE(gs == (uint64_t)(uintptr_t)native_running);
        native_foreign_signal(number, info_of, context);
        return true;
    }
    if (touches_at_once(running, gregs, code, insn)) {
        give_gs(gs);
        return true;
    }
    running->fault = (struct native_fault){.number = number,
                                           .code = info->si_code,
                                           .address = (uint64_t)(uintptr_t)info->si_addr,
                                           .trap = (uint64_t)gregs[REG_TRAPNO],
                                           .in = code,
                                           .copy = copy,
                                           .insn = insn};
    return leave(gregs, &code->place[insn]);
}

/* The handlers run beside the guest's stack, which may be none. */
static bool make_stack(void)
{
    C2_PROMISE(!handlers_stack);
    handlers_stack = c2_alloc(STACK_BYTES);
    const stack_t beside = {.ss_sp = handlers_stack, .ss_size = STACK_BYTES};
    return handlers_stack && sigaltstack(&beside, NULL) == 0;
}

enum c2_status native_handle_signals(struct native *n, struct c2_error *err)
{
    C2_ASSERT(!n->handles);
    if (users == 0 && !make_stack())
        return c2_fail_memory(err, "the stack of signal handlers");
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    action.sa_sigaction = (void (*)(int, siginfo_t *, void *))(void (*)(void))native_on_signal;
    for (size_t i = 0; i < HANDLED && users == 0; i++)
        sigaction(handled[i], &action, &before[i]);
    users++;
    n->handles = true;
    sigfillset(&n->outside);
    for (size_t i = 0; i < HANDLED; i++)
        sigdelset(&n->outside, handled[i]);
    return C2_OK;
}

void native_handle_no_signals(struct native *n)
{
    const stack_t none = {.ss_flags = SS_DISABLE};
    if (!n->handles)
        return;
    n->handles = false;
    C2_ASSERT(users > 0);
    if (--users != 0)
        return;
    for (size_t i = 0; i < HANDLED; i++)
        sigaction(handled[i], &before[i], NULL);
    sigaltstack(&none, NULL);
    c2_free(handlers_stack);
    handlers_stack = NULL;
}

/* GS is the context in C, too, which has no use for it: Linux sets it, once a thread. */
static void hold_gs(const struct native_context *context)
{
    static _Thread_local const struct native_context *held;
    if (held == context || native_sets_bases())
        return;
    C2_ASSERT(syscall(SYS_arch_prctl, ARCH_SET_GS, context) == 0);
    held = context;
}

void native_begin_run(struct native *n)
{
    C2_ASSERT(n->handles && n->context && n->blocks);
    hold_gs(n->context);
    native_code_start = (uint64_t)(uintptr_t)n->codes.cache.executed;
    native_code_end = (uint64_t)(uintptr_t)native_cache_end(n->codes.cache.executed);
    native_running = n->context;
    running = n;
}

/* ------------------------------------------------------------------ which access of an instruction faults */

static bool faults_is_canonical(uint64_t address) { return (uint64_t)((int64_t)(address << 16) >> 16) == address; }

static struct engine_event faults_protection_fault(bool stack)
{
    return (struct engine_event){.stop = ENGINE_TRAP, .signal = stack ? SIGBUS : SIGSEGV, .code = SI_KERNEL};
}

/* Whether the operand, which lies at start, cannot be accessed: *event is the fault. */
static bool faults_fails(const struct native *n, const ZydisDecodedOperand *operand, uint64_t start,
                         struct engine_event *event)
{
    C2_PROMISE(operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->size >= 8);
    const struct mmu *mmu = n->base.config.mmu;
    const enum mmu_access access = operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE ? MMU_ACCESS_WRITE
                                                                                      : MMU_ACCESS_READ;
    const struct guest_va first = {start}, last = {start + operand->size / 8 - 1};
    if (!faults_is_canonical(first.v) || !faults_is_canonical(last.v)) {
        *event = faults_protection_fault(operand->mem.segment == ZYDIS_REGISTER_SS);
        return true;
    }
    *event = (struct engine_event){.stop = ENGINE_FAULT, .address = first, .access = access};
    if (!mmu_ready(mmu, first, access))
        return true;
    event->address.v = c2_align_down(last.v, C2_PAGE_BYTES);
    return !mmu_ready(mmu, last, access);
}

/* Whether operand i of the instruction is accessed in this round: what is only read comes first. */
static bool faults_is_turn(const struct decode_insn *insn, unsigned i, bool writes)
{
    C2_PROMISE(i < insn->insn.operand_count);
    return (insn->operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0 ? writes : !writes;
}

/* ENTER looks whether the new top of the stack can be written (interpret/system.c). */
static bool probe_fails(const struct native *n, const struct decode_insn *insn, struct engine_event *event)
{
    enum { RSP = 4, PUSHED = 8 };
    if (insn->insn.mnemonic != ZYDIS_MNEMONIC_ENTER)
        return false;
    const struct guest_va top = {n->context->gpr[RSP] - PUSHED - (insn->operands[0].imm.value.u & 0xffff)};
    *event = (struct engine_event){.stop = ENGINE_FAULT, .address = top, .access = MMU_ACCESS_WRITE};
    return !mmu_ready(n->base.config.mmu, top, MMU_ACCESS_WRITE);
}

/* What is modified is written, as CPUs have it. */
bool native_first_failure(const struct native *n, const struct decode_insn *insn, struct engine_event *event)
{
    C2_PROMISE(insn->insn.operand_count <= ZYDIS_MAX_OPERAND_COUNT);
    uint64_t start;
    const struct guest_va pc = {n->rip};
    const ZydisDecodedOperand *source = decode_compared_source(insn);
    if (source && interpret_address(&start, &n->cpu, pc, &insn->insn, source) && faults_fails(n, source, start, event))
        return true;
    for (int writes = 0; writes < 2; writes++)
        for (unsigned i = 0; i < insn->insn.operand_count; i++)
            if (faults_is_turn(insn, i, writes) &&
                interpret_address(&start, &n->cpu, pc, &insn->insn, &insn->operands[i]) &&
                faults_fails(n, &insn->operands[i], start, event))
                return true;
    return probe_fails(n, insn, event);
}

/* ------------------------------------------------------------------ what a fault is for the guest */

/* Of the x87 unit: a CPU raises it at the next x87 instruction that waits, which is behind us. */
struct engine_event native_x87_trap(void)
{
    return engine_refusal("an x87 instruction before this one has raised a floating-point exception that traps, "
                          "which is not modelled: mask it (feenableexcept), or calculate with SSE");
}

bool native_x87_trapped(const struct native *n)
{
    enum { EXCEPTIONS = 0x3f };
    const uint8_t *image = n->context->fxsave;
    return image[2] & ~image[0] & EXCEPTIONS; /* FSW, FCW */
}

static bool unknown_fault(struct native *n)
{
    c2_fail(&n->failure, C2_ERR_INTERNAL,
            "the host has sent signal %d (exception %llu, address 0x%llx) at 0x%llx, where the guest may go on",
            n->fault.number, (unsigned long long)n->fault.trap, (unsigned long long)n->fault.address,
            (unsigned long long)n->rip);
    return false;
}

static bool memory_fault(struct native *n, const struct decode_insn *insn, struct engine_event *event)
{
    C2_PROMISE(n->fault.trap == TRAP_PAGE || n->fault.trap == TRAP_STACK || n->fault.trap == TRAP_PROTECTION);
    if (native_first_failure(n, insn, event))
        return true;
    if (n->fault.trap == TRAP_PAGE)
        return unknown_fault(n);
    *event = faults_protection_fault(n->fault.trap == TRAP_STACK);
    return true;
}

bool native_fault_event(struct native *n, struct engine_event *event)
{
    C2_PROMISE(n->fault.number != 0 && n->fault.in);
    struct decode_insn insn;
    if (decode_one(&insn, (struct guest_va){n->rip}, ZYDIS_MAX_INSTRUCTION_LENGTH) != DECODE_GOOD)
        return unknown_fault(n);
    switch (n->fault.trap) {
    case TRAP_PAGE:
    case TRAP_STACK:
    case TRAP_PROTECTION:
        return memory_fault(n, &insn, event);
    case TRAP_DIVISION:
        *event = (struct engine_event){.stop = ENGINE_TRAP, .signal = SIGFPE, .code = FPE_INTDIV};
        return true;
    case TRAP_X87:
        *event = native_x87_trap();
        return true;
    case TRAP_SSE:
        *event = (struct engine_event){
            .stop = ENGINE_TRAP, .signal = SIGFPE, .code = interpret_float_code(native_get_mxcsr(n))};
        return true;
    case TRAP_UNDEFINED:
        *event = engine_refusal("the engine does not know this instruction");
        return true;
    default:
        return unknown_fault(n);
    }
}
