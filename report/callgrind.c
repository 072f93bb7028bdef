/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * callgrind: what every instruction has cost, and every call, in Callgrind's format.
 *
 * Model
 *   Costs are analyses_events'. Instructions come in ascending order of their addresses, each with its own cost and
 *   then the calls that it made; a function's lines may lie in several places of the file. Where functions are told
 *   apart, each context is a function of its own, and instructions come once for each context. Where threads are told
 *   apart there is a file for each, with the contexts of that thread.
 *   Jumps within a function, where they are known (--collect-jumps), stand behind the cost of the instruction:
 *   "jcnd=TAKEN/EXECUTED POSITION" or "jump=TAKEN POSITION", and a line of the instruction's own position. Those to
 *   another function are calls. What levels write back (--collect-writebacks) are events that calls have none of.
 *   Where the use of lines is known (--line-use) it is there as Callgrind's --cacheuse=yes has it: AcCost1 and SpLoss1
 *   of L1D and L1I, AcCost2 and SpLoss2 of the last level. It belongs to the instructions that loaded the lines; when
 *   it is known which it was, the calls around that are over, so calls have none of it, and contexts neither.
 *
 * Invariants
 *   The costs of all instructions together are `summary` and `totals`; those of all threads are the run's.
 *
 * Source: "Callgrind Format Specification", version 1, of Valgrind's documentation; of jumps, which it does not have,
 *   what callgrind --collect-jumps=yes writes.
 */
#include <string.h>

#include "analyses/line_use.h"
#include "report/export_priv.h"

/* What one instruction has cost: all in all, or in one context. */
struct line {
    uint32_t context;
    struct guest_va pc;
    struct export_place place;
    const uint64_t *cost;
};

struct writer {
    const struct report_run *run;
    uint32_t thread; /* 0: all */
    struct analyses_events events;
    /* Events of calls; behind them those of the use of lines; where those of what is written back begin. */
    uint32_t call_width, use_width, writebacks;
    struct export_names names;
    struct export_place *places; /* of the profile's instructions */
    struct line *lines;          /* by context, then address */
    size_t line_count;
    uint64_t *costs;                        /* of lines, where they are not another's */
    struct export_place *callers, *callees; /* of arcs */
    struct export_place *targets;           /* of jumps */
    uint64_t totals[ANALYSES_EVENTS];
};

static const struct analyses_callgraph_result *calls_of(const struct report_run *run)
{
    return run->sim.found[ANALYSIS_callgraph];
}

static bool callgrind_is_wanted(const struct writer *writer, uint32_t context)
{
    return writer->thread == 0 || calls_of(writer->run)->contexts->contexts[context].thread == writer->thread;
}

uint32_t report_callgrind_thread_after(const struct report_run *run, uint32_t thread)
{
    const struct analyses_contexts *contexts = calls_of(run) ? calls_of(run)->contexts : NULL;
    uint32_t next = 0;
    for (uint32_t i = 0; contexts && contexts->separation->threads && i < contexts->context_count; i++) {
        const uint32_t own = contexts->contexts[i].thread;
        next = own > thread && (next == 0 || own < next) ? own : next;
    }
    return next;
}

/* ------------------------------------------------------------------ the use of lines */

static void add_event(struct analyses_events *events, const char *name, const char *help)
{
    C2_ASSERT(events->count < ANALYSES_EVENTS);
    struct analyses_event *event = &events->list[events->count++];
    snprintf(event->name, sizeof event->name, "%s", name);
    snprintf(event->help, sizeof event->help, "%s", help);
}

static void add_use_events(struct writer *writer)
{
    if (!writer->run->sim.found[ANALYSIS_line_use] || calls_of(writer->run)->contexts)
        return;
    add_event(&writer->events, "AcCost1", "L1 Access Cost: 1000 / accesses of each line loaded");
    add_event(&writer->events, "SpLoss1", "L1 Spatial Loss: bytes loaded and not used");
    if (writer->run->sim.machine->level_count > 1) {
        add_event(&writer->events, "AcCost2", "LL Access Cost: 1000 / accesses of each line loaded");
        add_event(&writer->events, "SpLoss2", "LL Spatial Loss: bytes loaded and not used");
    }
    writer->use_width = writer->events.count - writer->call_width;
}

/* L1I, where there is one, counts with L1D; of the last level behind them. */
static void callgrind_add_use(const struct writer *writer, const struct analyses_line_use *level, uint64_t *cost)
{
    const struct caches_machine *machine = writer->run->sim.machine;
    const struct analyses_line_use_result *of = writer->run->sim.found[ANALYSIS_line_use];
    for (uint32_t i = 0; i < of->level_count; i++) {
        const bool first = i == 0 || i == machine->level_count;
        if (!first && i + 1 != machine->level_count)
            continue;
        cost[first ? 0 : 2] += level[i].access_cost;
        cost[first ? 1 : 3] += analyses_line_use_loss(&level[i], of->line_bytes);
    }
}

