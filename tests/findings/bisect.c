/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: a binary search halves its way through a table; where that has a power of two keys, what it comes to most
 * often lies in few sets.
 * Truth: of 2^22 keys of 4 bytes the first ten places of a search are multiples of 16 KiB, which reach four sets of the
 * 64 of L1D, and one of 256 of the 8,192 of L3; all lines that 300,000 searches come to again and again would fit.
 * 12,345 keys more, larger than all that are looked for, and the halves lie anywhere.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef CURED
#define MORE 12345
#else
#define MORE 0
#endif

__attribute__((noinline)) static size_t place_of(const uint32_t *keys, size_t count, uint32_t key)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (keys[middle] < key) /* here */
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int main(int argc, char **argv)
{
    const size_t bits = argc > 1 ? strtoul(argv[1], 0, 0) : 22, count = ((size_t)1 << bits) + MORE;
    const uint32_t searches = argc > 2 ? (uint32_t)strtoul(argv[2], 0, 0) : 200000;
    uint32_t *keys = malloc(count * sizeof *keys);
    if (!keys)
        return 1;
    for (size_t i = 0; i < count; i++)
        keys[i] = (uint32_t)(2 * i);
    uint64_t number = 12345, sum = 0;
    for (uint32_t i = 0; i < searches; i++) {
        number = number * 6364136223846793005u + 1442695040888963407u;
        sum += place_of(keys, count, (uint32_t)(number >> (63 - bits)) & (((uint32_t)2 << bits) - 1));
    }
    printf("%llu\n", (unsigned long long)sum);
    free(keys);
    return 0;
}
