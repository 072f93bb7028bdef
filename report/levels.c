/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * levels: what the caches and TLBs counted, and the same under another placement.
 *
 * Counting
 *   miss rate is misses / accesses of the same level (a local rate); cold, capacity and conflict are shares of the
 *   level's misses; FA misses is the number a fully associative LRU cache of the same size would have. Against another
 *   placement: inherent and placement are the conflict misses of the run itself, labelled by what the other did at the
 *   same access; the other figures are its own counts.
 */
#include <inttypes.h>
#include <string.h>

#include "report/report_priv.h"

#define COUNT_OF(list) (sizeof(list) / sizeof(list)[0])

/* ------------------------------------------------------------------ caches */

static void add_fifo_counts(struct document *d, enum doc_in in, const struct analyses_fifo_counts *n)
{
#define X(field, help) doc_count(d, in, #field, n->field);
    ANALYSES_FIFO_COUNTERS(X)
#undef X
}

static void levels_add_level(struct document *d, enum doc_in in, const struct caches_machine *machine,
                             const struct digest_level *level)
{
    doc_group(d, in, NULL);
    chapter_add_counts(d, DOC_BOTH, machine, level->level->name, level->counts);
    if (level->fifo) {
        doc_group(d, DOC_JSON, "fifo");
        add_fifo_counts(d, DOC_JSON, level->fifo);
        doc_close(d);
    }
    doc_close(d);
}

/* In the text L1I has a row where it matters, and a level that was accessed. */
static enum doc_in level_is_in(const struct digest *digest, const struct digest_level *level)
{
    const bool shown = level->code ? digest_shows_code(digest) : digest->run->full || level->counts->accesses != 0;
    return shown ? DOC_BOTH : DOC_JSON;
}

static void open_level_table(struct document *d, enum doc_in in, const struct report_run *run)
{
    static const struct doc_column columns[] = {{.heading = "level", .key = "name", .form = DOC_LEFT},
                                                {.heading = "accesses", .key = "accesses"},
                                                {.heading = "misses", .key = "misses"},
                                                {.heading = "miss rate", .key = "misses", .of = "accesses"},
                                                {.heading = "cold", .key = "cold", .of = "misses"},
                                                {.heading = "capacity", .key = "capacity", .of = "misses"},
                                                {.heading = "conflict", .key = "conflict", .of = "misses"},
                                                {.heading = "FA misses", .key = "fa_misses", .spare = 2},
                                                {.heading = "coherence", .key = "coherence", .of = "misses"},
                                                {.heading = "stores on", .key = "write_throughs", .spare = 1},
                                                {.heading = "stores past", .key = "write_arounds", .spare = 1}};
    enum { COHERENCE = COUNT_OF(columns) - 3 };
    struct doc_column shown[COUNT_OF(columns)];
    size_t count = COHERENCE;
    memcpy(shown, columns, sizeof shown);
    if (run->sim.machine->cores > 1)
        count++;
    for (size_t i = COHERENCE + 1; i < COUNT_OF(columns) && caches_machine_writes_on(run->sim.machine); i++)
        shown[count++] = columns[i];
    doc_table(d, in, "levels");
    doc_columns(d, shown, count, 0);
}

void report_add_levels(struct document *d, struct digest *digest)
{
    open_level_table(d, DOC_BOTH, report_of(digest));
    for (size_t i = 0; i < digest->level_count; i++)
        levels_add_level(d, level_is_in(digest, &digest->levels[i]), digest->run->machine, &digest->levels[i]);
    doc_close(d);
}

/* ------------------------------------------------------------------ TLBs */

/* What it translates when it is full of the smallest and of the largest pages it holds; none where it holds none. */
static void add_coverage(struct document *d, const struct caches_tlb *tlb)
{
    uint64_t least = 0, most = 0;
    char low[32], high[32];
    doc_group(d, DOC_JSON, "coverage");
    for (unsigned kind = 0; kind < CACHES_PAGE_KINDS; kind++) {
        const uint64_t bytes = caches_tlb_coverage(tlb, (enum caches_tlb_kind)kind);
        if (bytes != 0)
            doc_count(d, DOC_JSON, caches_kind_names[kind], bytes);
        least = least == 0 ? bytes : least;
        most = bytes != 0 ? bytes : most;
    }
    doc_close(d);
    if (least != 0)
        doc_words(d, DOC_TEXT, "covers", "%s%s%s", c2_size_text(low, least), least == most ? "" : " to ",
                  least == most ? "" : c2_size_text(high, most));
}

