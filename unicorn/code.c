/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Everything Unicorn runs has been screened first: the first execution of a translation block, known by its pc and
 *   size, stops before the block; it is decoded, and only what is known to be executed rightly is left to Unicorn.
 *   Translation blocks end where the blocks of the stream do, or before (translate.c asks unicorn_code_cut): none holds
 *   an instruction to interpret but as its only one, and none goes on where engine_watch.splits wants another to start.
 *   Blocks on writable or shared pages keep a copy of their bytes and are compared with it at each execution, whatever
 *   changed them: a store, an interpreted instruction, a system call, a store through another mapping. (What a store
 *   through its own address changes in the very block that executes it: unicorn_access.c.) Code on other pages changes
 *   only through mmap, munmap and mprotect, which say so (unicorn_code_forget).
 *   When a process becomes another program, that often has the same libraries at the same places. A block that it comes
 *   to where the program before had one of the same bytes, and as long, has the translation of that.
 * Not modelled
 *   A private file mapping whose file is written while it executes (POSIX leaves open what is seen then). A change
 *   through another mapping is seen at the next block, not in the block that makes it; CPUs ask for a serialising
 *   instruction in between.
 */
#include "engine/code_ranges.h"
#include "unicorn/unicorn_priv.h"

#include <string.h>

/* What Unicorn has translated as a single instruction: no block that is known, but code that may change as well. */
struct unicorn_single {
    uint8_t count; /* of bytes; 0: nothing yet */
    uint8_t bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
};

struct unicorn_code {
    uc_engine *uc;
    struct engine_code guest;
    struct unicorn_mmx mmx;
    struct c2_map *by_pc;                               /* pc -> struct unicorn_block *, linked by next */
    struct code_ranges *ranges;                         /* of those that are not stale; NULL: no program */
    struct unicorn_block *front[UNICORN_FRONT_ENTRIES]; /* by pc: the one found last */
    struct unicorn_block **all;                         /* every block ever made, freed at the end */
    size_t all_count, all_capacity;
    struct c2_map *single_by_pc; /* pc -> 1 + index of what was executed alone there */
    struct unicorn_single *singles;
    size_t single_count, single_capacity;
    bool forgetful;              /* there was no memory for one of them */
    struct decode_block decoded; /* of the last translation of this run; pc 0: there is none */
    bool stepping;               /* translations have one instruction each in this run */
    bool single;                 /* it has one instruction, whatever the block has */
    uint64_t trim_pc;
    unsigned trim_most;
    struct decode_block scratch;
    struct unicorn_run_mode way;
    struct c2_map *entry_by_pc; /* twice the pc, and one more for those that record -> struct unicorn_translation * */
    struct unicorn_translation **all_entries;
    size_t entry_count, entry_capacity;
    struct unicorn_translation *entry; /* of the translation that is made; may be NULL */
    bool refused;                      /* unicorn_code_refused() */
    bool spoilt;                       /* there is a translation that cannot be dropped, and must not be met */
    unsigned event_count;
    struct unicorn_event events[UNICORN_EVENTS]; /* of `decoded` */
};

enum c2_status unicorn_code_create(struct unicorn_code **out, uc_engine *uc, struct c2_error *err)
{
    struct unicorn_code *code = c2_calloc(1, sizeof *code);
    *out = NULL;
    if (!code)
        return c2_fail_memory(err, "the table of code blocks");
    code->uc = uc;
    enum c2_status status = c2_map_create(&code->single_by_pc, err);
    if (status == C2_OK)
        status = c2_map_create(&code->entry_by_pc, err);
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
    engine_code_release(&code->guest);
    for (size_t i = 0; i < code->entry_count; i++)
        c2_free(code->all_entries[i]);
    c2_free(code->all_entries);
    c2_free(code->all);
    c2_map_destroy(code->by_pc);
    code_ranges_destroy(code->ranges);
    c2_map_destroy(code->single_by_pc);
    c2_map_destroy(code->entry_by_pc);
    c2_free(code->singles);
    unicorn_mmx_release(&code->mmx);
    c2_free(code);
}

