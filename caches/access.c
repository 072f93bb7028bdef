/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The way of one access up to its first miss. The model card is in hierarchy.c.
 */
#include "caches/coherence_priv.h"
#include "caches/contents_priv.h"
#include "caches/event_log_priv.h"

#define HOST_LINE 64u

static __attribute__((noinline)) enum c2_status no_room(struct c2_error *err)
{
    return c2_fail_memory(err, "the table of lines accessed");
}

/* ------------------------------------------------------------------ machines that are not usual */

/* The levels are asked, and what they did is said. Says what cache_contents_access() says in *has. */
static struct cache_level *access_levels(struct caches *caches, const struct cache_request *request,
                                         struct caches_outcome *outcome)
{
    struct cache_level *has, *first = request->first;
    if (cache_contents_access(caches, request, &has) == CACHES_MISSED) {
        cache_event_log_asked(first, caches->trail.passing == 0 ? request->slot : LINES_NO_SLOT);
        cache_event_log_classify(caches, outcome);
        return has;
    }
    cache_event_log_hit(first, request->slot);
    if (outcome)
        cache_notify_hit(outcome, request->first->depth);
    return has;
}

/* A store is done in this level, or (NULL) in memory: it goes on from there if it must. */
static void access_store(struct caches *caches, const struct cache_request *request, struct cache_level *level)
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
        level = access_levels(caches, &on, &stored->outcome);
    }
}

/* What SHiP takes the access for: a fetch has no other instruction than its line. */
static inline void sign(struct caches *caches, const struct cache_level *first, struct line_no virtual_line)
{
    if (C2_LIKELY(!caches->signs))
        return;
    const uint64_t instruction = first->clean ? virtual_line.v << first->line_shift : caches->lines.pc;
    caches->lines.signature = cache_signature(instruction);
}

static enum c2_status general_access(struct caches *caches, const struct cache_request *request,
                                     struct caches_outcome *outcome, struct c2_error *err)
{
    const struct cache_level *first = request->first;
    if (C2_UNLIKELY(first->clean && !cache_classifier_reach(caches->classifier, first->level_index, request->slot)))
        return no_room(err);
    if (C2_UNLIKELY(caches->prefetch)) {
        if (!cache_prefetch_reach(caches))
            return c2_fail_memory(err, "what is known of prefetched lines");
        cache_prefetch_begin(caches->prefetch);
    }
    if (C2_UNLIKELY(caches->instructed)) {
        cache_instructed_asked(caches, request->line.physical_line);
        cache_instructed_accessed(caches, request->slot);
    }
    if (C2_UNLIKELY(caches->coherence))
        if (!cache_coherence_reach(caches) || !cache_coherence_before(caches, request))
            return c2_fail_memory(err, "what cores share");
    if (outcome)
        outcome->upgraded = outcome->filtered = false;
    struct cache_level *has = access_levels(caches, request, outcome);
    if (C2_UNLIKELY(caches->writes_on)) {
        caches->stored_count = 0;
        if (request->write)
            access_store(caches, request, has);
    }
    if (C2_UNLIKELY(caches->coherence) && !cache_coherence_after(caches, request, has, outcome))
        return c2_fail_memory(err, "what cores share");
    return C2_UNLIKELY(caches->prefetchers) ? cache_prefetch_follow(caches, request, err) : C2_OK;
}

/* ------------------------------------------------------------------ any machine */

uint32_t caches_slot(struct caches *caches, struct line_no physical_line)
{
    const uint32_t recent = cache_lines_slot_recent(&caches->lines, physical_line.v), groups = caches->lines.groups;
    if (recent != LINES_NO_SLOT)
        return recent;
    const uint32_t slot = cache_lines_slot(&caches->lines, physical_line.v);
    const bool added = caches->lines.groups != groups;
    if (C2_LIKELY(!added || (cache_contents_reach(caches) && cache_event_log_group(caches))))
        return slot;
    caches->classifier->rows.failed = true; /* the line will be found the next time */
    return LINES_NO_SLOT;
}

static void usual_access(struct caches *caches, const struct cache_request *request, struct caches_outcome *outcome)
{
    struct cache_level *first = request->first;
    cache_access_function *access = first->depth == 0 ? caches->access : caches->access_any;
    if (access(&first->l1_handle, request->write, request->slot, request->line.physical_line.v) == CACHES_MISSED)
        caches_classify(caches, outcome);
    else if (outcome)
        cache_notify_hit(outcome, first->depth);
}

