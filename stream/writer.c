/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * writer: the end of a stream at which it is written.
 *
 * Model
 *   One batch that fills up and goes to the sink when the next record or mark does not fit. An engine writes its
 *   records into the batch itself; marks come from where things happen: the engine, the allocator's watcher,
 *   the address space. They are all written on one thread, so their order in the batch is that in the program.
 * Invariants
 *   The batch holds whole records and marks below `used`. A mark is never written while a record is open.
 */
#include <string.h>

#include "stream/stream.h"

enum c2_status stream_writer_create(struct stream_writer **out, struct stream_sink sink, struct c2_error *err)
{
    *out = NULL;
    struct stream_writer *writer = c2_alloc(sizeof *writer);
    struct stream_batch *batch = c2_alloc(sizeof *batch + STREAM_SLACK_WORDS * sizeof(uint64_t));
    if (!writer || !batch) {
        c2_free(writer);
        c2_free(batch);
        return c2_fail_memory(err, "a batch of references");
    }
    batch->used = 0;
    batch->tid = 1;
    *writer = (struct stream_writer){.sink = sink, .batch = batch};
    *out = writer;
    return C2_OK;
}

void stream_writer_destroy(struct stream_writer *writer)
{
    if (!writer)
        return;
    c2_free(writer->batch);
    c2_free(writer);
}

enum c2_status stream_writer_flush(struct stream_writer *writer, struct c2_error *err)
{
    if (writer->batch->used == 0)
        return C2_OK;
    enum c2_status status = writer->sink.consume(writer->sink.self, writer->batch, err);
    writer->batch->used = 0;
    return status;
}

enum c2_status stream_writer_mark(struct stream_writer *writer, enum stream_mark mark, const uint64_t *words,
                                  uint32_t count, struct c2_error *err)
{
    C2_ASSERT(count <= STREAM_MARK_WORDS);
    enum c2_status status = stream_writer_room(writer, count, err);
    if (status != C2_OK)
        return status;
    uint64_t *record = writer->batch->words + writer->batch->used;
    record[0] = stream_header(STREAM_MARK, mark, count);
    if (count != 0)
        memcpy(record + 1, words, count * sizeof *words);
    writer->batch->used += count + 1;
    return C2_OK;
}

enum c2_status stream_writer_change(struct stream_writer *writer, enum stream_mark mark, const uint64_t *words,
                                    uint32_t count, struct c2_error *err)
{
    enum c2_status status = stream_writer_mark(writer, mark, words, count, err);
    if (status != C2_OK)
        return status;
    if (writer->sure > 0) {
        writer->sure--;
        return C2_OK;
    }
    status = stream_writer_flush(writer, err);
    if (status == C2_OK)
        status = writer->sink.drain(writer->sink.self, err);
    if (status == C2_OK && writer->guaranteed)
        writer->sure = writer->guaranteed(writer->guaranteed_self);
    return status;
}
