/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * caches: a multi-level cache hierarchy of one core, with slices, replacement policies, inclusion, and a fully
 * associative shadow beside each level that classifies every miss; and the core's TLBs. A library in its own right:
 * give it virtual and physical line numbers, read the counts. Machine descriptions come from INI files (machine/).
 */
#ifndef C2_CACHES_H
#define C2_CACHES_H

#include "base/base.h"

#define CACHES_MAX_LEVELS 6 /* levels of the data path, L1D first; L1I is beside L1D */
#define CACHES_MAX_WAYS 64
#define CACHES_NAME_BYTES 16

/* Replacement: the constant, the word of machine files and reports, and who may have it; policy.c says what each
 * does. */
enum caches_policy_user { CACHES_OF_LEVELS = 1, CACHES_OF_TLBS = 2 };
/* clang-format off */
#define CACHES_POLICY_LIST(X) \
    X(LRU, "lru", CACHES_OF_LEVELS | CACHES_OF_TLBS) \
    X(FIFO, "fifo", CACHES_OF_LEVELS) \
    X(RANDOM, "random", CACHES_OF_LEVELS) \
    X(TREE_PLRU, "tree-plru", CACHES_OF_LEVELS | CACHES_OF_TLBS) /* ways a power of two, at most 64 */ \
    X(NRU, "nru", CACHES_OF_LEVELS) \
    X(SRRIP, "srrip", CACHES_OF_LEVELS) \
    X(BRRIP, "brrip", CACHES_OF_LEVELS) \
    X(DRRIP, "drrip", CACHES_OF_LEVELS) \
    X(SHIP, "ship", CACHES_OF_LEVELS) /* not of exclusive levels: see caches_policy_needs_misses() */ \
    X(SHIP_MEM, "ship-mem", CACHES_OF_LEVELS) \
    X(MRU3_PLRU4, "mru3-plru4", CACHES_OF_TLBS) /* 12 ways */
/* clang-format on */
enum caches_policy {
#define X(constant, word, users) CACHES_##constant,
    CACHES_POLICY_LIST(X)
#undef X
};
#define X(constant, word, users) +1
enum { CACHES_POLICIES = 0 CACHES_POLICY_LIST(X) };
#undef X

enum caches_inclusion {
    CACHES_NON_INCLUSIVE, /* filled on a miss; evicts without telling the levels above */
    CACHES_INCLUSIVE,     /* filled on a miss; an eviction invalidates the line in every level above */
    CACHES_EXCLUSIVE,     /* filled only by victims of the level above; a hit moves the line up */
};

enum caches_index { CACHES_VIRTUAL, CACHES_PHYSICAL };

/* Prefetchers: prefetch.c says what each does. And the accesses of its level that one looks at. */
/* clang-format off */
#define CACHES_PREFETCHERS_LIST(X) \
    X(STREAM, "stream") /* three neighbouring lines in turn, up or down, of one page */ \
    X(NEXT_LINE, "next-line") \
    X(ADJACENT, "adjacent") /* the other line of a pair */ \
    X(STRIDE, "stride") /* three lines in even steps of one instruction */
/* clang-format on */
enum caches_prefetcher {
#define X(constant, word) CACHES_PREFETCH_##constant,
    CACHES_PREFETCHERS_LIST(X)
#undef X
        CACHES_PREFETCHERS,
    CACHES_PREFETCH_SOFTWARE = CACHES_PREFETCHERS /* an instruction of the program: none of a machine's */
};
enum caches_prefetch_on {
    CACHES_ON_ACCESSES,
    CACHES_ON_MISSES,
    CACHES_ON_TAGGED, /* misses, and the first accesses of prefetched lines */
    CACHES_PREFETCH_ONS
};
/* The words for them, in machine files and reports. */
#define CACHES_INCLUSIONS (CACHES_EXCLUSIVE + 1)
#define CACHES_INDICES (CACHES_PHYSICAL + 1)
extern const char *const caches_policy_names[CACHES_POLICIES];
extern const unsigned caches_policy_users[CACHES_POLICIES]; /* enum caches_policy_user, or-ed */
extern const char *const caches_inclusion_names[CACHES_INCLUSIONS];
extern const char *const caches_index_names[CACHES_INDICES];
extern const char *const caches_write_names[2];    /* [through] */
extern const char *const caches_allocate_names[2]; /* [!around] */
extern const char *const caches_prefetcher_names[CACHES_PREFETCHERS];
extern const char *const caches_prefetch_on_names[CACHES_PREFETCH_ONS];
/* It learns from the instructions that miss, so an exclusive level, which victims fill, cannot have it. */
static inline bool caches_policy_needs_misses(enum caches_policy policy) { return policy == CACHES_SHIP; }
const char *caches_policy_name(enum caches_policy policy);
const char *caches_inclusion_name(enum caches_inclusion inclusion);
const char *caches_index_name(enum caches_index index);

