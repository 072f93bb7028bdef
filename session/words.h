/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * words: values of struct session_options that are texts with rules of their own, and what of them goes together.
 */
#ifndef C2_SESSION_WORDS_H
#define C2_SESSION_WORDS_H

#include "session/session.h"

/* The index of a value among those that an option has; `count`, and the nearest named, where it has not. option: what
 * stands before the value, "--warm ". */
enum c2_status session_word(unsigned *out, const char *option, const char *value, const char *const *known,
                            size_t count, struct c2_error *err);

/* --clock: a date of UTC, with or without the time of day, or @SECONDS; in seconds since 1970. And such a moment as a
 * text. */
#define SESSION_CLOCK_BYTES 32
enum c2_status session_clock(uint64_t *out, const char *text, struct c2_error *err);
void session_clock_text(char out[SESSION_CLOCK_BYTES], uint64_t seconds);

/* A word of --huge but for a region, behind `option`. */
enum c2_status session_huge(enum mmu_huge *out, const char *option, const char *word, struct c2_error *err);
enum { SESSION_NARROWEST = 80, SESSION_WIDEST = 200 }; /* columns of a text report */

/* Columns of the terminal that fd is, within bounds; 0: it is none. */
unsigned session_terminal_width(int fd);

bool session_sampling_asked(const struct session_sampling *sampling); /* else all of the run is measured */
/* What was not given, of samples of a period. whole: the run may have a start that is measured. */
void session_sampling_fill(struct session_sampling *sampling, bool whole);
enum c2_status session_sampling_check(const struct session_sampling *sampling, struct c2_error *err);

/* ------------------------------------------------------------------ regions.c: --roi, --from, --to, --warm */
/* Whether the text of the option is a place: SYMBOL[:N], 0xADDRESS[:N] or FILE:LINE[:N]. */
enum c2_status session_place_check(const char *option, const char *text, struct c2_error *err);
bool session_regions_asked(const struct session_regions *regions); /* else all of the run is one */
enum c2_status session_requests(struct session_regions *out, const char *text, struct c2_error *err);
enum c2_status session_warm(enum session_warm *out, const char *text, struct c2_error *err);
/* What can be refused before the program is known. */
enum c2_status session_regions_check(const struct session_options *options, struct c2_error *err);

/* ------------------------------------------------------------------ contexts.c: --separate-par, -callers, -recs */
bool session_contexts_asked(const struct session_separate *separate);
const char *session_contexts_option(const struct session_separate *separate); /* one that was given; NULL: none was */
enum c2_status session_contexts_check(const struct session_options *options,
                                      struct c2_error *err); /* as session_regions_check */

#endif
