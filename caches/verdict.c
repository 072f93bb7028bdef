/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * verdict: what is said of an access of a usual machine: classes, evictors, the outcome. The rules are those of
 * hierarchy.c.
 *
 * Model
 *   Everything is said from the trail that the contents left (contents.c), in the order of the accesses, and nothing of
 *   it changes what a level holds. Each level asked touches its shadow, which says the class of a miss; each level that
 *   lost a line learns who made it.
 */
#include "caches/contents_priv.h"

/* The rows of the line, in which each level has its place. */
struct rows {
    uint32_t *stamps;
    const uint64_t *evictors; /* NULL: they are not kept */
};

/* An access does not make the levels lose its own line, so what is known of it may be read first. */
static inline void tell(const struct caches *caches, struct caches_outcome *outcome, const struct cache_level *level,
                        const struct cache_passed *at, const struct rows *rows, enum caches_class class_)
{
    struct caches_event *event = &outcome->event[level->depth];
    event->class_ = class_;
    event->set_number = event->victim_set = at->set;
    event->evictor = rows->evictors ? rows->evictors[level->column] : 0;
    C2_PROMISE(class_ != CACHES_COLD || event->evictor == 0);
    if (C2_UNLIKELY(at->victim == 0))
        return;
    event->victim.v = cache_lines_line(&caches->lines, at->victim - 1);
    outcome->evicted |= 1u << level->depth;
}

static inline void lose(const struct cache_lines *lines, const struct cache_passed *at)
{
    uint64_t *evictors = cache_lines_evictor_at(lines, at->victim - 1, 0);
    uint32_t lost = at->lost;
    do {
        evictors[(uint32_t)__builtin_ctz(lost)] = lines->actor;
        lost &= lost - 1;
    } while (C2_UNLIKELY(lost != 0));
}

static inline __attribute__((always_inline)) void judge(struct caches *caches, struct cache_level *level,
                                                        const struct rows *rows, struct caches_outcome *outcome)
{
    const struct cache_passed *at = &caches->trail.at[level->depth];
    const enum caches_class class_ = cache_shadow_touch(&level->shadow, &rows->stamps[level->shadow.at],
                                                        caches->trail.slot);
    (&level->counts.cold)[class_ - CACHES_COLD]++;
    if (outcome)
        tell(caches, outcome, level, at, rows, class_);
    if (rows->evictors && at->victim != 0)
        lose(&caches->lines, at);
}

static __attribute__((noinline)) struct cache_level *judge_further(struct caches *caches, struct cache_level *level,
                                                                   const struct rows *rows,
                                                                   struct caches_outcome *outcome)
{
    for (uint32_t left = caches->trail.missed; left > 1; left--, level = level->next)
        judge(caches, level, rows, outcome);
    return level;
}

void cache_verdict_miss(struct caches *caches, struct caches_outcome *outcome)
{
    const struct cache_trail *trail = &caches->trail;
    const struct cache_lines *lines = &caches->lines;
    const struct rows rows = {cache_lines_stamp(lines, trail->slot, 0),
                              lines->has_evictors ? cache_lines_evictor_at(lines, trail->slot, 0) : NULL};
    struct cache_level *level = trail->first->next;
    if (outcome)
        outcome->evicted = 0;
    judge(caches, trail->first, &rows, outcome);
    if (trail->missed > 1)
        level = judge_further(caches, level, &rows, outcome);
    if (level)
        cache_verdict_hit(&caches->lines, level, trail->slot);
    if (!outcome)
        return;
    const uint32_t server = trail->first->depth + trail->missed;
    outcome->served_by = level ? server : caches->level_count;
    outcome->depth = level ? server + 1 : server;
    if (level)
        outcome->event[server].class_ = CACHES_HIT;
}
