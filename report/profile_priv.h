/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * profile_priv: the profile of a run in the order in which it is reported: objects, lines and functions by what their
 * misses have cost, and conflict misses by victim.
 */
#ifndef C2_REPORT_PROFILE_PRIV_H
#define C2_REPORT_PROFILE_PRIV_H

#include "report/report_priv.h"

struct report_sums {
    uint64_t misses, cold, capacity, conflict;
    uint64_t placement; /* of the conflict misses; meaningful where the profile has `compared` */
    uint64_t framed;    /* of the conflict misses: in sets that the pages' frames have chosen */
};

/* What something missed, and what that cost. (cost.c) */
struct report_missed {
    struct report_sums levels[REPORT_MAX_LEVELS];  /* in report order */
    struct report_sums startup[REPORT_MAX_LEVELS]; /* of these, those of start-up */
    uint64_t cold, capacity, conflict, own;        /* cycles, without start-up, and their sum */
    uint64_t loading;                              /* cycles of start-up */
    struct analyses_translations tlb, tlb_startup; /* they have no cost; of these, those of start-up */
};

struct report_object {
    const struct analyses_object *of;
    struct report_missed missed;
};

/* All instructions whose module and function are the same. What has no name (a stripped file) is one entry a module. */
struct report_function {
    const char *name, *module; /* may be NULL */
    uint64_t executed, reads, writes;
    struct report_missed missed;
};

/* All instructions of one function and source line that missed; one instruction where its line is not known. */
struct report_line {
    struct guest_va pc; /* of the first of them */
    struct loader_place place;
    struct report_missed missed;
};

/* The conflict misses of one instruction in one object, at one level, and its pairs: by count, most first, then by the
 * evictor's row (nobody last). */
struct report_victim {
    size_t level; /* in report order */
    uint32_t row;
    uint64_t count;
    const struct analyses_pair **pairs;
    size_t pair_count;
};

/* Everything is lent by the profile or owned by the digest. What is ordered by cost: own, then start-up's, most first.
 */
struct report_digest {
    const struct analyses_profile_result *profile;
    bool translated; /* the machine has TLBs */
    size_t level_count;
    struct report_level levels[REPORT_MAX_LEVELS];
    struct report_missed missed;   /* by all */
    struct report_object *objects; /* by cost, then first appearance */
    size_t object_count;
    struct report_function *functions; /* by cost, executions (most first), module, name */
    size_t function_count;
    struct report_line *lines; /* by cost, module, function, file, line, offset in the function */
    size_t line_count;
    struct report_victim *victims; /* by level, count (most first), row */
    size_t victim_count;
    const struct analyses_pair **pairs;
    uint64_t *evicted; /* for report_main_evictor(): a zero for each object, and one for nobody */
};

/* Run with a profile. To be released, whatever it returned. */
enum c2_status report_digest_make(struct report_digest *out, const struct report_run *run, struct c2_error *err);
void report_digest_release(struct report_digest *digest);

void report_add_object(struct report_missed *to, const struct report_digest *digest,
                       const struct analyses_object *object);
void report_add_row(struct report_missed *to, const struct report_digest *digest, const struct analyses_row *row);
void report_add_missed(struct report_missed *to, const struct report_missed *from);
/* What has cost more goes first. */
int report_by_cost(const struct report_missed *a, const struct report_missed *b);
/* "..=====###": the classes' shares of the cost without start-up, cold, capacity, conflict; "" when that is 0. buffer:
 * at least REPORT_BAR + 1 bytes. Returns buffer. */
#define REPORT_BAR 10u
char *report_class_bar(char *buffer, const struct report_missed *missed);
void report_add_function(struct report_function *to, const struct report_function *from);

/* Whether two places are of one line; in the order of report_digest.lines. (lines.c) */
int report_by_place(const struct loader_place *a, const struct loader_place *b);
enum c2_status report_digest_lines(struct report_digest *digest, const struct report_run *run, struct c2_error *err);

/* The object that evicted most of a victim's lines - of equal ones the first in the order of its pairs - with the
 * reason of its largest pair. */
struct report_share {
    uint32_t object; /* ANALYSES_NOBODY: the evictor is not known */
    enum analyses_reason reason;
    uint64_t count;
};
struct report_share report_main_evictor(struct report_digest *digest, const struct report_victim *victim);

/* ------------------------------------------------------------------ names (names.c) */

/* Where an instruction lies; without symbols nothing is known but the pc. */
void report_place(struct loader_place *out, const struct report_run *run, struct guest_va pc);
/* The call that allocated an object; false where there is none. */
bool report_site(struct loader_place *out, const struct report_run *run, const struct analyses_object *object,
                 uint32_t site);
/* "double A[400][400]", of a static variable; NULL: not known. */
const char *report_type(const struct report_run *run, const struct analyses_object *object);
/* "main (matmul.c:41)", "0x1234 in libc.so.6". Returns buffer. */
char *report_place_text(char *buffer, size_t bytes, const struct report_run *run, struct guest_va pc);
/* "malloc#3 double A[][] at doitgen.c:41", "double A[400][400] in app", "code of libc.so.6". Returns buffer. */
char *report_object_text(char *buffer, size_t bytes, const struct report_run *run,
                         const struct analyses_object *object);
/* "the same array", "malloc#4 at list.c:7", "nobody known" ...: who evicted lines of the victim object. Returns
 * buffer. */
char *report_evictor_text(char *buffer, size_t bytes, const struct report_run *run, uint32_t victim,
                          const struct report_share *evictor);

#endif
