/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * chosen: samples that were chosen: the simulation points of --points, in the order of the run.
 *
 * Model
 *   Sample i is one interval, which begins at its number times the length of an interval. Its weight is the share of
 *   the run that it stands for.
 * Invariants
 *   Samples do not overlap; every weight is above 0. A run that ends before the last of them begins has no report.
 */
#include <inttypes.h>
#include <string.h>

#include "session/session_priv.h"
#include "points/points.h"

#define MOST 1000000000000000000u /* instructions of a run */
#define WHOLE 0.001               /* weights that sum up to 1 but for this much are for all of the run */

struct session_chosen {
    const char *path; /* of the points, for messages */
    struct points_list list;
    double *weights; /* [sample] */
    uint64_t interval;
};

/* NAME.weights of NAME.simpoints, or of whatever follows the last dot. */
char *session_chosen_beside(const char *points)
{
    const char *slash = strrchr(points, '/'), *dot = strrchr(points, '.');
    const bool ends = dot && (!slash || dot > slash);
    return c2_format("%.*s.weights", (int)(ends ? (size_t)(dot - points) : strlen(points)), points);
}

static enum c2_status chosen_read_files(struct session_chosen *chosen, const char *weights, struct c2_error *err)
{
    double sum;
    enum c2_status status = points_read(&chosen->list, &sum, chosen->path, weights, err);
    if (status == C2_OK && sum < 1 - WHOLE)
        fprintf(stderr, "c2emu: --points %s: the weights sum up to %.3g: the points stand for that much of the run\n",
                chosen->path, sum);
    return status;
}

static enum c2_status take_list(struct session_chosen *chosen, struct c2_error *err)
{
    const struct points_list *list = &chosen->list;
    const uint64_t last = list->points[list->count - 1].interval;
    if (last > MOST / chosen->interval)
        return c2_fail(err, C2_ERR_INVALID,
                       "--points %s: interval %" PRIu64 " of %" PRIu64 " instructions begins behind 10^18",
                       chosen->path, last, chosen->interval);
    chosen->weights = c2_calloc(list->count, sizeof *chosen->weights);
    if (!chosen->weights)
        return c2_fail_memory(err, "the points");
    for (uint32_t i = 0; i < list->count; i++)
        chosen->weights[i] = list->points[i].weight;
    return C2_OK;
}

enum c2_status session_chosen_create(struct session_chosen **out, const struct session_options *options,
                                     struct c2_error *err)
{
    const struct session_sampling *asked = &options->sampling;
    struct session_chosen *chosen = *out = c2_calloc(1, sizeof *chosen);
    char *weights = asked->weights ? c2_strdup(asked->weights) : session_chosen_beside(asked->points);
    enum c2_status status = chosen && weights ? C2_OK : c2_fail_memory(err, "the points");
    if (status == C2_OK) {
        *chosen = (struct session_chosen){.path = asked->points, .interval = options->points.interval};
        status = chosen_read_files(chosen, weights, err);
    }
    if (status == C2_OK)
        status = take_list(chosen, err);
    c2_free(weights);
    return status;
}

void session_chosen_destroy(struct session_chosen *chosen)
{
    if (!chosen)
        return;
    points_list_release(&chosen->list);
    c2_free(chosen->weights);
    c2_free(chosen);
}

uint64_t session_chosen_count(const struct session_chosen *chosen) { return chosen->list.count; }
const double *session_chosen_weights(const struct session_chosen *chosen) { return chosen->weights; }
uint64_t session_chosen_length(const struct session_chosen *chosen) { return chosen->interval; }
uint64_t session_chosen_start(const struct session_chosen *chosen, uint64_t sample)
{
    return chosen->list.points[sample].interval * chosen->interval;
}

enum c2_status session_chosen_check(const struct session_chosen *chosen, uint64_t instructions, struct c2_error *err)
{
    const uint32_t last = chosen->list.count - 1;
    const uint64_t start = session_chosen_start(chosen, last);
    return instructions > start
               ? C2_OK
               : c2_fail(err, C2_ERR_INVALID,
                         "--points %s: interval %" PRIu64 " begins at instruction %" PRIu64 ", and the run has ended "
                         "after %" PRIu64
                         "; the points are of another run, or of other intervals than --interval %" PRIu64,
                         chosen->path, chosen->list.points[last].interval, start, instructions, chosen->interval);
}
