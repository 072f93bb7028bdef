/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sets (--sets): misses of each level by set, with the objects that filled it, and by page. sets.c has the model.
 */
#ifndef C2_ANALYSES_SETS_H
#define C2_ANALYSES_SETS_H

#include "analyses/analyses.h"

#define ANALYSES_SET_ENTRIES 16384u /* of a level, at most */
#define ANALYSES_SET_FILLS 3u       /* objects of an entry, those that filled it most */
#define ANALYSES_SET_PAGES 4096u    /* that are listed: those that missed most */

struct analyses_fill {
    uint32_t object; /* of the profile */
    uint64_t misses;
};
/* An entry: `group` neighbouring sets of one slice. */
struct analyses_set {
    uint64_t misses, conflict;
    struct analyses_fill fills[ANALYSES_SET_FILLS]; /* most first; misses 0: there is none */
};
struct analyses_set_level {
    uint32_t sets, slices;           /* sets of a slice */
    uint32_t group;                  /* sets of an entry */
    uint32_t entries;                /* of a slice */
    const struct analyses_set *list; /* [slice * entries + entry] */
};

struct analyses_page_count {
    uint64_t misses, conflict;
};
/* A page of the program in one frame. */
struct analyses_page {
    struct guest_va start;
    struct guest_pa frame;                              /* where it lies */
    uint32_t log2;                                      /* of its bytes */
    uint32_t slice;                                     /* of its first line, in the last level; 0 where that has one */
    uint32_t order;                                     /* in which pages missed first */
    struct analyses_page_count levels[ANALYSES_LEVELS]; /* by number */
};

struct analyses_sets_result {
    struct analyses_set_level levels[ANALYSES_LEVELS]; /* by number; sets 0: there is no such level */
    const struct analyses_page *pages;                 /* ascending by start, then order */
    uint32_t page_count;
    uint32_t more_pages; /* that are not listed, */
    struct analyses_page_count more[ANALYSES_LEVELS];
};

/* What reports show of it. */
extern const struct analysis_chapter analyses_sets_chapter;

#endif
