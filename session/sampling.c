/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sampling: how long the parts of samples are, where the command line does not say.
 *
 * Model
 *   What is not given with --period is a part of it: the start and the warm-up each so much that what a program sets up
 *   and comes back to is simulated, and a sample a tenth of it (docs/sampling.md has what this costs and how far it is
 *   off). Without a period nothing is warmed up, and what is measured must be said.
 */
#include "session/session_priv.h"

/* Of a period. */
#define START_SHARE 2
#define WARM_UP_SHARE 4
#define SAMPLE_SHARE 10

bool session_sampling_asked(const struct session_sampling *sampling)
{
    return sampling->skip != 0 || sampling->warmup != 0 || sampling->measure != 0 || sampling->points;
}

static uint64_t sampling_least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* A length that was given counts first, so that a sample and its warm-up have room in the period where they can. */
void session_sampling_fill(struct session_sampling *s, bool whole)
{
    const uint64_t period = s->period;
    if (period == 0)
        return;
    if (!s->start_set && whole && s->skip == 0)
        s->start = period / START_SHARE;
    if (!s->warmup_set && s->measure <= period)
        s->warmup = sampling_least(period / WARM_UP_SHARE, period - s->measure);
    if (s->measure == 0 && s->warmup < period)
        s->measure = sampling_least(period / SAMPLE_SHARE + (period < SAMPLE_SHARE), period - s->warmup);
}

static enum c2_status check_start(const struct session_sampling *s, struct c2_error *err)
{
    if (s->start == 0 || !s->start_set)
        return C2_OK;
    if (s->period == 0)
        return c2_fail(err, C2_ERR_INVALID, "--start is measured beside the samples of a period; add --period N");
    if (s->skip != 0)
        return c2_fail(err, C2_ERR_INVALID, "--start measures what --skip leaves out; leave one out");
    return C2_OK;
}

enum c2_status session_sampling_check(const struct session_sampling *s, struct c2_error *err)
{
    if (check_start(s, err) != C2_OK)
        return C2_ERR_INVALID;
    if (s->measure == 0 && s->samples != 0)
        return c2_fail(err, C2_ERR_INVALID, "--samples needs to know how long a sample is; add --measure N");
    if (s->measure == 0 && s->precision != 0)
        return c2_fail(err, C2_ERR_INVALID,
                       "--precision is of samples; add --period N, or --measure N and --samples K");
    if (s->random_offsets && s->period == 0)
        return c2_fail(err, C2_ERR_INVALID, "--offsets random draws a place in each period; add --period N");
    if (s->period != 0 && (s->warmup > s->period || s->measure > s->period - s->warmup))
        return c2_fail(err, C2_ERR_INVALID,
                       "--period %llu is shorter than a sample of %llu instructions and its warm-up of %llu",
                       (unsigned long long)s->period, (unsigned long long)s->measure, (unsigned long long)s->warmup);
    return C2_OK;
}
