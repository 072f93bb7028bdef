/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * coherence: several cores, whose own levels hold one line in one state (MESI), and a directory of its holders.
 *
 * Model
 *   Cores     Each has its own first levels, and its own of every level that is not shared; the last levels may be
 *             shared by all. One access is done after the other, each to its end, in the order of the stream.
 *   States    Of a core: I, it has the line in none of its levels; S, it has it, and may not write; E and M, it alone
 *             has it, and may. M is E with a dirty copy in a level of its own. All its levels are one to the others.
 *   Directory It knows for each line which cores have it, exactly: a core tells it when its last copy goes. It stands
 *             in the shared level, if that is inclusive as presence bits of the line; else it is a snoop filter, whose
 *             room the machine may say (filter.c), or one in memory where no level is shared.
 *   Reading   Of a line that another core has in E or M, both are in S then. If it was dirty (M) that is an
 *             intervention: the data goes to the reader, and is written down from the other's levels to the first
 *             shared level that has the line, else to memory. A core that reads what no core has is in E.
 *   Writing   All others lose the line: an invalidation each. A dirty copy is an intervention, and goes to the writer,
 *             a core in M that has it dirty: it is not written down. (Where each own level of a core lets some stores
 *             go on, by write = through or allocate = no, it is: the writer may have none of the line.) A write of a
 *             core that has the line in S is an upgrade, whether or not others have it still: the core does not know.
 *   Fetching  What a prefetcher of a core's own level fetches, its core reads, but no byte of it: a core that has it in
 *             E or M shares it, and a core that is alone with it then is in E. What it finds taken is no coherence miss
 *             of any access; a later access of a level that was not fetched into may be one. A shared level's
 *             prefetcher is of no core: what any core has it does not fetch, as the directory says so.
 *   Levels    All this is done before the access asks its levels, and changes nothing of what a shared level holds.
 *   Exclusive A dirty line that a read takes out of an exclusive shared level, and that other cores have, is written
 *             down first: sharers have the line clean. What a shared level's prefetcher takes out, no core has, and
 *             it stays dirty.
 *   Evicting  What leaves a core's last level, or an inclusive shared one, is out of the directory; what is out of a
 *             snoop filter leaves all own levels.
 *   Classes   A shadow for each level of each core. Another core's write takes the line from the shadows of all others
 *             too. The next miss of a level that has lost the line so, or whose shadow has, is a coherence miss: it is
 *             none of the other classes, and the shadow has it as well. A miss of a shared level is one, too, if a core
 *             has the line dirty and no shared level has it: the core's write has taken it from those, as their shadows
 *             are notified then.
 *   Fetches and walks read all bytes of their line; what a core writes does not touch its own L1I.
 *
 * Counting
 *   A core's counts are of what is measured (caches_measure). invalidations_sent of all cores are those received by
 *   all; interventions likewise are given. Invalidations and dirty copies by level count each level that had the line.
 *   A line written down because another core reads it is a write-back of the core's last own level.
 *
 * Invariants (cache_coherence_holds)
 *   The sharers of a line are the cores with a copy in an own level. An owner is the only sharer. Only an owner has a
 *   dirty copy in an own level. The shadow of a core that has not touched the line since another core wrote it does not
 *   have it.
 *
 * Cost
 *   48 bytes a line of the footprint, beside 4 a level and core. A write in M, and a read of what the core has, changes
 *   nothing.
 *
 * Not modelled
 *   Time, so no races, no queues and no retries; messages that find nothing; forwarding of clean lines between cores
 *   (MESIF, MOESI); partial or non-temporal writes.
 *
 * Source
 *   Papamarcos and Patel, ISCA 1984 (the states); Censier and Feautrier, IEEE Transactions on Computers 1978 (the
 *   directory).
 */
#include <string.h>

#include "caches/coherence_priv.h"
#include "caches/contents_priv.h"
#include "caches/event_log_priv.h"

