/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * TLBs and page-walk caches.
 *
 * Model
 *   Asking    An access asks the first-level TLB that holds pages of its size for its side. On a miss it asks the
 *             second level; a hit there is notified to its policy and refills the first. A miss there, or a page size
 *             that no second-level TLB holds, is a walk, which fills both. The levels are neither inclusive nor
 *             exclusive: a victim is dropped, and hits in the first level are not seen by the second.
 *   Walk      A walk of 4 entries (PML4E, PDPTE, PDE, PTE; 2M pages: 3, 1G pages: 2) asks the page-walk caches, the
 *             deepest pointer first; a hit skips that entry and those above. The pointers read are put into their
 *             caches, as they are read.
 *   Pieces    A page whose size no first-level TLB of its side holds is held there in pieces of the next smaller size
 *             that one holds.
 *   Halves    Where two TLBs of a place hold the same size for the same side, a page belongs to the one that the bit
 *             above the first one's index bits of its number says.
 *   Sets      set = low bits of the page's (or region's) number, where given xor-ed with as many higher ones.
 *   Victims   An empty way is taken first, the lowest; else the policy's victim (policy.c, as of any cache).
 *   Changes   INVLPG, page by page: it empties the ways of the page and, as the SDM has it, every page-walk cache.
 *
 * Representation
 *   To the policy a way's line is the way's own number; what it holds is its key: that of a 4K page in a TLB for loads
 *   is the page's number. Keys of other kinds, and in first levels for others, have bits above it.
 *   The caller keeps where a page was found, with what a hit changes there (struct caches_tlb_found), so that
 *   most hits are no call. A page that is not where it was found has left the first level: nothing looks through its
 *   set. Where the second level has it is kept as well: to bring it back no set is looked through either. What a small
 *   tree makes of it - the way that is taken, and the order behind it - is in a table by the order before
 *   (struct caches_tlb_refill).
 *
 * Counting
 *   A TLB counts the accesses that asked it. Pointers in a second-level TLB are not counted there. A page-walk cache
 *   that holds several kinds of pointers is asked for each of them, and counts each.
 *
 * Invariants (caches_tlbs_check)
 *   A key is in its set and in no other way; a way has a key if and only if the policy thinks so; a TLB holds only its
 *   kinds; misses <= accesses; count <= reads <= 4 * count; the first level's misses are those of its TLBs; what the
 *   policy promises.
 *
 * Not modelled
 *   Time, address-space identifiers, global pages (there is one address space), coalescing of neighbouring small pages
 *   (AMD), walks that start before it is known that they are needed, accessed and dirty bits.
 *
 * Source
 *   Intel SDM volume 3A, 4.10; TLB;DR (Tatar et al., USENIX Security 2022) for the xor index.
 */
#include <inttypes.h>
#include <string.h>

#include "caches/policy_priv.h"

#define MAX_HALVES 2
#define NO_PAGE UINT64_MAX /* key of an empty way */
#define KIND_SHIFT 52
#define KIND_MASK 7u
#define SIDE_SHIFT 56
#define NUMBER_MASK (((uint64_t)1 << KIND_SHIFT) - 1)

static const unsigned char kind_shift[CACHES_KINDS] = {12, 21, 30, 21, 30, 39};

struct caches_tlb_state {
    const struct caches_tlb *config;
    struct caches_tlb_counts counts;
    uint64_t tag; /* in its keys */
    uint32_t set_mask;
    unsigned set_bits;
    struct cache_policy policy;
    uint64_t *keys;   /* [way]; a set of a small tree is aligned to its size */
    uint64_t *memory; /* where they are */
    uint32_t *guess;  /* the way where the key of a number was last found: its key says whether it still is */
    uint32_t guesses; /* a power of two */
    uint64_t full;    /* `valid` of a set that is */
};

/* Which TLB holds a page, and as what. */
struct route {
    uint32_t count; /* 0: none */
    enum caches_tlb_kind kind;
    struct caches_tlb_state *half[MAX_HALVES];
};

/* What a refill makes of the order of a full set of a small tree: which way it takes, the order behind it, and the
 * masks of a hit of that way. */
struct taken {
    uint8_t way, next, keep, set;
};

/* The two TLBs that pages of 4K have on a side, if that is all there are, the first is a table of small trees and the
 * second has no ages: what a page needs to go from the second into the first. */
struct caches_tlb_refill {
    const uint64_t *second_keys; /* without such a pair: of way 0, which holds nothing */
    struct cache_set *second_sets;
    const struct cache_use *second_uses;               /* [way of a set] */
    uint64_t *misses, *second_accesses, *first_misses; /* of the first, of the second, of all first ones */
    uint64_t full;                                     /* `valid` of a set of the first that is */
    uint64_t tag;                                      /* of the first one's keys */
    uintptr_t inside;                                  /* in the address of a key of the first, its place in the set */
    uint8_t what;                                      /* of what is found: pages of 4K of this side */
    struct taken taken[1 << CACHE_SMALL_TREE];
    struct caches_tlb_state *first, *second;
};

