/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The recording: the end that reads.
 *
 * Model
 *   The recorder's expectations (recording_priv.h) are learned again from what is read, so that records that came as
 *   expected are made without reading anything. Blocks go to a table of the recording's own when it is played for the
 *   first time, under the numbers they had.
 * Counting
 *   Records, marks, instructions and references are counted while they are made, and compared with the recorder's
 *   counts at the end.
 * Invariants
 *   Nothing that was read is used before it was checked: lengths, numbers of blocks, headers against their blocks,
 *   counts of string instructions. Whatever the bytes, what reaches the sink obeys stream.h, memory is that of the
 *   blocks which the bytes spell out, and time that of the words which the counts ask for.
 *   What comes behind the end, or lacks before it, is an error.
 * Not modelled
 *   No index: to get to a place in a recording is to play it from the start.
 *   What the words of marks mean: who takes them checks them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "stream/recording_priv.h"

#define DIRECTION_FLAG ((uint64_t)1 << 63)
#define REFERENCE_BYTES 512u         /* of one reference, at most */
#define ELEMENTS ((uint64_t)1 << 48) /* of one string record, fewer: an address space's */
#define ZSTD_FRAME_START "\x28\xb5\x2f\xfd"
#define ZSTD_CHECKSUM_FLAG 4u /* in the byte behind it */

struct section {
    const uint8_t *at, *end;
};

struct stream_recording {
    FILE *from;
    char *name;
    bool seekable, started; /* started: something behind the facts was read */
    uint64_t offset;        /* bytes read */
    uint64_t chunk;         /* where the current chunk begins */
    uint32_t check;         /* the last four bytes of the frame before */
    ZSTD_DCtx *decompressor;
    uint8_t *packed, *content;
    size_t packed_room;
    enum recording_chunk kind; /* of the current chunk */
    struct section control, values;
    uint64_t words_left; /* that the chunk may hold */

    struct stream_fact *facts; /* whose texts are this recording's own */
    uint32_t fact_count, fact_room;
    size_t fact_bytes;

    struct stream_blocks *blocks;
    struct recording_model model;
    struct stream_sink to;
    struct stream_batch *batch;

    enum c2_status status; /* the first failure */
    struct c2_error *err;
};

/* ------------------------------------------------------------------ errors: false, so that `return fail(...)` */

static bool damaged(struct stream_recording *r, const char *what)
{
    r->status = c2_fail(r->err, C2_ERR_FORMAT,
                        "the recording %s is damaged: %s, in the part that begins at byte %" PRIu64
                        "; record the run again",
                        r->name, what, r->chunk);
    return false;
}

static bool out_of_memory(struct stream_recording *r)
{
    r->status = c2_fail_memory(r->err, "a recording");
    return false;
}

static bool good(struct stream_recording *r, enum c2_status status)
{
    r->status = status;
    return status == C2_OK;
}

/* ------------------------------------------------------------------ bytes */

static bool read_bytes(struct stream_recording *r, void *to, size_t count)
{
    const size_t got = fread(to, 1, count, r->from);
    r->offset += got;
    if (got == count)
        return true;
    if (ferror(r->from))
        r->status = c2_fail(r->err, C2_ERR_IO, "cannot read the recording %s: %s", r->name, strerror(errno));
    else
        r->status = c2_fail(r->err, C2_ERR_FORMAT,
                            "the recording %s ends at byte %" PRIu64
                            ", before its end: it was cut, or its writer was stopped; record the run again",
                            r->name, r->offset);
    return false;
}

static bool short_section(struct stream_recording *r, struct section *s)
{
    s->at = s->end;
    return damaged(r, "its numbers end too early");
}

/* At most `limit`. */
static bool get_number(struct stream_recording *r, struct section *s, uint64_t limit, uint64_t *out)
{
    uint64_t n = 0;
    for (unsigned shift = 0; s->at < s->end; shift += 7) {
        const uint64_t byte = *s->at++;
        if (shift == 63 && byte > 1)
            break;
        n |= (byte & 0x7f) << shift;
        if (byte >= 0x80)
            continue;
        *out = n;
        return n <= limit || damaged(r, "a number is too large");
    }
    return short_section(r, s);
}

