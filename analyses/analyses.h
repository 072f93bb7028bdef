/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * analyses: what can be plugged into a run to see what happens in the simulated machine. One file each; what is not
 * plugged in costs nothing.
 */
#ifndef C2_ANALYSES_H
#define C2_ANALYSES_H

#include "analyses/contexts.h"
#include "base/base.h"
#include "document/document.h"
#include "loader/loader.h"
#include "sim/sim.h"

/* ------------------------------------------------------------------ the registry: every analysis there is
 * A row: its name, the option that concerns it, the option's argument (NULL: it has none) and help. The rows stand in
 * the order in which their subscribers are called, in three lists for three sections of the help. The file of the
 * analysis defines analysis_NAME; only the code that shows its result refers to it by name. */
/* clang-format off */
#define ANALYSES_OF_RUN(X) \
    X(profile, "no-attribution", NULL, "count by level only: no objects, no source, no evictors") \
    X(histogram, "histogram", NULL, "count accesses and misses of each level by address, phase by phase") \
    X(sets, "sets", NULL, "count misses of each level by set, with the objects that fill it, and by page") \
    X(prefetch, "no-prefetch-report", NULL, \
      "of a machine that prefetches: do not simulate it without prefetchers as well, and do not judge them") \
    X(coherence, "no-coherence-report", NULL, \
      "of a machine with several cores: do not list threads, cores and the lines that they share") \
    X(excerpts, "no-findings", NULL, "do not look for patterns behind the misses, nor for their remedies") \
    X(loops, "by", "loop", "misses by loop, too: loops of the code that ran, with their rounds") \
    X(rcd, "rcd", NULL, "re-conflict distances of the sets of L1D, by loop: which suffer from conflicts") \
    X(fifo, "fifo-detector", NULL, \
      "compare the classes of misses with what a FIFO of evicted lines at each set would give") \
    X(windows, "windows", "N|auto", \
      "report all counts for every N instructions as well: how they go over the run; auto: 200 to 400 windows") \
    X(bandwidth, "bandwidth", NULL, \
      "show what moves on the paths between the levels, window by window, and which path is the bottleneck") \
    X(reuse, "reuse", NULL, "show at which distances lines are used again: the misses of caches of every size") \
    X(line_use, "line-use", NULL, \
      "show how much of each line that comes into a level is used there, and how often, by what loaded it") \
    X(sharing, "sharing-estimate", NULL, \
      "estimate how much false sharing there can be between the threads") \
    X(jumps, "collect-jumps", NULL, "write jumps to the file of --callgrind, and how often each was taken") \
    X(writebacks, "collect-writebacks", NULL, \
      "write what levels write back as events of --callgrind and --cachegrind, by what causes them") \
    X(explain, "miss", "N", "explain: the N-th miss of the level, or of --at (a typical one)")
#define ANALYSES_OF_MEMORY(X) \
    X(against, "against", "POLICY|huge[=WORD]", \
      "simulate the same run under another placement as well, and count which conflict misses it does not have")
#define ANALYSES_OF_FILES(X) \
    X(trace, "trace", "FILE", "write every reference; in the form .din, .champsim, .memtrace; packed: .zst, .gz, .xz") \
    X(misses, "misses", "FILE", "write a line for each miss, as perf script prints samples; packed: .zst, .gz, .xz") \
    X(callgraph, "callgrind", "FILE", \
      "write costs and calls in Callgrind's format, for callgrind_annotate and KCachegrind")
#define ANALYSES(X) ANALYSES_OF_RUN(X) ANALYSES_OF_MEMORY(X) ANALYSES_OF_FILES(X)

/* Settings: further options of an analysis, which are refused where it is not asked for by its own option. A row: a
 * name, that of the analysis, the option, its argument and help. They stand in the help behind the analyses of the same
 * section; the argument of those of files is a file to write. create() reads the words in setup->settings. */
