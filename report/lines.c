/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * lines: what the lines of the program's source have cost.
 *
 * Model
 *   A line belongs to the function that holds its code: inlined elsewhere it is another. An instruction whose line is
 *   not known is a line of its own. Instructions that never missed are in none.
 *
 * Counting
 *   Summed over the lines, the misses of a level are what the caches counted.
 */
#include <stdlib.h>
#include <string.h>

#include "report/profile_priv.h"

#define UP(a, b) (((a) > (b)) - ((a) < (b)))

/* NULL goes before every text. */
static int by_text(const char *a, const char *b) { return a == b ? 0 : !a || !b ? (!a ? -1 : 1) : strcmp(a, b); }

int report_by_place(const struct loader_place *a, const struct loader_place *b)
{
    int order = by_text(a->object, b->object);
    if (order == 0)
        order = by_text(a->function, b->function);
    if (order == 0)
        order = by_text(a->file, b->file);
    if (order == 0)
        order = UP(a->line, b->line);
    return order != 0 || a->file ? order : UP(a->offset, b->offset);
}

static int by_place(const void *left, const void *right)
{
    const struct report_line *a = left, *b = right;
    const int order = report_by_place(&a->place, &b->place);
    return order != 0 ? order : UP(a->pc.v, b->pc.v);
}

static int by_cost(const void *left, const void *right)
{
    const struct report_line *a = left, *b = right;
    const int order = report_by_cost(&a->missed, &b->missed);
    return order != 0 ? order : by_place(left, right);
}

/* An access that asked the first level and found the line is a row without a miss. Translations are missed too. */
static bool has_missed(const struct report_digest *digest, const struct analyses_row *row)
{
    struct report_missed missed = {.own = 0};
    report_add_row(&missed, digest, row);
    return missed.own + missed.loading + missed.tlb.misses != 0;
}

/* One for a run of neighbours of the same line. */
static enum c2_status collect(struct report_digest *digest, const struct report_run *run, struct c2_error *err)
{
    const struct analyses_profile_result *profile = digest->profile;
    uint32_t room = 0, count = 0;
    for (size_t i = 0; i < profile->row_count; i++) {
        const struct analyses_row *row = &profile->rows[i];
        if (!has_missed(digest, row))
            continue;
        if (count == 0 || digest->lines[count - 1].pc.v != profile->insns[row->insn].pc.v) {
            struct report_line line = {.pc = profile->insns[row->insn].pc};
            if (!c2_grow((void **)&digest->lines, &room, count, sizeof *digest->lines))
                return c2_fail_memory(err, "the lines of a report");
            report_place(&line.place, run, line.pc);
            if (count == 0 || report_by_place(&digest->lines[count - 1].place, &line.place) != 0)
                digest->lines[count++] = line;
        }
        report_add_row(&digest->lines[count - 1].missed, digest, row);
    }
    digest->line_count = count;
    return C2_OK;
}

static void join(struct report_digest *digest)
{
    size_t kept = 0;
    qsort(digest->lines, digest->line_count, sizeof *digest->lines, by_place);
    for (size_t i = 0; i < digest->line_count; i++) {
        if (kept > 0 && report_by_place(&digest->lines[kept - 1].place, &digest->lines[i].place) == 0)
            report_add_missed(&digest->lines[kept - 1].missed, &digest->lines[i].missed);
        else
            digest->lines[kept++] = digest->lines[i];
    }
    digest->line_count = kept;
}

enum c2_status report_digest_lines(struct report_digest *digest, const struct report_run *run, struct c2_error *err)
{
    enum c2_status status = collect(digest, run, err);
    if (status != C2_OK)
        return status;
    join(digest);
    qsort(digest->lines, digest->line_count, sizeof *digest->lines, by_cost);
    return C2_OK;
}