static bool get_byte(struct stream_recording *r, struct section *s, unsigned *out)
{
    if (s->at == s->end)
        return short_section(r, s);
    *out = *s->at++;
    return true;
}

/* ------------------------------------------------------------------ chunks */

/* One frame of ours: with its checksum, a content that fits, and nothing behind it. */
static bool is_frame(const uint8_t *packed, size_t bytes)
{
    if (bytes < 16 || memcmp(packed, ZSTD_FRAME_START, 4) != 0 || !(packed[4] & ZSTD_CHECKSUM_FLAG))
        return false;
    const unsigned long long content = ZSTD_getFrameContentSize(packed, bytes);
    return content >= RECORDING_HEAD_BYTES && content <= RECORDING_CONTENT_BYTES &&
           ZSTD_findFrameCompressedSize(packed, bytes) == bytes;
}

static bool open_content(struct stream_recording *r, size_t bytes)
{
    const uint32_t control = recording_get_u32(r->content + 5);
    if (recording_get_u32(r->content) != r->check)
        return damaged(r, "it does not follow the part before");
    if (control > bytes - RECORDING_HEAD_BYTES)
        return damaged(r, "its first section is longer than the part");
    r->kind = (enum recording_chunk)r->content[4];
    r->control = (struct section){r->content + RECORDING_HEAD_BYTES, r->content + RECORDING_HEAD_BYTES + control};
    r->values = (struct section){r->control.end, r->content + bytes};
    r->words_left = RECORDING_CHUNK_WORDS;
    return true;
}

static bool next_chunk(struct stream_recording *r)
{
    uint8_t length[4];
    r->chunk = r->offset;
    if (!read_bytes(r, length, sizeof length))
        return false;
    const uint32_t packed = recording_get_u32(length);
    if (packed > r->packed_room)
        return damaged(r, "its length cannot be right");
    if (!read_bytes(r, r->packed, packed))
        return false;
    if (!is_frame(r->packed, packed))
        return damaged(r, "its head cannot be right");
    const size_t bytes = ZSTD_decompressDCtx(r->decompressor, r->content, RECORDING_CONTENT_BYTES, r->packed, packed);
    if (ZSTD_isError(bytes))
        return damaged(r, ZSTD_getErrorName(bytes));
    if (!open_content(r, bytes))
        return false;
    r->check = recording_get_u32(r->packed + packed - 4);
    return true;
}

/* ------------------------------------------------------------------ the start */

static bool take_start(struct stream_recording *r)
{
    uint8_t start[RECORDING_MAGIC_BYTES + 4];
    const size_t got = fread(start, 1, sizeof start, r->from);
    const size_t known = got < RECORDING_MAGIC_BYTES ? got : RECORDING_MAGIC_BYTES;
    if (ferror(r->from) || (got < sizeof start && memcmp(start, RECORDING_MAGIC, known) == 0)) {
        r->offset = got;
        return read_bytes(r, start, 1); /* says why */
    }
    r->offset = got;
    if (memcmp(start, RECORDING_MAGIC, known) != 0)
        return good(r, c2_fail(r->err, C2_ERR_FORMAT,
                               "%s is no recording of a run: its first bytes are other ones; name a file that was "
                               "recorded by c2emu",
                               r->name));
    const uint32_t version = recording_get_u32(start + RECORDING_MAGIC_BYTES);
    if (version == RECORDING_VERSION)
        return true;
    return good(r,
                c2_fail(r->err, C2_ERR_UNSUPPORTED,
                        "the recording %s has format %u, and this c2emu knows format %u: use the c2emu that wrote it, "
                        "or record the run again with this one",
                        r->name, version, RECORDING_VERSION));
}

static char *copy_text(const uint8_t *from, size_t bytes)
{
    char *text = c2_alloc(bytes + 1);
    if (!text)
        return NULL;
    memcpy(text, from, bytes);
    text[bytes] = '\0';
    return text;
}

