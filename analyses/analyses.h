/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * analyses: what can be plugged into a run to see its references. One file each; what is not plugged in costs nothing.
 * An analysis is made before the simulator, hands out a subscriber for sim_config (sim/sim.h says who is called when,
 * in which order), and is finished after the last drain.
 */
#ifndef C2_ANALYSES_H
#define C2_ANALYSES_H

#include "base/base.h"
#include "loader/loader.h"
#include "sim/sim.h"

/* ------------------------------------------------------------------ files of what was seen: --NAME FILE each
 * An analysis that sees references, or records, and writes one file. A row makes its option; the file that the row is
 * named after defines analyses_NAME; nobody else knows it by name. */
/* clang-format off */
#define ANALYSES_FILES(X) \
    X(trace, "write every reference; FILE.din: din form, FILE.zst: compressed")
struct analyses_file { /* the first member of an analysis's own */
    const struct analyses_file_kind *kind;
};
struct analyses_file_kind {
    /* Opens the file, which appears at commit. line_bytes: of the machine. path "-" is standard output. */
    enum c2_status (*create)(struct analyses_file **out, const char *path, uint32_t line_bytes, struct c2_error *err);
    struct sim_subscriber (*subscriber)(struct analyses_file *file); /* lent until commit or destroy */
    /* Writes what is left and makes the file appear under its name. Frees file either way. */
    enum c2_status (*commit)(struct analyses_file *file, struct c2_error *err);
    void (*destroy)(struct analyses_file *file); /* gives up: no file appears. Takes NULL */
};
enum {
#define X(name, help) ANALYSES_FILE_##name,
    ANALYSES_FILES(X)
#undef X
    ANALYSES_FILE_KINDS
};
#define X(name, help) extern const struct analyses_file_kind analyses_##name;
ANALYSES_FILES(X)
#undef X
/* clang-format on */
extern const struct analyses_file_kind *const analyses_file_kinds[ANALYSES_FILE_KINDS];

/* ------------------------------------------------------------------ profile: misses by instruction and object, and who
 * evicted whom (LT-WET: Sato & Endo, Euro-Par 2017, section 3.2). profile.c has the model. */
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

/* Translations that the first level of the TLBs did not have, and those of them that needed a page walk. */
struct analyses_translations {
    uint64_t misses, walks;
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
    const struct analyses_tally *level;   /* [number of the level] */
    const struct analyses_tally *startup; /* of these, those of start-up (analyses_profile_program) */
    struct analyses_translations tlb, tlb_startup;
};

/* What one instruction missed in one object. Fetches are rows of a CODE object, walks of the TABLES one; all others are
 * data references. */
struct analyses_row {
    uint32_t insn, object;
    const struct analyses_tally *level;
    const struct analyses_tally *startup; /* of these, those of start-up */
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
};

struct analyses_profile;
/* machine, symbols: outlive it; symbols are asked when memory is mapped and at the end. */
enum c2_status analyses_profile_create(struct analyses_profile **out, const struct caches_machine *machine,
                                       struct loader_symbols *symbols, struct c2_error *err);
void analyses_profile_destroy(struct analyses_profile *profile);
/* For sim_config. */
struct sim_subscriber analyses_profile_subscriber(struct analyses_profile *profile);
struct sim_attribution analyses_profile_attribution(struct analyses_profile *profile);
/* What is start-up: everything until the first instruction of the program itself, and whatever instructions of the
 * dynamic linker do. interpreter: an address in the latter, 0: there is none. When both are mapped; without this call
 * nothing is start-up. */
void analyses_profile_program(struct analyses_profile *profile, struct guest_va entry, struct guest_va interpreter);
/* Conflict misses are compared with another placement's: analyses_profile_placement() may follow. */
void analyses_profile_compare(struct analyses_profile *profile);
/* This conflict miss of `actor` at the level of this depth is one that another placement does not have. */
void analyses_profile_placement(struct analyses_profile *profile, enum sim_kind kind, uint64_t actor, uint32_t depth);
/* After the last batch. Lent until destroy. */
enum c2_status analyses_profile_finish(struct analyses_profile *profile, struct sim *sim,
                                       const struct analyses_profile_result **out, struct c2_error *err);

