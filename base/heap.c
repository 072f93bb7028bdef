/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * heap: malloc's memory in large pages.
 *
 * Model
 *   The heap is made HEAP_BYTES larger at once, and the host is asked for large pages for that. What is allocated comes
 *   to lie there, of other threads too; as long as there is room so do tables of more than M_MMAP_THRESHOLD, which
 *   calloc then clears. What is beyond HEAP_BYTES is small pages as before.
 * Cost
 *   A small page costs a fault, of 1.6 us and more; a large one, of 512 times the bytes, 180 us. A short run that is
 *   simulated touched 3,680 pages for the first time, and touches 1,250; one that writes a report 6,800, and 1,340.
 * Not modelled
 *   Hosts that have no large pages, or no memory in such pieces, and limits on memory: there nothing is different.
 */
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/base.h"

#define LARGE_PAGE ((uintptr_t)2 << 20)
#define HEAP_BYTES (32 << 20)
#define FIRST_BYTES (192 << 10) /* more than a heap has left at the start, and none of the tables above */

static bool is_limited(int what)
{
    struct rlimit limit;
    return getrlimit(what, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

void c2_heap_large_pages(void)
{
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
    if (is_limited(RLIMIT_DATA) || is_limited(RLIMIT_AS))
        return;
    mallopt(M_TOP_PAD, HEAP_BYTES);
    mallopt(M_ARENA_MAX, 1);
    void *volatile first = malloc(FIRST_BYTES); /* the heap grows */
    const uintptr_t end = (uintptr_t)sbrk(0);
    free(first);
    const uintptr_t from = c2_align_up((uintptr_t)first, LARGE_PAGE), to = c2_align_down(end, LARGE_PAGE);
    if (first && from < to && to - from < 2 * (uintptr_t)HEAP_BYTES)
        madvise((void *)from, to - from, MADV_HUGEPAGE); /* if there are none they are small ones */
#endif
}