/* A fact begins. */
static bool add_fact(struct stream_recording *r, size_t name_bytes)
{
    if (!c2_grow((void **)&r->facts, &r->fact_room, r->fact_count, sizeof *r->facts))
        return out_of_memory(r);
    char *name = copy_text(r->control.at, name_bytes), *value = copy_text(r->control.at, 0);
    r->facts[r->fact_count++] = (struct stream_fact){name, value};
    return (name && value) || out_of_memory(r);
}

/* What is left of the section comes behind the last fact's text. */
static bool continue_fact(struct stream_recording *r)
{
    struct stream_fact *fact = &r->facts[r->fact_count - 1];
    const size_t before = strlen(fact->value), bytes = (size_t)(r->control.end - r->control.at);
    char *value = c2_realloc((void *)fact->value, before + bytes + 1);
    if (!value)
        return out_of_memory(r);
    memcpy(value + before, r->control.at, bytes);
    value[before + bytes] = '\0';
    fact->value = value;
    return true;
}

static bool take_fact(struct stream_recording *r)
{
    uint64_t name_bytes;
    const size_t bytes = (size_t)(r->control.end - r->control.at);
    r->fact_bytes += bytes + 1;
    if (r->fact_bytes > RECORDING_FACT_BYTES || memchr(r->control.at + 1, 0, bytes == 0 ? 0 : bytes - 1))
        return damaged(r, "it says of its run what cannot be right");
    if (!get_number(r, &r->control, STREAM_FACT_NAME_BYTES, &name_bytes))
        return false;
    if (name_bytes > (size_t)(r->control.end - r->control.at) || (name_bytes == 0 && r->fact_count == 0))
        return damaged(r, "it names nothing that it could say of its run");
    if (name_bytes != 0 && !add_fact(r, name_bytes))
        return false;
    r->control.at += name_bytes;
    return continue_fact(r);
}

/* Up to the first chunk that has no fact. `again`: they are known. */
static bool start(struct stream_recording *r, bool again)
{
    r->offset = 0;
    r->chunk = 0;
    r->check = RECORDING_VERSION;
    if (!take_start(r) || !good(r, recording_model_start(&r->model, r->err)))
        return false;
    while (next_chunk(r)) {
        if (r->kind != RECORDING_FACTS)
            return true;
        if (!again && !take_fact(r))
            return false;
    }
    return false;
}

/* ------------------------------------------------------------------ life */

static bool make_buffers(struct stream_recording *r, const char *name)
{
    r->name = c2_strdup(name);
    r->packed_room = ZSTD_compressBound(RECORDING_CONTENT_BYTES);
    r->packed = c2_alloc(r->packed_room);
    r->content = c2_alloc(RECORDING_CONTENT_BYTES);
    r->batch = c2_alloc(sizeof *r->batch);
    r->decompressor = ZSTD_createDCtx();
    return r->name && r->packed && r->content && r->batch && r->decompressor;
}

enum c2_status stream_recording_open(struct stream_recording **out, FILE *from, const char *name, struct c2_error *err)
{
    *out = NULL;
    struct stream_recording *r = c2_calloc(1, sizeof *r);
    if (!r)
        return c2_fail_memory(err, "a recording");
    r->from = from;
    r->err = err;
    r->seekable = fseek(from, 0, SEEK_SET) == 0;
    enum c2_status status = stream_blocks_create(&r->blocks, err);
    if (status == C2_OK && !make_buffers(r, name))
        status = c2_fail_memory(err, "a recording");
    if (status == C2_OK && !start(r, false))
        status = r->status;
    if (status != C2_OK) {
        stream_recording_close(r);
        return status;
    }
    *out = r;
    return C2_OK;
}