/* ------------------------------------------------------------------ against: the same run under another placement
 * Two simulators of one machine that differ in translations alone eat the same stream, access by access. A conflict
 * miss of the first is `placement` when the second does not have it there (it found the line in that level or nearer),
 * `inherent` when it misses too. */
struct analyses_against_counts {
    uint64_t inherent, placement;
    uint64_t walks; /* conflict misses of page walks, which the two make at different times: neither */
};

struct analyses_against;
/* machine: outlives it. profile: of the first simulator, whose subscriber comes before this one's; told of each
 * conflict miss that is due to placement; may be NULL. */
enum c2_status analyses_against_create(struct analyses_against **out, const struct caches_machine *machine,
                                       struct analyses_profile *profile, struct c2_error *err);
void analyses_against_destroy(struct analyses_against *against);
/* For the two sim_configs. */
struct sim_subscriber analyses_against_first(struct analyses_against *against);
struct sim_subscriber analyses_against_second(struct analyses_against *against);
/* Feeds both, batch by batch. first, second: what was made of those configs. */
struct stream_sink analyses_against_sink(struct analyses_against *against, struct sim *first, struct sim *second);
/* By level of the data path, then L1I. Lent until destroy; inherent + placement + walks = the first's conflicts. */
const struct analyses_against_counts *analyses_against_counts(const struct analyses_against *against);

/* ------------------------------------------------------------------ events: what profiles for other tools count
 * One list for every writer: Callgrind's names with their meaning there, then the classes of the misses of each level.
 * A cost is an array of `count` numbers in this order. */
#define ANALYSES_EVENTS (12 + ANALYSES_CLASSES * ANALYSES_LEVELS)
#define ANALYSES_NO_EVENT UINT8_MAX
enum { ANALYSES_IR, ANALYSES_DR, ANALYSES_DW }; /* the first three: instructions, reads, writes */
struct analyses_event {
    char name[32]; /* a letter, then letters and digits */
    char help[80];
    uint32_t cycles; /* what one costs; 0: it is no miss, or counted by another event */
};
struct analyses_events {
    uint32_t count;
    struct analyses_event list[ANALYSES_EVENTS];
    uint8_t by_kind[ANALYSES_LEVELS][SIM_WALK];          /* of a miss: [level][READ, WRITE, FETCH]; may be NO_EVENT */
    uint8_t by_class[ANALYSES_LEVELS][ANALYSES_CLASSES]; /* [level][class] */
    uint8_t by_tlb[2], walks; /* [enum caches_side]: misses of the first level; may be NO_EVENT */
};
/* On a machine without L1I there is no I1mr and no ILmr; on one of a single level no last level's; without TLBs none of
 * theirs. */
void analyses_events_init(struct analyses_events *out, const struct caches_machine *machine);
/* The depth of a miss in the data path, as the number of a level. */
static inline uint32_t analyses_level_of(const struct caches_machine *machine, enum sim_kind kind, uint32_t depth)
{
    return depth == 0 && kind == SIM_FETCH ? machine->level_count : depth;
}
/* Adds what the instruction of this index in the profile has cost. *row: its first row or one before; left behind its
 * last, so that instructions may be asked for in ascending order. */
void analyses_events_of(const struct analyses_events *events, const struct analyses_profile_result *profile,
                        uint32_t insn, size_t *row, uint64_t *cost);

/* ---------------------------------------------------- call graph (--callgrind): callgraph.c has the model */
struct analyses_arc {
    struct guest_va from, to; /* the instruction that calls; where that goes */
    uint64_t calls;
    const uint64_t *cost; /* inclusive, by event */
};
struct analyses_callgraph_result {
    const struct analyses_arc *arcs; /* ascending by from, then to; each pair once */
    size_t arc_count;
};

struct analyses_callgraph;
/* machine, symbols: outlive the call graph. */
enum c2_status analyses_callgraph_create(struct analyses_callgraph **out, const struct caches_machine *machine,
                                         struct loader_symbols *symbols, struct c2_error *err);
void analyses_callgraph_destroy(struct analyses_callgraph *graph);
struct sim_subscriber analyses_callgraph_subscriber(struct analyses_callgraph *graph); /* for sim_config */
/* A function starts here. resolver: it is one of the dynamic linker's that jumps on to the function it has found. */
enum c2_status analyses_callgraph_entry(struct analyses_callgraph *graph, struct guest_va entry, bool resolver,
                                        struct c2_error *err);
