/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * share: lanes that follow another one, as their machines are alike as far as the first levels (sim/share.c).
 *
 * Model
 *   Lanes that share first levels follow the one of them whose inclusive levels have the most room, or that has none:
 *   so the leader is the last to take a line from them, by which all would have to depart. A follower is in no group:
 *   its leader gives it what it needs. One that departs has no results. Those are made anew when the others are
 *   finished, as groups of their own, and get all of the stream once more: so lanes share only where the stream can be
 *   had again. Or all followers are made anew while the stream goes on, get what has been of it, and are fed like any
 *   other from there on.
 *
 * Invariants
 *   A lane's results are those that it has alone, whether it has followed, or has begun again.
 */
#include "lanes/lanes_priv.h"

/* Bytes of the smallest inclusive level: what is used beyond them takes lines from the first levels. */
static uint64_t share_room_of(const struct lanes_member *member)
{
    const struct caches_machine *machine = member->config.machine;
    uint64_t room = UINT64_MAX;
    for (uint32_t i = 1; machine && i < machine->level_count; i++)
        if (machine->levels[i].inclusion == CACHES_INCLUSIVE && machine->levels[i].size_bytes < room)
            room = machine->levels[i].size_bytes;
    return room;
}

static bool share_may(const struct lanes *lanes, unsigned i, unsigned leader)
{
    const struct lanes_member *member = &lanes->list[i], *other = &lanes->list[leader];
    return member->config.shares && !member->config.compared && !other->config.compared &&
           lane_can_follow(member->lane, other->lane);
}

/* The first of the leaders so far that it may follow; itself: there is none. */
static unsigned share_find_leader(const struct lanes *lanes, const unsigned *order, unsigned count, unsigned i)
{
    for (unsigned k = 0; k < count; k++) {
        const unsigned j = order[k];
        if (lanes->list[j].leader == j && lanes->list[j].followers < SIM_FOLLOWERS && share_may(lanes, i, j))
            return j;
    }
    return i;
}

/* Before others come those with more room, and of these the first. */
static unsigned share_place_of(const struct lanes *lanes, unsigned i)
{
    unsigned place = 0;
    for (unsigned j = 0; j < lanes->count; j++) {
        const uint64_t room = share_room_of(&lanes->list[j]), mine = share_room_of(&lanes->list[i]);
        place += room > mine || (room == mine && j < i);
    }
    return place;
}

static void share_find_leaders(struct lanes *lanes, unsigned *order)
{
    for (unsigned i = 0; i < lanes->count; i++)
        order[share_place_of(lanes, i)] = i;
    for (unsigned k = 0; k < lanes->count; k++) {
        const unsigned leader = share_find_leader(lanes, order, k, order[k]);
        lanes->list[order[k]].leader = leader;
        lanes->list[leader].followers += leader != order[k];
    }
}

/* The groups that are left, in order. */
static void share_leave_groups(struct lanes *lanes)
{
    unsigned left = 0;
    for (unsigned i = 0; i < lanes->group_count; i++)
        if (lanes->list[lanes->groups[i].first].leader == lanes->groups[i].first)
            lanes->groups[left++] = lanes->groups[i];
    lanes->group_count = left;
}

static enum c2_status share_begin(struct lanes *lanes, unsigned leader, unsigned threads, struct c2_error *err)
{
    struct sim *followers[SIM_FOLLOWERS];
    enum c2_status status = C2_OK;
    uint32_t count = 0;
    for (unsigned i = 0; i < lanes->count && status == C2_OK; i++) {
        if (i == leader || lanes->list[i].leader != leader)
            continue;
        status = lane_follow(lanes->list[i].lane, lanes->list[leader].lane, err);
        followers[count++] = lane_simulator(lanes->list[i].lane);
    }
    if (status != C2_OK || count == 0)
        return status;
    return sim_share(lane_simulator(lanes->list[leader].lane), followers, count, threads, err);
}

unsigned lanes_follower_count(const struct lanes *lanes)
{
    unsigned count = 0;
    for (unsigned i = 0; i < lanes->count; i++)
        count += lanes->list[i].leader != i;
    return count;
}

static void share_nothing(struct lanes *lanes)
{
    for (unsigned i = 0; i < lanes->count; i++) {
        lanes->list[i].leader = i;
        lanes->list[i].followers = 0;
    }
}

