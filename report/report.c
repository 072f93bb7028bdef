/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * report: the report of a run, or of its advice: built as one document, and rendered.
 *
 * Model
 *   In the text: the findings, a head of `key value` lines, one aligned table with a row a level, what the misses cost
 *   and what evicted what where they were attributed, one table of the TLBs where the machine has them; of several
 *   machines, the head of the first and how they compare. In the JSON one object, "format": "c2emu-report": keys stand
 *   in a fixed order, counts are integers; a key whose subject was not part of the run is left out entirely (never 0
 *   for "not measured"). It has two forms: the slim one ("slim": true) lists of objects, functions, lines, loops and
 *   conflicts the dearest alone, and adds the others up; all else is in both.
 *
 * Invariants
 *   The same run gives the same bytes; nothing of it is kept.
 */
#include <stdlib.h>

#include "report/explain_priv.h"
#include "report/samples.h"

/* What a run must have for a chapter to be about something. */
enum needs { ALWAYS, SIMULATED, PROFILED };

/* One a line, however short. order: in report.json; place: in the text. Those of analyses are in their files. */
/* clang-format off */
static const struct chapter {
    void (*add)(struct document *d, struct digest *digest);
    enum needs needs;
    enum doc_in in;
    unsigned place, order;
} own_chapters[] = {
    {report_add_head, ALWAYS, DOC_BOTH, 1, 10},
    {report_add_levels, SIMULATED, DOC_BOTH, 2, 20},
    {report_add_samples, SIMULATED, DOC_BOTH, 3, 30},
    {report_add_instructed, SIMULATED, DOC_BOTH, 4, 90},
    {report_add_tlbs, SIMULATED, DOC_BOTH, 11, 120},
    {report_add_against, SIMULATED, DOC_BOTH, 12, 140},
    {report_add_lanes, SIMULATED, DOC_BOTH, 2, 150},
    {report_add_conflicts, PROFILED, DOC_JSON, 0, 160},
    {report_add_dearest, PROFILED, DOC_TEXT, 9, 170},
    {report_add_framed, PROFILED, DOC_TEXT, 10, 180},
    {report_add_cost, PROFILED, DOC_BOTH, 5, 190},
    {report_add_objects, PROFILED, DOC_BOTH, 6, 200},
    {report_add_functions, PROFILED, DOC_BOTH, 8, 210},
    {report_add_lines, PROFILED, DOC_BOTH, 7, 220},
    {report_add_findings, PROFILED, DOC_BOTH, 0, 260},
    {report_add_hints, SIMULATED, DOC_TEXT, 14, 270},
    {report_add_loops, PROFILED, DOC_BOTH, 7, 280},
    {report_add_receipt, ALWAYS, DOC_JSON, 0, 300},
};
/* clang-format on */
#define OWN_CHAPTERS (sizeof own_chapters / sizeof own_chapters[0])

