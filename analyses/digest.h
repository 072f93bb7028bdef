/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * digest: a simulated run in the order in which it is reported - its levels, its objects, lines, functions and loops by
 * what their misses have cost, its conflict misses by victim. Chapters are made of it.
 */
#ifndef C2_ANALYSES_DIGEST_H
#define C2_ANALYSES_DIGEST_H

#include "analyses/analyses.h"
#include "analyses/loops.h"
#include "mmu/replica.h"

/* What was counted of a run on one machine, and what its analyses have found out. Everything is lent. Of a run that was
 * not simulated all pointers are NULL but for placement. */
struct analyses_run {
    bool full;     /* the text has all that there is, not only what says something */
    uint64_t turn; /* instructions of a thread's turn, at most; 0: not known */
    const struct sim_counts *counts;
    const struct caches_machine *machine;
    const struct caches_counts *l1i;                       /* NULL on a machine without L1I */
    const struct caches_counts *levels[CACHES_MAX_LEVELS]; /* machine->level_count of them */
    const struct caches_tlbs *tlb;                         /* NULL on a machine without TLBs */
    const struct sim_totals *measured;                     /* where the counts are, those of the TLBs as well */
    const uint64_t *walk_reads; /* of cached walks, by the level that served them: level_count + 1 of them */
    const struct sim_instructed *instructed; /* instructions made for caches, by address */
    size_t instructed_count;
    const struct mmu_config *placement; /* known without simulation too */
    /* [enum analysis_number]: what the analysis has found out, as said in analyses.h; NULL: not asked for. */
    const void *found[ANALYSES_KINDS];
    const struct analyses_profile_result *profile; /* of these; NULL: misses were not attributed */
    struct loader_symbols *symbols;                /* names for the profile; NULL: addresses only */
};

#define DIGEST_LEVELS (CACHES_MAX_LEVELS + 1)

struct digest_level {
    const struct caches_level *level;
    const struct caches_counts *counts;
    const struct analyses_fifo_counts *fifo; /* NULL: no FIFO detector */
    uint32_t depth;                          /* 0: L1D and L1I */
    uint32_t number;                         /* in a profile */
    uint32_t miss_cycles;                    /* what a miss costs, if it is none of coherence */
    bool code;                               /* L1I */
};

/* L1D, L1I (where the machine has one), L2 ...; returns how many. */
size_t digest_levels(struct digest_level out[DIGEST_LEVELS], const struct analyses_run *run);
/* ------------------------------------------------------------------ what accesses have cost */

struct digest_sums {
    uint64_t misses, cold, capacity, conflict, coherence;
    uint64_t upgrades;  /* of several cores; all of them with L1D */
    uint64_t placement; /* of the conflict misses; meaningful where the profile has `compared` */
    uint64_t framed;    /* of the conflict misses: in sets that the pages' frames have chosen */
};

/* What something missed, and what that cost. (cost.c) */
struct digest_missed {
    struct digest_sums levels[DIGEST_LEVELS];      /* in report order */
    struct digest_sums startup[DIGEST_LEVELS];     /* of these, those of start-up */
    struct analyses_translations tlb, tlb_startup; /* likewise */
    /* Cycles without start-up, and their sum; translation: with walks, coherence: with upgrades. */
    uint64_t cold, capacity, conflict, translation, coherence, own;
    uint64_t loading;         /* cycles of start-up */
    struct caches_cost parts; /* of own + loading */
};

/* One of a ranking: an object, a function or a line. A function is all instructions whose module and function are the
 * same: what has no name (a stripped file) is one a module. A line is all of one function and source line that missed,
 * or one instruction where its line is not known. */
struct digest_ranked {
    const struct analyses_object *of; /* NULL: no object */
    struct loader_place place;        /* of a line; of a function its two names, which may be NULL */
    struct guest_va pc;               /* of a line: of the first instruction; */
    struct guest_va dearest;          /* of the one that has cost most, */
    uint64_t dearest_cost;            /* its own cost */
    const struct analyses_loop *loop; /* NULL: no loop; in the list of them: what is outside of all */
    uint64_t executed, reads, writes; /* of a function or loop */
    struct digest_missed missed;
    uint32_t number; /* of an object: in the profile. It tells those of a list apart, whatever their order */
};
/* By cost (own, then start-up's, most first), executions (most first), module, function, file, line, offset in the
 * function; objects by their first appearance. */
