/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * share: machines of one stream whose first levels and TLBs are the same, simulated once as far as these go.
 *
 * Model
 *   One simulator, the leader, takes the records: translations, TLBs, L1D and L1I, owners and access sites. What its
 *   first stage has written on its event log goes to its own second stage, and to each follower, which asks its own
 *   levels from the second one on (caches/follow.c), and has shadows, classes and evictors of these. A follower gets no
 *   records. Where its counts are needed - where a phase ends, what was measured is kept or dropped, caches are emptied
 *   - the leader has all of its event log heard first, and those of references, TLBs and first levels are the leader's.
 *   What is counted for instructions is the leader's at the end.
 *   The leader and each follower are readers of one ring, with as many threads as they may have; or one comes after
 *   the other on the thread that consumes.
 *
 * Placements
 *   A follower may have a placement of its own: first levels know lines by their slots, which are the same as long as
 *   both placements have the same pages: one page of the follower for each of the leader, of the same size, and changed
 *   at the same marks. The leader's first stage looks to that at each page that it translates, and writes on the event
 *   log where the follower has it.
 *
 * Departures
 *   A follower departs where its first levels would no longer be the leader's: an inclusive level, of either, takes a
 *   line from them; or where the leader leaves its event log, at the first instruction made for caches. It is not
 *   simulated any more, and has to be from the beginning, by itself, by what feeds it (lanes/share.c).
 *
 * Not shared
 *   Machines that the caches do in one stage (several cores, prefetchers, stores that go on); with cached walks; where
 *   a listener needs more of a miss than that it is counted; samples and intervals of a follower.
 *
 * Invariants
 *   A follower that has not departed counts what it counts alone.
 */
#include <string.h>

#include "sim/sim_priv.h"

_Static_assert(SIM_FOLLOWERS == CACHES_FOLLOWERS, "a record of the event log has room for all");

/* ------------------------------------------------------------------ which machines */

static bool is_shareable(const struct sim *sim)
{
    const bool counts = !sim->attributed.on || (sim->counts_pages && sim->attributed.to.access_site);
    return sim->classifier.event_log && counts && !sim->hears_instructions && !sim->walks_cached &&
           !sim->notifies_tlb && !sim->samples_kept && sim->core_count == 1;
}

/* What it is notified of are misses, counted, and nothing of the stream. */
static bool can_follow(const struct sim *sim)
{
    const size_t listeners = (size_t)(sim->subscriber_end - sim->subscribers);
    return is_shareable(sim) && listeners == sim->attributed.on && !sim->lengths && !sim->notifies_records;
}

static bool same_tlb(const struct caches_tlb *one, const struct caches_tlb *other)
{
    return one->place == other->place && one->sides == other->sides && one->holds == other->holds &&
           one->entries == other->entries && one->ways == other->ways && one->policy == other->policy &&
           one->fold == other->fold;
}

static bool same_tlbs(const struct caches_machine *one, const struct caches_machine *other)
{
    bool same = one->tlb_count == other->tlb_count;
    for (uint32_t i = 0; i < one->tlb_count && same; i++)
        same = same_tlb(&one->tlbs[i], &other->tlbs[i]);
    return same;
}

/* A page has a group of lines. */
static bool can_be_placed(const struct sim *sim)
{
    return C2_PAGE_BYTES >> sim->line_shift == CACHES_SLOTS && sim->translation.change && sim->translation.walk;
}

bool sim_can_share(const struct sim *leader, const struct sim *follower, bool same_placement)
{
    const struct caches_machine *one = caches_machine(leader->caches), *other = caches_machine(follower->caches);
    return (same_placement || can_be_placed(leader)) && is_shareable(leader) && can_follow(follower) &&
           leader->attributed.on == follower->attributed.on && same_tlbs(one, other) &&
           caches_machines_share_first(one, other);
}

enum c2_status sim_follow_placed(struct sim *follower, struct c2_error *err)
{
    C2_ASSERT(!follower->group_of);
    return c2_map_create(&follower->group_of, err);
}

enum c2_status sim_share(struct sim *leader, struct sim *const *followers, uint32_t count, unsigned threads,
                         struct c2_error *err)
{
    C2_ASSERT(!leader->followers && !leader->leader && count > 0 && count <= CACHES_FOLLOWERS);
    leader->followers = c2_calloc(count, sizeof *leader->followers);
    if (!leader->followers)
        return c2_fail_memory(err, "machines that share");
    memcpy(leader->followers, followers, count * sizeof *leader->followers);
    leader->follower_count = count;
    for (uint32_t i = 0; i < count; i++) {
        C2_ASSERT(sim_can_share(leader, followers[i], !followers[i]->group_of) && !followers[i]->leader);
        followers[i]->leader = leader;
        followers[i]->at = i;
        leader->places |= !!followers[i]->group_of;
        leader->changes |= !!followers[i]->group_of;
        caches_follow(followers[i]->caches);
    }
    return sim_classifier_share(leader, threads, err);
}

