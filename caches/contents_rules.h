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

/* ------------------------------------------------------------------ sets in no order
 * Where the level's policy is another than true LRU, or not all ways may be filled: its rules are those of policy.c,
 * for which a place has a number. known: a shape's levels have all their ways in order. */

PART bool is_ordered(const struct cache_level *level, uint32_t known) { return known != 0 || level->ordered; }

static inline uint32_t number_of(const struct cache_level *level, const uint32_t *word)
{
    return (uint32_t)(word - level->policy.word);
}

/* The word is that of the last access. To most policies a repeat of it is nothing more. */
static inline void touch(struct cache_level *level, uint32_t *word)
{
    level->touched = word;
    level->front.youngest = level->policy.rrip ? NULL : word;
}

static __attribute__((noinline)) void hit_by_policy(struct cache_level *level, uint32_t *word)
{
    cache_policy_hit(&level->policy, number_of(level, word));
    touch(level, word);
}

/* Says what was there. */
static __attribute__((noinline)) uint32_t take_by_policy(struct cache_level *level, uint32_t *word)
{
    const uint32_t taken = *word;
    *word = 0;
    cache_policy_empty(&level->policy, number_of(level, word));
    return taken;
}

/* Puts the word into the set; returns what had to leave. */
static __attribute__((noinline)) uint32_t put_by_policy(struct cache_level *level, uint32_t set, uint32_t word)
{
    const uint32_t number = cache_level_choose(level, set + 1), victim = level->policy.word[number];
    level->policy.word[number] = word;
    if (C2_UNLIKELY(level->policy.history))
        level->policy.signature = cache_level_signature(level, cache_sets_tag(word) - 1);
    cache_policy_fill(&level->policy, number);
    touch(level, &level->policy.word[number]);
    return victim;
}

