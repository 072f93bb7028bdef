/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The slow twin of caches/: the rules of the hierarchy taken word for word, with lists that are searched from end to
 * end. Nothing is remembered that could be looked up, nothing is looked up that could be searched for. It shares with
 * the fast one only the slice hashes (which have tests of their own), the seeded generator and the public structs.
 */
#ifndef CACHES_TWIN_H
#define CACHES_TWIN_H

#include <stdlib.h>
#include <string.h>

#include "analyses/analyses.h"
#include "caches/caches_fast.h"

struct twin_way {
    bool valid, dirty;
    uint64_t physical, virtual_;
    int prediction;     /* srrip and what is made of it: 0..3 */
    int unused;         /* nru: 1 or 0 */
    uint32_t signature; /* ship: it came with, */
    bool hit;           /* and was hit since */
};

struct twin_set {
    struct twin_way way[CACHES_MAX_WAYS];
    int order[CACHES_MAX_WAYS]; /* ways, the youngest first: lru by touch, fifo by fill */
    int ordered;
    uint64_t evicted[2 * CACHES_MAX_WAYS]; /* the last ones, the oldest first */
    uint32_t evicted_count;
    bool tree[CACHES_MAX_WAYS]; /* plru: node n's children are 2n and 2n+1; false points to the lower ways */
    char leads;                 /* drrip: 's' and 'b' lead by srrip and brrip; 0: it follows */
};

#define TWIN_MAX_LINES 65536

/* Lines, and which prefetch was it. */
struct twin_notes {
    struct {
        uint64_t physical;
        uint32_t access_site; /* of an instruction's its tag */
        unsigned prefetcher;
        uint64_t when, waited, cycles; /* of an instruction's, as in the twin_instructed of its time */
    } * list;
    uint64_t count;
};

/* Instructions made for caches. */
#define TWIN_TAGS 8
#define TWIN_SOFTWARE CACHES_PREFETCHERS
struct twin_instructed {
    uint64_t now;
    uint64_t waited; /* by accesses, in cycles */
    uint64_t cycles; /* of the level that has what is being prefetched */
    uint32_t tag;
    bool by_passing; /* the prefetch fills, but for its level, inclusive ones alone */
    struct caches_instructed by[TWIN_TAGS];
    struct {
        uint64_t physical;
        bool stored[4096];
        uint32_t tag;
    } buffer[CACHES_MAX_COMBINING]; /* the oldest first */
    uint32_t buffers;
    struct {
        uint64_t physical, when;
        uint32_t tag;
    } taken[TWIN_MAX_LINES]; /* by stores past the caches, and not come back; one core */
    uint64_t takens;
};

struct twin_level {
    struct caches_level config;
    uint32_t sets; /* of a slice */
    struct caches_hash *hash;
    struct twin_set *set; /* [slice * sets + number] */
    struct c2_rng rng;
    int selector;            /* drrip: 0..1023 */
    int reuse[16384];        /* ship: by signature, 0..7 */
    uint32_t next_signature; /* of the line that comes next */
    uint64_t *shadow;        /* lines, the youngest first */
    uint64_t shadow_count, shadow_capacity;
    uint64_t *asked; /* every line ever asked for */
    uint64_t asked_count;
    struct {
        uint64_t physical, access_site;
    } lost[TWIN_MAX_LINES]; /* every line ever lost, and what made it so last */
    uint64_t lost_count;
    struct caches_counts counts;
    struct analyses_fifo_counts fifo;
    struct twin_notes unused; /* prefetched, in the level and not asked for */
    struct twin_notes pushed; /* out of the level by a prefetch, and not back */
    uint64_t *history;        /* the lines that a stream prefetcher saw, but for those seen twice in turn */
    uint64_t history_count;
    struct {
        uint64_t pc, line;
    } * accesses; /* the same that a stride prefetcher saw, by instruction */
    uint64_t access_count;
    struct caches_prefetch_counts prefetch[CACHES_PREFETCHERS + 1];
    struct twin_instructed *instructed; /* the hierarchy's */
};

struct twin {
    struct caches_machine machine;
    struct twin_level level[CACHES_MAX_LEVELS];
    struct twin_level l1i;
    struct caches_outcome outcome;
    struct caches_stored stored[CACHES_MAX_LEVELS]; /* stores that the access has passed on */
    uint32_t stored_count;
    uint64_t access_site;
    uint64_t pc;
    uint64_t missing;                /* ship: the instruction whose access is made */
    uint32_t entry;                  /* depth of the level that the access asked first */
    const struct twin_level *target; /* a prefetch is on its way into this level; NULL: none */
    unsigned prefetcher;             /* of what kind */
    struct twin_instructed instructed;
    struct {
        struct twin_level *level;
        uint32_t depth;
        bool looks; /* its prefetchers do */
    } seen[CACHES_MAX_LEVELS];
    uint32_t seen_count;
    /* A line comes into a level, or leaves it; NULL: no listener. */
    void (*moved)(void *self, const struct twin_level *level, uint64_t physical, bool came);
    void *self;
};

/* The word in pieces of 14 bits, from its end. */
static uint32_t twin_signature(uint64_t word)
{
    uint32_t signature = 0;
    for (; word != 0; word /= 16384)
        signature ^= (uint32_t)(word % 16384);
    return signature;
}

/* Leaders of the duel: 32 of each kind; where there are fewer than 64 sets, every set but an odd one is of a pair. */
static void twin_level_lead(struct twin_level *level)
{
    const uint32_t sets = level->sets * level->config.slices, pairs = sets < 64 ? sets / 2 : 32;
    for (uint32_t pair = 0; pair < pairs; pair++) {
        const uint32_t region = sets / pairs;
        level->set[pair * region + pair % region].leads = 's';
        level->set[pair * region + (pair + region / 2) % region].leads = 'b';
    }
    level->selector = 511;
    for (int i = 0; i < 16384; i++)
        level->reuse[i] = 1;
}

