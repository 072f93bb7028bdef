/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * report_priv: a run in the order in which it is reported - its levels, its objects, lines and functions by what their
 * misses have cost, its conflict misses by victim - their names, and the chapters of a report.
 */
#ifndef C2_REPORT_PRIV_H
#define C2_REPORT_PRIV_H

#include "analyses/loops.h"
#include "document/document.h"
#include "report/report.h"

#define REPORT_MAX_LEVELS (CACHES_MAX_LEVELS + 1)

struct report_level {
    const struct caches_level *level;
    const struct caches_counts *counts;
    const struct analyses_fifo_counts *fifo; /* NULL: no FIFO detector */
    uint32_t depth;                          /* 0: L1D and L1I */
    uint32_t number;                         /* in a profile */
    uint32_t miss_cycles;                    /* what a miss costs, if it is none of coherence */
    bool code;                               /* L1I */
};

/* L1D, L1I (where the machine has one), L2 ...; returns how many. */
size_t report_levels(struct report_level out[REPORT_MAX_LEVELS], const struct report_run *run);
/* The names of all levels of some runs, each once: behind the level that is above it in its machine; returns how many.
 * (lanes.c) */
#define REPORT_LEVEL_NAMES (2 * CACHES_MAX_LEVELS) /* there are L1D to L4 and L1I */
size_t report_level_names(const char *out[REPORT_LEVEL_NAMES], const struct report_run *runs, size_t count);
/* The figures of a level. */
void report_add_counts(struct document *d, enum doc_in in, const struct caches_machine *machine, const char *name,
                       const struct caches_counts *counts);

void report_add_programs(struct document *d, const struct report_programs *programs);
void report_add_command(struct document *d, const char *const *command); /* in JSON; the last word is NULL */

/* ------------------------------------------------------------------ what accesses have cost */

struct report_sums {
    uint64_t misses, cold, capacity, conflict, coherence;
    uint64_t upgrades;  /* of several cores; all of them with L1D */
    uint64_t placement; /* of the conflict misses; meaningful where the profile has `compared` */
    uint64_t framed;    /* of the conflict misses: in sets that the pages' frames have chosen */
};

/* What something missed, and what that cost. (cost.c) */
struct report_missed {
    struct report_sums levels[REPORT_MAX_LEVELS];  /* in report order */
    struct report_sums startup[REPORT_MAX_LEVELS]; /* of these, those of start-up */
    struct analyses_translations tlb, tlb_startup; /* likewise */
    /* Cycles without start-up, and their sum; translation: with walks, coherence: with upgrades. */
    uint64_t cold, capacity, conflict, translation, coherence, own;
    uint64_t loading;         /* cycles of start-up */
    struct caches_cost parts; /* of own + loading */
};

/* One of a ranking: an object, a function or a line. A function is all instructions whose module and function are the
 * same: what has no name (a stripped file) is one a module. A line is all of one function and source line that missed,
 * or one instruction where its line is not known. */
struct report_ranked {
    const struct analyses_object *of; /* NULL: no object */
    struct loader_place place;        /* of a line; of a function its two names, which may be NULL */
    struct guest_va pc;               /* of a line: of the first instruction; */
    struct guest_va dearest;          /* of the one that has cost most, */
    uint64_t dearest_cost;            /* its own cost */
    const struct analyses_loop *loop; /* NULL: no loop; in the list of them: what is outside of all */
    uint64_t executed, reads, writes; /* of a function or loop */
    struct report_missed missed;
    uint32_t number; /* of an object: in the profile. It tells those of a list apart, whatever their order */
};
/* By cost (own, then start-up's, most first), executions (most first), module, function, file, line, offset in the
 * function; objects by their first appearance. */
