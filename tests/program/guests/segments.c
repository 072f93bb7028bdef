/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * segments: far returns, IRET, far calls and jumps, each with selectors of the program's own code and of others. A line
 * says where the program was at the signal that followed, with what stack, flags and signal.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define CODE 0x20000000ul
#define TARGET (CODE + 0x100)
#define STACK 0x28008000ul
#define POINTER (STACK + 0x100)
#define OTHER_STACK 0x28009000ul
/* Below where either kernel puts anything of its own. */
#define CODE_SELECTOR 0x33ul
#define STACK_SELECTOR 0x2bul

enum { PAGES = 16 * 4096, TF = 0x100, NT = 0x4000, RF = 0x10000, USUAL = 0x202 };

static sigjmp_buf back;
static uint64_t stack;

static void ended(int signal, siginfo_t *info, void *context)
{
    const greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    const uint64_t *below = (const uint64_t *)STACK;
    printf("signal %d, code %d, address %p, at %#lx, stack %#lx, flags %#lx, below %lx %lx\n", signal, info->si_code,
           info->si_addr, (long)r[REG_RIP], (long)r[REG_RSP], (long)r[REG_EFL] & ~(long)RF, below[-1], below[-2]);
    siglongjmp(back, 1);
}

static void set(uint64_t at, int bytes, int count, const uint64_t *values)
{
    for (int i = 0; i < count; i++)
        memcpy((char *)at + i * bytes, &values[i], (size_t)bytes);
}

static void execute(const char *what, const uint8_t *bytes, int length, uint64_t flags)
{
    printf("%s: ", what);
    memcpy((void *)CODE, bytes, (size_t)length);
    if (sigsetjmp(back, 1) == 0)
        __asm__ volatile("push %0\n\tpopf\n\tmov %1, %%rsp\n\tmov %2, %%rbx\n\tjmp *%3"
                         :
                         : "r"(flags), "r"(stack), "r"(POINTER), "r"(CODE)
                         : "memory", "rbx");
    memset((void *)CODE, 0xcc, 16);
}

static const struct form {
    const char *name;
    int length, bytes; /* of an operand */
    uint8_t code[4];
} forms[] = {{"return", 1, 4, {0xcb}},
             {"return of 64 bits", 2, 8, {0x48, 0xcb}},
             {"return of 16 bits", 2, 2, {0x66, 0xcb}},
             {"return that pops", 3, 4, {0xca, 0x10, 0}},
             {"return of 64 bits that pops", 4, 8, {0x48, 0xca, 8, 0}},
             {"call", 2, 4, {0xff, 0x1b}},
             {"call of 16 bits", 3, 2, {0x66, 0xff, 0x1b}},
             {"jump", 2, 4, {0xff, 0x2b}},
             {"jump of 16 bits", 3, 2, {0x66, 0xff, 0x2b}},
             {"iret", 1, 4, {0xcf}},
             {"iret of 64 bits", 2, 8, {0x48, 0xcf}},
             {"iret of 16 bits", 2, 2, {0x66, 0xcf}}};
enum { FORMS = sizeof forms / sizeof *forms, IRET = FORMS - 2, RETURN = 1 };

static void fill(int bytes, uint64_t target, uint64_t selector, uint64_t flags, uint64_t to, uint64_t segment)
{
    const uint64_t values[] = {target, selector, flags, to, segment};
    memset((void *)(STACK - 64), 0x55, 64);
    set(stack, bytes, 5, values);
    set(POINTER, bytes, 1, values);
    set(POINTER + (uint64_t)bytes, 2, 1, &selector);
}

static void selectors(const struct form *form)
{
    static const uint64_t list[] = {CODE_SELECTOR, 0x30, 0x31, 0x32, 0, 3, 8, 0x10, 0x13, 0x2b, 0x37, 0x3b, 0x63, 0x7b,
                                    0x1033, 0xffff};
    for (unsigned i = 0; i < sizeof list / sizeof *list; i++) {
        char what[64];
        fill(form->bytes, TARGET, list[i], 0x3ad5, OTHER_STACK, STACK_SELECTOR);
        snprintf(what, sizeof what, "%s, selector %#lx", form->name, list[i]);
        execute(what, form->code, form->length, USUAL);
    }
}

