/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * lanes: several lanes that eat one stream.
 *
 * Model
 *   Each batch goes to one lane after the other: analyses of a later one may go back to those of the first.
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
#include "lanes/lanes.h"

struct lanes {
    struct lane *list[LANES_MAX];
    unsigned count;
};

static enum c2_status make(struct lanes *lanes, const struct lane_config *config, const struct mmu_config *placements,
                           unsigned count, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (unsigned i = 0; i < count && status == C2_OK; i++) {
        struct lane_config mine = *config;
        mine.placement = placements[i];
        mine.first = i == 0 ? NULL : lane_analyses(lanes->list[0]);
        status = lane_create(&lanes->list[i], &mine, err);
        lanes->count += status == C2_OK;
    }
    return status;
}

enum c2_status lanes_create(struct lanes **out, const struct lane_config *config, const struct mmu_config *placements,
                            unsigned count, struct c2_error *err)
{
    *out = NULL;
    struct lanes *lanes = c2_calloc(1, sizeof *lanes);
    if (!lanes)
        return c2_fail_memory(err, "the lanes");
    enum c2_status status = make(lanes, config, placements, count, err);
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
    for (unsigned i = lanes->count; i-- > 0;)
        lane_destroy(lanes->list[i]);
    c2_free(lanes);
}

/* Of several lanes it is said which one has failed. */
static enum c2_status consume_one(struct lanes *lanes, unsigned i, const struct stream_batch *batch,
                                  struct c2_error *err)
{
    char text[MMU_PLACEMENT_TEXT];
    struct c2_error why;
    if (lanes->count == 1)
        return lane_consume(lanes->list[i], batch, err);
    enum c2_status status = lane_consume(lanes->list[i], batch, &why);
    if (status == C2_OK)
        return C2_OK;
    return c2_fail(err, status, "%s: %s",
                   mmu_placement_text(text, sizeof text, mmu_replica_config(lane_memory(lanes->list[i]))), why.text);
}

static enum c2_status consume(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct lanes *lanes = self;
    enum c2_status status = C2_OK;
    for (unsigned i = 0; i < lanes->count && status == C2_OK; i++)
        status = consume_one(lanes, i, batch, err);
    return status;
}

static enum c2_status drain(void *self, struct c2_error *err)
{
    (void)self, (void)err;
    return C2_OK;
}

struct stream_sink lanes_sink(struct lanes *lanes) { return (struct stream_sink){lanes, consume, drain}; }

uint64_t lanes_certain(void *self)
{
    const struct lanes *lanes = self;
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < lanes->count; i++) {
        const uint64_t certain = mmu_replica_certain(lane_memory(lanes->list[i]));
        least = certain < least ? certain : least;
    }
    return least;
}

enum c2_status lanes_finish(struct lanes *lanes, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (unsigned i = 0; i < lanes->count && status == C2_OK; i++)
        status = lane_finish(lanes->list[i], err);
    return status;
}

const struct lane *lanes_at(const struct lanes *lanes, unsigned i)
{
    C2_ASSERT(i < lanes->count);
    return lanes->list[i];
}
