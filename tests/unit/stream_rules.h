/* SPDX-License-Identifier: GPL-2.0-or-later
 * What of a stream its consumers rely on, asserted of each batch and of the table of blocks. */
#ifndef C2_TESTS_STREAM_RULES_H
#define C2_TESTS_STREAM_RULES_H

#include "stream/stream.h"

struct rules {
    const struct stream_blocks *blocks;
    uint64_t words;
};

static inline void check_string(const struct stream_block *block, const uint64_t *words)
{
    if (!stream_is_string(block))
        return;
    assert_true(stream_string_elements(words) <= stream_string_before(words));
    assert_true(stream_string_elements(words) < (uint64_t)1 << 48);
}

static inline void check_record(const struct rules *rules, const uint64_t *record)
{
    const uint32_t number = stream_header_block(record[0]), insns = stream_header_insns(record[0]);
    assert_true(number < stream_blocks_count(rules->blocks));
    const struct stream_block *block = stream_blocks_at(rules->blocks, number);
    const bool string = stream_is_string(block);
    assert_true(insns <= block->insn_count);
    assert_int_equal(stream_header_slots(record[0]),
                     insns == block->insn_count || string ? block->slot_count : block->insns[insns].first_slot);
    check_string(block, record + 1);
}

static inline enum c2_status check_batch(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct rules *rules = self;
    uint32_t at = 0;
    (void)err;
    assert_true(batch->tid != 0 && batch->used != 0 && batch->used <= STREAM_BATCH_WORDS);
    for (; at < batch->used; at += stream_header_slots(batch->words[at]) + 1)
        if (stream_header_block(batch->words[at]) != STREAM_MARK)
            check_record(rules, &batch->words[at]);
    assert_int_equal(at, batch->used);
    rules->words += batch->used;
    return C2_OK;
}

static inline void check_blocks(const struct stream_blocks *blocks)
{
    stream_blocks_check(blocks);
    for (uint32_t n = 0; n < stream_blocks_count(blocks); n++) {
        const struct stream_block *block = stream_blocks_at(blocks, n);
        for (uint32_t i = 0; i < block->insn_count; i++)
            assert_true(block->insns[i].offset + (uint64_t)block->insns[i].length <= block->bytes);
        for (uint32_t i = 0; i < block->slot_count; i++) {
            assert_true(block->slots[i].size <= 512 && block->slots[i].how < STREAM_CACHES);
            assert_true(block->slots[i].size != 0 || block->slots[i].kind >= STREAM_SOURCE);
        }
    }
}

#endif
