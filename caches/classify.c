/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * class: what is said of the accesses of a usual machine: classes, evictors, outcomes. The rules are those of
 * hierarchy.c.
 *
 * Model
 *   Everything is said from the event log that the contents leave (event log.c), in its order, and nothing of it
 *   changes what a level holds. Each level asked touches its shadow, which says the class of a miss; each level that
 *   lost a line gets its access site. Misses that are only counted are kept until there are many, or the event log
 *   ends, or something else is notified: so the counting listener is called once for many. What nearly all records are
 *   is said by loops of their own (classify_usual.c); this file says any record.
 *
 * Counting
 *   By level: the class that the shadow says, of hits and of misses. A hit that the shadow does not have is one that a
 *   fully associative cache would miss.
 */
#include "caches/contents_priv.h"
#include "caches/event_log_priv.h"

void cache_classifier_init(struct cache_classifier *classifier, struct caches *caches)
{
    C2_ASSERT(caches->usual && caches->node_count <= CACHES_MAX_LEVELS + 1);
    classifier->level_count = caches->level_count;
    cache_lines_bare(&caches->lines);
    classifier->rows.level_indices = classifier->rows.stamps.width = caches->level_count;
    for (uint32_t i = 0; i < caches->node_count; i++) {
        struct cache_shadow *shadow = &classifier->level[i].shadow;
        *shadow = caches->level[i].shadow;
        shadow->stamps = &classifier->rows.stamps;
        shadow->at = i < caches->level_count ? i : LINES_BESIDE;
        classifier->exclusive |= (uint32_t)caches->level[i].exclusive << i;
        caches->level[i].shadow = (struct cache_shadow){.log = NULL};
    }
}

void cache_classifier_end(struct cache_classifier *classifier)
{
    if (!classifier)
        return;
    for (uint32_t i = 0; i < CACHES_MAX_LEVELS + 1; i++)
        cache_shadow_end(&classifier->level[i].shadow);
    cache_rows_end(&classifier->rows);
    c2_free(classifier);
}

/* Not every word is the first of a record; rows that there are do no harm. */
static inline void prefetch_row(const struct cache_rows *rows, uint32_t slot)
{
    const uint32_t slots = rows->stamps.groups << LINES_GROUP_SHIFT;
    __builtin_prefetch(&rows->stamps.word[(size_t)(slot < slots ? slot : 0) * rows->level_indices], 1);
}

/* A level was asked for the line, of which it keeps this stamp. */
static inline enum caches_class classify_touch(struct cache_classified *level, uint32_t *stamp, uint32_t slot,
                                               bool missed)
{
    const enum caches_class class_ = cache_shadow_touch(&level->shadow, stamp, slot);
    level->said[missed][class_]++;
    return class_;
}

/* A line that the level was never asked for it has not lost. */
static bool classify_knows(struct cache_classifier *classifier, uint32_t slot, uint32_t level_index,
                           enum caches_class class_)
{
    C2_ASSERT(class_ != CACHES_COLD || classifier->exclusive >> level_index & 1 ||
              cache_rows_evictor(&classifier->rows, slot, level_index) == 0);
    return true;
}

/* ------------------------------------------------------------------ misses */

/* A record of a miss with a listener. */
struct heard {
    const struct caches_noted *noted;
    const uint64_t *passed; /* [level that missed] */
    uint64_t lost;          /* above the levels that missed, 8 bits each */
};

static inline void classify_notify(const struct cache_rows *rows, struct caches_outcome *outcome, uint32_t depth,
                                   uint64_t evictor, uint64_t passed, enum caches_class class_)
{
    C2_PROMISE(depth < CACHES_MAX_LEVELS);
    struct caches_event *event = &outcome->event[depth];
    const uint32_t victim = (uint32_t)passed;
    event->class_ = class_;
    event->set_number = event->victim_set = (uint32_t)(passed >> 32);
    event->evictor = evictor;
    if (C2_UNLIKELY(victim == 0))
        return;
    event->victim.v = cache_rows_line(rows, victim - 1);
    outcome->evicted |= 1u << depth;
}

static inline void classify_lose(struct cache_rows *rows, uint64_t access_site, uint32_t level_index, uint32_t victim,
                                 uint64_t above)
{
    C2_PROMISE(victim != 0 && rows->evictors != CACHE_ROWS_NONE);
    cache_rows_lose(rows, victim - 1, level_index, access_site);
    for (; C2_UNLIKELY(above != 0); above &= above - 1)
        cache_rows_lose(rows, victim - 1, (uint32_t)__builtin_ctzll(above), access_site);
}

