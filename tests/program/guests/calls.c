/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Calls whose numbers are known: calls.py says which. Each function is one of its own in the machine code as well.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#ifdef __clang__
#define ALONE __attribute__((noinline, disable_tail_calls))
#define TAILS __attribute__((noinline))
#define JUMP __attribute__((musttail)) return
#else
#define ALONE __attribute__((noinline, noclone, optimize("no-ipa-cp,no-ipa-sra,no-ipa-icf,no-optimize-sibling-calls")))
#define TAILS __attribute__((noinline, noclone, optimize("no-ipa-cp,no-ipa-sra,no-ipa-icf,optimize-sibling-calls")))
#define JUMP
#endif

volatile unsigned sink;
static jmp_buf back;
static ucontext_t outside, inside;
static char other_stack[65536];

ALONE void leaf(void) { sink++; }

/* ---- recursion: fib(n) is called 2 F(n+1) - 1 times, all but one of them by itself */
ALONE unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

/* ---- mutual recursion */
unsigned is_odd(unsigned n);
ALONE unsigned is_even(unsigned n) { sink++; return n == 0 ? 1 : is_odd(n - 1) & 1; }
ALONE unsigned is_odd(unsigned n) { sink++; return n == 0 ? 0 : is_even(n - 1) & 1; }

/* ---- tail calls: last() is jumped to */
ALONE void last(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        leaf();
}
TAILS void middle(unsigned n) { sink += n; JUMP last(n); }
TAILS void first(unsigned n) { sink += n; JUMP middle(n + 1); }
/* a ring of tail calls, entered once for each round */
TAILS void ring_b(unsigned n);
TAILS void ring_a(unsigned n) { sink++; if (n != 0) JUMP ring_b(n - 1); }
TAILS void ring_b(unsigned n) { sink++; if (n != 0) JUMP ring_a(n - 1); }

/* ---- longjmp over deep(), three frames of it */
ALONE void deep(unsigned n)
{
    if (n == 0)
        longjmp(back, 1);
    deep(n - 1);
    sink++;
}
ALONE void jumper(void)
{
    if (setjmp(back) == 0)
        deep(2);
    leaf();
}

/* ---- a signal's handler */
ALONE static void handler(int signal_number) { (void)signal_number; leaf(); leaf(); }
ALONE void signaller(void) { raise(SIGUSR1); leaf(); }

/* ---- another stack */
static void coroutine(void)
{
    for (unsigned i = 0; i < 3; i++) {
        leaf();
        swapcontext(&inside, &outside);
    }
}
ALONE void switcher(void)
{
    getcontext(&inside);
    inside.uc_stack.ss_sp = other_stack;
    inside.uc_stack.ss_size = sizeof other_stack;
    inside.uc_link = &outside;
    makecontext(&inside, coroutine, 0);
    for (unsigned i = 0; i < 3; i++)
        swapcontext(&outside, &inside);
}

/* ---- inlined code of another file */
#include "calls_inline.h"
ALONE unsigned summing(void)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < 10; i++)
        sum += inlined(i);
    return sum;
}

/* ---- through the PLT, where there is one: strtoul is bound at its first call, sort calls back */
ALONE int compare(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }
ALONE void library(void)
{
    char text[] = "81726354";
    for (unsigned i = 0; i < 4; i++)
        sink += (unsigned)strtoul(text, NULL, 10);
    qsort(text, 2, 1, compare);
}

int main(int argc, char **argv)
{
    fib(10);
    is_even(9);
    for (unsigned i = 0; i < 5; i++)
        first(i);
    ring_a(1000);
    for (unsigned i = 0; i < 4; i++)
        jumper();
    signal(SIGUSR1, handler);
    signaller();
    signaller();
    if (argc == 1) /* valgrind gets lost here */
        switcher();
    sink += summing();
    library();
    return argc > 5 ? argv[0][0] : 0;
}
