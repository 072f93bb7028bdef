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
    const uint64_t *values; /* of each event */
};

/* A loop of the source, as c2emu describes it. */
struct report_described_loop {
    const char *file;
    uint64_t line, entered, rounds, depth;
};

struct report_callgrind {
    struct c2_pool pool; /* has all but the array of costs */
    char *command;       /* NULL: not in the file */
    char *formula;       /* of the first event that is computed, "8 conflictL1D + 28 conflictL2"; NULL: there is none */
    char **events;
    size_t event_count;
    bool has_addresses, has_lines;
    struct report_cost *costs;
    uint32_t cost_count, cost_room;
    uint64_t *totals;                    /* of each event */
    struct report_described_loop *loops; /* in the order of the file */
    uint32_t loop_count, loop_room;
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
bool report_shown_any(const struct report_shown *shown, const uint64_t sums[REPORT_MAX_SHOWN]);
/* "14,737,000   99.6 %  " for each event, blank where it is 0; and the heading above. */
void report_put_counts(FILE *to, const struct report_shown *shown, const uint64_t sums[REPORT_MAX_SHOWN]);
void report_put_count_headings(FILE *to, const struct report_shown *shown);
/* The rest of a line with counts, of which `before` columns stand already, with its end; as wide as was asked for. */
void report_put_cut(FILE *to, const struct report_shown *shown, size_t before, const char *text);
/* "14,737,000 conflict.L1D (99.6 %), ..." */
void report_put_sums(FILE *to, const struct report_shown *shown, const uint64_t sums[REPORT_MAX_SHOWN]);
/* Opens path, or path or its last part in one of the directories. NULL: nowhere. */
FILE *report_open_near(const struct report_annotation *request, const char *path, char *found, size_t bytes);
/* "x.c (looked at x.c, dir/x.c)" */
void report_put_looked(FILE *to, const struct report_annotation *request, const char *path);

/* What the costs of one place come to: of an instruction of a function, or of a line of a file. */
struct report_annotated {
    const struct report_cost *cost; /* the first of them */
    const char *object, *name;      /* of an instruction, with its function; of a line "" and its file */
    uint64_t number;                /* its address; its line, 0: not known */
    uint64_t sums[REPORT_MAX_SHOWN];
};
/* A function, or a file. */
struct report_part {
    const struct report_annotated *rows; /* count of them, by number */
    size_t count;
    uint64_t sums[REPORT_MAX_SHOWN];
    bool shown;
};
struct report_parts {
    struct report_part *list; /* what has most of the first event goes first */
    size_t count;
    struct report_annotated *rows;
};
/* by_insn: functions, with all their instructions; else files, with the lines that have counts. To be released,
 * whatever it returned. */
enum c2_status report_parts_make(struct report_parts *out, const struct report_shown *shown, bool by_insn,
                                 struct c2_error *err);
void report_parts_release(struct report_parts *parts);

/* annotate_source.c, annotate_code.c */
enum c2_status report_annotate_source(FILE *to, const struct report_shown *shown, struct c2_error *err);
enum c2_status report_annotate_code(FILE *to, const struct report_shown *shown, struct c2_error *err);

#endif
