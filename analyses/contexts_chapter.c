/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * contexts_chapter: functions that are told apart by arguments, recursion and callers: what each cost, alone and with
 * what it called, and the cycles of the calls.
 *
 * Model
 *   A context is called as Callgrind does: FUNCTION'LEVEL'CALLER..., the level from the second one on, callers nearest
 *   first; behind each function ":i=4" what it was called with. They come by what they cost themselves: an instruction
 *   is a cycle, a miss what it is in all reports.
 *   The text has the first rows; where arguments are told apart, of functions that have some. The JSON has LISTED of
 *   them, and cycles with them; with --by loop what each context cost itself by the innermost loop.
 */
#include "analyses/chapter.h"
#include "analyses/contexts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 7u
#define LISTED 2000u

static const struct analyses_contexts *contexts_of(const struct analyses_run *run)
{
    const struct analyses_callgraph_result *calls = run->found[ANALYSIS_callgraph];
    return calls ? calls->contexts : NULL;
}

/* ------------------------------------------------------------------ names */

static const char *function_text(struct c2_pool *pool, const struct analyses_run *run, uint32_t symbol)
{
    struct loader_place place = {.function = NULL};
    const struct guest_va entry = contexts_of(run)->symbols[symbol].entry;
    if (run->symbols && entry.v != 0)
        loader_symbol_of(run->symbols, entry, &place);
    if (place.function)
        return c2_pool_format(pool, "%s", place.function);
    return place.object ? c2_pool_format(pool, "unnamed in %s", place.object) : "unnamed code";
}

const char *names_symbol_text(struct c2_pool *pool, const struct analyses_run *run, uint32_t symbol)
{
    const char *function = function_text(pool, run, symbol);
    const char *arguments = contexts_of(run)->symbols[symbol].arguments;
    return function && *arguments != '\0' ? c2_pool_format(pool, "%s%s", function, arguments) : function;
}

const char *names_context_suffix(struct c2_pool *pool, const struct analyses_run *run,
                                 const struct analyses_context *context)
{
    const char *text = contexts_of(run)->symbols[context->symbol].arguments;
    if (context->level > 1)
        text = c2_pool_format(pool, "%s'%" PRIu32, text, context->level);
    for (uint32_t i = 0; i < context->caller_count && text; i++) {
        const char *caller = names_symbol_text(pool, run, context->callers[i]);
        text = caller ? c2_pool_format(pool, "%s'%s", text, caller) : NULL;
    }
    return text;
}

/* ------------------------------------------------------------------ by cost */

struct ranked {
    uint32_t context;
    uint64_t cycles;
};

static uint64_t cycles_of(const struct analyses_events *events, const uint64_t *cost)
{
    uint64_t cycles = cost[ANALYSES_IR];
    for (uint32_t i = 0; i < events->count; i++)
        cycles += cost[i] * events->list[i].cycles;
    return cycles;
}

static int by_cycles(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->cycles != y->cycles)
        return x->cycles > y->cycles ? -1 : 1;
    return (x->context > y->context) - (x->context < y->context);
}

static bool was_there(const struct analyses_context *context)
{
    return context->calls != 0 || context->inclusive[ANALYSES_IR] != 0;
}

/* Those that were there in what is measured. NULL: no memory. */
static struct ranked *contexts_chapter_rank(const struct analyses_contexts *of, const struct analyses_events *events,
                                            uint32_t *count)
{
    struct ranked *list = c2_calloc(of->context_count + 1u, sizeof *list);
    *count = 0;
    for (uint32_t i = 0; i < of->context_count && list; i++)
        if (was_there(&of->contexts[i]))
            list[(*count)++] = (struct ranked){i, cycles_of(events, of->contexts[i].self)};
    if (list)
        qsort(list, *count, sizeof *list, by_cycles);
    return list;
}

/* ------------------------------------------------------------------ the JSON */

