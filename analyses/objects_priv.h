/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What lies at an address of the guest: the objects that references and misses are counted for. The model card is in
 * objects.c.
 */
#ifndef C2_ANALYSES_OBJECTS_PRIV_H
#define C2_ANALYSES_OBJECTS_PRIV_H

#include "analyses/analyses.h"

/* One object, or all small blocks of an allocation site. Does not move, is never taken back. */
struct objects_owner {
    uint64_t refs;
    enum analyses_kind kind;
    uint32_t allocator; /* enum stream_allocator */
    bool allocated;     /* a block, or blocks of one site */
    uint32_t site;      /* where; number of a site */
    bool is_local;      /* on the stack, or thread-local: */
    bool nested;        /* at times there was more than one of it */
    uint64_t layout;    /* which, to the loader */
    uint32_t local;
    uint64_t base, bytes;
    uint64_t blocks;  /* 0: an allocation site none of whose blocks went without an owner of its own */
    uint64_t number;  /* malloc#N, mmap#N: N; 0: none */
    const char *name; /* without number; NULL: by allocator and site */
    struct loader_variable_id variable; /* of a static one */
    const char *module;
    char *kept;          /* memory of the name, where it is kept nowhere else */
    uint32_t site_owner; /* of a block: its site's; else itself */
    bool small;          /* a block that is shown alone only if its site has few */
};

struct objects_found {
    uint32_t owner;
    uint32_t block;      /* tells blocks of one owner apart; 0: it is not a block */
    uint64_t start, end; /* the answer holds there */
};

struct objects;
enum c2_status objects_create(struct objects **out, struct loader_symbols *symbols, struct c2_error *err);
void objects_destroy(struct objects *objects);

enum c2_status objects_mapped(struct objects *objects, const struct mmu_area *area, struct c2_error *err);
/* STREAM_STACK: what is mapped there is the stack of a thread. */
enum c2_status objects_stack(struct objects *objects, const uint64_t *words, struct c2_error *err);
enum c2_status objects_unmapped(struct objects *objects, uint64_t start, uint64_t bytes, struct c2_error *err);
/* These three: [*start, *start + *bytes) has other owners than before. words: of the mark ALLOCATED. */
enum c2_status objects_allocated(struct objects *objects, const uint64_t *words, uint64_t *start, uint64_t *changed,
                                 struct c2_error *err);
enum c2_status objects_passed(struct objects *objects, uint64_t address, uint64_t site, uint64_t *start,
                              uint64_t *changed, struct c2_error *err);
/* words: of the mark LOCAL. */
enum c2_status objects_local(struct objects *objects, const uint64_t *words, uint64_t *start, uint64_t *changed,
                             struct c2_error *err);
void objects_left(struct objects *objects, uint64_t start, uint64_t bytes);
/* 0 bytes: no block is known there. */
void objects_freed(struct objects *objects, uint64_t address, uint64_t *start, uint64_t *bytes);

/* Always finds one. */
void objects_find(const struct objects *objects, uint64_t va, struct objects_found *out);
/* The owner of the code at pc, of page tables. */
enum c2_status objects_code(struct objects *objects, uint64_t pc, uint32_t *owner, struct c2_error *err);
enum c2_status objects_tables(struct objects *objects, uint32_t *owner, struct c2_error *err);

uint32_t objects_count(const struct objects *objects);
struct objects_owner *objects_owner(const struct objects *objects, uint32_t owner);
/* The owner that the owner's counts are shown with: itself, or its site when that has too many blocks to name. */
uint32_t objects_shown(const struct objects *objects, uint32_t owner);

/* Whether this block was the only one of its site so far. */
bool objects_alone(const struct objects *objects, uint32_t owner);
/* Words of sites (stream.h): of the call of the allocator, then further out. None where the owner is no block. */
uint32_t objects_sites(const struct objects *objects, uint32_t owner, uint64_t addresses[STREAM_CALLERS]);

void objects_check(const struct objects *objects);

/* ------------------------------------------------------------------ blocks.c: the live blocks of the allocator */
struct block {
    uint64_t base, bytes;   /* bytes: at least 1 */
    uint32_t owner, number; /* number: of the allocation, modulo 2^32, never 0 */
    uint64_t asked;         /* bytes that the program asked for, which may be 0 */
};
struct blocks;
enum c2_status blocks_create(struct blocks **out, struct c2_error *err);
void blocks_destroy(struct blocks *blocks);
/* What was there and overlaps is gone first: its end was never told. [*start, *end): it and the block. */
enum c2_status blocks_add(struct blocks *blocks, const struct block *block, uint64_t *start, uint64_t *end,
                          struct c2_error *err);
bool blocks_remove(struct blocks *blocks, uint64_t base, struct block *out);   /* false: no block begins there */
void blocks_remove_range(struct blocks *blocks, uint64_t start, uint64_t end); /* that begin in it */
/* The block around va, or NULL; then nothing but va's surroundings [*start, *end) are known to be no block's. */
const struct block *blocks_find(const struct blocks *blocks, uint64_t va, uint64_t *start, uint64_t *end);
void blocks_check(const struct blocks *blocks);

/* ------------------------------------------------------------------ sites.c: allocations in words */
/* Which of the sites is to be shown, by these words. */
void sites_choose(struct loader_symbols *symbols, const uint64_t *words, struct analyses_object *object);
/* Of one with sites: "beta", "row#3", "malloc#3", "node@build (list.c:20)". alone: it needs no number. NULL: no
 * memory. */
char *sites_name(struct loader_symbols *symbols, const struct analyses_object *object, bool alone);

#endif
