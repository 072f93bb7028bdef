/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * text_profile: who evicted whom, and the objects, for people.
 *
 * Model
 *   One sentence for each of the most frequent (instruction, object) pairs with conflict misses, over all levels; then
 *   a table of the objects with most conflict misses, or with most misses where there are no conflicts. report.json has
 *   the others.
 *
 * Counting
 *   "evicted by": the object that caused most of these evictions, with its share. The last column of the table is the
 *   object's share of the conflict misses of all levels.
 */
#include <stdlib.h>
#include <string.h>

#include "report/profile_priv.h"

#define SHOWN 5
#define COLUMNS (4 + REPORT_MAX_LEVELS)

/* ------------------------------------------------------------------ conflicts */

/* The most frequent ones, of equal ones the nearest to the core, into *out; returns how many. */
static size_t most_frequent(const struct report_victim *out[SHOWN], const struct report_digest *digest)
{
    size_t count = 0;
    for (size_t i = 0; i < digest->victim_count; i++) {
        size_t at = count;
        while (at > 0 && out[at - 1]->count < digest->victims[i].count)
            at--;
        if (at == SHOWN)
            continue;
        count += count < SHOWN;
        memmove(&out[at + 1], &out[at], (count - 1 - at) * sizeof out[0]);
        out[at] = &digest->victims[i];
    }
    return count;
}

static void put_victim(FILE *to, const struct report_run *run, struct report_digest *digest,
                       const struct report_victim *victim)
{
    const struct analyses_row *row = &digest->profile->rows[victim->row];
    const struct analyses_object *object = &digest->profile->objects[row->object];
    const struct report_share evictor = report_main_evictor(digest, victim);
    char name[256], size[32], count[32], place[256], share[32], by[256];
    report_object_text(name, sizeof name, run, object);
    report_place_text(place, sizeof place, run, digest->profile->insns[row->insn].pc);
    report_evictor_text(by, sizeof by, run, row->object, &evictor);
    fprintf(to, "  %s%s%s%s: %s conflict miss%s in %s at %s; %s evicted by %s (%s)\n", name,
            object->bytes != 0 ? " (" : "", object->bytes != 0 ? report_size(size, object->bytes) : "",
            object->bytes != 0 ? ")" : "", c2_group_digits(count, victim->count), victim->count == 1 ? "" : "es",
            digest->levels[victim->level].level->name, place, report_percent(share, evictor.count, victim->count), by,
            analyses_reason_name(evictor.reason));
}

static void put_conflicts(FILE *to, const struct report_run *run, struct report_digest *digest)
{
    const struct report_victim *shown[SHOWN];
    const size_t count = most_frequent(shown, digest);
    char rest[32], others[32];
    uint64_t misses = 0;
    if (count == 0) {
        fputs("no conflict misses\n", to);
        return;
    }
    fputs("conflict misses by instruction and object, the most frequent:\n", to);
    for (size_t i = 0; i < digest->victim_count; i++)
        misses += digest->victims[i].count;
    for (size_t i = 0; i < count; i++) {
        put_victim(to, run, digest, shown[i]);
        misses -= shown[i]->count;
    }
    if (digest->victim_count > count)
        fprintf(to, "  and %s more at %s other%s\n", c2_group_digits(rest, misses),
                c2_group_digits(others, digest->victim_count - count), digest->victim_count - count == 1 ? "" : "s");
}

/* ------------------------------------------------------------------ objects */

static void put_in_cell(report_cell cell, const char *text)
{
    const size_t length = strlen(text);
    snprintf(cell, sizeof(report_cell), "%.60s%s", text, length > 60 ? "..." : "");
}

static void fill_heading(report_cell *row, const struct report_digest *digest)
{
    put_in_cell(row[0], "object");
    put_in_cell(row[1], "references");
    put_in_cell(row[2], "size");
    for (size_t i = 0; i < digest->level_count; i++)
        snprintf(row[3 + i], sizeof row[0], "%s misses", digest->levels[i].level->name);
    put_in_cell(row[3 + digest->level_count], "conflicts");
}

static void fill_object(report_cell *row, const struct report_run *run, const struct report_digest *digest,
                        const struct report_object *object, uint64_t conflicts)
{
    char name[256];
    put_in_cell(row[0], report_object_text(name, sizeof name, run, object->of));
    c2_group_digits(row[1], object->of->refs);
    if (object->of->bytes != 0)
        report_size(row[2], object->of->bytes);
    else
        put_in_cell(row[2], "-");
    for (size_t i = 0; i < digest->level_count; i++)
        c2_group_digits(row[3 + i], object->levels[i].misses);
    report_percent(row[3 + digest->level_count], object->all.conflict, conflicts);
}

static void put_objects(FILE *to, const struct report_run *run, const struct report_digest *digest)
{
    report_cell rows[1 + SHOWN][COLUMNS];
    uint64_t conflicts = 0;
    size_t count = 0;
    for (size_t i = 0; i < digest->object_count; i++)
        conflicts += digest->objects[i].all.conflict;
    fill_heading(rows[0], digest);
    for (; count < digest->object_count && count < SHOWN && digest->objects[count].all.misses > 0; count++)
        fill_object(rows[1 + count], run, digest, &digest->objects[count], conflicts);
    report_put_table(to, &(struct report_table){rows[0], 1 + count, 4 + digest->level_count, COLUMNS, 1, ""});
}

void report_text_profile(FILE *to, const struct report_run *run, struct report_digest *digest)
{
    put_conflicts(to, run, digest);
    fputc('\n', to);
    put_objects(to, run, digest);
}
