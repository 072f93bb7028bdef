/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: bytes that are used once, all of them, can only become fewer.
 * Truth: a table of a million samples is written once, in order, line by line whole; each line misses once, cold. The
 * samples are small whole numbers: a byte holds what a double does, an eighth of the lines.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef CURED
typedef int8_t sample;
#else
typedef double sample;
#endif

__attribute__((noinline)) static uint32_t record(sample *samples, size_t count)
{
    uint32_t wave = 12345, sum = 0;
    for (size_t i = 0; i < count; i++) {
        wave = wave * 1664525u + 1013904223u;
        const int value = (int)(wave >> 26) - 32;
        samples[i] = (sample)value; /* here */
        sum += (uint32_t)value;
    }
    return sum;
}

int main(int argc, char **argv)
{
    const size_t count = argc > 1 ? strtoul(argv[1], 0, 0) : 1000000;
    sample *samples = malloc(count * sizeof *samples);
    if (!samples)
        return 1;
    printf("%u\n", record(samples, count));
    printf("%d\n", (int)samples[count / 2]);
    free(samples);
    return 0;
}
