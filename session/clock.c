/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * clock: when a run begins for the guest.
 */
#include <string.h>
#include <time.h>

#include "session/session_priv.h"

/* The whole of the text by this format: what strptime takes for granted - a 30th of February, a missing digit - does
 * not come back the same. */
static bool reads_as(struct tm *out, const char *text, const char *format)
{
    char again[SESSION_CLOCK_BYTES];
    *out = (struct tm){0};
    const char *end = strptime(text, format, out);
    if (!end || *end)
        return false;
    time_t seconds = timegm(out);
    return gmtime_r(&seconds, out) && strftime(again, sizeof again, format, out) && strcmp(again, text) == 0;
}

static bool read_date(int64_t *seconds, const char *text)
{
    static const char *const formats[] = {"%Y-%m-%d",          "%Y-%m-%dT%H:%M",     "%Y-%m-%dT%H:%MZ",
                                          "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M",
                                          "%Y-%m-%d %H:%M:%S"};
    struct tm date;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (reads_as(&date, text, formats[i])) {
            *seconds = timegm(&date);
            return true;
        }
    return false;
}

enum c2_status session_clock(uint64_t *out, const char *text, struct c2_error *err)
{
    const int64_t last = 9214646399; /* 2261-12-31T23:59:59Z: its nanoseconds fit in 63 bits */
    int64_t seconds = 0;
    if (text[0] == '@') {
        enum c2_status status = c2_parse_number(out, text + 1, "--clock @", err);
        if (status != C2_OK)
            return status;
        seconds = *out > INT64_MAX ? INT64_MAX : (int64_t)*out;
    } else if (!read_date(&seconds, text)) {
        return c2_fail(
            err, C2_ERR_INVALID,
            "--clock %s: no date; give one of UTC, as 2024-02-29, 2024-02-29T12:30 or 2024-02-29T12:30:00Z, or "
            "@SECONDS since 1970",
            text);
    }
    if (seconds < 0 || seconds > last)
        return c2_fail(err, C2_ERR_INVALID, "--clock %s: give a date from 1970-01-01 to 2261-12-31", text);
    *out = (uint64_t)seconds;
    return C2_OK;
}

void session_clock_text(char out[SESSION_CLOCK_BYTES], uint64_t seconds)
{
    struct tm date;
    time_t time = (time_t)seconds;
    strftime(out, SESSION_CLOCK_BYTES, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&time, &date));
}