struct caches_tlbs {
    struct caches_tlb config[CACHES_MAX_TLBS];
    uint32_t count;
    struct caches_tlb_state tlb[CACHES_MAX_TLBS];
    struct route route[2][CACHES_TLB_SIDES][CACHES_PAGE_KINDS]; /* by enum caches_tlb_place */
    struct caches_tlb_refill refill[CACHES_TLB_SIDES];
    struct caches_tlb_state *pointers[CACHES_KINDS]; /* the holder of a kind of pointer; NULL: none */
    struct caches_walk_counts walks;
    uint64_t first_misses; /* the sum of the first level's */
    bool split;
    uint64_t calls, check_at; /* where C2_PROMISE looks, and when all is looked at next */
};

static uint64_t nothing = NO_PAGE;
const struct caches_tlb_found caches_tlb_nowhere = {.at = &nothing, .key = &nothing};

static uint64_t tlb_key_of(const struct caches_tlb_state *tlb, uint64_t number, enum caches_tlb_kind kind)
{
    C2_PROMISE(number <= NUMBER_MASK && (unsigned)kind < CACHES_KINDS);
    return number | (uint64_t)kind << KIND_SHIFT | tlb->tag;
}
static uint64_t tlb_number_in(uint64_t key) { return key & NUMBER_MASK; }
static unsigned kind_in(uint64_t key) { return (unsigned)(key >> KIND_SHIFT) & KIND_MASK; }

/* Of those whose first level it is. */
static enum caches_tlb_side first_side(const struct caches_tlb *config)
{
    return (enum caches_tlb_side)__builtin_ctz(config->sides);
}

/* As the policy counts them, from 1. */
static uint32_t tlb_set_of(const struct caches_tlb_state *tlb, uint64_t number)
{
    uint64_t set = number;
    if (tlb->config->fold != 0)
        set ^= number >> tlb->config->fold;
    return ((uint32_t)set & tlb->set_mask) + 1;
}

static uint32_t first_way(const struct caches_tlb_state *tlb) { return 1u << tlb->policy.way_bits; }
static uint32_t end_way(const struct caches_tlb_state *tlb) { return (tlb->set_mask + 2) << tlb->policy.way_bits; }

/* ------------------------------------------------------------------ one TLB */

static bool way_holds(const struct caches_tlb_state *tlb, uint32_t way);
static bool tlb_holds(struct caches_tlbs *tlbs);

static uint32_t *guess_of(struct caches_tlb_state *tlb, uint64_t number)
{
    return &tlb->guess[number & (tlb->guesses - 1)];
}

/* The way that has the page or pointer, 0: none. To find it is a hit. */
static uint32_t tlb_look_up(struct caches_tlb_state *tlb, uint64_t number, enum caches_tlb_kind kind)
{
    const uint64_t key = tlb_key_of(tlb, number, kind);
    uint32_t *guess = guess_of(tlb, number), way = *guess;
    if (!SHORTCUT(tlb->keys[way] == key)) {
        way = tlb_set_of(tlb, number) << tlb->policy.way_bits;
        const uint32_t end = way + tlb->policy.ways;
        while (way < end && tlb->keys[way] != key)
            way++;
        if (way == end)
            return 0;
        *guess = way;
    }
    cache_policy_hit(&tlb->policy, way);
    C2_PROMISE(way_holds(tlb, way));
    return way;
}

/* What cache_policy_choose() and cache_policy_fill() would do for a full set of a small tree; 0: it is another. */
static inline uint32_t tlb_replace(struct caches_tlb_state *tlb, uint32_t set)
{
    struct cache_policy *policy = &tlb->policy;
    if (!SHORTCUT(policy->small_tree && policy->set[set].valid == tlb->full))
        return 0;
    C2_PROMISE(cache_policy_is_room(policy, set, (set << policy->way_bits) + policy->victim[policy->set[set].bits[0]]));
    return cache_policy_replace(policy, set);
}

/* It is not there. Says the way that has it now. */
static uint32_t tlb_insert(struct caches_tlb_state *tlb, uint64_t number, enum caches_tlb_kind kind)
{
    const uint32_t set = tlb_set_of(tlb, number);
    uint32_t way = tlb_replace(tlb, set);
    if (way == 0) {
        way = cache_policy_choose(&tlb->policy, set);
        tlb->policy.word[way] = way;
        cache_policy_fill(&tlb->policy, way);
    }
    tlb->keys[way] = tlb_key_of(tlb, number, kind);
    *guess_of(tlb, number) = way;
    C2_PROMISE(way_holds(tlb, way));
    return way;
}

