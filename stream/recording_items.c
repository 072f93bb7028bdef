/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a recording's chunks say: blocks, records, marks.
 *
 * Model
 *   The recorder's expectations (recording_priv.h) are learned again from what is read, so that records that came as
 *   expected are made without reading anything. Blocks go to a table of the recording's own when it is played for the
 *   first time, under the numbers they had.
 * Counting
 *   Records, marks, instructions and references, while they are made.
 * Invariants
 *   Nothing that was read is used before it was checked: numbers of blocks, headers against their blocks, counts of
 *   string instructions. Whatever the bytes, what reaches the sink obeys stream.h, memory is that of the blocks which
 *   the bytes spell out, and time that of the words which a chunk may hold.
 *   Of a file that is distrusted marks are some that a run can have written (stream_marks_take), and string
 *   instructions stay within the addresses of a program.
 * Not modelled
 *   Whether what is referred to is mapped: its reader finds out.
 */
#include <string.h>

#include "stream/recording_reader_priv.h"

#define REFERENCE_BYTES 512u          /* of one reference, at most */
#define ADDRESSES ((uint64_t)1 << 47) /* of a program */

/* ------------------------------------------------------------------ numbers */

static bool short_section(struct stream_recording *r, struct recording_section *s)
{
    s->at = s->end;
    recording_damaged(r, "its numbers end too early");
    return false;
}

/* At most `limit`. */
bool recording_get_number(struct stream_recording *r, struct recording_section *s, uint64_t limit, uint64_t *out)
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
        return n <= limit || recording_damaged(r, "a number is too large");
    }
    return short_section(r, s);
}

static bool get_byte(struct stream_recording *r, struct recording_section *s, unsigned *out)
{
    if (s->at == s->end)
        return short_section(r, s);
    *out = *s->at++;
    return true;
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
    uint64_t shape, offset = expected, flops = 0;
    if (!recording_get_number(r, &r->control, (RECORDING_SLOTS << 10) + 0x3ff, &shape))
        return false;
    if ((shape & 1) != 0 && !recording_get_number(r, &r->control, UINT32_MAX, &offset))
        return false;
    if ((shape & 2) != 0 && !recording_get_number(r, &r->control, UINT8_MAX, &flops))
        return false;
    const uint32_t length = shape >> 2 & 0xff, slots = (uint32_t)(shape >> 10);
    if (offset + length > draft->block.bytes || slots > RECORDING_SLOTS - draft->block.slot_count)
        return recording_damaged(r, "an instruction is not within its block");
    draft->insns[index] = (struct stream_insn){(uint32_t)offset, draft->block.slot_count, (uint8_t)length,
                                               (uint8_t)flops};
    for (uint32_t i = 0; i < slots; i++)
        draft->slots[draft->block.slot_count++] = (struct stream_slot){.insn = (uint16_t)index};
    return true;
}

static bool get_slot(struct stream_recording *r, struct stream_slot *slot)
{
    unsigned kind;
    uint64_t size;
    if (!get_byte(r, &r->control, &kind) || !recording_get_number(r, &r->control, REFERENCE_BYTES, &size))
        return false;
    slot->kind = kind & 7;
    slot->how = (uint8_t)(kind >> 3);
    slot->size = (uint16_t)size;
    const bool string = slot->kind >= STREAM_SOURCE && slot->kind <= STREAM_REMAINING;
    const bool may_be_nothing = string, is_nothing = string && slot->kind >= STREAM_DONE;
    if (slot->how >= STREAM_CACHES || (is_nothing ? size != 0 : size == 0 && !may_be_nothing))
        return recording_damaged(r, "a reference of a block cannot be right");
    return true;
}

static bool recording_items_get_block(struct stream_recording *r, struct draft *draft)
{
    uint64_t pc, bytes, insns, expected = 0;
    unsigned ending;
    if (!recording_get_number(r, &r->control, UINT64_MAX, &pc) ||
        !recording_get_number(r, &r->control, UINT32_MAX, &bytes) ||
        !recording_get_number(r, &r->control, RECORDING_SLOTS, &insns) || !get_byte(r, &r->control, &ending))
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
    if (draft->block.pc.v + bytes < bytes || (r->marks && draft->block.pc.v + bytes > ADDRESSES) ||
        !stream_block_obeys(&draft->block))
        return recording_damaged(r, "a block cannot be right");
    return true;
}

