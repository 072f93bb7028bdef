/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * text: the report for people.
 *
 * Model
 *   A head of `key value` lines (program, machine, pages, phases, references), one aligned table with a row a level,
 *   what the misses cost and who evicted whom where they were attributed (text_profile.c), one table of the TLBs where
 *   the machine has them, and a last line that says what to look at (advice.c). Shares are exact to
 *   the last digit shown.
 *
 * Counting
 *   miss rate is misses / accesses of the same level (a local rate); cold, capacity and conflict are shares of the
 *   level's misses; FA misses is the number a fully associative LRU cache of the same size would have.
 */
#include <inttypes.h>
#include <string.h>

#include "report/profile_priv.h"

/* ------------------------------------------------------------------ head */

#define KEY_WIDTH 12
static void key(FILE *to, const char *name) { fprintf(to, "%-*s ", KEY_WIDTH - 1, name); }

/* A line that may go on in the next one. */
static struct report_flow begin_key(FILE *to, const char *name)
{
    key(to, name);
    return (struct report_flow){.to = to, .column = KEY_WIDTH, .indent = KEY_WIDTH};
}

static void put_program(FILE *to, const struct report_run *run)
{
    key(to, "program");
    for (size_t i = 0; run->command[i]; i++)
        fprintf(to, "%s%s", i == 0 ? "" : " ", run->command[i]);
    fputc('\n', to);
    key(to, "ending");
    if (run->ending)
        fprintf(to, "%s\n", run->ending);
    else
        fprintf(to, "exit status %d\n", run->exit_status);
    if (run->clock) {
        key(to, "clock");
        fprintf(to, "%s at the start\n", run->clock);
    }
}

/* "L3 20 MiB 20-way lru in 8 slices (lin8)," */
static void put_level_shape(struct report_flow *flow, const struct caches_level *level, const char *behind)
{
    char text[64 + CACHES_HASH_BYTES], size[32];
    struct c2_words words = {text, sizeof text, 0};
    c2_say(&words, "%s %s %" PRIu32 "-way %s", level->name, c2_size_text(size, level->size_bytes), level->ways,
           caches_policy_name(level->policy));
    if (level->slices > 1)
        c2_say(&words, " in %" PRIu32 " slices (%s)", level->slices, level->hash);
    report_put(flow, "%s%s", text, behind);
}

static void put_machine(FILE *to, const struct report_run *run)
{
    struct report_level levels[REPORT_MAX_LEVELS];
    const size_t count = report_levels(levels, run);
    key(to, "machine");
    fprintf(to, "%s%s%s\n", run->machine->name, run->machine->description[0] != '\0' ? ": " : "",
            run->machine->description);
    struct report_flow flow = begin_key(to, "caches");
    for (size_t i = 0; i < count; i++)
        put_level_shape(&flow, levels[i].level, i + 1 < count ? "," : ";");
    report_put(&flow, "lines of %" PRIu32 " bytes", run->machine->line_bytes);
    report_end_line(&flow);
}

static void put_huge_pages(struct report_flow *flow, const struct mmu_counts *pages)
{
    char of_2m[32], of_1g[32], fallbacks[32];
    if (pages->huge_2m + pages->huge_1g + pages->huge_fallbacks == 0)
        report_put(flow, "no huge pages,");
    else
        report_put(flow, "%s of 2 MiB, %s of 1 GiB (%s more found no huge frame),",
                   c2_group_digits(of_2m, pages->huge_2m), c2_group_digits(of_1g, pages->huge_1g),
                   c2_group_digits(fallbacks, pages->huge_fallbacks));
}

static void put_zero_page(FILE *to, const struct report_run *run)
{
    char read[32], written[32];
    if (!run->placement->zero_page)
        return;
    key(to, "zero page");
    fprintf(to, "%s pages were read before they were written, %s of them written later; the others share one frame\n",
            c2_group_digits(read, run->pages->zero_pages), c2_group_digits(written, run->pages->zero_copies));
}

