/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * histogram_chapter: which addresses the accesses and misses are at, phase by phase, and what monitors would have seen.
 *
 * Model
 *   The cells themselves are in the file of --histogram-csv; here are sums, by phase and by function, line and loop.
 *   The text has the first phases and monitors.
 *   In the lists stands first whose misses cost most, of equal ones the one that accesses most.
 */
#include "analyses/chapter.h"
#include "analyses/histogram.h"

#include <stdlib.h>

#define ROWS 4u
#define LISTED 1000u /* functions, lines, loops */

static const char *const victims[] = {[ANALYSES_FIFO] = "fifo", [ANALYSES_LRU] = "lru", [ANALYSES_RANDOM] = "random"};

/* ------------------------------------------------------------------ the JSON */

/* counts: by number of the level. */
static void histogram_chapter_add_levels(struct document *d, const struct digest *digest,
                                         const struct analyses_level_count *counts)
{
    doc_table(d, DOC_JSON, "levels");
    for (size_t i = 0; i < digest->level_count; i++) {
        const struct analyses_level_count *count = &counts[digest->levels[i].number];
        doc_group(d, DOC_JSON, NULL);
        doc_string(d, DOC_JSON, "name", digest->levels[i].level->name);
        doc_count(d, DOC_JSON, "accesses", count->accesses);
        doc_count(d, DOC_JSON, "hits", count->accesses - count->misses);
        doc_count(d, DOC_JSON, "misses", count->misses);
        doc_close(d);
    }
    doc_close(d);
}

static const char *histogram_chapter_level_named(const struct digest *digest, uint32_t number)
{
    size_t i = 0;
    while (digest->levels[i].number != number)
        i++;
    return digest->levels[i].level->name;
}

static void add_monitor(struct document *d, const struct digest *digest, const struct analyses_monitor *monitor)
{
    doc_string(d, DOC_BOTH, "level", histogram_chapter_level_named(digest, monitor->level));
    doc_count(d, DOC_BOTH, "counters", monitor->counters);
    doc_count(d, DOC_BOTH, "lines", monitor->lines);
    doc_count(d, DOC_BOTH, "bits", monitor->bits);
    doc_string(d, DOC_BOTH, "victim", victims[monitor->victim]);
    doc_flag(d, DOC_JSON, "aligned", monitor->aligned);
    doc_count(d, DOC_JSON, "events", monitor->events);
    doc_count(d, DOC_JSON, "evicted", monitor->evicted);
    doc_count(d, DOC_JSON, "full", monitor->full);
    doc_count(d, DOC_JSON, "flushed", monitor->flushed);
    doc_count(d, DOC_BOTH, "swap_outs", monitor->evicted + monitor->full + monitor->flushed);
    doc_decimal(d, DOC_JSON, "error", monitor->error);
    doc_words(d, DOC_TEXT, "error text", "%.2f %%", 100 * monitor->error);
    doc_string(d, DOC_TEXT, "words", monitor->aligned ? "aligned" : "growing");
}

/* ------------------------------------------------------------------ tables */

static void histogram_chapter_add_phases(struct document *d, const struct digest *digest,
                                         const struct analyses_histogram_result *of)
{
    const char *first = digest->levels[0].level->name;
    const struct doc_column columns[] = {{.heading = "phase", .key = "number"},
                                         {.heading = "instructions before", .key = "start"},
                                         {.heading = "touched", .key = "pieces", .spare = 1},
                                         {.heading = doc_keep(d, "%s accesses", first), .key = "accesses"},
                                         {.heading = doc_keep(d, "%s misses", first), .key = "misses"},
                                         {.heading = "begins at", .key = "words", .form = DOC_NAME}};
    doc_table(d, DOC_BOTH, "phases");
    doc_columns(d, columns, sizeof columns / sizeof columns[0], 0);
    for (uint32_t i = 0; i < of->phase_count; i++) {
        const struct analyses_histogram_phase *phase = &of->phases[i];
        doc_group(d, i < ROWS && of->phase_count > 1 ? DOC_BOTH : DOC_JSON, NULL);
        doc_string(d, DOC_JSON, "at", phase->at);
        doc_count(d, DOC_BOTH, "start", phase->instructions);
        doc_count(d, DOC_BOTH, "pieces", phase->cells);
        histogram_chapter_add_levels(d, digest, phase->levels);
        doc_count(d, DOC_TEXT, "number", i + 1);
        doc_count(d, DOC_TEXT, "accesses", phase->levels[0].accesses);
        doc_count(d, DOC_TEXT, "misses", phase->levels[0].misses);
        doc_string(d, DOC_TEXT, "words", phase->at ? phase->at : "the beginning");
        doc_close(d);
    }
    doc_close(d);
    if (of->phase_count > ROWS)
        doc_note(d, DOC_LINE, NULL, "and %s other phase%s", doc_digits(d, of->phase_count - ROWS),
                 of->phase_count == ROWS + 1 ? "" : "s");
}