static void twin_level_create(struct twin_level *level, const struct caches_machine *machine,
                              const struct caches_level *config, uint64_t seed)
{
    level->config = *config;
    level->sets = (uint32_t)(config->size_bytes / machine->line_bytes / config->ways / config->slices);
    if (config->slices > 1 && caches_hash_create(&level->hash, config->hash, config->slices, NULL, NULL) != C2_OK)
        abort();
    level->set = calloc((size_t)level->sets * config->slices, sizeof *level->set);
    for (size_t s = 0; s < (size_t)level->sets * config->slices; s++)
        for (uint32_t w = 0; w < config->ways; w++) {
            level->set[s].way[w].prediction = 3;
            level->set[s].way[w].unused = 1;
        }
    twin_level_lead(level);
    char name[64];
    snprintf(name, sizeof name, "cache %s", config->name);
    c2_rng_init(&level->rng, seed, name);
    level->shadow_capacity = config->size_bytes / machine->line_bytes;
    level->shadow = calloc(level->shadow_capacity + 1, sizeof *level->shadow);
    level->asked = calloc(TWIN_MAX_LINES, sizeof *level->asked);
    level->unused.list = calloc(TWIN_MAX_LINES, sizeof *level->unused.list);
    level->pushed.list = calloc(TWIN_MAX_LINES, sizeof *level->pushed.list);
    level->history = calloc(TWIN_MAX_LINES, sizeof *level->history);
    level->accesses = calloc(TWIN_MAX_LINES, sizeof *level->accesses);
}

static struct twin *twin_create(const struct caches_machine *machine, uint64_t seed)
{
    struct twin *twin = calloc(1, sizeof *twin);
    twin->machine = *machine;
    for (uint32_t i = 0; i <= machine->level_count; i++)
        (i < machine->level_count ? &twin->level[i] : &twin->l1i)->instructed = &twin->instructed;
    for (uint32_t i = 0; i < machine->level_count; i++)
        twin_level_create(&twin->level[i], machine, &machine->levels[i], seed);
    if (machine->has_l1i)
        twin_level_create(&twin->l1i, machine, &machine->l1i, seed);
    return twin;
}

static void twin_level_destroy(struct twin_level *level)
{
    caches_hash_destroy(level->hash);
    free(level->set);
    free(level->shadow);
    free(level->asked);
    free(level->unused.list);
    free(level->pushed.list);
    free(level->history);
    free(level->accesses);
}

static void twin_destroy(struct twin *twin)
{
    for (int i = 0; i < CACHES_MAX_LEVELS; i++)
        twin_level_destroy(&twin->level[i]);
    twin_level_destroy(&twin->l1i);
    free(twin);
}

/* ------------------------------------------------------------------ where a line belongs, and where it is */

static bool twin_deals_out(const char *hash) { return strcmp(hash, "modulo") == 0 || strncmp(hash, "amd-low", 7) == 0; }

static struct twin_set *twin_home(const struct twin *twin, const struct twin_level *level, uint64_t virtual_,
                                  uint64_t physical, uint32_t *number, uint32_t *slice)
{
    uint64_t line = level->config.index == CACHES_VIRTUAL ? virtual_ : physical;
    *slice = 0;
    if (level->hash)
        *slice = caches_hash_slice(level->hash, (struct guest_pa){physical * twin->machine.line_bytes});
    if (level->hash && twin_deals_out(level->config.hash))
        line = line / level->config.slices;
    *number = (uint32_t)(line % level->sets);
    return &level->set[*slice * level->sets + *number];
}

/* The way of this set that has the line, or NULL. */
static struct twin_way *twin_in_set(const struct twin_level *level, struct twin_set *set, uint64_t physical)
{
    for (uint32_t w = 0; w < level->config.ways; w++)
        if (set->way[w].valid && set->way[w].physical == physical)
            return &set->way[w];
    return NULL;
}

/* The way of any set that has the line, or NULL. */
static struct twin_way *twin_anywhere(const struct twin_level *level, uint64_t physical, struct twin_set **set)
{
    for (uint32_t s = 0; s < level->sets * level->config.slices; s++) {
        struct twin_way *way = twin_in_set(level, &level->set[s], physical);
        if (way) {
            *set = &level->set[s];
            return way;
        }
    }
    return NULL;
}

/* ------------------------------------------------------------------ policies */

static void twin_unorder(struct twin_set *set, int way)
{
    for (int i = 0; i < set->ordered; i++)
        if (set->order[i] == way) {
            memmove(&set->order[i], &set->order[i + 1], (size_t)(set->ordered - i - 1) * sizeof set->order[0]);
            set->ordered--;
            return;
        }
}

static void twin_to_front(struct twin_set *set, int way)
{
    twin_unorder(set, way);
    memmove(&set->order[1], &set->order[0], (size_t)set->ordered * sizeof set->order[0]);
    set->order[0] = way;
    set->ordered++;
}

/* Node covers ways low .. high-1: point to the half that way is not in, and go on in the other. */
static void twin_tree_away(struct twin_set *set, int node, int low, int high, int way)
{
    if (high - low == 1)
        return;
    int middle = (low + high) / 2;
    if (way < middle) {
        set->tree[node] = true;
        twin_tree_away(set, 2 * node, low, middle, way);
    } else {
        set->tree[node] = false;
        twin_tree_away(set, 2 * node + 1, middle, high, way);
    }
}

static int twin_brrip_fill(struct twin_level *level) { return c2_rng_below(&level->rng, 32) == 0 ? 2 : 3; }

/* The winner is known before the set that leads has its say, but a leader does not look at the winner. */
static int twin_drrip_fill(struct twin_level *level, const struct twin_set *set)
{
    if (set->leads == 's') {
        level->selector = level->selector == 1023 ? 1023 : level->selector + 1;
        return 2;
    }
    if (set->leads == 'b') {
        level->selector = level->selector == 0 ? 0 : level->selector - 1;
        return twin_brrip_fill(level);
    }
    return level->selector >= 512 ? twin_brrip_fill(level) : 2;
}

static int twin_ship_fill(const struct twin_level *level, struct twin_way *way)
{
    way->signature = level->next_signature;
    way->hit = false;
    return level->reuse[way->signature] == 0 ? 3 : 2;
}

