/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * story: the document of `c2emu explain`, from what explain.c says of one access.
 *
 * Model
 *   The text: which miss it is; its access and the levels that it asked; the ways of its set; why one of them makes
 *   room, what a fully associative cache has, the line's past, what would have kept it; and a table of the steps behind
 *   it, a row each. A step by itself shows the ways before it. The JSON has all of it for each step.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "report/explain_priv.h"

static const struct analyses_explain_result *story_result_of(const struct report_run *run)
{
    return run->sim.found[ANALYSIS_explain];
}

static const char *story_level_name(const struct report_run *run)
{
    const uint32_t level = story_result_of(run)->level;
    return level < run->sim.machine->level_count ? run->sim.machine->levels[level].name : run->sim.machine->l1i.name;
}

/* ------------------------------------------------------------------ which miss */

static void story_add_classes(struct document *d, const struct analyses_explain_result *result)
{
    doc_group(d, DOC_JSON, "classes");
    for (unsigned i = CACHES_COLD; i < EXPLAIN_CLASSES; i++)
        doc_count(d, DOC_JSON, report_story_class((enum caches_class)i), result->classes[i]);
    doc_close(d);
}

static const char *ordinal_text(struct document *d, const struct report_run *run)
{
    const struct analyses_explain_result *result = story_result_of(run);
    const struct explain_story *story = result->story;
    const enum caches_class class_ = story->steps[0].class_;
    const char *where = result->at ? doc_keep(d, " at %s", result->at) : "";
    const char *of = doc_keep(d, "Miss %s of the %s%s", doc_digits(d, story->of_asked), doc_digits(d, result->asked),
                              where);
    if (result->miss != 0)
        return of;
    return doc_keep(d, "%s, number %s of the %s %s misses, which most of them are", of, doc_digits(d, story->of_class),
                    doc_digits(d, result->classes[class_]), report_story_class(class_));
}

static void add_which(struct document *d, const struct report_run *run)
{
    const struct analyses_explain_result *result = story_result_of(run);
    const struct explain_story *story = result->story;
    const enum caches_class class_ = story->steps[0].class_;
    doc_note(d, DOC_HEADING, NULL, "A %s miss of %s on %s", report_story_class(class_), story_level_name(run),
             run->sim.machine->name);
    doc_note(d, DOC_LINE, NULL, "%s; the level has %s misses.", ordinal_text(d, run), doc_digits(d, result->all));
    if (result->miss == 0)
        doc_say(d, " --miss %" PRIu64 " is this one again, others are told in the same way.", story->of_asked);
    doc_group(d, DOC_JSON, "miss");
    doc_string(d, DOC_JSON, "level", story_level_name(run));
    doc_string(d, DOC_JSON, "at", result->at);
    doc_count(d, DOC_JSON, "number", story->of_asked);
    doc_count(d, DOC_JSON, "of", result->asked);
    doc_count(d, DOC_JSON, "of_level", result->all);
    doc_count(d, DOC_JSON, "number_of_level", story->of_all);
    doc_count(d, DOC_JSON, "number_of_class", story->of_class);
    story_add_classes(d, result);
    doc_close(d);
}

/* ------------------------------------------------------------------ one access */

/* "mov (%rdi,%rax,8),%rdx"; NULL: the file is not there any more, or has no code there. */
static const char *instruction_text(struct document *d, const struct report_run *run, struct guest_va pc)
{
    const char *path, *text = NULL;
    uint64_t address;
    uint8_t insn[LOADER_LONGEST_INSN] = {0};
    char buffer[256];
    struct loader_code *code;
    struct c2_error ignored;
    if (!run->sim.symbols || !loader_linked_of(run->sim.symbols, pc, &path, &address) ||
        loader_code_open(&code, path, &ignored) != C2_OK)
        return NULL;
    const size_t count = loader_code_read(code, address, insn, sizeof insn);
    if (count != 0 && loader_disassemble(buffer, sizeof buffer, insn, count, address) != 0)
        text = doc_keep(d, "%s", buffer);
    loader_code_close(code);
    return text;
}

