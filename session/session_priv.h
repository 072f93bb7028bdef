/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * session_priv: the parts of a run, a file each - its plan, simulation, phases and places, reports on disk, the words
 * about the end, progress.
 */
#ifndef C2_SESSION_PRIV_H
#define C2_SESSION_PRIV_H

#include "analyses/analyses.h"
#include "emu/emu.h"
#include "lanes/lanes.h"
#include "loader/loader.h"
#include "report/report.h"
#include "session/receipt.h"
#include "session/session.h"
#include "session/words.h"
#include "sim/sim.h"
#include "teach/teach.h"

/* The guest's environment: a fixed small set or (--inherit-env) host_env, then --env on top. NULL-terminated; to be
 * released with session_environment_release. */
enum c2_status session_environment(char ***out, const struct session_options *options, char *const *host_env,
                                   struct c2_error *err);
/* Adds what this program needs to run under c2emu: a leak sanitizer's option. *added: it has. */
enum c2_status session_environment_suit(bool *added, char ***environment, const char *program, struct c2_error *err);
void session_environment_release(char **environment);

/* ------------------------------------------------------------------ confine.c: --sandbox, by the host's kernel
 * For the rest of the process, as far as the kernel can. writable: NULL-terminated; NULL: none. To be called when all
 * files that are to be written are open, on the thread that runs the guest. */
enum c2_status session_confine(const char *const *writable, struct c2_error *err);

/* ------------------------------------------------------------------ vary.c: the machines of one execution
 * What -m and --vary make; the placement's words are those of --pages and --huge. */
struct session_variant {
    const char *name;    /* what it has that the others have not; NULL: it is the only one */
    const char **values; /* of the keys below, as on the command line */
    const char *machine;
    const char **overrides; /* of its keys: those of --set, then what is varied */
    size_t override_count;
    const char *pages;
    enum mmu_huge huge;
};
struct session_variants {
    struct session_variant *list;
    unsigned count;    /* at least 1 */
    const char **keys; /* what is varied: "machine", then those of --vary, in their order */
    size_t key_count;
    struct c2_pool pool; /* everything is in it, or the options' */
};
/* On failure *out is empty. So many as the host has memory for: else C2_ERR_NO_MEMORY. */
enum c2_status session_variants_make(struct session_variants *out, const struct session_options *options,
                                     struct c2_error *err);
void session_variants_release(struct session_variants *variants);

/* --pages: mmu's policies, and for same-color and colored the key `level` (the level whose sets are the colours, L2
 * unless said otherwise), and for all `seed`, which stands for the seed given here. Fills all of *out. */
enum c2_status session_placement(struct mmu_config *out, const char *text, const struct caches_machine *machine,
                                 uint64_t seed, struct c2_error *err);

/* --against: the placement of the run but for what the text says - "huge" (all anonymous memory in huge pages) or
 * "huge=WORD" (as --huge WORD, no regions), else a policy as for --pages (no rules). */
enum c2_status session_against(struct mmu_config *out, const struct mmu_config *placement, const char *text,
                               const struct caches_machine *machine, struct c2_error *err);

/* The same for the policy of another option, which messages call `option`. */
enum c2_status session_policy(struct mmu_config *out, const char *option, const char *text,
                              const struct caches_machine *machine, uint64_t seed, struct c2_error *err);

/* --place and --huge REGION, as mmu takes them. */
struct session_rules {
    struct mmu_rule *rules;
    size_t rule_count;
    struct mmu_region *huge;
    size_t huge_count;
    char **texts; /* which the names lie in */
    size_t text_count;
};
struct loader_request;
/* Symbols are those of the program of the request. On failure *out is empty; C2_ERR_INVALID is about the options, other
 * statuses are of loader_load. Lends the options' strings. */
enum c2_status session_rules_read(struct session_rules *out, const struct session_options *options,
                                  const struct caches_machine *machine, const struct loader_request *program,
                                  struct c2_error *err);
void session_rules_release(struct session_rules *rules);

/* ------------------------------------------------------------------ outputs.c: the files asked for
 * Opened before the run, so that what cannot be written is said while nothing is lost; they appear at commit. */
