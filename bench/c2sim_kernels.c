/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The loops of Sato and Endo, "C2Sim" (Euro-Par 2017), tables 1 and 3: c2sim_kernels KERNEL [STEPS]
 *
 * These are the 21 kernels of PolyBench/C 4.2 that the tables have, written anew: the same loops in the same order over
 * arrays of the same shapes, those of its LARGE dataset, of doubles, each array a block of posix_memalign by itself.
 * Loops that fill the arrays are part of it, as the paper measures whole runs; the values are others, and no kernel's
 * path depends on them but that of nussinov, whose pairs are as frequent here.
 * STEPS: of the kernels that repeat themselves (time steps; the outermost loop of floyd-warshall) that many.
 *
 * How often a number is loaded decides the miss rates. The compiler of the paper kept no operand in a register beyond a
 * store that may change it, and did not vectorise; so arrays are arguments of functions that are not inlined, and the
 * file is compiled with -O2 -fno-tree-vectorize.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL static __attribute__((noinline, noclone)) void
#define FOR(i, from, to) for (int i = (from); i < (to); i++)
#define DOWN(i, from, to) for (int i = (from); i >= (to); i--)

static void *block(size_t numbers)
{
    void *out;
    if (posix_memalign(&out, 4096, numbers * sizeof(double)) != 0)
        exit(1);
    return out;
}

#define ARRAY1(name, n) double(*name) = block(n)
#define ARRAY2(name, n, m) double(*name)[m] = block((size_t)(n) * (m))
#define ARRAY3(name, n, m, o) double(*name)[m][o] = block((size_t)(n) * (m) * (o))

/* ------------------------------------------------------------------ products */

KERNEL fill(int n, int m, double a[n][m], int times, int plus)
{
    FOR(i, 0, n) FOR(j, 0, m) a[i][j] = (double)((i * (j + plus) * times + 1) % m) / m;
}

KERNEL gemm(int ni, int nj, int nk, double alpha, double beta, double c[ni][nj], double a[ni][nk], double b[nk][nj])
{
    FOR(i, 0, ni)
    {
        FOR(j, 0, nj) c[i][j] *= beta;
        FOR(k, 0, nk) FOR(j, 0, nj) c[i][j] += alpha * a[i][k] * b[k][j];
    }
}

static void run_gemm(int steps)
{
    enum { NI = 1000, NJ = 1100, NK = 1200 };
    (void)steps;
    ARRAY2(c, NI, NJ);
    ARRAY2(a, NI, NK);
    ARRAY2(b, NK, NJ);
    fill(NI, NJ, c, 1, 0);
    fill(NI, NK, a, 1, 1);
    fill(NK, NJ, b, 1, 2);
    gemm(NI, NJ, NK, 1.5, 1.2, c, a, b);
}

KERNEL multiply_both(int ni, int nj, int nk, int nl, double alpha, double beta, double tmp[ni][nj], double a[ni][nk],
                     double b[nk][nj], double c[nj][nl], double d[ni][nl])
{
    FOR(i, 0, ni) FOR(j, 0, nj)
    {
        tmp[i][j] = 0;
        FOR(k, 0, nk) tmp[i][j] += alpha * a[i][k] * b[k][j];
    }
    FOR(i, 0, ni) FOR(j, 0, nl)
    {
        d[i][j] *= beta;
        FOR(k, 0, nj) d[i][j] += tmp[i][k] * c[k][j];
    }
}

static void run_2mm(int steps)
{
    enum { NI = 800, NJ = 900, NK = 1100, NL = 1200 };
    (void)steps;
    ARRAY2(tmp, NI, NJ);
    ARRAY2(a, NI, NK);
    ARRAY2(b, NK, NJ);
    ARRAY2(c, NJ, NL);
    ARRAY2(d, NI, NL);
    fill(NI, NK, a, 1, 0);
    fill(NK, NJ, b, 1, 1);
    fill(NJ, NL, c, 1, 3);
    fill(NI, NL, d, 1, 2);
    multiply_both(NI, NJ, NK, NL, 1.5, 1.2, tmp, a, b, c, d);
}

