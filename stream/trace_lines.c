/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * trace_lines: the lines of a trace in text, from a file that is read in large pieces.
 *
 * Model
 *   A piece of the file is in memory; lines are taken out of it one by one, copied and with all that may be odd about
 *   them (trace_lines_next), or, where a line is of a shape that nearly all lines have, read where they lie
 *   (trace_usual_din, trace_usual_lackey). What these do not know is left to the careful reader of lines, so they
 *   may be as narrow as they like, but take nothing for another thing than the careful reader does.
 *   A line of more than TRACE_LINE_BYTES keeps its beginning alone; no form has any so long.
 *   A number in hex is sixteen bytes looked at once: how many of them are digits, and what their value is.
 * Invariants
 *   at <= end <= PIECE_BYTES. What a usual shape reads lies within TRACE_USUAL_BYTES before and behind `at`.
 */
#include "stream/trace_lines_priv.h"

#include <emmintrin.h>
#include <errno.h>
#include <string.h>

#define PIECE_BYTES C2_HOST_SIZE((size_t)256 << 10, (size_t)64)
_Static_assert(PIECE_BYTES >= TRACE_USUAL_BYTES, "a usual line fits");

/* ------------------------------------------------------------------ pieces */

enum c2_status trace_lines_create(struct trace_lines *lines, FILE *from, struct c2_error *err)
{
    char *bytes = c2_calloc(1, TRACE_USUAL_BYTES + PIECE_BYTES);
    if (!bytes)
        return c2_fail_memory(err, "a piece of a trace");
    *lines = (struct trace_lines){.from = from, .piece = bytes + TRACE_USUAL_BYTES};
    return C2_OK;
}

void trace_lines_end(struct trace_lines *lines)
{
    if (lines->piece)
        c2_free(lines->piece - TRACE_USUAL_BYTES);
    *lines = (struct trace_lines){0};
}

/* What is left goes to the front, and what the file has behind it. */
static void refill_piece(struct trace_lines *lines)
{
    memmove(lines->piece, lines->piece + lines->at, lines->end - lines->at);
    lines->end -= lines->at;
    lines->at = 0;
    const size_t wanted = PIECE_BYTES - lines->end;
    errno = 0;
    const size_t got = fread(lines->piece + lines->end, 1, wanted, lines->from);
    lines->end += got;
    if (got == wanted)
        return;
    lines->ended = true;
    if (ferror(lines->from))
        lines->reason = errno != 0 ? errno : EIO;
}

/* ------------------------------------------------------------------ any line */

/* Adds what fits to the text of `length` characters. */
static size_t add_to_line(char *text, size_t length, const char *bytes, size_t count)
{
    const size_t room = TRACE_LINE_BYTES - 1 - length, taken = count < room ? count : room;
    memcpy(text + length, bytes, taken);
    return length + taken;
}

bool trace_lines_next(struct trace_lines *lines, char *text, bool *zero)
{
    size_t length = 0;
    bool any = false, whole = false;
    *zero = false;
    while (!whole) {
        if (lines->at == lines->end && !lines->ended)
            refill_piece(lines);
        const size_t count = lines->end - lines->at;
        if (count == 0)
            break;
        const char *const start = lines->piece + lines->at, *const end = memchr(start, '\n', count);
        const size_t taken = end ? (size_t)(end - start) : count;
        *zero = *zero || memchr(start, '\0', taken);
        length = add_to_line(text, length, start, taken);
        any = true;
        whole = end;
        lines->at += taken + whole;
    }
    C2_PROMISE(lines->at <= lines->end && lines->end <= PIECE_BYTES);
    if (length != 0 && text[length - 1] == '\r')
        length--;
    text[length] = '\0';
    if (lines->end - lines->at < TRACE_USUAL_BYTES && !lines->ended)
        refill_piece(lines);
    return any;
}

/* ------------------------------------------------------------------ usual lines */

