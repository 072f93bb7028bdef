/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The parts of the room, as they see each other.
 */
#ifndef C2_POINTS_PRIV_H
#define C2_POINTS_PRIV_H

#include "points/points.h"

/* Projected intervals. */
struct points_vectors {
    uint32_t count, room, dimensions;
    uint64_t key;           /* of the projection */
    double *at;             /* [count][dimensions]; -1 to 1 */
    uint64_t *instructions; /* [count] */
    uint32_t weight_room;
    uint64_t total; /* instructions */
};
static inline const double *points_vector(const struct points_vectors *vectors, uint32_t i)
{
    return vectors->at + (size_t)i * vectors->dimensions;
}

/* ------------------------------------------------------------------ cluster.c: k-means */
struct points_clusters {
    uint32_t k;
    uint32_t *of;    /* [interval]: its cluster, that of the nearest centre */
    double *centres; /* [k][dimensions]; there may be some that no interval is nearest to */
    double *sums;    /* [k][dimensions], and weights, */
    double *weights; /* [k]: of what is in them, instructions */
};
/* Room for most_k clusters. */
enum c2_status points_clusters_create(struct points_clusters *out, const struct points_vectors *vectors,
                                      uint32_t most_k, struct c2_error *err);
void points_clusters_release(struct points_clusters *clusters);
/* The square of the distance of an interval from a centre; of more than `enough`, something that is not less. */
double points_distance(const struct points_vectors *vectors, uint32_t interval, const double *centre, double enough);
/* The square of the distance of an interval from its nearest centre, whose number is *found; of two that are equally
 * near the first. */
double points_nearest(uint32_t *found, const struct points_clusters *clusters, const struct points_vectors *vectors,
                      uint32_t interval);
/* First centres: k different intervals, drawn; or one that is drawn, then each time the farthest from those before. */
void points_draw_centres(struct points_clusters *clusters, const struct points_vectors *vectors, uint32_t k,
                         struct c2_rng *rng);
void points_spread_centres(struct points_clusters *clusters, const struct points_vectors *vectors, uint32_t k,
                           struct c2_rng *rng);
/* Moves the centres until nothing changes, or POINTS_ROUNDS times. */
#define POINTS_ROUNDS 100u
void points_cluster(struct points_clusters *clusters, const struct points_vectors *vectors);

/* ------------------------------------------------------------------ score.c */
/* How good a clustering is: the greater the better. */
double points_score(const struct points_clusters *clusters, const struct points_vectors *vectors);

#endif