#define ANALYSES_SETTINGS_OF_RUN(X) \
    X(trace_addresses, trace, "trace-addresses", "virtual|physical", \
      "... of the run, in the forms of --trace that have one alone; usual is din physical, others virtual") \
    X(rcd_level, rcd, "rcd-level", "LEVEL", "... of the sets of another level") \
    X(rcd_below, rcd, "rcd-below", "T", "... short ones are those below T (9: eight or shorter)") \
    X(rcd_sample, rcd, "rcd-sample", "P,...", \
      "... and what samples of the misses would have shown, one of P on average; PxB: in bursts of B") \
    X(granularity, histogram, "granularity", "N|WORD", "... in pieces of N bytes; or by line (usual), page, object") \
    X(phase_at, histogram, "phase-at", "FUNCTION,...", \
      "... where a phase begins each time: at functions; barriers: those of pthreads and OpenMP; regions: of --roi") \
    X(monitor, histogram, "monitor", "C:G[:B][:LEVEL],...", \
      "... and what a monitor of C counters of B bits would see, each for up to G lines; docs/histogram.md") \
    X(fifo_ways, fifo, "fifo-ways", "N", "... with as many lines a set as N times its ways (2)") \
    X(bandwidth_window, bandwidth, "bandwidth-window", "N", "... in windows of N instructions (200)") \
    X(explain_at, explain, "at", "FILE:LINE", "explain: a miss of this line of the source") \
    X(explain_level, explain, "level", "LEVEL", "explain: a miss of this level (L1D)") \
    X(explain_steps, explain, "steps", "N", "explain: show the next N accesses of its set as well (12)")
#define ANALYSES_SETTINGS_OF_FILES(X) \
    X(histogram_csv, histogram, "histogram-csv", "FILE", \
      "write the histogram of --histogram, a line for each piece of a phase, for spreadsheets and gnuplot") \
    X(rcd_cdf, rcd, "rcd-cdf", "FILE", "write the distribution of the distances of loops, for gnuplot") \
    X(windows_csv, windows, "windows-csv", "FILE", \
      "write the windows of --windows, a line each, for spreadsheets and gnuplot") \
    X(bandwidth_curves, bandwidth, "bandwidth-curves", "FILE", \
      "... write for how long each path had which load, as CSV: sorted curves by instruction and by FLOP") \
    X(roofline, bandwidth, "roofline", "FILE", \
      "... write FLOPs, bytes and limits of functions and paths, as CSV") \
    X(reuse_csv, reuse, "reuse-csv", "FILE", "write the miss curves of --reuse: a line for each size where one falls") \
    X(line_use_csv, line_use, "line-use-csv", "FILE", \
      "write the use of lines, a line for each level, instruction and object, for spreadsheets and gnuplot")
#define ANALYSES_SETTINGS(X) ANALYSES_SETTINGS_OF_RUN(X) ANALYSES_SETTINGS_OF_FILES(X)
/* clang-format on */
enum analysis_number {
#define X(name, option, argument, help) ANALYSIS_##name,
    ANALYSES(X)
#undef X
        ANALYSES_KINDS
};
enum analysis_setting {
#define X(name, analysis, option, argument, help) ANALYSES_SETTING_##name,
    ANALYSES_SETTINGS(X)
#undef X
        ANALYSES_SETTING_KINDS
};
const char *analyses_option(enum analysis_number number); /* its name, without the dashes */
const char *analyses_setting_option(enum analysis_setting setting);
enum analysis_number analyses_setting_of(enum analysis_setting setting); /* whose it is */

struct analyses; /* those of one simulated machine */
struct analyses_setup {
    const struct caches_machine *machine; /* outlives them */
    struct loader_symbols *symbols;       /* likewise; asked when memory appears and at the end */
    bool unnamed; /* their objects will not be shown: blocks need no names of the source, and no findings are made */
    const char *const *given;    /* [ANALYSES_KINDS]: the words of their options; NULL: not given, "": no argument */
    const char *const *settings; /* [ANALYSES_SETTING_KINDS]: likewise; NULL: none is given */
    const struct analyses
        *first;   /* of the run's first simulated machine, which outlives these; NULL: that is this one */
    bool samples; /* the misses of each sample are wanted by themselves */
    const struct analyses_separation *separation; /* outlives them; NULL: functions are not told apart by contexts */
    bool stacks;                                  /* what each stack of calls has cost is wanted */
    uint64_t seed;                                /* master seed of what they draw */
    uint64_t quantum; /* instructions of a thread's turn, where others want one; 0: not known */
};