/* ------------------------------------------------------------------ slice hashes
 * A function from a physical byte address to a slice number. Built-in by name (see caches_hash_names), each with
 * its source in slices.c; or read from a base-sequence file (permutation method, McCalpin TR-2021-03). All of them
 * are defined on 64-byte lines. */
#define CACHES_HASH_LINE_BYTES 64
#define CACHES_MAX_SLICES 256
#define CACHES_HASH_BYTES 512 /* of a hash's name, its NUL included */
struct caches_hash;
/* name: "none" (one slice), "lin2" ... "cf40", "modulo" (line number mod slices: the fallback for any number), or
 * "perm:PATH:MASK,MASK,..." - PATH has one slice number a line, N = 2^L of them, and L masks follow:
 *     slice(pa) = base[(pa / 64 mod N) ^ p],  bit k of p = parity of pa & MASK k
 * slices must be the function's own. relative_to: directory against which a relative PATH is taken, may be NULL. */
enum c2_status caches_hash_create(struct caches_hash **out, const char *name, uint32_t slices, const char *relative_to,
                                  struct c2_error *err);
void caches_hash_destroy(struct caches_hash *hash);
uint32_t caches_hash_slice(const struct caches_hash *hash, struct guest_pa address);
uint32_t caches_hash_slices(const struct caches_hash *hash);
/* Where a slice finds its set: set = line number / divisor mod sets. 1 for the hashes proper. The number of slices
 * for those that deal out neighbouring lines (modulo, amd-low4, amd-low8): with 1 a slice would see only the lines
 * whose low index bits are its own number, and most of its sets would stay empty. */
uint32_t caches_hash_index_divisor(const struct caches_hash *hash);
/* The highest physical address bit the function was published for; above it the model is not hardware. 63 for
 * "none" and "modulo", which are nobody's. */
unsigned caches_hash_valid_bit(const struct caches_hash *hash);
const char *const *caches_hash_names(size_t *count); /* static */

/* ------------------------------------------------------------------ a machine */
/* What a path between two levels can move in a cycle, in thousandths of a byte; 0: not known. For reports. */
struct caches_path {
    uint32_t read, write; /* towards the core, and away from it */
};

/* The ways that accesses of some cores may fill in a level. */
#define CACHES_MAX_MASKS 16
struct caches_mask {
    uint32_t first, last; /* cores */
    uint64_t ways;        /* bit w: way w; at least one, all below the level's ways */
};

struct caches_level {
    char name[CACHES_NAME_BYTES]; /* "L1D", "L1I", "L2" ... */
    uint64_t size_bytes;          /* of all slices together */
    uint32_t ways;
    uint32_t slices;              /* 1 = not sliced */
    char hash[CACHES_HASH_BYTES]; /* name for caches_hash_create; "none" when slices == 1 */
    enum caches_policy policy;
    enum caches_index index;
    enum caches_inclusion inclusion; /* towards the levels above */
    uint32_t latency_cycles;         /* load to use; for reports, changes no count */
    struct caches_path path;         /* to the level above, or the core; of L1I nothing */
    unsigned prefetchers;            /* 1 << enum caches_prefetcher, or-ed; 0: none. Not of an exclusive level */
    enum caches_prefetch_on prefetch_on;
    uint32_t stream_distance; /* lines ahead; >= 1 where there is such a prefetcher */
    uint32_t stride_distance; /* steps ahead; likewise */
    bool shared;              /* of several cores: by all; those below it are, too. Not of L1D and L1I */
    bool through;             /* a store that the level has or takes goes on to the next; it holds nothing dirty */
    bool around;              /* a store that it misses does not fill it, but goes on */
    uint32_t mask_count;
    struct caches_mask masks[CACHES_MAX_MASKS]; /* no core is in two; what is in none may fill all ways */
};

/* Instructions made for caches: instructed.c says what each does. The first are hints of prefetches. */
enum caches_instruction {
    CACHES_PREFETCH_T0,
    CACHES_PREFETCH_T1,
    CACHES_PREFETCH_T2,
    CACHES_PREFETCH_NTA,
    CACHES_PREFETCH_FOR_WRITE,
    CACHES_FLUSH,
    CACHES_WRITE_BACK,
    CACHES_STORE_PAST, /* a non-temporal store */
    CACHES_INSTRUCTIONS
};
extern const char *const caches_instruction_names[CACHES_INSTRUCTIONS];
#define CACHES_MAX_COMBINING 64u
#define CACHES_COMBINING 10u /* buffers: where a machine does not say */

/* A TLB or page-walk cache as a machine file describes it. */
#define CACHES_MAX_TLBS 16
#define CACHES_TLB_MAX_WAYS 128
enum caches_tlb_place { CACHES_TLB_FIRST, CACHES_TLB_SECOND, CACHES_TLB_WALK };
/* Who asks, and sets of those who may. */
enum caches_tlb_side { CACHES_TLB_LOAD, CACHES_TLB_STORE, CACHES_TLB_FETCH, CACHES_TLB_SIDES };
enum caches_tlb_sides {
    CACHES_TLB_LOADS = 1 << CACHES_TLB_LOAD,
    CACHES_TLB_STORES = 1 << CACHES_TLB_STORE,
    CACHES_TLB_DATA = CACHES_TLB_LOADS | CACHES_TLB_STORES,
    CACHES_TLB_FETCHES = 1 << CACHES_TLB_FETCH,
};
/* What an entry is about: a page, by its size, or a page-table entry that points to a table; and sets of those. The
 * order matters to tlb.c. */