struct session_outputs {
    struct c2_outfile *report_text, *report_json;         /* --output */
    struct c2_outfile *json, *json_full, *html;           /* --json, --json-full, --html */
    struct c2_outfile *callgrind, *evictors, *cachegrind; /* likewise */
    struct c2_outfile *folded, *pprof;                    /* likewise */
    struct c2_outfile *pagemap;                           /* --dump-pagemap */
    struct c2_outfile *recording;                         /* --record, which the run writes itself */
    struct c2_outfile *varied;                            /* --vary-csv */
    const char *of_threads; /* --callgrind's name, where each thread has a file of its own; NULL: it is one */
};
enum c2_status session_outputs_open(struct session_outputs *out, const struct session_options *options,
                                    struct c2_error *err);
bool session_outputs_report(const struct session_outputs *outputs); /* a report goes to a file */
/* Writes and commits all, those of the analyses first; goes on after a failure, whose first reason is *err. analyses:
 * of the first view, NULL with --no-sim. shown: the text goes to standard error, too. */
enum c2_status session_outputs_commit(struct session_outputs *outputs, const struct session_options *options,
                                      struct analyses *analyses, const struct report_run *run, bool shown,
                                      struct c2_error *err);
/* --dump-pagemap's, whose path ending in .textproto names the form. */
enum c2_status session_outputs_commit_pagemap(struct session_outputs *outputs, const struct mmu_replica *memory,
                                              const char *path, struct c2_error *err);
/* One more file, in a directory that is made if need be; NULL: here. */
enum c2_status session_outputs_open_in(struct c2_outfile **out, const char *directory, const char *name,
                                       struct c2_error *err);
/* --record's, when all is in it. */
enum c2_status session_outputs_commit_recording(struct session_outputs *outputs, struct c2_error *err);
void session_outputs_abandon(struct session_outputs *outputs); /* what was not committed */

/* ------------------------------------------------------------------ page.c: how wide, and in which colours
 * The text to standard error; and what it is to be in a file. */
void session_show_report(struct report *report, const struct session_options *options);
void session_page_of_file(struct report *report, const struct session_options *options);

/* ------------------------------------------------------------------ contexts.c: what functions are told apart by */
struct session_contexts {
    struct analyses_separation separation;
    struct analyses_parameter *parameters; /* of it */
    struct watch_place *functions;         /* whose arguments are to be marked, by their numbers in the marks */
    uint32_t function_count;
    struct c2_pool texts;
};
/* Zeroed before; to be released in any case. Nothing is in it where nothing was asked for. */
enum c2_status session_contexts_read(struct session_contexts *out, const struct session_separate *asked,
                                     struct c2_error *err);
void session_contexts_release(struct session_contexts *contexts);

/* ------------------------------------------------------------------ plan.c: what is to be simulated */
struct session_plan_lane {
    const char *name; /* what it has that the others have not: "L2.ways=4 pages.seed=3"; NULL: it is the only one */
    struct caches_machine machine;
    struct mmu_config placement;
    struct session_rules rules; /* of placement */
};
struct session_plan {
    struct session_plan_lane *lanes;
    unsigned count;
    struct session_variants variants; /* of the lanes, one each */
    struct mmu_config against;        /* with --against only */
    uint64_t physical_bytes;          /* that the program sees: the most that a machine has; */
    uint32_t processors;              /* so of cores */
    struct session_contexts contexts;
    struct session_restored *from; /* the checkpoint that the run goes on from; NULL: it has its own start */
};
/* The machines, and the placements but for their regions. *plan is zeroed, and to be released in any case. */
enum c2_status session_plan_read(struct session_plan *plan, const struct session_options *options,
                                 struct c2_error *err);
/* The regions, and --against. On failure as session_rules_read. */
enum c2_status session_plan_place(struct session_plan *plan, const struct session_options *options,
                                  const struct loader_request *program, struct c2_error *err);
void session_plan_release(struct session_plan *plan);

/* The caches of the first machine, as the guest finds them in /sys: how many they are. */
uint32_t session_plan_caches(struct syscalls_cache out[SYSCALLS_CACHES], const struct session_plan *plan);

/* What of the machine the guest can see, so that all placements of the plan can be. */
struct mmu_guest_config session_plan_guest(const struct session_plan *plan, const struct session_options *options);

