/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * pool: memory that is freed together: blocks of which pieces are cut off in order.
 */
#include <stddef.h>
#include <sys/mman.h>

#include "base/base.h"

#define BLOCK_BYTES C2_HOST_SIZE((size_t)16384, (size_t)64)
#define MOST_BYTES C2_HOST_SIZE((size_t)512 << 10, (size_t)64) /* but for a piece that is larger */
#define AT_ONCE_BYTES ((size_t)16384)

struct c2_pool_block {
    struct c2_pool_block *before;
    size_t used, bytes;
    _Alignas(max_align_t) char room[];
};

/* What a block has room for: an eighth more than the one before it. */
static size_t room_behind(const struct c2_pool_block *last)
{
    const size_t grown = last ? last->bytes + last->bytes / 8 : 0;
    return grown < BLOCK_BYTES  ? BLOCK_BYTES
           : grown < MOST_BYTES ? c2_align_up(grown, _Alignof(max_align_t))
                                : MOST_BYTES;
}

/* The host gives the pages of a large block at once, at a fourth of what each costs where it is touched. */
static void prepare_pages(char *start, size_t bytes)
{
    const uint64_t from = c2_align_up((uintptr_t)start, C2_PAGE_BYTES);
    const uint64_t to = c2_align_down((uintptr_t)start + bytes, C2_PAGE_BYTES);
    if (to > from && to - from >= AT_ONCE_BYTES)
        madvise((void *)(uintptr_t)from, to - from, MADV_POPULATE_WRITE);
}

static struct c2_pool_block *pool_add_block(struct c2_pool *pool, size_t bytes)
{
    const size_t usual = room_behind(pool->last), room = bytes > usual ? bytes : usual;
    struct c2_pool_block *block = c2_calloc(1, sizeof *block + room);
    if (!block)
        return NULL;
    if (SHORTCUT(room == usual))
        prepare_pages((char *)block, sizeof *block + room);
    block->before = pool->last;
    block->bytes = room;
    return pool->last = block;
}

void *c2_pool_get(struct c2_pool *pool, size_t bytes)
{
    struct c2_pool_block *block = pool->last;
    bytes = c2_align_up(bytes, _Alignof(max_align_t));
    if (!block || block->bytes - block->used < bytes)
        block = pool_add_block(pool, bytes);
    if (!block)
        return NULL;
    block->used += bytes;
    return &block->room[block->used - bytes];
}

char *c2_pool_format_list(struct c2_pool *pool, const char *format, va_list values)
{
    va_list again;
    va_copy(again, values);
    const size_t bytes = (size_t)vsnprintf(NULL, 0, format, values) + 1;
    char *text = c2_pool_get(pool, bytes);
    if (text)
        vsnprintf(text, bytes, format, again);
    va_end(again);
    return text;
}

char *c2_pool_format(struct c2_pool *pool, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    char *text = c2_pool_format_list(pool, format, values);
    va_end(values);
    return text;
}

void c2_pool_release(struct c2_pool *pool)
{
    while (pool->last) {
        struct c2_pool_block *block = pool->last;
        pool->last = block->before;
        c2_free(block);
    }
}
