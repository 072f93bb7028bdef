/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The tape: a stream on disk, to be consumed again as often as wanted.
 *
 * Model
 *   What was recorded comes back in its order: batches, word for word. A tape lives in a file without a name,
 *   which is gone with it.
 *   Each slot is stored as the difference to the same slot of its block's record before: a loop that walks through
 *   arrays repeats itself then. Batches are compressed one by one (zstd, level 1).
 *
 * Invariants
 *   Recording and playing keep the same differences: a batch that does not come out with the length that went in is an
 *   error.
 *
 * Cost
 *   About 4 ns a word to record, most of it the compression; loops over arrays take less than a byte a word.
 */
#include "stream/stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define TAPE_LEVEL 1

struct item {
    uint32_t bytes;     /* of what follows */
    uint32_t used, tid; /* of the batch */
};

/* The slots of each block's last record. */
struct history {
    uint64_t *slots;
    size_t *first; /* [block]: its first slot, + 1; 0: none yet */
    size_t slot_count, slot_room, first_room;
};

struct stream_tape {
    const struct stream_blocks *blocks;
    FILE *file;
    ZSTD_CCtx *compressor;
    ZSTD_DCtx *decompressor;
    struct history history;
    char *packed;
    size_t packed_room;
    uint64_t bytes;
    struct stream_batch batch; /* scratch: differences, or what is played */
};

/* ------------------------------------------------------------------ life */

static enum c2_status make_file(struct stream_tape *tape, struct c2_error *err)
{
    const char *directory = getenv("TMPDIR");
    char *path = c2_format("%s/c2emu-XXXXXX", !directory || directory[0] == '\0' ? "/tmp" : directory);
    if (!path)
        return c2_fail_memory(err, "the name of a temporary file");
    const int fd = mkstemp(path);
    if (fd >= 0) {
        unlink(path);
        tape->file = fdopen(fd, "w+b");
    }
    enum c2_status status = C2_OK;
    if (!tape->file)
        status = c2_fail(err, C2_ERR_IO, "cannot make a temporary file %s: %s (TMPDIR names another directory)", path,
                         strerror(errno));
    c2_free(path);
    return status;
}

enum c2_status stream_tape_create(struct stream_tape **out, const struct stream_blocks *blocks, struct c2_error *err)
{
    *out = NULL;
    struct stream_tape *tape = c2_calloc(1, sizeof *tape);
    if (!tape)
        return c2_fail_memory(err, "a tape");
    tape->blocks = blocks;
    tape->packed_room = ZSTD_compressBound(sizeof tape->batch.words);
    tape->packed = c2_alloc(tape->packed_room);
    tape->compressor = ZSTD_createCCtx();
    tape->decompressor = ZSTD_createDCtx();
    enum c2_status status = C2_OK;
    if (!tape->packed || !tape->compressor || !tape->decompressor)
        status = c2_fail_memory(err, "a tape");
    if (status == C2_OK)
        status = make_file(tape, err);
    if (status != C2_OK) {
        stream_tape_destroy(tape);
        return status;
    }
    *out = tape;
    return C2_OK;
}

static void forget(struct history *history)
{
    c2_free(history->slots);
    c2_free(history->first);
    *history = (struct history){.slot_count = 0};
}

void stream_tape_destroy(struct stream_tape *tape)
{
    if (!tape)
        return;
    if (tape->file)
        fclose(tape->file);
    ZSTD_freeCCtx(tape->compressor);
    ZSTD_freeDCtx(tape->decompressor);
    forget(&tape->history);
    c2_free(tape->packed);
    c2_free(tape);
}

uint64_t stream_tape_bytes(const struct stream_tape *tape) { return tape->bytes; }

/* ------------------------------------------------------------------ differences */

static enum c2_status reach(struct history *history, uint32_t block, uint32_t slots, struct c2_error *err)
{
    if (block >= history->first_room) {
        const size_t room = block * 2u + C2_HOST_SIZE(4096u, 1u);
        size_t *first = c2_realloc(history->first, room * sizeof *first);
        if (!first)
            return c2_fail_memory(err, "a tape's table of blocks");
        memset(first + history->first_room, 0, (room - history->first_room) * sizeof *first);
        history->first = first;
        history->first_room = room;
    }
    if (history->slot_count + slots > history->slot_room) {
        const size_t room = (history->slot_count + slots) * 2;
        uint64_t *grown = c2_realloc(history->slots, room * sizeof *grown);
        if (!grown)
            return c2_fail_memory(err, "a tape's table of blocks");
        history->slots = grown;
        history->slot_room = room;
    }
    memset(&history->slots[history->slot_count], 0, slots * sizeof *history->slots);
    history->first[block] = history->slot_count + 1;
    history->slot_count += slots;
    return C2_OK;
}

