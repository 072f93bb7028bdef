/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * prefetch: hardware prefetchers - levels that fetch lines before they are accessed.
 *
 * Model
 *   A prefetcher belongs to a level. It sees the accesses that the level is asked, in their order: reads, writes,
 *   fetches, and the reads of page walks; all of them, or misses only, or misses and the first access of each line that
 *   was prefetched, as the machine says. It does not see what other prefetchers ask for.
 *   When an access is done, at all levels, the prefetchers of the levels that it asked follow, the nearest level first,
 *   in the order of enum caches_prefetcher. Each asks for one line at most, of the same 4 KiB page; a request for a
 *   line of another page is not made (where that page lies is unknown). What is fetched is there at once, before the
 *   next access: there is no time, so no prefetch is late. This is the best case.
 *   Stream     Of each page, which line it saw last, and how many in turn were the neighbours of the one before, up or
 *              down; the line seen last again changes nothing. With the third line in a row, and each one that goes
 *              on, it asks for the line `stream_distance` further. As many pages as there are: nothing is forgotten.
 *              Weidendorfer's, for Callgrind.
 *   Next line  For the line behind each one that it sees.
 *   Adjacent   For the other line of the pair (of an even line and the next one).
 *   Stride     Of each instruction that reads or writes, the virtual line it accessed last and the step to it; an
 *              access of the same line changes nothing. With the second equal step, and each one that goes on, it asks
 *              for the line `stride_distance` steps further. As many instructions as there are. Fetches and page walks
 *              are not seen.
 *   Fetching   The level has the line: the request is dropped, and nothing changes. Else it goes down as an access does
 *              that misses there, and fills as one does: levels below that are asked and have the line take it for a
 *              hit (an exclusive one gives it up), those that do not are filled, inclusive ones take victims from
 *              above, dirty victims are written down. The line is clean, but for what it brings with it from an
 *              exclusive level.
 *   Shadows    A level's shadow is offered what the level is: it takes a line that it does not have, and leaves its
 *              order alone for one that it has; below, a request is an access like any other. So the classes compare
 *              with a fully associative cache that has the same prefetchers, and a line that was prefetched is not cold
 *              any more.
 *   Evictors   Of what a prefetch makes a level lose, the access site of the access before it.
 *   Cores      Each core's own levels have prefetchers of their own, which see what their core asks; those of a shared
 *              level see the accesses of all cores in their order, and take an instruction's for one's, whatever the
 *              core. What fetching a line does to other cores is said in coherence.c.
 *
 * Counting
 *   Nothing in caches_counts: prefetches are no accesses at any level. Write-backs and back-invalidations that they
 *   cause count as all do.
 *   useful     The first time that a line which a prefetcher has brought into its level is asked for there, by an
 *              access or by a prefetcher of a level above.
 *   useless    It leaves the level before that, also because another core's write takes it.
 *   polluting  An access misses at a level, any, because what it asks for was there and had to leave for a prefetch: as
 *              the victim of what was being fetched, of a victim pushed down by it, or by back-invalidation. This is
 *              remembered until the line comes back into that level, however long that takes; when a prefetch brings
 *              it back, nothing was lost and nothing counts; nor when another core's write has come between, which
 *              would have taken it. (The line might have left later without the prefetch: what
 *              all prefetches together change is seen by simulating the machine without them beside it.)
 *
 * Invariants (cache_prefetch_check)
 *   issued - useful - useless lines are in a level, brought by its prefetchers and not asked for. A line that is
 *   remembered as pushed out of a level is not there. An exclusive level has no prefetcher.
 *
 * Price
 *   8 bytes a line of footprint and level, of several cores each core's; 16 a page, level and stream prefetcher. Only
 *   machines that prefetch pay.
 *
 * Not modelled
 *   Time and bandwidth; tables of limited size; prefetchers that turn themselves off. Prefetchers do not see prefetch
 *   instructions (instructed.c), whose lines are known here as those of a prefetcher of their own.
 *
 * Source: J. Weidendorfer, "Simulation Driven Performance Analysis for Software Optimization", section 3.4.1.
 */
