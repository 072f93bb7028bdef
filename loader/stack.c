/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The initial stack: what a program finds above its first RSP.
 *
 * Model
 *   The bytes are made first, as two blocks, and then written to two fixed places (of the far layout so much
 *   higher up):
 *
 *       MMU_STACK_TOP    +--------------------------------------------+
 *                        | (free)                                     |
 *                        | environment strings                        |
 *                        | argument strings                           |  upwards
 *                        | AT_EXECFN, AT_PLATFORM                     |    ^
 *       ..STRINGS        | 16 bytes of AT_RANDOM                      |    |
 *                        +--------------------------------------------+
 *                        | (free)                                     |
 *                        | auxv                                       |
 *                        | envp .. NULL                               |  upwards
 *                        | argv .. NULL                               |    ^
 *       ..RSP            | argc                                       |    |
 *                        +--------------------------------------------+
 *                        | the guest's stack, MMU_STACK_BYTES         |  downwards
 *       ..LOW            +--------------------------------------------+
 *
 * Invariants
 *   RSP depends on nothing, so no address of the stack does: not on the environment, the arguments or the program's
 *   name. A longer environment moves auxv and the strings behind it, never the guest's own frames.
 *   Pages are touched in the order: strings ascending, vectors ascending.
 * Decisions
 *   Identity is fixed (1000), the machine's features and the stack that its signals need are those of the processor
 *   (cpu/cpu.h), there is no vDSO: libc then makes real system calls for the time.
 * Source
 *   System V ABI, AMD64 supplement, "Process Initialization"; getauxval(3).
 */
#include "loader/loader_priv.h"

#include <elf.h>
#include <string.h>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

#define BLOCK_BYTES (LOADER_ARGUMENTS_BYTES / 2)
#define RANDOM_BYTES 16
#define PLATFORM "x86_64"
#define USER_ID 1000
#define CLOCK_TICKS 100

/* ------------------------------------------------------------------ sizes */

static size_t stack_measure(const char *const *items, size_t *count)
{
    size_t bytes = 0;
    for (*count = 0; items[*count]; (*count)++)
        bytes += strlen(items[*count]) + 1;
    return bytes;
}

/* ------------------------------------------------------------------ the string block */

static uint64_t stack_put_string(struct loader_stack *stack, const char *text)
{
    uint64_t address = LOADER_STACK_STRINGS + stack->moved + stack->string_bytes;
    size_t bytes = strlen(text) + 1;
    memcpy(stack->strings + stack->string_bytes, text, bytes);
    stack->string_bytes += bytes;
    return address;
}

static uint64_t put_random(struct loader_stack *stack, uint64_t seed)
{
    struct c2_rng rng;
    uint64_t address = LOADER_STACK_STRINGS + stack->moved + stack->string_bytes;
    c2_rng_init(&rng, seed, "at_random");
    c2_rng_fill(&rng, stack->strings + stack->string_bytes, RANDOM_BYTES);
    stack->string_bytes += RANDOM_BYTES;
    return address;
}

/* ------------------------------------------------------------------ the vectors */

static void stack_put(struct loader_stack *stack, uint64_t word) { stack->vectors[stack->vector_count++] = word; }

static void put_list(struct loader_stack *stack, const char *const *items)
{
    for (size_t i = 0; items[i]; i++)
        stack_put(stack, stack_put_string(stack, items[i]));
    stack_put(stack, 0);
}

#define AUXV_ENTRIES 20