static void contexts_chapter_add_events(struct document *d, const char *key, const struct analyses_events *events,
                                        const uint64_t *cost)
{
    doc_group(d, DOC_JSON, key);
    for (uint32_t i = 0; i < events->count; i++)
        if (cost[i] != 0)
            doc_count(d, DOC_JSON, doc_keep(d, "%s", events->list[i].name), cost[i]);
    doc_close(d);
}

static void add_callers(struct document *d, const struct analyses_run *run, const struct analyses_context *context)
{
    if (context->caller_count == 0)
        return;
    doc_table(d, DOC_JSON, "callers");
    for (uint32_t i = 0; i < context->caller_count; i++)
        doc_string(d, DOC_JSON, NULL, names_symbol_text(&d->pool, run, context->callers[i]));
    doc_close(d);
}

/* ------------------------------------------------------------------ by loop */

/* A row of the context, or the sum of those of a loop. */
struct part {
    uint32_t loop; /* ANALYSES_NO_LOOP: in none */
    uint64_t cycles;
    const uint64_t *cost;
    uint64_t *sum; /* of a loop */
};

static int contexts_chapter_by_loop(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->loop != y->loop)
        return x->loop < y->loop ? -1 : 1;
    return (x->cost > y->cost) - (x->cost < y->cost);
}

static int contexts_chapter_by_part(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->cycles != y->cycles)
        return x->cycles > y->cycles ? -1 : 1;
    return (x->loop > y->loop) - (x->loop < y->loop);
}

/* Rows first .. end - 1 become one a loop, the dearest first; returns how many. sums: zeros, for each of them. */
static size_t sum_parts(struct part *parts, size_t count, uint64_t *sums, const struct analyses_events *events)
{
    size_t kept = 0;
    qsort(parts, count, sizeof *parts, contexts_chapter_by_loop);
    for (size_t i = 0; i < count; i++) {
        const bool another = kept == 0 || parts[kept - 1].loop != parts[i].loop;
        if (another)
            parts[kept++] = (struct part){parts[i].loop, 0, parts[i].cost, &sums[i * events->count]};
        for (uint32_t event = 0; event < events->count; event++)
            parts[kept - 1].sum[event] += parts[i].cost[event];
    }
    for (size_t i = 0; i < kept; i++)
        parts[i].cycles = cycles_of(events, parts[i].sum);
    qsort(parts, kept, sizeof *parts, contexts_chapter_by_part);
    return kept;
}

static void contexts_chapter_add_parts(struct document *d, const struct analyses_run *run,
                                       const struct analyses_events *events, const struct part *parts, size_t count)
{
    const struct analyses_loops_result *loops = run->found[ANALYSIS_loops];
    for (size_t i = 0; i < count; i++) {
        const struct analyses_loop *loop = parts[i].loop == ANALYSES_NO_LOOP ? NULL : &loops->loops[parts[i].loop];
        struct loader_place place;
        if (loop)
            names_loop_place(&place, run, loop);
        doc_group(d, DOC_JSON, NULL);
        chapter_add_loop_name(d, &place, loop);
        contexts_chapter_add_events(d, "self", events, parts[i].sum);
        doc_close(d);
    }
}

