/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * verdict: what is said of the accesses of a usual machine: classes, evictors, outcomes. The rules are those of
 * hierarchy.c.
 *
 * Model
 *   Everything is said from the tape that the contents leave (tape.c), in its order, and nothing of it changes what a
 *   level holds. Each level asked touches its shadow, which says the class of a miss; each level that lost a line
 *   learns who made it.
 *
 * Counting
 *   By level: the class that the shadow says, of hits and of misses. A hit that the shadow does not have is one that a
 *   fully associative cache would miss.
 */
#include "caches/contents_priv.h"
#include "caches/tape_priv.h"

#define AHEAD 24u /* words: of what comes then the row is asked of the host's memory now */

void cache_verdicts_init(struct cache_verdicts *verdicts, struct caches *caches)
{
    verdicts->level_count = caches->level_count;
    cache_lines_bare(&caches->lines);
    verdicts->rows.columns = verdicts->rows.stamps.width = caches->level_count;
    for (uint32_t i = 0; i < caches->node_count; i++) {
        struct cache_shadow *shadow = &verdicts->level[i].shadow;
        *shadow = caches->level[i].shadow;
        shadow->stamps = &verdicts->rows.stamps;
        shadow->at = i < caches->level_count ? i : LINES_BESIDE;
        caches->level[i].shadow = (struct cache_shadow){.log = NULL};
    }
}

void cache_verdicts_end(struct cache_verdicts *verdicts)
{
    if (!verdicts)
        return;
    for (uint32_t i = 0; i < CACHES_MAX_LEVELS + 1; i++)
        cache_shadow_end(&verdicts->level[i].shadow);
    cache_rows_end(&verdicts->rows);
    c2_free(verdicts);
}

/* Not every word is the first of a record; rows that there are do no harm. */
static inline void prefetch_row(const struct cache_rows *rows, uint32_t slot)
{
    const uint32_t slots = rows->stamps.groups << LINES_GROUP_SHIFT;
    __builtin_prefetch(&rows->stamps.word[(size_t)(slot < slots ? slot : 0) * rows->columns], 1);
}

/* A level was asked for the line, of which it keeps this stamp. */
static inline enum caches_class touch(struct cache_judged *level, uint32_t *stamp, uint32_t slot, bool missed)
{
    const enum caches_class class_ = cache_shadow_touch(&level->shadow, stamp, slot);
    level->said[missed][class_]++;
    return class_;
}

/* ------------------------------------------------------------------ misses */

/* A record of a miss that somebody wants to hear of. */
struct heard {
    const struct caches_noted *noted;
    const uint64_t *passed; /* [level that missed] */
    uint64_t lost;          /* above the levels that missed, 8 bits each */
};

static inline void tell(const struct cache_rows *rows, struct caches_outcome *outcome, uint32_t depth, uint64_t evictor,
                        uint64_t passed, enum caches_class class_)
{
    struct caches_event *event = &outcome->event[depth];
    const uint32_t victim = (uint32_t)passed;
    event->class_ = class_;
    event->set_number = event->victim_set = (uint32_t)(passed >> 32);
    event->evictor = evictor;
    C2_PROMISE(class_ != CACHES_COLD || event->evictor == 0);
    if (C2_UNLIKELY(victim == 0))
        return;
    event->victim.v = cache_rows_line(rows, victim - 1);
    outcome->evicted |= 1u << depth;
}

static inline void lose(struct cache_rows *rows, const struct heard *heard, uint32_t column, uint32_t victim,
                        uint64_t above)
{
    cache_rows_lose(rows, victim - 1, column, heard->noted->actor);
    for (; C2_UNLIKELY(above != 0); above &= above - 1)
        cache_rows_lose(rows, victim - 1, (uint32_t)__builtin_ctzll(above), heard->noted->actor);
}

/* One level after the other; returns the depth of that which has the line. An access does not make the levels lose its
 * own line, so what is known of it may be read first. column, missed: as the record says, constants where they are what
 * they mostly are. heard: NULL: nobody wants to hear of it. */
