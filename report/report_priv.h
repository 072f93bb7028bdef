/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * report_priv: the chapters of a report that no analysis has.
 */
#ifndef C2_REPORT_PRIV_H
#define C2_REPORT_PRIV_H

#include "analyses/chapter.h"
#include "report/report.h"

/* The run that a digest is of. */
static inline const struct report_run *report_of(const struct digest *digest)
{
    return (const struct report_run *)digest->run;
}

/* The names of all levels of some runs, each once: behind the level that is above it in its machine; returns how many.
 * (lanes.c) */
#define REPORT_LEVEL_NAMES (2 * CACHES_MAX_LEVELS) /* there are L1D to L4 and L1I */
size_t report_level_names(const char *out[REPORT_LEVEL_NAMES], const struct report_run *runs, size_t count);
void report_add_programs(struct document *d, const struct report_programs *programs);
void report_add_command(struct document *d, const char *const *command); /* in JSON; the last word is NULL */

/* ------------------------------------------------------------------ chapters
 * Each adds its figures and notes to the open section; report.c has their order. Those of analyses are with them. */

/* Of any run; and the counts of a part of it, in the JSON. (head.c) */
void report_add_head(struct document *d, struct digest *digest);

/* Of one that was simulated. (levels.c, samples.c, lanes.c) */
void report_add_levels(struct document *d, struct digest *digest);
void report_add_samples(struct document *d, struct digest *digest);
void report_add_tlbs(struct document *d, struct digest *digest);
void report_add_against(struct document *d, struct digest *digest);
void report_add_instructed(struct document *d, struct digest *digest);             /* instructed.c */
void report_add_prefetched(struct document *d, const struct caches_instructed *n); /* what became of prefetches */
void report_add_lanes(struct document *d, struct digest *digest);
void report_add_findings(struct document *d, struct digest *digest); /* findings.c */
void report_add_hints(struct document *d, struct digest *digest);    /* hints.c: what the next run could have */
void report_add_receipt(struct document *d, struct digest *digest);
void report_add_receipt_of(struct document *d, const struct report_receipt *receipt); /* NULL: nothing */

/* Of one with a profile. (rankings.c, conflicts.c) */
void report_add_cost(struct document *d, struct digest *digest);
void report_add_objects(struct document *d, struct digest *digest);
void report_add_functions(struct document *d, struct digest *digest);
void report_add_lines(struct document *d, struct digest *digest);
void report_add_loops(struct document *d, struct digest *digest);
void report_add_conflicts(struct document *d, struct digest *digest);
void report_add_dearest(struct document *d, struct digest *digest);
void report_add_framed(struct document *d, struct digest *digest);

/* All of a report of advice. (proposals.c) */
void report_add_proposals(struct document *d, struct digest *digest, const struct report_proposals *of);

/* The machine; pages by size and rule. (head.c) */
void report_add_machine(struct document *d, const struct report_run *run);
void report_add_pages(struct document *d, enum doc_in in, const struct report_run *run);
/* What was counted in one placement, in the JSON: pages, levels, TLBs, walks. (levels.c) */
void report_add_counted(struct document *d, const struct report_run *run);
/* The cost, and its classes. (rankings.c) */
void report_note_cost(struct document *d, const struct digest *digest);

#endif
