/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Everything Unicorn runs has been screened first: the first execution of a translation block, known by its pc and
 *   size, stops before the block; it is decoded, and only what is known to be executed rightly is left to Unicorn.
 *   Before every other instruction stands a stop: a code hook of one address. Hooks take part in translation only,
 *   so existing translations of the block are dropped when one is added.
 *   So it does before an instruction that engine_watch.splits asks for: the block is left there, and another starts.
 *   Blocks on writable or shared pages keep a copy of their bytes and are compared with it at each execution, whoever
 *   changed them: a store, an interpreted instruction, a system call, a store through another mapping. (What a store
 *   through its own address changes in the very block that executes it: unicorn_access.c.) Code on other pages changes
 *   only through mmap, munmap and mprotect, which say so (unicorn_code_forget).
 * Not modelled
 *   A private file mapping whose file is written while it executes (POSIX leaves open what is seen then). A change
 *   through another mapping is seen at the next block, not in the block that makes it; CPUs ask for a serialising
 *   instruction in between.
 */
#include "emu/unicorn_priv.h"

#include <string.h>

struct unicorn_code {
    uc_engine *uc;
    const struct mmu *mmu;
    struct stream_blocks *blocks;
    struct engine_watch watch;
    uc_cb_hookcode_t stop_at;
    void *stop_self;
    struct unicorn_mmx mmx;
    struct c2_map *watched;                             /* pcs given to unicorn_code_watch() */
    struct c2_map *by_pc;                               /* pc -> struct unicorn_block *, linked by next */
    struct c2_map *specials;                            /* pc -> struct unicorn_special * */
    struct unicorn_block *front[UNICORN_FRONT_ENTRIES]; /* by pc: the one found last */
    struct unicorn_block **all;                         /* every block ever made, freed at the end */
    size_t all_count, all_capacity;
    struct unicorn_special **all_specials;
    size_t special_count, special_capacity;
    struct decode_block decoded; /* scratch */
};

enum c2_status unicorn_code_create(struct unicorn_code **out, uc_engine *uc, const struct mmu *mmu,
                                   struct stream_blocks *blocks, const struct engine_watch *watch,
                                   uc_cb_hookcode_t stop_at, void *self, struct c2_error *err)
{
    struct unicorn_code *code = c2_calloc(1, sizeof *code);
    *out = NULL;
    if (!code)
        return c2_fail_memory(err, "the table of code blocks");
    code->uc = uc;
    code->mmu = mmu;
    code->blocks = blocks;
    code->watch = *watch;
    code->stop_at = stop_at;
    code->stop_self = self;
    enum c2_status status = c2_map_create(&code->by_pc, err);
    if (status == C2_OK)
        status = c2_map_create(&code->watched, err);
    if (status == C2_OK)
        status = c2_map_create(&code->specials, err);
    if (status == C2_OK)
        status = unicorn_mmx_init(&code->mmx, uc, err);
    if (status != C2_OK) {
        unicorn_code_destroy(code);
        return status;
    }
    *out = code;
    return C2_OK;
}

static void free_block(struct unicorn_block *block)
{
    unicorn_events_release(block);
    c2_free(block->bytes);
    c2_free(block);
}

void unicorn_code_destroy(struct unicorn_code *code)
{
    if (!code)
        return;
    for (size_t i = 0; i < code->all_count; i++)
        free_block(code->all[i]);
    for (size_t i = 0; i < code->special_count; i++)
        c2_free(code->all_specials[i]);
    c2_free(code->all);
    c2_free(code->all_specials);
    c2_map_destroy(code->by_pc);
    c2_map_destroy(code->watched);
    c2_map_destroy(code->specials);
    unicorn_mmx_release(&code->mmx);
    c2_free(code);
}

/* ------------------------------------------------------------------ finding */

struct unicorn_block **unicorn_code_front(struct unicorn_code *code) { return code->front; }

static void *lookup(const struct c2_map *map, uint64_t pc)
{
    uint64_t value;
    return c2_map_get(map, pc, &value) ? (void *)(uintptr_t)value : NULL;
}

