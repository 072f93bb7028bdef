/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Huge pages: random calls against a dictionary of small pages with the rules written down page by page, and by hand
 * what needs gigabytes. Host memory is nothing here: only placement counts.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/mmu_both.h"

#define PAGE C2_PAGE_BYTES
#define HUGE_PAGES 512u
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)
#ifdef __SANITIZE_ADDRESS__
#define CALLS(n) ((n) / 8)
#else
#define CALLS(n) (n)
#endif

static int no_map(void *self, uint64_t start, uint64_t bytes, struct host_source *source)
{
    (void)self, (void)start, (void)bytes;
    source->may_write = true;
    return 0;
}
static int no_room(void *self, bool shrinks)
{
    (void)self, (void)shrinks;
    return 0;
}
static int no_unmap(void *self, uint64_t start, uint64_t bytes, const struct host_hole *hole)
{
    (void)self, (void)start, (void)bytes, (void)hole;
    return 0;
}
static int no_range(void *self, uint64_t start, uint64_t bytes)
{
    (void)self, (void)start, (void)bytes;
    return 0;
}
static int no_move(void *self, uint64_t from, uint64_t to, uint64_t bytes, const struct host_hole *hole)
{
    (void)self, (void)from, (void)to, (void)bytes, (void)hole;
    return 0;
}
static bool always(void *self, uint64_t page, bool writes)
{
    (void)self, (void)page, (void)writes;
    return true;
}

#define ARENA_PAGES 256
static unsigned char *arena_memory;

static struct both *make(const struct mmu_config *config)
{
    struct mmu_host host = {.room = no_room,
                            .map = no_map,
                            .unmap = no_unmap,
                            .move = no_move,
                            .extend = no_range,
                            .discard = no_range,
                            .probe = always};
    if (!arena_memory)
        arena_memory = aligned_alloc(PAGE, ARENA_PAGES * PAGE);
    struct tables_arena arena = {.memory = arena_memory, .address = MMU_TABLES_BASE, .pages = ARENA_PAGES};
    struct both *mmu;
    struct c2_error err;
    if (both_create_on(&mmu, config, &host, &arena, &err) != C2_OK)
        fail_msg("%s", err.text);
    return mmu;
}

static int64_t map(struct both *mmu, uint64_t at, uint64_t bytes, enum mmu_page_size huge)
{
    struct mmu_request request = {
        .address = at, .bytes = bytes, .prot = 3, .fixed = at != 0, .host_fd = -1, .huge = huge};
    return both_map(mmu, &request);
}

static void touch(struct both *mmu, uint64_t va)
{
    struct c2_error err = {0};
    if (both_touch(mmu, (struct guest_va){va}, MMU_ACCESS_READ, &err) != MMU_FAULT_NONE)
        fail_msg("0x%llx: %s", (unsigned long long)va, err.text);
}

static uint64_t pa_of(struct both *mmu, uint64_t va, enum mmu_page_size expected)
{
    struct guest_pa pa = {0};
    enum mmu_page_size size = MMU_PAGE_SIZES;
    assert_true(both_translate_sized(mmu, (struct guest_va){va}, &pa, &size));
    assert_int_equal(size, expected);
    return pa.v;
}

/* ------------------------------------------------------------------ the twin */

/* Two regions of 8 MiB whose middles are boundaries of 2 MiB, and memory of 18 MiB: 16 and what page tables need. */
#define REGION_PAGES 2048u
#define REGIONS 2u
#define PAGE_COUNT (REGIONS * REGION_PAGES)
#define FRAMES 4608u
static const uint64_t regions[REGIONS] = {0x200000000000ull - 4 * MIB, 0x200100000000ull};

struct twin_page {
    bool mapped, wanted, refused, has_frame, huge;
    unsigned prot, hugetlb;
    uint32_t frame;
};
struct twin {
    struct twin_page pages[PAGE_COUNT];
    bool taken[FRAMES];
    uint64_t small, huge, fallbacks;
    bool thp;
};

static uint64_t va_of(size_t i) { return regions[i / REGION_PAGES] + i % REGION_PAGES * PAGE; }

