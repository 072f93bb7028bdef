/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The rules of contents.c, once for all forms and all machines: the file that includes this says by CACHE_FORM with
 * which instructions sets are searched, and by CACHE_GENERAL whether machines need not be usual ones; what only those
 * do is behind this constant. Each function is a part of those at the end, of which two know that a first level has
 * eight ways, or of those in contents_general.c.
 */
#ifndef C2_CONTENTS_RULES_H
#define C2_CONTENTS_RULES_H

#ifndef CACHE_GENERAL
#define CACHE_GENERAL 0
#endif

#include "caches/coherence_priv.h"
#include "caches/contents_priv.h"
#include "caches/l1_handle_simd.h"
#include "caches/sets_simd.h"
#include "caches/event_log_priv.h"

#define PART static inline __attribute__((always_inline))

/* The words of a set of the level. */
PART uint32_t *words_at(const struct cache_level *level, uint32_t set)
{
    C2_PROMISE(set < level->sets.set_count);
    return level->sets.word + (size_t)set * level->sets.stride;
}

/* The set that has the line, if the level does. */
PART uint32_t set_with(const struct cache_level *level, uint32_t tag, uint64_t line)
{
    return CACHE_GENERAL ? cache_contents_set_with(level, tag - 1, line) : cache_contents_set_of(level, line);
}

/* ------------------------------------------------------------------ sets in no order
 * Where the level's policy is another than true LRU, or not all ways may be filled: its rules are those of policy.c,
 * for which a place has a number. */

static inline uint32_t number_of(const struct cache_level *level, const uint32_t *word)
{
    C2_PROMISE(!level->ordered && word >= level->sets.word);
    return (uint32_t)(word - level->policy.word);
}

/* The word is that of the last access. To most policies a repeat of it is nothing more. */
static inline void touch(struct cache_level *level, uint32_t *word)
{
    level->touched = word;
    level->l1_handle.youngest = CACHE_GENERAL || level->policy.rrip ? NULL : word;
}

static __attribute__((noinline)) void hit_by_policy(struct cache_level *level, uint32_t *word)
{
    C2_PROMISE(*word != 0);
    cache_policy_hit(&level->policy, number_of(level, word));
    touch(level, word);
}

/* Says what was there. */
static __attribute__((noinline)) uint32_t take_by_policy(struct cache_level *level, uint32_t *word)
{
    C2_PROMISE(*word != 0);
    const uint32_t taken = *word;
    *word = 0;
    cache_policy_empty(&level->policy, number_of(level, word));
    return taken;
}

/* Puts the word into the set; returns what had to leave. */
static __attribute__((noinline)) uint32_t put_by_policy(struct cache_level *level, uint32_t set, uint32_t word)
{
    C2_PROMISE(!level->ordered && word != 0);
    const uint32_t number = cache_level_choose(level, set + 1), victim = level->policy.word[number];
    level->policy.word[number] = word;
    if (C2_UNLIKELY(level->policy.history))
        level->policy.signature = cache_level_signature(level, cache_sets_tag(word) - 1);
    cache_policy_fill(&level->policy, number);
    touch(level, &level->policy.word[number]);
    return victim;
}

/* Takes the line of a place out of the level. */
PART uint32_t take(struct cache_level *level, uint32_t *words, uint32_t place)
{
    const uint32_t word = level->ordered ? cache_sets_take(words, place, level->sets.ways)
                                         : take_by_policy(level, &words[place]);
    if (CACHE_GENERAL && C2_UNLIKELY(level->prefetch))
        cache_prefetch_left(level, cache_sets_tag(word) - 1);
    return word;
}

/* ------------------------------------------------------------------ victims */

/* Dirties the line where the level has it. */
PART bool dirty_there(const struct cache_level *level, uint32_t tag, uint64_t line)
{
    C2_PROMISE(tag != 0 && !level->clean);
    if (CACHE_GENERAL && C2_UNLIKELY(level->through))
        return false;
    uint32_t *words = words_at(level, set_with(level, tag, line));
    const uint32_t ways = level->sets.ways, place = sets_find(words, tag, ways);
    if (place >= ways)
        return false;
    words[place] |= CACHE_SETS_DIRTY;
    return true;
}