void stream_recording_close(struct stream_recording *recording)
{
    if (!recording)
        return;
    for (uint32_t i = 0; i < recording->fact_count; i++) {
        c2_free((void *)recording->facts[i].name);
        c2_free((void *)recording->facts[i].value);
    }
    c2_free(recording->facts);
    ZSTD_freeDCtx(recording->decompressor);
    recording_model_release(&recording->model);
    stream_blocks_destroy(recording->blocks);
    c2_free(recording->batch);
    c2_free(recording->packed);
    c2_free(recording->content);
    c2_free(recording->name);
    c2_free(recording);
}

const struct stream_blocks *stream_recording_blocks(const struct stream_recording *recording)
{
    return recording->blocks;
}

const char *stream_recording_fact(const struct stream_recording *recording, const char *name)
{
    for (uint32_t i = 0; i < recording->fact_count; i++)
        if (strcmp(recording->facts[i].name, name) == 0)
            return recording->facts[i].value;
    return NULL;
}

/* ------------------------------------------------------------------ blocks */

/* Of a block as it is read, before it is known to be one. */
struct draft {
    struct stream_block block;
    struct stream_insn insns[RECORDING_SLOTS];
    struct stream_slot slots[RECORDING_SLOTS];
};

/* expected: where the instruction begins, if nothing else is said. */
static bool get_insn(struct stream_recording *r, struct draft *draft, uint32_t index, uint64_t expected)
{
    uint64_t shape, offset = expected;
    if (!get_number(r, &r->control, (RECORDING_SLOTS << 9) + 0x1ff, &shape))
        return false;
    if ((shape & 1) != 0 && !get_number(r, &r->control, UINT32_MAX, &offset))
        return false;
    const uint32_t length = shape >> 1 & 0xff, slots = (uint32_t)(shape >> 9);
    if (offset + length > draft->block.bytes || slots > RECORDING_SLOTS - draft->block.slot_count)
        return damaged(r, "an instruction is not within its block");
    draft->insns[index] = (struct stream_insn){(uint32_t)offset, draft->block.slot_count, (uint8_t)length};
    for (uint32_t i = 0; i < slots; i++)
        draft->slots[draft->block.slot_count++] = (struct stream_slot){.insn = (uint16_t)index};
    return true;
}

static bool get_slot(struct stream_recording *r, struct stream_slot *slot)
{
    unsigned kind;
    uint64_t size;
    if (!get_byte(r, &r->control, &kind) || !get_number(r, &r->control, REFERENCE_BYTES, &size))
        return false;
    slot->kind = kind & 7;
    slot->store = (uint8_t)(kind >> 3);
    slot->size = (uint16_t)size;
    const bool may_be_nothing = slot->kind >= STREAM_SOURCE, is_nothing = slot->kind >= STREAM_BEFORE;
    if (slot->store > 1 || (is_nothing ? size != 0 : size == 0 && !may_be_nothing))
        return damaged(r, "a reference of a block cannot be right");
    return true;
}

static bool get_block(struct stream_recording *r, struct draft *draft)
{
    uint64_t pc, bytes, insns, expected = 0;
    unsigned ending;
    if (!get_number(r, &r->control, UINT64_MAX, &pc) || !get_number(r, &r->control, UINT32_MAX, &bytes) ||
        !get_number(r, &r->control, RECORDING_SLOTS, &insns) || !get_byte(r, &r->control, &ending))
        return false;
    draft->block = (struct stream_block){.pc = {recording_unfold(pc) + r->model.predecessor_end},
                                         .bytes = (uint32_t)bytes,
                                         .insn_count = (uint16_t)insns,
                                         .ending = (uint8_t)ending,
                                         .insns = draft->insns,
                                         .slots = draft->slots};
    for (uint32_t i = 0; i < insns; i++) {
        if (!get_insn(r, draft, i, expected))
            return false;
        expected = draft->insns[i].offset + draft->insns[i].length;
    }
    for (uint32_t i = 0; i < draft->block.slot_count; i++)
        if (!get_slot(r, &draft->slots[i]))
            return false;
    if (draft->block.pc.v + bytes < bytes || !stream_block_obeys(&draft->block))
        return damaged(r, "a block cannot be right");
    return true;
}