#include <string.h>

#include "caches/coherence_priv.h"
#include "caches/contents_priv.h"
#include "caches/event_log_priv.h"
#include "caches/instructed_priv.h"

#define IN_A_ROW 2 /* steps until a stream or stride is believed: three lines */

/* What is known of a line at a level: 0 nothing; else state, prefetcher and access site of the prefetch concerned. */
enum note_state { PENDING = 1, LOST = 2 };
struct note {
    enum note_state state;
    enum caches_prefetcher prefetcher;
    uint32_t access_site;
};

struct seen {
    struct cache_level *level;
    bool hit, first; /* first: of a prefetched line */
};

struct stride {
    uint64_t line; /* virtual */
    int64_t step;
    uint32_t in_a_row;
};

/* Of one level. */
struct prefetching {
    struct c2_map *streams; /* page -> packed struct stream; NULL: no such prefetcher */
    struct c2_map *of_pc;   /* instruction -> stride; likewise */
    struct stride *strides;
    uint32_t stride_count, stride_room;
};

struct cache_prefetch {
    struct prefetching *at; /* [level index] */
    struct caches *caches;
    struct caches_prefetch_counts counts[CACHES_MAX_LEVELS + 1][CACHES_PREFETCHERS + 1]; /* [number of the level] */
    uint32_t level_indices, level_count;
    uint64_t page_lines;
    uint64_t *notes; /* [slot * level indices + level index], packed */
    uint32_t room;   /* of notes, in groups of lines */
    uint64_t note;   /* of what is being fetched; 0: nothing is */
    const struct cache_level *target;
    struct seen seen[CACHES_MAX_LEVELS];
    uint32_t seen_count;
    struct caches_prefetched *events;
    uint32_t event_count, event_room;
    bool failed; /* no memory */
};

/* ------------------------------------------------------------------ machines */

static bool prefetches(const struct caches_level *level) { return level->prefetchers != 0; }

bool caches_machine_prefetches(const struct caches_machine *machine)
{
    bool any = machine->has_l1i && prefetches(&machine->l1i);
    for (uint32_t i = 0; i < machine->level_count; i++)
        any |= prefetches(&machine->levels[i]);
    return any;
}

struct caches_machine caches_machine_plain(const struct caches_machine *machine)
{
    struct caches_machine plain = *machine;
    plain.l1i.prefetchers = 0;
    for (uint32_t i = 0; i < machine->level_count; i++)
        plain.levels[i].prefetchers = 0;
    return plain;
}

/* ------------------------------------------------------------------ life */

static enum c2_status prefetch_init_level(struct prefetching *at, const struct cache_level *level, struct c2_error *err)
{
    const struct caches_level *config = level->config;
    enum c2_status status = C2_OK;
    C2_ASSERT(!prefetches(config) || !level->exclusive);
    if (config->prefetchers & 1u << CACHES_PREFETCH_STREAM) {
        C2_ASSERT(config->stream_distance >= 1);
        status = c2_map_create(&at->streams, err);
    }
    if (status == C2_OK && config->prefetchers & 1u << CACHES_PREFETCH_STRIDE) {
        C2_ASSERT(config->stride_distance >= 1);
        status = c2_map_create(&at->of_pc, err);
    }
    return status;
}

enum c2_status cache_prefetch_init(struct caches *caches, struct c2_error *err)
{
    C2_ASSERT(!caches->prefetch && caches->machine.line_bytes <= C2_PAGE_BYTES);
    struct cache_prefetch *prefetch = caches->prefetch = c2_calloc(1, sizeof *prefetch);
    if (!prefetch)
        return c2_fail_memory(err, "the prefetchers");
    prefetch->at = c2_calloc(caches->node_count, sizeof *prefetch->at);
    if (!prefetch->at)
        return c2_fail_memory(err, "the prefetchers");
    prefetch->caches = caches;
    prefetch->level_indices = caches->node_count;
    prefetch->level_count = caches->level_count;
    prefetch->page_lines = C2_PAGE_BYTES / caches->machine.line_bytes;
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < caches->node_count && status == C2_OK; i++) {
        struct cache_level *level = &caches->level[i];
        level->prefetch = prefetch;
        status = prefetch_init_level(&prefetch->at[i], level, err);
    }
    return status;
}