static __attribute__((noinline)) void write_further(const struct cache_level *level, uint32_t tag, uint64_t line)
{
    while (level && !dirty_there(level, tag, line))
        level = level->next;
}

/* Dirty data that leaves a level stops at the first one below that has the line, or in memory. */
PART void write_down(const struct cache_level *level, uint32_t tag, uint64_t line)
{
    if (level && !dirty_there(level, tag, line))
        write_further(level->next, tag, line);
}

/* Takes the line out of every level above that has it; says whether a copy was dirty, and adds who had one to *lost. */
static __attribute__((noinline)) bool invalidate(struct cache_level *level, uint32_t tag, uint64_t line, uint32_t *lost)
{
    C2_PROMISE(level->inclusive);
    bool dirty = false;
    for (uint32_t i = 0; i < level->above_count; i++) {
        struct cache_level *above = level->above[i];
        uint32_t *words = words_at(above, set_with(above, tag, line));
        const uint32_t ways = above->sets.ways, place = sets_find(words, tag, ways);
        if (C2_LIKELY(place >= ways))
            continue;
        if (CACHE_GENERAL)
            cache_event_log_lose(level->l1_handle.caches, above, tag - 1);
        else
            *lost |= 1u << above->level_index;
        level->l1_handle.caches->first_lost |= above->depth == 0;
        level->counts.back_invalidations++;
        dirty |= take(above, words, place) & CACHE_SETS_DIRTY;
    }
    return dirty;
}

/* An exclusive level loses another line than that of the access, or a level loses that. */
static inline void note_pushed(struct cache_level *level, uint32_t slot, uint32_t set)
{
    struct caches *caches = level->l1_handle.caches;
    struct cache_trail *trail = &caches->trail;
    if (CACHE_GENERAL && trail->fetches) { /* it finds nothing that was lost before */
        cache_event_log_lose(caches, level, slot);
        return;
    }
    C2_ASSERT(trail->pushed_count < CACHE_MAX_PUSHED);
    trail->pushed[trail->pushed_count++] = (struct cache_pushed){level->number, slot, set};
}

/* Those are notified that prefetches evict lines, and cores lose them. */
static inline void note_evicted(struct cache_level *level, uint32_t slot, uint32_t set)
{
    if (C2_UNLIKELY(level->prefetch))
        cache_prefetch_evicted(level, slot, set);
    if (C2_UNLIKELY(level->coherent))
        cache_coherence_evicted(level->l1_handle.caches, level, slot);
}

static void push_down(struct cache_level *level, uint32_t word, uint64_t line, uint64_t name);

/* What was the word of a way of the set has to leave. Says which levels above have lost it, too. */
PART uint32_t evict(struct cache_level *level, uint32_t word, uint32_t set)
{
    C2_PROMISE(word != 0);
    const uint32_t tag = cache_sets_tag(word);
    uint32_t lost = 0;
    bool dirty = word & CACHE_SETS_DIRTY;
    const bool moves = level->next && level->next->exclusive;
    if (CACHE_GENERAL)
        note_evicted(level, tag - 1, set);
    if (!level->inclusive && !dirty && !moves)
        return lost;
    const uint64_t line = cache_lines_line(level->lines, tag - 1);
    if (level->inclusive)
        dirty |= invalidate(level, tag, line, &lost);
    level->counts.writebacks += dirty;
    if (moves)
        push_down(level->next, cache_sets_word(tag, dirty), line,
                  CACHE_GENERAL && level->names ? level->names[tag - 1] : line);
    else if (dirty)
        write_down(level->next, tag, line);
    return lost;
}

