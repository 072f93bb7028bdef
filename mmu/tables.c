/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   x86-64 page tables of 4 levels, 512 entries of 8 bytes each:
 *      47      39 38      30 29      21 20      12 11          0
 *     | level 3  | level 2  | level 1  | level 0  | byte in page |
 *   An engine walks them for its checks, so entries of the upper levels hold addresses that the engine can reach, those
 *   of the arena. The guest's leaves say presence and rights, and no frame: an engine has no use for it. A replica's
 *   hold simulated frames, which the caches see, and each of its tables has one as well, kept beside the arena.
 *
 *   Leaf     63      52       39..12   11   10    9     7    6 5   2  1  0
 *            |   NOEXEC       | frame | ZERO GIANT KEPT LARGE| D A | US RW P |
 *   LARGE, the page-size bit, stands in leaves of level 1 (2 MiB) and of level 2 (1 GiB); GIANT, which hardware
 *   ignores, tells the two apart without their level. ZERO: the page was only read so far; its frame is the zero
 *   page's, which no leaf owns (place.c).
 *   No-execute stands in bit 52, which hardware ignores: bit 63 is a reserved bit, and a fault, while EFER.NXE is off
 *   as it is in the engines. A page without rights has P = 0 and KEPT = 1: its frame, A and D come back with the
 *   rights.
 * Counting
 *   table_pages: tables that exist, the root included. small_present, huge_2m_present, huge_1g_present: leaves with
 *   P set, by size. zero_present: those with ZERO set. huge_splits: huge leaves that became a table of the next smaller
 *   ones.
 * Invariants
 *   A table that replaces a huge leaf maps the same frames before it is linked in, so readers notice nothing.
 *   info.used = entries of the table that are not 0; no table but the root is empty between calls.
 *   A table is zero before its parent points to it (release), and readers load with acquire, so that another thread may
 *   walk while this one adds pages. Entries are only taken away between the two calls of tables_tell.
 * Source
 *   Intel SDM volume 3A, 4.5.
 */
#include <string.h>

#include "mmu/tables_priv.h"

#define ENTRIES 512
#define TOP_LEVEL 3
#define CHUNK_TABLES 4096 /* tables whose infos are allocated together */
#define COMMIT_PAGES C2_HOST_SIZE(512, 1)
#define NO_TABLE UINT32_MAX
#define ENTRY_TABLE (ENTRY_PRESENT | ENTRY_WRITE | ENTRY_USER)

/* What the host keeps about a table, apart from the entries that the engine sees. */
struct table_info {
    uint32_t frame;
    uint32_t used;
    uint32_t next_free; /* in the list of free tables */
};

struct tables {
    struct tables_arena arena;
    struct frames *frames; /* or NULL */
    struct mmu_counts *counts;
    struct table_info **infos; /* by chunk */
    uint32_t created;          /* tables 0 .. created-1 were used at some time */
    uint32_t committed;        /* pages of the arena that are usable */
    uint32_t first_free;
    unsigned told; /* depth of changes that readers have been told of */
};

static struct table_info *tables_info_of(const struct tables *tables, uint32_t table)
{
    C2_PROMISE(table < tables->arena.pages);
    return &tables->infos[table / CHUNK_TABLES][table % CHUNK_TABLES];
}

static uint64_t *tables_entries_of(const struct tables *tables, uint32_t table)
{
    return (uint64_t *)(void *)(tables->arena.memory + (uint64_t)table * C2_PAGE_BYTES);
}

static uint64_t entry_to(const struct tables *tables, uint32_t table)
{
    return (tables->arena.address + (uint64_t)table * C2_PAGE_BYTES) | ENTRY_TABLE;
}

static uint32_t table_of(const struct tables *tables, uint64_t entry)
{
    return (uint32_t)(((entry & ENTRY_ADDRESS) - tables->arena.address) >> C2_PAGE_SHIFT);
}

static unsigned level_shift(int level)
{
    C2_PROMISE(level >= 0 && level <= TOP_LEVEL);
    return C2_PAGE_SHIFT + 9 * (unsigned)level;
}

static unsigned tables_slot_of(uint64_t va, int level) { return va >> level_shift(level) & (ENTRIES - 1); }

static uint64_t tables_load(const uint64_t *entry) { return __atomic_load_n(entry, __ATOMIC_ACQUIRE); }

static bool is_leaf(uint64_t entry, int level) { return level == 0 || entry & ENTRY_LARGE; }

