/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sim_priv: what the files of sim/ share - the state, the remembered translations and the way of one line access.
 */
#ifndef C2_SIM_PRIV_H
#define C2_SIM_PRIV_H

#include "caches/caches_fast.h"
#include "sim/sim.h"

/* Translations remembered: enough for 16 MiB in use, 64 KiB of the host's L2. A random walk over 8 MiB takes a third
 * less time than with 1024. */
#define SIM_PAGES C2_HOST_SIZE(4096u, 2u)
#define SIM_NO_SLOTS (UINT32_MAX / 2 - 255) /* no level has a line of this slot, or of the CACHES_SLOTS behind it */
#define SIM_NOWHERE UINT64_MAX              /* no line and no page has this number */
#define SIM_NO_START ((uint64_t)1 << 63)    /* where no line begins: such addresses are none on x86-64 */
#define SIM_MAX_REFERENCE_BYTES 512u        /* FXSAVE; larger ones could cross two page boundaries */

/* What is remembered of a page, so that an access to another one than before looks at one place. */
struct sim_page {
    uint64_t vpn;   /* SIM_NOWHERE: empty, and nothing else means anything, but that `found` is no page */
    uint64_t line;  /* physical line that it begins with */
    uint64_t *refs; /* of the owner of all of it; NULL: it has several, or not looked up */
    struct caches_tlb_found found; /* without TLBs it is in none, and always found */
    uint32_t slot;                 /* of its first line; SIM_NO_SLOTS: to be asked for line by line */
    uint16_t entry_count;          /* of a walk, 4 for 4 KiB; with TLBs or attribution only */
    uint16_t counted;              /* what goes with a read of it that is missed and only counted */
};

/* Line accesses that repeat the one before, two counters in one word: all of them in the low half, those that write in
 * the high one. */
#define SIM_REPEAT_READ ((uint64_t)1)
#define SIM_REPEAT_WRITE ((uint64_t)1 << 32 | 1)
static inline uint32_t sim_repeats_all(uint64_t repeats) { return (uint32_t)repeats; }
static inline uint32_t sim_repeats_writes(uint64_t repeats) { return (uint32_t)(repeats >> 32); }
static inline uint32_t sim_repeats_reads(uint64_t repeats)
{
    return sim_repeats_all(repeats) - sim_repeats_writes(repeats);
}

/* What the hot loop needs of a slot. */
struct sim_slot {
    uint64_t repeated;  /* what it adds to the repeats when its line is that of the access before */
    uint64_t following; /* and when it is not: the write of a modify repeats its read */
    uint64_t limit;     /* of the offsets in a line at which the reference ends inside of it; 0: nowhere */
    uint32_t code;      /* of its instruction; with attribution */
    uint16_t size;
    bool write; /* whether its first access is one */
};

/* The slots between two fetch line accesses. */
struct sim_fetch_run {
    uint64_t line; /* virtual, of the fetch; 0 on a machine without L1I */
    const struct sim_slot *slots;
    const struct sim_fetch_run *next; /* on the line behind it; NULL: the block ends here */
    uint32_t slot_count;
    uint32_t code; /* of the instruction whose fetch enters the line; with attribution */
};

/* A block, prepared at first sight for runs that do all of it. */
struct sim_plan {
    uint32_t whole;   /* low half of the header of such a run; SIM_NO_RUN: there is none (see plan.c) */
    uint32_t pending; /* whole runs that are not counted yet, less one: sim->pending names the plans with any */
    struct sim_fetch_run first; /* its code: with attribution, of the block's first instruction */
    uint16_t insns, modifies;   /* what a run adds */
    uint16_t reads, writes;
    uint64_t runs; /* with attribution: whole runs in phases that are measured, not yet settled */
    bool built;
    bool special; /* it has slots for instructed.c */
};
#define SIM_PLAN_LINES 64                     /* it has no more of code, */
#define SIM_PLAN_MOST C2_HOST_SIZE(1280, 192) /* and no more of these and slots together: see plan.c */
#define SIM_NO_RUN UINT32_MAX
#define SIM_NONE_PENDING UINT32_MAX
#define SIM_NO_BLOCK UINT32_MAX
#define SIM_NO_CUT UINT64_MAX

/* Lines with one owner in pages with several; and words, 8 bytes, with one owner in lines with several. */
#define SIM_OWNED_LINES C2_HOST_SIZE(256u, 2u)
#define SIM_OWNED_WORDS C2_HOST_SIZE(256u, 2u)
#define SIM_WORD_SHIFT 3u
struct sim_owned_line {
    uint64_t line; /* virtual; SIM_NOWHERE: empty */
    uint64_t *refs;
};
struct sim_owned_word {
    uint64_t word; /* address >> SIM_WORD_SHIFT; SIM_NOWHERE: empty */
    uint64_t *refs;
};

/* What attribution needs (attribute.c), and what telling of misses does. */
struct sim_attributed {
    bool on; /* there is attribution, or a listener of misses */
    struct sim_attribution to;
    const struct sim_last_access_sites *access_sites; /* those of `to`, where misses are only counted; else none */
    uint64_t number; /* line accesses so far, but for repeats that are not notified of */
    struct sim_owner last;
    bool measuring;          /* what is not measured is not counted; */
    uint32_t measured_bits;  /* this as a mask */
    uint64_t nobody;         /* a sink for counts without a reader */
    struct sim_code nothing; /* what instructions do that is not measured */
    struct sim_code *codes;
    uint32_t code_count, code_capacity;
    struct sim_owned_line lines[SIM_OWNED_LINES];
    struct sim_owned_word words[SIM_OWNED_WORDS];
};

