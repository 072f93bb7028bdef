/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * caches_machine: what a machine's caches and TLBs are - levels, policies, slice hashes, prefetchers, latencies - as
 * plain data, and what follows from the description alone. Machine descriptions come from INI files (machine/).
 */
#ifndef C2_CACHES_MACHINE_H
#define C2_CACHES_MACHINE_H

#include "base/base.h"

#define CACHES_MAX_LEVELS 6 /* levels of the data path, L1D first; L1I is beside L1D */
#define CACHES_MAX_WAYS 64
#define CACHES_NAME_BYTES 16

/* Replacement: the constant, the word of machine files and reports, and which caches may have it; policy.c says what
 * each does. */
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
 * "none" and "modulo", which no machine has. */
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
/* The requester, and sets of requesters. */
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

#endif
