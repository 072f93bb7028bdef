/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: the loop that walks through memory need not be the innermost one: there the colours of a pixel are.
 * Truth: the loop over y goes down a column of 1500 rows, 1440 B from row to row: 94 KiB of lines until the next x
 * wants them again, and L1D has 32 KiB; 528 pages, more than the first TLB holds. The loop over the channels has three
 * rounds and stays in a line mostly. With x inside, the same sums are made line by line.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef HEIGHT
#define HEIGHT 1500
#endif
#define WIDTH 480
#define CHANNELS 3
static uint8_t image[HEIGHT][WIDTH][CHANNELS];
static uint32_t levels[CHANNELS];

__attribute__((noinline)) static void measure(uint32_t weight, int channels)
{
#ifdef CURED
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            for (int c = 0; c < channels; c++)
                levels[c] += weight * image[y][x][c];
        }
    }
#else
    for (int x = 0; x < WIDTH; x++) {
        for (int y = 0; y < HEIGHT; y++) {
            for (int c = 0; c < channels; c++)
                levels[c] += weight * image[y][x][c]; /* here */
        }
    }
#endif
}

int main(int argc, char **argv)
{
    const uint32_t rounds = argc > 1 ? (uint32_t)atoi(argv[1]) : 2;
    const int channels = argc > 2 ? 1 : CHANNELS;
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++)
            image[y][x][x % CHANNELS] = (uint8_t)(x * y);
    }
    for (uint32_t round = 1; round <= rounds; round++)
        measure(round, channels);
    printf("%u %u %u\n", levels[0], levels[1], levels[2]);
    return 0;
}
