/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * mmu: the guest's address space as the guest sees it - the areas mapped (VMAs), their bytes in the host's window, the
 * break, and page tables that say what is present and what may be done with it. Where pages lie in simulated physical
 * memory is not known here: whatever changes is written to a stream as a mark, and any number of replicas (replica.h)
 * place the pages of one run, each in its own way.
 *
 * Model
 *   Guest virtual address = host virtual address, inside one window that is reserved once, and a second, far one that
 *   is reserved when a program first maps something there. A guest page's bytes lie
 *   in the host page of the same address. Tables are 4-level x86-64 tables in an arena inside the window (so that an
 *   engine can walk them) and are never mapped for the guest. Pages have 4 KiB; one becomes present at its first touch,
 *   and that is marked.
 */
#ifndef C2_MMU_H
#define C2_MMU_H

#include "checkpoint/checkpoint.h"
#include "stream/stream.h"

/* ------------------------------------------------------------------ layout of the window
 * The bases are far apart modulo 64 GiB and modulo 1 GiB too, so that the identity placement does not clash at once:
 *      modulo 1 GiB  0 programs, libraries | 256M PIE | 512M heap up | 768M mmaps down | 896M stack | 1G tables down */
#define MMU_WINDOW_START 0x10000ull
#define MMU_WINDOW_END 0x400000000000ull /* 2^46 */
/* Addresses of programs, those outside of the window as well: a stream may be of one that ran elsewhere. */
#define MMU_ADDRESSES_END 0x800000000000ull /* 2^47 */
#define MMU_PIE_BASE 0x10000000ull          /* position independent programs */
#define MMU_LOW_BASE 0x40000000ull          /* interpreter, shared objects: code stays in the low 2 GiB */
#define MMU_LOW_END 0x80000000ull
#define MMU_HEAP_BASE 0x1120000000ull   /* brk */
#define MMU_TABLES_BASE 0x8000000000ull /* the page tables' arena, below 1 TiB */
#define MMU_TABLES_END 0x9000000000ull  /* a guest may reserve these addresses (no rights), as part of more */
#define MMU_MMAP_TOP 0x3f0e30000000ull  /* anonymous mmaps grow down from here */
#define MMU_STACK_TOP 0x3fff38000000ull /* first byte above the stack */
#define MMU_STACK_BYTES (8ull << 20)    /* the guest's RLIMIT_STACK, below the first RSP */
#define MMU_STACK_ROOM (4ull << 20)     /* for words and environment, above the first RSP */
#define MMU_STACK_BASE (MMU_STACK_TOP - MMU_STACK_ROOM)
/* Where allocators of sanitizers want to be, between the host's programs and its libraries: only at fixed addresses,
 * and all of a program that is laid out there. */
#define MMU_FAR_START 0x600000000000ull
#define MMU_FAR_END 0x7ef000000000ull
#define MMU_FAR_MMAP_TOP 0x7ebe30000000ull
#define MMU_FAR_STACK_TOP 0x7eef38000000ull

/* ------------------------------------------------------------------ life */
enum mmu_page_size { MMU_PAGE_4K, MMU_PAGE_2M, MMU_PAGE_1G, MMU_PAGE_SIZES };
static inline uint64_t mmu_page_bytes(enum mmu_page_size size) { return C2_PAGE_BYTES << 9 * (unsigned)size; }

/* What of the machine the guest can see. It is the same whatever the placement, so that one run can be placed in many
 * ways: mmu_config_suit in replica.h makes it suit a placement. */
struct mmu_guest_config {
    uint64_t guest_bytes; /* the memory that the guest is told of: no break grows by more at once; at least a page */
    enum mmu_page_size heap_page; /* the heap starts at and grows by multiples of this */
    bool tells_writes; /* the first write of a page of private anonymous memory is a touch too, after one that read */
};
struct mmu;
/* Reserves the window (a clash names the address and what lies there). One mmu at a time in a process. */
enum c2_status mmu_create(struct mmu **out, const struct mmu_guest_config *config, struct c2_error *err);
void mmu_destroy(struct mmu *mmu); /* releases the window */

