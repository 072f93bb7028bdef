/* SPDX-License-Identifier: GPL-2.0-or-later
 * Slice hashes against published vectors, a slow twin, and what their structure promises.
 *
 * tests/data/slice-testvectors.csv was computed from the published tables (McCalpin TR-2021-03, Slice-Slice-Baby) by
 * an implementation independent of this one; slice-masks.csv holds the published masks. Base sequences are not part
 * of the project: the permutation method is proved with sequences generated from the closed forms, which must give
 * the closed forms back through quite different masks. A reader with the published sequences (one file a function,
 * perm14.txt ...) names their directory in C2_BASE_SEQUENCES and gets the remaining vectors checked as well. */
#include "caches/caches.h"
#include "unit/caches_slices_twin.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define VECTORS_FILE C2_SOURCE_DIR "/tests/data/slice-testvectors.csv"
#define MAX_SEQUENCE 16384

static char directory[64]; /* scratch, removed at the end */

static struct caches_hash *create(const char *name, uint32_t slices)
{
    struct caches_hash *hash;
    struct c2_error err = {0};
    if (caches_hash_create(&hash, name, slices, directory, &err) != C2_OK)
        fail_msg("%s: %s", name, err.text);
    return hash;
}

static uint32_t slice_of(const struct caches_hash *hash, uint64_t address)
{
    return caches_hash_slice(hash, (struct guest_pa){address});
}

/* ------------------------------------------------------------------ vectors */

struct vector {
    char function[24];
    uint64_t address;
    uint32_t slice;
};

static bool next_vector(struct vector *vector, FILE *file)
{
    return fscanf(file, "%23[^,],%" SCNx64 ",%" SCNu32 "\n", vector->function, &vector->address, &vector->slice) == 3;
}

static FILE *open_vectors(void)
{
    char line[64];
    FILE *file = fopen(VECTORS_FILE, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "function_id,phys_addr_hex,slice\n");
    return file;
}

/* Which of our functions computes a function of the vectors, and up to which address bit. */
struct cover {
    const char *function;
    const char *ours;
    uint32_t slices;
    unsigned valid_bit;
    unsigned vectors;
};

/* perm12 has 64 vectors; 9 of them have no bit above 38, to which the closed form is known. */
static const struct cover covers[] = {
    {"lin2", "lin2", 2, 37, 64},
    {"lin4", "lin4", 4, 37, 64},
    {"lin8", "lin8", 8, 37, 64},
    {"lin16", "lin16", 16, 37, 64},
    {"perm16", "lin16", 16, 37, 64},
    {"perm6", "cf6", 6, 38, 64},
    {"lin8-gen11", "lin8-gen11", 8, 38, 64},
    {"perm10", "cf10", 10, 38, 64},
    {"perm12", "cf12", 12, 38, 9},
    {"perm20", "cf20", 20, 37, 64},
    {"perm24", "cf24", 24, 37, 64},
    {"perm40-icx", "cf40", 40, 37, 64},
};
#define COVER_COUNT (sizeof covers / sizeof covers[0])

static void check_cover(const struct cover *cover)
{
    struct caches_hash *hash = create(cover->ours, cover->slices);
    FILE *file = open_vectors();
    struct vector vector;
    unsigned checked = 0;
    assert_int_equal(caches_hash_valid_bit(hash), cover->valid_bit);
    while (next_vector(&vector, file)) {
        if (strcmp(vector.function, cover->function) != 0 || vector.address >> (cover->valid_bit + 1))
            continue;
        if (slice_of(hash, vector.address) != vector.slice)
            fail_msg("%s: slice of 0x%" PRIx64 " is %u, not %u", cover->ours, vector.address,
                     slice_of(hash, vector.address), vector.slice);
        checked++;
    }
    assert_int_equal(checked, cover->vectors);
    fclose(file);
    caches_hash_destroy(hash);
}

static void test_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < COVER_COUNT; i++)
        check_cover(&covers[i]);
}

/* ------------------------------------------------------------------ the twin */

#define RANDOM_ADDRESSES 20000

static uint32_t twin_slice(const char *name, uint32_t slices, uint64_t address)
{
    return strncmp(name, "cf", 2) == 0 ? twin_closed_form(slices, address) : twin_linear(twin_function(name), address);
}

