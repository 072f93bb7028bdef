/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the files about a program's libraries share: the list of them, and the dynamic linker's cache.
 */
#ifndef C2_LOADER_LIBRARIES_PRIV_H
#define C2_LOADER_LIBRARIES_PRIV_H

#include "loader/loader.h"

/* ------------------------------------------------------------------ libraries.c */
const char *loader_libraries_host(const struct loader_libraries *libraries, size_t number); /* NULL: not found */

/* ------------------------------------------------------------------ cache.c: /etc/ld.so.cache */
struct loader_cache;
/* The root's; one that is not there, or not understood, is empty. Fails only without memory. */
enum c2_status loader_cache_open(struct loader_cache **out, struct c2_error *err);
/* The same of a file's bytes, which it takes, and a 0 behind them; NULL: none. */
enum c2_status loader_cache_take(struct loader_cache **out, char *bytes, size_t size, struct c2_error *err);
void loader_cache_close(struct loader_cache *cache); /* takes NULL */
/* Whether it is true of the path of every library for x86-64. */
bool loader_cache_each(const struct loader_cache *cache, bool (*is)(const void *self, const char *path),
                       const void *self);
const char *loader_cache_find(const struct loader_cache *cache, const char *name); /* a path; NULL: not in it */

#endif
