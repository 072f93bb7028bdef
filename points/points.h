/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * points: which intervals of a run stand for the others. Each interval is known by how often each of its basic blocks
 * was executed; intervals that execute the same code are taken for equal (SimPoint: Sherwood, Perelman, Hamerly &
 * Calder, ASPLOS 2002; Hamerly, Perelman, Lau & Calder, SimPoint 3.0, JILP 2005). And the files in which SimPoint has
 * intervals, points and weights.
 *
 * The same intervals and seed give the same points on every machine and with every compiler: arithmetic of doubles in a
 * fixed order, or of integers, and logarithms that are rightly rounded.
 */
#ifndef C2_POINTS_H
#define C2_POINTS_H

#include "base/base.h"

#define POINTS_MOST_INSTRUCTIONS 1000000000000000000u /* of an interval */

/* ------------------------------------------------------------------ vectors.c: intervals
 * An entry of an interval: a block, numbered from 1, and how many instructions of it were executed. */
struct points_entry {
    uint64_t id, instructions;
};
#define POINTS_DIMENSIONS 15u /* SimPoint's */
#define POINTS_MOST_DIMENSIONS 1000u
struct points_vectors;
/* dimensions: to how many the vectors are projected. */
enum c2_status points_vectors_create(struct points_vectors **out, uint32_t dimensions, uint64_t seed,
                                     struct c2_error *err);
void points_vectors_destroy(struct points_vectors *vectors); /* takes NULL */
/* The next interval. Its instructions are more than none and not above POINTS_MOST_INSTRUCTIONS; the order of its
 * entries is of no importance. */
enum c2_status points_vectors_add(struct points_vectors *vectors, const struct points_entry *entries, size_t count,
                                  struct c2_error *err);
uint32_t points_vectors_count(const struct points_vectors *vectors);

/* ------------------------------------------------------------------ choose.c: points */
#define POINTS_MAX_K 30u /* SimPoint's */
#define POINTS_MOST_K 1000u
struct points_point {
    uint64_t interval; /* from 0 */
    uint32_t cluster;
    double weight; /* share of the run that the cluster is, by instructions */
    /* What the cluster has; 0 in points that were read from files. */
    uint64_t intervals, instructions;
};
struct points_list {
    struct points_point *points;
    uint32_t count;
};
void points_list_release(struct points_list *list);
/* One point a cluster, by the number of the cluster: 0 is the one of the first interval, 1 the one of the first
 * interval that is not in 0, and so on. There is an interval at least. max_k: clusters at most, not 0. */
enum c2_status points_choose(struct points_list *out, const struct points_vectors *vectors, uint32_t max_k,
                             uint64_t seed, struct c2_error *err);

/* ------------------------------------------------------------------ vector_file.c: vectors, `T:id:n :id:n` */
void points_write_vector(FILE *to, const struct points_entry *entries, size_t count);
/* Hands each interval of the file to `take`, in order. What is no vector is C2_ERR_FORMAT, with the line. name: for
 * messages. */
typedef enum c2_status points_take(void *self, const struct points_entry *entries, size_t count, struct c2_error *err);
enum c2_status points_read_vectors(FILE *from, const char *name, points_take *take, void *self, struct c2_error *err);

/* ------------------------------------------------------------------ point_file.c: points and weights */
void points_write_points(FILE *to, const struct points_list *list);  /* `interval cluster`, a line each */
void points_write_weights(FILE *to, const struct points_list *list); /* `weight cluster` */
/* Reads both files; the points come in the order of their intervals, which differ, and weights are above 0. *sum: of
 * the weights, 1 but for rounding if the points are for all of the run. */
enum c2_status points_read(struct points_list *out, double *sum, const char *points, const char *weights,
                           struct c2_error *err);

#endif
