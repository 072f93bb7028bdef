/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * replica: one placement of a guest's pages in simulated physical memory - frames, page tables over them, huge pages,
 * the zero page - made from the marks of memory of a stream (mmu.h writes them). Any number of replicas eat the marks
 * of one run; each is, page for page, what the run's memory would have been under that placement, as nothing that the
 * guest can see depends on it.
 *
 * Model
 *   A page gets its frame at its first touch, in program order, from the placement policy. Tables are 4-level x86-64
 *   tables, with frames of their own, in memory of the replica alone.
 */
#ifndef C2_MMU_REPLICA_H
#define C2_MMU_REPLICA_H

#include "mmu/mmu.h"

/* ------------------------------------------------------------------ placement */
enum mmu_placement {
    MMU_SEQUENTIAL, /* the next free frame */
    MMU_RANDOM,     /* a free frame drawn with the seeded generator */
    MMU_IDENTITY,   /* physical = virtual modulo the physical size; a clash is an error */
    MMU_SAME_COLOR, /* frames of one colour only: the adversary, for teaching */
    MMU_COLORED,    /* frame number mod colors = virtual page number mod colors */
    MMU_BUDDY,      /* Linux's page allocator, fresh or aged */
    MMU_MAP,        /* as a map file states */
};
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
    bool zero_page;               /* pages that are only read share one frame: place.c */
    bool log_placements;          /* for mmu_replica_pagemap_write */
    /* Lent until mmu_replica_destroy. Pages in no rule's region go by `placement`. */
    const struct mmu_rule *rules;
    size_t rule_count;
    /* Regions that get huge pages of huge_size beside those that `huge` states; no FILE and TEXT. An OBJECT only where
     * the huge page lies in its pages whole. */
    const struct mmu_region *huge_regions;
    size_t huge_region_count;
};
struct mmu_rule {
    struct mmu_region region;
    struct mmu_config policy; /* placement, colors, color, age and map; the rest is the run's */
    const char *text;         /* the policy as the user wrote it, for reports */
};
const char *mmu_huge_name(enum mmu_huge huge); /* "off", "never", "thp", "heap", "all" */
/* Makes what the guest can see suit this placement as well as those that it suits already: the largest pages of the
 * heap, the most memory, and whether reads and writes are told apart. */
void mmu_config_suit(struct mmu_guest_config *guest, const struct mmu_config *placement);
/* "sequential", "random", "identity", "same-color[,color=N]", "colored", "buddy[,age=0.N]", "file=PATH" or "file:PATH";
 * further keys are an error that names the nearest. Sets placement, color, age and map only. The level that `colors`
 * comes from is the caller's affair. */
enum c2_status mmu_placement_parse(struct mmu_config *config, const char *text, struct c2_error *err);
const char *mmu_placement_name(enum mmu_placement placement);
/* "placement same-color,color=1 with huge pages off": in what words a user asked for it. Returns buffer. */
#define MMU_PLACEMENT_TEXT 400
char *mmu_placement_text(char *buffer, size_t bytes, const struct mmu_config *config);

/* ------------------------------------------------------------------ life */
struct mmu_replica;
/* Ready for the first mark. Any number of them at a time. */
enum c2_status mmu_replica_create(struct mmu_replica **out, const struct mmu_config *config, struct c2_error *err);
void mmu_replica_destroy(struct mmu_replica *replica);
/* Does what a mark states; marks that say nothing about memory, and KERNEL, change nothing. Once it has failed -
 * physical memory is exhausted, identity placement clashes, a map has no such page: the message ends a run and states
 * what to change - the replica is of no further use. C2_ERR_FORMAT: no run writes such a mark at this point. */
enum c2_status mmu_replica_apply(struct mmu_replica *replica, enum stream_mark mark, const uint64_t *words,
                                 uint32_t count, struct c2_error *err);
/* How many marks more it cannot fail at for want of frames, whatever they say; 0: it may fail at the next. */
uint64_t mmu_replica_guaranteed(const struct mmu_replica *replica);
/* As in mmu.h, after what a mark changed. */
enum c2_status mmu_replica_listen(struct mmu_replica *replica, struct mmu_listener listener, struct c2_error *err);
const struct mmu_areas *mmu_replica_areas(const struct mmu_replica *replica);
const struct mmu_config *mmu_replica_config(const struct mmu_replica *replica);

/* ------------------------------------------------------------------ translating */
/* Walks the tables; false if absent. Changes nothing; may run on another thread than the one that applies marks. */
bool mmu_replica_translate(const struct mmu_replica *replica, struct guest_va va, struct guest_pa *out);
/* The same, and the size of the page that va lies in. */
bool mmu_replica_translate_sized(const struct mmu_replica *replica, struct guest_va va, struct guest_pa *out,
                                 enum mmu_page_size *size);
/* What a page walk of va reads: the simulated physical address of each entry, the top table's first. 4 entries for a
 * page of 4 KiB, 3 for 2 MiB, 2 for 1 GiB. False if the page is absent. Threads as above. */
#define MMU_WALK_ENTRIES 4
#define MMU_WALK_BITS 9 /* of the page's number that each of them stands for */
struct mmu_walk {
    unsigned entry_count;
    struct guest_pa entry[MMU_WALK_ENTRIES];
};
bool mmu_replica_walk(const struct mmu_replica *replica, struct guest_va va, struct mmu_walk *out);

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
    uint64_t faults;         /* touches that made a page present */
};
const struct mmu_counts *mmu_replica_counts(const struct mmu_replica *replica); /* lent until destroy */
/* First touches by a rule or in a huge region: what came of them. */
struct mmu_rule_counts {
    uint64_t small_pages, huge_2m, huge_1g; /* a huge region: small_pages stays 0 */
    uint64_t huge_fallbacks;                /* a huge region's */
};
/* Lent until destroy. */
const struct mmu_rule_counts *mmu_replica_rule_counts(const struct mmu_replica *replica, size_t rule);
const struct mmu_rule_counts *mmu_replica_region_counts(const struct mmu_replica *replica, size_t huge_region);

/* ------------------------------------------------------------------ map files
 * Every placement of the run, in order of first touch, in a form that the placement MMU_MAP reads back (pagemap.c has
 * the grammar). Needs log_placements. textproto: the form of DynamoRIO's v2p.textproto, else plain lines. */
bool mmu_pagemap_is_textproto(const char *path); /* by its ending */
enum c2_status mmu_replica_pagemap_write(const struct mmu_replica *replica, FILE *to, bool textproto,
                                         struct c2_error *err);

void mmu_replica_check(const struct mmu_replica *replica);
void mmu_replica_dump(const struct mmu_replica *replica, FILE *to);

#endif
