/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * text_against: the same run under another placement, beside it.
 *
 * Counting
 *   inherent and placement are the conflict misses of the run itself, labelled by what the other placement did at the
 *   same access; the columns behind are the other placement's own counts.
 */
#include <inttypes.h>
#include <string.h>

#include "report/report_priv.h"

enum { LEVEL, CONFLICT, INHERENT, PLACEMENT, MISSES, OTHER_MISSES, OTHER_CONFLICT, COLUMNS };
typedef report_cell table_row[COLUMNS];

static void fill_row(table_row row, const struct report_level *here, const struct report_level *there,
                     const struct analyses_against_counts *labels)
{
    snprintf(row[LEVEL], sizeof row[LEVEL], "%s", here->level->name);
    c2_group_digits(row[CONFLICT], here->counts->conflict);
    c2_group_digits(row[INHERENT], labels->inherent);
    c2_group_digits(row[PLACEMENT], labels->placement);
    c2_group_digits(row[MISSES], here->counts->misses);
    c2_group_digits(row[OTHER_MISSES], there->counts->misses);
    c2_group_digits(row[OTHER_CONFLICT], there->counts->conflict);
}

static void put_tlbs(FILE *to, const struct report_run *run)
{
    const struct mmu_tlb_config *config = mmu_tlb_config(run->tlb);
    char here[32], there[32];
    fputs("TLB misses, here and there:", to);
    for (uint32_t i = 0; i < config->count; i++) {
        const uint64_t counts[2] = {mmu_tlb_counts(run->tlb, i)->misses, mmu_tlb_counts(run->against->tlb, i)->misses};
        if (counts[0] + counts[1] != 0)
            fprintf(to, " %s %s and %s,", config->structure[i].name, c2_group_digits(here, counts[0]),
                    c2_group_digits(there, counts[1]));
    }
    fprintf(to, " page walks %s and %s\n", c2_group_digits(here, mmu_tlb_walks(run->tlb)->count),
            c2_group_digits(there, mmu_tlb_walks(run->against->tlb)->count));
}

static void put_pages(FILE *to, const struct report_run *there)
{
    char small[32], of_2m[32], of_1g[32];
    fprintf(to, "pages there: %s placement; %s of 4 KiB, %s of 2 MiB, %s of 1 GiB\n",
            mmu_placement_name(there->placement->placement), c2_group_digits(small, there->pages->small_pages),
            c2_group_digits(of_2m, there->pages->huge_2m), c2_group_digits(of_1g, there->pages->huge_1g));
}

void report_text_against(FILE *to, const struct report_run *run)
{
    static const char *const headings[COLUMNS] = {"level",  "conflict misses", "inherent",       "due to placement",
                                                  "misses", "misses there",    "conflicts there"};
    struct report_level here[REPORT_MAX_LEVELS], there[REPORT_MAX_LEVELS];
    const size_t count = report_levels(here, run);
    table_row rows[1 + REPORT_MAX_LEVELS];
    uint64_t walks = 0;
    report_levels(there, run->against);
    for (size_t i = 0; i < COLUMNS; i++)
        snprintf(rows[0][i], sizeof rows[0][i], "%s", headings[i]);
    for (size_t i = 0; i < count; i++) {
        fill_row(rows[1 + i], &here[i], &there[i], &run->labels[here[i].number]);
        walks += run->labels[here[i].number].walks;
    }
    fprintf(to, "against %s:\n", run->against_text);
    report_put_table(to, &(struct report_table){rows[0], 1 + count, COLUMNS, COLUMNS, 1, "", false});
    if (walks != 0)
        fprintf(to, "%" PRIu64 " conflict misses of page walks are neither inherent nor due to placement\n", walks);
    if (run->tlb)
        put_tlbs(to, run);
    put_pages(to, run->against);
}
