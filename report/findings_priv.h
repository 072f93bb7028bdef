/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * findings_priv: a finding on its way to words: the list (findings.c), the pattern with its evidence
 * (findings_pattern.c), and the remedy (findings_remedy.c).
 */
#ifndef C2_REPORT_FINDINGS_PRIV_H
#define C2_REPORT_FINDINGS_PRIV_H

#include "report/report_priv.h"

#define FINDING_NAME_BYTES ((size_t)NAMES_BYTES)
#define FINDING_DIGITS 32 /* of c2_group_digits */
#define FINDING_WIDTH 84u /* of a name in a sentence, at most */

/* A finding, and its objects in words: "data" and "others" where they are not known. */
struct telling {
    const struct report_run *run;
    const struct finding *of;
    char object[FINDING_NAME_BYTES], evictor[FINDING_NAME_BYTES], other[FINDING_NAME_BYTES];
};

/* ------------------------------------------------------------------ findings.c */

/* NULL: there is none of this number. */
const struct analyses_object *report_finding_object(const struct telling *t, uint32_t number);
/* The line of a loop's head; 0: not known. */
int report_finding_loop_line(const struct telling *t, uint32_t loop);
/* Where the finding is in the source, as far as that is known. */
void report_finding_place(struct loader_place *out, const struct telling *t);
/* A place in words, no longer than FINDING_WIDTH. */
void report_finding_place_text(char *buffer, size_t bytes, struct guest_va pc, struct loader_place place);

/* ------------------------------------------------------------------ findings_pattern.c */

/* The sentence of the pattern, with its evidence; and behind it the objects that it is true of as well. */
void report_finding_add_pattern(struct c2_words *words, const struct telling *t);
void report_finding_add_others(struct c2_words *words, const struct telling *t);
/* The objects that lie in lines which cores share. */
void report_finding_add_sharers(struct c2_words *words, const struct telling *t);
/* The level that the finding is about, and its size. */
const char *report_finding_level(const struct telling *t);
uint64_t report_finding_level_bytes(const struct telling *t);
/* Whether the object is what the allocator keeps for itself; whether that is blocks which it clears before it gives
 * them away; and whether the object is many blocks of one site, which are the elements. */
bool report_finding_in_heap(const struct telling *t);
bool report_finding_clears_blocks(const struct telling *t);
bool report_finding_has_blocks(const struct telling *t);
/* The function of a system library in which the finding is, without the underscores that its name begins with; "": it
 * is in none, or of no name. Lent until loader_symbols_destroy. */
const char *report_finding_library_function(const struct telling *t);
/* All fetches that miss are the first of their line: another order of the code would spare nothing. */
bool report_finding_all_cold(const struct finding *of);
/* "loop" or "function": what holds the instructions. */
const char *report_finding_unit(const struct telling *t);
/* Where the stores are that the finding is about. */
void report_finding_store(struct loader_place *out, const struct telling *t);

/* ------------------------------------------------------------------ findings_remedy.c */

/* The sentence of the remedy. */
void report_finding_add_remedy(struct c2_words *words, const struct telling *t);

#endif
