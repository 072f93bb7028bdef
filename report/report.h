/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * report: writes what a run counted, for people (text) and for programs (JSON). Takes plain data; computes only
 * rates and shares. Nothing here depends on the host.
 */
#ifndef C2_REPORT_H
#define C2_REPORT_H

#include "analyses/analyses.h"
#include "analyses/digest.h"
#include "base/base.h"
#include "caches/caches.h"
#include "findings/findings.h"
#include "loader/loader.h"
#include "mmu/replica.h"
#include "sim/sim.h"

/* What a run depended on, to repeat it; hashes are SHA-256 in hexadecimal. */
struct report_input {
    const char *kind; /* "program", "library", "file" ... */
    const char *path; /* NULL: it has no name */
    int descriptor;   /* of a standard stream, else -1 */
    uint64_t offset;  /* where that stood at the start, if it is a file */
    uint64_t bytes;
    const char *sha256, *note; /* NULL: none */
};
struct report_variable {
    const char *name, *sha256; /* of the value */
};
struct report_described {
    const char *sha256;       /* of the machine's file with all keys */
    const char *const *lines; /* of that file, NULL-terminated */
};
#define REPORT_ENGINE "engine" /* the key of what has executed the guest: "unicorn 2.0.1", of the host's choice */
struct report_receipt {
    const char *version, *engine;            /* "0.1.0", "2.0.1" */
    const char *verb;                        /* NULL: none */
    const char *const *options;              /* "--seed=2" ..., NULL-terminated */
    const char *directory;                   /* absolute */
    const char *arguments;                   /* hash of all of the command's words, each with its NUL */
    const char *streams[3];                  /* what standard input, output and error were */
    const struct report_described *machines; /* each other one of those that were simulated */
    size_t machine_count;
    const struct report_variable *environment;
    size_t environment_count;
    const struct report_input *inputs;
    size_t input_count;
};
struct report_phase {
    enum stream_phase kind;
    uint64_t instructions;
    uint32_t region; /* 1 + its number in the regions; 0: outside */
};
/* A function whose calls were regions, or two places. */
struct report_region {
    const char *asked;               /* "--roi k*" */
    const char *name;                /* of the function; of places, what was asked for */
    uint64_t begun;                  /* how often */
    uint64_t instructions, measured; /* within; of those */
};
struct report_run {
    struct analyses_run sim;    /* the first member: a chapter that has this has the rest by report_of() */
    const char *const *command; /* NULL-terminated: program and its arguments */
    const char *trace;          /* "lackey": the command is a trace of that form, and no program; NULL: a program ran */
    uint32_t process, number;   /* of a run of several programs, and which of its process this is; else 0 */
    int exit_status;            /* what c2emu will exit with on behalf of the guest */
    const char *ending;         /* NULL: exited by itself; else "killed by SIGSEGV ..." */
    bool interrupted;           /* from outside, before the guest's own end */
    const char *folded_event;   /* of report_folded() */
    uint64_t seed;
    const char *clock;                 /* when the run began for the guest, as a date; NULL: when all do */
    uint64_t instructions;             /* of the whole run */
    const struct report_phase *phases; /* in order; NULL: there is one, of all of it */
    size_t phase_count;
    struct sim_samples samples; /* count 0: it is not known by samples */
    bool start;                 /* the first of them is the start of the run, which stands for itself alone */
    const double *weights; /* [sample], above 0: what each stands for of the run; they were chosen, not drawn. NULL:
                                 * all alike */
    double precision;      /* what a margin of the miss rates may be, in per cent of them; 0: anything */
    const struct report_region *regions; /* NULL: there are none, all of the run counts */
    size_t region_count;
    const struct sim_dumped *dumps; /* that the program has asked for */
    size_t dump_count;
    bool altered;   /* the machine is not as its file says: --set */
    bool simulated; /* false: --no-sim, then the pointers of `sim` are NULL but for placement */
    const struct mmu_counts *pages;
    uint64_t lost_pages;                        /* of mapped files: as in mmu.h */
    const struct mmu_rule_counts *rules;        /* of placement->rules, one each */
    const struct mmu_rule_counts *huge_regions; /* of placement->huge_regions */
    const struct findings *findings;            /* what is wrong; NULL: not looked for */
    const struct report_run
        *against;             /* the same run under another placement: counts, levels, tlb, walk_reads, pages and
                                         * placement of it; NULL: one placement */
    const char *against_text; /* its name on the command line */
    /* The same execution on several machines and placements, each as `against` is, with its name and its machine; the
     * first is this one. NULL: there is one. */
    const struct report_run *lanes;
    size_t lane_count;
    const char *lane_name; /* what it has that the others have not; NULL: it is the only one */
    /* What is varied ("machine", "L2.ways"), the same for all lanes, and the lane's value of each. */
    const char *const *varied, *const *values;
    size_t varied_count;
    const char *undebugged;               /* the program's name, where it has no debug information; else NULL */
    enum loader_threading threading;      /* of the program */
    bool has_threads;                     /* more than one has run */
    const struct report_receipt *receipt; /* NULL: none is wanted */
};