#define L1I_NODE(coherence) ((coherence)->private_levels)
#define FIRST_ROOM C2_HOST_SIZE(4096u, 64u)

struct cache_level *cache_node(struct caches *caches, uint32_t core, uint32_t depth)
{
    C2_PROMISE(core < caches_machine_cores(&caches->machine) && depth <= caches->level_count);
    const struct cache_coherence *coherence = caches->coherence;
    const bool l1i = depth == caches->level_count; /* without several cores there is no coherence */
    if (core == 0 || (!l1i && depth >= coherence->private_levels))
        return &caches->level[depth];
    const uint32_t first = caches->level_count + caches->machine.has_l1i + (core - 1) * coherence->own_nodes;
    return &caches->level[first + (l1i ? L1I_NODE(coherence) : depth)];
}

/* Of the levels that the core has for itself; the last may be L1I. */
static struct cache_level *own_node(const struct caches *caches, uint32_t core, uint32_t node)
{
    C2_PROMISE(node < caches->coherence->own_nodes);
    const bool l1i = node == L1I_NODE(caches->coherence);
    return cache_node((struct caches *)caches, core, l1i ? caches->level_count : node);
}

static bool coherence_is_own(const struct caches *caches, const struct cache_level *level)
{
    return level->depth < caches->coherence->private_levels;
}

static bool has_copy(const struct caches *caches, uint32_t core, uint32_t slot)
{
    for (uint32_t i = 0; i < caches->coherence->own_nodes; i++)
        if (cache_contents_find(own_node(caches, core, i), slot))
            return true;
    return false;
}

/* ------------------------------------------------------------------ life */

enum c2_status cache_coherence_init(struct caches *caches, struct c2_error *err)
{
    C2_ASSERT(caches->machine.cores > 1 && caches->machine.cores <= CACHES_MAX_CORES);
    const struct caches_machine *machine = &caches->machine;
    struct cache_coherence *coherence = caches->coherence = c2_calloc(1, sizeof *coherence);
    if (!coherence)
        return c2_fail_memory(err, "the directory");
    coherence->cores = machine->cores;
    coherence->private_levels = caches_machine_private(machine);
    coherence->own_nodes = coherence->private_levels + machine->has_l1i;
    for (uint32_t i = 0; i < coherence->private_levels; i++)
        coherence->keeps_stores |= !machine->levels[i].through && !machine->levels[i].around;
    coherence->measuring = true;
    coherence->origin.bytes = machine->line_bytes;
    coherence->counts = c2_calloc(coherence->cores, sizeof *coherence->counts);
    coherence->levels = c2_calloc((size_t)coherence->cores * coherence->own_nodes, sizeof *coherence->levels);
    if (!coherence->counts || !coherence->levels)
        return c2_fail_memory(err, "the counts of cores");
    return machine->filter_lines != 0 ? cache_filter_create(&coherence->filter, machine, err) : C2_OK;
}

void cache_coherence_end(struct caches *caches)
{
    struct cache_coherence *coherence = caches->coherence;
    if (!coherence)
        return;
    cache_filter_destroy(coherence->filter);
    c2_free(coherence->lines);
    c2_free(coherence->counts);
    c2_free(coherence->levels);
    c2_free(coherence->users);
    c2_free(coherence->records);
    c2_free(coherence->pairs);
    c2_free(coherence);
}

bool cache_coherence_reach(struct caches *caches)
{
    struct cache_coherence *coherence = caches->coherence;
    const uint32_t slots = caches->lines.groups << LINES_GROUP_SHIFT, before = coherence->room;
    if (slots <= before)
        return true;
    if (!c2_reach((void **)&coherence->lines, &coherence->room, slots - 1, sizeof *coherence->lines, FIRST_ROOM))
        return false;
    memset(coherence->lines + before, 0, (coherence->room - before) * sizeof *coherence->lines);
    return true;
}

/* ------------------------------------------------------------------ what other cores lose */

struct taken {
    bool copy, dirty; /* the core had it; of its levels one had it dirty */
    bool marked;      /* a level, or its shadow, had it */
};

