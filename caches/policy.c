/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Replacement policies: which way of a full set makes room.
 *
 * Model
 *   An empty way is always taken before a victim is chosen, the one with the lowest number first; so the rules below
 *   speak of full sets. "Touched" is filled or hit.
 *     lru        the way touched longest ago
 *     fifo       the way filled longest ago
 *     random     a uniform draw, one a victim, from the level's own stream
 *     tree-plru  ways-1 bits in a binary tree, 0 at reset, 0 pointing left (to the lower ways); the victim is where
 *                the bits lead; a touch makes each bit on the way's path point away from it
 *     nru        one bit a way, 1 at reset; a touch clears it; the victim is the lowest way with a 1, after setting all
 *                bits to 1 when there is none
 *     srrip      two bits a way, the re-reference prediction, 3 at reset; a fill sets 2, a hit 0 (hit priority); the
 *                victim is the lowest way with a 3, after adding 1 to all until there is one
 *     brrip      as srrip, but a fill sets 3, and 2 once in 32, drawn at each fill from the level's own stream
 *     drrip      set duelling: some sets always go by srrip, as many by brrip, and the others by the one that does
 *                better. A selector of 10 bits, at first 511, goes up by one at a fill of a set of the first kind, and
 *                down at one of the second, from 0 to 1023; the others go by brrip where it is 512 and more. Of each
 *                kind there are 32 sets, in a level of fewer than 64 sets half of them (of a single set none): n sets
 *                make up regions of n / 32, in region i those with the numbers i and i + half a region, mod the region,
 *                lead by srrip and brrip. Sets are counted through all slices. A fill stands for the miss that it
 *                follows, so those of prefetchers count as well, and in an exclusive level the victims put in.
 *     ship       as srrip, but what a fill sets depends on its signature, 14 bits of the instruction whose access
 *                missed. A table has a counter for each, 0 to 7, at first 1. A hit of a line adds one to the counter of
 *                the signature that it came with; a victim that was never hit takes one from it. A fill sets 3 where
 *                the counter is 0, else 2. A line that leaves otherwise (back-invalidation, another core's write)
 *                teaches nothing. A fetch has the address of its line for an instruction, what a prefetcher fetches
 *                that of the access that it follows; page walks have 0. All sets learn, and of several cores all from
 *                one table in a level that they share. Signature: the pieces of 14 bits of the word, xor-ed. Not of
 *                exclusive levels: what is put into those has not been missed.
 *     ship-mem   the same by the physical region of 16 KiB that the line lies in
 *     mru3-plru4 twelve ways in three groups of four: the victim is in the group after the one touched last (after the
 *                last comes the first), there by tree-plru
 *   Where only some ways may be filled (ways_of), the same is said of these alone: the one of them touched or filled
 *   longest ago, a draw among them, the lowest of them with a 1 or a 3, after setting or adding to all of them and no
 *   other. In a tree a bit that points to a half without any of them counts for the other half; touches are as ever.
 *   What a policy keeps of a way that has been emptied does not matter: it is filled before the next victim is
 *   chosen. A PLRU tree keeps its bits.
 *
 * Representation
 *   A way is a word, 0 when it is empty: its content, as the level or the TLB has it, which may search the words of a
 *   set. Beside them, by the same number, lies what the policy knows.
 *   lru and fifo give each way an age from the level's clock, so that a touch is one store and no order is moved; an
 *   empty way has age 0 and is thereby the oldest. Every 4 billion touches the ages of a set become their ranks.
 *   The other policies keep bit planes, inverted where reset is 1 so that a zeroed set is a reset set:
 *     nru   bits[0] way w: touched       rrip  bits[1],bits[0] way w: 3 - prediction       plru  bits[0] node n, root 1
 *     drrip and ship, too; ship's signatures lie beside, one a way, with a bit for "was hit"
 *     mru3-plru4  bits[0]: from bit 4g on the tree of group g, from bit 16 on the group touched last
 *   With them a hit sets and clears the same bits of its set each time: what it does is prepared for each way, and is
 *   the same few instructions whatever the policy.
 *
 * Invariants (cache_policy_check)
 *   No bit is set that the policy has no use for; a way is valid if and only if it has a line; with ages, it has one if
 *   and only if it has a line, no two of a set are equal, and none is above the clock.
 *
 * Not modelled
 *   The undocumented policies of real L3s. Of DRRIP a selector for each thread or slice; of SHiP sampled sets, and
 *   instruction sequences as signatures.
 *
 * Source
 *   NRU, SRRIP, BRRIP, DRRIP: A. Jaleel, K. Theobald, S. Steely, J. Emer, "High Performance Cache Replacement Using
 *   Re-Reference Interval Prediction", ISCA 2010; the duel: M. Qureshi and others, "Adaptive Insertion Policies for
 *   High Performance Caching", ISCA 2007. SHiP: C.-J. Wu and others, "SHiP: Signature-based Hit Predictor for High
 *   Performance Caching", MICRO 2011. Where the selector and the counters begin, and how a word becomes 14 bits, they
 *   leave open: here in the middle, at the least that is not 0, and folded. mru3-plru4: A. Tatar, D. Trujillo, C.
 *   Giuffrida, H. Bos, "TLB;DR: Enhancing TLB-based Attacks with TLB Desynchronized Reverse Engineering", USENIX
 *   Security 2022.
 */
#include <string.h>

#include "caches/policy_priv.h"

#define BRRIP_ONE_IN 32

static bool has_ages(const struct cache_policy *policy)
{
    return policy->kind == CACHES_LRU || policy->kind == CACHES_FIFO;
}

static uint64_t policy_all_ways(const struct cache_policy *policy) { return c2_mask(0, policy->ways - 1); }

static const uint32_t *policy_words_of(const struct cache_policy *policy, uint32_t set)
{
    return &policy->word[(size_t)set << policy->way_bits];
}

static uint32_t *ages_of(const struct cache_policy *policy, uint32_t set)
{
    return &policy->age[(size_t)set << policy->way_bits];
}

/* ------------------------------------------------------------------ ages */

/* No two ways of a set are as old as each other, and none is younger than the clock. */
static bool order_holds(const struct cache_policy *policy, uint32_t set)
{
    const uint32_t *age = ages_of(policy, set);
    for (uint32_t w = 0; w < policy->ways; w++) {
        C2_ASSERT(age[w] <= policy->clock);
        for (uint32_t other = 0; other < w; other++)
            C2_ASSERT(age[w] == 0 || age[w] != age[other]);
    }
    return true;
}

static void rank_set(uint32_t *age, uint32_t ways)
{
    uint32_t rank[CACHE_MAX_WAYS];
    for (uint32_t w = 0; w < ways; w++) {
        rank[w] = age[w] != 0;
        for (uint32_t other = 0; other < ways; other++)
            rank[w] += age[other] != 0 && age[other] < age[w];
    }
    memcpy(age, rank, ways * sizeof *age);
}

void cache_policy_renumber(struct cache_policy *policy)
{
    policy->clock = policy->ways;
    for (uint32_t set = 1; set <= policy->set_count; set++) {
        rank_set(ages_of(policy, set), policy->ways);
        C2_PROMISE(order_holds(policy, set));
    }
}

/* ------------------------------------------------------------------ trees */

static uint64_t tree_touch(uint64_t tree, uint32_t ways, uint32_t way)
{
    for (uint32_t node = way + ways; node > 1; node >>= 1) {
        const uint64_t parent = (uint64_t)1 << (node >> 1);
        tree = node & 1 ? tree & ~parent : tree | parent;
    }
    return tree;
}

static uint32_t tree_victim(uint64_t tree, uint32_t ways)
{
    uint32_t node = 1;
    while (node < ways)
        node = 2 * node + (tree >> node & 1);
    return node - ways;
}

/* A bit that points to a half without any of these ways counts for the other one. */
static uint32_t tree_victim_among(uint64_t tree, uint32_t ways, uint64_t among)
{
    uint32_t node = 1, first = 0;
    for (uint32_t half = ways / 2; half != 0; half /= 2) {
        const uint64_t low = c2_mask(first, first + half - 1), high = low << half;
        const bool right = (tree >> node & 1) ? (among & high) != 0 : (among & low) == 0;
        node = 2 * node + right;
        first += right * half;
    }
    return first;
}

#define GROUPS 3
#define GROUP_WAYS 4
#define TREE_MASK ((UINT64_C(1) << GROUP_WAYS) - 1)
#define LAST_GROUP_SHIFT 16

static uint64_t groups_touch(uint64_t groups, uint32_t way)
{
    const uint32_t group = way / GROUP_WAYS, shift = GROUP_WAYS * group;
    const uint64_t tree = tree_touch(groups >> shift & TREE_MASK, GROUP_WAYS, way % GROUP_WAYS);
    groups &= ~(TREE_MASK << shift) & c2_mask(0, LAST_GROUP_SHIFT - 1);
    return groups | tree << shift | (uint64_t)group << LAST_GROUP_SHIFT;
}

static uint32_t groups_victim(uint64_t groups)
{
    const uint32_t group = ((uint32_t)(groups >> LAST_GROUP_SHIFT) + 1) % GROUPS;
    return GROUP_WAYS * group + tree_victim(groups >> GROUP_WAYS * group & TREE_MASK, GROUP_WAYS);
}

/* ------------------------------------------------------------------ bit planes */

static uint32_t nru_victim(struct cache_set *set, uint64_t among)
{
    if ((set->bits[0] & among) == among)
        set->bits[0] &= ~among;
    return (uint32_t)__builtin_ctzll(~set->bits[0] & among);
}

/* distance = 3 - prediction, 0..3 */
static void rrip_put(struct cache_set *set, uint32_t way, uint32_t distance)
{
    uint64_t bit = (uint64_t)1 << way;
    set->bits[0] = distance & 1 ? set->bits[0] | bit : set->bits[0] & ~bit;
    set->bits[1] = distance & 2 ? set->bits[1] | bit : set->bits[1] & ~bit;
}

/* Adding 1 to every prediction takes 1 from every distance: the low plane flips, the high one keeps its 1 where there
 * was a low 1 to take. */
static uint32_t rrip_victim(struct cache_set *set, uint64_t among)
{
    uint64_t *low = &set->bits[0], *high = &set->bits[1];
    while (((*low | *high) & among) == among) {
        *high &= *low | ~among;
        *low ^= among;
    }
    return (uint32_t)__builtin_ctzll(~(*low | *high) & among);
}

/* ------------------------------------------------------------------ life */

/* What a touch makes of bits[0]. */
static uint64_t policy_touched(enum caches_policy kind, uint32_t ways, uint64_t bits, uint32_t way)
{
    switch (kind) {
    case CACHES_TREE_PLRU:
        return tree_touch(bits, ways, way);
    case CACHES_MRU3_PLRU4:
        return groups_touch(bits, way);
    case CACHES_NRU:
    case CACHES_SRRIP:
    case CACHES_BRRIP:
    case CACHES_DRRIP:
    case CACHES_SHIP:
    case CACHES_SHIP_MEM:
        return bits | (uint64_t)1 << way;
    default:
        return bits;
    }
}

static void prepare_victims(struct cache_policy *policy)
{
    policy->small_tree = policy->kind == CACHES_TREE_PLRU && policy->ways <= CACHE_SMALL_TREE;
    for (uint32_t bits = 0; policy->small_tree && bits < 1u << policy->ways; bits++)
        policy->victim[bits] = (uint8_t)tree_victim(bits, policy->ways);
}

static void prepare_uses(struct cache_policy *policy)
{
    for (uint32_t way = 0; way < policy->ways; way++) {
        policy->use[way].set = policy_touched(policy->kind, policy->ways, 0, way);
        policy->use[way].keep = policy_touched(policy->kind, policy->ways, ~(uint64_t)0, way);
    }
}

static bool is_ship(enum caches_policy kind) { return kind == CACHES_SHIP || kind == CACHES_SHIP_MEM; }

static void init_duel(struct cache_duel *duel, uint32_t set_count)
{
    duel->pairs = set_count / 2 < CACHE_LEADERS ? set_count / 2 : CACHE_LEADERS;
    duel->region = duel->pairs != 0 ? set_count / duel->pairs : set_count;
    duel->selector = CACHE_SELECTOR_MAX / 2;
}

/* False: no memory. */
static bool init_history(struct cache_policy *policy)
{
    const size_t ways = ((size_t)policy->set_count + 1) << policy->way_bits;
    policy->history = c2_calloc(1, sizeof *policy->history + ways * sizeof policy->history->way[0]);
    if (policy->history)
        memset(policy->history->reuse, 1, sizeof policy->history->reuse);
    return policy->history;
}

enum c2_status cache_policy_init(struct cache_policy *policy, enum caches_policy kind, uint32_t ways,
                                 uint32_t set_count, struct c2_error *err)
{
    *policy = (struct cache_policy){.kind = kind, .ways = ways, .set_count = set_count};
    C2_ASSERT(ways >= 1 && ways <= (has_ages(policy) ? CACHE_MAX_WAYS : CACHES_MAX_WAYS));
    C2_ASSERT(kind != CACHES_TREE_PLRU || c2_is_power_of_two(ways));
    C2_ASSERT(kind != CACHES_MRU3_PLRU4 || ways == GROUPS * GROUP_WAYS);
    policy->way_bits = ways > 4 ? c2_log2(ways - 1) + 1 : 2;
    policy->way_mask = (1u << policy->way_bits) - 1;
    policy->rrip = kind == CACHES_SRRIP || kind == CACHES_BRRIP || kind == CACHES_DRRIP || is_ship(kind);
    init_duel(&policy->duel, set_count);
    const size_t numbers = ((size_t)set_count + 1) << policy->way_bits;
    policy->word = c2_calloc(numbers, sizeof *policy->word);
    if (has_ages(policy))
        policy->age = c2_calloc(numbers, sizeof *policy->age);
    else
        policy->set = c2_calloc((size_t)set_count + 1, sizeof *policy->set);
    if (!policy->word || (!policy->age && !policy->set))
        return c2_fail_memory(err, "the sets of a cache");
    if (is_ship(kind) && !init_history(policy))
        return c2_fail_memory(err, "what is known of signatures");
    if (policy->set)
        prepare_uses(policy);
    prepare_victims(policy);
    return C2_OK;
}

void cache_policy_end(struct cache_policy *policy)
{
    c2_free(policy->word);
    c2_free(policy->age);
    c2_free(policy->set);
    c2_free(policy->history);
}

/* ------------------------------------------------------------------ the face towards a level or a TLB */

static void check_bits(const struct cache_policy *policy, uint32_t set);

static bool bits_hold(const struct cache_policy *policy, uint32_t number)
{
    check_bits(policy, cache_policy_set_of(policy, number));
    return true;
}

static bool policy_draw(struct cache_policy *policy) { return c2_rng_below(&policy->rng, BRRIP_ONE_IN) == 0; }

/* set: from 1. */
static enum caches_duelist role_of(const struct cache_duel *duel, uint32_t set)
{
    const uint32_t region = (set - 1) / duel->region, at = (set - 1) % duel->region;
    if (region >= duel->pairs)
        return CACHES_FOLLOWER;
    if (at == region % duel->region)
        return CACHES_SRRIP_LEADER;
    return at == (region + duel->region / 2) % duel->region ? CACHES_BRRIP_LEADER : CACHES_FOLLOWER;
}

/* What DRRIP does of a fill: the distance that it sets. */
static uint32_t duel(struct cache_policy *policy, uint32_t set)
{
    struct cache_duel *duel = &policy->duel;
    const enum caches_duelist role = role_of(duel, set);
    duel->selector += role == CACHES_SRRIP_LEADER && duel->selector < CACHE_SELECTOR_MAX;
    duel->selector -= role == CACHES_BRRIP_LEADER && duel->selector > 0;
    const bool brrip = role == CACHES_FOLLOWER ? duel->selector > CACHE_SELECTOR_MAX / 2 : role == CACHES_BRRIP_LEADER;
    return brrip ? policy_draw(policy) : 1;
}

/* What SHiP does of a fill, likewise. evicted: the line that was there had to make room. */
static uint32_t predict(struct cache_policy *policy, uint32_t number, bool evicted)
{
    uint16_t *way = &policy->history->way[number];
    uint8_t *reuse = policy->history->reuse;
    if (evicted && !(*way & CACHE_WAS_HIT))
        reuse[*way] -= reuse[*way] > 0;
    *way = (uint16_t)policy->signature;
    return reuse[policy->signature] != 0;
}

void cache_policy_fill(struct cache_policy *policy, uint32_t number)
{
    if (has_ages(policy)) {
        cache_policy_youngest(policy, number);
        return;
    }
    uint32_t way = cache_policy_way_of(policy, number);
    struct cache_set *set = &policy->set[cache_policy_set_of(policy, number)];
    const bool evicted = set->valid >> way & 1;
    set->valid |= (uint64_t)1 << way;
    if (policy->kind == CACHES_SRRIP)
        rrip_put(set, way, 1);
    else if (policy->kind == CACHES_BRRIP)
        rrip_put(set, way, policy_draw(policy));
    else if (policy->kind == CACHES_DRRIP)
        rrip_put(set, way, duel(policy, cache_policy_set_of(policy, number)));
    else if (policy->history)
        rrip_put(set, way, predict(policy, number, evicted));
    else
        cache_policy_use(policy, number);
    C2_PROMISE(bits_hold(policy, number));
}

void cache_policy_empty(struct cache_policy *policy, uint32_t number)
{
    if (has_ages(policy)) {
        policy->age[number] = 0;
        return;
    }
    struct cache_set *set = &policy->set[cache_policy_set_of(policy, number)];
    set->valid &= ~((uint64_t)1 << cache_policy_way_of(policy, number));
    C2_PROMISE(bits_hold(policy, number));
}

/* The n-th of these ways, from 0. */
static uint32_t nth_way(uint64_t ways, uint64_t n)
{
    for (; n != 0; n--)
        ways &= ways - 1;
    return (uint32_t)__builtin_ctzll(ways);
}

static uint32_t victim(struct cache_policy *policy, struct cache_set *set, uint64_t among)
{
    switch (policy->kind) {
    case CACHES_RANDOM:
        return nth_way(among, c2_rng_below(&policy->rng, (uint64_t)__builtin_popcountll(among)));
    case CACHES_TREE_PLRU:
        return among == policy_all_ways(policy) ? tree_victim(set->bits[0], policy->ways)
                                                : tree_victim_among(set->bits[0], policy->ways, among);
    case CACHES_MRU3_PLRU4: /* of TLBs, which have no masks */
        return groups_victim(set->bits[0]);
    case CACHES_NRU:
        return nru_victim(set, among);
    default:
        return rrip_victim(set, among);
    }
}

static uint32_t policy_choose(struct cache_policy *policy, uint32_t set, uint64_t among)
{
    uint32_t first = set << policy->way_bits;
    uint64_t empty = ~policy->set[set].valid & among;
    uint32_t number = first + (empty ? (uint32_t)__builtin_ctzll(empty) : victim(policy, &policy->set[set], among));
    C2_PROMISE(cache_policy_is_room_among(policy, set, number, among));
    return number;
}

/* With ages, an empty way being the oldest, and the lowest of such the first: so there is no branch on what cannot be
 * predicted. */
static uint32_t oldest(const struct cache_policy *policy, uint32_t set)
{
    const uint32_t *age = ages_of(policy, set);
    uint64_t least = UINT64_MAX;
#pragma GCC unroll 4
    for (uint32_t w = 0; w < policy->ways; w++) {
        const uint64_t candidate = (uint64_t)age[w] << 32 | w;
        least = candidate < least ? candidate : least;
    }
    return (uint32_t)least;
}

static uint32_t oldest_among(const struct cache_policy *policy, uint32_t set, uint64_t among)
{
    const uint32_t *age = ages_of(policy, set);
    uint32_t oldest = (uint32_t)__builtin_ctzll(among);
    for (uint32_t w = oldest; w < policy->ways; w++)
        if ((among >> w & 1) && age[w] < age[oldest])
            oldest = w;
    return oldest;
}

uint32_t cache_policy_choose(struct cache_policy *policy, uint32_t set)
{
    if (policy->set)
        return policy_choose(policy, set, policy_all_ways(policy));
    const uint32_t number = (set << policy->way_bits) + oldest(policy, set);
    C2_PROMISE(cache_policy_is_room(policy, set, number));
    return number;
}

uint32_t cache_policy_choose_among(struct cache_policy *policy, uint32_t set, uint64_t ways)
{
    if (policy->set)
        return policy_choose(policy, set, ways);
    const uint32_t number = (set << policy->way_bits) + oldest_among(policy, set, ways);
    C2_PROMISE(cache_policy_is_room_among(policy, set, number, ways));
    return number;
}

/* ------------------------------------------------------------------ a look */

static uint32_t order_of(const struct cache_policy *policy, uint32_t set, uint32_t way)
{
    const uint32_t *age = ages_of(policy, set);
    uint32_t order = 0;
    for (uint32_t w = 0; w < policy->ways; w++)
        order += age[w] > age[way] || (age[w] == age[way] && w < way);
    return order;
}

static uint32_t policy_value_of(const struct cache_policy *policy, const struct cache_set *set, uint32_t way)
{
    const uint32_t low = set->bits[0] >> way & 1, high = set->bits[1] >> way & 1;
    return policy->rrip ? 3 - (low + 2 * high) : policy->kind == CACHES_NRU ? 1 - low : 0;
}

/* The policy's own choice, on copies of the set and of what draws. */
static uint32_t would_choose(const struct cache_policy *policy, uint32_t set, uint64_t among)
{
    struct cache_policy copy = *policy;
    if (!policy->set)
        return cache_policy_way_of(policy, cache_policy_choose_among(&copy, set, among));
    struct cache_set bits = policy->set[set];
    const uint64_t empty = ~bits.valid & among;
    return empty ? (uint32_t)__builtin_ctzll(empty) : victim(&copy, &bits, among);
}

void cache_policy_look(struct caches_set *out, const struct cache_policy *policy, uint32_t set)
{
    out->victim = would_choose(policy, set, out->allowed);
    for (uint32_t w = 0; w < out->ways; w++) {
        if (has_ages(policy))
            out->way[w].order = order_of(policy, set, w);
        else if (out->way[w].holds)
            out->way[w].value = policy_value_of(policy, &policy->set[set], w);
    }
    if (policy->kind == CACHES_TREE_PLRU)
        out->tree = policy->set[set].bits[0];
    if (policy->kind != CACHES_DRRIP)
        return;
    out->role = role_of(&policy->duel, set);
    out->selector = policy->duel.selector;
}

/* ------------------------------------------------------------------ invariants */

static void policy_check_ages(const struct cache_policy *policy, uint32_t set)
{
    order_holds(policy, set);
    for (uint32_t w = 0; w < policy->ways; w++)
        C2_ASSERT((ages_of(policy, set)[w] != 0) == (policy_words_of(policy, set)[w] != 0));
}

/* The bits of bits[0] that the policy may set. */
static uint64_t own_bits(const struct cache_policy *policy)
{
    switch (policy->kind) {
    case CACHES_RANDOM:
        return 0;
    case CACHES_TREE_PLRU:
        return policy_all_ways(policy) & ~UINT64_C(1);
    case CACHES_MRU3_PLRU4:
        return UINT64_C(0x30eee);
    default:
        return policy_all_ways(policy);
    }
}

static void check_bits(const struct cache_policy *policy, uint32_t number)
{
    const struct cache_set *set = &policy->set[number];
    const uint32_t *word = policy_words_of(policy, number);
    C2_ASSERT((set->valid & ~policy_all_ways(policy)) == 0 && (set->bits[0] & ~own_bits(policy)) == 0);
    C2_ASSERT((set->bits[1] & ~policy_all_ways(policy)) == 0);
    C2_ASSERT(policy->kind != CACHES_MRU3_PLRU4 || set->bits[0] >> LAST_GROUP_SHIFT < GROUPS);
    for (uint32_t w = 0; w < policy->ways; w++)
        C2_ASSERT((set->valid >> w & 1) == (word[w] != 0));
}

void cache_policy_check(const struct cache_policy *policy)
{
    for (uint32_t set = 1; set <= policy->set_count; set++) {
        if (has_ages(policy))
            policy_check_ages(policy, set);
        else
            check_bits(policy, set);
    }
}

bool cache_policy_is_youngest(const struct cache_policy *policy, uint32_t number)
{
    const uint32_t *age = ages_of(policy, cache_policy_set_of(policy, number));
    C2_ASSERT(policy->word[number] != 0 && policy->age[number] == policy->clock);
    for (uint32_t w = 0; w < policy->ways; w++)
        C2_ASSERT(w == cache_policy_way_of(policy, number) || age[w] < policy->clock);
    return true;
}

bool cache_policy_points_away(const struct cache_policy *policy, uint32_t number)
{
    const uint64_t bits = policy->set[cache_policy_set_of(policy, number)].bits[0];
    const uint32_t way = cache_policy_way_of(policy, number);
    C2_ASSERT((bits & ~own_bits(policy)) == 0);
    if (policy->kind == CACHES_TREE_PLRU)
        C2_ASSERT(policy->ways == 1 || tree_victim(bits, policy->ways) != way);
    else if (policy->kind == CACHES_MRU3_PLRU4)
        C2_ASSERT(groups_victim(bits) / GROUP_WAYS != way / GROUP_WAYS);
    else
        C2_ASSERT(policy->kind == CACHES_RANDOM || bits >> way & 1);
    return true;
}

bool cache_policy_is_room(const struct cache_policy *policy, uint32_t set, uint32_t number)
{
    return cache_policy_is_room_among(policy, set, number, ~(uint64_t)0);
}

bool cache_policy_is_room_among(const struct cache_policy *policy, uint32_t set, uint32_t number, uint64_t ways)
{
    const uint32_t *word = policy_words_of(policy, set), *age = policy->age ? ages_of(policy, set) : NULL;
    const uint32_t chosen = cache_policy_way_of(policy, number);
    C2_ASSERT(cache_policy_set_of(policy, number) == set && chosen < policy->ways);
    C2_ASSERT(chosen >= CACHES_MAX_WAYS || (ways >> chosen & 1));
    for (uint32_t w = 0; w < policy->ways; w++) {
        if (w < CACHES_MAX_WAYS && !(ways >> w & 1))
            continue;
        C2_ASSERT(word[w] != 0 || w >= chosen); /* the lowest of the empty ones */
        C2_ASSERT(word[chosen] == 0 || word[w] != 0);
        C2_ASSERT(!age || word[chosen] == 0 || age[chosen] <= age[w]);
    }
    return true;
}