/* Random addresses of 48 bits, few of them multiples of 64: inside the published range and beyond. */
static unsigned count_differences(const struct caches_hash *hash, const char *name, uint64_t flip)
{
    struct c2_rng rng;
    unsigned differences = 0;
    c2_rng_init(&rng, 1, name);
    for (int i = 0; i < RANDOM_ADDRESSES; i++) {
        uint64_t address = c2_rng_next(&rng) >> 16;
        uint32_t slice = slice_of(hash, address ^ flip);
        assert_true(slice < caches_hash_slices(hash));
        differences += slice != twin_slice(name, caches_hash_slices(hash), address);
    }
    return differences;
}

static uint32_t slices_in_name(const char *name)
{
    return (uint32_t)strtoul(name + strcspn(name, "0123456789"), NULL, 10);
}

static void test_every_function_against_the_twin(void **state)
{
    (void)state;
    size_t count;
    const char *const *names = caches_hash_names(&count);
    assert_int_equal(count, 18);
    for (size_t i = 1; i + 1 < count; i++) { /* all but none and modulo */
        struct caches_hash *hash = create(names[i], slices_in_name(names[i]));
        assert_int_equal(count_differences(hash, names[i], 0), 0);
        /* The check can fail: address bit 6 is in every function, alone or through a term. */
        assert_true(count_differences(hash, names[i], 0x40) > 0);
        caches_hash_destroy(hash);
    }
}

/* Every linear function of the table exists under its name, with its slices and its reach. */
static void test_the_table_is_covered(void **state)
{
    (void)state;
    unsigned count, linear = 0;
    const struct twin_function *all = twin_functions(&count);
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(all[i].kind, "linear") != 0 || strcmp(all[i].name, "perm16") == 0)
            continue;
        struct caches_hash *hash = create(all[i].name, all[i].slices);
        assert_int_equal(caches_hash_valid_bit(hash), all[i].valid_bit);
        caches_hash_destroy(hash);
        linear++;
    }
    assert_int_equal(linear, 10);
}

static void test_none_and_modulo(void **state)
{
    (void)state;
    struct caches_hash *none = create("none", 1), *modulo = create("modulo", 7);
    assert_int_equal(slice_of(none, 0xfedcba9876543210), 0);
    assert_int_equal(caches_hash_index_divisor(none), 1);
    assert_int_equal(caches_hash_valid_bit(none), 63);
    for (uint64_t line = 0; line < 1000; line++)
        assert_int_equal(slice_of(modulo, line * 64 + line % 64), line % 7);
    assert_int_equal(slice_of(modulo, 0xfedcba9876543210), 0xfedcba9876543210 / 64 % 7);
    assert_int_equal(caches_hash_slices(modulo), 7);
    assert_int_equal(caches_hash_index_divisor(modulo), 7);
    assert_int_equal(caches_hash_valid_bit(modulo), 63);
    caches_hash_destroy(none);
    caches_hash_destroy(modulo);
    caches_hash_destroy(NULL);
}

/* ------------------------------------------------------------------ what the structure promises */

static const char *const linear_intel[] = {"lin2", "lin4", "lin8", "lin16"};

/* Every 4 KiB page has 32, 16, 8, 4 lines a slice. */
static void test_pages_are_dealt_evenly(void **state)
{
    (void)state;
    for (unsigned f = 0; f < 4; f++) {
        uint32_t slices = 2u << f;
        struct caches_hash *hash = create(linear_intel[f], slices);
        struct c2_rng rng;
        c2_rng_init(&rng, 2, "pages");
        for (int i = 0; i < 1000; i++) {
            uint64_t page = c2_align_down(c2_rng_next(&rng) >> 26, 4096);
            unsigned lines[16] = {0};
            for (unsigned line = 0; line < 64; line++)
                lines[slice_of(hash, page + 64 * line)]++;
            for (uint32_t slice = 0; slice < slices; slice++)
                assert_int_equal(lines[slice], 64 / slices);
        }
        caches_hash_destroy(hash);
    }
}

/* In an aligned 2 MiB page each set of a slice of 2048 sets is used by 16 lines: 8, 4, 2, 1 a slice. So contiguous
 * frames lose no capacity to these functions. */
