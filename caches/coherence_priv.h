/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Several cores: which cores have a line, and which wrote its bytes. The model cards are in coherence.c and bytes.c.
 */
#ifndef C2_COHERENCE_PRIV_H
#define C2_COHERENCE_PRIV_H

#include "caches/hierarchy_priv.h"

/* What the directory knows of a line. Cores are bits. */
struct cache_directed {
    uint64_t sharers; /* have it in a level of their own */
    uint64_t touched; /* have asked for it since another core wrote it: of no other core a shadow has it */
    uint64_t lost;    /* from these another core's write took it, and they have not had it since */
    uint64_t marked;  /* of these a level, if asked, will say so: CACHES_COHERENCE */
    uint32_t owner;   /* core + 1 that may write it without asking: E or M; 0: none */
    uint32_t record;  /* 1 + that of its bytes, 0: it was not taken so far */
};

/* A core in the record of a line. */
struct cache_byte_user {
    uint64_t foreign; /* bytes that others wrote since it lost the line; while it waits, those it has not accessed */
    uint64_t taker_bytes, miss_bytes; /* of the write that took the line last; of the miss that waits */
    uint32_t taker, taker_core;       /* that wrote */
    uint32_t misser;                  /* that missed */
    bool waits;                       /* a miss is neither true nor false sharing so far */
    bool measured;                    /* it counts */
    struct caches_shared_user sums;
};

struct cache_coherence {
    uint32_t cores, private_levels, own_nodes; /* own_nodes: levels of one core, L1I with them */
    bool keeps_stores;                         /* of a core's own levels one has each line that it writes, dirty */
    struct caches_origin origin;               /* of the access being made */
    bool measuring;
    bool failed;                 /* there was no memory where it could not be reported */
    bool upgraded;               /* the core had the line of this access in S, and writes it */
    uint64_t upgrades;           /* such writes so far, measured or not */
    bool asked;                  /* by this access: a core that does not have the line, or may not write it */
    struct cache_filter *filter; /* NULL: the directory has room for all */
    struct {
        const struct cache_level *level;
        uint32_t slot;
    } evicted[CACHES_MAX_LEVELS * CACHES_MAX_LEVELS *
              CACHES_MAX_LEVELS]; /* in it; where these lines are is known when it is over */
    uint32_t evicted_count;
    uint32_t marked; /* nodes of the core that would say so, before the access: bit depth, L1I behind the others */
    struct cache_directed *lines;                     /* [slot] */
    uint32_t room;                                    /* slots that have one */
    struct caches_core_counts *counts;                /* [core] */
    struct caches_core_level *levels;                 /* [core * own_nodes + node] */
    struct caches_counts sums[CACHES_MAX_LEVELS + 1]; /* of all cores, as they were asked for last */
    struct cache_byte_user *users;                    /* [record * cores + core] */
    struct cache_byte_line {
        uint32_t slot, pairs; /* pairs: 1 + the first, 0: none */
    } * records;
    uint32_t record_count, record_room, user_room;
    struct caches_shared_pair *pairs;
    uint32_t pair_count, pair_room;
};

/* coherence.c */
enum c2_status cache_coherence_init(struct caches *caches, struct c2_error *err);
void cache_coherence_end(struct caches *caches);
/* Room for what is known of all slots; false: no memory. */
bool cache_coherence_reach(struct caches *caches);
/* Around an access: other cores lose the line or share it; then the core has it, or not. has: as of
 * cache_contents_access(). False: no memory. */
bool cache_coherence_before(struct caches *caches, const struct cache_request *request);
bool cache_coherence_after(struct caches *caches, const struct cache_request *request, const struct cache_level *has,
                           struct caches_outcome *outcome);
/* Around what a prefetcher fetches into request->first, as an access that reads no bytes. Kept: a core has the line, so
 * that a shared level's prefetcher is notified so. */
bool cache_coherence_keeps(const struct caches *caches, const struct cache_request *request);
void cache_coherence_fetches(struct caches *caches, const struct cache_request *request);
/* *filtered: the slot of a line that the cores have lost; LINES_NO_SLOT: none. False: no memory. */
bool cache_coherence_fetched(struct caches *caches, const struct cache_request *request, uint32_t *filtered);
/* Around what an instruction does: before a prefetch for writing others lose the line, false: no memory; all levels
 * have lost it. */
bool cache_coherence_claims(struct caches *caches, const struct cache_request *request);
void cache_coherence_flushed(struct caches *caches, uint32_t slot);
/* A level has evicted the line, which may be on its way to another one. */
void cache_coherence_evicted(struct caches *caches, const struct cache_level *level, uint32_t slot);
/* The core that gets the line may have it dirty: the core that makes the access may write it, or it is a shared level's
 * prefetcher that fetches, and no core has it. */
static inline bool cache_coherence_may_be_dirty(const struct caches *caches, uint32_t slot)
{
    const struct cache_directed *line = &caches->coherence->lines[slot];
    return line->owner == caches->coherence->origin.core + 1 || line->sharers == 0;
}
bool cache_coherence_holds(const struct caches *caches, uint32_t slot);

/* filter.c. Made before the levels, and placed when they are. */
enum c2_status cache_filter_create(struct cache_filter **out, const struct caches_machine *machine,
                                   struct c2_error *err);
void cache_filter_destroy(struct cache_filter *filter);                                       /* takes NULL */
void cache_filter_place(struct cache_filter *filter, const struct cache_level *first_shared); /* NULL: none is */
/* Some core has the line in this slot now. True: *victim had to make room. */
bool cache_filter_use(struct cache_filter *filter, const struct cache_lines *lines, uint32_t slot, uint32_t *victim);
void cache_filter_drop(struct cache_filter *filter, const struct cache_lines *lines, uint32_t slot); /* no core has */
bool cache_filter_holds(const struct cache_filter *filter, const struct cache_lines *lines, uint32_t slot,
                        bool is_there);

/* bytes.c: another core's write takes the line from `core`; false: no memory. */
bool cache_bytes_taken(struct cache_coherence *coherence, uint32_t slot, uint32_t core);
/* The write is done: cores that have lost the line will find its bytes changed. */
void cache_bytes_written(struct cache_coherence *coherence, const struct cache_directed *line);
/* The core accesses its bytes; missed: because the line was taken. False: no memory. */
bool cache_bytes_accessed(struct cache_coherence *coherence, const struct cache_directed *line, bool write,
                          bool missed);
/* The core has the line no more: what waits is false sharing. */
bool cache_bytes_left(struct cache_coherence *coherence, const struct cache_directed *line, uint32_t core);
bool cache_bytes_settle(struct cache_coherence *coherence);

static inline uint64_t cache_core_bit(uint32_t core) { return (uint64_t)1 << core; }

#endif