static void detach(struct unicorn_translation *entry)
{
    struct unicorn_block *block = entry->block;
    if (block) {
        struct unicorn_translation **at = &block->entries;
        while (*at != entry)
            at = &(*at)->next;
        *at = entry->next;
    }
    *entry = (struct unicorn_translation){.insns = UNICORN_UNKNOWN, .pc = entry->pc, .size = entry->size};
}

static void detach_all(struct unicorn_block *block)
{
    while (block->entries)
        detach(block->entries);
}

/* ------------------------------------------------------------------ from one program to the next */

static void *unicorn_code_lookup(const struct c2_map *map, uint64_t pc)
{
    uint64_t value;
    return c2_map_get(map, pc, &value) ? (void *)(uintptr_t)value : NULL;
}

static enum c2_status unicorn_code_empty_map(struct c2_map **map, struct c2_error *err)
{
    c2_map_destroy(*map);
    *map = NULL;
    return c2_map_create(map, err);
}

static enum c2_status add_by_pc(struct unicorn_code *code, struct unicorn_block *block, struct c2_error *err)
{
    block->next = unicorn_code_lookup(code->by_pc, block->pc);
    return c2_map_put(code->by_pc, block->pc, (uint64_t)(uintptr_t)block, err);
}

enum c2_status unicorn_code_enter(struct unicorn_code *code, const struct engine_config *config, struct c2_error *err)
{
    enum c2_status status = engine_code_begin(&code->guest, config, err);
    code->guest.cpu = NULL; /* it executes nothing beyond that */
    if (status == C2_OK)
        status = unicorn_code_empty_map(&code->by_pc, err);
    C2_PROMISE(!code->ranges);
    if (status == C2_OK)
        status = code_ranges_create(&code->ranges, err);
    for (size_t i = 0; i < code->all_count && status == C2_OK; i++)
        status = add_by_pc(code, code->all[i], err);
    return status;
}

static void make_stale(struct unicorn_block *block)
{
    if (block->stale)
        return;
    block->stale = block->translated = true;
    detach_all(block);
}

static bool code_crosses_page(const struct unicorn_block *block)
{
    return (block->pc ^ (block->pc + block->size - 1)) >> C2_PAGE_SHIFT != 0;
}

/* Unicorn looks at both pages of a translation before it executes any of it, even where the instruction alone is wanted
 * that it begins with: so none of what is gone may go on to a page that may be absent. False: it cannot be dropped. */
static bool drop_crossing(struct unicorn_code *code, const struct unicorn_block *block)
{
    struct guest_va first = {block->pc}, last = {block->pc + block->size - 1};
    if (!mmu_ready(code->guest.mmu, first, MMU_ACCESS_EXEC) || !mmu_ready(code->guest.mmu, last, MMU_ACCESS_EXEC))
        return false;
    uc_ctl_remove_cache(code->uc, block->pc, block->pc + block->size);
    return true;
}

/* Whether there may be a translation when the next program begins. */
static bool leave_block(struct unicorn_code *code, struct unicorn_block *block)
{
    block->comes_back = !block->stale && !block->changes;
    make_stale(block);
    block->block = NULL;
    if (block->translated && code_crosses_page(block))
        block->translated = !drop_crossing(code, block);
    code->spoilt = code->spoilt || (block->translated && code_crosses_page(block));
    return block->translated;
}

void unicorn_code_leave(struct unicorn_code *code)
{
    size_t kept = 0;
    memset(code->front, 0, sizeof code->front);
    code_ranges_destroy(code->ranges); /* all are stale from now on, or gone */
    code->ranges = NULL;
    for (size_t i = 0; i < code->all_count; i++) {
        struct unicorn_block *block = code->all[i];
        if (leave_block(code, block))
            code->all[kept++] = block;
        else
            free_block(block);
    }
    code->all_count = kept;
    code->trim_pc = 0;
    code->refused = false;
}

