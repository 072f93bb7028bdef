/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The hierarchy as its files share it. The model card is in hierarchy.c.
 */
#ifndef C2_HIERARCHY_PRIV_H
#define C2_HIERARCHY_PRIV_H

#include "caches/level_priv.h"

/* Where accesses enter: the first two are enum caches_side. */
enum cache_port { CACHE_PORT_DATA, CACHE_PORT_FETCH, CACHE_PORT_WALK, CACHE_PORTS };
_Static_assert((int)CACHE_PORT_DATA == CACHES_DATA && (int)CACHE_PORT_FETCH == CACHES_FETCH, "sides are ports");

/* What an access does besides: a victim of the level above pushes another line out of an exclusive level, or the line
 * moves, up from there or out of the set that it was in under another name. */
struct cache_pushed {
    uint32_t number, slot; /* the level, as the core numbers them, and the line that it has lost */
    uint32_t set;          /* pushed out of it; CACHE_MOVED: the line has moved */
};
#define CACHE_MOVED UINT32_MAX
/* At most each level that is filled pushes a line out of each exclusive one, a line moves up, and leaves the other sets
 * of levels that are filled. */
#define CACHE_MAX_PUSHED (CACHES_MAX_LEVELS * CACHES_MAX_LEVELS / 4 + 1 + CACHES_MAX_LEVELS)

/* Of an access that missed, what is not in the compact record at the end of the event log. */
struct cache_trail {
    uint32_t set[CACHES_MAX_LEVELS]; /* of levels that missed, counted from the one asked first, which of usual machines
                                        is not among them; through all slices, from 0 */
    uint64_t record[CACHES_MAX_LEVELS + 1]; /* of machines that are not usual, while events are on their way */
    bool fetches;                           /* it is no access, but what a prefetcher fetches */
    uint32_t passing; /* so many of the levels asked, from the first one on, a store passes that does not fill them */
    uint32_t
        lost;   /* of that one, if there are levels above it: which of these have lost its victim, by level indices */
    bool dirty; /* a line is on its way up from an exclusive level, and is dirty; it was in: */
    struct cache_level *server;
    uint32_t pushed_count;
    struct cache_pushed pushed[CACHE_MAX_PUSHED];
};

struct caches;
/* An access of a usual machine that begins at the level of this handle, as far as contents go; line: its physical
 * number. A hit is written on the event log; of a miss (CACHES_MISSED) there is a compact record behind its end, and
 * the trail. */
typedef enum caches_tried cache_access_function(struct caches_l1_handle *l1_handle, bool write, uint32_t slot,
                                                uint64_t line);
typedef enum caches_tried cache_miss_function(struct caches_l1_handle *l1_handle, bool write, uint32_t slot,
                                              uint64_t line, uint64_t first_add, uint64_t second_add);

/* Where that is written down (event_log.c). */
struct cache_event_log {
    struct caches_event_log_end end;
    uint64_t *words, *own;
};

struct caches {
    struct cache_level *port[CACHE_PORTS]; /* the level that is asked first; NULL: none */
    uint32_t level_count;                  /* of the data path */
    bool usual;                            /* accesses go by contents.c; and then these: */
    cache_access_function *access;         /* at the ports of data and fetches */
    cache_access_function *access_any;     /* at any level */
    cache_miss_function *missed;           /* the rest of `access` where the level asked first does not have the line */
    unsigned form;                         /* whose these are */
    uint32_t far;                          /* caches_far(); 0 where there are but two levels */
    const uint64_t *far_at;                /* on the event log: the last miss of the second level */
    struct cache_event_log event_log;
    struct cache_classifier *classifier;
    uint32_t last[2];   /* slot of each side's last access */
    uint64_t page_mask; /* index bits in which the two names of a line must agree */
    bool first_lost;    /* an inclusive level has taken a line from a level above all others */
    uint32_t node_count;
    struct cache_level *last_level;
    uint64_t calls, check_at; /* accesses, where C2_PROMISE looks, and when all is looked at next */
    struct caches_machine machine;
    struct cache_lines lines;
    struct cache_trail trail;                       /* of the last access that missed */
    struct cache_prefetch *prefetch;                /* NULL: no level prefetches, and no instruction */
    bool prefetchers;                               /* a level has one */
    bool signs;                                     /* a level has SHiP, which takes accesses for an instruction's */
    struct cache_instructed *instructed;            /* NULL: no instruction made for caches so far */
    bool writes_on;                                 /* as caches_machine_writes_on(); then: */
    struct caches_stored stored[CACHES_MAX_LEVELS]; /* by the last access */
    size_t stored_count;
    struct cache_coherence *coherence; /* NULL: one core */
    struct cache_level
        level[]; /* [level index]: the first core's data path, and behind it L1I; then what the other cores
                                 * have for themselves: cache_node() */
};

