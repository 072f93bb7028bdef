/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * cachegrind: what every line of source has cost, in Cachegrind's format.
 *
 * Model
 *   The events of Callgrind's format, each line of a file and function once, in the order of files, functions and
 *   lines. Where calls were inlined the file is that of the line and the function that which holds the code, as
 *   Cachegrind has it. Line 0 is code without line numbers.
 *
 * Invariants
 *   The costs of all lines together are `summary`.
 *
 * Source: the chapter on Cachegrind in Valgrind's manual, "Cachegrind Output File Format".
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/export_priv.h"

struct line {
    const char *file, *function;
    int line;
    uint32_t insn;
};

struct writer {
    const struct report_run *run;
    struct analyses_events events;
    struct export_names names;
    struct export_place *places;
    struct line *lines; /* one for each instruction */
    uint64_t *costs;    /* [instruction * events.count] */
};

static int cachegrind_by_line(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    int order = strcmp(x->file, y->file);
    if (order == 0)
        order = strcmp(x->function, y->function);
    if (order == 0)
        order = (x->line > y->line) - (x->line < y->line);
    return order != 0 ? order : (x->insn > y->insn) - (x->insn < y->insn);
}

static enum c2_status cachegrind_prepare(struct writer *writer, const struct report_run *run, struct c2_error *err)
{
    const struct analyses_profile_result *profile = run->sim.profile;
    *writer = (struct writer){.run = run};
    analyses_events_init(&writer->events, run->sim.machine);
    const uint32_t writebacks = writer->events.count;
    export_writeback_events(&writer->events, run);
    enum c2_status status = export_names_create(&writer->names, run, err);
    if (status == C2_OK)
        status = export_places(&writer->places, &writer->names, err);
    if (status != C2_OK)
        return status;
    writer->lines = c2_calloc(profile->insn_count + 1, sizeof *writer->lines);
    writer->costs = c2_calloc((profile->insn_count + 1) * writer->events.count, sizeof *writer->costs);
    if (!writer->lines || !writer->costs)
        return c2_fail_memory(err, "the costs of lines");
    size_t row = 0;
    for (size_t i = 0; i < profile->insn_count; i++) {
        const struct export_place *place = &writer->places[i];
        analyses_events_of(&writer->events, profile, (uint32_t)i, &row, &writer->costs[i * writer->events.count]);
        if (writebacks < writer->events.count)
            export_writebacks_of(run, i, &writer->costs[i * writer->events.count + writebacks]);
        writer->lines[i] = (struct line){writer->names.texts[place->file - 1].text,
                                         writer->names.functions[place->function - 1].name, place->line, (uint32_t)i};
    }
    qsort(writer->lines, profile->insn_count, sizeof *writer->lines, cachegrind_by_line);
    return C2_OK;
}

static void cachegrind_write_head(FILE *to, const struct writer *writer)
{
    export_caches(to, writer->run);
    export_command(to, writer->run);
    fputs("events:", to);
    for (uint32_t i = 0; i < writer->events.count; i++)
        fprintf(to, " %s", writer->events.list[i].name);
    putc('\n', to);
}

static void write_position(FILE *to, const struct line *line, const struct line *before)
{
    const bool new_file = !before || strcmp(before->file, line->file) != 0;
    if (new_file)
        fprintf(to, "fl=%s\n", line->file);
    if (new_file || strcmp(before->function, line->function) != 0)
        fprintf(to, "fn=%s\n", line->function);
}

static bool same_line(const struct line *a, const struct line *b)
{
    return a->line == b->line && strcmp(a->file, b->file) == 0 && strcmp(a->function, b->function) == 0;
}

/* Zeros at the end too: cg_annotate takes a line without them with complaints. */
static void write_cost(FILE *to, const uint64_t *cost, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        fprintf(to, " %" PRIu64, cost[i]);
    putc('\n', to);
}

static void cachegrind_write_lines(FILE *to, const struct writer *writer)
{
    const uint32_t width = writer->events.count;
    const size_t count = writer->run->sim.profile->insn_count;
    uint64_t totals[ANALYSES_EVENTS] = {0};
    for (size_t i = 0; i < count;) {
        const struct line *line = &writer->lines[i];
        uint64_t cost[ANALYSES_EVENTS] = {0};
        for (; i < count && same_line(&writer->lines[i], line); i++)
            for (uint32_t event = 0; event < width; event++)
                cost[event] += writer->costs[writer->lines[i].insn * (size_t)width + event];
        write_position(to, line, line == writer->lines ? NULL : line - 1);
        fprintf(to, "%d", line->line);
        write_cost(to, cost, width);
        for (uint32_t event = 0; event < width; event++)
            totals[event] += cost[event];
    }
    fputs("summary:", to);
    write_cost(to, totals, width);
}

enum c2_status report_cachegrind(FILE *to, const struct report_run *run, struct c2_error *err)
{
    struct writer writer;
    enum c2_status status = cachegrind_prepare(&writer, run, err);
    if (status == C2_OK) {
        cachegrind_write_head(to, &writer);
        cachegrind_write_lines(to, &writer);
        status = export_written(to, err);
    }
    export_names_release(&writer.names);
    c2_free(writer.places);
    c2_free(writer.lines);
    c2_free(writer.costs);
    return status;
}