/* Of a core's own levels: the line is out of it; says whether it was there. */
static bool coherence_lose(struct caches *caches, struct cache_level *level, uint32_t slot, bool *dirty)
{
    const bool copy = cache_contents_lose(level, slot, dirty);
    if (copy)
        cache_event_log_lose(caches, level, slot);
    return copy;
}

static void coherence_take_level(struct caches *caches, struct cache_level *level, uint32_t node, uint32_t slot,
                                 struct taken *taken)
{
    struct cache_coherence *coherence = caches->coherence;
    C2_PROMISE(level->core != coherence->origin.core && node < coherence->own_nodes);
    struct caches_core_level *counts = &coherence->levels[level->core * coherence->own_nodes + node];
    bool dirty = false;
    if (C2_UNLIKELY(level->prefetch) && cache_prefetch_taken(level, slot))
        coherence->counts[level->core].prefetches_taken += coherence->measuring;
    const bool copy = coherence_lose(caches, level, slot, &dirty);
    const bool marked = cache_classifier_take(caches->classifier, level->level_index, slot, copy);
    counts->invalidations += copy && coherence->measuring;
    counts->interventions += dirty && coherence->measuring;
    taken->copy |= copy;
    taken->dirty |= dirty;
    taken->marked |= marked;
}

static bool held_by_shared(const struct caches *caches, uint32_t slot)
{
    for (uint32_t i = caches->coherence->private_levels; i < caches->level_count; i++)
        if (cache_contents_find(&caches->level[i], slot))
            return true;
    return false;
}

/* No shared level has the line, as a core has it. Those that have been asked for it have lost it, and so have their
 * shadows. */
static void forward(struct caches *caches, uint32_t slot)
{
    C2_PROMISE(!held_by_shared(caches, slot));
    cache_event_log_catch_up(caches);
    for (uint32_t i = caches->coherence->private_levels; i < caches->level_count; i++)
        cache_classifier_take(caches->classifier, i, slot, true);
}

static void count_intervention(struct caches *caches, uint32_t core, uint32_t slot)
{
    C2_PROMISE(core != caches->coherence->origin.core);
    struct cache_coherence *coherence = caches->coherence;
    const bool forwarded = !held_by_shared(caches, slot);
    if (forwarded)
        forward(caches, slot);
    if (!coherence->measuring)
        return;
    coherence->counts[coherence->origin.core].interventions++;
    coherence->counts[coherence->origin.core].forwards += forwarded;
    coherence->counts[core].interventions_given++;
}

static void count_invalidation(struct cache_coherence *coherence, uint32_t core)
{
    C2_PROMISE(core != coherence->origin.core);
    if (!coherence->measuring)
        return;
    coherence->counts[coherence->origin.core].invalidations_sent++;
    coherence->counts[core].invalidations_received++;
}

/* From the core's last own level. */
static void coherence_write_down(struct caches *caches, uint32_t core, uint32_t slot)
{
    struct cache_level *last = own_node(caches, core, caches->coherence->private_levels - 1);
    last->counts.writebacks++;
    cache_contents_write_down(caches, last->next, slot);
}

/* A write of another core. */
static bool coherence_take(struct caches *caches, const struct cache_request *request, uint32_t core)
{
    C2_PROMISE(core != caches->coherence->origin.core);
    struct cache_coherence *coherence = caches->coherence;
    struct cache_directed *line = &coherence->lines[request->slot];
    struct taken taken = {.copy = false};
    cache_event_log_catch_up(caches);
    for (uint32_t i = 0; i < coherence->own_nodes; i++)
        coherence_take_level(caches, own_node(caches, core, i), i, request->slot, &taken);
    C2_PROMISE((taken.copy || !taken.dirty) && !has_copy(caches, core, request->slot));
    if (taken.copy)
        count_invalidation(coherence, core);
    if (taken.dirty)
        count_intervention(caches, core, request->slot);
    if (taken.dirty && !coherence->keeps_stores)
        coherence_write_down(caches, core, request->slot);
    if (!taken.marked)
        return true;
    if (!cache_bytes_left(coherence, line, core) || !cache_bytes_taken(coherence, request->slot, core))
        return false;
    line->lost |= cache_core_bit(core);
    line->marked |= cache_core_bit(core);
    return true;
}