/* "store by main (matmul.c:12), on core 1" */
static void say_access(struct document *d, const struct report_run *run, const struct explain_story *story)
{
    char size[32];
    const struct explain_step *step = &story->steps[0];
    const struct explain_access *access = &step->access;
    const char *instruction = instruction_text(d, run, access->pc);
    const char *core = caches_machine_cores(run->sim.machine) > 1 ? doc_keep(d, ", on core %u", access->core) : "";
    doc_note(d, DOC_KEY, report_story_kind(access->kind), "by %s%s", report_story_who(d, run, access), core);
    doc_note(d, DOC_KEY, "code", "%s0x%" PRIx64, instruction ? doc_keep(d, "%s, at ", instruction) : "", access->pc.v);
    doc_note(d, DOC_KEY, "data", "%s%s", report_story_thing(d, run, access),
             access->object == EXPLAIN_NOBODY || access->kind == SIM_WALK
                 ? ""
                 : doc_keep(d, ", at 0x%" PRIx64, access->va.v));
    doc_note(d, DOC_KEY, "line", "0x%" PRIx64 " of physical memory, in a page of %s", step->line.v,
             c2_size_text(size, UINT64_C(1) << story->page_log2));
}

static void add_access(struct document *d, const struct report_run *run, const struct explain_step *step)
{
    const struct explain_access *access = &step->access;
    doc_string(d, DOC_JSON, "kind", report_story_kind(access->kind));
    doc_string(d, DOC_JSON, "by", report_story_who(d, run, access));
    doc_words(d, DOC_JSON, "pc", "0x%" PRIx64, access->pc.v);
    doc_string(d, DOC_JSON, "instruction", instruction_text(d, run, access->pc));
    doc_string(d, DOC_JSON, "to", report_story_thing(d, run, access));
    doc_words(d, DOC_JSON, "address", "0x%" PRIx64, access->va.v);
    doc_words(d, DOC_JSON, "line", "0x%" PRIx64, step->line.v);
    doc_count(d, DOC_JSON, "core", access->core);
    doc_count(d, DOC_JSON, "line_access", step->number);
    doc_count(d, DOC_JSON, "level_access", access->when);
}

/* ------------------------------------------------------------------ the set, and why */

/* Of a miss that is told, what would have kept the line; NULL: not looked for. */
static const char *kept_text(struct document *d, const struct report_run *run, const struct explain_step *step)
{
    return step->set_distance != EXPLAIN_UNKNOWN ? report_story_remedy(d, run, story_result_of(run)->level, step)
                                                 : NULL;
}

static void say_why(struct document *d, const struct report_run *run, const struct explain_step *step)
{
    const char *kept = kept_text(d, run, step);
    doc_note(d, DOC_KEY, "victim", "%s", report_story_why(d, step));
    doc_note(d, DOC_KEY, "the line", "%s", report_story_past(d, run, step));
    doc_note(d, DOC_KEY, "ideal", "a fully associative LRU cache of this size %s",
             report_story_full(d, run, story_result_of(run)->level, step));
    if (kept)
        doc_note(d, DOC_KEY, "kept by", "%s", kept);
}

static void add_why(struct document *d, const struct report_run *run, const struct explain_step *step)
{
    const bool knows = step->distance != EXPLAIN_UNKNOWN && step->class_ != CACHES_COLD;
    doc_string(d, DOC_JSON, "why", report_story_why(d, step));
    doc_string(d, DOC_JSON, "past", report_story_past(d, run, step));
    doc_string(d, DOC_JSON, "ideal", report_story_full(d, run, story_result_of(run)->level, step));
    if (knows)
        doc_count(d, DOC_JSON, "distance", step->distance);
    if (step->set_distance != EXPLAIN_UNKNOWN && step->class_ != CACHES_COLD)
        doc_count(d, DOC_JSON, "distance_in_set", step->set_distance);
    doc_string(d, DOC_JSON, "kept_by", kept_text(d, run, step));
}

