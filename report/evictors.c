/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * evictors: what evicted what, in Callgrind's format.
 *
 * Model
 *   What stands for a function is an object: a variable, a block, the code of a file. Its lines are the lines of the
 *   program's source that missed it, and their costs are conflict misses, one event for each level. What stands for a
 *   call goes from the object that was missed, at such a line, to the object whose access had taken the line away;
 *   "called" is how often that led to a conflict miss, and the cost of the call is those misses. Where no evictor is
 *   known the callee is "nobody known". Two objects of one name are told apart by their addresses.
 *   There are no addresses of instructions: an object is accessed by the code of many files.
 *
 * Counting
 *   The costs of all lines together are the conflict misses of the report, and so are the costs of all calls: the same
 *   misses by victim, and by victim and evictor. Tools that add calls to the caller's own cost ("inclusive") count each
 *   of them twice.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/export_priv.h"
#include "report/report_priv.h"

/* Misses of one object at one line because of another object. */
struct pair {
    uint32_t victim, evictor; /* objects; the evictor may be ANALYSES_NOBODY */
    uint32_t file;            /* of the line */
    int line;
    uint32_t level;
    uint64_t count;
};

struct writer {
    const struct report_run *run;
    struct analyses_event events[ANALYSES_LEVELS];
    uint32_t event_of[ANALYSES_LEVELS]; /* [level]: in the order of the reports */
    uint32_t width;
    struct export_names names;
    struct export_place *places; /* of instructions */
    struct export_place *nodes;  /* of objects, and behind them "nobody known" */
    struct pair *pairs;          /* by victim, file, line, evictor */
    size_t pair_count;
    uint64_t totals[ANALYSES_LEVELS];
};

static void choose_events(struct writer *writer)
{
    struct digest_level levels[DIGEST_LEVELS];
    struct analyses_events all;
    analyses_events_init(&all, writer->run->sim.machine);
    writer->width = (uint32_t)digest_levels(levels, &writer->run->sim);
    for (uint32_t i = 0; i < writer->width; i++) {
        const uint32_t number = levels[i].code ? writer->run->sim.machine->level_count : levels[i].depth;
        writer->event_of[number] = i;
        writer->events[i] = all.list[all.by_class[number][ANALYSES_CONFLICT]];
    }
}

/* By victim and line alone. */
static int evictors_by_line(const struct pair *a, const struct pair *b)
{
    if (a->victim != b->victim)
        return a->victim < b->victim ? -1 : 1;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

static int by_objects(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    const int order = evictors_by_line(a, b);
    return order != 0 ? order : (a->evictor > b->evictor) - (a->evictor < b->evictor);
}

static enum c2_status list_pairs(struct writer *writer, struct c2_error *err)
{
    const struct analyses_profile_result *profile = writer->run->sim.profile;
    writer->pairs = c2_calloc(profile->pair_count + 1, sizeof *writer->pairs);
    if (!writer->pairs)
        return c2_fail_memory(err, "who evicted whom");
    writer->pair_count = profile->pair_count;
    for (size_t i = 0; i < profile->pair_count; i++) {
        const struct analyses_pair *from = &profile->pairs[i];
        const struct export_place *place = &writer->places[profile->rows[from->victim].insn];
        const bool known = from->evictor != ANALYSES_NOBODY;
        writer->pairs[i] = (struct pair){.victim = profile->rows[from->victim].object,
                                         .evictor = known ? profile->rows[from->evictor].object : ANALYSES_NOBODY,
                                         .file = place->file,
                                         .line = place->line,
                                         .level = writer->event_of[from->level],
                                         .count = from->count};
    }
    qsort(writer->pairs, writer->pair_count, sizeof *writer->pairs, by_objects);
    return C2_OK;
}

static enum c2_status name_node(struct writer *writer, uint32_t number, struct c2_error *err)
{
    const struct analyses_object *object = &writer->run->sim.profile->objects[number];
    struct export_place *node = &writer->nodes[number];
    char text[512];
    bool taken;
    if (node->function != 0)
        return C2_OK;
    names_object_text(text, sizeof text, &writer->run->sim, object);
    enum c2_status status = export_node(&writer->names, text, node, &taken, err);
    if (status != C2_OK || !taken)
        return status;
    const size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, " at 0x%" PRIx64, object->base);
    return export_node(&writer->names, text, node, &taken, err);
}

