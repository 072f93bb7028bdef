/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * stays: which lines are in which level since when, and what was touched of them.
 *
 * Model
 *   A stay of a line in a level begins when it is put there and ends when it leaves. What comes and goes is what the
 *   simulator tells of misses and prefetches: levels that missed are filled, but for exclusive ones that were not asked
 *   first; the victims named leave; the victim of an inclusive level leaves the levels above as well; that of a level
 *   above an exclusive one goes there, if it is not there yet, and keeps its loader; a hit in an exclusive level takes
 *   the line out of it. A miss where the line is (under another set's name) ends that stay and begins another.
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
 * Invariants (stays_check)
 *   A line has a record while it is in some level, and is found under its number.
 *
 * Price
 *   A record a line that is in any level, so memory is bounded by the lines of all levels: (48 bytes + a bit a byte)
 *   a level, of several cores one for each.
 */
#include "analyses/stays_priv.h"

#include <string.h>

#define NO_RECORD UINT32_MAX
#define RECENT C2_HOST_SIZE(4096u, 2u)
#define WORD_BITS 64u

/* One a line. */
struct record {
    uint64_t line;
    uint32_t count; /* places that have it */
};

struct stays {
    const struct caches_machine *machine;
    struct stays_listener to;
    uint32_t levels, words;
    uint32_t cores, own, places; /* own: levels of the data path that a core has for itself */
    uint32_t core;               /* that makes the access */
    struct c2_map *record_of;    /* line -> record */
    struct record *records;
    struct stay *stays;   /* [record * places + place] */
    uint64_t *masks;      /* likewise, words each */
    uint32_t count, room; /* of records */
    uint32_t *unused;     /* records that are of no line */
    uint32_t unused_count;
    struct {
        uint64_t line;
        uint32_t record; /* NO_RECORD: there is none */
    } recent[RECENT];
};

/* ------------------------------------------------------------------ masks */

void stays_mask_add(uint64_t *mask, uint32_t first, uint32_t bytes)
{
    while (bytes != 0) {
        const uint32_t bit = first % WORD_BITS, left = WORD_BITS - bit, now = bytes < left ? bytes : left;
        mask[first / WORD_BITS] |= (now == WORD_BITS ? UINT64_MAX : (UINT64_C(1) << now) - 1) << bit;
        first += now;
        bytes -= now;
    }
}

uint32_t stays_mask_count(const uint64_t *mask, uint32_t words)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < words; i++)
        sum += (uint32_t)__builtin_popcountll(mask[i]);
    return sum;
}

uint32_t stays_mask_words(const struct caches_machine *machine)
{
    return (machine->line_bytes + WORD_BITS - 1) / WORD_BITS;
}

/* ------------------------------------------------------------------ records */

static enum c2_status stays_no_memory(struct c2_error *err) { return c2_fail_memory(err, "the use of lines"); }

static void forget_recent(struct stays *stays)
{
    for (uint32_t i = 0; i < RECENT; i++)
        stays->recent[i].record = NO_RECORD;
}

enum c2_status stays_create(struct stays **out, const struct caches_machine *machine,
                            const struct stays_listener *listener, struct c2_error *err)
{
    struct stays *stays = *out = c2_calloc(1, sizeof *stays);
    if (!stays)
        return stays_no_memory(err);
    stays->machine = machine;
    stays->to = *listener;
    stays->levels = machine->level_count + machine->has_l1i;
    stays->words = stays_mask_words(machine);
    stays->cores = caches_machine_cores(machine);
    stays->own = caches_machine_private(machine);
    stays->places = stays->levels + (stays->cores - 1) * (stays->own + machine->has_l1i);
    forget_recent(stays);
    enum c2_status status = c2_map_create(&stays->record_of, err);
    if (status == C2_OK)
        return C2_OK;
    stays_destroy(stays);
    *out = NULL;
    return status;
}

void stays_destroy(struct stays *stays)
{
    if (!stays)
        return;
    c2_map_destroy(stays->record_of);
    c2_free(stays->records);
    c2_free(stays->stays);
    c2_free(stays->masks);
    c2_free(stays->unused);
    c2_free(stays);
}

static bool stays_is_own(const struct stays *stays, uint32_t level)
{
    return level < stays->own || level == stays->machine->level_count;
}

/* The first core's places have the numbers of their levels. */
static uint32_t stays_place_of(const struct stays *stays, uint32_t core, uint32_t level)
{
    const uint32_t own = stays->own + stays->machine->has_l1i;
    if (core == 0 || !stays_is_own(stays, level))
        return level;
    return stays->levels + (core - 1) * own + (level < stays->own ? level : stays->own);
}

