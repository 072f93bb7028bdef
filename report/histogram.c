/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * histogram: which addresses the accesses and misses are at, phase by phase, and what monitors would have seen.
 *
 * Model
 *   The cells themselves are in the file of --histogram-csv; here are sums. The text has the first phases and monitors.
 */
#include "analyses/histogram.h"

#include "report/report_priv.h"

#define ROWS 4u

static const char *const victims[] = {[ANALYSES_FIFO] = "fifo", [ANALYSES_LRU] = "lru", [ANALYSES_RANDOM] = "random"};

/* ------------------------------------------------------------------ the JSON */

static void add_levels(struct document *d, const struct report_digest *digest,
                       const struct analyses_histogram_phase *phase)
{
    doc_table(d, DOC_JSON, "levels");
    for (size_t i = 0; i < digest->level_count; i++) {
        const struct analyses_level_count *count = &phase->levels[digest->levels[i].number];
        doc_group(d, DOC_JSON, NULL);
        doc_string(d, DOC_JSON, "name", digest->levels[i].level->name);
        doc_count(d, DOC_JSON, "accesses", count->accesses);
        doc_count(d, DOC_JSON, "hits", count->accesses - count->misses);
        doc_count(d, DOC_JSON, "misses", count->misses);
        doc_close(d);
    }
    doc_close(d);
}

static void add_monitor(struct document *d, const struct analyses_monitor *monitor)
{
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

static void add_phases(struct document *d, const struct report_digest *digest,
                       const struct analyses_histogram_result *of)
{
    const char *first = digest->levels[0].level->name;
    const struct doc_column columns[] = {{.heading = "phase", .key = "number"},
                                         {.heading = "instructions before", .key = "start"},
                                         {.heading = "touched", .key = "pieces"},
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
        add_levels(d, digest, phase);
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

static void add_monitors(struct document *d, const struct analyses_histogram_result *of)
{
    static const struct doc_column columns[] = {{.heading = "counters", .key = "counters"},
                                                {.heading = "lines", .key = "lines"},
                                                {.heading = "bits", .key = "bits"},
                                                {.heading = "victim", .key = "victim", .form = DOC_LEFT},
                                                {.heading = "swap-outs", .key = "swap_outs"},
                                                {.heading = "error", .key = "error text"},
                                                {.heading = "pieces", .key = "words", .form = DOC_NAME}};
    doc_table(d, of->monitor_count != 0 ? DOC_BOTH : 0, "monitors");
    doc_columns(d, columns, sizeof columns / sizeof columns[0], 0);
    for (uint32_t i = 0; i < of->monitor_count; i++) {
        doc_group(d, i < ROWS ? DOC_BOTH : DOC_JSON, NULL);
        add_monitor(d, &of->monitors[i]);
        doc_close(d);
    }
    doc_close(d);
    if (of->monitor_count > ROWS)
        doc_note(d, DOC_LINE, NULL, "and %s other monitor%s", doc_digits(d, of->monitor_count - ROWS),
                 of->monitor_count == ROWS + 1 ? "" : "s");
}

/* ------------------------------------------------------------------ the whole */

static const char *pieces_of(struct document *d, const struct analyses_histogram_result *of)
{
    char text[32];
    if (of->by == ANALYSES_BY_OBJECT)
        return "objects";
    return doc_keep(d, "pieces of %s", c2_size_text(text, of->bytes));
}

static void note_histogram(struct document *d, const struct report_digest *digest,
                           const struct analyses_histogram_result *of)
{
    uint64_t misses = 0;
    for (uint32_t i = 0; i < of->phase_count; i++)
        misses += of->phases[i].levels[0].misses;
    doc_note(d, DOC_KEY_FLOW, "histogram", "%s %s were touched; a tenth of them has %s of the %s misses",
             doc_digits(d, of->all), pieces_of(d, of), doc_share(d, of->tenth, misses), digest->levels[0].level->name);
    if (of->phase_count > 1)
        doc_say(d, "; %s phases", doc_digits(d, of->phase_count));
    for (const char *const *name = of->never; *name; name++)
        doc_say(d, "; the program never came to %s", *name);
}

void report_add_histogram(struct document *d, struct report_digest *digest)
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
    add_phases(d, digest, of);
    add_monitors(d, of);
    doc_close(d);
}
