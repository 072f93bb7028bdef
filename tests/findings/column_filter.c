/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: a filter along the columns of an image need not run down the columns.
 * Truth: the inner loop over y goes down a column of 4000 rows, in two images: 2 * 250 KiB of lines until the next x
 * wants them again, and L2 has 256 KiB. With x inside, the same pixels are made of the same pixels, line by line.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef HEIGHT
#define HEIGHT 4000
#endif
#define WIDTH 240
static uint32_t image[HEIGHT][WIDTH], smooth[HEIGHT][WIDTH];

__attribute__((noinline)) static void filter(uint32_t weight)
{
#ifdef CURED
    for (int y = 1; y < HEIGHT - 1; y++) {
        for (int x = 0; x < WIDTH; x++)
            smooth[y][x] = image[y - 1][x] + weight * image[y][x] + image[y + 1][x];
    }
#else
    for (int x = 0; x < WIDTH; x++) {
        for (int y = 1; y < HEIGHT - 1; y++)
            smooth[y][x] = image[y - 1][x] + weight * image[y][x] + image[y + 1][x]; /* here */
    }
#endif
}

int main(int argc, char **argv)
{
    const uint32_t rounds = argc > 1 ? (uint32_t)atoi(argv[1]) : 4;
    uint32_t sum = 0;
    for (uint32_t y = 0; y < HEIGHT; y++) {
        for (uint32_t x = 0; x < WIDTH; x++)
            image[y][x] = (x * y) & 255;
    }
    for (uint32_t round = 1; round <= rounds; round++) {
        filter(round);
        sum += smooth[HEIGHT / 2][round % WIDTH];
    }
    printf("%u\n", sum);
    return 0;
}
