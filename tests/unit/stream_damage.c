/* SPDX-License-Identifier: GPL-2.0-or-later
 * Recordings that are damaged, cut, put together from others, or made up: whatever the bytes, the reader says so or
 * gives what was recorded, and nothing else; of those whose checksums are right, what it gives obeys stream.h.
 *
 * C2_FUZZ_INPUTS is how many inputs the random tests make, 10,000 in all where it is not set; a million, made by hand,
 * showed nothing more. */
#include "stream_twin.h"

#include <zstd.h>

#define START_BYTES 12u
#define CHUNKS_MAX 1000u

static unsigned fuzz_inputs(unsigned share)
{
    const char *wanted = getenv("C2_FUZZ_INPUTS");
    return (unsigned)((wanted ? strtoul(wanted, NULL, 10) : 10000) / share);
}

static const struct stream_fact facts[] = {{"program", "./app"}, {"arguments", "1 2 3"}};

static void record_with_facts(struct recorded *recorded, const char *seed, uint32_t batches)
{
    record_random(recorded, seed, batches, facts, 2);
}

/* Opens and plays bytes; C2_OK only if they are the recording of the twin. */
static enum c2_status read_bytes(const char *bytes, size_t count, struct twin *twin, struct c2_error *err)
{
    struct stream_recording *recording;
    FILE *from = count == 0 ? fopen("/dev/null", "rb") : fmemopen((void *)bytes, count, "rb");
    assert_non_null(from);
    enum c2_status status = stream_recording_open(&recording, from, "FILE", err);
    assert_true((status == C2_OK) == !!recording);
    if (status == C2_OK)
        status = play_against(recording, twin, err);
    stream_recording_close(recording);
    fclose(from);
    return status;
}

/* ------------------------------------------------------------------ what is said */

static void assert_refused(const char *bytes, size_t count, enum c2_status expected, const char *text)
{
    struct twin twin = {.words = NULL};
    struct c2_error err;
    assert_int_equal(read_bytes(bytes, count, &twin, &err), expected);
    assert_string_equal(err.text, text);
}

static void test_other_files_are_refused(void **state)
{
    (void)state;
    static const char elf[] = "\x7f"
                              "ELF and more, and more, and more";
    static const char old[] = "\x89"
                              "C2REC\r\n\x07\0\0\0";
    static const char as_text[] = "\x89"
                                  "C2REC\n\x01\0\0\0";
    const char *none =
        "FILE is no recording of a run: its first bytes are other ones; name a file that was recorded by "
        "c2emu";
    assert_refused(elf, sizeof elf, C2_ERR_FORMAT, none);
    assert_refused(elf, 5, C2_ERR_FORMAT, none);
    assert_refused(as_text, sizeof as_text - 1, C2_ERR_FORMAT, none);
    assert_refused(
        old, sizeof old - 1, C2_ERR_UNSUPPORTED,
        "the recording FILE has format 7, and this c2emu knows format 5: use the c2emu that wrote it, or record "
        "the run again with this one");
    assert_refused(
        old, 0, C2_ERR_FORMAT,
        "the recording FILE ends at byte 0, before its end: it was cut, or its writer was stopped; record the "
        "run again");
    assert_refused(
        old, 10, C2_ERR_FORMAT,
        "the recording FILE ends at byte 10, before its end: it was cut, or its writer was stopped; record the "
        "run again");
}

static void test_a_folder_is_an_error_of_reading(void **state)
{
    (void)state;
    struct stream_recording *recording;
    struct c2_error err;
    FILE *from = fopen("/tmp", "rb");
    assert_int_equal(C2_ERR_IO, stream_recording_open(&recording, from, "/tmp", &err));
    assert_string_equal(err.text, "cannot read the recording /tmp: Is a directory");
    fclose(from);
}

/* ------------------------------------------------------------------ cuts and flips */

static size_t chunk_at(const char *bytes, size_t at) /* of the next chunk */
{
    const uint8_t *length = (const uint8_t *)bytes + at;
    return at + 4 + (length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16 | (size_t)length[3] << 24);
}

