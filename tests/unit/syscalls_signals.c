/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Handlers: the frame as the host's own headers describe it, there and back.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

#include "syscalls_guest.h"

#define HANDLER 0x401000
#define RESTORER_ADDRESS 0x402000
#define SA_RESTORER_FLAG 0x04000000
#define STACK (GUEST_ARENA + GUEST_ARENA_BYTES / 2)

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

static void act(int signal, uint64_t handler, uint64_t flags, uint64_t mask)
{
    uint64_t *action = guest_take(32);
    action[0] = handler;
    action[1] = flags | SA_RESTORER_FLAG;
    action[2] = RESTORER_ADDRESS;
    action[3] = mask;
    assert_call(0, rt_sigaction, signal, action, NULL, 8);
}

static uint64_t bit(int signal) { return (uint64_t)1 << (signal - 1); }

static uint64_t blocked(void)
{
    uint64_t *set = guest_take(8);
    assert_call(0, rt_sigprocmask, SIG_BLOCK, NULL, set, 8);
    return *set;
}

/* Every register a different value. */
static void fill_cpu(void)
{
    for (int i = 0; i < 16; i++)
        g.cpu.gpr[i] = 0x1111111111111111ull * (uint64_t)i + 7;
    g.cpu.gpr[RSP] = STACK + 3; /* odd on purpose */
    g.cpu.rip = 0x400123;
    g.cpu.rflags = 0x246 | 0x400; /* IF PF ZF and the direction flag */
    g.cpu.fs_base = 0x1000;
    for (int i = 0; i < 512; i++)
        g.cpu.fxsave[i] = (uint8_t)i;
    const uint32_t mxcsr = 0x1fa5, mask = 0xffff;
    memcpy(g.cpu.fxsave + 24, &mxcsr, 4);
    memcpy(g.cpu.fxsave + 28, &mask, 4);
}

static void assert_same_cpu(const struct syscalls_cpu *a, const struct syscalls_cpu *b)
{
    assert_memory_equal(a->gpr, b->gpr, sizeof a->gpr);
    assert_int_equal(a->rip, b->rip);
    assert_int_equal(a->rflags, b->rflags);
    assert_int_equal(a->fs_base, b->fs_base);
    assert_memory_equal(a->fxsave, b->fxsave, 512);
}

/* What RET does at the end of the handler, and the restorer's system call. */
static void return_from_handler(void)
{
    assert_int_equal(*(uint64_t *)(uintptr_t)g.cpu.gpr[RSP], RESTORER_ADDRESS);
    g.cpu.gpr[RSP] += 8;
    CALL(rt_sigreturn);
    assert_int_equal(g.result.action, SYSCALLS_RESTORE);
}

static ucontext_t *context_of(void) { return (ucontext_t *)(uintptr_t)g.cpu.gpr[RDX]; }

