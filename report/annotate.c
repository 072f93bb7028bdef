/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * annotate: the counts of a callgrind file beside the source or the instructions: which events, and what both share.
 *
 * Model
 *   Without a choice the event is shown that costs most by the file's formula, whose terms are events with what one of
 *   them costs (of equal ones the first); in a file without a formula, or where all of them are 0, its first event.
 *   Dots in a name are for reading: conflict.L1D is conflictL1D, as the format has letters and digits only. Shares are
 *   of the file's total.
 */
#include <stdlib.h>
#include <string.h>

#include "report/callgrind_priv.h"

/* "28 conflictL2 + ...", "28 * conflictL2", "conflictL2": the total of the term's event times its factor. *at is left
 * behind the term. */
static uint64_t term_cost(const struct report_callgrind *file, const char **at, size_t *event)
{
    char *end;
    const char *name = *at + strspn(*at, " \t+*");
    const unsigned long long factor = strtoull(name, &end, 10);
    const bool given = end != name;
    name = end + strspn(end, " \t*");
    const size_t length = strcspn(name, " \t+");
    *at = name + length;
    for (*event = 0; *event < file->event_count; ++*event) {
        if (strlen(file->events[*event]) == length && strncmp(file->events[*event], name, length) == 0)
            return file->totals[*event] * (given ? factor : 1);
    }
    return 0;
}

static size_t default_event(const struct report_callgrind *file)
{
    size_t best = 0;
    uint64_t most = 0;
    for (const char *at = file->formula; at && at[strspn(at, " \t+")] != '\0';) {
        size_t event;
        const uint64_t cost = term_cost(file, &at, &event);
        best = cost > most ? event : best;
        most = cost > most ? cost : most;
    }
    return best;
}

static bool same_event(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, ".");
        b += strspn(b, ".");
        if (*a != *b || *a == '\0')
            return *a == *b;
    }
}

static enum c2_status find_event(size_t *out, const struct report_callgrind *file, const char *name,
                                 struct c2_error *err)
{
    char hint[512];
    for (*out = 0; *out < file->event_count; ++*out) {
        if (same_event(file->events[*out], name))
            return C2_OK;
    }
    return c2_fail(err, C2_ERR_NOT_FOUND, "annotate: the file has no event \"%s\"%s", name,
                   c2_suggest(hint, sizeof hint, name, (const char *const *)file->events, file->event_count));
}

static enum c2_status annotate_choose(struct report_shown *out, const struct report_annotation *request,
                                      const struct report_callgrind *file, struct c2_error *err)
{
    *out = (struct report_shown){.request = request, .file = file, .count = request->event_count};
    if (out->count > REPORT_MAX_SHOWN)
        return c2_fail(err, C2_ERR_INVALID, "annotate: %d events fit side by side, %zu were asked for",
                       REPORT_MAX_SHOWN, out->count);
    enum c2_status status = C2_OK;
    for (size_t i = 0; i < out->count && status == C2_OK; i++)
        status = find_event(&out->events[i], file, request->events[i], err);
    if (status == C2_OK && out->count == 0)
        out->events[out->count++] = default_event(file);
    for (size_t i = 0; i < out->count && status == C2_OK; i++) {
        char total[32];
        const size_t count = strlen(c2_group_digits(total, file->totals[out->events[i]]));
        const size_t name = strlen(file->events[out->events[i]]);
        out->width[i] = (int)(count > name ? count : name);
    }
    return status;
}

/* ------------------------------------------------------------------ counts */

static void annotate_add_sums(uint64_t to[REPORT_MAX_SHOWN], const uint64_t from[REPORT_MAX_SHOWN])
{
    for (size_t i = 0; i < REPORT_MAX_SHOWN; i++)
        to[i] += from[i];
}

bool report_shown_any(const struct report_shown *shown, const uint64_t sums[REPORT_MAX_SHOWN])
{
    for (size_t i = 0; i < shown->count; i++) {
        if (sums[i] != 0)
            return true;
    }
    return false;
}

static uint64_t total(const struct report_shown *shown, size_t index)
{
    return shown->file->totals[shown->events[index]];
}

