/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * stays: which lines are in which level since when, and what was touched of them. stays.c has the model.
 */
#ifndef C2_ANALYSES_STAYS_PRIV_H
#define C2_ANALYSES_STAYS_PRIV_H

#include "analyses/analyses.h"

#define STAYS_NOBODY UINT32_MAX

/* What makes a line come, and another leave: any number but NOBODY. */
struct stays_actor {
    uint32_t number;
    struct guest_va va; /* where the line lies; 0: it is no data of the program */
    bool measured;
};

/* A line in a level. */
struct stay {
    uint64_t va;       /* its loader's */
    uint32_t note;     /* the listener's */
    uint64_t accesses; /* references to the line, at whatever level they were served */
    uint32_t loader;
    bool measured; /* when it came */
    bool there;
};

/* By its level; by one below; by another core's write; by the snoop filter; by an instruction; there at the end. */
enum stays_end { STAYS_EVICTED, STAYS_INVALIDATED, STAYS_TAKEN, STAYS_FILTERED, STAYS_FLUSHED, STAYS_LEFT };

/* Levels by their number: L1I has the number behind those of the data path. mask: a bit for each byte touched, in words
 * of 64 bits. evictor: NOBODY where the line was left. */
struct stays_listener {
    void *self;
    enum c2_status (*began)(void *self, struct stay *stay, struct c2_error *err); /* NULL: does not want to know */
    enum c2_status (*ended)(void *self, uint32_t level, const struct stay *stay, const uint64_t *mask,
                            enum stays_end end, uint32_t evictor, struct c2_error *err);
};

struct stays;
enum c2_status stays_create(struct stays **out, const struct caches_machine *machine,
                            const struct stays_listener *listener, struct c2_error *err);
void stays_destroy(struct stays *stays); /* takes NULL */

/* The core that makes what follows. */
void stays_on_core(struct stays *stays, uint32_t core);
/* The bytes [first, first + bytes) of the line are accessed: by a fetch, which enters at L1I; else at level `depth` of
 * the data path. Counts for the levels that have it, from there down. */
void stays_touch(struct stays *stays, uint64_t line, bool fetch, uint32_t depth, uint32_t first, uint32_t bytes);
/* The core writes the line: it leaves the levels that are other cores' own. Before the access itself. */
enum c2_status stays_written(struct stays *stays, uint64_t line, uint32_t writer, struct c2_error *err);
/* An access of the line missed levels outcome->event[first .. served_by - 1]: lines leave, and this one comes. What it
 * touches is still to be notified, but for an exclusive level that gives it up, of which that is the last: [from, from
 * + bytes). */
enum c2_status stays_missed(struct stays *stays, uint64_t line, bool fetch, uint32_t first,
                            const struct caches_outcome *outcome, const struct stays_actor *actor, uint32_t from,
                            uint32_t bytes, struct c2_error *err);
/* An event of the prefetchers: EVICTED, ISSUED, FILTERED; others change nothing. */
enum c2_status stays_prefetched(struct stays *stays, const struct caches_prefetched *event,
                                const struct stays_actor *actor, struct c2_error *err);
/* What is there has not come while it was measured. */
void stays_drop(struct stays *stays);
/* Nothing is in any level any more. */
enum c2_status stays_end_all(struct stays *stays, struct c2_error *err);

/* Bits of [first, first + bytes) in a mask of so many words; how many are set. */
void stays_mask_add(uint64_t *mask, uint32_t first, uint32_t bytes);
uint32_t stays_mask_count(const uint64_t *mask, uint32_t words);
uint32_t stays_mask_words(const struct caches_machine *machine);
void stays_check(const struct stays *stays);

#endif