/* full: the text has it even where it was not accessed. */
static void levels_add_tlb(struct document *d, bool full, const struct caches_tlb *tlb,
                           const struct caches_tlb_counts *n)
{
    doc_group(d, full || n->accesses != 0 ? DOC_BOTH : DOC_JSON, NULL);
    doc_string(d, DOC_BOTH, "name", tlb->name);
    doc_count(d, DOC_BOTH, "accesses", n->accesses);
    doc_count(d, DOC_BOTH, "misses", n->misses);
    doc_count(d, DOC_BOTH, "entries", tlb->entries);
    doc_count(d, DOC_JSON, "ways", tlb->ways);
    add_coverage(d, tlb);
    doc_close(d);
}

static void levels_add_served(struct document *d, const struct report_run *run)
{
    const struct caches_machine *machine = run->sim.machine;
    doc_say(d, ", served by");
    doc_table(d, DOC_JSON, "served_by");
    for (uint32_t i = machine->walks_from; i <= machine->level_count; i++) {
        const char *level = i < machine->level_count ? machine->levels[i].name : "memory";
        doc_say(d, "%s %s %s", i == machine->walks_from ? "" : ",", level, doc_digits(d, run->sim.walk_reads[i]));
        doc_group(d, DOC_JSON, NULL);
        doc_string(d, DOC_JSON, "level", level);
        doc_count(d, DOC_JSON, "reads", run->sim.walk_reads[i]);
        doc_close(d);
    }
    doc_close(d);
    doc_say(d, " (in the counts of these levels)");
}

static void add_walks(struct document *d, enum doc_in in, const struct report_run *run)
{
    const struct caches_walk_counts *walks = &run->sim.measured->walks;
    doc_group(d, in, "walks");
    doc_note(d, DOC_LINE, NULL, "page walks: %s; %s reads of page-table entries", doc_digits(d, walks->count),
             doc_digits(d, walks->reads));
    doc_count(d, DOC_JSON, "count", walks->count);
    doc_count(d, DOC_JSON, "reads", walks->reads);
    doc_string(d, DOC_JSON, "mode", run->sim.machine->walks_cached ? "cached" : "counted");
    if (run->sim.machine->walks_cached)
        levels_add_served(d, run);
    else
        doc_say(d, ", not sent through the caches");
    doc_close(d);
}

static void levels_add_tlbs(struct document *d, enum doc_in in, const struct report_run *run)
{
    static const struct doc_column columns[] = {{.heading = "TLB", .key = "name", .form = DOC_LEFT},
                                                {.heading = "entries", .key = "entries"},
                                                {.heading = "covers", .key = "covers", .spare = 1},
                                                {.heading = "accesses", .key = "accesses"},
                                                {.heading = "misses", .key = "misses"},
                                                {.heading = "miss rate", .key = "misses", .of = "accesses"}};
    doc_table(d, in, "tlb");
    doc_columns(d, columns, COUNT_OF(columns), 0);
    for (uint32_t i = 0; run->sim.tlb && i < caches_tlbs_count(run->sim.tlb); i++)
        levels_add_tlb(d, run->sim.full, caches_tlbs_at(run->sim.tlb, i), &run->sim.measured->tlbs[i]);
    doc_close(d);
    if (run->sim.tlb)
        add_walks(d, in, run);
}

void report_add_tlbs(struct document *d, struct digest *digest)
{
    levels_add_tlbs(d, digest_shows_tlbs(digest) ? DOC_BOTH : DOC_JSON, report_of(digest));
}

/* ------------------------------------------------------------------ against another placement */

