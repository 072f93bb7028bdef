/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Areas and the page tables over them, as one: what a change of memory does to both, and the notices of it. The
 *   guest's address space has its host's memory beside that, and a replica has frames: each calls the same changes at
 *   the same places of a run, so their areas are the same.
 * Invariants
 *   A page lies in an area; its entry's rights are the area's. Listeners are notified of every change that takes a
 *   translation or a right away, and of every change of rights that has to do with code. A change of a part of a huge
 *   page splits it first: its pieces keep their frames. Without rights a page keeps its frame and its accessed and
 *   dirty bits. Pages that move keep their frames: moving changes page tables, not physical memory (and under identity
 *   placement a moved page stays where its old address had put it). A huge page moves whole by a multiple of its size,
 *   and is split by any other move.
 */
#include "mmu/space_priv.h"

void space_release(struct space *space)
{
    areas_release(&space->areas);
    tables_destroy(space->tables);
    space->tables = NULL;
}

/* ------------------------------------------------------------------ listeners */

enum c2_status space_listen(struct space *space, struct mmu_listener listener, struct c2_error *err)
{
    C2_ASSERT(space->listener_count <= MMU_LISTENERS);
    if (space->listener_count == MMU_LISTENERS)
        return c2_fail(err, C2_ERR_INTERNAL, "more than %d listeners on the address space", MMU_LISTENERS);
    space->listeners[space->listener_count++] = listener;
    return C2_OK;
}

void space_unlisten(struct space *space, const void *self)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < space->listener_count; i++) {
        if (space->listeners[i].self != self)
            space->listeners[kept++] = space->listeners[i];
    }
    space->listener_count = kept;
}

void space_begin(struct space *space) { tables_tell(space->tables, true); }

void space_end(struct space *space, uint64_t start, uint64_t end, bool code)
{
    C2_ASSERT(tables_is_range(start, end));
    tables_tell(space->tables, false);
    for (unsigned i = 0; i < space->listener_count; i++) {
        const struct mmu_listener *listener = &space->listeners[i];
        if (listener->after)
            listener->after(listener->self, (struct guest_va){start}, end - start, code);
    }
}

void space_tell_mapped(const struct space *space, uint64_t start, uint64_t end)
{
    if (space->listener_count == 0)
        return;
    const struct area *whole = areas_at(&space->areas, start);
    struct mmu_area area = whole->view;
    area.start.v = start;
    area.bytes = end - start;
    if (whole->backing)
        area.offset += start - whole->view.start.v;
    for (unsigned i = 0; i < space->listener_count; i++) {
        const struct mmu_listener *listener = &space->listeners[i];
        if (listener->mapped)
            listener->mapped(listener->self, &area);
    }
}

/* ------------------------------------------------------------------ rights */

uint64_t leaf_rights(unsigned prot)
{
    C2_PROMISE((prot & ~(unsigned)(MMU_READ | MMU_WRITE | MMU_EXEC)) == 0);
    if (!prot)
        return ENTRY_KEPT;
    return ENTRY_PRESENT | ENTRY_USER | (prot & MMU_WRITE ? ENTRY_WRITE : 0) | (prot & MMU_EXEC ? 0 : ENTRY_NOEXEC);
}

bool space_has_code(const struct space *space, uint64_t start, uint64_t end)
{
    C2_PROMISE(start <= end);
    const struct mmu_areas *areas = &space->areas;
    for (const struct area *area = areas_first_in(areas, start, end); area; area = areas_next_in(areas, area, end)) {
        if (area->view.prot & MMU_EXEC)
            return true;
    }
    return false;
}

static bool loses_rights(const struct space *space, uint64_t start, uint64_t end, unsigned prot)
{
    const struct mmu_areas *areas = &space->areas;
    for (const struct area *area = areas_first_in(areas, start, end); area; area = areas_next_in(areas, area, end)) {
        if (mmu_effective(area->view.prot) & ~mmu_effective(prot))
            return true;
    }
    return false;
}

uint64_t entry_with_rights(uint64_t entry, unsigned prot)
{
    C2_PROMISE(entry & (ENTRY_PRESENT | ENTRY_KEPT));
    const uint64_t kept = ENTRY_ADDRESS | ENTRY_ACCESSED | ENTRY_DIRTY | ENTRY_LARGE | ENTRY_GIANT | ENTRY_ZERO;
    const uint64_t rights = leaf_rights(prot);
    return (entry & kept) | (entry & ENTRY_ZERO ? rights & ~ENTRY_WRITE : rights);
}

static uint64_t set_rights(void *self, uint64_t va, uint64_t entry)
{
    (void)va;
    return entry_with_rights(entry, *(const unsigned *)self);
}

int space_protect(struct space *space, uint64_t start, uint64_t end, unsigned prot)
{
    C2_ASSERT(tables_is_range(start, end) && (prot & ~(unsigned)(MMU_READ | MMU_WRITE | MMU_EXEC)) == 0);
    struct mmu_areas *areas = &space->areas;
    int error = space_isolate(space, start, end);
    if (error)
        return error;
    bool code = (prot & MMU_EXEC) || space_has_code(space, start, end);
    /* Code is always told of: when it becomes writable it must be watched from now on. */
    bool tell = code || loses_rights(space, start, end, prot);
    if (tell)
        space_begin(space);
    tables_visit(space->tables, start, end, set_rights, &prot);
    for (struct area *area = areas_first_in(areas, start, end); area; area = areas_next_in(areas, area, end))
        area->view.prot = prot;
    areas_merge(areas, start, end);
    if (tell)
        space_end(space, start, end, code);
    return 0;
}

