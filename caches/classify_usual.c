/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * classify_usual: what is said of nearly all that is on a event log, in one loop.
 *
 * Model
 *   Nearly all records are hits of the first level of the data path, or of L1I, in lines that their shadows have, and
 *   misses of the first level of the data path that the second serves, which have no listener or are only counted.
 *   The loop says these, and what it says is what classify.c would say; it ends at the first word that is something
 *   else. What it needs of shadows and rows is in registers meanwhile. Rows are asked of the host's memory ahead. There
 *   are several such loops, made from one: without evictors, for narrow ones and for wide ones.
 *
 * Counting
 *   Of each level only lines that enter the shadow are counted one by one, as if they had been taken from those that it
 *   has; how many there were of these is known behind the loop.
 *
 * Invariants
 *   No clock of these levels gets beyond its shadow's stop: it goes on once a word at most, whichever loop it is, so
 *   words are said in fetch runs of which no shadow of them is to be cleaned.
 */
#include "caches/event_log_priv.h"

/* Shapes of first words: what is above the slot, without the caller's bits. */
#define SHAPE_MISS (1u << (EVENT_LOG_MISSED - EVENT_LOG_LEVEL_INDEX))
#define SHAPE_BRIEF ((uint32_t)(EVENT_LOG_COMPACT_FIRST >> EVENT_LOG_LEVEL_INDEX))
_Static_assert(EVENT_LOG_BITS - EVENT_LOG_LEVEL_INDEX == 16, "a shape has 16 bits");

/* Of a shadow, what is in registers meanwhile. */
struct asked {
    uint32_t clock, horizon;
};

static inline struct asked classify_usual_asked_of(const struct cache_classified *level)
{
    return (struct asked){level->shadow.clock, level->shadow.horizon};
}

/* ------------------------------------------------------------------ fetch runs */

/* How many words may be said before the level's shadow is to be cleaned. */
static uint32_t room_of(struct cache_classified *level)
{
    struct cache_shadow *shadow = &level->shadow;
    if (!shadow->log)
        return UINT32_MAX; /* there is no such level */
    if (C2_UNLIKELY(shadow->clock >= shadow->stop))
        cache_shadow_clean(shadow);
    return shadow->stop - shadow->clock;
}

size_t cache_classifier_fetch_run(struct cache_classifier *classifier, size_t words)
{
    const uint32_t level_indices[] = {0, 1, classifier->rows.level_indices};
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t room = room_of(&classifier->level[level_indices[i]]);
        words = room < words ? room : words;
    }
    return words;
}

/* ------------------------------------------------------------------ shadows */

/* The clock has gone on, for hits of lines that the shadow had, until more is known of them. */
static inline void bring_up_to(struct cache_classified *level, uint32_t clock)
{
    level->said[0][CACHES_CONFLICT] += clock - level->shadow.clock;
    level->shadow.clock = clock;
}

/* The last line accessed enters the shadow, old being its stamp so far. */
static __attribute__((noinline)) enum caches_class classify_usual_enter(struct cache_classified *level, uint32_t clock,
                                                                        uint32_t slot, uint32_t old, bool missed)
{
    const enum caches_class class_ = old == 0 ? CACHES_COLD : CACHES_CAPACITY;
    bring_up_to(level, clock);
    cache_shadow_enter(&level->shadow, slot);
    level->said[missed][class_]++;
    level->said[missed][CACHES_CONFLICT]--;
    return class_;
}

/* cache_shadow_touch(), of a shadow that is not to be cleaned. */
static inline __attribute__((always_inline)) enum caches_class classify_usual_touch(struct cache_classified *level,
                                                                                    struct asked *asked,
                                                                                    uint32_t *stamp, uint32_t slot,
                                                                                    const bool missed)
{
    const uint32_t old = *stamp;
    *stamp = asked->clock++;
    if (C2_LIKELY(old >= asked->horizon))
        return CACHES_CONFLICT;
    const enum caches_class class_ = classify_usual_enter(level, asked->clock, slot, old, missed);
    asked->horizon = level->shadow.horizon;
    return class_;
}

/* ------------------------------------------------------------------ evictors */

/* Of access sites whose words have 32 bits at most, and 16 where evictors are narrow. evictors: a constant. */
static inline __attribute__((always_inline)) bool classify_usual_fits(const enum cache_rows_evictors evictors,
                                                                      uint32_t access_site)
{
    return C2_LIKELY(evictors != CACHE_ROWS_NARROW || access_site <= UINT16_MAX);
}

