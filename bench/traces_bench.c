/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * traces_bench FILE [TIMES]: how fast a trace of another tool is read.
 *
 * Reads the trace TIMES times (3) and drops what comes of it; the lowest is printed, as processor time of this thread,
 * so that a busy host changes little. FILE may be packed. Fetches count as references.
 */
#include <stdlib.h>
#include <time.h>

#include "stream/stream.h"

struct counter {
    uint64_t references;
};

static double processor_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void fail(const char *name, const struct c2_error *err)
{
    fprintf(stderr, "traces_bench: %s: %s\n", name, err->text);
    exit(1);
}

static enum c2_status count(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct counter *counter = self;
    (void)err;
    for (uint32_t i = 0; i < batch->used; i += stream_header_slots(batch->words[i]) + 1)
        if (stream_header_block(batch->words[i]) != STREAM_MARK)
            counter->references += stream_header_slots(batch->words[i]);
    return C2_OK;
}

static double read_once(const char *name, uint64_t *references)
{
    struct counter counter = {0};
    struct stream_trace *trace;
    struct c2_error err = {0};
    FILE *file = fopen(name, "rb"), *content;
    if (!file)
        return fprintf(stderr, "traces_bench: cannot open %s\n", name), exit(1), 0;
    const double before = processor_time();
    if (c2_unpack(&content, file, &err) != C2_OK ||
        stream_trace_open(&trace, content, name, stream_trace_form_of(name), &err) != C2_OK ||
        stream_trace_play(trace, (struct stream_sink){&counter, count, NULL}, &err) != C2_OK)
        fail(name, &err);
    const double taken = processor_time() - before;
    *references = counter.references + stream_trace_instructions(trace);
    stream_trace_close(trace);
    fclose(content);
    fclose(file);
    return taken;
}

int main(int argc, char **argv)
{
    uint64_t references = 0;
    double least = 1e9;
    if (argc < 2)
        return fprintf(stderr, "usage: traces_bench FILE [TIMES]\n"), 1;
    for (int i = 0; i < (argc < 3 ? 3 : atoi(argv[2])); i++) {
        const double once = read_once(argv[1], &references);
        least = once < least ? once : least;
    }
    printf("%.0f references, %.2f ns each: %.1f M/s\n", (double)references, least * 1e9 / (double)references,
           (double)references / least * 1e-6);
    return 0;
}
