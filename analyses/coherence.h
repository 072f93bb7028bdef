/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What cores do to each other, and the lines that they share: the result of coherence.c.
 */
#ifndef C2_ANALYSES_COHERENCE_H
#define C2_ANALYSES_COHERENCE_H

#include "analyses/analyses.h"

#define COHERENCE_NOBODY UINT32_MAX

struct coherence_core {
    struct caches_core_counts counts;
    struct sim_shootdowns shootdowns;
    struct sim_totals of;                             /* of its threads; levels that are shared as well */
    struct caches_core_level levels[ANALYSES_LEVELS]; /* of its own, by number */
};

/* Bytes of a line are bits. */
struct coherence_user {
    uint32_t core;
    struct caches_shared_user of;
};
struct coherence_pair { /* both sides of misses: the access that missed, and the write that took the line */
    uint32_t misser_core, taker_core;
    struct guest_va misser, taker; /* instructions */
    uint64_t misser_bytes, taker_bytes;
    uint64_t true_sharing, false_sharing;
};
struct coherence_line {
    struct guest_va va;                   /* of its first byte, by the name of the first miss */
    uint32_t object;                      /* of the profile: that of most of its misses; NOBODY: there is none */
    uint64_t true_sharing, false_sharing; /* misses */
    uint32_t padding;                     /* bytes behind each core's that give each a line; 0: none would */
    const struct coherence_user *users;   /* cores that have used it since it was first taken from one, ascending */
    uint32_t user_count;
    const struct coherence_pair *pairs; /* most misses first */
    uint32_t pair_count;
};
struct coherence_object {
    uint32_t object;
    uint64_t lines, true_sharing, false_sharing;
    uint64_t handed_over; /* of true_sharing: of lines of which no byte is written by several cores */
    uint32_t padding;     /* the most that one of its lines needs */
};
struct coherence_part { /* what an object misses in lines that count for another one */
    uint32_t line_object, object;
    uint64_t misses;
};

/* Misses for coherence, if turns of threads were `times` as long and each thread did the same in them: the first of a
 * core and a line in each so many turns of the core. */
struct coherence_longer {
    uint32_t times;
    uint64_t misses;
};
#define COHERENCE_LONGER 2

struct analyses_coherence_result {
    uint32_t core_count;
    struct coherence_longer longer[COHERENCE_LONGER];
    const struct coherence_core *cores;
    const struct sim_thread *threads; /* in the order in which they ran first */
    size_t thread_count;
    const struct coherence_line *lines; /* those with most false sharing first, then with most true sharing */
    size_t line_count;
    const struct coherence_object *objects; /* likewise */
    size_t object_count;
    const struct coherence_part *parts; /* ascending by line_object, then those with most misses first */
    size_t part_count;
    const struct coherence_pair *sites; /* likewise, by both instructions: sums over lines and cores */
    size_t site_count;
};

/* coherence_lines.c: fills in lines, sites and objects of a finished run. object_of: of the i-th shared line. */
struct coherence_found {
    struct coherence_line *lines;
    struct coherence_user *users;
    struct coherence_pair *pairs, *sites;
    struct coherence_object *objects;
};
/* Of the i-th shared line of the caches: its address, and its object. */
struct coherence_named {
    struct guest_va va;
    uint32_t object;
};
enum c2_status coherence_find_lines(struct analyses_coherence_result *out, struct coherence_found *found,
                                    const struct sim *sim, const struct coherence_named *named, struct c2_error *err);
void coherence_found_free(struct coherence_found *found);
/* The padding that gives each core a line of its own, by the bytes of both sides of misses of false sharing; 0: theirs
 * overlap, or there is none. */
uint32_t coherence_padding(const struct coherence_pair *pairs, uint32_t count, uint32_t line_bytes);

/* What reports show of it. */
extern const struct analysis_chapter analyses_coherence_chapter;

#endif
