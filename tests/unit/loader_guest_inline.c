/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Inlined calls in every form: chains, loops, twice on one line, parts of a function, recursion, calls through several
 * files' worth of lines, functions that are never called.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int table[64];
volatile int sink;

#define TWICE(x) (add((x), 1) + add((x), 2))

static inline __attribute__((always_inline)) int add(int a, int b)
{
    return a + b * table[a & 63];
}

static inline __attribute__((always_inline)) int middle(int a)
{
    int sum = 0;
    for (int i = 0; i < a; i++)
        sum += add(i, a);
    return sum + TWICE(a);
}

static inline __attribute__((always_inline)) int outer(int a)
{
    if (a > 10)
        return middle(a) + middle(a + 1);
    return middle(a);
}

/* Its quick way out is inlined, the rest is not: partial inlining. */
static void slow_path(int *values, int count, int limit)
{
    if (count < limit)
        return;
    for (int i = 0; i < count; i++) {
        values[i] = add(values[i], i);
        if (values[i] == -1) {
            fprintf(stderr, "bad value %d\n", i);
            exit(3);
        }
    }
    sink = values[count / 2];
}

__attribute__((noinline)) int first(int n)
{
    slow_path(table, n, 5);
    return outer(n);
}

__attribute__((noinline)) int second(int n)
{
    slow_path(table, n, 17);
    return outer(n + 2) + outer(n - 2);
}

static int recurse(int n)
{
    return n <= 1 ? 1 : recurse(n - 1) + add(n, 3);
}

__attribute__((noinline)) static int with_constant(const char *text, int scale)
{
    return (int)strlen(text) * scale + middle(scale);
}

__attribute__((cold, noinline)) static int rare(int n)
{
    return printf("rare %d\n", outer(n));
}

/* Never called: with sections of its own the linker throws it away, and its DWARF stays. */
int discarded(int n)
{
    return outer(n) - middle(n);
}

/* A function within a function is not inlined by that. */
__attribute__((noinline)) int around(int n)
{
#ifndef __clang__
    __attribute__((noinline)) int within(int m)
    {
        return add(m, n);
    }
    n += within(n + 1);
#endif
    return n;
}

int nobody(int n)
{
    return outer(n) + recurse(n);
}

int main(int argc, char **argv)
{
    int sum = first(argc) + second(argc) + recurse(argc);
    sum += with_constant(argv[0], 3) + with_constant("x", 3);
    if (__builtin_expect(argc > 30, 0))
        sum += rare(sum) + outer(sum);
    return sum + nobody(argc) + around(argc);
}
