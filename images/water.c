/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Molecules that move by the forces between all of them, with barriers between the steps: water [MOLECULES [STEPS]]
 *
 * The lesson: a structure is used in parts. A molecule has seven orders of motion for three atoms in three directions,
 * 504 bytes, in a block of 512. Forces are of all pairs, and take the positions (order 0) and add to the forces (order
 * 6) of both: 144 of 512 bytes, again and again; to predict and to correct takes all of it, once. `--histogram
 * --phase-at barriers` shows the peaks in each molecule. One thread does all the work; the barriers are where several
 * would wait for each other. After the program of that name in SPLASH-2, whose forces are others.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define APART static __attribute__((noinline))

enum { ORDERS = 7, FORCE = ORDERS - 1, ATOMS = 3, DIRECTIONS = 3 };

struct molecule {
    double motion[ORDERS][ATOMS][DIRECTIONS];
    double mass;
};

static int molecules;
static struct molecule *all;
static pthread_barrier_t barrier;

/* Each order moves by those above it. */
APART void predict(void)
{
    for (int i = 0; i < molecules; i++)
        for (int atom = 0; atom < ATOMS; atom++)
            for (int d = 0; d < DIRECTIONS; d++)
                for (int order = 0; order < FORCE; order++)
                    all[i].motion[order][atom][d] += all[i].motion[order + 1][atom][d] * 1e-3;
}

APART void clear_forces(void)
{
    for (int i = 0; i < molecules; i++)
        for (int atom = 0; atom < ATOMS; atom++)
            for (int d = 0; d < DIRECTIONS; d++)
                all[i].motion[FORCE][atom][d] = 0;
}

/* Of two atoms: by the inverse square of their distance, less a bit. */
static void push(struct molecule *a, struct molecule *b, int m, int n)
{
    double apart[DIRECTIONS], square = 1e-3;
    for (int d = 0; d < DIRECTIONS; d++) {
        apart[d] = a->motion[0][m][d] - b->motion[0][n][d];
        square += apart[d] * apart[d];
    }
    for (int d = 0; d < DIRECTIONS; d++) {
        const double force = apart[d] / (square * square);
        a->motion[FORCE][m][d] += force;
        b->motion[FORCE][n][d] -= force;
    }
}

/* Each molecule with the half of the others that follow it, round and round. */
APART void push_all(void)
{
    for (int i = 0; i < molecules; i++)
        for (int k = 1; k <= molecules / 2; k++) {
            const int j = (i + k) % molecules;
            if (2 * k == molecules && i > j)
                continue; /* once is enough for those that face each other */
            for (int m = 0; m < ATOMS; m++)
                for (int n = 0; n < ATOMS; n++)
                    push(&all[i], &all[j], m, n);
        }
}

APART void correct(void)
{
    for (int i = 0; i < molecules; i++)
        for (int atom = 0; atom < ATOMS; atom++)
            for (int d = 0; d < DIRECTIONS; d++)
                for (int order = 0; order < FORCE; order++)
                    all[i].motion[order][atom][d] += all[i].motion[FORCE][atom][d] / all[i].mass * 1e-9;
}

APART double energy(void)
{
    double sum = 0;
    for (int i = 0; i < molecules; i++)
        for (int atom = 0; atom < ATOMS; atom++)
            for (int d = 0; d < DIRECTIONS; d++)
                sum += all[i].motion[1][atom][d] * all[i].motion[1][atom][d] * all[i].mass;
    return sum / 2;
}

static void fill(void)
{
    unsigned seed = 1;
    for (int i = 0; i < molecules; i++) {
        all[i].mass = 18;
        for (int order = 0; order < ORDERS; order++)
            for (int atom = 0; atom < ATOMS; atom++)
                for (int d = 0; d < DIRECTIONS; d++) {
                    seed = seed * 1103515245u + 12345u;
                    all[i].motion[order][atom][d] = order < 2 ? (seed >> 16 & 0x7fff) / 32768.0 : 0;
                }
    }
}

int main(int argc, char **argv)
{
    molecules = argc > 1 ? atoi(argv[1]) : 64;
    const int steps = argc > 2 ? atoi(argv[2]) : 2;
    if (molecules < 2 || molecules > 1 << 16 || steps < 1 || steps > 1000) {
        fprintf(stderr, "usage: water [MOLECULES [STEPS]], 2 to 65536, 1 to 1000\n");
        return 2;
    }
    all = aligned_alloc(4096, ((size_t)molecules * sizeof *all + 4095) / 4096 * 4096);
    if (!all || pthread_barrier_init(&barrier, NULL, 1) != 0)
        return 1;
    fill();
    double last = 0;
    for (int step = 0; step < steps; step++) {
        pthread_barrier_wait(&barrier);
        predict();
        clear_forces();
        pthread_barrier_wait(&barrier);
        push_all();
        pthread_barrier_wait(&barrier);
        correct();
        pthread_barrier_wait(&barrier);
        last = energy();
    }
    printf("water: energy %.6f\n", last);
    free(all);
    return 0;
}
