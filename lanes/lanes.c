/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * lanes: several lanes that eat one stream.
 *
 * Model
 *   Lanes are in groups: a lane, and behind it those that are compared with it access by access. A group is a sink of
 *   its own, which gives each batch to one lane after the other: analyses of a later one may go back to those of the
 *   first. Groups know nothing of each other, so that each can be fed by a host thread of its own, at its own pace.
 *   Lanes whose machines have much in common can be one group's as well (share.c).
 *   What makes the lanes comparable with runs of their own:
 *     the guest's memory has small pages only, so each page of 4 KiB is marked when it is touched first. A lane that
 *     has the page already, in a huge one, takes no notice. If a lane has the zero page, each page's first write is
 *     marked as well;
 *     nothing that the guest can see depends on a placement. Addresses are chosen by what is mapped. The heap's start
 *     and steps and the limit of a break's growth are the largest that any lane needs: a run of its own that is to be
 *     compared with a lane needs the same two.
 * Invariants
 *   The lanes' simulators number their line accesses alike (struct sim_miss).
 */
#include "lanes/lanes_priv.h"

#define WATCHED 16u /* batches */

static enum c2_status make_lane(struct lanes *lanes, const struct lane_config *config, struct c2_error *err)
{
    struct lane_config mine = *config;
    struct lanes_group *last = &lanes->groups[lanes->group_count];
    if (config->compared)
        last--;
    else
        *last = (struct lanes_group){lanes, lanes->count, 0, 0};
    mine.first = config->compared ? lane_analyses(lanes->list[last->first].lane) : NULL;
    struct lanes_member *member = &lanes->list[lanes->count];
    *member = (struct lanes_member){.config = mine, .leader = lanes->count};
    enum c2_status status = lane_create(&member->lane, &mine, err);
    if (status != C2_OK)
        return status;
    lanes->count++;
    lanes->group_count += config->compared ? 0 : 1;
    last->count++;
    return C2_OK;
}

static enum c2_status lanes_make(struct lanes *lanes, const struct lane_config *configs, unsigned count,
                                 struct c2_error *err)
{
    C2_ASSERT(count > 0 && !configs[0].compared);
    lanes->list = c2_calloc(count, sizeof *lanes->list);
    lanes->groups = c2_calloc(count, sizeof *lanes->groups);
    if (!lanes->list || !lanes->groups)
        return c2_fail_memory(err, "the lanes");
    enum c2_status status = C2_OK;
    for (unsigned i = 0; i < count && status == C2_OK; i++) {
        const uint64_t before = lanes_memory_used();
        status = make_lane(lanes, &configs[i], err);
        if (status == C2_OK && i == 0 && count > 1)
            status = lanes_check_memory(lanes_memory_used() - before, count - 1, err);
    }
    return status;
}

enum c2_status lanes_create(struct lanes **out, const struct lane_config *configs, unsigned count, struct c2_error *err)
{
    *out = NULL;
    struct lanes *lanes = c2_calloc(1, sizeof *lanes);
    if (!lanes)
        return c2_fail_memory(err, "the lanes");
    enum c2_status status = lanes_make(lanes, configs, count, err);
    if (status != C2_OK) {
        lanes_destroy(lanes);
        return status;
    }
    *out = lanes;
    return C2_OK;
}

void lanes_destroy(struct lanes *lanes)
{
    if (!lanes)
        return;
    lanes_share_end(lanes);
    for (unsigned i = lanes->count; i-- > 0;) /* none needs its leader any more */
        lane_destroy(lanes->list[i].lane);
    c2_free(lanes->list);
    c2_free(lanes->groups);
    c2_free(lanes);
}

/* Of several lanes it is said which one has failed. */
static enum c2_status consume_one(struct lanes *lanes, unsigned i, const struct stream_batch *batch,
                                  struct c2_error *err)
{
    char text[MMU_PLACEMENT_TEXT];
    struct c2_error why;
    if (lanes->count == 1)
        return lane_consume(lanes->list[i].lane, batch, err);
    enum c2_status status = lane_consume(lanes->list[i].lane, batch, &why);
    if (status == C2_OK)
        return C2_OK;
    lanes->list[i].failed = true;
    const char *name = lanes->list[i].config.name;
    if (!name)
        name = mmu_placement_text(text, sizeof text, mmu_replica_config(lane_memory(lanes->list[i].lane)));
    return c2_fail(err, status, "%s: %s", name, why.text);
}

static enum c2_status lanes_consume(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct lanes_group *group = self;
    enum c2_status status = C2_OK;
    if (group->batches++ % WATCHED == 0)
        status = lanes_watch_memory(group->lanes->count, err);
    for (unsigned i = 0; i < group->count && status == C2_OK; i++)
        status = consume_one(group->lanes, group->first + i, batch, err);
    return status;
}

static enum c2_status lanes_drain(void *self, struct c2_error *err)
{
    (void)self, (void)err;
    return C2_OK;
}

unsigned lanes_group_count(const struct lanes *lanes) { return lanes->group_count; }

struct stream_sink lanes_sink(struct lanes *lanes, unsigned group)
{
    C2_ASSERT(group < lanes->group_count);
    return (struct stream_sink){&lanes->groups[group], lanes_consume, lanes_drain};
}

uint64_t lanes_guaranteed(void *self)
{
    const struct lanes *lanes = self;
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < lanes->count; i++) {
        const uint64_t guaranteed = mmu_replica_guaranteed(lane_memory(lanes->list[i].lane));
        least = guaranteed < least ? guaranteed : least;
    }
    return least;
}

static enum c2_status finish_one(struct lanes *lanes, unsigned i, struct c2_error *err)
{
    const struct lanes_member *member = &lanes->list[i];
    const bool fed = member->again == lanes->begun_again && !lanes_has_departed(lanes, i);
    return fed ? lane_finish(member->lane, err) : C2_OK;
}

/* Those that follow another one behind all others. */
enum c2_status lanes_finish(struct lanes *lanes, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (unsigned i = 0; i < lanes->count && status == C2_OK; i++)
        if (lanes->list[i].leader == i)
            status = finish_one(lanes, i, err);
    for (unsigned i = 0; i < lanes->count && status == C2_OK; i++)
        if (lanes->list[i].leader != i)
            status = finish_one(lanes, i, err);
    lanes_share_end(lanes);
    return status;
}

struct loader_symbols *lanes_retire(struct lanes *lanes)
{
    struct lane *first = lanes->list[0].lane;
    return first ? lane_retire(first) : NULL; /* one that could not be made anew is none */
}

const struct lane *lanes_at(const struct lanes *lanes, unsigned i)
{
    C2_ASSERT(i < lanes->count);
    return lanes->list[i].lane;
}

unsigned lanes_count(const struct lanes *lanes) { return lanes->count; }

unsigned lanes_failed(const struct lanes *lanes)
{
    unsigned i = 0;
    while (i < lanes->count && !lanes->list[i].failed)
        i++;
    return i;
}

bool lanes_compare(const struct lanes *lanes)
{
    bool compare = false;
    for (unsigned i = 0; i < lanes->count; i++)
        compare |= lanes->list[i].config.compared;
    return compare;
}

const char *lanes_name(const struct lanes *lanes, unsigned i)
{
    C2_ASSERT(i < lanes->count);
    return lanes->list[i].config.name;
}