static void twin_ship_hit(struct twin_level *level, struct twin_way *way)
{
    way->hit = true;
    if (level->reuse[way->signature] < 7)
        level->reuse[way->signature]++;
}

/* It has to make room. */
static void twin_ship_victim(struct twin_level *level, const struct twin_way *way)
{
    if (!way->hit && level->reuse[way->signature] > 0)
        level->reuse[way->signature]--;
}

static void twin_touch(struct twin_level *level, struct twin_set *set, int way, bool fill)
{
    switch (level->config.policy) {
    case CACHES_LRU:
        twin_to_front(set, way);
        break;
    case CACHES_FIFO:
        if (fill)
            twin_to_front(set, way);
        break;
    case CACHES_RANDOM:
        break;
    case CACHES_TREE_PLRU:
        twin_tree_away(set, 1, 0, (int)level->config.ways, way);
        break;
    case CACHES_NRU:
        set->way[way].unused = 0;
        break;
    case CACHES_SRRIP:
        set->way[way].prediction = fill ? 2 : 0;
        break;
    case CACHES_BRRIP:
        set->way[way].prediction = fill ? twin_brrip_fill(level) : 0;
        break;
    case CACHES_DRRIP:
        set->way[way].prediction = fill ? twin_drrip_fill(level, set) : 0;
        break;
    case CACHES_SHIP:
    case CACHES_SHIP_MEM:
        if (!fill)
            twin_ship_hit(level, &set->way[way]);
        set->way[way].prediction = fill ? twin_ship_fill(level, &set->way[way]) : 0;
        break;
    case CACHES_MRU3_PLRU4: /* of TLBs alone: caches_tlb.c */
        abort();
    }
}

/* Whether the one core there is may fill the way. */
static bool twin_may(const struct twin_level *level, int way)
{
    return level->config.mask_count == 0 || (level->config.masks[0].ways >> way & 1);
}

static int twin_nru_victim(struct twin_level *level, struct twin_set *set)
{
    const int ways = (int)level->config.ways;
    for (int round = 0;; round++) {
        for (int w = 0; w < ways; w++)
            if (set->way[w].unused && twin_may(level, w))
                return w;
        for (int w = 0; w < ways; w++)
            set->way[w].unused |= twin_may(level, w);
    }
}

static int twin_rrip_victim(struct twin_level *level, struct twin_set *set)
{
    const int ways = (int)level->config.ways;
    for (;;) {
        for (int w = 0; w < ways; w++)
            if (set->way[w].prediction == 3 && twin_may(level, w))
                return w;
        for (int w = 0; w < ways; w++)
            set->way[w].prediction += twin_may(level, w);
    }
}

static int twin_random_victim(struct twin_level *level)
{
    int list[CACHES_MAX_WAYS];
    uint32_t count = 0;
    for (int w = 0; w < (int)level->config.ways; w++)
        if (twin_may(level, w))
            list[count++] = w;
    return list[c2_rng_below(&level->rng, count)];
}

static int twin_oldest(const struct twin_level *level, const struct twin_set *set)
{
    int at = set->ordered - 1;
    while (!twin_may(level, set->order[at]))
        at--;
    return set->order[at];
}

/* Down the bits; where they lead to ways that may not be filled, the other way. -1: none of these may. */
static int twin_tree_follow(const struct twin_level *level, const struct twin_set *set, int node, int low, int high)
{
    int middle = (low + high) / 2;
    if (high - low == 1)
        return twin_may(level, low) ? low : -1;
    int left = twin_tree_follow(level, set, 2 * node, low, middle);
    int right = twin_tree_follow(level, set, 2 * node + 1, middle, high);
    return (set->tree[node] && right >= 0) || left < 0 ? right : left;
}

static int twin_victim(struct twin_level *level, struct twin_set *set)
{
    switch (level->config.policy) {
    case CACHES_LRU:
    case CACHES_FIFO:
        return twin_oldest(level, set);
    case CACHES_RANDOM:
        return twin_random_victim(level);
    case CACHES_TREE_PLRU:
        return twin_tree_follow(level, set, 1, 0, (int)level->config.ways);
    case CACHES_NRU:
        return twin_nru_victim(level, set);
    default:
        return twin_rrip_victim(level, set);
    }
}

static void twin_empty(struct twin_set *set, struct twin_way *way)
{
    way->valid = way->dirty = false;
    way->prediction = 3;
    way->unused = 1;
    twin_unorder(set, (int)(way - set->way));
}

/* ------------------------------------------------------------------ the shadow */

/* takes: a line that it does not have comes in. */
static enum caches_class twin_shadow_of(struct twin_level *level, uint64_t physical, bool takes)
{
    bool asked = false, held = false;
    for (uint64_t i = 0; i < level->asked_count && !asked; i++)
        asked = level->asked[i] == physical;
    if (!asked) {
        if (level->asked_count == TWIN_MAX_LINES)
            abort();
        level->asked[level->asked_count++] = physical;
    }
    uint64_t at = 0;
    while (at < level->shadow_count && level->shadow[at] != physical)
        at++;
    held = at < level->shadow_count;
    if (!held && !takes)
        return asked ? CACHES_CAPACITY : CACHES_COLD;
    memmove(&level->shadow[1], &level->shadow[0], at * sizeof level->shadow[0]);
    level->shadow[0] = physical;
    if (!held && level->shadow_count < level->shadow_capacity)
        level->shadow_count++;
    return held ? CACHES_CONFLICT : asked ? CACHES_CAPACITY : CACHES_COLD;
}

static enum caches_class twin_shadow(struct twin_level *level, uint64_t physical)
{
    return twin_shadow_of(level, physical, true);
}

/* ------------------------------------------------------------------ the FIFO detector */

static void twin_remember_eviction(const struct twin_level *level, struct twin_set *set, uint64_t physical)
{
    if (set->evicted_count == 2 * level->config.ways) {
        memmove(&set->evicted[0], &set->evicted[1], (set->evicted_count - 1) * sizeof set->evicted[0]);
        set->evicted_count--;
    }
    set->evicted[set->evicted_count++] = physical;
}

