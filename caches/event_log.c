/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * event log: what the contents of a machine tell its classes.
 *
 * Model
 *   An access is simulated in two stages. The first (contents.c) decides what the levels hold, and writes a
 *   record on the event log; the second (classify.c) reads it and says what it was: shadows, classes, evictors. Of a
 *   usual machine nothing goes back, so that the second may come at any time later, in the order of the event log, on
 *   whatever thread.
 *     hit        one word: the slot, and the level index of the level. None where the level was asked for this line
 *                last
 *     miss       the same word, with the number of levels that missed. If there is a listener, behind it the access
 *                site, three words of the caller's, and for each level that missed its set and its victim; and, of more
 *                than the first level, what those above have lost
 *     compact    a miss that is only counted by access site: in the first word the caller's bits as well; behind it,
 *                side by side, the victim of the first level and the low half of the access site; then, of each further
 *                level that missed, its victim, each with whether it was dirty, and what those above have lost; and, if
 *                either is not 0, the access site's upper half and what those above the first level have lost. So a
 *                miss that the second level serves takes two words. The contents write it behind the end of the event
 *                log, but for the caller's; the caller that defers the miss completes it, or makes one of the others of
 *                it
 *     pushed     before a miss, what it does besides to exclusive levels: of each line that one of them loses the
 *                level index and the slot, and the set that it was pushed out of, if it has not moved up
 *     note       three words of the caller's, and an access site
 *     group      lines that are new get their rows
 *   Of machines that are not usual (contents_general.c), besides:
 *     passed     in the last word of a miss, how many levels a store passes that do not take what they do not have; a
 *                hit that passes is written as a miss of no level
 *     lost       a level has lost a line, but as the victim of a fill or of a level above: by back-invalidation, to
 *                another core, or to a prefetch
 *     fetched    a prefetch of a line, and how many levels below are asked for it
 *     core       another one makes the accesses from here on, whose levels the level indices name
 *   The event log is the caller's (caches_defer_to), and handed on when it is full; else the caches have one, and
 *   classify it themselves when it is full, when an outcome is asked for, when they are asked for counts, and when
 *   another core takes a line, or an instruction throws it away: then shadows lose it too, and are to be current.
 *
 * Invariants
 *   Between two accesses the event log has room for all that one access and its walks may write.
 */
#include "caches/contents_priv.h"
#include "caches/event_log_priv.h"

#define OWN_WORDS C2_HOST_SIZE(512u, 4u)

enum c2_status cache_event_log_init(struct caches *caches, struct c2_error *err)
{
    caches->event_log.own = c2_alloc((OWN_WORDS + CACHES_EVENT_LOG_SLACK) * sizeof *caches->event_log.own);
    if (!caches->event_log.own)
        return c2_fail_memory(err, "what is to be said of a cache");
    cache_event_log_use_own(caches);
    return cache_classifier_create(&caches->classifier, caches, err);
}

void cache_event_log_end(struct caches *caches)
{
    c2_free(caches->event_log.own);
    cache_classifier_destroy(caches->classifier);
}

void cache_event_log_use_own(struct caches *caches)
{
    C2_ASSERT(caches->event_log.end.at == caches->event_log.words);
    caches->event_log.end.at = caches->event_log.words = caches->event_log.own;
    caches->event_log.end.stop = caches->event_log.own + OWN_WORDS;
}

/* Of its own event log: the rows are there, so all that may go wrong is what `failed` says. */
static void event_log_say(struct caches *caches, struct caches_outcome *outcome)
{
    const size_t count = caches_deferred(caches);
    const enum c2_status status = cache_classifier_run(caches->classifier, caches->event_log.own, count, NULL, outcome,
                                                       NULL);
    C2_ASSERT(status == C2_OK || caches->classifier->rows.failed);
}

bool cache_event_log_is_own(const struct caches *caches) { return caches->event_log.words == caches->event_log.own; }

void cache_event_log_catch_up(struct caches *caches)
{
    if (cache_event_log_is_own(caches))
        event_log_say(caches, &caches->classifier->outcome);
}

enum caches_tried cache_event_log_full(struct caches *caches)
{
    if (!cache_event_log_is_own(caches))
        return CACHES_FULL;
    cache_event_log_catch_up(caches);
    return CACHES_TRIED;
}

bool cache_event_log_group(struct caches *caches)
{
    const uint64_t key = caches->lines.group_key[caches->lines.groups - 1];
    if (cache_event_log_is_own(caches)) {
        cache_event_log_catch_up(caches);
        return cache_rows_add(&caches->classifier->rows, key);
    }
    cache_event_log_put(caches, EVENT_LOG_GROUP << EVENT_LOG_LEVEL_INDEX | UINT64_C(1) << EVENT_LOG_BEHIND);
    cache_event_log_put(caches, key);
    return true;
}

