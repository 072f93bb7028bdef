/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * stacks: what each stack of calls has cost, as flame graphs are made of it.
 *
 * Model
 *   Folded: a line for each stack that has cost anything by itself: its functions from the outside in, with ; between
 *   them, a space, and the number. A ; in a name (Rust's arrays have one) is written as a :, the ends of lines as
 *   spaces. Of one event: one of the profiles' (analyses_events), or waitCycles, what all of them would wait. Stacks of
 *   the same names may have several lines, which readers add.
 *   Functions are those whose symbols hold the code, as in profiles (export.c); of a thread's own first one, the one
 *   that its first instruction is in.
 *
 * Invariants
 *   The sum over all lines is the event's sum in the report.
 *
 * Source: stackcollapse-*.pl and flamegraph.pl of Brendan Gregg's FlameGraph, for the form.
 */
#include <inttypes.h>
#include <string.h>

#include "report/export_priv.h"
#include "report/stacks_priv.h"

static const char usual[] = "waitCycles";

uint64_t report_stack_waits(const struct analyses_events *events, const uint64_t *cost)
{
    uint64_t cycles = 0;
    for (uint32_t i = 0; i < events->count; i++)
        cycles += events->list[i].cycles * cost[i];
    return cycles;
}

const char *report_stack_waits_name(void) { return usual; }

/* The event's number; that of all events: what they wait; above: there is none of this name. */
static uint32_t event_of(const struct analyses_events *events, const char *name)
{
    uint32_t i = 0;
    if (!name || strcmp(name, usual) == 0)
        return events->count;
    while (i < events->count && strcmp(events->list[i].name, name) != 0)
        i++;
    return i < events->count ? i : UINT32_MAX;
}

enum c2_status report_folded_check(const struct caches_machine *machine, const char *event, struct c2_error *err)
{
    struct analyses_events events;
    const char *known[ANALYSES_EVENTS + 1] = {usual};
    char hint[512];
    analyses_events_init(&events, machine);
    if (event_of(&events, event) != UINT32_MAX)
        return C2_OK;
    for (uint32_t i = 0; i < events.count; i++)
        known[i + 1] = events.list[i].name;
    return c2_fail(err, C2_ERR_INVALID, "--folded-event: the machine has no event \"%s\"%s", event,
                   c2_suggest(hint, sizeof hint, event, known, events.count + 1));
}

/* ------------------------------------------------------------------ stacks with names */

enum c2_status report_stacks_create(struct report_stacks *out, const struct report_run *run, struct c2_error *err)
{
    const struct analyses_callgraph_result *calls = run->sim.found[ANALYSIS_callgraph];
    *out = (struct report_stacks){.list = calls->stacks, .count = calls->stack_count};
    analyses_events_init(&out->events, run->sim.machine);
    enum c2_status status = export_names_create(&out->names, run, err);
    out->places = c2_calloc(out->count + (size_t)1, sizeof *out->places);
    if (status == C2_OK && !out->places)
        status = c2_fail_memory(err, "the stacks of calls");
    for (uint32_t i = 0; i < out->count && status == C2_OK; i++)
        status = export_place_of(&out->names, out->list[i].at, &out->places[i], err);
    return status;
}

void report_stacks_release(struct report_stacks *stacks)
{
    export_names_release(&stacks->names);
    c2_free(stacks->places);
}

const char *report_stack_name(const struct report_stacks *stacks, uint32_t stack)
{
    return stacks->names.functions[stacks->places[stack].function - 1].name;
}

/* ------------------------------------------------------------------ folded */

static void stacks_write_name(FILE *to, const char *name)
{
    for (; *name != '\0'; name++)
        putc(*name == ';' ? ':' : *name == '\n' || *name == '\r' ? ' ' : *name, to);
}

static void write_stack(FILE *to, const struct report_stacks *stacks, uint32_t stack, uint64_t count)
{
    uint32_t path[ANALYSES_STACK_DEPTH], depth = 0;
    for (uint32_t at = stack; at != UINT32_MAX; at = stacks->list[at].parent)
        path[depth++] = at;
    while (depth-- > 0) {
        stacks_write_name(to, report_stack_name(stacks, path[depth]));
        putc(depth == 0 ? ' ' : ';', to);
    }
    fprintf(to, "%" PRIu64 "\n", count);
}

enum c2_status report_folded(FILE *to, const struct report_run *run, struct c2_error *err)
{
    struct report_stacks stacks;
    enum c2_status status = report_stacks_create(&stacks, run, err);
    const uint32_t event = event_of(&stacks.events, run->folded_event);
    for (uint32_t i = 0; i < stacks.count && status == C2_OK; i++) {
        const uint64_t *cost = stacks.list[i].cost;
        const uint64_t count = event == stacks.events.count ? report_stack_waits(&stacks.events, cost) : cost[event];
        if (count != 0)
            write_stack(to, &stacks, i, count);
    }
    if (status == C2_OK)
        status = export_written(to, err);
    report_stacks_release(&stacks);
    return status;
}
