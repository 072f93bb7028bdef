/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * mmu: the guest's address space - the areas mapped (VMAs), the real x86-64 page tables over them, and the
 * placement of pages in simulated physical memory.
 *
 * Model
 *   Guest virtual address = host virtual address, inside one window that is reserved once. A guest page's bytes lie
 *   in the host page of the same address; its *simulated* frame is what the leaf of the page table says. Tables are
 *   4-level x86-64 tables in an arena inside the window (so that an engine can walk them) and are never mapped for
 *   the guest. A page gets its frame at its first touch, in program order, from the placement policy.
 */
#ifndef C2_MMU_H
#define C2_MMU_H

#include "base/base.h"

/* ------------------------------------------------------------------ layout of the window
 * The bases are far apart modulo 64 GiB and modulo 1 GiB too, so that the identity placement does not clash at once:
 *      modulo 1 GiB  0 programs, libraries | 256M PIE | 512M heap up | 768M mmaps down | 896M stack | 1G tables down */
#define MMU_WINDOW_START 0x10000ull
#define MMU_WINDOW_END 0x400000000000ull /* 2^46 */
#define MMU_PIE_BASE 0x10000000ull       /* position independent programs */
#define MMU_LOW_BASE 0x40000000ull       /* interpreter, shared objects: code stays in the low 2 GiB */
#define MMU_LOW_END 0x80000000ull
#define MMU_HEAP_BASE 0x1120000000ull   /* brk */
#define MMU_TABLES_BASE 0x8000000000ull /* the page tables' arena, below 1 TiB */
#define MMU_TABLES_END 0x9000000000ull
#define MMU_MMAP_TOP 0x3f0e30000000ull  /* anonymous mmaps grow down from here */
#define MMU_STACK_TOP 0x3fff38000000ull /* first byte above the stack */
#define MMU_STACK_BYTES (8ull << 20)    /* the guest's RLIMIT_STACK */

/* ------------------------------------------------------------------ placement */
enum mmu_placement {
    MMU_SEQUENTIAL, /* the next free frame */
    MMU_RANDOM,     /* a free frame drawn with the seeded generator */
    MMU_IDENTITY,   /* physical = virtual modulo the physical size; a clash is an error */
    MMU_SAME_COLOR, /* frames of one colour only: the adversary, for teaching */
    MMU_COLORED,    /* frame number mod colors = virtual page number mod colors */
    MMU_BUDDY,      /* Linux's page allocator, fresh or aged */
    MMU_MAP,        /* as a map file says */
};
enum mmu_page_size { MMU_PAGE_4K, MMU_PAGE_2M, MMU_PAGE_1G, MMU_PAGE_SIZES };
static inline uint64_t mmu_page_bytes(enum mmu_page_size size) { return C2_PAGE_BYTES << 9 * (unsigned)size; }
enum mmu_huge {
    MMU_HUGE_ASKED, /* where the program asks: MAP_HUGETLB, MADV_HUGEPAGE */
    MMU_HUGE_NEVER, /* not even there */
    MMU_HUGE_THP,   /* 2 MiB for every aligned range of that size inside one anonymous mapping */
    MMU_HUGE_HEAP,  /* the heap of brk, which grows by huge pages then */
    MMU_HUGE_ALL,   /* all anonymous memory, and the heap as with HEAP */
};
/* Which pages a rule is about. Of several that match, an object goes before a file, a file before the others, and among
 * equals the first. */
enum mmu_region_kind {
    MMU_REGION_HEAP, /* of brk */
    MMU_REGION_STACK,
    MMU_REGION_MMAP,   /* anonymous mappings; the bss of programs and libraries among them */
    MMU_REGION_TEXT,   /* executable mappings of files */
    MMU_REGION_FILE,   /* mappings of a file: of that basename, or with a '/' in the name: whose path ends in it */
    MMU_REGION_OBJECT, /* pages that hold a byte of [start, start + bytes) */
};
struct mmu_region {
    enum mmu_region_kind kind;
    const char *name;      /* as messages call it: "heap", "libc.so.6", "A" */
    uint64_t start, bytes; /* OBJECT */
};
bool mmu_region_of_word(struct mmu_region *out, const char *word); /* "heap", "stack", "mmap", "text"; else false */
const char *const *mmu_region_words(size_t *count);
struct mmu_rule;

