/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What lies at an address: regions, blocks of the allocator, and which blocks are shown together. No files are mapped
 * here (program tests have those), so that no symbols are needed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "analyses/objects_priv.h"

#define HEAP 0x1120000000ull
#define STACK 0x3fff37800000ull
#define MAPPED 0x3f0e20000000ull
#define SITE 0x401234u

static void map(struct objects *objects, uint64_t start, uint64_t bytes, enum mmu_kind kind)
{
    const struct mmu_area area = {.start = {start}, .bytes = bytes, .kind = kind};
    assert_int_equal(C2_OK, objects_mapped(objects, &area, NULL));
}

static struct objects *make(void)
{
    struct objects *objects;
    assert_int_equal(C2_OK, objects_create(&objects, NULL, NULL));
    map(objects, HEAP, 0x21000, MMU_HEAP);
    map(objects, STACK, 0x800000, MMU_STACK);
    map(objects, MAPPED, 0x3000, MMU_ANONYMOUS);
    return objects;
}

static void allocate(struct objects *objects, uint64_t address, uint64_t bytes, uint64_t site)
{
    uint64_t start, changed;
    const uint64_t words[4] = {address, bytes, STREAM_MALLOC, site};
    assert_int_equal(C2_OK, objects_allocated(objects, words, &start, &changed, NULL));
    assert_true(start <= address && start + changed >= address + bytes);
}

static struct objects_found find(const struct objects *objects, uint64_t va)
{
    struct objects_found found;
    objects_find(objects, va, &found);
    assert_true(found.start <= va && va < found.end);
    return found;
}

static const struct objects_owner *owner_at(const struct objects *objects, uint64_t va)
{
    return objects_owner(objects, find(objects, va).owner);
}

static void regions(void **state)
{
    (void)state;
    struct objects *objects = make();
    assert_int_equal(ANALYSES_HEAP, owner_at(objects, HEAP + 5)->kind);
    assert_string_equal("heap", owner_at(objects, HEAP + 5)->name);
    assert_int_equal(ANALYSES_STACK, owner_at(objects, STACK + 0x7fffff)->kind);
    assert_int_equal(ANALYSES_MMAP, owner_at(objects, MAPPED)->kind);
    assert_int_equal(1, owner_at(objects, MAPPED)->number);
    assert_int_equal(0, find(objects, 0x5000).owner); /* nothing is there */

    map(objects, HEAP + 0x21000, 0x21000, MMU_HEAP); /* the heap grows: one object */
    assert_int_equal(find(objects, HEAP).owner, find(objects, HEAP + 0x30000).owner);
    assert_int_equal(C2_OK, objects_unmapped(objects, MAPPED + 0x1000, 0x1000,
                                             NULL)); /* a hole in a mapping leaves one object, too */
    assert_int_equal(0, find(objects, MAPPED + 0x1800).owner);
    assert_int_equal(find(objects, MAPPED).owner, find(objects, MAPPED + 0x2000).owner);
    map(objects, MAPPED + 0x1000, 0x1000, MMU_ANONYMOUS); /* and what comes into the hole is another */
    assert_int_equal(2, owner_at(objects, MAPPED + 0x1800)->number);
    objects_check(objects);
    objects_destroy(objects);
}

