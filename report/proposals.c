/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * proposals: the text of `c2emu advise`.
 *
 * Model
 *   One table, a row a proposal and one for the run as it is, ordered by what all misses cost (caches/cost.c); then
 *   each proposal in words. A proposal helps if it costs less than the run by one part in HELPS or more.
 */
#include <inttypes.h>
#include <string.h>

#include "report/profile_priv.h"
#include "report/proposals_priv.h"

#define HELPS 100u
#define NAMES 6u /* objects that are named in one breath */
#define COLUMNS (3u + 2u * CACHES_MAX_LEVELS)

uint64_t report_outcome_cost(const struct caches_machine *machine, const struct analyses_outcome *outcome)
{
    uint64_t cost = machine->has_l1i ? outcome->l1i.misses * caches_miss_cycles(machine, 0, true) : 0;
    for (uint32_t i = 0; i < machine->level_count; i++)
        cost += outcome->levels[i].misses * caches_miss_cycles(machine, i, false);
    return cost;
}

static bool goes_before(const struct report_proposals *of, uint32_t a, uint32_t b)
{
    const struct analyses_outcome *x = &of->outcomes[a], *y = &of->outcomes[b];
    if (x->status != C2_OK || y->status != C2_OK)
        return x->status == C2_OK;
    return report_outcome_cost(of->run->machine, x) < report_outcome_cost(of->run->machine, y);
}

