/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * json_profile: the keys conflicts, reasons, cost, objects, functions and lines of report.json.
 *
 * Model
 *   conflicts: one entry a victim (an instruction and the object it missed in, at one level) with its originators. A
 *   list that is longer than its limit ends with an entry that has the key `rest` and the sums of all that was not
 *   listed. Levels without a miss are left out of objects, functions and lines. Costs are cycles.
 *
 * Invariants
 *   Sums over a list are whole whatever its limit: the counts of a level's conflicts are its conflict misses, those of
 *   an entry's originators are the entry's; objects, functions and lines have all misses of a level and all the cost.
 */
#include <inttypes.h>

#include "report/json_priv.h"
#include "report/profile_priv.h"

/* Entries of each list; some 300 bytes each. */
#define VICTIMS 200 /* of a level */
#define ORIGINATORS 10
#define OBJECTS 500
#define FUNCTIONS 1000
#define LINES 200
#define FRAMES 16 /* of a chain of inlined calls, innermost first */

/* ------------------------------------------------------------------ places */

static void add_address(struct builder *b, json_t *object, const char *key, uint64_t address)
{
    char text[24];
    snprintf(text, sizeof text, "0x%" PRIx64, address);
    add_text(b, object, key, text);
}

/* What is known of it. Without a function `address` is where it lies in the file as linked. */
static void add_place(struct builder *b, json_t *object, const struct loader_place *place)
{
    if (place->function)
        add_text(b, object, "function", place->function);
    if (place->file) {
        add_text(b, object, "file", place->file);
        add_count(b, object, "line", (uint64_t)place->line);
    }
    if (place->object)
        add_text(b, object, "module", place->object);
    if (place->object && !place->function)
        add_address(b, object, "address", place->offset);
}

static json_t *frame_of(struct builder *b, const struct loader_frame *frame)
{
    json_t *object = json_object();
    if (frame->function)
        add_text(b, object, "function", frame->function);
    if (frame->file) {
        add_text(b, object, "file", frame->file);
        add_count(b, object, "line", (uint64_t)frame->line);
    }
    return object;
}

/* The chain of calls that the compiler has inlined there, where there is one. */
static void add_inlined(struct builder *b, json_t *object, const struct report_run *run, struct guest_va pc)
{
    struct loader_frame frames[FRAMES];
    size_t count = run->symbols ? loader_frames_of(run->symbols, pc, frames, FRAMES) : 1;
    if (count < 2)
        return;
    json_t *array = json_array();
    for (size_t i = 0; i < count && i < FRAMES; i++)
        append(b, array, frame_of(b, &frames[i]));
    add(b, object, "inlined", array);
}

static json_t *insn_in_object(struct builder *b, const struct report_run *run, uint32_t row_number)
{
    const struct analyses_row *row = &run->profile->rows[row_number];
    const struct guest_va pc = run->profile->insns[row->insn].pc;
    struct loader_place place;
    json_t *object = json_object();
    report_place(&place, run, pc);
    add_address(b, object, "pc", pc.v);
    add_place(b, object, &place);
    add_inlined(b, object, run, pc);
    add_text(b, object, "object", run->profile->objects[row->object].name);
    return object;
}

/* ------------------------------------------------------------------ conflicts */

static json_t *originator(struct builder *b, const struct report_run *run, const struct analyses_pair *pair)
{
    json_t *object = pair->evictor == ANALYSES_NOBODY ? json_object() : insn_in_object(b, run, pair->evictor);
    add_text(b, object, "reason", analyses_reason_name(pair->reason));
    add_count(b, object, "count", pair->count);
    return object;
}

static json_t *originators(struct builder *b, const struct report_run *run, const struct report_victim *victim)
{
    json_t *array = json_array();
    uint64_t rest = victim->count;
    for (size_t i = 0; i < victim->pair_count && i < ORIGINATORS; i++) {
        append(b, array, originator(b, run, victim->pairs[i]));
        rest -= victim->pairs[i]->count;
    }
    if (victim->pair_count > ORIGINATORS) {
        json_t *object = json_object(), *what = json_object();
        add_count(b, what, "originators", victim->pair_count - ORIGINATORS);
        add(b, object, "rest", what);
        add_count(b, object, "count", rest);
        append(b, array, object);
    }
    return array;
}

static json_t *conflict(struct builder *b, const struct report_run *run, const struct report_digest *digest,
                        const struct report_victim *victim)
{
    json_t *object = json_object();
    add_text(b, object, "level", digest->levels[victim->level].level->name);
    add_count(b, object, "count", victim->count);
    if (run->profile->compared)
        add_count(b, object, "placement",
                  run->profile->rows[victim->row].level[digest->levels[victim->level].number].placement);
    add(b, object, "miss", insn_in_object(b, run, victim->row));
    add(b, object, "originators", originators(b, run, victim));
    return object;
}

