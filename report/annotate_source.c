/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * annotate_source: source files with counts at their lines.
 *
 * Model
 *   Files with counts, most first; of each the lines with counts and CONTEXT lines around, and what the file says of
 *   the loops that begin there (--by loop), and what of it has no line or one that the file does not have. Files of
 *   which there is no line with counts to show, for they are not found or are others, are left out, and so are costs
 *   without a file; one line says how much that is.
 *
 * Invariants
 *   The counts shown and those left out add up to the totals.
 */
#include <stdlib.h>
#include <string.h>

#include "report/callgrind_priv.h"

#define CONTEXT 5

/* ------------------------------------------------------------------ a file */

static void annotate_source_put_line(FILE *to, const struct report_shown *shown, const struct report_annotated *line,
                                     uint64_t number, const char *text)
{
    static const uint64_t none[REPORT_MAX_SHOWN];
    report_put_counts(to, shown, line ? line->sums : none);
    fprintf(to, "%6llu  ", (unsigned long long)number);
    report_put_cut(to, shown, 8, text);
}

/* Those that begin at the line: "loop: entered 65,536 times, 256.0 rounds each". */
static void put_loops(FILE *to, const struct report_shown *shown, const char *file, uint64_t number)
{
    static const uint64_t none[REPORT_MAX_SHOWN];
    char entered[32];
    for (uint32_t i = 0; i < shown->file->loop_count; i++) {
        const struct report_described_loop *loop = &shown->file->loops[i];
        if (loop->line != number || strcmp(loop->file, file) != 0)
            continue;
        report_put_counts(to, shown, none);
        fprintf(to, "        loop %llu deep: ", (unsigned long long)loop->depth);
        if (loop->entered == 0)
            fprintf(to, "%s rounds\n", c2_group_digits(entered, loop->rounds));
        else
            fprintf(to, "entered %s time%s, %.1f rounds each\n", c2_group_digits(entered, loop->entered),
                    loop->entered == 1 ? "" : "s", (double)loop->rounds / (double)loop->entered);
    }
}

/* Lines of the file against the sorted lines with counts; returns how many of these were there. */
static size_t put_lines(FILE *to, const struct report_shown *shown, const struct report_part *source, FILE *from)
{
    char *text = NULL;
    size_t room = 0, next = 0;
    uint64_t number = 0, last = 0; /* last: the last line shown */
    while (next < source->count && source->rows[next].number == 0)
        next++;
    const size_t without = next;
    uint64_t until = 0; /* lines up to here are near the last one with counts */
    while (getline(&text, &room, from) >= 0) {
        const struct report_annotated *line = next < source->count ? &source->rows[next] : NULL;
        number++;
        const bool counted = line && line->number == number;
        if (counted)
            until = number + CONTEXT;
        if (number <= until || (line && line->number <= number + CONTEXT)) {
            if (last != 0 && last + 1 != number)
                fputs("...\n", to);
            put_loops(to, shown, source->rows->name, number);
            annotate_source_put_line(to, shown, counted ? line : NULL, number, text);
            last = number;
        }
        next += counted;
    }
    free(text);
    return next - without;
}

static void put_missing_lines(FILE *to, const struct report_shown *shown, const struct report_part *source, size_t from)
{
    uint64_t sums[REPORT_MAX_SHOWN] = {0};
    for (size_t i = from; i < source->count; i++) {
        for (size_t j = 0; j < shown->count; j++)
            sums[j] += source->rows[i].sums[j];
    }
    if (!report_shown_any(shown, sums))
        return;
    fputs("behind the end of the file, which is not the one that was compiled: ", to);
    report_put_sums(to, shown, sums);
    fputc('\n', to);
}

static size_t rows_without_line(const struct report_part *source)
{
    size_t without = 0;
    while (without < source->count && source->rows[without].number == 0)
        without++;
    return without;
}

