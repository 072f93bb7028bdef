/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * recording_reader_priv: the reader's two files: recording.c takes chunks from the file, recording_items.c makes
 * records of their contents.
 */
#ifndef C2_STREAM_RECORDING_READER_PRIV_H
#define C2_STREAM_RECORDING_READER_PRIV_H

#include "stream/recording_priv.h"

struct recording_section {
    const uint8_t *at, *end;
};

struct stream_recording {
    FILE *from;
    char *name;
    long start;             /* where it begins in the file */
    bool seekable, started; /* started: something behind the facts was read */
    bool facts_known;       /* those of the end as well */
    uint64_t offset;        /* bytes read */
    uint64_t chunk;         /* where the current chunk begins */
    struct c2_chunks chunks;
    enum recording_chunk kind; /* of the current chunk */
    struct recording_section control, values;
    uint64_t words_left; /* that the chunk may hold */

    struct stream_fact *facts; /* whose texts are this recording's own */
    uint32_t fact_count, fact_room;
    uint32_t fact_asked; /* the last that was asked about */
    size_t fact_bytes;

    struct stream_blocks *blocks;
    struct recording_model model;
    bool distrusted;
    struct stream_marks *marks; /* of this time; NULL: what they say is trusted */
    struct stream_sink to;
    struct stream_batch *batch;

    enum c2_status status; /* the first failure */
    struct c2_error *err;
};

/* Functions that can fail return false, and r->status says why: so that a caller can write `return ...(...)`. */
bool recording_damaged(struct stream_recording *r, const char *what);
bool recording_good(struct stream_recording *r, enum c2_status status); /* whether it is C2_OK */

/* A number of at most `limit` of the section. */
bool recording_get_number(struct stream_recording *r, struct recording_section *s, uint64_t limit, uint64_t *out);
/* All records and marks of the current chunk; the last batch stays open. */
bool recording_take_items(struct stream_recording *r);
bool recording_deliver(struct stream_recording *r); /* the open batch */

#endif
