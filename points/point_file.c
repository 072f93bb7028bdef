/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * point_file: simulation points and their weights in SimPoint's form.
 *
 * Model
 *   Two files of lines with two numbers each. One has an interval, from 0, and its cluster; the other the weight of a
 *   cluster and the cluster. Every cluster is once in each. Lines that begin with # say something to people, as empty
 *   ones do.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "points/points.h"

void points_write_points(FILE *to, const struct points_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        fprintf(to, "%" PRIu64 " %" PRIu32 "\n", list->points[i].interval, list->points[i].cluster);
}

void points_write_weights(FILE *to, const struct points_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        fprintf(to, "%.12g %" PRIu32 "\n", list->points[i].weight, list->points[i].cluster);
}

/* ------------------------------------------------------------------ lines of two numbers */

struct reader {
    const char *name;
    uint64_t line;
    struct points_list *list;
    uint32_t room;
    struct c2_map *of_cluster; /* cluster -> index of its point */
    bool *weighted;            /* [point] */
    uint32_t weights;
    double sum;
};

static enum c2_status point_file_wrong(const struct reader *reader, const char *what, const char *word,
                                       struct c2_error *err)
{
    return c2_fail(err, C2_ERR_FORMAT, "%s:%" PRIu64 ": %s: %.40s", reader->name, reader->line, what, word);
}

typedef enum c2_status take_pair(struct reader *reader, const char *first, const char *second, struct c2_error *err);

static enum c2_status read_pair(struct reader *reader, char *text, take_pair *take, struct c2_error *err)
{
    static const char blanks[] = " \t\r\n";
    char *rest, *first = strtok_r(text, blanks, &rest);
    if (!first || first[0] == '#')
        return C2_OK;
    char *second = strtok_r(NULL, blanks, &rest);
    if (!second)
        return point_file_wrong(reader, "a line has two numbers, and this one has", first, err);
    char *third = strtok_r(NULL, blanks, &rest);
    return third ? point_file_wrong(reader, "a line has two numbers, and behind them is", third, err)
                 : take(reader, first, second, err);
}

static enum c2_status read_pairs(struct reader *reader, FILE *from, take_pair *take, struct c2_error *err)
{
    char text[512];
    enum c2_status status = C2_OK;
    for (reader->line = 1; status == C2_OK && fgets(text, sizeof text, from); reader->line++) {
        const size_t length = strlen(text);
        if ((length == 0 || text[length - 1] != '\n') && !feof(from))
            return point_file_wrong(reader, "a line is longer than two numbers, or no text", text, err);
        status = read_pair(reader, text, take, err);
    }
    if (status == C2_OK && ferror(from))
        return c2_fail(err, C2_ERR_IO, "cannot read %s: %m", reader->name);
    return status;
}

static enum c2_status point_file_read_file(struct reader *reader, const char *name, take_pair *take,
                                           struct c2_error *err)
{
    FILE *from = fopen(name, "re");
    if (!from)
        return c2_fail(err, errno == ENOENT ? C2_ERR_NOT_FOUND : C2_ERR_IO, "cannot read %s: %m", name);
    reader->name = name;
    enum c2_status status = c2_outfile_spare(name, err);
    if (status == C2_OK)
        status = read_pairs(reader, from, take, err);
    fclose(from);
    return status;
}

/* ------------------------------------------------------------------ points */

static bool point_file_read_number(uint64_t *out, const char *text, uint64_t most)
{
    return text[0] >= '0' && text[0] <= '9' && c2_parse_number(out, text, "", NULL) == C2_OK && *out <= most;
}

static enum c2_status point_file_take_point(struct reader *reader, const char *first, const char *second,
                                            struct c2_error *err)
{
    uint64_t interval, cluster, known;
    if (!point_file_read_number(&interval, first, POINTS_MOST_INSTRUCTIONS))
        return point_file_wrong(reader, "must be the number of an interval, 0 to 10^18", first, err);
    if (!point_file_read_number(&cluster, second, UINT32_MAX))
        return point_file_wrong(reader, "must be the number of a cluster, 0 to 2^32 - 1", second, err);
    if (c2_map_get(reader->of_cluster, cluster, &known))
        return point_file_wrong(reader, "a second point for the cluster", second, err);
    struct points_list *list = reader->list;
    if (!c2_grow((void **)&list->points, &reader->room, list->count, sizeof *list->points))
        return c2_fail_memory(err, "the points");
    list->points[list->count] = (struct points_point){.interval = interval, .cluster = (uint32_t)cluster};
    return c2_map_put(reader->of_cluster, cluster, list->count++, err);
}