void cache_prefetch_end(struct caches *caches)
{
    struct cache_prefetch *prefetch = caches->prefetch;
    if (!prefetch)
        return;
    for (uint32_t i = 0; i < prefetch->level_indices; i++) {
        c2_map_destroy(prefetch->at[i].streams);
        c2_map_destroy(prefetch->at[i].of_pc);
        c2_free(prefetch->at[i].strides);
    }
    c2_free(prefetch->at);
    c2_free(prefetch->notes);
    c2_free(prefetch->events);
    c2_free(prefetch);
}

bool cache_prefetch_reach(struct caches *caches)
{
    struct cache_prefetch *prefetch = caches->prefetch;
    return cache_lines_cover(&caches->lines, (void **)&prefetch->notes, &prefetch->room,
                             (size_t)LINES_GROUP * prefetch->level_indices * sizeof *prefetch->notes);
}

/* ------------------------------------------------------------------ notes and events */

static uint64_t pack_note(struct note note)
{
    C2_PROMISE((note.state == PENDING || note.state == LOST) && note.prefetcher <= CACHES_PREFETCH_SOFTWARE);
    return (uint64_t)note.state << 40 | (uint64_t)note.prefetcher << 32 | note.access_site;
}

static struct note unpack_note(uint64_t word)
{
    return (struct note){(enum note_state)(word >> 40), (enum caches_prefetcher)(word >> 32 & 0xff), (uint32_t)word};
}

static uint64_t *note_of(const struct cache_level *level, uint32_t slot)
{
    C2_PROMISE(slot >> LINES_GROUP_SHIFT < level->prefetch->room);
    const struct cache_prefetch *prefetch = level->prefetch;
    return &prefetch->notes[(size_t)slot * prefetch->level_indices + level->level_index];
}

#define EVENT(name, ...) ((struct caches_prefetched){.what = CACHES_PREFETCH_##name, ##__VA_ARGS__})
/* The event is complete but for what every one has. */
static void prefetch_notify(const struct cache_level *level, struct caches_prefetched event, uint64_t word,
                            uint32_t slot)
{
    C2_PROMISE(word != 0);
    struct cache_prefetch *prefetch = level->prefetch;
    const struct note note = unpack_note(word);
    if (!c2_grow((void **)&prefetch->events, &prefetch->event_room, prefetch->event_count, sizeof *prefetch->events)) {
        prefetch->failed = true;
        return;
    }
    event.prefetcher = note.prefetcher;
    event.level = level->number;
    event.access_site = note.access_site;
    event.line.v = cache_lines_line(level->lines, slot);
    prefetch->events[prefetch->event_count++] = event;
}

static struct caches_prefetch_counts *prefetch_counts_of(const struct cache_level *level, uint64_t word)
{
    C2_PROMISE(word != 0);
    return &level->prefetch->counts[level->number][unpack_note(word).prefetcher];
}

static bool prefetch_is(uint64_t word, enum note_state state) { return word >> 40 == state; }
static bool is_software(uint64_t word) { return unpack_note(word).prefetcher == CACHES_PREFETCH_SOFTWARE; }

void cache_prefetch_came(const struct cache_level *level, uint32_t slot)
{
    C2_PROMISE(level->prefetch->note == 0 || level->prefetch->target);
    const struct cache_prefetch *prefetch = level->prefetch;
    const bool fetched = prefetch->note != 0 && prefetch->target == level;
    *note_of(level, slot) = fetched ? prefetch->note : 0;
}

