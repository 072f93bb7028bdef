/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * cli_priv: the parts of a run that have files of their own - reports on disk, the words about the end, progress.
 */
#ifndef C2_CLI_PRIV_H
#define C2_CLI_PRIV_H

#include "analyses/analyses.h"
#include "cli/cli.h"
#include "emu/emu.h"
#include "lanes/lanes.h"
#include "loader/loader.h"
#include "report/report.h"
#include "sim/sim.h"
#include "teach/teach.h"

/* ------------------------------------------------------------------ outputs.c: the files asked for
 * Opened before the run, so that what cannot be written is said while nothing is lost; they appear at commit. */
struct cli_outputs {
    struct c2_outfile *report_text, *report_json;         /* --output */
    struct c2_outfile *json, *json_full, *html;           /* --json, --json-full, --html */
    struct c2_outfile *callgrind, *evictors, *cachegrind; /* likewise */
    struct c2_outfile *folded, *pprof;                    /* likewise */
    struct c2_outfile *pagemap;                           /* --dump-pagemap */
    struct c2_outfile *recording;                         /* --record, which the run writes itself */
    struct c2_outfile *varied;                            /* --vary-csv */
    const char *of_threads; /* --callgrind's name, where each thread has a file of its own; NULL: it is one */
};
enum c2_status cli_outputs_open(struct cli_outputs *out, const struct cli_options *options, struct c2_error *err);
bool cli_outputs_report(const struct cli_outputs *outputs); /* a report goes to a file */
/* Writes and commits all, those of the analyses first; goes on after a failure, whose first reason is *err. analyses:
 * of the first view, NULL with --no-sim. shown: the text goes to standard error, too. */
enum c2_status cli_outputs_commit(struct cli_outputs *outputs, const struct cli_options *options,
                                  struct analyses *analyses, const struct report_run *run, bool shown,
                                  struct c2_error *err);
/* --dump-pagemap's, whose path ending in .textproto names the form. */
enum c2_status cli_outputs_commit_pagemap(struct cli_outputs *outputs, const struct mmu_replica *memory,
                                          const char *path, struct c2_error *err);
/* One more file, in a directory that is made if need be; NULL: here. */
enum c2_status cli_outputs_open_in(struct c2_outfile **out, const char *directory, const char *name,
                                   struct c2_error *err);
/* --record's, when all is in it. */
enum c2_status cli_outputs_commit_recording(struct cli_outputs *outputs, struct c2_error *err);
void cli_outputs_abandon(struct cli_outputs *outputs); /* what was not committed */

/* ------------------------------------------------------------------ page.c: how wide, and in which colours
 * The text to standard error; and what it is to be in a file. */
/* The value of --width. */
enum c2_status cli_take_width(uint64_t *out, const char *text, struct c2_error *err);
/* Columns of the terminal that fd is, within bounds; 0: it is none. */
unsigned cli_terminal_width(int fd);
void cli_show_report(struct report *report, const struct cli_options *options);
void cli_page_of_file(struct report *report, const struct cli_options *options);

/* ------------------------------------------------------------------ contexts.c: what functions are told apart by */
struct cli_contexts {
    struct analyses_separation separation;
    struct analyses_parameter *parameters; /* of it */
    struct watch_place *functions;         /* whose arguments are to be marked, by their numbers in the marks */
    uint32_t function_count;
    struct c2_pool texts;
};
/* Zeroed before; to be released in any case. Nothing is in it where nothing was asked for. */
enum c2_status cli_contexts_read(struct cli_contexts *out, const struct cli_separate *asked, struct c2_error *err);
void cli_contexts_release(struct cli_contexts *contexts);

