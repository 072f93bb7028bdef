/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * touch_bench [PAGES]: what enforced rights cost: first touches, mprotect by the guest, loans. Microseconds of
 * processor time a page, medians of five.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "mmu/mmu.h"

#define PAGE C2_PAGE_BYTES
#define BASE MMU_PIE_BASE
#define ROUNDS 5

static struct mmu *mmu; /* NULL: natively */
static uint64_t pages = 8192;
static int file;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* As an engine does it: bit 1 of the page fault's error code is a write. */
static void on_fault(int signal, siginfo_t *info, void *context)
{
    const ucontext_t *interrupted = context;
    const struct guest_va va = {(uint64_t)(uintptr_t)info->si_addr};
    const bool writes = interrupted->uc_mcontext.gregs[REG_ERR] & 2;
    struct c2_error err;
    (void)signal;
    if (mmu_touch(mmu, va, writes ? MMU_ACCESS_WRITE : MMU_ACCESS_READ, &err) == MMU_FAULT_NONE)
        return;
    fprintf(stderr, "0x%llx: %s\n", (unsigned long long)va.v, err.text);
    _exit(1);
}

static void must(bool good, const char *what)
{
    if (!good) {
        perror(what);
        exit(1);
    }
}

static volatile unsigned char *byte(uint64_t page) { return (volatile unsigned char *)(uintptr_t)(BASE + page * PAGE); }

static void map(bool of_file)
{
    if (!mmu) {
        const int flags = MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE | (of_file ? 0 : MAP_ANONYMOUS);
        must(mmap((void *)byte(0), pages * PAGE, PROT_READ | PROT_WRITE, flags, of_file ? file : -1, 0) != MAP_FAILED,
             "mmap");
        return;
    }
    const struct mmu_request request = {.address = BASE,
                                        .bytes = pages * PAGE,
                                        .prot = MMU_READ | MMU_WRITE,
                                        .fixed = true,
                                        .kind = of_file ? MMU_FILE : MMU_ANONYMOUS,
                                        .host_fd = of_file ? file : -1,
                                        .path = of_file ? "/file" : NULL};
    must(mmu_map(mmu, &request) == BASE, "mmu_map");
}

/* Seconds of one access to each page; a stride that is odd comes to every one of them. */
static double touch_all(uint64_t stride, bool writes)
{
    const double start = now();
    for (uint64_t i = 0; i < pages; i++) {
        volatile unsigned char *at = byte(i * stride % pages);
        if (writes)
            *at = 1;
        else
            (void)*at;
    }
    return now() - start;
}

static double write_ascending(void) { return map(false), touch_all(1, true); }
static double write_scattered(void) { return map(false), touch_all(2053, true); }
static double read_then_write(void)
{
    map(false);
    const double reading = touch_all(1, false);
    return reading + touch_all(1, true);
}
static double read_file(void) { return map(true), touch_all(1, false); }

static void protect(uint64_t page, uint64_t count, int prot)
{
    void *at = (void *)byte(page);
    must(mmu ? mmu_protect(mmu, BASE + page * PAGE, count * PAGE, (unsigned)prot) == 0
             : mprotect(at, count * PAGE, prot) == 0,
         "mprotect");
}

/* A page to read only and back, for each of them. */
static double protect_each(void)
{
    map(false);
    touch_all(1, true);
    const double start = now();
    for (uint64_t i = 0; i < pages; i++) {
        protect(i, 1, PROT_READ);
        protect(i, 1, PROT_READ | PROT_WRITE);
    }
    return now() - start;
}

/* A buffer of 16 pages for the kernel, which fills nothing of it. */
static double lend_each(void)
{
    map(false);
    const double start = now();
    for (uint64_t i = 0; mmu && i + 16 < pages; i++) {
        must(mmu_lend(mmu, (struct guest_va){BASE + i * PAGE}, 16 * PAGE) == 0, "mmu_lend");
        mmu_lend_end(mmu);
    }
    return now() - start;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double measure(void))
{
    double seconds[ROUNDS];
    for (int i = 0; i < ROUNDS; i++)
        seconds[i] = measure();
    qsort(seconds, ROUNDS, sizeof seconds[0], by_size);
    return seconds[ROUNDS / 2] / (double)pages * 1e6;
}

static void row(const char *name, int how)
{
    struct c2_error err;
    const struct mmu_guest_config config = {.guest_bytes = 1ull << 32, .notifies_writes = true};
    if (how >= 0 && mmu_create(&mmu, &config, &err) != C2_OK)
        must(false, err.text);
    if (how >= 0 && mmu_enforce(mmu, (enum mmu_enforcement)how, &err) != C2_OK) {
        printf("| %s | %s |\n", name, err.text);
    } else {
        const struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
        struct sigaction old;
        if (how > 0) {
            sigaction(SIGSEGV, &action, NULL);
            sigaction(SIGBUS, &action, &old);
        }
        printf("| %s | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |\n", name, median(write_ascending),
               median(write_scattered), median(read_then_write), median(read_file), median(protect_each),
               median(lend_each));
        if (how > 0)
            sigaction(SIGBUS, &old, NULL);
    }
    munmap((void *)byte(0), mmu ? 0 : pages * PAGE);
    mmu_destroy(mmu);
    mmu = NULL;
}

int main(int count, char **words)
{
    if (count > 1)
        pages = strtoull(words[1], NULL, 10) | 1;
    pages |= 1;
    file = memfd_create("file", MFD_CLOEXEC);
    must(file >= 0 && ftruncate(file, (off_t)(pages * PAGE)) == 0, "file");
    printf("| | write, ascending | write, scattered | read, then write | read of a file | mprotect there and back | "
           "lend 16 pages |\n|---|---|---|---|---|---|---|\n");
    row("natively", -1);
    row("by userfaults", MMU_ENFORCED_BY_USERFAULTS);
    row("by protection", MMU_ENFORCED_BY_PROTECTION);
    return 0;
}
