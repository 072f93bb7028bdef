/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * diff: what changed from one report to another, for people; and whether it changed too much.
 *
 * Model
 *   Two lines say what the reports are of, others where machine or pages differ; then counters that differ, those of
 *   the run and its levels first, functions and objects below, most changed first. A condition that holds has a line at
 *   the end. Percentages are of A's value.
 */
#include <inttypes.h>
#include <string.h>

#include "report/diff_priv.h"

enum { COLUMNS = 6 };

char *report_change_text(char *buffer, uint64_t a, uint64_t b)
{
    buffer[0] = b < a ? '-' : '+';
    c2_group_digits(buffer + 1, b < a ? a - b : b - a);
    return buffer;
}

/* ------------------------------------------------------------------ what is compared */

static void put_command(FILE *to, const struct report_comparison *c, int side)
{
    size_t index;
    json_t *word;
    fprintf(to, "%c  %s:", 'A' + side, c->path[side]);
    json_array_foreach(json_object_get(c->root[side], "command"), index, word)
        fprintf(to, " %s", json_string_value(word) ? json_string_value(word) : "?");
    fputc('\n', to);
}

static const char *member(const struct report_comparison *c, int side, const char *object, const char *key)
{
    const char *text = json_string_value(json_object_get(json_object_get(c->root[side], object), key));
    return text ? text : "?";
}

static bool differ(const struct report_comparison *c, const char *key)
{
    return !json_equal(json_object_get(c->root[0], key), json_object_get(c->root[1], key));
}

static void put_machines(FILE *to, const struct report_comparison *c)
{
    const char *a = member(c, 0, "machine", "name"), *b = member(c, 1, "machine", "name");
    if (!differ(c, "machine"))
        return;
    if (strcmp(a, b) != 0)
        fprintf(to, "MACHINES DIFFER: A ran on %s, B on %s\n", a, b);
    else
        fprintf(to, "MACHINES DIFFER: both are called %s and have other levels\n", a);
}

/* When the runs began for their guests, if that was said. */
static void put_clocks(FILE *to, const struct report_comparison *c)
{
    const char *start[2];
    for (int side = 0; side < 2; side++) {
        start[side] = json_string_value(json_object_get(c->root[side], "clock"));
        if (!start[side])
            start[side] = "the usual clock";
    }
    if (strcmp(start[0], start[1]) != 0)
        fprintf(to, "clocks differ: A began at %s, B at %s\n", start[0], start[1]);
}

/* How pages were placed; how many there were is a result. */
static void put_pages(FILE *to, const struct report_comparison *c)
{
    static const char *const keys[] = {"policy", "huge"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *a = member(c, 0, "pages", keys[i]), *b = member(c, 1, "pages", keys[i]);
        if (strcmp(a, b) != 0)
            fprintf(to, "pages differ: A has %s %s, B %s\n", keys[i], a, b);
    }
    const json_t *a = json_object_get(json_object_get(c->root[0], "pages"), "seed");
    const json_t *b = json_object_get(json_object_get(c->root[1], "pages"), "seed");
    if (!json_equal(a, b))
        fprintf(to, "pages differ: A has seed %" JSON_INTEGER_FORMAT ", B %" JSON_INTEGER_FORMAT "\n",
                json_integer_value(a), json_integer_value(b));
}

/* ------------------------------------------------------------------ what changed */

static bool changed(const struct report_entry *entry)
{
    return entry->value[0] != entry->value[1] || (entry->subject == REPORT_LEVEL && entry->in[0] != entry->in[1]);
}

static void fill_value(report_cell cell, const struct report_entry *entry, int side)
{
    if (entry->in[side] || entry->subject != REPORT_LEVEL)
        c2_group_digits(cell, entry->value[side]);
    else
        snprintf(cell, sizeof(report_cell), "-");
}

static void fill_row(report_cell *row, const struct report_entry *entry)
{
    const uint64_t a = entry->value[0], b = entry->value[1];
    char share[32];
    snprintf(row[0], sizeof row[0], "%s", entry->level);
    snprintf(row[1], sizeof row[1], "%s", entry->counter);
    fill_value(row[2], entry, 0);
    fill_value(row[3], entry, 1);
    report_change_text(row[4], a, b);
    if (a == 0)
        snprintf(row[5], sizeof row[5], "-");
    else
        snprintf(row[5], sizeof row[5], "%s%s", b < a ? "-" : "+", report_percent(share, b < a ? a - b : b - a, a));
}

/* The changed entries among some of one name. */
static enum c2_status put_rows(FILE *to, const struct report_entry *entries, size_t count, const char *indent,
                               struct c2_error *err)
{
    static const char *const headings[COLUMNS] = {"level", "counter", "A", "B", "change", "of A"};
    report_cell(*rows)[COLUMNS] = c2_calloc(count + 1, sizeof *rows);
    size_t used = 0;
    if (!rows)
        return c2_fail_memory(err, "a comparison of reports");
    for (size_t column = 0; column < COLUMNS; column++)
        snprintf(rows[0][column], sizeof rows[0][column], "%s", headings[column]);
    for (size_t i = 0; i < count; i++) {
        if (changed(&entries[i]))
            fill_row(rows[++used], &entries[i]);
    }
    report_put_table(to, &(struct report_table){rows[0], used + 1, COLUMNS, COLUMNS, 2, indent, false});
    c2_free(rows);
    return C2_OK;
}

