/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The recorder: the end of a recording that writes.
 *
 * Model
 *   Of each record only what was not expected (recording_priv.h) is written: how many records came as expected, and
 *   then which block and which addresses came instead. What is written goes to one of two sections, each of which has
 *   much that repeats: what happened, and by how much addresses and marks' words differ. Sections are filled up to a
 *   chunk, compressed (zstd, level 1) and written.
 * Invariants
 *   A block is defined before its first record; blocks are defined in the order of their numbers, those that never ran
 *   with the others, so that numbers come out equal.
 *   A chunk's content begins with the checksum of the chunk before, and its frame ends with its own: a chunk that is
 *   missing, changed or in another place shows.
 * Cost
 *   A multiplication of matrices takes 0.001 bytes and 3.5 ns a reference, gzip 0.58 and 12, a chase in 32 MiB 1.6 and
 *   11; reading takes 2.7, 9.6 and 8.6 ns (docs/recording.md).
 */
#include <errno.h>
#include <string.h>

#include "stream/recording_priv.h"

#define LEVEL 1
/* A chunk ends with the item that passes one of them. */
#define CHUNK_BYTES C2_HOST_SIZE(64u << 10, 512u)
#define CHUNK_WORDS C2_HOST_SIZE(1u << 20, 4096u)
#define VARINT_BYTES 10u
/* What an item takes at most: in the first section numbers and a mask, or a definition; in the second one number a
 * slot or word. */
#define ITEM_BYTES ((size_t)VARINT_BYTES * 2 * RECORDING_SLOTS)

struct stream_recorder {
    const struct stream_blocks *blocks;
    FILE *to;
    char *name;
    struct c2_chunks chunks;
    struct recording_model model;
    uint64_t expected;         /* records that came as expected, and are not written yet */
    uint64_t words;            /* of batches, in this chunk */
    uint8_t *control, *values; /* ends of the sections */
    uint8_t *value_section;
    size_t fact_bytes; /* of all facts so far */
    uint32_t tid;
};

/* ------------------------------------------------------------------ chunks */

static enum c2_status fail_writing(const struct stream_recorder *r, struct c2_error *err)
{
    return c2_fail(err, C2_ERR_IO, "cannot write the recording %s: %s", r->name, strerror(errno));
}

static enum c2_status recorder_put(struct stream_recorder *r, const void *bytes, size_t count, struct c2_error *err)
{
    return fwrite(bytes, 1, count, r->to) == count ? C2_OK : fail_writing(r, err);
}

/* Writes the content up to `end`, behind the head. */
static enum c2_status recorder_put_chunk(struct stream_recorder *r, enum recording_chunk kind,
                                         const uint8_t *control_end, const uint8_t *end, struct c2_error *err)
{
    size_t bytes;
    uint8_t *content = r->chunks.content;
    content[4] = (uint8_t)kind;
    c2_put_u32(content + 5, (uint32_t)(control_end - content) - RECORDING_HEAD_BYTES);
    enum c2_status status = c2_chunks_pack(&bytes, &r->chunks, (size_t)(end - content), err);
    return status == C2_OK ? recorder_put(r, r->chunks.packed, bytes, err) : status;
}

static void begin_chunk(struct stream_recorder *r)
{
    r->control = r->chunks.content + RECORDING_HEAD_BYTES;
    r->values = r->value_section;
    r->words = 0;
}

static inline uint8_t *recorder_put_number(uint8_t *to, uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        *to++ = (uint8_t)(n | 0x80);
    *to++ = (uint8_t)n;
    return to;
}

/* An item's first byte, with the records before it. */
static void put_item(struct stream_recorder *r, enum recording_item item)
{
    const uint64_t expected = r->expected;
    r->expected = 0;
    *r->control++ = (uint8_t)(item | (expected < ITEM_MANY ? expected : ITEM_MANY) << ITEM_BITS);
    if (expected >= ITEM_MANY)
        r->control = recorder_put_number(r->control, expected - ITEM_MANY);
}

