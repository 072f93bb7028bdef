/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Intervals, clusters and scores where the right answer is known: by hand, or from the formula with another's
 * arithmetic. Random intervals are compared with a second implementation by tests/program/points.py.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "points/points_priv.h"

/* Points of a plane, as if projected. */
struct plane {
    struct points_vectors vectors;
    double at[32][2];
    uint64_t instructions[32];
};

static void put(struct plane *plane, double x, double y, uint64_t instructions)
{
    const uint32_t n = plane->vectors.count++;
    plane->at[n][0] = x;
    plane->at[n][1] = y;
    plane->instructions[n] = instructions;
    plane->vectors.total += instructions;
    plane->vectors.dimensions = 2;
    plane->vectors.at = plane->at[0];
    plane->vectors.instructions = plane->instructions;
}

/* Three corners of a triangle, four intervals around each; the first corner's come first, the others' in turn. */
static void triangle(struct plane *plane)
{
    static const double around[4][2] = {{0.0625, 0}, {-0.0625, 0}, {0, 0.0625}, {0, -0.0625}};
    memset(plane, 0, sizeof *plane);
    for (unsigned i = 0; i < 4; i++)
        put(plane, around[i][0], around[i][1], 1000);
    for (unsigned i = 0; i < 4; i++) {
        put(plane, 1 + around[i][0], around[i][1], 1000);
        put(plane, around[i][0], 1 + around[i][1], 1000);
    }
}

/* ------------------------------------------------------------------ projection */

static void projection(void **state)
{
    struct points_vectors *vectors;
    const struct points_entry one[] = {{1, 10}}, two[] = {{1, 10}, {7, 30}}, turned[] = {{7, 300}, {1, 100}};
    (void)state;
    assert_int_equal(points_vectors_create(&vectors, 3, 1, NULL), C2_OK);
    assert_int_equal(points_vectors_add(vectors, one, 1, NULL), C2_OK);
    assert_int_equal(points_vectors_add(vectors, &(struct points_entry){7, 5}, 1, NULL), C2_OK);
    assert_int_equal(points_vectors_add(vectors, two, 2, NULL), C2_OK);
    assert_int_equal(points_vectors_add(vectors, turned, 2, NULL), C2_OK);
    assert_int_equal(points_vectors_count(vectors), 4);
    const double *a = points_vector(vectors, 0), *b = points_vector(vectors, 1);
    for (unsigned d = 0; d < 3; d++) {
        assert_true(fabs(a[d]) <= 1 && fabs(b[d]) <= 1 && a[d] != b[d]);
        /* a quarter of one block's row and three of the other's: exact, as rows have 31 bits */
        assert_true(points_vector(vectors, 2)[d] == a[d] / 4 + b[d] * 3 / 4);
        assert_true(points_vector(vectors, 3)[d] == points_vector(vectors, 2)[d]);
    }
    points_vectors_destroy(vectors);
}

/* ------------------------------------------------------------------ k-means */

static void corners(void **state)
{
    struct plane plane;
    struct points_clusters clusters;
    (void)state;
    triangle(&plane);
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct c2_rng rng;
        c2_rng_init(&rng, seed, "test");
        assert_int_equal(points_clusters_create(&clusters, &plane.vectors, 3, NULL), C2_OK);
        points_spread_centres(&clusters, &plane.vectors, 3, &rng);
        points_cluster(&clusters, &plane.vectors);
        for (uint32_t i = 0; i < 12; i++) {
            const double *centre = clusters.centres + (size_t)2 * clusters.of[i];
            assert_true(centre[0] == (i >= 4 && i % 2 == 0) && centre[1] == (i >= 4 && i % 2 == 1));
            assert_true(clusters.weights[clusters.of[i]] == 4000);
        }
        points_clusters_release(&clusters);
    }
}

/* A centre is the mean of instructions, not of intervals; one that nothing is near to stays; the first of two that are
 * equally near is taken. */
static void weights_and_ties(void **state)
{
    struct plane plane = {.vectors.count = 0};
    struct points_clusters clusters;
    uint32_t k;
    (void)state;
    put(&plane, 0, 0, 3);
    put(&plane, 1, 0, 1);
    put(&plane, 0.5, 0, 4);
    assert_int_equal(points_clusters_create(&clusters, &plane.vectors, 2, NULL), C2_OK);
    clusters.k = 2;
    memcpy(clusters.centres, (double[]){0.5, 0, 5, 5}, 4 * sizeof(double));
    points_cluster(&clusters, &plane.vectors);
    assert_memory_equal(clusters.centres, ((double[]){0.375, 0, 5, 5}), 4 * sizeof(double));
    assert_memory_equal(clusters.weights, ((double[]){8, 0}), 2 * sizeof(double));
    memcpy(clusters.centres, (double[]){0, 0, 1, 0}, 4 * sizeof(double));
    assert_true(points_nearest(&k, &clusters, &plane.vectors, 2) == 0.25);
    assert_int_equal(k, 0);
    points_clusters_release(&clusters);
}

