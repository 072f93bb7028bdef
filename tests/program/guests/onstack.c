/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Arrays on the stack and thread-local variables, each with references that can be counted by hand.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 256
#define NEVER_INLINED __attribute__((noinline))
#define KEEP(array) __asm__ volatile("" : : "r"(array) : "memory")

static _Thread_local long counters[512];
static _Thread_local char flag;
static jmp_buf back;
static volatile sig_atomic_t handled;

/* One write and one read of the first double in each row of 64 bytes. */
static inline double sweep(volatile double *array, int rows)
{
    double sum = 0;
    KEEP(array); /* no compiler may take it apart */
    for (int i = 0; i < rows; i++) {
        array[8 * i] = i;
        sum += array[8 * i];
    }
    return sum;
}

/* Two arrays that are never there at the same time. */
static NEVER_INLINED double scopes(void)
{
    double sum = 0;
    {
        double early[8 * 20];
        sum += sweep(early, 20);
    }
    {
        double late[8 * 30];
        sum += sweep(late, 30);
    }
    return sum;
}

static NEVER_INLINED double deep(int depth)
{
    double level[8 * 10];
    double sum = sweep(level, 10);
    if (depth > 0)
        sum += deep(depth - 1);
    return sum + level[8 * depth];
}

static inline __attribute__((always_inline)) double inlined(void)
{
    double within[8 * 40];
    return sweep(within, 40);
}

static NEVER_INLINED double caller(void) { return inlined() + 1; }

static NEVER_INLINED void leaves(void)
{
    double left[8 * 50];
    sweep(left, 50);
    longjmp(back, 1);
}

static NEVER_INLINED void handler(int signal)
{
    double meanwhile[8 * 12];
    handled = signal + (int)sweep(meanwhile, 12);
}

static NEVER_INLINED double lines(int times)
{
    double columns[ROWS][64];
    double sum = 0;
    for (int t = 0; t < times; t++)
        for (int i = 0; i < ROWS; i++) {
            ((volatile double *)columns[i])[0] = t;
            sum += ((volatile double *)columns[i])[0];
        }
    KEEP(columns);
    return sum;
}

int main(void)
{
    double aligned[8 * 60] __attribute__((aligned(128)));
    double sum = sweep(aligned, 60) + scopes() + caller() + lines(20) + deep(3);
    if (setjmp(back) == 0)
        leaves();
    sum += caller();
    signal(SIGUSR1, handler);
    raise(SIGUSR1);
    for (int i = 0; i < 512; i++)
        ((volatile long *)counters)[i] += i;
    *(volatile char *)&flag = 1;
    printf("%g %d\n", sum + aligned[0], handled != 0);
    return 0;
}