#define MMU_PATH_BYTES 1024
struct mmu_config {
    uint64_t physical_bytes; /* multiple of the page size, at most 2^40 */
    enum mmu_placement placement;
    uint32_t colors;          /* for MMU_SAME_COLOR and MMU_COLORED: colour = frame number mod colors; at least 1 */
    uint32_t color;           /* for MMU_SAME_COLOR */
    uint32_t age;             /* for MMU_BUDDY: thousandths, 0 = fresh, at most 1000 */
    char map[MMU_PATH_BYTES]; /* for MMU_MAP: the file */
    uint64_t seed;            /* master seed */
    enum mmu_huge huge;
    enum mmu_page_size huge_size; /* for HEAP and ALL; MMU_PAGE_4K means 2M */
    bool zero_page;               /* pages that are only read share one frame: touch.c */
    bool log_placements;          /* for mmu_pagemap_write */
    /* Lent until mmu_destroy. Pages in no rule's region go by `placement`. */
    const struct mmu_rule *rules;
    size_t rule_count;
    /* Regions that get huge pages of huge_size beside those that `huge` says; no FILE and TEXT. An OBJECT only where
     * the huge page lies in its pages whole. */
    const struct mmu_region *huge_regions;
    size_t huge_region_count;
    /* What the guest can see of all that, so that two placements of one run agree on it: */
    enum mmu_page_size
        heap_page;        /* the heap starts at and grows by multiples of this, or of what huge asks for if larger */
    uint64_t guest_bytes; /* the memory that the guest is told of: no break grows by more at once; 0: physical_bytes */
};
struct mmu_rule {
    struct mmu_region region;
    struct mmu_config policy; /* placement, colors, color, age and map; the rest is the run's */
    const char *text;         /* the policy as the user wrote it, for reports */
};
const char *mmu_huge_name(enum mmu_huge huge);                            /* "off", "never", "thp", "heap", "all" */
enum mmu_page_size mmu_config_heap_page(const struct mmu_config *config); /* what the heap grows by */
/* "sequential", "random", "identity", "same-color[,color=N]", "colored", "buddy[,age=0.N]", "file=PATH" or "file:PATH";
 * further keys are an error that names the nearest. Sets placement, color, age and map only. The level that `colors`
 * comes from is the caller's affair. */
enum c2_status mmu_placement_parse(struct mmu_config *config, const char *text, struct c2_error *err);
const char *mmu_placement_name(enum mmu_placement placement);
/* "placement same-color,color=1 with huge pages off": in what words a user asked for it. Returns buffer. */
#define MMU_PLACEMENT_TEXT 400
char *mmu_placement_text(char *buffer, size_t bytes, const struct mmu_config *config);

/* ------------------------------------------------------------------ life */
struct mmu;
/* Reserves the window (a clash names the address and what lies there). One mmu at a time in a process. */
enum c2_status mmu_create(struct mmu **out, const struct mmu_config *config, struct c2_error *err);
void mmu_destroy(struct mmu *mmu); /* releases the window */

/* Whoever caches translations registers here. `before` is called before translations of [start, start+bytes)
 * disappear, move or lose rights, or executable ones change theirs at all (while they still hold: consumers of
 * recorded references catch up), `after` when they have; `code` says that executable mappings are concerned. The range
 * may be mapped still, or again: mmu_area_at tells. A huge page that is split is told of as well, as its size changes.
 * `mapped` is called after memory has appeared: a mapping, growth of the heap or of a mapping, what a move made where
 * it went (all of it at once). *area is exactly what is new, lent for the call; the area it belongs to may be larger.
 * Who registers late finds what is there already with mmu_area_at. Each function may be NULL. At most 4 listeners. */
struct mmu_area;
struct mmu_listener {
    void *self;
    void (*before)(void *self, struct guest_va start, uint64_t bytes);
    void (*after)(void *self, struct guest_va start, uint64_t bytes, bool code);
    void (*mapped)(void *self, const struct mmu_area *area);
};
enum c2_status mmu_listen(struct mmu *mmu, struct mmu_listener listener, struct c2_error *err);
void mmu_unlisten(struct mmu *mmu, const void *self); /* every listener of this self */

/* ------------------------------------------------------------------ followers
 * The same run under another placement: follow.c. A follower goes through whatever its leader goes through and has
 * frames, tables, huge pages, counts and listeners of its own; nothing else may change it. It is asked like any mmu. */
#define MMU_FOLLOWERS 2
/* The leader is fresh, and its config as mmu_config_lead makes it; else C2_ERR_INVALID names what to change. The
 * follower takes heap_page and guest_bytes from the leader. It is destroyed before the leader. */
enum c2_status mmu_create_follower(struct mmu **out, struct mmu *leader, const struct mmu_config *config,
                                   struct c2_error *err);
/* Completes a leader's config: small pages only, placed sequentially, memory that lasts for longer than any of the
 * followers', and what the guest can see of those with the largest heap_page and guest_bytes. Keeps log_placements. */
void mmu_config_lead(struct mmu_config *leader, const struct mmu_config *followers, unsigned count);
/* C2_OK, or why a follower could not go along with a change; the leader's next page fault fails with the same reason.
 * To be asked when a run ends. */
enum c2_status mmu_followers_status(const struct mmu *leader, struct c2_error *err);