/* Refuses a machine for an option that takes each line that a level misses for one that comes in, and no store for one
 * that goes on: C2_ERR_UNSUPPORTED where levels have write = through or allocate = no. */
enum c2_status analyses_need_stores_to_stay(const struct caches_machine *machine, const char *option,
                                            struct c2_error *err);

/* The word of a setting; NULL: it is not given. */
const char *analyses_setting(const struct analyses_setup *setup, enum analysis_setting setting);
/* The same as a number, decimal or 0x, from least to most; `usual` where it is not given. */
enum c2_status analyses_setting_number(uint64_t *out, const struct analyses_setup *setup, enum analysis_setting setting,
                                       uint64_t usual, uint64_t least, uint64_t most, struct c2_error *err);

/* The file that a setting names; *out stays as it is where it is not given. Committed once all is written: it is gone
 * then, and nothing where there was none. */
enum c2_status analyses_open_file(struct c2_outfile **out, const struct analyses_setup *setup,
                                  enum analysis_setting setting, struct c2_error *err);
enum c2_status analyses_commit_file(struct c2_outfile **file, struct c2_error *err);
/* A text in CSV: in double quotes, those in it twice. NULL: empty. */
void analyses_write_quoted(FILE *to, const char *text);

struct analysis { /* the first member of an analysis's own */
    const struct analysis_kind *kind;
};
struct digest;
/* What reports show of an analysis. It is called for every run that was simulated, in the order of the JSON; what the
 * analysis has found is in digest->run->found, where it was asked for, else the chapter adds nothing. */
struct analysis_chapter {
    /* Adds figures and notes to the open section; want of memory is the document's. */
    void (*add)(struct document *d, struct digest *digest);
    bool profiled;  /* only where misses were attributed */
    enum doc_in in; /* where it appears */
    unsigned place; /* in the text */
    unsigned order; /* in the JSON, between the chapters of report/report.c, which have multiples of 10 as well */
};

struct analysis_kind {
    bool on_without_option; /* and off with it */
    bool for_findings;      /* they alone read it, which name objects: not made where those are unnamed */
    bool every_machine;     /* of those that are compared access by access (--against); else the first only */
    bool beside;            /* of those that are simulated side by side (several -m, --vary); else the first only */
    /* 1u << ANALYSIS_NAME of those before it that it cannot do without: they are made with it whether they are asked
     * for or not. The profile may be switched off; then the command line refuses what needs it. */
    unsigned needs;
    unsigned only_with; /* the same of those without which it is not made */
    /* Whether it is wanted without its option, too; NULL: never. */
    bool (*wanted)(const struct analyses_setup *setup);
    bool (*applies)(const struct caches_machine *machine); /* else it is not made; NULL: to any */
    /* analyses: those of the same machine that stand in rows before this one's. *out is NULL and stays so after a
     * failure. */
    enum c2_status (*create)(struct analysis **out, const struct analyses_setup *setup, const struct analyses *analyses,
                             struct c2_error *err);
    struct sim_subscriber (*subscriber)(struct analysis *analysis);
    struct sim_attribution (*attribution)(struct analysis *analysis); /* NULL: it does not attribute, as all but one */
    const void *(*result)(const struct analysis *analysis); /* lent until destroy; type: see below. NULL: it has none */
    const struct analysis_chapter *chapter;                 /* NULL: reports show nothing of it */
    /* Writes what is left of its file and makes that appear under its name; once. NULL: it writes none. */
    enum c2_status (*commit)(struct analysis *analysis, struct c2_error *err);
    /* In the child of a fork, whose file is a new one: what was for it is the parent's. NULL: nothing is, before
     * commit. */
    enum c2_status (*restart)(struct analysis *analysis, struct c2_error *err);
    void (*destroy)(struct analysis *analysis); /* of a file that was not committed nothing appears */
};
#define X(name, option, argument, help) extern const struct analysis_kind analysis_##name;
ANALYSES(X)
#undef X
const struct analysis_kind *analyses_kind_of(enum analysis_number number);

