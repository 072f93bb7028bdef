/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * replay_fuzz MACHINE.ini FILE INPUTS SEED: changed recordings, with checksums that are right, and
 * traces, go through reader, replica, caches and analyses: no crash, no hang. Whatever is refused is refused with a
 * reason.
 *
 * Each input is the recording with some bytes of its chunks' contents changed, removed or repeated, put together again;
 * or the beginning of the trace with some changed.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "lanes/lanes.h"
#include "machine/machine.h"

#define START_BYTES 12u
#define CHUNKS 256u
#define CONTENT_BYTES (192u << 10)
#define SECONDS_EACH 60u /* of an input: hundreds of times what one takes */

struct chunks {
    uint8_t *content[CHUNKS];
    size_t bytes[CHUNKS], count;
    uint8_t start[START_BYTES];
};

static void fail(const char *what)
{
    fprintf(stderr, "replay_fuzz: %s\n", what);
    exit(1);
}

static uint32_t get_u32(const uint8_t *from)
{
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

static void put_u32(uint8_t *to, uint32_t n)
{
    for (unsigned i = 0; i < 4; i++)
        to[i] = (uint8_t)(n >> 8 * i);
}

static void read_chunks(struct chunks *chunks, const char *path)
{
    static uint8_t packed[2 * CONTENT_BYTES];
    uint8_t length[4];
    FILE *from = fopen(path, "rb");
    if (!from || fread(chunks->start, 1, START_BYTES, from) != START_BYTES)
        fail("no recording");
    for (chunks->count = 0; fread(length, 1, 4, from) == 4; chunks->count++) {
        const size_t bytes = get_u32(length);
        uint8_t *content = malloc(CONTENT_BYTES);
        if (chunks->count == CHUNKS || bytes > sizeof packed || fread(packed, 1, bytes, from) != bytes)
            fail("another recording than this is for");
        chunks->content[chunks->count] = content;
        chunks->bytes[chunks->count] = ZSTD_decompress(content, CONTENT_BYTES, packed, bytes);
    }
    fclose(from);
}

/* With right lengths and checksums. */
static size_t put_together(uint8_t *out, size_t room, struct chunks *chunks)
{
    ZSTD_CCtx *compressor = ZSTD_createCCtx();
    size_t at = START_BYTES;
    uint32_t check = get_u32(chunks->start + 8);
    ZSTD_CCtx_setParameter(compressor, ZSTD_c_checksumFlag, 1);
    memcpy(out, chunks->start, START_BYTES);
    for (size_t i = 0; i < chunks->count; i++) {
        put_u32(chunks->content[i], check);
        const size_t bytes = ZSTD_compress2(compressor, out + at + 4, room - at - 4, chunks->content[i],
                                            chunks->bytes[i]);
        put_u32(out + at, (uint32_t)bytes);
        at += bytes + 4;
        check = get_u32(out + at - 4);
    }
    ZSTD_freeCCtx(compressor);
    return at;
}

/* A few bytes: those of numbers are small or have bit 7. */
static void change(struct chunks *chunks, struct c2_rng *rng)
{
    const size_t i = c2_rng_below(rng, chunks->count), bytes = chunks->bytes[i];
    if (bytes <= 9)
        return;
    uint8_t *content = chunks->content[i];
    const size_t at = 9 + c2_rng_below(rng, bytes - 9), length = 1 + c2_rng_below(rng, 8);
    switch (c2_rng_below(rng, 4)) {
    case 0:
        content[at] ^= (uint8_t)(1u << c2_rng_below(rng, 8));
        break;
    case 1:
        content[at] = (uint8_t)c2_rng_next(rng);
        break;
    case 2:
        if (at + 2 * length <= bytes)
            memmove(content + at, content + at + length, length);
        break;
    default:
        put_u32(content + 5, (uint32_t)(get_u32(content + 5) + c2_rng_below(rng, 3) - 1));
    }
}

static struct mmu_config placement_of(const struct caches_machine *machine, struct c2_rng *rng)
{
    static const enum mmu_placement policies[] = {MMU_SEQUENTIAL, MMU_RANDOM, MMU_COLORED, MMU_BUDDY};
    return (struct mmu_config){.physical_bytes = machine->physical_bytes,
                               .placement = policies[c2_rng_below(rng, 4)],
                               .colors = 4,
                               .seed = 1,
                               .huge = (enum mmu_huge)c2_rng_below(rng, MMU_HUGE_ALL + 1)};
}

struct input {
    struct stream_recording *recording;
    struct stream_trace *trace; /* or this */
};

static enum c2_status play(struct input *input, struct lanes *lanes, struct c2_error *err)
{
    const struct stream_sink sink = lanes_sink(lanes, 0);
    enum c2_status status = input->trace ? stream_trace_play(input->trace, sink, err)
                                         : stream_recording_play(input->recording, sink, err);
    return status == C2_OK ? lanes_finish(lanes, err) : status;
}

static enum c2_status open_input(struct input *input, FILE *from, bool trace, struct c2_error *err)
{
    if (trace)
        return stream_trace_open(&input->trace, from, "made up", NULL, err);
    enum c2_status status = stream_recording_open(&input->recording, from, "made up", err);
    if (status == C2_OK)
        stream_recording_distrust(input->recording);
    return status;
}

static enum c2_status simulate(const uint8_t *bytes, size_t count, bool trace, const struct caches_machine *machine,
                               struct c2_rng *rng, struct c2_error *err)
{
    static const char *const all[ANALYSES_KINDS] = {[ANALYSIS_callgraph] = "/dev/null", [ANALYSIS_fifo] = ""};
    struct input input = {NULL, NULL};
    struct lanes *lanes = NULL;
    FILE *from = fmemopen((void *)bytes, count, "rb");
    enum c2_status status = open_input(&input, from, trace, err);
    if (status == C2_OK) {
        const struct lane_config config = {.machine = machine,
                                           .placement = placement_of(machine, rng),
                                           .seed = 1,
                                           .blocks = trace ? stream_trace_blocks(input.trace)
                                                           : stream_recording_blocks(input.recording),
                                           .given = all};
        status = lanes_create(&lanes, &config, 1, err);
    }
    if (status == C2_OK)
        status = play(&input, lanes, err);
    lanes_destroy(lanes);
    stream_recording_close(input.recording);
    stream_trace_close(input.trace);
    fclose(from);
    return status;
}

/* ------------------------------------------------------------------ inputs */

static void restore(struct chunks *to, const struct chunks *from)
{
    for (size_t i = 0; i < from->count; i++)
        memcpy(to->content[i], from->content[i], from->bytes[i]);
}

static void judge(enum c2_status status, const struct c2_error *err, unsigned *played)
{
    if (status == C2_ERR_INTERNAL || (status != C2_OK && err->text[0] == '\0'))
        fail(status == C2_ERR_INTERNAL ? err->text : "an input was refused without a reason");
    *played += status == C2_OK;
}

static uint8_t input_bytes[4u << 20];

static void change_recording(struct chunks *chunks, const struct chunks *clean, const struct caches_machine *machine,
                             struct c2_rng *rng, unsigned *played)
{
    struct c2_error err = {0};
    restore(chunks, clean);
    for (uint64_t n = 1 + c2_rng_below(rng, 3); n != 0; n--)
        change(chunks, rng);
    const size_t count = put_together(input_bytes, sizeof input_bytes, chunks);
    alarm(SECONDS_EACH);
    judge(simulate(input_bytes, count, false, machine, rng, &err), &err, played);
}

#define TRACE_BYTES 3000u

static void change_trace(const uint8_t *clean, size_t count, const struct caches_machine *machine, struct c2_rng *rng,
                         unsigned *played)
{
    static const char usual[] = "0123456789abcdef, \nRWFrwfILSM=xX";
    struct c2_error err = {0};
    memcpy(input_bytes, clean, count);
    for (uint64_t n = 1 + c2_rng_below(rng, 4); n != 0; n--)
        input_bytes[c2_rng_below(rng, count)] = c2_rng_below(rng, 8) == 0
                                                    ? (uint8_t)c2_rng_next(rng)
                                                    : (uint8_t)usual[c2_rng_below(rng, sizeof usual - 1)];
    alarm(SECONDS_EACH);
    judge(simulate(input_bytes, count, true, machine, rng, &err), &err, played);
}

/* How much of a trace's beginning there is; 0: it is a recording. */
static size_t read_trace(uint8_t *out, const char *path)
{
    FILE *from = fopen(path, "rb");
    if (!from)
        fail("no file");
    size_t count = fread(out, 1, TRACE_BYTES, from);
    fclose(from);
    if (count != 0 && out[0] == 0x89)
        return 0;
    while (count != 0 && out[count - 1] != '\n') /* whole lines */
        count--;
    return count;
}

static void make_chunks(struct chunks *chunks, struct chunks *clean, const char *path)
{
    read_chunks(clean, path);
    *chunks = *clean;
    for (size_t i = 0; i < clean->count; i++)
        chunks->content[i] = malloc(CONTENT_BYTES);
}

int main(int argc, char **argv)
{
    static struct chunks clean, chunks;
    static uint8_t trace[TRACE_BYTES];
    struct caches_machine machine;
    struct c2_error err;
    struct c2_rng rng;
    unsigned played = 0;
    if (argc != 5 || machine_read(&machine, argv[1], "", NULL, 0, &err) != C2_OK)
        fail("replay_fuzz MACHINE.ini FILE INPUTS SEED");
    const size_t trace_bytes = read_trace(trace, argv[2]);
    if (trace_bytes == 0)
        make_chunks(&chunks, &clean, argv[2]);
    c2_rng_init(&rng, strtoull(argv[4], NULL, 10), "replay_fuzz");
    const unsigned long inputs = strtoul(argv[3], NULL, 10);
    for (unsigned long i = 0; i < inputs; i++) {
        if (trace_bytes == 0)
            change_recording(&chunks, &clean, &machine, &rng, &played);
        else
            change_trace(trace, trace_bytes, &machine, &rng, &played);
    }
    printf("%lu inputs, %u played\n", inputs, played);
    return 0;
}