static void twin_second_opinion(struct twin_level *level, const struct twin_set *set, uint64_t physical,
                                enum caches_class by_shadow)
{
    struct analyses_fifo_counts *n = &level->fifo;
    bool found = false;
    for (uint32_t i = 0; i < set->evicted_count; i++)
        found |= set->evicted[i] == physical;
    if (by_shadow == CACHES_COLD)
        return;
    if (found && by_shadow == CACHES_CONFLICT)
        n->fifo_conflict++, n->both_conflict++;
    else if (found)
        n->fifo_conflict++, n->only_fifo++;
    else if (by_shadow == CACHES_CONFLICT)
        n->fifo_capacity++, n->only_fa++;
    else
        n->fifo_capacity++;
}

/* ------------------------------------------------------------------ what made a level lose a line */

static void twin_lose(const struct twin *twin, struct twin_level *level, uint64_t physical)
{
    uint64_t at = 0;
    while (at < level->lost_count && level->lost[at].physical != physical)
        at++;
    if (at == TWIN_MAX_LINES)
        abort();
    if (at == level->lost_count)
        level->lost_count++;
    level->lost[at].physical = physical;
    level->lost[at].access_site = twin->access_site;
    if (twin->moved)
        twin->moved(twin->self, level, physical, false);
}

static uint64_t twin_loser(const struct twin_level *level, uint64_t physical)
{
    for (uint64_t at = 0; at < level->lost_count; at++)
        if (level->lost[at].physical == physical)
            return level->lost[at].access_site;
    return 0;
}

/* ------------------------------------------------------------------ what is known of prefetched lines */

static uint64_t twin_noted(const struct twin_notes *notes, uint64_t physical)
{
    uint64_t at = 0;
    while (at < notes->count && notes->list[at].physical != physical)
        at++;
    return at;
}

static void twin_note(const struct twin *twin, struct twin_notes *notes, uint64_t physical)
{
    if (notes->count == TWIN_MAX_LINES)
        abort();
    notes->list[notes->count].physical = physical;
    const bool software = twin->prefetcher == TWIN_SOFTWARE;
    notes->list[notes->count].access_site = software ? twin->instructed.tag : (uint32_t)twin->access_site;
    notes->list[notes->count].when = twin->instructed.now;
    notes->list[notes->count].waited = twin->instructed.waited;
    notes->list[notes->count].cycles = twin->instructed.cycles;
    notes->list[notes->count++].prefetcher = twin->prefetcher;
}

/* What the note was: the prefetcher; -1: there was none. */
static int twin_forget(struct twin_notes *notes, uint64_t physical)
{
    uint64_t at = twin_noted(notes, physical);
    if (at == notes->count)
        return -1;
    int prefetcher = (int)notes->list[at].prefetcher;
    notes->list[at] = notes->list[--notes->count];
    return prefetcher;
}

static void twin_gone(const struct twin *twin, struct twin_level *level, uint64_t physical)
{
    const uint64_t at = twin_noted(&level->unused, physical);
    const uint32_t tag = at < level->unused.count ? level->unused.list[at].access_site : 0;
    int prefetcher = twin_forget(&level->unused, physical);
    if (prefetcher >= 0)
        level->prefetch[prefetcher].useless++;
    if (prefetcher == TWIN_SOFTWARE)
        level->instructed->by[tag].useless++;
    if (twin->target)
        twin_note(twin, &level->pushed, physical);
}

static void twin_come(const struct twin *twin, struct twin_level *level, uint64_t physical)
{
    twin_forget(&level->pushed, physical);
    if (twin->target == level)
        twin_note(twin, &level->unused, physical);
}

/* As caches.h says; the machine has no latencies, so others stand in for them. */
static uint32_t twin_latency(const struct twin *twin, uint32_t server)
{
    static const uint32_t usual[] = {4, 12, 40, 60};
    return server == twin->machine.level_count ? 200 : usual[server];
}

/* access: it waits, else it is a prefetcher's. */
static bool twin_use(struct twin_level *level, uint64_t physical, bool access)
{
    const uint64_t at = twin_noted(&level->unused, physical);
    struct twin_instructed *all = level->instructed;
    if (at < level->unused.count && level->unused.list[at].prefetcher == TWIN_SOFTWARE) {
        struct caches_instructed *n = &all->by[level->unused.list[at].access_site];
        const uint64_t then = level->unused.list[at].when, cycles = level->unused.list[at].cycles;
        n->useful++;
        n->late += all->now < then + cycles;
        n->late_ahead += all->now < then + cycles ? all->now - then : 0;
        const uint64_t there = then + level->unused.list[at].waited + cycles, time = all->now + all->waited;
        n->late_cycles += access && time < there ? there - time : 0;
        all->waited += access && time < there ? there - time : 0;
    }
    int prefetcher = twin_forget(&level->unused, physical);
    if (prefetcher >= 0)
        level->prefetch[prefetcher].useful++;
    return prefetcher >= 0;
}

/* ------------------------------------------------------------------ the hierarchy */

static void twin_settle(struct twin *twin, struct twin_level *level, uint32_t depth, uint64_t virtual_,
                        uint64_t physical, bool dirty);

static void twin_write_down(struct twin *twin, uint32_t depth, uint64_t physical)
{
    struct twin_set *set;
    for (; depth < twin->machine.level_count; depth++) {
        struct twin_way *way = twin_anywhere(&twin->level[depth], physical, &set);
        if (way && !twin->level[depth].config.through) {
            way->dirty = true;
            return;
        }
    }
}

static void twin_take_above(const struct twin *twin, struct twin_level *upper, uint64_t physical, bool *dirty,
                            uint64_t *taken)
{
    struct twin_set *set;
    struct twin_way *way = twin_anywhere(upper, physical, &set);
    if (!way)
        return;
    *dirty |= way->dirty;
    ++*taken;
    twin_empty(set, way);
    twin_lose(twin, upper, physical);
    twin_gone(twin, upper, physical);
}