static void a_fault_reaches_its_handler_and_comes_back(void **state)
{
    (void)state;
    act(SIGSEGV, HANDLER, SA_SIGINFO, bit(SIGUSR2));
    fill_cpu();
    struct syscalls_cpu before = g.cpu;
    assert_int_equal(guest_fault(SIGSEGV, SEGV_ACCERR, 0xdead000), SYSCALLS_HANDLED);

    assert_int_equal(g.cpu.rip, HANDLER);
    assert_int_equal(g.cpu.gpr[RDI], SIGSEGV);
    assert_int_equal(g.cpu.gpr[RAX], 0);
    assert_int_equal(g.cpu.rflags, 0x246); /* no direction flag */
    assert_int_equal((g.cpu.gpr[RSP] + 8) % 16, 0);
    const siginfo_t *info = (siginfo_t *)(uintptr_t)g.cpu.gpr[RSI];
    assert_int_equal(info->si_signo, SIGSEGV);
    assert_int_equal(info->si_code, SEGV_ACCERR);
    assert_ptr_equal(info->si_addr, (void *)0xdead000);

    const ucontext_t *context = context_of();
    const greg_t *r = context->uc_mcontext.gregs;
    assert_int_equal(context->uc_flags, 6);
    assert_null(context->uc_link);
    assert_int_equal(context->uc_stack.ss_flags, SS_DISABLE);
    assert_int_equal(r[REG_RIP], before.rip);
    assert_int_equal(r[REG_RSP], before.gpr[RSP]);
    assert_int_equal(r[REG_R15], before.gpr[15]);
    assert_int_equal(r[REG_RBX], before.gpr[RBX]);
    assert_int_equal(r[REG_EFL], before.rflags);
    assert_int_equal(r[REG_CSGSFS], 0x002b000000000033); /* ss, fs, gs, cs */
    assert_int_equal(r[REG_TRAPNO], 14);
    assert_int_equal(r[REG_ERR], 5);
    assert_int_equal(r[REG_CR2], 0xdead000);
    assert_int_equal(*(uint64_t *)&context->uc_sigmask, 0);
    uint64_t fpstate = (uintptr_t)context->uc_mcontext.fpregs;
    assert_int_equal(fpstate % 64, 0);
    assert_memory_equal((void *)fpstate, before.fxsave, 512);
    assert_true(fpstate + 512 <= before.gpr[RSP] - 128); /* above it only the red zone */
    assert_true(g.cpu.gpr[RSP] + 440 <= fpstate);

    uint16_t control;
    uint32_t mxcsr;
    memcpy(&control, g.cpu.fxsave, 2);
    memcpy(&mxcsr, g.cpu.fxsave + 24, 4);
    assert_int_equal(control, 0x37f);
    assert_int_equal(mxcsr, 0x1f80);
    assert_int_equal(blocked(), bit(SIGSEGV) | bit(SIGUSR2));
    g.cpu.gpr[RDI] = g.cpu.gpr[RBX] = 0; /* what the handler does to registers does not matter */
    return_from_handler();
    assert_same_cpu(&g.cpu, &before);
    assert_int_equal(blocked(), 0);
}

static void the_frame_lies_where_the_headers_say(void **state)
{
    (void)state;
    act(SIGUSR1, HANDLER, 0, 0);
    fill_cpu();
    g.cpu.gpr[RSP] = STACK;
    assert_int_equal(syscalls_deliver(g.kernel, &g.cpu, SIGUSR1), SYSCALLS_HANDLED);
    /* STACK - 128 - 512, at a multiple of 64; 440 below it, 8 below a multiple of 16 */
    uint64_t fpstate = STACK - 640, frame = ((fpstate - 440) & ~15ull) - 8;
    assert_int_equal(g.cpu.gpr[RSP], frame);
    assert_int_equal(g.cpu.gpr[RDX], frame + 8);
    assert_int_equal(g.cpu.gpr[RSI], frame + 8 + 304);
    assert_int_equal((uintptr_t)context_of()->uc_mcontext.fpregs, fpstate);
    assert_int_equal(offsetof(ucontext_t, uc_sigmask), 296); /* 8 flags, 8 link, 24 stack, 256 registers */
    const siginfo_t *info = (siginfo_t *)(uintptr_t)g.cpu.gpr[RSI];
    assert_int_equal(info->si_code, SI_USER);
    assert_int_equal(info->si_pid, 1000);
    assert_int_equal(info->si_uid, 1000);
}

static void a_handler_may_change_what_comes_back(void **state)
{
    (void)state;
    act(SIGILL, HANDLER, SA_SIGINFO, 0);
    fill_cpu();
    assert_int_equal(guest_fault(SIGILL, ILL_ILLOPN, 0x400123), SYSCALLS_HANDLED);
    ucontext_t *context = context_of();
    context->uc_mcontext.gregs[REG_RIP] += 2;
    context->uc_mcontext.gregs[REG_RAX] = 99;
    context->uc_mcontext.gregs[REG_EFL] = -1; /* privileged bits stay as they are */
    context->uc_mcontext.fpregs->mxcsr = 0xffffffff;
    *(uint64_t *)&context->uc_sigmask = UINT64_MAX;
    return_from_handler();
    assert_int_equal(g.cpu.rip, 0x400125);
    assert_int_equal(g.cpu.gpr[RAX], 99);
    assert_int_equal(g.cpu.rflags, 0x246 | 0x50dd5);
    uint32_t mxcsr;
    memcpy(&mxcsr, g.cpu.fxsave + 24, 4);
    assert_int_equal(mxcsr, 0xffff); /* reserved bits would fault */
    assert_int_equal(blocked(), ~(bit(SIGKILL) | bit(SIGSTOP)));
    /* a frame without floating-point state gives the initial one */
    *(uint64_t *)guest_take(8) = 0;
    assert_call(0, rt_sigprocmask, SIG_SETMASK, guest_take(8), NULL, 8);
    assert_int_equal(guest_fault(SIGILL, ILL_ILLOPN, 0x400123), SYSCALLS_HANDLED);
    context_of()->uc_mcontext.fpregs = NULL;
    return_from_handler();
    memcpy(&mxcsr, g.cpu.fxsave + 24, 4);
    assert_int_equal(mxcsr, 0x1f80);
}

