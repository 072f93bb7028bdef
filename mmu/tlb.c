/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * TLBs and page-walk caches.
 *
 * Model
 *   Asking    An access asks the first-level structure that holds pages of its size for its side. On a miss it asks the
 *             second level; a hit there is told to its policy and refills the first. A miss there, or a page size that
 *             no second-level structure holds, is a walk, which fills both. The levels are neither inclusive nor
 *             exclusive: a victim is dropped, and hits in the first level are not seen by the second.
 *   Walk      A walk of 4 entries (PML4E, PDPTE, PDE, PTE; 2M pages: 3, 1G pages: 2) asks the page-walk caches, the
 *             deepest pointer first; a hit skips that entry and those above. The pointers read are put into their
 *             caches, as they are read.
 *   Pieces    A page whose size no first-level structure of its side holds is held there in pieces of the next smaller
 *             size that one holds.
 *   Halves    Where two structures of a place hold the same size for the same side, a page belongs to the one that the
 *             bit above the first one's index bits of its number says.
 *   Sets      set = low bits of the page's (or region's) number, where given xor-ed with as many higher ones.
 *   Policies  An empty way is taken first, the leftmost. lru; tree-plru: bits point away from the way used; mru3-plru4:
 *             of three groups of four the one after the group used last gives the victim, by tree-plru.
 *   Changes   INVLPG, page by page: it empties the ways of the page and, as the SDM has it, every page-walk cache.
 *
 * Counting
 *   A structure counts the accesses that asked it. Pointers in a second-level structure are not counted there. A
 *   page-walk cache that holds several kinds of pointers is asked for each of them, and counts each.
 *
 * Invariants (mmu_tlb_check)
 *   A key is in its set and in no other way; a structure holds only its kinds; misses <= accesses;
 *   count <= reads <= 4 * count.
 *
 * Not modelled
 *   Time, address-space identifiers, global pages (there is one address space), coalescing of neighbouring small pages
 *   (AMD), walks that start before it is known that they are needed, accessed and dirty bits.
 *
 * Source
 *   Intel SDM volume 3A, 4.10; TLB;DR (Tatar et al., USENIX Security 2022) for the xor index and mru3-plru4.
 */
#include "mmu/tlb.h"

#include <inttypes.h>
#include <string.h>

#define MAX_HALVES 2
#define NO_PAGE 0     /* key of an empty way */
#define STATE_WAYS 64 /* at most, with a policy other than lru */

static const unsigned char kind_shift[MMU_TLB_KINDS] = {12, 21, 30, 21, 30, 39};
static const char *const kind_names[MMU_TLB_KINDS] = {"4K", "2M", "1G", "PDE", "PDPTE", "PML4E"};

struct structure {
    const struct mmu_tlb_structure *config;
    struct mmu_tlb_counts counts;
    uint32_t set_mask, ways;
    unsigned set_bits;
    uint64_t clock; /* of lru */
    uint64_t *keys; /* [set * ways + way] */
    uint64_t *ages; /* likewise, of lru: clock of the last use */
    uint64_t
        *states; /* [set], of the others: tree bits; mru3-plru4: 4 bits a group, the group used last from bit 16 on */
    uint16_t *seats; /* where the key of a number was last found: a guess that its way confirms */
    uint32_t seat_mask;
    struct {
        uint64_t keep, set;
    } use[STATE_WAYS]; /* of the others: what a use of the way does to its set's state: state & keep | set */
};

/* Where a page was found in the first level, and what a hit there does to the policy: state = state & keep | set. */
struct found {
    uint64_t vpn; /* of 4K, whatever the size of the page */
    uint64_t key;
    const uint64_t *key_at; /* NULL: empty */
    uint64_t *state;        /* lru: the way's age */
    uint64_t keep, set;
    struct structure *structure;
};
#define FOUND C2_HOST_SIZE(64u, 2u)

/* Which structure holds a page, and as what. */
struct route {
    uint32_t count; /* 0: none */
    enum mmu_tlb_kind kind;
    struct structure *half[MAX_HALVES];
};

struct mmu_tlb {
    struct mmu_tlb_config config;
    struct structure structure[MMU_TLB_STRUCTURES];
    struct route route[2][MMU_TLB_SIDES][MMU_TLB_PAGE_KINDS]; /* by enum mmu_tlb_place */
    struct structure *pointers[MMU_TLB_KINDS];                /* who holds a kind of pointer; NULL: nobody */
    struct structure *last[MMU_TLB_SIDES];
    struct found found[MMU_TLB_SIDES][FOUND]; /* by vpn */
    struct mmu_tlb_walks walks;
    uint64_t first_misses; /* the sum of the first level's */
    bool split;
};

