/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * TLBs: by hand on structures small enough to follow, then against a slow twin that searches every structure afresh at
 * each access and keeps its trees as arrays of halves. Broken twins show that the comparison can fail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "caches/caches_fast.h"

#define LOADS CACHES_TLB_LOADS
#define STORES CACHES_TLB_STORES
#define DATA CACHES_TLB_DATA
#define FETCHES CACHES_TLB_FETCHES
#define ALL (DATA | FETCHES)
#define B(kind) CACHES_TLB_##kind

struct shape {
    uint32_t count;
    struct caches_tlb tlb[7];
};

static const unsigned shift_of[CACHES_KINDS] = {12, 21, 30, 21, 30, 39};

/* ------------------------------------------------------------------ by hand */

static struct caches_tlbs *create(const struct shape *shape)
{
    struct caches_tlbs *tlb;
    struct c2_error err = {0};
    if (caches_tlbs_create(&tlb, shape->tlb, shape->count, &err) != C2_OK)
        fail_msg("%s", err.text);
    return tlb;
}

static unsigned load_page(struct caches_tlbs *tlb, uint64_t vpn)
{
    return caches_tlbs_access(tlb, CACHES_TLB_LOAD, (struct guest_va){vpn << 12 | 0x123}, 4, NULL);
}

static void assert_counts(const struct caches_tlbs *tlb, uint32_t structure, uint64_t accesses, uint64_t misses)
{
    assert_int_equal(caches_tlbs_counts(tlb, structure)->accesses, accesses);
    assert_int_equal(caches_tlbs_counts(tlb, structure)->misses, misses);
}

/* One set of two ways before one of four, both true LRU, no page-walk cache. */
static void levels_refill_each_other(void **state)
{
    (void)state;
    const struct shape config = {2,
                                 {{"L1", CACHES_TLB_FIRST, DATA, B(4K), 2, 2, CACHES_LRU, 0, 0},
                                  {"L2", CACHES_TLB_SECOND, DATA, B(4K), 4, 4, CACHES_LRU, 0, 0}}};
    struct caches_tlbs *tlb = create(&config);
    for (uint64_t page = 1; page <= 4; page++)
        assert_int_equal(load_page(tlb, page), 4); /* L1 3 4, L2 1 2 3 4 */
    assert_int_equal(load_page(tlb, 1), 0);        /* from L2; L1 4 1, L2 2 3 4 1 */
    assert_int_equal(load_page(tlb, 4), 0);        /* in L1, which L2 does not see */
    assert_counts(tlb, 0, 6, 5);
    assert_counts(tlb, 1, 5, 4);
    assert_int_equal(load_page(tlb, 5), 4); /* L1 4 5, L2 3 4 1 5: 2 has gone */
    assert_int_equal(load_page(tlb, 3), 0);
    assert_int_equal(load_page(tlb, 2), 4);
    assert_counts(tlb, 0, 9, 8);
    assert_counts(tlb, 1, 8, 6);
    struct caches_tlb_found found = caches_tlb_nowhere;
    assert_int_equal(caches_tlbs_access(tlb, CACHES_TLB_STORE, (struct guest_va){2 << 12}, 4, &found), 0);
    *found.accesses += 10; /* loads and stores share it */
    assert_counts(tlb, 0, 20, 8);
    assert_int_equal(caches_tlbs_walks(tlb)->count, 6);
    assert_int_equal(caches_tlbs_walks(tlb)->reads, 24);
    caches_tlbs_check(tlb);
    caches_tlbs_destroy(tlb);
}

/* A first level of one set of two ways, a second one of four: what the first has lost comes back, by the tree, without
 * a search; what both have lost does not. */
static bool refilled(const struct caches_tlbs *tlb, enum caches_tlb_side side, uint64_t vpn,
                     struct caches_tlb_found *found)
{
    const bool done = caches_tlbs_refill(caches_tlbs_refill_of(tlb, side), (struct guest_va){vpn << 12}, found);
    if (done)
        ++*found->accesses; /* the caller's to count */
    return done;
}

