/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The kinds of values that a machine file has: read with a message that states what would have been right, and written.
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "machine/machine_priv.h"

enum c2_status machine_parse_word(unsigned *out, const char *value, const char *const *words, size_t count,
                                  const char *where, struct c2_error *err)
{
    char suggestion[256];
    for (size_t i = 0; i < count; i++)
        if (strcmp(value, words[i]) == 0) {
            *out = (unsigned)i;
            return C2_OK;
        }
    return c2_fail(err, C2_ERR_INVALID, "%s: \"%s\" is not known%s", where, value,
                   c2_suggest(suggestion, sizeof suggestion, value, words, count));
}

enum c2_status machine_parse_words(unsigned *out, const char *value, const char *const *words, size_t count,
                                   const char *where, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    unsigned bits = 0;
    for (const char *next = value; status == C2_OK && next;) {
        char word[16];
        unsigned kind;
        size_t length = strcspn(next, "+");
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word), next);
        status = machine_parse_word(&kind, word, words, count, where, err);
        if (status == C2_OK && bits & 1u << kind)
            status = c2_fail(err, C2_ERR_INVALID, "%s: %s stands there twice", where, word);
        bits |= status == C2_OK ? 1u << kind : 0;
        next = next[length] == '+' ? next + length + 1 : NULL;
    }
    *out = bits;
    return status;
}

void machine_write_words(char *value, unsigned bits, const char *const *words, size_t count)
{
    size_t used = 0;
    *value = '\0';
    for (size_t i = 0; i < count; i++)
        if (bits & 1u << i)
            used += (size_t)snprintf(value + used, MACHINE_VALUE_BYTES - used, "%s%s", used ? "+" : "", words[i]);
}

/* Up to three digits behind a point; UINT32_MAX: others. */
static uint32_t parse_decimals(const char *digits)
{
    uint32_t thousandths = 0, weight = 100;
    for (; *digits && weight != 0; digits++, weight /= 10) {
        if (*digits < '0' || *digits > '9')
            return UINT32_MAX;
        thousandths += weight * (uint32_t)(*digits - '0');
    }
    return *digits ? UINT32_MAX : thousandths;
}

enum c2_status machine_parse_rate(uint32_t *out, const char *value, const char *where, struct c2_error *err)
{
    char whole[16];
    uint64_t number = 0;
    const char *point = strchr(value, '.');
    const size_t length = point ? (size_t)(point - value) : strlen(value);
    snprintf(whole, sizeof whole, "%.*s", (int)(length < sizeof whole ? length : sizeof whole), value);
    const uint32_t decimals = point ? parse_decimals(point + 1) : 0;
    const bool decimal = strspn(whole, "0123456789") == length && length != 0 && (!point || point[1]);
    if (!decimal || decimals == UINT32_MAX || c2_parse_number(&number, whole, where, err) != C2_OK ||
        number >= MACHINE_MAX_RATE / 1000)
        return c2_fail(err, C2_ERR_INVALID, "%s: %s is no rate: a number below %u, with three decimals at most", where,
                       value, MACHINE_MAX_RATE / 1000);
    *out = (uint32_t)number * 1000 + decimals;
    return C2_OK;
}

void machine_write_rate(char *value, uint32_t thousandths)
{
    *value = '\0';
    if (thousandths == 0)
        return;
    int length = snprintf(value, MACHINE_VALUE_BYTES, "%u.%03u", thousandths / 1000, thousandths % 1000);
    while (value[length - 1] == '0')
        value[--length] = '\0';
    if (value[length - 1] == '.')
        value[length - 1] = '\0';
}

enum c2_status machine_parse_ranged(uint32_t *out, const char *value, uint32_t low, uint32_t high, const char *where,
                                    struct c2_error *err)
{
    uint64_t number;
    enum c2_status status = c2_parse_number(&number, value, where, err);
    if (status != C2_OK)
        return status;
    if (number < low || number > high)
        return c2_fail(err, C2_ERR_INVALID, "%s: %s is out of range: %u to %u", where, value, low, high);
    *out = (uint32_t)number;
    return C2_OK;
}

