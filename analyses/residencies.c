/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * stays: which lines are in which level since when, and what was touched of them.
 *
 * Model
 *   A stay of a line in a level begins when it is put there and ends when it leaves. What comes and goes is what the
 *   simulator tells of misses and prefetches: levels that missed are filled, but for exclusive ones that were not asked
 *   first; the victims named leave; the victim of an inclusive level leaves the levels above as well; that of a level
 *   above an exclusive one goes there, if it is not there yet, and keeps its loader; a hit in an exclusive level takes
 *   the line out of it. A miss where the line is (under another set's name) ends that residency and begins another.
 *   An access is counted for all levels from the one that it enters at down that have the line, whichever serves it: a
 *   line that L2 has too is used in L2 as much as in L1. (So is Callgrind's count for its last level.) What is fetched
 *   and found in L1D says nothing of L1D's line.
 *   Of several cores each has places of its own for the levels that are not shared. What an access makes come and go is
 *   in those of its core, and in the shared ones; but an inclusive shared level takes its victim from all cores, and a
 *   write takes its line from the levels that are other cores' own, and a full snoop filter its victim from those of
 *   all.
 *
 * Counting
 *   Bytes are exact: a bit each.
 *
 * Invariants (residencies_check)
 *   A line has a record while it is in some level, and is found under its number.
 *
 * Price
 *   A record a line that is in any level, so memory is bounded by the lines of all levels: (48 bytes + a bit a byte)
 *   a level, of several cores one for each.
 */
#include "analyses/residencies_priv.h"

#include <string.h>

#define NO_RECORD UINT32_MAX
#define RECENT C2_HOST_SIZE(4096u, 2u)
#define WORD_BITS 64u

/* One a line. */
struct record {
    uint64_t line;
    uint32_t count; /* places that have it */
};

struct residencies {
    const struct caches_machine *machine;
    struct residencies_listener to;
    uint32_t levels, words;
    uint32_t cores, own, places; /* own: levels of the data path that a core has for itself */
    uint32_t core;               /* that makes the access */
    struct c2_map *record_of;    /* line -> record */
    struct record *records;
    struct residency *residencies; /* [record * places + place] */
    uint64_t *masks;               /* likewise, words each */
    uint32_t count, room;          /* of records */
    uint32_t *unused;              /* records that are of no line */
    uint32_t unused_count;
    struct {
        uint64_t line;
        uint32_t record; /* NO_RECORD: there is none */
    } recent[RECENT];
};

/* ------------------------------------------------------------------ masks */

void residencies_mask_add(uint64_t *mask, uint32_t first, uint32_t bytes)
{
    while (bytes != 0) {
        const uint32_t bit = first % WORD_BITS, left = WORD_BITS - bit, now = bytes < left ? bytes : left;
        mask[first / WORD_BITS] |= (now == WORD_BITS ? UINT64_MAX : (UINT64_C(1) << now) - 1) << bit;
        first += now;
        bytes -= now;
    }
}

uint32_t residencies_mask_count(const uint64_t *mask, uint32_t words)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < words; i++)
        sum += (uint32_t)__builtin_popcountll(mask[i]);
    return sum;
}

uint32_t residencies_mask_words(const struct caches_machine *machine)
{
    return (machine->line_bytes + WORD_BITS - 1) / WORD_BITS;
}

/* ------------------------------------------------------------------ records */

static enum c2_status residencies_no_memory(struct c2_error *err) { return c2_fail_memory(err, "the use of lines"); }

static void forget_recent(struct residencies *residencies)
{
    for (uint32_t i = 0; i < RECENT; i++)
        residencies->recent[i].record = NO_RECORD;
}

enum c2_status residencies_create(struct residencies **out, const struct caches_machine *machine,
                                  const struct residencies_listener *listener, struct c2_error *err)
{
    struct residencies *residencies = *out = c2_calloc(1, sizeof *residencies);
    if (!residencies)
        return residencies_no_memory(err);
    residencies->machine = machine;
    residencies->to = *listener;
    residencies->levels = machine->level_count + machine->has_l1i;
    residencies->words = residencies_mask_words(machine);
    residencies->cores = caches_machine_cores(machine);
    residencies->own = caches_machine_private(machine);
    residencies->places = residencies->levels + (residencies->cores - 1) * (residencies->own + machine->has_l1i);
    forget_recent(residencies);
    enum c2_status status = c2_map_create(&residencies->record_of, err);
    if (status == C2_OK)
        return C2_OK;
    residencies_destroy(residencies);
    *out = NULL;
    return status;
}

