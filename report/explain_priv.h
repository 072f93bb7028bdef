/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * explain_priv: one access of a level in words (explain.c), for the story that is made of them (story.c). Texts live as
 * long as the document.
 */
#ifndef C2_REPORT_EXPLAIN_PRIV_H
#define C2_REPORT_EXPLAIN_PRIV_H

#include "analyses/explain.h"
#include "report/report_priv.h"

/* What the access is to: "A[3][12]", "malloc#3 + 64 B", "code of libc.so.6", "a page-table entry for 0x1000"; where no
 * object is known an address. */
const char *report_story_thing(struct document *d, const struct report_run *run, const struct explain_access *access);
/* "main (matmul.c:41)", and which prefetcher behind that. */
const char *report_story_who(struct document *d, const struct report_run *run, const struct explain_access *access);
/* The table `ways` of the set before the access. */
void report_story_ways(struct document *d, enum doc_in in, const struct report_run *run,
                       const struct explain_step *step);
/* Why the policy takes the way that it takes; whether a fully associative cache has the line ("has the line: ...");
 * when it was there last; what would have kept it (of a miss). */
const char *report_story_why(struct document *d, const struct explain_step *step);
const char *report_story_full(struct document *d, const struct report_run *run, uint32_t level,
                              const struct explain_step *step);
const char *report_story_past(struct document *d, const struct report_run *run, const struct explain_step *step);
const char *report_story_remedy(struct document *d, const struct report_run *run, uint32_t level,
                                const struct explain_step *step);
void report_story_levels(struct document *d, const struct report_run *run, const struct explain_story *story);
const char *report_story_class(enum caches_class class_);
const char *report_story_kind(uint8_t kind);

/* The chapters of the run's explained miss; and one of its steps alone, in the text. */
void report_add_story(struct document *d, const struct report_run *run);
void report_add_step(struct document *d, const struct report_run *run, uint32_t number);

#endif
