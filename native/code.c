/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Blocks of the stream that the guest has come to, by address. Those on writable or shared pages keep a copy of their
 *   bytes and are compared with it at each execution, by C or by their translation, whatever changed them: a store, an
 *   interpreted instruction, a system call, a store through another mapping. Code on other pages changes only through
 *   mmap, munmap and mprotect, which say so (native_blocks_forget).
 *   An instruction that stores into its own block is executed alone: as a block that no jump ever finds.
 * Invariants
 *   At most one block of an address is neither stale nor alone. Blocks are never freed before the end: the stream, and
 *   what was counted, refer to them.
 * Not modelled
 *   A private file mapping whose file is written while it executes (POSIX leaves open what is seen then). A change
 *   through another mapping is seen at the next block, not in the block that makes it; CPUs ask for a serialising
 *   instruction in between.
 */
#include <string.h>

#include "engine/code.h"
#include "engine/code_ranges.h"
#include "engine/shapes.h"
#include "native/native_priv.h"

enum { FRONT = C2_HOST_SIZE(4096, 4) };

struct native_blocks {
    struct engine_code guest;
    struct shapes *shapes; /* of instructions under masks */
    struct c2_map *by_pc;  /* pc -> struct native_block *, linked by next */
    struct {
        uint64_t pc;
        struct native_block *block; /* or NULL */
    } front[FRONT];
    struct code_ranges *ranges; /* of those that are not stale */
    struct native_block **all;
    size_t count, capacity;
    struct c2_pool pool; /* what the blocks lie in */
    struct decode_block decoded;
    const struct native_block *last; /* which it is of; NULL: none */
    struct decode_form kept[DECODE_MAX_INSNS];
};

enum c2_status native_blocks_create(struct native_blocks **out, const struct engine_config *config,
                                    struct decode_forms *forms, struct c2_error *err)
{
    C2_ASSERT(config->mmu);
    struct native_blocks *blocks = c2_calloc(1, sizeof *blocks);
    *out = NULL;
    if (!blocks)
        return c2_fail_memory(err, "the table of code blocks");
    blocks->decoded.kept = blocks->kept;
    blocks->decoded.forms = forms;
    decode_forms_begin(forms, config->cpu);
    enum c2_status status = engine_code_begin(&blocks->guest, config, err);
    if (status == C2_OK)
        status = c2_map_create(&blocks->by_pc, err);
    if (status == C2_OK)
        status = code_ranges_create(&blocks->ranges, err);
    if (status == C2_OK && config->blocks)
        status = shapes_create(&blocks->shapes, config->blocks, err);
    if (status != C2_OK) {
        native_blocks_destroy(blocks);
        return status;
    }
    *out = blocks;
    return C2_OK;
}

void native_blocks_destroy(struct native_blocks *blocks)
{
    if (!blocks)
        return;
    shapes_destroy(blocks->shapes);
    c2_pool_release(&blocks->pool);
    engine_code_release(&blocks->guest);
    c2_free(blocks->all);
    c2_map_destroy(blocks->by_pc);
    code_ranges_destroy(blocks->ranges);
    c2_free(blocks);
}

static void *code_lookup(const struct c2_map *map, uint64_t pc)
{
    uint64_t value;
    return c2_map_get(map, pc, &value) ? (void *)(uintptr_t)value : NULL;
}

static enum c2_status code_append(void ***array, size_t *count, size_t *capacity, void *item, struct c2_error *err)
{
    C2_PROMISE(*count <= *capacity);
    if (*count == *capacity) {
        const size_t grown = *capacity ? 2 * *capacity : C2_HOST_SIZE(1024, 2);
        void **bigger = c2_realloc(*array, grown * sizeof *bigger);
        if (!bigger)
            return c2_fail_memory(err, "the table of code blocks");
        *array = bigger;
        *capacity = grown;
    }
    (*array)[(*count)++] = item;
    return C2_OK;
}

/* ------------------------------------------------------------------ finding */

