/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * cluster: k-means.
 *
 * Model
 *   Each interval belongs to the nearest centre, of two equally near ones to the first. Each centre moves to the mean
 *   of its intervals, weighted with their instructions; one that has none stays. This goes on until no interval changes
 *   its centre (Lloyd).
 * Invariants
 *   Every sum is taken in the order of the intervals, and of the dimensions: the result has the same bits everywhere.
 *   At the end `of` and `weights` are those of the centres as they are.
 */
#include <float.h>
#include <string.h>

#include "points/points_priv.h"

enum c2_status points_clusters_create(struct points_clusters *out, const struct points_vectors *vectors,
                                      uint32_t most_k, struct c2_error *err)
{
    const size_t numbers = (size_t)most_k * vectors->dimensions;
    *out = (struct points_clusters){0};
    out->of = c2_calloc(vectors->count, sizeof *out->of);
    out->centres = c2_calloc(numbers, sizeof *out->centres);
    out->sums = c2_calloc(numbers, sizeof *out->sums);
    out->weights = c2_calloc(most_k, sizeof *out->weights);
    if (out->of && out->centres && out->sums && out->weights)
        return C2_OK;
    points_clusters_release(out);
    return c2_fail_memory(err, "the clusters of intervals");
}

void points_clusters_release(struct points_clusters *clusters)
{
    c2_free(clusters->of);
    c2_free(clusters->centres);
    c2_free(clusters->sums);
    c2_free(clusters->weights);
    *clusters = (struct points_clusters){0};
}

double points_distance(const struct points_vectors *vectors, uint32_t interval, const double *centre, double enough)
{
    const double *at = points_vector(vectors, interval);
    double sum = 0;
    for (uint32_t d = 0; d < vectors->dimensions && sum < enough; d++)
        sum += (at[d] - centre[d]) * (at[d] - centre[d]);
    return sum;
}

static double *centre_of(const struct points_clusters *clusters, const struct points_vectors *vectors, uint32_t k)
{
    return clusters->centres + (size_t)k * vectors->dimensions;
}

static void put_centre(struct points_clusters *clusters, const struct points_vectors *vectors, uint32_t interval)
{
    memcpy(centre_of(clusters, vectors, clusters->k), points_vector(vectors, interval),
           vectors->dimensions * sizeof *clusters->centres);
    clusters->k++;
}

/* ------------------------------------------------------------------ first centres */

/* Each interval is taken with the probability that leaves all sets of k equally likely. */
void points_draw_centres(struct points_clusters *clusters, const struct points_vectors *vectors, uint32_t k,
                         struct c2_rng *rng)
{
    clusters->k = 0;
    for (uint32_t i = 0; i < vectors->count; i++)
        if (c2_rng_below(rng, vectors->count - i) < k - clusters->k)
            put_centre(clusters, vectors, i);
}

double points_nearest(uint32_t *found, const struct points_clusters *clusters, const struct points_vectors *vectors,
                      uint32_t interval)
{
    double nearest = DBL_MAX;
    *found = 0;
    for (uint32_t k = 0; k < clusters->k; k++) {
        const double distance = points_distance(vectors, interval, centre_of(clusters, vectors, k), nearest);
        *found = distance < nearest ? k : *found;
        nearest = distance < nearest ? distance : nearest;
    }
    return nearest;
}

/* The interval that adds most to the squares of distances; of equals the first. */
static uint32_t farthest(const struct points_clusters *clusters, const struct points_vectors *vectors)
{
    uint32_t found = 0, ignored;
    double most = -1;
    for (uint32_t i = 0; i < vectors->count; i++) {
        const double sum = points_nearest(&ignored, clusters, vectors, i) * (double)vectors->instructions[i];
        found = sum > most ? i : found;
        most = sum > most ? sum : most;
    }
    return found;
}

void points_spread_centres(struct points_clusters *clusters, const struct points_vectors *vectors, uint32_t k,
                           struct c2_rng *rng)
{
    clusters->k = 0;
    put_centre(clusters, vectors, (uint32_t)c2_rng_below(rng, vectors->count));
    while (clusters->k < k)
        put_centre(clusters, vectors, farthest(clusters, vectors));
}

/* ------------------------------------------------------------------ moving them */

/* Returns whether an interval has changed its centre. */
static bool assign(struct points_clusters *clusters, const struct points_vectors *vectors)
{
    bool changed = false;
    memset(clusters->weights, 0, clusters->k * sizeof *clusters->weights);
    for (uint32_t i = 0; i < vectors->count; i++) {
        uint32_t k;
        points_nearest(&k, clusters, vectors, i);
        changed |= k != clusters->of[i];
        clusters->of[i] = k;
        clusters->weights[k] += (double)vectors->instructions[i];
    }
    return changed;
}

static void move_centres(struct points_clusters *clusters, const struct points_vectors *vectors)
{
    const uint32_t dimensions = vectors->dimensions;
    memset(clusters->sums, 0, (size_t)clusters->k * dimensions * sizeof *clusters->sums);
    for (uint32_t i = 0; i < vectors->count; i++)
        for (uint32_t d = 0; d < dimensions; d++)
            clusters->sums[(size_t)clusters->of[i] * dimensions + d] += points_vector(vectors, i)[d] *
                                                                        (double)vectors->instructions[i];
    for (uint32_t k = 0; k < clusters->k; k++)
        for (uint32_t d = 0; d < dimensions && clusters->weights[k] > 0; d++)
            centre_of(clusters, vectors, k)[d] = clusters->sums[(size_t)k * dimensions + d] / clusters->weights[k];
}

void points_cluster(struct points_clusters *clusters, const struct points_vectors *vectors)
{
    assign(clusters, vectors);
    for (unsigned round = 0; round < POINTS_ROUNDS; round++) {
        move_centres(clusters, vectors);
        if (!assign(clusters, vectors))
            break;
    }
}
