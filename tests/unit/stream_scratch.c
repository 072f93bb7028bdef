/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A file that may be too small: whatever its limit is, and wherever the host's is, all that was written is read, and it
 * is full as soon as something did not go to the file.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "stream/stream.h"

#define BYTES 20000u
#define LITTLE 5000u

static unsigned char written[BYTES], got[BYTES + 1];

static void write_pieces(struct stream_scratch *scratch, size_t piece, uint64_t full_from)
{
    FILE *file = stream_scratch_file(scratch);
    for (size_t at = 0, count; at < BYTES; at += count) {
        count = BYTES - at < piece ? BYTES - at : piece;
        assert_int_equal(fwrite(written + at, 1, count, file), count);
        assert_int_equal(fflush(file), 0);
        assert_int_equal(stream_scratch_full(scratch), at + count > full_from);
    }
}

/* As often as wanted. */
static void read_all(struct stream_scratch *scratch)
{
    FILE *file = stream_scratch_file(scratch);
    for (long from = 0; from < (long)BYTES; from += 4999) {
        assert_int_equal(fseek(file, from, SEEK_SET), 0);
        assert_int_equal(ftell(file), from);
        assert_int_equal(fread(got, 1, sizeof got, file), BYTES - (size_t)from);
        assert_memory_equal(got, written + from, BYTES - (size_t)from);
    }
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    assert_int_equal(ftell(file), BYTES);
    assert_int_not_equal(fseek(file, BYTES + 1, SEEK_SET), 0);
}

static void write_and_read(uint64_t limit, size_t piece)
{
    struct stream_scratch *scratch;
    assert_int_equal(C2_OK, stream_scratch_create(&scratch, limit, NULL));
    assert_false(stream_scratch_full(scratch));
    write_pieces(scratch, piece, limit);
    read_all(scratch);
    stream_scratch_destroy(scratch);
}

static void test_what_is_written_is_read(void **state)
{
    static const uint64_t limits[] = {0, 1, 4095, 4096, 4097, BYTES - 1, BYTES, UINT64_MAX};
    static const size_t pieces[] = {1, 100, 4096, 7000, BYTES};
    (void)state;
    for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++)
        for (size_t l = 0; l < sizeof limits / sizeof *limits; l++)
            write_and_read(limits[l], pieces[p]);
}

/* Where the host would end the process; and where it takes less than it said. */
static void test_limits_of_the_host(void **state)
{
    struct rlimit before, little;
    struct stream_scratch *scratch;
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    little = (struct rlimit){LITTLE, before.rlim_max};
    for (unsigned late = 0; late < 2; late++) {
        if (!late)
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
        assert_int_equal(C2_OK, stream_scratch_create(&scratch, UINT64_MAX, NULL));
        signal(SIGXFSZ, late ? SIG_IGN : SIG_DFL);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
        write_pieces(scratch, 1000, LITTLE);
        read_all(scratch);
        stream_scratch_destroy(scratch);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    }
    signal(SIGXFSZ, SIG_DFL);
}

static void test_failing_allocations(void **state)
{
    struct stream_scratch *scratch;
    (void)state;
    enum c2_status status = C2_ERR_NO_MEMORY;
    for (uint64_t n = 1; status != C2_OK; n++) {
        c2_alloc_fail_from(n);
        status = stream_scratch_create(&scratch, 100, NULL);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK ? !!scratch : !scratch && status == C2_ERR_NO_MEMORY);
    }
    stream_scratch_destroy(scratch);
    stream_scratch_destroy(NULL);
}

int main(void)
{
    for (size_t i = 0; i < BYTES; i++)
        written[i] = (unsigned char)(i * 7 + i / 256);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_written_is_read),
        cmocka_unit_test(test_limits_of_the_host),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests_name("stream: a file that may be too small", tests, NULL, NULL);
}
