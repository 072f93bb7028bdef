/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * fuse: loops that go through one object one after the other, and each time fetch it again.
 *
 * Model
 *   A loop walks through an object once, in order, all of each line is used, and most of what it misses is capacity:
 *   another loop has accessed the lines before, and the object does not fit. Where that loop is of the same function,
 *   in the same loop around both, or in none, and walks through the object once as well, the two in one would find each
 *   line in the first level the second time. Of several loops it is the one whose code comes last before; where all are
 *   in a loop and none comes before, the last one of the round before. Where other functions miss lines of the object
 *   too, what they do may lie between the two, and there is no such finding. Nor where one of the two goes in order
 *   within a row, and from row to row in none, as over the edges of a graph.
 *   What that spares are the capacity misses of all levels.
 *
 * Not modelled
 *   Whether the second loop needs what the first one makes further on. Loops of two functions.
 */
#include "findings/findings_priv.h"

#define WALKED 0.75 /* of the object, at least: by the other loop */
#define OTHERS 100u /* one part of the group's cost: what is less is no use of the object that matters */

static const struct analyses_loop *loops_of(const struct findings_input *input) { return input->excerpts->loops.loops; }

/* The loop, or the one around it, whose parent is this; NO_LOOP: none has. */
static uint32_t child_of(const struct findings_input *input, uint32_t loop, uint32_t parent)
{
    while (loop != ANALYSES_NO_LOOP && loops_of(input)[loop].parent != parent)
        loop = loops_of(input)[loop].parent;
    return loop;
}

static uint64_t function_of_loop(const struct findings_input *input, uint32_t loop)
{
    struct guest_va entry = {0};
    if (input->symbols)
        loader_function_entry(input->symbols, loops_of(input)[loop].header, &entry);
    return entry.v;
}

/* The two loops, or those around them, that come one after the other; passes: of the first, through the object. */
struct pair {
    uint32_t loop, with;
    double passes;
};

/* Whether all loops of a walk, from the innermost one to this, go on by steps that are known. */
static bool goes_in_order(const struct findings_input *input, const struct group *group, uint32_t loop)
{
    uint32_t own = group->loop;
    int64_t step;
    for (unsigned depth = 0; depth < EXCERPTS_DEPTH && own != ANALYSES_NO_LOOP; depth++) {
        if (!group->access || !findings_step(group->access, depth, &step))
            return false;
        if (own == loop)
            return true;
        own = loops_of(input)[own].parent;
    }
    return true;
}

static bool follow_each_other(struct pair *out, const struct findings_input *input, uint32_t loop, uint32_t with)
{
    const uint64_t function = function_of_loop(input, loop);
    if (function == 0 || function != function_of_loop(input, with))
        return false;
    for (uint32_t own = loop; own != ANALYSES_NO_LOOP; own = loops_of(input)[own].parent) {
        const uint32_t other = child_of(input, with, loops_of(input)[own].parent);
        if (other == own) /* one is in the other, or both are in this one already */
            return false;
        if (other == ANALYSES_NO_LOOP)
            continue;
        *out = (struct pair){own, other, 0};
        return true;
    }
    return false;
}

/* Whether the pair is to be named rather than the best one so far. */
static bool is_nearer(const struct findings_input *input, const struct pair *pair, const struct pair *best)
{
    const struct analyses_loop *loops = loops_of(input);
    if (best->with == ANALYSES_NO_LOOP)
        return true;
    const bool before = loops[pair->with].header.v < loops[pair->loop].header.v;
    const bool best_before = loops[best->with].header.v < loops[best->loop].header.v;
    return before != best_before ? before : loops[pair->with].header.v > loops[best->with].header.v;
}

/* Whether code outside of the function's loops does something with the object, too. */
static bool has_other_users(const struct findings_input *input, const struct groups *groups, const struct group *group)
{
    const uint64_t function = function_of_loop(input, group->loop), cost = findings_cost_sum(&group->cost);
    for (uint32_t i = 0; i < groups->count; i++) {
        const struct group *other = &groups->list[i];
        const bool elsewhere = other->loop == ANALYSES_NO_LOOP || function_of_loop(input, other->loop) != function;
        if (other->object == group->object && elsewhere && findings_cost_sum(&other->cost) >= cost / OTHERS)
            return true;
    }
    return false;
}

/* Of the loops that come before, or in a loop around both behind, the nearest one. */
static struct pair find_pair(const struct findings_input *input, const struct groups *groups, const struct group *group)
{
    const struct analyses_loop *loops = loops_of(input);
    struct pair best = {ANALYSES_NO_LOOP, ANALYSES_NO_LOOP, 0}, pair;
    for (uint32_t i = 0; i < groups->count; i++) {
        const struct group *other = &groups->list[i];
        if (other->object != group->object || other->loop == ANALYSES_NO_LOOP || other->loop == group->loop ||
            !follow_each_other(&pair, input, group->loop, other->loop) || !goes_in_order(input, group, pair.loop) ||
            !goes_in_order(input, other, pair.with))
            continue;
        const bool in_turn = loops[pair.loop].parent != ANALYSES_NO_LOOP;
        pair.passes = findings_passes(input, other);
        if ((in_turn || loops[pair.with].header.v < loops[pair.loop].header.v) && is_nearer(input, &pair, &best))
            best = pair;
    }
    return best;
}

void findings_fuse(struct finding *finding, const struct findings_input *input, const struct groups *groups,
                   const struct group *group)
{
    if (finding->pattern != FINDINGS_STREAMING || finding->passes == 0 || group->loop == ANALYSES_NO_LOOP ||
        finding->caller != FINDINGS_NOBODY || group->cost.capacity <= group->cost.cold ||
        has_other_users(input, groups, group))
        return;
    const struct pair pair = find_pair(input, groups, group);
    if (pair.with == ANALYSES_NO_LOOP || pair.passes < WALKED || pair.passes > FINDINGS_ONE_WALK)
        return;
    finding->pattern = FINDINGS_CAPACITY;
    finding->fuse = pair.loop;
    finding->fuse_with = pair.with;
    finding->around = loops_of(input)[pair.loop].parent;
    finding->function.v = function_of_loop(input, pair.loop);
    finding->level = findings_dearest_level(group);
    finding->gain = group->cost.capacity;
}
