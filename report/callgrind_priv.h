/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * callgrind_priv: a callgrind file in memory, and what the two ways to show it share.
 */
#ifndef C2_REPORT_CALLGRIND_PRIV_H
#define C2_REPORT_CALLGRIND_PRIV_H

#include "report/report_priv.h"

/* The costs of one cost line. Texts are "???" where the file has none. */
struct report_cost {
    const char *object, *file, *function;
    uint64_t address, line; /* 0: not known */
    size_t values;          /* its first one in `values` */
};

struct report_callgrind {
    char *command; /* NULL: not in the file */
    char *formula; /* of the first event that is computed, "8 conflictL1D + 28 conflictL2"; NULL: there is none */
    char **events;
    size_t event_count;
    bool has_addresses, has_lines;
    struct report_cost *costs;
    size_t cost_count, cost_room;
    uint64_t *values; /* event_count for each cost */
    size_t value_count, value_room;
    uint64_t *totals; /* of each event */
    char **texts;
    size_t text_count, text_room;
};
/* To be released, whatever it returned. */
enum c2_status report_callgrind_read(struct report_callgrind *out, const char *path, struct c2_error *err);
void report_callgrind_release(struct report_callgrind *file);

#define REPORT_MAX_SHOWN 8 /* events side by side */
struct report_shown {
    const struct report_annotation *request;
    const struct report_callgrind *file;
    size_t events[REPORT_MAX_SHOWN]; /* indices */
    size_t count;
    int width[REPORT_MAX_SHOWN]; /* of a column of counts */
};
/* Adds a cost's values of the shown events. */
void report_shown_add(const struct report_shown *shown, uint64_t sums[REPORT_MAX_SHOWN],
                      const struct report_cost *cost);
bool report_shown_any(const struct report_shown *shown, const uint64_t sums[REPORT_MAX_SHOWN]);
/* "14,737,000   99.6 %  " for each event, blank where it is 0; and the heading above. */
void report_put_counts(FILE *to, const struct report_shown *shown, const uint64_t sums[REPORT_MAX_SHOWN]);
void report_put_count_headings(FILE *to, const struct report_shown *shown);
/* "14,737,000 conflict.L1D (99.6 %), ..." */
void report_put_sums(FILE *to, const struct report_shown *shown, const uint64_t sums[REPORT_MAX_SHOWN]);
/* Opens path, or path or its last part in one of the directories. NULL: nowhere. */
FILE *report_open_near(const struct report_annotation *request, const char *path, char *found, size_t bytes);
/* "x.c (looked at x.c, dir/x.c)" */
void report_put_looked(FILE *to, const struct report_annotation *request, const char *path);

/* annotate_source.c, annotate_code.c */
enum c2_status report_annotate_source(FILE *to, const struct report_shown *shown, struct c2_error *err);
enum c2_status report_annotate_code(FILE *to, const struct report_shown *shown, struct c2_error *err);

#endif