static void twin_leave(struct twin *twin, struct twin_level *level, uint32_t depth, struct twin_way left)
{
    twin_lose(twin, level, left.physical);
    twin_gone(twin, level, left.physical);
    twin->outcome.evicted |= 1u << depth;
    twin->outcome.event[depth].victim.v = left.physical;
    if (level->config.inclusion == CACHES_INCLUSIVE) {
        for (uint32_t i = 0; i < depth; i++)
            twin_take_above(twin, &twin->level[i], left.physical, &left.dirty, &level->counts.back_invalidations);
        if (twin->machine.has_l1i)
            twin_take_above(twin, &twin->l1i, left.physical, &left.dirty, &level->counts.back_invalidations);
    }
    if (left.dirty)
        level->counts.writebacks++;
    uint32_t next = depth + 1;
    if (next < twin->machine.level_count && twin->level[next].config.inclusion == CACHES_EXCLUSIVE) {
        struct twin_set *set;
        struct twin_way *there = twin_anywhere(&twin->level[next], left.physical, &set);
        if (there)
            there->dirty |= left.dirty;
        else
            twin_settle(twin, &twin->level[next], next, left.virtual_, left.physical, left.dirty);
    } else if (left.dirty) {
        twin_write_down(twin, next, left.physical);
    }
}

static void twin_settle(struct twin *twin, struct twin_level *level, uint32_t depth, uint64_t virtual_,
                        uint64_t physical, bool dirty)
{
    uint32_t number, slice;
    struct twin_set *set = twin_home(twin, level, virtual_, physical, &number, &slice);
    int w = -1;
    for (uint32_t i = 0; i < level->config.ways && w < 0; i++)
        if (!set->way[i].valid && twin_may(level, (int)i))
            w = (int)i;
    if (w < 0) {
        w = twin_victim(level, set);
        twin_ship_victim(level, &set->way[w]);
        struct twin_way left = set->way[w];
        set->way[w].valid = false;
        twin_unorder(set, w);
        twin_remember_eviction(level, set, left.physical);
        twin_leave(twin, level, depth, left);
    }
    set->way[w].valid = true;
    set->way[w].dirty = dirty;
    set->way[w].physical = physical;
    set->way[w].virtual_ = virtual_;
    level->next_signature = twin_signature(
        level->config.policy == CACHES_SHIP ? twin->missing : physical * twin->machine.line_bytes / 16384);
    twin_touch(level, set, w, true);
    twin_come(twin, level, physical);
    if (twin->moved)
        twin->moved(twin->self, level, physical, true);
}

static struct twin_level *twin_level_at(struct twin *twin, enum caches_side side, uint32_t depth)
{
    return depth == 0 && side == CACHES_FETCH ? &twin->l1i : &twin->level[depth];
}

/* Whether a level that misses takes the line: reads always do, and stores where the level allocates; also one of its
 * levels above that does, which gets the line from below. */
static bool twin_takes(const struct twin *twin, uint32_t depth, bool write)
{
    bool takes = !write;
    for (uint32_t i = twin->entry; i <= depth; i++)
        takes |= !twin->level[i].config.around;
    return takes;
}

static bool twin_ask(struct twin *twin, struct twin_level *level, uint32_t depth, bool write, uint64_t virtual_,
                     uint64_t physical)
{
    struct caches_event *event = &twin->outcome.event[depth];
    uint32_t number, slice;
    struct twin_set *set = twin_home(twin, level, virtual_, physical, &number, &slice);
    struct twin_way *way = twin_in_set(level, set, physical);
    event->set_number = slice * level->sets + number;
    enum caches_class as_miss = twin_shadow_of(level, physical, twin_takes(twin, depth, write));
    struct caches_counts *n = &level->counts;
    n->accesses++;
    *(write ? &n->writes : &n->reads) += 1;
    n->fa_misses += as_miss != CACHES_CONFLICT;
    const bool first = way && twin_use(level, physical, true);
    const enum caches_prefetch_on on = level->config.prefetch_on;
    twin->seen[twin->seen_count].level = level;
    twin->seen[twin->seen_count].depth = depth;
    twin->seen[twin->seen_count++].looks = on == CACHES_ON_ACCESSES || !way || (first && on == CACHES_ON_TAGGED);
    if (way) {
        n->hits++;
        n->fa_only_misses += as_miss != CACHES_CONFLICT;
        event->class_ = CACHES_HIT;
        return true;
    }
    uint64_t pushed = twin_noted(&level->pushed, physical);
    if (pushed < level->pushed.count)
        level->prefetch[level->pushed.list[pushed].prefetcher].polluting++;
    if (pushed < level->pushed.count && level->pushed.list[pushed].prefetcher == TWIN_SOFTWARE)
        level->instructed->by[level->pushed.list[pushed].access_site].polluting++;
    n->misses++;
    *(write ? &n->write_misses : &n->read_misses) += 1;
    *(as_miss == CACHES_COLD ? &n->cold : as_miss == CACHES_CAPACITY ? &n->capacity : &n->conflict) += 1;
    twin_second_opinion(level, set, physical, as_miss);
    event->class_ = as_miss;
    event->evictor = twin_loser(level, physical);
    n->write_arounds += !twin_takes(twin, depth, write);
    return false;
}

/* A hit in an exclusive level: out of it, and up. */
static bool twin_move_out(struct twin *twin, enum caches_side side, uint32_t depth, struct twin_set *set,
                          struct twin_way *way)
{
    bool dirty = way->dirty;
    uint64_t physical = way->physical;
    twin_empty(set, way);
    twin_lose(twin, &twin->level[depth], physical);
    twin_forget(&twin->level[depth].unused, physical);
    uint32_t into = depth - 1;
    while (into > twin->entry && twin->level[into].config.inclusion == CACHES_EXCLUSIVE)
        into--;
    if (dirty && into == 0 && side == CACHES_FETCH) {
        twin->level[depth].counts.writebacks++;
        twin_write_down(twin, depth + 1, physical);
        return false;
    }
    return dirty;
}

