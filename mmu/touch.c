/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   What happens when the guest accesses a page: the area decides whether it may, the first access gives the page its
 *   frame, later ones find it in the tables. Rights as on x86: a mapping with any right is readable.
 *   With config.zero_page a page of private anonymous memory whose first access reads (the guest's, or its kernel's on
 *   its behalf) gets the zero page instead: one frame for all of them, without the right to write. The first write
 *   gives the page a frame of its own, by the policy; listeners are told. The frame is taken at the first such access,
 *   after the page's tables, as if for another table; no page owns it, and nothing gives it back.
 * Counting
 *   faults counts the accesses that made a page present; small_pages, huge_2m and huge_1g pages that got a frame;
 *   zero_pages those that did not, zero_copies those of them that got one later. So faults + zero_copies = the others.
 * Not modelled
 *   Linux's huge zero page: where huge pages are wanted, reading takes one. Linux keeps the zero page from boot on, in
 *   its own memory. An access of which the engine cannot tell whether it writes maps the zero page first.
 * Cost
 *   A translation is four dependent loads; a first touch adds two or three walks over a binary tree of frames.
 */
#include "mmu/mmu_priv.h"

static bool area_allows(unsigned prot, enum mmu_access access)
{
    switch (access) {
    case MMU_ACCESS_WRITE:
        return prot & MMU_WRITE;
    case MMU_ACCESS_EXEC:
        return prot & MMU_EXEC;
    default:
        return prot != 0;
    }
}

static bool entry_allows(uint64_t entry, enum mmu_access access)
{
    if (!(entry & ENTRY_PRESENT))
        return false;
    switch (access) {
    case MMU_ACCESS_WRITE:
        return entry & ENTRY_WRITE;
    case MMU_ACCESS_EXEC:
        return !(entry & ENTRY_NOEXEC);
    default:
        return true;
    }
}

bool mmu_walk(const struct mmu *mmu, struct guest_va va, struct mmu_walk *out)
{
    uint64_t address[TABLES_LEVELS];
    if (va.v >= MMU_WINDOW_END)
        return false;
    out->entry_count = tables_walk(mmu->tables, va.v, address);
    for (unsigned i = 0; i < out->entry_count; i++)
        out->entry[i].v = address[i];
    return out->entry_count != 0;
}

bool mmu_translate_sized(const struct mmu *mmu, struct guest_va va, struct guest_pa *out, enum mmu_page_size *size)
{
    if (va.v >= MMU_WINDOW_END)
        return false;
    uint64_t entry = tables_get(mmu->tables, va.v);
    if (!(entry & ENTRY_PRESENT))
        return false;
    out->v = (entry & ENTRY_ADDRESS) | (va.v & (C2_PAGE_BYTES - 1));
    *size = entry_size(entry);
    return true;
}

bool mmu_translate(const struct mmu *mmu, struct guest_va va, struct guest_pa *out)
{
    enum mmu_page_size ignored;
    return mmu_translate_sized(mmu, va, out, &ignored);
}

bool mmu_ready(const struct mmu *mmu, struct guest_va va, enum mmu_access access)
{
    return va.v < MMU_WINDOW_END && entry_allows(tables_get(mmu->tables, va.v), access);
}

bool mmu_allows(const struct mmu *mmu, struct guest_va va, uint64_t bytes, unsigned prot)
{
    if (bytes == 0)
        return true;
    if (va.v + bytes < va.v)
        return false;
    for (uint64_t at = va.v; at < va.v + bytes;) {
        const struct area *area = areas_at(&mmu->areas, at);
        if (!area || prot & ~mmu_effective(area->view.prot))
            return false;
        at = area_end(area);
    }
    return true;
}

/* ------------------------------------------------------------------ the first touch */

static const char more_memory[] = "give the machine more with --set machine.physical_memory=SIZE";

