/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * histogram: accesses and misses of each level by address.
 *
 * Model
 *   The address space is cut into pieces of some bytes, or into objects. A line access counts in the piece of the first
 *   byte that it touches of its line, at every level that is asked for it; by their order from L1D (of fetches L1I) on,
 *   each level that misses passes it on to the next; a store that a level with write = through passes on is another
 *   access of the next one. Addresses are the program's.
 *   A phase begins with the run, in front of the first instruction of a function that is named (each time; "barriers"
 *   are those of pthreads and OpenMP), and with "regions" where what is measured goes on after something else. Where
 *   there are several threads a barrier begins one phase: when the last of them has come (STREAM_BARRIER).
 *   A monitor sees what its level is asked for, L1D if nothing else is said, by line; below L1D that is what misses of
 *   data and of fetches ask for. At the end of a phase monitors are emptied.
 *
 * Counting
 *   Of a level, the accesses of all pieces in all phases are the accesses that the caches counted, and so are the
 *   misses (asserted window by window). Only what is measured counts. Each counts for the instruction that made it,
 *   too, over all phases: so there are sums by function, line and loop.
 *
 * Invariants
 *   Pieces of a phase are in one map, by their numbers.
 *
 * Memory
 *   16 bytes a level for each instruction, and for each piece that a phase touches, and some 60 more; at most PHASES
 *   phases. For each monitor some 30 bytes a line.
 *
 * Not modelled
 *   Page walks that go through the caches have no address of the program, and are refused. Barriers that a library of
 *   threads has under another name.
 */
#include "analyses/histogram.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/monitor_priv.h"
#include "analyses/where.h"

#define PHASES 100000u
#define MONITORS 64u
#define POINTS 64u /* functions that phases begin at, as words */
#define NOWHERE UINT64_MAX

static const char *const barriers[] = {"pthread_barrier_wait", "__pthread_barrier_wait", "GOMP_barrier",
                                       "GOMP_barrier_cancel", "__kmpc_barrier"};

/* A piece, or a spot of an object, in one phase. */
struct cell {
    uint64_t key;
    uint32_t phase;
};

struct histogram {
    struct analysis base;
    const struct caches_machine *machine;
    struct loader_symbols *symbols;
    const struct analyses *analyses;
    struct c2_pool pool;
    enum analyses_granularity by;
    uint64_t bytes;
    uint32_t line_shift, levels; /* levels: of the data path and L1I */
    struct where *where;         /* OBJECT */

    struct cell *cells;
    struct analyses_level_count *counts; /* [cell * levels] */
    uint32_t cell_count, cell_room, count_room;
    struct c2_map *cell_of;                     /* of this phase: key -> cell */
    struct analyses_level_count *codes, *insns; /* [code number, and then instruction, * levels] */
    uint32_t code_room;
    uint32_t recent[2];                                  /* the last cell of data, of fetches; UINT32_MAX: none */
    struct analyses_level_count window[ANALYSES_LEVELS]; /* of this window */

    const char *points[POINTS + 1]; /* NULL-terminated */
    bool met[POINTS];
    uint32_t point_count;
    bool at_barriers, at_regions;
    struct c2_map *point_at; /* entry -> 1 + point, or POINTS + 1 + number of a barrier */
    struct analyses_histogram_phase *phases;
    uint32_t phase_count, phase_room;
    uint64_t instructions; /* measured so far, up to the window */
    uint64_t window_instructions;
    bool measures, interrupted; /* interrupted: something was not measured since the phase began */

    uint64_t fetch_lines[CACHES_MAX_CORES]; /* as the simulator's, of each core */
    uint32_t core_count;
    uint32_t alive;                 /* threads */
    const char *met_barrier;        /* the function that a thread has come to last */
    const struct stream_block *rep; /* a string instruction that was interrupted */
    uint64_t rep_left;

    struct monitor *monitors[MONITORS];
    uint32_t monitor_levels[MONITORS]; /* what each one is at */
    uint32_t monitor_count;
    struct c2_map *exact[CACHES_MAX_LEVELS]; /* of levels with monitors: line -> events; else NULL */
    struct analyses_monitor monitored[MONITORS];

    struct c2_outfile *file; /* NULL: none is wanted */
    struct analyses_cell *notified;
    const char *never[POINTS + 1];
    struct analyses_histogram_result result;
};

static enum c2_status histogram_no_memory(struct c2_error *err) { return c2_fail_memory(err, "the histogram"); }

/* ------------------------------------------------------------------ words */