/* A line, under this name, has come into the level; the victim, if there was one, has left it. */
static inline void note_put(struct cache_level *level, uint32_t slot, uint32_t victim, uint64_t name)
{
    if (C2_UNLIKELY(level->names))
        level->names[slot] = name;
    if (C2_LIKELY(!level->prefetch))
        return;
    if (victim != 0)
        cache_prefetch_left(level, cache_sets_tag(victim) - 1);
    cache_prefetch_came(level, slot);
}

/* Puts the word into a set, where its line is not; returns what had to leave. name: its virtual line. */
PART uint32_t put(struct cache_level *level, uint32_t set, uint32_t word, uint64_t name)
{
    C2_PROMISE(sets_find(words_at(level, set), cache_sets_tag(word), level->sets.ways) >= level->sets.ways);
    uint32_t *words = words_at(level, set), victim = words[level->sets.ways - 1];
    if (!level->ordered)
        victim = put_by_policy(level, set, word);
    else
        sets_front(words, level->sets.ways - 1, word, level->sets.ways);
    if (CACHE_GENERAL)
        note_put(level, cache_sets_tag(word) - 1, victim, name);
    return victim;
}

/* The victim of the level above becomes a line of this exclusive one. */
static __attribute__((noinline)) void push_down(struct cache_level *level, uint32_t word, uint64_t line, uint64_t name)
{
    C2_PROMISE(level->exclusive);
    const uint32_t tag = cache_sets_tag(word), ways = level->sets.ways;
    uint32_t set = set_with(level, tag, line), *words = words_at(level, set);
    const uint32_t place = sets_find(words, tag, ways);
    if (place < ways) {
        words[place] |= word & CACHE_SETS_DIRTY;
        return;
    }
    if (CACHE_GENERAL)
        set = cache_contents_set_named(level, (struct cache_line){{name}, {line}});
    const uint32_t victim = put(level, set, word, name);
    if (victim == 0)
        return;
    note_pushed(level, cache_sets_tag(victim) - 1, set);
    evict(level, victim, set);
}

/* ------------------------------------------------------------------ levels */

/* The line comes to a level. Returns what had to leave, as a compact record has it: the tag and whether it was dirty,
 * and which levels above have lost it. */
PART uint64_t fill(struct cache_level *level, uint32_t set, uint32_t word, uint64_t name)
{
    const uint32_t victim = put(level, set, word, name);
    if (CACHE_GENERAL && level->l1_handle.caches->trail.fetches && victim != 0)
        cache_event_log_lose(level->l1_handle.caches, level, cache_sets_tag(victim) - 1);
    return C2_LIKELY(victim != 0) ? cache_sets_left(victim) | (uint64_t)evict(level, victim, set) << 32 : 0;
}

/* What moves up and is dirty stays below: it is written down from the exclusive level that had it. */
static __attribute__((noinline)) void leave_dirt(struct cache_trail *trail, uint32_t tag, uint64_t line)
{
    C2_PROMISE(trail->dirty && trail->server->exclusive);
    trail->dirty = false;
    trail->server->counts.writebacks++;
    write_further(trail->server->next, tag, line);
}

/* The line moves up from an exclusive level, which has it in this place. */
static __attribute__((noinline)) void move_up(struct cache_level *level, uint32_t *words, uint32_t place)
{
    C2_PROMISE(level->exclusive && place < level->sets.ways);
    struct cache_trail *trail = &level->l1_handle.caches->trail;
    const uint32_t word = take(level, words, place);
    note_pushed(level, cache_sets_tag(word) - 1, CACHE_MOVED);
    trail->dirty = word & CACHE_SETS_DIRTY;
    trail->server = level;
    if (!CACHE_GENERAL)
        return;
    const uint32_t slot = cache_sets_tag(word) - 1;
    if (C2_UNLIKELY(level->prefetch))
        cache_prefetch_moved(level, slot);
    if (trail->dirty && level->coherent && !cache_coherence_may_be_dirty(level->l1_handle.caches, slot))
        leave_dirt(trail, slot + 1, cache_lines_line(level->lines, slot)); /* cores that share it have it clean */
}

