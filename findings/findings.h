/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * findings: what is wrong with a program's use of the caches, as patterns that have remedies: where each is, what it
 * costs, and what its remedy would gain. One list across all patterns, the most worthwhile first.
 */
#ifndef C2_FINDINGS_H
#define C2_FINDINGS_H

#include "analyses/analyses.h"
#include "analyses/coherence.h"
#include "analyses/excerpts.h"
#include "analyses/reuse.h"

/* A row: its name in reports, and what the pattern is. */
/* clang-format off */
#define FINDINGS_PATTERNS(X) \
    X(LOOP_ORDER, "loop-order", "the innermost loop goes through memory in long steps, one around it in short ones") \
    X(SET_CONFLICTS, "set-conflicts", "lines compete for a few sets while others are idle") \
    X(PAGE_PLACEMENT, "page-placement", "the frames of pages decide about conflicts") \
    X(CAPACITY, "capacity", "data that is used again does not fit") \
    X(PARTIAL_LINES, "partial-lines", "few bytes are used of the lines that are fetched") \
    X(POINTER_CHASING, "pointer-chasing", "each address comes from the load before, and nodes are scattered") \
    X(NON_TEMPORAL, "non-temporal-stores", "lines that are stored past the caches are fetched again soon") \
    X(WRITE_ALLOCATE, "write-allocate", "lines are fetched from memory to be overwritten whole") \
    X(USELESS_PREFETCHES, "useless-prefetches", "prefetch instructions fetch nothing, or nothing that is asked for") \
    X(LATE_PREFETCHES, "late-prefetches", "what prefetch instructions fetch is asked for before it can be there") \
    X(TLB, "tlb", "more pages are in use than the TLBs hold") \
    X(CYCLIC, "cyclic-distribution", "threads take elements in turn, so that each line goes to several cores") \
    X(SORTED, "sorted-elements", "a sort or a heap moves elements that are much larger than their keys") \
    X(FALSE_SHARING, "false-sharing", "cores take a line from each other for different bytes of it") \
    X(TRUE_SHARING, "true-sharing", "cores take a line from each other for the same bytes") \
    X(INSTRUCTION_CACHE, "instruction-cache", "the code in use does not fit") \
    X(STREAMING, "streaming", "data is used once, and all of each line") \
    X(SCATTERED, "scattered-accesses", "places that follow no order, in data that does not fit") \
    X(STARTUP, "startup", "starting the program and its libraries is what costs")
/* clang-format on */
enum findings_pattern {
#define X(name, key, help) FINDINGS_##name,
    FINDINGS_PATTERNS(X)
#undef X
        FINDINGS_COUNT
};
const char *findings_pattern_name(enum findings_pattern pattern);

#define FINDINGS_NOBODY UINT32_MAX        /* no object, no level */
#define FINDINGS_ELEMENT ANALYSES_ELEMENT /* bytes of the largest element that is looked at */

#define FINDINGS_ALSO 8u

enum findings_gained { FINDINGS_NO_GAIN, FINDINGS_ESTIMATED, FINDINGS_SIMULATED };

/* Cycles by the machine's latencies, without those of start-up. */
struct findings_cost {
    uint64_t cold, capacity, conflict;
    uint64_t framed; /* of the conflicts: in sets that frames have chosen */
    uint64_t translation, coherence;
};
uint64_t findings_cost_sum(const struct findings_cost *cost);

