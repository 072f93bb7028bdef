/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * points_bits FILE: the points of a file of vectors, their weights, and the scores of some clusterings, with all bits.
 */
#include <inttypes.h>
#include <stdio.h>

#include "points/points_priv.h"

static enum c2_status take(void *self, const struct points_entry *entries, size_t count, struct c2_error *err)
{
    return points_vectors_add(self, entries, count, err);
}

static void print_scores(const struct points_vectors *vectors, uint32_t most)
{
    struct points_clusters clusters;
    struct c2_rng rng;
    c2_rng_init(&rng, 1, "bits");
    for (uint32_t k = 1; k <= most; k++) {
        if (points_clusters_create(&clusters, vectors, k, NULL) != C2_OK)
            return;
        points_draw_centres(&clusters, vectors, k, &rng);
        points_cluster(&clusters, vectors);
        printf("%a\n", points_score(&clusters, vectors));
        points_clusters_release(&clusters);
    }
}

int main(int argc, char **argv)
{
    struct points_vectors *vectors;
    struct points_list list;
    struct c2_error err;
    FILE *from = argc == 2 ? fopen(argv[1], "re") : NULL;
    if (!from || points_vectors_create(&vectors, POINTS_DIMENSIONS, 1, &err) != C2_OK ||
        points_read_vectors(from, argv[1], take, vectors, &err) != C2_OK ||
        points_choose(&list, vectors, POINTS_MAX_K, 1, &err) != C2_OK)
        return 1;
    for (uint32_t i = 0; i < list.count; i++)
        printf("%" PRIu64 " %a\n", list.points[i].interval, list.points[i].weight);
    print_scores(vectors, 20);
    points_list_release(&list);
    points_vectors_destroy(vectors);
    fclose(from);
    return 0;
}