static bool twin_serve(struct twin *twin, enum caches_side side, uint32_t depth, bool write, uint64_t virtual_,
                       uint64_t physical)
{
    struct twin_level *level = twin_level_at(twin, side, depth);
    uint32_t number, slice;
    struct twin_set *set = twin_home(twin, level, virtual_, physical, &number, &slice);
    struct twin_way *way = twin_in_set(level, set, physical);
    if (level->config.inclusion == CACHES_EXCLUSIVE && depth != twin->entry)
        return twin_move_out(twin, side, depth, set, way);
    twin_touch(level, set, (int)(way - set->way), false);
    if (write && (depth == twin->entry || !twin_takes(twin, depth - 1, true)))
        way->dirty |= !level->config.through;
    return false;
}

/* Levels server - 1 .. entry have missed. */
static void twin_fill(struct twin *twin, enum caches_side side, uint32_t server, bool write, uint64_t virtual_,
                      uint64_t physical)
{
    bool dirty = server < twin->machine.level_count && twin_serve(twin, side, server, write, virtual_, physical);
    for (uint32_t i = server; i-- > twin->entry;) {
        struct twin_level *level = twin_level_at(twin, side, i);
        if (level->config.inclusion == CACHES_EXCLUSIVE && i != twin->entry)
            continue;
        if (twin->instructed.by_passing && level->config.inclusion != CACHES_INCLUSIVE && i != twin->entry)
            continue;
        if (!twin_takes(twin, i, write))
            continue;
        const bool nearest = i == twin->entry || !twin_takes(twin, i - 1, write);
        struct twin_set *other;
        struct twin_way *synonym = twin_anywhere(level, physical, &other);
        if (synonym) {
            dirty |= synonym->dirty;
            twin_empty(other, synonym);
            twin_lose(twin, level, physical);
            twin_gone(twin, level, physical);
        }
        twin_settle(twin, level, i, virtual_, physical, dirty || (nearest && write && !level->config.through));
        dirty = false;
    }
}

/* ------------------------------------------------------------------ prefetchers */

static void twin_drain(struct twin *twin, uint64_t physical);
static bool twin_back(struct twin *twin, uint64_t physical, uint64_t *when, uint32_t *tag);

/* The level of this depth lacks the line, which a prefetcher of it wants. */
static void twin_fetch(struct twin *twin, enum caches_side side, uint32_t depth, uint64_t virtual_, uint64_t physical)
{
    const struct caches_outcome outcome = twin->outcome;
    const uint32_t entry = twin->entry, count = twin->machine.level_count;
    struct caches_prefetch_counts *n = &twin_level_at(twin, side, depth)->prefetch[twin->prefetcher];
    uint32_t number, slice, server = depth + 1;
    for (; server < count; server++) {
        struct twin_level *level = &twin->level[server];
        twin_shadow(level, physical);
        if (twin_in_set(level, twin_home(twin, level, virtual_, physical, &number, &slice), physical))
            break;
    }
    n->issued++;
    n->from_memory += server == count;
    if (server < count)
        twin_use(&twin->level[server], physical, false);
    twin->entry = depth;
    twin->target = twin_level_at(twin, side, depth);
    twin_fill(twin, side, server, false, virtual_, physical);
    twin->target = NULL;
    twin->entry = entry;
    twin->outcome = outcome;
}

static void twin_want(struct twin *twin, enum caches_side side, uint32_t depth, uint64_t virtual_, uint64_t physical,
                      int64_t lines)
{
    struct twin_level *level = twin_level_at(twin, side, depth);
    const uint64_t page = C2_PAGE_BYTES / twin->machine.line_bytes;
    const int64_t in_page = (int64_t)(physical % page) + lines;
    if (in_page < 0 || in_page >= (int64_t)page) {
        level->prefetch[twin->prefetcher].stopped++;
        return;
    }
    virtual_ += (uint64_t)lines;
    physical += (uint64_t)lines;
    twin_drain(twin, physical);
    twin_back(twin, physical, NULL, NULL);
    uint32_t number, slice;
    bool shadowed = false;
    for (uint64_t i = 0; i < level->shadow_count; i++)
        shadowed |= level->shadow[i] == physical;
    if (!shadowed)
        twin_shadow(level, physical);
    if (twin_in_set(level, twin_home(twin, level, virtual_, physical, &number, &slice), physical))
        level->prefetch[twin->prefetcher].present++;
    else
        twin_fetch(twin, side, depth, virtual_, physical);
}

/* The last three lines of the page that were seen, the latest first, without repetitions. */
static int64_t twin_see_stream(const struct twin *twin, struct twin_level *level, uint64_t physical)
{
    const uint64_t page = C2_PAGE_BYTES / twin->machine.line_bytes;
    uint64_t last[3], count = 0;
    if (level->history_count == TWIN_MAX_LINES)
        abort();
    for (uint64_t i = level->history_count; i-- > 0 && count == 0;)
        if (level->history[i] / page == physical / page)
            last[count++] = level->history[i];
    if (count == 1 && last[0] == physical)
        return 0;
    level->history[level->history_count++] = physical;
    count = 0;
    for (uint64_t i = level->history_count; i-- > 0 && count < 3;)
        if (level->history[i] / page == physical / page)
            last[count++] = level->history[i];
    if (count == 3 && last[1] == last[0] - 1 && last[2] == last[0] - 2)
        return level->config.stream_distance;
    return count == 3 && last[1] == last[0] + 1 && last[2] == last[0] + 2 ? -(int64_t)level->config.stream_distance : 0;
}

static int64_t twin_see_stride(const struct twin *twin, struct twin_level *level, uint64_t virtual_)
{
    uint64_t last[3], count = 0;
    if (twin->pc == 0)
        return 0;
    for (int round = 0; round < 2; round++) {
        count = 0;
        for (uint64_t i = level->access_count; i-- > 0 && count < 3;)
            if (level->accesses[i].pc == twin->pc)
                last[count++] = level->accesses[i].line;
        if (round == 0 && count > 0 && last[0] == virtual_)
            return 0;
        if (round == 0) {
            if (level->access_count == TWIN_MAX_LINES)
                abort();
            level->accesses[level->access_count].pc = twin->pc;
            level->accesses[level->access_count++].line = virtual_;
        }
    }
    const bool even = count == 3 && last[0] - last[1] == last[1] - last[2];
    return even ? (int64_t)(last[0] - last[1]) * level->config.stride_distance : 0;
}