void cache_prefetch_left(const struct cache_level *level, uint32_t slot)
{
    const struct cache_prefetch *prefetch = level->prefetch;
    uint64_t *note = note_of(level, slot);
    if (prefetch_is(*note, PENDING)) {
        prefetch_counts_of(level, *note)->useless++;
        prefetch_notify(level, EVENT(USELESS), *note, slot);
        if (is_software(*note))
            cache_instructed_useless(prefetch->caches, unpack_note(*note).access_site);
    }
    *note = 0;
    if (prefetch->note == 0)
        return;
    struct note lost = unpack_note(prefetch->note);
    lost.state = LOST;
    *note = pack_note(lost);
}

void cache_prefetch_evicted(const struct cache_level *level, uint32_t slot, uint32_t set)
{
    const uint64_t note = level->prefetch->note;
    if (note != 0)
        prefetch_notify(level, EVENT(EVICTED, .set = set), note, slot);
}

bool cache_prefetch_taken(const struct cache_level *level, uint32_t slot)
{
    uint64_t *note = note_of(level, slot);
    if (prefetch_is(*note, LOST))
        *note = 0;
    return prefetch_is(*note, PENDING);
}

void cache_prefetch_moved(const struct cache_level *level, uint32_t slot) { *note_of(level, slot) = 0; }

void cache_prefetch_used(struct cache_level *level, uint32_t slot, bool waits)
{
    uint64_t *note = note_of(level, slot);
    if (!prefetch_is(*note, PENDING))
        return;
    prefetch_counts_of(level, *note)->useful++;
    prefetch_notify(level, EVENT(USEFUL), *note, slot);
    if (is_software(*note))
        cache_instructed_used(level->prefetch->caches, level, slot, unpack_note(*note).access_site, waits);
    *note = 0;
}

void cache_prefetch_asked(struct cache_level *level, uint32_t slot, bool hit)
{
    struct cache_prefetch *prefetch = level->prefetch;
    const uint64_t note = *note_of(level, slot);
    C2_PROMISE(!prefetch->caches->prefetchers || prefetch->seen_count < CACHES_MAX_LEVELS);
    if (prefetch->caches->prefetchers) /* else a store may go on and ask more levels than there are */
        prefetch->seen[prefetch->seen_count++] = (struct seen){level, hit, hit && prefetch_is(note, PENDING)};
    if (hit)
        cache_prefetch_used(level, slot, true);
    if (hit || !prefetch_is(note, LOST))
        return;
    prefetch_counts_of(level, note)->polluting++;
    prefetch_notify(level, EVENT(POLLUTING), note, slot);
    if (is_software(note))
        cache_instructed_polluting(prefetch->caches, unpack_note(note).access_site);
}

void cache_prefetch_begin(struct cache_prefetch *prefetch) { prefetch->seen_count = prefetch->event_count = 0; }

/* ------------------------------------------------------------------ one request */

/* What a prefetcher asks for: so many lines on from the access. */
struct ask {
    struct cache_level *level;
    const struct cache_request *access;
    enum caches_prefetcher prefetcher;
    int64_t lines;
};

static struct cache_line prefetch_line_at(const struct cache_request *access, int64_t lines)
{
    return (struct cache_line){{access->line.virtual_line.v + (uint64_t)lines},
                               {access->line.physical_line.v + (uint64_t)lines}};
}

static bool leaves_page(const struct cache_prefetch *prefetch, const struct ask *ask)
{
    const int64_t in_page = (int64_t)(ask->access->line.physical_line.v % prefetch->page_lines) + ask->lines;
    return in_page < 0 || in_page >= (int64_t)prefetch->page_lines;
}

