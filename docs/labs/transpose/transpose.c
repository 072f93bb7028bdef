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

/* Yours. */
CALLED void transpose_submit(int M, int N, int A[N][M], int B[M][N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            B[j][i] = A[i][j];
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
