/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * class: what is said of accesses: classes, evictors, outcomes. The rules are those of hierarchy.c.
 *
 * Model
 *   Everything is said from the event log that the contents leave (event_log.c), in its order, and nothing of it
 *   changes what a level holds. Each level asked touches its shadow, which says the class of a miss; each level that
 *   lost a line gets its access site. Misses that are only counted are kept until there are many, or the event log
 *   ends, or something else is notified: so the counting listener is called once for many. What nearly all records are
 *   is said by loops of their own (classify_usual.c); this file says any record.
 *   Where there are several cores, whose writes take lines from the shadows of others (coherence.c), the log is the
 *   caches' own, and what is on it is said before a shadow is needed.
 *
 * Counting
 *   By level: the class that the shadow says, of hits and of misses. A hit that the shadow does not have is one that a
 *   fully associative cache would miss.
 */
#include "caches/contents_priv.h"
#include "caches/event_log_priv.h"

/* ------------------------------------------------------------------ life */

static enum c2_status init_level(struct cache_classifier *classifier, const struct caches *caches, uint32_t level_index,
                                 struct c2_error *err)
{
    const struct cache_level *level = &caches->level[level_index];
    const bool in_rows = level_index < classifier->rows.level_indices;
    classifier->level[level_index].exclusive = level->exclusive;
    return cache_shadow_init(&classifier->level[level_index].shadow, &classifier->rows.stamps,
                             in_rows ? level_index : LINES_BESIDE,
                             (uint32_t)(level->config->size_bytes / caches->machine.line_bytes), err);
}

static bool init_nodes(struct cache_classifier *classifier, const struct caches *caches)
{
    const uint32_t cores = caches_machine_cores(&caches->machine);
    classifier->nodes = c2_calloc(cores, sizeof *classifier->nodes);
    for (uint32_t core = 0; core < cores && classifier->nodes; core++)
        for (uint32_t number = 0; number < caches->level_count + caches->machine.has_l1i; number++)
            classifier->nodes[core][number] = cache_node((struct caches *)caches, core, number)->level_index;
    classifier->node = classifier->nodes ? classifier->nodes[0] : NULL;
    return classifier->nodes;
}

enum c2_status cache_classifier_create(struct cache_classifier **out, const struct caches *caches, struct c2_error *err)
{
    const uint32_t levels = caches->node_count > CACHES_MAX_LEVELS ? caches->node_count : CACHES_MAX_LEVELS + 1;
    struct cache_classifier *classifier = *out = c2_calloc(1, sizeof *classifier + levels * sizeof *classifier->level);
    if (!classifier)
        return c2_fail_memory(err, "what is to be said of a cache");
    classifier->level_count = caches->level_count;
    classifier->node_count = caches->node_count;
    classifier->several = caches->coherence;
    classifier->rows.level_indices = classifier->several ? caches->node_count : caches->level_count;
    classifier->rows.stamps.width = classifier->rows.level_indices;
    enum c2_status status = init_nodes(classifier, caches) ? C2_OK
                                                           : c2_fail_memory(err, "what is to be said of a cache");
    for (uint32_t i = 0; i < caches->node_count && status == C2_OK; i++)
        status = init_level(classifier, caches, i, err);
    return status;
}

void cache_classifier_destroy(struct cache_classifier *classifier)
{
    if (!classifier)
        return;
    for (uint32_t i = 0; i < classifier->node_count; i++)
        cache_shadow_end(&classifier->level[i].shadow);
    cache_rows_end(&classifier->rows);
    c2_free(classifier->nodes);
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

/* The same by a store that does not fill it. */
static __attribute__((noinline)) enum caches_class classify_pass(struct cache_classified *level, uint32_t *stamp,
                                                                 uint32_t slot, bool missed)
{
    const enum caches_class class_ = cache_shadow_pass(&level->shadow, stamp, slot);
    level->said[missed][class_]++;
    return class_;
}

/* A line that the level was never asked for it has not lost. */
static bool classify_knows(struct cache_classifier *classifier, uint32_t slot, uint32_t level_index,
                           enum caches_class class_)
{
    C2_ASSERT(class_ != CACHES_COLD || classifier->level[level_index].exclusive ||
              cache_rows_evictor(&classifier->rows, slot, level_index) == 0);
    return true;
}

/* ------------------------------------------------------------------ misses */

/* A record of a miss with a listener. */
struct heard {
    const struct caches_noted *noted;
    const uint64_t *passed; /* [level that missed] */
    uint64_t lost; /* above the levels that missed, 8 bits each; and how many a store passes: EVENT_LOG_PASSING */
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
            cache_rows_lose(rows, pushed->slot, classifier->node[pushed->number], access_site);
        if (!outcome || pushed->set == CACHE_MOVED)
            continue;
        outcome->evicted |= 1u << pushed->number; /* of the data path, whose numbers are depths */
        outcome->event[pushed->number].victim.v = cache_rows_line(rows, pushed->slot);
        outcome->event[pushed->number].victim_set = pushed->set;
    }
    classifier->pushed_count = 0;
}

