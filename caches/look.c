/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * look: what one set holds, and which of its ways makes room next. Nothing changes.
 *
 * Model
 *   A way is described by the line in it and by what its level's policy goes by (policy.c): the order of touches or
 *   fills, bits, predictions. The victim is found by the policy's own rule, on a copy of what that changes: the draw of
 *   the random policy is the one that the next victim gets.
 *   A level with true LRU whose accesses may all fill all ways has no order of its ways but that of the touches: they
 *   are listed by it, the line touched last first, empty ones last. All others are listed by number.
 *
 * Not modelled
 *   Of SHiP the signatures of lines, and the counters of signatures: a way's prediction is what they came to.
 */
#include <string.h>

#include "caches/hierarchy_priv.h"

static struct cache_level *look_level_at(const struct caches *caches, uint32_t core, uint32_t level)
{
    C2_ASSERT(core < caches_machine_cores(&caches->machine) && level < caches->level_count + caches->machine.has_l1i);
    return cache_node((struct caches *)caches, core, level);
}

struct caches_place caches_place_of(const struct caches *caches, uint32_t level, struct line_no virtual_line,
                                    struct line_no physical_line)
{
    const struct cache_level *of = look_level_at(caches, 0, level);
    const struct cache_place place = cache_level_place(of, (struct cache_line){virtual_line, physical_line});
    return (struct caches_place){place.slice, place.number, cache_level_set(of, place) - 1};
}

static void look_put(struct caches_way *way, const struct cache_level *level, uint32_t word)
{
    if (word == 0)
        return;
    const uint32_t slot = cache_sets_tag(word) - 1;
    way->holds = true;
    way->line.v = cache_lines_line(level->lines, slot);
    way->dirty = word & CACHE_SETS_DIRTY;
}

/* The lines of a set by age. */
static void look_ordered(struct caches_set *out, const struct cache_level *level, uint32_t set)
{
    const uint32_t *words = cache_sets_at(&level->sets, set);
    out->victim = out->ways - 1;
    for (uint32_t place = 0; place < out->ways; place++) {
        look_put(&out->way[place], level, words[place]);
        out->way[place].order = place;
        if (words[place] == 0 && out->victim == out->ways - 1)
            out->victim = place;
    }
}

/* The set of a level whose words are the policy's, by number. */
static void look_by_number(struct caches_set *out, const struct cache_level *level, uint32_t set)
{
    const uint32_t first = (set + 1) << level->policy.way_bits;
    for (uint32_t w = 0; w < out->ways; w++) {
        const uint32_t word = level->policy.word[first + w];
        look_put(&out->way[w], level, word);
    }
    cache_policy_look(out, &level->policy, set + 1);
}

/* True LRU: the ways change places until they stand as they do in a level that is kept so. */
static void sort_by_age(struct caches_set *out)
{
    struct caches_way sorted[CACHES_MAX_WAYS];
    uint32_t at = 0;
    for (uint32_t order = 0; order < out->ways; order++)
        for (uint32_t w = 0; w < out->ways; w++)
            if (out->way[w].holds && out->way[w].order == order)
                sorted[at++] = out->way[w];
    out->victim = at < out->ways ? at : out->ways - 1;
    for (; at < out->ways; at++)
        sorted[at] = (struct caches_way){.order = at};
    memcpy(out->way, sorted, out->ways * sizeof *sorted);
}

void caches_look(struct caches_set *out, const struct caches *caches, uint32_t core, uint32_t level, uint32_t set)
{
    const struct cache_level *of = look_level_at(caches, core, level);
    C2_ASSERT(set < of->set_count * of->slice_count);
    memset(out, 0,
           offsetof(struct caches_set, way) + of->config->ways * sizeof out->way[0]); /* those behind are none */
    out->policy = of->config->policy;
    out->ways = of->config->ways;
    out->allowed = of->allowed ? of->allowed[core] : c2_mask(0, out->ways - 1);
    out->by_age = out->policy == CACHES_LRU && !of->allowed;
    if (of->ordered) {
        look_ordered(out, of, set);
        return;
    }
    look_by_number(out, of, set);
    if (out->by_age)
        sort_by_age(out);
}