enum caches_tlb_kind {
    CACHES_KIND_4K,
    CACHES_KIND_2M,
    CACHES_KIND_1G,
    CACHES_KIND_PDE,
    CACHES_KIND_PDPTE,
    CACHES_KIND_PML4E,
    CACHES_KINDS
};
#define CACHES_PAGE_KINDS 3
enum caches_tlb_holds {
    CACHES_TLB_4K = 1 << CACHES_KIND_4K,
    CACHES_TLB_2M = 1 << CACHES_KIND_2M,
    CACHES_TLB_1G = 1 << CACHES_KIND_1G,
    CACHES_TLB_PAGES = CACHES_TLB_4K | CACHES_TLB_2M | CACHES_TLB_1G,
    CACHES_TLB_PDE = 1 << CACHES_KIND_PDE,
    CACHES_TLB_PDPTE = 1 << CACHES_KIND_PDPTE,
    CACHES_TLB_PML4E = 1 << CACHES_KIND_PML4E,
};
extern const char *const caches_kind_names[CACHES_KINDS];
struct caches_tlb {
    char name[CACHES_NAME_BYTES]; /* of its section */
    enum caches_tlb_place place;
    unsigned sides;            /* enum caches_tlb_sides, or-ed; a page-walk cache serves all */
    unsigned holds;            /* enum caches_tlb_holds, or-ed; a first level pages, a page-walk cache pointers */
    uint32_t entries, ways;    /* entries / ways sets, a power of two */
    enum caches_policy policy; /* one of TLBs */
    uint8_t fold; /* 0: set = low bits of the number of the page (or of the table entry's region); else these are xor-ed
                   * with as many from this bit on */
    uint32_t latency_cycles; /* on top of the level above; for reports, changes no count */
};

struct caches_machine {
    char name[64];
    char description[256];
    char directory[1024]; /* of the file it was read from: base-sequence files are looked up there */
    uint32_t line_bytes;  /* power of two, the same on every level */
    uint64_t physical_bytes;
    /* For reports, 0: not known; without the first nothing is known of the paths either. */
    uint32_t instruction_rate, flop_rate; /* thousandths in a cycle, at most */
    uint32_t clock_mhz;
    struct caches_path memory; /* to the last level */
    uint32_t sharing_cycles;   /* that a block takes from one core's cache to another's */
    uint32_t cores;            /* each has its own of every level that is not shared, and of the TLBs; 0 is 1 */
    uint32_t filter_lines,
        filter_ways; /* of several cores the snoop filter's, all slices together; 0: without bounds */
    bool has_l1i;
    struct caches_level l1i;
    uint32_t level_count; /* data path, 1..CACHES_MAX_LEVELS */
    struct caches_level levels[CACHES_MAX_LEVELS];
    uint32_t tlb_count; /* 0: translations are free */
    struct caches_tlb tlbs[CACHES_MAX_TLBS];
    bool walks_cached;    /* page-table entries that walks read go through the caches, else they are only counted */
    uint32_t walks_from;  /* at this level of the data path first */
    uint32_t walk_cycles; /* of one read where they are only counted; 0: not known. For costs, changes no count */
    uint32_t hints[CACHES_PREFETCH_FOR_WRITE]; /* [enum caches_instruction]: which level of the data path a prefetch
                                                * with the hint fills; behind the last one is the last */
    uint32_t combining;                        /* buffers of a core that combine writes, at least 1 */
};

#define CACHES_MAX_CORES 64u
#define CACHES_MAX_COHERENT_LINE 64u                                 /* bytes of a line, of several cores */
uint32_t caches_machine_cores(const struct caches_machine *machine); /* at least 1 */
/* Levels of the data path that each core has for itself. */
uint32_t caches_machine_private(const struct caches_machine *machine);
/* Whether any level has a prefetcher; and the same machine without. */
bool caches_machine_prefetches(const struct caches_machine *machine);
struct caches_machine caches_machine_plain(const struct caches_machine *machine);
/* Whether a store may go on from a level, or past it; then no access may be taken for a repeat of the one before. */
bool caches_machine_writes_on(const struct caches_machine *machine);
/* Whether anything of it depends on caches_set_instruction(). */
bool caches_machine_hears_instructions(const struct caches_machine *machine);
/* The ways that an access of the core may fill, as bits. */
uint64_t caches_level_ways_of(const struct caches_level *level, uint32_t core);
/* sets of one slice: size / (ways * line * slices) */
uint32_t caches_level_sets(const struct caches_machine *machine, const struct caches_level *level);
/* Pages of 4 KiB whose lines lie in other sets of a slice: a frame's colour is its number modulo this. At least 1. */
uint32_t caches_level_colors(const struct caches_machine *machine, const struct caches_level *level);

