/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sim: the simulated memory system. Eats batches of the reference stream, translates, asks the caches, counts, and
 * tells its subscribers. Knows neither engines nor ELF, nor any analysis by name.
 */
#ifndef C2_SIM_H
#define C2_SIM_H

#include "base/base.h"
#include "caches/caches.h"
#include "caches/caches_tlb.h"
#include "mmu/replica.h"
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

/* One reference, as subscribers see it. A reference that crosses a page has two parts. */
struct sim_reference {
    enum sim_kind kind;
    uint32_t tid;
    uint32_t size; /* bytes, of the whole reference */
    uint32_t code; /* its instruction's number, where these are kept; else 0 */
    struct guest_va pc, va;
    bool past;      /* a non-temporal store: no level is asked */
    uint32_t parts; /* 1, or 2 (a 512-byte FXSAVE crosses one page boundary at most) */
    struct {
        struct guest_va va;
        struct guest_pa pa;
        uint32_t size;
    } part[2];
};

/* Records behind each other, without a mark among them, of one thread; may be none. A loop over them:
 * sim_record_behind(), sim_executed_at(). */
struct sim_records {
    struct sim *sim;                    /* for sim_notify_pending() */
    const struct stream_blocks *blocks; /* theirs */
    const uint64_t *words, *end;        /* headers and slots */
    uint32_t tid;
    bool missing; /* a miss of the caches or of the TLBs follows, in a phase that is measured */
};

/* One record of a block. */
struct sim_executed {
    const struct stream_block *block;
    uint32_t number;       /* of the block */
    uint32_t insns_run;    /* of its instructions, from the first one on */
    const uint64_t *words; /* its slots */
    uint32_t tid;
};
static inline const uint64_t *sim_record_behind(const uint64_t *record)
{
    return record + 1 + stream_header_slots(*record);
}
/* How many of its instructions were completed: of one of no bytes this is unknown. */
static inline uint64_t sim_completed(const struct sim_executed *record)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < record->insns_run; i++)
        count += record->block->insns[i].length != 0;
    return count;
}
static inline struct sim_executed sim_executed_at(const struct sim_records *records, const uint64_t *record)
{
    const uint32_t number = stream_header_block(*record);
    return (struct sim_executed){stream_blocks_at(records->blocks, number), number, stream_header_insns(*record),
                                 record + 1, records->tid};
}

/* An instruction of a block has a code number, counting from 0 in the order in which blocks were first simulated; where
 * blocks overlap or code changes, an address has several. Kept for listeners of misses, and for attribution. */
struct sim_code {
    struct guest_va pc;
    uint64_t executed, reads, writes;
};

/* One line access, before any level is asked. */
struct sim_approach {
    uint64_t number; /* as in struct sim_miss */
    uint32_t code;
    enum sim_kind kind;
    struct guest_va va, pc; /* va as in struct sim_miss; pc: of the instruction */
    struct line_no line;    /* as in struct sim_miss; */
    uint32_t first, core;
    bool measured;
    const struct caches *caches; /* as they are; for a look at them */
};

/* One line access that the first level missed. */
struct sim_miss {
    uint64_t number; /* of the line access, the walks' reads left out: the same for every simulator of one stream and
                      * one line size */
    uint32_t code;
    enum sim_kind kind;   /* WALK: on behalf of an access of `code`, which follows */
    struct guest_va va;   /* its first byte in the line; WALK: what is to be translated */
    struct line_no line;  /* its physical line; WALK: that of the entry */
    uint64_t access_site; /* as attributed; 0: no attribution */
    uint32_t first;       /* depth of the first level asked: 0, but for walks that enter further down. Levels
                         * first .. outcome->served_by - 1 missed */
    uint32_t page_log2;   /* of the page that va lies in, in bytes */
    uint32_t entry;       /* WALK: the entry's number in its line */
    uint32_t core;        /* that made the access */
    uint64_t turn;        /* of several cores: so often has a thread begun to run on this one; else 0 */
    bool measured;        /* in a phase that is */
    const struct caches_outcome *outcome; /* evictors are access sites */
};