/* What translations are made of never shrinks. */
#define MOST_KEPT 200000u

bool unicorn_code_may_enter(const struct unicorn_code *code)
{
    return !code->spoilt && !code->forgetful && code->all_count <= MOST_KEPT;
}

/* ------------------------------------------------------------------ finding */

struct unicorn_block **unicorn_code_front(struct unicorn_code *code) { return code->front; }

struct unicorn_block *unicorn_code_search(struct unicorn_code *code, uint64_t pc, uint32_t size)
{
    for (struct unicorn_block *block = unicorn_code_lookup(code->by_pc, pc); block; block = block->next)
        if (block->size == size && !block->stale)
            return code->front[unicorn_front_slot(pc)] = block;
    return NULL;
}

bool unicorn_code_fresh(const struct unicorn_block *block)
{
    return !block->changes || memcmp(block->bytes, (const void *)(uintptr_t)block->pc, block->extent) == 0;
}

/* ------------------------------------------------------------------ learning */

static enum c2_status unicorn_code_append(void ***array, size_t *count, size_t *capacity, void *item,
                                          struct c2_error *err)
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

static enum c2_status unicorn_code_keep_bytes(struct unicorn_code *code, struct unicorn_block *block,
                                              struct c2_error *err)
{
    block->changes = engine_code_may_change(&code->guest, block->pc, block->extent);
    block->bytes = c2_alloc(block->extent);
    if (!block->bytes)
        return c2_fail_memory(err, "a copy of code");
    memcpy(block->bytes, (const void *)(uintptr_t)block->pc, block->extent);
    return C2_OK;
}

static enum c2_status name(struct unicorn_code *code, struct unicorn_block *block, const struct decode_block *decoded,
                           struct c2_error *err)
{
    enum c2_status status = stream_blocks_add(&block->number, code->guest.blocks, &decoded->block, err);
    if (status != C2_OK)
        return status;
    block->block = stream_blocks_at(code->guest.blocks, block->number);
    block->header = stream_header(block->number, block->insns, block->slots);
    return C2_OK;
}

static void set_rare(struct unicorn_block *block)
{
    block->rare = block->special || block->first || block->changes || block->watched || block->part || block->mmx ||
                  block->joins;
}

enum c2_status unicorn_code_name(struct unicorn_code *code, struct unicorn_block *block, struct c2_error *err)
{
    decode_block(&code->scratch, (struct guest_va){block->pc}, block->extent, (struct decode_splits){NULL, NULL, NULL});
    C2_PROMISE(block->part && code->scratch.block.insn_count == block->insns);
    block->part = false;
    set_rare(block);
    return name(code, block, &code->scratch, err);
}

static void note_interpreted(struct unicorn_block *block, const struct decode_block *decoded)
{
    for (unsigned i = 0; i < block->insns; i++)
        block->interpreted[i / 64] |= (uint64_t)decoded->interpreted[i] << i % 64;
    block->first = unicorn_interprets(block, 0);
}

static enum c2_status unicorn_code_describe(struct unicorn_code *code, struct unicorn_block *block,
                                            struct c2_error *err)
{
    const struct decode_block *decoded = &code->decoded;
    block->insns = decoded->block.insn_count;
    block->special = block->insns == 0;
    block->extent = block->special ? block->size : decoded->block.bytes;
    block->cost = block->special ? 1 : block->insns;
    block->rest = block->special ? 0 : engine_code_rest(&code->guest, block->pc, block->insns, decoded->end);
    note_interpreted(block, decoded);
    block->joins = block->first ? block->insns > 1 : block->extent > block->size;
    enum c2_status status = unicorn_code_keep_bytes(code, block, err);
    if (status != C2_OK || block->special)
        return status;
    status = unicorn_events_plan(block, decoded, err);
    if (status == C2_OK && !block->part)
        status = name(code, block, decoded, err);
    C2_PROMISE(block->insns <= STREAM_BLOCK_INSNS && (block->extent >= block->size || block->first));
    return status;
}

