/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * windows_chapter: how the counts went over the run, in windows of some instructions.
 *
 * Counting
 *   In the text the misses of each level in a thousand instructions, of a window that has the fewest, of the one in the
 *   middle, of one that has the most; among windows of full length, where there are any. The strip shows all windows
 *   from left to right, several in a column where there are many: the denser the sign, the nearer to the most that a
 *   column of this level has.
 */
#include "analyses/chapter.h"
#include "analyses/windows.h"

#include <inttypes.h>
#include <stdlib.h>

#define COUNT_OF(list) (sizeof(list) / sizeof(list)[0])
#define STRIP (DOC_LEAST_NAME - 2) /* with its ends it is not shortened, whatever the page */
#define PER_1000 1000.0

/* ------------------------------------------------------------------ in the JSON */

static void windows_chapter_add_served(struct document *d, const struct caches_machine *machine,
                                       const struct sim_totals *of)
{
    doc_table(d, DOC_JSON, "served_by");
    for (uint32_t i = machine->walks_from; i <= machine->level_count; i++) {
        doc_group(d, DOC_JSON, NULL);
        doc_string(d, DOC_JSON, "level", i < machine->level_count ? machine->levels[i].name : "memory");
        doc_count(d, DOC_JSON, "reads", of->walk_reads[i]);
        doc_close(d);
    }
    doc_close(d);
}

static void windows_chapter_add_tlbs(struct document *d, const struct analyses_run *run, const struct sim_totals *of)
{
    doc_table(d, DOC_JSON, "tlb");
    for (uint32_t i = 0; i < run->machine->tlb_count; i++) {
        doc_group(d, DOC_JSON, NULL);
        doc_string(d, DOC_JSON, "name", run->machine->tlbs[i].name);
        doc_count(d, DOC_JSON, "accesses", of->tlbs[i].accesses);
        doc_count(d, DOC_JSON, "misses", of->tlbs[i].misses);
        doc_close(d);
    }
    doc_close(d);
    doc_group(d, DOC_JSON, "walks");
    doc_count(d, DOC_JSON, "count", of->walks.count);
    doc_count(d, DOC_JSON, "reads", of->walks.reads);
    if (run->machine->walks_cached)
        windows_chapter_add_served(d, run->machine, of);
    doc_close(d);
}

static void add_window(struct document *d, const struct analyses_run *run, const struct analyses_window *window)
{
    doc_group(d, DOC_JSON, NULL);
    doc_count(d, DOC_JSON, "phase", window->phase);
    doc_count(d, DOC_JSON, "start", window->start);
    chapter_add_totals(d, run->machine, &window->of);
    if (run->tlb)
        windows_chapter_add_tlbs(d, run, &window->of);
    doc_close(d);
}

static void windows_chapter_add_list(struct document *d, const struct analyses_run *run,
                                     const struct analyses_windows_result *of)
{
    doc_group(d, DOC_JSON, "window");
    doc_count(d, DOC_JSON, "length", of->length);
    doc_count(d, DOC_JSON, "count", of->count);
    doc_count(d, DOC_JSON, "listed", of->listed);
    doc_close(d);
    doc_table(d, DOC_JSON, "windows");
    for (size_t i = 0; i < of->listed; i++)
        add_window(d, run, &of->list[i]);
    doc_close(d);
}

/* ------------------------------------------------------------------ in the text */

static uint64_t windows_chapter_misses_of(const struct sim_totals *of, const struct digest_level *level)
{
    return (level->code ? &of->l1i : &of->levels[level->depth])->misses;
}

/* Of the windows from one to before another. */
static double rate(const struct analyses_windows_result *of, size_t from, size_t to, const struct digest_level *level)
{
    uint64_t misses = 0, instructions = 0;
    for (size_t i = from; i < to; i++) {
        misses += windows_chapter_misses_of(&of->list[i].of, level);
        instructions += of->list[i].of.counts.instructions;
    }
    return instructions == 0 ? 0 : PER_1000 * (double)misses / (double)instructions;
}