static uint32_t tlb_ask(struct caches_tlb_state *tlb, uint64_t number, enum caches_tlb_kind kind)
{
    const uint32_t way = tlb_look_up(tlb, number, kind);
    tlb->counts.accesses++;
    tlb->counts.misses += way == 0;
    return way;
}

/* ------------------------------------------------------------------ an access */

static struct caches_tlb_state *tlb_half_of(const struct route *route, uint64_t number)
{
    const uint64_t half = route->count > 1 ? number >> route->half[0]->set_bits & 1 : 0;
    return route->half[half];
}

/* A pointer that lies in a second-level TLB is none of that one's accesses. */
static bool ask_pointer(struct caches_tlb_state *tlb, uint64_t number, enum caches_tlb_kind kind)
{
    return (tlb->config->place == CACHES_TLB_WALK ? tlb_ask(tlb, number, kind) : tlb_look_up(tlb, number, kind)) != 0;
}

/* The pointer after which `left` entries are left to read of a walk that has entry_count. */
static enum caches_tlb_kind pointer_before(unsigned left, unsigned entry_count)
{
    C2_PROMISE(left >= 1 && left < entry_count && entry_count <= 4);
    return (enum caches_tlb_kind)(CACHES_KIND_PDE + (left - 1) + (4 - entry_count));
}

static unsigned tlb_walk(struct caches_tlbs *tlbs, struct guest_va va, unsigned entry_count)
{
    unsigned reads = entry_count;
    for (unsigned left = 1; left < entry_count; left++) {
        const enum caches_tlb_kind pointer = pointer_before(left, entry_count);
        struct caches_tlb_state *tlb = tlbs->pointers[pointer];
        if (tlb && ask_pointer(tlb, va.v >> kind_shift[pointer], pointer)) {
            reads = left;
            break;
        }
    }
    for (unsigned left = reads - 1; left > 0; left--) {
        const enum caches_tlb_kind pointer = pointer_before(left, entry_count);
        if (tlbs->pointers[pointer])
            tlb_insert(tlbs->pointers[pointer], va.v >> kind_shift[pointer], pointer);
    }
    tlbs->walks.count++;
    tlbs->walks.reads += reads;
    C2_PROMISE(reads >= 1 && reads <= entry_count);
    return reads;
}

/* The first level has missed. */
static unsigned ask_second(struct caches_tlbs *tlbs, const struct route *route, struct guest_va va,
                           unsigned entry_count)
{
    if (route->count == 0)
        return tlb_walk(tlbs, va, entry_count);
    const uint64_t number = va.v >> kind_shift[route->kind];
    struct caches_tlb_state *second = tlb_half_of(route, number);
    if (tlb_ask(second, number, route->kind) != 0)
        return 0;
    const unsigned reads = tlb_walk(tlbs, va, entry_count);
    tlb_insert(second, number, route->kind);
    return reads;
}

static struct caches_tlb_state *tlb_of(const struct caches_tlb_found *found)
{
    return (struct caches_tlb_state *)(void *)((char *)found->accesses -
                                               offsetof(struct caches_tlb_state, counts.accesses));
}

bool caches_tlbs_found_holds(const struct caches_tlb_found *found)
{
    const struct caches_tlb_state *tlb = tlb_of(found);
    const uint64_t *key = found->at != &nothing ? found->at : found->key;
    const uint32_t way = (uint32_t)(key - tlb->keys);
    return way_holds(tlb, way) && (!tlb->policy.small_tree || cache_policy_points_away(&tlb->policy, way));
}

/* In a key, what is above the number. */
static uint8_t what(const struct caches_tlb_state *tlb, enum caches_tlb_kind kind)
{
    return (uint8_t)(tlb_key_of(tlb, 0, kind) >> KIND_SHIFT);
}

/* A page that is another one to the TLB, and one of a TLB that has to be notified of hits, is at no place that
 * caches_tlbs_again() looks at. */
static inline void note_found(struct caches_tlb_found *found, enum caches_tlb_kind kind, struct caches_tlb_state *tlb,
                              uint32_t way)
{
    const struct cache_policy *policy = &tlb->policy;
    *found = (struct caches_tlb_found){.at = &nothing,
                                       .key = &tlb->keys[way],
                                       .accesses = &tlb->counts.accesses,
                                       .what = what(tlb, kind),
                                       .keep = kind_shift[kind],
                                       .set = !policy->small_tree};
    if (!policy->small_tree || kind != CACHES_KIND_4K)
        return;
    const struct cache_use *use = &policy->use[cache_policy_way_of(policy, way)];
    found->at = &tlb->keys[way];
    found->order = (uint8_t *)policy->set[cache_policy_set_of(policy, way)].bits; /* no bit of a small tree is higher */
    found->keep = (uint8_t)use->keep;
    found->set = (uint8_t)use->set;
}