KERNEL multiply_three(int ni, int nj, int nk, int nl, int nm, double e[ni][nj], double a[ni][nk], double b[nk][nj],
                      double f[nj][nl], double c[nj][nm], double d[nm][nl], double g[ni][nl])
{
    FOR(i, 0, ni) FOR(j, 0, nj)
    {
        e[i][j] = 0;
        FOR(k, 0, nk) e[i][j] += a[i][k] * b[k][j];
    }
    FOR(i, 0, nj) FOR(j, 0, nl)
    {
        f[i][j] = 0;
        FOR(k, 0, nm) f[i][j] += c[i][k] * d[k][j];
    }
    FOR(i, 0, ni) FOR(j, 0, nl)
    {
        g[i][j] = 0;
        FOR(k, 0, nj) g[i][j] += e[i][k] * f[k][j];
    }
}

static void run_3mm(int steps)
{
    enum { NI = 800, NJ = 900, NK = 1000, NL = 1100, NM = 1200 };
    (void)steps;
    ARRAY2(e, NI, NJ);
    ARRAY2(a, NI, NK);
    ARRAY2(b, NK, NJ);
    ARRAY2(f, NJ, NL);
    ARRAY2(c, NJ, NM);
    ARRAY2(d, NM, NL);
    ARRAY2(g, NI, NL);
    fill(NI, NK, a, 1, 0);
    fill(NK, NJ, b, 1, 1);
    fill(NJ, NM, c, 1, 3);
    fill(NM, NL, d, 1, 2);
    multiply_three(NI, NJ, NK, NL, NM, e, a, b, f, c, d, g);
}

KERNEL symm(int m, int n, double alpha, double beta, double c[m][n], double a[m][m], double b[m][n])
{
    FOR(i, 0, m) FOR(j, 0, n)
    {
        double sum = 0;
        FOR(k, 0, i)
        {
            c[k][j] += alpha * b[i][j] * a[i][k];
            sum += b[k][j] * a[i][k];
        }
        c[i][j] = beta * c[i][j] + alpha * b[i][j] * a[i][i] + alpha * sum;
    }
}

static void run_symm(int steps)
{
    enum { M = 1000, N = 1200 };
    (void)steps;
    ARRAY2(c, M, N);
    ARRAY2(a, M, M);
    ARRAY2(b, M, N);
    fill(M, N, c, 1, 1);
    fill(M, N, b, 1, 2);
    fill(M, M, a, 1, 1);
    symm(M, N, 1.5, 1.2, c, a, b);
}

KERNEL syrk(int n, int m, double alpha, double beta, double c[n][n], double a[n][m])
{
    FOR(i, 0, n)
    {
        FOR(j, 0, i + 1) c[i][j] *= beta;
        FOR(k, 0, m) FOR(j, 0, i + 1) c[i][j] += alpha * a[i][k] * a[j][k];
    }
}

KERNEL syr2k(int n, int m, double alpha, double beta, double c[n][n], double a[n][m], double b[n][m])
{
    FOR(i, 0, n)
    {
        FOR(j, 0, i + 1) c[i][j] *= beta;
        FOR(k, 0, m) FOR(j, 0, i + 1) c[i][j] += a[j][k] * alpha * b[i][k] + b[j][k] * alpha * a[i][k];
    }
}

enum { RANK_N = 1200, RANK_M = 1000 };
static void run_syrk(int steps)
{
    (void)steps;
    ARRAY2(c, RANK_N, RANK_N);
    ARRAY2(a, RANK_N, RANK_M);
    fill(RANK_N, RANK_M, a, 1, 0);
    fill(RANK_N, RANK_N, c, 1, 1);
    syrk(RANK_N, RANK_M, 1.5, 1.2, c, a);
}

static void run_syr2k(int steps)
{
    (void)steps;
    ARRAY2(c, RANK_N, RANK_N);
    ARRAY2(a, RANK_N, RANK_M);
    ARRAY2(b, RANK_N, RANK_M);
    fill(RANK_N, RANK_M, a, 1, 0);
    fill(RANK_N, RANK_M, b, 1, 2);
    fill(RANK_N, RANK_N, c, 1, 1);
    syr2k(RANK_N, RANK_M, 1.5, 1.2, c, a, b);
}

KERNEL trmm(int m, int n, double alpha, double a[m][m], double b[m][n])
{
    FOR(i, 0, m) FOR(j, 0, n)
    {
        FOR(k, i + 1, m) b[i][j] += a[k][i] * b[k][j];
        b[i][j] = alpha * b[i][j];
    }
}