/* The slots of the last record of this block; zeros for the first. NULL without memory. */
static uint64_t *last_slots(struct stream_tape *tape, uint32_t block, struct c2_error *err)
{
    struct history *history = &tape->history;
    if (block >= history->first_room || history->first[block] == 0) {
        if (reach(history, block, stream_blocks_at(tape->blocks, block)->slot_count, err) != C2_OK)
            return NULL;
    }
    return history->slots + history->first[block] - 1;
}

/* Copies a batch's words; the slots become differences, or differences slots. */
static enum c2_status convert(struct stream_tape *tape, uint64_t *to, const uint64_t *from, uint32_t used, bool record,
                              struct c2_error *err)
{
    uint32_t i = 0;
    while (i < used) {
        const uint64_t header = from[i];
        const uint32_t slots = stream_header_slots(header), block = stream_header_block(header);
        to[i++] = header;
        if (block == STREAM_MARK) {
            memmove(&to[i], &from[i], slots * sizeof *to);
            i += slots;
            continue;
        }
        uint64_t *last = last_slots(tape, block, err);
        if (!last)
            return C2_ERR_NO_MEMORY;
        for (uint32_t s = 0; s < slots; s++, i++) {
            const uint64_t word = from[i];
            to[i] = record ? word - last[s] : word + last[s];
            last[s] = record ? word : to[i];
        }
    }
    return C2_OK;
}

/* ------------------------------------------------------------------ recording */

static enum c2_status put(struct stream_tape *tape, const void *bytes, size_t count, struct c2_error *err)
{
    tape->bytes += count;
    if (fwrite(bytes, 1, count, tape->file) == count)
        return C2_OK;
    return c2_fail(err, C2_ERR_IO, "cannot record the run in a temporary file: %s (TMPDIR names another directory)",
                   strerror(errno));
}

static enum c2_status record(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct stream_tape *tape = self;
    enum c2_status status = convert(tape, tape->batch.words, batch->words, batch->used, true, err);
    if (status != C2_OK)
        return status;
    const size_t packed = ZSTD_compressCCtx(tape->compressor, tape->packed, tape->packed_room, tape->batch.words,
                                            batch->used * sizeof *batch->words, TAPE_LEVEL);
    if (ZSTD_isError(packed))
        return c2_fail(err, C2_ERR_INTERNAL, "cannot compress a batch: %s", ZSTD_getErrorName(packed));
    const struct item item = {(uint32_t)packed, batch->used, batch->tid};
    status = put(tape, &item, sizeof item, err);
    return status != C2_OK ? status : put(tape, tape->packed, packed, err);
}

static enum c2_status drain(void *self, struct c2_error *err)
{
    (void)self, (void)err;
    return C2_OK;
}

struct stream_sink stream_tape_sink(struct stream_tape *tape) { return (struct stream_sink){tape, record, drain}; }

/* ------------------------------------------------------------------ playing */

static enum c2_status fail_reading(struct c2_error *err)
{
    return c2_fail(err, C2_ERR_IO, "cannot read the recorded run back from its temporary file");
}

static enum c2_status play_batch(struct stream_tape *tape, const struct item *item, struct stream_sink to,
                                 struct c2_error *err)
{
    const size_t bytes = item->used * sizeof *tape->batch.words;
    if (item->bytes > tape->packed_room || fread(tape->packed, 1, item->bytes, tape->file) != item->bytes)
        return fail_reading(err);
    if (ZSTD_decompressDCtx(tape->decompressor, tape->batch.words, sizeof tape->batch.words, tape->packed,
                            item->bytes) != bytes)
        return fail_reading(err);
    tape->batch.used = item->used;
    tape->batch.tid = item->tid;
    enum c2_status status = convert(tape, tape->batch.words, tape->batch.words, item->used, false, err);
    return status != C2_OK ? status : to.consume(to.self, &tape->batch, err);
}

enum c2_status stream_tape_play(struct stream_tape *tape, struct stream_sink to, struct c2_error *err)
{
    forget(&tape->history);
    if (fflush(tape->file) != 0 || fseek(tape->file, 0, SEEK_SET) != 0)
        return fail_reading(err);
    enum c2_status status = C2_OK;
    struct item item;
    uint64_t left = tape->bytes;
    while (left != 0 && status == C2_OK) {
        if (fread(&item, sizeof item, 1, tape->file) != 1 || sizeof item + item.bytes > left)
            return fail_reading(err);
        left -= sizeof item + item.bytes;
        status = play_batch(tape, &item, to, err);
    }
    return status;
}
