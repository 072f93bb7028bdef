/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * instructed: what instructions made for caches do - prefetches, flushes, write-backs, non-temporal stores.
 *
 * Model
 *   None of them is an access: no level counts one, and no access waits for one.
 *   Prefetch   Of a line that the hint's level, or a level of the core nearer than that, has, nothing happens. Else the
 *              level fetches it as its own prefetcher would (prefetch.c: filling, shadows, evictors, cores, useful,
 *              useless, polluting), and the levels below that miss it are filled. The level of each hint is the
 *              machine's; an exclusive level, which holds what is evicted above it, stands for the one above it.
 *   NTA        fills its level, and of those below it the inclusive ones, which must have it; the others are passed by.
 *   For write  PREFETCHW is T0; of several cores the core then has the line alone, and may write it: all others lose it
 *              as to a write, and their next misses of it are misses of coherence. No access waits for that, and it is
 *              no upgrade.
 *   Late       A prefetched line that is useful, but asked for too early: fewer instructions of the core behind the
 *              prefetch than the level that had it takes cycles (caches_latency; an instruction a cycle). What a line
 *              of a shared level another core asks for is not late. The access is a hit all the same.
 *   Wait       What an access still waits for such a line, one access after the other as in cost.c: the level's cycles
 *              less those since the prefetch, which are the core's instructions, what its accesses have waited for
 *              misses (the steps to the level that had the line) and for lines like this one. So lines that come
 *              together are waited for once. It is no part of any cost. A request of the line to prefetch it further up
 *              does not wait.
 *   Flush      Every level of every core loses the line; if one had it dirty it is written to memory once.
 *   Write-back Every level keeps it, clean; if one had it dirty, likewise.
 *   Past       A non-temporal store takes the line from all levels as a flush does, and its bytes go to a buffer of the
 *              core, of one line. A buffer whose line is whole is written to memory in one piece; one that is not, byte
 *              by byte, in its order: the oldest where a store finds no room, and the line's own when any core
 *              accesses, prefetches, flushes or writes back the line, or another core stores past the caches to it.
 *   Refetched  An access of a line that a store past the caches took out of them, when nothing else has fetched or
 *              flushed it since, by the same core, and so soon that a last level with room for its lines in any set
 *              would still have it: fewer instructions behind the store than it has lines, of several cores than a
 *              core's part of them, taking an instruction for an access of one line by each core.
 *   Classes    The program has thrown a flushed line away: no cache of any size or shape would have it. So all shadows
 *              lose it too, and the next miss of it is cold, as the first one was, without an evictor.
 * Counting
 *   By tag, the caller's number of the instruction, of what happens while caches are notified to measure. A dirty line
 *   that is flushed or written back is a write-back of the last level of the data path, which stands next to memory; of
 *   several cores that have one each, of the core's.
 * Invariants
 *   issued - useful - useless lines are in a level and not asked for (prefetch.c); no level has the line of a buffer,
 *   nor one that a store has taken. No access waits for what is not late.
 * Price
 *   A usual machine ceases to be one with the first such instruction. 32 bytes a line of footprint, level
 *   and core, 8 of them in prefetch.c; 16 more a line of footprint.
 * Not modelled
 *   Instructions that access several lines, and the lines of other cores, in how soon a line is fetched again. In what
 *   accesses have waited: translations, other cores.
 *   How long a buffer waits; fences, which empty buffers on a CPU: so what is written in pieces is written as seldom as
 *   can be. A way of an inclusive level reserved for NTA. Masks of MASKMOVDQU: the whole operand is stored. Lines of
 *   more than 64 bytes have a bit of a buffer for as many bytes as make 64 of them.
 * Source
 *   Intel SDM, volume 1, 10.4.6 (hints; what a non-temporal store does to cached lines: they are evicted), volume 2,
 *   CLFLUSH, CLFLUSHOPT, CLWB, PREFETCHh, PREFETCHW; volume 3, 11.3.1 (write combining buffers are of a line, and in
 *   pieces if they are not whole).
 */
#include <string.h>

#include "caches/coherence_priv.h"
#include "caches/contents_priv.h"
#include "caches/event_log_priv.h"
#include "caches/instructed_priv.h"