static bool same_block(const struct stream_block *a, const struct stream_block *b)
{
    return a->pc.v == b->pc.v && a->bytes == b->bytes && a->insn_count == b->insn_count &&
           a->slot_count == b->slot_count && a->ending == b->ending &&
           memcmp(a->slots, b->slots, a->slot_count * sizeof *a->slots) == 0;
}

static bool take_block(struct stream_recording *r)
{
    struct draft draft;
    const uint32_t number = r->model.block_count;
    uint32_t added = number;
    if (!get_block(r, &draft))
        return false;
    if (number == stream_blocks_count(r->blocks)) {
        if (!good(r, stream_blocks_add(&added, r->blocks, &draft.block, r->err)))
            return false;
    } else if (!same_block(stream_blocks_at(r->blocks, number), &draft.block)) {
        return damaged(r, "a block was another one when it was read before");
    }
    return good(r, recording_model_add(&r->model, &draft.block, r->err));
}

/* ------------------------------------------------------------------ records */

static bool deliver(struct stream_recording *r)
{
    if (r->batch->used == 0)
        return true;
    const enum c2_status status = r->to.consume(r->to.self, r->batch, r->err);
    r->batch->used = 0;
    return good(r, status);
}

/* Makes room for a record or mark of so many words behind its header. */
static inline bool make_room(struct stream_recording *r, uint32_t words)
{
    if (r->words_left <= words)
        return damaged(r, "it holds more records than a part may");
    r->words_left -= words + 1;
    return r->batch->used + words + 1 <= STREAM_BATCH_WORDS || deliver(r);
}

static bool check_string(struct stream_recording *r, const struct stream_block *block, const uint64_t *words)
{
    const uint64_t before = words[2] & ~DIRECTION_FLAG, after = words[3] & ~DIRECTION_FLAG;
    if (recording_is_string(block) && (after > before || before - after >= ELEMENTS))
        return damaged(r, "a string instruction counts what cannot be right");
    return true;
}

/* The record in the batch is whole: counts it, and goes on to the next. */
static inline bool end_record(struct stream_recording *r, uint64_t header)
{
    struct recording_model *model = &r->model;
    const uint32_t number = stream_header_block(header);
    const struct model_block *block = &model->blocks[(size_t)number + 1];
    const uint64_t *record = &r->batch->words[r->batch->used];
    model->totals.records++;
    if (C2_LIKELY(header == block->plain)) {
        model->totals.instructions += block->insns;
        model->totals.references += block->references;
    } else {
        const struct stream_block *about = stream_blocks_at(r->blocks, number);
        if (!check_string(r, about, record + 1))
            return false;
        recording_count(&model->totals, about, record);
    }
    r->batch->used += stream_header_slots(header) + 1;
    recording_follow(model, header);
    return true;
}

/* A record with the header that is expected, and the addresses. */
static bool make_expected(struct stream_recording *r)
{
    const uint64_t header = r->model.expected;
    if (header == RECORDING_NO_HEADER)
        return damaged(r, "a block goes on as it never did before");
    const uint32_t slots = stream_header_slots(header);
    if (!make_room(r, slots))
        return false;
    uint64_t *to = &r->batch->words[r->batch->used];
    struct model_slot *slot = &r->model.slots[r->model.blocks[(size_t)stream_header_block(header) + 1].first_slot];
    *to++ = header;
    for (uint32_t i = 0; i < slots; i++, slot++) {
        to[i] = slot->last + slot->stride;
        slot->last = to[i];
        slot->delta = slot->stride;
    }
    return end_record(r, header);
}

static bool get_surprise(struct stream_recording *r, uint64_t *residual)
{
    uint64_t n;
    if (!get_number(r, &r->values, UINT64_MAX, &n))
        return false;
    if (n != 0)
        r->model.residual = recording_unfold(n);
    *residual = r->model.residual;
    return true;
}