/* ------------------------------------------------------------------ facts.c: what a recording says of its run */
struct session_facts {
    struct stream_fact *list;
    uint32_t count, room;
    bool lost; /* the host has no memory for one */
    struct c2_pool texts;
};
/* Zeroed before. program: the path of its file. */
enum c2_status session_facts_start(struct session_facts *facts, const struct session_options *options,
                                   const char *program, const struct mmu_guest_config *guest,
                                   const struct session_plan *plan, struct c2_error *err);
/* In place of those: how the run ended. areas: the guest's. */
enum c2_status session_facts_end(struct session_facts *facts, const struct report_run *run,
                                 const struct mmu_areas *areas, struct c2_error *err);
void session_facts_release(struct session_facts *facts);
bool session_facts_hash(char out[C2_SHA256_TEXT], const char *path); /* false, and errno: it cannot be read */

struct session_told { /* texts are lent by the recording */
    const char *program, **command, *clock;
    uint64_t seed, measure; /* measure: a sample's instructions, as options have it */
    uint64_t quantum;       /* likewise; 0: it does not say */
    struct mmu_guest_config guest;
    /* once it was played: */
    uint64_t exit_status, instructions, lost_pages;
    const char *ending;
    struct report_phase *phases;
    size_t phase_count;
    bool start;      /* the first of those that were measured is the start */
    double *weights; /* of the phases that were measured; NULL: they have none */
    struct report_region *regions;
    size_t region_count;
};
/* Zeroed before; to be released in any case. */
enum c2_status session_told_start(struct session_told *told, struct stream_recording *recording, struct c2_error *err);
enum c2_status session_told_end(struct session_told *told, struct stream_recording *recording, struct c2_error *err);
/* Fails for a file with code that is another one now; says on `to` which are gone. */
enum c2_status session_told_check_files(struct stream_recording *recording, FILE *to, struct c2_error *err);
void session_told_release(struct session_told *told);
/* The functions get the numbers that they have in the recording; fails for one whose arguments are not in it. name: of
 * the recording, for messages. */
enum c2_status session_told_contexts(struct session_contexts *contexts, struct stream_recording *recording,
                                     const char *name, struct c2_error *err);

/* ------------------------------------------------------------------ simulate.c: what a run simulates */
struct session_simulation {
    struct mmu *mmu; /* the guest's memory; NULL when nothing runs */
    struct stream_blocks *blocks;
    struct lanes *lanes;                /* NULL: nothing listens; the same below */
    const struct session_plan *plan;    /* of the lanes */
    const char *beside[ANALYSES_KINDS]; /* analyses of the lanes behind the first */
    struct stream_ring *ring;
    unsigned threads;                /* for the lanes */
    struct session_sharing *sharing; /* between lanes, while it lasts; NULL: none */
    struct stream_writer *writer;
    struct teach_csim *csim;            /* of `c2emu csim`, lent; else NULL */
    struct session_saver *saver;        /* --checkpoint; else NULL */
    struct stream_recorder *recorder;   /* NULL: the stream is not kept; the same below */
    FILE *temporary;                    /* where `advise` keeps it */
    struct stream_recording *recording; /* once settled, of `advise`; of what is played */
    bool ended;                         /* session_simulation_end_early */
    bool leaves_symbols;                /* those of the first lane are not freed */
    struct loader_symbols **retired;    /* for the first lane, of the program before (loader_symbols_take); lent */
};
/* Instructions of a thread's turn, where the guest finds so many processors; 0: not known. */
uint64_t session_turn(const struct session_options *options, uint32_t processors);
bool session_turn_of_blocks(const struct session_options *options, uint32_t processors); /* as in struct emu_config */
/* The guest's memory, before anything is in it, and what is to be told of it, as the plan and the options say. For
 * `advise` the stream is kept, to be played back when it is settled; with --record in `to`, behind the facts. The plan,
 * and `to`, are lent until release. */
enum c2_status session_simulation_start(struct session_simulation *s, const struct session_plan *plan,
                                        const struct session_options *options, FILE *to,
                                        const struct session_facts *facts, struct c2_error *err);
