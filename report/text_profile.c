/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * text_profile: what the misses cost, by object, line and function, and who evicted whom, for people.
 *
 * Model
 *   A line for the whole cost and one for the share of start-up; a table of the objects that cost most, one of the
 *   lines, one of the functions; a sentence for each of the dearest (instruction, object) pairs with conflict misses,
 *   over all levels; where the frames of pages chose the sets of conflict misses, a line about that. report.json has
 *   the others.
 *
 * Counting
 *   Start-up is in the first two lines and nowhere else. Shares are of the whole cost. A table ends when COVERED
 *   percent of what is not start-up is in it, or after ROWS rows; a second row, a conflict, or what frames chose is
 *   shown when it is at least a NOTICEABLE-th of what is not start-up. The misses of TLBs, which have no cost, and page
 *   walks are in the tables when there is a miss in RARE instructions or fewer. "evicted by": the object that caused
 *   most of these evictions, with its share.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/profile_priv.h"

#define ROWS 10u
#define COVERED 95u
#define NOTICEABLE 100u
#define SHOWN 5   /* conflicts */
#define RARE 200u /* instructions */
#define COLUMNS (6 + REPORT_MAX_LEVELS)

static uint64_t whole(const struct report_digest *digest) { return digest->missed.own + digest->missed.loading; }

/* Worth a line of its own. */
static bool noticeable(const struct report_digest *digest, uint64_t cost)
{
    return cost != 0 && cost >= (digest->missed.own + NOTICEABLE - 1) / NOTICEABLE;
}

/* ------------------------------------------------------------------ the cost */

static void put_cost(FILE *to, const struct report_run *run, const struct report_digest *digest)
{
    const struct report_missed *all = &digest->missed;
    const uint64_t instructions = run->counts->instructions;
    const uint64_t hundredths = instructions == 0 ? 0 : whole(digest) * 100 / instructions;
    char cost[32], cold[32], capacity[32], conflict[32], startup[32];
    fprintf(to, "cost        %s cycles of misses, %" PRIu64 ".%02u an instruction\n",
            c2_group_digits(cost, whole(digest)), hundredths / 100, (unsigned)(hundredths % 100));
    if (all->loading != 0)
        fprintf(to, "            start-up of libraries: %s of the cost, left out below\n",
                report_percent(startup, all->loading, whole(digest)));
    fprintf(to, "classes     . cold %s, = capacity %s, # conflict %s; a mark is a tenth\n",
            report_percent(cold, all->cold, whole(digest)), report_percent(capacity, all->capacity, whole(digest)),
            report_percent(conflict, all->conflict, whole(digest)));
}

/* ------------------------------------------------------------------ tables of what cost most */

/* One of the three lists. */
struct ranking {
    const char *heading;
    size_t count;
    bool sized;
    const struct report_missed *(*missed)(const struct report_digest *digest, size_t index);
    void (*name)(report_cell cell, const struct report_run *run, const struct report_digest *digest, size_t index);
};

static const struct report_missed *object_missed(const struct report_digest *digest, size_t index)
{
    return &digest->objects[index].missed;
}

static const struct report_missed *line_missed(const struct report_digest *digest, size_t index)
{
    return &digest->lines[index].missed;
}

static const struct report_missed *function_missed(const struct report_digest *digest, size_t index)
{
    return &digest->functions[index].missed;
}

static void object_name(report_cell cell, const struct report_run *run, const struct report_digest *digest,
                        size_t index)
{
    report_object_text(cell, sizeof(report_cell), run, digest->objects[index].of);
}

static void line_name(report_cell cell, const struct report_run *run, const struct report_digest *digest, size_t index)
{
    (void)run;
    loader_place_text(cell, sizeof(report_cell), digest->lines[index].pc, &digest->lines[index].place);
}

static void function_name(report_cell cell, const struct report_run *run, const struct report_digest *digest,
                          size_t index)
{
    const struct report_function *function = &digest->functions[index];
    (void)run;
    snprintf(cell, sizeof(report_cell), "%.100s%s%.50s", function->name ? function->name : "unnamed code",
             function->module ? " in " : "", function->module ? function->module : "");
}

/* Translations are worth their columns. */
static bool shows_tlb(const struct report_run *run, const struct report_digest *digest)
{
    const uint64_t own = digest->missed.tlb.misses - digest->missed.tlb_startup.misses;
    return own != 0 && own >= run->counts->instructions / RARE;
}