/* Makes those that are asked for. Their files are open then. */
enum c2_status analyses_create(struct analyses **out, const struct analyses_setup *setup, struct c2_error *err);
void analyses_destroy(struct analyses *analyses); /* after the simulator. Takes NULL */
/* Fills in the subscribers and the attribution; lent until destroy. */
void analyses_subscribe(const struct analyses *analyses, struct sim_config *config);
/* Before the run, of a machine that follows another one (sim_share): what does not depend on levels is counted there,
 * and lent from its end on; it ends first, and outlives these. */
void analyses_follow(const struct analyses *analyses, const struct analyses *leader);
bool analyses_want_marks(const struct analyses *analyses); /* of allocations and the like, in the stream */
bool analyses_want_memory(const struct analyses *analyses);
struct analysis *analyses_find(const struct analyses *analyses, enum analysis_number number); /* NULL: not asked for */
/* After sim_finish(): what it has found out, a struct analyses_NAME_result, or as said there; NULL: not asked for, or
 * all of it is in its file. */
const void *analyses_result(const struct analyses *analyses, enum analysis_number number);
/* Makes the files of all appear; goes on after a failure, whose first reason is *err. */
enum c2_status analyses_commit(struct analyses *analyses, struct c2_error *err);

/* In the child of a fork, behind c2_outfiles_rename. */
enum c2_status analyses_restart(struct analyses *analyses, struct c2_error *err);

/* ------------------------------------------------------------------ profile: misses by instruction and object, and
 * which object evicted which (LT-WET: Sato & Endo, Euro-Par 2017, section 3.2). profile.c has the model. */
#define ANALYSES_LEVELS \
    (CACHES_MAX_LEVELS + 1) /* levels of the data path by their number; L1I has the number behind them */

enum analyses_class { ANALYSES_COLD, ANALYSES_CAPACITY, ANALYSES_CONFLICT, ANALYSES_CLASSES };

/* Misses of one level. The sum over all rows is what the caches counted. */
struct analyses_tally {
    uint64_t reads[ANALYSES_CLASSES]; /* fetches and page walks read */
    uint64_t writes[ANALYSES_CLASSES];
    uint64_t placement; /* of the conflict misses: those that the other placement does not have (analyses_against) */
    uint64_t framed; /* of the conflict misses, but for walks: those in a set that the page's frame has chosen, because
                      * the level is physically indexed and its sets span more than the page */
};

/* Of several cores: misses of one level, of lines that another core's write had taken. They are not in the tally. */
struct analyses_taken {
    uint64_t reads, writes; /* fetches and page walks read */
    uint64_t upgrades;      /* writes to lines that the core had and might not write: all of them with L1D */
};

/* Translations that the first level of the TLBs did not have, those of them that needed a page walk, and the page-table
 * entries that these read. */
struct analyses_translations {
    uint64_t misses, walks, reads;
};

/* One instruction that was executed. */
struct analyses_insn {
    struct guest_va pc;
    uint64_t executed, reads, writes; /* times, references */
};

/* clang-format off */
#define ANALYSES_KINDS(X) \
    X(STATIC, "static", "a variable of the program or a library") \
    X(HEAP, "heap", "a block of the allocator's, or blocks of one site; the heap itself") \
    X(STACK, "stack", "an array on the stack; what else is there") \
    X(MMAP, "mmap", "an anonymous mapping") \
    X(FILE, "file", "data of a mapped file that no symbol names") \
    X(CODE, "code", "instructions fetched from a file") \
    X(TABLES, "tables", "page tables, read by walks")
/* clang-format on */
enum analyses_kind {
#define X(name, key, help) ANALYSES_##name,
    ANALYSES_KINDS(X)
#undef X
};
const char *analyses_kind_name(enum analyses_kind kind);

