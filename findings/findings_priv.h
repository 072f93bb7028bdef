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
    uint64_t level[ANALYSES_LEVELS];      /* by number: cycles of capacity and conflict misses, */
    uint64_t capacity[ANALYSES_LEVELS];   /* and of capacity misses alone */
    uint64_t misses, pages, walks;        /* of the first level of the caches, and of the TLBs; of both TLBs */
    uint64_t new_lines;                   /* cold misses of the last level */
    uint32_t lead, page_lead;             /* the rows that cost most, in all and in translations; */
    uint64_t lead_cost, page_cost;        /* what they cost */
    uint32_t lead_evictor;                /* of its conflicts: the object with most; or NOBODY */
    bool ordered;                         /* no swap of loops helps */
    bool walked;                          /* others walk from block to block of its object */
    const struct analyses_access *access; /* of the lead, or of another row if it has none; NULL: none was seen, */
    uint64_t access_cost;                 /* and what its row costs */
};

/* Fetches of a function's code. */
struct code {
    uint64_t function; /* 0: of no function */
    uint64_t cycles;
    uint32_t lead; /* the row that costs most, and */
    uint64_t lead_cycles;
};

struct groups {
    struct group *list;
    uint32_t count, room;
    struct findings_cost code; /* misses of fetches, in all */
    uint64_t code_misses;
    struct code *codes; /* and by function */
    uint32_t code_count, code_room;
    struct c2_map *code_of; /* from an entry to its number there */
    uint64_t cost, startup;
    struct c2_map *numbers;   /* from what makes a group to its number in the list */
    struct c2_map *functions; /* from an entry to a number of its own */
    uint32_t function_count;
};

/* ------------------------------------------------------------------ accesses.c
 * To be freed with c2_free; NULL where there are none. */
struct findings_sorted {
    uint32_t loop, object, number; /* of the access in the excerpts */
};
enum c2_status findings_accesses_sort(struct findings_sorted **out, const struct analyses_excerpts_result *excerpts,
                                      struct c2_error *err);
/* Those of the loop's instructions to the object, or, NOBODY, to all objects; in the order of objects, then of
 * instructions. */
struct findings_accesses {
    const struct findings_sorted *list;
    size_t count;
    const struct analyses_access *all;
};
struct findings_accesses findings_accesses_of(const struct findings_input *input, uint32_t loop, uint32_t object);
const struct analyses_access *findings_access(const struct findings_accesses *of, size_t i);

/* ------------------------------------------------------------------ groups.c
 * By number: the one where capacity and conflict misses cost most. */
uint32_t findings_dearest_level(const struct group *group);

/* The entry of the instruction's function; 0: it is in none that is known. */
uint64_t findings_function(const struct findings_input *input, uint32_t insn);

/* To be released, whatever it returned. */
enum c2_status findings_group(struct groups *out, const struct findings_input *input, struct c2_error *err);
void findings_groups_release(struct groups *groups);

/* What the group is about, into *out: but for its translations, and for what cores do to each other. */
void findings_judge(struct finding *out, const struct findings_input *input, const struct group *group);

/* What an instruction does to this object, of all that it does: one of a library goes through many. */
double findings_share_of(const struct analyses_excerpts_result *excerpts, const struct analyses_access *access);

/* Cold misses of the last level, without start-up. */
uint64_t findings_new_lines(const struct findings_input *input, const struct analyses_row *row);

/* Whether at least half of the group's cost is that of lines which stores past the caches had taken, and fetched again
 * soon; then the finding is about that. (past.c) */
bool findings_is_past(struct finding *out, const struct findings_input *input, const struct group *group);

/* Whether pages lie one behind the other in physical memory, so that sets follow from the addresses of the program, and
 * another draw would change nothing. placement: NULL is sequential. (judge.c) */
bool findings_placed_in_order(const struct mmu_config *placement);

/* Places in no order, neither from round to round nor from one time that the loop is entered to the next. (judge.c) */
bool findings_is_irregular(const struct findings_input *input, const struct group *group);

/* ------------------------------------------------------------------ elements.c
 * Whether the object is of something that has elements: headers and free blocks of the heap are not, nor are frames. */
bool findings_has_elements(const struct analyses_object *object);
/* Bytes of an element; 0: it is none. */
uint64_t findings_element_of(const struct findings_input *input, const struct group *group);
/* The element of the group and what is used of it, into *out; false: there is none, or the declaration has no such. */
bool findings_measure_element(struct finding *out, const struct findings_input *input, const struct group *group);
/* The finding's cost with elements of so many bytes. */
uint64_t findings_packed_cost(const struct finding *finding, const struct findings_input *input, uint64_t bytes);
/* Whether the declaration of an element has a part that can go by itself: a field that is not used, or of an array
 * some. */
bool findings_can_split(const struct finding *finding, const struct findings_input *input);
/* Findings of the same elements that one split helps become one: in the first of them. */
void findings_join_splits(struct findings *findings, const struct findings_input *input);

