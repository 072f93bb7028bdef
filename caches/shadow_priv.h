/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The fully associative LRU shadow of one level. The model card is in shadow.c.
 */
#ifndef C2_SHADOW_PRIV_H
#define C2_SHADOW_PRIV_H

#include "caches/caches.h"
#include "caches/lines_priv.h"

#define SHADOW_ASKED 1u                         /* a stamp: asked for long ago, or only by stores that do not fill */
#define SHADOW_TAKEN 2u                         /* a stamp: asked for once, and taken by another core since */
#define SHADOW_MAX_CAPACITY (UINT32_C(1) << 26) /* lines: 4 GiB of 64-byte lines */

/* What is known of the lines of a group by a level that few are asked of. */
struct cache_beside {
    uint32_t stamp[LINES_GROUP], evictor[LINES_GROUP];
};

/* Where shadows find the stamps of lines. */
struct cache_stamps {
    uint32_t *word; /* [slot * width + place of the level] */
    uint32_t width;
    uint32_t groups;              /* of lines */
    struct cache_beside **beside; /* [group]; NULL: there is none, of all, or of the group */
};
#define LINES_BESIDE UINT32_MAX /* the place of a level that is there */

/* NULL: the level was never asked for a line of the group. */
static inline uint32_t *cache_stamp(const struct cache_stamps *stamps, uint32_t slot, uint32_t place)
{
    if (C2_LIKELY(place != LINES_BESIDE))
        return &stamps->word[(size_t)slot * stamps->width + place];
    struct cache_beside *beside = stamps->beside[slot >> LINES_GROUP_SHIFT];
    return beside ? &beside->stamp[slot & (LINES_GROUP - 1)] : NULL;
}

struct cache_shadow {
    uint32_t clock;   /* the next stamp */
    uint32_t stop;    /* the log is not to be cleaned before the clock gets here */
    uint32_t horizon; /* a line is in the shadow when its stamp is not below */
    uint32_t at;      /* of the level's stamps in the rows, or LINES_BESIDE */
    const struct cache_stamps *stamps;
    uint32_t *log;  /* [stamp & mask]: the slot of a line in the shadow, not behind its own stamp */
    uint64_t *used; /* one bit an entry of the log */
    uint32_t mask;  /* entries of the log - 1 */
    uint32_t live;  /* lines in the shadow = entries used */
    uint32_t capacity;
    bool gaps; /* lines were taken: the log may have entries of no line, or two of one */
};

enum c2_status cache_shadow_init(struct cache_shadow *shadow, const struct cache_stamps *stamps, uint32_t at,
                                 uint32_t capacity, struct c2_error *err);
void cache_shadow_end(struct cache_shadow *shadow);
/* The clock has got to `stop`: cleans the log if it must be. Behind it the clock is below. */
void cache_shadow_clean(struct cache_shadow *shadow);
/* The line of slot has just got the stamp clock - 1 and was not in the shadow. */
void cache_shadow_enter(struct cache_shadow *shadow, uint32_t slot);
void cache_shadow_check(const struct cache_shadow *shadow);
/* What the model card promises after an access of the line with this stamp (C2_PROMISE): it asserts, and is true. */
bool cache_shadow_holds(const struct cache_shadow *shadow, uint32_t stamp);

/* Of a line that the shadow does not have. */
static inline enum caches_class cache_shadow_class(uint32_t stamp)
{
    return stamp == 0 ? CACHES_COLD : stamp == SHADOW_TAKEN ? CACHES_COHERENCE : CACHES_CAPACITY;
}

/* The level is asked for a line, whose stamp in the level this is. What it would be if it is a miss: CACHES_CONFLICT
 * if the shadow has the line, CACHES_COLD if the level was never asked for it, CACHES_COHERENCE if another core has
 * taken it since, CACHES_CAPACITY otherwise. */
static inline enum caches_class cache_shadow_touch(struct cache_shadow *shadow, uint32_t *stamp, uint32_t slot)
{
    if (C2_UNLIKELY(shadow->clock >= shadow->stop))
        cache_shadow_clean(shadow);
    uint32_t old = *stamp;
    *stamp = shadow->clock++;
    C2_PROMISE(old < shadow->clock - 1);
    if (C2_LIKELY(old >= shadow->horizon))
        return CACHES_CONFLICT;
    cache_shadow_enter(shadow, slot);
    C2_PROMISE(cache_shadow_holds(shadow, *stamp));
    return cache_shadow_class(old);
}

/* The same for a store that does not fill: what the shadow does not have it does not take. */
static inline enum caches_class cache_shadow_pass(struct cache_shadow *shadow, uint32_t *stamp, uint32_t slot)
{
    const uint32_t old = *stamp;
    if (old >= shadow->horizon)
        return cache_shadow_touch(shadow, stamp, slot);
    *stamp = SHADOW_ASKED;
    return cache_shadow_class(old);
}

/* Another core takes the line: says whether the shadow had it. The caller changes the stamp; the line's entry in the
 * log is dropped, or joins a later one, when the horizon comes by. */
static inline bool cache_shadow_take(struct cache_shadow *shadow, uint32_t stamp)
{
    if (stamp < shadow->horizon)
        return false;
    shadow->live--;
    shadow->gaps = true;
    return true;
}

/* A line is offered that was not accessed: the shadow takes it when it does not have it. */
static inline void cache_shadow_offer(struct cache_shadow *shadow, uint32_t *stamp, uint32_t slot)
{
    if (*stamp < shadow->horizon)
        cache_shadow_touch(shadow, stamp, slot);
}

#endif