static bool joined(const struct twin_page *a, const struct twin_page *b)
{
    return a->mapped && b->mapped && a->prot == b->prot && a->wanted == b->wanted && a->refused == b->refused &&
           a->hugetlb == b->hugetlb;
}

static void split_one(struct twin *twin, size_t boundary)
{
    size_t base = boundary / HUGE_PAGES * HUGE_PAGES;
    if (boundary % HUGE_PAGES == 0 || boundary >= PAGE_COUNT)
        return;
    for (size_t i = base; i < base + HUGE_PAGES; i++)
        twin->pages[i].huge = false;
}

static void split(struct twin *twin, size_t start, size_t end)
{
    split_one(twin, start);
    split_one(twin, end);
}

static void drop(struct twin *twin, size_t start, size_t end)
{
    for (size_t i = start; i < end; i++) {
        if (twin->pages[i].has_frame)
            twin->taken[twin->pages[i].frame] = false;
        twin->pages[i].has_frame = twin->pages[i].huge = false;
    }
}

static bool wants_huge(const struct twin *twin, const struct twin_page *page)
{
    if (page->hugetlb)
        return true;
    return !page->refused && (page->wanted || twin->thp);
}

static bool huge_frame(const struct twin *twin, uint32_t *frame)
{
    for (*frame = 0; *frame < FRAMES; *frame += HUGE_PAGES) {
        bool free_whole = true;
        for (uint32_t i = 0; i < HUGE_PAGES; i++)
            free_whole &= !twin->taken[*frame + i];
        if (free_whole)
            return true;
    }
    return false;
}

static bool try_huge(struct twin *twin, size_t page)
{
    size_t base = page / HUGE_PAGES * HUGE_PAGES;
    uint32_t frame;
    if (!wants_huge(twin, &twin->pages[page]))
        return false;
    for (size_t i = base; i < base + HUGE_PAGES; i++) {
        if (!joined(&twin->pages[i], &twin->pages[page]) || twin->pages[i].has_frame)
            return false;
    }
    if (!huge_frame(twin, &frame)) {
        twin->fallbacks++;
        return false;
    }
    for (uint32_t i = 0; i < HUGE_PAGES; i++) {
        twin->pages[base + i].has_frame = twin->pages[base + i].huge = true;
        twin->pages[base + i].frame = frame + i;
        twin->taken[frame + i] = true;
    }
    twin->huge++;
    return true;
}

static void twin_touch(struct twin *twin, size_t i)
{
    struct twin_page *page = &twin->pages[i];
    if (!page->mapped || !page->prot || page->has_frame || try_huge(twin, i))
        return;
    for (page->frame = 0; twin->taken[page->frame]; page->frame++)
        assert_true(page->frame + 1 < FRAMES);
    twin->taken[page->frame] = page->has_frame = true;
    twin->small++;
}

/* ------------------------------------------------------------------ random calls */

struct world {
    struct both *mmu;
    struct twin twin;
    struct c2_rng rng;
};

static size_t below(struct world *world, uint64_t limit) { return (size_t)c2_rng_below(&world->rng, limit); }

/* Often whole huge pages. */
static void pick(struct world *world, size_t *start, size_t *end)
{
    size_t region = below(world, REGIONS) * REGION_PAGES, step = below(world, 2) ? HUGE_PAGES : 1;
    *start = region + below(world, REGION_PAGES / step) * step;
    size_t left = region + REGION_PAGES - *start, pages = (1 + below(world, step == 1 ? 700 : 3)) * step;
    *end = *start + (pages < left ? pages : left);
}

static void random_map(struct world *world)
{
    struct twin *twin = &world->twin;
    size_t start, end;
    pick(world, &start, &end);
    bool whole = start % HUGE_PAGES == 0 && end % HUGE_PAGES == 0;
    enum mmu_page_size huge = whole && below(world, 3) == 0 ? MMU_PAGE_2M : MMU_PAGE_4K;
    split(twin, start, end);
    drop(twin, start, end);
    for (size_t i = start; i < end; i++)
        twin->pages[i] = (struct twin_page){.mapped = true, .prot = 3, .hugetlb = huge};
    assert_int_equal(map(world->mmu, va_of(start), (end - start) * PAGE, huge), va_of(start));
}

