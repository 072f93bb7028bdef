/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * checkpoint_priv: bytes in and out, for the files of this room.
 */
#ifndef C2_CHECKPOINT_PRIV_H
#define C2_CHECKPOINT_PRIV_H

#include "checkpoint/checkpoint.h"

#define CHECKPOINT_CHANGED_BYTES 800u /* of the text about changed files */
#define CHECKPOINT_PART_BYTES 63u

/* A file that is to be cut. */
struct checkpoint_cut {
    int fd;
    uint64_t bytes;
};

struct checkpoint {
    FILE *file;
    char *name;
    bool writes;
    char part[CHECKPOINT_PART_BYTES + 1];
    struct c2_error failure;
    struct c2_words changed; /* files that are not what they were */
    char changed_text[CHECKPOINT_CHANGED_BYTES];
    unsigned changed_count;
    struct checkpoint_cut *cuts;
    uint32_t cut_count, cut_room;
    /* The chunk: what of it is used, and while reading what there is. */
    struct c2_chunks chunks;
    size_t used, filled;
    uint64_t offset; /* of the file, behind the current chunk */
    uint64_t chunk;  /* where it begins */
};

static inline bool checkpoint_good(const struct checkpoint *c) { return c->failure.status == C2_OK; }

#endif