struct analyses_object {
    enum analyses_kind kind;
    const char *name; /* "A", "beta", "row#3", "malloc#3", "malloc@build (list.c:20)", "stack", "mmap#2", "libc.so.6"
                       * ... not unique */
    struct loader_variable_id variable; /* whose declaration can be asked for */
    const char *module;                 /* basename of the file; NULL: none */
    uint64_t base;                      /* of the first block */
    uint64_t bytes;                     /* all blocks ever */
    uint64_t blocks;                    /* > 1: blocks of one allocation site that are not told apart */
    enum stream_allocator allocator;
    /* Where it was allocated: return addresses, of the call of the allocator and of those of the functions that passed
     * it on (STREAM_ASSUMED is taken out). `site` is the one to be shown; 0: not allocated. */
    const struct guest_va *sites;
    uint32_t site_count, site_shown;
    struct guest_va site;
    const struct loader_local *local; /* an array on the stack, or thread-local; NULL: it is neither */
    uint64_t layout;                  /* of a local one: as in the stream's marks */
    uint32_t local_number;
    bool nested;          /* at times there were several of it */
    const char *receiver; /* the variable that takes the block there; NULL: not known */
    uint64_t number;      /* malloc#N, mmap#N: N; 0: none */
    uint64_t refs;
    const struct analyses_tally *level;                 /* [number of the level] */
    const struct analyses_tally *startup;               /* of these, those of start-up (analyses_profile_program) */
    const struct analyses_taken *taken, *taken_startup; /* likewise; NULL: the machine has one core */
    struct analyses_translations tlb, tlb_startup;
};

/* What one instruction missed in one object. Fetches are rows of a CODE object, walks of the TABLES one; all others are
 * data references. */
struct analyses_row {
    uint32_t insn, object;
    const struct analyses_tally *level;
    const struct analyses_tally *startup;               /* of these, those of start-up */
    const struct analyses_taken *taken, *taken_startup; /* likewise; NULL: the machine has one core */
    struct analyses_translations tlb, tlb_startup;
};

/* clang-format off */
#define ANALYSES_REASONS_X(X) \
    X(INTRA, "intra-array", "both of one object that is no scalar") \
    X(INTER, "inter-array", "two objects") \
    X(SCALAR, "scalar", "one of them a static or thread-local variable of at most 16 bytes") \
    X(CODE, "code", "one of them an instruction fetch") \
    X(TABLES, "tables", "one of them a page walk") \
    X(UNKNOWN, "unknown", "nobody is known to have evicted the line")
/* clang-format on */
enum analyses_reason {
#define X(name, key, help) ANALYSES_REASON_##name,
    ANALYSES_REASONS_X(X)
#undef X
        ANALYSES_REASONS
};
const char *analyses_reason_name(enum analyses_reason reason);

/* Conflict misses of one row at one level, because another evicted the line. */
#define ANALYSES_NOBODY UINT32_MAX
struct analyses_pair {
    uint32_t level;
    uint32_t victim, evictor; /* rows; the evictor may be NOBODY */
    enum analyses_reason reason;
    uint64_t count;
};

/* What one row has waited for in one sample: misses of a class at one level; or, level being 0, what else there is. A
 * row may have several entries of a kind in a sample. */
enum analyses_sampled_kind {
    ANALYSES_SAMPLED_COHERENCE = ANALYSES_CLASSES, /* misses of a level, behind enum analyses_class */
    ANALYSES_SAMPLED_CLASSES,                      /* all those of a level are below */
    ANALYSES_SAMPLED_UPGRADES = ANALYSES_SAMPLED_CLASSES,
    ANALYSES_SAMPLED_TRANSLATIONS, /* misses of the first level of the TLBs */
    ANALYSES_SAMPLED_WALK_READS,
    ANALYSES_SAMPLED_KINDS
};
struct analyses_sampled {
    uint32_t row, count;
    uint8_t level, kind; /* enum analyses_class, or enum analyses_sampled_kind */
    bool startup;
};

struct analyses_profile_result {
    uint32_t level_count; /* of the data path */
    bool has_l1i;
    bool compared;                     /* tallies' `placement` was counted */
    const struct analyses_insn *insns; /* ascending by pc, each address once */
    size_t insn_count;
    const struct analyses_object *objects; /* in the order in which the program made them known */
    size_t object_count;
    const struct analyses_row *rows; /* ascending by insn, then object; each pair once */
    size_t row_count;
    const struct analyses_pair *pairs; /* by level, then count (most first), then victim and evictor */
    size_t pair_count;
    uint64_t reasons[ANALYSES_LEVELS][ANALYSES_REASONS]; /* conflict misses */
    /* Sample by sample (sim.h), the entries of one from where those of the one before end; none where samples were not
     * asked for. */
    const struct analyses_sampled *sampled;
    const uint32_t *sample_ends; /* [sample] */
    size_t sample_count;
};
/* The index of the instruction at pc, which is among them. */
size_t analyses_profile_insn(const struct analyses_profile_result *profile, struct guest_va pc);