/* Where pages of the level's size are counted that are present. */
static uint64_t *present_count(struct tables *tables, int level)
{
    C2_PROMISE(level < MMU_PAGE_SIZES);
    uint64_t *counts[] = {&tables->counts->small_present, &tables->counts->huge_2m_present,
                          &tables->counts->huge_1g_present};
    return counts[level];
}

static uint64_t is_present_leaf(uint64_t entry, int level) { return is_leaf(entry, level) && entry & ENTRY_PRESENT; }

static uint64_t is_zero_leaf(uint64_t entry, int level) { return is_present_leaf(entry, level) && entry & ENTRY_ZERO; }

void tables_tell(struct tables *tables, bool begins)
{
    C2_ASSERT(begins || tables->told > 0);
    tables->told += begins ? 1u : -1u;
}

/* Whether a reader that has remembered the leaf would be wrong now. */
static bool takes_away(uint64_t old, uint64_t value, int level)
{
    const uint64_t same = ENTRY_ADDRESS | ENTRY_LARGE | ENTRY_GIANT;
    return is_present_leaf(old, level) && (!is_present_leaf(value, level) || (old ^ value) & same ||
                                           (old & ~value & ENTRY_WRITE) || (value & ~old & ENTRY_NOEXEC));
}

/* The one place where an entry changes. */
static void tables_store(struct tables *tables, uint32_t table, int level, unsigned slot, uint64_t value)
{
    uint64_t *entry = &tables_entries_of(tables, table)[slot];
    uint64_t old = tables_load(entry);
    C2_PROMISE(tables->told > 0 || !takes_away(old, value, level));
    tables_info_of(tables, table)->used += (value != 0) - (old != 0);
    C2_PROMISE(tables_info_of(tables, table)->used <= ENTRIES);
    if (level < MMU_PAGE_SIZES)
        *present_count(tables, level) += is_present_leaf(value, level) - is_present_leaf(old, level);
    if (level == 0)
        tables->counts->zero_present += is_zero_leaf(value, level) - is_zero_leaf(old, level);
    __atomic_store_n(entry, value, __ATOMIC_RELEASE);
}

/* ------------------------------------------------------------------ tables come and go */

static enum c2_status commit_arena(struct tables *tables, struct c2_error *err)
{
    C2_ASSERT(tables->committed < tables->arena.pages);
    uint64_t left = tables->arena.pages - tables->committed;
    uint32_t count = left < COMMIT_PAGES ? (uint32_t)left : COMMIT_PAGES;
    if (tables->arena.commit) {
        int error = tables->arena.commit(tables->arena.self, tables->committed, count);
        if (error)
            return c2_fail(err, C2_ERR_NO_MEMORY, "the host has no memory for page tables: %s", strerror(error));
    }
    tables->committed += count;
    return C2_OK;
}

/* The next table of the arena that was never used. */
static enum c2_status fresh_table(struct tables *tables, uint32_t *table, struct c2_error *err)
{
    C2_PROMISE(tables->created <= tables->committed);
    if (tables->created == tables->arena.pages)
        return c2_fail(err, C2_ERR_NO_MEMORY,
                       "the room for %llu page tables is full: the guest's mapped pages are "
                       "spread too widely",
                       (unsigned long long)tables->arena.pages);
    struct table_info **chunk = &tables->infos[tables->created / CHUNK_TABLES];
    if (!*chunk && !(*chunk = c2_calloc(CHUNK_TABLES, sizeof **chunk)))
        return c2_fail_memory(err, "page tables");
    if (tables->created == tables->committed) {
        enum c2_status status = commit_arena(tables, err);
        if (status != C2_OK)
            return status;
    }
    *table = tables->created++;
    return C2_OK;
}

static enum c2_status tables_find_table(struct tables *tables, uint32_t *table, struct c2_error *err)
{
    if (tables->first_free == NO_TABLE)
        return fresh_table(tables, table, err);
    *table = tables->first_free;
    tables->first_free = tables_info_of(tables, *table)->next_free;
    return C2_OK;
}

static void release_table(struct tables *tables, uint32_t table)
{
    C2_ASSERT(table < tables->created);
    tables_info_of(tables, table)->next_free = tables->first_free;
    tables->first_free = table;
}

