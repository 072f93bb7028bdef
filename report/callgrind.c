/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * callgrind: what every instruction has cost, and every call, in Callgrind's format.
 *
 * Model
 *   Costs are analyses_events'. Instructions come in ascending order of their addresses, each with its own cost and
 *   then the calls that it made; a function's lines may lie in several places of the file.
 *
 * Invariants
 *   The costs of all instructions together are `summary` and `totals`.
 *
 * Source: "Callgrind Format Specification", version 1, of Valgrind's documentation.
 */
#include <string.h>

#include "report/export_priv.h"

struct writer {
    const struct report_run *run;
    struct analyses_events events;
    struct export_names names;
    struct export_place *places;            /* of instructions */
    struct export_place *callers, *callees; /* of arcs */
    uint64_t totals[ANALYSES_EVENTS];
};

static enum c2_status prepare(struct writer *writer, const struct report_run *run, struct c2_error *err)
{
    *writer = (struct writer){.run = run};
    analyses_events_init(&writer->events, run->machine);
    size_t row = 0;
    for (size_t i = 0; i < run->profile->insn_count; i++)
        analyses_events_of(&writer->events, run->profile, (uint32_t)i, &row, writer->totals);
    enum c2_status status = export_names_create(&writer->names, run, err);
    if (status == C2_OK)
        status = export_places(&writer->places, &writer->names, err);
    if (status != C2_OK)
        return status;
    const struct analyses_callgraph_result *calls = run->found[ANALYSIS_callgraph];
    writer->callers = c2_calloc(calls->arc_count + 1, sizeof *writer->callers);
    writer->callees = c2_calloc(calls->arc_count + 1, sizeof *writer->callees);
    if (!writer->callers || !writer->callees)
        return c2_fail_memory(err, "the names of a profile");
    for (size_t i = 0; i < calls->arc_count && status == C2_OK; i++) {
        status = export_place_of(&writer->names, calls->arcs[i].from, &writer->callers[i], err);
        if (status == C2_OK)
            status = export_place_of(&writer->names, calls->arcs[i].to, &writer->callees[i], err);
    }
    return status;
}

/* Calls by instructions up to `last`, from number `arc` on. Returns the number of the next. */
static size_t write_calls(struct export_body *body, const struct writer *writer, size_t arc, uint64_t last)
{
    const struct analyses_callgraph_result *calls = writer->run->found[ANALYSIS_callgraph];
    for (; arc < calls->arc_count && calls->arcs[arc].from.v <= last; arc++)
        export_call(body, &writer->callers[arc], &writer->callees[arc], calls->arcs[arc].calls, calls->arcs[arc].cost,
                    writer->events.count);
    return arc;
}

/* Calls are written behind the instruction they come from: both are in ascending order. One that faulted and never
 * completed has calls (of a signal's handler) and no cost. */
static void write_body(FILE *to, struct writer *writer)
{
    const struct analyses_profile_result *profile = writer->run->profile;
    const uint32_t width = writer->events.count;
    struct export_body body = {.to = to, .names = &writer->names};
    size_t row = 0, arc = 0;
    for (size_t i = 0; i < profile->insn_count; i++) {
        uint64_t cost[ANALYSES_EVENTS] = {0};
        analyses_events_of(&writer->events, profile, (uint32_t)i, &row, cost);
        arc = write_calls(&body, writer, arc, profile->insns[i].pc.v - 1);
        export_self(&body, &writer->places[i], cost, width);
        arc = write_calls(&body, writer, arc, profile->insns[i].pc.v);
    }
    write_calls(&body, writer, arc, UINT64_MAX);
    export_totals(&body, writer->totals, width);
}

enum c2_status report_callgrind(FILE *to, const struct report_run *run, struct c2_error *err)
{
    struct writer writer;
    enum c2_status status = prepare(&writer, run, err);
    if (status == C2_OK) {
        export_header(to, run, false, writer.events.list, writer.events.count, writer.totals);
        write_body(to, &writer);
        status = export_written(to, err);
    }
    export_names_release(&writer.names);
    c2_free(writer.places);
    c2_free(writer.callers);
    c2_free(writer.callees);
    return status;
}