/* --record: settled, and this is what is to be said at the end. */
enum c2_status session_simulation_recorded(struct session_simulation *s, const struct session_facts *facts,
                                           struct c2_error *err);
/* In place of start, loaded and settle: all that `play` gives, whose blocks are in `blocks`, has been simulated.
 * `play` is called on this thread, once. */
struct session_source {
    void *self;
    const struct stream_blocks *blocks;
    enum c2_status (*play)(void *self, struct stream_sink to, struct c2_error *err);
};
enum c2_status session_simulation_play(struct session_simulation *s, const struct session_plan *plan,
                                       const struct session_options *options, const struct session_source *source,
                                       struct c2_error *err);
/* The ring that feeds the lanes' groups; there is none so far. */
enum c2_status session_simulation_feed(struct session_simulation *s, struct c2_error *err);
/* To them, and all is eaten when this returns. */
enum c2_status session_simulation_play_all(struct session_simulation *s, const struct session_source *source,
                                           struct c2_error *err);
/* Lanes that have departed get all of the stream once more. All are finished. */
enum c2_status session_simulation_again(struct session_simulation *s, const struct session_source *source,
                                        struct c2_error *err);
void session_simulation_tell_shared(const struct session_simulation *s, unsigned followers, unsigned again);
/* The program is in memory, and has not run. */
enum c2_status session_simulation_loaded(struct session_simulation *s, const struct loader_image *image,
                                         struct c2_error *err);
/* What is in the stream has been taken by all. */
enum c2_status session_simulation_catch_up(struct session_simulation *s, struct c2_error *err);
/* No listeners from now on, and no counts at the end: for a process that is not followed as its parent was. */
void session_simulation_end_early(struct session_simulation *s);
/* Everything recorded is in the counts when this returns. */
enum c2_status session_simulation_settle(struct session_simulation *s, struct c2_error *err);
void session_simulation_release(struct session_simulation *s); /* the last user of the memory is gone */

/* ------------------------------------------------------------------ sharing.c: machines that share, in a run */
#define SESSION_FOLLOWERS 2u /* as many are worth what it takes to keep the stream */
/* NULL: what is planned cannot share, or there is no place for the stream. */
struct session_sharing *session_sharing_create(const struct session_plan *plan, const struct session_options *options);
enum c2_status session_sharing_begin(struct session_sharing *sharing, const struct stream_blocks *blocks,
                                     struct c2_error *err);
void session_sharing_destroy(struct session_sharing *sharing); /* takes NULL */
/* Before lanes get a batch; behind that, and when all is eaten: what was said then is `status`. */
enum c2_status session_sharing_keep(struct session_sharing *sharing, const struct stream_batch *batch,
                                    struct c2_error *err);
enum c2_status session_sharing_taken(struct session_simulation *s, enum c2_status status, struct c2_error *err);
enum c2_status session_sharing_drained(struct session_simulation *s, enum c2_status status, struct c2_error *err);
/* From now on nothing is shared; nothing was, that is no failure. */
enum c2_status session_sharing_end(struct session_simulation *s, struct c2_error *err);
/* The lanes are finished. */
enum c2_status session_sharing_finish(struct session_simulation *s, struct c2_error *err);

/* ------------------------------------------------------------------ describe.c: from lanes to reports
 * report has what its caller knows of the run (command, end, clock, instructions, phases, lost pages, placement); the
 * rest is filled in. *against is what it points to with --against, and lives as long. lanes: NULL without any. */
void session_describe(struct report_run *report, struct report_run *against, const struct session_options *options,
                      const struct lanes *lanes);
/* What is wrong with it, where its misses were attributed; to be destroyed, and lent to the report until then. */
enum c2_status session_find(struct findings **out, struct report_run *report, struct c2_error *err);
/* What the report says of the program itself; program: the path of its ELF file, which the report lends. */
enum c2_status session_describe_program(struct report_run *report, const char *program, struct c2_error *err);
/* Everything that the options want written. shown: the text on standard error with it, but for --quiet. */
enum c2_status session_write_reports(struct session_outputs *outputs, const struct session_options *options,
                                     const struct session_simulation *simulation, const struct report_run *report,
                                     bool shown, struct c2_error *err);

