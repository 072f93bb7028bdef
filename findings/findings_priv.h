/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Between the files of findings: what misses together, and what is known of how it is accessed.
 */
#ifndef C2_FINDINGS_PRIV_H
#define C2_FINDINGS_PRIV_H

#include "findings/findings.h"

/* The misses of an object in a loop, or in a function where that has none. */
struct group {
    uint32_t object;
    uint32_t loop; /* ANALYSES_NO_LOOP: none is known */
    uint64_t function;
    struct findings_cost cost;
    uint64_t level[ANALYSES_LEVELS];      /* by number: cycles of capacity and conflict misses */
    uint64_t misses, pages, walks;        /* of the first level of the caches, and of the TLBs; of both TLBs */
    uint32_t lead, page_lead;             /* the rows that cost most, in all and in translations; */
    uint64_t lead_cost, page_cost;        /* what they cost */
    uint32_t lead_evictor;                /* of its conflicts: the object with most; or NOBODY */
    bool ordered;                         /* no swap of loops helps */
    const struct analyses_access *access; /* of the lead, or of another row if it has none; NULL: none was seen */
};

struct groups {
    struct group *list;
    uint32_t count, room;
    struct findings_cost code; /* misses of fetches, */
    uint32_t code_lead;        /* the row of them that costs most; NOBODY: none, */
    uint64_t code_lead_cost, code_misses;
    uint64_t cost, startup;
};
/* By number: the one where capacity and conflict misses cost most. */
uint32_t findings_dearest_level(const struct group *group);

/* To be released, whatever it returned. */
enum c2_status findings_group(struct groups *out, const struct findings_input *input, struct c2_error *err);
void findings_groups_release(struct groups *groups);

/* What the group is about, into *out: but for its translations, and for what cores do to each other. */
void findings_judge(struct finding *out, const struct findings_input *input, const struct group *group);

/* How much longer rows should be, for conflicts of an object with itself; access: of its lead. (padding.c) */
void findings_pad(struct finding *finding, const struct findings_input *input, const struct analyses_access *access);

/* The most frequent step of a loop around the access, by its depth; false: none is frequent. */
bool findings_step(const struct analyses_access *access, unsigned depth, int64_t *bytes);

/* Whether the addresses of the instruction come, through registers, from loads of the same loop that need the ones
 * before (chase.c). False too where the code is not known. */
bool findings_chases(const struct findings_input *input, uint32_t insn, uint32_t loop);

/* The gain of a finding of loop order, estimated anew by simulating its nest; 0: the swap spares nothing. (nest.c) */
enum c2_status findings_swap(struct finding *finding, const struct findings_input *input, struct c2_error *err);

/* Adds what cores take from each other, object by object. (sharing.c) */
enum c2_status findings_add_sharing(struct findings *to, const struct findings_input *input, struct c2_error *err);

void findings_cost_add(struct findings_cost *to, const struct findings_cost *more);

/* By worth, most first. */
void findings_sort(struct findings *findings);
/* The instruction of the user's code that led to what the row does; FINDINGS_NOBODY: none is known, or it is that. */
uint32_t findings_caller(const struct findings_input *input, uint32_t row);

/* A finding of nothing in particular. */
struct finding findings_at(enum findings_pattern pattern, const struct analyses_profile_result *profile, uint32_t row);

#endif
