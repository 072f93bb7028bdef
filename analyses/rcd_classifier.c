/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * rcd_classifier: whether a loop with this contribution factor suffers from conflicts.
 *
 * Model
 *   The classifier is a logistic regression with one independent variable, the contribution factor. Its coefficients
 *   are those that bench/rcd.py has found with the loops of bench/rcd_loops.c, by maximum likelihood with a small
 *   penalty, as the loops can be told apart: --rcd-below 9, 64 sets of 8 ways, conflict where a quarter of the misses
 *   is one to the shadow. They are not for other thresholds or other numbers of sets.
 */
#include <math.h>

#include "analyses/rcd.h"

#define TRAINED_THRESHOLD 9u
#define TRAINED_SETS 64u
static const struct regression {
    double constant, factor;
} of_all[ANALYSES_RCD_KINDS] = {[ANALYSES_RCD_SINGLE] = {-5.9222, 8.4882}, [ANALYSES_RCD_DEEP] = {-3.8206, 8.4843}},
  of_single_samples = {-2.3525, 12.5544};

bool analyses_rcd_is_trained(uint64_t threshold, uint32_t sets)
{
    return threshold == TRAINED_THRESHOLD && sets == TRAINED_SETS;
}

double analyses_rcd_probability(enum analyses_rcd_kind kind, bool single_samples, double contribution)
{
    const struct regression *by = single_samples ? &of_single_samples : &of_all[kind];
    return 1 / (1 + exp(-(by->constant + by->factor * contribution)));
}
