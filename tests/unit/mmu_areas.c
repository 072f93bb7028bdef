/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where mappings go: the search for holes against one that looks at every page, and what a call costs when there are
 * tens of thousands of areas.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "unit/mmu_fake_host.h"

#define PAGE C2_PAGE_BYTES
#define BASE (MMU_MMAP_TOP - 4096 * PAGE)
#define PAGES 400
#define RW (MMU_READ | MMU_WRITE)

/* ------------------------------------------------------------------ holes */

static void put(struct mmu_areas *areas, uint64_t first, uint64_t pages)
{
    struct area area = {.view = {.start = {BASE + first * PAGE}, .bytes = pages * PAGE, .prot = first % 7}};
    assert_int_equal(areas_reserve(areas, 3), 0);
    areas_insert(areas, &area);
}

/* Puts, removes, splits, merges and resizes at random; taken says what is mapped. */
static void change(struct mmu_areas *areas, bool taken[PAGES], struct c2_rng *rng)
{
    uint64_t first = c2_rng_below(rng, PAGES - 8), pages = 1 + c2_rng_below(rng, 8), end = first + pages;
    uint64_t start_va = BASE + first * PAGE, end_va = BASE + end * PAGE;
    assert_int_equal(areas_reserve(areas, 3), 0);
    areas_split(areas, start_va);
    areas_split(areas, end_va);
    areas_remove(areas, start_va, end_va);
    const bool fill = c2_rng_below(rng, 5) < 3;
    for (uint64_t i = first; i < end; i++)
        taken[i] = fill;
    if (fill)
        put(areas, first, pages);
    const struct area *area = areas_find(areas, end_va);
    if (fill && pages > 1 && (!area || area->view.start.v > end_va)) {
        areas_resize(areas, areas_at(areas, start_va), (pages - 1) * PAGE);
        taken[end - 1] = false;
    }
    areas_merge(areas, start_va, end_va);
}

static bool fits(const bool *taken, uint64_t at, uint64_t pages)
{
    for (uint64_t i = at; i < at + pages; i++) {
        if (taken[i])
            return false;
    }
    return true;
}

static uint64_t naive_down(const bool *taken, uint64_t bottom, uint64_t top, uint64_t pages)
{
    for (uint64_t at = top - pages; top >= pages && at + 1 > bottom; at--) {
        if (fits(taken, at, pages))
            return BASE + at * PAGE;
    }
    return 0;
}

static uint64_t naive_up(const bool *taken, uint64_t bottom, uint64_t top, uint64_t pages)
{
    for (uint64_t at = bottom; at + pages <= top; at++) {
        if (fits(taken, at, pages))
            return BASE + at * PAGE;
    }
    return 0;
}

static void holes_are_found_as_by_looking_at_every_page(void **state)
{
    (void)state;
    struct c2_rng rng;
    c2_rng_init(&rng, 1, "holes");
    struct mmu_areas areas = {0};
    bool taken[PAGES] = {false};
    for (int i = 0; i < 30000; i++) {
        change(&areas, taken, &rng);
        uint64_t bottom = 1 + c2_rng_below(&rng, PAGES / 2), top = bottom + c2_rng_below(&rng, PAGES / 2);
        uint64_t pages = 1 + c2_rng_below(&rng, i % 3 ? 6 : 40), low = BASE + bottom * PAGE, high = BASE + top * PAGE;
        assert_int_equal(areas_gap_down(&areas, low, high, pages * PAGE), naive_down(taken, bottom, top, pages));
        assert_int_equal(areas_gap_up(&areas, low, high, pages * PAGE), naive_up(taken, bottom, top, pages));
        uint64_t page = c2_rng_below(&rng, PAGES);
        assert_int_equal(!areas_at(&areas, BASE + page * PAGE), !taken[page]);
        if (i % 1000 == 0)
            areas_check(&areas);
    }
    areas_release(&areas);
}

/* ------------------------------------------------------------------ the price */

static struct both *make(struct fake_host *fake)
{
    const struct mmu_config config = {.physical_bytes = 1024 * PAGE, .placement = MMU_SEQUENTIAL};
    struct both *mmu;
    assert_int_equal(fake_create(&mmu, fake, 512, &config, NULL), C2_OK);
    return mmu;
}

static int64_t map_one(struct both *mmu, uint64_t i)
{
    const struct mmu_request request = {.bytes = PAGE, .prot = i % 2 ? RW : MMU_READ, .host_fd = -1};
    return both_map(mmu, &request);
}

/* What a program does to `count` mappings of a page each: makes them, changes every fourth, takes every fourth away,
 * makes every fourth larger, which moves it, and asks for every one. *calls counts them, and the result is how many
 * areas were looked at. */
static uint64_t work(uint64_t count, uint64_t *calls, uint64_t *host_calls)
{
    static struct fake_host fake;
    struct both *mmu = make(&fake);
    uint64_t visits = 0, first = MMU_MMAP_TOP - PAGE, before = fake.calls;
    mmu->mmu->space.areas.tree.visits = &visits;
    for (uint64_t i = 0; i < count; i++)
        assert_int_equal(map_one(mmu, i), first - i * PAGE);
    for (uint64_t i = 0; i < count; i += 4)
        assert_int_equal(both_protect(mmu, first - i * PAGE, PAGE, MMU_READ | MMU_EXEC), 0);
    for (uint64_t i = 1; i < count; i += 4)
        assert_int_equal(both_unmap(mmu, first - i * PAGE, PAGE), 0);
    for (uint64_t i = 3; i < count; i += 4)
        assert_true(both_remap(mmu, first - i * PAGE, PAGE, 3 * PAGE, true, false, 0) > 0);
    for (uint64_t i = 0; i < count; i++)
        both_area_at(mmu, (struct guest_va){first - i * PAGE}, true);
    *calls = count * 11 / 4;
    *host_calls = fake.calls - before;
    mmu->mmu->space.areas.tree.visits = NULL;
    both_check(mmu);
    both_destroy(mmu);
    return visits;
}

/* Each call looks at no more than some 10 log2 n areas - it finds, splits, joins and tells - and asks the host for no
 * more than three things. With an array to be moved, or holes to be passed, it was n. */
static void price_of_a_call_is_logarithmic(void **state)
{
    (void)state;
    for (unsigned bits = 8; bits <= 14; bits += 3) {
        uint64_t calls, host_calls, visits = work((uint64_t)1 << bits, &calls, &host_calls);
        assert_in_range(visits, calls, calls * 14 * bits);
        assert_in_range(host_calls, calls / 2, calls * 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holes_are_found_as_by_looking_at_every_page),
        cmocka_unit_test(price_of_a_call_is_logarithmic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