/* The same where no listener needs more than what missed what: one level's miss, in a phase that is measured. Its
 * bits are read by the functions below. */
#define SIM_COUNTED_KIND 0u    /* 2 bits */
#define SIM_COUNTED_PAGE 2u    /* 6 bits: log2 of the page's bytes */
#define SIM_COUNTED_PLACE 255u /* these two */
#define SIM_COUNTED_IS 8u      /* 1: else the bits are 0, and there is no notice */
/* As sim_attribution.untranslated; each event of the access has them, those of further levels too. */
#define SIM_COUNTED_UNTRANSLATED 9u
#define SIM_COUNTED_READS 10u /* 3 bits */
static inline uint16_t sim_counted_bits(enum sim_kind kind, uint32_t page_log2)
{
    return (uint16_t)((uint32_t)kind << SIM_COUNTED_KIND | page_log2 << SIM_COUNTED_PAGE | 1u << SIM_COUNTED_IS);
}
static inline enum sim_kind sim_counted_kind(const struct caches_compact *miss)
{
    return (enum sim_kind)(miss->bits >> SIM_COUNTED_KIND & 3);
}
static inline uint32_t sim_counted_page_log2(const struct caches_compact *miss)
{
    return miss->bits >> SIM_COUNTED_PAGE & 63;
}
static inline bool sim_counted_untranslated(const struct caches_compact *miss)
{
    return miss->bits >> SIM_COUNTED_UNTRANSLATED & 1;
}
static inline unsigned sim_counted_reads(const struct caches_compact *miss)
{
    return miss->bits >> SIM_COUNTED_READS & 7;
}

/* What the prefetchers have done in one line access and behind it. */
struct sim_prefetched {
    const struct caches_prefetched *events; /* at least one */
    size_t count;
    uint32_t code; /* of the instruction that made the access, what kind it was, and where, as in struct sim_miss */
    enum sim_kind kind;
    struct guest_va va;
    uint32_t core;
    bool measured;
    bool instruction; /* an instruction made for caches has done it, and no access */
};

/* A page that the first level of the TLBs did not have. */
struct sim_tlb_miss {
    uint32_t code;
    enum sim_kind kind; /* FETCH, or READ, which a store is too here */
    struct guest_va va;
    uint64_t access_site; /* as of a miss of the caches */
    uint32_t reads;       /* page-table entries that its walk read; 0: the second level had it, and there was no walk */
};

/* ------------------------------------------------------------------ windows
 * What was counted between two points of the run; window.c has the model. */
struct sim_totals { /* counters of 64 bits and nothing else */
    struct sim_counts counts;
    struct caches_counts levels[CACHES_MAX_LEVELS], l1i; /* zeros: there is no such level */
    struct caches_tlb_counts tlbs[CACHES_MAX_TLBS];      /* likewise */
    uint64_t tlb_misses;                                 /* of the first level of the TLBs */
    struct caches_walk_counts walks;
    uint64_t walk_reads[CACHES_MAX_LEVELS + 1]; /* as sim_walk_reads() */
    uint64_t upgrades;                          /* of several cores, as caches_core_counts has them */
    uint64_t past_lines;                        /* of the line accesses: those of stores past the caches */
    struct caches_instructed_flows flows;       /* what moved for instructions made for caches */
};
void sim_totals_add(struct sim_totals *to, const struct sim_totals *what);

/* Samples: the windows that were measured and are not empty, in order, for callers that need each by itself. */
enum { SIM_CLASSES = 3 };
struct sim_sampled { /* of a level */
    uint64_t accesses, misses,
        classes[SIM_CLASSES]; /* cold, capacity, conflict; of several cores the rest: coherence */
};
struct sim_samples {
    size_t count;
    uint32_t level_count;             /* L1I, where there is one, has the number behind those of the data path */
    const uint64_t *instructions;     /* [sample] */
    const uint64_t *costs;            /* [sample]: sim_cost() of it, summed */
    const struct sim_sampled *levels; /* [sample * level_count + number of the level] */
    const uint64_t *warmed;           /* [likewise]: misses in the warm-ups between the sample before and this one */
};