/* A read of another core: the owner's copies are clean then. */
static void coherence_share(struct caches *caches, uint32_t slot, uint32_t core)
{
    C2_PROMISE(core != caches->coherence->origin.core);
    struct cache_coherence *coherence = caches->coherence;
    bool dirty = false;
    for (uint32_t i = 0; i < coherence->own_nodes; i++) {
        uint32_t *word = cache_contents_find(own_node(caches, core, i), slot);
        if (!word || !(*word & CACHE_SETS_DIRTY))
            continue;
        coherence->levels[core * coherence->own_nodes + i].interventions += coherence->measuring;
        *word &= ~CACHE_SETS_DIRTY;
        dirty = true;
    }
    if (!dirty)
        return;
    count_intervention(caches, core, slot);
    coherence_write_down(caches, core, slot);
}

/* ------------------------------------------------------------------ around an access */

static bool coherence_write_line(struct caches *caches, const struct cache_request *request,
                                 struct cache_directed *line)
{
    C2_PROMISE(request->write);
    struct cache_coherence *coherence = caches->coherence;
    const uint32_t core = coherence->origin.core;
    const uint64_t me = cache_core_bit(core);
    coherence->upgraded = (line->sharers & me) && line->owner != core + 1;
    coherence->upgrades += coherence->upgraded;
    coherence->counts[core].upgrades += coherence->upgraded && coherence->measuring;
    for (uint64_t others = line->touched & ~me; others != 0; others &= others - 1)
        if (!coherence_take(caches, request, (uint32_t)__builtin_ctzll(others)))
            return false;
    line->sharers &= me;
    line->touched = me;
    line->owner = core + 1;
    return true;
}

static void coherence_read_line(struct caches *caches, const struct cache_request *request, struct cache_directed *line)
{
    const uint32_t core = caches->coherence->origin.core;
    if (line->owner != 0 && line->owner != core + 1)
        coherence_share(caches, request->slot, line->owner - 1);
    if (line->sharers & ~cache_core_bit(core))
        line->owner = 0;
    else if (line->sharers == 0)
        line->owner = core + 1;
    line->touched |= cache_core_bit(core);
}

/* The core's levels that will say that the line was taken, if they are asked. */
static uint32_t marked_nodes(struct caches *caches, uint32_t slot)
{
    uint32_t nodes = 0;
    cache_event_log_catch_up(caches);
    for (uint32_t i = 0; i < caches->coherence->own_nodes; i++) {
        const struct cache_level *level = own_node(caches, caches->coherence->origin.core, i);
        nodes |= (uint32_t)cache_classifier_is_taken(caches->classifier, level->level_index, slot) << i;
    }
    return nodes;
}

bool cache_coherence_before(struct caches *caches, const struct cache_request *request)
{
    C2_PROMISE(request->slot < caches->coherence->room && caches->coherence->evicted_count == 0);
    struct cache_coherence *coherence = caches->coherence;
    struct cache_directed *line = &coherence->lines[request->slot];
    const uint64_t me = cache_core_bit(coherence->origin.core);
    coherence->marked = line->marked & me ? marked_nodes(caches, request->slot) : 0;
    coherence->upgraded = false;
    coherence->asked = !(line->sharers & me) || (request->write && line->owner != coherence->origin.core + 1);
    if (!request->write) {
        coherence_read_line(caches, request, line);
        return true;
    }
    if (line->touched != me || line->owner != coherence->origin.core + 1)
        if (!coherence_write_line(caches, request, line))
            return false;
    if (line->lost & ~me)
        cache_bytes_written(coherence, line);
    return true;
}