#define MASK_BITS 64u
#define CORE_BITS 6u
_Static_assert(CACHES_MAX_CORES <= 1u << CORE_BITS, "a core fits beside a time");
#define FIRST_TAGS C2_HOST_SIZE(1024u, 2u)

/* A line that is being put together; bytes as bits, of long lines so many a bit as make 64. */
struct buffer {
    uint64_t line, bytes;
    uint32_t tag; /* of the last store */
};

/* Of a core, the oldest first. */
struct buffers {
    struct buffer list[CACHES_MAX_COMBINING];
    uint32_t count;
};

/* A line that was fetched ahead. */
struct ahead {
    uint64_t when;   /* << CORE_BITS | core: of the prefetch */
    uint64_t waited; /* what that core's accesses had waited then */
    uint64_t cycles; /* that the level takes which had the line */
};

/* A line that a store past the caches has taken out of them. */
struct taken {
    uint64_t when; /* << CORE_BITS | core */
    uint32_t tag;  /* of the store, + 1; 0: it was not taken, or has come back */
};

struct cache_instructed {
    uint64_t now; /* caches_set_clock() */
    bool measuring;
    struct caches_instructed *by;    /* [tag] */
    struct caches_instructed nobody; /* what is not measured */
    struct caches_instructed_flows flows;
    uint32_t tags, tag_room;
    struct ahead *ahead;             /* [slot * level indices + level index] */
    struct taken *taken;             /* [slot] */
    uint32_t ahead_room, taken_room; /* in groups of lines */
    uint64_t *waited;                /* [core]: by its accesses, in cycles */
    uint32_t open;                   /* buffers of all cores that are used */
    struct buffers *buffers;
};

/* ------------------------------------------------------------------ life */

static uint32_t instructed_core_of(const struct caches *caches)
{
    return caches->coherence ? caches->coherence->origin.core : 0;
}

static enum c2_status instructed_no_memory(struct c2_error *err)
{
    return c2_fail_memory(err, "the instructions for caches");
}

static enum c2_status instructed_begin(struct caches *caches, struct c2_error *err)
{
    C2_ASSERT(!caches->instructed);
    struct cache_instructed *instructed = caches->instructed = c2_calloc(1, sizeof *instructed);
    if (!instructed)
        return instructed_no_memory(err);
    instructed->measuring = true;
    instructed->buffers = c2_calloc(caches_machine_cores(&caches->machine), sizeof *instructed->buffers);
    instructed->waited = c2_calloc(caches_machine_cores(&caches->machine), sizeof *instructed->waited);
    return instructed->buffers && instructed->waited ? C2_OK : instructed_no_memory(err);
}

/* A usual machine is one like all others from now on: what it holds stays where it is. What is on an event log of the
 * caller's has been heard. */
static void instructed_generalize(struct caches *caches)
{
    cache_event_log_catch_up(caches);
    cache_event_log_use_own(caches);
    caches->usual = false;
    caches->far = 0;
    caches->last[CACHES_DATA] = caches->last[CACHES_FETCH] = LINES_NO_SLOT;
    cache_contents_link(caches);
}

enum c2_status caches_instructed_begin(struct caches *caches, struct c2_error *err)
{
    if (caches->usual)
        instructed_generalize(caches);
    enum c2_status status = caches->instructed ? C2_OK : instructed_begin(caches, err);
    if (status == C2_OK && !caches->prefetch)
        status = cache_prefetch_init(caches, err);
    C2_PROMISE(status != C2_OK || (!caches->usual && caches->instructed && caches->prefetch));
    return status;
}

void cache_instructed_end(struct caches *caches)
{
    struct cache_instructed *instructed = caches->instructed;
    if (!instructed)
        return;
    c2_free(instructed->by);
    c2_free(instructed->ahead);
    c2_free(instructed->waited);
    c2_free(instructed->taken);
    c2_free(instructed->buffers);
    c2_free(instructed);
}

void caches_set_clock(struct caches *caches, uint64_t now)
{
    C2_PROMISE(caches->instructed);
    caches->instructed->now = now;
}

/* ------------------------------------------------------------------ counts */