/* Every byte up to the first records, every percent, and the last bytes; each says where it ends. */
static void test_cut_recordings_are_refused(void **state)
{
    (void)state;
    struct recorded recorded;
    struct c2_error err;
    char expected[80];
    record_with_facts(&recorded, "cut", 100);
    size_t first = START_BYTES;
    for (unsigned chunks = 0; chunks < 2; chunks++)
        first = chunk_at(recorded.bytes, first);
    for (size_t cut = 0; cut < recorded.count;) {
        assert_int_equal(C2_ERR_FORMAT, read_bytes(recorded.bytes, cut, &recorded.twin, &err));
        snprintf(expected, sizeof expected, "the recording FILE ends at byte %zu, before its end", cut);
        assert_memory_equal(err.text, expected, strlen(expected));
        cut += cut < first + 40 || cut + 40 > recorded.count ? 1 : recorded.count / 100;
    }
    assert_int_equal(C2_OK, read_bytes(recorded.bytes, recorded.count, &recorded.twin, &err));
    release_recorded(&recorded);
}

static void test_something_behind_the_end_is_refused(void **state)
{
    (void)state;
    struct recorded recorded;
    struct c2_error err;
    record_with_facts(&recorded, "behind", 10);
    char *longer = calloc(1, recorded.count + 1);
    memcpy(longer, recorded.bytes, recorded.count);
    assert_int_equal(C2_ERR_FORMAT, read_bytes(longer, recorded.count + 1, &recorded.twin, &err));
    assert_non_null(strstr(err.text, ": something comes behind its end, in the part that begins at byte "));
    free(longer);
    release_recorded(&recorded);
}

/* Each bit of a small recording is wrong once. A few say nothing (a spare bit of a frame's head, say): what comes back
 * then is what was recorded. All others are errors. */
static void test_every_flipped_bit_shows(void **state)
{
    (void)state;
    struct recorded recorded;
    struct c2_error err;
    record_with_facts(&recorded, "flip", 1);
    assert_in_range(recorded.count, 100, 4000);
    unsigned harmless = 0;
    for (size_t bit = 0; bit < recorded.count * 8; bit++) {
        recorded.bytes[bit / 8] ^= (char)(1u << bit % 8);
        harmless += read_bytes(recorded.bytes, recorded.count, &recorded.twin, &err) == C2_OK;
        recorded.bytes[bit / 8] ^= (char)(1u << bit % 8);
    }
    assert_in_range(harmless, 0, recorded.count * 8 / 500);
    assert_int_equal(C2_OK, read_bytes(recorded.bytes, recorded.count, &recorded.twin, &err));
    release_recorded(&recorded);
}

/* ------------------------------------------------------------------ chunks in other places */

/* The recording's chunks but for one, or with one twice, or with two exchanged. */
static size_t rearrange(char *out, const struct recorded *from, struct c2_rng *rng)
{
    size_t starts[CHUNKS_MAX + 1], count = 0, used = START_BYTES;
    for (size_t at = START_BYTES; at <= from->count && count < CHUNKS_MAX; at = chunk_at(from->bytes, at)) {
        starts[count] = at;
        if (at == from->count)
            break;
        count++;
    }
    const size_t a = c2_rng_below(rng, count), b = c2_rng_below(rng, count - 1);
    const unsigned way = (unsigned)c2_rng_below(rng, 3);
    memcpy(out, from->bytes, START_BYTES);
    for (size_t i = 0; i < count; i++) {
        size_t chunk = way == 2 && i == b ? b + 1 : way == 2 && i == b + 1 ? b : i;
        for (unsigned times = i != a || way == 2 ? 1 : way == 0 ? 0 : 2; times != 0; times--) {
            memcpy(out + used, from->bytes + starts[chunk], starts[chunk + 1] - starts[chunk]);
            used += starts[chunk + 1] - starts[chunk];
        }
    }
    return used;
}