/* Where the second level has the page, if that is remembered. */
static void note_second(struct caches_tlb_found *found, struct caches_tlb_state *second, uint64_t number)
{
    const struct cache_policy *policy = &second->policy;
    const uint32_t way = *guess_of(second, number);
    if (second->keys[way] != tlb_key_of(second, number, CACHES_KIND_4K))
        return;
    C2_PROMISE(way < end_way(second) && end_way(second) <= UINT16_MAX);
    found->second = (uint16_t)way;
    found->second_set = (uint16_t)cache_policy_set_of(policy, way);
    found->second_way = (uint8_t)cache_policy_way_of(policy, way);
}

static unsigned access_first(struct caches_tlbs *tlbs, enum caches_tlb_side side, struct guest_va va,
                             unsigned entry_count, struct caches_tlb_found *found)
{
    const unsigned page = 4 - entry_count;
    const struct route *route = &tlbs->route[CACHES_TLB_FIRST][side][page];
    C2_ASSERT(route->count != 0);
    const uint64_t number = va.v >> kind_shift[route->kind];
    struct caches_tlb_state *first = tlb_half_of(route, number);
    unsigned reads = 0;
    uint32_t way = tlb_ask(first, number, route->kind);
    if (way == 0) {
        tlbs->first_misses++;
        reads = ask_second(tlbs, &tlbs->route[CACHES_TLB_SECOND][side][page], va, entry_count);
        way = tlb_insert(first, number, route->kind);
    }
    if (found)
        note_found(found, route->kind, first, way);
    if (found && entry_count == 4 && tlbs->refill[side].second)
        note_second(found, tlbs->refill[side].second, number);
    return reads;
}

bool caches_tlbs_again_any(const struct caches_tlb_found *found, uint64_t tag, struct guest_va va)
{
    const uint64_t above = (uint64_t)found->what << KIND_SHIFT;
    if (!SHORTCUT(found->at == &nothing && *found->key == (va.v >> found->keep | above) &&
                  above >> SIDE_SHIFT == tag >> SIDE_SHIFT))
        return false;
    struct caches_tlb_state *tlb = tlb_of(found);
    cache_policy_hit(&tlb->policy, (uint32_t)(found->key - tlb->keys));
    C2_PROMISE(caches_tlbs_found_holds(found));
    return true;
}

/* ------------------------------------------------------------------ from the second level into the first
 * Here is what access_first() would do for a page that the first level has lost, in a set that is full, and the second
 * has: where both were is remembered, so that it is not searched for. */

static inline void use_second(const struct caches_tlb_refill *refill, const struct caches_tlb_found *found)
{
    const struct cache_use *use = &refill->second_uses[found->second_way];
    uint64_t *order = refill->second_sets[found->second_set].bits;
    *order = (*order & use->keep) | use->set;
}

static bool tlb_takes(const struct caches_tlb_state *tlb, const uint64_t *key)
{
    const uint32_t way = (uint32_t)(key - tlb->keys);
    return cache_policy_is_room(&tlb->policy, cache_policy_set_of(&tlb->policy, way), way);
}

/* The set of `found` is full: the page, whose key it is, takes the place of the victim. */
static inline void take_place(const struct caches_tlb_refill *refill, struct caches_tlb_found *found, uint64_t key)
{
    const struct taken taken = refill->taken[*found->order];
    uint64_t *at = (uint64_t *)((uintptr_t)found->at & ~refill->inside) + taken.way;
    C2_PROMISE(tlb_takes(refill->first, at));
    *at = key;
    *found->order = taken.next;
    found->at = at;
    found->keep = taken.keep;
    found->set = taken.set;
}

bool caches_tlbs_refill(const struct caches_tlb_refill *refill, struct guest_va va, struct caches_tlb_found *found)
{
    const uint64_t number = va.v >> C2_PAGE_SHIFT;
    if (!SHORTCUT(found->what == refill->what && refill->second_keys[found->second] == number))
        return false; /* `second` is of a way of that side */
    if (!SHORTCUT(cache_set_of_bits((const uint64_t *)(const void *)found->order)->valid == refill->full))
        return false;
    C2_PROMISE(tlb_look_up(refill->first, number, CACHES_KIND_4K) == 0);
    take_place(refill, found, number | refill->tag);
    use_second(refill, found);
    ++*refill->misses;
    ++*refill->second_accesses;
    ++*refill->first_misses;
    C2_PROMISE(caches_tlbs_found_holds(found) && way_holds(refill->second, found->second));
    return true;
}

static const struct caches_tlb_refill no_refill = {.second_keys = &nothing, .what = UINT8_MAX};