static enum c2_status code_new_block(struct unicorn_block **out, struct unicorn_code *code, uint64_t pc, uint32_t size,
                                     bool watched, bool part, struct c2_error *err)
{
    struct unicorn_block *block = c2_calloc(1, sizeof *block);
    if (!block)
        return c2_fail_memory(err, "a code block");
    block->pc = pc;
    block->size = size;
    block->watched = watched;
    block->part = part && code->decoded.block.insn_count > 0;
    enum c2_status status = unicorn_code_describe(code, block, err);
    block->mmx = unicorn_mmx_early(&code->decoded);
    set_rare(block);
    if (status == C2_OK)
        status = unicorn_code_append((void ***)&code->all, &code->all_count, &code->all_capacity, block, err);
    if (status != C2_OK) {
        free_block(block);
        return status;
    }
    *out = block;
    status = code_ranges_add(code->ranges, block->pc, block->extent, block, err);
    return status == C2_OK ? add_by_pc(code, block, err) : status;
}

static enum c2_status learn_mmx(struct unicorn_code *code, const struct unicorn_block *block, struct c2_error *err)
{
    bool hooked;
    enum c2_status status = unicorn_mmx_learn(&code->mmx, &code->decoded, &hooked, err);
    if (hooked)
        uc_ctl_remove_cache(code->uc, block->pc, block->pc + block->extent);
    return status;
}

/* Unicorn dies of a translation that has used up its variables, of which it gives some kinds of instructions too many
 * and takes none back. Tried with every form of tests/engine/forms.c: this many are good. */
#define MOST_VARIABLES 400u

static unsigned variables_of(const struct decode_block *decoded, unsigned insn)
{
    return decoded->mnemonics[insn] == ZYDIS_MNEMONIC_INSERTPS ? 4 : insn >= decoded->first_x87 ? 2 : 1;
}

/* How many of the block's first instructions Unicorn executes in one go. */
static unsigned bearable(const struct decode_block *decoded)
{
    unsigned insns = 0, variables = 0;
    while (insns < decoded->block.insn_count && variables + 4 <= MOST_VARIABLES && !decoded->interpreted[insns])
        variables += variables_of(decoded, insns++);
    return insns;
}

static bool begins_interpreted(const struct decode_block *decoded)
{
    return decoded->block.insn_count > 0 && decoded->interpreted[0];
}

unsigned unicorn_code_cut(struct unicorn_code *code, uint64_t pc, unsigned most)
{
    const uint64_t readable = engine_code_readable(&code->guest, pc);
    const bool short_of = code->stepping && readable > ZYDIS_MAX_INSTRUCTION_LENGTH;
    decode_block(&code->decoded, (struct guest_va){pc}, short_of ? ZYDIS_MAX_INSTRUCTION_LENGTH : readable,
                 engine_code_splits(&code->guest));
    if (code->stepping)
        most = 1;
    code->single = most == 1;
    if (pc == code->trim_pc && code->trim_most < most)
        most = code->trim_most;
    const unsigned whole = code->decoded.block.insn_count, good = bearable(&code->decoded);
    const unsigned insns = good < whole ? good : whole + (code->decoded.ended == DECODE_OPEN);
    return insns == 0 ? 1 : insns < most ? insns : most;
}

void unicorn_code_trim(struct unicorn_code *code, uint64_t pc, uint32_t size, unsigned most)
{
    uc_ctl_remove_cache(code->uc, pc, pc + size);
    code->trim_pc = pc;
    code->trim_most = most;
}

bool unicorn_code_lacks(struct guest_va *page, const struct unicorn_code *code, uint64_t pc, uint32_t size)
{
    const struct decode_block *decoded = &code->decoded;
    const bool missed = size <= decoded->block.bytes &&
                        (code->single || bearable(decoded) == decoded->block.insn_count);
    if (decoded->block.pc.v != pc || decoded->ended != DECODE_OPEN || missed)
        return false;
    page->v = c2_align_up(decoded->end.v, C2_PAGE_BYTES);
    return true;
}