static inline __attribute__((always_inline)) uint32_t judge(struct cache_verdicts *verdicts, uint32_t slot,
                                                            uint32_t column, const uint32_t missed,
                                                            const struct heard *heard, struct caches_outcome *outcome)
{
    struct cache_rows *rows = &verdicts->rows;
    const bool kept = heard && rows->has_evictors;
    uint32_t depth = column == 0 ? 0 : tape_depth(verdicts, column), *const row = cache_rows_stamp(rows, slot, 0);
    uint32_t *stamp = column == 0 ? row : cache_rows_stamp(rows, slot, column);
    for (uint32_t i = 0; i < missed; i++) {
        const enum caches_class class_ = touch(&verdicts->level[column], stamp, slot, true);
        if (heard)
            tell(rows, outcome, depth, kept ? cache_rows_evictor(rows, slot, column) : 0, heard->passed[i], class_);
        if (kept && C2_LIKELY((uint32_t)heard->passed[i] != 0))
            lose(rows, heard, column, (uint32_t)heard->passed[i], heard->lost >> 8 * i & UINT8_MAX);
        column = ++depth;
        stamp = &row[depth];
    }
    if (depth < verdicts->level_count)
        touch(&verdicts->level[depth], stamp, slot, false);
    return depth;
}

static inline void end_outcome(const struct cache_verdicts *verdicts, struct caches_outcome *outcome, uint32_t server)
{
    const bool memory = server == verdicts->level_count;
    outcome->served_by = server;
    outcome->depth = server + !memory;
    if (!memory)
        outcome->event[server].class_ = CACHES_HIT;
}

/* words: behind the first one. lost: as in struct heard. */
static inline __attribute__((always_inline)) enum c2_status say_heard(
    struct cache_verdicts *verdicts, uint32_t slot, uint32_t column, const uint32_t missed, const uint64_t *words,
    const uint64_t lost, const struct caches_hearer *hearer, struct caches_outcome *outcome, struct c2_error *err)
{
    const struct heard heard = {.noted = (const struct caches_noted *)words, .passed = words + TAPE_HEAD, .lost = lost};
    outcome->evicted = 0;
    end_outcome(verdicts, outcome, judge(verdicts, slot, column, missed, &heard, outcome));
    if (!hearer)
        return C2_OK;
    const struct line_no line = {cache_rows_line(&verdicts->rows, slot)};
    return hearer->told(hearer->self, heard.noted, line, outcome, err);
}

/* lost is behind what is said of levels, where it may be anything but 0: see put_miss() in tape.c. */
static __attribute__((noinline)) enum c2_status say_further(struct cache_verdicts *verdicts, uint64_t first,
                                                            const uint64_t *words, const struct caches_hearer *hearer,
                                                            struct caches_outcome *outcome, struct c2_error *err)
{
    const uint32_t missed = first >> TAPE_MISSED & 15, behind = (uint8_t)(first >> TAPE_BEHIND);
    const uint64_t lost = behind > TAPE_HEAD + missed ? words[TAPE_HEAD + missed] : 0;
    return say_heard(verdicts, (uint32_t)first, first >> TAPE_COLUMN & 15, missed, words, lost, hearer, outcome, err);
}

static enum c2_status no_memory(struct c2_error *err) { return c2_fail_memory(err, "the table of lines accessed"); }

static __attribute__((noinline)) enum c2_status say_else(struct cache_verdicts *verdicts, uint64_t first,
                                                         const uint64_t *words, const struct caches_hearer *hearer,
                                                         struct c2_error *err)
{
    const struct line_no none = {0};
    if ((first >> TAPE_COLUMN & 15) == TAPE_NOTE)
        return hearer->told(hearer->self, (const struct caches_noted *)words, none, NULL, err);
    return cache_rows_add(&verdicts->rows, words[0]) ? C2_OK : no_memory(err);
}

/* ------------------------------------------------------------------ hits */

/* Hits of the first level of the data path in lines that its shadow has: nearly all hits are, and they come in rows, so
 * what they need of the shadow is in registers. Returns the first word that is something else. */
