/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * transpose M N [naive]: B becomes the transpose of A, of N rows and M columns, by transpose_submit, or as it is
 * written down. Exit status 1: it is not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLED __attribute__((noinline))

/* The same set for the same element of both, as rows of a kilobyte and more would have it. */
static _Alignas(1024) int memory[2][256 * 256];

CALLED void transpose_naive(int M, int N, int A[N][M], int B[M][N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            B[j][i] = A[i][j];
}

/* Eight columns of A share a line, and eight lines of it have room beside each other for up to 32 columns: all of a
 * row of the block is read before any of it is written, so that the line of B in the same set takes it once. */
CALLED void transpose_32(int N, int M, int A[N][M], int B[M][N])
{
    for (int block = 0; block < N; block += 8)
        for (int j = 0; j < M; j += 8)
            for (int i = block; i < block + 8; i++) {
                const int a = A[i][j], b = A[i][j + 1], c = A[i][j + 2], d = A[i][j + 3];
                const int e = A[i][j + 4], f = A[i][j + 5], g = A[i][j + 6], h = A[i][j + 7];
                B[j][i] = a, B[j + 1][i] = b, B[j + 2][i] = c, B[j + 3][i] = d;
                B[j + 4][i] = e, B[j + 5][i] = f, B[j + 6][i] = g, B[j + 7][i] = h;
            }
}

/* Rows 4 apart share a set, so that a block of 8 x 8 has room for 4 rows of either matrix. The right half of what is
 * read of the upper rows waits in the upper right quarter of B's block, whose lines are there, until its own lines are
 * wanted. */
CALLED void transpose_64(int N, int M, int A[N][M], int B[M][N])
{
    for (int i = 0; i < N; i += 8)
        for (int j = 0; j < M; j += 8) {
            for (int k = 0; k < 4; k++) {
                const int a = A[i + k][j], b = A[i + k][j + 1], c = A[i + k][j + 2], d = A[i + k][j + 3];
                const int e = A[i + k][j + 4], f = A[i + k][j + 5], g = A[i + k][j + 6], h = A[i + k][j + 7];
                B[j][i + k] = a, B[j + 1][i + k] = b, B[j + 2][i + k] = c, B[j + 3][i + k] = d;
                B[j][i + k + 4] = e, B[j + 1][i + k + 4] = f, B[j + 2][i + k + 4] = g, B[j + 3][i + k + 4] = h;
            }
            for (int k = 0; k < 4; k++) {
                const int a = A[i + 4][j + k], b = A[i + 5][j + k], c = A[i + 6][j + k], d = A[i + 7][j + k];
                const int e = B[j + k][i + 4], f = B[j + k][i + 5], g = B[j + k][i + 6], h = B[j + k][i + 7];
                B[j + k][i + 4] = a, B[j + k][i + 5] = b, B[j + k][i + 6] = c, B[j + k][i + 7] = d;
                B[j + 4 + k][i] = e, B[j + 4 + k][i + 1] = f, B[j + 4 + k][i + 2] = g, B[j + 4 + k][i + 3] = h;
            }
            for (int k = 4; k < 8; k++) {
                const int a = A[i + k][j + 4], b = A[i + k][j + 5], c = A[i + k][j + 6], d = A[i + k][j + 7];
                B[j + 4][i + k] = a, B[j + 5][i + k] = b, B[j + 6][i + k] = c, B[j + 7][i + k] = d;
            }
        }
}

/* Rows that are no power of two spread over the sets by themselves. */
CALLED void transpose_any(int N, int M, int A[N][M], int B[M][N])
{
    enum { BLOCK = 17 };
    for (int i = 0; i < N; i += BLOCK)
        for (int j = 0; j < M; j += BLOCK)
            for (int k = i; k < i + BLOCK && k < N; k++)
                for (int l = j; l < j + BLOCK && l < M; l++)
                    B[l][k] = A[k][l];
}

CALLED void transpose_submit(int M, int N, int A[N][M], int B[M][N])
{
    if (M == 32 && N == 32)
        transpose_32(N, M, A, B);
    else if (M == 64 && N == 64)
        transpose_64(N, M, A, B);
    else
        transpose_any(N, M, A, B);
}

int main(int argc, char **argv)
{
    const int M = argc > 2 ? atoi(argv[1]) : 0, N = argc > 2 ? atoi(argv[2]) : 0;
    if (M < 1 || N < 1 || M > 256 || N > 256) {
        fprintf(stderr, "usage: transpose M N [naive], 1 to 256\n");
        return 2;
    }
    int(*A)[M] = (int(*)[M])memory[0], (*B)[N] = (int(*)[N])memory[1];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            A[i][j] = i * 1000 + j;
    if (argc > 3 && strcmp(argv[3], "naive") == 0)
        transpose_naive(M, N, A, B);
    else
        transpose_submit(M, N, A, B);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            if (B[j][i] != i * 1000 + j || A[i][j] != i * 1000 + j) {
                fprintf(stderr, "transpose: B[%d][%d] is wrong, or A has changed\n", j, i);
                return 1;
            }
    return 0;
}
