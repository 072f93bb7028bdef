/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Allocation, with a door for the fault tests.
 *
 * Model
 *   Every request counts as one allocation: c2_alloc, c2_calloc, c2_realloc (growing, shrinking or new), c2_strdup
 *   and c2_format. A test makes the n-th request and all later ones fail, and raises n until the task succeeds.
 * Counting
 *   The counter is atomic: the consumer's thread allocates as well. It is off the hot path, one add a request.
 * Invariants
 *   NULL means failure and nothing else: a request of 0 bytes gives an address. A failed c2_realloc leaves the
 *   old block as it was.
 */
#include "base/base.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_uint_fast64_t requests;  /* since the last c2_alloc_fail_from */
static atomic_uint_fast64_t fail_from; /* 0: never */

/* Counts one request and returns whether it is to be granted. */
static bool granted(void)
{
    uint64_t number = atomic_fetch_add_explicit(&requests, 1, memory_order_relaxed) + 1;
    uint64_t first_failing = atomic_load_explicit(&fail_from, memory_order_relaxed);
    return first_failing == 0 || number < first_failing;
}

static size_t at_least_one(size_t bytes) { return bytes ? bytes : 1; }

void *c2_alloc(size_t bytes) { return granted() ? malloc(at_least_one(bytes)) : NULL; }

void *c2_calloc(size_t count, size_t bytes)
{
    size_t total;
    /* Checked here: the sanitizers' calloc ends the process instead of refusing. */
    bool fits = !__builtin_mul_overflow(count, bytes, &total);
    return granted() && fits ? calloc(1, at_least_one(total)) : NULL;
}

void *c2_realloc(void *old, size_t bytes) { return granted() ? realloc(old, at_least_one(bytes)) : NULL; }

char *c2_strdup(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = c2_alloc(bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

char *c2_format(const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = length < 0 ? NULL : c2_alloc((size_t)length + 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}

void c2_free(void *memory) { free(memory); }

void c2_alloc_fail_from(uint64_t n)
{
    atomic_store(&requests, 0);
    atomic_store(&fail_from, n);
}

uint64_t c2_alloc_count(void) { return atomic_load(&requests); }

bool c2_grow(void **array, uint32_t *room, uint32_t count, size_t bytes)
{
    if (count < *room)
        return true;
    const uint32_t wanted = *room + *room / 2 + C2_HOST_SIZE(16u, 1u);
    void *grown = c2_realloc(*array, (size_t)wanted * bytes);
    if (!grown)
        return false;
    *array = grown;
    *room = wanted;
    return true;
}

bool c2_reach(void **table, uint32_t *room, uint32_t index, size_t bytes, uint32_t least)
{
    uint64_t wanted = *room * 2ull + least;
    wanted = wanted > index ? wanted : index + 1ull;
    void *reached = c2_realloc(*table, wanted * bytes);
    if (!reached)
        return false;
    *table = reached;
    *room = (uint32_t)wanted;
    return true;
}