static enum c2_status read_granularity(struct histogram *histogram, const struct analyses_setup *setup,
                                       struct c2_error *err)
{
    const char *word = analyses_setting(setup, ANALYSES_SETTING_granularity);
    const uint64_t line = setup->machine->line_bytes;
    histogram->bytes = line;
    if (!word || strcmp(word, "line") == 0)
        return C2_OK;
    histogram->by = strcmp(word, "object") == 0 ? ANALYSES_BY_OBJECT : ANALYSES_BY_BYTES;
    if (histogram->by == ANALYSES_BY_OBJECT)
        return where_create(&histogram->where, histogram->analyses, err);
    if (strcmp(word, "page") == 0)
        histogram->bytes = C2_PAGE_BYTES;
    else if (c2_parse_size(&histogram->bytes, word, "", NULL) != C2_OK || histogram->bytes == 0 ||
             histogram->bytes % line != 0)
        return c2_fail(err, C2_ERR_INVALID,
                       "--granularity %s: must be line, page, object, or bytes: a multiple of the line's %u", word,
                       (unsigned)line);
    return C2_OK;
}

/* Calls `take` with each word of a list with commas. */
static enum c2_status each_word(struct histogram *histogram, const char *list,
                                enum c2_status (*take)(struct histogram *histogram, const char *word,
                                                       struct c2_error *err),
                                struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (const char *at = list; at && status == C2_OK; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const char *word = c2_pool_format(&histogram->pool, "%.*s", (int)strcspn(at, ","), at);
        status = word ? take(histogram, word, err) : histogram_no_memory(err);
    }
    return status;
}

static enum c2_status histogram_take_point(struct histogram *histogram, const char *word, struct c2_error *err)
{
    if (strcmp(word, "barriers") == 0)
        histogram->at_barriers = true;
    else if (strcmp(word, "regions") == 0)
        histogram->at_regions = true;
    else if (*word == '\0' || histogram->point_count == POINTS)
        return c2_fail(err, C2_ERR_INVALID,
                       "--phase-at: must be barriers, regions, or functions, up to %u, with commas", POINTS);
    else
        histogram->points[histogram->point_count++] = word;
    return C2_OK;
}

static enum c2_status take_monitor(struct histogram *histogram, const char *word, struct c2_error *err)
{
    struct analyses_monitor like;
    enum c2_status status = monitor_read(&like, word, histogram->machine, err);
    if (status == C2_OK && histogram->monitor_count == MONITORS)
        status = c2_fail(err, C2_ERR_INVALID, "--monitor: at most %u of them", MONITORS);
    if (status == C2_OK)
        status = monitor_create(&histogram->monitors[histogram->monitor_count], &like, err);
    if (status != C2_OK)
        return status;
    histogram->monitor_levels[histogram->monitor_count++] = like.level;
    return histogram->exact[like.level] ? C2_OK : c2_map_create(&histogram->exact[like.level], err);
}

static enum c2_status read_words(struct histogram *histogram, const struct analyses_setup *setup, struct c2_error *err)
{
    enum c2_status status = read_granularity(histogram, setup, err);
    if (status == C2_OK)
        status = each_word(histogram, analyses_setting(setup, ANALYSES_SETTING_phase_at), histogram_take_point, err);
    return status == C2_OK ? each_word(histogram, analyses_setting(setup, ANALYSES_SETTING_monitor), take_monitor, err)
                           : status;
}

/* ------------------------------------------------------------------ phases */

static enum c2_status histogram_begin_phase(struct histogram *histogram, const char *at, uint64_t instructions,
                                            struct c2_error *err)
{
    enum c2_status status = C2_OK;
    if (histogram->phase_count == PHASES)
        return c2_fail(err, C2_ERR_INVALID, "--phase-at: %u phases and more", PHASES);
    if (!c2_grow((void **)&histogram->phases, &histogram->phase_room, histogram->phase_count,
                 sizeof *histogram->phases))
        return histogram_no_memory(err);
    histogram->phases[histogram->phase_count++] = (struct analyses_histogram_phase){.at = at,
                                                                                    .instructions = instructions};
    histogram->recent[0] = histogram->recent[1] = UINT32_MAX;
    for (uint32_t i = 0; i < histogram->monitor_count && status == C2_OK; i++)
        status = monitor_flush(histogram->monitors[i], err);
    c2_map_destroy(histogram->cell_of);
    histogram->cell_of = NULL;
    return status == C2_OK ? c2_map_create(&histogram->cell_of, err) : status;
}

static uint64_t bare(const char *name) { return strcspn(name, "@"); }

static bool histogram_is_called(const char *symbol, const char *name)
{
    return strlen(name) == bare(symbol) && strncmp(symbol, name, bare(symbol)) == 0;
}