static struct caches_instructed *instructed_counts_of(struct caches *caches, enum caches_instruction what, uint32_t tag)
{
    C2_PROMISE(caches->instructed && (unsigned)what < CACHES_INSTRUCTIONS);
    struct cache_instructed *instructed = caches->instructed;
    const uint32_t before = instructed->tag_room;
    if (!instructed->measuring)
        return &instructed->nobody;
    if (tag >= before &&
        !c2_reach((void **)&instructed->by, &instructed->tag_room, tag, sizeof *instructed->by, FIRST_TAGS))
        return NULL;
    memset(instructed->by + before, 0, (instructed->tag_room - before) * sizeof *instructed->by);
    if (instructed->tags <= tag)
        instructed->tags = tag + 1;
    instructed->by[tag].what = what;
    return &instructed->by[tag];
}

/* Of an instruction that has counted before, or is not measured. */
static struct caches_instructed *known(struct cache_instructed *instructed, uint32_t tag)
{
    C2_PROMISE(instructed->tags <= instructed->tag_room);
    return instructed->measuring && tag < instructed->tags ? &instructed->by[tag] : NULL;
}

const struct caches_instructed *caches_instructed(const struct caches *caches, size_t *count)
{
    *count = caches->instructed ? caches->instructed->tags : 0;
    return caches->instructed ? caches->instructed->by : NULL;
}

struct caches_instructed_flows caches_instructed_flows(const struct caches *caches)
{
    return caches->instructed ? caches->instructed->flows : (struct caches_instructed_flows){.past_bytes = 0};
}

bool caches_were_instructed(const struct caches *caches) { return caches->instructed; }

void caches_instructed_inherit(struct caches *caches, struct caches *from)
{
    struct cache_instructed *to = caches->instructed, *of = from->instructed;
    if (!to || !of)
        return;
    C2_ASSERT(to != of && !to->by);
    to->by = of->by;
    to->tags = of->tags;
    to->tag_room = of->tag_room;
    to->measuring = of->measuring;
    of->by = NULL;
    of->tags = of->tag_room = 0;
}

void caches_instructed_measure(struct caches *caches, bool on)
{
    if (caches->instructed)
        caches->instructed->measuring = on;
}

void caches_drop_instructed(struct caches *caches)
{
    if (caches->instructed && caches->instructed->tags != 0)
        memset(caches->instructed->by, 0, caches->instructed->tags * sizeof *caches->instructed->by);
}

/* ------------------------------------------------------------------ lines that were fetched ahead */

static struct ahead *ahead_of(struct caches *caches, const struct cache_level *level, uint32_t slot)
{
    C2_PROMISE(slot / LINES_GROUP < caches->instructed->ahead_room && level->level_index < caches->node_count);
    return &caches->instructed->ahead[(size_t)slot * caches->node_count + level->level_index];
}

static bool instructed_reach(struct caches *caches)
{
    struct cache_instructed *instructed = caches->instructed;
    return cache_lines_cover(&caches->lines, (void **)&instructed->ahead, &instructed->ahead_room,
                             (size_t)LINES_GROUP * caches->node_count * sizeof *instructed->ahead) &&
           cache_lines_cover(&caches->lines, (void **)&instructed->taken, &instructed->taken_room,
                             LINES_GROUP * sizeof *instructed->taken);
}

void cache_instructed_waited(struct caches *caches, const struct cache_level *first, const struct cache_level *has)
{
    C2_PROMISE(first->depth < caches->level_count && (!has || has->depth >= first->depth));
    const uint32_t from = caches_latency(&caches->machine, first->depth);
    const uint32_t to = caches_latency(&caches->machine, has ? has->depth : caches->level_count);
    caches->instructed->waited[instructed_core_of(caches)] += to < from ? 0 : to - from;
}

/* What an access waits for a line that was fetched ahead so many instructions ago. */
static uint64_t wait(struct cache_instructed *instructed, uint32_t core, const struct ahead *of, uint64_t instructions)
{
    C2_PROMISE(instructed->waited[core] >= of->waited);
    const uint64_t passed = instructions + instructed->waited[core] - of->waited;
    const uint64_t cycles = passed < of->cycles ? of->cycles - passed : 0;
    instructed->waited[core] += cycles;
    return cycles;
}