static void twin_follow(struct twin *twin, enum caches_side side, uint64_t virtual_, uint64_t physical)
{
    for (uint32_t i = 0; i < twin->seen_count; i++)
        for (unsigned p = 0; p < CACHES_PREFETCHERS && twin->seen[i].looks; p++) {
            struct twin_level *level = twin->seen[i].level;
            int64_t lines = 0;
            if (!(level->config.prefetchers >> p & 1))
                continue;
            twin->prefetcher = p;
            if (p == CACHES_PREFETCH_STREAM)
                lines = twin_see_stream(twin, level, physical);
            else if (p == CACHES_PREFETCH_NEXT_LINE)
                lines = 1;
            else if (p == CACHES_PREFETCH_ADJACENT)
                lines = (int64_t)(physical ^ 1) - (int64_t)physical;
            else
                lines = twin_see_stride(twin, level, virtual_);
            if (lines != 0)
                twin_want(twin, side, twin->seen[i].depth, virtual_, physical, lines);
        }
}

/* ------------------------------------------------------------------ instructions made for caches */

static void twin_write_out(struct twin *twin, uint32_t i)
{
    struct twin_instructed *all = &twin->instructed;
    struct caches_instructed *n = &all->by[all->buffer[i].tag];
    uint32_t bytes = 0;
    for (uint32_t b = 0; b < twin->machine.line_bytes; b++)
        bytes += all->buffer[i].stored[b];
    *(bytes == twin->machine.line_bytes ? &n->full : &n->partial) += 1;
    n->partial_bytes += bytes == twin->machine.line_bytes ? 0 : bytes;
    for (; i + 1 < all->buffers; i++)
        all->buffer[i] = all->buffer[i + 1];
    all->buffers--;
}

/* Another access than a store past the caches comes to the line. */
static void twin_drain(struct twin *twin, uint64_t physical)
{
    for (uint32_t i = twin->instructed.buffers; i-- > 0;)
        if (twin->instructed.buffer[i].physical == physical)
            twin_write_out(twin, i);
}

/* Whether a store past the caches had taken the line; it is forgotten. when, tag: of the store. */
static bool twin_back(struct twin *twin, uint64_t physical, uint64_t *when, uint32_t *tag)
{
    struct twin_instructed *all = &twin->instructed;
    for (uint64_t i = 0; i < all->takens; i++) {
        if (all->taken[i].physical != physical)
            continue;
        if (when) {
            *when = all->taken[i].when;
            *tag = all->taken[i].tag;
        }
        all->taken[i] = all->taken[--all->takens];
        return true;
    }
    return false;
}

static void twin_take(struct twin *twin, uint64_t physical, uint32_t tag)
{
    struct twin_instructed *all = &twin->instructed;
    if (all->takens == TWIN_MAX_LINES)
        abort();
    all->taken[all->takens].physical = physical;
    all->taken[all->takens].when = all->now;
    all->taken[all->takens++].tag = tag;
}

static void twin_drop(uint64_t *list, uint64_t *count, uint64_t physical)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < *count; i++)
        if (list[i] != physical)
            list[kept++] = list[i];
    *count = kept;
}

/* Every trace of the line. */
static void twin_flush_level(const struct twin *twin, struct twin_level *level, uint64_t physical, bool *any,
                             bool *dirty)
{
    struct twin_set *set;
    struct twin_way *way = twin_anywhere(level, physical, &set);
    if (way) {
        *any = true;
        *dirty |= way->dirty;
        twin_empty(set, way);
        twin_gone(twin, level, physical);
    }
    twin_drop(level->shadow, &level->shadow_count, physical);
    twin_drop(level->asked, &level->asked_count, physical);
    twin_forget(&level->pushed, physical);
    for (uint64_t i = 0; i < level->lost_count; i++)
        if (level->lost[i].physical == physical)
            level->lost[i] = level->lost[--level->lost_count];
}

static void twin_clean_level(const struct twin *twin, struct twin_level *level, uint64_t physical, bool *any,
                             bool *dirty)
{
    struct twin_set *set;
    struct twin_way *way = twin_anywhere(level, physical, &set);
    (void)twin;
    if (!way)
        return;
    *any = true;
    *dirty |= way->dirty;
    way->dirty = false;
}

static void twin_everywhere(struct twin *twin, uint64_t physical, struct caches_instructed *n,
                            void (*at)(const struct twin *twin, struct twin_level *level, uint64_t physical, bool *any,
                                       bool *dirty))
{
    bool any = false, dirty = false;
    for (uint32_t i = 0; i < twin->machine.level_count; i++)
        at(twin, &twin->level[i], physical, &any, &dirty);
    if (twin->machine.has_l1i)
        at(twin, &twin->l1i, physical, &any, &dirty);
    n->cached += any;
    n->written_back += dirty;
    twin->level[twin->machine.level_count - 1].counts.writebacks += dirty;
}

static void twin_prefetch(struct twin *twin, enum caches_instruction what, uint64_t virtual_, uint64_t physical,
                          uint32_t tag)
{
    struct caches_instructed *n = &twin->instructed.by[tag];
    uint32_t number, slice, depth = twin->machine.hints[what == CACHES_PREFETCH_FOR_WRITE ? CACHES_PREFETCH_T0 : what];
    if (depth >= twin->machine.level_count)
        depth = twin->machine.level_count - 1;
    while (twin->level[depth].config.inclusion == CACHES_EXCLUSIVE)
        depth--;
    for (uint32_t i = 0; i < depth; i++)
        if (twin_in_set(&twin->level[i], twin_home(twin, &twin->level[i], virtual_, physical, &number, &slice),
                        physical)) {
            n->present++;
            return;
        }
    struct twin_level *level = &twin->level[depth];
    const struct caches_prefetch_counts before = level->prefetch[TWIN_SOFTWARE];
    uint32_t server = depth + 1;
    while (server < twin->machine.level_count &&
           !twin_in_set(&twin->level[server],
                        twin_home(twin, &twin->level[server], virtual_, physical, &number, &slice), physical))
        server++;
    twin->prefetcher = TWIN_SOFTWARE;
    twin->instructed.tag = tag;
    twin->instructed.cycles = twin_latency(twin, server);
    twin->instructed.by_passing = what == CACHES_PREFETCH_NTA;
    twin_want(twin, CACHES_DATA, depth, virtual_, physical, 0);
    twin->instructed.by_passing = false;
    n->present += level->prefetch[TWIN_SOFTWARE].present - before.present;
    n->issued += level->prefetch[TWIN_SOFTWARE].issued - before.issued;
    n->from_memory += level->prefetch[TWIN_SOFTWARE].from_memory - before.from_memory;
}