/* Lines that exclusive levels lose to the miss: said when it is. outcome: or NULL. */
static __attribute__((noinline)) void say_pushed(struct cache_classifier *classifier, uint64_t access_site,
                                                 struct caches_outcome *outcome)
{
    C2_PROMISE(classifier->pushed_count <= CACHE_MAX_PUSHED);
    struct cache_rows *rows = &classifier->rows;
    for (uint32_t i = 0; i < classifier->pushed_count; i++) {
        const struct cache_pushed *pushed = &classifier->pushed[i];
        if (rows->evictors != CACHE_ROWS_NONE)
            cache_rows_lose(rows, pushed->slot, pushed->level_index, access_site);
        if (!outcome || pushed->set == CACHE_MOVED)
            continue;
        outcome->evicted |= 1u << pushed->level_index; /* of the data path, whose level indices are depths */
        outcome->event[pushed->level_index].victim.v = cache_rows_line(rows, pushed->slot);
        outcome->event[pushed->level_index].victim_set = pushed->set;
    }
    classifier->pushed_count = 0;
}

/* One level after the other; returns the depth of that which has the line. An access does not make the levels lose its
 * own line, so what is known of it may be read first. level index, missed: as the record says, constants where they are
 * what they mostly are. heard: NULL: no listener. */
static inline __attribute__((always_inline)) uint32_t classify_miss(struct cache_classifier *classifier, uint32_t slot,
                                                                    uint32_t level_index, const uint32_t missed,
                                                                    const struct heard *heard,
                                                                    struct caches_outcome *outcome)
{
    struct cache_rows *rows = &classifier->rows;
    const bool kept = heard && rows->evictors != CACHE_ROWS_NONE;
    uint32_t depth = level_index == 0 ? 0 : event_log_depth(classifier, level_index), *const row = cache_rows_stamp(
                                                                                          rows, slot, 0);
    uint32_t *stamp = level_index == 0 ? row : cache_rows_stamp(rows, slot, level_index);
    C2_PROMISE(depth + missed <= classifier->level_count);
    for (uint32_t i = 0; i < missed; i++) {
        const enum caches_class class_ = classify_touch(&classifier->level[level_index], stamp, slot, true);
        C2_PROMISE(!kept || classify_knows(classifier, slot, level_index, class_));
        if (heard)
            classify_notify(rows, outcome, depth, kept ? cache_rows_evictor(rows, slot, level_index) : 0,
                            heard->passed[i], class_);
        if (kept && C2_LIKELY((uint32_t)heard->passed[i] != 0))
            classify_lose(rows, heard->noted->access_site, level_index, (uint32_t)heard->passed[i],
                          heard->lost >> 8 * i & UINT8_MAX);
        level_index = ++depth;
        stamp = &row[depth];
    }
    if (depth < classifier->level_count)
        classify_touch(&classifier->level[depth], stamp, slot, false);
    return depth;
}

static inline void end_outcome(const struct cache_classifier *classifier, struct caches_outcome *outcome,
                               uint32_t server)
{
    C2_PROMISE(server <= classifier->level_count);
    const bool memory = server == classifier->level_count;
    outcome->served_by = server;
    outcome->depth = server + !memory;
    if (!memory)
        outcome->event[server].class_ = CACHES_HIT;
}

static inline void say_unheard(struct cache_classifier *classifier, uint32_t slot, uint32_t level_index,
                               uint32_t missed)
{
    classify_miss(classifier, slot, level_index, missed, NULL, NULL);
    classifier->pushed_count = 0;
}

/* words: behind the first one. lost: as in struct heard. */
static inline __attribute__((always_inline)) enum c2_status say_heard(
    struct cache_classifier *classifier, uint32_t slot, uint32_t level_index, const uint32_t missed,
    const uint64_t *words, const uint64_t lost, const struct caches_listener *listener, struct caches_outcome *outcome,
    struct c2_error *err)
{
    const struct heard heard = {.noted = (const struct caches_noted *)words, .passed = words + TAPE_HEAD, .lost = lost};
    outcome->evicted = 0;
    end_outcome(classifier, outcome, classify_miss(classifier, slot, level_index, missed, &heard, outcome));
    if (C2_UNLIKELY(classifier->pushed_count != 0))
        say_pushed(classifier, heard.noted->access_site, outcome);
    if (!listener)
        return C2_OK;
    const struct line_no line = {cache_rows_line(&classifier->rows, slot)};
    return listener->notified(listener->self, heard.noted, line, outcome, err);
}