/* An instruction made for caches, or a store past them: what it did, in what was measured. */
struct sim_instructed {
    struct guest_va pc; /* 0: no attribution, and this is all of them */
    struct caches_instructed of;
};

/* What was measured up to where the program has asked for it (dumps.c). */
#define SIM_DUMP_TEXT 256u
struct sim_dumped {
    uint64_t instructions; /* of the run, there */
    char text[SIM_DUMP_TEXT];
    struct sim_totals of;
};

/* So many instructions in a row of a phase that is measured (sim_subscriber.interval_instructions); the last of a phase
 * may be shorter. interval.c has the model. */
struct sim_interval {
    struct sim_totals of;
    uint32_t rest; /* of the record that was notified last: its last so many instructions are the next interval's */
};

struct sim_window {
    enum stream_phase phase, next; /* the one that is over; the one that begins, at the end of the run the same again */
    struct sim_totals of;          /* may be zeros */
};

/* ------------------------------------------------------------------ subscribers
 * Any function may be NULL. What has no listener costs nothing. All are called in program order, by one thread at a
 * time; of one event, in the order of the list. A failure ends the run.
 * Misses (missed, tlb_missed) may be notified later than what the stream has behind them, and on another thread; but
 * before emptied, dropped, window, batch and finish, and to listeners of other things too before those, unless they are
 * apart (classifier.c).
 * A line access of a reference is notified so: tlb_missed, missed for the reads of its page walk, missed (on machines
 * that prefetch, each time followed by prefetched and unaided). In a phase other than MEASURE there is no notice of
 * references, misses and prefetches, but to listeners of every phase.
 * Records and references are notified many at a time, as late as may be: before marks, windows and intervals, and at
 * the end of a batch, all that have begun. A listener of misses or accesses, too, is notified before each one of the
 * records up to the one that misses, and of the references up to the one whose access it is; one with both functions,
 * record by record, each before its references. How many are notified at a time means nothing, and depends on the host.
 * untranslated is for listeners that count misses by where in the stream they are: told by the thread that asks, where
 * misses may be notified later. A listener of records that is apart, and has to know at some of them which misses
 * were before, has those told then (sim_notify_pending). */
