/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * caches_fast: what sim/, whose loop makes many accesses, needs besides caches.h: accesses in steps and in two
 * stages, what follows an access, instructions made for caches, phases. Of others tests and benchmarks alone include
 * it. A handle is what the loop has in its hands of a level that is asked first: its event log is the loop's to write
 * on, all else of it is looked at by the functions here and in l1_handle_simd.h.
 */
#ifndef C2_CACHES_FAST_H
#define C2_CACHES_FAST_H

#include "caches/caches.h"
#include "caches/caches_tlb.h"

/* ------------------------------------------------------------------ steps */

/* caches_access() in steps, for callers that make many accesses and need to know of a miss before its outcome is
 * notified. A line's slot is a number that it keeps. The CACHES_SLOTS lines from a multiple of that on have slots one
 * behind the other, so one known slot gives all of them. CACHES_NO_SLOT: no host memory. */
#define CACHES_NO_SLOT UINT32_MAX
#define CACHES_SLOTS 64u
uint32_t caches_slot(struct caches *caches, struct line_no physical_line);
enum caches_tried {
    CACHES_UNTRIED, /* nothing at all has changed, and caches_access() is to be called */
    CACHES_TRIED,   /* a hit in the first level: done, all counts included */
    CACHES_MISSED,  /* the levels have missed and been filled: caches_classify() or caches_defer() is to follow */
    CACHES_FULL,    /* as TRIED, and the event log is full: see caches_defer_to() */
};
/* With SHiP, caches_set_instruction() comes before each: of a fetch with the address of its line, which has no other
 * instruction. */
enum caches_tried caches_try(struct caches *caches, enum caches_side side, bool write, uint32_t slot,
                             struct line_no physical_line);

/* What a level that is asked first has at hand, so that most of its hits are no call. */
#define CACHES_EVENT_LOG_LEVEL_INDEX 32u
#define CACHES_EVENT_LOG_MISSED 36u
#define CACHES_EVENT_LOG_BEHIND 40u
#define CACHES_EVENT_LOG_BITS 48u
struct caches_event_log_end {
    uint64_t *at, *stop; /* what comes next; behind it, room for what one access may write */
};
struct caches_l1_handle {
    uint32_t *word; /* the youngest line of each set: its slot + 1, shifted by one, and whether it is dirty; */
    uint32_t set_mask, stride; /* if sets are found by the low bits of a line. Else no line is there */
    uint32_t ways;             /* likewise; else 0 */
    uint32_t notified;         /* the slot that the level was asked for last; CACHES_NO_SLOT: unknown */
    uint64_t level_index_word; /* its level index, where the event log has it */
    uint32_t *youngest; /* of the set of the last access; NULL: there was none, or the machine is not a usual one */
    uint64_t hits[2], misses[2]; /* by whether it was a write */
    uint64_t missed;             /* what the record of a miss of this level alone begins with, but for the slot */
    struct caches_event_log_end *event_log;
    struct caches *caches;
    struct caches_l1_handle *second; /* of the level that is asked next, where caches_l1_handle_served() is possible: it
                                      * has its lines likewise. Else NULL; */
    uint32_t second_ways;            /* and 0 */
    enum caches_tried (*others)(struct caches_l1_handle *l1_handle, bool write, uint32_t slot, uint64_t physical_line);
    /* first, second: what the caller has to add to the first two words of the record, which is complete then. */
    enum caches_tried (*missing)(struct caches_l1_handle *l1_handle, bool write, uint32_t slot, uint64_t physical_line,
                                 uint64_t first, uint64_t second);
    enum caches_tried (*missing_further)(struct caches_l1_handle *l1_handle, bool write, uint32_t slot,
                                         uint64_t physical_line, uint64_t first,
                                         uint64_t second); /* `second` as well */
    enum caches_tried (*wrote)(struct caches_l1_handle *l1_handle,
                               uint32_t victim); /* behind caches_l1_handle_served() */
};
/* Lent until destroy; NULL: the side has no level. */
struct caches_l1_handle *caches_l1_handle(struct caches *caches, enum caches_side side);
bool caches_l1_handle_holds(const struct caches_l1_handle *l1_handle, uint32_t slot); /* for C2_PROMISE */
/* Whether the level has its lines in order of age, so many of them in each of so many sets, which the low bits of a
 * line find. handle: or NULL. */
