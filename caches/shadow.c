/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The fully associative LRU shadow of one level: what an ideal cache of the same size would hold.
 *
 * Model
 *   Every line access of the level, hit or miss, takes the next number of the level's clock as the line's stamp. The
 *   shadow holds the `capacity` lines with the highest stamps: exactly those of a fully associative LRU cache. They are
 *   the lines whose stamp is not below the horizon, so that asking is one comparison and moving to the front one store.
 *   The log, a ring with one place a stamp, finds the line that must go. A line that enters is put at its stamp. When
 *   it is accessed again its entry stays where it is, now behind the line's stamp, and is moved up when the horizon
 *   comes by: the place of the new stamp is free, as no other line was accessed at that time.
 *
 *       log   |  -  |  b  |  -  |  a  |  -  |  -  |  c  |        stamps: a 14  b 16  c 17
 *               11    12    13    14    15    16    17
 *               ^ horizon                               ^ clock
 *
 *   Here the shadow is full and a new line enters: the horizon passes 11, moves b from 12 to 16, finds a at its own
 *   stamp 14 and stops behind it: a is what LRU evicts.
 *   A line that another core takes from the level leaves the shadow too. Its entry stays, and is dropped when the
 *   horizon comes by and finds its stamp below; if the line has come back by then it is moved up, to where the line's
 *   other entry goes.
 *   A store that does not fill the level (allocate = no) moves a line that the shadow has to the front, and leaves one
 *   that it does not have out, as one that was asked for.
 *   When the clock is a whole ring ahead of the horizon, or at its end, the live lines get new stamps in the same
 *   order.
 *
 * Price
 *   An access to a line in the shadow: one comparison and one store. An entry moves once an access at most, free
 *   places are passed 64 at a time by a bit map, and the ring, at least 4 times the capacity, is cleaned after
 *   three quarters of its length of accesses at the earliest. So the cost is O(1) amortised whatever the capacity.
 *   Host memory: 16 to 32 bytes a line of the level, touched as far as it is used.
 *
 * Counting
 *   Stamps have 32 bits. Near their end (every 4 billion accesses of the level) all lines outside the shadow get stamp
 *   1 and the clock starts again.
 *
 * Invariants (cache_shadow_check)
 *   live <= capacity; exactly live lines have a stamp at or above the horizon; each of them has exactly one entry, not
 *   behind its stamp; a place is used if and only if it has such an entry; all stamps are below the clock; clock -
 *   horizon <= length of the ring. Where lines were taken there may be entries more.
 *
 * Source
 *   The classes follow M. Hill, "Aspects of Cache Memory and Instruction Buffer Performance", UCB 1987, as used by
 *   Sato and Endo, Euro-Par 2017.
 */
#include "caches/shadow_priv.h"

#define RING_A_LINE C2_HOST_SIZE(4u, 2u)
#define RING_AT_LEAST C2_HOST_SIZE(16384u, 64u) /* cleanings of a small level's ring are to be rare */
#define RING_SMALL C2_HOST_SIZE(32768u, 64u)    /* up to here it may be longer, and is cleaned a third as often */
#define FIRST_STAMP (SHADOW_TAKEN + 1)          /* 0: never asked, 1: long ago */
#define WORD_BITS 64u

enum c2_status cache_shadow_init(struct cache_shadow *shadow, const struct cache_stamps *stamps, uint32_t at,
                                 uint32_t capacity, struct c2_error *err)
{
    C2_ASSERT(capacity >= 1 && capacity <= SHADOW_MAX_CAPACITY);
    uint32_t ring = RING_AT_LEAST;
    while (ring < RING_A_LINE * capacity || (ring < RING_SMALL && ring < 2 * RING_A_LINE * capacity))
        ring *= 2;
    *shadow = (struct cache_shadow){.stamps = stamps,
                                    .at = at,
                                    .capacity = capacity,
                                    .clock = FIRST_STAMP,
                                    .horizon = FIRST_STAMP,
                                    .stop = FIRST_STAMP + ring,
                                    .mask = ring - 1};
    shadow->log = c2_calloc(ring, sizeof *shadow->log);
    shadow->used = c2_calloc(ring / WORD_BITS, sizeof *shadow->used);
    return shadow->log && shadow->used ? C2_OK : c2_fail_memory(err, "the shadow of a cache");
}