/* One level after the other; returns the depth of that which has the line. An access does not make the levels lose its
 * own line, so what is known of it may be read first. number, missed: as the record says, constants where they are what
 * they mostly are. heard: NULL: no listener. */
static inline __attribute__((always_inline)) uint32_t classify_miss(struct cache_classifier *classifier, uint32_t slot,
                                                                    uint32_t number, const uint32_t missed,
                                                                    const struct heard *heard,
                                                                    struct caches_outcome *outcome)
{
    struct cache_rows *rows = &classifier->rows;
    const bool kept = heard && rows->evictors != CACHE_ROWS_NONE;
    uint32_t depth = event_log_depth(classifier, number),
             passing = heard ? (uint32_t)(heard->lost >> EVENT_LOG_PASSING) : 0;
    C2_PROMISE(depth + missed <= classifier->level_count);
    for (uint32_t i = 0; i < missed; i++) {
        const uint32_t level_index = classifier->node[number];
        struct cache_classified *level = &classifier->level[level_index];
        uint32_t *stamp = cache_rows_stamp(rows, slot, level_index);
        const enum caches_class class_ = C2_UNLIKELY(i < passing) ? classify_pass(level, stamp, slot, true)
                                                                  : classify_touch(level, stamp, slot, true);
        C2_PROMISE(!kept || classify_knows(classifier, slot, level_index, class_));
        if (heard)
            classify_notify(rows, outcome, depth, kept ? cache_rows_evictor(rows, slot, level_index) : 0,
                            heard->passed[i], class_);
        if (kept && C2_LIKELY((uint32_t)heard->passed[i] != 0))
            classify_lose(rows, heard->noted->access_site, level_index, (uint32_t)heard->passed[i],
                          heard->lost >> 8 * i & UINT8_MAX);
        number = ++depth;
    }
    if (depth == classifier->level_count)
        return depth;
    struct cache_classified *server = &classifier->level[classifier->node[number]];
    uint32_t *stamp = cache_rows_stamp(rows, slot, classifier->node[number]);
    if (C2_UNLIKELY(missed < passing))
        classify_pass(server, stamp, slot, false);
    else
        classify_touch(server, stamp, slot, false);
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

static inline void say_unheard(struct cache_classifier *classifier, uint32_t slot, uint32_t number, uint32_t missed)
{
    classify_miss(classifier, slot, number, missed, NULL, NULL);
    classifier->pushed_count = 0;
}

/* words: behind the first one. lost: as in struct heard. */
static inline __attribute__((always_inline)) enum c2_status say_heard(
    struct cache_classifier *classifier, uint32_t slot, uint32_t number, const uint32_t missed, const uint64_t *words,
    const uint64_t lost, const struct caches_listener *listener, struct caches_outcome *outcome, struct c2_error *err)
{
    const struct heard heard = {
        .noted = (const struct caches_noted *)words, .passed = words + EVENT_LOG_HEAD, .lost = lost};
    outcome->evicted = 0;
    end_outcome(classifier, outcome, classify_miss(classifier, slot, number, missed, &heard, outcome));
    if (C2_UNLIKELY(classifier->pushed_count != 0))
        say_pushed(classifier, heard.noted->access_site, outcome);
    if (!listener)
        return C2_OK;
    const struct line_no line = {cache_rows_line(&classifier->rows, slot)};
    return listener->notified(listener->self, heard.noted, line, outcome, err);
}

/* lost is behind what is said of levels, where it may be anything but 0: see put_miss() in event_log.c. */
static __attribute__((noinline)) enum c2_status say_further(struct cache_classifier *classifier, uint64_t first,
                                                            const uint64_t *words,
                                                            const struct caches_listener *listener,
                                                            struct caches_outcome *outcome, struct c2_error *err)
{
    const uint32_t missed = first >> EVENT_LOG_MISSED & 15, behind = first >> EVENT_LOG_BEHIND & EVENT_LOG_BEHIND_MASK;
    const uint64_t lost = behind > EVENT_LOG_HEAD + missed ? words[behind - 1] : 0;
    return say_heard(classifier, (uint32_t)first, first >> EVENT_LOG_LEVEL_INDEX & 15, missed, words, lost, listener,
                     outcome, err);
}

/* ------------------------------------------------------------------ misses that are only counted */

static __attribute__((noinline)) enum c2_status say_counted(struct cache_classifier *classifier,
                                                            const struct caches_listener *listener,
                                                            struct c2_error *err)
{
    C2_PROMISE(classifier->counted <= CLASSES_COUNTED);
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
    C2_PROMISE(classifier->counted < CLASSES_COUNTED);
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
    return classifier->counted < CLASSES_COUNTED - CACHES_MAX_LEVELS;
}

/* words: behind the first one. level_index, missed: as the record says, constants where they are what they mostly are.
 */
static inline __attribute__((always_inline)) void say_levels(struct cache_classifier *classifier, uint64_t first,
                                                             const uint64_t *words, uint32_t level_index,
                                                             const uint32_t missed)
{
    const uint32_t slot = (uint32_t)first, bits = (uint32_t)(first >> EVENT_LOG_BITS);
    const uint64_t rest = event_log_rest(first, words);
    const uint64_t access_site = words[0] >> 32 | rest << 32;
    uint32_t depth = event_log_depth(classifier, level_index);
    C2_PROMISE(depth + missed <= classifier->level_count);
#pragma GCC unroll 2
    for (uint32_t i = 0; i < missed; i++) {
        uint32_t *stamp = cache_rows_stamp(&classifier->rows, slot, level_index);
        const enum caches_class class_ = classify_touch(&classifier->level[level_index], stamp, slot, true);
        count_compactly(classifier, slot, level_index, class_, access_site, bits, event_log_victim(words[i]),
                        (uint32_t)((i == 0 ? rest : words[i]) >> 32));
        level_index = ++depth;
    }
    if (depth < classifier->level_count)
        classify_touch(&classifier->level[depth], cache_rows_stamp(&classifier->rows, slot, depth), slot, false);
    if (C2_UNLIKELY(classifier->pushed_count != 0))
        say_pushed(classifier, access_site, NULL);
}

static __attribute__((noinline)) void say_compactly(struct cache_classifier *classifier, uint64_t first,
                                                    const uint64_t *words)
{
    const uint32_t missed = first >> EVENT_LOG_MISSED & 15, level_index = first >> EVENT_LOG_LEVEL_INDEX & 15;
    if (C2_LIKELY(missed == 2 && level_index == 0))
        say_levels(classifier, first, words, 0, 2);
    else if (missed == 1 && level_index == 1) /* the first levels are another machine's */
        say_levels(classifier, first, words, 1, 1);
    else
        say_levels(classifier, first, words, level_index, missed);
}

/* ------------------------------------------------------------------ other records */

static enum c2_status classify_no_memory(struct c2_error *err)
{
    return c2_fail_memory(err, "the table of lines accessed");
}

/* What a prefetcher fetches its level's shadow is offered; that of each level below which is asked takes it for an
 * access. Nothing is counted. */
static void classify_fetched(struct cache_classifier *classifier, uint32_t slot, uint32_t number, uint32_t below)
{
    uint32_t depth = event_log_depth(classifier, number), at = classifier->node[number];
    cache_shadow_offer(&classifier->level[at].shadow, cache_rows_stamp(&classifier->rows, slot, at), slot);
    C2_PROMISE(depth + below < classifier->level_count);
    for (uint32_t i = 0; i < below; i++) {
        at = classifier->node[++depth];
        cache_shadow_touch(&classifier->level[at].shadow, cache_rows_stamp(&classifier->rows, slot, at), slot);
    }
}

static void classify_pushed(struct cache_classifier *classifier, const uint64_t *words, uint32_t count)
{
    C2_PROMISE(classifier->pushed_count + count / 2 <= CACHE_MAX_PUSHED);
    for (uint32_t i = 0; i < count; i += 2)
        classifier->pushed[classifier->pushed_count++] = (struct cache_pushed){
            (uint32_t)(words[i] >> 32), (uint32_t)words[i], (uint32_t)words[i + 1]};
}

static enum c2_status classify_note(struct cache_classifier *classifier, const uint64_t *words,
                                    const struct caches_listener *listener, struct c2_error *err)
{
    const struct line_no none = {0};
    enum c2_status status = say_counted(classifier, listener, err);
    return status == C2_OK ? listener->notified(listener->self, (const struct caches_noted *)words, none, NULL, err)
                           : status;
}

static __attribute__((noinline)) enum c2_status say_else(struct cache_classifier *classifier, uint64_t first,
                                                         const uint64_t *words, const struct caches_listener *listener,
                                                         struct c2_error *err)
{
    switch (first >> EVENT_LOG_LEVEL_INDEX & 15) {
    case EVENT_LOG_NOTE:
        return classify_note(classifier, words, listener, err);
    case EVENT_LOG_GROUP:
        return cache_rows_add(&classifier->rows, words[0]) ? C2_OK : classify_no_memory(err);
    case EVENT_LOG_PUSHED:
        classify_pushed(classifier, words, first >> EVENT_LOG_BEHIND & EVENT_LOG_BEHIND_MASK);
        return C2_OK;
    case EVENT_LOG_PLACED:
        return C2_OK;
    case EVENT_LOG_LOST:
        cache_rows_lose(&classifier->rows, (uint32_t)first, (uint32_t)words[1], words[0]);
        return C2_OK;
    case EVENT_LOG_FETCHED:
        classify_fetched(classifier, (uint32_t)first, (uint32_t)words[0], (uint32_t)(words[0] >> 32));
        return C2_OK;
    default:
        C2_ASSERT((first >> EVENT_LOG_LEVEL_INDEX & 15) == EVENT_LOG_CORE);
        classifier->node = classifier->nodes[words[0]];
        return C2_OK;
    }
}

/* ------------------------------------------------------------------ a event log */

/* Any record but a compact one. words: behind its first one. */
static inline __attribute__((always_inline)) enum c2_status classify_run_record(struct cache_classifier *classifier,
                                                                                uint64_t first, const uint64_t *words,
                                                                                const struct caches_listener *listener,
                                                                                struct caches_outcome *outcome,
                                                                                struct c2_error *err)
{
    const uint32_t slot = (uint32_t)first, number = first >> EVENT_LOG_LEVEL_INDEX & 15;
    const uint32_t missed = first >> EVENT_LOG_MISSED & 15, behind = first >> EVENT_LOG_BEHIND & EVENT_LOG_BEHIND_MASK;
    if (first >> EVENT_LOG_MISSED == 0)
        classify_touch(&classifier->level[classifier->node[number]],
                       cache_rows_stamp(&classifier->rows, slot, classifier->node[number]), slot, false);
    else if (behind == 0)
        say_unheard(classifier, slot, number, missed);
    else if (C2_LIKELY(number == 0 && behind == EVENT_LOG_HEAD + 1))
        return say_heard(classifier, slot, 0, 1, words, 0, listener, outcome, err);
    else if (number < EVENT_LOG_PLACED)
        return say_further(classifier, first, words, listener, outcome, err);
    else
        return say_else(classifier, first, words, listener, err);
    return C2_OK;
}

/* Where the first levels are another machine's: hits of the second, while its shadow has their lines. */
static const uint64_t *say_second(struct cache_classifier *classifier, const uint64_t *word, const uint64_t *end)
{
    struct cache_classified *second = &classifier->level[1];
    const uint32_t level_indices = classifier->rows.level_indices, horizon = second->shadow.horizon,
                   stop = second->shadow.stop, begin = second->shadow.clock;
    uint32_t *const stamps = classifier->rows.stamps.word + 1, clock = begin;
    for (; word < end && clock < stop && *word >> EVENT_LOG_LEVEL_INDEX == 1; word++) {
        uint32_t *const stamp = &stamps[(size_t)(uint32_t)*word * level_indices];
        if (C2_UNLIKELY(*stamp < horizon))
            break;
        *stamp = clock++;
    }
    second->said[0][CACHES_CONFLICT] += clock - begin;
    second->shadow.clock = clock;
    return word;
}

/* Whether the loops for what is usual say such records: a look at the first word, which need not be right. */
static inline bool seems_usual(uint64_t first)
{
    return SHORTCUT((first >> EVENT_LOG_MISSED & 15) <= 1 && (first >> EVENT_LOG_BEHIND & EVENT_LOG_BEHIND_MASK) <= 1);
}

enum c2_status cache_classifier_run(struct cache_classifier *classifier, const uint64_t *words, size_t count,
                                    const struct caches_listener *listener, struct caches_outcome *outcome,
                                    struct c2_error *err)
{
    const uint64_t *word = words, *const end = words + count, *stop = words;
    enum c2_status status = C2_OK;
    while (word < end && status == C2_OK) {
        if (seems_usual(*word) && classifier->pushed_count == 0 && !classifier->several && !classifier->follows) {
            if (C2_UNLIKELY(word >= stop))
                stop = word + cache_classifier_fetch_run(classifier, (size_t)(end - word));
            word = cache_classifier_usual(classifier, word, stop);
        }
        if (classifier->follows)
            word = say_second(classifier, word, end);
        if (C2_UNLIKELY(!counts_more(classifier)))
            status = say_counted(classifier, listener, err);
        if (word == end || C2_UNLIKELY(status != C2_OK))
            break;
        const uint64_t first = *word++;
        prefetch_row(&classifier->rows, (uint32_t)word[CLASSES_AHEAD]);
        if (!(first & EVENT_LOG_IS_COMPACT))
            status = classify_run_record(classifier, first, word, listener, outcome, err);
        else
            say_compactly(classifier, first, word);
        word += first >> EVENT_LOG_BEHIND & EVENT_LOG_BEHIND_MASK;
    }
    if (status == C2_OK)
        status = say_counted(classifier, listener, err);
    return status == C2_OK && C2_UNLIKELY(classifier->rows.failed) ? classify_no_memory(err) : status;
}

/* ------------------------------------------------------------------ shadows between accesses */

bool cache_classifier_reach(struct cache_classifier *classifier, uint32_t level_index, uint32_t slot)
{
    cache_rows_stamp(&classifier->rows, slot, level_index);
    return !classifier->rows.failed;
}

bool cache_classifier_take(struct cache_classifier *classifier, uint32_t level_index, uint32_t slot, bool copy)
{
    uint32_t *stamp = cache_rows_stamp(&classifier->rows, slot, level_index);
    const bool had = cache_shadow_take(&classifier->level[level_index].shadow, *stamp) || copy;
    if (had)
        *stamp = SHADOW_TAKEN;
    return had;
}

bool cache_classifier_is_taken(struct cache_classifier *classifier, uint32_t level_index, uint32_t slot)
{
    return *cache_rows_stamp(&classifier->rows, slot, level_index) == SHADOW_TAKEN;
}

bool cache_classifier_has(struct cache_classifier *classifier, uint32_t level_index, uint32_t slot)
{
    return *cache_rows_stamp(&classifier->rows, slot, level_index) >= classifier->level[level_index].shadow.horizon;
}

void cache_classifier_forget(struct cache_classifier *classifier, uint32_t level_index, uint32_t slot)
{
    struct cache_rows *rows = &classifier->rows;
    uint32_t *stamp = cache_stamp(&rows->stamps, slot, classifier->level[level_index].shadow.at);
    if (!stamp)
        return; /* nor any of its neighbours */
    cache_shadow_take(&classifier->level[level_index].shadow, *stamp);
    *stamp = 0;
    if (rows->evictors != CACHE_ROWS_NONE)
        cache_rows_lose(rows, slot, level_index, 0);
}

/* ------------------------------------------------------------------ invariants */

static void check_line(struct cache_classifier *classifier, uint32_t slot)
{
    for (uint32_t i = 0; i < classifier->rows.level_indices; i++)
        if (*cache_rows_stamp(&classifier->rows, slot, i) == 0 && !classifier->level[i].exclusive)
            C2_ASSERT(cache_rows_evictor(&classifier->rows, slot, i) == 0);
}

void cache_classifier_check(struct cache_classifier *classifier)
{
    const uint32_t slots = classifier->rows.stamps.groups << LINES_GROUP_SHIFT;
    cache_rows_check(&classifier->rows);
    for (uint32_t slot = 0; slot < slots && classifier->rows.evictors != CACHE_ROWS_NONE; slot++)
        check_line(classifier, slot);
    for (uint32_t i = 0; i < classifier->node_count; i++)
        cache_shadow_check(&classifier->level[i].shadow);
}
