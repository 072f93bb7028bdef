/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Unicorn calls its functions for guest loads and stores through its symbol table, so functions of the same name in
 *   the executable take their place. Those here do the common access themselves - a page that Unicorn itself has let
 *   through before, inside one page, a store not to a page of code - in a few instructions: append the address to
 *   the record, access guest memory (guest address = host address). Everything else goes to Unicorn's own function:
 *   the first access to a page, page crossings, faults, self-modifying code. What they do can not be told apart, so
 *   with a Unicorn that does not call them all is the same, only slower.
 *   A translation looks at Unicorn's table of pages itself first, and comes here where that does not let it through:
 *   always, where there are hooks. Once a store to a page has been admitted it lets stores to it through as well.
 *   A page stays admitted until unicorn_access_forget(), which goes with dropping Unicorn's own translations.
 *   Self-modifying code: Unicorn drops the translations that a store changes. If that of the store itself is among
 *   them, it abandons the instruction before anything is stored, and does it again in a block of its own; the rest of
 *   the block is then translated anew. It may store the bytes of an unaligned store one by one, some of them before it
 *   notices; a modification that starts again would then start from its own result. So a byte that lies in the block
 *   is stored first.
 * Cost
 *   A load about 2 ns instead of 10, a store 3 instead of 60: Unicorn looks every access up in its memory map and takes
 *   a lock of the pages concerned, with a tree and some allocations, at each store. (The lock protects translations
 *   from other host threads; an engine never has more than one. Unicorn 2.1 dropped it too.)
 * Invariants
 *   A page whose code was ever decoded has no entry for stores, nor does Unicorn's own table let any through. A page
 *   with an entry has the rights in mmu's tables.
 */
#include <string.h>

#include "unicorn/unicorn_priv.h"

#define EXPORT __attribute__((visibility("default")))

/* The engine that runs now: Unicorn's functions do not say for which engine they are called. `running` is null while
 * Unicorn does an access by itself. */
static struct unicorn_access *executing, *running;
static bool storing_part; /* Unicorn stores a byte of an unaligned store */

void unicorn_access_run(struct unicorn_access *access)
{
    executing = running = access;
    storing_part = false;
}

enum c2_status unicorn_access_init(struct unicorn_access *access, const struct mmu *mmu,
                                   struct unicorn_run_state *run_state, struct c2_error *err)
{
    access->mmu = mmu;
    access->run_state = run_state;
    unicorn_access_forget(access);
    return c2_map_create(&access->code_pages, err);
}

void unicorn_access_cpu(struct CPUState *cpu)
{
    if (executing)
        executing->cpu = cpu;
}

void unicorn_access_release(struct unicorn_access *access)
{
    c2_map_destroy(access->code_pages);
    access->code_pages = NULL;
}

void unicorn_access_forget(struct unicorn_access *access)
{
    memset(access->loads, 0xff, sizeof access->loads);
    memset(access->stores, 0xff, sizeof access->stores);
}

/* ------------------------------------------------------------------ Unicorn's own translations of addresses
 * Of each page that may be written Unicorn remembers that stores to it must be looked at, as it might hold code, and
 * never forgets. Where none was ever decoded it is told that there is nothing to look at. */

static void unwatch_stores(struct CPUState *cpu, uint64_t address)
{
    static void *unicorns;
    ((void (*)(struct CPUState *, uint64_t))unicorn_original(&unicorns, "tlb_set_dirty_x86_64"))(cpu, address);
}

static void watch_stores(struct CPUState *cpu, uint64_t page)
{
    static void *unicorns;
    ((void (*)(struct CPUState *, uint64_t))unicorn_original(&unicorns, "tlb_flush_page_x86_64"))(
        cpu, page << C2_PAGE_SHIFT);
}

enum c2_status unicorn_access_code(struct unicorn_access *access, uint64_t start, uint64_t bytes, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint64_t page = start >> C2_PAGE_SHIFT; page <= (start + bytes - 1) >> C2_PAGE_SHIFT; page++) {
        access->stores[page % UNICORN_ACCESS_PAGES] = UINT64_MAX;
        if (access->cpu)
            watch_stores(access->cpu, page);
        if (status == C2_OK)
            status = c2_map_put(access->code_pages, page, 1, err);
    }
    return status;
}

/* ------------------------------------------------------------------ Unicorn's own functions */

typedef uint64_t load_function(void *env, uint64_t address, uint32_t how, uintptr_t from);

/* ------------------------------------------------------------------ the common case */

static inline bool inside_page(uint64_t address, unsigned bytes)
{
    return (address & (C2_PAGE_BYTES - 1)) <= C2_PAGE_BYTES - bytes;
}