/* What makes an access wait, in cycles by the machine's latencies: of one event, and of many. They are what accesses
 * would wait one after the other, no time (cost.c). Levels by number: those of the data path, L1I behind them. */
struct caches_costs {
    uint32_t miss[CACHES_MAX_LEVELS + 1];  /* none of coherence; */
    uint32_t taken[CACHES_MAX_LEVELS + 1]; /* those of coherence */
    uint32_t upgrade;                      /* a write of a core to a line that it had and might not write */
    uint32_t second_tlb;                   /* a miss of the first level of the TLBs; 0: there is no second */
    uint32_t walk_read;                    /* a read of a page-table entry, as far as the first level that it asks */
};
struct caches_costs caches_costs(const struct caches_machine *machine);
struct caches_cost {
    uint64_t caches;       /* misses of the levels but for those of coherence; those of cached walks too */
    uint64_t translations; /* misses of the first level of the TLBs */
    uint64_t walks;        /* their reads */
    uint64_t coherence;    /* coherence misses, and upgrades */
};
/* From load to use, of a level of the data path; behind the last one memory's. Where the machine does not give all of
 * them, those that stand in for them. */
uint32_t caches_latency(const struct caches_machine *machine, uint32_t level);
uint64_t caches_cost_sum(const struct caches_cost *cost);
void caches_cost_add(struct caches_cost *to, const struct caches_cost *more);
struct caches_counts;
void caches_cost_level(struct caches_cost *to, const struct caches_costs *costs, uint32_t number,
                       const struct caches_counts *counts);

/* ------------------------------------------------------------------ counts of a level
 * One row a counter: field, JSON key, what it counts. All are counts of line accesses. */
/* clang-format off */
#define CACHES_COUNTERS(X) \
    X(accesses, "line accesses that reached the level") \
    X(hits, "found here") \
    X(misses, "not found here") \
    X(reads, "accesses on behalf of a read or an instruction fetch") \
    X(read_misses, "misses on behalf of a read or an instruction fetch") \
    X(writes, "accesses on behalf of a write") \
    X(write_misses, "misses on behalf of a write") \
    X(cold, "misses of lines the level was never asked for before in the run") \
    X(capacity, "misses that a fully associative LRU cache of the same size has as well") \
    X(conflict, "misses that a fully associative LRU cache of the same size does not have") \
    X(coherence, "misses of lines that another core's write took away") \
    X(fa_misses, "misses of the fully associative shadow, cold ones included") \
    X(fa_only_misses, "hits here that the shadow misses") \
    X(writebacks, "dirty victims written to the next level") \
    X(back_invalidations, "lines taken from levels above because this inclusive level evicted them")
/* Of machines that write on, 0 on others. */
#define CACHES_STORE_COUNTERS(X) \
    X(write_throughs, "stores that it had or took and passed on to the next level: write = through") \
    X(write_arounds, "stores that it missed and left to the next level: allocate = no")
/* clang-format on */

struct caches_counts {
#define X(field, help) uint64_t field;
    CACHES_COUNTERS(X)
    CACHES_STORE_COUNTERS(X)
#undef X
};

/* ------------------------------------------------------------------ the hierarchy */
enum caches_class { CACHES_HIT, CACHES_COLD, CACHES_CAPACITY, CACHES_CONFLICT, CACHES_COHERENCE };
enum caches_side { CACHES_DATA, CACHES_FETCH }; /* enters at L1D, or at L1I (only where has_l1i) */

/* What happened to one line access at one level. */
struct caches_event {
    enum caches_class class_;
    uint32_t set_number;   /* of a miss only: the set, those of all slices counted through, from 0 */
    uint32_t victim_set;   /* likewise of the line that was evicted to make room, */
    struct line_no victim; /* and its physical line number; see caches_outcome.evicted */
    uint64_t evictor; /* of a miss only: the actor that made this level lose the line last; 0: nobody known (the line
                         was never here, the actor was 0, evictors are not kept) */
};
/* What happened to one line access. A hit in the first level asked fills depth, served_by and the class of that level,
 * and nothing else. After a miss event[i] is filled for every level asked, i = 0 (L1D or L1I; walks_from for a page
 * walk) .. depth-1; evicted speaks of every level from there down to the machine's last: a victim may push another out
 * of an exclusive level further down. */
struct caches_outcome {
    uint32_t depth;     /* 1 + the last level asked */
    uint32_t served_by; /* level index that had the line; level_count = memory */
    uint32_t evicted;   /* bit i: level i evicted a valid line to make room, event[i].victim */
    bool upgraded;      /* of several cores, alone: a write to a line that the core had and might not write */
    bool filtered; /* of several cores: their own levels have lost filtered_line, for which the filter had no room */
    struct line_no filtered_line;
    struct caches_event event[CACHES_MAX_LEVELS];
};

