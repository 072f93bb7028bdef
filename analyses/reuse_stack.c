/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * reuse_stack: lines by how recently they were accessed, and how many lie before one.
 *
 * Model
 *   Time is a row of slots, one an access, with a bit each: set where a line was accessed last. So the lines accessed
 *   since are the bits set behind a line's slot. To count these the bits stand in words of 64, and a Fenwick tree has
 *   sums over the words that are full; the word that time stands in is counted by itself.
 *   When the slots are used up the lines get new ones in the same order, without gaps, and where these are more than
 *   half of all slots there are twice as many then.
 *   A line that is removed leaves a hole: its slot stays, and counts in the distance of older lines, as a cache that
 *   had the line has a place free there. An access to a line behind the youngest hole, or none that is there, fills it:
 *   the caches that end between the two had room for the line and evict nothing. Where the line was is a hole then, as
 *   the larger ones have their free place still. So a distance below n is still what a cache of n lines has.
 *
 * Price
 *   O(log M) an access, M lines ever accessed; an access of the youngest line is one comparison, one that comes back
 *   within a few hundred accesses counts some words. Renumbering is O(M), every M accesses at the earliest.
 *   Memory: 4 bytes for each line of the pages (64 lines) ever accessed, and 4.2 bytes a slot, at most four times as
 *   many as lines: bounded by what the program accesses, not by how long it runs.
 *
 * Invariants (reuse_stack_check)
 *   A bit is set for each line accessed, each hole, and for no other slot; a line's slot is behind those of all that
 *   were accessed before; the sums are those of the words.
 *
 * Source
 *   The stack is that of R. Mattson, J. Gecsei, D. Slutz and I. Traiger, "Evaluation techniques for storage
 *   hierarchies", IBM Systems Journal 9(2), 1970; a bit a time and a tree of sums that of J. Bennett and V. Kruskal,
 *   "LRU stack processing", IBM Journal of Research and Development 19(4), 1975; the tree is P. Fenwick's, Software:
 *   Practice and Experience 24(3), 1994.
 */
#include "analyses/reuse_stack_priv.h"

#include <string.h>

#define GROUP 64u /* lines that are found together */
#define WORD 64u  /* slots of a word */
#define FIRST_SLOTS C2_HOST_SIZE(4096u, 64u)
#define MOST_SLOTS (UINT32_C(1) << 31)
#define NEAR_WORDS 12u /* so many are counted sooner than the tree is asked */
#define RECENT C2_HOST_SIZE(1024u, 2u)
#define END_TAKEN UINT32_MAX /* of a line that was removed */
#define NO_LINE UINT32_MAX   /* of a slot that is a hole */

struct reuse_stack {
    struct c2_map *groups; /* line / GROUP -> its number */
    struct {
        uint64_t key;
        uint32_t group;
    } recent[RECENT]; /* key: line / GROUP + 1 */
    uint32_t *end_of; /* [group * GROUP + line % GROUP]: 1 + the line's slot; 0: none; END_TAKEN */
    uint32_t group_count, group_room;
    uint32_t *line_at; /* [slot]: index in end_of, NO_LINE */
    uint64_t *bits;
    uint32_t *sums;  /* [1 + word]: Fenwick's tree, of full words */
    uint32_t slots;  /* that there are */
    uint32_t now;    /* those used */
    uint32_t live;   /* lines that were accessed, and holes */
    uint32_t summed; /* bits in full words */
    uint32_t *holes; /* a heap of slots, the youngest first */
    uint32_t hole_count, hole_room;
};

/* ------------------------------------------------------------------ life */

static bool make_slots(struct reuse_stack *stack, uint32_t slots)
{
    uint32_t *line_at = c2_realloc(stack->line_at, slots * sizeof *line_at);
    if (line_at)
        stack->line_at = line_at;
    uint64_t *bits = c2_realloc(stack->bits, slots / WORD * sizeof *bits);
    if (bits)
        stack->bits = bits;
    uint32_t *sums = c2_realloc(stack->sums, (slots / WORD + 1) * sizeof *sums);
    if (sums)
        stack->sums = sums;
    if (!line_at || !bits || !sums)
        return false;
    stack->slots = slots;
    return true;
}

