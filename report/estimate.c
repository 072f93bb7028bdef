/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * estimate: what samples say of the run they were taken from, and how surely.
 *
 * Model
 *   Samples have different numbers of accesses, so a rate is estimated as a ratio of sums, R = sum y / sum x: the very
 *   rate of the instructions that were measured. What differs between samples is d = y - R x, in units of y. With n
 *   samples that have an x, a mean x of m, and the share f of the run sampled:
 *     standard deviation   s = sqrt(sum d^2 / (n - 1)) / m
 *     margin of 95 %       t(n - 1) s sqrt((1 - f) / n)
 *   Where all x are alike, s is the standard deviation of the samples' rates. The samples are taken to be drawn at
 *   random from the run, cut into pieces as long as they are: systematic ones, too.
 *   Samples without an x say nothing about the ratio, and are not among the n.
 *   A start that was measured whole, Y of X, is a stratum of its own and the samples are of the rest: the combined
 *   ratio R = (Y + sum y / f) / (X + sum x / f), f the share of the rest. Here all of it is multiplied by f, so that a
 *   sample counts 1 and the start f: m = (f X + sum x) / n. The start has no variance. The samples' d scatter about
 *   their own mean, which is not 0 any more, as only with the start's they add up to that; and samples without an x are
 *   among the n: they say how much the rest weighs beside the start.
 *
 * Invariants
 *   Only + - * / and square roots: the same digits on every processor.
 *
 * Not modelled
 *   That a ratio of sums is biased, by less than a margin's n-th part; what caches that stood still while instructions
 *   were skipped do to a sample.
 *
 * Source: Cochran, Sampling Techniques, 3rd edition 1977: chapter 2 (f; samples without an x are of another part of the
 * population), chapter 6 (the ratio and its variance; 6.11, the combined ratio of strata), chapter 8 (systematic
 * samples). t: Abramowitz & Stegun 1964, 26.7.3 to 26.7.5.
 */
#include <math.h>

#include "base/base.h"
#include "report/estimate.h"

/* ------------------------------------------------------------------ Student's t */

/* Where the series below is not yet good enough: worked out from 26.7.3 and 26.7.4, which are exact. */
static const double FEW[] = {
    12.706204736174694, 4.302652729749462, 3.182446305283710, 2.776445105197793, 2.570581835636314, 2.446911851144969,
    2.364624251592784,  2.306004135204166, 2.262157162798205, 2.228138851986274, 2.200985160091640, 2.178812829667228,
    2.160368656462791,  2.144786687917804, 2.131449545559774, 2.119905299221255, 2.109815577833317, 2.100922040241039,
    2.093024054408309,  2.085963447265864, 2.079613844727680, 2.073873067904022, 2.068657610419048, 2.063898561628021,
    2.059538552753298,  2.055529438642874, 2.051830516480282, 2.048407141795245, 2.045229642132703, 2.042272456301238,
};
#define FEW_COUNT (sizeof FEW / sizeof FEW[0])
#define NORMAL 1.959963984540054 /* of infinitely many degrees */

/* 26.7.5, up to the fourth power of 1 / degrees. */
static double student_of_many(double degrees)
{
    const double z = NORMAL, z2 = z * z;
    const double g1 = (z2 + 1) * z / 4;
    const double g2 = ((5 * z2 + 16) * z2 + 3) * z / 96;
    const double g3 = (((3 * z2 + 19) * z2 + 17) * z2 - 15) * z / 384;
    const double g4 = ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) * z / 92160;
    return z + (g1 + (g2 + (g3 + g4 / degrees) / degrees) / degrees) / degrees;
}

double estimate_student(uint32_t degrees)
{
    C2_ASSERT(degrees != 0);
    return degrees <= FEW_COUNT ? FEW[degrees - 1] : student_of_many(degrees);
}

/* ------------------------------------------------------------------ a ratio */

double estimate_mean(const struct estimate *of) { return of->y / of->x; }

double estimate_distance(const struct estimate *of, double y, double x)
{
    const double mean = estimate_mean(of), start = of->start_y - mean * of->start_x;
    return y - mean * x + (start == 0 ? 0 : start / of->samples);
}

double estimate_square(const struct estimate *of, double y, double x)
{
    const double d = estimate_distance(of, y, x);
    return d * d;
}

bool estimate_has_margin(const struct estimate *of) { return of->samples >= 2; }

void estimate_withhold(struct estimate *of) { of->samples = 0; }

void estimate_add_start(struct estimate *of, double y, double x, double share, uint32_t all)
{
    of->start_y = share * y;
    of->start_x = share * x;
    of->y += of->start_y;
    of->x += of->start_x;
    if (of->start_x > 0)
        of->samples = all;
}

double estimate_deviation(const struct estimate *of)
{
    return sqrt(of->squares / (of->samples - 1)) / (of->x / of->samples);
}

static double margin_of(const struct estimate *of, double count, double left)
{
    const double degrees = count - 1 < UINT32_MAX ? count - 1 : UINT32_MAX;
    return estimate_student((uint32_t)degrees) * estimate_deviation(of) * sqrt(left / count);
}

double estimate_margin(const struct estimate *of, double left) { return margin_of(of, of->samples, left); }

/* The margin of `count` samples, each of them as much of the run as one of these is. */
static double margin_of_count(const struct estimate *of, double left, double count)
{
    const double taken = (1 - left) / of->samples * count;
    return taken >= 1 ? 0 : margin_of(of, count, 1 - taken);
}

/* The margin falls when there are more. */
uint64_t estimate_needed(const struct estimate *of, double left, double wanted)
{
    uint64_t low = 1, high = 2;
    for (; margin_of_count(of, left, (double)high) > wanted; high *= 2)
        low = high;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        *(margin_of_count(of, left, (double)middle) > wanted ? &low : &high) = middle;
    }
    return (1 - left) / of->samples * (double)high >= 1 ? UINT64_MAX : high;
}