/* Conflict misses are compared with another placement's: analyses_profile_placement() may follow. profile: that
 * analysis. */
void analyses_profile_compare(struct analysis *profile);
/* This conflict miss of `access site` at the level of this depth is one that another placement does not have. */
void analyses_profile_placement(struct analysis *profile, enum sim_kind kind, uint64_t access_site, uint32_t depth);

/* ------------------------------------------------------------------ fifo: the FIFO detector
 * What it says of the misses that are not cold, beside the shadow: fifo.c has the model. Counts of line accesses; the
 * result is [number of the level]. */
/* clang-format off */
#define ANALYSES_FIFO_COUNTERS(X) \
    X(fifo_conflict, "misses of a line among the last 2 x ways (or --fifo-ways) evicted from its set") \
    X(fifo_capacity, "misses of other lines that were looked up in the level before") \
    X(both_conflict, "misses that the FIFO and the shadow take for conflicts") \
    X(only_fifo, "conflicts to the FIFO, capacity to the shadow") \
    X(only_fa, "conflicts to the shadow, capacity to the FIFO")
/* clang-format on */

struct analyses_fifo_counts {
#define X(field, help) uint64_t field;
    ANALYSES_FIFO_COUNTERS(X)
#undef X
};

/* ------------------------------------------------------------------ against: the same run under another placement
 * Two simulators of one machine that differ in translations alone eat the same stream, access by access. A conflict
 * miss of the first is `placement` when the second does not have it there (it found the line in that level or nearer),
 * `inherent` when it misses too. */
struct analyses_against_counts {
    uint64_t inherent, placement;
    uint64_t walks; /* conflict misses of page walks, which the two make at different times: neither */
};

/* The result is the first simulator's: struct analyses_against_counts by level of the data path, then L1I; inherent +
 * placement + walks = the level's conflict misses. Each batch is given to the first simulator, then to the second. */

/* ------------------------------------------------------------------ events: what profiles for other tools count
 * One list for every writer: Callgrind's names with their meaning there, then the classes of the misses of each level.
 * A cost is an array of `count` numbers in this order. */
#define ANALYSES_EVENTS (18 + CACHES_MAX_LEVELS + (ANALYSES_CLASSES + 1) * ANALYSES_LEVELS)
#define ANALYSES_NO_EVENT UINT8_MAX
enum { ANALYSES_IR, ANALYSES_DR, ANALYSES_DW }; /* the first three: instructions, reads, writes */
struct analyses_event {
    char name[32]; /* a letter, then letters and digits */
    char help[80];
    uint32_t cycles; /* what one costs (caches_costs); 0: nothing waits for it, or it is counted by another event */
};
struct analyses_events {
    uint32_t count;
    struct analyses_event list[ANALYSES_EVENTS];
    uint8_t by_kind[ANALYSES_LEVELS][SIM_WALK]; /* of a miss: [level][READ, WRITE, FETCH]; may be NO_EVENT */
    uint8_t by_class[ANALYSES_LEVELS][ANALYSES_CLASSES + 1]; /* [level][class], then of lines taken: may be NO_EVENT */
    uint8_t by_tlb[2], walks, walk_reads; /* [enum caches_side]: misses of the first level; may be NO_EVENT */
    uint8_t upgrades;                     /* of several cores; else NO_EVENT */
};
/* On a machine without L1I there is no I1mr and no ILmr; on one of a single level no last level's; without TLBs none of
 * theirs; with one core none of lines taken, and no upgrades. */
void analyses_events_init(struct analyses_events *out, const struct caches_machine *machine);
/* The depth of a miss in the data path, as the number of a level. */
static inline uint32_t analyses_level_of(const struct caches_machine *machine, enum sim_kind kind, uint32_t depth)
{
    return depth == 0 && kind == SIM_FETCH ? machine->level_count : depth;
}
/* Caches of this number of a level: of several cores one each, where the level is a core's own. And which of them the
 * access of a core asks. */
