/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * estimate: what samples say of the run they were taken from, and how surely.
 */
#ifndef C2_REPORT_ESTIMATE_H
#define C2_REPORT_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

/* The value that Student's t with so many degrees of freedom stays below, in size, 95 times of 100. degrees: at least
 * 1. Relative error: below 2 * 10^-8. */
double estimate_student(uint32_t degrees);

/* One ratio, such as misses per access: the sums of y and x over all samples, and how the samples scatter about it. A
 * start that was measured whole is in y and x, scaled down to what the samples are of the rest (estimate_add_start). */
struct estimate {
    double y, x;
    double start_y, start_x; /* the start's part of them; 0: there is none, or it has no x */
    double squares;          /* the sum of estimate_square() over the samples; once y and x are whole */
    uint32_t samples;        /* those with an x above 0; where start_x is, all */
};
/* y and x of the start, once. share: of the instructions behind it those that the samples have, above 0 to 1. all: how
 * many samples there are. When all samples have been added. */
void estimate_add_start(struct estimate *of, double y, double x, double share, uint32_t all);
/* How one sample lies beside the ratio, once y, x and samples are whole: d less the mean of all d, and its square. A
 * sample without x has no say unless the start does: then it lies beside the others. */
double estimate_distance(const struct estimate *of, double y, double x);
double estimate_square(const struct estimate *of, double y, double x);

double estimate_mean(const struct estimate *of); /* x is not 0 */
/* Whether it can be said how sure it is: two samples at least have a say. Else there are none of the following. */
bool estimate_has_margin(const struct estimate *of);
void estimate_withhold(struct estimate *of);          /* it cannot, for another reason */
double estimate_deviation(const struct estimate *of); /* the standard deviation between samples */
/* Half of the interval that holds the ratio of the whole run with 95 %. left: the share of the run that was not
 * sampled, 0 to 1. */
double estimate_margin(const struct estimate *of, double left);
/* How many samples as long as these would have a margin of at most `wanted`, if they scattered as these do; UINT64_MAX:
 * so many that nothing of the run would be left. wanted: above 0. */
uint64_t estimate_needed(const struct estimate *of, double left, double wanted);

#endif
