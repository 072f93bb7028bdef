/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The zero page: what is only read has no frame of its own. In the tests of 64 frames the root has frame 63 and the
 * three tables of the first page 62 to 60, so the zero page is frame 59.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "unit/mmu_fake_host.h"

#define PAGE C2_PAGE_BYTES
#define BASE 0x10000000ull
#define RW (MMU_READ | MMU_WRITE)
#define ZERO 59

static struct fake_host fake;

static struct both *make_with(const struct mmu_config *config)
{
    struct both *mmu;
    assert_int_equal(fake_create(&mmu, &fake, 64, config, NULL), C2_OK);
    return mmu;
}

static struct both *make(uint64_t frames)
{
    struct mmu_config config = {.physical_bytes = frames * PAGE, .zero_page = true};
    return make_with(&config);
}

static void end(struct both *mmu)
{
    both_check(mmu);
    both_destroy(mmu);
}

static enum mmu_fault touch(struct both *mmu, uint64_t va, enum mmu_access access)
{
    return both_touch(mmu, (struct guest_va){va}, access, NULL);
}

static int64_t frame_of(const struct both *mmu, uint64_t va)
{
    struct guest_pa pa;
    return both_translate(mmu, (struct guest_va){va}, &pa) ? (int64_t)(pa.v / PAGE) : -1;
}

/* Pages 0 and 1 are read, page 2 is written first: it has the first frame. Then page 1 is written. */
static void pages_that_are_read_share_a_frame(void **state)
{
    (void)state;
    struct both *mmu = make(64);
    const struct mmu_counts *counts = both_counts(mmu);
    fake_anonymous(mmu, BASE, 4, RW);
    assert_int_equal(touch(mmu, BASE, MMU_ACCESS_READ), MMU_FAULT_NONE);
    assert_int_equal(touch(mmu, BASE + PAGE, MMU_ACCESS_READ), MMU_FAULT_NONE);
    assert_int_equal(touch(mmu, BASE + 2 * PAGE, MMU_ACCESS_WRITE), MMU_FAULT_NONE);
    assert_int_equal(frame_of(mmu, BASE), ZERO);
    assert_int_equal(frame_of(mmu, BASE + PAGE), ZERO);
    assert_int_equal(frame_of(mmu, BASE + 2 * PAGE), 0);
    assert_false(both_ready(mmu, (struct guest_va){BASE}, MMU_ACCESS_WRITE));
    assert_true(both_ready(mmu, (struct guest_va){BASE + 2 * PAGE}, MMU_ACCESS_WRITE));
    assert_int_equal(counts->zero_present, 2);
    assert_int_equal(both_resident_bytes(mmu), PAGE);
    assert_int_equal(touch(mmu, BASE + PAGE, MMU_ACCESS_WRITE), MMU_FAULT_NONE);
    assert_int_equal(frame_of(mmu, BASE), ZERO);
    assert_int_equal(frame_of(mmu, BASE + PAGE), 1);
    assert_true(both_ready(mmu, (struct guest_va){BASE + PAGE}, MMU_ACCESS_WRITE));
    assert_int_equal(counts->zero_pages, 2);
    assert_int_equal(counts->zero_copies, 1);
    assert_int_equal(counts->zero_present, 1);
    assert_int_equal(counts->small_pages, 2);
    assert_int_equal(counts->small_present, 3);
    assert_int_equal(counts->faults, 3);
    end(mmu);
}

/* An engine that cannot tell faults twice when it writes. */
static void unknown_accesses_read_first(void **state)
{
    (void)state;
    struct both *mmu = make(64);
    fake_anonymous(mmu, BASE, 1, RW);
    fake_anonymous(mmu, BASE + PAGE, 1, MMU_READ);
    assert_int_equal(touch(mmu, BASE, MMU_ACCESS_UNKNOWN), MMU_FAULT_NONE);
    assert_int_equal(frame_of(mmu, BASE), ZERO);
    assert_int_equal(touch(mmu, BASE, MMU_ACCESS_UNKNOWN), MMU_FAULT_NONE);
    assert_int_equal(frame_of(mmu, BASE), 0);
    assert_int_equal(touch(mmu, BASE, MMU_ACCESS_UNKNOWN), MMU_FAULT_DENIED);
    assert_int_equal(touch(mmu, BASE + PAGE, MMU_ACCESS_UNKNOWN), MMU_FAULT_NONE);
    assert_int_equal(touch(mmu, BASE + PAGE, MMU_ACCESS_UNKNOWN), MMU_FAULT_DENIED);
    assert_int_equal(touch(mmu, BASE + PAGE, MMU_ACCESS_WRITE), MMU_FAULT_DENIED);
    assert_int_equal(frame_of(mmu, BASE + PAGE), ZERO);
    end(mmu);
}

