/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A guest's address space with replicas that hear at once of all that happens to it, as one object: calls go to the
 * guest's half, translations and counts are those of the first replica.
 */
#ifndef C2_TEST_MMU_BOTH_H
#define C2_TEST_MMU_BOTH_H

#include <stdlib.h>
#include <string.h>

#include "mmu/mmu_priv.h"
#include "mmu/replica_priv.h"

#define BOTH_REPLICAS 4

struct both {
    struct mmu *mmu;
    struct mmu_replica *replica; /* [0] of the following */
    struct mmu_replica *replicas[BOTH_REPLICAS];
    bool failed[BOTH_REPLICAS];
    uint64_t sure[BOTH_REPLICAS]; /* marks that it has said it cannot lack frames at */
    unsigned count;
    struct c2_error why; /* of the last failure that was not reported; status C2_OK: none */
    struct stream_writer *writer;
    uint64_t marks[STREAM_MARKS];
};

/* One that has failed goes on: what else it refuses is looked at too. */
static inline void both_hear(struct both *both, enum stream_mark mark, const uint64_t *words, uint32_t count)
{
    both->marks[mark]++;
    for (unsigned i = 0; i < both->count; i++) {
        struct c2_error why;
        if (mmu_replica_apply(both->replicas[i], mark, words, count, &why) == C2_OK) {
            both->sure[i] = both->sure[i] > 0 ? both->sure[i] - 1 : mmu_replica_guaranteed(both->replicas[i]);
            continue;
        }
        C2_ASSERT(why.status != C2_ERR_EXHAUSTED || both->sure[i] == 0);
        both->failed[i] = true;
        if (both->why.status == C2_OK)
            both->why = why;
    }
}

static inline enum c2_status both_consume(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    (void)err;
    for (uint32_t at = 0; at < batch->used;) {
        const uint64_t header = batch->words[at];
        const uint32_t count = stream_header_slots(header);
        C2_ASSERT(stream_header_block(header) == STREAM_MARK);
        both_hear(self, (enum stream_mark)stream_header_insns(header), &batch->words[at + 1], count);
        at += count + 1;
    }
    return C2_OK;
}

static inline enum c2_status both_drain(void *self, struct c2_error *err)
{
    (void)self, (void)err;
    return C2_OK;
}

/* What has happened has been heard of; the first failure of a replica since the last call. */
static inline enum c2_status both_flush(struct both *both, struct c2_error *err)
{
    C2_ASSERT(stream_writer_flush(both->writer, NULL) == C2_OK);
    const struct c2_error why = both->why;
    both->why.status = C2_OK;
    return why.status == C2_OK ? C2_OK : c2_fail(err, why.status, "%s", why.text);
}

/* ------------------------------------------------------------------ life */

static inline void both_destroy(struct both *both)
{
    if (!both)
        return;
    mmu_destroy(both->mmu);
    for (unsigned i = 0; i < both->count; i++)
        mmu_replica_destroy(both->replicas[i]);
    stream_writer_destroy(both->writer);
    free(both);
}

/* Before the first mark. */
static inline enum c2_status both_add(struct both *both, const struct mmu_config *config, struct c2_error *err)
{
    C2_ASSERT(both->count < BOTH_REPLICAS);
    enum c2_status status = mmu_replica_create(&both->replicas[both->count], config, err);
    both->count += status == C2_OK;
    both->replica = both->replicas[0];
    return status;
}

/* A guest's address space, and a replica for each placement. */
static inline enum c2_status both_create_for(struct both **out, const struct mmu_guest_config *guest,
                                             const struct mmu_config *configs, unsigned count,
                                             const struct mmu_host *host, const struct tables_arena *arena,
                                             struct c2_error *err)
{
    struct both *both = calloc(1, sizeof *both);
    enum c2_status status = stream_writer_create(&both->writer, (struct stream_sink){both, both_consume, both_drain},
                                                 err);
    *out = NULL;
    for (unsigned i = 0; i < count && status == C2_OK; i++)
        status = both_add(both, &configs[i], err);
    if (status == C2_OK)
        status = mmu_create_on(&both->mmu, guest, host, arena, err);
    if (status != C2_OK) {
        both_destroy(both);
        return status;
    }
    mmu_write_to(both->mmu, both->writer);
    *out = both;
    return C2_OK;
}

