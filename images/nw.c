/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Needleman-Wunsch alignment of eight pairs of sequences, by tiles of 16 x 16: nw [TIMES]
 *
 * The lesson: a tile of each matrix is copied to a small array, the scores are worked out there and copied back. Rows
 * have 2048 bytes, 32 lines, and both matrices begin a page: the 16 rows of a tile fall into 2 sets of a 32 KiB,
 * 8-way L1, eight to a set, and those of the other matrix into the same two. A tile begins at column 1, so its last
 * column is alone on a line that the next tile needs as its first. By then the tile of the other matrix has evicted
 * it: score evicts reference, reference evicts score.
 * The cure: 16 ints, one line, at the end of each row. The rows of a tile are then in 16 different sets.
 * Tiles and copies as in the program nw of the Rodinia benchmarks.
 */
#include "sample.h"

enum { PAIRS = 8, TILE = 16, ACROSS = 12, COLUMNS = ACROSS * TILE + 1, ROW = 512 + (PADDED ? 16 : 0), GAP = 10 };
enum { LINE = 64, MATRIX_LINES = 13, HALF = 32 };

static _Alignas(4096) int score[PAIRS][TILE + 1][ROW], reference[PAIRS][TILE + 1][ROW];

/* The copies lie in sets between those of the matrices, 0 to 12 and 32 to 44, to keep the picture simple. */
static _Alignas(4096) struct {
    char skipped[MATRIX_LINES * LINE];
    int reference[TILE][TILE];
    char more[(HALF - TILE) * LINE];
    int score[TILE + 1][TILE + 1];
} near;

static int largest(int x, int y, int z)
{
    int larger = x > y ? x : y;
    return larger > z ? larger : z;
}

static void score_tile(void)
{
    for (int i = 1; i <= TILE; i++)
        for (int j = 1; j <= TILE; j++)
            near.score[i][j] = largest(near.score[i - 1][j - 1] + near.reference[i - 1][j - 1],
                                       near.score[i][j - 1] - GAP, near.score[i - 1][j] - GAP);
}

static void do_tile(int pair, int left)
{
    for (int i = 0; i < TILE; i++)
        for (int j = 0; j < TILE; j++)
            near.reference[i][j] = reference[pair][i + 1][left + j + 1]; /* evicts score */
    for (int i = 0; i <= TILE; i++)
        for (int j = 0; j <= TILE; j++)
            near.score[i][j] = score[pair][i][left + j]; /* evicts reference */
    score_tile();
    for (int i = 1; i <= TILE; i++)
        for (int j = 1; j <= TILE; j++)
            score[pair][i][left + j] = near.score[i][j];
}

KERNEL void align(int times)
{
    for (int t = 0; t < times; t++) {
        for (int pair = 0; pair < PAIRS; pair++)
            for (int left = 0; left < ACROSS * TILE; left += TILE)
                do_tile(pair, left);
        KEEP();
    }
}

static void fill(int pair)
{
    for (int i = 0; i <= TILE; i++)
        for (int j = 0; j < COLUMNS; j++)
            reference[pair][i][j] = (i * 7 + j * 13 + pair) % 21 - 10;
    for (int i = 0; i <= TILE; i++)
        score[pair][i][0] = -GAP * i;
    for (int j = 0; j < COLUMNS; j++)
        score[pair][0][j] = -GAP * j;
}

int main(int argc, char **argv)
{
    int times = times_of(argc, argv);
    for (int pair = 0; pair < PAIRS; pair++)
        fill(pair);
    align(times);
    double sum = 0;
    for (int pair = 0; pair < PAIRS; pair++)
        for (int j = 0; j < COLUMNS; j++)
            sum += (pair + 1) * score[pair][TILE][j];
    print_checksum("nw", sum);
    return 0;
}