const struct caches_tlb_refill *caches_tlbs_refill_of(const struct caches_tlbs *tlbs, enum caches_tlb_side side)
{
    return tlbs ? &tlbs->refill[side] : &no_refill;
}

unsigned caches_tlbs_access(struct caches_tlbs *tlbs, enum caches_tlb_side side, struct guest_va va,
                            unsigned entry_count, struct caches_tlb_found *found)
{
    C2_ASSERT(entry_count >= 2 && entry_count <= 4);
    const unsigned reads = access_first(tlbs, side, va, entry_count, found);
    C2_PROMISE(tlb_holds(tlbs));
    return reads;
}

const uint64_t *caches_tlbs_first_misses(const struct caches_tlbs *tlbs) { return &tlbs->first_misses; }

/* ------------------------------------------------------------------ INVLPG */

static bool concerned(uint64_t key, uint64_t start, uint64_t last)
{
    const unsigned kind = kind_in(key);
    if (kind >= CACHES_PAGE_KINDS)
        return true;
    const uint64_t first = tlb_number_in(key) << kind_shift[kind];
    return first <= last && first + (((uint64_t)1 << kind_shift[kind]) - 1) >= start;
}

static bool tlb_is_empty(const struct caches_tlb_state *tlb)
{
    for (uint32_t way = first_way(tlb); way < end_way(tlb); way++)
        C2_ASSERT(tlb->keys[way] == NO_PAGE);
    return true;
}

static uint32_t tlb_forget(struct caches_tlb_state *tlb, uint64_t start, uint64_t last)
{
    uint32_t forgotten = 0;
    for (uint32_t way = first_way(tlb); way < end_way(tlb); way++) {
        if (tlb->keys[way] == NO_PAGE || !concerned(tlb->keys[way], start, last))
            continue;
        tlb->keys[way] = NO_PAGE;
        tlb->policy.word[way] = 0;
        cache_policy_empty(&tlb->policy, way);
        forgotten++;
    }
    C2_PROMISE(tlb->config->place != CACHES_TLB_WALK || tlb_is_empty(tlb));
    return tlb->config->place == CACHES_TLB_WALK ? 0 : forgotten;
}

uint32_t caches_tlbs_forget(struct caches_tlbs *tlbs, struct guest_va start, uint64_t bytes)
{
    uint32_t forgotten = 0;
    for (uint32_t i = 0; i < tlbs->count && bytes != 0; i++)
        forgotten += tlb_forget(&tlbs->tlb[i], start.v, start.v + bytes - 1);
    return forgotten;
}

/* ------------------------------------------------------------------ life */

static enum c2_status tlb_refuse(const struct caches_tlb *config, const char *rule, struct c2_error *err)
{
    return c2_fail(err, C2_ERR_INVALID, "%s: %s", config->name, rule);
}

static enum c2_status tlb_check_shape(const struct caches_tlb *config, struct c2_error *err)
{
    if (config->ways == 0 || config->ways > CACHES_TLB_MAX_WAYS || config->entries == 0 ||
        config->entries > UINT16_MAX || config->entries % config->ways != 0 ||
        !c2_is_power_of_two(config->entries / config->ways))
        return tlb_refuse(
            config, "entries / ways must be a power of two of sets, of 1 to 128 ways and 65535 entries at most", err);
    if (!(caches_policy_users[config->policy] & CACHES_OF_TLBS))
        return tlb_refuse(config, "its policy is none of TLBs", err);
    if (config->policy == CACHES_TREE_PLRU && (!c2_is_power_of_two(config->ways) || config->ways > CACHES_MAX_WAYS))
        return tlb_refuse(config, "tree-plru needs a power of two of ways, at most 64", err);
    if (config->policy == CACHES_MRU3_PLRU4 && config->ways != 12)
        return tlb_refuse(config, "mru3-plru4 needs 12 ways", err);
    return C2_OK;
}

static enum c2_status tlb_check_config(const struct caches_tlb *config, struct c2_error *err)
{
    const bool pages = config->holds & CACHES_TLB_PAGES, pointers = config->holds & ~(unsigned)CACHES_TLB_PAGES;
    if (config->holds == 0 || (config->place == CACHES_TLB_FIRST && pointers) ||
        (config->place == CACHES_TLB_WALK && pages))
        return tlb_refuse(config, "a first level holds pages, a page-walk cache pointers", err);
    if (config->place == CACHES_TLB_FIRST && config->sides & CACHES_TLB_FETCHES && config->sides & CACHES_TLB_DATA)
        return tlb_refuse(config, "a first level is for data or for fetches", err);
    if (config->place != CACHES_TLB_WALK && config->sides == 0)
        return tlb_refuse(config, "it has no side", err);
    return C2_OK;
}

