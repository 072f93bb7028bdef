/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * stays: which lines are in which level since when, and what was touched of them. stays.c has the model.
 */
#ifndef C2_ANALYSES_STAYS_PRIV_H
#define C2_ANALYSES_STAYS_PRIV_H

#include "analyses/analyses.h"

#define STAYS_NOBODY UINT32_MAX

/* What makes a line come, and another leave: any number but NOBODY. */
struct residencies_access_site {
    uint32_t number;
    struct guest_va va; /* where the line lies; 0: it is no data of the program */
    bool measured;
};

/* A line in a level. */
struct residency {
    uint64_t va;       /* its loader's */
    uint32_t note;     /* the listener's */
    uint64_t accesses; /* references to the line, at whatever level they were served */
    uint32_t loader;
    bool measured; /* when it came */
    bool there;
};

/* By its level; by one below; by another core's write; by the snoop filter; by an instruction; there at the end. */
enum residencies_end { STAYS_EVICTED, STAYS_INVALIDATED, STAYS_TAKEN, STAYS_FILTERED, STAYS_FLUSHED, STAYS_LEFT };

/* Levels by their number: L1I has the number behind those of the data path. mask: a bit for each byte touched, in words
 * of 64 bits. evictor: NOBODY where the line was left. */
struct residencies_listener {
    void *self;
    enum c2_status (*began)(void *self, struct residency *residency,
                            struct c2_error *err); /* NULL: does not want to know */
    enum c2_status (*ended)(void *self, uint32_t level, const struct residency *residency, const uint64_t *mask,
                            enum residencies_end end, uint32_t evictor, struct c2_error *err);
};

struct residencies;
enum c2_status residencies_create(struct residencies **out, const struct caches_machine *machine,
                                  const struct residencies_listener *listener, struct c2_error *err);
void residencies_destroy(struct residencies *residencies); /* takes NULL */

/* The core that makes what follows. */
void residencies_on_core(struct residencies *residencies, uint32_t core);
/* The bytes [first, first + bytes) of the line are accessed: by a fetch, which enters at L1I; else at level `depth` of
 * the data path. Counts for the levels that have it, from there down. */
void residencies_touch(struct residencies *residencies, uint64_t line, bool fetch, uint32_t depth, uint32_t first,
                       uint32_t bytes);
/* The core writes the line: it leaves the levels that are other cores' own. Before the access itself. */
enum c2_status residencies_written(struct residencies *residencies, uint64_t line, uint32_t writer,
                                   struct c2_error *err);
/* An access of the line missed levels outcome->event[first .. served_by - 1]: lines leave, and this one comes. What it
 * touches is still to be notified, but for an exclusive level that gives it up, of which that is the last: [from, from
 * + bytes). */
enum c2_status residencies_missed(struct residencies *residencies, uint64_t line, bool fetch, uint32_t first,
                                  const struct caches_outcome *outcome,
                                  const struct residencies_access_site *access_site, uint32_t from, uint32_t bytes,
                                  struct c2_error *err);
/* An event of the prefetchers: EVICTED, ISSUED, FILTERED; others change nothing. */
enum c2_status residencies_prefetched(struct residencies *residencies, const struct caches_prefetched *event,
                                      const struct residencies_access_site *access_site, struct c2_error *err);
/* What is there has not come while it was measured. */
void residencies_drop(struct residencies *residencies);
/* Nothing is in any level any more. */
enum c2_status residencies_end_all(struct residencies *residencies, struct c2_error *err);

/* Bits of [first, first + bytes) in a mask of so many words; how many are set. */
void residencies_mask_add(uint64_t *mask, uint32_t first, uint32_t bytes);
uint32_t residencies_mask_count(const uint64_t *mask, uint32_t words);
uint32_t residencies_mask_words(const struct caches_machine *machine);
void residencies_check(const struct residencies *residencies);

#endif