static const char *set_text(struct document *d, const struct report_run *run)
{
    const struct explain_story *story = story_result_of(run)->story;
    const struct explain_level *at = story->levels;
    while (at->level != story_result_of(run)->level)
        at++;
    const uint32_t slices = at->level < run->sim.machine->level_count ? run->sim.machine->levels[at->level].slices
                                                                      : run->sim.machine->l1i.slices;
    const char *slice = slices > 1 ? doc_keep(d, " of slice %" PRIu32, at->place.slice) : "";
    const char *core = analyses_copies(run->sim.machine, at->level) > 1 ? doc_keep(d, " of core %" PRIu32, story->copy)
                                                                        : "";
    return doc_keep(d, "set %" PRIu32 "%s of %s%s", at->place.index, slice, story_level_name(run), core);
}

static void say_set(struct document *d, const struct report_run *run, const struct explain_step *step)
{
    doc_note(d, DOC_HEADING, NULL, "Before it, %s held (brought, touched: accesses of %s before%s)", set_text(d, run),
             story_level_name(run), step->set.by_age ? "; LRU: ways in the order of touches" : "");
    report_story_ways(d, DOC_TEXT, run, step);
}

static void add_set(struct document *d, const struct report_run *run, const struct explain_step *step)
{
    doc_string(d, DOC_JSON, "policy", caches_policy_name(step->set.policy));
    doc_flag(d, DOC_JSON, "by_age", step->set.by_age);
    if (step->way != EXPLAIN_NO_WAY)
        doc_count(d, DOC_JSON, "way", step->way);
    if (step->set.policy == CACHES_TREE_PLRU)
        doc_count(d, DOC_JSON, "tree", step->set.tree);
    report_story_ways(d, DOC_JSON, run, step);
}

/* ------------------------------------------------------------------ steps */

/* "conflict, 0x12 leaves" */
static const char *outcome_text(struct document *d, const struct explain_step *step)
{
    if (step->class_ == CACHES_HIT)
        return doc_keep(d, "hit, way %" PRIu32, step->way);
    const char *name = report_story_class(step->class_);
    if (step->way == EXPLAIN_NO_WAY)
        return name;
    const struct caches_way *way = &step->set.way[step->way];
    return way->holds ? doc_keep(d, "%s, 0x%" PRIx64 " leaves", name, way->line.v) : doc_keep(d, "%s, empty way", name);
}

static const struct doc_column step_columns[] = {
    {.heading = "step", .key = "step"},
    {.heading = "later", .key = "later", .spare = 1},
    {.heading = "", .key = "what", .form = DOC_LEFT},
    {.heading = "of", .key = "data", .form = DOC_LEFT},
    {.heading = "line", .key = "at", .form = DOC_LEFT, .spare = 2},
    {.heading = "result", .key = "outcome", .form = DOC_LEFT},
    {.heading = "by", .key = "code", .form = DOC_NAME},
};

static void story_add_row(struct document *d, const struct report_run *run, const struct explain_story *story,
                          uint32_t i)
{
    const struct explain_step *step = &story->steps[i];
    doc_group(d, DOC_BOTH, NULL);
    doc_count(d, DOC_BOTH, "step", i);
    doc_count(d, DOC_TEXT, "later", step->access.when - story->steps[0].access.when);
    doc_string(d, DOC_TEXT, "what", report_story_kind(step->access.kind));
    doc_string(d, DOC_TEXT, "data", report_story_thing(d, run, &step->access));
    doc_words(d, DOC_TEXT, "at", "0x%" PRIx64, step->line.v);
    doc_string(d, DOC_TEXT, "outcome", outcome_text(d, step));
    doc_string(d, DOC_TEXT, "code", report_story_who(d, run, &step->access));
    doc_string(d, DOC_JSON, "result", report_story_class(step->class_));
    add_access(d, run, step);
    add_why(d, run, step);
    add_set(d, run, step);
    doc_close(d);
}

static void story_add_steps(struct document *d, const struct report_run *run)
{
    const struct explain_story *story = story_result_of(run)->story;
    if (story->step_count > 1)
        doc_note(d, DOC_HEADING, NULL, "Then, in the same set:");
    else if (story_result_of(run)->steps != 0)
        doc_note(d, DOC_HEADING, NULL, "Nothing else was asked of this set");
    doc_table(d, story->step_count > 1 ? DOC_BOTH : DOC_JSON, "steps");
    doc_columns(d, step_columns, sizeof step_columns / sizeof step_columns[0], 2);
    for (uint32_t i = 0; i < story->step_count; i++)
        story_add_row(d, run, story, i);
    doc_close(d);
}

