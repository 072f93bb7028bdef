/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Translations lie in memory that is mapped twice: no address is ever writable and executable. It is shared between
 *   the two, and so would be with a process that forks: where one is about to, a copy is made, which is the child's, at
 *   the same two addresses. So all that was translated, and all that has its addresses, stays good on both sides, and
 *   neither sees what the other one adds.
 *   The host gives its pages many at once, before they are written; where it cannot, each when it is touched.
 *   The memory is anonymous, as a file without a name would be held to the guest's limit on the size of files.
 * Not modelled
 *   More than one cache in a process: the newest one is copied.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "native/native_priv.h"

static struct native_cache *copied; /* at a fork */
static struct native_cache copy;    /* the child's */

/* Of shared memory mremap() makes a second mapping, if it is to move none of the first. */
static bool map_twice(struct native_cache *cache)
{
    const int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE;
    void *written = mmap(NULL, NATIVE_CACHE_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);
    *cache = (struct native_cache){.written = written == MAP_FAILED ? NULL : written};
    if (!cache->written)
        return false;
    void *executed = mremap(written, 0, NATIVE_CACHE_BYTES, MREMAP_MAYMOVE);
    cache->executed = executed == MAP_FAILED ? NULL : executed;
    return cache->executed && mprotect(executed, NATIVE_CACHE_BYTES, PROT_READ | PROT_EXEC) == 0;
}

static void cache_unmap(struct native_cache *cache)
{
    if (cache->written)
        munmap(cache->written, NATIVE_CACHE_BYTES);
    if (cache->executed)
        munmap(cache->executed, NATIVE_CACHE_BYTES);
    *cache = (struct native_cache){.used = 0};
}

bool native_cache_is_possible(void)
{
    struct native_cache tried;
    const bool possible = map_twice(&tried);
    cache_unmap(&tried);
    return possible;
}

/* A host that cannot gives each where it is touched. */
static void prepare(const struct native_cache *cache, size_t used, size_t *there)
{
    enum { AT_ONCE = 64 << 10 };
    C2_PROMISE(*there <= NATIVE_CACHE_BYTES);
    if (SHORTCUT(used + C2_PAGE_BYTES <= *there) || *there == NATIVE_CACHE_BYTES)
        return;
    const size_t from = c2_align_down(used > *there ? used : *there, C2_PAGE_BYTES);
    const size_t left = NATIVE_CACHE_BYTES - from, bytes = left < AT_ONCE ? left : AT_ONCE;
    madvise(cache->written + from, bytes, MADV_POPULATE_WRITE);
    madvise(cache->executed + from, bytes, MADV_POPULATE_READ);
    *there = from + bytes;
}

void native_cache_prepare(struct native_cache *cache)
{
    prepare(cache, cache->used, &cache->there);
    prepare(cache, cache->used_cold, &cache->there_cold);
}

static void copy_contents(void)
{
    C2_PROMISE(copied->used <= NATIVE_COLD_AT && copied->used_cold >= NATIVE_COLD_AT);
    C2_PROMISE(copied->written + copied->used_cold <= native_cache_end(copied->written));
    const size_t cold = copied->used_cold - NATIVE_COLD_AT;
    memcpy(copy.written, copied->written, copied->used);
    memcpy(copy.written + NATIVE_COLD_AT, copied->written + NATIVE_COLD_AT, cold);
    memcpy(native_cache_end(copy.written), native_cache_end(copied->written), NATIVE_MASKED_BYTES);
}

static void cache_before_fork(void)
{
    C2_PROMISE(!copy.written && !copy.executed);
    if (!copied)
        return;
    if (map_twice(&copy))
        copy_contents();
    else
        cache_unmap(&copy);
}

static void in_parent(void) { cache_unmap(&copy); }

static bool cache_move(uint8_t *from, uint8_t *to)
{
    C2_PROMISE(from && to && from != to);
    return mremap(from, NATIVE_CACHE_BYTES, NATIVE_CACHE_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, to) != MAP_FAILED;
}

/* A child without its copy must not execute, nor change, what its parent has: it faults where it tries to. */
static void in_child(void)
{
    const int none = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    if (!copied)
        return;
    const bool good = copy.written && cache_move(copy.written, copied->written) &&
                      cache_move(copy.executed, copied->executed);
    copy = (struct native_cache){.used = 0};
    if (good)
        return;
    mmap(copied->written, NATIVE_CACHE_BYTES, PROT_NONE, none, -1, 0);
    mmap(copied->executed, NATIVE_CACHE_BYTES, PROT_NONE, none, -1, 0);
}

static int watch_forks(void)
{
    static bool watched;
    const int error = watched ? 0 : pthread_atfork(cache_before_fork, in_parent, in_child);
    watched = watched || error == 0;
    return error;
}

enum c2_status native_cache_create(struct native_cache *cache, struct c2_error *err)
{
    _Static_assert(NATIVE_PART_BYTES < NATIVE_COLD_AT && NATIVE_COLD_AT < NATIVE_CACHE_BYTES - NATIVE_MASKED_BYTES,
                   "the cache's parts");
    const int error = map_twice(cache) ? watch_forks() : errno;
    cache->used = NATIVE_PART_BYTES;
    if (error) {
        native_cache_release(cache);
        return c2_fail(err, C2_ERR_UNSUPPORTED,
                       "the host refuses the native engine memory for translations, executable at one address and "
                       "writable at another (%s): use --engine unicorn",
                       strerror(error));
    }
    copied = cache;
    return C2_OK;
}

void native_cache_release(struct native_cache *cache)
{
    C2_PROMISE(cache);
    if (copied == cache)
        copied = NULL;
    cache_unmap(cache);
}