void residencies_destroy(struct residencies *residencies)
{
    if (!residencies)
        return;
    c2_map_destroy(residencies->record_of);
    c2_free(residencies->records);
    c2_free(residencies->residencies);
    c2_free(residencies->masks);
    c2_free(residencies->unused);
    c2_free(residencies);
}

static bool residencies_is_own(const struct residencies *residencies, uint32_t level)
{
    return level < residencies->own || level == residencies->machine->level_count;
}

/* The first core's places have the numbers of their levels. */
static uint32_t residencies_place_of(const struct residencies *residencies, uint32_t core, uint32_t level)
{
    const uint32_t own = residencies->own + residencies->machine->has_l1i;
    if (core == 0 || !residencies_is_own(residencies, level))
        return level;
    return residencies->levels + (core - 1) * own + (level < residencies->own ? level : residencies->own);
}

static uint32_t residencies_level_at(const struct residencies *residencies, uint32_t place)
{
    const uint32_t own = residencies->own + residencies->machine->has_l1i;
    if (place < residencies->levels)
        return place;
    const uint32_t level = (place - residencies->levels) % own;
    return level < residencies->own ? level : residencies->machine->level_count;
}

/* Here and below: of a place, or of the level of the core that makes the access. */
static struct residency *residency_at(const struct residencies *residencies, uint32_t record, uint32_t place)
{
    return &residencies->residencies[(size_t)record * residencies->places + place];
}

static struct residency *residency_of(const struct residencies *residencies, uint32_t record, uint32_t level)
{
    return residency_at(residencies, record, residencies_place_of(residencies, residencies->core, level));
}

static uint64_t *mask_at(const struct residencies *residencies, uint32_t record, uint32_t place)
{
    return &residencies->masks[((size_t)record * residencies->places + place) * residencies->words];
}

static uint64_t *mask_of(const struct residencies *residencies, uint32_t record, uint32_t level)
{
    return mask_at(residencies, record, residencies_place_of(residencies, residencies->core, level));
}

static uint32_t residencies_find(struct residencies *residencies, uint64_t line)
{
    const uint64_t at = line % RECENT;
    uint64_t found;
    if (SHORTCUT(residencies->recent[at].record != NO_RECORD && residencies->recent[at].line == line))
        return residencies->recent[at].record;
    if (!c2_map_get(residencies->record_of, line, &found))
        return NO_RECORD;
    residencies->recent[at].line = line;
    return residencies->recent[at].record = (uint32_t)found;
}

static bool grow_part(void **part, uint32_t room, size_t bytes)
{
    void *grown = c2_realloc(*part, room * bytes);
    if (grown)
        *part = grown;
    return grown;
}

static bool residencies_make_room(struct residencies *residencies)
{
    const uint32_t room = residencies->room * 2 + C2_HOST_SIZE(1024u, 1u);
    if (residencies->count < residencies->room)
        return true;
    if (!grow_part((void **)&residencies->records, room, sizeof *residencies->records) ||
        !grow_part((void **)&residencies->residencies, room, residencies->places * sizeof *residencies->residencies) ||
        !grow_part((void **)&residencies->masks, room,
                   (size_t)residencies->places * residencies->words * sizeof *residencies->masks) ||
        !grow_part((void **)&residencies->unused, room, sizeof *residencies->unused))
        return false;
    residencies->room = room;
    return true;
}

static enum c2_status need(struct residencies *residencies, uint64_t line, uint32_t *record, struct c2_error *err)
{
    *record = residencies_find(residencies, line);
    if (*record != NO_RECORD)
        return C2_OK;
    if (residencies->unused_count == 0 && !residencies_make_room(residencies))
        return residencies_no_memory(err);
    *record = residencies->unused_count != 0 ? residencies->unused[--residencies->unused_count] : residencies->count++;
    residencies->records[*record] = (struct record){.line = line};
    memset(residency_at(residencies, *record, 0), 0, residencies->places * sizeof *residencies->residencies);
    return c2_map_put(residencies->record_of, line, *record, err);
}