static inline const uint64_t *say_hits(struct cache_verdicts *verdicts, const uint64_t *word, const uint64_t *end)
{
    struct cache_shadow *const shadow = &verdicts->level[0].shadow;
    const struct cache_rows *const rows = &verdicts->rows;
    const uint32_t horizon = shadow->horizon, stop = shadow->stop, first = shadow->clock;
    const uint32_t columns = rows->columns, slots = rows->stamps.groups << LINES_GROUP_SHIFT;
    uint32_t *const stamps = rows->stamps.word, clock = first;
    for (; word < end && *word >> TAPE_COLUMN == 0 && SHORTCUT(clock < stop); word++, clock++) {
        const uint32_t ahead = (uint32_t)word[AHEAD];
        uint32_t *stamp = &stamps[(size_t)(uint32_t)*word * columns];
        __builtin_prefetch(&stamps[(size_t)(ahead < slots ? ahead : 0) * columns], 1);
        if (*stamp < horizon)
            break;
        *stamp = clock;
    }
    shadow->clock = clock;
    verdicts->level[0].said[0][CACHES_CONFLICT] += clock - first;
    return word;
}

/* A hit of L1I in a line that its shadow has; false: the shadow does not have it, and nothing has changed. */
static inline bool say_code_hit(struct cache_verdicts *verdicts, uint32_t slot)
{
    struct cache_judged *const level = &verdicts->level[verdicts->rows.columns];
    struct cache_beside *const beside = verdicts->rows.stamps.beside[slot >> LINES_GROUP_SHIFT];
    const uint32_t clock = level->shadow.clock;
    if (C2_UNLIKELY(!beside))
        return false;
    uint32_t *stamp = &beside->stamp[slot & (LINES_GROUP - 1)];
    if (!SHORTCUT(*stamp >= level->shadow.horizon && clock < level->shadow.stop))
        return false;
    *stamp = clock;
    level->shadow.clock = clock + 1;
    level->said[0][CACHES_CONFLICT]++;
    return true;
}

/* ------------------------------------------------------------------ a tape */

enum c2_status cache_verdicts_say(struct cache_verdicts *verdicts, const uint64_t *words, size_t count,
                                  const struct caches_hearer *hearer, struct caches_outcome *outcome,
                                  struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (const uint64_t *word = words, *const end = words + count; status == C2_OK;) {
        word = say_hits(verdicts, word, end);
        if (word == end)
            break;
        const uint64_t first = *word++;
        if (first >> TAPE_COLUMN == verdicts->rows.columns && say_code_hit(verdicts, (uint32_t)first))
            continue;
        const uint32_t column = first >> TAPE_COLUMN & 15, behind = (uint8_t)(first >> TAPE_BEHIND);
        prefetch_row(&verdicts->rows, (uint32_t)word[AHEAD]);
        if (first >> TAPE_MISSED == 0)
            touch(&verdicts->level[column], cache_rows_stamp(&verdicts->rows, (uint32_t)first, column), (uint32_t)first,
                  false);
        else if (behind == 0)
            judge(verdicts, (uint32_t)first, column, first >> TAPE_MISSED & 15, NULL, NULL);
        else if (C2_LIKELY(column == 0 && behind == TAPE_HEAD + 1))
            status = say_heard(verdicts, (uint32_t)first, 0, 1, word, 0, hearer, outcome, err);
        else if (column < TAPE_NOTE)
            status = say_further(verdicts, first, word, hearer, outcome, err);
        else
            status = say_else(verdicts, first, word, hearer, err);
        word += behind;
    }
    return status == C2_OK && C2_UNLIKELY(verdicts->rows.failed) ? no_memory(err) : status;
}

void cache_verdicts_check(const struct cache_verdicts *verdicts, uint32_t columns)
{
    cache_rows_check(&verdicts->rows);
    for (uint32_t i = 0; i < columns; i++)
        cache_shadow_check(&verdicts->level[i].shadow);
}
