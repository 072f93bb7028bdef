/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What follows a miss in the level asked first: the levels below are asked, the ones that missed are filled, and what
 * had to leave goes on its way down. The model card is in hierarchy.c.
 */
#include "caches/coherence_priv.h"
#include "caches/event_log_priv.h"

/* Where one access stands. */
struct walk {
    struct caches *caches;
    const struct cache_request *request;
    bool fetches;                                  /* it is no access, but what a prefetcher fetches */
    uint32_t asked;                                /* levels that did not have the line, */
    uint32_t victim[CACHES_MAX_LEVELS];            /* [depth]: slot + 1 of what had to leave such a level; 0: nothing */
    struct cache_level *missed[CACHES_MAX_LEVELS]; /* those of them that are to be filled, in the order of asking */
    uint32_t missed_count;
    struct cache_level *server; /* the one that has it; NULL: memory */
};

/* ------------------------------------------------------------------ down: victims */

static struct line_no path_line_of(const struct caches *caches, uint32_t slot)
{
    return (struct line_no){cache_lines_line(&caches->lines, slot)};
}

/* Takes the line from every level above this one and says how many had it; the victim is dirty if a copy was. */
static uint32_t path_invalidate_above(struct caches *caches, const struct cache_level *level,
                                      struct cache_victim *victim)
{
    uint32_t copies = 0;
    for (uint32_t i = 0; i < level->above_count; i++) {
        if (!cache_level_invalidate(level->above[i], victim->row, &victim->dirty))
            continue;
        cache_event_log_lose(caches, level->above[i], victim->slot);
        copies++;
    }
    return copies;
}

/* The line of the access, or another one that an exclusive level loses to it: notified behind the miss, which may find
 * that it has been lost before. */
static void path_note_pushed(struct walk *walk, const struct cache_level *level, uint32_t slot, uint32_t set)
{
    struct cache_trail *trail = &walk->caches->trail;
    if (walk->fetches) {
        cache_event_log_lose(walk->caches, level, slot);
        return;
    }
    C2_ASSERT(trail->pushed_count < CACHE_MAX_PUSHED);
    trail->pushed[trail->pushed_count++] = (struct cache_pushed){level->number, slot, set};
}

/* The level has lost the line of a way, as it was filled, or pushed out of an exclusive one. */
static void path_note_victim(struct walk *walk, const struct cache_level *level, uint32_t slot, uint32_t set)
{
    const bool first = level == walk->request->first;
    if (walk->fetches || (level->exclusive && !first))
        path_note_pushed(walk, level, slot, set);
    else
        walk->victim[level->depth] = slot + 1;
}

static void residency(struct walk *walk, struct cache_level *level, struct cache_line line, uint32_t slot,
                      struct cache_state *row, bool dirty);

/* The victim of the level above becomes a line of this exclusive one. */
static __attribute__((noinline)) void path_insert(struct walk *walk, struct cache_level *level,
                                                  const struct cache_victim *victim)
{
    struct cache_state *state = &victim->row[level->level_index];
    struct cache_line line = {victim->virtual_line, path_line_of(walk->caches, victim->slot)};
    if (state->residency == 0)
        residency(walk, level, line, victim->slot, victim->row, victim->dirty);
    else
        state->residency |= victim->dirty;
}

static inline void path_evict(struct walk *walk, struct cache_level *level, uint32_t way)
{
    struct cache_victim victim = cache_level_take(level, way);
    if (C2_UNLIKELY(level->prefetch))
        cache_prefetch_evicted(level, victim.slot, cache_policy_set_of(&level->policy, way) - 1);
    path_note_victim(walk, level, victim.slot, cache_policy_set_of(&level->policy, way) - 1);
    if (level->inclusive)
        level->counts.back_invalidations += path_invalidate_above(walk->caches, level, &victim);
    level->counts.writebacks += victim.dirty;
    if (level->next && level->next->exclusive)
        path_insert(walk, level->next, &victim);
    else if (victim.dirty)
        cache_write_down(level->next, victim.row);
    if (C2_UNLIKELY(level->coherent))
        cache_coherence_evicted(walk->caches, level, victim.slot);
    C2_PROMISE(cache_row_holds(walk->caches, victim.row));
}

