/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * teach: the caches in the forms that courses use. A simulator with the counts and lines of a well-known course's
 * (csim.c).
 */
#ifndef C2_TEACH_H
#define C2_TEACH_H

#include "base/base.h"
#include "caches/caches.h"
#include "stream/stream.h"

/* ------------------------------------------------------------------ csim.c: hits, misses, evictions
 * Eats a stream; each reference is one access of one cache. lines: where a line for each reference goes, lent until
 * destroy; NULL: nowhere. */
struct teach_counts {
    uint64_t hits, misses, evictions; /* of accesses; a modify is two */
};
struct teach_csim;
/* The machine has one level. */
enum c2_status teach_csim_create(struct teach_csim **out, const struct caches_machine *machine, FILE *lines,
                                 struct c2_error *err);
void teach_csim_destroy(struct teach_csim *csim); /* takes NULL */
/* What comes has its blocks in this table, which outlives it: before the first batch, and where another program's
 * stream goes on. The cache stays as it is. */
void teach_csim_blocks(struct teach_csim *csim, const struct stream_blocks *blocks);
struct stream_sink teach_csim_sink(struct teach_csim *csim); /* fails with C2_ERR_IO, C2_ERR_NO_MEMORY */
struct teach_counts teach_csim_counts(const struct teach_csim *csim);

#endif