static void analyses_residencies_drop(struct residencies *residencies, uint32_t record)
{
    const uint64_t line = residencies->records[record].line;
    if (residencies->recent[line % RECENT].record == record)
        residencies->recent[line % RECENT].record = NO_RECORD;
    c2_map_remove(residencies->record_of, line);
    residencies->unused[residencies->unused_count++] = record;
}

/* ------------------------------------------------------------------ stays */

static enum c2_status end_at(struct residencies *residencies, uint32_t record, uint32_t place, enum residencies_end end,
                             uint32_t evictor, struct c2_error *err)
{
    struct residency *residency = residency_at(residencies, record, place);
    if (!residency->there)
        return C2_OK;
    residency->there = false;
    enum c2_status status = residencies->to.ended(residencies->to.self, residencies_level_at(residencies, place),
                                                  residency, mask_at(residencies, record, place), end, evictor, err);
    if (--residencies->records[record].count == 0)
        analyses_residencies_drop(residencies, record);
    return status;
}

static enum c2_status end_residency(struct residencies *residencies, uint32_t record, uint32_t level,
                                    enum residencies_end end, uint32_t evictor, struct c2_error *err)
{
    return end_at(residencies, record, residencies_place_of(residencies, residencies->core, level), end, evictor, err);
}

static enum c2_status begin_residency(struct residencies *residencies, uint64_t line, uint32_t level,
                                      const struct residencies_access_site *access_site, struct c2_error *err)
{
    uint32_t record = residencies_find(residencies, line);
    enum c2_status status = C2_OK;
    if (record != NO_RECORD) /* a synonym */
        status = end_residency(residencies, record, level, STAYS_EVICTED, access_site->number, err);
    if (status == C2_OK)
        status = need(residencies, line, &record, err);
    if (status != C2_OK)
        return status;
    *residency_of(residencies, record, level) = (struct residency){
        .va = access_site->va.v, .loader = access_site->number, .measured = access_site->measured, .there = true};
    memset(mask_of(residencies, record, level), 0, residencies->words * sizeof(uint64_t));
    residencies->records[record].count++;
    return residencies->to.began
               ? residencies->to.began(residencies->to.self, residency_of(residencies, record, level), err)
               : C2_OK;
}

/* Out of all cores' own levels. */
static enum c2_status residencies_filter_out(struct residencies *residencies, uint64_t line, uint32_t evictor,
                                             struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t place = 0; place < residencies->places && status == C2_OK; place++) {
        const uint32_t record = residencies_find(residencies, line);
        if (residencies_is_own(residencies, residencies_level_at(residencies, place)) && record != NO_RECORD)
            status = end_at(residencies, record, place, STAYS_FILTERED, evictor, err);
    }
    return status;
}

/* Out of all levels. */
static enum c2_status residencies_flush(struct residencies *residencies, uint64_t line, uint32_t evictor,
                                        struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t place = 0; place < residencies->places && status == C2_OK; place++) {
        const uint32_t record = residencies_find(residencies, line);
        if (record != NO_RECORD)
            status = end_at(residencies, record, place, STAYS_FLUSHED, evictor, err);
    }
    return status;
}

static bool is_exclusive(const struct residencies *residencies, uint32_t level)
{
    return level < residencies->machine->level_count &&
           residencies->machine->levels[level].inclusion == CACHES_EXCLUSIVE;
}

static uint32_t residencies_below(const struct residencies *residencies, uint32_t level)
{
    return level == residencies->machine->level_count ? 1 : level + 1;
}