/* Makes room for a line that the level does not have, and puts it there. */
static void residency(struct walk *walk, struct cache_level *level, struct cache_line line, uint32_t slot,
                      struct cache_state *row, bool dirty)
{
    uint32_t set = cache_level_set(level, cache_level_place(level, line));
    uint32_t way = cache_level_choose(level, set);
    if (C2_LIKELY(level->policy.word[way] != 0))
        path_evict(walk, level, way);
    cache_level_put(level, way, slot, row, line.virtual_line, dirty);
}

/* ------------------------------------------------------------------ up: fills */

/* The line leaves the exclusive level that served it; its dirtiness goes to the level filled first, but not into one
 * that holds nothing dirty, nor of several cores to one that shares the line. */
static bool move_out(struct walk *walk)
{
    struct cache_state *row = walk->request->row;
    struct cache_level *server = walk->server;
    bool dirty = false;
    cache_level_invalidate(server, row, &dirty);
    path_note_pushed(walk, server, walk->request->slot, CACHE_MOVED);
    if (C2_UNLIKELY(server->prefetch))
        cache_prefetch_moved(server, walk->request->slot);
    uint32_t into = walk->missed_count - 1;
    while (into > 0 && walk->missed[into]->exclusive)
        into--;
    const bool may = !server->coherent || cache_coherence_may_be_dirty(walk->caches, walk->request->slot);
    if ((may && !walk->missed[into]->clean) || !dirty)
        return dirty;
    server->counts.writebacks++;
    cache_write_down(server->next, row);
    return false;
}

static void path_fill(struct walk *walk, struct cache_level *level, bool dirty)
{
    const struct cache_request *request = walk->request;
    if (C2_UNLIKELY(level->synonyms) && cache_level_invalidate(level, request->row, &dirty))
        path_note_pushed(walk, level, request->slot, CACHE_MOVED); /* it missed, so what is there is a synonym */
    residency(walk, level, request->line, request->slot, request->row, dirty);
}

/* dirty: what came from below is. */
static void fill_all(struct walk *walk, bool dirty)
{
    for (uint32_t i = walk->missed_count - 1; i > 0; i--) {
        if (walk->missed[i]->exclusive || (walk->request->by_passing && !walk->missed[i]->inclusive))
            continue;
        path_fill(walk, walk->missed[i], dirty);
        dirty = false;
    }
    C2_ASSERT(!dirty || !walk->missed[0]->through);
    path_fill(walk, walk->missed[0], dirty || (walk->request->write && !walk->missed[0]->through));
}

/* ------------------------------------------------------------------ the whole of it */

/* One level is asked; false: it misses. */
static bool path_ask(struct walk *walk, struct cache_level *level)
{
    const struct cache_request *request = walk->request;
    const bool above = walk->missed_count > 0,
               hit = cache_level_holds(level, &request->row[level->level_index], request->line);
    walk->caches->trail.passing += cache_level_passes(level, request->write, above);
    if (C2_UNLIKELY(level->prefetch))
        cache_prefetch_asked(level, request->slot, hit);
    ++*(hit ? &level->l1_handle.hits[request->write] : &level->misses[request->write]);
    return hit;
}

/* It has missed, and will be filled; or not, and then a store goes on. */
static inline void note_miss(struct walk *walk, struct cache_level *level)
{
    struct caches *caches = walk->caches;
    caches->trail.set[walk->asked++] = cache_level_set(level, cache_level_place(level, walk->request->line)) - 1;
    walk->victim[level->depth] = 0;
    if (C2_UNLIKELY(cache_level_passes(level, walk->request->write, walk->missed_count > 0)))
        level->counts.write_arounds++;
    else
        walk->missed[walk->missed_count++] = level;
}

/* From the level asked first, which missed, to the one that has the line: each one before that is asked and misses. */
static void find_server(struct walk *walk)
{
    struct cache_level *level = walk->request->first;
    do {
        note_miss(walk, level);
        level = level->next;
    } while (level && !path_ask(walk, level));
    walk->server = level;
}

/* A store that no level takes is done where the line is. */
static __attribute__((noinline)) struct cache_level *store_there(const struct walk *walk)
{
    struct cache_level *server = walk->server;
    if (!server)
        return NULL;
    C2_ASSERT(!server->exclusive);
    struct cache_state *state = &walk->request->row[server->level_index];
    cache_policy_hit(&server->policy, cache_state_way(state));
    state->residency |= !server->through;
    return server;
}

