/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Unicorn 2.0.1 reports memory events; the stream has slots. The events of a block are static, except that a load
 *   that crosses a page is reported three times: as itself, and as the two aligned loads that it is made of. So:
 *     size <= 8           one event
 *     10 (m80)            two: 8 bytes, then 2 at +8
 *     16                  two: 8 bytes, then 8 at +8
 *     modify              the load's events, then the store's
 *     CMPS                RDI is loaded before RSI
 *   and the instructions in wide_loads[], of which Unicorn loads more bytes than they have.
 * Counting
 *   A slot's address is that of its first event. Every execution's events are counted against the plan, and where
 *   they must be sorted out one by one, their addresses too: a mistake in the plan is an error, never a wrong count.
 * Source
 *   Observed, form by form, and compared with the host's CPU in tests/engine.
 */
#include <string.h>

#include "unicorn/unicorn_priv.h"

/* Loads that Unicorn makes 16 bytes wide although the operand is smaller. */
static const uint16_t wide_loads[] = {
    ZYDIS_MNEMONIC_CVTPS2PD,
    ZYDIS_MNEMONIC_CVTDQ2PD,
};

static unsigned load_bytes(uint16_t mnemonic, unsigned size)
{
    for (size_t i = 0; i < sizeof wide_loads / sizeof *wide_loads; i++)
        if (wide_loads[i] == mnemonic && size == 8)
            return 16;
    return size;
}

static unsigned parts_of(unsigned size) { return size <= 8 ? 1 : 2; }

static struct unicorn_pattern events_pattern_of(const struct stream_slot *slot, uint16_t number, uint16_t mnemonic)
{
    struct unicorn_pattern pattern = {.slot = number};
    if (slot->kind != STREAM_WRITE) {
        unsigned size = load_bytes(mnemonic, slot->size);
        pattern.reads = parts_of(size);
        pattern.read_size[0] = size <= 8 ? size : 8;
        pattern.read_size[1] = size <= 8 ? 0 : size - 8;
    }
    if (slot->kind != STREAM_READ)
        pattern.writes = parts_of(slot->size);
    return pattern;
}

/* Moves of 16 bytes that may lie anywhere, across two pages as well. */
static bool moves_anywhere(uint16_t mnemonic)
{
    return mnemonic == ZYDIS_MNEMONIC_MOVUPS || mnemonic == ZYDIS_MNEMONIC_MOVUPD ||
           mnemonic == ZYDIS_MNEMONIC_MOVDQU || mnemonic == ZYDIS_MNEMONIC_LDDQU;
}

static bool loads_destination_first(uint16_t mnemonic, const struct stream_slot *slot, unsigned slots)
{
    bool compare = mnemonic == ZYDIS_MNEMONIC_CMPSB || mnemonic == ZYDIS_MNEMONIC_CMPSW ||
                   mnemonic == ZYDIS_MNEMONIC_CMPSD || mnemonic == ZYDIS_MNEMONIC_CMPSQ;
    return compare && slots == 2 && slot[0].kind == STREAM_READ && slot[1].kind == STREAM_READ;
}

/* Which slot is the one whose events come at the turn of this one. */
static unsigned slot_of_turn(const struct decode_block *decoded, unsigned turn)
{
    const struct stream_block *plain = &decoded->block;
    const unsigned insn = plain->slots[turn].insn, first = plain->insns[insn].first_slot;
    const unsigned end = insn + 1 < plain->insn_count ? plain->insns[insn + 1].first_slot : plain->slot_count;
    const bool swapped = loads_destination_first(decoded->mnemonics[insn], plain->slots + first, end - first);
    return swapped ? first + end - 1 - turn : turn;
}

static void plan_slot(struct unicorn_block *block, const struct decode_block *decoded, unsigned turn)
{
    const unsigned slot = slot_of_turn(decoded, turn);
    const struct stream_slot *plain = &decoded->block.slots[slot];
    struct unicorn_pattern pattern = events_pattern_of(plain, (uint16_t)slot, decoded->mnemonics[plain->insn]);
    block->patterns[turn] = pattern;
    block->first_event[slot] = block->events;
    block->events += pattern.reads + pattern.writes;
    block->ordered = block->ordered && slot == turn;
}

enum c2_status unicorn_events_plan(struct unicorn_block *block, const struct decode_block *decoded,
                                   struct c2_error *err)
{
    unsigned slots = decoded->block.slot_count;
    block->patterns = c2_calloc(slots + 1, sizeof *block->patterns);
    block->first_event = c2_calloc(slots + 1, sizeof *block->first_event);
    if (!block->patterns || !block->first_event)
        return c2_fail_memory(err, "the plan of a block");
    block->slots = slots;
    block->events = 0;
    block->ordered = true;
    for (unsigned i = 0; i < slots; i++)
        plan_slot(block, decoded, i);
    block->direct = block->ordered && block->events == slots;
    return C2_OK;
}