static enum c2_status init_tlb(struct caches_tlb_state *tlb, const struct caches_tlb *config, struct c2_error *err)
{
    enum c2_status status = tlb_check_shape(config, err);
    if (status == C2_OK)
        status = tlb_check_config(config, err);
    if (status != C2_OK)
        return status;
    const uint32_t sets = config->entries / config->ways;
    tlb->config = config;
    tlb->tag = config->place == CACHES_TLB_FIRST ? (uint64_t)first_side(config) << SIDE_SHIFT : 0;
    tlb->set_mask = sets - 1;
    tlb->set_bits = c2_log2(sets);
    tlb->full = config->ways <= CACHES_MAX_WAYS ? c2_mask(0, config->ways - 1) : 0;
    tlb->guesses = 16;
    while (tlb->guesses < 2 * config->entries && tlb->guesses < C2_HOST_SIZE(4096u, 16u))
        tlb->guesses *= 2;
    status = cache_policy_init(&tlb->policy, config->policy, config->ways, sets, err);
    if (status != C2_OK)
        return status;
    tlb->memory = c2_calloc(end_way(tlb) + CACHE_SMALL_TREE, sizeof *tlb->keys);
    tlb->guess = c2_calloc(tlb->guesses, sizeof *tlb->guess);
    if (!tlb->memory || !tlb->guess)
        return c2_fail_memory(err, "the TLBs");
    tlb->keys = (uint64_t *)c2_align_up((uintptr_t)tlb->memory, CACHE_SMALL_TREE * sizeof *tlb->keys);
    for (uint32_t way = 0; way < end_way(tlb); way++)
        tlb->keys[way] = NO_PAGE;
    return C2_OK;
}

static enum c2_status add_half(struct route *route, struct caches_tlb_state *tlb, enum caches_tlb_kind kind,
                               struct c2_error *err)
{
    C2_ASSERT(route->count <= MAX_HALVES && (unsigned)kind < CACHES_PAGE_KINDS);
    if (route->count == MAX_HALVES)
        return tlb_refuse(tlb->config, "two others hold the same pages for the same side already", err);
    route->kind = kind;
    route->half[route->count++] = tlb;
    return C2_OK;
}

static enum c2_status route_tlb(struct caches_tlbs *tlbs, struct caches_tlb_state *tlb, struct c2_error *err)
{
    const struct caches_tlb *config = tlb->config;
    enum c2_status status = C2_OK;
    for (unsigned kind = CACHES_PAGE_KINDS; kind < CACHES_KINDS; kind++) {
        if (!(config->holds & 1u << kind))
            continue;
        if (tlbs->pointers[kind])
            return tlb_refuse(config, "another TLB holds the same pointers already", err);
        tlbs->pointers[kind] = tlb;
    }
    for (unsigned side = 0; side < CACHES_TLB_SIDES && config->place != CACHES_TLB_WALK; side++) {
        for (unsigned kind = 0; kind < CACHES_PAGE_KINDS && status == C2_OK; kind++) {
            if (config->sides & 1u << side && config->holds & 1u << kind)
                status = add_half(&tlbs->route[config->place][side][kind], tlb, (enum caches_tlb_kind)kind, err);
        }
    }
    return status;
}

/* Sizes that the first level of a side does not hold are held in pieces. */
static enum c2_status finish_side(struct caches_tlbs *tlbs, enum caches_tlb_side side, struct c2_error *err)
{
    static const char *const names[] = {"loads", "stores", "fetches"};
    struct route *first = tlbs->route[CACHES_TLB_FIRST][side];
    unsigned any = 0;
    for (unsigned kind = 0; kind < CACHES_PAGE_KINDS; kind++)
        any |= first[kind].count;
    if (any != 0 && first[CACHES_KIND_4K].count == 0)
        return c2_fail(err, C2_ERR_INVALID, "no first-level TLB holds 4K pages for %s", names[side]);
    for (unsigned kind = 1; kind < CACHES_PAGE_KINDS; kind++) {
        if (first[kind].count == 0)
            first[kind] = first[kind - 1];
    }
    return C2_OK;
}

/* Loads and stores share all of their first level or none of it: what a load that repeats the page of the load before
 * does to it must not depend on the stores between. */
static enum c2_status tlb_check_split(struct caches_tlbs *tlbs, struct c2_error *err)
{
    unsigned shared = 0, own = 0;
    for (uint32_t i = 0; i < tlbs->count; i++) {
        const struct caches_tlb *config = &tlbs->config[i];
        const unsigned data = config->place == CACHES_TLB_FIRST ? config->sides & CACHES_TLB_DATA : 0;
        shared |= data == CACHES_TLB_DATA;
        own |= data != CACHES_TLB_DATA ? data : 0;
    }
    tlbs->split = own != 0;
    if (own && shared)
        return c2_fail(err, C2_ERR_INVALID,
                       "of the first-level TLBs some are for all data and some for loads or stores");
    if (own == CACHES_TLB_LOADS || own == CACHES_TLB_STORES)
        return c2_fail(err, C2_ERR_INVALID, "first-level TLBs for loads need others for stores, and these those");
    return C2_OK;
}