/* What is one core's: where it stands in the program, and what it remembers of translations. */
struct sim_core {
    struct sim *sim;     /* its simulator */
    uint64_t data_start; /* where the line of the last access begins if that was on the data side; or SIM_NO_START */
    uint64_t line_start; /* the same, if it has line_refs; else SIM_NO_START */
    uint64_t repeats;    /* accesses of that line, not yet told to the caches, nor to its owner */
    uint64_t *line_refs; /* of the owner of all of that line; NULL: its references count for owners one by one */
    uint64_t line_mask;  /* of the offset in a line */
    unsigned line_shift;
    struct caches_l1_handle *l1_handle[2]; /* by enum caches_side */
    const uint32_t *far;                   /* caches_far() */
    uint32_t *words[2]; /* of the first levels, by side: this and what follows for the loops of usual machines alone; */
    uint64_t left;      /* accesses of lines that were left, as repeats, which are not counted yet; */
    uint64_t missed[2]; /* so many reads and writes of them, or of the line that is not left, have missed L1D; */
    uint64_t served[2]; /* and so many more, which the second level had; */
    uint64_t fetched;   /* fetches that L1I had, likewise; */
    uint64_t code_line; /* the first one of the page of the last fetch, if it is known, else SIM_NOWHERE; */
    uint64_t code_word; /* and what the event log has of a hit of that line */
    uint64_t fetch_line;         /* virtual line of the last fetch; stays 0 on a machine without L1I */
    uint32_t rep_block;          /* of the last REP, if a fault has left it unfinished; else SIM_NO_BLOCK */
    uint64_t rep_left;           /* elements that it has still to do */
    uint32_t code;               /* with attribution: of the instruction that makes the accesses, */
    const struct sim_slot *slot; /* and in a whole run of a plan its slot; NULL: it is its fetch */
    bool second;                 /* of a slot that reads and writes, the write is on its own */
    bool alone;                  /* the record is no such run; then: */
    uint64_t references;         /* of the record, that have begun */
    uint32_t untranslated;       /* the bits of the access being made that go with its miss: see sim_untranslated() */

    bool tlb_on[2];                             /* by enum caches_side: these have TLBs */
    bool tlb_split;                             /* loads and stores have first levels of their own */
    uint64_t tlb_tag[CACHES_TLB_SIDES];         /* caches_tlbs_tag() */
    uint64_t tlb_page[CACHES_TLB_SIDES];        /* of the side's last access; without split stores are loads, and it is
                                               * SIM_NOWHERE unless the page's TLB hears of all hits */
    uint64_t *tlb_accesses[CACHES_TLB_SIDES];   /* of the TLB of the last access's page: those that repeat it are added
                                               * here */
    uint64_t tlb_nowhere;                       /* no accesses: of a side that has made none, or has no TLB */
    uint8_t tlb_order;                          /* of pages without TLBs */
    const struct caches_tlb_refill *tlb_refill; /* of data; of split ones of loads */
    uint32_t walk_entry;                        /* of the walk's last read: as in struct sim_miss */
    struct caches_tlbs *tlb;                    /* NULL: translations are free */

    uint64_t begun; /* instructions, but for those of a whole run that is being simulated; not on usual machines */

    uint32_t number;                 /* of several, from 0 */
    uint64_t turns;                  /* so often has a thread begun to run here */
    uint32_t first_byte, byte_count; /* of several: those of its line that the data access being made is of */

    struct sim_page pages[SIM_PAGES];
};

/* The second stage (classifier.c). */
struct sim_classifier {
    struct stream_batch *event_log; /* of records of its own; NULL: one stage */
    struct stream_sink to;
    struct stream_ring *ring; /* NULL: the thread that consumes does it */
    bool in_order;            /* every notice is given before one of something else */
};

/* Up to where records and references have been notified. */
struct sim_notified {
    const uint64_t *record; /* all before this one, */
    const uint64_t *of;     /* and the references of all before this one, */
    uint64_t references;    /* and so many of its own */
};

/* What of the batch is notified, and where it stands (records.c). */
struct sim_pending_records {
    struct sim_notified notified[2]; /* [whether listeners of misses, too]: see sim_hears_misses() */
    const uint64_t *end;             /* the batch's */
    const uint64_t *at;      /* the record that is simulated; where a miss follows, or references are notified */
    const uint64_t *missing; /* the one that a miss has been announced for; NULL: none */
    const uint64_t *goes_on; /* the last string record, where it goes on with the one before; else NULL */
    uint32_t tid;
};

/* Pages of which the references that are notified last were; apart from sim_core.pages, in which what is notified would
 * push out what is simulated. */
#define SIM_NOTIFIED_PAGES C2_HOST_SIZE(64u, 2u)
struct sim_notified_page {
    uint64_t vpn, start; /* SIM_NOWHERE: empty; where it begins in physical memory */
};
#define SIM_NOTIFIED_REFERENCES C2_HOST_SIZE(256u, 3u) /* at a time */
struct sim_references {
    struct sim_notified_page pages[SIM_NOTIFIED_PAGES];
    size_t count;
    struct sim_reference list[SIM_NOTIFIED_REFERENCES];
};

/* The machine: what its cores share. */
struct sim {
    struct caches *caches;
    struct caches *plain;    /* the same without prefetchers, for comparison; else NULL */
    bool writes_on;          /* stores may go on from levels; then no access is taken for a repeat, either */
    bool hears_instructions; /* the caches have to be notified which instruction makes accesses */
    bool instructed;         /* there was an instruction made for caches: see instructed.c; */
    struct sim_instructed *instructions; /* when the run is over */
    size_t instruction_count;
    uint64_t past_lines;   /* lines of stores past the caches so far */
    const uint64_t *again; /* SIM_AGAIN: the record */
    bool prefetches;       /* then no access is taken for a repeat: what followed the one before may be in its way */
    const struct stream_blocks *blocks;
    struct sim_translation translation;
    struct guest_va absent; /* with is_absent: the first reference to a page that is not there */
    bool is_absent;
    unsigned line_shift;
    uint64_t line_bytes;
    bool has_l1i;
    enum c2_status (*consume)(struct sim_core *core, const struct stream_batch *batch, struct c2_error *err);

    struct sim_plan *plans; /* by block number, plan_capacity of them; not yet built: whole == SIM_NO_RUN */
    uint32_t plan_capacity;
    uint32_t *pending; /* numbers of plans, pending_count of them: with room for all */
    uint32_t pending_count;

    bool walks_cached;
    uint64_t walk_reads[CACHES_MAX_LEVELS + 1]; /* cached: by the level that served them */

