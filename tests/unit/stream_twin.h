/* SPDX-License-Identifier: GPL-2.0-or-later
 * Random streams, and the slow twin of a recording: batches kept word for word. */
#ifndef C2_TESTS_STREAM_TWIN_H
#define C2_TESTS_STREAM_TWIN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "stream_rules.h"

#define TWIN_INSNS 6u
#define TWIN_SLOTS 12u

/* Records and marks, one after the other: the thread, the header, the words. */
struct twin {
    uint64_t *words;
    size_t count, room;
    size_t at;      /* of one that is compared with: how far */
    bool different; /* something else came */
};

static void twin_keep(struct twin *twin, uint32_t tid, const uint64_t *record)
{
    const uint32_t count = stream_header_slots(record[0]) + 1;
    if (twin->count + count + 1 > twin->room) {
        twin->room = (twin->count + count + 1) * 2;
        twin->words = realloc(twin->words, twin->room * sizeof *twin->words);
        assert_non_null(twin->words);
    }
    twin->words[twin->count++] = tid;
    memcpy(&twin->words[twin->count], record, count * sizeof *record);
    twin->count += count;
}

static enum c2_status twin_write(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    (void)err;
    for (uint32_t i = 0; i < batch->used; i += stream_header_slots(batch->words[i]) + 1)
        twin_keep(self, batch->tid, &batch->words[i]);
    return C2_OK;
}

static enum c2_status twin_compare(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct twin *twin = self;
    (void)err;
    for (uint32_t i = 0; i < batch->used && !twin->different;) {
        const uint32_t count = stream_header_slots(batch->words[i]) + 1;
        twin->different = twin->at + 1 + count > twin->count || twin->words[twin->at] != batch->tid ||
                          memcmp(&twin->words[twin->at + 1], &batch->words[i], count * sizeof(uint64_t)) != 0;
        twin->at += 1 + count;
        i += count;
    }
    return C2_OK;
}

/* ------------------------------------------------------------------ random blocks */

static void draw_slots(struct c2_rng *rng, struct stream_block *block, struct stream_slot *slots, uint16_t insn)
{
    for (uint64_t n = c2_rng_below(rng, 3); n != 0; n--) {
        struct stream_slot *slot = &slots[block->slot_count++];
        *slot = (struct stream_slot){
            .insn = insn, .size = (uint16_t)(1 + c2_rng_below(rng, 512)), .kind = (uint8_t)c2_rng_below(rng, 3)};
        if (slot->kind == STREAM_WRITE)
            slot->how = c2_rng_below(rng, 8) == 0;
        if (c2_rng_below(rng, 16) == 0)
            *slot = (struct stream_slot){insn, 1, STREAM_CACHE, (uint8_t)c2_rng_below(rng, STREAM_CACHES)};
    }
}

static void draw_ending(struct c2_rng *rng, struct stream_block *block, struct stream_slot *slots,
                        const struct stream_insn *last)
{
    if (last->first_slot == block->slot_count)
        return;
    block->ending = (uint8_t)c2_rng_below(rng, 3);
    struct stream_slot *slot = &slots[block->ending == STREAM_CALL ? block->slot_count - 1 : last->first_slot];
    if (block->ending == STREAM_JUMP)
        return;
    slot->kind = block->ending == STREAM_CALL ? STREAM_WRITE : STREAM_READ;
    slot->how = 0;
    slot->size = 8;
}

static void draw_string(struct c2_rng *rng, struct stream_block *block, struct stream_slot *slots)
{
    const uint16_t sides = (uint16_t)c2_rng_below(rng, 4), size = (uint16_t)(1u << c2_rng_below(rng, 4));
    for (uint8_t i = 0; i < 4; i++)
        slots[i] = (struct stream_slot){.kind = (uint8_t)(STREAM_SOURCE + i), .size = sides >> i & 1 ? size : 0};
    slots[1].how = (uint8_t)c2_rng_below(rng, 2);
    block->insn_count = 1;
    block->slot_count = 4;
}