static bool same_block(const struct stream_block *a, const struct stream_block *b)
{
    return a->pc.v == b->pc.v && a->bytes == b->bytes && a->insn_count == b->insn_count &&
           a->slot_count == b->slot_count && a->ending == b->ending &&
           memcmp(a->slots, b->slots, a->slot_count * sizeof *a->slots) == 0;
}

static bool recording_items_take_block(struct stream_recording *r)
{
    struct draft draft;
    const uint32_t number = r->model.block_count;
    uint32_t added = number;
    if (!recording_items_get_block(r, &draft))
        return false;
    if (number == stream_blocks_count(r->blocks)) {
        if (!recording_good(r, stream_blocks_add(&added, r->blocks, &draft.block, r->err)))
            return false;
    } else if (!same_block(stream_blocks_at(r->blocks, number), &draft.block)) {
        return recording_damaged(r, "a block was another one when it was read before");
    }
    return recording_good(r, recording_model_add(&r->model, &draft.block, r->err));
}

/* ------------------------------------------------------------------ records */

bool recording_deliver(struct stream_recording *r)
{
    if (r->batch->used == 0)
        return true;
    const enum c2_status status = r->to.consume(r->to.self, r->batch, r->err);
    r->batch->used = 0;
    return recording_good(r, status);
}

/* Makes room for a record or mark of so many words behind its header. */
static inline bool recording_items_make_room(struct stream_recording *r, uint32_t words)
{
    if (r->words_left <= words)
        return recording_damaged(r, "it holds more records than a part may");
    r->words_left -= words + 1;
    return r->batch->used + words + 1 <= STREAM_BATCH_WORDS || recording_deliver(r);
}

/* The elements of one side, of `size` bytes each. */
static bool is_within(const uint64_t *words, unsigned side, uint64_t size)
{
    const uint64_t start = words[side], bytes = stream_string_elements(words) * size;
    return start < ADDRESSES && (stream_string_goes_down(words) ? bytes <= start + size : bytes <= ADDRESSES - start);
}

static bool check_string(struct stream_recording *r, const struct stream_block *block, const uint64_t *words)
{
    const uint64_t elements = stream_string_elements(words);
    if (elements == 0)
        return true;
    if (elements >= ADDRESSES || stream_string_before(words) < elements)
        return recording_damaged(r, "a string instruction counts what cannot be right");
    for (unsigned side = 0; r->marks && side < 2; side++) {
        const uint64_t size = block->slots[side].size;
        if (size != 0 && !is_within(words, side, size))
            return recording_damaged(r, "a string instruction leaves the addresses of a program");
    }
    return true;
}

/* any: the addresses of a record, or'ed. */
static bool check_addresses(struct stream_recording *r, uint64_t any)
{
    return any < ADDRESSES || !r->marks || recording_damaged(r, "a reference leaves the addresses of a program");
}