/* Where a program has what is not at an address of its own; usually as above. */
struct mmu_layout {
    uint64_t heap;      /* brk: the first multiple of the heap's pages from here on */
    uint64_t mmap_top;  /* anonymous mmaps grow down from here */
    uint64_t stack_top; /* first byte above the stack; RSP is MMU_STACK_ROOM below */
};
void mmu_lay_out(struct mmu *mmu, const struct mmu_layout *layout); /* before the program is loaded */
const struct mmu_layout *mmu_layout(const struct mmu *mmu);
/* READ_IMPLIES_EXEC: what is mapped or protected to be read may be executed, from now on. Not so at first. */
void mmu_make_readable_code(struct mmu *mmu, bool does);

/* Enforced rights: for an engine that lets the host's processor execute the guest's loads and stores. The host's rights
 * then follow the guest's, page by page, and the accesses that fault are those for which mmu_ready() is false, whatever
 * the way (rights.c): a page is closed until its first touch, and afterwards open as its area's rights are; with
 * tells_writes it is closed to writes until the first one. Pages are never executable on the host. Nothing else in the
 * two windows can be accessed, the page tables lie elsewhere.
 *   A fault is a SIGSEGV or a SIGBUS at the address. The engine gives address and access (from the page fault's error
 * code) to mmu_touch. NONE: make the access again, and it succeeds; else the guest is to get that signal.
 * mmu_touch may be called inside the handler, if the stream may be written there. A handler passes on what no
 * instruction of the guest's did, to the one that was there: mmu/ has one for SIGBUS, from mmu_create on.
 *   c2emu's own accesses, and those of system calls on its behalf, are to pages that are ready, or between mmu_lend and
 * mmu_lend_end. */
enum mmu_enforcement {
    MMU_NOT_ENFORCED,           /* at first */
    MMU_ENFORCED_BY_PROTECTION, /* mprotect: each run of pages is a mapping of the host's, whose number is limited */
    MMU_ENFORCED_BY_USERFAULTS, /* anonymous memory by userfaults, which cut nothing; else the same */
    MMU_ENFORCED_BY_ANY         /* the better one of both that the host has */
};
/* Before anything is mapped. C2_ERR_UNSUPPORTED: the host has no userfaults for us. The guest sees nothing of it, so it
 * is none of the config. */
enum c2_status mmu_enforce(struct mmu *mmu, enum mmu_enforcement how, struct c2_error *err);
/* In a child, right after the fork: userfaults are not inherited. Where the host refuses them now (a seccomp filter)
 * the child goes on with protection. */
enum c2_status mmu_become_child(struct mmu *mmu, struct c2_error *err);
/* Until the loan ends pages of [va, va + bytes) may be accessed that are not ready: read, and written where the host's
 * mapping can be. Nothing is touched by that. What is not mapped stays closed. 0, or an errno: the host has no memory.
 * Where nothing is enforced nothing is done. mmu_lend_end ends all loans; what fails then is in mmu_written. */
int mmu_lend(struct mmu *mmu, struct guest_va va, uint64_t bytes);
void mmu_lend_end(struct mmu *mmu); /* takes NULL */

/* From now on what happens is written there, in the order in which it happens: the marks of memory in stream.h. NULL:
 * nowhere, as at first. A replica that is to know all of it begins with the first mark. The writer is lent until the
 * next call, or destroy. */
void mmu_write_to(struct mmu *mmu, struct stream_writer *writer);
/* C2_OK, or why a mark could not be written; no further one is, and the next page fault fails with the same reason. To
 * be asked when a run ends. */
enum c2_status mmu_written(const struct mmu *mmu, struct c2_error *err);

