/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The way of one access up to its first miss, and two shortcuts on it. The model card is in hierarchy.c.
 *
 * access_any() is the whole truth. Hits in the first level and misses that the second serves are nearly all there is,
 * and each has a way of its own where what it must do is known beforehand. Without shortcuts (-DC2_NO_SHORTCUTS) every
 * access takes access_any(), and no count changes.
 */
#include "caches/coherence_priv.h"
#include "caches/contents_priv.h"
#include "caches/tape_priv.h"

#define HOST_LINE 64u

struct cache_level *cache_access_first(struct caches *caches, const struct cache_request *request,
                                       struct caches_outcome *outcome)
{
    struct cache_level *first = request->first;
    if (outcome)
        *outcome = (struct caches_outcome){.depth = first->depth + 1, .served_by = first->depth};
    if (cache_level_ask(first, request, false, outcome ? &outcome->event[first->depth] : NULL) != CACHES_HIT)
        return cache_path_miss(caches, request, outcome);
    struct cache_state *state = &request->row[first->column];
    cache_policy_hit(&first->policy, cache_state_way(state));
    state->seat |= request->write && !first->through;
    return first;
}

enum c2_status cache_access_from(struct caches *caches, struct cache_request *request, struct caches_outcome *outcome,
                                 struct c2_error *err)
{
    struct cache_level *first = request->first;
    request->slot = caches_slot(caches, request->line.physical_line);
    if (request->slot == LINES_NO_SLOT)
        return c2_fail_memory(err, "the table of lines accessed");
    if (C2_UNLIKELY(caches->prefetch)) {
        if (!cache_prefetch_reach(caches))
            return c2_fail_memory(err, "what is known of prefetched lines");
        cache_prefetch_begin(caches->prefetch);
    }
    if (C2_UNLIKELY(caches->instructed)) {
        cache_instructed_asked(caches, request->line.physical_line);
        cache_instructed_accessed(caches, request->slot);
    }
    request->row = cache_lines_row(&caches->lines, request->slot);
    caches->lines.signature = cache_signature(first->clean ? request->line.virtual_line.v << first->line_shift
                                                           : caches->lines.pc);
    if (C2_UNLIKELY(caches->coherence))
        if (!cache_coherence_reach(caches) || !cache_coherence_before(caches, request))
            return c2_fail_memory(err, "what cores share");
    struct cache_level *has = cache_access_first(caches, request, outcome);
    if (C2_UNLIKELY(caches->writes_on)) {
        caches->stored_count = 0;
        if (request->write)
            cache_path_store(caches, request, has);
    }
    if (C2_UNLIKELY(caches->coherence) && !cache_coherence_after(caches, request, outcome))
        return c2_fail_memory(err, "what cores share");
    return C2_UNLIKELY(caches->prefetchers) ? cache_prefetch_follow(caches, request, err) : C2_OK;
}

/* ------------------------------------------------------------------ usual machines */

uint32_t caches_slot(struct caches *caches, struct line_no physical_line)
{
    const uint32_t recent = cache_lines_slot_recent(&caches->lines, physical_line.v), groups = caches->lines.groups;
    if (recent != LINES_NO_SLOT)
        return recent;
    const uint32_t slot = cache_lines_slot(&caches->lines, physical_line.v);
    const bool added = caches->lines.groups != groups;
    return added && caches->usual && !cache_tape_group(caches) ? LINES_NO_SLOT : slot;
}

static inline void tell_hit(struct caches_outcome *outcome, uint32_t depth)
{
    outcome->depth = depth + 1;
    outcome->served_by = depth;
    outcome->event[depth].class_ = CACHES_HIT;
}

static __attribute__((noinline)) enum c2_status no_room(struct c2_error *err)
{
    return c2_fail_memory(err, "the table of lines accessed");
}

