/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * report_priv: the levels of a run in the order in which they are reported, exact shares, and the advice.
 */
#ifndef C2_REPORT_PRIV_H
#define C2_REPORT_PRIV_H

#include "report/document.h"
#include "report/report.h"

#define REPORT_MAX_LEVELS (CACHES_MAX_LEVELS + 1)

struct report_level {
    const struct caches_level *level;
    const struct caches_counts *counts;
    const struct caches_fifo_counts *fifo; /* NULL: no FIFO detector */
    const struct caches_level *next;       /* who is asked on a miss; NULL = memory */
    uint32_t depth;                        /* 0: L1D and L1I */
    uint32_t number;                       /* in a profile */
    uint32_t miss_cycles;                  /* what a miss costs */
    bool code;                             /* L1I */
};

/* L1D, L1I (where the machine has one), L2 ...; returns how many. */
size_t report_levels(struct report_level out[REPORT_MAX_LEVELS], const struct report_run *run);

#define REPORT_WIDTH 120 /* of a line of text, where its words allow that */

/* Rows of cells, row after row, `stride` cells from one to the next. The first `left` columns are aligned to the
 * left. names_last: the last column is aligned to the left too, and cut where the line would be too wide. */
typedef char report_cell[160];
struct report_table {
    const report_cell *cells;
    size_t rows, columns, stride, left;
    const char *indent;
    bool names_last;
};
void report_put_table(FILE *to, const struct report_table *table);

/* Text whose lines are broken between words; those that go on begin with `indent` spaces. (table.c) */
struct report_flow {
    FILE *to;
    size_t column, indent;
    bool inside; /* a word stands before the next one */
};
void report_put(struct report_flow *flow, const char *format, ...) __attribute__((format(printf, 2, 3)));
void report_end_line(struct report_flow *flow);

/* One line without newline; digest (profile_priv.h) may be NULL. Returns buffer. */
struct report_digest;
char *report_advice(char *buffer, size_t bytes, const struct report_run *run, struct report_digest *digest);

/* What the misses cost, by object, line and function, and who evicted whom, of a run with a profile. (text_profile.c)
 */
void report_text_profile(FILE *to, const struct report_run *run, struct report_digest *digest);

/* The same run under another placement, beside it. (text_against.c) */
void report_text_against(FILE *to, const struct report_run *run);

#endif