/* lost is behind what is said of levels, where it may be anything but 0: see put_miss() in event log.c. */
static __attribute__((noinline)) enum c2_status say_further(struct cache_classifier *classifier, uint64_t first,
                                                            const uint64_t *words,
                                                            const struct caches_listener *listener,
                                                            struct caches_outcome *outcome, struct c2_error *err)
{
    const uint32_t missed = first >> TAPE_MISSED & 15, behind = first >> TAPE_BEHIND & TAPE_BEHIND_MASK;
    const uint64_t lost = behind > TAPE_HEAD + missed ? words[TAPE_HEAD + missed] : 0;
    return say_heard(classifier, (uint32_t)first, first >> TAPE_COLUMN & 15, missed, words, lost, listener, outcome,
                     err);
}

/* ------------------------------------------------------------------ misses that are only counted */

static __attribute__((noinline)) enum c2_status say_counted(struct cache_classifier *classifier,
                                                            const struct caches_listener *listener,
                                                            struct c2_error *err)
{
    C2_PROMISE(classifier->counted <= VERDICTS_COUNTED);
    const uint32_t count = classifier->counted;
    classifier->counted = 0;
    return count != 0 ? listener->counted(listener->self, classifier->count, count, err) : C2_OK;
}

/* A level has missed the line, and loses the victim, which those above have lost too. bits: 0: not to be counted. */
static inline __attribute__((always_inline)) void count_compactly(struct cache_classifier *classifier, uint32_t slot,
                                                                  uint32_t level_index, enum caches_class class_,
                                                                  uint64_t access_site, uint32_t bits, uint32_t victim,
                                                                  uint32_t above)
{
    C2_PROMISE(classifier->counted < VERDICTS_COUNTED);
    struct cache_rows *rows = &classifier->rows;
    const bool kept = rows->evictors != CACHE_ROWS_NONE;
    const uint64_t evictor = kept ? cache_rows_evictor(rows, slot, level_index) : 0;
    if (kept && C2_LIKELY(victim != 0))
        classify_lose(rows, access_site, level_index, victim, above);
    C2_PROMISE(!kept || classify_knows(classifier, slot, level_index, class_));
    classifier->count[classifier->counted] = (struct caches_compact){.access_site = (uint32_t)access_site,
                                                                     .evictor = (uint32_t)evictor,
                                                                     .bits = (uint16_t)bits,
                                                                     .level = (uint8_t)level_index,
                                                                     .class_ = (uint8_t)class_,
                                                                     .same_high = access_site >> 32 == evictor >> 32};
    classifier->counted += bits != 0;
}

/* There is room for what one access may add. */
static inline bool counts_more(const struct cache_classifier *classifier)
{
    return classifier->counted < VERDICTS_COUNTED - CACHES_MAX_LEVELS;
}

/* words: behind the first one. */
static __attribute__((noinline)) void say_compactly(struct cache_classifier *classifier, uint64_t first,
                                                    const uint64_t *words)
{
    const uint32_t slot = (uint32_t)first, missed = first >> TAPE_MISSED & 15, bits = (uint32_t)(first >> TAPE_BITS);
    const uint64_t rest = (first >> TAPE_BEHIND & TAPE_BEHIND_MASK) > missed ? words[missed] : 0;
    const uint64_t access_site = words[0] >> 32 | rest << 32;
    uint32_t level_index = first >> TAPE_COLUMN & 15, depth = event_log_depth(classifier, level_index);
    C2_PROMISE(depth + missed <= classifier->level_count);
    for (uint32_t i = 0; i < missed; i++) {
        uint32_t *stamp = cache_rows_stamp(&classifier->rows, slot, level_index);
        const enum caches_class class_ = classify_touch(&classifier->level[level_index], stamp, slot, true);
        count_compactly(classifier, slot, level_index, class_, access_site, bits, (uint32_t)words[i],
                        (uint32_t)((i == 0 ? rest : words[i]) >> 32));
        level_index = ++depth;
    }
    if (depth < classifier->level_count)
        classify_touch(&classifier->level[depth], cache_rows_stamp(&classifier->rows, slot, depth), slot, false);
    say_pushed(classifier, access_site, NULL);
}

/* ------------------------------------------------------------------ notes and groups */

static enum c2_status classify_no_memory(struct c2_error *err)
{
    return c2_fail_memory(err, "the table of lines accessed");
}