    struct sim_subscriber *subscribers; /* up to subscriber_end */
    const struct sim_subscriber *subscriber_end;
    bool notifies_records;             /* records or references; */
    struct sim_references *references; /* NULL: no listeners of those */
    bool announces;                    /* a listener of either listens to misses, too; */
    bool announces_always;             /* in any phase */
    bool notifies_both[2];             /* a listener of both exists; as sim_pending_records.told */
    bool notifies_accesses;            /* then no access is taken for a repeat */
    bool notifies_walks;               /* those found at once, too; */
    bool notifies_stores;              /* likewise of those that levels pass on */
    bool notifies_tlb;                 /* misses of the TLBs have a listener */
    bool notifies_upgrades;            /* those are counted at once */
    bool notifies_pages;               /* misses of the TLBs are counted at once */
    bool counts_alone;                 /* all listeners of misses of the caches count them, and no more; */
    bool counts_plain;                 /* and none listens to records before, either */
    bool counts_pages;                 /* and misses of the TLBs with them */
    bool waits;                        /* counts_pages and nothing else */
    bool notifies_misses;              /* or blocks, misses of the TLBs, prefetches */
    bool compares;                     /* with what the machine does without its prefetchers */
    struct sim_attributed attributed;
    struct sim_classifier classifier;
    struct sim_pending_records pending_records;
    struct sim_counts counts;
    enum stream_phase phase;
    struct sim_totals phase_start; /* when it began */
    struct sim_dumped *dumps;
    uint32_t dump_count, dump_room;
    struct sim_totals dumped;   /* their sum */
    struct sim_totals emptied;  /* counted by caches and TLBs that were emptied since */
    uint64_t seed;              /* of the caches */
    struct sim_totals measured; /* of the windows so far, those of MEASURE */
    uint32_t unsettled;         /* windows since instructions were settled and checked */
    bool samples_kept;
    uint32_t sample_count, sample_room, sampled_count, sampled_room; /* sampled: levels of samples */
    uint64_t *sample_instructions, *sample_costs;
    struct sim_sampled *sampled;
    uint64_t *warmed;                            /* as sampled */
    uint64_t warm_misses[CACHES_MAX_LEVELS + 1]; /* since the last sample; L1I's behind those of the data path */

    struct sim_length *lengths; /* of intervals: one for each listener */
    uint32_t length_count;
    uint64_t cut_at;            /* the next interval ends with this instruction of those simulated; SIM_NO_CUT: none */
    struct stream_batch *piece; /* of a batch, between two records that are cut */

    uint32_t core_count;
    uint32_t told_thread;    /* of the batch before */
    bool has_threads;        /* some batch was another one's than the first thread's */
    struct sim_core *now;    /* the one that makes accesses */
    struct sim_core *others; /* of several: all but the first */
    struct sim_thread *threads;
    uint32_t thread_count, thread_room, running; /* running: the one that is credited next */
    struct sim_totals credited;                  /* what has been so far, in all phases */
    struct sim_shootdowns *shootdowns;           /* [core] */
    uint64_t shot;                               /* cores, as bits, that the change of memory has shot down */

    /* Machines whose first levels are the same (share.c): those that follow this one; or the one that this follows. */
    struct sim **followers;
    uint32_t follower_count;
    const struct sim *leader;
    bool departed; /* it cannot follow any more, and its counts are worth nothing */
    /* Where followers have placements of their own. The thread of the leader's first stage has these: */
    bool places;             /* of the leader: there is one that has not departed; */
    bool changes;            /* there is one */
    uint32_t placed_groups;  /* of the leader: of lines, so far */
    struct c2_map *group_of; /* of such a follower: by physical page; NULL: its placement is the leader's */
    uint32_t at;             /* of a follower: among the leader's */
    bool misplaced;          /* it has another page where the leader has one */
    bool unplaced;           /* its memory could not change as the guest's did */
    uint64_t forgotten;      /* a digest of what sim_forget() was notified of */

    struct sim_core core; /* the first one; mostly the only one */
};

static inline struct sim_core *sim_core_at(struct sim *sim, uint32_t i)
{
    C2_PROMISE(i < sim->core_count && (i == 0 || sim->others));
    return i == 0 ? &sim->core : &sim->others[i - 1];
}

/* plan.c: makes plans[number] usable. */
enum c2_status sim_plan_build(struct sim *sim, uint32_t number, struct c2_error *err);
void sim_plan_free(struct sim *sim);

/* consume.c: batches, on any machine; and on usual machines, by the ways of L1D and the instructions that sets are
 * searched with. */
#define SIM_USUAL_LINE_SHIFT 6u
#define SIM_USUAL_LINE_MASK (((uint64_t)1 << SIM_USUAL_LINE_SHIFT) - 1)
#define SIM_USUAL_SETS 64u /* of L1D and L1I: a page has one line of each */
#define SIM_USUAL_WAYS 8u  /* of L1I; of L1D these, or: */
#define SIM_USUAL_MORE_WAYS 12u
typedef enum c2_status sim_consume_function(struct sim_core *core, const struct stream_batch *batch,
                                            struct c2_error *err);
sim_consume_function sim_consume_fast;
sim_consume_function sim_consume_8_sse2, sim_consume_12_sse2, sim_consume_8_avx2, sim_consume_12_avx2;
/* The loop for this machine; the form is one that the host has. */
sim_consume_function *sim_loop_choose(const struct sim *sim, unsigned form);

/* The rarer parts of those loops; what is in registers there is stored. A record that they do not do; the end of a
 * batch; a look at the records ahead (which see). */
enum c2_status sim_take_other(struct sim_core *core, uint32_t tid, uint64_t header, const uint64_t *words,
                              struct c2_error *err);
enum c2_status sim_finish_batch(struct sim_core *core, enum c2_status status, struct c2_error *err);
/* So many words before they are simulated, the sets of the lines that slots refer to are fetched. */
#define SIM_LOOK_AHEAD 48
const uint64_t *sim_look_ahead(struct sim_core *core, const uint64_t *word, const uint64_t *ahead, const uint64_t *end);
/* A fetch of another line, which begins at `start`, whatever is known of it; the same where the TLBs have done their
 * part, and L1I does not have it, `youngest` being its set. */
