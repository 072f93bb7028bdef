/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/interpret_native.h"

#include <asm/prctl.h>
#include <cpuid.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* native_enter loads everything from native_current and jumps to native_target; the code under test comes back to one
 * of the exits, which store everything. Only absolute state lives in memory, so every register is free for the test. */
struct native_state *native_current;
const void *native_target;
uint64_t native_host_stack, native_scratch;
uint8_t native_taken_flag;
uint32_t native_components; /* of registers beyond SSE's that are loaded from native_area and stored there */
uint8_t native_area[8192] __attribute__((aligned(64)));
void native_enter(void);
void native_abandon(void);

__asm__(".text\n"
        ".globl native_enter, native_leave, native_leave_taken, native_abandon\n"
        "native_enter:\n"
        "  push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
        "  sub $16, %rsp\n"
        "  stmxcsr (%rsp); fnstcw 8(%rsp)\n"
        "  mov %rsp, native_host_stack(%rip)\n"
        "  mov native_components(%rip), %eax\n"
        "  xor %edx, %edx\n"
        "  test %eax, %eax; jz 1f\n"
        "  xrstor64 native_area(%rip)\n"
        "1:\n"
        "  mov native_current(%rip), %rax\n"
        "  fxrstor64 144(%rax)\n"
        "  pushq 128(%rax); popfq\n"
        "  mov 8(%rax), %rcx; mov 16(%rax), %rdx; mov 24(%rax), %rbx; mov 32(%rax), %rsp; mov 40(%rax), %rbp\n"
        "  mov 48(%rax), %rsi; mov 56(%rax), %rdi; mov 64(%rax), %r8; mov 72(%rax), %r9; mov 80(%rax), %r10\n"
        "  mov 88(%rax), %r11; mov 96(%rax), %r12; mov 104(%rax), %r13; mov 112(%rax), %r14; mov 120(%rax), %r15\n"
        "  mov (%rax), %rax\n"
        "  jmp *native_target(%rip)\n"
        "native_leave_taken:\n"
        "  movb $1, native_taken_flag(%rip)\n"
        "native_leave:\n"
        "  mov %rax, native_scratch(%rip)\n"
        "  mov native_current(%rip), %rax\n"
        "  mov %rcx, 8(%rax); mov %rdx, 16(%rax); mov %rbx, 24(%rax); mov %rsp, 32(%rax); mov %rbp, 40(%rax)\n"
        "  mov %rsi, 48(%rax); mov %rdi, 56(%rax); mov %r8, 64(%rax); mov %r9, 72(%rax); mov %r10, 80(%rax)\n"
        "  mov %r11, 88(%rax); mov %r12, 96(%rax); mov %r13, 104(%rax); mov %r14, 112(%rax); mov %r15, 120(%rax)\n"
        "  mov native_scratch(%rip), %rcx\n"
        "  mov %rcx, (%rax)\n"
        "  mov native_host_stack(%rip), %rsp\n"
        "  pushfq; popq 128(%rax)\n"
        "  fxsave64 144(%rax)\n"
        "  mov native_components(%rip), %eax\n"
        "  xor %edx, %edx\n"
        "  test %eax, %eax; jz native_abandon\n"
        "  xsave64 native_area(%rip)\n"
        "  vzeroupper\n"
        "native_abandon:\n"
        "  mov native_host_stack(%rip), %rsp\n"
        "  cld\n"
        "  fninit; fldcw 8(%rsp); ldmxcsr (%rsp)\n"
        "  add $16, %rsp\n"
        "  pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
        "  ret\n");

_Static_assert(offsetof(struct native_state, flags) == 128 && offsetof(struct native_state, fxsave) == 144,
               "the assembly knows these offsets");

void native_write_tail(uint8_t *at, const char *leave)
{
    uint64_t target = (uint64_t)(uintptr_t)leave;
    memcpy(at, "\xff\x25\0\0\0\0", 6); /* jmp *0(%rip) */
    memcpy(at + 6, &target, 8);
}

static struct native_end *native_end_now;

/* ------------------------------------------------------------------ registers beyond SSE's */

static struct cpu_wide *native_wide;

static uint8_t *place_of(const struct cpu_component *c)
{
    unsigned bytes, offset, ecx, edx;
    __cpuid_count(0xd, (unsigned)__builtin_ctz(c->bit), bytes, offset, ecx, edx);
    return native_area + offset;
}

/* The area's header has the components that are not as after a reset. */
static uint64_t *in_use(void) { return (uint64_t *)(void *)(native_area + CPU_FXSAVE_BYTES); }

void native_use_wide(struct cpu_wide *wide, uint64_t components)
{
    native_wide = wide;
    native_components = wide ? (uint32_t)components & ~CPU_LEGACY : 0;
}

static void put_wide(void)
{
    memset(native_area, 0, CPU_FXSAVE_BYTES + CPU_XSAVE_HEADER_BYTES);
    *in_use() = native_components;
    for (unsigned i = 0; i < CPU_COMPONENTS; i++)
        if (native_components & cpu_components[i].bit)
            memcpy(place_of(&cpu_components[i]), (const uint8_t *)native_wide + cpu_components[i].at,
                   cpu_components[i].bytes);
}