void reuse_stack_empty(struct reuse_stack *stack)
{
    memset(stack->end_of, 0, (size_t)stack->group_count * GROUP * sizeof *stack->end_of);
    memset(stack->bits, 0, stack->slots / WORD * sizeof *stack->bits);
    memset(stack->sums, 0, (stack->slots / WORD + 1) * sizeof *stack->sums);
    stack->now = stack->live = stack->summed = stack->hole_count = 0;
}

enum c2_status reuse_stack_create(struct reuse_stack **out, struct c2_error *err)
{
    struct reuse_stack *stack = *out = c2_calloc(1, sizeof *stack);
    if (!stack)
        return c2_fail_memory(err, "reuse distances");
    enum c2_status status = c2_map_create(&stack->groups, err);
    if (status == C2_OK && !make_slots(stack, FIRST_SLOTS))
        status = c2_fail_memory(err, "reuse distances");
    if (status == C2_OK) {
        memset(stack->bits, 0, stack->slots / WORD * sizeof *stack->bits);
        memset(stack->sums, 0, (stack->slots / WORD + 1) * sizeof *stack->sums);
        return C2_OK;
    }
    reuse_stack_destroy(stack);
    *out = NULL;
    return status;
}

void reuse_stack_destroy(struct reuse_stack *stack)
{
    if (!stack)
        return;
    c2_map_destroy(stack->groups);
    c2_free(stack->end_of);
    c2_free(stack->line_at);
    c2_free(stack->bits);
    c2_free(stack->sums);
    c2_free(stack->holes);
    c2_free(stack);
}

/* ------------------------------------------------------------------ lines */

static enum c2_status new_group(struct reuse_stack *stack, uint64_t key, uint64_t *group, struct c2_error *err)
{
    if (stack->group_count == stack->group_room) {
        const uint32_t room = stack->group_room * 2 + C2_HOST_SIZE(256u, 1u);
        uint32_t *end_of = room > MOST_SLOTS / GROUP ? NULL
                                                     : c2_realloc(stack->end_of, (size_t)room * GROUP * sizeof *end_of);
        if (!end_of)
            return c2_fail_memory(err, "reuse distances");
        stack->end_of = end_of;
        stack->group_room = room;
    }
    *group = stack->group_count;
    memset(&stack->end_of[*group * GROUP], 0, GROUP * sizeof *stack->end_of);
    enum c2_status status = c2_map_put(stack->groups, key, *group, err);
    stack->group_count += status == C2_OK;
    return status;
}

/* The index of the line in end_of. */
static enum c2_status reuse_stack_find(struct reuse_stack *stack, uint64_t line, uint32_t *index, struct c2_error *err)
{
    const uint64_t key = line / GROUP;
    const uint32_t offset = line % GROUP;
    uint64_t group;
    if (SHORTCUT(stack->recent[key % RECENT].key == key + 1)) {
        *index = stack->recent[key % RECENT].group * GROUP + offset;
        return C2_OK;
    }
    enum c2_status status = c2_map_get(stack->groups, key, &group) ? C2_OK : new_group(stack, key, &group, err);
    if (status != C2_OK)
        return status;
    stack->recent[key % RECENT].key = key + 1;
    stack->recent[key % RECENT].group = (uint32_t)group;
    *index = (uint32_t)group * GROUP + offset;
    return C2_OK;
}

/* ------------------------------------------------------------------ counting */

static uint32_t ones(uint64_t word) { return (uint32_t)__builtin_popcountll(word); }

