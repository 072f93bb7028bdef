/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What profile.c counts and result.c puts in order.
 */
#ifndef C2_ANALYSES_PROFILE_PRIV_H
#define C2_ANALYSES_PROFILE_PRIV_H

#include "analyses/objects_priv.h"

#define PROFILE_NONE UINT32_MAX

/* An instruction (by its code number) and an object. */
struct profile_access_site {
    uint32_t code, owner;
    bool early; /* before the program's first instruction */
};

#define PROFILE_RECENT_PAIRS C2_HOST_SIZE(4096u, 2u)

/* Conflict misses of one access site at one level, in lines that another took away. */
struct profile_pair {
    uint32_t victim, evictor; /* access sites; the evictor may be PROFILE_NONE */
    uint32_t level;
    uint32_t same_block; /* 1: of one owner: the same block of it; else 0 */
    uint64_t count;
};

/* The pair that an access site was the victim of last at a level: the evictor, as the caches keep it, and the number +
 * 1; 0: none. */
struct profile_paired {
    uint32_t evictor, pair;
};

/* What is counted of an access site at a level. */
struct profile_cell {
    struct analyses_tally tally;
    struct profile_paired last[2]; /* by same_block */
};

/* Everything counted so far. */
struct profile_sums {
    uint64_t misses[ANALYSES_LEVELS][ANALYSES_CLASSES], taken[ANALYSES_LEVELS], writes[ANALYSES_LEVELS];
    uint64_t pairs[ANALYSES_LEVELS];
    struct analyses_translations tlb;
    uint64_t upgrades, refs;
};

/* The misses of samples (samples.c). */
struct samples_cell;
struct profile_samples {
    bool wanted;
    struct samples_cell *cells;          /* [access site][level][class] */
    uint32_t access_site_room;           /* access sites that have cells */
    struct analyses_translations *ended; /* [access site]: what it had at the end of the last sample */
    uint32_t ended_room;
    struct analyses_sampled *list; /* rows are access sites until the run is over */
    uint32_t count, room;
    uint32_t *ends; /* [sample]: where its entries end */
    uint32_t sample_count, end_room;
};

struct profile_result; /* result.c */

struct profile {
    struct analysis base;
    struct objects *objects;
    struct loader_symbols *symbols, *names; /* names: where those of blocks come from; NULL: they need none */
    struct c2_map *layouts;                 /* the stream's number of a layout -> that of symbols */
    const struct caches_machine *machine;
    bool compared;
    bool early;            /* the program's first instruction is still to come */
    struct guest_va entry; /* it */
    struct {
        uint64_t start, bytes;
    } changed; /* what has other owners since the last mark */
    struct {
        uint64_t start, end;
    } interpreter; /* the dynamic linker; empty: none */
    uint8_t framed[ANALYSES_LEVELS]
                  [256]; /* [level][kind and page of a miss's bits]: 1: its page's frame chose its set */
    struct profile_access_site *access_sites;
    struct profile_cell *cells;                 /* [access site * levels + level] */
    struct analyses_taken *taken;               /* likewise; NULL: the machine has one core */
    struct analyses_translations *translations; /* [access site]: told by the thread that asks; */
    struct analyses_translations *heard;        /* and with misses. Once finished the first have all */
    uint32_t access_site_count, access_site_room;
    uint32_t tally_room;               /* access sites that have cells and `heard` */
    struct c2_map *access_site_of;     /* code, early, owner -> access site */
    struct sim_last_access_sites last; /* epoch: of the objects: how often they may have changed, counted from 1 */
    struct profile_pair *pairs;
    uint32_t pair_count, pair_room;
    uint32_t recent[PROFILE_RECENT_PAIRS];      /* pairs found without a map, by a hash */
    struct c2_map *pair_of[ANALYSES_LEVELS][2]; /* by same_block: victim, evictor -> pair */
    struct sim_totals measured;                 /* the sum of all windows that are */
    uint32_t unchecked;                         /* windows since the sums were checked */
    struct profile_samples samples;
    const struct profile *leader; /* of a machine that follows another one: that one's (sim/share.c); else NULL */
    bool adopted;                 /* what is not counted by level is the leader's now, and lent */
    struct profile_result *result;
};

/* Levels with a tally: those of the data path, and L1I behind them. */
static inline uint32_t profile_levels(const struct profile *profile)
{
    return profile->machine->level_count + profile->machine->has_l1i;
}

/* The owner of the memory of an access. */
enum c2_status profile_owner(struct profile *profile, enum sim_kind kind, struct guest_va va,
                             struct objects_found *found, struct c2_error *err);

/* Counts a miss, or an upgrade, for the sample that is being measured; translations are found when it ends. kind: as in
 * struct analyses_sampled. */
enum c2_status profile_samples_count(struct profile *profile, uint32_t access_site, uint32_t level, unsigned kind,
                                     struct c2_error *err);
enum c2_status profile_samples_end(struct profile *profile, struct c2_error *err); /* the sample is over */
void profile_samples_drop(struct profile *profile); /* what was counted of translations begins anew */
void profile_samples_release(struct profile_samples *samples);

/* See analyses_follow(). */
void profile_follow(struct analysis *profile, const struct analysis *leader);
enum c2_status profile_finish(void *self, struct sim *sim, struct c2_error *err);
/* Once finished: the number of an instruction, and of an object, in the result; PROFILE_NONE: it has none. */
uint32_t profile_insn(const struct profile *profile, uint32_t code);
uint32_t profile_object(const struct profile *profile, uint32_t owner);
uint32_t profile_row(const struct profile *profile, uint32_t access_site); /* each has one */
const void *profile_result(const struct analysis *profile);
void profile_result_destroy(struct profile_result *result);

#endif