struct digest_ranking {
    struct digest_ranked *list;
    uint32_t count, room;
    uint32_t *number_of; /* [instruction of the profile] but for objects; of one that is in none UINT32_MAX */
    uint32_t numbers;    /* all are below */
};

/* The conflict misses of one instruction in one object, at one level, and its pairs: by count, most first, then by the
 * evictor's row (unknown last). */
struct digest_victim {
    size_t level; /* in report order */
    uint32_t row;
    uint64_t count;
    const struct analyses_pair **pairs;
    size_t pair_count;
};

/* Everything is lent by the run or owned by the digest. */
struct digest {
    const struct analyses_run *run;
    const struct analyses_profile_result *profile; /* NULL: the run has none, and only the levels are known */
    bool translated;                               /* the machine has TLBs */
    size_t level_count;
    struct digest_level levels[DIGEST_LEVELS];
    struct caches_costs costs;   /* of the machine */
    struct digest_missed missed; /* by all */
    struct digest_ranking objects, functions, lines;
    struct digest_ranking charged; /* lines, but by the user's own code: names_charge() */
    uint64_t *cost_of;             /* [instruction of the profile]: of what it has missed */
    struct digest_ranking loops;   /* by their innermost ones; empty: not requested */
    struct digest_victim *victims; /* by level, count (most first), row */
    size_t victim_count;
    const struct analyses_pair **pairs;
    uint64_t *evicted; /* for digest_main_evictor(): a zero for each object, and one for the unknown one */
};

/* To be released, whatever it returned. */
enum c2_status digest_make(struct digest *out, const struct analyses_run *run, struct c2_error *err);
void digest_release(struct digest *digest);

void digest_add_object(struct digest_missed *to, const struct digest *digest, const struct analyses_object *object);
void digest_add_row(struct digest_missed *to, const struct digest *digest, const struct analyses_row *row);
void digest_add_missed(struct digest_missed *to, const struct digest_missed *from);
/* Of a whole run, by its counts; and asserts that the rankings add up to it. */
struct caches_cost digest_run_cost(const struct analyses_run *run);
void digest_check_cost(const struct digest *digest);
/* What has cost more goes first. */
int digest_by_cost(const struct digest_missed *a, const struct digest_missed *b);
/* "..=====##t": the classes' shares of the cost without start-up, cold, capacity, conflict, translations, coherence; ""
 * when that is 0. buffer: at least DIGEST_BAR + 1 bytes. Returns buffer. */
#define DIGEST_BAR 10u
#define DIGEST_MARKS ".=#tc"
char *digest_class_bar(char *buffer, const struct digest_missed *missed);

/* Whether two places are of one line; in the order of a list of lines. */
int digest_by_place(const struct loader_place *a, const struct loader_place *b);

/* The object that evicted most of a victim's lines - of equal ones the first in the order of its pairs - with the
 * reason of its largest pair. */
struct digest_share {
    uint32_t object; /* ANALYSES_NOBODY: the evictor is not known */
    enum analyses_reason reason;
    uint64_t count;
};
struct digest_share digest_main_evictor(struct digest *digest, const struct digest_victim *victim);

/* ------------------------------------------------------------------ what is worth a place in the text (cost.c) */

/* What all accesses have cost; and whether a cost is worth a line of its own in the text. (cost.c) */
uint64_t digest_whole_cost(const struct digest *digest);
bool digest_noticeable(const struct digest *digest, uint64_t cost);
/* Whether a part of the text is worth its place: something that has cost that many per cent, misses of L1I, and
 * translations; everything is with --full. (cost.c) */
bool digest_shows(const struct digest *digest, uint64_t cost, unsigned per_cent);
bool digest_shows_code(const struct digest *digest);
bool digest_shows_tlbs(const struct digest *digest);
bool digest_tlbs_matter(const struct digest *digest); /* the same, but for --full and huge pages */

#endif