/* The record in the batch is whole: counts it, and goes on to the next. */
static inline bool end_record(struct stream_recording *r, uint64_t header, uint64_t any)
{
    struct recording_model *model = &r->model;
    const uint32_t number = stream_header_block(header);
    const struct model_block *block = &model->blocks[(size_t)number + 1];
    const uint64_t *record = &r->batch->words[r->batch->used];
    model->totals.records++;
    if (C2_LIKELY(header == block->plain)) {
        model->totals.instructions += block->insns;
        model->totals.references += block->references;
        if (C2_UNLIKELY(!check_addresses(r, any)))
            return false;
    } else {
        const struct stream_block *about = stream_blocks_at(r->blocks, number);
        if (stream_is_string(about) ? !check_string(r, about, record + 1) : !check_addresses(r, any))
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
        return recording_damaged(r, "a block goes on as it never did before");
    const uint32_t slots = stream_header_slots(header);
    if (!recording_items_make_room(r, slots))
        return false;
    uint64_t *to = &r->batch->words[r->batch->used];
    struct model_slot *slot = &r->model.slots[r->model.blocks[(size_t)stream_header_block(header) + 1].first_slot];
    uint64_t any = 0;
    *to++ = header;
    for (uint32_t i = 0; i < slots; i++)
        any |= to[i] = recording_go_on(slot++);
    return end_record(r, header, any);
}

static bool get_surprise(struct stream_recording *r, uint64_t *residual)
{
    uint64_t n;
    if (!recording_get_number(r, &r->values, UINT64_MAX, &n))
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
    if (!recording_items_make_room(r, slots))
        return false;
    uint64_t *to = &r->batch->words[r->batch->used];
    struct model_slot *slot = &r->model.slots[r->model.blocks[(size_t)stream_header_block(header) + 1].first_slot];
    uint64_t any = 0;
    *to++ = header;
    for (uint32_t i = 0; i < slots; i++, slot++) {
        uint64_t residual = 0;
        if (masks && (masks[i / 8] >> i % 8 & 1) != 0 && !get_surprise(r, &residual))
            return false;
        any |= to[i] = slot->last + slot->stride + residual;
        recording_learn(slot, to[i]);
    }
    return end_record(r, header, any);
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
        return recording_damaged(r, "a block goes on as it never did before");
    return take_surprise(r, r->model.expected);
}

static bool get_block_number(struct stream_recording *r, uint64_t *number)
{
    if (!recording_get_number(r, &r->control, UINT32_MAX, number))
        return false;
    return *number < r->model.block_count || recording_damaged(r, "it names a block that is not known yet");
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
    if (!recording_get_number(r, &r->control, block->insn_count, &insns))
        return false;
    const bool all = stream_is_string(block) || insns == block->insn_count;
    const uint32_t slots = all ? block->slot_count : block->insns[insns].first_slot;
    return get_masks(r, slots, &masks) &&
           make_record(r, stream_header((uint32_t)number, (uint32_t)insns, slots), masks);
}

static bool take_meaning(struct stream_recording *r, uint32_t mark, const uint64_t *words, uint32_t count)
{
    struct c2_error why;
    if (!r->marks)
        return true;
    const enum c2_status status = stream_marks_take(r->marks, mark, words, count, &why);
    if (status == C2_OK)
        return true;
    return status == C2_ERR_FORMAT ? recording_damaged(r, why.text)
                                   : recording_good(r, c2_fail(r->err, status, "%s", why.text));
}

static bool recording_items_take_mark(struct stream_recording *r)
{
    uint64_t number, words, folded;
    if (!recording_get_number(r, &r->control, UINT16_MAX, &number) ||
        !recording_get_number(r, &r->control, STREAM_MARK_WORDS, &words) ||
        !recording_items_make_room(r, (uint32_t)words))
        return false;
    uint64_t *to = &r->batch->words[r->batch->used];
    *to++ = stream_header(STREAM_MARK, (uint32_t)number, (uint32_t)words);
    for (uint32_t i = 0; i < words; i++) {
        uint64_t unexpected = 0;
        uint64_t *last = number < RECORDING_MARKS && i < RECORDING_MARK_WORDS ? &r->model.marks[number][i]
                                                                              : &unexpected;
        if (!recording_get_number(r, &r->values, UINT64_MAX, &folded))
            return false;
        *last += recording_unfold(folded);
        to[i] = *last;
    }
    r->batch->used += (uint32_t)words + 1;
    r->model.totals.marks++;
    return take_meaning(r, (uint32_t)number, to, (uint32_t)words);
}

static bool take_thread(struct stream_recording *r)
{
    uint64_t tid;
    if (!recording_get_number(r, &r->control, UINT32_MAX, &tid) || !recording_deliver(r))
        return false;
    if (tid == 0)
        return recording_damaged(r, "no thread has the number 0");
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
    if (first >> ITEM_BITS == ITEM_MANY && !recording_get_number(r, &r->control, RECORDING_CHUNK_WORDS, &more))
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
        return recording_items_take_mark(r);
    case ITEM_DEFINE:
        return recording_items_take_block(r);
    case ITEM_THREAD:
        return take_thread(r);
    case ITEM_REST:
        return true;
    }
    return false;
}

bool recording_take_items(struct stream_recording *r)
{
    while (r->control.at != r->control.end)
        if (!take_item(r))
            return false;
    return r->values.at == r->values.end || recording_damaged(r, "it has more numbers than it uses");
}