static void add_monitors(struct document *d, const struct digest *digest, const struct analyses_histogram_result *of)
{
    static const struct doc_column columns[] = {{.heading = "monitor of", .key = "level", .form = DOC_LEFT},
                                                {.heading = "counters", .key = "counters"},
                                                {.heading = "lines", .key = "lines", .spare = 1},
                                                {.heading = "bits", .key = "bits", .spare = 2},
                                                {.heading = "victim", .key = "victim", .form = DOC_LEFT},
                                                {.heading = "swap-outs", .key = "swap_outs"},
                                                {.heading = "error", .key = "error text"},
                                                {.heading = "pieces", .key = "words", .form = DOC_NAME}};
    doc_table(d, of->monitor_count != 0 ? DOC_BOTH : 0, "monitors");
    doc_columns(d, columns, sizeof columns / sizeof columns[0], 0);
    for (uint32_t i = 0; i < of->monitor_count; i++) {
        doc_group(d, i < ROWS ? DOC_BOTH : DOC_JSON, NULL);
        add_monitor(d, digest, &of->monitors[i]);
        doc_close(d);
    }
    doc_close(d);
    if (of->monitor_count > ROWS)
        doc_note(d, DOC_LINE, NULL, "and %s other monitor%s", doc_digits(d, of->monitor_count - ROWS),
                 of->monitor_count == ROWS + 1 ? "" : "s");
}

/* ------------------------------------------------------------------ by function, line, loop */

struct group {
    uint32_t place; /* in the ranking */
    uint64_t cost, accesses;
    struct analyses_level_count levels[ANALYSES_LEVELS]; /* [number of the level] */
};

static void histogram_chapter_add_counts(struct group *to, const struct digest *digest,
                                         const struct analyses_level_count *counts)
{
    for (size_t i = 0; i < digest->level_count; i++) {
        const struct digest_level *level = &digest->levels[i];
        const struct analyses_level_count *count = &counts[level->number];
        to->levels[level->number].accesses += count->accesses;
        to->levels[level->number].misses += count->misses;
        to->cost += count->misses * level->miss_cycles;
        to->accesses += count->accesses;
    }
}