/* `more` is added modulo 2^32. */
static void reuse_stack_add(struct reuse_stack *stack, uint32_t word, uint32_t more)
{
    for (uint32_t i = word + 1; i <= stack->slots / WORD; i += i & -i)
        stack->sums[i] += more;
}

/* Of the words up to this one, which is full. */
static uint32_t sum_to(const struct reuse_stack *stack, uint32_t word)
{
    uint32_t sum = 0;
    for (uint32_t i = word + 1; i != 0; i &= i - 1)
        sum += stack->sums[i];
    return sum;
}

static uint32_t count_behind(const struct reuse_stack *stack, uint32_t slot)
{
    const uint32_t word = slot / WORD, last = stack->now / WORD;
    uint32_t count = ones(stack->bits[word] >> slot % WORD >> 1);
    const uint32_t open = stack->now % WORD != 0 && last != word ? ones(stack->bits[last]) : 0;
    if (last != word && !SHORTCUT(last - word <= NEAR_WORDS))
        return count + stack->summed - sum_to(stack, word) + open;
    for (uint32_t i = word + 1; i < last; i++)
        count += ones(stack->bits[i]);
    return count + open;
}

/* ------------------------------------------------------------------ time */

static void reuse_stack_set(struct reuse_stack *stack, uint32_t index)
{
    const uint32_t slot = stack->now++;
    stack->bits[slot / WORD] |= (uint64_t)1 << slot % WORD;
    stack->line_at[slot] = index;
    if (C2_LIKELY(index != NO_LINE))
        stack->end_of[index] = stack->now;
    if (stack->now % WORD != 0)
        return;
    const uint32_t full = ones(stack->bits[slot / WORD]);
    reuse_stack_add(stack, slot / WORD, full);
    stack->summed += full;
}

static void reuse_stack_clear(struct reuse_stack *stack, uint32_t slot)
{
    stack->bits[slot / WORD] &= ~((uint64_t)1 << slot % WORD);
    if (slot / WORD == stack->now / WORD)
        return;
    reuse_stack_add(stack, slot / WORD, UINT32_MAX);
    stack->summed--;
}

/* Lines get the first slots, in their order. */
static enum c2_status renumber(struct reuse_stack *stack, struct c2_error *err)
{
    uint32_t to = 0;
    for (uint32_t word = 0; word < stack->slots / WORD; word++)
        for (uint64_t rest = stack->bits[word]; rest != 0; rest &= rest - 1)
            stack->line_at[to++] = stack->line_at[word * WORD + (uint32_t)__builtin_ctzll(rest)];
    C2_ASSERT(to == stack->live - 1); /* all but the line that is accessed now */
    if (to > stack->slots / 2 && (stack->slots >= MOST_SLOTS || !make_slots(stack, stack->slots * 2)))
        return c2_fail_memory(err, "reuse distances");
    memset(stack->bits, 0, stack->slots / WORD * sizeof *stack->bits);
    memset(stack->sums, 0, (stack->slots / WORD + 1) * sizeof *stack->sums);
    stack->now = stack->summed = 0;
    for (uint32_t i = 0, hole = stack->hole_count; i < to; i++) {
        if (stack->line_at[i] == NO_LINE)
            stack->holes[--hole] = i; /* descending: that is a heap */
        reuse_stack_set(stack, stack->line_at[i]);
    }
    return C2_OK;
}

/* ------------------------------------------------------------------ holes */

static enum c2_status add_hole(struct reuse_stack *stack, uint32_t slot, struct c2_error *err)
{
    if (!c2_grow((void **)&stack->holes, &stack->hole_room, stack->hole_count, sizeof *stack->holes))
        return c2_fail_memory(err, "reuse distances");
    uint32_t at = stack->hole_count++;
    for (; at != 0 && stack->holes[(at - 1) / 2] < slot; at = (at - 1) / 2)
        stack->holes[at] = stack->holes[(at - 1) / 2];
    stack->holes[at] = slot;
    stack->line_at[slot] = NO_LINE;
    return C2_OK;
}