static enum c2_status tables_add_table(struct tables *tables, uint32_t *out, struct c2_error *err)
{
    uint32_t table = 0;
    enum c2_status status = tables_find_table(tables, &table, err);
    if (status != C2_OK)
        return status;
    uint64_t frame = 0;
    if (tables->frames && !frames_take_top(tables->frames, &frame)) {
        release_table(tables, table);
        return c2_fail(err, C2_ERR_EXHAUSTED, "no frame is left for a page table");
    }
    memset(tables_entries_of(tables, table), 0, C2_PAGE_BYTES);
    *tables_info_of(tables, table) = (struct table_info){.frame = (uint32_t)frame};
    tables->counts->table_pages++;
    *out = table;
    return C2_OK;
}

/* Ends the empty table that slot of parent points to. */
static void drop_table(struct tables *tables, uint32_t parent, int parent_level, unsigned slot)
{
    C2_PROMISE(tables_entries_of(tables, parent)[slot] != 0);
    uint32_t table = table_of(tables, tables_entries_of(tables, parent)[slot]);
    tables_store(tables, parent, parent_level, slot, 0);
    if (tables->frames)
        frames_give(tables->frames, tables_info_of(tables, table)->frame);
    release_table(tables, table);
    tables->counts->table_pages--;
}

enum c2_status tables_create(struct tables **out, const struct tables_arena *arena, struct frames *frames,
                             struct mmu_counts *counts, struct c2_error *err)
{
    C2_ASSERT(arena->pages != 0);
    *out = NULL;
    struct tables *tables = c2_calloc(1, sizeof *tables);
    if (!tables)
        return c2_fail_memory(err, "page tables");
    *tables = (struct tables){.arena = *arena, .frames = frames, .counts = counts, .first_free = NO_TABLE};
    tables->infos = c2_calloc((arena->pages + CHUNK_TABLES - 1) / CHUNK_TABLES, sizeof *tables->infos);
    uint32_t root;
    enum c2_status status = tables->infos ? tables_add_table(tables, &root, err) : c2_fail_memory(err, "page tables");
    if (status != C2_OK) {
        tables_destroy(tables);
        return status;
    }
    C2_ASSERT(root == 0);
    *out = tables;
    return C2_OK;
}

void tables_destroy(struct tables *tables)
{
    if (!tables)
        return;
    uint64_t chunks = (tables->arena.pages + CHUNK_TABLES - 1) / CHUNK_TABLES;
    for (uint64_t i = 0; tables->infos && i < chunks && tables->infos[i]; i++)
        c2_free(tables->infos[i]);
    c2_free(tables->infos);
    c2_free(tables);
}

uint64_t tables_root(const struct tables *tables) { return tables->arena.address; }

unsigned char *tables_memory(const struct tables *tables) { return tables->arena.memory; }

uint64_t tables_committed(const struct tables *tables) { return tables->committed * C2_PAGE_BYTES; }

void tables_moved(struct tables *tables, unsigned char *memory)
{
    C2_ASSERT(memory);
    tables->arena.memory = memory;
}

/* ------------------------------------------------------------------ one page */

/* The entry of a huge page for the 4 KiB of va in it. */
static uint64_t tables_piece_of(uint64_t entry, uint64_t va)
{
    C2_PROMISE(entry != 0);
    return entry + (va & (mmu_page_bytes(entry_size(entry)) - 1) & ~(C2_PAGE_BYTES - 1));
}

/* On addresses instead of table numbers: this is the walk that every consumer of references waits for. */
uint64_t tables_get(const struct tables *tables, uint64_t va)
{
    uintptr_t table = (uintptr_t)tables->arena.memory, origin = table - tables->arena.address;
    for (int level = TOP_LEVEL; level > 0; level--) {
        uint64_t entry = tables_load((const uint64_t *)table + tables_slot_of(va, level));
        if ((entry & (ENTRY_PRESENT | ENTRY_LARGE)) != ENTRY_PRESENT)
            return entry ? tables_piece_of(entry, va) : 0;
        table = origin + (entry & ENTRY_ADDRESS);
    }
    return tables_load((const uint64_t *)table + tables_slot_of(va, 0));
}

/* By table numbers: those say which frame a table has. */
unsigned tables_walk(const struct tables *tables, uint64_t va, uint64_t address[TABLES_LEVELS])
{
    uint32_t table = 0;
    unsigned count = 0;
    for (int level = TOP_LEVEL; level >= 0; level--) {
        unsigned slot = tables_slot_of(va, level);
        uint64_t entry = tables_load(&tables_entries_of(tables, table)[slot]);
        address[count++] = (uint64_t)tables_info_of(tables, table)->frame << C2_PAGE_SHIFT | slot * sizeof entry;
        if (level == 0 || entry & ENTRY_LARGE)
            return entry & ENTRY_PRESENT ? count : 0;
        if (!(entry & ENTRY_PRESENT))
            return 0;
        table = table_of(tables, entry);
    }
    return 0;
}

