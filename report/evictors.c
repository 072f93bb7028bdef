/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * evictors: who evicted whom, in Callgrind's format.
 *
 * Model
 *   The cost of an instruction is its conflict misses, one event for each level. What stands for a call goes from the
 *   instruction that misses to the one that took its line away; "called" is how often that led to a conflict miss, and
 *   the cost of the call is those misses. Where nobody is known the callee is "nobody known".
 *
 * Counting
 *   The costs of all instructions together are the conflict misses of the report, and so are the costs of all calls:
 *   the same misses by victim, and by victim and evictor. Tools that add calls to the caller's own cost ("inclusive")
 *   count each of them twice.
 */
#include <stdlib.h>
#include <string.h>

#include "report/export_priv.h"

/* Misses of one instruction because of another, of all objects. */
struct pair {
    uint32_t victim, evictor; /* instructions; the evictor may be ANALYSES_NOBODY */
    uint32_t level;
    uint64_t count;
};

struct writer {
    const struct report_run *run;
    struct analyses_event events[ANALYSES_LEVELS];
    uint32_t event_of[ANALYSES_LEVELS]; /* [level]: in the order of the reports */
    uint32_t width;
    struct export_names names;
    struct export_place *places, nobody;
    struct pair *pairs; /* by victim, evictor */
    size_t pair_count;
    uint64_t totals[ANALYSES_LEVELS];
};

static void choose_events(struct writer *writer)
{
    struct report_level levels[REPORT_MAX_LEVELS];
    struct analyses_events all;
    analyses_events_init(&all, writer->run->machine);
    writer->width = (uint32_t)report_levels(levels, writer->run);
    for (uint32_t i = 0; i < writer->width; i++) {
        const uint32_t number = levels[i].code ? writer->run->machine->level_count : levels[i].depth;
        writer->event_of[number] = i;
        writer->events[i] = all.list[all.by_class[number][ANALYSES_CONFLICT]];
    }
}

static int by_instructions(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->victim != y->victim)
        return x->victim < y->victim ? -1 : 1;
    return (x->evictor > y->evictor) - (x->evictor < y->evictor);
}

static enum c2_status list_pairs(struct writer *writer, struct c2_error *err)
{
    const struct analyses_profile_result *profile = writer->run->profile;
    writer->pairs = c2_calloc(profile->pair_count + 1, sizeof *writer->pairs);
    if (!writer->pairs)
        return c2_fail_memory(err, "who evicted whom");
    writer->pair_count = profile->pair_count;
    for (size_t i = 0; i < profile->pair_count; i++) {
        const struct analyses_pair *from = &profile->pairs[i];
        const uint32_t evictor = from->evictor == ANALYSES_NOBODY ? from->evictor : profile->rows[from->evictor].insn;
        writer->pairs[i] = (struct pair){profile->rows[from->victim].insn, evictor, writer->event_of[from->level],
                                         from->count};
    }
    qsort(writer->pairs, writer->pair_count, sizeof *writer->pairs, by_instructions);
    return C2_OK;
}

static enum c2_status prepare(struct writer *writer, const struct report_run *run, struct c2_error *err)
{
    *writer = (struct writer){.run = run};
    choose_events(writer);
    enum c2_status status = export_names_create(&writer->names, run, err);
    if (status == C2_OK)
        status = export_places(&writer->places, &writer->names, err);
    if (status == C2_OK)
        status = export_nobody(&writer->names, &writer->nobody, err);
    if (status == C2_OK)
        status = list_pairs(writer, err);
    for (size_t i = 0; i < writer->pair_count; i++)
        writer->totals[writer->pairs[i].level] += writer->pairs[i].count;
    return status;
}

/* Adds pairs from `at` on as long as victim, and evictor where `both`, are those of the first. Returns where it
 * ended. */
static size_t add_pairs(const struct writer *writer, size_t at, bool both, uint64_t *calls, uint64_t *cost)
{
    const struct pair *first = &writer->pairs[at];
    for (; at < writer->pair_count && writer->pairs[at].victim == first->victim; at++) {
        if (both && writer->pairs[at].evictor != first->evictor)
            break;
        *calls += writer->pairs[at].count;
        cost[writer->pairs[at].level] += writer->pairs[at].count;
    }
    return at;
}

static void write_victim(struct export_body *body, const struct writer *writer, size_t at, size_t end)
{
    const struct export_place *victim = &writer->places[writer->pairs[at].victim];
    while (at < end) {
        const uint32_t evictor = writer->pairs[at].evictor;
        uint64_t calls = 0, cost[ANALYSES_LEVELS] = {0};
        at = add_pairs(writer, at, true, &calls, cost);
        export_call(body, victim, evictor == ANALYSES_NOBODY ? &writer->nobody : &writer->places[evictor], calls, cost,
                    writer->width);
    }
}

static void write_body(FILE *to, struct writer *writer)
{
    struct export_body body = {.to = to, .names = &writer->names};
    for (size_t at = 0; at < writer->pair_count;) {
        uint64_t calls = 0, cost[ANALYSES_LEVELS] = {0};
        const size_t end = add_pairs(writer, at, false, &calls, cost);
        export_self(&body, &writer->places[writer->pairs[at].victim], cost, writer->width);
        write_victim(&body, writer, at, end);
        at = end;
    }
    export_totals(&body, writer->totals, writer->width);
}

enum c2_status report_evictors(FILE *to, const struct report_run *run, struct c2_error *err)
{
    struct writer writer;
    enum c2_status status = prepare(&writer, run, err);
    if (status == C2_OK) {
        export_header(to, run, writer.events, writer.width, writer.totals);
        write_body(to, &writer);
        status = export_written(to, err);
    }
    export_names_release(&writer.names);
    c2_free(writer.places);
    c2_free(writer.pairs);
    return status;
}