/* Where the guest went on with zeros and Linux would have raised SIGBUS, what it computed since may be wrong. */
static void put_lost_pages(FILE *to, const struct mmu_counts *pages)
{
    char count[32];
    if (pages->lost_pages == 0)
        return;
    fprintf(to,
            "            WARNING: %s pages of mapped files vanished while the program ran (a file was cut) and "
            "were read as zeros\n",
            c2_group_digits(count, pages->lost_pages));
}

static void put_pages(FILE *to, const struct report_run *run)
{
    char count[32], size[32];
    struct report_flow flow = begin_key(to, "pages");
    report_put(&flow, "%s placement, seed %" PRIu64 "; %s pages of 4 KiB touched,",
               mmu_placement_name(run->placement->placement), run->seed,
               c2_group_digits(count, run->pages->small_pages));
    put_huge_pages(&flow, run->pages);
    report_put(&flow, "%s of memory%s", c2_size_text(size, run->placement->physical_bytes),
               !run->tlb ? "; no TLBs" : "");
    report_end_line(&flow);
    put_zero_page(to, run);
    put_lost_pages(to, run->pages);
}

static void put_small_and_huge(FILE *to, const struct mmu_rule_counts *n)
{
    char small[32], of_2m[32], of_1g[32];
    fprintf(to, "%s pages of 4 KiB", c2_group_digits(small, n->small_pages));
    if (n->huge_2m + n->huge_1g != 0)
        fprintf(to, ", %s of 2 MiB, %s of 1 GiB", c2_group_digits(of_2m, n->huge_2m),
                c2_group_digits(of_1g, n->huge_1g));
    fputc('\n', to);
}

/* What a rule that placed nothing was about, in case it was misspelt. */
static const char *why_nothing(const struct mmu_region *region, bool zero_page)
{
    if (zero_page)
        return "none of its pages was touched, or all were only read";
    switch (region->kind) {
    case MMU_REGION_FILE:
        return "no page of a mapping of such a file was touched, or more precise rules placed them";
    case MMU_REGION_OBJECT:
        return "none of its pages was touched";
    default:
        return "none of its pages was touched";
    }
}

static void put_rule(FILE *to, const struct mmu_rule *rule, const struct mmu_rule_counts *n, bool zero_page)
{
    if (n->small_pages + n->huge_2m + n->huge_1g == 0) {
        fprintf(to, "            WARNING: --place %s=%s placed nothing: %s\n", rule->region.name, rule->text,
                why_nothing(&rule->region, zero_page));
        return;
    }
    fprintf(to, "            %s=%s: ", rule->region.name, rule->text);
    put_small_and_huge(to, n);
}

static void put_huge_region(FILE *to, const struct mmu_region *region, const struct mmu_rule_counts *n)
{
    char of_2m[32], of_1g[32], fallbacks[32];
    if (n->huge_2m + n->huge_1g + n->huge_fallbacks == 0) {
        fprintf(to, "            WARNING: --huge %s made no huge page: no aligned range of it was touched\n",
                region->name);
        return;
    }
    fprintf(to, "            --huge %s: %s of 2 MiB, %s of 1 GiB (%s more found no huge frame)\n", region->name,
            c2_group_digits(of_2m, n->huge_2m), c2_group_digits(of_1g, n->huge_1g),
            c2_group_digits(fallbacks, n->huge_fallbacks));
}

static void put_rules(FILE *to, const struct report_run *run)
{
    const struct mmu_config *placement = run->placement;
    if (!placement)
        return;
    for (size_t i = 0; i < placement->rule_count; i++)
        put_rule(to, &placement->rules[i], &run->rules[i], placement->zero_page);
    for (size_t i = 0; i < placement->huge_region_count; i++)
        put_huge_region(to, &placement->huge_regions[i], &run->huge_regions[i]);
}

static void put_references(FILE *to, const struct sim_counts *n)
{
    char refs[32], reads[32], writes[32], modifies[32], straddles[32], lines[32];
    key(to, "references");
    fprintf(to, "%s: %s reads, %s writes (%s modifies count as one read and one write each)\n",
            c2_group_digits(refs, n->refs), c2_group_digits(reads, n->reads), c2_group_digits(writes, n->writes),
            c2_group_digits(modifies, n->modifies));
    key(to, "");
    fprintf(to, "%s line accesses; %s references touch more than one line\n", c2_group_digits(lines, n->line_accesses),
            c2_group_digits(straddles, n->straddles));
}

