/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * fifo: the FIFO detector - what hardware can tell of conflict misses, for comparison with the shadow.
 *
 * Model
 *   Each set remembers the lines that it evicted last, twice as many as it has ways (or as --fifo-ways says), first in,
 *   first out. A miss that
 *   finds its line among those of the set it asked is a conflict to the detector, any other one is capacity. Cold
 *   misses are cold, by the shadow's rule, and the detector is not asked.
 *   In     What the set itself throws out to make room: for a fill, or for a victim from above in an exclusive level;
 *          for a prefetch too.
 *          Not what leaves for other reasons: a back-invalidation (another cache was short of room), a hit that moves
 *          the line up, a line taken over from a synonym's set.
 *   Out    Only the oldest entry, when a new one comes. A miss that finds its line leaves the entry where it is, so a
 *          line that was evicted twice lately has two. The entries are the set's last evictions, whatever was since.
 *   Evictions enter in every phase; misses count in those that are measured. Where the caches are emptied, so is
 *   what was evicted.
 *   Of several cores each has entries for the sets of its own caches; a line that another core's write takes does not
 *   enter, and the miss that follows is a coherence miss, of which the detector is not asked. Counts are sums.
 *
 * Where it is wrong
 *   It sees how many lines fell out of one set since, and not how many lines the whole cache was asked for. Lines asked
 *   for in turn come back to a set of w ways after n of them, and are found as long as w < n <= 3w: so a sweep over
 *   more than the level's size and up to three times as much has nothing but conflicts, where no arrangement of sets
 *   would have helped. And more than 3w lines that meet in one set of a cache otherwise empty are capacity to it.
 *
 * Price
 *   A miss reads the set's entries, an eviction writes one; a hit does nothing. 16 bytes a line of the level.
 *
 * Invariants (checked of each window)
 *   fifo_conflict + fifo_capacity = capacity + conflict; both_conflict + only_fifo = fifo_conflict; both_conflict +
 *   only_fa = conflict. In stress and sanitizer builds: a set without a full round has its empty entries last.
 *
 * Source
 *   J. D. Collins and D. M. Tullsen, "Hardware Identification of Cache Conflict Misses", MICRO-32, 1999; the length is
 *   the one of Sato and Endo, Euro-Par 2017. The tables of the former keep parts of tags; here a line is itself.
 */
#include <string.h>

#include "analyses/analyses.h"
#include "analyses/digest.h"

#define FIFO_A_WAY 2u       /* entries of a set, by way */
#define FIFO_MOST_A_WAY 16u /* that may be asked for */

/* Of one level. */
struct table {
    uint32_t length;  /* entries of a set */
    uint64_t *entry;  /* [set * length + place]: the line evicted + 1; 0: none yet */
    uint16_t *oldest; /* [set]: the place of the entry that goes next */
};

struct fifo {
    struct analysis base;
    const struct caches_machine *machine;
    struct table *table[ANALYSES_LEVELS]; /* [level][copy] */
    uint32_t copies[ANALYSES_LEVELS];
    struct analyses_fifo_counts counts[ANALYSES_LEVELS], window_start[ANALYSES_LEVELS];
};

/* ------------------------------------------------------------------ life */

static void fifo_destroy(struct analysis *analysis)
{
    struct fifo *fifo = (struct fifo *)analysis;
    for (uint32_t i = 0; i < ANALYSES_LEVELS; i++) {
        for (uint32_t copy = 0; copy < fifo->copies[i] && fifo->table[i]; copy++) {
            c2_free(fifo->table[i][copy].entry);
            c2_free(fifo->table[i][copy].oldest);
        }
        c2_free(fifo->table[i]);
    }
    c2_free(fifo);
}

static bool make_table(struct table *table, const struct caches_machine *machine, const struct caches_level *level,
                       uint32_t a_way)
{
    const size_t sets = (size_t)caches_level_sets(machine, level) * level->slices;
    table->length = a_way * level->ways;
    table->entry = c2_calloc(sets * table->length, sizeof *table->entry);
    table->oldest = c2_calloc(sets, sizeof *table->oldest);
    return table->entry && table->oldest;
}

static bool make_tables(struct fifo *fifo, uint32_t number, uint32_t a_way)
{
    const struct caches_machine *machine = fifo->machine;
    const struct caches_level *level = number == machine->level_count ? &machine->l1i : &machine->levels[number];
    fifo->copies[number] = analyses_copies(machine, number);
    fifo->table[number] = c2_calloc(fifo->copies[number], sizeof *fifo->table[number]);
    bool made = fifo->table[number];
    for (uint32_t copy = 0; copy < fifo->copies[number] && made; copy++)
        made = make_table(&fifo->table[number][copy], machine, level, a_way);
    return made;
}