/* "core 0: 0xf", "core 1-3: 0xff0". */
static enum c2_status parse_mask(struct caches_mask *out, const char *piece, const char *where, struct c2_error *err)
{
    char mask[40];
    int used = 0;
    bool is_one = sscanf(piece, " core %9u : %39s %n", &out->first, mask, &used) == 2;
    out->last = out->first;
    if (!is_one)
        is_one = sscanf(piece, " core %9u - %9u : %39s %n", &out->first, &out->last, mask, &used) == 3;
    if (!is_one || piece[used] || out->first > out->last)
        return c2_fail(err, C2_ERR_INVALID, "%s: \"%s\" is not of the form core 0: 0xf or core 1-3: 0xff0", where,
                       piece + strspn(piece, " "));
    return c2_parse_number(&out->ways, mask, where, err);
}

enum c2_status machine_parse_masks(struct caches_level *to, const char *value, const char *where, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    to->mask_count = 0;
    for (const char *next = value; status == C2_OK && next;) {
        char piece[80];
        const size_t length = strcspn(next, ";");
        snprintf(piece, sizeof piece, "%.*s", (int)(length < sizeof piece ? length : sizeof piece), next);
        if (to->mask_count == CACHES_MAX_MASKS)
            return c2_fail(err, C2_ERR_INVALID, "%s: more than %d", where, CACHES_MAX_MASKS);
        status = parse_mask(&to->masks[to->mask_count++], piece, where, err);
        next = next[length] == ';' ? next + length + 1 : NULL;
    }
    return status;
}

void machine_write_masks(char *value, const struct caches_level *level)
{
    size_t used = 0;
    *value = '\0';
    for (uint32_t i = 0; i < level->mask_count; i++) {
        const struct caches_mask *mask = &level->masks[i];
        char last[16] = "";
        if (mask->last != mask->first)
            snprintf(last, sizeof last, "-%u", mask->last);
        used += (size_t)snprintf(value + used, MACHINE_VALUE_BYTES - used, "%score %u%s: %#" PRIx64, used ? "; " : "",
                                 mask->first, last, mask->ways);
    }
}

/* As files have it: such a text could not be written so that it is read again. */
static bool begins_comment(const char *text)
{
    for (const char *at = strchr(text, ';'); at; at = strchr(at + 1, ';'))
        if (at == text || isspace((unsigned char)at[-1]))
            return true;
    return false;
}

enum c2_status machine_parse_text(char *to, size_t bytes, const char *value, const char *where, struct c2_error *err)
{
    size_t length = strlen(value);
    if (length == 0 || length >= bytes)
        return c2_fail(err, C2_ERR_INVALID, "%s: %zu characters: 1 to %zu are possible", where, length, bytes - 1);
    if (begins_comment(value))
        return c2_fail(err, C2_ERR_INVALID, "%s: a ; at the start of a text, or behind a space, begins a comment",
                       where);
    memset(to, 0, bytes); /* of what stood there before nothing is left: equal machines are equal bytes */
    memcpy(to, value, length);
    return C2_OK;
}

enum c2_status machine_parse_index(struct machine_index *out, const char *value, const char *where,
                                   struct c2_error *err)
{
    struct machine_index index = {.terms = 1};
    char again[64];
    if (sscanf(value, "vpn[%2u:%2u]^vpn[%2u:%2u]", &index.high[0], &index.low[0], &index.high[1], &index.low[1]) == 4)
        index.terms = 2;
    int length = snprintf(again, sizeof again, "vpn[%u:%u]", index.high[0], index.low[0]);
    if (index.terms == 2)
        snprintf(again + length, sizeof again - (size_t)length, "^vpn[%u:%u]", index.high[1], index.low[1]);
    if (strcmp(again, value) != 0)
        return c2_fail(err, C2_ERR_INVALID, "%s: %s is not of the form vpn[3:0] or vpn[6:0]^vpn[13:7]", where, value);
    *out = index;
    return C2_OK;
}

void machine_write_size(char *value, uint64_t bytes)
{
    static const char units[] = "\0KMGT";
    unsigned unit = 0;
    while (bytes != 0 && bytes % 1024 == 0 && unit < 4) {
        bytes /= 1024;
        unit++;
    }
    snprintf(value, MACHINE_VALUE_BYTES, "%" PRIu64 "%.1s", bytes, &units[unit]);
}
