/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A replica itself, shared by the files that place its pages.
 */
#ifndef C2_MMU_REPLICA_PRIV_H
#define C2_MMU_REPLICA_PRIV_H

#include "mmu/pagemap_priv.h"
#include "mmu/space_priv.h"

struct mmu_replica {
    struct space space;
    struct mmu_config config;
    void *reserved;                      /* memory of the tables' arena */
    struct pagemap_log log;              /* with config.log_placements */
    struct mmu_rule_counts *placed_by;   /* by policy number, see frames_create */
    struct mmu_rule_counts *enlarged_by; /* by huge region */
    uint64_t zero_frame;                 /* shared by all pages with ENTRY_ZERO; meaningful if has_zero_frame */
    bool has_zero_frame;
};

/* ------------------------------------------------------------------ config.c */
enum c2_status mmu_config_check(const struct mmu_config *config, struct c2_error *err);

/* ------------------------------------------------------------------ place.c */
/* An access to the page of va, in area. */
enum c2_status replica_touch(struct mmu_replica *replica, const struct area *area, uint64_t va, enum mmu_access access,
                             struct c2_error *err);
/* Notes a placement for the map to be written. */
void replica_log(struct mmu_replica *replica, uint64_t va, uint64_t frame, enum mmu_page_size size);

/* ------------------------------------------------------------------ refusal.c: why a page got no frame */
enum c2_status refuse_frames(const struct mmu_replica *replica, uint64_t va, struct c2_error *err);
/* By policy number `by`, `frame` being the one it clashed with; the page's tables are not needed then, and go. */
enum c2_status refuse_placement(struct mmu_replica *replica, size_t by, enum frames_answer answer, uint64_t va,
                                uint64_t frame, struct c2_error *err);
/* A change of memory at va needs tables that there are no frames for. */
enum c2_status refuse_tables(const struct mmu_replica *replica, const char *call, uint64_t va, struct c2_error *err);

/* ------------------------------------------------------------------ huge.c */
/* The first touch of `page` in area: true if a huge page came of it. */
bool replica_place_huge(struct mmu_replica *replica, uint64_t page, const struct area *area);

/* ------------------------------------------------------------------ rules.c */
enum c2_status rules_create(struct mmu_replica *replica, struct c2_error *err);
void rules_release(struct mmu_replica *replica);
enum c2_status rules_check(const struct mmu_config *config, struct c2_error *err);
/* The number of the policy (see frames_create) that places the page at start, of this size. */
size_t rules_policy_of(const struct mmu_config *config, const struct area *area, uint64_t start,
                       enum mmu_page_size size);
/* The huge region that the page of this size at start lies in whole; config.huge_region_count if none. */
size_t rules_huge_region_of(const struct mmu_config *config, const struct area *area, uint64_t start,
                            enum mmu_page_size size);
void rules_count(struct mmu_rule_counts *counts, enum mmu_page_size size);
/* ", by the rule for REGION", or "" for policy 0: for messages. */
const char *rules_phrase(char *buffer, size_t bytes, const struct mmu_config *config, size_t by);

#endif