static void run_trmm(int steps)
{
    enum { M = 1000, N = 1200 };
    (void)steps;
    ARRAY2(a, M, M);
    ARRAY2(b, M, N);
    fill(M, M, a, 1, 1);
    fill(M, N, b, 1, 2);
    trmm(M, N, 1.5, a, b);
}

KERNEL doitgen(int nr, int nq, int np, double a[nr][nq][np], double c4[np][np], double sum[np])
{
    FOR(r, 0, nr) FOR(q, 0, nq)
    {
        FOR(p, 0, np)
        {
            sum[p] = 0;
            FOR(s, 0, np) sum[p] += a[r][q][s] * c4[s][p];
        }
        FOR(p, 0, np) a[r][q][p] = sum[p];
    }
}

static void run_doitgen(int steps)
{
    enum { NQ = 140, NR = 150, NP = 160 };
    (void)steps;
    ARRAY3(a, NR, NQ, NP);
    ARRAY1(sum, NP);
    ARRAY2(c4, NP, NP);
    fill(NR * NQ, NP, a[0], 1, 1);
    fill(NP, NP, c4, 1, 0);
    doitgen(NR, NQ, NP, a, c4, sum);
}

/* ------------------------------------------------------------------ statistics */

KERNEL covariance(int m, int n, double data[n][m], double cov[m][m], double mean[m])
{
    FOR(j, 0, m)
    {
        mean[j] = 0;
        FOR(i, 0, n) mean[j] += data[i][j];
        mean[j] /= n;
    }
    FOR(i, 0, n) FOR(j, 0, m) data[i][j] -= mean[j];
    FOR(i, 0, m) FOR(j, i, m)
    {
        cov[i][j] = 0;
        FOR(k, 0, n) cov[i][j] += data[k][i] * data[k][j];
        cov[i][j] /= n - 1.0;
        cov[j][i] = cov[i][j];
    }
}

