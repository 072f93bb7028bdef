/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   The record of the current block, from the hook that opens it to the one of the next block that closes it.
 * Counting
 *   A block's instructions are counted when it starts; when it is left early (a fault), those not completed are taken
 *   back. A record of which nothing completed is not kept.
 * Invariants
 *   The batch holds whole records below `used`, then the header and the events of the current block. Where
 *   translations record themselves (unicorn_inline.c), whole records up to pace.next, but for the slots of the current
 *   block that are not executed yet; `used` follows when the block hook is called or a run ends.
 */
#include "unicorn/engine_priv.h"

void unicorn_record_init(struct unicorn *u)
{
    struct stream_writer *writer = u->base.config.writer;
    if (!writer)
        return;
    u->batch = writer->batch;
    u->words = (uint64_t *)(void *)((char *)u->batch + offsetof(struct stream_batch, words));
    u->header = u->words;
    u->access.next = u->words + 1;
    u->run_state.limit = u->words + STREAM_BATCH_WORDS;
}

unsigned unicorn_record_slots(const struct unicorn_block *block, unsigned insns)
{
    return insns == block->insns ? block->slots : block->block->insns[insns].first_slot;
}

static enum c2_status wrong_events(struct unicorn *u, const struct unicorn_block *block, size_t count)
{
    return c2_fail(&u->failure, C2_ERR_INTERNAL,
                   "the engine made %zu memory events in the block at 0x%llx where its %u instructions make %u: "
                   "this is a mistake in c2emu's table of events, please report it with the program",
                   count, (unsigned long long)block->pc, block->insns, block->events);
}

/* The header stands there already, that of a complete execution. */
static void cut_inlined(struct unicorn *u, const struct unicorn_block *block, unsigned insns)
{
    const unsigned slots = unicorn_record_slots(block, insns);
    uint64_t *header = u->run_state.next - (1 + block->slots);
    *header = stream_header(block->number, insns, slots);
    u->run_state.next = header + (insns ? 1 + slots : 0);
    unicorn_record_take(u);
}

/* Ends the record of the current block, of which `insns` instructions completed. */
enum c2_status unicorn_record_close_partly(struct unicorn *u, unsigned insns)
{
    struct unicorn_block *block = u->run_state.current;
    u->run_state.current = NULL;
    u->run_state.instructions -= block->insns - insns;
    if (!u->recording) {
        block->executed -= u->counting ? block->insns - insns : 0;
        return C2_OK;
    }
    if (u->inlined) {
        cut_inlined(u, block, insns);
        return C2_OK;
    }
    size_t events = (size_t)(u->access.next - (u->header + 1));
    int slots = unicorn_events_fold(block, u->header + 1, events, insns);
    if (slots < 0)
        return wrong_events(u, block, events);
    C2_PROMISE(u->header == u->words + u->batch->used && (unsigned)slots <= block->slots);
    *u->header = stream_header(block->number, insns, (uint32_t)slots);
    u->batch->used += insns ? (uint32_t)slots + 1 : 0;
    return C2_OK;
}