/* One that suits them all. */
static inline enum c2_status both_create_all(struct both **out, const struct mmu_config *configs, unsigned count,
                                             const struct mmu_host *host, const struct tables_arena *arena,
                                             struct c2_error *err)
{
    struct mmu_guest_config guest = {0};
    for (unsigned i = 0; i < count; i++)
        mmu_config_suit(&guest, &configs[i]);
    return both_create_for(out, &guest, configs, count, host, arena, err);
}

static inline enum c2_status both_create_on(struct both **out, const struct mmu_config *config,
                                            const struct mmu_host *host, const struct tables_arena *arena,
                                            struct c2_error *err)
{
    return both_create_all(out, config, 1, host, arena, err);
}

/* ------------------------------------------------------------------ calls */

/* What a replica refuses is taken back, so that it can be tried again. */
static inline enum mmu_fault both_touch(struct both *both, struct guest_va va, enum mmu_access access,
                                        struct c2_error *err)
{
    struct space *space = &both->mmu->space;
    const uint64_t page = c2_align_down(va.v, C2_PAGE_BYTES);
    const uint64_t entry = va.v < MMU_WINDOW_END ? tables_get(space->tables, page) : 0;
    enum mmu_fault fault = mmu_touch(both->mmu, va, access, err);
    if (fault != MMU_FAULT_NONE || both_flush(both, err) == C2_OK)
        return fault;
    tables_tell(space->tables, true);
    if (entry)
        tables_set(space->tables, page, entry);
    else
        C2_ASSERT(space_discard(space, page, page + C2_PAGE_BYTES) == 0);
    tables_tell(space->tables, false);
    space->counts.faults -= !entry;
    return MMU_FAULT_FAILED;
}
/* Page by page, so that nothing behind one that a replica refuses is touched; then as one. */
static inline enum mmu_fault both_touch_range(struct both *both, struct guest_va va, uint64_t bytes,
                                              enum mmu_access access, struct guest_va *at, struct c2_error *err)
{
    const enum mmu_access known = access == MMU_ACCESS_UNKNOWN ? MMU_ACCESS_READ : access;
    const uint64_t last = bytes - 1 > UINT64_MAX - va.v ? UINT64_MAX : va.v + bytes - 1;
    enum mmu_fault fault = MMU_FAULT_NONE;
    struct guest_va next = va, stop = {0};
    for (uint64_t left = bytes ? (last / C2_PAGE_BYTES) - (va.v / C2_PAGE_BYTES) + 1 : 0; left > 0; left--) {
        fault = both_touch(both, next, known, err);
        if (fault != MMU_FAULT_NONE)
            break;
        next.v = (next.v / C2_PAGE_BYTES + 1) * C2_PAGE_BYTES;
    }
    if (fault != MMU_FAULT_NONE)
        *at = next;
    if (fault == MMU_FAULT_FAILED)
        return fault;
    C2_ASSERT(mmu_touch_range(both->mmu, va, bytes, access, &stop, err) == fault);
    C2_ASSERT(fault == MMU_FAULT_NONE || stop.v == at->v);
    return fault;
}
/* A failure waits for the next touch. */
static inline int64_t both_said(struct both *both, int64_t answer)
{
    C2_ASSERT(stream_writer_flush(both->writer, NULL) == C2_OK);
    return answer;
}
static inline int64_t both_map(struct both *both, const struct mmu_request *request)
{
    return both_said(both, mmu_map(both->mmu, request));
}
static inline int64_t both_unmap(struct both *both, uint64_t address, uint64_t bytes)
{
    return both_said(both, mmu_unmap(both->mmu, address, bytes));
}
static inline int64_t both_protect(struct both *both, uint64_t address, uint64_t bytes, unsigned prot)
{
    return both_said(both, mmu_protect(both->mmu, address, bytes, prot));
}
static inline int64_t both_remap(struct both *both, uint64_t old, uint64_t old_bytes, uint64_t new_bytes, bool may_move,
                                 bool fixed, uint64_t to)
{
    return both_said(both, mmu_remap(both->mmu, old, old_bytes, new_bytes, may_move, fixed, to));
}
static inline int64_t both_discard(struct both *both, uint64_t address, uint64_t bytes)
{
    return both_said(both, mmu_discard(both->mmu, address, bytes));
}
static inline int64_t both_advise_huge(struct both *both, uint64_t address, uint64_t bytes, bool huge)
{
    return both_said(both, mmu_advise_huge(both->mmu, address, bytes, huge));
}
static inline uint64_t both_brk(struct both *both, uint64_t address)
{
    return (uint64_t)both_said(both, (int64_t)mmu_brk(both->mmu, address));
}

