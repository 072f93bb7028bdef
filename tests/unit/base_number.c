/* SPDX-License-Identifier: GPL-2.0-or-later
 * Numbers in text: what is read, what is refused and with which words, what is printed. */
#include "base/base.h"

#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

typedef enum c2_status parser(uint64_t *out, const char *text, const char *what, struct c2_error *err);

static void assert_parses(parser *parse, const char *text, uint64_t expected)
{
    uint64_t value = ~expected;
    struct c2_error err;
    assert_int_equal(parse(&value, text, "--x", &err), C2_OK);
    assert_int_equal(value, expected);
}

static void assert_refuses(parser *parse, const char *text, const char *reason)
{
    uint64_t value = 77;
    struct c2_error err;
    assert_int_equal(parse(&value, text, "--x", &err), C2_ERR_INVALID);
    assert_int_equal(value, 77);
    assert_int_equal(err.status, C2_ERR_INVALID);
    assert_string_equal(err.text, reason);
}

static void test_sizes(void **state)
{
    (void)state;
    assert_parses(c2_parse_size, "0", 0);
    assert_parses(c2_parse_size, "64", 64);
    assert_parses(c2_parse_size, "32K", 32768);
    assert_parses(c2_parse_size, "32k", 32768);
    assert_parses(c2_parse_size, "20M", 20971520);
    assert_parses(c2_parse_size, "3G", 3221225472);
    assert_parses(c2_parse_size, "2T", 2199023255552);
    assert_parses(c2_parse_size, "0x1000", 4096);
    assert_parses(c2_parse_size, "0X1000", 4096);
    assert_parses(c2_parse_size, "0x10K", 16384);
    assert_parses(c2_parse_size, "0064", 64);
    assert_parses(c2_parse_size, "18446744073709551615", UINT64_MAX);
    assert_parses(c2_parse_size, "0xffffffffffffffff", UINT64_MAX);
    assert_parses(c2_parse_size, "16777215T", UINT64_C(16777215) << 40);
}

static void test_plain_numbers(void **state)
{
    (void)state;
    assert_parses(c2_parse_number, "12", 12);
    assert_parses(c2_parse_number, "0xdeadBEEF", 0xdeadbeef);
    assert_refuses(c2_parse_number, "12K", "--x: \"12K\" is not a number (examples: 12, 0x1000)");
}

static void test_what_is_no_number(void **state)
{
    (void)state;
    static const char *const bad[] = {"",     " 64", "64 ", "-1",  "+1",  "1.5M",  "K",    "0x",   "0xg",
                                      "32KB", "1KK", "64B", "abc", "1e9", "1,000", "0x-1", "12\t", "\xff"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char reason[128];
        snprintf(reason, sizeof reason, "--x: \"%s\" is not a size in bytes (examples: 64, 32K, 20M, 0x1000)", bad[i]);
        assert_refuses(c2_parse_size, bad[i], reason);
    }
}

static void test_what_is_too_large(void **state)
{
    (void)state;
    static const char *const sizes[] = {"18446744073709551616", "0x10000000000000000", "16777216T", "17179869184G",
                                        "99999999999999999999999999999999"};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char reason[128];
        snprintf(reason, sizeof reason, "--x: \"%s\" is too large (at most 18446744073709551615)", sizes[i]);
        assert_refuses(c2_parse_size, sizes[i], reason);
    }
}

static void test_error_may_be_null(void **state)
{
    (void)state;
    uint64_t value;
    assert_int_equal(c2_parse_size(&value, "x", "--x", NULL), C2_ERR_INVALID);
}

static void assert_grouped(uint64_t n, const char *expected)
{
    char buffer[32];
    assert_ptr_equal(c2_group_digits(buffer, n), buffer);
    assert_string_equal(buffer, expected);
}

static void test_grouped_digits(void **state)
{
    (void)state;
    assert_grouped(0, "0");
    assert_grouped(999, "999");
    assert_grouped(1000, "1,000");
    assert_grouped(12345, "12,345");
    assert_grouped(123456, "123,456");
    assert_grouped(1234567, "1,234,567");
    assert_grouped(UINT64_MAX, "18,446,744,073,709,551,615");
}

static void assert_size_text(uint64_t bytes, const char *expected)
{
    char buffer[32];
    assert_ptr_equal(c2_size_text(buffer, bytes), buffer);
    assert_string_equal(buffer, expected);
}

static void test_size_text(void **state)
{
    (void)state;
    assert_size_text(0, "0 B");
    assert_size_text(640, "640 B");
    assert_size_text(1023, "1023 B");
    assert_size_text(1024, "1 KiB");
    assert_size_text(1025, "1025 B"); /* 1.0009765625 KiB has too many digits */
    assert_size_text(1536, "1.5 KiB");
    assert_size_text(32768, "32 KiB");
    assert_size_text(1310720, "1.25 MiB");
    assert_size_text(1441792, "1.375 MiB");
    assert_size_text(1048576 + 65536, "1114112 B"); /* 1.0625 MiB: four digits */
    assert_size_text(100 * UINT64_C(1048576), "100 MiB");
    assert_size_text(UINT64_C(64) << 30, "64 GiB");
    assert_size_text(UINT64_C(1) << 40, "1 TiB");
    assert_size_text(UINT64_C(1) << 50, "1024 TiB");
    assert_size_text(UINT64_MAX, "18446744073709551615 B");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_plain_numbers),
        cmocka_unit_test(test_what_is_no_number),
        cmocka_unit_test(test_what_is_too_large),
        cmocka_unit_test(test_error_may_be_null),
        cmocka_unit_test(test_grouped_digits),
        cmocka_unit_test(test_size_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