/* masks: one bit a slot, or NULL: none of them is a surprise. */
static bool make_record(struct stream_recording *r, uint64_t header, const uint8_t *masks)
{
    const uint32_t slots = stream_header_slots(header);
    if (!make_room(r, slots))
        return false;
    uint64_t *to = &r->batch->words[r->batch->used];
    struct model_slot *slot = &r->model.slots[r->model.blocks[(size_t)stream_header_block(header) + 1].first_slot];
    *to++ = header;
    for (uint32_t i = 0; i < slots; i++, slot++) {
        uint64_t residual = 0;
        if (masks && (masks[i / 8] >> i % 8 & 1) != 0 && !get_surprise(r, &residual))
            return false;
        to[i] = slot->last + slot->stride + residual;
        recording_learn(slot, to[i]);
    }
    return end_record(r, header);
}

static bool get_masks(struct stream_recording *r, uint32_t slots, const uint8_t **masks)
{
    *masks = r->control.at;
    if ((slots + 7) / 8 > (size_t)(r->control.end - r->control.at))
        return short_section(r, &r->control);
    r->control.at += (slots + 7) / 8;
    return true;
}

/* With at least one surprise: no mask where there is just one slot. */
static bool take_surprise(struct stream_recording *r, uint64_t header)
{
    static const uint8_t one = 1;
    const uint8_t *masks = &one;
    const uint32_t slots = stream_header_slots(header);
    return (slots <= 1 || get_masks(r, slots, &masks)) && make_record(r, header, masks);
}

static bool take_expected_surprise(struct stream_recording *r)
{
    if (r->model.expected == RECORDING_NO_HEADER)
        return damaged(r, "a block goes on as it never did before");
    return take_surprise(r, r->model.expected);
}

static bool get_block_number(struct stream_recording *r, uint64_t *number)
{
    if (!get_number(r, &r->control, UINT32_MAX, number))
        return false;
    return *number < r->model.block_count || damaged(r, "it names a block that is not known yet");
}

static bool take_whole(struct stream_recording *r, bool surprise)
{
    uint64_t number;
    if (!get_block_number(r, &number))
        return false;
    const struct stream_block *block = stream_blocks_at(r->blocks, (uint32_t)number);
    const uint64_t header = stream_header((uint32_t)number, block->insn_count, block->slot_count);
    return surprise ? take_surprise(r, header) : make_record(r, header, NULL);
}

static bool take_partial(struct stream_recording *r)
{
    uint64_t number, insns;
    const uint8_t *masks;
    if (!get_block_number(r, &number))
        return false;
    const struct stream_block *block = stream_blocks_at(r->blocks, (uint32_t)number);
    if (!get_number(r, &r->control, block->insn_count, &insns))
        return false;
    const bool all = recording_is_string(block) || insns == block->insn_count;
    const uint32_t slots = all ? block->slot_count : block->insns[insns].first_slot;
    return get_masks(r, slots, &masks) &&
           make_record(r, stream_header((uint32_t)number, (uint32_t)insns, slots), masks);
}

static bool take_mark(struct stream_recording *r)
{
    uint64_t number, words, folded;
    if (!get_number(r, &r->control, UINT16_MAX, &number) || !get_number(r, &r->control, RECORDING_SLOTS, &words) ||
        !make_room(r, (uint32_t)words))
        return false;
    uint64_t *to = &r->batch->words[r->batch->used];
    *to++ = stream_header(STREAM_MARK, (uint32_t)number, (uint32_t)words);
    for (uint32_t i = 0; i < words; i++) {
        uint64_t unexpected = 0;
        uint64_t *last = number < RECORDING_MARKS && i < RECORDING_MARK_WORDS ? &r->model.marks[number][i]
                                                                              : &unexpected;
        if (!get_number(r, &r->values, UINT64_MAX, &folded))
            return false;
        *last += recording_unfold(folded);
        to[i] = *last;
    }
    r->batch->used += (uint32_t)words + 1;
    r->model.totals.marks++;
    return true;
}

static bool take_thread(struct stream_recording *r)
{
    uint64_t tid;
    if (!get_number(r, &r->control, UINT32_MAX, &tid) || !deliver(r))
        return false;
    if (tid == 0)
        return damaged(r, "no thread has the number 0");
    r->batch->tid = (uint32_t)tid;
    return true;
}

