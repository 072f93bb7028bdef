/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * caches: a multi-level cache hierarchy of one core or several, with slices, replacement policies, inclusion, and a
 * fully associative shadow beside each level that classifies every miss. A library in its own right: give it virtual
 * and physical line numbers, read the counts. What a machine is stands in caches_machine.h, its TLBs in caches_tlb.h;
 * caches_fast.h has what sim/ alone needs.
 */
#ifndef C2_CACHES_H
#define C2_CACHES_H

#include "caches/caches_machine.h"

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
    uint64_t evictor; /* of a miss only: the access site that made this level lose the line last; 0: unknown (the line
                         was never here, the access site was 0, evictors are not kept) */
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

/* One level's miss of an access of which more is not told (caches_fast.h). bits: below 1 << CACHES_COMPACT_BITS. */
#define CACHES_COMPACT_BITS 16u
struct caches_compact {
    uint32_t access_site, evictor; /* low halves of the words; the evictor as in struct caches_event */
    uint16_t bits;                 /* the caller's */
    bool same_high;                /* the words' upper halves are the same */
    uint8_t level;                 /* that missed: of the data path; L1I has the number behind those */
    uint8_t class_;                /* enum caches_class */
};

/* The access site of the accesses that follow: any word but 0 (0: none). Kept with each line that these accesses make a
 * level lose (victims of fills, insertions, back-invalidations, moves out of an exclusive level, take-overs of
 * synonyms); needs caches_keep_evictors(). */
void caches_set_access_site(struct caches *caches, uint64_t access_site);
/* Before the first access: each level records for each line which access site made it lose that line last. Costs 8
 * bytes a line and level; where classes can be deferred 2, from the first word of more than 16 bits on 4, and as much
 * again near words of more than 32. */
enum c2_status caches_keep_evictors(struct caches *caches, struct c2_error *err);

/* The instruction that makes the data accesses that follow, for stride prefetchers and SHiP; 0: none that they know. */
void caches_set_instruction(struct caches *caches, struct guest_va pc);

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
    uint32_t
        access_site; /* of the access that the prefetch followed: the low half of its word; of an instruction its tag */
    uint32_t served_by; /* ISSUED: the level that had it, level_count = memory */
    bool by_passing;    /* ISSUED: of the levels between these, inclusive ones alone are filled */
    struct line_no line;
};

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
/* What they have moved so far, measured or not. */
struct caches_instructed_flows {
    uint64_t fetched[CACHES_MAX_LEVELS]; /* lines into a level of the data path, or through it, from below */
    uint64_t past_bytes;                 /* to memory, past the caches */
};
bool caches_were_instructed(const struct caches *caches); /* measured or not */
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
/* The access site of the accesses that follow: to be called before each. */
struct caches_origin {
    uint32_t core, tag;    /* tag: to find the access by; an instruction, say */
    uint32_t first, bytes; /* of the line, those that are accessed: at least one */
};
void caches_on_core(struct caches *caches, const struct caches_origin *origin);
/* Lent until destroy. Levels of the data path that are a core's own; L1I has the number behind all of them. */
const struct caches_core_counts *caches_core_counts(const struct caches *caches, uint32_t core);
const struct caches_core_level *caches_core_level(const struct caches *caches, uint32_t core, uint32_t level);

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
 * For displays of what a set holds and of why a way of it makes room; nothing changes. look.c has the model. */
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

#endif
