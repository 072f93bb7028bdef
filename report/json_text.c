/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * json_text: any bytes as a JSON string.
 */
#include <string.h>

#include "report/json_priv.h"

/* Length of the well-formed UTF-8 sequence at text, 0 if there is none (RFC 3629, section 4). */
static size_t utf8_length(const unsigned char *text)
{
    const unsigned char c = text[0];
    if (c < 0x80)
        return 1;
    const size_t length = c >= 0xc2 && c <= 0xdf ? 2 : c >= 0xe0 && c <= 0xef ? 3 : c >= 0xf0 && c <= 0xf4 ? 4 : 0;
    unsigned char low = 0x80, high = 0xbf; /* of the second byte: no overlong forms, no surrogates, below 0x110000 */
    low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : low;
    high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : high;
    for (size_t i = 1; i < length; i++) {
        if (text[i] < low || text[i] > high)
            return 0;
        low = 0x80, high = 0xbf;
    }
    return length;
}

json_t *report_json_text(const char *from)
{
    char *clean = c2_alloc(3 * strlen(from) + 1);
    if (!clean)
        return NULL;
    char *to = clean;
    while (*from != '\0') {
        size_t length = utf8_length((const unsigned char *)from);
        if (length == 0) {
            memcpy(to, "\xef\xbf\xbd", 3);
            to += 3;
            from++;
        }
        for (; length > 0; length--)
            *to++ = *from++;
    }
    *to = '\0';
    json_t *value = json_string(clean);
    c2_free(clean);
    return value;
}

enum c2_status report_json_write(FILE *to, const struct builder *b, json_t *report, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    if (b->failed)
        status = c2_fail_memory(err, "the JSON report");
    else if (json_dumpf(report, to, JSON_INDENT(2)) != 0 || fputc('\n', to) == EOF || ferror(to))
        status = ferror(to) ? c2_fail(err, C2_ERR_IO, "cannot write the JSON report")
                            : c2_fail_memory(err, "the JSON report");
    json_decref(report);
    return status;
}
