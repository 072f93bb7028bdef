/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * An allocator of the program's own, in the place of the C library's: a pool that is never given back, with a list of
 * freed blocks. realloc, calloc and the aligned functions call malloc and free. OWN_IFUNC: malloc is chosen by a
 * resolver. own_before_malloc, if set, is called in the middle of the next malloc.
 */
#ifndef GUEST_OWN_MALLOC_H
#define GUEST_OWN_MALLOC_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define OWN_POOL (64u << 20)
static char own_pool[OWN_POOL] __attribute__((aligned(4096)));
static size_t own_used;
static void *own_freed; /* linked through their first word */
static void (*own_before_malloc)(void);

static size_t *own_size(void *block) { return (size_t *)block - 1; }

static void *own_take(size_t align, size_t bytes)
{
    size_t at = (own_used + sizeof(size_t) + align - 1) & ~(align - 1);
    if (bytes > OWN_POOL || at + bytes > OWN_POOL)
        return NULL;
    own_used = at + bytes + sizeof(void *);
    *own_size(own_pool + at) = bytes;
    return own_pool + at;
}

static __attribute__((noinline)) void *own_malloc(size_t bytes)
{
    void (*before)(void) = own_before_malloc;
    own_before_malloc = NULL;
    if (before)
        before();
    if (own_freed && *own_size(own_freed) >= bytes) {
        void *block = own_freed;
        own_freed = *(void **)block;
        return block;
    }
    return own_take(16, bytes);
}

#ifdef OWN_IFUNC
static void *(*choose_malloc(void))(size_t) { return own_malloc; }
void *malloc(size_t bytes) __attribute__((ifunc("choose_malloc")));
#else
void *malloc(size_t bytes) { return own_malloc(bytes); }
#endif

void free(void *block)
{
    if (!block || *own_size(block) < sizeof(void *))
        return;
    *(void **)block = own_freed;
    own_freed = block;
}

void *calloc(size_t count, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all))
        return NULL;
    void *block = malloc(all);
    return block ? memset(block, 0, all) : NULL;
}

void *realloc(void *old, size_t bytes)
{
    void *block = malloc(bytes);
    if (block && old) {
        memcpy(block, old, *own_size(old) < bytes ? *own_size(old) : bytes);
        free(old);
    }
    return block;
}

void *reallocarray(void *old, size_t count, size_t bytes)
{
    size_t all;
    return __builtin_mul_overflow(count, bytes, &all) ? NULL : realloc(old, all);
}

int posix_memalign(void **out, size_t align, size_t bytes)
{
    if (align % sizeof(void *) || (align & (align - 1)))
        return EINVAL;
    void *block = own_take(align, bytes);
    if (!block)
        return ENOMEM;
    *out = block;
    return 0;
}

void *memalign(size_t align, size_t bytes)
{
    void *block;
    return posix_memalign(&block, align, bytes) == 0 ? block : NULL;
}

void *aligned_alloc(size_t align, size_t bytes) { return memalign(align, bytes); }
void *valloc(size_t bytes) { return memalign(4096, bytes); }
void *pvalloc(size_t bytes) { return memalign(4096, bytes); }

#endif
