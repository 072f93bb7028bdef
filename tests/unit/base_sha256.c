/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Hashes: the vectors of FIPS 180-4, in one piece and in many, of bytes and of files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"

static const char empty[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
static const char abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
static const char million_a[] = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

static void test_vectors(void **state)
{
    char text[C2_SHA256_TEXT];
    (void)state;
    assert_int_equal(c2_sha256_bytes(text, "", 0, NULL), C2_OK);
    assert_string_equal(text, empty);
    assert_int_equal(c2_sha256_bytes(text, "abc", 3, NULL), C2_OK);
    assert_string_equal(text, abc);
}

static void test_piece_by_piece(void **state)
{
    struct c2_sha256 *sum;
    char text[C2_SHA256_TEXT];
    (void)state;
    assert_int_equal(c2_sha256_create(&sum, NULL), C2_OK);
    assert_int_equal(c2_sha256_text(text, sum, NULL), C2_OK);
    assert_string_equal(text, empty);
    c2_sha256_add(sum, "a", 1);
    assert_int_equal(c2_sha256_text(text, sum, NULL), C2_OK);
    c2_sha256_add(sum, "bc", 2);
    assert_int_equal(c2_sha256_text(text, sum, NULL), C2_OK);
    assert_string_equal(text, abc);
    c2_sha256_destroy(sum);
    c2_sha256_destroy(NULL);
}

static void test_files(void **state)
{
    char text[C2_SHA256_TEXT], part[1000];
    uint64_t bytes = 7;
    int fd = memfd_create("million", MFD_CLOEXEC);
    (void)state;
    assert_int_equal(c2_sha256_file(text, &bytes, fd, NULL), C2_OK);
    assert_int_equal(bytes, 0);
    assert_string_equal(text, empty);
    memset(part, 'a', sizeof part);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(write(fd, part, sizeof part), sizeof part);
    assert_int_equal(lseek(fd, 123, SEEK_SET), 123);
    assert_int_equal(c2_sha256_file(text, &bytes, fd, NULL), C2_OK);
    assert_int_equal(bytes, 1000000);
    assert_string_equal(text, million_a);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 123);
    close(fd);
}

static void test_a_file_that_cannot_be_read(void **state)
{
    struct c2_error err;
    char text[C2_SHA256_TEXT];
    uint64_t bytes;
    int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    (void)state;
    assert_int_equal(c2_sha256_file(text, &bytes, fd, &err), C2_ERR_IO);
    assert_string_equal(err.text, "Is a directory");
    close(fd);
}

static void test_want_of_memory(void **state)
{
    struct c2_sha256 *sum;
    char text[C2_SHA256_TEXT];
    uint64_t bytes;
    int fd = memfd_create("empty", MFD_CLOEXEC);
    (void)state;
    c2_alloc_fail_from(1);
    assert_int_equal(c2_sha256_create(&sum, NULL), C2_ERR_NO_MEMORY);
    assert_null(sum);
    assert_int_equal(c2_sha256_file(text, &bytes, fd, NULL), C2_ERR_NO_MEMORY);
    c2_alloc_fail_from(2);
    assert_int_equal(c2_sha256_file(text, &bytes, fd, NULL), C2_ERR_NO_MEMORY);
    c2_alloc_fail_from(0);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors), cmocka_unit_test(test_piece_by_piece),
                                       cmocka_unit_test(test_files), cmocka_unit_test(test_a_file_that_cannot_be_read),
                                       cmocka_unit_test(test_want_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
