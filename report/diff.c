/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * diff: what changed from one report to another, for people; and whether it changed too much.
 *
 * Model
 *   Two lines say what the reports are of, others where machine or pages differ; then counters that differ, those of
 *   the run and its levels first, functions, objects and loops below, most changed first. A condition that holds has
 *   a line at the end. Percentages are of A's value.
 */
#include <inttypes.h>
#include <string.h>

#include "report/diff_priv.h"
#include "document/document.h"

char *report_change_text(char *buffer, uint64_t a, uint64_t b)
{
    buffer[0] = b < a ? '-' : '+';
    c2_group_digits(buffer + 1, b < a ? a - b : b - a);
    return buffer;
}

/* ------------------------------------------------------------------ what is compared */

static void diff_add_command(struct document *d, const struct report_comparison *c, int side)
{
    size_t index;
    json_t *word;
    doc_note(d, DOC_LINE, NULL, "%c  %s:", 'A' + side, c->path[side]);
    json_array_foreach(json_object_get(c->root[side], "command"), index, word)
        doc_say(d, " %s", json_string_value(word) ? json_string_value(word) : "?");
}

static const char *diff_member(const struct report_comparison *c, int side, const char *object, const char *key)
{
    const char *text = json_string_value(json_object_get(json_object_get(c->root[side], object), key));
    return text ? text : "?";
}

static bool differ(const struct report_comparison *c, const char *key)
{
    return !json_equal(json_object_get(c->root[0], key), json_object_get(c->root[1], key));
}

static void diff_add_machines(struct document *d, const struct report_comparison *c)
{
    const char *a = diff_member(c, 0, "machine", "name"), *b = diff_member(c, 1, "machine", "name");
    if (!differ(c, "machine"))
        return;
    if (strcmp(a, b) != 0)
        doc_note(d, DOC_LINE, NULL, "MACHINES DIFFER: A ran on %s, B on %s", a, b);
    else
        doc_note(d, DOC_LINE, NULL, "MACHINES DIFFER: both are called %s and have other levels", a);
}

/* When the runs began for their guests, if that was said. */
static void add_clocks(struct document *d, const struct report_comparison *c)
{
    const char *start[2];
    for (int side = 0; side < 2; side++) {
        start[side] = json_string_value(json_object_get(c->root[side], "clock"));
        if (!start[side])
            start[side] = "the usual clock";
    }
    if (strcmp(start[0], start[1]) != 0)
        doc_note(d, DOC_LINE, NULL, "clocks differ: A began at %s, B at %s", start[0], start[1]);
}

/* How pages were placed; how many there were is a result. */
static void diff_add_pages(struct document *d, const struct report_comparison *c)
{
    static const char *const keys[] = {"policy", "huge"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *a = diff_member(c, 0, "pages", keys[i]), *b = diff_member(c, 1, "pages", keys[i]);
        if (strcmp(a, b) != 0)
            doc_note(d, DOC_LINE, NULL, "pages differ: A has %s %s, B %s", keys[i], a, b);
    }
    const json_t *a = json_object_get(json_object_get(c->root[0], "pages"), "seed");
    const json_t *b = json_object_get(json_object_get(c->root[1], "pages"), "seed");
    if (!json_equal(a, b))
        doc_note(d, DOC_LINE, NULL, "pages differ: A has seed %" JSON_INTEGER_FORMAT ", B %" JSON_INTEGER_FORMAT "",
                 json_integer_value(a), json_integer_value(b));
}

/* ------------------------------------------------------------------ what changed */

static bool diff_changed(const struct report_entry *entry)
{
    return !entry->unlisted &&
           (entry->value[0] != entry->value[1] || (entry->subject == REPORT_LEVEL && entry->in[0] != entry->in[1]));
}

static void diff_add_entry(struct document *d, const struct report_entry *entry)
{
    static const char *const sides[] = {"A", "B"};
    const uint64_t a = entry->value[0], b = entry->value[1];
    char text[33];
    doc_group(d, DOC_TEXT, NULL);
    doc_string(d, DOC_TEXT, "level", entry->level);
    doc_string(d, DOC_TEXT, "counter", entry->counter);
    for (int side = 0; side < 2; side++) {
        if (entry->in[side] || entry->subject != REPORT_LEVEL)
            doc_count(d, DOC_TEXT, sides[side], entry->value[side]);
    }
    doc_string(d, DOC_TEXT, "change", report_change_text(text, a, b));
    if (a != 0)
        doc_words(d, DOC_TEXT, "share", "%s%s", b < a ? "-" : "+", doc_percent(text, b < a ? a - b : b - a, a));
    doc_close(d);
}