KERNEL correlation(int m, int n, double data[n][m], double corr[m][m], double mean[m], double deviation[m])
{
    FOR(j, 0, m)
    {
        mean[j] = 0;
        FOR(i, 0, n) mean[j] += data[i][j];
        mean[j] /= n;
    }
    FOR(j, 0, m)
    {
        deviation[j] = 0;
        FOR(i, 0, n) deviation[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
        deviation[j] = sqrt(deviation[j] / n);
        deviation[j] = deviation[j] <= 0.1 ? 1.0 : deviation[j];
    }
    FOR(i, 0, n) FOR(j, 0, m)
    {
        data[i][j] -= mean[j];
        data[i][j] /= sqrt((double)n) * deviation[j];
    }
    FOR(i, 0, m - 1)
    {
        corr[i][i] = 1;
        FOR(j, i + 1, m)
        {
            corr[i][j] = 0;
            FOR(k, 0, n) corr[i][j] += data[k][i] * data[k][j];
            corr[j][i] = corr[i][j];
        }
    }
    corr[m - 1][m - 1] = 1;
}

enum { VARIABLES = 1200, POINTS = 1400 };
static void run_covariance(int steps)
{
    (void)steps;
    ARRAY2(data, POINTS, VARIABLES);
    ARRAY2(cov, VARIABLES, VARIABLES);
    ARRAY1(mean, VARIABLES);
    fill(POINTS, VARIABLES, data, 1, 0);
    covariance(VARIABLES, POINTS, data, cov, mean);
}

static void run_correlation(int steps)
{
    (void)steps;
    ARRAY2(data, POINTS, VARIABLES);
    ARRAY2(corr, VARIABLES, VARIABLES);
    ARRAY1(mean, VARIABLES);
    ARRAY1(deviation, VARIABLES);
    fill(POINTS, VARIABLES, data, 1, 0);
    correlation(VARIABLES, POINTS, data, corr, mean, deviation);
}

/* ------------------------------------------------------------------ solvers */

/* Below the diagonal numbers, a unit diagonal, zeros above; then a := a a^T, by way of another array. */
KERNEL fill_definite(int n, double a[n][n], double b[n][n])
{
    FOR(i, 0, n)
    {
        FOR(j, 0, i + 1) a[i][j] = (double)(-j % n) / n + 1;
        FOR(j, i + 1, n) a[i][j] = 0;
        a[i][i] = 1;
    }
    FOR(r, 0, n) FOR(s, 0, n) b[r][s] = 0;
    FOR(t, 0, n) FOR(r, 0, n) FOR(s, 0, n) b[r][s] += a[r][t] * a[s][t];
    FOR(r, 0, n) FOR(s, 0, n) a[r][s] = b[r][s];
}

KERNEL cholesky(int n, double a[n][n])
{
    FOR(i, 0, n)
    {
        FOR(j, 0, i)
        {
            FOR(k, 0, j) a[i][j] -= a[i][k] * a[j][k];
            a[i][j] /= a[j][j];
        }
        FOR(k, 0, i) a[i][i] -= a[i][k] * a[i][k];
        a[i][i] = sqrt(a[i][i]);
    }
}

KERNEL lu(int n, double a[n][n])
{
    FOR(i, 0, n)
    {
        FOR(j, 0, i)
        {
            FOR(k, 0, j) a[i][j] -= a[i][k] * a[k][j];
            a[i][j] /= a[j][j];
        }
        FOR(j, i, n) FOR(k, 0, i) a[i][j] -= a[i][k] * a[k][j];
    }
}

KERNEL ludcmp(int n, double a[n][n], double b[n], double x[n], double y[n])
{
    double w;
    FOR(i, 0, n)
    {
        FOR(j, 0, i)
        {
            w = a[i][j];
            FOR(k, 0, j) w -= a[i][k] * a[k][j];
            a[i][j] = w / a[j][j];
        }
        FOR(j, i, n)
        {
            w = a[i][j];
            FOR(k, 0, i) w -= a[i][k] * a[k][j];
            a[i][j] = w;
        }
    }
    FOR(i, 0, n)
    {
        w = b[i];
        FOR(j, 0, i) w -= a[i][j] * y[j];
        y[i] = w;
    }
    DOWN(i, n - 1, 0)
    {
        w = y[i];
        FOR(j, i + 1, n) w -= a[i][j] * x[j];
        x[i] = w / a[i][i];
    }
}

enum { SOLVED = 2000 };
static double (*definite(void))[SOLVED]
{
    ARRAY2(a, SOLVED, SOLVED);
    double(*b)[SOLVED] = block((size_t)SOLVED * SOLVED);
    fill_definite(SOLVED, a, b);
    free(b);
    return a;
}

static void run_cholesky(int steps)
{
    (void)steps;
    cholesky(SOLVED, definite());
}

static void run_lu(int steps)
{
    (void)steps;
    lu(SOLVED, definite());
}

static void run_ludcmp(int steps)
{
    (void)steps;
    ARRAY1(b, SOLVED);
    ARRAY1(x, SOLVED);
    ARRAY1(y, SOLVED);
    FOR(i, 0, SOLVED)
    {
        x[i] = y[i] = 0;
        b[i] = (i + 1) / (double)SOLVED / 2.0 + 4;
    }
    ludcmp(SOLVED, definite(), b, x, y);
}

KERNEL gramschmidt(int m, int n, double a[m][n], double r[n][n], double q[m][n])
{
    FOR(k, 0, n)
    {
        double norm = 0;
        FOR(i, 0, m) norm += a[i][k] * a[i][k];
        r[k][k] = sqrt(norm);
        FOR(i, 0, m) q[i][k] = a[i][k] / r[k][k];
        FOR(j, k + 1, n)
        {
            r[k][j] = 0;
            FOR(i, 0, m) r[k][j] += q[i][k] * a[i][j];
            FOR(i, 0, m) a[i][j] = a[i][j] - q[i][k] * r[k][j];
        }
    }
}

static void run_gramschmidt(int steps)
{
    enum { M = 1000, N = 1200 };
    (void)steps;
    ARRAY2(a, M, N);
    ARRAY2(r, N, N);
    ARRAY2(q, M, N);
    FOR(i, 0, M) FOR(j, 0, N)
    {
        a[i][j] = ((double)((i * j) % M) / M) * 100 + 10;
        q[i][j] = 0;
    }
    FOR(i, 0, N) FOR(j, 0, N) r[i][j] = 0;
    gramschmidt(M, N, a, r, q);
}

/* ------------------------------------------------------------------ dynamic programming */

KERNEL floyd_warshall(int steps, int n, double path[n][n])
{
    FOR(k, 0, steps)
    FOR(i, 0, n) FOR(j, 0, n) path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
}

static void run_floyd_warshall(int steps)
{
    enum { N = 2800 };
    ARRAY2(path, N, N);
    FOR(i, 0, N) FOR(j, 0, N)
    {
        path[i][j] = i * j % 7 + 1;
        if ((i + j) % 13 == 0 || (i + j) % 7 == 0 || (i + j) % 11 == 0)
            path[i][j] = 999;
    }
    floyd_warshall(steps > 0 ? steps : N, N, path);
}

#define LARGER(a, b) ((a) >= (b) ? (a) : (b))
KERNEL nussinov(int n, char sequence[n], double table[n][n])
{
    DOWN(i, n - 1, 0) FOR(j, i + 1, n)
    {
        if (j - 1 >= 0)
            table[i][j] = LARGER(table[i][j], table[i][j - 1]);
        if (i + 1 < n)
            table[i][j] = LARGER(table[i][j], table[i + 1][j]);
        if (j - 1 >= 0 && i + 1 < n) {
            if (i < j - 1)
                table[i][j] = LARGER(table[i][j], table[i + 1][j - 1] + (sequence[i] + sequence[j] == 3 ? 1 : 0));
            else
                table[i][j] = LARGER(table[i][j], table[i + 1][j - 1]);
        }
        FOR(k, i + 1, j) table[i][j] = LARGER(table[i][j], table[i][k] + table[k + 1][j]);
    }
}

static void run_nussinov(int steps)
{
    enum { N = 2500 };
    (void)steps;
    char *sequence = block(N / sizeof(double) + 1);
    ARRAY2(table, N, N);
    FOR(i, 0, N) sequence[i] = (char)((i + 1) % 4);
    FOR(i, 0, N) FOR(j, 0, N) table[i][j] = 0;
    nussinov(N, sequence, table);
}

/* ------------------------------------------------------------------ stencils */

KERNEL adi(int steps, int n, double u[n][n], double v[n][n], double p[n][n], double q[n][n])
{
    const double a = -0.5, b = 2, c = a, d = -0.25, e = 1.5, f = d;
    FOR(t, 0, steps)
    {
        FOR(i, 1, n - 1)
        {
            v[0][i] = 1;
            p[i][0] = 0;
            q[i][0] = v[0][i];
            FOR(j, 1, n - 1)
            {
                p[i][j] = -c / (a * p[i][j - 1] + b);
                q[i][j] = (-d * u[j][i - 1] + (1 + 2 * d) * u[j][i] - f * u[j][i + 1] - a * q[i][j - 1]) /
                          (a * p[i][j - 1] + b);
            }
            v[n - 1][i] = 1;
            DOWN(j, n - 2, 1) v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
        }
        FOR(i, 1, n - 1)
        {
            u[i][0] = 1;
            p[i][0] = 0;
            q[i][0] = u[i][0];
            FOR(j, 1, n - 1)
            {
                p[i][j] = -f / (d * p[i][j - 1] + e);
                q[i][j] = (-a * v[i - 1][j] + (1 + 2 * a) * v[i][j] - c * v[i + 1][j] - d * q[i][j - 1]) /
                          (d * p[i][j - 1] + e);
            }
            u[i][n - 1] = 1;
            DOWN(j, n - 2, 1) u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
        }
    }
}

static void run_adi(int steps)
{
    enum { N = 1000 };
    ARRAY2(u, N, N);
    ARRAY2(v, N, N);
    ARRAY2(p, N, N);
    ARRAY2(q, N, N);
    FOR(i, 0, N) FOR(j, 0, N) u[i][j] = (double)(i + N - j) / N;
    adi(steps > 0 ? steps : 500, N, u, v, p, q);
}

KERNEL fdtd_2d(int steps, int nx, int ny, double ex[nx][ny], double ey[nx][ny], double hz[nx][ny], double fict[steps])
{
    FOR(t, 0, steps)
    {
        FOR(j, 0, ny) ey[0][j] = fict[t];
        FOR(i, 1, nx) FOR(j, 0, ny) ey[i][j] = ey[i][j] - 0.5 * (hz[i][j] - hz[i - 1][j]);
        FOR(i, 0, nx) FOR(j, 1, ny) ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j - 1]);
        FOR(i, 0, nx - 1)
        FOR(j, 0, ny - 1) hz[i][j] = hz[i][j] - 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
    }
}