struct caches;
/* The machine is copied; it must obey the rules that machine/ checks. seed: master seed; the policy of
 * level NAME draws from the consumer "cache NAME". */
enum c2_status caches_create(struct caches **out, const struct caches_machine *machine, uint64_t seed,
                             struct c2_error *err);
void caches_destroy(struct caches *caches);

/* One line access. virtual_line and physical_line are addresses divided by line_bytes; the level's index key says
 * which one selects its set, tags are always physical. Where a level is virtually indexed the two must agree below the
 * page (4 KiB); physical lines lie below 2^58. A fetch never writes. *outcome may be NULL (faster). Fails only for
 * want of host memory; then no count has changed and the hierarchy may only be destroyed. */
enum c2_status caches_access(struct caches *caches, enum caches_side side, bool write, struct line_no virtual_line,
                             struct line_no physical_line, struct caches_outcome *outcome, struct c2_error *err);

/* One level's miss of an access of which more is not told (caches_fast.h). bits: below 1 << CACHES_BRIEF_BITS. */
#define CACHES_BRIEF_BITS 16u
struct caches_brief {
    uint32_t actor, evictor; /* low halves of the words; the evictor as in struct caches_event */
    uint16_t bits;           /* the caller's */
    bool same_high;          /* the words' upper halves are the same */
    uint8_t level;           /* that missed: of the data path; L1I has the number behind those */
    uint8_t class_;          /* enum caches_class */
};

/* Who makes the accesses that follow: any word but 0 (0: nobody). Kept with each line that these accesses make a level
 * lose (victims of fills, insertions, back-invalidations, moves out of an exclusive level, take-overs of synonyms);
 * needs caches_keep_evictors(). */
void caches_set_actor(struct caches *caches, uint64_t actor);
/* Before the first access: each level remembers for each line who made it lose that line last. Costs 8 bytes a line
 * and level; where verdicts can be deferred 2, from the first word of more than 16 bits on 4, and as much again near
 * words of more than 32. */
enum c2_status caches_keep_evictors(struct caches *caches, struct c2_error *err);

/* The instruction that makes the data accesses that follow, for stride prefetchers and SHiP; 0: none that they know. */
void caches_set_instruction(struct caches *caches, struct guest_va pc);

/* Of a machine that writes on (caches_machine_writes_on): the stores that the last access has passed on from a level
 * that has or has taken its line. Each is an access of the next level, and so on down, with an outcome that begins at
 * the level `first`, as that of a page walk does. In order, `first` ascending; lent until the next access. */
struct caches_stored {
    uint32_t first;
    struct caches_outcome outcome;
};
const struct caches_stored *caches_stored(const struct caches *caches, size_t *count);

/* Adds n line accesses that the caller knows to be repeats of its last access on the data side (same virtual and
 * physical line, nothing between them on either side): hits, which a policy sees as one. write: they are stores.
 * This is the common case; the twin test runs with and without it. Not on machines that prefetch, where what followed
 * the access may have evicted its line, nor on those that write on. */
void caches_repeat(struct caches *caches, bool write, uint64_t n);

/* A page walk's read of a page-table entry, by its physical line; enters at the machine's walks_from. It is a read
 * access of the levels asked, classes and all. A repeat may not follow before the next data access. *served_by: the
 * level that had it, level_count = memory. *outcome may be NULL. Fails as caches_access() does. */
enum c2_status caches_walk(struct caches *caches, struct line_no physical_line, uint32_t *served_by,
                           struct caches_outcome *outcome, struct c2_error *err);

/* ------------------------------------------------------------------ prefetches
 * What prefetchers do is no access: it is in no caches_counts but as what follows from other contents (write-backs,
 * back-invalidations). One row a counter of a prefetcher of a level; polluting: of prefetches of that kind by any
 * level. issued = useful + useless + those that are there still, not asked for. prefetch.c has the model. */
/* clang-format off */
#define CACHES_PREFETCH_COUNTERS(X) \
    X(issued, "lines fetched into the level ahead of any access") \
    X(present, "requests dropped because the level had the line") \
    X(stopped, "requests not made because the line lies in another 4 KiB page") \
    X(from_memory, "of those issued: lines that no level had") \
    X(useful, "prefetched lines that were asked for before they left the level") \
    X(useless, "prefetched lines that left the level without having been asked for") \
    X(polluting, "accesses that missed in the level because a prefetch had pushed the line out")
/* clang-format on */
struct caches_prefetch_counts {
#define X(field, help) uint64_t field;
    CACHES_PREFETCH_COUNTERS(X)
#undef X
};
/* Of data-path level i, of L1I the number behind them; only of machines that prefetch. Lent until destroy. */
const struct caches_prefetch_counts *caches_prefetch_counts(const struct caches *caches, uint32_t level,
                                                            enum caches_prefetcher prefetcher);

