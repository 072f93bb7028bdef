/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What is locked: random calls beside an array with a place for each page.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "syscalls/kernel_priv.h"
#include "syscalls_guest.h"

enum { COUNT = 40, OPEN = 0, LOCKED = 1, LAZILY = 2 };

struct pages {
    uint64_t start;
    uint8_t is[COUNT];
    struct c2_rng rng;
};

static uint64_t below(struct pages *pages, uint64_t limit) { return c2_rng_below(&pages->rng, limit); }

static void call(struct pages *pages, uint64_t first, uint64_t count, bool broken)
{
    const uint64_t at = pages->start + first * C2_PAGE_BYTES, bytes = count * C2_PAGE_BYTES;
    uint8_t becomes = OPEN;
    switch (below(pages, 4)) {
    case 0:
        assert_call(0, mlock, at, bytes);
        becomes = LOCKED;
        break;
    case 1:
        assert_call(0, mlock2, at, bytes, MLOCK_ONFAULT);
        becomes = LAZILY;
        break;
    case 2:
        assert_call(0, munlock, at, broken ? C2_PAGE_BYTES : bytes);
        break;
    default:
        assert_call((int64_t)at, mmap, at, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    }
    memset(&pages->is[first], becomes, count);
}

static bool same(struct pages *pages)
{
    const struct page_ranges *locked = &g.kernel->locked.ranges;
    uint64_t total = 0, end = UINT64_MAX;
    bool right = true;
    for (uint64_t i = COUNT; i-- > 0;) {
        const uint64_t at = pages->start + i * C2_PAGE_BYTES, next = at + C2_PAGE_BYTES;
        const bool is = pages->is[i] != OPEN, changes = i + 1 < COUNT && pages->is[i] != pages->is[i + 1];
        end = changes ? next : i + 1 == COUNT && is ? next : end;
        total += is ? C2_PAGE_BYTES : 0;
        right &= (ranges_bytes(locked, at, next) != 0) == is && (ranges_first(locked, at) == at) == is &&
                 ranges_border(locked, at, UINT64_MAX) == end;
    }
    for (uint32_t i = 0; i < locked->count; i++)
        right &= locked->list[i].start < locked->list[i].end &&
                 (i == 0 || locked->list[i - 1].end <= locked->list[i].start);
    return right && ranges_bytes(locked, 0, UINT64_MAX) == total;
}

static void locks_are_those_of_each_page(void **state)
{
    (void)state;
    for (int broken = 0; broken < 2; broken++) {
        struct pages pages = {.start = 0x22000000000};
        bool right = true;
        c2_rng_init(&pages.rng, 1, "locked");
        assert_call((int64_t)pages.start, mmap, pages.start, COUNT * C2_PAGE_BYTES, PROT_READ,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        for (int i = 0; i < 5000 && right; i++) {
            const uint64_t first = below(&pages, COUNT);
            call(&pages, first, 1 + below(&pages, COUNT - first), broken);
            right = same(&pages);
        }
        assert_int_equal(right, !broken);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(locks_are_those_of_each_page, guest_setup, guest_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