static enum c2_status histogram_name_found(void *self, const char *name, struct guest_va entry, bool ifunc,
                                           struct c2_error *err)
{
    struct histogram *histogram = self;
    enum c2_status status = C2_OK;
    if (ifunc)
        return C2_OK;
    const char *shown = loader_shown_name(histogram->symbols, name);
    for (uint32_t i = 0; i < histogram->point_count && status == C2_OK; i++)
        if (histogram_is_called(name, histogram->points[i]) || (shown && strcmp(shown, histogram->points[i]) == 0))
            status = c2_map_put(histogram->point_at, entry.v, 1 + i, err);
    for (uint32_t i = 0; histogram->at_barriers && i < sizeof barriers / sizeof barriers[0] && status == C2_OK; i++)
        if (histogram_is_called(name, barriers[i]))
            status = c2_map_put(histogram->point_at, entry.v, 1 + POINTS + i, err);
    return status;
}

static enum c2_status histogram_memory(void *self, bool appeared, const struct mmu_area *area, struct c2_error *err)
{
    struct histogram *histogram = self;
    const struct loader_entry_listener listener = {histogram, histogram_name_found};
    if (!appeared || !area->path || (area->prot & MMU_EXEC) == 0)
        return C2_OK;
    return loader_function_entries(histogram->symbols, area->start, &listener, err);
}

/* Where the guest comes to a function that a phase begins with. */
static enum c2_status histogram_arrive(struct histogram *histogram, uint64_t pc, uint64_t instructions,
                                       struct c2_error *err)
{
    uint64_t found;
    if (!c2_map_get(histogram->point_at, pc, &found))
        return C2_OK;
    const char *at = found <= POINTS ? histogram->points[found - 1] : barriers[found - POINTS - 1];
    const struct analyses_histogram_phase *newest = &histogram->phases[histogram->phase_count - 1];
    if (found <= POINTS)
        histogram->met[found - 1] = true;
    else if (histogram->alive > 1) /* the phase begins where all have come: histogram_mark() */
        histogram->met_barrier = at;
    if (found > POINTS && histogram->alive > 1)
        return C2_OK;
    if (newest->at == at && newest->instructions == instructions)
        return C2_OK; /* its first instruction faulted, and is started again */
    return histogram_begin_phase(histogram, at, instructions, err);
}

/* Of several threads a barrier is where the last one comes. */
static enum c2_status histogram_mark(void *self, enum stream_mark mark, const uint64_t *words, struct c2_error *err)
{
    struct histogram *histogram = self;
    if (mark == STREAM_THREAD)
        histogram->alive += words[1] == STREAM_START ? 1 : -1u;
    if (mark != STREAM_BARRIER || !histogram->measures)
        return C2_OK;
    return histogram_begin_phase(histogram, histogram->met_barrier ? histogram->met_barrier : "barrier",
                                 histogram->instructions + histogram->window_instructions, err);
}

/* ------------------------------------------------------------------ cells */

static enum c2_status histogram_add_cell(struct histogram *histogram, uint64_t key, uint32_t *out, struct c2_error *err)
{
    *out = histogram->cell_count;
    const size_t bytes = histogram->levels * sizeof *histogram->counts;
    if (*out == UINT32_MAX - 1 ||
        !c2_grow((void **)&histogram->cells, &histogram->cell_room, *out, sizeof *histogram->cells) ||
        !c2_grow((void **)&histogram->counts, &histogram->count_room, *out, bytes))
        return histogram_no_memory(err);
    histogram->cells[*out] = (struct cell){key, histogram->phase_count - 1};
    memset(&histogram->counts[(size_t)*out * histogram->levels], 0, bytes);
    histogram->cell_count++;
    return c2_map_put(histogram->cell_of, key, *out, err);
}

static enum c2_status histogram_key_of(struct histogram *histogram, uint32_t code, enum sim_kind kind,
                                       struct guest_va va, uint64_t *out, struct c2_error *err)
{
    uint32_t spot = 0;
    enum c2_status status = C2_OK;
    if (histogram->where)
        status = where_spot(histogram->where, code, kind, va, &spot, err);
    *out = histogram->where ? spot : va.v / histogram->bytes;
    return status;
}

static enum c2_status find_cell(struct histogram *histogram, uint32_t code, enum sim_kind kind, struct guest_va va,
                                struct analyses_level_count **out, struct c2_error *err)
{
    uint32_t *recent = &histogram->recent[kind == SIM_FETCH];
    uint64_t key, found;
    enum c2_status status = histogram_key_of(histogram, code, kind, va, &key, err);
    if (status == C2_OK && (*recent == UINT32_MAX || histogram->cells[*recent].key != key)) {
        if (c2_map_get(histogram->cell_of, key, &found))
            *recent = (uint32_t)found;
        else
            status = histogram_add_cell(histogram, key, recent, err);
    }
    if (status == C2_OK)
        *out = &histogram->counts[(size_t)*recent * histogram->levels];
    return status;
}