/* ------------------------------------------------------------------ advise.c: `c2emu advise`
 * After settling; tries out the findings' remedies, which changes them, and writes the report. file: --json's, which is
 * finished or given up; may be NULL. */
enum c2_status session_advise(const struct session_options *options, const struct session_simulation *simulation,
                              const struct report_run *run, struct findings *findings, struct c2_outfile *file,
                              struct c2_error *err);

/* ------------------------------------------------------------------ explained.c, step.c: `c2emu explain` */
/* C2_ERR_NOT_FOUND: the run has no such miss; C2_ERR_INVALID: it is another run than that of the report. */
enum c2_status session_explain_check(const struct session_options *options, const struct report_run *run,
                                     struct c2_error *err);
/* The program is one of several that none was chosen of; nothing is told. */
void session_explain_leave_out(const struct report_run *run);
/* The steps of the miss: by keys where standard input and standard error are terminals, else all as text. */
enum c2_status session_step(const struct session_options *options, const struct report_run *run, struct c2_error *err);

/* ------------------------------------------------------------------ regions.c: what of the program is measured */
struct session_places {
    struct watch_regions regions; /* for emu_config */
    struct watch_place *functions, from, to;
    char **texts; /* which the places' names lie in */
    size_t text_count;
};
/* *out is to be released in any case. */
enum c2_status session_places_read(struct session_places *out, const struct session_regions *asked,
                                   struct c2_error *err);
void session_places_release(struct session_places *places);
/* A place of its own. *out is to be released in any case. */
struct session_one_place {
    struct watch_place place;
    uint64_t arrival; /* 0: none was given */
    char *name, *asked;
};
enum c2_status session_place_read(struct session_one_place *out, const char *option, const char *text,
                                  struct c2_error *err);
void session_place_release(struct session_one_place *place);

/* ------------------------------------------------------------------ names.c: names that can be looked up before */
struct session_named {
    const char *program;                          /* the ELF file, a path of the host's */
    const char *const *envp;                      /* the guest's */
    const struct watch_regions *regions;          /* --roi, --from, --to; NULL: none */
    const struct watch_place *checkpoint_trigger; /* --checkpoint-at; NULL: no place */
    const struct watch_place *argued;             /* --separate-par */
    uint32_t argued_count;
};
/* Fails with C2_ERR_NOT_FOUND for a name, of these or of other options, that can be nowhere in the run. */
enum c2_status session_names_check(const struct session_options *options, const struct session_named *named,
                                   struct c2_error *err);

/* ------------------------------------------------------------------ phases.c: what is skipped, and what is measured */
struct session_progress;
struct session_chosen;
struct session_phases;
struct session_phases_config {
    const struct session_sampling *sampling;
    const struct session_chosen *chosen; /* NULL: samples are as the sampling says */
    enum session_warm warm;
    const struct watch_regions *regions; /* NULL: all of the run is one */
    struct loader_symbols *symbols;      /* for the names of regions */
    uint64_t seed;
    struct session_progress *progress; /* told which phase it is in */
};
/* What the config names outlives the phases. */
enum c2_status session_phases_create(struct session_phases **out, const struct session_phases_config *config,
                                     struct c2_error *err);
void session_phases_destroy(struct session_phases *phases); /* takes NULL */
/* For emu_config.phase. */
struct emu_phase session_phases_next(void *phases, uint64_t instructions, const struct watch_part *part);
struct session_division { /* as struct report_run has it */
    const struct report_phase *phases;
    size_t phase_count;
    bool start;
    const struct report_region *regions;
    size_t region_count;
};
/* The run is over after so many instructions: all its phases and regions, lent until destroy. */
enum c2_status session_phases_end(struct session_phases *phases, uint64_t instructions, struct session_division *out,
                                  struct c2_error *err);
/* After that: whether the run was shorter than what was asked for; then which option, and the numbers, in buffer. */
bool session_phases_short(char *buffer, size_t bytes, const struct session_phases *phases);

/* ------------------------------------------------------------------ chosen.c: the samples of --points */
struct session_chosen;
char *session_chosen_beside(const char *points); /* where those of a file are, unless said; the caller frees it */
enum c2_status session_chosen_create(struct session_chosen **out, const struct session_options *options,
                                     struct c2_error *err);