static inline bool admitted(const uint64_t pages[UNICORN_ACCESS_PAGES], uint64_t address, unsigned bytes)
{
    uint64_t page = address >> C2_PAGE_SHIFT;
    return SHORTCUT(pages[page % UNICORN_ACCESS_PAGES] == page) && inside_page(address, bytes);
}

/* `how` holds the log2 of the size of the access that guest code makes; a function that is called for a part of it (the
 * bytes of an unaligned store, made by Unicorn for an instruction that it does in C) leaves the record alone. */
static inline bool access_whole(uint32_t how, unsigned bytes) { return 1u << (how >> 4 & 3) == bytes; }

static inline void access_note(struct unicorn_access *access, uint64_t address)
{
    if (access->record)
        *access->next++ = address;
}

/* Two pages may have one place in Unicorn's table, where a translation looks itself. The one that is not there comes
 * here each time; now and then it takes the place of the other, so that it is that of the page in use, mostly. */
static inline bool access_stays(struct unicorn_access *access) { return access->record || ++access->passed % 64 != 0; }

/* While Unicorn does an access, those it is made of (the bytes of an unaligned store) are its own as well. When it
 * leaves by a jump, on a fault, all accesses stay its own until the next run. */
static struct unicorn_access *step_aside(void)
{
    struct unicorn_access *access = running;
    running = NULL;
    return access;
}

/* Unicorn let the access through: the next ones to this page need not ask. */
static void admit_load(struct unicorn_access *access, uint64_t address, unsigned bytes)
{
    uint64_t page = address >> C2_PAGE_SHIFT;
    running = access;
    if (access && inside_page(address, bytes))
        access->loads[page % UNICORN_ACCESS_PAGES] = page;
}

static bool holds_code(const struct unicorn_access *access, uint64_t address)
{
    uint64_t ignored;
    return c2_map_get(access->code_pages, address >> C2_PAGE_SHIFT, &ignored);
}

static void admit_store(struct unicorn_access *access, uint64_t address, unsigned bytes)
{
    uint64_t page = address >> C2_PAGE_SHIFT;
    running = access;
    if (!access || !inside_page(address, bytes) || holds_code(access, address))
        return;
    access->stores[page % UNICORN_ACCESS_PAGES] = page;
    if (SHORTCUT(access->cpu))
        unwatch_stores(access->cpu, address);
}

/* ------------------------------------------------------------------ stores into the block that executes them */

typedef void store_byte_function(void *env, uint64_t address, uint8_t value, uint32_t how, uintptr_t from);

/* The first byte of the store that lies in the block, as far as the translation has it; 0: none does. */
static uint64_t first_in_block(const struct unicorn_access *access, uint64_t address, unsigned bytes)
{
    const struct unicorn_run_state *run_state = access->run_state;
    const struct unicorn_block *block = run_state->current;
    if (!block || address >= block->pc + block->extent)
        return 0;
    const uint64_t start = run_state->part ? run_state->part : block->pc;
    return start >= address + bytes ? 0 : address > start ? address : start;
}

static bool may_store(const struct unicorn_access *access, uint64_t address, unsigned bytes)
{
    return mmu_ready(access->mmu, (struct guest_va){address}, MMU_ACCESS_WRITE) &&
           mmu_ready(access->mmu, (struct guest_va){address + bytes - 1}, MMU_ACCESS_WRITE);
}

/* Stores the first byte that lies in the block, by Unicorn, which leaves by a jump then; in a block of this one
 * instruction it does not. The store is reported as a whole afterwards, so this one leaves the record alone. */
static void store_into_block(struct unicorn_access *access, void *env, uint64_t address, unsigned bytes, uint64_t value,
                             uint32_t how, uintptr_t from)
{
    static void *unicorns;
    enum { SIZE_BITS = 3 << 4 };
    const uint64_t first = first_in_block(access, address, bytes);
    if (!first || !may_store(access, address, bytes))
        return;
    uint64_t *next = access->next;
    uint8_t byte = (uint8_t)(value >> 8 * (first - address));
    ((store_byte_function *)unicorn_original(&unicorns, "helper_ret_stb_mmu_x86_64"))(env, first, byte,
                                                                                      how & ~SIZE_BITS, from);
    access->next = next;
}

/* ------------------------------------------------------------------ stores across a page
 * Unicorn stores 16 bytes, and 80 bits, as two parts. Where the second one cannot be, the page fault comes before the
 * first. */

static void learn_env(struct unicorn_access *access, void *env, uint32_t how)
{
    enum { INDEX = 15 };
    if (!access)
        return;
    access->env = env;
    access->index = how & INDEX;
}