static void test_sets_of_a_huge_page_are_dealt_evenly(void **state)
{
    (void)state;
    static unsigned char lines[2048][16];
    for (unsigned f = 0; f < 4; f++) {
        uint32_t slices = 2u << f;
        struct caches_hash *hash = create(linear_intel[f], slices);
        struct c2_rng rng;
        c2_rng_init(&rng, 3, "huge pages");
        for (int i = 0; i < 16; i++) {
            uint64_t page = c2_align_down(c2_rng_next(&rng) >> 26, 2u << 20);
            memset(lines, 0, sizeof lines);
            for (uint64_t at = page; at < page + (2u << 20); at += 64)
                lines[at / 64 % 2048][slice_of(hash, at)]++;
            for (unsigned set = 0; set < 2048; set++)
                for (uint32_t slice = 0; slice < slices; slice++)
                    assert_int_equal(lines[set][slice], 16 / slices);
        }
        caches_hash_destroy(hash);
    }
}

/* With their index divisor, functions that deal out neighbouring lines reach each set of each slice exactly once in
 * slices * sets consecutive lines; with a divisor of 1 they would reach one set in `slices`. */
static void test_dealt_lines_reach_every_set(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t slices, sets;
    } cases[] = {
        {"amd-low4", 4, 4096},
        {"amd-low8", 8, 4096},
        {"modulo", 6, 100},
        {"modulo", 8, 2048},
    };
    for (unsigned c = 0; c < 4; c++) {
        uint32_t slices = cases[c].slices, sets = cases[c].sets;
        struct caches_hash *hash = create(cases[c].name, slices);
        unsigned char *used = calloc((size_t)slices * sets, 1);
        assert_int_equal(caches_hash_index_divisor(hash), slices);
        for (uint64_t line = 0; line < (uint64_t)slices * sets; line++) {
            uint64_t set = line / caches_hash_index_divisor(hash) % sets;
            assert_int_equal(used[slice_of(hash, line * 64) * sets + set]++, 0);
        }
        free(used);
        caches_hash_destroy(hash);
    }
}

/* The busiest slice of 20, 24 and 40 gets 1.6, 3.1 and 1.6 % more than the mean: the published load of the measured
 * functions. In one period of N lines: 13 of 256 in 20, 22 of 512 in 24, 13 of 512 in 40. */
static void test_closed_forms_are_as_uneven_as_published(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t slices, period;
        unsigned busiest, per_mille;
    } cases[] = {
        {"cf20", 20, 256, 13, 16},
        {"cf24", 24, 512, 22, 31},
        {"cf40", 40, 512, 13, 16},
    };
    for (unsigned c = 0; c < 3; c++) {
        struct caches_hash *hash = create(cases[c].name, cases[c].slices);
        unsigned lines[40] = {0}, busiest = 0;
        for (uint64_t line = 0; line < cases[c].period; line++)
            lines[slice_of(hash, line * 64)]++;
        for (uint32_t slice = 0; slice < cases[c].slices; slice++)
            busiest = lines[slice] > busiest ? lines[slice] : busiest;
        assert_int_equal(busiest, cases[c].busiest);
        double excess = (double)busiest * cases[c].slices / cases[c].period - 1;
        assert_int_equal((unsigned)(excess * 1000 + 0.5), cases[c].per_mille);
        caches_hash_destroy(hash);
    }
}

/* ------------------------------------------------------------------ the permutation method */