enum caches_prefetch_what {
    CACHES_PREFETCH_ISSUED,
    CACHES_PREFETCH_PRESENT,
    CACHES_PREFETCH_STOPPED, /* `line` is the access's */
    CACHES_PREFETCH_USEFUL,
    CACHES_PREFETCH_USELESS,
    CACHES_PREFETCH_POLLUTING, /* an access of `line` misses */
    CACHES_PREFETCH_EVICTED,   /* `line` made room at this level for what a prefetch has brought */
    CACHES_PREFETCH_FILTERED,  /* of several cores: their own levels have lost `line` for that, as in an outcome */
    CACHES_PREFETCH_CLAIMED,   /* by an instruction: all other cores have lost `line` */
    CACHES_PREFETCH_FLUSHED,   /* likewise: all levels have */
};
struct caches_prefetched {
    enum caches_prefetch_what what;
    enum caches_prefetcher prefetcher;
    uint32_t level; /* L1I has the number behind those of the data path; of what is new, the accessing core's */
    uint32_t set;   /* EVICTED: as victim_set of an event */
    uint32_t actor; /* of the access that the prefetch followed: the low half of its word; of an instruction its tag */
    uint32_t served_by; /* ISSUED: the level that had it, level_count = memory */
    bool by_passing;    /* ISSUED: of the levels between these, inclusive ones alone are filled */
    struct line_no line;
};
/* What happened behind the last access, walk or instruction and in it, in order; lent until the next one. None on
 * machines that do not prefetch, while there was no instruction. */
const struct caches_prefetched *caches_prefetched(const struct caches *caches, size_t *count);

/* ------------------------------------------------------------------ instructions made for caches
 * One row a counter of one instruction, by the caller's number of it. instructed.c has the model. */
/* clang-format off */
#define CACHES_INSTRUCTED_COUNTERS(X) \
    X(executed, "line operations: of a prefetch, flush or write-back one an execution, of stores one a line") \
    X(nowhere, "prefetches of pages that are not there") \
    X(present, "prefetches of lines that their level, or a nearer one, had") \
    X(issued, "prefetches that fetched a line") \
    X(from_memory, "of those issued: lines that no level had") \
    X(useful, "prefetched lines that were asked for before they left the level") \
    X(late, "of the useful ones: asked for before they could be there") \
    X(late_ahead, "instructions that these were ahead, summed up") \
    X(late_cycles, "that accesses still waited for them, one after the other") \
    X(useless, "prefetched lines that left the level without having been asked for") \
    X(polluting, "accesses that missed in a level because a prefetch had pushed the line out") \
    X(cached, "flushes, write-backs and stores past the caches of lines that a cache had") \
    X(written_back, "of these: lines that were dirty") \
    X(refetched, "accesses that missed lines which a store past the caches had taken out of them shortly before") \
    X(bytes, "stored past the caches") \
    X(full, "lines written to memory whole") \
    X(partial, "lines written to memory in pieces") \
    X(partial_bytes, "bytes of those")
/* clang-format on */
struct caches_instructed {
#define X(field, help) uint64_t field;
    CACHES_INSTRUCTED_COUNTERS(X)
#undef X
    enum caches_instruction what; /* that it was last */
};
/* Before the first one: a usual machine becomes one like all others, to the same counts; what is on a tape of the
 * caller's has been heard. Verdicts cannot be deferred any more, and fronts are of no usual machine. Done by itself
 * where there is no such tape. Again: nothing. */
enum c2_status caches_instructed_begin(struct caches *caches, struct c2_error *err);
/* When the accesses and instructions that follow are made: instructions that the core has begun. After the former. */
void caches_set_clock(struct caches *caches, uint64_t now);
/* No access, and none of its counts; a repeat may not follow before the next data access. Where there are several cores
 * it is the current one's. tag: small, it is an index. Both names of the line as in caches_access(). */
enum c2_status caches_instruct(struct caches *caches, enum caches_instruction what, struct line_no virtual_line,
                               struct line_no physical_line, uint32_t tag, struct c2_error *err);
/* The same of a prefetch whose page is not there. */
enum c2_status caches_instruct_nowhere(struct caches *caches, enum caches_instruction what, uint32_t tag,
                                       struct c2_error *err);
/* A non-temporal store of bytes of one line, from `first` on. */
struct caches_past {
    struct line_no line; /* physical */
    uint32_t first, bytes;
};
enum c2_status caches_store_past(struct caches *caches, const struct caches_past *store, uint32_t tag,
                                 struct c2_error *err);