static void take_wide(void)
{
    for (unsigned i = 0; i < CPU_COMPONENTS; i++) {
        const struct cpu_component *c = &cpu_components[i];
        uint8_t *to = (uint8_t *)native_wide + c->at;
        if (native_components & *in_use() & c->bit)
            memcpy(to, place_of(c), c->bytes);
        else if (native_components & c->bit)
            memset(to, 0, c->bytes);
    }
}

/* Of a signal's frame, which has the format of XSAVE where Linux says so. */
static void keep_frame(const uint8_t *frame)
{
    enum { MAGIC = 0x46505853, AT_MAGIC = 464, AT_BYTES = 480 };
    uint32_t magic, bytes;
    memcpy(&magic, frame + AT_MAGIC, sizeof magic);
    memcpy(&bytes, frame + AT_BYTES, sizeof bytes);
    if (native_components && magic == MAGIC && bytes <= sizeof native_area)
        memcpy(native_area, frame, bytes);
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
    static const int order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                  REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    ucontext_t *uc = context;
    if (!native_end_now) { /* a bug of the test itself */
        static const char text[] = "signal outside the code under test\n";
        ssize_t ignored = write(2, text, sizeof text - 1);
        (void)ignored;
        _exit(99);
    }
    for (int i = 0; i < 16; i++)
        native_current->gpr[i] = (uint64_t)uc->uc_mcontext.gregs[order[i]];
    native_current->flags = (uint64_t)uc->uc_mcontext.gregs[REG_EFL];
    memcpy(native_current->fxsave, uc->uc_mcontext.fpregs, 416);
    keep_frame((const uint8_t *)uc->uc_mcontext.fpregs);
    *native_end_now = (struct native_end){.signal = signal,
                                          .code = info->si_code,
                                          .rip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP],
                                          .address = (uint64_t)(uintptr_t)info->si_addr,
                                          .trap = (unsigned)uc->uc_mcontext.gregs[REG_TRAPNO],
                                          .error = (unsigned)uc->uc_mcontext.gregs[REG_ERR]};
    uc->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)native_abandon;
    uc->uc_mcontext.gregs[REG_RSP] = (greg_t)native_host_stack; /* some hosts cannot return to no address at all */
    uc->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)0x40500;         /* AC, DF, TF */
}

/* At each entry, because cmocka installs handlers of its own before each test, and engines have some, too. */
static const int caught[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
static struct sigaction others[sizeof caught / sizeof caught[0]];

static void catch_signals(void)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++)
        sigaction(caught[i], &action, &others[i]);
}

static void give_signals_back(void)
{
    for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++)
        sigaction(caught[i], &others[i], NULL);
}

static uint64_t own_gs;

/* Engines have one, too. */
static uint64_t exchange_gs(uint64_t base)
{
    uint64_t was = 0;
    syscall(SYS_arch_prctl, ARCH_GET_GS, &was);
    if (was != base)
        syscall(SYS_arch_prctl, ARCH_SET_GS, base);
    return was;
}

void native_start(uint64_t gs_base)
{
    static uint8_t stack[65536];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
    own_gs = gs_base;
}

void native_run(struct native_state *state, const void *code, struct native_end *end)
{
    *end = (struct native_end){0};
    catch_signals();
    native_current = state;
    native_target = code;
    native_taken_flag = 0;
    native_end_now = end;
    if (native_components)
        put_wide();
    const uint64_t others_gs = exchange_gs(own_gs);
    native_enter();
    exchange_gs(others_gs);
    native_end_now = NULL;
    if (native_components)
        take_wide();
    give_signals_back();
    end->taken = native_taken_flag;
}

bool native_has(enum native_feature feature)
{
    unsigned a, b, c1 = 0, d, b7 = 0, c7, c81 = 0;
    __get_cpuid(1, &a, &b, &c1, &d);
    __get_cpuid_count(7, 0, &a, &b7, &c7, &d);
    __get_cpuid(0x80000001, &a, &b, &c81, &d);
    switch (feature) {
    case NATIVE_POPCNT:
        return c1 >> 23 & 1;
    case NATIVE_MOVBE:
        return c1 >> 22 & 1;
    case NATIVE_SSE42:
        return c1 >> 20 & 1;
    case NATIVE_BMI1:
        return b7 >> 3 & 1;
    case NATIVE_BMI2:
        return b7 >> 8 & 1;
    case NATIVE_ADX:
        return b7 >> 19 & 1;
    case NATIVE_LZCNT:
        return c81 >> 5 & 1;
    default:
        return true;
    }
}

const char *native_feature_name(enum native_feature feature)
{
    static const char *const names[] = {"x86-64", "POPCNT", "MOVBE", "BMI1", "BMI2", "SSE4.2", "LZCNT", "ADX"};
    return names[feature];
}