/* ------------------------------------------------------------------ coming and going */

int space_isolate(struct space *space, uint64_t start, uint64_t end)
{
    C2_ASSERT(tables_is_range(start, end));
    int error = areas_reserve(&space->areas, 2);
    if (!error)
        error = space_split_at(space, start, end);
    if (error)
        return error;
    areas_split(&space->areas, start);
    areas_split(&space->areas, end);
    return 0;
}

/* The zero page stays for the next that reads. */
static uint64_t drop_page(void *self, uint64_t va, uint64_t entry)
{
    C2_PROMISE(entry & (ENTRY_PRESENT | ENTRY_KEPT));
    struct frames *frames = self;
    (void)va;
    if (!frames || entry & ENTRY_ZERO)
        return 0;
    if (entry & ENTRY_LARGE)
        frames_give_huge(frames, entry_frame(entry), entry_size(entry));
    else
        frames_give(frames, entry_frame(entry));
    return 0;
}

static void drop_pages(struct space *space, uint64_t start, uint64_t end)
{
    C2_PROMISE(tables_is_range(start, end));
    tables_visit(space->tables, start, end, drop_page, space->frames);
}

void space_clear(struct space *space, uint64_t start, uint64_t end)
{
    C2_ASSERT(tables_is_range(start, end));
    drop_pages(space, start, end);
    areas_remove(&space->areas, start, end);
}

/* Two cuts and the new one need room. */
int space_put(struct space *space, struct area *area)
{
    C2_ASSERT(area->view.bytes != 0 && tables_is_range(area->view.start.v, area_end(area)));
    const uint64_t start = area->view.start.v, end = area_end(area);
    const bool replaces = !areas_free(&space->areas, start, end);
    const bool code = (area->view.prot & MMU_EXEC) || space_has_code(space, start, end);
    int error = areas_reserve(&space->areas, 3);
    if (!error)
        error = space_isolate(space, start, end);
    if (error) {
        backing_release(area->backing);
        return error;
    }
    if (replaces)
        space_begin(space);
    space_clear(space, start, end);
    areas_insert(&space->areas, area);
    areas_merge(&space->areas, start, end);
    if (replaces)
        space_end(space, start, end, code);
    space_tell_mapped(space, start, end);
    return 0;
}

int space_discard(struct space *space, uint64_t start, uint64_t end)
{
    C2_ASSERT(tables_is_range(start, end));
    int error = space_split_at(space, start, end);
    if (error)
        return error;
    space_begin(space);
    drop_pages(space, start, end);
    space_end(space, start, end, space_has_code(space, start, end));
    return 0;
}

int space_advise(struct space *space, uint64_t start, uint64_t end, bool huge)
{
    C2_ASSERT(tables_is_range(start, end));
    struct mmu_areas *areas = &space->areas;
    int error = space_isolate(space, start, end);
    if (error)
        return error;
    for (struct area *area = areas_first_in(areas, start, end); area; area = areas_next_in(areas, area, end)) {
        area->huge_wanted = huge;
        area->huge_refused = !huge;
    }
    areas_merge(areas, start, end);
    return 0;
}

/* ------------------------------------------------------------------ moving */

struct copy {
    struct tables *tables;
    uint64_t distance; /* new - old, modulo 2^64 */
    enum c2_status status;
};

static uint64_t copy_entry(void *self, uint64_t va, uint64_t entry)
{
    struct copy *copy = self;
    if (copy->status == C2_OK)
        copy->status = tables_prepare(copy->tables, va + copy->distance, entry_size(entry), NULL);
    if (copy->status == C2_OK)
        tables_set(copy->tables, va + copy->distance, entry);
    return entry;
}

static uint64_t space_forget_entry(void *self, uint64_t va, uint64_t entry)
{
    (void)self, (void)va, (void)entry;
    return 0;
}

static int copy_pages(struct space *space, const struct space_move *move)
{
    struct copy copy = {.tables = space->tables, .distance = move->to - move->from};
    int error = space_split_for_move(space, move->from, move->from + move->bytes, copy.distance);
    if (!error)
        tables_visit(space->tables, move->from, move->from + move->bytes, copy_entry, &copy);
    return error ? error : space_errno(copy.status);
}

int space_move_begin(struct space *space, struct space_move *move)
{
    C2_ASSERT(move->from + move->bytes <= move->to || move->to + move->bytes <= move->from);
    const uint64_t from = move->from, end = from + move->bytes;
    int error = space_isolate(space, from, end);
    if (error)
        return error;
    move->code = space_has_code(space, from, end);
    space_begin(space); /* the splitting too */
    error = copy_pages(space, move);
    if (error)
        space_move_end(space, move, false);
    return error;
}

/* It is one area by now. */
static void move_area(struct space *space, const struct space_move *move)
{
    struct mmu_areas *areas = &space->areas;
    struct area area = *areas_at(areas, move->from);
    if (area.backing)
        area.backing->references++;
    areas_remove(areas, move->from, area_end(&area));
    area.view.start.v = move->to;
    area.view.kind = move->kind;
    areas_insert(areas, &area);
    areas_merge(areas, move->to, area_end(&area));
}

void space_move_end(struct space *space, const struct space_move *move, bool moved)
{
    C2_ASSERT(move->bytes != 0);
    const uint64_t stale = moved ? move->from : move->to, end = move->from + move->bytes;
    tables_visit(space->tables, stale, stale + move->bytes, space_forget_entry, NULL);
    if (moved)
        move_area(space, move);
    areas_merge(&space->areas, move->from, end);
    space_end(space, move->from, end, move->code);
}