/* The changed entries among some of one name. */
static void diff_add_entries(struct document *d, const struct report_entry *entries, size_t count)
{
    static const struct doc_column columns[] = {{.heading = "level", .key = "level", .form = DOC_LEFT},
                                                {.heading = "counter", .key = "counter", .form = DOC_LEFT},
                                                {.heading = "A", .key = "A"},
                                                {.heading = "B", .key = "B"},
                                                {.heading = "change", .key = "change"},
                                                {.heading = "of A", .key = "share"}};
    doc_table(d, DOC_TEXT, NULL);
    doc_columns(d, columns, sizeof columns / sizeof columns[0], entries->subject == REPORT_LEVEL ? 0 : 2);
    for (size_t i = 0; i < count; i++) {
        if (diff_changed(&entries[i]))
            diff_add_entry(d, &entries[i]);
    }
    doc_close(d);
}

/* All of one name, in a section of its own. */
static void diff_add_name(struct document *d, const struct report_entry *entries, size_t count)
{
    static const char *const words[REPORT_SUBJECTS] = {"", "function", "object", "loop"};
    const char *only = !entries->in[1] ? " (only in A)" : !entries->in[0] ? " (only in B)" : "";
    doc_section(d, DOC_TEXT, 0);
    if (entries->subject != REPORT_LEVEL)
        doc_note(d, DOC_LINE, NULL, "%s %s%s", words[entries->subject], entries->name, only);
    diff_add_entries(d, entries, count);
}

static bool same_name(const struct report_entry *a, const struct report_entry *b)
{
    return a->subject == b->subject && strcmp(a->name, b->name) == 0;
}

#define SHOWN 10 /* functions, and objects: those that differ most come first */

static void add_hidden(struct document *d, const size_t differ[REPORT_SUBJECTS], bool all)
{
    static const char *const words[REPORT_SUBJECTS] = {"", "functions", "objects", "loops"};
    for (unsigned i = 1; i < REPORT_SUBJECTS && !all; i++) {
        doc_section(d, DOC_TEXT, 0);
        if (differ[i] > SHOWN)
            doc_note(d, DOC_LINE, NULL, "%zu more %s differ (--all shows them)", differ[i] - SHOWN, words[i]);
    }
}

static void add_unlisted(struct document *d, const struct report_comparison *c)
{
    static const char *const words[REPORT_SUBJECTS] = {"", "function", "object", "loop"};
    const char *between = "not compared, for one report alone lists them: ";
    doc_section(d, DOC_TEXT, 0);
    for (unsigned i = 1; i < REPORT_SUBJECTS; i++) {
        if (c->unlisted[i] == 0)
            continue;
        if (between[0] == 'n')
            doc_note(d, DOC_LINE, NULL, "%s", between);
        else
            doc_say(d, "%s", between);
        doc_say(d, "%s %s%s", doc_digits(d, c->unlisted[i]), words[i], c->unlisted[i] == 1 ? "" : "s");
        between = ", ";
    }
    if (between[0] != 'n' && (report_comparison_slim(c, 0) || report_comparison_slim(c, 1)))
        doc_say(d, " (--json-full lists more)");
}

static void diff_add_changes(struct document *d, const struct report_comparison *c, bool all)
{
    bool any = false;
    size_t differ[REPORT_SUBJECTS] = {0};
    for (size_t i = 0, end; i < c->count; i = end) {
        const struct report_entry *first = &c->entries[i];
        bool shown = false;
        for (end = i; end < c->count && same_name(first, &c->entries[end]); end++)
            shown |= diff_changed(&c->entries[end]);
        any |= shown;
        if (shown && (++differ[first->subject] <= SHOWN || first->subject == REPORT_LEVEL || all))
            diff_add_name(d, first, end - i);
    }
    add_hidden(d, differ, all);
    doc_section(d, DOC_TEXT, 0);
    if (!any)
        doc_note(d, DOC_LINE, NULL, "no counter differs");
    add_unlisted(d, c);
}