static enum c2_status histogram_reach_code(struct histogram *histogram, uint32_t code, struct c2_error *err)
{
    const uint32_t old = histogram->code_room;
    const size_t bytes = histogram->levels * sizeof *histogram->codes;
    if (code < old)
        return C2_OK;
    if (!c2_reach((void **)&histogram->codes, &histogram->code_room, code, bytes, C2_HOST_SIZE(1024u, 1u)))
        return histogram_no_memory(err);
    memset(&histogram->codes[(size_t)old * histogram->levels], 0, (histogram->code_room - old) * bytes);
    return C2_OK;
}

static void histogram_count(struct histogram *histogram, struct analyses_level_count *cell, uint32_t code,
                            uint32_t level, bool miss)
{
    struct analyses_level_count *const to[] = {&cell[level], &histogram->window[level],
                                               &histogram->phases[histogram->phase_count - 1].levels[level],
                                               &histogram->codes[(size_t)code * histogram->levels + level]};
    for (unsigned i = 0; i < 4; i++) {
        to[i]->accesses += !miss;
        to[i]->misses += miss;
    }
}

/* ------------------------------------------------------------------ events */

/* A level is asked for the line of an address. */
static enum c2_status histogram_watch(struct histogram *histogram, uint32_t level, struct guest_va va,
                                      struct c2_error *err)
{
    const uint64_t line = va.v >> histogram->line_shift;
    uint64_t before = 0;
    if (!histogram->exact[level])
        return C2_OK;
    c2_map_get(histogram->exact[level], line, &before);
    enum c2_status status = c2_map_put(histogram->exact[level], line, before + 1, err);
    for (uint32_t i = 0; i < histogram->monitor_count && status == C2_OK; i++)
        if (histogram->monitor_levels[i] == level)
            status = monitor_event(histogram->monitors[i], line, err);
    return status;
}

static enum c2_status histogram_access_line(struct histogram *histogram, uint32_t code, enum sim_kind kind,
                                            struct guest_va va, struct c2_error *err)
{
    struct analyses_level_count *cell;
    enum c2_status status = find_cell(histogram, code, kind, va, &cell, err);
    if (status == C2_OK)
        status = histogram_reach_code(histogram, code, err);
    if (status != C2_OK)
        return status;
    histogram_count(histogram, cell, code, analyses_level_of(histogram->machine, kind, 0), false);
    return kind == SIM_FETCH ? C2_OK : histogram_watch(histogram, 0, va, err);
}

static uint64_t *fetch_line_of(struct histogram *histogram, uint32_t tid)
{
    return &histogram->fetch_lines[sim_core_of(tid, histogram->core_count)];
}

static enum c2_status histogram_reference(struct histogram *histogram, const struct sim_reference *reference,
                                          struct c2_error *err)
{
    const bool fetch = reference->kind == SIM_FETCH;
    uint64_t *fetch_line = fetch_line_of(histogram, reference->tid);
    const uint64_t first = reference->va.v >> histogram->line_shift;
    const uint64_t last = (reference->va.v + reference->size - 1) >> histogram->line_shift;
    enum c2_status status = C2_OK;
    for (uint64_t line = first; line <= last && status == C2_OK && !reference->past; line++) {
        const struct guest_va start = {line << histogram->line_shift};
        if (fetch && (!histogram->machine->has_l1i || line == *fetch_line))
            continue;
        if (fetch)
            *fetch_line = line;
        status = histogram_access_line(histogram, reference->code, reference->kind,
                                       fetch || line != first ? start : reference->va, err);
    }
    return status;
}

static enum c2_status histogram_references(void *self, const struct sim_reference *list, size_t count_,
                                           struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (size_t i = 0; i < count_ && status == C2_OK; i++)
        status = histogram_reference(self, &list[i], err);
    return status;
}

static enum c2_status histogram_missed(void *self, const struct sim_miss *miss, struct c2_error *err)
{
    struct histogram *histogram = self;
    struct analyses_level_count *cell;
    enum c2_status status = find_cell(histogram, miss->code, miss->kind, miss->va, &cell, err);
    if (status == C2_OK)
        status = histogram_reach_code(histogram, miss->code, err);
    const uint32_t levels = histogram->machine->level_count;
    if (miss->first > 0 && status == C2_OK) /* a store that the level above has passed on */
        histogram_count(histogram, cell, miss->code, miss->first, false);
    for (uint32_t i = miss->first; i < miss->outcome->served_by && status == C2_OK; i++) {
        histogram_count(histogram, cell, miss->code, analyses_level_of(histogram->machine, miss->kind, i), true);
        if (i + 1 == levels)
            break;
        histogram_count(histogram, cell, miss->code, i + 1, false);
        status = histogram_watch(histogram, i + 1, miss->va, err);
    }
    return status;
}

