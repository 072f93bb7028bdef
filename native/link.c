/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   A translation jumps to the one that follows it by itself once both are known and the second one asks for nothing:
 *   a jump to a known address is aimed anew, one to an address in a register looks it up in a table of the context.
 * Invariants
 *   Jumps and table entries lead to translations of blocks that are neither rare nor stale, of the same kind.
 */
#include "native/emit.h"
#include "native/native_priv.h"

static uint8_t *link_written(struct native_codes *codes, const uint8_t *executed)
{
    return codes->cache.written + (executed - codes->cache.executed);
}

void native_link(struct native_codes *codes, uint32_t number, struct native_code *to)
{
    struct native_site *site = &codes->sites[number];
    C2_PROMISE(site->why == NATIVE_GOES && !site->linked && site->target == to->block->pc);
    C2_PROMISE(site->code->kind == to->kind && !native_is_loose(to->kind) && !to->block->rare);
    emit_aim(site->jump, link_written(codes, to->entry) - (site->jump + 4));
    site->linked = true;
    site->next = to->linked;
    to->linked = number + 1;
}

static unsigned link_entry_of(uint64_t pc) { return pc & (CONTEXT_TABLE_ENTRIES - 1); }

void native_link_indirect(struct native_codes *codes, struct native_code *to)
{
    const uint64_t pc = to->block->pc;
    C2_PROMISE(!native_is_loose(to->kind) && !to->block->rare);
    codes->context->table[to->kind].minus[link_entry_of(pc)] = 0 - pc;
    codes->context->table[to->kind].host[link_entry_of(pc)] = (uint64_t)(uintptr_t)to->entry;
}

static void link_isolate(struct native_codes *codes, struct native_code *code)
{
    for (uint32_t number = code->linked; number != 0;) {
        struct native_site *site = &codes->sites[number - 1];
        emit_aim(site->jump, site->stub - (site->jump + 4));
        site->linked = false;
        number = site->next;
    }
    code->linked = 0;
    if (native_is_loose(code->kind))
        return;
    const unsigned entry = link_entry_of(code->block->pc);
    if (codes->context->table[code->kind].minus[entry] == 0 - code->block->pc)
        codes->context->table[code->kind].minus[entry] = NATIVE_NO_TARGET(entry);
}

void native_isolate(struct native_codes *codes, struct native_block *block)
{
    for (unsigned kind = 0; kind < NATIVE_KINDS; kind++)
        if (block->code[kind])
            link_isolate(codes, block->code[kind]);
}

static bool link_holds(const struct native_code *code, const uint8_t *host)
{
    return host >= code->start && host < code->end;
}

/* The last one that begins at or before the address. */
static struct native_code *link_search(const struct native_codes *codes, const uint8_t *host)
{
    size_t from = 0, to = codes->count;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (codes->all[middle]->start <= host)
            from = middle + 1;
        else
            to = middle;
    }
    return from == 0 ? NULL : codes->all[from - 1];
}

struct native_code *native_code_at(struct native_codes *codes, uint64_t host, unsigned *insn)
{
    const uint8_t *at = (const uint8_t *)(uintptr_t)host;
    struct native_code *code = codes->part && link_holds(codes->part, at) ? codes->part : link_search(codes, at);
    if (!code || !link_holds(code, at) || at < code->start + code->at[0])
        return NULL;
    unsigned found = 0;
    while (found + 1 < code->insns && code->start + code->at[found + 1] <= at)
        found++;
    *insn = found;
    return code;
}