static void random_unmap(struct world *world)
{
    struct twin *twin = &world->twin;
    size_t start, end;
    pick(world, &start, &end);
    split(twin, start, end);
    drop(twin, start, end);
    memset(&twin->pages[start], 0, (end - start) * sizeof *twin->pages);
    assert_int_equal(both_unmap(world->mmu, va_of(start), (end - start) * PAGE), 0);
}

static void random_protect(struct world *world)
{
    static const unsigned prots[] = {3, 3, 1, 0, 7};
    struct twin *twin = &world->twin;
    size_t start, end, reach;
    unsigned prot = prots[below(world, 5)];
    pick(world, &start, &end);
    for (reach = start; reach < end && twin->pages[reach].mapped; reach++)
        twin->pages[reach].prot = prot;
    if (reach > start)
        split(twin, start, reach);
    int64_t answer = both_protect(world->mmu, va_of(start), (end - start) * PAGE, prot);
    assert_int_equal(answer, reach == end ? 0 : -ENOMEM);
}

static void random_discard(struct world *world)
{
    size_t start, end;
    pick(world, &start, &end);
    split(&world->twin, start, end);
    drop(&world->twin, start, end);
    both_discard(world->mmu, va_of(start), (end - start) * PAGE);
}

static void random_advice(struct world *world)
{
    size_t start, end;
    bool huge = below(world, 3) != 0;
    pick(world, &start, &end);
    split(&world->twin, start, end);
    for (size_t i = start; i < end; i++) {
        world->twin.pages[i].wanted = world->twin.pages[i].mapped && huge;
        world->twin.pages[i].refused = world->twin.pages[i].mapped && !huge;
    }
    assert_int_equal(both_advise_huge(world->mmu, va_of(start), (end - start) * PAGE, huge), 0);
}

/* A move to the same size in the other region; by whole huge pages now and then. */
static void random_move(struct world *world)
{
    struct twin *twin = &world->twin;
    size_t start, end, other, to;
    pick(world, &start, &end);
    other = (1 - start / REGION_PAGES) * REGION_PAGES;
    to = other + below(world, REGION_PAGES - (end - start) + 1);
    if (below(world, 2))
        to = to / HUGE_PAGES * HUGE_PAGES + start % HUGE_PAGES;
    if (to + (end - start) > other + REGION_PAGES)
        return;
    for (size_t i = start; i < end; i++) {
        if (!joined(&twin->pages[i], &twin->pages[start]))
            return;
    }
    split(twin, to, to + (end - start));
    drop(twin, to, to + (end - start));
    split(twin, start, end);
    for (size_t i = start; i < end; i++) {
        struct twin_page *target = &twin->pages[to + (i - start)];
        *target = twin->pages[i];
        target->huge &= start % HUGE_PAGES == to % HUGE_PAGES;
        twin->pages[i] = (struct twin_page){0};
    }
    uint64_t bytes = (end - start) * PAGE;
    assert_int_equal(both_remap(world->mmu, va_of(start), bytes, bytes, true, true, va_of(to)), va_of(to));
}

static void random_touches(struct world *world)
{
    for (int i = 0; i < 12; i++) {
        size_t page = below(world, PAGE_COUNT);
        twin_touch(&world->twin, page);
        both_touch(world->mmu, (struct guest_va){va_of(page) + below(world, PAGE)}, MMU_ACCESS_READ, NULL);
    }
}

static bool same(struct world *world, bool fail)
{
    const struct mmu_counts *counts = both_counts(world->mmu);
    uint64_t small = 0, huge = 0;
    bool good = true;
    for (size_t i = 0; i < PAGE_COUNT; i++) {
        const struct twin_page *page = &world->twin.pages[i];
        struct guest_pa pa;
        enum mmu_page_size size;
        bool present = both_translate_sized(world->mmu, (struct guest_va){va_of(i)}, &pa, &size);
        good &= present == (page->has_frame && page->prot != 0);
        good &= !present || (pa.v == page->frame * PAGE && (size == MMU_PAGE_2M) == page->huge);
        good &= !present || size == MMU_PAGE_4K || pa.v % (2 * MIB) == va_of(i) % (2 * MIB);
        small += present && !page->huge;
        huge += present && page->huge;
    }
    good &= counts->small_present == small && counts->huge_2m_present * HUGE_PAGES == huge;
    good &= counts->small_pages == world->twin.small && counts->huge_2m == world->twin.huge;
    good &= counts->huge_fallbacks == world->twin.fallbacks;
    if (fail && !good)
        fail_msg("small %llu %llu, huge %llu %llu, fallbacks %llu %llu", (unsigned long long)counts->small_pages,
                 (unsigned long long)world->twin.small, (unsigned long long)counts->huge_2m,
                 (unsigned long long)world->twin.huge, (unsigned long long)counts->huge_fallbacks,
                 (unsigned long long)world->twin.fallbacks);
    return good;
}

