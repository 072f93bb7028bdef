/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The rules of contents.c, once for all forms: the file that includes this says by CACHE_FORM with which instructions
 * sets are searched, and becomes one. Each function is a part of those at the end, which know the shape of a machine
 * beforehand, or do not.
 */
#ifndef C2_CONTENTS_RULES_H
#define C2_CONTENTS_RULES_H

#include "caches/contents_priv.h"
#include "caches/sets_simd.h"
#include "caches/tape_priv.h"

#define PART static inline __attribute__((always_inline))

/* The ways of the levels that are asked one after the other; 0: unknown, then the level says it. */
struct shape {
    uint32_t ways[CACHE_SHAPE_LEVELS];
};

PART uint32_t ways_of(const struct cache_level *level, uint32_t known) { return known ? known : level->sets.ways; }

/* The words of a set of the level. */
PART uint32_t *words_at(const struct cache_level *level, uint32_t set, uint32_t known)
{
    return level->sets.word + (size_t)set * (known ? cache_sets_stride(known) : level->sets.stride);
}

/* ------------------------------------------------------------------ victims */

/* Dirties the line where the level has it. */
PART bool dirty_there(const struct cache_level *level, uint32_t tag, uint64_t line, uint32_t known)
{
    uint32_t *words = words_at(level, cache_contents_set_of(level, line), known);
    const uint32_t ways = ways_of(level, known), place = sets_find(words, tag, ways);
    if (place >= ways)
        return false;
    words[place] |= CACHE_SETS_DIRTY;
    return true;
}

static __attribute__((noinline)) void write_further(const struct cache_level *level, uint32_t tag, uint64_t line)
{
    while (level && !dirty_there(level, tag, line, 0))
        level = level->next;
}

/* Dirty data that leaves a level stops at the first one below that has the line, or in memory. known: ways of the level
 * below. */
PART void write_down(const struct cache_level *level, uint32_t tag, uint64_t line, uint32_t known)
{
    if (level && !dirty_there(level, tag, line, known))
        write_further(level->next, tag, line);
}

/* Takes the line out of every level above; says whether a copy was dirty, and adds who had one to *lost. */
static __attribute__((noinline)) bool invalidate_above(struct cache_level *level, uint32_t tag, uint64_t line,
                                                       uint32_t *lost)
{
    bool dirty = false;
    for (uint32_t i = 0; i < level->above_count; i++) {
        const struct cache_level *above = level->above[i];
        uint32_t *words = words_at(above, cache_contents_set_of(above, line), 0);
        const uint32_t ways = above->sets.ways, place = sets_find(words, tag, ways);
        if (C2_LIKELY(place >= ways))
            continue;
        dirty |= cache_sets_take(words, place, ways) & CACHE_SETS_DIRTY;
        *lost |= 1u << above->column;
        level->counts.back_invalidations++;
    }
    return dirty;
}

/* What was the word of a way has to leave. Says who has lost it. */
PART uint32_t evict(struct cache_level *level, uint32_t word, uint32_t known_below)
{
    const uint32_t tag = cache_sets_tag(word);
    uint32_t lost = 1u << level->column;
    bool dirty = word & CACHE_SETS_DIRTY;
    if (!level->inclusive && !dirty)
        return lost;
    const uint64_t line = cache_lines_line(level->lines, tag - 1);
    if (level->inclusive)
        dirty |= invalidate_above(level, tag, line, &lost);
    level->counts.writebacks += dirty;
    if (dirty)
        write_down(level->next, tag, line, known_below);
    return lost;
}

/* ------------------------------------------------------------------ levels */

PART void fill(struct cache_trail *trail, struct cache_level *level, bool dirty, uint32_t known, uint32_t known_below)
{
    struct cache_passed *at = &trail->at[level->depth];
    uint32_t *words = words_at(level, at->set, known);
    const uint32_t ways = ways_of(level, known), victim = words[ways - 1];
    at->victim = cache_sets_tag(victim);
    if (C2_LIKELY(victim != 0))
        at->lost = evict(level, victim, known_below);
    sets_front(words, ways - 1, cache_sets_word(trail->slot + 1, dirty), ways);
}

/* A level is asked. False: it misses, and is to be filled. */
PART bool ask(struct cache_level *level, bool write, uint32_t tag, uint32_t set, uint32_t known)
{
    uint32_t *words = words_at(level, set, known);
    const uint32_t ways = ways_of(level, known), place = sets_find(words, tag, ways);
    if (C2_LIKELY(place < ways)) {
        sets_front(words, place, words[place], ways);
        level->front.hits[write]++;
        return true;
    }
    level->misses[write]++;
    return false;
}

