/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Files of vectors, points and weights: what is written is read again; what is wrong is named with its line; and
 * damaged files, however damaged, are read or refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "points/points.h"
#include "unit/damage.h"

static char folder[] = "/tmp/points_files.XXXXXX";
static char points_path[64], weights_path[64];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(points_path, sizeof points_path, "%s/a.simpoints", folder);
    snprintf(weights_path, sizeof weights_path, "%s/a.weights", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(points_path);
    unlink(weights_path);
    return rmdir(folder);
}

static void write_file(const char *path, const char *text, size_t bytes)
{
    FILE *to = fopen(path, "we");
    assert_non_null(to);
    assert_int_equal(fwrite(text, 1, bytes, to), bytes);
    assert_int_equal(fclose(to), 0);
}

static enum c2_status read_both(struct points_list *list, double *sum, const char *points, const char *weights,
                                struct c2_error *err)
{
    write_file(points_path, points, strlen(points));
    write_file(weights_path, weights, strlen(weights));
    return points_read(list, sum, points_path, weights_path, err);
}

/* ------------------------------------------------------------------ points and weights */

static void written_and_read(void **state)
{
    struct points_point points[] = {{1, 0, 5.0 / 12, 5, 50}, {900000000000, 1, 1.0 / 3, 4, 40}, {8, 2, 0.25, 3, 30}};
    const struct points_list list = {points, 3};
    struct points_list read;
    double sum;
    (void)state;
    FILE *to = fopen(points_path, "we"), *weights = fopen(weights_path, "we");
    points_write_points(to, &list);
    points_write_weights(weights, &list);
    fclose(to);
    fclose(weights);
    assert_int_equal(points_read(&read, &sum, points_path, weights_path, NULL), C2_OK);
    assert_int_equal(read.count, 3);
    const unsigned order[] = {0, 2, 1};
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(read.points[i].interval, points[order[i]].interval);
        assert_int_equal(read.points[i].cluster, points[order[i]].cluster);
        assert_float_equal(read.points[i].weight, points[order[i]].weight, 1e-12);
    }
    assert_float_equal(sum, 1, 1e-11);
    points_list_release(&read);
}

static void read_as_others_write(void **state)
{
    struct points_list read;
    double sum;
    (void)state;
    assert_int_equal(read_both(&read, &sum, "# points\n\n 7\t3 \r\n2 0", "4.5e-1 3\n0.05 0\n", NULL), C2_OK);
    assert_int_equal(read.count, 2);
    assert_true(read.points[0].interval == 2 && read.points[0].cluster == 0 && read.points[0].weight == 0.05);
    assert_true(read.points[1].interval == 7 && read.points[1].cluster == 3 && read.points[1].weight == 0.45);
    assert_true(sum == 0.5);
    points_list_release(&read);
}

static void wrong_files(void **state)
{
    static const struct {
        const char *points, *weights, *says;
    } rows[] = {
        {"", "1 0\n", "a.simpoints has no point"},
        {"1\n", "1 0\n", "a.simpoints:1: a line has two numbers, and this one has: 1"},
        {"1 0\n2 1 3\n", "1 0\n", "a.simpoints:2: a line has two numbers, and behind them is: 3"},
        {"-1 0\n", "1 0\n", "a.simpoints:1: must be the number of an interval, 0 to 10^18: -1"},
        {"1.5 0\n", "1 0\n", "a.simpoints:1: must be the number of an interval, 0 to 10^18: 1.5"},
        {"1 x\n", "1 0\n", "a.simpoints:1: must be the number of a cluster, 0 to 2^32 - 1: x"},
        {"1 4294967296\n", "1 0\n", "a.simpoints:1: must be the number of a cluster, 0 to 2^32 - 1: 4294967296"},
        {"1 0\n2 0\n", "1 0\n", "a.simpoints:2: a second point for the cluster: 0"},
        {"1 0\n1 1\n", "1 0\n", "a.simpoints: interval 1 is the point of two clusters"},
        {"1 0\n", "", "a.weights has no weight for cluster 0, which has a point"},
        {"1 0\n", "1 1\n", "a.weights:1: the points have none for the cluster: 1"},
        {"1 0\n", "0.5 0\n0.5 0\n", "a.weights:2: a second weight for the cluster: 0"},
        {"1 0\n", "nan 0\n", "a.weights:1: must be a weight, above 0 and 1 at most: nan"},
        {"1 0\n", "1.5 0\n", "a.weights:1: must be a weight, above 0 and 1 at most: 1.5"},
        {"1 0\n2 1\n", "0.7 0\n0.7 1\n", "a.weights: the weights sum up to 1.4; they are shares of a run, which has 1"},
        {"1 0\n", "0 0\n", "a.weights:1: must be a weight, above 0 and 1 at most: 0"},
    };
    struct points_list read;
    struct c2_error err;
    double sum;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(read_both(&read, &sum, rows[i].points, rows[i].weights, &err), C2_ERR_FORMAT);
        assert_null(read.points);
        const char *text = strncmp(err.text, folder, strlen(folder)) == 0 ? err.text + strlen(folder) + 1 : err.text;
        assert_non_null(strstr(text, rows[i].says));
    }
    unlink(weights_path);
    assert_int_equal(points_read(&read, &sum, points_path, weights_path, &err), C2_ERR_NOT_FOUND);
    write_file(weights_path, "", 0);
}

