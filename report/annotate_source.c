/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * annotate_source: source files with counts at their lines.
 *
 * Model
 *   Files with counts, most first; of each the lines with counts and CONTEXT lines around. Then what could not be
 *   shown: files that were not found, lines that a file does not have, costs without a line.
 *
 * Invariants
 *   The counts shown and those of what could not be shown add up to the totals.
 */
#include <stdlib.h>
#include <string.h>

#include "report/callgrind_priv.h"

#define CONTEXT 5

#define UP(a, b) (((a) > (b)) - ((a) < (b)))

/* Costs of one line, and then of one file: `first` is the file's first line. */
struct line {
    const char *file;
    uint64_t number; /* 0: not known */
    uint64_t sums[REPORT_MAX_SHOWN];
};
struct source {
    const struct line *lines;
    size_t count;
    uint64_t sums[REPORT_MAX_SHOWN];
    bool read;
};

static int by_place(const void *left, const void *right)
{
    const struct line *a = left, *b = right;
    const int order = strcmp(a->file, b->file);
    return order != 0 ? order : UP(a->number, b->number);
}

static int by_sum(const void *left, const void *right)
{
    const struct source *a = left, *b = right;
    const int order = UP(b->sums[0], a->sums[0]);
    return order != 0 ? order : strcmp(a->lines->file, b->lines->file);
}

/* One line for each place that has counts, sorted; returns how many. */
static size_t gather(struct line *lines, const struct report_shown *shown)
{
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < shown->file->cost_count; i++) {
        const struct report_cost *cost = &shown->file->costs[i];
        struct line line = {.file = cost->file, .number = strcmp(cost->file, "???") == 0 ? 0 : cost->line};
        report_shown_add(shown, line.sums, cost);
        if (report_shown_any(shown, line.sums))
            lines[count++] = line;
    }
    qsort(lines, count, sizeof *lines, by_place);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || by_place(&lines[kept - 1], &lines[i]) != 0) {
            lines[kept++] = lines[i];
            continue;
        }
        for (size_t j = 0; j < shown->count; j++)
            lines[kept - 1].sums[j] += lines[i].sums[j];
    }
    return kept;
}

static size_t make_sources(struct source *sources, const struct line *lines, size_t count)
{
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        if (made == 0 || strcmp(sources[made - 1].lines->file, lines[i].file) != 0)
            sources[made++] = (struct source){.lines = &lines[i]};
        struct source *source = &sources[made - 1];
        source->count++;
        for (size_t j = 0; j < REPORT_MAX_SHOWN; j++)
            source->sums[j] += lines[i].sums[j];
    }
    qsort(sources, made, sizeof *sources, by_sum);
    return made;
}

/* ------------------------------------------------------------------ a file */

static void put_line(FILE *to, const struct report_shown *shown, const struct line *line, uint64_t number,
                     const char *text)
{
    static const uint64_t none[REPORT_MAX_SHOWN];
    report_put_counts(to, shown, line ? line->sums : none);
    fprintf(to, "%6llu  %s", (unsigned long long)number, text);
    if (!strchr(text, '\n'))
        fputc('\n', to);
}

/* Lines of the file against the sorted lines with counts; returns how many of these were there. */
static size_t put_lines(FILE *to, const struct report_shown *shown, const struct source *source, FILE *from)
{
    char *text = NULL;
    size_t room = 0, next = 0;
    uint64_t number = 0, last = 0; /* last: the last line shown */
    while (next < source->count && source->lines[next].number == 0)
        next++;
    const size_t without = next;
    uint64_t until = 0; /* lines up to here are near the last one with counts */
    while (getline(&text, &room, from) >= 0) {
        const struct line *line = next < source->count ? &source->lines[next] : NULL;
        number++;
        const bool counted = line && line->number == number;
        if (counted)
            until = number + CONTEXT;
        if (number <= until || (line && line->number <= number + CONTEXT)) {
            if (last != 0 && last + 1 != number)
                fputs("...\n", to);
            put_line(to, shown, counted ? line : NULL, number, text);
            last = number;
        }
        next += counted;
    }
    free(text);
    return next - without;
}

static void put_missing_lines(FILE *to, const struct report_shown *shown, const struct source *source, size_t from)
{
    uint64_t sums[REPORT_MAX_SHOWN] = {0};
    for (size_t i = from; i < source->count; i++) {
        for (size_t j = 0; j < shown->count; j++)
            sums[j] += source->lines[i].sums[j];
    }
    if (!report_shown_any(shown, sums))
        return;
    fputs("behind the end of the file, which is not the one that was compiled: ", to);
    report_put_sums(to, shown, sums);
    fputc('\n', to);
}

static void put_source(FILE *to, const struct report_shown *shown, struct source *source)
{
    char path[4096];
    if (strcmp(source->lines->file, "???") == 0)
        return;
    FILE *from = report_open_near(shown->request, source->lines->file, path, sizeof path);
    if (!from)
        return;
    source->read = true;
    fprintf(to, "\n%s: ", path);
    report_put_sums(to, shown, source->sums);
    fputs("\n\n", to);
    report_put_count_headings(to, shown);
    fputs("  line\n", to);
    size_t without = 0;
    while (without < source->count && source->lines[without].number == 0)
        without++;
    if (without > 0) {
        report_put_counts(to, shown, source->lines[0].sums);
        fputs("     -  (no line)\n", to);
    }
    const size_t there = put_lines(to, shown, source, from);
    put_missing_lines(to, shown, source, without + there);
    fclose(from);
}

/* ------------------------------------------------------------------ all files */

static void put_unread(FILE *to, const struct report_shown *shown, const struct source *sources, size_t count)
{
    bool first = true;
    for (size_t i = 0; i < count; i++) {
        if (sources[i].read)
            continue;
        fputs(first ? "\nnot shown:\n  " : "  ", to);
        first = false;
        report_put_sums(to, shown, sources[i].sums);
        fputs(": ", to);
        if (strcmp(sources[i].lines->file, "???") == 0)
            fputs("code without line information", to);
        else
            report_put_looked(to, shown->request, sources[i].lines->file);
        fputc('\n', to);
    }
}

static enum c2_status check_found(const struct source *sources, size_t count, struct c2_error *err)
{
    bool read = false, named = false;
    for (size_t i = 0; i < count; i++) {
        read |= sources[i].read;
        named |= strcmp(sources[i].lines->file, "???") != 0;
    }
    if (read || count == 0)
        return C2_OK;
    return c2_fail(err, C2_ERR_NOT_FOUND, "annotate: %s",
                   named ? "none of the source files was found: name their "
                           "directories with -I DIR, or take --asm"
                         : "nothing has line information: compile with -g, or take "
                           "--asm");
}

enum c2_status report_annotate_source(FILE *to, const struct report_shown *shown, struct c2_error *err)
{
    if (!shown->file->has_lines)
        return c2_fail(err, C2_ERR_FORMAT, "annotate: %s has no line numbers", shown->request->path);
    struct line *lines = c2_calloc(shown->file->cost_count + 1, sizeof *lines);
    struct source *sources = c2_calloc(shown->file->cost_count + 1, sizeof *sources);
    enum c2_status status = C2_OK;
    if (!lines || !sources) {
        status = c2_fail_memory(err, "the annotation");
    } else {
        const size_t count = make_sources(sources, lines, gather(lines, shown));
        for (size_t i = 0; i < count; i++)
            put_source(to, shown, &sources[i]);
        put_unread(to, shown, sources, count);
        status = check_found(sources, count, err);
    }
    c2_free(lines);
    c2_free(sources);
    return status;
}