static void draw_block(struct c2_rng *rng, struct stream_blocks *blocks)
{
    struct stream_insn insns[TWIN_INSNS] = {0};
    struct stream_slot slots[TWIN_SLOTS] = {0};
    struct stream_block block = {.pc = {c2_rng_next(rng) >> 1}, .insns = insns, .slots = slots};
    uint32_t number, insn_count = 1 + (uint32_t)c2_rng_below(rng, TWIN_INSNS);
    const bool gaps = c2_rng_below(rng, 4) == 0;
    for (uint16_t i = 0; i < insn_count; i++) {
        const uint8_t length = (uint8_t)(1 + c2_rng_below(rng, 15));
        const bool computes = c2_rng_below(rng, 3) == 0;
        insns[i] = (struct stream_insn){block.bytes, block.slot_count, length,
                                        computes ? (uint8_t)(1 + c2_rng_below(rng, UINT8_MAX)) : 0};
        block.bytes += insns[i].length + (gaps ? (uint32_t)c2_rng_below(rng, 1000) : 0);
        draw_slots(rng, &block, slots, i);
    }
    block.insn_count = (uint16_t)insn_count;
    draw_ending(rng, &block, slots, &insns[insn_count - 1]);
    if (c2_rng_below(rng, 5) == 0 && block.ending == STREAM_JUMP) {
        insns[0].first_slot = 0;
        draw_string(rng, &block, slots);
    }
    assert_int_equal(C2_OK, stream_blocks_add(&number, blocks, &block, NULL));
}

/* ------------------------------------------------------------------ random records */

/* Addresses that stand, stride and jump; each slot of a block has a way of its own. */
static uint64_t draw_address(struct c2_rng *rng, uint32_t block, uint32_t slot, uint64_t step)
{
    switch (c2_rng_below(rng, 40) == 0 ? 3 : (block + slot) % 4) {
    case 0:
        return 0x7fff0000 - slot * 8;
    case 1:
        return ((uint64_t)block << 32) + step * (slot + 1) * 8;
    case 2:
        return ((uint64_t)block << 32) - (step % 100) * 4096;
    default:
        return c2_rng_next(rng) >> c2_rng_below(rng, 64);
    }
}

static void draw_string_words(struct c2_rng *rng, uint64_t *words)
{
    const uint64_t elements = c2_rng_below(rng, 1000), high = c2_rng_below(rng, 4) == 0 ? c2_rng_next(rng) : 0;
    words[0] = c2_rng_next(rng) >> 20;
    words[1] = c2_rng_next(rng) >> 20;
    words[2] = stream_string_done(elements, c2_rng_below(rng, 8) == 0);
    words[3] = high > UINT64_MAX - elements ? UINT64_MAX - elements : high;
}

static uint32_t draw_record(struct c2_rng *rng, uint64_t *to, const struct stream_blocks *blocks, uint32_t number,
                            uint64_t step)
{
    const struct stream_block *block = stream_blocks_at(blocks, number);
    const bool partly = c2_rng_below(rng, 20) == 0;
    const uint32_t insns = partly ? (uint32_t)c2_rng_below(rng, block->insn_count) : block->insn_count;
    uint32_t slots = insns == block->insn_count ? block->slot_count : block->insns[insns].first_slot;
    if (stream_is_string(block)) {
        slots = 4;
        draw_string_words(rng, to + 1);
    } else {
        for (uint32_t i = 0; i < slots; i++)
            to[1 + i] = draw_address(rng, number, i, step);
    }
    to[0] = stream_header(number, insns, slots);
    return slots + 1;
}

static uint32_t draw_mark(struct c2_rng *rng, uint64_t *to)
{
    const uint32_t number = c2_rng_below(rng, 10) == 0 ? (uint32_t)c2_rng_below(rng, 65536) : 1 + rng->s[0] % 70;
    const uint32_t words = (uint32_t)c2_rng_below(rng, c2_rng_below(rng, 30) == 0 ? 1025 : 7);
    to[0] = stream_header(STREAM_MARK, number, words);
    for (uint32_t i = 0; i < words; i++)
        to[1 + i] = c2_rng_next(rng) >> c2_rng_below(rng, 64);
    return words + 1;
}

