/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The addresses that a page walk reads. Tables get their frames from the top of memory, so in 64 frames the root's is
 * 63, and those of the first page touched are 62, 61 and 60.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "unit/mmu_fake_host.h"

#define BASE 0x1120203000ull /* level 3: slot 0, level 2: 68, level 1: 257, level 0: 3 */

static struct fake_host fake;

static void check_entry(struct guest_pa entry, uint64_t frame, uint64_t slot)
{
    assert_int_equal(entry.v, frame * C2_PAGE_BYTES + slot * 8);
}

static void walks_read_each_level(void **state)
{
    (void)state;
    struct mmu_config config = {.physical_bytes = 64 * C2_PAGE_BYTES, .placement = MMU_SEQUENTIAL, .colors = 1};
    struct mmu_request request = {.address = BASE,
                                  .bytes = 2 * C2_PAGE_BYTES,
                                  .prot = MMU_READ,
                                  .fixed = true,
                                  .kind = MMU_ANONYMOUS,
                                  .host_fd = -1};
    struct both *mmu;
    struct mmu_walk walk;
    assert_int_equal(fake_create(&mmu, &fake, 64, &config, NULL), C2_OK);
    assert_int_equal(both_map(mmu, &request), BASE);
    assert_false(both_walk(mmu, (struct guest_va){BASE}, &walk));
    assert_int_equal(both_touch(mmu, (struct guest_va){BASE}, MMU_ACCESS_READ, NULL), MMU_FAULT_NONE);
    assert_true(both_walk(mmu, (struct guest_va){BASE + 0xfff}, &walk));
    assert_int_equal(walk.entry_count, 4);
    check_entry(walk.entry[0], 63, 0);
    check_entry(walk.entry[1], 62, 68);
    check_entry(walk.entry[2], 61, 257);
    check_entry(walk.entry[3], 60, 3);
    assert_false(both_walk(mmu, (struct guest_va){BASE + C2_PAGE_BYTES}, &walk)); /* its table exists, it is absent */
    assert_false(both_walk(mmu, (struct guest_va){MMU_WINDOW_END}, &walk));
    assert_int_equal(both_protect(mmu, BASE, C2_PAGE_BYTES, 0), 0);
    assert_false(both_walk(mmu, (struct guest_va){BASE}, &walk)); /* without rights: nothing a CPU could use */
    both_destroy(mmu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(walks_read_each_level)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