static void refilled_from_the_second(void **state)
{
    (void)state;
    const struct shape config = {2,
                                 {{"L1", CACHES_TLB_FIRST, DATA, B(4K), 2, 2, CACHES_TREE_PLRU, 0, 0},
                                  {"L2", CACHES_TLB_SECOND, DATA, B(4K), 4, 4, CACHES_TREE_PLRU, 0, 0}}};
    struct caches_tlbs *tlb = create(&config);
    struct caches_tlb_found found[6];
    for (size_t i = 0; i < 6; i++)
        found[i] = caches_tlb_nowhere;
    for (uint64_t page = 1; page <= 4; page++) /* L1 3 4 */
        assert_int_equal(caches_tlbs_access(tlb, CACHES_TLB_LOAD, (struct guest_va){page << 12}, 4, &found[page]), 4);
    assert_false(refilled(tlb, CACHES_TLB_LOAD, 5, &found[5]));
    assert_false(refilled(tlb, CACHES_TLB_FETCH, 1, &found[1]));
    assert_counts(tlb, 0, 4, 4);
    const bool done = refilled(tlb, CACHES_TLB_LOAD, 1, &found[1]); /* L1 1 4 */
#ifndef C2_NO_SHORTCUTS
    assert_true(done);
    assert_counts(tlb, 0, 5, 5);
    assert_counts(tlb, 1, 5, 4);
    assert_true(caches_tlbs_again(&found[1], 1));
    assert_true(caches_tlbs_again(&found[4], 4));
    assert_false(caches_tlbs_again(&found[3], 3));
    assert_false(caches_tlbs_again(&found[1], 1 | caches_tlbs_tag(tlb, CACHES_TLB_FETCH)));
    assert_int_equal(load_page(tlb, 5), 4); /* the tree loses 3, which is far from 1 */
    assert_false(refilled(tlb, CACHES_TLB_LOAD, 3, &found[3]));
    assert_true(refilled(tlb, CACHES_TLB_LOAD, 2, &found[2]));
#else
    assert_false(done);
#endif
    caches_tlbs_check(tlb);
    caches_tlbs_destroy(tlb);
}

/* Numbers 0..3 into a tree of four, then 0: the tree points to the right half, which was used before, and there to
 * 2. */
static void tree_plru_by_hand(void **state)
{
    (void)state;
    const struct shape config = {1, {{"L1", CACHES_TLB_FIRST, DATA, B(4K), 4, 4, CACHES_TREE_PLRU, 0, 0}}};
    struct caches_tlbs *tlb = create(&config);
    for (uint64_t page = 0; page < 4; page++)
        assert_int_equal(load_page(tlb, page), 4);
    assert_int_equal(load_page(tlb, 0), 0);
    assert_int_equal(load_page(tlb, 4), 4); /* takes the way of 2; true LRU would take that of 1 */
    assert_int_equal(load_page(tlb, 1), 0);
    assert_int_equal(load_page(tlb, 3), 0);
    assert_int_equal(load_page(tlb, 2), 4);
    caches_tlbs_destroy(tlb);
}

/* Twelve pages fill groups 0, 1, 2; the last one used is 2, so 12 goes to group 0 (its least recent: page 0); then 13
 * to group 1 (page 4); a hit of page 9 in group 2 sends 14 to group 0 again, where after page 0's way that of 2 is
 * next. */
static void mru3_plru4_by_hand(void **state)
{
    (void)state;
    const struct shape config = {1, {{"L1", CACHES_TLB_FIRST, DATA, B(4K), 12, 12, CACHES_MRU3_PLRU4, 0, 0}}};
    static const uint64_t gone[] = {0, 4, 2}, here[] = {1, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    struct caches_tlbs *tlb = create(&config);
    for (uint64_t page = 0; page < 14; page++)
        assert_int_equal(load_page(tlb, page), 4);
    assert_int_equal(load_page(tlb, 9), 0);
    assert_int_equal(load_page(tlb, 14), 4);
    for (size_t i = 0; i < sizeof here / sizeof here[0]; i++)
        assert_int_equal(load_page(tlb, here[i]), 0);
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++)
        assert_int_equal(load_page(tlb, gone[i]), 4);
    caches_tlbs_destroy(tlb);
}

