/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * csim: the cache simulator of part A of the Cache Lab, with the caches of this program.
 *
 * Model
 *   A reference of the program or the trace - load, store, modify - is one access of the block that its first byte
 *   lies in, however long it is; a modify is a load and then a store of it. Addresses are the program's own, as in a
 *   trace of lackey: there are no pages. A non-temporal store is a store.
 *   A line for each reference, as the lab's reference simulator writes it with -v: letter, address in hex, size, and
 *   for each access `hit`, `miss` or `miss eviction`. No blank stands at its end.
 *   Of a string instruction each element is a load, and a store or another load behind it.
 * Counting
 *   hits + misses = accesses. An eviction is a miss in a set without a free line.
 * Invariants
 *   hits and misses are those of the level.
 * Not modelled
 *   Fetches, and what system calls read and write, are no references. Instructions made for caches are left out. A
 *   reference that crosses into the next block has one access all the same, as in the lab, whose traces have none such.
 *   All threads have the one cache.
 *
 * Source: the handout of the Cache Lab to Bryant and O'Hallaron, Computer Systems: A Programmer's Perspective, 3rd ed.
 */
#include <inttypes.h>
#include <string.h>

#include "teach/teach.h"

struct teach_csim {
    struct caches *caches;
    unsigned block_shift;
    const struct stream_blocks *blocks;
    FILE *lines; /* or NULL */
    bool counting;
    struct teach_counts counts;
};

/* ------------------------------------------------------------------ one reference */

static enum c2_status csim_access_block(struct teach_csim *csim, bool write, uint64_t address, struct c2_error *err)
{
    const struct line_no line = {address >> csim->block_shift};
    struct caches_outcome outcome;
    enum c2_status status = caches_access(csim->caches, CACHES_DATA, write, line, line, &outcome, err);
    if (status != C2_OK || !csim->counting)
        return status;
    const bool hit = outcome.served_by == 0, evicted = !hit && (outcome.evicted & 1) != 0;
    csim->counts.hits += hit;
    csim->counts.misses += !hit;
    csim->counts.evictions += evicted;
    if (csim->lines)
        fputs(hit ? " hit" : evicted ? " miss eviction" : " miss", csim->lines);
    return C2_OK;
}

/* letter: L, S or M. */
static enum c2_status csim_refer(struct teach_csim *csim, char letter, uint64_t address, unsigned bytes,
                                 struct c2_error *err)
{
    enum c2_status status = C2_OK;
    const bool shown = csim->lines && csim->counting;
    if (shown)
        fprintf(csim->lines, "%c %" PRIx64 ",%u", letter, address, bytes);
    if (letter != 'S')
        status = csim_access_block(csim, false, address, err);
    if (status == C2_OK && letter != 'L')
        status = csim_access_block(csim, true, address, err);
    if (shown)
        fputc('\n', csim->lines);
    return status;
}

/* ------------------------------------------------------------------ one record */

static enum c2_status csim_take_slot(struct teach_csim *csim, const struct stream_slot *slot, uint64_t address,
                                     struct c2_error *err)
{
    if (!stream_reads(slot) && !stream_writes(slot))
        return C2_OK;
    return csim_refer(csim,
                      slot->kind == STREAM_READ    ? 'L'
                      : slot->kind == STREAM_WRITE ? 'S'
                                                   : 'M',
                      address, slot->size, err);
}

static enum c2_status take_string(struct teach_csim *csim, const struct stream_block *block, const uint64_t *words,
                                  struct c2_error *err)
{
    const struct stream_slot *source = &block->slots[0], *destination = &block->slots[1];
    enum c2_status status = C2_OK;
    for (uint64_t i = 0; i < stream_string_elements(words) && status == C2_OK; i++) {
        if (source->size != 0)
            status = csim_refer(csim, 'L', stream_string_address(words, 0, i, source->size), source->size, err);
        if (destination->size != 0 && status == C2_OK)
            status = csim_refer(csim, destination->how == 1 ? 'S' : 'L',
                                stream_string_address(words, 1, i, destination->size), destination->size, err);
    }
    return status;
}

static enum c2_status csim_take_record(struct teach_csim *csim, uint64_t header, const uint64_t *words,
                                       struct c2_error *err)
{
    const struct stream_block *block = stream_blocks_at(csim->blocks, stream_header_block(header));
    enum c2_status status = C2_OK;
    if (stream_is_string(block))
        return take_string(csim, block, words, err);
    for (uint32_t i = 0; i < stream_header_slots(header) && status == C2_OK; i++)
        status = csim_take_slot(csim, &block->slots[i], words[i], err);
    return status;
}

/* ------------------------------------------------------------------ the stream */

static enum c2_status csim_consume(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct teach_csim *csim = self;
    enum c2_status status = C2_OK;
    for (uint32_t at = 0; at < batch->used && status == C2_OK;) {
        const uint64_t header = batch->words[at], *words = &batch->words[at + 1];
        if (stream_header_block(header) != STREAM_MARK)
            status = csim_take_record(csim, header, words, err);
        else if (stream_header_insns(header) == STREAM_PHASE)
            csim->counting = words[0] == STREAM_MEASURE;
        at += 1 + stream_header_slots(header);
    }
    if (status == C2_OK && csim->lines && ferror(csim->lines))
        status = c2_fail(err, C2_ERR_IO, "csim: the lines cannot be written: %m");
    return status;
}

static enum c2_status csim_drain(void *self, struct c2_error *err)
{
    (void)self, (void)err;
    return C2_OK;
}

/* ------------------------------------------------------------------ life */

enum c2_status teach_csim_create(struct teach_csim **out, const struct caches_machine *machine, FILE *lines,
                                 struct c2_error *err)
{
    C2_ASSERT(machine->level_count == 1);
    *out = NULL;
    struct teach_csim *csim = c2_calloc(1, sizeof *csim);
    if (!csim)
        return c2_fail_memory(err, "the simulator of traces");
    csim->block_shift = c2_log2(machine->line_bytes);
    csim->lines = lines;
    csim->counting = true;
    enum c2_status status = caches_create(&csim->caches, machine, 1, err);
    if (status == C2_OK)
        *out = csim;
    else
        c2_free(csim);
    return status;
}

void teach_csim_destroy(struct teach_csim *csim)
{
    if (!csim)
        return;
    caches_destroy(csim->caches);
    c2_free(csim);
}

void teach_csim_blocks(struct teach_csim *csim, const struct stream_blocks *blocks) { csim->blocks = blocks; }

struct stream_sink teach_csim_sink(struct teach_csim *csim)
{
    return (struct stream_sink){csim, csim_consume, csim_drain};
}

struct teach_counts teach_csim_counts(const struct teach_csim *csim) { return csim->counts; }
