/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * explain (`c2emu explain`): one miss of one level, with what lay in its set, and what happens in that set from there
 * on. explain.c has the model.
 */
#ifndef C2_ANALYSES_EXPLAIN_H
#define C2_ANALYSES_EXPLAIN_H

#include "analyses/analyses.h"

#define EXPLAIN_STEPS 12u /* the default */
#define EXPLAIN_MOST_STEPS 1000u
#define EXPLAIN_DEMAND UINT8_MAX   /* of an access: no prefetcher has made it */
#define EXPLAIN_NO_WAY UINT32_MAX  /* the step takes none */
#define EXPLAIN_UNKNOWN UINT64_MAX /* of a distance */
#define EXPLAIN_NOBODY UINT32_MAX  /* of an object: none that reports have */
#define EXPLAIN_CLASSES (CACHES_COHERENCE + 1)

/* A line access: of the level that is explained, where it says when. */
struct explain_access {
    uint64_t when; /* so often had that cache been asked, this time included */
    struct guest_va va, pc;
    uint32_t object; /* of the profile; NOBODY */
    uint32_t spot;   /* while simulated */
    uint8_t kind;    /* enum sim_kind */
    uint8_t core;
    uint8_t prefetcher; /* enum caches_prefetcher, whose prefetch it was behind this access; DEMAND: none */
};

/* How a line left the level last. */
enum explain_left {
    EXPLAIN_NEVER,     /* it has not left; or was never there */
    EXPLAIN_MADE_ROOM, /* for a line that an access has brought, */
    EXPLAIN_FOR_AHEAD, /* or a prefetch; `left_for` is that line */
    EXPLAIN_INCLUSION, /* an inclusive level below evicted it */
    EXPLAIN_MOVED_UP,  /* a hit took it out of an exclusive level */
    EXPLAIN_TAKEN,     /* another core's write */
    EXPLAIN_OTHERWISE  /* an instruction made for caches, or it is not known */
};

/* What is known of a line at the level. */
struct explain_line {
    bool brought_once, here;
    uint32_t set;                 /* through all slices, as it was asked for last */
    struct line_no line;          /* physical */
    uint64_t asked;               /* when last; 0: never. In `lines` of a step the step counts, in `own` not */
    struct explain_access asking; /* which access did; this step included */
    /* The last times: what brought it, touched it - a fill is a touch -, made it leave. */
    struct explain_access brought, touched, left;
    enum explain_left how;
    struct line_no left_for;
};

/* One access of the set, and the set before it. */
struct explain_step {
    struct explain_access access;
    uint64_t number; /* as of struct sim_miss */
    struct line_no line;
    enum caches_class class_; /* HIT: it was there */
    uint64_t distance;        /* other lines that the level was asked for since this one; UNKNOWN, of a cold one 0 */
    uint64_t set_distance;    /* of these, those of its set; of a story's first step, else UNKNOWN */
    uint32_t way;             /* in `set`: where it was found or goes; NO_WAY: the level does not take it */
    struct caches_set set;
    struct explain_line *lines; /* [way] of those that hold one; */
    struct explain_line own;    /* the accessed line's, before */
    uint64_t evictor;           /* while simulated */
};

/* What became of the access at one of the levels asked. */
struct explain_level {
    uint32_t level; /* by number */
    enum caches_class class_;
    struct caches_place place;
    bool evicted; /* victim made room */
    struct line_no victim;
};

struct explain_story {
    uint64_t of_all, of_asked, of_class; /* which miss it is, from 1: of the level's, of those that were asked for, of
                                          * these such of its class */
    uint32_t copy;                       /* whose cache, where cores have their own */
    uint32_t page_log2;
    uint32_t served_by; /* level_count: memory */
    uint32_t level_count;
    struct explain_level levels[CACHES_MAX_LEVELS]; /* those asked, the first one first */
    struct explain_step *steps;                     /* the first is the miss */
    uint32_t step_count;
};

struct analyses_explain_result {
    uint32_t level;                    /* by number */
    uint64_t all, asked;               /* measured misses of it; of these, such as were asked for */
    uint64_t classes[EXPLAIN_CLASSES]; /* of those that were asked for */
    const char *at;                    /* FILE:LINE; NULL: any */
    uint64_t miss;                     /* the one that was asked for; 0: a typical one */
    uint32_t steps;                    /* that were wanted */
    const struct explain_story *story; /* NULL: there is no such miss */
};

#endif