/* ------------------------------------------------------------------ journal
 * What happened to an address space, so that the same can happen to another one later: journal.c. */
enum mmu_event_kind {
    MMU_EVENT_MAP,   /* start, bytes, prot, kind | shared << 8 | enum mmu_page_size of MAP_HUGETLB << 16, offset, inode,
                        * device */
    MMU_EVENT_UNMAP, /* address, bytes */
    MMU_EVENT_PROTECT, /* address, bytes, prot, answer */
    MMU_EVENT_REMAP,   /* address, bytes, new bytes, new address */
    MMU_EVENT_DISCARD, /* address, bytes, answer */
    MMU_EVENT_ADVISE,  /* address, bytes, huge */
    MMU_EVENT_BRK,     /* address */
    MMU_EVENT_TOUCH,   /* address, enum mmu_access: a page became present, or got a frame for the zero page's */
    MMU_EVENTS
};
#define MMU_EVENT_WORDS 7
struct mmu_event {
    enum mmu_event_kind kind;
    uint64_t words[MMU_EVENT_WORDS];
    const char *path; /* MAP of a file; else NULL */
};
/* Called after each event; the event is lent for the call. One journal an address space. The first failure is kept:
 * from then on nothing is told any more, and page faults fail with its reason. */
struct mmu_journal {
    void *self;
    enum c2_status (*happened)(void *self, const struct mmu_event *event, struct c2_error *err);
};
void mmu_keep_journal(struct mmu *mmu, struct mmu_journal journal);
enum c2_status mmu_journal_status(const struct mmu *mmu, struct c2_error *err);
/* Words that an event of this kind uses. */
unsigned mmu_event_words(enum mmu_event_kind kind);
/* An address space without window and without bytes, for events to be repeated in. It has heap_page and guest_bytes of
 * the one that they are of. Any number of them at a time. */
enum c2_status mmu_create_detached(struct mmu **out, const struct mmu_config *config, struct c2_error *err);
enum c2_status mmu_repeat(struct mmu *detached, const struct mmu_event *event, struct c2_error *err);

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
    uint64_t inode, device; /* file mappings, as fstat says; for /proc/self/maps */
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
/* These five answer as the kernel would: 0 or an address on success, -errno on failure (ENOMEM, EINVAL, EEXIST,
 * EACCES ...); they take and give plain addresses because they are the guest's own numbers. */
int64_t mmu_map(struct mmu *mmu, const struct mmu_request *request);
int64_t mmu_unmap(struct mmu *mmu, uint64_t address, uint64_t bytes);
int64_t mmu_protect(struct mmu *mmu, uint64_t address, uint64_t bytes, unsigned prot);
int64_t mmu_remap(struct mmu *mmu, uint64_t old, uint64_t old_bytes, uint64_t new_bytes, bool may_move, bool fixed,
                  uint64_t new_address);
/* MADV_DONTNEED and MADV_FREE: anonymous pages become absent and zero, their frames free. */
int64_t mmu_discard(struct mmu *mmu, uint64_t address, uint64_t bytes);
/* MADV_HUGEPAGE (true) and MADV_NOHUGEPAGE for first touches to come. The range is mapped. */
int64_t mmu_advise_huge(struct mmu *mmu, uint64_t address, uint64_t bytes, bool huge);
/* brk(2): returns the new (or unchanged) break. The heap starts at MMU_HEAP_BASE. */
uint64_t mmu_brk(struct mmu *mmu, uint64_t address);
/* The area that holds va, or the first one above it when next is true; NULL if none. Lent until a change. */
const struct mmu_area *mmu_area_at(const struct mmu *mmu, struct guest_va va, bool next);

/* ------------------------------------------------------------------ touching and translating */
enum mmu_access { MMU_ACCESS_READ, MMU_ACCESS_WRITE, MMU_ACCESS_EXEC, MMU_ACCESS_UNKNOWN /* not a fetch */ };
enum mmu_fault {
    MMU_FAULT_NONE,     /* the page is present and may be accessed so: go on */
    MMU_FAULT_UNMAPPED, /* SIGSEGV, SEGV_MAPERR */
    MMU_FAULT_DENIED,   /* SIGSEGV, SEGV_ACCERR */
    MMU_FAULT_BUS,      /* SIGBUS: beyond the end of the mapped file */
    MMU_FAULT_FAILED,   /* *err says why: physical memory exhausted, identity clash ... ends the run */
};
/* An access to the page of va: first touch gives it a frame. UNKNOWN: called after an engine's page fault whose
 * access is not known: an absent page of a readable area is made present with the area's rights, as by a reading
 * access; a present page means the rights forbid it, except that the zero page in a writable area means a writing
 * access. */
