/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The address space call by call: what it answers, what it tells, what it leaves, with numbers worked out by hand. No
 * window: the host is a dictionary.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "unit/mmu_fake_host.h"

#define PAGE C2_PAGE_BYTES
#define BASE MMU_PIE_BASE
#define RW (MMU_READ | MMU_WRITE)
#define RX (MMU_READ | MMU_EXEC)

static struct fake_host fake;

static struct both *make(enum mmu_placement placement, uint64_t frames)
{
    struct mmu_config config = {.physical_bytes = frames * PAGE, .placement = placement, .colors = 4, .color = 1};
    struct both *mmu;
    assert_int_equal(fake_create(&mmu, &fake, 64, &config, NULL), C2_OK);
    return mmu;
}

static void end(struct both *mmu)
{
    both_check(mmu);
    both_destroy(mmu);
    assert_true(fake.closed);
}

static enum mmu_fault touch(struct both *mmu, uint64_t va, enum mmu_access access)
{
    return both_touch(mmu, (struct guest_va){va}, access, NULL);
}

/* The frame of va, or -1. */
static int64_t frame_of(const struct both *mmu, uint64_t va)
{
    struct guest_pa pa;
    return both_translate(mmu, (struct guest_va){va}, &pa) ? (int64_t)(pa.v / PAGE) : -1;
}

static void assert_area(const struct both *mmu, uint64_t va, uint64_t start, uint64_t pages, unsigned prot)
{
    const struct mmu_area *area = both_area_at(mmu, (struct guest_va){va}, false);
    assert_non_null(area);
    assert_int_equal(area->start.v, start);
    assert_int_equal(area->bytes, pages * PAGE);
    assert_int_equal(area->prot, prot);
}

/* ------------------------------------------------------------------ creation */

