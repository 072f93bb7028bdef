/* SPDX-License-Identifier: GPL-2.0-or-later
 * Recordings: what comes back is what went in, beside a twin that keeps every word; the bytes of a small one; pipes;
 * failing allocations; what is left of a recording whose writer is killed or whose disk is full. */
#include "stream_twin.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

/* ------------------------------------------------------------------ the twin */

static void assert_same_blocks(const struct stream_blocks *a, const struct stream_blocks *b)
{
    assert_int_equal(stream_blocks_count(a), stream_blocks_count(b));
    for (uint32_t n = 0; n < stream_blocks_count(a); n++) {
        const struct stream_block *x = stream_blocks_at(a, n), *y = stream_blocks_at(b, n);
        assert_int_equal(x->pc.v, y->pc.v);
        assert_int_equal(x->bytes, y->bytes);
        assert_int_equal(x->insn_count, y->insn_count);
        assert_int_equal(x->slot_count, y->slot_count);
        assert_int_equal(x->ending, y->ending);
        for (uint32_t i = 0; i < x->insn_count; i++) {
            assert_int_equal(x->insns[i].offset, y->insns[i].offset);
            assert_int_equal(x->insns[i].first_slot, y->insns[i].first_slot);
            assert_int_equal(x->insns[i].length, y->insns[i].length);
            assert_int_equal(x->insns[i].flops, y->insns[i].flops);
        }
        if (x->slot_count != 0)
            assert_memory_equal(x->slots, y->slots, x->slot_count * sizeof *x->slots);
    }
}

static void test_random_streams_come_back(void **state)
{
    (void)state;
    static const char *const seeds[] = {"a", "b", "c", "d", "e", "f"};
    for (unsigned i = 0; i < 6; i++) {
        struct recorded recorded;
        struct stream_recording *recording;
        record_random(&recorded, seeds[i], i * i * 50, NULL, 0);
        FILE *from = fmemopen(recorded.bytes, recorded.count, "rb");
        assert_int_equal(C2_OK, stream_recording_open(&recording, from, "memory", NULL));
        for (unsigned times = 0; times < 3; times++) {
            assert_int_equal(C2_OK, play_against(recording, &recorded.twin, NULL));
            assert_same_blocks(stream_recording_blocks(recording), recorded.blocks);
        }
        stream_recording_close(recording);
        fclose(from);
        release_recorded(&recorded);
    }
}

/* Threads that take turns, with nothing between the turns that would not have been expected. */
static void test_threads_take_turns(void **state)
{
    (void)state;
    const struct stream_insn insn = {.length = 1};
    const struct stream_block block = {.pc = {0x1000}, .bytes = 1, .insn_count = 1, .insns = &insn};
    struct recorded recorded = {.blocks = NULL};
    struct stream_batch *batch = calloc(1, sizeof *batch);
    struct stream_recorder *recorder;
    struct stream_recording *recording;
    uint32_t number;
    FILE *to = open_memstream(&recorded.bytes, &recorded.count);
    assert_int_equal(C2_OK, stream_blocks_create(&recorded.blocks, NULL));
    assert_int_equal(C2_OK, stream_blocks_add(&number, recorded.blocks, &block, NULL));
    assert_int_equal(C2_OK, stream_recorder_create(&recorder, to, "memory", recorded.blocks, NULL, 0, NULL));
    const struct stream_sink sink = stream_recorder_sink(recorder);
    for (uint32_t i = 0; i < 200000; i++) {
        batch->tid = 1 + i % 3;
        batch->used = i % 2; /* some have nothing to do */
        batch->words[0] = stream_header(0, 1, 0);
        twin_write(&recorded.twin, batch, NULL);
        assert_int_equal(C2_OK, sink.consume(sink.self, batch, NULL));
    }
    assert_int_equal(C2_OK, stream_recorder_finish(recorder, NULL, 0, NULL));
    stream_recorder_destroy(recorder);
    fclose(to);
    FILE *from = fmemopen(recorded.bytes, recorded.count, "rb");
    assert_int_equal(C2_OK, stream_recording_open(&recording, from, "memory", NULL));
    assert_int_equal(C2_OK, play_against(recording, &recorded.twin, NULL));
    stream_recording_close(recording);
    fclose(from);
    release_recorded(&recorded);
    free(batch);
}

