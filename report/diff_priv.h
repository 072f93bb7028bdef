/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * diff_priv: the counters of two report.json as one list.
 */
#ifndef C2_REPORT_DIFF_PRIV_H
#define C2_REPORT_DIFF_PRIV_H

#include <jansson.h>

#include "report/report_priv.h"

enum report_subject { REPORT_LEVEL, REPORT_FUNCTION, REPORT_OBJECT, REPORT_LOOP, REPORT_SUBJECTS };

/* One counter of one thing in both reports; 0 where a report does not have it. Texts are owned by the comparison or its
 * JSON. */
struct report_entry {
    enum report_subject subject;
    const char *name;  /* "kernel in app", "malloc#1 at app.c:4"; "" for levels */
    const char *bare;  /* "kernel", "malloc#1" */
    const char *level; /* "run" for what belongs to none */
    const char *counter;
    uint64_t value[2];
    bool in[2];
    uint64_t order;  /* of appearance, A's before B's */
    uint64_t weight; /* of all entries of the same name: how much their misses changed */
    bool unlisted;   /* one report does not list the name, so that it is unknown whether it changed */
};

struct report_comparison {
    const char *path[2];
    json_t *root[2];
    struct report_entry *entries; /* as they are to be shown */
    uint32_t count, room;
    struct c2_pool names;
    bool cut[REPORT_SUBJECTS][2];       /* the report's list ends before all are named */
    uint64_t unlisted[REPORT_SUBJECTS]; /* names */
};
/* What stands for all that is not listed in both. */
#define REPORT_OTHERS "(not listed)"
/* Whether the report lists the dearest of each kind alone. */
bool report_comparison_slim(const struct report_comparison *comparison, int side);
/* To be released, whatever it returned. */
enum c2_status report_comparison_read(struct report_comparison *out, const char *a, const char *b,
                                      struct c2_error *err);
void report_comparison_release(struct report_comparison *comparison);

/* "L1D.conflict>+0". *holds: whether it does. *entry: the counter that it is about. */
enum c2_status report_condition(bool *holds, struct report_entry *entry, const struct report_comparison *comparison,
                                const char *condition, struct c2_error *err);

/* "+1,234", "-5", "+0". buffer: at least 32 bytes. Returns buffer. */
char *report_change_text(char *buffer, uint64_t a, uint64_t b);

#endif
