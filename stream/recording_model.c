/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What both ends of a recording expect: see recording_priv.h.
 */
#include "stream/recording_priv.h"

static bool recording_model_reserve(void **array, size_t *room, size_t count, size_t bytes)
{
    if (count <= *room)
        return true;
    const size_t grown = count + count / 2 + C2_HOST_SIZE(1024u, 0u);
    void *memory = c2_realloc(*array, grown * bytes);
    if (!memory)
        return false;
    *array = memory;
    *room = grown;
    return true;
}

enum c2_status recording_model_start(struct recording_model *model, struct c2_error *err)
{
    recording_model_release(model);
    if (!recording_model_reserve((void **)&model->blocks, &model->block_room, 1, sizeof *model->blocks))
        return c2_fail_memory(err, "what a recording expects");
    model->blocks[0] = (struct model_block){.follower = RECORDING_NO_HEADER};
    model->expected = RECORDING_NO_HEADER;
    return C2_OK;
}

void recording_model_release(struct recording_model *model)
{
    c2_free(model->blocks);
    c2_free(model->slots);
    *model = (struct recording_model){.blocks = NULL};
}

static uint32_t recording_model_references_of(const struct stream_block *block, uint32_t slots)
{
    uint32_t references = 0;
    for (uint32_t i = 0; i < slots; i++)
        references += (uint32_t)stream_reads(&block->slots[i]) + stream_writes(&block->slots[i]);
    return references;
}

enum c2_status recording_model_add(struct recording_model *model, const struct stream_block *block,
                                   struct c2_error *err)
{
    const size_t slots = model->slot_count + block->slot_count;
    if (!recording_model_reserve((void **)&model->blocks, &model->block_room, model->block_count + (size_t)2,
                                 sizeof *model->blocks) ||
        !recording_model_reserve((void **)&model->slots, &model->slot_room, slots, sizeof *model->slots))
        return c2_fail_memory(err, "what a recording expects of a block");
    const uint64_t whole = stream_header(model->block_count, block->insn_count, block->slot_count);
    model->blocks[++model->block_count] = (struct model_block){
        .follower = RECORDING_NO_HEADER,
        .plain = stream_is_string(block) ? RECORDING_NO_HEADER : whole,
        .first_slot = model->slot_count,
        .references = recording_model_references_of(block, block->slot_count),
        .insns = block->insn_count,
    };
    for (size_t i = model->slot_count; i < slots; i++)
        model->slots[i] = (struct model_slot){.last = 0};
    model->slot_count = slots;
    model->predecessor_end = block->pc.v + block->bytes;
    return C2_OK;
}

bool recording_header_fits(const struct stream_block *block, uint64_t header)
{
    const uint32_t insns = stream_header_insns(header), slots = stream_header_slots(header);
    if (insns > block->insn_count)
        return false;
    if (stream_is_string(block) || insns == block->insn_count)
        return slots == block->slot_count;
    return slots == block->insns[insns].first_slot;
}

void recording_count(struct recording_totals *totals, const struct stream_block *block, const uint64_t *record)
{
    const uint64_t header = record[0];
    totals->instructions += stream_header_insns(header);
    if (!stream_is_string(block)) {
        totals->references += recording_model_references_of(block, stream_header_slots(header));
        return;
    }
    const uint64_t elements = stream_string_elements(record + 1);
    totals->references += elements * ((block->slots[0].size != 0) + (uint64_t)(block->slots[1].size != 0));
}