/* Code that keeps what depends on the areas or the page tables registers here. `after` is called when translations of
 * [start, start + bytes) have disappeared, moved or lost rights, or executable ones changed theirs at all; `code`
 * states that executable mappings are concerned. The range may be mapped still, or again: see mmu_area_at. Of a
 * replica, a huge page that is split is told of as well, as its size changes.
 * `mapped` is called after memory has appeared: a mapping, growth of the heap or of a mapping, what a move made where
 * it went (all of it at once). *area is exactly what is new, lent for the call; the area it belongs to may be larger.
 * A late listener finds what is there already with mmu_area_at. Each function may be NULL. At most 4 listeners. */
struct mmu_area;
struct mmu_listener {
    void *self;
    void (*after)(void *self, struct guest_va start, uint64_t bytes, bool code);
    void (*mapped)(void *self, const struct mmu_area *area);
};
enum c2_status mmu_listen(struct mmu *mmu, struct mmu_listener listener, struct c2_error *err);
void mmu_unlisten(struct mmu *mmu, const void *self); /* every listener of this self */

/* ------------------------------------------------------------------ areas */
enum mmu_prot { MMU_READ = 1, MMU_WRITE = 2, MMU_EXEC = 4 }; /* as PROT_* */
enum mmu_kind { MMU_ANONYMOUS, MMU_FILE, MMU_HEAP, MMU_STACK };

struct mmu_area {
    struct guest_va start;
    uint64_t bytes; /* multiple of the page size */
    unsigned prot;  /* enum mmu_prot bits */
    bool shared;
    enum mmu_kind kind;
    const char *path;       /* file mappings: absolute path; else NULL. Lent until the next change of the areas */
    uint64_t offset;        /* file mappings: of start in the file */
    uint64_t inode, device; /* file mappings, as fstat states; for /proc/self/maps */
    uint64_t memory; /* shared anonymous memory: the number of the piece, which all processes that have it know */
};

enum mmu_zone { MMU_ZONE_HIGH, MMU_ZONE_LOW }; /* where a mapping without a fixed address goes */
struct mmu_request {
    uint64_t address; /* page aligned; with fixed: exactly here; else a hint, 0 = none */
    uint64_t bytes;   /* rounded up to pages */
    unsigned prot;
    bool fixed;      /* MAP_FIXED: replaces what was there */
    bool no_replace; /* MAP_FIXED_NOREPLACE */
    bool shared;
    enum mmu_zone zone;
    enum mmu_kind kind;
    int host_fd;             /* >= 0: file mapping of this host descriptor (not kept) */
    uint64_t offset;         /* page aligned */
    const char *path;        /* copied */
    enum mmu_page_size huge; /* MAP_HUGETLB: pages of this size; bytes is rounded up to it */
};
/* The areas, of the guest or of a replica (mmu_replica_areas); lent until destroy. */
struct mmu_areas;
const struct mmu_areas *mmu_areas(const struct mmu *mmu);
/* The area that holds va, or the first one above it when next is true; NULL if none. Lent until a change. */
const struct mmu_area *mmu_area_at(const struct mmu_areas *areas, struct guest_va va, bool next);

/* Pieces of shared anonymous memory that are made from now on have numbers above this one. */
void mmu_number_memory(struct mmu *mmu, uint64_t last);

/* These five answer as the kernel would: 0 or an address on success, -errno on failure (ENOMEM, EINVAL, EEXIST,
 * EACCES ...); they take and give plain addresses because they are the guest's own numbers. */
int64_t mmu_map(struct mmu *mmu, const struct mmu_request *request);
int64_t mmu_unmap(struct mmu *mmu, uint64_t address, uint64_t bytes);
int64_t mmu_protect(struct mmu *mmu, uint64_t address, uint64_t bytes, unsigned prot);
int64_t mmu_remap(struct mmu *mmu, uint64_t old, uint64_t old_bytes, uint64_t new_bytes, bool may_move, bool fixed,
                  uint64_t new_address);
/* MADV_DONTNEED and MADV_FREE: anonymous pages become absent and zero. */
int64_t mmu_discard(struct mmu *mmu, uint64_t address, uint64_t bytes);
/* MADV_HUGEPAGE (true) and MADV_NOHUGEPAGE for first touches to come. The range is mapped. */
int64_t mmu_advise_huge(struct mmu *mmu, uint64_t address, uint64_t bytes, bool huge);
/* brk(2): returns the new (or unchanged) break. The heap starts where the layout has it. */
uint64_t mmu_brk(struct mmu *mmu, uint64_t address);

