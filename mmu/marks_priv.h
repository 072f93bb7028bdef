/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The marks of memory (stream.h) and what they are about.
 */
#ifndef C2_MMU_MARKS_PRIV_H
#define C2_MMU_MARKS_PRIV_H

#include "mmu/areas_priv.h"

#define MARK_PATH_BYTES 4096 /* of a mapped file, with the last zero; longer paths cannot be mapped */
#define MARK_MAPPED_WORDS 6u /* before the path */
#define MARK_WORDS (MARK_MAPPED_WORDS + MARK_PATH_BYTES / 8u)

/* The words of a mark MAPPED for the part [start, start + bytes) of the area; returns how many. */
uint32_t mark_mapped(uint64_t words[MARK_WORDS], const struct area *area, uint64_t start, uint64_t bytes);
/* The area that such words are about, with a backing of its own. Words that cannot be are C2_ERR_FORMAT. */
enum c2_status mark_area(struct area *out, const uint64_t *words, uint32_t count, struct c2_error *err);

#endif