/* The level does not have it. Says which has; level_count: memory. */
static uint32_t issue(struct caches *caches, const struct ask *ask, const struct cache_request *request, uint64_t note)
{
    C2_PROMISE(caches->prefetch->note == 0 && !cache_contents_holds(ask->level, request));
    struct cache_prefetch *prefetch = caches->prefetch;
    if (C2_UNLIKELY(caches->coherence))
        cache_coherence_fetches(caches, request);
    prefetch->note = note;
    prefetch->target = ask->level;
    const uint32_t served_by = cache_contents_fetch(caches, request);
    uint32_t filtered = LINES_NO_SLOT;
    if (C2_UNLIKELY(caches->coherence))
        prefetch->failed |= !cache_coherence_fetched(caches, request, &filtered);
    prefetch->note = 0;
    C2_PROMISE(served_by <= caches->level_count);
    prefetch_counts_of(ask->level, note)->issued++;
    prefetch_counts_of(ask->level, note)->from_memory += served_by == caches->level_count;
    prefetch_notify(ask->level, EVENT(ISSUED, .served_by = served_by, .by_passing = request->by_passing), note,
                    request->slot);
    if (filtered != LINES_NO_SLOT)
        prefetch_notify(ask->level, EVENT(FILTERED), note, filtered);
    return served_by;
}

static void prefetch_stop(const struct ask *ask, uint64_t note)
{
    prefetch_counts_of(ask->level, note)->stopped++;
    prefetch_notify(ask->level, EVENT(STOPPED), note, ask->access->slot);
}

/* The level has the line, which its shadow is offered, or a core above it; then nothing else happens. */
static bool has_line(struct caches *caches, const struct ask *ask, const struct cache_request *request, uint64_t note)
{
    const bool kept = C2_UNLIKELY(caches->coherence) && cache_coherence_keeps(caches, request);
    if (!kept && !cache_contents_holds(ask->level, request))
        return false;
    if (!kept)
        cache_event_log_fetch(caches, ask->level, request->slot, 0);
    prefetch_counts_of(ask->level, note)->present++;
    prefetch_notify(ask->level, EVENT(PRESENT), note, request->slot);
    return true;
}

static void request_line(struct caches *caches, const struct ask *ask)
{
    C2_PROMISE(ask->lines != 0 && ask->prefetcher < CACHES_PREFETCHERS);
    struct cache_prefetch *prefetch = caches->prefetch;
    const uint64_t note = pack_note((struct note){PENDING, ask->prefetcher, (uint32_t)caches->lines.access_site});
    if (leaves_page(prefetch, ask)) {
        prefetch_stop(ask, note);
        return;
    }
    struct cache_request request = {.first = ask->level, .line = prefetch_line_at(ask->access, ask->lines)};
    request.slot = caches_slot(caches, request.line.physical_line);
    prefetch->failed |= request.slot == LINES_NO_SLOT || !cache_prefetch_reach(caches) ||
                        (caches->coherence && !cache_coherence_reach(caches));
    if (prefetch->failed)
        return;
    if (C2_UNLIKELY(caches->instructed)) {
        cache_instructed_asked(caches, request.line.physical_line);
        cache_instructed_forget(caches, request.slot);
    }
    if (!has_line(caches, ask, &request, note))
        issue(caches, ask, &request, note);
    C2_PROMISE(cache_line_holds(caches, request.slot));
}

enum cache_instructed_fetch cache_prefetch_instructed(struct caches *caches, const struct cache_request *request,
                                                      uint32_t tag, uint32_t *served_by)
{
    C2_PROMISE(caches->instructed && !request->first->exclusive);
    const uint64_t note = pack_note((struct note){PENDING, CACHES_PREFETCH_SOFTWARE, tag});
    const struct ask ask = {request->first, request, CACHES_PREFETCH_SOFTWARE, 0};
    if (has_line(caches, &ask, request, note))
        return CACHE_FETCH_PRESENT;
    *served_by = issue(caches, &ask, request, note);
    return caches->prefetch->failed ? CACHE_FETCH_FAILED : CACHE_FETCH_ISSUED;
}