static enum c2_status end_chunk(struct stream_recorder *r, struct c2_error *err)
{
    if (r->expected != 0)
        put_item(r, ITEM_REST);
    if (r->control == r->chunks.content + RECORDING_HEAD_BYTES)
        return C2_OK;
    const size_t values = (size_t)(r->values - r->value_section);
    memcpy(r->control, r->value_section, values);
    enum c2_status status = recorder_put_chunk(r, RECORDING_STREAM, r->control, r->control + values, err);
    begin_chunk(r);
    return status;
}

static bool is_full(const struct stream_recorder *r)
{
    return (size_t)(r->control - r->chunks.content) + (size_t)(r->values - r->value_section) >= CHUNK_BYTES;
}

/* ------------------------------------------------------------------ facts */

/* A text goes through as many chunks as it needs: a fact without a name continues the one before. */
static enum c2_status put_fact(struct stream_recorder *r, const struct stream_fact *fact, struct c2_error *err)
{
    size_t left = strlen(fact->value);
    const char *name = fact->name, *value = fact->value;
    enum c2_status status = C2_OK;
    do {
        const size_t part = left < CHUNK_BYTES ? left : CHUNK_BYTES, name_bytes = strlen(name);
        uint8_t *to = recorder_put_number(r->chunks.content + RECORDING_HEAD_BYTES, name_bytes);
        memcpy(to, name, name_bytes);
        memcpy(to + name_bytes, value, part);
        to += name_bytes + part;
        status = recorder_put_chunk(r, RECORDING_FACTS, to, to, err);
        value += part;
        left -= part;
        name = "";
    } while (left != 0 && status == C2_OK);
    return status;
}

static enum c2_status check_facts(struct stream_recorder *r, const struct stream_fact *facts, size_t count,
                                  struct c2_error *err)
{
    for (size_t i = 0; i < count; i++) {
        C2_ASSERT(facts[i].name[0] != '\0' && strlen(facts[i].name) <= STREAM_FACT_NAME_BYTES);
        r->fact_bytes += strlen(facts[i].name) + strlen(facts[i].value) + 2;
    }
    if (r->fact_bytes <= RECORDING_FACT_BYTES)
        return C2_OK;
    return c2_fail(err, C2_ERR_UNSUPPORTED,
                   "what a recording says of its run (arguments, phases) has %zu bytes, more than %u", r->fact_bytes,
                   RECORDING_FACT_BYTES);
}

static enum c2_status put_facts(struct stream_recorder *r, const struct stream_fact *facts, size_t count,
                                struct c2_error *err)
{
    enum c2_status status = check_facts(r, facts, count, err);
    for (size_t i = 0; i < count && status == C2_OK; i++)
        status = put_fact(r, &facts[i], err);
    return status;
}

static enum c2_status recorder_put_start(struct stream_recorder *r, struct c2_error *err)
{
    uint8_t start[RECORDING_MAGIC_BYTES + 4];
    memcpy(start, RECORDING_MAGIC, RECORDING_MAGIC_BYTES);
    c2_put_u32(start + RECORDING_MAGIC_BYTES, RECORDING_VERSION);
    return recorder_put(r, start, sizeof start, err);
}

/* ------------------------------------------------------------------ life */

static bool recorder_make_buffers(struct stream_recorder *r, const char *name)
{
    const size_t section = CHUNK_BYTES + ITEM_BYTES;
    _Static_assert(RECORDING_HEAD_BYTES + CHUNK_BYTES + 2 * ITEM_BYTES <= RECORDING_CONTENT_BYTES, "a chunk fits");
    r->name = c2_strdup(name);
    r->value_section = c2_alloc(section);
    return r->name && r->value_section;
}