/* After the last batch: every call still open ends now. Lent until destroy. */
enum c2_status analyses_callgraph_finish(struct analyses_callgraph *graph, const struct analyses_callgraph_result **out,
                                         struct c2_error *err);
void analyses_callgraph_check(const struct analyses_callgraph *graph);

/* ------------------------------------------------------- advice: other layouts, and what they would have had
 * A proposal says how some of a profile's objects lie anew, and in what pages. advice_plan.c makes proposals from a
 * profile; advice_replay.c simulates them on the recorded references. */
#define ANALYSES_PROPOSALS 12u
#define ANALYSES_MOVED 24u /* objects that one proposal moves */

enum analyses_means {
    ANALYSES_PAD_ROWS = 1,   /* each row of the objects is longer */
    ANALYSES_PAD_BLOCKS = 2, /* each block of an allocation site is longer */
    ANALYSES_STAGGER = 4,    /* the objects start at steps, modulo the span of a level's sets */
    ANALYSES_HUGE = 8,       /* the objects lie in pages of 2 MiB, one behind the other */
    ANALYSES_COLORED = 16,   /* all pages are coloured */
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
    uint32_t level;      /* STAGGER, COLORED: whose sets are meant */
    uint32_t colors;     /* COLORED */
    uint64_t step_bytes; /* STAGGER */
    uint32_t change_count;
    struct analyses_change changes[ANALYSES_MOVED];
};

struct analyses_plan_input {
    const struct analyses_profile_result *profile;
    const struct caches_machine *machine;
    const struct mmu_config *placement; /* of the run */
    const uint64_t *rows;               /* [object]: bytes of a row; 0: it is not known to have rows */
    const bool *wanted;                 /* [object]: concerned whatever its share; NULL: none */
};
/* Whether an object's place is a matter of the program: not the stack, code, files. */
bool analyses_movable(const struct analyses_object *object);
/* The objects that proposals may move, ascending: those with the dearest conflict misses. Rows are not asked for. */
enum c2_status analyses_plan_objects(uint32_t out[ANALYSES_MOVED], uint32_t *count,
                                     const struct analyses_plan_input *input, struct c2_error *err);
enum c2_status analyses_plan(struct analyses_proposal out[ANALYSES_PROPOSALS], uint32_t *count,
                             const struct analyses_plan_input *input, struct c2_error *err);

/* What one proposal came to. */
struct analyses_outcome {
    enum c2_status status; /* not C2_OK: it could not be simulated to its end; why is in error */
    struct c2_error error;
    struct caches_counts levels[CACHES_MAX_LEVELS], l1i;
};
struct analyses_replay {
    const struct caches_machine *machine;
    const struct mmu_config *placement; /* of the run */
    const struct stream_blocks *blocks;
    struct stream_tape *tape; /* of the run: batches, and notes by analyses_replay_note() */
    const struct analyses_profile_result *profile;
    uint64_t seed;
};
/* Records an event of the run's address space; paths: file names seen so far, which grow. */
struct analyses_paths {
    char **list;
    uint32_t count, room;
};
enum c2_status analyses_replay_note(struct stream_tape *tape, const struct mmu_event *event,
                                    struct analyses_paths *paths, struct c2_error *err);
void analyses_paths_release(struct analyses_paths *paths);
/* Simulates all proposals in one pass; out: one each. They move ANALYSES_MOVED different objects at most. */
enum c2_status analyses_replay(struct analyses_outcome *out, const struct analyses_proposal *proposals, uint32_t count,
                               const struct analyses_replay *replay, const struct analyses_paths *paths,
                               struct c2_error *err);
/* Simulates the run as it was, and fills rows[object] for these objects: the distance that instructions most often go
 * on by in it, where that is more than a line; else 0. */
enum c2_status analyses_replay_rows(struct analyses_outcome *baseline, uint64_t *rows, const uint32_t *objects,
                                    uint32_t object_count, const struct analyses_replay *replay,
                                    const struct analyses_paths *paths, struct c2_error *err);

#endif
