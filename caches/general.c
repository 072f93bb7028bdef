/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * general: a usual machine in the middle of a run becomes one like all others.
 *
 * Model
 *   What contents.c knows - lines in sets by age - is put where path.c looks for it: ways and seats, states. Slots and
 *   classes stay what they are. From then on every access goes the long way, to the same counts; it does so where
 *   something happens that the short one has no place for (instructed.c).
 * Invariants
 *   Contents, and the order of each set, are the same before and after.
 */
#include "caches/contents_priv.h"
#include "caches/instructed_priv.h"
#include "caches/event_log_priv.h"

/* A level whose words are the policy's. */
static void move_dirt(struct caches *caches, struct cache_level *level)
{
    const uint32_t first = 1u << level->policy.way_bits;
    for (uint32_t way = first; way < (level->sets.set_count + 1) << level->policy.way_bits; way++) {
        uint32_t *word = &level->policy.word[way];
        if (*word != 0)
            cache_lines_state(&caches->lines, cache_sets_tag(*word) - 1, level->level_index)->residency =
                way << 1 | (*word & CACHE_SETS_DIRTY);
        *word &= ~CACHE_SETS_DIRTY;
    }
}

/* The oldest line of each set first: so the policy has their order. */
static void move_sets(struct caches *caches, struct cache_level *level)
{
    if (!level->ordered) {
        move_dirt(caches, level);
        level->sets = (struct cache_sets){.word = NULL};
        return;
    }
    for (uint32_t set = 0; set < level->sets.set_count; set++)
        for (uint32_t place = level->sets.ways; place-- > 0;) {
            const uint32_t word = cache_sets_at(&level->sets, set)[place], slot = cache_sets_tag(word) - 1;
            if (word == 0)
                continue;
            const struct line_no line = {cache_lines_line(&caches->lines, slot)};
            cache_level_put(level, cache_level_choose(level, set + 1), slot, cache_lines_row(&caches->lines, slot),
                            line, word & CACHE_SETS_DIRTY);
        }
    cache_sets_end(&level->sets);
    level->sets = (struct cache_sets){.word = NULL};
}

static void leave_front(struct caches_l1_handle *l1_handle)
{
    l1_handle->set_mask = l1_handle->stride = l1_handle->ways = 0;
    l1_handle->notified = LINES_NO_SLOT;
    l1_handle->youngest = NULL;
}

enum c2_status cache_generalize(struct caches *caches, struct c2_error *err)
{
    cache_event_log_catch_up(caches);
    cache_event_log_use_own(caches);
    if (!cache_lines_dress(&caches->lines))
        return c2_fail_memory(err, "the table of lines accessed");
    caches->usual = false;
    for (uint32_t i = 0; i < caches->node_count; i++) {
        move_sets(caches, &caches->level[i]);
        leave_front(&caches->level[i].l1_handle);
    }
    caches->far = 0;
    caches->last[CACHES_DATA] = caches->last[CACHES_FETCH] = LINES_NO_SLOT;
    cache_contents_link(caches);
    return caches->classifier->rows.failed ? c2_fail_memory(err, "the table of lines accessed") : C2_OK;
}