static uint32_t stays_level_at(const struct stays *stays, uint32_t place)
{
    const uint32_t own = stays->own + stays->machine->has_l1i;
    if (place < stays->levels)
        return place;
    const uint32_t level = (place - stays->levels) % own;
    return level < stays->own ? level : stays->machine->level_count;
}

/* Here and below: of a place, or of the level of the core that makes the access. */
static struct stay *stay_at(const struct stays *stays, uint32_t record, uint32_t place)
{
    return &stays->stays[(size_t)record * stays->places + place];
}

static struct stay *stay_of(const struct stays *stays, uint32_t record, uint32_t level)
{
    return stay_at(stays, record, stays_place_of(stays, stays->core, level));
}

static uint64_t *mask_at(const struct stays *stays, uint32_t record, uint32_t place)
{
    return &stays->masks[((size_t)record * stays->places + place) * stays->words];
}

static uint64_t *mask_of(const struct stays *stays, uint32_t record, uint32_t level)
{
    return mask_at(stays, record, stays_place_of(stays, stays->core, level));
}

static uint32_t stays_find(struct stays *stays, uint64_t line)
{
    const uint64_t at = line % RECENT;
    uint64_t found;
    if (SHORTCUT(stays->recent[at].record != NO_RECORD && stays->recent[at].line == line))
        return stays->recent[at].record;
    if (!c2_map_get(stays->record_of, line, &found))
        return NO_RECORD;
    stays->recent[at].line = line;
    return stays->recent[at].record = (uint32_t)found;
}

static bool grow_part(void **part, uint32_t room, size_t bytes)
{
    void *grown = c2_realloc(*part, room * bytes);
    if (grown)
        *part = grown;
    return grown;
}

static bool stays_make_room(struct stays *stays)
{
    const uint32_t room = stays->room * 2 + C2_HOST_SIZE(1024u, 1u);
    if (stays->count < stays->room)
        return true;
    if (!grow_part((void **)&stays->records, room, sizeof *stays->records) ||
        !grow_part((void **)&stays->stays, room, stays->places * sizeof *stays->stays) ||
        !grow_part((void **)&stays->masks, room, (size_t)stays->places * stays->words * sizeof *stays->masks) ||
        !grow_part((void **)&stays->unused, room, sizeof *stays->unused))
        return false;
    stays->room = room;
    return true;
}

static enum c2_status need(struct stays *stays, uint64_t line, uint32_t *record, struct c2_error *err)
{
    *record = stays_find(stays, line);
    if (*record != NO_RECORD)
        return C2_OK;
    if (stays->unused_count == 0 && !stays_make_room(stays))
        return stays_no_memory(err);
    *record = stays->unused_count != 0 ? stays->unused[--stays->unused_count] : stays->count++;
    stays->records[*record] = (struct record){.line = line};
    memset(stay_at(stays, *record, 0), 0, stays->places * sizeof *stays->stays);
    return c2_map_put(stays->record_of, line, *record, err);
}

static void analyses_stays_drop(struct stays *stays, uint32_t record)
{
    const uint64_t line = stays->records[record].line;
    if (stays->recent[line % RECENT].record == record)
        stays->recent[line % RECENT].record = NO_RECORD;
    c2_map_remove(stays->record_of, line);
    stays->unused[stays->unused_count++] = record;
}

/* ------------------------------------------------------------------ stays */

static enum c2_status end_at(struct stays *stays, uint32_t record, uint32_t place, enum stays_end end, uint32_t evictor,
                             struct c2_error *err)
{
    struct stay *stay = stay_at(stays, record, place);
    if (!stay->there)
        return C2_OK;
    stay->there = false;
    enum c2_status status = stays->to.ended(stays->to.self, stays_level_at(stays, place), stay,
                                            mask_at(stays, record, place), end, evictor, err);
    if (--stays->records[record].count == 0)
        analyses_stays_drop(stays, record);
    return status;
}

static enum c2_status end_stay(struct stays *stays, uint32_t record, uint32_t level, enum stays_end end,
                               uint32_t evictor, struct c2_error *err)
{
    return end_at(stays, record, stays_place_of(stays, stays->core, level), end, evictor, err);
}

static enum c2_status begin_stay(struct stays *stays, uint64_t line, uint32_t level, const struct stays_actor *actor,
                                 struct c2_error *err)
{
    uint32_t record = stays_find(stays, line);
    enum c2_status status = C2_OK;
    if (record != NO_RECORD) /* a synonym */
        status = end_stay(stays, record, level, STAYS_EVICTED, actor->number, err);
    if (status == C2_OK)
        status = need(stays, line, &record, err);
    if (status != C2_OK)
        return status;
    *stay_of(stays, record, level) = (struct stay){
        .va = actor->va.v, .loader = actor->number, .measured = actor->measured, .there = true};
    memset(mask_of(stays, record, level), 0, stays->words * sizeof(uint64_t));
    stays->records[record].count++;
    return stays->to.began ? stays->to.began(stays->to.self, stay_of(stays, record, level), err) : C2_OK;
}