void unicorn_code_run(struct unicorn_code *code, bool stepping)
{
    code->decoded.block.pc.v = 0;
    code->stepping = stepping;
}

void unicorn_code_make(struct unicorn_code *code, const struct unicorn_run_mode *way)
{
    code->way = *way;
    code->refused = false;
}

bool unicorn_code_refused(const struct unicorn_code *code) { return code->refused; }

/* ------------------------------------------------------------------ instructions that are executed one by one */

static struct unicorn_single *single_at(const struct unicorn_code *code, uint64_t pc)
{
    uint64_t number;
    return c2_map_get(code->single_by_pc, pc, &number) ? &code->singles[number - 1] : NULL;
}

/* NULL: no memory. */
static struct unicorn_single *add_single_at(struct unicorn_code *code, uint64_t pc)
{
    if (code->single_count == code->single_capacity) {
        const size_t grown = code->single_capacity ? 2 * code->single_capacity : C2_HOST_SIZE(256, 2);
        struct unicorn_single *bigger = c2_realloc(code->singles, grown * sizeof *bigger);
        if (!bigger)
            return NULL;
        code->singles = bigger;
        code->single_capacity = grown;
    }
    if (c2_map_put(code->single_by_pc, pc, code->single_count + 1, NULL) != C2_OK)
        return NULL;
    return &code->singles[code->single_count++];
}

/* What is translated as a single instruction at pc. */
static void note_single(struct unicorn_code *code, uint64_t pc, uint32_t bytes)
{
    struct unicorn_single *single = single_at(code, pc);
    if (!single)
        single = add_single_at(code, pc);
    code->forgetful = code->forgetful || !single;
    if (!single)
        return;
    single->count = bytes < sizeof single->bytes ? (uint8_t)bytes : sizeof single->bytes;
    memcpy(single->bytes, (const void *)(uintptr_t)pc, single->count);
}

/* Now the instruction at pc has so many bytes. */
static void renew_single(struct unicorn_code *code, uint64_t pc, uint8_t bytes)
{
    struct unicorn_single *single = single_at(code, pc);
    if (!single || single->count == 0 ||
        (single->count == bytes && memcmp(single->bytes, (const void *)(uintptr_t)pc, bytes) == 0))
        return;
    uc_ctl_remove_cache(code->uc, pc, pc + single->count);
    single->count = 0;
}

enum c2_status unicorn_code_singles(struct unicorn_code *code, const struct unicorn_block *block, uint64_t count,
                                    struct c2_error *err)
{
    C2_PROMISE(count < block->insns); /* the one behind them is translated as well */
    for (uint64_t i = 0; i <= count; i++)
        renew_single(code, block->pc + block->block->insns[i].offset, block->block->insns[i].length);
    return code->forgetful ? c2_fail_memory(err, "the table of instructions") : C2_OK;
}

/* ------------------------------------------------------------------ translations that begin by themselves
 * Unicorn has one translation of a pc and set at a time, but for those of one instruction, which have no entry: so a
 * new one has the entry of the one before. */

void unicorn_code_attach(struct unicorn_translation *entry, struct unicorn_block *block)
{
    if (entry->block || block->rare || block->stale || block->rest != 0)
        return;
    *entry = (struct unicorn_translation){.insns = block->insns,
                                          .bytes = sizeof(uint64_t) * (1u + block->slots),
                                          .header = block->header,
                                          .block = block,
                                          .pc = entry->pc,
                                          .size = entry->size,
                                          .next = block->entries};
    block->entries = entry;
}