/* A kernel that reads for the guest maps it, a kernel that writes copies; a range goes page by page. */
static void ranges_read_and_write(void **state)
{
    (void)state;
    struct both *mmu = make(64);
    struct guest_va at, start = {BASE + 100};
    fake_anonymous(mmu, BASE, 3, RW);
    assert_int_equal(both_touch_range(mmu, start, 2 * PAGE, MMU_ACCESS_READ, &at, NULL), MMU_FAULT_NONE);
    assert_int_equal(both_counts(mmu)->zero_pages, 3);
    assert_int_equal(both_touch_range(mmu, start, PAGE, MMU_ACCESS_WRITE, &at, NULL), MMU_FAULT_NONE);
    assert_int_equal(both_counts(mmu)->zero_copies, 2);
    assert_int_equal(frame_of(mmu, BASE + PAGE), 1);
    assert_int_equal(frame_of(mmu, BASE + 2 * PAGE), ZERO);
    end(mmu);
}

/* Files and shared memory have pages of their own from the first access on; so has everything without the option. */
static void only_private_anonymous_memory_has_it(void **state)
{
    (void)state;
    struct both *mmu = make(64);
    struct mmu_request shared = {
        .address = BASE, .bytes = PAGE, .prot = RW, .fixed = true, .shared = true, .host_fd = -1};
    struct mmu_request file = {.address = BASE + PAGE,
                               .bytes = PAGE,
                               .prot = RW,
                               .fixed = true,
                               .kind = MMU_FILE,
                               .host_fd = STDIN_FILENO,
                               .path = "/f"};
    assert_int_equal(both_map(mmu, &shared), BASE);
    assert_int_equal(both_map(mmu, &file), BASE + PAGE);
    both_brk(mmu, MMU_HEAP_BASE + PAGE);
    assert_int_equal(touch(mmu, BASE, MMU_ACCESS_READ), MMU_FAULT_NONE);
    assert_int_equal(touch(mmu, BASE + PAGE, MMU_ACCESS_READ), MMU_FAULT_NONE);
    assert_int_equal(touch(mmu, MMU_HEAP_BASE, MMU_ACCESS_READ), MMU_FAULT_NONE);
    assert_int_equal(frame_of(mmu, BASE), 0);
    assert_int_equal(frame_of(mmu, BASE + PAGE), 1);
    assert_int_equal(frame_of(mmu, MMU_HEAP_BASE), 57); /* behind two more tables, 59 and 58 */
    assert_int_equal(both_counts(mmu)->zero_pages, 1);
    end(mmu);
    struct mmu_config without = {.physical_bytes = 64 * PAGE};
    mmu = make_with(&without);
    fake_anonymous(mmu, BASE, 1, RW);
    assert_int_equal(touch(mmu, BASE, MMU_ACCESS_READ), MMU_FAULT_NONE);
    assert_int_equal(frame_of(mmu, BASE), 0);
    end(mmu);
}

static void rights_come_and_go(void **state)
{
    (void)state;
    struct both *mmu = make(64);
    struct guest_va va = {BASE};
    fake_anonymous(mmu, BASE, 1, MMU_READ | MMU_EXEC);
    assert_int_equal(touch(mmu, BASE, MMU_ACCESS_EXEC), MMU_FAULT_NONE);
    assert_true(both_ready(mmu, va, MMU_ACCESS_EXEC));
    assert_int_equal(both_protect(mmu, BASE, PAGE, RW), 0);
    assert_false(both_ready(mmu, va, MMU_ACCESS_WRITE));
    assert_int_equal(both_protect(mmu, BASE, PAGE, 0), 0);
    assert_false(both_ready(mmu, va, MMU_ACCESS_READ));
    assert_int_equal(both_counts(mmu)->zero_present, 0);
    both_check(mmu);
    assert_int_equal(both_protect(mmu, BASE, PAGE, RW), 0);
    assert_int_equal(frame_of(mmu, BASE), ZERO);
    assert_false(both_ready(mmu, va, MMU_ACCESS_WRITE));
    assert_int_equal(touch(mmu, BASE, MMU_ACCESS_WRITE), MMU_FAULT_NONE);
    assert_int_equal(frame_of(mmu, BASE), 0);
    end(mmu);
}

