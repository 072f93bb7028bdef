/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The window itself: real host memory under guest addresses.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "mmu/mmu_priv.h"
#include "mmu/replica.h"

#define PAGE C2_PAGE_BYTES
#define BASE MMU_PIE_BASE
#define RW (MMU_READ | MMU_WRITE)

static struct mmu *make(void)
{
    struct mmu_guest_config config = {.guest_bytes = 64 << 20};
    struct c2_error err = {0};
    struct mmu *mmu;
    if (mmu_create(&mmu, &config, &err) != C2_OK)
        fail_msg("%s", err.text);
    return mmu;
}

static void end(struct mmu *mmu)
{
    mmu_check(mmu);
    mmu_destroy(mmu);
}

static volatile unsigned char *byte(uint64_t address) { return (volatile unsigned char *)(uintptr_t)address; }

static int64_t map(struct mmu *mmu, uint64_t address, uint64_t pages, unsigned prot, bool shared, int fd,
                   uint64_t offset)
{
    struct mmu_request request = {.address = address,
                                  .bytes = pages * PAGE,
                                  .prot = prot,
                                  .fixed = true,
                                  .shared = shared,
                                  .kind = fd >= 0 ? MMU_FILE : MMU_ANONYMOUS,
                                  .host_fd = fd,
                                  .offset = offset,
                                  .path = fd >= 0 ? "/file" : NULL};
    return mmu_map(mmu, &request);
}

static enum mmu_fault touch(struct mmu *mmu, uint64_t va, enum mmu_access access)
{
    return mmu_touch(mmu, (struct guest_va){va}, access, NULL);
}

/* A file of `bytes` bytes, byte i being i / 100 modulo 251, plus 1: never zero. */
static int make_file(size_t bytes)
{
    int fd = memfd_create("file", MFD_CLOEXEC);
    unsigned char *content = malloc(bytes);
    for (size_t i = 0; i < bytes; i++)
        content[i] = (unsigned char)(i / 100 % 251 + 1);
    assert_int_equal(write(fd, content, bytes), bytes);
    free(content);
    return fd;
}

/* The host's rights at address as /proc/self/maps has them ("---p"), or "" */
static const char *host_rights(uint64_t address)
{
    static char rights[8];
    rights[0] = '\0';
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    while (fgets(line, sizeof line, maps)) {
        uint64_t start, stop;
        char text[8];
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &start, &stop, text) == 3 && start <= address && address < stop)
            strcpy(rights, text);
    }
    fclose(maps);
    return rights;
}

/* ------------------------------------------------------------------ an older or poorer kernel
 * mremap as the library's code sees it. Kernels before 6.17 move one of their own areas at a time: they unmap the
 * target, then answer EFAULT. */
static bool one_area_at_a_time;
static unsigned refusals, mremap_fails_at; /* counted down: at 0 the call fails with ENOMEM */

static bool in_one_area(uint64_t address, uint64_t bytes)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    bool found = false;
    uint64_t start, stop;
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &stop) == 2 && start <= address && address + bytes <= stop)
            found = true;
    }
    fclose(maps);
    return found;
}

void *mremap(void *old, size_t old_bytes, size_t new_bytes, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    void *target = flags & MREMAP_FIXED ? va_arg(list, void *) : NULL;
    va_end(list);
    if (mremap_fails_at > 0 && --mremap_fails_at == 0) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    if (one_area_at_a_time && !in_one_area((uint64_t)(uintptr_t)old, old_bytes)) {
        refusals++;
        if (target)
            munmap(target, new_bytes);
        errno = EFAULT;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mremap, old, old_bytes, new_bytes, flags, target);
}

/* ------------------------------------------------------------------ life */

static void window_comes_and_goes(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        struct mmu *mmu = make();
        assert_string_equal(host_rights(MMU_WINDOW_START), "---p");
        assert_string_equal(host_rights(MMU_WINDOW_END - 1), "---p");
        assert_string_equal(host_rights(MMU_TABLES_BASE), "rw-p");
        struct c2_error err;
        struct mmu *second = mmu;
        assert_int_equal(mmu_create(&second, &(struct mmu_guest_config){.guest_bytes = PAGE}, &err), C2_ERR_INVALID);
        assert_null(second);
        assert_non_null(strstr(err.text, "already"));
        end(mmu);
        assert_string_equal(host_rights(MMU_WINDOW_START), "");
    }
}

static void creation_survives_every_failing_allocation(void **state)
{
    (void)state;
    struct mmu_guest_config config = {.guest_bytes = 1 << 20};
    struct mmu *mmu = NULL;
    for (uint64_t n = 1;; n++) {
        c2_alloc_fail_from(n);
        enum c2_status status = mmu_create(&mmu, &config, NULL);
        c2_alloc_fail_from(0);
        if (status == C2_OK)
            break;
        assert_int_equal(status, C2_ERR_NO_MEMORY);
        assert_null(mmu);
        assert_string_equal(host_rights(MMU_WINDOW_START), "");
        assert_in_range(n, 1, 20);
    }
    end(mmu);
}

