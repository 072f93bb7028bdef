/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What fits and what is told apart: a working set of exactly each level's capacity, and lines that differ in one
 * address bit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "caches/caches.h"

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)
#define L3_WAYS 20
#define L3_SETS 2048 /* of a slice */
#define L3_SLICES 8

/* L1 32 KiB 8-way, L2 256 KiB 8-way non-inclusive, L3 20 MiB 20-way inclusive in 8 slices of 2048 sets. */
static struct caches_machine three_levels(void)
{
    struct caches_machine machine = {.line_bytes = 64, .level_count = 3, .has_l1i = true};
    machine.levels[0] = (struct caches_level){
        .name = "L1D", .size_bytes = 32 * KIB, .ways = 8, .slices = 1, .hash = "none", .index = CACHES_VIRTUAL};
    machine.l1i = machine.levels[0];
    strcpy(machine.l1i.name, "L1I");
    machine.levels[1] = (struct caches_level){
        .name = "L2", .size_bytes = 256 * KIB, .ways = 8, .slices = 1, .hash = "none", .index = CACHES_PHYSICAL};
    machine.levels[2] = (struct caches_level){.name = "L3",
                                              .size_bytes = 20 * MIB,
                                              .ways = L3_WAYS,
                                              .slices = L3_SLICES,
                                              .hash = "lin8",
                                              .index = CACHES_PHYSICAL,
                                              .inclusion = CACHES_INCLUSIVE};
    return machine;
}

static struct caches *create(const struct caches_machine *machine)
{
    struct caches *caches;
    assert_int_equal(caches_create(&caches, machine, 1, NULL), C2_OK);
    return caches;
}

/* Reads `bytes` from `start` on, line by line. */
static void sweep(struct caches *caches, uint64_t start, uint64_t bytes)
{
    for (uint64_t at = start; at < start + bytes; at += 64) {
        struct line_no line = {at / 64};
        assert_int_equal(caches_access(caches, CACHES_DATA, false, line, line, NULL, NULL), C2_OK);
    }
}

/* Two sweeps over exactly the level's capacity: the first misses with every line, the second with none. The levels
 * above it miss with every line both times, as their LRU always dropped what the cyclic sweep needs next. */
static void exactly_fits(uint32_t level, uint64_t start)
{
    struct caches_machine machine = three_levels();
    struct caches *caches = create(&machine);
    uint64_t bytes = machine.levels[level].size_bytes, lines = bytes / 64;
    sweep(caches, start, bytes);
    assert_int_equal(caches_level_counts(caches, level)->cold, lines);
    sweep(caches, start, bytes);
    const struct caches_counts *counts = caches_level_counts(caches, level);
    assert_int_equal(counts->accesses, 2 * lines);
    assert_int_equal(counts->misses, lines);
    assert_int_equal(counts->hits, lines);
    for (uint32_t i = 0; i < level; i++) {
        assert_int_equal(caches_level_counts(caches, i)->misses, 2 * lines);
        assert_int_equal(caches_level_counts(caches, i)->capacity, lines);
    }
    caches_check(caches);
    caches_destroy(caches);
}

static void l1_fits(void **state)
{
    (void)state;
    exactly_fits(0, 0x10000000);
}

static void l2_fits(void **state)
{
    (void)state;
    exactly_fits(1, 0x10000000);
}

/* Why the hash takes nothing away: 20 MiB are 160 stretches of 128 KiB (2048 lines), each with one line for every set
 * number; bits 17 and up say which stretch. The three masks of lin8 have in bits 17, 18, 19 the values 110, 101 and 001
 * (bit 17 first), a matrix that is invertible over xor: so eight stretches that differ just there - one aligned MiB -
 * give each of the eight slices exactly one line for every set number, whatever the higher bits add to it. 20 aligned
 * MiB give each set of each slice 20 lines, and it has 20 ways. */
static void l3_fits(void **state)
{
    (void)state;
    exactly_fits(2, 0x10000000);
    exactly_fits(2, 0x3e4d00000); /* aligned to 1 MiB, to no more */
}

/* Of contiguous memory that does not begin at a whole MiB the two ends together are one MiB, cut in two: the eight
 * lines that they have for a set number fall on slices that may meet. Then some sets get 21 lines and others 19, and a
 * cyclic sweep over 21 lines misses with all 21 of them. The number follows from the hash alone: 256 KiB off, two
 * slices get a line too many for each set number, 2 * 21 * 2048 misses; 512 KiB off, four do. */
