/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * processes: the programs of a run of several, a line each.
 *
 * Model
 *   First the findings of all programs but for their starts: by what their remedies would spare, then by their cost.
 *   In the order of the processes. The text has all of up to ROWS programs, of more those ROWS that cost most (of equal
 *   ones the first), and a line for the others. Endings are in it where one is unusual, in a word or two; reports where
 *   there are any.
 */
#include <stdlib.h>
#include <string.h>

#include "report/report_priv.h"

#define ROWS 30u
#define FOUND_ROWS 5u    /* of the text */
#define FOUND_SHARE 100u /* of the cost of all: less is left out */

/* It ended well, or became the program of the next row. */
static bool processes_is_usual(const char *ending)
{
    return strcmp(ending, "exit status 0") == 0 || strstr(ending, "(execve)");
}

/* Whether so many others cost more that this one is not shown. */
static bool processes_is_shown(const struct report_programs *programs, size_t number)
{
    const struct report_program *list = programs->list;
    size_t before = 0;
    if (programs->full || programs->count <= ROWS)
        return true;
    for (size_t i = 0; i < programs->count; i++)
        before += list[i].cost > list[number].cost || (list[i].cost == list[number].cost && i < number);
    return before < ROWS;
}

static void processes_add_program(struct document *d, enum doc_in in, const struct report_program *program)
{
    doc_group(d, in, NULL);
    doc_count(d, DOC_JSON, "pid", program->pid);
    doc_count(d, DOC_JSON, "parent", program->parent);
    doc_count(d, DOC_JSON, "number", program->number);
    if (program->number == 1)
        doc_words(d, DOC_TEXT, "who", "%u", program->pid);
    else
        doc_words(d, DOC_TEXT, "who", "%u-%u", program->pid, program->number);
    doc_string(d, DOC_BOTH, "program", program->name);
    doc_count(d, DOC_BOTH, "instructions", program->instructions);
    if (program->followed) {
        doc_count(d, DOC_BOTH, "first_misses", program->first_misses);
        doc_count(d, DOC_BOTH, "last_misses", program->last_misses);
        doc_count(d, DOC_BOTH, "cost", program->cost);
    }
    doc_string(d, DOC_JSON, "ending", program->ending);
    doc_words(d, DOC_TEXT, "ended", "%.*s", (int)strcspn(program->ending, ":"), program->ending);
    doc_string(d, DOC_BOTH, "report", program->report);
    doc_close(d);
}

void report_add_command(struct document *d, const char *const *command)
{
    doc_table(d, DOC_JSON, "command");
    for (size_t i = 0; command[i]; i++)
        doc_string(d, DOC_JSON, NULL, command[i]);
    doc_close(d);
}

static void processes_add_columns(struct document *d, const struct report_programs *programs)
{
    struct doc_column columns[8] = {{.heading = "process", .key = "who"},
                                    {.heading = "program", .key = "program", .form = DOC_LEFT},
                                    {.heading = "instructions", .key = "instructions"},
                                    {.heading = "L1D misses", .key = "first_misses", .spare = 1},
                                    {.heading = "to memory", .key = "last_misses"},
                                    {.heading = "cost", .key = "cost"}};
    size_t count = 6;
    bool ended = false, reported = false;
    for (size_t i = 0; i < programs->count; i++) {
        ended |= !processes_is_usual(programs->list[i].ending);
        reported = reported || programs->list[i].report;
    }
    if (ended)
        columns[count++] = (struct doc_column){.heading = "ending", .key = "ended", .form = DOC_LEFT, .spare = 2};
    if (reported)
        columns[count++] = (struct doc_column){.heading = "report", .key = "report", .form = DOC_NAME};
    doc_columns(d, columns, count, 0);
}

/* Those of the table that the text leaves out. */
static void processes_note_others(struct document *d, const struct report_programs *programs)
{
    uint64_t instructions = 0, cost = 0;
    size_t others = 0;
    for (size_t i = 0; i < programs->count; i++) {
        if (processes_is_shown(programs, i))
            continue;
        others++;
        instructions += programs->list[i].instructions;
        cost += programs->list[i].cost;
    }
    if (others != 0)
        doc_note(d, DOC_LINE, NULL, "and %s other%s: %s instructions, cost %s", doc_digits(d, others),
                 others == 1 ? "" : "s", doc_digits(d, instructions), doc_digits(d, cost));
}

/* ------------------------------------------------------------------ the findings of all */

bool report_is_listed(uint64_t cost, uint64_t whole) { return cost >= whole / FOUND_SHARE; }

/* What programs of one name have found at one place, as ranks of MPI or children of a shell do. */
struct of_program {
    const struct report_found *found; /* the first with words */
    const struct report_program *program;
    uint64_t cost, gain; /* of all */
    uint32_t processes;
};