static void irets(void)
{
    static const struct {
        const char *name;
        uint64_t target, flags, stack, segment, before;
    } list[] = {{"a stack of another privilege", TARGET, USUAL, OTHER_STACK, 0x2a, USUAL},
                {"no stack", TARGET, USUAL, OTHER_STACK, 0, USUAL},
                {"code as stack", TARGET, USUAL, OTHER_STACK, CODE_SELECTOR, USUAL},
                {"a stack that only reads", TARGET, USUAL, OTHER_STACK, 0x7b, USUAL},
                {"a stack that nobody has", TARGET, USUAL, OTHER_STACK, 0x102b, USUAL},
                {"NT", TARGET, USUAL | NT, OTHER_STACK, STACK_SELECTOR, USUAL},
                {"NT before", TARGET, USUAL, OTHER_STACK, STACK_SELECTOR, USUAL | NT},
                {"TF", TARGET, USUAL | TF, OTHER_STACK, STACK_SELECTOR, USUAL},
                {"high flags", TARGET, 0x7fff0000ff000202, OTHER_STACK, STACK_SELECTOR, USUAL},
                {"no address", 0x800000000000, USUAL, OTHER_STACK, STACK_SELECTOR, USUAL},
                {"nothing there", 0x60000000, USUAL, OTHER_STACK, STACK_SELECTOR, USUAL},
                {"no address of a stack", TARGET, USUAL, 0x800000000000, STACK_SELECTOR, USUAL}};
    for (unsigned i = 0; i < sizeof list / sizeof *list; i++) {
        fill(8, list[i].target, CODE_SELECTOR, list[i].flags, list[i].stack, list[i].segment);
        execute(list[i].name, forms[IRET].code, 2, list[i].before);
    }
}

static void edges(void)
{
    fill(8, 0x800000000000, CODE_SELECTOR, 0, 0, 0);
    execute("return to no address", forms[RETURN].code, 2, USUAL);
    fill(8, 0x60000000, CODE_SELECTOR, 0, 0, 0);
    execute("return to nothing", forms[RETURN].code, 2, USUAL);
    fill(8, TARGET, 0x7654321012340033, 0, 0, 0);
    execute("a selector with more above it", forms[RETURN].code, 2, USUAL);
    stack = STACK - 0x8000 + PAGES - 16;
    set(stack, 8, 2, (const uint64_t[]){TARGET, CODE_SELECTOR});
    execute("return at the end of the stack", forms[RETURN].code, 2, USUAL);
    execute("iret at the end of the stack", forms[IRET].code, 2, USUAL);
    stack += 8;
    execute("return beyond the end of the stack", forms[RETURN].code, 2, USUAL);
    stack = STACK - 0x8000;
    fill(4, TARGET, CODE_SELECTOR, 0, 0, 0);
    execute("a call without room", forms[5].code, 2, USUAL);
}

int main(void)
{
    static char of_signals[1 << 16];
    static const int signals[] = {SIGSEGV, SIGTRAP, SIGBUS, SIGILL};
    const struct sigaction action = {.sa_sigaction = ended, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaltstack(&(stack_t){.ss_sp = of_signals, .ss_size = sizeof of_signals}, NULL);
    for (int i = 0; i < 4; i++)
        sigaction(signals[i], &action, NULL);
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    mmap((void *)CODE, PAGES, PROT_READ | PROT_WRITE | PROT_EXEC, flags, -1, 0);
    mmap((void *)(STACK - 0x8000), PAGES, PROT_READ | PROT_WRITE, flags, -1, 0);
    memset((void *)CODE, 0xcc, PAGES);
    stack = STACK;
    for (int i = 0; i < FORMS; i++)
        selectors(&forms[i]);
    irets();
    edges();
    return 0;
}