/* A report is built once, for the forms that it will be written in, and then needs nothing of what it is about. The
 * text of a run begins with the findings; JSON keys and their order are stable. A failed write is C2_ERR_IO. */
struct report;
enum { REPORT_TEXT = 1, REPORT_SLIM = 2, REPORT_JSON = 4 };
enum c2_status report_create(struct report **out, const struct report_run *run, unsigned forms, struct c2_error *err);
/* How the text is written from now on: width in columns, at least 80; coloured: with the escapes of a terminal. At
 * first it is REPORT_WIDTH wide and plain. */
enum { REPORT_WIDTH = 100 };
void report_set_page(struct report *report, unsigned width, bool coloured);
enum c2_status report_text(FILE *to, const struct report *report, struct c2_error *err);
enum c2_status report_json(FILE *to, const struct report *report, struct c2_error *err);
/* The same with `"slim": true` and the first rows of each ranking alone, behind which the rest is added up. */
enum c2_status report_json_slim(FILE *to, const struct report *report, struct c2_error *err);
void report_destroy(struct report *report);
/* --vary-csv: a row a lane, or of the one machine; columns are what is varied, then counts (varied.c). */
enum c2_status report_varied(FILE *to, const struct report_run *run, struct c2_error *err);

/* Of a run of several programs, the list of them. */
/* A finding of one of them, in words; the first ones of each are kept. */
#define REPORT_FOUND 2u
struct report_found {
    uint64_t cost, gain; /* cycles, as in findings.h */
    uint32_t pattern;    /* those with these three in other processes of the program are listed as one: */
    struct guest_va pc;
    uint32_t nth;     /* of its process's with this pattern and pc, from 0 */
    const char *text; /* "": another one has it, or it is not listed */
};
bool report_is_same_finding(const struct report_found *one, const char *program, const struct report_found *other,
                            const char *other_program);
/* Whether the list has findings that cost so much together, where the programs cost `whole`: no longer when that grows.
 */
bool report_is_listed(uint64_t cost, uint64_t whole);
/* The finding of this number, with its place and remedy, in one sentence. Returns buffer. */
char *report_finding_text(char *buffer, size_t bytes, const struct report_run *run, uint32_t number);

struct report_program {
    uint32_t pid, parent;
    uint32_t number; /* of those that the process was, from 1 */
    const char *name, *ending;
    const char *report; /* the name of its report.json; NULL: it has none */
    uint64_t instructions;
    bool followed;                      /* else there are no counts: */
    uint64_t first_misses, last_misses; /* of L1D, and of the last level */
    uint64_t cost;                      /* of its misses, in cycles */
    struct report_found found[REPORT_FOUND];
    uint32_t found_count;
};
struct report_programs {
    const struct report_program *list;
    size_t count;
    bool full;                            /* the text has all of them */
    const char *const *command;           /* of the first */
    const struct report_receipt *receipt; /* of all; NULL: there is none */
};
enum c2_status report_create_programs(struct report **out, const struct report_programs *programs, unsigned forms,
                                      struct c2_error *err);
/* What the accesses of a simulated run cost, start-up with them, in cycles. */
uint64_t report_cost(const struct report_run *run);
/* Says a line for each miss rate that is less sure than the precision asked for; of several machines, of each. */
void report_warn_of_precision(FILE *to, const struct report_run *run);

/* Profiles for other tools, of a run with a profile (the first: with calls, too). Callgrind's format, version 1: costs
 * by instruction and line, and calls; the same with conflict misses for costs, where a call is an eviction and goes
 * from the instruction that misses to the one that took its line away; Cachegrind's format: costs by line. */
enum c2_status report_callgrind(FILE *to, const struct report_run *run, struct c2_error *err);
/* The same of one thread, where threads are told apart; and the one whose number follows: 0: none does. */
enum c2_status report_callgrind_of(FILE *to, const struct report_run *run, uint32_t thread, struct c2_error *err);
uint32_t report_callgrind_thread_after(const struct report_run *run, uint32_t thread);
enum c2_status report_evictors(FILE *to, const struct report_run *run, struct c2_error *err);
enum c2_status report_cachegrind(FILE *to, const struct report_run *run, struct c2_error *err);
/* What each stack of calls has cost, of a run where stacks were wanted: of one event (run->folded_event), a line each
 * that has cost anything, "main;work;copy 17"; and of all events as pprof reads it. */
enum c2_status report_folded(FILE *to, const struct report_run *run, struct c2_error *err);
enum c2_status report_pprof(FILE *to, const struct report_run *run, struct c2_error *err);
/* Whether the machine has an event of this name, for the former; NULL: the usual one, which each has. */
enum c2_status report_folded_check(const struct caches_machine *machine, const char *event, struct c2_error *err);