static void put_auxv(struct loader_stack *stack, const struct loader_start *start, uint64_t random, uint64_t platform,
                     uint64_t name)
{
    const uint64_t auxv[AUXV_ENTRIES][2] = {
        {AT_MINSIGSTKSZ, cpu_signal_stack_bytes(start->cpu)},
        {AT_HWCAP, cpu_hwcap(start->cpu)},
        {AT_PAGESZ, C2_PAGE_BYTES},
        {AT_CLKTCK, CLOCK_TICKS},
        {AT_PHDR, start->phdr},
        {AT_PHENT, sizeof(Elf64_Phdr)},
        {AT_PHNUM, start->phnum},
        {AT_BASE, start->base},
        {AT_FLAGS, 0},
        {AT_ENTRY, start->entry},
        {AT_UID, USER_ID},
        {AT_EUID, USER_ID},
        {AT_GID, USER_ID},
        {AT_EGID, USER_ID},
        {AT_SECURE, 0},
        {AT_RANDOM, random},
        {AT_HWCAP2, 0},
        {AT_EXECFN, name},
        {AT_PLATFORM, platform},
        {AT_NULL, 0},
    };
    for (size_t i = 0; i < AUXV_ENTRIES; i++) {
        stack_put(stack, auxv[i][0]);
        stack_put(stack, auxv[i][1]);
    }
}

/* ------------------------------------------------------------------ the whole */

static void stack_fill(struct loader_stack *stack, const struct loader_start *start, size_t argc)
{
    uint64_t random = put_random(stack, start->seed);
    uint64_t platform = stack_put_string(stack, PLATFORM);
    uint64_t name = stack_put_string(stack, start->name);
    stack_put(stack, argc);
    put_list(stack, start->argv);
    put_list(stack, start->envp);
    put_auxv(stack, start, random, platform, name);
}

enum c2_status loader_stack_compose(struct loader_stack *out, const struct loader_start *start, struct c2_error *err)
{
    size_t argc, envc;
    size_t strings = RANDOM_BYTES + sizeof PLATFORM + strlen(start->name) + 1;
    strings += stack_measure(start->argv, &argc);
    strings += stack_measure(start->envp, &envc);
    size_t vectors = 1 + argc + 1 + envc + 1 + 2 * AUXV_ENTRIES;
    *out = (struct loader_stack){.moved = start->moved};
    if (strings > BLOCK_BYTES || vectors * sizeof(uint64_t) > BLOCK_BYTES)
        return c2_fail(err, C2_ERR_INVALID,
                       "the arguments and the environment are too long: %zu words with %zu bytes; %llu bytes of text "
                       "and as many of pointers are the limit",
                       argc + envc, strings, BLOCK_BYTES);
    out->vectors = c2_alloc(vectors * sizeof *out->vectors);
    out->strings = c2_alloc(strings);
    if (!out->vectors || !out->strings) {
        loader_stack_release(out);
        return c2_fail_memory(err, "the initial stack");
    }
    stack_fill(out, start, argc);
    C2_ASSERT(out->vector_count == vectors && out->string_bytes == strings);
    return C2_OK;
}

void loader_stack_release(struct loader_stack *stack)
{
    c2_free(stack->vectors);
    c2_free(stack->strings);
    *stack = (struct loader_stack){0};
}

enum c2_status loader_stack_map(struct mmu *mmu, const struct loader_stack *stack, bool executable,
                                struct c2_error *err)
{
    struct mmu_request request = {
        .address = LOADER_STACK_LOW + stack->moved,
        .bytes = MMU_STACK_TOP - LOADER_STACK_LOW,
        .prot = MMU_READ | MMU_WRITE | (executable ? MMU_EXEC : 0u),
        .fixed = true,
        .no_replace = true,
        .kind = MMU_STACK,
        .host_fd = -1,
    };
    int64_t answer = mmu_map(mmu, &request);
    if (answer < 0)
        return loader_map_failed(err, "the stack", request.address, request.bytes, answer);
    enum c2_status status = loader_poke(mmu, LOADER_STACK_STRINGS + stack->moved, stack->strings, stack->string_bytes,
                                        "the stack", err);
    if (status == C2_OK)
        status = loader_poke(mmu, LOADER_STACK_RSP + stack->moved, stack->vectors,
                             stack->vector_count * sizeof *stack->vectors, "the stack", err);
    return status;
}