/* Adds what the instruction has loaded. *row: as analyses_events_of() has it. */
static void add_use_of(const struct writer *writer, uint32_t insn, size_t *row, uint64_t *cost)
{
    const struct analyses_line_use_result *of = writer->run->sim.found[ANALYSIS_line_use];
    while (writer->use_width != 0 && *row < of->row_count && of->rows[*row].insn < insn)
        ++*row;
    for (; writer->use_width != 0 && *row < of->row_count && of->rows[*row].insn == insn; ++*row)
        callgrind_add_use(writer, of->rows[*row].level, cost + writer->call_width);
}

/* ------------------------------------------------------------------ what is written */

static enum c2_status callgrind_add_all(struct writer *writer, struct c2_error *err)
{
    const struct analyses_profile_result *profile = writer->run->sim.profile;
    const uint32_t width = writer->events.count;
    size_t row = 0, use_row = 0;
    writer->lines = c2_calloc(profile->insn_count + 1, sizeof *writer->lines);
    writer->costs = c2_calloc((profile->insn_count + 1) * width, sizeof *writer->costs);
    if (!writer->lines || !writer->costs)
        return c2_fail_memory(err, "a profile");
    for (; writer->line_count < profile->insn_count; writer->line_count++) {
        uint64_t *cost = &writer->costs[writer->line_count * width];
        analyses_events_of(&writer->events, profile, (uint32_t)writer->line_count, &row, cost);
        add_use_of(writer, (uint32_t)writer->line_count, &use_row, cost);
        if (writer->writebacks < width)
            export_writebacks_of(writer->run, writer->line_count, cost + writer->writebacks);
        writer->lines[writer->line_count] = (struct line){
            .pc = profile->insns[writer->line_count].pc, .place = writer->places[writer->line_count], .cost = cost};
    }
    return C2_OK;
}

/* The same by context. */
static enum c2_status add_contexts(struct writer *writer, const struct analyses_contexts *contexts,
                                   struct c2_error *err)
{
    enum c2_status status = C2_OK;
    writer->lines = c2_calloc(contexts->row_count + 1, sizeof *writer->lines);
    if (!writer->lines)
        return c2_fail_memory(err, "a profile");
    for (size_t i = 0; i < contexts->row_count && status == C2_OK; i++) {
        const struct analyses_context_row *row = &contexts->rows[i];
        if (!callgrind_is_wanted(writer, row->context))
            continue;
        struct line *line = &writer->lines[writer->line_count++];
        *line = (struct line){row->context, row->pc,
                              writer->places[analyses_profile_insn(writer->run->sim.profile, row->pc)], row->cost};
        status = export_in_context(&writer->names, row->context, &line->place, err);
    }
    return status;
}

static enum c2_status callgrind_add_lines(struct writer *writer, struct c2_error *err)
{
    const struct analyses_contexts *contexts = calls_of(writer->run)->contexts;
    enum c2_status status = contexts ? add_contexts(writer, contexts, err) : callgrind_add_all(writer, err);
    for (size_t i = 0; i < writer->line_count && status == C2_OK; i++)
        for (uint32_t event = 0; event < writer->events.count; event++)
            writer->totals[event] += writer->lines[i].cost[event];
    return status;
}

static enum c2_status place_end(struct writer *writer, struct guest_va pc, uint32_t context, struct export_place *out,
                                struct c2_error *err)
{
    enum c2_status status = export_place_of(&writer->names, pc, out, err);
    if (status != C2_OK || !calls_of(writer->run)->contexts)
        return status;
    return export_in_context(&writer->names, context, out, err);
}

static enum c2_status place_calls(struct writer *writer, struct c2_error *err)
{
    const struct analyses_callgraph_result *calls = calls_of(writer->run);
    enum c2_status status = C2_OK;
    writer->callers = c2_calloc(calls->arc_count + 1, sizeof *writer->callers);
    writer->callees = c2_calloc(calls->arc_count + 1, sizeof *writer->callees);
    if (!writer->callers || !writer->callees)
        return c2_fail_memory(err, "the names of a profile");
    for (size_t i = 0; i < calls->arc_count && status == C2_OK; i++) {
        const struct analyses_arc *arc = &calls->arcs[i];
        status = place_end(writer, arc->from, arc->from_context, &writer->callers[i], err);
        if (status == C2_OK)
            status = place_end(writer, arc->to, arc->to_context, &writer->callees[i], err);
    }
    return status;
}