static char *scratch(char *path, const char *name)
{
    sprintf(path, "%s/%s", directory, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    char path[256];
    FILE *file = fopen(scratch(path, name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* "perm:FILE:0x..,0x.." for a function of the table. */
static char *permutation_name(char *name, const char *file, const struct twin_function *function)
{
    int used = sprintf(name, "perm:%s:", file);
    for (unsigned k = 0; k < function->mask_count; k++)
        used += sprintf(name + used, "%s0x%" PRIx64, k ? "," : "", function->mask[k]);
    return name;
}

/* The masks of a permutation touch no bit of the first N lines, so those lines are the base sequence themselves. */
static void write_closed_form(const char *file_name, uint32_t slices, unsigned length)
{
    char path[256];
    FILE *file = fopen(scratch(path, file_name), "w");
    assert_non_null(file);
    fprintf(file, "# lines 0 to %u of the closed form of %u slices\n", length - 1, slices);
    for (unsigned i = 0; i < length; i++)
        fprintf(file, "%u\n", twin_closed_form(slices, (uint64_t)i * 64));
    fclose(file);
}

static void check_permutation_is_closed_form(const char *function_name, const char *closed_name, uint32_t slices,
                                             unsigned common_bit)
{
    const struct twin_function *function = twin_function(function_name);
    char name[CACHES_HASH_BYTES];
    write_closed_form("base.txt", slices, 1u << function->mask_count);
    struct caches_hash *permutation = create(permutation_name(name, "base.txt", function), slices);
    struct caches_hash *closed = create(closed_name, slices);
    struct c2_rng rng;
    c2_rng_init(&rng, 4, function_name);
    for (int i = 0; i < RANDOM_ADDRESSES; i++) {
        uint64_t address = c2_rng_next(&rng) & c2_mask(0, common_bit);
        assert_int_equal(slice_of(permutation, address), slice_of(closed, address));
    }
    assert_int_equal(caches_hash_valid_bit(permutation), function->valid_bit);
    assert_int_equal(caches_hash_index_divisor(permutation), 1);
    caches_hash_destroy(permutation);
    caches_hash_destroy(closed);
}

static void test_permutations_are_closed_forms(void **state)
{
    (void)state;
    check_permutation_is_closed_form("perm6", "cf6", 6, 38);
    check_permutation_is_closed_form("perm10", "cf10", 10, 38);
    check_permutation_is_closed_form("perm12", "cf12", 12, 38);
    check_permutation_is_closed_form("perm20", "cf20", 20, 37);
    check_permutation_is_closed_form("perm24", "cf24", 24, 37);
    check_permutation_is_closed_form("perm40-icx", "cf40", 40, 37);
}

/* The perm12 vectors use all 46 bits, so they check the method where the closed form does not reach. */
static void test_permutation_beyond_the_closed_form(void **state)
{
    (void)state;
    const struct twin_function *function = twin_function("perm12");
    char name[CACHES_HASH_BYTES];
    write_closed_form("base.txt", 12, 512);
    struct caches_hash *hash = create(permutation_name(name, "base.txt", function), 12);
    FILE *file = open_vectors();
    struct vector vector;
    unsigned checked = 0;
    for (; next_vector(&vector, file); checked += strcmp(vector.function, "perm12") == 0)
        if (strcmp(vector.function, "perm12") == 0)
            assert_int_equal(slice_of(hash, vector.address), vector.slice);
    assert_int_equal(checked, 64);
    fclose(file);
    caches_hash_destroy(hash);
}

/* Random sequences, masks and addresses against the method as it is written down. */
static void test_random_permutations_against_the_twin(void **state)
{
    (void)state;
    static uint8_t base[MAX_SEQUENCE];
    for (unsigned bits = 1; bits <= 14; bits++) {
        struct twin_function function = {.mask_count = bits};
        struct c2_rng rng;
        char name[CACHES_HASH_BYTES], path[256];
        c2_rng_init(&rng, bits, "permutation");
        uint32_t slices = bits < 8 ? 1u << bits : 256;
        FILE *file = fopen(scratch(path, "random.txt"), "w");
        for (unsigned i = 0; i < 1u << bits; i++) {
            base[i] = (uint8_t)(i < slices ? i : c2_rng_below(&rng, slices)); /* every slice occurs */
            fprintf(file, "%u\n", base[i]);
        }
        fclose(file);
        for (unsigned k = 0; k < bits; k++)
            function.mask[k] = c2_rng_next(&rng) & c2_mask(6 + bits, 51);
        struct caches_hash *hash = create(permutation_name(name, "random.txt", &function), slices);
        for (int i = 0; i < 2000; i++) {
            uint64_t address = c2_rng_next(&rng);
            assert_int_equal(slice_of(hash, address), twin_permutation(&function, base, address));
        }
        caches_hash_destroy(hash);
    }
}

/* One vector file, one directory of published sequences: an extra where they are at hand. */
static unsigned check_published(const char *sequences, const struct twin_function *function)
{
    char path[512], name[CACHES_HASH_BYTES + 512];
    FILE *file = open_vectors();
    struct vector vector;
    unsigned checked = 0;
    snprintf(path, sizeof path, "%.400s/%s.txt", sequences, function->name);
    struct caches_hash *hash = create(permutation_name(name, path, function), function->slices);
    while (next_vector(&vector, file))
        if (strcmp(vector.function, function->name) == 0) {
            assert_int_equal(slice_of(hash, vector.address), vector.slice);
            checked++;
        }
    fclose(file);
    caches_hash_destroy(hash);
    return checked;
}

static void test_published_sequences(void **state)
{
    (void)state;
    const char *sequences = getenv("C2_BASE_SEQUENCES");
    unsigned count, checked = 0;
    const struct twin_function *all = twin_functions(&count);
    if (!sequences) {
        printf("NOT CHECKED: the vectors of 14, 18, 22, 26, 28, 38, 56 and 60 slices need the published base "
               "sequences; C2_BASE_SEQUENCES names no directory\n");
        skip();
    }
    for (unsigned i = 0; i < count; i++)
        if (strncmp(all[i].name, "perm", 4) == 0 && strcmp(all[i].name, "perm16") != 0)
            checked += check_published(sequences, &all[i]);
    assert_int_equal(checked, 15 * 64);
}

/* ------------------------------------------------------------------ errors */

static void expect_error(const char *name, uint32_t slices, enum c2_status status, const char *text)
{
    struct caches_hash *hash;
    struct c2_error err = {0};
    assert_int_equal(caches_hash_create(&hash, name, slices, directory, &err), status);
    assert_null(hash);
    assert_int_equal(err.status, status);
    /* the scratch directory's name is random: messages are compared without it */
    char shown[sizeof err.text];
    const char *at = strstr(err.text, directory);
    size_t before = at ? (size_t)(at - err.text) : strlen(err.text);
    snprintf(shown, sizeof shown, "%.*s%s", (int)before, err.text, at ? at + strlen(directory) : "");
    assert_string_equal(shown, text);
}

static void test_wrong_names(void **state)
{
    (void)state;
    expect_error("lin3", 2, C2_ERR_INVALID,
                 "no slice hash is called \"lin3\" (did you mean \"lin2\"?); a file is "
                 "named perm:PATH:MASK,MASK,...");
    expect_error("lin8", 4, C2_ERR_INVALID,
                 "the slice hash \"lin8\" has 8 slices, not 4 (for 4: lin4, lin4x, "
                 "amd-low4, modulo or perm:...)");
    expect_error("none", 14, C2_ERR_INVALID,
                 "the slice hash \"none\" has 1 slice, not 14 (for 14: modulo or "
                 "perm:...)");
    expect_error("modulo", 0, C2_ERR_INVALID, "0 slices: 1 to 256 are possible");
    expect_error("modulo", 257, C2_ERR_INVALID, "257 slices: 1 to 256 are possible");
}

static void test_wrong_permutation_names(void **state)
{
    (void)state;
    static const char *const names[] = {"perm:", "perm:base.txt", "perm::0x40", "perm:base.txt:"};
    for (unsigned i = 0; i < 4; i++) {
        char text[128];
        sprintf(text, "the slice hash \"%s\" needs a file and its masks: perm:PATH:MASK,MASK,...", names[i]);
        expect_error(names[i], 2, C2_ERR_INVALID, text);
    }
    expect_error("perm:absent.txt:0x100", 2, C2_ERR_NOT_FOUND,
                 "/absent.txt: no base sequence can be read there: No such file or directory");
    expect_error("perm:.:0x100", 2, C2_ERR_IO, "/.: cannot be read: Is a directory");
}

static void expect_file_error(const char *text, uint32_t slices, enum c2_status status, const char *message)
{
    write_file("bad.txt", text);
    expect_error("perm:bad.txt:0x100,0x200", slices, status, message);
}

static void test_wrong_sequences(void **state)
{
    (void)state;
    expect_file_error("", 2, C2_ERR_INVALID,
                      "/bad.txt: 0 slice numbers: the length must be a power of two, 2 to 16384");
    expect_file_error("0\n1\n1\n", 2, C2_ERR_INVALID,
                      "/bad.txt: 3 slice numbers: the length must be a power of two, 2 to 16384");
    expect_file_error("0\n1\n2\n1\n", 2, C2_ERR_INVALID,
                      "/bad.txt:3: slice number 2 is out of range: slices are 0 to 1");
    expect_file_error("0\n1\n1\n0\n", 3, C2_ERR_INVALID,
                      "/bad.txt: slice 2 never occurs: this is no sequence of 3 slices");
    expect_file_error("# two\n0\none\n", 2, C2_ERR_INVALID,
                      "/bad.txt:3: slice number: \"one\" is not a number (examples: 12, 0x1000)");
    expect_file_error("0\n\n1\n", 2, C2_ERR_INVALID,
                      "/bad.txt:2: slice number: \"\" is not a number (examples: 12, 0x1000)");
    expect_file_error("0\n1", 2, C2_ERR_FORMAT,
                      "/bad.txt:2: the line is too long, no text, or cut (no newline at its end)");
}

static void test_sequences_of_odd_shape(void **state)
{
    (void)state;
    char path[256];
    write_file("crlf.txt", "0\r\n1\t \r\n");
    caches_hash_destroy(create("perm:crlf.txt:0x100", 2));
    FILE *file = fopen(scratch(path, "long.txt"), "w");
    for (int i = 0; i <= MAX_SEQUENCE; i++)
        fputs("0\n", file);
    fclose(file);
    expect_error("perm:long.txt:0x100", 1, C2_ERR_INVALID, "/long.txt:16385: more than 16384 slice numbers");
}

static void test_wrong_masks(void **state)
{
    (void)state;
    write_file("four.txt", "0\n1\n2\n3\n");
    expect_error("perm:four.txt:0x100", 4, C2_ERR_INVALID, "/four.txt: 4 slice numbers need 2 masks, not 1");
    expect_error("perm:four.txt:1,2,3", 4, C2_ERR_INVALID, "/four.txt: 4 slice numbers need 2 masks, not 3");
    expect_error("perm:four.txt:0x100,0x180", 4, C2_ERR_INVALID,
                 "/four.txt: mask 1, 0x180, has bits outside 8..51: "
                 "the bits below choose within the sequence");
    expect_error("perm:four.txt:0x10000000000000,0", 4, C2_ERR_INVALID,
                 "/four.txt: mask 0, 0x10000000000000, has "
                 "bits outside 8..51: the bits below choose within the sequence");
    expect_error("perm:four.txt:0x100,x", 4, C2_ERR_INVALID,
                 "/four.txt: mask 1: \"x\" is not a number (examples: 12, 0x1000)");
    struct caches_hash *hash = create("perm:four.txt:0,0", 4);
    assert_int_equal(caches_hash_valid_bit(hash), 7);
    caches_hash_destroy(hash);
}

/* ------------------------------------------------------------------ faults */

static void check_allocations(const char *name, uint32_t slices, uint64_t expected)
{
    struct caches_hash *hash;
    struct c2_error err;
    enum c2_status status = C2_ERR_NO_MEMORY;
    uint64_t n = 0;
    while (status != C2_OK) {
        c2_alloc_fail_from(++n);
        status = caches_hash_create(&hash, name, slices, directory, &err);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK || (status == C2_ERR_NO_MEMORY && !hash));
    }
    assert_int_equal(n, expected + 1);
    caches_hash_destroy(hash);
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    write_file("four.txt", "0\n1\n2\n3\n");
    check_allocations("lin8", 8, 2);
    check_allocations("cf40", 40, 2);
    check_allocations("modulo", 5, 1);
    check_allocations("perm:four.txt:0x100,0x200", 4, 2);
}

/* ------------------------------------------------------------------ */

static int make_directory(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/c2-slices-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
    static const char *const files[] = {"base.txt", "random.txt", "bad.txt", "crlf.txt", "long.txt", "four.txt"};
    char path[256];
    (void)state;
    for (unsigned i = 0; i < sizeof files / sizeof files[0]; i++)
        unlink(scratch(path, files[i]));
    return rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_every_function_against_the_twin),
        cmocka_unit_test(test_the_table_is_covered),
        cmocka_unit_test(test_none_and_modulo),
        cmocka_unit_test(test_pages_are_dealt_evenly),
        cmocka_unit_test(test_sets_of_a_huge_page_are_dealt_evenly),
        cmocka_unit_test(test_dealt_lines_reach_every_set),
        cmocka_unit_test(test_closed_forms_are_as_uneven_as_published),
        cmocka_unit_test(test_permutations_are_closed_forms),
        cmocka_unit_test(test_permutation_beyond_the_closed_form),
        cmocka_unit_test(test_random_permutations_against_the_twin),
        cmocka_unit_test(test_published_sequences),
        cmocka_unit_test(test_wrong_names),
        cmocka_unit_test(test_wrong_permutation_names),
        cmocka_unit_test(test_wrong_sequences),
        cmocka_unit_test(test_sequences_of_odd_shape),
        cmocka_unit_test(test_wrong_masks),
        cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