static inline bool caches_l1_handle_is(const struct caches_l1_handle *l1_handle, uint32_t sets, uint32_t ways)
{
    return l1_handle && l1_handle->set_mask == sets - 1 && l1_handle->ways == ways;
}

/* caches_try() of the youngest line of a set, which most lines are that a program comes back to: then there is nothing
 * to be moved. CACHES_TRIED or CACHES_FULL; CACHES_UNTRIED: it is not. */
static inline enum caches_tried caches_again(struct caches_l1_handle *l1_handle, bool write, uint32_t slot,
                                             struct line_no physical_line)
{
    uint32_t *const words = &l1_handle->word[((uint32_t)physical_line.v & l1_handle->set_mask) * l1_handle->stride];
    const uint32_t word = *words;
    if (!SHORTCUT(word >> 1 == slot + 1))
        return CACHES_UNTRIED;
    *words = word | write;
    l1_handle->youngest = words;
    l1_handle->hits[write]++;
    if (l1_handle->notified == slot)
        return CACHES_TRIED;
    struct caches_event_log_end *const event_log = l1_handle->event_log;
    uint64_t *const at = event_log->at;
    l1_handle->notified = slot;
    *at = l1_handle->level_index_word | slot;
    event_log->at = at + 1;
    C2_PROMISE(at + 1 >= event_log->stop || caches_l1_handle_holds(l1_handle, slot));
    return C2_UNLIKELY(at + 1 >= event_log->stop) ? CACHES_FULL : CACHES_TRIED;
}
/* caches_try() of a line that caches_again() does not have. */
static inline enum caches_tried caches_try_others(struct caches_l1_handle *l1_handle, bool write, uint32_t slot,
                                                  struct line_no physical_line)
{
    return l1_handle->others(l1_handle, write, slot, physical_line.v);
}
/* The rest of caches_try() of a line that its set does not have: the caller has looked, and promises that it is the set
 * of the last access now (`youngest`). Of usual machines. */
static inline enum caches_tried caches_try_missed(struct caches_l1_handle *l1_handle, bool write, uint32_t slot,
                                                  struct line_no physical_line)
{
    return l1_handle->missing(l1_handle, write, slot, physical_line.v, 0, 0);
}
/* With what instructions sets are searched: from the slow twin on to what needs the youngest hosts; numbers that the
 * preprocessor knows. */
#define CACHE_FORM_SCALAR 0
#define CACHE_FORM_SSE2 1
#define CACHE_FORM_AVX2 2
#define CACHE_FORM_AVX512 3
#define CACHE_FORMS 4
unsigned caches_form(const struct caches *caches);
/* Others may have been asked meanwhile. */
static inline void caches_l1_handle_forget(struct caches_l1_handle *l1_handle) { l1_handle->notified = CACHES_NO_SLOT; }
/* What caches_access() would have said of it; the access site may have been set since. */
void caches_classify(struct caches *caches, struct caches_outcome *outcome);

/* For callers that can look ahead: while *caches_far() is not 0, of late many accesses have missed the second level,
 * and it pays to name lines that will be accessed soon, so that the host fetches the sets that may have them. Changes
 * nothing but *caches_far(), whatever is named. Lent until destroy. */
const uint32_t *caches_far(const struct caches *caches);
void caches_expect(struct caches *caches, uint32_t slot, struct line_no physical_line);

/* ------------------------------------------------------------------ classes deferred
 * On most machines - of one core, without prefetchers, a line has one set in each level - what is said of an access
 * changes nothing of what the levels hold. There an access may be made in two stages: the levels now, and shadows,
 * classes, evictors and outcomes later, from a event log that the first stage writes; on another thread if one likes.
 * */
bool caches_can_defer(const struct caches *caches);
/* Before the first access, and then while the event log is empty: from now on they write on this one, and are made by
 * caches_try(), caches_try_walk(), caches_defer(), caches_defer_compactly() and caches_note() alone. room: more than
 * CACHES_EVENT_LOG_SLACK words.
 * What returns CACHES_FULL has left room for a few accesses more. The counts of levels are current when all was
 * heard. */