struct unicorn_block *unicorn_code_search(struct unicorn_code *code, uint64_t pc, uint32_t size)
{
    for (struct unicorn_block *block = lookup(code->by_pc, pc); block; block = block->next)
        if (block->size == size && !block->stale)
            return code->front[unicorn_front_slot(pc)] = block;
    return NULL;
}

bool unicorn_code_fresh(const struct unicorn_block *block)
{
    return !block->bytes || memcmp(block->bytes, (const void *)(uintptr_t)block->pc, block->size) == 0;
}

/* ------------------------------------------------------------------ learning */

static enum c2_status append(void ***array, size_t *count, size_t *capacity, void *item, struct c2_error *err)
{
    if (*count == *capacity) {
        size_t grown = *capacity ? 2 * *capacity : C2_HOST_SIZE(1024, 2);
        void **bigger = c2_realloc(*array, grown * sizeof *bigger);
        if (!bigger)
            return c2_fail_memory(err, "the table of code blocks");
        *array = bigger;
        *capacity = grown;
    }
    (*array)[(*count)++] = item;
    return C2_OK;
}

/* Shared memory may be mapped a second time, writable there. */
static bool may_change(const struct unicorn_code *code, uint64_t pc)
{
    const struct mmu_area *area = mmu_area_at(code->mmu, (struct guest_va){pc}, false);
    return area && (area->prot & MMU_WRITE || area->shared);
}

static enum c2_status keep_bytes(struct unicorn_code *code, struct unicorn_block *block, struct c2_error *err)
{
    if (!may_change(code, block->pc) && !may_change(code, block->pc + block->size - 1))
        return C2_OK;
    block->bytes = c2_alloc(block->size);
    if (!block->bytes)
        return c2_fail_memory(err, "a copy of writable code");
    memcpy(block->bytes, (const void *)(uintptr_t)block->pc, block->size);
    return C2_OK;
}

static enum c2_status describe(struct unicorn_code *code, struct unicorn_block *block, struct c2_error *err)
{
    const struct decode_block *decoded = &code->decoded;
    block->insns = decoded->block.insn_count;
    block->special = block->insns == 0;
    enum c2_status status = keep_bytes(code, block, err);
    if (status != C2_OK || block->special)
        return status;
    status = unicorn_events_plan(block, decoded, err);
    if (status == C2_OK)
        status = stream_blocks_add(&block->number, code->blocks, &decoded->block, err);
    if (status != C2_OK)
        return status;
    block->block = stream_blocks_at(code->blocks, block->number);
    block->header = stream_header(block->number, block->insns, block->slots);
    return C2_OK;
}

/* Whether somebody wants to hear of the block. */
static enum c2_status ask_watch(struct unicorn_code *code, struct unicorn_block *block, struct c2_error *err)
{
    uint64_t ignored;
    block->watched = c2_map_get(code->watched, block->pc, &ignored);
    if (block->watched || !code->watch.wants)
        return C2_OK;
    return code->watch.wants(&block->watched, code->watch.self, (struct guest_va){block->pc}, err);
}

static enum c2_status new_block(struct unicorn_block **out, struct unicorn_code *code, uint64_t pc, uint32_t size,
                                struct c2_error *err)
{
    struct unicorn_block *block = c2_calloc(1, sizeof *block);
    if (!block)
        return c2_fail_memory(err, "a code block");
    block->pc = pc;
    block->size = size;
    enum c2_status status = describe(code, block, err);
    if (status == C2_OK)
        status = ask_watch(code, block, err);
    block->mmx = unicorn_mmx_early(&code->decoded);
    block->rare = block->special || block->bytes || block->watched || block->mmx;
    if (status == C2_OK)
        status = append((void ***)&code->all, &code->all_count, &code->all_capacity, block, err);
    if (status != C2_OK) {
        free_block(block);
        return status;
    }
    block->next = lookup(code->by_pc, pc);
    *out = block;
    return c2_map_put(code->by_pc, pc, (uint64_t)(uintptr_t)block, err);
}