/* ------------------------------------------------------------------ with XSAVE: offsets and words of Linux's ABI */

#define AREA_BYTES 2688u

/* A processor with AVX-512; some of its components as after a reset. */
static void fill_wide(uint64_t used)
{
    struct c2_rng rng;
    c2_rng_init(&rng, used, "wide");
    fill_cpu();
    g.cpu.xcr0 = 0xe7;
    c2_rng_fill(&rng, &g.cpu.wide, sizeof g.cpu.wide);
    if (!(used & 4))
        memset(g.cpu.wide.ymm_high, 0, sizeof g.cpu.wide.ymm_high);
    if (!(used & 0x20))
        memset(g.cpu.wide.opmask, 0, sizeof g.cpu.wide.opmask);
    if (!(used & 0x40))
        memset(g.cpu.wide.zmm_high, 0, sizeof g.cpu.wide.zmm_high);
    if (!(used & 0x80))
        memset(g.cpu.wide.zmm_rest, 0, sizeof g.cpu.wide.zmm_rest);
}

static uint8_t *area_of(void) { return (uint8_t *)context_of()->uc_mcontext.fpregs; }
static uint64_t word_at(const uint8_t *area, size_t at, size_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, area + at, bytes);
    return value;
}

static void to_a_handler_with_wide_registers(uint64_t used)
{
    fill_wide(used);
    assert_int_equal(guest_fault(SIGILL, ILL_ILLOPN, 0x400123), SYSCALLS_HANDLED);
}

static void wide_registers_lie_where_the_abi_says(void **state)
{
    (void)state;
    act(SIGILL, HANDLER, SA_SIGINFO, 0);
    for (uint64_t used = 0; used < 0x100; used += used == 0 ? 4 : 0x20) {
        to_a_handler_with_wide_registers(used & 0xe4);
        const struct cpu_wide zeros = {.opmask = {0}};
        uint8_t *area = area_of();
        assert_int_equal((uintptr_t)area % 64, 0);
        assert_int_equal(context_of()->uc_flags, 7);
        assert_int_equal(word_at(area, 464, 4), 0x46505853);
        assert_int_equal(word_at(area, 468, 4), AREA_BYTES + 4);
        assert_int_equal(word_at(area, 472, 8), 0xe7);
        assert_int_equal(word_at(area, 480, 4), AREA_BYTES);
        assert_int_equal(word_at(area, AREA_BYTES, 4), 0x46505845);
        assert_int_equal(word_at(area, 512, 8), (used & 0xe4) | 3);
        for (unsigned i = 520; i < 576; i++)
            assert_int_equal(area[i], 0);
        assert_memory_equal(&g.cpu.wide, &zeros, sizeof zeros); /* what a handler starts with */
        struct syscalls_cpu before = g.cpu;
        fill_wide(used & 0xe4);
        assert_memory_equal(area + 576, g.cpu.wide.ymm_high, 256);
        assert_memory_equal(area + 1088, g.cpu.wide.opmask, 64);
        assert_memory_equal(area + 1152, g.cpu.wide.zmm_high, 512);
        assert_memory_equal(area + 1664, g.cpu.wide.zmm_rest, 1024);
        const struct cpu_wide wide = g.cpu.wide;
        g.cpu = before;
        memset(&g.cpu.wide, 0xcc, sizeof g.cpu.wide); /* what the handler does to them does not matter */
        return_from_handler();
        assert_memory_equal(&g.cpu.wide, &wide, sizeof wide);
    }
}

static bool returns_from(void (*change)(uint8_t *area))
{
    to_a_handler_with_wide_registers(0xe4);
    change(area_of());
    assert_int_equal(*(uint64_t *)(uintptr_t)g.cpu.gpr[RSP], RESTORER_ADDRESS);
    g.cpu.gpr[RSP] += 8;
    memset(&g.cpu.wide, 0xcc, sizeof g.cpu.wide);
    CALL(rt_sigreturn);
    return g.result.signal == 0;
}