/* ------------------------------------------------------------------ all of it */

static void add_failure(struct document *d, const char *condition, const struct report_entry *entry)
{
    char change[33];
    doc_note(d, DOC_LINE, NULL, "FAILED: %s: %s in A, %s in B, %s", condition, doc_digits(d, entry->value[0]),
             doc_digits(d, entry->value[1]), report_change_text(change, entry->value[0], entry->value[1]));
}

static enum c2_status add_failures(bool *failed, struct document *d, const struct report_comparison *c,
                                   const char *const *conditions, size_t count, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    doc_section(d, DOC_TEXT, 0);
    for (size_t i = 0; i < count && status == C2_OK; i++) {
        struct report_entry entry;
        bool holds = false;
        status = report_condition(&holds, &entry, c, conditions[i], err);
        if (status == C2_OK && holds)
            add_failure(d, conditions[i], &entry);
        *failed |= status == C2_OK && holds;
    }
    return status;
}

static enum c2_status diff_add_all(bool *failed, struct document *d, const struct report_comparison *c, bool all,
                                   const char *const *conditions, size_t count, struct c2_error *err)
{
    doc_section(d, DOC_TEXT, 0);
    diff_add_machines(d, c);
    add_clocks(d, c);
    diff_add_pages(d, c);
    diff_add_command(d, c, 0);
    diff_add_command(d, c, 1);
    diff_add_changes(d, c, all);
    return add_failures(failed, d, c, conditions, count, err);
}

enum c2_status report_diff(bool *failed, FILE *to, unsigned width, const char *a, const char *b, bool all,
                           const char *const *conditions, size_t condition_count, struct c2_error *err)
{
    struct report_comparison comparison;
    struct document document;
    *failed = false;
    doc_begin(&document, DOC_TEXT);
    if (width != 0)
        document.page.width = width;
    enum c2_status status = report_comparison_read(&comparison, a, b, err);
    if (status == C2_OK)
        status = diff_add_all(failed, &document, &comparison, all, conditions, condition_count, err);
    if (status == C2_OK)
        status = doc_render_text(to, &document, "the comparison", err);
    doc_release(&document);
    report_comparison_release(&comparison);
    return status;
}

/* ------------------------------------------------------------------ the same for programs */

static void add_change(struct document *d, const struct report_entry *entry)
{
    static const char *const words[REPORT_SUBJECTS] = {"level", "function", "object", "loop"};
    doc_group(d, DOC_JSON, NULL);
    doc_string(d, DOC_JSON, "subject", words[entry->subject]);
    doc_string(d, DOC_JSON, "name", entry->subject == REPORT_LEVEL ? NULL : entry->name);
    doc_string(d, DOC_JSON, "level", entry->level);
    doc_string(d, DOC_JSON, "counter", entry->counter);
    if (entry->in[0])
        doc_count(d, DOC_JSON, "a", entry->value[0]);
    if (entry->in[1])
        doc_count(d, DOC_JSON, "b", entry->value[1]);
    doc_close(d);
}

enum c2_status report_changes(FILE *to, const char *a, const char *b, struct c2_error *err)
{
    struct report_comparison comparison;
    struct document document;
    uint64_t unlisted = 0;
    doc_begin(&document, DOC_FULL);
    enum c2_status status = report_comparison_read(&comparison, a, b, err);
    doc_table(&document, DOC_JSON, "changes");
    for (size_t i = 0; i < comparison.count && status == C2_OK; i++)
        if (diff_changed(&comparison.entries[i]))
            add_change(&document, &comparison.entries[i]);
    doc_close(&document);
    for (unsigned i = 1; i < REPORT_SUBJECTS; i++)
        unlisted += comparison.unlisted[i];
    if (unlisted != 0)
        doc_count(&document, DOC_JSON, "unlisted", unlisted);
    if (status == C2_OK)
        status = doc_render_json(to, &document, DOC_FULL, "the comparison", err);
    doc_release(&document);
    report_comparison_release(&comparison);
    return status;
}