static void test_a_twin_that_differs_shows(void **state)
{
    (void)state;
    struct recorded recorded;
    struct stream_recording *recording;
    record_random(&recorded, "changed", 50, NULL, 0);
    FILE *from = fmemopen(recorded.bytes, recorded.count, "rb");
    assert_int_equal(C2_OK, stream_recording_open(&recording, from, "memory", NULL));
    for (size_t at = 0; at < recorded.twin.count; at += recorded.twin.count / 50) {
        recorded.twin.words[at] ^= 1;
        recorded.twin.at = 0;
        recorded.twin.different = false;
        assert_int_equal(
            C2_OK, stream_recording_play(recording, (struct stream_sink){&recorded.twin, twin_compare, NULL}, NULL));
        assert_true(recorded.twin.different);
        recorded.twin.words[at] ^= 1;
    }
    stream_recording_close(recording);
    fclose(from);
    release_recorded(&recorded);
}

/* ------------------------------------------------------------------ bytes */

/* A loop of one block at 0x401000, addpd (%rax),%xmm0; add $16,%rax; jne: five times round from
 * 0x10000 on, then freed. */
static void record_example(FILE *to)
{
    const struct stream_insn insns[] = {{0, 0, 4, 2}, {4, 1, 4, 0}, {8, 1, 2, 0}};
    const struct stream_slot slot = {.insn = 0, .size = 16, .kind = STREAM_READ};
    const struct stream_block block = {
        .pc = {0x401000}, .bytes = 10, .insn_count = 3, .slot_count = 1, .insns = insns, .slots = &slot};
    const struct stream_fact fact = {"program", "./loop"};
    struct stream_batch *batch = calloc(1, sizeof *batch);
    struct stream_blocks *blocks;
    struct stream_recorder *recorder;
    uint32_t number;
    assert_int_equal(C2_OK, stream_blocks_create(&blocks, NULL));
    assert_int_equal(C2_OK, stream_blocks_add(&number, blocks, &block, NULL));
    assert_int_equal(C2_OK, stream_recorder_create(&recorder, to, "example", blocks, &fact, 1, NULL));
    batch->tid = 1;
    for (uint64_t i = 0; i < 5; i++) {
        batch->words[batch->used++] = stream_header(0, 3, 1);
        batch->words[batch->used++] = 0x10000 + i * 16;
    }
    batch->words[batch->used++] = stream_header(STREAM_MARK, STREAM_FREED, 1);
    batch->words[batch->used++] = 0x10000;
    const struct stream_sink sink = stream_recorder_sink(recorder);
    assert_int_equal(C2_OK, sink.consume(sink.self, batch, NULL));
    assert_int_equal(C2_OK, stream_recorder_finish(recorder, NULL, 0, NULL));
    stream_recorder_destroy(recorder);
    stream_blocks_destroy(blocks);
    free(batch);
}

