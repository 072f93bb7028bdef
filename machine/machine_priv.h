/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A machine while it is being read: read.c finds the file and walks its lines, keys.c has what a key means by
 * itself, rules.c and tlbs.c know what keys mean together.
 */
#ifndef C2_MACHINE_PRIV_H
#define C2_MACHINE_PRIV_H

#include "machine/machine.h"

#define MACHINE_PATH_BYTES 2048
#define MACHINE_SHOWN_BYTES 400
#define MACHINE_WHERE_BYTES 512                                          /* where a value stands, before a message */
#define MACHINE_VALUE_BYTES (CACHES_HASH_BYTES + MACHINE_PATH_BYTES + 8) /* a value as a file has it */

enum machine_section {
    SECTION_MACHINE,
    SECTION_L1D, /* from here on caches; the lower levels in order, nearest first */
    SECTION_L1I,
    SECTION_L2,
    SECTION_L3,
    SECTION_L4,
    SECTION_WALKS,
    SECTION_TLB, /* from here on TLBs */
    SECTION_COUNT = SECTION_TLB + 24
};

/* Sections of one kind have the same keys. */
enum machine_kind { KIND_MACHINE, KIND_CACHE, KIND_WALKS, KIND_TLB, KIND_COUNT };

/* What a section's name states; place and sides are of a TLB. */
struct machine_section_row {
    const char *name;
    enum machine_kind kind;
    enum caches_tlb_place place;
    unsigned sides;
};
extern const struct machine_section_row machine_sections[SECTION_COUNT];

enum machine_key {
    KEY_NAME,
    KEY_DESCRIPTION,
    KEY_LINE,
    KEY_PHYSICAL_MEMORY,
    KEY_CORES,
    KEY_SNOOP_FILTER,
    KEY_SNOOP_FILTER_WAYS,
    KEY_CLOCK,
    KEY_INSTRUCTIONS_PER_CYCLE,
    KEY_FLOPS_PER_CYCLE,
    KEY_MEMORY_READ_BANDWIDTH,
    KEY_MEMORY_WRITE_BANDWIDTH,
    KEY_SHARING_PENALTY,
    KEY_PREFETCHT0, /* of hints, in their order */
    KEY_PREFETCHT1,
    KEY_PREFETCHT2,
    KEY_PREFETCHNTA,
    KEY_WRITE_COMBINING, /* of [machine] */
    KEY_SIZE,
    KEY_WAYS,
    KEY_SLICES,
    KEY_HASH,
    KEY_HASH_MASKS,
    KEY_POLICY,
    KEY_INDEX,
    KEY_INCLUSION,
    KEY_WAYS_OF,
    KEY_WRITE,
    KEY_ALLOCATE,
    KEY_SHARED,
    KEY_LATENCY,
    KEY_READ_BANDWIDTH,
    KEY_WRITE_BANDWIDTH,
    KEY_PREFETCH,
    KEY_PREFETCH_ON,
    KEY_STREAM_DISTANCE,
    KEY_STRIDE_DISTANCE, /* of a cache */
    KEY_MODE,
    KEY_FROM,
    KEY_WALK_LATENCY, /* of [walks] */
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
    const char *override; /* "L2.ways=4", lent by the caller of machine_read; the last one wins */
    size_t override_rank; /* 1 = first override */
};

/* "vpn[high:low]", or two of them xor-ed. */
struct machine_index {
    unsigned terms, high[2], low[2];
};

struct machine_draft {
    struct caches_machine *machine; /* what stands in [machine] and [walks] goes straight there */
    struct caches_level level[SECTION_COUNT];
    struct caches_tlb tlb[SECTION_COUNT];
    struct machine_index index[SECTION_COUNT];
    char hash_masks[SECTION_COUNT][CACHES_HASH_BYTES];
    uint32_t section_line[SECTION_COUNT]; /* of its heading; 0: the machine has no such section */
    struct machine_origin origin[SECTION_COUNT][KEY_COUNT];
    char path[MACHINE_PATH_BYTES];
    char shown[MACHINE_SHOWN_BYTES]; /* path as messages say it: of a very long one the end */
};

