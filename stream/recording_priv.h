/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * recording_priv: what the two ends of a recording share: the format's numbers, and what both expect to come next.
 *
 * Model
 *   Both ends keep the same expectations, learned from the records that went by:
 *   - which record follows a block: the one that followed it the last time;
 *   - which address a slot has: that of the block's record before, and once more the slot's stride. A stride is a
 *     difference between two addresses that came twice in a row, so that the jump at the end of a loop costs one
 *     surprise and does not change what is expected inside.
 *   Only surprises are written. docs/recording.md has the bytes.
 * Source
 *   The strides: Eickemeyer and Vassiliadis, "A load-instruction unit for pipelined processors", IBM Journal of
 *   Research and Development 37(4), 1993.
 */
#ifndef C2_STREAM_RECORDING_PRIV_H
#define C2_STREAM_RECORDING_PRIV_H

#include "stream/stream.h"

/* A high bit, and both ends of a line: no text has them, and a transfer that takes the file for text shows. */
#define RECORDING_MAGIC "\x89\x43\x32REC\r\n"
#define RECORDING_MAGIC_BYTES 8u
#define RECORDING_VERSION 5u /* of the bytes, and of what marks mean */

/* A chunk: four bytes with the length of the zstd frame that follows, whose content is at most CONTENT_BYTES:
 * HEAD_BYTES (the last four bytes of the frame before, the kind, the bytes of the first section), and two sections. */
#define RECORDING_CONTENT_BYTES (192u << 10)
#define RECORDING_HEAD_BYTES 9u
#define RECORDING_CHUNK_WORDS (1u << 21) /* words of batches that a chunk holds, at most */
#define RECORDING_FACT_BYTES (16u << 20) /* of all facts together */
enum recording_chunk { RECORDING_FACTS = 1, RECORDING_STREAM, RECORDING_END };

/* The low three bits of an item's first byte; above them how many records came as expected before it, or ITEM_MANY and
 * the rest of the number behind. */
enum recording_item {
    ITEM_SURPRISE,       /* the record that was expected, with addresses that were not */
    ITEM_BLOCK,          /* a whole record of another block, with the addresses that were expected */
    ITEM_BLOCK_SURPRISE, /* and with others */
    ITEM_PARTIAL,        /* any other record */
    ITEM_MARK,
    ITEM_DEFINE, /* the block with the next number */
    ITEM_THREAD, /* whose records follow */
    ITEM_REST,   /* no item: the number of records before it */
};
#define ITEM_BITS 3u
#define ITEM_MANY 31u

#define RECORDING_SLOTS 1024u /* of a block, and instructions */
#define RECORDING_MASK_BYTES (RECORDING_SLOTS / 8)
#define RECORDING_MARKS 64u     /* numbers of marks whose words are expected */
#define RECORDING_MARK_WORDS 8u /* as many of them */
#define RECORDING_NO_HEADER ~(uint64_t)0

struct model_slot {
    uint64_t last, stride;
    uint64_t delta; /* the last difference */
};

struct model_block {
    uint64_t follower;   /* header of the record that came after this block's last one */
    uint64_t plain;      /* header of a whole record; RECORDING_NO_HEADER of a string instruction */
    size_t first_slot;   /* in model.slots */
    uint32_t references; /* of a plain record */
    uint32_t insns;
};

struct recording_totals {
    uint64_t records, marks, instructions, references;
};

struct recording_model {
    uint64_t expected;          /* header */
    size_t before;              /* index in blocks of the block before */
    struct model_block *blocks; /* [0]: before the first record; [n + 1]: block n */
    struct model_slot *slots;
    uint32_t block_count; /* without [0] */
    size_t block_room, slot_count, slot_room;
    uint64_t residual; /* the last surprise: address minus what was expected */
    uint64_t marks[RECORDING_MARKS][RECORDING_MARK_WORDS];
    uint64_t predecessor_end; /* the address behind the block that was defined last */
    struct recording_totals totals;
};

enum c2_status recording_model_start(struct recording_model *model, struct c2_error *err);
void recording_model_release(struct recording_model *model);
enum c2_status recording_model_add(struct recording_model *model, const struct stream_block *block,
                                   struct c2_error *err);
/* Whether a record of the block may have this header. */
bool recording_header_fits(const struct stream_block *block, uint64_t header);
/* Of a record that is not plain. */
void recording_count(struct recording_totals *totals, const struct stream_block *block, const uint64_t *record);

/* The record with this header has gone by. */
static inline void recording_follow(struct recording_model *model, uint64_t header)
{
    model->blocks[model->before].follower = header;
    model->before = (size_t)stream_header_block(header) + 1;
    model->expected = model->blocks[model->before].follower;
}

static inline void recording_learn(struct model_slot *slot, uint64_t address)
{
    const uint64_t delta = address - slot->last;
    slot->stride = delta == slot->delta ? delta : slot->stride;
    slot->delta = delta;
    slot->last = address;
}

/* The same, of the address that was expected, which it returns. */
static inline uint64_t recording_go_on(struct model_slot *slot)
{
    slot->last += slot->stride;
    slot->delta = slot->stride;
    return slot->last;
}

/* Small numbers of either sign become small ones. */
static inline uint64_t recording_fold(uint64_t n) { return n << 1 ^ (0 - (n >> 63)); }
static inline uint64_t recording_unfold(uint64_t n) { return n >> 1 ^ (0 - (n & 1)); }

#endif