/* Outside of what is measured fetches are not reported. */
static void follow_fetches(struct histogram *histogram, const struct sim_executed *record)
{
    const struct stream_block *block = record->block;
    const bool string = stream_is_string(block);
    const uint32_t run = string ? 1 : record->insns_run;
    const bool goes_on = string && histogram->rep == block &&
                         histogram->rep_left == stream_string_before(record->words);
    if (string) {
        histogram->rep = record->insns_run == 1 ? NULL : block;
        histogram->rep_left = stream_string_remaining(record->words);
    }
    for (uint32_t i = 0; !histogram->measures && histogram->machine->has_l1i && !goes_on && i < run; i++) {
        const struct stream_insn *insn = &block->insns[i];
        if (insn->length != 0)
            *fetch_line_of(histogram, record->tid) = (block->pc.v + insn->offset + insn->length - 1) >>
                                                     histogram->line_shift;
    }
}

static enum c2_status histogram_record(struct histogram *histogram, const struct sim_executed *record,
                                       struct c2_error *err)
{
    enum c2_status status = C2_OK;
    follow_fetches(histogram, record);
    if (!histogram->measures)
        return C2_OK;
    status = histogram_arrive(histogram, record->block->pc.v, histogram->instructions + histogram->window_instructions,
                              err);
    histogram->window_instructions += record->insns_run;
    return status;
}

static enum c2_status histogram_records(void *self, const struct sim_records *records, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (const uint64_t *at = records->words; at < records->end && status == C2_OK; at = sim_record_behind(at)) {
        const struct sim_executed executed = sim_executed_at(records, at);
        status = histogram_record(self, &executed, err);
    }
    return status;
}

static void histogram_emptied(void *self)
{
    struct histogram *histogram = self;
    for (uint32_t i = 0; i < histogram->core_count; i++)
        histogram->fetch_lines[i] = NOWHERE;
}

/* ------------------------------------------------------------------ windows */

static void histogram_check_level(const struct histogram *histogram, uint32_t level, const struct caches_counts *n)
{
    C2_ASSERT(histogram->window[level].accesses == n->accesses && histogram->window[level].misses == n->misses);
}

static enum c2_status histogram_window(void *self, const struct sim_window *window, struct c2_error *err)
{
    struct histogram *histogram = self;
    const uint32_t levels = histogram->machine->level_count;
    for (uint32_t i = 0; i < levels && histogram->measures; i++)
        histogram_check_level(histogram, i, &window->of.levels[i]);
    if (histogram->measures && histogram->machine->has_l1i)
        histogram_check_level(histogram, levels, &window->of.l1i);
    memset(histogram->window, 0, sizeof histogram->window);
    histogram->instructions += histogram->measures ? window->of.counts.instructions : 0;
    histogram->window_instructions = 0;
    const bool measures = window->next == STREAM_MEASURE;
    histogram->interrupted |= !measures;
    histogram->measures = measures;
    if (!measures || !histogram->interrupted || !histogram->at_regions)
        return C2_OK;
    histogram->interrupted = false;
    const struct analyses_histogram_phase *newest = &histogram->phases[histogram->phase_count - 1];
    if (newest->instructions == histogram->instructions)
        return C2_OK; /* nothing of it has been measured */
    return histogram_begin_phase(histogram, NULL, histogram->instructions, err);
}

static const struct c2_map *exact_of(const struct histogram *histogram, uint32_t monitor)
{
    return histogram->exact[histogram->monitor_levels[monitor]];
}

static enum c2_status forget_exact(struct histogram *histogram, uint32_t level, struct c2_error *err)
{
    const bool had = histogram->exact[level];
    c2_map_destroy(histogram->exact[level]);
    histogram->exact[level] = NULL;
    return had ? c2_map_create(&histogram->exact[level], err) : C2_OK;
}

static enum c2_status histogram_dropped(void *self, struct c2_error *err)
{
    struct histogram *histogram = self;
    histogram->cell_count = histogram->phase_count = 0;
    histogram->instructions = histogram->window_instructions = 0;
    memset(histogram->window, 0, sizeof histogram->window);
    if (histogram->codes)
        memset(histogram->codes, 0, (size_t)histogram->code_room * histogram->levels * sizeof *histogram->codes);
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < histogram->monitor_count && status == C2_OK; i++) {
        struct analyses_monitor like;
        status = monitor_finish(&like, histogram->monitors[i], exact_of(histogram, i), err);
        monitor_destroy(histogram->monitors[i]);
        histogram->monitors[i] = NULL;
        like = (struct analyses_monitor){
            like.counters, like.lines, like.bits, like.level, like.aligned, like.victim, 0, 0, 0, 0, 0};
        if (status == C2_OK)
            status = monitor_create(&histogram->monitors[i], &like, err);
    }
    for (uint32_t level = 0; level < CACHES_MAX_LEVELS && status == C2_OK; level++)
        status = forget_exact(histogram, level, err);
    return status == C2_OK ? histogram_begin_phase(histogram, NULL, 0, err) : status;
}