static void (*const calls[])(struct world *world) = {
    random_map,  random_map,     random_unmap,   random_protect, random_protect, random_discard, random_advice,
    random_move, random_touches, random_touches, random_touches, random_touches, random_touches, random_touches,
};

static void open_world(struct world *world, uint64_t seed, bool thp)
{
    struct mmu_config config = {
        .physical_bytes = FRAMES * PAGE, .seed = seed, .huge = thp ? MMU_HUGE_THP : MMU_HUGE_ASKED};
    memset(world, 0, sizeof *world);
    world->mmu = make(&config);
    world->twin.thp = thp;
    c2_rng_init(&world->rng, seed, "test");
    memset(&world->twin.taken[FRAMES - HUGE_PAGES], true, HUGE_PAGES); /* where page tables lie */
}

static void huge_pages_equal_twin(void **state)
{
    (void)state;
    static struct world world;
    uint64_t huge = 0, fallbacks = 0, splits = 0;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        open_world(&world, seed, seed % 2);
        for (uint64_t call = 0; call < CALLS(12000); call++) {
            calls[below(&world, sizeof calls / sizeof calls[0])](&world);
            if (call % 8 == 0)
                same(&world, true);
            if (call % 500 == 0)
                both_check(world.mmu);
        }
        huge += world.twin.huge;
        fallbacks += world.twin.fallbacks;
        splits += both_counts(world.mmu)->huge_splits;
        both_destroy(world.mmu);
    }
    assert_true(huge > CALLS(500) && fallbacks > CALLS(20) && splits > CALLS(500));
}

static void comparison_can_fail(void **state)
{
    (void)state;
    static struct world world;
    open_world(&world, 1, true);
    random_map(&world);
    for (int i = 0; i < 40; i++)
        random_touches(&world);
    assert_true(same(&world, false));
    for (size_t i = 0; i < PAGE_COUNT; i++) { /* the twin forgets a split */
        if (world.twin.pages[i].huge) {
            both_protect(world.mmu, va_of(i / HUGE_PAGES * HUGE_PAGES), PAGE, 3);
            break;
        }
    }
    assert_false(same(&world, false));
    both_destroy(world.mmu);
}

/* ------------------------------------------------------------------ by hand */

#define HERE 0x200000000000ull

/* In 2 GiB there is one frame of 1 GiB beside the one that the page tables lie in. */
static void giant_pages_in_two_gib(void **state)
{
    (void)state;
    struct mmu_config config = {.physical_bytes = 2 * GIB, .huge = MMU_HUGE_ALL, .huge_size = MMU_PAGE_1G};
    static const enum mmu_placement policies[] = {MMU_SEQUENTIAL, MMU_RANDOM, MMU_COLORED, MMU_SAME_COLOR, MMU_BUDDY};
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        config.placement = policies[i];
        config.colors = 8;
        struct both *mmu = make(&config);
        assert_int_equal(map(mmu, HERE, 3 * GIB, MMU_PAGE_4K), HERE);
        touch(mmu, HERE + 5 * PAGE);
        assert_int_equal(pa_of(mmu, HERE + 123456789, MMU_PAGE_1G), 123456789);
        touch(mmu, HERE + GIB + 7 * PAGE);
        assert_true(pa_of(mmu, HERE + GIB + 7 * PAGE, MMU_PAGE_4K) >= GIB);
        assert_int_equal(both_counts(mmu)->huge_fallbacks, 1);
        both_unmap(mmu, HERE, GIB);
        touch(mmu, HERE + 2 * GIB);
        assert_int_equal(pa_of(mmu, HERE + 2 * GIB + 77, MMU_PAGE_1G), 77);
        both_check(mmu);
        both_destroy(mmu);
    }
}