/* access: caches->access or access_any. */
static inline enum c2_status usual_access(struct caches *caches, cache_access_function *access,
                                          struct cache_level *first, bool write, struct cache_line line, uint32_t *last,
                                          struct caches_outcome *outcome, struct c2_error *err)
{
    C2_ASSERT(((line.virtual_line.v ^ line.physical_line.v) & caches->page_mask) == 0);
    const uint32_t slot = caches_slot(caches, line.physical_line);
    if (C2_UNLIKELY(slot == LINES_NO_SLOT))
        return no_room(err);
    *last = slot;
    if (access(&first->front, write, slot, line.physical_line.v) == CACHES_MISSED) {
        caches_judge(caches, outcome);
        return C2_UNLIKELY(caches->verdicts->rows.failed) ? no_room(err) : C2_OK;
    }
    if (outcome)
        tell_hit(outcome, first->depth);
    C2_PROMISE(cache_access_holds(caches, slot));
    return C2_OK;
}

enum c2_status cache_access_at(struct caches *caches, struct cache_level *first, struct cache_line line,
                               struct caches_outcome *outcome, struct c2_error *err)
{
    struct cache_request request = {.first = first, .line = line};
    if (caches->usual)
        return usual_access(caches, caches->access_any, first, false, line, &request.slot, outcome, err);
    enum c2_status status = cache_access_from(caches, &request, outcome, err);
    C2_PROMISE(status != C2_OK || cache_access_holds(caches, request.slot));
    return status;
}

/* ------------------------------------------------------------------ all others */

/* This and access_second() are functions of their own, with no more arguments than caches_access(): so the way of a hit
 * needs no stack. */
static __attribute__((noinline)) enum c2_status access_any(struct caches *caches, enum caches_side side, bool write,
                                                           struct cache_line line, struct caches_outcome *outcome,
                                                           struct c2_error *err)
{
    struct cache_request request = {.write = write, .first = caches->port[side], .line = line};
    C2_ASSERT(request.first);
    enum c2_status status = cache_access_from(caches, &request, outcome, err);
    caches->last[side] = request.slot;
    C2_PROMISE(status != C2_OK || cache_access_holds(caches, request.slot));
    return status;
}

/* The first level missed and puts the line into this way, the second has it. */
static inline void tell_second(const struct caches *caches, struct caches_outcome *outcome,
                               const struct cache_level *first, uint32_t way)
{
    uint32_t line = first->policy.way[way].line;
    outcome->depth = 2;
    outcome->served_by = 1;
    outcome->evicted = line != 0;
    if (line != 0) {
        outcome->event[0].victim.v = cache_lines_line(&caches->lines, line - 1);
        outcome->event[0].victim_set = outcome->event[0].set_number;
    }
    outcome->event[1].class_ = CACHES_HIT;
}

/* The second most common case: the first level has short hits but not the line, and of the second level both is true.
 * What access_any() and path.c would do for it, in one piece: 440 instructions instead of 727, upkeep of the shadows
 * included. caches->last[side] is the line's slot. */
static __attribute__((noinline)) enum c2_status access_second(struct caches *caches, enum caches_side side, bool write,
                                                              struct cache_line line, struct caches_outcome *outcome,
                                                              struct c2_error *err)
{
    struct cache_level *first = caches->port[side], *second = first->next;
    uint32_t slot = caches->last[side];
    struct cache_state *row = cache_lines_row(&caches->lines, slot), *state = &row[first->column],
                       *there = &row[second->column];
    if (there->stamp < second->shadow.horizon || second->shadow.clock >= second->shadow.stop)
        return access_any(caches, side, write, line, outcome, err);
    enum caches_class class_ = cache_shadow_touch(&first->shadow, &state->stamp, slot);
    cache_count_miss(&first->counts, write, class_);
    cache_count_hit(&second->counts, write);
    there->stamp = second->shadow.clock++;
    cache_policy_youngest(&second->policy, cache_state_way(there));
    struct cache_place place = cache_level_place(first, line);
    uint32_t way = cache_level_choose(first, cache_level_set(first, place));
    if (outcome) {
        cache_tell_miss(&outcome->event[0], first, slot, class_, place);
        tell_second(caches, outcome, first, way);
    }
    if (C2_LIKELY(first->policy.way[way].line != 0)) {
        struct cache_victim victim = cache_level_take(first, way);
        first->counts.writebacks += victim.dirty;
        if (victim.dirty)
            cache_write_down(second, victim.row);
        C2_PROMISE(cache_row_holds(caches, victim.row));
    }
    cache_level_put(first, way, slot, row, line.virtual_line, write);
    C2_PROMISE(cache_access_holds(caches, slot));
    return C2_OK;
}