/* Of sixteen bytes, one bit each: those that are digits in hex. */
static inline unsigned hex_digits(__m128i bytes)
{
    const __m128i lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20)); /* digits have the bit already */
    const __m128i digits = _mm_and_si128(_mm_cmpgt_epi8(bytes, _mm_set1_epi8('0' - 1)),
                                         _mm_cmplt_epi8(bytes, _mm_set1_epi8('9' + 1)));
    const __m128i letters = _mm_and_si128(_mm_cmpgt_epi8(lower, _mm_set1_epi8('a' - 1)),
                                          _mm_cmplt_epi8(lower, _mm_set1_epi8('f' + 1)));
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(digits, letters));
}

/* The number that ends before `end`, all of whose `count` digits are in hex. */
static inline uint64_t hex_value(const char *end, unsigned count)
{
    static const uint8_t keep[32] = {[16] = 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15};
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(end - 16));
    const __m128i mask = _mm_loadu_si128((const __m128i *)(const void *)(keep + count)); /* the last `count` of them */
    const __m128i nine = _mm_and_si128(_mm_cmpgt_epi8(bytes, _mm_set1_epi8('9')), _mm_set1_epi8(9)); /* of a letter */
    const __m128i digits = _mm_and_si128(_mm_add_epi8(bytes, nine), mask);
    const __m128i pairs = _mm_and_si128(_mm_or_si128(_mm_slli_epi16(digits, 4), _mm_srli_epi16(digits, 8)),
                                        _mm_set1_epi16(UINT8_MAX));
    const __m128i packed = _mm_packus_epi16(pairs, pairs);
    return __builtin_bswap64((uint64_t)_mm_cvtsi128_si64(packed));
}

/* A number in hex at *at, which moves behind it; false: it has no digit, or too many. */
static inline bool take_usual_hex(const char **at, uint64_t *out)
{
    const unsigned digits = hex_digits(_mm_loadu_si128((const __m128i *)(const void *)*at));
    const unsigned count = (unsigned)__builtin_ctz(~digits);
    if (C2_UNLIKELY(count == 0 || count == 16))
        return false;
    *at += count;
    *out = hex_value(*at, count);
    return true;
}

/* Up to three digits and the line's end, behind which *at moves. */
static inline bool take_last(const char **at, uint64_t *out)
{
    const unsigned first = (unsigned)(uint8_t) * *at - '0';
    uint64_t value = first;
    if (C2_UNLIKELY(first > 9))
        return false;
    const char *next = *at + 1;
    for (unsigned more = 0; C2_UNLIKELY(*next != '\n'); next++, more++) {
        const unsigned digit = (unsigned)(uint8_t)*next - '0';
        if (digit > 9 || more == 2)
            return false;
        value = value * 10 + digit;
    }
    *at = next + 1;
    *out = value;
    return true;
}

size_t trace_usual_din(const char *at, struct trace_usual *out)
{
    const char *const start = at;
    const unsigned label = (unsigned)(uint8_t)at[0] - '0';
    if (C2_UNLIKELY(label > 2 || at[1] != ' '))
        return 0;
    out->kind = "RWF"[label];
    at += 2;
    if (C2_UNLIKELY(!take_usual_hex(&at, &out->address)))
        return 0;
    const char behind = *at++;
    out->size = 1;
    if (behind == ' ' ? !take_last(&at, &out->size) : behind != '\n')
        return 0;
    return (size_t)(at - start);
}

size_t trace_usual_lackey(const char *at, struct trace_usual *out)
{
    const char *const start = at;
    const bool fetch = at[0] == 'I';
    const char letter = fetch ? at[0] : at[1];
    if (C2_UNLIKELY(at[2] != ' ' || (fetch ? at[1] : at[0]) != ' '))
        return 0;
    out->kind = letter == 'I' ? 'F' : letter == 'L' ? 'R' : letter == 'S' ? 'W' : 'M';
    if (C2_UNLIKELY(out->kind == 'M' && letter != 'M'))
        return 0;
    at += 3;
    if (C2_UNLIKELY(!take_usual_hex(&at, &out->address) || *at++ != ',' || !take_last(&at, &out->size)))
        return 0;
    return (size_t)(at - start);
}