static void every_policy_keeps_the_low_21_bits(void **state)
{
    (void)state;
    for (int policy = MMU_SEQUENTIAL; policy <= MMU_BUDDY; policy++) {
        struct mmu_config config = {.physical_bytes = 8 * GIB,
                                    .placement = (enum mmu_placement)policy,
                                    .colors = 2048,
                                    .color = 1030,
                                    .seed = 9,
                                    .huge = MMU_HUGE_ALL};
        struct both *mmu = make(&config);
        map(mmu, HERE, 64 * MIB, MMU_PAGE_4K);
        for (uint64_t at = HERE; at < HERE + 64 * MIB; at += 2 * MIB) {
            touch(mmu, at + 12345);
            uint64_t pa = pa_of(mmu, at + 54321, MMU_PAGE_2M), huge_frame = pa / (2 * MIB);
            assert_int_equal(pa % (2 * MIB), 54321);
            if (policy == MMU_IDENTITY)
                assert_int_equal(pa, (at + 54321) % (8 * GIB));
            if (policy == MMU_COLORED) /* 2048 small colours are 4 huge ones */
                assert_int_equal(huge_frame % 4, at / (2 * MIB) % 4);
            if (policy == MMU_SAME_COLOR) /* colour 1030 lies in huge colour 1030 / 512 */
                assert_int_equal(huge_frame % 4, 2);
        }
        assert_int_equal(both_counts(mmu)->huge_2m, 32);
        assert_int_equal(both_counts(mmu)->small_pages, 0);
        both_check(mmu);
        both_destroy(mmu);
    }
}

/* frame mod colours = page mod colours for small pages, and the lowest such frame. */
static void colored_follows_its_formula(void **state)
{
    (void)state;
    static const uint32_t colors[] = {1, 8, 16, 32, 64, 33}; /* the presets' L2 and L3, and one that is no power of 2 */
    for (size_t i = 0; i < sizeof colors / sizeof colors[0]; i++) {
        struct mmu_config config = {.physical_bytes = 64 * MIB, .placement = MMU_COLORED, .colors = colors[i]};
        struct both *mmu = make(&config);
        map(mmu, HERE, 16 * MIB, MMU_PAGE_4K);
        uint64_t next[64] = {0};
        for (uint64_t n = 0; n < 4096; n++) {
            uint64_t vpn = HERE / PAGE + n * 37 % 4096, color = vpn % colors[i];
            touch(mmu, vpn * PAGE);
            assert_int_equal(pa_of(mmu, vpn * PAGE, MMU_PAGE_4K) / PAGE, color + colors[i] * next[color]++);
        }
        both_check(mmu);
        both_destroy(mmu);
    }
}

static void the_heap_grows_by_huge_pages(void **state)
{
    (void)state;
    struct mmu_config config = {.physical_bytes = GIB, .huge = MMU_HUGE_HEAP};
    struct both *mmu = make(&config);
    uint64_t start = both_brk(mmu, 0);
    assert_int_equal(start, MMU_HEAP_BASE);
    assert_int_equal(both_brk(mmu, start + 5000), start + 5000);
    touch(mmu, start + 4096);
    assert_int_equal(pa_of(mmu, start + 4096, MMU_PAGE_2M), 4096);
    map(mmu, HERE, 4 * MIB, MMU_PAGE_4K);
    touch(mmu, HERE);
    pa_of(mmu, HERE, MMU_PAGE_4K);
    assert_int_equal(both_brk(mmu, start), start);
    assert_int_equal(both_counts(mmu)->huge_2m_present, 0);
    both_check(mmu);
    both_destroy(mmu);
}