enum c2_status stream_recorder_create(struct stream_recorder **out, FILE *to, const char *name,
                                      const struct stream_blocks *blocks, const struct stream_fact *facts,
                                      size_t fact_count, struct c2_error *err)
{
    *out = NULL;
    struct stream_recorder *r = c2_calloc(1, sizeof *r);
    if (!r)
        return c2_fail_memory(err, "a recorder");
    *r = (struct stream_recorder){.blocks = blocks, .to = to, .tid = 1};
    enum c2_status status = c2_chunks_create(&r->chunks, true, RECORDING_CONTENT_BYTES, RECORDING_VERSION, LEVEL, err);
    if (status == C2_OK)
        status = recorder_make_buffers(r, name) ? recording_model_start(&r->model, err)
                                                : c2_fail_memory(err, "a recorder");
    if (status == C2_OK)
        status = recorder_put_start(r, err);
    if (status == C2_OK)
        status = put_facts(r, facts, fact_count, err);
    if (status != C2_OK) {
        stream_recorder_destroy(r);
        return status;
    }
    begin_chunk(r);
    *out = r;
    return C2_OK;
}

void stream_recorder_destroy(struct stream_recorder *recorder)
{
    if (!recorder)
        return;
    c2_chunks_release(&recorder->chunks);
    recording_model_release(&recorder->model);
    c2_free(recorder->name);
    c2_free(recorder->value_section);
    c2_free(recorder);
}

/* ------------------------------------------------------------------ blocks */

static uint8_t *put_insn(uint8_t *to, const struct stream_insn *insn, uint32_t slots, uint32_t expected)
{
    const bool elsewhere = insn->offset != expected;
    const bool computes = insn->flops != 0;
    to = recorder_put_number(to, (slots << 8 | insn->length) << 2 | (uint32_t)computes << 1 | elsewhere);
    if (elsewhere)
        to = recorder_put_number(to, insn->offset);
    return computes ? recorder_put_number(to, insn->flops) : to;
}

static void put_block(struct stream_recorder *r, const struct stream_block *block)
{
    uint8_t *to = recorder_put_number(r->control, recording_fold(block->pc.v - r->model.predecessor_end));
    to = recorder_put_number(to, block->bytes);
    to = recorder_put_number(to, block->insn_count);
    *to++ = block->ending;
    uint32_t expected = 0;
    for (uint32_t i = 0; i < block->insn_count; i++) {
        const struct stream_insn *insn = &block->insns[i];
        const uint32_t end = i + 1u == block->insn_count ? block->slot_count : insn[1].first_slot;
        to = put_insn(to, insn, end - insn->first_slot, expected);
        expected = insn->offset + insn->length;
    }
    for (uint32_t i = 0; i < block->slot_count; i++) {
        const struct stream_slot *slot = &block->slots[i];
        *to++ = (uint8_t)(slot->kind | slot->how << 3);
        to = recorder_put_number(to, slot->size);
    }
    r->control = to;
}

/* Every block up to and with this number. */
static enum c2_status define(struct stream_recorder *r, uint32_t number, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    while (r->model.block_count <= number && status == C2_OK) {
        const struct stream_block *block = stream_blocks_at(r->blocks, r->model.block_count);
        C2_ASSERT(block->insn_count <= RECORDING_SLOTS && block->slot_count <= RECORDING_SLOTS);
        put_item(r, ITEM_DEFINE);
        put_block(r, block);
        status = recording_model_add(&r->model, block, err);
        if (status == C2_OK && is_full(r))
            status = end_chunk(r, err);
    }
    return status;
}

/* ------------------------------------------------------------------ records */

/* From slot `first` on. Bit s of the masks: slot s was not what was expected. What changes with each slot is kept in
 * registers: stores of bytes may be to anything that r names. */
