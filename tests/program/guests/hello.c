/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A little of everything a C library does: arguments, environment, numbers as text, sorting, files, time zones. Linked
 * in every way there is: dynamic, static, static PIE, musl.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void numbers(void)
{
    for (int i = -3; i <= 3; i++)
        printf("%d %+.17g %a %.3Lf|", i, sqrt(fabs((double)i) + 0.1), pow(1.5, i), (long double)i / 3);
    printf("\n%ld %lu %g\n", strtol("-0x7fffffffffffffff", NULL, 0), strtoul("1844674407370955161", NULL, 10),
           strtod("6.02214076e23", NULL));
}

static void words(int argc, char **argv)
{
    qsort(argv + 1, (size_t)argc - 1, sizeof *argv, by_text);
    for (int i = 0; i < argc; i++)
        printf("[%s]", argv[i]);
    printf(" %s %s\n", getenv("LANG"), getenv("NOT_SET") ? "set" : "not set");
}

static void files(void)
{
    char line[100];
    FILE *file = fopen("fixture.txt", "r");
    size_t lines = 0;
    while (file && fgets(line, sizeof line, file))
        lines++;
    printf("%zu lines, %s\n", lines, fopen("/nonexistent", "r") ? "?" : strerror(errno));
    if (file)
        fclose(file);
}

static void times(void)
{
    time_t then = 1700000000;
    char text[64];
    strftime(text, sizeof text, "%F %T %j", gmtime(&then));
    puts(text);
}

int main(int argc, char **argv)
{
    words(argc, argv);
    numbers();
    files();
    times();
    char *blocks[64];
    size_t sum = 0;
    for (size_t i = 0; i < 64; i++)
        blocks[i] = memset(malloc(i * 5000 + 1), (int)i, i * 5000 + 1);
    for (size_t i = 0; i < 64; i += 2)
        blocks[i] = realloc(blocks[i], i * 9000 + 1);
    for (size_t i = 0; i < 64; i++)
        sum += (size_t)blocks[i][i * 4000];
    printf("%zu\n", sum);
    return argc;
}
