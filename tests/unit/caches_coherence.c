/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Several cores beside a slow twin: lists of lines, searched from end to end, and MESI written out state by state. With
 * prefetchers that remember nothing: what the others see is a matter of one core (caches_prefetch.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "caches/caches_fast.h"

#define assert_ok(call) assert_int_equal(call, C2_OK)

enum { CORES = 4, LINES = 96, LEVELS = 3, L1I = LEVELS, NODES = LEVELS + 1, MOST = 64, LINE = 16, TAGS = 5 };

/* ------------------------------------------------------------------ the twin */

struct held {
    uint32_t line;
    bool dirty;
    uint32_t way; /* matters where cores may fill some alone */
};

/* A cache: the lines of each set, and those of its shadow, the youngest first. */
struct node {
    const struct caches_level *config;
    uint32_t sets, capacity;
    struct held set[MOST][MOST];
    uint32_t used[MOST];
    uint32_t shadow[MOST], live;
    bool asked[LINES], taken[LINES];
    uint32_t pending[LINES], pushed[LINES]; /* 1 + the prefetcher that brought it, or pushed it out; 0: none */
    struct caches_counts counts;
    struct caches_core_level core_counts;
};

enum state { INVALID, SHARED, EXCLUSIVE };
struct view { /* a core's, of a line */
    enum state state;
    bool lost, foreign[LINE];
    uint32_t taker, taker_core, misser;
    bool waits, measured;
};

struct pair {
    uint64_t true_sharing, false_sharing;
};

struct twin {
    const struct caches_machine *machine;
    uint32_t own;
    uint32_t by;                          /* the core that makes the access */
    uint32_t evicted[256], evicted_count; /* lines, by the access being made */
    bool measuring;
    struct node node[CORES][NODES];
    struct view view[CORES][LINES];
    struct caches_core_counts counts[CORES];
    struct caches_prefetch_counts prefetches[NODES][CACHES_PREFETCHERS + 1];
    bool instructs;             /* a quarter are instructions made for caches */
    bool by_passing;            /* the prefetch of an instruction fills inclusive levels alone, but for its own */
    uint32_t fetching;          /* 1 + the prefetcher that does; 0: none */
    uint64_t entry[LINES], now; /* of the snoop filter: when it was used last; 0: there is none */
    struct seen {
        uint32_t level;
        bool hit, first;
    } seen[NODES];
    uint32_t seen_count;
    struct pair pairs[LINES][TAGS][CORES][TAGS][CORES]; /* taker, missed */
};

static struct node *node_of(struct twin *twin, uint32_t core, uint32_t level)
{
    return &twin->node[level == L1I || level < twin->own ? core : 0][level];
}

static struct held *find(struct node *node, uint32_t line)
{
    const uint32_t set = line % node->sets;
    for (uint32_t i = 0; i < node->used[set]; i++)
        if (node->set[set][i].line == line)
            return &node->set[set][i];
    return NULL;
}

/* A line leaves; moved: up, from an exclusive level. */
static void leaves(struct twin *twin, uint32_t level, struct node *node, uint32_t line, bool moved)
{
    if (node->pending[line] != 0 && !moved)
        twin->prefetches[level][node->pending[line] - 1].useless++;
    node->pending[line] = 0;
    node->pushed[line] = moved ? 0 : twin->fetching;
}

static void drop(struct node *node, struct held *held)
{
    const uint32_t set = held->line % node->sets;
    struct held *end = &node->set[set][--node->used[set]];
    memmove(held, held + 1, (size_t)(end - held) * sizeof *held);
}

static void to_front(struct node *node, struct held *held)
{
    struct held copy = *held, *first = node->set[held->line % node->sets];
    memmove(first + 1, first, (size_t)(held - first) * sizeof *held);
    *first = copy;
}

static bool shadow_take(struct node *node, uint32_t line)
{
    for (uint32_t i = 0; i < node->live; i++)
        if (node->shadow[i] == line) {
            memmove(&node->shadow[i], &node->shadow[i + 1], (--node->live - i) * sizeof line);
            return true;
        }
    return false;
}

static bool shadow_touch(struct node *node, uint32_t line)
{
    const bool had = shadow_take(node, line);
    node->live -= node->live == node->capacity;
    memmove(&node->shadow[1], node->shadow, node->live++ * sizeof line);
    node->shadow[0] = line;
    return had;
}

static bool in_shadow_of(const struct node *node, uint32_t line)
{
    bool in_shadow = false;
    for (uint32_t i = 0; i < node->live; i++)
        in_shadow |= node->shadow[i] == line;
    return in_shadow;
}

static bool is_own(const struct twin *twin, uint32_t level)
{
    return level < twin->own || (level == L1I && twin->machine->has_l1i);
}

static bool core_has(struct twin *twin, uint32_t core, uint32_t line)
{
    bool has = false;
    for (uint32_t i = 0; i < NODES; i++)
        has |= is_own(twin, i) && find(&twin->node[core][i], line);
    return has;
}

static void settle(struct twin *twin, uint32_t core, uint32_t line, bool truly)
{
    struct view *view = &twin->view[core][line];
    struct pair *pair = &twin->pairs[line][view->taker][view->taker_core][view->misser][core];
    if (view->waits && view->measured) {
        pair->true_sharing += truly;
        pair->false_sharing += !truly;
        twin->counts[core].true_sharing += truly;
        twin->counts[core].false_sharing += !truly;
    }
    view->waits = false;
}

/* The core that has lost its last copy has lost the line. */
static void look_at_states(struct twin *twin, uint32_t line)
{
    for (uint32_t core = 0; core < CORES; core++)
        if (twin->view[core][line].state != INVALID && !core_has(twin, core, line)) {
            twin->view[core][line].state = INVALID;
            settle(twin, core, line, false);
        }
}

/* Dirty data goes down from this level on. */
static bool write_down(struct twin *twin, uint32_t core, uint32_t level, uint32_t line)
{
    for (; level < twin->machine->level_count; level++) {
        struct held *held = find(node_of(twin, core, level), line);
        if (!held || twin->machine->levels[level].through)
            continue;
        held->dirty = true;
        return true;
    }
    return false;
}

static bool shared_has(struct twin *twin, uint32_t line)
{
    bool has = false;
    for (uint32_t i = twin->own; i < twin->machine->level_count; i++)
        has |= !!find(&twin->node[0][i], line);
    return has;
}

static void count_dirty(struct twin *twin, uint32_t core, uint32_t other, uint32_t line)
{
    for (uint32_t i = twin->own; i < twin->machine->level_count && !shared_has(twin, line); i++) {
        shadow_take(&twin->node[0][i], line); /* it is the core's alone */
        twin->node[0][i].taken[line] = true;
    }
    twin->counts[core].interventions += twin->measuring;
    twin->counts[core].forwards += twin->measuring && !shared_has(twin, line);
    twin->counts[other].interventions_given += twin->measuring;
}

/* Whether one of a core's own levels has each line that it writes. */
static bool keeps_stores(const struct twin *twin)
{
    bool keeps = false;
    for (uint32_t i = 0; i < twin->own; i++)
        keeps |= !twin->machine->levels[i].through && !twin->machine->levels[i].around;
    return keeps;
}

static void invalidate(struct twin *twin, uint32_t core, uint32_t other, uint32_t line, const struct caches_origin *by)
{
    struct view *view = &twin->view[other][line];
    bool copy = false, dirty = false, marked = false;
    for (uint32_t i = 0; i < NODES; i++) {
        struct node *node = &twin->node[other][i];
        struct held *held = is_own(twin, i) ? find(node, line) : NULL;
        bool here = is_own(twin, i) && shadow_take(node, line);
        if (held) {
            node->core_counts.invalidations += twin->measuring;
            node->core_counts.interventions += twin->measuring && held->dirty;
            twin->counts[other].prefetches_taken += twin->measuring && node->pending[line] != 0;
            dirty |= held->dirty;
            leaves(twin, i, node, line, false);
            drop(node, held);
            copy = here = true;
        }
        node->pushed[line] = is_own(twin, i) ? 0 : node->pushed[line];
        node->taken[line] |= here;
        marked |= here;
    }
    twin->counts[core].invalidations_sent += copy && twin->measuring;
    twin->counts[other].invalidations_received += copy && twin->measuring;
    if (dirty)
        count_dirty(twin, core, other, line);
    if (dirty && !keeps_stores(twin)) {
        twin->node[other][twin->own - 1].counts.writebacks++;
        write_down(twin, other, twin->own, line);
    }
    if (!marked)
        return;
    settle(twin, other, line, false);
    if (!view->lost)
        memset(view->foreign, 0, sizeof view->foreign);
    view->lost = true;
    view->taker = by->tag;
    view->taker_core = core;
    view->state = INVALID;
}

static void downgrade(struct twin *twin, uint32_t core, uint32_t other, uint32_t line)
{
    bool dirty = false;
    twin->view[other][line].state = SHARED;
    for (uint32_t i = 0; i < NODES; i++) {
        struct node *node = &twin->node[other][i];
        struct held *held = is_own(twin, i) ? find(node, line) : NULL;
        if (!held || !held->dirty)
            continue;
        held->dirty = false;
        dirty = true;
        node->core_counts.interventions += twin->measuring;
    }
    if (!dirty)
        return;
    count_dirty(twin, core, other, line);
    twin->node[other][twin->own - 1].counts.writebacks++;
    write_down(twin, other, twin->own, line);
}

static void protocol(struct twin *twin, uint32_t line, bool write, const struct caches_origin *by)
{
    struct view *mine = &twin->view[by->core][line];
    bool others = false;
    for (uint32_t i = 0; i < CORES; i++)
        others |= i != by->core && twin->view[i][line].state != INVALID;
    if (write)
        twin->counts[by->core].upgrades += mine->state == SHARED && twin->measuring;
    for (uint32_t i = 0; i < CORES; i++) {
        if (i == by->core)
            continue;
        if (write)
            invalidate(twin, by->core, i, line, by);
        else if (twin->view[i][line].state == EXCLUSIVE)
            downgrade(twin, by->core, i, line);
        for (uint32_t b = by->first; write && b < by->first + by->bytes; b++)
            twin->view[i][line].foreign[b] |= twin->view[i][line].lost;
    }
    if (write)
        mine->state = EXCLUSIVE;
    else if (mine->state == INVALID)
        mine->state = others ? SHARED : EXCLUSIVE;
}

/* An inclusive level takes the line from those above it: of its core, or of all. */
static void take_above(struct twin *twin, uint32_t core, uint32_t level, struct held *victim)
{
    for (uint32_t other = 0; other < CORES; other++)
        for (uint32_t i = 0; i < NODES; i++) {
            struct node *above = &twin->node[other][i];
            const bool is_above = (i == L1I || i < level) && (is_own(twin, i) || (other == 0 && i != L1I));
            struct held *held = is_above && (level >= twin->own || other == core) ? find(above, victim->line) : NULL;
            if (!held)
                continue;
            victim->dirty |= held->dirty;
            node_of(twin, core, level)->counts.back_invalidations++;
            leaves(twin, i, above, victim->line, false);
            drop(above, held);
        }
}

static void put(struct twin *twin, uint32_t core, uint32_t level, uint32_t line, bool dirty);

/* A victim goes to the level below if that is exclusive. */
static bool insert(struct twin *twin, uint32_t core, uint32_t level, const struct held *victim)
{
    if (level >= twin->machine->level_count || twin->machine->levels[level].inclusion != CACHES_EXCLUSIVE)
        return false;
    struct held *held = find(node_of(twin, core, level), victim->line);
    if (held)
        held->dirty |= victim->dirty;
    else
        put(twin, core, level, victim->line, victim->dirty);
    return true;
}

static bool may_fill(const struct twin *twin, const struct node *node, uint32_t way)
{
    uint64_t ways = ~UINT64_C(0);
    for (uint32_t i = 0; i < node->config->mask_count; i++)
        if (twin->by >= node->config->masks[i].first && twin->by <= node->config->masks[i].last)
            ways = node->config->masks[i].ways;
    return ways >> way & 1;
}

/* The lowest way that the core may fill and that is empty; MOST: there is none. */
static uint32_t free_way(const struct twin *twin, const struct node *node, uint32_t set)
{
    for (uint32_t way = 0; way < node->config->ways; way++) {
        bool taken = false;
        for (uint32_t i = 0; i < node->used[set]; i++)
            taken |= node->set[set][i].way == way;
        if (!taken && may_fill(twin, node, way))
            return way;
    }
    return MOST;
}

/* The oldest line of those whose ways the core may fill. Says which way is free then. */
static uint32_t evict(struct twin *twin, uint32_t core, uint32_t level, struct node *node, uint32_t set)
{
    uint32_t at = node->used[set] - 1;
    while (!may_fill(twin, node, node->set[set][at].way))
        at--;
    struct held victim = node->set[set][at];
    drop(node, &node->set[set][at]);
    leaves(twin, node->config == &twin->machine->l1i ? L1I : level, node, victim.line, false);
    if (node->config->inclusion == CACHES_INCLUSIVE)
        take_above(twin, core, level, &victim);
    node->counts.writebacks += victim.dirty;
    if (!insert(twin, core, level + 1, &victim) && victim.dirty)
        write_down(twin, core, level + 1, victim.line);
    twin->evicted[twin->evicted_count++] = victim.line;
    return victim.way;
}

static void put(struct twin *twin, uint32_t core, uint32_t level, uint32_t line, bool dirty)
{
    struct node *node = node_of(twin, core, level);
    const uint32_t set = line % node->sets;
    uint32_t way = free_way(twin, node, set);
    if (way == MOST)
        way = evict(twin, core, level == L1I ? 0 : level, node, set);
    memmove(&node->set[set][1], node->set[set], node->used[set]++ * sizeof(struct held));
    node->set[set][0] = (struct held){line, dirty, way};
    node->pending[line] = node->pushed[line] = 0;
}

static void used(struct twin *twin, uint32_t level, struct node *node, uint32_t line)
{
    if (node->pending[line] != 0)
        twin->prefetches[level][node->pending[line] - 1].useful++;
    node->pending[line] = 0;
}

static void see(struct twin *twin, uint32_t level, struct node *node, uint32_t line)
{
    const bool hit = find(node, line);
    twin->seen[twin->seen_count++] = (struct seen){level, hit, node->pending[line] != 0};
    if (hit)
        used(twin, level, node, line);
    else if (node->pushed[line] != 0)
        twin->prefetches[level][node->pushed[line] - 1].polluting++;
}

/* Says whether the level has the line; *taken: a coherence miss. fills: if it does not have it, it will. */
static bool ask(struct twin *twin, uint32_t core, uint32_t level, uint32_t line, bool write, bool fills, bool *taken)
{
    struct node *node = node_of(twin, core, level);
    see(twin, level, node, line);
    struct caches_counts *n = &node->counts;
    struct held *held = find(node, line);
    const bool asked = node->asked[line], was_taken = node->taken[line], in_shadow = in_shadow_of(node, line);
    if (fills || in_shadow)
        shadow_touch(node, line);
    node->asked[line] = true;
    node->taken[line] = false;
    n->accesses++;
    *(write ? &n->writes : &n->reads) += 1;
    n->fa_misses += !in_shadow;
    if (held) {
        n->hits++;
        n->fa_only_misses += !in_shadow;
        to_front(node, held);
        return true;
    }
    n->misses++;
    *(write ? &n->write_misses : &n->read_misses) += 1;
    *(was_taken ? &n->coherence : in_shadow ? &n->conflict : asked ? &n->capacity : &n->cold) += 1;
    *taken |= was_taken && is_own(twin, level);
    n->write_arounds += !fills;
    return false;
}

static void bytes(struct twin *twin, uint32_t line, bool missed, const struct caches_origin *by)
{
    struct view *view = &twin->view[by->core][line];
    bool needed = false;
    for (uint32_t b = by->first; b < by->first + by->bytes; b++)
        needed |= view->foreign[b];
    twin->counts[by->core].coherence_misses += missed && twin->measuring;
    if (missed) {
        settle(twin, by->core, line, false);
        view->waits = true;
        view->measured = twin->measuring;
        view->misser = by->tag;
    }
    if (needed)
        settle(twin, by->core, line, true);
}

static bool anyone_has(const struct twin *twin, uint32_t line)
{
    bool has = false;
    for (uint32_t i = 0; i < CORES; i++)
        has |= twin->view[i][line].state != INVALID;
    return has;
}

static bool is_exclusive(const struct twin *twin, uint32_t level)
{
    return level < twin->machine->level_count && twin->machine->levels[level].inclusion == CACHES_EXCLUSIVE;
}

/* The line leaves the exclusive level that had it; says whether the one filled first is to be dirty. */
static bool move_out(struct twin *twin, uint32_t core, uint32_t line, uint32_t server, uint32_t into)
{
    struct node *node = node_of(twin, core, server);
    struct held *held = find(node, line);
    const bool dirty = held->dirty;
    leaves(twin, server, node, line, true);
    drop(node, held);
    if (!dirty || (into != L1I && (twin->view[core][line].state == EXCLUSIVE || !anyone_has(twin, line))))
        return dirty;
    node->counts.writebacks++;
    write_down(twin, core, server + 1, line);
    return false;
}

/* From the level below those that missed, if there is one. */
static void bring(struct twin *twin, uint32_t core, uint32_t line, const uint32_t *missed, uint32_t count)
{
    const uint32_t server = count == 0 ? 0 : missed[count - 1] == L1I ? 1 : missed[count - 1] + 1;
    uint32_t into = count - 1;
    bool dirty = false;
    if (count == 0)
        return;
    while (into > 0 && is_exclusive(twin, missed[into]))
        into--;
    if (is_exclusive(twin, server))
        dirty = move_out(twin, core, line, server, missed[into]);
    while (--count > 0) {
        const bool inclusive = node_of(twin, core, missed[count])->config->inclusion == CACHES_INCLUSIVE;
        if (is_exclusive(twin, missed[count]) || (twin->by_passing && !inclusive))
            continue;
        put(twin, core, missed[count], line, dirty);
        dirty = false;
    }
    put(twin, core, missed[0], line, dirty);
}

/* ------------------------------------------------------------------ its snoop filter */

static void filter_out(struct twin *twin, uint32_t core, uint32_t line)
{
    bool dirty = false;
    for (uint32_t i = 0; i < NODES; i++) {
        struct node *node = &twin->node[core][i];
        struct held *held = is_own(twin, i) ? find(node, line) : NULL;
        if (!held)
            continue;
        node->core_counts.filter_invalidations += twin->measuring;
        dirty |= held->dirty;
        leaves(twin, i, node, line, false);
        drop(node, held);
    }
    twin->counts[core].filter_invalidations += twin->measuring;
    twin->view[core][line].state = INVALID;
    settle(twin, core, line, false);
    if (!dirty)
        return;
    twin->node[core][twin->own - 1].counts.writebacks++;
    write_down(twin, core, twin->own, line);
}

/* asked: the core did not have the line, or not to write it. */
static void use_filter(struct twin *twin, uint32_t core, uint32_t line, bool asked)
{
    const uint32_t ways = twin->machine->filter_ways, sets = ways == 0 ? 1 : twin->machine->filter_lines / ways;
    uint32_t others = 0, oldest = LINES;
    if (ways == 0 || !asked || !anyone_has(twin, line))
        return;
    for (uint32_t i = line % sets; i < LINES; i += sets) {
        twin->entry[i] = anyone_has(twin, i) ? twin->entry[i] : 0;
        if (i == line || twin->entry[i] == 0)
            continue;
        others++;
        oldest = oldest == LINES || twin->entry[i] < twin->entry[oldest] ? i : oldest;
    }
    twin->entry[line] = ++twin->now;
    if (others < ways)
        return;
    twin->entry[oldest] = 0;
    twin->counts[core].filter_evictions += twin->measuring;
    for (uint32_t i = 0; i < CORES; i++)
        if (twin->view[i][oldest].state != INVALID)
            filter_out(twin, i, oldest);
}

/* ------------------------------------------------------------------ what its prefetchers do */

/* The level does not have the line: those below are asked, and nothing of that is counted. */
static void fetch(struct twin *twin, uint32_t core, uint32_t level, uint32_t line, uint32_t prefetcher)
{
    const struct caches_origin reader = {.core = core};
    struct caches_prefetch_counts *n = &twin->prefetches[level][prefetcher];
    uint32_t missed[NODES], count = 0, below = level;
    bool found = false, alone = true;
    const bool asked = twin->view[core][line].state == INVALID;
    for (uint32_t i = 0; i < CORES && is_own(twin, level); i++)
        alone &= i == core || twin->view[i][line].state != EXCLUSIVE;
    twin->counts[core].prefetch_downgrades += !alone && twin->measuring;
    if (is_own(twin, level))
        protocol(twin, line, false, &reader);
    while (!found) {
        missed[count++] = below;
        below = below == L1I ? 1 : below + 1;
        found = below == twin->machine->level_count;
        if (found)
            break;
        struct node *node = node_of(twin, core, below);
        shadow_touch(node, line);
        node->asked[line] = true;
        node->taken[line] = false;
        found = find(node, line);
        if (found && !is_exclusive(twin, below))
            to_front(node, find(node, line));
        if (found)
            used(twin, below, node, line);
    }
    twin->fetching = 1 + prefetcher;
    bring(twin, core, line, missed, count);
    node_of(twin, core, level)->pending[line] = 1 + prefetcher;
    n->issued++;
    n->from_memory += below == twin->machine->level_count;
    while (twin->evicted_count > 0)
        look_at_states(twin, twin->evicted[--twin->evicted_count]);
    if (is_own(twin, level)) {
        twin->view[core][line].lost = false;
        use_filter(twin, core, line, asked);
    }
    twin->fetching = 0;
}

static void request(struct twin *twin, uint32_t core, uint32_t level, uint32_t line, uint32_t prefetcher)
{
    struct node *node = node_of(twin, core, level);
    bool kept = false;
    for (uint32_t i = 0; i < CORES && !is_own(twin, level); i++)
        kept |= twin->view[i][line].state != INVALID;
    if (!kept && !in_shadow_of(node, line)) {
        shadow_touch(node, line);
        node->asked[line] = true;
        node->taken[line] = false;
    }
    if (kept || find(node, line))
        twin->prefetches[level][prefetcher].present++;
    else
        fetch(twin, core, level, line, prefetcher);
}

static void follow(struct twin *twin, uint32_t core, uint32_t line)
{
    for (uint32_t i = 0; i < twin->seen_count; i++) {
        const struct seen *seen = &twin->seen[i];
        const struct caches_level *config = node_of(twin, core, seen->level)->config;
        const bool looks[CACHES_PREFETCH_ONS] = {[CACHES_ON_ACCESSES] = true,
                                                 [CACHES_ON_MISSES] = !seen->hit,
                                                 [CACHES_ON_TAGGED] = !seen->hit || seen->first};
        if (looks[config->prefetch_on] && (config->prefetchers >> CACHES_PREFETCH_NEXT_LINE & 1))
            request(twin, core, seen->level, line + 1, CACHES_PREFETCH_NEXT_LINE);
        if (looks[config->prefetch_on] && (config->prefetchers >> CACHES_PREFETCH_ADJACENT & 1))
            request(twin, core, seen->level, line ^ 1, CACHES_PREFETCH_ADJACENT);
    }
    twin->seen_count = 0;
}

/* The levels are asked from `first` on, and filled. */
static void ask_and_fill(struct twin *twin, uint32_t core, uint32_t first, bool write, uint32_t line, bool *taken)
{
    uint32_t missed[NODES], count = 0, at = first;
    do {
        const bool fills = !write || count > 0 || !twin->machine->levels[at].around;
        if (ask(twin, core, at, line, write, fills, taken))
            break;
        if (fills)
            missed[count++] = at;
        at = at == L1I ? 1 : at + 1;
    } while (at < twin->machine->level_count);
    bring(twin, core, line, missed, count);
}

/* A store is done in the nearest level that has the line, and where that writes through it is one of the next. */
static void store(struct twin *twin, uint32_t core, uint32_t first, uint32_t line, bool *taken)
{
    const struct caches_machine *machine = twin->machine;
    uint32_t at = first;
    while (at < machine->level_count) {
        struct node *node = node_of(twin, core, at);
        struct held *held = find(node, line);
        if (held && !machine->levels[at].through) {
            held->dirty = true;
            return;
        }
        at++;
        if (!held)
            continue;
        node->counts.write_throughs++;
        twin->seen_count = 0; /* nothing prefetches */
        if (at < machine->level_count)
            ask_and_fill(twin, core, at, true, line, taken);
    }
}

/* ------------------------------------------------------------------ instructions made for caches */

/* As a write would, but no byte changes, and it is no upgrade. */
static void claim(struct twin *twin, uint32_t line, const struct caches_origin *by)
{
    for (uint32_t i = 0; i < CORES; i++)
        if (i != by->core && twin->view[i][line].state == EXCLUSIVE)
            downgrade(twin, by->core, i, line);
    for (uint32_t i = 0; i < CORES; i++)
        if (i != by->core)
            invalidate(twin, by->core, i, line, by);
    if (twin->view[by->core][line].state != INVALID)
        twin->view[by->core][line].state = EXCLUSIVE;
}

static void prefetch_twin(struct twin *twin, enum caches_instruction what, uint32_t line,
                          const struct caches_origin *by)
{
    const bool writes = what == CACHES_PREFETCH_FOR_WRITE;
    uint32_t level = twin->machine->hints[writes ? CACHES_PREFETCH_T0 : what];
    bool nearer = false;
    if (level >= twin->machine->level_count)
        level = twin->machine->level_count - 1;
    while (is_exclusive(twin, level))
        level--;
    for (uint32_t i = 0; i < level; i++)
        nearer |= !!find(node_of(twin, by->core, i), line);
    if (writes && is_own(twin, level))
        claim(twin, line, by);
    twin->by_passing = what == CACHES_PREFETCH_NTA;
    if (!nearer)
        request(twin, by->core, level, line, CACHES_PREFETCH_SOFTWARE);
    twin->by_passing = false;
}

/* flushed: all trace of the line is gone; else it is clean. */
static void everywhere(struct twin *twin, uint32_t line, bool flushed, uint32_t by)
{
    bool dirty = false;
    for (uint32_t core = 0; core < CORES; core++)
        for (uint32_t i = 0; i < NODES; i++) {
            struct node *node = &twin->node[core][i];
            const bool exists = i == L1I ? twin->machine->has_l1i : i < twin->machine->level_count;
            struct held *held = exists && (core == 0 || is_own(twin, i)) ? find(node, line) : NULL;
            dirty |= held && held->dirty;
            if (held)
                held->dirty = false;
            if (held && flushed) {
                leaves(twin, i, node, line, false);
                drop(node, held);
            }
            if (!flushed)
                continue;
            shadow_take(node, line);
            node->asked[line] = node->taken[line] = false;
            node->pushed[line] = 0;
        }
    look_at_states(twin, line);
    node_of(twin, by, twin->machine->level_count - 1)->counts.writebacks += dirty;
}

static void instruct_both(struct twin *twin, struct caches *caches, struct c2_rng *rng, uint32_t line,
                          const struct caches_origin *by)
{
    const enum caches_instruction what = (enum caches_instruction)c2_rng_below(rng, CACHES_INSTRUCTIONS);
    const struct line_no number = {line};
    const struct caches_past store = {number, 0, 4};
    twin->by = by->core;
    if (what == CACHES_STORE_PAST)
        assert_ok(caches_store_past(caches, &store, 0, NULL));
    else
        assert_ok(caches_instruct(caches, what, number, number, 0, NULL));
    if (what < CACHES_FLUSH)
        prefetch_twin(twin, what, line, by);
    else
        everywhere(twin, line, what != CACHES_WRITE_BACK, by->core);
}

static void access_twin(struct twin *twin, uint32_t first, bool write, uint32_t line, const struct caches_origin *by)
{
    bool taken = false;
    const enum state before = twin->view[by->core][line].state;
    twin->by = by->core;
    protocol(twin, line, write, by);
    ask_and_fill(twin, by->core, first, write, line, &taken);
    if (write)
        store(twin, by->core, first, line, &taken);
    while (twin->evicted_count > 0)
        look_at_states(twin, twin->evicted[--twin->evicted_count]);
    if (core_has(twin, by->core, line))
        twin->view[by->core][line].lost = false;
    else
        twin->view[by->core][line].state = INVALID;
    use_filter(twin, by->core, line, before == INVALID || (write && before == SHARED));
    bytes(twin, line, taken, by);
    follow(twin, by->core, line);
}

/* ------------------------------------------------------------------ random machines and traces */

static struct caches_level level_of(struct c2_rng *rng, const char *name, uint32_t most_sets, uint32_t inclusion)
{
    struct caches_level level = {.ways = 1 + (uint32_t)c2_rng_below(rng, 4),
                                 .slices = 1,
                                 .hash = "none",
                                 .index = CACHES_PHYSICAL,
                                 .inclusion = (enum caches_inclusion)inclusion};
    snprintf(level.name, sizeof level.name, "%s", name);
    level.size_bytes = (uint64_t)LINE * level.ways * (1 + c2_rng_below(rng, most_sets));
    return level;
}

/* Of every other machine. */
static void add_prefetchers(struct caches_level *level, struct c2_rng *rng)
{
    static const unsigned some[] = {0, 1u << CACHES_PREFETCH_NEXT_LINE, 1u << CACHES_PREFETCH_ADJACENT,
                                    1u << CACHES_PREFETCH_NEXT_LINE | 1u << CACHES_PREFETCH_ADJACENT};
    const unsigned chosen = some[c2_rng_below(rng, 4)];
    level->prefetchers = level->inclusion == CACHES_EXCLUSIVE ? 0 : chosen;
    level->prefetch_on = (enum caches_prefetch_on)c2_rng_below(rng, CACHES_PREFETCH_ONS);
}

/* Of every third machine without an exclusive level: stores go on from levels, and past them. */
static void add_writes(struct caches_machine *machine, struct c2_rng *rng)
{
    bool may = c2_rng_below(rng, 3) == 0, comes = true;
    for (uint32_t i = 0; i < machine->level_count; i++)
        may &= machine->levels[i].inclusion != CACHES_EXCLUSIVE;
    for (uint32_t i = 0; i < NODES && may; i++)
        (i == L1I ? &machine->l1i : &machine->levels[i])->prefetchers = 0;
    for (uint32_t i = 0; i < machine->level_count && may; i++) {
        struct caches_level *level = &machine->levels[i];
        level->through = c2_rng_below(rng, 2);
        level->around = comes && c2_rng_below(rng, 2);
        comes = level->through || level->around;
    }
}

/* Of every third machine: of half of the levels one or two ranges of cores may fill some ways alone. */
static void add_masks(struct caches_machine *machine, struct c2_rng *rng)
{
    const bool may = c2_rng_below(rng, 3) == 0;
    for (uint32_t i = 0; i < NODES && may; i++) {
        struct caches_level *level = i == L1I ? &machine->l1i : &machine->levels[i];
        uint32_t core = (uint32_t)c2_rng_below(rng, CORES);
        for (level->mask_count = 0; level->mask_count < c2_rng_below(rng, 3) && core < CORES; level->mask_count++) {
            const uint32_t last = core + (uint32_t)c2_rng_below(rng, CORES - core);
            const uint64_t ways = c2_rng_next(rng) & c2_mask(0, level->ways - 1);
            level->masks[level->mask_count] = (struct caches_mask){core, last, ways != 0 ? ways : 1};
            core = last + 1;
        }
    }
}

static struct caches_machine random_machine(struct c2_rng *rng)
{
    struct caches_machine machine = {.name = "random", .line_bytes = LINE, .physical_bytes = 1 << 20, .cores = CORES};
    machine.level_count = 1 + (uint32_t)c2_rng_below(rng, LEVELS);
    machine.levels[0] = level_of(rng, "L1D", 4, 0);
    machine.levels[1] = level_of(rng, "L2", 8, (uint32_t)c2_rng_below(rng, CACHES_INCLUSIONS));
    machine.levels[2] = level_of(rng, "L3", 15, (uint32_t)c2_rng_below(rng, CACHES_INCLUSIONS));
    if (machine.level_count > 1)
        machine.levels[machine.level_count - 1].shared = c2_rng_below(rng, 4) != 0;
    if (machine.level_count == 3 && machine.levels[2].shared)
        machine.levels[1].shared = c2_rng_below(rng, 4) == 0;
    machine.has_l1i = machine.level_count > 1 && c2_rng_below(rng, 2);
    machine.l1i = level_of(rng, "L1I", 4, 0);
    machine.walks_from = (uint32_t)c2_rng_below(rng, machine.level_count);
    for (uint32_t i = c2_rng_below(rng, 2) == 0 ? NODES : 0; i < NODES; i++)
        add_prefetchers(i == L1I ? &machine.l1i : &machine.levels[i], rng);
    add_writes(&machine, rng);
    add_masks(&machine, rng);
    const uint32_t own = caches_machine_private(&machine);
    if ((own < machine.level_count && machine.levels[own].inclusion == CACHES_INCLUSIVE) || c2_rng_below(rng, 2) == 0)
        return machine;
    machine.filter_ways = 1 + (uint32_t)c2_rng_below(rng, 4);
    machine.filter_lines = machine.filter_ways * (1 + (uint32_t)c2_rng_below(rng, 9));
    return machine;
}

static void init_twin(struct twin *twin, const struct caches_machine *machine)
{
    memset(twin, 0, sizeof *twin);
    twin->machine = machine;
    twin->own = caches_machine_private(machine);
    twin->measuring = true;
    for (uint32_t core = 0; core < CORES; core++)
        for (uint32_t i = 0; i < NODES; i++) {
            struct node *node = &twin->node[core][i];
            node->config = i == L1I ? &machine->l1i : &machine->levels[i];
            node->capacity = (uint32_t)(node->config->size_bytes / LINE);
            node->sets = node->capacity / node->config->ways;
        }
}

static void access_both(struct twin *twin, struct caches *caches, struct c2_rng *rng, uint32_t lines)
{
    const struct caches_machine *machine = twin->machine;
    const uint32_t line = (uint32_t)c2_rng_below(rng, lines), kind = (uint32_t)c2_rng_below(rng, 16);
    const struct line_no number = {line};
    struct caches_origin by = {.core = (uint32_t)c2_rng_below(rng, CORES), .tag = (uint32_t)c2_rng_below(rng, TAGS)};
    uint32_t served_by;
    by.first = (uint32_t)c2_rng_below(rng, LINE);
    by.bytes = 1 + (uint32_t)c2_rng_below(rng, c2_rng_below(rng, 4) == 0 ? LINE - by.first : 1);
    caches_on_core(caches, &by);
    if (kind < 4 && twin->instructs) {
        instruct_both(twin, caches, rng, line, &by);
    } else if (kind == 0) {
        access_twin(twin, machine->walks_from, false, line, &by);
        assert_ok(caches_walk(caches, number, &served_by, NULL, NULL));
    } else if (kind == 1 && machine->has_l1i) {
        access_twin(twin, L1I, false, line, &by);
        assert_ok(caches_access(caches, CACHES_FETCH, false, number, number, NULL, NULL));
    } else {
        access_twin(twin, 0, kind % 3 == 0, line, &by);
        assert_ok(caches_access(caches, CACHES_DATA, kind % 3 == 0, number, number, NULL, NULL));
    }
}

static void assert_same_levels(struct twin *twin, const struct caches *caches, uint32_t core)
{
    for (uint32_t i = 0; i < NODES; i++) {
        const uint32_t level = i == L1I ? twin->machine->level_count : i;
        if (i == L1I ? !twin->machine->has_l1i : i >= twin->machine->level_count)
            continue;
        const struct caches_counts *n = caches_level_counts_of(caches, core, level);
        assert_memory_equal(n, &node_of(twin, core, i)->counts, sizeof *n);
        for (uint32_t k = 0; k < CACHES_PREFETCHERS && caches_machine_prefetches(twin->machine); k++)
            assert_memory_equal(caches_prefetch_counts(caches, level, (enum caches_prefetcher)k),
                                &twin->prefetches[i][k], sizeof(struct caches_prefetch_counts));
        if (caches_were_instructed(caches))
            assert_memory_equal(caches_prefetch_counts(caches, level, CACHES_PREFETCH_SOFTWARE),
                                &twin->prefetches[i][CACHES_PREFETCH_SOFTWARE], sizeof(struct caches_prefetch_counts));
        if (is_own(twin, i))
            assert_memory_equal(caches_core_level(caches, core, level), &twin->node[core][i].core_counts,
                                sizeof(struct caches_core_level));
    }
}

/* Each pair is that of the twin, and there are no others. */
static void assert_same_pairs(struct twin *twin, const struct caches *caches)
{
    uint64_t found = 0, wanted = 0;
    const struct pair *all = &twin->pairs[0][0][0][0][0];
    for (size_t i = 0; i < sizeof twin->pairs / sizeof *all; i++)
        wanted += all[i].true_sharing + all[i].false_sharing != 0;
    for (size_t i = 0; i < caches_shared_count(caches); i++) {
        const struct caches_shared_line line = caches_shared_at(caches, i);
        for (uint32_t at = line.pairs; at != 0; at = caches_shared_pair(caches, at)->next, found++) {
            const struct caches_shared_pair *is = caches_shared_pair(caches, at);
            const struct pair *pair = &twin->pairs[line.line.v][is->taker][is->taker_core][is->misser][is->misser_core];
            assert_int_equal(is->true_sharing, pair->true_sharing);
            assert_int_equal(is->false_sharing, pair->false_sharing);
        }
    }
    assert_int_equal(found, wanted);
}

static void assert_same(struct twin *twin, struct caches *caches)
{
    assert_ok(caches_settle_shared(caches, NULL));
    for (uint32_t core = 0; core < CORES; core++) {
        for (uint32_t line = 0; line < LINES; line++)
            settle(twin, core, line, false);
        assert_same_levels(twin, caches, core);
        const struct caches_core_counts *n = caches_core_counts(caches, core);
        assert_memory_equal(n, &twin->counts[core], sizeof *n);
        assert_int_equal(n->coherence_misses, n->true_sharing + n->false_sharing);
    }
    assert_same_pairs(twin, caches);
    caches_check(caches);
}

static void test_twin(void **state)
{
    enum { MACHINES = C2_HOST_SIZE(500, 120), ACCESSES = C2_HOST_SIZE(1200, 800) };
    struct twin *twin = malloc(sizeof *twin);
    struct caches_core_counts sums = {0};
    struct c2_rng rng;
    (void)state;
    c2_rng_init(&rng, 17, "coherence");
    for (unsigned i = 0; i < MACHINES; i++) {
        struct caches_machine machine = random_machine(&rng);
        for (unsigned hint = 0; hint < CACHES_PREFETCH_FOR_WRITE; hint++)
            machine.hints[hint] = (uint32_t)c2_rng_below(&rng, 4);
        const uint32_t lines = 4 + (uint32_t)c2_rng_below(&rng, LINES - 4);
        struct caches *caches;
        assert_ok(caches_create(&caches, &machine, 1, NULL));
        init_twin(twin, &machine);
        twin->instructs = i % 2 != 0;
        for (unsigned k = 0; k < ACCESSES; k++) {
            if (c2_rng_below(&rng, 200) == 0)
                caches_measure(caches, twin->measuring = !twin->measuring);
            access_both(twin, caches, &rng, lines);
        }
        assert_same(twin, caches);
        for (uint32_t core = 0; core < CORES; core++)
            for (size_t k = 0; k < sizeof sums / sizeof(uint64_t); k++)
                ((uint64_t *)&sums)[k] += ((const uint64_t *)caches_core_counts(caches, core))[k];
        caches_destroy(caches);
    }
    for (size_t k = 0; k < sizeof sums / sizeof(uint64_t); k++)
        assert_true(((uint64_t *)&sums)[k] > 100); /* everything has happened */
    assert_int_equal(sums.invalidations_sent, sums.invalidations_received);
    assert_int_equal(sums.interventions, sums.interventions_given);
    free(twin);
}

/* ------------------------------------------------------------------ by hand */

static struct caches_machine two_levels(uint32_t cores)
{
    struct caches_machine machine = {.line_bytes = 64, .level_count = 2, .cores = cores};
    machine.levels[0] = (struct caches_level){.name = "L1D", .size_bytes = 4096, .ways = 2, .slices = 1};
    machine.levels[1] = (struct caches_level){.name = "L2",
                                              .size_bytes = 1 << 16,
                                              .ways = 4,
                                              .slices = 1,
                                              .index = CACHES_PHYSICAL,
                                              .inclusion = CACHES_INCLUSIVE,
                                              .shared = true};
    return machine;
}

static enum c2_status access_as(struct caches *caches, uint32_t core, bool write, uint64_t line, uint32_t first)
{
    struct c2_error err;
    const struct line_no number = {line};
    caches_on_core(caches, &(struct caches_origin){.core = core, .tag = core, .first = first, .bytes = 8});
    return caches_access(caches, CACHES_DATA, write, number, number, NULL, &err);
}

/* A run of so many cores, each of which writes its own lines, and then all the same one. */
static enum c2_status share_lines(struct caches *caches, uint32_t cores)
{
    enum c2_status status = C2_OK;
    for (uint32_t core = 0; core < cores && status == C2_OK; core++)
        status = access_as(caches, core, true, 1000 + core * 64, 0);
    for (uint32_t i = 0; i < 3 * cores && status == C2_OK; i++)
        status = access_as(caches, i % cores, true, i % 40, 8 * (i % 8));
    struct c2_error err;
    return status == C2_OK ? caches_settle_shared(caches, &err) : status;
}

/* Each line of the 40 is written by 3 * 64 / 40 cores, one after the other: every 40th access, so by another core. */
static void test_many_cores(void **state)
{
    const struct caches_machine machine = two_levels(CACHES_MAX_CORES);
    struct caches_core_counts sum = {0};
    struct caches *caches;
    (void)state;
    assert_ok(caches_create(&caches, &machine, 1, NULL));
    assert_ok(share_lines(caches, CACHES_MAX_CORES));
    for (uint32_t core = 0; core < CACHES_MAX_CORES; core++) {
        sum.invalidations_sent += caches_core_counts(caches, core)->invalidations_sent;
        sum.interventions += caches_core_counts(caches, core)->interventions;
        sum.coherence_misses += caches_core_counts(caches, core)->coherence_misses;
    }
    assert_int_equal(sum.invalidations_sent, 3 * CACHES_MAX_CORES - 40); /* all but the first write of a line */
    assert_int_equal(sum.interventions, 3 * CACHES_MAX_CORES - 40);
    assert_int_equal(sum.coherence_misses, 0); /* no core comes to a line twice: 40 and 64 meet every 320 */
    assert_int_equal(caches_shared_count(caches), 40);
    caches_check(caches);
    caches_destroy(caches);
}

/* L1D of one line, a shared L2 of two, which fetches the other line of a pair, and below it an exclusive L3 that has
 * room for all. Line 1 is written; 100 and 200, with 101 and 201, push it down to L3, where it is dirty; an access of 0
 * makes L2 fetch it, out of L3 and still dirty, and nothing leaves L3 for memory. Whether there is a second core, which
 * does nothing, does not matter. */
static uint64_t writebacks_of_l3(uint32_t cores)
{
    struct caches_machine machine = two_levels(cores);
    struct caches *caches;
    uint64_t writebacks;
    machine.level_count = 3;
    machine.levels[0].size_bytes = 64;
    machine.levels[0].ways = 1;
    machine.levels[1].size_bytes = 2 * 64;
    machine.levels[1].ways = 2;
    machine.levels[1].inclusion = CACHES_NON_INCLUSIVE;
    machine.levels[2] = machine.levels[1];
    snprintf(machine.levels[2].name, sizeof machine.levels[2].name, "L3");
    machine.levels[2].inclusion = CACHES_EXCLUSIVE;
    machine.levels[2].size_bytes = 16 * 64;
    machine.levels[2].ways = 16;
    machine.levels[1].prefetchers = 1u << CACHES_PREFETCH_ADJACENT;
    machine.levels[0].shared = false;
    assert_ok(caches_create(&caches, &machine, 1, NULL));
    static const struct {
        uint64_t line;
        bool write;
    } steps[] = {{1, true}, {100, false}, {200, false}, {0, false}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        const struct line_no line = {steps[i].line};
        assert_ok(caches_access(caches, CACHES_DATA, steps[i].write, line, line, NULL, NULL));
    }
    writebacks = caches_level_counts(caches, 2)->writebacks;
    caches_check(caches);
    caches_destroy(caches);
    return writebacks;
}

static void test_idle_core(void **state)
{
    (void)state;
    assert_int_equal(writebacks_of_l3(1), 0);
    assert_int_equal(writebacks_of_l3(2), 0);
}

/* An exclusive shared L2. Core 0 reads a line, writes it, and core 1 reads it: L2, which had given it up, was asked
 * once and misses it, but it comes from core 0. By its shadow it would be a conflict miss. */
static void test_from_another_core(void **state)
{
    struct caches_machine machine = two_levels(2);
    struct caches *caches;
    (void)state;
    machine.levels[1].inclusion = CACHES_EXCLUSIVE;
    assert_ok(caches_create(&caches, &machine, 1, NULL));
    assert_ok(access_as(caches, 0, false, 7, 0));
    assert_ok(access_as(caches, 0, true, 7, 0));
    assert_ok(access_as(caches, 1, false, 7, 0));
    const struct caches_counts *n = caches_level_counts(caches, 1);
    assert_int_equal(n->accesses, 2);
    assert_int_equal(n->cold, 1);
    assert_int_equal(n->coherence, 1);
    assert_int_equal(n->conflict, 0);
    assert_int_equal(caches_core_counts(caches, 1)->forwards, 1);
    assert_int_equal(caches_core_counts(caches, 1)->coherence_misses, 0); /* core 1 never had it */
    caches_check(caches);
    caches_destroy(caches);
}

static void test_every_allocation_may_fail(void **state)
{
    struct caches_machine machine = two_levels(CORES);
    bool done = false;
    (void)state;
    machine.levels[0].prefetchers = 1u << CACHES_PREFETCH_NEXT_LINE;
    machine.levels[1].inclusion = CACHES_NON_INCLUSIVE;
    machine.filter_lines = machine.filter_ways = 16;
    for (uint64_t n = 1; !done; n++) {
        struct caches *caches;
        struct c2_error err;
        c2_alloc_fail_from(n);
        enum c2_status status = caches_create(&caches, &machine, 1, &err);
        if (status == C2_OK)
            status = share_lines(caches, CORES);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK || status == C2_ERR_NO_MEMORY);
        done = status == C2_OK;
        caches_destroy(caches);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_many_cores), cmocka_unit_test(test_idle_core),
                                       cmocka_unit_test(test_from_another_core),
                                       cmocka_unit_test(test_every_allocation_may_fail), cmocka_unit_test(test_twin)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