void report_put_counts(FILE *to, const struct report_shown *shown, const uint64_t sums[REPORT_MAX_SHOWN])
{
    char count[32], share[32];
    for (size_t i = 0; i < shown->count; i++) {
        if (sums[i] == 0)
            fprintf(to, "%*s           ", shown->width[i], "");
        else
            fprintf(to, "%*s  %7s  ", shown->width[i], c2_group_digits(count, sums[i]),
                    doc_percent(share, sums[i], total(shown, i)));
    }
}

void report_put_count_headings(FILE *to, const struct report_shown *shown)
{
    for (size_t i = 0; i < shown->count; i++)
        fprintf(to, "%*s  %7s  ", shown->width[i], shown->file->events[shown->events[i]], "share");
}

#define TAB 8u
#define SHARE_COLUMNS 11u /* "  100.0 %  " */

/* A source in UTF-8 has more bytes than columns; a tab more columns. */
static size_t annotate_columns_of(char c, size_t at)
{
    return c == '\t' ? TAB - at % TAB : ((unsigned char)c & 0xc0) == 0x80 ? 0 : 1;
}

/* Where the line ends that begins at this column. */
static size_t annotate_end_of(const char *text, size_t at)
{
    for (; *text && *text != '\n'; text++)
        at += annotate_columns_of(*text, at);
    return at;
}

void report_put_cut(FILE *to, const struct report_shown *shown, size_t before, const char *text)
{
    static const char dots[] = "...";
    const size_t width = shown->request->width;
    for (size_t i = 0; i < shown->count; i++)
        before += (size_t)shown->width[i] + SHARE_COLUMNS;
    if (width == 0 || annotate_end_of(text, before) <= width) {
        fprintf(to, "%.*s\n", (int)strcspn(text, "\n"), text);
        return;
    }
    for (size_t at = before; at + annotate_columns_of(*text, at) + sizeof dots - 1 <= width; text++) {
        at += annotate_columns_of(*text, at);
        fputc(*text, to);
    }
    fprintf(to, "%s\n", dots);
}

void report_put_sums(FILE *to, const struct report_shown *shown, const uint64_t sums[REPORT_MAX_SHOWN])
{
    char count[32], share[32];
    for (size_t i = 0; i < shown->count; i++)
        fprintf(to, "%s%s %s (%s)", i == 0 ? "" : ", ", c2_group_digits(count, sums[i]),
                shown->file->events[shown->events[i]], doc_percent(share, sums[i], total(shown, i)));
}

/* ------------------------------------------------------------------ by place */

#define UP(a, b) (((a) > (b)) - ((a) < (b)))

static int annotate_by_part(const struct report_annotated *a, const struct report_annotated *b)
{
    const int order = strcmp(a->object, b->object);
    return order != 0 ? order : strcmp(a->name, b->name);
}

static int annotate_by_place(const void *left, const void *right)
{
    const struct report_annotated *a = left, *b = right;
    const int order = annotate_by_part(a, b);
    return order != 0 ? order : UP(a->number, b->number);
}

static int by_sum(const void *left, const void *right)
{
    const struct report_part *a = left, *b = right;
    const int order = UP(b->sums[0], a->sums[0]);
    return order != 0 ? order : annotate_by_place(a->rows, b->rows);
}

static struct report_annotated annotated(const struct report_shown *shown, const struct report_cost *cost, bool by_insn)
{
    struct report_annotated row = {.cost = cost, .object = "", .name = cost->file};
    if (by_insn)
        row = (struct report_annotated){cost, cost->object, cost->function, cost->address, {0}};
    else if (strcmp(cost->file, "???") != 0)
        row.number = cost->line;
    for (size_t i = 0; i < shown->count; i++)
        row.sums[i] = cost->values[shown->events[i]];
    return row;
}

/* One row for each place, sorted; returns how many. */
static size_t annotate_gather(struct report_annotated *rows, const struct report_shown *shown, bool by_insn)
{
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < shown->file->cost_count; i++) {
        rows[count] = annotated(shown, &shown->file->costs[i], by_insn);
        count += by_insn || report_shown_any(shown, rows[count].sums);
    }
    qsort(rows, count, sizeof *rows, annotate_by_place);
    for (size_t i = 0; i < count; i++) {
        if (kept != 0 && annotate_by_place(&rows[kept - 1], &rows[i]) == 0)
            annotate_add_sums(rows[kept - 1].sums, rows[i].sums);
        else
            rows[kept++] = rows[i];
    }
    return kept;
}

