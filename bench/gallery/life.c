/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * life GENERATIONS: the game of life on a torus of 1024 x 1024 cells, a byte each; with -DCOLUMNS down the columns.
 */
#include <stdio.h>
#include <stdlib.h>

#include "text.h"

#define SIDE 1024

static unsigned char now[SIDE][SIDE], next[SIDE][SIDE];

static int neighbours(int y, int x)
{
    const int up = (y + SIDE - 1) % SIDE, down = (y + 1) % SIDE;
    const int left = (x + SIDE - 1) % SIDE, right = (x + 1) % SIDE;
    return now[up][left] + now[up][x] + now[up][right] + now[y][left] + now[y][right] + now[down][left] + now[down][x] +
           now[down][right];
}

static void live(int y, int x)
{
    const int around = neighbours(y, x);
    next[y][x] = around == 3 || (around == 2 && now[y][x]);
}

static void generation(void)
{
    for (int a = 0; a < SIDE; a++)
        for (int b = 0; b < SIDE; b++)
#ifdef COLUMNS
            live(b, a);
#else
            live(a, b);
#endif
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            now[y][x] = next[y][x];
}

int main(int argc, char **argv)
{
    const int generations = argc > 1 ? atoi(argv[1]) : 4;
    unsigned long alive = 0;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            now[y][x] = gallery_random() % 3 == 0;
    for (int i = 0; i < generations; i++)
        generation();
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            alive += now[y][x];
    printf("%lu\n", alive);
    return 0;
}
