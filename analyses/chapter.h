/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * chapter: what chapters of a report have in common: places, counts and costs, in the JSON.
 */
#ifndef C2_ANALYSES_CHAPTER_H
#define C2_ANALYSES_CHAPTER_H

#include "analyses/digest.h"
#include "analyses/names.h"
#include "document/document.h"

/* The figures of a level. */
void chapter_add_counts(struct document *d, enum doc_in in, const struct caches_machine *machine, const char *name,
                        const struct caches_counts *counts);
/* What was measured; and the figures of all levels with it. */
void chapter_add_measured(struct document *d, const struct sim_counts *n);
void chapter_add_totals(struct document *d, const struct caches_machine *machine, const struct sim_totals *of);

/* "0x401234", in the JSON; what is known of a place; and the chain of calls that the compiler has inlined at an
 * instruction, where there is one. */
void chapter_add_address(struct document *d, const char *key, uint64_t address);
void chapter_add_place(struct document *d, const struct loader_place *place);
/* Behind the first CHAPTER_LISTED of a list in the JSON: how many entries there are more. */
#define CHAPTER_LISTED 50u
void chapter_add_rest(struct document *d, size_t count);
/* What a function, line or loop of that ranking is called: its names, place or loop. */
void chapter_add_ranked(struct document *d, const struct digest *digest, const struct digest_ranking *ranking,
                        const struct digest_ranked *of);
/* loop: NULL for what is in none; place: its own (names_loop_place), else not looked at. */
void chapter_add_loop_name(struct document *d, const struct loader_place *place, const struct analyses_loop *loop);
void chapter_add_inlined(struct document *d, const struct analyses_run *run, struct guest_va pc);
/* In an entry of the JSON: the places that a line's cost is charged to, where that is not the line itself. */
void chapter_add_charged(struct document *d, const struct digest *digest, const struct digest_ranked *line);

/* In the JSON: a cost, and those of its parts that the machine has. */
void chapter_add_parts(struct document *d, const struct caches_machine *machine, const struct caches_cost *cost);

#endif
