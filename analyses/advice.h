/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the files that simulate proposals share: which of the objects to be moved lies where, while a run is played
 * back, and how long their rows seem to be.
 */
#ifndef C2_ANALYSES_ADVICE_H
#define C2_ANALYSES_ADVICE_H

#include "analyses/analyses.h"

/* ------------------------------------------------------------------ advice_find.c: where the objects lie
 * The things looked for are some of a profile's objects, known by their position in the list given. */
#define FINDER_NOTHING UINT32_MAX

struct finder_found {
    uint32_t thing;      /* FINDER_NOTHING: none of them */
    uint32_t slot;       /* of a site's block: its place among them; else 0 */
    uint64_t base;       /* of the thing, or of the block */
    uint64_t start, end; /* the answer holds there */
};

struct finder;
enum c2_status finder_create(struct finder **out, const struct analyses_profile_result *profile,
                             const uint32_t *objects, uint32_t count, struct c2_error *err);
void finder_destroy(struct finder *finder);
enum c2_status finder_mark(struct finder *finder, enum stream_mark mark, const uint64_t *words, struct c2_error *err);
void finder_unmapped(struct finder *finder, uint64_t start, uint64_t bytes);
/* Lent until the next call. */
const struct finder_found *finder_find(struct finder *finder, uint64_t va);
/* The same without what is remembered: the definition. */
void finder_look(const struct finder *finder, uint64_t va, struct finder_found *out);

/* ------------------------------------------------------------------ advice_rows.c: how long rows are */
struct rows;
enum c2_status rows_create(struct rows **out, uint32_t line_bytes, uint32_t things, struct c2_error *err);
void rows_destroy(struct rows *rows);
/* An access by this slot of this block; thing may be FINDER_NOTHING. */
enum c2_status rows_see(struct rows *rows, uint32_t block, uint32_t slot, uint32_t slot_count, uint32_t thing,
                        uint64_t va, struct c2_error *err);
uint64_t rows_of(const struct rows *rows, uint32_t thing); /* 0: none */

#endif