/* Whether the file has the first line with counts; afterwards it is read from its beginning again. */
static bool has_a_line(FILE *from, const struct report_part *source)
{
    const size_t first = rows_without_line(source);
    uint64_t lines = 0;
    int last = '\n';
    for (int c; (c = fgetc(from)) != EOF; last = c)
        lines += last == '\n';
    rewind(from);
    return first < source->count && source->rows[first].number <= lines;
}

static void put_found(FILE *to, const struct report_shown *shown, const struct report_part *source, const char *path,
                      FILE *from)
{
    const size_t without = rows_without_line(source);
    fprintf(to, "\n%s: ", path);
    report_put_sums(to, shown, source->sums);
    fputs("\n\n", to);
    report_put_count_headings(to, shown);
    fputs("  line\n", to);
    if (without > 0) {
        report_put_counts(to, shown, source->rows[0].sums);
        fputs("     -  (no line)\n", to);
    }
    const size_t there = put_lines(to, shown, source, from);
    put_missing_lines(to, shown, source, without + there);
}

static bool annotate_source_is_named(const struct report_part *source)
{
    return strcmp(source->rows->name, "???") != 0;
}

static void put_source(FILE *to, const struct report_shown *shown, struct report_part *source)
{
    char path[4096];
    FILE *from = annotate_source_is_named(source)
                     ? report_open_near(shown->request, source->rows->name, path, sizeof path)
                     : NULL;
    source->shown = from && has_a_line(from, source);
    if (source->shown)
        put_found(to, shown, source, path, from);
    if (from)
        fclose(from);
}

/* ------------------------------------------------------------------ all files */

/* The first file that is left out, which has most of what is; NULL: none is. *files: how many there are; *unnamed:
 * whether there are costs without a file. */
static const struct report_part *sum_left_out(uint64_t sums[REPORT_MAX_SHOWN], size_t *files, bool *unnamed,
                                              const struct report_parts *sources)
{
    const struct report_part *first = NULL;
    for (size_t i = 0; i < sources->count; i++) {
        const struct report_part *source = &sources->list[i];
        if (source->shown)
            continue;
        for (size_t j = 0; j < REPORT_MAX_SHOWN; j++)
            sums[j] += source->sums[j];
        *files += annotate_source_is_named(source);
        *unnamed |= !annotate_source_is_named(source);
        first = !first && annotate_source_is_named(source) ? source : first;
    }
    return first;
}

/* "left out: 2 files without a line to show, and code without line information: 7 Ir (1.0 %); most in x.c (...)" */
static void put_left_out(FILE *to, const struct report_shown *shown, const struct report_parts *sources)
{
    uint64_t sums[REPORT_MAX_SHOWN] = {0};
    size_t files = 0;
    bool unnamed = false;
    char count[32];
    const struct report_part *first = sum_left_out(sums, &files, &unnamed, sources);
    if (!first && !unnamed)
        return;
    fputs("\nleft out: ", to);
    if (first)
        fprintf(to, "%s file%s without a line to show%s", c2_group_digits(count, files), files == 1 ? "" : "s",
                unnamed ? ", and " : "");
    fprintf(to, "%s: ", unnamed ? "code without line information" : "");
    report_put_sums(to, shown, sums);
    if (first) {
        fputs(files == 1 ? "; " : "; the first is ", to);
        report_put_looked(to, shown->request, first->rows->name);
    }
    fputc('\n', to);
}

static enum c2_status check_found(const struct report_part *sources, size_t count, struct c2_error *err)
{
    bool read = false, named = false;
    for (size_t i = 0; i < count; i++) {
        read |= sources[i].shown;
        named |= annotate_source_is_named(&sources[i]);
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
    struct report_parts sources;
    enum c2_status status = report_parts_make(&sources, shown, false, err);
    for (size_t i = 0; status == C2_OK && i < sources.count; i++)
        put_source(to, shown, &sources.list[i]);
    if (status == C2_OK) {
        put_left_out(to, shown, &sources);
        status = check_found(sources.list, sources.count, err);
    }
    report_parts_release(&sources);
    return status;
}
