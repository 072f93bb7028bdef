/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A machine while it is being read: machine.c finds the file and walks its lines, machine_keys.c knows what a key
 * means by itself, machine_rules.c knows what keys mean together, machine_tlbs.c both for TLBs and walks.
 */
#ifndef C2_MACHINE_PRIV_H
#define C2_MACHINE_PRIV_H

#include "caches/caches.h"

#define MACHINE_PATH_BYTES 2048
#define MACHINE_SHOWN_BYTES 400
#define MACHINE_WHERE_BYTES 512 /* of machine_where() and its like: where a value stands, in front of a message */

enum machine_section {
    SECTION_MACHINE,
    SECTION_L1D, /* from here on caches; the lower levels in order, nearest first */
    SECTION_L1I,
    SECTION_L2,
    SECTION_L3,
    SECTION_L4,
    SECTION_WALKS,
    SECTION_TLB, /* from here on TLBs, in the order of machine_tlb_rows */
    SECTION_COUNT = SECTION_TLB + 24
};
#define MACHINE_TLBS (SECTION_COUNT - SECTION_TLB)

enum machine_key {
    KEY_NAME,
    KEY_DESCRIPTION,
    KEY_LINE,
    KEY_PHYSICAL_MEMORY, /* of [machine] */
    KEY_SIZE,
    KEY_WAYS,
    KEY_SLICES,
    KEY_HASH,
    KEY_HASH_MASKS,
    KEY_POLICY,
    KEY_INDEX,
    KEY_INCLUSION,
    KEY_LATENCY,
    KEY_MODE,
    KEY_FROM, /* of [walks] */
    KEY_PAGES,
    KEY_ENTRIES,
    KEY_TLB_WAYS,
    KEY_TLB_POLICY,
    KEY_TLB_INDEX,
    KEY_TLB_LATENCY, /* of a TLB */
    KEY_COUNT
};

/* Where a value came from; neither: it was not given. */
struct machine_origin {
    uint32_t line;        /* of the file, 1 = first; 0: not from the file */
    const char *override; /* "L2.ways=4", lent by the caller of caches_machine_read; the last one wins */
    size_t override_rank; /* 1 = first override */
};

/* "vpn[high:low]", or two of them xor-ed. */
struct machine_index {
    unsigned terms, high[2], low[2];
};

/* What a section's name says about its TLB. */
struct machine_tlb_row {
    const char *name;
    enum caches_tlb_place place;
    unsigned sides;
};
extern const struct machine_tlb_row machine_tlb_rows[MACHINE_TLBS];

struct machine_draft {
    struct caches_machine *machine; /* name, description, line, physical memory go straight there */
    struct caches_level level[SECTION_COUNT];
    struct caches_tlb tlb[SECTION_COUNT];
    struct machine_index index[SECTION_COUNT];
    char hash_masks[SECTION_COUNT][CACHES_HASH_BYTES];
    uint32_t section_line[SECTION_COUNT]; /* of its heading; 0: the machine has no such section */
    struct machine_origin origin[SECTION_COUNT][KEY_COUNT];
    char path[MACHINE_PATH_BYTES];
    char shown[MACHINE_SHOWN_BYTES]; /* path as messages say it: of a very long one the end */
};

/* ------------------------------------------------------------------ machine_keys.c */

const char *machine_section_name(enum machine_section section);
const char *machine_key_name(enum machine_key key);

/* Fails with the nearest name; where says who asks ("FILE:12", "--set L2.ways=4"). */
enum c2_status machine_find_section(enum machine_section *out, const char *name, const char *where,
                                    struct c2_error *err);
enum c2_status machine_find_key(enum machine_key *out, enum machine_section section, const char *name,
                                const char *where, struct c2_error *err);

/* Gives a key its value and remembers the origin. */
enum c2_status machine_set(struct machine_draft *draft, enum machine_section section, enum machine_key key,
                           const char *value, struct machine_origin origin, struct c2_error *err);
/* Adds a continuation line to hash_masks. */
enum c2_status machine_add_masks(struct machine_draft *draft, enum machine_section section, const char *value,
                                 struct c2_error *err);

bool machine_given(const struct machine_draft *draft, enum machine_section section, enum machine_key key);
/* "FILE:12: [L2] ways", "--set L2.ways=4", or "FILE:10: [L2]" when the key was not given; returns buffer. */
char *machine_where(char *buffer, const struct machine_draft *draft, enum machine_section section,
                    enum machine_key key);

/* Values that are one of some words, or a number from low to high. where: words to begin a message with. */
enum c2_status machine_parse_word(unsigned *out, const char *value, const char *const *words, size_t count,
                                  const char *where, struct c2_error *err);
enum c2_status machine_parse_ranged(uint32_t *out, const char *value, uint32_t low, uint32_t high, const char *where,
                                    struct c2_error *err);

/* ------------------------------------------------------------------ machine_tlbs.c: keys of TLBs and walks, rules */

enum c2_status machine_set_mode(struct machine_draft *draft, enum machine_section section, const char *value,
                                const char *where, struct c2_error *err);
enum c2_status machine_set_from(struct machine_draft *draft, enum machine_section section, const char *value,
                                const char *where, struct c2_error *err);
enum c2_status machine_set_pages(struct machine_draft *draft, enum machine_section section, const char *value,
                                 const char *where, struct c2_error *err);
enum c2_status machine_set_entries(struct machine_draft *draft, enum machine_section section, const char *value,
                                   const char *where, struct c2_error *err);
enum c2_status machine_set_tlb_ways(struct machine_draft *draft, enum machine_section section, const char *value,
                                    const char *where, struct c2_error *err);
enum c2_status machine_set_tlb_policy(struct machine_draft *draft, enum machine_section section, const char *value,
                                      const char *where, struct c2_error *err);
enum c2_status machine_set_tlb_index(struct machine_draft *draft, enum machine_section section, const char *value,
                                     const char *where, struct c2_error *err);
enum c2_status machine_set_tlb_latency(struct machine_draft *draft, enum machine_section section, const char *value,
                                       const char *where, struct c2_error *err);
/* Completes the TLBs and walks, checks their rules, and fills draft->machine, whose levels are known already. */
enum c2_status machine_finish_tlbs(struct machine_draft *draft, struct c2_error *err);

/* ------------------------------------------------------------------ machine_rules.c */

/* One of the values that together break a rule. */
struct machine_suspect {
    enum machine_section section;
    enum machine_key key;
};
/* Of those that an override gave the last one, else the first that was given, else the first suspect's section. */
char *machine_blame(char *where, const struct machine_draft *draft, const struct machine_suspect *suspects,
                    size_t count);
#define BLAME(where, draft, ...) \
    machine_blame(where, draft, (const struct machine_suspect[]){__VA_ARGS__}, \
                  sizeof((const struct machine_suspect[]){__VA_ARGS__}) / sizeof(struct machine_suspect))
enum c2_status machine_require_key(const struct machine_draft *draft, enum machine_section section,
                                   enum machine_key key, struct c2_error *err);

/* Completes what was left out, checks every rule, and fills draft->machine. */
enum c2_status machine_finish(struct machine_draft *draft, struct c2_error *err);

#endif