static enum c2_status place_jumps(struct writer *writer, struct c2_error *err)
{
    const struct analyses_jumps_result *jumps = writer->run->sim.found[ANALYSIS_jumps];
    enum c2_status status = C2_OK;
    writer->targets = c2_calloc((jumps ? jumps->count : 0) + 1, sizeof *writer->targets);
    if (!writer->targets)
        return c2_fail_memory(err, "the names of a profile");
    for (size_t i = 0; jumps && i < jumps->count && status == C2_OK; i++)
        status = export_place_of(&writer->names, jumps->list[i].to, &writer->targets[i], err);
    return status;
}

static enum c2_status callgrind_prepare(struct writer *writer, const struct report_run *run, uint32_t thread,
                                        struct c2_error *err)
{
    *writer = (struct writer){.run = run, .thread = thread};
    analyses_events_init(&writer->events, run->sim.machine);
    writer->call_width = writer->events.count;
    add_use_events(writer);
    writer->writebacks = writer->events.count;
    if (!calls_of(run)->contexts)
        export_writeback_events(&writer->events, run);
    enum c2_status status = export_names_create(&writer->names, run, err);
    if (status == C2_OK)
        status = export_places(&writer->places, &writer->names, err);
    if (status == C2_OK)
        status = callgrind_add_lines(writer, err);
    if (status == C2_OK)
        status = place_calls(writer, err);
    return status == C2_OK ? place_jumps(writer, err) : status;
}

/* ------------------------------------------------------------------ writing */

static bool callgrind_is_before(const struct analyses_arc *arc, uint32_t context, uint64_t pc)
{
    return arc->from_context != context ? arc->from_context < context : arc->from.v < pc;
}

/* Calls that come before this instruction, from number `arc` on. Returns the number of the next. */
static size_t write_calls(struct export_body *body, const struct writer *writer, size_t arc, uint32_t context,
                          uint64_t pc)
{
    const struct analyses_callgraph_result *calls = calls_of(writer->run);
    for (; arc < calls->arc_count && callgrind_is_before(&calls->arcs[arc], context, pc); arc++)
        if (callgrind_is_wanted(writer, calls->arcs[arc].from_context))
            export_call(body, &writer->callers[arc], &writer->callees[arc], calls->arcs[arc].calls,
                        calls->arcs[arc].cost, writer->call_width);
    return arc;
}

/* The jumps of this instruction, from number `jump` on, but for those that leave its function, which are calls. Returns
 * the number of the next. */
static size_t write_jumps(struct export_body *body, const struct writer *writer, size_t jump, const struct line *line)
{
    const struct analyses_jumps_result *jumps = writer->run->sim.found[ANALYSIS_jumps];
    while (jumps && jump < jumps->count && jumps->list[jump].from.v < line->pc.v)
        jump++;
    for (; jumps && jump < jumps->count && jumps->list[jump].from.v == line->pc.v; jump++)
        if (writer->targets[jump].function == line->place.function)
            export_jump(body, &line->place, &writer->targets[jump], &jumps->list[jump]);
    return jump;
}

/* Calls are written behind the instruction they come from: both are in one order. One that faulted and never completed
 * has calls (of a signal's handler) and no cost. */
static void callgrind_write_body(FILE *to, struct writer *writer)
{
    const uint32_t width = writer->events.count;
    struct export_body body = {.to = to, .names = &writer->names};
    size_t arc = 0, jump = 0;
    for (size_t i = 0; i < writer->line_count; i++) {
        const struct line *line = &writer->lines[i];
        arc = write_calls(&body, writer, arc, line->context, line->pc.v);
        export_self(&body, &line->place, line->cost, width);
        jump = write_jumps(&body, writer, jump, line);
        arc = write_calls(&body, writer, arc, line->context, line->pc.v + 1);
    }
    write_calls(&body, writer, arc, UINT32_MAX, UINT64_MAX);
    export_totals(&body, writer->totals, width);
}

enum c2_status report_callgrind_of(FILE *to, const struct report_run *run, uint32_t thread, struct c2_error *err)
{
    struct writer writer;
    enum c2_status status = callgrind_prepare(&writer, run, thread, err);
    if (status == C2_OK) {
        export_header(to, run, thread, false, writer.events.list, writer.events.count, writer.totals);
        callgrind_write_body(to, &writer);
        status = export_written(to, err);
    }
    export_names_release(&writer.names);
    c2_free(writer.places);
    c2_free(writer.lines);
    c2_free(writer.costs);
    c2_free(writer.callers);
    c2_free(writer.callees);
    c2_free(writer.targets);
    return status;
}

enum c2_status report_callgrind(FILE *to, const struct report_run *run, struct c2_error *err)
{
    return report_callgrind_of(to, run, 0, err);
}