/* ------------------------------------------------------------------ asking */

static inline bool both_ready(const struct both *both, struct guest_va va, enum mmu_access access)
{
    return mmu_ready(both->mmu, va, access);
}
static inline bool both_allows(const struct both *both, struct guest_va va, uint64_t bytes, unsigned prot)
{
    return mmu_allows(both->mmu, va, bytes, prot);
}
static inline const struct mmu_area *both_area_at(const struct both *both, struct guest_va va, bool next)
{
    return mmu_area_at(mmu_areas(both->mmu), va, next);
}
static inline bool both_translate(const struct both *both, struct guest_va va, struct guest_pa *out)
{
    return mmu_replica_translate(both->replica, va, out);
}
static inline bool both_translate_sized(const struct both *both, struct guest_va va, struct guest_pa *out,
                                        enum mmu_page_size *size)
{
    return mmu_replica_translate_sized(both->replica, va, out, size);
}
static inline bool both_walk(const struct both *both, struct guest_va va, struct mmu_walk *out)
{
    return mmu_replica_walk(both->replica, va, out);
}
static inline const struct mmu_counts *both_counts(const struct both *both)
{
    return mmu_replica_counts(both->replica);
}
static inline uint64_t both_resident_bytes(const struct both *both) { return mmu_usage(both->mmu).resident_bytes; }

/* ------------------------------------------------------------------ check */

static inline bool both_same_area(const struct area *a, const struct area *b)
{
    return a->view.start.v == b->view.start.v && a->view.bytes == b->view.bytes && a->view.prot == b->view.prot &&
           a->view.shared == b->view.shared && a->view.kind == b->view.kind && a->view.offset == b->view.offset &&
           a->view.inode == b->view.inode && a->view.device == b->view.device && a->may_write == b->may_write &&
           a->huge_wanted == b->huge_wanted && a->huge_refused == b->huge_refused && a->hugetlb == b->hugetlb &&
           !a->backing == !b->backing && !a->view.path == !b->view.path &&
           (!a->view.path || strcmp(a->view.path, b->view.path) == 0);
}

static inline uint64_t both_present_too(void *self, uint64_t va, uint64_t entry)
{
    const struct mmu_replica *replica = self;
    C2_ASSERT(!(entry & ENTRY_PRESENT) || tables_get(replica->space.tables, va) & ENTRY_PRESENT);
    return entry;
}

/* Areas are the same; what is present in the guest's half is in a replica that did not fail. */
static inline void both_compare(const struct both *both, unsigned i)
{
    const struct mmu_areas *theirs = &both->mmu->space.areas, *mine = &both->replicas[i]->space.areas;
    const struct area *a = areas_find(theirs, 0), *b = areas_find(mine, 0);
    C2_ASSERT(areas_count(theirs) == areas_count(mine));
    for (; a; a = areas_next(theirs, a), b = areas_next(mine, b))
        C2_ASSERT(both_same_area(a, b));
    tables_visit(both->mmu->space.tables, 0, MMU_WINDOW_END, both_present_too, both->replicas[i]);
}

static inline void both_check(const struct both *both)
{
    mmu_check(both->mmu);
    for (unsigned i = 0; i < both->count; i++) {
        mmu_replica_check(both->replicas[i]);
        if (!both->failed[i])
            both_compare(both, i);
    }
}

#endif