static inline uint32_t analyses_copies(const struct caches_machine *machine, uint32_t level)
{
    const bool own = level == machine->level_count || level < caches_machine_private(machine);
    return own ? caches_machine_cores(machine) : 1;
}
/* Adds what the instruction of this index in the profile has cost. *row: its first row or one before; left behind its
 * last, so that instructions may be asked for in ascending order. */
void analyses_events_of(const struct analyses_events *events, const struct analyses_profile_result *profile,
                        uint32_t insn, size_t *row, uint64_t *cost);

/* ------------------------------------------------------------------ jumps, and what levels write back */
struct analyses_jump {
    struct guest_va from, to;
    bool conditional;
    uint64_t executed, taken; /* not conditional: the same */
};
struct analyses_jumps_result {
    const struct analyses_jump *list; /* ascending by from, to; each once */
    size_t count;
};
struct analyses_writebacks_result {
    uint32_t level_count;
    const uint64_t *counts; /* [instruction of the profile * level_count + level] */
};

/* ---------------------------------------------------- call graph (--callgrind): callgraph.c has the model */
struct analyses_arc {
    struct guest_va from, to; /* the instruction that calls; where that goes */
    uint64_t calls;
    const uint64_t *cost;              /* inclusive, by event */
    uint32_t from_context, to_context; /* with contexts; else 0 */
};
/* A stack of calls: a function, called from those of its parent, which has a lower number; of a thread's own first code
 * the parent is UINT32_MAX. What is called beyond the depth is that of the innermost one. */
#define ANALYSES_STACK_DEPTH 1000u /* functions */
struct analyses_stack {
    struct guest_va at; /* the function's entry */
    uint32_t parent;
    const uint64_t *cost; /* by event: of the function by itself, there */
};
struct analyses_callgraph_result {
    const struct analyses_arc *arcs; /* ascending by from_context, from, to, to_context; each once */
    size_t arc_count;
    const struct analyses_contexts *contexts; /* NULL: functions are not told apart */
    const struct analyses_stack *stacks;      /* where they are wanted */
    uint32_t stack_count;
};

/* A function starts here, beside those that symbols name. resolver: it is one of the dynamic linker's that jumps on to
 * the function it has found. callgraph: that analysis. */
enum c2_status analyses_callgraph_entry(struct analysis *callgraph, struct guest_va entry, bool resolver,
                                        struct c2_error *err);
void analyses_callgraph_check(const struct analysis *callgraph);

/* ------------------------------------------------------- advice: other layouts, and what they would have had
 * A proposal says how some of a profile's objects lie anew, and in what pages. advice_plan.c makes proposals from a
 * profile; lanes/moved.c simulates them on the recorded references. */
#define ANALYSES_PROPOSALS 12u
#define ANALYSES_MOVED 24u                                         /* objects that one proposal moves */
#define ANALYSES_OBJECTS (ANALYSES_MOVED + 2 * ANALYSES_PROPOSALS) /* that all proposals of a plan move */

enum analyses_means {
    ANALYSES_PAD_ROWS = 1,   /* each row of the objects is longer */
    ANALYSES_PAD_BLOCKS = 2, /* each block of an allocation site is longer */
    ANALYSES_STAGGER = 4,    /* the objects start at steps, modulo the span of a level's sets */
    ANALYSES_HUGE = 8,       /* the objects lie in pages of 2 MiB, one behind the other */
    ANALYSES_COLORED = 16,   /* all pages are coloured */
    ANALYSES_SPLIT = 32,     /* some bytes of each element lie in an array of their own, the others behind it */
    ANALYSES_IN_ORDER = 64,  /* elements lie in the order in which a walk comes to them */
    ANALYSES_ROOM = 128,     /* nothing moves, and a level holds the object: what work in blocks would find */
    ANALYSES_REDRAWN = 256,  /* frames are drawn with another seed: no remedy, but how much of a placement is luck */
};
#define ANALYSES_ELEMENT 512u /* bytes of the largest element that is split */

/* In which order an instruction comes to the elements of an object for the first time. Of a site with many blocks these
 * are the elements, by their slots (advice.h). */
struct analyses_walk {
    uint32_t object;
    struct guest_va pc;
    uint64_t element_bytes; /* of an array; of a site 0 */
    uint32_t *order;        /* [element]: its place. Those that the walk does not come to keep their order, behind it */
    uint32_t count;         /* elements */
};