/* The frame is taken once, whatever becomes of the pages: root, tables and it are 5 of the frames at the end. */
static void the_frame_belongs_to_no_page(void **state)
{
    (void)state;
    struct both *mmu = make(64);
    fake_anonymous(mmu, BASE, 8, RW);
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(touch(mmu, BASE + i * PAGE, MMU_ACCESS_READ), MMU_FAULT_NONE);
    assert_int_equal(both_remap(mmu, BASE, PAGE, PAGE, true, true, BASE + 0x10000), BASE + 0x10000);
    assert_int_equal(frame_of(mmu, BASE + 0x10000), ZERO);
    assert_int_equal(frame_of(mmu, BASE), -1);
    assert_int_equal(both_discard(mmu, BASE + PAGE, PAGE), 0);
    assert_int_equal(both_unmap(mmu, BASE + 2 * PAGE, PAGE), 0);
    both_check(mmu);
    assert_int_equal(both_counts(mmu)->zero_present, 2);
    assert_int_equal(touch(mmu, BASE + 0x10000, MMU_ACCESS_WRITE), MMU_FAULT_NONE);
    assert_int_equal(touch(mmu, BASE + PAGE, MMU_ACCESS_WRITE), MMU_FAULT_NONE);
    assert_int_equal(touch(mmu, BASE + 3 * PAGE, MMU_ACCESS_WRITE), MMU_FAULT_NONE);
    assert_int_equal(both_counts(mmu)->zero_copies, 2); /* the one that was discarded was touched first again */
    assert_int_equal(frames_taken(mmu->replica->space.frames), 5 + 3);
    both_unmap(mmu, BASE, 0x20000);
    assert_int_equal(frames_taken(mmu->replica->space.frames), 2); /* the root and it */
    fake_anonymous(mmu, BASE, 1, RW);
    assert_int_equal(touch(mmu, BASE, MMU_ACCESS_READ), MMU_FAULT_NONE);
    assert_int_equal(frame_of(mmu, BASE), ZERO);
    end(mmu);
}

/* ------------------------------------------------------------------ listeners */

static char heard[200];
static const struct both *asked;

static void hear(void *self, struct guest_va start, uint64_t bytes, bool code)
{
    size_t used = strlen(heard);
    (void)self, (void)code;
    snprintf(heard + used, sizeof heard - used, "%llx+%llu:%lld ", (unsigned long long)start.v,
             (unsigned long long)(bytes / PAGE), (long long)frame_of(asked, start.v));
}

/* The new translation holds by then. */
static void listeners_hear_of_the_copy(void **state)
{
    (void)state;
    struct both *mmu = make(64);
    asked = mmu;
    heard[0] = '\0';
    assert_int_equal(mmu_replica_listen(mmu->replica, (struct mmu_listener){.after = hear}, NULL), C2_OK);
    fake_anonymous(mmu, BASE, 2, RW);
    touch(mmu, BASE + PAGE, MMU_ACCESS_READ);
    assert_string_equal(heard, "");
    touch(mmu, BASE + PAGE, MMU_ACCESS_WRITE);
    assert_string_equal(heard, "10001000+1:0 ");
    end(mmu);
}

/* ------------------------------------------------------------------ what goes wrong, what is left out */

/* Five frames: root, three tables, the zero page. Reading goes on for ever; writing does not. */
static void a_copy_needs_a_frame(void **state)
{
    (void)state;
    struct both *mmu = make(5);
    struct c2_error err;
    fake_anonymous(mmu, BASE, 3, RW);
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(touch(mmu, BASE + i * PAGE, MMU_ACCESS_READ), MMU_FAULT_NONE);
    assert_int_equal(frame_of(mmu, BASE), 0);
    struct guest_va second = {BASE + PAGE};
    assert_int_equal(both_touch(mmu, second, MMU_ACCESS_WRITE, &err), MMU_FAULT_FAILED);
    assert_non_null(strstr(err.text, "physical memory (20 KiB) is exhausted at the first touch of page 0x10001000"));
    assert_int_equal(frame_of(mmu, second.v), 0);
    assert_int_equal(both_counts(mmu)->zero_copies, 0);
    end(mmu);
    mmu = make(4); /* not even the zero page; the tables go again */
    fake_anonymous(mmu, BASE, 1, RW);
    assert_int_equal(both_touch(mmu, (struct guest_va){BASE}, MMU_ACCESS_READ, &err), MMU_FAULT_FAILED);
    assert_int_equal(both_counts(mmu)->table_pages, 1);
    end(mmu);
}