#define CACHES_EVENT_LOG_SLACK 256u
void caches_defer_to(struct caches *caches, uint64_t *words, uint32_t room);
/* How many words are on the event log now; it is empty then. */
uint32_t caches_deferred(struct caches *caches);

/* Behind CACHES_MISSED the event log has at its end, not yet a part of it, what the caches have to say of the miss; one
 * of the following must come next. */
/* What goes with an access. */
#define CACHES_NOTED 3u
struct caches_noted {
    uint64_t access_site;        /* its maker, as in caches_set_access_site() */
    uint64_t word[CACHES_NOTED]; /* whatever the caller wants to find with the outcome */
};
/* After CACHES_MISSED, instead of caches_classify(): CACHES_TRIED, or CACHES_FULL. NULL: no listener. */
enum caches_tried caches_defer(struct caches *caches, const struct caches_noted *noted);
/* The same where misses are only counted, by access site: it takes a third of the words. A caller that defers so defers
 * all accesses so. bits: below 1 << CACHES_COMPACT_BITS, whatever the caller wants to find with it; 0: it is not to be
 * counted. */
enum caches_tried caches_defer_compactly(struct caches *caches, uint64_t access_site, uint32_t bits);
/* Adds the caller's to the record that is at the end of the event log, of which it becomes a part. rest: the access
 * site's upper half, and what the caches add to it. Says whether the event log is full. */
static inline bool caches_event_log_compact(struct caches_event_log_end *event_log, uint64_t access_site, uint64_t rest,
                                            uint32_t bits)
{
    uint64_t *const at = event_log->at;
    const uint64_t first = at[0], more = rest != 0;
    uint64_t *const last = at + (first >> CACHES_EVENT_LOG_MISSED & 15);
    at[0] = (first | (uint64_t)bits << CACHES_EVENT_LOG_BITS) + (more << CACHES_EVENT_LOG_BEHIND);
    at[1] |= access_site << 32;
    last[1] = rest;
    event_log->at = last + 1 + more;
    return event_log->at >= event_log->stop;
}
/* caches_try_missed() and caches_defer_compactly() in one, for an access site of no upper half: the record is a part of
 * the event log, which may be full. second_missed: caches_l1_handle_served() was false. Returns how many levels have
 * missed: it has one word more. */
static inline uint32_t caches_count_missed(struct caches_l1_handle *l1_handle, bool second_missed, bool write,
                                           uint32_t slot, struct line_no physical_line, uint64_t access_site,
                                           uint32_t bits)
{
    C2_PROMISE(access_site >> 32 == 0 && bits >> CACHES_COMPACT_BITS == 0);
    struct caches_event_log_end *const event_log = l1_handle->event_log;
    const enum caches_tried tried = (second_missed ? l1_handle->missing_further : l1_handle->missing)(
        l1_handle, write, slot, physical_line.v, (uint64_t)bits << CACHES_EVENT_LOG_BITS, access_site << 32);
    C2_PROMISE(tried == CACHES_MISSED);
    (void)tried;
    const uint32_t missed = *event_log->at >> CACHES_EVENT_LOG_MISSED & 15;
    event_log->at += 1 + missed;
    return missed;
}
/* What is at the end of the event log behind CACHES_MISSED is taken away, so that notes may come before it, and put
 * back. */
struct caches_aside {
    uint64_t word[CACHES_MAX_LEVELS + 1];
};
void caches_put_aside(const struct caches *caches, struct caches_aside *out);
void caches_put_back(struct caches *caches, const struct caches_aside *aside);
/* Something else to be heard at this place. */
enum caches_tried caches_note(struct caches *caches, const struct caches_noted *noted);

struct caches_listener {
    void *self;
    /* Misses of accesses deferred briefly, in order, at least one: level after level, access after access. Those on a
     * event log are notified before a note behind them, and before caches_hear() returns. */
    enum c2_status (*counted)(void *self, const struct caches_compact *misses, size_t count, struct c2_error *err);
    /* outcome NULL: a note, of no line. */
    enum c2_status (*notified)(void *self, const struct caches_noted *noted, struct line_no line,
                               const struct caches_outcome *outcome, struct c2_error *err);
};
/* The second stage, of what was on the event log at some time: all words in order, whole event logs. It may run while
 * the first one goes on. Fails where the listener does, or for want of memory. */
