/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: a list of lists that was filled in any order is walked in any order of lines.
 * Truth: a sparse matrix, 1000 lists of cells, 40 a row on the average, filled cell by cell in a random order: the next
 * cell of a row is a line anywhere in 1.3 MB, and L2 has 256 KiB. In an array, row after row, with an index of where
 * each row begins, a line holds four of them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 1000
#define CELLS 40000
struct cell {
    struct cell *next;
    uint32_t column, value;
};
static struct cell *rows[ROWS];
static uint32_t x[ROWS];
#ifdef CURED
static struct cell packed[CELLS];
static uint32_t begins[ROWS + 1];
#endif

static void fill(void)
{
    uint32_t random = 1;
    for (int i = 0; i < CELLS; i++) {
        struct cell *const cell = malloc(sizeof *cell);
        random = random * 1664525u + 1013904223u;
        const uint32_t row = (uint32_t)((uint64_t)random * ROWS >> 32);
        *cell = (struct cell){rows[row], (random >> 8) % ROWS, random & 15};
        rows[row] = cell;
    }
#ifdef CURED
    for (uint32_t row = 0, at = 0; row < ROWS; row++) {
        for (const struct cell *cell = rows[row]; cell; cell = cell->next)
            packed[at++] = *cell;
        begins[row + 1] = at;
    }
#endif
}

__attribute__((noinline)) static uint32_t multiply(void)
{
    uint32_t sum = 0;
    for (uint32_t row = 0; row < ROWS; row++) {
#ifdef CURED
        for (uint32_t at = begins[row]; at < begins[row + 1]; at++)
            sum = sum * 3 + packed[at].value * x[packed[at].column];
#else
        for (const struct cell *cell = rows[row]; cell; cell = cell->next) /* here */
            sum = sum * 3 + cell->value * x[cell->column];                 /* here */
#endif
    }
    return sum;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 25;
    uint32_t sum = 0;
    fill();
    for (int round = 0; round < rounds; round++) {
        x[round % ROWS] = (uint32_t)round;
        sum += multiply();
    }
    printf("%u\n", sum);
    return 0;
}