static bool is_one(const struct route *route) { return route->count == 1 && route->kind == CACHES_KIND_4K; }

static void prepare_taken(struct taken *taken, const struct cache_policy *policy)
{
    C2_ASSERT(policy->small_tree && policy->ways <= CACHE_SMALL_TREE);
    for (uint32_t order = 0; order < 1u << policy->ways; order++) {
        const uint32_t way = policy->victim[order];
        const uint8_t keep = (uint8_t)policy->use[way].keep, set = (uint8_t)policy->use[way].set;
        taken[order] = (struct taken){(uint8_t)way, (uint8_t)((order & keep) | set), keep, set};
    }
}

static void prepare_refill(struct caches_tlbs *tlbs, enum caches_tlb_side side)
{
    struct caches_tlb_refill *refill = &tlbs->refill[side];
    const struct route *first = &tlbs->route[CACHES_TLB_FIRST][side][CACHES_KIND_4K];
    const struct route *second = &tlbs->route[CACHES_TLB_SECOND][side][CACHES_KIND_4K];
    *refill = no_refill;
    if (!is_one(first) || !is_one(second) || !first->half[0]->policy.small_tree || !second->half[0]->policy.set ||
        end_way(second->half[0]) > UINT16_MAX)
        return;
    const struct cache_policy *policy = &first->half[0]->policy, *behind = &second->half[0]->policy;
    refill->first = first->half[0];
    refill->second = second->half[0];
    refill->second_keys = refill->second->keys;
    refill->second_sets = behind->set;
    refill->second_uses = behind->use;
    refill->misses = &refill->first->counts.misses;
    refill->second_accesses = &refill->second->counts.accesses;
    refill->first_misses = &tlbs->first_misses;
    refill->full = refill->first->full;
    refill->tag = refill->first->tag;
    refill->inside = ((uintptr_t)1 << policy->way_bits) * sizeof(uint64_t) - 1;
    refill->what = what(refill->first, CACHES_KIND_4K);
    prepare_taken(refill->taken, policy);
}

static enum c2_status init(struct caches_tlbs *tlbs, struct c2_error *err)
{
    enum c2_status status = tlb_check_split(tlbs, err);
    for (uint32_t i = 0; i < tlbs->count && status == C2_OK; i++) {
        status = init_tlb(&tlbs->tlb[i], &tlbs->config[i], err);
        if (status == C2_OK)
            status = route_tlb(tlbs, &tlbs->tlb[i], err);
    }
    for (unsigned side = 0; side < CACHES_TLB_SIDES && status == C2_OK; side++)
        status = finish_side(tlbs, (enum caches_tlb_side)side, err);
    for (unsigned side = 0; side < CACHES_TLB_SIDES && status == C2_OK; side++)
        prepare_refill(tlbs, (enum caches_tlb_side)side);
    return status;
}

enum c2_status caches_tlbs_create(struct caches_tlbs **out, const struct caches_tlb *tlbs, uint32_t count,
                                  struct c2_error *err)
{
    *out = NULL;
    C2_ASSERT(count <= CACHES_MAX_TLBS);
    struct caches_tlbs *all = c2_calloc(1, sizeof *all);
    if (!all)
        return c2_fail_memory(err, "the TLBs");
    all->count = count;
    memcpy(all->config, tlbs, count * sizeof *tlbs);
    enum c2_status status = init(all, err);
    if (status != C2_OK) {
        caches_tlbs_destroy(all);
        return status;
    }
    *out = all;
    return C2_OK;
}

void caches_tlbs_destroy(struct caches_tlbs *tlbs)
{
    if (!tlbs)
        return;
    for (uint32_t i = 0; i < tlbs->count; i++) {
        cache_policy_end(&tlbs->tlb[i].policy);
        c2_free(tlbs->tlb[i].memory);
        c2_free(tlbs->tlb[i].guess);
    }
    c2_free(tlbs);
}

/* ------------------------------------------------------------------ getters */

bool caches_tlbs_has(const struct caches_tlbs *tlbs, enum caches_tlb_side side)
{
    return tlbs->route[CACHES_TLB_FIRST][side][CACHES_KIND_4K].count != 0;
}