static enum c2_status fifo_create(struct analysis **out, const struct analyses_setup *setup,
                                  const struct analyses *analyses, struct c2_error *err)
{
    const struct caches_machine *machine = setup->machine;
    uint64_t a_way;
    (void)analyses;
    enum c2_status status = analyses_setting_number(&a_way, setup, ANALYSES_SETTING_fifo_ways, FIFO_A_WAY, 1,
                                                    FIFO_MOST_A_WAY, err);
    if (status != C2_OK)
        return status;
    struct fifo *fifo = c2_calloc(1, sizeof *fifo);
    if (!fifo)
        return c2_fail_memory(err, "the FIFO detector");
    fifo->base.kind = &analysis_fifo;
    fifo->machine = machine;
    bool made = true;
    for (uint32_t i = 0; i < machine->level_count + machine->has_l1i && made; i++)
        made = make_tables(fifo, i, (uint32_t)a_way);
    if (!made) {
        fifo_destroy(&fifo->base);
        return c2_fail_memory(err, "the FIFO detector");
    }
    *out = &fifo->base;
    return C2_OK;
}

/* ------------------------------------------------------------------ misses and evictions */

/* To the end, found or not: so compilers take several at a time. */
static bool fifo_has(const struct table *table, uint32_t set, struct line_no line)
{
    const uint64_t *entry = &table->entry[(size_t)set * table->length];
    uint32_t found = 0;
    for (uint32_t i = 0; i < table->length; i++)
        found |= entry[i] == line.v + 1;
    return found != 0;
}

/* A set without a full round has its empty entries last. */
static bool set_holds(const struct table *table, uint32_t set)
{
    const uint64_t *entry = &table->entry[(size_t)set * table->length];
    const bool full = entry[table->length - 1] != 0;
    for (uint32_t i = 0; i < table->length; i++)
        C2_ASSERT((entry[i] != 0) == (full || i < table->oldest[set]));
    return true;
}

static void fifo_push(struct table *table, uint32_t set, struct line_no line)
{
    uint16_t *oldest = &table->oldest[set];
    table->entry[(size_t)set * table->length + *oldest] = line.v + 1;
    *oldest = (uint16_t)(*oldest + 1u == table->length ? 0 : *oldest + 1u);
    C2_PROMISE(set_holds(table, set));
}

static void fifo_judge(const struct table *table, struct analyses_fifo_counts *n, const struct caches_event *event,
                       struct line_no line)
{
    if (event->class_ != CACHES_CAPACITY && event->class_ != CACHES_CONFLICT)
        return;
    const bool to_fifo = fifo_has(table, event->set_number, line), to_shadow = event->class_ == CACHES_CONFLICT;
    n->fifo_conflict += to_fifo;
    n->fifo_capacity += !to_fifo;
    n->both_conflict += to_fifo && to_shadow;
    n->only_fifo += to_fifo && !to_shadow;
    n->only_fa += !to_fifo && to_shadow;
}

/* A level is judged before what it evicts for the line enters. */
static enum c2_status fifo_missed(void *self, const struct sim_miss *miss, struct c2_error *err)
{
    struct fifo *fifo = self;
    (void)err;
    for (uint32_t depth = miss->first; depth < fifo->machine->level_count; depth++) {
        const struct caches_event *event = &miss->outcome->event[depth];
        const uint32_t level = analyses_level_of(fifo->machine, miss->kind, depth);
        struct table *table = &fifo->table[level][fifo->copies[level] > 1 ? miss->core : 0];
        if (depth < miss->outcome->served_by && miss->measured)
            fifo_judge(table, &fifo->counts[level], event, miss->line);
        if (miss->outcome->evicted >> depth & 1)
            fifo_push(table, event->victim_set, event->victim);
    }
    return C2_OK;
}

/* What a set throws out for a prefetch is evicted as well. */
static enum c2_status fifo_prefetched(void *self, const struct sim_prefetched *prefetched, struct c2_error *err)
{
    struct fifo *fifo = self;
    (void)err;
    for (size_t i = 0; i < prefetched->count; i++) {
        const struct caches_prefetched *event = &prefetched->events[i];
        if (event->what == CACHES_PREFETCH_EVICTED)
            fifo_push(&fifo->table[event->level][fifo->copies[event->level] > 1 ? prefetched->core : 0], event->set,
                      event->line);
    }
    return C2_OK;
}

static void empty_table(struct table *table, const struct caches_machine *machine, const struct caches_level *level)
{
    const size_t sets = (size_t)caches_level_sets(machine, level) * level->slices;
    memset(table->entry, 0, sets * table->length * sizeof *table->entry);
    memset(table->oldest, 0, sets * sizeof *table->oldest);
}

