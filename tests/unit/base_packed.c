/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Compressed files: what was packed comes back, in any pieces and by the tools' own libraries; several behind each
 * other; a cut or changed file is never read as a shorter one; a full disk, no memory.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/base.h"

enum { MOST = 300000 };
static uint8_t plain[MOST], back[MOST];

/* Text that can be packed, and noise that cannot. */
static void make(size_t count, uint64_t seed)
{
    uint64_t draw = seed;
    for (size_t i = 0; i < count; i++) {
        draw = draw * UINT64_C(6364136223846793005) + 1442695040888963407u;
        plain[i] = i % 1000 < 500 ? (uint8_t)("0 7fff\n"[i % 7]) : (uint8_t)(draw >> 33);
    }
}

/* In pieces of up to `piece` bytes; what has been packed, to be freed. */
static char *pack(enum c2_packing packing, size_t count, size_t piece, size_t *bytes)
{
    struct c2_packer *packer;
    struct c2_error err;
    char *text = NULL;
    FILE *to = open_memstream(&text, bytes);
    assert_int_equal(c2_packer_create(&packer, packing, &err), C2_OK);
    for (size_t at = 0; at < count; at += piece)
        assert_int_equal(c2_pack(packer, to, plain + at, count - at < piece ? count - at : piece, false, &err), C2_OK);
    assert_int_equal(c2_pack(packer, to, NULL, 0, true, &err), C2_OK);
    c2_packer_destroy(packer);
    fclose(to);
    return text;
}

/* How many bytes are read, into back; -1: errno says why not. */
static long unpack(char *text, size_t bytes, size_t piece)
{
    struct c2_error err;
    FILE *from = bytes == 0 ? fopen("/dev/null", "r") : fmemopen(text, bytes, "r"), *content;
    size_t count = 0, more;
    assert_int_equal(c2_unpack(&content, from, &err), C2_OK);
    errno = 0;
    while (count < MOST && (more = fread(back + count, 1, MOST - count < piece ? MOST - count : piece, content)) != 0)
        count += more;
    const int reason = errno;
    const bool failed = ferror(content);
    fclose(content);
    fclose(from);
    errno = reason;
    return failed ? -1 : (long)count;
}

static void there_and_back(void **state)
{
    static const size_t counts[] = {0, 1, 5, 63, 64, 65, 1000, 65536, 200000};
    (void)state;
    for (unsigned packing = C2_PLAIN; packing <= C2_XZ; packing++)
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            size_t bytes;
            make(counts[i], i + 1);
            char *text = pack((enum c2_packing)packing, counts[i], i % 2 == 0 ? 997 : MOST, &bytes);
            assert_int_equal(unpack(text, bytes, i % 3 == 0 ? 4096 : 333), counts[i]);
            assert_memory_equal(plain, back, counts[i]);
            assert_true(packing == C2_PLAIN || counts[i] < 100000 || bytes < counts[i]);
            free(text);
        }
}

/* Two files in one are the content of both. */
static void two(void **state)
{
    (void)state;
    for (unsigned packing = C2_ZSTD; packing <= C2_XZ; packing++) {
        size_t first, second;
        make(1000, 3);
        char *one = pack((enum c2_packing)packing, 1000, 100, &first);
        char *other = pack((enum c2_packing)packing, 700, 700, &second), *both = malloc(first + second);
        memcpy(both, one, first);
        memcpy(both + first, other, second);
        assert_int_equal(unpack(both, first + second, 4096), 1700);
        assert_memory_equal(plain, back, 1000);
        assert_memory_equal(plain, back + 1000, 700);
        free(one);
        free(other);
        free(both);
    }
}

/* From where the first bytes say what it is. */
static void damaged(void **state)
{
    static const size_t heads[] = {[C2_ZSTD] = 4, [C2_GZIP] = 4, [C2_XZ] = 6};
    (void)state;
    for (unsigned packing = C2_ZSTD; packing <= C2_XZ; packing++) {
        size_t bytes;
        make(3000, 9);
        char *text = pack((enum c2_packing)packing, 3000, 3000, &bytes);
        for (size_t cut = heads[packing]; cut < bytes; cut++) {
            assert_int_equal(unpack(text, cut, 4096), -1);
            assert_int_equal(errno, EBADMSG);
        }
        /* Some bits of gzip's head mean nothing: then all of it is right. */
        for (size_t at = heads[packing]; at < bytes; at++) {
            text[at] ^= 0x10;
            const long count = unpack(text, bytes, 4096);
            assert_true(count == -1 || (count == 3000 && memcmp(plain, back, 3000) == 0));
            assert_true(count == -1 || at < 10);
            text[at] ^= 0x10;
        }
        free(text);
    }
}

static void names(void **state)
{
    (void)state;
    assert_int_equal(c2_packing_of("a.din.zst"), C2_ZSTD);
    assert_int_equal(c2_packing_of("a.gz"), C2_GZIP);
    assert_int_equal(c2_packing_of("a.gz.xz"), C2_XZ);
    assert_int_equal(c2_packing_of("gz"), C2_PLAIN);
    assert_int_equal(c2_packing_of(""), C2_PLAIN);
    assert_int_equal(c2_unpacked_length("a.din.zst"), 5);
    assert_int_equal(c2_unpacked_length("a.din"), 5);
}

static void full(void **state)
{
    (void)state;
    for (unsigned packing = C2_PLAIN; packing <= C2_XZ; packing++) {
        struct c2_packer *packer;
        struct c2_error err;
        FILE *to = fopen("/dev/full", "w");
        enum c2_status status = C2_OK;
        setvbuf(to, NULL, _IONBF, 0);
        assert_int_equal(c2_packer_create(&packer, (enum c2_packing)packing, &err), C2_OK);
        make(MOST, 5);
        status = c2_pack(packer, to, plain, MOST, true, &err);
        assert_int_equal(status, C2_ERR_IO);
        assert_string_equal(err.text, strerror(ENOSPC));
        c2_packer_destroy(packer);
        fclose(to);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(there_and_back), cmocka_unit_test(two),
                                       cmocka_unit_test(damaged), cmocka_unit_test(names), cmocka_unit_test(full)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