static __attribute__((noinline)) enum c2_status say_else(struct cache_classifier *classifier, uint64_t first,
                                                         const uint64_t *words, const struct caches_listener *listener,
                                                         struct c2_error *err)
{
    const struct line_no none = {0};
    if ((first >> TAPE_COLUMN & 15) == TAPE_NOTE) {
        enum c2_status status = say_counted(classifier, listener, err);
        return status == C2_OK ? listener->notified(listener->self, (const struct caches_noted *)words, none, NULL, err)
                               : status;
    }
    if ((first >> TAPE_COLUMN & 15) == TAPE_GROUP)
        return cache_rows_add(&classifier->rows, words[0]) ? C2_OK : classify_no_memory(err);
    C2_PROMISE(classifier->pushed_count + (first >> TAPE_BEHIND & TAPE_BEHIND_MASK) / 2 <= CACHE_MAX_PUSHED);
    for (uint32_t i = 0; i < (first >> TAPE_BEHIND & TAPE_BEHIND_MASK); i += 2)
        classifier->pushed[classifier->pushed_count++] = (struct cache_pushed){
            (uint32_t)(words[i] >> 32), (uint32_t)words[i], (uint32_t)words[i + 1]};
    return C2_OK;
}

/* ------------------------------------------------------------------ a event log */

/* Any record but a brief one. words: behind its first one. */
static inline __attribute__((always_inline)) enum c2_status classify_run_record(struct cache_classifier *classifier,
                                                                                uint64_t first, const uint64_t *words,
                                                                                const struct caches_listener *listener,
                                                                                struct caches_outcome *outcome,
                                                                                struct c2_error *err)
{
    const uint32_t slot = (uint32_t)first, level_index = first >> TAPE_COLUMN & 15;
    const uint32_t missed = first >> TAPE_MISSED & 15, behind = first >> TAPE_BEHIND & TAPE_BEHIND_MASK;
    if (first >> TAPE_MISSED == 0)
        classify_touch(&classifier->level[level_index], cache_rows_stamp(&classifier->rows, slot, level_index), slot,
                       false);
    else if (behind == 0)
        say_unheard(classifier, slot, level_index, missed);
    else if (C2_LIKELY(level_index == 0 && behind == TAPE_HEAD + 1))
        return say_heard(classifier, slot, 0, 1, words, 0, listener, outcome, err);
    else if (level_index < TAPE_PUSHED)
        return say_further(classifier, first, words, listener, outcome, err);
    else
        return say_else(classifier, first, words, listener, err);
    return C2_OK;
}

/* Whether the loops for what is usual say such records: a look at the first word, which need not be right. */
static inline bool seems_usual(uint64_t first)
{
    return SHORTCUT((first >> TAPE_MISSED & 15) <= 1 && (first >> TAPE_BEHIND & TAPE_BEHIND_MASK) <= 1);
}

enum c2_status cache_classifier_run(struct cache_classifier *classifier, const uint64_t *words, size_t count,
                                    const struct caches_listener *listener, struct caches_outcome *outcome,
                                    struct c2_error *err)
{
    const uint64_t *word = words, *const end = words + count, *stop = words;
    enum c2_status status = C2_OK;
    while (word < end && status == C2_OK) {
        if (seems_usual(*word) && classifier->pushed_count == 0) {
            if (C2_UNLIKELY(word >= stop))
                stop = word + cache_classifier_fetch_run(classifier, (size_t)(end - word));
            word = cache_classifier_usual(classifier, word, stop);
        }
        if (C2_UNLIKELY(!counts_more(classifier)))
            status = say_counted(classifier, listener, err);
        if (word == end || C2_UNLIKELY(status != C2_OK))
            break;
        const uint64_t first = *word++;
        prefetch_row(&classifier->rows, (uint32_t)word[VERDICTS_AHEAD]);
        if (!(first & TAPE_IS_BRIEF))
            status = classify_run_record(classifier, first, word, listener, outcome, err);
        else
            say_compactly(classifier, first, word);
        word += first >> TAPE_BEHIND & TAPE_BEHIND_MASK;
    }
    if (status == C2_OK)
        status = say_counted(classifier, listener, err);
    return status == C2_OK && C2_UNLIKELY(classifier->rows.failed) ? classify_no_memory(err) : status;
}

void cache_classifier_check(const struct cache_classifier *classifier, uint32_t level_indices)
{
    cache_rows_check(&classifier->rows, classifier->exclusive);
    for (uint32_t i = 0; i < level_indices; i++)
        cache_shadow_check(&classifier->level[i].shadow);
}