static void fail_frames(const struct mmu *mmu, uint64_t va, struct c2_error *err)
{
    char size[32], kept[64] = "";
    if (frames_idle(mmu->frames) > 0)
        snprintf(kept, sizeof kept, ", kept for a page map %llu", (unsigned long long)frames_idle(mmu->frames));
    c2_fail(err, C2_ERR_EXHAUSTED,
            "physical memory (%s) is exhausted at the first touch of page 0x%llx: frames of "
            "pages %llu, of page tables %llu%s; %s",
            c2_size_text(size, mmu->config.physical_bytes), (unsigned long long)va,
            (unsigned long long)(frames_taken(mmu->frames) - mmu->counts.table_pages),
            (unsigned long long)mmu->counts.table_pages, kept, more_memory);
}

static void fail_color(const struct mmu *mmu, size_t by, uint64_t va, struct c2_error *err)
{
    char size[32], rule[MMU_PATH_BYTES];
    const struct mmu_config *policy = frames_policy(mmu->frames, by);
    bool colored = policy->placement == MMU_COLORED;
    unsigned color = colored ? (unsigned)((va >> C2_PAGE_SHIFT) % policy->colors) : policy->color;
    c2_fail(err, C2_ERR_EXHAUSTED,
            "the frames of colour %u of %u in physical memory (%s) are exhausted at the first "
            "touch of page 0x%llx%s; %s",
            color, policy->colors, c2_size_text(size, mmu->config.physical_bytes), (unsigned long long)va,
            mmu_rule_phrase(rule, sizeof rule, mmu, by), more_memory);
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

static void fail_clash(const struct mmu *mmu, size_t by, uint64_t va, uint64_t frame, struct c2_error *err)
{
    struct owner_search search = {.frame = frame};
    tables_visit(mmu->tables, 0, MMU_WINDOW_END, match_owner, &search);
    char size[32], owner[48] = "a page table", rule[MMU_PATH_BYTES];
    if (mmu->has_zero_frame && frame == mmu->zero_frame)
        snprintf(owner, sizeof owner, "the zero page");
    else if (search.found)
        snprintf(owner, sizeof owner, "page 0x%llx", (unsigned long long)search.va);
    else if (frames_is_kept(mmu->frames, frame))
        snprintf(owner, sizeof owner, "a page map");
    c2_fail(err, C2_ERR_EXHAUSTED,
            "identity placement%s: page 0x%llx needs the physical page 0x%llx (its address "
            "modulo %s), which %s holds already; %s, or use %s sequential",
            mmu_rule_phrase(rule, sizeof rule, mmu, by), (unsigned long long)va,
            (unsigned long long)(frame << C2_PAGE_SHIFT), c2_size_text(size, mmu->config.physical_bytes), owner,
            more_memory, by == 0 ? "--pages" : "a rule with");
}

static void fail_map(const struct mmu *mmu, size_t by, enum frames_answer answer, uint64_t va, uint64_t frame,
                     struct c2_error *err)
{
    const struct pagemap *map = frames_map(mmu->frames, by);
    uint32_t below = pagemap_line_below(map, va >> C2_PAGE_SHIFT);
    if (answer == FRAMES_HOLE)
        c2_fail(err, C2_ERR_INVALID,
                "%s:%u: the map has no page 0x%llx (address 0x%llx), which the program touches; %s", map->path, below,
                (unsigned long long)(va >> C2_PAGE_SHIFT), (unsigned long long)va,
                below ? "this line is the nearest below it" : "no line is below it");
    else
        c2_fail(err, C2_ERR_INVALID, "%s:%u: page 0x%llx is to get frame 0x%llx, which another page holds at this time",
                map->path, below, (unsigned long long)(va >> C2_PAGE_SHIFT), (unsigned long long)frame);
}

/* The page of va got no frame, `frame` being the one it clashed with; its tables are not needed then. */
static void fail_placement(struct mmu *mmu, size_t by, enum frames_answer answer, uint64_t va, uint64_t frame,
                           struct c2_error *err)
{
    enum mmu_placement placement = frames_policy(mmu->frames, by)->placement;
    bool all_taken = frames_taken(mmu->frames) + frames_idle(mmu->frames) == frames_total(mmu->frames);
    tables_prune(mmu->tables, va);
    if (placement == MMU_MAP)
        fail_map(mmu, by, answer, va, frame, err);
    else if (answer == FRAMES_CLASH)
        fail_clash(mmu, by, va, frame, err);
    else if ((placement == MMU_COLORED || placement == MMU_SAME_COLOR) && !all_taken)
        fail_color(mmu, by, va, err);
    else
        fail_frames(mmu, va, err);
}

static bool log_has_room(struct mmu *mmu, struct c2_error *err)
{
    return !mmu->config.log_placements || pagemap_log_reserve(&mmu->log, err) == C2_OK;
}

/* A small page by the policy; its tables exist and the log has room. */
static enum mmu_fault place_small(struct mmu *mmu, uint64_t page, const struct area *area, struct c2_error *err)
{
    uint64_t frame;
    size_t by = mmu_policy_of(mmu, area, page, MMU_PAGE_4K);
    enum frames_answer answer = frames_place_by(mmu->frames, by, page >> C2_PAGE_SHIFT, MMU_PAGE_4K, &frame);
    if (answer != FRAMES_PLACED) {
        fail_placement(mmu, by, answer, page, frame, err);
        return MMU_FAULT_FAILED;
    }
    tables_set(mmu->tables, page, frame << C2_PAGE_SHIFT | mmu_leaf_rights(area->view.prot));
    mmu_log(mmu, page, frame, MMU_PAGE_4K);
    mmu_count_placed(&mmu->placed_by[by], MMU_PAGE_4K);
    mmu->counts.small_pages++;
    return MMU_FAULT_NONE;
}

static enum mmu_fault map_zero(struct mmu *mmu, uint64_t page, const struct area *area, struct c2_error *err)
{
    if (!mmu->has_zero_frame && !frames_take_top(mmu->frames, &mmu->zero_frame)) {
        tables_prune(mmu->tables, page);
        fail_frames(mmu, page, err);
        return MMU_FAULT_FAILED;
    }
    mmu->has_zero_frame = true;
    uint64_t rights = mmu_leaf_rights(area->view.prot) & ~ENTRY_WRITE;
    tables_set(mmu->tables, page, mmu->zero_frame << C2_PAGE_SHIFT | rights | ENTRY_ZERO);
    mmu->counts.zero_pages++;
    return MMU_FAULT_NONE;
}

static enum mmu_fault copy_zero(struct mmu *mmu, uint64_t page, const struct area *area, struct c2_error *err)
{
    if (!log_has_room(mmu, err))
        return MMU_FAULT_FAILED;
    mmu_notify_before(mmu, page, page + C2_PAGE_BYTES);
    enum mmu_fault fault = place_small(mmu, page, area, err);
    mmu_notify_after(mmu, page, page + C2_PAGE_BYTES, area->view.prot & MMU_EXEC);
    mmu->counts.zero_copies += fault == MMU_FAULT_NONE;
    return fault;
}

static enum mmu_fault first_touch(struct mmu *mmu, uint64_t page, const struct area *area, enum mmu_access access,
                                  struct c2_error *err)
{
    if (!log_has_room(mmu, err))
        return MMU_FAULT_FAILED;
    if (mmu_place_huge(mmu, page, area))
        return MMU_FAULT_NONE;
    enum c2_status status = tables_prepare(mmu->tables, page, MMU_PAGE_4K, err);
    if (status == C2_ERR_EXHAUSTED)
        fail_frames(mmu, page, err);
    if (status != C2_OK)
        return MMU_FAULT_FAILED;
    bool zero = mmu->config.zero_page && access != MMU_ACCESS_WRITE && !area->backing;
    enum mmu_fault fault = zero ? map_zero(mmu, page, area, err) : place_small(mmu, page, area, err);
    mmu->counts.faults += fault == MMU_FAULT_NONE;
    return fault;
}

enum mmu_fault mmu_touch_alone(struct mmu *mmu, struct guest_va va, enum mmu_access access, struct c2_error *err)
{
    const struct area *area = areas_at(&mmu->areas, va.v);
    if (!area)
        return MMU_FAULT_UNMAPPED;
    if (!area_allows(area->view.prot, access))
        return MMU_FAULT_DENIED;
    uint64_t page = c2_align_down(va.v, C2_PAGE_BYTES);
    uint64_t entry = tables_get(mmu->tables, page);
    if (entry & ENTRY_ZERO && access == MMU_ACCESS_WRITE)
        return copy_zero(mmu, page, area, err);
    if (entry & ENTRY_PRESENT)
        return access == MMU_ACCESS_UNKNOWN ? MMU_FAULT_DENIED : MMU_FAULT_NONE;
    if (area->backing && !mmu->host.probe(mmu->host.self, page))
        return MMU_FAULT_BUS;
    return first_touch(mmu, page, area, access, err);
}

/* An access that the engine could not tell, and the tables did not allow. */
static enum mmu_access guess(const struct mmu *mmu, struct guest_va va)
{
    uint64_t entry = va.v < MMU_WINDOW_END ? tables_get(mmu->tables, va.v) : 0;
    return entry & ENTRY_ZERO && mmu_allows(mmu, va, 1, MMU_WRITE) ? MMU_ACCESS_WRITE : MMU_ACCESS_UNKNOWN;
}

enum mmu_fault mmu_touch(struct mmu *mmu, struct guest_va va, enum mmu_access access, struct c2_error *err)
{
    if (SHORTCUT(access != MMU_ACCESS_UNKNOWN && mmu_ready(mmu, va, access)))
        return MMU_FAULT_NONE;
    C2_ASSERT(!mmu->follow);
    if (access == MMU_ACCESS_UNKNOWN && mmu->config.zero_page)
        access = guess(mmu, va);
    const uint64_t done = mmu->counts.faults + mmu->counts.zero_copies;
    enum mmu_fault fault = mmu_touch_alone(mmu, va, access, err);
    if (mmu->counts.faults + mmu->counts.zero_copies != done) {
        mmu_journal(mmu, MMU_EVENT_TOUCH, va.v, access == MMU_ACCESS_UNKNOWN ? MMU_ACCESS_READ : access, 0, 0);
        if (mmu_journal_status(mmu, err) != C2_OK)
            return MMU_FAULT_FAILED;
    }
    if (C2_UNLIKELY(mmu->lead) && fault == MMU_FAULT_NONE)
        return mmu_lead_touch(mmu, va, access == MMU_ACCESS_UNKNOWN ? MMU_ACCESS_READ : access, err);
    return fault;
}

enum mmu_fault mmu_touch_range(struct mmu *mmu, struct guest_va va, uint64_t bytes, enum mmu_access access,
                               struct guest_va *at, struct c2_error *err)
{
    if (bytes == 0)
        return MMU_FAULT_NONE;
    if (access == MMU_ACCESS_UNKNOWN)
        access = MMU_ACCESS_READ;
    uint64_t last = va.v + bytes - 1 < va.v ? UINT64_MAX : va.v + bytes - 1;
    for (uint64_t page = va.v;; page = c2_align_down(page, C2_PAGE_BYTES) + C2_PAGE_BYTES) {
        enum mmu_fault fault = mmu_touch(mmu, (struct guest_va){page}, access, err);
        if (fault != MMU_FAULT_NONE) {
            at->v = page;
            return fault;
        }
        if (c2_align_down(page, C2_PAGE_BYTES) == c2_align_down(last, C2_PAGE_BYTES))
            return MMU_FAULT_NONE;
    }
}