/* The set of page n is n[1:0] xor n[3:2]: pages 0x0, 0x5, 0xa, 0xf share set 0 of one way. */
static void folded_index(void **state)
{
    (void)state;
    const struct shape config = {1, {{"L1", CACHES_TLB_FIRST, DATA, B(4K), 4, 1, CACHES_LRU, 2, 0}}};
    struct caches_tlbs *tlb = create(&config);
    static const uint64_t same[] = {0x0, 0x5, 0xa, 0xf, 0x0};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(load_page(tlb, same[i]), 4);
    assert_int_equal(load_page(tlb, 0x4), 4); /* set 1 */
    assert_int_equal(load_page(tlb, 0x0), 0);
    caches_tlbs_destroy(tlb);
}

/* What is skipped of each kind of walk, and that INVLPG of a far page empties the page-walk caches but no other TLB. */
static void walks_skip_what_is_cached(void **state)
{
    (void)state;
    const struct shape config = {4,
                                 {{"L1", CACHES_TLB_FIRST, DATA, B(4K) | B(2M) | B(1G), 1, 1, CACHES_LRU, 0, 0},
                                  {"PDE", CACHES_TLB_WALK, 0, B(PDE), 2, 2, CACHES_LRU, 0, 0},
                                  {"PDPTE", CACHES_TLB_WALK, 0, B(PDPTE), 2, 2, CACHES_LRU, 0, 0},
                                  {"PML4E", CACHES_TLB_WALK, 0, B(PML4E), 2, 2, CACHES_LRU, 0, 0}}};
    struct caches_tlbs *tlb = create(&config);
    const uint64_t top = 5ull << 39, third = 7ull << 30, second = 9ull << 21;
    const struct {
        uint64_t va;
        unsigned entries, reads;
    } steps[] = {
        {top, 4, 4},                  /* nothing is known */
        {top + 4096, 4, 1},           /* its PDE */
        {top + second, 4, 2},         /* its PDPTE */
        {top + third, 4, 3},          /* its PML4E */
        {top + third + second, 3, 1}, /* a 2M page under that PDPTE */
        {top + 2 * third, 3, 2},      /* and under another: from the PML4E, PDPTE and PDE are read */
        {top + 3 * third, 2, 1},      /* a 1G page */
        {2 * top, 2, 2},
        {3 * top, 3, 3},
    };
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        assert_int_equal(
            caches_tlbs_access(tlb, CACHES_TLB_STORE, (struct guest_va){steps[i].va}, steps[i].entries, NULL),
            steps[i].reads);
    assert_int_equal(caches_tlbs_walks(tlb)->count, 9);
    assert_int_equal(caches_tlbs_walks(tlb)->reads, 4 + 1 + 2 + 3 + 1 + 2 + 1 + 2 + 3);
    assert_counts(tlb, 1, 4, 3);         /* the 4K pages */
    assert_counts(tlb, 2, 3 + 3, 2 + 2); /* third to first, and the 2M pages */
    caches_tlbs_forget(tlb, (struct guest_va){0x1000}, 4096);
    assert_int_equal(caches_tlbs_access(tlb, CACHES_TLB_LOAD, (struct guest_va){3 * top + 0x1fffff}, 3, NULL), 0);
    assert_int_equal(caches_tlbs_access(tlb, CACHES_TLB_LOAD, (struct guest_va){3 * top + (1 << 21)}, 3, NULL), 3);
    caches_tlbs_destroy(tlb);
}