bool cache_prefetch_notify(struct caches *caches, enum caches_prefetch_what what, uint32_t slot, uint32_t tag)
{
    const uint64_t note = pack_note((struct note){PENDING, CACHES_PREFETCH_SOFTWARE, tag});
    prefetch_notify(caches->port[CACHE_PORT_DATA], (struct caches_prefetched){.what = what}, note, slot);
    return !caches->prefetch->failed;
}

/* ------------------------------------------------------------------ what they see */

/* Of a page: the line seen last, and how many steps in a row there were, up or (below 0) down. */
struct stream {
    uint32_t line; /* in the page */
    int32_t in_a_row;
};

static uint64_t pack_stream(struct stream stream) { return (uint64_t)stream.line << 32 | (uint32_t)stream.in_a_row; }

/* Neither state nor count of a run is of interest beyond what makes it believed. */
static int32_t one_more(int32_t in_a_row, int32_t direction)
{
    C2_PROMISE(direction == 1 || direction == -1);
    const int32_t so_far = in_a_row * direction > 0 ? in_a_row : 0;
    return so_far * direction >= IN_A_ROW ? so_far : so_far + direction;
}

/* How far on the stream prefetcher wants to fetch; 0: nothing. */
static int64_t see_stream(struct cache_prefetch *prefetch, const struct cache_level *level, uint64_t line)
{
    struct c2_map *streams = prefetch->at[level->level_index].streams;
    const uint64_t page = line / prefetch->page_lines;
    const uint32_t here = (uint32_t)(line % prefetch->page_lines);
    struct stream stream = {.line = here};
    C2_PROMISE(streams && level->config->stream_distance >= 1);
    uint64_t word;
    if (c2_map_get(streams, page, &word)) {
        stream = (struct stream){here, (int32_t)(uint32_t)word};
        const uint32_t last = (uint32_t)(word >> 32);
        if (last == here)
            return 0;
        stream.in_a_row = here == last + 1   ? one_more(stream.in_a_row, 1)
                          : here + 1 == last ? one_more(stream.in_a_row, -1)
                                             : 0;
    }
    prefetch->failed |= c2_map_put(streams, page, pack_stream(stream), NULL) != C2_OK;
    const int64_t distance = level->config->stream_distance;
    return stream.in_a_row >= IN_A_ROW ? distance : stream.in_a_row <= -IN_A_ROW ? -distance : 0;
}

/* NULL: no memory. *fresh: it is new. */
static struct stride *stride_of(struct prefetching *at, uint64_t pc, bool *fresh)
{
    uint64_t found = at->stride_count;
    *fresh = !c2_map_get(at->of_pc, pc, &found);
    C2_PROMISE(*fresh || found < at->stride_count);
    if (!*fresh)
        return &at->strides[found];
    if (!c2_grow((void **)&at->strides, &at->stride_room, at->stride_count, sizeof *at->strides) ||
        c2_map_put(at->of_pc, pc, found, NULL) != C2_OK)
        return NULL;
    return &at->strides[at->stride_count++];
}

static int64_t see_stride(struct cache_prefetch *prefetch, const struct cache_level *level, uint64_t line)
{
    const uint64_t pc = level->lines->pc;
    bool fresh;
    if (pc == 0)
        return 0;
    struct stride *stride = stride_of(&prefetch->at[level->level_index], pc, &fresh);
    if (!stride || fresh) {
        prefetch->failed |= !stride;
        if (stride)
            *stride = (struct stride){.line = line};
        return 0;
    }
    const int64_t step = (int64_t)(line - stride->line);
    if (step == 0)
        return 0;
    const uint32_t in_a_row = step == stride->step ? stride->in_a_row + 1 : 1;
    *stride = (struct stride){line, step, in_a_row < IN_A_ROW ? in_a_row : IN_A_ROW};
    return in_a_row >= IN_A_ROW ? step * level->config->stride_distance : 0;
}

