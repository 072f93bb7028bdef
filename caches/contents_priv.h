/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The first stage of an access: what the levels hold. The second is classify.c.
 */
#ifndef C2_CONTENTS_PRIV_H
#define C2_CONTENTS_PRIV_H

#include "caches/hierarchy_priv.h"
#include "caches/slices_priv.h"

/* Whether the machine is a usual one: of one core, every level takes what it misses, and knows a line in one set, and
 * none prefetches. */
bool cache_contents_suit(const struct caches *caches);
/* There is a new group of lines; false: no memory. */
bool cache_contents_reach(struct caches *caches);
enum c2_status cache_contents_init(struct caches *caches, struct c2_error *err);
void cache_contents_end(struct caches *caches);
/* Of any machine, when its ports are known. */
void cache_contents_link(struct caches *caches);

/* ------------------------------------------------------------------ forms */
#define CACHE_EIGHT 8u
struct cache_form {
    cache_access_function *any;
    cache_miss_function *any_missed;
    cache_miss_function *further; /* the first level and the second have missed */
    enum caches_tried (*wrote)(struct caches_l1_handle *l1_handle,
                               uint32_t victim); /* of a first level, which is dirty */
    /* Where all first levels have eight ways, in order of age, and the second, which is not exclusive, has its lines
     * so, too; the low bits of a line find the sets of these. NULL: there are none. */
    cache_access_function *eight;
    cache_miss_function *eight_missed;
    /* Of a machine whose first levels are another one's (follow.c): what these have missed and filled, on its event
     * log. Returns the first word that is none of it, or where this machine can do no more. */
    const uint64_t *(*below)(struct caches *caches, const uint64_t *word, const uint64_t *end,
                             struct caches_log_writes writes);
};
extern const struct cache_form cache_form_scalar, cache_form_sse2, cache_form_avx2, cache_form_avx512;

/* Whether the host has the instructions; the best of those it has; this one is used from now on. */
bool cache_contents_has(unsigned form);
unsigned cache_contents_best(void);
void cache_contents_use(struct caches *caches, unsigned form);
const struct cache_form *cache_contents_form(const struct caches *caches);

/* Of other machines: nothing is tried. access.c */
cache_access_function cache_untried;

/* A miss of the second level so few words of the event log behind the one before is reason to look ahead for that many
 * accesses (caches_far()): to look costs a quarter of what it saves, if it saves. */
#define CACHE_FAR 16u
#define CACHE_FAR_WORDS 24u

void cache_contents_check(const struct caches *caches);

/* The set of a line, through all slices, from 0; by its physical number, as without synonyms either finds it. */
static inline uint32_t cache_contents_set_of(const struct cache_level *level, uint64_t line)
{
    const uint32_t last = level->set_count - 1;
    if (C2_LIKELY(level->plain))
        return (uint32_t)line & last;
    if (C2_LIKELY(level->hashed))
        return hash_slice(level->hash, line) * level->set_count + ((uint32_t)(line >> level->divisor_shift) & last);
    const struct cache_place place = cache_level_place(level, (struct cache_line){{line}, {line}});
    return place.slice * level->set_count + place.number;
}

/* ------------------------------------------------------------------ machines that need not be usual
 * contents_general.c */

/* The set that a line has under this name; and that it was put into last. */
static inline uint32_t cache_contents_set_named(const struct cache_level *level, struct cache_line line)
{
    if (C2_LIKELY(!level->synonyms))
        return cache_contents_set_of(level, line.physical_line.v);
    return cache_level_set(level, cache_level_place(level, line)) - 1;
}
static inline uint32_t cache_contents_set_with(const struct cache_level *level, uint32_t slot, uint64_t line)
{
    if (C2_LIKELY(!level->synonyms))
        return cache_contents_set_of(level, line);
    return cache_contents_set_named(level, (struct cache_line){{level->names[slot]}, {line}});
}

/* An access: CACHES_TRIED, a hit, of which nothing is on the event log so far, or CACHES_MISSED. *has: the level that
 * has the line then, the nearest one; NULL: none, and the store is memory's. */
enum caches_tried cache_contents_access(struct caches *caches, const struct cache_request *request,
                                        struct cache_level **has);
/* The same of what a prefetcher of the level asked first fetches, which does not have it: nothing is counted. Says
 * which level had the line; level_count: none. */
uint32_t cache_contents_fetch(struct caches *caches, const struct cache_request *request);
/* The word of a line in a level; NULL: it is not there. */
uint32_t *cache_contents_find(const struct cache_level *level, uint32_t slot);
/* Is it there under this name? */
bool cache_contents_holds(const struct cache_level *level, const struct cache_request *request);
/* Takes the line out of the level if it is there, and says whether it was; *dirty becomes true if it was dirty. The
 * classes are still to be notified of it. */
bool cache_contents_lose(struct cache_level *level, uint32_t slot, bool *dirty);
/* Dirty data that goes to `level`, NULL: to memory, stops at the first one from there that has the line and may have it
 * dirty, or in memory. */
void cache_contents_write_down(const struct caches *caches, const struct cache_level *level, uint32_t slot);

#endif