/* Slots of an instruction alone in its block. */
static enum c2_status add_single(struct unicorn_code *code, struct unicorn_special *special, struct c2_error *err)
{
    struct stream_slot slots[DECODE_INSN_SLOTS];
    struct stream_insn insn = {.length = special->insn.insn.length};
    special->slots = (uint8_t)decode_slots(slots, &special->insn, 0);
    struct stream_block block = {.pc = {special->pc},
                                 .bytes = insn.length,
                                 .insn_count = 1,
                                 .slot_count = special->slots,
                                 .insns = &insn,
                                 .slots = slots,
                                 .ending = decode_ending(&special->insn, slots, special->slots)};
    return stream_blocks_add(&special->number, code->blocks, &block, err);
}

/* How many bytes may be read from pc: to the end of its page, or of the next if that is executable too. */
static uint64_t readable_code(const struct unicorn_code *code, uint64_t pc)
{
    struct guest_va next = {c2_align_down(pc, C2_PAGE_BYTES) + C2_PAGE_BYTES};
    return next.v - pc + (mmu_ready(code->mmu, next, MMU_ACCESS_EXEC) ? C2_PAGE_BYTES : 0);
}

/* Whether what was decoded is still there. What was no instruction may be one by now: its second page has come. */
static bool is_current(const struct unicorn_special *special)
{
    return !special->stale && special->decoded == DECODE_GOOD &&
           memcmp(special->bytes, (const void *)(uintptr_t)special->pc, special->insn.insn.length) == 0;
}

enum c2_status unicorn_code_special(struct unicorn_special **out, struct unicorn_code *code, uint64_t pc,
                                    struct c2_error *err)
{
    struct unicorn_special *special = lookup(code->specials, pc);
    *out = special;
    if (special && is_current(special))
        return C2_OK;
    if (!special) {
        special = c2_calloc(1, sizeof *special);
        if (!special)
            return c2_fail_memory(err, "an instruction to interpret");
        enum c2_status status = append((void ***)&code->all_specials, &code->special_count, &code->special_capacity,
                                       special, err);
        if (status != C2_OK) {
            c2_free(special);
            return status;
        }
        special->pc = pc;
        status = c2_map_put(code->specials, pc, (uint64_t)(uintptr_t)special, err);
        if (status != C2_OK)
            return status;
    }
    special->stale = false;
    special->decoded = decode_one(&special->insn, (struct guest_va){pc}, readable_code(code, pc));
    bool good = special->decoded == DECODE_GOOD;
    if (good)
        memcpy(special->bytes, (const void *)(uintptr_t)pc, special->insn.insn.length);
    special->wanted = !good || interpret_wants(&special->insn.insn, special->insn.operands);
    *out = special;
    return good && special->wanted ? add_single(code, special, err) : C2_OK;
}

static enum c2_status learn_mmx(struct unicorn_code *code, const struct unicorn_block *block, struct c2_error *err)
{
    bool hooked;
    enum c2_status status = unicorn_mmx_learn(&code->mmx, &code->decoded, &hooked, err);
    if (hooked)
        uc_ctl_remove_cache(code->uc, block->pc, block->pc + block->size);
    return status;
}

/* Translations made before the hook do not know of it. */
static enum c2_status stop_before(struct unicorn_code *code, uint64_t pc, const struct unicorn_block *block,
                                  struct c2_error *err)
{
    struct unicorn_special *special;
    enum c2_status status = unicorn_code_special(&special, code, pc, err);
    if (status != C2_OK)
        return status;
    if (!special->hook && uc_hook_add(code->uc, &special->hook, UC_HOOK_CODE, (void *)code->stop_at, code->stop_self,
                                      pc, pc) != UC_ERR_OK)
        return c2_fail_memory(err, "a hook before an instruction to interpret");
    uc_ctl_remove_cache(code->uc, block->pc, block->pc + block->size);
    return C2_OK;
}

