/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * vectors: intervals as points of a space of few dimensions.
 *
 * Model
 *   An interval is a vector: for each block the share of its instructions. A random matrix, whose numbers are uniform
 *   in [-1, 1), projects it; distances between intervals are nearly kept (Johnson & Lindenstrauss), and clustering
 *   takes time in proportion to the dimensions.
 *   The row of a block is drawn by a generator of its own, from the seed and the block's number: so it does not depend
 *   on which blocks others have, nor on their order.
 * Counting
 *   Sums are of integers, exact: a row's numbers are multiples of 2^-31. A coordinate is rounded once, by the division.
 */
#include "points/points_priv.h"

#define ROW_SCALE 2147483648.0 /* 2^31 */

enum c2_status points_vectors_create(struct points_vectors **out, uint32_t dimensions, uint64_t seed,
                                     struct c2_error *err)
{
    struct c2_rng rng;
    C2_ASSERT(dimensions > 0 && dimensions <= POINTS_MOST_DIMENSIONS);
    *out = c2_calloc(1, sizeof **out);
    if (!*out)
        return c2_fail_memory(err, "the vectors of intervals");
    c2_rng_init(&rng, seed, "projection");
    (*out)->dimensions = dimensions;
    (*out)->key = c2_rng_next(&rng);
    return C2_OK;
}

void points_vectors_destroy(struct points_vectors *vectors)
{
    if (!vectors)
        return;
    c2_free(vectors->at);
    c2_free(vectors->instructions);
    c2_free(vectors);
}

uint32_t points_vectors_count(const struct points_vectors *vectors) { return vectors->count; }

static void project(__int128 *sums, uint32_t dimensions, uint64_t key, const struct points_entry *entry)
{
    struct c2_rng row;
    c2_rng_init(&row, key + entry->id, "row");
    for (uint32_t d = 0; d < dimensions; d++)
        sums[d] += (__int128)entry->instructions * (int32_t)(c2_rng_next(&row) >> 32);
}

enum c2_status points_vectors_add(struct points_vectors *vectors, const struct points_entry *entries, size_t count,
                                  struct c2_error *err)
{
    __int128 sums[POINTS_MOST_DIMENSIONS] = {0};
    uint64_t instructions = 0;
    const uint32_t n = vectors->count, dimensions = vectors->dimensions;
    if (!c2_grow((void **)&vectors->at, &vectors->room, n, dimensions * sizeof *vectors->at) ||
        !c2_grow((void **)&vectors->instructions, &vectors->weight_room, n, sizeof *vectors->instructions))
        return c2_fail_memory(err, "the vectors of intervals");
    for (size_t i = 0; i < count; i++) {
        project(sums, dimensions, vectors->key, &entries[i]);
        instructions += entries[i].instructions;
    }
    C2_ASSERT(instructions != 0 && instructions <= POINTS_MOST_INSTRUCTIONS);
    for (uint32_t d = 0; d < dimensions; d++)
        vectors->at[(size_t)n * dimensions + d] = (double)sums[d] / ((double)instructions * ROW_SCALE);
    vectors->instructions[n] = instructions;
    vectors->total += instructions;
    vectors->count++;
    return C2_OK;
}
