/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the address space asks of the host memory behind it. The real one is the window (window.c); tests put a
 * dictionary in its place and need no window.
 */
#ifndef C2_MMU_HOST_PRIV_H
#define C2_MMU_HOST_PRIV_H

#include "mmu/tables_priv.h"

struct host_source {
    int fd; /* -1: anonymous, zero */
    uint64_t offset;
    bool shared;
    bool write; /* the guest asks for write access now */
    /* Private anonymous memory: what may be mapped with it, holes on both sides that the host then has as one piece. */
    uint64_t low, high;
    bool may_write; /* answer: writing may be allowed later; false only for shared mappings of read-only descriptors */
};

/* Linux limits the pieces that a process has mapped, and a hole between two is one more: so small holes of the guest
 * between private anonymous memory are mapped like it, zero and untouched. [low, high) is the hole that is there when
 * something goes, or what of it is no farther away than HOST_HOLE_BYTES. */
#define HOST_HOLE_BYTES (64ull << 10)
struct host_hole {
    uint64_t low, high;
    bool fill; /* as its neighbours; else it is reserved */
};

/* Addresses and sizes are whole pages. Functions that return int answer 0 or an errno, and then nothing changed. */
struct mmu_host {
    void *self;
    /* Asked before a change that may cut mappings into more pieces: ENOMEM when the host has hardly any left. There is
     * more room for changes that take something away. */
    int (*room)(void *self, bool shrinks);
    /* Puts the source at [start, start + bytes), replacing what was there. */
    int (*map)(void *self, uint64_t start, uint64_t bytes, struct host_source *source);
    int (*unmap)(void *self, uint64_t start, uint64_t bytes, const struct host_hole *hole);
    /* Moves the bytes of a mapped range to a disjoint, unmapped one, and leaves a hole. */
    int (*move)(void *self, uint64_t from, uint64_t to, uint64_t bytes, const struct host_hole *hole);
    /* Lengthens the mapping of a file or of shared memory that ends at `end`. */
    int (*extend)(void *self, uint64_t end, uint64_t bytes);
    /* Private mappings: back to what they were when mapped. */
    int (*discard)(void *self, uint64_t start, uint64_t bytes);
    /* Whether there is memory behind the page: false beyond the end of a mapped file. */
    bool (*probe)(void *self, uint64_t page);
    uint64_t (*lost_pages)(void *self); /* see mmu_usage; NULL: there are none */
    void (*close)(void *self);          /* with the mmu's end; may be NULL */
};

/* The window: reserved by open, released by host.close. */
enum c2_status window_open(struct mmu_host *host, struct tables_arena *arena, struct c2_error *err);

/* Survives SIGBUS in the windows: sigbus.c. */
int sigbus_guard(void); /* 0 or errno */
void sigbus_release(void);
uint64_t sigbus_lost_pages(void);       /* that were replaced since sigbus_guard */
bool sigbus_readable(const void *byte); /* false: reading it would be a SIGBUS */

#endif