/* Emptied caches have evicted nothing. */
static void fifo_emptied(void *self)
{
    struct fifo *fifo = self;
    const struct caches_machine *machine = fifo->machine;
    for (uint32_t i = 0; i < machine->level_count + machine->has_l1i; i++)
        for (uint32_t copy = 0; copy < fifo->copies[i]; copy++)
            empty_table(&fifo->table[i][copy], machine, i < machine->level_count ? &machine->levels[i] : &machine->l1i);
}

static enum c2_status fifo_dropped(void *self, struct c2_error *err)
{
    struct fifo *fifo = self;
    (void)err;
    memset(fifo->counts, 0, sizeof fifo->counts);
    memset(fifo->window_start, 0, sizeof fifo->window_start);
    return C2_OK;
}

/* ------------------------------------------------------------------ windows */

static void fifo_check_level(const struct analyses_fifo_counts *now, const struct analyses_fifo_counts *before,
                             const struct caches_counts *counts)
{
    const uint64_t fifo_conflict = now->fifo_conflict - before->fifo_conflict;
    const uint64_t both_conflict = now->both_conflict - before->both_conflict;
    C2_ASSERT(fifo_conflict + now->fifo_capacity - before->fifo_capacity == counts->capacity + counts->conflict);
    C2_ASSERT(both_conflict + now->only_fifo - before->only_fifo == fifo_conflict);
    C2_ASSERT(both_conflict + now->only_fa - before->only_fa == counts->conflict);
}

static enum c2_status fifo_window(void *self, const struct sim_window *window, struct c2_error *err)
{
    static const struct caches_counts nothing;
    struct fifo *fifo = self;
    const bool measured = window->phase == STREAM_MEASURE;
    const uint32_t levels = fifo->machine->level_count;
    (void)err;
    for (uint32_t i = 0; i < levels; i++)
        fifo_check_level(&fifo->counts[i], &fifo->window_start[i], measured ? &window->of.levels[i] : &nothing);
    if (fifo->machine->has_l1i)
        fifo_check_level(&fifo->counts[levels], &fifo->window_start[levels], measured ? &window->of.l1i : &nothing);
    memcpy(fifo->window_start, fifo->counts, sizeof fifo->counts);
    return C2_OK;
}

static struct sim_subscriber fifo_subscriber(struct analysis *analysis)
{
    return (struct sim_subscriber){.self = analysis,
                                   .in_every_phase = true,
                                   .missed = fifo_missed,
                                   .prefetched = fifo_prefetched,
                                   .emptied = fifo_emptied,
                                   .dropped = fifo_dropped,
                                   .window = fifo_window};
}

static const void *fifo_result(const struct analysis *analysis) { return ((const struct fifo *)analysis)->counts; }

/* ------------------------------------------------------------------ its chapter */

static void add_fifo_row(struct document *d, const struct digest_level *level)
{
    doc_group(d, DOC_TEXT, NULL);
    doc_string(d, DOC_TEXT, "name", level->level->name);
    doc_count(d, DOC_TEXT, "misses", level->counts->misses);
    doc_count(d, DOC_TEXT, "conflict", level->counts->conflict);
#define X(field, help) doc_count(d, DOC_TEXT, #field, level->fifo->field);
    ANALYSES_FIFO_COUNTERS(X)
#undef X
    doc_close(d);
}

/* In the JSON the detector's counts are with those of the levels. */
static void add_fifo_chapter(struct document *d, struct digest *digest)
{
    static const struct doc_column columns[] = {
        {.heading = "FIFO detector", .key = "name", .form = DOC_LEFT},
        {.heading = "capacity", .key = "fifo_capacity", .of = "misses"},
        {.heading = "conflict", .key = "fifo_conflict", .of = "misses"},
        {.heading = "FA conflict", .key = "conflict", .of = "misses"},
        {.heading = "both", .key = "both_conflict", .of = "misses"},
        {.heading = "only FIFO", .key = "only_fifo", .of = "misses"},
        {.heading = "only FA", .key = "only_fa", .of = "misses"},
    };
    doc_table(d, DOC_TEXT, NULL);
    doc_columns(d, columns, sizeof columns / sizeof columns[0], 0);
    for (size_t i = 0; digest->levels[0].fifo && i < digest->level_count; i++)
        add_fifo_row(d, &digest->levels[i]);
    doc_close(d);
}

static const struct analysis_chapter chapter = {.add = add_fifo_chapter, .in = DOC_TEXT, .place = 4, .order = 40};

const struct analysis_kind analysis_fifo = {.every_machine = true,
                                            .beside = true,
                                            .chapter = &chapter,
                                            .create = fifo_create,
                                            .subscriber = fifo_subscriber,
                                            .result = fifo_result,
                                            .destroy = fifo_destroy};