/* What waits in buffers is written out; at the end. */
void caches_settle_instructed(struct caches *caches);
/* Whether instructions count; they do at first. And their counts so far begin anew. */
void caches_instructed_measure(struct caches *caches, bool on);
void caches_drop_instructed(struct caches *caches);
/* What they have moved so far, measured or not. */
struct caches_instructed_flows {
    uint64_t fetched[CACHES_MAX_LEVELS]; /* lines into a level of the data path, or through it, from below */
    uint64_t past_bytes;                 /* to memory, past the caches */
};
struct caches_instructed_flows caches_instructed_flows(const struct caches *caches);
bool caches_were_instructed(const struct caches *caches); /* measured or not */
/* Counts of instructions, but nothing else, go on where another hierarchy has stopped. */
void caches_instructed_inherit(struct caches *caches, struct caches *from);
/* [tag]; lent until the next instruction. None: 0. */
const struct caches_instructed *caches_instructed(const struct caches *caches, size_t *count);

/* ------------------------------------------------------------------ several cores
 * Of a machine with several; coherence.c and bytes.c have the model. One row a counter of a core. */
/* clang-format off */
#define CACHES_CORE_COUNTERS(X) \
    X(coherence_misses, "accesses that missed a level because another core's write had taken the line") \
    X(true_sharing, "of these, such that needed what other cores had written") \
    X(false_sharing, "of these, such that did not: what they needed lies in one line with what others wrote") \
    X(upgrades, "writes to a line that the core had and might not write (S to M)") \
    X(invalidations_sent, "lines of other cores that its writes took") \
    X(invalidations_received, "lines that the writes of other cores took from it") \
    X(interventions, "dirty lines of other cores that its accesses needed") \
    X(interventions_given, "dirty lines of it that other cores' accesses needed") \
    X(forwards, "of the interventions: lines that no shared level had, so that the miss there read no memory") \
    X(prefetch_downgrades, "lines that its prefetchers made another core share: its next write has to ask") \
    X(prefetches_taken, "lines that its prefetchers had brought, and others' writes took before it asked for them") \
    X(filter_evictions, "entries of the snoop filter that made room for what it asked for") \
    X(filter_invalidations, "lines that it lost because their entry of the snoop filter made room")
/* clang-format on */
struct caches_core_counts {
#define X(field, help) uint64_t field;
    CACHES_CORE_COUNTERS(X)
#undef X
};
/* A level of a core: lines that writes of other cores took from it, dirty ones that they needed, and lines that it lost
 * to the snoop filter. */
struct caches_core_level {
    uint64_t invalidations, interventions, filter_invalidations;
};
/* Who makes the accesses that follow: to be called before each. */
struct caches_origin {
    uint32_t core, tag;    /* tag: to find the access by; an instruction, say */
    uint32_t first, bytes; /* of the line, those that are accessed: at least one */
};
void caches_on_core(struct caches *caches, const struct caches_origin *origin);
/* Whether cores' counts and what is known of shared lines go on; they do at first. */
void caches_measure(struct caches *caches, bool on);
uint64_t caches_upgrades(const struct caches *caches); /* so far, measured or not; of one core 0 */
void caches_drop_shared(struct caches *caches);        /* they begin anew */
/* After the last access: misses of which it is not known are false sharing. C2_ERR_NO_MEMORY. */
enum c2_status caches_settle_shared(struct caches *caches, struct c2_error *err);
/* Lent until destroy. Levels of the data path that are a core's own; L1I has the number behind all of them. */
const struct caches_core_counts *caches_core_counts(const struct caches *caches, uint32_t core);
const struct caches_core_level *caches_core_level(const struct caches *caches, uint32_t core, uint32_t level);
/* Of data-path level i, or L1I, one core's; of a shared level those of all. Lent until destroy. */
const struct caches_counts *caches_level_counts_of(const struct caches *caches, uint32_t core, uint32_t level);

/* The lines that a core's write took from another, in the order in which that happened first. Bytes are bits of a
 * line's. */
struct caches_shared_user { /* a core, since then */
    uint64_t read, written; /* bytes */
    uint64_t losses;        /* how often the line, or a shadow's, was taken from it */
    uint64_t true_sharing, false_sharing;
};
struct caches_shared_pair { /* both sides of misses */
    uint32_t taker, misser; /* tags: of the write that took the line, of the access that missed */
    uint32_t taker_core, misser_core;
    uint32_t next; /* of the line; 0: none */
    uint64_t taker_bytes, misser_bytes;
    uint64_t true_sharing, false_sharing;
};
struct caches_shared_line {
    struct line_no line;
    uint32_t pairs; /* the first one; 0: none */
};
size_t caches_shared_count(const struct caches *caches);
struct caches_shared_line caches_shared_at(const struct caches *caches, size_t i);
struct caches_shared_user caches_shared_by(const struct caches *caches, size_t i, uint32_t core);
const struct caches_shared_pair *caches_shared_pair(const struct caches *caches, uint32_t pair); /* lent likewise */

/* Counts of data-path level i, or of L1I (only where has_l1i), as they are at the call; of several cores the sums. Lent
 * until destroy. */
const struct caches_counts *caches_level_counts(const struct caches *caches, uint32_t level);
const struct caches_counts *caches_l1i_counts(const struct caches *caches);
const struct caches_machine *caches_machine(const struct caches *caches);