#define TWIN_LOOP 7u /* blocks that follow one another again and again */

/* Records and marks, some 1000 words of them. Loops, jumps to anywhere. */
static void draw_batch(struct c2_rng *rng, struct stream_batch *batch, const struct stream_blocks *blocks,
                       uint64_t *step)
{
    const uint32_t limit = (uint32_t)c2_rng_below(rng, 1000), count = stream_blocks_count(blocks);
    const uint64_t surprises = c2_rng_below(rng, 4) == 0 ? 2 : 50;
    uint32_t number = (uint32_t)c2_rng_below(rng, count);
    batch->used = 0;
    batch->tid = c2_rng_below(rng, 4) == 0 ? 1 + (uint32_t)c2_rng_below(rng, 3) : 1;
    while (batch->used < limit && batch->used + 1 + TWIN_SLOTS <= STREAM_BATCH_WORDS) {
        uint64_t *to = &batch->words[batch->used];
        const bool mark = c2_rng_below(rng, 100) == 0 && batch->used + 1025 <= STREAM_BATCH_WORDS;
        batch->used += mark ? draw_mark(rng, to) : draw_record(rng, to, blocks, number, *step);
        *step += 1;
        number = c2_rng_below(rng, surprises) == 0
                     ? (uint32_t)c2_rng_below(rng, count)
                     : (number / TWIN_LOOP * TWIN_LOOP + (number + 1) % TWIN_LOOP) % count;
    }
}

/* A stream of so many batches goes to both; blocks come as it goes on. */
static void draw_stream(struct c2_rng *rng, struct stream_blocks *blocks, uint32_t batches, struct stream_sink to,
                        struct twin *twin)
{
    struct stream_batch *batch = calloc(1, sizeof *batch);
    uint64_t step = 0;
    assert_non_null(batch);
    for (uint32_t i = 0; i < batches; i++) {
        for (uint64_t n = i == 0 ? 10 : c2_rng_below(rng, 3); n != 0; n--)
            draw_block(rng, blocks);
        draw_batch(rng, batch, blocks, &step);
        assert_int_equal(C2_OK, twin_write(twin, batch, NULL));
        assert_int_equal(C2_OK, to.consume(to.self, batch, NULL));
    }
    free(batch);
}

/* A recording of a random stream in memory. */
struct recorded {
    struct stream_blocks *blocks;
    struct twin twin;
    char *bytes;
    size_t count;
};

static void record_random(struct recorded *out, const char *seed, uint32_t batches, const struct stream_fact *facts,
                          size_t fact_count)
{
    struct stream_recorder *recorder;
    struct c2_rng rng;
    c2_rng_init(&rng, 1, seed);
    *out = (struct recorded){.blocks = NULL};
    FILE *to = open_memstream(&out->bytes, &out->count);
    assert_int_equal(C2_OK, stream_blocks_create(&out->blocks, NULL));
    assert_int_equal(C2_OK, stream_recorder_create(&recorder, to, "memory", out->blocks, facts, fact_count, NULL));
    draw_stream(&rng, out->blocks, batches, stream_recorder_sink(recorder), &out->twin);
    draw_block(&rng, out->blocks); /* that never runs */
    assert_int_equal(C2_OK, stream_recorder_finish(recorder, NULL, 0, NULL));
    stream_recorder_destroy(recorder);
    fclose(to);
}

static void release_recorded(struct recorded *recorded)
{
    stream_blocks_destroy(recorded->blocks);
    free(recorded->twin.words);
    free(recorded->bytes);
}

/* Plays it, comparing with the twin: a failure is allowed, another stream is not. */
static enum c2_status play_against(struct stream_recording *recording, struct twin *twin, struct c2_error *err)
{
    twin->at = 0;
    twin->different = false;
    enum c2_status status = stream_recording_play(recording, (struct stream_sink){twin, twin_compare, NULL}, err);
    assert_false(twin->different);
    assert_true(status != C2_OK || twin->at == twin->count);
    return status;
}

#endif
