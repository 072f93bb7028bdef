/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sharing_chapter: the estimate of false sharing, by block, section, object, line, instruction and (--by loop) loop.
 *
 * Model
 *   The text has the finding, and the objects with most false events; the JSON the lists up to a limit, which end with
 *   the number of those left out. Cycles are events times the machine's penalty; a machine that says none has none.
 */
#include "analyses/chapter.h"
#include "analyses/sharing.h"

#include <stdlib.h>

#define SHOWN 5u

/* ------------------------------------------------------------------ JSON */

static void sharing_chapter_add_events(struct document *d, const struct analyses_run *run,
                                       const struct sharing_events *events)
{
    doc_count(d, DOC_BOTH, "worst", events->worst);
    doc_count(d, DOC_BOTH, "exchanged", events->exchanged);
    doc_count(d, DOC_BOTH, "false_sharing", events->false_ones);
    doc_count(d, DOC_JSON, "carried", events->carried);
    if (run->machine->sharing_cycles != 0)
        doc_count(d, DOC_BOTH, "cycles", events->false_ones * run->machine->sharing_cycles);
}

static void sharing_chapter_add_object(struct document *d, const struct analyses_run *run, uint32_t object)
{
    char text[512];
    if (object == SHARING_NOBODY || !run->profile)
        return;
    doc_string(d, DOC_JSON, "object", run->profile->objects[object].name);
    doc_string(d, DOC_TEXT, "object", names_object_text(text, sizeof text, run, &run->profile->objects[object]));
}

static void add_blocks(struct document *d, const struct analyses_run *run, const struct analyses_sharing_result *result)
{
    doc_table(d, DOC_JSON, "blocks");
    for (size_t i = 0; i < result->block_count && i < CHAPTER_LISTED; i++) {
        const struct sharing_block *block = &result->blocks[i];
        doc_group(d, DOC_JSON, NULL);
        chapter_add_address(d, "address", block->address.v);
        sharing_chapter_add_object(d, run, block->object);
        doc_count(d, DOC_JSON, "threads", block->threads);
        doc_count(d, DOC_JSON, "sections", block->sections);
        doc_count(d, DOC_JSON, "loads", block->accesses.loads);
        doc_count(d, DOC_JSON, "stores", block->accesses.stores);
        sharing_chapter_add_events(d, run, &block->events);
        doc_close(d);
    }
    chapter_add_rest(d, result->block_count);
    doc_close(d);
}

static void add_sections(struct document *d, const struct analyses_run *run,
                         const struct analyses_sharing_result *result)
{
    doc_table(d, DOC_JSON, "parallel_sections");
    for (size_t i = 0; i < result->sections_listed && i < CHAPTER_LISTED; i++) {
        const struct sharing_section *section = &result->sections[i];
        doc_group(d, DOC_JSON, NULL);
        doc_count(d, DOC_JSON, "number", section->number);
        doc_count(d, DOC_JSON, "threads", section->threads);
        doc_count(d, DOC_JSON, "accesses", section->accesses);
        doc_count(d, DOC_JSON, "blocks", section->blocks);
        sharing_chapter_add_events(d, run, &section->events);
        doc_close(d);
    }
    chapter_add_rest(d, result->sections_listed);
    doc_close(d);
}

static void add_accesses(struct document *d, const struct sharing_accesses *accesses)
{
    doc_count(d, DOC_JSON, "loads", accesses->loads);
    doc_count(d, DOC_JSON, "stores", accesses->stores);
}

static void sharing_chapter_add_lines(struct document *d, const struct analyses_sharing_result *result)
{
    doc_table(d, DOC_JSON, "lines");
    for (size_t i = 0; i < result->line_count && i < CHAPTER_LISTED; i++) {
        const struct sharing_line *line = &result->lines[i];
        doc_group(d, DOC_JSON, NULL);
        chapter_add_address(d, "pc", line->pc.v);
        chapter_add_place(d, &line->place);
        add_accesses(d, &line->accesses);
        doc_close(d);
    }
    chapter_add_rest(d, result->line_count);
    doc_close(d);
}

static int sharing_chapter_by_accesses(const void *left, const void *right)
{
    const struct sharing_insn *a = left, *b = right;
    const uint64_t x = a->accesses.loads + a->accesses.stores, y = b->accesses.loads + b->accesses.stores;
    if (x != y)
        return x > y ? -1 : 1;
    return a->insn < b->insn ? -1 : a->insn > b->insn;
}

static void add_insns(struct document *d, const struct analyses_run *run, const struct analyses_sharing_result *result)
{
    struct sharing_insn *list = c2_calloc(result->insn_count + 1, sizeof *list);
    d->failed |= !list;
    for (size_t i = 0; list && i < result->insn_count; i++)
        list[i] = result->insns[i];
    if (list)
        qsort(list, result->insn_count, sizeof *list, sharing_chapter_by_accesses);
    doc_table(d, DOC_JSON, "instructions");
    for (size_t i = 0; list && i < result->insn_count && i < CHAPTER_LISTED; i++) {
        struct loader_place place;
        const struct guest_va pc = run->profile->insns[list[i].insn].pc;
        names_place(&place, run, pc);
        doc_group(d, DOC_JSON, NULL);
        chapter_add_address(d, "pc", pc.v);
        chapter_add_place(d, &place);
        add_accesses(d, &list[i].accesses);
        doc_close(d);
    }
    chapter_add_rest(d, result->insn_count);
    doc_close(d);
    c2_free(list);
}