static void left_core(struct caches *caches, struct cache_directed *line, uint32_t core, uint32_t slot)
{
    C2_PROMISE(core < caches->coherence->cores);
    if (!(line->sharers & cache_core_bit(core)) || has_copy(caches, core, slot))
        return;
    line->sharers &= ~cache_core_bit(core);
    if (line->owner == core + 1)
        line->owner = 0;
    if (line->sharers == 0 && caches->coherence->filter)
        cache_filter_drop(caches->coherence->filter, &caches->lines, slot);
    if (!cache_bytes_left(caches->coherence, line, core))
        caches->coherence->failed = true;
}

void cache_coherence_evicted(struct caches *caches, const struct cache_level *level, uint32_t slot)
{
    struct cache_coherence *coherence = caches->coherence;
    C2_ASSERT(coherence->evicted_count < sizeof coherence->evicted / sizeof *coherence->evicted);
    coherence->evicted[coherence->evicted_count].level = level;
    coherence->evicted[coherence->evicted_count++].slot = slot;
}

/* Out of a core's level, or of all levels above an inclusive one. */
static void look_at_evicted(struct caches *caches)
{
    struct cache_coherence *coherence = caches->coherence;
    for (; coherence->evicted_count != 0; coherence->evicted_count--) {
        const uint32_t slot = coherence->evicted[coherence->evicted_count - 1].slot;
        const struct cache_level *level = coherence->evicted[coherence->evicted_count - 1].level;
        struct cache_directed *line = &coherence->lines[slot];
        uint64_t cores = level->depth < coherence->private_levels ? cache_core_bit(level->core) : line->sharers;
        for (; cores != 0; cores &= cores - 1)
            left_core(caches, line, (uint32_t)__builtin_ctzll(cores), slot);
    }
}

/* ------------------------------------------------------------------ a snoop filter that is full */

/* Out of all own levels of the core. */
static void coherence_filter_out(struct caches *caches, uint32_t core, uint32_t slot)
{
    C2_PROMISE(caches->coherence->filter && caches->coherence->lines[slot].sharers & cache_core_bit(core));
    struct cache_coherence *coherence = caches->coherence;
    bool dirty = false;
    for (uint32_t i = 0; i < coherence->own_nodes; i++) {
        const bool copy = coherence_lose(caches, own_node(caches, core, i), slot, &dirty);
        coherence->levels[core * coherence->own_nodes + i].filter_invalidations += copy && coherence->measuring;
    }
    coherence->counts[core].filter_invalidations += coherence->measuring;
    if (dirty)
        coherence_write_down(caches, core, slot);
}

/* Some core has the line that was asked for. Says which line had to make room, by its slot. */
static uint32_t use_filter(struct caches *caches, uint32_t slot)
{
    struct cache_coherence *coherence = caches->coherence;
    uint32_t victim;
    if (!coherence->filter || !coherence->asked || coherence->lines[slot].sharers == 0 ||
        !cache_filter_use(coherence->filter, &caches->lines, slot, &victim))
        return LINES_NO_SLOT;
    C2_PROMISE(victim != slot && victim < coherence->room);
    struct cache_directed *line = &coherence->lines[victim];
    coherence->counts[coherence->origin.core].filter_evictions += coherence->measuring;
    for (uint64_t cores = line->sharers; cores != 0; cores &= cores - 1) {
        const uint32_t core = (uint32_t)__builtin_ctzll(cores);
        coherence_filter_out(caches, core, victim);
        coherence->failed |= !cache_bytes_left(coherence, line, core);
    }
    line->sharers = 0;
    line->owner = 0;
    return victim;
}

/* The core does not have the line that it asked for: by a walk that enters at a shared level, or a store that none of
 * its levels takes, which has taken the line from others nevertheless. */
