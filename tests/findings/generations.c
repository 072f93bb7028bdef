/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: a window slides over a grid as the loops around it say, whatever the order within the window.
 * Truth: cells are looked at with their eight neighbours, column by column: of 1024 rows, 4 KiB apart, each x wants
 * three lines of each row, which compete for few sets of all caches, and 1024 pages. Rows longer would spread the lines
 * over the sets, and leave all else; with x inside, the same cells are counted line by line.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef HEIGHT
#define HEIGHT 1024
#endif
#define WIDTH 128
struct cell {
    int alive, age;
    double energy;
    double other[2];
};
static struct cell grids[2][HEIGHT][WIDTH];

static int neighbours(struct cell (*grid)[WIDTH], int x, int y)
{
    int count = 0;
    for (int dx = -1; dx <= 1; dx++) {
        for (int dy = -1; dy <= 1; dy++)
            count += grid[(y + dy + HEIGHT) % HEIGHT][(x + dx + WIDTH) % WIDTH].alive; /* here */
    }
    return count - grid[y][x].alive;
}

static void step(struct cell (*next)[WIDTH], struct cell (*grid)[WIDTH], int x, int y)
{
    const int count = neighbours(grid, x, y);
    next[y][x] = grid[y][x];
    next[y][x].alive = count == 3 || (count == 2 && grid[y][x].alive);
    next[y][x].age++; /* here */
}

int main(int argc, char **argv)
{
    const int steps = argc > 1 ? atoi(argv[1]) : 2;
    uint32_t random = 1, alive = 0;
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            random = random * 1664525 + 1013904223;
            grids[0][y][x].alive = random >> 31;
        }
    }
    for (int i = 0; i < steps; i++) {
#ifdef CURED
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++)
                step(grids[1 - i % 2], grids[i % 2], x, y);
        }
#else
        for (int x = 0; x < WIDTH; x++) {
            for (int y = 0; y < HEIGHT; y++)
                step(grids[1 - i % 2], grids[i % 2], x, y);
        }
#endif
    }
    for (int y = 0; y < HEIGHT; y++)
        alive += (uint32_t)grids[steps % 2][y][y % WIDTH].alive;
    printf("%u\n", alive);
    return 0;
}
