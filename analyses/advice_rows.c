/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * advice_rows: how long the rows of an array seem to be.
 *
 * Model
 *   The accesses of one instruction to one object are cut into runs: a run ends where the next access is more than a
 *   line away. From the start of one run to that of the next is a stride, if it is more than a line: down a column
 *   every access is a run, and the stride is the row; across a tile or a part of a row a run is one row of it. The
 *   stride seen most often is the length of the rows, if it is one in SHARE of all; of equals the shorter. Where no
 *   instruction goes on so, it is the distance from one to the next of the same execution of a block: a loop over rows
 *   that was unrolled, or fields of a struct that are arrays.
 *   Of each object STRIDES strides are counted at a time, as Misra and Gries (1982) do: one that no counter is left for
 *   takes one from each. A stride that more than one in STRIDES + 1 of all are, is among them.
 *
 * Not modelled
 *   String instructions; arrays that are read along their rows only, without a step from row to row: they look as if
 *   they had no rows.
 */
#include "analyses/advice.h"

#define STRIDES 16u
#define SHARE 8u

struct trail { /* what one slot of a block accessed last */
    uint64_t last, start;
    uint32_t thing;
};

struct stride {
    uint64_t bytes, count;
};

struct rows {
    uint32_t line_bytes, things;
    struct stride (*strides)[STRIDES];          /* [thing]; behind those of all things, those between instructions */
    uint64_t *seen;                             /* [thing]: strides of all lengths; likewise */
    uint32_t last_block, last_slot, last_thing; /* of the access before */
    uint64_t last_va;
    uint32_t *first; /* [block]: its first trail, + 1; 0: it has none yet */
    struct trail *trails;
    uint32_t first_room, trail_count, trail_room;
};

enum c2_status rows_create(struct rows **out, uint32_t line_bytes, uint32_t things, struct c2_error *err)
{
    *out = c2_calloc(1, sizeof **out);
    if (!*out)
        return c2_fail_memory(err, "the table of strides");
    (*out)->line_bytes = line_bytes;
    (*out)->things = things;
    (*out)->last_thing = FINDER_NOTHING;
    (*out)->strides = c2_calloc(2u * things + 1u, sizeof *(*out)->strides);
    (*out)->seen = c2_calloc(2u * things + 1u, sizeof *(*out)->seen);
    if ((*out)->strides && (*out)->seen)
        return C2_OK;
    rows_destroy(*out);
    *out = NULL;
    return c2_fail_memory(err, "the table of strides");
}

void rows_destroy(struct rows *rows)
{
    if (!rows)
        return;
    c2_free(rows->strides);
    c2_free(rows->seen);
    c2_free(rows->first);
    c2_free(rows->trails);
    c2_free(rows);
}

static enum c2_status advice_rows_reach(struct rows *rows, uint32_t block, uint32_t slots, struct c2_error *err)
{
    if (block >= rows->first_room) {
        const uint32_t room = block * 2 + C2_HOST_SIZE(4096u, 1u);
        uint32_t *first = c2_realloc(rows->first, room * sizeof *first);
        if (!first)
            return c2_fail_memory(err, "the table of strides");
        for (uint32_t i = rows->first_room; i < room; i++)
            first[i] = 0;
        rows->first = first;
        rows->first_room = room;
    }
    if (rows->trail_count + slots > rows->trail_room) {
        const uint32_t room = (rows->trail_count + slots) * 2;
        struct trail *trails = c2_realloc(rows->trails, room * sizeof *trails);
        if (!trails)
            return c2_fail_memory(err, "the table of strides");
        rows->trails = trails;
        rows->trail_room = room;
    }
    rows->first[block] = rows->trail_count + 1;
    for (uint32_t i = 0; i < slots; i++)
        rows->trails[rows->trail_count++] = (struct trail){.thing = FINDER_NOTHING};
    return C2_OK;
}

static void advice_rows_count(struct stride *strides, uint64_t bytes)
{
    struct stride *unused = NULL;
    for (unsigned i = 0; i < STRIDES; i++) {
        if (strides[i].count != 0 && strides[i].bytes == bytes) {
            strides[i].count++;
            return;
        }
        if (strides[i].count == 0 && !unused)
            unused = &strides[i];
    }
    if (unused)
        *unused = (struct stride){bytes, 1};
    for (unsigned i = 0; i < STRIDES && !unused; i++)
        strides[i].count--;
}

static uint64_t advice_rows_distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

static void count_stride(struct rows *rows, uint32_t table, uint64_t bytes)
{
    if (bytes <= rows->line_bytes)
        return;
    rows->seen[table]++;
    advice_rows_count(rows->strides[table], bytes);
}

/* From the access before, if the same execution of the block made it. */
static void see_beside(struct rows *rows, uint32_t block, uint32_t slot, uint32_t thing, uint64_t va)
{
    if (thing != FINDER_NOTHING && thing == rows->last_thing && block == rows->last_block &&
        slot == rows->last_slot + 1)
        count_stride(rows, rows->things + thing, advice_rows_distance(va, rows->last_va));
    rows->last_block = block;
    rows->last_slot = slot;
    rows->last_thing = thing;
    rows->last_va = va;
}

enum c2_status rows_see(struct rows *rows, uint32_t block, uint32_t slot, uint32_t slot_count, uint32_t thing,
                        uint64_t va, struct c2_error *err)
{
    see_beside(rows, block, slot, thing, va);
    if (block >= rows->first_room || rows->first[block] == 0) {
        enum c2_status status = thing == FINDER_NOTHING ? C2_OK : advice_rows_reach(rows, block, slot_count, err);
        if (status != C2_OK || thing == FINDER_NOTHING)
            return status;
    }
    struct trail *trail = &rows->trails[rows->first[block] - 1 + slot];
    if (trail->thing != thing) {
        *trail = (struct trail){va, va, thing};
        return C2_OK;
    }
    const bool runs_on = thing == FINDER_NOTHING || advice_rows_distance(va, trail->last) <= rows->line_bytes;
    const uint64_t stride = advice_rows_distance(va, trail->start);
    trail->last = va;
    if (runs_on)
        return C2_OK;
    trail->start = va;
    count_stride(rows, thing, stride);
    return C2_OK;
}

/* 0: none is frequent. */
static uint64_t most_frequent(const struct rows *rows, uint32_t table)
{
    const struct stride *best = NULL;
    for (unsigned i = 0; i < STRIDES; i++) {
        const struct stride *stride = &rows->strides[table][i];
        if (stride->count == 0)
            continue;
        if (!best || stride->count > best->count || (stride->count == best->count && stride->bytes < best->bytes))
            best = stride;
    }
    return !best || best->count * SHARE < rows->seen[table] ? 0 : best->bytes;
}

uint64_t rows_of(const struct rows *rows, uint32_t thing)
{
    const uint64_t bytes = most_frequent(rows, thing);
    return bytes != 0 ? bytes : most_frequent(rows, rows->things + thing);
}