struct sim;
struct sim_subscriber {
    void *self;
    bool in_every_phase; /* hears of references, misses of the caches and prefetches in every phase */
    bool every_walk; /* `missed` hears of each read of a cached walk, be it found at once: served_by is `first` then; */
    bool every_store; /* and the same of the stores that levels pass on */
    bool apart; /* what missed and tlb_missed do has nothing to do with memory, mark, block, record, reference, nor
                          * with attribution: see below */
    /* Memory has appeared; or it is gone, and only the area's start and bytes say anything. */
    enum c2_status (*memory)(void *self, bool appeared, const struct mmu_area *area, struct c2_error *err);
    enum c2_status (*mark)(void *self, enum stream_mark mark, const uint64_t *words, struct c2_error *err);
    /* The marks and records that follow are of another thread, or of the first one that is not of number 1. */
    void (*thread)(void *self, uint32_t tid);
    /* Every record. */
    enum c2_status (*records)(void *self, const struct sim_records *records, struct c2_error *err);
    /* The first level of the TLBs does not have a page, in a phase that is measured; reads: of the walk that followed,
     * 0 where there was none. */
    void (*untranslated)(void *self, enum sim_kind kind, unsigned reads);
    /* Of several cores, in a phase that is measured: the instruction of this code number writes a line that its core
     * had and might not write. */
    void (*upgraded)(void *self, uint32_t code);
    /* A block is simulated for the first time, before it is. */
    void (*block)(void *self, const struct stream_block *block);
    /* Every reference, fetches too; at least one. */
    enum c2_status (*references)(void *self, const struct sim_reference *list, size_t count, struct c2_error *err);
    /* Instructions made for caches, between the references, of a byte: no references; prefetches of pages that are
     * there. */
    enum c2_status (*instructed)(void *self, const struct sim_reference *named, enum caches_instruction what,
                                 struct c2_error *err);
    /* Every line access, reads of cached walks too, just before the levels are asked; what came before has been
     * notified. Then none is taken for a repeat, and the caches have one stage. Not of stores that levels pass on, nor
     * of what instructions made for caches do. */
    enum c2_status (*approached)(void *self, const struct sim_approach *access, struct c2_error *err);
    enum c2_status (*tlb_missed)(void *self, const struct sim_tlb_miss *miss, struct c2_error *err);
    enum c2_status (*missed)(void *self, const struct sim_miss *miss, struct c2_error *err);
    /* Instead of `missed` where all listeners of that have this too, and the caches can do both stages apart: what is
     * measured, level by level, many at a time. It is faster. */
    enum c2_status (*counted)(void *self, const struct caches_compact *misses, size_t count, struct c2_error *err);
    /* A store that a level has passed on (caches_stored) is notified behind its access, as a write whose `first` is the
     * level that it went to. */
    /* On machines that prefetch, behind `missed`: what the prefetchers did; and a line access that the first level of
     * the same machine without prefetchers has missed, or that of this one: `miss` is as it was without them (its
     * outcome may be a hit in the first level), served_by is where the line was found with them. That machine is
     * simulated as well where this has a listener. */
    enum c2_status (*prefetched)(void *self, const struct sim_prefetched *prefetched, struct c2_error *err);
    enum c2_status (*unaided)(void *self, const struct sim_miss *miss, uint32_t served_by, struct c2_error *err);
    /* Caches and TLBs are empty from here on; nothing is measured up to here. The marks are none to `mark`. */
    void (*emptied)(void *self);
    enum c2_status (*dropped)(void *self, struct c2_error *err);
    /* A phase is over; its STREAM_PHASE is no mark to `mark`. */
    enum c2_status (*window)(void *self, const struct sim_window *window, struct c2_error *err);
    /* Cuts what is measured every interval_instructions, exactly, and tells what was counted in each piece; the last of
     * a phase before `window`. What happened in it - references, misses - has been notified by then, and nothing else;
     * but of the record that it ends in all. 0: no intervals. The intervals add up to sim_measured(). */
    uint64_t interval_instructions;
    enum c2_status (*interval)(void *self, const struct sim_interval *interval, struct c2_error *err);
    /* All of a batch, or of a piece of it, has been simulated, and all counts are current. */
    enum c2_status (*batch)(void *self, const struct sim *sim, struct c2_error *err);
    /* The run is over; its last window has been notified. */
    enum c2_status (*finish)(void *self, struct sim *sim, struct c2_error *err);
};

/* ------------------------------------------------------------------ attribution
 * To be notified and to be asked are two things: any number can listen to a miss, but the word that the caches keep
 * with a line, and the place where a reference of some memory is counted, are one's. The attribution mostly is a
 * subscriber as well; being told comes first. Each function may be NULL. */

/* The owner of memory: where its references are counted, and from where to where that holds. start <= va < end. */
struct sim_owner {
    uint64_t *refs;
    uint64_t start, end;
};

/* The words that instructions got for their last accesses of data, for as long as they hold: `access site` would say
 * the same of another access by the instruction to data of [start, start + bytes), if epoch is that of all. */
struct sim_last_access_site {
    uint64_t start, bytes, word, epoch;
};
struct sim_last_access_sites {
    struct sim_last_access_site *code; /* [instruction], `room` of them */
    uint32_t room;
    uint64_t epoch;
};

