/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * cg SIDE ROUNDS: conjugate gradients for a Poisson problem on a grid of SIDE x SIDE points, its matrix in CSR; with
 * -DSHUFFLED the points are numbered at random, as those of a mesh may be.
 */
#include <stdio.h>
#include <stdlib.h>

#include "text.h"

struct csr {
    int rows, *start, *column;
    double *value;
};

static double *new_vector(int rows) { return calloc((size_t)rows, sizeof(double)); }

static void number_points(int *number, int rows)
{
    for (int i = 0; i < rows; i++)
        number[i] = i;
#ifdef SHUFFLED
    for (int i = rows - 1; i > 0; i--) {
        const int k = (int)(gallery_random() % (uint32_t)(i + 1)), old = number[i];
        number[i] = number[k];
        number[k] = old;
    }
#endif
}

static void add(struct csr *a, int *used, int column, double value)
{
    a->column[*used] = column;
    a->value[(*used)++] = value;
}

static struct csr poisson(int side)
{
    const int rows = side * side;
    struct csr a = {.rows = rows};
    a.start = malloc(((size_t)rows + 1) * sizeof *a.start);
    a.column = malloc(5 * (size_t)rows * sizeof *a.column);
    a.value = malloc(5 * (size_t)rows * sizeof *a.value);
    int *number = malloc((size_t)rows * sizeof *number), *point = malloc((size_t)rows * sizeof *point), used = 0;
    number_points(number, rows);
    for (int i = 0; i < rows; i++)
        point[number[i]] = i;
    for (int row = 0; row < rows; row++) {
        const int at = point[row], x = at % side, y = at / side;
        a.start[row] = used;
        if (y > 0)
            add(&a, &used, number[at - side], -1);
        if (x > 0)
            add(&a, &used, number[at - 1], -1);
        add(&a, &used, row, 4);
        if (x + 1 < side)
            add(&a, &used, number[at + 1], -1);
        if (y + 1 < side)
            add(&a, &used, number[at + side], -1);
    }
    a.start[rows] = used;
    free(number);
    free(point);
    return a;
}

static void multiply(double *out, const struct csr *a, const double *x)
{
    for (int row = 0; row < a->rows; row++) {
        double sum = 0;
        for (int i = a->start[row]; i < a->start[row + 1]; i++)
            sum += a->value[i] * x[a->column[i]];
        out[row] = sum;
    }
}

static double dot(const double *x, const double *y, int rows)
{
    double sum = 0;
    for (int i = 0; i < rows; i++)
        sum += x[i] * y[i];
    return sum;
}

static void add_scaled(double *to, const double *x, double scale, int rows)
{
    for (int i = 0; i < rows; i++)
        to[i] += scale * x[i];
}

int main(int argc, char **argv)
{
    const int side = argc > 1 ? atoi(argv[1]) : 300, rounds = argc > 2 ? atoi(argv[2]) : 10;
    const struct csr a = poisson(side);
    double *x = new_vector(a.rows), *r = new_vector(a.rows), *p = new_vector(a.rows), *q = new_vector(a.rows);
    for (int i = 0; i < a.rows; i++)
        r[i] = p[i] = 1;
    double rr = dot(r, r, a.rows);
    for (int round = 0; round < rounds; round++) {
        multiply(q, &a, p);
        const double alpha = rr / dot(p, q, a.rows), old = rr;
        add_scaled(x, p, alpha, a.rows);
        add_scaled(r, q, -alpha, a.rows);
        rr = dot(r, r, a.rows);
        for (int i = 0; i < a.rows; i++)
            p[i] = r[i] + rr / old * p[i];
    }
    printf("%.10g\n", rr);
    return 0;
}