/* ------------------------------------------------------------------ misses and notes */

void cache_event_log_push(struct caches *caches, uint32_t words)
{
    struct cache_trail *trail = &caches->trail;
    const uint32_t behind = 2 * trail->pushed_count;
    uint64_t *at = caches->event_log.end.at;
    memmove(at + 1 + behind, at, words * sizeof *at);
    *at++ = EVENT_LOG_PUSHED << EVENT_LOG_LEVEL_INDEX | (uint64_t)behind << EVENT_LOG_BEHIND;
    for (uint32_t i = 0; i < trail->pushed_count; i++) {
        *at++ = (uint64_t)trail->pushed[i].number << 32 | trail->pushed[i].slot;
        *at++ = trail->pushed[i].set;
    }
    trail->pushed_count = 0;
    caches->event_log.end.at = at;
}

/* Returns where the next word goes. The place is kept by the caller: behind each word it would be read anew. */
static inline uint64_t *put_head(uint64_t *at, uint64_t first, const struct caches_noted *noted)
{
    *at++ = first;
    *at++ = noted->access_site;
    for (unsigned i = 0; i < CACHES_NOTED; i++)
        *at++ = noted->word[i];
    return at;
}

/* What the caches have said of the miss, behind the end of the event log. */
static inline struct cache_level *level_asked(struct caches *caches)
{
    return &caches->level[*caches->event_log.end.at >> EVENT_LOG_LEVEL_INDEX & 15];
}

static inline uint64_t first_word(uint64_t said, uint64_t behind)
{
    return (said & ((UINT64_C(1) << EVENT_LOG_BEHIND) - 1)) | behind << EVENT_LOG_BEHIND;
}

/* Where the line goes in the level asked first. */
static inline uint64_t first_set(const struct caches *caches, const struct cache_level *first, uint32_t slot)
{
    return cache_contents_set_of(first, cache_lines_line(&caches->lines, slot));
}

/* The level above the one asked first that has lost its victim. */
static inline uint64_t lost_first(const struct caches *caches, const struct cache_level *first)
{
    return first->depth != 0 ? caches->trail.lost : 0;
}

/* All of the trail; so it has a word more than a miss of one level. lost: as above. */
static uint64_t *put_all(struct caches *caches, const struct caches_noted *noted, uint64_t lost)
{
    uint64_t *at = caches->event_log.end.at, said[CACHES_MAX_LEVELS + 1];
    const uint32_t missed = event_log_missed(*at);
    memcpy(said, at, (1 + missed) * sizeof *said);
    at = put_head(at, first_word(said[0], EVENT_LOG_HEAD + (missed != 0 ? missed : 1) + 1), noted);
    if (missed == 0)
        *at++ = 0;
    for (uint32_t i = 0; i < missed; i++) {
        *at++ = (uint64_t)caches->trail.set[i] << 32 | event_log_victim(said[1 + i]);
        lost |= i != 0 ? said[1 + i] >> 32 << 8 * i : 0;
    }
    *at++ = lost | (uint64_t)caches->trail.passing << EVENT_LOG_PASSING;
    return at;
}

static __attribute__((noinline)) uint64_t *put_further(struct caches *caches, const struct caches_noted *noted)
{
    const struct cache_level *first = level_asked(caches);
    caches->trail.set[0] = (uint32_t)first_set(caches, first, (uint32_t)*caches->event_log.end.at);
    return put_all(caches, noted, lost_first(caches, first));
}

/* One level has missed that is above all others, so what it loses only it has lost. */
static inline uint64_t *event_log_put_miss(struct caches *caches, const struct caches_noted *noted)
{
    const struct cache_level *first = level_asked(caches);
    uint64_t *at = caches->event_log.end.at;
    const uint64_t said = at[0], victim = event_log_victim(at[1]);
    if (C2_UNLIKELY(event_log_missed(said) != 1 || first->depth != 0))
        return put_further(caches, noted);
    at = put_head(at, first_word(said, EVENT_LOG_HEAD + 1), noted);
    *at++ = first_set(caches, first, (uint32_t)said) << 32 | victim;
    return at;
}

static inline enum caches_tried event_log_written(struct caches *caches, uint64_t *at)
{
    caches->event_log.end.at = at;
    return C2_UNLIKELY(at >= caches->event_log.end.stop) ? cache_event_log_full(caches) : CACHES_TRIED;
}

enum caches_tried caches_defer(struct caches *caches, const struct caches_noted *noted)
{
    uint64_t *at = caches->event_log.end.at;
    if (noted)
        return event_log_written(caches, event_log_put_miss(caches, noted));
    *at = first_word(*at, 0);
    return event_log_written(caches, at + 1);
}