static void has_none(struct caches *caches, struct cache_directed *line, uint32_t core)
{
    C2_PROMISE(!(line->sharers & cache_core_bit(core)));
    if (line->owner == core + 1)
        line->owner = 0;
    if (line->sharers == 0 && caches->coherence->filter)
        cache_filter_drop(caches->coherence->filter, &caches->lines, (uint32_t)(line - caches->coherence->lines));
}

static void notify_outcome(const struct caches *caches, struct caches_outcome *outcome, uint32_t victim)
{
    if (!outcome)
        return;
    outcome->upgraded = caches->coherence->upgraded;
    outcome->filtered = victim != LINES_NO_SLOT;
    if (outcome->filtered)
        outcome->filtered_line.v = cache_lines_line(&caches->lines, victim);
}

bool cache_coherence_after(struct caches *caches, const struct cache_request *request, const struct cache_level *has,
                           struct caches_outcome *outcome)
{
    C2_PROMISE(request->slot < caches->coherence->room);
    struct cache_coherence *coherence = caches->coherence;
    struct cache_directed *line = &coherence->lines[request->slot];
    const uint32_t core = coherence->origin.core;
    const uint64_t me = cache_core_bit(core);
    bool missed = false;
    look_at_evicted(caches);
    if (coherence->marked != 0) {
        const uint32_t left = marked_nodes(caches, request->slot);
        missed = left != coherence->marked;
        if (left == 0)
            line->marked &= ~me;
    }
    if ((has && coherence_is_own(caches, has)) || has_copy(caches, core, request->slot)) {
        line->sharers |= me;
        line->lost &= ~me;
    } else {
        has_none(caches, line, core);
    }
    notify_outcome(caches, outcome, use_filter(caches, request->slot));
    coherence->counts[core].coherence_misses += missed && coherence->measuring;
    const bool done = line->record == 0 || cache_bytes_accessed(coherence, line, request->write, missed);
    return done && !coherence->failed;
}

/* ------------------------------------------------------------------ around a prefetch */

bool cache_coherence_keeps(const struct caches *caches, const struct cache_request *request)
{
    return !coherence_is_own(caches, request->first) && caches->coherence->lines[request->slot].sharers != 0;
}

void cache_coherence_fetches(struct caches *caches, const struct cache_request *request)
{
    struct cache_coherence *coherence = caches->coherence;
    struct cache_directed *line = &coherence->lines[request->slot];
    const uint32_t core = coherence->origin.core;
    if (!coherence_is_own(caches, request->first))
        return;
    coherence->asked = !(line->sharers & cache_core_bit(core));
    coherence->counts[core].prefetch_downgrades += line->owner != 0 && line->owner != core + 1 && coherence->measuring;
    coherence_read_line(caches, request, line);
}

bool cache_coherence_fetched(struct caches *caches, const struct cache_request *request, uint32_t *filtered)
{
    struct cache_coherence *coherence = caches->coherence;
    const uint64_t me = cache_core_bit(coherence->origin.core);
    look_at_evicted(caches);
    *filtered = LINES_NO_SLOT;
    if (!coherence_is_own(caches, request->first))
        return !coherence->failed;
    C2_PROMISE(has_copy(caches, coherence->origin.core, request->slot));
    coherence->lines[request->slot].sharers |= me;
    coherence->lines[request->slot].lost &= ~me;
    *filtered = use_filter(caches, request->slot);
    return !coherence->failed;
}

/* ------------------------------------------------------------------ instructions made for caches */

bool cache_coherence_claims(struct caches *caches, const struct cache_request *request)
{
    C2_PROMISE(request->slot < caches->coherence->room);
    struct cache_coherence *coherence = caches->coherence;
    struct cache_directed *line = &coherence->lines[request->slot];
    const uint32_t core = coherence->origin.core;
    const uint64_t me = cache_core_bit(core);
    if (line->touched == me && line->owner == core + 1)
        return true;
    if (line->owner != 0 && line->owner != core + 1)
        coherence_share(caches, request->slot,
                        line->owner - 1); /* no byte is written: what was dirty is written down */
    for (uint64_t others = line->touched & ~me; others != 0; others &= others - 1)
        if (!coherence_take(caches, request, (uint32_t)__builtin_ctzll(others)))
            return false;
    line->sharers &= me;
    line->touched = me;
    line->owner = line->sharers != 0 ? core + 1 : 0;
    return true;
}