/* A side without a first level is none of the others. */
uint64_t caches_tlbs_tag(const struct caches_tlbs *tlbs, enum caches_tlb_side side)
{
    if (!tlbs)
        return 0;
    const struct route *first = &tlbs->route[CACHES_TLB_FIRST][side][CACHES_KIND_4K];
    return first->count != 0 ? first->half[0]->tag : (uint64_t)side << SIDE_SHIFT;
}

bool caches_tlbs_split(const struct caches_tlbs *tlbs) { return tlbs->split; }

uint32_t caches_tlbs_count(const struct caches_tlbs *tlbs) { return tlbs->count; }

const struct caches_tlb *caches_tlbs_at(const struct caches_tlbs *tlbs, uint32_t i)
{
    C2_ASSERT(i < tlbs->count);
    return &tlbs->config[i];
}

const struct caches_tlb_counts *caches_tlbs_counts(const struct caches_tlbs *tlbs, uint32_t i)
{
    C2_ASSERT(i < tlbs->count);
    return &tlbs->tlb[i].counts;
}

const struct caches_walk_counts *caches_tlbs_walks(const struct caches_tlbs *tlbs) { return &tlbs->walks; }

uint64_t caches_tlb_coverage(const struct caches_tlb *tlb, enum caches_tlb_kind page)
{
    C2_ASSERT((unsigned)page < CACHES_PAGE_KINDS);
    return tlb->holds & 1u << page ? (uint64_t)tlb->entries << kind_shift[page] : 0;
}

/* ------------------------------------------------------------------ check */

static bool way_holds(const struct caches_tlb_state *tlb, uint32_t way)
{
    const uint64_t key = tlb->keys[way];
    const uint32_t set = cache_policy_set_of(&tlb->policy, way);
    C2_ASSERT(tlb->policy.word[way] == (key != NO_PAGE ? way : 0));
    if (key == NO_PAGE)
        return true;
    C2_ASSERT(cache_policy_way_of(&tlb->policy, way) < tlb->policy.ways);
    C2_ASSERT(tlb->config->holds & 1u << kind_in(key));
    C2_ASSERT(tlb_set_of(tlb, tlb_number_in(key)) == set);
    for (uint32_t other = set << tlb->policy.way_bits; cache_policy_set_of(&tlb->policy, other) == set; other++)
        C2_ASSERT(other == way || tlb->keys[other] != key);
    return true;
}

static void check_tlb(const struct caches_tlb_state *tlb)
{
    C2_ASSERT(tlb->counts.misses <= tlb->counts.accesses);
    for (uint32_t way = first_way(tlb); way < end_way(tlb); way++)
        way_holds(tlb, way);
    cache_policy_check(&tlb->policy);
}

void caches_tlbs_check(const struct caches_tlbs *tlbs)
{
    uint64_t first_misses = 0;
    C2_ASSERT(tlbs->walks.count <= tlbs->walks.reads && tlbs->walks.reads <= 4 * tlbs->walks.count);
    for (uint32_t i = 0; i < tlbs->count; i++) {
        check_tlb(&tlbs->tlb[i]);
        first_misses += tlbs->config[i].place == CACHES_TLB_FIRST ? tlbs->tlb[i].counts.misses : 0;
    }
    C2_ASSERT(first_misses == tlbs->first_misses);
}

/* How many ways a check looks at: so many accesses may pass until the next. */
static uint64_t tlb_all_ways(const struct caches_tlbs *tlbs)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < tlbs->count; i++)
        sum += end_way(&tlbs->tlb[i]);
    return sum;
}

static bool tlb_holds(struct caches_tlbs *tlbs)
{
    if (++tlbs->calls < tlbs->check_at)
        return true;
    caches_tlbs_check(tlbs);
    tlbs->check_at = tlbs->calls + tlb_all_ways(tlbs);
    return true;
}

static void dump_tlb(const struct caches_tlb_state *tlb, FILE *to)
{
    fprintf(to, "%s: %" PRIu64 " accesses, %" PRIu64 " misses\n", tlb->config->name, tlb->counts.accesses,
            tlb->counts.misses);
    for (uint32_t way = first_way(tlb); way < end_way(tlb); way++) {
        const uint64_t key = tlb->keys[way];
        if (key == NO_PAGE)
            continue;
        fprintf(to, "  set %u way %u: %s 0x%" PRIx64 "\n", cache_policy_set_of(&tlb->policy, way) - 1,
                cache_policy_way_of(&tlb->policy, way), caches_kind_names[kind_in(key)],
                tlb_number_in(key) << kind_shift[kind_in(key)]);
    }
}

void caches_tlbs_dump(const struct caches_tlbs *tlbs, FILE *to)
{
    for (uint32_t i = 0; i < tlbs->count; i++)
        dump_tlb(&tlbs->tlb[i], to);
    fprintf(to, "%" PRIu64 " walks, %" PRIu64 " reads\n", tlbs->walks.count, tlbs->walks.reads);
}