/* A first level without 1G pages holds them as 2M ones; the second, which has neither, is not asked. */
static void large_pages_in_pieces(void **state)
{
    (void)state;
    const struct shape config = {2,
                                 {{"L1", CACHES_TLB_FIRST, DATA, B(4K) | B(2M), 8, 8, CACHES_LRU, 0, 0},
                                  {"L2", CACHES_TLB_SECOND, DATA, B(4K), 8, 8, CACHES_LRU, 0, 0}}};
    struct caches_tlbs *tlb = create(&config);
    assert_int_equal(caches_tlbs_access(tlb, CACHES_TLB_LOAD, (struct guest_va){1 << 30}, 2, NULL), 2);
    assert_int_equal(caches_tlbs_access(tlb, CACHES_TLB_LOAD, (struct guest_va){(1 << 30) + 0x1ff000}, 2, NULL), 0);
    assert_int_equal(caches_tlbs_access(tlb, CACHES_TLB_LOAD, (struct guest_va){(1 << 30) + 0x200000}, 2, NULL), 2);
    assert_counts(tlb, 0, 3, 2);
    assert_counts(tlb, 1, 0, 0);
    caches_tlbs_forget(tlb, (struct guest_va){(1 << 30) + 0x5000},
                       1); /* the page is 1G, but only this piece was notified of */
    assert_int_equal(caches_tlbs_access(tlb, CACHES_TLB_LOAD, (struct guest_va){1 << 30}, 2, NULL), 2);
    assert_int_equal(caches_tlbs_access(tlb, CACHES_TLB_LOAD, (struct guest_va){(1 << 30) + 0x200000}, 2, NULL), 0);
    assert_int_equal(caches_tlb_coverage(&config.tlb[0], CACHES_KIND_2M), 16 << 20);
    assert_int_equal(caches_tlb_coverage(&config.tlb[0], CACHES_KIND_1G), 0);
    caches_tlbs_destroy(tlb);
}

static void impossible_ones_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct shape config;
        const char *text;
    } bad[] = {
        {{1, {{"A", CACHES_TLB_FIRST, DATA, B(4K), 6, 2, CACHES_LRU, 0, 0}}},
         "A: entries / ways must be a power of two of sets, of 1 to 128 ways and 65535 entries at most"},
        {{1, {{"A", CACHES_TLB_FIRST, DATA, B(4K), 6, 6, CACHES_TREE_PLRU, 0, 0}}},
         "A: tree-plru needs a power of two of ways, at most 64"},
        {{1, {{"A", CACHES_TLB_FIRST, DATA, B(4K), 8, 8, CACHES_MRU3_PLRU4, 0, 0}}}, "A: mru3-plru4 needs 12 ways"},
        {{1, {{"A", CACHES_TLB_FIRST, DATA, B(4K), 8, 8, CACHES_SRRIP, 0, 0}}}, "A: its policy is none of TLBs"},
        {{1, {{"A", CACHES_TLB_FIRST, DATA, B(4K) | B(PDE), 8, 8, CACHES_LRU, 0, 0}}},
         "A: a first level holds pages, a page-walk cache pointers"},
        {{1, {{"A", CACHES_TLB_FIRST, ALL, B(4K), 8, 8, CACHES_LRU, 0, 0}}},
         "A: a first level is for data or for fetches"},
        {{1, {{"A", CACHES_TLB_FIRST, DATA, B(2M), 8, 8, CACHES_LRU, 0, 0}}},
         "no first-level TLB holds 4K pages for loads"},
        {{2,
          {{"A", CACHES_TLB_FIRST, DATA, B(4K), 8, 8, CACHES_LRU, 0, 0},
           {"B", CACHES_TLB_FIRST, STORES, B(2M), 8, 8, CACHES_LRU, 0, 0}}},
         "of the first-level TLBs some are for all data and some for loads or stores"},
        {{1, {{"A", CACHES_TLB_FIRST, STORES, B(4K), 8, 8, CACHES_LRU, 0, 0}}},
         "first-level TLBs for loads need others for stores, and these those"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct caches_tlbs *tlb;
        struct c2_error err = {0};
        assert_int_equal(caches_tlbs_create(&tlb, bad[i].config.tlb, bad[i].config.count, &err), C2_ERR_INVALID);
        assert_string_equal(err.text, bad[i].text);
        assert_null(tlb);
    }
}

/* ------------------------------------------------------------------ the twin */

enum mutant { HEALTHY, SECOND_SEES_HITS, NO_REFILL, WALK_FROM_TOP, LRU_AS_FIFO, FORGET_ONE_BYTE };

struct twin_way {
    bool full;
    unsigned kind;
    uint64_t number, used;
};
struct twin_set {
    struct twin_way way[16];
    unsigned right[16][5]; /* of the leaves from i on, 2^j many: whether the right half is to go first */
    unsigned group;
};
struct twin {
    enum mutant mutant;
    const struct shape *config;
    struct twin_set set[7][64];
    struct caches_tlb_counts counts[7];
    struct caches_walk_counts walks;
    uint64_t clock;
};