/* ------------------------------------------------------------------ the end */

static int by_phase(const void *a, const void *b)
{
    const struct analyses_cell *x = a, *y = b;
    if (x->phase != y->phase)
        return x->phase < y->phase ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static void list_cells(struct histogram *histogram)
{
    for (uint32_t i = 0; i < histogram->cell_count; i++)
        histogram->notified[i] = (struct analyses_cell){histogram->cells[i].phase, histogram->cells[i].key,
                                                        &histogram->counts[(size_t)i * histogram->levels]};
}

/* Spots become objects. */
static enum c2_status histogram_name_objects(struct histogram *histogram, struct c2_error *err)
{
    struct where_row *rows = NULL;
    size_t count = 0;
    if (!histogram->where)
        return C2_OK;
    uint64_t *object_of = c2_alloc((where_count(histogram->where) + 1u) * sizeof *object_of);
    enum c2_status status = object_of ? where_rows(&rows, &count, histogram->where, err) : histogram_no_memory(err);
    for (uint32_t i = 0; status == C2_OK && i < where_count(histogram->where); i++)
        object_of[i] = NOWHERE;
    for (size_t i = 0; i < count; i++)
        object_of[rows[i].spot] = rows[i].object;
    for (uint32_t i = 0; i < histogram->cell_count && status == C2_OK; i++)
        histogram->notified[i].number = object_of[histogram->notified[i].number];
    c2_free(object_of);
    c2_free(rows);
    return status;
}

static void add_count(struct analyses_level_count *to, const struct analyses_level_count *what)
{
    to->accesses += what->accesses;
    to->misses += what->misses;
}

/* One cell for what several have of one number in one phase. */
static size_t join_cells(struct histogram *histogram)
{
    struct analyses_cell *notified = histogram->notified;
    size_t kept = 0;
    for (size_t i = 0; i < histogram->cell_count; i++) {
        if (kept == 0 || by_phase(&notified[kept - 1], &notified[i]) != 0) {
            notified[kept++] = notified[i];
            continue;
        }
        struct analyses_level_count *to = histogram->counts + (notified[kept - 1].levels - histogram->counts);
        for (uint32_t level = 0; level < histogram->levels; level++)
            add_count(&to[level], &notified[i].levels[level]);
    }
    return kept;
}

static uint64_t histogram_sum_of(const struct analyses_level_count *list, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += list[i].accesses + list[i].misses;
    return sum;
}

/* Code numbers become instructions. */
static enum c2_status sum_insns(struct histogram *histogram, struct c2_error *err)
{
    const struct analysis *profile = analyses_find(histogram->analyses, ANALYSIS_profile);
    const struct analyses_profile_result *of = analyses_result(histogram->analyses, ANALYSIS_profile);
    const uint32_t levels = histogram->levels;
    histogram->insns = c2_calloc((of->insn_count + 1) * levels, sizeof *histogram->insns);
    if (!histogram->insns)
        return histogram_no_memory(err);
    for (uint32_t code = 0; code < histogram->code_room; code++) {
        const struct analyses_level_count *counts = &histogram->codes[(size_t)code * levels];
        const uint32_t insn = histogram_sum_of(counts, levels) != 0 ? where_insn(profile, code) : WHERE_NOWHERE;
        for (uint32_t level = 0; level < levels && insn != WHERE_NOWHERE; level++)
            add_count(&histogram->insns[(size_t)insn * levels + level], &counts[level]);
    }
    C2_ASSERT(histogram_sum_of(histogram->insns, of->insn_count * levels) ==
              histogram_sum_of(histogram->counts, (size_t)histogram->cell_count * levels));
    return C2_OK;
}

struct touched {
    uint64_t number, misses;
};

static int histogram_by_number(const void *a, const void *b)
{
    const struct touched *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static int histogram_by_misses(const void *a, const void *b)
{
    const struct touched *x = a, *y = b;
    return (x->misses < y->misses) - (x->misses > y->misses);
}

/* All phases together: how few pieces have how many of the misses. */
static enum c2_status sum_pieces(struct histogram *histogram, struct c2_error *err)
{
    struct analyses_histogram_result *result = &histogram->result;
    struct touched *list = c2_calloc(result->cell_count + 1, sizeof *list);
    size_t kept = 0;
    if (!list)
        return histogram_no_memory(err);
    for (size_t i = 0; i < result->cell_count; i++)
        list[i] = (struct touched){result->cells[i].number, result->cells[i].levels[0].misses};
    qsort(list, result->cell_count, sizeof *list, histogram_by_number);
    for (size_t i = 0; i < result->cell_count; i++) {
        if (kept != 0 && list[kept - 1].number == list[i].number)
            list[kept - 1].misses += list[i].misses;
        else
            list[kept++] = list[i];
    }
    qsort(list, kept, sizeof *list, histogram_by_misses);
    result->all = kept;
    for (size_t i = 0; i < (kept + 9) / 10; i++)
        result->tenth += list[i].misses;
    c2_free(list);
    return C2_OK;
}

static enum c2_status finish_monitors(struct histogram *histogram, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < histogram->monitor_count && status == C2_OK; i++) {
        status = monitor_flush(histogram->monitors[i], err);
        if (status == C2_OK)
            status = monitor_finish(&histogram->monitored[i], histogram->monitors[i], exact_of(histogram, i), err);
    }
    return status;
}

static void list_never(struct histogram *histogram)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < histogram->point_count; i++)
        if (!histogram->met[i])
            histogram->never[count++] = histogram->points[i];
}