/* How much longer rows should be, for conflicts of an object with itself; access: of its lead. (padding.c) */
void findings_pad(struct finding *finding, const struct findings_input *input, const struct analyses_access *access);

/* The most frequent step of a loop around the access, by its depth; false: none is frequent. */
bool findings_step(const struct analyses_access *access, unsigned depth, int64_t *bytes);

/* The inner one of two loops to be swapped: the innermost loop, or one that only loops of few rounds are in. depth: of
 * it, from the innermost one on. */
struct findings_inner {
    uint32_t loop;
    unsigned depth;
};

/* The step of a loop around, or, in a nest whose inner loop begins later each time, as of a triangle, what it is beside
 * the rounds that are left out, if these are less than half of those of the inner loop. (judge.c) */
bool findings_outer_step(const struct findings_input *input, struct findings_inner inner,
                         const struct analyses_access *access, unsigned depth, int64_t *bytes);

/* Whether the addresses of the instruction come, through registers, from loads of the same loop that need the ones
 * before (chase.c). False too where the code is not known. */
bool findings_chases(const struct findings_input *input, uint32_t insn, uint32_t loop);

/* The gain of a finding of loop order, estimated anew by simulating its nest, swapped and in blocks; 0: neither spares
 * anything. (nest.c) */
enum c2_status findings_swap(struct finding *finding, const struct findings_input *input, struct c2_error *err);

/* Of the inner loop and the one of the given depth, as the source has them: rounds of each in a block that uses whole
 * lines of all that goes in steps shorter than one. loop: the innermost one. (nest.c) */
uint32_t findings_tile(const struct findings_input *input, uint32_t loop, struct findings_inner inner, unsigned depth);

/* How many rounds the loop has each time that it is entered, in the mean. (nest.c) */
uint64_t findings_rounds(const struct findings_input *input, uint32_t loop);

/* By measured reuse distances: bytes of a cache that has nine of ten of the group's lines that come back too late for
 * the level; 0: it is not known. (blocks.c) */
uint64_t findings_fits(const struct findings_input *input, const struct group *group, uint32_t level);

/* How large blocks of the finding's loops may be, so that they fit its level; access: of its lead. (blocks.c) */
enum c2_status findings_block(struct finding *finding, const struct findings_input *input,
                              const struct analyses_access *access, struct c2_error *err);

/* Where the group is walked through once, as by another loop before: then the finding is about the two. (fuse.c) */
void findings_fuse(struct finding *finding, const struct findings_input *input, const struct groups *groups,
                   const struct group *group);

/* How often the lead has walked through the object; 0: not known. Up to FINDINGS_ONE_WALK it is one walk, and its start
 * and end. (judge.c) */
#define FINDINGS_ONE_WALK 1.5
double findings_passes(const struct findings_input *input, const struct group *group);

/* Adds what cores take from each other, object by object. (sharing.c) */
enum c2_status findings_add_sharing(struct findings *to, const struct findings_input *input, struct c2_error *err);

void findings_cost_add(struct findings_cost *to, const struct findings_cost *more);

void findings_add_object(struct finding *to, uint32_t object);

/* Cost, gain, counts and object of another finding of one cause. */
void findings_add_finding(struct finding *to, const struct finding *more);

/* By worth, most first. */
void findings_sort(struct findings *findings);
/* The instruction of the user's code that led to what the row does; FINDINGS_NOBODY: none is known, or it is that. */
uint32_t findings_caller(const struct findings_input *input, uint32_t row);

/* Adds prefetch instructions that are for nothing, or late. (prefetches.c) */
enum c2_status findings_add_prefetches(struct findings *to, const struct findings_input *input, struct c2_error *err);

/* Whether the group is of stores that overwrite what they fetch from memory, so often; then the finding is about that.
 * (stored.c) */
bool findings_is_overwritten(struct finding *out, const struct findings_input *input, const struct group *group,
                             double passes);

/* Whether threads take the elements that the group accesses in turn; then the finding is about that. (cyclic.c) */
bool findings_is_cyclic(struct finding *out, const struct findings_input *input, const struct group *group);

/* Whether a library sorts the large elements that the group accesses; then the finding is about that. (sorting.c) */
bool findings_is_sorted(struct finding *out, const struct findings_input *input, const struct group *group);

/* Takes from what sorts would spare what it takes to move each element once. (sorting.c) */
void findings_move_sorted(struct findings *findings, const struct findings_input *input);

/* Whether what the group accesses is moved within its object. (moved.c) */
bool findings_is_moved(const struct findings_input *input, const struct group *group);

struct finding findings_nowhere(enum findings_pattern pattern); /* fields that are numbers of rows are NOBODY */

/* A finding of nothing in particular. */
struct finding findings_at(enum findings_pattern pattern, const struct analyses_profile_result *profile, uint32_t row);

#endif