/* Out of all cores' own levels. */
static enum c2_status stays_filter_out(struct stays *stays, uint64_t line, uint32_t evictor, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t place = 0; place < stays->places && status == C2_OK; place++) {
        const uint32_t record = stays_find(stays, line);
        if (stays_is_own(stays, stays_level_at(stays, place)) && record != NO_RECORD)
            status = end_at(stays, record, place, STAYS_FILTERED, evictor, err);
    }
    return status;
}

/* Out of all levels. */
static enum c2_status stays_flush(struct stays *stays, uint64_t line, uint32_t evictor, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t place = 0; place < stays->places && status == C2_OK; place++) {
        const uint32_t record = stays_find(stays, line);
        if (record != NO_RECORD)
            status = end_at(stays, record, place, STAYS_FLUSHED, evictor, err);
    }
    return status;
}

static bool is_exclusive(const struct stays *stays, uint32_t level)
{
    return level < stays->machine->level_count && stays->machine->levels[level].inclusion == CACHES_EXCLUSIVE;
}

static uint32_t stays_below(const struct stays *stays, uint32_t level)
{
    return level == stays->machine->level_count ? 1 : level + 1;
}

/* An inclusive level has evicted the line. */
static enum c2_status stays_invalidate_above(struct stays *stays, uint64_t line, uint32_t level, uint32_t evictor,
                                             struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t place = 0; place < stays->places && status == C2_OK; place++) {
        const uint32_t record = stays_find(stays, line), at = stays_level_at(stays, place);
        const bool above = at < level || at == stays->machine->level_count;
        const bool reached = !stays_is_own(stays, level) || place == stays_place_of(stays, stays->core, at);
        if (above && reached && record != NO_RECORD)
            status = end_at(stays, record, place, STAYS_INVALIDATED, evictor, err);
    }
    return status;
}

/* The line made room at the level. */
static enum c2_status stays_evict(struct stays *stays, uint64_t line, uint32_t level, const struct stays_actor *actor,
                                  struct c2_error *err)
{
    const uint32_t record = stays_find(stays, line), lower = stays_below(stays, level);
    if (record == NO_RECORD)
        return C2_OK;
    const struct stay left = *stay_of(stays, record, level);
    const bool inclusive = level < stays->machine->level_count &&
                           stays->machine->levels[level].inclusion == CACHES_INCLUSIVE;
    const bool goes_down = left.there && is_exclusive(stays, lower) && !stay_of(stays, record, lower)->there;
    enum c2_status status = end_stay(stays, record, level, STAYS_EVICTED, actor->number, err);
    if (status == C2_OK && inclusive)
        status = stays_invalidate_above(stays, line, level, actor->number, err);
    const struct stays_actor loader = {left.loader, {left.va}, actor->measured};
    return status == C2_OK && goes_down ? begin_stay(stays, line, lower, &loader, err) : status;
}

static void touch_level(struct stays *stays, uint32_t record, uint32_t level, uint32_t first, uint32_t bytes)
{
    struct stay *stay = stay_of(stays, record, level);
    if (!stay->there)
        return;
    stay->accesses++;
    stays_mask_add(mask_of(stays, record, level), first, bytes);
}

/* The line is taken up from an exclusive level; bytes: that are accessed by that. */
static enum c2_status stays_take_out(struct stays *stays, uint64_t line, uint32_t level, uint32_t evictor,
                                     uint32_t from, uint32_t bytes, struct c2_error *err)
{
    const uint32_t record = stays_find(stays, line);
    if (record == NO_RECORD)
        return C2_OK;
    if (bytes != 0)
        touch_level(stays, record, level, from, bytes);
    return end_stay(stays, record, level, STAYS_EVICTED, evictor, err);
}

void stays_touch(struct stays *stays, uint64_t line, bool fetch, uint32_t depth, uint32_t first, uint32_t bytes)
{
    const uint32_t record = stays_find(stays, line), levels = stays->machine->level_count;
    for (uint32_t i = depth; i < levels && record != NO_RECORD; i++)
        touch_level(stays, record, i == 0 && fetch ? levels : i, first, bytes);
}

void stays_on_core(struct stays *stays, uint32_t core) { stays->core = core; }

enum c2_status stays_written(struct stays *stays, uint64_t line, uint32_t writer, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t place = 0; place < stays->places && stays->cores > 1 && status == C2_OK; place++) {
        const uint32_t record = stays_find(stays, line), level = stays_level_at(stays, place);
        if (record == NO_RECORD)
            break;
        if (stays_is_own(stays, level) && place != stays_place_of(stays, stays->core, level))
            status = end_at(stays, record, place, STAYS_TAKEN, writer, err);
    }
    return status;
}

