/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A library with an allocator of its own, and a function that is none; SECOND: they have changed places.
 */
#include <stddef.h>

#define PLACED __attribute__((noinline, aligned(4096)))
static char pool[1 << 16];
static size_t used;

#ifdef SECOND
PLACED void *decoy(size_t bytes) { return pool + used + bytes; }
#endif
PLACED void *malloc(size_t bytes) { return pool + (used += (bytes + 15) & ~(size_t)15); }
#ifndef SECOND
PLACED void *decoy(size_t bytes) { return pool + used + bytes; }
#endif
PLACED void free(void *block) { (void)block; }
