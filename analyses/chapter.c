/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * chapter: what chapters of a report have in common, in the JSON.
 *
 * Invariants
 *   A name is the loader's or the analysis's; what neither knows is an address in its file, never guessed.
 */
#include <inttypes.h>

#include "analyses/chapter.h"

/* ------------------------------------------------------------------ counts and costs */

void chapter_add_counts(struct document *d, enum doc_in in, const struct caches_machine *machine, const char *name,
                        const struct caches_counts *counts)
{
    doc_string(d, in, "name", name);
#define X(field, help) doc_count(d, in, #field, counts->field);
    CACHES_COUNTERS(X)
    if (caches_machine_writes_on(machine)) {
        CACHES_STORE_COUNTERS(X)
    }
#undef X
}

void chapter_add_measured(struct document *d, const struct sim_counts *n)
{
    doc_group(d, DOC_JSON, "measured");
#define X(field, help) doc_count(d, DOC_JSON, #field, n->field);
    SIM_COUNTERS(X)
#undef X
    doc_close(d);
}

void chapter_add_totals(struct document *d, const struct caches_machine *machine, const struct sim_totals *of)
{
    chapter_add_measured(d, &of->counts);
    doc_table(d, DOC_JSON, "levels");
    for (uint32_t i = 0; i < machine->level_count; i++) {
        doc_group(d, DOC_JSON, NULL);
        chapter_add_counts(d, DOC_JSON, machine, machine->levels[i].name, &of->levels[i]);
        doc_close(d);
        if (i != 0 || !machine->has_l1i)
            continue;
        doc_group(d, DOC_JSON, NULL);
        chapter_add_counts(d, DOC_JSON, machine, machine->l1i.name, &of->l1i);
        doc_close(d);
    }
    doc_close(d);
}

void chapter_add_parts(struct document *d, const struct caches_machine *machine, const struct caches_cost *cost)
{
    doc_count(d, DOC_JSON, "cost", caches_cost_sum(cost));
    doc_count(d, DOC_JSON, "caches", cost->caches);
    if (machine->tlb_count != 0) {
        doc_count(d, DOC_JSON, "translations", cost->translations);
        doc_count(d, DOC_JSON, "walks", cost->walks);
    }
    if (caches_machine_cores(machine) > 1)
        doc_count(d, DOC_JSON, "coherence", cost->coherence);
}

/* ------------------------------------------------------------------ places */

void chapter_add_address(struct document *d, const char *key, uint64_t address)
{
    doc_words(d, DOC_JSON, key, "0x%" PRIx64, address);
}

static void chapter_add_source(struct document *d, const char *function, const char *file, int line)
{
    doc_string(d, DOC_JSON, "function", function);
    doc_string(d, DOC_JSON, "file", file);
    if (file)
        doc_count(d, DOC_JSON, "line", (uint64_t)line);
}

/* Without a function `address` is where it lies in the file as linked. */
void chapter_add_place(struct document *d, const struct loader_place *place)
{
    chapter_add_source(d, place->function, place->file, place->line);
    doc_string(d, DOC_JSON, "module", place->object);
    if (place->object && !place->function)
        chapter_add_address(d, "address", place->offset);
}

void chapter_add_loop_name(struct document *d, const struct loader_place *place, const struct analyses_loop *loop)
{
    if (!loop) {
        doc_flag(d, DOC_JSON, "outside", true);
        return;
    }
    chapter_add_place(d, place);
    chapter_add_address(d, "header", loop->header.v);
}

void chapter_add_rest(struct document *d, size_t count)
{
    if (count <= CHAPTER_LISTED)
        return;
    doc_group(d, DOC_JSON, NULL);
    doc_count(d, DOC_JSON, "rest", count - CHAPTER_LISTED);
    doc_close(d);
}

void chapter_add_ranked(struct document *d, const struct digest *digest, const struct digest_ranking *ranking,
                        const struct digest_ranked *of)
{
    if (ranking == &digest->functions) {
        doc_string(d, DOC_JSON, "name", of->place.function);
        doc_string(d, DOC_JSON, "module", of->place.object);
    } else if (ranking == &digest->loops) {
        chapter_add_loop_name(d, &of->place, of->loop);
    } else {
        chapter_add_place(d, &of->place);
        chapter_add_address(d, "pc", of->pc.v);
    }
}

void chapter_add_inlined(struct document *d, const struct analyses_run *run, struct guest_va pc)
{
    struct loader_frame frames[NAMES_FRAMES];
    size_t count = run->symbols ? loader_frames_of(run->symbols, pc, frames, NAMES_FRAMES) : 1;
    if (count < 2)
        return;
    doc_table(d, DOC_JSON, "inlined");
    for (size_t i = 0; i < count && i < NAMES_FRAMES; i++) {
        doc_group(d, DOC_JSON, NULL);
        chapter_add_source(d, frames[i].function, frames[i].file, frames[i].line);
        doc_close(d);
    }
    doc_close(d);
}