static json_t *other_conflicts(struct builder *b, const char *level, const struct report_victim *victims, size_t count)
{
    json_t *object = json_object(), *what = json_object();
    uint64_t misses = 0, pairs = 0;
    for (size_t i = 0; i < count; i++) {
        misses += victims[i].count;
        pairs += victims[i].pair_count;
    }
    add_text(b, object, "level", level);
    add_count(b, object, "count", misses);
    add_count(b, what, "misses", count);
    add_count(b, what, "pairs", pairs);
    add(b, object, "rest", what);
    return object;
}

static json_t *conflicts(struct builder *b, const struct report_run *run, const struct report_digest *digest)
{
    json_t *array = json_array();
    for (size_t i = 0, end; i < digest->victim_count; i = end) {
        const struct report_victim *first = &digest->victims[i];
        for (end = i; end < digest->victim_count && digest->victims[end].level == first->level; end++) {
            if (end - i < VICTIMS)
                append(b, array, conflict(b, run, digest, &digest->victims[end]));
        }
        if (end - i > VICTIMS)
            append(b, array,
                   other_conflicts(b, digest->levels[first->level].level->name, first + VICTIMS, end - i - VICTIMS));
    }
    return array;
}

static json_t *reasons(struct builder *b, const struct report_digest *digest)
{
    json_t *array = json_array();
    for (size_t i = 0; i < digest->level_count; i++) {
        json_t *object = json_object();
        add_text(b, object, "level", digest->levels[i].level->name);
        for (unsigned reason = 0; reason < ANALYSES_REASONS; reason++)
            add_count(b, object, analyses_reason_name((enum analyses_reason)reason),
                      digest->profile->reasons[digest->levels[i].number][reason]);
        append(b, array, object);
    }
    return array;
}

/* ------------------------------------------------------------------ costs */

static json_t *costs_of_levels(struct builder *b, const struct report_digest *digest)
{
    json_t *array = json_array();
    for (size_t i = 0; i < digest->level_count; i++) {
        json_t *object = json_object();
        add_text(b, object, "name", digest->levels[i].level->name);
        add_count(b, object, "miss_cycles", digest->levels[i].miss_cycles);
        add_count(b, object, "framed", digest->missed.levels[i].framed);
        append(b, array, object);
    }
    return array;
}

static void add_cost(struct builder *b, json_t *object, const struct report_missed *missed)
{
    add_count(b, object, "cost", missed->own + missed->loading);
    add_count(b, object, "startup", missed->loading);
}

static json_t *whole_cost(struct builder *b, const struct report_digest *digest)
{
    json_t *object = json_object();
    add_cost(b, object, &digest->missed);
    add(b, object, "levels", costs_of_levels(b, digest));
    return object;
}

/* ------------------------------------------------------------------ objects, functions and lines */

static json_t *levels_with_misses(struct builder *b, const struct report_digest *digest,
                                  const struct report_missed *missed)
{
    const struct report_sums *sums = missed->levels;
    json_t *array = json_array();
    for (size_t i = 0; i < digest->level_count; i++) {
        if (sums[i].misses == 0)
            continue;
        json_t *object = json_object();
        add_text(b, object, "name", digest->levels[i].level->name);
        add_count(b, object, "misses", sums[i].misses);
        add_count(b, object, "cold", sums[i].cold);
        add_count(b, object, "capacity", sums[i].capacity);
        add_count(b, object, "conflict", sums[i].conflict);
        add_count(b, object, "startup", missed->startup[i].misses);
        if (digest->profile->compared)
            add_count(b, object, "placement", sums[i].placement);
        append(b, array, object);
    }
    return array;
}

static void add_missed(struct builder *b, json_t *object, const struct report_digest *digest,
                       const struct report_missed *missed)
{
    add_cost(b, object, missed);
    if (digest->translated) {
        add_count(b, object, "tlb_misses", missed->tlb.misses);
        add_count(b, object, "walks", missed->tlb.walks);
    }
    add(b, object, "levels", levels_with_misses(b, digest, missed));
}

static json_t *site(struct builder *b, const struct report_run *run, const struct analyses_object *of, uint32_t number)
{
    json_t *object = json_object();
    struct loader_place place;
    add_address(b, object, "pc", of->sites[number].v);
    if (report_site(&place, run, of, number))
        add_place(b, object, &place);
    add_inlined(b, object, run, (struct guest_va){of->sites[number].v - 1});
    return object;
}

/* The site to be shown; where there are several, all of them from the call of the allocator outwards. */
static void add_sites(struct builder *b, json_t *object, const struct report_run *run, const struct analyses_object *of)
{
    if (of->site_count == 0)
        return;
    add(b, object, "site", site(b, run, of, of->site_shown));
    if (of->site_count == 1)
        return;
    json_t *array = json_array();
    for (uint32_t i = 0; i < of->site_count; i++)
        append(b, array, site(b, run, of, i));
    add(b, object, "sites", array);
}

/* Where a variable of a function is declared. */
static void add_local(struct builder *b, json_t *object, const struct loader_local *local)
{
    if (local->function)
        add_text(b, object, "function", local->function);
    else
        add(b, object, "thread_local", json_true());
    if (local->file)
        add_text(b, object, "file", local->file);
    if (local->line != 0)
        add_count(b, object, "line", (uint64_t)local->line);
}