void session_chosen_destroy(struct session_chosen *chosen); /* takes NULL */
uint64_t session_chosen_count(const struct session_chosen *chosen);
const double *session_chosen_weights(const struct session_chosen *chosen); /* [sample], lent until destroy */
uint64_t session_chosen_length(const struct session_chosen *chosen); /* of each, instructions; they do not overlap */
uint64_t session_chosen_start(const struct session_chosen *chosen, uint64_t sample); /* in order */
/* Whether a run of so many instructions had them all. */
enum c2_status session_chosen_check(const struct session_chosen *chosen, uint64_t instructions, struct c2_error *err);

/* ------------------------------------------------------------------ points.c: `c2emu points`
 * The run is counted interval by interval; at its end the points are chosen, and their files appear. */
struct session_points;
/* Opens the files. progress: told of each interval, if not NULL; outlives the points. */
enum c2_status session_points_create(struct session_points **out, const struct session_options *options,
                                     struct session_progress *progress, struct c2_error *err);
void session_points_destroy(struct session_points *points);                /* takes NULL */
void session_points_count(struct session_points *points, struct emu *emu); /* with count_blocks; outlives the points */
struct emu_phase session_points_next(void *points, uint64_t instructions,
                                     const struct watch_part *part); /* for emu_config.phase */
/* The run is over. */
enum c2_status session_points_finish(struct session_points *points, struct c2_error *err);
/* The same without a run: --from-bbv. Returns the exit status. */
int session_points_from_file(const struct session_options *options);

/* ------------------------------------------------------------------ receipt.c: what a run depends on
 * Made where a report.json is wanted, before the guest runs. On failure it is to be destroyed, too. Texts of the
 * options are lent. */
enum c2_status session_receipt_create(struct session_receipt **out, const struct session_options *options,
                                      char *const *environment, const struct session_plan *plan, struct c2_error *err);
/* The program is in memory, and has not run: its file, and its interpreter's. */
void session_receipt_loaded(struct syscalls *kernel, const struct mmu_areas *areas, const char *program);
/* The guest has ended; lent until the receipt or the kernel is destroyed. */
enum c2_status session_receipt_finish(const struct report_receipt **out, struct session_receipt *receipt,
                                      struct syscalls *kernel, struct c2_error *err);
/* How many instructions the run had when it was made before, by the report that it is to replace; 0: there is none of
 * the same run. */
uint64_t session_receipt_expects(const struct session_receipt *receipt, const struct session_options *options);

/* ------------------------------------------------------------------ processes.c: programs beside the first one */
#define SESSION_FIRST_PID 1000u
#define SESSION_MARK_BYTES 32 /* ".1000-2": between a file's name and its ending */
struct session_process {
    const struct session_options *options; /* of the command line; lent */
    struct syscalls *kernel;               /* which outlives the programs; NULL: none has begun */
    struct session_progress *progress;     /* of the program that runs; NULL: none does */
    uint32_t pid, parent;
    unsigned programs; /* that it has been, with the one that runs */
    struct c2_pool texts;
    struct session_run_list *run_list; /* of all programs */
    struct engine *engine;             /* of the program before the one that runs; NULL: there is none */
    /* Likewise; what the first of its lanes has read of files stands by itself, as a lane may run on another thread. */
    struct loader_symbols *symbols, *lane_symbols;
    struct session_receipt *receipt; /* of the run, when its first program has ended; NULL: there is none */
    struct emu_turns *turns;
    bool forked;           /* it is not the first one */
    bool ran;              /* a program of it; else what is there is of a run that could not begin, and has no end */
    bool failed;           /* c2emu could not carry it to its end */
    int interrupted_by;    /* a signal from outside ended it; 0: none did */
    int ending;            /* as wait4 tells it */
    uint64_t instructions; /* of its last program */
};
enum c2_status session_process_create(struct session_process *process, struct c2_error *err);
void session_process_release(struct session_process *process);
/* Its program has ended so, after so many instructions. */
void session_process_ended(struct session_process *process, const struct emu_end *end, int interrupting_signal,
                           uint64_t instructions);
/* It has ended, with this exit status of c2emu's: others get its turn. Returns when all of its children have ended,
 * with its exit status. */