void cache_shadow_end(struct cache_shadow *shadow)
{
    c2_free(shadow->log);
    c2_free(shadow->used);
}

static uint32_t ring_of(const struct cache_shadow *shadow) { return shadow->mask + 1; }

static uint32_t *stamp_of(const struct cache_shadow *shadow, uint32_t slot)
{
    return cache_stamp(shadow->stamps, slot, shadow->at);
}

/* The clock may get this far, and a cleaned ring still fits behind it. */
static uint32_t last_clock(const struct cache_shadow *shadow)
{
    return C2_HOST_SIZE(UINT32_MAX - ring_of(shadow), 16 * ring_of(shadow));
}

/* The horizon may have gone on since. */
static void set_stop(struct cache_shadow *shadow)
{
    uint64_t full = (uint64_t)shadow->horizon + ring_of(shadow);
    shadow->stop = full < last_clock(shadow) ? (uint32_t)full : last_clock(shadow);
}

/* ------------------------------------------------------------------ the ring */

static void shadow_put(struct cache_shadow *shadow, uint32_t at, uint32_t slot)
{
    uint32_t place = at & shadow->mask;
    shadow->log[place] = slot;
    shadow->used[place / WORD_BITS] |= (uint64_t)1 << place % WORD_BITS;
}

/* Where the level's stamps are; not of one that has them beside, which lines need not have. */
struct stamps {
    uint32_t *word;
    size_t width;
};

static inline struct stamps stamps_in_rows(const struct cache_shadow *shadow)
{
    return (struct stamps){shadow->stamps->word + shadow->at, shadow->stamps->width};
}

/* Takes the least recently used line out of the ring and says its slot. *at is where the search begins, and becomes the
 * line's stamp. The ring must have a line. beside: a constant; else the stamps are these. */
static inline __attribute__((always_inline)) uint32_t take_oldest(struct cache_shadow *shadow, uint32_t *at,
                                                                  const bool beside, const struct stamps stamps)
{
    uint32_t *log = shadow->log, mask = shadow->mask, now = *at;
    uint64_t *used = shadow->used;
    for (;;) {
        uint32_t place = now & mask, bit = place % WORD_BITS;
        uint64_t rest = used[place / WORD_BITS] >> bit;
        if (rest == 0) {
            now += WORD_BITS - bit;
            continue;
        }
        uint32_t skip = (uint32_t)__builtin_ctzll(rest);
        used[place / WORD_BITS] ^= (uint64_t)1 << (bit + skip);
        now += skip;
        const uint32_t slot = log[place + skip];
        const uint32_t stamp = beside ? *stamp_of(shadow, slot) : stamps.word[slot * stamps.width], to = stamp & mask;
        if (stamp == now) {
            *at = now;
            return slot;
        }
        if (C2_UNLIKELY(stamp < now))
            continue; /* it was taken */
        log[to] = slot;
        used[to / WORD_BITS] |= (uint64_t)1 << to % WORD_BITS;
    }
}

/* The shadow loses its oldest line. */
static inline __attribute__((always_inline)) void lose_oldest(struct cache_shadow *shadow, const bool beside,
                                                              const struct stamps stamps)
{
    uint32_t oldest = shadow->horizon;
    const uint32_t gone = take_oldest(shadow, &oldest, beside, stamps);
    C2_PROMISE(*stamp_of(shadow, gone) == oldest);
    (void)gone;
    shadow->horizon = oldest + 1;
    /* What goes next is mostly known; of a large footprint its stamp is far from the host's caches. */
    if (!beside)
        __builtin_prefetch(&stamps.word[shadow->log[(oldest + 16) & shadow->mask] * stamps.width]);
}

static __attribute__((noinline)) void lose_oldest_beside(struct cache_shadow *shadow)
{
    lose_oldest(shadow, true, (struct stamps){NULL, 0});
}