/* Rows are by context. */
static size_t first_row(const struct analyses_contexts *of, uint32_t context)
{
    size_t low = 0, high = of->row_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (of->rows[middle].context < context)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct part contexts_chapter_part_of(const struct analyses_run *run, const struct analyses_context_row *row)
{
    const struct analyses_loops_result *loops = run->found[ANALYSIS_loops];
    return (struct part){.loop = loops->loop_of[analyses_profile_insn(run->profile, row->pc)], .cost = row->cost};
}

static void contexts_chapter_add_loops(struct document *d, const struct analyses_run *run,
                                       const struct analyses_events *events, uint32_t context)
{
    const struct analyses_contexts *of = contexts_of(run);
    const size_t first = first_row(of, context), count = first_row(of, context + 1) - first;
    struct part *parts = c2_calloc(count + 1, sizeof *parts);
    uint64_t *sums = c2_calloc((count + 1) * events->count, sizeof *sums);
    d->failed |= !parts || !sums;
    doc_table(d, DOC_JSON, "loops");
    if (parts && sums) {
        for (size_t i = 0; i < count; i++)
            parts[i] = contexts_chapter_part_of(run, &of->rows[first + i]);
        contexts_chapter_add_parts(d, run, events, parts, sum_parts(parts, count, sums, events));
    }
    doc_close(d);
    c2_free(parts);
    c2_free(sums);
}

/* ------------------------------------------------------------------ a context */

static const char *cycle_name(struct document *d, uint32_t cycle) { return doc_keep(d, "<cycle %" PRIu32 ">", cycle); }

static void contexts_chapter_add_context(struct document *d, const struct analyses_run *run,
                                         const struct analyses_events *events, const struct analyses_context *context,
                                         const char *name)
{
    const struct analyses_symbol *symbol = &contexts_of(run)->symbols[context->symbol];
    doc_string(d, DOC_JSON, "name", name);
    doc_string(d, DOC_JSON, "function", function_text(&d->pool, run, context->symbol));
    if (*symbol->arguments != '\0')
        doc_string(d, DOC_JSON, "arguments", symbol->arguments + 1);
    doc_count(d, DOC_JSON, "level", context->level);
    if (context->thread != 0)
        doc_count(d, DOC_JSON, "thread", context->thread);
    add_callers(d, run, context);
    if (context->cycle != 0)
        doc_string(d, DOC_JSON, "cycle", cycle_name(d, context->cycle));
    doc_count(d, DOC_BOTH, "calls", context->calls);
    contexts_chapter_add_events(d, "self", events, context->self);
    contexts_chapter_add_events(d, "inclusive", events, context->inclusive);
    if (run->found[ANALYSIS_loops])
        contexts_chapter_add_loops(d, run, events, (uint32_t)(context - contexts_of(run)->contexts));
}

static void add_cycles(struct document *d, const struct analyses_contexts *of, const struct analyses_events *events)
{
    doc_table(d, DOC_JSON, "cycles");
    for (uint32_t i = 0; i < of->cycle_count; i++) {
        doc_group(d, DOC_JSON, NULL);
        doc_string(d, DOC_JSON, "name", cycle_name(d, i + 1));
        doc_count(d, DOC_JSON, "contexts", of->cycles[i].contexts);
        doc_count(d, DOC_JSON, "calls", of->cycles[i].calls);
        contexts_chapter_add_events(d, "self", events, of->cycles[i].self);
        contexts_chapter_add_events(d, "inclusive", events, of->cycles[i].inclusive);
        doc_close(d);
    }
    doc_close(d);
}

/* ------------------------------------------------------------------ the text */

static void note_contexts(struct document *d, const struct analyses_contexts *of, uint32_t count)
{
    const struct analyses_separation *by = of->separation;
    doc_note(d, DOC_KEY, "contexts", "%s of functions, told apart by", doc_digits(d, count));
    for (uint32_t i = 0; i < by->parameter_count; i++)
        doc_say(d, "%s %s", i == 0 ? "" : ",", by->parameters[i].asked);
    if (by->callers != 0)
        doc_say(d, "%s %" PRIu32 " caller%s", by->parameter_count != 0 ? "," : "", by->callers,
                by->callers == 1 ? "" : "s");
    if (by->recursions != 1 || (by->callers == 0 && by->parameter_count == 0))
        doc_say(d, "%s %" PRIu32 " level%s of recursion", by->parameter_count != 0 || by->callers != 0 ? "," : "",
                by->recursions, by->recursions == 1 ? "" : "s");
    if (of->cycle_count != 0)
        doc_say(d, "; %" PRIu32 " cycle%s of calls", of->cycle_count, of->cycle_count == 1 ? "" : "s");
}

static void contexts_chapter_add_columns(struct document *d)
{
    static const struct doc_column columns[] = {{.heading = "calls", .key = "calls"},
                                                {.heading = "instructions", .key = "alone", .spare = 1},
                                                {.heading = "with callees", .key = "together", .spare = 2},
                                                {.heading = "miss cycles", .key = "cycles"},
                                                {.heading = "context", .key = "words", .form = DOC_NAME}};
    doc_columns(d, columns, sizeof columns / sizeof columns[0], 0);
}

static void contexts_chapter_add_row(struct document *d, const struct analyses_context *context,
                                     const struct ranked *ranked, const char *name)
{
    doc_count(d, DOC_TEXT, "alone", context->self[ANALYSES_IR]);
    doc_count(d, DOC_TEXT, "together", context->inclusive[ANALYSES_IR]);
    doc_count(d, DOC_TEXT, "cycles", ranked->cycles - context->self[ANALYSES_IR]);
    if (context->cycle != 0)
        name = doc_keep(d, "%s %s", name, cycle_name(d, context->cycle));
    if (context->thread != 0)
        name = doc_keep(d, "%s, thread %" PRIu32, name, context->thread);
    doc_string(d, DOC_TEXT, "words", name);
}

/* Without parameters of C++, which would leave no room for what a context is about: "ns::f(...)". */
static const char *short_function(struct document *d, const char *function)
{
    const char *end = strrchr(function, ')');
    size_t open = 0;
    for (const char *at = end; at && at > function; at--) {
        open += *at == ')';
        open -= *at == '(';
        if (open == 0)
            return doc_keep(d, "%.*s(...)", (int)(at - function), function);
    }
    return function;
}

/* Of functions that no option tells apart the text has a table anyway. */
static bool contexts_chapter_is_wanted(const struct analyses_contexts *of, const struct analyses_context *context)
{
    const bool all = of->separation->callers != 0 || of->separation->parameter_count == 0;
    return all || *of->symbols[context->symbol].arguments != '\0';
}

static void contexts_chapter_add_table(struct document *d, const struct analyses_run *run,
                                       const struct analyses_events *events, const struct ranked *list, uint32_t count)
{
    const struct analyses_contexts *of = contexts_of(run);
    uint32_t shown = 0, others = 0;
    doc_table(d, DOC_BOTH, "contexts");
    contexts_chapter_add_columns(d);
    for (uint32_t i = 0; i < count; i++) {
        const struct analyses_context *context = &of->contexts[list[i].context];
        const bool wanted = contexts_chapter_is_wanted(of, context), shows = wanted && shown < ROWS;
        others += wanted && !shows;
        if (i >= LISTED && !shows)
            continue;
        const char *function = function_text(&d->pool, run, context->symbol);
        const char *suffix = names_context_suffix(&d->pool, run, context);
        d->failed |= !function || !suffix;
        function = function ? function : "";
        suffix = suffix ? suffix : "";
        doc_group(d, (shows ? DOC_TEXT : 0) | (i < LISTED ? DOC_JSON : 0), NULL);
        contexts_chapter_add_context(d, run, events, context, doc_keep(d, "%s%s", function, suffix));
        if (shows)
            contexts_chapter_add_row(d, context, &list[i], doc_keep(d, "%s%s", short_function(d, function), suffix));
        doc_close(d);
        shown += shows;
    }
    doc_close(d);
    if (others != 0)
        doc_note(d, DOC_LINE, NULL, "and %s other%s", doc_digits(d, others), others == 1 ? "" : "s");
}

static void add_contexts_chapter(struct document *d, struct digest *digest)
{
    const struct analyses_contexts *of = contexts_of(digest->run);
    struct analyses_events events;
    uint32_t count;
    if (!of)
        return;
    analyses_events_init(&events, digest->run->machine);
    struct ranked *list = contexts_chapter_rank(of, &events, &count);
    if (!list) {
        d->failed = true;
        return;
    }
    note_contexts(d, of, count);
    contexts_chapter_add_table(d, digest->run, &events, list, count);
    if (count > LISTED)
        doc_count(d, DOC_JSON, "contexts_left_out", count - LISTED);
    add_cycles(d, of, &events);
    c2_free(list);
}

const struct analysis_chapter analyses_contexts_chapter = {
    .add = add_contexts_chapter, .profiled = true, .in = DOC_BOTH, .place = 8, .order = 230};