struct finding {
    enum findings_pattern pattern;
    struct guest_va pc;       /* of what costs most of it */
    uint32_t insn;            /* the same in the profile */
    uint32_t caller;          /* in a library: the instruction of the user's code that led there; else NOBODY */
    uint32_t object;          /* in the profile; NOBODY: none, or many */
    uint32_t loop;            /* in those of the excerpts; ANALYSES_NO_LOOP: none, or none is known */
    uint32_t swapped;         /* LOOP_ORDER: the loop to be swapped: `loop`, or one around loops of few rounds; and */
    uint32_t with;            /* the one around it to be swapped with; else both NO_LOOP */
    uint32_t level;           /* SET_CONFLICTS, CAPACITY, PAGE_PLACEMENT: where most is lost, by number; else NOBODY */
    uint32_t evictor;         /* SET_CONFLICTS: the object that takes most lines; else NOBODY */
    uint32_t other;           /* LOOP_ORDER, CAPACITY: a further object of the same loops; sharing: of the lines; and */
    uint32_t others;          /* how many there are; their cost and gain are in the sums */
    uint32_t around;          /* CAPACITY: the loop around the loop; NO_LOOP: none, or none is known */
    uint32_t fuse, fuse_with; /* CAPACITY: the second loop, and the first, that would be one; else NO_LOOP */
    struct guest_va
        function; /* CAPACITY: that holds the loop; INSTRUCTION_CACHE: whose code costs most; prefetches: theirs; 0:
                   * not known */
    uint32_t functions;           /* INSTRUCTION_CACHE: how many have a hundredth of the cost or more */
    uint64_t function_cost;       /* INSTRUCTION_CACHE: of the cost, that of the function's code */
    uint32_t also[FINDINGS_ALSO]; /* the first of the others, most costly first */
    uint64_t cost;                /* cycles that it concerns */
    uint64_t gain;                /* of these, what the remedy would spare; 0: nothing, or there is none */
    enum findings_gained gained;
    /* Of prefetches: cycles of the run that the remedy would spare and that are no cost (prefetches.c); else 0 */
    uint64_t beside;
    struct caches_instructed prefetches; /* what became of them */
    struct findings_cost parts;
    uint64_t misses;        /* of the first level; of TLB those of the first TLBs; of sharing those of its kind */
    uint64_t walks;         /* TLB: page walks */
    uint64_t false_sharing; /* TRUE_SHARING: misses of false sharing that the remedy ends as well */
    uint64_t refetched; /* NON_TEMPORAL: lines fetched again soon after a store past the caches had taken them, and */
    uint32_t store;     /* that store, in the profile; in a library: the user's code that led there */
    uint32_t tile; /* LOOP_ORDER: rounds of each of the two loops in a block, where blocks spare more than a swap */
    int64_t step, with_step; /* bytes, round by round: of the innermost loop, of the other one; 0: not known */
    uint64_t element_bytes, used_bytes; /* PARTIAL_LINES, POINTER_CHASING, CYCLIC, SORTED: of an element or node */
    uint8_t used[FINDINGS_ELEMENT / 8]; /* these bytes of an element, as bits */
    uint32_t loops; /* PARTIAL_LINES: of so many loops and functions, which use other bytes each; up to 1: of one */
    bool by_field;  /* of these: fields apart from each other, as all that is used together is too much */
    /* CAPACITY: how often a line was fetched, in the mean; STREAMING, SCATTERED: how often the object was walked
     * through; 0: not known; CYCLIC: cores that a line goes to, at most */
    double passes;
    bool scattered;        /* SET_CONFLICTS: places that follow no order */
    uint64_t row_bytes;    /* SET_CONFLICTS of an object with itself: of its rows, which compete; 0: not known */
    uint32_t padding;      /* FALSE_SHARING: bytes behind each core's; 0: none helps. SET_CONFLICTS: behind each row */
    uint32_t padding_unit; /* SET_CONFLICTS: bytes of an element, the least that a row may be longer; 0: not known */
    uint64_t fits_bytes;   /* CAPACITY, with reuse distances: a cache of this size has most of it; 0: not known */
    uint32_t block_loop;   /* CAPACITY: the loop that is to be cut, */
    uint64_t block_rounds; /* into blocks of so many rounds at most; 0: not known */
    uint64_t block_bytes;  /* where steps are shorter than a line: bytes of the object in a block; else 0 */
    uint64_t room_bytes;   /* CAPACITY, when it was tried: of a level that holds the object; else 0 */
    uint64_t apart_bytes, apart_of; /* SET_CONFLICTS, when starts apart helped: these steps, modulo so many bytes */
    uint32_t draws;                 /* PAGE_PLACEMENT, when it was tried: other draws of the frames, and */
    uint64_t luck_now, luck_least, luck_most; /* what the whole run costs; with these draws at least and at most */
    uint32_t number;                          /* of its wishes (findings_wish) */
    uint32_t layout;                          /* when they were tried: the proposal that the gain is of; else NOBODY */
    bool handed_over;                         /* TRUE_SHARING: mostly of bytes that one core writes and others read */
    bool some_stay;     /* USELESS_PREFETCHES: what they do fetch is useful mostly, so that one a line is to stay */
    bool moved;         /* CAPACITY: the object's contents are moved within it, over and over */
    bool heap;          /* SORTED: a heap is kept in order; else all is sorted */
    bool in_huge_pages; /* SET_CONFLICTS, when they were tried: the remedy needs pages of 2 MiB */
};