void cache_shadow_enter(struct cache_shadow *shadow, uint32_t slot)
{
    shadow_put(shadow, shadow->clock - 1, slot);
    if (shadow->live < shadow->capacity)
        shadow->live++;
    else if (C2_UNLIKELY(shadow->at == LINES_BESIDE))
        lose_oldest_beside(shadow);
    else
        lose_oldest(shadow, false, stamps_in_rows(shadow));
}

/* ------------------------------------------------------------------ new stamps */

static void forget_the_past(struct cache_shadow *shadow)
{
    uint32_t slots = shadow->stamps->groups << LINES_GROUP_SHIFT;
    for (uint32_t slot = 0; slot < slots; slot++) {
        uint32_t *stamp = stamp_of(shadow, slot);
        if (stamp && *stamp != 0 && *stamp != SHADOW_TAKEN && *stamp < shadow->horizon)
            *stamp = 1;
    }
}

/* Gives the live lines stamps from `first` on, in their order. first is the same place of the ring as the horizon, so
 * that what is put behind has been passed already. */
static inline __attribute__((always_inline)) void restamp(struct cache_shadow *shadow, uint32_t first,
                                                          const bool beside, const struct stamps stamps)
{
    uint32_t at = shadow->horizon;
    for (uint32_t i = 0; i < shadow->live; i++) {
        const uint32_t slot = take_oldest(shadow, &at, beside, stamps);
        shadow_put(shadow, first + i, slot);
        *(beside ? stamp_of(shadow, slot) : &stamps.word[slot * stamps.width]) = first + i;
        at++;
    }
    shadow->horizon = first;
    shadow->clock = first + shadow->live;
}

static void restamp_from(struct cache_shadow *shadow, uint32_t first)
{
    if (shadow->at == LINES_BESIDE)
        restamp(shadow, first, true, (struct stamps){NULL, 0});
    else
        restamp(shadow, first, false, stamps_in_rows(shadow));
}

/* Both ways `first` is beyond every stamp of the ring or below it, so that old and new ones are not mistaken. */
static void clean(struct cache_shadow *shadow)
{
    if (shadow->clock + shadow->live < last_clock(shadow)) {
        C2_ASSERT(shadow->clock - shadow->horizon == ring_of(shadow));
        restamp_from(shadow, shadow->clock);
    } else {
        forget_the_past(shadow);
        restamp_from(shadow, (shadow->horizon & shadow->mask) + ring_of(shadow));
    }
}

void cache_shadow_clean(struct cache_shadow *shadow)
{
    set_stop(shadow);
    if (shadow->clock < shadow->stop)
        return;
    clean(shadow);
    set_stop(shadow);
}

bool cache_shadow_holds(const struct cache_shadow *shadow, uint32_t stamp)
{
    C2_ASSERT(stamp == shadow->clock - 1 && stamp >= shadow->horizon);
    C2_ASSERT(shadow->live >= 1 && shadow->live <= shadow->capacity);
    C2_ASSERT(shadow->clock - shadow->horizon >= shadow->live && shadow->clock - shadow->horizon <= ring_of(shadow));
    return true;
}

void cache_shadow_check(const struct cache_shadow *shadow)
{
    uint32_t live = 0, used = 0, entries = 0;
    uint32_t slots = shadow->stamps->groups << LINES_GROUP_SHIFT;
    for (uint32_t slot = 0; slot < slots; slot++) {
        const uint32_t *stamp = stamp_of(shadow, slot);
        C2_ASSERT(!stamp || *stamp < shadow->clock);
        live += stamp && *stamp >= shadow->horizon;
    }
    C2_ASSERT(live == shadow->live && live <= shadow->capacity);
    C2_ASSERT(shadow->clock - shadow->horizon <= ring_of(shadow));
    for (uint32_t word = 0; word <= shadow->mask / WORD_BITS; word++)
        used += (uint32_t)__builtin_popcountll(shadow->used[word]);
    for (uint32_t at = shadow->horizon; at != shadow->clock; at++) {
        uint32_t place = at & shadow->mask;
        if (!(shadow->used[place / WORD_BITS] >> place % WORD_BITS & 1))
            continue;
        entries++;
        C2_ASSERT(shadow->gaps || *stamp_of(shadow, shadow->log[place]) >= at);
    }
    C2_ASSERT(shadow->gaps ? used >= live && entries >= live : used == live && entries == live);
}
