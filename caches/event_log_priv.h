/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The event log between the contents of a machine and its classes. The model card is in event_log.c.
 */
#ifndef C2_EVENT_LOG_PRIV_H
#define C2_EVENT_LOG_PRIV_H

#include "caches/hierarchy_priv.h"
#include "caches/rows_priv.h"

/* The first word of a record. Slot 32 bits, level index 4, levels missed 4, words behind it 7, whether these are those
 * of a compact one; of such a one, the caller's bits. */
#define EVENT_LOG_LEVEL_INDEX CACHES_EVENT_LOG_LEVEL_INDEX
#define EVENT_LOG_MISSED CACHES_EVENT_LOG_MISSED
#define EVENT_LOG_BEHIND CACHES_EVENT_LOG_BEHIND
#define EVENT_LOG_BEHIND_MASK 127u
#define EVENT_LOG_IS_COMPACT (UINT64_C(1) << 47)
#define EVENT_LOG_BITS CACHES_EVENT_LOG_BITS
_Static_assert(EVENT_LOG_BITS + CACHES_COMPACT_BITS == 64, "the caller's bits are the last");
#define EVENT_LOG_SHAPE ((UINT64_C(1) << EVENT_LOG_BITS) - (UINT64_C(1) << EVENT_LOG_LEVEL_INDEX))
#define EVENT_LOG_COMPACT_FIRST \
    (UINT64_C(1) << EVENT_LOG_MISSED | UINT64_C(1) << EVENT_LOG_BEHIND | EVENT_LOG_IS_COMPACT)
#define EVENT_LOG_PLACED UINT64_C(9)   /* level indices of no level: where followers have the slot's group of lines; */
#define EVENT_LOG_FETCHED UINT64_C(10) /* a prefetch of the line, that is no access; */
#define EVENT_LOG_CORE UINT64_C(11)    /* another core makes the accesses from here on; */
#define EVENT_LOG_LOST UINT64_C(12)    /* a level has lost the line; */
#define EVENT_LOG_PUSHED UINT64_C(13)  /* what the miss behind it does besides, two words each; */
#define EVENT_LOG_NOTE UINT64_C(14)    /* the caller's own words; */
#define EVENT_LOG_GROUP UINT64_C(15)   /* a new group of lines, and its key */
/* Of the victims in a compact record, cache_sets_left(): whether it was dirty. */
#define EVENT_LOG_LEFT_DIRTY (UINT32_C(1) << 31)
#define EVENT_LOG_HEAD \
    (1 + CACHES_NOTED)        /* words behind the first one of a miss or note: the access site, and the caller's */
#define EVENT_LOG_PASSING 56u /* in the last word of such a miss: above what levels have lost, how many it passes */
_Static_assert(CACHES_MAX_LEVELS + 1 < EVENT_LOG_PLACED && CACHES_MAX_LEVELS + 1 <= 8, "columns");
_Static_assert(CACHES_MAX_LEVELS * 8 <= EVENT_LOG_PASSING, "the last word of a miss");

/* The word of a set that cache_sets_left() has made of it. */
static inline uint32_t event_log_word(uint32_t left) { return left << 1 | left >> 31; }
static inline uint32_t event_log_victim(uint64_t left) { return (uint32_t)left & ~EVENT_LOG_LEFT_DIRTY; }

/* What the level at a level index has been asked, in the rows' order of events. */
struct cache_classified {
    struct cache_shadow shadow;
    uint64_t said[2][CACHES_COHERENCE + 1]; /* [missed][enum caches_class of the shadow] */
    bool exclusive;                         /* loses lines that it was never asked for */
};

#define CLASSES_AHEAD 24u /* words: of what comes then the row is asked of the host's memory now */
#define CLASSES_COUNTED C2_HOST_SIZE(64u, CACHES_MAX_LEVELS + 1u) /* at least one access's */

/* What classes need, and contents never touch: so the two may be on two threads. */
struct cache_classifier {
    struct cache_rows rows;
    uint32_t level_count;                     /* of the data path */
    uint32_t node_count;                      /* of all cores */
    bool several;                             /* cores; */
    uint32_t (*nodes)[CACHES_MAX_LEVELS + 1]; /* [core][number of a level]: its level index; */
    const uint32_t *node;                     /* of the core that makes accesses */
    bool follows;          /* the first levels are another machine's: nothing of them is on the event log */
    uint32_t pushed_count; /* by the miss that is said next */
    struct cache_pushed pushed[CACHE_MAX_PUSHED];
    struct caches_outcome outcome;
    uint32_t counted; /* misses to be notified of: */
    struct caches_compact count[CLASSES_COUNTED];
    struct cache_classified level[]; /* by level index; at least CACHES_MAX_LEVELS + 1 */
};

static inline uint32_t event_log_depth(const struct cache_classifier *classifier, uint32_t level_index)
{
    return level_index < classifier->level_count ? level_index : 0; /* L1I is beside the first level */
}

/* Of levels that are made, and none of which has been asked. */
enum c2_status cache_classifier_create(struct cache_classifier **out, const struct caches *caches,
                                       struct c2_error *err);