void sim_share_end(struct sim *leader)
{
    if (!leader->followers)
        return;
    stream_ring_destroy(leader->classifier.ring);
    leader->classifier.ring = NULL;
    leader->follower_count = 0;
    leader->places = leader->changes = false;
    c2_free(leader->followers);
    leader->followers = NULL;
}

bool sim_departed(const struct sim *sim) { return sim->departed; }
bool sim_unplaced(const struct sim *sim) { return sim->unplaced; }

/* Those that have to depart by what the leader's first stage has found do. */
static void part_with(struct sim *sim)
{
    if (sim->follower_count != 0 && caches_first_lost(sim->caches))
        sim_share_depart(sim);
    for (uint32_t i = 0; i < sim->follower_count; i++)
        sim->followers[i]->departed |= sim->followers[i]->misplaced;
}

enum c2_status sim_share_look(struct sim *leader, struct c2_error *err)
{
    enum c2_status status = leader->follower_count != 0 ? sim_classifier_settle(leader, err) : C2_OK;
    if (status == C2_OK)
        part_with(leader);
    return status;
}

/* That there were followers stays: what is said of a miss is as long as before. */
enum c2_status sim_share_leave(struct sim *leader, bool apart, struct c2_error *err)
{
    enum c2_status status = sim_classifier_settle(leader, err);
    leader->follower_count = 0;
    leader->places = leader->changes = false;
    return status == C2_OK && leader->classifier.event_log ? sim_classifier_share(leader, apart, err) : status;
}

void sim_share_depart(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->follower_count; i++)
        sim->followers[i]->departed = true;
    sim->places = false;
}

/* ------------------------------------------------------------------ the leader's event log */

/* By their kind. */
static const struct caches_log_writes writes = {3u << SIM_COUNTED_KIND, (uint32_t)SIM_WRITE << SIM_COUNTED_KIND};

static enum c2_status follow_group(struct sim *sim, struct line_no first, struct c2_error *err)
{
    return caches_slot(sim->caches, first) == CACHES_NO_SLOT ? c2_fail_memory(err, "the table of lines accessed")
                                                             : C2_OK;
}

static enum c2_status follow_placed(struct sim *sim, const struct caches_log_group *group, struct c2_error *err)
{
    C2_PROMISE(sim->at < group->placed_count);
    const uint64_t first = group->placed[sim->at];
    sim->departed |= first == SIM_NOWHERE;
    return sim->departed ? C2_OK : follow_group(sim, (struct line_no){first}, err);
}

enum c2_status sim_share_hear(struct sim *sim, const struct stream_batch *event_log, struct c2_error *err)
{
    struct caches_log log = {event_log->words, event_log->words + event_log->used};
    struct caches_log_group group;
    enum caches_log_kind kind = CACHES_LOG_FULL;
    enum c2_status status = C2_OK;
    while (status == C2_OK && kind != CACHES_LOG_END && C2_LIKELY(!sim->departed)) {
        kind = caches_log_next(sim->caches, &log, writes, &group);
        if (kind == CACHES_LOG_FULL)
            status = sim_classifier_pass(sim, err);
        else if (kind == CACHES_LOG_GROUP && !sim->group_of)
            status = follow_group(sim, group.first, err);
        else if (kind == CACHES_LOG_PLACED && sim->group_of)
            status = follow_placed(sim, &group, err);
        sim->departed |= caches_first_lost(sim->caches);
    }
    return status;
}

/* ------------------------------------------------------------------ placements */

/* Where the follower has the page; SIM_NOWHERE: somewhere else than it would have to be. */
static uint64_t place_page(struct sim *sim, struct guest_va va, const struct sim_page *page, uint64_t group, bool new)
{
    const struct sim_translation *translation = &sim->translation;
    struct guest_pa pa;
    struct mmu_walk walk;
    uint64_t had;
    if (sim->misplaced || !translation->translate(translation->self, va, &pa) ||
        !translation->walk(translation->self, va, &walk) || walk.entry_count != page->entry_count)
        return SIM_NOWHERE;
    const uint64_t number = pa.v >> C2_PAGE_SHIFT;
    const bool known = c2_map_get(sim->group_of, number, &had);
    if (new ? known || c2_map_put(sim->group_of, number, group, NULL) != C2_OK : !known || had != group)
        return SIM_NOWHERE;
    return number * CACHES_SLOTS;
}