static void assert_wide_is_reset(uint64_t components)
{
    for (unsigned i = 0; i < CPU_COMPONENTS; i++) {
        const uint8_t *at = (const uint8_t *)&g.cpu.wide + cpu_components[i].at;
        const bool zero = at[0] == 0 && memcmp(at, at + 1, cpu_components[i].bytes - 1) == 0;
        assert_int_equal(zero, (components & cpu_components[i].bit) != 0);
    }
}

static void put_word(uint8_t *area, size_t at, uint64_t value, size_t bytes) { memcpy(area + at, &value, bytes); }
static void another_value(uint8_t *area) { area[1664 + 5 * 64] ^= 0xff; }
static void no_ymm(uint8_t *area) { put_word(area, 512, 0xe3, 8); }
static void no_sse(uint8_t *area) { put_word(area, 512, 0xe4, 8); }
static void not_asked_for(uint8_t *area) { put_word(area, 472, 7, 8); }
static void without_avx512(uint8_t *area)
{
    put_word(area, 472, 7, 8);
    put_word(area, 480, 832, 4);
    put_word(area, 832, 0x46505845, 4);
}
static void first_magic(uint8_t *area) { area[464]++; }
static void second_magic(uint8_t *area) { area[AREA_BYTES]++; }
static void too_large(uint8_t *area) { put_word(area, 480, AREA_BYTES + 64, 4); }
static void unknown_component(uint8_t *area) { put_word(area, 512, 0x2e7, 8); }
static void compacted(uint8_t *area) { put_word(area, 520, (uint64_t)1 << 63, 8); }
static void reserved_header(uint8_t *area) { area[535] = 1; }

static void a_handler_may_change_wide_registers(void **state)
{
    static void (*const fxsave_alone[])(uint8_t *) = {first_magic, second_magic, too_large};
    static void (*const refused[])(uint8_t *) = {unknown_component, compacted, reserved_header};
    (void)state;
    act(SIGILL, HANDLER, SA_SIGINFO, 0);
    assert_true(returns_from(another_value));
    const uint8_t changed = g.cpu.wide.zmm_rest[5][0];
    fill_wide(0xe4);
    assert_int_equal(changed, g.cpu.wide.zmm_rest[5][0] ^ 0xff);
    assert_true(returns_from(no_ymm));
    assert_wide_is_reset(4);
    assert_true(returns_from(not_asked_for));
    assert_wide_is_reset(0xe0);
    assert_true(returns_from(without_avx512));
    assert_wide_is_reset(0xe0);
    assert_true(returns_from(no_sse)); /* registers 0, control word 37Fh; MXCSR is loaded */
    assert_wide_is_reset(0);
    assert_int_equal(word_at(g.cpu.fxsave, 0, 2), 0x37f);
    assert_int_equal(word_at(g.cpu.fxsave, 24, 4), 0x1fa5);
    assert_int_equal(word_at(g.cpu.fxsave, 160, 8), 0);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(returns_from(fxsave_alone[i]));
        assert_wide_is_reset(0xe4);
        assert_int_equal(word_at(g.cpu.fxsave, 160, 8), 0xa7a6a5a4a3a2a1a0);
    }
    for (unsigned i = 0; i < 3; i++) {
        assert_false(returns_from(refused[i]));
        assert_int_equal(g.result.signal, SIGSEGV);
        assert_wide_is_reset(0xe4);
    }
}

static void flags_of_an_action_count(void **state)
{
    (void)state;
    fill_cpu();
    struct syscalls_cpu before = g.cpu;
    act(SIGUSR1, HANDLER, SA_NODEFER | SA_RESETHAND, 0);
    assert_int_equal(syscalls_deliver(g.kernel, &g.cpu, SIGUSR1), SYSCALLS_HANDLED);
    assert_int_equal(blocked(), 0);
    assert_int_equal(syscalls_deliver(g.kernel, &g.cpu, SIGUSR1), SYSCALLS_KILLED); /* default again */
    /* without SA_RESTORER there is no way back: Linux kills */
    uint64_t *action = guest_take(32);
    action[0] = HANDLER;
    assert_call(0, rt_sigaction, SIGUSR2, action, NULL, 8);
    g.cpu = before;
    assert_int_equal(syscalls_deliver(g.kernel, &g.cpu, SIGUSR2), SYSCALLS_KILLED);
    assert_string_equal(guest_said(g.complaints), "c2emu: the handler of SIGUSR2 cannot be called: it was installed "
                                                  "without SA_RESTORER\n");
}