static void mappings_of_hugetlb_are_aligned(void **state)
{
    (void)state;
    struct mmu_config config = {.physical_bytes = 4 * GIB};
    struct both *mmu = make(&config);
    map(mmu, 0, PAGE, MMU_PAGE_4K);
    int64_t at = map(mmu, 0, 1, MMU_PAGE_1G);
    assert_true(at > 0 && at % (int64_t)GIB == 0);
    assert_int_equal(both_area_at(mmu, (struct guest_va){(uint64_t)at}, false)->bytes, GIB);
    assert_int_equal(map(mmu, HERE + PAGE, 2 * MIB, MMU_PAGE_2M), -EINVAL);
    touch(mmu, (uint64_t)at + 5);
    pa_of(mmu, (uint64_t)at + 5, MMU_PAGE_1G);
    both_destroy(mmu);
    config.huge = MMU_HUGE_NEVER;
    mmu = make(&config);
    assert_int_equal(map(mmu, HERE, 2 * MIB, MMU_PAGE_2M), HERE);
    touch(mmu, HERE);
    pa_of(mmu, HERE, MMU_PAGE_4K);
    both_destroy(mmu);
}

/* Cutting 4 KiB out of 1 GiB leaves 511 of 2 MiB and 511 of 4 KiB, where they were. */
static void a_giant_page_splits_twice(void **state)
{
    (void)state;
    struct mmu_config config = {.physical_bytes = 3 * GIB, .huge = MMU_HUGE_ALL, .huge_size = MMU_PAGE_1G};
    struct both *mmu = make(&config);
    map(mmu, HERE, GIB, MMU_PAGE_4K);
    touch(mmu, HERE);
    assert_int_equal(both_unmap(mmu, HERE + 100 * MIB, PAGE), 0);
    const struct mmu_counts *counts = both_counts(mmu);
    assert_int_equal(counts->huge_1g_present, 0);
    assert_int_equal(counts->huge_2m_present, 511);
    assert_int_equal(counts->small_present, 511);
    assert_int_equal(counts->huge_splits, 2);
    assert_int_equal(pa_of(mmu, HERE + 100 * MIB + PAGE, MMU_PAGE_4K), 100 * MIB + PAGE);
    assert_int_equal(pa_of(mmu, HERE + 102 * MIB + 3, MMU_PAGE_2M), 102 * MIB + 3);
    both_check(mmu);
    both_destroy(mmu);
}

/* One change, not one for each page that is split. */
static unsigned told;
static uint64_t told_bytes;

static void hear(void *self, struct guest_va start, uint64_t bytes, bool code)
{
    (void)self, (void)start, (void)code;
    told++;
    told_bytes += bytes;
}

static void a_move_is_told_of_once_however_much_it_splits(void **state)
{
    (void)state;
    struct mmu_config config = {.physical_bytes = GIB, .huge = MMU_HUGE_THP};
    struct both *mmu = make(&config);
    assert_int_equal(map(mmu, HERE, 6 * MIB, MMU_PAGE_4K), HERE);
    for (uint64_t i = 0; i < 3; i++)
        touch(mmu, HERE + 2 * i * MIB);
    told = 0;
    assert_int_equal(mmu_replica_listen(mmu->replica, (struct mmu_listener){.after = hear}, NULL), C2_OK);
    const uint64_t to = HERE + 64 * MIB + PAGE;
    assert_int_equal(both_remap(mmu, HERE, 6 * MIB, 6 * MIB, true, true, to), to);
    assert_int_equal(told, 1);
    assert_int_equal(told_bytes, 6 * MIB);
    assert_int_equal(both_counts(mmu)->huge_splits, 3);
    pa_of(mmu, to, MMU_PAGE_4K);
    both_check(mmu);
    both_destroy(mmu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(huge_pages_equal_twin),
        cmocka_unit_test(comparison_can_fail),
        cmocka_unit_test(giant_pages_in_two_gib),
        cmocka_unit_test(every_policy_keeps_the_low_21_bits),
        cmocka_unit_test(colored_follows_its_formula),
        cmocka_unit_test(the_heap_grows_by_huge_pages),
        cmocka_unit_test(mappings_of_hugetlb_are_aligned),
        cmocka_unit_test(a_giant_page_splits_twice),
        cmocka_unit_test(a_move_is_told_of_once_however_much_it_splits),
    };
    return cmocka_run_group_tests_name("mmu_huge", tests, NULL, NULL);
}