static void tree_used(struct twin_set *set, unsigned low, unsigned bits, unsigned way)
{
    for (; bits > 0; bits--) {
        bool in_right = way >= low + (1u << (bits - 1));
        set->right[low][bits] = !in_right;
        low += in_right ? 1u << (bits - 1) : 0;
    }
}

static unsigned tree_next(const struct twin_set *set, unsigned low, unsigned bits)
{
    if (bits == 0)
        return low;
    return tree_next(set, low + (set->right[low][bits] ? 1u << (bits - 1) : 0), bits - 1);
}

static unsigned twin_set_number(const struct caches_tlb *s, uint64_t number)
{
    unsigned sets = s->entries / s->ways, index = 0;
    for (unsigned bit = 0; 1u << bit < sets; bit++)
        index |= ((number >> bit & 1) ^ (s->fold ? number >> (bit + s->fold) & 1 : 0)) << bit;
    return index;
}

static void twin_used(struct twin *twin, unsigned i, struct twin_set *set, unsigned way)
{
    const struct caches_tlb *s = &twin->config->tlb[i];
    set->way[way].used = ++twin->clock;
    if (s->policy == CACHES_TREE_PLRU)
        tree_used(set, 0, c2_log2(s->ways), way);
    if (s->policy == CACHES_MRU3_PLRU4)
        tree_used(set, way / 4 * 4, 2, way);
    set->group = way / 4;
}

static bool twin_find(struct twin *twin, unsigned i, unsigned kind, uint64_t va)
{
    const struct caches_tlb *s = &twin->config->tlb[i];
    uint64_t number = va >> shift_of[kind];
    struct twin_set *set = &twin->set[i][twin_set_number(s, number)];
    for (unsigned way = 0; way < s->ways; way++) {
        if (!set->way[way].full || set->way[way].kind != kind || set->way[way].number != number)
            continue;
        if (twin->mutant != LRU_AS_FIFO || s->policy != CACHES_LRU)
            twin_used(twin, i, set, way);
        return true;
    }
    return false;
}

static void twin_put(struct twin *twin, unsigned i, unsigned kind, uint64_t va)
{
    const struct caches_tlb *s = &twin->config->tlb[i];
    uint64_t number = va >> shift_of[kind];
    struct twin_set *set = &twin->set[i][twin_set_number(s, number)];
    unsigned way = 0;
    if (s->policy == CACHES_TREE_PLRU)
        way = tree_next(set, 0, c2_log2(s->ways));
    else if (s->policy == CACHES_MRU3_PLRU4)
        way = tree_next(set, (set->group + 1) % 3 * 4, 2);
    else
        for (unsigned other = 1; other < s->ways; other++)
            way = set->way[other].used < set->way[way].used ? other : way;
    for (unsigned other = s->ways; other-- > 0;)
        way = set->way[other].full ? way : other;
    set->way[way] = (struct twin_way){true, kind, number, 0};
    twin_used(twin, i, set, way);
}

/* The structure that holds the kind at a place for the side, -1: none. */
static int twin_where(const struct twin *twin, enum caches_tlb_place place, unsigned side, unsigned kind, uint64_t va)
{
    int found[2], count = 0;
    for (unsigned i = 0; i < twin->config->count; i++) {
        const struct caches_tlb *s = &twin->config->tlb[i];
        if (s->place == place && s->sides & 1u << side && s->holds & 1u << kind)
            found[count++] = (int)i;
    }
    if (count < 2)
        return count == 0 ? -1 : found[0];
    const struct caches_tlb *first = &twin->config->tlb[found[0]];
    return found[(va >> shift_of[kind]) / (first->entries / first->ways) % 2];
}

static bool twin_ask(struct twin *twin, int i, unsigned kind, uint64_t va)
{
    bool found = twin_find(twin, (unsigned)i, kind, va);
    twin->counts[i].accesses++;
    twin->counts[i].misses += !found;
    return found;
}

static int twin_pointer(const struct twin *twin, unsigned kind)
{
    for (unsigned i = 0; i < twin->config->count; i++)
        if (twin->config->tlb[i].holds & 1u << kind)
            return (int)i;
    return -1;
}

