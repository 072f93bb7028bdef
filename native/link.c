/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   A translation jumps to the one that follows it by itself once both are known and the second one asks for nothing:
 *   a jump to a known address is aimed anew. One to an address in a register goes where a table of the context leads,
 *   by the lower bits of the address: to a door, a few instructions that compare it with the one that they are for, and
 *   go on to its translation or else to the next door of the same entry. The last one leaves for C, which makes a door
 *   more: an address has one as soon as it was jumped to. (A table with one address an entry had a program the size of
 *   a compiler leave 400,000 times in two seconds, for addresses that were in each other's place.)
 *   Translations lie as they are executed the first time: behind the jump that led there, which is then no jump any
 *   more (a conditional one changes places with the one behind it), or behind their door. A sixth less time in sqlite3.
 *   A loop of one block goes back by no link: where each round is to begin in C it is made anew.
 *   Tried: returns by the host's own RET, paired with calls by a stack of where they arrive. gcc took an eighth less,
 *   whose jumps the host's processor does not foresee otherwise, sqlite3 and mawk a tenth more. Tables of more entries,
 *   or by other bits of the address, gained nothing.
 * Invariants
 *   Jumps and doors lead to translations of blocks that are neither rare nor stale, of the same kind, or leave. An
 *   address has one door at most in each table.
 */
#include <string.h>

#include "native/emit.h"
#include "native/native_priv.h"

static uint8_t *link_written(struct native_codes *codes, const uint8_t *executed)
{
    C2_PROMISE(executed >= codes->cache.executed && executed < codes->cache.executed + NATIVE_CACHE_BYTES);
    return codes->cache.written + (executed - codes->cache.executed);
}

/* A jump of five bytes, and what stands in its place where it would lead to what comes behind it. */
enum { JUMP = 0xe9 };
static const uint8_t no_jump[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

void native_link(struct native_codes *codes, uint32_t number, struct native_code *to)
{
    C2_PROMISE(number < codes->site_count);
    struct native_site *site = &codes->sites[number];
    C2_PROMISE(site->why == NATIVE_GOES && !site->linked && site->target == to->block->pc);
    C2_PROMISE(site->code->kind == to->kind && !native_is_loose(to->kind) && !to->block->rare);
    C2_PROMISE(link_written(codes, to->entry) != site->jump + 4 || site->jump[-1] == JUMP);
    if (SHORTCUT(link_written(codes, to->entry) == site->jump + 4))
        memcpy(site->jump - 1, no_jump, sizeof no_jump);
    else
        emit_aim(site->jump, link_written(codes, to->entry) - (site->jump + 4));
    site->linked = true;
    site->next = to->linked;
    to->linked = number + 1;
}

/* ------------------------------------------------------------------ doors */

enum { DOOR_BYTES = 64 }; /* at most */

static unsigned link_entry_of(uint64_t pc) { return pc & (CONTEXT_TABLE_ENTRIES - 1); }

static uint64_t address_of(struct native_codes *codes, const uint8_t *written)
{
    return (uint64_t)(uintptr_t)native_executed(&codes->cache, written);
}

enum c2_status native_open_table(struct native_codes *codes, enum native_kind kind, struct c2_error *err)
{
    C2_ASSERT(!native_is_loose(kind) && codes->context);
    if (codes->first_door[kind])
        return C2_OK;
    codes->first_door[kind] = c2_calloc(CONTEXT_TABLE_ENTRIES, sizeof *codes->first_door[kind]);
    if (!codes->first_door[kind])
        return c2_fail_memory(err, "the table of indirect jumps");
    for (unsigned i = 0; i < CONTEXT_TABLE_ENTRIES; i++)
        codes->context->table[kind][i] = address_of(codes, codes->lost[kind]);
    return C2_OK;
}

void native_close_tables(struct native_codes *codes)
{
    codes->door_count = 0;
    for (unsigned kind = 0; kind < NATIVE_LINKED_KINDS; kind++) {
        c2_free(codes->first_door[kind]);
        codes->first_door[kind] = NULL;
    }
}

/* RCX = what R11 goes beyond the address by. */
static void emit_distance(struct emit *e, uint64_t pc)
{
    if (pc <= INT32_MAX) {
        emit_lea(e, NATIVE_RCX, emit_at(NATIVE_R11, -(int32_t)pc));
        return;
    }
    emit_constant(e, NATIVE_RCX, 0 - pc);
    emit_lea(e, NATIVE_RCX, (struct emit_place){.base = NATIVE_RCX, .index = NATIVE_R11, .scale = 1});
}

/* RCX was put aside by who comes. `otherwise`: the next door, or where none is known. What comes behind it is the
 * translation or a jump there: returns where that has its distance. */
static uint8_t *emit_door(struct emit *e, uint64_t pc, const uint8_t *otherwise)
{
    C2_PROMISE(otherwise);
    static const uint8_t over_jump[] = {0xe3, 5}; /* jrcxz */
    emit_distance(e, pc);
    emit_bytes(e, over_jump, sizeof over_jump);
    uint8_t *const next = emit_jump(e);
    emit_aim(next, otherwise - (next + 4));
    emit_get(e, NATIVE_RCX, CONTEXT_SPILL);
    return e->at + 1;
}

static uint32_t find_door(const struct native_codes *codes, enum native_kind kind, uint64_t pc)
{
    C2_PROMISE(!native_is_loose(kind) && codes->first_door[kind]);
    uint32_t door = codes->first_door[kind][link_entry_of(pc)];
    while (door != 0 && codes->doors[door - 1].pc != pc)
        door = codes->doors[door - 1].next;
    return door;
}

/* A new one is the first that is tried. 0: there is no memory for it. */
static uint32_t make_door(struct native_codes *codes, struct emit *e, enum native_kind kind, uint64_t pc)
{
    C2_PROMISE(find_door(codes, kind, pc) == 0);
    uint64_t *const entry = &codes->context->table[kind][link_entry_of(pc)];
    uint32_t *const first = &codes->first_door[kind][link_entry_of(pc)];
    uint8_t *const at = e->at;
    if (!c2_grow((void **)&codes->doors, &codes->door_room, codes->door_count, sizeof *codes->doors))
        return 0;
    uint8_t *const jump = emit_door(e, pc, link_written(codes, (const uint8_t *)(uintptr_t)*entry));
    *entry = address_of(codes, at);
    codes->doors[codes->door_count] = (struct native_door){.pc = pc, .jump = jump, .next = *first};
    *first = ++codes->door_count;
    return *first;
}

static void aim_door(struct native_codes *codes, uint32_t door, const uint8_t *to)
{
    C2_PROMISE(door != 0 && door <= codes->door_count);
    uint8_t *const jump = codes->doors[door - 1].jump;
    if (to == jump - 1)
        return;
    jump[-1] = JUMP;
    emit_aim(jump, to - (jump + 4));
}

/* Whether the translation comes right behind its door, and has no other way in if that leads elsewhere. */
static bool is_behind_door(struct native_codes *codes, const struct native_code *code)
{
    C2_PROMISE(code->door <= codes->door_count);
    return code->door != 0 && link_written(codes, code->entry) == codes->doors[code->door - 1].jump - 1;
}

void native_emit_door(struct native_codes *codes, struct emit *e, enum native_kind kind, uint64_t pc)
{
    C2_PROMISE(!native_is_loose(kind));
    if (find_door(codes, kind, pc) == 0)
        make_door(codes, e, kind, pc);
}

/* A door by itself. 0: there is no room for it. */
static uint32_t make_door_apart(struct native_codes *codes, enum native_kind kind, uint64_t pc)
{
    struct emit e = {native_next(&codes->cache)};
    if (NATIVE_COLD_AT - codes->cache.used < DOOR_BYTES)
        return 0;
    const uint32_t door = make_door(codes, &e, kind, pc);
    C2_PROMISE(door == 0 || codes->doors[door - 1].jump + 4 - native_next(&codes->cache) <= DOOR_BYTES);
    if (door != 0)
        codes->cache.used = (size_t)(codes->doors[door - 1].jump + 4 - codes->cache.written);
    return door;
}

void native_link_indirect(struct native_codes *codes, struct native_code *to)
{
    C2_PROMISE(!native_is_loose(to->kind) && !to->block->rare);
    uint32_t door = find_door(codes, to->kind, to->block->pc);
    if (door == 0)
        door = make_door_apart(codes, to->kind, to->block->pc);
    to->door = door;
    C2_PROMISE(door == 0 || codes->doors[door - 1].pc == to->block->pc);
    if (door != 0)
        aim_door(codes, door, link_written(codes, to->entry));
}

/* ------------------------------------------------------------------ no way to a block any more */

static void link_isolate(struct native_codes *codes, struct native_code *code)
{
    for (uint32_t number = code->linked; number != 0;) {
        struct native_site *site = &codes->sites[number - 1];
        C2_PROMISE(site->linked && site->target == code->block->pc);
        if (site->jump[-1] == no_jump[0])
            site->jump[-1] = JUMP;
        emit_aim(site->jump, site->stub - (site->jump + 4));
        site->linked = false;
        number = site->next;
    }
    code->linked = 0;
    if (is_behind_door(codes, code) || code->copies > 1) /* a loop goes on by itself */
        code->block->code[code->kind] = NULL;
    if (code->door != 0)
        aim_door(codes, code->door, codes->lost[code->kind]);
    code->door = 0;
}

void native_isolate(struct native_codes *codes, struct native_block *block)
{
    for (unsigned kind = 0; kind < NATIVE_KINDS; kind++)
        if (block->code[kind])
            link_isolate(codes, block->code[kind]);
}

static bool link_holds(const struct native_code *code, const uint8_t *host)
{
    C2_PROMISE(code->start <= code->end);
    return host >= code->start && host < code->end;
}

/* The last one that begins at or before the address. */
static struct native_code *link_search(const struct native_codes *codes, const uint8_t *host)
{
    size_t from = 0, to = codes->count;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        C2_PROMISE(codes->all[middle]->start < codes->all[middle]->end);
        if (codes->all[middle]->start <= host)
            from = middle + 1;
        else
            to = middle;
    }
    return from == 0 ? NULL : codes->all[from - 1];
}

struct native_code *native_code_before(struct native_codes *codes, uint64_t host)
{
    const uint8_t *at = (const uint8_t *)(uintptr_t)host;
    struct native_code *code = link_search(codes, at);
    return code && at >= code->entry && at < code->start + code->place[0].at ? code : NULL;
}

struct native_code *native_code_at(struct native_codes *codes, uint64_t host, unsigned *copy, unsigned *insn)
{
    const uint8_t *at = (const uint8_t *)(uintptr_t)host;
    struct native_code *code = codes->part && link_holds(codes->part, at) ? codes->part : link_search(codes, at);
    if (!code || !link_holds(code, at) || at < code->start + code->place[0].at)
        return NULL;
    for (*copy = 0; *copy + 1 < code->copies && at >= code->start + code->place[0].at + code->stride; (*copy)++)
        at -= code->stride;
    unsigned found = 0;
    while (found + 1 < code->insns && code->start + code->place[found + 1].at <= at)
        found++;
    *insn = found;
    return code;
}