static __attribute__((unused)) void twin_instruct(struct twin *twin, enum caches_instruction what, uint64_t virtual_,
                                                  uint64_t physical, uint32_t tag)
{
    struct caches_instructed *n = &twin->instructed.by[tag];
    n->executed++;
    twin->missing = twin->pc;
    twin_drain(twin, physical);
    if (what != CACHES_WRITE_BACK)
        twin_back(twin, physical, NULL, NULL);
    if (what == CACHES_FLUSH)
        twin_everywhere(twin, physical, n, twin_flush_level);
    else if (what == CACHES_WRITE_BACK)
        twin_everywhere(twin, physical, n, twin_clean_level);
    else
        twin_prefetch(twin, what, virtual_, physical, tag);
}

static __attribute__((unused)) void twin_store_past(struct twin *twin, uint64_t physical, uint32_t first,
                                                    uint32_t bytes, uint32_t tag)
{
    struct twin_instructed *all = &twin->instructed;
    uint32_t i = 0, whole = 0;
    all->by[tag].executed++;
    all->by[tag].bytes += bytes;
    const uint64_t cached = all->by[tag].cached;
    twin_everywhere(twin, physical, &all->by[tag], twin_flush_level);
    if (all->by[tag].cached != cached)
        twin_take(twin, physical, tag);
    while (i < all->buffers && all->buffer[i].physical != physical)
        i++;
    if (i == all->buffers && i == twin->machine.combining) {
        twin_write_out(twin, 0);
        i--;
    }
    if (i == all->buffers) {
        memset(&all->buffer[i], 0, sizeof all->buffer[i]);
        all->buffer[all->buffers++].physical = physical;
    }
    all->buffer[i].tag = tag;
    memset(&all->buffer[i].stored[first], 1, bytes);
    for (uint32_t b = 0; b < twin->machine.line_bytes; b++)
        whole += all->buffer[i].stored[b];
    if (whole == twin->machine.line_bytes)
        twin_write_out(twin, i);
}

static void twin_ask_and_fill(struct twin *twin, enum caches_side side, uint32_t entry, bool write, uint64_t virtual_,
                              uint64_t physical)
{
    twin->outcome = (struct caches_outcome){0};
    twin->entry = entry;
    uint32_t count = twin->machine.level_count, server = entry;
    while (server < count && !twin_ask(twin, twin_level_at(twin, side, server), server, write, virtual_, physical))
        server++;
    twin->outcome.served_by = server;
    twin->outcome.depth = server < count ? server + 1 : count;
    twin->instructed.waited += twin_latency(twin, server) - twin_latency(twin, entry);
    twin_fill(twin, side, server, write, virtual_, physical);
}

/* The store is done in the nearest level that has the line; if that writes through, it is one of the level below. */
static void twin_pass_on(struct twin *twin, uint64_t virtual_, uint64_t physical)
{
    const struct caches_outcome outcome = twin->outcome;
    const uint32_t entry = twin->entry, count = twin->machine.level_count;
    uint32_t at = entry;
    struct twin_set *set;
    twin->stored_count = 0;
    while (true) {
        while (at < count && !twin_anywhere(&twin->level[at], physical, &set))
            at++;
        if (at == count || !twin->level[at].config.through)
            break;
        twin->level[at].counts.write_throughs++;
        if (++at == count)
            break;
        twin->seen_count = 0; /* nothing prefetches */
        twin_ask_and_fill(twin, CACHES_DATA, at, true, virtual_, physical);
        twin->stored[twin->stored_count].first = at;
        twin->stored[twin->stored_count++].outcome = twin->outcome;
    }
    twin->outcome = outcome;
    twin->entry = entry;
}

/* All but what prefetchers do behind it. */
static void twin_access_levels(struct twin *twin, enum caches_side side, uint32_t entry, bool write, uint64_t virtual_,
                               uint64_t physical)
{
    twin->missing = side == CACHES_FETCH ? virtual_ * twin->machine.line_bytes : twin->pc;
    twin->seen_count = 0;
    twin_drain(twin, physical);
    uint64_t when;
    uint32_t tag;
    if (twin_back(twin, physical, &when, &tag)) {
        const struct caches_level *last = &twin->machine.levels[twin->machine.level_count - 1];
        twin->instructed.by[tag].refetched += (twin->instructed.now - when) * twin->machine.line_bytes <
                                              last->size_bytes;
    }
    twin_ask_and_fill(twin, side, entry, write, virtual_, physical);
    twin->stored_count = 0;
    if (write)
        twin_pass_on(twin, virtual_, physical);
}

static void twin_access_from(struct twin *twin, enum caches_side side, uint32_t entry, bool write, uint64_t virtual_,
                             uint64_t physical)
{
    twin_access_levels(twin, side, entry, write, virtual_, physical);
    twin_follow(twin, side, virtual_, physical);
}

static __attribute__((unused)) void twin_access(struct twin *twin, enum caches_side side, bool write, uint64_t virtual_,
                                                uint64_t physical)
{
    twin_access_from(twin, side, 0, write, virtual_, physical);
}

static __attribute__((unused)) void twin_walk(struct twin *twin, uint64_t physical)
{
    twin_access_from(twin, CACHES_DATA, twin->machine.walks_from, false, physical, physical);
}

#endif