static void put_phases(FILE *to, const struct report_run *run)
{
    char count[32];
    key(to, "phases");
    fprintf(to, "%s: %s instructions\n", run->simulated ? "everything measured" : "run only, nothing simulated",
            c2_group_digits(count, run->instructions));
}

/* ------------------------------------------------------------------ table */

#define COLUMNS 8
#define TLB_COLUMNS 6
static const char *const headings[COLUMNS] = {"level", "accesses", "misses",   "miss rate",
                                              "cold",  "capacity", "conflict", "FA misses"};
static const char *const tlb_headings[TLB_COLUMNS] = {"TLB", "entries", "covers", "accesses", "misses", "miss rate"};
typedef report_cell table_row[COLUMNS];

static void fill_heading(table_row row, const char *const *names, size_t columns)
{
    for (size_t column = 0; column < columns; column++)
        snprintf(row[column], sizeof row[column], "%s", names[column]);
}

static void fill_row(table_row row, const struct report_level *level)
{
    const struct caches_counts *n = level->counts;
    snprintf(row[0], sizeof row[0], "%s", level->level->name);
    c2_group_digits(row[1], n->accesses);
    c2_group_digits(row[2], n->misses);
    report_percent(row[3], n->misses, n->accesses);
    report_percent(row[4], n->cold, n->misses);
    report_percent(row[5], n->capacity, n->misses);
    report_percent(row[6], n->conflict, n->misses);
    c2_group_digits(row[7], n->fa_misses);
}

static void put_table(FILE *to, const table_row *rows, size_t row_count, size_t columns)
{
    report_put_table(to, &(struct report_table){rows[0], row_count, columns, COLUMNS, 1, "", false});
}

static void put_levels(FILE *to, const struct report_run *run)
{
    struct report_level levels[REPORT_MAX_LEVELS];
    const size_t count = report_levels(levels, run);
    table_row rows[1 + REPORT_MAX_LEVELS];
    fill_heading(rows[0], headings, COLUMNS);
    for (size_t i = 0; i < count; i++)
        fill_row(rows[1 + i], &levels[i]);
    put_table(to, rows, 1 + count, COLUMNS);
}

/* ------------------------------------------------------------------ FIFO detector */

#define FIFO_COLUMNS 7
static const char *const fifo_headings[FIFO_COLUMNS] = {"FIFO detector", "capacity",  "conflict", "FA conflict",
                                                        "both",          "only FIFO", "only FA"};

static void fill_fifo_row(table_row row, const struct report_level *level)
{
    const struct caches_fifo_counts *n = level->fifo;
    const uint64_t misses = level->counts->misses;
    snprintf(row[0], sizeof row[0], "%s", level->level->name);
    report_percent(row[1], n->fifo_capacity, misses);
    report_percent(row[2], n->fifo_conflict, misses);
    report_percent(row[3], level->counts->conflict, misses);
    report_percent(row[4], n->both_conflict, misses);
    report_percent(row[5], n->only_fifo, misses);
    report_percent(row[6], n->only_fa, misses);
}

static void put_fifo(FILE *to, const struct report_run *run)
{
    struct report_level levels[REPORT_MAX_LEVELS];
    const size_t count = report_levels(levels, run);
    table_row rows[1 + REPORT_MAX_LEVELS];
    fill_heading(rows[0], fifo_headings, FIFO_COLUMNS);
    for (size_t i = 0; i < count; i++)
        fill_fifo_row(rows[1 + i], &levels[i]);
    fputc('\n', to);
    put_table(to, rows, 1 + count, FIFO_COLUMNS);
}

/* ------------------------------------------------------------------ TLBs */