/* The common case: a hit in a first level with LRU and without synonyms, of a line that its shadow has. What
 * access_any() would do for it, without a call and without a jump that cannot be predicted: 94 instructions instead of
 * 195, upkeep of the shadow included. Nothing is changed before all of it is known. */
static inline bool short_hit(struct cache_level *first, struct cache_state *state, bool write)
{
    struct cache_policy *policy = &first->policy;
    struct cache_shadow *shadow = &first->shadow;
    uint32_t seat = state->seat, clock = shadow->clock, age = policy->clock;
    if (state->stamp < shadow->horizon || clock >= shadow->stop || age == CACHE_AGE_LIMIT)
        return false;
    state->stamp = clock;
    shadow->clock = clock + 1;
    state->seat = seat | write;
    policy->way[seat >> 1].age = policy->clock = age + 1;
    cache_count_hit(&first->counts, write);
    C2_PROMISE(cache_policy_is_youngest(policy, seat >> 1) && cache_shadow_holds(shadow, state->stamp));
    return true;
}

enum c2_status caches_access(struct caches *caches, enum caches_side side, bool write, struct line_no virtual_line,
                             struct line_no physical_line, struct caches_outcome *outcome, struct c2_error *err)
{
    struct cache_level *first = caches->port[side];
    const struct cache_line line = {virtual_line, physical_line};
    C2_ASSERT(first);
    if (C2_LIKELY(caches->usual))
        return usual_access(caches, caches->access, first, write, line, &caches->last[side], outcome, err);
    const uint32_t slot = cache_lines_slot_recent(&caches->lines, physical_line.v);
    if (SHORTCUT(slot != LINES_NO_SLOT && first->short_hits)) {
        struct cache_state *row = cache_lines_row(&caches->lines, slot), *state = &row[first->column];
        caches->last[side] = slot;
        if (state->seat == 0 && first->short_next && row[first->next_column].seat != 0)
            return access_second(caches, side, write, line, outcome, err);
        if (state->seat != 0 && short_hit(first, state, write)) {
            if (outcome)
                tell_hit(outcome, 0);
            C2_PROMISE(cache_access_holds(caches, slot));
            return C2_OK;
        }
    }
    return access_any(caches, side, write, line, outcome, err);
}

/* Where hits are short a line has one name, so the virtual one does not matter. */
static bool short_try(struct caches *caches, struct cache_level *first, bool write, uint32_t slot)
{
    struct cache_state *state = cache_lines_state(&caches->lines, slot, first->column);
    return state->seat != 0 && short_hit(first, state, write);
}

static enum caches_tried try_short(struct caches *caches, enum caches_side side, bool write, uint32_t slot)
{
    struct cache_level *first = caches->port[side];
    if (!SHORTCUT(first && first->short_hits && short_try(caches, first, write, slot)))
        return CACHES_UNTRIED;
    caches->last[side] = slot;
    C2_PROMISE(cache_access_holds(caches, slot));
    return CACHES_TRIED;
}

enum caches_tried cache_try_short(struct caches_front *front, bool write, uint32_t slot, uint64_t line)
{
    struct caches *caches = front->caches;
    (void)line;
    return try_short(caches, cache_level_of(front)->column < caches->level_count ? CACHES_DATA : CACHES_FETCH, write,
                     slot);
}

