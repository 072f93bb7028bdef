/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The table of guest basic blocks.
 *
 * Model
 *   Two levels: a fixed directory of pointers to chunks of blocks. A lookup is two loads and no branch, since the
 *   consumer makes one for each record. The directory is larger than programs need; the host gives memory only to
 *   the part of it that is touched.
 * Invariants (stream_blocks_check)
 *   Entries never move, and nothing that was published is written again. A consumer reads only numbers it found in
 *   a batch it was given, and that hand-over orders the reads behind the writes; only the count needs an order of
 *   its own, for requests without a batch.
 *   Every block obeys the contract of stream.h: a block that breaks it would be misread silently, so add asserts it.
 * Not modelled
 *   Blocks are not removed: code that changes makes new blocks. BLOCKS_MAX of them are enough to fill any host.
 */
#include "stream/stream.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#define BLOCKS_MAX_LOG2 28u
#define CHUNK_LOG2 C2_HOST_SIZE(12u, 8u)
#define CHUNK_BLOCKS (1u << CHUNK_LOG2)
#define CHUNKS_MAX (1u << (BLOCKS_MAX_LOG2 - CHUNK_LOG2))

struct stream_blocks {
    struct stream_block **chunks; /* CHUNKS_MAX, NULL until used */
    _Atomic uint32_t count;
    struct c2_pool pool; /* what the blocks have of instructions and slots */
};

enum c2_status stream_blocks_create(struct stream_blocks **out, struct c2_error *err)
{
    *out = NULL;
    struct stream_blocks *blocks = c2_calloc(1, sizeof *blocks);
    if (!blocks)
        return c2_fail_memory(err, "the table of blocks");
    blocks->chunks = c2_calloc(CHUNKS_MAX, sizeof(struct stream_block *));
    if (!blocks->chunks) {
        c2_free(blocks);
        return c2_fail_memory(err, "the table of blocks");
    }
    *out = blocks;
    return C2_OK;
}

void stream_blocks_destroy(struct stream_blocks *blocks)
{
    if (!blocks)
        return;
    c2_pool_release(&blocks->pool);
    for (uint32_t i = 0; i < CHUNKS_MAX && blocks->chunks[i]; i++)
        c2_free(blocks->chunks[i]);
    c2_free(blocks->chunks);
    c2_free(blocks);
}

static bool is_string_slot(const struct stream_slot *slot)
{
    return slot->kind >= STREAM_SOURCE && slot->kind <= STREAM_REMAINING;
}

static bool how_obeys(const struct stream_slot *slot)
{
    if (slot->kind == STREAM_CACHE)
        return slot->how < STREAM_CACHES && slot->size == 1;
    return slot->how <= (slot->kind == STREAM_WRITE || slot->kind == STREAM_DESTINATION);
}

/* Slots first_slot .. end belong to instruction `insn`; a string instruction has its four, and is alone. */
static bool insn_obeys(const struct stream_block *block, uint32_t insn, uint32_t end)
{
    uint32_t first = block->insns[insn].first_slot;
    bool obeys = first <= end && end <= block->slot_count;
    const bool string = first < end && obeys && is_string_slot(&block->slots[first]);
    for (uint32_t i = first; i < end && obeys; i++) {
        const struct stream_slot *slot = &block->slots[i];
        obeys = slot->insn == insn && slot->kind <= STREAM_CACHE && how_obeys(slot);
        if (string || is_string_slot(slot))
            obeys = obeys && block->insn_count == 1 && block->slot_count == 4 && slot->kind == STREAM_SOURCE + i;
    }
    return obeys;
}

/* A call writes its return address last, a return reads it first. */
static bool ending_obeys(const struct stream_block *block)
{
    const struct stream_insn *last = &block->insns[block->insn_count - 1];
    if (block->ending == STREAM_JUMP)
        return true;
    if (block->ending > STREAM_RETURN || last->first_slot >= block->slot_count)
        return false;
    const struct stream_slot *slot =
        &block->slots[block->ending == STREAM_CALL ? block->slot_count - 1 : last->first_slot];
    return slot->kind == (block->ending == STREAM_CALL ? STREAM_WRITE : STREAM_READ) && slot->size == 8;
}

