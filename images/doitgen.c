/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A contraction, out[q][p] = sum over s of a[q][s] * c4[s][p], over a panel of c4's columns: doitgen [TIMES]
 *
 * The lesson: the inner loop walks down a column of c4, whose rows are 4096 bytes apart. Its 320 lines fall into one
 * set of a 32 KiB, 8-way L1, though they would fit it: conflicts of the array with itself. The panel of 80 columns,
 * 10 lines of each row, has 3200 lines and would fit a 256 KiB L2; there it has 10 line offsets in each of 8 page
 * colours, 80 of the 512 sets, with 40 lines for 8 ways.
 * The cure: 8 doubles, one line, at the end of each row. L1 is then free of conflicts. L2 is indexed by physical
 * address: its sets are evenly used only if the frames are, as in a page of 2 MiB (docs/placement-lab.md).
 * Method after Sato & Endo, "C2Sim" (Euro-Par 2017), and the kernel doitgen of PolyBench.
 */
#include "sample.h"

enum { NQ = 4, NS = 320, NP = 80, ROW = 512 + (PADDED ? 8 : 0), PAGE = 4096, HUGE = 2 << 20 };
KERNEL void swapped(double *restrict out, const double *restrict a, const double *restrict c4, int times);
KERNEL void contract(double *restrict out, const double *restrict a, const double *restrict c4, int times)
{
    for (int t = 0; t < times; t++) {
        for (int q = 0; q < NQ; q++)
            for (int p = 0; p < NP; p++) {
                double sum = 0;
                for (int s = 0; s < NS; s++)
                    sum += a[q * NS + s] * c4[s * ROW + p]; /* the conflict */
                out[q * NP + p] = sum;
            }
        KEEP();
    }
}

int main(int argc, char **argv)
{
    int times = times_of(argc, argv);
    double *c4 = aligned_alloc(HUGE, HUGE);
    double *a = aligned_alloc(PAGE, 3 * PAGE);
    double *out = aligned_alloc(PAGE, PAGE);
    if (!c4 || !a || !out)
        return 1;
    for (int s = 0; s < NS; s++)
        for (int p = 0; p < NP; p++)
            c4[s * ROW + p] = (s + 2 * p) % 17;
    for (int i = 0; i < NQ * NS; i++)
        a[i] = i % 13;
    (SWAPPED ? swapped : contract)(out, a, c4, times);
    double sum = 0;
    for (int i = 0; i < NQ * NP; i++)
        sum += (i + 1) * out[i];
    print_checksum("doitgen", sum);
    free(out);
    free(a);
    free(c4);
    return 0;
}

/* The other cure: the inner loop goes along a row of c4. It stands here so that the lines above keep their numbers. */
void swapped(double *restrict out, const double *restrict a, const double *restrict c4, int times)
{
    for (int t = 0; t < times; t++) {
        memset(out, 0, NQ * NP * sizeof *out);
        for (int q = 0; q < NQ; q++)
            for (int s = 0; s < NS; s++)
                for (int p = 0; p < NP; p++)
                    out[q * NP + p] += a[q * NS + s] * c4[s * ROW + p];
        KEEP();
    }
}