/* The youngest one is filled. */
static void fill_hole(struct reuse_stack *stack)
{
    uint32_t *holes = stack->holes, at = 0;
    reuse_stack_clear(stack, holes[0]);
    const uint32_t last = holes[--stack->hole_count], count = stack->hole_count;
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && holes[child + 1] > holes[child];
        if (holes[child] <= last)
            break;
        holes[at] = holes[child];
    }
    holes[at] = last;
}

/* A line that stood at `end`, or nowhere, becomes the youngest: what was there is free, or a hole. */
static enum c2_status reuse_stack_leave(struct reuse_stack *stack, uint32_t end, struct c2_error *err)
{
    const bool fills = stack->hole_count != 0 && (end == 0 || stack->holes[0] > end - 1);
    if (fills)
        fill_hole(stack);
    else if (end == 0)
        stack->live++;
    if (end == 0)
        return C2_OK;
    if (fills)
        return add_hole(stack, end - 1, err);
    reuse_stack_clear(stack, end - 1);
    return C2_OK;
}

enum c2_status reuse_stack_remove(struct reuse_stack *stack, uint64_t line, struct c2_error *err)
{
    uint64_t group;
    if (!c2_map_get(stack->groups, line / GROUP, &group))
        return C2_OK;
    uint32_t *end = &stack->end_of[group * GROUP + line % GROUP];
    if (*end == 0 || *end == END_TAKEN)
        return C2_OK;
    enum c2_status status = add_hole(stack, *end - 1, err);
    *end = END_TAKEN;
    return status;
}

/* ------------------------------------------------------------------ an access */

enum c2_status reuse_stack_access(struct reuse_stack *stack, uint64_t line, uint64_t *distance, struct c2_error *err)
{
    uint32_t index = 0;
    enum c2_status status = reuse_stack_find(stack, line, &index, err);
    if (status != C2_OK)
        return status;
    const uint32_t end = stack->end_of[index];
    const bool absent = end == 0 || end == END_TAKEN;
    *distance = 0;
    if (SHORTCUT(end == stack->now && end != 0))
        return C2_OK;
    *distance = end == 0 ? REUSE_COLD : absent ? REUSE_TAKEN : count_behind(stack, end - 1);
    status = reuse_stack_leave(stack, absent ? 0 : end, err);
    if (status == C2_OK && stack->now == stack->slots)
        status = renumber(stack, err);
    if (status == C2_OK)
        reuse_stack_set(stack, index);
    return status;
}

/* ------------------------------------------------------------------ invariants */

void reuse_stack_check(const struct reuse_stack *stack)
{
    uint32_t bits = 0, lines = 0, summed = 0;
    for (uint32_t word = 0; word < stack->slots / WORD; word++) {
        bits += ones(stack->bits[word]);
        C2_ASSERT(word < stack->now / WORD ? sum_to(stack, word) == bits : true);
        summed = word < stack->now / WORD ? bits : summed;
    }
    for (uint32_t i = 0; i < stack->group_count * GROUP; i++) {
        const uint32_t slot = stack->end_of[i] - 1;
        const bool there = stack->end_of[i] != 0 && stack->end_of[i] != END_TAKEN;
        lines += there;
        C2_ASSERT(!there || stack->line_at[slot] == i);
        C2_ASSERT(!there || (stack->bits[slot / WORD] >> slot % WORD & 1) != 0);
    }
    for (uint32_t i = 0; i < stack->hole_count; i++) {
        const uint32_t slot = stack->holes[i];
        C2_ASSERT(stack->line_at[slot] == NO_LINE && (stack->bits[slot / WORD] >> slot % WORD & 1) != 0);
        C2_ASSERT(i == 0 || slot < stack->holes[(i - 1) / 2]);
    }
    C2_ASSERT(bits == lines + stack->hole_count && bits == stack->live && summed == stack->summed);
}