bool stream_block_obeys(const struct stream_block *block)
{
    if (block->insn_count < 1 || block->insns[0].first_slot != 0)
        return false;
    for (uint32_t i = 0; i < block->insn_count; i++) {
        bool last = i + 1u == block->insn_count;
        if (!insn_obeys(block, i, last ? block->slot_count : block->insns[i + 1].first_slot))
            return false;
    }
    return ending_obeys(block);
}

/* The instructions and behind them the slots, in one piece of memory. */
static bool copy_block(struct stream_blocks *blocks, struct stream_block *to, const struct stream_block *from)
{
    size_t insn_bytes = from->insn_count * sizeof *from->insns;
    size_t slot_bytes = from->slot_count * sizeof *from->slots;
    char *copy = c2_pool_get(&blocks->pool, insn_bytes + slot_bytes);
    if (!copy)
        return false;
    memcpy(copy, from->insns, insn_bytes);
    if (slot_bytes)
        memcpy(copy + insn_bytes, from->slots, slot_bytes);
    *to = *from;
    to->insns = (const struct stream_insn *)copy;
    to->slots = (const struct stream_slot *)(copy + insn_bytes);
    return true;
}

/* The chunk of block `number`; NULL when there is no memory for it. */
static struct stream_block *chunk_of(struct stream_blocks *blocks, uint32_t number)
{
    struct stream_block **chunk = &blocks->chunks[number >> CHUNK_LOG2];
    if (!*chunk)
        *chunk = c2_alloc(CHUNK_BLOCKS * sizeof **chunk);
    return *chunk;
}

enum c2_status stream_blocks_add(uint32_t *out, struct stream_blocks *blocks, const struct stream_block *block,
                                 struct c2_error *err)
{
    uint32_t number = atomic_load_explicit(&blocks->count, memory_order_relaxed);
    C2_ASSERT(stream_block_obeys(block));
    if (number >> BLOCKS_MAX_LOG2)
        return c2_fail(err, C2_ERR_EXHAUSTED, "more than %u different basic blocks were executed", number);
    struct stream_block *chunk = chunk_of(blocks, number);
    if (!chunk || !copy_block(blocks, &chunk[number & (CHUNK_BLOCKS - 1)], block))
        return c2_fail_memory(err, "a basic block");
    atomic_store_explicit(&blocks->count, number + 1, memory_order_release);
    *out = number;
    return C2_OK;
}

uint32_t stream_blocks_count(const struct stream_blocks *blocks)
{
    return atomic_load_explicit(&blocks->count, memory_order_acquire);
}

const struct stream_block *stream_blocks_at(const struct stream_blocks *blocks, uint32_t number)
{
    return &blocks->chunks[number >> CHUNK_LOG2][number & (CHUNK_BLOCKS - 1)];
}

void stream_blocks_check(const struct stream_blocks *blocks)
{
    uint32_t count = stream_blocks_count(blocks);
    C2_ASSERT(count <= 1u << BLOCKS_MAX_LOG2);
    for (uint32_t i = 0; i < count; i++)
        C2_ASSERT(stream_block_obeys(stream_blocks_at(blocks, i)));
}

static void dump_slots(const struct stream_block *block, FILE *to)
{
    static const char *const kinds[] = {"read",        "write", "modify",    "source",
                                        "destination", "done",  "remaining", "cache"};
    static const char *const instructions[] = {" t0", " t1", " t2", " nta", " w", " flush", " write back"};
    for (uint32_t i = 0; i < block->slot_count; i++) {
        const struct stream_slot *slot = &block->slots[i];
        const char *how = slot->kind == STREAM_CACHE   ? instructions[slot->how]
                          : slot->how == 0             ? ""
                          : slot->kind == STREAM_WRITE ? " non-temporal"
                                                       : " store";
        fprintf(to, "  +%u %s%s %u\n", block->insns[slot->insn].offset, kinds[slot->kind], how, slot->size);
    }
}

void stream_blocks_dump(const struct stream_blocks *blocks, FILE *to)
{
    static const char *const endings[] = {"", ", calls", ", returns"};
    uint32_t count = stream_blocks_count(blocks);
    for (uint32_t i = 0; i < count; i++) {
        const struct stream_block *block = stream_blocks_at(blocks, i);
        fprintf(to, "block %u: pc %#" PRIx64 ", %u bytes, %u instructions, %u slots%s\n", i, block->pc.v, block->bytes,
                block->insn_count, block->slot_count, endings[block->ending]);
        dump_slots(block, to);
    }
}