static size_t fill_heading(report_cell *row, const struct report_digest *digest, const struct ranking *ranking,
                           bool tlb)
{
    size_t column = 0;
    snprintf(row[column++], sizeof *row, "cost");
    snprintf(row[column++], sizeof *row, "classes");
    for (size_t i = 0; i < digest->level_count; i++)
        snprintf(row[column++], sizeof *row, "%s misses", digest->levels[i].level->name);
    if (tlb) {
        snprintf(row[column++], sizeof *row, "TLB misses");
        snprintf(row[column++], sizeof *row, "walks");
    }
    if (ranking->sized)
        snprintf(row[column++], sizeof *row, "size");
    snprintf(row[column++], sizeof *row, "%s", ranking->heading);
    return column;
}

static void fill_size(report_cell cell, const struct analyses_object *object)
{
    if (object->bytes != 0)
        report_size(cell, object->bytes);
    else
        snprintf(cell, sizeof(report_cell), "-");
}

static void fill_row(report_cell *row, const struct report_run *run, const struct report_digest *digest,
                     const struct ranking *ranking, size_t index)
{
    const struct report_missed *missed = ranking->missed(digest, index);
    size_t column = 0;
    report_percent(row[column++], missed->own, whole(digest));
    report_class_bar(row[column++], missed);
    for (size_t i = 0; i < digest->level_count; i++)
        c2_group_digits(row[column++], missed->levels[i].misses - missed->startup[i].misses);
    if (shows_tlb(run, digest)) {
        c2_group_digits(row[column++], missed->tlb.misses - missed->tlb_startup.misses);
        c2_group_digits(row[column++], missed->tlb.walks - missed->tlb_startup.walks);
    }
    if (ranking->sized)
        fill_size(row[column++], digest->objects[index].of);
    ranking->name(row[column], run, digest, index);
}

/* How many have to be shown; *cost: theirs. */
static size_t rows_of(const struct report_digest *digest, const struct ranking *ranking, uint64_t *cost)
{
    size_t count = 0;
    for (*cost = 0; count < ranking->count && count < ROWS; count++) {
        const uint64_t own = ranking->missed(digest, count)->own;
        const bool covered = (unsigned __int128)*cost * 100 >= (unsigned __int128)digest->missed.own * COVERED;
        if (own == 0 || (count != 0 && (covered || !noticeable(digest, own))))
            break;
        *cost += own;
    }
    return count;
}

static size_t with_cost(const struct report_digest *digest, const struct ranking *ranking)
{
    size_t count = 0;
    while (count < ranking->count && ranking->missed(digest, count)->own != 0)
        count++;
    return count;
}

static void put_ranking(FILE *to, const struct report_run *run, const struct report_digest *digest,
                        const struct ranking *ranking)
{
    report_cell rows[1 + ROWS][COLUMNS];
    uint64_t cost;
    const size_t count = rows_of(digest, ranking, &cost), others = with_cost(digest, ranking) - count;
    const size_t columns = fill_heading(rows[0], digest, ranking, shows_tlb(run, digest));
    char share[32], number[32];
    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++)
        fill_row(rows[1 + i], run, digest, ranking, i);
    fputc('\n', to);
    report_put_table(to, &(struct report_table){rows[0], 1 + count, columns, COLUMNS, 0, "", true});
    if (others != 0)
        fprintf(to, "and %s other%s: %s of the cost\n", c2_group_digits(number, others), others == 1 ? "" : "s",
                report_percent(share, digest->missed.own - cost, whole(digest)));
}

static void put_rankings(FILE *to, const struct report_run *run, const struct report_digest *digest)
{
    const struct ranking rankings[] = {{"object", digest->object_count, true, object_missed, object_name},
                                       {"line", digest->line_count, false, line_missed, line_name},
                                       {"function", digest->function_count, false, function_missed, function_name}};
    for (size_t i = 0; i < sizeof rankings / sizeof rankings[0]; i++)
        put_ranking(to, run, digest, &rankings[i]);
}

/* ------------------------------------------------------------------ conflicts */

/* Conflict misses but for those of start-up. */
static uint64_t own_conflicts(const struct report_digest *digest, const struct report_victim *victim)
{
    const struct analyses_tally *startup =
        &digest->profile->rows[victim->row].startup[digest->levels[victim->level].number];
    return victim->count - startup->reads[ANALYSES_CONFLICT] - startup->writes[ANALYSES_CONFLICT];
}

static uint64_t cost_of(const struct report_digest *digest, const struct report_victim *victim)
{
    return own_conflicts(digest, victim) * digest->levels[victim->level].miss_cycles;
}

