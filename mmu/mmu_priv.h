/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The guest's address space itself, shared by the files that change it.
 */
#ifndef C2_MMU_PRIV_H
#define C2_MMU_PRIV_H

#include "mmu/host_priv.h"
#include "mmu/marks_priv.h"
#include "mmu/rights_priv.h"
#include "mmu/space_priv.h"

struct lent {
    uint64_t start, end; /* whole pages */
};

struct mmu {
    struct space space; /* without frames */
    struct mmu_guest_config config;
    struct mmu_layout layout;
    bool readable_is_code; /* mmu_make_readable_code() */
    struct mmu_host host;
    struct stream_writer *writer; /* or NULL */
    struct c2_error unwritten;    /* why a mark was not written, if its status is not C2_OK */
    enum mmu_enforcement enforced;
    struct lent *lent; /* by mmu_lend */
    uint32_t lent_count, lent_room;
    uint64_t brk;
    uint64_t objects; /* pieces of shared anonymous memory so far */
};

/* mmu_create without a window: on any host and arena. Closes the host at the end, but not when it fails. */
enum c2_status mmu_create_on(struct mmu **out, const struct mmu_guest_config *config, const struct mmu_host *host,
                             const struct tables_arena *arena, struct c2_error *err);

/* ------------------------------------------------------------------ mmu.c: marks */
void mmu_mark(struct mmu *mmu, enum stream_mark mark, const uint64_t *words, uint32_t count);
#define MMU_MARK(mmu, mark, ...) \
    mmu_mark(mmu, mark, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))
void mmu_mark_mapped(struct mmu *mmu, uint64_t start, uint64_t bytes); /* inside one area */
/* Rights as they become: with readable_is_code reading is executing. */
unsigned mmu_rights_of(const struct mmu *mmu, unsigned prot);
/* At the end of a call that changed something; true. */
bool mmu_holds(struct mmu *mmu);

/* ------------------------------------------------------------------ map.c */
/* The hole around [start, end) when nothing is mapped there any more; what is there now does not matter. */
struct host_hole mmu_hole_at(const struct mmu *mmu, uint64_t start, uint64_t end);
/* What the host is to map for an area that is to be put in; fd: -1 for anonymous memory. */
struct host_source mmu_source_of(const struct mmu *mmu, const struct area *area, int fd);
/* 0, or -errno when a guest mapping cannot lie at [start, start + bytes). */
int64_t mmu_range_usable(uint64_t start, uint64_t bytes);
/* The same for private anonymous memory without rights, which may cover what is kept from the guest: an address
 * sanitizer reserves two TiB around the page tables, a thread sanitizer what it has no use for. There is nothing behind
 * these addresses then, and no way to get rights there. */
int64_t mmu_range_reservable(uint64_t start, uint64_t bytes);
/* A free range for a mapping without a fixed address, or 0. */
uint64_t mmu_find_gap(const struct mmu *mmu, uint64_t bytes, enum mmu_zone zone);
/* mmap. */
int64_t mmu_map_range(struct mmu *mmu, const struct mmu_request *request);

/* ------------------------------------------------------------------ change.c */
/* munmap of whole pages inside the window. 0 or errno. */
int mmu_unmap_range(struct mmu *mmu, uint64_t start, uint64_t end);

#endif