PART bool ask_below(struct cache_trail *trail, struct cache_level *level, bool write, uint64_t line, uint32_t known)
{
    const uint32_t set = cache_contents_set_of(level, line);
    trail->at[level->depth].set = set;
    return ask(level, write, trail->slot + 1, set, known);
}

/* The second level has missed as well. Levels are asked down to the one that has the line, and those that missed are
 * filled from there up. */
PART void miss_further(struct cache_trail *trail, bool write, uint64_t line, const struct shape shape)
{
    struct cache_level *first = trail->first, *second = first->next, *missed[CACHES_MAX_LEVELS];
    uint32_t count = 0;
    for (struct cache_level *level = second->next; level; level = level->next) {
        if (ask_below(trail, level, write, line, level == second->next ? shape.ways[2] : 0))
            break;
        missed[count++] = level;
    }
    trail->missed = count + 2;
    while (count-- > 1)
        fill(trail, missed[count], false, 0, 0);
    if (trail->missed > 2)
        fill(trail, missed[0], false, shape.ways[2], 0);
    fill(trail, second, false, shape.ways[1], shape.ways[2]);
    fill(trail, first, write, shape.ways[0], shape.ways[1]);
}

PART uint32_t first_set(const struct cache_level *first, uint64_t line, const struct shape shape)
{
    return shape.ways[0] ? (uint32_t)line & (first->set_count - 1) : cache_contents_set_of(first, line);
}

/* The rest of an access that its first level does not have. */
PART enum caches_tried miss(struct caches_front *front, bool write, uint32_t slot, uint64_t line,
                            const struct shape shape,
                            void (*further)(struct cache_trail *trail, bool write, uint64_t line))
{
    struct caches *caches = front->caches;
    struct cache_trail *trail = &caches->trail;
    struct cache_level *first = cache_level_of(front), *second = first->next;
    C2_ASSERT(!(write && first->clean));
    first->misses[write]++;
    trail->first = first;
    trail->slot = slot;
    trail->missed = 1;
    trail->at[first->depth].set = first_set(first, line, shape);
    if (second && !ask_below(trail, second, write, line, shape.ways[1])) {
        caches->far = second->next ? CACHE_FAR : 0;
        further(trail, write, line);
    } else { /* what is served by the second level is most of what the first one misses */
        fill(trail, first, write, shape.ways[0], shape.ways[1]);
    }
    return CACHES_MISSED;
}

/* A function without calls but at its end, to `miss`: so the way of a hit needs no stack. */
PART enum caches_tried access(struct caches_front *front, bool write, uint32_t slot, uint64_t line,
                              const struct shape shape, cache_access_function *missed)
{
    struct cache_level *first = cache_level_of(front);
    uint32_t *words = words_at(first, first_set(first, line, shape), shape.ways[0]);
    const uint32_t ways = ways_of(first, shape.ways[0]), place = sets_find(words, slot + 1, ways);
    front->youngest = words;
    if (C2_UNLIKELY(place >= ways))
        return missed(front, write, slot, line);
    sets_front(words, place, words[place] | write, ways);
    front->hits[write]++;
    return cache_tape_hit(first, slot);
}

/* ------------------------------------------------------------------ the functions of the form */

#ifndef CACHE_FORM_NAME
#define CACHE_FORM_NAME scalar
#endif
#define CACHE_JOIN2(a, b) a##b
#define CACHE_JOIN(a, b) CACHE_JOIN2(a, b)

/* The access of machines of one shape; CACHE_SHAPES. */
#define SHAPED(name, one, two, three) \
    static __attribute__((noinline)) void further_##name(struct cache_trail *trail, bool write, uint64_t line) \
    { \
        miss_further(trail, write, line, (const struct shape){{one, two, three}}); \
    } \
    static __attribute__((noinline)) enum caches_tried miss_##name(struct caches_front *front, bool write, \
                                                                   uint32_t slot, uint64_t line) \
    { \
        return miss(front, write, slot, line, (const struct shape){{one, two, three}}, further_##name); \
    } \
    static enum caches_tried access_##name(struct caches_front *front, bool write, uint32_t slot, uint64_t line) \
    { \
        return access(front, write, slot, line, (const struct shape){{one, two, three}}, miss_##name); \
    }

SHAPED(any, 0, 0, 0)
#if CACHE_FORM != CACHE_FORM_SCALAR
CACHE_SHAPES(SHAPED)
#define SHAPED_ROW(name, one, two, three) {{one, two, three}, access_##name},
#endif

const struct cache_form CACHE_JOIN(cache_form_, CACHE_FORM_NAME) = {
    .any = access_any,
#if CACHE_FORM != CACHE_FORM_SCALAR
    .shaped = {CACHE_SHAPES(SHAPED_ROW)},
#endif
};

#endif