void cache_instructed_used(struct caches *caches, const struct cache_level *level, uint32_t slot, uint32_t tag,
                           bool waits)
{
    struct cache_instructed *instructed = caches->instructed;
    const struct ahead *of = ahead_of(caches, level, slot);
    const uint32_t core = of->when & ((1u << CORE_BITS) - 1);
    const uint64_t instructions = instructed->now - (of->when >> CORE_BITS);
    const bool late = core == instructed_core_of(caches) && instructions < of->cycles;
    const uint64_t cycles = late && waits ? wait(instructed, core, of, instructions) : 0;
    struct caches_instructed *counts = known(instructed, tag);
    if (!counts)
        return;
    counts->useful++;
    counts->late += late;
    counts->late_ahead += late ? instructions : 0;
    counts->late_cycles += cycles;
}

void cache_instructed_useless(struct caches *caches, uint32_t tag)
{
    struct caches_instructed *counts = known(caches->instructed, tag);
    if (counts)
        counts->useless++;
}

void cache_instructed_polluting(struct caches *caches, uint32_t tag)
{
    struct caches_instructed *counts = known(caches->instructed, tag);
    if (counts)
        counts->polluting++;
}

/* ------------------------------------------------------------------ lines that stores have taken */

/* NULL: the line was in no instruction so far, nor were others near it. */
static struct taken *instructed_taken_of(const struct caches *caches, uint32_t slot)
{
    const struct cache_instructed *instructed = caches->instructed;
    return slot / LINES_GROUP < instructed->taken_room ? &instructed->taken[slot] : NULL;
}

void cache_instructed_forget(struct caches *caches, uint32_t slot)
{
    struct taken *taken = instructed_taken_of(caches, slot);
    if (taken)
        taken->tag = 0;
}

/* Of the last level, for a core. */
static uint64_t last_lines(const struct caches *caches)
{
    C2_PROMISE(caches->machine.level_count >= 1);
    const struct caches_machine *machine = &caches->machine;
    return machine->levels[machine->level_count - 1].size_bytes / machine->line_bytes / caches_machine_cores(machine);
}

void cache_instructed_accessed(struct caches *caches, uint32_t slot)
{
    const struct cache_instructed *instructed = caches->instructed;
    struct taken *taken = instructed_taken_of(caches, slot);
    if (!taken || taken->tag == 0)
        return;
    const uint64_t when = taken->when >> CORE_BITS, core = taken->when & ((1u << CORE_BITS) - 1);
    struct caches_instructed *counts = known(caches->instructed, taken->tag - 1);
    taken->tag = 0;
    if (counts)
        counts->refetched += core == instructed_core_of(caches) && instructed->now - when < last_lines(caches);
}

/* The store has found the line in a cache, and it is there no longer. */
static void instructed_take(struct caches *caches, uint32_t slot, uint32_t tag)
{
    C2_PROMISE(instructed_taken_of(caches, slot));
    const uint64_t when = caches->instructed->now << CORE_BITS | instructed_core_of(caches);
    *instructed_taken_of(caches, slot) = (struct taken){when, tag + 1};
}

/* ------------------------------------------------------------------ buffers */

static unsigned granule(const struct caches *caches)
{
    return caches->machine.line_bytes <= MASK_BITS ? 1 : caches->machine.line_bytes / MASK_BITS;
}

static uint64_t instructed_whole(const struct caches *caches)
{
    return c2_mask(0, caches->machine.line_bytes / granule(caches) - 1);
}

/* Writes the buffer to memory. */
static void write_out(struct caches *caches, struct buffers *buffers, uint32_t i)
{
    C2_PROMISE(i < buffers->count && buffers->count <= CACHES_MAX_COMBINING && caches->instructed->open != 0);
    const struct buffer buffer = buffers->list[i];
    struct caches_instructed *counts = known(caches->instructed, buffer.tag);
    const bool all = buffer.bytes == instructed_whole(caches);
    const uint64_t bytes = (uint64_t)__builtin_popcountll(buffer.bytes) * granule(caches);
    caches->instructed->flows.past_bytes += bytes;
    memmove(&buffers->list[i], &buffers->list[i + 1], (--buffers->count - i) * sizeof buffer);
    caches->instructed->open--;
    if (!counts)
        return;
    counts->full += all;
    counts->partial += !all;
    counts->partial_bytes += all ? 0 : bytes;
}

