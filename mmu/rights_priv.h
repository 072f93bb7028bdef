/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Host rights that follow the guest's: what the files that change memory have rights.c do. Where nothing is enforced
 * that is nothing, and the answer 0. Errors are the host's: errnos.
 */
#ifndef C2_MMU_RIGHTS_PRIV_H
#define C2_MMU_RIGHTS_PRIV_H

#include "mmu/host_priv.h"

struct area;
struct mmu;

/* How the host's memory of an area is to begin. */
struct host_rights rights_begin(const struct mmu *mmu, const struct area *area);
/* [start, end), mapped whole, is about to have these rights; the tables have the old ones. An error: all is as it
 * was. */
int rights_protect(struct mmu *mmu, uint64_t start, uint64_t end, unsigned prot);
/* Makes the rights of all areas' parts in [start, end) again, from the tables. */
int rights_renew(struct mmu *mmu, uint64_t start, uint64_t end);
/* [start, end), part of an area, is about to be moved; its rights are to be renewed behind that, also where it
 * failed. */
int rights_move(struct mmu *mmu, uint64_t start, uint64_t end);
/* The pages of [start, end), in the area, are about to become absent, and the host will forget them. */
int rights_close(struct mmu *mmu, const struct area *area, uint64_t start, uint64_t end);
/* The page, absent so far, is about to become present by this access, with this entry; and it does not after all. */
enum c2_status rights_open(struct mmu *mmu, const struct area *area, uint64_t page, uint64_t entry,
                           enum mmu_access access, struct c2_error *err);
void rights_shut(struct mmu *mmu, const struct area *area, uint64_t page);
/* The page was only read so far, and is about to be written. */
enum c2_status rights_written(struct mmu *mmu, const struct area *area, uint64_t page, struct c2_error *err);
/* An access to the page, which is ready, is made again: should its file have become shorter, it is replaced. */
enum c2_status rights_revive(struct mmu *mmu, uint64_t page, struct c2_error *err);

#endif