/* NULL: there is no memory for one, and the block hook will be called always. */
static struct unicorn_translation *entry_at(struct unicorn_code *code, uint64_t pc)
{
    const uint64_t key = pc << 1 | code->way.records;
    struct unicorn_translation *entry = unicorn_code_lookup(code->entry_by_pc, key);
    if (!entry) {
        entry = c2_calloc(1, sizeof *entry);
        if (!entry)
            return NULL;
        if (unicorn_code_append((void ***)&code->all_entries, &code->entry_count, &code->entry_capacity, entry, NULL) !=
            C2_OK) {
            c2_free(entry);
            return NULL;
        }
        if (c2_map_put(code->entry_by_pc, key, (uint64_t)(uintptr_t)entry, NULL) != C2_OK)
            return NULL;
        entry->pc = pc;
    }
    detach(entry);
    return entry;
}

void unicorn_code_begin(struct unicorn_code *code)
{
    struct unicorn_run_mode way = code->way;
    const bool executed = code->decoded.block.insn_count > 0 && !begins_interpreted(&code->decoded);
    way.records = way.records && executed;
    code->event_count = executed ? unicorn_events_list(code->events, &code->decoded) : 0;
    code->entry = way.hook && !code->single ? entry_at(code, code->decoded.block.pc.v) : NULL;
    unicorn_inline_begin(&way, code->events, code->event_count, code->entry);
}

/* Events of the first `bytes` bytes of the block. */
static unsigned events_within(const struct unicorn_code *code, uint32_t bytes)
{
    unsigned count = 0;
    while (count < code->event_count && code->decoded.insns[code->events[count].insn].offset < bytes)
        count++;
    return count;
}

static uint64_t distrusted;

void unicorn_code_distrust(uint64_t pc) { distrusted = pc; }

/* What lies behind the block is not executed (unicorn_code_lacks). */
void unicorn_code_end(struct unicorn_code *code, uint32_t size)
{
    unsigned left;
    const bool good = unicorn_inline_end(&left) && code->event_count - left == events_within(code, size) &&
                      code->decoded.block.pc.v != distrusted;
    if (code->entry)
        code->entry->size = size;
    if (code->stepping)
        note_single(code, code->decoded.block.pc.v, size);
    if (code->way.records && size <= code->decoded.block.bytes && !begins_interpreted(&code->decoded))
        code->refused = code->refused || !good;
}

/* Whether what an earlier program had there is there again, and is decoded as it was. If it may go on to a page that is
 * not there yet, Unicorn shall fault on that as at the first time. */
static bool is_there_again(struct unicorn_code *code, const struct unicorn_block *before)
{
    const struct decode_block *decoded = &code->decoded;
    const uint64_t readable = engine_code_readable(&code->guest, before->pc);
    if (!before->comes_back || before->extent > readable ||
        memcmp(before->bytes, (const void *)(uintptr_t)before->pc, before->extent) != 0)
        return false;
    decode_block(&code->decoded, (struct guest_va){before->pc}, readable, engine_code_splits(&code->guest));
    code->single = false;
    return decoded->ended != DECODE_OPEN && decoded->block.insn_count == before->insns &&
           (before->special || decoded->block.bytes == before->extent);
}

/* Unicorn may hold a translation of what stood there before. It can be dropped only now that the page is there: of an
 * absent one Unicorn would drop nothing and keep a page fault for its next run. */
static bool drop_translation(struct unicorn_code *code, uint64_t pc, uint32_t size)
{
    bool dropped = false;
    for (struct unicorn_block *block = unicorn_code_lookup(code->by_pc, pc); block; block = block->next)
        if (block->size == size && block->translated) {
            block->translated = false;
            dropped = dropped || code->stepping || !is_there_again(code, block);
        }
    if (dropped)
        uc_ctl_remove_cache(code->uc, pc, pc + size);
    return dropped;
}

/* What was decoded when the block was translated; of a single instruction, that one. */
static enum c2_status decode_translation(struct unicorn_code *code, uint64_t pc, uint32_t size, struct c2_error *err)
{
    struct decode_block *decoded = &code->decoded;
    if (code->single && decoded->block.bytes > size)
        decode_block(decoded, (struct guest_va){pc}, size, (struct decode_splits){NULL, NULL, NULL});
    if (decoded->block.insn_count == 0 || decoded->block.bytes >= size || begins_interpreted(decoded))
        return C2_OK;
    return c2_fail(err, C2_ERR_INTERNAL, "the engine translates %u bytes at 0x%llx where a block has %u", size,
                   (unsigned long long)pc, decoded->block.bytes);
}