/* The buffer of the line; NULL: the core has none. */
static struct buffer *buffer_of(struct buffers *buffers, uint64_t line)
{
    for (uint32_t i = 0; i < buffers->count; i++)
        if (buffers->list[i].line == line)
            return &buffers->list[i];
    return NULL;
}

/* But for those of `kept`; NULL: none is. */
static void drain_line(struct caches *caches, uint64_t line, const struct buffers *kept)
{
    struct cache_instructed *instructed = caches->instructed;
    for (uint32_t core = 0; core < caches_machine_cores(&caches->machine); core++) {
        struct buffers *buffers = &instructed->buffers[core];
        struct buffer *buffer = buffers != kept ? buffer_of(buffers, line) : NULL;
        if (buffer)
            write_out(caches, buffers, (uint32_t)(buffer - buffers->list));
    }
}

void cache_instructed_asked(struct caches *caches, struct line_no line)
{
    if (C2_UNLIKELY(caches->instructed->open != 0))
        drain_line(caches, line.v, NULL);
}

void caches_settle_instructed(struct caches *caches)
{
    for (uint32_t core = 0; caches->instructed && core < caches_machine_cores(&caches->machine); core++)
        while (caches->instructed->buffers[core].count != 0)
            write_out(caches, &caches->instructed->buffers[core], 0);
}

static void instructed_combine(struct caches *caches, uint64_t line, uint64_t bytes, uint32_t tag)
{
    C2_PROMISE(bytes != 0 && (bytes & ~instructed_whole(caches)) == 0 && caches->machine.combining >= 1);
    struct buffers *buffers = &caches->instructed->buffers[instructed_core_of(caches)];
    struct buffer *buffer = buffer_of(buffers, line);
    drain_line(caches, line, buffers);
    if (!buffer) {
        if (buffers->count == caches->machine.combining)
            write_out(caches, buffers, 0);
        buffer = &buffers->list[buffers->count++];
        *buffer = (struct buffer){.line = line};
        caches->instructed->open++;
    }
    buffer->bytes |= bytes;
    buffer->tag = tag;
    if (buffer->bytes == instructed_whole(caches))
        write_out(caches, buffers, (uint32_t)(buffer - buffers->list));
}

/* ------------------------------------------------------------------ one instruction */

static enum c2_status find_line(struct caches *caches, struct cache_request *request, struct c2_error *err)
{
    request->slot = caches_slot(caches, request->line.physical_line);
    if (request->slot == LINES_NO_SLOT || !cache_prefetch_reach(caches) || !instructed_reach(caches) ||
        (caches->coherence && !cache_coherence_reach(caches)))
        return instructed_no_memory(err);
    caches->lines.signature = cache_signature(caches->lines.pc);
    return C2_OK;
}

/* What all levels have of a line. */
struct held {
    bool any, dirty;
};

static void notify_written_back(struct caches *caches, struct held held, struct caches_instructed *counts)
{
    C2_PROMISE(held.any || !held.dirty);
    counts->cached += held.any;
    counts->written_back += held.dirty;
    cache_node(caches, instructed_core_of(caches), caches->level_count - 1)->counts.writebacks += held.dirty;
}

/* The line is nowhere, and as if it had never been anywhere. */
static bool instructed_flush(struct caches *caches, const struct cache_request *request,
                             struct caches_instructed *counts, uint32_t tag)
{
    struct held held = {.any = false};
    cache_event_log_catch_up(caches);
    for (uint32_t i = 0; i < caches->node_count; i++) {
        struct cache_level *level = &caches->level[i];
        held.any |= cache_contents_lose(level, request->slot, &held.dirty);
        cache_classifier_forget(caches->classifier, i, request->slot);
        cache_prefetch_taken(level, request->slot);
    }
    if (caches->coherence)
        cache_coherence_flushed(caches, request->slot);
    notify_written_back(caches, held, counts);
    return !held.any || cache_prefetch_notify(caches, CACHES_PREFETCH_FLUSHED, request->slot, tag);
}