/* A stop before what is not to be interpreted splits the block. */
static enum c2_status split(struct unicorn_code *code, const struct unicorn_block *block, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (unsigned i = 1; code->watch.splits && i < code->decoded.block.insn_count && status == C2_OK; i++) {
        const uint64_t pc = block->pc + code->decoded.insns[i].offset;
        if (code->watch.splits(code->watch.self, (struct guest_va){pc}))
            status = stop_before(code, pc, block, err);
    }
    return status;
}

/* Unicorn may hold a translation of what stood there before. It can be dropped only now that the page is there: of an
 * absent one Unicorn would drop nothing and keep a page fault for its next run. */
static bool drop_translation(struct unicorn_code *code, uint64_t pc, uint32_t size)
{
    bool dropped = false;
    for (struct unicorn_block *block = lookup(code->by_pc, pc); block; block = block->next)
        if (block->size == size && block->translated) {
            uc_ctl_remove_cache(code->uc, pc, pc + size);
            block->translated = false;
            dropped = true;
        }
    return dropped;
}

enum c2_status unicorn_code_learn(struct unicorn_block **out, struct unicorn_code *code, uint64_t pc, uint32_t size,
                                  struct c2_error *err)
{
    *out = NULL;
    if (drop_translation(code, pc, size))
        return C2_OK;
    decode_block(&code->decoded, (struct guest_va){pc}, size);
    bool stops = code->decoded.ended != DECODE_WHOLE && code->decoded.block.insn_count > 0;
    uint64_t stop_pc = code->decoded.end.v;
    enum c2_status status = new_block(out, code, pc, size, err);
    if (status == C2_OK)
        status = learn_mmx(code, *out, err);
    if (status == C2_OK)
        status = split(code, *out, err);
    if (status == C2_OK && stops)
        status = stop_before(code, stop_pc, *out, err);
    return status;
}

/* ------------------------------------------------------------------ MMX */

void unicorn_code_mmx_begin(struct unicorn_code *code, const struct unicorn_block *block)
{
    unicorn_mmx_write(&code->mmx, block->mmx);
}

void unicorn_code_mmx_leave(struct unicorn_code *code, const struct unicorn_block *block, uint64_t pc)
{
    if (block->mmx == 0)
        return;
    decode_block(&code->decoded, (struct guest_va){block->pc}, (uint32_t)(pc - block->pc));
    unicorn_mmx_give_back(&code->mmx, block->mmx & (uint8_t)~unicorn_mmx_early(&code->decoded));
}

/* ------------------------------------------------------------------ leaving */

void unicorn_code_left(struct unicorn_code *code, uint64_t pc, uint32_t size)
{
    if (!unicorn_code_search(code, pc, size))
        uc_ctl_remove_cache(code->uc, pc, pc + size);
}

/* ------------------------------------------------------------------ watching */

enum c2_status unicorn_code_watch(struct unicorn_code *code, uint64_t pc, struct c2_error *err)
{
    for (struct unicorn_block *block = lookup(code->by_pc, pc); block; block = block->next)
        block->watched = block->rare = true;
    return c2_map_put(code->watched, pc, 1, err);
}

/* ------------------------------------------------------------------ forgetting */

static bool overlaps(uint64_t start, uint64_t bytes, uint64_t other, uint64_t other_bytes)
{
    return start < other + other_bytes && other < start + bytes;
}

void unicorn_code_forget(struct unicorn_code *code, uint64_t start, uint64_t bytes)
{
    for (size_t i = 0; i < code->all_count; i++) {
        struct unicorn_block *block = code->all[i];
        if (block->stale || !overlaps(start, bytes, block->pc, block->size))
            continue;
        block->stale = block->translated = true;
    }
    for (size_t i = 0; i < code->special_count; i++)
        if (overlaps(start, bytes, code->all_specials[i]->pc, ZYDIS_MAX_INSTRUCTION_LENGTH))
            code->all_specials[i]->stale = true;
}