/* The levels from depth on lack it, up to the one that serves it. */
static enum c2_status stays_fill(struct stays *stays, uint64_t line, bool fetch, bool by_passing, uint32_t depth,
                                 uint32_t served_by, const struct stays_actor *actor, struct c2_error *err)
{
    const uint32_t levels = stays->machine->level_count;
    enum c2_status status = C2_OK;
    for (uint32_t i = depth; i < served_by && status == C2_OK; i++)
        if (i == depth || stays->machine->levels[i].inclusion == CACHES_INCLUSIVE ||
            (!by_passing && !is_exclusive(stays, i)))
            status = begin_stay(stays, line, i == 0 && fetch ? levels : i, actor, err);
    return status;
}

enum c2_status stays_missed(struct stays *stays, uint64_t line, bool fetch, uint32_t first,
                            const struct caches_outcome *outcome, const struct stays_actor *actor, uint32_t from,
                            uint32_t bytes, struct c2_error *err)
{
    const uint32_t levels = stays->machine->level_count;
    enum c2_status status = C2_OK;
    if (outcome->served_by == first)
        return C2_OK;
    if (is_exclusive(stays, outcome->served_by))
        status = stays_take_out(stays, line, outcome->served_by, actor->number, from, bytes, err);
    for (uint32_t i = 0; i < levels && status == C2_OK; i++)
        if (outcome->evicted >> i & 1)
            status = stays_evict(stays, outcome->event[i].victim.v, i == 0 && fetch ? levels : i, actor, err);
    if (status == C2_OK)
        status = stays_fill(stays, line, fetch, false, first, outcome->served_by, actor, err);
    const bool filtered = stays->cores > 1 && outcome->filtered;
    return status == C2_OK && filtered ? stays_filter_out(stays, outcome->filtered_line.v, actor->number, err) : status;
}

/* ------------------------------------------------------------------ prefetches */

static enum c2_status stays_bring(struct stays *stays, const struct caches_prefetched *event,
                                  const struct stays_actor *actor, struct c2_error *err)
{
    const bool fetch = event->level == stays->machine->level_count;
    enum c2_status status = C2_OK;
    if (is_exclusive(stays, event->served_by))
        status = stays_take_out(stays, event->line.v, event->served_by, actor->number, 0, 0, err);
    if (status != C2_OK)
        return status;
    return stays_fill(stays, event->line.v, fetch, event->by_passing, fetch ? 0 : event->level, event->served_by, actor,
                      err);
}

enum c2_status stays_prefetched(struct stays *stays, const struct caches_prefetched *event,
                                const struct stays_actor *actor, struct c2_error *err)
{
    switch (event->what) {
    case CACHES_PREFETCH_EVICTED:
        return stays_evict(stays, event->line.v, event->level, actor, err);
    case CACHES_PREFETCH_ISSUED:
        return stays_bring(stays, event, actor, err);
    case CACHES_PREFETCH_CLAIMED:
        return stays_written(stays, event->line.v, actor->number, err);
    case CACHES_PREFETCH_FLUSHED:
        return stays_flush(stays, event->line.v, actor->number, err);
    case CACHES_PREFETCH_FILTERED:
        return stays_filter_out(stays, event->line.v, actor->number, err);
    default:
        return C2_OK;
    }
}

/* ------------------------------------------------------------------ the end */

void stays_drop(struct stays *stays)
{
    for (size_t i = 0; i < (size_t)stays->count * stays->places; i++)
        stays->stays[i].measured = false;
}

/* In the order in which records were made, which the same run makes the same. */
enum c2_status stays_end_all(struct stays *stays, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t record = 0; record < stays->count; record++)
        for (uint32_t place = 0; place < stays->places && status == C2_OK; place++)
            status = end_at(stays, record, place, STAYS_LEFT, STAYS_NOBODY, err);
    return status;
}

static void stays_check_record(const struct stays *stays, uint32_t record)
{
    uint64_t found;
    uint32_t count = 0;
    for (uint32_t place = 0; place < stays->places; place++)
        count += stay_at(stays, record, place)->there;
    if (count == 0)
        return;
    C2_ASSERT(count == stays->records[record].count);
    C2_ASSERT(c2_map_get(stays->record_of, stays->records[record].line, &found) && found == record);
}

void stays_check(const struct stays *stays)
{
    c2_map_check(stays->record_of);
    C2_ASSERT(c2_map_count(stays->record_of) + stays->unused_count == stays->count);
    for (uint32_t record = 0; record < stays->count; record++)
        stays_check_record(stays, record);
}
