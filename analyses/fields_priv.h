/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * fields: which fields of structures the used bytes of lines are. fields.c has the model.
 */
#ifndef C2_ANALYSES_FIELDS_PRIV_H
#define C2_ANALYSES_FIELDS_PRIV_H

#include "analyses/line_use.h"
#include "analyses/profile_priv.h"

struct fields;
enum c2_status fields_create(struct fields **out, const struct profile *profile, uint32_t levels, struct c2_error *err);
void fields_destroy(struct fields *fields); /* takes NULL */

/* What lies in the line of data at this address now: a number to be given back at the end of the residency; 0: nothing
 * that is known to have fields. */
enum c2_status fields_begin(struct fields *fields, uint64_t va, uint32_t *pieces, struct c2_error *err);
/* The stay is over; pieces: as it began. mask: of the bytes touched; NULL: it does not count. */
enum c2_status fields_end(struct fields *fields, uint32_t level, uint64_t va, uint32_t pieces, const uint64_t *mask,
                          struct c2_error *err);
void fields_drop(struct fields *fields); /* nothing is counted so far */

/* In finish(); lent until destroy. Those with loads, by unused bytes of all levels (most first), then name. */
enum c2_status fields_result(const struct analyses_line_use_struct **out, size_t *count, struct fields *fields,
                             struct c2_error *err);
void fields_check(const struct fields *fields); /* stays that have not ended: none must be there */

#endif
