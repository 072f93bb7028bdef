/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * threads_of RECORDING OUT BARRIER TURN...: a recording of several threads, made of one of a single thread. Arguments
 * are addresses, in hexadecimal: from a record on that stores to the n-th TURN the records are thread n's; one that
 * stores to BARRIER comes to a barrier, which is marked behind it.
 */
#include <stdlib.h>
#include <string.h>

#include "stream/stream.h"

#define THREADS 8u
#define FACTS 64u

struct maker {
    const struct stream_blocks *blocks;
    struct stream_sink to;
    struct stream_batch out;
    uint64_t barrier, turns[THREADS];
    bool started[THREADS + 1];
    uint32_t turn_count;
};

static void fail(const char *what)
{
    fprintf(stderr, "threads_of: %s\n", what);
    exit(1);
}

static void put(struct maker *maker, const uint64_t *record)
{
    struct c2_error err;
    const uint32_t words = stream_header_slots(record[0]) + 1;
    memcpy(maker->out.words, record, words * sizeof *record);
    maker->out.used = words;
    if (maker->to.consume(maker->to.self, &maker->out, &err) != C2_OK)
        fail(err.text);
}

static void put_mark(struct maker *maker, enum stream_mark mark, uint64_t first, uint64_t second, uint32_t count)
{
    const uint64_t words[] = {stream_header(STREAM_MARK, mark, count), first, second};
    put(maker, words);
}

static bool stores(const struct maker *maker, const uint64_t *record, uint64_t address)
{
    const struct stream_block *block = stream_blocks_at(maker->blocks, stream_header_block(record[0]));
    for (uint32_t i = 0; i < stream_header_slots(record[0]); i++)
        if (block->slots[i].kind == STREAM_WRITE && record[1 + i] == address)
            return true;
    return false;
}

static void turn(struct maker *maker, const uint64_t *record)
{
    for (uint32_t i = 0; i < maker->turn_count; i++) {
        if (!stores(maker, record, maker->turns[i]))
            continue;
        maker->out.tid = i + 1;
        if (!maker->started[i + 1])
            put_mark(maker, STREAM_THREAD, i + 1, STREAM_START, 2);
        maker->started[i + 1] = true;
    }
}

static enum c2_status consume(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct maker *maker = self;
    (void)err;
    for (uint32_t i = 0; i < batch->used; i += stream_header_slots(batch->words[i]) + 1) {
        const uint64_t *record = &batch->words[i];
        const bool mark = stream_header_block(record[0]) == STREAM_MARK;
        if (!mark)
            turn(maker, record);
        put(maker, record);
        if (!mark && stores(maker, record, maker->barrier))
            put_mark(maker, STREAM_BARRIER, 0, 0, 0);
    }
    return C2_OK;
}

/* Those facts of the names that the recording has. */
static size_t copy_facts(struct stream_fact facts[FACTS], struct stream_recording *from, const char *const *names)
{
    size_t count = 0;
    for (; *names; names++) {
        const char *value = stream_recording_fact(from, *names);
        if (value)
            facts[count++] = (struct stream_fact){*names, value};
    }
    return count;
}

int main(int argc, char **argv)
{
    static const char *const first[] = {"c2emu",        "program",          "command.0",          "seed", "measure",
                                        "guest.memory", "guest.heap_pages", "guest.tells_writes", NULL};
    static const char *const last[] = {"exit_status", "instructions", "lost_pages", "phase.0", "file.0", NULL};
    static struct maker maker;
    struct stream_fact facts[FACTS];
    struct stream_recording *recording;
    struct stream_recorder *recorder;
    struct c2_error err;
    if (argc < 5 || argc > 4 + (int)THREADS)
        fail("usage: threads_of RECORDING OUT BARRIER TURN...");
    FILE *from = fopen(argv[1], "rb"), *to = fopen(argv[2], "wb");
    if (!from || !to || stream_recording_open(&recording, from, argv[1], &err) != C2_OK)
        fail("no recording");
    maker.blocks = stream_recording_blocks(recording);
    maker.barrier = strtoull(argv[3], NULL, 16);
    maker.out.tid = 1;
    maker.started[1] = true;
    for (int i = 4; i < argc; i++)
        maker.turns[maker.turn_count++] = strtoull(argv[i], NULL, 16);
    if (stream_recorder_create(&recorder, to, argv[2], maker.blocks, facts, copy_facts(facts, recording, first),
                               &err) != C2_OK)
        fail(err.text);
    maker.to = stream_recorder_sink(recorder);
    if (stream_recording_play(recording, (struct stream_sink){&maker, consume, NULL}, &err) != C2_OK)
        fail(err.text);
    if (stream_recorder_finish(recorder, facts, copy_facts(facts, recording, last), &err) != C2_OK)
        fail(err.text);
    stream_recorder_destroy(recorder);
    stream_recording_close(recording);
    return fclose(to) == 0 ? 0 : 1;
}