enum c2_status sim_fetch(struct sim_core *core, uint64_t start, uint32_t code, struct c2_error *err);
enum c2_status sim_fetch_missed(struct sim_core *core, uint64_t start, uint32_t code, struct c2_error *err);
/* A reference, whatever is known of it. */
enum c2_status sim_refer(struct sim_core *core, const struct sim_slot *slot, uint64_t va, struct c2_error *err);
/* L1D has the line, and the TLBs had to be refilled (sim_refilled). */
enum c2_status sim_line_found(struct sim_core *core, const struct sim_slot *slot, uint64_t va, struct c2_error *err);
/* L1D has missed it, and the levels have done their part: its access site goes on the event log. */
enum c2_status sim_line_missed(struct sim_core *core, const struct sim_slot *slot, uint64_t va, struct c2_error *err);

/* records.c: these words begin, of which nothing is notified yet; all before this record, or mark, is notified; and
 * behind it; all that has begun is, up to the reference that is simulated. */
void sim_records_begin(struct sim *sim, const uint64_t *words, const uint64_t *end, uint32_t tid);
enum c2_status sim_records_until(struct sim *sim, const uint64_t *record, struct c2_error *err);
enum c2_status sim_records_mark(struct sim *sim, const uint64_t *mark, struct c2_error *err);
enum c2_status sim_records_here(struct sim *sim, struct c2_error *err);
enum c2_status sim_records_missed(struct sim *sim, struct c2_error *err);
/* Something that is notified of misses follows; the access that it is about is the one of sim->now. */
static inline enum c2_status sim_records_missing(struct sim *sim, struct c2_error *err)
{
    return sim->announces ? sim_records_missed(sim, err) : C2_OK;
}
/* The string record is simulated next: whether it goes on with the one before is known now, and not later. */
enum c2_status sim_records_string(struct sim *sim, bool goes_on, struct c2_error *err);
/* Whether a subscriber is notified of records and references before each miss, or access. */
static inline bool sim_hears_misses(const struct sim_subscriber *s)
{
    return s->approached || s->missed || s->counted || s->tlb_missed || s->untranslated || s->upgraded ||
           s->prefetched || s->unaided;
}

/* references.c: those of the records before `end` are notified, but of the last one before it no more than so many. */
#define SIM_ALL_REFERENCES UINT64_MAX
enum c2_status sim_references_until(struct sim *sim, bool hears, const uint64_t *end, uint64_t most,
                                    struct c2_error *err);
/* So many of the record sim->pending.at have begun, with the one whose access is simulated. */
uint64_t sim_references_begun(const struct sim *sim);
enum c2_status sim_references_create(struct sim *sim, struct c2_error *err);
void sim_references_forget(struct sim *sim); /* translations */

/* All of the batch, by the loop that was chosen. */
enum c2_status sim_run_batch(struct sim *sim, const struct stream_batch *batch, struct c2_error *err);

/* One record that is no mark, instruction by instruction; listeners of records are notified. */
enum c2_status sim_consume_one(struct sim_core *core, uint32_t tid, uint64_t header, const uint64_t *words,
                               struct c2_error *err);

/* record.c: one record, whatever it is, instruction by instruction; words: its slots. */
enum c2_status sim_record(struct sim_core *core, uint32_t tid, uint64_t header, const uint64_t *words,
                          struct c2_error *err);

/* sim.c: the rare halves of the two functions below. */
void sim_page_fill(struct sim_core *core, struct sim_page *page, struct guest_va va);
void sim_pages_forget(struct sim_core *core); /* all that are remembered */
void sim_settle(struct sim *sim);             /* nothing is pending afterwards: all counts are current */
enum c2_status sim_memory_mark(struct sim *sim, uint64_t header, const uint64_t *words, struct c2_error *err);

/* interval.c */
enum c2_status sim_intervals_init(struct sim *sim, struct c2_error *err); /* after sim_notify_init() */
void sim_intervals_free(struct sim *sim);
/* Instead of sim->consume, where there are intervals: their ends are found. */
enum c2_status sim_intervals_consume(struct sim *sim, const struct stream_batch *batch, struct c2_error *err);
/* The instruction cut_at is done; rest: of its record, so many are not. */
enum c2_status sim_intervals_end(struct sim *sim, uint32_t rest, struct c2_error *err);
/* The phase ends, and then the next one has begun: at phase_start. */
enum c2_status sim_intervals_phase(struct sim *sim, const struct sim_totals *now, struct c2_error *err);
void sim_intervals_begin(struct sim *sim, enum stream_phase phase);
void sim_intervals_drop(struct sim *sim); /* nothing has been measured so far; phase_start is here */
void sim_intervals_check(const struct sim *sim);

/* classifier.c */
enum c2_status sim_classifier_create(struct sim *sim, bool apart, struct c2_error *err);
void sim_classifier_destroy(struct sim *sim);
void sim_classifier_use(struct sim *sim); /* the caches, or the event log, are new */
enum c2_status sim_classifier_missed(struct sim_core *core, enum sim_kind kind, struct guest_va va,
                                     struct c2_error *err);
enum c2_status sim_classifier_tlb_missed(struct sim_core *core, enum sim_kind kind, struct guest_va va, unsigned reads,
                                         uint64_t access_site, struct c2_error *err);
enum c2_status sim_classifier_pass(struct sim *sim, struct c2_error *err);   /* the event log is handed on */
enum c2_status sim_classifier_settle(struct sim *sim, struct c2_error *err); /* and all of it is said */
enum c2_status sim_classifier_before(struct sim *sim, struct c2_error *err); /* something else is notified */
enum c2_status sim_classifier_end_batch(struct sim *sim, struct c2_error *err);

void sim_classifier_leave(struct sim *sim); /* settled: there is one stage from now on */

enum c2_status sim_classifier_hear(struct sim *sim, const struct stream_batch *event_log, struct c2_error *err);
/* The event log is handed to these, too; threads: which they may have, 0: none. */
enum c2_status sim_classifier_share(struct sim *sim, unsigned threads, struct c2_error *err);