/* ------------------------------------------------------------------ a look at one set
 * For those who show what a set holds and why a way of it makes room; nothing changes. look.c has the model. */
struct caches_way {
    bool holds, dirty;
    struct line_no line; /* physical; where it holds one */
    uint32_t order; /* lru, fifo: so many ways of the set were touched (fifo: filled) later; of an empty one more than
                     * of all that hold a line */
    uint32_t value; /* nru: its bit; srrip, brrip, drrip, ship: its prediction, 0 to 3; else 0 */
};
enum caches_duelist { CACHES_FOLLOWER, CACHES_SRRIP_LEADER, CACHES_BRRIP_LEADER };
struct caches_set {
    enum caches_policy policy;
    uint32_t ways;
    bool by_age;      /* ways are listed by `order`, and have no numbers; else by number */
    uint64_t allowed; /* bit w: the core's accesses may fill way w */
    uint32_t victim;  /* the way that the core's next fill of the set takes, in this list; it may hold nothing */
    uint64_t tree;    /* tree-plru: bit n: that of node n, 1 the root, 2n and 2n+1 the children of n; 1: points right */
    enum caches_duelist role; /* drrip: of this set; */
    uint32_t selector;        /* and where the duel stands, 0 to 1023 */
    struct caches_way way[CACHES_MAX_WAYS];
};
/* Level i of the data path, as a core sees it; L1I has the number behind those. set: those of all slices counted
 * through, from 0, as in struct caches_event. */
void caches_look(struct caches_set *out, const struct caches *caches, uint32_t core, uint32_t level, uint32_t set);
struct caches_place {
    uint32_t slice, index; /* the set's number in its slice; */
    uint32_t set;          /* through all slices */
};
struct caches_place caches_place_of(const struct caches *caches, uint32_t level, struct line_no virtual_line,
                                    struct line_no physical_line);

/* Invariants of every structure; asserts. Slow. */
void caches_check(const struct caches *caches);
void caches_dump(const struct caches *caches, FILE *to);

/* ------------------------------------------------------------------ TLBs
 * The translation lookaside buffers and page-walk caches of one core, as a machine describes them. Give them a side, a
 * virtual address and the number of page-table entries on the way to its page, and they say how many of these a walk
 * would read. They keep no translations, only which pages they would have. */
struct caches_tlbs;
/* The descriptions are copied; at most CACHES_MAX_TLBS. C2_ERR_INVALID names the TLB and the rule it breaks. */
enum c2_status caches_tlbs_create(struct caches_tlbs **out, const struct caches_tlb *tlbs, uint32_t count,
                                  struct c2_error *err);
void caches_tlbs_destroy(struct caches_tlbs *tlbs);

/* Whether the side has a first level; only then may it access. */
bool caches_tlbs_has(const struct caches_tlbs *tlbs, enum caches_tlb_side side);
/* Whether loads and stores have first levels of their own. */
bool caches_tlbs_split(const struct caches_tlbs *tlbs);

struct caches_tlb_found; /* caches_fast.h */
/* One access to a page. entry_count: page-table entries from the root to its leaf: 4, 3, 2 for pages of 4K, 2M, 1G.
 * Returns how many of them, the last ones, a walk reads; 0: no walk. *found says where the page is then; it may be
 * NULL. If it is not, it is what the last access to the page has left there, or caches_tlb_nowhere. */
unsigned caches_tlbs_access(struct caches_tlbs *tlbs, enum caches_tlb_side side, struct guest_va va,
                            unsigned entry_count, struct caches_tlb_found *found);
/* Accesses so far that the first level missed, of all sides. Lent until destroy, current after each access. */
const uint64_t *caches_tlbs_first_misses(const struct caches_tlbs *tlbs);
/* INVLPG of every page of the range: drops the entries of pages that touch it, and all that page-walk caches hold. Says
 * how many entries of pages there were. */
uint32_t caches_tlbs_forget(struct caches_tlbs *tlbs, struct guest_va start, uint64_t bytes);

struct caches_tlb_counts {
    uint64_t accesses, misses;
};
struct caches_walk_counts {
    uint64_t count; /* misses of the last level there is */
    uint64_t reads; /* of page-table entries */
};
/* All lent until destroy; i counts in the order of creation. */
uint32_t caches_tlbs_count(const struct caches_tlbs *tlbs);
const struct caches_tlb *caches_tlbs_at(const struct caches_tlbs *tlbs, uint32_t i);
const struct caches_tlb_counts *caches_tlbs_counts(const struct caches_tlbs *tlbs, uint32_t i);
const struct caches_walk_counts *caches_tlbs_walks(const struct caches_tlbs *tlbs);
/* Bytes that a TLB full of pages of one size translates; 0 if it does not hold them. */
uint64_t caches_tlb_coverage(const struct caches_tlb *tlb, enum caches_tlb_kind page);

void caches_tlbs_check(const struct caches_tlbs *tlbs);
void caches_tlbs_dump(const struct caches_tlbs *tlbs, FILE *to);

#endif