struct native_block *native_blocks_find(struct native_blocks *blocks, uint64_t pc)
{
    const size_t at = pc % FRONT;
    if (SHORTCUT(blocks->front[at].pc == pc && blocks->front[at].block && !blocks->front[at].block->stale))
        return blocks->front[at].block;
    for (struct native_block *block = code_lookup(blocks->by_pc, pc); block; block = block->next)
        if (!block->stale && !block->alone) {
            blocks->front[at].pc = pc;
            return blocks->front[at].block = block;
        }
    return NULL;
}

bool native_block_is_fresh(const struct native_block *block)
{
    C2_PROMISE(!block->changes || block->bytes);
    return !block->changes || memcmp(block->bytes, (const void *)(uintptr_t)block->pc, block->extent) == 0;
}

/* ------------------------------------------------------------------ learning */

static enum c2_status code_keep_bytes(struct native_blocks *blocks, struct native_block *block, struct c2_error *err)
{
    C2_PROMISE(block->extent != 0);
    block->changes = engine_code_may_change(&blocks->guest, block->pc, block->extent);
    if (!block->changes)
        return C2_OK;
    block->bytes = c2_pool_get(&blocks->pool, block->extent);
    if (!block->bytes)
        return c2_fail_memory(err, "a copy of code");
    memcpy(block->bytes, (const void *)(uintptr_t)block->pc, block->extent);
    return C2_OK;
}

static uint64_t code_next_page(uint64_t pc) { return c2_align_down(pc, C2_PAGE_BYTES) + C2_PAGE_BYTES; }

/* Of an instruction to interpret, or of what is none. */
static uint32_t special_bytes(struct native_blocks *blocks, uint64_t pc)
{
    struct decode_insn one;
    const uint64_t readable = engine_code_readable(&blocks->guest, pc);
    C2_PROMISE(readable != 0);
    if (decode_one(&one, (struct guest_va){pc}, readable) == DECODE_GOOD)
        return one.insn.length;
    return readable < ZYDIS_MAX_INSTRUCTION_LENGTH ? (uint32_t)readable : ZYDIS_MAX_INSTRUCTION_LENGTH;
}

static enum c2_status code_describe(struct native_blocks *blocks, struct native_block *block, struct c2_error *err)
{
    C2_PROMISE(blocks->decoded.block.pc.v == block->pc);
    const struct stream_block *decoded = &blocks->decoded.block;
    block->insns = decoded->insn_count;
    block->slots = decoded->slot_count;
    block->special = block->insns == 0;
    block->extent = block->special ? special_bytes(blocks, block->pc) : decoded->bytes;
    if (!block->special && !block->alone) /* without what watches it would go on behind its end */
        block->rest = engine_code_rest(&blocks->guest, block->pc, block->insns, blocks->decoded.end);
    enum c2_status status = code_keep_bytes(blocks, block, err);
    if (status != C2_OK || block->special)
        return status;
    status = stream_blocks_add(&block->number, blocks->guest.blocks, decoded, err);
    if (status != C2_OK)
        return status;
    block->block = stream_blocks_at(blocks->guest.blocks, block->number);
    C2_PROMISE(block->block->pc.v == block->pc && block->block->insn_count == block->insns);
    return C2_OK;
}

/* Of what was decoded. */
static enum c2_status code_add_block(struct native_block **out, struct native_blocks *blocks,
                                     struct native_block wanted, struct c2_error *err)
{
    struct native_block *block = c2_pool_get(&blocks->pool, sizeof *block);
    if (!block)
        return c2_fail_memory(err, "a code block");
    *block = wanted;
    enum c2_status status = code_describe(blocks, block, err);
    block->rare = block->special || block->watched || block->rest != 0 || block->alone;
    block->counter = (uint32_t)blocks->count;
    block->next = code_lookup(blocks->by_pc, block->pc);
    if (status == C2_OK && blocks->count == CONTEXT_COUNTERS_MOST)
        status = c2_fail(err, C2_ERR_UNSUPPORTED, "the native engine knows no more than %u blocks of code",
                         CONTEXT_COUNTERS_MOST);
    if (status == C2_OK)
        status = code_ranges_add(blocks->ranges, block->pc, block->extent, block, err);
    if (status == C2_OK)
        status = code_append((void ***)&blocks->all, &blocks->count, &blocks->capacity, block, err);
    if (status != C2_OK)
        return status;
    C2_PROMISE(block->extent != 0 && block->special == !block->block && block->counter < CONTEXT_COUNTERS_MOST);
    *out = block;
    blocks->last = block;
    return c2_map_put(blocks->by_pc, block->pc, (uint64_t)(uintptr_t)block, err);
}