static void the_alternate_stack_is_used_once(void **state)
{
    (void)state;
    uint64_t base = GUEST_ARENA + 16 * C2_PAGE_BYTES;
    stack_t *stack = guest_take(sizeof *stack);
    *stack = (stack_t){.ss_sp = (void *)(uintptr_t)base, .ss_size = 8192};
    act(SIGUSR1, HANDLER, SA_ONSTACK, 0);
    act(SIGUSR2, HANDLER, SA_ONSTACK, 0);
    fill_cpu();
    assert_call(0, sigaltstack, stack, NULL);
    fill_cpu();
    struct syscalls_cpu before = g.cpu;
    assert_int_equal(syscalls_deliver(g.kernel, &g.cpu, SIGUSR1), SYSCALLS_HANDLED);
    uint64_t first = g.cpu.gpr[RSP];
    assert_int_equal((uintptr_t)context_of()->uc_mcontext.fpregs, base + 8192 - 512); /* no red zone at its top */
    assert_ptr_equal(context_of()->uc_stack.ss_sp, base);
    assert_int_equal(syscalls_deliver(g.kernel, &g.cpu, SIGUSR2), SYSCALLS_HANDLED);
    assert_true(g.cpu.gpr[RSP] < first - 128 && g.cpu.gpr[RSP] > base); /* on top of the first */
    return_from_handler();
    assert_int_equal(g.cpu.gpr[RSP], first);
    return_from_handler();
    assert_same_cpu(&g.cpu, &before);
    /* a stack that is full kills */
    stack->ss_size = 2048;
    assert_call(0, sigaltstack, stack, NULL);
    act(SIGUSR1, HANDLER, SA_ONSTACK | SA_NODEFER, 0);
    fill_cpu();
    assert_int_equal(syscalls_deliver(g.kernel, &g.cpu, SIGUSR1), SYSCALLS_HANDLED);
    assert_int_equal(syscalls_deliver(g.kernel, &g.cpu, SIGUSR1), SYSCALLS_KILLED);
    assert_string_equal(guest_said(g.complaints), "c2emu: the handler of SIGUSR1 cannot be called: the alternate stack "
                                                  "is full\n");
}

static void a_stack_that_cannot_be_written_kills(void **state)
{
    (void)state;
    act(SIGSEGV, HANDLER, 0, 0);
    fill_cpu();
    g.cpu.gpr[RSP] = GUEST_BAD + 4096;
    struct syscalls_cpu before = g.cpu;
    assert_int_equal(guest_fault(SIGSEGV, SEGV_MAPERR, 0), SYSCALLS_KILLED);
    assert_same_cpu(&g.cpu, &before);
    /* 0x1000 - 128 - 512 - 440 = 0xbc8, at 8 below a multiple of 16 */
    assert_string_equal(guest_said(g.complaints), "c2emu: the handler of SIGSEGV cannot be called: its stack at "
                                                  "0x30000000bb8 cannot be written\n");
    g.cpu.gpr[RSP] = GUEST_READONLY + 4096;
    assert_int_equal(guest_fault(SIGSEGV, SEGV_MAPERR, 0), SYSCALLS_KILLED);
}

static void default_actions_are_those_of_linux(void **state)
{
    (void)state;
    static const int ignored[] = {SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};
    for (int signal = 1; signal <= 64; signal++) {
        bool dies = true;
        for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
            dies &= signal != ignored[i];
        assert_int_equal(syscalls_deliver(g.kernel, &g.cpu, signal), dies ? SYSCALLS_KILLED : SYSCALLS_IGNORED);
    }
}