/* What is said of prefetched lines when a level is asked, by an access or by what fetches. */
static inline void note_asked(struct cache_level *level, uint32_t slot, bool hit)
{
    if (C2_LIKELY(!level->prefetch))
        return;
    if (!level->l1_handle.caches->trail.fetches)
        cache_prefetch_asked(level, slot, hit);
    else if (hit)
        cache_prefetch_used(level, slot, false);
}

/* A level below the first is asked. False: it misses, and is to be filled. known: its ways, where it has its lines in
 * order of age, and is not exclusive; a constant. 0: it may be any. */
PART bool ask_ways(struct cache_level *level, uint64_t write, uint32_t tag, uint32_t set, const uint32_t known)
{
    C2_PROMISE(known == 0 || (level->ordered && !level->exclusive && level->sets.ways == known));
    const uint32_t ways = known != 0 ? known : level->sets.ways;
    uint32_t *words = known != 0 ? level->sets.word + (size_t)set * cache_sets_stride(known) : words_at(level, set);
    const uint32_t place = sets_find(words, tag, ways);
    if (CACHE_GENERAL)
        note_asked(level, tag - 1, place < ways);
    if (C2_UNLIKELY(place >= ways))
        return false;
    level->l1_handle.hits[write] += !(CACHE_GENERAL && level->l1_handle.caches->trail.fetches);
    if (known != 0)
        sets_youngest(words, place, known);
    else if (level->exclusive)
        move_up(level, words, place);
    else if (level->ordered)
        sets_youngest(words, place, ways);
    else
        hit_by_policy(level, &words[place]);
    return true;
}

PART bool ask(struct cache_level *level, uint64_t write, uint32_t tag, uint32_t set)
{
    return ask_ways(level, write, tag, set, 0);
}

/* ------------------------------------------------------------------ misses */

/* An access that has missed, and the record of it behind the end of the event log. */
struct missed {
    struct caches *caches;
    struct cache_level *first;
    uint64_t *record;
    bool write;
    uint32_t slot;
    uint64_t line;
    uint64_t first_add, second_add;      /* to the first two words of the record */
    const struct cache_request *request; /* of CACHE_GENERAL; it may be what a prefetcher fetches: trail.fetches */
};

/* The set of a level that the line belongs to; and its virtual name. */
PART uint32_t set_asked(const struct missed *m, const struct cache_level *level)
{
    return CACHE_GENERAL ? cache_contents_set_named(level, m->request->line) : cache_contents_set_of(level, m->line);
}

PART uint64_t name_of(const struct missed *m) { return CACHE_GENERAL ? m->request->line.virtual_line.v : m->line; }

/* The n-th level asked is passed by a store: it would not take it, and none above does, either. */
static inline void pass(const struct missed *m, struct cache_level *level, uint32_t n, bool hit)
{
    struct cache_trail *trail = &m->caches->trail;
    if (C2_LIKELY(!level->around || !m->write || trail->passing != n))
        return;
    trail->passing++;
    level->counts.write_arounds += !hit;
}

/* The level may have the line in another set, under another name, and loses it there. Says whether it was dirty. */
static inline bool take_synonym(const struct missed *m, struct cache_level *level)
{
    uint32_t *words = words_at(level, cache_contents_set_with(level, m->slot, m->line));
    const uint32_t place = sets_find(words, m->slot + 1, level->sets.ways);
    if (!level->synonyms || place >= level->sets.ways)
        return false;
    note_pushed(level, m->slot, CACHE_MOVED);
    return take(level, words, place) & CACHE_SETS_DIRTY;
}

/* Whether the n-th level asked, which missed, is filled; *dirty: what comes to it is, or is by this. */
static inline bool takes_line(const struct missed *m, struct cache_level *level, uint32_t n, bool *dirty)
{
    const uint32_t passing = m->caches->trail.passing;
    if (n < passing || (n != 0 && m->request->by_passing && !level->inclusive))
        return false;
    *dirty |= m->write && n == passing && !level->through;
    if (C2_UNLIKELY(level->synonyms))
        *dirty |= take_synonym(m, level);
    return true;
}