static int histogram_chapter_by_cost(const void *left, const void *right)
{
    const struct group *a = left, *b = right;
    if (a->cost != b->cost)
        return a->cost > b->cost ? -1 : 1;
    if (a->accesses != b->accesses)
        return a->accesses > b->accesses ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* Those with accesses. The caller frees them; NULL: no memory. */
static struct group *histogram_chapter_make_groups(const struct digest *digest, const struct digest_ranking *ranking,
                                                   size_t *count)
{
    const struct analyses_histogram_result *of = digest->run->found[ANALYSIS_histogram];
    struct group *sums = c2_calloc(ranking->numbers + (size_t)1, sizeof *sums);
    struct group *list = sums ? c2_calloc(ranking->count + (size_t)1, sizeof *list) : NULL;
    *count = 0;
    for (size_t i = 0; list && i < digest->profile->insn_count; i++)
        if (ranking->number_of[i] != UINT32_MAX)
            histogram_chapter_add_counts(&sums[ranking->number_of[i]], digest, &of->insns[i * of->insn_levels]);
    for (uint32_t i = 0; list && i < ranking->count; i++) {
        list[*count] = sums[ranking->list[i].number];
        list[*count].place = i;
        *count += list[*count].accesses != 0;
    }
    c2_free(sums);
    if (list)
        qsort(list, *count, sizeof *list, histogram_chapter_by_cost);
    return list;
}

static void histogram_chapter_add_rest(struct document *d, const struct digest *digest, const char *key,
                                       const struct group *list, size_t count)
{
    struct group rest = {.place = 0};
    for (size_t i = LISTED; i < count; i++)
        histogram_chapter_add_counts(&rest, digest, list[i].levels);
    doc_group(d, DOC_JSON, NULL);
    doc_group(d, DOC_JSON, "rest");
    doc_count(d, DOC_JSON, key, count - LISTED);
    doc_close(d);
    histogram_chapter_add_levels(d, digest, rest.levels);
    doc_close(d);
}

static void add_ranking(struct document *d, const struct digest *digest, const char *key,
                        const struct digest_ranking *ranking)
{
    size_t count;
    struct group *list = histogram_chapter_make_groups(digest, ranking, &count);
    d->failed |= !list;
    doc_table(d, DOC_JSON, key);
    for (size_t i = 0; list && i < count && i < LISTED; i++) {
        doc_group(d, DOC_JSON, NULL);
        chapter_add_ranked(d, digest, ranking, &ranking->list[list[i].place]);
        histogram_chapter_add_levels(d, digest, list[i].levels);
        doc_close(d);
    }
    if (list && count > LISTED)
        histogram_chapter_add_rest(d, digest, key, list, count);
    doc_close(d);
    c2_free(list);
}

static void histogram_chapter_add_places(struct document *d, const struct digest *digest)
{
    add_ranking(d, digest, "functions", &digest->functions);
    add_ranking(d, digest, "lines", &digest->lines);
    if (digest->run->found[ANALYSIS_loops])
        add_ranking(d, digest, "loops", &digest->loops);
}

/* ------------------------------------------------------------------ the whole */

static const char *pieces_of(struct document *d, const struct analyses_histogram_result *of)
{
    char text[32];
    if (of->by == ANALYSES_BY_OBJECT)
        return "objects";
    return doc_keep(d, "pieces of %s", c2_size_text(text, of->bytes));
}

static void note_histogram(struct document *d, const struct digest *digest, const struct analyses_histogram_result *of)
{
    uint64_t misses = 0;
    for (uint32_t i = 0; i < of->phase_count; i++)
        misses += of->phases[i].levels[0].misses;
    doc_note(d, DOC_KEY, "histogram", "%s %s were touched; a tenth of them has %s of the %s misses",
             doc_digits(d, of->all), pieces_of(d, of), doc_share(d, of->tenth, misses), digest->levels[0].level->name);
    if (of->phase_count > 1)
        doc_say(d, "; %s phases", doc_digits(d, of->phase_count));
    for (const char *const *name = of->never; *name; name++)
        doc_say(d, "; the program never came to %s", *name);
}

static void add_histogram_chapter(struct document *d, struct digest *digest)
{
    const struct analyses_histogram_result *of = digest->run->found[ANALYSIS_histogram];
    if (!of)
        return;
    note_histogram(d, digest, of);
    doc_group(d, DOC_BOTH, "histogram");
    doc_string(d, DOC_JSON, "by", of->by == ANALYSES_BY_OBJECT ? "object" : "bytes");
    if (of->by == ANALYSES_BY_BYTES)
        doc_count(d, DOC_JSON, "bytes", of->bytes);
    doc_count(d, DOC_JSON, "touched", of->all);
    doc_count(d, DOC_JSON, "tenth", of->tenth);
    histogram_chapter_add_phases(d, digest, of);
    add_monitors(d, digest, of);
    histogram_chapter_add_places(d, digest);
    doc_close(d);
}

const struct analysis_chapter analyses_histogram_chapter = {
    .add = add_histogram_chapter, .profiled = true, .in = DOC_BOTH, .place = 8, .order = 240};
