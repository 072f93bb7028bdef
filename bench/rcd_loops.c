/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Loops to train the classifier of --rcd with (rcd.py): half of them suffer from conflicts in a level of 64 sets of 8
 * ways with lines of 64 bytes, half have other misses. `rcd_loops NAME` runs one of them; without a name all. Scalar
 * code, so that there is one loop in each function that misses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOP static __attribute__((noinline)) void
enum { LINE = 8 /* doubles */, PAGE = 512 };

static double *memory; /* 32 MiB, at a multiple of 4096 */
static unsigned *numbers;
static double sum;

static unsigned long long state = 88172645463325252ull;
static unsigned drawn(unsigned below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 11) % below;
}

/* Down the columns of a matrix, `width` doubles a row. */
LOOP columns(long rows, long width, long times)
{
    for (long t = 0; t < times; t++)
        for (long j = 0; j < 64; j++)
            for (long i = 0; i < rows; i++)
                sum += memory[i * width + j];
}

/* `count` arrays, `apart` doubles from each other, side by side. */
LOOP side_by_side(long count, long apart, long length)
{
    for (long i = 0; i < length; i++)
        for (long k = 0; k < count; k++)
            sum += memory[k * apart + i];
}

LOOP along(long step, long length, long times)
{
    for (long t = 0; t < times; t++)
        for (long i = 0; i < length; i += step)
            sum += memory[i];
}

LOOP backwards(long length)
{
    for (long i = length; i-- > 0;)
        memory[i] = (double)i;
}

LOOP gathered(long times)
{
    for (long i = 0; i < times; i++)
        sum += memory[numbers[i]];
}

LOOP chased(long times)
{
    unsigned at = 0;
    for (long i = 0; i < times; i++)
        at = numbers[at];
    sum += at;
}

/* Blocks of 16 x 16 into a buffer. */
LOOP copied(long width, long times)
{
    static double buffer[16 * 16];
    for (long t = 0; t < times; t++)
        for (long b = 0; b < width / 16; b++)
            for (long i = 0; i < 16; i++)
                for (long j = 0; j < 16; j++)
                    buffer[i * 16 + j] = memory[(b * 16 + j) * width + i];
    sum += buffer[17];
}

LOOP transposed(long n, long width)
{
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++)
            memory[2097152 + j * width + i] = memory[i * width + j];
}

LOOP multiplied(long n, long width)
{
    for (long i = 0; i < 12; i++)
        for (long j = 0; j < n; j++)
            for (long k = 0; k < n; k++)
                sum += memory[i * width + k] * memory[1048576 + k * width + j];
}

LOOP five_points(long rows, long width)
{
    for (long i = 1; i + 1 < rows; i++)
        for (long j = 1; j + 1 < width; j++)
            memory[2097152 + i * width + j] = memory[i * width + j - 1] + memory[i * width + j + 1] +
                                              memory[(i - 1) * width + j] + memory[(i + 1) * width + j];
}

static void fill_numbers(unsigned count, unsigned step, unsigned room)
{
    for (unsigned i = 0; i < count; i++)
        numbers[i] = drawn(room) * step;
}

/* One ring through all of them. */
static void link_numbers(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        numbers[i] = i;
    for (unsigned i = count - 1; i > 0; i--) {
        const unsigned k = drawn(i), other = numbers[k];
        numbers[k] = numbers[i];
        numbers[i] = other;
    }
}

static void run(int number)
{
    switch (number) {
    case 0:
        columns(256, PAGE, 8);
        break; /* one set */
    case 1:
        columns(200, PAGE / 2, 10);
        break; /* two */
    case 2:
        columns(128, PAGE / 4, 16);
        break; /* four */
    case 3:
        columns(64, PAGE / 2, 30);
        break;
    case 4:
        side_by_side(16, 32 * PAGE, 16000);
        break; /* 16 ways */
    case 5:
        side_by_side(12, 16 * PAGE, 8000);
        break;
    case 6:
        side_by_side(24, 4 * PAGE, 2000);
        break;
    case 7:
        copied(1024, 12);
        break;
    case 8:
        transposed(256, 256);
        break;
    case 9:
        multiplied(256, 256);
        break;
    case 10:
        fill_numbers(200000, PAGE, 24);
        gathered(200000);
        break; /* 24 lines of one set */
    case 11:
        fill_numbers(200000, PAGE / 4, 80);
        gathered(200000);
        break;
    case 12:
        columns(256, PAGE + LINE, 8);
        break; /* the same with rows that are longer */
    case 13:
        columns(1000, PAGE + LINE, 2);
        break;
    case 14:
        side_by_side(3, 128 * PAGE, 60000);
        break; /* in one set after the other, and all of it fits */
    case 15:
        side_by_side(6, 64 * PAGE, 30000);
        break;
    case 16:
        along(1, 1000000, 2);
        break;
    case 17:
        along(3 * LINE, 2000000, 3);
        break;
    case 18:
        backwards(1500000);
        break;
    case 19:
        fill_numbers(200000, 1, 3000000);
        gathered(200000);
        break;
    case 20:
        link_numbers(1000000);
        chased(200000);
        break;
    case 21:
        transposed(260, 272 + LINE);
        break;
    case 22:
        five_points(300, 1000);
        break;
    case 23:
        multiplied(250, 256 + LINE + 1);
        break;
    }
}

int main(int argc, char **argv)
{
    memory = aligned_alloc(4096, 32 << 20);
    numbers = malloc(4000000);
    if (!memory || !numbers)
        return 1;
    for (int i = 0; i < 24; i++)
        if (argc < 2 || atoi(argv[1]) == i)
            run(i);
    printf("%g\n", sum);
    return 0;
}