enum caches_tried caches_try(struct caches *caches, enum caches_side side, bool write, uint32_t slot,
                             struct line_no physical_line)
{
    C2_PROMISE(cache_lines_line(&caches->lines, slot) == physical_line.v);
    struct cache_level *first = caches->port[side];
    const enum caches_tried tried = caches_again(&first->front, write, slot, physical_line);
    if (caches->usual)
        caches->last[side] = slot;
    if (tried == CACHES_UNTRIED)
        return caches_try_others(&first->front, write, slot, physical_line);
    return C2_UNLIKELY(tried == CACHES_FULL) ? cache_tape_full(caches) : CACHES_TRIED;
}

struct caches_front *caches_front(struct caches *caches, enum caches_side side)
{
    return caches->port[side] ? &caches->port[side]->front : NULL;
}

bool caches_front_holds(const struct caches_front *front, uint32_t slot)
{
    return cache_sets_tag(*front->youngest) == slot + 1 && cache_access_holds(front->caches, slot);
}

unsigned caches_form(const struct caches *caches) { return caches->form; }

const uint32_t *caches_far(const struct caches *caches) { return &caches->far; }

/* The youngest line of a set is mostly accessed again before it is not. */
static bool is_youngest(const struct caches_front *front, uint32_t slot, uint64_t line)
{
    return cache_sets_tag(front->word[((uint32_t)line & front->set_mask) * front->stride]) == slot + 1;
}

void caches_expect(struct caches *caches, uint32_t slot, struct line_no physical_line)
{
    const struct cache_level *first = caches->port[CACHES_DATA], *third = first->next->next;
    caches->far--;
    if (is_youngest(&first->front, slot, physical_line.v))
        return;
    const uint32_t *words = cache_sets_at(&third->sets, cache_contents_set_of(third, physical_line.v));
    for (uint32_t place = 0; place < third->sets.stride; place += HOST_LINE / sizeof *words)
        __builtin_prefetch(&words[place], 1);
}

enum caches_tried caches_try_walk(struct caches *caches, struct line_no physical_line, uint32_t *served_by)
{
    struct cache_level *first = caches->port[CACHE_PORT_WALK];
    const uint32_t slot = caches_slot(caches, physical_line);
    if (slot == LINES_NO_SLOT)
        return CACHES_UNTRIED;
    first->walked += first != caches->port[CACHE_PORT_DATA];
    caches->last[CACHES_DATA] = LINES_NO_SLOT;
    *served_by = first->depth;
    const enum caches_tried tried = caches->access_any(&first->front, false, slot, physical_line.v);
    if (tried == CACHES_MISSED)
        *served_by = first->depth + tape_missed(*caches->tape.end.at);
    return tried;
}

static void repeat_any(struct caches *caches, struct cache_level *first, bool write, uint64_t n)
{
    struct cache_state *state = cache_level_state(first, caches->last[CACHES_DATA]);
    C2_ASSERT(state->seat != 0);
    first->counts.accesses += n;
    first->counts.hits += n;
    first->counts.reads += write ? 0 : n;
    first->counts.writes += write ? n : 0;
    cache_policy_hits(&first->policy, cache_state_way(state), n);
    state->seat |= write;
}

/* No policy but SHiP changes at a second hit of the way touched last, and LRU not at the first. The shadow needs no
 * word, the line is its youngest. */
void caches_repeat(struct caches *caches, bool write, uint64_t n)
{
    struct cache_level *first = caches->port[CACHE_PORT_DATA];
    if (n == 0)
        return;
    C2_ASSERT(caches->last[CACHES_DATA] != LINES_NO_SLOT && !caches->prefetchers && !caches->writes_on);
    if (C2_LIKELY(caches->usual)) {
        const bool done = caches_repeats(&first->front, write ? 0 : n, write ? n : 0);
        C2_ASSERT(done);
    } else {
        repeat_any(caches, first, write, n);
    }
    C2_PROMISE(cache_access_holds(caches, caches->last[CACHES_DATA]));
}