/* Levels by the table they are in: 4 = PML4E, 3 = PDPTE, 2 = PDE, 1 = PTE; leaf is that of the page. */
static unsigned twin_walk(struct twin *twin, uint64_t va, unsigned leaf)
{
    static const unsigned kind_at[] = {0, 0, CACHES_KIND_PDE, CACHES_KIND_PDPTE, CACHES_KIND_PML4E};
    unsigned from = 4;
    for (unsigned level = leaf + 1; level <= 4; level++) {
        int i = twin_pointer(twin, kind_at[level]);
        if (i < 0)
            continue;
        bool counted = twin->config->tlb[i].place == CACHES_TLB_WALK;
        if (counted ? twin_ask(twin, i, kind_at[level], va) : twin_find(twin, (unsigned)i, kind_at[level], va)) {
            from = level - 1;
            break;
        }
    }
    for (unsigned level = from; level > leaf; level--) /* as they are read */
        if (twin_pointer(twin, kind_at[level]) >= 0)
            twin_put(twin, (unsigned)twin_pointer(twin, kind_at[level]), kind_at[level], va);
    twin->walks.count++;
    twin->walks.reads += from - leaf + 1;
    return twin->mutant == WALK_FROM_TOP ? 5 - leaf : from - leaf + 1;
}

static unsigned twin_access(struct twin *twin, unsigned side, uint64_t va, unsigned entry_count)
{
    unsigned size = 4 - entry_count, piece = size, reads = 0;
    while (twin_where(twin, CACHES_TLB_FIRST, side, piece, va) < 0)
        piece--;
    int first = twin_where(twin, CACHES_TLB_FIRST, side, piece, va);
    int second = twin_where(twin, CACHES_TLB_SECOND, side, size, va);
    if (twin_ask(twin, first, piece, va)) {
        if (twin->mutant == SECOND_SEES_HITS && second >= 0)
            twin_find(twin, (unsigned)second, size, va);
        return 0;
    }
    if (second < 0 || !twin_ask(twin, second, size, va)) {
        reads = twin_walk(twin, va, 5 - entry_count);
        if (second >= 0)
            twin_put(twin, (unsigned)second, size, va);
    }
    if (twin->mutant != NO_REFILL || reads != 0)
        twin_put(twin, (unsigned)first, piece, va);
    return reads;
}

static void twin_forget(struct twin *twin, uint64_t start, uint64_t bytes)
{
    uint64_t last = start + (twin->mutant == FORGET_ONE_BYTE ? 1 : bytes) - 1;
    for (unsigned i = 0; i < twin->config->count; i++)
        for (unsigned set = 0; set < 64; set++)
            for (unsigned way = 0; way < 16; way++) {
                struct twin_way *w = &twin->set[i][set].way[way];
                uint64_t low = w->number << shift_of[w->kind], high = ((w->number + 1) << shift_of[w->kind]) - 1;
                if (w->kind >= CACHES_PAGE_KINDS || (high >= start && low <= last))
                    w->full = false;
            }
}

/* ------------------------------------------------------------------ random configurations and accesses */

