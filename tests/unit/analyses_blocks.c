/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The live blocks of the allocator against a twin: a byte map of a small address range, one block number a byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "analyses/objects_priv.h"

#define BASE 0x1120000000ull
#define SPAN (512u << 10) /* bytes of the range: room for several large blocks */
#define OPERATIONS 8000u

struct twin {
    uint16_t byte[SPAN]; /* number of the block that has it, 0: none */
};

static void twin_clear(struct twin *twin, uint16_t number)
{
    for (uint32_t i = 0; i < SPAN && number != 0; i++)
        if (twin->byte[i] == number)
            twin->byte[i] = 0;
}

static void twin_add(struct twin *twin, uint32_t at, uint32_t bytes, uint16_t number)
{
    for (uint32_t i = at; i < at + bytes; i++)
        twin_clear(twin, twin->byte[i]);
    for (uint32_t i = at; i < at + bytes; i++)
        twin->byte[i] = number;
}

/* Removes the block that begins at `at`; whether there was one. */
static bool twin_remove(struct twin *twin, uint32_t at)
{
    const uint16_t number = twin->byte[at];
    if (number == 0 || (at != 0 && twin->byte[at - 1] == number))
        return false;
    twin_clear(twin, number);
    return true;
}

static void twin_remove_range(struct twin *twin, uint32_t start, uint32_t end)
{
    for (uint32_t i = start; i < end; i++)
        if (twin->byte[i] != 0 && (i == 0 || twin->byte[i - 1] != twin->byte[i]))
            twin_clear(twin, twin->byte[i]);
}

/* What is found at a byte is what the twin has there, and holds as far as it says. */
static void compare_at(const struct blocks *blocks, const struct twin *twin, uint32_t at)
{
    uint64_t start, end;
    const struct block *block = blocks_find(blocks, BASE + at, &start, &end);
    assert_true(start <= BASE + at && BASE + at < end);
    assert_int_equal(twin->byte[at], !block ? 0 : block->number);
    for (uint64_t va = start < BASE ? BASE : start; va < end && va < BASE + SPAN; va++)
        assert_int_equal(twin->byte[at], twin->byte[va - BASE]);
    if (block) {
        assert_true(start == BASE || twin->byte[start - 1 - BASE] != twin->byte[at]);
        assert_true(end == BASE + SPAN || twin->byte[end - BASE] != twin->byte[at]);
    }
}

/* Mostly small blocks, some over page borders, now and then one of 64 KiB and more. */
static uint32_t random_bytes(struct c2_rng *rng)
{
    switch (c2_rng_below(rng, 8)) {
    case 0:
        return (uint32_t)(4096 + c2_rng_below(rng, 16384));
    case 1:
        return (uint32_t)((64u << 10) - 8 + c2_rng_below(rng, 32768));
    default:
        return (uint32_t)(1 + c2_rng_below(rng, 200));
    }
}

static void step(struct blocks *blocks, struct twin *twin, struct c2_rng *rng, uint16_t number)
{
    const uint32_t at = (uint32_t)c2_rng_below(rng, SPAN);
    struct block block = {BASE + at, random_bytes(rng), 7, number, 0};
    uint64_t start, end;
    switch (c2_rng_below(rng, 16)) {
    case 0:
        block.bytes = block.bytes > SPAN - at ? SPAN - at : block.bytes;
        blocks_remove_range(blocks, BASE + at, BASE + at + block.bytes);
        twin_remove_range(twin, at, at + (uint32_t)block.bytes);
        break;
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
        for (uint32_t i = at; i < SPAN; i++) { /* the next block's beginning, if there is one */
            if (twin->byte[i] == 0 || (i != 0 && twin->byte[i - 1] == twin->byte[i]))
                continue;
            assert_true(blocks_remove(blocks, BASE + i, &block));
            assert_int_equal(twin->byte[i], block.number);
            assert_true(twin_remove(twin, i));
            break;
        }
        assert_int_equal(twin_remove(twin, at), blocks_remove(blocks, BASE + at, &block));
        break;
    default:
        block.bytes = block.bytes > SPAN - at ? SPAN - at : block.bytes;
        assert_int_equal(C2_OK, blocks_add(blocks, &block, &start, &end, NULL));
        assert_true(start <= block.base && block.base + block.bytes <= end);
        twin_add(twin, at, (uint32_t)block.bytes, number);
    }
    compare_at(blocks, twin, at);
    compare_at(blocks, twin, (uint32_t)c2_rng_below(rng, SPAN));
}

static void test_twin(void **state)
{
    (void)state;
    struct blocks *blocks;
    struct twin *twin = c2_calloc(1, sizeof *twin);
    struct c2_rng rng;
    c2_rng_init(&rng, 1, "blocks");
    assert_int_equal(C2_OK, blocks_create(&blocks, NULL));
    for (uint32_t i = 1; i <= C2_HOST_SIZE(OPERATIONS, 2000u); i++) {
        step(blocks, twin, &rng, (uint16_t)i);
        if (i % 500 == 0)
            blocks_check(blocks);
    }
    blocks_destroy(blocks);
    c2_free(twin);
}

/* Neighbours of one byte, a block to the last byte of a page, one over a border. */
static void test_borders(void **state)
{
    (void)state;
    struct blocks *blocks;
    struct block gone;
    uint64_t start, end;
    const struct block list[] = {
        {BASE, 1, 1, 1, 1}, {BASE + 1, 1, 1, 2, 1}, {BASE + 4000, 96, 1, 3, 96}, {BASE + 8190, 4, 1, 4, 4}};
    assert_int_equal(C2_OK, blocks_create(&blocks, NULL));
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(C2_OK, blocks_add(blocks, &list[i], &start, &end, NULL));
    assert_int_equal(1, blocks_find(blocks, BASE, &start, &end)->number);
    assert_int_equal(2, blocks_find(blocks, BASE + 1, &start, &end)->number);
    assert_null(blocks_find(blocks, BASE + 2, &start, &end));
    assert_true(start == BASE + 2 && end == BASE + 4000);
    assert_int_equal(3, blocks_find(blocks, BASE + 4095, &start, &end)->number);
    assert_null(blocks_find(blocks, BASE + 4096, &start, &end));
    assert_true(start == BASE + 4096 && end == BASE + 8190);
    assert_int_equal(4, blocks_find(blocks, BASE + 8192, &start, &end)->number);
    assert_false(blocks_remove(blocks, BASE + 8192, &gone)); /* the middle of a block is not its beginning */
    assert_true(blocks_remove(blocks, BASE + 8190, &gone));
    assert_null(blocks_find(blocks, BASE + 8192, &start, &end));
    blocks_check(blocks);
    blocks_destroy(blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_borders), cmocka_unit_test(test_twin)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