struct report_ranking {
    struct report_ranked *list;
    uint32_t count, room;
    uint32_t *number_of; /* [instruction of the profile] but for objects; of one that is in none UINT32_MAX */
    uint32_t numbers;    /* all are below */
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

/* Everything is lent by the run or owned by the digest. */
struct report_digest {
    const struct report_run *run;
    const struct analyses_profile_result *profile; /* NULL: the run has none, and only the levels are known */
    bool translated;                               /* the machine has TLBs */
    size_t level_count;
    struct report_level levels[REPORT_MAX_LEVELS];
    struct caches_costs costs;   /* of the machine */
    struct report_missed missed; /* by all */
    struct report_ranking objects, functions, lines;
    struct report_ranking charged; /* lines, but by the user's own code: report_charge() */
    uint64_t *cost_of;             /* [instruction of the profile]: of what it has missed */
    struct report_ranking loops;   /* by their innermost ones; empty: nobody has asked for them */
    struct report_victim *victims; /* by level, count (most first), row */
    size_t victim_count;
    const struct analyses_pair **pairs;
    uint64_t *evicted;              /* for report_main_evictor(): a zero for each object, and one for nobody */
    struct samples_groups *samples; /* NULL: the run is not known by samples */
};

/* To be released, whatever it returned. */
enum c2_status report_digest_make(struct report_digest *out, const struct report_run *run, struct c2_error *err);
void report_digest_release(struct report_digest *digest);

void report_add_object(struct report_missed *to, const struct report_digest *digest,
                       const struct analyses_object *object);
void report_add_row(struct report_missed *to, const struct report_digest *digest, const struct analyses_row *row);
void report_add_missed(struct report_missed *to, const struct report_missed *from);
/* Of a whole run, by its counts; and asserts that the rankings add up to it. */
struct caches_cost report_run_cost(const struct report_run *run);
void report_check_cost(const struct report_digest *digest);
/* What has cost more goes first. */
int report_by_cost(const struct report_missed *a, const struct report_missed *b);
/* "..=====##t": the classes' shares of the cost without start-up, cold, capacity, conflict, translations, coherence; ""
 * when that is 0. buffer: at least REPORT_BAR + 1 bytes. Returns buffer. */
#define REPORT_BAR 10u
#define REPORT_MARKS ".=#tc"
char *report_class_bar(char *buffer, const struct report_missed *missed);

/* Whether two places are of one line; in the order of a list of lines. */
int report_by_place(const struct loader_place *a, const struct loader_place *b);

/* The object that evicted most of a victim's lines - of equal ones the first in the order of its pairs - with the
 * reason of its largest pair. */
struct report_share {
    uint32_t object; /* ANALYSES_NOBODY: the evictor is not known */
    enum analyses_reason reason;
    uint64_t count;
};
struct report_share report_main_evictor(struct report_digest *digest, const struct report_victim *victim);

/* ------------------------------------------------------------------ names (names.c) */

#define REPORT_NAME_BYTES 1024 /* of buffers: names of templates are long, and their places stand behind them */

/* Where an instruction lies; without symbols nothing is known but the pc. */
void report_place(struct loader_place *out, const struct report_run *run, struct guest_va pc);
/* The same of a loop. */
void report_loop_place(struct loader_place *out, const struct report_run *run, const struct analyses_loop *loop);
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

/* ------------------------------------------------------------------ the user's own code (charged.c) */

#define REPORT_FRAMES 16 /* of a chain of inlined calls that are looked at, innermost first */
/* Where the cost of an instruction belongs: of the calls that the compiler has inlined there the innermost one that is
 * not from a file of the system or of a language's library; without one its own place. In the function that holds the
 * code. */
void report_charge(struct loader_place *out, const struct report_run *run, struct guest_va pc);
/* "main (stlmap.cpp:16) < map::find < stl_tree.h:780": the place that an instruction is charged to, what is called
 * there, and where it lies. Returns buffer. */
char *report_charged_text(char *buffer, size_t bytes, const struct report_run *run, struct guest_va pc);
/* In an entry of the JSON: the places that a line's cost is charged to, where that is not the line itself. */
void report_add_charged(struct document *d, const struct report_digest *digest, const struct report_ranked *line);

/* ------------------------------------------------------------------ chapters
 * Each adds its figures and notes to the open section; report.c has their order. */

/* Of any run; and the counts of a part of it, in the JSON. (head.c) */
void report_add_head(struct document *d, struct report_digest *digest);
void report_add_totals(struct document *d, const struct report_run *run, const struct sim_totals *of);

/* Of one that was simulated. (levels.c, samples.c, lanes.c, windows.c) */
void report_add_levels(struct document *d, struct report_digest *digest);
void report_add_samples(struct document *d, struct report_digest *digest);
void report_add_fifo(struct document *d, struct report_digest *digest);
void report_add_sharing(struct document *d, struct report_digest *digest);   /* sharing.c */
void report_add_coherence(struct document *d, struct report_digest *digest); /* coherence.c */
/* What coherence misses and upgrades have cost; of one core nothing. And what to look at when that is the most of the
 * whole. */
uint64_t report_coherence_cost(const struct report_digest *digest);
void report_add_bandwidth(struct document *d, struct report_digest *digest); /* bandwidth.c */
void report_add_tlbs(struct document *d, struct report_digest *digest);
void report_add_against(struct document *d, struct report_digest *digest);
void report_add_instructed(struct document *d, struct report_digest *digest);      /* instructed.c */
void report_add_prefetched(struct document *d, const struct caches_instructed *n); /* what became of prefetches */
void report_add_prefetch(struct document *d, struct report_digest *digest);        /* prefetch.c */
void report_add_lanes(struct document *d, struct report_digest *digest);
void report_add_histogram(struct document *d, struct report_digest *digest);
void report_add_sets(struct document *d, struct report_digest *digest);     /* sets.c */
void report_add_findings(struct document *d, struct report_digest *digest); /* findings.c */
void report_add_hints(struct document *d, struct report_digest *digest);    /* hints.c: what the next run could have */
void report_add_windows(struct document *d, struct report_digest *digest);
void report_add_receipt(struct document *d, struct report_digest *digest);
void report_add_receipt_of(struct document *d, const struct report_receipt *receipt); /* NULL: nothing */

/* Of one with a profile. (rankings.c, conflicts.c, reuse.c) */
void report_add_cost(struct document *d, struct report_digest *digest);
void report_add_objects(struct document *d, struct report_digest *digest);
void report_add_functions(struct document *d, struct report_digest *digest);
void report_add_lines(struct document *d, struct report_digest *digest);
void report_add_reuse(struct document *d, struct report_digest *digest);
void report_add_line_use(struct document *d, struct report_digest *digest); /* line_use.c */
void report_add_loops(struct document *d, struct report_digest *digest);
void report_add_rcd(struct document *d, struct report_digest *digest); /* rcd.c */
void report_add_conflicts(struct document *d, struct report_digest *digest);
void report_add_dearest(struct document *d, struct report_digest *digest);
void report_add_framed(struct document *d, struct report_digest *digest);

/* All of a report of advice. (proposals.c) */
void report_add_proposals(struct document *d, struct report_digest *digest, const struct report_proposals *of);

/* The machine; pages by size and rule. (head.c) */
void report_add_machine(struct document *d, const struct report_run *run);
void report_add_pages(struct document *d, enum doc_in in, const struct report_run *run);
/* What was counted in one placement, in the JSON: pages, levels, TLBs, walks. (levels.c) */
void report_add_counted(struct document *d, const struct report_run *run);
/* "0x401234", in the JSON; what is known of a place; and the chain of calls that the compiler has inlined at an
 * instruction, where there is one. (names.c) */
void report_add_address(struct document *d, const char *key, uint64_t address);
void report_add_place(struct document *d, const struct loader_place *place);
/* Behind the first REPORT_LISTED of a list in the JSON: how many entries there are more. (names.c) */
#define REPORT_LISTED 50u
void report_add_rest(struct document *d, size_t count);
/* What a function, line or loop of that ranking is called: its names, place or loop. */
void report_add_ranked(struct document *d, const struct report_digest *digest, const struct report_ranking *ranking,
                       const struct report_ranked *of);
/* loop: NULL for what is in none; place: its own (report_loop_place), else not looked at. */
void report_add_loop_name(struct document *d, const struct loader_place *place, const struct analyses_loop *loop);
void report_add_inlined(struct document *d, const struct report_run *run, struct guest_va pc);

/* In the JSON: a cost, and those of its parts that the machine has. (rankings.c) */
void report_add_parts(struct document *d, const struct caches_machine *machine, const struct caches_cost *cost);
/* What all accesses have cost; and whether a cost is worth a line of its own in the text. (rankings.c) */
uint64_t report_whole_cost(const struct report_digest *digest);
bool report_noticeable(const struct report_digest *digest, uint64_t cost);
/* Whether a part of the text is worth its place: something that has cost that many per cent, misses of L1I, and
 * translations; everything is with --full. (cost.c) */
bool report_shows(const struct report_digest *digest, uint64_t cost, unsigned per_cent);
bool report_shows_code(const struct report_digest *digest);
bool report_shows_tlbs(const struct report_digest *digest);
bool report_tlbs_matter(const struct report_digest *digest); /* the same, but for --full and huge pages */
/* The cost, and its classes. (rankings.c) */
void report_note_cost(struct document *d, const struct report_digest *digest);

#endif