struct sim_attribution {
    void *self;
    /* The data at va; the answer holds until `changed` says otherwise, memory changes, or sim_forget(). */
    void (*owner)(void *self, struct guest_va va, struct sim_owner *out);
    /* The word to blame for what an access makes the levels lose; not 0. Called for accesses that the first level does
     * not have at once, nearly all of them misses. A read and a write have one answer. */
    enum c2_status (*access_site)(void *self, uint32_t code, enum sim_kind kind, struct guest_va va, uint64_t *out,
                                  struct c2_error *err);
    /* The first level of the TLBs does not have the page of what this access site accesses, in a phase that is
     * measured; reads: page-table entries that the walk read, 0 where the second has it. By the thread that asks, so
     * that to count them needs no subscriber. To a subscriber with the same `self` that is notified of misses by
     * `counted` it comes with the miss, if the first level of the caches has missed too. */
    void (*untranslated)(void *self, uint64_t access_site, unsigned reads);
    /* Of several cores, in a phase that is measured: what this access site accesses is written by a core that had the
     * line and might not write it; behind what is notified of its misses. */
    enum c2_status (*upgraded)(void *self, uint64_t access_site, struct c2_error *err);
    /* Asked after each mark, when all subscribers have heard of it: what has other owners now is [*start, *start +
     * *bytes), to be filled in; 0 bytes: nothing. */
    void (*changed)(void *self, uint64_t *start, uint64_t *bytes);
    const struct sim_last_access_sites *last; /* lent: so that `access site` need not be called for most misses */
};

/* How virtual addresses become physical ones: false = the page is absent. Called on the thread that consumes. */
struct sim_translation {
    void *self;
    bool (*translate)(void *self, struct guest_va va, struct guest_pa *out);
    bool (*walk)(void *self, struct guest_va va, struct mmu_walk *out); /* NULL: every page has 4 KiB, and walks cannot
                                                                         * be cached */
    /* The guest's memory has changed, as the mark says (stream_changes_memory, LOADED); all before it is in the counts.
     * Calls sim_forget() for what is translated otherwise from now on. NULL: translations never change. */
    enum c2_status (*change)(void *self, enum stream_mark mark, const uint64_t *words, uint32_t count,
                             struct c2_error *err);
};

struct sim_config {
    const struct caches_machine *machine; /* copied; lines of 8 bytes up to a page */
    uint64_t seed;
    struct sim_translation translation;
    const struct stream_blocks *blocks;
    const struct sim_subscriber *subscribers; /* copied; may be none */
    size_t subscriber_count;
    const struct sim_attribution *attribution; /* copied; NULL: none */
    bool samples;                              /* each is kept: sim_samples() */
    bool apart; /* classes may have a thread of their own; else all is done by the thread that consumes. Results are the
                 * same; but those of the caches are current at sim_finish() and not before */
};

enum c2_status sim_create(struct sim **out, const struct sim_config *config, struct c2_error *err);
void sim_destroy(struct sim *sim);

/* ------------------------------------------------------------------ machines that share: share.c has the model */
/* Whether one simulator may follow the other, which simulates the same stream, with the same placement or another one.
 * Both are new. */
bool sim_can_share(const struct sim *leader, const struct sim *follower, bool same_placement);
#define SIM_FOLLOWERS 64u /* of one leader, at most */
/* The follower has another placement. Before sim_share(). */
enum c2_status sim_follow_placed(struct sim *follower, struct c2_error *err);
/* From now on the followers get no batches but what they need from the leader. threads: so many of their own for them,
 * and for the leader's classes; 0: the one that consumes does it. Before the leader is destroyed or a follower is,
 * sim_share_end(). A follower is finished behind its leader. */
enum c2_status sim_share(struct sim *leader, struct sim *const *followers, uint32_t count, unsigned threads,
                         struct c2_error *err);
