/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Loops whose entries and rounds are known: behind each stands how often it is entered, and its rounds altogether. Every
 * loop of this file has such a comment, so loops elsewhere are none. volatile limits, and bodies that no compiler sees
 * through, keep the loops as they are written.
 */
#include <setjmp.h>
#include <signal.h>

#define NEVER __attribute__((noinline, noclone))
#define BODY __asm__ volatile("" ::: "memory")

static volatile long zero;
static volatile long done;

NEVER static void nested(volatile long rows, volatile long columns)
{
    for (long i = 0; i < rows; i++) {      /* loop 1 7 */
        for (long k = 0; k < columns; k++) /* loop 7 77 */
            done++;
        BODY;
    }
}

NEVER static void triangle(volatile long n)
{
    for (long i = 0; i < n; i++)     /* loop 1 10 */
        for (long k = 0; k <= i + zero; k++) /* loop 10 55 */
            done++;
}

NEVER static void skips(volatile long n)
{
    for (long i = 0; i < n; i++) { /* loop 1 20 */
        if ((i + zero) % 3 == 0)
            continue;
        done++;
        if ((i + zero) % 5 == 1)
            continue;
        BODY;
    }
}

NEVER static void leaves_early(volatile long n)
{
    long i = 0;
    do {
        BODY;
        if (i + zero == 7) /* loop 1 7: what leaves in the midst is no round */
            break;
        done++;
    } while (++i < n);
}

NEVER static void never_entered(volatile long n)
{
    for (long i = 0; i < n; i++) /* loop 0 0 */
        done++;
}

/* Each call but those with 0 has a loop of two rounds that calls itself: 1 + 2 + 4 of them, and their calls are no
 * rounds of the loop that they are made from. */
NEVER static void recursive(long depth)
{
    if (depth == zero)
        return;
    for (long i = 0; i < 2 + zero; i++) { /* loop 7 14 */
        recursive(depth - 1);
        done++;
    }
}

NEVER static void odd(long n);
NEVER static void even(long n)
{
    done++;
    BODY;
    if (n != 0)
        odd(n - 1); /* a jump, where compilers make one */
}
NEVER static void odd(long n)
{
    BODY;
    if (n != 0)
        even(n - 1);
}

/* Entered at its beginning and in its midst: twice, and the midst ran 4 + 4 times, the beginning once less where it was
 * not entered. */
NEVER static void two_ways(volatile long n, long midst)
{
    if (midst != zero)
        goto midst;
again:
    done++; /* irreducible 2 7 */
    BODY;
midst:
    BODY;
    if (--n > zero)
        goto again;
}

static inline long inlined(volatile long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++) { /* loop 2 11 */
        sum += zero;
        BODY;
    }
    return sum;
}

static void handler(int number)
{
    for (long i = 0; i < 3 + zero; i++) /* loop 4 12 */
        done += number != 0;
}

NEVER static void interrupted(volatile long n)
{
    for (long i = 0; i < n; i++) { /* loop 1 4 */
        raise(SIGUSR1);
        done++;
    }
}

static jmp_buf back;
NEVER static void jumps(long i)
{
    if (i + zero >= 0)
        longjmp(back, 1);
}
NEVER static void far(volatile long n)
{
    for (volatile long i = 0; i < n; i++) /* loop 1 6 */
        if (setjmp(back) == 0)            /* loop 6 6: it comes back to where it was */
            jumps(i);
}

int main(void)
{
    nested(7 + zero, 11 + zero);
    triangle(10 + zero);
    skips(20 + zero);
    leaves_early(100 + zero);
    never_entered(zero);
    recursive(3 + zero);
    even(9 + zero);
    two_ways(4 + zero, zero);
    two_ways(4 + zero, 1 + zero);
    const long sum = inlined(5 + zero) + inlined(6 + zero);
    signal(SIGUSR1, handler);
    interrupted(4 + zero);
    far(6 + zero);
    return done == 0 || sum != 0;
}