static void a_clash_names_the_occupant(void **state)
{
    (void)state;
    void *occupant = mmap((void *)0x500000, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert_ptr_equal(occupant, (void *)0x500000);
    struct mmu_guest_config config = {.guest_bytes = 1 << 20};
    struct mmu *mmu;
    struct c2_error err;
    assert_int_equal(mmu_create(&mmu, &config, &err), C2_ERR_DENIED);
    assert_null(mmu);
    if (!strstr(err.text, "occupied at 0x500000-0x501000 (no name): run c2emu as built"))
        fail_msg("%s", err.text);
    munmap(occupant, PAGE);
    end(make());
}

/* In a child, because the limit cannot be lifted again. */
static void a_limit_on_addresses_is_named(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {1 << 30, 1 << 30};
        struct mmu_guest_config config = {.guest_bytes = 1 << 20};
        struct mmu *mmu;
        struct c2_error err = {0};
        setrlimit(RLIMIT_AS, &limit);
        enum c2_status status = mmu_create(&mmu, &config, &err);
        _exit(status == C2_ERR_DENIED && !mmu && strstr(err.text, "limit on virtual memory is 1048576 KiB") ? 7 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/* ------------------------------------------------------------------ what sanitizers reserve */

/* The gap of an address sanitizer's shadow: its page is touched nowhere, and what the tables say stays. */
static void reservations_go_around_the_tables(void **state)
{
    (void)state;
    const uint64_t from = 0x8fff7000, bytes = 0x2008fff7000 - from;
    struct mmu *mmu = make();
    assert_int_equal(map(mmu, BASE, 2, RW, false, -1, 0), BASE);
    *byte(BASE + 5) = 50;
    assert_int_equal(touch(mmu, BASE, MMU_ACCESS_WRITE), MMU_FAULT_NONE);
    assert_int_equal(map(mmu, from, bytes / PAGE, MMU_READ, false, -1, 0), -ENOMEM);
    assert_int_equal(map(mmu, from, bytes / PAGE, 0, true, -1, 0), -ENOMEM);
    assert_int_equal(map(mmu, from, bytes / PAGE, 0, false, -1, 0), from);
    assert_true(mmu_ready(mmu, (struct guest_va){BASE}, MMU_ACCESS_WRITE));
    assert_int_equal(mmu_discard(mmu, from, bytes), 0);
    assert_int_equal(mmu_advise_huge(mmu, from, bytes, true), 0);
    assert_true(mmu_ready(mmu, (struct guest_va){BASE}, MMU_ACCESS_WRITE));
    assert_string_equal(host_rights(MMU_TABLES_BASE), "rw-p");
    assert_int_equal(mmu_protect(mmu, MMU_TABLES_BASE - PAGE, 2 * PAGE, RW), -ENOMEM);
    *byte(MMU_TABLES_BASE - PAGE) = 1; /* what lies below has its rights, as where there is a hole */
    assert_int_equal(touch(mmu, MMU_TABLES_BASE - PAGE, MMU_ACCESS_WRITE), MMU_FAULT_NONE);
    assert_int_equal(mmu_protect(mmu, MMU_TABLES_END - PAGE, PAGE, MMU_READ), -ENOMEM);
    assert_int_equal(mmu_protect(mmu, MMU_TABLES_END - PAGE, 2 * PAGE, 0), 0);
    assert_int_equal(mmu_remap(mmu, MMU_TABLES_END - PAGE, PAGE, PAGE, true, true, 0x30000000000), -ENOMEM);
    assert_int_equal(mmu_remap(mmu, BASE, PAGE, PAGE, true, true, MMU_TABLES_END - PAGE), -ENOMEM);
    assert_int_equal(touch(mmu, MMU_TABLES_BASE, MMU_ACCESS_READ), MMU_FAULT_DENIED);
    assert_int_equal(mmu_unmap(mmu, from, bytes), 0);
    assert_true(mmu_ready(mmu, (struct guest_va){BASE}, MMU_ACCESS_WRITE));
    assert_int_equal(*byte(BASE + 5), 50);
    assert_string_equal(host_rights(MMU_TABLES_BASE), "rw-p");
    assert_string_equal(host_rights(MMU_TABLES_BASE - PAGE), "---p");
    assert_string_equal(host_rights(MMU_TABLES_END), "---p");
    end(mmu);
}

/* It is there once it is asked for, by a fixed address; the host's own places are respected. */
static void the_far_window_comes_when_wanted(void **state)
{
    (void)state;
    struct mmu *mmu = make();
    struct mmu_request hint = {.address = MMU_FAR_START, .bytes = PAGE, .prot = RW, .host_fd = -1};
    assert_int_equal(mmu_map(mmu, &hint), MMU_MMAP_TOP - PAGE);
    assert_string_equal(host_rights(MMU_FAR_START), "");
    assert_int_equal(map(mmu, MMU_FAR_START - PAGE, 1, RW, false, -1, 0), -ENOMEM);
    assert_int_equal(map(mmu, MMU_FAR_END - PAGE, 2, RW, false, -1, 0), -ENOMEM);
    assert_int_equal(map(mmu, MMU_FAR_START, 4, RW, false, -1, 0), MMU_FAR_START);
    assert_string_equal(host_rights(MMU_FAR_START), "rw-p");
    assert_string_equal(host_rights(MMU_FAR_END - PAGE), "---p");
    *byte(MMU_FAR_START + PAGE) = 7;
    assert_int_equal(touch(mmu, MMU_FAR_START + PAGE, MMU_ACCESS_WRITE), MMU_FAULT_NONE);
    assert_int_equal(mmu_remap(mmu, MMU_FAR_START, 2 * PAGE, 2 * PAGE, true, true, MMU_FAR_END - 2 * PAGE),
                     MMU_FAR_END - 2 * PAGE);
    assert_int_equal(*byte(MMU_FAR_END - PAGE), 7);
    assert_int_equal(mmu_unmap(mmu, MMU_FAR_START, MMU_FAR_END - MMU_FAR_START), 0);
    assert_string_equal(host_rights(MMU_FAR_END - PAGE), "---p");
    end(mmu);
    assert_string_equal(host_rights(MMU_FAR_START), "");
    mmu = make();
    void *occupant = mmap((void *)(MMU_FAR_START + (1 << 20)), PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_int_equal(map(mmu, MMU_FAR_START, 4, RW, false, -1, 0), -ENOMEM);
    munmap(occupant, PAGE);
    assert_int_equal(map(mmu, MMU_FAR_START, 4, RW, false, -1, 0), MMU_FAR_START);
    end(mmu);
}

/* What a thread sanitizer does with what it has no use for: from one window through what lies between to the other. */
static void what_is_kept_can_be_reserved(void **state)
{
    (void)state;
    struct mmu *mmu = make();
    const uint64_t start = MMU_WINDOW_END - 2 * PAGE, pages = (MMU_FAR_START - start) / PAGE + 2;
    void *between = mmap((void *)MMU_WINDOW_END, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_equal(between, (void *)MMU_WINDOW_END);
    assert_int_equal(map(mmu, start, pages, RW, false, -1, 0), -ENOMEM);
    assert_int_equal(map(mmu, start, pages, 0, false, -1, 0), start);
    assert_string_equal(host_rights(MMU_WINDOW_END), "r--p"); /* as it was */
    assert_int_equal(mmu_protect(mmu, MMU_WINDOW_END, PAGE, RW), -ENOMEM);
    assert_int_equal(mmu_protect(mmu, start, pages * PAGE, RW), -ENOMEM); /* up to there it is done */
    assert_int_equal(touch(mmu, MMU_WINDOW_END - PAGE, MMU_ACCESS_WRITE), MMU_FAULT_NONE);
    assert_int_equal(touch(mmu, MMU_WINDOW_END, MMU_ACCESS_WRITE), MMU_FAULT_DENIED);
    assert_int_equal(mmu_remap(mmu, MMU_WINDOW_END, PAGE, PAGE, true, true, BASE), -ENOMEM);
    assert_int_equal(mmu_unmap(mmu, start, pages * PAGE), 0);
    assert_null(mmu_area_at(mmu_areas(mmu), (struct guest_va){start}, true));
    assert_string_equal(host_rights(MMU_WINDOW_END), "r--p");
    assert_string_equal(host_rights(MMU_WINDOW_END - PAGE), "---p");
    assert_string_equal(host_rights(MMU_FAR_START), "---p");
    munmap(between, PAGE);
    end(mmu);
}

/* ------------------------------------------------------------------ anonymous memory */

static void data_survives_rights_and_moves(void **state)
{
    (void)state;
    struct mmu *mmu = make();
    assert_int_equal(map(mmu, BASE, 8, RW, false, -1, 0), BASE);
    for (uint64_t i = 0; i < 8; i++)
        *byte(BASE + i * PAGE + i) = (unsigned char)(10 + i);
    assert_int_equal(mmu_protect(mmu, BASE + PAGE, 2 * PAGE, 0), 0);
    assert_int_equal(mmu_protect(mmu, BASE + PAGE, PAGE, MMU_READ), 0);
    assert_int_equal(mmu_protect(mmu, BASE, 8 * PAGE, RW), 0);
    assert_int_equal(mmu_remap(mmu, BASE, 8 * PAGE, 8 * PAGE, true, true, MMU_HEAP_BASE), MMU_HEAP_BASE);
    assert_string_equal(host_rights(BASE), "---p");
    for (uint64_t i = 0; i < 8; i++)
        assert_int_equal(*byte(MMU_HEAP_BASE + i * PAGE + i), 10 + i);
    int64_t grown = mmu_remap(mmu, MMU_HEAP_BASE + 2 * PAGE, 3 * PAGE, 10 * PAGE, true, false, 0);
    assert_int_equal(grown, MMU_MMAP_TOP - 10 * PAGE);
    for (uint64_t i = 0; i < 10; i++)
        assert_int_equal(*byte((uint64_t)grown + i * PAGE + i + 2), i < 3 ? 12 + i : 0);
    assert_int_equal(*byte(MMU_HEAP_BASE + 5 * PAGE + 5), 15);
    assert_string_equal(host_rights(MMU_HEAP_BASE + 2 * PAGE), "rw-p"); /* a small hole is of one piece with the rest */
    assert_int_equal(*byte(MMU_HEAP_BASE + 2 * PAGE + 2), 0);
    assert_int_equal(mmu_discard(mmu, (uint64_t)grown, PAGE), 0);
    assert_int_equal(*byte((uint64_t)grown + 2), 0);
    assert_int_equal(*byte((uint64_t)grown + PAGE + 3), 13);
    assert_int_equal(map(mmu, (uint64_t)grown, 2, RW, false, -1, 0), grown); /* over the old */
    assert_int_equal(*byte((uint64_t)grown + PAGE + 3), 0);
    assert_int_equal(mmu_unmap(mmu, (uint64_t)grown, 10 * PAGE), 0);
    assert_string_equal(host_rights((uint64_t)grown), "---p");
    end(mmu);
}

/* One area of 7 pages for us, three for the host: written to apart, while shared memory parts them. Page i begins with
 * 1 + i. */
static void map_host_pieces(struct mmu *mmu)
{
    assert_int_equal(map(mmu, BASE, 3, RW, false, -1, 0), BASE);
    assert_int_equal(map(mmu, BASE + 3 * PAGE, 1, RW, true, -1, 0), BASE + 3 * PAGE);
    assert_int_equal(map(mmu, BASE + 4 * PAGE, 3, RW, false, -1, 0), BASE + 4 * PAGE);
    for (uint64_t i = 0; i < 7; i++) {
        if (i != 3)
            *byte(BASE + i * PAGE) = (unsigned char)(1 + i);
    }
    assert_int_equal(map(mmu, BASE + 3 * PAGE, 1, RW, false, -1, 0), BASE + 3 * PAGE);
    *byte(BASE + 3 * PAGE) = 4;
    assert_int_equal(mmu_area_at(mmu_areas(mmu), (struct guest_va){BASE}, false)->bytes, 7 * PAGE);
    assert_false(in_one_area(BASE, 7 * PAGE));
}

static void moves_over_the_hosts_own_borders(void **state)
{
    (void)state;
    for (int old_kernel = 0; old_kernel < 2; old_kernel++) {
        struct mmu *mmu = make();
        map_host_pieces(mmu);
        one_area_at_a_time = old_kernel;
        refusals = 0;
        assert_int_equal(mmu_remap(mmu, BASE, 7 * PAGE, 9 * PAGE, true, true, MMU_HEAP_BASE), MMU_HEAP_BASE);
        one_area_at_a_time = false;
        assert_int_equal(refusals > 0, old_kernel);
        for (uint64_t i = 0; i < 9; i++)
            assert_int_equal(*byte(MMU_HEAP_BASE + i * PAGE), i < 7 ? 1 + i : 0);
        for (uint64_t i = 0; i < 7; i++)
            assert_string_equal(host_rights(BASE + i * PAGE), "---p");
        end(mmu);
    }
}

/* A move that fails at any of its steps leaves every page where it was, and the reservation where it went. */
static void a_failed_move_moves_back(void **state)
{
    (void)state;
    struct mmu *mmu = make();
    map_host_pieces(mmu);
    assert_int_equal(touch(mmu, BASE + 5 * PAGE, MMU_ACCESS_WRITE), MMU_FAULT_NONE);
    one_area_at_a_time = true;
    unsigned n = 1;
    for (;; n++) {
        mremap_fails_at = n;
        int64_t answer = mmu_remap(mmu, BASE, 7 * PAGE, 7 * PAGE, true, true, MMU_HEAP_BASE);
        mremap_fails_at = 0;
        if (answer == MMU_HEAP_BASE)
            break;
        assert_int_equal(answer, -ENOMEM);
        for (uint64_t i = 0; i < 7; i++) {
            assert_int_equal(*byte(BASE + i * PAGE), 1 + i);
            assert_string_equal(host_rights(MMU_HEAP_BASE + i * PAGE), "---p");
        }
        assert_true(mmu_ready(mmu, (struct guest_va){BASE + 5 * PAGE}, MMU_ACCESS_READ));
        mmu_check(mmu);
    }
    one_area_at_a_time = false;
    assert_in_range(n, 4, 20);
    end(mmu);
}

static void moves_pieces_of_one_file(void **state)
{
    (void)state;
    struct mmu *mmu = make();
    int fd = make_file(8 * PAGE);
    assert_int_equal(map(mmu, BASE, 4, RW, false, fd, 0), BASE);
    *byte(BASE + 2 * PAGE) = 201; /* a copy of its own */
    assert_int_equal(map(mmu, BASE + 4 * PAGE, 4, RW, false, fd, 4 * PAGE), BASE + 4 * PAGE);
    *byte(BASE + 6 * PAGE) = 202;
    assert_int_equal(mmu_area_at(mmu_areas(mmu), (struct guest_va){BASE}, false)->bytes, 8 * PAGE);
    assert_int_equal(mmu_remap(mmu, BASE, 8 * PAGE, 8 * PAGE, true, true, MMU_HEAP_BASE), MMU_HEAP_BASE);
    for (uint64_t i = 0; i < 8; i++) {
        uint64_t content = i == 2 ? 201 : i == 6 ? 202 : i * PAGE / 100 % 251 + 1;
        assert_int_equal(*byte(MMU_HEAP_BASE + i * PAGE), content);
    }
    close(fd);
    end(mmu);
}

/* ------------------------------------------------------------------ files */

/* 10000 bytes: two pages, one that is zero from byte 1808 on, and nothing behind. */
static void files_end_where_they_end(void **state)
{
    (void)state;
    struct mmu *mmu = make();
    int fd = make_file(10000);
    for (int shared = 0; shared < 2; shared++) {
        assert_int_equal(map(mmu, BASE, 5, RW, shared, fd, 0), BASE);
        struct guest_va at = {0};
        assert_int_equal(mmu_touch_range(mmu, (struct guest_va){BASE}, 5 * PAGE, MMU_ACCESS_READ, &at, NULL),
                         MMU_FAULT_BUS);
        assert_int_equal(at.v, BASE + 3 * PAGE);
        assert_int_equal(*byte(BASE + 9999), 99 + 1);
        for (uint64_t i = 10000; i < 3 * PAGE; i++)
            assert_int_equal(*byte(BASE + i), 0);
        assert_int_equal(touch(mmu, BASE + 4 * PAGE, MMU_ACCESS_WRITE), MMU_FAULT_BUS);
        assert_int_equal(ftruncate(fd, 5 * PAGE), 0); /* the size counts as it is at the touch */
        assert_int_equal(touch(mmu, BASE + 4 * PAGE, MMU_ACCESS_WRITE), MMU_FAULT_NONE);
        assert_int_equal(*byte(BASE + 4 * PAGE), 0);
        assert_int_equal(ftruncate(fd, 10000), 0);
        assert_int_equal(mmu_unmap(mmu, BASE, 5 * PAGE), 0);
    }
    close(fd);
    end(mmu);
}

static void a_file_cut_after_the_touch_reads_zero(void **state)
{
    (void)state;
    struct mmu *mmu = make();
    int fd = make_file(3 * PAGE);
    assert_int_equal(map(mmu, BASE, 3, RW, true, fd, 0), BASE);
    assert_int_equal(touch(mmu, BASE + PAGE, MMU_ACCESS_READ), MMU_FAULT_NONE);
    assert_int_equal(touch(mmu, BASE + 2 * PAGE, MMU_ACCESS_READ), MMU_FAULT_NONE);
    assert_int_not_equal(*byte(BASE + PAGE), 0);
    assert_int_equal(ftruncate(fd, PAGE), 0);
    assert_int_equal(mmu_usage(mmu).lost_pages, 0);
    assert_int_equal(*byte(BASE + PAGE + 7), 0);
    *byte(BASE + 2 * PAGE) = 9;
    assert_int_equal(*byte(BASE + 2 * PAGE), 9);
    assert_int_equal(mmu_usage(mmu).lost_pages, 2);
    assert_int_equal(*byte(BASE), 1);
    close(fd);
    end(mmu);
}

static void writing_reaches_the_file_only_when_shared(void **state)
{
    (void)state;
    struct mmu *mmu = make();
    int fd = make_file(4 * PAGE);
    unsigned char content;
    assert_int_equal(map(mmu, BASE, 4, RW, false, fd, 0), BASE);
    *byte(BASE) = 77;
    assert_int_equal(pread(fd, &content, 1, 0), 1);
    assert_int_equal(content, 1);
    assert_int_equal(mmu_discard(mmu, BASE, PAGE), 0); /* the file's byte again */
    assert_int_equal(*byte(BASE), 1);
    assert_int_equal(map(mmu, BASE, 4, RW, true, fd, 0), BASE);
    *byte(BASE) = 78;
    assert_int_equal(mmu_discard(mmu, BASE, PAGE), 0); /* lives in the file */
    assert_int_equal(*byte(BASE), 78);
    assert_int_equal(pread(fd, &content, 1, 0), 1);
    assert_int_equal(content, 78);
    assert_string_equal(host_rights(BASE), "rw-s");
    close(fd);
    end(mmu);
}

static void host_rights_follow_the_descriptor(void **state)
{
    (void)state;
    struct mmu *mmu = make();
    char path[] = "/tmp/mmu_window_XXXXXX";
    int rw = mkstemp(path), ro = open(path, O_RDONLY | O_CLOEXEC), wo = open(path, O_WRONLY | O_CLOEXEC);
    unlink(path);
    assert_int_equal(ftruncate(rw, 2 * PAGE), 0);
    assert_int_equal(map(mmu, BASE, 2, MMU_READ, true, ro, 0), BASE);
    assert_string_equal(host_rights(BASE), "r--s");
    assert_int_equal(mmu_protect(mmu, BASE, PAGE, RW), -EACCES);
    assert_int_equal(map(mmu, BASE, 2, RW, true, ro, 0), -EACCES);
    assert_string_equal(host_rights(BASE), "r--s"); /* the old mapping stands */
    assert_int_equal(map(mmu, BASE, 2, MMU_READ, true, wo, 0), -EACCES);
    assert_int_equal(map(mmu, BASE, 2, MMU_READ, false, wo, 0), -EACCES);
    assert_int_equal(map(mmu, BASE, 2, MMU_READ, true, rw, 0), BASE);
    assert_string_equal(host_rights(BASE), "rw-s");
    assert_int_equal(mmu_protect(mmu, BASE, PAGE, RW), 0);
    assert_int_equal(map(mmu, BASE, 2, MMU_READ, false, ro, 0), BASE);
    assert_string_equal(host_rights(BASE), "rw-p");
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(map(mmu, BASE, 1, MMU_READ, false, ends[0], 0), -ENODEV);
    assert_string_equal(host_rights(BASE), "rw-p");
    int sealed = memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(ftruncate(sealed, PAGE), 0);
    assert_int_equal(fcntl(sealed, F_ADD_SEALS, F_SEAL_WRITE), 0);
    assert_int_equal(map(mmu, BASE, 1, RW, true, sealed, 0), -EPERM);
    int64_t readable = map(mmu, BASE, 1, MMU_READ, true, sealed, 0); /* newer kernels allow this much */
    assert_true(readable == -EPERM || (readable == BASE && mmu_protect(mmu, BASE, PAGE, RW) == -EACCES));
    int fds[] = {rw, ro, wo, ends[0], ends[1], sealed};
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
        close(fds[i]);
    end(mmu);
}

/* In place, with the reservation in the way, and by a move; what the old end held stays. */
static void file_mappings_grow(void **state)
{
    (void)state;
    struct mmu *mmu = make();
    int fd = make_file(6 * PAGE);
    for (int shared = 0; shared < 2; shared++) {
        assert_int_equal(map(mmu, BASE, 2, RW, shared, fd, PAGE), BASE);
        *byte(BASE + PAGE + 3) = 250;
        assert_int_equal(mmu_remap(mmu, BASE, 2 * PAGE, 4 * PAGE, false, false, 0), BASE);
        assert_int_equal(*byte(BASE + PAGE + 3), 250);
        assert_int_equal(*byte(BASE + 3 * PAGE), 4 * PAGE / 100 % 251 + 1);
        assert_string_equal(host_rights(BASE + 4 * PAGE), "---p");
        assert_int_equal(mmu_remap(mmu, BASE, 4 * PAGE, 6 * PAGE, true, true, MMU_HEAP_BASE), MMU_HEAP_BASE);
        assert_int_equal(*byte(MMU_HEAP_BASE + PAGE + 3), 250);
        assert_int_equal(*byte(MMU_HEAP_BASE + 4 * PAGE), 5 * PAGE / 100 % 251 + 1);
        assert_int_equal(touch(mmu, MMU_HEAP_BASE + 5 * PAGE, MMU_ACCESS_READ), MMU_FAULT_BUS);
        assert_int_equal(mmu_area_at(mmu_areas(mmu), (struct guest_va){MMU_HEAP_BASE}, false)->bytes, 6 * PAGE);
        assert_int_equal(mmu_unmap(mmu, MMU_HEAP_BASE, 6 * PAGE), 0);
    }
    close(fd);
    end(mmu);
}

static void a_failed_growth_leaves_the_mapping(void **state)
{
    (void)state;
    struct mmu *mmu = make();
    int fd = make_file(6 * PAGE);
    assert_int_equal(map(mmu, BASE, 2, RW, false, fd, PAGE), BASE);
    *byte(BASE + PAGE + 3) = 250;
    for (unsigned n = 1; n <= 2; n++) {
        mremap_fails_at = n;
        assert_int_equal(mmu_remap(mmu, BASE, 2 * PAGE, 4 * PAGE, false, false, 0), -ENOMEM);
        assert_int_equal(mremap_fails_at, 0);
        assert_int_equal(*byte(BASE + PAGE + 3), 250);
        assert_int_equal(mmu_area_at(mmu_areas(mmu), (struct guest_va){BASE}, false)->bytes, 2 * PAGE);
        assert_string_equal(host_rights(BASE + 2 * PAGE), "---p");
    }
    mremap_fails_at = 2; /* moved, cannot grow: back again */
    assert_int_equal(mmu_remap(mmu, BASE, 2 * PAGE, 4 * PAGE, true, true, MMU_HEAP_BASE), -ENOMEM);
    assert_int_equal(*byte(BASE + PAGE + 3), 250);
    assert_string_equal(host_rights(MMU_HEAP_BASE), "---p");
    mremap_fails_at = 1; /* a file that cannot come to its place */
    assert_int_equal(map(mmu, BASE, 4, RW, false, fd, 0), -ENOMEM);
    assert_int_equal(*byte(BASE + PAGE + 3), 250);
    close(fd);
    end(mmu);
}

/* Linux: shared anonymous memory is an object of the size it was made with. */
static void shared_memory_grows_into_bus_errors(void **state)
{
    (void)state;
    struct mmu *mmu = make();
    assert_int_equal(map(mmu, BASE, 2, RW, true, -1, 0), BASE);
    *byte(BASE + PAGE) = 5;
    assert_int_equal(mmu_remap(mmu, BASE, 2 * PAGE, 3 * PAGE, false, false, 0), BASE);
    assert_int_equal(*byte(BASE + PAGE), 5);
    assert_int_equal(touch(mmu, BASE + PAGE, MMU_ACCESS_WRITE), MMU_FAULT_NONE);
    assert_int_equal(touch(mmu, BASE + 2 * PAGE, MMU_ACCESS_WRITE), MMU_FAULT_BUS);
    end(mmu);
}

/* ------------------------------------------------------------------ SIGBUS that is not ours */

static volatile sig_atomic_t foreign;
static sigjmp_buf resume;

static void on_foreign(int signal)
{
    (void)signal;
    foreign++;
    siglongjmp(resume, 1);
}

/* Outside the window the handler of before gets it; inside, after the window's end, too. */
static void foreign_bus_errors_go_where_they_went(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = on_foreign}, old, now;
    sigaction(SIGBUS, &action, &old);
    int fd = make_file(PAGE);
    volatile unsigned char *outside = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
    struct mmu *mmu = make();
    if (sigsetjmp(resume, 1) == 0)
        (void)outside[PAGE];
    assert_int_equal(foreign, 1);
    end(mmu);
    sigaction(SIGBUS, &old, &now);
    assert_ptr_equal(now.sa_handler, on_foreign);
    munmap((void *)(uintptr_t)outside, 2 * PAGE);
    close(fd);
}

/* Many tables: the arena grows by steps. */
static void the_arena_grows(void **state)
{
    (void)state;
    struct mmu *mmu = make();
    enum { SPREAD = 1300 };
    for (uint64_t i = 0; i < SPREAD; i++) {
        uint64_t va = MMU_TABLES_END + (i << 30);
        assert_int_equal(map(mmu, va, 1, RW, false, -1, 0), va);
        assert_int_equal(touch(mmu, va, MMU_ACCESS_WRITE), MMU_FAULT_NONE);
    }
    /* root, one of level 2 for each 512 GiB begun (first at 576 GiB), and two a page */
    assert_int_equal(mmu_usage(mmu).table_bytes / PAGE, 1 + 3 + 2 * SPREAD);
    assert_int_equal(mmu_unmap(mmu, 0, MMU_WINDOW_END), 0);
    assert_int_equal(mmu_usage(mmu).table_bytes / PAGE, 1);
    end(mmu);
}

/* ------------------------------------------------------------------ the host's limit of mappings */

static uint64_t host_pieces(void)
{
    uint64_t lines = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    for (int c = getc(maps); c != EOF; c = getc(maps))
        lines += c == '\n';
    fclose(maps);
    return lines;
}

/* Every second page of anonymous memory, and every second of those gone again: one piece of the host's. A page that
 * comes back is zero. */
static void small_holes_are_no_pieces(void **state)
{
    (void)state;
    struct mmu *mmu = make();
    const uint64_t before = host_pieces();
    for (uint64_t i = 0; i < 2000; i++) {
        assert_int_equal(map(mmu, BASE + 2 * i * PAGE, 1, RW, false, -1, 0), BASE + 2 * i * PAGE);
        *byte(BASE + 2 * i * PAGE) = 7;
    }
    for (uint64_t i = 1; i < 2000; i += 2)
        assert_int_equal(mmu_unmap(mmu, BASE + 2 * i * PAGE, PAGE), 0);
    assert_in_range(host_pieces(), before, before + 10);
    for (uint64_t i = 1; i < 2000; i += 2) {
        assert_int_equal(map(mmu, BASE + 2 * i * PAGE, 1, RW, false, -1, 0), BASE + 2 * i * PAGE);
        assert_int_equal(*byte(BASE + 2 * i * PAGE), 0);
        assert_int_equal(*byte(BASE + 2 * (i - 1) * PAGE), 7);
    }
    assert_int_equal(mmu_unmap(mmu, BASE, 4000 * PAGE), 0);
    assert_in_range(host_pieces(), before - 1, before + 1); /* nothing is left of them */
    end(mmu);
}

/* Moved away from among neighbours: the hole is filled, and all the same goes when they go. */
static void holes_of_moves_go_too(void **state)
{
    (void)state;
    struct mmu *mmu = make();
    const uint64_t before = host_pieces(), to = BASE + 4096 * PAGE;
    map(mmu, BASE, 300, RW, false, -1, 0);
    for (uint64_t i = 1; i < 300; i += 3) {
        *byte(BASE + i * PAGE) = (unsigned char)i;
        assert_int_equal(mmu_remap(mmu, BASE + i * PAGE, PAGE, PAGE, true, true, to + 64 * i * PAGE),
                         to + 64 * i * PAGE);
        assert_int_equal(*byte(to + 64 * i * PAGE), (unsigned char)i);
    }
    assert_in_range(host_pieces(), before + 200, before + 210); /* the 100 that moved, and what lies between them */
    assert_int_equal(mmu_unmap(mmu, to, 300 * 64 * PAGE), 0);
    assert_int_equal(mmu_unmap(mmu, BASE, 300 * PAGE), 0);
    assert_in_range(host_pieces(), before - 1, before + 1);
    end(mmu);
}

/* Pages far from each other are two pieces each. At the host's limit the guest is told, c2emu has some left, and what
 * is there can be taken away. */
static void few_pieces_are_left_for_c2emu(void **state)
{
    (void)state;
    const uint64_t stride = 32 * PAGE;
    uint64_t limit = 0, count = 0;
    FILE *file = fopen("/proc/sys/vm/max_map_count", "re");
    if (!file || fscanf(file, "%" SCNu64, &limit) != 1 || limit > 2 * AREAS_LIMIT || limit < 16384)
        skip(); /* the guest's own limit comes first */
    fclose(file);
    struct mmu *mmu = make();
    const uint64_t before = host_pieces();
    while (map(mmu, BASE + count * stride, 1, RW, false, -1, 0) > 0)
        count++;
    for (unsigned i = 0; i < 10 * 64; i++) /* it counts again after every 64, and finds a little room */
        count += map(mmu, BASE + count * stride, 1, RW, false, -1, 0) > 0;
    const uint64_t least = limit - 2048 - 64;
    assert_in_range(2 * count + before, least, limit - 2040);
    assert_in_range(host_pieces(), least, limit - 2040);
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(mmu_unmap(mmu, BASE + i * stride, PAGE), 0);
    for (uint64_t i = 0; i < 500; i++) {
        unsigned refused = 0;
        while (map(mmu, BASE + i * stride, 1, RW, false, -1, 0) == -ENOMEM)
            assert_true(++refused <= 64);
    }
    end(mmu);
}

/* How much room there is above the upper window is chosen at random, a tebibyte at most. */
static void placements_leave_the_far_window_to_the_guest(void **state)
{
    (void)state;
    enum { PLACEMENTS = 40 };
    struct mmu_config config = {.physical_bytes = 64ull << 30, .colors = 1};
    struct mmu_replica *placements[PLACEMENTS];
    struct c2_error err;
    for (unsigned i = 0; i < PLACEMENTS; i++)
        if (mmu_replica_create(&placements[i], &config, &err) != C2_OK)
            fail_msg("%s", err.text);
    struct mmu *mmu = make();
    assert_int_equal(map(mmu, MMU_FAR_START, 1, RW, false, -1, 0), MMU_FAR_START);
    end(mmu);
    for (unsigned i = 0; i < PLACEMENTS; i++)
        mmu_replica_destroy(placements[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(window_comes_and_goes),
        cmocka_unit_test(creation_survives_every_failing_allocation),
        cmocka_unit_test(a_clash_names_the_occupant),
        cmocka_unit_test(a_limit_on_addresses_is_named),
        cmocka_unit_test(reservations_go_around_the_tables),
        cmocka_unit_test(the_far_window_comes_when_wanted),
        cmocka_unit_test(placements_leave_the_far_window_to_the_guest),
        cmocka_unit_test(what_is_kept_can_be_reserved),
        cmocka_unit_test(data_survives_rights_and_moves),
        cmocka_unit_test(moves_over_the_hosts_own_borders),
        cmocka_unit_test(a_failed_move_moves_back),
        cmocka_unit_test(moves_pieces_of_one_file),
        cmocka_unit_test(files_end_where_they_end),
        cmocka_unit_test(a_file_cut_after_the_touch_reads_zero),
        cmocka_unit_test(writing_reaches_the_file_only_when_shared),
        cmocka_unit_test(host_rights_follow_the_descriptor),
        cmocka_unit_test(file_mappings_grow),
        cmocka_unit_test(a_failed_growth_leaves_the_mapping),
        cmocka_unit_test(shared_memory_grows_into_bus_errors),
        cmocka_unit_test(foreign_bus_errors_go_where_they_went),
        cmocka_unit_test(the_arena_grows),
        cmocka_unit_test(small_holes_are_no_pieces),
        cmocka_unit_test(holes_of_moves_go_too),
        cmocka_unit_test(few_pieces_are_left_for_c2emu),
    };
    return cmocka_run_group_tests_name("mmu_window", tests, NULL, NULL);
}