static int by_interval(const void *a, const void *b)
{
    const struct points_point *first = a, *second = b;
    return first->interval < second->interval ? -1 : first->interval > second->interval;
}

/* The points are sorted, and stand at their places. */
static enum c2_status point_file_sort(struct reader *reader, struct c2_error *err)
{
    struct points_list *list = reader->list;
    enum c2_status status = C2_OK;
    if (list->count == 0)
        return c2_fail(err, C2_ERR_FORMAT, "%s has no point; a point is a line with an interval and a cluster",
                       reader->name);
    qsort(list->points, list->count, sizeof *list->points, by_interval);
    for (uint32_t i = 0; i < list->count && status == C2_OK; i++) {
        if (i != 0 && list->points[i].interval == list->points[i - 1].interval)
            return c2_fail(err, C2_ERR_FORMAT, "%s: interval %" PRIu64 " is the point of two clusters", reader->name,
                           list->points[i].interval);
        status = c2_map_put(reader->of_cluster, list->points[i].cluster, i, err);
    }
    return status;
}

/* ------------------------------------------------------------------ weights */

static enum c2_status take_weight(struct reader *reader, const char *first, const char *second, struct c2_error *err)
{
    char *end;
    uint64_t cluster, point;
    const double weight = strtod(first, &end);
    if (*end != '\0' || !(weight > 0 && weight <= 1.001))
        return point_file_wrong(reader, "must be a weight, above 0 and 1 at most", first, err);
    if (!point_file_read_number(&cluster, second, UINT32_MAX))
        return point_file_wrong(reader, "must be the number of a cluster, 0 to 2^32 - 1", second, err);
    if (!c2_map_get(reader->of_cluster, cluster, &point))
        return point_file_wrong(reader, "the points have none for the cluster", second, err);
    if (reader->weighted[point])
        return point_file_wrong(reader, "a second weight for the cluster", second, err);
    reader->list->points[point].weight = weight;
    reader->weighted[point] = true;
    reader->weights++;
    reader->sum += weight;
    return C2_OK;
}

static enum c2_status check_weights(const struct reader *reader, struct c2_error *err)
{
    const struct points_list *list = reader->list;
    for (uint32_t i = 0; i < list->count; i++)
        if (!reader->weighted[i])
            return c2_fail(err, C2_ERR_FORMAT, "%s has no weight for cluster %" PRIu32 ", which has a point",
                           reader->name, list->points[i].cluster);
    if (reader->sum > 0 && reader->sum <= 1.001)
        return C2_OK;
    return c2_fail(err, C2_ERR_FORMAT, "%s: the weights sum up to %.6g; they are shares of a run, which has 1",
                   reader->name, reader->sum);
}

static enum c2_status read_weights(struct reader *reader, const char *weights, struct c2_error *err)
{
    reader->weighted = c2_calloc(reader->list->count, sizeof *reader->weighted);
    if (!reader->weighted)
        return c2_fail_memory(err, "the points");
    enum c2_status status = point_file_read_file(reader, weights, take_weight, err);
    if (status == C2_OK)
        status = check_weights(reader, err);
    c2_free(reader->weighted);
    return status;
}

enum c2_status points_read(struct points_list *out, double *sum, const char *points, const char *weights,
                           struct c2_error *err)
{
    struct reader reader = {.list = out};
    *out = (struct points_list){0};
    enum c2_status status = c2_map_create(&reader.of_cluster, err);
    if (status == C2_OK)
        status = point_file_read_file(&reader, points, point_file_take_point, err);
    if (status == C2_OK)
        status = point_file_sort(&reader, err);
    if (status == C2_OK)
        status = read_weights(&reader, weights, err);
    *sum = reader.sum;
    c2_map_destroy(reader.of_cluster);
    if (status != C2_OK)
        points_list_release(out);
    return status;
}