static void write_back(struct caches *caches, const struct cache_request *request, struct caches_instructed *counts)
{
    struct held held = {.any = false};
    for (uint32_t i = 0; i < caches->node_count; i++) {
        uint32_t *word = cache_contents_find(&caches->level[i], request->slot);
        if (!word)
            continue;
        held.any = true;
        held.dirty |= *word & CACHE_SETS_DIRTY;
        *word &= ~CACHE_SETS_DIRTY;
    }
    notify_written_back(caches, held, counts);
}

/* Which level of the data path the hint names. */
static uint32_t instructed_depth_of(const struct caches *caches, enum caches_instruction what)
{
    C2_PROMISE(what <= CACHES_PREFETCH_FOR_WRITE);
    const struct caches_machine *machine = &caches->machine;
    uint32_t depth = what == CACHES_PREFETCH_FOR_WRITE ? machine->hints[CACHES_PREFETCH_T0] : machine->hints[what];
    if (depth >= machine->level_count)
        depth = machine->level_count - 1;
    C2_PROMISE(machine->levels[0].inclusion != CACHES_EXCLUSIVE);
    while (machine->levels[depth].inclusion == CACHES_EXCLUSIVE)
        depth--;
    return depth;
}

static bool held_nearer(const struct caches *caches, const struct cache_request *request)
{
    for (const struct cache_level *level = caches->port[CACHE_PORT_DATA]; level != request->first; level = level->next)
        if (cache_contents_holds(level, request))
            return true;
    return false;
}

static bool instructed_is_own(const struct caches *caches, uint32_t depth)
{
    return caches->coherence && depth < caches->coherence->private_levels;
}

static enum c2_status prefetch(struct caches *caches, struct cache_request *request, enum caches_instruction what,
                               uint32_t tag, struct c2_error *err)
{
    struct cache_instructed *instructed = caches->instructed;
    const uint32_t depth = instructed_depth_of(caches, what);
    struct caches_instructed *counts = known(instructed, tag);
    uint32_t served_by;
    request->first = cache_node(caches, instructed_core_of(caches), depth);
    request->by_passing = what == CACHES_PREFETCH_NTA;
    const bool present = held_nearer(caches, request);
    if (what == CACHES_PREFETCH_FOR_WRITE && instructed_is_own(caches, depth) &&
        !(cache_coherence_claims(caches, request) &&
          cache_prefetch_notify(caches, CACHES_PREFETCH_CLAIMED, request->slot, tag)))
        return instructed_no_memory(err);
    const enum cache_instructed_fetch fetched = present ? CACHE_FETCH_PRESENT
                                                        : cache_prefetch_instructed(caches, request, tag, &served_by);
    if (fetched == CACHE_FETCH_FAILED)
        return instructed_no_memory(err);
    C2_PROMISE(fetched != CACHE_FETCH_ISSUED || (served_by > depth && served_by <= caches->level_count));
    if (fetched == CACHE_FETCH_ISSUED) {
        for (uint32_t i = depth; i < served_by; i++)
            instructed->flows.fetched[i]++;
        const uint32_t core = instructed_core_of(caches);
        *ahead_of(caches, request->first, request->slot) = (struct ahead){
            instructed->now << CORE_BITS | core, instructed->waited[core], caches_latency(&caches->machine, served_by)};
    }
    if (!counts)
        return C2_OK;
    counts->present += fetched == CACHE_FETCH_PRESENT;
    counts->issued += fetched == CACHE_FETCH_ISSUED;
    counts->from_memory += fetched == CACHE_FETCH_ISSUED && served_by == caches->level_count;
    return C2_OK;
}