/* share.c: what leaders pass on, besides: nothing where there are no followers. Settled, before the leader does the
 * same: a phase ends, caches are emptied, what was measured is kept or dropped. */
enum c2_status sim_share_hear(struct sim *follower, const struct stream_batch *event_log, struct c2_error *err);
enum c2_status sim_share_window(struct sim *sim, enum stream_phase next, struct c2_error *err);
enum c2_status sim_share_empty(struct sim *sim, struct c2_error *err);
enum c2_status sim_share_dump(struct sim *sim, const uint64_t *words, struct c2_error *err);
enum c2_status sim_share_drop(struct sim *sim, struct c2_error *err);
/* A page is translated; the guest's memory has changed. Of the leader, on the thread of its first stage. */
void sim_share_page(struct sim *sim, const struct sim_page *page, struct guest_va va);
void sim_share_change(struct sim *sim, enum stream_mark mark, const uint64_t *words, uint32_t count);
void sim_share_depart(struct sim *sim);                                      /* all followers have to */
enum c2_status sim_share_adopt_codes(struct sim *sim, struct c2_error *err); /* of a follower; the leader is finished */

/* instructed.c: whether the record needs caches that know instructions made for them, which are not there yet; these
 * are there from now on, and another loop; what a slot does: of the kind CACHE, and the lines of a store past the
 * caches. */
bool sim_needs_instructed(const struct sim *sim, uint32_t number);
bool sim_block_is_special(const struct stream_block *block);
enum c2_status sim_instructed_begin(struct sim *sim, struct c2_error *err);
enum c2_status sim_instructed_rest(struct sim *sim, const struct stream_batch *batch, const uint64_t *from,
                                   struct c2_error *err);
enum c2_status sim_instructed_cache(struct sim_core *core, const struct stream_slot *slot,
                                    const struct sim_reference *named, struct c2_error *err);
enum c2_status sim_instructed_store(struct sim_core *core, struct guest_va va, uint32_t size, struct c2_error *err);
enum c2_status sim_instructed_finish(struct sim *sim, struct c2_error *err);
/* A loop stops before the record sim->again, and the rest of the batch is for another one. */
#define SIM_AGAIN ((enum c2_status) - 1)
/* How many instructions the core has begun, where the machine is not usual. In a whole run of a plan it stands at one
 * of them. */
static inline uint64_t sim_clock(const struct sim_core *core)
{
    const struct sim *sim = core->sim;
    C2_PROMISE(sim->pending_records.at && stream_header_block(*sim->pending_records.at) < sim->plan_capacity);
    const uint32_t first = sim->plans[stream_header_block(*sim->pending_records.at)].first.code;
    return core->begun + (core->alone ? 0 : core->code - first + 1);
}

/* empty.c */
enum c2_status sim_caches_create(struct sim *sim, const struct caches_machine *machine, struct c2_error *err);
enum c2_status sim_empty(struct sim *sim, struct c2_error *err); /* STREAM_EMPTIED */

/* dumps.c */
enum c2_status sim_dump_measured(struct sim *sim, const uint64_t *words, struct c2_error *err); /* STREAM_DUMPED */
enum c2_status sim_drop_measured(struct sim *sim, struct c2_error *err);                        /* STREAM_ZEROED */

/* cores.c: of one core they do nothing, or are not called. */
enum c2_status sim_cores_create(struct sim *sim, struct c2_error *err);
void sim_cores_destroy(struct sim *sim);
enum c2_status sim_cores_switch(struct sim *sim, uint32_t tid, struct c2_error *err); /* the thread runs from here on */
void sim_cores_credit(struct sim *sim, const struct sim_totals *now);                 /* now: all phases; settled */
enum c2_status sim_cores_lines(struct sim_core *core, bool write, struct guest_va va, uint32_t size,
                               struct c2_error *err);
void sim_cores_origin(struct sim_core *core, bool whole); /* of the access that follows; whole: it is of all its line */
void sim_cores_forgot(struct sim *sim, uint32_t core, uint32_t entries); /* its TLBs had so many of what has changed */
void sim_cores_changed(struct sim *sim);
void sim_cores_phase(struct sim *sim, enum stream_phase next);
void sim_cores_drop(struct sim *sim); /* nothing has been measured so far */
enum c2_status sim_cores_finish(struct sim *sim, struct c2_error *err);

/* tlb.c */
enum c2_status sim_tlb_create(struct sim_core *core, const struct caches_machine *machine, struct c2_error *err);
void sim_tlb_free(struct sim_core *core, struct sim_page *page);
/* The first level does not have the page, or where is unknown. */
enum c2_status sim_tlb_enter(struct sim_core *core, unsigned tlb_side, struct sim_page *page, struct guest_va va,
                             struct c2_error *err);
/* Says how many entries of pages were forgotten. */
uint32_t sim_tlb_forget(struct sim_core *core, struct guest_va start, uint64_t bytes);

/* attribute.c */
void sim_attribute_init(struct sim *sim, const struct sim_attribution *attribution); /* after sim_notify_init() */
void sim_attribute_free(struct sim *sim);
enum c2_status sim_attribute_block(struct sim *sim, const struct stream_block *block, uint32_t *first_code,
                                   struct c2_error *err);
/* The counter of the remembered owner of all of the line of va; NULL: it has several owners. */
uint64_t *sim_attribute_line(struct sim_core *core, struct sim_page *page, struct guest_va va);
/* What is promised, for C2_PROMISE: line_refs is the owner of all of the data line, or NULL; these are the refs of the
 * owner of the word; the page is translated so. */
bool sim_attribute_line_holds(const struct sim_core *core);
bool sim_attribute_word_holds(const struct sim_core *core, struct guest_va va, const uint64_t *refs);
bool sim_page_holds(const struct sim_core *core, const struct sim_page *page, struct guest_va va);
/* Where the caches have to be notified which instruction makes accesses: before each that is made in steps. */
void sim_attribute_try(struct sim_core *core, enum sim_kind kind, struct guest_va va);
enum c2_status sim_attribute_any(struct sim_core *core, enum sim_kind kind, struct guest_va va,
                                 struct line_no virtual_line, struct line_no physical_line, struct c2_error *err);