enum c2_status cache_access_at(struct caches *caches, struct cache_request *request, struct caches_outcome *outcome,
                               struct c2_error *err)
{
    C2_ASSERT(request->first);
    C2_ASSERT(((request->line.virtual_line.v ^ request->line.physical_line.v) & caches->page_mask) == 0);
    enum c2_status status = C2_OK;
    request->slot = caches_slot(caches, request->line.physical_line);
    if (C2_UNLIKELY(request->slot == LINES_NO_SLOT || caches->classifier->rows.failed))
        return no_room(err);
    sign(caches, request->first, request->line.virtual_line);
    if (C2_LIKELY(caches->usual))
        usual_access(caches, request, outcome);
    else
        status = general_access(caches, request, outcome, err);
    if (C2_UNLIKELY(caches->classifier->rows.failed))
        return no_room(err);
    C2_PROMISE(status != C2_OK || cache_access_holds(caches, request->slot));
    return status;
}

enum c2_status caches_access(struct caches *caches, enum caches_side side, bool write, struct line_no virtual_line,
                             struct line_no physical_line, struct caches_outcome *outcome, struct c2_error *err)
{
    struct cache_request request = {.write = write, .first = caches->port[side], .line = {virtual_line, physical_line}};
    enum c2_status status = cache_access_at(caches, &request, outcome, err);
    caches->last[side] = request.slot;
    return status;
}

enum caches_tried cache_untried(struct caches_l1_handle *l1_handle, bool write, uint32_t slot, uint64_t line)
{
    (void)l1_handle, (void)write, (void)slot, (void)line;
    return CACHES_UNTRIED;
}

enum caches_tried caches_try(struct caches *caches, enum caches_side side, bool write, uint32_t slot,
                             struct line_no physical_line)
{
    C2_PROMISE(cache_lines_line(&caches->lines, slot) == physical_line.v);
    struct cache_level *first = caches->port[side];
    const enum caches_tried tried = caches_again(&first->l1_handle, write, slot, physical_line);
    if (caches->usual)
        caches->last[side] = slot;
    if (tried == CACHES_UNTRIED)
        return caches_try_others(&first->l1_handle, write, slot, physical_line);
    return C2_UNLIKELY(tried == CACHES_FULL) ? cache_event_log_full(caches) : CACHES_TRIED;
}

struct caches_l1_handle *caches_l1_handle(struct caches *caches, enum caches_side side)
{
    return caches->port[side] ? &caches->port[side]->l1_handle : NULL;
}

bool caches_l1_handle_holds(const struct caches_l1_handle *l1_handle, uint32_t slot)
{
    return cache_sets_tag(*l1_handle->youngest) == slot + 1 && cache_access_holds(l1_handle->caches, slot);
}

unsigned caches_form(const struct caches *caches) { return caches->form; }

const uint32_t *caches_far(const struct caches *caches) { return &caches->far; }

/* The youngest line of a set is mostly accessed again before it is not. */
static bool is_youngest(const struct caches_l1_handle *l1_handle, uint32_t slot, uint64_t line)
{
    return cache_sets_tag(l1_handle->word[((uint32_t)line & l1_handle->set_mask) * l1_handle->stride]) == slot + 1;
}

void caches_expect(struct caches *caches, uint32_t slot, struct line_no physical_line)
{
    const struct cache_level *first = caches->port[CACHES_DATA], *third = first->next->next;
    caches->far--;
    if (is_youngest(&first->l1_handle, slot, physical_line.v))
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
    const enum caches_tried tried = caches->access_any(&first->l1_handle, false, slot, physical_line.v);
    if (tried == CACHES_MISSED)
        *served_by = first->depth + event_log_missed(*caches->event_log.end.at);
    return tried;
}

/* The same where caches_repeats() has nothing at hand. LRU does not change at a hit of the way touched last, other
 * policies may. The shadow needs no word, the line is its youngest. */
static void repeat_by_policy(struct cache_level *first, bool write, uint64_t n)
{
    C2_PROMISE(first->l1_handle.caches->usual ||
               cache_sets_tag(*first->touched) - 1 == first->l1_handle.caches->last[CACHES_DATA]);
    if (!first->ordered)
        cache_policy_hits(&first->policy, (uint32_t)(first->touched - first->policy.word), n);
    *first->touched |= write;
    first->l1_handle.hits[(size_t)write] += n;
}

void caches_repeat(struct caches *caches, bool write, uint64_t n)
{
    struct cache_level *first = caches->port[CACHE_PORT_DATA];
    if (n == 0)
        return;
    C2_ASSERT(!caches->prefetchers && !caches->writes_on);
    if (!caches_repeats(&first->l1_handle, write ? 0 : n, write ? n : 0))
        repeat_by_policy(first, write, n);
    C2_PROMISE(cache_access_holds(caches, caches->last[CACHES_DATA]));
}