/* No core is left that shares it, or waits for what others wrote. */
void cache_coherence_flushed(struct caches *caches, uint32_t slot)
{
    struct cache_directed *line = &caches->coherence->lines[slot];
    for (uint64_t cores = line->sharers; cores != 0; cores &= cores - 1)
        left_core(caches, line, (uint32_t)__builtin_ctzll(cores), slot);
    C2_PROMISE(line->sharers == 0 && line->owner == 0);
    line->marked = line->touched = 0;
}

/* ------------------------------------------------------------------ for others */

void caches_on_core(struct caches *caches, const struct caches_origin *origin)
{
    struct cache_coherence *coherence = caches->coherence;
    C2_ASSERT(coherence && origin->core < coherence->cores);
    C2_ASSERT(origin->bytes >= 1 && origin->first + origin->bytes <= caches->machine.line_bytes);
    if (origin->core != coherence->origin.core) {
        caches->port[CACHE_PORT_DATA] = cache_node(caches, origin->core, 0);
        caches->port[CACHE_PORT_FETCH] = caches->machine.has_l1i ? cache_node(caches, origin->core, caches->level_count)
                                                                 : NULL;
        caches->port[CACHE_PORT_WALK] = cache_node(caches, origin->core, caches->machine.walks_from);
    }
    if (origin->core != coherence->origin.core)
        cache_event_log_core(caches, origin->core);
    coherence->origin = *origin;
    caches->lines.core = origin->core;
}

void caches_measure(struct caches *caches, bool on)
{
    C2_ASSERT(caches->coherence);
    caches->coherence->measuring = on;
}

uint64_t caches_upgrades(const struct caches *caches) { return caches->coherence ? caches->coherence->upgrades : 0; }

const struct caches_core_counts *caches_core_counts(const struct caches *caches, uint32_t core)
{
    C2_ASSERT(core < caches->coherence->cores);
    return &caches->coherence->counts[core];
}

const struct caches_core_level *caches_core_level(const struct caches *caches, uint32_t core, uint32_t level)
{
    const struct cache_coherence *coherence = caches->coherence;
    const uint32_t node = level == caches->level_count ? L1I_NODE(coherence) : level;
    C2_ASSERT(core < coherence->cores && node < coherence->own_nodes);
    return &coherence->levels[core * coherence->own_nodes + node];
}

/* ------------------------------------------------------------------ invariants */

bool cache_coherence_holds(const struct caches *caches, uint32_t slot)
{
    const struct cache_directed *line = &caches->coherence->lines[slot];
    cache_event_log_catch_up((struct caches *)caches);
    C2_ASSERT(line->owner == 0 || line->sharers == cache_core_bit(line->owner - 1));
    C2_ASSERT((line->sharers & line->lost) == 0);
    if (caches->coherence->filter)
        cache_filter_holds(caches->coherence->filter, &caches->lines, slot, line->sharers != 0);
    for (uint32_t core = 0; core < caches->coherence->cores; core++) {
        C2_ASSERT(has_copy(caches, core, slot) == (line->sharers >> core & 1));
        for (uint32_t i = 0; i < caches->coherence->own_nodes; i++) {
            const struct cache_level *level = own_node(caches, core, i);
            const uint32_t *word = cache_contents_find(level, slot);
            C2_ASSERT(!word || (*word & CACHE_SETS_DIRTY) == 0 || line->owner == core + 1);
            C2_ASSERT((line->touched >> core & 1) ||
                      !cache_classifier_has(caches->classifier, level->level_index, slot));
            C2_ASSERT((line->marked >> core & 1) ||
                      !cache_classifier_is_taken(caches->classifier, level->level_index, slot));
        }
    }
    return true;
}