/* Takes the line of a place out of the level. */
PART uint32_t take(struct cache_level *level, uint32_t *words, uint32_t place, uint32_t known)
{
    return is_ordered(level, known) ? cache_sets_take(words, place, ways_of(level, known))
                                    : take_by_policy(level, &words[place]);
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

/* Takes the line out of a level above, if it is there; returns whether the copy was dirty, and adds the level that had
 * one to *lost. */
PART bool invalidate(struct cache_level *level, struct cache_level *above, uint32_t set, uint32_t tag, uint32_t known,
                     uint32_t *lost)
{
    uint32_t *words = words_at(above, set, known);
    const uint32_t ways = ways_of(above, known), place = sets_find(words, tag, ways);
    if (C2_LIKELY(place >= ways))
        return false;
    *lost |= 1u << above->column;
    level->counts.back_invalidations++;
    return take(above, words, place, known) & CACHE_SETS_DIRTY;
}

/* Out of every level above. */
static __attribute__((noinline)) bool invalidate_any(struct cache_level *level, uint32_t tag, uint64_t line,
                                                     uint32_t *lost)
{
    bool dirty = false;
    for (uint32_t i = 0; i < level->above_count; i++)
        dirty |= invalidate(level, level->above[i], cache_contents_set_of(level->above[i], line), tag, 0, lost);
    return dirty;
}

/* Of the third level of a shape that is known. */
PART bool invalidate_shaped(struct cache_level *level, uint32_t tag, uint64_t line, const struct shape shape,
                            uint32_t *lost)
{
    bool dirty = false;
    for (uint32_t i = 0; i < level->above_count; i++) {
        struct cache_level *above = level->above[i];
        const uint32_t set = (uint32_t)line & above->front.set_mask;
        dirty |= above->depth == 0 || shape.ways[0] == shape.ways[1]
                     ? invalidate(level, above, set, tag, shape.ways[0], lost)
                     : invalidate(level, above, set, tag, shape.ways[1], lost);
    }
    return dirty;
}

/* A level of a machine, as far as that is known. */
struct seen {
    uint32_t ways, ways_below;
    struct shape shape; /* of the third level: known ways of those above */
};

/* A line of another core is lost by an exclusive level. */
static inline void note_pushed(struct cache_level *level, uint32_t slot, uint32_t set)
{
    struct cache_trail *trail = &level->front.caches->trail;
    C2_ASSERT(trail->pushed_count < CACHE_MAX_PUSHED);
    trail->pushed[trail->pushed_count++] = (struct cache_pushed){level->column, slot, set};
}

static void push_down(struct cache_level *level, uint32_t word, uint64_t line);

/* What was the word of a way has to leave. Says which levels above have lost it, too. */
PART uint32_t evict(struct cache_level *level, uint32_t word, const struct seen known)
{
    const uint32_t tag = cache_sets_tag(word);
    uint32_t lost = 0;
    bool dirty = word & CACHE_SETS_DIRTY;
    const bool moves = known.ways == 0 && level->next && level->next->exclusive;
    if (!level->inclusive && !dirty && !moves)
        return lost;
    const uint64_t line = cache_lines_line(level->lines, tag - 1);
    if (level->inclusive)
        dirty |= known.shape.ways[0] ? invalidate_shaped(level, tag, line, known.shape, &lost)
                                     : invalidate_any(level, tag, line, &lost);
    level->counts.writebacks += dirty;
    if (moves)
        push_down(level->next, cache_sets_word(tag, dirty), line);
    else if (dirty)
        write_down(level->next, tag, line, known.ways_below);
    return lost;
}

/* Puts the word into a set, where its line is not; returns what had to leave. */
PART uint32_t put(struct cache_level *level, uint32_t set, uint32_t word, uint32_t known)
{
    uint32_t *words = words_at(level, set, known);
    const uint32_t ways = ways_of(level, known), victim = words[ways - 1];
    if (!is_ordered(level, known))
        return put_by_policy(level, set, word);
    sets_front(words, ways - 1, word, ways);
    return victim;
}

/* The victim of the level above becomes a line of this exclusive one. */
static __attribute__((noinline)) void push_down(struct cache_level *level, uint32_t word, uint64_t line)
{
    const uint32_t set = cache_contents_set_of(level, line), ways = level->sets.ways;
    uint32_t *words = words_at(level, set, 0);
    const uint32_t place = sets_find(words, cache_sets_tag(word), ways);
    if (place < ways) {
        words[place] |= word & CACHE_SETS_DIRTY;
        return;
    }
    const uint32_t victim = put(level, set, word, 0);
    if (victim == 0)
        return;
    note_pushed(level, cache_sets_tag(victim) - 1, set);
    evict(level, victim, (struct seen){0});
}

/* ------------------------------------------------------------------ levels */

/* The line comes to a level. Returns what had to leave, as a brief record has it: the tag, and which levels above have
 * lost it. */
PART uint64_t fill(struct cache_level *level, uint32_t set, uint32_t word, const struct seen known)
{
    const uint32_t victim = put(level, set, word, known.ways);
    return C2_LIKELY(victim != 0) ? cache_sets_tag(victim) | (uint64_t)evict(level, victim, known) << 32 : 0;
}

/* The line moves up from an exclusive level, which has it in this place. */
static __attribute__((noinline)) void move_up(struct cache_level *level, uint32_t *words, uint32_t place)
{
    struct cache_trail *trail = &level->front.caches->trail;
    const uint32_t word = take(level, words, place, 0);
    note_pushed(level, cache_sets_tag(word) - 1, CACHE_MOVED);
    trail->dirty = word & CACHE_SETS_DIRTY;
    trail->server = level;
}

/* A level below the first is asked. False: it misses, and is to be filled. */
PART bool ask(struct cache_level *level, uint64_t write, uint32_t tag, uint32_t set, uint32_t known)
{
    uint32_t *words = words_at(level, set, known);
    const uint32_t ways = ways_of(level, known), place = sets_find(words, tag, ways);
    if (C2_UNLIKELY(place >= ways))
        return false;
    level->front.hits[write]++;
    if (known == 0 && level->exclusive)
        move_up(level, words, place);
    else if (is_ordered(level, known))
        sets_youngest(words, place, ways);
    else
        hit_by_policy(level, &words[place]);
    return true;
}

/* ------------------------------------------------------------------ misses */

/* An access that has missed, and the record of it behind the end of the tape. */
struct missed {
    struct caches *caches;
    struct cache_level *first;
    uint64_t *record;
    bool write;
    uint32_t slot;
    uint64_t line;
};

/* level: the n-th behind the one asked first. */
PART void fill_below(const struct missed *m, struct cache_level *level, uint32_t n, uint32_t set,
                     const struct seen known)
{
    struct cache_trail *trail = &m->caches->trail;
    trail->set[n] = set;
    m->record[1 + n] = 0;
    if (known.ways == 0 && level->exclusive)
        return;
    const bool dirty = known.ways == 0 && trail->dirty; /* the level filled first takes it */
    trail->dirty &= !dirty;
    m->record[1 + n] = fill(level, set, cache_sets_word(m->slot + 1, dirty), known);
}

PART bool ask_further(const struct missed *m, struct cache_level *level, uint32_t set, uint32_t known)
{
    if (ask(level, m->write, m->slot + 1, set, known))
        return true;
    level->misses[(size_t)m->write]++;
    return false;
}

/* The levels below the third: those that missed are filled from the last one up. Says how many. (By value, so that the
 * callers need not have it in memory.) */
static __attribute__((noinline)) uint32_t below_third(const struct missed m, struct cache_level *level)
{
    struct cache_level *missed[CACHES_MAX_LEVELS];
    uint32_t set[CACHES_MAX_LEVELS], count = 0;
    for (; level; level = level->next) {
        set[count] = cache_contents_set_of(level, m.line);
        if (ask_further(&m, level, set[count], 0))
            break;
        missed[count++] = level;
    }
    for (uint32_t i = count; i-- > 0;)
        fill_below(&m, missed[i], 3 + i, set[i], (struct seen){0});
    return count;
}

/* The levels below the second likewise. */
PART uint32_t below_second(const struct missed *m, struct cache_level *third, const struct shape shape)
{
    const uint32_t set = cache_contents_set_of(third, m->line);
    if (ask_further(m, third, set, shape.ways[2]))
        return 0;
    const uint32_t count = third->next ? below_third(*m, third->next) : 0;
    fill_below(m, third, 2, set, (struct seen){.ways = shape.ways[2], .shape = shape});
    return 1 + count;
}

/* What came up from an exclusive level and is dirty, and no level below the first was to be filled; one that holds
 * nothing dirty does not take it. */
PART bool take_dirty(const struct missed *m)
{
    struct cache_trail *trail = &m->caches->trail;
    const bool dirty = trail->dirty;
    trail->dirty = false;
    if (C2_LIKELY(!dirty || !m->first->clean))
        return dirty;
    trail->server->counts.writebacks++;
    write_further(trail->server->next, m->slot + 1, m->line);
    return false;
}

/* The first level is filled, the last of those that missed. */
PART enum caches_tried fill_first(const struct missed *m, uint32_t count, uint32_t set, const struct shape shape)
{
    const bool dirty = !shape.ways[0] && take_dirty(m);
    const uint32_t word = cache_sets_word(m->slot + 1, m->write || dirty);
    const uint64_t left = fill(m->first, set, word, (struct seen){shape.ways[0], shape.ways[1], {{0}}});
    m->record[0] = m->first->front.missed + m->slot +
                   (count - 1) * (UINT64_C(1) << TAPE_MISSED | UINT64_C(1) << TAPE_BEHIND);
    m->record[1] = (uint32_t)left;
    if (!shape.ways[0] && m->first->depth != 0)
        m->caches->trail.lost = (uint32_t)(left >> 32);
    if (!shape.ways[0] && C2_UNLIKELY(m->caches->trail.pushed_count != 0))
        cache_tape_push(m->caches, 1 + count);
    return CACHES_MISSED;
}

/* Of one of the first two levels. */
PART uint32_t upper_set(const struct cache_level *level, uint64_t line, const struct shape shape)
{
    return shape.ways[0] ? (uint32_t)line & level->front.set_mask : cache_contents_set_of(level, line);
}

PART struct missed missed_by(struct caches_front *front, bool write, uint32_t slot, uint64_t line)
{
    return (struct missed){front->caches, cache_level_of(front), front->tape->at, write, slot, line};
}

/* A hint for caches_far(): whatever the words between two misses are, nothing else depends on it. */
PART void look_far(const struct missed *m, const struct cache_level *second)
{
    const uintptr_t since = (uintptr_t)m->record - (uintptr_t)m->caches->far_at;
    m->caches->far_at = m->record;
    if (second->next && since < CACHE_FAR_WORDS * sizeof *m->record)
        m->caches->far = CACHE_FAR;
}

/* The second level has missed as well. Levels are asked down to the one that has the line, and those that missed are
 * filled from there up. */
PART enum caches_tried further(struct caches_front *front, bool write, uint32_t slot, uint64_t line,
                               const struct shape shape)
{
    const struct missed m = missed_by(front, write, slot, line);
    struct cache_level *second = m.first->next;
    second->misses[(size_t)write]++;
    look_far(&m, second);
    const uint32_t count = second->next ? below_second(&m, second->next, shape) : 0;
    const struct seen known = {shape.ways[1], shape.ways[2], {{0}}};
    fill_below(&m, second, 1, upper_set(second, line, shape), known);
    return fill_first(&m, count + 2, upper_set(m.first, line, shape), shape);
}

/* Any miss of any machine, at any level. */
PART enum caches_tried miss_any(struct caches_front *front, bool write, uint32_t slot, uint64_t line)
{
    const struct shape unknown = {{0}};
    const struct missed m = missed_by(front, write, slot, line);
    struct cache_level *second = m.first->next;
    C2_ASSERT(!(write && m.first->clean));
    m.first->misses[(size_t)write]++;
    cache_tape_asked(m.first, slot);
    if (second && !ask(second, write, slot + 1, upper_set(second, line, unknown), 0))
        return further(front, write, slot, line, unknown);
    return fill_first(&m, 1, upper_set(m.first, line, unknown), unknown);
}

/* The victim of a first level is dirty, all else of the miss is done. */
PART enum caches_tried wrote(struct caches_front *front, uint32_t victim, const struct shape shape)
{
    struct cache_level *first = cache_level_of(front);
    const uint32_t tag = cache_sets_tag(victim);
    first->counts.writebacks++;
    write_down(first->next, tag, cache_lines_line(first->lines, tag - 1), shape.ways[1]);
    return CACHES_MISSED;
}

/* The same of the first of several levels, nothing being above it, and of a shape that is known. What the second level
 * serves is most of it. words: of the set of the first. */
PART enum caches_tried miss(struct caches_front *front, uint32_t *words, uint64_t write, uint32_t slot, uint64_t line,
                            const struct shape shape, cache_access_function *further_down,
                            enum caches_tried (*write_victim)(struct caches_front *front, uint32_t victim))
{
    struct cache_level *first = cache_level_of(front), *second = first->next;
    C2_PROMISE(!(write && first->clean) && first->depth == 0);
    first->misses[write]++;
    front->told = slot;
    if (!ask(second, write, slot + 1, (uint32_t)line & second->front.set_mask, shape.ways[1]))
        return further_down(front, write != 0, slot, line);
    uint64_t *const at = front->tape->at;
    const uint32_t victim = words[shape.ways[0] - 1];
    sets_front(words, shape.ways[0] - 1, cache_sets_word(slot + 1, false) | (uint32_t)write, shape.ways[0]);
    at[0] = front->missed + slot;
    at[1] = cache_sets_tag(victim);
    return C2_UNLIKELY(victim & CACHE_SETS_DIRTY) ? write_victim(front, victim) : CACHES_MISSED;
}

/* ------------------------------------------------------------------ the functions of the form */

#ifndef CACHE_FORM_NAME
#define CACHE_FORM_NAME scalar
#endif
#define CACHE_JOIN2(a, b) a##b
#define CACHE_JOIN(a, b) CACHE_JOIN2(a, b)

static __attribute__((noinline)) enum caches_tried missed_any(struct caches_front *front, bool write, uint32_t slot,
                                                              uint64_t line)
{
    return miss_any(front, write, slot, line);
}

static __attribute__((noinline)) enum caches_tried access_by_policy(struct caches_front *front, bool write,
                                                                    uint32_t slot, uint64_t line)
{
    struct cache_level *first = cache_level_of(front);
    uint32_t *words = words_at(first, cache_contents_set_of(first, line), 0);
    const uint32_t place = sets_find(words, slot + 1, first->sets.ways);
    if (C2_UNLIKELY(place >= first->sets.ways))
        return missed_any(front, write, slot, line);
    front->hits[(size_t)write]++;
    words[place] |= write;
    hit_by_policy(first, &words[place]);
    return cache_tape_hit(first, slot);
}

static enum caches_tried access_any(struct caches_front *front, bool write, uint32_t slot, uint64_t line)
{
    struct cache_level *first = cache_level_of(front);
    if (!first->ordered)
        return access_by_policy(front, write, slot, line);
    uint32_t *words = words_at(first, cache_contents_set_of(first, line), 0);
    front->youngest = words;
    if (C2_UNLIKELY(!sets_hit(words, slot + 1, write, first->sets.ways)))
        return missed_any(front, write, slot, line);
    front->hits[(size_t)write]++;
    return cache_tape_hit(first, slot);
}

#if CACHE_FORM != CACHE_FORM_SCALAR

/* A function without calls but at its end: so neither a hit nor what the second level serves needs a stack. */
PART enum caches_tried access(struct caches_front *front, bool write, uint32_t slot, uint64_t line,
                              const struct shape shape, cache_access_function *further_down,
                              enum caches_tried (*write_victim)(struct caches_front *front, uint32_t victim))
{
    uint32_t *words = words_at(cache_level_of(front), (uint32_t)line & front->set_mask, shape.ways[0]);
    front->youngest = words;
    if (C2_UNLIKELY(!sets_hit(words, slot + 1, write, shape.ways[0])))
        return miss(front, words, write, slot, line, shape, further_down, write_victim);
    front->hits[(size_t)write]++;
    return cache_tape_hit(cache_level_of(front), slot);
}

/* The access of machines of one shape; CACHE_SHAPES. */
#define SHAPE_OF(one, two, three) ((const struct shape){{one, two, three}})
#define SHAPED(name, one, two, three) \
    static __attribute__((noinline)) enum caches_tried further_##name(struct caches_front *front, bool write, \
                                                                      uint32_t slot, uint64_t line) \
    { \
        return further(front, write, slot, line, SHAPE_OF(one, two, three)); \
    } \
    static __attribute__((noinline)) enum caches_tried wrote_##name(struct caches_front *front, uint32_t victim) \
    { \
        return wrote(front, victim, SHAPE_OF(one, two, three)); \
    } \
    static enum caches_tried missed_##name(struct caches_front *front, bool write, uint32_t slot, uint64_t line) \
    { \
        return miss(front, front->youngest, write, slot, line, SHAPE_OF(one, two, three), further_##name, \
                    wrote_##name); \
    } \
    static enum caches_tried access_##name(struct caches_front *front, bool write, uint32_t slot, uint64_t line) \
    { \
        return access(front, write, slot, line, SHAPE_OF(one, two, three), further_##name, wrote_##name); \
    }

CACHE_SHAPES(SHAPED)
#define SHAPED_ROW(name, one, two, three) {{one, two, three}, access_##name, missed_##name},
#endif

const struct cache_form CACHE_JOIN(cache_form_, CACHE_FORM_NAME) = {
    .any = access_any,
    .any_missed = missed_any,
#if CACHE_FORM != CACHE_FORM_SCALAR
    .shaped = {CACHE_SHAPES(SHAPED_ROW)},
#endif
};

#endif
