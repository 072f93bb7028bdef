/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Perf maps and jitdumps: a naive reader of the same records, and random ones that overlap; damaged files, which give
 * no names, or those of what they say. (damage.h)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "loader/symbols_priv.h"
#include "unit/damage.h"

static struct loader_symbols symbols;
static char path[] = "/tmp/c2emu-jit-XXXXXX";

static enum c2_status read_bytes(const void *bytes, size_t count, struct c2_error *err)
{
    FILE *to = fopen(path, "w");
    assert_int_equal(fwrite(bytes, 1, count, to), count);
    fclose(to);
    return loader_symbols_jit(&symbols, path, err);
}

static const char *name_at(uint64_t address)
{
    struct loader_jit_place place;
    return loader_jit_find(&symbols, (struct guest_va){address}, &place) ? place.function : NULL;
}

/* ------------------------------------------------------------------ what is read */

static void a_map(void **state)
{
    struct c2_error err;
    struct loader_jit_place place;
    const char text[] = "1000 20 first\n0x1010 0x20 second with words\n\n5000 0 nothing\n6000 8 last";
    (void)state;
    assert_int_equal(read_bytes(text, sizeof text - 1, &err), C2_OK);
    assert_null(name_at(0x1000)); /* its end was taken, so all of it is gone */
    assert_null(name_at(0x100f));
    assert_string_equal(name_at(0x1010), "second with words");
    assert_string_equal(name_at(0x102f), "second with words");
    assert_null(name_at(0x1030));
    assert_null(name_at(0x5000));
    assert_string_equal(name_at(0x6007), "last");
    assert_true(loader_jit_find(&symbols, (struct guest_va){0x1020}, &place));
    assert_int_equal(place.start, 0x1010);
    assert_null(place.file);
    assert_string_equal(place.object, strrchr(path, '/') + 1);
}

/* Whatever overlaps: the last one that covers an address and of which nothing was taken since. */
static void twin(void **state)
{
    enum { PIECES = 60, ROUNDS = 300, SPACE = 400 };
    struct c2_rng rng;
    (void)state;
    c2_rng_init(&rng, 1, "jit");
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct c2_error err;
        struct {
            uint64_t start, bytes;
            bool gone;
        } pieces[PIECES];
        char text[PIECES * 40];
        size_t used = 0;
        for (unsigned i = 0; i < PIECES; i++) {
            pieces[i].start = c2_rng_below(&rng, SPACE);
            pieces[i].bytes = 1 + c2_rng_below(&rng, 40);
            pieces[i].gone = false;
            for (unsigned k = 0; k < i; k++)
                pieces[k].gone |= pieces[k].start < pieces[i].start + pieces[i].bytes &&
                                  pieces[i].start < pieces[k].start + pieces[k].bytes;
            used += (size_t)snprintf(text + used, sizeof text - used, "%llx %llx f%u\n",
                                     (unsigned long long)pieces[i].start, (unsigned long long)pieces[i].bytes, i);
        }
        assert_int_equal(read_bytes(text, used, &err), C2_OK);
        for (uint64_t at = 0; at < SPACE + 50; at++) {
            char expected[16] = "";
            for (unsigned i = 0; i < PIECES; i++)
                if (!pieces[i].gone && at - pieces[i].start < pieces[i].bytes)
                    snprintf(expected, sizeof expected, "f%u", i);
            const char *name = name_at(at);
            assert_string_equal(name ? name : "", expected);
        }
    }
}

/* ------------------------------------------------------------------ damage */

/* A jitdump of two functions, the second with lines and moved. */
static size_t make_dump(uint8_t *to)
{
    static const uint32_t words[] = {
        0x4a695444, 1,  40, 62, 0,      1, 0,      0, 0,      0, /* the head */
        0,          60, 0,  0,  1,      1, 0x1000, 0, 0x1000, 0, 16,     0, 1,          0,      0x006e6961, /* "ain" */
        2,          72, 0,  0,  0x2000, 0, 2,      0, 0x2000, 0, 7,      0, 0x00632e61, 0x2004, 0,          8, 0, 0xff,
        0,          60, 0,  0,  1,      1, 0x2000, 0, 0x2000, 0, 32,     0, 2,          0,      0x00706f6f, /* "oop" */
        1,          64, 0,  0,  1,      1, 0x3000, 0, 0x2000, 0, 0x3000, 0, 32,         0,      2,          0, 3, 16,
        0,          0};
    memcpy(to, words, sizeof words);
    return sizeof words;
}

static unsigned long accepted;

static void try(char *bytes, size_t count, void *context)
{
    struct c2_error err = {0};
    struct loader_jit_place place;
    (void)context;
    const enum c2_status status = read_bytes(bytes, count, &err);
    if (status != C2_OK) {
        assert_int_equal(status, C2_ERR_FORMAT);
        assert_non_null(strstr(err.text, path));
    }
    accepted += status == C2_OK;
    for (uint64_t at = 0; at < 0x4000; at += 0x404)
        if (loader_jit_find(&symbols, (struct guest_va){at}, &place))
            assert_true(place.start <= at && strlen(place.function) < count);
}

static void damaged(void **state)
{
    static const char map[] = "1000 20 first\n0x2000 10 second one\n3000 8 third\n";
    uint8_t dump[1024];
    struct c2_error err;
    struct loader_jit_place place;
    const size_t bytes = make_dump(dump);
    (void)state;
    assert_int_equal(read_bytes(dump, bytes, &err), C2_OK);
    assert_string_equal(name_at(0x1000), "ain");
    assert_null(name_at(0x2000));
    assert_true(loader_jit_find(&symbols, (struct guest_va){0x3005}, &place));
    assert_string_equal(place.function, "oop");
    assert_string_equal(place.file, "a.c");
    assert_int_equal(place.line, 8);
    damage_cut((char *)dump, bytes, try, NULL);
    damage_at_random((char *)dump, bytes, damage_inputs(5000), try, NULL);
    assert_in_range(accepted, 1, bytes + damage_inputs(5000));
    damage_cut(map, sizeof map - 1, try, NULL);
    damage_at_random(map, sizeof map - 1, damage_inputs(5000), try, NULL);
}

static void faults(void **state)
{
    enum c2_status status = C2_ERR_NO_MEMORY;
    struct c2_error err;
    uint8_t dump[1024];
    const size_t bytes = make_dump(dump);
    (void)state;
    assert_int_equal(loader_symbols_jit(&symbols, "/nonexistent", &err), C2_ERR_NOT_FOUND);
    assert_string_equal(err.text, "/nonexistent cannot be read: No such file or directory");
    assert_int_equal(read_bytes(dump, bytes, &err), C2_OK);
    for (uint64_t tries = 1; status != C2_OK; tries++) {
        c2_alloc_fail_from(tries);
        status = loader_symbols_jit(&symbols, path, &err);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK || status == C2_ERR_NO_MEMORY);
    }
}

static int make_file(void **state)
{
    (void)state;
    const int fd = mkstemp(path);
    return fd < 0 || close(fd) != 0;
}

static int remove_file(void **state)
{
    (void)state;
    loader_jit_release(symbols.jit);
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_map), cmocka_unit_test(twin), cmocka_unit_test(damaged),
                                       cmocka_unit_test(faults)};
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