enum c2_status unicorn_code_learn(struct unicorn_block **out, struct unicorn_code *code, uint64_t pc, uint32_t size,
                                  bool part, struct c2_error *err)
{
    bool watched;
    *out = NULL;
    if (drop_translation(code, pc, size))
        return C2_OK;
    enum c2_status status = engine_code_is_watched(&watched, &code->guest, pc, err);
    if (status != C2_OK)
        return status;
    if (code->decoded.block.pc.v != pc || decode_is_split(&code->decoded, engine_code_splits(&code->guest))) {
        uc_ctl_remove_cache(code->uc, pc, pc + size);
        return C2_OK;
    }
    status = decode_translation(code, pc, size, err);
    if (status == C2_OK)
        status = code_new_block(out, code, pc, size, watched, part, err);
    return status == C2_OK ? learn_mmx(code, *out, err) : status;
}

enum c2_status unicorn_code_special(struct engine_special **out, struct unicorn_code *code, uint64_t pc,
                                    struct c2_error *err)
{
    const enum c2_status status = engine_special_at(out, &code->guest, pc, err);
    C2_PROMISE(status != C2_OK || (*out)->decoded != DECODE_GOOD ||
               interpret_wants(&(*out)->insn.insn, (*out)->insn.operands));
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
    decode_block(&code->scratch, (struct guest_va){block->pc}, pc - block->pc,
                 (struct decode_splits){NULL, NULL, NULL});
    unicorn_mmx_give_back(&code->mmx, block->mmx & (uint8_t)~unicorn_mmx_early(&code->scratch));
}

void unicorn_code_mmx_faulted(struct unicorn_code *code, uint64_t pc) { unicorn_mmx_faulted(&code->mmx, pc); }

/* ------------------------------------------------------------------ leaving */

void unicorn_code_left(struct unicorn_code *code, uint64_t pc, uint32_t size)
{
    if (!unicorn_code_search(code, pc, size))
        uc_ctl_remove_cache(code->uc, pc, pc + size);
}

/* ------------------------------------------------------------------ watching */

enum c2_status unicorn_code_watch(struct unicorn_code *code, uint64_t pc, struct c2_error *err)
{
    for (struct unicorn_block *block = unicorn_code_lookup(code->by_pc, pc); block; block = block->next) {
        block->watched = block->rare = true;
        detach_all(block);
    }
    return engine_code_watch(&code->guest, pc, err);
}

/* ------------------------------------------------------------------ forgetting */

static void forget_unicorn_block(void *self, void *what)
{
    struct unicorn_block *block = what;
    bool *known = self;
    *known = *known || !block->stale;
    make_stale(block);
}

bool unicorn_code_forget(struct unicorn_code *code, uint64_t start, uint64_t bytes)
{
    bool known = false;
    if (code->ranges)
        code_ranges_take(code->ranges, start, bytes, forget_unicorn_block, &known);
    if (engine_code_overlaps(start, bytes, code->trim_pc, 1))
        code->trim_pc = 0; /* where what is there now ends is another matter */
    engine_specials_forget(&code->guest, start, bytes);
    return known;
}

/* ------------------------------------------------------------------ counting */

void unicorn_code_take_executed(struct unicorn_code *code,
                                void (*take)(void *self, struct guest_va pc, uint64_t instructions), void *self)
{
    for (size_t i = 0; i < code->all_count; i++) {
        struct unicorn_block *block = code->all[i];
        if (block->executed != 0)
            take(self, (struct guest_va){block->pc}, block->executed);
        block->executed = 0;
    }
    engine_specials_take(&code->guest, take, self);
}