enum c2_status caches_hear(struct caches *caches, const uint64_t *words, uint32_t count,
                           const struct caches_listener *listener, struct c2_error *err);

/* ------------------------------------------------------------------ machines that share a first level
 * Of machines whose first levels are the same, and do not depend on what is below, one has these and the others take
 * from its event log what goes below: follow.c has the model. */
bool caches_machines_share_first(const struct caches_machine *one, const struct caches_machine *other);
/* Before the first access, of a machine with an event log of the caller's: its first level is another one's. */
void caches_follow(struct caches *caches);
/* The event log of the other one, where misses are deferred compactly: what comes next. Misses of first levels go on
 * below, and hits are nothing, until there is something for the caller to do. writes: what the bits of writes are,
 * under a mask. */
struct caches_log {
    const uint64_t *at, *end;
};
struct caches_log_writes {
    uint32_t mask, are;
};
enum caches_log_kind {
    CACHES_LOG_END,
    CACHES_LOG_FULL,   /* this machine's own event log is */
    CACHES_LOG_LOST,   /* caches_first_lost() */
    CACHES_LOG_GROUP,  /* of lines that is new: caches_slot() of the first comes next */
    CACHES_LOG_PLACED, /* what caches_note_placed() was given */
};
struct caches_log_group {
    struct line_no first;
    const uint64_t *placed;
    uint32_t placed_count;
};
enum caches_log_kind caches_log_next(struct caches *caches, struct caches_log *log, struct caches_log_writes writes,
                                     struct caches_log_group *group);
/* In an access: where machines that follow have their first line of the group of this slot; at most so many. */
#define CACHES_FOLLOWERS 64u
void caches_note_placed(struct caches *caches, uint32_t slot, const uint64_t *first, uint32_t count);
/* An inclusive level has taken a line from the first one: from there it is no other machine's. */
bool caches_first_lost(const struct caches *caches);
/* The counts of the first levels become those of the other one. Both event logs are empty, and all is heard. */
void caches_adopt_first(struct caches *caches, const struct caches *from);

/* ------------------------------------------------------------------ repeats and walks */

/* caches_repeat() of the data side's handle, with so many reads and writes; false: the machine is not a usual one, and
 * nothing has changed. */
static inline bool caches_repeats(struct caches_l1_handle *l1_handle, uint64_t reads, uint64_t writes)
{
    uint32_t *const youngest = l1_handle->youngest;
    if (C2_UNLIKELY(!youngest))
        return false;
    l1_handle->hits[0] += reads;
    l1_handle->hits[1] += writes;
    *youngest |= writes != 0;
    return true;
}

/* caches_walk() in two stages, as caches_try(); needs caches_defer_to(). *served_by is known at once. CACHES_UNTRIED:
 * there is no host memory. */
enum caches_tried caches_try_walk(struct caches *caches, struct line_no physical_line, uint32_t *served_by);

/* ------------------------------------------------------------------ what follows an access */

/* Of a machine that writes on (caches_machine_writes_on): the stores that the last access has passed on from a level
 * that has or has taken its line. Each is an access of the next level, and so on down, with an outcome that begins at
 * the level `first`, as that of a page walk does. In order, `first` ascending; lent until the next access. */
struct caches_stored {
    uint32_t first;
    struct caches_outcome outcome;
};
const struct caches_stored *caches_stored(const struct caches *caches, size_t *count);

/* What happened behind the last access, walk or instruction and in it, in order; lent until the next one. None on
 * machines that do not prefetch, while there was no instruction. */
const struct caches_prefetched *caches_prefetched(const struct caches *caches, size_t *count);

/* ------------------------------------------------------------------ instructions made for caches
 * instructed.c has the model; what they have done is read in caches.h. */
/* Before the first one: a usual machine becomes one like all others, to the same counts; what is on a event log of the
 * caller's has been heard. Verdicts cannot be deferred any more, and fronts are of no usual machine. Done by itself
 * where there is no such event log. Again: nothing. */
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
struct caches_instructed_flows caches_instructed_flows(const struct caches *caches);
/* Counts of instructions, but nothing else, go on where another hierarchy has stopped. */
void caches_instructed_inherit(struct caches *caches, struct caches *from);