enum caches_tried caches_defer_compactly(struct caches *caches, uint64_t access_site, uint32_t bits)
{
    const uint64_t lost = lost_first(caches, level_asked(caches));
    C2_ASSERT(bits >> CACHES_COMPACT_BITS == 0);
    const bool full = caches_event_log_compact(&caches->event_log.end, access_site, access_site >> 32 | lost << 32,
                                               bits);
    return C2_UNLIKELY(full) ? cache_event_log_full(caches) : CACHES_TRIED;
}

enum caches_tried caches_note(struct caches *caches, const struct caches_noted *noted)
{
    const uint64_t first = EVENT_LOG_NOTE << EVENT_LOG_LEVEL_INDEX | (uint64_t)EVENT_LOG_HEAD << EVENT_LOG_BEHIND;
    return event_log_written(caches, put_head(caches->event_log.end.at, first, noted));
}

void caches_put_aside(const struct caches *caches, struct caches_aside *out)
{
    memcpy(out->word, caches->event_log.end.at, sizeof out->word);
}

void caches_put_back(struct caches *caches, const struct caches_aside *aside)
{
    memcpy(caches->event_log.end.at, aside->word, sizeof aside->word);
}

void cache_event_log_classify(struct caches *caches, struct caches_outcome *outcome)
{
    const struct caches_noted noted = {.access_site = caches->lines.access_site};
    C2_ASSERT(cache_event_log_is_own(caches));
    caches->event_log.end.at = caches->usual ? event_log_put_miss(caches, &noted) : put_all(caches, &noted, 0);
    event_log_say(caches, outcome ? outcome : &caches->classifier->outcome);
}

void caches_classify(struct caches *caches, struct caches_outcome *outcome)
{
    const uint32_t slot = (uint32_t)*caches->event_log.end.at;
    cache_event_log_classify(caches, outcome);
    C2_PROMISE(cache_access_holds(caches, slot));
}

/* ------------------------------------------------------------------ machines that are not usual */

static void put_on_own(struct caches *caches, uint64_t kind, uint32_t slot, uint64_t word)
{
    C2_PROMISE(!caches->usual && cache_event_log_is_own(caches));
    cache_event_log_put(caches, kind << EVENT_LOG_LEVEL_INDEX | UINT64_C(1) << EVENT_LOG_BEHIND | slot);
    cache_event_log_put(caches, word);
    if (C2_UNLIKELY(caches->event_log.end.at >= caches->event_log.end.stop))
        cache_event_log_catch_up(caches);
}

void cache_event_log_lose(struct caches *caches, const struct cache_level *level, uint32_t slot)
{
    if (caches->classifier->rows.evictors == CACHE_ROWS_NONE)
        return;
    cache_event_log_put(caches, EVENT_LOG_LOST << EVENT_LOG_LEVEL_INDEX | UINT64_C(2) << EVENT_LOG_BEHIND | slot);
    cache_event_log_put(caches, caches->lines.access_site);
    cache_event_log_put(caches, level->level_index);
    if (C2_UNLIKELY(caches->event_log.end.at >= caches->event_log.end.stop))
        cache_event_log_catch_up(caches);
}

void cache_event_log_fetch(struct caches *caches, const struct cache_level *level, uint32_t slot, uint32_t below)
{
    caches->level[level->level_index].l1_handle.notified = LINES_NO_SLOT; /* its shadow has another youngest line */
    put_on_own(caches, EVENT_LOG_FETCHED, slot, (uint64_t)below << 32 | level->number);
}

void cache_event_log_core(struct caches *caches, uint32_t core) { put_on_own(caches, EVENT_LOG_CORE, 0, core); }

/* ------------------------------------------------------------------ a event log of the caller's */

bool caches_can_defer(const struct caches *caches) { return caches->usual; }

void caches_defer_to(struct caches *caches, uint64_t *words, uint32_t room)
{
    C2_ASSERT(caches->usual && caches->event_log.end.at == caches->event_log.words && room > CACHES_EVENT_LOG_SLACK);
    caches->event_log.end.at = caches->event_log.words = words;
    caches->event_log.end.stop = words + room - CACHES_EVENT_LOG_SLACK;
}

uint32_t caches_deferred(struct caches *caches)
{
    const size_t count = (size_t)(caches->event_log.end.at - caches->event_log.words);
    caches->event_log.end.at = caches->event_log.words;
    return (uint32_t)count;
}

enum c2_status caches_hear(struct caches *caches, const uint64_t *words, uint32_t count,
                           const struct caches_listener *listener, struct c2_error *err)
{
    struct cache_classifier *classifier = caches->classifier;
    return cache_classifier_run(classifier, words, count, listener, &classifier->outcome, err);
}