static uint32_t u32(const void *from)
{
    const uint8_t *bytes = from;
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* The content of the chunk at *at, which goes on to the next, is `check` and these bytes. */
static uint32_t assert_chunk(const char **at, uint32_t check, const uint8_t *expected, size_t count)
{
    uint8_t content[256];
    const uint32_t packed = u32(*at);
    assert_int_equal(ZSTD_decompress(content, sizeof content, *at + 4, packed), count + 4);
    assert_int_equal(u32(content), check);
    assert_memory_equal(content + 4, expected, count);
    *at += packed + 4;
    return u32(*at - 4);
}

static void test_the_bytes_of_a_small_one(void **state)
{
    (void)state;
    static const uint8_t facts[] = {1, 14, 0, 0, 0, 7, 'p', 'r', 'o', 'g', 'r', 'a', 'm', '.', '/', 'l', 'o', 'o', 'p'};
    static const uint8_t stream[] = {
        2,    23,   0,    0,    0,                /* kind; bytes of the first section */
        0x05, 0x80, 0xc0, 0x80, 0x04, 0x0a, 0x03, /* a block: its address, bytes, instructions, */
        0x00, 0x92, 0x08, 0x02, 0x10, 0x08,       /* ending; of 4 bytes with a slot, two operations; of 4; 2 */
        0x00, 0x10,                               /* a read of 16 */
        0x02, 0x00,                               /* block 0, an address that was not expected */
        0x02, 0x00,                               /* the same: what follows the block was not known */
        0x00,                                     /* the block that was expected, at another address */
        0x14, 0x02, 0x01,                         /* two records as expected; then mark 2, of one word */
        0x80, 0x80, 0x08, 0x20, 0x00,             /* 0x10000 more than expected; 16 more; as much again */
        0x80, 0x80, 0x08,                         /* the mark's word, 0x10000 */
    };
    static const uint8_t end[] = {3, 5, 0, 0, 0, 5, 1, 15, 5, 1};
    char *bytes;
    size_t count;
    FILE *to = open_memstream(&bytes, &count);
    record_example(to);
    fclose(to);
    assert_memory_equal(bytes,
                        "\x89"
                        "C2REC\r\n\x05\0\0\0",
                        12);
    const char *at = bytes + 12;
    uint32_t check = assert_chunk(&at, 5, facts, sizeof facts);
    check = assert_chunk(&at, check, stream, sizeof stream);
    assert_chunk(&at, check, end, sizeof end);
    assert_int_equal(at - bytes, count);
    free(bytes);
}

/* ------------------------------------------------------------------ what it takes */

/* A loop over three arrays, 400 times round, again and again: after a few rounds an iteration takes nothing, a round
 * the bytes of its three jumps back. */
static void test_loops_take_next_to_nothing(void **state)
{
    (void)state;
    const struct stream_insn insns[] = {{0, 0, 4, 0}, {4, 1, 4, 2}, {8, 2, 4, 4}};
    const struct stream_slot slots[] = {{0, 8, STREAM_READ, 0}, {1, 8, STREAM_READ, 0}, {2, 8, STREAM_MODIFY, 0}};
    const struct stream_block block = {
        .pc = {0x1000}, .bytes = 12, .insn_count = 3, .slot_count = 3, .insns = insns, .slots = slots};
    struct stream_batch *batch = calloc(1, sizeof *batch);
    struct stream_blocks *blocks;
    struct stream_recorder *recorder;
    char *bytes;
    size_t count;
    uint32_t number;
    FILE *to = open_memstream(&bytes, &count);
    assert_int_equal(C2_OK, stream_blocks_create(&blocks, NULL));
    assert_int_equal(C2_OK, stream_blocks_add(&number, blocks, &block, NULL));
    assert_int_equal(C2_OK, stream_recorder_create(&recorder, to, "loop", blocks, NULL, 0, NULL));
    const struct stream_sink sink = stream_recorder_sink(recorder);
    batch->tid = 1;
    for (uint64_t step = 0; step < 400000; step++) {
        batch->words[batch->used++] = stream_header(0, 3, 3);
        for (uint64_t s = 0; s < 3; s++)
            batch->words[batch->used++] = ((1 + s) << 32) + step % 400 * (s + 1) * 8;
        if (batch->used + 4 <= STREAM_BATCH_WORDS && step + 1 != 400000)
            continue;
        assert_int_equal(C2_OK, sink.consume(sink.self, batch, NULL));
        batch->used = 0;
    }
    assert_int_equal(C2_OK, stream_recorder_finish(recorder, NULL, 0, NULL));
    fclose(to);
    assert_in_range(count, 100, C2_HOST_SIZE(600, 20000)); /* 1.6 million references */
    stream_recorder_destroy(recorder);
    stream_blocks_destroy(blocks);
    free(bytes);
    free(batch);
}

/* ------------------------------------------------------------------ facts */

static void test_facts(void **state)
{
    (void)state;
    char *environment = malloc(300001), name[STREAM_FACT_NAME_BYTES + 1];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (unsigned i = 0; i < 300000; i++)
        environment[i] = (char)('a' + i % 26);
    environment[300000] = '\0';
    const struct stream_fact facts[] = {
        {"program", "./app"}, {"nothing", ""}, {"environment", environment}, {name, "x"}};
    struct recorded recorded;
    struct stream_recording *recording;
    record_random(&recorded, "facts", 3, facts, 4);
    FILE *from = fmemopen(recorded.bytes, recorded.count, "rb");
    assert_int_equal(C2_OK, stream_recording_open(&recording, from, "memory", NULL));
    for (unsigned times = 0; times < 2; times++) {
        for (unsigned i = 0; i < 4; i++)
            assert_string_equal(stream_recording_fact(recording, facts[i].name), facts[i].value);
        assert_null(stream_recording_fact(recording, "seed"));
        assert_int_equal(C2_OK, play_against(recording, &recorded.twin, NULL));
    }
    stream_recording_close(recording);
    fclose(from);
    release_recorded(&recorded);
    free(environment);
}

static void test_too_many_facts_are_refused(void **state)
{
    (void)state;
    const size_t bytes = (size_t)16 << 20;
    struct stream_recorder *recorder;
    struct stream_blocks *blocks;
    struct c2_error err;
    char *text = malloc(bytes + 1);
    FILE *to = fopen("/dev/null", "w");
    memset(text, 'x', bytes);
    text[bytes] = '\0';
    const struct stream_fact fact = {"arguments", text};
    assert_int_equal(C2_OK, stream_blocks_create(&blocks, NULL));
    assert_int_equal(C2_ERR_UNSUPPORTED, stream_recorder_create(&recorder, to, "x", blocks, &fact, 1, &err));
    assert_string_equal(err.text, "what a recording says of its run (arguments, phases) has 16777227 bytes, more "
                                  "than 16777216");
    stream_blocks_destroy(blocks);
    fclose(to);
    free(text);
}

/* ------------------------------------------------------------------ files and pipes */

static void test_a_pipe_can_be_played_once(void **state)
{
    (void)state;
    struct recorded recorded;
    struct stream_recording *recording;
    struct c2_error err;
    int ends[2], status;
    record_random(&recorded, "pipe", 100, NULL, 0);
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        for (size_t done = 0; done < recorded.count;)
            done += (size_t)write(ends[1], recorded.bytes + done,
                                  recorded.count - done < 777 ? recorded.count - done : 777);
        _exit(0);
    }
    close(ends[1]);
    FILE *from = fdopen(ends[0], "rb");
    assert_int_equal(C2_OK, stream_recording_open(&recording, from, "the pipe", NULL));
    assert_int_equal(C2_OK, play_against(recording, &recorded.twin, NULL));
    assert_int_equal(C2_ERR_UNSUPPORTED, play_against(recording, &recorded.twin, &err));
    assert_string_equal(err.text,
                        "the recording the pipe comes from a pipe and can be played once: write it to a file");
    stream_recording_close(recording);
    fclose(from);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    release_recorded(&recorded);
}

