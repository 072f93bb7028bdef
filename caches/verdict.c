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

/* An access does not make the levels lose its own line, so what is known of it may be read first. */
static inline void tell(struct caches_outcome *outcome, const struct cache_level *level,
                        const struct cache_trail *trail, enum caches_class class_)
{
    const uint32_t depth = level->depth, victim = trail->at[depth].victim;
    struct caches_event *event = &outcome->event[depth];
    event->class_ = class_;
    event->set_number = event->victim_set = trail->at[depth].set;
    event->evictor = cache_lines_evictor(level->lines, trail->slot, level->column);
    C2_PROMISE(class_ != CACHES_COLD || event->evictor == 0);
    if (C2_UNLIKELY(victim == 0))
        return;
    event->victim.v = cache_lines_line(level->lines, victim - 1);
    outcome->evicted |= 1u << depth;
}

static inline void lose(const struct cache_lines *lines, uint32_t victim, uint32_t lost)
{
    do {
        *cache_lines_evictor_at(lines, victim - 1, (uint32_t)__builtin_ctz(lost)) = lines->actor;
        lost &= lost - 1;
    } while (C2_UNLIKELY(lost != 0));
}

static inline void judge(struct cache_level *level, const struct cache_trail *trail, struct caches_outcome *outcome)
{
    uint32_t *stamp = cache_lines_stamp(level->lines, trail->slot, level->shadow.at);
    const enum caches_class class_ = cache_shadow_touch(&level->shadow, stamp, trail->slot);
    (&level->counts.cold)[class_ - CACHES_COLD]++;
    if (outcome)
        tell(outcome, level, trail, class_);
    if (level->lines->has_evictors && trail->at[level->depth].victim != 0)
        lose(level->lines, trail->at[level->depth].victim, trail->at[level->depth].lost);
}

void cache_verdict_miss(struct caches *caches, struct caches_outcome *outcome)
{
    const struct cache_trail *trail = &caches->trail;
    struct cache_level *level = trail->first;
    if (outcome)
        outcome->evicted = 0;
    for (uint32_t left = trail->missed; left > 0; left--, level = level->next)
        judge(level, trail, outcome);
    if (level)
        cache_verdict_hit(level, trail->slot);
    if (!outcome)
        return;
    const uint32_t server = trail->first->depth + trail->missed;
    outcome->served_by = level ? server : caches->level_count;
    outcome->depth = level ? server + 1 : server;
    if (level)
        outcome->event[server].class_ = CACHES_HIT;
}