EXPORT void helper_boundl_x86_64(void *env, uint64_t address, int32_t bytes)
{
    static void *unicorns;
    struct unicorn_access *access = executing;
    const uint64_t next = c2_align_down(address, C2_PAGE_BYTES) + C2_PAGE_BYTES;
    (void)env;
    if (inside_page(address, (unsigned)bytes) || !access || !access->env ||
        !mmu_ready(access->mmu, (struct guest_va){address}, MMU_ACCESS_WRITE) ||
        mmu_ready(access->mmu, (struct guest_va){next}, MMU_ACCESS_WRITE))
        return;
    step_aside();
    ((store_byte_function *)unicorn_original(&unicorns, "helper_ret_stb_mmu_x86_64"))(
        access->env, next, 0, access->index, (uintptr_t)__builtin_return_address(0));
    running = access;
}

#define LOAD(name, type) \
    EXPORT uint64_t name(void *env, uint64_t address, uint32_t how, uintptr_t from); \
    EXPORT uint64_t name(void *env, uint64_t address, uint32_t how, uintptr_t from) \
    { \
        static void *unicorns; \
        if (C2_LIKELY(running && admitted(running->loads, address, sizeof(type)) && access_stays(running))) { \
            type value; \
            C2_PROMISE(mmu_ready(running->mmu, (struct guest_va){address}, MMU_ACCESS_READ)); \
            access_note(running, address); \
            memcpy(&value, (const void *)(uintptr_t)address, sizeof value); \
            return value; \
        } \
        struct unicorn_access *access = step_aside(); \
        learn_env(access, env, how); \
        uint64_t value = ((load_function *)unicorn_original(&unicorns, #name))(env, address, how, from); \
        admit_load(access, address, sizeof(type)); \
        return value; \
    }

#define STORE(name, type) \
    EXPORT void name(void *env, uint64_t address, type value, uint32_t how, uintptr_t from); \
    EXPORT void name(void *env, uint64_t address, type value, uint32_t how, uintptr_t from) \
    { \
        static void *unicorns; \
        if (C2_LIKELY(running && access_whole(how, sizeof(type)) && \
                      admitted(running->stores, address, sizeof(type)) && access_stays(running))) { \
            C2_PROMISE(mmu_ready(running->mmu, (struct guest_va){address}, MMU_ACCESS_WRITE)); \
            C2_PROMISE(!holds_code(running, address)); \
            access_note(running, address); \
            memcpy((void *)(uintptr_t)address, &value, sizeof value); \
            return; \
        } \
        struct unicorn_access *access = step_aside(); \
        learn_env(access, env, how); \
        typedef void store_function(void *, uint64_t, type, uint32_t, uintptr_t); \
        bool part = !access_whole(how, sizeof(type)); \
        if (access && !part) \
            store_into_block(access, env, address, sizeof(type), value, how, from); \
        storing_part = part; \
        ((store_function *)unicorn_original(&unicorns, #name))(env, address, value, how, from); \
        storing_part = false; \
        admit_store(access, address, sizeof(type)); \
    }

LOAD(helper_ret_ldub_mmu_x86_64, uint8_t)
LOAD(helper_le_lduw_mmu_x86_64, uint16_t)
LOAD(helper_le_ldul_mmu_x86_64, uint32_t)
LOAD(helper_le_ldq_mmu_x86_64, uint64_t)
STORE(helper_ret_stb_mmu_x86_64, uint8_t)
STORE(helper_le_stw_mmu_x86_64, uint16_t)
STORE(helper_le_stl_mmu_x86_64, uint32_t)
STORE(helper_le_stq_mmu_x86_64, uint64_t)

/* ------------------------------------------------------------------ the end of a block that a store has changed */

EXPORT _Noreturn void cpu_loop_exit_noexc_x86_64(struct CPUState *cpu);

/* Unicorn abandons the block that it executes, as a store has changed it. */
EXPORT _Noreturn void cpu_loop_exit_noexc_x86_64(struct CPUState *cpu)
{
    static void *unicorns;
    if (executing) {
        executing->abandoned = true;
        executing->run_state->pause_at = 0;
        executing->unreported = storing_part;
        running = executing;
    }
    ((void (*)(struct CPUState *))unicorn_original(&unicorns, "cpu_loop_exit_noexc_x86_64"))(cpu);
    __builtin_unreachable();
}

/* ------------------------------------------------------------------ the lock, for the stores that Unicorn does */

struct page_collection;
EXPORT struct page_collection *page_collection_lock_x86_64(struct uc_struct *uc, unsigned long start,
                                                           unsigned long end);
EXPORT void page_collection_unlock_x86_64(struct page_collection *set);

EXPORT struct page_collection *page_collection_lock_x86_64(struct uc_struct *uc, unsigned long start, unsigned long end)
{
    (void)uc, (void)start, (void)end;
    return NULL;
}

EXPORT void page_collection_unlock_x86_64(struct page_collection *set) { (void)set; }