int session_process_end(struct session_process *process, int status);
bool session_process_has_relatives(const struct session_process *process); /* there are, or were, other processes */
/* A child of a process that is followed: whether it is, with the options of its program. */
bool session_process_follows_child(const struct session_process *process, const struct session_options *options);
/* A child that was not followed has ended without becoming another program: says so once in a run. */
void session_process_not_followed(const struct session_process *process, const struct session_options *options);
/* The process is the child of what it was: its files have names of its own. */
enum c2_status session_process_become(struct session_process *process, uint32_t pid, bool followed,
                                      struct c2_error *err);
/* The list of them, in memory that all processes of the run share. */
enum c2_status session_run_list_create(struct session_run_list **out, struct c2_error *err);
void session_run_list_destroy(struct session_run_list *run_list); /* takes NULL */
/* The program of this report has ended. simulated: its counts are known. */
/* reported: it has a report.json in the directory for outputs. */
void session_run_list_add(const struct session_process *process, const struct report_run *run, bool reported);
/* When all have: a table on standard error, and programs.json in the output directory; of one there is nothing to
 * say. */
enum c2_status session_run_list_write(const struct session_process *process, struct c2_error *err);
/* Whether the program, by the name that it is called by, is simulated and reported. */
bool session_follows(const struct session_process *process, const char *name);
/* Whether the text of its report is shown. Of a run of several processes the list of them is shown instead, but for
 * --full and programs that --follow names; of a process that was several programs only the last one. becomes: it is
 * not the last one. */
bool session_shows_program(const struct session_process *process, const struct session_options *options, bool becomes);
void session_process_followed(const struct session_process *process); /* one is */
/* Those of the process's newest program; NULL: that of the command line. Lends both. */
enum c2_status session_program_options(struct session_options *out, struct session_process *process,
                                       const struct syscalls_program *program, struct c2_error *err);

/* ------------------------------------------------------------------ ending.c: how the guest ended, in words */
int session_exit_status(const struct emu_end *end, int interrupting_signal);
/* The rest of it cannot be run; what was run is reported. */
bool session_is_cut(const struct emu_end *end);
/* The status for a program that could not be loaded. */
int session_load_status(enum c2_status status);
/* "killed by SIGSEGV at address 0x0: mov (%rax),%eax at 0x401136 in main (crash.c:5)", "interrupted by SIGINT", or NULL
 * for a guest that exited. next: the program that it became, where it did. Writes into buffer. */
const char *session_ending_text(char *buffer, size_t bytes, const struct emu_end *end, int interrupting_signal,
                                struct loader_symbols *symbols, const struct syscalls_program *next);

/* ------------------------------------------------------------------ progress.c: a line on a terminal, --stats */
struct session_progress {
    bool shown;    /* a line is on the terminal */
    bool terminal; /* rewrite the line; else one line each time */
    const char *phase;
    uint64_t start_ns, last_ns;
    uint64_t whole; /* instructions of the run, as far as that is known; 0: it is not */
    uint64_t base;  /* of them, those that were executed before the start */
    double share;   /* else: of all that is to be done, what is; 0: not known */
};
void session_progress_start(struct session_progress *progress, const char *phase);
void session_progress_tick(void *self, uint64_t instructions); /* for emu_config.progress */
/* The same of what is read from a file, whose share is that of its bytes; what has no end has none. */
void session_progress_tick_file(struct session_progress *progress, uint64_t instructions, FILE *file);
void session_progress_clear(void *self); /* the line is gone, until the next tick */
bool session_progress_wanted(const struct session_options *options);
void session_stats(const struct session_progress *progress, uint64_t instructions);

/* ------------------------------------------------------------------ processor.c */
const char *session_engine(
    const struct session_options *options); /* the name of what executes the guest on this host */
#define SESSION_CPU "auto"
/* Where --cpu names no processor: takes the one that the program needs, if it can be had here; else says so. */
void session_processor_choose(struct session_options *options);
/* What --cpu names; lent for ever. C2_ERR_INVALID, or C2_ERR_UNSUPPORTED by the engine or by the host. */
enum c2_status session_processor(const struct cpu_model **out, const struct session_options *options,
                                 struct c2_error *err);

#endif