enum c2_status report_parts_make(struct report_parts *out, const struct report_shown *shown, bool by_insn,
                                 struct c2_error *err)
{
    *out = (struct report_parts){.list = c2_calloc(shown->file->cost_count + 1, sizeof *out->list),
                                 .rows = c2_calloc(shown->file->cost_count + 1, sizeof *out->rows)};
    if (!out->list || !out->rows)
        return c2_fail_memory(err, "the annotation");
    const size_t count = annotate_gather(out->rows, shown, by_insn);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || annotate_by_part(&out->rows[i - 1], &out->rows[i]) != 0)
            out->list[out->count++].rows = &out->rows[i];
        struct report_part *part = &out->list[out->count - 1];
        part->count++;
        annotate_add_sums(part->sums, out->rows[i].sums);
    }
    qsort(out->list, out->count, sizeof *out->list, by_sum);
    return C2_OK;
}

void report_parts_release(struct report_parts *parts)
{
    c2_free(parts->list);
    c2_free(parts->rows);
}

/* ------------------------------------------------------------------ files */

/* The n-th place to look for it: itself, then in each directory the path (when it is relative) and its last part.
 * False: there are no more. */
static bool candidate(char *out, size_t bytes, const char *const *directories, size_t count, const char *path, size_t n)
{
    const char *slash = strrchr(path, '/');
    const size_t forms = slash && path[0] != '/' ? 2 : 1;
    if (n == 0) {
        snprintf(out, bytes, "%s", path);
        return true;
    }
    const size_t directory = (n - 1) / forms;
    if (directory >= count)
        return false;
    const bool whole = forms == 2 && (n - 1) % forms == 0;
    snprintf(out, bytes, "%s/%s", directories[directory], slash && !whole ? slash + 1 : path);
    return true;
}

FILE *report_open_source(const char *path, const char *const *directories, size_t count, char *found, size_t bytes)
{
    for (size_t n = 0; candidate(found, bytes, directories, count, path, n); n++) {
        FILE *from = fopen(found, "re");
        if (from && fgetc(from) != EOF) { /* a directory opens and cannot be read */
            rewind(from);
            return from;
        }
        if (from)
            fclose(from);
    }
    return NULL;
}

FILE *report_open_near(const struct report_annotation *request, const char *path, char *found, size_t bytes)
{
    return report_open_source(path, request->directories, request->directory_count, found, bytes);
}

void report_put_looked(FILE *to, const struct report_annotation *request, const char *path)
{
    char place[4096];
    fprintf(to, "%s (looked at ", path);
    for (size_t n = 0; candidate(place, sizeof place, request->directories, request->directory_count, path, n); n++)
        fprintf(to, "%s%s", n == 0 ? "" : ", ", place);
    fputc(')', to);
}

/* ------------------------------------------------------------------ all of it */

static enum c2_status annotate_put_all(FILE *to, const struct report_shown *shown, struct c2_error *err)
{
    uint64_t sums[REPORT_MAX_SHOWN] = {0};
    for (size_t i = 0; i < shown->count; i++)
        sums[i] = total(shown, i);
    fprintf(to, "command  %s\ntotal    ", shown->file->command ? shown->file->command : "not in the file");
    report_put_sums(to, shown, sums);
    fputc('\n', to);
    enum c2_status status = shown->request->code ? report_annotate_code(to, shown, err)
                                                 : report_annotate_source(to, shown, err);
    if (status == C2_OK && ferror(to))
        return c2_fail(err, C2_ERR_IO, "cannot write the annotation");
    return status;
}

enum c2_status report_annotate(FILE *to, const struct report_annotation *request, struct c2_error *err)
{
    struct report_callgrind file;
    struct report_shown shown;
    enum c2_status status = report_callgrind_read(&file, request->path, err);
    if (status == C2_OK)
        status = annotate_choose(&shown, request, &file, err);
    if (status == C2_OK)
        status = annotate_put_all(to, &shown, err);
    report_callgrind_release(&file);
    return status;
}