static unsigned list_slot(struct unicorn_event *out, const struct unicorn_pattern *pattern,
                          const struct stream_slot *slot, uint16_t mnemonic)
{
    unsigned count = 0;
    for (unsigned i = 0; i < pattern->reads; i++, count++)
        out[count] = (struct unicorn_event){.bytes = pattern->read_size[i]};
    for (unsigned i = 0; i < pattern->writes; i++, count++)
        out[count] = (struct unicorn_event){.bytes = (uint8_t)(slot->size <= 8 ? slot->size
                                                               : i == 0        ? 8
                                                                               : slot->size - 8),
                                            .store = true};
    for (unsigned i = 0; i < count; i++) {
        out[i].insn = slot->insn;
        out[i].slot = pattern->slot;
        out[i].first = i == 0;
        out[i].halves = i == 0 && moves_anywhere(mnemonic);
    }
    return count;
}

unsigned unicorn_events_list(struct unicorn_event out[UNICORN_EVENTS], const struct decode_block *decoded)
{
    const struct stream_block *plain = &decoded->block;
    unsigned count = 0;
    for (unsigned i = 0; i < plain->slot_count; i++) {
        const unsigned insn = plain->slots[i].insn, slot = slot_of_turn(decoded, i);
        struct unicorn_pattern pattern = events_pattern_of(&plain->slots[slot], (uint16_t)slot,
                                                           decoded->mnemonics[insn]);
        count += list_slot(out + count, &pattern, &plain->slots[slot], decoded->mnemonics[insn]);
    }
    return count;
}

void unicorn_events_release(struct unicorn_block *block)
{
    c2_free(block->patterns);
    c2_free(block->first_event);
}

static bool events_crosses_page(uint64_t address, unsigned size)
{
    return (address & (C2_PAGE_BYTES - 1)) + size > C2_PAGE_BYTES;
}

/* Takes the events of one slot from [*at, end); false if they are not there. */
static bool events_take(const struct unicorn_pattern *pattern, const uint64_t **at, const uint64_t *end,
                        uint64_t *address)
{
    if (*at == end)
        return false;
    *address = **at;
    for (unsigned i = 0; i < pattern->reads; i++) {
        uint64_t part = *address + 8 * i;
        size_t events = events_crosses_page(part, pattern->read_size[i]) ? 3 : 1;
        if ((size_t)(end - *at) < events || **at != part)
            return false;
        *at += events;
    }
    for (unsigned i = 0; i < pattern->writes; i++)
        if (*at == end || *(*at)++ != *address + 8 * i)
            return false;
    return true;
}

/* Gives the events of one slot; the reverse of events_take(). */
static size_t events_give(const struct unicorn_pattern *pattern, uint64_t *out, uint64_t address)
{
    uint64_t *at = out;
    for (unsigned i = 0; i < pattern->reads; i++) {
        const uint64_t part = address + 8 * i;
        for (unsigned n = events_crosses_page(part, pattern->read_size[i]) ? 3 : 1; n > 0; n--)
            *at++ = part;
    }
    for (unsigned i = 0; i < pattern->writes; i++)
        *at++ = address + 8 * i;
    return (size_t)(at - out);
}

size_t unicorn_events_unfold(const struct unicorn_block *block, uint64_t *events, const uint64_t *slots, unsigned first,
                             unsigned count)
{
    size_t given = 0;
    for (unsigned i = first; i < first + count; i++)
        given += events_give(&block->patterns[i], events + given, slots[block->patterns[i].slot - first]);
    return given;
}

static int events_sort_out(const struct unicorn_block *block, uint64_t *words, size_t count, unsigned insns)
{
    uint64_t events[3 * DECODE_MAX_SLOTS * 2];
    unsigned slots = insns == block->insns ? block->slots : block->block->insns[insns].first_slot;
    if (count > sizeof events / sizeof *events)
        return -1;
    memcpy(events, words, count * sizeof *events);
    const uint64_t *at = events;
    for (unsigned i = 0; i < slots; i++) {
        uint64_t address;
        if (!events_take(&block->patterns[i], &at, events + count, &address))
            return -1;
        words[block->patterns[i].slot] = address;
    }
    bool whole = insns == block->insns;
    return whole && at != events + count ? -1 : (int)slots;
}

int unicorn_events_fold(const struct unicorn_block *block, uint64_t *words, size_t count, unsigned insns)
{
    bool as_planned = insns == block->insns && count == block->events && block->ordered;
    if (!SHORTCUT(as_planned))
        return events_sort_out(block, words, count, insns);
    for (unsigned i = 0; i < block->slots; i++)
        words[i] = words[block->first_event[i]];
    return block->slots;
}