struct of_programs {
    struct of_program *list;
    size_t count;
};

static int processes_by_worth(const void *left, const void *right)
{
    const struct of_program *a = left, *b = right;
    if (a->gain != b->gain)
        return a->gain > b->gain ? -1 : 1;
    if (a->cost != b->cost)
        return a->cost > b->cost ? -1 : 1;
    return (a->found > b->found) - (a->found < b->found);
}

bool report_is_same_finding(const struct report_found *one, const char *program, const struct report_found *other,
                            const char *other_program)
{
    return one->pattern == other->pattern && one->pc.v == other->pc.v && one->nth == other->nth &&
           strcmp(program, other_program) == 0;
}

static void add_found(struct of_programs *all, const struct report_found *found, const struct report_program *program)
{
    size_t at = 0;
    while (at < all->count &&
           !report_is_same_finding(all->list[at].found, all->list[at].program->name, found, program->name))
        at++;
    struct of_program *of = &all->list[at];
    all->count += at == all->count;
    if (!of->found || (!of->found->text[0] && found->text[0])) {
        of->found = found;
        of->program = program;
    }
    of->cost += found->cost;
    of->gain += found->gain;
    of->processes++;
}

static void add_one(struct document *d, const struct of_program *of, uint64_t whole, uint32_t number)
{
    char others[32] = "";
    doc_group(d, DOC_JSON, NULL);
    doc_count(d, DOC_JSON, "pid", of->program->pid);
    doc_count(d, DOC_JSON, "number", of->program->number);
    doc_count(d, DOC_JSON, "processes", of->processes);
    doc_count(d, DOC_JSON, "cost", of->cost);
    doc_count(d, DOC_JSON, "gain", of->gain);
    doc_string(d, DOC_JSON, "words", of->found->text);
    doc_close(d);
    if (number > FOUND_ROWS)
        return;
    if (of->processes > 1)
        snprintf(others, sizeof others, " and %u other%s", of->processes - 1, of->processes == 2 ? "" : "s");
    doc_note(d, DOC_ITEM, NULL, "%u. %s (%u%s): %s", number, of->program->name, of->program->pid, others,
             of->found->text);
    doc_note(d, DOC_ITEM, NULL, "   %s of the cost of all%s%s", doc_share(d, of->cost, whole),
             of->gain != 0 ? "; the remedy would spare about " : "",
             of->gain != 0 ? doc_share(d, of->gain, whole) : "");
}

/* Those that are listed, in their order. */
static void gather_found(struct of_programs *all, const struct report_programs *programs, uint64_t whole)
{
    size_t listed = 0;
    for (size_t i = 0; i < programs->count; i++)
        for (uint32_t k = 0; k < programs->list[i].found_count; k++)
            add_found(all, &programs->list[i].found[k], &programs->list[i]);
    for (size_t i = 0; i < all->count; i++)
        if (report_is_listed(all->list[i].cost, whole))
            all->list[listed++] = all->list[i];
    all->count = listed;
    qsort(all->list, listed, sizeof *all->list, processes_by_worth);
}

static void report_processes_add_found(struct document *d, const struct report_programs *programs)
{
    struct of_programs all = {.list = c2_calloc(programs->count * REPORT_FOUND + 1, sizeof *all.list)};
    uint64_t whole = 0;
    if (!all.list) {
        d->failed = true;
        return;
    }
    for (size_t i = 0; i < programs->count; i++)
        whole += programs->list[i].cost;
    gather_found(&all, programs, whole);
    if (all.count != 0)
        doc_note(d, DOC_LINE, NULL, "findings of all programs");
    doc_table(d, DOC_BOTH, "findings");
    for (size_t i = 0; i < all.count; i++)
        add_one(d, &all.list[i], whole, (uint32_t)i + 1);
    doc_close(d);
    c2_free(all.list);
}

void report_add_programs(struct document *d, const struct report_programs *programs)
{
    doc_section(d, DOC_BOTH, 0);
    doc_string(d, DOC_JSON, "format", "c2emu-programs");
    report_add_command(d, programs->command);
    report_processes_add_found(d, programs);
    doc_section(d, DOC_BOTH, 0);
    doc_note(d, DOC_HEADING, NULL, "processes: %zu programs%s", programs->count,
             programs->full ? "" : ", whose reports --full shows, and -o DIR keeps");
    doc_table(d, DOC_BOTH, "programs");
    processes_add_columns(d, programs);
    for (size_t i = 0; i < programs->count; i++)
        processes_add_program(d, processes_is_shown(programs, i) ? DOC_BOTH : DOC_JSON, &programs->list[i]);
    doc_close(d);
    processes_note_others(d, programs);
}