/* The objects that are in a pair. */
static enum c2_status name_nodes(struct writer *writer, struct c2_error *err)
{
    const size_t nobody = writer->run->sim.profile->object_count;
    bool taken;
    writer->nodes = c2_calloc(nobody + 1, sizeof *writer->nodes);
    if (!writer->nodes)
        return c2_fail_memory(err, "who evicted whom");
    enum c2_status status = export_node(&writer->names, "nobody known", &writer->nodes[nobody], &taken, err);
    for (size_t i = 0; i < writer->pair_count && status == C2_OK; i++) {
        status = name_node(writer, writer->pairs[i].victim, err);
        if (status == C2_OK && writer->pairs[i].evictor != ANALYSES_NOBODY)
            status = name_node(writer, writer->pairs[i].evictor, err);
    }
    return status;
}

static enum c2_status evictors_prepare(struct writer *writer, const struct report_run *run, struct c2_error *err)
{
    *writer = (struct writer){.run = run};
    choose_events(writer);
    enum c2_status status = export_names_create(&writer->names, run, err);
    if (status == C2_OK)
        status = export_places(&writer->places, &writer->names, err);
    if (status == C2_OK)
        status = list_pairs(writer, err);
    if (status == C2_OK)
        status = name_nodes(writer, err);
    for (size_t i = 0; i < writer->pair_count; i++)
        writer->totals[writer->pairs[i].level] += writer->pairs[i].count;
    return status;
}

/* Adds pairs from `at` on as long as victim and line, and evictor where `both`, are those of the first. Returns where
 * it ended. */
static size_t evictors_add_pairs(const struct writer *writer, size_t at, bool both, uint64_t *calls, uint64_t *cost)
{
    const struct pair *first = &writer->pairs[at];
    for (; at < writer->pair_count && evictors_by_line(&writer->pairs[at], first) == 0; at++) {
        if (both && writer->pairs[at].evictor != first->evictor)
            break;
        *calls += writer->pairs[at].count;
        cost[writer->pairs[at].level] += writer->pairs[at].count;
    }
    return at;
}

/* The victim's node, at the line of its first pair. */
static struct export_place victim_at(const struct writer *writer, size_t at)
{
    struct export_place place = writer->nodes[writer->pairs[at].victim];
    place.file = writer->pairs[at].file;
    place.line = writer->pairs[at].line;
    return place;
}

static void write_evictors(struct export_body *body, const struct writer *writer, size_t at, size_t end)
{
    const struct export_place victim = victim_at(writer, at);
    const size_t nobody = writer->run->sim.profile->object_count;
    while (at < end) {
        const uint32_t evictor = writer->pairs[at].evictor;
        uint64_t calls = 0, cost[ANALYSES_LEVELS] = {0};
        at = evictors_add_pairs(writer, at, true, &calls, cost);
        export_call(body, &victim, &writer->nodes[evictor == ANALYSES_NOBODY ? nobody : evictor], calls, cost,
                    writer->width);
    }
}

static void evictors_write_body(FILE *to, struct writer *writer)
{
    struct export_body body = {.to = to, .names = &writer->names, .lines_only = true};
    for (size_t at = 0; at < writer->pair_count;) {
        uint64_t calls = 0, cost[ANALYSES_LEVELS] = {0};
        const size_t end = evictors_add_pairs(writer, at, false, &calls, cost);
        const struct export_place victim = victim_at(writer, at);
        export_self(&body, &victim, cost, writer->width);
        write_evictors(&body, writer, at, end);
        at = end;
    }
    export_totals(&body, writer->totals, writer->width);
}

enum c2_status report_evictors(FILE *to, const struct report_run *run, struct c2_error *err)
{
    struct writer writer;
    enum c2_status status = evictors_prepare(&writer, run, err);
    if (status == C2_OK) {
        export_header(to, run, 0, true, writer.events, writer.width, writer.totals);
        evictors_write_body(to, &writer);
        status = export_written(to, err);
    }
    export_names_release(&writer.names);
    c2_free(writer.places);
    c2_free(writer.nodes);
    c2_free(writer.pairs);
    return status;
}
