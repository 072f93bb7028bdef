/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   A list of shapes, found by a hash of the address and the sizes. A shape of code that has changed is not found any
 *   more: what is there then makes blocks anew.
 * Invariants
 *   Two shapes that can be found differ in their address or in what they touch.
 * Not modelled
 *   Shapes are not dropped. An instruction under masks of bits as they come may have very many: a block each, of some
 *   200 bytes.
 */
#include "engine/shapes.h"

#include <string.h>

#define NONE 0u /* shapes are counted from 1 */

struct shape {
    uint32_t number; /* of its block */
    uint32_t next;   /* of the same hash */
    bool stale;
};

struct shapes {
    struct stream_blocks *blocks;
    struct c2_map *by_hash; /* -> shape */
    struct shape *list;
    uint32_t count, room;
};

static enum c2_status shapes_no_memory(struct c2_error *err)
{
    return c2_fail_memory(err, "the blocks of masked instructions");
}

enum c2_status shapes_create(struct shapes **out, struct stream_blocks *blocks, struct c2_error *err)
{
    C2_ASSERT(blocks);
    *out = NULL;
    struct shapes *shapes = c2_calloc(1, sizeof *shapes);
    if (!shapes)
        return shapes_no_memory(err);
    const enum c2_status status = c2_map_create(&shapes->by_hash, err);
    if (status != C2_OK) {
        c2_free(shapes);
        return status;
    }
    shapes->blocks = blocks;
    *out = shapes;
    return C2_OK;
}

void shapes_destroy(struct shapes *shapes)
{
    if (!shapes)
        return;
    c2_map_destroy(shapes->by_hash);
    c2_free(shapes->list);
    c2_free(shapes);
}

static uint64_t shapes_hash_of(struct guest_va pc, const struct interpret_touched *touched)
{
    C2_PROMISE(touched->count <= INTERPRET_TOUCHES);
    uint64_t hash = pc.v;
    for (unsigned i = 0; i < touched->count; i++)
        hash = (hash ^ touched->list[i].bytes) * C2_HOST_SIZE(0x9e3779b97f4a7c15u, 0x100u); /* few hashes in stress */
    return hash ^ hash >> 32;
}

static bool shapes_fits(const struct stream_block *block, struct guest_va pc, const struct decode_insn *insn,
                        const struct interpret_touched *touched)
{
    C2_PROMISE(block->insn_count == 1);
    bool same = block->pc.v == pc.v && block->bytes == insn->insn.length && block->slot_count == touched->count;
    for (unsigned i = 0; i < touched->count && same; i++)
        same = block->slots[i].size == touched->list[i].bytes && block->slots[i].kind == touched->list[i].kind;
    return same;
}

static enum c2_status shapes_make(uint32_t *out, struct shapes *shapes, struct guest_va pc,
                                  const struct decode_insn *insn, const struct interpret_touched *touched,
                                  struct c2_error *err)
{
    C2_PROMISE(touched->count <= INTERPRET_TOUCHES);
    struct stream_slot slots[INTERPRET_TOUCHES];
    const struct stream_insn one = {.length = insn->insn.length, .flops = (uint8_t)decode_flops(insn)};
    for (unsigned i = 0; i < touched->count; i++)
        slots[i] = decode_touched_slot(insn, &touched->list[i]);
    const struct stream_block block = {.pc = pc,
                                       .bytes = insn->insn.length,
                                       .insn_count = 1,
                                       .slot_count = (uint16_t)touched->count,
                                       .ending = STREAM_JUMP,
                                       .insns = &one,
                                       .slots = slots};
    return stream_blocks_add(out, shapes->blocks, &block, err);
}

enum c2_status shapes_find(uint32_t *out, struct shapes *shapes, struct guest_va pc, const struct decode_insn *insn,
                           const struct interpret_touched *touched, struct c2_error *err)
{
    const uint64_t hash = shapes_hash_of(pc, touched);
    uint64_t first = NONE;
    c2_map_get(shapes->by_hash, hash, &first);
    for (uint32_t i = (uint32_t)first; i != NONE; i = shapes->list[i - 1].next) {
        C2_PROMISE(i <= shapes->count);
        *out = shapes->list[i - 1].number;
        if (!shapes->list[i - 1].stale && shapes_fits(stream_blocks_at(shapes->blocks, *out), pc, insn, touched))
            return C2_OK;
    }
    if (!c2_grow((void **)&shapes->list, &shapes->room, shapes->count, sizeof *shapes->list))
        return shapes_no_memory(err);
    enum c2_status status = shapes_make(out, shapes, pc, insn, touched, err);
    if (status == C2_OK)
        status = c2_map_put(shapes->by_hash, hash, shapes->count + 1, err);
    if (status == C2_OK)
        shapes->list[shapes->count++] = (struct shape){.number = *out, .next = (uint32_t)first};
    return status;
}

void shapes_forget(struct shapes *shapes, struct guest_va start, uint64_t bytes)
{
    C2_PROMISE(start.v + bytes >= start.v);
    for (uint32_t i = 0; i < shapes->count; i++) {
        const struct stream_block *block = stream_blocks_at(shapes->blocks, shapes->list[i].number);
        if (block->pc.v < start.v + bytes && start.v < block->pc.v + block->bytes)
            shapes->list[i].stale = true;
    }
}