static void l3_unaligned(uint64_t start, uint64_t misses_wanted)
{
    static uint8_t lines[L3_SLICES][L3_SETS];
    memset(lines, 0, sizeof lines);
    struct caches_hash *hash;
    assert_int_equal(caches_hash_create(&hash, "lin8", L3_SLICES, NULL, NULL), C2_OK);
    for (uint64_t at = start; at < start + 20 * MIB; at += 64)
        lines[caches_hash_slice(hash, (struct guest_pa){at})][at / 64 % L3_SETS]++;
    caches_hash_destroy(hash);
    uint64_t misses = 0;
    for (uint32_t slice = 0; slice < L3_SLICES; slice++)
        for (uint32_t set = 0; set < L3_SETS; set++)
            misses += lines[slice][set] > L3_WAYS ? lines[slice][set] : 0;
    assert_int_equal(misses, misses_wanted);

    struct caches_machine machine = three_levels();
    struct caches *caches = create(&machine);
    sweep(caches, start, 20 * MIB);
    sweep(caches, start, 20 * MIB);
    const struct caches_counts *counts = caches_level_counts(caches, 2);
    assert_int_equal(counts->cold, 20 * MIB / 64);
    assert_int_equal(counts->conflict, misses); /* a fully associative cache would hold them: all are conflicts */
    assert_int_equal(counts->misses, 20 * MIB / 64 + misses);
    caches_destroy(caches);
}

static void l3_fits_but_for_the_ends(void **state)
{
    (void)state;
    l3_unaligned(0x10000000 + 256 * KIB, 2 * 21 * 2048);
    l3_unaligned(0x10000000 + 512 * KIB, 4 * 21 * 2048);
}

/* ------------------------------------------------------------------ one bit apart */

static void access_must(struct caches *caches, uint64_t line, uint32_t served_by, const char *what, unsigned bit)
{
    struct caches_outcome outcome;
    struct line_no l = {line};
    assert_int_equal(caches_access(caches, CACHES_DATA, false, l, l, &outcome, NULL), C2_OK);
    if (outcome.served_by != served_by)
        fail_msg("%s, address bit %u: served by %u, not %u", what, bit, outcome.served_by, served_by);
    for (uint32_t i = 0; i < outcome.depth; i++)
        assert_int_equal(outcome.event[i].class_, i < served_by ? CACHES_COLD : CACHES_HIT);
}

/* Two lines that differ in one address bit never hit each other, at every level and policy. Three times over: alone in
 * an empty machine; with the first line driven out of L1; and out of L1 and L2, so that L3 alone could confuse them. */
static void one_bit_apart(enum caches_policy policy, unsigned bit)
{
    struct caches_machine machine = three_levels();
    for (uint32_t i = 0; i < 3; i++) { /* few sets: ways a power of two for the trees */
        machine.levels[i].policy = policy;
        machine.levels[i].ways = 4;
        machine.levels[i].slices = i == 2 ? 2 : 1;
        strcpy(machine.levels[i].hash, i == 2 ? "lin2" : "none");
        machine.levels[i].size_bytes = UINT64_C(64) * 4 * (i == 2 ? 64 : 4);
    }
    const char *name = caches_policy_name(policy);
    const uint64_t first = UINT64_C(0x123456789000) / 64, other = first ^ UINT64_C(1) << (bit - 6);
    const uint64_t elsewhere = UINT64_C(1) << 50;
    for (unsigned between = 0; between <= 64; between += 32) {
        struct caches *caches = create(&machine);
        access_must(caches, first, 3, name, bit);
        for (unsigned i = 0; i < between; i++)
            access_must(caches, elsewhere + i, 3, name, bit);
        access_must(caches, other, 3, name, bit);
        access_must(caches, other, 0, name, bit);
        if (between == 0)
            access_must(caches, first, 0, name, bit);
        caches_destroy(caches);
    }
}

static void every_bit_counts(void **state)
{
    (void)state;
    for (unsigned policy = CACHES_LRU; policy < CACHES_MRU3_PLRU4; policy++)
        for (unsigned bit = 6; bit <= 51; bit++)
            one_bit_apart((enum caches_policy)policy, bit);
}

/* The case by which simulators have been found out: 512 lines 4 GiB apart are 512 cold misses, on every level. */
static void four_gib_apart(void **state)
{
    (void)state;
    struct caches_machine machine = three_levels();
    struct caches *caches = create(&machine);
    for (uint64_t i = 0; i < 512; i++)
        access_must(caches, (i << 32) / 64, 3, "lines 4 GiB apart", 32);
    for (uint32_t level = 0; level < 3; level++)
        assert_int_equal(caches_level_counts(caches, level)->cold, 512);
    caches_destroy(caches);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(l1_fits),          cmocka_unit_test(l2_fits),
        cmocka_unit_test(l3_fits),          cmocka_unit_test(l3_fits_but_for_the_ends),
        cmocka_unit_test(every_bit_counts), cmocka_unit_test(four_gib_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