static void draw_strip(char out[STRIP + 3], const struct analyses_windows_result *of, const struct digest_level *level)
{
    static const char signs[] = " .:-=+*#%@";
    const size_t columns = of->listed < STRIP ? of->listed : STRIP;
    double rates[STRIP], most = 0;
    for (size_t i = 0; i < columns; i++) {
        rates[i] = rate(of, i * of->listed / columns, (i + 1) * of->listed / columns, level);
        most = rates[i] > most ? rates[i] : most;
    }
    *out++ = '|';
    for (size_t i = 0; i < columns; i++)
        *out++ = signs[most > 0 ? (unsigned)(rates[i] / most * (sizeof signs - 2) + 0.5) : 0];
    *out++ = '|';
    *out = '\0';
}

struct ranked {
    double rate;
    size_t window;
};

/* Of equal ones the first goes first. */
static int by_rate(const void *a, const void *b)
{
    const struct ranked *one = a, *other = b;
    if (one->rate != other->rate)
        return one->rate < other->rate ? -1 : 1;
    return one->window < other->window ? -1 : one->window > other->window;
}

/* Windows of full length; all, if there are none. */
static size_t windows_chapter_rank(struct ranked *out, const struct analyses_windows_result *of,
                                   const struct digest_level *level)
{
    size_t count = 0;
    for (int any = 0; any < 2 && count == 0; any++)
        for (size_t i = 0; i < of->listed; i++)
            if (any || of->list[i].of.counts.instructions == of->length)
                out[count++] = (struct ranked){rate(of, i, i + 1, level), i};
    qsort(out, count, sizeof *out, by_rate);
    return count;
}

static void windows_chapter_add_row(struct document *d, const struct analyses_windows_result *of, struct ranked *list,
                                    const struct digest_level *level)
{
    char strip[STRIP + 3];
    const size_t count = windows_chapter_rank(list, of, level);
    size_t most = count - 1;
    while (most > 0 && list[most - 1].rate == list[count - 1].rate)
        most--;
    draw_strip(strip, of, level);
    doc_group(d, DOC_TEXT, NULL);
    doc_string(d, DOC_TEXT, "name", level->level->name);
    doc_words(d, DOC_TEXT, "least", "%.1f", list[0].rate);
    doc_words(d, DOC_TEXT, "median", "%.1f", list[(count - 1) / 2].rate);
    doc_words(d, DOC_TEXT, "most", "%.1f", list[most].rate);
    doc_count(d, DOC_TEXT, "in", list[most].window + 1);
    doc_string(d, DOC_TEXT, "strip", strip);
    doc_close(d);
}

static void windows_chapter_add_table(struct document *d, const struct digest *digest,
                                      const struct analyses_windows_result *of)
{
    static const struct doc_column columns[] = {{.heading = "misses a 1000", .key = "name", .form = DOC_LEFT},
                                                {.heading = "least", .key = "least", .spare = 2},
                                                {.heading = "median", .key = "median"},
                                                {.heading = "most", .key = "most"},
                                                {.heading = "in window", .key = "in", .spare = 1},
                                                {.heading = "from first to last", .key = "strip", .form = DOC_NAME}};
    struct ranked *list = c2_alloc((of->listed + 1) * sizeof *list);
    d->failed |= !list;
    doc_table(d, DOC_TEXT, NULL);
    doc_columns(d, columns, COUNT_OF(columns), 0);
    for (size_t i = 0; list && of->listed != 0 && i < digest->level_count; i++)
        windows_chapter_add_row(d, of, list, &digest->levels[i]);
    doc_close(d);
    c2_free(list);
}

static void add_windows_chapter(struct document *d, struct digest *digest)
{
    const struct analyses_windows_result *of = digest->run->found[ANALYSIS_windows];
    if (!of)
        return;
    doc_note(d, DOC_LINE, NULL, "windows of %s instructions: %s", doc_digits(d, of->length), doc_digits(d, of->count));
    if (of->listed < of->count)
        doc_say(d, ", of which the first %s are listed:", doc_digits(d, of->listed));
    windows_chapter_add_table(d, digest, of);
    windows_chapter_add_list(d, digest->run, of);
}

const struct analysis_chapter analyses_windows_chapter = {
    .add = add_windows_chapter, .in = DOC_BOTH, .place = 12, .order = 60};