/* ------------------------------------------------------------------ several cores */

/* Whether cores' counts and what is known of shared lines go on; they do at first. */
void caches_measure(struct caches *caches, bool on);
uint64_t caches_upgrades(const struct caches *caches); /* so far, measured or not; of one core 0 */
void caches_drop_shared(struct caches *caches);        /* they begin anew */
/* After the last access: misses of which it is not known are false sharing. C2_ERR_NO_MEMORY. */
enum c2_status caches_settle_shared(struct caches *caches, struct c2_error *err);
/* Of data-path level i, or L1I, one core's; of a shared level those of all. Lent until destroy. */
const struct caches_counts *caches_level_counts_of(const struct caches *caches, uint32_t core, uint32_t level);

/* ------------------------------------------------------------------ TLBs */

/* Whether loads and stores have first levels of their own. */
bool caches_tlbs_split(const struct caches_tlbs *tlbs);
/* The key of a page of 4K in the first level of a side is its number or-ed with this; 0 of loads, and without TLBs. */
uint64_t caches_tlbs_tag(const struct caches_tlbs *tlbs, enum caches_tlb_side side);

/* Where a page was found in the first level, kept by the caller; at first caches_tlb_nowhere. */
struct caches_tlb_found {
    const uint64_t
        *at; /* while the page's key is here the page is there, and a hit makes order & keep | set of order */
    union {
        uint8_t *order; /* of its set; */
        uint64_t *key;  /* where `at` is no place of the page: where its key is, if it is anywhere */
    };
    uint64_t *accesses; /* of the TLB. One more access to the page found last changes nothing else, so a caller that has
                         * such may add them here */
    uint8_t keep;       /* with `key`: how far up in an address the page's number is; */
    uint8_t set;        /* whether the TLB hears of all hits */
    uint8_t what;       /* in the key, what is above the number */
    uint8_t second_way; /* where the second level had it: the way in its set; */
    uint16_t second;    /* of all ways; 0: unknown; */
    uint16_t second_set;
};
extern const struct caches_tlb_found caches_tlb_nowhere;
bool caches_tlbs_found_holds(const struct caches_tlb_found *found); /* for C2_PROMISE, of a page that is somewhere */

/* The two halves of caches_tlbs_again(): whether the page is still there, and the access. */
static inline bool caches_tlbs_there(const struct caches_tlb_found *found, uint64_t key)
{
    return SHORTCUT(*found->at == key);
}
static inline void caches_tlbs_order(const struct caches_tlb_found *found)
{
    *found->order = (*found->order & found->keep) | found->set;
}

/* The same as caches_tlbs_access(), cheaper, for a page that was found: true: it was still there for this side, and the
 * access is done but for the count, which is the caller's to add to (*found->accesses); false: nothing has changed.
 * What was found holds for one page as long as its size is the same. key: see caches_tlbs_tag(). */
static inline bool caches_tlbs_again(const struct caches_tlb_found *found, uint64_t key)
{
    if (!caches_tlbs_there(found, key))
        return false;
    caches_tlbs_order(found);
    return true;
}
/* The same for pages that caches_tlbs_again() does not find: large ones, and those of TLBs whose policy has to be
 * notified of hits. */
bool caches_tlbs_again_any(const struct caches_tlb_found *found, uint64_t tag, struct guest_va va);
/* Of a page that is somewhere: no page of this TLB is found by caches_tlbs_again(). */
static inline bool caches_tlbs_hears(const struct caches_tlb_found *found)
{
    return found->at == caches_tlb_nowhere.at && found->set;
}
/* A page that the first level has lost, as caches_tlbs_again() has said, and the second has. True: the access is done,
 * likewise, without a walk, and the page is in the first level again. False: nothing has changed. */
struct caches_tlb_refill;
bool caches_tlbs_refill(const struct caches_tlb_refill *refill, struct guest_va va, struct caches_tlb_found *found);
/* Of a side; tlbs may be NULL. Lent until destroy. */
const struct caches_tlb_refill *caches_tlbs_refill_of(const struct caches_tlbs *tlbs, enum caches_tlb_side side);

#endif
