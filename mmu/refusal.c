/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Why a replica cannot go on: what is lacking, and what to change.
 */
#include <inttypes.h>

#include "mmu/replica_priv.h"

static const char more_memory[] = "give the machine more with --set machine.physical_memory=SIZE";

enum c2_status refuse_frames(const struct mmu_replica *replica, uint64_t va, struct c2_error *err)
{
    char size[32], kept[64] = "";
    if (frames_idle(replica->space.frames) > 0)
        snprintf(kept, sizeof kept, ", kept for a page map %llu",
                 (unsigned long long)frames_idle(replica->space.frames));
    return c2_fail(err, C2_ERR_EXHAUSTED,
                   "physical memory (%s) is exhausted at the first touch of page 0x%llx: frames of "
                   "pages %llu, of page tables %llu%s; %s",
                   c2_size_text(size, replica->config.physical_bytes), (unsigned long long)va,
                   (unsigned long long)(frames_taken(replica->space.frames) - replica->space.counts.table_pages),
                   (unsigned long long)replica->space.counts.table_pages, kept, more_memory);
}

static enum c2_status refuse_color(const struct mmu_replica *replica, size_t by, uint64_t va, struct c2_error *err)
{
    C2_ASSERT(frames_policy(replica->space.frames, by)->colors != 0);
    char size[32], rule[MMU_PATH_BYTES];
    const struct mmu_config *policy = frames_policy(replica->space.frames, by);
    bool colored = policy->placement == MMU_COLORED;
    unsigned color = colored ? (unsigned)((va >> C2_PAGE_SHIFT) % policy->colors) : policy->color;
    return c2_fail(err, C2_ERR_EXHAUSTED,
                   "the frames of colour %u of %u in physical memory (%s) are exhausted at the first "
                   "touch of page 0x%llx%s; %s",
                   color, policy->colors, c2_size_text(size, replica->config.physical_bytes), (unsigned long long)va,
                   rules_phrase(rule, sizeof rule, &replica->config, by), more_memory);
}

struct owner_search {
    uint64_t frame, va;
    bool found;
};

static uint64_t match_owner(void *self, uint64_t va, uint64_t entry)
{
    struct owner_search *search = self;
    if (entry_frame(entry) == search->frame) {
        search->va = va;
        search->found = true;
    }
    return entry;
}

static enum c2_status refuse_clash(const struct mmu_replica *replica, size_t by, uint64_t va, uint64_t frame,
                                   struct c2_error *err)
{
    C2_ASSERT(frame < frames_total(replica->space.frames));
    struct owner_search search = {.frame = frame};
    tables_visit(replica->space.tables, 0, MMU_ADDRESSES_END, match_owner, &search);
    char size[32], owner[48] = "a page table", rule[MMU_PATH_BYTES];
    if (replica->has_zero_frame && frame == replica->zero_frame)
        snprintf(owner, sizeof owner, "the zero page");
    else if (search.found)
        snprintf(owner, sizeof owner, "page 0x%llx", (unsigned long long)search.va);
    else if (frames_is_kept(replica->space.frames, frame))
        snprintf(owner, sizeof owner, "a page map");
    return c2_fail(err, C2_ERR_EXHAUSTED,
                   "identity placement%s: page 0x%llx needs the physical page 0x%llx (its address "
                   "modulo %s), which %s holds already; %s, or use %s sequential",
                   rules_phrase(rule, sizeof rule, &replica->config, by), (unsigned long long)va,
                   (unsigned long long)(frame << C2_PAGE_SHIFT), c2_size_text(size, replica->config.physical_bytes),
                   owner, more_memory, by == 0 ? "--pages" : "a rule with");
}

static enum c2_status refuse_map(const struct mmu_replica *replica, size_t by, enum frames_answer answer, uint64_t va,
                                 uint64_t frame, struct c2_error *err)
{
    C2_ASSERT(answer == FRAMES_HOLE || answer == FRAMES_CLASH);
    const struct pagemap *map = frames_map(replica->space.frames, by);
    uint32_t below = pagemap_line_below(map, va >> C2_PAGE_SHIFT);
    if (answer == FRAMES_HOLE)
        return c2_fail(err, C2_ERR_INVALID,
                       "%s:%u: the map has no page 0x%llx (address 0x%llx), which the program touches; %s", map->path,
                       below, (unsigned long long)(va >> C2_PAGE_SHIFT), (unsigned long long)va,
                       below ? "this line is the nearest below it" : "no line is below it");
    return c2_fail(err, C2_ERR_INVALID,
                   "%s:%u: page 0x%llx is to get frame 0x%llx, which another page holds at this time", map->path, below,
                   (unsigned long long)(va >> C2_PAGE_SHIFT), (unsigned long long)frame);
}

enum c2_status refuse_placement(struct mmu_replica *replica, size_t by, enum frames_answer answer, uint64_t va,
                                uint64_t frame, struct c2_error *err)
{
    C2_ASSERT(answer != FRAMES_PLACED);
    const struct frames *frames = replica->space.frames;
    enum mmu_placement placement = frames_policy(frames, by)->placement;
    bool all_taken = frames_taken(frames) + frames_idle(frames) == frames_total(frames);
    tables_prune(replica->space.tables, va);
    if (placement == MMU_MAP)
        return refuse_map(replica, by, answer, va, frame, err);
    if (answer == FRAMES_CLASH)
        return refuse_clash(replica, by, va, frame, err);
    if ((placement == MMU_COLORED || placement == MMU_SAME_COLOR) && !all_taken)
        return refuse_color(replica, by, va, err);
    return refuse_frames(replica, va, err);
}

enum c2_status refuse_tables(const struct mmu_replica *replica, const char *call, uint64_t va, struct c2_error *err)
{
    char size[32];
    return c2_fail(err, C2_ERR_EXHAUSTED,
                   "%s at 0x%" PRIx64 " needs more page tables than physical memory (%s) has room for; %s", call, va,
                   c2_size_text(size, replica->config.physical_bytes), more_memory);
}