/* The dearest ones worth a line, of equal ones the nearest to the core, into *out; returns how many. */
static size_t dearest(const struct report_victim *out[SHOWN], const struct report_digest *digest)
{
    size_t count = 0;
    for (size_t i = 0; i < digest->victim_count; i++) {
        const uint64_t cost = cost_of(digest, &digest->victims[i]);
        size_t at = count;
        while (at > 0 && cost_of(digest, out[at - 1]) < cost)
            at--;
        if (at == SHOWN || !noticeable(digest, cost))
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
    const uint64_t misses = own_conflicts(digest, victim);
    char name[256], size[32], count[32], place[256], share[32], by[256];
    struct report_flow flow = {.to = to, .column = 2, .indent = 6};
    report_object_text(name, sizeof name, run, object);
    report_place_text(place, sizeof place, run, digest->profile->insns[row->insn].pc);
    report_evictor_text(by, sizeof by, run, row->object, &evictor);
    fputs("  ", to);
    report_put(&flow, "%s%s%s%s: %s conflict miss%s in %s at %s; %s evicted by %s (%s)", name,
               object->bytes != 0 ? " (" : "", object->bytes != 0 ? report_size(size, object->bytes) : "",
               object->bytes != 0 ? ")" : "", c2_group_digits(count, misses), misses == 1 ? "" : "es",
               digest->levels[victim->level].level->name, place, report_percent(share, evictor.count, victim->count),
               by, analyses_reason_name(evictor.reason));
    report_end_line(&flow);
}

static void put_others(FILE *to, uint64_t misses, size_t places)
{
    char rest[32], others[32];
    if (misses != 0)
        fprintf(to, "  and %s more at %s other%s\n", c2_group_digits(rest, misses), c2_group_digits(others, places),
                places == 1 ? "" : "s");
}

static void put_conflicts(FILE *to, const struct report_run *run, struct report_digest *digest)
{
    const struct report_victim *shown[SHOWN];
    const size_t count = dearest(shown, digest);
    uint64_t misses = 0;
    size_t places = 0;
    char number[32], share[32];
    for (size_t i = 0; i < digest->victim_count; i++) {
        const uint64_t own = own_conflicts(digest, &digest->victims[i]);
        misses += own;
        places += own != 0;
    }
    fputc('\n', to);
    if (count == 0) {
        fprintf(to, "conflict misses: %s, %s of the cost\n", misses == 0 ? "none" : c2_group_digits(number, misses),
                report_percent(share, digest->missed.conflict, whole(digest)));
        return;
    }
    fputs("conflict misses by instruction and object, the dearest:\n", to);
    for (size_t i = 0; i < count; i++) {
        put_victim(to, run, digest, shown[i]);
        misses -= own_conflicts(digest, shown[i]);
    }
    put_others(to, misses, places - count);
}

/* ------------------------------------------------------------------ what another placement could change */

static void put_framed_level(struct report_flow *flow, const struct report_digest *digest, size_t level, bool more)
{
    const struct report_missed *all = &digest->missed;
    char number[32];
    report_put(flow, "%s in %s%s", c2_group_digits(number, all->levels[level].framed - all->startup[level].framed),
               digest->levels[level].level->name, more ? "," : "");
}

static void put_framed(FILE *to, const struct report_run *run, const struct report_digest *digest)
{
    const struct report_missed *all = &digest->missed;
    struct report_flow flow = {.to = to, .column = 12, .indent = 12};
    uint64_t cost = 0;
    size_t last = 0;
    for (size_t i = 0; i < digest->level_count; i++) {
        const uint64_t framed = all->levels[i].framed - all->startup[i].framed;
        cost += framed * digest->levels[i].miss_cycles;
        last = framed != 0 ? i : last;
    }
    if (run->against || !noticeable(digest, cost))
        return;
    fputs("\nplacement   ", to);
    report_put(&flow, "conflict misses in sets that the frames of pages chose:");
    for (size_t i = 0; i <= last; i++)
        if (all->levels[i].framed != all->startup[i].framed)
            put_framed_level(&flow, digest, i, i != last);
    report_put(&flow, "(see what another placement changes: --against %s)",
               run->placement->placement == MMU_RANDOM ? "sequential" : "random");
    report_end_line(&flow);
}

void report_text_profile(FILE *to, const struct report_run *run, struct report_digest *digest)
{
    put_cost(to, run, digest);
    put_rankings(to, run, digest);
    put_conflicts(to, run, digest);
    put_framed(to, run, digest);
}