/* ------------------------------------------------------------------ plan.c: what is to be simulated */
struct cli_plan_lane {
    const char *name; /* what it has that the others have not: "L2.ways=4 pages.seed=3"; NULL: it is the only one */
    struct caches_machine machine;
    struct mmu_config placement;
    struct cli_rules rules; /* of placement */
};
struct cli_plan {
    struct cli_plan_lane *lanes;
    unsigned count;
    struct cli_variants variants; /* of the lanes, one each */
    struct mmu_config against;    /* with --against only */
    uint64_t physical_bytes;      /* that the program sees: the most that a machine has; */
    uint32_t processors;          /* so of cores */
    struct cli_contexts contexts;
    struct cli_restored *from; /* the checkpoint that the run goes on from; NULL: it has its own start */
};
/* The machines, and the placements but for their regions. *plan is zeroed, and to be released in any case. */
enum c2_status cli_plan_read(struct cli_plan *plan, const struct cli_options *options, struct c2_error *err);
/* The regions, and --against. On failure as cli_rules_read. */
enum c2_status cli_plan_place(struct cli_plan *plan, const struct cli_options *options,
                              const struct loader_request *program, struct c2_error *err);
void cli_plan_release(struct cli_plan *plan);

/* What of the machine the guest can see, so that all placements of the plan can be. */
struct mmu_guest_config cli_plan_guest(const struct cli_plan *plan, const struct cli_options *options);

/* ------------------------------------------------------------------ facts.c: what a recording says of its run */
struct cli_facts {
    struct stream_fact *list;
    uint32_t count, room;
    bool lost; /* the host has no memory for one */
    struct c2_pool texts;
};
/* Zeroed before. program: the path of its file. */
enum c2_status cli_facts_start(struct cli_facts *facts, const struct cli_options *options, const char *program,
                               const struct mmu_guest_config *guest, const struct cli_plan *plan, struct c2_error *err);
/* In place of those: how the run ended. areas: the guest's. */
enum c2_status cli_facts_end(struct cli_facts *facts, const struct report_run *run, const struct mmu_areas *areas,
                             struct c2_error *err);
void cli_facts_release(struct cli_facts *facts);
bool cli_facts_hash(char out[C2_SHA256_TEXT], const char *path); /* false, and errno: it cannot be read */