static void test_chunks_in_other_places_show(void **state)
{
    (void)state;
    struct recorded recorded;
    struct c2_rng rng;
    struct c2_error err;
    c2_rng_init(&rng, 1, "rearrange");
    record_with_facts(&recorded, "rearrange", C2_HOST_SIZE(400, 20));
    assert_true(chunk_at(recorded.bytes, chunk_at(recorded.bytes, START_BYTES)) < recorded.count);
    char *other = malloc(recorded.count * 2);
    for (unsigned i = fuzz_inputs(100); i != 0; i--) {
        const size_t count = rearrange(other, &recorded, &rng);
        assert_int_not_equal(C2_OK, read_bytes(other, count, &recorded.twin, &err));
    }
    free(other);
    release_recorded(&recorded);
}

/* ------------------------------------------------------------------ random damage */

/* Changes, removes or repeats a piece, or puts one of another recording there; returns the new length. */
static size_t damage(struct c2_rng *rng, char *bytes, size_t count, const struct recorded *other)
{
    const size_t at = c2_rng_below(rng, count), length = 1 + c2_rng_below(rng, 1 + c2_rng_below(rng, count - at));
    const size_t from = c2_rng_below(rng, other->count), most = other->count - from;
    switch (c2_rng_below(rng, 4)) {
    case 0:
        bytes[at] ^= (char)(1u << c2_rng_below(rng, 8));
        return count;
    case 1:
        memmove(bytes + at, bytes + at + length - 1, count - at - length + 1);
        return count - length + 1;
    case 2:
        memmove(bytes + at + length, bytes + at, count - at);
        return count + length;
    default:
        memcpy(bytes + at, other->bytes + from, length < most ? length : most);
        return count;
    }
}

static void test_random_damage_shows(void **state)
{
    (void)state;
    struct recorded recorded, other;
    struct c2_rng rng;
    struct c2_error err;
    unsigned harmless = 0;
    c2_rng_init(&rng, 1, "damage");
    record_with_facts(&recorded, "damage", 4);
    record_with_facts(&other, "another", 4);
    char *bytes = malloc(recorded.count * 16);
    for (unsigned i = fuzz_inputs(2); i != 0; i--) {
        size_t count = recorded.count;
        memcpy(bytes, recorded.bytes, count);
        for (uint64_t n = 1 + c2_rng_below(&rng, 3); n != 0; n--)
            count = damage(&rng, bytes, count, &other);
        const bool changed = count != recorded.count || memcmp(bytes, recorded.bytes, count) != 0;
        const bool fine = read_bytes(bytes, count, &recorded.twin, &err) == C2_OK;
        assert_true(changed || fine);
        harmless += changed && fine;
    }
    assert_in_range(harmless, 0, fuzz_inputs(2) / 100);
    free(bytes);
    release_recorded(&recorded);
    release_recorded(&other);
}

/* ------------------------------------------------------------------ made-up recordings, whose checksums are right */

/* The contents of a recording's chunks, to be changed and put together again. */
struct contents {
    uint8_t *content[CHUNKS_MAX];
    size_t bytes[CHUNKS_MAX], count;
};

static void unpack(struct contents *out, const struct recorded *from)
{
    out->count = 0;
    for (size_t at = START_BYTES; at < from->count; at = chunk_at(from->bytes, at)) {
        const size_t packed = chunk_at(from->bytes, at) - at - 4, i = out->count++;
        const size_t bytes = (size_t)ZSTD_getFrameContentSize(from->bytes + at + 4, packed);
        assert_true(i < CHUNKS_MAX);
        out->content[i] = malloc(bytes);
        out->bytes[i] = ZSTD_decompress(out->content[i], bytes, from->bytes + at + 4, packed);
        assert_int_equal(out->bytes[i], bytes);
    }
}

static void put_u32(void *to, size_t n)
{
    const uint8_t bytes[4] = {(uint8_t)n, (uint8_t)(n >> 8), (uint8_t)(n >> 16), (uint8_t)(n >> 24)};
    memcpy(to, bytes, 4);
}