static int64_t see(struct cache_prefetch *prefetch, const struct cache_level *level, enum caches_prefetcher prefetcher,
                   const struct cache_line *line)
{
    C2_PROMISE(level->config->prefetchers & 1u << prefetcher);
    switch (prefetcher) {
    case CACHES_PREFETCH_STREAM:
        return see_stream(prefetch, level, line->physical_line.v);
    case CACHES_PREFETCH_NEXT_LINE:
        return 1;
    case CACHES_PREFETCH_ADJACENT:
        return line->physical_line.v % 2 == 0 ? 1 : -1;
    default:
        return see_stride(prefetch, level, line->virtual_line.v);
    }
}

static bool looks(const struct seen *seen)
{
    switch (seen->level->config->prefetch_on) {
    case CACHES_ON_MISSES:
        return !seen->hit;
    case CACHES_ON_TAGGED:
        return !seen->hit || seen->first;
    default:
        return true;
    }
}

static void follow_level(struct caches *caches, const struct seen *seen, const struct cache_request *access)
{
    struct cache_level *level = seen->level;
    for (unsigned i = 0; i < CACHES_PREFETCHERS && looks(seen); i++) {
        const enum caches_prefetcher prefetcher = (enum caches_prefetcher)i;
        if (!(level->config->prefetchers & 1u << i))
            continue;
        const struct ask ask = {level, access, prefetcher, see(caches->prefetch, level, prefetcher, &access->line)};
        if (ask.lines != 0)
            request_line(caches, &ask);
    }
}

enum c2_status cache_prefetch_follow(struct caches *caches, const struct cache_request *request, struct c2_error *err)
{
    C2_PROMISE(caches->prefetch->note == 0 && request->slot != LINES_NO_SLOT);
    struct cache_prefetch *prefetch = caches->prefetch;
    for (uint32_t i = 0; i < prefetch->seen_count && !prefetch->failed; i++)
        follow_level(caches, &prefetch->seen[i], request);
    return prefetch->failed ? c2_fail_memory(err, "the prefetchers") : C2_OK;
}

/* ------------------------------------------------------------------ getters, invariants */

const struct caches_prefetch_counts *caches_prefetch_counts(const struct caches *caches, uint32_t level,
                                                            enum caches_prefetcher prefetcher)
{
    C2_ASSERT(caches->prefetch && level <= caches->level_count);
    return &caches->prefetch->counts[level][prefetcher];
}

const struct caches_prefetched *caches_prefetched(const struct caches *caches, size_t *count)
{
    *count = caches->prefetch ? caches->prefetch->event_count : 0;
    return caches->prefetch ? caches->prefetch->events : NULL;
}

static void caches_prefetch_check_level(const struct caches *caches, const struct cache_level *level,
                                        uint64_t pending[CACHES_PREFETCHERS + 1])
{
    const uint32_t slots = caches->lines.groups << LINES_GROUP_SHIFT;
    for (uint32_t slot = 0; slot < slots && slot >> LINES_GROUP_SHIFT < caches->prefetch->room; slot++) {
        const uint64_t note = *note_of(level, slot);
        const bool there = cache_contents_find(level, slot);
        C2_ASSERT(note == 0 || there == prefetch_is(note, PENDING));
        if (prefetch_is(note, PENDING))
            pending[unpack_note(note).prefetcher]++;
    }
}

void cache_prefetch_check(const struct caches *caches)
{
    uint64_t pending[CACHES_MAX_LEVELS + 1][CACHES_PREFETCHERS + 1] = {{0}};
    for (uint32_t i = 0; i < caches->node_count; i++)
        caches_prefetch_check_level(caches, &caches->level[i], pending[caches->level[i].number]);
    for (uint32_t i = 0; i <= caches->level_count; i++)
        for (unsigned k = 0; k <= CACHES_PREFETCHERS; k++) {
            const struct caches_prefetch_counts *n = &caches->prefetch->counts[i][k];
            C2_ASSERT(n->issued - n->useful - n->useless == pending[i][k]);
        }
}
