/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * allocate [COUNT]: every function of the allocator in C, what C says of its corner cases, and COUNT random calls.
 */
#ifdef OWN
#include "own_malloc.h"
#endif
#include "log.h"

#include <errno.h>
#include <malloc.h>

static volatile size_t huge = (size_t)-1 / 2 + 1;

static void plain(void)
{
    void *a = NEW(A_MALLOC, malloc(100), 100), *b = NEW(A_MALLOC, malloc(0), 0);
    void *c = NEW(A_CALLOC, calloc(7, 13), 91);
    FREE(a);
    void *d = NEW(A_MALLOC, malloc(100), 100); /* most likely where the first was */
    void *e = NEW(A_MALLOC, malloc(1 << 20), 1 << 20);
    FREE(NULL);
    FREE(e);
    FREE(c);
    FREE(d);
    FREE(b);
}

static void resized(void)
{
    void *a = RESIZE(realloc(NULL, 10), NULL, 10);
    void *b = NEW(A_MALLOC, malloc(8), 8);
    a = RESIZE(realloc(a, 20), a, 20);
    a = RESIZE(realloc(a, 5000), a, 5000);
    a = RESIZE(reallocarray(a, 3, 7), a, 21);
    void *none = realloc(a, huge);
    void *neither = reallocarray(a, huge, 2); /* the product is 2^64 */
    if (none || neither)
        abort();
    void *c = RESIZE(realloc(a, 0), a, 0);
    if (c)
        FREE(c);
    FREE(b);
}

static void aligned(void)
{
    void *a = NULL, *b = NEW(A_ALIGNED, aligned_alloc(64, 128), 128), *c = NEW(A_ALIGNED, memalign(256, 10), 10);
    int done = posix_memalign(&a, 4096, 50); log_new(A_ALIGNED, a, 50, __func__, __LINE__);
    void *untouched = &a;
    if (done != 0 || posix_memalign(&untouched, 3, 50) != EINVAL || posix_memalign(&untouched, 64, huge) == 0)
        abort();
    void *d = NEW(A_ALIGNED, valloc(33), 33);
#ifdef __GLIBC__
    void *e = NEW(A_ALIGNED, pvalloc(5000), 5000);
    FREE(e);
#endif
    FREE(a);
    FREE(b);
    FREE(c);
    FREE(d);
}

static void failing(void)
{
    if (malloc(huge) || calloc(huge, 2) || calloc(huge, 1) || realloc(NULL, huge) || aligned_alloc(64, huge))
        abort();
}

__attribute__((noinline, optimize("O2"))) static void *tail(size_t bytes) { return malloc(bytes); }

static void indirect(void)
{
    void *(*volatile call)(size_t) = malloc;
    void (*volatile release)(void *) = free;
    void *a = NEW(A_MALLOC, call(77), 77), *b = NEW(A_MALLOC, tail(78), 78);
    char *c = strdup("in the library");
    log_new(A_MALLOC, c, 15, NULL, 0);
    FREE(c);
    FREE(b);
    log_free((uint64_t)(uintptr_t)a);
    release(a);
}

/* ------------------------------------------------------------------ random */

static uint64_t seed = 1;
static size_t below(size_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(seed >> 33) % limit;
}

enum { BLOCKS = 512 };
static void *blocks[BLOCKS];

static void random_new(void **slot)
{
    size_t bytes = below(10) ? below(300) : below(200000);
    switch (below(5)) {
    case 0: *slot = NEW(A_CALLOC, calloc(bytes, 2), 2 * bytes); break;
    case 1: *slot = NEW(A_ALIGNED, aligned_alloc(64, bytes), bytes); break;
    case 2: *slot = RESIZE(realloc(NULL, bytes), NULL, bytes); break;
    default: *slot = NEW(A_MALLOC, malloc(bytes), bytes); break;
    }
}

static void random_calls(long count)
{
    while (count-- > 0) {
        void **slot = &blocks[below(BLOCKS)];
        size_t bytes = 1 + below(1000);
        if (!*slot) {
            random_new(slot);
        } else if (below(2)) {
            FREE(*slot);
            *slot = NULL;
        } else {
            *slot = RESIZE(realloc(*slot, bytes), *slot, bytes);
        }
    }
}

int main(int argc, char **argv)
{
    log_begin();
    plain();
    resized();
    aligned();
    failing();
    indirect();
    random_calls(argc > 1 ? atol(argv[1]) : 0);
    log_end();
    return 0;
}
