/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * session: the life of a run: from options as plain data over memory, program, engine and simulation to reports and
 * files; checkpoints, restored runs, samples and recordings played back with it. It knows no command line.
 *
 * Model
 *   session_options_init() gives the defaults, session_run() does the rest and returns what the process would exit
 *   with. Counts are handed over as they are reported (`reported`). Messages go to standard error, behind "c2emu: ".
 *
 * Not modelled
 *   Two runs of a process at once: signals from outside and the files being written are the process's. A guest that
 *   forks makes the process fork, so a caller that goes on has to see which it is: children return from session_run()
 *   as their parents do.
 */
#ifndef C2_SESSION_H
#define C2_SESSION_H

#include "analyses/analyses.h"
#include "base/base.h"
#include "mmu/replica.h"

/* Exit statuses of c2emu's own; else the guest's, or 128 + the signal that killed it. */
enum {
    SESSION_EXIT_DIFFERENT = 1,
    SESSION_EXIT_FAILED = 125,
    SESSION_EXIT_NOT_EXECUTABLE = 126,
    SESSION_EXIT_NOT_FOUND = 127,
    SESSION_EXIT_SIGNAL = 128
};

/* How a run ended that the host gave no more time. */
#define SESSION_TIME_LIMIT "stopped by the host's limit on processor time (SIGXCPU; ulimit -t)"
#define SESSION_STANDARD_INPUT "/dev/stdin" /* its file, if it is one, has this name too */
#define SESSION_DEFAULT_MACHINE "skylake"

/* `c2emu csim`: what gets the references in place of lanes. */
struct teach_csim;
struct session_csim {
    struct teach_csim *sim;
    bool whole; /* the program has ended, and all of it is in the counts */
};

struct report_run;

/* What is run, how it is simulated, and what is written of it. Strings are lent until the run is over. Where a comment
 * names an option of the command line, the field has its value, as docs/options.md has it. */
