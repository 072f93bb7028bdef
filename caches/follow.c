/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * follow: machines of one run whose first levels are the same, so that one of them is enough.
 *
 * Model
 *   What L1D and L1I hold depends on their own shape and on the order of accesses, and on nothing below: but for lines
 *   that an inclusive level takes from them, and for what is dirty in an exclusive second level. So a machine with the
 *   same first levels may follow another one: it reads that one's event log, which has each miss of theirs, and asks
 *   its own levels from the second one on. Its own log has what these were asked, so that shadows, classes and evictors
 *   of these levels are its own; those of the first levels are the other's.
 *   Where a level is inclusive the first levels are mirrored, as sets without an order, from the misses and what they
 *   replace: so it is found out which line of theirs it would take. Then the machine cannot follow any more
 *   (caches_first_lost), and what it has counted is worth nothing; its caller has to simulate it in another way.
 *   First levels with another policy than LRU, or with an index by virtual addresses beyond a page, are not shared.
 *
 * Counting
 *   Reads and writes below are told apart by the kind of a miss, which its record has where it is measured.
 *
 * Invariants
 *   Slots are those of the other machine: groups of lines come in the same order.
 */
#include <string.h>

#include "caches/contents_priv.h"
#include "caches/event_log_priv.h"

/* ------------------------------------------------------------------ which machines */

static bool same_first(const struct caches_level *one, const struct caches_level *other)
{
    return one->size_bytes == other->size_bytes && one->ways == other->ways && one->slices == other->slices &&
           one->policy == other->policy && one->index == other->index && one->through == other->through &&
           one->around == other->around && one->mask_count == 0 && other->mask_count == 0 && one->slices == 1 &&
           one->policy == CACHES_LRU;
}

bool caches_machines_share_first(const struct caches_machine *one, const struct caches_machine *other)
{
    if (one->line_bytes != other->line_bytes || one->has_l1i != other->has_l1i)
        return false;
    const bool below = one->level_count > 1 && other->level_count > 1;
    return below && one->levels[1].inclusion != CACHES_EXCLUSIVE && other->levels[1].inclusion != CACHES_EXCLUSIVE &&
           same_first(&one->levels[0], &other->levels[0]) && (!one->has_l1i || same_first(&one->l1i, &other->l1i));
}

void caches_follow(struct caches *caches)
{
    C2_ASSERT(caches->usual && caches->lines.groups == 0 && !cache_event_log_is_own(caches));
    bool inclusive = false;
    for (uint32_t i = 1; i < caches->level_count; i++)
        inclusive |= caches->level[i].inclusive;
    for (uint32_t i = 0; i < caches->node_count; i++)
        caches->level[i].mirrors = inclusive && caches->level[i].depth == 0;
    caches->classifier->follows = true;
}

bool caches_first_lost(const struct caches *caches) { return caches->first_lost; }

/* ------------------------------------------------------------------ the other's event log */

enum caches_log_kind caches_log_next(struct caches *caches, struct caches_log *log, struct caches_log_writes writes,
                                     struct caches_log_group *group)
{
    C2_PROMISE(caches->classifier->follows);
    while (log->at < log->end) {
        log->at = cache_contents_form(caches)->below(caches, log->at, log->end, writes);
        if (caches->event_log.end.at >= caches->event_log.end.stop)
            return CACHES_LOG_FULL;
        if (C2_UNLIKELY(caches->first_lost))
            return CACHES_LOG_LOST;
        if (log->at == log->end)
            break;
        const uint64_t first = *log->at++, kind = first >> EVENT_LOG_LEVEL_INDEX & 15;
        const uint32_t behind = first >> EVENT_LOG_BEHIND & EVENT_LOG_BEHIND_MASK;
        const uint64_t *const words = log->at;
        log->at += behind;
        C2_PROMISE(kind == EVENT_LOG_GROUP || kind == EVENT_LOG_PLACED || kind == EVENT_LOG_PUSHED);
        *group = (struct caches_log_group){{words[0] << LINES_GROUP_SHIFT}, words, behind};
        if (kind != EVENT_LOG_PUSHED)
            return kind == EVENT_LOG_GROUP ? CACHES_LOG_GROUP : CACHES_LOG_PLACED;
    }
    return CACHES_LOG_END;
}

void caches_note_placed(struct caches *caches, uint32_t slot, const uint64_t *first, uint32_t count)
{
    C2_ASSERT(count >= 1 && count <= CACHES_FOLLOWERS && !cache_event_log_is_own(caches));
    _Static_assert(CACHES_FOLLOWERS <= EVENT_LOG_BEHIND_MASK && 2 * CACHES_FOLLOWERS < CACHES_EVENT_LOG_SLACK,
                   "there is room");
    cache_event_log_put(caches, EVENT_LOG_PLACED << EVENT_LOG_LEVEL_INDEX | (uint64_t)count << EVENT_LOG_BEHIND | slot);
    for (uint32_t i = 0; i < count; i++)
        cache_event_log_put(caches, first[i]);
}

/* ------------------------------------------------------------------ counts */

static void adopt_level_counts(struct caches *caches, uint32_t to, const struct caches *from, uint32_t level_index)
{
    struct cache_level *level = &caches->level[to];
    const struct cache_level *other = &from->level[level_index];
    C2_ASSERT(level->depth == 0 && other->depth == 0);
    level->counts = other->counts;
    memcpy(level->l1_handle.hits, other->l1_handle.hits, sizeof level->l1_handle.hits);
    memcpy(level->l1_handle.misses, other->l1_handle.misses, sizeof level->l1_handle.misses);
    memcpy(caches->classifier->level[to].said, from->classifier->level[level_index].said,
           sizeof caches->classifier->level[to].said);
}

void caches_adopt_first(struct caches *caches, const struct caches *from)
{
    C2_ASSERT(caches->usual && from->usual);
    adopt_level_counts(caches, 0, from, 0);
    if (caches->machine.has_l1i)
        adopt_level_counts(caches, caches->level_count, from, from->level_count);
}
