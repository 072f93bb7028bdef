/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the address space needs of the host memory behind it. The real one is the window (window.c); tests put a
 * dictionary in its place and need no window.
 */
#ifndef C2_MMU_HOST_PRIV_H
#define C2_MMU_HOST_PRIV_H

#include "mmu/mmu.h"
#include "mmu/tables_priv.h"

/* What the guest has nothing at: the page tables, and what is between the windows, where c2emu's own program lies. */
struct host_kept {
    uint64_t start, end;
};
/* The first such that [start, end) meets, or NULL. */
static inline const struct host_kept *host_kept_at(uint64_t start, uint64_t end)
{
    static const struct host_kept kept[] = {{MMU_TABLES_BASE, MMU_TABLES_END}, {MMU_WINDOW_END, MMU_FAR_START}};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (start < kept[i].end && end > kept[i].start)
            return &kept[i];
    return NULL;
}

/* Addresses for an arena of page tables, without memory, or MAP_FAILED with errno. They lie between the guest's windows
 * if they can: how much room there is between the upper window and the host's libraries is chosen at random. */
void *host_reserve_arena(uint64_t bytes);

/* How new memory begins. Not enforced: readable and writable as far as can be. Enforced (rights.c): every page is
 * closed; where it is watched, by userfaults, and a page that is put has these rights; else there are no rights yet. */
struct host_rights {
    bool enforced, watched;
    unsigned rights; /* MMU_READ, MMU_READ | MMU_WRITE or none */
};

struct host_source {
    int fd; /* -1: anonymous, zero */
    uint64_t offset;
    bool shared;
    bool write; /* the guest requests write access now */
    struct host_rights begin;
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
    bool fill;                /* as its neighbours; else it is reserved */
    struct host_rights begin; /* if it is filled */
};

/* What a page that is watched becomes at its first touch. */
enum host_page {
    HOST_PAGE_OWN,     /* one of its own, of zeros: it is about to be written */
    HOST_PAGE_ZERO,    /* the host's zero page, which a write replaces */
    HOST_PAGE_GUARDED, /* the same, and a write faults */
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
    /* Whether there is memory behind the page: false beyond the end of a mapped file. writes: a private page that is
     * about to be written, and is the mapping's own at once. */
    bool (*probe)(void *self, uint64_t page, bool writes);
    uint64_t (*lost_pages)(void *self); /* see mmu_usage; NULL: there are none */

    /* For rights.c alone, and NULL where they cannot be enforced. Rights are MMU_READ, MMU_READ | MMU_WRITE or none. */
    /* Begins to watch with userfaults, also anew after a fork; ENOSYS, EPERM ... where the host has none for us. */
    int (*userfaults)(void *self);
    int (*protect)(void *self, uint64_t start, uint64_t bytes, unsigned rights);
    int (*joinable)(void *self); /* pieces of anonymous memory with the same rights become one again from now on */
    /* Private anonymous memory: from now on (no longer) an access to a page that is not there faults. Guards of pages
     * in the range may be gone. */
    int (*watch)(void *self, uint64_t start, uint64_t bytes, bool on);
    int (*put)(void *self, uint64_t page, enum host_page what); /* watched, and nothing is there */
    /* Watched pages that were touched: those that the host does not have become zero pages. */
    int (*complete)(void *self, uint64_t start, uint64_t bytes);
    int (*guard)(void *self, uint64_t start, uint64_t bytes,
                 bool on); /* watched, of pages that are there: writes fault */
    /* Moves the arena of the page tables, of which so many bytes are in use, out of the guest's reach, to *memory. */
    int (*hide_tables)(void *self, uint64_t bytes, unsigned char **memory);
    /* A page of a file that has vanished becomes one of zeros. */
    int (*replace)(void *self, uint64_t page, unsigned rights);
    void (*close)(void *self); /* with the mmu's end; may be NULL */
};

/* The window: reserved by open, released by host.close. */
enum c2_status window_open(struct mmu_host *host, struct tables_arena *arena, struct c2_error *err);

/* ------------------------------------------------------------------ userfault.c
 * Of private anonymous memory. 0 or errno; what they do is said at struct mmu_host. */
int userfault_open(void); /* closes what was open before */
void userfault_close(void);
int userfault_watch(uint64_t start, uint64_t bytes, bool on);
int userfault_put(uint64_t page, enum host_page what);
int userfault_guard(uint64_t start, uint64_t bytes, bool on);

/* Survives SIGBUS in the windows: sigbus.c. */
int sigbus_guard(void); /* 0 or errno */
/* Where rights are enforced a SIGBUS may be a userfault: only pages that `lost` names are replaced, with *rights. NULL:
 * all, readable and writable. */
typedef bool sigbus_lost(void *self, uint64_t page, unsigned *rights);
void sigbus_ask(sigbus_lost *lost, void *self);
int sigbus_replace(uint64_t page, unsigned rights);
void sigbus_release(void);
uint64_t sigbus_lost_pages(void);           /* that were replaced since sigbus_guard */
bool sigbus_probe(void *byte, bool writes); /* false: reading or writing it would be a SIGBUS; it stays as it is */

#endif