struct session_options {
    const char *verb; /* of the command line, for the receipt; NULL: none */
    /* A run's report, or each one's of several programs, when all is counted and before its files are written; lent
     * until it returns. NULL: not wanted. */
    void (*reported)(void *self, const struct report_run *run);
    void *reported_self;
    const char *const *command; /* program and its arguments, NULL-terminated */
    const char **machines;      /* -m; none: the default */
    size_t machine_count;
    const char **vary; /* --vary */
    size_t vary_count;
    const char **overrides; /* --set, --cores */
    size_t override_count;
    char *cores; /* "cores=4", of --cores; NULL: not given */
    const char *pages;
    const char **places; /* --place */
    size_t place_count;
    enum mmu_huge huge;
    const char **huge_regions; /* --huge REGION, but `heap` alone */
    size_t huge_region_count;
    enum mmu_page_size huge_size;
    bool zero_page;
    const char *dump_pagemap; /* NULL: not asked for */
    const char *engine;
    const char *cpu;  /* NULL: auto */
    uint64_t quantum; /* instructions of a thread's turn; 0: as ever */
    uint64_t seed;
    bool seed_set;        /* --seed */
    bool clock_set;       /* --clock: the guest's clock at the start, */
    uint64_t clock_start; /* in seconds since 1970; else what the guest's kernel has */
    const char **env;     /* --env */
    size_t env_count;
    const char *output_dir, *json, *json_full; /* NULL: not asked for */
    const char *vary_csv;                      /* likewise */
    const char *html;                          /* likewise */
    const char *mark;                  /* in the names of files in the output directory, before the dot; NULL: none */
    const char *follow;                /* --follow; NULL: not given */
    const char *evictors, *cachegrind; /* likewise */
    const char *folded, *pprof;        /* likewise */
    const char *folded_event;          /* --folded-event; NULL: the usual one */
    const char *perf_map;              /* --perf-map; NULL: not given */
    const char *record;                /* --record; NULL: not asked for */
    const char *recording;             /* what `c2emu replay` plays; else NULL */
    const char *format;                /* --format; NULL: by what the file holds */
    const char *analyses[ANALYSES_KINDS]; /* the words of the options of analyses, as struct analyses_setup has them */
    const char *settings[ANALYSES_SETTING_KINDS]; /* likewise */
    bool explain, step;    /* `c2emu explain`: one miss; --step: and its set access by access, on a terminal by keys */
    const char *explained; /* the report whose run is made again for that; NULL: none */
    bool advise;           /* `c2emu advise`: the run, and layouts that would have been better for it */
    const char **dims;     /* --dim */
    size_t dim_count;
    const char **wrappers; /* --alloc-wrapper */
    size_t wrapper_count;
    bool sandbox;          /* --sandbox */
    bool no_network;       /* --no-net */
    const char *root;      /* --root; NULL: the host's */
    const char **writable; /* --writable */
    size_t writable_count;
    struct session_sampling {
        uint64_t skip, warmup, measure, samples, period; /* --skip ...; 0: not given */
        uint64_t start;                                  /* --start: measured before the first sample */
        bool warmup_set, start_set;                      /* given, also as 0 */
        bool random_offsets;
        const char *points, *weights; /* --points, --weights; NULL: not given */
        double precision;             /* --precision, in per cent; 0: not given */
    } sampling;
    uint64_t jobs; /* simulation threads; 0: as many as there are processors */
    struct session_points_asked {
        bool find;                             /* `c2emu points` */
        uint64_t interval, dimensions, max_k;  /* --interval ...; 0: not given */
        const char *vectors_to, *vectors_from; /* --bbv, --from-bbv; NULL: not given */
    } points;
    struct session_regions {
        const char **functions; /* --roi */
        size_t function_count;
        const char *from, *to;       /* NULL: not given */
        bool requests;               /* --requests: honoured, */
        bool instr_off, collect_off; /* and at the start not instrumented, not collecting */
        enum session_warm { SESSION_WARM_USUAL, SESSION_WARM_FUNCTIONAL, SESSION_WARM_NONE, SESSION_WARM_FLUSH } warm;
    } regions;
    struct session_separate {
        const char **parameters; /* --separate-par */
        size_t parameter_count;
        uint64_t callers, recursions; /* --separate-callers, --separate-recs; 0: not given */
        bool threads;                 /* --separate-threads */
    } separate;
    const char *restored;         /* `c2emu restore`: the checkpoint; command is NULL until it has been read */
    const char *checkpoint;       /* --checkpoint, NULL: not asked for */
    uint64_t checkpoint_at;       /* instructions; 0: where the place says */
    const char *checkpoint_place; /* NULL: none was given */
    bool checkpoint_caches, checkpoint_stop;
    uint64_t width; /* --width; 0: that of the terminal */
    enum session_color { SESSION_COLOR_AUTO, SESSION_COLOR_ALWAYS, SESSION_COLOR_NEVER } color;
    struct session_csim *csim; /* `c2emu csim`: gets the references in place of lanes (cli_priv.h); else NULL */
    bool no_sim, inherit_env, progress, stats, quiet, full, verbose;
    struct session_word {
        const char *name;  /* "seed" */
        const char *value; /* NULL: it takes none */
    } * words; /* for the receipt: the options as they were given, but for those of what is written, with room for one
                            * more, which the run adds; NULL: none are known */
    size_t word_count;
};

/* As c2emu runs a program without options. */
void session_options_init(struct session_options *out);

/* Runs the guest and writes every report asked for; returns the process's exit status. host_env: NULL-terminated, of
 * which --inherit-env takes the variables. */
int session_run(const struct session_options *options, char *const *host_env);

/* A recorded run, options->recording, simulated again: writes every report asked for. *exit_status: that of the run. */
enum c2_status session_replay(const struct session_options *options, int *exit_status, struct c2_error *err);

/* ------------------------------------------------------------------ directory.c: files that are installed with c2emu
 * The directory of machine files: the environment's; else the one installed beside this program; else that of the
 * source tree it was built from. May lie in buffer. */
const char *session_machines_directory(char *buffer, size_t bytes);
/* Where a directory that is installed beside the program lies: from_bin, from the program's own; else source. In
 * buffer, or lent. */
const char *session_shared_directory(char *buffer, size_t bytes, const char *from_bin, const char *source);

#endif
