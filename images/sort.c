/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Sorts random integers with the C library's qsort: sort [COUNT]
 *
 * The lesson: glibc's qsort is a merge sort with a buffer as large as the array. Its early passes work inside the L1,
 * its last ones stream through array and buffer: cold misses at first, capacity misses later, hardly any conflicts.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 200000;
    uint32_t *numbers = malloc(count * sizeof *numbers), state = 2463534242u;
    if (count < 1 || !numbers) {
        fprintf(stderr, "usage: sort [COUNT], COUNT >= 1\n");
        return 2;
    }
    for (size_t i = 0; i < count; i++) {
        state ^= state << 13; /* xorshift32 (Marsaglia 2003) */
        state ^= state >> 17;
        state ^= state << 5;
        numbers[i] = state;
    }
    qsort(numbers, count, sizeof *numbers, by_value);
    printf("median %u\n", numbers[count / 2]);
    free(numbers);
    return 0;
}