/* One object, moved: it starts at an address that is `offset` modulo `align`. */
struct analyses_change {
    uint32_t object;
    uint64_t row_bytes,
        pad_bytes; /* each row_bytes of it become row_bytes + pad_bytes; 0, 0: nothing is stretched. Of a
                                    * site with many blocks, row_bytes is the room of one */
    uint64_t align, offset;
};
struct analyses_proposal {
    unsigned means;      /* enum analyses_means; 0: the run as it was */
    uint64_t wishes;     /* that it is tried for, as bits; 0: none */
    uint32_t level;      /* STAGGER, COLORED: whose sets are meant */
    uint32_t colors;     /* COLORED */
    uint32_t draw;       /* REDRAWN: so much is added to the placement's seed; 0 elsewhere */
    uint64_t step_bytes; /* STAGGER */
    uint64_t room_bytes; /* ROOM: of the level, then */
    uint32_t object;     /* ROOM: what is worked on in blocks */
    /* SPLIT, IN_ORDER, of the one object that changes: bytes of an element - of a site with many blocks that is one of
     * them, and the change's row_bytes its room - and SPLIT: those that lie apart, as bits; IN_ORDER: its walk. */
    uint64_t element_bytes;
    uint8_t apart[ANALYSES_ELEMENT / 8];
    const struct analyses_walk *walk; /* lent */
    uint32_t change_count;
    struct analyses_change changes[ANALYSES_MOVED];
};

/* Rows of an array that cores take from each other because several lie in one line. */
struct analyses_padding {
    uint32_t object;
    uint32_t row_bytes, pad_bytes;
};
/* What is to be tried whatever conflicts cost, by itself. */
struct analyses_wish {
    uint32_t number; /* below 64: the bit of it in a proposal's `wishes`; several may be one's */
    unsigned means;  /* enum analyses_means */
    uint32_t object;
    uint32_t other;                /* STAGGER: the object whose start is to be apart from this one's */
    uint32_t level;                /* STAGGER, COLORED: whose sets are meant; ROOM: which holds the object */
    uint64_t row_bytes, pad_bytes; /* PAD_ROWS: 0, 0: the rows that the object is known to have, and a line */
    uint64_t element_bytes;        /* SPLIT, IN_ORDER: as in a proposal */
    const uint8_t *apart;          /* SPLIT: likewise */
    uint64_t room_bytes;           /* ROOM: of all that is worked on in blocks */
    const struct analyses_walk *walk;
    uint32_t draw; /* REDRAWN: likewise */
};
struct analyses_plan_input {
    const struct analyses_profile_result *profile;
    const struct caches_machine *machine;
    const struct mmu_config *placement;      /* of the run */
    const uint64_t *rows;                    /* [object]: bytes of a row; 0: it is not known to have rows */
    const bool *wanted;                      /* [object]: concerned whatever its share; NULL: none */
    const struct analyses_padding *paddings; /* of several cores: most misses first */
    uint32_t padding_count;
    const struct analyses_wish *wishes; /* most wanted first: they come before all others */
    uint32_t wish_count;
};
/* Bytes of the bits of a proposal that lie apart. */
uint64_t analyses_apart_bytes(const struct analyses_proposal *proposal);
/* Whether an object's place is a matter of the program: not the stack, code, files. */
bool analyses_movable(const struct analyses_object *object);
/* The objects that proposals may move, ascending: those with the dearest conflict misses, and those of wishes, of which
 * there are ANALYSES_PROPOSALS at most here. Rows are not asked for. */
enum c2_status analyses_plan_objects(uint32_t out[ANALYSES_OBJECTS], uint32_t *count,
                                     const struct analyses_plan_input *input, struct c2_error *err);
enum c2_status analyses_plan(struct analyses_proposal out[ANALYSES_PROPOSALS], uint32_t *count,
                             const struct analyses_plan_input *input, struct c2_error *err);

/* What one proposal came to. */
struct analyses_outcome {
    enum c2_status status; /* not C2_OK: it could not be simulated to its end; why is in error */
    struct c2_error error;
    struct caches_counts levels[CACHES_MAX_LEVELS], l1i;
    struct caches_cost cost;
};

#endif
