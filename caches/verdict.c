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
static void tell(struct caches_event *event, const struct cache_level *level, const struct cache_trail *trail,
                 enum caches_class class_)
{
    const uint32_t number = trail->at[level->depth].set, victim = trail->at[level->depth].victim;
    event->class_ = class_;
    event->set_number = number;
    event->slice = level->hash ? number / level->set_count : 0;
    event->set = number - event->slice * level->set_count;
    event->evictor = cache_lines_evictor(level->lines, trail->slot, level->column);
    event->evicted = victim != 0;
    if (victim != 0) {
        event->victim.v = cache_lines_line(level->lines, victim - 1);
        event->victim_set = number;
    }
    C2_PROMISE(class_ != CACHES_COLD || event->evictor == 0);
}

static void lose(const struct cache_lines *lines, uint32_t victim, uint32_t lost)
{
    for (; lost != 0; lost &= lost - 1)
        *cache_lines_evictor_at(lines, victim - 1, (uint32_t)__builtin_ctz(lost)) = lines->actor;
}

static inline struct cache_level *judge(struct cache_level *level, const struct cache_trail *trail,
                                        struct caches_outcome *outcome)
{
    uint32_t *stamp = cache_lines_stamp(level->lines, trail->slot, level->shadow.at);
    const enum caches_class class_ = cache_shadow_touch(&level->shadow, stamp, trail->slot);
    (&level->counts.cold)[class_ - CACHES_COLD]++;
    if (outcome)
        tell(&outcome->event[level->depth], level, trail, class_);
    if (level->lines->has_evictors && trail->at[level->depth].lost != 0)
        lose(level->lines, trail->at[level->depth].victim, trail->at[level->depth].lost);
    return level->next;
}

void cache_verdict_miss(struct caches *caches, const struct cache_trail *trail, struct caches_outcome *outcome)
{
    struct cache_level *level = trail->first;
    const uint32_t server = level->depth + trail->missed;
    for (uint32_t i = 0; i < trail->missed; i++)
        level = judge(level, trail, outcome);
    if (level)
        cache_verdict_hit(level, trail->slot);
    if (!outcome)
        return;
    outcome->served_by = level ? server : caches->level_count;
    outcome->depth = level ? server + 1 : server;
    if (level)
        outcome->event[server].class_ = CACHES_HIT;
    for (uint32_t i = server; i < caches->level_count; i++)
        outcome->event[i].evicted = false;
}
