/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sharing: how much false sharing there can be at most (--sharing-estimate). sharing.c has the model.
 */
#ifndef C2_ANALYSES_SHARING_H
#define C2_ANALYSES_SHARING_H

#include "analyses/analyses.h"

#define SHARING_NOBODY UINT32_MAX

/* Coherence events, at most; of one block (a line of memory), section or object, or of all. */
struct sharing_events {
    uint64_t worst; /* phi: were the accesses of all threads in the worst order */
    uint64_t
        exchanged; /* theta: those of it that may hand data over: same bytes, stored by one and loaded by another */
    uint64_t false_ones; /* phi less theta, block by block and section by section, not below 0 */
    uint64_t carried;    /* of worst and of exchanged: a block that another thread had before the section began */
};
void sharing_add(struct sharing_events *to, const struct sharing_events *what);

/* The largest number of pairs that accesses of several threads to one block make, an access in one pair at most, the
 * two of a pair by different threads, and one of them a store, or (exchange) one a store and one a load. */
struct sharing_accesses {
    uint64_t loads, stores;
};
uint64_t sharing_pairs(const struct sharing_accesses *threads, uint32_t count);
uint64_t sharing_exchanges(const struct sharing_accesses *threads, uint32_t count);

struct sharing_block {
    struct guest_va address;
    uint32_t threads;  /* that had it in sections of several */
    uint32_t object;   /* in the profile: the one most accessed there; NOBODY */
    uint64_t sections; /* in which several had it */
    struct sharing_accesses accesses;
    struct sharing_events events;
};
struct sharing_section {
    uint64_t number, accesses, blocks; /* from 1 on; in several threads' hands: blocks that more than one had */
    uint32_t threads;                  /* alive */
    struct sharing_events events;
};
struct sharing_object {
    uint32_t object; /* in the profile */
    uint64_t blocks;
    struct sharing_events events;
};
/* Accesses of a line of the source to blocks with false_ones. */
struct sharing_line {
    struct loader_place place;
    struct guest_va pc;
    struct sharing_accesses accesses;
};

/* The same of an instruction of the profile. */
struct sharing_insn {
    uint32_t insn;
    struct sharing_accesses accesses;
};

struct analyses_sharing_result {
    uint32_t threads;       /* of the run */
    uint64_t section_count; /* with accesses */
    struct sharing_events all;
    /* Those with events, by false_ones, then worst, most first; lines by stores and loads. */
    const struct sharing_block *blocks;
    const struct sharing_section *sections;
    const struct sharing_object *objects;
    const struct sharing_line *lines;
    const struct sharing_insn *insns; /* ascending */
    size_t block_count, sections_listed, object_count, line_count, insn_count;
};

/* What reports show of it. */
extern const struct analysis_chapter analyses_sharing_chapter;

#endif