/* An inclusive level has evicted the line. */
static enum c2_status residencies_invalidate_above(struct residencies *residencies, uint64_t line, uint32_t level,
                                                   uint32_t evictor, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t place = 0; place < residencies->places && status == C2_OK; place++) {
        const uint32_t record = residencies_find(residencies, line), at = residencies_level_at(residencies, place);
        const bool above = at < level || at == residencies->machine->level_count;
        const bool reached = !residencies_is_own(residencies, level) ||
                             place == residencies_place_of(residencies, residencies->core, at);
        if (above && reached && record != NO_RECORD)
            status = end_at(residencies, record, place, STAYS_INVALIDATED, evictor, err);
    }
    return status;
}

/* The line made room at the level. */
static enum c2_status residencies_evict(struct residencies *residencies, uint64_t line, uint32_t level,
                                        const struct residencies_access_site *access_site, struct c2_error *err)
{
    const uint32_t record = residencies_find(residencies, line), lower = residencies_below(residencies, level);
    if (record == NO_RECORD)
        return C2_OK;
    const struct residency left = *residency_of(residencies, record, level);
    const bool inclusive = level < residencies->machine->level_count &&
                           residencies->machine->levels[level].inclusion == CACHES_INCLUSIVE;
    const bool goes_down = left.there && is_exclusive(residencies, lower) &&
                           !residency_of(residencies, record, lower)->there;
    enum c2_status status = end_residency(residencies, record, level, STAYS_EVICTED, access_site->number, err);
    if (status == C2_OK && inclusive)
        status = residencies_invalidate_above(residencies, line, level, access_site->number, err);
    const struct residencies_access_site loader = {left.loader, {left.va}, access_site->measured};
    return status == C2_OK && goes_down ? begin_residency(residencies, line, lower, &loader, err) : status;
}

static void touch_level(struct residencies *residencies, uint32_t record, uint32_t level, uint32_t first,
                        uint32_t bytes)
{
    struct residency *residency = residency_of(residencies, record, level);
    if (!residency->there)
        return;
    residency->accesses++;
    residencies_mask_add(mask_of(residencies, record, level), first, bytes);
}

/* The line is taken up from an exclusive level; bytes: that are accessed by that. */
static enum c2_status residencies_take_out(struct residencies *residencies, uint64_t line, uint32_t level,
                                           uint32_t evictor, uint32_t from, uint32_t bytes, struct c2_error *err)
{
    const uint32_t record = residencies_find(residencies, line);
    if (record == NO_RECORD)
        return C2_OK;
    if (bytes != 0)
        touch_level(residencies, record, level, from, bytes);
    return end_residency(residencies, record, level, STAYS_EVICTED, evictor, err);
}

void residencies_touch(struct residencies *residencies, uint64_t line, bool fetch, uint32_t depth, uint32_t first,
                       uint32_t bytes)
{
    const uint32_t record = residencies_find(residencies, line), levels = residencies->machine->level_count;
    for (uint32_t i = depth; i < levels && record != NO_RECORD; i++)
        touch_level(residencies, record, i == 0 && fetch ? levels : i, first, bytes);
}

void residencies_on_core(struct residencies *residencies, uint32_t core) { residencies->core = core; }

enum c2_status residencies_written(struct residencies *residencies, uint64_t line, uint32_t writer,
                                   struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t place = 0; place < residencies->places && residencies->cores > 1 && status == C2_OK; place++) {
        const uint32_t record = residencies_find(residencies, line), level = residencies_level_at(residencies, place);
        if (record == NO_RECORD)
            break;
        if (residencies_is_own(residencies, level) &&
            place != residencies_place_of(residencies, residencies->core, level))
            status = end_at(residencies, record, place, STAYS_TAKEN, writer, err);
    }
    return status;
}

/* The levels from depth on lack it, up to the one that serves it. */
static enum c2_status residencies_fill(struct residencies *residencies, uint64_t line, bool fetch, bool by_passing,
                                       uint32_t depth, uint32_t served_by,
                                       const struct residencies_access_site *access_site, struct c2_error *err)
{
    const uint32_t levels = residencies->machine->level_count;
    enum c2_status status = C2_OK;
    for (uint32_t i = depth; i < served_by && status == C2_OK; i++)
        if (i == depth || residencies->machine->levels[i].inclusion == CACHES_INCLUSIVE ||
            (!by_passing && !is_exclusive(residencies, i)))
            status = begin_residency(residencies, line, i == 0 && fetch ? levels : i, access_site, err);
    return status;
}

