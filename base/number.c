/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Numbers in text, both ways.
 *
 * Model
 *   number = decimal digits | 0x hexadecimal digits, then an optional suffix K, M, G or T (either case).
 *   The factor of a suffix is 1024 for sizes and 1000 for counts; plain numbers take none. Nothing else is
 *   accepted: no sign, no space, no fraction, no empty text; a value above 2^64-1 is refused, not wrapped.
 */
#include "base/base.h"

#include <inttypes.h>
#include <string.h>

struct grammar {
    uint64_t factor; /* of K; 0 = no suffix allowed */
    const char *noun;
    const char *examples;
};

static const struct grammar size_grammar = {1024, "size in bytes", "64, 32K, 20M, 0x1000"};
static const struct grammar number_grammar = {0, "number", "12, 0x1000"};

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 16;
}

/* Reads digits of the base at *text and moves it behind them; false when there are none. */
static bool read_digits(uint64_t *out, bool *overflow, const char **text, int base)
{
    const char *start = *text;
    *out = 0;
    for (; digit_value(**text) < base; ++*text) {
        *overflow |= __builtin_mul_overflow(*out, (uint64_t)base, out);
        *overflow |= __builtin_add_overflow(*out, (uint64_t)digit_value(**text), out);
    }
    return *text != start;
}

/* 1 to 4 for K M G T, 0 for anything else. */
static int suffix_power(char c)
{
    static const char suffixes[] = "KkMmGgTt";
    const char *at = c ? strchr(suffixes, c) : NULL;
    return at ? (int)(at - suffixes) / 2 + 1 : 0;
}

static enum c2_status number_parse(uint64_t *out, const char *text, const char *what, const struct grammar *grammar,
                                   struct c2_error *err)
{
    const char *at = text;
    bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    bool overflow = false;
    uint64_t value;
    at += hexadecimal ? 2 : 0;
    bool valid = read_digits(&value, &overflow, &at, hexadecimal ? 16 : 10);
    if (valid && grammar->factor) {
        int power = suffix_power(*at);
        at += power > 0;
        while (power-- > 0)
            overflow |= __builtin_mul_overflow(value, grammar->factor, &value);
    }
    if (!valid || *at)
        return c2_fail(err, C2_ERR_INVALID, "%s: \"%s\" is not a %s (examples: %s)", what, text, grammar->noun,
                       grammar->examples);
    if (overflow)
        return c2_fail(err, C2_ERR_INVALID, "%s: \"%s\" is too large (at most %" PRIu64 ")", what, text, UINT64_MAX);
    *out = value;
    return C2_OK;
}

enum c2_status c2_parse_size(uint64_t *out, const char *text, const char *what, struct c2_error *err)
{
    return number_parse(out, text, what, &size_grammar, err);
}

enum c2_status c2_parse_number(uint64_t *out, const char *text, const char *what, struct c2_error *err)
{
    return number_parse(out, text, what, &number_grammar, err);
}

enum c2_status c2_parse_count(uint64_t *out, const char *text, const char *what, uint64_t least, struct c2_error *err)
{
    static const char powers[] = "kMG";
    const size_t length = strlen(text);
    const char *power = length > 1 ? strchr(powers, text[length - 1]) : NULL;
    char digits[32];
    uint64_t scale = 1;
    for (ptrdiff_t i = 0; power && i <= power - powers; i++)
        scale *= 1000;
    snprintf(digits, sizeof digits, "%.*s", (int)(length - (power ? 1 : 0)), text);
    if (c2_parse_number(out, digits, what, NULL) != C2_OK || length >= sizeof digits)
        return c2_fail(err, C2_ERR_INVALID, "%s %s: must be a number, with k, M or G for powers of 1000", what, text);
    if (*out > 1000000000000000000 / scale || *out * scale < least)
        return c2_fail(err, C2_ERR_INVALID, "%s %s: must be %llu to 10^18", what, text, (unsigned long long)least);
    *out *= scale;
    return C2_OK;
}

char *c2_group_digits(char *buffer, uint64_t n)
{
    char digits[24];
    int count = snprintf(digits, sizeof digits, "%" PRIu64, n);
    char *to = buffer;
    for (int i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return buffer;
}

char *c2_size_text(char *buffer, uint64_t bytes)
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    unsigned unit = bytes ? c2_log2(bytes) / 10 : 0;
    unit = unit > 4 ? 4 : unit;
    uint64_t unit_bytes = (uint64_t)1 << (10 * unit);
    uint64_t thousandths = bytes % unit_bytes * 1000;
    if (thousandths % unit_bytes != 0) {
        sprintf(buffer, "%" PRIu64 " B", bytes);
        return buffer;
    }
    int length = sprintf(buffer, "%" PRIu64 ".%03u", bytes / unit_bytes, (unsigned)(thousandths / unit_bytes));
    while (buffer[length - 1] == '0')
        length--;
    length -= buffer[length - 1] == '.';
    sprintf(buffer + length, " %s", names[unit]);
    return buffer;
}
