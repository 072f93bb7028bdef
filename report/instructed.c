/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * instructed: the instructions that a program made for the caches - prefetches, non-temporal stores, flushes - and what
 * they were good for.
 *
 * Model
 *   There is such a chapter where the program has executed any. In the text a sentence on all prefetches, one on all
 *   non-temporal stores and one on all flushes, and behind each the instructions that did most of it; in the JSON the
 *   sums and each instruction, by address.
 *
 * Counting
 *   caches/instructed.c says what each counter counts.
 */
#include <stdlib.h>

#include "report/report_priv.h"

#define SHOWN 4u
#define COUNT_OF(list) (sizeof(list) / sizeof(list)[0])

enum of { OF_PREFETCHES, OF_STORES, OF_FLUSHES, OFS };

static enum of instructed_kind_of(const struct sim_instructed *insn)
{
    return insn->of.what == CACHES_STORE_PAST ? OF_STORES : insn->of.what < CACHES_FLUSH ? OF_PREFETCHES : OF_FLUSHES;
}

static void instructed_add(struct caches_instructed *to, const struct caches_instructed *of)
{
#define X(field, help) to->field += of->field;
    CACHES_INSTRUCTED_COUNTERS(X)
#undef X
}

/* ------------------------------------------------------------------ JSON */

void report_add_prefetched(struct document *d, const struct caches_instructed *n)
{
    doc_count(d, DOC_JSON, "useful", n->useful);
    doc_count(d, DOC_JSON, "late", n->late);
    doc_count(d, DOC_JSON, "late_ahead", n->late_ahead);
    doc_count(d, DOC_JSON, "late_cycles", n->late_cycles);
    doc_count(d, DOC_JSON, "useless", n->useless);
    doc_count(d, DOC_JSON, "polluting", n->polluting);
}

static void instructed_add_counters(struct document *d, const struct caches_instructed *n, enum of of)
{
    doc_count(d, DOC_JSON, "executed", n->executed);
    if (of == OF_PREFETCHES) {
        doc_count(d, DOC_JSON, "nowhere", n->nowhere);
        doc_count(d, DOC_JSON, "present", n->present);
        doc_count(d, DOC_JSON, "issued", n->issued);
        doc_count(d, DOC_JSON, "from_memory", n->from_memory);
        report_add_prefetched(d, n);
        return;
    }
    doc_count(d, DOC_JSON, "cached", n->cached);
    doc_count(d, DOC_JSON, "written_back", n->written_back);
    if (of == OF_FLUSHES)
        return;
    doc_count(d, DOC_JSON, "refetched", n->refetched);
    doc_count(d, DOC_JSON, "bytes", n->bytes);
    doc_count(d, DOC_JSON, "full", n->full);
    doc_count(d, DOC_JSON, "partial", n->partial);
    doc_count(d, DOC_JSON, "partial_bytes", n->partial_bytes);
}

static void add_instruction(struct document *d, const struct report_run *run, const struct sim_instructed *insn)
{
    struct loader_place place;
    doc_group(d, DOC_JSON, NULL);
    doc_string(d, DOC_JSON, "instruction", caches_instruction_names[insn->of.what]);
    if (insn->pc.v != 0) {
        names_place(&place, &run->sim, insn->pc);
        chapter_add_address(d, "pc", insn->pc.v);
        chapter_add_place(d, &place);
    }
    instructed_add_counters(d, &insn->of, instructed_kind_of(insn));
    doc_close(d);
}

static void instructed_add_json(struct document *d, const struct report_run *run,
                                const struct caches_instructed sums[OFS])
{
    static const char *const keys[OFS] = {"prefetches", "non_temporal_stores", "flushes"};
    doc_group(d, DOC_JSON, "cache_instructions");
    for (enum of of = OF_PREFETCHES; of < OFS; of++) {
        if (sums[of].executed == 0)
            continue;
        doc_group(d, DOC_JSON, keys[of]);
        instructed_add_counters(d, &sums[of], of);
        doc_close(d);
    }
    doc_table(d, DOC_JSON, "instructions");
    for (size_t i = 0; i < run->sim.instructed_count; i++)
        add_instruction(d, run, &run->sim.instructed[i]);
    doc_close(d);
    doc_close(d);
}

/* ------------------------------------------------------------------ text */

static int by_executed(const void *left, const void *right)
{
    const struct sim_instructed *a = *(const struct sim_instructed *const *)left,
                                *b = *(const struct sim_instructed *const *)right;
    if (a->of.executed != b->of.executed)
        return a->of.executed < b->of.executed ? 1 : -1;
    return a->pc.v < b->pc.v ? -1 : a->pc.v > b->pc.v;
}

/* Those of a kind, those executed most first; NULL: no memory. */
static const struct sim_instructed **instructed_rank(const struct report_run *run, enum of of, size_t *count)
{
    const struct sim_instructed **list = c2_calloc(run->sim.instructed_count, sizeof(void *));
    *count = 0;
    for (size_t i = 0; list && i < run->sim.instructed_count; i++)
        if (instructed_kind_of(&run->sim.instructed[i]) == of)
            list[(*count)++] = &run->sim.instructed[i];
    if (list)
        qsort(list, *count, sizeof(void *), by_executed);
    return list;
}