enum c2_status native_blocks_learn(struct native_block **out, struct guest_va *lacks, struct native_blocks *blocks,
                                   uint64_t pc, struct c2_error *err)
{
    bool watched;
    *out = NULL;
    lacks->v = 0;
    if (!mmu_ready(blocks->guest.mmu, (struct guest_va){pc}, MMU_ACCESS_EXEC)) {
        lacks->v = pc;
        return C2_OK;
    }
    enum c2_status status = engine_code_is_watched(&watched, &blocks->guest, pc, err);
    if (status != C2_OK)
        return status;
    const uint64_t readable = engine_code_readable(&blocks->guest, pc);
    blocks->last = NULL;
    decode_block(&blocks->decoded, (struct guest_va){pc}, readable, engine_code_splits(&blocks->guest));
    if (blocks->decoded.ended == DECODE_OPEN && readable <= C2_PAGE_BYTES) {
        lacks->v = code_next_page(pc);
        return C2_OK;
    }
    return code_add_block(out, blocks, (struct native_block){.pc = pc, .watched = watched}, err);
}

enum c2_status native_blocks_alone(struct native_block **out, struct native_blocks *blocks, uint64_t pc,
                                   struct c2_error *err)
{
    struct decode_insn one;
    *out = NULL;
    if (decode_one(&one, (struct guest_va){pc}, engine_code_readable(&blocks->guest, pc)) != DECODE_GOOD)
        return c2_fail(err, C2_ERR_INTERNAL, "no instruction where one has been decoded");
    blocks->last = NULL;
    decode_block(&blocks->decoded, (struct guest_va){pc}, one.insn.length,
                 (struct decode_splits){NULL, NULL, blocks->guest.cpu});
    C2_PROMISE(blocks->decoded.block.insn_count == 1);
    return code_add_block(out, blocks, (struct native_block){.pc = pc, .alone = true}, err);
}

const struct decode_form *native_blocks_decoded(const struct native_blocks *blocks, const struct native_block *block)
{
    return block == blocks->last ? blocks->kept : NULL;
}

struct shapes *native_blocks_shapes(struct native_blocks *blocks) { return blocks->shapes; }
struct engine_code *native_blocks_guest(struct native_blocks *blocks) { return &blocks->guest; }

/* ------------------------------------------------------------------ watching, forgetting */

enum c2_status native_blocks_watch(struct native_block **out, struct native_blocks *blocks, uint64_t pc,
                                   struct c2_error *err)
{
    *out = native_blocks_find(blocks, pc);
    if (*out)
        (*out)->watched = (*out)->rare = true;
    return engine_code_watch(&blocks->guest, pc, err);
}

struct forgetting {
    void (*gone)(void *self, struct native_block *block);
    void *self;
    bool known;
};

static void forget_native_block(void *self, void *what)
{
    struct forgetting *forgetting = self;
    struct native_block *block = what;
    C2_PROMISE(!block->stale);
    block->stale = forgetting->known = true;
    forgetting->gone(forgetting->self, block);
}

bool native_blocks_forget(struct native_blocks *blocks, uint64_t start, uint64_t bytes,
                          void (*gone)(void *self, struct native_block *block), void *self)
{
    C2_ASSERT(gone);
    struct forgetting forgetting = {gone, self, false};
    code_ranges_take(blocks->ranges, start, bytes, forget_native_block, &forgetting);
    engine_specials_forget(&blocks->guest, start, bytes);
    if (blocks->shapes)
        shapes_forget(blocks->shapes, (struct guest_va){start}, bytes);
    return forgetting.known;
}

void native_blocks_each(struct native_blocks *blocks, void (*take)(void *self, struct native_block *block), void *self)
{
    C2_ASSERT(take);
    for (size_t i = 0; i < blocks->count; i++)
        take(self, blocks->all[i]);
}