/* There is no huge zero page. */
static void where_huge_pages_are_wanted_reading_takes_one(void **state)
{
    (void)state;
    struct mmu_config config = {.physical_bytes = 4 << 20, .zero_page = true, .huge = MMU_HUGE_THP};
    struct both *mmu = make_with(&config);
    fake_anonymous(mmu, BASE, 513, RW);
    assert_int_equal(touch(mmu, BASE + PAGE, MMU_ACCESS_READ), MMU_FAULT_NONE);
    assert_int_equal(touch(mmu, BASE + 512 * PAGE, MMU_ACCESS_READ), MMU_FAULT_NONE);
    assert_int_equal(both_counts(mmu)->huge_2m, 1);
    assert_int_equal(both_counts(mmu)->zero_pages, 1);
    end(mmu);
}

/* Reads page 0, writes pages 2 and 1. */
static void read_and_write(struct both *mmu)
{
    fake_anonymous(mmu, BASE, 4, RW);
    assert_int_equal(touch(mmu, BASE, MMU_ACCESS_READ), MMU_FAULT_NONE);
    assert_int_equal(touch(mmu, BASE + PAGE, MMU_ACCESS_READ), MMU_FAULT_NONE);
    assert_int_equal(touch(mmu, BASE + 2 * PAGE, MMU_ACCESS_WRITE), MMU_FAULT_NONE);
    assert_int_equal(touch(mmu, BASE + PAGE, MMU_ACCESS_WRITE), MMU_FAULT_NONE);
}

/* A map has the pages that got a frame, in the order in which they did; played back it needs the zero page again. */
static void a_map_leaves_it_out(void **state)
{
    (void)state;
    struct mmu_config config = {
        .physical_bytes = 64 * PAGE, .zero_page = true, .log_placements = true, .placement = MMU_RANDOM, .seed = 5};
    struct both *mmu = make_with(&config);
    read_and_write(mmu);
    int64_t frames[2] = {frame_of(mmu, BASE + PAGE), frame_of(mmu, BASE + 2 * PAGE)};
    char expected[100], path[] = "/tmp/mmu_zero_XXXXXX", written[200] = "";
    snprintf(expected, sizeof expected, "\n0x10002 0x%llx 4K\n0x10001 0x%llx 4K\n", (unsigned long long)frames[1],
             (unsigned long long)frames[0]);
    FILE *file = fdopen(mkstemp(path), "w+");
    assert_int_equal(mmu_replica_pagemap_write(mmu->replica, file, false, NULL), C2_OK);
    rewind(file);
    assert_true(fread(written, 1, sizeof written - 1, file) > 0);
    fclose(file);
    assert_non_null(strstr(written, expected));
    assert_null(strstr(written, "0x10000 "));
    end(mmu);
    struct mmu_config again = {.physical_bytes = 64 * PAGE, .zero_page = true, .placement = MMU_MAP};
    snprintf(again.map, sizeof again.map, "%s", path);
    mmu = make_with(&again);
    read_and_write(mmu);
    assert_int_equal(frame_of(mmu, BASE + PAGE), frames[0]);
    assert_int_equal(frame_of(mmu, BASE + 2 * PAGE), frames[1]);
    end(mmu);
    again.zero_page = false;
    mmu = make_with(&again);
    struct c2_error err;
    fake_anonymous(mmu, BASE, 4, RW);
    assert_int_equal(both_touch(mmu, (struct guest_va){BASE}, MMU_ACCESS_READ, &err), MMU_FAULT_FAILED);
    assert_non_null(strstr(err.text, "the map has no page 0x10000"));
    end(mmu);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_that_are_read_share_a_frame),
        cmocka_unit_test(unknown_accesses_read_first),
        cmocka_unit_test(ranges_read_and_write),
        cmocka_unit_test(only_private_anonymous_memory_has_it),
        cmocka_unit_test(rights_come_and_go),
        cmocka_unit_test(the_frame_belongs_to_no_page),
        cmocka_unit_test(listeners_hear_of_the_copy),
        cmocka_unit_test(a_copy_needs_a_frame),
        cmocka_unit_test(where_huge_pages_are_wanted_reading_takes_one),
        cmocka_unit_test(a_map_leaves_it_out),
    };
    return cmocka_run_group_tests_name("mmu_zero", tests, NULL, NULL);
}
