/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sharing: the estimate of false sharing, by block, section, object and line.
 *
 * Model
 *   The text has the finding, and the objects with most false events; the JSON the lists up to a limit, which end with
 *   the number of those left out. Cycles are events times the machine's penalty; a machine that says none has none.
 */
#include "analyses/sharing.h"

#include "report/report_priv.h"

#define LISTED 50u
#define SHOWN 5u

/* ------------------------------------------------------------------ JSON */

static void add_events(struct document *d, const struct report_run *run, const struct sharing_events *events)
{
    doc_count(d, DOC_BOTH, "worst", events->worst);
    doc_count(d, DOC_BOTH, "exchanged", events->exchanged);
    doc_count(d, DOC_BOTH, "false_sharing", events->false_ones);
    doc_count(d, DOC_JSON, "carried", events->carried);
    if (run->machine->sharing_cycles != 0)
        doc_count(d, DOC_BOTH, "cycles", events->false_ones * run->machine->sharing_cycles);
}

static void add_object(struct document *d, const struct report_run *run, uint32_t object)
{
    char text[512];
    if (object == SHARING_NOBODY || !run->profile)
        return;
    doc_string(d, DOC_JSON, "object", run->profile->objects[object].name);
    doc_string(d, DOC_TEXT, "object", report_object_text(text, sizeof text, run, &run->profile->objects[object]));
}

/* How many entries there are more. */
static void add_rest(struct document *d, size_t count)
{
    if (count <= LISTED)
        return;
    doc_group(d, DOC_JSON, NULL);
    doc_count(d, DOC_JSON, "rest", count - LISTED);
    doc_close(d);
}

static void add_blocks(struct document *d, const struct report_run *run, const struct analyses_sharing_result *result)
{
    doc_table(d, DOC_JSON, "blocks");
    for (size_t i = 0; i < result->block_count && i < LISTED; i++) {
        const struct sharing_block *block = &result->blocks[i];
        doc_group(d, DOC_JSON, NULL);
        report_add_address(d, "address", block->address.v);
        add_object(d, run, block->object);
        doc_count(d, DOC_JSON, "threads", block->threads);
        doc_count(d, DOC_JSON, "sections", block->sections);
        doc_count(d, DOC_JSON, "loads", block->accesses.loads);
        doc_count(d, DOC_JSON, "stores", block->accesses.stores);
        add_events(d, run, &block->events);
        doc_close(d);
    }
    add_rest(d, result->block_count);
    doc_close(d);
}

static void add_sections(struct document *d, const struct report_run *run, const struct analyses_sharing_result *result)
{
    doc_table(d, DOC_JSON, "parallel_sections");
    for (size_t i = 0; i < result->sections_listed && i < LISTED; i++) {
        const struct sharing_section *section = &result->sections[i];
        doc_group(d, DOC_JSON, NULL);
        doc_count(d, DOC_JSON, "number", section->number);
        doc_count(d, DOC_JSON, "threads", section->threads);
        doc_count(d, DOC_JSON, "accesses", section->accesses);
        doc_count(d, DOC_JSON, "blocks", section->blocks);
        add_events(d, run, &section->events);
        doc_close(d);
    }
    add_rest(d, result->sections_listed);
    doc_close(d);
}

static void add_lines(struct document *d, const struct analyses_sharing_result *result)
{
    doc_table(d, DOC_JSON, "lines");
    for (size_t i = 0; i < result->line_count && i < LISTED; i++) {
        const struct sharing_line *line = &result->lines[i];
        doc_group(d, DOC_JSON, NULL);
        report_add_address(d, "pc", line->pc.v);
        report_add_place(d, &line->place);
        doc_count(d, DOC_JSON, "loads", line->accesses.loads);
        doc_count(d, DOC_JSON, "stores", line->accesses.stores);
        doc_close(d);
    }
    add_rest(d, result->line_count);
    doc_close(d);
}

/* ------------------------------------------------------------------ both */

static void add_objects(struct document *d, const struct report_run *run, const struct analyses_sharing_result *result)
{
    static const struct doc_column columns[] = {{.heading = "false", .key = "false_sharing"},
                                                {.heading = "worst", .key = "worst"},
                                                {.heading = "exchanged", .key = "exchanged"},
                                                {.heading = "blocks", .key = "blocks"},
                                                {.heading = "object", .key = "object", .form = DOC_NAME}};
    doc_table(d, DOC_BOTH, "objects");
    doc_columns(d, columns, sizeof columns / sizeof columns[0], 0);
    for (size_t i = 0; i < result->object_count && i < LISTED; i++) {
        const struct sharing_object *object = &result->objects[i];
        doc_group(d, i < SHOWN && object->events.false_ones != 0 ? DOC_BOTH : DOC_JSON, NULL);
        add_object(d, run, object->object);
        doc_count(d, DOC_BOTH, "blocks", object->blocks);
        add_events(d, run, &object->events);
        doc_close(d);
    }
    add_rest(d, result->object_count);
    doc_close(d);
}

static void note_finding(struct document *d, const struct report_run *run, const struct analyses_sharing_result *result)
{
    const struct sharing_events *all = &result->all;
    const uint64_t cycles = all->false_ones * run->machine->sharing_cycles;
    if (result->threads < 2) {
        doc_note(d, DOC_KEY_FLOW, "sharing", "the run has one thread: nothing is shared");
        return;
    }
    doc_note(d, DOC_KEY_FLOW, "sharing",
             "some %s events of false sharing between %u threads in %s sections: %s at worst, of which %s may be "
             "exchanges of data",
             doc_digits(d, all->false_ones), result->threads, doc_digits(d, result->section_count),
             doc_digits(d, all->worst), doc_digits(d, all->exchanged));
    if (cycles != 0)
        doc_say(d, "; %s cycles of %u each", doc_digits(d, cycles), run->machine->sharing_cycles);
    if (cycles != 0 && run->machine->clock_mhz != 0)
        doc_say(d, ", %.3f ms", (double)cycles / (run->machine->clock_mhz * 1e3));
}

void report_add_sharing(struct document *d, struct report_digest *digest)
{
    const struct report_run *run = digest->run;
    const struct analyses_sharing_result *result = run->found[ANALYSIS_sharing];
    if (!result || !result->blocks)
        return;
    note_finding(d, run, result);
    doc_group(d, DOC_BOTH, "sharing");
    doc_count(d, DOC_JSON, "threads", result->threads);
    doc_count(d, DOC_JSON, "section_count", result->section_count);
    add_events(d, run, &result->all);
    if (run->machine->sharing_cycles != 0 && run->machine->clock_mhz != 0)
        doc_decimal(d, DOC_JSON, "seconds",
                    (double)(result->all.false_ones * run->machine->sharing_cycles) / (run->machine->clock_mhz * 1e6));
    add_objects(d, run, result);
    add_blocks(d, run, result);
    add_sections(d, run, result);
    add_lines(d, result);
    doc_close(d);
}