/* cache_rows_evictor(), of a level of the data path. */
static inline __attribute__((always_inline)) uint64_t evictor_of(const struct cache_rows *rows,
                                                                 const enum cache_rows_evictors evictors, uint32_t slot,
                                                                 uint32_t level_index)
{
    const size_t at = (size_t)slot * rows->level_indices + level_index;
    if (evictors == CACHE_ROWS_NARROW)
        return rows->narrow[at];
    const uint32_t *const high = rows->high[slot >> LINES_GROUP_SHIFT];
    return C2_LIKELY(!high) ? rows->evictor[at]
                            : (uint64_t)high[cache_rows_high_at(rows, slot, level_index)] << 32 | rows->evictor[at];
}

/* cache_rows_lose(), likewise, to an access site that fits. */
static inline __attribute__((always_inline)) void lose_to(const struct cache_rows *rows,
                                                          const enum cache_rows_evictors evictors, uint32_t slot,
                                                          uint32_t level_index, uint32_t access_site)
{
    const size_t at = (size_t)slot * rows->level_indices + level_index;
    if (evictors == CACHE_ROWS_NARROW) {
        rows->narrow[at] = (uint16_t)access_site;
        return;
    }
    uint32_t *const high = rows->high[slot >> LINES_GROUP_SHIFT];
    rows->evictor[at] = access_site;
    if (C2_UNLIKELY(high))
        high[cache_rows_high_at(rows, slot, level_index)] = 0;
}

/* The next miss that is counted, if it is. */
static inline __attribute__((always_inline)) void classify_usual_count(struct caches_compact **next,
                                                                       uint32_t access_site, uint64_t evictor,
                                                                       uint32_t bits, uint32_t level,
                                                                       enum caches_class class_)
{
    struct caches_compact *const compact = *next;
    compact->access_site = access_site;
    compact->evictor = (uint32_t)evictor;
    compact->bits = (uint16_t)bits;
    compact->same_high = evictor >> 32 == 0;
    compact->level = (uint8_t)level;
    compact->class_ = (uint8_t)class_;
    if (C2_LIKELY(bits != 0))
        ++*next;
}

/* ------------------------------------------------------------------ the loop */

struct usual {
    struct asked data, second, code;
    uint64_t misses;
    struct caches_compact *count; /* where the next miss that is counted goes */
};

/* A hit of L1I; false: its shadow does not have the line. */
static inline bool classify_usual_run_code(struct usual *u, const struct cache_rows *rows, uint32_t slot)
{
    struct cache_beside *const beside = rows->stamps.beside[slot >> LINES_GROUP_SHIFT];
    if (C2_UNLIKELY(!beside))
        return false;
    uint32_t *const stamp = &beside->stamp[slot & (LINES_GROUP - 1)];
    if (C2_UNLIKELY(*stamp < u->code.horizon))
        return false;
    *stamp = u->code.clock++;
    return true;
}

/* The first level misses, the second has the line, if there is one. */
static inline __attribute__((always_inline)) enum caches_class say_missed(struct cache_classifier *classifier,
                                                                          struct usual *u, uint32_t *row, uint32_t slot)
{
    u->misses++;
    if (C2_LIKELY(classifier->level_count > 1))
        classify_usual_touch(&classifier->level[1], &u->second, &row[1], slot, false);
    return classify_usual_touch(&classifier->level[0], &u->data, &row[0], slot, true);
}

/* The same, counted; words: its two. false: nothing is said, as there is no room, or it is not what it mostly is. */
static inline __attribute__((always_inline)) bool say_compact(struct cache_classifier *classifier,
                                                              const enum cache_rows_evictors evictors, struct usual *u,
                                                              uint32_t *row, const uint64_t *words)
{
    const uint32_t slot = (uint32_t)words[0], victim = event_log_victim(words[1]),
                   access_site = (uint32_t)(words[1] >> 32);
    if (C2_UNLIKELY(victim == 0 || u->count >= &classifier->count[CLASSES_COUNTED - CACHES_MAX_LEVELS]) ||
        !classify_usual_fits(evictors, access_site))
        return false;
    const uint64_t evictor = evictor_of(&classifier->rows, evictors, slot, 0);
    lose_to(&classifier->rows, evictors, victim - 1, 0, access_site);
    const enum caches_class class_ = say_missed(classifier, u, row, slot);
    classify_usual_count(&u->count, access_site, evictor, (uint32_t)(words[0] >> EVENT_LOG_BITS), 0, class_);
    return true;
}