void cache_classifier_destroy(struct cache_classifier *classifier); /* takes NULL */
/* Says what is on the event log; no memory for rows is all that may go wrong by itself. outcome: where that of each
 * record with words behind it is filled in. classify.c */
enum c2_status cache_classifier_run(struct cache_classifier *classifier, const uint64_t *words, size_t count,
                                    const struct caches_listener *listener, struct caches_outcome *outcome,
                                    struct c2_error *err);
/* How many words, of so many, may be said before a shadow of the levels asked first is to be cleaned, at least one; it
 * may be cleaned now. classify_usual.c */
size_t cache_classifier_fetch_run(struct cache_classifier *classifier, size_t words);
/* Of the words before `stop`, where a fetch run ends, says those that are as nearly all are; returns the first one that
 * is not, or a later word when enough was said. */
const uint64_t *cache_classifier_usual(struct cache_classifier *classifier, const uint64_t *word, const uint64_t *stop);
void cache_classifier_check(struct cache_classifier *classifier);
/* There is room for what is known of the line at the level; false: no memory. */
bool cache_classifier_reach(struct cache_classifier *classifier, uint32_t level_index, uint32_t slot);
/* Another core takes the line from the level, which had a copy or not: its shadow loses it, too. Says whether either
 * had it; then the next miss of it is one of coherence. All on the event log has been said. */
bool cache_classifier_take(struct cache_classifier *classifier, uint32_t level_index, uint32_t slot, bool copy);
bool cache_classifier_is_taken(struct cache_classifier *classifier, uint32_t level_index, uint32_t slot);
bool cache_classifier_has(struct cache_classifier *classifier, uint32_t level_index, uint32_t slot); /* in its shadow */
/* The level has never been asked for the line. */
void cache_classifier_forget(struct cache_classifier *classifier, uint32_t level_index, uint32_t slot);

enum c2_status cache_event_log_init(struct caches *caches, struct c2_error *err);
void cache_event_log_end(struct caches *caches);
bool cache_event_log_is_own(const struct caches *caches);
/* The caches' own is written on from now on. What was on another one has been said. */
void cache_event_log_use_own(struct caches *caches);
/* If it is their own, the caches say now what is on it. */
void cache_event_log_catch_up(struct caches *caches);
/* The last record has filled the event log: catches up, or CACHES_FULL. */
enum caches_tried cache_event_log_full(struct caches *caches);
/* A group was added to caches->lines; false: no memory. */
bool cache_event_log_group(struct caches *caches);
/* Writes what the trail has of lines pushed out before the record of so many words behind the end. */
void cache_event_log_push(struct caches *caches, uint32_t words);
/* On the caches' own: the level has lost the line, but as a victim that the record of a miss has; a prefetch brings the
 * line into the level, for which so many levels below are asked; another core makes the accesses that follow. */
void cache_event_log_lose(struct caches *caches, const struct cache_level *level, uint32_t slot);
void cache_event_log_fetch(struct caches *caches, const struct cache_level *level, uint32_t slot, uint32_t below);
void cache_event_log_core(struct caches *caches, uint32_t core);
/* Likewise: what is on it is said, and the record behind its end. outcome: of that; or NULL. */
void cache_event_log_classify(struct caches *caches, struct caches_outcome *outcome);

static inline uint32_t event_log_missed(uint64_t first) { return first >> EVENT_LOG_MISSED & 15; }

/* Of a compact record, what is in its last word; 0: there is none. words: behind the first one. */
static inline uint64_t event_log_rest(uint64_t first, const uint64_t *words)
{
    const uint32_t missed = event_log_missed(first);
    return (first >> EVENT_LOG_BEHIND & EVENT_LOG_BEHIND_MASK) > missed ? words[missed] : 0;
}

static inline void cache_event_log_put(struct caches *caches, uint64_t word) { *caches->event_log.end.at++ = word; }

/* A level that walks enter further down is asked by others too. */
static inline void cache_event_log_asked(struct cache_level *first, uint32_t slot)
{
    first->l1_handle.notified = first->above_count == 0 ? slot : CACHES_NO_SLOT;
}

/* The level asked first has the line. */
static inline enum caches_tried cache_event_log_put_hit(struct cache_level *first, uint32_t slot)
{
    struct caches_event_log_end *const event_log = first->l1_handle.event_log;
    uint64_t *const at = event_log->at;
    *at = first->l1_handle.level_index_word | slot;
    event_log->at = at + 1;
    return C2_UNLIKELY(at + 1 >= event_log->stop) ? cache_event_log_full(first->l1_handle.caches) : CACHES_TRIED;
}

/* The same, but to the level's shadow the line that it was asked for last is the youngest already. */
static inline enum caches_tried cache_event_log_hit(struct cache_level *first, uint32_t slot)
{
    if (first->l1_handle.notified == slot)
        return CACHES_TRIED;
    cache_event_log_asked(first, slot);
    const enum caches_tried tried = cache_event_log_put_hit(first, slot);
    C2_PROMISE(tried == CACHES_FULL || !first->l1_handle.caches->usual ||
               cache_access_holds(first->l1_handle.caches, slot)); /* else it is not over */
    return tried;
}

#endif
