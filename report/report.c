/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * report: the report of a run, built as one document.
 *
 * Model
 *   In the text: a head of `key value` lines, one aligned table with a row a level, what the misses cost and who
 *   evicted whom where they were attributed, one table of the TLBs where the machine has them, and a last line that
 *   says what to look at. In the JSON one object, "format": "c2emu-report": keys stand in a fixed order, counts are
 *   integers; a key whose subject was not part of the run is left out entirely (never 0 for "not measured").
 *
 * Invariants
 *   The same run gives the same bytes; nothing is kept.
 */
#include "report/report_priv.h"

/* What a run must have for a chapter to be about something. */
enum needs { ALWAYS, SIMULATED, PROFILED };

/* In the order of report.json, each with where it appears and its place in the text. */
static const struct chapter {
    void (*add)(struct document *d, struct report_digest *digest);
    enum needs needs;
    enum doc_in in;
    unsigned place;
} chapters[] = {
    {report_add_head, ALWAYS, DOC_BOTH, 1},        {report_add_levels, SIMULATED, DOC_BOTH, 2},
    {report_add_fifo, SIMULATED, DOC_TEXT, 3},     {report_add_tlbs, SIMULATED, DOC_BOTH, 10},
    {report_add_against, SIMULATED, DOC_BOTH, 11}, {report_add_conflicts, PROFILED, DOC_JSON, 0},
    {report_add_dearest, PROFILED, DOC_TEXT, 8},   {report_add_framed, PROFILED, DOC_TEXT, 9},
    {report_add_cost, PROFILED, DOC_BOTH, 4},      {report_add_objects, PROFILED, DOC_BOTH, 5},
    {report_add_functions, PROFILED, DOC_BOTH, 7}, {report_add_lines, PROFILED, DOC_BOTH, 6},
    {report_add_advice, SIMULATED, DOC_TEXT, 12},
};

static void add_all(struct document *d, struct report_digest *digest)
{
    const enum needs has = !digest->run->simulated ? ALWAYS : !digest->profile ? SIMULATED : PROFILED;
    for (size_t i = 0; i < sizeof chapters / sizeof chapters[0]; i++) {
        if (chapters[i].needs <= has && doc_section(d, chapters[i].in, chapters[i].place))
            chapters[i].add(d, digest);
    }
}

static enum c2_status write(FILE *to, const struct report_run *run, enum doc_in as, struct c2_error *err)
{
    struct report_digest digest;
    struct document document;
    doc_begin(&document, as);
    enum c2_status status = report_digest_make(&digest, run, err);
    if (status == C2_OK)
        add_all(&document, &digest);
    report_digest_release(&digest);
    if (status == C2_OK)
        status = as == DOC_TEXT ? doc_render_text(to, &document, "the text report", err)
                                : doc_render_json(to, &document, "the JSON report", err);
    doc_release(&document);
    return status;
}

enum c2_status report_text(FILE *to, const struct report_run *run, struct c2_error *err)
{
    return write(to, run, DOC_TEXT, err);
}

enum c2_status report_json(FILE *to, const struct report_run *run, struct c2_error *err)
{
    return write(to, run, DOC_JSON, err);
}