static enum c2_status histogram_finish(void *self, struct sim *sim, struct c2_error *err)
{
    struct histogram *histogram = self;
    (void)sim;
    histogram->notified = c2_calloc(histogram->cell_count + 1u, sizeof *histogram->notified);
    if (!histogram->notified)
        return histogram_no_memory(err);
    list_cells(histogram);
    enum c2_status status = sum_insns(histogram, err);
    if (status == C2_OK)
        status = histogram_name_objects(histogram, err);
    if (status == C2_OK)
        status = finish_monitors(histogram, err);
    if (status != C2_OK)
        return status;
    qsort(histogram->notified, histogram->cell_count, sizeof *histogram->notified, by_phase);
    list_never(histogram);
    histogram->result = (struct analyses_histogram_result){.by = histogram->by,
                                                           .bytes = histogram->bytes,
                                                           .cells = histogram->notified,
                                                           .cell_count = join_cells(histogram),
                                                           .phases = histogram->phases,
                                                           .phase_count = histogram->phase_count,
                                                           .monitors = histogram->monitored,
                                                           .monitor_count = histogram->monitor_count,
                                                           .never = histogram->never,
                                                           .insns = histogram->insns,
                                                           .insn_levels = histogram->levels};
    for (size_t i = 0; i < histogram->result.cell_count; i++)
        histogram->phases[histogram->notified[i].phase].cells++;
    return sum_pieces(histogram, err);
}

static const void *histogram_result(const struct analysis *analysis)
{
    const struct histogram *histogram = (const struct histogram *)analysis;
    return histogram->notified ? &histogram->result : NULL;
}

/* ------------------------------------------------------------------ the file */

/* Levels in the order of reports: L1D, L1I, L2 ... */
static uint32_t histogram_level_at(const struct caches_machine *machine, uint32_t i)
{
    if (!machine->has_l1i || i == 0)
        return i;
    return i == 1 ? machine->level_count : i - 1;
}

static const char *histogram_level_name(const struct caches_machine *machine, uint32_t level)
{
    return level == machine->level_count ? machine->l1i.name : machine->levels[level].name;
}

static void histogram_write_head(const struct histogram *histogram, FILE *to)
{
    const struct caches_machine *machine = histogram->machine;
    fputs(histogram->where ? "phase,object,address,bytes" : "phase,address,bytes", to);
    for (uint32_t i = 0; i < machine->level_count + machine->has_l1i; i++) {
        const char *name = histogram_level_name(machine, histogram_level_at(machine, i));
        fprintf(to, ",%s.accesses,%s.hits,%s.misses", name, name, name);
    }
    fputc('\n', to);
}

static void histogram_write_object(const struct histogram *histogram, FILE *to, uint64_t number)
{
    const struct analyses_profile_result *profile = analyses_result(histogram->analyses, ANALYSIS_profile);
    const bool known = number < profile->object_count;
    analyses_write_quoted(to, known ? profile->objects[number].name : "");
    fprintf(to, ",%" PRIu64 ",%" PRIu64, known ? profile->objects[number].base : 0,
            known ? profile->objects[number].bytes : 0);
}