static bool put_slots(struct stream_recorder *r, struct model_slot *slots, const uint64_t *words, uint32_t first,
                      uint32_t count, uint8_t *masks)
{
    uint8_t *to = r->values;
    uint64_t before = r->model.residual;
    unsigned any = 0;
    masks[0] = 0;
    if (C2_UNLIKELY(first > 8))
        memset(masks, 0, (first + 7) / 8);
    for (uint32_t s = first; s < count;) {
        const uint32_t byte = s / 8, end = count < byte * 8 + 8 ? count : byte * 8 + 8;
        unsigned mask = 0;
        for (; s < end; s++) {
            const uint64_t residual = words[s] - slots[s].last - slots[s].stride;
            recording_learn(&slots[s], words[s]);
            if (residual == 0)
                continue;
            to = recorder_put_number(to, residual == before ? 0 : recording_fold(residual));
            before = residual;
            mask |= 1u << s % 8;
        }
        masks[byte] = (uint8_t)mask;
        any |= mask;
    }
    r->values = to;
    r->model.residual = before;
    return any != 0;
}

/* What follows the item's first byte. */
static void put_masks(struct stream_recorder *r, const uint8_t *masks, uint32_t slots)
{
    const uint32_t bytes = (slots + 7) / 8;
    if (C2_LIKELY(bytes == 1))
        *r->control = masks[0];
    else
        memcpy(r->control, masks, bytes);
    r->control += bytes;
}

/* A record of all its block's instructions and slots. */
static inline bool is_of_whole_block(const struct stream_recorder *r, uint64_t header)
{
    const uint32_t block = stream_header_block(header);
    if (C2_LIKELY(header == r->model.blocks[(size_t)block + 1].plain))
        return true;
    const struct stream_block *about = stream_blocks_at(r->blocks, block);
    return header == stream_header(block, about->insn_count, about->slot_count);
}

static void put_surprising(struct stream_recorder *r, uint64_t header, bool surprise, const uint8_t *masks)
{
    const uint32_t block = stream_header_block(header), slots = stream_header_slots(header);
    if (header == r->model.expected) {
        put_item(r, ITEM_SURPRISE);
    } else if (is_of_whole_block(r, header)) {
        put_item(r, surprise ? ITEM_BLOCK_SURPRISE : ITEM_BLOCK);
        r->control = recorder_put_number(r->control, block);
    } else {
        put_item(r, ITEM_PARTIAL);
        r->control = recorder_put_number(r->control, block);
        r->control = recorder_put_number(r->control, stream_header_insns(header));
        put_masks(r, masks, slots);
        return;
    }
    if (surprise && slots > 1) /* of one, which is clear */
        put_masks(r, masks, slots);
}

static void recorder_count_record(struct stream_recorder *r, const struct model_block *block, const uint64_t *record)
{
    struct recording_totals *totals = &r->model.totals;
    totals->records++;
    if (C2_LIKELY(record[0] == block->plain)) {
        totals->instructions += block->insns;
        totals->references += block->references;
    } else {
        recording_count(totals, stream_blocks_at(r->blocks, stream_header_block(record[0])), record);
    }
}

/* A record whose header or whose slot `first` was not expected. */
static enum c2_status put_unexpected(struct stream_recorder *r, struct model_slot *slots, const uint64_t *record,
                                     uint32_t first, struct c2_error *err)
{
    uint8_t masks[RECORDING_MASK_BYTES];
    const bool surprise = put_slots(r, slots, record + 1, first, stream_header_slots(record[0]), masks);
    put_surprising(r, record[0], surprise, masks);
    return is_full(r) ? end_chunk(r, err) : C2_OK;
}

/* A header that may be used to look up slots; of a block that is defined. */
static bool is_sound(const struct stream_recorder *r, uint64_t header, const struct model_block *block)
{
    return header == r->model.expected || header == block->plain ||
           recording_header_fits(stream_blocks_at(r->blocks, stream_header_block(header)), header);
}

