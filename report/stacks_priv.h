/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * stacks_priv: stacks of calls with the names of their functions, for their writers.
 */
#ifndef C2_REPORT_STACKS_PRIV_H
#define C2_REPORT_STACKS_PRIV_H

#include "report/export_priv.h"

struct report_stacks {
    struct analyses_events events;
    const struct analyses_stack *list; /* of the run */
    uint32_t count;
    struct export_names names;
    struct export_place *places; /* [stack]: where its function is */
};
enum c2_status report_stacks_create(struct report_stacks *out, const struct report_run *run, struct c2_error *err);
void report_stacks_release(struct report_stacks *stacks); /* whatever create returned */
const char *report_stack_name(const struct report_stacks *stacks, uint32_t stack);
/* The cycles that a cost would wait, and what that is called where events have names. */
uint64_t report_stack_waits(const struct analyses_events *events, const uint64_t *cost);
const char *report_stack_waits_name(void);

#endif
