/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What excerpts.c keeps of a run, and accesses.c reads in it.
 */
#ifndef C2_ANALYSES_EXCERPTS_PRIV_H
#define C2_ANALYSES_EXCERPTS_PRIV_H

#include "analyses/excerpts.h"
#include "analyses/loops_priv.h"
#include "analyses/profile_priv.h"

/* Where an address of an excerpt lies. */
struct excerpt_place {
    uint32_t owner;
    uint64_t start; /* of the object or its block */
};

/* Records in a row of one thread: up to the next stretch, or the excerpt's end. hole: so many holes, of what is not
 * measured, lie before it in the run. */
struct excerpt_stretch {
    uint32_t from, tid, hole;
};

struct excerpt {
    uint64_t *words;  /* headers and slots, `used` of them */
    uint32_t *places; /* [word]: number of a place; of headers, counts and the like 0, a place that is none */
    uint32_t used, room;
    struct excerpt_place *list;
    uint32_t place_count, place_room;
    struct excerpt_stretch *stretches;
    uint32_t stretch_count, stretch_room;
};

struct accesses; /* accesses.c */
/* What the excerpts show, in order; `follows`: whether each goes on where the one before ended. Some may have nothing.
 * The profile is finished. */
enum c2_status accesses_create(struct accesses **out, const struct excerpt *excerpts, uint32_t count, bool follows,
                               const struct stream_blocks *blocks, const struct profile *profile,
                               struct loader_symbols *symbols, struct c2_error *err);
void accesses_destroy(struct accesses *accesses); /* takes NULL */
const struct analyses_excerpts_result *accesses_result(const struct accesses *accesses);

#endif