enum c2_status sim_attribute_walk(struct sim_core *core, struct guest_va va, struct line_no entry, uint32_t *served_by,
                                  struct c2_error *err);
enum c2_status sim_attribute_found(struct sim_core *core, struct guest_va va, struct line_no entry,
                                   struct c2_error *err);
enum c2_status sim_attribute_tlb(struct sim_core *core, unsigned tlb_side, struct guest_va va, unsigned reads,
                                 struct c2_error *err);
enum c2_status sim_attribute_page(struct sim_core *core, enum sim_kind kind, struct guest_va va, enum c2_status status,
                                  struct c2_error *err);
enum c2_status sim_attribute_mark(struct sim *sim, uint64_t header, const uint64_t *words, struct c2_error *err);
void sim_attribute_changed(struct sim *sim, struct guest_va start, uint64_t bytes); /* it has other owners */
void sim_attribute_own(struct sim_core *core, struct guest_va va, uint32_t refs); /* counts them for the owner of va */
void sim_attribute_phase(struct sim *sim, enum stream_phase next);                /* settled, but for instructions */
void sim_attribute_codes(struct sim *sim);                                        /* settles instructions */
void sim_attribute_drop(struct sim *sim);                                         /* nothing has been measured so far */
struct sim_code sim_attribute_sum(const struct sim *sim); /* of all that are settled; without a pc */

/* window.c */
void sim_totals_subtract(struct sim_totals *from, const struct sim_totals *what);
void sim_totals_read(struct sim_totals *out, const struct sim *sim); /* since the run began; settled */
void sim_totals_check(const struct sim *sim, const struct sim_totals *of);
/* A reference where no page is: *pa is something, and the simulator fails when the batch is done. */
void sim_note_absent(struct sim *sim, struct guest_va va, struct guest_pa *pa);
enum c2_status sim_fail_absent(const struct sim *sim, struct c2_error *err);
bool sim_totals_hold(const struct sim *sim); /* of all since the run began; settled. For C2_PROMISE */
enum c2_status sim_window_end(struct sim *sim, enum stream_phase next, struct c2_error *err);

/* notify.c */
enum c2_status sim_notify_init(struct sim *sim, const struct sim_config *config, struct c2_error *err);
enum c2_status sim_notify_memory(const struct sim *sim, bool appeared, const struct mmu_area *area,
                                 struct c2_error *err);
enum c2_status sim_notify_mark(const struct sim *sim, enum stream_mark mark, const uint64_t *words,
                               struct c2_error *err);
void sim_notify_emptied(const struct sim *sim);
enum c2_status sim_notify_dropped(const struct sim *sim, struct c2_error *err);
void sim_notify_block(const struct sim *sim, const struct stream_block *block);
void sim_notify_thread(struct sim *sim, uint32_t tid);
/* hears: listeners of misses, too, or the others. */
enum c2_status sim_notify_records(const struct sim *sim, bool hears, const struct sim_records *records,
                                  struct c2_error *err);
bool sim_wants_references(const struct sim *sim, bool hears); /* in this phase */
enum c2_status sim_notify_references(const struct sim *sim, bool hears, const struct sim_reference *list, size_t count,
                                     struct c2_error *err);
void sim_notify_upgraded(const struct sim *sim, uint32_t code);
void sim_notify_untranslated(const struct sim *sim, enum sim_kind kind, unsigned reads);
enum c2_status sim_notify_instructed(const struct sim *sim, const struct sim_reference *named,
                                     enum caches_instruction what, struct c2_error *err);
enum c2_status sim_notify_approach(const struct sim *sim, const struct sim_approach *access, struct c2_error *err);
enum c2_status sim_notify_tlb_miss(const struct sim *sim, const struct sim_tlb_miss *miss, struct c2_error *err);
enum c2_status sim_notify_window(const struct sim *sim, const struct sim_window *window, struct c2_error *err);
enum c2_status sim_notify_finish(struct sim *sim, struct c2_error *err);
enum c2_status sim_notify_batch(const struct sim *sim, struct c2_error *err);
enum c2_status sim_notify_counted(const struct sim *sim, const struct caches_compact *misses, size_t count,
                                  struct c2_error *err);
enum c2_status sim_notify_found(const struct sim *sim, const struct sim_miss *found, struct c2_error *err);
enum c2_status sim_notify_miss(const struct sim *sim, const struct sim_miss *miss, struct c2_error *err);
enum c2_status sim_notify_prefetched(const struct sim *sim, const struct sim_prefetched *prefetched,
                                     struct c2_error *err);
enum c2_status sim_notify_unaided(const struct sim *sim, const struct sim_miss *miss, uint32_t served_by,
                                  struct c2_error *err);

/* ------------------------------------------------------------------ the way of one line access */

static inline unsigned sim_tlb_side(const struct sim_core *core, enum sim_kind kind)
{
    return kind == SIM_FETCH ? CACHES_TLB_FETCH : (kind == SIM_WRITE) & core->tlb_split;
}

/* The simulated TLBs: a page that is where it was found last; nothing but the order of its set changes, and a count.
 * False: it is not, or is no page for that, and nothing has changed. */
static inline bool sim_tlb_again(struct sim_core *core, unsigned tlb_side, const struct sim_page *page,
                                 struct guest_va va)
{
    const uint64_t tag = tlb_side == CACHES_TLB_LOAD ? 0 : core->tlb_tag[tlb_side];
    uint64_t *const accesses = page->found.accesses;
    if (!caches_tlbs_again(&page->found, va.v >> C2_PAGE_SHIFT | tag))
        return false;
    ++*accesses;
    C2_PROMISE(!core->tlb || caches_tlbs_found_holds(&page->found));
    core->tlb_accesses[tlb_side] = accesses;
    core->tlb_page[tlb_side] = core->tlb_split ? va.v >> C2_PAGE_SHIFT : SIM_NOWHERE;
    return true;
}