enum mmu_fault mmu_touch(struct mmu *mmu, struct guest_va va, enum mmu_access access, struct c2_error *err);
/* The same for every page of a range, in ascending order; stops at the first fault, whose address is *at. UNKNOWN
 * counts as READ here. */
enum mmu_fault mmu_touch_range(struct mmu *mmu, struct guest_va va, uint64_t bytes, enum mmu_access access,
                               struct guest_va *at, struct c2_error *err);
/* Whether every page of the range lies in an area with these rights; touches nothing. bytes 0: true. */
bool mmu_allows(const struct mmu *mmu, struct guest_va va, uint64_t bytes, unsigned prot);
/* Walks the tables; false if absent. Changes nothing; may run on another thread than the one that maps. */
bool mmu_translate(const struct mmu *mmu, struct guest_va va, struct guest_pa *out);
/* What a page walk of va reads: the simulated physical address of each entry, the top table's first. 4 entries for a
 * page of 4 KiB, 3 for 2 MiB, 2 for 1 GiB. False if the page is absent. Threads as mmu_translate. */
#define MMU_WALK_ENTRIES 4
#define MMU_WALK_BITS 9 /* of the page's number that each of them stands for */
struct mmu_walk {
    unsigned entry_count;
    struct guest_pa entry[MMU_WALK_ENTRIES];
};
bool mmu_walk(const struct mmu *mmu, struct guest_va va, struct mmu_walk *out);

/* The same, and the size of the page that va lies in. */
bool mmu_translate_sized(const struct mmu *mmu, struct guest_va va, struct guest_pa *out, enum mmu_page_size *size);

/* Whether the page of va is present and its page-table rights allow the access: what a CPU would not fault on. */
bool mmu_ready(const struct mmu *mmu, struct guest_va va, enum mmu_access access);

/* ------------------------------------------------------------------ for engines */
uint64_t mmu_root(const struct mmu *mmu); /* address of the top table = CR3; no engine can walk a follower's */

/* ------------------------------------------------------------------ counts */
struct mmu_counts {
    uint64_t small_pages;      /* pages that got a 4 KiB frame: at the first touch, or as a copy of the zero page */
    uint64_t small_present;    /* present now */
    uint64_t huge_2m, huge_1g; /* first touches that got a frame of 2 MiB, 1 GiB */
    uint64_t huge_2m_present, huge_1g_present;
    uint64_t huge_fallbacks; /* first touches of a whole huge range for which there was no huge frame: small pages */
    uint64_t huge_splits;    /* huge pages that became pages of the next smaller size, frames kept */
    uint64_t zero_pages;     /* first touches that mapped the zero page */
    uint64_t zero_copies;    /* of them written later: they got a frame then */
    uint64_t zero_present;   /* of small_present, those that map the zero page */
    uint64_t table_pages;    /* page-table pages, simulated frames too */
    uint64_t faults;         /* mmu_touch calls that made a page present */
    uint64_t lost_pages;     /* pages of mapped files that vanished after their first touch (file cut, disk full): the
                             * guest goes on with a page of zeros where hardware would raise SIGBUS. Not of followers */
};
const struct mmu_counts *mmu_counts(const struct mmu *mmu); /* lent until destroy */
/* First touches by a rule or in a huge region: what came of them. */
struct mmu_rule_counts {
    uint64_t small_pages, huge_2m, huge_1g; /* a huge region: small_pages stays 0 */
    uint64_t huge_fallbacks;                /* a huge region's */
};
const struct mmu_rule_counts *mmu_rule_counts(const struct mmu *mmu, size_t rule); /* lent until destroy */
const struct mmu_rule_counts *mmu_huge_region_counts(const struct mmu *mmu, size_t region);
const struct mmu_config *mmu_config(const struct mmu *mmu);

/* Bytes of the pages present, of all sizes; not of those that map the zero page. */
static inline uint64_t mmu_resident_bytes(const struct mmu_counts *counts)
{
    return (counts->small_present - counts->zero_present) * mmu_page_bytes(MMU_PAGE_4K) +
           counts->huge_2m_present * mmu_page_bytes(MMU_PAGE_2M) +
           counts->huge_1g_present * mmu_page_bytes(MMU_PAGE_1G);
}

/* ------------------------------------------------------------------ map files
 * Every placement of the run, in order of first touch, in a form that the placement MMU_MAP reads back (pagemap.c has
 * the grammar). Needs log_placements. textproto: the form of DynamoRIO's v2p.textproto, else plain lines. */
bool mmu_pagemap_is_textproto(const char *path); /* by its ending */
enum c2_status mmu_pagemap_write(const struct mmu *mmu, FILE *to, bool textproto, struct c2_error *err);

void mmu_check(const struct mmu *mmu);
void mmu_dump(const struct mmu *mmu, FILE *to); /* areas in /proc/PID/maps style, then present pages */

#endif