void report_proposals_order(uint32_t order[ANALYSES_PROPOSALS], const struct report_proposals *of)
{
    for (uint32_t i = 0; i < of->count; i++) {
        uint32_t at = i;
        for (; at > 0 && goes_before(of, i, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

bool report_proposal_helps(const struct report_proposals *of, uint32_t number)
{
    const struct analyses_outcome *outcome = &of->outcomes[number];
    const uint64_t before = report_outcome_cost(of->run->machine, of->before);
    if (outcome->status != C2_OK)
        return false;
    const uint64_t after = report_outcome_cost(of->run->machine, outcome);
    return after < before && (before - after) * HELPS >= before;
}

/* ------------------------------------------------------------------ in words */

static bool alike(const struct analyses_change *a, const struct analyses_change *b)
{
    return a->row_bytes == b->row_bytes && a->pad_bytes == b->pad_bytes;
}

/* A variable by its name; a block with the line that allocates it, when it is alone. */
static void say_name(struct c2_words *words, const struct report_proposals *of, uint32_t object, bool alone)
{
    char text[512];
    const struct analyses_object *named = &of->run->profile->objects[object];
    const bool by_name = named->kind == ANALYSES_STATIC || !alone;
    c2_say(words, "%s", by_name ? named->name : report_object_text(text, sizeof text, of->run, named));
}

/* Those of the changes that stretch alike; like NULL: all of them. */
static void say_names(struct c2_words *words, const struct report_proposals *of,
                      const struct analyses_proposal *proposal, const struct analyses_change *like)
{
    uint32_t said = 0, left = 0;
    for (uint32_t i = 0; i < proposal->change_count; i++) {
        if (like && !alike(like, &proposal->changes[i]))
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
        while (!alike(&proposal->changes[first], change))
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
           proposal->changes[0].align, of->run->machine->levels[proposal->level].name);
}

char *report_proposal_words(char *buffer, size_t bytes, const struct report_proposals *of, uint32_t number)
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
    if (proposal->means & ANALYSES_HUGE) {
        c2_say(&words, "%s", words.used == 0 ? "" : "; ");
        say_names(&words, of, proposal, NULL);
        c2_say(&words, " in pages of 2 MiB");
    }
    if (proposal->means & ANALYSES_COLORED)
        c2_say(&words, "pages placed by colour (--pages colored,level=%s: %" PRIu32 " colours)",
               of->run->machine->levels[proposal->level].name, proposal->colors);
    return buffer;
}

/* ------------------------------------------------------------------ the table */

static void fill_heading(report_cell *row, const struct caches_machine *machine)
{
    snprintf(row[0], sizeof row[0], "layout");
    snprintf(row[1], sizeof row[1], "cost");
    snprintf(row[2], sizeof row[2], "change");
    for (uint32_t i = 0; i < machine->level_count; i++) {
        snprintf(row[3 + 2 * i], sizeof row[0], "%s misses", machine->levels[i].name);
        snprintf(row[4 + 2 * i], sizeof row[0], "conflicts");
    }
}

static void fill_change(report_cell text, uint64_t before, uint64_t after)
{
    char share[32];
    report_percent(share, after > before ? after - before : before - after, before);
    snprintf(text, sizeof(report_cell), "%s%s", after > before ? "+" : after < before ? "-" : "", share);
}

static void fill_row(report_cell *row, const struct report_proposals *of, const struct analyses_outcome *outcome)
{
    const uint64_t cost = report_outcome_cost(of->run->machine, outcome);
    c2_group_digits(row[1], cost);
    fill_change(row[2], report_outcome_cost(of->run->machine, of->before), cost);
    for (uint32_t i = 0; i < of->run->machine->level_count; i++) {
        c2_group_digits(row[3 + 2 * i], outcome->levels[i].misses);
        c2_group_digits(row[4 + 2 * i], outcome->levels[i].conflict);
    }
}

static void put_outcomes(FILE *to, const struct report_proposals *of, const uint32_t *order)
{
    report_cell rows[2 + ANALYSES_PROPOSALS][COLUMNS] = {{{0}}};
    size_t row_count = 2;
    fill_heading(rows[0], of->run->machine);
    snprintf(rows[1][0], sizeof rows[0][0], "as it is");
    fill_row(rows[1], of, of->before);
    snprintf(rows[1][2], sizeof rows[0][0], "-");
    for (uint32_t i = 0; i < of->count; i++) {
        if (of->outcomes[order[i]].status != C2_OK)
            continue;
        snprintf(rows[row_count][0], sizeof rows[0][0], "%" PRIu32, i + 1);
        fill_row(rows[row_count++], of, &of->outcomes[order[i]]);
    }
    report_put_table(to, &(struct report_table){.cells = rows[0],
                                                .rows = row_count,
                                                .stride = COLUMNS,
                                                .left = 1,
                                                .columns = 3 + 2 * of->run->machine->level_count,
                                                .indent = ""});
}

/* ------------------------------------------------------------------ all of it */

static void put_words(FILE *to, const struct report_proposals *of, const uint32_t *order)
{
    char text[1024];
    for (uint32_t i = 0; i < of->count; i++) {
        const struct analyses_outcome *outcome = &of->outcomes[order[i]];
        fprintf(to, "%2" PRIu32 "  %s\n", i + 1, report_proposal_words(text, sizeof text, of, order[i]));
        if (outcome->status != C2_OK)
            fprintf(to, "    not simulated: %s\n", outcome->error.text);
    }
}

static void put_verdict(FILE *to, const struct report_proposals *of, const uint32_t *order)
{
    char text[1024];
    if (of->count == 0)
        fprintf(to,
                "nothing to try: no variable, block or mapping of the program has conflict misses that a layout could "
                "change\n");
    else if (!report_proposal_helps(of, order[0]))
        fprintf(to, "nothing helps: no layout costs 1 %% less than the run as it is\n");
    else
        fprintf(to, "best: %s\n", report_proposal_words(text, sizeof text, of, order[0]));
}

bool report_proposals_same(const struct report_proposals *of)
{
    const struct report_run *run = of->run;
    bool same = !run->l1i || memcmp(run->l1i, &of->before->l1i, sizeof *run->l1i) == 0;
    for (uint32_t i = 0; i < run->machine->level_count; i++)
        same &= memcmp(run->levels[i], &of->before->levels[i], sizeof *run->levels[i]) == 0;
    return same;
}

/* Played back, the run must be what it was; should it not be, figures are for comparing with each other only. */
static void put_difference(FILE *to, const struct report_proposals *of)
{
    if (!report_proposals_same(of))
        fprintf(to, "note: played back, the run as it is does not have exactly the misses that it had\n");
}

enum c2_status report_proposals_text(FILE *to, const struct report_proposals *of, struct c2_error *err)
{
    uint32_t order[ANALYSES_PROPOSALS];
    report_proposals_order(order, of);
    fprintf(to, "advice      %" PRIu32 " layout%s simulated on the references of the run, machine %s; best first\n\n",
            of->count, of->count == 1 ? "" : "s", of->run->machine->name);
    put_outcomes(to, of, order);
    if (of->count != 0)
        fputc('\n', to);
    put_words(to, of, order);
    put_difference(to, of);
    fputc('\n', to);
    put_verdict(to, of, order);
    return ferror(to) ? c2_fail(err, C2_ERR_IO, "cannot write the text report") : C2_OK;
}