/* Drawn centres are different intervals, every one of them sometimes. */
static void drawn_centres(void **state)
{
    struct plane plane;
    struct points_clusters clusters;
    unsigned drawn[12] = {0};
    (void)state;
    triangle(&plane);
    assert_int_equal(points_clusters_create(&clusters, &plane.vectors, 5, NULL), C2_OK);
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct c2_rng rng;
        unsigned found = 0;
        c2_rng_init(&rng, seed, "test");
        points_draw_centres(&clusters, &plane.vectors, 5, &rng);
        assert_int_equal(clusters.k, 5);
        for (unsigned i = 0; i < 12; i++) {
            for (unsigned k = 0; k < 5; k++)
                drawn[i] += memcmp(clusters.centres + (size_t)2 * k, plane.at[i], sizeof plane.at[i]) == 0 && ++found;
        }
        assert_int_equal(found, 5);
    }
    for (unsigned i = 0; i < 12; i++)
        assert_in_range(drawn[i], 25, 60); /* 41.7 are expected */
    points_clusters_release(&clusters);
}

/* ------------------------------------------------------------------ score */

static double score_of(struct plane *plane, uint32_t k)
{
    struct points_clusters clusters;
    struct c2_rng rng;
    c2_rng_init(&rng, 1, "test");
    assert_int_equal(points_clusters_create(&clusters, &plane->vectors, k, NULL), C2_OK);
    points_spread_centres(&clusters, &plane->vectors, k, &rng);
    points_cluster(&clusters, &plane->vectors);
    const double score = points_score(&clusters, &plane->vectors);
    points_clusters_release(&clusters);
    return score;
}

static void scores(void **state)
{
    struct plane plane;
    (void)state;
    triangle(&plane);
    /* one cluster: its centre is (1/3, 1/3), squared distances sum up to 12/256 + 16/3, s2 = 12/256/24 + 2/9:
     * 12 * -(ln(2 pi s2) + 1) - 3/2 ln 12 */
    assert_true(fabs(score_of(&plane, 1) - -19.83796397252108) < 1e-12);
    /* three: s2 = 1/512, shares 1/3: 12 * (-(ln(2 pi/512) + 1) - ln 3) - 9/2 ln 12 */
    assert_true(fabs(score_of(&plane, 3) - 16.439943315498624) < 1e-12);
    /* all in the midst of theirs: s2 is taken for a millionth */
    memset(&plane, 0, sizeof plane);
    put(&plane, 0, 0, 100);
    put(&plane, 1, 0, 300);
    /* 2 * (-(ln(2 pi * 1e-6) + 1) + ln(1/4)/4 + 3/4 ln(3/4)) - 3 ln 2 */
    assert_true(fabs(score_of(&plane, 2) - 18.75115515219241) < 1e-12);
}

/* ------------------------------------------------------------------ points */

static void chosen(void **state)
{
    struct plane plane;
    struct points_list list;
    (void)state;
    triangle(&plane);
    put(&plane, 1, 0, 4000); /* in the midst of the second corner, and of much weight */
    put(&plane, 0, 0, 499);  /* the end of the program: it would be the midst of the first, and is too short */
    assert_int_equal(points_choose(&list, &plane.vectors, 8, 1, NULL), C2_OK);
    const struct points_point expected[] = {
        {0, 0, 4499.0 / 16499, 5, 4499}, {12, 1, 8000.0 / 16499, 5, 8000}, {5, 2, 4000.0 / 16499, 4, 4000}};
    assert_int_equal(list.count, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(list.points[i].interval, expected[i].interval);
        assert_int_equal(list.points[i].cluster, expected[i].cluster);
        assert_true(list.points[i].weight == expected[i].weight);
        assert_int_equal(list.points[i].intervals, expected[i].intervals);
        assert_int_equal(list.points[i].instructions, expected[i].instructions);
    }
    points_list_release(&list);
    assert_int_equal(points_choose(&list, &plane.vectors, 2, 1, NULL), C2_OK);
    assert_int_equal(list.count, 2);
    points_list_release(&list);
}

/* However many allocations succeed, the rest fails cleanly. */
static void want_of_memory(void **state)
{
    struct plane plane;
    struct points_list list;
    struct c2_error err;
    (void)state;
    triangle(&plane);
    for (uint64_t n = 1;; n++) {
        c2_alloc_fail_from(n);
        const enum c2_status status = points_choose(&list, &plane.vectors, 4, 1, &err);
        c2_alloc_fail_from(0);
        points_list_release(&list);
        if (status == C2_OK)
            break;
        assert_int_equal(status, C2_ERR_NO_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(projection),     cmocka_unit_test(corners), cmocka_unit_test(weights_and_ties),
        cmocka_unit_test(drawn_centres),  cmocka_unit_test(scores),  cmocka_unit_test(chosen),
        cmocka_unit_test(want_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