static const struct shape shapes[] = {
    {7,
     {{"DTLB-4K", CACHES_TLB_FIRST, DATA, B(4K), 16, 4, CACHES_TREE_PLRU, 0, 0},
      {"DTLB-2M", CACHES_TLB_FIRST, DATA, B(2M), 4, 4, CACHES_TREE_PLRU, 0, 0},
      {"ITLB", CACHES_TLB_FIRST, FETCHES, B(4K), 8, 8, CACHES_LRU, 0, 0},
      {"STLB", CACHES_TLB_SECOND, ALL, B(4K) | B(2M), 48, 12, CACHES_MRU3_PLRU4, 2, 0},
      {"PDE", CACHES_TLB_WALK, 0, B(PDE), 8, 4, CACHES_LRU, 0, 0},
      {"PDPTE", CACHES_TLB_WALK, 0, B(PDPTE), 2, 2, CACHES_LRU, 0, 0},
      {"PML4E", CACHES_TLB_WALK, 0, B(PML4E), 1, 1, CACHES_LRU, 0, 0}}},
    {7,
     {{"load-4K", CACHES_TLB_FIRST, LOADS, B(4K), 8, 2, CACHES_LRU, 0, 0},
      {"load-2M", CACHES_TLB_FIRST, LOADS, B(2M), 4, 2, CACHES_LRU, 0, 0},
      {"store", CACHES_TLB_FIRST, STORES, B(4K) | B(2M) | B(1G), 16, 16, CACHES_TREE_PLRU, 0, 0},
      {"ITLB", CACHES_TLB_FIRST, FETCHES, B(4K) | B(2M), 8, 1, CACHES_LRU, 0, 0},
      {"STLB-A", CACHES_TLB_SECOND, ALL, B(4K) | B(2M), 32, 8, CACHES_LRU, 0, 0},
      {"STLB-B", CACHES_TLB_SECOND, ALL, B(4K) | B(1G), 32, 8, CACHES_LRU, 0, 0},
      {"PDE", CACHES_TLB_WALK, 0, B(PDE), 4, 4, CACHES_LRU, 0, 0}}},
    {5,
     {{"L1D", CACHES_TLB_FIRST, DATA, B(4K) | B(2M) | B(1G), 12, 12, CACHES_LRU, 0, 0},
      {"L1I", CACHES_TLB_FIRST, FETCHES, B(4K) | B(2M) | B(1G), 12, 12, CACHES_LRU, 0, 0},
      {"L2D", CACHES_TLB_SECOND, DATA, B(4K) | B(2M) | B(PDE), 64, 8, CACHES_LRU, 0, 0},
      {"L2I", CACHES_TLB_SECOND, FETCHES, B(4K), 16, 4, CACHES_LRU, 0, 0},
      {"PDC", CACHES_TLB_WALK, 0, B(PML4E) | B(PDPTE), 4, 4, CACHES_LRU, 0, 0}}},
    {3,
     {{"L1D", CACHES_TLB_FIRST, DATA, B(4K), 8, 4, CACHES_TREE_PLRU, 0, 0},
      {"L1I", CACHES_TLB_FIRST, FETCHES, B(4K), 2, 2, CACHES_TREE_PLRU, 0, 0},
      {"L2", CACHES_TLB_SECOND, ALL, B(4K), 32, 8, CACHES_TREE_PLRU, 0, 0}}},
    {4,
     {{"L1D", CACHES_TLB_FIRST, DATA, B(4K), 4, 2, CACHES_TREE_PLRU, 1, 0},
      {"L1I", CACHES_TLB_FIRST, FETCHES, B(4K), 8, 8, CACHES_TREE_PLRU, 0, 0},
      {"L2D", CACHES_TLB_SECOND, DATA, B(4K), 16, 16, CACHES_TREE_PLRU, 0, 0},
      {"L2I", CACHES_TLB_SECOND, FETCHES, B(4K) | B(2M), 12, 12, CACHES_LRU, 0, 0}}},
};

/* The size of a page depends on where it is, so that it stays the same. */
static uint64_t random_va(struct c2_rng *rng, unsigned *entry_count)
{
    uint64_t region = c2_rng_below(rng, 3);
    uint64_t small = c2_rng_below(rng, 96) << 12 | c2_rng_below(rng, 4096), far = c2_rng_below(rng, 3) << 39;
    *entry_count = 4 - (unsigned)region;
    if (region == 0)
        return far + (c2_rng_below(rng, 3) << 30) + (c2_rng_below(rng, 5) << 21) + small;
    if (region == 1)
        return far + (4ull << 30) + (c2_rng_below(rng, 4) << 30) + (c2_rng_below(rng, 12) << 21) + small;
    return far + (8ull << 30) + (c2_rng_below(rng, 6) << 30) + (c2_rng_below(rng, 20) << 21) + small;
}

/* So few pages that the TLBs have most of them. */
static uint64_t few_va(struct c2_rng *rng, unsigned *entry_count)
{
    *entry_count = 4;
    return c2_rng_below(rng, 20) << 12 | c2_rng_below(rng, 4096);
}

/* Where pages were found, as a caller of many accesses keeps it; large pages in several places. */
#define FOUND 64
static unsigned long refills; /* of all: caches_tlbs_refill() has done them */
struct found {
    uint64_t vpn;
    struct caches_tlb_found at;
};