/* What it translates when it is full of the smallest and of the largest pages it holds; "-" when it holds none. */
static void fill_coverage(char *text, size_t bytes, const struct mmu_tlb_structure *structure)
{
    uint64_t least = 0, most = 0;
    for (unsigned kind = 0; kind < MMU_TLB_PAGE_KINDS; kind++) {
        const uint64_t covers = mmu_tlb_coverage(structure, (enum mmu_tlb_kind)kind);
        least = least == 0 ? covers : least;
        most = covers != 0 ? covers : most;
    }
    char low[32], high[32];
    c2_size_text(low, least);
    c2_size_text(high, most);
    snprintf(text, bytes, "%.20s%s%.20s", least == 0 ? "-" : low, least == most ? "" : " to ",
             least == most ? "" : high);
}

static void fill_tlb_row(table_row row, const struct mmu_tlb_structure *structure, const struct mmu_tlb_counts *n)
{
    snprintf(row[0], sizeof row[0], "%s", structure->name);
    c2_group_digits(row[1], structure->entries);
    fill_coverage(row[2], sizeof row[2], structure);
    c2_group_digits(row[3], n->accesses);
    c2_group_digits(row[4], n->misses);
    report_percent(row[5], n->misses, n->accesses);
}

static void put_walk_reads(FILE *to, const struct report_run *run)
{
    const struct caches_machine *machine = run->machine;
    char count[32];
    for (uint32_t i = machine->walks_from; i <= machine->level_count; i++)
        fprintf(to, "%s %s %s", i == machine->walks_from ? ", served by" : ",",
                i < machine->level_count ? machine->levels[i].name : "memory",
                c2_group_digits(count, run->walk_reads[i]));
    fprintf(to, " (in the counts of these levels)\n");
}

static void put_tlbs(FILE *to, const struct report_run *run)
{
    const struct mmu_tlb_config *config = mmu_tlb_config(run->tlb);
    const struct mmu_tlb_walks *walks = mmu_tlb_walks(run->tlb);
    table_row rows[1 + MMU_TLB_STRUCTURES];
    char count[32], reads[32];
    fill_heading(rows[0], tlb_headings, TLB_COLUMNS);
    for (uint32_t i = 0; i < config->count; i++)
        fill_tlb_row(rows[1 + i], &config->structure[i], mmu_tlb_counts(run->tlb, i));
    put_table(to, rows, 1 + config->count, TLB_COLUMNS);
    fprintf(to, "page walks: %s; %s reads of page-table entries", c2_group_digits(count, walks->count),
            c2_group_digits(reads, walks->reads));
    if (run->machine->walks_cached)
        put_walk_reads(to, run);
    else
        fprintf(to, ", not sent through the caches\n");
}

/* ------------------------------------------------------------------ all of it */

static void put_simulated(FILE *to, const struct report_run *run, struct report_digest *digest)
{
    char advice[1280];
    put_references(to, run->counts);
    fputc('\n', to);
    put_levels(to, run);
    if (run->levels_fifo[0])
        put_fifo(to, run);
    if (digest) {
        fputc('\n', to);
        report_text_profile(to, run, digest);
    }
    if (run->tlb) {
        fputc('\n', to);
        put_tlbs(to, run);
    }
    if (run->against) {
        fputc('\n', to);
        report_text_against(to, run);
    }
    struct report_flow flow = {.to = to, .indent = 9};
    fputc('\n', to);
    report_put(&flow, "look at: %s", report_advice(advice, sizeof advice, run, digest));
    report_end_line(&flow);
}

enum c2_status report_text(FILE *to, const struct report_run *run, struct c2_error *err)
{
    struct report_digest digest = {0};
    enum c2_status status = C2_OK;
    put_program(to, run);
    if (run->simulated) {
        put_machine(to, run);
        put_pages(to, run);
    }
    put_rules(to, run);
    put_phases(to, run);
    if (run->simulated && run->profile)
        status = report_digest_make(&digest, run, err);
    if (run->simulated && status == C2_OK)
        put_simulated(to, run, run->profile ? &digest : NULL);
    report_digest_release(&digest);
    if (status == C2_OK && ferror(to))
        return c2_fail(err, C2_ERR_IO, "cannot write the text report");
    return status;
}