/* The line goes from where it is to the levels that are to be filled. */
static inline struct cache_level *path_bring(struct walk *walk)
{
    const struct cache_request *request = walk->request;
    bool dirty = false;
    if (C2_UNLIKELY(walk->missed_count == 0))
        return store_there(walk);
    if (walk->server && walk->server->exclusive)
        dirty = move_out(walk);
    else if (walk->server)
        cache_policy_hit(&walk->server->policy, cache_state_way(&request->row[walk->server->level_index]));
    C2_PROMISE(!walk->server || !walk->server->exclusive || request->row[walk->server->level_index].residency == 0);
    fill_all(walk, dirty);
    return walk->missed[0];
}

/* The ways of the last level are the host's own cache misses, and what they name is the next one: the sooner the
 * better. */
static void prefetch_last(const struct cache_level *last, struct cache_line line)
{
    uint32_t set = cache_level_set(last, cache_level_place(last, line));
    __builtin_prefetch(&last->policy.word[(size_t)set << last->policy.way_bits]);
}

/* What has happened is put where the contents of a usual machine leave it. */
static void path_record(struct walk *walk)
{
    struct caches *caches = walk->caches;
    const struct cache_level *first = walk->request->first;
    uint64_t *record = caches->event_log.end.at;
    record[0] = (first->l1_handle.missed & ~(UINT64_C(15) << TAPE_MISSED)) | walk->request->slot |
                (uint64_t)walk->asked << TAPE_MISSED;
    for (uint32_t i = 0; i < walk->asked; i++)
        record[1 + i] = walk->victim[first->depth + i];
    if (C2_UNLIKELY(caches->trail.pushed_count != 0))
        cache_event_log_push(caches, 1 + walk->asked);
}

static struct cache_level *path_miss(struct walk *walk)
{
    struct caches *caches = walk->caches;
    const struct cache_request *request = walk->request;
    C2_ASSERT(((request->line.virtual_line.v ^ request->line.physical_line.v) & caches->page_mask) == 0);
    C2_ASSERT(!(request->write && request->first->clean));
    prefetch_last(caches->last_level, request->line);
    find_server(walk);
    if (C2_UNLIKELY(caches->instructed))
        cache_instructed_waited(caches, request->first, walk->server);
    return path_bring(walk);
}

static struct cache_level *path_hit(const struct cache_request *request)
{
    struct cache_level *first = request->first;
    struct cache_state *state = &request->row[first->level_index];
    cache_policy_hit(&first->policy, cache_state_way(state));
    state->residency |= request->write && !first->through;
    return first;
}

struct cache_level *cache_path_access(struct caches *caches, const struct cache_request *request,
                                      struct caches_outcome *outcome)
{
    struct walk walk;
    walk.caches = caches;
    walk.request = request;
    walk.fetches = false;
    walk.asked = walk.missed_count = caches->trail.passing = 0;
    const bool hit = path_ask(&walk, request->first);
    struct cache_level *has = hit ? path_hit(request) : path_miss(&walk);
    if (hit && caches->trail.passing == 0) {
        cache_event_log_put_hit(request->first, request->slot);
        if (outcome)
            cache_notify_hit(outcome, request->first->depth);
        return has;
    }
    path_record(&walk);
    cache_event_log_classify(caches, outcome);
    return has;
}

void cache_path_store(struct caches *caches, const struct cache_request *request, struct cache_level *level)
{
    while (level && level->through) {
        level->counts.write_throughs++;
        if (!level->next)
            return;
        struct cache_request on = *request;
        on.first = level->next;
        on.first->stored++;
        struct caches_stored *stored = &caches->stored[caches->stored_count++];
        stored->first = on.first->depth;
        level = cache_path_access(caches, &on, &stored->outcome);
    }
}

/* ------------------------------------------------------------------ a prefetch */

/* As find_server(), of levels that are not told apart from any other access, but for the counts. */
static void find_unasked(struct walk *walk)
{
    const struct cache_request *request = walk->request;
    struct cache_level *level = request->first;
    do {
        walk->missed[walk->missed_count++] = level;
        level = level->next;
    } while (level && !cache_level_holds(level, &request->row[level->level_index], request->line));
    walk->server = level;
    cache_event_log_fetch(walk->caches, request->first, request->slot, walk->missed_count - !level);
    if (level)
        cache_prefetch_used(level, request->slot, false);
}

uint32_t cache_path_prefetch(struct caches *caches, const struct cache_request *request)
{
    struct walk walk = {.caches = caches, .request = request, .fetches = true};
    find_unasked(&walk);
    path_bring(&walk);
    return walk.server ? walk.server->depth : caches->level_count;
}