/* level: the n-th behind the one asked first. */
PART void fill_below(const struct missed *m, struct cache_level *level, uint32_t n, uint32_t set)
{
    C2_PROMISE(n >= 1 && n < CACHES_MAX_LEVELS);
    struct cache_trail *trail = &m->caches->trail;
    trail->set[n] = set;
    m->record[1 + n] = 0;
    if (level->exclusive)
        return;
    bool dirty = trail->dirty; /* the level filled first takes it */
    if (CACHE_GENERAL && !takes_line(m, level, n, &dirty))
        return;
    trail->dirty = false;
    m->record[1 + n] = fill(level, set, cache_sets_word(m->slot + 1, dirty), name_of(m));
}

PART bool ask_further(const struct missed *m, struct cache_level *level, uint32_t n, uint32_t set)
{
    const bool hit = ask(level, m->write, m->slot + 1, set);
    if (CACHE_GENERAL)
        pass(m, level, n, hit);
    if (hit)
        return true;
    level->l1_handle.misses[(size_t)m->write] += !(CACHE_GENERAL && m->caches->trail.fetches);
    return false;
}

/* The levels from the n-th behind the first on: those that missed are filled from the last one up. Says how many. (By
 * value, so that the callers need not have it in memory.) */
static __attribute__((noinline)) uint32_t below(const struct missed m, struct cache_level *level, const uint32_t n)
{
    struct cache_level *missed[CACHES_MAX_LEVELS];
    uint32_t set[CACHES_MAX_LEVELS], count = 0;
    for (; level; level = level->next) {
        set[count] = set_asked(&m, level);
        if (ask_further(&m, level, n + count, set[count]))
            break;
        missed[count++] = level;
    }
    for (uint32_t i = count; i-- > 0;)
        fill_below(&m, missed[i], n + i, set[i]);
    return count;
}

/* What came up from an exclusive level and is dirty, and no level below the first was to be filled; one that holds
 * nothing dirty does not take it. */
PART bool take_dirty(const struct missed *m)
{
    struct cache_trail *trail = &m->caches->trail;
    C2_PROMISE(!trail->dirty || trail->server);
    if (C2_UNLIKELY(trail->dirty && m->first->clean))
        leave_dirt(trail, m->slot + 1, m->line);
    const bool dirty = trail->dirty;
    trail->dirty = false;
    return dirty;
}

#if !CACHE_GENERAL

/* The first level is filled, the last of those that missed. */
PART enum caches_tried fill_first(const struct missed *m, uint32_t count)
{
    C2_PROMISE(count >= 1 && count <= CACHES_MAX_LEVELS);
    const uint32_t set = set_asked(m, m->first);
    const bool written = m->write && (CACHE_GENERAL || m->first->depth == 0); /* a store stays in a first level */
    const bool dirty = take_dirty(m) || written;
    const uint64_t left = fill(m->first, set, cache_sets_word(m->slot + 1, dirty), m->line);
    m->record[0] = m->first->l1_handle.missed + m->slot + m->first_add +
                   (count - 1) * (UINT64_C(1) << EVENT_LOG_MISSED | UINT64_C(1) << EVENT_LOG_BEHIND);
    m->record[1] = (uint32_t)left + m->second_add;
    if (m->first->depth != 0)
        m->caches->trail.lost = (uint32_t)(left >> 32);
    if (C2_UNLIKELY(m->caches->trail.pushed_count != 0))
        cache_event_log_push(m->caches, 1 + count);
    return CACHES_MISSED;
}

/* The levels below the second likewise. */
PART uint32_t below_second(const struct missed *m, struct cache_level *third)
{
    const uint32_t set = cache_contents_set_of(third, m->line);
    if (ask_further(m, third, 2, set))
        return 0;
    const uint32_t count = third->next ? below(*m, third->next, 3) : 0;
    fill_below(m, third, 2, set);
    return 1 + count;
}