enum c2_status lanes_share(struct lanes *lanes, unsigned least, unsigned threads, struct c2_error *err)
{
    unsigned *order = c2_calloc(lanes->count, sizeof *order);
    enum c2_status status = C2_OK;
    if (!order)
        return c2_fail_memory(err, "machines that share");
    share_find_leaders(lanes, order);
    c2_free(order);
    if (lanes_follower_count(lanes) < least)
        share_nothing(lanes);
    share_leave_groups(lanes);
    /* a thread each for the groups, and what is left for those that follow; one if there are two at all */
    const unsigned rest = threads > lanes->group_count ? threads - lanes->group_count : threads > 1;
    for (unsigned i = 0; i < lanes->group_count && status == C2_OK; i++)
        status = share_begin(lanes, lanes->groups[i].first, rest, err);
    return status;
}

void lanes_share_end(struct lanes *lanes)
{
    for (unsigned i = 0; i < lanes->count; i++)
        if (lanes->list[i].lane && lane_sim(lanes->list[i].lane))
            sim_share_end(lane_simulator(lanes->list[i].lane));
}

bool lanes_has_departed(const struct lanes *lanes, unsigned i)
{
    return lanes->list[i].leader != i && sim_departed(lane_sim(lanes->list[i].lane));
}

unsigned lanes_departed(const struct lanes *lanes)
{
    unsigned count = 0;
    for (unsigned i = 0; i < lanes->count; i++)
        count += lanes_has_departed(lanes, i);
    return count;
}

/* A lane of its own, that has got nothing so far. */
static enum c2_status share_make_anew(struct lanes *lanes, unsigned i, struct c2_error *err)
{
    struct lanes_member *member = &lanes->list[i];
    lane_destroy(member->lane);
    member->leader = i;
    enum c2_status status = lane_create(&member->lane, &member->config, err);
    lanes->groups[lanes->group_count++] = (struct lanes_group){lanes, i, 1, 0};
    return status;
}

enum c2_status lanes_begin_again(struct lanes *lanes, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    lanes->group_count = 0;
    lanes->begun_again = true;
    for (unsigned i = 0; i < lanes->count && status == C2_OK; i++) {
        struct lanes_member *member = &lanes->list[i];
        if (!lanes_has_departed(lanes, i))
            continue;
        member->again = true;
        status = share_make_anew(lanes, i, err);
    }
    return status;
}

/* ------------------------------------------------------------------ while a stream goes on */

enum c2_status lanes_look(struct lanes *lanes, unsigned *departed, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (unsigned i = 0; i < lanes->count && status == C2_OK; i++)
        if (lanes->list[i].followers != 0)
            status = sim_share_look(lane_simulator(lanes->list[i].lane), err);
    *departed = lanes_departed(lanes);
    return status;
}

bool lanes_unplaced(const struct lanes *lanes)
{
    bool unplaced = false;
    for (unsigned i = 0; i < lanes->count; i++)
        unplaced |= lanes->list[i].leader != i && sim_unplaced(lane_sim(lanes->list[i].lane));
    return unplaced;
}

/* One that has failed is good for destroy alone, and its followers are no longer its own. */
static enum c2_status share_leave(struct lanes_member *leader, struct c2_error *err)
{
    struct sim *sim = lane_simulator(leader->lane);
    leader->followers = 0;
    if (!leader->failed)
        return sim_share_leave(sim, leader->config.apart, err);
    sim_share_end(sim);
    return C2_OK;
}

enum c2_status lanes_part(struct lanes *lanes, struct c2_error *err)
{
    C2_ASSERT(!lanes_compare(lanes) && !lanes->begun_again);
    enum c2_status status = C2_OK;
    for (unsigned i = 0; i < lanes->count && status == C2_OK; i++)
        if (lanes->list[i].followers != 0)
            status = share_leave(&lanes->list[i], err);
    lanes->group_count = 0;
    for (unsigned i = 0; i < lanes->count && status == C2_OK; i++)
        if (lanes->list[i].leader != i)
            status = share_make_anew(lanes, i, err);
    return status;
}

void lanes_rejoin(struct lanes *lanes)
{
    for (unsigned i = 0; i < lanes->count; i++)
        lanes->groups[i] = (struct lanes_group){lanes, i, 1, 0};
    lanes->group_count = lanes->count;
}