/* A level of a core: of the data path by its depth, L1I has the number behind them. */
struct cache_level *cache_node(struct caches *caches, uint32_t core, uint32_t depth);

struct cache_request {
    bool write;
    bool by_passing;           /* a prefetch that fills, behind the first level, inclusive ones alone */
    struct cache_level *first; /* the level asked first */
    struct cache_line line;
    uint32_t slot;
};

/* Any access, at the level asked first; the slot is found here. access.c */
enum c2_status cache_access_at(struct caches *caches, struct cache_request *request, struct caches_outcome *outcome,
                               struct c2_error *err);

/* prefetch.c: the life of what a machine that prefetches keeps; room for what is known of all slots that there are. */
enum c2_status cache_prefetch_init(struct caches *caches, struct c2_error *err);
void cache_prefetch_end(struct caches *caches);
bool cache_prefetch_reach(struct caches *caches);
/* An access begins; a level was asked by it, or by a prefetcher of a level above; it is done, and the prefetchers of
 * the levels asked follow. */
void cache_prefetch_begin(struct cache_prefetch *prefetch);
void cache_prefetch_asked(struct cache_level *level, uint32_t slot, bool hit);
void cache_prefetch_used(struct cache_level *level, uint32_t slot, bool waits); /* waits: by an access */
enum c2_status cache_prefetch_follow(struct caches *caches, const struct cache_request *request, struct c2_error *err);
/* A line made room for what is being prefetched; one has moved up, and was not pushed out. */
void cache_prefetch_evicted(const struct cache_level *level, uint32_t slot, uint32_t set);
void cache_prefetch_moved(const struct cache_level *level, uint32_t slot);
void cache_prefetch_check(const struct caches *caches);

/* instructed.c: the life of what it keeps. What was fetched ahead has been asked for, has left, or was in the way. The
 * line is being asked for: no buffer may have it. */
void cache_instructed_end(struct caches *caches);
void cache_instructed_used(struct caches *caches, const struct cache_level *level, uint32_t slot, uint32_t tag,
                           bool waits);
/* An access has missed `first`, and `has` had the line, NULL: memory. */
void cache_instructed_waited(struct caches *caches, const struct cache_level *first, const struct cache_level *has);
void cache_instructed_useless(struct caches *caches, uint32_t tag);
void cache_instructed_polluting(struct caches *caches, uint32_t tag);
void cache_instructed_asked(struct caches *caches, struct line_no line);
/* A line is accessed; or it comes back, or is thrown away, in another way. */
void cache_instructed_accessed(struct caches *caches, uint32_t slot);
void cache_instructed_forget(struct caches *caches, uint32_t slot);
void cache_instructed_check(const struct caches *caches);

/* The counts of a level, current. hierarchy.c */
const struct caches_counts *cache_level_counts(const struct caches *caches, uint32_t level_index);

/* check.c: what the model cards promise of one line at all levels, and after an access of the line in this slot
 * (C2_PROMISE): they assert, and are true. */
bool cache_line_holds(const struct caches *caches, uint32_t slot);
bool cache_access_holds(struct caches *caches, uint32_t slot);

static inline void cache_notify_hit(struct caches_outcome *outcome, uint32_t depth)
{
    outcome->depth = depth + 1;
    outcome->served_by = depth;
    outcome->event[depth].class_ = CACHES_HIT;
}

#endif
