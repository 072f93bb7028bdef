/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * choose: how many clusters there are, and which interval stands for each.
 *
 * Model
 *   The intervals are put into 1, 2, ... clusters, each time from several first centres, of which those count that give
 *   the best score. The number of clusters is the smallest whose score reaches ENOUGH of the way from the worst to the
 *   best of these scores: as SimPoint 3.0 has it, which does not try every number.
 *   A cluster's point is the interval nearest to its centre, of equally near ones the first.
 *   The last interval ends with the program. When it is shorter than half of the first one it is what the program does
 *   at its end, and would be a cluster by itself: it takes no part, and then adds to the weight of the nearest cluster.
 * Invariants
 *   What differs in last digits alone decides nothing: a score that is to be better, a distance that is to be
 *   shorter, is so by more than NEGLIGIBLE.
 */
#include <float.h>
#include <math.h>

#include "points/points_priv.h"

#define ENOUGH 0.9
#define NEGLIGIBLE 1e-9 /* of a score or distance */
#define TRIES 5u        /* from centres that are spread out, then from drawn ones */

static void cluster_from(struct points_clusters *clusters, const struct points_vectors *vectors, uint32_t k,
                         unsigned attempt, struct c2_rng *rng)
{
    (attempt == 0 ? points_spread_centres : points_draw_centres)(clusters, vectors, k, rng);
    points_cluster(clusters, vectors);
}

/* The generator of one attempt, so that each can be made again. */
static struct c2_rng generator_of(uint64_t seed, uint32_t k, unsigned attempt)
{
    struct c2_rng rng;
    c2_rng_init(&rng, seed, "clusters");
    c2_rng_init(&rng, c2_rng_next(&rng) + (uint64_t)k * TRIES + attempt, "centres");
    return rng;
}

struct best {
    double score;
    unsigned attempt;
};

static struct best choose_try_all(struct points_clusters *clusters, const struct points_vectors *vectors, uint32_t k,
                                  uint64_t seed)
{
    struct best best = {-DBL_MAX, 0};
    for (unsigned attempt = 0; attempt < TRIES; attempt++) {
        struct c2_rng rng = generator_of(seed, k, attempt);
        cluster_from(clusters, vectors, k, attempt, &rng);
        const double score = points_score(clusters, vectors);
        if (attempt == 0 || score > best.score + NEGLIGIBLE * fabs(best.score))
            best = (struct best){score, attempt};
    }
    return best;
}

/* best: [max_k], of 1, 2, ... clusters. Returns which of them is good enough. */
static uint32_t smallest_good(const struct best *best, uint32_t max_k)
{
    double lowest = best[0].score, highest = best[0].score;
    for (uint32_t i = 1; i < max_k; i++) {
        lowest = best[i].score < lowest ? best[i].score : lowest;
        highest = best[i].score > highest ? best[i].score : highest;
    }
    uint32_t found = 0;
    while (best[found].score < lowest + ENOUGH * (highest - lowest) && best[found].score < highest)
        found++;
    return found;
}

/* ------------------------------------------------------------------ points */

/* numbers: [k], of the clusters in the order in which intervals come to them. Returns how many have any. */
static uint32_t number_clusters(uint32_t *numbers, const struct points_clusters *clusters, uint32_t intervals)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < clusters->k; k++)
        numbers[k] = UINT32_MAX;
    for (uint32_t i = 0; i < intervals; i++)
        if (numbers[clusters->of[i]] == UINT32_MAX)
            numbers[clusters->of[i]] = count++;
    return count;
}

static void add_interval(struct points_point *point, double *nearest, double distance, uint32_t i)
{
    if (point->intervals == 0 || distance < *nearest * (1 - NEGLIGIBLE)) {
        point->interval = i;
        *nearest = distance;
    }
    point->intervals++;
}

/* whole: the vectors that were clustered, others behind them have no point. */
static void find_points(struct points_point *points, const uint32_t *numbers, double *nearest,
                        const struct points_clusters *clusters, const struct points_vectors *vectors, uint32_t whole)
{
    for (uint32_t i = 0; i < vectors->count; i++) {
        uint32_t k;
        const double distance = points_nearest(&k, clusters, vectors, i);
        if (i < whole)
            add_interval(&points[numbers[k]], &nearest[numbers[k]], distance, i);
        else
            points[numbers[k]].intervals++;
        points[numbers[k]].instructions += vectors->instructions[i];
    }
}

static enum c2_status make_list(struct points_list *out, const struct points_clusters *clusters,
                                const struct points_vectors *vectors, uint32_t whole, struct c2_error *err)
{
    uint32_t *numbers = c2_calloc(clusters->k, sizeof *numbers);
    double *nearest = c2_calloc(clusters->k, sizeof *nearest);
    out->points = c2_calloc(clusters->k, sizeof *out->points);
    if (numbers && nearest && out->points) {
        out->count = number_clusters(numbers, clusters, whole);
        find_points(out->points, numbers, nearest, clusters, vectors, whole);
    }
    c2_free(numbers);
    c2_free(nearest);
    for (uint32_t i = 0; i < out->count; i++) {
        out->points[i].cluster = i;
        out->points[i].weight = (double)out->points[i].instructions / (double)vectors->total;
    }
    return out->count != 0 ? C2_OK : c2_fail_memory(err, "the points");
}

void points_list_release(struct points_list *list)
{
    c2_free(list->points);
    *list = (struct points_list){0};
}

/* Those that take part. */
static struct points_vectors without_rest(const struct points_vectors *vectors)
{
    struct points_vectors whole = *vectors;
    const uint32_t last = vectors->count - 1;
    if (vectors->instructions[last] < vectors->instructions[0] / 2) {
        whole.count--;
        whole.total -= vectors->instructions[last];
    }
    return whole;
}

/* best: [max_k]. Leaves the clusters in which it finds the points. */
static void choose_choose(struct best *best, struct points_clusters *clusters, const struct points_vectors *whole,
                          uint32_t max_k, uint64_t seed)
{
    for (uint32_t i = 0; i < max_k; i++)
        best[i] = choose_try_all(clusters, whole, i + 1, seed);
    const uint32_t k = smallest_good(best, max_k) + 1;
    struct c2_rng rng = generator_of(seed, k, best[k - 1].attempt);
    cluster_from(clusters, whole, k, best[k - 1].attempt, &rng);
}

enum c2_status points_choose(struct points_list *out, const struct points_vectors *vectors, uint32_t max_k,
                             uint64_t seed, struct c2_error *err)
{
    struct points_clusters clusters;
    *out = (struct points_list){0};
    C2_ASSERT(vectors->count != 0 && max_k != 0 && max_k <= POINTS_MOST_K);
    const struct points_vectors whole = without_rest(vectors);
    max_k = max_k < whole.count ? max_k : whole.count;
    struct best *best = c2_calloc(max_k, sizeof *best);
    if (!best)
        return c2_fail_memory(err, "the clusters of intervals");
    enum c2_status status = points_clusters_create(&clusters, &whole, max_k, err);
    if (status == C2_OK) {
        choose_choose(best, &clusters, &whole, max_k, seed);
        status = make_list(out, &clusters, vectors, whole.count, err);
    }
    if (status != C2_OK)
        points_list_release(out);
    points_clusters_release(&clusters);
    c2_free(best);
    return status;
}
