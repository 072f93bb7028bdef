/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * score: the Bayesian information criterion of a clustering.
 *
 * Model
 *   Clusters are normal distributions, round and equally wide in all dimensions (Pelleg & Moore, X-means, 2000). With
 *   n intervals of D dimensions in k clusters, whose shares of the instructions are p, and the variance s2, the mean
 *   of an interval's squared distances from its centre in each dimension:
 *
 *       n * (-D/2 * (ln(2 pi s2) + 1) + sum over the clusters of p ln p)  -  (k - 1 + k D + 1)/2 * ln n
 *
 *   the logarithm of how likely the intervals are, less what as many parameters fit by chance.
 *   SimPoint 3.0 has the same formula. Without a bound the score of intervals that are all in the midst of their
 *   clusters is infinite, and of ones that nearly are it grows with every difference that is too small to matter: so
 *   s2 is taken for SAME^2 at least. Two intervals differ by SAME in a coordinate where about one in a thousand
 *   instructions is of other blocks.
 * Invariants
 *   MPFR rounds each logarithm rightly, so the score has the same bits with any version of the C library.
 */
#include <mpfr.h>

#include "points/points_priv.h"

#define SAME 0.001
#define TWO_PI 6.283185307179586477

static double logarithm(double x)
{
    MPFR_DECL_INIT(value, 53);
    mpfr_set_d(value, x, MPFR_RNDN);
    mpfr_log(value, value, MPFR_RNDN);
    return mpfr_get_d(value, MPFR_RNDN);
}

static double variance(const struct points_clusters *clusters, const struct points_vectors *vectors)
{
    double sum = 0;
    for (uint32_t i = 0; i < vectors->count; i++) {
        const double *centre = clusters->centres + (size_t)clusters->of[i] * vectors->dimensions;
        sum += points_distance(vectors, i, centre, 1e300) * (double)vectors->instructions[i];
    }
    const double found = sum / ((double)vectors->total * vectors->dimensions);
    return found > SAME * SAME ? found : SAME * SAME;
}

double points_score(const struct points_clusters *clusters, const struct points_vectors *vectors)
{
    const double n = vectors->count, dimensions = vectors->dimensions, k = clusters->k;
    double likelihood = -dimensions / 2 * (logarithm(TWO_PI * variance(clusters, vectors)) + 1);
    for (uint32_t i = 0; i < clusters->k; i++) {
        const double share = clusters->weights[i] / (double)vectors->total;
        likelihood += share > 0 ? share * logarithm(share) : 0;
    }
    return n * likelihood - (k + k * dimensions) / 2 * logarithm(n);
}