static void run_fdtd_2d(int steps)
{
    enum { NX = 1000, NY = 1200 };
    steps = steps > 0 ? steps : 500;
    ARRAY2(ex, NX, NY);
    ARRAY2(ey, NX, NY);
    ARRAY2(hz, NX, NY);
    ARRAY1(fict, steps);
    FOR(i, 0, steps) fict[i] = i;
    FOR(i, 0, NX) FOR(j, 0, NY)
    {
        ex[i][j] = ((double)i * (j + 1)) / NX;
        ey[i][j] = ((double)i * (j + 2)) / NY;
        hz[i][j] = ((double)i * (j + 3)) / NX;
    }
    fdtd_2d(steps, NX, NY, ex, ey, hz, fict);
}

KERNEL heat_step(int n, double to[n][n][n], double from[n][n][n])
{
    FOR(i, 1, n - 1)
    FOR(j, 1, n - 1)
    FOR(k, 1, n - 1)
    to[i][j][k] = 0.125 * (from[i + 1][j][k] - 2 * from[i][j][k] + from[i - 1][j][k]) +
                  0.125 * (from[i][j + 1][k] - 2 * from[i][j][k] + from[i][j - 1][k]) +
                  0.125 * (from[i][j][k + 1] - 2 * from[i][j][k] + from[i][j][k - 1]) + from[i][j][k];
}

