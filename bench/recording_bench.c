/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * recording_bench FILE [TIMES]: what a recording takes, and what writing and reading it costs.
 *
 * Plays the recording TIMES times (3) and writes all of it again, to /dev/null. Batch by batch the clock is read, so
 * that the two costs are known apart; the lowest of each is printed. Where the recording came through a pipe, it could
 * not be played again: name a file.
 */
#include <stdlib.h>
#include <time.h>

#include "stream/stream.h"

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

struct copier {
    const struct stream_blocks *blocks;
    struct stream_sink recorder;
    double writing; /* seconds */
    uint64_t words, references;
};

static void fail(const struct c2_error *err)
{
    fprintf(stderr, "recording_bench: %s\n", err->text);
    exit(1);
}

/* Addresses, a modification's once, a string instruction's four words not at all: what there is to be written. */
static uint64_t references_in(const struct copier *copier, const struct stream_batch *batch)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < batch->used; i += stream_header_slots(batch->words[i]) + 1) {
        const uint32_t number = stream_header_block(batch->words[i]);
        if (number == STREAM_MARK)
            continue;
        const struct stream_block *block = stream_blocks_at(copier->blocks, number);
        const uint32_t slots = stream_header_slots(batch->words[i]);
        count += slots != 0 && block->slots[0].kind < STREAM_SOURCE ? slots : 0;
    }
    return count;
}

static enum c2_status copy(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct copier *copier = self;
    const double before = now();
    enum c2_status status = copier->recorder.consume(copier->recorder.self, batch, err);
    copier->writing += now() - before;
    copier->words += batch->used;
    copier->references += references_in(copier, batch);
    return status;
}

static enum c2_status ignore(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    (void)self, (void)batch, (void)err;
    return C2_OK;
}

static double read_once(struct stream_recording *recording)
{
    struct c2_error err;
    const double before = now();
    if (stream_recording_play(recording, (struct stream_sink){NULL, ignore, NULL}, &err) != C2_OK)
        fail(&err);
    return now() - before;
}

static void copy_once(struct copier *copier, struct stream_recording *recording)
{
    struct stream_recorder *recorder;
    struct c2_error err;
    FILE *to = fopen("/dev/null", "w");
    *copier = (struct copier){.blocks = stream_recording_blocks(recording)};
    if (!to || stream_recorder_create(&recorder, to, "/dev/null", copier->blocks, NULL, 0, &err) != C2_OK)
        fail(&err);
    copier->recorder = stream_recorder_sink(recorder);
    if (stream_recording_play(recording, (struct stream_sink){copier, copy, NULL}, &err) != C2_OK ||
        stream_recorder_finish(recorder, NULL, 0, &err) != C2_OK)
        fail(&err);
    stream_recorder_destroy(recorder);
    fclose(to);
}

int main(int argc, char **argv)
{
    struct stream_recording *recording;
    struct copier copier;
    struct c2_error err;
    double reading = 1e9, writing = 1e9;
    FILE *from = argc < 2 ? NULL : fopen(argv[1], "rb");
    if (!from)
        return fprintf(stderr, "usage: recording_bench FILE [TIMES]\n"), 1;
    if (stream_recording_open(&recording, from, argv[1], &err) != C2_OK)
        fail(&err);
    for (int i = 0; i < (argc < 3 ? 3 : atoi(argv[2])); i++) {
        const double once = read_once(recording);
        copy_once(&copier, recording);
        reading = once < reading ? once : reading;
        writing = copier.writing < writing ? copier.writing : writing;
    }
    fseek(from, 0, SEEK_END);
    const double bytes = (double)ftell(from), words = (double)copier.words, references = (double)copier.references;
    printf("%.0f references, %.0f words, %.0f bytes: %.3f bytes a reference\n", references, words, bytes,
           bytes / references);
    printf("write %.2f ns a reference, %.2f a word; read %.2f a reference, %.2f a word\n", writing * 1e9 / references,
           writing * 1e9 / words, reading * 1e9 / references, reading * 1e9 / words);
    stream_recording_close(recording);
    fclose(from);
    return 0;
}