static void refuses_bad_configurations(void **state)
{
    (void)state;
    static const struct {
        struct mmu_config config;
        const char *says;
    } bad[] = {
        {{.physical_bytes = 0}, "physical_memory"},
        {{.physical_bytes = 5000}, "multiple of 4 KiB"},
        {{.physical_bytes = ((uint64_t)1 << 40) + PAGE}, "at most 1 TiB"},
        {{.physical_bytes = PAGE, .placement = MMU_SAME_COLOR}, "at least one page colour"},
        {{.physical_bytes = PAGE, .placement = MMU_SAME_COLOR, .colors = 8, .color = 8}, "0 to 7"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct both *mmu = (struct both *)&fake;
        struct c2_error err = {0};
        assert_int_equal(fake_create(&mmu, &fake, 4, &bad[i].config, &err), C2_ERR_INVALID);
        assert_null(mmu);
        assert_non_null(strstr(err.text, bad[i].says));
        fake_close(&fake);
    }
}

static void creation_survives_every_failing_allocation(void **state)
{
    (void)state;
    struct mmu_config config = {.physical_bytes = 1 << 20};
    struct both *mmu = NULL;
    for (uint64_t n = 1;; n++) {
        c2_alloc_fail_from(n);
        enum c2_status status = fake_create(&mmu, &fake, 64, &config, NULL);
        c2_alloc_fail_from(0);
        if (status == C2_OK)
            break;
        assert_int_equal(status, C2_ERR_NO_MEMORY);
        assert_null(mmu);
        fake_close(&fake);
        assert_in_range(n, 1, 20);
    }
    end(mmu);
}

/* One frame holds the top table; none at all is refused with the reason. */
static void smallest_memory_holds_the_top_table(void **state)
{
    (void)state;
    struct both *mmu = make(MMU_SEQUENTIAL, 1);
    assert_int_equal(both_counts(mmu)->table_pages, 1);
    assert_int_equal(mmu_root(mmu->mmu), MMU_TABLES_BASE);
    assert_int_equal(fake_anonymous(mmu, BASE, 1, RW), BASE);
    assert_int_equal(touch(mmu, BASE, MMU_ACCESS_READ), MMU_FAULT_FAILED);
    end(mmu);
}

/* ------------------------------------------------------------------ mmap */

static void map_answers_as_the_kernel(void **state)
{
    (void)state;
    struct both *mmu = make(MMU_SEQUENTIAL, 64);
    assert_int_equal(fake_anonymous(mmu, BASE, 4, RW), BASE);
    const struct {
        struct mmu_request request;
        int64_t answer;
    } rows[] = {
        {{.bytes = 0, .host_fd = -1}, -EINVAL},
        {{.bytes = PAGE, .prot = 8, .host_fd = -1}, -EINVAL},
        {{.bytes = PAGE, .offset = 100, .host_fd = -1}, -EINVAL},
        {{.bytes = PAGE, .kind = MMU_FILE, .host_fd = -1}, -EINVAL},
        {{.bytes = PAGE, .kind = MMU_FILE, .host_fd = 9999}, -EBADF},
        {{.bytes = PAGE, .kind = MMU_FILE, .host_fd = 0, .offset = INT64_MAX - 4095}, -EOVERFLOW},
        {{.bytes = UINT64_MAX, .host_fd = -1}, -ENOMEM},
        {{.bytes = MMU_WINDOW_END, .host_fd = -1}, -ENOMEM},
        {{.bytes = PAGE, .address = BASE + 1, .fixed = true, .host_fd = -1}, -EINVAL},
        {{.bytes = PAGE, .address = 0, .fixed = true, .host_fd = -1}, -EPERM},
        {{.bytes = PAGE, .address = 0xf000, .fixed = true, .host_fd = -1}, -EPERM},
        {{.bytes = PAGE, .address = MMU_WINDOW_END, .prot = 1, .fixed = true, .host_fd = -1}, -ENOMEM},
        {{.bytes = PAGE, .address = UINT64_MAX - 4095, .fixed = true, .host_fd = -1}, -ENOMEM},
        {{.bytes = PAGE, .address = MMU_TABLES_BASE, .prot = 1, .fixed = true, .host_fd = -1}, -ENOMEM},
        {{.bytes = 2 * PAGE, .address = MMU_TABLES_BASE - PAGE, .prot = 1, .fixed = true, .host_fd = -1}, -ENOMEM},
        {{.bytes = 2 * PAGE, .address = MMU_TABLES_END - PAGE, .prot = 1, .fixed = true, .host_fd = -1}, -ENOMEM},
        {{.bytes = PAGE, .address = MMU_TABLES_BASE, .fixed = true, .shared = true, .host_fd = -1}, -ENOMEM},
        {{.bytes = 2 * PAGE, .address = MMU_TABLES_END - PAGE, .no_replace = true, .host_fd = -1},
         MMU_TABLES_END - PAGE}, /* without rights */
        {{.bytes = PAGE, .address = MMU_TABLES_END - PAGE, .no_replace = true, .host_fd = -1}, -EEXIST},
        {{.bytes = PAGE, .address = MMU_FAR_START, .prot = 1, .fixed = true, .host_fd = -1}, MMU_FAR_START},
        {{.bytes = 2 * PAGE, .address = MMU_FAR_END - PAGE, .prot = 1, .fixed = true, .host_fd = -1}, -ENOMEM},
        {{.bytes = PAGE, .address = BASE + 3 * PAGE, .no_replace = true, .host_fd = -1}, -EEXIST},
        {{.bytes = PAGE, .address = BASE + 4 * PAGE, .no_replace = true, .host_fd = -1}, BASE + 4 * PAGE},
        {{.bytes = 1, .host_fd = -1}, MMU_MMAP_TOP - PAGE},
        {{.bytes = PAGE, .address = BASE, .host_fd = -1}, MMU_MMAP_TOP - 2 * PAGE},            /* hint taken */
        {{.bytes = PAGE, .address = 0x5000, .host_fd = -1}, MMU_MMAP_TOP - 3 * PAGE},          /* hint too low */
        {{.bytes = PAGE, .address = MMU_TABLES_BASE, .host_fd = -1}, MMU_MMAP_TOP - 4 * PAGE}, /* hint on tables */
        {{.bytes = PAGE, .address = BASE + 8 * PAGE - 1, .host_fd = -1}, BASE + 8 * PAGE},     /* hint rounded up */
        {{.bytes = PAGE, .zone = MMU_ZONE_LOW, .host_fd = -1}, MMU_LOW_BASE},
        {{.bytes = PAGE + 1, .zone = MMU_ZONE_LOW, .host_fd = -1}, MMU_LOW_BASE + PAGE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t answer = both_map(mmu, &rows[i].request);
        if (answer != rows[i].answer)
            fail_msg("row %zu: %lld is not %lld", i, (long long)answer, (long long)rows[i].answer);
    }
    end(mmu);
}

static void high_zone_reuses_the_highest_hole(void **state)
{
    (void)state;
    struct both *mmu = make(MMU_SEQUENTIAL, 64);
    struct mmu_request request = {.bytes = 10 * PAGE, .prot = RW, .host_fd = -1};
    for (uint64_t i = 1; i <= 3; i++)
        assert_int_equal(both_map(mmu, &request), MMU_MMAP_TOP - i * 10 * PAGE);
    assert_int_equal(both_unmap(mmu, MMU_MMAP_TOP - 4 * PAGE, 2 * PAGE), 0);
    assert_int_equal(both_unmap(mmu, MMU_MMAP_TOP - 20 * PAGE, 5 * PAGE), 0);
    request.bytes = 3 * PAGE;
    assert_int_equal(both_map(mmu, &request), MMU_MMAP_TOP - 18 * PAGE); /* ends where the hole ends */
    request.bytes = 2 * PAGE;
    assert_int_equal(both_map(mmu, &request), MMU_MMAP_TOP - 4 * PAGE);
    assert_int_equal(both_map(mmu, &request), MMU_MMAP_TOP - 20 * PAGE);
    assert_int_equal(both_map(mmu, &request), MMU_MMAP_TOP - 32 * PAGE);
    assert_area(mmu, MMU_MMAP_TOP - 1, MMU_MMAP_TOP - 32 * PAGE, 32, RW);
    end(mmu);
}

static void insert(struct mmu_areas *areas, uint64_t start, uint64_t stop)
{
    struct area area = {.view = {.start = {start}, .bytes = stop - start}};
    areas_insert(areas, &area);
}

/* Areas as large as a zone, too large for the dictionary. */
static void low_zone_falls_back_to_the_high_one(void **state)
{
    (void)state;
    struct mmu_areas areas = {0};
    assert_int_equal(areas_reserve(&areas, 2), 0);
    insert(&areas, MMU_LOW_BASE + PAGE, MMU_LOW_END);
    assert_int_equal(areas_gap_up(&areas, MMU_LOW_BASE, MMU_LOW_END, PAGE), MMU_LOW_BASE);
    assert_int_equal(areas_gap_up(&areas, MMU_LOW_BASE, MMU_LOW_END, 2 * PAGE), 0);
    insert(&areas, MMU_TABLES_END, MMU_MMAP_TOP - 2 * PAGE);
    struct mmu mmu = {.space = {.areas = areas}, .layout = {.mmap_top = MMU_MMAP_TOP}};
    assert_int_equal(mmu_find_gap(&mmu, PAGE, MMU_ZONE_LOW), MMU_LOW_BASE);
    assert_int_equal(mmu_find_gap(&mmu, 2 * PAGE, MMU_ZONE_LOW), MMU_MMAP_TOP - 2 * PAGE);
    assert_int_equal(mmu_find_gap(&mmu, 3 * PAGE, MMU_ZONE_LOW), 0);
    assert_int_equal(mmu_find_gap(&mmu, 3 * PAGE, MMU_ZONE_HIGH), 0);
    areas_release(&areas);
}

/* Each mapping can cut two areas, so the last one is made with 65527 there. */
static void areas_are_limited_as_in_linux(void **state)
{
    (void)state;
    struct both *mmu = make(MMU_SEQUENTIAL, 64);
    uint64_t count = 0;
    while (fake_anonymous(mmu, BASE + count * PAGE, 1, count % 2 ? RW : MMU_READ) > 0)
        count++;
    assert_int_equal(count, AREAS_LIMIT - 2);
    assert_int_equal(fake_anonymous(mmu, BASE, 1, RW), -ENOMEM);
    assert_int_equal(both_unmap(mmu, BASE + 10 * PAGE, 3 * PAGE), 0);
    assert_int_equal(fake_anonymous(mmu, BASE + 10 * PAGE, 3, RW), BASE + 10 * PAGE);
    end(mmu);
}

/* ------------------------------------------------------------------ the list of areas */

static void areas_read_like_proc_maps(void **state)
{
    (void)state;
    struct both *mmu = make(MMU_SEQUENTIAL, 16);
    int fd = memfd_create("file", MFD_CLOEXEC);
    struct mmu_request text = {.address = BASE,
                               .bytes = 5 * PAGE,
                               .prot = MMU_READ,
                               .fixed = true,
                               .kind = MMU_FILE,
                               .host_fd = fd,
                               .path = "/bin/guest"};
    assert_int_equal(both_map(mmu, &text), BASE);
    assert_int_equal(both_protect(mmu, BASE + PAGE, 2 * PAGE, RX), 0);
    assert_int_equal(both_protect(mmu, BASE + 4 * PAGE, PAGE, RW), 0);
    assert_int_equal(fake_anonymous(mmu, BASE + 5 * PAGE, 1, RW), BASE + 5 * PAGE); /* alike, but no file */
    assert_int_equal(both_brk(mmu, MMU_HEAP_BASE + 100), MMU_HEAP_BASE + 100);
    struct mmu_request stack = {
        .address = MMU_STACK_TOP - PAGE, .bytes = PAGE, .prot = RW, .fixed = true, .kind = MMU_STACK, .host_fd = -1};
    assert_int_equal(both_map(mmu, &stack), MMU_STACK_TOP - PAGE);
    stack = (struct mmu_request){.bytes = 2 * PAGE, .host_fd = -1, .shared = true};
    assert_int_equal(both_map(mmu, &stack), MMU_MMAP_TOP - 2 * PAGE);
    assert_int_equal(touch(mmu, BASE + PAGE, MMU_ACCESS_EXEC), MMU_FAULT_NONE);
    assert_int_equal(touch(mmu, MMU_STACK_TOP - 1, MMU_ACCESS_WRITE), MMU_FAULT_NONE);

    const struct mmu_area *area = both_area_at(mmu, (struct guest_va){BASE}, false);
    char expected[2000], *shown = NULL;
    size_t bytes;
    unsigned dev_major = (unsigned)(area->device >> 8 & 0xfff), dev_minor = (unsigned)(area->device & 0xff);
    snprintf(expected, sizeof expected,
             "10000000-10001000 r--p 00000000 %1$02x:%2$02x %3$llu /bin/guest\n"
             "10001000-10003000 r-xp 00001000 %1$02x:%2$02x %3$llu /bin/guest\n"
             "10003000-10004000 r--p 00003000 %1$02x:%2$02x %3$llu /bin/guest\n"
             "10004000-10005000 rw-p 00004000 %1$02x:%2$02x %3$llu /bin/guest\n"
             "10005000-10006000 rw-p 00000000 00:00 0 \n"
             "1120000000-1120001000 rw-p 00000000 00:00 0 [heap]\n"
             "3f0e2fffe000-3f0e30000000 ---s 00000000 00:00 0 \n"
             "3fff37fff000-3fff38000000 rw-p 00000000 00:00 0 [stack]\n"
             "page 000010001000 frame 0000000 p-x--\n"
             "page 3fff37fff000 frame 0000001 pw---\n"
             "sequential placement: 9 of 16 frames taken, 7 by page tables\n",
             dev_major, dev_minor, (unsigned long long)area->inode);
    FILE *to = open_memstream(&shown, &bytes);
    mmu_replica_dump(mmu->replica, to);
    fclose(to);
    assert_string_equal(shown, expected);
    free(shown);

    assert_int_equal(both_protect(mmu, BASE, 5 * PAGE, MMU_READ), 0); /* one mapping again */
    assert_area(mmu, BASE + 4 * PAGE, BASE, 5, MMU_READ);
    assert_null(both_area_at(mmu, (struct guest_va){MMU_HEAP_BASE - 1}, false));
    assert_int_equal(both_area_at(mmu, (struct guest_va){MMU_HEAP_BASE - 1}, true)->start.v, MMU_HEAP_BASE);
    assert_null(both_area_at(mmu, (struct guest_va){MMU_STACK_TOP}, true));
    close(fd);
    end(mmu);
}

/* ------------------------------------------------------------------ touching, by hand */

/* 16 frames. Pages from below, tables from above: the root has 15, each new path of 3 tables takes 3 more. */
static void frames_come_in_order_of_touch(void **state)
{
    (void)state;
    struct both *mmu = make(MMU_SEQUENTIAL, 16);
    assert_int_equal(fake_anonymous(mmu, BASE, 8, RW), BASE);
    assert_int_equal(touch(mmu, BASE + 5 * PAGE + 17, MMU_ACCESS_READ), MMU_FAULT_NONE);
    assert_int_equal(touch(mmu, BASE, MMU_ACCESS_WRITE), MMU_FAULT_NONE);
    assert_int_equal(touch(mmu, BASE + 4095, MMU_ACCESS_READ), MMU_FAULT_NONE);
    assert_int_equal(touch(mmu, BASE + 7 * PAGE, MMU_ACCESS_UNKNOWN), MMU_FAULT_NONE);
    assert_int_equal(frame_of(mmu, BASE + 5 * PAGE), 0);
    assert_int_equal(frame_of(mmu, BASE), 1);
    assert_int_equal(frame_of(mmu, BASE + 7 * PAGE), 2);
    assert_int_equal(frame_of(mmu, BASE + PAGE), -1);
    struct guest_pa pa;
    assert_true(both_translate(mmu, (struct guest_va){BASE + 0xabc}, &pa));
    assert_int_equal(pa.v, PAGE + 0xabc);
    assert_int_equal(both_counts(mmu)->table_pages, 4);
    for (uint64_t frame = 3; frame < 12; frame++)
        assert_false(frames_is_taken(mmu->replica->space.frames, frame));
    for (uint64_t frame = 12; frame < 16; frame++)
        assert_true(frames_is_taken(mmu->replica->space.frames, frame));

    assert_int_equal(both_unmap(mmu, BASE + 5 * PAGE, PAGE), 0);
    assert_int_equal(touch(mmu, BASE + PAGE, MMU_ACCESS_READ), MMU_FAULT_NONE);
    assert_int_equal(frame_of(mmu, BASE + PAGE), 0); /* the freed one is the lowest */
    assert_int_equal(both_counts(mmu)->small_pages, 4);
    assert_int_equal(both_counts(mmu)->small_present, 3);
    assert_int_equal(both_counts(mmu)->faults, 4);

    assert_int_equal(both_unmap(mmu, BASE, 8 * PAGE), 0);
    assert_int_equal(both_counts(mmu)->table_pages, 1);
    assert_int_equal(both_counts(mmu)->small_present, 0);
    assert_int_equal(frames_taken(mmu->replica->space.frames), 1);
    end(mmu);
}

static void rights_are_those_of_x86(void **state)
{
    (void)state;
    static const struct {
        unsigned prot;
        enum mmu_fault read, write, exec;
    } rows[] = {
        {0, MMU_FAULT_DENIED, MMU_FAULT_DENIED, MMU_FAULT_DENIED},
        {MMU_READ, MMU_FAULT_NONE, MMU_FAULT_DENIED, MMU_FAULT_DENIED},
        {MMU_WRITE, MMU_FAULT_NONE, MMU_FAULT_NONE, MMU_FAULT_DENIED},
        {MMU_EXEC, MMU_FAULT_NONE, MMU_FAULT_DENIED, MMU_FAULT_NONE},
        {RW, MMU_FAULT_NONE, MMU_FAULT_NONE, MMU_FAULT_DENIED},
        {RX, MMU_FAULT_NONE, MMU_FAULT_DENIED, MMU_FAULT_NONE},
        {RW | MMU_EXEC, MMU_FAULT_NONE, MMU_FAULT_NONE, MMU_FAULT_NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct both *mmu = make(MMU_SEQUENTIAL, 16);
        struct guest_va va = {BASE};
        assert_int_equal(fake_anonymous(mmu, BASE, 1, rows[i].prot), BASE);
        for (unsigned round = 0; round < 2; round++) { /* absent, then present */
            assert_int_equal(touch(mmu, BASE, MMU_ACCESS_EXEC), rows[i].exec);
            assert_int_equal(touch(mmu, BASE, MMU_ACCESS_WRITE), rows[i].write);
            assert_int_equal(touch(mmu, BASE, MMU_ACCESS_READ), rows[i].read);
        }
        assert_int_equal(both_ready(mmu, va, MMU_ACCESS_READ), rows[i].read == MMU_FAULT_NONE);
        assert_int_equal(both_ready(mmu, va, MMU_ACCESS_WRITE), rows[i].write == MMU_FAULT_NONE);
        assert_int_equal(both_ready(mmu, va, MMU_ACCESS_EXEC), rows[i].exec == MMU_FAULT_NONE);
        assert_int_equal(both_allows(mmu, va, 1, MMU_READ), rows[i].read == MMU_FAULT_NONE);
        assert_true(both_allows(mmu, va, PAGE, 0));
        assert_false(both_allows(mmu, va, PAGE + 1, 0));
        assert_int_equal(touch(mmu, BASE, MMU_ACCESS_UNKNOWN), MMU_FAULT_DENIED); /* present, or without rights */
        end(mmu);
    }
}

static void ends_of_the_address_space_are_safe(void **state)
{
    (void)state;
    struct both *mmu = make(MMU_SEQUENTIAL, 16);
    static const uint64_t nowhere[] = {0, 0xffff, MMU_TABLES_BASE, MMU_WINDOW_END, (uint64_t)1 << 47, UINT64_MAX};
    for (size_t i = 0; i < sizeof nowhere / sizeof nowhere[0]; i++) {
        struct guest_va va = {nowhere[i]}, at = {1};
        struct guest_pa pa;
        assert_int_equal(both_touch(mmu, va, MMU_ACCESS_READ, NULL), MMU_FAULT_UNMAPPED);
        assert_int_equal(both_touch_range(mmu, va, UINT64_MAX, MMU_ACCESS_READ, &at, NULL), MMU_FAULT_UNMAPPED);
        assert_int_equal(at.v, nowhere[i]);
        assert_false(both_translate(mmu, va, &pa));
        assert_false(both_ready(mmu, va, MMU_ACCESS_READ));
        assert_false(both_allows(mmu, va, UINT64_MAX, 0));
        assert_null(both_area_at(mmu, va, false));
    }
    assert_int_equal(both_unmap(mmu, BASE, 0), -EINVAL);
    assert_int_equal(both_unmap(mmu, BASE + 1, PAGE), -EINVAL);
    assert_int_equal(both_unmap(mmu, BASE, UINT64_MAX), -EINVAL);
    assert_int_equal(both_unmap(mmu, 0, (uint64_t)1 << 47), 0);
    assert_int_equal(both_protect(mmu, BASE + 1, PAGE, RW), -EINVAL);
    assert_int_equal(both_protect(mmu, BASE, PAGE, RW), -ENOMEM);
    assert_int_equal(both_protect(mmu, BASE, UINT64_MAX, RW), -ENOMEM);
    assert_int_equal(both_protect(mmu, BASE, 0, RW), 0);
    assert_int_equal(both_protect(mmu, BASE, PAGE, 16), -EINVAL);
    assert_int_equal(both_discard(mmu, BASE + 1, PAGE), -EINVAL);
    assert_int_equal(both_discard(mmu, BASE, 0), 0);
    assert_int_equal(both_discard(mmu, BASE, UINT64_MAX - 4), -EINVAL);
    end(mmu);
}

static void remap_answers_as_the_kernel(void **state)
{
    (void)state;
    struct both *mmu = make(MMU_SEQUENTIAL, 64);
    assert_int_equal(fake_anonymous(mmu, BASE, 4, RW), BASE);
    assert_int_equal(fake_anonymous(mmu, BASE + 4 * PAGE, 4, MMU_READ), BASE + 4 * PAGE);
    const struct {
        uint64_t old, old_bytes, new_bytes;
        bool may_move, fixed;
        uint64_t to;
        int64_t answer;
    } rows[] = {
        {BASE + 1, PAGE, PAGE, true, false, 0, -EINVAL},
        {BASE, 0, PAGE, true, false, 0, -EINVAL},
        {BASE, PAGE, 0, true, false, 0, -EINVAL},
        {BASE, PAGE, UINT64_MAX, true, false, 0, -EINVAL},
        {BASE, PAGE, PAGE, false, true, MMU_HEAP_BASE, -EINVAL},
        {BASE, PAGE, PAGE, true, true, MMU_HEAP_BASE + 1, -EINVAL},
        {BASE, PAGE, PAGE, true, true, BASE, -EINVAL},
        {BASE, 2 * PAGE, 2 * PAGE, true, true, BASE + PAGE, -EINVAL},
        {BASE, PAGE, PAGE, true, true, 0x1000, -EPERM},
        {BASE, PAGE, PAGE, true, true, MMU_TABLES_BASE, -ENOMEM},
        {BASE - PAGE, PAGE, 2 * PAGE, true, false, 0, -EFAULT},
        {BASE, 5 * PAGE, 6 * PAGE, true, false, 0, -EFAULT}, /* two areas */
        {BASE, 5 * PAGE, 5 * PAGE, true, true, MMU_HEAP_BASE, -EFAULT},
        {BASE, 4 * PAGE, 5 * PAGE, false, false, 0, -ENOMEM}, /* no room, may not move */
        {BASE, 2 * PAGE, 3 * PAGE, false, false, 0, -ENOMEM}, /* the area goes on */
        {BASE, 4 * PAGE, 4 * PAGE, false, false, 0, BASE},
        {BASE + 4 * PAGE, 4 * PAGE, 6 * PAGE, false, false, 0, BASE + 4 * PAGE},
        {BASE + 4 * PAGE, 6 * PAGE - 5, 4 * PAGE - 5, false, false, 0, BASE + 4 * PAGE},
        {BASE, 4 * PAGE, 5 * PAGE, true, false, 0, MMU_MMAP_TOP - 5 * PAGE},
        {MMU_MMAP_TOP - 5 * PAGE, 5 * PAGE, 2 * PAGE, true, true, BASE, BASE},
        {BASE, 2 * PAGE, 2 * PAGE, false, false, 0, BASE},
        {BASE, 2 * PAGE, MMU_WINDOW_END, true, false, 0, -ENOMEM},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t answer = both_remap(mmu, rows[i].old, rows[i].old_bytes, rows[i].new_bytes, rows[i].may_move,
                                    rows[i].fixed, rows[i].to);
        if (answer != rows[i].answer)
            fail_msg("row %zu: %lld is not %lld", i, (long long)answer, (long long)rows[i].answer);
    }
    assert_area(mmu, BASE, BASE, 2, RW);
    assert_area(mmu, BASE + 4 * PAGE, BASE + 4 * PAGE, 4, MMU_READ);
    end(mmu);
}

/* A move that shifts by one page inside one table, both ways: entries of old and new range mix in the same table. */
static void moving_keeps_frames_and_data(void **state)
{
    (void)state;
    struct both *mmu = make(MMU_SEQUENTIAL, 64);
    uint64_t from = BASE + 508 * PAGE; /* 4 pages in one table, 4 in the next */
    assert_int_equal(fake_anonymous(mmu, from, 8, RW), from);
    for (uint64_t i = 0; i < 8; i += 2) {
        assert_int_equal(touch(mmu, from + i * PAGE, MMU_ACCESS_WRITE), MMU_FAULT_NONE);
        fake_at(&fake, from + i * PAGE)->data = 100 + i;
    }
    assert_int_equal(both_counts(mmu)->table_pages, 5);
    uint64_t stops[] = {from - 8 * PAGE, from + PAGE, from - 500 * PAGE, MMU_HEAP_BASE, from};
    for (size_t stop = 0; stop < sizeof stops / sizeof stops[0]; stop++) {
        uint64_t to = stops[stop];
        assert_int_equal(both_remap(mmu, from, 8 * PAGE, 8 * PAGE, true, true, to), (int64_t)to);
        for (uint64_t i = 0; i < 8; i++) {
            assert_int_equal(frame_of(mmu, to + i * PAGE), i % 2 ? -1 : (int64_t)i / 2);
            assert_int_equal(fake_at(&fake, to + i * PAGE)->data, i % 2 ? 0 : 100 + i);
        }
        both_check(mmu);
        from = to;
    }
    assert_int_equal(both_counts(mmu)->small_pages, 4);
    assert_int_equal(both_counts(mmu)->small_present, 4);
    assert_int_equal(both_counts(mmu)->table_pages, 5);
    end(mmu);
}

static void a_page_without_rights_keeps_frame_and_bits(void **state)
{
    (void)state;
    struct both *mmu = make(MMU_SEQUENTIAL, 16);
    assert_int_equal(fake_anonymous(mmu, BASE, 3, RW), BASE);
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(touch(mmu, BASE + i * PAGE, MMU_ACCESS_WRITE), MMU_FAULT_NONE);
    uint64_t entry = tables_get(mmu->replica->space.tables, BASE + PAGE);
    tables_set(mmu->replica->space.tables, BASE + PAGE, entry | ENTRY_ACCESSED | ENTRY_DIRTY); /* as an engine does */
    assert_int_equal(both_protect(mmu, BASE, 3 * PAGE, 0), 0);
    assert_int_equal(frame_of(mmu, BASE + PAGE), -1);
    assert_int_equal(touch(mmu, BASE + PAGE, MMU_ACCESS_READ), MMU_FAULT_DENIED);
    assert_int_equal(both_counts(mmu)->small_present, 0);
    assert_int_equal(frames_taken(mmu->replica->space.frames), 3 + 4);
    both_check(mmu);
    assert_int_equal(both_unmap(mmu, BASE, PAGE), 0); /* its frame goes even so */
    assert_int_equal(frames_taken(mmu->replica->space.frames), 2 + 4);
    assert_int_equal(both_protect(mmu, BASE + PAGE, 2 * PAGE, RX), 0);
    assert_int_equal(frame_of(mmu, BASE + PAGE), 1);
    assert_int_equal(tables_get(mmu->replica->space.tables, BASE + PAGE),
                     PAGE | ENTRY_PRESENT | ENTRY_USER | ENTRY_ACCESSED | ENTRY_DIRTY);
    assert_int_equal(tables_get(mmu->replica->space.tables, BASE + 2 * PAGE), (2 * PAGE) | ENTRY_PRESENT | ENTRY_USER);
    assert_int_equal(both_counts(mmu)->small_pages, 3);
    end(mmu);
}

/* ------------------------------------------------------------------ the tables as hardware reads them */

/* The walk of the manual over an arena's bytes, with reserved bits checked for 40-bit addresses and EFER.NXE = 0. */
static bool hardware_walk(const unsigned char *arena, uint64_t va, bool write, uint64_t *frame)
{
    uint64_t table = MMU_TABLES_BASE;
    for (unsigned shift = 39;; shift -= 9) {
        uint64_t entry;
        memcpy(&entry, arena + (table - MMU_TABLES_BASE) + (va >> shift & 511) * 8, 8);
        if (!(entry & 1))
            return false;
        assert_int_equal(entry & 0x800fff0000000000, 0); /* bit 63 and 40..51 */
        assert_int_equal(entry & 0x180, 0);              /* no large page, not global */
        if (!(entry & 4) || (write && !(entry & 2)))
            return false;
        table = entry & 0xfffffff000;
        if (shift == 12)
            break;
    }
    *frame = table >> 12;
    return true;
}

static void hardware_finds_what_translate_finds(void **state)
{
    (void)state;
    struct both *mmu = make(MMU_RANDOM, 256);
    assert_int_equal(mmu_root(mmu->mmu), MMU_TABLES_BASE);
    static const uint64_t starts[] = {MMU_WINDOW_START,         BASE,
                                      MMU_LOW_BASE - 4 * PAGE,  MMU_HEAP_BASE,
                                      MMU_TABLES_END,           MMU_STACK_TOP - 8 * PAGE,
                                      MMU_WINDOW_END - 8 * PAGE};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        assert_int_equal(fake_anonymous(mmu, starts[i], 8, i % 2 ? RW : RX), (int64_t)starts[i]);
        for (uint64_t k = 0; k < 8; k++) {
            uint64_t va = starts[i] + k * PAGE, frame, none;
            if (k % 3 != 2)
                assert_int_equal(touch(mmu, va, MMU_ACCESS_READ), MMU_FAULT_NONE);
            bool there = hardware_walk(mmu->replica->reserved, va, false, &frame);
            assert_int_equal(there, k % 3 != 2);
            assert_int_equal(hardware_walk(fake.arena, va, false, &none), there);
            if (there) {
                assert_int_equal(frame_of(mmu, va), (int64_t)frame);
                assert_int_equal(none, 0); /* the guest's half has no frames */
            }
            assert_int_equal(hardware_walk(mmu->replica->reserved, va, true, &frame), there && i % 2);
            assert_int_equal(hardware_walk(fake.arena, va, true, &none), there && i % 2);
        }
    }
    end(mmu);
}

/* ------------------------------------------------------------------ files */

static void files_end_in_a_bus_error(void **state)
{
    (void)state;
    struct both *mmu = make(MMU_SEQUENTIAL, 64);
    int fd = memfd_create("file", MFD_CLOEXEC);
    fake.read_only_fd = fd;
    struct mmu_request request = {.address = BASE,
                                  .bytes = 6 * PAGE,
                                  .prot = MMU_READ,
                                  .fixed = true,
                                  .shared = true,
                                  .kind = MMU_FILE,
                                  .host_fd = fd,
                                  .offset = 6 * PAGE,
                                  .path = "/f"};
    assert_int_equal(both_map(mmu, &request), BASE); /* the file has 10 pages */
    struct guest_va at = {0};
    assert_int_equal(both_touch_range(mmu, (struct guest_va){BASE + 5}, 6 * PAGE - 5, MMU_ACCESS_READ, &at, NULL),
                     MMU_FAULT_BUS);
    assert_int_equal(at.v, BASE + 4 * PAGE);
    assert_int_equal(both_counts(mmu)->small_pages, 4);
    assert_int_equal(touch(mmu, BASE + 4 * PAGE, MMU_ACCESS_WRITE), MMU_FAULT_DENIED); /* rights come first */
    assert_int_equal(both_protect(mmu, BASE, PAGE, RW), -EACCES);
    request.prot = RW;
    assert_int_equal(both_map(mmu, &request), -EACCES);
    assert_area(mmu, BASE, BASE, 6, MMU_READ);
    request.shared = false;
    assert_int_equal(both_map(mmu, &request), BASE);
    assert_int_equal(touch(mmu, BASE + 3 * PAGE, MMU_ACCESS_WRITE), MMU_FAULT_NONE);
    assert_int_equal(touch(mmu, BASE + 4 * PAGE, MMU_ACCESS_WRITE), MMU_FAULT_BUS);
    close(fd);
    end(mmu);
}

/* ------------------------------------------------------------------ the heap */

static void brk_moves_by_bytes(void **state)
{
    (void)state;
    struct both *mmu = make(MMU_SEQUENTIAL, 64);
    assert_int_equal(both_brk(mmu, 0), MMU_HEAP_BASE);
    assert_null(both_area_at(mmu, (struct guest_va){MMU_HEAP_BASE}, false));
    assert_int_equal(both_brk(mmu, MMU_HEAP_BASE + 1), MMU_HEAP_BASE + 1);
    assert_int_equal(both_brk(mmu, MMU_HEAP_BASE + PAGE), MMU_HEAP_BASE + PAGE);
    assert_area(mmu, MMU_HEAP_BASE, MMU_HEAP_BASE, 1, RW);
    assert_int_equal(both_brk(mmu, MMU_HEAP_BASE + 3 * PAGE - 1), MMU_HEAP_BASE + 3 * PAGE - 1);
    assert_area(mmu, MMU_HEAP_BASE, MMU_HEAP_BASE, 3, RW);
    assert_int_equal(fake_anonymous(mmu, MMU_HEAP_BASE + 5 * PAGE, 1, RW), MMU_HEAP_BASE + 5 * PAGE);
    assert_int_equal(both_brk(mmu, MMU_HEAP_BASE + 5 * PAGE + 1), MMU_HEAP_BASE + 3 * PAGE - 1); /* into a mapping */
    assert_int_equal(both_brk(mmu, MMU_HEAP_BASE + 5 * PAGE), MMU_HEAP_BASE + 5 * PAGE);         /* up to it */
    assert_area(mmu, MMU_HEAP_BASE, MMU_HEAP_BASE, 5, RW);
    assert_int_equal(touch(mmu, MMU_HEAP_BASE + PAGE, MMU_ACCESS_WRITE), MMU_FAULT_NONE);
    assert_int_equal(both_brk(mmu, MMU_HEAP_BASE + 1), MMU_HEAP_BASE + 1);
    assert_area(mmu, MMU_HEAP_BASE, MMU_HEAP_BASE, 1, RW);
    assert_int_equal(both_counts(mmu)->small_present, 0);
    assert_int_equal(both_brk(mmu, MMU_HEAP_BASE - 1), MMU_HEAP_BASE + 1);
    assert_int_equal(both_brk(mmu, UINT64_MAX), MMU_HEAP_BASE + 1);
    assert_int_equal(both_unmap(mmu, MMU_HEAP_BASE + 5 * PAGE, PAGE), 0);
    assert_int_equal(both_brk(mmu, MMU_HEAP_BASE + 66 * PAGE), MMU_HEAP_BASE + 1); /* more than 64 pages more */
    assert_int_equal(both_brk(mmu, MMU_HEAP_BASE + 65 * PAGE), MMU_HEAP_BASE + 65 * PAGE);
    assert_int_equal(both_brk(mmu, MMU_HEAP_BASE), MMU_HEAP_BASE);
    assert_null(both_area_at(mmu, (struct guest_va){MMU_HEAP_BASE}, false));
    end(mmu);
}

/* ------------------------------------------------------------------ listeners */

/* Of the guest's half, and of a replica: they hear the same. */
static struct ear {
    const struct mmu_areas *areas;
    char heard[1000];
} ears[2];

static void hear(struct ear *ear, const char *word, uint64_t start, uint64_t bytes)
{
    size_t used = strlen(ear->heard);
    snprintf(ear->heard + used, sizeof ear->heard - used, "%s %llx+%llu ", word, (unsigned long long)start,
             (unsigned long long)(bytes / PAGE));
}
static void hear_after(void *self, struct guest_va start, uint64_t bytes, bool code)
{
    hear(self, code ? "code" : "after", start.v, bytes);
}
static void assert_heard_by(struct ear *ear, const char *expected)
{
    assert_string_equal(ear->heard, expected);
    ear->heard[0] = '\0';
}
static void assert_heard(const char *expected)
{
    assert_heard_by(&ears[0], expected);
    assert_heard_by(&ears[1], expected);
}

static void listen(struct both *both, struct mmu_listener listener)
{
    memset(ears, 0, sizeof ears);
    ears[0].areas = mmu_areas(both->mmu);
    ears[1].areas = mmu_replica_areas(both->replica);
    listener.self = &ears[0];
    assert_int_equal(mmu_listen(both->mmu, listener, NULL), C2_OK);
    listener.self = &ears[1];
    assert_int_equal(mmu_replica_listen(both->replica, listener, NULL), C2_OK);
}

static void listeners_hear_of_what_goes(void **state)
{
    (void)state;
    struct both *mmu = make(MMU_SEQUENTIAL, 64);
    listen(mmu, (struct mmu_listener){.after = hear_after});
    fake_anonymous(mmu, 0x10000000, 8, MMU_READ);
    both_protect(mmu, 0x10000000, 2 * PAGE, RW); /* more rights */
    both_unmap(mmu, 0x20000000, PAGE);
    both_discard(mmu, 0x20000000, PAGE);
    assert_heard("");
    both_protect(mmu, 0x10000000, 1 * PAGE, RX | MMU_WRITE); /* more rights, and code */
    assert_heard("code 10000000+1 ");
    both_protect(mmu, 0x10000000, 2 * PAGE, MMU_READ);
    assert_heard("code 10000000+2 ");
    both_protect(mmu, 0x10001000, PAGE, MMU_WRITE); /* reading comes with it */
    assert_heard("");
    both_protect(mmu, 0x10001000, PAGE, 0);
    assert_heard("after 10001000+1 ");
    both_protect(mmu, 0x10001000, 2 * PAGE, RX);
    assert_heard("code 10001000+2 ");
    both_discard(mmu, 0x10002000, 2 * PAGE);
    assert_heard("code 10002000+1 after 10003000+1 ");
    fake_anonymous(mmu, 0x10007000, 3, MMU_READ); /* over one page of the old */
    assert_heard("after 10007000+3 ");
    fake_anonymous(mmu, 0x10009000, 1, RX);
    assert_heard("code 10009000+1 ");
    both_remap(mmu, 0x10003000, PAGE, PAGE, true, true, 0x10009000);
    assert_heard("code 10009000+1 after 10003000+1 ");
    both_remap(mmu, 0x10009000, PAGE, 2 * PAGE, false, false, 0);
    assert_heard("");
    both_remap(mmu, 0x10009000, 2 * PAGE, PAGE, false, false, 0);
    assert_heard("after 1000a000+1 ");
    both_unmap(mmu, 0, 0x40000000);
    assert_heard("code 0+262144 ");
    both_brk(mmu, MMU_HEAP_BASE + PAGE);
    assert_heard("");
    both_brk(mmu, MMU_HEAP_BASE);
    assert_heard("after 1120000000+1 ");
    struct mmu_listener silent = {.self = &fake};
    for (int i = 1; i < MMU_LISTENERS; i++)
        assert_int_equal(mmu_listen(mmu->mmu, silent, NULL), C2_OK);
    assert_int_equal(mmu_listen(mmu->mmu, silent, NULL), C2_ERR_INTERNAL);
    fake_anonymous(mmu, BASE, 1, RW);
    both_unmap(mmu, BASE, PAGE);
    assert_heard("after 10000000+1 ");
    mmu_unlisten(mmu->mmu, &fake);
    assert_int_equal(mmu->mmu->space.listener_count, 1);
    mmu_unlisten(mmu->mmu, &ears[0]);
    space_unlisten(&mmu->replica->space, &ears[1]);
    fake_anonymous(mmu, BASE, 1, RW);
    both_unmap(mmu, BASE, PAGE);
    assert_heard("");
    end(mmu);
}

static void hear_mapped(void *self, const struct mmu_area *area)
{
    struct ear *ear = self;
    const struct mmu_area *whole = mmu_area_at(ear->areas, area->start, false);
    hear(ear,
         area->kind == MMU_FILE   ? "file"
         : area->kind == MMU_HEAP ? "heap"
         : area->shared           ? "shared"
                                  : "memory",
         area->start.v, area->bytes);
    assert_true(whole && whole->prot == area->prot && whole->path == area->path);
    assert_true(area->start.v + area->bytes <= whole->start.v + whole->bytes);
    if (area->kind == MMU_FILE)
        hear(ear, "from", area->offset, 0);
}

/* Exactly what is new is told of, after what went, and also where it joins an area that was there. */
static void listeners_hear_of_what_comes(void **state)
{
    (void)state;
    struct both *mmu = make(MMU_SEQUENTIAL, 64);
    listen(mmu, (struct mmu_listener){.after = hear_after, .mapped = hear_mapped});
    fake_anonymous(mmu, BASE, 4, RW);
    assert_heard("memory 10000000+4 ");
    fake_anonymous(mmu, BASE + 4 * PAGE, 2, RW); /* one area of 6 pages now */
    assert_heard("memory 10004000+2 ");
    fake_anonymous(mmu, BASE + PAGE, 1, RW); /* over what is there */
    assert_heard("after 10001000+1 memory 10001000+1 ");
    int64_t refused = fake_anonymous(mmu, BASE + 1, 1, RW);
    assert_true(refused < 0);
    both_protect(mmu, BASE, 2 * PAGE, MMU_READ);
    both_protect(mmu, BASE, 2 * PAGE, RW);
    both_discard(mmu, BASE, PAGE); /* lost, and mapped still */
    assert_heard("after 10000000+2 after 10000000+1 ");
    assert_non_null(both_area_at(mmu, (struct guest_va){BASE}, false));
    both_brk(mmu, MMU_HEAP_BASE + 1);
    both_brk(mmu, MMU_HEAP_BASE + PAGE); /* the same page */
    both_brk(mmu, MMU_HEAP_BASE + 3 * PAGE);
    assert_heard("heap 1120000000+1 heap 1120001000+2 ");
    both_brk(mmu, MMU_HEAP_BASE + 2 * PAGE);
    assert_heard("after 1120002000+1 ");
    /* Growth in place; a move; a move that grows, told of at once. */
    both_remap(mmu, BASE, 6 * PAGE, 8 * PAGE, false, false, 0);
    assert_heard("memory 10006000+2 ");
    both_remap(mmu, BASE + 2 * PAGE, PAGE, PAGE, true, true, 0x20000000);
    assert_heard("after 10002000+1 memory 20000000+1 ");
    fake_anonymous(mmu, 0x20001000, 1, MMU_READ);
    assert_heard("memory 20001000+1 ");
    both_remap(mmu, 0x20000000, PAGE, 3 * PAGE, true, true, 0x30000000);
    assert_heard("after 20000000+1 memory 30000000+3 ");
    /* A move whose growth the host refuses comes back. Its calls: move, map, move. */
    fake.fail_at = fake.calls + 2;
    assert_int_equal(both_remap(mmu, 0x30000000, 3 * PAGE, 4 * PAGE, true, true, 0x40000000), -ENOMEM);
    assert_heard_by(&ears[0], "after 30000000+3 after 40000000+3 memory 30000000+3 ");
    assert_heard(""); /* of which no replica has to know */
    struct mmu_request request = {.address = 0x50000000,
                                  .bytes = 3 * PAGE,
                                  .prot = MMU_READ,
                                  .fixed = true,
                                  .kind = MMU_FILE,
                                  .host_fd = 0,
                                  .offset = 5 * PAGE,
                                  .path = "/f"};
    assert_int_equal(both_map(mmu, &request), 0x50000000);
    assert_heard("file 50000000+3 from 5000+0 ");
    both_remap(mmu, 0x50000000, 3 * PAGE, 5 * PAGE, false, false, 0);
    assert_heard("file 50003000+2 from 8000+0 ");
    both_unmap(mmu, 0x50000000, 5 * PAGE);
    assert_heard("after 50000000+5 ");
    end(mmu);
}

/* ------------------------------------------------------------------ running out */

static void assert_refused(struct both *mmu, uint64_t va, const char *says)
{
    struct c2_error err = {0};
    uint64_t taken = frames_taken(mmu->replica->space.frames), tables = both_counts(mmu)->table_pages;
    assert_int_equal(both_touch(mmu, (struct guest_va){va}, MMU_ACCESS_WRITE, &err), MMU_FAULT_FAILED);
    assert_int_equal(err.status, C2_ERR_EXHAUSTED);
    assert_string_equal(err.text, says);
    assert_int_equal(frames_taken(mmu->replica->space.frames), taken);
    assert_int_equal(both_counts(mmu)->table_pages, tables);
    both_check(mmu);
}

/* 7 frames: 4 tables, 3 pages. The next path needs 3 tables and finds no frame, or one, or two. */
static void exhausted_memory_names_page_and_remedy(void **state)
{
    (void)state;
    struct both *mmu = make(MMU_SEQUENTIAL, 7);
    fake_anonymous(mmu, BASE, 4, RW);
    fake_anonymous(mmu, MMU_MMAP_TOP - PAGE, 1, RW);
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(touch(mmu, BASE + i * PAGE, MMU_ACCESS_WRITE), MMU_FAULT_NONE);
    assert_refused(mmu, BASE + 3 * PAGE + 5,
                   "physical memory (28 KiB) is exhausted at the first touch of page 0x10003000: frames of pages 3, "
                   "of page tables 4; give the machine more with --set machine.physical_memory=SIZE");
    for (unsigned pages = 3; pages > 0; pages--) {
        char says[400];
        snprintf(says, sizeof says,
                 "physical memory (28 KiB) is exhausted at the first touch of page 0x3f0e2ffff000: "
                 "frames of pages %u, of page tables 4; give the machine more with --set machine.physical_memory=SIZE",
                 pages);
        assert_refused(mmu, MMU_MMAP_TOP - 1, says);
        assert_int_equal(both_discard(mmu, BASE + (pages - 1) * PAGE, PAGE), 0);
    }
    assert_int_equal(touch(mmu, MMU_MMAP_TOP - 1, MMU_ACCESS_WRITE), MMU_FAULT_NONE);
    assert_int_equal(frame_of(mmu, MMU_MMAP_TOP - 1), 0);
    end(mmu);
}

/* 8 frames: 4 tables and a page leave three, for the tables of another page and not for itself. */
static void tables_of_a_page_without_frame_go_again(void **state)
{
    (void)state;
    struct both *mmu = make(MMU_RANDOM, 8);
    fake_anonymous(mmu, BASE, 1, RW);
    fake_anonymous(mmu, MMU_MMAP_TOP - PAGE, 1, RW);
    assert_int_equal(touch(mmu, BASE, MMU_ACCESS_WRITE), MMU_FAULT_NONE);
    assert_refused(mmu, MMU_MMAP_TOP - 1,
                   "physical memory (32 KiB) is exhausted at the first touch of page 0x3f0e2ffff000: frames of pages "
                   "1, of page tables 4; give the machine more with --set machine.physical_memory=SIZE");
    end(mmu);
}

static void identity_clash_names_both_pages(void **state)
{
    (void)state;
    struct both *mmu = make(MMU_IDENTITY, 64); /* BASE is page 0 of 64; tables take 63 .. 60 */
    fake_anonymous(mmu, BASE, 128, RW);
    assert_int_equal(touch(mmu, BASE + 7 * PAGE, MMU_ACCESS_READ), MMU_FAULT_NONE);
    assert_int_equal(frame_of(mmu, BASE + 7 * PAGE), 7);
    assert_refused(
        mmu, BASE + 71 * PAGE,
        "identity placement: page 0x10047000 needs the physical page 0x7000 (its address modulo 256 KiB), "
        "which page 0x10007000 holds already; give the machine more with --set machine.physical_memory=SIZE, or "
        "use --pages sequential");
    assert_refused(
        mmu, BASE + 60 * PAGE,
        "identity placement: page 0x1003c000 needs the physical page 0x3c000 (its address modulo 256 KiB), "
        "which a page table holds already; give the machine more with --set machine.physical_memory=SIZE, or use "
        "--pages sequential");
    assert_int_equal(touch(mmu, BASE + 59 * PAGE, MMU_ACCESS_READ), MMU_FAULT_NONE);
    end(mmu);
}

/* The usual layout fits identity placement without a clash from 1 GiB on. */
static void identity_fits_the_layout(void **state)
{
    (void)state;
    for (uint64_t gib = 1; gib <= 64; gib *= 8) {
        struct both *mmu = make(MMU_IDENTITY, gib << 18);
        static const uint64_t starts[] = {
            0x400000, BASE, MMU_LOW_BASE, MMU_HEAP_BASE, MMU_MMAP_TOP - 64 * PAGE, MMU_STACK_TOP - 64 * PAGE};
        for (size_t i = 0; i < 6; i++) {
            struct guest_va at;
            fake_anonymous(mmu, starts[i], 64, RW);
            assert_int_equal(
                both_touch_range(mmu, (struct guest_va){starts[i]}, 64 * PAGE, MMU_ACCESS_WRITE, &at, NULL),
                MMU_FAULT_NONE);
            assert_int_equal(frame_of(mmu, starts[i]), (int64_t)(starts[i] % (gib << 30) / PAGE));
        }
        both_destroy(mmu);
    }
}

/* 16 frames, colour 1 of 4: 1, 5, 9; 13 went to a table. */
static void exhausted_color_is_named(void **state)
{
    (void)state;
    struct both *mmu = make(MMU_SAME_COLOR, 16);
    fake_anonymous(mmu, BASE, 4, RW);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(touch(mmu, BASE + i * PAGE, MMU_ACCESS_WRITE), MMU_FAULT_NONE);
        assert_int_equal(frame_of(mmu, BASE + i * PAGE), (int64_t)(1 + 4 * i));
    }
    assert_refused(mmu, BASE + 3 * PAGE,
                   "the frames of colour 1 of 4 in physical memory (64 KiB) are exhausted at the first touch of page "
                   "0x10003000; give the machine more with --set machine.physical_memory=SIZE");
    end(mmu);
}

static void a_layout_moves_heap_and_mappings(void **state)
{
    (void)state;
    struct both *mmu = make(MMU_SEQUENTIAL, 64);
    const uint64_t heap = BASE + 7 * PAGE;
    mmu_lay_out(mmu->mmu, &(struct mmu_layout){heap, MMU_FAR_MMAP_TOP, MMU_FAR_STACK_TOP});
    const struct mmu_request one = {.bytes = PAGE, .prot = RW, .host_fd = -1};
    assert_int_equal(both_brk(mmu, 0), heap);
    assert_int_equal(both_brk(mmu, heap - 1), heap);
    assert_int_equal(both_brk(mmu, heap + 1), heap + 1);
    assert_area(mmu, heap, heap, 1, RW);
    assert_int_equal(both_map(mmu, &one), MMU_FAR_MMAP_TOP - PAGE);
    assert_int_equal(both_map(mmu, &one), MMU_FAR_MMAP_TOP - 2 * PAGE);
    assert_int_equal(mmu_layout(mmu->mmu)->stack_top, MMU_FAR_STACK_TOP);
    end(mmu);
}

static void what_can_be_read_is_code_if_the_layout_says_so(void **state)
{
    (void)state;
    struct both *mmu = make(MMU_SEQUENTIAL, 64);
    struct mmu_request request = {.address = BASE, .bytes = PAGE, .prot = MMU_READ, .fixed = true, .host_fd = -1};
    mmu_make_readable_code(mmu->mmu, true);
    both_map(mmu, &request);
    assert_area(mmu, BASE, BASE, 1, RX);
    both_protect(mmu, BASE, PAGE, 0);
    assert_area(mmu, BASE, BASE, 1, 0);
    both_protect(mmu, BASE, PAGE, RW);
    assert_area(mmu, BASE, BASE, 1, RW | MMU_EXEC);
    both_brk(mmu, MMU_HEAP_BASE + 1);
    assert_area(mmu, MMU_HEAP_BASE, MMU_HEAP_BASE, 1, RW | MMU_EXEC);
    mmu_make_readable_code(mmu->mmu, false);
    both_map(mmu, &request);
    assert_area(mmu, BASE, BASE, 1, MMU_READ);
    end(mmu);
}

static void full_arena_is_named(void **state)
{
    (void)state;
    struct mmu_config config = {.physical_bytes = 1 << 20};
    struct both *mmu;
    assert_int_equal(fake_create(&mmu, &fake, 5, &config, NULL), C2_OK);
    fake_anonymous(mmu, BASE, 1, RW);
    fake_anonymous(mmu, MMU_HEAP_BASE, 1, RW);
    assert_int_equal(touch(mmu, BASE, MMU_ACCESS_READ), MMU_FAULT_NONE);
    struct c2_error err;
    assert_int_equal(both_touch(mmu, (struct guest_va){MMU_HEAP_BASE}, MMU_ACCESS_READ, &err), MMU_FAULT_FAILED);
    assert_int_equal(err.status, C2_ERR_NO_MEMORY);
    assert_string_equal(err.text, "the room for 5 page tables is full: the guest's mapped pages are spread too widely");
    assert_int_equal(both_counts(mmu)->table_pages, 4);
    both_unmap(mmu, BASE, PAGE);
    assert_int_equal(touch(mmu, MMU_HEAP_BASE, MMU_ACCESS_READ), MMU_FAULT_NONE);
    end(mmu);
}

/* ------------------------------------------------------------------ failures, enumerated */

/* A script that uses every call; each step says whether it was done. `fail`: what fails is undone. */
struct script {
    struct both *mmu;
    int fd;
    unsigned failed;
};

static bool step_failed(struct script *script, int64_t answer)
{
    assert_true(answer >= 0 || answer == -ENOMEM);
    script->failed += answer < 0;
    both_check(script->mmu);
    return answer < 0;
}

static void step_touch(struct script *script, uint64_t va)
{
    struct c2_error err = {0};
    const bool lost = script->mmu->failed[0]; /* the replica does not have all of it any more */
    enum mmu_fault fault = both_touch(script->mmu, (struct guest_va){va}, MMU_ACCESS_READ, &err);
    assert_true(fault == MMU_FAULT_NONE || (fault == MMU_FAULT_FAILED && (lost || err.status == C2_ERR_NO_MEMORY)) ||
                fault == MMU_FAULT_UNMAPPED);
    step_failed(script, fault == MMU_FAULT_NONE ? 0 : -ENOMEM);
}

static void step_remap(struct script *script, uint64_t old, uint64_t pages, uint64_t new_pages, uint64_t to)
{
    const struct mmu_area *area = both_area_at(script->mmu, (struct guest_va){old}, false);
    if (!area || area->bytes < pages * PAGE)
        return; /* an earlier step failed */
    int64_t frame = frame_of(script->mmu, old);
    int64_t answer = both_remap(script->mmu, old, pages * PAGE, new_pages * PAGE, true, true, to);
    const bool known = !script->mmu->failed[0];
    if (step_failed(script, answer)) {
        assert_true(!known || frame_of(script->mmu, old) == frame); /* still where it was */
        assert_non_null(both_area_at(script->mmu, (struct guest_va){old + pages * PAGE - 1}, false));
    } else {
        assert_true(!known || frame_of(script->mmu, to) == frame);
    }
}

static void run_script(struct script *script)
{
    struct both *mmu = script->mmu;
    struct mmu_request file = {.address = BASE + 16 * PAGE,
                               .bytes = 4 * PAGE,
                               .prot = RW,
                               .fixed = true,
                               .shared = true,
                               .kind = MMU_FILE,
                               .host_fd = script->fd,
                               .path = "/some/path"};
    step_failed(script, fake_anonymous(mmu, BASE, 8, RW));
    step_failed(script, both_map(mmu, &file));
    step_touch(script, BASE);
    step_touch(script, BASE + 16 * PAGE);
    step_failed(script, fake_anonymous(mmu, BASE + 2 * PAGE, 2, MMU_READ));
    if (both_area_at(mmu, (struct guest_va){BASE}, false))
        step_failed(script, both_protect(mmu, BASE, PAGE, 0));
    if (both_area_at(mmu, (struct guest_va){BASE}, false))
        step_failed(script, both_protect(mmu, BASE, PAGE, RW));
    step_remap(script, BASE + 16 * PAGE, 4, 6, MMU_MMAP_TOP - 6 * PAGE);
    step_remap(script, BASE, 1, 3, MMU_HEAP_BASE + 64 * PAGE);
    if (both_area_at(mmu, (struct guest_va){BASE + 5 * PAGE}, false))
        step_failed(script, both_discard(mmu, BASE + 5 * PAGE, PAGE));
    uint64_t brk = both_brk(mmu, MMU_HEAP_BASE + 2 * PAGE);
    step_failed(script, brk == MMU_HEAP_BASE ? -ENOMEM : 0);
    step_failed(script, both_unmap(mmu, BASE + PAGE, 6 * PAGE));
    step_failed(script, both_unmap(mmu, 0, MMU_WINDOW_END));
}

static unsigned run_failing(uint64_t allocation, uint64_t host_call)
{
    struct script script = {.mmu = make(MMU_SEQUENTIAL, 64), .fd = memfd_create("file", MFD_CLOEXEC)};
    c2_alloc_fail_from(allocation);
    fake.calls = 0;
    fake.fail_at = host_call;
    run_script(&script);
    c2_alloc_fail_from(0);
    fake.fail_at = 0;
    both_unmap(script.mmu, 0, MMU_WINDOW_END);
    assert_true(script.mmu->failed[0] || frames_taken(script.mmu->replica->space.frames) == 1);
    close(script.fd);
    end(script.mmu);
    return script.failed;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    assert_int_equal(run_failing(0, 0), 0);
    uint64_t n = 1;
    while (run_failing(n, 0) > 0)
        assert_in_range(++n, 2, 100);
    assert_in_range(n, 4, 100); /* the list, a backing, and more */
}

static void every_host_call_may_fail(void **state)
{
    (void)state;
    uint64_t n = 1;
    while (run_failing(0, n) > 0)
        assert_in_range(++n, 2, 100);
    assert_in_range(n, 10, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_bad_configurations),
        cmocka_unit_test(creation_survives_every_failing_allocation),
        cmocka_unit_test(smallest_memory_holds_the_top_table),
        cmocka_unit_test(map_answers_as_the_kernel),
        cmocka_unit_test(high_zone_reuses_the_highest_hole),
        cmocka_unit_test(low_zone_falls_back_to_the_high_one),
        cmocka_unit_test(areas_are_limited_as_in_linux),
        cmocka_unit_test(areas_read_like_proc_maps),
        cmocka_unit_test(frames_come_in_order_of_touch),
        cmocka_unit_test(rights_are_those_of_x86),
        cmocka_unit_test(ends_of_the_address_space_are_safe),
        cmocka_unit_test(remap_answers_as_the_kernel),
        cmocka_unit_test(moving_keeps_frames_and_data),
        cmocka_unit_test(a_page_without_rights_keeps_frame_and_bits),
        cmocka_unit_test(hardware_finds_what_translate_finds),
        cmocka_unit_test(files_end_in_a_bus_error),
        cmocka_unit_test(brk_moves_by_bytes),
        cmocka_unit_test(listeners_hear_of_what_goes),
        cmocka_unit_test(listeners_hear_of_what_comes),
        cmocka_unit_test(exhausted_memory_names_page_and_remedy),
        cmocka_unit_test(tables_of_a_page_without_frame_go_again),
        cmocka_unit_test(identity_clash_names_both_pages),
        cmocka_unit_test(identity_fits_the_layout),
        cmocka_unit_test(exhausted_color_is_named),
        cmocka_unit_test(a_layout_moves_heap_and_mappings),
        cmocka_unit_test(what_can_be_read_is_code_if_the_layout_says_so),
        cmocka_unit_test(full_arena_is_named),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(every_host_call_may_fail),
    };
    return cmocka_run_group_tests_name("mmu_space", tests, NULL, NULL);
}