/* What the keys of one section describe. Of a machine that is written only those that its kind of section has. */
struct machine_subject {
    struct caches_machine *machine;
    struct caches_level *level;
    struct caches_tlb *tlb;
    struct machine_index *index;
    char *hash_masks;
};

/* ------------------------------------------------------------------ keys.c */

/* A key, all that is known of it. `set` takes the words that a message begins with. */
struct machine_key_row {
    enum machine_kind kind;
    bool required;
    const char *name;
    const char *values;    /* what may stand there, in Markdown */
    const char *otherwise; /* the value that is taken when the key is left out, or NULL */
    const char *left_out;  /* the same in words, where no one value states it, or NULL */
    enum c2_status (*set)(struct machine_subject *to, const char *value, const char *where, struct c2_error *err);
    void (*write)(char *value, const struct machine_subject *of); /* "": the machine has none */
};
extern const struct machine_key_row machine_keys[KEY_COUNT];

/* Fails with the nearest name; where states what asks ("FILE:12", "--set L2.ways=4"). */
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
/* What was left out of a section becomes what the table states; fails for a required key. */
enum c2_status machine_complete(struct machine_draft *draft, enum machine_section section, struct c2_error *err);

bool machine_given(const struct machine_draft *draft, enum machine_section section, enum machine_key key);
/* "FILE:12: [L2] ways", "--set L2.ways=4", or "FILE:10: [L2]" when the key was not given; returns buffer. */
char *machine_where(char *buffer, const struct machine_draft *draft, enum machine_section section,
                    enum machine_key key);

/* ------------------------------------------------------------------ values.c: kinds of values */

/* where: words to begin a message with, which states what would have been right. */
enum c2_status machine_parse_word(unsigned *out, const char *value, const char *const *words, size_t count,
                                  const char *where, struct c2_error *err);
enum c2_status machine_parse_words(unsigned *out, const char *value, const char *const *words, size_t count,
                                   const char *where, struct c2_error *err); /* "A+B": their bits */
/* "12.9", at most three decimals: thousandths, up to MACHINE_MAX_RATE of them. */
#define MACHINE_MAX_RATE 10000000u
enum c2_status machine_parse_rate(uint32_t *out, const char *value, const char *where, struct c2_error *err);
void machine_write_rate(char *value, uint32_t thousandths); /* 0 is none */
enum c2_status machine_parse_ranged(uint32_t *out, const char *value, uint32_t low, uint32_t high, const char *where,
                                    struct c2_error *err);
/* "core 0: 0xf; core 1-3: 0xff0": at most CACHES_MAX_MASKS, each by itself possible. */
enum c2_status machine_parse_masks(struct caches_level *to, const char *value, const char *where, struct c2_error *err);
void machine_write_masks(char *value, const struct caches_level *level); /* none: "" */
enum c2_status machine_parse_text(char *to, size_t bytes, const char *value, const char *where, struct c2_error *err);
enum c2_status machine_parse_index(struct machine_index *out, const char *value, const char *where,
                                   struct c2_error *err);
/* The inverse of c2_parse_size(), in the largest unit that is exact. */
void machine_write_size(char *value, uint64_t bytes);
void machine_write_words(char *value, unsigned bits, const char *const *words, size_t count);

/* ------------------------------------------------------------------ rules.c */

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

/* The level of the data path that a hint names where the machine does not say. */
uint32_t machine_usual_hint(const struct caches_machine *machine, enum caches_instruction hint);
/* Completes what was left out, checks every rule, and fills draft->machine. */
enum c2_status machine_finish(struct machine_draft *draft, struct c2_error *err);

/* ------------------------------------------------------------------ tlbs.c */

/* The same of TLBs and walks; draft->machine's levels are known already. */
enum c2_status machine_finish_tlbs(struct machine_draft *draft, struct c2_error *err);
extern const char *const machine_from_names[4]; /* in the order of the data path */

/* ------------------------------------------------------------------ presets.c */

/* "there is no machine NAME", with those that there are. */
enum c2_status machine_fail_preset(const char *name, const char *machines_dir, struct c2_error *err);

#endif