static json_t *object_of(struct builder *b, const struct report_run *run, const struct report_digest *digest,
                         const struct report_object *from)
{
    json_t *object = json_object();
    const char *type = report_type(run, from->of);
    add_text(b, object, "name", from->of->name);
    add_text(b, object, "kind", analyses_kind_name(from->of->kind));
    if (type)
        add_text(b, object, "type", type);
    if (from->of->module)
        add_text(b, object, "module", from->of->module);
    add_address(b, object, "base", from->of->base);
    add_count(b, object, "size", from->of->bytes);
    add_count(b, object, "blocks", from->of->blocks);
    add_sites(b, object, run, from->of);
    if (from->of->local)
        add_local(b, object, from->of->local);
    add_count(b, object, "refs", from->of->refs);
    add_missed(b, object, digest, &from->missed);
    return object;
}

static json_t *other_objects(struct builder *b, const struct report_digest *digest)
{
    json_t *object = json_object(), *what = json_object();
    struct report_missed missed = {0};
    uint64_t refs = 0, bytes = 0;
    for (size_t i = OBJECTS; i < digest->object_count; i++) {
        refs += digest->objects[i].of->refs;
        bytes += digest->objects[i].of->bytes;
        report_add_missed(&missed, &digest->objects[i].missed);
    }
    add_count(b, what, "objects", digest->object_count - OBJECTS);
    add(b, object, "rest", what);
    add_count(b, object, "size", bytes);
    add_count(b, object, "refs", refs);
    add_missed(b, object, digest, &missed);
    return object;
}

static json_t *objects(struct builder *b, const struct report_run *run, const struct report_digest *digest)
{
    json_t *array = json_array();
    for (size_t i = 0; i < digest->object_count && i < OBJECTS; i++)
        append(b, array, object_of(b, run, digest, &digest->objects[i]));
    if (digest->object_count > OBJECTS)
        append(b, array, other_objects(b, digest));
    return array;
}

static void add_work(struct builder *b, json_t *object, const struct report_digest *digest,
                     const struct report_function *function)
{
    add_count(b, object, "executed", function->executed);
    add_count(b, object, "reads", function->reads);
    add_count(b, object, "writes", function->writes);
    add_missed(b, object, digest, &function->missed);
}

static json_t *function_of(struct builder *b, const struct report_digest *digest, const struct report_function *from)
{
    json_t *object = json_object();
    if (from->name)
        add_text(b, object, "name", from->name);
    if (from->module)
        add_text(b, object, "module", from->module);
    add_work(b, object, digest, from);
    return object;
}

static json_t *other_functions(struct builder *b, const struct report_digest *digest)
{
    json_t *object = json_object(), *what = json_object();
    struct report_function sum = {0};
    for (size_t i = FUNCTIONS; i < digest->function_count; i++)
        report_add_function(&sum, &digest->functions[i]);
    add_count(b, what, "functions", digest->function_count - FUNCTIONS);
    add(b, object, "rest", what);
    add_work(b, object, digest, &sum);
    return object;
}

static json_t *functions(struct builder *b, const struct report_digest *digest)
{
    json_t *array = json_array();
    for (size_t i = 0; i < digest->function_count && i < FUNCTIONS; i++)
        append(b, array, function_of(b, digest, &digest->functions[i]));
    if (digest->function_count > FUNCTIONS)
        append(b, array, other_functions(b, digest));
    return array;
}

static json_t *line_of(struct builder *b, const struct report_digest *digest, const struct report_line *from)
{
    json_t *object = json_object();
    add_place(b, object, &from->place);
    if (!from->place.file)
        add_address(b, object, "pc", from->pc.v);
    add_missed(b, object, digest, &from->missed);
    return object;
}

static json_t *other_lines(struct builder *b, const struct report_digest *digest)
{
    json_t *object = json_object(), *what = json_object();
    struct report_missed missed = {0};
    for (size_t i = LINES; i < digest->line_count; i++)
        report_add_missed(&missed, &digest->lines[i].missed);
    add_count(b, what, "lines", digest->line_count - LINES);
    add(b, object, "rest", what);
    add_missed(b, object, digest, &missed);
    return object;
}

static json_t *lines(struct builder *b, const struct report_digest *digest)
{
    json_t *array = json_array();
    for (size_t i = 0; i < digest->line_count && i < LINES; i++)
        append(b, array, line_of(b, digest, &digest->lines[i]));
    if (digest->line_count > LINES)
        append(b, array, other_lines(b, digest));
    return array;
}

void report_json_profile(struct builder *b, json_t *root, const struct report_run *run)
{
    struct report_digest digest;
    if (report_digest_make(&digest, run, NULL) == C2_OK) {
        add(b, root, "conflicts", conflicts(b, run, &digest));
        add(b, root, "reasons", reasons(b, &digest));
        add(b, root, "cost", whole_cost(b, &digest));
        add(b, root, "objects", objects(b, run, &digest));
        add(b, root, "functions", functions(b, &digest));
        add(b, root, "lines", lines(b, &digest));
    } else {
        b->failed = true;
    }
    report_digest_release(&digest);
}