struct findings_input {
    const struct analyses_profile_result *profile;
    const struct analyses_excerpts_result *excerpts;   /* NULL: patterns of steps are not known */
    const struct analyses_coherence_result *coherence; /* NULL: one core */
    const struct analyses_reuse_result *reuse;         /* NULL: distances were not measured */
    const struct caches_machine *machine;
    const struct mmu_config *placement;
    struct loader_symbols *symbols;          /* NULL: code is not looked at */
    const struct sim_instructed *instructed; /* instructions made for caches, by address */
    size_t instructed_count;
    uint64_t instructions;                /* measured */
    const struct findings_sorted *sorted; /* findings_create's own */
};

/* ------------------------------------------------------------------ declarations: declared.c
 * What of a declaration is to be longer, so that rows of the object are. */
enum findings_part {
    FINDINGS_NO_PART,       /* it is not known */
    FINDINGS_DIMENSION,     /* this dimension of `array` */
    FINDINGS_WHOLE_ELEMENT, /* each element of `array`, a structure */
    FINDINGS_MEMBERS,       /* this dimension of the arrays among `members` that are like `array` */
    FINDINGS_POINTED        /* rows of elements of `array`, a pointer: the program knows how many */
};
struct findings_declared {
    enum findings_part part;
    const struct loader_array *array;
    uint32_t dimension;
    const struct loader_struct *members;
    uint64_t row_bytes;
    uint64_t step; /* bytes by which the part may grow; 0: not known */
};
/* Whether the field is one of the arrays that are meant: of FINDINGS_MEMBERS. */
const struct loader_array *findings_member(struct loader_symbols *symbols, const struct findings_declared *declared,
                                           const struct loader_field *field);
/* distance: at which lines compete, in bytes. What is lent is the loader's. */
void findings_declared(struct findings_declared *out, struct loader_symbols *symbols,
                       const struct analyses_object *object, uint64_t distance, uint32_t line_bytes);
/* The type of an object, or, pointed, that of what has its address; unknown without debug information. */
struct loader_type_id findings_type(struct loader_symbols *symbols, const struct analyses_object *object,
                                    bool *pointed);

/* A finding is one where its remedy spares at least this part of the cycles of the run (cost and instructions, one
 * cycle each, and what accesses wait for late prefetches); or, without remedy, where it concerns so much. */
#define FINDINGS_GAIN_SHARE 100u
#define FINDINGS_COST_SHARE 20u

struct findings {
    struct finding *list; /* by worth, most first */
    uint32_t count;
    uint64_t cost;    /* of all misses of the run, without start-up */
    uint64_t startup; /* of start-up */
    uint64_t cycles;  /* cost and instructions */
};
enum c2_status findings_create(struct findings **out, const struct findings_input *input, struct c2_error *err);
void findings_destroy(struct findings *findings); /* takes NULL */

/* ------------------------------------------------------------------ remedies tried: remedies.c
 * What is to be simulated for the findings, in their order: at most ANALYSES_PROPOSALS wishes, and walks whose order
 * they need, which are lent to them. */
struct findings_wishes {
    struct analyses_wish list[ANALYSES_PROPOSALS];
    uint32_t count;
    struct analyses_walk walks[ANALYSES_PROPOSALS]; /* their order is still to be found */
    uint32_t walk_count;
};
void findings_wish(struct findings_wishes *out, struct findings *findings,
                   const struct analyses_profile_result *profile, const struct caches_machine *machine,
                   const struct mmu_config *placement);
/* The best outcome of a finding's remedies is its gain from now on, of the whole run; the list is sorted anew. before:
 * the run as it was. */
void findings_settle(struct findings *findings, const struct analyses_proposal *proposals,
                     const struct analyses_outcome *outcomes, uint32_t count, const struct analyses_outcome *before);

#endif