void sim_share_end(struct sim *leader);   /* also of one that has no followers */
bool sim_unplaced(const struct sim *sim); /* between two batches of its leader: its memory has failed */
/* Between two batches: all that the leader has said is heard, so that sim_departed() of its followers is up to date. */
enum c2_status sim_share_look(struct sim *leader, struct c2_error *err);
/* Likewise: the leader goes on by itself, with a thread of its own for classes, if it may have one; its followers are
 * good for destroy. */
enum c2_status sim_share_leave(struct sim *leader, bool apart, struct c2_error *err);
/* It could not follow to the end: nothing of it is to be used but sim_destroy(). */
bool sim_departed(const struct sim *sim);

enum c2_status sim_consume(struct sim *sim, const struct stream_batch *batch, struct c2_error *err);
/* After the last batch, once: ends the last window; then subscribers put their results together. */
enum c2_status sim_finish(struct sim *sim, struct c2_error *err);
/* What was counted in phases that were measured, once finished; lent until destroy. */
const struct sim_totals *sim_measured(const struct sim *sim);
const struct sim_instructed *sim_instructed(const struct sim *sim, size_t *count); /* lent likewise; by pc */
const struct sim_dumped *sim_dumps(const struct sim *sim, size_t *count);          /* lent likewise */
/* In all phases so far, between batches. */
void sim_counted(struct sim_totals *out, const struct sim *sim);
/* What accesses have waited for all this, by the table of the machine (caches_costs). */
struct caches_cost sim_cost(const struct caches_machine *machine, const struct sim_totals *of);
struct sim_samples sim_samples(const struct sim *sim); /* lent likewise; none where they are not kept */
/* Translations of this range may have changed: forget them. Between batches, or in sim_translation.change. The
 * simulated TLBs lose them as well; but for those this concerns the host's memory of translations only. */
void sim_forget(struct sim *sim, struct guest_va start, uint64_t bytes);

/* ------------------------------------------------------------------ several cores: cores.c has the model */
struct sim_thread {
    uint32_t tid, core;
    struct sim_totals of; /* what was measured while it ran */
};
struct sim_shootdowns {
    uint64_t sent, received;
};
/* The core of a thread, whose number counts from 1. */
static inline uint32_t sim_core_of(uint32_t tid, uint32_t core_count) { return (tid - 1) % core_count; }
uint32_t sim_core_count(const struct sim *sim);
bool sim_has_threads(const struct sim *sim); /* more than one has run, on however many cores */
/* Of several cores: in the order in which they ran first; lent until destroy. */
const struct sim_thread *sim_threads(const struct sim *sim, size_t *count);
struct sim_shootdowns sim_shootdowns(const struct sim *sim, uint32_t core);

/* In `records`: all misses so far are notified now. */
enum c2_status sim_notify_pending(struct sim *sim, struct c2_error *err);

enum stream_phase sim_phase(const struct sim *sim);
const struct sim_counts *sim_counts(const struct sim *sim); /* lent until destroy */
const struct caches *sim_caches(const struct sim *sim);     /* lent until destroy */
const struct caches_tlbs *sim_tlb(const struct sim *sim);   /* lent until destroy; NULL: the machine has none */
/* Reads of walks that go through the caches, by the level that served them; [level_count] is memory. Lent until
 * destroy. */
const uint64_t *sim_walk_reads(const struct sim *sim);
/* The guest's memory has changed: to be notified the subscribers; when as sim_forget(). Owners remembered for the area
 * are asked for anew. */
enum c2_status sim_memory(struct sim *sim, bool appeared, const struct mmu_area *area, struct c2_error *err);

/* The instructions simulated so far, by code number, where they have one; what they did up to the last window's
 * end in phases that are measured. */
size_t sim_code_count(const struct sim *sim);
struct sim_code sim_code_at(const struct sim *sim, uint32_t code);
/* The counts agree with each other and with those of the caches; asserts. */
void sim_check(const struct sim *sim);
void sim_dump(const struct sim *sim, FILE *to);

#endif