/* What the recorder has written, the same process reads. */
static void test_a_file_without_a_name(void **state)
{
    (void)state;
    struct twin twin = {.words = NULL};
    struct stream_recorder *recorder;
    struct stream_recording *recording;
    struct stream_blocks *blocks;
    struct c2_rng rng;
    FILE *file;
    c2_rng_init(&rng, 1, "temporary");
    assert_int_equal(C2_OK, stream_blocks_create(&blocks, NULL));
    assert_int_equal(C2_OK, stream_temporary(&file, NULL));
    assert_int_equal(C2_OK, stream_recorder_create(&recorder, file, "a temporary file", blocks, NULL, 0, NULL));
    draw_stream(&rng, blocks, 30, stream_recorder_sink(recorder), &twin);
    assert_int_equal(C2_OK, stream_recorder_finish(recorder, NULL, 0, NULL));
    stream_recorder_destroy(recorder);
    assert_int_equal(C2_OK, stream_recording_open(&recording, file, "a temporary file", NULL));
    assert_int_equal(C2_OK, play_against(recording, &twin, NULL));
    assert_same_blocks(stream_recording_blocks(recording), blocks);
    stream_recording_close(recording);
    stream_blocks_destroy(blocks);
    fclose(file);
    free(twin.words);
}

static void test_no_directory_is_an_error_that_names_it(void **state)
{
    (void)state;
    FILE *file;
    struct c2_error err;
    setenv("TMPDIR", "/does/not/exist", 1);
    assert_int_equal(C2_ERR_IO, stream_temporary(&file, &err));
    unsetenv("TMPDIR");
    assert_null(file);
    assert_non_null(strstr(err.text, "/does/not/exist/c2emu-"));
    assert_non_null(strstr(err.text, "TMPDIR"));
}

/* The sink's failure is the play's; the next play is a whole one. */
static enum c2_status refuse(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    (void)batch;
    return c2_fail(err, C2_ERR_EXHAUSTED, "no frame is left for %s", (const char *)self);
}

static void test_a_failing_sink(void **state)
{
    (void)state;
    struct recorded recorded;
    struct stream_recording *recording;
    struct c2_error err;
    record_random(&recorded, "sink", 50, NULL, 0);
    FILE *from = fmemopen(recorded.bytes, recorded.count, "rb");
    assert_int_equal(C2_OK, stream_recording_open(&recording, from, "memory", NULL));
    assert_int_equal(C2_ERR_EXHAUSTED,
                     stream_recording_play(recording, (struct stream_sink){"it", refuse, NULL}, &err));
    assert_string_equal(err.text, "no frame is left for it");
    assert_int_equal(C2_OK, play_against(recording, &recorded.twin, NULL));
    stream_recording_close(recording);
    fclose(from);
    release_recorded(&recorded);
}