PART struct missed missed_by(struct caches_l1_handle *l1_handle, bool write, uint32_t slot, uint64_t line,
                             uint64_t first_add, uint64_t second_add)
{
    return (struct missed){l1_handle->caches,
                           cache_level_of(l1_handle),
                           l1_handle->event_log->at,
                           write,
                           slot,
                           line,
                           first_add,
                           second_add,
                           NULL};
}

/* A hint for caches_far(): whatever the words between two misses are, nothing else depends on it. */
PART void look_far(const struct missed *m, const struct cache_level *second)
{
    const uintptr_t since = (uintptr_t)m->record - (uintptr_t)m->caches->far_at;
    m->caches->far_at = m->record;
    if (second->next && since < CACHE_FAR_WORDS * sizeof *m->record)
        m->caches->far = CACHE_FAR;
}

/* The second level has missed as well as one above it. Levels are asked down to the one that has the line, and those
 * that missed are filled from there up. */
static __attribute__((noinline)) enum caches_tried missed_both(struct caches_l1_handle *l1_handle, bool write,
                                                               uint32_t slot, uint64_t line, uint64_t first_add,
                                                               uint64_t second_add)
{
    const struct missed m = missed_by(l1_handle, write, slot, line, first_add, second_add);
    struct cache_level *second = m.first->next;
    C2_PROMISE(second && !second->clean);
    l1_handle->misses[(size_t)write]++;
    second->l1_handle.misses[(size_t)write]++;
    look_far(&m, second);
    const uint32_t count = second->next ? below_second(&m, second->next) : 0;
    fill_below(&m, second, 1, cache_contents_set_of(second, line));
    return fill_first(&m, count + 2);
}

/* ------------------------------------------------------------------ the functions of the form */

#ifndef CACHE_FORM_NAME
#define CACHE_FORM_NAME scalar
#endif
#define CACHE_JOIN2(a, b) a##b
#define CACHE_JOIN(a, b) CACHE_JOIN2(a, b)

/* Any miss of any machine, at any level. */
static __attribute__((noinline)) enum caches_tried missed_any(struct caches_l1_handle *l1_handle, bool write,
                                                              uint32_t slot, uint64_t line, uint64_t first_add,
                                                              uint64_t second_add)
{
    const struct missed m = missed_by(l1_handle, write, slot, line, first_add, second_add);
    struct cache_level *second = m.first->next;
    C2_ASSERT(!(write && m.first->clean));
    cache_event_log_asked(m.first, slot);
    if (second && !ask(second, write, slot + 1, cache_contents_set_of(second, line)))
        return missed_both(l1_handle, write, slot, line, first_add, second_add);
    l1_handle->misses[(size_t)write]++;
    return fill_first(&m, 1);
}

static __attribute__((noinline)) enum caches_tried access_by_policy(struct caches_l1_handle *l1_handle, bool write,
                                                                    uint32_t slot, uint64_t line)
{
    struct cache_level *first = cache_level_of(l1_handle);
    C2_PROMISE(!first->ordered);
    uint32_t *words = words_at(first, cache_contents_set_of(first, line));
    const uint32_t place = sets_find(words, slot + 1, first->sets.ways);
    if (C2_UNLIKELY(place >= first->sets.ways))
        return missed_any(l1_handle, write, slot, line, 0, 0);
    l1_handle->hits[(size_t)write]++;
    words[place] |= write;
    hit_by_policy(first, &words[place]);
    return cache_event_log_hit(first, slot);
}

static enum caches_tried access_any(struct caches_l1_handle *l1_handle, bool write, uint32_t slot, uint64_t line)
{
    struct cache_level *first = cache_level_of(l1_handle);
    if (!first->ordered)
        return access_by_policy(l1_handle, write, slot, line);
    uint32_t *words = words_at(first, cache_contents_set_of(first, line));
    l1_handle->youngest = words;
    if (C2_UNLIKELY(!sets_hit(words, slot + 1, write, first->sets.ways)))
        return missed_any(l1_handle, write, slot, line, 0, 0);
    l1_handle->hits[(size_t)write]++;
    return cache_event_log_hit(first, slot);
}