void sim_share_page(struct sim *sim, const struct sim_page *page, struct guest_va va)
{
    uint64_t first[CACHES_FOLLOWERS];
    const uint32_t group = page->slot / CACHES_SLOTS;
    const bool new = group >= sim->placed_groups;
    C2_ASSERT(group <= sim->placed_groups && sim->follower_count <= CACHES_FOLLOWERS);
    sim->placed_groups += new;
    for (uint32_t i = 0; i < sim->follower_count; i++) {
        struct sim *follower = sim->followers[i];
        first[i] = follower->group_of ? place_page(follower, va, page, group, new) : page->line;
        follower->misplaced |= first[i] == SIM_NOWHERE;
    }
    if (new)
        caches_note_placed(sim->caches, page->slot, first, sim->follower_count);
}

/* One that fails would fail by itself, too. The memory of one that has departed goes on: what it has left is asked for
 * as long as the others go on. */
void sim_share_change(struct sim *sim, enum stream_mark mark, const uint64_t *words, uint32_t count)
{
    struct c2_error ignored;
    for (uint32_t i = 0; i < sim->follower_count; i++) {
        struct sim *follower = sim->followers[i];
        const struct sim_translation *translation = &follower->translation;
        if (!follower->group_of || follower->unplaced)
            continue;
        follower->unplaced = translation->change(translation->self, mark, words, count, &ignored) != C2_OK;
        follower->misplaced |= follower->unplaced || follower->forgotten != sim->forgotten;
    }
}

/* ------------------------------------------------------------------ where counts are needed */

/* Its own event log is heard, and what the leader counts is its own. */
static enum c2_status adopt_leaders(struct sim *sim, struct c2_error *err)
{
    const struct sim *leader = sim->leader;
    enum c2_status status = sim_classifier_settle(sim, err);
    sim->counts = leader->counts;
    sim->past_lines = leader->past_lines;
    caches_adopt_first(sim->caches, leader->caches);
    return status;
}

static enum c2_status follow_empty(struct sim *sim, struct c2_error *err)
{
    enum c2_status status = sim_empty(sim, err);
    if (status != C2_OK || !sim->group_of)
        return status;
    c2_map_destroy(sim->group_of);
    return c2_map_create(&sim->group_of, err);
}

enum share_what { WINDOW, EMPTY, DUMP, DROP };

static enum c2_status follow(struct sim *sim, enum share_what what, enum stream_phase next, const uint64_t *words,
                             struct c2_error *err)
{
    enum c2_status status = adopt_leaders(sim, err);
    if (status != C2_OK)
        return status;
    switch (what) {
    case WINDOW:
        return sim_window_end(sim, next, err);
    case EMPTY:
        return follow_empty(sim, err);
    case DUMP:
        return sim_dump_measured(sim, words, err);
    default:
        return sim_drop_measured(sim, err);
    }
}

static enum c2_status share_all(struct sim *sim, enum share_what what, enum stream_phase next, const uint64_t *words,
                                struct c2_error *err)
{
    enum c2_status status = C2_OK;
    part_with(sim);
    for (uint32_t i = 0; i < sim->follower_count && status == C2_OK; i++)
        if (!sim->followers[i]->departed)
            status = follow(sim->followers[i], what, next, words, err);
    return status;
}

enum c2_status sim_share_window(struct sim *sim, enum stream_phase next, struct c2_error *err)
{
    return share_all(sim, WINDOW, next, NULL, err);
}

enum c2_status sim_share_empty(struct sim *sim, struct c2_error *err)
{
    sim->placed_groups = 0;
    return share_all(sim, EMPTY, sim->phase, NULL, err);
}

enum c2_status sim_share_dump(struct sim *sim, const uint64_t *words, struct c2_error *err)
{
    enum c2_status status = sim->follower_count != 0 ? sim_classifier_settle(sim, err) : C2_OK;
    return status == C2_OK ? share_all(sim, DUMP, sim->phase, words, err) : status;
}

enum c2_status sim_share_drop(struct sim *sim, struct c2_error *err)
{
    return share_all(sim, DROP, sim->phase, NULL, err);
}

enum c2_status sim_share_adopt_codes(struct sim *sim, struct c2_error *err)
{
    const struct sim_attributed *from = &sim->leader->attributed;
    struct sim_attributed *to = &sim->attributed;
    if (!to->on)
        return C2_OK;
    C2_ASSERT(!to->codes);
    to->codes = c2_alloc(((size_t)from->code_count + 1) * sizeof *to->codes);
    if (!to->codes)
        return c2_fail_memory(err, "the table of instructions");
    if (from->code_count != 0)
        memcpy(to->codes, from->codes, from->code_count * sizeof *to->codes);
    to->code_count = to->code_capacity = from->code_count;
    return C2_OK;
}