/* Says a record, kind being what its first word has above the slot; returns of how many words it is, 0: it is something
 * else. */
static inline __attribute__((always_inline)) unsigned classify_usual_run_record(struct cache_classifier *classifier,
                                                                                const enum cache_rows_evictors evictors,
                                                                                struct usual *u, uint32_t *row,
                                                                                uint32_t kind, const uint64_t *word)
{
    const uint32_t slot = (uint32_t)*word;
    if (kind == 0) {
        if (C2_UNLIKELY(*row < u->data.horizon))
            return 0;
        *row = u->data.clock++;
        return 1;
    }
    if (kind == classifier->rows.level_indices)
        return classify_usual_run_code(u, &classifier->rows, slot) ? 1 : 0;
    if (evictors != CACHE_ROWS_NONE)
        return (uint16_t)kind == SHAPE_BRIEF && say_compact(classifier, evictors, u, row, word) ? 2 : 0;
    if (kind != SHAPE_MISS)
        return 0;
    say_missed(classifier, u, row, slot);
    return 1;
}

/* A power of two, so that what is no slot becomes one without a question, or the place of a row that is not there,
 * which the host may be asked for. */
static inline uint32_t slots_below(const struct cache_rows *rows)
{
    const uint32_t slots = rows->stamps.groups << LINES_GROUP_SHIFT;
    return slots > 1 ? UINT32_C(1) << (32 - __builtin_clz(slots - 1)) : 1;
}

/* Until `stop` no shadow is to be cleaned. */
static inline __attribute__((always_inline)) const uint64_t *say_fetch_run(struct cache_classifier *classifier,
                                                                           const enum cache_rows_evictors evictors,
                                                                           struct usual *u, const uint64_t *word,
                                                                           const uint64_t *stop)
{
    const uint32_t level_indices = classifier->rows.level_indices, slots = slots_below(&classifier->rows);
    uint32_t *const stamps = classifier->rows.stamps.word;
    while (word < stop) {
        uint32_t *const row = &stamps[(size_t)(uint32_t)*word * level_indices];
        const uint32_t ahead = (uint32_t)word[CLASSES_AHEAD] & (slots - 1);
        __builtin_prefetch((const void *)((uintptr_t)stamps + (size_t)ahead * level_indices * sizeof *stamps), 1);
        const unsigned said = classify_usual_run_record(classifier, evictors, u, row,
                                                        (uint32_t)(*word >> EVENT_LOG_LEVEL_INDEX), word);
        if (said == 0)
            break;
        word += said;
    }
    return word;
}

static inline __attribute__((always_inline)) const uint64_t *classify_usual_run(struct cache_classifier *classifier,
                                                                                const enum cache_rows_evictors evictors,
                                                                                const uint64_t *word,
                                                                                const uint64_t *stop)
{
    struct cache_classified *const level = classifier->level, *const code = &level[classifier->rows.level_indices];
    struct usual u = {classify_usual_asked_of(&level[0]), classify_usual_asked_of(&level[1]),
                      classify_usual_asked_of(code), 0, &classifier->count[classifier->counted]};
    word = say_fetch_run(classifier, evictors, &u, word, stop);
    classifier->counted = (uint32_t)(u.count - classifier->count);
    bring_up_to(&level[0], u.data.clock);
    if (classifier->level_count > 1)
        bring_up_to(&level[1], u.second.clock);
    bring_up_to(code, u.code.clock);
    level[0].said[0][CACHES_CONFLICT] -= u.misses;
    level[0].said[1][CACHES_CONFLICT] += u.misses;
    return word;
}

/* One for each kind, so that what a loop does not need is not in it. */
#define LOOP(name, evictors) \
    static __attribute__((noinline)) const uint64_t *name(struct cache_classifier *classifier, const uint64_t *word, \
                                                          const uint64_t *stop) \
    { \
        return classify_usual_run(classifier, evictors, word, stop); \
    }
LOOP(say_unkept, CACHE_ROWS_NONE)
LOOP(say_narrow, CACHE_ROWS_NARROW)
LOOP(say_wide, CACHE_ROWS_WIDE)

const uint64_t *cache_classifier_usual(struct cache_classifier *classifier, const uint64_t *word, const uint64_t *stop)
{
    switch (classifier->rows.evictors) {
    case CACHE_ROWS_NARROW:
        return say_narrow(classifier, word, stop);
    case CACHE_ROWS_WIDE:
        return say_wide(classifier, word, stop);
    default:
        return say_unkept(classifier, word, stop);
    }
}
