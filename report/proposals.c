/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * proposals: the report of `c2emu advise`.
 *
 * Model
 *   The findings, as in the report of a run (findings.c). Then in the text one table, a row a proposal and one for the
 *   run as it is, ordered by what all accesses cost (caches/cost.c); then each proposal in words, with the numbers of
 *   the findings that it was tried for. In the JSON an object a layout, in the same order. A proposal helps if it costs
 *   less than the run by one part in HELPS or more.
 */
#include <inttypes.h>
#include <string.h>

#include "report/report_priv.h"

#define HELPS 100u
#define WORDS_BYTES 1024
#define NAMES 6u /* objects that are named in one breath */

static uint64_t proposals_cost_of(const struct analyses_outcome *outcome) { return caches_cost_sum(&outcome->cost); }

static bool proposals_goes_before(const struct report_proposals *of, uint32_t a, uint32_t b)
{
    const struct analyses_outcome *x = &of->outcomes[a], *y = &of->outcomes[b];
    if (x->status != C2_OK || y->status != C2_OK)
        return x->status == C2_OK;
    return proposals_cost_of(x) < proposals_cost_of(y);
}

/* Numbers of the proposals: the cheapest first, of equals the first; those that failed at the end. */
static void proposals_put_in_order(uint32_t order[ANALYSES_PROPOSALS], const struct report_proposals *of)
{
    for (uint32_t i = 0; i < of->count; i++) {
        uint32_t at = i;
        for (; at > 0 && proposals_goes_before(of, i, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

static bool helps(const struct report_proposals *of, uint32_t number)
{
    const struct analyses_outcome *outcome = &of->outcomes[number];
    const uint64_t before = proposals_cost_of(of->before);
    if (outcome->status != C2_OK)
        return false;
    const uint64_t after = proposals_cost_of(outcome);
    return after < before && (before - after) * HELPS >= before;
}

/* ------------------------------------------------------------------ in words */

static bool proposals_alike(const struct analyses_change *a, const struct analyses_change *b)
{
    return a->row_bytes == b->row_bytes && a->pad_bytes == b->pad_bytes;
}

/* A variable by its name; a block with the line that allocates it, when it is alone. */
static void say_name(struct c2_words *words, const struct report_proposals *of, uint32_t object, bool alone)
{
    char text[512];
    const struct analyses_object *named = &of->run->sim.profile->objects[object];
    const bool by_name = named->kind == ANALYSES_STATIC || !alone;
    c2_say(words, "%s", by_name ? named->name : names_object_text(text, sizeof text, &of->run->sim, named));
}

/* Those of the changes that stretch alike; like NULL: all of them. */
static void say_names(struct c2_words *words, const struct report_proposals *of,
                      const struct analyses_proposal *proposal, const struct analyses_change *like)
{
    uint32_t said = 0, left = 0;
    for (uint32_t i = 0; i < proposal->change_count; i++) {
        if (like && !proposals_alike(like, &proposal->changes[i]))
            continue;
        if (said == NAMES) {
            left++;
            continue;
        }
        c2_say(words, "%s", said++ == 0 ? "" : ", ");
        say_name(words, of, proposal->changes[i].object, proposal->change_count == 1);
    }
    if (left != 0)
        c2_say(words, " and %" PRIu32 " more", left);
}

static void say_rows(struct c2_words *words, const struct report_proposals *of,
                     const struct analyses_proposal *proposal)
{
    const char *between = "";
    for (uint32_t i = 0; i < proposal->change_count; i++) {
        const struct analyses_change *change = &proposal->changes[i];
        uint32_t first = 0;
        while (!proposals_alike(&proposal->changes[first], change))
            first++;
        if (first != i || change->pad_bytes == 0)
            continue;
        c2_say(words, "%s", between);
        say_names(words, of, proposal, change);
        c2_say(words, ": rows of %" PRIu64 " B -> %" PRIu64 " B (+%" PRIu64 " B)", change->row_bytes,
               change->row_bytes + change->pad_bytes, change->pad_bytes);
        between = "; ";
    }
}

static void say_stagger(struct c2_words *words, const struct report_proposals *of,
                        const struct analyses_proposal *proposal)
{
    say_names(words, of, proposal, NULL);
    c2_say(words, " start %" PRIu64 " B apart (mod %" PRIu64 " B, the sets of %s)", proposal->step_bytes,
           proposal->changes[0].align, of->run->sim.machine->levels[proposal->level].name);
}

static void say_room(struct c2_words *words, const struct report_proposals *of,
                     const struct analyses_proposal *proposal)
{
    char size[32];
    say_name(words, of, proposal->object, true);
    c2_say(words, " worked on in blocks, as if %s had %s", of->run->sim.machine->levels[proposal->level].name,
           doc_size(size, proposal->room_bytes));
}

/* What to write in the source. Returns buffer. */
static char *in_words(char *buffer, size_t bytes, const struct report_proposals *of, uint32_t number)
{
    const struct analyses_proposal *proposal = &of->proposals[number];
    struct c2_words words = {buffer, bytes, 0};
    if (proposal->means & ANALYSES_PAD_ROWS)
        say_rows(&words, of, proposal);
    if (proposal->means & ANALYSES_STAGGER)
        say_stagger(&words, of, proposal);
    if (proposal->means & ANALYSES_PAD_BLOCKS) {
        say_names(&words, of, proposal, NULL);
        c2_say(&words, ": each block %" PRIu64 " B longer", proposal->changes[0].pad_bytes);
    }
    if (proposal->means & ANALYSES_SPLIT) {
        say_names(&words, of, proposal, NULL);
        c2_say(&words, ": %" PRIu64 " of the %" PRIu64 " B of each element in an array of their own",
               analyses_apart_bytes(proposal), proposal->element_bytes);
    }
    if (proposal->means & ANALYSES_IN_ORDER) {
        say_names(&words, of, proposal, NULL);
        c2_say(&words, proposal->walk->element_bytes == 0 ? ": blocks side by side, in the order of the walk"
                                                          : ": elements in the order of the walk");
    }
    if (proposal->means & ANALYSES_ROOM)
        say_room(&words, of, proposal);
    if (proposal->means & ANALYSES_HUGE) {
        c2_say(&words, "%s", words.used == 0 ? "" : "; ");
        say_names(&words, of, proposal, NULL);
        c2_say(&words, " in pages of 2 MiB");
    }
    if (proposal->means & ANALYSES_COLORED)
        c2_say(&words, "pages placed by colour (--pages colored,level=%s: %" PRIu32 " colours)",
               of->run->sim.machine->levels[proposal->level].name, proposal->colors);
    if (proposal->means & ANALYSES_REDRAWN)
        c2_say(&words, "other frames (seed %" PRIu64 ")", of->run->sim.placement->seed + proposal->draw);
    return buffer;
}

/* ------------------------------------------------------------------ counts */

static void proposals_add_level(struct document *d, const struct caches_machine *machine, const char *name,
                                const struct caches_counts *counts)
{
    doc_group(d, DOC_JSON, NULL);
    chapter_add_counts(d, DOC_JSON, machine, name, counts);
    doc_close(d);
}

static void add_outcome(struct document *d, const struct caches_machine *machine,
                        const struct analyses_outcome *outcome)
{
    chapter_add_parts(d, machine, &outcome->cost);
    doc_table(d, DOC_JSON, "levels");
    for (uint32_t i = 0; i < machine->level_count; i++) {
        proposals_add_level(d, machine, machine->levels[i].name, &outcome->levels[i]);
        if (i == 0 && machine->has_l1i)
            proposals_add_level(d, machine, machine->l1i.name, &outcome->l1i);
    }
    doc_close(d);
}

/* ------------------------------------------------------------------ the table of the text */

static void proposals_add_row(struct document *d, const struct report_proposals *of,
                              const struct analyses_outcome *outcome, const char *name)
{
    const struct caches_machine *machine = of->run->sim.machine;
    const uint64_t before = proposals_cost_of(of->before), after = proposals_cost_of(outcome);
    doc_group(d, DOC_TEXT, NULL);
    doc_string(d, DOC_TEXT, "layout", name);
    doc_count(d, DOC_TEXT, "cost", after);
    if (outcome != of->before)
        doc_words(d, DOC_TEXT, "change", "%s%s",
                  after > before   ? "+"
                  : after < before ? "-"
                                   : "",
                  doc_share(d, after > before ? after - before : before - after, before));
    for (uint32_t i = 0; i < machine->level_count; i++) {
        doc_count(d, DOC_TEXT, doc_keep(d, "%s misses", machine->levels[i].name), outcome->levels[i].misses);
        doc_count(d, DOC_TEXT, doc_keep(d, "%s conflicts", machine->levels[i].name), outcome->levels[i].conflict);
    }
    doc_close(d);
}

static void proposals_add_columns(struct document *d, const struct caches_machine *machine)
{
    struct doc_column columns[3 + 2 * CACHES_MAX_LEVELS] = {{.heading = "layout", .key = "layout", .form = DOC_LEFT},
                                                            {.heading = "cost", .key = "cost"},
                                                            {.heading = "change", .key = "change"}};
    for (uint32_t i = 0; i < machine->level_count; i++) {
        const char *misses = doc_keep(d, "%s misses", machine->levels[i].name);
        columns[3 + 2 * i] = (struct doc_column){.heading = misses, .key = misses, .spare = i};
        columns[4 + 2 * i] = (struct doc_column){.heading = "conflicts",
                                                 .key = doc_keep(d, "%s conflicts", machine->levels[i].name),
                                                 .spare = i == 0 ? 0 : CACHES_MAX_LEVELS + i};
    }
    doc_columns(d, columns, 3 + 2 * machine->level_count, 0);
}

static void proposals_add_table(struct document *d, const struct report_proposals *of, const uint32_t *order)
{
    doc_table(d, DOC_TEXT, NULL);
    proposals_add_columns(d, of->run->sim.machine);
    proposals_add_row(d, of, of->before, "as it is");
    for (uint32_t i = 0; i < of->count; i++) {
        if (of->outcomes[order[i]].status == C2_OK)
            proposals_add_row(d, of, &of->outcomes[order[i]], doc_digits(d, i + 1));
    }
    doc_close(d);
}

/* ------------------------------------------------------------------ layouts */

static void add_means(struct document *d, unsigned bits)
{
    static const char *const names[] = {"pad_rows", "pad_blocks", "stagger",   "huge_pages",  "page_colors",
                                        "split",    "in_order",   "in_blocks", "other_frames"};
    doc_table(d, DOC_JSON, "means");
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (bits >> i & 1)
            doc_string(d, DOC_JSON, NULL, names[i]);
    doc_close(d);
}

static void proposals_add_objects(struct document *d, const struct report_proposals *of,
                                  const struct analyses_proposal *proposal)
{
    doc_table(d, DOC_JSON, "objects");
    for (uint32_t i = 0; i < proposal->change_count; i++) {
        const struct analyses_change *change = &proposal->changes[i];
        doc_group(d, DOC_JSON, NULL);
        doc_string(d, DOC_JSON, "name", of->run->sim.profile->objects[change->object].name);
        if (change->pad_bytes != 0) {
            doc_count(d, DOC_JSON, "row", change->row_bytes);
            doc_count(d, DOC_JSON, "pad", change->pad_bytes);
        }
        if (proposal->element_bytes != 0)
            doc_count(d, DOC_JSON, "element", proposal->element_bytes);
        if (proposal->means & ANALYSES_SPLIT)
            doc_count(d, DOC_JSON, "apart", analyses_apart_bytes(proposal));
        doc_count(d, DOC_JSON, "offset", change->offset);
        doc_count(d, DOC_JSON, "modulo", change->align);
        doc_close(d);
    }
    doc_close(d);
}

/* " (finding 1)", " (findings 1, 3)"; and in the JSON their numbers. */
static void add_wishes(struct document *d, struct c2_words *words, const struct report_proposals *of,
                       const struct analyses_proposal *proposal)
{
    const struct findings *findings = of->run->findings;
    const bool many = (proposal->wishes & (proposal->wishes - 1)) != 0;
    uint32_t said = 0;
    doc_table(d, DOC_JSON, "findings");
    for (uint32_t i = 0; i < findings->count; i++) {
        const uint32_t bit = findings->list[i].number;
        if (bit >= 64 || (proposal->wishes >> bit & 1) == 0)
            continue;
        doc_count(d, DOC_JSON, NULL, i + 1);
        c2_say(words, "%s%" PRIu32, said++ != 0 ? ", " : many ? " (findings " : " (finding ", i + 1);
    }
    c2_say(words, "%s", said != 0 ? ")" : "");
    doc_close(d);
}

static void add_layout(struct document *d, const struct report_proposals *of, uint32_t number, uint32_t place)
{
    const struct analyses_outcome *outcome = &of->outcomes[number];
    char text[WORDS_BYTES], tried_for[WORDS_BYTES] = "";
    struct c2_words to = {tried_for, sizeof tried_for, 0};
    in_words(text, sizeof text, of, number);
    doc_string(d, DOC_JSON, "words", text);
    add_wishes(d, &to, of, &of->proposals[number]);
    doc_note(d, DOC_LINE, NULL, "%2" PRIu32 "  %s%s", place, text, tried_for);
    add_means(d, of->proposals[number].means);
    proposals_add_objects(d, of, &of->proposals[number]);
    if (outcome->status != C2_OK) {
        doc_note(d, DOC_LINE, NULL, "    not simulated: %s", outcome->error.text);
        doc_string(d, DOC_JSON, "failed", outcome->error.text);
        return;
    }
    doc_flag(d, DOC_JSON, "helps", helps(of, number));
    add_outcome(d, of->run->sim.machine, outcome);
}

static void add_layouts(struct document *d, const struct report_proposals *of, const uint32_t *order)
{
    doc_table(d, DOC_BOTH, "layouts");
    for (uint32_t i = 0; i < of->count; i++) {
        doc_group(d, DOC_BOTH, NULL);
        add_layout(d, of, order[i], i + 1);
        doc_close(d);
    }
    doc_close(d);
}

/* ------------------------------------------------------------------ all of it */

static bool proposals_is_same(const struct report_proposals *of)
{
    const struct report_run *run = of->run;
    bool same = !run->sim.l1i || memcmp(run->sim.l1i, &of->before->l1i, sizeof *run->sim.l1i) == 0;
    for (uint32_t i = 0; i < run->sim.machine->level_count; i++)
        same &= memcmp(run->sim.levels[i], &of->before->levels[i], sizeof *run->sim.levels[i]) == 0;
    return same;
}

static void add_head(struct document *d, const struct report_proposals *of)
{
    const struct report_run *run = of->run;
    doc_string(d, DOC_JSON, "format", "c2emu-advice");
    doc_count(d, DOC_JSON, "version", 1);
    report_add_command(d, run->command);
    doc_note(d, DOC_KEY, "advice",
             "%" PRIu32 " layout%s simulated on the references of the run, machine %s; best first", of->count,
             of->count == 1 ? "" : "s", run->sim.machine->name);
    doc_string(d, DOC_JSON, "machine", run->sim.machine->name);
    doc_flag(d, DOC_JSON, "same_as_run", proposals_is_same(of));
    doc_group(d, DOC_JSON, "before");
    add_outcome(d, run->sim.machine, of->before);
    doc_close(d);
}

/* The best of what changes the program's data; `count`: there is none. What a larger level or other frames would do is
 * no layout. */
static uint32_t best_layout(const struct report_proposals *of, const uint32_t *order)
{
    uint32_t place = 0;
    while (place < of->count && (of->proposals[order[place]].means & (ANALYSES_ROOM | ANALYSES_REDRAWN)))
        place++;
    return place;
}

static void add_verdict(struct document *d, const struct report_proposals *of, const uint32_t *order)
{
    char text[WORDS_BYTES];
    const uint32_t best = best_layout(of, order);
    if (best == of->count)
        doc_note(d, DOC_LINE, NULL,
                 "nothing to try: no variable, block or mapping of the program has misses that a layout could change");
    else if (!helps(of, order[best]))
        doc_note(d, DOC_LINE, NULL, "nothing helps: no layout costs 1 %% less than the run as it is");
    else
        doc_note(d, DOC_LINE, NULL, "best: %s", in_words(text, sizeof text, of, order[best]));
}

/* Played back, the run must be what it was; should it not be, figures are for comparing with each other only. */
void report_add_proposals(struct document *d, struct digest *digest, const struct report_proposals *of)
{
    uint32_t order[ANALYSES_PROPOSALS];
    proposals_put_in_order(order, of);
    doc_section(d, DOC_BOTH, 1);
    add_head(d, of);
    doc_section(d, DOC_BOTH, 0);
    report_add_findings(d, digest);
    doc_section(d, DOC_BOTH, 1);
    proposals_add_table(d, of, order);
    if (of->count != 0)
        doc_section(d, DOC_BOTH, 1);
    add_layouts(d, of, order);
    if (!proposals_is_same(of))
        doc_note(d, DOC_LINE, NULL, "note: played back, the run as it is does not have exactly the misses that it had");
    doc_section(d, DOC_BOTH, 1);
    add_verdict(d, of, order);
}