static void a_fault_cannot_be_blocked_or_ignored(void **state)
{
    (void)state;
    uint64_t *set = guest_take(8);
    act(SIGSEGV, HANDLER, 0, 0);
    *set = bit(SIGSEGV) | bit(SIGUSR1);
    assert_call(0, rt_sigprocmask, SIG_SETMASK, set, NULL, 8);
    fill_cpu();
    assert_int_equal(guest_fault(SIGSEGV, SEGV_MAPERR, 0), SYSCALLS_KILLED);
    act(SIGFPE, 1 /* SIG_IGN */, 0, 0);
    assert_int_equal(guest_fault(SIGFPE, FPE_INTDIV, 0), SYSCALLS_KILLED);
    assert_int_equal(syscalls_deliver(g.kernel, &g.cpu, SIGFPE), SYSCALLS_IGNORED);
    /* one that is sent waits until it is unblocked */
    act(SIGUSR1, HANDLER, 0, 0);
    assert_int_equal(syscalls_deliver(g.kernel, &g.cpu, SIGUSR1), SYSCALLS_IGNORED);
    assert_int_equal(syscalls_pending(g.kernel), 0);
    *set = 0;
    assert_call(0, rt_sigprocmask, SIG_SETMASK, set, NULL, 8);
    assert_int_equal(syscalls_pending(g.kernel), SIGUSR1);
    fill_cpu();
    assert_int_equal(syscalls_deliver(g.kernel, &g.cpu, SIGUSR1), SYSCALLS_HANDLED);
    assert_int_equal(syscalls_pending(g.kernel), 0);
}

static void sigsuspend_comes_back_to_the_old_mask(void **state)
{
    (void)state;
    uint64_t *set = guest_take(8);
    act(SIGUSR1, HANDLER, 0, 0);
    *set = bit(SIGUSR1) | bit(SIGUSR2);
    assert_call(0, rt_sigprocmask, SIG_SETMASK, set, NULL, 8);
    fill_cpu();
    assert_call(0, tgkill, 1000, 1000, SIGUSR1);
    *set = bit(SIGHUP);
    assert_call(-EINTR, rt_sigsuspend, set, 8);
    assert_int_equal(syscalls_pending(g.kernel), SIGUSR1);
    assert_int_equal(syscalls_deliver(g.kernel, &g.cpu, SIGUSR1), SYSCALLS_HANDLED);
    assert_int_equal(((siginfo_t *)(uintptr_t)g.cpu.gpr[RSI])->si_code, SI_TKILL);
    assert_int_equal(*(uint64_t *)&context_of()->uc_sigmask, bit(SIGUSR1) | bit(SIGUSR2));
    assert_int_equal(blocked(), bit(SIGHUP) | bit(SIGUSR1)); /* while the handler runs */
    act(SIGTERM, HANDLER, 0, 0);
    struct syscalls_cpu first = g.cpu;
    assert_int_equal(syscalls_deliver(g.kernel, &g.cpu, SIGTERM), SYSCALLS_HANDLED);
    assert_int_equal(*(uint64_t *)&context_of()->uc_sigmask, bit(SIGHUP) | bit(SIGUSR1)); /* comes back to the first */
    return_from_handler();
    assert_same_cpu(&g.cpu, &first);
    return_from_handler();
    assert_int_equal(blocked(), bit(SIGUSR1) | bit(SIGUSR2));
}

static void an_ignored_signal_is_never_pending(void **state)
{
    (void)state;
    uint64_t *set = guest_take(8);
    *set = bit(SIGUSR1) | bit(SIGCHLD);
    assert_call(0, rt_sigprocmask, SIG_SETMASK, set, NULL, 8);
    assert_call(0, kill, 1000, SIGUSR1);
    assert_call(0, kill, 1000, SIGCHLD); /* blocked: it may get a handler yet */
    act(SIGUSR1, 1 /* SIG_IGN */, 0, 0); /* drops it */
    *set = 0;
    assert_call(0, rt_sigprocmask, SIG_SETMASK, set, NULL, 8);
    assert_int_equal(syscalls_pending(g.kernel), 0);
    assert_call(0, rt_sigprocmask, SIG_SETMASK, set, NULL, 8);
    act(SIGCHLD, HANDLER, 0, 0);
    assert_int_equal(syscalls_pending(g.kernel), 0); /* gone for good */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, guest_setup, guest_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_fault_reaches_its_handler_and_comes_back), TEST(the_frame_lies_where_the_headers_say),
        TEST(a_handler_may_change_what_comes_back),       TEST(wide_registers_lie_where_the_abi_says),
        TEST(a_handler_may_change_wide_registers),        TEST(flags_of_an_action_count),
        TEST(the_alternate_stack_is_used_once),           TEST(a_stack_that_cannot_be_written_kills),
        TEST(default_actions_are_those_of_linux),         TEST(a_fault_cannot_be_blocked_or_ignored),
        TEST(sigsuspend_comes_back_to_the_old_mask),      TEST(an_ignored_signal_is_never_pending),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
