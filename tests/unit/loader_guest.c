/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A program for the tests of loader/: functions of all bindings, data that ends within a page before its bss, a bss
 * of several pages, constants. Never run by them, only loaded and asked about.
 */
#include <stdio.h>
#include <string.h>

int initialised[11] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
char zeroed[3 * 4096 + 77];
const char constant[] = "constant";

static __attribute__((noinline)) int hidden(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += initialised[i % 11] * i;
    return sum;
}

__attribute__((weak)) int weak_one(int n)
{
    return hidden(n) + 1;
}

static inline __attribute__((always_inline)) int inlined(int n)
{
    return n * 7 + zeroed[n & 15];
}

__attribute__((noinline)) int visible(int n)
{
    int a = inlined(n);
    return weak_one(a) + hidden(a + 1);
}

extern int alias(int n) __attribute__((alias("visible")));
extern int __under(int n) __attribute__((alias("visible")));

int main(int argc, char **argv)
{
    memset(zeroed, argc, sizeof zeroed);
    printf("%s %d %d\n", constant, visible(argc), alias(argv[0] != NULL));
    return 0;
}