/* The page of an access that is done. Where others may become a TLB's most recent entry unseen, it is not known to be
 * that at the next access. */
static inline void sim_tlb_remember(struct sim_core *core, unsigned tlb_side, const struct sim_page *page,
                                    struct guest_va va)
{
    const bool known = core->tlb_split || caches_tlbs_hears(&page->found);
    core->tlb_page[tlb_side] = known ? va.v >> C2_PAGE_SHIFT : SIM_NOWHERE;
    core->tlb_accesses[tlb_side] = page->found.accesses;
}

/* A page that sim_tlb_again() does not know of may still be where it was; the access is not counted yet. */
static inline bool sim_tlb_again_any(struct sim_core *core, unsigned tlb_side, const struct sim_page *page,
                                     struct guest_va va)
{
    if (!caches_tlbs_again_any(&page->found, core->tlb_tag[tlb_side], va))
        return false;
    sim_tlb_remember(core, tlb_side, page, va);
    return true;
}

/* Whether a repeat of the data line would be of another page to the TLBs: only where a load and a store are two
 * things. */
static inline bool sim_tlb_leaves(const struct sim_core *core, bool write, struct guest_va va)
{
    return core->tlb_split && va.v >> C2_PAGE_SHIFT != core->tlb_page[write];
}

/* Where the page of an address is remembered, if it is. */
static inline struct sim_page *sim_page_at(struct sim_core *core, uint64_t va)
{
    return &core->pages[va >> C2_PAGE_SHIFT & (SIM_PAGES - 1)];
}

static inline struct sim_page *sim_page_of(struct sim_core *core, struct guest_va va)
{
    uint64_t vpn = va.v >> C2_PAGE_SHIFT;
    struct sim_page *page = sim_page_at(core, va.v);
    if (C2_UNLIKELY(!SHORTCUT(page->vpn == vpn)))
        sim_page_fill(core, page, va);
    C2_PROMISE(sim_page_holds(core, page, va));
    return page;
}

static inline struct guest_pa sim_translate(struct sim_core *core, struct guest_va va)
{
    return (struct guest_pa){(sim_page_of(core, va)->line << core->line_shift) + (va.v & (C2_PAGE_BYTES - 1))};
}

/* C2_PROMISE: the attribution gives the same of this instruction. */
static inline bool sim_last_access_site_holds(const struct sim_core *core, uint32_t code, enum sim_kind kind,
                                              struct guest_va va, uint64_t word)
{
    const struct sim_attribution *to = &core->sim->attributed.to;
    uint64_t access_site = 0;
    return to->access_site && to->access_site(to->self, code, kind, va, &access_site, NULL) == C2_OK &&
           access_site == word;
}

/* The access site of an access of data by the instruction, if it is known without a request; else NULL. Where misses
 * are only counted. */
static inline const struct sim_last_access_site *sim_last_access_site(const struct sim_core *core, uint32_t code,
                                                                      struct guest_va va)
{
    const struct sim_last_access_sites *all = core->sim->attributed.access_sites;
    if (!SHORTCUT(code < all->room))
        return NULL;
    const struct sim_last_access_site *last = &all->code[code];
    return SHORTCUT(va.v - last->start < last->bytes && last->epoch == all->epoch) ? last : NULL;
}

/* The access site of an access; never 0, which is none, unless there is no attribution. */
static inline enum c2_status sim_ask_access_site(struct sim_core *core, enum sim_kind kind, struct guest_va va,
                                                 uint64_t *access_site, struct c2_error *err)
{
    const struct sim_attribution *to = &core->sim->attributed.to;
    *access_site = 0;
    if (!to->access_site)
        return C2_OK;
    const bool data = kind == SIM_READ || kind == SIM_WRITE;
    const struct sim_last_access_site *last = data ? sim_last_access_site(core, core->code, va) : NULL;
    if (last) {
        C2_PROMISE(sim_last_access_site_holds(core, core->code, kind, va, last->word));
        *access_site = last->word;
        return C2_OK;
    }
    enum c2_status status = to->access_site(to->self, core->code, kind, va, access_site, err);
    C2_PROMISE(status != C2_OK || *access_site != 0);
    return status;
}

/* The size of a page that a walk of so many entries finds. */
static inline uint32_t sim_walk_log2(uint32_t entry_count)
{
    C2_PROMISE(entry_count >= 1 && entry_count <= MMU_WALK_ENTRIES);
    return C2_PAGE_SHIFT + MMU_WALK_BITS * (MMU_WALK_ENTRIES - entry_count);
}

/* With attribution: the size of the page of va, which was translated last. */
static inline uint32_t sim_page_log2(const struct sim_core *core, struct guest_va va)
{
    return sim_walk_log2(core->pages[va.v >> C2_PAGE_SHIFT & (SIM_PAGES - 1)].entry_count);
}

/* What goes with a miss that is only counted; and what the TLBs missed before, if that was for this access. */
static inline uint32_t sim_miss_bits(struct sim_core *core, enum sim_kind kind, const struct sim_page *page)
{
    const uint32_t untranslated = kind != SIM_WALK ? core->untranslated : 0;
    C2_PROMISE(core->sim->attributed.measuring || core->untranslated == 0);
    core->untranslated ^= untranslated;
    return (page->counted | (uint32_t)kind << SIM_COUNTED_KIND | untranslated) & core->sim->attributed.measured_bits;
}
_Static_assert(SIM_COUNTED_READS + 3 <= CACHES_COMPACT_BITS && MMU_WALK_ENTRIES < 8, "the bits are there");

/* A miss of the TLBs is counted with that of the line, if there is one. */
static inline void sim_wait_for_line(struct sim_core *core, unsigned reads)
{
    C2_PROMISE(reads < 8);
    core->untranslated = 1u << SIM_COUNTED_UNTRANSLATED | reads << SIM_COUNTED_READS;
}

/* The first level of the TLBs has missed. Where that is only counted, it waits for whether the line is missed, too, and
 * this is true. */
