/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * varied: the machines of one execution as a table for other programs.
 *
 * Model
 *   CSV with a head. A row is a lane, in the order of the report; a run on one machine is a row as well. Columns are
 *   what is varied, by its names on the command line, with the values as they stand there; then the instructions that
 *   were measured, which are those of all, the cost and the page walks; then counts as LEVEL.COUNTER, level by level.
 *   What a machine does not have is empty, and not 0.
 */
#include <inttypes.h>
#include <string.h>

#include "report/report_priv.h"

#define COUNTERS(X) X(accesses) X(misses) X(cold) X(capacity) X(conflict) X(coherence) X(writebacks)

struct table {
    const struct report_run *runs;
    size_t count;
    const char *names[REPORT_LEVEL_NAMES];
    size_t name_count;
};

static void varied_write_head(FILE *to, const struct table *table)
{
    for (size_t i = 0; i < table->runs->varied_count; i++) {
        analyses_write_quoted(to, table->runs->varied[i]);
        fputc(',', to);
    }
    fprintf(to, "instructions,cost,walks");
    for (size_t i = 0; i < table->name_count; i++) {
#define X(counter) fprintf(to, ",%s." #counter, table->names[i]);
        COUNTERS(X)
#undef X
    }
    fputc('\n', to);
}

static void varied_write_level(FILE *to, const struct caches_counts *counts)
{
#define X(counter) \
    fputc(',', to); \
    if (counts) \
        fprintf(to, "%" PRIu64, counts->counter);
    COUNTERS(X)
#undef X
}

static const struct caches_counts *varied_counts_of(const struct report_run *run, const char *name)
{
    struct digest_level levels[DIGEST_LEVELS];
    const size_t count = digest_levels(levels, &run->sim);
    for (size_t i = 0; i < count; i++)
        if (strcmp(levels[i].level->name, name) == 0)
            return levels[i].counts;
    return NULL;
}

static void varied_write_row(FILE *to, const struct table *table, const struct report_run *run)
{
    const struct caches_cost cost = digest_run_cost(&run->sim);
    for (size_t i = 0; i < run->varied_count; i++) {
        analyses_write_quoted(to, run->values[i]);
        fputc(',', to);
    }
    fprintf(to, "%" PRIu64 ",%" PRIu64 ",", run->sim.counts->instructions, caches_cost_sum(&cost));
    if (run->sim.tlb)
        fprintf(to, "%" PRIu64, run->sim.measured->walks.count);
    for (size_t i = 0; i < table->name_count; i++)
        varied_write_level(to, varied_counts_of(run, table->names[i]));
    fputc('\n', to);
}

enum c2_status report_varied(FILE *to, const struct report_run *run, struct c2_error *err)
{
    struct table table = {.runs = run->lanes ? run->lanes : run, .count = run->lanes ? run->lane_count : 1};
    table.name_count = report_level_names(table.names, table.runs, table.count);
    varied_write_head(to, &table);
    for (size_t i = 0; i < table.count; i++)
        varied_write_row(to, &table, &table.runs[i]);
    return ferror(to) ? c2_fail(err, C2_ERR_IO, "cannot write the table of machines") : C2_OK;
}