static unsigned access_again(struct caches_tlbs *tlb, struct found *found, unsigned side, uint64_t va,
                             unsigned entry_count)
{
    struct found *mine = &found[va >> 12 & (FOUND - 1)];
    if (mine->vpn != va >> 12)
        *mine = (struct found){va >> 12, caches_tlb_nowhere};
    if (caches_tlbs_again(&mine->at, va >> 12 | caches_tlbs_tag(tlb, side)) ||
        caches_tlbs_again_any(&mine->at, caches_tlbs_tag(tlb, side), (struct guest_va){va})) {
        assert_true(caches_tlbs_found_holds(&mine->at));
        ++*mine->at.accesses;
        return 0;
    }
    if (refilled(tlb, side, va >> 12, &mine->at)) {
        refills++;
        return 0;
    }
    return caches_tlbs_access(tlb, side, (struct guest_va){va}, entry_count, &mine->at);
}

static bool same(const struct shape *shape, enum mutant mutant, uint64_t seed, unsigned steps)
{
    struct caches_tlbs *tlb = create(shape);
    struct twin *twin = calloc(1, sizeof *twin);
    struct found found[FOUND];
    struct c2_rng rng;
    bool equal = true;
    *twin = (struct twin){.mutant = mutant, .config = shape};
    c2_rng_init(&rng, seed, "test");
    for (size_t i = 0; i < FOUND; i++)
        found[i] = (struct found){0, caches_tlb_nowhere};
    for (unsigned step = 0; step < steps && equal; step++) {
        unsigned entry_count, side = (unsigned)c2_rng_below(&rng, 3);
        uint64_t va = step >> 10 & 1 ? few_va(&rng, &entry_count) : random_va(&rng, &entry_count),
                 bytes = c2_rng_below(&rng, 4) << 20 | 5;
        if (c2_rng_below(&rng, 400) == 0) {
            caches_tlbs_forget(tlb, (struct guest_va){va}, bytes);
            twin_forget(twin, va, bytes);
        }
        equal = access_again(tlb, found, side, va, entry_count) == twin_access(twin, side, va, entry_count);
    }
    for (uint32_t i = 0; i < shape->count; i++)
        equal = equal && memcmp(caches_tlbs_counts(tlb, i), &twin->counts[i], sizeof twin->counts[i]) == 0;
    equal = equal && memcmp(caches_tlbs_walks(tlb), &twin->walks, sizeof twin->walks) == 0;
    caches_tlbs_check(tlb);
    caches_tlbs_destroy(tlb);
    free(twin);
    return equal;
}

#define SHAPES (sizeof shapes / sizeof shapes[0])

static void a_slow_twin_agrees(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHAPES; i++)
        for (uint64_t seed = 1; seed <= 8; seed++)
            assert_true(same(&shapes[i], HEALTHY, seed, i < 3 ? 50000 : 20000));
#ifndef C2_NO_SHORTCUTS
    assert_true(refills > 1000);
#endif
}

static void broken_twins_are_noticed(void **state)
{
    (void)state;
    for (enum mutant mutant = SECOND_SEES_HITS; mutant <= FORGET_ONE_BYTE; mutant++)
        assert_false(same(&shapes[2], mutant, 1, 50000));
}

static void creation_survives_every_failing_allocation(void **state)
{
    (void)state;
    enum c2_status status = C2_ERR_NO_MEMORY;
    uint64_t n = 0;
    while (status != C2_OK) {
        struct caches_tlbs *tlb;
        c2_alloc_fail_from(++n);
        status = caches_tlbs_create(&tlb, shapes[0].tlb, shapes[0].count, NULL);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK ? !!tlb : status == C2_ERR_NO_MEMORY && !tlb);
        caches_tlbs_destroy(tlb);
    }
    assert_int_equal(n, 1 + 7 * 4 + 1); /* ages or bits, words, keys, guesses */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_refill_each_other),
        cmocka_unit_test(tree_plru_by_hand),
        cmocka_unit_test(mru3_plru4_by_hand),
        cmocka_unit_test(folded_index),
        cmocka_unit_test(walks_skip_what_is_cached),
        cmocka_unit_test(large_pages_in_pieces),
        cmocka_unit_test(impossible_ones_are_refused),
        cmocka_unit_test(a_slow_twin_agrees),
        cmocka_unit_test(refilled_from_the_second),
        cmocka_unit_test(broken_twins_are_noticed),
        cmocka_unit_test(creation_survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