static void blocks_come_and_go(void **state)
{
    (void)state;
    uint64_t start, bytes;
    struct objects *objects = make();
    allocate(objects, HEAP + 0x10, 0x5000, SITE);
    const struct objects_found first = find(objects, HEAP + 0x10);
    assert_true(first.start == HEAP + 0x10 && first.end == HEAP + 0x5010 && first.block == 1);
    assert_int_equal(1, objects_owner(objects, first.owner)->number);
    assert_int_equal(ANALYSES_HEAP, owner_at(objects, HEAP + 0xf)->kind); /* the allocator's own */
    assert_int_equal(0, owner_at(objects, HEAP + 0xf)->number);

    objects_freed(objects, HEAP + 0x11, &start, &bytes); /* no block begins there */
    assert_int_equal(0, bytes);
    objects_freed(objects, HEAP + 0x10, &start, &bytes);
    assert_true(start == HEAP + 0x10 && bytes == 0x5000);
    assert_int_equal(0, owner_at(objects, HEAP + 0x10)->number);

    allocate(objects, HEAP + 0x10, 8, SITE); /* the same place, another block */
    assert_int_equal(2, owner_at(objects, HEAP + 0x17)->number);
    assert_int_equal(0, owner_at(objects, HEAP + 0x18)->number);
    assert_int_not_equal(first.owner, find(objects, HEAP + 0x10).owner);
    allocate(objects, MAPPED + 0x10, 0x2ff0, SITE); /* its mapping goes without a word about it */
    assert_int_equal(C2_OK, objects_unmapped(objects, MAPPED, 0x3000, NULL));
    assert_int_equal(0, find(objects, MAPPED + 0x10).owner);
    objects_check(objects);
    objects_destroy(objects);
}

/* 20 blocks of 64 bytes of one site, 3 of another, then 70 large ones of the first: 16 + 3 owners of small blocks, 64
 * of large ones. The first site has more than 16 small blocks, so these are shown as one; the other's 3 each for
 * itself. */
static void small_blocks_are_shown_by_site(void **state)
{
    (void)state;
    struct objects *objects = make();
    map(objects, 0x2000000000, 70 * 0x2000, MMU_ANONYMOUS);
    for (unsigned i = 0; i < 20; i++)
        allocate(objects, HEAP + i * 64, 64, SITE);
    for (unsigned i = 0; i < 3; i++)
        allocate(objects, HEAP + 0x8000 + i * 64, 64, SITE + 5);
    for (unsigned i = 0; i < 70; i++)
        allocate(objects, 0x2000000000 + i * 0x2000, 0x1000, SITE);

    const uint32_t shared = find(objects, HEAP + 16 * 64).owner;
    for (unsigned i = 0; i < 20; i++) {
        const struct objects_found found = find(objects, HEAP + i * 64);
        assert_int_equal(shared, objects_shown(objects, found.owner));
        assert_int_equal(i + 1, found.block);
        assert_int_equal(i >= 16, found.owner == shared);
    }
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t owner = find(objects, HEAP + 0x8000 + i * 64).owner;
        assert_int_equal(owner, objects_shown(objects, owner));
        assert_int_equal(21 + i, objects_owner(objects, owner)->number);
    }
    for (unsigned i = 0; i < 70; i++) {
        const uint32_t owner = find(objects, 0x2000000000 + i * 0x2000).owner;
        assert_int_equal(owner, objects_shown(objects, owner));
        assert_int_equal(i >= 64, owner == shared);
    }
    assert_int_equal(4 + 6, objects_owner(objects, shared)->blocks); /* those without an owner of their own */
    assert_int_equal(4 * 64 + 6 * 0x1000, objects_owner(objects, shared)->bytes);
    objects_check(objects);
    objects_destroy(objects);
}

/* Owners are bounded by sites, not by allocations. */
static void memory_is_bounded(void **state)
{
    (void)state;
    uint64_t start, bytes;
    struct objects *objects = make();
    const uint32_t before = objects_count(objects);
    for (unsigned i = 0; i < 10000; i++) {
        allocate(objects, HEAP + 0x100, i % 2 == 0 ? 24 : 0x4000, SITE);
        objects_freed(objects, HEAP + 0x100, &start, &bytes);
    }
    assert_true(objects_count(objects) - before == 1 + 16 + 64); /* the site's, few small ones, 64 large ones */
    objects_destroy(objects);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(regions), cmocka_unit_test(blocks_come_and_go),
                                       cmocka_unit_test(small_blocks_are_shown_by_site),
                                       cmocka_unit_test(memory_is_bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