/* ------------------------------------------------------------------ want of memory */

static enum c2_status record_and_play(FILE *file)
{
    struct twin twin = {.words = NULL};
    struct stream_recorder *recorder = NULL;
    struct stream_recording *recording = NULL;
    struct stream_blocks *blocks;
    struct stream_batch *batch = calloc(1, sizeof *batch);
    const struct stream_fact fact = {"program", "./app"};
    struct c2_rng rng;
    uint64_t step = 0;
    c2_rng_init(&rng, 1, "memory");
    c2_alloc_fail_from(0);
    assert_int_equal(C2_OK, stream_blocks_create(&blocks, NULL));
    for (unsigned i = 0; i < 300; i++)
        draw_block(&rng, blocks);
    do
        draw_batch(&rng, batch, blocks, &step);
    while (batch->used < 300);
    rewind(file);
    static uint64_t allocations;
    c2_alloc_fail_from(++allocations);
    enum c2_status status = stream_recorder_create(&recorder, file, "memory", blocks, &fact, 1, NULL);
    const struct stream_sink sink = stream_recorder_sink(recorder);
    if (status == C2_OK)
        status = sink.consume(sink.self, batch, NULL);
    if (status == C2_OK)
        status = stream_recorder_finish(recorder, NULL, 0, NULL);
    if (status == C2_OK)
        status = stream_recording_open(&recording, file, "memory", NULL);
    twin_write(&twin, batch, NULL);
    if (status == C2_OK)
        status = play_against(recording, &twin, NULL);
    c2_alloc_fail_from(0);
    stream_recorder_destroy(recorder);
    stream_recording_close(recording);
    stream_blocks_destroy(blocks);
    free(twin.words);
    free(batch);
    return status;
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    FILE *file;
    unsigned failures = 0;
    enum c2_status status;
    assert_int_equal(C2_OK, stream_temporary(&file, NULL));
    while ((status = record_and_play(file)) != C2_OK) {
        assert_int_equal(status, C2_ERR_NO_MEMORY);
        failures++;
    }
    assert_true(failures > 20);
    fclose(file);
}

/* ------------------------------------------------------------------ half a recording is none */

static char folder[64];

static const char *in_folder(void)
{
    static char path[sizeof folder + 16];
    snprintf(path, sizeof path, "%s/run", folder);
    return path;
}

static int set_up_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/c2emu-recording-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    FILE *old = fopen(in_folder(), "w");
    fputs("old", old);
    return fclose(old);
}

static int tear_down_folder(void **state)
{
    (void)state;
    remove(in_folder());
    return rmdir(folder); /* fails where something was left behind */
}

static void assert_old_file_alone(void)
{
    char text[8] = "";
    unsigned entries = 0;
    FILE *file = fopen(in_folder(), "r");
    assert_int_equal(fread(text, 1, sizeof text, file), 3);
    assert_string_equal(text, "old");
    fclose(file);
    DIR *open_folder = opendir(folder);
    while (readdir(open_folder))
        entries++;
    closedir(open_folder);
    assert_int_equal(entries, 3); /* with . and .. */
}

/* Records random streams until something fails; whole: writes it all. */
static enum c2_status record_into_folder(const char *path, unsigned batches, bool killed, struct c2_error *err)
{
    struct c2_outfile *file;
    struct stream_recorder *recorder;
    struct stream_blocks *blocks;
    struct stream_batch *batch = calloc(1, sizeof *batch);
    struct c2_rng rng;
    uint64_t step = 0;
    c2_rng_init(&rng, 1, "folder");
    assert_int_equal(C2_OK, stream_blocks_create(&blocks, NULL));
    for (unsigned i = 0; i < 100; i++)
        draw_block(&rng, blocks);
    assert_int_equal(C2_OK, c2_outfile_open(&file, path, NULL));
    enum c2_status status = stream_recorder_create(&recorder, c2_outfile_stream(file), path, blocks, NULL, 0, err);
    const struct stream_sink sink = stream_recorder_sink(recorder);
    for (unsigned i = 0; i < batches && status == C2_OK; i++) {
        draw_batch(&rng, batch, blocks, &step);
        status = sink.consume(sink.self, batch, err);
    }
    if (killed)
        raise(SIGKILL);
    if (status == C2_OK)
        status = stream_recorder_finish(recorder, NULL, 0, err);
    stream_recorder_destroy(recorder);
    stream_blocks_destroy(blocks);
    free(batch);
    if (status == C2_OK)
        return c2_outfile_commit(file, err);
    c2_outfile_abandon(file);
    return status;
}