static void show_instruction(struct document *d, const struct report_run *run, const struct sim_instructed *insn)
{
    char text[256] = "all of them";
    struct loader_place place;
    doc_group(d, DOC_TEXT, NULL);
#define X(field, help) doc_count(d, DOC_TEXT, #field, insn->of.field);
    CACHES_INSTRUCTED_COUNTERS(X)
#undef X
    doc_string(d, DOC_TEXT, "instruction", caches_instruction_names[insn->of.what]);
    if (insn->pc.v != 0) {
        names_place(&place, &run->sim, insn->pc);
        loader_place_text(text, sizeof text, insn->pc, &place);
    }
    doc_words(d, DOC_TEXT, "line", "%s", text);
    doc_close(d);
}

#define NAMES \
    {.heading = "instruction", .key = "instruction", .form = DOC_LEFT}, \
    { \
        .heading = "line", .key = "line", .form = DOC_NAME \
    }

static void instructed_show_list(struct document *d, const struct report_run *run, enum of of)
{
    static const struct doc_column prefetches[] = {{.heading = "executed", .key = "executed"},
                                                   {.heading = "had it", .key = "present", .spare = 1},
                                                   {.heading = "no page", .key = "nowhere", .spare = 3},
                                                   {.heading = "fetched", .key = "issued"},
                                                   {.heading = "useful", .key = "useful"},
                                                   {.heading = "late", .key = "late"},
                                                   {.heading = "useless", .key = "useless"},
                                                   {.heading = "polluting", .key = "polluting", .spare = 2},
                                                   NAMES};
    static const struct doc_column stores[] = {{.heading = "lines stored to", .key = "executed"},
                                               {.heading = "bytes", .key = "bytes", .form = DOC_BYTES},
                                               {.heading = "whole lines", .key = "full"},
                                               {.heading = "in pieces", .key = "partial"},
                                               {.heading = "cached", .key = "cached"},
                                               NAMES};
    static const struct doc_column flushes[] = {{.heading = "executed", .key = "executed"},
                                                {.heading = "cached", .key = "cached"},
                                                {.heading = "dirty", .key = "written_back"},
                                                NAMES};
    static const struct {
        const struct doc_column *list;
        size_t count;
    } columns[OFS] = {{prefetches, COUNT_OF(prefetches)}, {stores, COUNT_OF(stores)}, {flushes, COUNT_OF(flushes)}};
    size_t count;
    const struct sim_instructed **list = instructed_rank(run, of, &count);
    d->failed |= !list;
    doc_table(d, DOC_TEXT, NULL);
    doc_columns(d, columns[of].list, columns[of].count, 0);
    for (size_t i = 0; list && i < count && (i < SHOWN || run->sim.full); i++)
        show_instruction(d, run, list[i]);
    doc_close(d);
    if (list && count > SHOWN && !run->sim.full)
        doc_note(d, DOC_LINE, NULL, "and %zu others", count - SHOWN);
    c2_free(list);
}

static void say_prefetches(struct document *d, const struct caches_instructed *n)
{
    doc_note(d, DOC_FLOW, "prefetches ", "%s prefetch instructions: %s found the line in the caches, %s fetched one",
             doc_digits(d, n->executed), doc_share(d, n->present, n->executed), doc_share(d, n->issued, n->executed));
    if (n->issued != 0)
        doc_say(d, "; of these %s were useful (%s too late), %s useless", doc_share(d, n->useful, n->issued),
                doc_share(d, n->late, n->issued), doc_share(d, n->useless, n->issued));
}

static void say_stores(struct document *d, const struct caches_instructed *n)
{
    char bytes[32];
    doc_note(d, DOC_FLOW, "past caches", "%s by non-temporal stores: %s lines written whole, %s in pieces",
             doc_size(bytes, n->bytes), doc_digits(d, n->full), doc_digits(d, n->partial));
    if (n->cached != 0)
        doc_say(d, "; %s stores were to lines in the caches, which lost them", doc_digits(d, n->cached));
    if (n->refetched != 0)
        doc_say(d, ", and fetched %s again soon", doc_digits(d, n->refetched));
}

static void say_flushes(struct document *d, const struct caches_instructed *n)
{
    doc_note(d, DOC_FLOW, "flushes    ", "%s flushes and write-backs: %s of lines in the caches, %s of dirty ones",
             doc_digits(d, n->executed), doc_digits(d, n->cached), doc_digits(d, n->written_back));
}

void report_add_instructed(struct document *d, struct digest *digest)
{
    static void (*const say[OFS])(struct document * d, const struct caches_instructed *n) = {say_prefetches, say_stores,
                                                                                             say_flushes};
    const struct report_run *run = report_of(digest);
    struct caches_instructed sums[OFS] = {{.executed = 0}};
    if (run->sim.instructed_count == 0)
        return;
    for (size_t i = 0; i < run->sim.instructed_count; i++)
        instructed_add(&sums[instructed_kind_of(&run->sim.instructed[i])], &run->sim.instructed[i].of);
    instructed_add_json(d, run, sums);
    for (enum of of = OF_PREFETCHES; of < OFS; of++) {
        if (sums[of].executed == 0)
            continue;
        say[of](d, &sums[of]);
        instructed_show_list(d, run, of);
    }
}
