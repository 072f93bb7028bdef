/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The rules of contents.c for machines that are not usual: several cores, prefetchers, instructions made for caches,
 * levels that stores pass, and lines that have several sets.
 *
 * Model
 *   As contents.c, and besides:
 *     Names     A level whose lines may be in several sets (level.c), or below which is an exclusive one that needs the
 *               name of what comes to it, keeps for each line the virtual line that it was filled under last. So it
 *               finds the line under any name.
 *     Passing   Of a store the levels asked first, as long as none of them takes what it misses (allocate = no), are
 *               not filled. The next one takes it, or has it; or memory.
 *     Notices   prefetch.c is notified of lines that come, leave and are asked for, coherence.c of those that leave.
 *   What a prefetcher fetches goes the same way from behind the level that fetches, and is no access.
 *   What happens is kept apart until it is over, and is put behind the end of the event log then: lines that levels
 *   lose besides go on it before.
 */
#ifdef C2_NO_SHORTCUTS
#define CACHE_FORM CACHE_FORM_SCALAR
#else
#define CACHE_FORM CACHE_FORM_SSE2
#endif
#define CACHE_GENERAL 1
#include "caches/contents_rules.h"

/* ------------------------------------------------------------------ accesses */

/* The level asked first has the line in this place. */
static void general_hit(const struct cache_request *request, uint32_t *words, uint32_t place)
{
    struct cache_level *first = request->first;
    first->l1_handle.hits[(size_t)request->write]++;
    words[place] |= request->write && !first->through;
    if (!first->ordered) {
        hit_by_policy(first, &words[place]);
        return;
    }
    if (place != 0)
        sets_youngest(words, place, first->sets.ways);
    first->touched = words;
}

/* The first level is filled, the last of those that missed, unless a store passes it. */
static void general_fill_first(const struct missed *m)
{
    struct cache_level *first = m->first;
    const uint32_t set = set_asked(m, first);
    bool dirty = take_dirty(m);
    m->caches->trail.set[0] = set;
    m->record[1] = 0;
    if (!takes_line(m, first, 0, &dirty))
        return;
    m->record[1] = fill(first, set, cache_sets_word(m->slot + 1, dirty), name_of(m));
    if (first->ordered)
        first->touched = words_at(first, set);
}

/* The n-th level asked; NULL: memory. */
static struct cache_level *level_behind(struct cache_level *level, uint32_t n)
{
    for (; n != 0; n--)
        level = level->next;
    return level;
}

/* What has happened is put where contents of usual machines leave it. */
static void general_record(const struct missed *m, uint32_t count)
{
    uint64_t *at = m->caches->event_log.end.at;
    at[0] = (m->first->l1_handle.missed & ~(UINT64_C(15) << EVENT_LOG_MISSED)) | m->slot |
            (uint64_t)count << EVENT_LOG_MISSED;
    memcpy(&at[1], &m->record[1], count * sizeof *at);
    if (C2_UNLIKELY(m->caches->trail.pushed_count != 0))
        cache_event_log_push(m->caches, 1 + count);
}

/* The first level has missed. Says which has the line then, the nearest one: it is the first filled, or, as a store
 * passes all that missed, the one that had it. */
static struct cache_level *general_miss(const struct missed *m)
{
    struct caches *caches = m->caches;
    m->first->l1_handle.misses[(size_t)m->write]++;
    m->first->counts.write_arounds += caches->trail.passing;
    const uint32_t count = 1 + below(*m, m->first->next, 1), passing = caches->trail.passing;
    struct cache_level *server = level_behind(m->first, count);
    if (C2_UNLIKELY(caches->instructed))
        cache_instructed_waited(caches, m->first, server);
    if (C2_UNLIKELY(passing >= count) && server)
        dirty_there(server, m->slot + 1, m->line);
    general_fill_first(m);
    general_record(m, count);
    return passing < count ? level_behind(m->first, passing) : server;
}

static struct missed missed_by_request(struct caches *caches, const struct cache_request *request)
{
    return (struct missed){.caches = caches,
                           .first = request->first,
                           .record = caches->trail.record,
                           .write = request->write,
                           .slot = request->slot,
                           .line = request->line.physical_line.v,
                           .request = request};
}

enum caches_tried cache_contents_access(struct caches *caches, const struct cache_request *request,
                                        struct cache_level **has)
{
    C2_ASSERT(!(request->write && request->first->clean));
    struct cache_level *first = request->first;
    uint32_t *words = words_at(first, cache_contents_set_named(first, request->line));
    const bool youngest = SHORTCUT(cache_sets_tag(*words) == request->slot + 1); /* as most lines asked for are */
    const uint32_t place = youngest ? 0 : sets_find(words, request->slot + 1, first->sets.ways);
    const bool hit = place < first->sets.ways, passes = first->around && request->write;
    caches->trail.passing = passes;
    note_asked(first, request->slot, hit);
    *has = first;
    if (C2_LIKELY(hit)) {
        general_hit(request, words, place);
        if (C2_LIKELY(!passes))
            return CACHES_TRIED;
    }
    const struct missed m = missed_by_request(caches, request);
    if (hit)
        general_record(&m, 0);
    else
        *has = general_miss(&m);
    return CACHES_MISSED;
}

uint32_t cache_contents_fetch(struct caches *caches, const struct cache_request *request)
{
    C2_PROMISE(!request->write && !request->first->exclusive);
    const struct missed m = missed_by_request(caches, request);
    struct cache_level *next = request->first->next;
    caches->trail.passing = 0;
    caches->trail.fetches = true;
    const uint32_t count = below(m, next, 1), served_by = request->first->depth + 1 + count;
    general_fill_first(&m);
    caches->trail.fetches = false;
    cache_event_log_fetch(caches, request->first, request->slot, count + (served_by < caches->level_count));
    return served_by;
}

/* ------------------------------------------------------------------ one line, for coherence and instructions */

uint32_t *cache_contents_find(const struct cache_level *level, uint32_t slot)
{
    uint32_t *words = words_at(level, cache_contents_set_with(level, slot, cache_lines_line(level->lines, slot)));
    const uint32_t place = sets_find(words, slot + 1, level->sets.ways);
    return place < level->sets.ways ? &words[place] : NULL;
}

bool cache_contents_holds(const struct cache_level *level, const struct cache_request *request)
{
    const uint32_t *words = words_at(level, cache_contents_set_named(level, request->line));
    return sets_find(words, request->slot + 1, level->sets.ways) < level->sets.ways;
}

bool cache_contents_lose(struct cache_level *level, uint32_t slot, bool *dirty)
{
    uint32_t *words = words_at(level, cache_contents_set_with(level, slot, cache_lines_line(level->lines, slot)));
    const uint32_t place = sets_find(words, slot + 1, level->sets.ways);
    if (place >= level->sets.ways)
        return false;
    *dirty |= take(level, words, place) & CACHE_SETS_DIRTY;
    return true;
}

void cache_contents_write_down(const struct caches *caches, const struct cache_level *level, uint32_t slot)
{
    write_further(level, slot + 1, cache_lines_line(&caches->lines, slot));
}