/* sums: [loop], and what is outside of all; insn: of the loop its number. Returns how many have accesses. */
static size_t sharing_chapter_sum_loops(struct sharing_insn *sums, const struct analyses_loops_result *loops,
                                        const struct analyses_sharing_result *result)
{
    size_t used = 0;
    for (uint32_t i = 0; i <= loops->count; i++)
        sums[i].insn = i;
    for (size_t i = 0; i < result->insn_count; i++) {
        const uint32_t loop = loops->loop_of[result->insns[i].insn];
        struct sharing_accesses *to = &sums[loop == ANALYSES_NO_LOOP ? loops->count : loop].accesses;
        to->loads += result->insns[i].accesses.loads;
        to->stores += result->insns[i].accesses.stores;
    }
    qsort(sums, loops->count + (size_t)1, sizeof *sums, sharing_chapter_by_accesses);
    while (used <= loops->count && sums[used].accesses.loads + sums[used].accesses.stores != 0)
        used++;
    return used;
}

static void sharing_chapter_add_loops(struct document *d, const struct analyses_run *run,
                                      const struct analyses_sharing_result *result)
{
    const struct analyses_loops_result *loops = run->found[ANALYSIS_loops];
    if (!loops)
        return;
    struct sharing_insn *sums = c2_calloc(loops->count + (size_t)1, sizeof *sums);
    const size_t count = sums ? sharing_chapter_sum_loops(sums, loops, result) : 0;
    d->failed |= !sums;
    doc_table(d, DOC_JSON, "loops");
    for (size_t i = 0; i < count && i < CHAPTER_LISTED; i++) {
        const struct analyses_loop *loop = sums[i].insn == loops->count ? NULL : &loops->loops[sums[i].insn];
        struct loader_place place;
        if (loop)
            names_loop_place(&place, run, loop);
        doc_group(d, DOC_JSON, NULL);
        chapter_add_loop_name(d, &place, loop);
        add_accesses(d, &sums[i].accesses);
        doc_close(d);
    }
    chapter_add_rest(d, count);
    doc_close(d);
    c2_free(sums);
}

/* ------------------------------------------------------------------ both */

static void sharing_chapter_add_objects(struct document *d, const struct analyses_run *run,
                                        const struct analyses_sharing_result *result)
{
    static const struct doc_column columns[] = {{.heading = "false", .key = "false_sharing"},
                                                {.heading = "worst", .key = "worst"},
                                                {.heading = "exchanged", .key = "exchanged", .spare = 1},
                                                {.heading = "blocks", .key = "blocks", .spare = 2},
                                                {.heading = "object", .key = "object", .form = DOC_NAME}};
    doc_table(d, DOC_BOTH, "objects");
    doc_columns(d, columns, sizeof columns / sizeof columns[0], 0);
    for (size_t i = 0; i < result->object_count && i < CHAPTER_LISTED; i++) {
        const struct sharing_object *object = &result->objects[i];
        doc_group(d, i < SHOWN && object->events.false_ones != 0 ? DOC_BOTH : DOC_JSON, NULL);
        sharing_chapter_add_object(d, run, object->object);
        doc_count(d, DOC_BOTH, "blocks", object->blocks);
        sharing_chapter_add_events(d, run, &object->events);
        doc_close(d);
    }
    chapter_add_rest(d, result->object_count);
    doc_close(d);
}

static void sharing_chapter_note_finding(struct document *d, const struct analyses_run *run,
                                         const struct analyses_sharing_result *result)
{
    const struct sharing_events *all = &result->all;
    const uint64_t cycles = all->false_ones * run->machine->sharing_cycles;
    if (result->threads < 2) {
        doc_note(d, DOC_KEY, "sharing", "the run has one thread: nothing is shared");
        return;
    }
    doc_note(d, DOC_KEY, "sharing",
             "some %s events of false sharing between %u threads in %s sections: %s at worst, of which %s may be "
             "exchanges of data",
             doc_digits(d, all->false_ones), result->threads, doc_digits(d, result->section_count),
             doc_digits(d, all->worst), doc_digits(d, all->exchanged));
    if (cycles != 0)
        doc_say(d, "; %s cycles of %u each", doc_digits(d, cycles), run->machine->sharing_cycles);
    if (cycles != 0 && run->machine->clock_mhz != 0)
        doc_say(d, ", %.3f ms", (double)cycles / (run->machine->clock_mhz * 1e3));
}

static void add_sharing_chapter(struct document *d, struct digest *digest)
{
    const struct analyses_run *run = digest->run;
    const struct analyses_sharing_result *result = run->found[ANALYSIS_sharing];
    if (!result || !result->blocks)
        return;
    sharing_chapter_note_finding(d, run, result);
    doc_group(d, DOC_BOTH, "sharing");
    doc_count(d, DOC_JSON, "threads", result->threads);
    doc_count(d, DOC_JSON, "section_count", result->section_count);
    sharing_chapter_add_events(d, run, &result->all);
    if (run->machine->sharing_cycles != 0 && run->machine->clock_mhz != 0)
        doc_decimal(d, DOC_JSON, "seconds",
                    (double)(result->all.false_ones * run->machine->sharing_cycles) / (run->machine->clock_mhz * 1e6));
    sharing_chapter_add_objects(d, run, result);
    add_blocks(d, run, result);
    add_sections(d, run, result);
    sharing_chapter_add_lines(d, result);
    add_insns(d, run, result);
    sharing_chapter_add_loops(d, run, result);
    doc_close(d);
}

const struct analysis_chapter analyses_sharing_chapter = {
    .add = add_sharing_chapter, .in = DOC_BOTH, .place = 12, .order = 130};