static void run_heat_3d(int steps)
{
    enum { N = 120 };
    ARRAY3(a, N, N, N);
    ARRAY3(b, N, N, N);
    FOR(i, 0, N) FOR(j, 0, N) FOR(k, 0, N) a[i][j][k] = b[i][j][k] = (double)(i + j + (N - k)) * 10 / N;
    FOR(t, 0, steps > 0 ? steps : 500)
    {
        heat_step(N, b, a);
        heat_step(N, a, b);
    }
}

KERNEL jacobi_step(int n, double to[n][n], double from[n][n])
{
    FOR(i, 1, n - 1)
    FOR(j, 1, n - 1) to[i][j] = 0.2 * (from[i][j] + from[i][j - 1] + from[i][1 + j] + from[1 + i][j] + from[i - 1][j]);
}

static void run_jacobi_2d(int steps)
{
    enum { N = 1300 };
    ARRAY2(a, N, N);
    ARRAY2(b, N, N);
    FOR(i, 0, N) FOR(j, 0, N)
    {
        a[i][j] = ((double)i * (j + 2) + 2) / N;
        b[i][j] = ((double)i * (j + 3) + 3) / N;
    }
    FOR(t, 0, steps > 0 ? steps : 500)
    {
        jacobi_step(N, b, a);
        jacobi_step(N, a, b);
    }
}

KERNEL seidel_2d(int steps, int n, double a[n][n])
{
    FOR(t, 0, steps)
    FOR(i, 1, n - 1)
    FOR(j, 1, n - 1)
    a[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i][j - 1] + a[i][j] + a[i][j + 1] + a[i + 1][j - 1] +
               a[i + 1][j] + a[i + 1][j + 1]) /
              9;
}

static void run_seidel_2d(int steps)
{
    enum { N = 2000 };
    ARRAY2(a, N, N);
    FOR(i, 0, N) FOR(j, 0, N) a[i][j] = ((double)i * (j + 2) + 2) / N;
    seidel_2d(steps > 0 ? steps : 500, N, a);
}

/* ------------------------------------------------------------------ the command */

static const struct {
    const char *name;
    void (*run)(int steps);
} kernels[] = {
    {"2mm", run_2mm},
    {"3mm", run_3mm},
    {"adi", run_adi},
    {"cholesky", run_cholesky},
    {"correlation", run_correlation},
    {"covariance", run_covariance},
    {"doitgen", run_doitgen},
    {"fdtd-2d", run_fdtd_2d},
    {"floyd-warshall", run_floyd_warshall},
    {"gemm", run_gemm},
    {"gramschmidt", run_gramschmidt},
    {"heat-3d", run_heat_3d},
    {"jacobi-2d", run_jacobi_2d},
    {"lu", run_lu},
    {"ludcmp", run_ludcmp},
    {"nussinov", run_nussinov},
    {"seidel-2d", run_seidel_2d},
    {"symm", run_symm},
    {"syr2k", run_syr2k},
    {"syrk", run_syrk},
    {"trmm", run_trmm},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof kernels / sizeof kernels[0]; i++) {
        if (strcmp(argv[1], kernels[i].name) == 0) {
            kernels[i].run(argc > 2 ? atoi(argv[2]) : 0);
            return 0;
        }
    }
    fprintf(stderr, "usage: c2sim_kernels KERNEL [STEPS]\n");
    return 2;
}