/* ------------------------------------------------------------------ two reports compared
 * Writes what differs between two files of report_json(). conditions: such as "L1D.conflict>+0" (condition.c has the
 * form); *failed: whether one of them holds. all: every function and object that differs, not just the first ten. A
 * condition that is not understood is C2_ERR_INVALID or C2_ERR_NOT_FOUND, and nothing is written. width: in columns; 0:
 * REPORT_WIDTH. */
enum c2_status report_diff(bool *failed, FILE *to, unsigned width, const char *a, const char *b, bool all,
                           const char *const *conditions, size_t condition_count, struct c2_error *err);

/* The counters that differ, as JSON: an object whose member `changes` lists them in the order of the text: `subject`
 * (level, function, object, loop), `name` (left out for levels), `level`, `counter`, and the values `a` and `b`, each
 * left out where the report does not have it. `unlisted`, if there are any: how many names one report lists that the
 * other may have and does not list. */
enum c2_status report_changes(FILE *to, const char *a, const char *b, struct c2_error *err);

/* ------------------------------------------------------------------ a report that is to be made again (saved.c)
 * A file of report_json() with a receipt, whose parts are all there and of the right kind; else C2_ERR_FORMAT names the
 * one that is not. Texts are lent until close. */
struct report_saved;
enum c2_status report_saved_open(struct report_saved **out, const char *path, struct c2_error *err);
/* name: for messages. */
enum c2_status report_saved_parse(struct report_saved **out, const char *text, size_t bytes, const char *name,
                                  struct c2_error *err);
void report_saved_close(struct report_saved *saved); /* takes NULL */
const struct report_receipt *report_saved_receipt(const struct report_saved *saved);
const char *const *report_saved_command(const struct report_saved *saved); /* at least the program; NULL-terminated */
uint64_t report_saved_instructions(const struct report_saved *saved);      /* of the whole run; 0: not known */
bool report_saved_slim(const struct report_saved *saved);                  /* by report_json_slim() */
/* Of a list of programs, the names of their reports, NULL behind the last; of a report NULL. */
const char *const *report_saved_reports(const struct report_saved *saved);
/* A report of which only the values matter: with or without a receipt. */
enum c2_status report_saved_open_values(struct report_saved **out, const char *path, struct c2_error *err);
const char *report_saved_interruption(const struct report_saved *saved); /* NULL, or by what the run was ended */
/* How many misses a level had; false: the report has no such level. */
bool report_saved_misses(const struct report_saved *saved, const char *level, uint64_t *out);
/* Writes the first values that differ, receipts left out, a line each in the order of a. */
struct report_difference {
    uint64_t values, differ;
};
struct report_difference report_saved_compare(FILE *to, const struct report_saved *a, const struct report_saved *b);

/* ------------------------------------------------------------------ a callgrind file beside the source
 * Writes the program's source with the counts of the events at each line, or its instructions. */
struct report_annotation {
    const char *path;
    const char *const *events;      /* names in the file; dots do not count */
    size_t event_count;             /* 0: the one that costs most by the file's formula, else its first */
    const char *const *directories; /* where sources (and, for code, files) are looked for besides their own path */
    size_t directory_count;
    bool code;      /* instructions instead of source */
    unsigned width; /* lines are cut at so many columns; 0: they are not */
};
enum c2_status report_annotate(FILE *to, const struct report_annotation *request, struct c2_error *err);
/* Opens a source file: path, or path or its last part in one of the directories; found: where it was, in `bytes`. NULL:
 * nowhere. */
FILE *report_open_source(const char *path, const char *const *directories, size_t count, char *found, size_t bytes);

/* ------------------------------------------------------------------ c2emu advise */
struct report_proposals {
    const struct report_run *run;              /* with a profile */
    const struct analyses_proposal *proposals; /* count of them */
    const struct analyses_outcome *outcomes;   /* of the proposals */
    uint32_t count;
    const struct analyses_outcome *before; /* the run as it was, played back */
};
enum c2_status report_create_advice(struct report **out, const struct report_proposals *of, unsigned forms,
                                    struct c2_error *err);

/* The miss that was explained, which run->found has, with the accesses behind it; and of these one alone, the miss
 * being number 0, as text. */
enum c2_status report_create_story(struct report **out, const struct report_run *run, unsigned forms,
                                   struct c2_error *err);
/* "23 (864), 34 (288)": the lines of the file that missed most in a level, by its number; "": none did. Returns
 * buffer. */
char *report_missing_lines(char *buffer, size_t bytes, const struct report_run *run, const char *file, uint32_t level);
enum c2_status report_create_step(struct report **out, const struct report_run *run, uint32_t number,
                                  struct c2_error *err);

#endif