/* ------------------------------------------------------------------ below another machine's first level */

/* That level has filled the line, for which this had to leave. Where an inclusive level may take lines from it, it is
 * known here which it has, in no order. */
PART void below_filled(struct cache_level *first, uint32_t slot, uint64_t line, uint32_t left)
{
    C2_PROMISE(first->depth == 0 && first->ordered);
    const uint32_t tag = cache_sets_tag(left), ways = first->sets.ways;
    if (first->mirrors) {
        uint32_t *words = words_at(first, cache_contents_set_of(first, line));
        const uint32_t place = sets_find(words, tag, ways);
        if (C2_LIKELY(place < ways))
            words[place] = cache_sets_word(slot + 1, false);
        else
            first->l1_handle.caches->first_lost = true; /* the other one has lost a line that is here */
    }
    if (C2_UNLIKELY(left & CACHE_SETS_DIRTY))
        write_down(first->next, tag, cache_lines_line(first->lines, tag - 1));
}

/* The second level has missed as well. What goes with the miss in the other machine's event log - the caller's bits, in
 * `head`, and the access site, behind it - goes with this one's. */
static __attribute__((noinline)) void below_missed(struct cache_level *second, bool write, uint64_t line, uint64_t head,
                                                   const uint64_t *behind)
{
    struct caches_event_log_end *const event_log = second->l1_handle.event_log;
    const uint64_t above = (uint32_t)event_log_rest(head, behind);
    missed_any(&second->l1_handle, write, (uint32_t)head, line, head >> EVENT_LOG_BITS << EVENT_LOG_BITS,
               behind[0] >> 32 << 32);
    caches_event_log_compact(event_log, 0, above | (uint64_t)second->l1_handle.caches->trail.lost << 32, 0);
}

/* Misses of the first levels in another machine's event log, and all hits between: of each the rest of the access. Ends
 * at the first word of something else, or where this machine's own is full, or a first level has lost a line to one
 * below. ways: of the second level, where it has its lines by age; 0: any. */
PART const uint64_t *below_first_of(struct caches *caches, const uint64_t *word, const uint64_t *end,
                                    struct caches_log_writes writes, const uint32_t ways)
{
    struct cache_level *const second = caches->port[CACHE_PORT_DATA]->next;
    struct caches_event_log_end *const event_log = &caches->event_log.end;
    while (word < end && event_log->at < event_log->stop && !caches->first_lost) {
        const uint64_t head = *word;
        if (head >> EVENT_LOG_MISSED == 0) {
            word++;
            continue;
        }
        if (C2_UNLIKELY(!(head & EVENT_LOG_IS_COMPACT)))
            break;
        const uint32_t slot = (uint32_t)head;
        const enum caches_side side = (head >> EVENT_LOG_LEVEL_INDEX & 15) == 0 ? CACHES_DATA : CACHES_FETCH;
        const uint64_t line = cache_lines_line(&caches->lines, slot);
        const bool write = (head >> EVENT_LOG_BITS & writes.mask) == writes.are;
        if (C2_LIKELY(ask_ways(second, write, slot + 1, cache_contents_set_of(second, line), ways)))
            *event_log->at++ = second->l1_handle.level_index_word | slot;
        else
            below_missed(second, write, line, head, word + 1);
        below_filled(caches->port[side], slot, line, event_log_word((uint32_t)word[1]));
        word += 1 + (head >> EVENT_LOG_BEHIND & EVENT_LOG_BEHIND_MASK);
    }
    return word;
}

static const uint64_t *below_first(struct caches *caches, const uint64_t *word, const uint64_t *end,
                                   struct caches_log_writes writes)
{
    const struct cache_level *const second = caches->port[CACHE_PORT_DATA]->next;
    C2_PROMISE(!second->exclusive);
    switch (second->ordered ? second->sets.ways : 0) {
    case 4:
        return below_first_of(caches, word, end, writes, 4);
    case 8:
        return below_first_of(caches, word, end, writes, 8);
    default:
        return below_first_of(caches, word, end, writes, 0);
    }
}

