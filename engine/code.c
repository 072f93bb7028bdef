/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/code.h"

static enum c2_status code_empty_map(struct c2_map **map, struct c2_error *err)
{
    c2_map_destroy(*map);
    *map = NULL;
    return c2_map_create(map, err);
}

enum c2_status engine_code_begin(struct engine_code *code, const struct engine_config *config, struct c2_error *err)
{
    C2_ASSERT(config->mmu && code->special_count <= code->special_capacity);
    code->mmu = config->mmu;
    code->blocks = config->blocks;
    code->watch = config->watch;
    code->cpu = config->cpu;
    for (size_t i = 0; i < code->special_count; i++)
        code->all_specials[i]->stale = true;
    enum c2_status status = code_empty_map(&code->watched, err);
    return status == C2_OK && !code->specials ? c2_map_create(&code->specials, err) : status;
}

void engine_code_release(struct engine_code *code)
{
    C2_ASSERT(code->special_count <= code->special_capacity);
    for (size_t i = 0; i < code->special_count; i++)
        c2_free(code->all_specials[i]);
    c2_free(code->all_specials);
    c2_map_destroy(code->specials);
    c2_map_destroy(code->watched);
}

uint64_t engine_code_readable(const struct engine_code *code, uint64_t pc)
{
    const struct guest_va next = {c2_align_down(pc, C2_PAGE_BYTES) + C2_PAGE_BYTES};
    C2_PROMISE(next.v > pc);
    return next.v - pc + (mmu_ready(code->mmu, next, MMU_ACCESS_EXEC) ? C2_PAGE_BYTES : 0);
}

/* Shared memory may be mapped a second time, writable there. */
static bool page_may_change(const struct engine_code *code, uint64_t pc)
{
    const struct mmu_area *area = mmu_area_at(mmu_areas(code->mmu), (struct guest_va){pc}, false);
    return area && (area->prot & MMU_WRITE || area->shared);
}

bool engine_code_may_change(const struct engine_code *code, uint64_t pc, uint32_t bytes)
{
    C2_PROMISE(bytes != 0);
    return page_may_change(code, pc) || page_may_change(code, pc + bytes - 1);
}

struct decode_splits engine_code_splits(const struct engine_code *code)
{
    return (struct decode_splits){code->watch.self, code->watch.splits, code->cpu};
}

uint16_t engine_code_rest(struct engine_code *code, uint64_t pc, uint16_t insns, struct guest_va end)
{
    if (!code->watch.splits || !code->watch.splits(code->watch.self, end))
        return 0;
    decode_block(&code->scratch, (struct guest_va){pc}, engine_code_readable(code, pc),
                 (struct decode_splits){NULL, NULL, code->cpu});
    C2_PROMISE(code->scratch.block.insn_count >= insns);
    return (uint16_t)(code->scratch.block.insn_count - insns);
}

enum c2_status engine_code_is_watched(bool *out, struct engine_code *code, uint64_t pc, struct c2_error *err)
{
    C2_PROMISE(code->watched);
    uint64_t ignored;
    *out = c2_map_get(code->watched, pc, &ignored);
    if (*out || !code->watch.wants)
        return C2_OK;
    return code->watch.wants(out, code->watch.self, (struct guest_va){pc}, err);
}

enum c2_status engine_code_watch(struct engine_code *code, uint64_t pc, struct c2_error *err)
{
    C2_PROMISE(code->watched);
    return c2_map_put(code->watched, pc, 1, err);
}

bool engine_code_overlaps(uint64_t start, uint64_t bytes, uint64_t other, uint64_t other_bytes)
{
    C2_PROMISE(start + bytes >= start && other + other_bytes >= other);
    return start < other + other_bytes && other < start + bytes;
}
