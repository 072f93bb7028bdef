/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sim: the simulated memory system. Eats batches of the reference stream, translates, asks the caches, counts, and
 * tells observers. Knows neither engines nor ELF.
 */
#ifndef C2_SIM_H
#define C2_SIM_H

#include "base/base.h"
#include "caches/caches.h"
#include "mmu/mmu.h"
#include "mmu/tlb.h"
#include "stream/stream.h"

/* Counts of references (not line accesses): one row a counter, in report.json's order. */
/* clang-format off */
#define SIM_COUNTERS(X) \
    X(instructions, "guest instructions completed") \
    X(refs, "data references: reads + writes") \
    X(reads, "references that read") \
    X(writes, "references that write") \
    X(modifies, "instructions' accesses that read and then write the same bytes (one read and one write)") \
    X(fetches, "instruction fetches, one an instruction") \
    X(line_accesses, "data line accesses: one for each line a reference touches") \
    X(straddles, "references that touch more than one line")
/* clang-format on */

struct sim_counts {
#define X(field, help) uint64_t field;
    SIM_COUNTERS(X)
#undef X
};

enum sim_kind { SIM_READ, SIM_WRITE, SIM_FETCH, SIM_WALK /* a page walk's read of a table */ };

/* One reference, as an observer sees it. A reference that crosses a page has two parts. */
struct sim_reference {
    enum sim_kind kind;
    uint32_t tid;
    uint32_t size; /* bytes, of the whole reference */
    struct guest_va pc, va;
    uint32_t parts; /* 1, or 2 (a 512-byte FXSAVE crosses one page boundary at most) */
    struct {
        struct guest_va va;
        struct guest_pa pa;
        uint32_t size;
    } part[2];
};

/* Who wants to see all of it, in program order. Either function may be NULL. */
struct sim_observer {
    void *self;
    /* Every reference (fetches too), just before the caches get it. */
    enum c2_status (*reference)(void *self, const struct sim_reference *reference, struct c2_error *err);
    /* Every record of a block, before it is simulated; sim_counts() is current then. words: its slots. */
    enum c2_status (*record)(void *self, const struct stream_block *block, uint32_t insns_run, const uint64_t *words,
                             struct c2_error *err);
};

/* ------------------------------------------------------------------ attribution
 * For runs that want to know who missed, whose memory it was, and who is to blame. An instruction of a block has a
 * code number, counting from 0 in the order in which blocks were first simulated; where blocks overlap or code changes,
 * an address has several. */
struct sim_code {
    struct guest_va pc;
    uint64_t executed, reads, writes;
};

/* One line access that the first level missed. */
struct sim_miss {
    uint64_t number; /* of the line access: of those that are no repeats of the line before, the walks' reads left out.
                       * The same for every simulator of one stream, one line size and one set of TLBs */
    uint32_t code;
    enum sim_kind kind; /* WALK: on behalf of an access of `code`, which follows */
    struct guest_va va; /* its first byte in the line; WALK: what is to be translated */
    uint64_t actor;
    uint32_t first;     /* depth of the first level asked: 0, but for walks that enter further down. Levels
                         * first .. outcome->served_by - 1 missed */
    uint32_t page_log2; /* of the page that va lies in, in bytes */
    const struct caches_outcome *outcome; /* evictors are actors */
};

/* Whose memory: where its references are counted, and from where to where that holds. start <= va < end. */
struct sim_owner {
    uint64_t *refs;
    uint64_t start, end;
};

/* Each function is called on the thread that consumes, in program order. All but `missed` may be NULL. */
struct sim_attribution {
    void *self;
    /* The block is simulated for the first time: before its first access. */
    void (*block)(void *self, const struct stream_block *block);
    /* The data at va; the answer holds until a mark says otherwise, or sim_forget(). */
    void (*owner)(void *self, struct guest_va va, struct sim_owner *out);
    /* The word to blame for what an access makes the levels lose; not 0. Called for accesses that the first level does
     * not have at once, nearly all of them misses. */
    enum c2_status (*actor)(void *self, uint32_t code, enum sim_kind kind, struct guest_va va, uint64_t *out,
                            struct c2_error *err);
    enum c2_status (*missed)(void *self, const struct sim_miss *miss, struct c2_error *err);
    /* The first level of the TLBs did not have va's page; walked: nor had the second. Before the line access that
     * needs the translation. A store is a READ here. */
    enum c2_status (*tlb_missed)(void *self, uint32_t code, enum sim_kind kind, struct guest_va va, bool walked,
                                 struct c2_error *err);
    /* What the mark changes is [*start, *start + *bytes), to be filled in; 0 bytes: nothing. */
    enum c2_status (*mark)(void *self, enum stream_mark mark, const uint64_t *words, uint64_t *start, uint64_t *bytes,
                           struct c2_error *err);
};

/* How virtual addresses become physical ones: false = the page is absent. Called on the thread that consumes. */
struct sim_translation {
    const void *self;
    bool (*translate)(const void *self, struct guest_va va, struct guest_pa *out);
    bool (*walk)(const void *self, struct guest_va va, struct mmu_walk *out); /* NULL: every page has 4 KiB, and
                                                                               * walks cannot be cached */
};
struct sim_translation sim_translation_mmu(const struct mmu *mmu); /* mmu_translate, mmu_walk */

struct sim_config {
    const struct caches_machine *machine; /* copied; lines of 8 bytes up to a page */
    uint64_t seed;
    struct sim_translation translation;
    const struct stream_blocks *blocks;
    const struct sim_observer *observers; /* copied; may be none */
    size_t observer_count;
    const struct sim_attribution *attribution; /* copied; NULL: nobody wants to know */
    bool fifo_detector;                        /* of the caches */
};

struct sim;
enum c2_status sim_create(struct sim **out, const struct sim_config *config, struct c2_error *err);
void sim_destroy(struct sim *sim);

enum c2_status sim_consume(struct sim *sim, const struct stream_batch *batch, struct c2_error *err);
struct stream_sink sim_sink(struct sim *sim); /* sim_consume behind a sink; drain does nothing */
/* Translations of this range may have changed: forget them. Only between batches (after a drain). The simulated TLBs
 * lose them as well; but for those this concerns the host's memory of translations only. */
void sim_forget(struct sim *sim, struct guest_va start, uint64_t bytes);

const struct sim_counts *sim_counts(const struct sim *sim); /* lent until destroy */
const struct caches *sim_caches(const struct sim *sim);     /* lent until destroy */
const struct mmu_tlb *sim_tlb(const struct sim *sim);       /* lent until destroy; NULL: the machine has none */
/* Reads of walks that go through the caches, by the level that served them; [level_count] is memory. Lent until
 * destroy. */
const uint64_t *sim_walk_reads(const struct sim *sim);
/* The memory of this range has other owners than before: to be told whoever attributes, between batches. */
void sim_owners_changed(struct sim *sim, struct guest_va start, uint64_t bytes);

/* With attribution: the instructions simulated so far, by code number; what they did up to sim_codes_settle(). */
size_t sim_code_count(const struct sim *sim);
void sim_codes_settle(struct sim *sim);
struct sim_code sim_code_at(const struct sim *sim, uint32_t code);
/* The counts agree with each other and with those of the caches; asserts. */
void sim_check(const struct sim *sim);
void sim_dump(const struct sim *sim, FILE *to);

#endif
