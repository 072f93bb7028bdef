/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The address space itself, shared by the files that change it.
 */
#ifndef C2_MMU_PRIV_H
#define C2_MMU_PRIV_H

#include "mmu/areas_priv.h"
#include "mmu/host_priv.h"

#include "mmu/pagemap_priv.h"

#define MMU_LISTENERS 4

struct mmu {
    struct mmu_config config;
    struct mmu_host host;
    struct frames *frames;
    struct tables *tables;
    struct areas areas;
    struct mmu_listener listeners[MMU_LISTENERS];
    unsigned listener_count;
    uint64_t brk;
    struct mmu_counts counts;
    uint64_t calls;                      /* that changed it, where C2_PROMISE looks */
    struct pagemap_log log;              /* with config.log_placements */
    struct mmu_rule_counts *placed_by;   /* by policy number, see frames_create */
    struct mmu_rule_counts *enlarged_by; /* by huge region */
    uint64_t zero_frame;                 /* shared by all pages with ENTRY_ZERO; meaningful if has_zero_frame */
    bool has_zero_frame;
    struct mmu_journal journal; /* happened NULL: nobody keeps one */
    enum c2_status journal_status;
    struct c2_error journal_error;
    struct lead *lead;     /* of a leader: its followers; else NULL */
    struct follow *follow; /* of a follower; else NULL */
};

/* mmu_create without a window: on any host and arena. Closes the host at the end, but not when it fails. */
enum c2_status mmu_create_on(struct mmu **out, const struct mmu_config *config, const struct mmu_host *host,
                             const struct tables_arena *arena, struct c2_error *err);
enum c2_status mmu_config_check(const struct mmu_config *config, struct c2_error *err);

void mmu_notify_before(const struct mmu *mmu, uint64_t start, uint64_t end);
void mmu_notify_after(const struct mmu *mmu, uint64_t start, uint64_t end, bool code);
void mmu_notify_mapped(const struct mmu *mmu, uint64_t start, uint64_t end); /* inside one area */

/* ------------------------------------------------------------------ the calls of mmu.h, in this address space alone */
int64_t mmu_map_alone(struct mmu *mmu, const struct mmu_request *request);
int64_t mmu_unmap_alone(struct mmu *mmu, uint64_t address, uint64_t bytes);
int64_t mmu_protect_alone(struct mmu *mmu, uint64_t address, uint64_t bytes, unsigned prot);
int64_t mmu_remap_alone(struct mmu *mmu, uint64_t old, uint64_t old_bytes, uint64_t new_bytes, bool may_move,
                        bool fixed, uint64_t new_address);
int64_t mmu_discard_alone(struct mmu *mmu, uint64_t address, uint64_t bytes);
int64_t mmu_advise_huge_alone(struct mmu *mmu, uint64_t address, uint64_t bytes, bool huge);
uint64_t mmu_brk_alone(struct mmu *mmu, uint64_t address);
enum mmu_fault mmu_touch_alone(struct mmu *mmu, struct guest_va va, enum mmu_access access, struct c2_error *err);

/* ------------------------------------------------------------------ journal.c */
/* Something happened; the words are the event's. */
void mmu_journal(struct mmu *mmu, enum mmu_event_kind kind, uint64_t a, uint64_t b, uint64_t c, uint64_t d);
void mmu_journal_map(struct mmu *mmu, const struct mmu_request *request, uint64_t start);

/* ------------------------------------------------------------------ map.c */
/* Puts the area in, over whatever was there. Takes over the area's backing, also on failure. 0 or errno. */
int mmu_put_area(struct mmu *mmu, struct area *area, int fd);
/* The hole around [start, end) when nothing is mapped there any more; what is there now does not matter. */
struct host_hole mmu_hole_at(const struct mmu *mmu, uint64_t start, uint64_t end);
/* What the host is to map for an area that is to be put in; fd: -1 for anonymous memory. */
struct host_source mmu_source_of(const struct mmu *mmu, const struct area *area, int fd);

/* ------------------------------------------------------------------ follow.c */
/* The leader made this access: so do the followers. NONE, or FAILED. */
enum mmu_fault mmu_lead_touch(struct mmu *leader, struct guest_va va, enum mmu_access access, struct c2_error *err);
void mmu_follow_end(struct mmu *mmu); /* leader or follower: lets go of the other */
void mmu_lead_check(const struct mmu *leader);

/* What x86 gives for prot: every right brings reading with it. */
static inline unsigned mmu_effective(unsigned prot) { return prot ? prot | MMU_READ : 0; }
/* The rights bits of a leaf of an area with prot. */
uint64_t mmu_leaf_rights(unsigned prot);

/* 0, or -errno when a guest mapping cannot lie at [start, start + bytes). */
int64_t mmu_range_usable(uint64_t start, uint64_t bytes);
/* Whether an area in [start, end) is executable. */
bool mmu_range_code(const struct mmu *mmu, uint64_t start, uint64_t end);
/* Makes start and end boundaries of areas. 0 or errno. */
int mmu_isolate(struct mmu *mmu, uint64_t start, uint64_t end);
/* ------------------------------------------------------------------ rules.c */
enum c2_status mmu_rules_create(struct mmu *mmu, struct c2_error *err);
void mmu_rules_release(struct mmu *mmu);
enum c2_status mmu_rules_check(const struct mmu_config *config, struct c2_error *err);
/* The number of the policy (see frames_create) that places the page at start, of this size. */
size_t mmu_policy_of(const struct mmu *mmu, const struct area *area, uint64_t start, enum mmu_page_size size);
/* The huge region that the page of this size at start lies in whole; config.huge_region_count if none. */
size_t mmu_huge_region_of(const struct mmu *mmu, const struct area *area, uint64_t start, enum mmu_page_size size);
void mmu_count_placed(struct mmu_rule_counts *counts, enum mmu_page_size size);
/* ", by the rule for REGION", or "" for policy 0: for messages. */
const char *mmu_rule_phrase(char *buffer, size_t bytes, const struct mmu *mmu, size_t by);
/* ------------------------------------------------------------------ huge.c */
/* The first touch of `page` in area: true if a huge page came of it. */
bool mmu_place_huge(struct mmu *mmu, uint64_t page, const struct area *area);
/* Splits the huge pages that lie across start or end. 0 or ENOMEM. */
int mmu_split_at(struct mmu *mmu, uint64_t start, uint64_t end);
/* Splits what a move by `distance` would leave unaligned in [start, end). 0 or ENOMEM. */
int mmu_split_for_move(struct mmu *mmu, uint64_t start, uint64_t end, uint64_t distance);
/* In what steps the heap grows and shrinks, bytes. */
uint64_t mmu_heap_step(const struct mmu *mmu);
uint64_t mmu_heap_start(const struct mmu *mmu);
/* Notes a placement for the map to be written. */
void mmu_log(struct mmu *mmu, uint64_t va, uint64_t frame, enum mmu_page_size size);

/* Takes the frames of [start, end) away, entries and all. */
void mmu_drop_pages(struct mmu *mmu, uint64_t start, uint64_t end);
/* munmap of whole pages inside the window. 0 or errno. */
int mmu_unmap_range(struct mmu *mmu, uint64_t start, uint64_t end);
/* A free range for a mapping without a fixed address, or 0. */
uint64_t mmu_find_gap(const struct mmu *mmu, uint64_t bytes, enum mmu_zone zone);

#endif