struct cli_told { /* texts are lent by the recording */
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
enum c2_status cli_told_start(struct cli_told *told, struct stream_recording *recording, struct c2_error *err);
enum c2_status cli_told_end(struct cli_told *told, struct stream_recording *recording, struct c2_error *err);
/* Fails for a file with code that is another one now; says on `to` which are gone. */
enum c2_status cli_told_check_files(struct stream_recording *recording, FILE *to, struct c2_error *err);
void cli_told_release(struct cli_told *told);
/* The functions get the numbers that they have in the recording; fails for one whose arguments are not in it. name: of
 * the recording, for messages. */
enum c2_status cli_told_contexts(struct cli_contexts *contexts, struct stream_recording *recording, const char *name,
                                 struct c2_error *err);

/* ------------------------------------------------------------------ simulate.c: what a run simulates */
struct cli_simulation {
    struct mmu *mmu; /* the guest's memory; NULL when nothing runs */
    struct stream_blocks *blocks;
    struct lanes *lanes;                /* NULL: nothing listens; the same below */
    const struct cli_plan *plan;        /* of the lanes */
    const char *beside[ANALYSES_KINDS]; /* analyses of the lanes behind the first */
    struct stream_ring *ring;
    struct stream_writer *writer;
    struct teach_csim *csim;            /* of `c2emu csim`, lent; else NULL */
    struct cli_saver *saver;            /* --checkpoint; else NULL */
    struct stream_recorder *recorder;   /* NULL: the stream is not kept; the same below */
    FILE *temporary;                    /* where `advise` keeps it */
    struct stream_recording *recording; /* once settled, of `advise`; of what is played */
    bool ended;                         /* cli_simulation_end_early */
};
/* Instructions of a thread's turn, where the guest finds so many processors; 0: not known. */
uint64_t cli_turn(const struct cli_options *options, uint32_t processors);
bool cli_turn_of_blocks(const struct cli_options *options, uint32_t processors); /* as in struct emu_config */
/* The guest's memory, before anything is in it, and what is to be told of it, as the plan and the options say. For
 * `advise` the stream is kept, to be played back when it is settled; with --record in `to`, behind the facts. The plan,
 * and `to`, are lent until release. */
enum c2_status cli_simulation_start(struct cli_simulation *s, const struct cli_plan *plan,
                                    const struct cli_options *options, FILE *to, const struct cli_facts *facts,
                                    struct c2_error *err);
/* --record: settled, and this is what is to be said at the end. */
enum c2_status cli_simulation_recorded(struct cli_simulation *s, const struct cli_facts *facts, struct c2_error *err);
/* In place of start, loaded and settle: all that `play` gives, whose blocks are in `blocks`, has been simulated.
 * `play` is called on this thread, once. */
struct cli_source {
    void *self;
    const struct stream_blocks *blocks;
    enum c2_status (*play)(void *self, struct stream_sink to, struct c2_error *err);
};
enum c2_status cli_simulation_play(struct cli_simulation *s, const struct cli_plan *plan,
                                   const struct cli_options *options, const struct cli_source *source,
                                   struct c2_error *err);
/* The program is in memory, and has not run. */
enum c2_status cli_simulation_loaded(struct cli_simulation *s, const struct loader_image *image, struct c2_error *err);
/* What is in the stream has been taken by all. */
enum c2_status cli_simulation_catch_up(struct cli_simulation *s, struct c2_error *err);
/* No listeners from now on, and no counts at the end: for a process that is not followed as its parent was. */
void cli_simulation_end_early(struct cli_simulation *s);
/* Everything recorded is in the counts when this returns. */
enum c2_status cli_simulation_settle(struct cli_simulation *s, struct c2_error *err);
void cli_simulation_release(struct cli_simulation *s); /* the last user of the memory is gone */

/* ------------------------------------------------------------------ describe.c: from lanes to reports
 * report has what its caller knows of the run (command, end, clock, instructions, phases, lost pages, placement); the
 * rest is filled in. *against is what it points to with --against, and lives as long. lanes: NULL without any. */
void cli_describe(struct report_run *report, struct report_run *against, const struct cli_options *options,
                  const struct lanes *lanes);
/* What is wrong with it, where its misses were attributed; to be destroyed, and lent to the report until then. */
enum c2_status cli_find(struct findings **out, struct report_run *report, struct c2_error *err);
/* What the report says of the program itself; program: the path of its ELF file, which the report lends. */
enum c2_status cli_describe_program(struct report_run *report, const char *program, struct c2_error *err);
/* Everything that the options want written. shown: the text on standard error with it, but for --quiet. */
enum c2_status cli_write_reports(struct cli_outputs *outputs, const struct cli_options *options,
                                 const struct cli_simulation *simulation, const struct report_run *report, bool shown,
                                 struct c2_error *err);

/* ------------------------------------------------------------------ advise.c: `c2emu advise`
 * After settling; tries out the findings' remedies, which changes them, and writes the report. file: --json's, which is
 * finished or given up; may be NULL. */
enum c2_status cli_advise(const struct cli_options *options, const struct cli_simulation *simulation,
                          const struct report_run *run, struct findings *findings, struct c2_outfile *file,
                          struct c2_error *err);

/* ------------------------------------------------------------------ explain.c, step.c: `c2emu explain`
 * Of a report: its run is made again, with the words behind `c2emu explain`; returns as cli_run(). */
enum c2_status cli_explain_report(int argc, char **argv, int *exit_status, struct c2_error *err);
/* C2_ERR_NOT_FOUND: the run has no such miss; C2_ERR_INVALID: it is another run than that of the report. */
enum c2_status cli_explain_check(const struct cli_options *options, const struct report_run *run, struct c2_error *err);
/* The program is one of several that none was chosen of; nothing is told. */
void cli_explain_leave_out(const struct report_run *run);
/* The steps of the miss: by keys where standard input and standard error are terminals, else all as text. */
enum c2_status cli_step(const struct cli_options *options, const struct report_run *run, struct c2_error *err);

/* ------------------------------------------------------------------ regions.c: what of the program is measured */
struct cli_places {
    struct watch_regions regions; /* for emu_config */
    struct watch_place *functions, from, to;
    char **texts; /* which the places' names lie in */
    size_t text_count;
};
/* *out is to be released in any case. */
enum c2_status cli_places_read(struct cli_places *out, const struct cli_regions *asked, struct c2_error *err);
void cli_places_release(struct cli_places *places);
/* A place of its own. *out is to be released in any case. */
struct cli_one_place {
    struct watch_place place;
    uint64_t arrival; /* 0: none was given */
    char *name, *asked;
};
enum c2_status cli_place_read(struct cli_one_place *out, const char *option, const char *text, struct c2_error *err);
void cli_place_release(struct cli_one_place *place);

/* ------------------------------------------------------------------ names.c: names that can be looked up before */
struct cli_named {
    const char *program;                 /* the ELF file, a path of the host's */
    const char *const *envp;             /* the guest's */
    const struct watch_regions *regions; /* --roi, --from, --to; NULL: none */
    const struct watch_place *moment;    /* --checkpoint-at; NULL: no place */
    const struct watch_place *argued;    /* --separate-par */
    uint32_t argued_count;
};
/* Fails with C2_ERR_NOT_FOUND for a name, of these or of other options, that can be nowhere in the run. */
enum c2_status cli_names_check(const struct cli_options *options, const struct cli_named *named, struct c2_error *err);

/* ------------------------------------------------------------------ phases.c: what is skipped, and what is measured */
struct cli_progress;
struct cli_chosen;
struct cli_phases;
struct cli_phases_config {
    const struct cli_sampling *sampling;
    const struct cli_chosen *chosen; /* NULL: samples are as the sampling says */
    enum cli_warm warm;
    const struct watch_regions *regions; /* NULL: all of the run is one */
    struct loader_symbols *symbols;      /* for the names of regions */
    uint64_t seed;
    struct cli_progress *progress; /* told which phase it is in */
};
/* What the config names outlives the phases. */
enum c2_status cli_phases_create(struct cli_phases **out, const struct cli_phases_config *config, struct c2_error *err);
void cli_phases_destroy(struct cli_phases *phases); /* takes NULL */
/* For emu_config.phase. */
struct emu_phase cli_phases_next(void *phases, uint64_t instructions, const struct watch_part *part);
struct cli_division { /* as struct report_run has it */
    const struct report_phase *phases;
    size_t phase_count;
    bool start;
    const struct report_region *regions;
    size_t region_count;
};
/* The run is over after so many instructions: all its phases and regions, lent until destroy. */
enum c2_status cli_phases_end(struct cli_phases *phases, uint64_t instructions, struct cli_division *out,
                              struct c2_error *err);
/* After that: whether the run was shorter than what was asked for; then which option, and the numbers, in buffer. */
bool cli_phases_short(char *buffer, size_t bytes, const struct cli_phases *phases);

/* ------------------------------------------------------------------ chosen.c: the samples of --points */
struct cli_chosen;
char *cli_chosen_beside(const char *points); /* where those of a file are, unless said; the caller frees it */
enum c2_status cli_chosen_create(struct cli_chosen **out, const struct cli_options *options, struct c2_error *err);
void cli_chosen_destroy(struct cli_chosen *chosen); /* takes NULL */
uint64_t cli_chosen_count(const struct cli_chosen *chosen);
const double *cli_chosen_weights(const struct cli_chosen *chosen); /* [sample], lent until destroy */
uint64_t cli_chosen_length(const struct cli_chosen *chosen);       /* of each, instructions; they do not overlap */
uint64_t cli_chosen_start(const struct cli_chosen *chosen, uint64_t sample); /* in order */
/* Whether a run of so many instructions had them all. */
enum c2_status cli_chosen_check(const struct cli_chosen *chosen, uint64_t instructions, struct c2_error *err);

/* ------------------------------------------------------------------ points.c: `c2emu points`
 * The run is counted interval by interval; at its end the points are chosen, and their files appear. */
struct cli_points;
/* Opens the files. progress: told of each interval, if not NULL; outlives the points. */
enum c2_status cli_points_create(struct cli_points **out, const struct cli_options *options,
                                 struct cli_progress *progress, struct c2_error *err);
void cli_points_destroy(struct cli_points *points);                /* takes NULL */
void cli_points_count(struct cli_points *points, struct emu *emu); /* with count_blocks; outlives the points */
struct emu_phase cli_points_next(void *points, uint64_t instructions,
                                 const struct watch_part *part); /* for emu_config.phase */
/* The run is over. */
enum c2_status cli_points_finish(struct cli_points *points, struct c2_error *err);
/* The same without a run: --from-bbv. Returns the exit status. */
int cli_points_from_file(const struct cli_options *options);
/* ------------------------------------------------------------------ receipt.c: what a run depends on
 * Made where a report.json is wanted, before the guest runs. On failure it is to be destroyed, too. Texts of the
 * options are lent. */
struct cli_receipt;
enum c2_status cli_receipt_create(struct cli_receipt **out, const struct cli_options *options, char *const *environment,
                                  const struct cli_plan *plan, struct c2_error *err);
void cli_receipt_destroy(struct cli_receipt *receipt); /* takes NULL */
/* The program is in memory, and has not run: its file, and its interpreter's. */
void cli_receipt_loaded(struct syscalls *kernel, const struct mmu_areas *areas, const char *program);
/* The guest has ended; lent until the receipt or the kernel is destroyed. */
enum c2_status cli_receipt_finish(const struct report_receipt **out, struct cli_receipt *receipt,
                                  struct syscalls *kernel, struct c2_error *err);
/* How many instructions the run had when it was made before, by the report that it is to replace; 0: there is none of
 * the same run. */
uint64_t cli_receipt_expects(const struct cli_receipt *receipt, const struct cli_options *options);
/* As it is so far: without inputs of the guest. */
const struct report_receipt *cli_receipt_shown(const struct cli_receipt *receipt);
/* "closed", "file", "pipe", "terminal" ...: what a standard stream is. */
const char *cli_stream_kind(int fd);
/* The hash of a command's words, each with its NUL. */
enum c2_status cli_receipt_arguments(char out[C2_SHA256_TEXT], const char *const *command, struct c2_error *err);

/* ------------------------------------------------------------------ rerun.c: a run of a receipt made once more
 * input: what it reads as its standard input; -1: nothing. To be released, whatever it returned. */
struct cli_rerun {
    char *report; /* bytes of it; none where c2emu wrote no report */
    size_t bytes;
    int status;      /* exit status */
    char said[1024]; /* the last of what came on standard error */
    char *directory; /* of several programs: where their reports lie, beside the list of them; removed by release */
};
enum cli_rerun_form { CLI_RERUN_SLIM, CLI_RERUN_FULL, CLI_RERUN_SEVERAL }; /* by --json, --json-full, --output */
enum c2_status cli_rerun(struct cli_rerun *out, const struct report_receipt *receipt, const char *const *command,
                         enum cli_rerun_form form, int input, struct c2_error *err);
void cli_rerun_release(struct cli_rerun *rerun);

/* ------------------------------------------------------------------ processes.c: programs beside the first one */
#define CLI_FIRST_PID 1000u
#define CLI_STANDARD_INPUT "/dev/stdin" /* its file, if it is one, has this name too */
#define CLI_MARK_BYTES 32               /* ".1000-2": between a file's name and its ending */
struct cli_process {
    const struct cli_options *options; /* of the command line; lent */
    struct syscalls *kernel;           /* which outlives the programs; NULL: none has begun */
    struct cli_progress *progress;     /* of the program that runs; NULL: none does */
    uint32_t pid, parent;
    unsigned programs; /* that it has been, with the one that runs */
    struct c2_pool texts;
    struct cli_board *board;     /* of all programs */
    struct engine *engine;       /* of the program before the one that runs; NULL: there is none */
    struct cli_receipt *receipt; /* of the run, when its first program has ended; NULL: there is none */
    struct emu_turns *turns;
    bool forked;           /* it is not the first one */
    bool ran;              /* a program of it; else what is there is of a run that could not begin, and has no end */
    bool failed;           /* c2emu could not carry it to its end */
    int interrupted_by;    /* a signal from outside ended it; 0: none did */
    int ending;            /* as wait4 tells it */
    uint64_t instructions; /* of its last program */
};
enum c2_status cli_process_create(struct cli_process *process, struct c2_error *err);
void cli_process_release(struct cli_process *process);
/* Its program has ended so, after so many instructions. */
void cli_process_ended(struct cli_process *process, const struct emu_end *end, int interrupting_signal,
                       uint64_t instructions);
/* It has ended, with this exit status of c2emu's: others get its turn. Returns when all of its children have ended,
 * with its exit status. */
int cli_process_end(struct cli_process *process, int status);
bool cli_process_has_relatives(const struct cli_process *process); /* there are, or were, other processes */
/* A child of a process that is followed: whether it is, with the options of its program. */
bool cli_process_follows_child(const struct cli_process *process, const struct cli_options *options);
/* A child that was not followed has ended without becoming another program: says so once in a run. */
void cli_process_not_followed(const struct cli_process *process, const struct cli_options *options);
/* The process is the child of what it was: its files have names of its own. */
enum c2_status cli_process_become(struct cli_process *process, uint32_t pid, bool followed, struct c2_error *err);
/* The list of them, in memory that all processes of the run share. */
enum c2_status cli_board_create(struct cli_board **out, struct c2_error *err);
void cli_board_destroy(struct cli_board *board); /* takes NULL */
/* The program of this report has ended. simulated: its counts are known. */
/* reported: it has a report.json in the directory for outputs. */
void cli_board_add(const struct cli_process *process, const struct report_run *run, bool reported);
/* When all have: a table on standard error, and programs.json in the output directory; of one there is nothing to
 * say. */
enum c2_status cli_board_write(const struct cli_process *process, struct c2_error *err);
/* Whether the program, by the name that it is called by, is simulated and reported. */
bool cli_follows(const struct cli_process *process, const char *name);
/* Whether the text of its report is shown. Of a run of several processes the list of them is shown instead, but for
 * --full and programs that --follow names; of a process that was several programs only the last one. becomes: it is
 * not the last one. */
bool cli_shows_program(const struct cli_process *process, const struct cli_options *options, bool becomes);
void cli_process_followed(const struct cli_process *process); /* one is */
/* Those of the process's newest program; NULL: that of the command line. Lends both. */
enum c2_status cli_program_options(struct cli_options *out, struct cli_process *process,
                                   const struct syscalls_program *program, struct c2_error *err);

/* ------------------------------------------------------------------ ending.c: how the guest ended, in words */
int cli_exit_status(const struct emu_end *end, int interrupting_signal);
/* The status for a program that could not be loaded. */
int cli_load_status(enum c2_status status);
/* "killed by SIGSEGV at address 0x0: mov (%rax),%eax at 0x401136 in main (crash.c:5)", "interrupted by SIGINT", or NULL
 * for a guest that exited. next: the program that it became, where it did. Writes into buffer. */
const char *cli_ending_text(char *buffer, size_t bytes, const struct emu_end *end, int interrupting_signal,
                            struct loader_symbols *symbols, const struct syscalls_program *next);

/* ------------------------------------------------------------------ progress.c: a line on a terminal, --stats */
struct cli_progress {
    bool shown;    /* a line is on the terminal */
    bool terminal; /* rewrite the line; else one line each time */
    const char *phase;
    uint64_t start_ns, last_ns;
    uint64_t whole; /* instructions of the run, as far as that is known; 0: it is not */
    uint64_t base;  /* of them, those that were executed before the start */
    double share;   /* else: of all that is to be done, what is; 0: not known */
};
void cli_progress_start(struct cli_progress *progress, const char *phase);
void cli_progress_tick(void *self, uint64_t instructions); /* for emu_config.progress */
/* The same of what is read from a file, whose share is that of its bytes; what has no end has none. */
void cli_progress_tick_file(struct cli_progress *progress, uint64_t instructions, FILE *file);
void cli_progress_clear(void *self); /* the line is gone, until the next tick */
bool cli_progress_wanted(const struct cli_options *options);
void cli_stats(const struct cli_progress *progress, uint64_t instructions);

/* ------------------------------------------------------------------ guard.c: ends that c2emu did not choose */
#define CLI_TIME_LIMIT "stopped by the host's limit on processor time (SIGXCPU; ulimit -t)"
void cli_guard_start(void);
/* Just before the process ends as c2emu wants; the exit status, another when something could not be said. */
int cli_guard_end(int status);

/* layout.c: where the host's address-space layout leaves no room for the guest's window, executes c2emu anew with the
 * usual one; does not come back then. */
void cli_usual_layout(char **argv);

/* ------------------------------------------------------------------ machines.c: the included machine files
 * Their directory: the environment's; else the one installed beside this program; else that of the source tree it was
 * built from. May lie in buffer. */
const char *cli_machines_directory(char *buffer, size_t bytes);
/* Where a directory that is installed beside the program lies: from_bin, from the program's own; else source. In
 * buffer, or lent. */
const char *cli_shared_directory(char *buffer, size_t bytes, const char *from_bin, const char *source);

/* sweep.c: argv[0] the verb. Returns only when it fails: else the process is another program. */
enum c2_status cli_sweep(int argc, char **argv, struct c2_error *err);
enum c2_status cli_machines_list(FILE *to, struct c2_error *err); /* a line each: name, what it is */
/* In the environment: the file of the machine that -m host is, in place of this processor. */
#define CLI_HOST_MACHINE "C2EMU_HOST_MACHINE"
/* `c2emu machines`: the list, one machine as a file, or the keys that a file may have; argv[0] is the verb. */
enum c2_status cli_machines(int argc, char **argv, struct c2_error *err);

/* ------------------------------------------------------------------ verbs that read reports; argv[0] is the verb */
/* diff.c: *failed: a condition of --fail-if holds. */
enum c2_status cli_diff(bool *failed, int argc, char **argv, struct c2_error *err);

/* ------------------------------------------------------------------ html.c: a page of reports that were saved */
enum c2_status cli_html(int argc, char **argv, struct c2_error *err);
/* verify.c: *different: something does. */
enum c2_status cli_verify(bool *different, int argc, char **argv, struct c2_error *err);
enum c2_status cli_annotate(int argc, char **argv, struct c2_error *err);

/* ------------------------------------------------------------------ csim.c: a course's simulator */
struct cli_csim {
    struct teach_csim *sim;
    bool whole; /* the program has ended, and all of it is in the counts */
};
/* argv[0] is the verb; *exit_status: the program's, where one is run. */
enum c2_status cli_csim(int *exit_status, int argc, char **argv, struct c2_error *err);
/* quiz.c: likewise; answers come from standard input. */
enum c2_status cli_quiz(int argc, char **argv, struct c2_error *err);

/* ------------------------------------------------------------------ processor.c */
const char *cli_engine(const struct cli_options *options); /* the name of what executes the guest on this host */
#define CLI_CPU "auto"
/* Where --cpu names no processor: takes the one that the program needs, if it can be had here; else says so. */
void cli_processor_choose(struct cli_options *options);
/* What --cpu names; lent for ever. C2_ERR_INVALID, or C2_ERR_UNSUPPORTED by the engine or by the host. */
enum c2_status cli_processor(const struct cpu_model **out, const struct cli_options *options, struct c2_error *err);

#endif