static enum c2_status put_record(struct stream_recorder *r, const uint64_t *record, struct c2_error *err)
{
    const uint64_t header = record[0];
    const uint32_t number = stream_header_block(header), count = stream_header_slots(header);
    enum c2_status status = C2_OK;
    if (C2_UNLIKELY(number >= r->model.block_count))
        status = define(r, number, err);
    if (status != C2_OK)
        return status;
    const struct model_block *block = &r->model.blocks[(size_t)number + 1];
    struct model_slot *slots = &r->model.slots[block->first_slot];
    uint32_t s = 0;
    C2_ASSERT(is_sound(r, header, block));
    while (s < count && record[1 + s] == slots[s].last + slots[s].stride)
        recording_go_on(&slots[s++]);
    if (C2_LIKELY(s == count && header == r->model.expected))
        r->expected++;
    else
        status = put_unexpected(r, slots, record, s, err);
    recorder_count_record(r, block, record);
    recording_follow(&r->model, header);
    return status;
}

static enum c2_status put_mark(struct stream_recorder *r, const uint64_t *record, struct c2_error *err)
{
    const uint32_t number = stream_header_insns(record[0]), words = stream_header_slots(record[0]);
    C2_ASSERT(words <= STREAM_MARK_WORDS);
    put_item(r, ITEM_MARK);
    r->control = recorder_put_number(r->control, number);
    r->control = recorder_put_number(r->control, words);
    for (uint32_t i = 0; i < words; i++) {
        uint64_t unexpected = 0;
        uint64_t *last = number < RECORDING_MARKS && i < RECORDING_MARK_WORDS ? &r->model.marks[number][i]
                                                                              : &unexpected;
        r->values = recorder_put_number(r->values, recording_fold(record[i + 1] - *last));
        *last = record[i + 1];
    }
    r->model.totals.marks++;
    return is_full(r) ? end_chunk(r, err) : C2_OK;
}

/* ------------------------------------------------------------------ batches */

static enum c2_status put_thread(struct stream_recorder *r, uint32_t tid, struct c2_error *err)
{
    C2_ASSERT(tid != 0);
    put_item(r, ITEM_THREAD);
    r->control = recorder_put_number(r->control, tid);
    r->tid = tid;
    return is_full(r) ? end_chunk(r, err) : C2_OK;
}

static enum c2_status record_batch(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct stream_recorder *r = self;
    enum c2_status status = C2_OK;
    if (batch->tid != r->tid)
        status = put_thread(r, batch->tid, err);
    for (uint32_t i = 0; i < batch->used && status == C2_OK; i += stream_header_slots(batch->words[i]) + 1) {
        const bool mark = stream_header_block(batch->words[i]) == STREAM_MARK;
        status = mark ? put_mark(r, &batch->words[i], err) : put_record(r, &batch->words[i], err);
    }
    r->words += batch->used;
    return status == C2_OK && r->words >= CHUNK_WORDS ? end_chunk(r, err) : status;
}

static enum c2_status recorder_drain(void *self, struct c2_error *err)
{
    (void)self, (void)err;
    return C2_OK;
}

struct stream_sink stream_recorder_sink(struct stream_recorder *recorder)
{
    return (struct stream_sink){recorder, record_batch, recorder_drain};
}

enum c2_status stream_recorder_finish(struct stream_recorder *r, const struct stream_fact *facts, size_t fact_count,
                                      struct c2_error *err)
{
    const uint32_t blocks = stream_blocks_count(r->blocks);
    const struct recording_totals *totals = &r->model.totals;
    enum c2_status status = blocks == 0 ? C2_OK : define(r, blocks - 1, err);
    if (status == C2_OK)
        status = end_chunk(r, err);
    if (status == C2_OK)
        status = put_facts(r, facts, fact_count, err);
    if (status != C2_OK)
        return status;
    uint8_t *to = recorder_put_number(r->chunks.content + RECORDING_HEAD_BYTES, totals->records);
    to = recorder_put_number(to, totals->marks);
    to = recorder_put_number(to, totals->instructions);
    to = recorder_put_number(to, totals->references);
    to = recorder_put_number(to, blocks);
    status = recorder_put_chunk(r, RECORDING_END, to, to, err);
    return status == C2_OK && fflush(r->to) != 0 ? fail_writing(r, err) : status;
}