/* ------------------------------------------------------------------ touching */
enum mmu_access { MMU_ACCESS_READ, MMU_ACCESS_WRITE, MMU_ACCESS_EXEC, MMU_ACCESS_UNKNOWN /* not a fetch */ };
enum mmu_fault {
    MMU_FAULT_NONE,     /* the page is present and may be accessed so: go on */
    MMU_FAULT_UNMAPPED, /* SIGSEGV, SEGV_MAPERR */
    MMU_FAULT_DENIED,   /* SIGSEGV, SEGV_ACCERR */
    MMU_FAULT_BUS,      /* SIGBUS: beyond the end of the mapped file */
    MMU_FAULT_FAILED,   /* *err states why: the host has no memory, a mark cannot be written ... ends the run */
};
/* An access to the page of va: the first one makes it present. UNKNOWN: called after an engine's page fault whose
 * access is not known: an absent page of a readable area is made present with the area's rights, as by a reading
 * access; a present page means the rights forbid it, except that one which was only read so far in a writable area
 * means a writing access (with tells_writes). */
enum mmu_fault mmu_touch(struct mmu *mmu, struct guest_va va, enum mmu_access access, struct c2_error *err);
/* What the guest's kernel does on its behalf: reads or writes the range, and so touches every page of it, in ascending
 * order. Stops at the first fault, whose address is *at. UNKNOWN counts as READ here. What was accessed is marked
 * behind the touches. */
enum mmu_fault mmu_touch_range(struct mmu *mmu, struct guest_va va, uint64_t bytes, enum mmu_access access,
                               struct guest_va *at, struct c2_error *err);
/* Whether every page of the range lies in an area with these rights; touches nothing. bytes 0: true. */
bool mmu_allows(const struct mmu *mmu, struct guest_va va, uint64_t bytes, unsigned prot);
/* Whether the page of va is present and its page-table rights allow the access: what a CPU would not fault on. */
bool mmu_ready(const struct mmu *mmu, struct guest_va va, enum mmu_access access);
/* Of whole pages: those that were touched and are still there, whatever their rights are now. */
uint64_t mmu_present_bytes(const struct mmu *mmu, struct guest_va start, uint64_t bytes);

/* ------------------------------------------------------------------ for engines */
uint64_t mmu_root(const struct mmu *mmu); /* address of the top table = CR3 */
/* Host memory of [MMU_TABLES_BASE, MMU_TABLES_END), for walks of the tables: that range itself, but elsewhere where
 * rights are enforced. The same for all address spaces of a process that have them enforced, one after the other. */
const void *mmu_tables(const struct mmu *mmu);

/* ------------------------------------------------------------------ what the guest is told of its memory */
struct mmu_usage {
    uint64_t resident_bytes; /* of the pages present, but not of those that tells_writes knows were only read */
    uint64_t table_bytes;    /* of the page tables */
    uint64_t faults;         /* touches that made a page present */
    uint64_t lost_pages;     /* pages of mapped files that vanished after their first touch (file cut, disk full): the
                              * guest goes on with a page of zeros where hardware would raise SIGBUS */
};
struct mmu_usage mmu_usage(const struct mmu *mmu);

/* ------------------------------------------------------------------ checkpoints: save.c
 * All of it, to a checkpoint or from one, into an address space in which nothing is yet and which has the config of the
 * one that was saved. No mark is written. */
void mmu_checkpoint(struct mmu *mmu, struct checkpoint *checkpoint);
void mmu_guest_config_checkpoint(struct mmu_guest_config *config, struct checkpoint *checkpoint);
const struct mmu_guest_config *mmu_guest_config(const struct mmu *mmu); /* lent until destroy */

void mmu_check(const struct mmu *mmu);
void mmu_dump(const struct mmu *mmu, FILE *to); /* areas in /proc/PID/maps style, then present pages */

#endif
