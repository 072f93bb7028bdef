/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: small things on pages of their own cost a translation each.
 * Truth: 400 contexts, a page each, of which one line is in use, at another place in each page: 25 KiB of lines, which
 * stay in L1D, but 400 pages for a DTLB of 64: nearly each visit looks for its page in vain. Huge pages need one entry.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE 4096
#define HUGE_PAGE (2u << 20)
struct context {
    uint64_t visits, sum;
};

static struct context *context(char *contexts, uint32_t i) { return (void *)(contexts + (size_t)i * (PAGE + 64)); }

__attribute__((noinline)) static uint64_t serve(char *contexts, uint32_t count, uint32_t requests)
{
    uint64_t last = 1;
    for (uint32_t i = 0; i < requests; i++) {
        /* the next one follows from what the last one has */
        struct context *const next = context(contexts, (uint32_t)((last * 2654435761u & 0xffffffff) * count >> 32));
        next->visits++; /* here */
        next->sum += last;
        last = next->sum + i;
    }
    return last;
}

int main(int argc, char **argv)
{
    const uint32_t count = argc > 1 ? (uint32_t)atoi(argv[1]) : 400;
    const uint32_t requests = argc > 2 ? (uint32_t)atoi(argv[2]) : 1000000;
    const size_t bytes = ((size_t)count * (PAGE + 64) / HUGE_PAGE + 1) * HUGE_PAGE;
    char *contexts = aligned_alloc(HUGE_PAGE, bytes);
    if (!contexts)
        return 1;
#ifdef CURED
    madvise(contexts, bytes, MADV_HUGEPAGE);
#endif
    for (uint32_t i = 0; i < count; i++)
        *context(contexts, i) = (struct context){0, i};
    printf("%llu\n", (unsigned long long)serve(contexts, count, requests));
    return 0;
}
