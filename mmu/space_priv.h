/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the guest's address space and its replicas have in common: areas, page tables over them, and changes of both.
 */
#ifndef C2_MMU_SPACE_PRIV_H
#define C2_MMU_SPACE_PRIV_H

#include "mmu/areas_priv.h"
#include "mmu/tables_priv.h"

#define MMU_LISTENERS 4

struct space {
    struct mmu_areas areas;
    struct tables *tables;
    struct frames *frames;    /* those of the pages and tables; NULL: they have none, and no page is huge */
    struct mmu_counts counts; /* tables.c keeps those of what is present; the rest is the owner's */
    struct mmu_listener listeners[MMU_LISTENERS];
    unsigned listener_count;
    uint64_t calls; /* that changed it, where C2_PROMISE looks */
};

void space_release(struct space *space); /* areas and tables; frames are the owner's */
enum c2_status space_listen(struct space *space, struct mmu_listener listener, struct c2_error *err);
void space_unlisten(struct space *space, const void *self);

/* Translations of [start, end) are about to be taken away, or have been. They nest. */
void space_begin(struct space *space);
void space_end(struct space *space, uint64_t start, uint64_t end, bool code);
void space_tell_mapped(const struct space *space, uint64_t start, uint64_t end); /* inside one area */

/* Whether an area in [start, end) is executable. */
bool space_has_code(const struct space *space, uint64_t start, uint64_t end);
/* What x86 gives for prot: every right brings reading with it. */
static inline unsigned mmu_effective(unsigned prot) { return prot ? prot | MMU_READ : 0; }
/* The rights bits of a leaf of an area with prot. */
uint64_t leaf_rights(unsigned prot);
/* The leaf with the rights of prot, and all else as it is. */
uint64_t entry_with_rights(uint64_t entry, unsigned prot);

/* Errors from here on are ENOMEM, the host has no memory, and ENOSPC: there is no frame for a table, which only huge
 * pages and moves of replicas can need. */
/* Makes start and end boundaries of areas, and no huge page lie across them. On failure some may be split. */
int space_isolate(struct space *space, uint64_t start, uint64_t end);
/* Takes pages and areas of [start, end) away; both are boundaries. Between space_begin and space_end, and before
 * areas_merge. */
void space_clear(struct space *space, uint64_t start, uint64_t end);
/* The following tell the listeners. Where room for three areas is reserved and no page is huge they cannot fail. */
/* Puts the area in, over whatever was there. Takes over the area's backing, also on failure. */
int space_put(struct space *space, struct area *area);
int space_protect(struct space *space, uint64_t start, uint64_t end, unsigned prot);
int space_discard(struct space *space, uint64_t start, uint64_t end); /* of one area, not shared */
int space_advise(struct space *space, uint64_t start, uint64_t end, bool huge);

/* A move of [from, from + bytes), part of one area, to a free range: */
struct space_move {
    uint64_t from, to, bytes;
    enum mmu_kind kind; /* of the area where it goes */
    bool code;
};
/* Tables for both places exist then, so that a lack of frames is found before anything moved. On failure nothing
 * moves. */
int space_move_begin(struct space *space, struct space_move *move);
void space_move_end(struct space *space, const struct space_move *move, bool moved);

/* ------------------------------------------------------------------ split.c */
int space_errno(enum c2_status status); /* of page tables: 0, ENOMEM, ENOSPC */
/* Splits the huge pages that lie across start or end. 0 or errno. */
int space_split_at(struct space *space, uint64_t start, uint64_t end);
/* Splits what a move by `distance` would leave unaligned in [start, end). 0 or errno. */
int space_split_for_move(struct space *space, uint64_t start, uint64_t end, uint64_t distance);

/* ------------------------------------------------------------------ space_check.c */
/* The shared zero page's frame, if there is one, is no leaf's but of those with ENTRY_ZERO. */
void space_check(const struct space *space, const uint64_t *zero_frame);
void space_dump(const struct space *space, FILE *to);
/* A call is over: whether what the comments of this room promise holds again is to be looked at. */
bool space_look(struct space *space);

#endif