/* With right checksums and lengths. */
static size_t pack(char *out, size_t room, struct contents *contents)
{
    static ZSTD_CCtx *compressor;
    size_t used = START_BYTES;
    if (!compressor)
        compressor = ZSTD_createCCtx();
    memcpy(out,
           "\x89"
           "C2REC\r\n\x05\0\0\0",
           START_BYTES);
    ZSTD_CCtx_setParameter(compressor, ZSTD_c_compressionLevel, -5);
    ZSTD_CCtx_setParameter(compressor, ZSTD_c_checksumFlag, 1);
    for (size_t i = 0; i < contents->count; i++) {
        memcpy(contents->content[i], i == 0 ? out + START_BYTES - 4 : out + used - 4, 4);
        const size_t packed = ZSTD_compress2(compressor, out + used + 4, room - used - 4, contents->content[i],
                                             contents->bytes[i]);
        assert_false(ZSTD_isError(packed));
        put_u32(out + used, packed);
        used += 4 + packed;
    }
    return used;
}

static void release_contents(struct contents *contents)
{
    for (size_t i = 0; i < contents->count; i++)
        free(contents->content[i]);
}

/* Some bytes of the chunk, or its first ones, become others. */
static void make_up(struct c2_rng *rng, struct contents *contents)
{
    const size_t i = c2_rng_below(rng, contents->count), bytes = contents->bytes[i];
    const size_t first = c2_rng_below(rng, 4) == 0 ? 4 : 9, most = c2_rng_below(rng, 2) == 0 ? 16 : bytes;
    if (bytes <= first)
        return;
    for (uint64_t n = 1 + c2_rng_below(rng, 4); n != 0; n--) {
        const size_t span = bytes - first < most ? bytes - first : most;
        uint8_t *at = contents->content[i] + first + c2_rng_below(rng, span);
        *at = c2_rng_below(rng, 2) == 0 ? *at ^ (uint8_t)(1u << c2_rng_below(rng, 8)) : (uint8_t)c2_rng_next(rng);
    }
}

/* Whether the made-up bytes are a recording. */
static bool is_recording(const char *bytes, size_t count)
{
    struct stream_recording *recording;
    struct c2_error err;
    FILE *from = fmemopen((void *)bytes, count, "rb");
    enum c2_status status = stream_recording_open(&recording, from, "FILE", &err);
    if (status == C2_OK) {
        struct rules rules = {stream_recording_blocks(recording), 0};
        status = stream_recording_play(recording, (struct stream_sink){&rules, check_batch, NULL}, &err);
        check_blocks(rules.blocks);
        assert_true(rules.words <= ((uint64_t)1 << 21) * (count / 30));
    }
    assert_true(status == C2_OK || status == C2_ERR_FORMAT);
    stream_recording_close(recording);
    fclose(from);
    return status == C2_OK;
}

static void test_made_up_recordings_obey_the_rules(void **state)
{
    (void)state;
    struct recorded recorded;
    struct contents contents;
    struct c2_rng rng;
    unsigned whole = 0, inputs = fuzz_inputs(2);
    c2_rng_init(&rng, 1, "make up");
    record_with_facts(&recorded, "make up", 6);
    const size_t room = recorded.count * 2 + 4096;
    char *bytes = malloc(room);
    unpack(&contents, &recorded);
    assert_true(is_recording(bytes, pack(bytes, room, &contents)));
    for (unsigned i = 0; i < inputs; i++) {
        make_up(&rng, &contents);
        whole += is_recording(bytes, pack(bytes, room, &contents));
        release_contents(&contents);
        unpack(&contents, &recorded);
    }
    assert_in_range(whole, inputs / 100, inputs / 2); /* other addresses, say, are as good */
    release_contents(&contents);
    free(bytes);
    release_recorded(&recorded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_files_are_refused),    cmocka_unit_test(test_a_folder_is_an_error_of_reading),
        cmocka_unit_test(test_cut_recordings_are_refused), cmocka_unit_test(test_something_behind_the_end_is_refused),
        cmocka_unit_test(test_every_flipped_bit_shows),    cmocka_unit_test(test_chunks_in_other_places_show),
        cmocka_unit_test(test_random_damage_shows),        cmocka_unit_test(test_made_up_recordings_obey_the_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
