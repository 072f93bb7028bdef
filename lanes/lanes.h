/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * lanes: simulated machines that eat a stream. A lane has a replica of the guest's memory with a placement of its own,
 * the caches and TLBs of one machine, and the analyses that were asked for. It knows nothing but the stream, so it
 * comes to the same counts whether it is fed while the program runs or later, alone or beside others.
 */
#ifndef C2_LANES_H
#define C2_LANES_H

#include "analyses/advice.h"
#include "analyses/analyses.h"
#include "base/base.h"
#include "sim/sim.h"
#include "stream/stream.h"

/* ------------------------------------------------------------------ one lane */
struct lane_config {
    const struct caches_machine *machine; /* copied; NULL: memory is placed, and nothing simulated */
    struct mmu_config placement;          /* rules and regions lent until destroy */
    uint64_t seed;
    uint64_t quantum;                   /* as in struct analyses_setup */
    const struct stream_blocks *blocks; /* of the stream */
    const char *const *given;           /* the analyses asked for (struct analyses_setup); NULL: none */
    const char *const *settings;        /* likewise */
    const struct analyses *first;       /* those of the lane that this one is compared with; NULL: with none */
    const struct analyses_separation *separation; /* likewise, lent until destroy */
    bool unnamed, stacks;                         /* as in struct analyses_setup */
    const char *name; /* for messages, where there are several; lent until destroy; NULL: none */
    bool compared;    /* beside others: with the one before it that is not; then `first` is filled in */
    /* A page that is accessed and was not marked as touched gets its frame then: in this region, as by a write, and
     * elsewhere as by a read. Both 0: there is no such page. */
    uint64_t region_start, region_end;
    bool samples; /* each is kept by itself: sim_samples(), and in profiles */
    bool apart;   /* classes may have a thread of their own: as in struct sim_config */
    bool shares;  /* beside others: it may follow one before it, and depart from it (lanes_departed) */
    struct loader_symbols **retired; /* of the program before: loader_symbols_take(); NULL: none */
};

struct lane;
enum c2_status lane_create(struct lane **out, const struct lane_config *config, struct c2_error *err);
void lane_destroy(struct lane *lane); /* takes NULL */
/* A batch of the stream, or any words of it: whole records and marks. After a failure the lane is good for destroy. */
enum c2_status lane_consume(struct lane *lane, const struct stream_batch *batch, struct c2_error *err);
/* After the last batch: results are there. */
enum c2_status lane_finish(struct lane *lane, struct c2_error *err);

/* Lent until destroy. */
const struct mmu_replica *lane_memory(const struct lane *lane);
const struct sim *lane_sim(const struct lane *lane);          /* NULL: nothing is simulated */
struct loader_symbols *lane_symbols(const struct lane *lane); /* NULL: no analyses */
struct analyses *lane_analyses(const struct lane *lane);      /* likewise */
/* Its symbols, retired, which are the caller's now; the lane is good for destroy. NULL: it has none. */
struct loader_symbols *lane_retire(struct lane *lane);
/* Whether it may have of the other one what both simulate alike (sim_share); and from now on has: symbols, the profile,
 * and memory if the placement is the same. Both are new, the other one outlives it. */
bool lane_can_follow(const struct lane *lane, const struct lane *leader);
enum c2_status lane_follow(struct lane *lane, const struct lane *leader, struct c2_error *err);
/* Names of the source will be asked for: what takes time for that is done now, before a fork (loader_symbols_foresee).
 */
void lane_foresee(const struct lane *lane);

/* ------------------------------------------------------------------ lanes side by side */
struct lanes;
/* At least one. Those that are compared with one before them have of the analyses what is for every machine. A host
 * that has no memory for that many is C2_ERR_NO_MEMORY. */
enum c2_status lanes_create(struct lanes **out, const struct lane_config *configs, unsigned count,
                            struct c2_error *err);
/* Before the first batch: those that share and can do follow others, and are in no group any more; if there are
 * `least` of them, else none does. threads: for all. */
enum c2_status lanes_share(struct lanes *lanes, unsigned least, unsigned threads, struct c2_error *err);
unsigned lanes_follower_count(const struct lanes *lanes);
/* While no group eats: how many followers have departed so far, in *departed. */
enum c2_status lanes_look(struct lanes *lanes, unsigned *departed, struct c2_error *err);
bool lanes_unplaced(const struct lanes *lanes); /* likewise: a follower will fail when it is simulated by itself */
/* Likewise: nothing is shared any more. Those that followed are made anew, each by itself; the groups are theirs alone
 * until lanes_rejoin(), and are to get all of the stream so far. */
enum c2_status lanes_part(struct lanes *lanes, struct c2_error *err);
void lanes_rejoin(struct lanes *lanes);
/* The first that has failed; what follows it, and those that follow others, may have to fail, too. None has: their
 * number. */
unsigned lanes_failed(const struct lanes *lanes);
/* Once finished: how many could not follow to the end, and have no results. They are made anew, each by itself; the
 * groups are theirs alone, get the whole stream, and are finished once more. */
unsigned lanes_departed(const struct lanes *lanes);
enum c2_status lanes_begin_again(struct lanes *lanes, struct c2_error *err);
void lanes_destroy(struct lanes *lanes);
/* A lane and those that are compared with it are a group, which eats by itself: on any thread, one at a time. All have
 * eaten the same when the run is over, or when a caller asks what they are certain of. Lent until destroy. */
unsigned lanes_group_count(const struct lanes *lanes);
struct stream_sink lanes_sink(struct lanes *lanes, unsigned group);
/* When all is eaten: how many changes of memory more no lane can fail at. */
uint64_t lanes_guaranteed(void *lanes);
enum c2_status lanes_finish(struct lanes *lanes, struct c2_error *err);
unsigned lanes_count(const struct lanes *lanes);
bool lanes_compare(const struct lanes *lanes); /* there is one that is compared with the one before it */
const struct lane *lanes_at(const struct lanes *lanes, unsigned i);
struct loader_symbols *lanes_retire(struct lanes *lanes);      /* lane_retire of the first one */
const char *lanes_name(const struct lanes *lanes, unsigned i); /* as in its configuration */

/* ------------------------------------------------------------------ objects moved: moved.c */
struct lanes_replay {
    const struct caches_machine *machine;
    const struct mmu_config *placement; /* of the run */
    struct stream_recording *recording; /* of the run; played by what takes it */
    const struct analyses_profile_result *profile;
    uint64_t seed;
    void (*tick)(void *self, uint64_t instructions); /* now and then, how far it is; NULL: not called */
    void *tick_self;
};
/* Simulates all proposals in one pass; out: one each. They move ANALYSES_OBJECTS different objects at most. */
enum c2_status lanes_replay(struct analyses_outcome *out, const struct analyses_proposal *proposals, uint32_t count,
                            const struct lanes_replay *replay, struct c2_error *err);
/* Simulates the run as it was, and fills rows[object] for these objects: the distance that instructions most often go
 * on by in it, where that is more than a line; else 0. And the order of each walk, which is to be freed: NULL, if its
 * instruction did not come to its object. Objects of walks are among these. */
enum c2_status lanes_replay_rows(struct analyses_outcome *baseline, uint64_t *rows, const uint32_t *objects,
                                 uint32_t object_count, const struct lanes_replay *replay, struct analyses_walk *walks,
                                 uint32_t walk_count, struct c2_error *err);

#endif