static uint64_t key_of(uint64_t number, enum mmu_tlb_kind kind) { return number << 3 | (kind + 1); }

static uint32_t set_of(const struct structure *s, uint64_t number)
{
    uint64_t set = number;
    if (s->config->second_fold != 0)
        set ^= number >> s->config->second_fold;
    return (uint32_t)set & s->set_mask;
}

/* ------------------------------------------------------------------ policies */

/* The tree over `ways` leaves: node 1 is the root, the children of n are 2n and 2n+1; bit n of the tree says which
 * child holds the next victim. */
static uint64_t tree_touch(uint64_t tree, uint32_t ways, uint32_t way)
{
    for (uint32_t node = way + ways; node > 1; node >>= 1) {
        const uint64_t bit = (uint64_t)1 << (node >> 1);
        tree = node & 1 ? tree & ~bit : tree | bit;
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

#define GROUP_WAYS 4
#define GROUPS 3
#define GROUP_SHIFT 16 /* above the trees of 4 bits */

static uint64_t groups_touch(uint64_t state, uint32_t way)
{
    const uint32_t group = way / GROUP_WAYS, shift = 4 * group;
    const uint64_t tree = tree_touch(state >> shift & 0xf, GROUP_WAYS, way % GROUP_WAYS);
    return (state & 0xffff & ~((uint64_t)0xf << shift)) | tree << shift | (uint64_t)group << GROUP_SHIFT;
}

static uint32_t groups_victim(uint64_t state)
{
    const uint32_t group = ((uint32_t)(state >> GROUP_SHIFT) + 1) % GROUPS;
    return group * GROUP_WAYS + tree_victim(state >> 4 * group & 0xf, GROUP_WAYS);
}

/* Every use of a way sets and clears the same bits of its set's state, whatever they were. */
static void prepare_uses(struct structure *s)
{
    const enum mmu_tlb_policy policy = s->config->policy;
    for (uint32_t way = 0; policy != MMU_TLB_LRU && way < s->ways; way++) {
        const bool tree = policy == MMU_TLB_TREE_PLRU;
        s->use[way].keep = tree ? tree_touch(~(uint64_t)0, s->ways, way) : groups_touch(~(uint64_t)0, way);
        s->use[way].set = tree ? tree_touch(0, s->ways, way) : groups_touch(0, way);
    }
}

static void touch(struct structure *s, uint32_t set, uint32_t seat)
{
    const uint32_t way = seat - set * s->ways;
    if (s->config->policy == MMU_TLB_LRU)
        s->ages[seat] = ++s->clock;
    else
        s->states[set] = (s->states[set] & s->use[way].keep) | s->use[way].set;
}

static uint32_t oldest(const uint64_t *ages, uint32_t ways)
{
    uint32_t way = 0;
    for (uint32_t i = 1; i < ways; i++)
        way = ages[i] < ages[way] ? i : way;
    return way;
}

static uint32_t victim(const struct structure *s, uint32_t set)
{
    const uint32_t first = set * s->ways;
    for (uint32_t seat = first; seat < first + s->ways; seat++) {
        if (s->keys[seat] == NO_PAGE)
            return seat;
    }
    if (s->config->policy == MMU_TLB_LRU)
        return first + oldest(&s->ages[first], s->ways);
    if (s->config->policy == MMU_TLB_TREE_PLRU)
        return first + tree_victim(s->states[set], s->ways);
    return first + groups_victim(s->states[set]);
}

/* ------------------------------------------------------------------ one structure */

static bool look_up(struct structure *s, uint64_t number, enum mmu_tlb_kind kind)
{
    const uint64_t key = key_of(number, kind);
    const uint32_t set = set_of(s, number), first = set * s->ways;
    uint16_t *seat = &s->seats[number & s->seat_mask];
    if (SHORTCUT(s->keys[*seat] == key)) {
        touch(s, set, *seat);
        return true; /* *seat is right: remember() relies on it */
    }
    for (uint32_t i = first; i < first + s->ways; i++) {
        if (s->keys[i] != key)
            continue;
        *seat = (uint16_t)i;
        touch(s, set, i);
        return true;
    }
    return false;
}

/* It is not there. */
static void insert(struct structure *s, uint64_t number, enum mmu_tlb_kind kind)
{
    const uint32_t set = set_of(s, number), seat = victim(s, set);
    s->keys[seat] = key_of(number, kind);
    s->seats[number & s->seat_mask] = (uint16_t)seat;
    touch(s, set, seat);
}

static bool ask(struct structure *s, uint64_t number, enum mmu_tlb_kind kind)
{
    const bool found = look_up(s, number, kind);
    s->counts.accesses++;
    s->counts.misses += !found;
    return found;
}

/* ------------------------------------------------------------------ an access */

static struct structure *half_of(const struct route *route, uint64_t number)
{
    const uint64_t half = route->count > 1 ? number >> route->half[0]->set_bits & 1 : 0;
    return route->half[half];
}

/* A pointer that lies in a second-level structure is none of that one's accesses. */
static bool ask_pointer(struct structure *s, uint64_t number, enum mmu_tlb_kind kind)
{
    return s->config->place == MMU_TLB_WALK ? ask(s, number, kind) : look_up(s, number, kind);
}

/* The pointer after which `left` entries are left to read of a walk that has entry_count. */
static enum mmu_tlb_kind pointer_before(unsigned left, unsigned entry_count)
{
    return (enum mmu_tlb_kind)(MMU_TLB_PDE + (left - 1) + (4 - entry_count));
}

static unsigned walk(struct mmu_tlb *tlb, struct guest_va va, unsigned entry_count)
{
    unsigned reads = entry_count;
    for (unsigned left = 1; left < entry_count; left++) {
        const enum mmu_tlb_kind pointer = pointer_before(left, entry_count);
        struct structure *s = tlb->pointers[pointer];
        if (s && ask_pointer(s, va.v >> kind_shift[pointer], pointer)) {
            reads = left;
            break;
        }
    }
    for (unsigned left = reads - 1; left > 0; left--) {
        const enum mmu_tlb_kind pointer = pointer_before(left, entry_count);
        if (tlb->pointers[pointer])
            insert(tlb->pointers[pointer], va.v >> kind_shift[pointer], pointer);
    }
    tlb->walks.count++;
    tlb->walks.reads += reads;
    return reads;
}

/* The first level has missed. */
static unsigned ask_second(struct mmu_tlb *tlb, const struct route *route, struct guest_va va, unsigned entry_count)
{
    if (route->count == 0)
        return walk(tlb, va, entry_count);
    const uint64_t number = va.v >> kind_shift[route->kind];
    struct structure *second = half_of(route, number);
    if (ask(second, number, route->kind))
        return 0;
    const unsigned reads = walk(tlb, va, entry_count);
    insert(second, number, route->kind);
    return reads;
}

static void remember(struct found *found, uint64_t vpn, struct structure *s, uint64_t number, enum mmu_tlb_kind kind)
{
    const uint32_t set = set_of(s, number), seat = s->seats[number & s->seat_mask];
    const uint32_t way = seat - set * s->ways;
    *found = (struct found){.vpn = vpn, .key = key_of(number, kind), .key_at = &s->keys[seat], .structure = s};
    if (s->config->policy == MMU_TLB_LRU) {
        found->state = &s->ages[seat];
    } else {
        found->state = &s->states[set];
        found->keep = s->use[way].keep;
        found->set = s->use[way].set;
    }
}

/* A hit of the first level where the page was found before: what ask() would do, in a few instructions. */
static inline bool hit_again(struct mmu_tlb *tlb, enum mmu_tlb_side side, const struct found *found, uint64_t vpn)
{
    if (found->vpn != vpn || !found->key_at || *found->key_at != found->key)
        return false;
    struct structure *s = found->structure;
    s->counts.accesses++;
    *found->state = (*found->state & found->keep) | (s->config->policy == MMU_TLB_LRU ? ++s->clock : found->set);
    tlb->last[side] = s;
    if (!tlb->split && side != MMU_TLB_FETCH)
        tlb->last[MMU_TLB_LOAD] = tlb->last[MMU_TLB_STORE] = s;
    return true;
}

unsigned mmu_tlb_access(struct mmu_tlb *tlb, enum mmu_tlb_side side, struct guest_va va, unsigned entry_count)
{
    const uint64_t vpn = va.v >> C2_PAGE_SHIFT;
    struct found *found = &tlb->found[side][vpn & (FOUND - 1)];
    if (SHORTCUT(hit_again(tlb, side, found, vpn)))
        return 0;
    C2_ASSERT(entry_count >= 2 && entry_count <= 4);
    const unsigned page = 4 - entry_count;
    const struct route *route = &tlb->route[MMU_TLB_FIRST][side][page];
    C2_ASSERT(route->count != 0);
    const uint64_t number = va.v >> kind_shift[route->kind];
    struct structure *first = half_of(route, number);
    tlb->last[side] = first;
    if (!tlb->split && side != MMU_TLB_FETCH)
        tlb->last[MMU_TLB_LOAD] = tlb->last[MMU_TLB_STORE] = first;
    unsigned reads = 0;
    if (!ask(first, number, route->kind)) {
        tlb->first_misses++;
        reads = ask_second(tlb, &tlb->route[MMU_TLB_SECOND][side][page], va, entry_count);
        insert(first, number, route->kind);
    }
    remember(found, vpn, first, number, route->kind);
    return reads;
}

const uint64_t *mmu_tlb_first_misses(const struct mmu_tlb *tlb) { return &tlb->first_misses; }

void mmu_tlb_repeat(struct mmu_tlb *tlb, enum mmu_tlb_side side, uint64_t n)
{
    if (n == 0)
        return;
    C2_ASSERT(tlb->last[side]);
    tlb->last[side]->counts.accesses += n;
}

/* ------------------------------------------------------------------ INVLPG */

static bool concerned(uint64_t key, uint64_t start, uint64_t last)
{
    const unsigned kind = (unsigned)(key & 7) - 1;
    if (kind >= MMU_TLB_PAGE_KINDS)
        return true;
    const uint64_t first = key >> 3 << kind_shift[kind];
    return first <= last && first + (((uint64_t)1 << kind_shift[kind]) - 1) >= start;
}

void mmu_tlb_forget(struct mmu_tlb *tlb, struct guest_va start, uint64_t bytes)
{
    if (bytes == 0)
        return;
    const uint64_t last = start.v + bytes - 1;
    for (uint32_t i = 0; i < tlb->config.count; i++) {
        struct structure *s = &tlb->structure[i];
        for (uint32_t seat = 0; seat < s->config->entries; seat++) {
            if (s->keys[seat] != NO_PAGE && concerned(s->keys[seat], start.v, last))
                s->keys[seat] = NO_PAGE;
        }
    }
    memset(tlb->last, 0, sizeof tlb->last);
}

/* ------------------------------------------------------------------ life */

static enum c2_status refuse(const struct mmu_tlb_structure *config, const char *rule, struct c2_error *err)
{
    return c2_fail(err, C2_ERR_INVALID, "%s: %s", config->name, rule);
}

#define DATA_SIDES (MMU_TLB_BIT(MMU_TLB_LOAD) | MMU_TLB_BIT(MMU_TLB_STORE))
#define PAGES (MMU_TLB_BIT(MMU_TLB_PAGE_KINDS) - 1)

static enum c2_status check_structure(const struct mmu_tlb_structure *config, struct c2_error *err)
{
    const bool fetches = config->sides & MMU_TLB_BIT(MMU_TLB_FETCH);
    if (config->ways == 0 || config->ways > MMU_TLB_WAYS || config->entries == 0 || config->entries > UINT16_MAX ||
        config->entries % config->ways != 0 || !c2_is_power_of_two(config->entries / config->ways))
        return refuse(config,
                      "entries / ways must be a power of two of sets, of 1 to 128 ways and 65535 entries at most", err);
    if (config->policy == MMU_TLB_TREE_PLRU && (!c2_is_power_of_two(config->ways) || config->ways > 64))
        return refuse(config, "tree-plru needs a power of two of ways, at most 64", err);
    if (config->policy == MMU_TLB_MRU3_PLRU4 && config->ways != GROUPS * GROUP_WAYS)
        return refuse(config, "mru3-plru4 needs 12 ways", err);
    if (config->holds == 0 || (config->place == MMU_TLB_FIRST && config->holds & ~PAGES) ||
        (config->place == MMU_TLB_WALK && config->holds & PAGES))
        return refuse(config, "a first level holds pages, a page-walk cache pointers", err);
    if (config->place == MMU_TLB_FIRST && fetches && config->sides & DATA_SIDES)
        return refuse(config, "a first level is for data or for fetches", err);
    if (config->place != MMU_TLB_WALK && config->sides == 0)
        return refuse(config, "it has no side", err);
    return C2_OK;
}

static enum c2_status init_structure(struct structure *s, const struct mmu_tlb_structure *config, struct c2_error *err)
{
    enum c2_status status = check_structure(config, err);
    if (status != C2_OK)
        return status;
    const uint32_t sets = config->entries / config->ways;
    uint32_t seats = 16;
    while (seats < 2 * config->entries && seats < C2_HOST_SIZE(4096u, 16u))
        seats *= 2;
    s->config = config;
    s->ways = config->ways;
    s->set_mask = sets - 1;
    s->set_bits = c2_log2(sets);
    s->seat_mask = seats - 1;
    prepare_uses(s);
    s->keys = c2_calloc(config->entries, sizeof *s->keys);
    s->ages = c2_calloc(config->entries, sizeof *s->ages);
    s->states = c2_calloc(sets, sizeof *s->states);
    s->seats = c2_calloc(seats, sizeof *s->seats);
    if (!s->keys || !s->ages || !s->states || !s->seats)
        return c2_fail_memory(err, "the TLBs");
    return C2_OK;
}

static enum c2_status add_half(struct route *route, struct structure *s, enum mmu_tlb_kind kind, struct c2_error *err)
{
    if (route->count == MAX_HALVES)
        return refuse(s->config, "two others hold the same pages for the same side already", err);
    route->kind = kind;
    route->half[route->count++] = s;
    return C2_OK;
}

static enum c2_status route_structure(struct mmu_tlb *tlb, struct structure *s, struct c2_error *err)
{
    const struct mmu_tlb_structure *config = s->config;
    enum c2_status status = C2_OK;
    for (unsigned kind = MMU_TLB_PAGE_KINDS; kind < MMU_TLB_KINDS; kind++) {
        if (!(config->holds & MMU_TLB_BIT(kind)))
            continue;
        if (tlb->pointers[kind])
            return refuse(config, "another structure holds the same pointers already", err);
        tlb->pointers[kind] = s;
    }
    for (unsigned side = 0; side < MMU_TLB_SIDES && config->place != MMU_TLB_WALK; side++) {
        for (unsigned kind = 0; kind < MMU_TLB_PAGE_KINDS && status == C2_OK; kind++) {
            if (config->sides & MMU_TLB_BIT(side) && config->holds & MMU_TLB_BIT(kind))
                status = add_half(&tlb->route[config->place][side][kind], s, (enum mmu_tlb_kind)kind, err);
        }
    }
    return status;
}

/* Sizes that the first level of a side does not hold are held in pieces. */
static enum c2_status finish_side(struct mmu_tlb *tlb, enum mmu_tlb_side side, struct c2_error *err)
{
    static const char *const names[] = {"loads", "stores", "fetches"};
    struct route *first = tlb->route[MMU_TLB_FIRST][side];
    unsigned any = 0;
    for (unsigned kind = 0; kind < MMU_TLB_PAGE_KINDS; kind++)
        any |= first[kind].count;
    if (any != 0 && first[MMU_TLB_4K].count == 0)
        return c2_fail(err, C2_ERR_INVALID, "no first-level TLB holds 4K pages for %s", names[side]);
    for (unsigned kind = 1; kind < MMU_TLB_PAGE_KINDS; kind++) {
        if (first[kind].count == 0)
            first[kind] = first[kind - 1];
    }
    return C2_OK;
}

/* Loads and stores share all of their first level or none of it: what a load that repeats the page of the load before
 * does to it must not depend on the stores between. */
static enum c2_status check_split(struct mmu_tlb *tlb, struct c2_error *err)
{
    unsigned shared = 0, own = 0;
    for (uint32_t i = 0; i < tlb->config.count; i++) {
        const struct mmu_tlb_structure *config = &tlb->config.structure[i];
        const unsigned data = config->place == MMU_TLB_FIRST ? config->sides & DATA_SIDES : 0;
        shared |= data == DATA_SIDES;
        own |= data != DATA_SIDES ? data : 0;
    }
    tlb->split = own != 0;
    if (own && shared)
        return c2_fail(err, C2_ERR_INVALID,
                       "of the first-level TLBs some are for all data and some for loads or stores");
    if (own == MMU_TLB_BIT(MMU_TLB_LOAD) || own == MMU_TLB_BIT(MMU_TLB_STORE))
        return c2_fail(err, C2_ERR_INVALID, "first-level TLBs for loads need others for stores, and these those");
    return C2_OK;
}

static enum c2_status init(struct mmu_tlb *tlb, struct c2_error *err)
{
    enum c2_status status = check_split(tlb, err);
    for (uint32_t i = 0; i < tlb->config.count && status == C2_OK; i++) {
        status = init_structure(&tlb->structure[i], &tlb->config.structure[i], err);
        if (status == C2_OK)
            status = route_structure(tlb, &tlb->structure[i], err);
    }
    for (unsigned side = 0; side < MMU_TLB_SIDES && status == C2_OK; side++)
        status = finish_side(tlb, (enum mmu_tlb_side)side, err);
    return status;
}

enum c2_status mmu_tlb_create(struct mmu_tlb **out, const struct mmu_tlb_config *config, struct c2_error *err)
{
    *out = NULL;
    C2_ASSERT(config->count <= MMU_TLB_STRUCTURES);
    struct mmu_tlb *tlb = c2_calloc(1, sizeof *tlb);
    if (!tlb)
        return c2_fail_memory(err, "the TLBs");
    tlb->config = *config;
    enum c2_status status = init(tlb, err);
    if (status != C2_OK) {
        mmu_tlb_destroy(tlb);
        return status;
    }
    *out = tlb;
    return C2_OK;
}

void mmu_tlb_destroy(struct mmu_tlb *tlb)
{
    if (!tlb)
        return;
    for (uint32_t i = 0; i < tlb->config.count; i++) {
        c2_free(tlb->structure[i].keys);
        c2_free(tlb->structure[i].ages);
        c2_free(tlb->structure[i].states);
        c2_free(tlb->structure[i].seats);
    }
    c2_free(tlb);
}

/* ------------------------------------------------------------------ getters */

bool mmu_tlb_has(const struct mmu_tlb *tlb, enum mmu_tlb_side side)
{
    return tlb->route[MMU_TLB_FIRST][side][MMU_TLB_4K].count != 0;
}

bool mmu_tlb_split(const struct mmu_tlb *tlb) { return tlb->split; }

const struct mmu_tlb_config *mmu_tlb_config(const struct mmu_tlb *tlb) { return &tlb->config; }

const struct mmu_tlb_counts *mmu_tlb_counts(const struct mmu_tlb *tlb, uint32_t structure)
{
    C2_ASSERT(structure < tlb->config.count);
    return &tlb->structure[structure].counts;
}

const struct mmu_tlb_walks *mmu_tlb_walks(const struct mmu_tlb *tlb) { return &tlb->walks; }

uint64_t mmu_tlb_coverage(const struct mmu_tlb_structure *structure, enum mmu_tlb_kind page)
{
    return structure->holds & MMU_TLB_BIT(page) ? (uint64_t)structure->entries << kind_shift[page] : 0;
}

/* ------------------------------------------------------------------ check */

static void check_seat(const struct structure *s, uint32_t seat)
{
    const uint64_t key = s->keys[seat];
    const uint32_t set = seat / s->ways;
    if (key == NO_PAGE)
        return;
    C2_ASSERT((key & 7) != 0 && s->config->holds & MMU_TLB_BIT((key & 7) - 1));
    C2_ASSERT(set_of(s, key >> 3) == set);
    for (uint32_t other = set * s->ways; other < seat; other++)
        C2_ASSERT(s->keys[other] != key);
}

void mmu_tlb_check(const struct mmu_tlb *tlb)
{
    C2_ASSERT(tlb->walks.count <= tlb->walks.reads && tlb->walks.reads <= 4 * tlb->walks.count);
    for (uint32_t i = 0; i < tlb->config.count; i++) {
        const struct structure *s = &tlb->structure[i];
        C2_ASSERT(s->counts.misses <= s->counts.accesses);
        for (uint32_t seat = 0; seat < s->config->entries; seat++)
            check_seat(s, seat);
    }
}

static void dump_structure(const struct structure *s, FILE *to)
{
    fprintf(to, "%s: %" PRIu64 " accesses, %" PRIu64 " misses\n", s->config->name, s->counts.accesses,
            s->counts.misses);
    for (uint32_t seat = 0; seat < s->config->entries; seat++) {
        const uint64_t key = s->keys[seat];
        if (key == NO_PAGE)
            continue;
        const unsigned kind = (unsigned)(key & 7) - 1;
        fprintf(to, "  set %u way %u: %s 0x%" PRIx64 "\n", seat / s->ways, seat % s->ways, kind_names[kind],
                key >> 3 << kind_shift[kind]);
    }
}

void mmu_tlb_dump(const struct mmu_tlb *tlb, FILE *to)
{
    for (uint32_t i = 0; i < tlb->config.count; i++)
        dump_structure(&tlb->structure[i], to);
    fprintf(to, "%" PRIu64 " walks, %" PRIu64 " reads\n", tlb->walks.count, tlb->walks.reads);
}