/* ------------------------------------------------------------------ damaged files */

struct taken {
    uint64_t intervals, instructions;
};

static enum c2_status take(void *self, const struct points_entry *entries, size_t count, struct c2_error *err)
{
    struct taken *taken = self;
    (void)err;
    taken->intervals++;
    for (size_t i = 0; i < count; i++) {
        assert_true(entries[i].id != 0 && entries[i].instructions <= POINTS_MOST_INSTRUCTIONS);
        taken->instructions += entries[i].instructions;
    }
    return C2_OK;
}

static enum c2_status read_vectors(struct taken *taken, char *text, size_t bytes, struct c2_error *err)
{
    *taken = (struct taken){0};
    FILE *from = fmemopen(text, bytes, "r");
    assert_non_null(from);
    const enum c2_status status = points_read_vectors(from, "v", take, taken, err);
    fclose(from);
    return status;
}

static const char sample[] = "# two\nT:1:10 :2:20\nT:7:5   :1:12\t\n\n";

static void vectors_read(void **state)
{
    struct taken taken;
    char text[sizeof sample];
    (void)state;
    memcpy(text, sample, sizeof sample);
    assert_int_equal(read_vectors(&taken, text, sizeof sample - 1, NULL), C2_OK);
    assert_int_equal(taken.intervals, 2);
    assert_int_equal(taken.instructions, 47);
}

/* Read to the end, or refused with a line that the file has. */
static void try_vectors(char *bytes, size_t count, void *context)
{
    struct taken taken;
    struct c2_error err;
    unsigned line = 0;
    (void)context;
    if (count == 0 || read_vectors(&taken, bytes, count, &err) == C2_OK)
        return;
    assert_int_equal(err.status, C2_ERR_FORMAT);
    assert_int_equal(sscanf(err.text, "v:%u: ", &line), 1);
    assert_in_range(line, 1, count + 1);
}

static void vectors_damaged(void **state)
{
    (void)state;
    damage_cut(sample, sizeof sample - 1, try_vectors, NULL);
    damage_at_random(sample, sizeof sample - 1, damage_inputs(20000), try_vectors, NULL);
}

/* The points are damaged, or the weights. Weights that were read are of points, and at most all of the run. */
struct pair {
    struct damage_file damaged, whole;
    bool weights;
};

static void try_pair(char *bytes, size_t count, void *context)
{
    struct pair *pair = context;
    struct points_list list;
    struct c2_error err;
    double sum;
    assert_true(damage_file_put(&pair->damaged, bytes, count));
    const char *points = (pair->weights ? &pair->whole : &pair->damaged)->path;
    const char *weights = (pair->weights ? &pair->damaged : &pair->whole)->path;
    const enum c2_status status = points_read(&list, &sum, points, weights, &err);
    assert_true(status == C2_OK || (status == C2_ERR_FORMAT && strstr(err.text, "c2-damaged")));
    assert_true(status != C2_OK || (list.count > 0 && sum > 0 && sum <= 1.001));
    for (size_t i = 1; status == C2_OK && i < list.count; i++)
        assert_true(list.points[i - 1].interval < list.points[i].interval);
    points_list_release(&list);
}

static void points_damaged(void **state)
{
    static const char points[] = "1 0\n2 1\n8 2\n", weights[] = "0.5 0\n0.25 1\n0.25 2\n";
    struct pair pair = {.weights = false};
    (void)state;
    assert_true(damage_file_make(&pair.damaged, ".a") && damage_file_make(&pair.whole, ".b"));
    for (unsigned i = 0; i < 2; i++) {
        pair.weights = i != 0;
        const char *good = pair.weights ? points : weights, *bad = pair.weights ? weights : points;
        assert_true(damage_file_put(&pair.whole, good, strlen(good)));
        damage_cut(bad, strlen(bad), try_pair, &pair);
        damage_at_random(bad, strlen(bad), damage_inputs(5000), try_pair, &pair);
    }
    damage_file_remove(&pair.damaged);
    damage_file_remove(&pair.whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_and_read), cmocka_unit_test(read_as_others_write), cmocka_unit_test(wrong_files),
        cmocka_unit_test(vectors_read),     cmocka_unit_test(vectors_damaged),      cmocka_unit_test(points_damaged),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