static void write_cell(const struct histogram *histogram, FILE *to, const struct analyses_cell *cell)
{
    const struct caches_machine *machine = histogram->machine;
    fprintf(to, "%" PRIu32 ",", cell->phase + 1);
    if (histogram->where)
        histogram_write_object(histogram, to, cell->number);
    else
        fprintf(to, "%" PRIu64 ",%" PRIu64, cell->number * histogram->bytes, histogram->bytes);
    for (uint32_t i = 0; i < machine->level_count + machine->has_l1i; i++) {
        const struct analyses_level_count *level = &cell->levels[histogram_level_at(machine, i)];
        fprintf(to, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, level->accesses, level->accesses - level->misses,
                level->misses);
    }
    fputc('\n', to);
}

static void write_cells(const struct histogram *histogram, FILE *to)
{
    histogram_write_head(histogram, to);
    for (size_t i = 0; i < histogram->result.cell_count; i++)
        write_cell(histogram, to, &histogram->result.cells[i]);
}

static enum c2_status histogram_commit(struct analysis *analysis, struct c2_error *err)
{
    struct histogram *histogram = (struct histogram *)analysis;
    if (histogram->file)
        write_cells(histogram, c2_outfile_stream(histogram->file));
    return analyses_commit_file(&histogram->file, err);
}

/* ------------------------------------------------------------------ life */

static void histogram_destroy(struct analysis *analysis)
{
    struct histogram *histogram = (struct histogram *)analysis;
    for (uint32_t i = 0; i < histogram->monitor_count; i++)
        monitor_destroy(histogram->monitors[i]);
    c2_outfile_abandon(histogram->file);
    where_destroy(histogram->where);
    c2_map_destroy(histogram->cell_of);
    c2_map_destroy(histogram->point_at);
    for (uint32_t level = 0; level < CACHES_MAX_LEVELS; level++)
        c2_map_destroy(histogram->exact[level]);
    c2_free(histogram->cells);
    c2_free(histogram->counts);
    c2_free(histogram->codes);
    c2_free(histogram->insns);
    c2_free(histogram->phases);
    c2_free(histogram->notified);
    c2_pool_release(&histogram->pool);
    c2_free(histogram);
}

static enum c2_status histogram_make(struct histogram *histogram, const struct analyses_setup *setup,
                                     struct c2_error *err)
{
    if (setup->machine->walks_cached)
        return c2_fail(err, C2_ERR_INVALID,
                       "--histogram counts by the program's addresses, and the page walks of this machine read tables "
                       "through the caches; add --set walks.mode=counted");
    enum c2_status status = c2_map_create(&histogram->point_at, err);
    if (status == C2_OK)
        status = read_words(histogram, setup, err);
    if (status == C2_OK)
        status = analyses_open_file(&histogram->file, setup, ANALYSES_SETTING_histogram_csv, err);
    return status == C2_OK ? histogram_begin_phase(histogram, NULL, 0, err) : status;
}

static enum c2_status histogram_create(struct analysis **out, const struct analyses_setup *setup,
                                       const struct analyses *analyses, struct c2_error *err)
{
    struct histogram *histogram = c2_calloc(1, sizeof *histogram);
    if (!histogram)
        return histogram_no_memory(err);
    histogram->base.kind = &analysis_histogram;
    histogram->machine = setup->machine;
    histogram->symbols = setup->symbols;
    histogram->analyses = analyses;
    histogram->line_shift = c2_log2(setup->machine->line_bytes);
    histogram->levels = setup->machine->level_count + 1;
    histogram->measures = true;
    histogram->core_count = caches_machine_cores(setup->machine);
    histogram_emptied(histogram);
    enum c2_status status = histogram_make(histogram, setup, err);
    if (status == C2_OK)
        *out = &histogram->base;
    else
        histogram_destroy(&histogram->base);
    return status;
}

static struct sim_subscriber histogram_subscriber(struct analysis *analysis)
{
    const struct histogram *histogram = (const struct histogram *)analysis;
    const bool points = histogram->point_count != 0 || histogram->at_barriers;
    return (struct sim_subscriber){.self = analysis,
                                   .every_store = true,
                                   .memory = points ? histogram_memory : NULL,
                                   .mark = histogram->at_barriers ? histogram_mark : NULL,
                                   .records = histogram_records,
                                   .references = histogram_references,
                                   .missed = histogram_missed,
                                   .emptied = histogram_emptied,
                                   .dropped = histogram_dropped,
                                   .window = histogram_window,
                                   .finish = histogram_finish};
}

const struct analysis_kind analysis_histogram = {.needs = 1u << ANALYSIS_profile,
                                                 .chapter = &analyses_histogram_chapter,
                                                 .create = histogram_create,
                                                 .subscriber = histogram_subscriber,
                                                 .result = histogram_result,
                                                 .commit = histogram_commit,
                                                 .destroy = histogram_destroy};