/* The table whose entry for va is of `bottom`; the tables on the way exist. */
static uint32_t leaf_table(const struct tables *tables, uint64_t va, int bottom)
{
    C2_PROMISE(bottom >= 0 && bottom < TOP_LEVEL);
    uint32_t table = 0;
    for (int level = TOP_LEVEL; level > bottom; level--) {
        uint64_t entry = tables_entries_of(tables, table)[tables_slot_of(va, level)];
        C2_ASSERT(entry != 0 && !is_leaf(entry, level));
        table = table_of(tables, entry);
    }
    return table;
}

static bool tables_is_zero(const uint64_t *entries)
{
    uint64_t any = 0;
    for (unsigned i = 0; i < ENTRIES; i++)
        any |= entries[i];
    return any == 0;
}

enum c2_status tables_prepare(struct tables *tables, uint64_t va, enum mmu_page_size size, struct c2_error *err)
{
    C2_ASSERT(va < MMU_ADDRESSES_END);
    uint32_t table = 0;
    for (int level = TOP_LEVEL; level > (int)size; level--) {
        uint64_t entry = tables_entries_of(tables, table)[tables_slot_of(va, level)];
        C2_ASSERT(!is_leaf(entry, level));
        if (!entry) {
            uint32_t child;
            enum c2_status status = tables_add_table(tables, &child, err);
            if (status != C2_OK) {
                tables_prune(tables, va);
                return status;
            }
            C2_PROMISE(tables_info_of(tables, child)->used == 0 && tables_is_zero(tables_entries_of(tables, child)));
            entry = entry_to(tables, child);
            tables_store(tables, table, level, tables_slot_of(va, level), entry);
        }
        table = table_of(tables, entry);
    }
    return C2_OK;
}

static void prune_below(struct tables *tables, uint32_t table, int level, uint64_t va)
{
    unsigned slot = tables_slot_of(va, level);
    uint64_t entry = level > 0 ? tables_entries_of(tables, table)[slot] : 0;
    if (!entry || is_leaf(entry, level))
        return;
    prune_below(tables, table_of(tables, entry), level - 1, va);
    if (tables_info_of(tables, table_of(tables, entry))->used == 0)
        drop_table(tables, table, level, slot);
}

void tables_prune(struct tables *tables, uint64_t va) { prune_below(tables, 0, TOP_LEVEL, va); }

void tables_set(struct tables *tables, uint64_t va, uint64_t entry)
{
    int level = (int)entry_size(entry);
    tables_store(tables, leaf_table(tables, va, level), level, tables_slot_of(va, level), entry);
}

/* ------------------------------------------------------------------ huge pages */

bool tables_empty(const struct tables *tables, uint64_t va, enum mmu_page_size size)
{
    uint32_t table = 0;
    for (int level = TOP_LEVEL; level >= (int)size; level--) {
        uint64_t entry = tables_entries_of(tables, table)[tables_slot_of(va, level)];
        if (!entry)
            return true;
        if (is_leaf(entry, level))
            return false;
        table = table_of(tables, entry);
    }
    return false; /* tables that exist hold pages */
}

/* Whether each entry of a table is what the huge leaf, of the level above, states of its address. */
static bool maps_the_same(const struct tables *tables, uint32_t table, int level, uint64_t leaf)
{
    for (unsigned i = 0; i < ENTRIES; i++) {
        const uint64_t va = (uint64_t)i << level_shift(level - 1), entry = tables_entries_of(tables, table)[i];
        const uint64_t sizes = ENTRY_LARGE | ENTRY_GIANT;
        C2_ASSERT(is_leaf(entry, level - 1) && (int)entry_size(entry) == level - 1);
        C2_ASSERT((entry & ~sizes) == (tables_piece_of(leaf, va) & ~sizes));
    }
    return true;
}

/* Puts a table of the next smaller pages where the huge leaf in slot stands. */
static enum c2_status split_leaf(struct tables *tables, uint32_t table, int level, unsigned slot, struct c2_error *err)
{
    uint64_t entry = tables_entries_of(tables, table)[slot];
    uint64_t piece = entry & ~(level == 1 ? ENTRY_LARGE : ENTRY_GIANT);
    uint32_t child;
    enum c2_status status = tables_add_table(tables, &child, err);
    if (status != C2_OK)
        return status;
    for (unsigned i = 0; i < ENTRIES; i++)
        tables_store(tables, child, level - 1, i, piece + ((uint64_t)i << level_shift(level - 1)));
    C2_PROMISE(maps_the_same(tables, child, level, entry));
    tables_store(tables, table, level, slot, entry_to(tables, child));
    tables->counts->huge_splits++;
    return C2_OK;
}