static inline bool sim_untranslated_waits(struct sim_core *core, unsigned reads)
{
    const struct sim *sim = core->sim;
    if (C2_UNLIKELY(!sim->waits || !sim->attributed.measuring))
        return false;
    sim_wait_for_line(core, reads);
    return true;
}

/* The same; else it is notified at once, with attribution. */
static inline enum c2_status sim_untranslated(struct sim_core *core, unsigned tlb_side, struct guest_va va,
                                              unsigned reads, struct c2_error *err)
{
    C2_PROMISE(core->tlb);
    if (sim_untranslated_waits(core, reads) || !core->sim->attributed.on)
        return C2_OK;
    return sim_attribute_tlb(core, tlb_side, va, reads, err);
}

/* Behind the access: its line was there. */
static inline enum c2_status sim_translated(struct sim_core *core, enum sim_kind kind, struct guest_va va,
                                            enum c2_status status, struct c2_error *err)
{
    return core->untranslated == 0 ? status : sim_attribute_page(core, kind, va, status, err);
}

/* ------------------------------------------------------------------ and of one that is no repeat */

/* All that is pending is notified. Before anything else is accessed: among the repeats may be the write that makes the
 * line dirty, and the access may evict it. */
void sim_flush_repeats(struct sim_core *core);

/* Where the owner of a line is remembered whose page has several. */
static inline struct sim_owned_line *sim_owned_line(struct sim_core *core, uint64_t va)
{
    return &core->sim->attributed.lines[va >> core->line_shift & (SIM_OWNED_LINES - 1)];
}

/* The counter of the owner of the word of va, if it is one of a line with several, and remembered; else NULL. */
static inline uint64_t *sim_owned_word(const struct sim_core *core, uint64_t va)
{
    const uint64_t word = va >> SIM_WORD_SHIFT;
    const struct sim_owned_word *of = &core->sim->attributed.words[word & (SIM_OWNED_WORDS - 1)];
    return SHORTCUT(of->word == word) ? of->refs : NULL;
}

/* From now on references to the line of the last data access count for owners one by one. */
static inline void sim_part_line(struct sim_core *core)
{
    sim_flush_repeats(core);
    core->line_start = SIM_NO_START;
    core->line_refs = NULL;
}

/* The next data access is no repeat. */
static inline void sim_leave_line(struct sim_core *core)
{
    C2_PROMISE(core->repeats == 0);
    core->data_start = core->line_start = SIM_NO_START;
    core->line_refs = NULL;
}

/* Counted in its page. */
static inline uint32_t sim_line_of(struct guest_va va, unsigned line_shift)
{
    return (uint32_t)(va.v & (C2_PAGE_BYTES - 1)) >> line_shift;
}

/* sim.c: the rarer ways of sim_ask(): the TLBs are to be notified more, or there are none; what follows where more than
 * a count has changed, or nothing is done yet. */
enum c2_status sim_ask_tlb(struct sim_core *core, enum sim_kind kind, struct sim_page *page, struct guest_va va,
                           struct c2_error *err);
/* The page that the first TLB of the data side has lost is in the second: the TLBs have done their part but for the
 * count, and that there was a miss of the first is notified with that of the line, or by sim_line_found(). False:
 * nothing has changed; it is not there, or has to be notified at once. */
bool sim_refilled(struct sim_core *core, struct sim_page *page, struct guest_va va);
enum c2_status sim_asked(struct sim_core *core, enum caches_tried tried, enum sim_kind kind,
                         const struct sim_page *page, struct guest_va va, struct c2_error *err);

/* The caches are asked for a line; the TLBs have been. */
static inline enum c2_status sim_ask_caches(struct sim_core *core, enum sim_kind kind, const struct sim_page *page,
                                            struct guest_va va, struct c2_error *err)
{
    const uint32_t line = sim_line_of(va, core->line_shift), slot = page->slot;
    struct caches_l1_handle *const l1_handle = core->l1_handle[kind == SIM_FETCH ? CACHES_FETCH : CACHES_DATA];
    const struct line_no physical_line = {page->line + line};
    if (C2_UNLIKELY(slot == SIM_NO_SLOTS))
        return sim_asked(core, CACHES_UNTRIED, kind, page, va, err);
    if (C2_UNLIKELY(core->sim->hears_instructions))
        sim_attribute_try(core, kind, va);
    enum caches_tried tried = caches_again(l1_handle, kind == SIM_WRITE, slot + line, physical_line);
    if (tried == CACHES_UNTRIED)
        tried = caches_try_others(l1_handle, kind == SIM_WRITE, slot + line, physical_line);
    return C2_LIKELY(tried == CACHES_TRIED) ? C2_OK : sim_asked(core, tried, kind, page, va, err);
}

/* TLBs and caches are asked. */
static inline enum c2_status sim_ask(struct sim_core *core, enum sim_kind kind, struct sim_page *page,
                                     struct guest_va va, struct c2_error *err)
{
    core->sim->attributed.number++;
    if (C2_UNLIKELY(!sim_tlb_again(core, sim_tlb_side(core, kind), page, va)))
        return sim_ask_tlb(core, kind, page, va, err);
    return sim_ask_caches(core, kind, page, va, err);
}

/* sim.c: a line access that is not a repeat, whatever is known of it. */
enum c2_status sim_access(struct sim_core *core, enum sim_kind kind, struct guest_va va, struct c2_error *err);

/* A line access on the data side by a reference that has counted for its owner. */
static inline enum c2_status sim_data_line(struct sim_core *core, bool write, struct guest_va va, struct c2_error *err)
{
    C2_PROMISE(core->sim->core_count == 1);
    if (!SHORTCUT((va.v & ~core->line_mask) == core->data_start && !sim_tlb_leaves(core, write, va)))
        return sim_access(core, write ? SIM_WRITE : SIM_READ, va, err);
    if (core->line_refs)
        sim_part_line(core);
    core->repeats += write ? SIM_REPEAT_WRITE : SIM_REPEAT_READ;
    return C2_OK;
}

/* Every line of one reference that touches several, low to high. */
enum c2_status sim_data_lines(struct sim_core *core, bool write, struct guest_va va, uint32_t size,
                              struct c2_error *err);

#endif