static int report_by_order(const void *left, const void *right)
{
    const struct chapter *a = left, *b = right;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Those of all analyses and the report's own, in the order of report.json; returns how many. */
static size_t collect_chapters(struct chapter out[OWN_CHAPTERS + ANALYSES_KINDS])
{
    size_t count = 0;
    for (; count < OWN_CHAPTERS; count++)
        out[count] = own_chapters[count];
    for (unsigned i = 0; i < ANALYSES_KINDS; i++) {
        const struct analysis_chapter *of = analyses_kind_of((enum analysis_number)i)->chapter;
        if (of)
            out[count++] = (struct chapter){of->add, of->profiled ? PROFILED : SIMULATED, of->in, of->place, of->order};
    }
    qsort(out, count, sizeof *out, report_by_order);
    for (size_t i = 1; i < count; i++)
        C2_ASSERT(out[i - 1].order != out[i].order);
    return count;
}

static void add_chapters(struct document *d, struct digest *digest)
{
    const struct report_run *run = report_of(digest);
    const enum needs has = !run->simulated ? ALWAYS : !digest->profile ? SIMULATED : PROFILED;
    struct chapter chapters[OWN_CHAPTERS + ANALYSES_KINDS];
    const size_t count = collect_chapters(chapters);
    for (size_t i = 0; i < count; i++) {
        const bool compares = chapters[i].add == report_add_head || chapters[i].add == report_add_lanes ||
                              chapters[i].add == report_add_hints;
        const enum doc_in in = !run->lanes || compares ? chapters[i].in : chapters[i].in & DOC_JSON;
        if (chapters[i].needs <= has && doc_section(d, in, chapters[i].place))
            chapters[i].add(d, digest);
    }
}

/* ------------------------------------------------------------------ from begin to end */

struct report {
    struct document document;
};
_Static_assert((int)REPORT_TEXT == (int)DOC_TEXT && (int)REPORT_SLIM == (int)DOC_SLIM &&
                   (int)REPORT_JSON == (int)DOC_FULL,
               "forms are what items are in");

static enum c2_status report_begin(struct report **out, unsigned forms, struct c2_error *err)
{
    *out = c2_alloc(sizeof **out);
    if (!*out)
        return c2_fail_memory(err, "the report");
    doc_begin(&(*out)->document, forms);
    return C2_OK;
}

/* What could not be built is gone. */
static enum c2_status report_finish(struct report **out, enum c2_status status, struct c2_error *err)
{
    if (status == C2_OK && (*out)->document.failed)
        status = c2_fail_memory(err, "the report");
    if (status != C2_OK) {
        report_destroy(*out);
        *out = NULL;
    }
    return status;
}

/* To be released, whatever it returned. */
static enum c2_status make_digest(struct report_digest *out, const struct report_run *run, struct c2_error *err)
{
    out->samples = NULL;
    enum c2_status status = digest_make(&out->by, &run->sim, err);
    return status == C2_OK && out->by.profile && run->samples.count != 0
               ? samples_groups_make(&out->samples, &out->by, err)
               : status;
}

static void release_digest(struct report_digest *digest)
{
    samples_groups_release(digest->samples);
    digest_release(&digest->by);
}

uint64_t report_cost(const struct report_run *run)
{
    const struct caches_cost cost = digest_run_cost(&run->sim);
    return caches_cost_sum(&cost);
}

enum c2_status report_create(struct report **out, const struct report_run *run, unsigned forms, struct c2_error *err)
{
    struct report_digest digest;
    enum c2_status status = report_begin(out, forms, err);
    if (status != C2_OK)
        return status;
    status = make_digest(&digest, run, err);
    if (status == C2_OK)
        add_chapters(&(*out)->document, &digest.by);
    release_digest(&digest);
    return report_finish(out, status, err);
}

enum c2_status report_create_advice(struct report **out, const struct report_proposals *of, unsigned forms,
                                    struct c2_error *err)
{
    struct report_digest digest;
    enum c2_status status = report_begin(out, forms, err);
    if (status != C2_OK)
        return status;
    status = make_digest(&digest, of->run, err);
    if (status == C2_OK)
        report_add_proposals(&(*out)->document, &digest.by, of);
    release_digest(&digest);
    doc_section(&(*out)->document, DOC_JSON, 0);
    report_add_receipt_of(&(*out)->document, of->run->receipt);
    return report_finish(out, status, err);
}

enum c2_status report_create_story(struct report **out, const struct report_run *run, unsigned forms,
                                   struct c2_error *err)
{
    enum c2_status status = report_begin(out, forms, err);
    if (status != C2_OK)
        return status;
    report_add_story(&(*out)->document, run);
    doc_section(&(*out)->document, DOC_JSON, 0);
    report_add_receipt_of(&(*out)->document, run->receipt);
    return report_finish(out, status, err);
}

enum c2_status report_create_step(struct report **out, const struct report_run *run, uint32_t number,
                                  struct c2_error *err)
{
    enum c2_status status = report_begin(out, REPORT_TEXT, err);
    if (status != C2_OK)
        return status;
    report_add_step(&(*out)->document, run, number);
    return report_finish(out, status, err);
}

enum c2_status report_create_programs(struct report **out, const struct report_programs *programs, unsigned forms,
                                      struct c2_error *err)
{
    enum c2_status status = report_begin(out, forms, err);
    if (status != C2_OK)
        return status;
    report_add_programs(&(*out)->document, programs);
    report_add_receipt_of(&(*out)->document, programs->receipt);
    return report_finish(out, status, err);
}

_Static_assert((int)REPORT_WIDTH == (int)DOC_WIDTH, "a page is as wide as a file's from the beginning");

void report_set_page(struct report *report, unsigned width, bool coloured)
{
    report->document.page = (struct doc_page){.width = width, .coloured = coloured};
}

enum c2_status report_text(FILE *to, const struct report *report, struct c2_error *err)
{
    return doc_render_text(to, &report->document, "the text report", err);
}

enum c2_status report_json(FILE *to, const struct report *report, struct c2_error *err)
{
    return doc_render_json(to, &report->document, DOC_FULL, "the JSON report", err);
}

enum c2_status report_json_slim(FILE *to, const struct report *report, struct c2_error *err)
{
    return doc_render_json(to, &report->document, DOC_SLIM, "the JSON report", err);
}

void report_destroy(struct report *report)
{
    if (report)
        doc_release(&report->document);
    c2_free(report);
}