static int status_of_child(void (*body)(void))
{
    int status;
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        body();
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void be_killed(void) { record_into_folder(in_folder(), 1000, true, NULL); }

static void test_a_killed_recorder_leaves_nothing(void **state)
{
    (void)state;
    const int status = status_of_child(be_killed);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_old_file_alone();
}

static void exceed_the_limit(void)
{
    struct rlimit limit = {100000, 100000};
    struct c2_error err = {.text = ""};
    char expected[256];
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    snprintf(expected, sizeof expected, "cannot write the recording %s: File too large", in_folder());
    if (record_into_folder(in_folder(), 1000, false, &err) == C2_ERR_IO && strcmp(err.text, expected) == 0)
        _exit(0);
}

/* A limit on the size of files fails as a full disk does. */
static void test_a_full_disk_leaves_the_old_recording(void **state)
{
    (void)state;
    struct c2_error err;
    assert_int_equal(status_of_child(exceed_the_limit), 0);
    assert_old_file_alone();
    assert_int_equal(C2_ERR_IO, record_into_folder("/dev/full", 1000, false, &err));
    assert_string_equal(err.text, "cannot write the recording /dev/full: No space left on device");
}

static void test_a_whole_one_replaces_the_old(void **state)
{
    (void)state;
    struct stream_recording *recording;
    struct twin twin = {.words = NULL};
    assert_int_equal(C2_OK, record_into_folder(in_folder(), 20, false, NULL));
    FILE *from = fopen(in_folder(), "rb");
    assert_int_equal(C2_OK, stream_recording_open(&recording, from, in_folder(), NULL));
    assert_int_equal(C2_OK, stream_recording_play(recording, (struct stream_sink){&twin, twin_write, NULL}, NULL));
    assert_true(twin.count > 1000);
    stream_recording_close(recording);
    fclose(from);
    free(twin.words);
}

/* ------------------------------------------------------------------ for the reader in stream_reader.py */

static int record_for_another_reader(const char *path)
{
    struct recorded recorded;
    const struct stream_fact fact = {"program", "./app"};
    uint64_t digest = 0;
    record_random(&recorded, "reader", C2_HOST_SIZE(150, 1000), &fact, 1);
    FILE *to = fopen(path, "wb");
    if (!to || fwrite(recorded.bytes, 1, recorded.count, to) != recorded.count || fclose(to) != 0)
        return 1;
    for (size_t i = 0; i < recorded.twin.count; i++)
        digest = (digest ^ recorded.twin.words[i]) * UINT64_C(0x100000001b3);
    for (uint32_t n = 0; n < stream_blocks_count(recorded.blocks); n++)
        for (uint32_t i = 0; i < stream_blocks_at(recorded.blocks, n)->insn_count; i++)
            digest = (digest ^ stream_blocks_at(recorded.blocks, n)->insns[i].flops) * UINT64_C(0x100000001b3);
    printf("%016llx\n", (unsigned long long)digest);
    release_recorded(&recorded);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2)
        return record_for_another_reader(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_streams_come_back),
        cmocka_unit_test(test_threads_take_turns),
        cmocka_unit_test(test_a_twin_that_differs_shows),
        cmocka_unit_test(test_the_bytes_of_a_small_one),
        cmocka_unit_test(test_loops_take_next_to_nothing),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_too_many_facts_are_refused),
        cmocka_unit_test(test_a_pipe_can_be_played_once),
        cmocka_unit_test(test_a_file_without_a_name),
        cmocka_unit_test(test_no_directory_is_an_error_that_names_it),
        cmocka_unit_test(test_a_failing_sink),
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test_setup_teardown(test_a_killed_recorder_leaves_nothing, set_up_folder, tear_down_folder),
        cmocka_unit_test_setup_teardown(test_a_full_disk_leaves_the_old_recording, set_up_folder, tear_down_folder),
        cmocka_unit_test_setup_teardown(test_a_whole_one_replaces_the_old, set_up_folder, tear_down_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