static void add_label(struct document *d, const struct digest_level *here, const struct digest_level *there,
                      const struct analyses_against_counts *labels)
{
    doc_group(d, DOC_BOTH, NULL);
    doc_string(d, DOC_BOTH, "level", here->level->name);
    doc_count(d, DOC_BOTH, "inherent", labels->inherent);
    doc_count(d, DOC_BOTH, "placement", labels->placement);
    doc_count(d, DOC_JSON, "walks", labels->walks);
    doc_count(d, DOC_TEXT, "conflict", here->counts->conflict);
    doc_count(d, DOC_TEXT, "misses", here->counts->misses);
    doc_count(d, DOC_TEXT, "misses there", there->counts->misses);
    doc_count(d, DOC_TEXT, "conflict there", there->counts->conflict);
    doc_close(d);
}

static void levels_add_labels(struct document *d, const struct digest *digest, const struct digest_level *there)
{
    static const struct doc_column columns[] = {{.heading = "level", .key = "level", .form = DOC_LEFT},
                                                {.heading = "conflict misses", .key = "conflict"},
                                                {.heading = "inherent", .key = "inherent"},
                                                {.heading = "due to placement", .key = "placement"},
                                                {.heading = "misses", .key = "misses", .spare = 1},
                                                {.heading = "misses there", .key = "misses there", .spare = 2},
                                                {.heading = "conflicts there", .key = "conflict there", .spare = 3}};
    const struct analyses_against_counts *labels = digest->run->found[ANALYSIS_against];
    uint64_t walks = 0;
    doc_table(d, DOC_BOTH, "labels");
    doc_columns(d, columns, COUNT_OF(columns), 0);
    for (size_t i = 0; i < digest->level_count; i++) {
        const struct analyses_against_counts *of = &labels[digest->levels[i].number];
        add_label(d, &digest->levels[i], &there[i], of);
        walks += of->walks;
    }
    doc_close(d);
    if (walks != 0)
        doc_note(d, DOC_LINE, NULL,
                 "%" PRIu64 " conflict misses of page walks are neither inherent nor due to placement", walks);
}

static void note_tlbs(struct document *d, const struct report_run *run)
{
    const struct sim_totals *here = run->sim.measured, *there = run->against->sim.measured;
    doc_note(d, DOC_LINE, NULL, "TLB misses, here and there:");
    for (uint32_t i = 0; i < caches_tlbs_count(run->sim.tlb); i++) {
        const uint64_t counts[2] = {here->tlbs[i].misses, there->tlbs[i].misses};
        if (counts[0] + counts[1] != 0)
            doc_say(d, " %s %s and %s,", caches_tlbs_at(run->sim.tlb, i)->name, doc_digits(d, counts[0]),
                    doc_digits(d, counts[1]));
    }
    doc_say(d, " page walks %s and %s", doc_digits(d, here->walks.count), doc_digits(d, there->walks.count));
}

static void note_pages(struct document *d, const struct report_run *there)
{
    doc_note(d, DOC_LINE, NULL, "pages there: %s placement; %s of 4 KiB, %s of 2 MiB, %s of 1 GiB",
             mmu_placement_name(there->sim.placement->placement), doc_digits(d, there->pages->small_pages),
             doc_digits(d, there->pages->huge_2m), doc_digits(d, there->pages->huge_1g));
}

void report_add_counted(struct document *d, const struct report_run *run)
{
    struct digest_level levels[DIGEST_LEVELS];
    const size_t count = digest_levels(levels, &run->sim);
    report_add_pages(d, DOC_JSON, run);
    open_level_table(d, DOC_JSON, run);
    for (size_t i = 0; i < count; i++)
        levels_add_level(d, DOC_JSON, run->sim.machine, &levels[i]);
    doc_close(d);
    levels_add_tlbs(d, DOC_JSON, run);
}

void report_add_against(struct document *d, struct digest *digest)
{
    const struct report_run *run = report_of(digest), *there = run->against;
    struct digest_level levels[DIGEST_LEVELS];
    if (!there)
        return;
    digest_levels(levels, &there->sim);
    doc_group(d, DOC_BOTH, "against");
    doc_note(d, DOC_LINE, NULL, "against %s:", run->against_text);
    doc_string(d, DOC_JSON, "with", run->against_text);
    levels_add_labels(d, digest, levels);
    if (run->sim.tlb)
        note_tlbs(d, run);
    note_pages(d, there);
    report_add_counted(d, there);
    doc_close(d);
}