static void put_name(FILE *to, const struct report_entry *entry)
{
    static const char *const words[REPORT_SUBJECTS] = {"", "function", "object"};
    const char *only = !entry->in[1] ? " (only in A)" : !entry->in[0] ? " (only in B)" : "";
    if (entry->subject != REPORT_LEVEL)
        fprintf(to, "\n%s %s%s\n", words[entry->subject], entry->name, only);
    else
        fputc('\n', to);
}

static bool same_name(const struct report_entry *a, const struct report_entry *b)
{
    return a->subject == b->subject && strcmp(a->name, b->name) == 0;
}

#define SHOWN 10 /* functions, and objects: those that differ most come first */

static void put_hidden(FILE *to, const size_t differ[REPORT_SUBJECTS], bool all)
{
    static const char *const words[REPORT_SUBJECTS] = {"", "functions", "objects"};
    for (unsigned i = 1; i < REPORT_SUBJECTS && !all; i++) {
        if (differ[i] > SHOWN)
            fprintf(to, "\n%zu more %s differ (--all shows them)\n", differ[i] - SHOWN, words[i]);
    }
}

static enum c2_status put_changes(FILE *to, const struct report_comparison *c, bool all, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    bool any = false;
    size_t differ[REPORT_SUBJECTS] = {0};
    for (size_t i = 0, end; i < c->count && status == C2_OK; i = end) {
        bool shown = false;
        for (end = i; end < c->count && same_name(&c->entries[i], &c->entries[end]); end++)
            shown |= changed(&c->entries[end]);
        if (!shown)
            continue;
        any = true;
        if (++differ[c->entries[i].subject] > SHOWN && c->entries[i].subject != REPORT_LEVEL && !all)
            continue;
        put_name(to, &c->entries[i]);
        status = put_rows(to, &c->entries[i], end - i, c->entries[i].subject == REPORT_LEVEL ? "" : "  ", err);
    }
    put_hidden(to, differ, all);
    if (!any)
        fputs("\nno counter differs\n", to);
    return status;
}

/* ------------------------------------------------------------------ all of it */

static void put_failure(FILE *to, const char *condition, const struct report_entry *entry)
{
    char a[32], b[32], change[33];
    fprintf(to, "FAILED: %s: %s in A, %s in B, %s\n", condition, c2_group_digits(a, entry->value[0]),
            c2_group_digits(b, entry->value[1]), report_change_text(change, entry->value[0], entry->value[1]));
}

static enum c2_status put_failures(bool *failed, FILE *to, const struct report_comparison *c,
                                   const char *const *conditions, size_t count, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (size_t i = 0; i < count && status == C2_OK; i++) {
        struct report_entry entry;
        bool holds = false;
        status = report_condition(&holds, &entry, c, conditions[i], err);
        if (status != C2_OK || !holds)
            continue;
        if (!*failed)
            fputc('\n', to);
        put_failure(to, conditions[i], &entry);
        *failed = true;
    }
    return status;
}

/* Conditions are tried before anything is written, so that a wrong one is not lost behind a page of text. */
static enum c2_status check_conditions(const struct report_comparison *c, const char *const *conditions, size_t count,
                                       struct c2_error *err)
{
    enum c2_status status = C2_OK;
    struct report_entry entry;
    bool holds;
    for (size_t i = 0; i < count && status == C2_OK; i++)
        status = report_condition(&holds, &entry, c, conditions[i], err);
    return status;
}

static enum c2_status put_all(bool *failed, FILE *to, const struct report_comparison *c, bool all,
                              const char *const *conditions, size_t count, struct c2_error *err)
{
    put_machines(to, c);
    put_clocks(to, c);
    put_pages(to, c);
    put_command(to, c, 0);
    put_command(to, c, 1);
    enum c2_status status = put_changes(to, c, all, err);
    if (status == C2_OK)
        status = put_failures(failed, to, c, conditions, count, err);
    if (status == C2_OK && ferror(to))
        return c2_fail(err, C2_ERR_IO, "cannot write the comparison");
    return status;
}

enum c2_status report_diff(bool *failed, FILE *to, const char *a, const char *b, bool all,
                           const char *const *conditions, size_t condition_count, struct c2_error *err)
{
    struct report_comparison comparison;
    *failed = false;
    enum c2_status status = report_comparison_read(&comparison, a, b, err);
    if (status == C2_OK)
        status = check_conditions(&comparison, conditions, condition_count, err);
    if (status == C2_OK)
        status = put_all(failed, to, &comparison, all, conditions, condition_count, err);
    report_comparison_release(&comparison);
    return status;
}