enum c2_status caches_instruct(struct caches *caches, enum caches_instruction what, struct line_no virtual_line,
                               struct line_no physical_line, uint32_t tag, struct c2_error *err)
{
    C2_PROMISE(what != CACHES_STORE_PAST);
    struct cache_request request = {.line = {virtual_line, physical_line}};
    enum c2_status status = caches_instructed_begin(caches, err);
    if (status == C2_OK)
        status = find_line(caches, &request, err);
    struct caches_instructed *counts = status == C2_OK ? instructed_counts_of(caches, what, tag) : NULL;
    if (!counts)
        return status == C2_OK ? instructed_no_memory(err) : status;
    counts->executed++;
    caches->last[CACHES_DATA] = LINES_NO_SLOT;
    cache_prefetch_begin(caches->prefetch);
    cache_instructed_asked(caches, physical_line);
    if (what != CACHES_WRITE_BACK)
        cache_instructed_forget(caches, request.slot);
    if (what == CACHES_FLUSH)
        status = instructed_flush(caches, &request, counts, tag) ? C2_OK : instructed_no_memory(err);
    else if (what == CACHES_WRITE_BACK)
        write_back(caches, &request, counts);
    else
        status = prefetch(caches, &request, what, tag, err);
    C2_PROMISE(status != C2_OK || cache_access_holds(caches, request.slot));
    return status;
}

enum c2_status caches_store_past(struct caches *caches, const struct caches_past *store, uint32_t tag,
                                 struct c2_error *err)
{
    struct cache_request request = {.line = {store->line, store->line}};
    C2_ASSERT(store->bytes != 0 && store->first + store->bytes <= caches->machine.line_bytes);
    enum c2_status status = caches_instructed_begin(caches, err);
    if (status == C2_OK)
        status = find_line(caches, &request, err);
    struct caches_instructed *counts = status == C2_OK ? instructed_counts_of(caches, CACHES_STORE_PAST, tag) : NULL;
    if (!counts)
        return status == C2_OK ? instructed_no_memory(err) : status;
    const unsigned unit = granule(caches);
    counts->executed++;
    counts->bytes += store->bytes;
    caches->last[CACHES_DATA] = LINES_NO_SLOT;
    cache_prefetch_begin(caches->prefetch);
    const uint64_t cached = counts->cached;
    if (!instructed_flush(caches, &request, counts, tag))
        return instructed_no_memory(err);
    if (counts->cached != cached)
        instructed_take(caches, request.slot, tag);
    instructed_combine(caches, store->line.v, c2_mask(store->first / unit, (store->first + store->bytes - 1) / unit),
                       tag);
    C2_PROMISE(cache_access_holds(caches, request.slot));
    return C2_OK;
}

enum c2_status caches_instruct_nowhere(struct caches *caches, enum caches_instruction what, uint32_t tag,
                                       struct c2_error *err)
{
    C2_PROMISE(what <= CACHES_PREFETCH_FOR_WRITE);
    enum c2_status status = caches_instructed_begin(caches, err);
    struct caches_instructed *counts = status == C2_OK ? instructed_counts_of(caches, what, tag) : NULL;
    if (!counts)
        return status == C2_OK ? instructed_no_memory(err) : status;
    counts->executed++;
    counts->nowhere++;
    return C2_OK;
}

/* ------------------------------------------------------------------ invariants */

void cache_instructed_check(const struct caches *caches)
{
    uint32_t open = 0;
    uint64_t group;
    for (uint32_t core = 0; core < caches_machine_cores(&caches->machine); core++) {
        const struct buffers *buffers = &caches->instructed->buffers[core];
        C2_ASSERT(buffers->count <= caches->machine.combining);
        open += buffers->count;
        for (uint32_t i = 0; i < buffers->count; i++) {
            const uint64_t line = buffers->list[i].line;
            const bool there = c2_map_get(caches->lines.map, line >> LINES_GROUP_SHIFT, &group);
            C2_ASSERT(there && buffers->list[i].bytes != 0 && buffers->list[i].bytes != instructed_whole(caches));
            const uint32_t slot = (uint32_t)(group << LINES_GROUP_SHIFT | (line & (LINES_GROUP - 1)));
            for (uint32_t k = 0; k < caches->node_count; k++)
                C2_ASSERT(!cache_contents_find(&caches->level[k], slot));
        }
    }
    C2_ASSERT(open == caches->instructed->open);
    for (uint32_t slot = 0;
         slot < caches->instructed->taken_room * LINES_GROUP && slot < caches->lines.groups * LINES_GROUP; slot++)
        for (uint32_t k = 0; k < caches->node_count && caches->instructed->taken[slot].tag != 0; k++)
            C2_ASSERT(!cache_contents_find(&caches->level[k], slot));
}