/* The victim of a first level is dirty, all else of the miss is done. */
static __attribute__((noinline)) enum caches_tried wrote(struct caches_l1_handle *l1_handle, uint32_t victim)
{
    C2_PROMISE(victim & CACHE_SETS_DIRTY);
    struct cache_level *first = cache_level_of(l1_handle);
    const uint32_t tag = cache_sets_tag(victim);
    first->counts.writebacks++;
    write_down(first->next, tag, cache_lines_line(first->lines, tag - 1));
    return CACHES_MISSED;
}

#if CACHE_FORM != CACHE_FORM_SCALAR

/* A miss of a first level of eight ways, nothing being above it. What the second level serves is most of it. ways: of
 * the second. Functions without calls but at their ends: so neither a hit nor this needs a stack. */
PART enum caches_tried missed_before(struct caches_l1_handle *l1_handle, bool write, uint32_t slot, uint64_t line,
                                     uint64_t first_add, uint64_t second_add, const uint32_t ways)
{
    uint32_t victim;
    C2_PROMISE(!(write && cache_level_of(l1_handle)->clean) && cache_level_of(l1_handle)->depth == 0);
    l1_handle->notified = slot;
    if (!caches_l1_handle_served(l1_handle, l1_handle->youngest, write, slot, line, CACHE_EIGHT, ways, &victim))
        return missed_both(l1_handle, write, slot, line, first_add, second_add);
    caches_l1_handle_count_served(l1_handle, !write, write);
    caches_l1_handle_record(l1_handle, l1_handle->event_log->at, slot, victim, first_add, second_add);
    return C2_UNLIKELY(victim & CACHE_SETS_DIRTY) ? wrote(l1_handle, victim) : CACHES_MISSED;
}

static __attribute__((noinline)) enum caches_tried missed_before_any(struct caches_l1_handle *l1_handle, bool write,
                                                                     uint32_t slot, uint64_t line, uint64_t first_add,
                                                                     uint64_t second_add)
{
    const uint32_t ways = cache_level_of(l1_handle)->next->sets.ways;
    return missed_before(l1_handle, write, slot, line, first_add, second_add, ways);
}

/* Most second levels have four ways, or eight. */
static enum caches_tried missed_eight(struct caches_l1_handle *l1_handle, bool write, uint32_t slot, uint64_t line,
                                      uint64_t first_add, uint64_t second_add)
{
    switch (cache_level_of(l1_handle)->next->sets.ways) {
    case 4:
        return missed_before(l1_handle, write, slot, line, first_add, second_add, 4);
    case 8:
        return missed_before(l1_handle, write, slot, line, first_add, second_add, 8);
    default:
        return missed_before_any(l1_handle, write, slot, line, first_add, second_add);
    }
}

static enum caches_tried access_eight(struct caches_l1_handle *l1_handle, bool write, uint32_t slot, uint64_t line)
{
    C2_PROMISE(l1_handle->stride == CACHE_EIGHT && l1_handle->ways == CACHE_EIGHT);
    uint32_t *const words = &l1_handle->word[((uint32_t)line & l1_handle->set_mask) * CACHE_EIGHT];
    l1_handle->youngest = words;
    if (C2_UNLIKELY(!sets_hit(words, slot + 1, write, CACHE_EIGHT)))
        return missed_eight(l1_handle, write, slot, line, 0, 0);
    l1_handle->hits[(size_t)write]++;
    return cache_event_log_hit(cache_level_of(l1_handle), slot);
}

#endif

const struct cache_form CACHE_JOIN(cache_form_, CACHE_FORM_NAME) = {
    .any = access_any,
    .any_missed = missed_any,
    .further = missed_both,
    .wrote = wrote,
    .below = below_first,
#if CACHE_FORM != CACHE_FORM_SCALAR
    .eight = access_eight,
    .eight_missed = missed_eight,
#endif
};

#endif

#endif