void report_add_step(struct document *d, const struct report_run *run, uint32_t number)
{
    const struct explain_story *story = story_result_of(run)->story;
    const struct explain_step *step = &story->steps[number];
    doc_section(d, DOC_TEXT, 1);
    doc_note(d, DOC_HEADING, NULL, "Step %" PRIu32 " of %" PRIu32 ": %s", number, story->step_count - 1,
             outcome_text(d, step));
    doc_note(d, DOC_KEY, report_story_kind(step->access.kind), "of %s, line 0x%" PRIx64 ", by %s",
             report_story_thing(d, run, &step->access), step->line.v, report_story_who(d, run, &step->access));
    doc_section(d, DOC_TEXT, 2);
    say_set(d, run, step);
    doc_section(d, DOC_TEXT, 3);
    say_why(d, run, step);
}

/* ------------------------------------------------------------------ the story */

void report_add_story(struct document *d, const struct report_run *run)
{
    const struct explain_story *story = story_result_of(run)->story;
    doc_section(d, DOC_JSON, 0);
    doc_string(d, DOC_JSON, "format", "c2emu-explain");
    doc_count(d, DOC_JSON, "version", 1);
    report_add_command(d, run->command);
    doc_string(d, DOC_JSON, "machine", run->sim.machine->name);
    doc_section(d, DOC_BOTH, 1);
    add_which(d, run);
    doc_section(d, DOC_BOTH, 2);
    say_access(d, run, story);
    report_story_levels(d, run, story);
    doc_section(d, DOC_TEXT, 3);
    say_set(d, run, &story->steps[0]);
    doc_section(d, DOC_TEXT, 4);
    say_why(d, run, &story->steps[0]);
    doc_section(d, DOC_BOTH, 5);
    story_add_steps(d, run);
}

/* ------------------------------------------------------------------ lines that missed */

#define LINES 256u
#define NAMED 6u

struct missing_line {
    int line;
    uint64_t misses;
};

static uint64_t story_misses_of(const struct analyses_row *row, uint32_t level)
{
    uint64_t sum = row->taken ? row->taken[level].reads + row->taken[level].writes : 0;
    for (unsigned i = 0; i < ANALYSES_CLASSES; i++)
        sum += row->level[level].reads[i] + row->level[level].writes[i];
    return sum;
}

static void count_line(struct missing_line *lines, uint32_t *count, int line, uint64_t misses)
{
    uint32_t i = 0;
    while (i < *count && lines[i].line != line)
        i++;
    if (i == LINES)
        return;
    *count += i == *count;
    lines[i].line = line;
    lines[i].misses += misses;
}

static int story_by_misses(const void *a, const void *b)
{
    const struct missing_line *x = a, *y = b;
    return x->misses != y->misses ? (x->misses < y->misses ? 1 : -1) : x->line - y->line;
}

char *report_missing_lines(char *buffer, size_t bytes, const struct report_run *run, const char *file, uint32_t level)
{
    struct missing_line lines[LINES] = {{0}};
    struct c2_words words = {.buffer = buffer, .bytes = bytes};
    uint32_t count = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < run->sim.profile->row_count; i++) {
        const struct analyses_row *row = &run->sim.profile->rows[i];
        const uint64_t misses = story_misses_of(row, level);
        struct loader_frame frame;
        if (misses == 0)
            continue;
        loader_frames_of(run->sim.symbols, run->sim.profile->insns[row->insn].pc, &frame, 1);
        if (frame.file && loader_names_file(frame.file, file))
            count_line(lines, &count, frame.line, misses);
    }
    qsort(lines, count, sizeof lines[0], story_by_misses);
    for (uint32_t i = 0; i < count && i < NAMED; i++)
        c2_say(&words, "%s%d (%" PRIu64 ")", i == 0 ? "" : ", ", lines[i].line, lines[i].misses);
    return buffer;
}