/* ------------------------------------------------------------------ items */

static bool take_item(struct stream_recording *r)
{
    unsigned first;
    uint64_t more = 0;
    if (!get_byte(r, &r->control, &first))
        return false;
    if (first >> ITEM_BITS == ITEM_MANY && !get_number(r, &r->control, RECORDING_CHUNK_WORDS, &more))
        return false;
    for (uint64_t left = (first >> ITEM_BITS) + more; left != 0; left--)
        if (!make_expected(r))
            return false;
    switch ((enum recording_item)(first & ((1u << ITEM_BITS) - 1))) {
    case ITEM_SURPRISE:
        return take_expected_surprise(r);
    case ITEM_BLOCK:
        return take_whole(r, false);
    case ITEM_BLOCK_SURPRISE:
        return take_whole(r, true);
    case ITEM_PARTIAL:
        return take_partial(r);
    case ITEM_MARK:
        return take_mark(r);
    case ITEM_DEFINE:
        return take_block(r);
    case ITEM_THREAD:
        return take_thread(r);
    case ITEM_REST:
        return true;
    }
    return false;
}

static bool take_chunk(struct stream_recording *r)
{
    while (r->control.at != r->control.end)
        if (!take_item(r))
            return false;
    return r->values.at == r->values.end || damaged(r, "it has more numbers than it uses");
}

/* ------------------------------------------------------------------ the end */

static bool take_end(struct stream_recording *r)
{
    const struct recording_totals *totals = &r->model.totals;
    const uint64_t counted[] = {totals->records, totals->marks, totals->instructions, totals->references,
                                r->model.block_count};
    uint64_t said;
    for (unsigned i = 0; i < sizeof counted / sizeof *counted; i++) {
        if (!get_number(r, &r->control, UINT64_MAX, &said))
            return false;
        if (said != counted[i])
            return damaged(r, "its counts at the end are not those of what it holds");
    }
    if (r->control.at != r->control.end || r->values.at != r->values.end || getc(r->from) != EOF)
        return damaged(r, "something comes behind its end");
    return true;
}

static bool rewind_it(struct stream_recording *r)
{
    if (r->seekable && fseek(r->from, 0, SEEK_SET) == 0)
        return start(r, true);
    return good(r, c2_fail(r->err, C2_ERR_UNSUPPORTED,
                           "the recording %s comes from a pipe and can be played once: write it to a file", r->name));
}

static bool play(struct stream_recording *r)
{
    if (r->started && !rewind_it(r))
        return false;
    r->started = true;
    r->batch->used = 0;
    r->batch->tid = 1;
    while (r->kind == RECORDING_STREAM)
        if (!take_chunk(r) || !next_chunk(r))
            return false;
    if (r->kind != RECORDING_END)
        return damaged(r, "its kind cannot be right");
    return take_end(r) && deliver(r);
}

enum c2_status stream_recording_play(struct stream_recording *recording, struct stream_sink to, struct c2_error *err)
{
    recording->to = to;
    recording->err = err;
    recording->status = C2_OK;
    const bool whole = play(recording);
    C2_ASSERT(whole == (recording->status == C2_OK));
    return recording->status;
}

/* ------------------------------------------------------------------ without a name */

enum c2_status stream_temporary(FILE **out, struct c2_error *err)
{
    const char *directory = getenv("TMPDIR");
    char *path = c2_format("%s/c2emu-XXXXXX", !directory || directory[0] == '\0' ? "/tmp" : directory);
    *out = NULL;
    if (!path)
        return c2_fail_memory(err, "the name of a temporary file");
    const int fd = mkstemp(path);
    if (fd >= 0) {
        unlink(path);
        *out = fdopen(fd, "w+b");
        if (!*out)
            close(fd);
    }
    enum c2_status status = C2_OK;
    if (!*out)
        status = c2_fail(err, C2_ERR_IO, "cannot make a temporary file %s: %s (TMPDIR names another directory)", path,
                         strerror(errno));
    c2_free(path);
    return status;
}