enum c2_status residencies_missed(struct residencies *residencies, uint64_t line, bool fetch, uint32_t first,
                                  const struct caches_outcome *outcome,
                                  const struct residencies_access_site *access_site, uint32_t from, uint32_t bytes,
                                  struct c2_error *err)
{
    const uint32_t levels = residencies->machine->level_count;
    enum c2_status status = C2_OK;
    if (outcome->served_by == first)
        return C2_OK;
    if (is_exclusive(residencies, outcome->served_by))
        status = residencies_take_out(residencies, line, outcome->served_by, access_site->number, from, bytes, err);
    for (uint32_t i = 0; i < levels && status == C2_OK; i++)
        if (outcome->evicted >> i & 1)
            status = residencies_evict(residencies, outcome->event[i].victim.v, i == 0 && fetch ? levels : i,
                                       access_site, err);
    if (status == C2_OK)
        status = residencies_fill(residencies, line, fetch, false, first, outcome->served_by, access_site, err);
    const bool filtered = residencies->cores > 1 && outcome->filtered;
    return status == C2_OK && filtered
               ? residencies_filter_out(residencies, outcome->filtered_line.v, access_site->number, err)
               : status;
}

/* ------------------------------------------------------------------ prefetches */

static enum c2_status residencies_bring(struct residencies *residencies, const struct caches_prefetched *event,
                                        const struct residencies_access_site *access_site, struct c2_error *err)
{
    const bool fetch = event->level == residencies->machine->level_count;
    enum c2_status status = C2_OK;
    if (is_exclusive(residencies, event->served_by))
        status = residencies_take_out(residencies, event->line.v, event->served_by, access_site->number, 0, 0, err);
    if (status != C2_OK)
        return status;
    return residencies_fill(residencies, event->line.v, fetch, event->by_passing, fetch ? 0 : event->level,
                            event->served_by, access_site, err);
}

enum c2_status residencies_prefetched(struct residencies *residencies, const struct caches_prefetched *event,
                                      const struct residencies_access_site *access_site, struct c2_error *err)
{
    switch (event->what) {
    case CACHES_PREFETCH_EVICTED:
        return residencies_evict(residencies, event->line.v, event->level, access_site, err);
    case CACHES_PREFETCH_ISSUED:
        return residencies_bring(residencies, event, access_site, err);
    case CACHES_PREFETCH_CLAIMED:
        return residencies_written(residencies, event->line.v, access_site->number, err);
    case CACHES_PREFETCH_FLUSHED:
        return residencies_flush(residencies, event->line.v, access_site->number, err);
    case CACHES_PREFETCH_FILTERED:
        return residencies_filter_out(residencies, event->line.v, access_site->number, err);
    default:
        return C2_OK;
    }
}

/* ------------------------------------------------------------------ the end */

void residencies_drop(struct residencies *residencies)
{
    for (size_t i = 0; i < (size_t)residencies->count * residencies->places; i++)
        residencies->residencies[i].measured = false;
}

/* In the order in which records were made, which the same run makes the same. */
enum c2_status residencies_end_all(struct residencies *residencies, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t record = 0; record < residencies->count; record++)
        for (uint32_t place = 0; place < residencies->places && status == C2_OK; place++)
            status = end_at(residencies, record, place, STAYS_LEFT, STAYS_NOBODY, err);
    return status;
}

static void residencies_check_record(const struct residencies *residencies, uint32_t record)
{
    uint64_t found;
    uint32_t count = 0;
    for (uint32_t place = 0; place < residencies->places; place++)
        count += residency_at(residencies, record, place)->there;
    if (count == 0)
        return;
    C2_ASSERT(count == residencies->records[record].count);
    C2_ASSERT(c2_map_get(residencies->record_of, residencies->records[record].line, &found) && found == record);
}

void residencies_check(const struct residencies *residencies)
{
    c2_map_check(residencies->record_of);
    C2_ASSERT(c2_map_count(residencies->record_of) + residencies->unused_count == residencies->count);
    for (uint32_t record = 0; record < residencies->count; record++)
        residencies_check_record(residencies, record);
}