enum c2_status tables_split(struct tables *tables, uint64_t va, struct c2_error *err)
{
    uint32_t table = 0;
    for (int level = TOP_LEVEL; level > 0 && va & (((uint64_t)1 << level_shift(level)) - 1); level--) {
        unsigned slot = tables_slot_of(va, level);
        uint64_t entry = tables_entries_of(tables, table)[slot];
        if (!entry)
            return C2_OK;
        if (is_leaf(entry, level)) {
            enum c2_status status = split_leaf(tables, table, level, slot, err);
            if (status != C2_OK)
                return status;
        }
        table = table_of(tables, tables_entries_of(tables, table)[slot]);
    }
    return C2_OK;
}

/* ------------------------------------------------------------------ many pages */

struct walk {
    struct tables *tables;
    uint64_t start, last; /* both inclusive */
    tables_visitor *visit;
    void *self;
};

static void walk_table(const struct walk *walk, uint32_t table, int level, uint64_t base);

static void walk_entry(const struct walk *walk, uint32_t table, int level, unsigned slot, uint64_t va)
{
    struct tables *tables = walk->tables;
    uint64_t entry = tables_entries_of(tables, table)[slot];
    if (!entry)
        return;
    if (is_leaf(entry, level)) {
        uint64_t value = walk->visit(walk->self, va, entry), last = va + ((uint64_t)1 << level_shift(level)) - 1;
        C2_ASSERT(value == entry || (va >= walk->start && last <= walk->last));
        if (value != entry)
            tables_store(tables, table, level, slot, value);
        return;
    }
    uint32_t child = table_of(tables, entry);
    walk_table(walk, child, level - 1, va);
    if (tables_info_of(tables, child)->used == 0)
        drop_table(tables, table, level, slot);
}

/* base: the first address under the table. */
static void walk_table(const struct walk *walk, uint32_t table, int level, uint64_t base)
{
    uint64_t end_of_table = base + ((uint64_t)ENTRIES << level_shift(level)) - 1;
    unsigned first = walk->start > base ? tables_slot_of(walk->start, level) : 0;
    unsigned last = walk->last < end_of_table ? tables_slot_of(walk->last, level) : ENTRIES - 1;
    for (unsigned slot = first; slot <= last; slot++)
        walk_entry(walk, table, level, slot, base + ((uint64_t)slot << level_shift(level)));
}

void tables_visit(struct tables *tables, uint64_t start, uint64_t end, tables_visitor *visit, void *self)
{
    if (start >= end)
        return;
    struct walk walk = {.tables = tables, .start = start, .last = end - 1, .visit = visit, .self = self};
    walk_table(&walk, 0, TOP_LEVEL, 0);
}

/* ------------------------------------------------------------------ check */

static uint64_t tables_check_table(const struct tables *tables, uint32_t table, int level)
{
    uint64_t below = 1;
    uint32_t used = 0;
    C2_ASSERT(table < tables->created);
    C2_ASSERT(!tables->frames || frames_is_taken(tables->frames, tables_info_of(tables, table)->frame));
    for (unsigned slot = 0; slot < ENTRIES; slot++) {
        uint64_t entry = tables_entries_of(tables, table)[slot];
        used += entry != 0;
        if (!entry)
            continue;
        if (is_leaf(entry, level)) {
            C2_ASSERT((int)entry_size(entry) == level);
            C2_ASSERT((entry & ENTRY_ADDRESS) % mmu_page_bytes((enum mmu_page_size)level) == 0);
            continue;
        }
        C2_ASSERT((entry & ENTRY_TABLE) == ENTRY_TABLE);
        below += tables_check_table(tables, table_of(tables, entry), level - 1);
    }
    C2_ASSERT(used == tables_info_of(tables, table)->used);
    C2_ASSERT(used != 0 || level == TOP_LEVEL);
    return below;
}

uint64_t tables_check(const struct tables *tables)
{
    uint64_t count = tables_check_table(tables, 0, TOP_LEVEL);
    C2_ASSERT(count == tables->counts->table_pages);
    return count;
}
